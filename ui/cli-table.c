/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli-table.h"

#define FLAG(id_, name_, letter_, key_, group_, help_)                                             \
    {                                                                                              \
        .id = (id_), .name = (name_), .letter = (letter_), .key = (key_), .type = CLI_TYPE_FLAG,   \
        .range = "off|on", .default_value = "off", .group = (group_), .help = (help_)              \
    }
#define CHOICE(id_, name_, key_, choices_, default_, group_, help_)                                \
    {                                                                                              \
        .id = (id_), .name = (name_), .key = (key_), .type = CLI_TYPE_CHOICE,                      \
        .argument = (choices_), .range = (choices_), .default_value = (default_),                  \
        .group = (group_), .help = (help_)                                                         \
    }
#define WORD(id_, name_, letter_, type_, argument_, group_, help_)                                 \
    {                                                                                              \
        .id = (id_), .name = (name_), .letter = (letter_), .type = (type_),                        \
        .argument = (argument_), .range = "", .default_value = "", .group = (group_),              \
        .help = (help_)                                                                            \
    }

/* clang-format off */
const struct cli_entry cli_table[] = {
    FLAG(CLI_PLAIN, "plain", 0, "plain", CLI_GROUP_RUN,
         "a plain prompt in place of the full screen; chosen by itself where there is no capable terminal"),
    WORD(CLI_SESSION, "session", 0, CLI_TYPE_LIST, "NAME", CLI_GROUP_RUN,
         "open the session of this name (several give several tabs); with --batch and -c, keep the cells"
         " in its history; with --history, search in it only"),
    WORD(CLI_BATCH, "batch", 0, CLI_TYPE_FLAG, NULL, CLI_GROUP_RUN,
         "run all cells of FILE (.py with # %% markers, .ipynb; - is standard input) and exit"),
    WORD(CLI_CODE, NULL, 'c', CLI_TYPE_TEXT, "CODE", CLI_GROUP_RUN,
         "run one cell in a fresh kernel and exit"),
    WORD(CLI_VERIFY, "verify", 0, CLI_TYPE_TEXT, "FILE", CLI_GROUP_RUN,
         "run the notebook in a fresh kernel and compare with the outputs that it holds"),
    WORD(CLI_REPLAY, "replay", 0, CLI_TYPE_TEXT, "NAME", CLI_GROUP_RUN,
         "run the cells of a session of the history in a fresh kernel and compare with what they showed"),
    WORD(CLI_CONVERT, "convert", 0, CLI_TYPE_FLAG, NULL, CLI_GROUP_RUN,
         "write the notebook or script FILE to OUT (.ipynb, .py, .md, .html) without running it"),
    WORD(CLI_MCP, "mcp", 0, CLI_TYPE_FLAG, NULL, CLI_GROUP_RUN,
         "serve sessions to an agent: Model Context Protocol on standard input and output"),

    FLAG(CLI_JSON, "json", 0, NULL, CLI_GROUP_BATCH,
         "standard output carries one result object per cell, one per line"),
    FLAG(CLI_EVENTS, "events", 0, NULL, CLI_GROUP_BATCH,
         "standard output carries what happens as it happens, one JSON object per line"),
    CHOICE(CLI_ON_ERROR, "on-error", "on_error", "stop|continue|interactive", "stop", CLI_GROUP_BATCH,
         "what follows a failing cell: the end, the cells behind it, or a prompt with the variables as they are"),
    WORD(CLI_RESUME, "resume", 0, CLI_TYPE_FLAG, NULL, CLI_GROUP_BATCH,
         "with --session: run the cells before the one that failed last time unseen, then go on from there"),
    {.id = CLI_TIMEOUT, .name = "timeout", .key = "run_timeout", .type = CLI_TYPE_SECONDS, .argument = "S",
     .range = "off|seconds", .default_value = "off", .group = CLI_GROUP_BATCH,
     .help = "end the whole run after so many seconds"},
    {.id = CLI_CELL_TIMEOUT, .name = "cell-timeout", .key = "timeout", .type = CLI_TYPE_SECONDS, .argument = "S",
     .range = "off|seconds", .default_value = "off", .group = CLI_GROUP_BATCH, .engine = true,
     .help = "kill a cell that runs longer; its kernel's state is lost"},
    WORD(CLI_PARAM, "param", 'p', CLI_TYPE_LIST, "NAME=VALUE", CLI_GROUP_BATCH,
         "set a variable, after the cell tagged parameters or before the first cell"),
    WORD(CLI_PARAMS, "params", 0, CLI_TYPE_TEXT, "FILE", CLI_GROUP_BATCH,
         "take such variables from a JSON object"),
    WORD(CLI_CELLS, "cells", 0, CLI_TYPE_TEXT, "A-B", CLI_GROUP_BATCH,
         "run only these code cells: 3, 2-5, 4-, -2, or a list 1,4-6"),
    WORD(CLI_SAVE, "save", 0, CLI_TYPE_LIST, "OUT", CLI_GROUP_BATCH,
         "write the cells with their outputs: .ipynb, .py, .md or .html"),
    WORD(CLI_JUNIT, "junit", 0, CLI_TYPE_TEXT, "FILE", CLI_GROUP_BATCH,
         "write a JUnit report, one test case per cell"),
    CHOICE(CLI_STDIN, "stdin", "stdin", "none|inherit", "", CLI_GROUP_BATCH,
         "standard input of the cells; inherit, but none with --json and --events"),
    FLAG(CLI_ECHO, "echo", 0, "echo", CLI_GROUP_BATCH,
         "show the value of a cell's last expression, allow await (notebooks: always)"),
    FLAG(CLI_QUIET, "quiet", 'q', "quiet", CLI_GROUP_BATCH,
         "no progress line on a terminal, no remarks"),

    {.id = CLI_MODE, .name = "mode", .key = "mode", .type = CLI_TYPE_CHOICE, .argument = "project|strict",
     .range = "project|strict", .default_value = "project", .group = CLI_GROUP_KERNEL, .engine = true,
     .help = "this directory and the active environment, or a private directory and python3"},
    {.id = CLI_PYTHON, .name = "python", .key = "python", .type = CLI_TYPE_TEXT, .argument = "PATH",
     .range = "", .default_value = "", .group = CLI_GROUP_KERNEL, .engine = true,
     .help = "interpreter; else the active environment's, else python3 on PATH"},
    WORD(CLI_CWD, "cwd", 0, CLI_TYPE_TEXT, "DIR", CLI_GROUP_KERNEL,
         "directory in which the cells run"),
    {.id = CLI_ISOLATE, .name = "isolate", .key = "isolate", .type = CLI_TYPE_FLAG,
     .range = "off|on", .default_value = "off", .group = CLI_GROUP_KERNEL, .engine = true,
     .help = "run kernels under bubblewrap: only their directory can be written, private /tmp, no network"},
    CHOICE(CLI_ENV, "env", "env", "inherit|scrub", "inherit", CLI_GROUP_KERNEL,
         "environment of the kernel: this one, or an allow-list without secrets"),
    {.id = CLI_TOOLS, .name = "tools", .key = "tools", .type = CLI_TYPE_TOOLS, .argument = "LIST",
     .range = "names|all", .default_value = "", .group = CLI_GROUP_KERNEL,
     .help = "tools that cells may call, separated by commas; all: those built in and configured"},
    {.id = CLI_APPROVE, .name = "approve", .key = "approve", .type = CLI_TYPE_APPROVE, .argument = "POLICY",
     .range = "ask|allow|deny", .default_value = "", .group = CLI_GROUP_KERNEL,
     .help = "allow, deny or ask for all tools, or for some: terminal=allow,patch=deny"},
    {.id = CLI_TOOL_COMMANDS, .key = "tool_commands", .type = CLI_TYPE_COMMANDS,
     .range = "object", .default_value = "", .group = CLI_GROUP_KERNEL,
     .help = "commands that are tools, see docs/tools.md"},
    {.id = CLI_KEYS, .name = "keys", .key = "keys", .type = CLI_TYPE_TEXT, .argument = "FILE",
     .range = "", .default_value = "", .group = CLI_GROUP_KERNEL,
     .help = "key bindings, in place of $XDG_CONFIG_HOME/hermes-repl/keys"},
    CHOICE(CLI_GRAPHICS, "graphics", "graphics", "auto|off|kitty|sixel|blocks", "auto", CLI_GROUP_KERNEL,
         "how pictures are drawn: auto asks the terminal, blocks are characters, off is not at all"),
    CHOICE(CLI_THEME, "theme", "theme", "auto|dark|light|mono", "auto", CLI_GROUP_KERNEL,
         "colours of the full screen: auto asks the terminal for its background; NO_COLOR is mono"),
    WORD(CLI_CONFIG, "config", 0, CLI_TYPE_TEXT, "FILE", CLI_GROUP_KERNEL,
         "configuration, in place of $XDG_CONFIG_HOME/hermes-repl/config.json"),

    WORD(CLI_LIST, "list", 0, CLI_TYPE_FLAG, NULL, CLI_GROUP_HISTORY,
         "the sessions of the history: name, last use, number of cells, whether a program has it open"),
    WORD(CLI_HISTORY, "history", 0, CLI_TYPE_TEXT, "TEXT", CLI_GROUP_HISTORY,
         "the cells whose source or output holds this text, newest first"),
    WORD(CLI_EXPORT, "export", 0, CLI_TYPE_TEXT, "NAME FILE", CLI_GROUP_HISTORY,
         "write a session's cells with their outputs: .ipynb, .py, .md or .html"),
    WORD(CLI_RENAME, "rename", 0, CLI_TYPE_TEXT, "OLD NEW", CLI_GROUP_HISTORY,
         "give a session another name"),
    WORD(CLI_DELETE, "delete", 0, CLI_TYPE_TEXT, "NAME", CLI_GROUP_HISTORY,
         "delete a session's cells"),
    CHOICE(CLI_HISTORY_MODE, "history-mode", "history", "on|off|no-output", "on", CLI_GROUP_HISTORY,
         "what sessions keep on disk: all, nothing, or cells without their output"),
    WORD(CLI_HISTORY_PURGE, "history-purge", 0, CLI_TYPE_FLAG, NULL, CLI_GROUP_HISTORY,
         "delete the cells of all sessions, without asking"),

    WORD(CLI_HELP, "help", 'h', CLI_TYPE_OPTIONAL, "[all]", CLI_GROUP_ABOUT,
         "this text; all: every option"),
    WORD(CLI_VERSION, "version", 0, CLI_TYPE_FLAG, NULL, CLI_GROUP_ABOUT,
         "the version"),
    WORD(CLI_LIST_OPTIONS, "list-options", 0, CLI_TYPE_FLAG, NULL, CLI_GROUP_ABOUT,
         "names, types, defaults and values of what can be configured"),
    WORD(CLI_LIST_COMMANDS, "list-commands", 0, CLI_TYPE_FLAG, NULL, CLI_GROUP_ABOUT,
         "the commands of the prompt"),
    WORD(CLI_LIST_KEYS, "list-keys", 0, CLI_TYPE_FLAG, NULL, CLI_GROUP_ABOUT,
         "the keys, with those of the key file"),
    WORD(CLI_EXPLAIN_ENV, "explain-env", 0, CLI_TYPE_FLAG, NULL, CLI_GROUP_ABOUT,
         "which environment variables a kernel would see (names only)"),
    CHOICE(CLI_COMPLETION, "completion", NULL, "bash|zsh|fish", "", CLI_GROUP_ABOUT,
           "a completion script for this shell"),
    WORD(CLI_SCHEMA, "schema", 0, CLI_TYPE_FLAG, NULL, CLI_GROUP_ABOUT,
         "the schema of the tool execute_code for a language model, as JSON"),
    WORD(CLI_CHECK_CONFIG, "check-config", 0, CLI_TYPE_FLAG, NULL, CLI_GROUP_ABOUT,
         "read the configuration and the key file, and report what is wrong with them"),
};
/* clang-format on */

const size_t cli_table_count = sizeof(cli_table) / sizeof(cli_table[0]);

const char *const cli_group_names[CLI_GROUP_COUNT] = {
    [CLI_GROUP_RUN] = "Run",           [CLI_GROUP_BATCH] = "Batch",   [CLI_GROUP_KERNEL] = "Kernel",
    [CLI_GROUP_HISTORY] = "History",
    [CLI_GROUP_ABOUT] = "Information", [CLI_GROUP_ENGINE] = "Engine",
};

const char *const cli_engine_defaults[][2] = {
    {"timeout", "off"},
    {"max_session_kernels", "32"},
    {"kernel_idle_timeout", "off"},
    {"shutdown_grace", "10"},
    {"spare_kernels", "1"},
    {"undo_kernels", "3"},
    {NULL, NULL},
};
