/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a run shows: the cells' bytes as they come, or JSON Lines of results or events.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch-internal.h"
#include "json-scan.h"
#include "json-write.h"
#include "signals.h"
#include "utf8.h"

#define LAST_WORDS_MS 500

/*
 * ---- bytes
 * --------------------------------------------------------------------------------------
 */

/* After a write failed: whether to try again. */
static bool retry(struct batch *batch, int fd)
{
    if (errno == EINTR || errno == EAGAIN) {
        struct pollfd writable = {.fd = fd, .events = POLLOUT};
        if (errno == EAGAIN)
            poll(&writable, 1, -1);
        return true;
    }
    if (errno == EBADF)
        return false; /* closed from the start: as if it were /dev/null */
    batch->write_errno = errno;
    if (fd == STDOUT_FILENO || errno == EPIPE)
        batch_stop_with(batch, BATCH_STOP_PIPE, errno == EPIPE ? BATCH_STATUS_PIPE : 1);
    return false;
}

/*
 * How much to write at once. A run that is to end waits no more for a reader who does not read:
 * then 0.
 */
static size_t chunk_for(struct batch *batch, int fd, size_t size)
{
    struct pollfd writable = {.fd = fd, .events = POLLOUT};
    if (signals_deadly() || signals_pending())
        batch_check_signals(batch);
    if (batch->stop < BATCH_STOP_SIGNAL)
        return size;
    if (signals_impatient())
        return 0;
    return poll(&writable, 1, LAST_WORDS_MS) > 0 ? size < PIPE_BUF ? size : PIPE_BUF : 0;
}

static void put(struct batch *batch, int fd, const char *data, size_t size)
{
    if (batch->stop == BATCH_STOP_PIPE && !batch->explaining)
        return;
    progress_clear(&batch->progress);
    progress_wrote(&batch->progress, fd, data, size);
    while (size) {
        size_t chunk = chunk_for(batch, fd, size);
        if (!chunk)
            return;
        ssize_t done = write(fd, data, chunk);
        if (done >= 0) {
            data += done;
            size -= (size_t)done;
        } else if (!retry(batch, fd)) {
            return;
        }
    }
}

static void put_line(struct batch *batch, struct strbuf *line)
{
    strbuf_addc(line, '\n');
    put(batch, STDOUT_FILENO, line->data, line->size);
    strbuf_free(line);
}

void batch_say(struct batch *batch, bool error, const char *format, ...)
{
    if (!error && batch->options->quiet)
        return;
    struct strbuf text = STRBUF_INIT, visible = STRBUF_INIT;
    va_list arguments;
    va_start(arguments, format);
    strbuf_vaddf(&text, format, arguments);
    va_end(arguments);
    strbuf_adds(&visible, "hermes-repl: ");
    utf8_visible(&visible, strbuf_text(&text), text.size);
    strbuf_addc(&visible, '\n');
    put(batch, STDERR_FILENO, visible.data, visible.size);
    strbuf_free(&visible);
    strbuf_free(&text);
}

/*
 * ---- JSON
 * ---------------------------------------------------------------------------------------
 */

/* "cell":{...} */
static void add_cell(const struct batch *batch, struct strbuf *out)
{
    const struct document_cell *cell = &batch->document.cells[batch->current->cell];
    strbuf_addf(out, "\"cell\":{\"index\":%zu,\"title\":", batch->current->number);
    json_add_text(out, cell->title);
    strbuf_addf(out, ",\"first_line\":%u}", cell->first_line);
}

static void add_event(const struct batch *batch, struct strbuf *out, const char *name)
{
    strbuf_addf(out, "{\"event\":\"%s\"", name);
    if (batch->current)
        strbuf_addf(out, ",\"cell\":%zu", batch->current->number);
}

/* One "output" or "background" event, unless there is nothing to tell. */
static void put_text_event(struct batch *batch, enum batch_text kind, int stream,
                           struct strbuf *text)
{
    struct strbuf line = STRBUF_INIT;
    if (text->size) {
        add_event(batch, &line, kind == BATCH_TEXT_CELL ? "output" : "background");
        strbuf_addf(&line, ",\"stream\":\"%s\",\"text\":", stream == 2 ? "stderr" : "stdout");
        json_add_string(&line, text->data, text->size);
        strbuf_addc(&line, '}');
        put_line(batch, &line);
    }
    strbuf_free(text);
}

static void add_live(struct batch *batch, enum batch_text kind, int stream, const char *data,
                     size_t size)
{
    struct strbuf text = STRBUF_INIT;
    live_text_add(&batch->live[kind][stream == 2], data, size, now_ms(), &text);
    put_text_event(batch, kind, stream, &text);
}

static void flush_live(struct batch *batch, enum batch_text kind)
{
    for (int stream = 1; stream <= 2; stream++) {
        struct strbuf text = STRBUF_INIT;
        live_text_flush(&batch->live[kind][stream == 2], &text);
        put_text_event(batch, kind, stream, &text);
    }
}

static void end_live(struct batch *batch, enum batch_text kind)
{
    for (int stream = 1; stream <= 2; stream++) {
        struct strbuf text = STRBUF_INIT;
        live_text_end(&batch->live[kind][stream == 2], &text);
        put_text_event(batch, kind, stream, &text);
    }
}

int64_t batch_show_waiting(struct batch *batch)
{
    int64_t now = now_ms(), soonest = -1;
    for (int kind = 0; kind < BATCH_TEXTS; kind++) {
        for (int stream = 1; stream <= 2; stream++) {
            struct live_text *live = &batch->live[kind][stream == 2];
            int64_t due = live_text_due(live, now);
            if (due == 0) {
                struct strbuf text = STRBUF_INIT;
                live_text_flush(live, &text);
                put_text_event(batch, kind, stream, &text);
            } else if (due > 0 && (soonest < 0 || due < soonest)) {
                soonest = due;
            }
        }
    }
    return soonest;
}

static void put_result(struct batch *batch, const struct hermes_result *result)
{
    struct strbuf extra = STRBUF_INIT, line = STRBUF_INIT;
    add_cell(batch, &extra);
    char *json = hermes_result_json(result, strbuf_text(&extra));
    if (!json) {
        batch_say(batch, true, "out of memory");
        batch_stop_with(batch, BATCH_STOP_ENGINE, BATCH_STATUS_START);
    } else if (batch->options->format == BATCH_EVENTS) {
        add_event(batch, &line, "done");
        strbuf_addf(&line, ",\"result\":%s}", json);
        put_line(batch, &line);
    } else {
        strbuf_adds(&line, json);
        put_line(batch, &line);
    }
    hermes_free(json);
    strbuf_free(&extra);
}

/*
 * ---- people
 * -------------------------------------------------------------------------------------
 */

static void put_text(struct batch *batch, int fd, const char *text, size_t size)
{
    put(batch, fd, text, size);
    if (size && text[size - 1] != '\n')
        put(batch, fd, "\n", 1);
}

/*
 * sys.exit() with a status or a message: the message has been on stderr already, as under python.
 */
static bool is_exit(const struct hermes_result *result)
{
    return result->outcome == HERMES_ERROR && result->ended && !result->start_failed &&
           !result->term_signal && !strstr(result->error, "state was lost");
}

/* A traceback as Python prints it; what is no traceback says which cell it is about. */
static void put_error(struct batch *batch, const struct hermes_result *result)
{
    struct strbuf name = STRBUF_INIT;
    bool ours = result->outcome != HERMES_ERROR || result->ended;
    if (!result->error_size || is_exit(result))
        return;
    if (result->start_failed) {
        batch_say(batch, true, "%s", result->error);
        return;
    }
    if (ours && strncmp(result->error, "Traceback", 9) != 0)
        batch_say(batch, true, "%s%s%s",
                  batch->options->code ? "" : batch_cell_name(batch, batch->current, &name),
                  batch->options->code ? "" : ": ", result->error);
    else
        put_text(batch, STDERR_FILENO, result->error, result->error_size);
    if (result->limit && result->hint)
        batch_say(batch, true, "%s", result->hint);
    strbuf_free(&name);
}

static void put_wall_time(struct batch *batch, const struct hermes_result *result)
{
    char text[60];
    int length =
        snprintf(text, sizeof(text), "Wall time: %.3g s\n", (double)result->duration_us / 1e6);
    outputs_add_stream(&batch->records[batch->current->cell].outputs, 1, text, (size_t)length);
    if (batch->options->format == BATCH_HUMAN)
        put(batch, STDOUT_FILENO, text, (size_t)length);
    else if (batch->options->format == BATCH_EVENTS)
        add_live(batch, BATCH_TEXT_CELL, 1, text, (size_t)length);
}

/*
 * ---- what happens
 * -------------------------------------------------------------------------------
 */

void batch_show_started(struct batch *batch, const struct hermes_event *event)
{
    struct strbuf line = STRBUF_INIT;
    if (batch->options->format != BATCH_EVENTS || batch_is_replaying(batch))
        return;
    strbuf_adds(&line, "{\"event\":\"started\",");
    add_cell(batch, &line);
    strbuf_addf(&line, ",\"execution_count\":%" PRIu64 "}", event->execution_count);
    put_line(batch, &line);
}

/* Our terminal puts the carriage returns before line ends itself. */
static void put_terminal(struct batch *batch, const char *data, size_t size)
{
    struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < size; i++) {
        if (data[i] != '\r' || i + 1 == size || data[i + 1] != '\n')
            strbuf_addc(&text, data[i]);
    }
    put(batch, STDOUT_FILENO, strbuf_text(&text), text.size);
    strbuf_free(&text);
}

void batch_show_output(struct batch *batch, const struct hermes_event *event)
{
    if (batch_is_replaying(batch))
        return;
    if (batch->options->format == BATCH_HUMAN && batch->setup.io == HERMES_IO_TTY)
        put_terminal(batch, event->data, event->size);
    else if (batch->options->format == BATCH_HUMAN)
        put(batch, event->stream == 2 ? STDERR_FILENO : STDOUT_FILENO, event->data, event->size);
    else if (batch->options->format == BATCH_EVENTS)
        add_live(batch, BATCH_TEXT_CELL, event->stream, event->data, event->size);
}

void batch_show_background(struct batch *batch, const struct hermes_event *event)
{
    if (batch->options->format == BATCH_HUMAN)
        put(batch, event->stream == 2 ? STDERR_FILENO : STDOUT_FILENO, event->data, event->size);
    else if (batch->options->format == BATCH_EVENTS)
        add_live(batch, BATCH_TEXT_BACKGROUND, event->stream, event->data, event->size);
}

static void add_bundle(struct batch *batch, const struct hermes_event *event, struct strbuf *out)
{
    struct strbuf error = STRBUF_INIT;
    struct json_span bundle;
    if (live_text_wanted(batch->engine) && json_check(event->data, event->size, &bundle, &error))
        live_text_bundle(bundle, out);
    else
        strbuf_add(out, event->data, event->size);
    strbuf_free(&error);
}

void batch_show_display(struct batch *batch, const struct hermes_event *event)
{
    struct strbuf out = STRBUF_INIT, error = STRBUF_INIT;
    struct json_span bundle, plain;
    if (batch_is_replaying(batch))
        return;
    if (batch->options->format == BATCH_EVENTS) {
        flush_live(batch, BATCH_TEXT_CELL); /* it was written before */
        add_event(batch, &out, "display");
        strbuf_addf(&out, ",\"is_result\":%s,\"data\":", event->is_result ? "true" : "false");
        add_bundle(batch, event, &out);
        strbuf_addc(&out, '}');
        put_line(batch, &out);
    } else if (batch->options->format == BATCH_HUMAN &&
               json_check(event->data, event->size, &bundle, &error) &&
               json_get(bundle, "text/plain", &plain) && json_kind_of(plain) == JSON_STRING) {
        json_decode(plain, &out);
        strbuf_addc(&out, '\n');
        put(batch, STDOUT_FILENO, out.data, out.size);
    }
    strbuf_free(&out);
    strbuf_free(&error);
}

void batch_show_result(struct batch *batch, const struct hermes_result *result)
{
    struct strbuf name = STRBUF_INIT;
    if (batch_is_replaying(batch) && result->outcome == HERMES_SUCCESS)
        return;
    if (batch_is_replaying(batch))
        batch_say(batch, true, "%s fails now; it did not when it was recorded",
                  batch_cell_name(batch, batch->current, &name));
    strbuf_free(&name);
    if (batch->wall_time)
        put_wall_time(batch, result);
    if (batch->options->format == BATCH_EVENTS)
        end_live(batch, BATCH_TEXT_CELL);
    if (batch->options->format == BATCH_VERIFY &&
        (result->outcome == HERMES_SUCCESS || result->outcome == HERMES_ERROR) &&
        !result->start_failed)
        return; /* batch_verify_result() tells */
    if (batch->options->format == BATCH_HUMAN || batch->options->format == BATCH_VERIFY) {
        put_error(batch, result);
        return;
    }
    put_result(batch, result);
    if (result->start_failed)
        batch_say(batch, true, "%s",
                  result->error_size ? result->error : "the kernel could not start");
}

void batch_write(struct batch *batch, const char *text, size_t size)
{
    put(batch, STDOUT_FILENO, text, size);
}

void batch_show_end(struct batch *batch)
{
    struct strbuf line = STRBUF_INIT;
    if (batch->options->format == BATCH_VERIFY)
        batch_verify_end(batch);
    if (batch->options->format != BATCH_EVENTS)
        return;
    end_live(batch, BATCH_TEXT_BACKGROUND);
    strbuf_addf(&line, "{\"event\":\"end\",\"status\":%d}", batch->status);
    put_line(batch, &line);
}
