/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What lasts: cells go to the store when they are queued and when they settle; what earlier runs
 * typed and did comes back from it.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "repl-internal.h"
#include "store-result.h"

#define RECALLED_CELLS 200
#define RECALLED_SOURCES 5000

/* ---- to the store --------------------------------------------------------------------------- */

void repl_store_begin(struct repl *repl, struct repl_cell_data *data)
{
    if (!repl->options.store)
        return;
    data->queued_us = store_now_us();
    const struct store_cell cell = {
        .session = data->session->name,
        .number = data->cell.number,
        .source = data->cell.source,
        .source_size = data->cell.source_size,
        .submitted_us = data->queued_us,
        .how = repl->options.pipes ? STORE_HOW_PIPES : 0,
    };
    data->stored = store_begin(repl->options.store, &cell);
}

void repl_store_settle(struct repl *repl, struct repl_cell_data *data,
                       const struct hermes_result *result)
{
    struct strbuf output = STRBUF_INIT;
    if (!data->stored)
        return;
    block_text(data->cell.output, false, &output);
    struct store_cell cell = {.submitted_us = data->queued_us};
    store_cell_settled(&cell, result);
    cell.output = strbuf_text(&output);
    cell.output_size = output.size;
    store_settle(repl->options.store, data->stored, &cell);
    strbuf_free(&output);
}

/* ---- from the store ------------------------------------------------------------------------- */

static bool take_source(void *context, const struct store_cell *cell)
{
    struct repl *repl = context;
    history_add(repl->history, cell->session, cell->source, cell->source_size);
    return true;
}

/* With the first step, when the prompt stands: nobody presses Up sooner, and a disk may be slow. */
void repl_recall_history(struct repl *repl)
{
    if (!repl->options.store || repl->recalled)
        return;
    repl->recalled = true;
    store_read_sources(repl->options.store, RECALLED_SOURCES, take_source, repl);
}

/* It is opened, and written to, behind our back: what it has to say may come at any time. */
void repl_say_remarks(struct repl *repl)
{
    char *remark;
    while (repl->options.store && (remark = store_take_remark(repl->options.store))) {
        repl_say(repl, repl->in_front, "%s", remark);
        free(remark);
    }
}

static enum hermes_outcome outcome_of(const char *status)
{
    if (!status || strcmp(status, "interrupted") == 0 || strcmp(status, "running") == 0)
        return HERMES_INTERRUPTED;
    if (strcmp(status, "timeout") == 0)
        return HERMES_TIMEOUT;
    return strcmp(status, "success") == 0 ? HERMES_SUCCESS : HERMES_ERROR;
}

struct recall {
    struct repl *repl;
    struct repl_session *session;
};

static bool take_cell(void *context, const struct store_cell *stored)
{
    const struct recall *recall = context;
    struct repl_session *session = recall->session;
    struct repl_cell_data *data =
        repl_cell_new(recall->repl, session, stored->source, stored->source_size);
    data->cell.state = REPL_EARLIER;
    data->cell.number = stored->number ? stored->number : session->next_number;
    data->cell.outcome = outcome_of(stored->status);
    data->cell.not_run = stored->status && strcmp(stored->status, "not run") == 0;
    data->cell.exit_code = stored->exit_code;
    data->cell.duration_us = stored->duration_us;
    data->cell.execution_count = stored->execution_count;
    data->cell.generation = stored->generation;
    data->cell.spill_path = stored->spill_path ? xstrdup(stored->spill_path) : NULL;
    data->cell.seen = true;
    data->raw_dropped = true; /* the block has it */
    if (stored->output_size && recall->repl->options.blocks) {
        for (size_t at = 0; at < stored->output_size;) { /* lines of a terminal */
            const char *line = stored->output + at,
                       *end = memchr(line, '\n', stored->output_size - at);
            size_t length = end ? (size_t)(end - line) : stored->output_size - at;
            block_write(data->cell.output, line, length);
            block_write(data->cell.output, "\r\n", end ? 2 : 0);
            at += length + 1;
        }
    }
    block_end(data->cell.output);
    if (data->cell.number >= session->next_number)
        session->next_number = data->cell.number + 1;
    repl_add_item(recall->repl, session, &data->cell, NULL);
    return true;
}

/* A session that was asked for by its name comes back as it was shown. */
void repl_recall_session(struct repl *repl, struct repl_session *session, bool named)
{
    struct recall recall = {repl, session};
    if (!repl->options.store)
        return;
    bool other = store_enter(repl->options.store, session->name);
    if (named)
        store_read_session(repl->options.store, session->name, RECALLED_CELLS, take_cell, &recall);
    if (session->item_count)
        repl_add_item(repl, session, NULL,
                      xstrdup(repl->options.rest ? "earlier runs, and the batch until now"
                                                 : "earlier run · state not loaded"));
    if (other && named)
        repl_say(repl, session,
                 "another program has %s open: its history is shared, its state is not",
                 session->name);
}

void repl_leave_store(struct repl *repl, struct repl_session *session)
{
    if (repl->options.store)
        store_leave(repl->options.store, session->name);
}
