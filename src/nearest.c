/* SPDX-License-Identifier: MIT */
/*
 * "Did you mean": the known name that is nearest to a mistyped word.
 */
#include "config.h"

#include <string.h>

#include "options.h"

#define WORD_MAX 64

static unsigned char fold(char c)
{
    if (c == '-')
        return '_';
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/*
 * Insertions, deletions, replacements and swaps of neighbours that make a from b. Both are at most
 * WORD_MAX long.
 */
static unsigned distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    unsigned rows[3][WORD_MAX + 1], *before = rows[0], *above = rows[1], *row = rows[2], *swap;
    size_t i, j;

    for (j = 0; j <= b_size; j++)
        above[j] = before[j] = (unsigned)j;
    for (i = 1; i <= a_size; i++) {
        row[0] = (unsigned)i;
        for (j = 1; j <= b_size; j++) {
            row[j] = least(above[j - 1] + (fold(a[i - 1]) != fold(b[j - 1])),
                           least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
                fold(a[i - 2]) == fold(b[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
        swap = before;
        before = above;
        above = row;
        row = swap;
    }
    return above[b_size];
}

/* Does name contain word? */
static bool contains(const char *name, size_t name_size, const char *word, size_t word_size)
{
    size_t i, j;

    for (i = 0; i + word_size <= name_size; i++) {
        for (j = 0; j < word_size && fold(word[j]) == fold(name[i + j]);)
            j++;
        if (j == word_size)
            return true;
    }
    return false;
}

const char *hr_nearest_name(const char *word, const char *const *names, size_t count)
{
    size_t size = strlen(word), i, n;
    unsigned best = 2 + (unsigned)size / 6, steps; /* nearer than this */
    const char *nearest = NULL, *part = NULL;

    if (size == 0 || size > WORD_MAX)
        return NULL;
    for (i = 0; i < count && names[i]; i++) {
        n = strlen(names[i]);
        if (n > WORD_MAX)
            continue;
        steps = distance(word, size, names[i], n);
        if (steps < best) {
            best = steps;
            nearest = names[i];
        }
        if (!part && size >= 4 && contains(names[i], n, word, size))
            part = names[i];
    }
    return nearest ? nearest : part;
}
