/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A script or a notebook as a list of cells: what the readers (percent, notebook) make and what
 * the batch driver runs and the writers write. Knows neither the file formats nor the engine.
 */
#ifndef UI_DOCUMENT_H
#define UI_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum document_format { DOCUMENT_SCRIPT, DOCUMENT_NOTEBOOK };
enum cell_kind { CELL_CODE, CELL_MARKDOWN, CELL_RAW };

struct document_cell {
    enum cell_kind kind;
    char *source; /* as it stands, may hold NUL */
    size_t size;
    unsigned first_line; /* line of source in the file (scripts), 1 in notebooks */
    char *title;         /* NULL: none */
    char **tags;
    size_t tag_count, tag_capacity;
    char *marker; /* scripts: the marker's line; NULL before the first marker */
    /* Notebooks: JSON text as it stood, or NULL. */
    char *id;       /* without quotes */
    char *metadata; /* an object */
    char *outputs;  /* an array */
    char *count;    /* execution_count */
    char *more;     /* further members: "name": value, ... */
    uint64_t key;   /* for an editor: which cell it is, wherever it stands; 0: nobody has asked */
};

struct document {
    enum document_format format;
    struct document_cell *cells;
    size_t count, capacity;
    int minor;      /* notebooks: nbformat_minor of the file */
    char *metadata; /* notebooks: the object, JSON text, or NULL */
    char *more;     /* notebooks: further members */
};

struct document_cell *
document_add(struct document *document); /* zeroed, at the end; valid until the next call */
void document_insert(struct document *document, size_t at, struct document_cell cell);
void document_free(struct document *document); /* what it holds, not the struct */
struct document_cell document_cell_copy(const struct document_cell *cell);
void document_cell_free(struct document_cell *cell); /* what it holds */

void document_cell_add_tag(struct document_cell *cell, const char *tag);
bool document_cell_has_tag(const struct document_cell *cell, const char *tag);
/* Nothing but white space. */
bool document_cell_is_blank(const struct document_cell *cell);
/* A code cell that is not blank. */
bool document_cell_runs(const struct document_cell *cell);

#endif
