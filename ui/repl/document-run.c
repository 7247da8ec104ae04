/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Running the document's cells, each in its place; and what is entered at the prompt of its tab.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "document-internal.h"
#include "magics.h"

/* ---- running -------------------------------------------------------------------------------- */

/* Where the cells would stand in the file now: what a traceback names. */
static void learn_lines(struct repl_document *document)
{
    struct strbuf ignored = STRBUF_INIT;
    if (document->document.format == DOCUMENT_SCRIPT)
        document_script_write(&document->script, &document->document, &ignored);
    strbuf_free(&ignored);
}

static bool submit(struct repl *repl, struct repl_session *session,
                   const struct document_cell *cell, bool leads, struct strbuf *error)
{
    struct repl_document *document = session->document;
    struct magics_result magics = {NULL, 0, false};
    struct strbuf text = STRBUF_INIT;
    char *name = NULL;
    repl_document_text(cell, &text);
    struct repl_submission what = {
        .source = strbuf_text(&text), .source_size = text.size, .key = cell->key, .leads = leads};
    if (document->document.format == DOCUMENT_NOTEBOOK) {
        name = xasprintf("cell %u", session->next_number);
        magics = magics_translate(strbuf_text(&text), text.size, name);
        what.code = magics.source;
        what.code_size = magics.size;
        what.wall_time = magics.wall_time;
    } else {
        what.file_name = document->path;
        what.first_line = cell->first_line;
    }
    bool good = repl_submit(repl, session, &what, error);
    free(magics.source);
    free(name);
    strbuf_free(&text);
    return good;
}

static bool is_open(const struct repl_session *session, uint64_t key)
{
    const struct repl_cell_data *data = repl_document_cell(session, key);
    return data && (data->cell.state == REPL_QUEUED || data->cell.state == REPL_RUNNING);
}

static void refuse(const struct repl_document *document, size_t from, size_t to,
                   struct strbuf *error)
{
    if (from + 1 != to)
        strbuf_setf(error, "there is no code to run there");
    else if (document->document.cells[from].kind != CELL_CODE)
        strbuf_setf(error, "cell %zu is text", to);
    else if (!document_cell_runs(&document->document.cells[from]))
        strbuf_setf(error, "cell %zu is empty", to);
    else
        strbuf_setf(error, "cell %zu runs, or waits to run, already", to);
}

/* Behind what is due already. */
static void put_off(struct repl_session *session, uint64_t key)
{
    struct repl_document *document = session->document;
    for (size_t i = 0; i < document->due_count; i++) {
        if (document->due[i] == key)
            return;
    }
    document->due =
        xgrow(document->due, document->due_count, &document->due_capacity, sizeof(*document->due));
    document->due[document->due_count++] = key;
    repl_document_cell(session, key)->cell.due = true;
}

/*
 * Not all at once into the engine's queue: it would have begun the next one before anybody hears
 * that this one has failed.
 */
static bool run_next(struct repl *repl, struct repl_session *session, struct strbuf *error)
{
    struct repl_document *document = session->document;
    while (document->due_count) {
        uint64_t key = document->due[0];
        size_t at = document_edit_find(&document->document, key);
        memmove(document->due, document->due + 1, --document->due_count * sizeof(key));
        if (at >= document->document.count)
            continue; /* it was deleted meanwhile */
        const struct document_cell *cell = &document->document.cells[at];
        repl_document_cell(session, key)->cell.due = false;
        if (!document_cell_runs(cell) || is_open(session, key))
            continue;
        learn_lines(document);
        return submit(repl, session, cell, true, error);
    }
    return true;
}

size_t repl_document_drop_due(struct repl_session *session)
{
    struct repl_document *document = session->document;
    size_t count = document ? document->due_count : 0;
    for (size_t i = 0; i < count; i++) {
        struct repl_cell_data *data = repl_document_cell(session, document->due[i]);
        if (data)
            data->cell.due = false;
    }
    if (document)
        document->due_count = 0;
    return count;
}

bool repl_document_run(struct repl *repl, struct repl_session *session, size_t from, size_t to,
                       struct strbuf *error)
{
    struct repl_document *document = session->document;
    bool follows = document->due_count > 0;
    size_t count = 0;
    for (size_t i = from; i < to; i++) {
        const struct document_cell *cell = &document->document.cells[i];
        if (!document_cell_runs(cell) || is_open(session, cell->key))
            continue;
        count++;
        if (from + 1 < to) {
            put_off(session, cell->key);
            continue;
        }
        learn_lines(document);
        return submit(repl, session, cell, false, error);
    }
    if (!count)
        refuse(document, from, to, error);
    return count && (follows || run_next(repl, session, error));
}

/* ---- what the engine tells ------------------------------------------------------------------ */

void repl_document_cell_started(struct repl_cell_data *data)
{
    struct repl_document *document = data->session->document;
    if (!document || !data->cell.key)
        return;
    document->last_run = data->cell.key;
    if (document->document.format == DOCUMENT_NOTEBOOK)
        document->outputs_changed = true;
    if (data->before)
        repl_cell_free(data->before);
    data->before = NULL;
}

/* Cells that were to follow one that failed would work with what is not there. */
static void follow(struct repl *repl, struct repl_cell_data *data)
{
    struct repl_session *session = data->session;
    struct strbuf error = STRBUF_INIT;
    data->leads = false;
    if (!data->cell.not_run && data->cell.outcome == HERMES_SUCCESS) {
        if (!run_next(repl, session, &error))
            repl_say(repl, session, "%s", strbuf_text(&error));
        strbuf_free(&error);
        return;
    }
    size_t dropped = repl_document_drop_due(session);
    if (dropped)
        repl_say(repl, session, "cell %zu failed: %zu cell%s behind it %s not run",
                 repl_document_number(session, data->cell.key), dropped, dropped == 1 ? "" : "s",
                 dropped == 1 ? "was" : "were");
}

void repl_document_cell_done(struct repl *repl, struct repl_cell_data *data)
{
    if (!data->session->document || !data->cell.key)
        return;
    if (!data->cell.not_run)
        repl_document_look(repl, data->session);
    if (data->cell.edited) /* while it ran, which showed what ran */
        repl_document_sync(repl, data->session);
    if (data->leads && !repl->finishes)
        follow(repl, data);
}

/* ---- the prompt ----------------------------------------------------------------------------- */

/* What is kept out of the history is not for the file; in a script IPython's syntax is an error. */
static bool is_for_file(const struct repl_document *document, const char *source, size_t size)
{
    if (size && source[0] == ' ')
        return false;
    if (document->document.format == DOCUMENT_NOTEBOOK)
        return true;
    struct magics_result magics = magics_translate(source, size, "cell");
    bool plain = !magics.source;
    free(magics.source);
    return plain;
}

bool repl_document_enter(struct repl *repl, struct repl_session *session, const char *source,
                         size_t size, struct strbuf *error)
{
    struct repl_document *document = session->document;
    if (!is_for_file(document, source, size))
        return false;
    size_t at = document_edit_find(&document->document, document->selected);
    if (at < document->document.count)
        at++;
    size_t shown = at && at <= document->document.count
                       ? document_edit_shown_size(&document->document.cells[at - 1])
                       : 1;
    uint64_t key = document->selected;
    if (!shown) /* an empty cell waits for it */
        at--;
    else
        document_edit_insert(&document->edits, at, &key);
    document_edit_set_source(&document->edits, at, source, size);
    document->selected = key;
    repl_document_sync(repl, session);
    if (repl_document_run(repl, session, at, at + 1, error))
        return true;
    if (!error->size)
        strbuf_setf(error, "not run");
    /* The caller still has the text. */
    document_edit_undo(&document->edits, &key);
    if (shown)
        document_edit_undo(&document->edits, &key);
    repl_document_sync(repl, session);
    return false;
}

bool repl_document_put_edited(struct repl *repl, struct repl_session *session, const char *source,
                              size_t size, struct strbuf *error)
{
    struct repl_document *document = session->document;
    size_t at = document_edit_find(&document->document, document->editing);
    if (is_open(session, document->editing)) {
        strbuf_setf(error, "cell %zu runs, or waits to run: interrupt it, or wait", at + 1);
        return false;
    }
    document->selected = document->editing;
    document->editing = 0;
    document_edit_set_source(&document->edits, at, source, size);
    repl_document_sync(repl, session);
    return true;
}

bool repl_document_enter_edited(struct repl *repl, struct repl_session *session, const char *source,
                                size_t size, struct strbuf *error)
{
    struct repl_document *document = session->document;
    if (!repl_document_put_edited(repl, session, source, size, error))
        return false;
    size_t at = document_edit_find(&document->document, document->selected);
    if (!document_cell_runs(&document->document.cells[at]))
        return true;
    if (repl_document_run(repl, session, at, at + 1, error))
        return true;
    document->editing = document->selected; /* the text is in the document and in the prompt */
    return false;
}
