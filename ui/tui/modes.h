/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The modes that the terminal of descriptors 0 and 1 has while the program has it, and the one way
 * back. Part of the screen, which has ncurses for raw mode and the rest. There is one terminal:
 * what it was like before is kept here, where a signal handler finds it (screen_rescue()).
 */
#ifndef UI_TUI_MODES_H
#define UI_TUI_MODES_H

#include <stdbool.h>
#include <stddef.h>

#include "screen.h"

/* As it is now it is to be given back. False: this is no terminal. */
bool modes_remember(void);
/* False: the terminal does not take all of it. */
bool modes_send(const char *data, size_t size);
/* Raw: C-c, C-z, C-s and the like arrive as bytes. */
void modes_set(bool mouse);
void modes_mouse(bool on);
/* See screen_ask(). */
void modes_ask(const char *data, size_t size, enum screen_answer last);
void modes_answered(enum screen_answer last);
/* Two steps of giving it back; ncurses goes in between. */
void modes_reset(void);
void modes_restore(void);

#endif
