/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run under way: what batch.c, batch-load.c, batch-cell.c, batch-output.c and batch-report.c
 * share.
 */
#ifndef UI_BATCH_INTERNAL_H
#define UI_BATCH_INTERNAL_H

#include "batch.h"
#include "document.h"
#include "junit.h"
#include "live-text.h"
#include "notebook-write.h"
#include "progress.h"
#include "shown.h"
#include "strbuf.h"

#define BATCH_SESSION "batch"

struct batch_item {
    size_t cell;   /* index in the document */
    size_t number; /* as people count: code cells from 1; 0: the injected parameters */
};

/* Why no further cell is started. */
enum batch_stop {
    BATCH_GOING,
    BATCH_STOP_FAILED, /* a cell failed, and that stops the run */
    BATCH_STOP_EXIT,   /* sys.exit() */
    BATCH_STOP_TIME,
    BATCH_STOP_INTERRUPT,
    BATCH_STOP_SIGNAL, /* SIGTERM, SIGHUP, a second SIGINT: no orderly end */
    BATCH_STOP_PIPE,   /* standard output cannot be written */
    BATCH_STOP_ENGINE, /* the engine refused a cell */
};

/* What text in events belongs to. */
enum batch_text { BATCH_TEXT_CELL, BATCH_TEXT_BACKGROUND, BATCH_TEXTS };

struct batch {
    struct hermes_engine *engine;
    const struct batch_options *options;

    /* The document and what the kernel is told about it. */
    struct document document;
    struct strbuf text; /* of a script, UTF-8 */
    char *script;       /* sys.argv[0], NULL for notebooks */
    char *file_name;    /* in tracebacks; NULL for notebooks */
    char *path0;
    const char *label; /* for messages and reports */
    char *origin;      /* absolute path; NULL: -c, standard input */
    struct hermes_kernel_setup setup;

    /* The plan. */
    struct batch_item *items;
    size_t item_count, item_capacity;
    size_t total;     /* code cells in the file */
    size_t numbered;  /* items with a number */
    size_t resume_at; /* --resume: items before it are run again and not shown */

    /* The run. */
    const struct batch_item *current; /* NULL: none is running */
    uint64_t cell, kernel;
    bool started, wall_time, run_limited, settled;
    int interrupts;                  /* of the current cell */
    int64_t started_ms, deadline_ms; /* 0: none */
    enum batch_stop stop;
    int status;
    int write_errno;
    bool explaining; /* standard output is gone, the reason is being told */
    uint64_t *alive; /* kernels that have begun a cell and are not dead */
    size_t alive_count, alive_capacity;
    char *start_time; /* ISO 8601 */

    struct tool_calls calls;
    struct strbuf denied; /* names of tools that were denied, each between commas */

    /* What is kept of it. */
    struct cell_record *records; /* one for each cell of the document */
    struct junit junit;
    size_t differing; /* cells, with BATCH_VERIFY */
    int64_t saved_ms, save_cost_ms;

    /* The history. */
    int64_t stored; /* the current cell there; 0: it is not kept */
    int64_t submitted_us;
    bool redacts;
    struct shown shown;

    /* Writing. */
    struct progress progress;
    struct live_text live[BATCH_TEXTS][2]; /* --events: of streams 1 and 2 */
};

/* batch-load.c: false with one line in error */
bool batch_load(struct batch *batch, struct strbuf *error);
bool batch_make_plan(struct batch *batch, struct strbuf *error);

/* batch-cell.c: run one item; judge its result */
void batch_run_item(struct batch *batch, const struct batch_item *item);
void batch_finish_kernels(struct batch *batch);
void batch_check_signals(struct batch *batch);
void batch_stop_with(struct batch *batch, enum batch_stop stop, int status);
const char *batch_cell_name(const struct batch *batch, const struct batch_item *item,
                            struct strbuf *name);

/* batch-output.c */
void batch_show_started(struct batch *batch, const struct hermes_event *event);
void batch_show_output(struct batch *batch, const struct hermes_event *event);
void batch_show_display(struct batch *batch, const struct hermes_event *event);
void batch_show_result(struct batch *batch, const struct hermes_result *result);
void batch_show_background(struct batch *batch, const struct hermes_event *event);
void batch_show_end(struct batch *batch);
void batch_write(struct batch *batch, const char *text, size_t size); /* to standard output */
/* Show the text of events that has waited long enough; how long until the next time, -1: never. */
int64_t batch_show_waiting(struct batch *batch);
/* A remark on stderr, with the program's name; not when quiet unless it is an error. */
void batch_say(struct batch *batch, bool error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* batch-report.c */
bool batch_check_reports(struct batch *batch, struct strbuf *error);
void batch_record_result(struct batch *batch, const struct hermes_result *result);
void batch_save_some(struct batch *batch); /* now and then, so that a killed run leaves its work */
bool batch_save_all(struct batch *batch);
bool batch_keeps_outputs(const struct batch *batch);
int batch_status_of(const struct hermes_result *result);
/* A case of the JUnit report, with its name; NULL: there is to be none. */
struct junit_case *batch_add_case(struct batch *batch, const struct batch_item *item);

/* batch-store.c: what is kept in the history */
void batch_store_open(struct batch *batch);
void batch_store_begin(struct batch *batch);
void batch_store_output(struct batch *batch, const struct hermes_event *event);
void batch_store_settle(struct batch *batch, const struct hermes_result *result);
void batch_store_close(struct batch *batch);

/* batch-resume.c */
bool batch_plan_resume(struct batch *batch, struct strbuf *error);
void batch_show_resumed(struct batch *batch);
/* The current cell is one of those that are only run again. */
static inline bool batch_is_replaying(const struct batch *batch)
{
    return batch->current && (size_t)(batch->current - batch->items) < batch->resume_at;
}

/* batch-rest.c: --on-error interactive */
static inline const char *batch_session(const struct batch *batch)
{
    return batch->options->session ? batch->options->session : BATCH_SESSION;
}
void batch_terminal_set_up(struct batch *batch);
void batch_terminal_open(struct batch *batch);
void batch_terminal_close(struct batch *batch);
void batch_terminal_wait(struct batch *batch, int64_t wait_ms); /* for events and keys */
void batch_note_failure(struct batch *batch, const struct hermes_result *result);
bool batch_hands_over(const struct batch *batch);
void batch_hand_over(struct batch *batch);

/* batch-verify.c: against the outputs that the notebook holds */
bool batch_check_verify(struct batch *batch, struct strbuf *error);
/* Compare what the current cell showed. True: the same, also where that is an error. */
bool batch_verify_result(struct batch *batch, const struct hermes_result *result);
void batch_verify_end(struct batch *batch);

#endif
