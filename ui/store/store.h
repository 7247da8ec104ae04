/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What lasts: every cell with its outcome and output, by session, in one SQLite database that
 * several programs use at once ($XDG_STATE_HOME/hermes-repl/history.db). A thread of its own does
 * all reading and writing, so that nobody waits for a disk; what was begun is committed when
 * store_flush() returns.
 *
 * Never in the way: a home that cannot be written, a full disk, a damaged file or one of a newer
 * version make one remark (store_take_remark()), and things go on without, or beside, it. A damaged
 * file is set aside, not overwritten.
 */
#ifndef UI_STORE_H
#define UI_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strbuf.h"

enum store_mode { STORE_OFF, STORE_ON, STORE_NO_OUTPUT };

struct store;

/* path NULL: the usual place. Never fails for the disk's reasons: then the store is in memory. */
struct store *store_open(const char *path, enum store_mode mode);
void store_close(struct store *store); /* writes what waits; NULL is fine */
/* The usual place; NULL: there is no home. Yours. */
char *store_default_path(void);
/* The directories above a file, 0700 those that are not there. False: one line in error. */
bool store_make_directories(const char *path, struct strbuf *error);
/* One line that a person should see, or NULL; yours. */
char *store_take_remark(struct store *store);
/* Wait until all that was given so far is on its way to survive the death of this process. */
bool store_flush(struct store *store, int64_t timeout_ms);

/* ---- cells ---- */

/* How a cell ran, when that was not as at a prompt on a terminal. */
enum store_how {
    STORE_HOW_PIPES = 1 << 0,      /* no terminal */
    STORE_HOW_NO_ECHO = 1 << 1,    /* as a script's: no value of the last expression, no await */
    STORE_HOW_NO_DISPLAY = 1 << 2, /* no display(), and its source is plain Python: no magics */
    STORE_HOW_REDACTED = 1 << 3,   /* secrets in the output are marks */
    STORE_HOW_NO_OUTPUT = 1 << 4,  /* its output was not to be kept; set by the store */
    STORE_HOW_ONE_PIPE = 1 << 5,   /* both streams in one, in exact order; else errors stand last */
};

struct store_cell {
    int64_t id; /* of the row */
    const char *session;
    unsigned number; /* as shown */
    const char *source;
    size_t source_size;
    const char *
        status; /* "running", "success", "error", "timeout", "interrupted", "not run"; NULL: not settled */
    int exit_code;
    const char *output; /* as shown, without escape sequences; capped */
    size_t output_size;
    const char *spill_path;
    int64_t submitted_us, started_us; /* since 1970 */
    int64_t duration_us;
    uint64_t generation, execution_count;
    const char *previous; /* why its kernel was a fresh one; "" or NULL: it was not */
    unsigned how;         /* enum store_how; given to store_begin(), like the two below */
    const char *origin;   /* the file that it is of (absolute); NULL: typed */
    unsigned first_line;  /* in that file; 0: not known */
};

int64_t store_now_us(void); /* since 1970 */
/*
 * Returns an id for store_settle() at once; 0: not kept (mode, or the source begins with a space).
 */
int64_t store_begin(struct store *store, const struct store_cell *cell);
void store_settle(struct store *store, int64_t id, const struct store_cell *cell);
/* What is kept of a long output, as text. */
void store_cap_output(const struct store_cell *cell, struct strbuf *out);

/*
 * ---- reading: each calls `take` on the calling thread, and waits at most a second for the disk;
 * for all cells (limit SIZE_MAX) that long for each piece. False: not in time, or not readable;
 * what was taken until then is right.
 * ----
 */

typedef bool (*store_take_fn)(void *context, const struct store_cell *cell); /* false: enough */
/* The last `limit` cells of a session, oldest first. */
bool store_read_session(struct store *store, const char *session, size_t limit, store_take_fn take,
                        void *context);
/* The last `limit` sources of all sessions, oldest first: for the prompt's history. */
bool store_read_sources(struct store *store, size_t limit, store_take_fn take, void *context);
/* Full text over sources and outputs, newest first. session NULL: all. */
bool store_search(struct store *store, const char *session, const char *text, size_t limit,
                  store_take_fn take, void *context);

struct store_session {
    const char *name;
    int64_t last_used_us;
    uint64_t cells;
    bool live;   /* a running program has it open */
    int64_t pid; /* of that program */
};
typedef bool (*store_take_session_fn)(void *context, const struct store_session *session);
bool store_read_sessions(struct store *store, store_take_session_fn take, void *context);

/* ---- sessions ---- */

/*
 * This program has the session open (until store_close() or store_leave()). True: another one has
 * it too.
 */
bool store_enter(struct store *store, const char *session);
void store_leave(struct store *store, const char *session);
/* Each is false with one line in error. Another program must not have the session open. */
bool store_rename(struct store *store, const char *from, const char *to, struct strbuf *error);
bool store_delete(struct store *store, const char *session, struct strbuf *error);
bool store_purge(struct store *store, struct strbuf *error); /* everything, and the space it took */

#endif
