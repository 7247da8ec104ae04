/* SPDX-License-Identifier: MIT */
/*
 * Checkpoints: the idle runner forks before a cell, and the child waits (runner/
 * hermes_kernel_checkpoint.py). It has all descriptors of the kernel and touches none while that
 * lives. When the kernel has ended, by hermes_undo() or by itself, the guard has killed all but the
 * checkpoints; one of them, woken, empties the sockets of what was for the dead one, as we do on
 * our side, and is the kernel from then on. Knows kernels, not cells.
 */
#include "config.h"

#include <string.h>
#include <sys/socket.h>

#include "alloc.h"
#include "kernel-private.h"
#include "requests.h"
#include "text.h"
#include "tools.h"

/* ---- keeping ---------------------------------------------------------------------------- */

static const char *why_none(const struct hr_kernel *kernel)
{
#ifdef HERMES_NO_GUARD
    (void)kernel;
    return "this library was built without the guard, which looks after them";
#else
    return kernel->process.isolated ? "an isolated kernel has none" : NULL;
#endif
}

static void set_reason(struct hr_kernel *kernel, const char *text, size_t size)
{
    hr_free(kernel->no_checkpoint);
    kernel->no_checkpoint = size ? hr_memdup(text, size) : NULL;
}

static uint32_t memory_limit(const struct hr_kernel *kernel)
{
    return (uint32_t)kernel->engine->options.undo_memory;
}

/* At most so many, of so much memory. */
static bool send_keep(struct hr_kernel *kernel, uint16_t flags, uint32_t count, uint32_t mib)
{
    struct hr_buf body;
    bool done;

    hr_buf_init(&body, 0);
    done = hr_buf_add_u32(&body, count) && hr_buf_add_u32(&body, mib) &&
           hr_kernel_send_frame(kernel, HR_FRAME_KEEP, flags, 0, body.data, body.size, NULL, 0);
    hr_buf_done(&body);
    return done;
}

bool hr_checkpoint_ask(struct hr_kernel *kernel)
{
    int64_t wanted = kernel->engine->options.checkpoints;
    const char *none;

    if (!wanted && !kernel->checkpoint_count)
        return true;
    none = why_none(kernel);
    set_reason(kernel, none, none ? strlen(none) : 0);
    if (none)
        return true;
    hr_process_hold(&kernel->process);
    return send_keep(kernel, wanted ? HR_KEEP_NEW : 0, (uint32_t)wanted, memory_limit(kernel));
}

void hr_checkpoint_trim(struct hr_kernel *kernel)
{
    if (!send_keep(kernel, 0, (uint32_t)kernel->engine->options.checkpoints, memory_limit(kernel)))
        hr_kernel_fault(kernel, "out of memory while checkpoints were looked at");
}

static const struct hr_checkpoint *find(const struct hr_kernel *kernel, pid_t pid)
{
    for (size_t i = 0; i < kernel->checkpoint_count; i++)
        if (kernel->checkpoints[i].pid == pid)
            return &kernel->checkpoints[i];
    return NULL;
}

/* What the runner says that it keeps. One that is new is of the cell that begins. */
static void take_list(struct hr_kernel *kernel, const char *pids, uint32_t count)
{
    struct hr_checkpoint list[HR_CHECKPOINTS_MAX];

    for (uint32_t i = 0; i < count; i++) {
        pid_t pid = (pid_t)hr_get_u32(pids + (size_t)4 * i);
        const struct hr_checkpoint *known = find(kernel, pid);

        list[i].pid = pid;
        list[i].execution_count =
            known ? known->execution_count : kernel->execution_count - (kernel->current ? 1 : 0);
    }
    memcpy(kernel->checkpoints, list, count * sizeof *list);
    kernel->checkpoint_count = count;
}

/* ---- leaving them behind ---------------------------------------------------------------- */

bool hr_checkpoint_stays(const struct hr_kernel *kernel, enum hermes_previous cause)
{
    const struct hermes_engine *engine = kernel->engine;

    return kernel->checkpoint_count && kernel->ready && !engine->closing &&
           engine->options.undo_kernels && cause != HERMES_PREVIOUS_EVICTED &&
           cause != HERMES_PREVIOUS_IDLE && cause != HERMES_PREVIOUS_UNDONE;
}

bool hr_checkpoint_is_of_current(const struct hr_kernel *kernel)
{
    size_t count = kernel->checkpoint_count;

    return count && kernel->checkpoints[count - 1].execution_count + 1 == kernel->execution_count;
}

void hr_checkpoint_forget(struct hr_kernel *kernel)
{
    kernel->checkpoint_count = 0;
}

void hr_checkpoint_prune(struct hr_kernel *kernel)
{
    pid_t spared[HR_CHECKPOINTS_MAX];

    for (size_t i = 0; i < kernel->checkpoint_count; i++)
        spared[i] = kernel->checkpoints[i].pid;
    kernel->pruning = true;
    hr_process_prune(&kernel->process, spared, kernel->checkpoint_count,
                     (int)kernel->engine->options.kill_grace_ms);
}

static void stop_timers(struct hr_kernel *kernel)
{
    struct hr_loop *loop = kernel->engine->loop;

    hr_timer_stop(loop, &kernel->deadline);
    hr_timer_stop(loop, &kernel->escalate);
    hr_timer_stop(loop, &kernel->stop);
    hr_timer_stop(loop, &kernel->again);
}

/* ---- going back ------------------------------------------------------------------------- */

/* Nothing of what was sent and received is left. */
static void restart_control(struct hr_kernel *kernel)
{
    while (recv(kernel->control.fd, kernel->engine->control_scratch, HR_SCRATCH_SIZE,
                MSG_DONTWAIT) > 0)
        continue;
    hr_buf_done(&kernel->in);
    hr_buf_done(&kernel->out);
    hr_buf_clear(&kernel->crash);
    kernel->out_offset = 0;
    kernel->crashing = kernel->held = false;
    hr_kernel_watch_control(kernel);
}

static void resume(struct hr_kernel *kernel)
{
    const struct hr_checkpoint *checkpoint = &kernel->checkpoints[--kernel->checkpoint_count];

    restart_control(kernel);
    hr_requests_restart(kernel);
    hr_tools_restart(kernel);
    if (kernel->tty)
        hr_tty_settle(kernel);
    kernel->execution_count = checkpoint->execution_count;
    kernel->exit_known = kernel->out_of_memory = kernel->retired = false;
    hr_kernel_limit_start(kernel);
    hr_process_resume(&kernel->process, checkpoint->pid);
}

void hr_checkpoint_resume(struct hr_kernel *kernel)
{
    bool lives = kernel->state == HERMES_KERNEL_IDLE;

    kernel->resuming = true;
    kernel->ready = false;
    kernel->listed = true;
    kernel->cause = HERMES_PREVIOUS_UNDONE;
    hr_kernel_set_state(kernel, HERMES_KERNEL_STARTING);
    if (lives)
        hr_checkpoint_prune(kernel);
    else
        resume(kernel);
}

void hr_checkpoint_pruned(struct hr_process *process)
{
    struct hr_kernel *kernel = HR_CONTAINER(process, struct hr_kernel, process);

    kernel->pruning = false;
    if (kernel->resuming) {
        resume(kernel);
        return;
    }
    hr_kernel_settle_at_end(kernel);
    stop_timers(kernel);
    if (!hr_checkpoint_stays(kernel, kernel->cause)) {
        hr_kernel_kill(kernel, kernel->cause);
        return;
    }
    kernel->process.python = 0;
    kernel->parked_ns = hr_now_ns();
    hr_kernel_set_state(kernel, HERMES_KERNEL_PARKED);
    hr_undo_trim(kernel->engine);
    hr_spare_arm(kernel->engine);
}

static void resumed(struct hr_kernel *kernel, uint64_t frames)
{
    kernel->resuming = false;
    kernel->ready = true;
    stop_timers(kernel);
    hr_buf_done(&kernel->start_text);
    if (kernel->tty)
        hr_tty_restart(kernel, frames);
    hr_undo_came_back(kernel);
    hr_kernel_advance(kernel);
}

/* ---- its word --------------------------------------------------------------------------- */

/* The number of the frame, how many, their pids; then why there is no new one. */
void hr_checkpoint_take(struct hr_kernel *kernel, const struct hr_frame *frame)
{
    const size_t head = 12;
    uint32_t count = frame->body_size >= head ? hr_get_u32(frame->body + 8) : UINT32_MAX;
    bool is_back = frame->flags & HR_KEEP_RESUMED;
    size_t used;

    if (!kernel->process.holds || count > HR_CHECKPOINTS_MAX ||
        frame->body_size < head + (size_t)4 * count ||
        is_back != (kernel->resuming && !kernel->pruning)) {
        if (!kernel->resuming || !kernel->process.holds || count > HR_CHECKPOINTS_MAX)
            hr_kernel_fault(kernel, "a broken KEEP");
        return; /* else it is the last word of one that ends */
    }
    used = head + (size_t)4 * count;
    take_list(kernel, frame->body + head, count);
    if (frame->flags & HR_KEEP_REFUSED)
        set_reason(kernel, frame->body + used, frame->body_size - used);
    if (is_back)
        resumed(kernel, hr_get_u32(frame->body) | (uint64_t)hr_get_u32(frame->body + 4) << 32);
}
