/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Documents as files: which format a name means, reading, and writing as a whole or not at all.
 */
#ifndef UI_DOCUMENT_FILE_H
#define UI_DOCUMENT_FILE_H

#include <stdbool.h>

#include "document.h"
#include "notebook-write.h"
#include "strbuf.h"

enum document_file {
    DOCUMENT_FILE_NONE,
    DOCUMENT_FILE_IPYNB,
    DOCUMENT_FILE_PY,
    DOCUMENT_FILE_MD,
    DOCUMENT_FILE_HTML
};

/* By the ending of the name. */
enum document_file document_file_type(const char *path);

/*
 * Fill an empty document from a notebook (.ipynb) or a script (any other name). False: one line in
 * error.
 */
bool document_load(struct document *document, const char *path, struct strbuf *error);

/*
 * Append the document in the format of the type, records as for notebook_write(). name: a page's
 * title.
 */
void document_compose(struct strbuf *out, enum document_file type, const struct document *document,
                      const struct cell_record *records, const char *name);

/*
 * --convert: read one file, write another. Returns the exit status, with one line in error if it is
 * not 0.
 */
int document_convert(const char *from, const char *to, struct strbuf *error);

#endif
