/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the file and back to it; and whether somebody else has written it meanwhile.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "atomic-file.h"
#include "command-internal.h"
#include "document-file.h"
#include "document-internal.h"
#include "notebook.h"
#include "source-text.h"

const char *repl_document_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* ---- which file it is ----------------------------------------------------------------------- */

static struct document_stamp stamp_of(const char *path)
{
    struct stat status;
    struct document_stamp stamp = {.there = false};
    if (stat(path, &status) != 0)
        return stamp;
    stamp.there = true;
    stamp.device = status.st_dev;
    stamp.inode = status.st_ino;
    stamp.size = status.st_size;
    stamp.changed = status.st_mtim;
    return stamp;
}

static bool is_same(const struct document_stamp *a, const struct document_stamp *b)
{
    return a->there == b->there && a->device == b->device && a->inode == b->inode &&
           a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

void repl_document_look(struct repl *repl, struct repl_session *session)
{
    struct repl_document *document = session->document;
    if (!document)
        return;
    struct document_stamp now = stamp_of(document->path);
    bool changed = !is_same(&now, &document->stamp);
    if (changed && !document->disk_changed)
        repl_say(repl, session,
                 now.there ? "%s was changed on disk: :reload reads it, :save asks"
                           : "%s is gone from the disk: :save writes it again",
                 repl_document_base_name(document->path));
    document->disk_changed = changed;
}

/* ---- reading -------------------------------------------------------------------------------- */

bool repl_document_read(struct repl_document *document, const char *path, struct strbuf *error)
{
    struct strbuf bytes = STRBUF_INIT, why = STRBUF_INIT;
    document->stamp = stamp_of(path); /* before: what comes after it is a change */
    if (!source_read_file(path, &bytes, error))
        return false;
    bool good = document_file_type(path) == DOCUMENT_FILE_IPYNB
                    ? notebook_read(strbuf_text(&bytes), bytes.size, &document->document, &why)
                    : document_script_read(&document->script, &document->document,
                                           strbuf_text(&bytes), bytes.size, &why);
    if (!good)
        strbuf_setf(error, "%s: %s", path, strbuf_text(&why));
    strbuf_free(&bytes);
    strbuf_free(&why);
    if (!good)
        return false;
    document_edits_init(&document->edits, &document->document);
    document->edits.crlf = document->script.crlf;
    document->outputs_changed = document->disk_changed = false;
    return true;
}

/* A script's cells keep what they showed, if they are the same: a file has no outputs. */
static void take_keys(struct document *now, const struct document *before)
{
    bool *taken = xcalloc(before->count, sizeof(*taken));
    uint64_t last = 0;
    for (size_t i = 0; i < before->count; i++)
        last = before->cells[i].key > last ? before->cells[i].key : last;
    for (size_t i = 0; i < now->count; i++) {
        struct document_cell *cell = &now->cells[i];
        cell->key = 0;
        for (size_t n = 0; n < before->count && !cell->key; n++) {
            const struct document_cell *old = &before->cells[n];
            size_t size = document_edit_shown_size(cell);
            if (taken[n] || old->kind != cell->kind || document_edit_shown_size(old) != size ||
                memcmp(old->source, cell->source, size) != 0)
                continue;
            cell->key = old->key;
            taken[n] = true;
        }
        if (!cell->key)
            cell->key = ++last;
    }
    free(taken);
}

static bool any_open(const struct repl *repl, const struct repl_session *session)
{
    for (size_t i = 0; i < repl->open_count; i++) {
        if (repl->open[i]->session == session && repl->open[i]->cell.key)
            return true;
    }
    return false;
}

bool repl_document_take(struct repl *repl, struct repl_session *session, const char *path,
                        struct strbuf *error)
{
    struct repl_document *document = session->document, fresh = {.path = NULL};
    if (any_open(repl, session)) {
        strbuf_setf(error, "cells of %s run or wait: not now",
                    repl_document_base_name(document->path));
        return false;
    }
    bool good = repl_document_read(&fresh, path, error);
    if (good && fresh.document.format != document->document.format) {
        strbuf_setf(error, "%s is no script, but a notebook: :open it by itself", path);
        document_edits_free(&fresh.edits);
        good = false;
    }
    if (!good) {
        document_free(&fresh.document);
        document_script_free(&fresh.script);
        return false;
    }
    if (fresh.document.format == DOCUMENT_NOTEBOOK)
        repl_document_drop_cells(repl, session);
    else
        take_keys(&fresh.document, &document->document);
    repl_document_drop_due(session);
    document_edits_free(&document->edits);
    document_free(&document->document);
    document_script_free(&document->script);
    document->document = fresh.document;
    document->script = fresh.script;
    if (path == document->path) {
        document->stamp = fresh.stamp;
        document->disk_changed = false;
    }
    document_edits_free(&fresh.edits);
    document_edits_init(&document->edits, &document->document);
    document->edits.crlf = document->script.crlf;
    document->outputs_changed = path != document->path; /* what is shown is not in the file */
    document->editing = 0;
    repl_document_sync(repl, session);
    return true;
}

static bool read_again(struct repl *repl, struct repl_session *session, struct strbuf *error)
{
    if (!repl_document_take(repl, session, session->document->path, error))
        return false;
    repl_say(repl, session, "%s was read again", repl_document_base_name(session->document->path));
    return true;
}

bool repl_document_reload(struct repl *repl, struct repl_session *session, struct strbuf *error)
{
    if (!repl_document_is_modified(session))
        return read_again(repl, session, error);
    char *question = xasprintf("read %s again? What was changed here is lost.",
                               repl_document_base_name(session->document->path));
    repl_ask_doubt(repl, session, REPL_DOUBT_RELOAD, question);
    free(question);
    return true;
}

void repl_document_do_reload(struct repl *repl, struct repl_session *session)
{
    struct strbuf error = STRBUF_INIT;
    if (!read_again(repl, session, &error))
        repl_say(repl, session, "%s", strbuf_text(&error));
    strbuf_free(&error);
}

/* ---- writing -------------------------------------------------------------------------------- */

/* What ran here has new outputs; NULL: nothing did, all is as the file had it. */
static struct cell_record *make_records(const struct repl_session *session)
{
    const struct document *document = &session->document->document;
    struct cell_record *records = xcalloc(document->count, sizeof(*records));
    bool any = false;
    for (size_t i = 0; i < document->count; i++) {
        const struct repl_cell_data *data = repl_document_ran(session, document->cells[i].key);
        if (!data)
            continue;
        any = true;
        records[i].fate = FATE_RUN;
        records[i].execution_count = data->cell.number;
        command_copy_outputs(data, &records[i].outputs);
    }
    if (!any) {
        free(records);
        records = NULL;
    }
    return records;
}

void repl_document_compose(struct repl_session *session, enum document_file type, const char *path,
                           struct strbuf *out)
{
    struct repl_document *document = session->document;
    bool notebook = document->document.format == DOCUMENT_NOTEBOOK;
    if (!notebook && (type == DOCUMENT_FILE_PY || type == DOCUMENT_FILE_NONE)) {
        document_script_write(&document->script, &document->document, out);
        return;
    }
    struct cell_record *records = make_records(session);
    if (notebook && records && document->document.minor < 5)
        document->document.minor = 5;
    if (notebook && document->document.minor >= 5)
        document_edit_give_ids(&document->document);
    document_compose(out, type, &document->document, records, repl_document_base_name(path));
    for (size_t i = 0; records && i < document->document.count; i++)
        outputs_free(&records[i].outputs);
    free(records);
}

/* Whether the tab's file can be one of this name. */
static bool is_same_kind(const struct repl_document *document, const char *path)
{
    enum document_file type = document_file_type(path);
    return document->document.format == DOCUMENT_NOTEBOOK ? type == DOCUMENT_FILE_IPYNB
                                                          : type == DOCUMENT_FILE_PY;
}

static bool write_to(struct repl *repl, struct repl_session *session, const char *path,
                     struct strbuf *error)
{
    struct repl_document *document = session->document;
    struct strbuf out = STRBUF_INIT;
    if (document->script.foreign && document_file_type(path) == DOCUMENT_FILE_PY) {
        strbuf_setf(error, "%s is not UTF-8: no script is written of it, but .ipynb or .md",
                    repl_document_base_name(document->path));
        return false;
    }
    bool own = strcmp(path, document->path) == 0, becomes = own || is_same_kind(document, path);
    repl_document_compose(session, document_file_type(path), path, &out);
    bool good = atomic_file_write(path, strbuf_text(&out), out.size, error);
    strbuf_free(&out);
    if (!good)
        return false;
    size_t count = document->document.count;
    repl_say(repl, session, "%zu cell%s written to %s", count, count == 1 ? "" : "s", path);
    if (!becomes)
        return true;
    char *whole = realpath(path, NULL);
    if (whole) {
        free(document->path);
        document->path = whole;
    }
    document->stamp = stamp_of(document->path);
    document->disk_changed = document->outputs_changed = false;
    document_edits_mark_saved(&document->edits);
    repl_document_forget_rescued(document);
    repl_tell_session(repl, session);
    return true;
}

void repl_document_overwrite(struct repl *repl, struct repl_session *session, const char *path)
{
    struct strbuf error = STRBUF_INIT;
    if (!write_to(repl, session, path, &error))
        repl_say(repl, session, "%s", strbuf_text(&error));
    strbuf_free(&error);
}

bool repl_document_save(struct repl *repl, struct repl_session *session, struct strbuf *error)
{
    struct repl_document *document = session->document;
    struct document_stamp now = stamp_of(document->path);
    if (now.there && !is_same(&now, &document->stamp)) {
        repl_ask_overwrite(repl, session, document->path, "was changed on disk");
        return true;
    }
    if (now.there && !repl_document_is_modified(session)) {
        repl_say(repl, session, "%s has no changes to save",
                 repl_document_base_name(document->path));
        return true;
    }
    return write_to(repl, session, document->path, error);
}

bool repl_document_save_as(struct repl *repl, struct repl_session *session, const char *path,
                           struct strbuf *error)
{
    char *whole = realpath(path, NULL);
    bool own = whole && strcmp(whole, session->document->path) == 0;
    free(whole);
    if (own)
        return repl_document_save(repl, session, error);
    if (document_file_type(path) == DOCUMENT_FILE_NONE) {
        strbuf_setf(error, "%s should end in .ipynb, .py, .md or .html", path);
        return false;
    }
    if (access(path, F_OK) == 0) {
        repl_ask_overwrite(repl, session, path, "is there already");
        return true;
    }
    return write_to(repl, session, path, error);
}

void repl_document_add_unsaved(const struct repl *repl, struct strbuf *out)
{
    for (size_t i = 0; i < repl->session_count; i++) {
        const struct repl_session *session = &repl->sessions[i]->session;
        if (repl_document_is_modified(session))
            strbuf_addf(out, "%s%s", out->size ? ", " : "",
                        repl_document_base_name(session->document->path));
    }
}
