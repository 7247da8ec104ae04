/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Changing a document that somebody works with: cells are inserted, deleted, split, merged, moved,
 * and written anew, and all of it can be undone. Every change is one splice (some cells in place of
 * others), so undo needs to know no more than that. Cells have keys, which stay with them. What the
 * document model does not know (ids, metadata, attachments) stays with its cell. Knows neither
 * files nor sessions.
 */
#ifndef UI_DOCUMENT_EDIT_H
#define UI_DOCUMENT_EDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "document.h"
#include "strbuf.h"

struct document_change;

struct document_edits {
    struct document *document;
    struct document_change *changes; /* done, then undone ones */
    size_t count, capacity;
    size_t done;  /* of changes: those that hold now */
    size_t saved; /* how many held when the file was written; SIZE_MAX: not to be reached again */
    uint64_t last_key;
    bool crlf; /* a script's lines end in \r\n */
};

/* Gives keys to cells that have none. */
void document_edits_init(struct document_edits *edits, struct document *document);
void document_edits_free(struct document_edits *edits);
/* As it is, it is in the file. */
void document_edits_mark_saved(struct document_edits *edits);
bool document_edits_changed(const struct document_edits *edits);

/* Where the cell with this key stands; the count: nowhere. */
size_t document_edit_find(const struct document *document, uint64_t key);

/*
 * Each returns false, with one line in error, if it cannot be done. Places count from 0. An empty
 * code cell is inserted before the cell at `at` (the count: at the end); *ret_key is its key.
 */
void document_edit_insert(struct document_edits *edits, size_t at, uint64_t *ret_key);
void document_edit_delete(struct document_edits *edits, size_t at);
bool document_edit_move(struct document_edits *edits, size_t at, bool down, struct strbuf *error);
/* line: the first of the second cell, counted from 1. */
bool document_edit_split(struct document_edits *edits, size_t at, size_t line,
                         struct strbuf *error);
bool document_edit_merge(struct document_edits *edits, size_t at, struct strbuf *error);
void document_edit_set_kind(struct document_edits *edits, size_t at, enum cell_kind kind);
/* False: it is the same already. A script's blank lines behind a cell stay. */
bool document_edit_set_source(struct document_edits *edits, size_t at, const char *source,
                              size_t size);

/* *ret_key: the cell that a person would look at now (0: none). False: there is nothing. */
bool document_edit_undo(struct document_edits *edits, uint64_t *ret_key);
bool document_edit_redo(struct document_edits *edits, uint64_t *ret_key);

/* Without blank lines at its end: what a person edits, and what is shown. */
size_t document_edit_shown_size(const struct document_cell *cell);
/* Ids for cells of a notebook that have none: they are the same with the next save. */
void document_edit_give_ids(struct document *document);

#endif
