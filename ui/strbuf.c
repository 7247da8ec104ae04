/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "strbuf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

static void reserve(struct strbuf *buf, size_t more)
{
    size_t wanted = more > SIZE_MAX - buf->size - 1 ? SIZE_MAX : buf->size + more + 1;
    if (wanted <= buf->capacity)
        return;
    size_t capacity = buf->capacity ? buf->capacity : 64;
    while (capacity < wanted && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    if (capacity < wanted)
        capacity = wanted;
    buf->data = xrealloc(buf->data, capacity);
    buf->capacity = capacity;
}

void strbuf_add(struct strbuf *buf, const void *data, size_t size)
{
    reserve(buf, size);
    if (size)
        memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    buf->data[buf->size] = '\0';
}

void strbuf_adds(struct strbuf *buf, const char *text)
{
    strbuf_add(buf, text, strlen(text));
}

void strbuf_addc(struct strbuf *buf, char c)
{
    strbuf_add(buf, &c, 1);
}

void strbuf_vaddf(struct strbuf *buf, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0)
        return;
    reserve(buf, (size_t)length);
    vsnprintf(buf->data + buf->size, (size_t)length + 1, format, arguments);
    buf->size += (size_t)length;
}

void strbuf_addf(struct strbuf *buf, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    strbuf_vaddf(buf, format, arguments);
    va_end(arguments);
}

void strbuf_setf(struct strbuf *buf, const char *format, ...)
{
    struct strbuf fresh = STRBUF_INIT; /* the arguments may point into the old content */
    va_list arguments;
    va_start(arguments, format);
    strbuf_vaddf(&fresh, format, arguments);
    va_end(arguments);
    strbuf_free(buf);
    *buf = fresh;
}

const char *strbuf_text(const struct strbuf *buf)
{
    return buf->data ? buf->data : "";
}

void strbuf_clear(struct strbuf *buf)
{
    buf->size = 0;
    if (buf->data)
        buf->data[0] = '\0';
}

char *strbuf_steal(struct strbuf *buf)
{
    reserve(buf, 0);
    buf->data[buf->size] = '\0';
    char *data = buf->data;
    *buf = (struct strbuf)STRBUF_INIT;
    return data;
}

void strbuf_free(struct strbuf *buf)
{
    free(buf->data);
    *buf = (struct strbuf)STRBUF_INIT;
}
