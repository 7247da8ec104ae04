/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads patches: unified diffs (plain or git's) and the V4A form ("*** Begin Patch"). Touches no
 * file.
 */
#ifndef UI_PATCH_PARSE_H
#define UI_PATCH_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "strbuf.h"

struct patch_line {
    char sign;        /* ' ', '-', '+' */
    const char *text; /* in the patch */
    size_t size;
    bool no_newline; /* the file ends with it, without a line end */
};

struct patch_hunk {
    struct patch_line *lines;
    size_t count, capacity;
    size_t old_start; /* 1-based line of the old file; 0: unknown */
    char **anchors;   /* V4A: lines that stand somewhere above, in order */
    size_t anchor_count;
    bool at_end;       /* V4A: it is the end of the file */
    size_t patch_line; /* where it stands in the patch, 1-based */
};

enum patch_kind { PATCH_UPDATE, PATCH_ADD, PATCH_DELETE };

struct patch_file {
    enum patch_kind kind;
    char *path;     /* of the old file; of the new one with PATCH_ADD */
    char *new_path; /* where it moves; NULL: stays */
    bool prefixed;  /* a/ or b/ was taken off */
    bool executable;
    struct patch_hunk *hunks;
    size_t count, capacity;
};

struct patch_set {
    struct patch_file *files;
    size_t count, capacity;
};

/* The result points into text. On failure error gets one line that names the line of the patch. */
bool patch_parse(const char *text, size_t size, struct patch_set *ret_set, struct strbuf *error);
void patch_set_free(struct patch_set *set);

/* For the two readers. */
struct patch_file *patch_add_file(struct patch_set *set, enum patch_kind kind, char *path);
struct patch_hunk *patch_add_hunk(struct patch_file *file, size_t patch_line);
struct patch_line *patch_add_line(struct patch_hunk *hunk, char sign, const char *text,
                                  size_t size);
bool patch_parse_v4a(const char *text, size_t size, struct patch_set *set, struct strbuf *error);
bool patch_parse_unified(const char *text, size_t size, struct patch_set *set,
                         struct strbuf *error);

#endif
