/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows that a text takes behind its prompts: for drawing the prompt, and for moving in it by
 * rows. Knows widths of characters (wcwidth: the locale's characters must be UTF-8), no colours and
 * no terminal.
 */
#ifndef UI_LAYOUT_H
#define UI_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#define LAYOUT_TAB 8

/* One thing to draw: a character with what combines with it, or what stands for it. */
struct layout_cell {
    size_t size;     /* bytes of the text */
    int width;       /* columns */
    bool substitute; /* show is not the text itself: a control as ^X, U+FFFD */
    char show[40];   /* UTF-8, closed by NUL; of a tab: its spaces */
};

/* The cell at text (size > 0), which is no \n. column: from the left edge of the text, for tabs. */
void layout_cell(const char *text, size_t size, int column, struct layout_cell *ret_cell);

struct layout_row {
    size_t from, to; /* bytes; to: without the \n */
    int column;      /* where it begins on the screen */
    int width;       /* columns of its text */
    bool first;      /* begins a line of the text: the prompt stands before it */
};

struct layout {
    struct layout_row *rows;
    size_t count, capacity;
    size_t cursor_row;
    int cursor_column;
};

/*
 * Widths are in columns: of the window, of the prompt before the first line, and of that before
 * each other line, below which long lines go on. The cursor stands at point, in a row of its own
 * when the one before it is full. There is always a row. Keeps the memory of an earlier layout.
 */
void layout_make(struct layout *layout, const char *text, size_t size, size_t point, int columns,
                 int first_prompt, int next_prompt);
void layout_free(struct layout *layout);

/* The place in a row that is nearest to a column of the screen. */
size_t layout_place(const struct layout_row *row, const char *text, int column, bool last);
/* The row that a place is in. */
size_t layout_row_of(const struct layout *layout, size_t place);

#endif
