/* SPDX-License-Identifier: MIT */
/*
 * What the tests of tools share: calls with JSON written in single quotes, in the test's directory,
 * and looks at the answer. Every answer is checked to be one JSON object in UTF-8.
 */
#ifndef TOOL_TESTLIB_H
#define TOOL_TESTLIB_H

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "json-scan.h"
#include "strbuf.h"
#include "testlib.h"
#include "tools/tool.h"

static struct tool_settings test_settings;
static struct tool_context test_context;
static cJSON *test_answer; /* of the last call */
static struct test_fds test_open_fds;

static inline void tool_test_setup(void)
{
    tool_settings_init(&test_settings);
    test_context =
        (struct tool_context){.cwd = test_directory(), .settings = &test_settings, .cancel_fd = -1};
    test_fds_take(&test_open_fds);
}

static inline void tool_test_teardown(void)
{
    cJSON_Delete(test_answer);
    test_answer = NULL;
    tool_settings_free(&test_settings);
    test_fds_check(&test_open_fds);
}

static inline cJSON *tool_test_take(struct strbuf *result)
{
    struct json_span value;
    struct strbuf error = STRBUF_INIT;
    ck_assert_msg(json_check(strbuf_text(result), result->size, &value, &error), "%s: %s",
                  strbuf_text(&error), strbuf_text(result));
    ck_assert_int_eq(json_kind_of(value), JSON_OBJECT);
    cJSON_Delete(test_answer);
    test_answer = cJSON_ParseWithLength(result->data, result->size);
    ck_assert_ptr_nonnull(test_answer);
    strbuf_free(result);
    return test_answer;
}

/* Call with arguments as they are. */
static inline cJSON *call_json(const char *name, const char *arguments)
{
    struct strbuf result = STRBUF_INIT;
    tool_call(&test_context, name, arguments, strlen(arguments), &result);
    return tool_test_take(&result);
}

/* Call with arguments as printf makes them, "'" for '"'. */
static inline cJSON *call(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline cJSON *call(const char *name, const char *format, ...)
{
    struct strbuf arguments = STRBUF_INIT;
    va_list values;
    va_start(values, format);
    strbuf_vaddf(&arguments, format, values);
    va_end(values);
    for (size_t i = 0; i < arguments.size; i++)
        arguments.data[i] = arguments.data[i] == '\'' ? '"' : arguments.data[i];
    cJSON *answer = call_json(name, strbuf_text(&arguments));
    strbuf_free(&arguments);
    return answer;
}

static inline const cJSON *member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static inline const char *text_of(const cJSON *object, const char *key)
{
    const cJSON *item = member(object, key);
    char *whole = item ? NULL : cJSON_Print(object);
    ck_assert_msg(cJSON_IsString(item), "no text %s in %s", key, whole ? whole : "the answer");
    return item->valuestring;
}

static inline long number_of(const cJSON *object, const char *key)
{
    const cJSON *item = member(object, key);
    ck_assert_msg(cJSON_IsNumber(item), "no number %s", key);
    return (long)item->valuedouble;
}

static inline bool is_true(const cJSON *object, const char *key)
{
    return cJSON_IsTrue(member(object, key));
}

/* The last answer must be an error that has this in it, and be one line. */
static inline void ck_error(const char *part)
{
    const char *error = text_of(test_answer, "error");
    ck_assert_msg(strstr(error, part) != NULL, "not \"%s\" in: %s", part, error);
    ck_assert_ptr_null(strchr(error, '\n'));
    ck_assert_int_eq(cJSON_GetArraySize(test_answer), 1);
}

static inline void ck_no_error(void)
{
    const cJSON *error = member(test_answer, "error");
    ck_assert_msg(!error, "error: %s", error ? error->valuestring : "");
}

static inline void ck_file(const char *name, const char *content)
{
    char *there = test_read_file(test_path("%s", name));
    ck_assert_msg(there != NULL, "no file %s", name);
    ck_assert_str_eq(there, content);
    free(there);
}

static inline TCase *tool_test_case(Suite *suite, const char *name)
{
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, tool_test_setup, tool_test_teardown);
    tcase_set_timeout(tests, 60);
    suite_add_tcase(suite, tests);
    return tests;
}

#endif
