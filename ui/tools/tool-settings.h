/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the configuration says about tools: commands that are tools, and limits. Read once, then
 * constant.
 *
 *   "tool_commands": {
 *       "web_search": {"command": ["python3", "/opt/web_search.py"], "timeout": 30, "max_bytes":
 *       1000000,
 *                      "env": {"SEARXNG_URL": "http://localhost:8888"},
 *                      "signature": "query, limit=5", "help": "Search the web."},
 *       "weather": "curl -s wttr.in?format=j1"
 *   }
 */
#ifndef UI_TOOL_SETTINGS_H
#define UI_TOOL_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json-scan.h"
#include "strbuf.h"

#define TOOL_SETTINGS_KEY "tool_commands"

struct tool_command {
    char *name;
    char *signature;    /* whole: "weather(city)"; NULL: that of tool_table */
    char *help;         /* never NULL */
    char **argv;        /* NULL-ended; a shell command is /bin/sh -c TEXT */
    char **environment; /* "NAME=value" to be added, NULL-ended */
    int64_t timeout_ms;
    size_t max_bytes;
};

struct tool_settings {
    struct tool_command *commands;
    size_t count;
    char *path; /* the configuration file that messages name; NULL: the default one */
    int64_t terminal_timeout_ms; /* when the call names none */
    int64_t search_timeout_ms;
};

void tool_settings_init(struct tool_settings *settings);
void tool_settings_free(struct tool_settings *settings);

/*
 * Take the value of "tool_commands", a span of checked JSON. What is wrong is left out and gets a
 * line in warnings.
 */
void tool_settings_load(struct tool_settings *settings, struct json_span value,
                        struct strbuf *warnings);

const struct tool_command *tool_settings_command(const struct tool_settings *settings,
                                                 const char *name);

#endif
