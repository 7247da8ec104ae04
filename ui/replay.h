/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stored run of a session, run again in a fresh kernel of its own and compared cell by cell with
 * what the history holds. Driven by the engine's events: the command line and the prompts have each
 * their own loop. Writes nothing to the history.
 */
#ifndef UI_REPLAY_H
#define UI_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hermes-kernel.h>

#include "session-run.h"
#include "strbuf.h"

struct replay;
struct tool_calls;

enum replay_verdict {
    REPLAY_WAITS,
    REPLAY_SKIPPED, /* not to be run: reason says why */
    REPLAY_SAME,
    REPLAY_DIFFERS,
};

struct replay_cell {
    const struct run_cell *stored;
    enum replay_verdict verdict;
    const char *reason;  /* SKIPPED */
    char *difference;    /* DIFFERS: a unified diff, or lines; then lines on why it may be */
    char *status;        /* of the new run */
    int64_t duration_us; /* of the new run */
};

/* What the new kernel is like; all strings belong to the caller and outlive the replay. */
struct replay_terms {
    enum hermes_mode mode;
    const char *python, *cwd;
    const char *const *tools;
    enum hermes_env env;
    const char *terminal; /* TERM, of a session that ran on one */
    int columns, rows;
    struct tool_calls *calls; /* NULL: tools are refused */
    /* A cell has its verdict; may be NULL. */
    void (*settled)(void *context, const struct replay_cell *cell);
    void *context;
};

/*
 * Read the session's newest run. owner: the new kernel's, no session's that lives. NULL with one
 * line in error: there is no such session, nothing to run, or the history cannot be read.
 */
struct replay *replay_new(struct hermes_engine *engine, struct store *store, const char *session,
                          const char *owner, const struct replay_terms *terms,
                          struct strbuf *error);
void replay_free(struct replay *replay); /* its kernel ends; NULL is fine */

/* Submit the first cell. */
void replay_begin(struct replay *replay);
/* True: the event was the replay's. */
bool replay_take(struct replay *replay, const struct hermes_event *event);
/* What is due beside events: a cell that reads the terminal gets an end-of-file. In how many
 * milliseconds to be called again; -1: never. */
int64_t replay_tick(struct replay *replay);
/* No further cell is run, the one that runs is killed. */
void replay_stop(struct replay *replay);
bool replay_is_over(const struct replay *replay);
/* The kernel did not start, or the engine refused: one line; else NULL. */
const char *replay_failure(const struct replay *replay);

size_t replay_count(const struct replay *replay);
const struct replay_cell *replay_at(const struct replay *replay, size_t n);
size_t replay_differing(const struct replay *replay);
/* The cell that runs, as it is numbered; 0: none. */
unsigned replay_number(const struct replay *replay);

/* Append what is to be told of one cell, in lines; nothing of one that is the same. */
void replay_add_cell(const struct replay_cell *cell, struct strbuf *out);
/* Append the summary. */
void replay_add_summary(const struct replay *replay, struct strbuf *out);

#endif
