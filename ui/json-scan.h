/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Walks over JSON text without building a tree: a document is checked once, then its parts are
 * named as spans of the source. So what is not touched can be written back as it stood (cJSON
 * rounds integers beyond 2^53 and turns 3.0 into 3), strings keep their NULs, and an error has a
 * line and a column. As Python's json module, it takes NaN, Infinity and lone surrogates, which
 * real notebooks hold.
 */
#ifndef UI_JSON_SCAN_H
#define UI_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "strbuf.h"

struct json_span {
    const char *start;
    size_t size;
};

enum json_kind {
    JSON_NONE,
    JSON_OBJECT,
    JSON_ARRAY,
    JSON_STRING,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL
};

/*
 * Whether text is one JSON value and UTF-8. On failure error gets one line with line and column.
 * ret_value may be NULL.
 */
bool json_check(const char *text, size_t size, struct json_span *ret_value, struct strbuf *error);

/* All that follow take spans of checked text. */
enum json_kind json_kind_of(struct json_span value);

/* Members and elements in order; position starts at 0. */
bool json_next_member(struct json_span object, size_t *position, struct json_span *ret_key,
                      struct json_span *ret_value);
bool json_next_element(struct json_span array, size_t *position, struct json_span *ret_value);

/*
 * The last member of that name, as Python takes it. False when there is none, or object is no
 * object.
 */
bool json_get(struct json_span object, const char *key, struct json_span *ret_value);

/* Append the text of a string; lone surrogates become U+FFFD. */
void json_decode(struct json_span string, struct strbuf *buf);
bool json_is_text(struct json_span string, const char *text);

#endif
