/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From settings to one of the front ends for a person: the full screen, or the plain prompt.
 */
#ifndef UI_INTERACTIVE_H
#define UI_INTERACTIVE_H

#include "cli.h"
#include "command.h"
#include "settings.h"

/* The exit status in ret_status; false with one line in error: wrong usage. */
bool interactive_start(struct settings *settings, const struct cli *cli, int *ret_status,
                       struct strbuf *error);

/*
 * The same after a batch that stopped at a failing cell: its session, with the kernel as it is, in
 * front.
 */
struct rest;
bool interactive_continue(struct settings *settings, const struct cli *cli, struct rest *rest, int *ret_status,
                          struct strbuf *error);

/* The keys as they are with the user's file. What is wrong with it is said on standard error. Yours. */
struct keymap *interactive_keymap(struct settings *settings);

/* Judge the user's file, if there is one: a line for out; false when something is wrong with it. */
bool interactive_check_keys(struct settings *settings, struct strbuf *out);

#endif
