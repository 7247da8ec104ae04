/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Puts the hunks of a patch into a text. A hunk fits exactly, or with blanks at line ends that
 * differ; one with a line number may also stand elsewhere and lack up to two lines of context at
 * each side. Touches no file.
 */
#ifndef UI_PATCH_APPLY_H
#define UI_PATCH_APPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "patch-parse.h"
#include "strbuf.h"

/*
 * Append the new text to result. notes gets a line for each hunk that did not stand where it said.
 * On failure error gets one line that says which hunk, and what is there instead.
 */
bool patch_apply(const struct patch_file *file, const char *name, const char *text, size_t size,
                 struct strbuf *result, struct strbuf *notes, struct strbuf *error);

#endif
