/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run's cells in the history of a session (--session): each when it is submitted, and again when
 * it has settled, with what it showed.
 */
#include "config.h"

#include <string.h>

#include "batch-internal.h"
#include "store-result.h"
#include "xalloc.h"

static unsigned how_of(const struct batch *batch)
{
    bool notebook = batch->document.format == DOCUMENT_NOTEBOOK;
    unsigned how = batch->options->rest ? 0 : STORE_HOW_PIPES;
    if (batch->setup.io == HERMES_IO_ONE_PIPE)
        how |= STORE_HOW_ONE_PIPE;
    if (!notebook)
        how |= STORE_HOW_NO_DISPLAY;
    if (!notebook && !batch->options->echo)
        how |= STORE_HOW_NO_ECHO;
    if (batch->redacts)
        how |= STORE_HOW_REDACTED;
    return how;
}

static void describe(const struct batch *batch, struct store_cell *cell)
{
    const struct document_cell *source = &batch->document.cells[batch->current->cell];
    *cell = (struct store_cell){
        .session = batch->options->session,
        .number = (unsigned)batch->current->number,
        .source = source->source,
        .source_size = source->size,
        .submitted_us = batch->submitted_us,
        .how = how_of(batch),
        .origin = batch->origin,
        .first_line = batch->document.format == DOCUMENT_NOTEBOOK ? 0 : source->first_line,
    };
}

void batch_store_open(struct batch *batch)
{
    bool lines = batch->options->format == BATCH_JSON || batch->options->format == BATCH_EVENTS;
    if (!batch->options->store)
        return;
    batch->redacts = lines && live_text_wanted(batch->engine);
    if (store_enter(batch->options->store, batch->options->session))
        batch_say(batch, false,
                  "another program has %s open: its history is shared, its state is not",
                  batch->options->session);
}

void batch_store_begin(struct batch *batch)
{
    struct store_cell cell;
    if (!batch->options->store)
        return;
    batch->submitted_us = store_now_us();
    describe(batch, &cell);
    batch->stored = store_begin(batch->options->store, &cell);
    if (batch->stored)
        shown_init(&batch->shown, batch->setup.io == HERMES_IO_TTY);
}

void batch_store_output(struct batch *batch, const struct hermes_event *event)
{
    if (!batch->stored)
        return;
    if (event->type == HERMES_EVENT_OUTPUT)
        shown_output(&batch->shown, event->stream, event->data, event->size);
    else
        shown_display(&batch->shown, event->data, event->size, batch->setup.io == HERMES_IO_TTY);
}

void batch_store_settle(struct batch *batch, const struct hermes_result *result)
{
    struct strbuf text = STRBUF_INIT;
    struct store_cell cell;
    if (!batch->stored)
        return;
    describe(batch, &cell);
    store_cell_settled(&cell, result);
    shown_result(&batch->shown, result, batch->wall_time);
    shown_text(&batch->shown, batch->redacts, &text);
    cell.output = strbuf_text(&text);
    cell.output_size = text.size;
    store_settle(batch->options->store, batch->stored, &cell);
    batch->stored = 0;
    shown_free(&batch->shown);
    strbuf_free(&text);
}

/* Of a run that ends before its cell has settled. */
void batch_store_close(struct batch *batch)
{
    if (batch->stored)
        shown_free(&batch->shown);
    batch->stored = 0;
}
