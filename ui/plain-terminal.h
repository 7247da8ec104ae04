/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal's modes and the program's signals in plain mode. Signals become bytes in a pipe;
 * what ends the program by surprise still gives the terminal back.
 */
#ifndef UI_PLAIN_TERMINAL_H
#define UI_PLAIN_TERMINAL_H

#include <stdbool.h>

enum plain_signal {
    PLAIN_INTERRUPT = 1 << 0,
    PLAIN_RESIZE = 1 << 1,
    PLAIN_CONTINUE = 1 << 2,
    PLAIN_END = 1 << 3, /* SIGTERM, SIGHUP */
};

bool plain_signals_open(void); /* false: no descriptors */
void plain_signals_close(void);
int plain_signals_fd(void);
/* The program was told to end, and something was written for too long: nobody reads any more. */
bool plain_signals_impatient(void);
/* Flags of those that came; *ret_number: which one ends the program. */
unsigned plain_signals_take(int *ret_number);

/* Each key as it is typed, bytes out as they are; and back. */
void plain_terminal_raw(void);
void plain_terminal_restore(void);
/*
 * Stop the process group as C-z does elsewhere, with the terminal as it was. Returns when
 * continued.
 */
void plain_terminal_suspend(void);
void plain_terminal_size(int *ret_columns, int *ret_rows);

#endif
