/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words of Python that have a meaning of their own. Internal to highlight.c and completion.
 */
#ifndef UI_PYTHON_WORDS_H
#define UI_PYTHON_WORDS_H

#include <stddef.h>

enum python_word { PYTHON_NAME, PYTHON_KEYWORD, PYTHON_BUILTIN };

enum python_word python_word_kind(const char *word, size_t size);

/* Sorted; each closed by NULL. */
extern const char *const python_keywords[];
extern const char *const python_builtins[];

#endif
