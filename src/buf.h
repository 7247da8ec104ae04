/* SPDX-License-Identifier: MIT */
/*
 * A growing byte buffer with a maximum. After a failed append the buffer is as before and `failed`
 * is set, so that a run of appends can be checked once at its end. data[size] is always a NUL once
 * anything was reserved.
 */
#ifndef HR_BUF_H
#define HR_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hr_buf {
    char *data;
    size_t size, capacity, maximum; /* maximum 0: none */
    bool failed;
};

void hr_buf_init(struct hr_buf *buf, size_t maximum);
void hr_buf_done(struct hr_buf *buf);
void hr_buf_clear(struct hr_buf *buf);                 /* keeps the memory */
bool hr_buf_reserve(struct hr_buf *buf, size_t extra); /* room for extra more bytes */
bool hr_buf_add(struct hr_buf *buf, const void *data, size_t size);
bool hr_buf_add_text(struct hr_buf *buf, const char *text);
bool hr_buf_printf(struct hr_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool hr_buf_add_u32(struct hr_buf *buf, uint32_t value); /* little endian */
void hr_buf_consume(struct hr_buf *buf, size_t size);    /* drop bytes at the front */
char *hr_buf_take(struct hr_buf *buf); /* the NUL-ended data, now the caller's; NULL if failed */

#endif
