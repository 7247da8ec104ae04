/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Splits a Python script into cells at its "# %%" markers.
 *
 * A marker is a comment at column 0, outside strings: "#", blanks or none, "%%" (more % signs make
 * a sub-cell, which is a cell too), then the end of the line, a blank or "[". "#%%time" is
 * therefore no marker but a comment (jupytext writes commented magics so). Behind it may stand a
 * title, the kind ([markdown], [md], [raw], [code]) and metadata: key=value, of which tags=["a",
 * "b"] is read, or a JSON object with "tags". A script without markers is one cell.
 */
#ifndef UI_PERCENT_H
#define UI_PERCENT_H

#include <stdbool.h>
#include <stddef.h>

#include "document.h"

/*
 * Cells of text (UTF-8), added to an empty document. Text before the first marker is a cell
 * without marker.
 */
void percent_read(const char *text, size_t size, struct document *document);

/* Whether the line, without its line end, is a marker; *ret_rest is where its title begins. */
bool percent_is_marker(const char *line, size_t size, size_t *ret_rest);

#endif
