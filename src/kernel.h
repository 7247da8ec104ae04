/* SPDX-License-Identifier: MIT */
/*
 * What the engine is made of inside: owners, kernels, cells. Everything here is used with the
 * engine's lock held, by whoever runs the loop. Modules: registry.c (which kernel serves a cell,
 * and which must go), kernel.c (one kernel's states and wire), cell.c (one cell from submission to
 * result), events.c (the queue), engine.c (locks and the public API).
 */
#ifndef HR_KERNEL_H
#define HR_KERNEL_H

#include <pthread.h>
#include <stdatomic.h>

#include "api/hermes-kernel.h"
#include "buf.h"
#include "collector.h"
#include "interp.h"
#include "list.h"
#include "loop.h"
#include "options.h"
#include "process.h"
#include "rlimits.h"
#include "runner-code.h"

enum {
    HR_SCRATCH_SIZE = 65536,
    HR_DEAD_KEYS = 8,
    HR_DEAD_AUTHORITIES = 64,
    HR_KERNEL_TIMERS = 9,
    HR_ENGINE_TIMERS = 4
};

struct hr_event;

/* ---- owners and keys -------------------------------------------------------------------- */

struct hr_owner {
    struct hr_link link;
    char *name;            /* session, or session::child::child_id */
    char *session, *child; /* child NULL: not delegated */
    uint64_t generation;   /* kernels it has had */
    size_t kernels, cells; /* alive; it may be forgotten when both are 0 */
    bool pinned;           /* hermes_pin(): nor is it then */
    const char *not_kept;  /* why the last reset kept nothing; NULL: it did, or there was none */
    struct {
        uint64_t key_hash;
        enum hermes_previous cause;
        bool state_reset;
    } dead[HR_DEAD_KEYS]; /* how the last kernel of a key ended, newest first */
};

/*
 * What a kernel is for: the key and the settings fixed at its start. Shared by a kernel and its
 * cells.
 */
struct hr_spec {
    unsigned references;
    struct hr_owner *owner;
    enum hermes_mode mode;
    char *python, *cwd; /* cwd "": the staging directory (strict), or unknown (no chdir) */
    char *tools;        /* sorted names, newline after each; NULL: all */
    uint64_t key_hash;
    enum hermes_io io;
    enum hermes_stdin stdin_source;
    enum hermes_env env;
    char *script, *path0;
    struct hr_buf argv; /* each item with its NUL */
    bool requests;
    char *terminal; /* TERM; this and the size are no part of what must fit */
    int columns, rows;
};

extern const char *const hr_io_names[]; /* by enum hermes_io: "pipes", "onepipe", "tty" */

/* ---- cells ------------------------------------------------------------------------------ */

struct hr_result {
    struct hermes_result public; /* its texts are these: */
    char *output, *error, *warning, *spill_path, *background, *hint;
};

enum hr_cell_state { HR_CELL_QUEUED, HR_CELL_RUNNING, HR_CELL_SETTLED };

struct hr_cell {
    struct hr_link link; /* in its kernel's queue */
    struct hr_link all;  /* in the engine's list of unsettled cells */
    struct hermes_engine *engine;
    struct hr_kernel *kernel; /* NULL once settled */
    struct hr_spec *spec;
    uint64_t id, wire_id;
    enum hr_cell_state state;
    char *code, *file_name, *whole_source, *spill_directory;
    size_t code_size, whole_source_size;
    unsigned first_line, flags;
    int64_t timeout_ms; /* 0: none */
    bool blocking;      /* a caller waits and takes the result itself */
    bool events;
    bool interrupt_asked;
    bool output_lost; /* for want of memory */
    char *reason;     /* of the interrupt */
    int64_t submitted_ns, started_ns;
    int64_t started_boot_ns;         /* by the clock that goes on in suspend; with tools only */
    struct hr_collector *streams[2]; /* made with the first byte */
    struct hr_result *result;        /* made at submission, filled when settled */
    struct hr_event *done;           /* the reserved DONE event; NULL for blocking cells */
    struct hermes_authority *authority;
    struct hr_link pending_calls; /* tool calls for the blocking caller */
};

/* How a cell ended, for cell.c to put into words. */
struct hr_ending {
    enum hermes_outcome outcome;
    int exit_code;
    const char *traceback; /* from the runner; may be NULL */
    size_t traceback_size;
    const char *message; /* the error sentence when there is no traceback, or before it */
    const char *notice;  /* end of the output: timeout, interrupt */
    bool ended;          /* the kernel's last cell */
    bool state_lost, start_failed, undo;
    int term_signal;
    const char *limit; /* name of the option whose limit ended the kernel */
};

int hr_cell_new(struct hermes_engine *engine, const struct hermes_cell *request,
                struct hr_spec *spec, struct hr_cell **ret);
void hr_cell_free(struct hr_cell *cell);
void hr_cell_output(struct hr_cell *cell, int stream, const char *data, size_t size);
/*
 * Fill the result, detach from the kernel, tell the waiter or queue DONE. An asynchronous cell is
 * freed.
 */
void hr_cell_settle(struct hr_cell *cell, const struct hr_ending *ending);
/* Settle a cell that was never run. */
void hr_cell_not_run(struct hr_cell *cell, const char *why);
/* Settle a cell whose kernel could not start. */
void hr_cell_start_failed(struct hr_cell *cell, const char *why);
/* Settle a cell that the host's guard refused. */
void hr_cell_refuse(struct hr_cell *cell, const char *why);

/* ---- kernels ---------------------------------------------------------------------------- */

struct hr_stream {
    struct hr_watch watch;
    int number; /* 1 or 2; 0: none */
    struct hr_kernel *kernel;
    uint64_t bytes;       /* read so far */
    int64_t read_ns;      /* when it was read last */
    struct hr_timer hold; /* until it is read again */
    int64_t hold_ns;      /* how long that is, or was */
};

/* A fork of a kernel that waits: its state before a cell. */
struct hr_checkpoint {
    pid_t pid;
    uint64_t execution_count;
};
enum { HR_CHECKPOINTS_MAX = 9 }; /* one more than the option allows, while a cell runs */

struct hr_kernel {
    struct hr_link link; /* in the engine's list, until freed */
    struct hermes_engine *engine;
    struct hr_spec *spec;
    uint64_t id, generation, execution_count;
    enum hermes_kernel_state state;
    enum hermes_previous cause; /* why it is stopping or dead */
    bool listed;                /* may be given cells */
    bool pinned;                /* a delegated child's */
    bool retired;               /* reset: stops when its last cell is out */
    bool ready;                 /* READY has come */
    bool crashing;              /* the control socket carries crash text */
    bool init_sent;
    bool held;     /* by displays that the host has not read: its frames wait */
    bool bind_due; /* was a spare: INIT could not tell of its first cell */
    bool freed_later;
    enum hermes_previous previous; /* of the kernel before */
    bool state_reset;
    uint64_t told_from; /* with which cells: the one behind so many */
    int64_t started_ns, started_boot_ns, last_used_ns;
    int64_t parked_ns; /* since when it is parked */
    struct hr_checkpoint checkpoints[HR_CHECKPOINTS_MAX]; /* oldest first */
    size_t checkpoint_count;
    char *no_checkpoint; /* why the last cell has none; NULL: it has, or none was wanted */
    bool pruning;        /* it ends but for its checkpoints */
    bool resuming;       /* its newest checkpoint is becoming the kernel */
    struct hr_process process;
    char *staging;
    char *prefix; /* of its interpreter, when it is isolated */
    bool moves;   /* starts in "/" and goes to its directory by itself */
    struct hr_watch control;
    struct hr_buf in, out; /* control: received, and what waits to be sent */
    size_t out_offset;
    struct hr_stream streams[2];
    struct hr_requests *requests; /* NULL: it is asked nothing */
    struct hr_tty *tty;           /* NULL: pipes */
    struct hr_buf crash;          /* crash text, or the fault of a bad frame */
    struct hr_buf start_text;     /* stderr before READY */
    struct hr_collector *background;
    struct hr_link queue;
    size_t queued;
    struct hr_cell *current;
    struct hr_rlimits limits;
    int exit_status;
    bool exit_known, out_of_memory;
    struct hr_timer deadline; /* of the running cell */
    struct hr_timer escalate; /* interrupt or crash to kill */
    struct hr_timer stop;     /* start limit, then shutdown limit */
    struct hr_timer again;    /* a signal that came too early for the cell */
    int64_t again_ns, grace_left_ms;
    struct hr_tool_peer *tool_peer; /* its own end of the tool channel */
    char *tool_token;
    struct hermes_authority *authority; /* installed last */
    struct hr_spare *spare;             /* NULL: it serves somebody */
};

#define HR_KERNEL_ATTACHED(kernel) ((kernel)->queued + ((kernel)->current ? 1 : 0))

/* Spawn the kernel for a spec. On failure nothing is left; start failures are told by error. */
int hr_kernel_new(struct hermes_engine *engine, struct hr_spec *spec, struct hr_kernel **ret,
                  struct hermes_error *error);
/* The same for one that serves nobody yet, and that nobody is told of. */
int hr_kernel_spawn(struct hermes_engine *engine, struct hr_spec *spec, struct hr_kernel **ret,
                    struct hermes_error *error);
/* It serves its spec's owner from now on: it gets its id and is told of. */
void hr_kernel_introduce(struct hr_kernel *kernel);
void hr_kernel_free(struct hr_kernel *kernel); /* only when dead */
void hr_kernel_enqueue(struct hr_kernel *kernel, struct hr_cell *cell);
/* Let a kernel that waits for its first cell become ready without one. false: out of memory. */
bool hr_kernel_begin(struct hr_kernel *kernel);
/* SIGINT to the running cell; kill after kill_after_ms (negative: never). */
void hr_kernel_interrupt(struct hr_kernel *kernel, int64_t kill_after_ms);
/* Kill the tree. The running cell settles with the cause when it is gone. */
void hr_kernel_kill(struct hr_kernel *kernel, enum hermes_previous cause);
/* Orderly end; with no cell attached at once, else after the running one. */
void hr_kernel_stop(struct hr_kernel *kernel, enum hermes_previous cause);
/* It ends because it did not start: what waits for it would fail the same way elsewhere. */
bool hr_kernel_cannot_start(const struct hr_kernel *kernel);
void hr_kernel_settle_queue(struct hr_kernel *kernel, const char *why);
void hr_kernel_update_pause(struct hr_kernel *kernel);
const char *hr_kernel_state_name(enum hermes_kernel_state state);

/* ---- registry --------------------------------------------------------------------------- */

/*
 * Build a spec from a request, or find the equal one of a live kernel. python and cwd are resolved
 * already.
 */
int hr_spec_get(struct hermes_engine *engine, const struct hermes_cell *request, const char *python,
                const char *cwd, struct hr_spec **ret, struct hermes_error *error);
void hr_spec_unref(struct hermes_engine *engine, struct hr_spec *spec);
/* The same spec without an owner; NULL: out of memory. */
struct hr_spec *hr_spec_for_nobody(struct hermes_engine *engine, const struct hr_spec *spec);
bool hr_spec_differs_by_owner_only(const struct hr_spec *a, const struct hr_spec *b);
/* The kernel that is to run a cell of this spec, started if need be. */
int hr_registry_acquire(struct hermes_engine *engine, struct hr_spec *spec, bool reset,
                        struct hr_kernel **ret, struct hermes_error *error);
/* No further cells for this kernel; remembers the cause for the owner's next one. */
void hr_registry_unlist(struct hr_kernel *kernel, enum hermes_previous cause, bool state_reset);
/* Cells queued at a kernel that ended go to a fresh one. */
void hr_registry_requeue(struct hr_kernel *kernel);
/* Whether one kernel more is too many, since nothing makes room for it. */
bool hr_registry_is_full(const struct hermes_engine *engine);
/* The kernel that cells of this spec run in; NULL: there is none. */
struct hr_kernel *hr_registry_find(struct hermes_engine *engine, const struct hr_spec *spec);
/* Before a cell is placed: those that wait for its key at a kernel that ends go first. */
void hr_registry_keep_order(struct hermes_engine *engine, const struct hr_spec *spec);
void hr_registry_trim(struct hermes_engine *engine); /* the cap */
int hr_registry_pin(struct hermes_engine *engine, const char *session, bool pinned);
void hr_registry_arm_idle(
    struct hermes_engine *engine); /* after a kernel became idle, or the limit changed */
struct hr_owner *hr_registry_find_owner(struct hermes_engine *engine, const char *session,
                                        const char *child);

/* ---- spares ----------------------------------------------------------------------------- */

/*
 * A spare is a kernel that was started before anybody needs it: like the newest kernel, once the
 * engine is quiet (spare.c). It is in the engine's list and in STARTING, but not listed; it has no
 * id and no events.
 */

/* A kernel is idle: start a spare soon, if one is wanted and nothing else happens. */
void hr_spare_arm(struct hermes_engine *engine);
/* A spare that is what a new kernel for the spec would be, and is that from now on; or NULL. */
struct hr_kernel *hr_spare_take(struct hermes_engine *engine, struct hr_spec *spec);
void hr_spare_drop_all(struct hermes_engine *engine);
/* Of a spare: READY has come, with the names of files that decided how it started. */
void hr_spare_ready(struct hr_kernel *kernel, const char *files, size_t size);
void hr_spare_ends(struct hr_kernel *kernel);
/* Its output is told of when it serves somebody. The event may be NULL. */
void hr_spare_hold(struct hr_kernel *kernel, struct hr_event *event);
void hr_spare_free(struct hr_kernel *kernel); /* also of a kernel that is none */

/* ---- undo ------------------------------------------------------------------------------- */

/*
 * Parked kernels (undo.c): of a session that was reset, stopped by a signal, in PARKED and not
 * listed. They wait to be taken back, until their time is over.
 */

/* Of an idle kernel that is reset: park it. False: that must not or cannot be, end it. */
bool hr_undo_park(struct hr_kernel *kernel);
void hr_undo_trim(struct hermes_engine *engine); /* after the options have changed */
/* It comes back: its own, or with a checkpoint that is the kernel now. */
void hr_undo_came_back(struct hr_kernel *kernel);

/* ---- checkpoints (checkpoint.c) --------------------------------------------------------- */

/* Before a cell is sent: ask the kernel for a checkpoint, if the options say so. */
bool hr_checkpoint_ask(struct hr_kernel *kernel); /* false: out of memory */
/* It is idle: what the checkpoints cost may have grown. */
void hr_checkpoint_trim(struct hr_kernel *kernel);
/* A KEEP frame: what the kernel keeps. */
struct hr_frame;
void hr_checkpoint_take(struct hr_kernel *kernel, const struct hr_frame *frame);
/* Whether a kernel that ends for this reason leaves its checkpoints behind. */
bool hr_checkpoint_stays(const struct hr_kernel *kernel, enum hermes_previous cause);
/* Whether the newest one is of the running cell. */
bool hr_checkpoint_is_of_current(const struct hr_kernel *kernel);
/* End the kernel, but not its checkpoints: it gets PARKED when that is done. */
void hr_checkpoint_prune(struct hr_kernel *kernel);
/* Let it end whole. */
void hr_checkpoint_forget(struct hr_kernel *kernel);
/* Go back to the newest checkpoint, of an idle or a parked kernel. */
void hr_checkpoint_resume(struct hr_kernel *kernel);
void hr_checkpoint_pruned(struct hr_process *process);

/* ---- events ----------------------------------------------------------------------------- */

struct hr_event {
    struct hermes_event public;
    struct hr_link link;
    char *data, *session;
    struct hermes_tool_call tool_call;
    char *tool_texts[5];
};

struct hr_event *hr_event_new(enum hermes_event_type type, const char *data, size_t size);
void hr_event_push(struct hermes_engine *engine,
                   struct hr_event *event); /* NULL is fine: out of memory */
void hr_event_kernel(struct hr_kernel *kernel);
struct hr_tool_call;
bool hr_event_tool_call(struct hr_cell *cell,
                        const struct hr_tool_call *call);         /* false: out of memory */
struct hermes_event *hr_event_take(struct hermes_engine *engine); /* NULL: none */

/* ---- engine ----------------------------------------------------------------------------- */

/* An answer on the interpreter, good for a second when the question is the same. */
enum { HR_MEMO_TEXTS = 5 };
struct hr_memo {
    enum hermes_mode mode;
    char *asked[HR_MEMO_TEXTS], *answer;
    int64_t until_ns;
};
void hr_memo_clear(struct hr_memo *memo);

struct hermes_engine {
    pthread_mutex_t lock;
    struct hr_loop *loop;
    struct hr_options options;
    struct hr_interp_cache *interp;
    struct hr_runner_code *runner;
    char *guard; /* path, found at the first start */
    struct hr_link owners, kernels, cells;
    size_t owner_count;
    uint64_t next_id;
    uint64_t random[32]; /* for ids on the wire */
    size_t random_left;
    bool closing; /* free or shutdown in progress: no new cells */
    struct hr_timer idle_timer;

    /* spares */
    struct hr_owner nobody; /* whose they are */
    int64_t spares;         /* alive */
    unsigned spares_lost;   /* one after the other */
    int64_t spare_after_ns; /* not before that */
    struct hr_timer spare_timer;

    struct hr_timer undo_timer; /* of the parked kernel whose time is over first */

    char scratch[HR_SCRATCH_SIZE];         /* for output */
    char control_scratch[HR_SCRATCH_SIZE]; /* for frames, while their output is read */
    bool trash;                            /* a kernel waits to be freed after the step */
    bool swept;                            /* staging directories of dead hosts are gone */

    hermes_cell_guard_fn cell_guard;
    void *cell_guard_context;

    /* tools */
    struct hr_watch tool_listener;
    char *tool_directory, *tool_path;
    struct hr_link tool_peers, tool_calls;
    size_t tool_peer_count;
    struct hr_timer tool_accept; /* when the listener is looked at again */
    struct {
        uint64_t kernel;
        struct hermes_authority *authority;
    } dead[HR_DEAD_AUTHORITIES]; /* of kernels that are gone, the newest before dead_next */
    size_t dead_next;

    /* events */
    struct hr_link events;
    size_t event_bytes;
    bool event_wanted; /* somebody pulls events */
    bool paused;       /* what becomes events is not read */
    int event_fds[2];  /* [0] readable while events are queued; -1 until asked for */
    bool event_signalled;
    atomic_bool wake_asked;

    /* who runs the loop */
    bool driving, thread_driving, thread_waits, stopping;
    bool thread_started; /* with the first kernel */
    size_t callers;      /* that want to drive while the thread does */
    uint64_t drives;     /* how often a caller has driven */
    struct hr_link waiters;
    pthread_cond_t standby;
    pthread_t thread;

    /* the last interpreter answer; guarded by memo_lock alone */
    pthread_mutex_t memo_lock;
    struct hr_memo memo;
};

uint64_t hr_engine_id(struct hermes_engine *engine);
/*
 * The engine's own thread runs from the first kernel on; it is made while that starts. 0 or an
 * errno.
 */
int hr_engine_need_thread(struct hermes_engine *engine);

#endif
