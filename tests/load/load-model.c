/* SPDX-License-Identifier: MIT */
/*
 * The registry as it should be, played along the log: owners, keys, generations, counts, the cap,
 * idle limits, and which call each step is due to.
 */
#include "config.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

/* ---- kernels ---------------------------------------------------------------------------- */

static bool pinned(const struct kernel *kernel)
{
    return kernel->owner % OWNERS_EACH != 0;
}

static struct at_place *place_of(struct model *model, const struct kernel *kernel)
{
    return &model->places[kernel->owner * KEYS + kernel->key];
}

static bool certainly_idle(struct model *model, const struct kernel *kernel)
{
    return kernel->listed && !kernel->running && !place_of(model, kernel)->open &&
           (kernel->state == HERMES_KERNEL_IDLE || kernel->state == HERMES_KERNEL_STARTING);
}

static bool certainly_attached(struct model *model, const struct kernel *kernel)
{
    if (kernel->running)
        return true;
    for (size_t i = 0; i < model->live_count; i++)
        if (model->live[i] != kernel && model->live[i]->owner == kernel->owner &&
            model->live[i]->key == kernel->key)
            return false; /* what waits may wait for that one */
    return place_of(model, kernel)->waiting > 0;
}

static void unlist(struct model *model, struct kernel *kernel, int at, enum hermes_previous cause)
{
    struct owner *owner = &model->owners[kernel->owner];

    if (!kernel->listed)
        return;
    kernel->listed = false;
    kernel->unlisted = at;
    owner->last[kernel->key].any = true;
    owner->last[kernel->key].cause = cause;
    owner->last[kernel->key].state_reset =
        cause == HERMES_PREVIOUS_RESET || (cause == HERMES_PREVIOUS_DIED && !kernel->running);
}

/* Those that count for the cap. */
static int count_listed(const struct model *model)
{
    int count = 0;

    for (size_t i = 0; i < model->live_count; i++)
        count += model->live[i]->listed && !pinned(model->live[i]);
    return count;
}

/* Whoever makes the list too long shortens it in the same step. */
static void check_cap(struct model *model, int at)
{
    int count = count_listed(model);

    if (count <= model->load->cap)
        return;
    for (size_t i = 0; i < model->live_count; i++) {
        const struct kernel *kernel = model->live[i];

        if (!pinned(kernel) && certainly_idle(model, kernel)) {
            model_fault(model, at, "%d kernels, the cap is %d, and %llu is idle", count,
                        model->load->cap, (unsigned long long)kernel->id);
            return;
        }
    }
}

static void check_eviction(struct model *model, int at, const struct kernel *kernel)
{
    int count = count_listed(model);

    if (count <= model->load->cap)
        model_fault(model, at, "evicted, with %d kernels of %d", count, model->load->cap);
    if (pinned(kernel))
        model_fault(model, at, "a child's kernel is evicted");
    if (!kernel->listed)
        model_fault(model, at, "evicted, though it was off the list");
    if (certainly_attached(model, kernel))
        model_fault(model, at, "a busy kernel is evicted");
    for (size_t i = 0; i < model->live_count; i++) {
        const struct kernel *other = model->live[i];

        if (other != kernel && !pinned(other) && certainly_idle(model, other) &&
            other->used < kernel->used)
            model_fault(model, at, "evicted, though %llu was used before it",
                        (unsigned long long)other->id);
    }
}

/* By more than a busy machine explains. The limit may be newer than the last use. */
static bool idle_too_long(const struct load *load, const struct kernel *kernel, int64_t at_ns)
{
    int64_t since_ns = kernel->used_ns > load->rules_ns ? kernel->used_ns : load->rules_ns;

    return at_ns - since_ns >
           load->idle_seconds * INT64_C(1000000000) + load->slack_ms * INT64_C(1000000);
}

static void check_reaping(struct model *model, int at, const struct kernel *kernel)
{
    int64_t limit_ns = model->load->idle_seconds * INT64_C(1000000000);

    if (!limit_ns)
        model_fault(model, at, "reaped without an idle limit");
    if (certainly_attached(model, kernel))
        model_fault(model, at, "a busy kernel is reaped");
    if (model->load->log[at].seen_ns - kernel->used_from_ns < limit_ns)
        model_fault(model, at, "reaped too early");
    if (idle_too_long(model->load, kernel, model->load->log[at].seen_ns))
        model_fault(model, at, "reaped too late");
}

/* ---- steps ------------------------------------------------------------------------------ */

/* One key has one kernel; by a reset that waits for its cells the one before leaves silently. */
static void displace(struct model *model, int at, const struct kernel *fresh)
{
    for (size_t i = 0; i < model->live_count; i++) {
        struct kernel *old = model->live[i];

        if (!old->listed || old->owner != fresh->owner || old->key != fresh->key)
            continue;
        if (!place_of(model, old)->resets || certainly_idle(model, old))
            model_fault(model, at, "a second kernel beside %llu", (unsigned long long)old->id);
        old->retired = true;
        unlist(model, old, at, HERMES_PREVIOUS_RESET);
    }
}

static void step_starting(struct model *model, int at, struct kernel *kernel)
{
    struct owner *owner = &model->owners[kernel->owner];
    const struct at_place *here = place_of(model, kernel);

    if (kernel->born)
        model_fault(model, at, "born twice");
    if (!here->open && !here->starts)
        model_fault(model, at, "a kernel that no call needs");
    displace(model, at, kernel);
    kernel->born = kernel->listed = true;
    kernel->state = HERMES_KERNEL_STARTING;
    kernel->born_at = kernel->used = at;
    kernel->used_from_ns = at ? model->load->log[at - 1].seen_ns - INT64_C(60000000000) : 0;
    kernel->used_ns = model->load->log[at].seen_ns;
    kernel->generation = ++owner->generation;
    if (owner->last[kernel->key].any) {
        kernel->previous = owner->last[kernel->key].cause;
        kernel->state_reset = owner->last[kernel->key].state_reset;
    } else if (kernel->generation > 1) {
        kernel->previous = HERMES_PREVIOUS_KEY_CHANGED;
    }
    if (model->live_count == LIVE_MAX)
        abort();
    model->live[model->live_count++] = kernel;
    model->sums.kernels++;
}

static void settle(struct model *model, int at, struct kernel *kernel, enum hermes_previous cause)
{
    struct call *call = kernel->running;

    if (!call)
        return;
    call->settled = at;
    check_answer(model, at, call, kernel, cause);
    kernel->running = NULL;
    kernel->used = at;
    kernel->used_ns = model->load->log[at].seen_ns;
    kernel->used_from_ns = call->begin_ns + call->answer.duration_us * 1000;
}

/* By a cell of its own, which need not have started. */
static bool was_killed(struct model *model, const struct kernel *kernel)
{
    for (int i = 0; i < model->load->call_count; i++) {
        const struct call *call = &model->load->calls[i];
        const struct call *cell =
            call->type == CALL_KILL ? find_cell_call(model, call->cell) : NULL;

        if (cell && cell->answer.kernel == kernel->id)
            return true;
    }
    return false;
}

static void check_cause(struct model *model, int at, struct kernel *kernel,
                        enum hermes_previous cause)
{
    const struct owner *owner = &model->owners[kernel->owner];
    const struct call *cell = kernel->running;
    enum cell_kind kind = cell ? cell->kind : CELL_PLAIN;
    bool right = true;

    switch (cause) {
    case HERMES_PREVIOUS_RESET:
        right = owner->resets || place_of(model, kernel)->resets ||
                (!kernel->listed && !cell); /* it was to stop when its cells were out */
        break;
    case HERMES_PREVIOUS_KILLED:
        right =
            model->shutting_down || owner->clears || owner->child_ends || was_killed(model, kernel);
        break;
    case HERMES_PREVIOUS_TIMEOUT:
        right = kind == CELL_HANG;
        break;
    case HERMES_PREVIOUS_INTERRUPTED:
        right = cell && was_interrupted(model, cell, CALL_INTERRUPT) && kind == CELL_STUBBORN;
        break;
    case HERMES_PREVIOUS_EXITED:
        right = kind == CELL_EXIT;
        break;
    case HERMES_PREVIOUS_DIED:
        right = kind == CELL_ABORT || kind == CELL_SHOT;
        break;
    case HERMES_PREVIOUS_EVICTED:
        check_eviction(model, at, kernel);
        break;
    case HERMES_PREVIOUS_IDLE:
        check_reaping(model, at, kernel);
        break;
    default:
        right = false;
    }
    if (!right)
        model_fault(model, at, "nothing explains that it is ended by \"%s\"", previous_name(cause));
}

static void step_stopping(struct model *model, int at, struct kernel *kernel,
                          enum hermes_previous cause)
{
    check_cause(model, at, kernel, cause);
    unlist(model, kernel, at, cause);
    settle(model, at, kernel, cause);
    model->sums.causes[cause]++;
}

static void step_dead(struct model *model, int at, struct kernel *kernel)
{
    if (kernel->listed)
        model_fault(model, at, "dead without having stopped");
    kernel->dead = true;
    kernel->died_at = at;
    for (size_t i = 0; i < model->live_count; i++)
        if (model->live[i] == kernel)
            model->live[i--] = model->live[--model->live_count];
}

static void step_kernel(struct model *model, int at, const struct entry *entry)
{
    struct kernel *kernel = find_kernel(model, entry->kernel);

    if (!kernel || kernel->owner != entry->owner) {
        model_fault(model, at, "a kernel that no call names, or of another owner");
        return;
    }
    if (kernel->dead || (!kernel->born && entry->state != HERMES_KERNEL_STARTING)) {
        model_fault(model, at, "a kernel that does not live");
        return;
    }
    switch (entry->state) {
    case HERMES_KERNEL_STARTING:
        step_starting(model, at, kernel);
        break;
    case HERMES_KERNEL_INTERRUPTING:
        if (!kernel->running || !was_interrupted(model, kernel->running, CALL_INTERRUPT))
            model_fault(model, at, "nobody interrupts it");
        break;
    case HERMES_KERNEL_IDLE:
        settle(model, at, kernel, HERMES_PREVIOUS_NONE);
        break;
    case HERMES_KERNEL_STOPPING:
        step_stopping(model, at, kernel, entry->cause);
        break;
    case HERMES_KERNEL_DEAD:
        step_dead(model, at, kernel);
        break;
    case HERMES_KERNEL_PARKED:
        model_fault(model, at, "kept, which nobody has asked for");
        break;
    case HERMES_KERNEL_BUSY:
        break;
    }
    kernel->state = entry->state;
}

/*
 * Cells that wait at a kernel which a cell's reset has replaced go to its successor when it ends
 * before them: whatever has started there by then is no overtaking.
 */
static bool was_left_behind(const struct model *model, const struct call *call)
{
    for (size_t i = 0; i < model->kernel_count; i++) {
        const struct kernel *kernel = &model->kernels[i];

        if (kernel->retired && kernel->owner == owner_of(call->session, call->child) &&
            kernel->key == call->key && kernel->born_at < call->started &&
            kernel->died_at >= call->begin)
            return true;
    }
    return false;
}

static void check_start(struct model *model, int at, const struct call *call,
                        const struct kernel *kernel)
{
    const struct load *load = model->load;

    if (kernel->owner != owner_of(call->session, call->child) || kernel->key != call->key)
        model_fault(model, at, "a cell in somebody else's kernel");
    if (kernel->running || kernel->state != HERMES_KERNEL_BUSY)
        model_fault(model, at, "a cell starts in a kernel that runs one");
    if (kernel->unlisted < call->begin)
        model_fault(model, at, "a cell starts in a kernel that was off the list before it began");
    if (call->type == CALL_SUBMIT && call->submitted_ns < kernel->last_begin_ns &&
        !was_left_behind(model, call))
        model_fault(model, at, "a cell starts after one that was submitted later");
    if (load->idle_seconds && idle_too_long(load, kernel, call->begin_ns))
        model_fault(model, at, "a kernel is used that was to be reaped long ago");
}

static void step_started(struct model *model, int at, const struct entry *entry)
{
    struct kernel *kernel = find_kernel(model, entry->kernel);
    struct call *call = find_cell_call(model, entry->cell);

    if (!kernel || !call || !kernel->born) {
        model_fault(model, at, "a cell or a kernel that no call names");
        return;
    }
    check_start(model, at, call, kernel);
    kernel->count++;
    if (entry->execution_count != kernel->count)
        model_fault(model, at, "cell %llu of its kernel is told as %llu",
                    (unsigned long long)kernel->count, (unsigned long long)entry->execution_count);
    stop_waiting(model, call);
    kernel->running = call;
    if (call->begin_ns > kernel->last_begin_ns)
        kernel->last_begin_ns = call->begin_ns;
}

void model_check_round(struct model *model)
{
    const struct load *load = model->load;

    begin_round(model);
    for (int at = 0; at < load->length; at++) {
        const struct entry *entry = &load->log[at];
        struct call *call;

        move_to(model, at);
        if (entry->type != HERMES_EVENT_KERNEL || entry->state != HERMES_KERNEL_STOPPING ||
            entry->cause != HERMES_PREVIOUS_EVICTED)
            check_cap(model, at);
        if (entry->type == HERMES_EVENT_KERNEL) {
            step_kernel(model, at, entry);
        } else if (entry->type == HERMES_EVENT_STARTED) {
            step_started(model, at, entry);
        } else if ((call = find_cell_call(model, entry->cell))) {
            stop_waiting(model, call);
        } else {
            model_fault(model, at, "an answer to no call");
        }
    }
    move_to(model, NEVER - 2);
    check_cap(model, load->length);
    check_calls(model);
    model->sums.steps += load->length;
    model->sums.rounds++;
}

void model_everything_was_killed(struct model *model)
{
    model->shutting_down = true;
    model_check_round(model);
    model->shutting_down = false;
    if (model->live_count)
        model_fault(model, -1, "%zu kernels outlive the shutdown", model->live_count);
}

/* ---- at rest ---------------------------------------------------------------------------- */

static double number_of(const cJSON *object, const char *name)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

void model_check_list(struct model *model, const char *json)
{
    cJSON *list = cJSON_Parse(json), *item;
    size_t listed = 0, found = 0;

    for (size_t i = 0; i < model->live_count; i++)
        listed += model->live[i]->listed;
    cJSON_ArrayForEach(item, list)
    {
        const struct kernel *kernel = find_kernel(model, (uint64_t)number_of(item, "id"));

        if (!kernel || !kernel->listed ||
            (uint64_t)number_of(item, "execution_count") != kernel->count ||
            (uint64_t)number_of(item, "generation") != kernel->generation ||
            (int)number_of(item, "attached") != 0)
            model_fault(model, -1, "the list has a wrong kernel");
        else
            found++;
    }
    cJSON_Delete(list);
    if (found != listed)
        model_fault(model, -1, "%zu kernels should be listed, and %zu are", listed, found);
}

void model_print_sums(const struct model *model)
{
    static const char *const types[CALL_TYPES] = {
        "execute", "submit", "start", "interrupt", "kill", "reset", "clear", "child_end", "list"};

    printf("calls:   ");
    for (int i = 0; i < CALL_TYPES; i++)
        printf(" %s %ld", types[i], model->sums.calls[i]);
    printf("\ncells:   ");
    for (int i = 0; i < CELL_KINDS; i++)
        printf(" %s %ld", cell_kind_name((enum cell_kind)i), model->sums.cells[i]);
    printf(
        "\nanswers:  success %ld error %ld timeout %ld interrupted %ld (not run %ld); reused %ld\n",
        model->sums.outcomes[HERMES_SUCCESS], model->sums.outcomes[HERMES_ERROR],
        model->sums.outcomes[HERMES_TIMEOUT], model->sums.outcomes[HERMES_INTERRUPTED],
        model->sums.not_run, model->sums.reused);
    printf("kernels:  %ld, ended by", model->sums.kernels);
    for (int i = 1; i < 10; i++)
        if (model->sums.causes[i])
            printf(" %s %ld", previous_name((enum hermes_previous)i), model->sums.causes[i]);
    printf("\nmodel:    %ld steps in %ld rounds, %ld faults\n", model->sums.steps,
           model->sums.rounds, model->faults);
}
