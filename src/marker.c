/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "marker.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_BYTE = 0x1f, NUMBER_AT = 1 + HR_MARKER_SECRET_SIZE, SURELY_OURS = 9 };

void hr_marker_init(struct hr_marker *marker, const unsigned char *random)
{
    memset(marker, 0, sizeof *marker);
    for (size_t i = 0; i < HR_MARKER_SECRET_SIZE / 2; i++)
        snprintf(marker->secret + 2 * i, 3, "%02X", random[i]);
}

static bool is_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
}

/* Whether c can stand at that place of a mark. */
static bool fits(const struct hr_marker *marker, size_t at, char c)
{
    if (at == 0)
        return c == FIRST_BYTE;
    return at < NUMBER_AT ? c == marker->secret[at - 1] : is_digit(c);
}

static uint64_t number_of(const struct hr_marker *marker)
{
    uint64_t number = 0;

    for (size_t i = NUMBER_AT; i < HR_MARKER_SIZE; i++) {
        char c = marker->held[i];

        number = number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'A' + 10);
    }
    return number;
}

static size_t release(struct hr_marker *marker, size_t size, const char **ret_text)
{
    memcpy(marker->released, marker->held, size);
    marker->held_size = 0;
    *ret_text = marker->released;
    return size;
}

size_t hr_marker_finish(struct hr_marker *marker, const char **ret_text)
{
    size_t size = marker->held_size < SURELY_OURS ? marker->held_size : 0;

    return release(marker, size, ret_text);
}

enum hr_marker_found hr_marker_take(struct hr_marker *marker, const char **data, size_t *size,
                                    const char **ret_text, size_t *ret_size, uint64_t *ret_number)
{
    if (*size && !marker->held_size && **data != FIRST_BYTE) {
        const char *begin = memchr(*data, FIRST_BYTE, *size);

        *ret_text = *data;
        *ret_size = begin ? (size_t)(begin - *data) : *size;
        *data += *ret_size;
        *size -= *ret_size;
        return HR_MARKER_TEXT;
    }
    while (*size && marker->held_size < HR_MARKER_SIZE) {
        /* the first byte stands nowhere else in a mark, so none begins within what is held */
        if (!fits(marker, marker->held_size, **data)) {
            *ret_size = release(marker, marker->held_size, ret_text);
            return HR_MARKER_TEXT;
        }
        marker->held[marker->held_size++] = **data;
        ++*data;
        --*size;
    }
    if (marker->held_size < HR_MARKER_SIZE)
        return HR_MARKER_MORE;
    *ret_number = number_of(marker);
    marker->held_size = 0;
    return HR_MARKER_NUMBER;
}
