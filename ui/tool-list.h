/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of tools as options give them: "read_file,terminal", "all". Knows the table and the
 * configured commands, and runs nothing.
 */
#ifndef UI_TOOL_LIST_H
#define UI_TOOL_LIST_H

#include <stdbool.h>

#include "strbuf.h"
#include "tool-settings.h"

/* False: error says that there is no such tool, and which there are. */
bool tool_list_check(const struct tool_settings *settings, const char *name, struct strbuf *error);

/*
 * The tools of a list, NULL-ended, each once; to be freed with free() alone. Separated by commas or
 * blanks; "all" is the table and what is configured; an empty list is none. NULL: error says why.
 */
const char **tool_list_parse(const struct tool_settings *settings, const char *list,
                             struct strbuf *error);

/*
 * The same names for hermes_schema(): those by configuration as signature and help; to be freed
 * with free() alone. NULL gives NULL.
 */
const char **tool_list_describe(const struct tool_settings *settings, const char *const *names);

#endif
