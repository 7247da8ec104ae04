/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A screen of rows and columns for programs that want the whole of it, by libvterm. Takes what such
 * a program writes, shows cells, answers queries. On the main screen lines scroll off at the top
 * and are handed over; on the alternate one they are gone.
 */
#ifndef UI_BLOCK_GRID_H
#define UI_BLOCK_GRID_H

#include "block.h"
#include "strbuf.h"

struct grid;

struct grid *grid_new(int columns, int rows, bool alternate);
void grid_free(struct grid *grid); /* NULL is fine */
void grid_resize(struct grid *grid, int columns, int rows);

/*
 * Returns how many bytes were taken: not all, when one that was on the alternate screen left it
 * (grid_has_left()). Then `last` is its last screen, as grid_text() would give it.
 */
size_t grid_write(struct grid *grid, const char *data, size_t size, struct strbuf *last);
bool grid_has_left(const struct grid *grid);
bool grid_is_alternate(const struct grid *grid);

int grid_rows(const struct grid *grid);
size_t grid_row(const struct grid *grid, int row, size_t left, struct block_cell *cells,
                size_t count);
bool grid_cursor(const struct grid *grid, int *ret_row, int *ret_column);
/* The rows down to the last that is not blank, each ended by CR LF. */
void grid_text(const struct grid *grid, bool styled, struct strbuf *out);
void grid_row_text(const struct grid *grid, int row, bool styled, struct strbuf *out);

/* Styled lines that scrolled off, and answers. Take them away. */
void grid_take_scrolled(struct grid *grid, struct strbuf *out);
void grid_take_answers(struct grid *grid, struct strbuf *out);
/* What keys are to be sent as: enum block_mode. */
unsigned grid_modes(const struct grid *grid);

#endif
