/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The signals of the full-screen front end: counted in a handler and made readable; judged in the
 * loop. What kills the program by a fault of it gives the terminal back first.
 */
#ifndef UI_TUI_SIGNALS_H
#define UI_TUI_SIGNALS_H

#include <signal.h>

enum tui_signal {
    TUI_SIGNAL_SIZE = 1 << 0,
    TUI_SIGNAL_STOP = 1 << 1,
    TUI_SIGNAL_CHILD = 1 << 2,
    TUI_SIGNAL_INTERRUPT = 1 << 3,
    TUI_SIGNAL_QUIT = 1 << 4,
    TUI_SIGNAL_CONTINUE = 1 << 5,
};

void tui_signals_install(void);
void tui_signals_done(void); /* as they were */
int tui_signals_fd(void);    /* readable while there is something to take */
unsigned tui_signals_take(void);
/*
 * SIGTERM or SIGHUP, if one came; else 0. Stays. Unless tui_signals_done() is called within a few
 * seconds it ends the program where it stands: it may hang in writing to the terminal.
 */
int tui_signals_deadly(void);
/* Stop the process group as C-z does; returns when it goes on. */
void tui_signals_stop(void);

#endif
