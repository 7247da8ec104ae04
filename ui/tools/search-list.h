/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The files below a directory that a search is about: what git or ripgrep would not ignore, else
 * all that is there.
 */
#ifndef UI_SEARCH_LIST_H
#define UI_SEARCH_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strbuf.h"
#include "tool.h"

struct search_list {
    char **paths; /* below the directory, sorted, each once; regular files */
    size_t count, capacity;
    bool incomplete;  /* there were too many, or no time */
    int64_t deadline; /* in ms of the monotonic clock */
};

/* False when the directory can't be read: error has one line. */
bool search_list_files(const struct tool_context *context, const char *directory, const char *name,
                       struct search_list *list, struct strbuf *error);
void search_list_free(struct search_list *list);
int64_t search_now_ms(void);

#endif
