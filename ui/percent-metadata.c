/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "percent-metadata.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "json-scan.h"
#include "json-write.h"
#include "xalloc.h"

#define KEPT "hermes_repl" /* of a notebook's metadata: ours */
#define OPTIONS_MAX 16384  /* bytes of a marker; each blank may be the end of a value */

/* ---- reading -------------------------------------------------------------------------------- */

static bool is_key_char(unsigned char c)
{
    return isalnum(c) || c == '_' || c == '-' || c == '.';
}

static size_t skip_blanks(const char *text, size_t size, size_t at)
{
    while (at < size && (text[at] == ' ' || text[at] == '\t' || text[at] == ','))
        at++;
    return at;
}

/* Size of the JSON value that text begins with, up to a blank or the end; 0: there is none. */
static size_t value_size(const char *text, size_t size)
{
    struct strbuf error = STRBUF_INIT;
    size_t found = 0;
    for (size_t end = 1; end <= size && !found; end++) {
        bool ends = end == size || text[end] == ' ' || text[end] == '\t' || text[end] == ',';
        if (ends && json_check(text, end, NULL, &error))
            found = end;
        strbuf_clear(&error);
    }
    strbuf_free(&error);
    return found;
}

static void add_member(struct strbuf *out, const char *key, size_t key_size, const char *value,
                       size_t value_bytes)
{
    strbuf_adds(out, out->size ? ", " : "{");
    json_add_string(out, key, key_size);
    strbuf_adds(out, ": ");
    strbuf_add(out, value, value_bytes);
}

static void add_object(struct strbuf *out, const char *text, size_t size)
{
    struct json_span object, key, value;
    struct strbuf error = STRBUF_INIT;
    size_t position = 0;
    if (json_check(text, size, &object, &error)) {
        while (json_next_member(object, &position, &key, &value)) {
            struct strbuf name = STRBUF_INIT;
            json_decode(key, &name);
            add_member(out, strbuf_text(&name), name.size, value.start, value.size);
            strbuf_free(&name);
        }
    }
    strbuf_free(&error);
}

void percent_read_members(struct document_cell *cell, const char *text, size_t size)
{
    struct strbuf members = STRBUF_INIT;
    bool others = false;
    size = size <= OPTIONS_MAX ? size : 0;
    for (size_t at = skip_blanks(text, size, 0); at < size; at = skip_blanks(text, size, at)) {
        size_t key = at;
        while (at < size && is_key_char((unsigned char)text[at]))
            at++;
        bool pair = at > key && at < size && text[at] == '=';
        size_t value = at + pair;
        size_t length = pair || text[at] == '{' ? value_size(text + value, size - value) : 0;
        if (!length)
            break;
        if (pair)
            add_member(&members, text + key, at - key, text + value, length);
        else
            add_object(&members, text + value, length);
        others = others || !pair || at - key != 4 || memcmp(text + key, "tags", 4) != 0;
        at = value + length;
    }
    if (others && members.size) {
        if (cell->title) {
            strbuf_adds(&members, ", \"title\": ");
            json_add_text(&members, cell->title);
        }
        strbuf_addc(&members, '}');
        free(cell->metadata);
        cell->metadata = strbuf_steal(&members);
    }
    strbuf_free(&members);
}

/* ---- writing -------------------------------------------------------------------------------- */

/* On one line. */
static void add_compact(struct strbuf *out, struct json_span value)
{
    bool in_string = false;
    for (const char *c = value.start, *end = value.start + value.size; c < end; c++) {
        if (in_string && *c == '\\') {
            strbuf_add(out, c, 2);
            c++;
            continue;
        }
        if (*c == '"')
            in_string = !in_string;
        if (in_string || !isspace((unsigned char)*c))
            strbuf_addc(out, *c);
        if (!in_string && (*c == ',' || *c == ':'))
            strbuf_addc(out, ' ');
    }
}

/* What is about the look of a notebook, or its last run, says nothing in a script. */
static bool is_left_out(const char *key, bool has_title)
{
    static const char *const keys[] = {"tags",     "title",   "autoscroll",  "collapsed",
                                       "scrolled", "trusted", "ExecuteTime", "execution"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcmp(key, keys[i]) == 0)
            return true;
    }
    return !has_title && strcmp(key, "name") == 0; /* it became the title */
}

static bool is_plain_key(const char *key)
{
    for (const char *c = key; *c; c++) {
        if (!is_key_char((unsigned char)*c))
            return false;
    }
    return key[0] != '\0';
}

void percent_add_members(struct strbuf *out, const struct document_cell *cell)
{
    struct json_span object, key, value;
    struct strbuf error = STRBUF_INIT, others = STRBUF_INIT;
    size_t position = 0;
    if (!cell->metadata || !json_check(cell->metadata, strlen(cell->metadata), &object, &error)) {
        strbuf_free(&error);
        return;
    }
    bool has_title = json_get(object, "title", &value);
    while (json_next_member(object, &position, &key, &value)) {
        struct strbuf name = STRBUF_INIT;
        json_decode(key, &name);
        const char *text = strbuf_text(&name);
        if (is_left_out(text, has_title)) {
            strbuf_free(&name);
            continue;
        }
        if (is_plain_key(text)) {
            strbuf_addf(out, " %s=", text);
            add_compact(out, value);
        } else {
            strbuf_adds(&others, others.size ? ", " : " {");
            json_add_string(&others, text, name.size);
            strbuf_adds(&others, ": ");
            add_compact(&others, value);
        }
        strbuf_free(&name);
    }
    if (others.size)
        strbuf_addf(out, "%s}", strbuf_text(&others));
    strbuf_free(&others);
}

/* ---- the header ----------------------------------------------------------------------------- */

bool percent_is_header(const struct document_cell *cell)
{
    static const char *const parts[] = {"# ---", "# jupyter:", "# ---"};
    size_t found = 0;
    if (cell->marker || cell->kind != CELL_CODE)
        return false;
    for (size_t at = 0; at < cell->size;) {
        const char *line = cell->source + at, *end = memchr(line, '\n', cell->size - at);
        size_t size = end ? (size_t)(end - line) : cell->size - at;
        at += size + 1;
        while (size && isspace((unsigned char)line[size - 1]))
            size--;
        if (size && line[0] != '#')
            return false;
        if (found < 3 && strlen(parts[found]) == size && memcmp(line, parts[found], size) == 0)
            found++;
    }
    return found == 3;
}

bool percent_add_header(struct strbuf *out, const struct document *document)
{
    struct json_span whole, part, header;
    struct strbuf error = STRBUF_INIT;
    const char *metadata = document->metadata;
    bool good = metadata && json_check(metadata, strlen(metadata), &whole, &error) &&
                json_get(whole, KEPT, &part) && json_get(part, "header", &header) &&
                json_kind_of(header) == JSON_STRING;
    if (good)
        json_decode(header, out);
    strbuf_free(&error);
    return good;
}

void percent_keep_header(struct strbuf *out, const struct document_cell *cell)
{
    size_t size = cell->size;
    while (size && isspace((unsigned char)cell->source[size - 1]))
        size--;
    strbuf_adds(out, "\"" KEPT "\": {\"header\": ");
    json_add_string(out, cell->source, size);
    strbuf_addc(out, '}');
}
