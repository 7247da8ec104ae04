/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What can be completed without a kernel: commands, paths in strings and behind "!", and words.
 * Knows texts and the model of a session only.
 */
#ifndef UI_TUI_COMPLETE_LOCAL_H
#define UI_TUI_COMPLETE_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "edit.h"
#include "repl.h"

struct local_matches {
    struct edit_match *items;
    size_t count, capacity;
};

void local_matches_add(struct local_matches *matches, const char *text, const char *type);
void local_matches_free(struct local_matches *matches);

/*
 * Each: false when the place is none of its kind. *ret_start: where what is replaced begins; it
 * ends at point.
 */
bool local_commands(const char *text, size_t point, struct local_matches *matches,
                    size_t *ret_start);
/* Relative paths are those of the process (0: ours). */
bool local_files(const char *text, size_t size, size_t point, int64_t pid,
                 struct local_matches *matches, size_t *ret_start);
void local_words(const char *text, size_t point, const struct repl_session *session,
                 struct local_matches *matches, size_t *ret_start);

#endif
