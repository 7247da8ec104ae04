/* SPDX-License-Identifier: MIT */
/*
 * JSON as people write it, for cJSON: comments and trailing commas are taken out with every other
 * byte left in its place, what cJSON would swallow is refused, and its bare failure becomes a line
 * and a column. Knows nothing of what the text means.
 */
#ifndef HR_JSON_TEXT_H
#define HR_JSON_TEXT_H

#include "api/hermes-kernel.h"

struct cJSON;

/*
 * Overwrite comments (// and block), the comma before a closing bracket, and a byte order mark by
 * spaces; newlines stay. Returns NULL, or what is wrong at *ret_offset: a comment or string that is
 * not closed, a control character, a NUL byte or escape in a string (cJSON would cut the string
 * there), bytes that are no UTF-8.
 */
const char *hr_json_text_strip(char *text, size_t size, size_t *ret_offset);

/* Where an offset is: both count from 1, columns in code points. */
void hr_json_text_position(const char *text, size_t size, size_t offset, size_t *ret_line,
                           size_t *ret_column);

/*
 * Parse text, which is one JSON object with comments. HERMES_EINVAL: error->text begins with "line
 * L, column C: ". The object is the caller's (cJSON_Delete()).
 */
int hr_json_text_object(const char *text, size_t size, struct cJSON **ret_object,
                        struct hermes_error *error);

#endif
