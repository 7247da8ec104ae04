/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tool-list.h"

#include <stdlib.h>
#include <string.h>

#include "tool.h"
#include "xalloc.h"

static bool is_in_table(const char *name)
{
    const struct tool *tool = tool_table;
    while (tool->name && strcmp(tool->name, name) != 0)
        tool++;
    return tool->name != NULL;
}

/* All names, separated by ", ". */
static void add_known(const struct tool_settings *settings, struct strbuf *out)
{
    for (const struct tool *tool = tool_table; tool->name; tool++)
        strbuf_addf(out, "%s%s", tool == tool_table ? "" : ", ", tool->name);
    for (size_t i = 0; settings && i < settings->count; i++) {
        if (!is_in_table(settings->commands[i].name))
            strbuf_addf(out, ", %s", settings->commands[i].name);
    }
}

bool tool_list_check(const struct tool_settings *settings, const char *name, struct strbuf *error)
{
    struct strbuf known = STRBUF_INIT;
    struct tool tool;
    if (tool_find(settings, name, &tool))
        return true;
    add_known(settings, &known);
    strbuf_setf(error, "there is no tool '%s'; known: %s", name, strbuf_text(&known));
    strbuf_free(&known);
    return false;
}

static bool has(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/*
 * Pointers and text in one piece of memory, which is what the engine's interface and free() want.
 */
static const char **pack(const char *words, size_t size)
{
    size_t count = 0, used = 0;
    for (size_t at = 0; at < size; at += strlen(words + at) + 1)
        count++;
    const char **names = xcalloc(1, (count + 1) * sizeof *names + size);
    char *text = (char *)(names + count + 1);
    for (size_t at = 0; at < size; at += strlen(words + at) + 1) {
        size_t length = strlen(words + at) + 1;
        if (has(names, words + at))
            continue;
        names[used++] = memcpy(text, words + at, length);
        text += length;
    }
    return names;
}

const char **tool_list_describe(const struct tool_settings *settings, const char *const *names)
{
    struct strbuf words = STRBUF_INIT;
    const char **described;
    if (!names)
        return NULL;
    for (; *names; names++) {
        const struct tool_command *command = tool_settings_command(settings, *names);
        if (command && command->signature)
            strbuf_adds(&words, command->signature);
        else
            strbuf_addf(&words, "%s%s", *names,
                        command && !is_in_table(*names) ? "(**arguments)" : "");
        if (command && command->help[0] && (command->signature || !is_in_table(*names)))
            strbuf_addf(&words, ": %s", command->help);
        strbuf_addc(&words, '\0');
    }
    described = pack(strbuf_text(&words), words.size);
    strbuf_free(&words);
    return described;
}

const char **tool_list_parse(const struct tool_settings *settings, const char *list,
                             struct strbuf *error)
{
    struct strbuf words = STRBUF_INIT, all = STRBUF_INIT;
    const char **names = NULL;
    bool good = true;
    add_known(settings, &all);
    for (size_t size; good && (list += strspn(list, ", \t\n"), *list); list += size) {
        size = strcspn(list, ", \t\n");
        char *word = xmemdup0(list, size);
        if (strcmp(word, "all") == 0) {
            for (const char *at = strbuf_text(&all); *at; at += strspn(at, ", ")) {
                size_t length = strcspn(at, ", ");
                strbuf_add(&words, at, length);
                strbuf_addc(&words, '\0');
                at += length;
            }
        } else {
            good = tool_list_check(settings, word, error);
            strbuf_add(&words, word, size + 1);
        }
        free(word);
    }
    if (good)
        names = pack(strbuf_text(&words), words.size);
    strbuf_free(&words);
    strbuf_free(&all);
    return names;
}
