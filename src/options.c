/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "alloc.h"
#include "options-table.h"
#include "text.h"

#define SHOWN_MAX 60              /* bytes of a wrong value that a message repeats */
#define MILLI_MAX (INT64_MAX / 4) /* where numbers saturate, in thousandths */

/* ---- numbers and words ------------------------------------------------------------------ */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Cut surrounding white space off. */
static void trim(const char **text, size_t *size)
{
    while (*size && is_space(**text)) {
        ++*text;
        --*size;
    }
    while (*size && is_space((*text)[*size - 1]))
        --*size;
}

static bool is_word(const char *text, size_t size, const char *word)
{
    return strlen(word) == size && strncasecmp(text, word, size) == 0;
}

/*
 * A decimal number in thousandths, saturating; what is finer than a thousandth is rounded away from
 * zero, so that only zero is zero. No exponents.
 */
static bool parse_milli(const char *text, size_t size, int64_t *ret_milli)
{
    bool negative = size && *text == '-', digits = false, finer = false;
    size_t i = size && (*text == '-' || *text == '+') ? 1 : 0;
    int64_t value = 0;
    int places = -1; /* behind the point */

    for (; i < size; i++) {
        if (text[i] == '.' && places < 0) {
            places = 0;
            continue;
        }
        if (!is_digit(text[i]))
            return false;
        digits = true;
        if (places == 3) {
            finer |= text[i] != '0';
            continue;
        }
        value = value > MILLI_MAX / 10 ? MILLI_MAX : value * 10 + (text[i] - '0');
        places += places >= 0;
    }
    for (places = places < 0 ? 0 : places; places < 3; places++)
        value = value > MILLI_MAX / 10 ? MILLI_MAX : value * 10;
    value += finer;
    *ret_milli = negative ? -value : value;
    return digits;
}

void hr_milli_text(char to[HR_MILLI_TEXT_SIZE], int64_t milli)
{
    int64_t size = milli < 0 ? -milli : milli;
    int n = snprintf(to, HR_MILLI_TEXT_SIZE, "%s%" PRId64 ".%03d", milli < 0 ? "-" : "",
                     size / 1000, (int)(size % 1000));

    while (n > 0 && to[n - 1] == '0')
        n--;
    if (n > 0 && to[n - 1] == '.')
        n--;
    to[n] = '\0';
}

static int parse_flag(const char *text, size_t size)
{
    static const char *const words[] = {"off", "on", "false", "true", "no", "yes", "0", "1"};
    size_t i;

    for (i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(text, size, words[i]))
            return (int)(i % 2);
    return -1;
}

static int parse_mode(const char *text, size_t size)
{
    if (is_word(text, size, "project"))
        return HERMES_MODE_PROJECT;
    return is_word(text, size, "strict") ? HERMES_MODE_STRICT : -1;
}

/* ---- one value -------------------------------------------------------------------------- */

enum verdict { TAKEN, NONSENSE, TOO_SMALL, TOO_LARGE, NO_MEMORY };

/* As much of a value as a message repeats. */
struct excerpt {
    int size;
    const char *more;
};

static struct excerpt excerpt_of(const char *value)
{
    size_t size = strlen(value),
           shown = hr_utf8_cut_before(value, size < SHOWN_MAX ? size : SHOWN_MAX);

    return (struct excerpt){(int)shown, shown < size ? "..." : ""};
}

/* What a value of the option is, for a message. */
static const char *kind_text(const struct hr_option_row *row)
{
    switch (row->kind) {
    case HR_OPTION_INTEGER:
        return row->off ? "a whole number or \"off\"" : "a whole number";
    case HR_OPTION_SECONDS:
        return row->off ? "a number of seconds or \"off\"" : "a number of seconds";
    case HR_OPTION_FLAG:
        return "\"on\" or \"off\"";
    case HR_OPTION_MODE:
        return "\"project\" or \"strict\"";
    case HR_OPTION_TEXT:
    case HR_OPTION_LIST:
        break;
    }
    return "a text";
}

static enum verdict set_number(const struct hr_option_row *row, int64_t *field, const char *text,
                               size_t size)
{
    int64_t value;

    if (row->off && is_word(text, size, "off")) {
        *field = 0;
        return TAKEN;
    }
    if (!parse_milli(text, size, &value))
        return NONSENSE;
    if (row->kind == HR_OPTION_INTEGER) {
        if (value % 1000 != 0 && value < MILLI_MAX && value > -MILLI_MAX)
            return NONSENSE;
        value /= 1000;
    }
    if (row->off && value == 0) {
        *field = 0;
    } else if (value < row->minimum) {
        *field = row->minimum;
        return TOO_SMALL;
    } else if (value > row->maximum) {
        *field = row->maximum;
        return TOO_LARGE;
    } else {
        *field = value;
    }
    return TAKEN;
}

static enum verdict set_text(char **field, const char *text)
{
    char *copy = hr_strdup(text);

    if (!copy)
        return NO_MEMORY;
    hr_free(*field);
    *field = copy;
    return TAKEN;
}

/* Set one field from text; after NONSENSE and NO_MEMORY it is as before. */
static enum verdict set_field(struct hr_options *options, const struct hr_option_row *row,
                              const char *value)
{
    void *field = (char *)options + row->offset;
    const char *text = value;
    size_t size = strlen(value);
    int word = -1;

    trim(&text, &size);
    switch (row->kind) {
    case HR_OPTION_INTEGER:
    case HR_OPTION_SECONDS:
        return set_number(row, field, text, size);
    case HR_OPTION_FLAG:
        word = parse_flag(text, size);
        if (word >= 0)
            *(bool *)field = word;
        break;
    case HR_OPTION_MODE:
        word = parse_mode(text, size);
        if (word >= 0)
            *(int *)field = word;
        break;
    case HR_OPTION_TEXT:
    case HR_OPTION_LIST:
        return set_text(field, value);
    }
    return word < 0 ? NONSENSE : TAKEN;
}

int hr_option_refuse(struct hr_options *options, const struct hr_option_row *row, const char *shown,
                     struct hermes_error *error)
{
    const char *used = row->public.default_value;
    struct excerpt excerpt = excerpt_of(shown);

    if (set_field(options, row, used) != TAKEN)
        return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    return hr_error_set(
        error, HERMES_ERANGE, 0, "option \"%s\": \"%.*s%s\" is not %s; the default %s is used",
        row->public.name, excerpt.size, shown, excerpt.more, kind_text(row), *used ? used : "\"\"");
}

int hr_option_set(struct hr_options *options, const struct hr_option_row *row, const char *value,
                  struct hermes_error *error)
{
    struct excerpt excerpt = excerpt_of(value);
    enum verdict verdict = set_field(options, row, value);
    char bound[HR_MILLI_TEXT_SIZE];
    int64_t used;

    switch (verdict) {
    case TAKEN:
        return 0;
    case NONSENSE:
        return hr_option_refuse(options, row, value, error);
    case TOO_SMALL:
    case TOO_LARGE:
        used = verdict == TOO_SMALL ? row->minimum : row->maximum;
        hr_milli_text(bound, row->kind == HR_OPTION_SECONDS ? used : used * 1000);
        return hr_error_set(
            error, HERMES_ERANGE, 0, "option \"%s\": %.*s%s is %s %s, which is used",
            row->public.name, excerpt.size, value, excerpt.more,
            verdict == TOO_SMALL ? "less than the minimum" : "more than the maximum", bound);
    case NO_MEMORY:
        break;
    }
    return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
}

/* ---- by name ---------------------------------------------------------------------------- */

int hr_options_init(struct hr_options *options)
{
    size_t i;

    memset(options, 0, sizeof *options);
    for (i = 0; i < hr_option_count; i++) {
        if (set_field(options, &hr_option_rows[i], hr_option_rows[i].public.default_value) !=
            TAKEN) {
            hr_options_done(options);
            return HERMES_ENOMEM;
        }
    }
    return 0;
}

void hr_options_done(struct hr_options *options)
{
    char **text;
    size_t i;

    for (i = 0; i < hr_option_count; i++)
        if ((text = hr_option_text(options, &hr_option_rows[i])))
            hr_free(*text);
    memset(options, 0, sizeof *options);
}

char **hr_option_text(struct hr_options *options, const struct hr_option_row *row)
{
    if (row->kind != HR_OPTION_TEXT && row->kind != HR_OPTION_LIST)
        return NULL;
    return (char **)(void *)((char *)options + row->offset);
}

int hr_option_unknown(const char *name, struct hermes_error *error)
{
    const char *names[HR_OPTION_MAX], *nearest;
    struct excerpt excerpt = excerpt_of(name);
    size_t i;

    for (i = 0; i < hr_option_count; i++)
        names[i] = hr_option_rows[i].public.name;
    nearest = hr_nearest_name(name, names, i);
    return hr_error_set(error, HERMES_ENOENT, 0, "there is no option \"%.*s%s\"%s%s%s",
                        excerpt.size, name, excerpt.more, nearest ? "; did you mean \"" : "",
                        nearest ? nearest : "", nearest ? "\"?" : "");
}

int hr_options_set(struct hr_options *options, const char *name, const char *value,
                   struct hermes_error *error)
{
    const struct hr_option_row *row = hr_option_find(name);

    if (!row)
        return hr_option_unknown(name, error);
    return hr_option_set(options, row, value ? value : row->public.default_value, error);
}

int hr_options_get(const struct hr_options *options, const char *name, char **ret_value)
{
    const struct hr_option_row *row = hr_option_find(name);
    const void *field;
    char milli[HR_MILLI_TEXT_SIZE], *value = NULL;
    int64_t number;

    if (!row)
        return HERMES_ENOENT;
    field = (const char *)options + row->offset;
    switch (row->kind) {
    case HR_OPTION_INTEGER:
        number = *(const int64_t *)field;
        value = row->off && number == 0 ? hr_strdup("off") : hr_printf("%" PRId64, number);
        break;
    case HR_OPTION_SECONDS:
        number = *(const int64_t *)field;
        hr_milli_text(milli, number);
        value = hr_strdup(row->off && number == 0 ? "off" : milli);
        break;
    case HR_OPTION_FLAG:
        value = hr_strdup(*(const bool *)field ? "on" : "off");
        break;
    case HR_OPTION_MODE:
        value = hr_strdup(*(const int *)field == HERMES_MODE_STRICT ? "strict" : "project");
        break;
    case HR_OPTION_TEXT:
    case HR_OPTION_LIST:
        value = hr_strdup(*(char *const *)field);
        break;
    }
    if (!value)
        return HERMES_ENOMEM;
    *ret_value = value;
    return 0;
}
