/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The document's cells as items of the transcript: who stands where, and what it shows.
 */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document-file.h"
#include "document-internal.h"

/* ---- finding -------------------------------------------------------------------------------- */

size_t repl_document_item(const struct repl_session *session, uint64_t key)
{
    size_t at = 0;
    while (at < session->item_count &&
           !(key && session->items[at].cell && session->items[at].cell->key == key))
        at++;
    return at;
}

struct repl_cell_data *repl_document_cell(const struct repl_session *session, uint64_t key)
{
    size_t at = repl_document_item(session, key);
    return at < session->item_count ? cell_data(session->items[at].cell) : NULL;
}

const struct repl_cell_data *repl_document_ran(const struct repl_session *session, uint64_t key)
{
    const struct repl_cell_data *data = repl_document_cell(session, key);
    if (data && (data->cell.state == REPL_QUEUED || data->cell.not_run))
        data = data->before;
    return data && data->cell.id ? data : NULL;
}

const char *repl_document_path(const struct repl_session *session)
{
    return session->document ? session->document->path : NULL;
}

bool repl_document_is_modified(const struct repl_session *session)
{
    const struct repl_document *document = session->document;
    return document && (document->outputs_changed || document_edits_changed(&document->edits));
}

bool repl_document_changed_on_disk(const struct repl_session *session)
{
    return session->document && session->document->disk_changed;
}

size_t repl_document_count(const struct repl_session *session)
{
    return session->document ? session->document->document.count : 0;
}

size_t repl_document_number(const struct repl_session *session, uint64_t key)
{
    if (!session->document || !key)
        return 0;
    size_t at = document_edit_find(&session->document->document, key);
    return at < session->document->document.count ? at + 1 : 0;
}

void repl_document_select(struct repl_session *session, uint64_t key)
{
    if (repl_document_number(session, key))
        session->document->selected = key;
}

uint64_t repl_document_selected(const struct repl_session *session)
{
    return session->document ? session->document->selected : 0;
}

uint64_t repl_document_editing(const struct repl_session *session)
{
    return session->document ? session->document->editing : 0;
}

void repl_document_stop_editing(struct repl_session *session)
{
    if (session->document)
        session->document->editing = 0;
}

/* ---- what a cell shows ---------------------------------------------------------------------- */

void repl_document_text(const struct document_cell *cell, struct strbuf *out)
{
    size_t size = document_edit_shown_size(cell);
    for (size_t i = 0; i < size; i++) {
        if (cell->source[i] != '\r' || i + 1 >= size || cell->source[i + 1] != '\n')
            strbuf_addc(out, cell->source[i]);
    }
}

uint64_t repl_document_hash(const char *text, size_t size)
{
    uint64_t value = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        value = (value ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return value;
}

/* What the file has of an earlier run. */
static void show_stored(struct repl *repl, struct repl_cell_data *data,
                        const struct document_cell *cell)
{
    struct outputs stored = {NULL, 0, 0, 0, 0};
    outputs_read(&stored, cell->outputs);
    for (size_t i = 0; i < stored.count; i++) {
        const struct output *output = &stored.items[i];
        const char *text = strbuf_text(&output->text);
        if (output->kind == OUTPUT_STREAM || output->kind == OUTPUT_ERROR)
            repl_add_text(repl, data, 1, text, output->text.size);
        else
            repl_add_display(repl, data, output->kind == OUTPUT_RESULT, text, output->text.size);
        if (output->kind == OUTPUT_ERROR)
            data->cell.outcome = HERMES_ERROR;
    }
    outputs_free(&stored);
    outputs_free(&data->outputs); /* the document has them */
    data->outputs = stored;
    block_end(data->cell.output);
}

static struct repl_cell_data *make_cell(struct repl *repl, struct repl_session *session,
                                        const struct document_cell *cell)
{
    struct strbuf text = STRBUF_INIT;
    repl_document_text(cell, &text);
    struct repl_cell_data *data = repl_cell_new(repl, session, strbuf_text(&text), text.size);
    strbuf_free(&text);
    data->cell.state = REPL_EARLIER;
    data->cell.key = cell->key;
    data->cell.kind = cell->kind;
    data->cell.seen = true;
    data->quiet = true;
    data->source_hash = repl_document_hash(data->cell.source, data->cell.source_size);
    if (cell->kind == CELL_CODE && cell->count)
        data->cell.number = (unsigned)strtoul(cell->count, NULL, 10); /* null is 0 */
    if (cell->kind == CELL_CODE && cell->outputs)
        show_stored(repl, data, cell);
    return data;
}

/* One that is shown already: its source may have changed. */
static void renew_cell(struct repl_cell_data *data, const struct document_cell *cell)
{
    struct strbuf text = STRBUF_INIT;
    repl_document_text(cell, &text);
    bool same = text.size == data->cell.source_size &&
                memcmp(strbuf_text(&text), data->cell.source, text.size) == 0;
    if (!same && data->cell.state != REPL_RUNNING && data->cell.state != REPL_QUEUED) {
        free(data->cell.source);
        free(data->cell.view); /* what was measured is wrong now */
        data->cell.view = NULL;
        data->cell.source_size = text.size;
        data->cell.source = xmemdup0(strbuf_text(&text), text.size);
    }
    data->cell.edited = repl_document_hash(strbuf_text(&text), text.size) != data->source_hash;
    data->cell.kind = cell->kind;
    strbuf_free(&text);
}

/* ---- items ---------------------------------------------------------------------------------- */

struct placement {
    struct repl_item item;
    uint64_t anchor; /* the cell of the document above it; 0: none */
    bool used;
};

static struct placement *list_items(struct repl_session *session)
{
    struct placement *list = xcalloc(session->item_count + 1, sizeof(*list));
    uint64_t anchor = 0;
    for (size_t i = 0; i < session->item_count; i++) {
        list[i].item = session->items[i];
        uint64_t key = list[i].item.cell ? list[i].item.cell->key : 0;
        if (key && repl_document_number(session, key))
            anchor = key;
        list[i].anchor = anchor;
    }
    return list;
}

static void put(struct repl_session *session, struct repl_item item)
{
    session->items = xgrow(session->items, session->item_count, &session->item_capacity,
                           sizeof(*session->items));
    session->items[session->item_count++] = item;
}

static void put_followers(struct repl_session *session, struct placement *list, size_t count,
                          uint64_t anchor)
{
    for (size_t i = 0; i < count; i++) {
        const struct repl_cell *cell = list[i].item.cell;
        if (list[i].anchor != anchor || (cell && cell->key))
            continue;
        put(session, list[i].item);
        list[i].used = true;
    }
}

static struct repl_cell_data *take_aside(struct repl_document *document, uint64_t key)
{
    for (size_t i = 0; i < document->aside_count; i++) {
        struct repl_cell_data *data = document->aside[i];
        if (data->cell.key != key)
            continue;
        document->aside[i] = document->aside[--document->aside_count];
        return data;
    }
    return NULL;
}

static struct repl_cell_data *take_item(struct placement *list, size_t count, uint64_t key,
                                        size_t *hint)
{
    for (size_t n = 0; n < count; n++) {
        size_t i = (*hint + n) % count; /* mostly the next one */
        struct repl_cell *cell = list[i].item.cell;
        if (!cell || cell->key != key)
            continue;
        list[i].used = true;
        *hint = i + 1;
        return cell_data(cell);
    }
    return NULL;
}

static void put_aside(struct repl_document *document, struct repl_cell_data *data)
{
    document->aside = xgrow(document->aside, document->aside_count, &document->aside_capacity,
                            sizeof(struct repl_cell_data *));
    document->aside[document->aside_count++] = data;
}

void repl_document_sync(struct repl *repl, struct repl_session *session)
{
    struct repl_document *document = session->document;
    struct placement *list = list_items(session);
    size_t count = session->item_count, hint = 0;
    session->item_count = 0;
    put_followers(session, list, count, 0);
    for (size_t i = 0; i < document->document.count; i++) {
        const struct document_cell *cell = &document->document.cells[i];
        struct repl_cell_data *data = take_item(list, count, cell->key, &hint);
        if (!data)
            data = take_aside(document, cell->key);
        if (data)
            renew_cell(data, cell);
        else
            data = make_cell(repl, session, cell);
        put(session, (struct repl_item){&data->cell, NULL});
        put_followers(session, list, count, cell->key);
    }
    for (size_t i = 0; i < count; i++) {
        if (!list[i].used)
            put_aside(document, cell_data(list[i].item.cell));
    }
    free(list);
    if (!repl_document_number(session, document->selected))
        document->selected = document->document.count
                                 ? document->document.cells[document->document.count - 1].key
                                 : 0;
    if (!repl_document_number(session, document->editing))
        document->editing = 0;
    if (repl->front.items_changed)
        repl->front.items_changed(repl->context, session);
    repl_tell_session(repl, session);
}

void repl_document_place(struct repl *repl, struct repl_cell_data *data)
{
    struct repl_session *session = data->session;
    size_t at = repl_document_item(session, data->cell.key);
    struct repl_cell_data *old = cell_data(session->items[at].cell);
    data->source_hash = repl_document_hash(data->cell.source, data->cell.source_size);
    session->items[at].cell = &data->cell;
    if (old->cell.id && !old->cell.not_run) {
        data->before = old;
        if (old->before)
            repl_cell_free(old->before);
        old->before = NULL;
    } else {
        data->before = old->before;
        old->before = NULL;
        repl_cell_free(old);
    }
    repl_tell_cell(repl, session, &data->cell);
}

/* What happened stands below the cell that ran last; other cells at the end. */
size_t repl_document_item_place(const struct repl_session *session, const struct repl_cell *cell)
{
    size_t end = session->item_count - 1; /* the last is empty still */
    size_t at = repl_document_item(session, session->document->last_run);
    if ((cell && cell->number) || at >= end)
        return end;
    for (at++; at < end && !(session->items[at].cell && session->items[at].cell->key); at++)
        continue;
    return at;
}

void repl_document_drop_cells(struct repl *repl, struct repl_session *session)
{
    struct repl_document *document = session->document;
    size_t kept = 0;
    (void)repl;
    for (size_t i = 0; i < session->item_count; i++) {
        struct repl_cell *cell = session->items[i].cell;
        if (cell && cell->key)
            repl_cell_free(cell_data(cell));
        else
            session->items[kept++] = session->items[i];
    }
    session->item_count = kept;
    for (size_t i = 0; i < document->aside_count; i++)
        repl_cell_free(document->aside[i]);
    document->aside_count = 0;
}

/* ---- opening -------------------------------------------------------------------------------- */

void repl_document_free(struct repl_document *document)
{
    if (!document)
        return;
    document_edits_free(&document->edits);
    document_free(&document->document);
    document_script_free(&document->script);
    for (size_t i = 0; i < document->aside_count; i++)
        repl_cell_free(document->aside[i]);
    free(document->aside);
    free(document->path);
    free(document->rescued);
    free(document->due);
    free(document);
}

static struct repl_document *read_document(const char *path, struct strbuf *error)
{
    enum document_file type = document_file_type(path);
    if (type == DOCUMENT_FILE_MD || type == DOCUMENT_FILE_HTML) {
        strbuf_setf(error, "%s is neither a notebook (.ipynb) nor a script (.py)", path);
        return NULL;
    }
    struct repl_document *document = xcalloc(1, sizeof(*document));
    document->path = realpath(path, NULL);
    if (!repl_document_read(document, document->path ? document->path : path, error)) {
        repl_document_free(document);
        return NULL;
    }
    return document;
}

bool repl_document_check(const char *path, struct strbuf *error)
{
    struct repl_document *document = read_document(path, error);
    repl_document_free(document);
    return document != NULL;
}

bool repl_document_attach(struct repl *repl, struct repl_session *session, const char *path,
                          struct strbuf *error)
{
    if (session->document) {
        strbuf_setf(error, "%s has a document already", session->name);
        return false;
    }
    struct repl_document *document = read_document(path, error);
    if (!document)
        return false;
    session->document = document;
    repl_document_sync(repl, session);
    repl_document_tell_rescued(repl, session);
    return true;
}

char *repl_document_name(const struct repl *repl, const char *path)
{
    struct strbuf name = STRBUF_INIT;
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    size_t size = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    for (size_t i = 0; i < size && i < 48; i++) {
        unsigned char c = (unsigned char)base[i];
        strbuf_addc(&name, (char)(c <= ' ' || c >= 0x7f || c == ':' ? '-' : c));
    }
    if (!name.size)
        strbuf_adds(&name, "file");
    size_t length = name.size;
    for (unsigned n = 2; repl_session_named(repl, strbuf_text(&name)); n++) {
        name.size = length;
        name.data[length] = '\0';
        strbuf_addf(&name, "-%u", n);
    }
    return strbuf_steal(&name);
}

static struct repl_session *session_of_file(const struct repl *repl, const char *path)
{
    char *whole = realpath(path, NULL);
    struct repl_session *found = NULL;
    for (size_t i = 0; whole && i < repl->session_count && !found; i++) {
        struct repl_session *session = &repl->sessions[i]->session;
        if (session->document && strcmp(session->document->path, whole) == 0)
            found = session;
    }
    free(whole);
    return found;
}

struct repl_session *repl_document_open(struct repl *repl, const char *path, struct strbuf *error)
{
    struct repl_session *session = session_of_file(repl, path);
    if (session)
        return session;
    struct repl_document *document = read_document(path, error);
    if (!document)
        return NULL;
    char *name = repl_document_name(repl, path);
    session = repl_open_session(repl, name, false, error);
    free(name);
    if (!session) {
        repl_document_free(document);
        return NULL;
    }
    session->document = document;
    repl_document_sync(repl, session);
    repl_document_tell_rescued(repl, session);
    return session;
}
