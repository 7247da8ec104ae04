/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The output of one cell as a terminal would leave it: raw bytes go in, styled logical lines come
 * out, wrapped to a width only when they are asked for. Carriage returns, backspaces, cursor moves
 * up to BLOCK_LIVE_LINES lines back, erasing and colours work as on a terminal without margins; the
 * rest of what terminals can do (titles, clipboard, most modes, queries but for the cursor's place)
 * is taken and dropped. A program that switches to the alternate screen or addresses the screen
 * absolutely gets a grid of the window's size (libvterm) until it leaves it or the cell ends: the
 * last grid stays as lines. So does what the alternate screen showed last, if nothing was written
 * after the program left it.
 *
 * Knows nothing of cells, engines and curses. Memory is bounded: behind the limit lines in the middle
 * are dropped and counted. Used by one thread.
 */
#ifndef UI_BLOCK_H
#define UI_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strbuf.h"

#define BLOCK_LIVE_LINES 200
#define BLOCK_LINE_BYTES 65536 /* a longer line goes on as a next one that is marked `continued` */

enum block_attribute {
    BLOCK_BOLD = 1 << 0,
    BLOCK_DIM = 1 << 1,
    BLOCK_ITALIC = 1 << 2,
    BLOCK_UNDERLINE = 1 << 3,
    BLOCK_REVERSE = 1 << 4,
    BLOCK_STRIKE = 1 << 5,
    BLOCK_CONCEAL = 1 << 6,
};

/* Colours: 0 the terminal's own; BLOCK_INDEX | 0..255; BLOCK_RGB | 0xRRGGBB. */
#define BLOCK_INDEX (1u << 24)
#define BLOCK_RGB (2u << 24)

struct block_style {
    uint32_t foreground, background;
    uint16_t attributes;
};

/* One column of a row. A wide character is followed by one with width 0 and no characters. */
#define BLOCK_CELL_CHARACTERS 5
struct block_cell {
    uint32_t
        characters[BLOCK_CELL_CHARACTERS]; /* base and combining marks; ended by 0 unless full */
    uint8_t width;
    struct block_style style;
};

struct block;

/* limit_bytes of memory for lines (0: 8 MiB), for the head and the tail of the output. */
struct block *block_new(size_t limit_bytes);
void block_free(struct block *block); /* NULL is fine */

/* The window's size: for grids, and for images that are added. Programs are told by the caller. */
void block_resize(struct block *block, int columns, int rows);

void block_write(struct block *block, const char *data, size_t size);
/*
 * A picture (PNG), as wide as it is in half-blocks of the terminal but at most the window's width, and
 * at most max_rows high. False: not a picture that can be read; nothing was added.
 */
bool block_add_png(struct block *block, const void *data, size_t size, int max_rows);
/* A picture that a block shows, for terminals that can draw some. Valid until the block is changed. */
struct block_picture {
    uint64_t id; /* of all pictures of the process; never 0 */
    const void *png;
    size_t size;
    size_t first_row, rows; /* those of the block that are its */
    int columns;            /* they may be wider than the window */
};
/* The one of which a row shows a part. False: none, or it was written over. */
bool block_picture_at(struct block *block, int columns, size_t row,
                      struct block_picture *ret_picture);
/* The last one that is whole. */
bool block_last_picture(struct block *block, struct block_picture *ret_picture);
bool block_has_picture(const struct block *block, uint64_t id);
/* What shines through pictures, 0xRRGGBB; at first black. For those that are added later. */
void block_set_background(struct block *block, uint32_t rgb);
/*
 * The cell is over: an open grid becomes lines, partial sequences are dropped, memory shrinks to what
 * is needed. May be written again: that begins a new line, and what there was cannot be changed.
 */
void block_end(struct block *block);

/* Grows with every change: whether what was drawn is old. */
uint64_t block_version(const struct block *block);
bool block_is_empty(const struct block *block);

/* Rows at this width, wrapped (0 columns: one row a logical line, for horizontal scrolling). */
size_t block_rows(struct block *block, int columns);
/*
 * Fill cells[0..count) from column `left` of a row; what is behind its end is blanks. Returns the
 * row's whole width in columns. `columns` as given to block_rows().
 */
size_t block_row(struct block *block, int columns, size_t row, size_t left,
                 struct block_cell *cells, size_t count);
/* The row in which lines were dropped, and how many; SIZE_MAX: none. That row is a notice. */
size_t block_gap(struct block *block, int columns, uint64_t *ret_lines);

/* A program has the screen: rows are those of the window, keys go to it. */
bool block_has_screen(const struct block *block);
/*
 * Where the cursor stands, in rows at this width; in an empty last line, that is behind the last
 * row. False: hidden.
 */
bool block_cursor(struct block *block, int columns, size_t *ret_row, int *ret_column);
/* What a program with the screen is to be answered (cursor position, attributes). Take it away. */
void block_take_answers(struct block *block, struct strbuf *out);
enum block_mode {
    BLOCK_MODE_CURSOR_KEYS = 1 << 0, /* arrows, Home and End are ESC O x, not ESC [ x */
    BLOCK_MODE_PASTE = 1 << 1,       /* pasted text is to be put in ESC [ 200 ~ and ESC [ 201 ~ */
};
/* How the program wants its keys. */
unsigned block_modes(const struct block *block);

/* Logical lines as plain UTF-8 text, for search, copying and the pager; styled: with SGR sequences. */
size_t block_lines(const struct block *block);
void block_line_text(const struct block *block, size_t line, struct strbuf *out);
size_t block_row_of_line(struct block *block, int columns, size_t line);
size_t block_line_of_row(struct block *block, int columns, size_t row);
void block_text(const struct block *block, bool styled, struct strbuf *out);

#endif
