/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A file as a session's document: its cells are items of the transcript, in the file's order. They
 * are run and changed in place; the file is written only when a person says so. Front ends read the
 * model (repl_cell.key says which items are cells of the document) and give commands; the few calls
 * here are what a cursor in a transcript needs beside them.
 */
#ifndef UI_REPL_DOCUMENT_H
#define UI_REPL_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "repl.h"

struct repl_document;

/* The file in a session of its own, named after it, or in a session that has no document yet. */
struct repl_session *repl_document_open(struct repl *repl, const char *path, struct strbuf *error);
bool repl_document_attach(struct repl *repl, struct repl_session *session, const char *path,
                          struct strbuf *error);
/* Whether it could be opened; false: one line in error. */
bool repl_document_check(const char *path, struct strbuf *error);
/* A name for a session that shows the file; yours. */
char *repl_document_name(const struct repl *repl, const char *path);

const char *repl_document_path(const struct repl_session *session); /* NULL: no document */
/* It is not as it is in the file: cells were changed, or have new output that goes there. */
bool repl_document_is_modified(const struct repl_session *session);
bool repl_document_changed_on_disk(const struct repl_session *session);
size_t repl_document_count(const struct repl_session *session);
/* From 1; 0: no cell of the document has this key. */
size_t repl_document_number(const struct repl_session *session, uint64_t key);

/* The cell that commands without a number are about. */
void repl_document_select(struct repl_session *session, uint64_t key);
uint64_t repl_document_selected(const struct repl_session *session);
/* Its item; the count of items: there is none. */
size_t repl_document_item(const struct repl_session *session, uint64_t key);

/*
 * While a cell is edited, what is entered becomes its source, whatever it looks like, and is run.
 * From the command :edit-cell on, which puts the source into the prompt, until it is entered or
 * this is called.
 */
uint64_t repl_document_editing(const struct repl_session *session); /* 0: none */
void repl_document_stop_editing(struct repl_session *session);
/* Its new source, without running it. False: one line in error, and it is still edited. */
bool repl_document_put_edited(struct repl *repl, struct repl_session *session, const char *source,
                              size_t size, struct strbuf *error);

/*
 * The program ends, and nobody said that it should: what was not saved goes into files beside the
 * history, and told gets a line for each. Whoever opens such a document again is told, too. prompt:
 * what stands in the prompt, which is the source of the cell that is edited in front, if one is.
 */
void repl_document_rescue(struct repl *repl, const char *prompt, size_t size, struct strbuf *told);

/* Look whether somebody else has written the file; says so once. */
void repl_document_look(struct repl *repl, struct repl_session *session);

#endif
