/* SPDX-License-Identifier: MIT */
/*
 * Options from JSON text: hr_options_configure(). All or nothing, by working on a copy.
 */
#include "config.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "alloc.h"
#include "buf.h"
#include "json-text.h"
#include "options-table.h"
#include "options.h"

#define WARNINGS_MAX 50 /* lines */

struct warnings {
    struct hr_buf text;
    size_t count;
};

static void warn(struct warnings *warnings, const char *line)
{
    if (warnings->count++ >= WARNINGS_MAX)
        return;
    if (warnings->count > 1)
        hr_buf_add(&warnings->text, "\n", 1);
    hr_buf_add_text(&warnings->text, line);
}

/* A JSON number in a form that options take; cJSON has already rounded it. */
static void number_text(char to[HR_MILLI_TEXT_SIZE], double number)
{
    int64_t milli;

    if (!(number > -1e12))
        number = -1e12;
    if (number > 1e12)
        number = 1e12;
    milli = (int64_t)(number * 1000 + (number < 0 ? -0.5 : 0.5));
    if (milli == 0 && number < 0)
        milli = -1;
    else if (milli == 0 && number > 0)
        milli = 1;
    hr_milli_text(to, milli);
}

/* The strings of an array with commas between; false: there is something else in it. */
static bool join(const cJSON *array, struct hr_buf *out)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, array)
    {
        if (!cJSON_IsString(item))
            return false;
        if (item != array->child)
            hr_buf_add(out, ",", 1);
        hr_buf_add_text(out, item->valuestring);
    }
    return true;
}

static int set_list(struct hr_options *options, const struct hr_option_row *row, const cJSON *array,
                    struct hermes_error *error)
{
    struct hr_buf list;
    char *text;
    int code;

    hr_buf_init(&list, 0);
    if (!join(array, &list)) {
        hr_buf_done(&list);
        return hr_option_refuse(options, row, "[...]", error);
    }
    text = hr_buf_take(&list);
    code = text ? hr_option_set(options, row, text, error) : HERMES_ENOMEM;
    hr_free(text);
    return code;
}

static int set_item(struct hr_options *options, const struct hr_option_row *row, const cJSON *item,
                    struct hermes_error *error)
{
    char number[HR_MILLI_TEXT_SIZE];
    const char *text = cJSON_IsTrue(item) ? "true" : "false";

    if (cJSON_IsNull(item))
        return hr_option_set(options, row, row->public.default_value, error);
    if (cJSON_IsString(item))
        return hr_option_set(options, row, item->valuestring, error);
    if (cJSON_IsArray(item) && row->kind == HR_OPTION_LIST)
        return set_list(options, row, item, error);
    if (cJSON_IsArray(item) || cJSON_IsObject(item))
        return hr_option_refuse(options, row, cJSON_IsArray(item) ? "[...]" : "{...}", error);
    if (cJSON_IsNumber(item)) {
        number_text(number, item->valuedouble);
        text = number;
    }
    if (hr_option_text(options, row))
        return hr_option_refuse(options, row, text, error);
    return hr_option_set(options, row, cJSON_IsFalse(item) && row->off ? "off" : text, error);
}

static bool named_before(const cJSON *object, const cJSON *item)
{
    const cJSON *other;

    for (other = object->child; other != item; other = other->next)
        if (strcmp(other->string, item->string) == 0)
            return true;
    return false;
}

/* Take all members. */
static int set_items(struct hr_options *options, const cJSON *object, struct warnings *warnings)
{
    const struct hr_option_row *row;
    struct hermes_error error;
    const cJSON *item;
    int code;

    cJSON_ArrayForEach(item, object)
    {
        if (strcmp(item->string, "kernel_mode") == 0)
            continue;
        row = hr_option_find(item->string);
        if (row)
            code = set_item(options, row, item, &error);
        else if (warnings->count < WARNINGS_MAX && named_before(object, item))
            continue;
        else
            code = hr_option_unknown(item->string, &error);
        if (code == HERMES_ENOMEM)
            return code;
        if (code < 0)
            warn(warnings, error.text);
    }
    if (warnings->count > WARNINGS_MAX)
        hr_buf_printf(&warnings->text, "\nand %zu more of this kind",
                      warnings->count - WARNINGS_MAX);
    return warnings->text.failed ? HERMES_ENOMEM : 0;
}

static int copy_options(const struct hr_options *options, struct hr_options *copy)
{
    char **text;
    size_t i;
    bool failed = false;

    *copy = *options;
    for (i = 0; i < hr_option_count; i++)
        if ((text = hr_option_text(copy, &hr_option_rows[i])))
            failed |= !(*text = hr_strdup(*text));
    if (failed)
        hr_options_done(copy);
    return failed ? HERMES_ENOMEM : 0;
}

int hr_options_configure(struct hr_options *options, const char *json, size_t size,
                         char **ret_warnings, struct hermes_error *error)
{
    struct warnings warnings = {.count = 0};
    struct hr_options copy;
    char *lines = NULL;
    cJSON *object;
    int code = hr_json_text_object(json, size, &object, error);

    if (code < 0)
        return code;
    hr_buf_init(&warnings.text, 0);
    code = copy_options(options, &copy);
    if (code == 0) {
        code = set_items(&copy, object, &warnings);
        if (code == 0 && warnings.count > 0 && !(lines = hr_buf_take(&warnings.text)))
            code = HERMES_ENOMEM;
        hr_options_done(code == 0 ? options : &copy);
    }
    cJSON_Delete(object);
    hr_buf_done(&warnings.text);
    if (code < 0)
        return hr_error_set(error, code, 0, "out of memory");
    *options = copy;
    if (ret_warnings)
        *ret_warnings = lines;
    else
        hr_free(lines);
    return 0;
}
