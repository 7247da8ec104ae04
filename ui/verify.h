/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether two runs of a cell showed the same: outputs as notebooks store them become comparable
 * text, in which what differs from run to run by nature (addresses, times, names of temporary
 * files) is masked. Knows nothing of engines and of how cells are run.
 */
#ifndef UI_VERIFY_H
#define UI_VERIFY_H

#include <stdbool.h>

#include "document.h"
#include "strbuf.h"

/* Append text with what is never the same masked. */
void verify_mask(struct strbuf *out, const char *text, size_t size);

/*
 * Whether two arrays of outputs (JSON; NULL or what is no array: none) show the same; else
 * difference gets the unified diff of their comparable texts: what was printed and displayed in
 * order, standard error behind it, then the error's name and message without its traceback.
 * Pictures are their MIME types.
 */
bool verify_compare(const char *stored, const char *fresh, struct strbuf *difference);

/*
 * Whether the document's execution counts say that its cells ran from top to bottom, each once, in
 * one kernel: the only order that a fresh run repeats. Else reason gets one line.
 */
bool verify_order(const struct document *document, struct strbuf *reason);

#endif
