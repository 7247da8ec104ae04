/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engine's events become the model. Nothing here knows what a person asked for: what the
 * sessions show is what happened.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repl-internal.h"

/* ---- the end of a kernel -------------------------------------------------------------------- */

/*
 * "killed by SIGSEGV" of "The session kernel died while running the cell (killed by SIGSEGV); ...".
 */
static char *death_in(const struct hermes_result *result)
{
    const char *open = result && result->error ? strchr(result->error, '(') : NULL;
    const char *close = open ? strchr(open, ')') : NULL;
    return close && close - open < 80 ? xstrndup(open + 1, (size_t)(close - open - 1)) : NULL;
}

static char *end_in_a_word(enum hermes_previous cause, const struct hermes_result *result)
{
    static const char *const words[] = {
        [HERMES_PREVIOUS_NONE] = "ended",         [HERMES_PREVIOUS_RESET] = "reset",
        [HERMES_PREVIOUS_TIMEOUT] = "timeout",    [HERMES_PREVIOUS_INTERRUPTED] = "interrupted",
        [HERMES_PREVIOUS_KILLED] = "killed",      [HERMES_PREVIOUS_EXITED] = "exited",
        [HERMES_PREVIOUS_DIED] = "died",          [HERMES_PREVIOUS_EVICTED] = "evicted",
        [HERMES_PREVIOUS_IDLE] = "idle too long", [HERMES_PREVIOUS_KEY_CHANGED] = "other settings",
        [HERMES_PREVIOUS_UNDONE] = "undone",
    };
    char *death = cause == HERMES_PREVIOUS_DIED ? death_in(result) : NULL;
    if (death && result && result->limit) {
        char *killed = xasprintf("killed (%s)", death);
        free(death);
        return killed;
    }
    if (death)
        return death;
    if (cause == HERMES_PREVIOUS_EXITED && result && result->ended && result->exit_code)
        return xasprintf("exited with %d", result->exit_code);
    return xstrdup((size_t)cause < sizeof words / sizeof words[0] ? words[cause] : "ended");
}

static void add_end(struct strbuf *line, enum hermes_previous cause, const char *word)
{
    switch (cause) {
    case HERMES_PREVIOUS_TIMEOUT:
        strbuf_adds(line, "kernel killed (timeout)");
        break;
    case HERMES_PREVIOUS_INTERRUPTED:
        strbuf_adds(line, "kernel killed (it did not stop when interrupted)");
        break;
    case HERMES_PREVIOUS_IDLE:
        strbuf_adds(line, "kernel ended (idle too long)");
        break;
    case HERMES_PREVIOUS_EVICTED:
        strbuf_adds(line, "kernel ended (evicted: another needed its place)");
        break;
    case HERMES_PREVIOUS_UNDONE:
        strbuf_adds(line, "kernel ended (one from before came back)");
        break;
    case HERMES_PREVIOUS_DIED: /* "killed by SIGSEGV" reads well as it is */
        strbuf_addf(line, strncmp(word, "exit ", 5) == 0 ? "kernel ended (%s)" : "kernel %s", word);
        break;
    default:
        strbuf_addf(line, "kernel %s", word);
        break;
    }
}

static void kernel_ended(struct repl *repl, struct repl_session *session,
                         const struct hermes_result *result)
{
    struct repl_session_data *data = session_data(session);
    struct strbuf line = STRBUF_INIT;
    free(session->ended);
    session->ended = end_in_a_word(data->cause, result);
    add_end(&line, data->cause, session->ended);
    if (data->kept)
        strbuf_addf(&line, " · %s takes it back: %s", repl_undo_keys(repl), data->cost);
    else if (data->lost_state && result && result->undo)
        strbuf_addf(&line, " · %s brings back the state before the cell", repl_undo_keys(repl));
    else if (data->lost_state)
        strbuf_addf(&line, " · state lost: %s", data->cost);
    /* One that nobody used and that ended as kernels do is no news. */
    if (repl->finishes)
        strbuf_clear(&line);
    else if (data->lost_state || data->cause == HERMES_PREVIOUS_DIED ||
             data->cause == HERMES_PREVIOUS_TIMEOUT)
        repl_add_item(repl, session, NULL, strbuf_steal(&line));
    strbuf_free(&line);
    data->line_due = false;
    repl_tell_session(repl, session);
}

/* The next kernel may begin before the cell of this one settles. */
static void remember_loss(struct repl_session *session)
{
    struct repl_session_data *data = session_data(session);
    struct strbuf cost = STRBUF_INIT;
    repl_add_cost(&cost, session);
    free(data->cost);
    data->cost = strbuf_steal(&cost);
    data->lost_state = session->ran;
    session->ran = false;
    session->execution_count = 0;
    session->memory_bytes = 0;
}

static void kernel_ends(struct repl *repl, struct repl_session *session, enum hermes_previous cause,
                        bool kept)
{
    struct repl_session_data *data = session_data(session);
    session->has_kernel = false;
    data->cause = cause;
    data->kept = kept;
    data->line_due = true;
    remember_loss(session);
    repl_forget_requests(repl, session);
    if (!session->running) /* else its result tells more, and comes next */
        kernel_ended(repl, session, NULL);
    repl_tell_session(repl, session);
    if (cause == HERMES_PREVIOUS_RESET && !repl->finishes)
        repl_start_kernel(repl, session);
}

static void kernel_began(struct repl_session *session, uint64_t kernel)
{
    session->kernel = kernel;
    session->has_kernel = true;
    session->ran = false;
    session->pid = 0;
    session->execution_count = 0;
    session->memory_bytes = 0;
    session_data(session)->kernel_since_ms = now_ms();
}

/* A kernel that was reset, or the state before a cell, serves the session again. */
static void kernel_came_back(struct repl *repl, struct repl_session *session,
                             const struct hermes_event *event)
{
    struct strbuf line = STRBUF_INIT;
    kernel_began(session, event->kernel);
    session->ran = event->execution_count > 0;
    session->execution_count = event->execution_count;
    free(session->ended);
    session->ended = NULL;
    repl_learn_kernel(repl, session);
    repl_sample_memory(session);
    strbuf_adds(&line, "undone · back with ");
    repl_add_cost(&line, session);
    repl_add_item(repl, session, NULL, strbuf_steal(&line));
    if (!repl->options.pipes)
        hermes_resize(repl->engine, session->kernel, repl->options.columns, repl->options.rows);
}

static void on_kernel(struct repl *repl, const struct hermes_event *event)
{
    struct repl_session *session = repl_session_of_owner(repl, event->session);
    if (!session)
        return;
    if (event->kernel != session->kernel && event->state == HERMES_KERNEL_STARTING)
        kernel_began(session, event->kernel);
    if (event->state == HERMES_KERNEL_IDLE && event->cause == HERMES_PREVIOUS_UNDONE)
        kernel_came_back(repl, session, event);
    if (event->kernel != session->kernel)
        return; /* one before it, of which all is told */
    bool was_starting = session->state == HERMES_KERNEL_STARTING || !session->pid;
    bool kept = event->state == HERMES_KERNEL_PARKED;
    session->state = kept ? HERMES_KERNEL_DEAD : event->state;
    session->state_since_ms = now_ms();
    if (kept || event->state == HERMES_KERNEL_STOPPING || event->state == HERMES_KERNEL_DEAD) {
        if (session->has_kernel)
            kernel_ends(repl, session, event->cause, kept);
        else
            repl_tell_session(repl, session);
        return;
    }
    if (was_starting && event->state != HERMES_KERNEL_STARTING)
        repl_learn_kernel(repl, session);
    repl_tell_session(repl, session);
}

/* ---- cells ---------------------------------------------------------------------------------- */

static void on_started(struct repl *repl, struct repl_cell_data *data,
                       const struct hermes_event *event)
{
    struct repl_session *session = data->session;
    if (event->kernel != session->kernel)
        kernel_began(session, event->kernel);
    data->cell.state = REPL_RUNNING;
    data->cell.started_ms = now_ms();
    session->running = &data->cell;
    session->queued--;
    session->ran = true;
    session->execution_count = event->execution_count;
    session->state = HERMES_KERNEL_BUSY;
    session->state_since_ms = data->cell.started_ms;
    free(session->ended);
    session->ended = NULL;
    if (!session->pid)
        repl_learn_kernel(repl, session);
    repl_watch_start(repl, session);
    repl_document_cell_started(data);
    repl_tell_cell(repl, session, &data->cell);
    repl_tell_session(repl, session);
}

/* sys.exit() with a status or a message: the message has been written already, as under python. */
static bool is_exit(const struct hermes_result *result)
{
    return result->outcome == HERMES_ERROR && result->ended && !result->start_failed &&
           !result->term_signal && !strstr(result->error, "state was lost");
}

static void copy_result(struct repl_cell *cell, const struct hermes_result *result)
{
    cell->outcome = result->outcome;
    cell->not_run = !result->started && !result->start_failed;
    cell->start_failed = result->start_failed;
    cell->ended = result->ended;
    cell->exit_code = result->exit_code;
    cell->duration_us = result->duration_us;
    cell->execution_count = result->execution_count;
    cell->generation = result->generation;
    cell->reused = result->reused;
    cell->spill_path = result->spill_path ? xstrdup(result->spill_path) : NULL;
    cell->hint = result->hint && !result->limit ? xstrdup(result->hint) : NULL;
    cell->input_waits = cell->input_raw = cell->input_hidden = false;
}

static void show_end(struct repl *repl, struct repl_cell_data *data,
                     const struct hermes_result *result)
{
    if (data->wall_time) {
        char text[60];
        int length =
            snprintf(text, sizeof text, "Wall time: %.3g s\n", (double)result->duration_us / 1e6);
        outputs_add_stream(&data->outputs, 1, text, (size_t)length);
        repl_add_text(repl, data, 1, text, (size_t)length);
    }
    if (!result->error_size || data->cell.not_run || is_exit(result))
        return;
    outputs_set_error(&data->outputs, result->error, result->error_size);
    repl_add_text(repl, data, 2, result->error, result->error_size);
    if (result->limit && result->hint) { /* what the exception itself does not know */
        char *line = xasprintf("%s\n", result->hint);
        repl_add_text(repl, data, 2, line, strlen(line));
        free(line);
    }
}

static void count_result(struct repl_session *session, const struct hermes_result *result)
{
    if (result->generation)
        session->generation = result->generation;
    if (result->kernel == session->kernel && result->kernel_pid)
        session->pid = result->kernel_pid;
}

static void free_running(struct repl *repl, struct repl_cell_data *data)
{
    struct repl_session *session = data->session;
    if (session->running == &data->cell) {
        session->running = NULL;
        repl_watch_stop(repl, session);
    } else {
        session->queued--;
    }
    if (!session->running)
        session->interrupts = 0;
    repl_drop_doubt(repl, REPL_DOUBT_KILL, session);
}

static void start_debugger(struct repl *repl, struct repl_session *session,
                           const struct repl_cell_data *data, const struct hermes_result *result)
{
    static const char code[] = "__import__('pdb').pm()";
    struct strbuf error = STRBUF_INIT;
    struct repl_submission what = {.source = ":debug",
                                   .source_size = 6,
                                   .code = code,
                                   .code_size = sizeof code - 1,
                                   .post_mortem = true};
    bool raised =
        result->outcome == HERMES_ERROR && !result->ended && strstr(result->error, "Traceback");
    if (!raised || !session_data(session)->post_mortem || data->post_mortem || session->queued)
        return;
    if (!repl_submit(repl, session, &what, &error))
        repl_say(repl, session, "%s", strbuf_text(&error));
    strbuf_free(&error);
}

static void on_done(struct repl *repl, struct repl_cell_data *data,
                    const struct hermes_result *result)
{
    struct repl_session *session = data->session;
    tool_calls_cancel(&repl->calls, data->cell.id);
    repl_drop_questions(repl, session, data->cell.id);
    copy_result(&data->cell, result);
    show_end(repl, data, result);
    if (repl->options.blocks)
        block_end(data->cell.output);
    data->cell.state = REPL_SETTLED;
    repl_store_settle(repl, data, result);
    int interrupts = session->running == &data->cell ? session->interrupts : 0;
    free_running(repl, data);
    repl_close_cell(repl, data);
    count_result(session, result);
    if (session != repl->in_front) {
        session->unread = true;
        session->failed |= result->outcome != HERMES_SUCCESS && !data->cell.not_run;
    }
    repl_sample_memory(session);
    repl_tell_cell(repl, session, &data->cell);
    if (session_data(session)->line_due)
        kernel_ended(repl, session, result);
    if (interrupts)
        repl_interrupted(repl, data, result);
    repl_document_cell_done(repl, data);
    start_debugger(repl, session, data, result);
    repl_rest_settled(repl, data);
    repl_tell_session(repl, session);
}

/* ---- output that belongs to no cell --------------------------------------------------------- */

static struct repl_session *session_of_kernel(const struct repl *repl, uint64_t kernel)
{
    for (size_t i = 0; i < repl->session_count; i++) {
        if (repl->sessions[i]->session.kernel == kernel)
            return &repl->sessions[i]->session;
    }
    return NULL;
}

static void on_background(struct repl *repl, const struct hermes_event *event)
{
    struct repl_session *session = session_of_kernel(repl, event->kernel);
    if (!session)
        return;
    struct repl_cell_data *data = session_data(session)->background;
    if (!data) {
        data = repl_cell_new(repl, session, "", 0);
        data->cell.state = REPL_SETTLED;
        repl_add_item(repl, session, &data->cell, NULL);
        session_data(session)->background = data;
    }
    repl_add_output(repl, data, event->stream, event->data, event->size);
}

/* ---- all of them ---------------------------------------------------------------------------- */

void repl_take_event(struct repl *repl, const struct hermes_event *event)
{
    struct repl_cell_data *data = event->cell ? repl_open_cell(repl, event->cell) : NULL;
    if (repl_replay_take(repl, event))
        return;
    switch (event->type) {
    case HERMES_EVENT_KERNEL:
        on_kernel(repl, event);
        return;
    case HERMES_EVENT_BACKGROUND:
        on_background(repl, event);
        return;
    case HERMES_EVENT_ANSWER:
        repl_take_answer(repl, event);
        return;
    default:
        break;
    }
    if (!data)
        return; /* of a session that was closed */
    switch (event->type) {
    case HERMES_EVENT_STARTED:
        on_started(repl, data, event);
        break;
    case HERMES_EVENT_OUTPUT:
        repl_add_output(repl, data, event->stream, event->data, event->size);
        repl_watch_output(repl, data);
        break;
    case HERMES_EVENT_DISPLAY:
        repl_add_display(repl, data, event->is_result, event->data, event->size);
        break;
    case HERMES_EVENT_TOOL_CALL:
        repl_tool_call(repl, data, event);
        break;
    case HERMES_EVENT_DONE:
        on_done(repl, data, event->result);
        break;
    default: /* of a later version of the engine */
        break;
    }
}
