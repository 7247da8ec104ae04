/* SPDX-License-Identifier: MIT */
/*
 * What the cleaner of src/text.h has to do, for inputs of at most REFERENCE_MAX bytes.
 */
#ifndef TEXT_REFERENCE_H
#define TEXT_REFERENCE_H

#include "buf.h"

#define REFERENCE_MAX 4096

void reference_clean(const char *data, size_t size, struct hr_buf *out);

#endif
