/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lines of a block and the cursor in them. The last BLOCK_LIVE_LINES can be changed, each is
 * text that grows at its end until something in it is overwritten, then cells; what leaves them is
 * packed into pages. Lines are logical: they do not end at the window's edge.
 *
 * Rows are counted here from the first live line. Knows nothing of escape sequences.
 */
#ifndef UI_BLOCK_LINES_H
#define UI_BLOCK_LINES_H

#include "block-page.h"

#define CELL_MARKS (BLOCK_CELL_CHARACTERS - 1)

/* A column of a line that is being overwritten. The right half of a wide character has code 0. */
struct edit_cell {
    uint32_t code;
    uint32_t marks[CELL_MARKS];
    struct block_style style;
};

struct line {
    char *text;    /* while edited: as it was when it was last looked at */
    uint8_t *runs; /* changes of style, as in struct line_view */
    struct edit_cell *cells;
    uint32_t size, text_capacity;
    uint32_t runs_size, runs_capacity;
    uint32_t cells_count, cells_capacity;
    uint32_t width;
    uint32_t run_start, run_offset, run_base; /* the last change: where it is kept, where it is in
                                                 the text, where the one before is */
    struct block_style last;                  /* in force at the end */
    uint8_t flags;
    bool edited; /* cells count */
    bool stale;  /* and text does not show them yet */
};

struct cursor {
    uint64_t number; /* of the line */
    uint32_t column;
    struct block_style style;
};

struct lines {
    struct pages pages;
    struct line *ring;
    size_t capacity, first, count;
    size_t row;
    uint32_t column;
    unsigned marks; /* behind the last character */
    struct block_style style;
    struct cursor saved;
    uint64_t top; /* number of the first line a terminal would still show */
    int window_columns, window_rows;
    size_t live_bytes, live_limit;
    bool wrote; /* a character; for who wants to know, and clears it */
};

void lines_init(struct lines *lines, size_t limit_bytes);
void lines_free(struct lines *lines);
void lines_resize(struct lines *lines, int window_columns, int window_rows);
/* Nothing can be changed any more; what is written goes below. Memory that is not needed goes. */
void lines_freeze(struct lines *lines);

/* How many live lines have something to show. */
size_t lines_live_count(struct lines *lines);
/* Any line that is kept, by its number. */
void lines_view(struct lines *lines, uint64_t number, struct line_view *ret_view);
struct line *lines_at(const struct lines *lines, size_t row);
uint64_t lines_number(const struct lines *lines, size_t row);

/* ---- writing ------------------------------------------------------------------------------- */

void lines_put_ascii(struct lines *lines, const char *text, size_t size);
void lines_put(struct lines *lines, uint32_t code);
void lines_newline(struct lines *lines);
void lines_down(struct lines *lines); /* one line, in the same column */
void lines_tab(struct lines *lines);
/* A new line, unless the cursor is in an empty one already. */
void lines_fresh(struct lines *lines);

/* ---- moving and erasing -------------------------------------------------------------------- */

void lines_move_rows(struct lines *lines, long by);
void lines_move_columns(struct lines *lines, long by);
void lines_to_column(struct lines *lines, uint32_t column);
void lines_home(struct lines *lines);
void lines_save(struct lines *lines);
void lines_restore(struct lines *lines);
void lines_erase_line(struct lines *lines, unsigned mode);   /* EL */
void lines_erase_screen(struct lines *lines, unsigned mode); /* ED */
void lines_erase_cells(struct lines *lines, uint32_t count); /* ECH */
void lines_insert_cells(struct lines *lines, uint32_t count);
void lines_delete_cells(struct lines *lines, uint32_t count);
/* Only so many live lines stay. The cursor must be in one of them. */
void lines_truncate(struct lines *lines, size_t count);
/* What a terminal would still show is gone: the cursor is in an empty line instead. */
void lines_take_screen(struct lines *lines);
/* Lines that a terminal would have scrolled off are gone. */
void lines_erase_frozen(struct lines *lines);

/* ---- one line (block-edit.c) --------------------------------------------------------------- */

/* Make room for `need` elements in all; the memory counts. */
void *line_grow(struct lines *lines, void *array, uint32_t *capacity, size_t need, size_t size);
void line_append(struct lines *lines, struct line *line, const char *text, size_t size,
                 const struct block_style *style);
void line_edit(struct lines *lines, struct line *line);  /* into cells */
void line_sync(struct lines *lines, struct line *line);  /* text as the cells are */
void line_clear(struct lines *lines, struct line *line); /* keeps the memory */
void line_release(struct lines *lines, struct line *line);
void line_pad(struct lines *lines, struct line *line, uint32_t column,
              const struct block_style *style);
void line_blank(struct line *line, uint32_t from, uint32_t to, const struct block_style *style);
void line_set(struct lines *lines, struct line *line, uint32_t column, uint32_t code, int width,
              const struct block_style *style);
void line_mark(struct line *line, uint32_t column, uint32_t mark);
void line_erase(struct lines *lines, struct line *line, uint32_t from, uint32_t to,
                uint32_t background);

#endif
