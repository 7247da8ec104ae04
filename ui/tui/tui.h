/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The full-screen front end: sessions as tabs, cells as blocks of a transcript, a prompt with an
 * editor. Everything that happens to sessions is the business of ui/repl; this draws its model and
 * turns keys into its calls. One thread, one poll, one draw for each round.
 */
#ifndef UI_TUI_H
#define UI_TUI_H

#include <hermes-kernel.h>

#include "repl.h"
#include "strbuf.h"

/*
 * Whether this terminal can carry it: both ends are terminals and TERM names one that can move its
 * cursor.
 */
bool tui_is_possible(void);

/*
 * Open it, run until it is left, and give the terminal back. options: as repl_new() takes them;
 * what the terminal decides (size, TERM, blocks) is filled in here. file: the document of the first
 * session, or NULL. *ret_status: of the program, 128 + n after a signal. False: it could not be
 * opened, error gets one line.
 */
bool tui_run(struct hermes_engine *engine, struct repl_options *options, const char *file,
             int *ret_status, struct strbuf *error);

#endif
