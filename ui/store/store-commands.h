/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --list, --history, --export, --rename, --delete and --history-purge: the store on the command
 * line.
 */
#ifndef UI_STORE_COMMANDS_H
#define UI_STORE_COMMANDS_H

#include "cli.h"
#include "settings.h"
#include "store.h"

enum {
    STORE_STATUS_DONE = 0,
    STORE_STATUS_NOTHING = 1, /* nothing was found, or there is no such session */
    STORE_STATUS_FAILED = 2,
};

/* The exit status, or -1: none of them was asked for. */
int store_commands_run(struct settings *settings, const struct cli *cli);

/* Append what a search found: session, number, time and outcome, the source, the lines that hold the text. */
void store_describe_match(struct strbuf *out, const struct store_cell *cell, const char *text);

#endif
