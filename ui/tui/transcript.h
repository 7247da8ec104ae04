/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The transcript of a session as rows: how high each cell is at a width, which rows a window shows,
 * and moving that window. Only cells near the window are ever measured, so that a session of any
 * length costs the same. Draws nothing.
 */
#ifndef UI_TUI_TRANSCRIPT_H
#define UI_TUI_TRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "repl.h"

enum transcript_fold {
    FOLD_AUTO,   /* long output: its beginning and its end; long source: its beginning */
    FOLD_OPEN,   /* everything */
    FOLD_CLOSED, /* output is one line that counts it */
};

/* Of long output FOLD_AUTO shows so many rows. */
#define TRANSCRIPT_HEAD_ROWS 20
#define TRANSCRIPT_TAIL_ROWS 180
#define TRANSCRIPT_SOURCE_ROWS 20

/* Kept in repl_session.view: where the window is. */
struct transcript_view {
    bool follows;  /* the end is shown */
    size_t item;   /* else: the item in the first row */
    size_t row;    /* and which of its rows that is */
    size_t first;  /* items before are not shown (the view was cleared) */
    size_t end;    /* 0, or items from here on wait below one that has the keyboard: not followed */
    size_t floor;  /* items before are shown only when scrolled to (C-l) */
    size_t chosen; /* the item that browse mode is at */
    size_t mark;   /* the other end of a range; SIZE_MAX: none */
};

/* What a row of an item is. */
enum transcript_part { PART_RULE, PART_SOURCE, PART_SOURCE_MORE, PART_OUTPUT, PART_FOLD };
struct transcript_row {
    enum transcript_part part;
    size_t row;    /* of the source, or of the output */
    size_t hidden; /* PART_SOURCE_MORE, PART_FOLD: rows that are not shown */
};

struct transcript_view *transcript_view(struct repl_session *session);
enum transcript_fold transcript_fold(const struct repl_item *item);
void transcript_set_fold(struct repl_item *item, enum transcript_fold fold);

/*
 * Wide output, a table, may be shown with its lines whole, and be scrolled sideways: so many
 * columns are scrolled away, or -1: lines are wrapped.
 */
int transcript_left(const struct repl_item *item);
void transcript_set_left(struct repl_item *item, int left);

/* Columns of a cell's mark ("[12] "), of source and of output. */
int transcript_prefix(const struct repl_cell *cell);
int transcript_source_columns(const struct repl_cell *cell, int columns);
int transcript_output_columns(int columns);
/*
 * The row of wrapped source that begins at `at`: how many bytes it has (its line end not counted).
 */
size_t transcript_source_row(const struct repl_cell *cell, int columns, size_t at,
                             size_t *ret_next);

/* Whether FOLD_AUTO leaves something out. */
bool transcript_is_cut(struct repl_item *item, int columns);
size_t transcript_rows(struct repl_item *item, int columns);
struct transcript_row transcript_row(struct repl_item *item, int columns, size_t row);
/* The item's row that shows a row of its output, or the one that stands for it. */
size_t transcript_row_of_output(struct repl_item *item, int columns, size_t output_row);

/* The first row of a window of that height, by the view. Returns how many rows are filled. */
int transcript_window(struct repl_session *session, int columns, int rows, size_t *ret_item,
                      size_t *ret_row);
/* Move the window; at the end it follows. */
void transcript_scroll(struct repl_session *session, int columns, int rows, int by);
/* Put a row into the window; at its middle when it is not there yet. */
void transcript_show(struct repl_session *session, int columns, int rows, size_t item, size_t row);

#endif
