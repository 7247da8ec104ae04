/* SPDX-License-Identifier: MIT */
/*
 * The end of one kernel, by itself or by us, and of the cells that meet it. Knows nothing of other
 * kernels but asks registry.c to take it off the list.
 */
#include "config.h"

#include <stdio.h>
#include <sys/wait.h>

#include "kernel-private.h"
#include "requests.h"
#include "staging.h"
#include "tools.h"

enum { GONE_LIMIT_MS = 3000 };

/* The running cell's kernel died, or was killed for it. */
static void settle_death(struct hr_kernel *kernel)
{
    struct hr_cell *cell = kernel->current;
    struct hr_ending ending = {.exit_code = -1, .ended = true, .state_lost = true};
    char text[480], notice[600], how[160];
    const char *kept = "";

    ending.limit = hr_kernel_describe_death(kernel, how, sizeof how);
    ending.undo =
        hr_checkpoint_stays(kernel, kernel->cause) && hr_checkpoint_is_of_current(kernel);
    if (ending.undo)
        kept = " The state before the cell is kept; undo brings it back.";
    switch (kernel->cause) {
    case HERMES_PREVIOUS_TIMEOUT:
        ending.outcome = HERMES_TIMEOUT;
        snprintf(text, sizeof text,
                 "Cell timed out after %gs; the session kernel was killed and its state was lost. "
                 "The next cell starts a fresh kernel.%s",
                 (double)cell->timeout_ms / 1000, kept);
        snprintf(notice, sizeof notice, "⏰ %s", text);
        ending.notice = notice;
        break;
    case HERMES_PREVIOUS_DIED:
    case HERMES_PREVIOUS_EXITED:
        ending.outcome = HERMES_ERROR;
        ending.exit_code = hr_kernel_death_code(kernel);
        ending.term_signal = kernel->exit_known && WIFSIGNALED(kernel->exit_status)
                                 ? WTERMSIG(kernel->exit_status)
                                 : 0;
        snprintf(text, sizeof text,
                 "The session kernel died while running the cell (%s); its state was lost.%s", how,
                 kept);
        hr_kernel_trim_crash(&kernel->crash);
        ending.traceback = kernel->crash.data;
        ending.traceback_size = kernel->crash.size;
        break;
    default:
        ending.outcome = HERMES_INTERRUPTED;
        snprintf(text, sizeof text,
                 "Interrupted; the session kernel was killed and its state was lost.%s", kept);
        snprintf(notice, sizeof notice,
                 cell->reason ? "[execution interrupted — %.250s]" : "[execution interrupted]",
                 cell->reason);
        ending.notice = notice;
        break;
    }
    ending.message = text;
    hr_kernel_settle_current(kernel, &ending);
}

bool hr_kernel_cannot_start(const struct hr_kernel *kernel)
{
    return !kernel->ready &&
           (kernel->cause == HERMES_PREVIOUS_TIMEOUT || kernel->cause == HERMES_PREVIOUS_DIED);
}

static void settle_unstarted(struct hr_kernel *kernel)
{
    struct hr_cell *cell = kernel->current;
    struct hr_buf why;

    kernel->current = NULL;
    if (!hr_kernel_cannot_start(kernel)) {
        hr_cell_not_run(cell, "its kernel was ended while it started");
        return;
    }
    hr_runner_code_forget(kernel->engine->runner, kernel->spec->python); /* it may be why */
    hr_buf_init(&why, 0);
    hr_kernel_describe_start_failure(kernel, &why);
    hr_cell_start_failed(cell, why.failed ? "out of memory" : why.data);
    while (kernel->queued) { /* they would fail the same way */
        cell = HR_CONTAINER(kernel->queue.next, struct hr_cell, link);
        hr_list_remove(&cell->link);
        kernel->queued--;
        hr_cell_start_failed(cell, why.failed ? "out of memory" : why.data);
    }
    hr_buf_done(&why);
}

void hr_kernel_settle_at_end(struct hr_kernel *kernel)
{
    while (hr_kernel_read_control(kernel))
        continue;
    hr_kernel_drain(kernel);
    if (kernel->current && kernel->ready)
        settle_death(kernel);
    else if (kernel->current)
        settle_unstarted(kernel);
    hr_registry_requeue(kernel);
}

/* All that is left of it, or all but its checkpoints. */
static void end_processes(struct hr_kernel *kernel)
{
    if (hr_checkpoint_stays(kernel, kernel->cause))
        hr_checkpoint_prune(kernel);
    else
        hr_process_kill(&kernel->process, (int)kernel->engine->options.kill_grace_ms);
}

void hr_kernel_process_exited(struct hr_process *process, int status, bool known,
                              bool out_of_memory)
{
    struct hr_kernel *kernel = HR_CONTAINER(process, struct hr_kernel, process);

    if (kernel->resuming && kernel->pruning)
        return; /* it makes place for its checkpoint */
    kernel->exit_status = status;
    kernel->exit_known = known;
    kernel->out_of_memory = out_of_memory;
    if (kernel->tty)
        hr_tty_finish(kernel);
    while (!hr_kernel_is_ending(kernel) && hr_kernel_read_control(kernel))
        continue; /* a last reply may stand in the socket */
    hr_requests_restart(kernel);
    if (hr_kernel_is_ending(kernel)) {
        if (kernel->cause == HERMES_PREVIOUS_EXITED || kernel->cause == HERMES_PREVIOUS_DIED)
            hr_kernel_settle_at_end(kernel);
        if (process->holds && !process->kill_asked)
            end_processes(kernel);
        return; /* killed: settles when all is gone */
    }
    hr_registry_unlist(kernel, HERMES_PREVIOUS_DIED, !kernel->current);
    kernel->cause = HERMES_PREVIOUS_DIED;
    hr_kernel_set_state(kernel, HERMES_KERNEL_STOPPING);
    hr_kernel_settle_at_end(kernel);
    end_processes(kernel);
}

void hr_kernel_process_gone(struct hr_process *process)
{
    struct hr_kernel *kernel = HR_CONTAINER(process, struct hr_kernel, process);

    hr_kernel_settle_at_end(kernel);
    hr_requests_close(kernel);
    hr_tools_close(kernel);
    hr_kernel_close_channels(kernel);
    hr_timer_stop(kernel->engine->loop, &kernel->deadline);
    hr_timer_stop(kernel->engine->loop, &kernel->escalate);
    hr_timer_stop(kernel->engine->loop, &kernel->stop);
    hr_timer_stop(kernel->engine->loop, &kernel->again);
    if (kernel->staging)
        hr_staging_remove(kernel->staging);
    hr_kernel_set_state(kernel, HERMES_KERNEL_DEAD);
    kernel->engine->trash = true;
    hr_spare_arm(kernel->engine);
}

/*
 * Something does not die (a process in the kernel's uninterruptible sleep): the cell is not held up
 * by it.
 */
static void gone_took_too_long(struct hr_timer *timer)
{
    hr_kernel_settle_at_end(HR_CONTAINER(timer, struct hr_kernel, stop));
}

void hr_kernel_kill(struct hr_kernel *kernel, enum hermes_previous cause)
{
    struct hermes_engine *engine = kernel->engine;

    if (kernel->state == HERMES_KERNEL_DEAD)
        return;
    if (kernel->state != HERMES_KERNEL_STOPPING) {
        hr_registry_unlist(kernel, cause, cause == HERMES_PREVIOUS_RESET);
        kernel->cause = cause;
        hr_kernel_set_state(kernel, HERMES_KERNEL_STOPPING);
    }
    hr_timer_stop(engine->loop, &kernel->deadline);
    hr_timer_stop(engine->loop, &kernel->escalate);
    hr_timer_start(engine->loop, &kernel->stop,
                   hr_after_ms(engine->options.kill_grace_ms + GONE_LIMIT_MS), gone_took_too_long);
    end_processes(kernel);
}

static void shutdown_took_too_long(struct hr_timer *timer)
{
    struct hr_kernel *kernel = HR_CONTAINER(timer, struct hr_kernel, stop);

    hr_kernel_kill(kernel, kernel->cause);
}

/* The interpreter has its time to exit. It runs no more cells: those that wait go to the next. */
static void leave(struct hr_kernel *kernel)
{
    struct hermes_engine *engine = kernel->engine;

    hr_kernel_set_state(kernel, HERMES_KERNEL_STOPPING);
    hr_kernel_send_quit(kernel); /* one that exits by itself does not read it */
    hr_timer_start(engine->loop, &kernel->stop, hr_after_ms(engine->options.shutdown_grace_ms),
                   shutdown_took_too_long);
    hr_registry_requeue(kernel);
}

void hr_kernel_leave_by_itself(struct hr_kernel *kernel)
{
    hr_registry_unlist(kernel, HERMES_PREVIOUS_EXITED, false);
    kernel->cause = HERMES_PREVIOUS_EXITED;
    leave(kernel);
}

void hr_kernel_stop(struct hr_kernel *kernel, enum hermes_previous cause)
{
    if (hr_kernel_is_ending(kernel))
        return;
    if (kernel->listed)
        hr_registry_unlist(kernel, cause, cause == HERMES_PREVIOUS_RESET);
    kernel->cause = cause;
    if (HR_KERNEL_ATTACHED(kernel) || !kernel->ready) {
        kernel->retired = true;
        if (!HR_KERNEL_ATTACHED(kernel)) /* still starting, for nobody */
            hr_kernel_kill(kernel, cause);
        return;
    }
    if (cause != HERMES_PREVIOUS_RESET || !hr_undo_park(kernel))
        leave(kernel);
}
