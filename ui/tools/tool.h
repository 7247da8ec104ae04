/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tools that hermes-repl itself executes for cells. A tool is a function of its context and
 * arguments that answers one JSON object; what goes wrong is {"error": "one line"}. It knows
 * nothing of cells, approval, budgets and the screen, keeps no state, and may run on any thread,
 * several at once.
 */
#ifndef UI_TOOL_H
#define UI_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "strbuf.h"
#include "tool-settings.h"

struct tool_context {
    const char *cwd;                      /* what relative paths start from; absolute */
    const struct tool_settings *settings; /* NULL: defaults, no tools by configuration */
    bool (*cancelled)(void *argument);    /* NULL: never */
    void *cancel_argument;
    int cancel_fd; /* readable when cancelled, or -1: then cancelled() is asked now and then */
    char *const *environment; /* of what is started, "NAME=value", NULL-ended; NULL: ours */
    /* Set by tool_call(): */
    const char *name;           /* of the tool that is called */
    const char *arguments_text; /* the arguments as they came; NULL: only the tree is there */
    size_t arguments_size;
};

struct tool {
    const char *name;
    const char *signature; /* as in Python: "read_file(path, offset=1, limit=500)" */
    const char *help;      /* one line: what it does, what it returns */
    bool changes_things;   /* to be approved */
    void (*run)(const struct tool_context *context, const cJSON *arguments,
                struct strbuf *result_json);
};

/* The known names, ended by a row without name; web_search and web_extract are among them. */
extern const struct tool tool_table[];

/*
 * A row of the table, or one made for a configured command, good as long as settings. False: no
 * such tool.
 */
bool tool_find(const struct tool_settings *settings, const char *name, struct tool *ret_tool);

/*
 * Find the tool, check the arguments (JSON text of an object; empty: none) and run it. Appends the
 * result, always one JSON object.
 */
void tool_call(const struct tool_context *context, const char *name, const char *arguments,
               size_t size, struct strbuf *result_json);

/* Append {"error": ...}. The line is made one: line ends become blanks. */
void tool_error(struct strbuf *result_json, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool tool_cancelled(const struct tool_context *context);

/* The tools, each in its own file. */
void tool_read_file(const struct tool_context *context, const cJSON *arguments,
                    struct strbuf *result_json);
void tool_write_file(const struct tool_context *context, const cJSON *arguments,
                     struct strbuf *result_json);
void tool_search_files(const struct tool_context *context, const cJSON *arguments,
                       struct strbuf *result_json);
void tool_patch(const struct tool_context *context, const cJSON *arguments,
                struct strbuf *result_json);
void tool_terminal(const struct tool_context *context, const cJSON *arguments,
                   struct strbuf *result_json);
/* The configured command of context->name. */
void tool_command(const struct tool_context *context, const cJSON *arguments,
                  struct strbuf *result_json);

#endif
