/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keys and what they stand for. A list: there are a hundred, and a person presses them.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command-internal.h"
#include "key.h"
#include "nearest.h"
#include "source-text.h"

struct binding {
    enum keymap_table table;
    char *keys, *line;
};

struct keymap {
    struct binding *items;
    size_t count, capacity;
};

/* ---- the list ------------------------------------------------------------------------------- */

static void unbind(struct keymap *keymap, enum keymap_table table, const char *keys)
{
    size_t kept = 0;
    for (size_t i = 0; i < keymap->count; i++) {
        struct binding binding = keymap->items[i];
        if (binding.table == table && strcmp(binding.keys, keys) == 0) {
            free(binding.keys);
            free(binding.line);
        } else {
            keymap->items[kept++] = binding;
        }
    }
    keymap->count = kept;
}

/* One key cannot be whole and the beginning of others: the newer wins. */
static void unbind_clashes(struct keymap *keymap, enum keymap_table table, const char *keys)
{
    size_t kept = 0, size = strlen(keys);
    for (size_t i = 0; i < keymap->count; i++) {
        struct binding binding = keymap->items[i];
        /* What was freed is not counted any more. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        size_t length = strlen(binding.keys);
        bool longer =
            length > size && strncmp(binding.keys, keys, size) == 0 && binding.keys[size] == ' ';
        bool shorter =
            length < size && strncmp(binding.keys, keys, length) == 0 && keys[length] == ' ';
        if (binding.table == table && (longer || shorter)) {
            free(binding.keys);
            free(binding.line);
        } else {
            keymap->items[kept++] = binding;
        }
    }
    keymap->count = kept;
}

static void bind(struct keymap *keymap, enum keymap_table table, const char *keys, const char *line)
{
    unbind(keymap, table, keys);
    unbind_clashes(keymap, table, keys);
    keymap->items = xgrow(keymap->items, keymap->count, &keymap->capacity, sizeof(*keymap->items));
    keymap->items[keymap->count++] = (struct binding){table, xstrdup(keys), xstrdup(line)};
}

/* "C-x r, F2": each of them. A comma that is a key stands alone behind a prefix. */
static void bind_defaults(struct keymap *keymap, enum keymap_table table, const char *keys,
                          const char *line)
{
    while (keys && *keys) {
        const char *end = strstr(keys, ", ");
        char *one = end ? xstrndup(keys, (size_t)(end - keys)) : xstrdup(keys);
        bind(keymap, table, one, line);
        free(one);
        keys = end ? end + 2 : NULL;
    }
}

struct keymap *keymap_new(void)
{
    struct keymap *keymap = xcalloc(1, sizeof(*keymap));
    for (size_t i = 0; i < command_count; i++) {
        bind_defaults(keymap, KEYMAP_PROMPT, command_table[i].keys, command_table[i].name);
        bind_defaults(keymap, KEYMAP_BROWSE, command_table[i].browse_keys, command_table[i].name);
    }
    for (size_t i = 0; i < command_binding_count; i++)
        bind(keymap, command_bindings[i].table, command_bindings[i].keys, command_bindings[i].line);
    return keymap;
}

void keymap_free(struct keymap *keymap)
{
    if (!keymap)
        return;
    for (size_t i = 0; i < keymap->count; i++) {
        free(keymap->items[i].keys);
        free(keymap->items[i].line);
    }
    free(keymap->items);
    free(keymap);
}

enum keymap_answer keymap_lookup(const struct keymap *keymap, enum keymap_table table,
                                 const char *keys, const char **ret_line)
{
    size_t size = strlen(keys);
    enum keymap_answer answer = KEYMAP_NONE;
    for (size_t i = 0; i < keymap->count; i++) {
        const struct binding *binding = &keymap->items[i];
        if (binding->table != table || strncmp(binding->keys, keys, size) != 0)
            continue;
        if (!binding->keys[size]) {
            *ret_line = binding->line;
            return KEYMAP_COMMAND;
        }
        if (binding->keys[size] == ' ')
            answer = KEYMAP_PREFIX;
    }
    return answer;
}

const char *keymap_keys_of(const struct keymap *keymap, enum keymap_table table,
                           const char *command)
{
    for (size_t i = 0; i < keymap->count; i++) {
        if (keymap->items[i].table == table && strcmp(keymap->items[i].line, command) == 0)
            return keymap->items[i].keys;
    }
    return NULL;
}

void keymap_list(const struct keymap *keymap, struct strbuf *out)
{
    static const char *const names[] = {[KEYMAP_PROMPT] = "prompt", [KEYMAP_BROWSE] = "browse",
                                        [KEYMAP_DOCUMENT] = "doc"};
    for (int table = 0; table < KEYMAP_TABLES; table++) {
        for (size_t i = 0; i < keymap->count; i++) {
            const struct binding *binding = &keymap->items[i];
            if ((int)binding->table != table)
                continue;
            struct strbuf ignored = STRBUF_INIT;
            const struct command *command =
                command_find(binding->line, strcspn(binding->line, " "), &ignored);
            strbuf_free(&ignored);
            strbuf_addf(out, "%-6s  %-10s  %-16s  %s\n", names[table], binding->keys, binding->line,
                        command ? command->help : "");
        }
    }
}

/* ---- the user's file ------------------------------------------------------------------------ */

struct line {
    struct keymap *keymap;
    const char *path;
    unsigned number;
    struct strbuf *warnings;
};

static void warn(const struct line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void warn(const struct line *line, const char *format, ...)
{
    va_list arguments;
    strbuf_addf(line->warnings, "%s:%u: ", line->path, line->number);
    va_start(arguments, format);
    strbuf_vaddf(line->warnings, format, arguments);
    va_end(arguments);
    strbuf_addc(line->warnings, '\n');
}

static const char *next_word(const char **text, size_t *ret_size)
{
    const char *word = *text + strspn(*text, " \t");
    *ret_size = strcspn(word, " \t");
    *text = word + *ret_size;
    return *ret_size ? word : NULL;
}

static bool is_word(const char *word, size_t size, const char *want)
{
    return strlen(want) == size && memcmp(word, want, size) == 0;
}

/* As many keys as there are. A word of one letter is a key, all commands are longer. */
static void take_keys(const char **text, struct strbuf *keys)
{
    for (;;) {
        char name[24];
        size_t size;
        const char *rest = *text, *word = next_word(&rest, &size);
        if (!word || !key_parse_name(word, size, name))
            return;
        strbuf_addf(keys, "%s%s", keys->size ? " " : "", name);
        *text = rest;
    }
}

static void take_bind(struct line *line, enum keymap_table table, const char *keys,
                      const char *text)
{
    struct strbuf error = STRBUF_INIT;
    size_t size;
    text += strspn(text, " \t:");
    const char *rest = text, *word = next_word(&rest, &size);
    if (!word)
        warn(line, "bind %s: no command; did you mean unbind?", keys);
    else if (!command_find(word, size, &error))
        warn(line, "%s", strbuf_text(&error));
    else
        bind(line->keymap, table, keys, text);
    strbuf_free(&error);
}

/* The first key that is none, with the nearest that is. */
static void warn_key(const struct line *line, const char *text)
{
    static const char *const names[] = {"Enter", "Tab",  "Space", "Esc",    "Backspace",
                                        "Up",    "Down", "Left",  "Right",  "Home",
                                        "End",   "PgUp", "PgDn",  "Delete", "Insert"};
    size_t size;
    const char *word = next_word(&text, &size);
    char *copy = xmemdup0(word ? word : "", size);
    struct nearest nearest = {copy, NULL, 0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        nearest_offer(&nearest, names[i]);
    if (!word)
        warn(line, "no key is named");
    else if (nearest.best)
        warn(line, "no key is called '%s'; did you mean %s?", copy, nearest.best);
    else
        warn(line, "no key is called '%s'; they are called C-x, M-f, F5, PgUp ...", copy);
    free(copy);
}

static void take_line(struct line *line, const char *text)
{
    size_t size;
    const char *word = next_word(&text, &size);
    enum keymap_table table = KEYMAP_PROMPT;
    struct strbuf keys = STRBUF_INIT;
    if (!word || word[0] == '#')
        return;
    bool binds = is_word(word, size, "bind");
    if (!binds && !is_word(word, size, "unbind")) {
        char *copy = xmemdup0(word, size);
        struct nearest nearest = {copy, NULL, 0};
        nearest_offer(&nearest, "bind");
        nearest_offer(&nearest, "unbind");
        warn(line, "'%s' is neither bind nor unbind%s%s%s", copy,
             nearest.best ? "; did you mean " : "", nearest.best ? nearest.best : "",
             nearest.best ? "?" : "");
        free(copy);
        return;
    }
    const char *rest = text;
    word = next_word(&rest, &size);
    if (word && (is_word(word, size, "browse") || is_word(word, size, "doc"))) {
        table = is_word(word, size, "doc") ? KEYMAP_DOCUMENT : KEYMAP_BROWSE;
        text = rest;
    }
    take_keys(&text, &keys);
    if (!keys.size)
        warn_key(line, text);
    else if (binds)
        take_bind(line, table, strbuf_text(&keys), text);
    else if (text[strspn(text, " \t")])
        warn_key(line, text);
    else
        unbind(line->keymap, table, strbuf_text(&keys));
    strbuf_free(&keys);
}

char *keymap_default_path(void)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config && config[0] == '/')
        return xasprintf("%s/hermes-repl/keys", config);
    return home && home[0] ? xasprintf("%s/.config/hermes-repl/keys", home) : NULL;
}

bool keymap_load(struct keymap *keymap, const char *path, struct strbuf *warnings)
{
    struct strbuf bytes = STRBUF_INIT, error = STRBUF_INIT;
    bool good = source_read_file(path, &bytes, &error);
    if (!good)
        strbuf_addf(warnings, "%s\n", strbuf_text(&error));
    struct line line = {keymap, path, 0, warnings};
    for (char *text = bytes.data, *next; good && text && *text; text = next) {
        size_t length = strcspn(text, "\r\n");
        next = text + length + strspn(text + length, "\r");
        if (*next == '\n')
            next++;
        while (length && strchr(" \t", text[length - 1]))
            length--;
        text[length] = '\0';
        char *comment = strstr(text, " #");
        if (comment && (comment[2] == ' ' || !comment[2]))
            *comment = '\0';
        line.number++;
        take_line(&line, text);
    }
    strbuf_free(&bytes);
    strbuf_free(&error);
    return good;
}
