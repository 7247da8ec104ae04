/* SPDX-License-Identifier: MIT */
/*
 * What the library says about itself and about failures: status names, the text in struct
 * hermes_error, the version. Knows nothing of engines.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "options.h"
#include "text.h"

const char *hermes_kernel_mode(void)
{
    return "session";
}

const char *hermes_version(void)
{
    return HERMES_VERSION;
}

const char *hermes_status_name(int status)
{
    switch (status) {
#define X(name, value, text)                                                                       \
    case (value):                                                                                  \
        return "HERMES_" #name;
        HERMES_STATUS_MAP(X)
#undef X
    default:
        return "HERMES_?";
    }
}

const char *hermes_status_text(int status)
{
    switch (status) {
#define X(name, value, text)                                                                       \
    case (value):                                                                                  \
        return text;
        HERMES_STATUS_MAP(X)
#undef X
    default:
        return "unknown status";
    }
}

void hermes_free(void *pointer)
{
    hr_free(pointer);
}

/* Bytes of the code point at text; 0 when it is no UTF-8. */
static size_t code_point(const char *text, size_t size)
{
    size_t n;

    for (n = 1; n <= 4 && n <= size; n++)
        if (hr_utf8_valid(text, n))
            return n;
    return 0;
}

/*
 * Copy text as one line of valid UTF-8 that fits: control characters become spaces, bytes that are
 * no UTF-8 become '?'.
 */
static void copy_line(char *to, size_t to_size, const char *from, size_t size)
{
    size_t used = 0, i, n;

    for (i = 0; i < size; i += n) {
        unsigned char byte = (unsigned char)from[i];

        n = code_point(from + i, size - i);
        if (used + (n ? n : 1) >= to_size)
            break;
        if (n > 1)
            memcpy(to + used, from + i, n);
        else
            to[used] = (char)(n == 0 ? '?' : byte < 0x20 || byte == 0x7f ? ' ' : byte);
        n = n ? n : 1;
        used += n;
    }
    to[used] = '\0';
}

int hr_error_set(struct hermes_error *error, int code, int os_errno, const char *format, ...)
{
    char line[2 * sizeof error->text];
    va_list args;
    int n;

    if (!error)
        return code;
    va_start(args, format);
    n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    error->code = code;
    error->os_errno = os_errno;
    if (n < 0)
        n = 0;
    copy_line(error->text, sizeof error->text, line,
              (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
    return code;
}
