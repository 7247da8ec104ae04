/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Settings from the configuration file and the environment.
 */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "approval.h"
#include "json-scan.h"
#include "nearest.h"
#include "settings.h"
#include "source-text.h"
#include "xalloc.h"

#define PREFIX "HERMES_REPL_"

static struct setting *by_key(struct settings *settings, const char *key)
{
    for (size_t i = 0; i < settings->count; i++) {
        const char *known = settings->items[i].entry->key;
        if (known && strcmp(known, key) == 0)
            return &settings->items[i];
    }
    return NULL;
}

static const char *nearest_key(struct settings *settings, const char *key)
{
    struct nearest nearest = {key, NULL, 0};
    for (size_t i = 0; i < settings->count; i++) {
        if (settings->items[i].entry->key)
            nearest_offer(&nearest, settings->items[i].entry->key);
    }
    return nearest.best;
}

/*
 * ---- comments ---------------------------------------------------------------------------------
 */

/*
 * Blank what JSON does not have, so that lines and columns stay: // and block comments, commas
 * before a bracket.
 */
static void blank_comment(char *text, size_t size, size_t *at)
{
    if (text[*at + 1] == '/') {
        while (*at < size && text[*at] != '\n')
            text[(*at)++] = ' ';
        return;
    }
    size_t end = *at + 2;
    while (end < size && !(text[end] == '*' && end + 1 < size && text[end + 1] == '/'))
        end++;
    end = end < size ? end + 2 : size;
    for (; *at < end; ++*at)
        text[*at] = text[*at] == '\n' ? '\n' : ' ';
}

static size_t skip_string(const char *text, size_t size, size_t at)
{
    for (at++; at < size && text[at] != '"'; at++)
        at += text[at] == '\\';
    return at < size ? at + 1 : size;
}

static void blank_extras(char *text, size_t size)
{
    size_t comma = size;
    for (size_t at = 0; at < size;) {
        char c = text[at];
        if (c == '"') {
            at = skip_string(text, size, at);
            comma = size;
        } else if (c == '/' && at + 1 < size && (text[at + 1] == '/' || text[at + 1] == '*')) {
            blank_comment(text, size, &at);
        } else {
            if ((c == '}' || c == ']') && comma < size)
                text[comma] = ' ';
            if (!isspace((unsigned char)c))
                comma = c == ',' ? at : size;
            at++;
        }
    }
}

/*
 * ---- the file ---------------------------------------------------------------------------------
 */

/* A JSON value as the text of an option; false for what no option takes. */
static bool text_of(struct json_span value, struct strbuf *text)
{
    struct json_span item;
    switch (json_kind_of(value)) {
    case JSON_STRING:
        json_decode(value, text);
        return true;
    case JSON_NUMBER:
        strbuf_add(text, value.start, value.size);
        return true;
    case JSON_TRUE:
        strbuf_adds(text, "on");
        return true;
    case JSON_FALSE:
        strbuf_adds(text, "off");
        return true;
    case JSON_ARRAY:
        for (size_t position = 0; json_next_element(value, &position, &item);) {
            if (json_kind_of(item) != JSON_STRING)
                return false;
            strbuf_adds(text, text->size ? "," : "");
            json_decode(item, text);
        }
        return true;
    case JSON_NONE:
    case JSON_NULL:
    case JSON_OBJECT:
        break;
    }
    return false;
}

/*
 * {"terminal": "allow"} as one policy. What is wrong is left out: then the default, which is to
 * ask, holds.
 */
static void load_policy(struct settings *settings, const char *name, struct json_span object,
                        struct strbuf *policy)
{
    struct json_span key, value;
    for (size_t position = 0; json_next_member(object, &position, &key, &value);) {
        struct strbuf item = STRBUF_INIT, error = STRBUF_INIT;
        struct approval alone;
        approval_init(&alone, &settings->tools);
        json_decode(key, &item);
        strbuf_addc(&item, '=');
        if (json_kind_of(value) == JSON_STRING)
            json_decode(value, &item);
        if (strchr(strbuf_text(&item), ','))
            strbuf_setf(&error, "\"%s\" is no name of a tool with ask, allow or deny",
                        strbuf_text(&item));
        if (!error.size && approval_set(&alone, strbuf_text(&item), &error))
            strbuf_addf(policy, "%s%s", policy->size ? "," : "", strbuf_text(&item));
        else
            strbuf_addf(&settings->warnings, "%s: approve: %s\n", name, strbuf_text(&error));
        approval_free(&alone);
        strbuf_free(&item);
        strbuf_free(&error);
    }
}

/* The commands themselves; the setting's value is their names. */
static void load_commands(struct settings *settings, struct setting *setting, const char *name,
                          struct json_span value)
{
    struct strbuf lines = STRBUF_INIT, names = STRBUF_INIT;
    tool_settings_load(&settings->tools, value, &lines);
    for (const char *line = strbuf_text(&lines); *line;) {
        size_t size = strcspn(line, "\n");
        strbuf_addf(&settings->warnings, "%s: %.*s\n", name, (int)size, line);
        line += size + (line[size] == '\n');
    }
    for (size_t i = 0; i < settings->tools.count; i++)
        strbuf_addf(&names, "%s%s", i ? "," : "", settings->tools.commands[i].name);
    if (settings->tools.count) {
        free(setting->value);
        setting->value = strbuf_steal(&names);
        setting->source = SOURCE_FILE;
    }
    strbuf_free(&names);
    strbuf_free(&lines);
}

/* As the text of an option; false for what the option does not take. */
static bool take_value(struct settings *settings, const struct setting *setting, const char *name,
                       struct json_span value, struct strbuf *text)
{
    if (setting->entry->type != CLI_TYPE_APPROVE || json_kind_of(value) != JSON_OBJECT)
        return text_of(value, text);
    load_policy(settings, name, value, text);
    return true;
}

static void load_member(struct settings *settings, const char *name, const char *key,
                        struct json_span value)
{
    struct setting *setting = by_key(settings, key);
    struct strbuf text = STRBUF_INIT, error = STRBUF_INIT;
    if (!setting) {
        const char *nearest = nearest_key(settings, key);
        if (strcmp(key, "kernel_mode") != 0) /* of an older configuration, harmless */
            strbuf_addf(&settings->warnings,
                        nearest ? "%s: unknown option \"%s\"; the nearest is \"%s\"\n"
                                : "%s: unknown option \"%s\" is ignored\n",
                        name, key, nearest);
    } else if (json_kind_of(value) == JSON_NULL) {
        return;
    } else if (setting->entry->type == CLI_TYPE_COMMANDS) {
        load_commands(settings, setting, name, value);
    } else if (!take_value(settings, setting, name, value, &text)) {
        strbuf_addf(&settings->warnings, "%s: %s: this kind of value is not taken\n", name, key);
    } else if (!settings_set(settings, setting, strbuf_text(&text), SOURCE_FILE, &error)) {
        strbuf_addf(&settings->warnings, "%s: %s: %s\n", name, key, strbuf_text(&error));
    }
    strbuf_free(&text);
    strbuf_free(&error);
}

/* "FILE:LINE", as compilers and the key file have it. */
static char *place_of(const char *name, const char *text, const char *at)
{
    size_t line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return xasprintf("%s:%zu", name, line);
}

/* Either the commands that are tools or all the rest. */
static void load_members(struct settings *settings, const char *name, const char *text,
                         struct json_span object, bool commands)
{
    struct json_span key, value;
    for (size_t position = 0; json_next_member(object, &position, &key, &value);) {
        struct strbuf word = STRBUF_INIT;
        json_decode(key, &word);
        if (commands == (strcmp(strbuf_text(&word), TOOL_SETTINGS_KEY) == 0)) {
            char *place = place_of(name, text, key.start);
            load_member(settings, place, strbuf_text(&word), value);
            free(place);
        }
        strbuf_free(&word);
    }
}

bool settings_load_json(struct settings *settings, const char *name, const char *text, size_t size,
                        struct strbuf *error)
{
    char *copy = xmemdup0(text, size);
    struct json_span top;
    blank_extras(copy, size);
    bool good = json_check(copy, size, &top, error);
    if (good && json_kind_of(top) != JSON_OBJECT) {
        strbuf_setf(error, "not a JSON object");
        good = false;
    }
    if (!good) {
        char *fault = strbuf_steal(error);
        strbuf_setf(error, "%s: %s", name, fault);
        free(fault);
    }
    if (good) {
        load_members(settings, name, copy, top, true); /* first, since others name them */
        load_members(settings, name, copy, top, false);
    }
    free(copy);
    return good;
}

bool settings_load_file(struct settings *settings, const char *path, struct strbuf *error)
{
    struct strbuf text = STRBUF_INIT;
    bool good = source_read_file(path, &text, error) &&
                settings_load_json(settings, path, strbuf_text(&text), text.size, error);
    strbuf_free(&text);
    return good;
}

char *settings_default_path(void)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (base && base[0] == '/')
        return xasprintf("%s/hermes-repl/config.json", base);
    return home && home[0] ? xasprintf("%s/.config/hermes-repl/config.json", home) : NULL;
}

/*
 * ---- the environment --------------------------------------------------------------------------
 */

static void load_variable(struct settings *settings, const char *name, size_t size,
                          const char *value)
{
    char *key = xmemdup0(name, size);
    for (char *c = key; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    struct setting *setting = by_key(settings, key);
    struct strbuf error = STRBUF_INIT;
    if (setting && !settings_set(settings, setting, value, SOURCE_ENVIRONMENT, &error)) {
        strbuf_addf(&settings->warnings, "%s%.*s: %s\n", PREFIX, (int)size, name,
                    strbuf_text(&error));
    } else if (!setting) {
        /* Other programs may use the prefix: only what looks like a slip is worth a word. */
        const char *nearest = nearest_key(settings, key);
        if (nearest)
            strbuf_addf(&settings->warnings, "%s%.*s: no such option; the nearest is \"%s\"\n",
                        PREFIX, (int)size, name, nearest);
    }
    strbuf_free(&error);
    free(key);
}

void settings_load_environment(struct settings *settings, char *const *environment)
{
    size_t prefix = strlen(PREFIX);
    for (; *environment; environment++) {
        const char *equals = strchr(*environment, '=');
        if (equals && strncmp(*environment, PREFIX, prefix) == 0 &&
            strncmp(*environment, PREFIX "CONFIG=", prefix + 7) != 0)
            load_variable(settings, *environment + prefix, (size_t)(equals - *environment) - prefix,
                          equals + 1);
    }
}
