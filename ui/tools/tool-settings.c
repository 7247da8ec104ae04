/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tool-settings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"
#include "xalloc.h"

enum {
    TIMEOUT_DEFAULT_S = 60,
    TIMEOUT_MAX_S = 86400,
    BYTES_DEFAULT = 1000 * 1000,
    BYTES_MAX = 64 * 1000 * 1000
};

void tool_settings_init(struct tool_settings *settings)
{
    *settings =
        (struct tool_settings){.terminal_timeout_ms = 180 * 1000, .search_timeout_ms = 30 * 1000};
}

static void free_list(char **list)
{
    for (char **item = list; item && *item; item++)
        free(*item);
    free(list);
}

static void free_command(struct tool_command *command)
{
    free(command->name);
    free(command->signature);
    free(command->help);
    free_list(command->argv);
    free_list(command->environment);
}

void tool_settings_free(struct tool_settings *settings)
{
    for (size_t i = 0; i < settings->count; i++)
        free_command(&settings->commands[i]);
    free(settings->commands);
    free(settings->path);
    *settings = (struct tool_settings){.commands = NULL};
}

const struct tool_command *tool_settings_command(const struct tool_settings *settings,
                                                 const char *name)
{
    for (size_t i = 0; settings && i < settings->count; i++) {
        if (strcmp(settings->commands[i].name, name) == 0)
            return &settings->commands[i];
    }
    return NULL;
}

/*
 * ---- values -----------------------------------------------------------------------------------
 */

/* The text of a string without NUL; yours, or NULL. */
static char *text_of(struct json_span value)
{
    struct strbuf text = STRBUF_INIT;
    if (json_kind_of(value) != JSON_STRING)
        return NULL;
    json_decode(value, &text);
    if (strlen(strbuf_text(&text)) == text.size)
        return strbuf_steal(&text);
    strbuf_free(&text);
    return NULL;
}

static bool number_of(struct json_span value, double least, double most, double *ret_number)
{
    if (json_kind_of(value) != JSON_NUMBER)
        return false;
    char *text = xmemdup0(value.start, value.size);
    double number = strtod(text, NULL);
    free(text);
    if (!(number >= least && number <= most))
        return false;
    *ret_number = number;
    return true;
}

static void append(char ***list, size_t *count, char *text)
{
    *list = xrealloc(*list, (*count + 2) * sizeof **list);
    (*list)[(*count)++] = text;
    (*list)[*count] = NULL;
}

/* A string is for the shell, an array of strings is a program with its arguments. */
static bool take_argv(struct tool_command *command, struct json_span value)
{
    struct json_span item;
    size_t count = 0;
    free_list(command->argv);
    command->argv = NULL;
    if (json_kind_of(value) == JSON_STRING) {
        char *text = text_of(value);
        if (!text || text[strspn(text, " \t\n")] == '\0') {
            free(text);
            return false;
        }
        append(&command->argv, &count, xstrdup("/bin/sh"));
        append(&command->argv, &count, xstrdup("-c"));
        append(&command->argv, &count, text);
        return true;
    }
    if (json_kind_of(value) != JSON_ARRAY)
        return false;
    for (size_t position = 0; json_next_element(value, &position, &item);) {
        char *text = text_of(item);
        if (!text)
            return false;
        append(&command->argv, &count, text);
    }
    return count && command->argv[0][0];
}

static bool take_environment(struct tool_command *command, struct json_span value)
{
    struct json_span key, item;
    size_t count = 0;
    if (json_kind_of(value) != JSON_OBJECT)
        return false;
    for (size_t position = 0; json_next_member(value, &position, &key, &item);) {
        char *name = text_of(key), *text = text_of(item);
        bool good = name && name[0] && !strchr(name, '=') && text;
        if (good)
            append(&command->environment, &count, xasprintf("%s=%s", name, text));
        free(name);
        free(text);
        if (!good)
            return false;
    }
    return true;
}

static bool take_signature(struct tool_command *command, struct json_span value)
{
    char *text = text_of(value);
    if (!text || strpbrk(text, "\r\n")) {
        free(text);
        return false;
    }
    free(command->signature);
    command->signature = xasprintf("%s(%s)", command->name, text);
    free(text);
    return true;
}

/* What is wrong with the member, or NULL. */
static const char *take_member(struct tool_command *command, const char *key,
                               struct json_span value)
{
    double number;
    if (strcmp(key, "command") == 0)
        return take_argv(command, value) ? NULL
                                         : "is neither a command for the shell nor a list of words";
    if (strcmp(key, "timeout") == 0) {
        if (!number_of(value, 0.001, TIMEOUT_MAX_S, &number))
            return "is no number of seconds from 0.001 to 86400";
        command->timeout_ms = (int64_t)(number * 1000 + 0.5);
    } else if (strcmp(key, "max_bytes") == 0) {
        if (!number_of(value, 1, BYTES_MAX, &number))
            return "is no number from 1 to 64000000";
        command->max_bytes = (size_t)number;
    } else if (strcmp(key, "env") == 0) {
        return take_environment(command, value) ? NULL : "is no object of names and texts";
    } else if (strcmp(key, "signature") == 0) {
        return take_signature(command, value) ? NULL : "is no line of Python parameters";
    } else if (strcmp(key, "help") == 0) {
        char *text = text_of(value);
        if (!text)
            return "is no text";
        free(command->help);
        command->help = text;
    } else {
        return "is unknown (command, timeout, max_bytes, env, signature, help)";
    }
    return NULL;
}

/*
 * ---- the object -------------------------------------------------------------------------------
 */

static bool is_name(const char *name)
{
    if (!isalpha((unsigned char)name[0]) && name[0] != '_')
        return false;
    for (const char *c = name; *c; c++) {
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    }
    return true;
}

/* What hermes_tools has beside the tools, and the word for all of them. */
static bool is_taken(const char *name)
{
    static const char *const names[] = {"all", "json_parse", "shell_quote", "retry", "ToolError"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

static const struct tool *table_row(const char *name)
{
    for (const struct tool *tool = tool_table; tool->name; tool++) {
        if (strcmp(tool->name, name) == 0)
            return tool;
    }
    return NULL;
}

static void load_command(struct tool_settings *settings, const char *name, struct json_span value,
                         struct strbuf *warnings)
{
    struct tool_command command = {.name = xstrdup(name),
                                   .help = xstrdup(""),
                                   .timeout_ms = TIMEOUT_DEFAULT_S * 1000,
                                   .max_bytes = BYTES_DEFAULT};
    struct json_span key, item;
    const char *fault = NULL;
    if (json_kind_of(value) == JSON_OBJECT) {
        for (size_t position = 0; !fault && json_next_member(value, &position, &key, &item);) {
            struct strbuf word = STRBUF_INIT;
            json_decode(key, &word);
            fault = take_member(&command, strbuf_text(&word), item);
            if (fault)
                strbuf_addf(warnings, TOOL_SETTINGS_KEY ": %s: \"%s\" %s\n", name,
                            strbuf_text(&word), fault);
            strbuf_free(&word);
        }
        if (!fault && !command.argv)
            strbuf_addf(warnings, TOOL_SETTINGS_KEY ": %s: there is no \"command\"\n", name);
    } else if (!take_argv(&command, value)) {
        fault = "";
        strbuf_addf(warnings, TOOL_SETTINGS_KEY ": %s: neither a command nor an object with one\n",
                    name);
    }
    if (fault || !command.argv) {
        free_command(&command);
        return;
    }
    if (!command.signature && !table_row(name))
        command.signature = xasprintf("%s(**arguments)", name);
    struct tool_command *old = (struct tool_command *)tool_settings_command(settings, name);
    if (old) { /* the last one counts, as in Python */
        free_command(old);
        *old = command;
        return;
    }
    settings->commands =
        xrealloc(settings->commands, (settings->count + 1) * sizeof *settings->commands);
    settings->commands[settings->count++] = command;
}

void tool_settings_load(struct tool_settings *settings, struct json_span value,
                        struct strbuf *warnings)
{
    struct json_span key, item;
    if (json_kind_of(value) != JSON_OBJECT) {
        strbuf_adds(warnings, TOOL_SETTINGS_KEY ": no object of tools and commands\n");
        return;
    }
    for (size_t position = 0; json_next_member(value, &position, &key, &item);) {
        struct strbuf word = STRBUF_INIT;
        json_decode(key, &word);
        const char *name = strbuf_text(&word);
        if (!is_name(name) || strlen(name) != word.size)
            strbuf_addf(warnings, TOOL_SETTINGS_KEY ": \"%s\" is no name of a Python function\n",
                        name);
        else if (is_taken(name))
            strbuf_addf(warnings,
                        TOOL_SETTINGS_KEY
                        ": %s has a meaning of its own, as a helper or in options\n",
                        name);
        else if (table_row(name) && table_row(name)->run != tool_command)
            strbuf_addf(warnings, TOOL_SETTINGS_KEY ": %s is built in and cannot be a command\n",
                        name);
        else
            load_command(settings, name, item, warnings);
        strbuf_free(&word);
    }
}
