/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tty.h"

#include <unistd.h>

#include "kernel-private.h"
#include "list.h"

enum {
    READ_AT_ONCE = 4 * HR_SCRATCH_SIZE, /* a writer that goes on without end has no mark */
    STOPPED_MS = 5,                     /* without a mark: the terminal may be stopped */
    PATIENCE_MS = 50,                   /* without a byte */
    GIVE_UP_MS = 1000,                  /* with ever more bytes */
};

static void stop_waiting(struct hr_kernel *kernel)
{
    struct hr_tty *tty = kernel->tty;

    hr_timer_stop(kernel->engine->loop, &tty->patience);
    if (!tty->waiting)
        return;
    tty->waiting = tty->answered = tty->released = tty->gave_up = false;
    hr_kernel_watch_control(kernel);
    hr_kernel_update_pause(kernel);
}

/* While frames are being taken: theirs comes before what stands behind its mark. */
static bool must_stop(const struct hr_tty *tty)
{
    return tty->in_frames && tty->marks > tty->frames;
}

/* What is in the terminal now, up to a bound. */
static void read_some(struct hr_kernel *kernel)
{
    uint64_t before = kernel->streams[0].bytes;

    while (kernel->streams[0].bytes - before < READ_AT_ONCE && !kernel->tty->pending.size &&
           !must_stop(kernel->tty) && hr_kernel_read_stream(&kernel->streams[0], HR_SCRATCH_SIZE))
        continue;
}

static void patience_over(struct hr_timer *timer)
{
    struct hr_tty *tty = HR_CONTAINER(timer, struct hr_tty, patience);
    struct hr_kernel *kernel = tty->kernel;
    uint64_t frames;
    int64_t now;

    if (!tty->released && tty->answered) {
        tty->released = true;
        hr_tty_start_output(kernel);
        hr_timer_start(kernel->engine->loop, timer, hr_after_ms(PATIENCE_MS - STOPPED_MS),
                       patience_over);
        return;
    }
    frames = tty->frames;
    read_some(kernel);
    if (tty->frames != frames)
        return; /* it has just come */
    now = hr_now_ns();
    if (kernel->streams[0].bytes != tty->bytes_seen && now < tty->give_up_ns) {
        tty->bytes_seen = kernel->streams[0].bytes; /* what is before it is still coming */
        hr_timer_start(kernel->engine->loop, timer, hr_after_ms(PATIENCE_MS), patience_over);
        return;
    }
    tty->gave_up = true;
    hr_kernel_take_waiting(kernel);
}

bool hr_tty_frame_is_due(struct hr_kernel *kernel, bool reply)
{
    struct hr_tty *tty = kernel->tty;
    uint64_t number = tty->frames + 1;

    if (tty->marks < number && !tty->gave_up && !tty->at_end) {
        hr_tty_pump(kernel);
        if (tty->marks < number && !tty->pumping)
            read_some(kernel);
    }
    if (tty->marks >= number || tty->gave_up || tty->at_end) {
        tty->frames = number;
        stop_waiting(kernel);
        return true;
    }
    if (!tty->waiting) {
        tty->waiting = true;
        tty->answered = reply;
        tty->bytes_seen = kernel->streams[0].bytes;
        tty->give_up_ns = hr_after_ms(GIVE_UP_MS);
        hr_timer_start(kernel->engine->loop, &tty->patience,
                       hr_after_ms(reply ? STOPPED_MS : PATIENCE_MS), patience_over);
        hr_kernel_watch_control(kernel);
        hr_kernel_update_pause(kernel);
        if (reply)
            hr_kernel_answered(kernel);
    }
    return false;
}

static void take_mark(struct hr_kernel *kernel, uint64_t number)
{
    struct hr_tty *tty = kernel->tty;

    if (number <= tty->marks || number > tty->frames + 2) /* late, or not the runner's */
        return;
    tty->marks = number;
    if (number > tty->frames && !tty->in_frames)
        hr_kernel_take_waiting(kernel);
}

void hr_tty_pump(struct hr_kernel *kernel)
{
    struct hr_tty *tty = kernel->tty;
    const char *data = tty->pending.data, *text;
    size_t size = tty->pending.size, text_size;
    enum hr_marker_found found;
    uint64_t number;

    if (tty->pumping)
        return;
    tty->pumping = true;
    while (!must_stop(tty) &&
           (found = hr_marker_take(&tty->marker, &data, &size, &text, &text_size, &number))) {
        if (found == HR_MARKER_NUMBER) {
            take_mark(kernel, number);
            continue;
        }
        if (tty->marks > tty->frames) /* the frame went before this text, and counts first */
            hr_kernel_take_waiting(kernel);
        hr_kernel_route_output(&kernel->streams[0], text, text_size);
    }
    hr_buf_consume(&tty->pending, tty->pending.size - size);
    tty->pumping = false;
    if (tty->advance_later && !tty->in_frames) {
        tty->advance_later = false;
        hr_kernel_advance(kernel);
    }
}

void hr_tty_take(struct hr_kernel *kernel, const char *data, size_t size)
{
    if (!hr_buf_add(&kernel->tty->pending, data, size)) {
        hr_kernel_fault(kernel, "out of memory while output was read");
        return;
    }
    hr_tty_pump(kernel);
}

void hr_tty_restart(struct hr_kernel *kernel, uint64_t frames)
{
    struct hr_tty *tty = kernel->tty;

    stop_waiting(kernel);
    tty->at_end = tty->advance_later = false;
    tty->frames = tty->marks = frames;
}

void hr_tty_finish(struct hr_kernel *kernel)
{
    struct hr_tty *tty = kernel->tty;
    const char *text;
    size_t size;

    read_some(kernel);
    tty->at_end = true;
    hr_kernel_take_waiting(kernel);
    hr_tty_pump(kernel);
    size = hr_marker_finish(&tty->marker, &text);
    if (size)
        hr_kernel_route_output(&kernel->streams[0], text, size);
}
