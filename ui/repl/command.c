/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a command's name to what it does.
 */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "command-internal.h"
#include "nearest.h"

static bool is_named(const struct command *command, const char *name, size_t size)
{
    return (strlen(command->name) == size && memcmp(command->name, name, size) == 0) ||
           (command->alias && strlen(command->alias) == size &&
            memcmp(command->alias, name, size) == 0);
}

static void name_nearest(const char *name, size_t size, struct strbuf *error)
{
    char *word = xmemdup0(name, size);
    struct nearest nearest = {word, NULL, 0};
    for (size_t i = 0; i < command_count; i++) {
        nearest_offer(&nearest, command_table[i].name);
        if (command_table[i].alias)
            nearest_offer(&nearest, command_table[i].alias);
    }
    if (nearest.best)
        strbuf_setf(error, "no command :%.40s; did you mean :%s?", word, nearest.best);
    else
        strbuf_setf(error, "no command :%.40s; :help lists them", word);
    free(word);
}

const struct command *command_find(const char *name, size_t size, struct strbuf *error)
{
    const struct command *begins = NULL;
    size_t count = 0;
    for (size_t i = 0; i < command_count; i++) {
        if (is_named(&command_table[i], name, size))
            return &command_table[i];
        if (size && strncmp(command_table[i].name, name, size) == 0) {
            begins = begins ? begins : &command_table[i];
            count++;
        }
    }
    if (count == 1)
        return begins;
    if (count > 1) {
        strbuf_setf(error, ":%.*s could be", (int)size, name);
        for (size_t i = 0; i < command_count; i++) {
            if (strncmp(command_table[i].name, name, size) == 0)
                strbuf_addf(error, " :%s", command_table[i].name);
        }
        return NULL;
    }
    name_nearest(name, size, error);
    return NULL;
}

static bool meets_needs(const struct command *command, const struct repl_session *session,
                        const char *arguments, struct strbuf *error)
{
    if (command->needs & COMMAND_NEEDS_RUNNING && !session->running)
        strbuf_setf(error, ":%s: no cell runs", command->name);
    else if (command->needs & COMMAND_NEEDS_KERNEL && !session->has_kernel)
        strbuf_setf(error, ":%s: no kernel runs; the next cell starts one", command->name);
    else if (command->arguments && command->arguments[0] != '[' && !arguments[0])
        strbuf_setf(error, ":%s needs %s", command->name, command->arguments);
    else if (!command->arguments && arguments[0])
        strbuf_setf(error, ":%s takes no arguments", command->name);
    else
        return true;
    return false;
}

bool repl_command(struct repl *repl, struct repl_session *session, const char *line,
                  struct strbuf *error)
{
    line += strspn(line, ": \t");
    size_t size = strcspn(line, " \t\n");
    if (!size) {
        strbuf_setf(error, "a command is :name, as in :help");
        return false;
    }
    const struct command *command = command_find(line, size, error);
    if (!command)
        return false;
    const char *rest = line + size + strspn(line + size, " \t\n");
    size_t length = strlen(rest);
    while (length && isspace((unsigned char)rest[length - 1]))
        length--;
    char *arguments = xstrndup(rest, length);
    bool good = meets_needs(command, session, arguments, error);
    if (good && command->run) {
        good = command->run(repl, session, arguments, error);
    } else if (good && (!repl->front.command ||
                        !repl->front.command(repl->context, session, command->name, arguments))) {
        strbuf_setf(error, ":%s is for the full screen", command->name);
        good = false;
    }
    free(arguments);
    return good;
}

void command_list(struct strbuf *out)
{
    for (size_t i = 0; i < command_count; i++) {
        const struct command *command = &command_table[i];
        size_t start = out->size;
        strbuf_addf(out, "%s%s%s", command->name, command->arguments ? " " : "",
                    command->arguments ? command->arguments : "");
        while (out->size - start < 22)
            strbuf_addc(out, ' ');
        strbuf_addf(out, "  %s%s%s%s\n", command->help, command->alias ? " (also: " : "",
                    command->alias ? command->alias : "", command->alias ? ")" : "");
    }
}
