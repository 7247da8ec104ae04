/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One cell of a run from submission to verdict, and the end of its kernel.
 */
#include "config.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "batch-internal.h"
#include "magics.h"
#include "signals.h"
#include "xalloc.h"

#define SETTLE_MS 15000 /* a killed cell settles far sooner */

void batch_stop_with(struct batch *batch, enum batch_stop stop, int status)
{
    if (batch->stop < stop)
        batch->stop = stop;
    if (stop >= BATCH_STOP_TIME || !batch->status)
        batch->status = status;
}

const char *batch_cell_name(const struct batch *batch, const struct batch_item *item,
                            struct strbuf *name)
{
    const struct document_cell *cell = &batch->document.cells[item->cell];
    if (!item->number)
        strbuf_setf(name, "the parameters");
    else if (cell->title)
        strbuf_setf(name, "cell %zu (%s)", item->number, cell->title);
    else if (batch->document.format == DOCUMENT_SCRIPT && batch->options->file)
        strbuf_setf(name, "cell %zu (line %u)", item->number, cell->first_line);
    else
        strbuf_setf(name, "cell %zu", item->number);
    return strbuf_text(name);
}

/* ---- signals -------------------------------------------------------------------------------- */

static void kill_cell(struct batch *batch, const char *reason)
{
    if (batch->current && !batch->settled &&
        hermes_kill(batch->engine, batch->cell, reason) != HERMES_OK)
        hermes_interrupt(batch->engine, batch->cell, reason, 1);
}

static void interrupt(struct batch *batch, int times)
{
    bool running = batch->current && !batch->settled;
    batch->interrupts += times;
    if (batch->interrupts >= 2 || !running) {
        bool at_once = running || batch->interrupts >= 2;
        batch_stop_with(batch, at_once ? BATCH_STOP_SIGNAL : BATCH_STOP_INTERRUPT, 128 + SIGINT);
        kill_cell(batch, NULL);
    } else if (hermes_interrupt(batch->engine, batch->cell, NULL, 0) != HERMES_OK) {
        batch_stop_with(batch, BATCH_STOP_INTERRUPT,
                        128 + SIGINT); /* it had settled: nothing else is to start */
    }
    if (running)
        tool_calls_cancel(&batch->calls, batch->cell);
}

void batch_check_signals(struct batch *batch)
{
    int number = signals_deadly(), interrupts = signals_take_interrupts();
    if (number && batch->stop != BATCH_STOP_SIGNAL) {
        batch_stop_with(batch, BATCH_STOP_SIGNAL, 128 + number);
        kill_cell(batch, number == SIGTERM ? "SIGTERM" : "SIGHUP");
    } else if (interrupts) {
        interrupt(batch, interrupts);
    }
}

/* ---- events --------------------------------------------------------------------------------- */

static void note_alive(struct batch *batch, uint64_t kernel)
{
    for (size_t i = 0; i < batch->alive_count; i++) {
        if (batch->alive[i] == kernel)
            return;
    }
    batch->alive =
        xgrow(batch->alive, batch->alive_count, &batch->alive_capacity, sizeof(*batch->alive));
    batch->alive[batch->alive_count++] = kernel;
}

static void note_dead(struct batch *batch, uint64_t kernel)
{
    for (size_t i = 0; i < batch->alive_count; i++) {
        if (batch->alive[i] == kernel)
            batch->alive[i--] = batch->alive[--batch->alive_count];
    }
    if (batch->kernel == kernel)
        batch->kernel = 0;
}

static void on_started(struct batch *batch, const struct hermes_event *event)
{
    batch->started = true;
    batch->kernel = event->kernel;
    note_alive(batch, event->kernel);
    batch_show_started(batch, event);
}

/* What a result means for the run. */
static void on_done(struct batch *batch, const struct hermes_result *result)
{
    bool failed = result->outcome != HERMES_SUCCESS;
    int status = batch_status_of(result);
    batch->settled = true;
    tool_calls_cancel(&batch->calls, batch->cell);
    progress_end(&batch->progress);
    batch_store_settle(batch, result);
    batch_show_result(batch, result);
    batch_record_result(batch, result);
    batch_note_failure(batch, result);
    if (result->ended)
        batch->kernel = 0;
    if (batch->options->format == BATCH_VERIFY &&
        (result->outcome == HERMES_SUCCESS || result->outcome == HERMES_ERROR) &&
        !result->start_failed) {
        if (!batch_verify_result(batch, result))
            batch_stop_with(batch, BATCH_GOING, 1);
        return;
    }
    if (result->outcome == HERMES_INTERRUPTED) {
        if (batch->stop < BATCH_STOP_TIME)
            batch_stop_with(batch, BATCH_STOP_INTERRUPT, status);
    } else if (result->outcome == HERMES_TIMEOUT && batch->run_limited) {
        batch_stop_with(batch, BATCH_STOP_TIME, status);
    } else if (failed) {
        bool stops = !batch->options->keep_going || result->start_failed;
        batch_stop_with(batch, stops ? BATCH_STOP_FAILED : BATCH_GOING, status);
    } else if (result->ended && !batch->options->keep_going) {
        batch_stop_with(batch, BATCH_STOP_EXIT, 0);
    }
}

static void on_cell_output(struct batch *batch, const struct hermes_event *event)
{
    if (batch_keeps_outputs(batch))
        outputs_add_stream(&batch->records[batch->current->cell].outputs, event->stream,
                           event->data, event->size);
    batch_store_output(batch, event);
    batch_show_output(batch, event);
}

static void on_display(struct batch *batch, const struct hermes_event *event)
{
    if (batch_keeps_outputs(batch))
        outputs_add_display(&batch->records[batch->current->cell].outputs, event->is_result,
                            event->data, event->size);
    batch_store_output(batch, event);
    batch_show_display(batch, event);
}

/* The answer tells the cell; the person who started the run is told once. */
static void on_tool_call(struct batch *batch, const struct hermes_event *event)
{
    struct strbuf denial = STRBUF_INIT;
    char *name = xasprintf(",%s,", event->tool_call->tool);
    if (tool_calls_take(&batch->calls, event, &denial) == APPROVAL_REFUSED &&
        !strstr(strbuf_text(&batch->denied), name)) {
        strbuf_adds(&batch->denied, name);
        batch_say(batch, false, "%s", strbuf_text(&denial));
    }
    strbuf_free(&denial);
    free(name);
}

/* Events that this program does not know are those of later versions of the engine. */
static void on_event(struct batch *batch, const struct hermes_event *event)
{
    bool ours = batch->current && !batch->settled && event->cell == batch->cell;
    if (event->type == HERMES_EVENT_BACKGROUND)
        batch_show_background(batch, event);
    else if (event->type == HERMES_EVENT_KERNEL && event->state == HERMES_KERNEL_DEAD)
        note_dead(batch, event->kernel);
    else if (ours && event->type == HERMES_EVENT_STARTED)
        on_started(batch, event);
    else if (ours && event->type == HERMES_EVENT_OUTPUT)
        on_cell_output(batch, event);
    else if (ours && event->type == HERMES_EVENT_DISPLAY)
        on_display(batch, event);
    else if (ours && event->type == HERMES_EVENT_TOOL_CALL)
        on_tool_call(batch, event);
    else if (ours && event->type == HERMES_EVENT_DONE)
        on_done(batch, event->result);
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

/*
 * Wait for one event, at most limit_ms (-1: as long as it takes), and deal with it. False: the
 * engine failed.
 */
static bool take_event(struct batch *batch, int64_t limit_ms)
{
    struct hermes_event *event = NULL;
    batch_check_signals(batch);
    int64_t wait = sooner(limit_ms, progress_tick(&batch->progress));
    wait = sooner(wait, batch_show_waiting(batch));
    if (batch->options->rest) {
        batch_terminal_wait(batch, wait);
        wait = 0;
    }
    if (hermes_next_event(batch->engine, wait, &event) != HERMES_OK)
        return false;
    if (event) {
        on_event(batch, event);
        hermes_event_free(event);
    }
    return true;
}

/* ---- a cell --------------------------------------------------------------------------------- */

/* The shorter of the cell's limit and what is left of the run's; 0: the engine's option. */
static int64_t time_for_cell(struct batch *batch)
{
    if (!batch->deadline_ms)
        return 0;
    int64_t left = batch->deadline_ms - now_ms();
    if (batch->options->cell_timeout_ms >= 0 && batch->options->cell_timeout_ms <= left)
        return 0;
    batch->run_limited = true;
    return left > 0 ? left : 1;
}

static unsigned flags_for(const struct batch *batch)
{
    /* a person's own screen shows what the cell wrote, and all of it */
    unsigned flags = batch->options->format == BATCH_HUMAN || batch->options->format == BATCH_VERIFY
                         ? HERMES_CELL_NO_SPILL | HERMES_CELL_NO_REDACT
                         : 0;
    if (batch->document.format == DOCUMENT_NOTEBOOK)
        flags |= HERMES_CELL_ECHO | HERMES_CELL_AWAIT | HERMES_CELL_DISPLAY;
    else if (batch->options->echo)
        flags |= HERMES_CELL_ECHO | HERMES_CELL_AWAIT;
    if (batch->options->rest)
        flags |= HERMES_CELL_INTERACTIVE; /* :debug finds the failure */
    return flags;
}

static struct hermes_cell describe(struct batch *batch, const struct document_cell *source)
{
    struct hermes_cell cell = HERMES_CELL_INIT;
    cell.session = batch_session(batch);
    cell.mode = batch->options->strict ? HERMES_MODE_STRICT : HERMES_MODE_PROJECT;
    cell.python = batch->options->python;
    cell.cwd = batch->options->cwd;
    cell.tools = batch->options->terms->tools;
    cell.code = source->source;
    cell.code_size = source->size;
    cell.flags = flags_for(batch);
    cell.setup = &batch->setup;
    if (batch->file_name) {
        cell.file_name = batch->file_name;
        cell.first_line = source->first_line;
        if (!batch->kernel) {
            cell.whole_source = strbuf_text(&batch->text);
            cell.whole_source_size = batch->text.size;
        }
    }
    return cell;
}

static bool submit(struct batch *batch)
{
    const struct document_cell *source = &batch->document.cells[batch->current->cell];
    struct hermes_cell cell = describe(batch, source);
    struct magics_result magics = {NULL, 0, false};
    struct hermes_error error = {0, 0, ""};
    struct strbuf name = STRBUF_INIT;
    if (batch->document.format == DOCUMENT_NOTEBOOK)
        magics = magics_translate(source->source, source->size,
                                  batch_cell_name(batch, batch->current, &name));
    if (magics.source) {
        cell.code = magics.source;
        cell.code_size = magics.size;
    }
    batch->wall_time = magics.wall_time;
    cell.timeout_ms = time_for_cell(batch);
    int status = hermes_submit(batch->engine, &cell, &batch->cell, &error);
    free(magics.source);
    if (status != HERMES_OK) {
        batch_say(batch, true, "%s: %s", batch_cell_name(batch, batch->current, &name),
                  error.text[0] ? error.text : hermes_status_text(status));
        batch_stop_with(batch, BATCH_STOP_ENGINE,
                        status == HERMES_EINVAL ? BATCH_STATUS_USAGE : BATCH_STATUS_START);
    }
    strbuf_free(&name);
    if (status == HERMES_OK)
        batch_store_begin(batch);
    return status == HERMES_OK;
}

static void begin_progress(struct batch *batch)
{
    const struct document_cell *cell = &batch->document.cells[batch->current->cell];
    const char *title = cell->title ? cell->title : cell->source;
    if (!batch->progress.on || !batch->current->number)
        return;
    while (isspace((unsigned char)*title))
        title++;
    progress_begin(&batch->progress, batch->current->number, batch->total, title,
                   strcspn(title, "\r\n"));
}

/* How long to wait for this cell before something is done about it: -1, as long as it takes. */
static int64_t patience(struct batch *batch, int64_t stopped_ms)
{
    if (stopped_ms)
        return stopped_ms + SETTLE_MS - now_ms();
    /*
     * The engine's limit counts from the start of execution: ours bounds the start of the kernel
     * too.
     */
    return batch->deadline_ms && !batch->started ? batch->deadline_ms - now_ms() : -1;
}

static void await_cell(struct batch *batch)
{
    int64_t stopped_ms = 0;
    while (!batch->settled) {
        int64_t wait = patience(batch, stopped_ms);
        if (wait < 0 && stopped_ms)
            break; /* it will be gone with the engine */
        if (wait <= 0 && batch->deadline_ms && !batch->started && !stopped_ms) {
            batch_stop_with(batch, BATCH_STOP_TIME, BATCH_STATUS_TIMEOUT);
            hermes_reset(batch->engine, batch_session(batch), NULL);
        } else if (!take_event(batch, wait)) {
            batch_say(batch, true, "out of memory");
            batch_stop_with(batch, BATCH_STOP_ENGINE, BATCH_STATUS_START);
            break;
        }
        if (!stopped_ms && batch->stop >= BATCH_STOP_TIME) {
            stopped_ms = now_ms();
            kill_cell(batch, NULL);
        }
    }
}

void batch_run_item(struct batch *batch, const struct batch_item *item)
{
    batch->current = item;
    batch->started = batch->settled = batch->run_limited = false;
    batch->interrupts = 0;
    batch_check_signals(batch);
    if (batch->stop == BATCH_GOING && submit(batch)) {
        begin_progress(batch);
        await_cell(batch);
        progress_end(&batch->progress);
    }
    batch->current = NULL;
}

/* ---- the end -------------------------------------------------------------------------------- */

void batch_finish_kernels(struct batch *batch)
{
    char *grace = NULL;
    hermes_get_option(batch->engine, "shutdown_grace", &grace);
    int64_t limit = now_ms() + (int64_t)((grace ? strtod(grace, NULL) : 3) * 1000) + SETTLE_MS;
    hermes_free(grace);
    batch->interrupts = 0;
    if (batch->stop < BATCH_STOP_SIGNAL)
        hermes_close(batch->engine, batch_session(batch), NULL);
    while (batch->alive_count && batch->stop < BATCH_STOP_SIGNAL && now_ms() < limit) {
        if (!take_event(batch, limit - now_ms()))
            break;
        if (batch->interrupts)
            break; /* the engine's end kills what is left */
    }
}
