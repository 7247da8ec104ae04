/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "batch-internal.h"
#include "signals.h"
#include "xalloc.h"

static char *timestamp(void)
{
    char text[32] = "";
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts))
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return xstrdup(text);
}

/* Everything that can be wrong before a cell runs; false with one line in error. */
static bool prepare(struct batch *batch, struct strbuf *error)
{
    return batch_load(batch, error) && batch_make_plan(batch, error) &&
           batch_check_verify(batch, error) && batch_plan_resume(batch, error) &&
           batch_check_reports(batch, error);
}

static void run_items(struct batch *batch)
{
    for (size_t i = 0; i < batch->item_count && batch->stop == BATCH_GOING; i++) {
        if (i && i == batch->resume_at)
            batch_show_resumed(batch);
        batch_run_item(batch, &batch->items[i]);
        if (batch->stop == BATCH_GOING)
            batch_save_some(batch);
    }
}

static void explain_stop(struct batch *batch)
{
    size_t left = 0;
    for (size_t i = 0; i < batch->item_count; i++)
        left += batch->items[i].number && batch->records[batch->items[i].cell].fate == FATE_NOT_RUN;
    if (batch->stop == BATCH_STOP_TIME)
        batch_say(batch, true, "the run's time limit of %g s has passed, %zu cell%s left to run",
                  (double)batch->options->run_timeout_ms / 1000, left,
                  left == 1 ? " was" : "s were");
    else if (batch->stop == BATCH_STOP_FAILED && left && batch->progress.on)
        batch_say(batch, false, "%zu cell%s not run", left, left == 1 ? " was" : "s were");
    else if (batch->stop == BATCH_STOP_PIPE && batch->write_errno != EPIPE) {
        batch->explaining = true; /* stderr may still be there */
        batch_say(batch, true, "cannot write to standard output: %s", strerror(batch->write_errno));
    }
}

static void batch_free(struct batch *batch)
{
    for (size_t i = 0; batch->records && i < batch->document.count; i++)
        outputs_free(&batch->records[i].outputs);
    free(batch->records);
    document_free(&batch->document);
    strbuf_free(&batch->text);
    free(batch->origin);
    for (int i = 0; i < 2 * BATCH_TEXTS; i++)
        live_text_free(&batch->live[i / 2][i % 2]);
    free(batch->script);
    free(batch->file_name);
    free(batch->path0);
    free(batch->items);
    free(batch->alive);
    strbuf_free(&batch->denied);
    free(batch->start_time);
    junit_free(&batch->junit);
    progress_done(&batch->progress);
}

int batch_run(struct hermes_engine *engine, const struct batch_options *options)
{
    struct batch batch = {.engine = engine, .options = options};
    struct strbuf error = STRBUF_INIT;
    progress_init(&batch.progress,
                  (options->format == BATCH_HUMAN || options->format == BATCH_VERIFY) &&
                      !options->quiet && options->file);
    if (!prepare(&batch, &error)) {
        batch_say(&batch, true, "%s", strbuf_text(&error));
        strbuf_free(&error);
        batch_free(&batch);
        return BATCH_STATUS_USAGE;
    }
    batch.start_time = options->junit ? timestamp() : NULL;
    batch.started_ms = batch.saved_ms = now_ms();
    if (options->run_timeout_ms >= 0)
        batch.deadline_ms = batch.started_ms + options->run_timeout_ms;
    for (int i = 0; i < 2 * BATCH_TEXTS && options->format == BATCH_EVENTS; i++)
        live_text_init(&batch.live[i / 2][i % 2], live_text_wanted(engine));
    signals_install(engine);
    tool_calls_init(&batch.calls, engine, options->terms);
    batch.calls.approval.nobody = "in a batch there is nobody to ask";
    batch_store_open(&batch);
    batch_terminal_open(&batch);
    run_items(&batch);
    batch_terminal_close(&batch);
    batch_store_close(&batch);
    tool_calls_free(&batch.calls);
    explain_stop(&batch);
    if (!batch_save_all(&batch) && !batch.status)
        batch.status = 1;
    if (!batch_hands_over(&batch))
        batch_finish_kernels(&batch);
    batch_show_end(&batch);
    batch_hand_over(&batch);
    signals_done();
    int status = batch.status;
    batch_free(&batch);
    strbuf_free(&error);
    return status;
}
