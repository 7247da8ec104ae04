/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cell-ranges.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

/* A number, or absent when there is none. */
static const char *parse_number(const char *text, size_t absent, size_t *ret_number)
{
    size_t number = 0;
    *ret_number = absent;
    if (!isdigit((unsigned char)*text))
        return text;
    for (; isdigit((unsigned char)*text); text++)
        number = number < SIZE_MAX / 20 ? number * 10 + (size_t)(*text - '0') : number;
    *ret_number = number;
    return text;
}

static const char *parse_range(const char *text, struct cell_range *range)
{
    const char *start = text;
    text = parse_number(text, 1, &range->first);
    if (*text == '-') {
        text = parse_number(text + 1, SIZE_MAX, &range->last);
        if (text - start == 1)
            return NULL; /* a bare dash */
    } else if (text == start) {
        return NULL;
    } else {
        range->last = range->first;
    }
    return range->first && range->first <= range->last ? text : NULL;
}

bool cell_ranges_parse(struct cell_ranges *ranges, const char *text, struct strbuf *error)
{
    const char *at = text;
    for (;;) {
        struct cell_range range;
        at = parse_range(at, &range);
        if (!at || (*at && *at != ',')) {
            strbuf_setf(error, "'%s' is no range of cells: 3, 2-5, 4-, -2 or a list such as 1,4-6",
                        text);
            return false;
        }
        ranges->items =
            xgrow(ranges->items, ranges->count, &ranges->capacity, sizeof(*ranges->items));
        ranges->items[ranges->count++] = range;
        if (!*at++)
            return true;
    }
}

bool cell_ranges_have(const struct cell_ranges *ranges, size_t number)
{
    for (size_t i = 0; i < ranges->count; i++) {
        if (number >= ranges->items[i].first && number <= ranges->items[i].last)
            return true;
    }
    return !ranges->count;
}

void cell_ranges_free(struct cell_ranges *ranges)
{
    free(ranges->items);
    *ranges = (struct cell_ranges){NULL, 0, 0};
}
