/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the store share. store.c is the caller's side: a queue under a lock. All else
 * runs on the store's thread, which alone has the database.
 *
 * A write is a copy in the queue; the thread puts all that wait into one transaction. What cannot
 * be written (busy, disk full) stays in the thread's backlog, in order, and is tried again. A call
 * (reading, sessions) runs behind the writes that were given before it.
 */
#ifndef UI_STORE_INTERNAL_H
#define UI_STORE_INTERNAL_H

#include <pthread.h>
#include <sys/types.h>

#include "database.h"
#include "store.h"
#include "strbuf.h"

#define STORE_OUTPUT_LIMIT (256u * 1024)
#define STORE_READ_MS 1000
#define STORE_BUSY_MS 250 /* for one attempt, so that a call behind it does not wait long */
#define STORE_BACKLOG_BYTES (64u << 20) /* beyond it outputs are left out */

/* ---- jobs ---------------------------------------------------------------------------------- */

enum store_job_kind { JOB_BEGIN, JOB_SETTLE, JOB_CALL };

struct store_call;
/* On the thread. False: error (which may be NULL) says why. */
typedef bool (*store_call_fn)(struct store *store, struct store_call *call);

/* Shared by the caller, who may give up, and the thread. */
struct store_call {
    store_call_fn run;
    void (*free_data)(void *data);
    void *data;          /* arguments and results */
    bool writes;         /* needs what is meant to last: a place where it does */
    int64_t deadline_ms; /* reading stops then */
    struct strbuf error;
    bool good, finished, abandoned; /* under the store's lock */
};

struct store_job {
    struct store_job *next;
    enum store_job_kind kind;
    uint64_t number; /* of writes, from 1 */
    int64_t id;      /* for store_settle() */
    size_t bytes;
    struct store_cell cell; /* its texts are own copies */
    struct store_call *call;
};

struct store_jobs {
    struct store_job *first, **end;
    size_t bytes;
};

void store_jobs_init(struct store_jobs *jobs);
void store_jobs_add(struct store_jobs *jobs, struct store_job *job);
struct store_job *store_jobs_take(struct store_jobs *jobs); /* NULL: none */
void store_job_free(struct store_job *job);
void store_cell_clear(struct store_cell *cell); /* frees the texts */

/* ---- the store ----------------------------------------------------------------------------- */

enum store_place {
    PLACE_UNKNOWN, /* not opened yet, or not to be opened now */
    PLACE_FILE,
    PLACE_MEMORY,
    PLACE_NOWHERE, /* no SQLite */
};

enum store_remark {
    REMARK_PLACE = 1,
    REMARK_DAMAGED = 2,
    REMARK_NEWER = 4,
    REMARK_BUSY = 8,
    REMARK_FAILING = 16,
    REMARK_LEFT_OUT = 32,
};

/* A cell that was begun and is not settled. */
struct store_open_cell {
    int64_t id, row;
    bool settled; /* in the transaction that runs */
};

struct store {
    enum store_mode mode;
    enum database_index wanted;
    char *path; /* NULL: there is no home */
    pthread_t thread;

    pthread_mutex_t lock; /* for all down to said */
    pthread_cond_t wake, done;
    struct store_jobs queue;
    uint64_t given, kept;  /* writes: given, and committed without a gap */
    uint64_t failed_tries; /* how often the backlog could not be written, but for being busy */
    size_t waiting_bytes;  /* queue and backlog */
    bool hurry, stop, stop_tried;
    int64_t stop_ms; /* then even the backlog is given up */
    int64_t last_id;
    struct strbuf remarks;
    unsigned said;

    /* The thread's. */
    struct database *database; /* NULL: none is open */
    enum store_place place;
    char *file;           /* the one that is open: path, or one beside it */
    dev_t damaged_device; /* a file to be set aside when it is still in its place */
    ino_t damaged_inode;  /* 0: none */
    struct store_jobs backlog;
    int64_t retry_ms;              /* 0: now */
    int64_t busy_since_ms;         /* 0: it is not */
    int64_t tidy_ms;               /* when the journal is to be copied; 0: not yet */
    int tidy_pages;                /* that it had grown by then */
    struct store_tidying *tidying; /* NULL: nobody copies it */
    struct store_open_cell *open_cells;
    size_t open_count, open_capacity;
    char **entered; /* sessions, for the live marks */
    size_t entered_count, entered_capacity;
    bool marks_due; /* they are not in the database */
};

/* Each remark once. */
void store_say(struct store *store, enum store_remark remark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Give the thread a call and wait at most wait_ms for it. The call's data is its own then. Returns
 * NULL when it was not done in time; else the call, to be read and given to store_call_free().
 */
struct store_call *store_call(struct store *store, store_call_fn run, void *data,
                              void (*free_data)(void *), bool writes, int64_t wait_ms);
void store_call_free(struct store_call *call);

void *store_thread(void *store);

/* As store_open(). INDEX_NONE: as with a SQLite that has no full text. */
struct store *store_open_indexed(const char *path, enum store_mode mode,
                                 enum database_index wanted);

/* ---- the place of the database (store-place.c) ---------------------------------------------- */

/* False: not now; store->retry_ms says when again. */
bool store_connect(struct store *store);
void store_disconnect(struct store *store);
bool store_file_is_gone(const struct store *store);
/* It turned out that the file is not to be written: into memory. */
void store_leave_file(struct store *store);
/* What could not be written is tried again at store->retry_ms. */
void store_note_failure(struct store *store, enum database_state state, const char *why);
/*
 * The open database is damaged: set aside, if nobody else has done so already, and another opened.
 */
bool store_replace_damaged(struct store *store);

/* ---- the journal (store-journal.c) ----------------------------------------------------------- */

void store_tidy_journal(struct store *store);
void store_end_tidying(struct store *store);

/* ---- rows ----------------------------------------------------------------------------------- */

/* In a transaction. False: the database's failure says why. */
bool store_write_begin(struct store *store, const struct store_job *job);
bool store_write_settle(struct store *store, const struct store_job *job);
bool store_write_marks(struct store *store);
void store_remove_marks(struct store *store); /* at the end; a transaction of its own */
bool store_transaction(struct store *store, enum statement which); /* BEGIN, COMMIT, ROLLBACK */
/* 0: there is none (or a failure). */
int64_t store_find_session(struct database *database, const char *name);
int64_t store_make_session(struct database *database, const char *name, int64_t now_us);

#endif
