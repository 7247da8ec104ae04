/* SPDX-License-Identifier: MIT */
/*
 * Configuration: any bytes as JSON with comments, down to the options.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "json-text.h"
#include "options-table.h"
#include "options.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool condition)
{
    if (!condition)
        abort();
}

/*
 * Stripping keeps every byte that it does not blank, and the lines; done twice it does nothing
 * more.
 */
static void check_strip(const char *data, size_t size)
{
    char *once = hr_memdup(data, size), *twice;
    size_t offset = 0, line, column, i;

    need(once != NULL);
    if (hr_json_text_strip(once, size, &offset)) {
        need(offset <= size);
        hr_json_text_position(data, size, offset, &line, &column);
        need(line >= 1 && column >= 1 && line + column <= size + 2);
    } else {
        for (i = 0; i < size; i++)
            need(once[i] == data[i] || (once[i] == ' ' && data[i] != '\n' && data[i] != '\r'));
        twice = hr_memdup(once, size);
        need(twice && hr_json_text_strip(twice, size, &offset) == NULL &&
             memcmp(once, twice, size) == 0);
        hr_free(twice);
    }
    hr_free(once);
}

/* Whatever came, each option has a value that can be set. */
static void check_options(struct hr_options *options)
{
    char *value;
    size_t i;

    for (i = 0; i < hr_option_count; i++) {
        const char *name = hr_option_rows[i].public.name;

        need(hr_options_get(options, name, &value) == 0);
        need(hr_options_set(options, name, value, NULL) == 0);
        hr_free(value);
    }
}

static void check_line(const char *text)
{
    need(hr_utf8_valid(text, strlen(text)) && !strpbrk(text, "\n\r\t\x1b"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hr_options options;
    struct hermes_error error = {.code = 0};
    char *warnings = NULL, *value;
    int code;

    need(hr_options_init(&options) == 0);
    check_strip((const char *)data, size);
    code = hr_options_configure(&options, (const char *)data, size, &warnings, &error);
    need(code == 0 || code == HERMES_EINVAL);
    if (code < 0) {
        need(error.code == code && strncmp(error.text, "line ", 5) == 0);
        check_line(error.text);
    }
    need(!warnings || (code == 0 && *warnings && hr_utf8_valid(warnings, strlen(warnings))));
    check_options(&options);
    hr_free(warnings);

    value = hr_memdup(data, size); /* the same bytes as the text of a number, and as a name */
    need(value != NULL);
    code = hr_options_set(&options, "timeout", value, &error);
    need(code == 0 || code == HERMES_ERANGE);
    code = hr_options_set(&options, value, "1", &error);
    need(code == 0 || code == HERMES_ENOENT || code == HERMES_ERANGE);
    if (code < 0)
        check_line(error.text);
    check_options(&options);
    hr_free(value);
    hr_options_done(&options);
    return 0;
}
