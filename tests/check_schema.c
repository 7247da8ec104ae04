/* SPDX-License-Identifier: MIT */
/*
 * The schema of execute_code: form, the words that callers rely on, tools and numbers as
 * configured.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "engine-testlib.h"

static char text[8192]; /* of the description that was asked for last */

static const char *describe(enum hermes_mode mode, const char *const *tools)
{
    char *json = hermes_schema(engine, mode, tools);
    cJSON *schema, *parameters, *properties, *description;

    ck_assert_ptr_nonnull(json);
    ck_assert_ptr_null(strchr(json, '\n'));
    schema = cJSON_ParseWithOpts(json, NULL, 1);
    ck_assert_msg(schema != NULL, "%s", json);
    ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(schema, "name")->valuestring, "execute_code");
    parameters = cJSON_GetObjectItemCaseSensitive(schema, "parameters");
    ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(parameters, "type")->valuestring, "object");
    properties = cJSON_GetObjectItemCaseSensitive(parameters, "properties");
    ck_assert_int_eq(cJSON_GetArraySize(properties), 2);
    ck_assert_str_eq(
        cJSON_GetObjectItem(cJSON_GetObjectItem(properties, "code"), "type")->valuestring,
        "string");
    ck_assert_str_eq(
        cJSON_GetObjectItem(cJSON_GetObjectItem(properties, "reset"), "type")->valuestring,
        "boolean");
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(parameters, "required")), 1);
    ck_assert_str_eq(
        cJSON_GetArrayItem(cJSON_GetObjectItem(parameters, "required"), 0)->valuestring, "code");
    description = cJSON_GetObjectItemCaseSensitive(schema, "description");
    snprintf(text, sizeof text, "%s", description->valuestring);
    cJSON_Delete(schema);
    hermes_free(json);
    return text;
}

static void has(const char *words)
{
    ck_assert_msg(strstr(text, words) != NULL, "\"%s\" is not in:\n%s", words, text);
}

static void has_not(const char *words)
{
    ck_assert_msg(strstr(text, words) == NULL, "\"%s\" is in:\n%s", words, text);
}

static const char *const all[] = {"web_search(",   "web_extract(", "read_file(", "write_file(",
                                  "search_files(", "patch(",       "terminal(",  NULL};

START_TEST(both_modes)
{
    static const char *const forbidden[] = {"sandbox",  "isolated", "cloud", "Sandbox",
                                            "Isolated", "Cloud",    NULL};
    size_t sizes[2];

    for (int i = 0; i < 2; i++) {
        sizes[i] = strlen(describe(i ? HERMES_MODE_STRICT : HERMES_MODE_PROJECT, NULL));
        has("persistent session kernel");
        has("times out loses the state");
        has("5-minute");
        has("50 tool calls");
        has("50 KB");
        has("head and tail");
        has("saved to a file");
        has("Helpers, which need the same import: json_parse(");
        has("from hermes_tools import");
        has("Do not wrap a single terminal command");
        has("whole-script approval");
        for (const char *const *name = all; *name; name++)
            has(*name);
        for (const char *const *word = forbidden; *word; word++)
            has_not(*word);
        has(i ? "temp dir" : "session");
        if (!i)
            has("venv");
    }
    ck_assert_uint_le(sizes[0] > sizes[1] ? sizes[0] - sizes[1] : sizes[1] - sizes[0], 200);
}
END_TEST

START_TEST(mode_by_option)
{
    describe(HERMES_MODE_DEFAULT, NULL);
    has("venv");
    te_set(engine, "mode", "strict");
    describe(HERMES_MODE_DEFAULT, NULL);
    has("temp dir");
    has_not("venv");
}
END_TEST

START_TEST(only_enabled_tools)
{
    static const char *const some[] = {"read_file", "my_lookup", "odd\"\xff",
                                       "weather(city, days=3): What it is like there.", NULL},
                             *const none[] = {NULL};

    describe(HERMES_MODE_PROJECT, some);
    has("read_file(path");
    has("to page with read_file");
    has("  my_lookup(**arguments)\n");
    has("  weather(city, days=3): What it is like there.\n");
    has("odd\"\xef\xbf\xbd");
    has_not("terminal");
    for (const char *const *name = all; *name; name++)
        if (strcmp(*name, "read_file(") != 0)
            has_not(*name);
    describe(HERMES_MODE_PROJECT, none);
    for (const char *const *name = all; *name; name++)
        has_not(*name);
    has("No tool can be called");
    has_not("tool calls");
    has_not("Chain");
    has_not("hermes_tools");
    has("persistent session kernel");
}
END_TEST

START_TEST(numbers_as_configured)
{
    char *warnings = NULL;

    te_set(engine, "timeout", "90");
    te_set(engine, "max_tool_calls", "7");
    te_set(engine, "stdout_limit", "2000000");
    te_set(engine, "spill", "off");
    describe(HERMES_MODE_PROJECT, NULL);
    has("90-second timeout");
    has("7 tool calls");
    has("2 MB");
    has_not("saved to a file");
    te_set(engine, "timeout", "0.25");
    te_set(engine, "stdout_limit", "12345");
    describe(HERMES_MODE_PROJECT, NULL);
    has("0.250-second timeout");
    has("12345 bytes");
    te_set(engine, "timeout", "off");
    describe(HERMES_MODE_PROJECT, NULL);
    has("no time limit");
    /* a stale key changes nothing */
    ck_assert_int_eq(
        hermes_configure(engine, "{\"kernel_mode\": \"per-call\"}", 27, &warnings, NULL), 0);
    describe(HERMES_MODE_STRICT, NULL);
    has("persistent session kernel");
}
END_TEST

/* The program, with the library's limits; what is printed. free() it. */
static char *run_program(const char *arguments, int *ret_status)
{
    char command[1000];
    char *output = calloc(1, 8192);
    FILE *pipe;

    snprintf(command, sizeof command, "env -u HERMES_REPL_TIMEOUT HERMES_REPL_CONFIG= '%s' %s 2>&1",
             test_build_path("hermes-repl"), arguments);
    pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    ck_assert_uint_lt(fread(output, 1, 8192, pipe), 8192);
    *ret_status = WEXITSTATUS(pclose(pipe));
    return output;
}

START_TEST(the_program_prints_it)
{
    int status;
    char *output = run_program("--schema", &status), *json;

    ck_assert_int_eq(status, 0);
    json = hermes_schema(engine, HERMES_MODE_PROJECT, NULL);
    ck_assert_uint_eq(strlen(output), strlen(json) + 1);
    ck_assert_int_eq(strncmp(output, json, strlen(json)), 0);
    hermes_free(json);
    free(output);
    output =
        run_program("--schema --tools patch,terminal --mode strict --cell-timeout 42", &status);
    ck_assert_int_eq(status, 0);
    ck_assert_msg(strstr(output, "42-second") && strstr(output, "temp dir") &&
                      strstr(output, "patch(") && strstr(output, "terminal(") &&
                      !strstr(output, "web_search"),
                  "%s", output);
    free(output);
    output = run_program("--schema --tools ''", &status);
    ck_assert_msg(status == 0 && strstr(output, "No tool can be called"), "%s", output);
    free(output);
    output = run_program("--schema --tools patch,pitch", &status);
    ck_assert_msg(status == 2 && strstr(output, "'pitch'") && strstr(output, "known: web_search,"),
                  "%s", output);
    free(output);
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("schema");
    TCase *tests = tcase_create("schema");

    tcase_add_checked_fixture(tests, te_set_up, te_tear_down);
    tcase_add_test(tests, both_modes);
    tcase_add_test(tests, mode_by_option);
    tcase_add_test(tests, only_enabled_tools);
    tcase_add_test(tests, numbers_as_configured);
    tcase_add_test(tests, the_program_prints_it);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return test_run(suite());
}
