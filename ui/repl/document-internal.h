/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files about documents in sessions share.
 */
#ifndef UI_REPL_DOCUMENT_INTERNAL_H
#define UI_REPL_DOCUMENT_INTERNAL_H

#include <sys/types.h>
#include <time.h>

#include "document-edit.h"
#include "document-file.h"
#include "document-script.h"
#include "repl-document.h"
#include "repl-internal.h"

/* Which file it was that was read or written. */
struct document_stamp {
    bool there;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct repl_document {
    char *path; /* absolute */
    struct document document;
    struct document_edits edits;
    struct document_script script;
    struct document_stamp stamp;
    bool outputs_changed; /* a notebook's, since it was saved */
    bool disk_changed;    /* and it was said */
    char *rescued;        /* the file that :recover took its cells from; goes when they are saved */
    uint64_t selected, editing, last_run;
    uint64_t *due; /* keys of cells that are to run, one when the one before has succeeded */
    size_t due_count, due_capacity;
    /* Cells that were deleted, with what they showed: undo brings them back. */
    struct repl_cell_data **aside;
    size_t aside_count, aside_capacity;
};

/* ---- repl-document.c ---- */

/* After any change of the document: the session's items follow. */
void repl_document_sync(struct repl *repl, struct repl_session *session);
/* The cell of the document with this key, as it is shown; NULL: none. */
struct repl_cell_data *repl_document_cell(const struct repl_session *session, uint64_t key);
/* What the file would have for this cell: it ran here, or NULL. */
const struct repl_cell_data *repl_document_ran(const struct repl_session *session, uint64_t key);
/* As it is shown and edited: without blank lines at the end and without \r. */
void repl_document_text(const struct document_cell *cell, struct strbuf *out);
uint64_t repl_document_hash(const char *text, size_t size);
/* Forget all cells; new ones come with the next sync. */
void repl_document_drop_cells(struct repl *repl, struct repl_session *session);

/* ---- document-run.c ---- */

bool repl_document_run(struct repl *repl, struct repl_session *session, size_t from, size_t to,
                       struct strbuf *error);

/* ---- document-save.c ---- */

bool repl_document_read(struct repl_document *document, const char *path, struct strbuf *error);
bool repl_document_save(struct repl *repl, struct repl_session *session, struct strbuf *error);
/* Under another name, or as something else (.py, .md, .html), which the tab does not become. */
bool repl_document_save_as(struct repl *repl, struct repl_session *session, const char *path,
                           struct strbuf *error);
bool repl_document_reload(struct repl *repl, struct repl_session *session, struct strbuf *error);
/* The cells of this file in place of the document's; another file than its own is a change. */
bool repl_document_take(struct repl *repl, struct repl_session *session, const char *path,
                        struct strbuf *error);
/* What a file of this type would hold. */
void repl_document_compose(struct repl_session *session, enum document_file type, const char *path,
                           struct strbuf *out);
const char *repl_document_base_name(const char *path);

/* ---- document-rescue.c ---- */

/* Say whether there are changes of this file that were not saved. */
void repl_document_tell_rescued(struct repl *repl, struct repl_session *session);
/* Take them, or remove their files. */
bool repl_document_recover(struct repl *repl, struct repl_session *session, struct strbuf *error);
bool repl_document_drop_rescued(struct repl *repl, struct repl_session *session,
                                struct strbuf *error);
/* What was taken is in the document's file now. */
void repl_document_forget_rescued(struct repl_document *document);

#endif
