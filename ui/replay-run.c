/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "replay-run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "atomic-file.h"
#include "batch.h"
#include "junit.h"
#include "progress.h"
#include "remark.h"
#include "replay.h"
#include "signals.h"
#include "xalloc.h"

#define OWNER "replay"

struct replay_run {
    struct hermes_engine *engine;
    const struct replay_options *options;
    struct replay *replay;
    struct progress progress;
    struct junit junit;
    unsigned shown_number; /* of the progress line */
    int64_t started_ms;
    int status; /* 0: as it comes out */
    int write_errno;
};

static void say(struct replay_run *run, const char *text)
{
    progress_clear(&run->progress);
    remark(text);
}

static void put(struct replay_run *run, struct strbuf *text)
{
    progress_clear(&run->progress);
    const char *at = strbuf_text(text);
    for (size_t left = text->size; left && !run->write_errno;) {
        ssize_t done = write(STDOUT_FILENO, at, left);
        if (done < 0 && errno == EINTR && !signals_deadly())
            continue;
        if (done < 0)
            run->write_errno = errno;
        else
            at += done, left -= (size_t)done;
    }
    strbuf_free(text);
}

/* ---- the report ----------------------------------------------------------------------------- */

static void add_case(struct replay_run *run, const struct replay_cell *cell)
{
    struct junit_case *one = junit_add(&run->junit);
    one->name = xasprintf("cell %u", cell->stored->number);
    one->seconds = (double)cell->duration_us / 1e6;
    switch (cell->verdict) {
    case REPLAY_SAME:
        one->verdict = JUNIT_PASSED;
        break;
    case REPLAY_DIFFERS:
        one->verdict = JUNIT_FAILED;
        one->type = xstrdup("Differs");
        one->message = xstrdup("the output is not the one that the history holds");
        one->text = xstrdup(cell->difference);
        break;
    case REPLAY_SKIPPED:
    case REPLAY_WAITS:
        one->verdict = JUNIT_SKIPPED;
        one->message =
            xstrdup(cell->reason ? cell->reason : "not run: the replay ended before this cell");
    }
}

static bool write_report(struct replay_run *run, const char *timestamp)
{
    struct strbuf text = STRBUF_INIT, error = STRBUF_INIT;
    for (size_t i = 0; i < replay_count(run->replay); i++)
        add_case(run, replay_at(run->replay, i));
    junit_write(&text, &run->junit, run->options->session, timestamp,
                (double)(now_ms() - run->started_ms) / 1000);
    bool good = atomic_file_write(run->options->junit, strbuf_text(&text), text.size, &error);
    if (!good)
        say(run, strbuf_text(&error));
    strbuf_free(&text);
    strbuf_free(&error);
    return good;
}

/* ---- the loop ------------------------------------------------------------------------------- */

static void settled(void *context, const struct replay_cell *cell)
{
    struct replay_run *run = context;
    struct strbuf text = STRBUF_INIT;
    progress_end(&run->progress);
    run->shown_number = 0;
    replay_add_cell(cell, &text);
    put(run, &text);
}

static void check(struct replay_run *run)
{
    int number = signals_deadly();
    int64_t limit = run->options->run_timeout_ms;
    if (run->status || replay_is_over(run->replay))
        return;
    if (number)
        run->status = 128 + number;
    else if (signals_take_interrupts())
        run->status = 128 + SIGINT;
    else if (run->write_errno)
        run->status = run->write_errno == EPIPE ? BATCH_STATUS_PIPE : 1;
    else if (limit >= 0 && now_ms() - run->started_ms >= limit)
        run->status = BATCH_STATUS_TIMEOUT;
    if (!run->status)
        return;
    if (run->status == BATCH_STATUS_TIMEOUT)
        say(run, "the run's time limit has passed");
    replay_stop(run->replay);
}

static void show_progress(struct replay_run *run)
{
    unsigned number = replay_number(run->replay);
    if (!number || number == run->shown_number)
        return;
    run->shown_number = number;
    for (size_t i = 0; i < replay_count(run->replay); i++) {
        const struct run_cell *cell = replay_at(run->replay, i)->stored;
        if (cell->number == number)
            progress_begin(&run->progress, i + 1, replay_count(run->replay), cell->source,
                           strcspn(cell->source, "\r\n"));
    }
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

static void loop(struct replay_run *run)
{
    replay_begin(run->replay);
    while (!replay_is_over(run->replay)) {
        struct hermes_event *event = NULL;
        check(run);
        show_progress(run);
        int64_t wait = sooner(replay_tick(run->replay), progress_tick(&run->progress));
        int64_t limit = run->options->run_timeout_ms;
        if (limit >= 0 && !run->status)
            wait = sooner(wait, run->started_ms + limit - now_ms());
        if (hermes_next_event(run->engine, wait < -1 ? 0 : wait, &event) != HERMES_OK)
            xout_of_memory();
        if (event)
            replay_take(run->replay, event);
        hermes_event_free(event);
    }
}

/* ---- life ----------------------------------------------------------------------------------- */

static int status_of(struct replay_run *run)
{
    if (run->write_errno)
        return run->write_errno == EPIPE ? BATCH_STATUS_PIPE : 1;
    if (run->status)
        return run->status;
    if (replay_failure(run->replay)) {
        say(run, replay_failure(run->replay));
        return BATCH_STATUS_START;
    }
    return replay_differing(run->replay) ? 1 : 0;
}

static int run_it(struct replay_run *run)
{
    struct strbuf text = STRBUF_INIT;
    char timestamp[32] = "";
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts))
        strftime(timestamp, sizeof(timestamp), "%Y-%m-%dT%H:%M:%SZ", &parts);
    run->started_ms = now_ms();
    signals_install(run->engine);
    loop(run);
    progress_end(&run->progress);
    if (!replay_failure(run->replay) && run->status <= 128) {
        replay_add_summary(run->replay, &text);
        put(run, &text);
    }
    int status = status_of(run);
    if (run->options->junit && !write_report(run, timestamp) && !status)
        status = 1;
    signals_done();
    return status;
}

static int complain(struct replay_run *run, struct strbuf *error)
{
    say(run, strbuf_text(error));
    strbuf_free(error);
    progress_done(&run->progress);
    return BATCH_STATUS_USAGE;
}

int replay_run(struct hermes_engine *engine, const struct replay_options *options)
{
    struct replay_run run = {.engine = engine, .options = options};
    struct strbuf error = STRBUF_INIT;
    struct tool_calls calls;
    struct winsize size = {0, 0, 0, 0};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    const struct replay_terms terms = {
        .mode = options->terms->strict ? HERMES_MODE_STRICT : HERMES_MODE_PROJECT,
        .python = options->python,
        .cwd = options->cwd,
        .tools = options->terms->tools,
        .env = options->terms->env,
        .terminal = getenv("TERM"),
        .columns = size.ws_col,
        .rows = size.ws_row,
        .calls = &calls,
        .settled = settled,
        .context = &run,
    };
    progress_init(&run.progress, !options->quiet);
    if (options->junit && !atomic_file_check(options->junit, &error))
        return complain(&run, &error);
    run.replay = replay_new(engine, options->store, options->session, OWNER, &terms, &error);
    if (!run.replay)
        return complain(&run, &error);
    tool_calls_init(&calls, engine, options->terms);
    calls.approval.nobody = "in a replay there is nobody to ask";
    int status = run_it(&run);
    tool_calls_free(&calls);
    replay_free(run.replay);
    junit_free(&run.junit);
    progress_done(&run.progress);
    return status;
}
