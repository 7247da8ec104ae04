/* SPDX-License-Identifier: MIT */
/* Bytes from a kernel: frames and the lists in them. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>

#include "wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *fault = NULL, *field;
    size_t left = size, field_size;
    struct hr_frame frame;
    struct hr_fields fields;
    ssize_t used;

    while ((used = hr_frame_decode(at, left, &frame, &fault)) > 0) {
        if ((size_t)used > left || frame.body + frame.body_size != at + used)
            abort();
        if (hr_fields_open(&fields, frame.body, frame.body_size))
            while (hr_fields_next(&fields, &field, &field_size))
                if (field + field_size > frame.body + frame.body_size)
                    abort();
        at += used;
        left -= (size_t)used;
    }
    if (used < 0 && !fault)
        abort();
    return 0;
}
