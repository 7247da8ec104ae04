/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What kernels answered to Tab, kept for the time when one cannot answer: code that is not Python's
 * may hold the interpreter's lock for as long as it likes. An answer holds for the same kernel, the
 * same expression and a word that begins in the same way. Knows texts only.
 */
#ifndef UI_TUI_COMPLETE_KEPT_H
#define UI_TUI_COMPLETE_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "complete-local.h"

#define KEPT_ANSWERS 16

struct kept_answer {
    uint64_t kernel; /* 0: none */
    char *before;    /* what stands before the word */
    char *word;      /* as far as it was typed */
    struct local_matches matches;
};

/* All zero: empty. */
struct kept_answers {
    struct kept_answer items[KEPT_ANSWERS];
    size_t next;
};

/* An answer: matches for the word from start to point. They are copied. */
void kept_answers_add(struct kept_answers *kept, uint64_t kernel, const char *text, size_t start,
                      size_t point, const struct local_matches *matches);
/* Put what is known in front of those that are there already, each once. */
void kept_answers_offer(const struct kept_answers *kept, uint64_t kernel, const char *text,
                        size_t start, size_t point, struct local_matches *matches);
void kept_answers_free(struct kept_answers *kept);

#endif
