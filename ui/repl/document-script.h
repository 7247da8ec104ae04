/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A script as a document that is saved again: what is not changed is the same to the byte (blank
 * lines, line ends, a byte-order mark), which the writers for exports do not promise.
 */
#ifndef UI_DOCUMENT_SCRIPT_H
#define UI_DOCUMENT_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "document.h"
#include "strbuf.h"

struct document_script {
    char *head; /* what stands before the first marker, if that is blank: no cell; else NULL */
    bool mark;  /* a byte-order mark begins the file */
    bool crlf;
    bool foreign; /* not UTF-8: it can be run, but not be written */
};

/* Fill an empty document. False: one line in error. */
bool document_script_read(struct document_script *script, struct document *document,
                          const char *bytes, size_t size, struct strbuf *error);
/* Append the file; sets first_line of each cell to where it stands there. */
void document_script_write(const struct document_script *script, struct document *document,
                           struct strbuf *out);
void document_script_free(struct document_script *script);

#endif
