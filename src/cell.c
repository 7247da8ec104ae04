/* SPDX-License-Identifier: MIT */
/*
 * One cell from submission to result. Puts endings into words; knows nothing of processes and
 * frames.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "authority.h"
#include "hint.h"
#include "redact.h"
#include "tools.h"

enum { TRACEBACK_LIMIT = 20000 };

static struct hr_result *result_new(void)
{
    struct hr_result *result = hr_calloc(1, sizeof *result);

    if (result)
        result->public.state_kept = -1;
    return result;
}

static bool copy_texts(struct hr_cell *cell, const struct hermes_cell *request)
{
    cell->code = hr_memdup(request->code, cell->code_size);
    if (request->file_name && !(cell->file_name = hr_strdup(request->file_name)))
        return false;
    if (request->whole_source) {
        cell->whole_source_size =
            request->whole_source_size ? request->whole_source_size : strlen(request->whole_source);
        cell->whole_source = hr_memdup(request->whole_source, cell->whole_source_size);
        if (!cell->whole_source)
            return false;
    }
    return cell->code != NULL;
}

static int64_t cell_timeout(const struct hermes_engine *engine, const struct hermes_cell *request)
{
    if (request->timeout_ms < 0)
        return 0;
    return request->timeout_ms ? request->timeout_ms : engine->options.timeout_ms;
}

static struct hermes_authority *make_authority(const struct hermes_engine *engine,
                                               const struct hermes_cell *request)
{
    struct hermes_authority_options options = HERMES_AUTHORITY_OPTIONS_INIT;
    struct hermes_authority *authority;

    options.session = request->session ? request->session : request->task_id;
    options.task_id = request->task_id;
    options.child_id = request->child_id;
    options.tools = request->tools ? request->tools : hr_tool_names;
    options.handler = request->tool_handler;
    options.context = request->tool_context;
    authority = hermes_authority_new(&options);
    if (authority)
        hr_authority_limit(authority, request->max_tool_calls ? request->max_tool_calls
                                                              : engine->options.max_tool_calls);
    return authority;
}

int hr_cell_new(struct hermes_engine *engine, const struct hermes_cell *request,
                struct hr_spec *spec, struct hr_cell **ret)
{
    struct hr_cell *cell = hr_calloc(1, sizeof *cell);

    if (!cell)
        return HERMES_ENOMEM;
    hr_list_init(&cell->link);
    hr_list_init(&cell->all);
    hr_list_init(&cell->pending_calls);
    cell->engine = engine;
    cell->code_size = request->code_size ? request->code_size : strlen(request->code);
    cell->first_line = request->first_line ? request->first_line : 1;
    cell->flags = request->flags;
    cell->timeout_ms = cell_timeout(engine, request);
    cell->result = result_new();
    if (hr_tools_wanted(spec))
        cell->authority = make_authority(engine, request);
    if (!copy_texts(cell, request) || !cell->result ||
        (hr_tools_wanted(spec) && !cell->authority)) {
        hr_cell_free(cell);
        return HERMES_ENOMEM;
    }
    cell->spec = spec;
    spec->references++;
    spec->owner->cells++;
    cell->id = hr_engine_id(engine);
    cell->submitted_ns = hr_now_ns();
    hr_list_append(&engine->cells, &cell->all);
    *ret = cell;
    return 0;
}

static void drop_sources(struct hr_cell *cell)
{
    hr_free(cell->code);
    hr_free(cell->whole_source);
    cell->code = cell->whole_source = NULL;
}

void hr_cell_free(struct hr_cell *cell)
{
    if (!cell)
        return;
    hr_list_remove(&cell->link);
    hr_list_remove(&cell->all);
    if (cell->spec) {
        cell->spec->owner->cells--;
        hr_spec_unref(cell->engine, cell->spec);
    }
    hr_collector_free(cell->streams[0]);
    hr_collector_free(cell->streams[1]);
    if (cell->result)
        hermes_result_free(&cell->result->public);
    if (cell->done)
        hermes_event_free(&cell->done->public);
    drop_sources(cell);
    hermes_authority_unref(cell->authority);
    hr_free(cell->file_name);
    hr_free(cell->spill_directory);
    hr_free(cell->reason);
    hr_free(cell);
}

/* ---- output ----------------------------------------------------------------------------- */

/* The directory is the cell's own copy: the option may change while the cell runs. */
static const char *spill_directory(struct hr_cell *cell)
{
    const char *option = cell->engine->options.spill_directory;

    if (!cell->spill_directory)
        cell->spill_directory = *option ? hr_strdup(option) : hr_spill_default_directory();
    return cell->spill_directory;
}

static bool redacts(const struct hr_cell *cell)
{
    return cell->engine->options.redact && !(cell->flags & HERMES_CELL_NO_REDACT);
}

static struct hr_collector *stream_collector(struct hr_cell *cell, int stream)
{
    struct hr_collector **slot = &cell->streams[stream - 1];
    const struct hr_options *options = &cell->engine->options;
    struct hr_collector_options limits = {
        .limit_bytes = (size_t)(stream == 1 ? options->stdout_limit : options->stderr_limit),
        .redact = redacts(cell),
        .terminal = cell->spec->io == HERMES_IO_TTY,
    };

    if (*slot)
        return *slot; /* cppcheck-suppress identicalInnerCondition; it returns a pointer */
    if (options->spill && stream == 1 && !(cell->flags & HERMES_CELL_NO_SPILL)) {
        limits.spill_limit_bytes = (uint64_t)options->spill_limit;
        limits.spill_directory = spill_directory(cell);
    }
    *slot = hr_collector_new(&limits);
    return *slot;
}

void hr_cell_output(struct hr_cell *cell, int stream, const char *data, size_t size)
{
    struct hr_collector *collector = stream_collector(cell, stream);

    if (collector)
        hr_collector_feed(collector, data, size);
    else
        cell->output_lost = true;
    if (cell->events) {
        struct hr_event *event = hr_event_new(HERMES_EVENT_OUTPUT, data, size);

        if (event) {
            event->public.cell = cell->id;
            event->public.kernel = cell->kernel->id;
            event->public.stream = stream;
        }
        hr_event_push(cell->engine, event);
    }
}

/* ---- result ----------------------------------------------------------------------------- */

static void add_line_end(struct hr_buf *text)
{
    if (text->size && text->data[text->size - 1] != '\n')
        hr_buf_add(text, "\n", 1);
}

static void count_stream(struct hermes_result *result, const struct hr_collected *got)
{
    result->truncated |= got->truncated;
    result->bytes_total += got->bytes_total;
    result->bytes_captured += got->bytes_captured;
    result->bytes_omitted += got->bytes_omitted;
    result->redactions += got->redactions;
}

/* A text of the ending, cleaned, redacted and bounded as a stream is: it may quote a process. */
static bool clean_text(const struct hr_cell *cell, const char *text, size_t size,
                       struct hr_collected *ret)
{
    struct hr_collector_options limits = {.limit_bytes = TRACEBACK_LIMIT, .redact = redacts(cell)};
    struct hr_collector *collector;
    bool done;

    memset(ret, 0, sizeof *ret);
    if (!size)
        return true;
    collector = hr_collector_new(&limits);
    if (!collector)
        return false;
    hr_collector_feed(collector, text, size);
    done = hr_collector_finish(collector, ret);
    hr_collector_free(collector);
    return done;
}

static void compose_output(struct hr_buf *out, const struct hr_collected streams[2],
                           const struct hr_collected *traceback, const char *notice)
{
    hr_buf_add(out, streams[0].text, streams[0].size);
    if (streams[1].size || traceback->size) {
        add_line_end(out);
        hr_buf_add_text(out, "--- stderr ---\n");
        hr_buf_add(out, streams[1].text, streams[1].size);
        if (traceback->size) {
            add_line_end(out);
            hr_buf_add(out, traceback->text, traceback->size);
        }
    }
    if (notice) {
        add_line_end(out);
        if (out->size)
            hr_buf_add(out, "\n", 1);
        hr_buf_add_text(out, notice);
    }
}

static void compose_error(struct hr_buf *error, const struct hr_collected *message,
                          const struct hr_collected *traceback)
{
    hr_buf_add(error, message->text, message->size);
    if (traceback->size) {
        add_line_end(error);
        hr_buf_add(error, traceback->text, traceback->size);
    }
}

static bool redact_collected(struct hr_collected *got)
{
    struct hr_buf text;

    hr_buf_init(&text, 0);
    if (!hr_redact_text(got->text, got->size, &text, &got->redactions)) {
        hr_buf_done(&text);
        return false;
    }
    hr_free(got->text);
    got->size = text.size;
    got->text = hr_buf_take(&text);
    return got->text != NULL;
}

/* It was collected for no cell, so the one that shows it decides whether it is redacted. */
static void take_background(struct hr_cell *cell, struct hr_result *result)
{
    struct hr_kernel *kernel = cell->kernel;
    struct hr_collected got;

    if (!kernel || !kernel->background)
        return;
    if (hr_collector_finish(kernel->background, &got)) {
        if (!redacts(cell) || redact_collected(&got)) {
            result->background = got.text;
            result->public.background_output = got.text;
            result->public.background_output_size = got.size;
            result->public.redactions += got.redactions;
            got.text = NULL;
        }
        hr_collected_done(&got);
    }
    hr_collector_free(kernel->background);
    kernel->background = NULL;
}

static void fill_texts(struct hr_cell *cell, struct hr_result *result,
                       const struct hr_ending *ending)
{
    struct hr_collected streams[2] = {{0}, {0}}, traceback, message;
    const char *words = ending->message ? ending->message : "";
    struct hr_buf output, error;
    bool complete = clean_text(cell, ending->traceback, ending->traceback_size, &traceback);

    complete &= clean_text(cell, words, strlen(words), &message);
    complete &= !cell->output_lost;
    hr_buf_init(&output, 0);
    hr_buf_init(&error, 0);
    for (int i = 0; i < 2; i++) {
        if (!cell->streams[i])
            continue;
        complete &= hr_collector_finish(cell->streams[i], &streams[i]);
        count_stream(&result->public, &streams[i]);
        hr_collector_free(cell->streams[i]);
        cell->streams[i] = NULL;
    }
    compose_output(&output, streams, &traceback, ending->notice);
    compose_error(&error, &message, &traceback);
    if (ending->outcome == HERMES_ERROR && traceback.size) {
        result->hint = hr_hint(traceback.text, traceback.size, cell->spec->tools);
        if (!result->hint && cell->kernel && !ending->ended)
            result->public.limit = hr_rlimits_of_exception(&cell->kernel->limits, traceback.text,
                                                           traceback.size, &result->hint);
        result->public.hint = result->hint;
    }
    result->public.redactions += traceback.redactions + message.redactions;
    complete &= !output.failed && !error.failed;
    result->public.output_size = output.size;
    result->public.output = result->output = hr_buf_take(&output);
    if (ending->outcome != HERMES_SUCCESS) {
        result->public.error_size = error.size;
        result->public.error = result->error = hr_buf_take(&error);
        if (!result->error ||
            (!result->public.error_size && !complete)) { /* an error is never without a word */
            result->public.error = "out of memory while the error was reported";
            result->public.error_size = strlen(result->public.error);
        }
    }
    if (!complete)
        result->public.warning = "out of memory: parts of the output are missing";
    else if (streams[0].truncated &&
             !(result->public.warning = result->warning = hr_collected_warning(&streams[0])))
        result->public.warning = "execute_code stdout was truncated";
    result->public.spill_path = result->spill_path = streams[0].spill_path;
    streams[0].spill_path = NULL;
    if (!result->public.output) {
        result->public.output = "";
        result->public.output_size = 0;
    }
    hr_buf_done(&output);
    hr_buf_done(&error);
    hr_collected_done(&streams[0]);
    hr_collected_done(&streams[1]);
    hr_collected_done(&traceback);
    hr_collected_done(&message);
}

static void fill_kernel(struct hr_cell *cell, struct hermes_result *result,
                        const struct hr_ending *ending)
{
    const struct hr_kernel *kernel = cell->kernel;

    result->ended = ending->ended;
    result->start_failed = ending->start_failed;
    result->term_signal = ending->term_signal;
    result->undo = ending->undo;
    result->limit = ending->limit;
    result->started = cell->state == HR_CELL_RUNNING && !ending->start_failed;
    result->generation = cell->spec->owner->generation;
    if (!kernel)
        return;
    result->kernel = kernel->id;
    result->kernel_pid = kernel->process.python;
    result->generation = kernel->generation;
    if (cell->state == HR_CELL_RUNNING) {
        result->execution_count = kernel->execution_count;
        result->reused = kernel->execution_count > 1;
        if (kernel->execution_count == kernel->told_from + 1) {
            result->previous = kernel->previous;
            result->state_reset = kernel->state_reset;
        }
    }
}

static void fill_times(const struct hr_cell *cell, struct hermes_result *result)
{
    int64_t now = hr_now_ns();
    int64_t started = cell->started_ns ? cell->started_ns : now;

    result->queued_us = (started - cell->submitted_ns) / 1000;
    result->duration_us = (now - started) / 1000;
}

void hr_cell_settle(struct hr_cell *cell, const struct hr_ending *ending)
{
    struct hr_result *result = cell->result;
    struct hr_event *done = cell->done;

    hr_tools_cell_settled(cell);
    if (cell->authority)
        result->public.tool_calls = hermes_authority_calls(cell->authority);
    result->public.cell = cell->id;
    result->public.outcome = ending->outcome;
    result->public.exit_code = ending->exit_code;
    if (ending->outcome == HERMES_INTERRUPTED && cell->state == HR_CELL_RUNNING)
        result->public.state_kept = !ending->state_lost;
    fill_times(cell, &result->public);
    fill_kernel(cell, &result->public, ending);
    fill_texts(cell, result, ending);
    take_background(cell, result);
    cell->state = HR_CELL_SETTLED;
    cell->kernel = NULL;
    hr_list_remove(&cell->link);
    hr_list_remove(&cell->all);
    drop_sources(cell);
    if (cell->blocking)
        return; /* the waiter looks after each step */
    done->public.cell = cell->id;
    done->public.kernel = result->public.kernel;
    done->public.result = &result->public;
    cell->done = NULL;
    cell->result = NULL;
    hr_event_push(cell->engine, done);
    hr_cell_free(cell);
}

void hr_cell_not_run(struct hr_cell *cell, const char *why)
{
    char message[320];
    struct hr_ending ending = {.outcome = HERMES_INTERRUPTED, .exit_code = -1, .message = message};

    snprintf(message, sizeof message, "Not run: %s.", why);
    hr_cell_settle(cell, &ending);
}

void hr_cell_start_failed(struct hr_cell *cell, const char *why)
{
    struct hr_buf message;
    struct hr_ending ending = {.outcome = HERMES_ERROR,
                               .exit_code = 1,
                               .ended = true,
                               .start_failed = true,
                               .state_lost = true};

    hr_buf_init(&message, 0);
    hr_buf_printf(&message, "The session kernel could not start: %s", why);
    ending.message = message.failed ? "The session kernel could not start." : message.data;
    hr_cell_settle(cell, &ending);
    hr_buf_done(&message);
}

void hr_cell_refuse(struct hr_cell *cell, const char *why)
{
    struct hr_ending ending = {.outcome = HERMES_ERROR,
                               .exit_code = 1,
                               .message = *why ? why : "The cell was refused by the host."};

    hr_cell_settle(cell, &ending);
}
