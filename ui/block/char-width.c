/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "char-width.h"

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#include "xalloc.h"

enum { GROUP_SIZE = 256, GROUPS = 0x110000 / GROUP_SIZE };

/* Once per process: the table belongs to the C library and never changes. */
const signed char *char_width_groups[GROUPS];

static const signed char *load_group(uint32_t group)
{
    signed char *widths = xmalloc(GROUP_SIZE);
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;
    for (uint32_t i = 0; i < GROUP_SIZE; i++) {
        int width = wcwidth((wchar_t)(group * GROUP_SIZE + i));
        widths[i] = (signed char)(width > 2 ? 2 : width);
    }
    if (utf8) {
        uselocale(before);
        freelocale(utf8);
    }
    char_width_groups[group] = widths;
    return widths;
}

int char_width_slow(uint32_t code)
{
    return code < 0x110000 ? load_group(code / GROUP_SIZE)[code % GROUP_SIZE] : -1;
}

/* Marks of direction, line and paragraph separators, tags: a terminal may act on them. */
static bool is_misleading(uint32_t code)
{
    return (code >= 0x200E && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0x061C ||
           (code >= 0xE0000 && code <= 0xE0FFF && !(code >= 0xE0100 && code <= 0xE01EF));
}

uint32_t char_shown(uint32_t code)
{
    if (code < 0x20 || (code >= 0x7F && code < 0xA0) || is_misleading(code))
        return 0;
    return char_width(code) < 0 ? CHAR_REPLACEMENT : code;
}
