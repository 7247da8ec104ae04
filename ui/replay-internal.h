/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What replay*.c share.
 */
#ifndef UI_REPLAY_INTERNAL_H
#define UI_REPLAY_INTERNAL_H

#include "replay.h"
#include "shown.h"

struct replay {
    struct hermes_engine *engine;
    char *session, *owner;
    struct replay_terms terms;
    struct session_run run;
    struct replay_cell *cells; /* of the run, in its order */
    struct hermes_kernel_setup setup;
    char *path0;
    struct strbuf whole; /* of a script, as far as its cells are known: tracebacks quote it */

    size_t next;    /* the first that was not looked at */
    size_t current; /* while running */
    bool running, over, stopped, terminal;
    uint64_t cell, kernel;
    bool wall_time;
    struct shown shown;
    int64_t input_due_ms; /* 0: not to be asked */
    unsigned inputs;      /* ends of file that the cell was given */
    char *failure;
};

/* replay-compare.c: the verdict on a cell that has settled, with its difference. */
void replay_compare(struct replay *replay, size_t n, const struct hermes_result *result);

#endif
