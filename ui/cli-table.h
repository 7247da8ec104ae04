/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program's options: one table for the command line, the configuration file, the environment,
 * --help and --list-options. Options of the engine that are not named here join at run time
 * (settings_init()).
 */
#ifndef UI_CLI_TABLE_H
#define UI_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum cli_id {
    CLI_PLAIN,
    CLI_BATCH,
    CLI_CODE,
    CLI_VERIFY,
    CLI_CONVERT,
    CLI_MCP,
    CLI_JSON,
    CLI_EVENTS,
    CLI_ON_ERROR,
    CLI_RESUME,
    CLI_REPLAY,
    CLI_TIMEOUT,
    CLI_CELL_TIMEOUT,
    CLI_PARAM,
    CLI_PARAMS,
    CLI_CELLS,
    CLI_SAVE,
    CLI_JUNIT,
    CLI_STDIN,
    CLI_ECHO,
    CLI_QUIET,
    CLI_MODE,
    CLI_ISOLATE,
    CLI_PYTHON,
    CLI_CWD,
    CLI_ENV,
    CLI_TOOLS,
    CLI_APPROVE,
    CLI_TOOL_COMMANDS,
    CLI_KEYS,
    CLI_GRAPHICS,
    CLI_THEME,
    CLI_CONFIG,
    CLI_SESSION,
    CLI_HISTORY_MODE,
    CLI_LIST,
    CLI_HISTORY,
    CLI_EXPORT,
    CLI_RENAME,
    CLI_DELETE,
    CLI_HISTORY_PURGE,
    CLI_HELP,
    CLI_VERSION,
    CLI_LIST_OPTIONS,
    CLI_LIST_COMMANDS,
    CLI_LIST_KEYS,
    CLI_EXPLAIN_ENV,
    CLI_COMPLETION,
    CLI_SCHEMA,
    CLI_CHECK_CONFIG,
    CLI_ENGINE, /* an option of the engine without a row of its own */
};

enum cli_type {
    CLI_TYPE_FLAG,
    CLI_TYPE_TEXT,
    CLI_TYPE_LIST, /* may be given several times */
    CLI_TYPE_CHOICE,
    CLI_TYPE_SECONDS,
    CLI_TYPE_OPTIONAL, /* --help [all] */
    CLI_TYPE_TOOLS,    /* names of tools */
    CLI_TYPE_APPROVE,  /* what approval_set() takes; the sources add up */
    CLI_TYPE_COMMANDS, /* an object, in the file only; the value is the names */
};

enum cli_group {
    CLI_GROUP_RUN,
    CLI_GROUP_BATCH,
    CLI_GROUP_KERNEL,
    CLI_GROUP_HISTORY,
    CLI_GROUP_ABOUT,
    CLI_GROUP_ENGINE,
    CLI_GROUP_COUNT
};

struct cli_entry {
    enum cli_id id;
    const char *name; /* "cell-timeout": --cell-timeout; NULL: none */
    char letter;      /* 'q': -q; 0: none */
    const char
        *key; /* in the file; HERMES_REPL_<KEY> in the environment; NULL: command line only */
    enum cli_type type;
    const char *argument; /* "S"; NULL: takes none */
    const char *range;    /* choices "stop|continue"; for reading only otherwise */
    const char *default_value;
    const char *help;
    enum cli_group group;
    bool engine; /* the key is an option of the engine */
};

extern const struct cli_entry cli_table[];
extern const size_t cli_table_count;
extern const char *const cli_group_names[CLI_GROUP_COUNT];

/* Defaults of the engine that are others for a person at a terminal: name, value; ended by NULL. */
extern const char *const cli_engine_defaults[][2];

#endif
