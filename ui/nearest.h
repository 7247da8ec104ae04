/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The known word that a misspelt one most likely stands for.
 */
#ifndef UI_NEAREST_H
#define UI_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *word;
    const char *best; /* NULL: none is near */
    size_t distance;
};

/* Start with {word, NULL, 0}, offer every candidate, read best. "-" and "_" are the same. */
void nearest_offer(struct nearest *nearest, const char *candidate);

#endif
