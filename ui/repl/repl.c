/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "repl-document.h"
#include "repl-internal.h"
#include "replay.h"
#include "rest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOMENT_MS 50
#define STEP_MS 8 /* then the front end draws and reads keys, however much output there is */

/* ---- what front ends are told --------------------------------------------------------------- */

void repl_tell_session(struct repl *repl, struct repl_session *session)
{
    if (repl->front.session_changed)
        repl->front.session_changed(repl->context, session);
}

void repl_tell_cell(struct repl *repl, struct repl_session *session, struct repl_cell *cell)
{
    if (repl->front.cell_changed)
        repl->front.cell_changed(repl->context, session, cell);
}

void repl_say(struct repl *repl, struct repl_session *session, const char *format, ...)
{
    struct strbuf line = STRBUF_INIT;
    va_list arguments;
    va_start(arguments, format);
    strbuf_vaddf(&line, format, arguments);
    va_end(arguments);
    if (repl->front.say)
        repl->front.say(repl->context, session, strbuf_text(&line));
    else if (!repl->stepped)
        strbuf_addf(&repl->unsaid, "%s\n", strbuf_text(&line));
    strbuf_free(&line);
}

/*
 * What was to be said while repl_new() opened the first sessions, at once: a later one would hide
 * it.
 */
static void say_unsaid(struct repl *repl)
{
    struct strbuf all = STRBUF_INIT;
    const char *line = strbuf_text(&repl->unsaid);
    for (size_t size; *line; line += size + (line[size] == '\n')) {
        size = strcspn(line, "\n");
        strbuf_addf(&all, "%s%.*s", all.size ? "; " : "", (int)size, line);
    }
    repl_say(repl, repl->in_front, "%s", strbuf_text(&all));
    strbuf_free(&all);
    strbuf_free(&repl->unsaid);
}

void repl_show(struct repl *repl, struct repl_session *session, const char *title,
               const struct strbuf *text)
{
    if (repl->front.show)
        repl->front.show(repl->context, session, title, strbuf_text(text), text->size);
}

/* ---- life ----------------------------------------------------------------------------------- */

static void copy_options(struct repl *repl, const struct repl_options *options)
{
    repl->options = *options;
    repl->options.python = options->python ? xstrdup(options->python) : NULL;
    repl->options.cwd = options->cwd ? xstrdup(options->cwd) : NULL;
    repl->options.terminal = options->terminal ? xstrdup(options->terminal) : NULL;
    repl->options.sessions = NULL;
    repl->options.remarks = NULL;
    if (options->remarks)
        strbuf_adds(&repl->unsaid, options->remarks);
    repl->setup = (struct hermes_kernel_setup)HERMES_KERNEL_SETUP_INIT;
    repl->setup.io = options->pipes ? HERMES_IO_PIPES : HERMES_IO_TTY;
    repl->setup.env = options->env;
    repl->setup.requests = true;
    repl->setup.terminal = repl->options.terminal;
    repl->setup.columns = options->columns;
    repl->setup.rows = options->rows;
    if (options->rest) { /* as the kernel was started that it goes on with */
        repl->setup.script = options->rest->script;
        repl->setup.argv = options->rest->argv;
        repl->setup.path0 = options->rest->path0;
    }
}

static bool open_sessions(struct repl *repl, const char *const *names, const char *document,
                          struct strbuf *error)
{
    bool named = names && names[0];
    if (!named && !(document ? repl_document_open(repl, document, error)
                             : repl_open(repl, NULL, error)))
        return false;
    for (size_t i = 0; names && names[i]; i++) {
        if (!repl_session_named(repl, names[i]) && !repl_open(repl, names[i], error))
            return false;
    }
    if (named && document &&
        !repl_document_attach(repl, repl_session_at(repl, 0), document, error))
        return false;
    repl_bring_front(repl, repl_session_at(repl, 0));
    return true;
}

struct repl *repl_new(struct hermes_engine *engine, const struct repl_options *options,
                      const struct repl_front *front, void *context, struct strbuf *error)
{
    struct repl *repl = xcalloc(1, sizeof(*repl));
    repl->engine = engine;
    repl->settings = options->settings;
    repl->terms = options->terms;
    repl->context = context;
    repl->history = history_new();
    copy_options(repl, options);
    tool_calls_init(&repl->calls, engine, options->terms);
    repl_tools_init(repl);
    hermes_event_fd(engine); /* from here on no event is lost, of a kernel that is quick either */
    if (!open_sessions(repl, options->sessions, options->document, error)) {
        repl_free(repl);
        return NULL;
    }
    if (options->rest)
        repl_adopt(repl);
    repl->front = *front; /* not before: the caller has no struct repl yet */
    return repl;
}

static bool any_kernel(const struct repl *repl)
{
    for (size_t i = 0; i < repl->session_count; i++) {
        const struct repl_session *session = &repl->sessions[i]->session;
        if (session->has_kernel || session->state == HERMES_KERNEL_STOPPING)
            return true;
    }
    return false;
}

void repl_finish(struct repl *repl, int64_t limit_ms, bool (*is_enough)(void *context))
{
    int64_t end_ms = now_ms() + limit_ms, left;
    repl->finishes = true;
    hermes_set_option(repl->engine, "spare_kernels", "0", NULL); /* end beside the others */
    hermes_set_option(repl->engine, "undo_kernels", "0", NULL);
    for (size_t i = 0; i < repl->session_count; i++) {
        const struct repl_session_data *data = repl->sessions[i];
        if (data->session.running || data->session.queued)
            hermes_reset(repl->engine, data->owner, NULL);
        else
            hermes_close(repl->engine, data->owner, NULL);
    }
    while (any_kernel(repl) && (left = end_ms - now_ms()) > 0) {
        struct hermes_event *event = NULL;
        if (is_enough && is_enough(repl->context))
            break;
        if (is_enough && left > MOMENT_MS)
            left = MOMENT_MS;
        if (hermes_next_event(repl->engine, left, &event) != HERMES_OK)
            break;
        if (event)
            repl_take_event(repl, event);
        hermes_event_free(event);
    }
}

void repl_free(struct repl *repl)
{
    if (!repl)
        return;
    repl->front = (struct repl_front){.say = NULL};
    replay_free(repl->replay);
    tool_calls_free(&repl->calls);
    repl_sessions_free(repl);
    for (size_t i = 0; i < repl->pending_count; i++)
        free(repl->pending[i].subject);
    free(repl->pending);
    free(repl->open);
    history_free(repl->history);
    strbuf_free(&repl->unsaid);
    free((char *)repl->options.python);
    free((char *)repl->options.cwd);
    free((char *)repl->options.terminal);
    free(repl);
}

/* ---- the loop ------------------------------------------------------------------------------- */

int repl_fd(const struct repl *repl)
{
    return hermes_event_fd(repl->engine);
}

int64_t repl_step(struct repl *repl)
{
    int64_t end_ms = now_ms() + STEP_MS;
    repl_recall_history(repl);
    repl->stepped = true;
    if (repl->unsaid.size)
        say_unsaid(repl);
    repl_say_remarks(repl);
    for (;;) {
        struct hermes_event *event = NULL;
        if (hermes_next_event(repl->engine, 0, &event) != HERMES_OK)
            xout_of_memory();
        if (!event)
            break;
        repl_take_event(repl, event);
        hermes_event_free(event);
        if (now_ms() >= end_ms)
            return 0;
    }
    int64_t watch = repl_watch(repl), replay = repl_replay_tick(repl);
    return replay < 0 || (watch >= 0 && watch < replay) ? watch : replay;
}

struct hermes_engine *repl_engine(struct repl *repl)
{
    return repl->engine;
}

struct settings *repl_settings(struct repl *repl)
{
    return repl->settings;
}

struct history *repl_history(struct repl *repl)
{
    return repl->history;
}

bool repl_is_busy(const struct repl *repl)
{
    return repl->open_count > 0;
}

bool repl_awaits_answer(const struct repl *repl)
{
    for (size_t i = 0; i < repl->pending_count; i++) {
        if (repl->pending[i].purpose != REPL_FOR_FRONT)
            return true;
    }
    return repl->replay != NULL;
}

bool repl_wants_quit(const struct repl *repl)
{
    return repl->quits;
}

void repl_type(struct repl *repl, struct repl_session *session, const char *data, size_t size)
{
    struct hermes_error error = {0, 0, ""};
    if (session->kernel &&
        hermes_input(repl->engine, session->kernel, data, size, &error) != HERMES_OK)
        repl_say(repl, session, "nothing reads what is typed: %s",
                 error.text[0] ? error.text : "the kernel has no terminal");
}

const char *repl_state_text(const struct repl_session *session)
{
    static const char *const names[] = {
#define X(name, text) text,
        HERMES_KERNEL_STATE_MAP(X)
#undef X
    };
    static char ended[96];
    if (session->ended && !session->running) {
        snprintf(ended, sizeof ended, "ended: %s", session->ended);
        return ended;
    }
    return session->has_kernel ? names[session->state] : "no kernel";
}
