/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HERMES_FAULT_INJECTION
static atomic_ulong fault_at[HR_FAULT_COUNT], fault_seen[HR_FAULT_COUNT];

bool hr_fault_hit(enum hr_fault kind)
{
    static const int errors[HR_FAULT_COUNT] = {
        [HR_FAULT_ALLOC] = ENOMEM, [HR_FAULT_PIPE] = EMFILE,  [HR_FAULT_SOCKET] = EMFILE,
        [HR_FAULT_SPAWN] = EAGAIN, [HR_FAULT_MKDIR] = ENOSPC, [HR_FAULT_THREAD] = EAGAIN,
        [HR_FAULT_WRITE] = ENOSPC, [HR_FAULT_OPEN] = EMFILE,  [HR_FAULT_RENAME] = EIO,
    };
    unsigned long n = atomic_fetch_add(&fault_seen[kind], 1) + 1;

    if (n != atomic_load(&fault_at[kind]))
        return false;
    errno = errors[kind];
    return true;
}

void hermes_fault_set(int kind, unsigned long n)
{
    atomic_store(&fault_seen[kind], 0);
    atomic_store(&fault_at[kind], n);
}

unsigned long hermes_fault_count(int kind)
{
    return atomic_load(&fault_seen[kind]);
}
#endif

void *hr_malloc(size_t size)
{
    return HR_FAULT(HR_FAULT_ALLOC) ? NULL : malloc(size ? size : 1);
}

void *hr_calloc(size_t count, size_t size)
{
    return HR_FAULT(HR_FAULT_ALLOC) ? NULL : calloc(count ? count : 1, size ? size : 1);
}

void *hr_realloc(void *pointer, size_t size)
{
    return HR_FAULT(HR_FAULT_ALLOC) ? NULL : realloc(pointer, size ? size : 1);
}

char *hr_memdup(const void *data, size_t size)
{
    char *copy = hr_malloc(size + 1);

    if (!copy)
        return NULL;
    if (size)
        memcpy(copy, data, size);
    copy[size] = '\0';
    return copy;
}

char *hr_strdup(const char *text)
{
    return text ? hr_memdup(text, strlen(text)) : NULL;
}

char *hr_printf(const char *format, ...)
{
    va_list args;
    char *text;
    int n;

    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || !(text = hr_malloc((size_t)n + 1)))
        return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    return text;
}

void hr_free(void *pointer)
{
    free(pointer);
}
