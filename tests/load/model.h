/* SPDX-License-Identifier: MIT */
/* What the files of the model share. */
#ifndef LOAD_MODEL_H
#define LOAD_MODEL_H

#include "load.h"

enum { LIVE_MAX = 4096 };

struct kernel {
    uint64_t id;
    int owner, key; /* key -1: no call has named it yet */
    uint64_t generation, count;
    enum hermes_kernel_state state;
    bool born, dead, listed;
    bool retired; /* replaced by a cell's reset while it had cells */
    int unlisted; /* place */
    struct call *running;
    int used;                      /* place of its last use: the order of the least recently used */
    int64_t used_ns, used_from_ns; /* its last use was not after, and not before */
    int64_t last_begin_ns;         /* the latest begin of the calls that it has started */
    int born_at, died_at;          /* places; those of an earlier round are -1 */
    enum hermes_previous previous;
    bool state_reset;
    long pid, n_low, n_high; /* how many cells its Python has counted */
};

struct owner {
    uint64_t generation;
    struct {
        bool any, state_reset;
        enum hermes_previous cause;
    } last[KEYS];                   /* how the last kernel of the key left the registry */
    int resets, clears, child_ends; /* calls that are under way */
};

/* For one owner and key. */
struct at_place {
    int open;    /* cells that may be attached, and have not started */
    int waiting; /* those that certainly are */
    int resets;  /* open ones with HERMES_CELL_RESET */
    int starts;  /* hermes_start() under way */
};

struct model {
    const struct load *load;
    struct owner *owners;
    struct at_place *places;
    struct kernel *kernels; /* of this round */
    size_t kernel_count;
    int *kernel_slots, *call_slots; /* by id: index + 1 */
    struct kernel *live[LIVE_MAX];
    size_t live_count;
    struct call **by_begin, **by_end, **by_close, **by_submit;
    size_t calls, begun, ended, closed, submitted;
    bool shutting_down;
    long faults;
    struct {
        long calls[CALL_TYPES], cells[CELL_KINDS], outcomes[4], not_run, kernels, causes[10],
            reused, steps, rounds;
    } sums;
};

/* load-answers.c: the answer of a cell that ran in this kernel. cause 0: the kernel lives on. */
void check_answer(struct model *model, int at, const struct call *call, struct kernel *kernel,
                  enum hermes_previous cause);
/* After all: the answers as such, cells that never ran, and what the other calls returned. */
void check_calls(struct model *model);

/* load-round.c */
void begin_round(struct model *model);
void move_to(struct model *model, int at);                 /* which calls are under way there */
void stop_waiting(struct model *model, struct call *call); /* it is attached no more, or runs */
struct call *find_cell_call(struct model *model, uint64_t cell);
struct kernel *find_kernel(struct model *model, uint64_t id);
bool was_interrupted(const struct model *model, const struct call *cell, enum call_type type);
const char *previous_name(enum hermes_previous cause);

#endif
