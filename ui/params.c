/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "params.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "json-scan.h"
#include "utf8.h"
#include "xalloc.h"

static bool is_keyword(const char *name, size_t size)
{
    static const char words[] =
        " False None True and as assert async await break class continue def del elif else except"
        " finally for from global if import in is lambda nonlocal not or pass raise return try"
        " while with yield ";
    const char *at = words;
    while ((at = memmem(at, strlen(at), name, size))) {
        if (at[-1] == ' ' && at[size] == ' ')
            return true;
        at++;
    }
    return false;
}

static bool is_name(const char *name, size_t size)
{
    if (!size || isdigit((unsigned char)name[0]))
        return false;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)name[i];
        if (c != '_' && c < 0x80 && !isalnum(c))
            return false;
    }
    return utf8_check(name, size, NULL) && !is_keyword(name, size);
}

void params_add_literal(struct strbuf *buf, const char *data, size_t size)
{
    strbuf_addc(buf, '"');
    for (size_t at = 0; at < size;) {
        uint32_t code;
        size_t length = utf8_decode(data + at, size - at, &code);
        if (code == '"' || code == '\\')
            strbuf_addf(buf, "\\%c", (char)code);
        else if (code == '\n')
            strbuf_adds(buf, "\\n");
        else if (code == '\r')
            strbuf_adds(buf, "\\r");
        else if (code == '\t')
            strbuf_adds(buf, "\\t");
        else if (code < 0x20 || code == 0x7F)
            strbuf_addf(buf, "\\x%02x", (unsigned)code);
        else if (!length || code == UINT32_MAX)
            strbuf_adds(buf, "\\ufffd");
        else
            strbuf_add(buf, data + at, length);
        at += length ? length : size - at;
    }
    strbuf_addc(buf, '"');
}

/* Digits with single underscores between them, as int() takes them; appends them without. */
static size_t take_digits(const char *text, size_t size, struct strbuf *digits)
{
    size_t at = 0;
    while (at < size) {
        if (isdigit((unsigned char)text[at]))
            strbuf_addc(digits, text[at]);
        else if (text[at] != '_' || !at || text[at - 1] == '_' || at + 1 >= size ||
                 !isdigit((unsigned char)text[at + 1]))
            break;
        at++;
    }
    return at;
}

static bool read_integer(const char *text, size_t size, struct strbuf *value)
{
    size_t sign = size && (text[0] == '-' || text[0] == '+');
    struct strbuf digits = STRBUF_INIT;
    bool good = take_digits(text + sign, size - sign, &digits) == size - sign && digits.size;
    if (good) {
        const char *first = digits.data;
        while (first[0] == '0' && first[1])
            first++;
        strbuf_addf(value, "%s%s", sign && text[0] == '-' && strcmp(first, "0") != 0 ? "-" : "",
                    first);
    }
    strbuf_free(&digits);
    return good;
}

/* inf, nan and the like have no literal. */
static bool read_special(const char *text, size_t size, struct strbuf *value)
{
    static const char *const words[] = {"inf", "infinity", "nan"};
    size_t sign = size && (text[0] == '-' || text[0] == '+');
    for (size_t i = 0; i < 3; i++) {
        if (strlen(words[i]) == size - sign &&
            strncasecmp(text + sign, words[i], size - sign) == 0) {
            strbuf_addf(value, "float('%s%s')", text[0] == '-' ? "-" : "", i == 2 ? "nan" : "inf");
            return true;
        }
    }
    return false;
}

static bool read_number(const char *text, size_t size, struct strbuf *value)
{
    struct strbuf number = STRBUF_INIT;
    size_t at = size && (text[0] == '-' || text[0] == '+');
    if (at && text[0] == '-')
        strbuf_addc(&number, '-');
    size_t whole = take_digits(text + at, size - at, &number), fraction = 0;
    at += whole;
    if (at < size && text[at] == '.') {
        strbuf_addc(&number, '.');
        fraction = take_digits(text + at + 1, size - at - 1, &number);
        at += 1 + fraction;
    }
    bool good = whole || fraction;
    if (good && at < size && (text[at] == 'e' || text[at] == 'E')) {
        strbuf_addc(&number, 'e');
        at++;
        if (at < size && (text[at] == '-' || text[at] == '+'))
            strbuf_addc(&number, text[at++]);
        size_t exponent = take_digits(text + at, size - at, &number);
        good = exponent > 0;
        at += exponent;
    }
    good = good && at == size;
    if (good)
        strbuf_add(value, number.data, number.size);
    strbuf_free(&number);
    return good;
}

/* What papermill makes of a word on the command line. */
static char *value_of_text(const char *text)
{
    struct strbuf value = STRBUF_INIT;
    size_t size = strlen(text), start = 0, end = size;
    while (start < end && isspace((unsigned char)text[start]))
        start++;
    while (end > start && isspace((unsigned char)text[end - 1]))
        end--;
    if (strcmp(text, "True") == 0 || strcmp(text, "False") == 0 || strcmp(text, "None") == 0)
        strbuf_adds(&value, text);
    else if (!read_integer(text + start, end - start, &value) &&
             !read_special(text + start, end - start, &value) &&
             !read_number(text + start, end - start, &value))
        params_add_literal(&value, text, size);
    return strbuf_steal(&value);
}

/* A JSON value as a Python expression; numbers keep their digits. */
static void value_of_json(struct json_span json, struct strbuf *value)
{
    struct strbuf text = STRBUF_INIT;
    struct json_span key, item;
    size_t position = 0, count = 0;
    switch (json_kind_of(json)) {
    case JSON_OBJECT:
        strbuf_addc(value, '{');
        while (json_next_member(json, &position, &key, &item)) {
            strbuf_adds(value, count++ ? ", " : "");
            value_of_json(key, value);
            strbuf_adds(value, ": ");
            value_of_json(item, value);
        }
        strbuf_addc(value, '}');
        break;
    case JSON_ARRAY:
        strbuf_addc(value, '[');
        while (json_next_element(json, &position, &item)) {
            strbuf_adds(value, count++ ? ", " : "");
            value_of_json(item, value);
        }
        strbuf_addc(value, ']');
        break;
    case JSON_STRING:
        json_decode(json, &text);
        params_add_literal(value, strbuf_text(&text), text.size);
        strbuf_free(&text);
        break;
    case JSON_NUMBER:
        if (memchr("NI", json.start[json.start[0] == '-'], 2))
            strbuf_addf(value, "float('%s%s')", json.start[0] == '-' ? "-" : "",
                        json.start[0] == 'N' ? "nan" : "inf");
        else
            strbuf_add(value, json.start, json.size);
        break;
    case JSON_TRUE:
        strbuf_adds(value, "True");
        break;
    case JSON_FALSE:
        strbuf_adds(value, "False");
        break;
    case JSON_NONE:
    case JSON_NULL:
        strbuf_adds(value, "None");
    }
}

/* Takes value over. */
static bool add(struct params *params, const char *name, size_t name_size, char *value,
                struct strbuf *error)
{
    if (!is_name(name, name_size)) {
        strbuf_setf(error, "'%.*s' is not a Python name", (int)(name_size < 80 ? name_size : 80),
                    name);
        free(value);
        return false;
    }
    for (size_t i = 0; i < params->count; i++) {
        struct param *param = &params->items[i];
        if (strlen(param->name) == name_size && memcmp(param->name, name, name_size) == 0) {
            free(param->value);
            param->value = value;
            return true;
        }
    }
    params->items = xgrow(params->items, params->count, &params->capacity, sizeof(*params->items));
    params->items[params->count++] = (struct param){xmemdup0(name, name_size), value};
    return true;
}

bool params_add_text(struct params *params, const char *text, struct strbuf *error)
{
    const char *equals = strchr(text, '=');
    if (!equals) {
        strbuf_setf(error, "'%s' is not NAME=VALUE", text);
        return false;
    }
    return add(params, text, (size_t)(equals - text), value_of_text(equals + 1), error);
}

bool params_add_json(struct params *params, const char *text, size_t size, struct strbuf *error)
{
    struct json_span top, key, value;
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        size -= 3;
    }
    if (!json_check(text, size, &top, error)) {
        char *fault = strbuf_steal(error);
        strbuf_setf(error, "not a JSON object (YAML is not taken), %s", fault);
        free(fault);
        return false;
    }
    if (json_kind_of(top) != JSON_OBJECT) {
        strbuf_setf(error, "not a JSON object (YAML is not taken)");
        return false;
    }
    for (size_t position = 0; json_next_member(top, &position, &key, &value);) {
        struct strbuf name = STRBUF_INIT, expression = STRBUF_INIT;
        json_decode(key, &name);
        value_of_json(value, &expression);
        bool good = add(params, strbuf_text(&name), name.size, strbuf_steal(&expression), error);
        strbuf_free(&name);
        if (!good)
            return false;
    }
    return true;
}

void params_free(struct params *params)
{
    for (size_t i = 0; i < params->count; i++) {
        free(params->items[i].name);
        free(params->items[i].value);
    }
    free(params->items);
    *params = (struct params){NULL, 0, 0};
}

static char *source_of(const struct params *params, size_t *ret_size)
{
    struct strbuf source = STRBUF_INIT;
    strbuf_adds(&source, "# Parameters\n");
    for (size_t i = 0; i < params->count; i++)
        strbuf_addf(&source, "%s = %s\n", params->items[i].name, params->items[i].value);
    *ret_size = source.size;
    return strbuf_steal(&source);
}

static bool find_tagged(const struct document *document, const char *tag, size_t *ret_index)
{
    for (size_t i = 0; i < document->count; i++) {
        if (document->cells[i].kind == CELL_CODE &&
            document_cell_has_tag(&document->cells[i], tag)) {
            *ret_index = i;
            return true;
        }
    }
    return false;
}

size_t params_inject(const struct params *params, struct document *document)
{
    size_t at = 0;
    if (find_tagged(document, PARAMS_TAG, &at)) {
        struct document_cell *old = &document->cells[at];
        free(old->source);
        old->source = source_of(params, &old->size);
        return at;
    }
    if (find_tagged(document, "parameters", &at))
        at++;
    struct document_cell cell = {.kind = CELL_CODE, .first_line = 1, .title = xstrdup(PARAMS_TAG)};
    cell.source = source_of(params, &cell.size);
    cell.marker = xstrdup("# %% tags=[\"" PARAMS_TAG "\"]");
    cell.metadata = xstrdup("{\"tags\": [\"" PARAMS_TAG "\"]}");
    document_cell_add_tag(&cell, PARAMS_TAG);
    document_insert(document, at, cell);
    return at;
}
