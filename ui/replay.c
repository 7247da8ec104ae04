/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "replay.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "magics.h"
#include "progress.h"
#include "replay-internal.h"
#include "tool-calls.h"
#include "xalloc.h"

#define INPUT_MS 150  /* between looks whether a cell reads the terminal */
#define INPUTS_MAX 40 /* a cell that reads on after so many ends of file is killed */

/* ---- which cells ---------------------------------------------------------------------------- */

static bool is_magic_line(const char *line, size_t size)
{
    size_t at = 0;
    while (at < size && (line[at] == ' ' || line[at] == '\t'))
        at++;
    if (at == size || line[at] == '#')
        return true; /* blank, or a remark */
    return (line[at] == '%' && at + 1 < size && line[at + 1] != '%') || line[at] == '!';
}

/* No line of it is Python. */
static bool is_all_magic(const struct run_cell *cell)
{
    bool any = false;
    for (size_t at = 0; at < cell->source_size;) {
        const char *line = cell->source + at, *end = memchr(line, '\n', cell->source_size - at);
        size_t length = end ? (size_t)(end - line) : cell->source_size - at;
        if (!is_magic_line(line, length))
            return false;
        any = any || memchr(line, '%', length) || memchr(line, '!', length);
        at += length + 1;
    }
    return any;
}

/* NULL: it is run. */
static const char *reason_to_skip(const struct run_cell *cell)
{
    bool plain = cell->how & STORE_HOW_NO_DISPLAY;
    if (strcmp(cell->status, "not run") == 0)
        return "it was not run";
    if (strcmp(cell->status, "interrupted") == 0)
        return "it was interrupted";
    if (strcmp(cell->status, "timeout") == 0)
        return "it came to its time limit";
    if (strcmp(cell->status, "running") == 0)
        return "its end is not in the history";
    if (!plain && cell->source_size && cell->source[0] == ':')
        return "it is a command of the prompt";
    if (!plain && is_all_magic(cell))
        return "it is no Python";
    return NULL;
}

/* ---- life ----------------------------------------------------------------------------------- */

static char *directory_of(const char *path)
{
    char *real = realpath(path, NULL);
    const char *name = real ? real : path, *slash = strrchr(name, '/');
    char *directory = slash && slash > name ? xstrndup(name, (size_t)(slash - name)) : xstrdup("/");
    free(real);
    return directory;
}

/* The cells at their places in the file, as tracebacks quote them. */
static void add_whole(struct replay *replay, const struct run_cell *script)
{
    unsigned line = 1;
    for (size_t i = 0; i < replay->run.count; i++) {
        const struct run_cell *cell = &replay->run.cells[i];
        bool same = cell->how & STORE_HOW_NO_DISPLAY && cell->first_line >= line &&
                    (cell->origin == script->origin ||
                     (cell->origin && script->origin && strcmp(cell->origin, script->origin) == 0));
        if (!same)
            continue;
        for (; line < cell->first_line; line++)
            strbuf_addc(&replay->whole, '\n');
        strbuf_add(&replay->whole, cell->source, cell->source_size);
        if (cell->source_size && cell->source[cell->source_size - 1] != '\n')
            strbuf_addc(&replay->whole, '\n');
        for (size_t at = 0; at < cell->source_size; at++)
            line += cell->source[at] == '\n' || at + 1 == cell->source_size;
    }
}

/* As the run had it: a terminal, unless no cell had one; a script, if it was one. */
static void set_up(struct replay *replay)
{
    const struct run_cell *script = NULL;
    bool one_pipe = true;
    for (size_t i = 0; i < replay->run.count; i++) {
        const struct run_cell *cell = &replay->run.cells[i];
        replay->terminal = replay->terminal || !(cell->how & STORE_HOW_PIPES);
        one_pipe = one_pipe && cell->how & STORE_HOW_ONE_PIPE;
        if (!script && (cell->origin || cell->how & STORE_HOW_NO_DISPLAY))
            script = cell;
    }
    bool plain = script && script->how & STORE_HOW_NO_DISPLAY;
    replay->path0 = script && script->origin ? directory_of(script->origin) : NULL;
    if (plain)
        add_whole(replay, script);
    replay->setup = (struct hermes_kernel_setup){
        .size = sizeof(replay->setup),
        .io = replay->terminal ? HERMES_IO_TTY
              : one_pipe       ? HERMES_IO_ONE_PIPE
                               : HERMES_IO_PIPES,
        .stdin_source = HERMES_STDIN_NONE,
        .env = replay->terms.env,
        .script = plain ? script->origin : NULL,
        .path0 = replay->path0,
        .terminal = replay->terms.terminal,
        .columns = replay->terms.columns,
        .rows = replay->terms.rows,
    };
}

static size_t count_runnable(const struct replay *replay)
{
    size_t count = 0;
    for (size_t i = 0; i < replay->run.count; i++)
        count += replay->cells[i].verdict == REPLAY_WAITS;
    return count;
}

struct replay *replay_new(struct hermes_engine *engine, struct store *store, const char *session,
                          const char *owner, const struct replay_terms *terms, struct strbuf *error)
{
    struct replay *replay = xcalloc(1, sizeof(*replay));
    replay->engine = engine;
    replay->session = xstrdup(session);
    replay->owner = xstrdup(owner);
    replay->terms = *terms;
    bool good = session_run_read(store, session, NULL, &replay->run, error);
    replay->cells = xcalloc(replay->run.count + 1, sizeof(*replay->cells));
    for (size_t i = 0; i < replay->run.count; i++) {
        struct replay_cell *cell = &replay->cells[i];
        cell->stored = &replay->run.cells[i];
        cell->reason = reason_to_skip(cell->stored);
        cell->verdict = cell->reason ? REPLAY_SKIPPED : REPLAY_WAITS;
    }
    if (good && !count_runnable(replay)) {
        strbuf_setf(error,
                    replay->run.count ? "session '%s' has no cell in the history that can be run"
                                      : "there is no session '%s' in the history",
                    session);
        good = false;
    }
    if (!good) {
        replay_free(replay);
        return NULL;
    }
    set_up(replay);
    return replay;
}

void replay_free(struct replay *replay)
{
    if (!replay)
        return;
    if (replay->running || replay->kernel)
        hermes_reset(replay->engine, replay->owner, NULL);
    for (size_t i = 0; replay->cells && i < replay->run.count; i++) {
        free(replay->cells[i].difference);
        free(replay->cells[i].status);
    }
    if (replay->running)
        shown_free(&replay->shown);
    session_run_free(&replay->run);
    free(replay->cells);
    free(replay->session);
    free(replay->owner);
    free(replay->path0);
    strbuf_free(&replay->whole);
    free(replay->failure);
    free(replay);
}

/* ---- a cell --------------------------------------------------------------------------------- */

static unsigned flags_of(const struct run_cell *cell)
{
    unsigned flags = HERMES_CELL_NO_SPILL | HERMES_CELL_NO_REDACT;
    if (!(cell->how & STORE_HOW_NO_ECHO))
        flags |= HERMES_CELL_ECHO | HERMES_CELL_AWAIT;
    if (!(cell->how & STORE_HOW_NO_DISPLAY))
        flags |= HERMES_CELL_DISPLAY;
    if (!(cell->how & STORE_HOW_PIPES))
        flags |= HERMES_CELL_INTERACTIVE;
    return flags;
}

/* As tracebacks named it. Yours. */
static char *file_name_of(const struct run_cell *cell)
{
    if (cell->how & STORE_HOW_NO_DISPLAY && cell->origin)
        return xstrdup(cell->origin);
    if (cell->how & STORE_HOW_NO_DISPLAY)
        return xstrdup("<string>");
    bool batch = cell->origin && cell->execution_count; /* a notebook's */
    return xasprintf("<cell %u>", batch ? (unsigned)cell->execution_count : cell->number);
}

static int submit_code(struct replay *replay, const struct run_cell *stored,
                       struct hermes_error *why)
{
    struct hermes_cell cell = HERMES_CELL_INIT;
    struct magics_result magics = {NULL, 0, false};
    char *name = xasprintf("cell %u", stored->number), *file_name = file_name_of(stored);
    if (!(stored->how & STORE_HOW_NO_DISPLAY))
        magics = magics_translate(stored->source, stored->source_size, name);
    cell.session = replay->owner;
    cell.mode = replay->terms.mode;
    cell.python = replay->terms.python;
    cell.cwd = replay->terms.cwd;
    cell.tools = replay->terms.tools;
    cell.code = magics.source ? magics.source : stored->source;
    cell.code_size = magics.source ? magics.size : stored->source_size;
    cell.file_name = file_name;
    cell.first_line = stored->first_line;
    if (!replay->kernel && replay->whole.size) {
        cell.whole_source = strbuf_text(&replay->whole);
        cell.whole_source_size = replay->whole.size;
    }
    cell.flags = flags_of(stored);
    cell.setup = &replay->setup;
    replay->wall_time = magics.wall_time;
    int status = hermes_submit(replay->engine, &cell, &replay->cell, why);
    free(magics.source);
    free(file_name);
    free(name);
    return status;
}

static void fail(struct replay *replay, const char *text)
{
    free(replay->failure);
    replay->failure = xstrdup(text);
    replay->over = true;
}

static void run_next(struct replay *replay)
{
    struct hermes_error why = {0, 0, ""};
    while (replay->next < replay->run.count && replay->cells[replay->next].verdict != REPLAY_WAITS)
        replay->next++;
    if (replay->stopped || replay->next >= replay->run.count) {
        replay->over = true;
        return;
    }
    const struct run_cell *stored = &replay->run.cells[replay->next];
    int status = submit_code(replay, stored, &why);
    if (status != HERMES_OK) {
        fail(replay, why.text[0] ? why.text : hermes_status_text(status));
        return;
    }
    shown_init(&replay->shown, replay->terminal);
    replay->current = replay->next++;
    replay->running = true;
    replay->inputs = 0;
    replay->input_due_ms = replay->terminal ? now_ms() + INPUT_MS : 0;
}

void replay_begin(struct replay *replay)
{
    run_next(replay);
}

/* ---- events --------------------------------------------------------------------------------- */

static void on_done(struct replay *replay, const struct hermes_result *result)
{
    struct replay_cell *cell = &replay->cells[replay->current];
    if (replay->terms.calls)
        tool_calls_cancel(replay->terms.calls, replay->cell);
    shown_result(&replay->shown, result, replay->wall_time);
    bool judged = result->started && (!replay->stopped || result->outcome < HERMES_TIMEOUT);
    if (judged)
        replay_compare(replay, replay->current, result);
    shown_free(&replay->shown);
    replay->running = false;
    if (result->ended)
        replay->kernel = 0;
    if (judged && replay->terms.settled)
        replay->terms.settled(replay->terms.context, cell);
    if (result->start_failed)
        fail(replay, result->error_size ? result->error : "the kernel did not start");
    else
        run_next(replay);
}

static void on_tool_call(struct replay *replay, const struct hermes_event *event)
{
    struct strbuf denial = STRBUF_INIT;
    if (replay->terms.calls)
        tool_calls_take(replay->terms.calls, event, &denial);
    else
        hermes_tool_refuse(replay->engine, event->tool_call->id, "a replay runs no tools");
    strbuf_free(&denial);
}

bool replay_take(struct replay *replay, const struct hermes_event *event)
{
    if (event->type == HERMES_EVENT_KERNEL)
        return event->session && strcmp(event->session, replay->owner) == 0;
    if (!event->cell)
        return replay->kernel && event->kernel == replay->kernel;
    if (!replay->running || event->cell != replay->cell)
        return false;
    bool prompt = !(replay->run.cells[replay->current].how & STORE_HOW_PIPES);
    switch (event->type) {
    case HERMES_EVENT_STARTED:
        replay->kernel = event->kernel;
        break;
    case HERMES_EVENT_OUTPUT:
        shown_output(&replay->shown, event->stream, event->data, event->size);
        break;
    case HERMES_EVENT_DISPLAY:
        shown_display(&replay->shown, event->data, event->size, prompt);
        break;
    case HERMES_EVENT_TOOL_CALL:
        on_tool_call(replay, event);
        break;
    case HERMES_EVENT_DONE:
        on_done(replay, event->result);
        break;
    default:
        break;
    }
    return true;
}

int64_t replay_tick(struct replay *replay)
{
    if (!replay->running || !replay->input_due_ms)
        return -1;
    int64_t left = replay->input_due_ms - now_ms();
    if (left > 0)
        return left;
    int state = replay->kernel ? hermes_input_state(replay->engine, replay->kernel) : 0;
    if (state > 0 && state & HERMES_INPUT_WAITS) {
        struct hermes_error error = {0, 0, ""};
        if (replay->inputs++ >= INPUTS_MAX)
            hermes_kill(replay->engine, replay->cell, "it reads on behind the end of its input");
        else
            (void)hermes_input(replay->engine, replay->kernel,
                               state & HERMES_INPUT_RAW ? "\003" : "\004", 1, &error);
    }
    replay->input_due_ms = now_ms() + INPUT_MS;
    return INPUT_MS;
}

void replay_stop(struct replay *replay)
{
    replay->stopped = true;
    if (!replay->running)
        replay->over = true;
    else if (hermes_kill(replay->engine, replay->cell, NULL) != HERMES_OK)
        hermes_reset(replay->engine, replay->owner, NULL);
}

/* ---- what is known -------------------------------------------------------------------------- */

bool replay_is_over(const struct replay *replay)
{
    return replay->over;
}

const char *replay_failure(const struct replay *replay)
{
    return replay->failure;
}

size_t replay_count(const struct replay *replay)
{
    return replay->run.count;
}

const struct replay_cell *replay_at(const struct replay *replay, size_t n)
{
    return &replay->cells[n];
}

size_t replay_differing(const struct replay *replay)
{
    size_t count = 0;
    for (size_t i = 0; i < replay->run.count; i++)
        count += replay->cells[i].verdict == REPLAY_DIFFERS;
    return count;
}

unsigned replay_number(const struct replay *replay)
{
    return replay->running ? replay->run.cells[replay->current].number : 0;
}
