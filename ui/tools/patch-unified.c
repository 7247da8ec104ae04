/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Unified diffs, plain ones and those of git with new, deleted and renamed files. Hunks whose
 * counts are wrong, as people and models write them, are taken by their lines.
 */
#include "config.h"

#include <ctype.h>
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

/* What git says about a file before its hunks. */
struct header {
    char *old_path, *new_path, *rename_from, *rename_to;
    bool is_new, is_deleted, executable, seen;
};

static bool fail(struct reader *reader, const char *reason)
{
    strbuf_setf(reader->error, "patch, line %zu: %s", reader->at + 1, reason);
    return false;
}

static bool begins_at(const struct reader *reader, size_t at, const char *word)
{
    return at < reader->lines.count && reader->lines.list[at].size >= strlen(word) &&
           memcmp(reader->lines.list[at].text, word, strlen(word)) == 0;
}

static bool begins(const struct reader *reader, const char *word)
{
    return begins_at(reader, reader->at, word);
}

/*
 * ---- names ------------------------------------------------------------------------------------
 */

/* One escape of a quoted name, behind its backslash; returns its length. */
static size_t add_escape(struct strbuf *name, const char *text, size_t size)
{
    static const char letters[] = "abtnvfr", values[] = "\a\b\t\n\v\f\r";
    if (size >= 3 && strspn(text, "01234567") >= 3) {
        strbuf_addc(name, (char)((text[0] - '0') * 64 + (text[1] - '0') * 8 + (text[2] - '0')));
        return 3;
    }
    const char *letter = size && *text ? strchr(letters, *text) : NULL;
    strbuf_addc(name, letter ? values[letter - letters] : size ? *text : '\\');
    return size ? 1 : 0;
}

/* The name behind the first skip bytes of the line, without quotes and time. Yours. */
static char *name_at(const struct text_line *line, size_t skip)
{
    const char *text = line->text + skip;
    size_t size = line->size - skip;
    struct strbuf name = STRBUF_INIT;
    if (size && text[0] == '"') {
        for (size_t i = 1; i < size && text[i] != '"'; i++) {
            if (text[i] == '\\')
                i += add_escape(&name, text + i + 1, size - i - 1);
            else
                strbuf_addc(&name, text[i]);
        }
    } else {
        const char *tab = memchr(text, '\t', size);
        size = tab ? (size_t)(tab - text) : size;
        while (size && strchr(" \r", text[size - 1]))
            size--;
        strbuf_add(&name, text, size);
    }
    return strbuf_steal(&name);
}

static void replace(char **where, char *text)
{
    free(*where);
    *where = text;
}

static void header_free(struct header *header)
{
    free(header->old_path);
    free(header->new_path);
    free(header->rename_from);
    free(header->rename_to);
    *header = (struct header){.old_path = NULL};
}

static bool is_null(const char *path)
{
    return !path || strcmp(path, "/dev/null") == 0;
}

static bool has_prefix(const char *path, char letter)
{
    return is_null(path) || (path[0] == letter && path[1] == '/');
}

/* The name to work on: git's prefixes are taken off when both names have them. */
static char *plain_name(const char *path, bool prefixed)
{
    return xstrdup(prefixed && !is_null(path) ? path + 2 : path);
}

/*
 * ---- sections ---------------------------------------------------------------------------------
 */

static struct patch_file *open_file(struct reader *reader, const struct header *header)
{
    if (!header->old_path && !header->new_path) {
        if (!header->rename_from || !header->rename_to)
            return NULL;
        struct patch_file *moved =
            patch_add_file(reader->set, PATCH_UPDATE, xstrdup(header->rename_from));
        moved->new_path = xstrdup(header->rename_to);
        return moved;
    }
    bool prefixed = has_prefix(header->old_path, 'a') && has_prefix(header->new_path, 'b');
    char *old_path = plain_name(header->old_path ? header->old_path : "/dev/null", prefixed);
    char *new_path = plain_name(header->new_path ? header->new_path : "/dev/null", prefixed);
    struct patch_file *file;
    if (is_null(old_path)) {
        file = patch_add_file(reader->set, PATCH_ADD, new_path);
        free(old_path);
    } else if (is_null(new_path)) {
        file = patch_add_file(reader->set, PATCH_DELETE, old_path);
        free(new_path);
    } else {
        file = patch_add_file(reader->set, PATCH_UPDATE, old_path);
        if (header->rename_to && strcmp(old_path, new_path) != 0)
            file->new_path = new_path;
        else
            free(new_path);
    }
    file->prefixed = prefixed;
    file->executable = header->executable;
    return file;
}

/*
 * "diff --git a/x b/x" of a file that has no further lines with names: new, empty, or deleted and
 * empty.
 */
static void names_of_git(const struct reader *reader, struct header *header)
{
    const struct text_line *line = &reader->lines.list[reader->at];
    size_t skip = strlen("diff --git "), size = line->size - skip, half = size / 2;
    header_free(header);
    header->seen = true;
    const char *text = line->text + skip;
    if (size < 5 || size % 2 == 0 || text[half] != ' ' || memcmp(text, "a/", 2) != 0 ||
        memcmp(text + half + 1, "b/", 2) != 0 || memcmp(text + 2, text + half + 3, half - 2) != 0)
        return;
    header->old_path = xstrndup(text, half);
    header->new_path = xstrndup(text + half + 1, half);
}

/* A file without hunks: what the header alone says. */
static void finish_header(struct reader *reader, struct header *header)
{
    if (header->seen && header->is_new)
        replace(&header->old_path, xstrdup("/dev/null"));
    if (header->seen && header->is_deleted)
        replace(&header->new_path, xstrdup("/dev/null"));
    if (header->seen && header->rename_to)
        replace(&header->old_path, NULL), replace(&header->new_path, NULL);
    if (header->seen && (header->is_new || header->is_deleted || header->rename_to))
        open_file(reader, header);
    header_free(header);
}

/* A line between files; false when it means something we cannot do. */
static bool read_extended(struct reader *reader, struct header *header)
{
    const struct text_line *line = &reader->lines.list[reader->at];
    if (begins(reader, "diff --git ")) {
        finish_header(reader, header);
        names_of_git(reader, header);
    } else if (begins(reader, "GIT binary patch") || begins(reader, "Binary files ")) {
        return fail(reader, "binary patches are not taken");
    } else if (header->seen && begins(reader, "new file mode ")) {
        header->is_new = true;
        header->executable = begins(reader, "new file mode 100755");
    } else if (header->seen && begins(reader, "deleted file mode ")) {
        header->is_deleted = true;
    } else if (header->seen && begins(reader, "rename from ")) {
        replace(&header->rename_from, name_at(line, strlen("rename from ")));
    } else if (header->seen && begins(reader, "rename to ")) {
        replace(&header->rename_to, name_at(line, strlen("rename to ")));
    } else if (header->seen && begins(reader, "copy from ")) {
        return fail(reader, "copies are not taken");
    }
    reader->at++;
    return true;
}

/*
 * ---- hunks ------------------------------------------------------------------------------------
 */

static bool read_number(const char **at, const char *end, size_t *ret_number)
{
    size_t number = 0;
    const char *start = *at;
    for (; *at < end && isdigit((unsigned char)**at); ++*at)
        number = number < 1000000000 ? number * 10 + (size_t)(**at - '0') : number;
    *ret_number = number;
    return *at > start;
}

/* "-12,3": the count is 1 when it is not given. */
static bool read_range(const char **at, const char *end, char sign, size_t *ret_start,
                       size_t *ret_count)
{
    while (*at < end && **at == ' ')
        ++*at;
    if (*at >= end || *(*at)++ != sign || !read_number(at, end, ret_start))
        return false;
    *ret_count = 1;
    if (*at < end && **at == ',') {
        ++*at;
        return read_number(at, end, ret_count);
    }
    return true;
}

/* Whether the lines from the reader on have the counts, and a hunk may end there. */
static bool counts_are_right(const struct reader *reader, size_t old_count, size_t new_count)
{
    size_t at = reader->at;
    for (; at < reader->lines.count && (old_count || new_count); at++) {
        const struct text_line *line = &reader->lines.list[at];
        char sign = line->size ? line->text[0] : ' ';
        if (sign == '\\')
            continue;
        if (!strchr(" -+", sign) || (sign != '+' && !old_count) || (sign != '-' && !new_count))
            return false;
        old_count -= sign != '+';
        new_count -= sign != '-';
    }
    if (old_count || new_count)
        return false;
    return begins_at(reader, at, "--- ")
               ? begins_at(reader, at + 1, "+++ ")
               : !begins_at(reader, at, "-") && !begins_at(reader, at, "+");
}

static bool is_end_of_hunk(const struct reader *reader)
{
    return begins(reader, "@@") || begins(reader, "diff --git ") || begins(reader, "Index: ") ||
           begins(reader, "-- ") ||
           (begins(reader, "--- ") && begins_at(reader, reader->at + 1, "+++ "));
}

static bool read_line(struct reader *reader, struct patch_hunk *hunk)
{
    const struct text_line *line = &reader->lines.list[reader->at];
    char sign = line->size ? line->text[0] : ' ';
    if (sign == '\\') {
        if (hunk->count)
            hunk->lines[hunk->count - 1].no_newline = true;
        return true;
    }
    if (!strchr(" -+", sign))
        return false;
    patch_add_line(hunk, sign, line->size ? line->text + 1 : line->text,
                   line->size ? line->size - 1 : 0);
    return true;
}

/*
 * Lines of the body that are there although the header does not count them, and empty ones behind
 * the last.
 */
static void read_uncounted(struct reader *reader, struct patch_hunk *hunk)
{
    while (reader->at < reader->lines.count && !is_end_of_hunk(reader) && read_line(reader, hunk))
        reader->at++;
    while (hunk->count && hunk->lines[hunk->count - 1].sign == ' ' &&
           !hunk->lines[hunk->count - 1].size)
        hunk->count--;
}

static bool read_hunk(struct reader *reader, struct patch_file *file)
{
    const struct text_line *line = &reader->lines.list[reader->at];
    struct patch_hunk *hunk = patch_add_hunk(file, reader->at + 1);
    const char *at = line->text + 2, *end = line->text + line->size;
    size_t old_count, new_count, new_start;
    bool numbered = read_range(&at, end, '-', &hunk->old_start, &old_count) &&
                    read_range(&at, end, '+', &new_start, &new_count);
    if (numbered && !old_count)
        hunk->old_start++; /* "-3,0": behind line 3 */
    if (!numbered)
        hunk->old_start = 0;
    reader->at++;
    if (numbered && counts_are_right(reader, old_count, new_count)) {
        while (old_count || new_count) {
            size_t before = hunk->count;
            read_line(reader, hunk);
            if (hunk->count > before) {
                old_count -= hunk->lines[before].sign != '+';
                new_count -= hunk->lines[before].sign != '-';
            }
            reader->at++;
        }
        for (; begins(reader, "\\"); reader->at++)
            read_line(reader, hunk);
    } else {
        read_uncounted(reader, hunk);
    }
    for (size_t i = 0; i < hunk->count; i++) {
        if (hunk->lines[i].sign != ' ')
            return true;
    }
    return fail(reader, "the hunk before this line changes nothing");
}

static bool read_file(struct reader *reader, struct header *header)
{
    replace(&header->old_path, name_at(&reader->lines.list[reader->at], 4));
    replace(&header->new_path, name_at(&reader->lines.list[reader->at + 1], 4));
    if (is_null(header->old_path) && is_null(header->new_path))
        return fail(reader, "both names are /dev/null");
    if (!header->old_path[0] || !header->new_path[0])
        return fail(reader, "there is no file name");
    struct patch_file *file = open_file(reader, header);
    header_free(header);
    reader->at += 2;
    while (begins(reader, "@@")) {
        if (!read_hunk(reader, file))
            return false;
    }
    return file->count || fail(reader, "a file without hunks: expected \"@@ -1,2 +1,3 @@\"");
}

bool patch_parse_unified(const char *text, size_t size, struct patch_set *set, struct strbuf *error)
{
    struct reader reader = {{NULL, 0, 0}, 0, set, error};
    struct header header = {.old_path = NULL};
    bool good = true;
    text_split(&reader.lines, text, size);
    while (reader.at < reader.lines.count && good) {
        if (begins(&reader, "--- ") && begins_at(&reader, reader.at + 1, "+++ "))
            good = read_file(&reader, &header);
        else if (begins(&reader, "@@ ") || begins(&reader, "@@"))
            good = fail(&reader,
                        "a hunk without a file: \"--- \" and \"+++ \" lines are missing above");
        else
            good = read_extended(&reader, &header);
    }
    if (good)
        finish_header(&reader, &header);
    header_free(&header);
    text_lines_free(&reader.lines);
    return good;
}
