/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocation for the program (never for the library): what can't be had ends the program with one
 * line and exit status 125. The engine's kernels die with it, so nothing is left behind.
 */
#ifndef UI_XALLOC_H
#define UI_XALLOC_H

#include <stddef.h>

void xout_of_memory(void) __attribute__((noreturn));

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *pointer, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t size);
/* A copy of size bytes with a NUL behind them. */
char *xmemdup0(const void *data, size_t size);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Room for one more element in an array that grows by doubling: *capacity is its present capacity.
 */
void *xgrow(void *array, size_t count, size_t *capacity, size_t element_size);

#endif
