/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads Jupyter notebooks (nbformat 4). What the batch driver does not touch is kept as the text
 * it was: metadata, attachments, members that this program does not know, cells that are not run.
 */
#ifndef UI_NOTEBOOK_H
#define UI_NOTEBOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "document.h"
#include "json-scan.h"
#include "strbuf.h"

/* Fill an empty document. On failure error gets one line that says what is wrong and where. */
bool notebook_read(const char *text, size_t size, struct document *document, struct strbuf *error);

/*
 * Append a "multi-line string" of the format: a string, or an array of strings. False: it is
 * neither, or only in part.
 */
bool notebook_text(struct json_span value, struct strbuf *text);

#endif
