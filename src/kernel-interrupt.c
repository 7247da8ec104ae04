/* SPDX-License-Identifier: MIT */
/*
 * The interrupt of a running cell: who gets the signal, how often, and the kill of a cell that does
 * not obey.
 */
#include "config.h"

#include <signal.h>

#include "kernel-private.h"

enum { AGAIN_FIRST_NS = 500000, AGAIN_LAST_NS = 50000000 };

static void interrupt_not_obeyed(struct hr_timer *timer)
{
    hr_kernel_kill(HR_CONTAINER(timer, struct hr_kernel, escalate), HERMES_PREVIOUS_INTERRUPTED);
}

/*
 * Half of the time is over: once more before the kill. Python can note a signal just before it
 * begins to sleep, and then sleeps on.
 */
static void interrupt_last_call(struct hr_timer *timer)
{
    struct hr_kernel *kernel = HR_CONTAINER(timer, struct hr_kernel, escalate);

    if (kernel->tty)
        hr_tty_interrupt(kernel);
    hr_process_signal(&kernel->process, SIGINT);
    hr_timer_start(kernel->engine->loop, timer, hr_after_ms(kernel->grace_left_ms),
                   interrupt_not_obeyed);
}

static void interrupt_again(struct hr_timer *timer);

/*
 * The runner ignores SIGINT until it is about to run the cell's code: a signal that is sooner is
 * lost, and so is sent again. A process that waits in system() ignores it as well, while the child
 * it waits for does not. True: only the foreground of its terminal got it.
 */
static bool send_interrupt(struct hr_kernel *kernel)
{
    bool deaf = hr_process_ignores(&kernel->process, SIGINT);

    if (kernel->tty && hr_tty_interrupt(kernel))
        return true; /* as at a terminal: what runs in the foreground, and not who waits for it */
    hr_process_signal(&kernel->process, SIGINT);
    if (deaf)
        hr_timer_start(kernel->engine->loop, &kernel->again, hr_now_ns() + kernel->again_ns,
                       interrupt_again);
    return false;
}

static void interrupt_again(struct hr_timer *timer)
{
    struct hr_kernel *kernel = HR_CONTAINER(timer, struct hr_kernel, again);

    kernel->again_ns = kernel->again_ns * 2 < AGAIN_LAST_NS ? kernel->again_ns * 2 : AGAIN_LAST_NS;
    if (kernel->state == HERMES_KERNEL_INTERRUPTING)
        send_interrupt(kernel);
}

void hr_kernel_interrupt(struct hr_kernel *kernel, int64_t kill_after_ms)
{
    bool once_more = kernel->state == HERMES_KERNEL_INTERRUPTING;

    if (kernel->tty && kernel->tty->answered)
        return; /* it has ended */
    kernel->current->interrupt_asked = true;
    if (kernel->current->state != HR_CELL_RUNNING || hr_kernel_is_ending(kernel))
        return;
    hr_kernel_set_state(kernel, HERMES_KERNEL_INTERRUPTING);
    kernel->again_ns = AGAIN_FIRST_NS;
    if (send_interrupt(kernel) && once_more)
        hr_process_signal(&kernel->process, SIGINT); /* whoever waits for the foreground */
    if (kill_after_ms < 0)
        return;
    kernel->grace_left_ms = kill_after_ms / 2;
    hr_timer_start(kernel->engine->loop, &kernel->escalate, hr_after_ms(kernel->grace_left_ms),
                   interrupt_last_call);
}
