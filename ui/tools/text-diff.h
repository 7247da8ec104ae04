/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Texts as lines, and the unified diff between two of them.
 */
#ifndef UI_TEXT_DIFF_H
#define UI_TEXT_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "strbuf.h"

struct text_line {
    const char *text;  /* borrowed */
    size_t size;       /* without the line end */
    unsigned char end; /* size of the line end in bytes: 0 (of the text), 1 "\n", 2 "\r\n" */
};

struct text_lines {
    struct text_line *list;
    size_t count, capacity;
};

void text_split(struct text_lines *lines, const char *text, size_t size);
void text_lines_free(struct text_lines *lines);
bool text_line_same(const struct text_line *a,
                    const struct text_line *b); /* line ends do not count */

/*
 * Append the diff with three lines around each change; nothing when both are the same. A NULL name
 * is /dev/null: the file is new, or gone.
 */
void text_diff(struct strbuf *diff, const char *old_name, const char *old_text, size_t old_size,
               const char *new_name, const char *new_text, size_t new_size);

#endif
