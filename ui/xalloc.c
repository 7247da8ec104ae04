/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "xalloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void xout_of_memory(void)
{
    static const char text[] = "hermes-repl: out of memory\n";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)ignored;
    _exit(125);
}

void *xmalloc(size_t size)
{
    void *pointer = malloc(size ? size : 1);
    if (!pointer)
        xout_of_memory();
    return pointer;
}

void *xcalloc(size_t count, size_t size)
{
    void *pointer = calloc(count ? count : 1, size ? size : 1);
    if (!pointer)
        xout_of_memory();
    return pointer;
}

void *xrealloc(void *pointer, size_t size)
{
    void *grown = realloc(pointer, size ? size : 1);
    if (!grown)
        xout_of_memory();
    return grown;
}

char *xmemdup0(const void *data, size_t size)
{
    if (size == SIZE_MAX)
        xout_of_memory();
    char *copy = xmalloc(size + 1);
    if (size)
        memcpy(copy, data, size);
    copy[size] = '\0';
    return copy;
}

char *xstrdup(const char *text)
{
    return xmemdup0(text, strlen(text));
}

char *xstrndup(const char *text, size_t size)
{
    return xmemdup0(text, strnlen(text, size));
}

char *xasprintf(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        xout_of_memory();
    return text;
}

void *xgrow(void *array, size_t count, size_t *capacity, size_t element_size)
{
    if (count < *capacity)
        return array;
    size_t wanted = *capacity ? *capacity * 2 : 8;
    if (wanted < *capacity || wanted > SIZE_MAX / element_size)
        xout_of_memory();
    *capacity = wanted;
    return xrealloc(array, wanted * element_size);
}
