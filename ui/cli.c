/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "nearest.h"
#include "xalloc.h"

struct parser {
    struct cli *cli;
    struct settings *settings;
    char *const *argv;
    int argc, at;
    struct strbuf *error;
};

static void add_word(struct parser *parser, struct setting *setting, const char *spelling,
                     const char *value)
{
    struct cli *cli = parser->cli;
    cli->words = xgrow(cli->words, cli->count, &cli->capacity, sizeof(*cli->words));
    cli->words[cli->count++] = (struct cli_word){setting, xstrdup(spelling), xstrdup(value)};
}

static void add_rest(struct cli *cli, const char *word)
{
    cli->rest = xgrow(cli->rest, cli->rest_count + 1, &cli->rest_capacity, sizeof(*cli->rest));
    cli->rest[cli->rest_count++] = word;
    cli->rest[cli->rest_count] = NULL;
}

/* The next word, whatever it looks like, as an argument; NULL: there is none. */
static const char *next_argument(struct parser *parser, const char *spelling)
{
    if (parser->at + 1 >= parser->argc) {
        strbuf_setf(parser->error, "%s needs an argument", spelling);
        return NULL;
    }
    return parser->argv[++parser->at];
}

static bool unknown(struct parser *parser, const char *word)
{
    size_t length = strcspn(word, "=");
    char *name = xmemdup0(word + 2, length > 2 ? length - 2 : 0);
    struct nearest nearest = {name, NULL, 0};
    for (size_t i = 0; word[1] == '-' && i < parser->settings->count; i++) {
        if (parser->settings->items[i].entry->name)
            nearest_offer(&nearest, parser->settings->items[i].entry->name);
    }
    if (nearest.best)
        strbuf_setf(parser->error,
                    "unknown option %s; did you mean --%s? (words for the script go after --)",
                    word, nearest.best);
    else
        strbuf_setf(parser->error,
                    "unknown option %s (words for the script go after --; see --help)", word);
    free(name);
    return false;
}

/* --no-NAME for a flag. */
static struct setting *negated(struct parser *parser, const char *name, size_t size)
{
    if (size < 4 || strncmp(name, "no-", 3) != 0)
        return NULL;
    struct setting *setting = settings_by_name(parser->settings, name + 3, size - 3);
    return setting && setting->entry->type == CLI_TYPE_FLAG && setting->entry->key ? setting : NULL;
}

static bool take_flag(struct parser *parser, struct setting *setting, const char *spelling,
                      const char *value)
{
    if (value && setting->entry->id == CLI_BATCH) {
        add_word(parser, setting, spelling, "on");
        add_rest(parser->cli, value);
        return true;
    }
    if (value && !setting->entry->key) {
        strbuf_setf(parser->error, "%s takes no value", spelling);
        return false;
    }
    add_word(parser, setting, spelling, value ? value : "on");
    return true;
}

static bool take_long(struct parser *parser, const char *word)
{
    size_t size = strcspn(word + 2, "=");
    const char *value = word[2 + size] ? word + 3 + size : NULL;
    char *spelling = xmemdup0(word, size + 2);
    struct setting *setting = settings_by_name(parser->settings, word + 2, size);
    bool good = true;
    if (!setting) {
        setting = value ? NULL : negated(parser, word + 2, size);
        if (setting)
            add_word(parser, setting, spelling, "off");
        else
            good = unknown(parser, word);
    } else if (setting->entry->type == CLI_TYPE_FLAG) {
        good = take_flag(parser, setting, spelling, value);
    } else if (setting->entry->type == CLI_TYPE_OPTIONAL) {
        bool all = !value && parser->at + 1 < parser->argc &&
                   strcmp(parser->argv[parser->at + 1], "all") == 0;
        parser->at += all;
        add_word(parser, setting, spelling, value ? value : all ? "all" : "on");
    } else {
        if (!value)
            value = next_argument(parser, spelling);
        good = value != NULL;
        if (good)
            add_word(parser, setting, spelling, value);
    }
    free(spelling);
    return good;
}

/* -q, -p NAME=VALUE, -pNAME=VALUE, -qc CODE. */
static bool take_short(struct parser *parser, const char *word)
{
    for (const char *letter = word + 1; *letter; letter++) {
        struct setting *setting = settings_by_letter(parser->settings, *letter);
        char spelling[3] = {'-', *letter, '\0'};
        if (!setting)
            return unknown(parser, word);
        if (setting->entry->type == CLI_TYPE_FLAG || setting->entry->type == CLI_TYPE_OPTIONAL) {
            add_word(parser, setting, spelling, "on");
            continue;
        }
        const char *value = letter[1] ? letter + 1 : next_argument(parser, spelling);
        if (value)
            add_word(parser, setting, spelling, value);
        return value != NULL;
    }
    return true;
}

bool cli_parse(struct cli *cli, struct settings *settings, int argc, char *const *argv,
               struct strbuf *error)
{
    struct parser parser = {cli, settings, argv, argc, 1, error};
    bool ours = true;
    for (; parser.at < argc; parser.at++) {
        const char *word = argv[parser.at];
        bool good = true;
        if (ours && strcmp(word, "--") == 0)
            ours = false;
        else if (ours && strncmp(word, "--", 2) == 0)
            good = take_long(&parser, word);
        else if (ours && word[0] == '-' && word[1])
            good = take_short(&parser, word);
        else
            add_rest(cli, word);
        if (!good)
            return false;
    }
    return true;
}

bool cli_apply(const struct cli *cli, struct settings *settings, struct strbuf *error)
{
    for (size_t i = 0; i < cli->count; i++) {
        const struct cli_word *word = &cli->words[i];
        if (!settings_set(settings, word->setting, word->value, SOURCE_FLAG, error)) {
            char *fault = strbuf_steal(error);
            strbuf_setf(error, "%s: %s", word->spelling, fault);
            free(fault);
            return false;
        }
    }
    return true;
}

const char *cli_value(const struct cli *cli, enum cli_id id)
{
    for (size_t i = cli->count; i-- > 0;) {
        if (cli->words[i].setting->entry->id == id)
            return cli->words[i].value;
    }
    return NULL;
}

void cli_free(struct cli *cli)
{
    for (size_t i = 0; i < cli->count; i++) {
        free(cli->words[i].spelling);
        free(cli->words[i].value);
    }
    free(cli->words);
    free(cli->rest);
    *cli = (struct cli){.words = NULL};
}
