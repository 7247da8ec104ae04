/* SPDX-License-Identifier: MIT */
/*
 * Hints: which one, its words, and that what they say to type works.
 */
#include "config.h"

#include <string.h>

#include "alloc.h"
#include "buf.h"
#include "engine-testlib.h"
#include "hint.h"

static char *hint_for(const char *traceback, const char *tools)
{
    return hr_hint(traceback, strlen(traceback), tools);
}

static void says(const char *traceback, const char *tools, const char *words)
{
    char *hint = hint_for(traceback, tools);

    ck_assert_msg(hint && strstr(hint, words), "\"%s\" lacks \"%s\"", hint ? hint : "(none)",
                  words);
    hr_free(hint);
}

static void says_not(const char *traceback, const char *tools, const char *words)
{
    char *hint = hint_for(traceback, tools);

    ck_assert_msg(hint && !strstr(hint, words), "\"%s\" has \"%s\"", hint ? hint : "(none)", words);
    hr_free(hint);
}

static void says_nothing(const char *traceback)
{
    char *hint = hint_for(traceback, NULL);

    ck_assert_msg(!hint, "\"%s\"", hint);
}

#define CANNOT(name)                                                                               \
    "ImportError: cannot import name '" name "' from 'hermes_tools' (/tmp/x/hermes_tools.py)\n"
#define UNDEFINED(name) "NameError: name '" name "' is not defined\n"
#define NO_MODULE(name) "ModuleNotFoundError: No module named '" name "'\n"

START_TEST(failed_imports)
{
    says(CANNOT("json_parse"), NULL, "`from hermes_tools import json_parse`");
    says(CANNOT("retry"), "", "hermes_tools.__file__");
    says(CANNOT("retry"), "", "reset=true");
    says(CANNOT("vision"), NULL, "vision is not available inside execute_code");
    says(CANNOT("vision"), NULL,
         "web_search, web_extract, read_file, write_file, search_files, patch, terminal, "
         "json_parse");
    says(CANNOT("terminal"), "patch\nread_file\n",
         ": patch, read_file, json_parse, shell_quote, retry.");
    says_nothing("ImportError: cannot import name 'x' from 'os' (/usr/lib/os.py)\n");
    says("ImportError: cannot import name 'x' from 'os' (y)\n" CANNOT("vision"), NULL,
         "vision is not");
    says_nothing("ImportError: cannot import name '");
    says_nothing("ImportError: cannot import name 'x");
}
END_TEST

START_TEST(helpers_need_an_import)
{
    says(UNDEFINED("json_parse"), NULL, "`from hermes_tools import json_parse`");
    says(UNDEFINED("shell_quote"), NULL, "`from hermes_tools import shell_quote`");
    says(UNDEFINED("retry"), NULL, "`from hermes_tools import retry`");
    says_nothing(UNDEFINED("retries"));
}
END_TEST

START_TEST(missing_modules)
{
    says(NO_MODULE("yaml"), NULL, "yaml is not installed");
    says(NO_MODULE("yaml.nodes"), NULL, "yaml is not installed");
    says(NO_MODULE("yaml"), "terminal\n", "terminal(command=");
    says_not(NO_MODULE("yaml"), "read_file\nxterminal\n", "terminal");
    says_nothing(NO_MODULE("hermes_tools"));
    says(NO_MODULE("hermes_tools"), "", "No tool is enabled");
}
END_TEST

START_TEST(results_are_dicts)
{
    says("TypeError: string indices must be integers\n", NULL, "is a dict already");
    says("TypeError: string indices must be integers, not 'str'\n", NULL, "is a dict already");
    says("AttributeError: 'str' object has no attribute 'get'\n", NULL, "is a dict already");
}
END_TEST

START_TEST(order_and_bounds)
{
    struct hr_buf text;

    says("string indices must be integers\n" NO_MODULE("a") UNDEFINED("retry") CANNOT("b"), NULL,
         "b is not available");
    says("string indices must be integers\n" NO_MODULE("a") UNDEFINED("retry"), NULL,
         "import retry");
    says_nothing("");
    says_nothing("ZeroDivisionError: division by zero\n");
    hr_buf_init(&text, 0);
    for (int i = 0; i < HR_HINT_LOOK - 40; i++) /* characters, not bytes */
        hr_buf_add_text(&text, "é");
    hr_buf_add_text(&text, UNDEFINED("retry"));
    says(text.data, NULL, "import retry");
    hr_buf_clear(&text);
    for (int i = 0; i < HR_HINT_LOOK; i++)
        hr_buf_add_text(&text, "é");
    hr_buf_add_text(&text, UNDEFINED("retry"));
    says_nothing(text.data);
    hr_buf_done(&text);
}
END_TEST

/* The code between the first pair of backquotes that has this in it. */
static void quoted(const char *hint, const char *part, char *code, size_t size)
{
    for (const char *at = strchr(hint, '`'), *end; at; at = strchr(end + 1, '`')) {
        end = strchr(at + 1, '`');
        ck_assert_ptr_nonnull(end);
        snprintf(code, size, "%.*s", (int)(end - at - 1), at + 1);
        if (strstr(code, part))
            return;
    }
    ck_abort_msg("no code with %s in: %s", part, hint);
}

/* report A46 */
START_TEST(what_the_hint_for_a_module_says_works)
{
    struct hermes_result *result = te_run("a", "import no_such_module_here.part");
    char code[200];

    EXPECT(result, result->outcome == HERMES_ERROR && result->hint);
    EXPECT(result, strstr(result->hint, "no_such_module_here is not installed"));
    quoted(result->hint, "sys", code, sizeof code);
    hermes_result_free(result);
    result = te_run("a", code); /* in the kernel that failed, and in a fresh one */
    EXPECT(result,
           result->outcome == HERMES_SUCCESS && result->reused && strstr(result->output, "python"));
    hermes_result_free(result);
    result = te_run_flags("a", code, HERMES_CELL_RESET);
    EXPECT(result, result->outcome == HERMES_SUCCESS && !result->reused &&
                       strstr(result->output, "python") && !result->hint);
    hermes_result_free(result);
}
END_TEST

START_TEST(hints_reach_results)
{
    struct hermes_result *result = te_run("a", "'x'.get('y')");
    char *json;

    EXPECT(result, result->hint && strstr(result->hint, "dict"));
    json = hermes_result_json(result, NULL);
    ck_assert_ptr_nonnull(strstr(json, "\"hint\":\"What a tool"));
    hermes_free(json);
    hermes_result_free(result);
    result = te_run("a", "retry(1)");
    EXPECT(result, result->hint && strstr(result->hint, "from hermes_tools import retry"));
    hermes_result_free(result);
    result = te_run("a", "1/0");
    EXPECT(result, !result->hint);
    hermes_result_free(result);
    result = te_run("a", "print(\"NameError: name 'retry' is not defined\")");
    EXPECT(result, !result->hint);
    hermes_result_free(result);
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("hint");
    TCase *texts = tcase_create("texts"), *cells = tcase_create("cells");

    tcase_add_test(texts, failed_imports);
    tcase_add_test(texts, helpers_need_an_import);
    tcase_add_test(texts, missing_modules);
    tcase_add_test(texts, results_are_dicts);
    tcase_add_test(texts, order_and_bounds);
    suite_add_tcase(suite, texts);
    tcase_set_timeout(cells, 60);
    tcase_add_checked_fixture(cells, te_set_up, te_tear_down);
    tcase_add_test(cells, what_the_hint_for_a_module_says_works);
    tcase_add_test(cells, hints_reach_results);
    suite_add_tcase(suite, cells);
    return suite;
}

int main(void)
{
    return test_run(suite());
}
