/* SPDX-License-Identifier: MIT */
/*
 * A kernel's descriptors: its output streams, and its control socket both ways. Knows how bytes
 * travel, not what they mean: kernel.c takes the frames, cell.c the output.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "alloc.h"
#include "kernel-private.h"

enum {
    BACKGROUND_LIMIT = 10000,
    START_TEXT_MAX = 4096,
    CRASH_TEXT_MAX = 64 << 10,
    CRASH_GRACE_MS = 2000,
    READ_CHUNK = HR_SCRATCH_SIZE,
    READ_AT_ONCE = 4 * READ_CHUNK,
    SMALL_PIECE = 32 << 10,
    PIPE_ROOM = 16 << 10,    /* a quarter of what it takes */
    TERMINAL_ROOM = 1 << 10, /* the same */
    HOLD_MIN_NS = 1000000,
    ANSWER_NS = 250000000, /* what was typed is answered in pieces: echo, text, prompt */
};

/* ---- streams ---------------------------------------------------------------------------- */

static void background_output(struct hr_kernel *kernel, int stream, const char *data, size_t size)
{
    struct hr_collector_options limits = {.limit_bytes = BACKGROUND_LIMIT,
                                          .terminal = kernel->tty != NULL};

    if (!kernel->ready && (stream == 2 || kernel->tty) &&
        kernel->start_text.size + size <= START_TEXT_MAX)
        hr_buf_add(&kernel->start_text, data, size);
    if (!kernel->background)
        kernel->background = hr_collector_new(&limits);
    if (kernel->background)
        hr_collector_feed(kernel->background, data, size);
    if (kernel->engine->event_wanted || kernel->spare) {
        struct hr_event *event = hr_event_new(HERMES_EVENT_BACKGROUND, data, size);

        if (event) {
            event->public.kernel = kernel->id;
            event->public.stream = stream;
        }
        if (kernel->spare)
            hr_spare_hold(kernel, event);
        else
            hr_event_push(kernel->engine, event);
    }
}

void hr_kernel_route_output(struct hr_stream *stream, const char *data, size_t size)
{
    struct hr_cell *cell = stream->kernel->current;

    if (cell && cell->state == HR_CELL_RUNNING)
        hr_cell_output(cell, stream->number, data, size);
    else
        background_output(stream->kernel, stream->number, data, size);
}

static void stream_close(struct hr_stream *stream)
{
    int fd = stream->watch.fd;

    if (fd < 0)
        return;
    hr_timer_stop(stream->kernel->engine->loop, &stream->hold);
    hr_watch_remove(stream->kernel->engine->loop, &stream->watch);
    close(fd);
}

bool hr_kernel_read_stream(struct hr_stream *stream, size_t limit)
{
    struct hermes_engine *engine = stream->kernel->engine;
    ssize_t n;

    if (stream->watch.fd < 0)
        return false;
    n = read(stream->watch.fd, engine->scratch, limit < READ_CHUNK ? limit : READ_CHUNK);
    if (n > 0) {
        stream->bytes += (size_t)n;
        if (stream->kernel->tty)
            hr_tty_take(stream->kernel, engine->scratch, (size_t)n);
        else
            hr_kernel_route_output(stream, engine->scratch, (size_t)n);
        return true;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        if (stream->kernel->tty) /* nobody has it open; to close it would be SIGHUP */
            hr_watch_change(engine->loop, &stream->watch, 0);
        else
            stream_close(stream);
    }
    return false;
}

/*
 * The first cell is sent along with INIT, so its output may be here before its READY is read. What
 * the pipe held before the socket was still without a READY is output of the start.
 */
static void read_start_output(struct hr_stream *stream)
{
    struct hr_kernel *kernel = stream->kernel;
    int waiting = 0;

    if (ioctl(stream->watch.fd, FIONREAD, &waiting) || waiting <= 0)
        waiting = READ_CHUNK; /* its end */
    while (hr_kernel_read_control(kernel))
        continue;
    if (!kernel->ready)
        hr_kernel_read_stream(stream, (size_t)waiting);
}

/*
 * What stands in the pipe, up to a bound that leaves the others their turn. Returns how much it
 * was.
 */
static size_t stream_read_some(struct hr_stream *stream)
{
    size_t all = 0, got;

    do {
        uint64_t before = stream->bytes;

        if (!hr_kernel_read_stream(stream, READ_CHUNK))
            break;
        got = (size_t)(stream->bytes - before);
        all += got;
        /* a terminal gives some kilobytes at a time, however much there is */
    } while ((got == READ_CHUNK || stream->kernel->tty) && all < READ_AT_ONCE &&
             stream->watch.events);
    return all;
}

/* Read it or not; what was typed at a terminal is written in any case. */
static void watch_stream(struct hr_stream *stream, bool read)
{
    const struct hr_kernel *kernel = stream->kernel;

    if (stream->watch.fd < 0)
        return; /* it has no kernel, or no more */
    hr_watch_change(kernel->engine->loop, &stream->watch,
                    (read ? HR_READ : 0u) |
                        (kernel->tty && kernel->tty->input.size ? HR_WRITE : 0u));
}

static bool wants_output(const struct hr_kernel *kernel)
{
    bool makes_events = kernel->current ? kernel->current->events : kernel->engine->event_wanted;

    return !(kernel->engine->paused && makes_events) || (kernel->tty && kernel->tty->waiting);
}

static void hold_over(struct hr_timer *timer);
/*
 * A cell that prints line after line wakes its reader for each, and pays for it. So a stream that
 * goes on in small pieces is left alone until output_interval after the last read: then many lines
 * are read at once. So much of it that there might soon be no room is read sooner, and one that was
 * quick a moment ago is not trusted to be slow now. passed_ns: in which got bytes came.
 */
static bool hold(struct hr_stream *stream, size_t got, int64_t passed_ns, int64_t from_ns)
{
    const struct hr_kernel *kernel = stream->kernel;
    bool typed = kernel->tty && stream->read_ns - kernel->tty->typed_ns < ANSWER_NS;
    int64_t interval_ns = typed ? 0 : kernel->engine->options.output_interval_ms * 1000000;
    int64_t before_ns = stream->hold_ns < HOLD_MIN_NS ? HOLD_MIN_NS / 2 : stream->hold_ns;
    int64_t room_ns;
    stream->hold_ns = 0;
    if (!got || got >= SMALL_PIECE || stream->watch.fd < 0 || (kernel->tty && kernel->tty->waiting))
        return false;
    room_ns = passed_ns / (int64_t)got * (kernel->tty ? TERMINAL_ROOM : PIPE_ROOM);
    if (room_ns < HOLD_MIN_NS && from_ns == stream->read_ns)
        return false;
    stream->hold_ns = room_ns < interval_ns ? room_ns : interval_ns;
    if (stream->hold_ns > 2 * before_ns)
        stream->hold_ns = 2 * before_ns;
    from_ns += stream->hold_ns;
    if (from_ns < stream->read_ns + HOLD_MIN_NS)
        from_ns = stream->read_ns + HOLD_MIN_NS;
    watch_stream(stream, false);
    hr_timer_start(kernel->engine->loop, &stream->hold, from_ns, hold_over);
    return true;
}

static void hold_over(struct hr_timer *timer)
{
    struct hr_stream *stream = HR_CONTAINER(timer, struct hr_stream, hold);
    int64_t before_ns = stream->read_ns;
    size_t got;

    if (!wants_output(stream->kernel))
        return;
    got = stream_read_some(stream);
    stream->read_ns = hr_now_ns();
    if (!hold(stream, got, stream->read_ns - before_ns, stream->read_ns))
        hr_kernel_update_pause(stream->kernel);
}

void hr_kernel_stream_ready(struct hr_watch *watch, unsigned events)
{
    struct hr_stream *stream = HR_CONTAINER(watch, struct hr_stream, watch);
    int64_t before_ns = stream->read_ns, passed_ns;
    size_t got;

    if (events & HR_WRITE)
        hr_tty_send_input(stream->kernel);
    if (!(events & HR_READ))
        return;
    if (!stream->kernel->ready && !stream->kernel->tty) {
        read_start_output(stream);
        return;
    }
    stream->read_ns = hr_now_ns();
    passed_ns = stream->read_ns - before_ns;
    got = stream_read_some(stream);
    if (passed_ns < stream->kernel->engine->options.output_interval_ms * 1000000)
        hold(stream, got, passed_ns, before_ns);
}

void hr_kernel_end_holds(struct hr_kernel *kernel)
{
    for (int i = 0; i < 2; i++) {
        struct hr_stream *stream = &kernel->streams[i];

        stream->read_ns = stream->hold_ns = 0;
        if (!stream->hold.position)
            continue;
        hr_timer_stop(kernel->engine->loop, &stream->hold);
        watch_stream(stream, wants_output(kernel));
    }
}

/* Read what is in the pipes now, and no more: a writer that goes on cannot hold us. */
void hr_kernel_drain(struct hr_kernel *kernel)
{
    for (int i = 0; i < 2; i++) {
        struct hr_stream *stream = &kernel->streams[i];
        int waiting = 0;
        size_t left;

        if (stream->watch.fd < 0)
            continue;
        if (kernel->tty) { /* FIONREAD does not tell what is on its way */
            stream_read_some(stream);
            continue;
        }
        if (ioctl(stream->watch.fd, FIONREAD, &waiting) || waiting <= 0)
            continue;
        for (left = (size_t)waiting; left;) {
            size_t step = left < READ_CHUNK ? left : READ_CHUNK;

            if (!hr_kernel_read_stream(stream, step))
                break;
            left -= step; /* a short read is followed by one that finds nothing */
        }
    }
}

void hr_kernel_update_pause(struct hr_kernel *kernel)
{
    bool makes_events = kernel->current ? kernel->current->events : kernel->engine->event_wanted;

    for (int i = 0; i < 2; i++)
        watch_stream(&kernel->streams[i], wants_output(kernel));
    if (kernel->held && !(kernel->engine->paused && makes_events)) {
        kernel->held = false;
        hr_kernel_watch_control(kernel);
    }
}

/* ---- the control socket: sending -------------------------------------------------------- */

static void send_pending(struct hr_kernel *kernel)
{
    struct hr_buf *out = &kernel->out;
    ssize_t n;

    while (kernel->out_offset < out->size) {
        n = send(kernel->control.fd, out->data + kernel->out_offset, out->size - kernel->out_offset,
                 MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            if (errno != EAGAIN && errno != EWOULDBLOCK)
                kernel->out_offset = out->size; /* its end will be told by its process */
            break;
        }
        kernel->out_offset += (size_t)n;
    }
    if (kernel->out_offset == out->size) {
        hr_buf_done(out);
        kernel->out_offset = 0;
    }
    hr_kernel_watch_control(kernel);
}

void hr_kernel_watch_control(struct hr_kernel *kernel)
{
    bool read = !kernel->held && !(kernel->tty && kernel->tty->waiting);

    hr_watch_change(kernel->engine->loop, &kernel->control,
                    (read ? HR_READ : 0u) | (kernel->out.size ? HR_WRITE : 0u));
}

bool hr_kernel_send_frame(struct hr_kernel *kernel, uint8_t type, uint16_t flags, uint64_t id,
                          const void *head, size_t head_size, const void *tail, size_t tail_size)
{
    char header[HR_FRAME_HEADER_SIZE];
    struct iovec parts[] = {{header, sizeof header},
                            {(void *)(uintptr_t)head, head_size},
                            {(void *)(uintptr_t)tail, tail_size}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = HR_ARRAY_LENGTH(parts)};
    ssize_t sent = 0;

    if (kernel->control.fd < 0)
        return true;
    hr_frame_header(header, type, flags, (uint32_t)(head_size + tail_size), id);
    if (!kernel->out.size) {
        sent = sendmsg(kernel->control.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent == (ssize_t)(sizeof header + head_size + tail_size))
            return true;
        if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
            return true; /* its end will be told by its process */
        if (sent < 0)
            sent = 0;
    }
    for (size_t i = 0; i < HR_ARRAY_LENGTH(parts); i++) {
        size_t skip = (size_t)sent < parts[i].iov_len ? (size_t)sent : parts[i].iov_len;

        sent -= (ssize_t)skip;
        if (!hr_buf_add(&kernel->out, (char *)parts[i].iov_base + skip, parts[i].iov_len - skip))
            return false;
    }
    hr_kernel_watch_control(kernel);
    return true;
}

static void add_setting(struct hr_buf *out, const char *key, const char *value)
{
    hr_buf_add(out, key, strlen(key) + 1);
    hr_buf_add(out, value, strlen(value) + 1);
}

static bool add_settings(const struct hr_kernel *kernel, const struct hr_cell *first,
                         struct hr_buf *out)
{
    const char *parts = hr_runner_code_directory(kernel->engine->runner);
    const struct hr_spec *spec = kernel->spec;
    struct hr_buf settings;
    bool done;

    hr_buf_init(&settings, 0);
    add_setting(&settings, "io", hr_io_names[spec->io]);
    if (spec->requests)
        add_setting(&settings, "requests", "1");
    if (kernel->tty)
        add_setting(&settings, "mark", kernel->tty->marker.secret);
    if (spec->path0)
        add_setting(&settings, "path0", spec->path0);
    if (spec->script)
        add_setting(&settings, "script", spec->script);
    if (first && first->whole_source && first->file_name)
        add_setting(&settings, "source_name", first->file_name);
    if (parts)
        add_setting(&settings, "parts", parts);
    if (kernel->spare)
        add_setting(&settings, "spare", "1");
    if (kernel->tool_token)
        add_setting(&settings, "tools", kernel->staging);
    if (kernel->moves)
        add_setting(&settings, "cwd", hr_kernel_directory(kernel));
#ifdef HERMES_NO_GUARD
    add_setting(&settings, "lifeline", kernel->process.lifeline_armed ? "kept" : "1");
#endif
    done = !settings.failed && hr_fields_add(out, settings.data, settings.size);
    hr_buf_done(&settings);
    return done;
}

bool hr_kernel_send_init(struct hr_kernel *kernel, const struct hr_cell *first)
{
    const struct hr_spec *spec = kernel->spec;
    struct hr_buf body, argv;
    bool done;

    hr_buf_init(&body, 0);
    hr_buf_init(&argv, 0);
    hr_buf_add(&argv, spec->script ? spec->script : "",
               spec->script ? strlen(spec->script) + 1 : 1);
    hr_buf_add(&argv, spec->argv.data, spec->argv.size);
    done = hr_buf_add_u32(&body, 6) &&
           hr_runner_code_add_fields(kernel->engine->runner, spec->python, &body) &&
           add_settings(kernel, first, &body) && !argv.failed &&
           hr_fields_add(&body, argv.data, argv.size) &&
           hr_fields_add(&body, first ? first->whole_source : NULL,
                         first ? first->whole_source_size : 0) &&
           hr_kernel_send_frame(kernel, HR_FRAME_INIT, 0, 0, body.data, body.size, NULL, 0);
    hr_buf_done(&argv);
    hr_buf_done(&body);
    kernel->init_sent = true;
    return done;
}

bool hr_kernel_send_execute(struct hr_kernel *kernel, struct hr_cell *cell)
{
    char name[32];
    const char *file_name = cell->file_name;
    struct hr_buf head;
    uint16_t flags = 0;
    bool done;

    if (!file_name) {
        /* that of the first cell is sent before it is counted */
        snprintf(name, sizeof name, "<cell %llu>",
                 (unsigned long long)kernel->execution_count + !kernel->ready);
        file_name = name;
    }
    flags |= cell->flags & HERMES_CELL_ECHO ? HR_EXECUTE_ECHO : 0;
    flags |= cell->flags & HERMES_CELL_AWAIT ? HR_EXECUTE_AWAIT : 0;
    flags |= cell->flags & HERMES_CELL_DISPLAY ? HR_EXECUTE_DISPLAY : 0;
    flags |= cell->flags & HERMES_CELL_INTERACTIVE ? HR_EXECUTE_INTERACTIVE : 0;
    hr_buf_init(&head, 0);
    hr_buf_add_u32(&head, cell->first_line);
    hr_buf_add_u32(&head, (uint32_t)strlen(file_name));
    hr_buf_add_text(&head, file_name);
    done = !head.failed && hr_kernel_send_frame(kernel, HR_FRAME_EXECUTE, flags, cell->wire_id,
                                                head.data, head.size, cell->code, cell->code_size);
    hr_buf_done(&head);
    return done;
}

bool hr_kernel_send_bind(struct hr_kernel *kernel, const struct hr_cell *first)
{
    struct hr_buf body;
    bool done = true;

    kernel->bind_due = false;
    hr_buf_init(&body, 0);
    if (first->whole_source && first->file_name)
        done = hr_buf_add_u32(&body, 2) &&
               hr_fields_add(&body, first->file_name, strlen(first->file_name)) &&
               hr_fields_add(&body, first->whole_source, first->whole_source_size) &&
               hr_kernel_send_frame(kernel, HR_FRAME_BIND, 0, 0, body.data, body.size, NULL, 0);
    hr_buf_done(&body);
    return done;
}

void hr_kernel_send_quit(struct hr_kernel *kernel)
{
    hr_kernel_send_frame(kernel, HR_FRAME_QUIT, 0, 0, NULL, 0, NULL, 0);
}

bool hr_kernel_send_attend(struct hr_kernel *kernel)
{
    return hr_kernel_send_frame(kernel, HR_FRAME_ATTEND, 0, 0, NULL, 0, NULL, 0);
}

/* ---- the control socket: receiving ------------------------------------------------------ */

static void crash_took_too_long(struct hr_timer *timer)
{
    hr_kernel_kill(HR_CONTAINER(timer, struct hr_kernel, escalate), HERMES_PREVIOUS_DIED);
}

/* Bytes that are no frame: the text of a crash, if the process ends soon. */
static void take_crash_text(struct hr_kernel *kernel, const char *data, size_t size)
{
    if (!kernel->crashing && !hr_kernel_is_ending(kernel)) {
        kernel->crashing = true;
        hr_timer_start(kernel->engine->loop, &kernel->escalate, hr_after_ms(CRASH_GRACE_MS),
                       crash_took_too_long);
    }
    if (kernel->crash.size + size <= CRASH_TEXT_MAX)
        hr_buf_add(&kernel->crash, data, size);
}

/* Returns how much was used. *ret_fault is set for what breaks a rule. */
static size_t take_frames(struct hr_kernel *kernel, const char *data, size_t size,
                          const char **ret_fault)
{
    struct hr_frame frame;
    const char *fault = NULL;
    size_t at = 0;
    ssize_t used = 0;

    while (!kernel->crashing && size > at) {
        if (data[at] == 'F' && !hr_kernel_is_ending(kernel))
            break;
        used = hr_frame_decode(data + at, size - at, &frame, &fault);
        if (used <= 0)
            break;
        if (kernel->tty && !hr_kernel_is_ending(kernel) && !kernel->resuming &&
            !hr_tty_frame_is_due(kernel, frame.type == HR_FRAME_REPLY))
            break;
        at += (size_t)used;
        if (!hr_kernel_is_ending(kernel))
            hr_kernel_take_frame(kernel, &frame);
    }
    *ret_fault = used < 0 ? fault : NULL;
    return at;
}

/* Only what is the beginning of a frame is kept by the kernel: most of the time that is nothing. */
static void take_bytes(struct hr_kernel *kernel, const char *data, size_t size)
{
    bool kept = kernel->in.size > 0, complete = !kept || hr_buf_add(&kernel->in, data, size);
    const char *fault = NULL;
    size_t used;

    if (kept && complete) {
        data = kernel->in.data;
        size = kernel->in.size;
    }
    if (kernel->tty)
        kernel->tty->in_frames = true;
    used = complete ? take_frames(kernel, data, size, &fault) : 0;
    if (hr_kernel_is_ending(kernel) && !kernel->crashing)
        used = size;
    if (size > used && complete && (kernel->crashing || data[used] == 'F')) {
        take_crash_text(kernel, data + used, size - used);
        used = size;
    } else if (fault) {
        hr_kernel_fault(kernel, fault);
        used = size;
    } else if (!kept && size > used) {
        complete = hr_buf_add(&kernel->in, data + used, size - used);
    }
    if (kept && complete)
        hr_buf_consume(&kernel->in, used);
    if (!complete)
        hr_kernel_fault(kernel, "out of memory while an answer was read");
    if (!complete || !kernel->in.size)
        hr_buf_done(&kernel->in);
    if (kernel->tty) {
        kernel->tty->in_frames = false;
        hr_tty_pump(kernel);
    }
}

void hr_kernel_take_waiting(struct hr_kernel *kernel)
{
    if (kernel->in.size)
        take_bytes(kernel, "", 0);
    while (!kernel->held && hr_kernel_read_control(kernel))
        continue;
}

/* false: nothing more now. */
bool hr_kernel_read_control(struct hr_kernel *kernel)
{
    char *data = kernel->engine->control_scratch;
    ssize_t n;

    if (kernel->control.fd < 0 || (kernel->tty && kernel->tty->waiting))
        return false;
    n = recv(kernel->control.fd, data, READ_CHUNK, MSG_DONTWAIT);
    if (n > 0) {
        take_bytes(kernel, data, (size_t)n);
        return true;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) { /* the process's end tells the rest */
        hr_watch_change(kernel->engine->loop, &kernel->control, 0);
        hr_process_wake(&kernel->process);
    }
    return false;
}

void hr_kernel_control_ready(struct hr_watch *watch, unsigned events)
{
    struct hr_kernel *kernel = HR_CONTAINER(watch, struct hr_kernel, control);

    if (events & HR_WRITE)
        send_pending(kernel);
    if (events & HR_READ)
        hr_kernel_read_control(kernel);
}

void hr_kernel_close_channels(struct hr_kernel *kernel)
{
    int fd = kernel->control.fd;

    hr_watch_remove(kernel->engine->loop, &kernel->control);
    if (fd >= 0)
        close(fd);
    stream_close(&kernel->streams[0]);
    stream_close(&kernel->streams[1]);
}
