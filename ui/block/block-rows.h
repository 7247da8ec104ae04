/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines as rows of a width. Nothing is stored but how many rows each page has at the last width
 * that was asked for; a row is found by these sums and then by a walk through one page.
 *
 * Where lines were dropped there is one row more.
 */
#ifndef UI_BLOCK_ROWS_H
#define UI_BLOCK_ROWS_H

#include "block-lines.h"

/* Where a row begins: found by walking, so the next row is looked for from here. */
struct row_place {
    uint64_t number, version; /* of the line; of the block */
    int columns;
    size_t row; /* in the line */
    uint32_t offset;
};

struct rows {
    int columns;
    uint64_t changes; /* of the pages, at which the sums were right */
    bool valid;
    size_t *start; /* row with which each page begins, and the end */
    size_t capacity;
    struct row_place place;
};

void rows_free(struct rows *rows);
size_t rows_count(struct rows *rows, struct lines *lines, int columns);
/* The line of a row, and which row of it. False: it is the row where lines were dropped. */
bool rows_find(struct rows *rows, struct lines *lines, int columns, size_t row,
               uint64_t *ret_number, size_t *ret_within);
/* The first row of a line that is kept. */
size_t rows_of_line(struct rows *rows, struct lines *lines, int columns, uint64_t number);
/* SIZE_MAX: nothing was dropped. */
size_t rows_gap(struct rows *rows, struct lines *lines, int columns);
/* As block_row(), of a line; version: while it is the same no line was changed. */
size_t rows_fill(struct rows *rows, struct lines *lines, int columns, uint64_t number,
                 size_t within, uint64_t version, size_t left, struct block_cell *cells,
                 size_t count);
/* In which row of a line a column is, and which column of the row. */
size_t rows_of_column(const struct line_view *view, int columns, uint32_t column, int *ret_column);

#endif
