/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a script or a notebook, cell by cell, in one session of the engine, and returns the
 * program's exit status.
 *
 * One thread: submit a cell, take events until it has settled, go on. Signals only set flags and
 * wake that wait.
 */
#ifndef UI_BATCH_H
#define UI_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hermes-kernel.h>

#include "cell-ranges.h"
#include "params.h"
#include "rest.h"
#include "store.h"
#include "tool-calls.h"

enum batch_format {
    BATCH_HUMAN,
    BATCH_JSON,
    BATCH_EVENTS,
    BATCH_VERIFY, /* compare with the stored outputs, show what differs */
};

/* What a run is asked to do. All strings belong to the caller. */
struct batch_options {
    const char *file; /* as given; "-": standard input; NULL: code */
    const char *code;
    const char *const *argv; /* NULL-ended, or NULL */
    enum batch_format format;
    bool verify; /* format is BATCH_VERIFY */
    bool keep_going;
    bool echo;
    bool quiet;
    bool stdin_inherit;
    bool scrub;
    bool strict;
    const char *python;                      /* NULL: the engine's choice */
    const char *cwd;                         /* NULL: here */
    int64_t run_timeout_ms, cell_timeout_ms; /* -1: none */
    struct params params;
    struct cell_ranges cells;
    const struct tool_terms *terms;
    const char *const *saves; /* NULL-ended, or NULL */
    const char *junit;        /* NULL: none */
    struct store *store;      /* what the session's history is kept in; NULL: nothing is kept */
    const char *session;      /* its name; NULL: it has none */
    bool resume;              /* go on where the last run of this file failed */
    struct rest *rest; /* filled in when a cell fails and a prompt goes on; NULL: none does */
};

#define BATCH_STATUS_USAGE 2
#define BATCH_STATUS_TIMEOUT 124
#define BATCH_STATUS_START 125
#define BATCH_STATUS_PIPE (-1) /* our reader is gone: die of SIGPIPE once the engine is freed */

int batch_run(struct hermes_engine *engine, const struct batch_options *options);

#endif
