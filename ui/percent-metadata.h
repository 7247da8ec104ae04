/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Metadata between notebooks and percent scripts, in jupytext's form: key=value pairs of a marker,
 * and the commented YAML header of the file, which is kept as it stands.
 */
#ifndef UI_PERCENT_METADATA_H
#define UI_PERCENT_METADATA_H

#include <stdbool.h>

#include "document.h"
#include "strbuf.h"

/*
 * From a marker's options, behind title and kind, to the cell's metadata; nothing if there is
 * nothing beside tags.
 */
void percent_read_members(struct document_cell *cell, const char *text, size_t size);
/* Append what a notebook's cell has beside tags and title, each with a blank before it. */
void percent_add_members(struct strbuf *out, const struct document_cell *cell);

/* Whether the cell is a script's header: comments only, with "# ---", "# jupyter:" and "# ---". */
bool percent_is_header(const struct document_cell *cell);
/* Append the header that a notebook keeps in its metadata. False: it has none. */
bool percent_add_header(struct strbuf *out, const struct document *document);
/* Append a header as a member of a notebook's metadata. */
void percent_keep_header(struct strbuf *out, const struct document_cell *cell);

#endif
