/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Commands that read and write files.
 */
#include "config.h"

#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atomic-file.h"
#include "command-internal.h"
#include "document-file.h"
#include "document-internal.h"
#include "magics.h"

/* ---- paths ---------------------------------------------------------------------------------- */

char *command_path(const char *text)
{
    size_t size = strlen(text);
    bool quoted = size > 1 && (text[0] == '"' || text[0] == '\'') && text[size - 1] == text[0];
    char *path = quoted ? xstrndup(text + 1, size - 2) : xstrdup(text);
    if (strcmp(path, "-") == 0) { /* a file: standard input is the person's */
        free(path);
        return xstrdup("./-");
    }
    const char *home = getenv("HOME");
    if (path[0] == '~' && (!path[1] || path[1] == '/') && home) {
        char *whole = xasprintf("%s%s", home, path + 1);
        free(path);
        path = whole;
    }
    return path;
}

/* ---- run and load --------------------------------------------------------------------------- */

bool command_run_cell(struct repl *repl, struct repl_session *session,
                      const struct document *document, const struct document_cell *cell,
                      const char *path, struct strbuf *error)
{
    bool notebook = document->format == DOCUMENT_NOTEBOOK;
    struct repl_submission what = {.source = cell->source, .source_size = cell->size};
    struct magics_result magics = {NULL, 0, false};
    char *name = NULL;
    if (notebook) {
        name = xasprintf("cell %u", session->next_number);
        magics = magics_translate(cell->source, cell->size, name);
        what.code = magics.source;
        what.code_size = magics.size;
        what.wall_time = magics.wall_time;
    } else {
        what.file_name = path;
        what.first_line = cell->first_line;
    }
    bool good = repl_submit(repl, session, &what, error);
    free(magics.source);
    free(name);
    return good;
}

bool command_run_file(struct repl *repl, struct repl_session *session, const char *arguments,
                      struct strbuf *error)
{
    struct document document = {.format = DOCUMENT_SCRIPT};
    char *path = command_path(arguments), *whole = realpath(path, NULL);
    size_t count = 0;
    bool good = document_load(&document, path, error);
    for (size_t i = 0; good && i < document.count; i++) {
        if (!document_cell_runs(&document.cells[i]))
            continue;
        good = command_run_cell(repl, session, &document, &document.cells[i], whole ? whole : path,
                                error);
        count += good;
    }
    if (good && !count) {
        strbuf_setf(error, "%s holds no code", path);
        good = false;
    }
    document_free(&document);
    free(whole);
    free(path);
    return good;
}

bool repl_read_source(const char *path, struct strbuf *text, struct strbuf *error)
{
    struct document document = {.format = DOCUMENT_SCRIPT};
    bool good = document_load(&document, path, error);
    for (size_t i = 0; good && i < document.count; i++) {
        const struct document_cell *cell = &document.cells[i];
        if (cell->kind != CELL_CODE)
            continue;
        if (cell->marker)
            strbuf_addf(text, "%s\n", cell->marker);
        strbuf_add(text, cell->source, cell->size);
        if (text->size && text->data[text->size - 1] != '\n')
            strbuf_addc(text, '\n');
    }
    while (text->size && text->data[text->size - 1] == '\n')
        text->data[--text->size] = '\0';
    if (good && !text->size)
        strbuf_setf(error, "%s holds no code", path);
    document_free(&document);
    return good && text->size;
}

bool command_load(struct repl *repl, struct repl_session *session, const char *arguments,
                  struct strbuf *error)
{
    struct strbuf text = STRBUF_INIT;
    char *path = command_path(arguments);
    bool good = repl_read_source(path, &text, error);
    if (good && repl->front.insert)
        repl->front.insert(repl->context, session, strbuf_text(&text), text.size);
    strbuf_free(&text);
    free(path);
    return good;
}

/* ---- save ----------------------------------------------------------------------------------- */

/* A terminal's line ends, as a file has them. */
static void add_stream(struct outputs *outputs, int stream, const char *text, size_t size)
{
    struct strbuf out = STRBUF_INIT;
    for (size_t i = 0; i < size; i++) {
        if (text[i] != '\r' || i + 1 >= size || text[i + 1] != '\n')
            strbuf_addc(&out, text[i]);
    }
    outputs_add_stream(outputs, stream, strbuf_text(&out), out.size);
    strbuf_free(&out);
}

void command_copy_outputs(const struct repl_cell_data *data, struct outputs *outputs)
{
    if (data->raw_dropped) { /* too much for raw bytes: what the screen kept of it */
        struct strbuf text = STRBUF_INIT;
        block_text(data->cell.output, false, &text);
        outputs_add_stream(outputs, 1, strbuf_text(&text), text.size);
        strbuf_free(&text);
    }
    for (size_t i = 0; i < data->outputs.count; i++) {
        const struct output *output = &data->outputs.items[i];
        const char *text = strbuf_text(&output->text);
        if (output->kind == OUTPUT_STREAM)
            add_stream(outputs, output->stream, text, output->text.size);
        else if (output->kind == OUTPUT_ERROR)
            outputs_set_error(outputs, text, output->text.size);
        else
            outputs_add_display(outputs, output->kind == OUTPUT_RESULT, text, output->text.size);
    }
}

static size_t make_document(struct repl_session *session, struct document *document,
                            struct cell_record *records)
{
    for (size_t i = 0; i < session->item_count; i++) {
        struct repl_cell *cell = session->items[i].cell;
        if (!cell || !cell->number)
            continue;
        struct document_cell *copy = document_add(document);
        struct cell_record *record = &records[document->count - 1];
        copy->source = xmemdup0(cell->source, cell->source_size);
        copy->size = cell->source_size;
        copy->first_line = 1;
        record->fate = cell->state == REPL_QUEUED || cell->not_run ? FATE_NOT_RUN : FATE_RUN;
        record->execution_count = cell->number;
        command_copy_outputs(cell_data(cell), &record->outputs);
    }
    return document->count;
}

static bool write_document(struct repl_session *session, const char *path, size_t *ret_count,
                           struct strbuf *error)
{
    struct document document = {.format = DOCUMENT_NOTEBOOK};
    struct cell_record *records = xcalloc(session->item_count + 1, sizeof(*records));
    struct strbuf out = STRBUF_INIT;
    *ret_count = make_document(session, &document, records);
    document_compose(&out, document_file_type(path), &document, records, session->name);
    bool good = atomic_file_write(path, strbuf_text(&out), out.size, error);
    for (size_t i = 0; i < document.count; i++)
        outputs_free(&records[i].outputs);
    free(records);
    document_free(&document);
    strbuf_free(&out);
    return good;
}

static bool save(struct repl *repl, struct repl_session *session, const char *path,
                 struct strbuf *error)
{
    size_t count;
    if (!write_document(session, path, &count, error))
        return false;
    char *copy = xstrdup(path);
    free(session_data(session)->save_path);
    session_data(session)->save_path = copy;
    repl_say(repl, session, "%zu cell%s written to %s", count, count == 1 ? "" : "s", copy);
    return true;
}

/* Over what this session has not written it does not go without a word. */
static bool save_as(struct repl *repl, struct repl_session *session, const char *path,
                    struct strbuf *error)
{
    const char *last = session_data(session)->save_path;
    if (document_file_type(path) == DOCUMENT_FILE_NONE) {
        strbuf_setf(error, "%s should end in .ipynb, .py, .md or .html", path);
        return false;
    }
    if (access(path, F_OK) != 0 || (last && strcmp(last, path) == 0))
        return save(repl, session, path, error);
    repl_ask_overwrite(repl, session, path, "is there already");
    return true;
}

void repl_ask_overwrite(struct repl *repl, struct repl_session *session, const char *path,
                        const char *why)
{
    char *copy = xstrdup(path);
    free(session_data(session)->doubt_path);
    session_data(session)->doubt_path = copy;
    char *question = xasprintf("%s %s: write over it?", repl_document_base_name(copy), why);
    repl_ask_doubt(repl, session, REPL_DOUBT_OVERWRITE, question);
    free(question);
}

void repl_overwrite(struct repl *repl, struct repl_session *session)
{
    struct strbuf error = STRBUF_INIT;
    char *path = session_data(session)->doubt_path;
    session_data(session)->doubt_path = NULL;
    if (path && session->document)
        repl_document_overwrite(repl, session, path);
    else if (path && !save(repl, session, path, &error))
        repl_say(repl, session, "%s", strbuf_text(&error));
    strbuf_free(&error);
    free(path);
}

bool command_save_as(struct repl *repl, struct repl_session *session, const char *arguments,
                     struct strbuf *error)
{
    char *path = command_path(arguments);
    bool good = session->document ? repl_document_save_as(repl, session, path, error)
                                  : save_as(repl, session, path, error);
    free(path);
    return good;
}

bool command_save(struct repl *repl, struct repl_session *session, const char *arguments,
                  struct strbuf *error)
{
    const char *last = session_data(session)->save_path;
    if (session->document && !arguments[0])
        return repl_document_save(repl, session, error);
    if (!arguments[0] && !last) {
        strbuf_setf(error, ":save needs a FILE the first time");
        return false;
    }
    return arguments[0] ? command_save_as(repl, session, arguments, error)
                        : save(repl, session, last, error);
}
