/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "source-text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pylex.h"
#include "utf8.h"
#include "xalloc.h"

/*
 * The name in a line's coding cookie, in lower case with "-" for "_", or NULL. Blank: the next
 * line may hold one.
 */
static char *cookie_in(const char *line, size_t size, bool *ret_blank)
{
    size_t at = 0;
    while (at < size && (line[at] == ' ' || line[at] == '\t' || line[at] == '\f'))
        at++;
    *ret_blank = at == size || line[at] == '#';
    if (at == size || line[at] != '#')
        return NULL;
    for (; at + 7 < size; at++) {
        if (strncmp(line + at, "coding", 6) != 0 || (line[at + 6] != ':' && line[at + 6] != '='))
            continue;
        size_t start = at + 7;
        while (start < size && (line[start] == ' ' || line[start] == '\t'))
            start++;
        size_t end = start;
        while (end < size &&
               (isalnum((unsigned char)line[end]) || (line[end] && strchr("-_.", line[end]))))
            end++;
        if (end == start)
            continue;
        char *name = xmemdup0(line + start, end - start);
        for (char *c = name; *c; c++)
            *c = *c == '_' ? '-' : (char)tolower((unsigned char)*c);
        return name;
    }
    return NULL;
}

static char *find_cookie(const char *text, size_t size)
{
    for (int line = 0; line < 2 && size; line++) {
        bool blank;
        size_t length = pylex_line_length(text, size);
        char *name = cookie_in(text, pylex_trimmed(text, length), &blank);
        if (name || !blank)
            return name;
        text += length;
        size -= length;
    }
    return NULL;
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++) {
        size_t length = strlen(*names);
        if (strcmp(name, *names) == 0 ||
            (strncmp(name, *names, length) == 0 && name[length] == '-'))
            return true;
    }
    return false;
}

static void decode_latin1(const char *bytes, size_t size, struct strbuf *text)
{
    for (size_t i = 0; i < size; i++) {
        char out[4];
        strbuf_add(text, out, utf8_encode((unsigned char)bytes[i], out));
    }
}

static bool decode_iconv(const char *name, const char *bytes, size_t size, struct strbuf *text,
                         struct strbuf *error)
{
    iconv_t converter = iconv_open("UTF-8", name);
    if (converter == (iconv_t)-1) {
        strbuf_setf(error, "unknown encoding: %s", name);
        return false;
    }
    char *in = (char *)(uintptr_t)bytes;
    bool good = true;
    while (size && good) {
        char chunk[4096], *out = chunk;
        size_t room = sizeof(chunk);
        good = iconv(converter, &in, &size, &out, &room) != (size_t)-1 || errno == E2BIG;
        strbuf_add(text, chunk, (size_t)(out - chunk));
    }
    iconv_close(converter);
    if (!good)
        strbuf_setf(error, "byte %zu is not %s", (size_t)(in - bytes) + 1, name);
    return good;
}

static bool decode_utf8(const char *bytes, size_t size, bool ascii, struct strbuf *text,
                        struct strbuf *error)
{
    size_t bad = 0;
    bool good = utf8_check(bytes, size, &bad);
    for (size_t i = 0; ascii && i < (good ? size : bad); i++) {
        if ((unsigned char)bytes[i] >= 0x80) {
            bad = i;
            good = false;
        }
    }
    if (good) {
        strbuf_add(text, bytes, size);
        return true;
    }
    size_t line = 1;
    for (size_t i = 0; i < bad; i++)
        line += bytes[i] == '\n';
    strbuf_setf(error, "not %s: byte 0x%02x in line %zu%s", ascii ? "ASCII" : "UTF-8",
                (unsigned char)bytes[bad], line,
                ascii ? "" : ", and no encoding declared in the first two lines");
    return false;
}

bool source_decode(const char *bytes, size_t size, struct strbuf *text, struct strbuf *error)
{
    static const char *const utf8[] = {"utf-8", "utf8", NULL};
    static const char *const latin1[] = {"latin-1", "iso-8859-1", "iso-latin-1",
                                         "latin1",  "l1",         NULL};
    static const char *const ascii[] = {"ascii", "us-ascii", NULL};
    bool mark = size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0;
    if (mark) {
        bytes += 3;
        size -= 3;
    }
    char *name = find_cookie(bytes, size);
    bool good;
    if (!name || is_one_of(name, utf8)) {
        good = decode_utf8(bytes, size, false, text, error);
    } else if (mark) {
        strbuf_setf(error, "the declared encoding %s contradicts the UTF-8 byte-order mark", name);
        good = false;
    } else if (is_one_of(name, latin1)) {
        decode_latin1(bytes, size, text);
        good = true;
    } else if (is_one_of(name, ascii)) {
        good = decode_utf8(bytes, size, true, text, error);
    } else {
        good = decode_iconv(name, bytes, size, text, error);
    }
    free(name);
    return good;
}

static bool read_all(int fd, const char *path, struct strbuf *bytes, struct strbuf *error)
{
    char *chunk = xmalloc(65536);
    ssize_t got;
    while ((got = read(fd, chunk, 65536)) != 0) {
        if (got > 0)
            strbuf_add(bytes, chunk, (size_t)got);
        else if (errno != EINTR)
            break;
    }
    free(chunk);
    if (got < 0)
        strbuf_setf(error, "cannot read %s: %s", path, strerror(errno));
    return got == 0;
}

bool source_read_file(const char *path, struct strbuf *bytes, struct strbuf *error)
{
    if (strcmp(path, "-") == 0)
        return read_all(STDIN_FILENO, "standard input", bytes, error);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        strbuf_setf(error, "cannot read %s: %s", path, strerror(errno));
        return false;
    }
    bool good = read_all(fd, path, bytes, error);
    close(fd);
    return good;
}
