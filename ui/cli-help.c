/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of options as text.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char usage[] =
    "usage: hermes-repl [--plain] [--session NAME] [FILE]   work in sessions\n"
    "       hermes-repl --batch FILE|- [ARGS...]            run a script or notebook\n"
    "       hermes-repl -c CODE [ARGS...]                   run one cell\n"
    "       hermes-repl --verify FILE | --convert FILE OUT  check, or write it anew\n"
    "       hermes-repl --mcp                               serve an agent\n";

/* "-q, --quiet" or "    --timeout S". */
static void add_spelling(struct strbuf *out, const struct cli_entry *entry)
{
    if (entry->letter)
        strbuf_addf(out, "-%c%s", entry->letter, entry->name ? ", " : "");
    else
        strbuf_adds(out, "    ");
    if (entry->name)
        strbuf_addf(out, "--%s", entry->name);
    if (entry->argument)
        strbuf_addf(out, " %s", entry->argument);
}

static void add_padding(struct strbuf *out, size_t start, size_t column)
{
    while (out->size - start < column)
        strbuf_addc(out, ' ');
}

/* Wrap text at column 100, further lines indented. */
static void add_wrapped(struct strbuf *out, const char *text, size_t indent)
{
    size_t column = indent;
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column > indent && column + 1 + word > 100) {
            strbuf_addc(out, '\n');
            add_padding(out, out->size, indent);
            column = indent;
        } else if (column > indent) {
            strbuf_addc(out, ' ');
            column++;
        }
        strbuf_add(out, text, word);
        column += word;
        text += word + (text[word] == ' ');
    }
}

static bool shows_default(const struct cli_entry *entry)
{
    return entry->default_value[0] && entry->key && entry->type != CLI_TYPE_FLAG;
}

static void add_entry(struct strbuf *out, const struct cli_entry *entry)
{
    struct strbuf help = STRBUF_INIT;
    size_t start = out->size;
    strbuf_adds(out, "  ");
    add_spelling(out, entry);
    if (out->size - start > 33) {
        strbuf_addc(out, '\n');
        start = out->size;
    }
    add_padding(out, start, 34);
    strbuf_adds(&help, entry->help);
    if (entry->group == CLI_GROUP_ENGINE && entry->range[0])
        strbuf_addf(&help, " [%s]", entry->range);
    if (shows_default(entry))
        strbuf_addf(&help, " (default: %s)", entry->default_value);
    add_wrapped(out, strbuf_text(&help), 34);
    strbuf_addc(out, '\n');
    strbuf_free(&help);
}

void cli_help(struct strbuf *out)
{
    strbuf_adds(out, usage);
    for (enum cli_group group = CLI_GROUP_BATCH; group <= CLI_GROUP_ABOUT; group++) {
        size_t column = 11;
        strbuf_addf(out, "\n%-11s", cli_group_names[group]);
        for (size_t i = 0; i < cli_table_count; i++) {
            const struct cli_entry *entry = &cli_table[i];
            struct strbuf word = STRBUF_INIT;
            if (entry->group != group || (!entry->name && !entry->letter))
                continue;
            if (entry->letter && entry->name)
                strbuf_addf(&word, "-%c/", entry->letter);
            strbuf_addf(&word, entry->name ? "--%s" : "-%s",
                        entry->name ? entry->name : (char[]){entry->letter, 0});
            if (entry->argument)
                strbuf_addf(&word, " %s", entry->argument);
            if (column + word.size + 2 > 79) {
                strbuf_addf(out, "\n%11s", "");
                column = 11;
            }
            strbuf_addf(out, "  %s", strbuf_text(&word));
            column += word.size + 2;
            strbuf_free(&word);
        }
    }
    strbuf_adds(out,
                "\n\n"
                "Options may stand anywhere before --; other words after FILE are the script's.\n"
                "Exit status: 0 all cells ok, 1 a cell raised, 2 usage, 124 time limit, 125 no\n"
                "kernel, 128+n killed by signal n, 130 interrupted, N after sys.exit(N).\n"
                "--help all explains every option; --list-options what can be configured.\n");
}

void cli_help_all(struct strbuf *out, struct settings *settings)
{
    strbuf_adds(out, usage);
    for (enum cli_group group = CLI_GROUP_RUN; group < CLI_GROUP_COUNT; group++) {
        strbuf_addf(out, "\n%s\n", cli_group_names[group]);
        for (size_t i = 0; i < settings->count; i++) {
            const struct cli_entry *entry = settings->items[i].entry;
            if (entry->group == group && (entry->name || entry->letter))
                add_entry(out, entry);
        }
    }
    strbuf_adds(out,
                "\nNames in the configuration file have _ for -, in the environment they are "
                "HERMES_REPL_NAME;\n"
                "--timeout is run_timeout there, --cell-timeout is timeout, and --history-mode is "
                "history. The\n"
                "command line wins, then the environment, then the file "
                "($XDG_CONFIG_HOME/hermes-repl/config.json, JSON "
                "with comments).\n"
                "Flags that can be configured have a --no- form.\n");
}

void cli_list_options(struct strbuf *out, struct settings *settings)
{
    static const char *const sources[] = {"default", "file", "environment", "command line"};
    for (size_t i = 0; i < settings->count; i++) {
        const struct setting *setting = &settings->items[i];
        const struct cli_entry *entry = setting->entry;
        size_t start = out->size;
        char *actual = NULL;
        if (!entry->key)
            continue;
        if (entry->engine && settings->engine)
            hermes_get_option(settings->engine, entry->key, &actual);
        strbuf_adds(out, entry->key);
        add_padding(out, start, 22);
        if (entry->name)
            strbuf_addf(out, "  --%s", entry->name);
        add_padding(out, start, 48);
        strbuf_addf(out, "  %s", actual ? actual : setting->value);
        if (setting->source != SOURCE_DEFAULT)
            strbuf_addf(out, " (%s)", sources[setting->source]);
        add_padding(out, start, 72);
        strbuf_addf(out, "  %s", entry->range);
        add_padding(out, start, 92);
        strbuf_addf(out, "  %s\n", entry->help);
        hermes_free(actual);
    }
}
