/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal while the program has it: a grid of styled cells that ncurses brings to the glass,
 * the modes that are set meanwhile, and the one way back. What is put is compared with what is
 * there: only rows that differ cost anything. Reads no keys, knows nothing of sessions.
 */
#ifndef UI_TUI_SCREEN_H
#define UI_TUI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block.h"
#include "strbuf.h"

struct screen;

enum screen_answer {
    SCREEN_ANSWER_COLOUR, /* ESC ] 11 ; ... */
    SCREEN_ANSWER_DEVICE, /* ESC [ ? ... c */
};

/*
 * Take the terminal of descriptors 0 and 1. NULL with one line in error. Signal handlers of the
 * program must be set before, so that ncurses sets none.
 */
struct screen *screen_open(struct strbuf *error);
void screen_close(struct screen *screen); /* NULL is fine */
/* For another program, or to be stopped: the terminal as it was before. Then take it back. */
void screen_leave(struct screen *screen);
/* changed: what the terminal is like now is what it is to be given back as (a shell had it). */
void screen_return(struct screen *screen, bool changed);
/* Somebody stopped the program, and a shell had the terminal meanwhile. */
void screen_retake(struct screen *screen);
/*
 * The terminal as it was, from a signal handler or at exit; does nothing when it is so already.
 * Safe in handlers.
 */
void screen_rescue(void);
/* What screen_rescue() writes first; it is copied. */
void screen_set_rescue(const char *data, size_t size);

int screen_rows(const struct screen *screen);
int screen_columns(const struct screen *screen);
bool screen_has_colour(const struct screen *screen);
/* Whether a terminal of this name is known, and its cursor can be moved. */
bool screen_knows(const char *terminal);
bool screen_is_utf8(const struct screen *screen);
/* Ask the terminal for its size. True when it is another one: all is blank then. */
bool screen_resize(struct screen *screen);
/* Draw everything again with the next flush: the glass may show something else. */
void screen_repaint(struct screen *screen);
/* Draw the row again with the next flush, also where it is as before. */
void screen_repaint_row(struct screen *screen, int row);
/* Draw rows again, also what is blank in them: the glass shows what the screen knows nothing of. */
void screen_erase_rows(struct screen *screen, int row, int rows);
/* Grows when everything is drawn again. */
uint64_t screen_generation(const struct screen *screen);
/* Differs when what is in the row differs, and hardly ever else. */
uint64_t screen_row_hash(const struct screen *screen, int row);
/* Pixels of a cell as the system knows them. False: it does not. */
bool screen_cell_pixels(const struct screen *screen, int *ret_width, int *ret_height);
/* How many colours there are by number; 0: no colours are wanted. */
int screen_colour_count(const struct screen *screen);
void screen_set_mouse(struct screen *screen, bool on);

/* All places outside the grid are taken and ignored. */
void screen_fill(struct screen *screen, int row, int column, int count, struct block_style style);
void screen_cells(struct screen *screen, int row, int column, const struct block_cell *cells,
                  int count);
/* One line of text in at most `limit` columns; returns the columns used. */
int screen_text(struct screen *screen, int row, int column, int limit, const char *text,
                size_t size, struct block_style style);
int screen_puts(struct screen *screen, int row, int column, int limit, const char *text,
                struct block_style style);
/* Put colours and attributes of a style over what is there. */
void screen_tint(struct screen *screen, int row, int column, int count, struct block_style style);

/* Where the cursor is after the next flush; row -1: hidden. */
void screen_cursor(struct screen *screen, int row, int column);
void screen_flush(struct screen *screen);
/* Bytes for the terminal itself (the clipboard, a picture), after what was flushed. */
void screen_send(struct screen *screen, const char *data, size_t size);
/*
 * Questions, and which answer comes last; answers come as keys. Who leaves a moment later waits for
 * it, not for long, so that nobody else reads it; not if it was told of by screen_answered().
 */
void screen_ask(struct screen *screen, const char *data, size_t size, enum screen_answer last);
void screen_answered(struct screen *screen, enum screen_answer last);

#endif
