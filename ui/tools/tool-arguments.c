/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tool-arguments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json-scan.h"

static const struct argument *find_row(const struct argument *table, const char *name)
{
    for (; table->name; table++) {
        if (strcmp(table->name, name) == 0)
            return table;
    }
    return NULL;
}

static bool refuse_unknown(const cJSON *arguments, const struct argument *table,
                           struct strbuf *error)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, arguments)
    {
        if (find_row(table, item->string))
            continue;
        strbuf_setf(error, "unknown argument '%s'; known:", item->string);
        const char *separator = " ";
        for (const struct argument *row = table; row->name; row++) {
            if (row->type == ARGUMENT_IGNORED)
                continue;
            strbuf_addf(error, "%s%s", separator, row->name);
            separator = ", ";
        }
        return false;
    }
    return true;
}

static const char *type_name(const cJSON *item)
{
    if (cJSON_IsString(item))
        return "a string";
    if (cJSON_IsNumber(item))
        return "a number";
    if (cJSON_IsBool(item))
        return "a boolean";
    return cJSON_IsArray(item) ? "a list" : cJSON_IsObject(item) ? "a dict" : "None";
}

static bool wrong_type(const struct argument *row, const cJSON *item, const char *wanted,
                       struct strbuf *error)
{
    strbuf_setf(error, "'%s' must be %s, not %s", row->name, wanted, type_name(item));
    return false;
}

static bool read_integer(const struct argument *row, const cJSON *item, struct strbuf *error)
{
    if (!cJSON_IsNumber(item) || item->valuedouble != floor(item->valuedouble))
        return wrong_type(row, item, "an integer", error);
    double value = item->valuedouble;
    bool limited = row->most >= row->least;
    if (fabs(value) > 9007199254740992.0 ||
        (limited && (value < (double)row->least || value > (double)row->most))) {
        if (limited && row->most < INT64_MAX)
            strbuf_setf(error, "'%s' must be from %lld to %lld, not %.0f", row->name,
                        (long long)row->least, (long long)row->most, value);
        else
            strbuf_setf(error, "'%s' must be at least %lld, not %.0f", row->name,
                        (long long)row->least, value);
        return false;
    }
    *row->to.integer = (int64_t)value;
    return true;
}

static bool read_value(const struct argument *row, const cJSON *item, struct strbuf *error)
{
    switch (row->type) {
    case ARGUMENT_TEXT:
        if (!cJSON_IsString(item))
            return wrong_type(row, item, "a string", error);
        *row->to.text = item->valuestring;
        return true;
    case ARGUMENT_INTEGER:
        return read_integer(row, item, error);
    case ARGUMENT_NUMBER:
        if (!cJSON_IsNumber(item))
            return wrong_type(row, item, "a number", error);
        *row->to.number = item->valuedouble;
        return true;
    case ARGUMENT_FLAG:
        if (!cJSON_IsBool(item))
            return wrong_type(row, item, "True or False", error);
        *row->to.flag = cJSON_IsTrue(item);
        return true;
    case ARGUMENT_IGNORED:
        break;
    }
    return true;
}

bool arguments_read(const cJSON *arguments, const struct argument *table, struct strbuf *error)
{
    if (arguments && !cJSON_IsObject(arguments)) {
        strbuf_setf(error, "the arguments are not a JSON object");
        return false;
    }
    if (!refuse_unknown(arguments, table, error))
        return false;
    for (const struct argument *row = table; row->name; row++) {
        const cJSON *item =
            arguments ? cJSON_GetObjectItemCaseSensitive(arguments, row->name) : NULL;
        if (!item || cJSON_IsNull(item)) {
            if (!row->needed)
                continue;
            strbuf_setf(error, "'%s' is missing", row->name);
            return false;
        }
        if (!read_value(row, item, error))
            return false;
    }
    return true;
}

/*
 * ---- from text --------------------------------------------------------------------------------
 */

/* Walks flat over checked text: inside strings only escapes matter. */
static bool has_bad_escape(const char *text, size_t size, struct strbuf *error)
{
    for (size_t i = 0; i + 1 < size; i++) {
        if (text[i] != '\\')
            continue;
        i++;
        if (text[i] == 'u' && i + 4 < size && memcmp(text + i + 1, "0000", 4) == 0) {
            strbuf_setf(error, "a string holds a NUL character, which tools do not take");
            return true;
        }
    }
    return false;
}

cJSON *arguments_parse(const char *text, size_t size, struct strbuf *error)
{
    struct json_span value;
    if (size == 0)
        return cJSON_CreateObject();
    if (!json_check(text, size, &value, error)) {
        char *fault = strbuf_steal(error);
        strbuf_setf(error, "the arguments are not JSON: %s", fault);
        free(fault);
        return NULL;
    }
    if (json_kind_of(value) != JSON_OBJECT) {
        strbuf_setf(error, "the arguments are not a JSON object");
        return NULL;
    }
    if (has_bad_escape(value.start, value.size, error))
        return NULL;
    cJSON *tree = cJSON_ParseWithLength(value.start, value.size);
    if (!tree)
        strbuf_setf(error,
                    "the arguments hold a lone surrogate, NaN, Infinity, or are nested too deep");
    return tree;
}
