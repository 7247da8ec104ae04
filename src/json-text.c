/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "json-text.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "alloc.h"
#include "options.h"
#include "text.h"

/* The end of the comment at i, or 0: a block comment that is not closed. */
static size_t comment_end(const char *text, size_t size, size_t i)
{
    if (text[i + 1] == '/') {
        while (i < size && text[i] != '\n')
            i++;
        return i;
    }
    for (i += 2; i + 1 < size; i++)
        if (text[i] == '*' && text[i + 1] == '/')
            return i + 2;
    return 0;
}

/* The end of the string whose quote is at *at. Otherwise the fault, which is at *at. */
static const char *string_end(const char *text, size_t size, size_t *at)
{
    size_t i = *at + 1;

    while (i < size && text[i] != '"') {
        if ((unsigned char)text[i] < 0x20) {
            if (text[i] == '\n' || text[i] == '\r')
                break;
            *at = i;
            return "control character in a string";
        }
        if (text[i] == '\\' && size - i > 5 && memcmp(text + i + 1, "u0000", 5) == 0) {
            *at = i;
            return "a string may not hold NUL";
        }
        i += text[i] == '\\' ? 2 : 1;
    }
    if (i >= size || text[i] != '"')
        return "string without a closing quote";
    *at = i + 1;
    return NULL;
}

static void blank(char *text, size_t from, size_t to)
{
    for (; from < to; from++)
        if (text[from] != '\n' && text[from] != '\r')
            text[from] = ' ';
}

static bool starts_comment(const char *text, size_t size, size_t i)
{
    return text[i] == '/' && i + 1 < size && (text[i + 1] == '/' || text[i + 1] == '*');
}

/* What stands outside of strings: take out comments and trailing commas. */
static const char *strip_tokens(char *text, size_t size, size_t *ret_offset)
{
    size_t i = 0, next, comma = 0;
    bool comma_may_go =
        false;          /* a comma at `comma` has a value before it and nothing behind it so far */
    char before = '\0'; /* the last byte that is neither space nor comment */
    const char *fault;

    while (i < size) {
        next = i + 1;
        if (starts_comment(text, size, i)) {
            next = comment_end(text, size, i);
            *ret_offset = i;
            if (next == 0)
                return "comment without an end";
            blank(text, i, next);
        } else if (text[i] == '"') {
            *ret_offset = i;
            if ((fault = string_end(text, size, ret_offset)))
                return fault;
            next = *ret_offset;
        } else if ((text[i] == '}' || text[i] == ']') && comma_may_go) {
            text[comma] = ' ';
        }
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\n' && text[i] != '\r') {
            comma_may_go = text[i] == ',' && before && !strchr(",[{:", before);
            comma = i;
            before = text[i];
        }
        i = next;
    }
    return NULL;
}

const char *hr_json_text_strip(char *text, size_t size, size_t *ret_offset)
{
    const char *nul = size ? memchr(text, '\0', size) : NULL;

    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        blank(text, 0, 3);
    if (nul) {
        *ret_offset = (size_t)(nul - text);
        return "NUL byte";
    }
    *ret_offset = hr_utf8_valid_run(text, size);
    if (*ret_offset < size)
        return "not UTF-8";
    return strip_tokens(text, size, ret_offset);
}

void hr_json_text_position(const char *text, size_t size, size_t offset, size_t *ret_line,
                           size_t *ret_column)
{
    size_t i;

    *ret_line = *ret_column = 1;
    for (i = 0; i < offset && i < size; i++) {
        if (text[i] == '\n') {
            ++*ret_line;
            *ret_column = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            ++*ret_column;
        }
    }
}

static bool is_blank(char c)
{
    return (unsigned char)c <= ' ';
}

/*
 * The offset of the fault from where cJSON stopped: not the space before it, and not one too far,
 * as it comes out when a key without quotes stands behind '{' or ','.
 */
static size_t fault_offset(const char *text, size_t size, size_t stop)
{
    size_t key = stop ? stop - 1 : 0, before = key;

    while (before > 0 && is_blank(text[before - 1]))
        before--;
    if (before > 0 && !is_blank(text[key]) && text[key] != '"' &&
        (text[before - 1] == '{' || (text[before - 1] == ',' && text[key] != '[')))
        return key;
    while (stop < size && is_blank(text[stop]))
        stop++;
    return stop;
}

/*
 * Parse what is left of the text after stripping. Returns NULL and the fault, which is at
 * *ret_offset.
 */
static cJSON *parse_object(const char *text, size_t size, size_t *ret_offset,
                           const char **ret_fault)
{
    const char *end = text;
    cJSON *value;
    size_t i = 0;

    while (i < size && is_blank(text[i]))
        i++;
    *ret_offset = i;
    *ret_fault = i == size ? "there is no JSON object" : "a JSON object, {...}, is needed";
    if (i == size || text[i] != '{')
        return NULL;
    value = cJSON_ParseWithLengthOpts(text, size + 1, &end, true);
    *ret_offset = fault_offset(text, size, (size_t)(end - text));
    *ret_fault = *ret_offset >= size ? "the text ends too early" : "this is not valid JSON";
    return value;
}

int hr_json_text_object(const char *text, size_t size, struct cJSON **ret_object,
                        struct hermes_error *error)
{
    char *copy = hr_memdup(text, size);
    const char *fault;
    size_t offset = 0, line, column;
    cJSON *object = NULL;

    if (!copy)
        return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    fault = hr_json_text_strip(copy, size, &offset);
    if (!fault)
        object = parse_object(copy, size, &offset, &fault);
    hr_free(copy);
    if (!object) {
        hr_json_text_position(text, size, offset, &line, &column);
        return hr_error_set(error, HERMES_EINVAL, 0, "line %zu, column %zu: %s", line, column,
                            fault);
    }
    *ret_object = object;
    return 0;
}
