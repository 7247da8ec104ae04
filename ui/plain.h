/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plain front end: a prompt, and below it what the cell writes, byte for byte. For lines and
 * terminals that carry no screen, for screen readers, and for programs that drive a prompt. Without
 * a terminal on standard input it reads blocks from there. Sessions are the business of ui/repl.
 */
#ifndef UI_PLAIN_H
#define UI_PLAIN_H

#include <hermes-kernel.h>

#include "repl.h"
#include "strbuf.h"

/*
 * Run until it is left. options: as repl_new() takes them; what the terminal decides is filled in
 * here. file: the document of the
 * first session, or NULL. The exit status of the program. False: it
 * could not be opened, error gets one line.
 */
bool plain_run(struct hermes_engine *engine, struct repl_options *options, const char *file,
               int *ret_status, struct strbuf *error);

#endif
