/* SPDX-License-Identifier: MIT */
/*
 * What the model knows of a round before it is played: calls and kernels by id, in the order of
 * their places in the log; and how a fault is shown.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

enum { KERNELS_MAX = CALLS_MAX + LIVE_MAX, SLOTS = 1 << 18, FAULTS_SHOWN = 12, NEIGHBOURS = 40 };

static void *get_memory(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory) {
        perror("load");
        exit(2);
    }
    return memory;
}

struct model *model_new(const struct load *load)
{
    struct model *model = get_memory(1, sizeof *model);
    size_t owners = (size_t)load->sessions * OWNERS_EACH;

    model->load = load;
    model->owners = get_memory(owners, sizeof *model->owners);
    model->places = get_memory(owners * KEYS, sizeof *model->places);
    model->kernels = get_memory(KERNELS_MAX, sizeof *model->kernels);
    model->kernel_slots = get_memory(SLOTS, sizeof(int));
    model->call_slots = get_memory(SLOTS, sizeof(int));
    model->by_begin = get_memory(CALLS_MAX, sizeof(void *));
    model->by_end = get_memory(CALLS_MAX, sizeof(void *));
    model->by_close = get_memory(CALLS_MAX, sizeof(void *));
    model->by_submit = get_memory(CALLS_MAX, sizeof(void *));
    return model;
}

void model_free(struct model *model)
{
    free(model->owners);
    free(model->places);
    free(model->kernels);
    free(model->kernel_slots);
    free(model->call_slots);
    free(model->by_begin);
    free(model->by_end);
    free(model->by_close);
    free(model->by_submit);
    free(model);
}

const char *previous_name(enum hermes_previous cause)
{
    static const char *const names[] = {
#define X(name, text) text,
        HERMES_PREVIOUS_MAP(X)
#undef X
    };

    return cause ? names[cause] : "none";
}

static const char *state_name(enum hermes_kernel_state state)
{
    static const char *const names[] = {
#define X(name, text) text,
        HERMES_KERNEL_STATE_MAP(X)
#undef X
    };

    return names[state];
}

/* ---- faults ----------------------------------------------------------------------------- */

static void print_entry(const struct load *load, int at)
{
    const struct entry *entry = &load->log[at];

    fprintf(stderr, "    %6d  ", at);
    if (entry->type == HERMES_EVENT_KERNEL)
        fprintf(stderr, "kernel %llu of %d.%d: %s %s\n", (unsigned long long)entry->kernel,
                entry->owner / OWNERS_EACH, entry->owner % OWNERS_EACH, state_name(entry->state),
                previous_name(entry->cause));
    else
        fprintf(stderr, "cell %llu, kernel %llu: %s %llu\n", (unsigned long long)entry->cell,
                (unsigned long long)entry->kernel,
                entry->type == HERMES_EVENT_STARTED ? "started" : "done",
                (unsigned long long)entry->execution_count);
}

static int owner_at(struct model *model, int at)
{
    const struct kernel *kernel = find_kernel(model, model->load->log[at].kernel);

    return kernel ? kernel->owner : -1;
}

/* What happened to the same owner before, and to all around it. */
static void print_neighbours(struct model *model, int at)
{
    int first = at, owner = owner_at(model, at);

    for (int found = 0; first > 0 && found < NEIGHBOURS; first--)
        found += owner_at(model, first) == owner;
    for (int i = first; i < model->load->length && i < at + 4; i++)
        if (i > at - 4 || owner_at(model, i) == owner)
            print_entry(model->load, i);
}

void model_fault(struct model *model, int at, const char *format, ...)
{
    const struct load *load = model->load;
    va_list arguments;

    if (++model->faults > FAULTS_SHOWN)
        return;
    fprintf(stderr, "FAULT at %d: ", at);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    if (at >= 0 && at < load->length)
        print_neighbours(model, at);
}

long model_faults(const struct model *model)
{
    return model->faults;
}

/* ---- tables by id ----------------------------------------------------------------------- */

static size_t slot_of(const int *slots, uint64_t id, uint64_t (*id_at)(const struct model *, int),
                      const struct model *model)
{
    size_t at = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 20) % SLOTS;

    while (slots[at] && id_at(model, slots[at] - 1) != id)
        at = (at + 1) % SLOTS;
    return at;
}

static uint64_t kernel_id(const struct model *model, int at)
{
    return model->kernels[at].id;
}

static uint64_t call_cell(const struct model *model, int at)
{
    return model->load->calls[at].cell;
}

struct kernel *find_kernel(struct model *model, uint64_t id)
{
    int index = model->kernel_slots[slot_of(model->kernel_slots, id, kernel_id, model)];

    return index ? &model->kernels[index - 1] : NULL;
}

struct call *find_cell_call(struct model *model, uint64_t cell)
{
    int index = model->call_slots[slot_of(model->call_slots, cell, call_cell, model)];

    return index ? &model->load->calls[index - 1] : NULL;
}

static struct kernel *add_kernel(struct model *model, const struct kernel *kernel)
{
    size_t slot = slot_of(model->kernel_slots, kernel->id, kernel_id, model);

    if (model->kernel_count == KERNELS_MAX)
        abort();
    model->kernels[model->kernel_count] = *kernel;
    model->kernel_slots[slot] = (int)++model->kernel_count;
    return &model->kernels[model->kernel_count - 1];
}

static void name_kernel(struct model *model, const struct call *call, uint64_t id)
{
    struct kernel *kernel = find_kernel(model, id);
    int owner = owner_of(call->session, call->child);

    if (!kernel)
        kernel = add_kernel(model, &(struct kernel){.id = id,
                                                    .owner = owner,
                                                    .key = call->key,
                                                    .born_at = NEVER,
                                                    .died_at = NEVER,
                                                    .unlisted = NEVER});
    if (kernel->owner != owner || kernel->key != call->key)
        model_fault(model, -1, "kernel %llu served %d.%d.%d and %d.%d.%d", (unsigned long long)id,
                    kernel->owner / OWNERS_EACH, kernel->owner % OWNERS_EACH, kernel->key,
                    call->session, call->child, call->key);
}

/* ---- before a round is played ----------------------------------------------------------- */

/* Kernels that live on from the last round are the first of this one. */
static void carry_over(struct model *model)
{
    static struct kernel kept[LIVE_MAX];
    size_t count = model->live_count;

    for (size_t i = 0; i < count; i++) {
        kept[i] = *model->live[i];
        kept[i].born_at = kept[i].used = -1;
        if (!kept[i].listed)
            kept[i].unlisted = -1;
    }
    /* the order of the last uses stays */
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            kept[i].used -= model->live[j]->used > model->live[i]->used;
    memset(model->kernel_slots, 0, SLOTS * sizeof(int));
    memset(model->call_slots, 0, SLOTS * sizeof(int));
    memset(model->places, 0,
           (size_t)model->load->sessions * OWNERS_EACH * KEYS * sizeof *model->places);
    model->kernel_count = model->live_count = 0;
    for (size_t i = 0; i < count; i++)
        model->live[model->live_count++] = add_kernel(model, &kept[i]);
}

static int close_of(const struct call *call) /* where it can be attached unstarted no more */
{
    return call->started < call->end ? call->started : call->end + 1;
}

static int compare_begin(const void *a, const void *b)
{
    return (*(struct call *const *)a)->begin - (*(struct call *const *)b)->begin;
}

static int compare_end(const void *a, const void *b)
{
    return (*(struct call *const *)a)->end - (*(struct call *const *)b)->end;
}

static int compare_close(const void *a, const void *b)
{
    return close_of(*(struct call *const *)a) - close_of(*(struct call *const *)b);
}

static int compare_submit(const void *a, const void *b)
{
    int x = (*(struct call *const *)a)->submitted, y = (*(struct call *const *)b)->submitted;

    return (x > y) - (x < y);
}

static void take_calls(struct model *model)
{
    const struct load *load = model->load;

    model->calls = (size_t)load->call_count;
    model->begun = model->ended = model->closed = model->submitted = 0;
    for (int i = 0; i < load->call_count; i++) {
        struct call *call = &load->calls[i];

        model->by_begin[i] = model->by_end[i] = model->by_close[i] = model->by_submit[i] = call;
        if (call_is_cell(call) && call->cell)
            model->call_slots[slot_of(model->call_slots, call->cell, call_cell, model)] = i + 1;
        if (call_is_cell(call) && call->answer.kernel)
            name_kernel(model, call, call->answer.kernel);
        if (call->type == CALL_START && !call->status)
            name_kernel(model, call, call->kernel);
    }
    for (int at = 0; at < load->length; at++) {
        struct call *call = load->log[at].type == HERMES_EVENT_STARTED
                                ? find_cell_call(model, load->log[at].cell)
                                : NULL;

        if (call && call->started != NEVER)
            model_fault(model, at, "a cell starts twice");
        if (call)
            call->started = at;
    }
    qsort(model->by_begin, model->calls, sizeof(void *), compare_begin);
    qsort(model->by_end, model->calls, sizeof(void *), compare_end);
    qsort(model->by_close, model->calls, sizeof(void *), compare_close);
    qsort(model->by_submit, model->calls, sizeof(void *), compare_submit);
}

void begin_round(struct model *model)
{
    carry_over(model);
    take_calls(model);
}

/* ---- which calls are under way ---------------------------------------------------------- */

static void count_call(struct model *model, const struct call *call, int by)
{
    struct owner *owner = &model->owners[owner_of(call->session, call->child)];

    if (call->type == CALL_RESET)
        owner->resets += by;
    else if (call->type == CALL_CLEAR)
        owner->clears += by;
    else if (call->type == CALL_CHILD_END)
        owner->child_ends += by;
    else if (call->type == CALL_START)
        model->places[place(call->session, call->child, call->key)].starts += by;
}

static void count_open(struct model *model, const struct call *call, int by)
{
    struct at_place *at = &model->places[place(call->session, call->child, call->key)];

    if (!call_is_cell(call))
        return;
    at->open += by;
    if (call->reset)
        at->resets += by;
}

static void count_waiting(struct model *model, const struct call *call, int by)
{
    if (call->type == CALL_SUBMIT)
        model->places[place(call->session, call->child, call->key)].waiting += by;
}

void move_to(struct model *model, int at)
{
    while (model->begun < model->calls && model->by_begin[model->begun]->begin <= at) {
        count_call(model, model->by_begin[model->begun], 1);
        count_open(model, model->by_begin[model->begun++], 1);
    }
    while (model->submitted < model->calls && model->by_submit[model->submitted]->submitted <= at) {
        struct call *call = model->by_submit[model->submitted++];

        if (call->started >= at && call->done >= at) {
            call->open = true;
            count_waiting(model, call, 1);
        }
    }
    while (model->ended < model->calls && model->by_end[model->ended]->end <= at)
        count_call(model, model->by_end[model->ended++], -1);
    while (model->closed < model->calls && close_of(model->by_close[model->closed]) < at)
        count_open(model, model->by_close[model->closed++], -1);
}

void stop_waiting(struct model *model, struct call *call)
{
    if (call->open)
        count_waiting(model, call, -1);
    call->open = false;
}

bool was_interrupted(const struct model *model, const struct call *cell, enum call_type type)
{
    for (int i = 0; i < model->load->call_count; i++) {
        const struct call *call = &model->load->calls[i];

        if (call->type == type && call->cell == cell->cell && call->begin < cell->end)
            return true;
    }
    return false;
}
