/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Colours for Python source, right also where it is unfinished: a class for each byte. Also
 * brackets: which one belongs to the one at, or before, a place.
 */
#ifndef UI_HIGHLIGHT_H
#define UI_HIGHLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum highlight_class {
    HIGHLIGHT_PLAIN,
    HIGHLIGHT_KEYWORD,
    HIGHLIGHT_BUILTIN,
    HIGHLIGHT_STRING,
    HIGHLIGHT_NUMBER,
    HIGHLIGHT_COMMENT,
    HIGHLIGHT_DECORATOR,
    HIGHLIGHT_DEFINITION, /* the name behind def and class */
    HIGHLIGHT_OPERATOR,
    HIGHLIGHT_COMMAND, /* :name, !shell, %magic, name? */
    HIGHLIGHT_ERROR,   /* what cannot be Python */
    HIGHLIGHT_COUNT
};

/* One class for each byte of text; classes holds size bytes. */
void highlight_python(const char *text, size_t size, uint8_t *classes);
/* The brackets that belong together around point. False: none there, or it has no other one. */
bool highlight_brackets(const char *text, size_t size, size_t point, size_t *ret_open,
                        size_t *ret_close);

#endif
