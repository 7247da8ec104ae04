/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sessions as a person works with them: what both interactive front ends (the screen and the plain
 * prompt) share. A model that is built from the engine's events alone, and the actions that
 * commands and typed lines stand for. Draws and reads nothing: a front end feeds lines and
 * commands, runs the one loop, and is told of changes by struct repl_front. Used by one thread.
 */
#ifndef UI_REPL_H
#define UI_REPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hermes-kernel.h>

#include "approval.h"
#include "block.h"
#include "document.h"
#include "history.h"
#include "settings.h"
#include "strbuf.h"
#include "tool-calls.h"

struct repl;
struct keymap;
struct rest;
struct store;

/*
 * ---- the model: read by front ends, written by repl*.c -----------------------------------------
 */

enum repl_cell_state {
    REPL_QUEUED,
    REPL_RUNNING,
    REPL_SETTLED,
    REPL_EARLIER /* of an earlier run: only shown */
};

struct repl_cell {
    uint64_t id; /* the engine's; 0: of an earlier run */
    unsigned
        number; /* as shown: [12]; goes on over kernels. 0: no cell, but output that came while none ran */
    enum repl_cell_state state;
    char *source; /* as typed */
    size_t source_size;
    enum hermes_outcome outcome; /* REPL_SETTLED, REPL_EARLIER */
    bool not_run;                /* settled while it was queued */
    bool start_failed;           /* its kernel did not start */
    bool ended;                  /* it was its kernel's last */
    int exit_code;
    int64_t started_ms, duration_us; /* CLOCK_MONOTONIC */
    uint64_t execution_count, generation;
    bool reused;
    struct block *output; /* never NULL; what the terminal would show, traceback included */
    char *spill_path;     /* complete output, or NULL */
    char *hint;           /* or NULL */
    bool input_waits, input_raw, input_hidden; /* REPL_RUNNING: it reads the terminal */
    bool seen;                                 /* shown while its session was in front */
    bool folded;                               /* for front ends */
    void *view;                                /* for front ends; freed with free() */
    /* Of a document (repl-document.h); it has a number when it has run, here or elsewhere. */
    uint64_t key;        /* which of its cells; 0: none */
    enum cell_kind kind; /* CELL_CODE also of all others */
    bool edited;         /* the source is not the one that ran */
    bool due;            /* is to run when those before it have */
};

/* A transcript is cells and, between them, ruled lines: state lost, reset, and remarks. */
struct repl_item {
    struct repl_cell *cell; /* NULL: a ruled line */
    char *text;             /* of the ruled line: "kernel killed (timeout) · state lost" */
};

struct repl_question {
    struct approval_question question; /* what it points at is owned by this struct */
    struct repl_question *next;
};

struct repl_session {
    char *name;
    size_t serial; /* no other session of this program has had it */
    struct repl_item *items;
    size_t item_count, item_capacity;
    unsigned next_number;

    /* The kernel, as the events told it. */
    uint64_t kernel; /* 0: none yet */
    int64_t pid;
    enum hermes_kernel_state state;
    bool has_kernel;          /* it lives (starting counts) */
    bool ran;                 /* this kernel has run a cell */
    uint64_t execution_count; /* of this kernel */
    uint64_t generation;      /* how many kernels the session has had */
    char *ended; /* "timeout", "killed by SIGSEGV", "evicted" ...: until a cell starts; NULL */
    int64_t state_since_ms; /* busy since, interrupting since */
    uint64_t memory_bytes;  /* resident, of the kernel's process; 0: not known */
    char *python_label;     /* "py3.11 venv"; NULL: not known yet */

    struct repl_cell *running;       /* NULL: none */
    size_t queued;                   /* cells that wait */
    int interrupts;                  /* asked for the cell that runs, or is the next */
    struct repl_question *questions; /* approvals that wait, oldest first */
    bool unread, failed;             /* marks of a tab that is not in front */
    char *draft; /* of the prompt, while another session is in front; NULL: empty */
    size_t draft_size, draft_point;
    void *view; /* for front ends; freed with free() */
    struct repl_document *document; /* repl-document.h; NULL: none */
};

/*
 * ---- what a front end is told -------------------------------------------------------------------
 */

struct repl_front {
    /*
     * Each may be NULL. All come on the thread that uses the repl, in any call of it. An item is
     * put before the cells that wait (a pointer to one is good until the next is added).
     */
    void (*item_added)(void *context, struct repl_session *session, struct repl_item *item);
    /* Items have gone, or stand in another order; the cell to look at is the document's chosen one. */
    void (*items_changed)(void *context, struct repl_session *session);
    void (*cell_changed)(void *context, struct repl_session *session,
                         struct repl_cell *cell); /* its state */
    /* Raw bytes that were added to its block (stream 2: standard error, with `pipes`); for the front end
     * that writes them on. */
    void (*cell_output)(void *context, struct repl_session *session, struct repl_cell *cell,
                        int stream, const char *data, size_t size);
    void (*session_changed)(void *context,
                            struct repl_session *session); /* kernel, marks, queue, name */
    void (*question)(void *context,
                     struct repl_session *session); /* session->questions has changed */
    void (*answer)(void *context, struct repl_session *session, uint64_t request, const char *json);
    void (*say)(void *context, struct repl_session *session,
                const char *line); /* a remark, one line */
    /* Text of a command's result (:vars, :help, name?): to show and page. */
    void (*show)(void *context, struct repl_session *session, const char *title, const char *text,
                 size_t size);
    /* A command that is the front end's (struct command, front_end). False: not known here. */
    bool (*command)(void *context, struct repl_session *session, const char *name,
                    const char *arguments);
    /*
     * Put text into the prompt, in place of what is there if that is empty, else behind it (:load,
     * :edit).
     */
    void (*insert)(void *context, struct repl_session *session, const char *text, size_t size);
    /* Ask yes or no: repl_confirm() follows, now or later. NULL: what was asked is void. */
    void (*confirm)(void *context, struct repl_session *session, const char *question);
};

/*
 * ---- life
 * ------------------------------------------------------------------------------------------
 */

struct repl_options {
    struct settings *settings;
    const struct tool_terms *terms;
    enum hermes_mode mode;
    const char *python, *cwd;
    enum hermes_env env;
    const char *const *sessions; /* names to open, NULL-ended; none: "main" */
    const char *terminal;        /* TERM of the cells */
    int columns, rows;           /* of the cells' terminals */
    bool blocks;         /* keep output in blocks (the screen); else only what repl_front gets */
    bool plain;          /* commands of the full screen are not there */
    bool pipes;          /* cells have no terminal: this program has none */
    struct store *store; /* what lasts; NULL: nothing does */
    struct rest *rest;   /* a batch to go on with: its session is the first; NULL: none */
    const struct keymap *keymap; /* for :keys */
    const char *remarks;         /* lines that are said with the first step; NULL: none */
    struct strbuf *last_words;   /* gets lines to be said when the terminal is given back */
    const char *document; /* a file for the first session, which is named after it; NULL: none */
};

/* NULL with one line in error: a name that cannot be a session's ("::"), no memory. */
struct repl *repl_new(struct hermes_engine *engine, const struct repl_options *options,
                      const struct repl_front *front, void *context, struct strbuf *error);
/*
 * Let idle kernels leave as Python programs do (threads joined, atexit run), kill the others, and
 * wait for them, at most limit_ms, and until is_enough() (asked every moment; NULL: never); what
 * they still write comes as ever. Before repl_free().
 */
void repl_finish(struct repl *repl, int64_t limit_ms, bool (*is_enough)(void *context));
void repl_free(struct repl *repl); /* what is left of kernels ends with the engine */

/* Readable while there is something for repl_step(). */
int repl_fd(const struct repl *repl);
/*
 * Take all events that are there and what is due. Returns in how many ms it wants to be called
 * again; -1: never.
 */
int64_t repl_step(struct repl *repl);

struct hermes_engine *repl_engine(struct repl *repl);
struct settings *repl_settings(struct repl *repl);
struct history *repl_history(struct repl *repl);

/*
 * ---- sessions
 * -----------------------------------------------------------------------------------------
 */

size_t repl_session_count(const struct repl *repl);
struct repl_session *repl_session_at(const struct repl *repl, size_t n);
struct repl_session *repl_session_named(const struct repl *repl, const char *name);
struct repl_session *repl_front_session(const struct repl *repl);
void repl_bring_front(struct repl *repl, struct repl_session *session);
/*
 * NULL with one line in error. name NULL: the next free one ("main", "s2", ...). Starts its kernel.
 */
struct repl_session *repl_open(struct repl *repl, const char *name, struct strbuf *error);
bool repl_rename(struct repl *repl, struct repl_session *session, const char *name,
                 struct strbuf *error);
/* Ends its kernel and forgets its cells on the screen; the last one leaves an empty "main". */
void repl_close(struct repl *repl, struct repl_session *session);
void repl_resize(struct repl *repl, int columns, int rows);

/*
 * ---- what a person does
 * -------------------------------------------------------------------------------
 */

/*
 * A block that was entered: ":command", "!shell", "name?", "%magic", or Python that is queued as a
 * cell. False: one line in error says why nothing was done; the text is not lost, the caller has
 * it.
 */
bool repl_enter(struct repl *repl, struct repl_session *session, const char *text, size_t size,
                struct strbuf *error);
/* A command by its name, as ":name arguments" does. */
bool repl_command(struct repl *repl, struct repl_session *session, const char *line,
                  struct strbuf *error);
void repl_confirm(struct repl *repl, bool yes);
/*
 * The ladder: SIGINT first; when the cell still runs, the next one says where it is and asks
 * whether to kill. False: nothing runs.
 */
bool repl_interrupt(struct repl *repl, struct repl_session *session);
/* Type at the terminal of the running cell. */
void repl_type(struct repl *repl, struct repl_session *session, const char *data, size_t size);
/* A key was typed for the running cell: look soon whether it reads (cell_changed follows if so). */
void repl_look_at_input(struct repl *repl, struct repl_session *session);
/* Answer the oldest question of a session. */
void repl_settle(struct repl *repl, struct repl_session *session, enum approval_answer answer);
/*
 * Ask the session's kernel about code with the cursor behind so many bytes ("complete", "inspect";
 * hermes_request()). 0: it cannot be asked now. answer() follows.
 */
uint64_t repl_request(struct repl *repl, struct repl_session *session, const char *what,
                      const char *code, size_t size, size_t cursor, int64_t timeout_ms);
/* The code of a script or notebook, as :load puts it into the prompt. */
bool repl_read_source(const char *path, struct strbuf *text, struct strbuf *error);
/* Whether something runs or waits in any session. */
bool repl_is_busy(const struct repl *repl);
/* The answer to a command is still to come (:vars, name?, the cost of a :reset). */
bool repl_awaits_answer(const struct repl *repl);
bool repl_wants_quit(const struct repl *repl); /* :quit was entered and, if asked, confirmed */

/*
 * How states and ends are called, for status bar and plain prompt: "idle", "busy", "ended:
 * timeout".
 */
const char *repl_state_text(const struct repl_session *session);

#endif
