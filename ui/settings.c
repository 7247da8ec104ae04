/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "approval.h"
#include "nearest.h"
#include "tool-list.h"
#include "xalloc.h"

static const char *engine_default(const struct hermes_option *option)
{
    for (size_t i = 0; cli_engine_defaults[i][0]; i++) {
        if (strcmp(cli_engine_defaults[i][0], option->name) == 0)
            return cli_engine_defaults[i][1];
    }
    return option->default_value;
}

static bool has_row(const char *key)
{
    for (size_t i = 0; i < cli_table_count; i++) {
        if (cli_table[i].engine && strcmp(cli_table[i].key, key) == 0)
            return true;
    }
    return false;
}

static char *with_dashes(const char *key)
{
    char *name = xstrdup(key);
    for (char *c = name; *c; c++)
        *c = *c == '_' ? '-' : *c;
    return name;
}

static const char *argument_name(const struct hermes_option *option)
{
    if (strcmp(option->type, "flag") == 0)
        return "on|off";
    if (strcmp(option->unit, "s") == 0)
        return "S";
    return strcmp(option->type, "string") == 0 ? "TEXT" : "N";
}

static void add_engine_rows(struct settings *settings)
{
    size_t total = 0;
    while (hermes_option_at(total))
        total++;
    settings->engine_entries = xcalloc(total, sizeof(*settings->engine_entries));
    settings->engine_names = xcalloc(total, sizeof(*settings->engine_names));
    for (size_t i = 0; i < total; i++) {
        const struct hermes_option *option = hermes_option_at(i);
        if (has_row(option->name))
            continue;
        settings->engine_names[settings->engine_count] = with_dashes(option->name);
        settings->engine_entries[settings->engine_count] =
            (struct cli_entry){.id = CLI_ENGINE,
                               .name = settings->engine_names[settings->engine_count],
                               .key = option->name,
                               .type = CLI_TYPE_TEXT,
                               .argument = argument_name(option),
                               .range = option->range,
                               .default_value = engine_default(option),
                               .help = option->help,
                               .group = CLI_GROUP_ENGINE,
                               .engine = true};
        settings->engine_count++;
    }
}

void settings_init(struct settings *settings, struct hermes_engine *engine)
{
    *settings = (struct settings){.engine = engine};
    tool_settings_init(&settings->tools);
    add_engine_rows(settings);
    settings->count = cli_table_count + settings->engine_count;
    settings->items = xcalloc(settings->count, sizeof(*settings->items));
    for (size_t i = 0; i < settings->count; i++) {
        const struct cli_entry *entry =
            i < cli_table_count ? &cli_table[i] : &settings->engine_entries[i - cli_table_count];
        settings->items[i] =
            (struct setting){.entry = entry, .value = xstrdup(entry->default_value)};
    }
    for (size_t i = 0; engine && cli_engine_defaults[i][0]; i++)
        hermes_set_option(engine, cli_engine_defaults[i][0], cli_engine_defaults[i][1], NULL);
}

void settings_free(struct settings *settings)
{
    for (size_t i = 0; i < settings->count; i++)
        free(settings->items[i].value);
    for (size_t i = 0; i < settings->engine_count; i++)
        free(settings->engine_names[i]);
    free(settings->items);
    free(settings->engine_entries);
    free(settings->engine_names);
    strbuf_free(&settings->warnings);
    tool_settings_free(&settings->tools);
    *settings = (struct settings){.engine = NULL};
}

struct setting *settings_by_name(struct settings *settings, const char *name, size_t size)
{
    for (size_t i = 0; i < settings->count; i++) {
        const char *known = settings->items[i].entry->name;
        if (known && strlen(known) == size && memcmp(known, name, size) == 0)
            return &settings->items[i];
    }
    return NULL;
}

struct setting *settings_by_letter(struct settings *settings, char letter)
{
    for (size_t i = 0; i < settings->count; i++) {
        if (letter && settings->items[i].entry->letter == letter)
            return &settings->items[i];
    }
    return NULL;
}

struct setting *settings_by_id(struct settings *settings, enum cli_id id)
{
    for (size_t i = 0; i < settings->count; i++) {
        if (settings->items[i].entry->id == id)
            return &settings->items[i];
    }
    abort();
}

/* ---- values --------------------------------------------------------------------------------- */

static bool is_one_of(const char *value, const char *choices)
{
    size_t size = strlen(value);
    for (const char *at = choices; size && at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        size_t length = strcspn(at, "|");
        if (length == size && memcmp(at, value, size) == 0)
            return true;
    }
    return false;
}

/* "'explode' is not one of stop|continue", and which is meant if that can be guessed. */
static void refuse_choice(const char *value, const char *choices, struct strbuf *error)
{
    struct nearest nearest = {value, NULL, 0};
    char *copy = xstrdup(choices), *rest = NULL;
    for (char *word = strtok_r(copy, "|", &rest); word; word = strtok_r(NULL, "|", &rest))
        nearest_offer(&nearest, word);
    strbuf_setf(error, nearest.best ? "'%s' is not one of %s; did you mean %s?"
                                    : "'%s' is not one of %s",
                value, choices, nearest.best);
    free(copy);
}

static const char *flag_value(const char *value)
{
    if (is_one_of(value, "on|true|yes|1"))
        return "on";
    return is_one_of(value, "off|false|no|0") ? "off" : NULL;
}

/* -1 off, -2 nonsense. */
static int64_t parse_ms(const char *value)
{
    if (is_one_of(value, "off|none|0"))
        return -1;
    if (!*value || strspn(value, "0123456789.eE+-") != strlen(value) || value[0] == '-')
        return -2;
    char *end;
    double seconds = strtod(value, &end);
    if (*end || end == value || !(seconds >= 0) || seconds > 1e9)
        return -2;
    return seconds == 0 ? -1 : seconds < 0.001 ? 1 : (int64_t)(seconds * 1000 + 0.5);
}

static bool judge_tools(const struct settings *settings, const char *value, struct strbuf *error)
{
    const char **names = tool_list_parse(&settings->tools, value, error);
    free(names);
    return names != NULL;
}

static bool judge(const struct settings *settings, const struct cli_entry *entry,
                  const char **value, struct strbuf *error)
{
    switch (entry->type) {
    case CLI_TYPE_FLAG:
        if (!flag_value(*value)) {
            strbuf_setf(error, "'%s' is neither on nor off", *value);
            return false;
        }
        *value = flag_value(*value);
        return true;
    case CLI_TYPE_CHOICE:
        if (is_one_of(*value, entry->range))
            return true;
        refuse_choice(*value, entry->range, error);
        return false;
    case CLI_TYPE_SECONDS:
        if (parse_ms(*value) > -2) {
            if (parse_ms(*value) == -1)
                *value = "off";
            return true;
        }
        strbuf_setf(error, "'%s' is no number of seconds", *value);
        return false;
    case CLI_TYPE_TOOLS:
        return judge_tools(settings, *value, error);
    case CLI_TYPE_COMMANDS:
        strbuf_setf(error, "only the configuration file can have it");
        return false;
    case CLI_TYPE_TEXT:
    case CLI_TYPE_LIST:
    case CLI_TYPE_OPTIONAL:
    case CLI_TYPE_APPROVE:
        break;
    }
    return true;
}

/*
 * The engine's own judgement. With fall_back, a value that it corrected is kept and only remarked
 * on.
 */
static bool tell_engine(struct settings *settings, struct setting *setting, const char *value,
                        bool fall_back, struct strbuf *error)
{
    struct hermes_error why = {0, 0, ""};
    int status = hermes_set_option(settings->engine, setting->entry->key, value, &why);
    if (status == HERMES_OK)
        return true;
    strbuf_setf(error, "%s", why.text[0] ? why.text : hermes_status_text(status));
    if (!fall_back && setting->value[0])
        hermes_set_option(settings->engine, setting->entry->key, setting->value, NULL);
    return false;
}

/* Over what was set before, so that a policy for one tool leaves those for others as they are. */
static bool add_policy(struct settings *settings, struct setting *setting, const char *value,
                       enum setting_source source, struct strbuf *error)
{
    struct approval approval;
    struct strbuf policy = STRBUF_INIT;
    approval_init(&approval, &settings->tools);
    approval_set(&approval, setting->value, &policy);
    strbuf_clear(&policy);
    bool good = approval_set(&approval, value, error);
    if (good) {
        approval_describe(&approval, &policy);
        free(setting->value);
        setting->value = xstrdup(strbuf_text(&policy));
        setting->source = source;
    }
    strbuf_free(&policy);
    approval_free(&approval);
    return good;
}

bool settings_set(struct settings *settings, struct setting *setting, const char *value,
                  enum setting_source source, struct strbuf *error)
{
    if (!judge(settings, setting->entry, &value, error))
        return false;
    if (setting->entry->type == CLI_TYPE_APPROVE)
        return add_policy(settings, setting, value, source, error);
    if (setting->entry->engine && settings->engine &&
        !tell_engine(settings, setting, value, source != SOURCE_FLAG, error))
        return false;
    if (setting->entry->type == CLI_TYPE_LIST && setting->source == SOURCE_FLAG) {
        char *both = xasprintf("%s\n%s", setting->value, value);
        free(setting->value);
        setting->value = both;
    } else {
        char *copy = xstrdup(value);
        free(setting->value);
        setting->value = copy;
    }
    setting->source = source;
    return true;
}

const char *settings_text(struct settings *settings, enum cli_id id)
{
    return settings_by_id(settings, id)->value;
}

bool settings_flag(struct settings *settings, enum cli_id id)
{
    return strcmp(settings_text(settings, id), "on") == 0;
}

int64_t settings_ms(struct settings *settings, enum cli_id id)
{
    int64_t ms = parse_ms(settings_text(settings, id));
    return ms < 0 ? -1 : ms;
}
