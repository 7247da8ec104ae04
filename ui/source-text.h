/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bytes of a Python script as UTF-8 text, by Python's rules: a byte-order mark is dropped, a
 * PEP 263 cookie in the first two lines is obeyed, the default is UTF-8.
 */
#ifndef UI_SOURCE_TEXT_H
#define UI_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "strbuf.h"

/* On failure error gets one line. */
bool source_decode(const char *bytes, size_t size, struct strbuf *text, struct strbuf *error);

/* Read a whole file; "-" is standard input. On failure error gets one line that names the file. */
bool source_read_file(const char *path, struct strbuf *bytes, struct strbuf *error);

#endif
