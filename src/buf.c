/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"

void hr_buf_init(struct hr_buf *buf, size_t maximum)
{
    memset(buf, 0, sizeof *buf);
    buf->maximum = maximum;
}

void hr_buf_done(struct hr_buf *buf)
{
    hr_free(buf->data);
    hr_buf_init(buf, buf->maximum);
}

void hr_buf_clear(struct hr_buf *buf)
{
    buf->size = 0;
    buf->failed = false;
    if (buf->data)
        buf->data[0] = '\0';
}

bool hr_buf_reserve(struct hr_buf *buf, size_t extra)
{
    size_t need, capacity;
    char *data;

    if (extra > SIZE_MAX / 2 - buf->size - 1 ||
        (buf->maximum && buf->size + extra > buf->maximum)) {
        buf->failed = true;
        return false;
    }
    need = buf->size + extra + 1;
    if (need <= buf->capacity)
        return true;
    capacity = buf->capacity ? buf->capacity : 64;
    while (capacity < need)
        capacity *= 2;
    data = hr_realloc(buf->data, capacity);
    if (!data) {
        buf->failed = true;
        return false;
    }
    buf->data = data;
    buf->capacity = capacity;
    buf->data[buf->size] = '\0';
    return true;
}

bool hr_buf_add(struct hr_buf *buf, const void *data, size_t size)
{
    if (!hr_buf_reserve(buf, size))
        return false;
    if (size)
        memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    buf->data[buf->size] = '\0';
    return true;
}

bool hr_buf_add_text(struct hr_buf *buf, const char *text)
{
    return hr_buf_add(buf, text, strlen(text));
}

bool hr_buf_printf(struct hr_buf *buf, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || !hr_buf_reserve(buf, (size_t)n)) {
        buf->failed = true;
        return false;
    }
    va_start(args, format);
    vsnprintf(buf->data + buf->size, (size_t)n + 1, format, args);
    va_end(args);
    buf->size += (size_t)n;
    return true;
}

bool hr_buf_add_u32(struct hr_buf *buf, uint32_t value)
{
    unsigned char raw[4] = {(unsigned char)value, (unsigned char)(value >> 8),
                            (unsigned char)(value >> 16), (unsigned char)(value >> 24)};

    return hr_buf_add(buf, raw, sizeof raw);
}

void hr_buf_consume(struct hr_buf *buf, size_t size)
{
    if (!size)
        return;
    memmove(buf->data, buf->data + size, buf->size - size + 1);
    buf->size -= size;
}

char *hr_buf_take(struct hr_buf *buf)
{
    char *data;

    if (buf->failed || !hr_buf_reserve(buf, 0)) {
        hr_buf_done(buf);
        return NULL;
    }
    data = buf->data;
    hr_buf_init(buf, buf->maximum);
    return data;
}
