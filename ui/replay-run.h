/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --replay: a session of the history run again as a test, on standard output, with an exit status
 * and a JUnit report.
 */
#ifndef UI_REPLAY_RUN_H
#define UI_REPLAY_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <hermes-kernel.h>

#include "tool-calls.h"

struct store;

struct replay_options {
    const char *session, *junit; /* junit NULL: no report */
    const char *python, *cwd;
    const struct tool_terms *terms;
    struct store *store;
    int64_t run_timeout_ms; /* -1: none */
    bool quiet;
};

/* The exit status: 0 the same, 1 something differs, 2 no such session; others as of a batch. */
int replay_run(struct hermes_engine *engine, const struct replay_options *options);

#endif
