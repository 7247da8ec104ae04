/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The V4A form of patches: files by name, hunks without line numbers.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "patch-parse.h"
#include "text-diff.h"
#include "xalloc.h"

struct reader {
    struct text_lines lines;
    size_t at;
    struct patch_set *set;
    struct strbuf *error;
};

static bool fail(struct reader *reader, const char *reason)
{
    strbuf_setf(reader->error, "patch, line %zu: %s", reader->at + 1, reason);
    return false;
}

/* The rest of a line that begins with the word, trimmed; NULL when it begins otherwise. Yours. */
static char *rest_of(const struct text_line *line, const char *word)
{
    size_t size = strlen(word), end = line->size;
    if (end < size || memcmp(line->text, word, size) != 0)
        return NULL;
    while (size < end && line->text[size] == ' ')
        size++;
    while (end > size && strchr(" \t\r", line->text[end - 1]))
        end--;
    return xstrndup(line->text + size, end - size);
}

static bool begins(const struct text_line *line, const char *word)
{
    return line->size >= strlen(word) && memcmp(line->text, word, strlen(word)) == 0;
}

static bool is_section(const struct text_line *line)
{
    return begins(line, "*** Update File:") || begins(line, "*** Add File:") ||
           begins(line, "*** Delete File:") || begins(line, "*** End Patch");
}

static bool is_blank(const struct text_line *line)
{
    return strspn(line->text, " \t\r") >= line->size;
}

/* "@@" lines with text say what stands above; several in a row go inwards. */
static void read_anchors(struct reader *reader, struct patch_hunk *hunk)
{
    for (; reader->at < reader->lines.count && begins(&reader->lines.list[reader->at], "@@");
         reader->at++) {
        char *anchor = rest_of(&reader->lines.list[reader->at], "@@");
        size_t size = strlen(anchor);
        if (size >= 2 && strcmp(anchor + size - 2, "@@") == 0) {
            size -= 2;
            while (size && anchor[size - 1] == ' ')
                size--;
            anchor[size] = '\0';
        }
        if (!size || (anchor[0] == '-' &&
                      strspn(anchor, "-+,0123456789 ") == size)) { /* line numbers are no anchor */
            free(anchor);
            continue;
        }
        hunk->anchors = xrealloc(hunk->anchors, (hunk->anchor_count + 1) * sizeof *hunk->anchors);
        hunk->anchors[hunk->anchor_count++] = anchor;
    }
}

static bool read_hunk(struct reader *reader, struct patch_file *file)
{
    struct patch_hunk *hunk = patch_add_hunk(file, reader->at + 1);
    bool changes = false;
    read_anchors(reader, hunk);
    for (; reader->at < reader->lines.count; reader->at++) {
        const struct text_line *line = &reader->lines.list[reader->at];
        if (is_section(line) || begins(line, "@@"))
            break;
        if (begins(line, "*** End of File")) {
            hunk->at_end = true;
            reader->at++;
            break;
        }
        char sign = line->size ? line->text[0] : ' ';
        if (!strchr(" +-", sign))
            return fail(reader, "a line of a hunk begins with a blank, '-' or '+'");
        patch_add_line(hunk, sign, line->size ? line->text + 1 : line->text,
                       line->size ? line->size - 1 : 0);
        changes = changes || sign != ' ';
    }
    while (hunk->count && !hunk->lines[hunk->count - 1].size &&
           hunk->lines[hunk->count - 1].sign == ' ' && !hunk->at_end &&
           (reader->at >= reader->lines.count || is_section(&reader->lines.list[reader->at])))
        hunk->count--; /* empty lines between sections */
    return changes || fail(reader, "the hunk before this line changes nothing");
}

static bool read_update(struct reader *reader, char *path)
{
    struct patch_file *file = patch_add_file(reader->set, PATCH_UPDATE, path);
    reader->at++;
    if (reader->at < reader->lines.count)
        file->new_path = rest_of(&reader->lines.list[reader->at], "*** Move to:");
    reader->at += file->new_path != NULL;
    while (reader->at < reader->lines.count && !is_section(&reader->lines.list[reader->at])) {
        if (is_blank(&reader->lines.list[reader->at]) && !file->count) {
            reader->at++;
            continue;
        }
        if (!read_hunk(reader, file))
            return false;
    }
    return file->count || file->new_path ||
           fail(reader, "the section before this line has no hunks");
}

static bool read_add(struct reader *reader, char *path)
{
    struct patch_file *file = patch_add_file(reader->set, PATCH_ADD, path);
    struct patch_hunk *hunk = patch_add_hunk(file, ++reader->at);
    for (; reader->at < reader->lines.count && !is_section(&reader->lines.list[reader->at]);
         reader->at++) {
        const struct text_line *line = &reader->lines.list[reader->at];
        if (begins(line, "+"))
            patch_add_line(hunk, '+', line->text + 1, line->size - 1);
        else if (!is_blank(line))
            return fail(reader, "each line of a new file begins with '+'");
    }
    return true;
}

static bool read_section(struct reader *reader)
{
    const struct text_line *line = &reader->lines.list[reader->at];
    static const char *const words[] = {"*** Update File:", "*** Add File:", "*** Delete File:"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char *path = rest_of(line, words[i]);
        if (!path)
            continue;
        if (!path[0]) {
            free(path);
            return fail(reader, "there is no file name");
        }
        if (i == 0)
            return read_update(reader, path);
        if (i == 1)
            return read_add(reader, path);
        patch_add_file(reader->set, PATCH_DELETE, path);
        reader->at++;
        return true;
    }
    return fail(reader,
                "expected \"*** Update File: \", \"*** Add File: \", \"*** Delete File: \" or "
                "\"*** End Patch\"");
}

bool patch_parse_v4a(const char *text, size_t size, struct patch_set *set, struct strbuf *error)
{
    struct reader reader = {{NULL, 0, 0}, 0, set, error};
    bool good = true, ended = false;
    text_split(&reader.lines, text, size);
    while (reader.at < reader.lines.count && good && !ended) {
        const struct text_line *line = &reader.lines.list[reader.at];
        ended = begins(line, "*** End Patch");
        if (ended || is_blank(line) || begins(line, "*** Begin Patch"))
            reader.at++;
        else
            good = read_section(&reader);
    }
    text_lines_free(&reader.lines);
    return good;
}
