/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The signals of a batch: counted in a handler that also wakes the engine's wait; judged on the
 * main thread.
 */
#ifndef UI_SIGNALS_H
#define UI_SIGNALS_H

#include <stdbool.h>

#include <hermes-kernel.h>

/*
 * SIGINT, SIGTERM and SIGHUP are caught (SIGHUP not when it was ignored: nohup), SIGPIPE is
 * ignored. None of them restarts a system call. The engine must outlive signals_done().
 */
void signals_install(struct hermes_engine *engine);
void signals_done(void); /* the handlers stay but touch the engine no more */

/* SIGINTs since the last call. */
int signals_take_interrupts(void);
/* SIGTERM or SIGHUP, if one came; else 0. Stays. */
int signals_deadly(void);
/* Some time has passed since one came that ends the run: no reader is waited for any more. */
bool signals_impatient(void);
/* SIGINTs not yet taken. */
bool signals_pending(void);

/* Die as a program does that writes to a pipe which nobody reads. */
void signals_die_of_pipe(void) __attribute__((noreturn));

#endif
