/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --cells: "3", "2-5", "4-", "-2" and lists of them, counted from 1.
 */
#ifndef UI_CELL_RANGES_H
#define UI_CELL_RANGES_H

#include <stdbool.h>
#include <stddef.h>

#include "strbuf.h"

struct cell_ranges {
    struct cell_range {
        size_t first, last;
    } * items;
    size_t count, capacity;
};

bool cell_ranges_parse(struct cell_ranges *ranges, const char *text, struct strbuf *error);
/* No ranges: every number. */
bool cell_ranges_have(const struct cell_ranges *ranges, size_t number);
void cell_ranges_free(struct cell_ranges *ranges);

#endif
