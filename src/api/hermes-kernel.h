/* SPDX-License-Identifier: MIT */
/*
 * hermes-kernel.h - Python sessions that stay alive, for programs that embed them.
 *
 * WHAT THIS IS
 *   An engine keeps Python child processes ("session kernels") alive, one for each key
 *   (owner, mode, interpreter, cwd, tool set), and runs source text ("cells") in them. State
 *   survives from cell to cell. Every accepted cell ends in exactly one result, and a result
 *   never claims state that is gone.
 *
 * THREADS
 *   Every function may be called from any thread at any time, unless it says otherwise. There is
 *   no callback: a caller either blocks in hermes_execute() or pulls events. One engine has one
 *   event queue; let one thread pull it. An engine owns one background thread. After a fork in
 *   the host the child must not use an engine that the parent made.
 *
 * WAITING FOR EVENTS
 *   hermes_event_fd() is readable exactly while events are queued: poll it beside your own
 *   descriptors, then call hermes_next_event() with timeout 0 until it returns no event. A caller
 *   without a loop of its own passes a timeout. hermes_wake() ends such a wait; it is the one
 *   function that may be called in a signal handler.
 *
 * LIFE OF A CELL
 *   queued -> running -> settled. Cells of one kernel run one at a time in the order of submission.
 *   A cell settles when its kernel answers, dies, or is killed; never on end-of-file of a pipe.
 *   Ids are never used twice, and stay valid to name in a call after what they name is gone (the
 *   call then returns HERMES_ENOENT).
 *
 * OWNERSHIP
 *   Inputs are copied before a function returns. "ret_x" pointers are yours to free with the
 *   function named there. Strings in structs that you get are owned by that struct. Strings are
 *   UTF-8; outputs may hold NUL bytes, so they come with a size (and a closing NUL that the size
 *   does not count).
 *
 * ERRORS
 *   0 is success, a negative enum hermes_status is failure; the optional last argument gets one
 *   line of text. What happens in Python is not an error of a call but an outcome in the result.
 *   Out of memory is returned (HERMES_ENOMEM); the engine stays usable.
 *
 * SIGNALS, DESCRIPTORS, PROCESSES
 *   The library installs no signal handler, takes no SIGCHLD, and neither prints, exits, nor
 *   changes the locale, the working directory or the limits of the process. Every descriptor it
 *   makes is close-on-exec. It waits only for children that it made itself, and works when the host
 *   reaps or ignores them.
 *
 * LIMITS
 *   HERMES_SOURCE_MAX bytes of source a cell; the other limits are options (hermes_option_at()).
 *
 * COMPATIBILITY
 *   Structs that callers fill begin with their size (use the HERMES_*_INIT macros): later versions
 *   add members at the end. Enums grow at the end.
 *
 * Unless a function says otherwise: Thread: any. Blocks: no. Since: 0.1.
 */
#ifndef HERMES_KERNEL_H
#define HERMES_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HERMES_API_VERSION 1
#define HERMES_SOURCE_MAX (64u << 20)

#if defined(__GNUC__)
#define HERMES_API __attribute__((visibility("default")))
#define HERMES_MUST_CHECK __attribute__((warn_unused_result))
#else
#define HERMES_API
#define HERMES_MUST_CHECK
#endif

/* name, value, text */
#define HERMES_STATUS_MAP(X)                                                     \
    X(OK, 0, "success")                                                          \
    X(EINVAL, -1, "invalid argument")                                            \
    X(ENOMEM, -2, "out of memory")                                               \
    X(ENOENT, -3, "no such cell, kernel, session or option")                     \
    X(EAGAIN, -4, "a limit is reached; nothing was queued")                      \
    X(EMISMATCH, -5, "the live kernel was started with other settings")          \
    X(ECLOSED, -6, "the engine is shutting down")                                \
    X(ESYSTEM, -7, "the operating system refused")                               \
    X(ETIMEDOUT, -8, "the time limit passed")                                    \
    X(ERANGE, -9, "value out of range; the nearest allowed value is used")

enum hermes_status {
#define X(name, value, text) HERMES_##name = (value),
    HERMES_STATUS_MAP(X)
#undef X
};

struct hermes_error {
    int code;     /* enum hermes_status */
    int os_errno; /* errno of the failing system call, or 0 */
    char text[256];
};

struct hermes_engine; /* opaque */

/*
 * "session": the only kernel mode there is; for hosts that ask. A configured "kernel_mode" is
 * ignored.
 */
HERMES_API const char *hermes_kernel_mode(void);
/* The library's version, "0.1.0". */
HERMES_API const char *hermes_version(void);
/* "HERMES_EINVAL" and "invalid argument"; for an unknown value "HERMES_?" and "unknown status". */
HERMES_API const char *hermes_status_name(int status);
HERMES_API const char *hermes_status_text(int status);

/* ---- the engine ------------------------------------------------------------------------- */

/*
 * Make an engine. No process is started before the first cell.
 *   Errors: HERMES_ENOMEM, HERMES_ESYSTEM (no thread, no descriptor).
 */
HERMES_API int hermes_engine_new(struct hermes_engine **ret_engine, struct hermes_error *error);

/*
 * End all kernels as hermes_shutdown_all() does and free the engine. NULL is fine.
 *   Thread: no other thread may be inside a call on this engine. Blocks: until every process is
 *   gone.
 */
HERMES_API void hermes_engine_free(struct hermes_engine *engine);

/* ---- options ---------------------------------------------------------------------------- */

struct hermes_option {
    const char *name;          /* "kernel_idle_timeout" */
    const char *type;          /* "integer" | "number" | "string" | "choice" | "flag" */
    const char *unit;          /* "s", "bytes", "" ... */
    const char *default_value; /* as text */
    const char *range;         /* "1..64", "off|on", "" */
    const char *help;          /* one line */
};

/*
 * The n-th option of the engine, or NULL behind the last. The table lives as long as the library.
 */
HERMES_API const struct hermes_option *hermes_option_at(size_t n);

/*
 * Set an option by its name from text. Takes effect at once; limits that are fixed at the start of
 * a kernel hold for the next kernel.
 *   Errors: HERMES_ENOENT    unknown name; error->text names the nearest known one
 *           HERMES_ERANGE    nonsense or out of range: the default or the nearest bound was set
 *                            instead
 */
HERMES_API int hermes_set_option(struct hermes_engine *engine, const char *name, const char *value,
                                 struct hermes_error *error);

/* The value of an option as text, in ret_value (yours, hermes_free()). */
HERMES_API int hermes_get_option(struct hermes_engine *engine, const char *name, char **ret_value);

/*
 * Take options from a JSON object (comments and trailing commas allowed). Unknown keys and nonsense
 * values are skipped and reported as lines in ret_warnings (yours, hermes_free(); NULL when there
 * are none, and may be NULL). A stale "kernel_mode" is ignored in silence.
 *   Errors: HERMES_EINVAL with line and column when the text is no JSON object: nothing was
 *   changed.
 */
HERMES_API int hermes_configure(struct hermes_engine *engine, const char *json, size_t json_size,
                                char **ret_warnings, struct hermes_error *error);

HERMES_API void hermes_free(void *pointer);

/* ---- tools and authority ---------------------------------------------------------------- */

/*
 * Code in a cell can call tools of the host (`from hermes_tools import terminal`). Interpreter
 * state persists from cell to cell, authority does not: every cell has an authority of its own,
 * with the context of the one who submitted it, an allow-list and a budget. It is captured at
 * submission, installed when the cell starts, and retired on every path when it settles; from then
 * on its calls are refused. Calls that name no tool of the allow-list, or come when the budget is
 * used up, are refused and cost nothing.
 */
struct hermes_authority; /* opaque, counted */

/* One call, valid until the handler returns (blocking execute) or the event is freed. */
struct hermes_tool_call {
    uint64_t id;           /* for hermes_tool_answer() */
    uint64_t cell, kernel; /* 0 when dispatched by hermes_authority_dispatch() */
    const char *owner;     /* session, or session::child::child_id; NULL like the rest where it is not known */
    const char *session;
    const char *task_id;
    const char *tool;
    const char *arguments; /* a JSON object */
    void *context;         /* of the authority */
};

/*
 * Runs one call on the thread that waits in hermes_execute(), or in hermes_authority_dispatch(),
 * with no lock held. Returns the answer as JSON text from malloc(), which the library frees; NULL
 * is answered as an error. May call any function on other sessions.
 */
typedef char *(*hermes_tool_fn)(const struct hermes_tool_call *call);

struct hermes_authority_options {
    size_t size;
    const char *session, *task_id, *child_id; /* for the handler to see */
    const char *const *tools;                 /* allow-list, NULL-ended; NULL: all names */
    int64_t max_calls;                        /* 0: 50; negative: no limit */
    hermes_tool_fn handler;                   /* NULL: every call is refused */
    void *context;
};
#define HERMES_AUTHORITY_OPTIONS_INIT \
    { sizeof(struct hermes_authority_options), NULL, NULL, NULL, NULL, 0, NULL, NULL }

/*
 * Make an authority (active). Returns NULL when out of memory, or without options or with a size of
 * theirs that is too small. Free with hermes_authority_unref().
 */
HERMES_API struct hermes_authority *hermes_authority_new(const struct hermes_authority_options *options);
HERMES_API void hermes_authority_ref(struct hermes_authority *authority);
HERMES_API void hermes_authority_unref(struct hermes_authority *authority); /* NULL is fine */
HERMES_API bool hermes_authority_active(struct hermes_authority *authority);
/* No call is dispatched any more; a call that runs goes on. May be repeated. */
HERMES_API void hermes_authority_retire(struct hermes_authority *authority);
/* Calls dispatched so far. */
HERMES_API uint64_t hermes_authority_calls(struct hermes_authority *authority);
/*
 * Check and run one call under this authority. Returns the answer as JSON text (yours,
 * hermes_free()): the handler's, or {"error": "..."} for a refusal; a retired authority answers "No
 * active execute_code cell ...". NULL when out of memory.
 *   Blocks: as long as the handler runs, on the calling thread.
 */
HERMES_API char *hermes_authority_dispatch(struct hermes_authority *authority, const char *tool, const char *arguments);

/*
 * Answer a HERMES_EVENT_TOOL_CALL with JSON text. A cell that settles first drops its open calls.
 *   Errors: HERMES_ENOENT  no such call, or answered or dropped already
 */
HERMES_API int hermes_tool_answer(struct hermes_engine *engine, uint64_t call, const char *json, size_t json_size);
/*
 * Answer {"error": why} to a HERMES_EVENT_TOOL_CALL that was not run (an approval that was denied):
 * unlike an answer it costs nothing of the cell's budget and is not in its tool_calls. Errors as
 * hermes_tool_answer(), and HERMES_ENOMEM.
 */
HERMES_API int hermes_tool_refuse(struct hermes_engine *engine, uint64_t call, const char *why);

/* ---- cells ------------------------------------------------------------------------------ */

enum hermes_mode {
    HERMES_MODE_DEFAULT, /* option "mode" */
    HERMES_MODE_PROJECT, /* the caller's directory and active virtual environment */
    HERMES_MODE_STRICT,  /* a private staging directory and the default interpreter */
};

enum hermes_io {
    HERMES_IO_PIPES,    /* stdout and stderr apart */
    HERMES_IO_ONE_PIPE, /* one pipe for both, in exact order */
    HERMES_IO_TTY,      /* 0, 1 and 2 are one pseudo-terminal; its output is stream 1. See hermes_input() */
};

enum hermes_stdin {
    HERMES_STDIN_NONE,    /* /dev/null */
    HERMES_STDIN_INHERIT, /* the host's own descriptor 0 */
};

enum hermes_env {
    HERMES_ENV_SCRUB,   /* the allow-list; see hermes_explain_env() */
    HERMES_ENV_INHERIT, /* the host's environment minus our own variables */
};

/*
 * What is fixed when a kernel starts. A cell that asks for other settings of a live kernel is
 * refused (HERMES_EMISMATCH).
 */
struct hermes_kernel_setup {
    size_t size;
    enum hermes_io io;
    enum hermes_stdin stdin_source;
    enum hermes_env env;
    const char *script;       /* __file__ and sys.argv[0]; NULL: none ("" in sys.argv) */
    const char *const *argv;  /* sys.argv[1:], NULL-ended; NULL: none */
    const char *path0;        /* sys.path[0]; NULL: "" for project mode, none for strict */
    bool requests;            /* the kernel answers hermes_request(); costs it a thread, from its first cell on */
    const char *terminal;     /* HERMES_IO_TTY: TERM; NULL: "xterm-256color" */
    int columns, rows;        /* HERMES_IO_TTY: its first size; 0: 80, 24. Another size is no other setting */
};
#define HERMES_KERNEL_SETUP_INIT { sizeof(struct hermes_kernel_setup), HERMES_IO_PIPES, HERMES_STDIN_NONE, \
                                   HERMES_ENV_SCRUB, NULL, NULL, NULL, false, NULL, 0, 0 }

enum hermes_cell_flags {
    HERMES_CELL_RESET = 1 << 0,   /* run in a fresh kernel; cells attached to the old one finish there */
    HERMES_CELL_ECHO = 1 << 1,    /* show the value of a last expression, set _ */
    HERMES_CELL_AWAIT = 1 << 2,   /* allow await at top level */
    HERMES_CELL_DISPLAY = 1 << 3, /* display() exists; values arrive as HERMES_EVENT_DISPLAY bundles too */
    HERMES_CELL_INTERACTIVE = 1 << 4, /* keep sys.last_exc and future flags like the python prompt */
    HERMES_CELL_EVENTS = 1 << 5,  /* hermes_execute(): queue events as hermes_submit() does */
    HERMES_CELL_NO_SPILL = 1 << 6, /* never write long output to a file (the caller takes it from events) */
    /*
     * Leave secrets in the result as they are (output, error, background_output, spill file): for
     * the screen of the person who runs the cell. Without it, and with the option "redact" on,
     * well-known keys, authorization headers, private keys, web tokens, passwords in addresses and
     * dumped environments become marks, and result.redactions counts them. The code that runs,
     * files that it writes and the raw bytes of events are never changed (for those: struct
     * hermes_redactor).
     */
    HERMES_CELL_NO_REDACT = 1 << 7,
};

/* A cell to run. Zero or NULL means the default everywhere. */
struct hermes_cell {
    size_t size;
    const char *session;      /* the owner; NULL: the task id. May not hold "::" (HERMES_EINVAL) */
    const char *task_id;      /* at least one of session and task_id must be given */
    const char *child_id;     /* of a delegated child: qualifies the owner, pins the kernel until hermes_child_end() */
    enum hermes_mode mode;
    const char *python;       /* interpreter; NULL: active environment (project mode), else python3 on PATH */
    const char *cwd;          /* NULL: the host's directory (project), a private one (strict) */
    const char *const *tools; /* tool set, NULL-ended; NULL: all; an empty one: no tools */
    const char *code;
    size_t code_size;         /* 0: strlen(code) */
    const char *file_name;    /* in tracebacks; NULL: "<cell N>" */
    unsigned first_line;      /* line number of the first line; 0: 1 */
    unsigned flags;           /* enum hermes_cell_flags */
    int64_t timeout_ms;       /* 0: option "timeout"; negative: none. Counts from the start of execution */
    const struct hermes_kernel_setup *setup; /* NULL: HERMES_KERNEL_SETUP_INIT */
    const char *whole_source; /* the text of the whole file, for tracebacks; of a kernel's first cell only */
    size_t whole_source_size;
    hermes_tool_fn tool_handler; /* hermes_execute(): runs the cell's tool calls; NULL: they are refused. A cell of
                                    hermes_submit() makes events instead */
    void *tool_context;
    int64_t max_tool_calls;      /* 0: option "max_tool_calls"; negative: no limit */
};
#define HERMES_CELL_INIT { sizeof(struct hermes_cell), NULL, NULL, NULL, HERMES_MODE_DEFAULT, NULL, NULL, NULL, \
                           NULL, 0, NULL, 0, 0, 0, NULL, NULL, 0, NULL, NULL, 0 }

enum hermes_outcome { HERMES_SUCCESS, HERMES_ERROR, HERMES_TIMEOUT, HERMES_INTERRUPTED };

/* Why a fresh kernel serves an owner that had one before; "undone": hermes_undo() has gone back. */
#define HERMES_PREVIOUS_MAP(X)                                                              \
    X(NONE, "") X(RESET, "reset") X(TIMEOUT, "timeout") X(INTERRUPTED, "interrupted")       \
    X(KILLED, "killed") X(EXITED, "exited") X(DIED, "died") X(EVICTED, "evicted")           \
    X(IDLE, "idle") X(KEY_CHANGED, "key_changed") X(UNDONE, "undone")
enum hermes_previous {
#define X(name, text) HERMES_PREVIOUS_##name,
    HERMES_PREVIOUS_MAP(X)
#undef X
};

struct hermes_result {
    uint64_t cell;
    enum hermes_outcome outcome;
    int exit_code;
    bool started;             /* false: never sent to a kernel (start failure, cleared while queued) */
    bool start_failed;        /* the kernel could not start; error says why */
    int term_signal;          /* signal that ended the kernel during this cell, or 0 */
    const char *output;       /* cleaned and bounded */
    size_t output_size;
    const char *error;        /* NULL: none */
    size_t error_size;
    int64_t duration_us;
    int64_t queued_us;
    uint64_t tool_calls;
    uint64_t redactions;
    const char *hint;         /* NULL: none; so are the next three */
    const char *warning;
    const char *spill_path;
    const char *background_output;
    size_t background_output_size;
    bool truncated;
    uint64_t bytes_captured, bytes_total, bytes_omitted;
    uint64_t kernel;          /* id; 0 when none was started */
    int64_t kernel_pid;       /* of the Python process, or 0 */
    uint64_t execution_count; /* of this kernel, this cell included */
    uint64_t generation;      /* how many kernels this owner has had, this one included */
    bool reused, state_reset, ended;
    int state_kept;           /* after an interrupt: 1 kept, 0 lost; -1: not interrupted */
    enum hermes_previous previous;
    const char *limit;        /* option of the resource limit that was met, as far as that is known; NULL: none */
    bool undo;                /* its kernel ended, and hermes_undo() goes back to before this cell */
};

/*
 * The result as one JSON object in one line (yours, hermes_free()). extra_members, or NULL, is JSON
 * text of further members ("\"cell\":{...}") put at the end as it is. Returns NULL when out of
 * memory.
 */
HERMES_API char *hermes_result_json(const struct hermes_result *result, const char *extra_members);
HERMES_API void hermes_result_free(struct hermes_result *result);

/*
 * Run a cell and wait for its result.
 *   Blocks: until the cell has settled. The calling thread runs the engine's loop meanwhile where
 *   it can.
 *   Errors: HERMES_EINVAL     bad field; code empty, too long
 *           HERMES_EMISMATCH  see struct hermes_kernel_setup
 *           HERMES_EAGAIN     the queue of the kernel is full (option "max_queued_cells")
 *           HERMES_ECLOSED, HERMES_ENOMEM
 *   A kernel that cannot start, or dies, is not an error of the call but a result.
 */
HERMES_API HERMES_MUST_CHECK int hermes_execute(struct hermes_engine *engine, const struct hermes_cell *cell,
                                                struct hermes_result **ret_result, struct hermes_error *error);

/*
 * A host's word on whole cells, before anything is started for them. Called on the submitting
 * thread, with no lock held, for every cell; must not call this engine. True lets the cell run;
 * false refuses it: its result has status "error" and the text put into reason (NUL-ended, at most
 * size bytes), and no process is started.
 */
typedef bool (*hermes_cell_guard_fn)(const struct hermes_cell *cell, void *context, char *reason, size_t size);
/* Set the engine's cell guard; NULL: none. Holds for cells submitted from then on. */
HERMES_API void hermes_set_cell_guard(struct hermes_engine *engine, hermes_cell_guard_fn guard, void *context);

/*
 * Start the kernel that a cell like this would run in (its code is not looked at), unless it lives
 * already, and return without waiting for it to be ready. Errors as hermes_execute(), and
 * HERMES_ENOENT, HERMES_ESYSTEM when it cannot be started.
 */
HERMES_API int hermes_start(struct hermes_engine *engine, const struct hermes_cell *cell, uint64_t *ret_kernel,
                            struct hermes_error *error);

/*
 * Queue a cell and return. Exactly one HERMES_EVENT_DONE with ret_cell follows. Errors as
 * hermes_execute().
 */
HERMES_API HERMES_MUST_CHECK int hermes_submit(struct hermes_engine *engine, const struct hermes_cell *cell,
                                               uint64_t *ret_cell, struct hermes_error *error);

/*
 * Ask a running cell to stop by SIGINT; state is kept if it obeys (result: state_kept). After
 * kill_after_ms (0: the option "interrupt_grace"; negative: never) a cell that still runs is
 * killed. A cell still queued settles as interrupted, "not run". reason, or NULL, appears in the
 * result. May lose the race with the end of the cell: then it returns 0 and changes nothing.
 *   Errors: HERMES_ENOENT  no such cell, or settled
 */
HERMES_API int hermes_interrupt(struct hermes_engine *engine, uint64_t cell, const char *reason, int64_t kill_after_ms);

/*
 * Kill the kernel of a running cell with its process tree: the cell settles as interrupted, state
 * was lost.
 */
HERMES_API int hermes_kill(struct hermes_engine *engine, uint64_t cell, const char *reason);

/* ---- events ----------------------------------------------------------------------------- */

enum hermes_event_type {
    HERMES_EVENT_STARTED,    /* cell: execution began (kernel, execution_count) */
    HERMES_EVENT_OUTPUT,     /* cell: raw bytes of a stream */
    HERMES_EVENT_DISPLAY,    /* cell: a MIME bundle as JSON object text in data; is_result tells Out[] from display() */
    HERMES_EVENT_DONE,       /* cell: settled; result */
    HERMES_EVENT_BACKGROUND, /* kernel: raw bytes that arrived while no cell ran */
    HERMES_EVENT_KERNEL,     /* kernel: changed its state */
    HERMES_EVENT_TOOL_CALL,  /* cell: calls a tool; answer with hermes_tool_answer() */
    HERMES_EVENT_ANSWER,     /* kernel: what hermes_request() asked, JSON text in data */
};

#define HERMES_KERNEL_STATE_MAP(X) \
    X(STARTING, "starting") X(IDLE, "idle") X(BUSY, "busy")                    \
    X(INTERRUPTING, "interrupting") X(STOPPING, "stopping") X(DEAD, "dead")    \
    X(PARKED, "parked")
enum hermes_kernel_state {
#define X(name, text) HERMES_KERNEL_##name,
    HERMES_KERNEL_STATE_MAP(X)
#undef X
};

struct hermes_event {
    enum hermes_event_type type;
    uint64_t cell;   /* 0 for BACKGROUND and KERNEL */
    uint64_t kernel;
    int stream;      /* OUTPUT, BACKGROUND: 1 or 2 */
    const char *data;
    size_t size;
    bool is_result;                 /* DISPLAY */
    uint64_t execution_count;       /* STARTED, KERNEL */
    struct hermes_result *result;   /* DONE; freed with the event */
    enum hermes_kernel_state state; /* KERNEL */
    enum hermes_previous cause;     /* KERNEL: why it is stopping, dead or parked; UNDONE: it has come back */
    const char *session;            /* KERNEL: the owner */
    const struct hermes_tool_call *tool_call; /* TOOL_CALL */
    uint64_t request;                         /* ANSWER */
};

/* Readable exactly while events are queued. Owned by the engine. */
HERMES_API int hermes_event_fd(struct hermes_engine *engine);

/*
 * Take the next event; yours, hermes_event_free(). *ret_event is NULL when none came within
 * timeout_ms (0: do not wait; negative: no limit) or hermes_wake() was called.
 *   Blocks: up to timeout_ms. The calling thread runs the engine's loop meanwhile where it can.
 */
HERMES_API int hermes_next_event(struct hermes_engine *engine, int64_t timeout_ms, struct hermes_event **ret_event);
HERMES_API void hermes_event_free(struct hermes_event *event);

/* End the current or the next wait in hermes_next_event() early. Async-signal-safe. */
HERMES_API void hermes_wake(struct hermes_engine *engine);

/* ---- the terminal of a kernel ----------------------------------------------------------- */

/*
 * Type at the terminal of a HERMES_IO_TTY kernel: bytes as a keyboard sends them. Its line
 * discipline is a real one: 3 interrupts what reads or runs there, 4 is end-of-file. Bytes that
 * nobody reads wait; what still waits when a cell settles is thrown away (a cell's answers are no
 * input of the next), and so is, when the next one starts, what came in between. The first cell of
 * a kernel gets what was typed before it.
 *   Errors: HERMES_ENOENT  no such kernel, dead, or without a terminal
 *           HERMES_EAGAIN  1 MiB waits already; nothing was taken
 */
HERMES_API int hermes_input(struct hermes_engine *engine, uint64_t kernel, const char *data, size_t size,
                            struct hermes_error *error);

/*
 * Give the terminal another size; programs there get SIGWINCH. Errors: HERMES_ENOENT,
 * HERMES_EINVAL.
 */
HERMES_API int hermes_resize(struct hermes_engine *engine, uint64_t kernel, int columns, int rows);

enum hermes_input_state {
    HERMES_INPUT_WAITS = 1 << 0,   /* a foreground process is blocked in reading the terminal */
    HERMES_INPUT_RAW = 1 << 1,     /* line editing is off: a program takes keys one by one */
    HERMES_INPUT_NO_ECHO = 1 << 2, /* what is typed is not shown: a password */
};
/*
 * What the terminal's foreground does about input now: flags of enum hermes_input_state (0: nothing
 * known), or HERMES_ENOENT. Reads /proc; nothing tells when it changes: ask after output that ends
 * without a new line, and at growing intervals.
 */
HERMES_API int hermes_input_state(struct hermes_engine *engine, uint64_t kernel);

/* ---- questions to a kernel -------------------------------------------------------------- */

/*
 * Ask a kernel that was set up with `requests` something beside its cells; it answers also while a
 * cell runs, as far as that cell lets other threads of its interpreter run. json is an object whose
 * "request" is one of
 *   complete   {"code", "cursor"} -> {"start", "end", "matches": [{"text", "type"}], "more"}
 *   inspect    {"code", "cursor", "detail"} -> {"found", "name", "type", "signature", "doc",
 *   "file", "line",
 *              "preview", "source"}
 *   signature  {"code", "cursor"} -> {"found", "name", "signature", "parameter", "doc"}
 *   variables  {"filter", "sort", "limit"} -> {"count", "variables": [{"name", "type",
 *   "size_bytes", "shape",
 *              "preview"}]}
 *   stack      {} -> {"text"}: where the running cell is
 *   ping       {} -> {"busy"}
 * Cursor, start and end are offsets in bytes of the UTF-8 text. hermes-kernel-protocol(7) tells
 * the members. Exactly one HERMES_EVENT_ANSWER follows with ret_request: the kernel's object, or
 * {"error": "..."} when timeout_ms (0: 1000) passed or the kernel died.
 *   Errors: HERMES_ENOENT  no such kernel, dead, or set up without requests
 *           HERMES_EAGAIN  64 requests wait already
 *           HERMES_EINVAL  no JSON object, or longer than 1 MiB
 */
HERMES_API HERMES_MUST_CHECK int hermes_request(struct hermes_engine *engine, uint64_t kernel, const char *json,
                                                int64_t timeout_ms, uint64_t *ret_request, struct hermes_error *error);

/* ---- secrets in live output ------------------------------------------------------------- */

/*
 * The bytes of events are raw. A redactor makes text of one stream of them that may be shown to
 * others: valid UTF-8 (what is malformed becomes U+FFFD), with marks in the place of what
 * HERMES_CELL_NO_REDACT tells of, however the events cut it. Escape sequences and control
 * characters stay, for they are part of the output, but are not looked at: a secret with colours in
 * it is found, and they stand behind its mark then. Text that may be the beginning of a secret is
 * held back, 20 KiB at most; what begins a character or an escape sequence waits for its rest, 64
 * KiB at most. The option "redact" is not asked: without a redactor nothing is changed.
 *   Thread: one at a time for each redactor.
 */
struct hermes_redactor; /* opaque */

/* Returns NULL when out of memory. Free with hermes_redactor_free(). */
HERMES_API struct hermes_redactor *hermes_redactor_new(void);

/*
 * Take bytes of the stream, and give in ret_text the text that may be shown now (yours,
 * hermes_free(); "" if there is none).
 *   Errors: HERMES_EINVAL  a NULL pointer
 *           HERMES_ENOMEM  nothing is given, and text is missing from what is given later
 */
HERMES_API HERMES_MUST_CHECK int hermes_redactor_feed(struct hermes_redactor *redactor, const char *data, size_t size,
                                                      char **ret_text, size_t *ret_size);

/* How many bytes of text are held back that hermes_redactor_flush() would release. */
HERMES_API size_t hermes_redactor_held(const struct hermes_redactor *redactor);

/*
 * Give what is held back, redacted as if nothing followed: for a partial line that a reader should
 * see by now; 100 ms after it came is a good time. What is fed later is still judged together with
 * it: of a secret that has begun already, the rest becomes a mark. Incomplete characters and escape
 * sequences go on waiting. Errors as hermes_redactor_feed().
 */
HERMES_API HERMES_MUST_CHECK int hermes_redactor_flush(struct hermes_redactor *redactor, char **ret_text,
                                                       size_t *ret_size);

/*
 * The stream is at its end, as when its cell is done: give all that is left. The redactor is as new
 * then. Errors as hermes_redactor_feed().
 */
HERMES_API HERMES_MUST_CHECK int hermes_redactor_finish(struct hermes_redactor *redactor, char **ret_text,
                                                        size_t *ret_size);
/* NULL is fine. */
HERMES_API void hermes_redactor_free(struct hermes_redactor *redactor);

/* ---- sessions and kernels --------------------------------------------------------------- */

/*
 * Reset: stop the kernels of an owner (child_id NULL: its own, not those of its children). Running
 * and queued cells of them settle as interrupted. The next cell starts fresh, with previous
 * "reset". With the option "spare_kernels" it finds an interpreter that was started in advance;
 * with "undo_kernels" hermes_undo() brings the old one back.
 *   Errors: HERMES_ENOENT  the owner has no kernel
 */
HERMES_API int hermes_reset(struct hermes_engine *engine, const char *session, const char *child_id);

enum hermes_undo_flags {
    HERMES_UNDO_LOOK = 1 << 0, /* only tell what would come back */
};
struct hermes_undone {
    size_t size;
    uint64_t kernel;            /* that serves the session again */
    uint64_t execution_count;   /* cells that its state has seen */
    enum hermes_previous cause; /* what is undone: the reset, time limit ...; NONE: the last cell alone */
    int64_t memory_bytes;       /* its own, about; 0: not known */
    int64_t left_ms;            /* how much longer it would have been kept; -1: as long as its kernel lives */
};
#define HERMES_UNDONE_INIT { sizeof(struct hermes_undone), 0, 0, HERMES_PREVIOUS_NONE, 0, 0 }
/*
 * Undo: an owner goes back to its newest state that is kept, and the kernel that has served the key
 * since ends. Variables, count of cells and generation are as they were; the next result says
 * "undone". Both ways of keeping are off unless the options are set, and on Linux only:
 *
 * "undo_kernels" (with "undo_timeout", "undo_memory"): a reset stops the processes of an idle kernel
 * (HERMES_EVENT_KERNEL with PARKED) in place of ending them. It comes back with the same process. A
 * parked kernel counts as none: in no cap, no list and no idle limit; hermes_close(),
 * hermes_session_clear() and the host's end are its own end, too. Not kept is a kernel that has run
 * no cell, or one that would go on holding what a reset is to give back: child processes, a port that
 * it listens on, a GPU, more memory than "undo_memory".
 *
 * "checkpoints": before each cell the kernel forks, and the last so many children (one more while a
 * cell runs) are kept, of together "undo_memory" beside the kernel; the oldest goes first. Where a
 * cell has ended its kernel, by a time limit, a kill, a crash or an exit, they are kept like a kernel
 * that was reset, as "undo_kernels" says, and result.undo tells so. What comes back is another
 * process. No checkpoint is made while other threads run in the kernel, of a kernel that is isolated,
 * and by a library that was built without the guard. A checkpoint is a child of the kernel: os.wait()
 * of a cell waits for it, too.
 *
 * Gone back in is only the memory of the one process: not in files, with their offsets and buffers
 * that were shared, connections, a GPU, threads, child processes, or the terminal.
 *   Errors: HERMES_ENOENT  nothing is kept; error->text says why
 *           HERMES_EAGAIN  cells of the session run or wait, a checkpoint is just coming back, or all
 *                          kernels are pinned or busy
 */
HERMES_API int hermes_undo(struct hermes_engine *engine, const char *session, const char *child_id, unsigned flags,
                           struct hermes_undone *ret, struct hermes_error *error);

/*
 * Pin an owner's kernels, those that live and those to come: they are neither evicted for others
 * nor reaped when idle. A cell or hermes_start() that would need one kernel more than
 * max_session_kernels while all are pinned or busy is refused (HERMES_EAGAIN). Counted neither:
 * twice pinned is pinned. Errors: HERMES_ENOMEM.
 */
HERMES_API int hermes_pin(struct hermes_engine *engine, const char *session, bool pinned);

/*
 * Close: like hermes_reset(), but orderly and without interrupting: queued cells settle as
 * interrupted, the running cell finishes, then the interpreter exits as a Python program does
 * (threads joined, atexit run) within the option "shutdown_grace". A HERMES_EVENT_KERNEL with DEAD
 * follows.
 */
HERMES_API int hermes_close(struct hermes_engine *engine, const char *session, const char *child_id);

/*
 * Session clear: kill the owner's kernels, settle its cells. Blocks: until the processes are gone.
 * 0 also when it had none.
 */
HERMES_API int hermes_session_clear(struct hermes_engine *engine, const char *session);

/* A delegated child is done: end its kernels (as hermes_session_clear() does) and unpin. */
HERMES_API int hermes_child_end(struct hermes_engine *engine, const char *session, const char *child_id);

/* Kill every kernel, settle every cell. Blocks: until every process is reaped. */
HERMES_API int hermes_shutdown_all(struct hermes_engine *engine);

/*
 * The live kernels as a JSON array (yours, hermes_free()): id, owner, session, child, mode, python,
 * cwd, tools, io, state, pid, guard_pid, execution_count, generation, attached, pinned,
 * age_seconds, idle_seconds. NULL when out of memory.
 */
HERMES_API char *hermes_kernels_json(struct hermes_engine *engine);

/*
 * Whether the process that served kernel id has been reaped: 1 gone, 0 alive; waits up to
 * timeout_ms for it.
 */
HERMES_API int hermes_kernel_wait(struct hermes_engine *engine, uint64_t kernel, int64_t timeout_ms);

/*
 * The authority that was last installed in a kernel, live or dead (yours,
 * hermes_authority_unref()); NULL: none, or no such kernel.
 */
HERMES_API struct hermes_authority *hermes_kernel_authority(struct hermes_engine *engine, uint64_t kernel);

/* ---- for agents ------------------------------------------------------------------------- */

/*
 * The schema of the tool execute_code for a language model, as one JSON object (yours,
 * hermes_free()): name, description, parameters "code" (required) and "reset". The description
 * names these tools and no others (NULL-ended; NULL: all that are built in; empty: none;
 * "name(...", a signature and what may follow it, is shown as it is), the
 * limits that are configured now, and what the mode (HERMES_MODE_DEFAULT: option "mode") means. It
 * says that the kernel is persistent whatever the configuration. NULL when out of memory.
 */
HERMES_API char *hermes_schema(struct hermes_engine *engine, enum hermes_mode mode, const char *const *tools);

/* ---- for users who ask why -------------------------------------------------------------- */

/*
 * What a kernel's environment would hold, as JSON: {"kept":[names],"set":[names],"dropped":[names]}
 * - never values. Yours, hermes_free().
 */
HERMES_API char *hermes_explain_env(struct hermes_engine *engine, enum hermes_env env);

/*
 * The interpreter a cell with these settings would run, as text (yours, hermes_free()).
 *   Blocks: up to 5 s where a version manager's shim or an unknown program has to be asked.
 *   Errors: HERMES_ENOENT  none found; error->text names what was tried
 */
HERMES_API int hermes_find_python(struct hermes_engine *engine, enum hermes_mode mode, const char *python,
                                  char **ret_path, struct hermes_error *error);

/* Remove staging directories that dead hosts left. Returns how many. */
HERMES_API int hermes_sweep_staging(struct hermes_engine *engine);

#ifdef __cplusplus
}
#endif
#endif
