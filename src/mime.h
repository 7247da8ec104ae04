/* SPDX-License-Identifier: MIT */
/* Display data in JSON: text as a string, JSON types as they are when valid, the rest in base64. */
#ifndef HR_MIME_H
#define HR_MIME_H

#include "buf.h"

bool hr_mime_add_value(struct hr_buf *out, const char *type, size_t type_size, const char *data,
                       size_t size);

#endif
