/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one writer of JSON strings in the front ends: keeps NULs (cJSON cuts there) and repairs what
 * is not UTF-8.
 */
#ifndef UI_JSON_WRITE_H
#define UI_JSON_WRITE_H

#include "strbuf.h"

/* Append a string with its quotes; malformed UTF-8 becomes U+FFFD. */
void json_add_string(struct strbuf *buf, const char *data, size_t size);
/* The same for a C string; NULL gives null. */
void json_add_text(struct strbuf *buf, const char *text);
/* A text as an array of its lines, each with its line end, as notebooks store it. */
void json_add_lines(struct strbuf *buf, const char *data, size_t size);

#endif
