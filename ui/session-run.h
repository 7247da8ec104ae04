/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The newest run of a session as the history has it: the cells since its numbers began anew. A
 * batch numbers its cells from 1 each time; a session of the prompt goes on counting when it is
 * opened again, so that all it ever was is one run. Knows nothing of engines.
 */
#ifndef UI_SESSION_RUN_H
#define UI_SESSION_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store.h"
#include "strbuf.h"

struct run_cell {
    unsigned number, how, first_line; /* how: enum store_how */
    char *source;
    size_t source_size;
    char *status;
    char *output;
    size_t output_size;
    char *origin;   /* NULL: typed */
    char *previous; /* why its kernel was a fresh one; "": it was not */
    uint64_t execution_count;
};

struct session_run {
    struct run_cell *cells;
    size_t count, capacity;
};

/*
 * Fill an empty run. origin: only cells of this file (NULL: all); links in both paths are followed.
 * False: the history cannot be read, one line in error. A session that is not there has no cells.
 */
bool session_run_read(struct store *store, const char *session, const char *origin,
                      struct session_run *run, struct strbuf *error);
void session_run_free(struct session_run *run);
/* Whether the store has a session of this name. */
bool session_run_exists(struct store *store, const char *session);

#endif
