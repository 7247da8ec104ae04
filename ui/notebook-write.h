/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a document, with the outputs of its run or those it had: as a notebook (nbformat 4.5), a
 * percent script or Markdown.
 */
#ifndef UI_NOTEBOOK_WRITE_H
#define UI_NOTEBOOK_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "document.h"
#include "outputs.h"
#include "strbuf.h"

enum cell_fate {
    FATE_UNTOUCHED, /* not chosen: outputs stay as they were */
    FATE_NOT_RUN,   /* chosen, but the run ended before it */
    FATE_RUN,
};

/* What became of the cell of the same index in the document. */
struct cell_record {
    enum cell_fate fate;
    uint64_t execution_count;
    struct outputs outputs;
};

/*
 * Laid out as Jupyter does. records NULL: as it was read, also its version; else nbformat 4.5 or
 * what the file had, if that is newer.
 */
void notebook_write(struct strbuf *out, const struct document *document,
                    const struct cell_record *records);
/* Append the outputs of a record as an array. */
void notebook_write_outputs(struct strbuf *out, const struct cell_record *record);
void script_write(struct strbuf *out, const struct document *document);
void markdown_write(struct strbuf *out, const struct document *document,
                    const struct cell_record *records);

/* One page; title is its title. */
void html_write(struct strbuf *out, const struct document *document,
                const struct cell_record *records, const char *title);

/*
 * What a cell shows now: of its run, if it ran; those it had (read into `stored`, which the caller
 * frees) if it was not touched, or records are NULL.
 */
const struct outputs *cell_outputs(const struct document_cell *cell,
                                   const struct cell_record *record, struct outputs *stored);

/* Text of a Markdown cell: a script keeps it in comments or in a string. */
void document_prose(const struct document *document, const struct document_cell *cell,
                    struct strbuf *out);

#endif
