/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hermes-repl --mcp: a server of the Model Context Protocol on standard input and output. Ends when
 * the input does, or by SIGTERM, SIGINT or SIGHUP.
 */
#ifndef UI_MCP_H
#define UI_MCP_H

#include <stdbool.h>

#include <hermes-kernel.h>

#include "cli.h"
#include "settings.h"
#include "tool-calls.h"

/* What cells are given. All strings belong to the caller. */
struct mcp_options {
    bool inherit_env; /* false: a scrubbed environment */
    bool strict;
    const char *python; /* NULL: the engine's choice */
    const char *cwd;    /* NULL: here */
    const struct tool_terms *terms;
};

/*
 * Serve as command line, environment and file say; the engine has its own defaults where they say
 * nothing. False: bad usage, error gets one line.
 */
bool mcp_start(struct settings *settings, const struct cli *cli, int *ret_status,
               struct strbuf *error);

/* Returns the exit status of the program. The engine's options are set already. */
int mcp_run(struct hermes_engine *engine, const struct mcp_options *options);

#endif
