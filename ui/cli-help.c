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
    "       hermes-repl --verify FILE | --replay NAME       run again and compare\n"
    "       hermes-repl --convert FILE OUT | --mcp          write anew; serve agents\n";

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

/* ---- the list of options --------------------------------------------------------------------- */

#define OPTION_COLUMNS 6
#define OPTION_WIDTH_MAX 20 /* what is longer moves the rest of its line only */

/* What kind of value is taken. */
static const char *type_name(const struct cli_entry *entry)
{
    static const char *const names[] = {
        [CLI_TYPE_FLAG] = "flag",     [CLI_TYPE_TEXT] = "text",       [CLI_TYPE_LIST] = "list",
        [CLI_TYPE_CHOICE] = "choice", [CLI_TYPE_SECONDS] = "seconds", [CLI_TYPE_OPTIONAL] = "text",
        [CLI_TYPE_TOOLS] = "names",   [CLI_TYPE_APPROVE] = "policy",  [CLI_TYPE_COMMANDS] = "object",
    };
    for (size_t i = 0; entry->engine && hermes_option_at(i); i++) {
        const struct hermes_option *option = hermes_option_at(i);
        if (strcmp(option->name, entry->key) != 0)
            continue;
        if (strcmp(option->unit, "s") == 0)
            return "seconds";
        if (strcmp(option->unit, "bytes") == 0)
            return "bytes";
        return strcmp(option->type, "string") == 0 ? "text" : option->type;
    }
    return names[entry->type];
}

/* The flag is the name with dashes; where it is not, the help says so. */
static void add_flag(struct strbuf *out, const struct cli_entry *entry)
{
    bool same = entry->name && strlen(entry->name) == strlen(entry->key);
    for (size_t i = 0; same && entry->key[i]; i++)
        same = entry->name[i] == (entry->key[i] == '_' ? '-' : entry->key[i]);
    if (!entry->name)
        strbuf_adds(out, " [in the file only]");
    else if (!same)
        strbuf_addf(out, " [--%s]", entry->name);
}

struct option_row {
    const char *cells[OPTION_COLUMNS];
    char *value; /* the engine's own text of it, or NULL */
};

static const char *or_dash(const char *text)
{
    return text && text[0] ? text : "-";
}

static struct option_row option_row(const struct settings *settings, const struct setting *setting)
{
    static const char *const sources[] = {
        [SOURCE_DEFAULT] = "default",
        [SOURCE_FILE] = "file",
        [SOURCE_ENVIRONMENT] = "environment",
        [SOURCE_FLAG] = "command line",
    };
    const struct cli_entry *entry = setting->entry;
    struct option_row row = {.value = NULL};
    if (entry->engine && settings->engine)
        hermes_get_option(settings->engine, entry->key, &row.value);
    row.cells[0] = entry->key;
    row.cells[1] = type_name(entry);
    row.cells[2] = or_dash(strcmp(entry->range, "off|seconds") == 0 ? "off|S" : entry->range);
    row.cells[3] = or_dash(entry->default_value);
    row.cells[4] = or_dash(row.value ? row.value : setting->value);
    row.cells[5] = sources[setting->source];
    return row;
}

static void add_option_row(struct strbuf *out, const char *const *cells, const size_t *widths)
{
    size_t start = out->size, column = 0;
    for (size_t i = 0; i < OPTION_COLUMNS; i++) {
        strbuf_adds(out, cells[i]);
        column += widths[i] + 2;
        strbuf_adds(out, "  ");
        add_padding(out, start, column);
    }
}

void cli_list_options(struct strbuf *out, struct settings *settings)
{
    static const char *const titles[OPTION_COLUMNS] = {"NAME",    "TYPE",  "RANGE",
                                                       "DEFAULT", "VALUE", "SOURCE"};
    size_t widths[OPTION_COLUMNS];
    for (size_t column = 0; column < OPTION_COLUMNS; column++) {
        widths[column] = strlen(titles[column]);
        for (size_t i = 0; i < settings->count; i++) {
            if (!settings->items[i].entry->key)
                continue;
            struct option_row row = option_row(settings, &settings->items[i]);
            size_t width = strlen(row.cells[column]);
            if (width > widths[column])
                widths[column] = width < OPTION_WIDTH_MAX ? width : OPTION_WIDTH_MAX;
            hermes_free(row.value);
        }
    }
    add_option_row(out, titles, widths);
    strbuf_adds(out, "MEANING\n");
    for (size_t i = 0; i < settings->count; i++) {
        const struct cli_entry *entry = settings->items[i].entry;
        if (!entry->key)
            continue;
        struct option_row row = option_row(settings, &settings->items[i]);
        add_option_row(out, row.cells, widths);
        strbuf_adds(out, entry->help);
        add_flag(out, entry);
        strbuf_addc(out, '\n');
        hermes_free(row.value);
    }
}
