/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether the terminal has all colours, and how ncurses is told. Terminals' usual descriptions know
 * 256 colours, those with more cannot name these 256 any more, and hardly anybody has them. So one
 * is made of the user's own while the program starts, with both; ncurses takes it from a variable,
 * no file is written. Part of the screen.
 */
#ifndef UI_TUI_TRUE_COLOUR_H
#define UI_TUI_TRUE_COLOUR_H

#include <stdbool.h>

#include "strbuf.h"

/* The terminal's name in that description. */
#define TRUE_COLOUR_NAME "hermes-repl-true-colour"
/* Colours by number are below 256; 0xRRGGBB is this and the number. */
#define TRUE_COLOUR_BASE 0x1000000
#define TRUE_COLOUR_COUNT 0x2000000

/* The description, as TERMINFO takes it. False: the terminal has no more than its usual colours. */
bool true_colour_describe(struct strbuf *out);

#endif
