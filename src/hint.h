/* SPDX-License-Identifier: MIT */
/* What to do about a failure, from the words of its traceback. Knows nothing of cells. */
#ifndef HR_HINT_H
#define HR_HINT_H

#include <stddef.h>

/* So many characters at the start of a traceback are searched. */
#define HR_HINT_LOOK 4000

/*
 * One line or two for the result's "hint" (hr_free()), or NULL: nothing to say, or no memory.
 * tools: the names that the cell may use, a newline behind each; NULL: all.
 */
char *hr_hint(const char *traceback, size_t size, const char *tools);

#endif
