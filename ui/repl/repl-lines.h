/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks of source as they are typed and pasted.
 */
#ifndef UI_REPL_LINES_H
#define UI_REPL_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "strbuf.h"

/* Append the source without the white space that all its lines begin with. False: there is none. */
bool repl_dedent(const char *source, size_t size, struct strbuf *out);

#endif
