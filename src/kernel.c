/* SPDX-License-Identifier: MIT */
/*
 * One kernel: its states, and what its frames mean. Knows nothing of other kernels; turns what
 * happens into endings of cells. kernel-end.c has its end.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>

#include "alloc.h"
#include "authority.h"
#include "kernel-private.h"
#include "mime.h"
#include "requests.h"
#include "staging.h"
#include "tools.h"

enum { HELD_READS = 16 };

/* ---- states ----------------------------------------------------------------------------- */

static const char *const state_names[] = {
#define X(name, text) text,
    HERMES_KERNEL_STATE_MAP(X)
#undef X
};

/* Which state may follow which: bit n of row m. */
#define TO(state) (1u << HERMES_KERNEL_##state)
static const unsigned transitions[] = {
    [HERMES_KERNEL_STARTING] = TO(IDLE) | TO(BUSY) | TO(STOPPING) | TO(DEAD),
    [HERMES_KERNEL_IDLE] = TO(BUSY) | TO(STOPPING) | TO(DEAD) | TO(PARKED) | TO(STARTING),
    [HERMES_KERNEL_BUSY] = TO(IDLE) | TO(INTERRUPTING) | TO(STOPPING) | TO(DEAD),
    [HERMES_KERNEL_INTERRUPTING] = TO(IDLE) | TO(STOPPING) | TO(DEAD),
    [HERMES_KERNEL_STOPPING] = TO(DEAD) | TO(PARKED),
    [HERMES_KERNEL_DEAD] = 0,
    [HERMES_KERNEL_PARKED] = TO(IDLE) | TO(STARTING) | TO(STOPPING) | TO(DEAD),
};
#undef TO
_Static_assert(HR_ARRAY_LENGTH(state_names) == HR_ARRAY_LENGTH(transitions),
               "a state without transitions");

const char *hr_kernel_state_name(enum hermes_kernel_state state)
{
    return state_names[state];
}

void hr_kernel_set_state(struct hr_kernel *kernel, enum hermes_kernel_state state)
{
    if (kernel->state == state)
        return;
    if (!(transitions[kernel->state] & 1u << state))
        abort(); /* a fault of this file; no input leads here */
    if (kernel->spare && kernel->state == HERMES_KERNEL_STARTING)
        hr_spare_ends(kernel);
    kernel->state = state;
    hr_event_kernel(kernel);
}

bool hr_kernel_is_ending(const struct hr_kernel *kernel)
{
    return kernel->state == HERMES_KERNEL_STOPPING || kernel->state == HERMES_KERNEL_DEAD;
}

int64_t hr_after_ms(int64_t ms)
{
    return hr_later_ns(hr_now_ns(), ms);
}

/* ---- cells: start and settle ------------------------------------------------------------ */

static void deadline_passed(struct hr_timer *timer)
{
    struct hr_kernel *kernel = HR_CONTAINER(timer, struct hr_kernel, deadline);
    const struct hr_cell *cell = kernel->current;

    /* the answer of one that was in time may stand behind displays that nobody has read */
    for (int i = 0; kernel->held && i < HELD_READS && hr_kernel_read_control(kernel); i++)
        continue;
    if (kernel->current == cell)
        hr_kernel_kill(kernel, HERMES_PREVIOUS_TIMEOUT);
}

static void install_authority(struct hr_kernel *kernel, struct hr_cell *cell)
{
    if (!cell->authority)
        return;
    hr_authority_bind(cell->authority, cell->spec->owner->name, cell->id, kernel->id);
    hermes_authority_unref(kernel->authority);
    kernel->authority = cell->authority;
    hermes_authority_ref(kernel->authority);
}

/* The runner has it (READY has come): the clock starts. */
static void cell_started(struct hr_kernel *kernel)
{
    struct hr_cell *cell = kernel->current;

    cell->state = HR_CELL_RUNNING;
    install_authority(kernel, cell);
    cell->started_ns = hr_now_ns();
    if (cell->authority)
        cell->started_boot_ns = hr_boot_ns();
    hr_loop_prefer(kernel->engine->loop, &kernel->control);
    kernel->execution_count++;
    if (cell->timeout_ms)
        hr_timer_start(kernel->engine->loop, &kernel->deadline,
                       hr_later_ns(cell->started_ns, cell->timeout_ms), deadline_passed);
    hr_kernel_set_state(kernel, HERMES_KERNEL_BUSY);
    hr_kernel_end_holds(kernel);
    if (kernel->engine->paused)
        hr_kernel_update_pause(kernel);
    if (cell->events) {
        struct hr_event *event = hr_event_new(HERMES_EVENT_STARTED, NULL, 0);

        if (event) {
            event->public.cell = cell->id;
            event->public.kernel = kernel->id;
            event->public.execution_count = kernel->execution_count;
        }
        hr_event_push(kernel->engine, event);
    }
    if (cell->interrupt_asked) /* asked while the kernel was starting */
        hr_kernel_interrupt(kernel, kernel->engine->options.interrupt_grace_ms);
}

/*
 * Ids come from the system's random numbers, a block at a time: a cell that has seen its own cannot
 * tell the next.
 */
static uint64_t random_id(struct hermes_engine *engine)
{
    if (!engine->random_left) {
        size_t size = sizeof engine->random;

        if (getrandom(engine->random, size, GRND_NONBLOCK) != (ssize_t)size)
            return (uint64_t)hr_now_ns() | 1;
        engine->random_left = HR_ARRAY_LENGTH(engine->random);
    }
    return engine->random[--engine->random_left] | 1; /* never 0 */
}

void hr_kernel_advance(struct hr_kernel *kernel)
{
    struct hr_cell *cell;

    if (kernel->tty && (kernel->tty->pumping || kernel->tty->in_frames)) {
        kernel->tty->advance_later = true; /* what was read before belongs to no cell */
        return;
    }
    if (kernel->current || hr_kernel_is_ending(kernel) || kernel->resuming ||
        kernel->process.signals_sent != kernel->process.signals_asked)
        return; /* a signal on its way must not hit the next cell */
    if (!kernel->queued) {
        if (kernel->retired && kernel->ready)
            hr_kernel_stop(kernel, kernel->cause);
        return;
    }
    cell = HR_CONTAINER(kernel->queue.next, struct hr_cell, link);
    hr_list_remove(&cell->link);
    kernel->queued--;
    kernel->current = cell;
    cell->wire_id = random_id(kernel->engine);
    if (kernel->ready) {
        if (kernel->tty && kernel->execution_count)
            hr_tty_forget_input(kernel); /* was for an earlier one */
        hr_kernel_drain(kernel);         /* what is there by now belongs to no cell */
        cell_started(kernel);            /* before the send: what comes from now on is its output */
    }
    if ((!kernel->init_sent && !hr_kernel_send_init(kernel, cell)) ||
        (kernel->bind_due && !hr_kernel_send_bind(kernel, cell)) || !hr_checkpoint_ask(kernel) ||
        !hr_kernel_send_execute(kernel, cell))
        hr_kernel_fault(kernel, "out of memory while a cell was sent");
}

void hr_kernel_answered(struct hr_kernel *kernel)
{
    hr_timer_stop(kernel->engine->loop, &kernel->deadline);
    hr_timer_stop(kernel->engine->loop, &kernel->escalate);
    hr_timer_stop(kernel->engine->loop, &kernel->again);
}

void hr_kernel_settle_current(struct hr_kernel *kernel, const struct hr_ending *ending)
{
    struct hr_cell *cell = kernel->current;

    hr_kernel_answered(kernel);
    if (kernel->tty)
        hr_tty_settle(kernel);
    hr_cell_settle(cell, ending);
    kernel->current = NULL;
    kernel->last_used_ns = hr_now_ns();
    if (kernel->engine->paused)
        hr_kernel_update_pause(kernel);
}

static void settle_reply(struct hr_kernel *kernel, const struct hr_frame *frame)
{
    unsigned status = frame->flags & 0xff;
    char notice[320];
    struct hr_cell *cell = kernel->current;
    struct hr_ending ending = {
        .exit_code = (int)hr_get_u32(frame->body),
        .traceback = frame->body + 8,
        .traceback_size = hr_get_u32(frame->body + 4),
    };

    ending.outcome = status == HR_REPLY_OK || (status == HR_REPLY_EXIT && !ending.exit_code)
                         ? HERMES_SUCCESS
                         : HERMES_ERROR;
    ending.ended = status == HR_REPLY_EXIT;
    if (status == HR_REPLY_INTERRUPTED && cell->interrupt_asked) {
        ending.outcome = HERMES_INTERRUPTED;
        ending.exit_code = -1;
        snprintf(notice, sizeof notice,
                 cell->reason ? "[execution interrupted — %.250s]" : "[execution interrupted]",
                 cell->reason);
        ending.notice = notice;
    }
    if (status == HR_REPLY_EXIT) { /* the text stands on stderr already, as Python puts it there */
        if (ending.traceback_size)
            snprintf(notice, sizeof notice, "%.*s", (int)ending.traceback_size, ending.traceback);
        else
            snprintf(notice, sizeof notice,
                     "The cell ended the session kernel with exit status %d.", ending.exit_code);
        ending.message = notice;
        ending.traceback_size = 0;
    }
    if (!kernel->tty) /* else it has come, up to its mark */
        hr_kernel_drain(kernel);
    hr_kernel_settle_current(kernel, &ending);
    if (status == HR_REPLY_EXIT) {
        hr_kernel_leave_by_itself(kernel);
        return;
    }
    hr_kernel_set_state(kernel, HERMES_KERNEL_IDLE);
    hr_kernel_advance(kernel);
    if (!kernel->current && !hr_kernel_is_ending(kernel)) {
        hr_registry_arm_idle(kernel->engine);
        hr_registry_trim(kernel->engine);
        hr_spare_arm(kernel->engine);
        if (kernel->checkpoint_count)
            hr_checkpoint_trim(kernel);
    }
}

/* ---- frames: what they mean ------------------------------------------------------------- */

void hr_kernel_fault(struct hr_kernel *kernel, const char *fault)
{
    if (hr_kernel_is_ending(kernel))
        return;
    hr_buf_clear(&kernel->crash);
    hr_buf_printf(&kernel->crash, "protocol error: %s", fault);
    hr_kernel_kill(kernel, HERMES_PREVIOUS_DIED);
}

static pid_t pid_of(const char *digits, size_t size)
{
    char text[16] = "";

    if (size < sizeof text)
        memcpy(text, digits, size);
    return (pid_t)strtol(text, NULL, 10);
}

static void take_ready(struct hr_kernel *kernel, const struct hr_frame *frame)
{
    struct hr_fields fields;
    const char *field[7], *files;
    size_t size[7];
    struct hr_compiled compiled;

    if (kernel->ready || !hr_fields_open(&fields, frame->body, frame->body_size)) {
        hr_kernel_fault(kernel, "an unexpected READY");
        return;
    }
    for (size_t i = 0; i < HR_ARRAY_LENGTH(field); i++) {
        if (!hr_fields_next(&fields, &field[i], &size[i])) {
            hr_kernel_fault(kernel, "a READY with too few fields");
            return;
        }
    }
    compiled = (struct hr_compiled){field[3], field[4], field[6], size[3], size[4], size[6]};
    hr_runner_code_keep(kernel->engine->runner, kernel->spec->python, &compiled);
    if (!kernel->process.python &&
        !kernel->process.isolated) /* the guard's word may be on its way */
        kernel->process.python = pid_of(field[5], size[5]);
    hr_timer_stop(kernel->engine->loop, &kernel->stop);
    if (!kernel->current &&
        !kernel->tty) /* else it may be the first cell's: that one runs already */
        hr_kernel_drain(kernel);
    kernel->ready = true;
    hr_buf_done(&kernel->start_text);
    if (kernel->current) {
        cell_started(kernel);
        return;
    }
    hr_spare_arm(kernel->engine);
    if (kernel->spare) {
        files = hr_fields_next(&fields, &field[0], &size[0]) ? field[0] : NULL;
        hr_spare_ready(kernel, files, files ? size[0] : 0);
        return;
    }
    hr_kernel_set_state(kernel, HERMES_KERNEL_IDLE);
    hr_kernel_advance(kernel);
}

static void take_display(struct hr_kernel *kernel, const struct hr_frame *frame)
{
    struct hr_cell *cell = kernel->current;
    struct hr_fields fields;
    const char *type, *data;
    size_t type_size, data_size;
    struct hr_buf bundle;
    struct hr_event *event;

    if (!hr_fields_open(&fields, frame->body, frame->body_size)) {
        hr_kernel_fault(kernel, "a broken DISPLAY");
        return;
    }
    if (!kernel->tty)
        hr_kernel_drain(kernel);
    hr_buf_init(&bundle, 0);
    hr_buf_add_text(&bundle, "{");
    while (hr_fields_next(&fields, &type, &type_size) &&
           hr_fields_next(&fields, &data, &data_size)) {
        if (bundle.size > 1)
            hr_buf_add_text(&bundle, ",");
        hr_json_add_string(&bundle, type, type_size);
        hr_buf_add_text(&bundle, ":");
        hr_mime_add_value(&bundle, type, type_size, data, data_size);
    }
    hr_buf_add_text(&bundle, "}");
    if (cell->events && !bundle.failed) {
        event = hr_event_new(HERMES_EVENT_DISPLAY, bundle.data, bundle.size);
        if (event) {
            event->public.cell = cell->id;
            event->public.kernel = kernel->id;
            event->public.is_result = frame->flags & HR_DISPLAY_RESULT;
        }
        hr_event_push(kernel->engine, event);
        kernel->held = kernel->engine->paused;
        hr_kernel_watch_control(kernel);
    }
    hr_buf_done(&bundle);
}

void hr_kernel_take_frame(struct hr_kernel *kernel, const struct hr_frame *frame)
{
    if (frame->type == HR_FRAME_READY) {
        take_ready(kernel, frame);
        return;
    }
    if (frame->type == HR_FRAME_KEEP) {
        hr_checkpoint_take(kernel, frame);
        return;
    }
    if (!kernel->current || kernel->current->state != HR_CELL_RUNNING ||
        frame->id != kernel->current->wire_id) {
        hr_kernel_fault(kernel, "an answer to no question");
        return;
    }
    if (frame->type == HR_FRAME_DISPLAY)
        take_display(kernel, frame);
    else if (frame->type != HR_FRAME_REPLY || frame->body_size < 8 ||
             hr_get_u32(frame->body + 4) != frame->body_size - 8 ||
             (frame->flags & 0xff) > HR_REPLY_INTERRUPTED)
        hr_kernel_fault(kernel, "a broken REPLY");
    else
        settle_reply(kernel, frame);
}

void hr_kernel_process_acknowledged(struct hr_process *process)
{
    hr_kernel_advance(HR_CONTAINER(process, struct hr_kernel, process));
}

void hr_kernel_settle_queue(struct hr_kernel *kernel, const char *why)
{
    while (kernel->queued) {
        struct hr_cell *cell = HR_CONTAINER(kernel->queue.next, struct hr_cell, link);

        hr_list_remove(&cell->link);
        kernel->queued--;
        hr_cell_not_run(cell, why);
    }
}

void hr_kernel_enqueue(struct hr_kernel *kernel, struct hr_cell *cell)
{
    cell->kernel = kernel;
    hr_list_append(&kernel->queue, &cell->link);
    kernel->queued++;
    kernel->last_used_ns = cell->submitted_ns;
    hr_kernel_advance(kernel);
}

bool hr_kernel_begin(struct hr_kernel *kernel)
{
    return kernel->init_sent || hr_kernel_send_init(kernel, NULL);
}
