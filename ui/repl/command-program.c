/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Commands about the program: help, options, the end.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "command-internal.h"
#include "nearest.h"

#define HELP_COLUMN 38 /* of what a command does */
#define HELP_ROOM_MIN 24
#define HELP_BELOW 6         /* the column where there is no such room */
#define HELP_COLUMNS_MAX 110 /* longer lines are not read well */

static const char *const typed_help[][2] = {
    {"Python", "Enter runs it when it is complete; a leading space keeps it out of the history"},
    {"!COMMAND", "a shell command, in the session's directory and on its terminal (!!: its output "
                 "as a list)"},
    {"NAME? NAME??", "what NAME is; its source"},
    {"%NAME", "IPython's magics, as far as they have a meaning here"},
    {":NAME", "the commands below; a name may be cut short"},
};

static void pad(struct strbuf *out, size_t start, size_t column)
{
    do {
        strbuf_addc(out, ' ');
    } while (out->size - start < column);
}

/* Words from this column to the end of the terminal, and a new line. */
static void add_wrapped(struct strbuf *out, const struct repl *repl, size_t column,
                        const char *text)
{
    size_t columns = repl->setup.columns > 0 ? (size_t)repl->setup.columns : 80, used = column;
    columns = columns > HELP_COLUMNS_MAX ? HELP_COLUMNS_MAX : columns;
    if (columns < column + HELP_ROOM_MIN) { /* too narrow to stand beside each other */
        strbuf_addf(out, "\n%*s", HELP_BELOW, "");
        used = column = HELP_BELOW;
    }
    while (*text) {
        size_t word = strcspn(text, " ");
        if (used > column && used + 1 + word > columns) {
            strbuf_addf(out, "\n%*s", (int)column, "");
            used = column;
        } else if (used > column) {
            strbuf_addc(out, ' ');
            used++;
        }
        strbuf_add(out, text, word);
        used += word;
        text += word + (text[word] == ' ');
    }
    strbuf_addc(out, '\n');
}

static void add_command(struct strbuf *out, const struct repl *repl, const struct command *command)
{
    size_t start = out->size;
    strbuf_addf(out, "  :%s%s%s", command->name, command->arguments ? " " : "",
                command->arguments ? command->arguments : "");
    pad(out, start, 24);
    strbuf_adds(out, command->keys ? command->keys : "");
    pad(out, start, HELP_COLUMN);
    add_wrapped(out, repl, out->size - start, command->help);
}

/* Whether this front end has it. */
static bool is_here(const struct repl *repl, const struct command *command)
{
    return !(command->needs & COMMAND_SCREEN_ONLY) || !repl->options.plain;
}

static bool help_on(struct repl *repl, struct repl_session *session, const char *name,
                    struct strbuf *error)
{
    name += strspn(name, ":");
    const struct command *command = command_find(name, strlen(name), error);
    struct strbuf out = STRBUF_INIT;
    if (!command)
        return false;
    strbuf_addf(&out, ":%s%s%s\n    %s\n", command->name, command->arguments ? " " : "",
                command->arguments ? command->arguments : "", command->help);
    if (command->alias)
        strbuf_addf(&out, "    also called :%s\n", command->alias);
    if (command->keys)
        strbuf_addf(&out, "    keys: %s\n", command->keys);
    if (command->browse_keys)
        strbuf_addf(&out, "    keys in browse mode: %s\n", command->browse_keys);
    if (!is_here(repl, command))
        strbuf_adds(&out, "    for the full screen only\n");
    repl_show(repl, session, command->name, &out);
    strbuf_free(&out);
    return true;
}

bool command_help(struct repl *repl, struct repl_session *session, const char *arguments,
                  struct strbuf *error)
{
    struct strbuf out = STRBUF_INIT;
    if (arguments[0])
        return help_on(repl, session, arguments, error);
    strbuf_adds(&out, "Typed as a block:\n");
    for (size_t i = 0; i < sizeof typed_help / sizeof typed_help[0]; i++) {
        strbuf_addf(&out, "  %-15s", typed_help[i][0]);
        add_wrapped(&out, repl, 17, typed_help[i][1]);
    }
    for (int group = 0; group < COMMAND_GROUPS; group++) {
        strbuf_addf(&out, "\n%s\n", command_group_names[group]);
        for (size_t i = 0; i < command_count; i++) {
            if ((int)command_table[i].group == group && is_here(repl, &command_table[i]))
                add_command(&out, repl, &command_table[i]);
        }
    }
    repl_show(repl, session, "help", &out);
    strbuf_free(&out);
    return true;
}

bool command_keys(struct repl *repl, struct repl_session *session, const char *arguments,
                  struct strbuf *error)
{
    struct strbuf out = STRBUF_INIT;
    (void)arguments;
    (void)error;
    struct keymap *usual = repl->options.keymap ? NULL : keymap_new();
    keymap_list(usual ? usual : repl->options.keymap, &out);
    keymap_free(usual);
    repl_show(repl, session, "keys", &out);
    strbuf_free(&out);
    return true;
}

bool command_options(struct repl *repl, struct repl_session *session, const char *arguments,
                     struct strbuf *error)
{
    struct strbuf all = STRBUF_INIT, out = STRBUF_INIT;
    cli_list_options(&all, repl->settings);
    const char *text = strbuf_text(&all);
    size_t titles = strcspn(text, "\n") + 1;
    for (size_t at = titles; at < all.size;) {
        size_t length = strcspn(text + at, "\n") + 1;
        if (!out.size)
            strbuf_add(&out, text, titles);
        if (memmem(text + at, length, arguments, strlen(arguments)))
            strbuf_add(&out, text + at, length);
        at += length;
    }
    bool found = out.size > titles;
    if (found)
        repl_show(repl, session, "options", &out);
    else
        strbuf_setf(error, "no option holds '%s'", arguments);
    strbuf_free(&all);
    strbuf_free(&out);
    return found;
}

static struct setting *setting_named(struct settings *settings, const char *name, size_t size,
                                     struct strbuf *error)
{
    char *word = xmemdup0(name, size);
    struct nearest nearest = {word, NULL, 0};
    struct setting *found = NULL;
    for (size_t i = 0; i < settings->count && !found; i++) {
        const struct cli_entry *entry = settings->items[i].entry;
        if (!entry->key)
            continue;
        if (strcmp(entry->key, word) == 0 ||
            (entry->engine && entry->name && strcmp(entry->name, word) == 0))
            found = &settings->items[i];
        nearest_offer(&nearest, entry->key);
    }
    if (!found)
        strbuf_setf(error,
                    nearest.best ? "no option %s; did you mean %s?"
                                 : "no option %s; :options lists them",
                    word, nearest.best);
    free(word);
    return found;
}

/* Those that are looked at while the program runs: the engine's, who may call what, pictures. */
bool command_set(struct repl *repl, struct repl_session *session, const char *arguments,
                 struct strbuf *error)
{
    size_t size = strcspn(arguments, " \t=");
    const char *value = arguments + size + strspn(arguments + size, " \t=");
    struct setting *setting = setting_named(repl->settings, arguments, size, error);
    if (!setting)
        return false;
    bool approve = setting->entry->id == CLI_APPROVE;
    if (!value[0]) {
        strbuf_setf(error, "%s is %s; :set %s VALUE changes it", setting->entry->key,
                    setting->value, setting->entry->key);
        return false;
    }
    bool screen = setting->entry->id == CLI_GRAPHICS || setting->entry->id == CLI_THEME;
    if (!approve && !screen &&
        (!setting->entry->engine || setting->entry->id == CLI_MODE ||
         setting->entry->id == CLI_PYTHON)) {
        strbuf_setf(error, "%s holds for a whole run: give --%s, or put it into the configuration",
                    setting->entry->key,
                    setting->entry->name ? setting->entry->name : setting->entry->key);
        return false;
    }
    if (!settings_set(repl->settings, setting, value, SOURCE_FLAG, error))
        return false;
    if (approve && !approval_set(&repl->calls.approval, value, error))
        return false;
    repl_say(repl, session, "%s is %s", setting->entry->key, setting->value);
    return true;
}

bool command_quit(struct repl *repl, struct repl_session *session, const char *arguments,
                  struct strbuf *error)
{
    bool now = strcmp(arguments, "now") == 0;
    if (arguments[0] && !now) {
        strbuf_setf(error, "'%s' is not now", arguments);
        return false;
    }
    size_t running = 0;
    for (size_t i = 0; i < repl->session_count; i++)
        running += repl->sessions[i]->session.running != NULL;
    struct strbuf question = STRBUF_INIT, unsaved = STRBUF_INIT;
    repl_document_add_unsaved(repl, &unsaved);
    if (now || (!repl_is_busy(repl) && !unsaved.size)) {
        strbuf_free(&unsaved);
        repl->quits = true;
        return true;
    }
    if (unsaved.size)
        strbuf_addf(&question, "quit? Not saved: %s.", strbuf_text(&unsaved));
    strbuf_free(&unsaved);
    if (repl_is_busy(repl)) {
        strbuf_adds(&question, question.size ? " " : "quit? ");
        strbuf_addf(&question, "%zu cell%s run%s, %zu wait%s; they are ended.", running,
                    running == 1 ? "" : "s", running == 1 ? "s" : "", repl->open_count - running,
                    repl->open_count - running == 1 ? "s" : "");
    }
    repl_ask_doubt(repl, session, REPL_DOUBT_QUIT, strbuf_text(&question));
    strbuf_free(&question);
    return true;
}

bool command_leave(struct repl *repl, struct repl_session *session, const char *arguments,
                   struct strbuf *error)
{
    return repl_interrupt(repl, session) || command_quit(repl, session, arguments, error);
}
