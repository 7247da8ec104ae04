/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What repl*.c and command*.c share. The public structs are the first members of larger ones here:
 * front ends see the model, not what it is made with.
 */
#ifndef UI_REPL_INTERNAL_H
#define UI_REPL_INTERNAL_H

#include "outputs.h"
#include "progress.h"
#include "repl.h"
#include "xalloc.h"

#define REPL_RAW_MAX                                                                               \
    ((size_t)256 << 10) /* of a cell's bytes for :save; more is taken from the block */
#define REPL_BLOCK_BYTES ((size_t)8 << 20)
#define REPL_PICTURE_ROWS 24
#define REPL_SESSIONS_MAX 64

struct repl_cell_data {
    struct repl_cell cell;
    struct repl_session *session;
    struct outputs outputs; /* for :save; streams are gone when raw_dropped */
    size_t raw_bytes;
    bool raw_dropped;
    char last_byte; /* of what was shown; 0: nothing was */
    bool wall_time;
    bool post_mortem; /* a failure of it starts no debugger */
    bool error_shown;
    int64_t stored;    /* store_begin()'s id; 0: not kept */
    int64_t queued_us; /* since 1970 */
    struct strbuf denied;
    /* Of a document. */
    bool quiet;                    /* filled from a file: no news for front ends */
    uint64_t source_hash;          /* of what ran, or what the file had */
    bool leads;                    /* cells that are due follow it, if it succeeds */
    struct repl_cell_data *before; /* the run before, until this one begins */
};

struct repl_session_data {
    struct repl_session session;
    char *owner; /* the engine's name of it: stays when the session is renamed */
    char *save_path;
    char *doubt_path; /* a file that may be written over, if a person says so */
    bool named;       /* by a person: its earlier cells came back */
    bool post_mortem; /* :pdb on */
    /* A kernel that ends, whose ruled line waits for its cell to settle. */
    enum hermes_previous cause;
    bool line_due, lost_state, kept;
    char *cost; /* of that kernel */
    int64_t kernel_since_ms;
    int64_t memory_due_ms; /* 0: not sampled */
    int64_t input_due_ms;  /* 0: not asked */
    int input_wait_ms;
    int64_t looked_ms;                 /* at the input, last */
    int64_t output_ms, flow_since_ms;  /* the last output; since when there was no gap */
    struct repl_cell_data *background; /* the newest item, if it is output of no cell */
};

/* Why the kernel was asked. */
enum repl_purpose {
    REPL_FOR_FRONT,
    REPL_FOR_INSPECT,
    REPL_FOR_SOURCE,
    REPL_FOR_VARIABLES,
    REPL_FOR_STUCK,
    REPL_FOR_RESET
};

struct repl_pending {
    uint64_t request;
    struct repl_session *session;
    enum repl_purpose purpose;
    char *subject;
    uint64_t cell;
};

/* A question to the person, yes or no. */
enum repl_doubt {
    REPL_SURE,
    REPL_DOUBT_KILL,
    REPL_DOUBT_RESET,
    REPL_DOUBT_UNDO,
    REPL_DOUBT_CLEAR,
    REPL_DOUBT_CLOSE,
    REPL_DOUBT_QUIT,
    REPL_DOUBT_OVERWRITE,
    REPL_DOUBT_RELOAD
};

struct repl_question_data {
    struct repl_question question; /* session: as shown */
    char *owner;
    uint64_t kernel;
};

struct repl {
    struct hermes_engine *engine;
    struct settings *settings;
    const struct tool_terms *terms;
    struct repl_options options; /* strings are ours */
    struct hermes_kernel_setup setup;
    struct repl_front front;
    void *context;
    struct history *history;
    struct tool_calls calls;

    struct repl_session_data **sessions;
    size_t session_count, session_capacity, sessions_made;
    struct repl_session *in_front;

    struct repl_cell_data **open; /* submitted, not settled; in this order */
    size_t open_count, open_capacity;
    struct repl_pending *pending;
    size_t pending_count, pending_capacity;

    enum repl_doubt doubt;
    struct repl_session *doubt_session;
    uint64_t doubt_cell;
    struct replay *replay; /* a session that is run again in a kernel of its own; NULL: none */
    struct repl_session *replay_session; /* NULL: it was closed meanwhile */
    unsigned replays;
    uint64_t rest_cell;   /* the cell of the batch that runs; 0: none */
    bool recalled;        /* the history, from the store */
    bool stepped;         /* once at least */
    struct strbuf unsaid; /* remarks of the time before there was a front end, in lines */
    bool quits, finishes; /* ends of kernels are no news then */
};

static inline struct repl_session_data *session_data(struct repl_session *session)
{
    return (struct repl_session_data *)session;
}

static inline struct repl_cell_data *cell_data(struct repl_cell *cell)
{
    return (struct repl_cell_data *)cell;
}

/* ---- what front ends are told (repl.c) ---- */

void repl_tell_session(struct repl *repl, struct repl_session *session);
void repl_tell_cell(struct repl *repl, struct repl_session *session, struct repl_cell *cell);
void repl_say(struct repl *repl, struct repl_session *session, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void repl_show(struct repl *repl, struct repl_session *session, const char *title,
               const struct strbuf *text);

/* ---- cells (repl-cells.c) ---- */

struct repl_submission {
    const char *source; /* as typed */
    size_t source_size;
    const char *code; /* what runs; NULL: the source */
    size_t code_size;
    const char *file_name; /* NULL: "<cell N>" */
    unsigned first_line;
    bool wall_time, post_mortem;
    uint64_t key; /* of a document: takes the place of that cell's last run */
    bool leads;   /* see repl_cell_data */
};

struct repl_cell_data *repl_cell_new(struct repl *repl, struct repl_session *session,
                                     const char *source, size_t size);
void repl_cell_free(struct repl_cell_data *data);
bool repl_submit(struct repl *repl, struct repl_session *session,
                 const struct repl_submission *what, struct strbuf *error);
struct repl_cell_data *repl_open_cell(struct repl *repl, uint64_t id);
void repl_close_cell(struct repl *repl, struct repl_cell_data *data);
void repl_add_item(struct repl *repl, struct repl_session *session, struct repl_cell *cell,
                   char *text);
void repl_add_output(struct repl *repl, struct repl_cell_data *data, int stream, const char *text,
                     size_t size);
/* Text of ours, in lines of its own. */
void repl_add_text(struct repl *repl, struct repl_cell_data *data, int stream, const char *text,
                   size_t size);
void repl_add_display(struct repl *repl, struct repl_cell_data *data, bool is_result,
                      const char *json, size_t size);
/* What a cell of this session would be: its settings, no code. */
struct hermes_cell repl_describe(struct repl *repl, struct repl_session *session);

/* ---- sessions (repl-sessions.c) ---- */

struct repl_session *repl_session_of_owner(const struct repl *repl, const char *owner);
void repl_learn_kernel(struct repl *repl, struct repl_session *session);
void repl_start_kernel(struct repl *repl, struct repl_session *session);
void repl_sessions_free(struct repl *repl);
/* repl_open(); recall: cells of earlier runs come back. */
struct repl_session *repl_open_session(struct repl *repl, const char *name, bool recall,
                                       struct strbuf *error);
bool repl_check_name(const struct repl *repl, const char *name, struct strbuf *error);

/* ---- documents (repl-document.c, document-run.c, document-save.c) ---- */

void repl_document_free(struct repl_document *document);
/* A queued cell takes its place in the transcript. */
void repl_document_place(struct repl *repl, struct repl_cell_data *data);
/* Where something that is no cell of the document is put. */
size_t repl_document_item_place(const struct repl_session *session, const struct repl_cell *cell);
void repl_document_cell_started(struct repl_cell_data *data);
void repl_document_cell_done(struct repl *repl, struct repl_cell_data *data);
/* Cells that are due are not run. Returns how many they were. */
size_t repl_document_drop_due(struct repl_session *session);
/* What was entered at the prompt is a new cell. False with an empty error: it is none. */
bool repl_document_enter(struct repl *repl, struct repl_session *session, const char *source,
                         size_t size, struct strbuf *error);
/* The cell that is edited gets its new source, and runs. */
bool repl_document_enter_edited(struct repl *repl, struct repl_session *session, const char *source,
                                size_t size, struct strbuf *error);
void repl_document_overwrite(struct repl *repl, struct repl_session *session, const char *path);
void repl_document_do_reload(struct repl *repl, struct repl_session *session);
/* "a.ipynb, b.py": documents that would lose changes. */
void repl_document_add_unsaved(const struct repl *repl, struct strbuf *out);

/* ---- files (command-files.c) ---- */

/* "a.py is there already: write over it?"; yes is repl_overwrite(). */
void repl_ask_overwrite(struct repl *repl, struct repl_session *session, const char *path,
                        const char *why);
void repl_overwrite(struct repl *repl, struct repl_session *session);

/* ---- events (repl-events.c, repl-watch.c) ---- */

void repl_take_event(struct repl *repl, const struct hermes_event *event);
void repl_watch_output(struct repl *repl, struct repl_cell_data *data);
void repl_watch_start(struct repl *repl, struct repl_session *session);
void repl_watch_stop(struct repl *repl, struct repl_session *session);
int64_t repl_watch(struct repl *repl);
void repl_sample_memory(struct repl_session *session);

/* ---- requests (repl-requests.c) ---- */

uint64_t repl_ask(struct repl *repl, struct repl_session *session, enum repl_purpose purpose,
                  const char *json, int64_t timeout_ms, const char *subject);
void repl_take_answer(struct repl *repl, const struct hermes_event *event);
void repl_forget_requests(struct repl *repl, const struct repl_session *session);
/* The expression at the end of "name?" as a request. */
bool repl_inspect(struct repl *repl, struct repl_session *session, const char *name, size_t size,
                  bool source, struct strbuf *error);

/* ---- interrupting, doubts (repl-interrupt.c) ---- */

void repl_interrupted(struct repl *repl, struct repl_cell_data *data,
                      const struct hermes_result *result);
void repl_ask_doubt(struct repl *repl, struct repl_session *session, enum repl_doubt doubt,
                    const char *question);
void repl_drop_doubt(struct repl *repl, enum repl_doubt doubt, const struct repl_session *session);
void repl_stuck(struct repl *repl, struct repl_session *session, uint64_t cell, const char *json);
void repl_do_reset(struct repl *repl, struct repl_session *session);
/* What a person types to undo. */
const char *repl_undo_keys(const struct repl *repl);
/* What would come back. False: nothing; one line in error says why. */
bool repl_can_undo(struct repl *repl, struct repl_session *session, struct hermes_undone *ret,
                   struct strbuf *error);
bool repl_do_undo(struct repl *repl, struct repl_session *session, struct strbuf *error);
/* A line of :status, if there is something that can be taken back. */
void repl_add_undo(struct repl *repl, struct repl_session *session, struct strbuf *out);
void repl_do_clear(struct repl *repl, struct repl_session *session);
/* "14 cells, 212 MB, up 2 h": what goes with a kernel. */
void repl_add_cost(struct strbuf *out, struct repl_session *session);
void repl_add_age(struct strbuf *out, int64_t ms);
void repl_add_bytes(struct strbuf *out, uint64_t bytes);
size_t repl_drop_queued(struct repl *repl, struct repl_session *session);

/* ---- what lasts (repl-store.c) ---- */

void repl_store_begin(struct repl *repl, struct repl_cell_data *data);
void repl_store_settle(struct repl *repl, struct repl_cell_data *data,
                       const struct hermes_result *result);
void repl_recall_history(struct repl *repl);
void repl_say_remarks(struct repl *repl);
void repl_recall_session(struct repl *repl, struct repl_session *session, bool named);
void repl_leave_store(struct repl *repl, struct repl_session *session);

/* ---- running stored sessions again, and the rest of a batch (repl-replay.c, repl-rest.c) ---- */

bool repl_replay_take(struct repl *repl, const struct hermes_event *event);
int64_t repl_replay_tick(struct repl *repl);
bool repl_replay_stop(struct repl *repl, const struct repl_session *session); /* false: none runs */
void repl_replay_forget(struct repl *repl, const struct repl_session *session);
void repl_adopt(struct repl *repl);
void repl_rest_settled(struct repl *repl, struct repl_cell_data *data);

/* ---- approvals (repl-tools.c) ---- */

void repl_tools_init(struct repl *repl);
void repl_tool_call(struct repl *repl, struct repl_cell_data *data,
                    const struct hermes_event *event);
void repl_drop_questions(struct repl *repl, struct repl_session *session,
                         uint64_t cell); /* 0: all */

#endif
