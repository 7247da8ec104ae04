/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Styles as ncurses wants them: attributes, and a number for each pair of colours that was used.
 * Colours that the terminal has not are replaced by the nearest ones it has. Part of the screen.
 */
#ifndef UI_TUI_COLOUR_H
#define UI_TUI_COLOUR_H

#include <stdbool.h>

#include "block.h"

struct colours;

/* After ncurses has started. wanted false: attributes only. */
struct colours *colours_new(bool wanted);
void colours_free(struct colours *colours);
bool colours_any(const struct colours *colours);
/*
 * The number of a style's pair (0: the terminal's own colours). When there are no more numbers, all
 * are given back, and *ret_again is set: every cell on the screen must be drawn again.
 */
short colours_pair(struct colours *colours, const struct block_style *style, bool *ret_again);
unsigned long colours_attributes(const struct block_style *style);
/* The nearest of the 256 usual colours. */
int colours_nearest_256(unsigned rgb);

#endif
