/* SPDX-License-Identifier: MIT */
/*
 * The option table, values as text, configuration as JSON; what the library says of itself.
 */
#include "config.h"

#include <check.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "json-text.h"
#include "options-table.h"
#include "options.h"
#include "testlib.h"
#include "text.h"

#include <cjson/cJSON.h>

static struct hr_options options;
static struct hermes_error error;

static void set_up(void)
{
    ck_assert_int_eq(hr_options_init(&options), 0);
    memset(&error, 0, sizeof error);
}

static void tear_down(void)
{
    hr_options_done(&options);
}

static void check_value(const char *name, const char *want)
{
    char *value = NULL;

    ck_assert_int_eq(hr_options_get(&options, name, &value), 0);
    ck_assert_msg(strcmp(value, want) == 0, "%s is %s, not %s", name, value, want);
    hr_free(value);
}

/* ---- the table -------------------------------------------------------------------------- */

START_TEST(defaults)
{
    ck_assert_int_eq(options.mode, HERMES_MODE_PROJECT);
    ck_assert_int_eq(options.timeout_ms, 300000);
    ck_assert_int_eq(options.max_session_kernels, 4);
    ck_assert_int_eq(options.kernel_idle_timeout_ms, 1800000);
    ck_assert_int_eq(options.max_tool_calls, 50);
    ck_assert_int_eq(options.stdout_limit, 50000);
    ck_assert_int_eq(options.stderr_limit, 10000);
    ck_assert(options.spill);
    ck_assert_int_eq(options.spill_limit, 5000000);
    ck_assert_str_eq(options.spill_directory, "");
    ck_assert_int_eq(options.interrupt_grace_ms, 5000);
    ck_assert_int_eq(options.kill_grace_ms, 200);
    ck_assert_int_eq(options.shutdown_grace_ms, 3000);
    ck_assert_int_eq(options.start_timeout_ms, 30000);
    ck_assert_int_eq(options.max_queued_cells, 1000);
    ck_assert_int_eq(options.output_interval_ms, 1);
    ck_assert_str_eq(options.env_passthrough, "");
    ck_assert_str_eq(options.python, "");
    ck_assert_str_eq(options.guard, "");
    ck_assert_str_eq(options.runner, "");
}
END_TEST

START_TEST(rows_are_in_order)
{
    static const char *const types[] = {"integer", "number", "string", "choice", "flag"};
    const struct hermes_option *option;
    size_t i, j, size = 0;

    for (i = 0; (option = hermes_option_at(i)); i++) {
        for (j = 0; j < 5 && strcmp(option->type, types[j]) != 0;)
            j++;
        ck_assert_msg(j < 5, "type of %s", option->name);
        ck_assert_ptr_nonnull(option->unit);
        ck_assert_ptr_nonnull(option->range);
        ck_assert_uint_gt(strlen(option->help), 10);
        ck_assert_uint_eq(strcspn(option->help, "\n"), strlen(option->help));
        ck_assert_uint_eq(strspn(option->name, "abcdefghijklmnopqrstuvwxyz_"),
                          strlen(option->name));
        for (j = 0; j < i; j++) {
            ck_assert_str_ne(hermes_option_at(j)->name, option->name);
            ck_assert_uint_ne(hr_option_rows[j].offset, hr_option_rows[i].offset);
        }
        ck_assert_ptr_eq(hr_option_find(option->name), &hr_option_rows[i]);
        check_value(option->name, option->default_value);
        ck_assert_int_eq(hr_options_set(&options, option->name, option->default_value, &error), 0);
        size += hr_option_rows[i].kind == HR_OPTION_FLAG || hr_option_rows[i].kind == HR_OPTION_MODE
                    ? 4
                    : 8;
    }
    ck_assert_uint_eq(i, hr_option_count);
    ck_assert_uint_le(size, sizeof options); /* every member has its row, but for padding */
    ck_assert_uint_ge(size + 8, sizeof options);
    ck_assert_ptr_null(hermes_option_at(i));
    ck_assert_ptr_null(hermes_option_at(SIZE_MAX));
}
END_TEST

/* ---- values as text --------------------------------------------------------------------- */

static const struct {
    const char *name, *value;
    int code;
    const char *now, *part; /* of the error text */
} values[] = {
    {"max_session_kernels", "7", 0, "7", ""},
    {"max_session_kernels", " +7 ", 0, "7", ""},
    {"max_session_kernels", "7.0", 0, "7", ""},
    {"max_session_kernels", "10000", 0, "10000", ""},
    {"max_session_kernels", "abc", HERMES_ERANGE, "4",
     "\"abc\" is not a whole number; the default 4 is used"},
    {"max_session_kernels", "", HERMES_ERANGE, "4", "\"\" is not a whole number"},
    {"max_session_kernels", "-", HERMES_ERANGE, "4", "not a whole number"},
    {"max_session_kernels", "3x", HERMES_ERANGE, "4", "not a whole number"},
    {"max_session_kernels", "2.5", HERMES_ERANGE, "4", "not a whole number"},
    {"max_session_kernels", "1e3", HERMES_ERANGE, "4", "not a whole number"},
    {"max_session_kernels", "0x10", HERMES_ERANGE, "4", "not a whole number"},
    {"max_session_kernels", "nan", HERMES_ERANGE, "4", "not a whole number"},
    {"max_session_kernels", "off", HERMES_ERANGE, "4", "not a whole number"},
    {"max_session_kernels", "-3", HERMES_ERANGE, "1",
     "option \"max_session_kernels\": -3 is less than the minimum 1, which is used"},
    {"max_session_kernels", "0", HERMES_ERANGE, "1", "less than the minimum 1"},
    {"max_session_kernels", "10001", HERMES_ERANGE, "10000", "more than the maximum 10000"},
    {"max_session_kernels", "99999999999999999999999999999999", HERMES_ERANGE, "10000",
     "more than the maximum"},
    {"max_session_kernels", "-99999999999999999999999999999999", HERMES_ERANGE, "1",
     "less than the minimum"},
    {"timeout", "0.5", 0, "0.5", ""},
    {"timeout", ".25", 0, "0.25", ""},
    {"timeout", "5.", 0, "5", ""},
    {"timeout", "1.001", 0, "1.001", ""},
    {"timeout", "off", 0, "off", ""},
    {"memory_limit", "off", 0, "off", ""},
    {"memory_limit", "0", 0, "off", ""},
    {"memory_limit", "512", 0, "512", ""},
    {"memory_limit", "1", HERMES_ERANGE, "32", "less than the minimum 32"},
    {"cpu_limit", "1.5", HERMES_ERANGE, "off",
     "not a whole number or \"off\"; the default off is used"},
    {"timeout", "OFF", 0, "off", ""},
    {"timeout", "0", 0, "off", ""},
    {"timeout", "0.0", 0, "off", ""},
    {"timeout", "0.0000001", 0, "0.001", ""}, /* not off */
    {"timeout", "-1", HERMES_ERANGE, "0.001", "less than the minimum 0.001"},
    {"timeout", "5s", HERMES_ERANGE, "300",
     "not a number of seconds or \"off\"; the default 300 is used"},
    {"timeout", "1.2.3", HERMES_ERANGE, "300", "not a number"},
    {"timeout", ".", HERMES_ERANGE, "300", "not a number"},
    {"timeout", "1,5", HERMES_ERANGE, "300", "not a number"},
    {"kernel_idle_timeout", "0.5", HERMES_ERANGE, "1", "less than the minimum 1"},
    {"kernel_idle_timeout", "off", 0, "off", ""},
    {"kernel_idle_timeout", "-3", HERMES_ERANGE, "1", "less than the minimum 1"},
    {"kill_grace", "0", 0, "0", ""},
    {"kill_grace", "off", HERMES_ERANGE, "0.2", "not a number of seconds; the default 0.2 is used"},
    {"stdout_limit", "999", HERMES_ERANGE, "1000", "minimum 1000"},
    {"spill", "off", 0, "off", ""},
    {"spill", "True", 0, "on", ""},
    {"spill", "no", 0, "off", ""},
    {"spill", "1", 0, "on", ""},
    {"spill", "maybe", HERMES_ERANGE, "on", "not \"on\" or \"off\"; the default on is used"},
    {"mode", "strict", 0, "strict", ""},
    {"mode", " Project ", 0, "project", ""},
    {"mode", "sandbox", HERMES_ERANGE, "project",
     "not \"project\" or \"strict\"; the default project is used"},
    {"python", "/opt/my python/bin/python3", 0, "/opt/my python/bin/python3", ""},
    {"env_passthrough", "A,B", 0, "A,B", ""},
};

START_TEST(values_as_text)
{
    size_t i;

    for (i = 0; i < sizeof values / sizeof *values; i++) {
        memset(&error, 0, sizeof error);
        ck_assert_msg(hr_options_set(&options, values[i].name, values[i].value, &error) ==
                          values[i].code,
                      "code of %s = %s", values[i].name, values[i].value);
        check_value(values[i].name, values[i].now);
        ck_assert_msg(strstr(error.text, values[i].part) != NULL, "%s = %s: %s", values[i].name,
                      values[i].value, error.text);
        ck_assert_int_eq(error.code, values[i].code);
        if (values[i].code)
            ck_assert_ptr_nonnull(strstr(error.text, values[i].name));
        ck_assert_int_eq(hr_options_set(&options, values[i].name, values[i].value, NULL),
                         values[i].code);
        ck_assert_int_eq(hr_options_set(&options, values[i].name, values[i].now, NULL),
                         0); /* what is told can be set */
        check_value(values[i].name, values[i].now);
    }
}
END_TEST

START_TEST(null_is_the_default)
{
    ck_assert_int_eq(hr_options_set(&options, "timeout", "7", NULL), 0);
    ck_assert_int_eq(hr_options_set(&options, "timeout", NULL, NULL), 0);
    check_value("timeout", "300");
}
END_TEST

START_TEST(locale_does_not_matter)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        setlocale(LC_ALL, "C.UTF-8");
    ck_assert_int_eq(hr_options_set(&options, "timeout", "0.5", NULL), 0);
    check_value("timeout", "0.5");
}
END_TEST

START_TEST(wrong_values_are_shown_in_one_line)
{
    char value[2000];

    ck_assert_int_eq(hr_options_set(&options, "timeout", "a\nb\x1b[31m\xff", &error),
                     HERMES_ERANGE);
    ck_assert_ptr_nonnull(strstr(error.text, "\"a b [31m?\" is not"));
    memset(value, 'x', sizeof value);
    value[sizeof value - 1] = '\0';
    memcpy(value + 59, "\xe2\x82\xac", 3); /* is not cut through */
    ck_assert_int_eq(hr_options_set(&options, "timeout", value, &error), HERMES_ERANGE);
    ck_assert_ptr_nonnull(strstr(error.text, "xxx...\" is not a number"));
    ck_assert_ptr_nonnull(strstr(error.text, "300 is used"));
}
END_TEST

START_TEST(unknown_names)
{
    char *value = NULL;

    ck_assert_int_eq(hr_options_set(&options, "timout", "1", &error), HERMES_ENOENT);
    ck_assert_str_eq(error.text, "there is no option \"timout\"; did you mean \"timeout\"?");
    ck_assert_int_eq(hr_options_set(&options, "colour_of_the_bikeshed", "1", &error),
                     HERMES_ENOENT);
    ck_assert_str_eq(error.text, "there is no option \"colour_of_the_bikeshed\"");
    ck_assert_int_eq(hr_options_set(&options, "", "1", NULL), HERMES_ENOENT);
    ck_assert_int_eq(hr_options_get(&options, "timout", &value), HERMES_ENOENT);
    ck_assert_ptr_null(value);
}
END_TEST

START_TEST(nearest_names)
{
    static const char *const names[] = {
        "timeout", "max_session_kernels", "kernel_idle_timeout", "mode", "spill", "spill_limit",
        NULL};
    static const char *const pairs[][2] = {
        {"timeuot", "timeout"},
        {"TIMEOUT", "timeout"},
        {"Spill-Limit", "spill_limit"},
        {"max-session-kernel", "max_session_kernels"},
        {"idle_timeout", "kernel_idle_timeout"},
        {"mod", "mode"},
        {"spil", "spill"},
        {"zzz", NULL},
        {"", NULL},
        {"t", NULL},
        {"history", NULL},
    };
    char long_word[500];
    size_t i;

    for (i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *got = hr_nearest_name(pairs[i][0], names, SIZE_MAX);

        ck_assert_msg(got == pairs[i][1] || (got && pairs[i][1] && strcmp(got, pairs[i][1]) == 0),
                      "%s -> %s", pairs[i][0], got ? got : "none");
    }
    memset(long_word, 'x', sizeof long_word);
    long_word[sizeof long_word - 1] = '\0';
    ck_assert_ptr_null(hr_nearest_name(long_word, names, SIZE_MAX));
    ck_assert_ptr_null(hr_nearest_name("spill", names, 3)); /* the count holds */
}
END_TEST

/* ---- configuration ---------------------------------------------------------------------- */

static int configure(const char *json, char **ret_warnings)
{
    size_t size = strlen(json);
    char *copy =
        malloc(size ? size : 1); /* no closing NUL: a sanitizer sees reads behind the end */
    int code;

    memcpy(copy, json, size);
    code = hr_options_configure(&options, copy, size, ret_warnings, &error);
    free(copy);
    return code;
}

static void check_configured(const char *json, const char *want_warnings)
{
    char *warnings = NULL;

    ck_assert_msg(configure(json, &warnings) == 0, "%s: %s", json, error.text);
    ck_assert_msg((warnings == NULL) == (want_warnings == NULL), "%s: %s", json,
                  warnings ? warnings : "no warning");
    if (warnings)
        ck_assert_str_eq(warnings, want_warnings);
    hr_free(warnings);
}

START_TEST(json_values)
{
    check_configured("{}", NULL);
    check_configured("\xef\xbb\xbf{\r\n  // how long\r\n  \"timeout\": 12.5, /* and\n how many */ "
                     "\"max_session_kernels\": 3.0,\n"
                     "\"spill\": false, \"mode\": \"strict\", \"python\": \"/* no comment // */\", "
                     "\"env_passthrough\": [\"A\", \"B\",],\n}\n// end",
                     NULL);
    check_value("timeout", "12.5");
    check_value("max_session_kernels", "3");
    check_value("spill", "off");
    check_value("mode", "strict");
    check_value("python", "/* no comment // */");
    check_value("env_passthrough", "A,B");
    check_configured("{\"timeout\": null, \"python\": null, \"kernel_idle_timeout\": false, "
                     "\"max_tool_calls\": \"7\", \"env_passthrough\": []}",
                     NULL);
    check_value("timeout", "300");
    check_value("python", "");
    check_value("kernel_idle_timeout", "off");
    check_value("max_tool_calls", "7");
    check_value("env_passthrough", "");
    check_configured("{\"timeout\": 1, \"timeout\": 2}", NULL);
    check_value("timeout", "2");
    check_configured("{\"timeout\": 0.2, \"kill_grace\": 1.001, \"start_timeout\": 1e0}", NULL);
    check_value("timeout", "0.2");
    check_value("kill_grace", "1.001");
    check_value("start_timeout", "1");
}
END_TEST

/* Report A36, and that the wording is good. */
START_TEST(json_nonsense)
{
    check_configured(
        "{\"max_session_kernels\": \"abc\"}",
        "option \"max_session_kernels\": \"abc\" is not a whole number; the default 4 is used");
    check_value("max_session_kernels", "4");
    check_configured(
        "{\"max_session_kernels\": -3}",
        "option \"max_session_kernels\": -3 is less than the minimum 1, which is used");
    check_value("max_session_kernels", "1");
    check_configured("{\"max_session_kernels\": 1e999}",
                     "option \"max_session_kernels\": 1000000000000 is more than the maximum "
                     "10000, which is used");
    check_configured(
        "{\"max_session_kernels\": {\"a\": 1}}",
        "option \"max_session_kernels\": \"{...}\" is not a whole number; the default 4 is used");
    check_configured("{\"timeout\": 1e-9}", NULL);
    check_value("timeout", "0.001");
    check_configured(
        "{\"timeout\": true, \"python\": 3, \"mode\": [], \"env_passthrough\": [1], \"spill\": 7, "
        "\"guard\": false}",
        "option \"timeout\": \"true\" is not a number of seconds or \"off\"; the default 300 is "
        "used\n"
        "option \"python\": \"3\" is not a text; the default \"\" is used\n"
        "option \"mode\": \"[...]\" is not \"project\" or \"strict\"; the default project is used\n"
        "option \"env_passthrough\": \"[...]\" is not a text; the default \"\" is used\n"
        "option \"spill\": \"7\" is not \"on\" or \"off\"; the default on is used\n"
        "option \"guard\": \"false\" is not a text; the default \"\" is used");
}
END_TEST

START_TEST(json_unknown_keys)
{
    check_configured("{\"kernel_mode\": \"per_call\", \"timeout\": 9}", NULL);
    check_configured("{\"kernel_mode\": {\"x\": []}}", NULL);
    check_configured(
        "{\"timout\": 1, \"zzzzz\": 2, \"timout\": 3, \"Timeout\": 4}",
        "there is no option \"timout\"; did you mean \"timeout\"?\nthere is no option \"zzzzz\"\n"
        "there is no option \"Timeout\"; did you mean \"timeout\"?");
    check_value("timeout", "9"); /* names are exact, unlike cJSON's */
    ck_assert_int_eq(configure("{\"zzzzz\": 1}", NULL), 0);
}
END_TEST

START_TEST(json_many_unknown_keys)
{
    char json[4000] = "{", *warnings = NULL;
    size_t lines = 1;
    int i;

    for (i = 0; i < 200; i++)
        sprintf(json + strlen(json), "\"zz%d\":0,", i);
    strcat(json, "}");
    ck_assert_int_eq(configure(json, &warnings), 0);
    for (i = 0; warnings[i]; i++)
        lines += warnings[i] == '\n';
    ck_assert_uint_eq(lines, 51);
    ck_assert_ptr_nonnull(strstr(warnings, "\nand 150 more of this kind"));
    hr_free(warnings);
}
END_TEST

static const struct {
    const char *json, *where, *what;
} faults[] = {
    {"", "line 1, column 1: ", "no JSON object"},
    {" \n ", "line 2, column 2: ", "no JSON object"},
    {"// only a comment", "line 1, column 18: ", "no JSON object"},
    {"[1]", "line 1, column 1: ", "a JSON object, {...}, is needed"},
    {"\n  42", "line 2, column 3: ", "a JSON object"},
    {"{\n  \"timeout\": 5x\n}", "line 2, column 15: ", "not valid JSON"},
    {"{\n  \"timeout\": 5\n  \"mode\": \"strict\"\n}", "line 3, column 3: ", "not valid JSON"},
    {"{\"é\": tru}", "line 1, column 7: ", "not valid JSON"},
    {"{\"a\": 1", "line 1, column 8: ", "ends too early"},
    {"{\"a\": 1}}", "line 1, column 9: ", "not valid JSON"},
    {"{\"a\": 1} x", "line 1, column 10: ", "not valid JSON"},
    {"{\"a\": 1,,}", "line 1, column 9: ", "not valid JSON"},
    {"{,}", "line 1, column 2: ", "not valid JSON"},
    {"{\"a\":,}", "line 1, column 6: ", "not valid JSON"},
    {"{\"a\": [,]}", "line 1, column 8: ", "not valid JSON"},
    {"{\n/* \"a\": 1}", "line 2, column 1: ", "comment without an end"},
    {"{\"a\": /*/ 1}", "line 1, column 7: ", "comment without an end"},
    {"{\"a\": \"x\n\"}", "line 1, column 7: ", "string without a closing quote"},
    {"{\"a\": \"x\\", "line 1, column 7: ", "string without a closing quote"},
    {"{\"a\": \"x\ty\"}", "line 1, column 9: ", "control character in a string"},
    {"{\"python\\u0000x\": \"\"}", "line 1, column 9: ", "may not hold NUL"},
    {"{\"a\": \"\xff\"}", "line 1, column 8: ", "not UTF-8"},
    {"{\"a\": \"\\ud800\"}", "line 1, column ", "not valid JSON"},
    {"{a: 1}", "line 1, column 2: ", "not valid JSON"},
    {"{'a': 1}", "line 1, column 2: ", "not valid JSON"},
};

START_TEST(json_faults_have_a_place)
{
    char *warnings = (char *)"untouched";
    size_t i;

    ck_assert_int_eq(hr_options_set(&options, "timeout", "7", NULL), 0);
    for (i = 0; i < sizeof faults / sizeof *faults; i++) {
        memset(&error, 0, sizeof error);
        ck_assert_msg(configure(faults[i].json, &warnings) == HERMES_EINVAL, "%s", faults[i].json);
        ck_assert_int_eq(error.code, HERMES_EINVAL);
        ck_assert_msg(strncmp(error.text, faults[i].where, strlen(faults[i].where)) == 0, "%s: %s",
                      faults[i].json, error.text);
        ck_assert_msg(strstr(error.text, faults[i].what) != NULL, "%s: %s", faults[i].json,
                      error.text);
        check_value("timeout", "7");
    }
    ck_assert_int_eq(hr_options_configure(&options, "{\"a\":\0 1}", 9, NULL, &error),
                     HERMES_EINVAL);
    ck_assert_str_eq(error.text, "line 1, column 6: NUL byte");
    ck_assert_int_eq(hr_options_configure(&options, NULL, 0, NULL, NULL), HERMES_EINVAL);
}
END_TEST

/* What is stripped keeps every other byte in its place. */
START_TEST(json_strip)
{
    char text[] = "{ // c \"x\"\n \"a//b\": [1, /* , */ 2 , // ]\n ] , /**/ }";
    const char *want = "{         \n \"a//b\": [1,         2       \n ]        }";
    size_t offset;

    ck_assert_ptr_null(hr_json_text_strip(text, strlen(text), &offset));
    ck_assert_str_eq(text, want);
}
END_TEST

START_TEST(json_deep_nesting)
{
    char *json = malloc(400000);

    strcpy(json, "{\"a\":");
    memset(json + 5, '[', 300000);
    json[300005] = '\0';
    ck_assert_int_eq(configure(json, NULL), HERMES_EINVAL);
    free(json);
}
END_TEST

/* ---- errors and words ------------------------------------------------------------------- */

START_TEST(error_texts)
{
    char long_text[600];

    ck_assert_int_eq(hr_error_set(NULL, HERMES_EAGAIN, 0, "x"), HERMES_EAGAIN);
    ck_assert_int_eq(hr_error_set(&error, HERMES_ESYSTEM, 13, "open %s: %d", "/x", 7),
                     HERMES_ESYSTEM);
    ck_assert_str_eq(error.text, "open /x: 7");
    ck_assert_int_eq(error.os_errno, 13);
    ck_assert_int_eq(error.code, HERMES_ESYSTEM);
    hr_error_set(&error, HERMES_EINVAL, 0, "%s",
                 "é\t\x7f\n\xe2\x82\xac\xf0\x9f\x98\x80\xff\xe2\x82");
    ck_assert_str_eq(error.text, "é   \xe2\x82\xac\xf0\x9f\x98\x80???");
    memset(long_text, 'x', sizeof long_text);
    strcpy(long_text + 254, "é and more");
    hr_error_set(&error, HERMES_EINVAL, 0, "%s", long_text);
    ck_assert_uint_eq(strlen(error.text), 254);
    memset(long_text, 'x', 599);
    long_text[599] = '\0';
    hr_error_set(&error, HERMES_EINVAL, 0, "%s", long_text);
    ck_assert_uint_eq(strlen(error.text), 255);
    hr_error_set(&error, HERMES_EINVAL, 0, "%s", "");
    ck_assert_str_eq(error.text, "");
}
END_TEST

START_TEST(status_words)
{
    ck_assert_str_eq(hermes_status_name(0), "HERMES_OK");
    ck_assert_str_eq(hermes_status_text(0), "success");
    ck_assert_str_eq(hermes_status_name(HERMES_EINVAL), "HERMES_EINVAL");
    ck_assert_str_eq(hermes_status_text(HERMES_EINVAL), "invalid argument");
    ck_assert_str_eq(hermes_status_name(HERMES_ERANGE), "HERMES_ERANGE");
    ck_assert_str_eq(hermes_status_name(1), "HERMES_?");
    ck_assert_str_eq(hermes_status_text(-1000), "unknown status");
    ck_assert_str_eq(hermes_version(), HERMES_VERSION);
    hermes_free(NULL);
}
END_TEST

#ifdef HERMES_FAULT_INJECTION
START_TEST(no_memory)
{
    unsigned long n, seen;

    ck_assert_int_eq(hr_options_set(&options, "python", "before", NULL), 0);
    for (n = 1, seen = 0; seen >= n - 1; n++) {
        struct hr_options fresh;
        char *warnings = NULL;
        bool failed = false;
        int code;

        hermes_fault_set(HR_FAULT_ALLOC, n);
        code = hr_options_init(&fresh);
        ck_assert(code == 0 || code == HERMES_ENOMEM);
        failed |= code != 0;
        code = code == 0 ? hr_options_set(&fresh, "python", "x", &error) : code;
        ck_assert(code == 0 || code == HERMES_ENOMEM);
        failed |= code != 0;
        hr_options_done(&fresh);
        code = configure("{\"python\": \"after\", \"zzz\": 1, \"env_passthrough\": [\"A\"]}",
                         &warnings);
        ck_assert(code == 0 || code == HERMES_ENOMEM);
        failed |= code != 0;
        seen = hermes_fault_count(HR_FAULT_ALLOC);
        hermes_fault_set(HR_FAULT_ALLOC, 0);
        ck_assert(failed == (seen >= n));
        check_value("python", code == 0 ? "after" : "before");
        ck_assert((warnings != NULL) == (code == 0));
        hr_free(warnings);
        ck_assert_int_eq(hr_options_set(&options, "python", "before", NULL), 0);
    }
    ck_assert_uint_gt(n, 10);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("options");
    TCase *tcase = tcase_create("options");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, defaults);
    tcase_add_test(tcase, rows_are_in_order);
    tcase_add_test(tcase, values_as_text);
    tcase_add_test(tcase, null_is_the_default);
    tcase_add_test(tcase, locale_does_not_matter);
    tcase_add_test(tcase, wrong_values_are_shown_in_one_line);
    tcase_add_test(tcase, unknown_names);
    tcase_add_test(tcase, nearest_names);
    tcase_add_test(tcase, json_values);
    tcase_add_test(tcase, json_nonsense);
    tcase_add_test(tcase, json_unknown_keys);
    tcase_add_test(tcase, json_many_unknown_keys);
    tcase_add_test(tcase, json_faults_have_a_place);
    tcase_add_test(tcase, json_strip);
    tcase_add_test(tcase, json_deep_nesting);
    tcase_add_test(tcase, error_texts);
    tcase_add_test(tcase, status_words);
#ifdef HERMES_FAULT_INJECTION
    tcase_add_test(tcase, no_memory);
#endif
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
