/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * UTF-8 as bytes: checking, repairing, and not cutting a character in two. No locale.
 */
#ifndef UI_UTF8_H
#define UI_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strbuf.h"

/*
 * Decode the character at data (size > 0). Returns its length in bytes; *ret_code is UINT32_MAX
 * for a maximal malformed part, whose length is returned. Returns 0 when data ends within a
 * character that is right so far.
 */
size_t utf8_decode(const char *data, size_t size, uint32_t *ret_code);

/*
 * Encode a code point; returns the length (1..4). Surrogates and values beyond U+10FFFF become
 * U+FFFD.
 */
size_t utf8_encode(uint32_t code, char out[4]);

/* True when all is well-formed; else *ret_offset (may be NULL) is where it is not. */
bool utf8_check(const char *data, size_t size, size_t *ret_offset);

/* Append data with every malformed part replaced by U+FFFD. */
void utf8_repair(struct strbuf *buf, const char *data, size_t size);

/* A mark that turns the direction of writing: what follows it may be shown before it. */
bool utf8_turns(uint32_t code);

/*
 * Append data as it may be shown on a terminal in a line of ours that quotes others: control
 * characters but line feeds and tabs become ^X or <9b>, marks that turn the direction of writing
 * <202e>, and malformed parts U+FFFD.
 */
void utf8_visible(struct strbuf *buf, const char *data, size_t size);

/* How many bytes at the end begin a character that is not complete (0..3). */
size_t utf8_partial_tail(const char *data, size_t size);

/* Length in bytes of the first count characters (fewer when the text is shorter). */
size_t utf8_prefix(const char *data, size_t size, size_t count);

#endif
