/* SPDX-License-Identifier: MIT */
/*
 * Undo: the kernel of a session that was reset is parked for a while, and serves the session again
 * when it is asked for. A parked kernel is stopped by a signal, so nothing of it runs; it is in
 * the engine's list but not listed, so it is in no count, cap or idle limit. How many there are,
 * how long and how large is bounded by options. Knows kernels, not cells.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>

#include "engine-private.h"
#include "holdings.h"
#include "kernel-private.h"

static int64_t over_ns(const struct hr_kernel *kernel)
{
    return kernel->parked_ns + kernel->engine->options.undo_timeout_ms * 1000000;
}

/* ---- until when they stay --------------------------------------------------------------- */

static void time_is_over(struct hr_timer *timer)
{
    hr_undo_trim(HR_CONTAINER(timer, struct hermes_engine, undo_timer));
}

void hr_undo_trim(struct hermes_engine *engine)
{
    struct hr_kernel *oldest;
    int64_t count, now = hr_now_ns();

    do {
        oldest = NULL;
        count = 0;
        HR_LIST_EACH (link, &engine->kernels) {
            struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

            if (kernel->state != HERMES_KERNEL_PARKED)
                continue;
            count++;
            if (!oldest || kernel->parked_ns < oldest->parked_ns)
                oldest = kernel;
        }
        if (!oldest || (count <= engine->options.undo_kernels && over_ns(oldest) > now))
            break;
        hr_checkpoint_forget(oldest);
        oldest->spec->owner->not_kept = "was kept as long as the options say";
        hr_kernel_kill(oldest, HERMES_PREVIOUS_RESET);
    } while (count > 1);
    if (oldest && oldest->state == HERMES_KERNEL_PARKED)
        hr_timer_start(engine->loop, &engine->undo_timer, over_ns(oldest), time_is_over);
    else
        hr_timer_stop(engine->loop, &engine->undo_timer);
}

/* ---- parking ---------------------------------------------------------------------------- */

/* NULL: it can be parked. "": nobody asks why not. */
static const char *why_not(const struct hr_kernel *kernel)
{
    pid_t known[HR_CHECKPOINTS_MAX + 1];
    size_t count = 0;
    const struct hr_process *process = &kernel->process;
    int64_t memory;
    pid_t guard = 0;

    if (!kernel->engine->options.undo_kernels)
        return "was not to be kept (option undo_kernels)";
    if (!kernel->execution_count)
        return "had run no cell";
    if (kernel->state != HERMES_KERNEL_IDLE || HR_KERNEL_ATTACHED(kernel))
        return "was running a cell";
    if (!process->python || kernel->engine->closing || kernel->pinned)
        return "could not be kept";
#ifndef HERMES_NO_GUARD
    guard = process->isolated ? hr_isolate_inner(process->child, 2) : process->child;
#else
    if (!process->lifeline_armed)
        return "could outlive its host"; /* its own thread is stopped with it */
#endif
    memory = hr_holdings_memory(process->python);
    if (memory > kernel->engine->options.undo_memory << 20)
        return "has more memory than undo_memory allows";
    known[count++] = process->python;
    for (size_t i = 0; i < kernel->checkpoint_count; i++)
        known[count++] = kernel->checkpoints[i].pid;
    return hr_holdings_of(process->python, guard, known, count);
}

bool hr_undo_park(struct hr_kernel *kernel)
{
    struct hr_owner *owner = kernel->spec->owner;
    const char *not_kept = why_not(kernel);

    if (kernel->execution_count || !owner->not_kept)
        owner->not_kept = not_kept;
    if (not_kept && kernel->state == HERMES_KERNEL_IDLE)
        hr_checkpoint_forget(kernel); /* they hold what it does */
    if (not_kept)
        return false;
    hr_registry_unlist(kernel, HERMES_PREVIOUS_RESET, true);
    kernel->cause = HERMES_PREVIOUS_RESET;
    kernel->retired = false;
    kernel->parked_ns = hr_now_ns();
    hr_process_signal(&kernel->process, SIGSTOP);
    hr_kernel_set_state(kernel, HERMES_KERNEL_PARKED);
    hr_undo_trim(kernel->engine);
    return true;
}

/* ---- back ------------------------------------------------------------------------------- */

static struct hr_kernel *newest_of(struct hermes_engine *engine, const struct hr_owner *owner)
{
    struct hr_kernel *newest = NULL;

    HR_LIST_EACH (link, &engine->kernels) {
        struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

        if (kernel->spec->owner != owner)
            continue;
        if (kernel->listed && kernel->checkpoint_count)
            return kernel;
        if (kernel->state == HERMES_KERNEL_PARKED &&
            (!newest || kernel->parked_ns >= newest->parked_ns))
            newest = kernel;
    }
    return newest;
}

/* Or else with a checkpoint. */
static bool comes_whole(const struct hr_kernel *kernel)
{
    return kernel->state == HERMES_KERNEL_PARKED && kernel->process.python;
}

static void describe(const struct hr_kernel *kernel, struct hermes_undone *ret)
{
    const struct hr_checkpoint *checkpoint =
        comes_whole(kernel) ? NULL : &kernel->checkpoints[kernel->checkpoint_count - 1];
    int64_t memory = hr_holdings_memory(checkpoint ? checkpoint->pid : kernel->process.python);

    ret->kernel = kernel->id;
    ret->execution_count = checkpoint ? checkpoint->execution_count : kernel->execution_count;
    ret->cause = kernel->listed ? HERMES_PREVIOUS_NONE : kernel->cause;
    ret->memory_bytes = memory > 0 ? memory : 0;
    ret->left_ms = kernel->listed ? -1 : (over_ns(kernel) - hr_now_ns()) / 1000000;
}

void hr_undo_came_back(struct hr_kernel *kernel)
{
    struct hermes_engine *engine = kernel->engine;

    kernel->cause = kernel->previous = HERMES_PREVIOUS_UNDONE;
    kernel->state_reset = false;
    kernel->told_from = kernel->execution_count;
    kernel->last_used_ns = hr_now_ns();
    kernel->listed = true;
    hr_kernel_set_state(kernel, HERMES_KERNEL_IDLE);
    kernel->cause = HERMES_PREVIOUS_NONE;
    hr_undo_trim(engine);
    hr_registry_arm_idle(engine);
    hr_registry_trim(engine);
}

static int nothing(struct hermes_engine *engine, const struct hr_owner *owner,
                   struct hermes_error *error)
{
    const char *why = owner ? owner->not_kept : NULL,
               *what = why ? ": the kernel that was reset " : "";

    HR_LIST_EACH (link, &engine->kernels) {
        const struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

        if (kernel->listed && kernel->spec->owner == owner && kernel->no_checkpoint) {
            what = ": no checkpoint was made: ";
            why = kernel->no_checkpoint;
        }
    }
    return hr_error_set(error, HERMES_ENOENT, 0, "nothing is kept to go back to%s%s", what,
                        why ? why : "");
}

static int undo(struct hermes_engine *engine, const struct hr_owner *owner, unsigned flags,
                struct hermes_undone *ret, struct hermes_error *error)
{
    struct hr_kernel *kernel = owner ? newest_of(engine, owner) : NULL, *now;

    if (!kernel)
        return nothing(engine, owner, error);
    now = hr_registry_find(engine, kernel->spec);
    if (now && (HR_KERNEL_ATTACHED(now) || now->resuming))
        return hr_error_set(error, HERMES_EAGAIN, 0, "cells of the session run or wait");
    if (!now && hr_registry_is_full(engine))
        return hr_error_set(error, HERMES_EAGAIN, 0,
                            "all kernels are pinned or busy, and there may be %lld",
                            (long long)engine->options.max_session_kernels);
    if (ret)
        describe(kernel, ret);
    if (flags & HERMES_UNDO_LOOK)
        return 0;
    if (now && now != kernel)
        hr_kernel_kill(now, HERMES_PREVIOUS_UNDONE);
    if (!comes_whole(kernel)) {
        hr_checkpoint_resume(kernel);
    } else {
        hr_process_signal(&kernel->process, SIGCONT);
        hr_undo_came_back(kernel);
    }
    return 0;
}

int hermes_undo(struct hermes_engine *engine, const char *session, const char *child_id,
                unsigned flags, struct hermes_undone *ret, struct hermes_error *error)
{
    int status;

    if (!session || (ret && ret->size < sizeof *ret))
        return hr_error_set(error, HERMES_EINVAL, 0,
                            "no session, or a struct without its size; use the _INIT macros");
    hr_engine_lock(engine);
    status = undo(engine, hr_registry_find_owner(engine, session, child_id), flags, ret, error);
    hr_engine_unlock(engine);
    return status;
}
