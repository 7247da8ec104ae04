/* SPDX-License-Identifier: MIT */
/*
 * Many sessions in one host, used at random by many threads, and a model that tells what each
 * answer has to be.
 *
 * The engine's events are one list in the order in which things happened. Each call knows how long
 * that list was before it began and after it returned, so it took effect between these two places.
 * A round ends when all threads have returned; then the model plays the list from its beginning
 * (load-model.c) and compares: each step of a kernel must be explained by a call that was under way
 * there, and each answer by the steps. What the cells themselves print - process id, how many cells
 * that Python has seen, whose it is - is compared too, so that the engine cannot agree with itself
 * only. Where calls overlap, every order that they allow is right and no other is.
 */
#ifndef LOAD_H
#define LOAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hermes-kernel.h"

enum {
    CHILDREN = 3, /* delegated children of a session; child 0 is the session itself */
    OWNERS_EACH = CHILDREN + 1,
    KEYS = 3, /* project, project without tools, strict */
    SESSIONS_MAX = 1000,
    THREADS_MAX = 256,
    CALLS_MAX = 60000, /* in a round */
    LOG_MAX = 600000,
    DONE_SLOTS = 1 << 17,
    NEVER = INT32_MAX,
};

/* ---- cells and calls -------------------------------------------------------------------- */

#define CELL_KIND_MAP(X)                                                                           \
    X(PLAIN) X(NAP) X(FLOOD) X(BRANCH) X(RAISE) X(HANG) X(LOOP) X(STUBBORN) X(EXIT) X(ABORT) X(SHOT)
enum cell_kind {
#define X(name) CELL_##name,
    CELL_KIND_MAP(X)
#undef X
        CELL_KINDS
};

enum call_type {
    CALL_EXECUTE,
    CALL_SUBMIT,
    CALL_START,
    CALL_INTERRUPT,
    CALL_KILL,
    CALL_RESET,
    CALL_CLEAR,
    CALL_CHILD_END,
    CALL_LIST,
    CALL_TYPES
};

/* What an answer said, without its texts. */
struct answer {
    enum hermes_outcome outcome;
    enum hermes_previous previous;
    int exit_code, term_signal, state_kept;
    bool started, start_failed, reused, state_reset, ended, truncated;
    uint64_t cell, kernel, execution_count, generation, bytes_total;
    int64_t kernel_pid, duration_us;
    /* what the cell printed */
    bool printed;
    long pid, n, call;
    int who; /* owner and key of the kernel, as place() */
    size_t line_size;
    char words[200]; /* the beginning of output and error, for reports */
};

struct call {
    enum call_type type;
    enum cell_kind kind;
    bool reset; /* HERMES_CELL_RESET */
    int session, child, key;
    int timeout_ms, kill_after_ms;
    int begin, submitted, end; /* places in the log; submitted: CALL_SUBMIT has returned */
    int64_t begin_ns, submitted_ns, end_ns;
    uint64_t cell;   /* its own, or the one that it interrupts */
    uint64_t kernel; /* CALL_START */
    int status;
    int answers;
    struct answer answer;
    /* for the model */
    int started; /* place of its STARTED; NEVER: none */
    int settled; /* place where its kernel let go of it */
    bool open;   /* it may be attached to a kernel without having started */
    int done;    /* place of its DONE; NEVER: none */
};

static inline bool call_is_cell(const struct call *call)
{
    return call->type == CALL_EXECUTE || call->type == CALL_SUBMIT;
}

static inline int owner_of(int session, int child)
{
    return session * OWNERS_EACH + child;
}

static inline int place(int session, int child, int key)
{
    return owner_of(session, child) * KEYS + key;
}

/* ---- the log ---------------------------------------------------------------------------- */

struct entry {
    enum hermes_event_type type; /* STARTED, DONE, KERNEL */
    enum hermes_kernel_state state;
    enum hermes_previous cause;
    int owner; /* KERNEL */
    uint64_t cell, kernel, execution_count;
    int64_t seen_ns; /* when it was taken: it happened before */
};

struct load {
    struct hermes_engine *engine;
    uint64_t seed;
    int sessions, threads, hot;
    int round_seconds;
    const char *python, *directory;
    int cap;          /* max_session_kernels */
    int64_t rules_ns; /* when these were set */
    int idle_seconds; /* kernel_idle_timeout, 0: off */
    int slack_ms;     /* how late a reaping may be on a busy machine */

    pthread_mutex_t lock; /* of the log, and of taking events */
    pthread_cond_t answered;
    struct entry *log;
    int length;
    struct done {
        uint64_t cell;
        int count, place;
        struct answer answer;
    } * done; /* by cell, open addressing */
    struct call *calls;
    int call_count;                 /* atomic */
    bool stop;                      /* atomic: threads finish what they do */
    bool stop_pulling;              /* atomic */
    uint64_t inflight[THREADS_MAX]; /* atomic: submitted cells that a stranger may interrupt */
};

int64_t now_ns(void);
uint64_t random_next(uint64_t *state);
unsigned random_below(uint64_t *state, unsigned limit);

/* load-log.c */
void log_begin(struct load *load); /* a new round */
int log_drain(struct load *load);  /* take all events that there are; the length of the log then */
int log_length(struct load *load);
/* The answer of a submitted cell; false: none came in time. */
bool log_wait_done(struct load *load, uint64_t cell, struct answer *ret, int *ret_place);
const struct done *log_find_done(const struct load *load, uint64_t cell); /* or NULL */
void read_answer(struct answer *answer, const struct hermes_result *result);
bool parse_owner(const char *name, int *ret_owner);

/* load-calls.c */
void calls_run(struct load *load, int thread, uint64_t seed);
const char *cell_kind_name(enum cell_kind kind);

/* load-model.c, load-round.c */
struct model;
struct model *model_new(const struct load *load);
void model_free(struct model *model);
void model_check_round(struct model *model); /* all threads have returned, all events are taken */
void model_everything_was_killed(struct model *model); /* what hermes_shutdown_all() does */
/* A fault: said, counted. place: where in the log, or -1. */
void model_fault(struct model *model, int at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
long model_faults(const struct model *model);
void model_print_sums(const struct model *model);
void model_check_list(struct model *model, const char *json); /* hermes_kernels_json() at rest */

#endif
