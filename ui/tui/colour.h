/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Styles as ncurses wants them: attributes, and a number for each pair of colours that was used.
 * Colours that the terminal has not are replaced by the nearest ones it has. Part of the screen.
 */
#ifndef UI_TUI_COLOUR_H
#define UI_TUI_COLOUR_H

#include <stdbool.h>
#include <stddef.h>

#include "block.h"

struct colours;

/* After ncurses has started. wanted false: attributes only. */
struct colours *colours_new(bool wanted);
void colours_free(struct colours *colours);
bool colours_any(const struct colours *colours);
/* How many cells the screen has: so many pairs must be possible at once, many more are a waste. */
void colours_set_cells(struct colours *colours, size_t cells);
/*
 * The number of a style's pair (0: the terminal's own colours). When there are no more numbers, 0
 * is returned and *ret_full set: all must be forgotten, and every cell on the screen given anew.
 */
int colours_pair(struct colours *colours, const struct block_style *style, bool *ret_full);
void colours_forget(struct colours *colours);
unsigned long colours_attributes(const struct block_style *style);
/* The nearest of the 256 usual colours. */
int colours_nearest_256(unsigned rgb);

#endif
