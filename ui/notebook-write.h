/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a document with the outputs of its run: as a notebook (nbformat 4.5), a percent script or
 * Markdown.
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

void notebook_write(struct strbuf *out, const struct document *document,
                    const struct cell_record *records);
void script_write(struct strbuf *out, const struct document *document);
void markdown_write(struct strbuf *out, const struct document *document,
                    const struct cell_record *records);

/* Text of a Markdown cell: a script keeps it in comments or in a string. */
void document_prose(const struct document *document, const struct document_cell *cell,
                    struct strbuf *out);

#endif
