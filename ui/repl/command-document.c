/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Commands about the file that is a tab's document.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command-internal.h"
#include "document-internal.h"

/* ---- which cell ----------------------------------------------------------------------------- */

static struct repl_document *document_of(struct repl_session *session, struct strbuf *error)
{
    if (!session->document)
        strbuf_setf(error, "%s has no document; :open FILE opens one", session->name);
    return session->document;
}

/* "3", counted in the document from 1; "" is the chosen one. *ret_at from 0. */
static struct repl_document *cell_of(struct repl_session *session, const char *arguments,
                                     size_t *ret_at, struct strbuf *error)
{
    struct repl_document *document = document_of(session, error);
    char *end;
    unsigned long number = strtoul(arguments, &end, 10);
    if (!document)
        return NULL;
    size_t count = document->document.count;
    size_t at =
        arguments[0] ? number - 1 : document_edit_find(&document->document, document->selected);
    if (at < count && !*end) {
        *ret_at = at;
        return document;
    }
    if (!count)
        strbuf_setf(error, "the document has no cells; :insert-below makes one");
    else
        strbuf_setf(error, "there is no cell '%s': the document has 1 to %zu", arguments, count);
    return NULL;
}

/* Look at this cell now. */
static bool done(struct repl *repl, struct repl_session *session, uint64_t key)
{
    session->document->selected = key;
    repl_document_sync(repl, session);
    return true;
}

static bool done_at(struct repl *repl, struct repl_session *session, size_t at)
{
    const struct document *document = &session->document->document;
    if (at >= document->count)
        at = document->count - 1;
    return done(repl, session, document->count ? document->cells[at].key : 0);
}

/* ---- files ---------------------------------------------------------------------------------- */

bool command_open(struct repl *repl, struct repl_session *session, const char *arguments,
                  struct strbuf *error)
{
    char *path = command_path(arguments);
    struct repl_session *opened = repl_document_open(repl, path, error);
    (void)session;
    free(path);
    if (opened)
        repl_bring_front(repl, opened);
    return opened != NULL;
}

bool command_recover(struct repl *repl, struct repl_session *session, const char *arguments,
                     struct strbuf *error)
{
    if (!document_of(session, error))
        return false;
    if (strcmp(arguments, "drop") == 0)
        return repl_document_drop_rescued(repl, session, error);
    if (!arguments[0])
        return repl_document_recover(repl, session, error);
    strbuf_setf(error, ":recover takes nothing, or drop: not %s", arguments);
    return false;
}

bool command_reload(struct repl *repl, struct repl_session *session, const char *arguments,
                    struct strbuf *error)
{
    (void)arguments;
    return document_of(session, error) && repl_document_reload(repl, session, error);
}

/* "3* [12] code      x = 1": place, whether it was changed, its last run. */
static void add_cell(struct strbuf *out, struct repl_session *session, size_t at)
{
    static const char *const kinds[] = {
        [CELL_CODE] = "code", [CELL_MARKDOWN] = "markdown", [CELL_RAW] = "raw"};
    const struct document_cell *cell = &session->document->document.cells[at];
    const struct repl_cell_data *data = repl_document_cell(session, cell->key);
    char number[32] = "[ ]";
    if (data && data->cell.number)
        snprintf(number, sizeof number, "[%u]", data->cell.number);
    bool chosen = cell->key == session->document->selected;
    strbuf_addf(out, "%c%3zu  %-8s %-6s ", chosen ? '*' : ' ', at + 1, kinds[cell->kind],
                cell->kind == CELL_CODE ? number : "");
    size_t size = document_edit_shown_size(cell), start = 0;
    while (start < size && (cell->source[start] == '\n' || cell->source[start] == '\r'))
        start++;
    size_t length = 0;
    while (start + length < size && length < 60 && cell->source[start + length] != '\n' &&
           cell->source[start + length] != '\r')
        length++;
    strbuf_add(out, cell->source + start, length);
    strbuf_adds(out, start + length < size ? " ...\n" : "\n");
}

bool command_cells(struct repl *repl, struct repl_session *session, const char *arguments,
                   struct strbuf *error)
{
    struct strbuf out = STRBUF_INIT;
    (void)arguments;
    if (!document_of(session, error))
        return false;
    for (size_t i = 0; i < session->document->document.count; i++)
        add_cell(&out, session, i);
    if (out.size)
        repl_show(repl, session, session->document->path, &out);
    else
        repl_say(repl, session, "the document has no cells");
    strbuf_free(&out);
    return true;
}

/* ---- running -------------------------------------------------------------------------------- */

static bool is_number(const char *text)
{
    return text[strspn(text, "0123456789")] == '\0';
}

bool command_run(struct repl *repl, struct repl_session *session, const char *arguments,
                 struct strbuf *error)
{
    size_t at = 0;
    if (!is_number(arguments))
        return command_run_file(repl, session, arguments, error);
    if (!session->document && !arguments[0]) {
        strbuf_setf(error, ":run needs FILE, where there is no document");
        return false;
    }
    struct repl_document *document = cell_of(session, arguments, &at, error);
    if (!document)
        return false;
    document->selected = document->document.cells[at].key;
    return repl_document_run(repl, session, at, at + 1, error);
}

bool command_run_all(struct repl *repl, struct repl_session *session, const char *arguments,
                     struct strbuf *error)
{
    (void)arguments;
    return document_of(session, error) &&
           repl_document_run(repl, session, 0, session->document->document.count, error);
}

bool command_run_above(struct repl *repl, struct repl_session *session, const char *arguments,
                       struct strbuf *error)
{
    size_t at = 0;
    return cell_of(session, arguments, &at, error) &&
           repl_document_run(repl, session, 0, at, error);
}

bool command_run_below(struct repl *repl, struct repl_session *session, const char *arguments,
                       struct strbuf *error)
{
    size_t at = 0;
    struct repl_document *document = cell_of(session, arguments, &at, error);
    return document && repl_document_run(repl, session, at, document->document.count, error);
}

/* ---- changing ------------------------------------------------------------------------------- */

bool command_edit_cell(struct repl *repl, struct repl_session *session, const char *arguments,
                       struct strbuf *error)
{
    size_t at = 0;
    struct repl_document *document = cell_of(session, arguments, &at, error);
    if (!document)
        return false;
    if (!repl->front.insert || (repl->options.pipes && repl->options.plain)) {
        strbuf_setf(error, "there is no prompt to edit a cell in");
        return false;
    }
    struct strbuf text = STRBUF_INIT;
    repl_document_text(&document->document.cells[at], &text);
    document->selected = document->editing = document->document.cells[at].key;
    repl->front.insert(repl->context, session, strbuf_text(&text), text.size);
    strbuf_free(&text);
    if (repl->options.plain)
        repl_say(repl, session, "cell %zu is edited: Enter runs it, C-c leaves it as it is",
                 at + 1);
    repl_tell_session(repl, session);
    return true;
}

static bool insert(struct repl *repl, struct repl_session *session, const char *arguments,
                   bool below, struct strbuf *error)
{
    size_t at = 0;
    uint64_t key;
    struct repl_document *document = document_of(session, error);
    if (!document || (document->document.count && !cell_of(session, arguments, &at, error)))
        return false;
    document_edit_insert(&document->edits, at + (below && document->document.count), &key);
    return done(repl, session, key);
}

bool command_insert_above(struct repl *repl, struct repl_session *session, const char *arguments,
                          struct strbuf *error)
{
    return insert(repl, session, arguments, false, error);
}

bool command_insert_below(struct repl *repl, struct repl_session *session, const char *arguments,
                          struct strbuf *error)
{
    return insert(repl, session, arguments, true, error);
}

bool command_delete_cell(struct repl *repl, struct repl_session *session, const char *arguments,
                         struct strbuf *error)
{
    size_t at = 0;
    struct repl_document *document = cell_of(session, arguments, &at, error);
    if (!document)
        return false;
    const struct repl_cell_data *data =
        repl_document_cell(session, document->document.cells[at].key);
    if (data && data->cell.state != REPL_SETTLED && data->cell.state != REPL_EARLIER) {
        strbuf_setf(error, "cell %zu runs, or waits to run", at + 1);
        return false;
    }
    document_edit_delete(&document->edits, at);
    return done_at(repl, session, at);
}

static bool move(struct repl *repl, struct repl_session *session, const char *arguments, bool down,
                 struct strbuf *error)
{
    size_t at = 0;
    struct repl_document *document = cell_of(session, arguments, &at, error);
    return document && document_edit_move(&document->edits, at, down, error) &&
           done_at(repl, session, down ? at + 1 : at - 1);
}

bool command_move_up(struct repl *repl, struct repl_session *session, const char *arguments,
                     struct strbuf *error)
{
    return move(repl, session, arguments, false, error);
}

bool command_move_down(struct repl *repl, struct repl_session *session, const char *arguments,
                       struct strbuf *error)
{
    return move(repl, session, arguments, true, error);
}

bool command_split(struct repl *repl, struct repl_session *session, const char *arguments,
                   struct strbuf *error)
{
    size_t at = 0;
    struct repl_document *document = cell_of(session, "", &at, error);
    if (!document)
        return false;
    if (!arguments[0] || !is_number(arguments)) {
        strbuf_setf(error, ":split needs the LINE that begins the second cell");
        return false;
    }
    return document_edit_split(&document->edits, at, strtoul(arguments, NULL, 10), error) &&
           done_at(repl, session, at + 1);
}

bool command_merge(struct repl *repl, struct repl_session *session, const char *arguments,
                   struct strbuf *error)
{
    size_t at = 0;
    struct repl_document *document = cell_of(session, arguments, &at, error);
    return document && document_edit_merge(&document->edits, at, error) &&
           done_at(repl, session, at);
}

bool command_kind(struct repl *repl, struct repl_session *session, const char *arguments,
                  struct strbuf *error)
{
    static const char *const words[] = {
        [CELL_CODE] = "code", [CELL_MARKDOWN] = "markdown", [CELL_RAW] = "raw"};
    size_t at = 0;
    struct repl_document *document = cell_of(session, "", &at, error);
    if (!document)
        return false;
    unsigned kind =
        (unsigned)document->document.cells[at].kind == CELL_CODE ? CELL_MARKDOWN : CELL_CODE;
    if (arguments[0]) {
        for (kind = 0; kind < 3 && strcmp(words[kind], arguments) != 0; kind++)
            continue;
    }
    if (kind > CELL_RAW) {
        strbuf_setf(error, "'%s' is not one of code, markdown and raw", arguments);
        return false;
    }
    document_edit_set_kind(&document->edits, at, (enum cell_kind)kind);
    return done_at(repl, session, at);
}

static bool step(struct repl *repl, struct repl_session *session, bool back, struct strbuf *error)
{
    struct repl_document *document = document_of(session, error);
    uint64_t key = 0;
    if (!document)
        return false;
    if (!(back ? document_edit_undo(&document->edits, &key)
               : document_edit_redo(&document->edits, &key))) {
        strbuf_setf(error, back ? "nothing to undo" : "nothing to do again");
        return false;
    }
    return done(repl, session, key);
}

bool command_undo_edit(struct repl *repl, struct repl_session *session, const char *arguments,
                       struct strbuf *error)
{
    (void)arguments;
    return step(repl, session, true, error);
}

bool command_redo_edit(struct repl *repl, struct repl_session *session, const char *arguments,
                       struct strbuf *error)
{
    (void)arguments;
    return step(repl, session, false, error);
}
