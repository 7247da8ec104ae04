/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The commands: one table for ":name" lines, keys, completion, the help screen, --list-commands,
 * --list-keys and the manual page. And the keymap: what keys stand for which command, with the
 * user's file over the table's defaults.
 */
#ifndef UI_COMMAND_H
#define UI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "strbuf.h"

struct repl;
struct repl_session;

enum command_needs {
    COMMAND_NEEDS_NOTHING = 0,
    COMMAND_NEEDS_KERNEL = 1 << 0,
    COMMAND_NEEDS_RUNNING = 1 << 1,
    COMMAND_SCREEN_ONLY = 1 << 2, /* the full-screen front end's; the plain one says so */
};

enum command_group {
    COMMAND_CELLS,
    COMMAND_DOCUMENT,
    COMMAND_KERNEL,
    COMMAND_SESSIONS,
    COMMAND_VIEW,
    COMMAND_PROGRAM,
    COMMAND_GROUPS
};

struct command {
    const char *name;      /* "reset" */
    const char *alias;     /* NULL: none */
    const char *arguments; /* "[NAME]", NULL: none */
    unsigned needs;
    enum command_group group;
    const char *keys; /* defaults in the prompt: "C-x r", several separated by ", "; NULL: none */
    const char *browse_keys; /* defaults in browse mode: "0 0, C-x r" */
    const char *help;        /* one line */
    /* NULL: the front end's own. False: one line in error. */
    bool (*run)(struct repl *repl, struct repl_session *session, const char *arguments,
                struct strbuf *error);
};

extern const struct command command_table[];
extern const size_t command_count;
extern const char *const command_group_names[COMMAND_GROUPS];

/* By name or alias, or by the beginning of only one; NULL: none, and error names the nearest. */
const struct command *command_find(const char *name, size_t size, struct strbuf *error);

/* The document's keys come before those of browse mode. */
enum keymap_table { KEYMAP_PROMPT, KEYMAP_BROWSE, KEYMAP_DOCUMENT, KEYMAP_TABLES };

struct keymap;
struct keymap *keymap_new(void);
void keymap_free(struct keymap *keymap);
/*
 * The user's file ($XDG_CONFIG_HOME/hermes-repl/keys): lines "bind [browse|doc] KEYS COMMAND..." and
 * "unbind [browse|doc] KEYS"; # begins a comment. Each fault is a line in warnings: file, line, what is
 * wrong, the nearest valid word. False: the file cannot be read.
 */
bool keymap_load(struct keymap *keymap, const char *path, struct strbuf *warnings);
/* The file's usual place; NULL: there is no home. Yours. */
char *keymap_default_path(void);

enum keymap_answer { KEYMAP_NONE, KEYMAP_PREFIX, KEYMAP_COMMAND };
/* keys: canonical names separated by one space ("C-x r"). line: the command with its arguments. */
enum keymap_answer keymap_lookup(const struct keymap *keymap, enum keymap_table table,
                                 const char *keys, const char **ret_line);
/* For help and status: the first keys of a command, or NULL. */
const char *keymap_keys_of(const struct keymap *keymap, enum keymap_table table,
                           const char *command);

void command_list(struct strbuf *out);                             /* --list-commands */
void keymap_list(const struct keymap *keymap, struct strbuf *out); /* --list-keys */

#endif
