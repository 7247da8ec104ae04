/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Characters as a terminal shows them: which bytes belong to one, how many columns it takes, and
 * what stands in its place when it cannot be shown. Knows nothing of screens.
 */
#ifndef UI_TUI_GLYPH_H
#define UI_TUI_GLYPH_H

#include <stddef.h>
#include <stdint.h>

#define GLYPH_CHARACTERS 5

struct glyph {
    uint32_t characters[GLYPH_CHARACTERS]; /* base and combining marks; ended by 0 unless full */
    size_t size;                           /* bytes of the text that it takes */
    int width;                             /* columns: 1 or 2; 0 only for a line end */
};

/* Columns of a character: 1 or 2, 0 for a combining mark, -1 for what cannot be shown as it is. */
int glyph_width(uint32_t code);

/* What a terminal without Unicode gets for a mark of ours ("✓", "│" ...); 0: it is none of ours. */
char glyph_ascii(uint32_t code);

/*
 * The glyph at text (size > 0), with the marks that follow. A control character becomes its picture
 * (U+2400 and on), bytes that are no UTF-8 become U+FFFD, a tab becomes blanks up to the next stop:
 * `column` tells where it stands. A line end has width 0.
 */
void glyph_at(const char *text, size_t size, int column, struct glyph *ret_glyph);

/* Columns of one line of text. */
size_t glyph_columns(const char *text, size_t size);

/* How many bytes of text fit into so many columns. */
size_t glyph_fit(const char *text, size_t size, int columns);

#endif
