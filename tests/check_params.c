/* SPDX-License-Identifier: MIT */
/*
 * Parameters with papermill's meaning, and where their cell goes.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "params.h"
#include "percent.h"
#include "testlib.h"

static struct params params;
static struct document document;
static struct strbuf error;

static void tear_down(void)
{
    params_free(&params);
    document_free(&document);
    strbuf_free(&error);
}

START_TEST(words_get_types)
{
    static const struct {
        const char *word, *expression;
    } rows[] = {
        {"x=1", "1"},
        {"x=-12", "-12"},
        {"x=+5", "5"},
        {"x=1_000", "1000"},
        {"x=007", "7"},
        {"x=-0", "0"},
        {"x= 3 ", "3"},
        {"x=1.5", "1.5"},
        {"x=.5", ".5"},
        {"x=5.", "5."},
        {"x=1e3", "1e3"},
        {"x=-2.5E-3", "-2.5e-3"},
        {"x=True", "True"},
        {"x=False", "False"},
        {"x=None", "None"},
        {"x=true", "\"true\""},
        {"x=", "\"\""},
        {"x=abc", "\"abc\""},
        {"x=1 2", "\"1 2\""},
        {"x=1__0", "\"1__0\""},
        {"x=_1", "\"_1\""},
        {"x=0x10", "\"0x10\""},
        {"x=1e", "\"1e\""},
        {"x=.", "\".\""},
        {"x=-", "\"-\""},
        {"x=nan", "float('nan')"},
        {"x=-inf", "float('-inf')"},
        {"x=Infinity", "float('inf')"},
        {"x=a=b", "\"a=b\""},
        {"x=\"q\"\\", "\"\\\"q\\\"\\\\\""},
        {"x=é", "\"é\""},
        {"x=a\tb\nc", "\"a\\tb\\nc\""},
        {"x=[1, 2]", "\"[1, 2]\""},
        {"x=99999999999999999999", "99999999999999999999"},
        {"x=a\xFF", "\"a\\ufffd\""},
        {"x=a\x01", "\"a\\x01\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(params_add_text(&params, rows[i].word, &error), "%s", strbuf_text(&error));
        ck_assert_uint_eq(params.count, 1);
        ck_assert_str_eq(params.items[0].value, rows[i].expression);
    }
}
END_TEST

START_TEST(bad_names)
{
    static const char *const words[] = {"x",     "1x=2",   "=3",    "a b=1", "a-b=1",
                                        "for=1", "None=2", "a.b=1", "\xFF=1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        ck_assert_msg(!params_add_text(&params, words[i], &error), "%s is taken", words[i]);
        ck_assert_ptr_nonnull(strchr(strbuf_text(&error), '\''));
    }
    ck_assert(params_add_text(&params, "größe=1", &error));
    ck_assert(params_add_text(&params, "_fo=1", &error));
    ck_assert(params_add_text(&params, "fore=1", &error));
}
END_TEST

START_TEST(json_keeps_numbers)
{
    static const char text[] = "{\"a\": 12345678901234567890, \"b\": 3.0, \"c\": [1, null, {\"k\": "
                               "true}], \"d\": \"q\\u0000\\\"\","
                               " \"e\": NaN, \"f\": -Infinity, \"a\": 7, \"g\": {}, \"h\": false}";
    static const char *const want[] = {
        "7",  "3.0",  "[1, None, {\"k\": True}]", "\"q\\x00\\\"\"", "float('nan')", "float('-inf')",
        "{}", "False"};
    ck_assert_msg(params_add_json(&params, text, sizeof text - 1, &error), "%s",
                  strbuf_text(&error));
    ck_assert_uint_eq(params.count, 8);
    for (size_t i = 0; i < 8; i++)
        ck_assert_str_eq(params.items[i].value, want[i]);
    ck_assert(params_add_text(&params, "b=x", &error));
    ck_assert_str_eq(params.items[1].value, "\"x\"");
    ck_assert_uint_eq(params.count, 8);
}
END_TEST

START_TEST(json_that_is_none)
{
    static const char *const texts[] = {
        "", "[1]", "alpha: 1\n", "{\"a\": 1,}", "{\"a b\": 1}", "{\"a\": 01}", "{'a': 1}", "3"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_msg(!params_add_json(&params, texts[i], strlen(texts[i]), &error), "%s is taken",
                      texts[i]);
}
END_TEST

/* ---- the cell ------------------------------------------------------------------------------- */

static size_t inject_into(const char *script)
{
    document_free(&document);
    percent_read(script, strlen(script), &document);
    return params_inject(&params, &document);
}

START_TEST(where_the_cell_goes)
{
    ck_assert(params_add_text(&params, "a=1", &error));
    ck_assert(params_add_text(&params, "b=two", &error));
    ck_assert_uint_eq(inject_into("x = 1\n# %%\ny = 2\n"), 0);
    ck_assert_uint_eq(document.count, 3);
    ck_assert_str_eq(document.cells[0].source, "# Parameters\na = 1\nb = \"two\"\n");
    ck_assert(document_cell_has_tag(&document.cells[0], "injected-parameters"));
    ck_assert_uint_eq(inject_into("x = 1\n# %% tags=[\"parameters\"]\na = 0\n# %%\ny = 2\n"), 2);
    ck_assert_str_eq(document.cells[1].source, "a = 0\n");
    ck_assert_str_eq(document.cells[3].source, "y = 2\n");
    /* what an earlier run injected is replaced */
    ck_assert_uint_eq(
        inject_into(
            "# %% tags=[\"parameters\"]\na = 0\n# %% tags=[\"injected-parameters\"]\na = 5\n"),
        2);
    ck_assert_uint_eq(document.count, 3);
    ck_assert_str_eq(document.cells[2].source, "# Parameters\na = 1\nb = \"two\"\n");
    /* a tag on prose is none */
    ck_assert_uint_eq(inject_into("# %% [markdown] tags=[\"parameters\"]\n# a\n# %%\nb\n"), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("params");
    TCase *tests = tcase_create("params");

    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, words_get_types);
    tcase_add_test(tests, bad_names);
    tcase_add_test(tests, json_keeps_numbers);
    tcase_add_test(tests, json_that_is_none);
    tcase_add_test(tests, where_the_cell_goes);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
