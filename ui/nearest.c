/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "nearest.h"

#include <ctype.h>
#include <string.h>

#define LENGTH_MAX 64

static char fold(char c)
{
    return c == '_' ? '-' : (char)tolower((unsigned char)c);
}

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Insertions, deletions, replacements, and swaps of neighbours. */
static size_t distance_between(const char *a, const char *b)
{
    size_t rows[3][LENGTH_MAX + 1], a_size = strlen(a), b_size = strlen(b);
    if (a_size > LENGTH_MAX || b_size > LENGTH_MAX)
        return LENGTH_MAX;
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_size; j++) {
        last[j] = j;
        before[j] = 0;
    }
    for (size_t i = 1; i <= a_size; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t changed = fold(a[i - 1]) != fold(b[j - 1]);
            row[j] = smallest(last[j] + 1, row[j - 1] + 1, last[j - 1] + changed);
            if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
                fold(a[i - 2]) == fold(b[j - 1]))
                row[j] = smallest(row[j], before[j - 2] + 1, LENGTH_MAX);
        }
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[b_size];
}

void nearest_offer(struct nearest *nearest, const char *candidate)
{
    size_t length = strlen(nearest->word), limit = length < 4 ? 1 : length < 8 ? 2 : 3;
    size_t distance = distance_between(nearest->word, candidate);
    /* A beginning is near whatever its length. */
    if (length >= 3 && strncasecmp(nearest->word, candidate, length) == 0 && distance > limit)
        distance = limit;
    if (distance <= limit && (!nearest->best || distance < nearest->distance)) {
        nearest->best = candidate;
        nearest->distance = distance;
    }
}
