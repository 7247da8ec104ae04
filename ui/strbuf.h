/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A growing byte string. Always closed by a NUL that the size does not count; may hold NULs.
 */
#ifndef UI_STRBUF_H
#define UI_STRBUF_H

#include <stdarg.h>
#include <stddef.h>

struct strbuf {
    char *data; /* never NULL once something was added; "" otherwise through strbuf_text() */
    size_t size;
    size_t capacity;
};
#define STRBUF_INIT                                                                                \
    {                                                                                              \
        NULL, 0, 0                                                                                 \
    }

void strbuf_add(struct strbuf *buf, const void *data, size_t size);
void strbuf_adds(struct strbuf *buf, const char *text);
void strbuf_addc(struct strbuf *buf, char c);
void strbuf_addf(struct strbuf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vaddf(struct strbuf *buf, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
/* Replace the content by a formatted line; what error reports use. */
void strbuf_setf(struct strbuf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *strbuf_text(const struct strbuf *buf);
void strbuf_clear(struct strbuf *buf);  /* keeps the memory */
char *strbuf_steal(struct strbuf *buf); /* yours; the buffer is empty afterwards */
void strbuf_free(struct strbuf *buf);

#endif
