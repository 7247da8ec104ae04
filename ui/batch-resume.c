/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --resume: from the history, the cell at which a run goes on. Those before it are run again, in a
 * fresh kernel, without being shown.
 */
#include "config.h"

#include <string.h>

#include "batch-internal.h"
#include "session-run.h"

static const struct run_cell *find(const struct session_run *run, size_t number)
{
    for (size_t i = 0; i < run->count; i++) {
        if (run->cells[i].number == number)
            return &run->cells[i];
    }
    return NULL;
}

static const struct run_cell *first_failure(const struct session_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        if (strcmp(run->cells[i].status, "success") != 0)
            return &run->cells[i];
    }
    return NULL;
}

static bool is_changed(const struct document_cell *now, const struct run_cell *then)
{
    return !then || now->size != then->source_size ||
           memcmp(now->source, then->source, now->size) != 0;
}

/* Cells that the history keeps out on purpose cannot be compared: they count as they are. */
static bool is_kept_out(const struct document_cell *cell)
{
    return cell->size && cell->source[0] == ' ';
}

static void choose(struct batch *batch, const struct session_run *run, size_t failed)
{
    struct strbuf name = STRBUF_INIT;
    for (size_t i = 0; i < batch->item_count; i++) {
        const struct batch_item *item = &batch->items[i];
        const struct document_cell *cell = &batch->document.cells[item->cell];
        if (item->number >= failed) {
            batch->resume_at = i;
            break;
        }
        if (is_kept_out(cell) || !is_changed(cell, find(run, item->number)))
            continue;
        batch->resume_at = i;
        batch_say(batch, true, "%s has changed since: the run goes on there, not at cell %zu",
                  batch_cell_name(batch, item, &name), failed);
        break;
    }
    strbuf_free(&name);
}

bool batch_plan_resume(struct batch *batch, struct strbuf *error)
{
    const struct batch_options *options = batch->options;
    struct session_run run = {NULL, 0, 0};
    if (!options->resume)
        return true;
    if (!session_run_read(options->store, options->session, batch->origin, &run, error))
        return false;
    const struct run_cell *failed = first_failure(&run);
    if (!run.count)
        strbuf_setf(error, "--resume: session '%s' has no run of %s in the history",
                    options->session, batch->label);
    else if (!failed)
        strbuf_setf(error, "--resume: no cell failed in the last run of %s in session '%s'",
                    batch->label, options->session);
    else if (failed->number > batch->total)
        strbuf_setf(error, "--resume: cell %u failed, but %s has only %zu code cells now",
                    failed->number, batch->label, batch->total);
    else
        choose(batch, &run, failed->number);
    session_run_free(&run);
    return error->size == 0;
}

void batch_show_resumed(struct batch *batch)
{
    struct strbuf name = STRBUF_INIT;
    if (batch->resume_at)
        batch_say(batch, false, "%zu cell%s run again; going on at %s", batch->resume_at,
                  batch->resume_at == 1 ? "" : "s",
                  batch_cell_name(batch, &batch->items[batch->resume_at], &name));
    strbuf_free(&name);
}
