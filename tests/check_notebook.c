/* SPDX-License-Identifier: MIT */
/*
 * Notebooks in and out, what is kept as it was, and the other things a run writes: scripts,
 * Markdown, JUnit, files.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "atomic-file.h"
#include "json-pretty.h"
#include "json-scan.h"
#include "json-write.h"
#include "junit.h"
#include "notebook-write.h"
#include "notebook.h"
#include "percent.h"
#include "testlib.h"

static struct document document;
static struct strbuf error, out;
static struct cell_record records[20];

static void tear_down(void)
{
    document_free(&document);
    strbuf_free(&error);
    strbuf_free(&out);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        outputs_free(&records[i].outputs);
}

static bool read_text(const char *text)
{
    document_free(&document);
    return notebook_read(text, strlen(text), &document, &error);
}

static struct json_span top_of(const struct strbuf *text)
{
    struct json_span top = {NULL, 0};
    ck_assert_msg(json_check(text->data, text->size, &top, &error), "%s\n%s", strbuf_text(&error),
                  text->data);
    return top;
}

static struct json_span member(struct json_span object, const char *name)
{
    struct json_span value = {NULL, 0};
    ck_assert_msg(json_get(object, name, &value), "no member %s", name);
    return value;
}

static struct json_span element(struct json_span array, size_t index)
{
    struct json_span value = {NULL, 0};
    size_t position = 0;
    for (size_t i = 0; i <= index; i++)
        ck_assert(json_next_element(array, &position, &value));
    return value;
}

/* However it is laid out. */
static void check_span(struct json_span span, const char *want)
{
    struct strbuf is = STRBUF_INIT, should = STRBUF_INIT;
    struct json_span wanted;
    ck_assert(json_check(want, strlen(want), &wanted, &error));
    json_pretty(&is, span);
    json_pretty(&should, wanted);
    ck_assert_str_eq(strbuf_text(&is), strbuf_text(&should));
    strbuf_free(&is);
    strbuf_free(&should);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

START_TEST(json_good_and_bad)
{
    static const struct {
        const char *text, *fault; /* NULL: good */
    } rows[] = {
        {"{}", NULL},
        {" [1, -2.5e+3, true, false, null, NaN, Infinity, -Infinity, \"\\u00e9\\n\"] ", NULL},
        {"0", NULL},
        {"\"\\ud800\"", NULL},
        {"{\"a\":{\"b\":[[]]}}", NULL},
        {"", "line 1, column 1: the text ends early"},
        {"[1,]", "line 1, column 4: not a JSON value"},
        {"{\"a\":1,}", "line 1, column 8: a member without a name in double quotes"},
        {"[1 2]", "line 1, column 4: a comma or ] is missing"},
        {"01", "more text after the value"},
        {"-", "a malformed number"},
        {"1.", "a malformed number"},
        {"1e", "a malformed number"},
        {"\"a\nb\"", "line 1, column 3: a control character in a string"},
        {"\"\\x\"", "a malformed escape"},
        {"\"\\u12g4\"", "a malformed \\u escape"},
        {"\"abc", "a string that does not end"},
        {"tru", "not a JSON value"},
        {"{\n \"a\": \"\xC3\"}", "line 2, column 8: not UTF-8"},
        {"[", "the text ends early"},
        {"{} {}", "more text after the value"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool good = json_check(rows[i].text, strlen(rows[i].text), NULL, &error);
        ck_assert_msg(good == !rows[i].fault, "%s", rows[i].text);
        ck_assert_msg(good || strstr(strbuf_text(&error), rows[i].fault), "%s: %s", rows[i].text,
                      strbuf_text(&error));
    }
}
END_TEST

START_TEST(json_depth)
{
    static char deep[4000];
    memset(deep, '[', sizeof deep);
    ck_assert(!json_check(deep, sizeof deep, NULL, &error));
    ck_assert_ptr_nonnull(strstr(strbuf_text(&error), "levels of nesting"));
}
END_TEST

START_TEST(json_strings)
{
    struct json_span text;
    static const char source[] = "\"a\\u0000\\ud83d\\ude00\\ud800x\\\\\\\"\\/\\b\"";
    ck_assert(json_check(source, sizeof source - 1, &text, &error));
    json_decode(text, &out);
    static const char want[] = "a\0\xF0\x9F\x98\x80\xEF\xBF\xBDx\\\"/\b";
    ck_assert_uint_eq(out.size, sizeof want - 1);
    ck_assert_mem_eq(out.data, want, out.size);
    strbuf_clear(&out);
    json_add_string(&out, "a\0\xFF\"\\\n\x1b", 7);
    ck_assert_str_eq(out.data, "\"a\\u0000\xEF\xBF\xBD\\\"\\\\\\n\\u001b\"");
    strbuf_clear(&out);
    json_add_lines(&out, "a\n\nb", 4);
    ck_assert_str_eq(out.data, "[\"a\\n\", \"\\n\", \"b\"]");
    /* the last of a name counts, as in Python */
    struct json_span object, value;
    static const char twice[] = "{\"a\": 1, \"\\u0061\": 2}";
    ck_assert(json_check(twice, sizeof twice - 1, &object, &error));
    ck_assert(json_get(object, "a", &value));
    check_span(value, "2");
    ck_assert(!json_get(value, "a", &value));
}
END_TEST

START_TEST(json_layout)
{
    static const struct {
        const char *text, *laid_out;
    } rows[] = {
        {"{}", "{}"},
        {" [ ] ", "[]"},
        {"[1,[2.50,\"a\"],{\"b\":null}]",
         "[\n 1,\n [\n  2.50,\n  \"a\"\n ],\n {\n  \"b\": null\n }\n]"},
        {"{\"b\":1,\"a\":2,\"B\":3,\"ab\":4}",
         "{\n \"B\": 3,\n \"a\": 2,\n \"ab\": 4,\n \"b\": 1\n}"},
        {"{\"a\":1,\"\\u0061\":2}", "{\n \"\\u0061\": 2\n}"},
        {"\"\\u00e9\\/\\u001f\\b\\f\"", "\"\xC3\xA9/\\u001f\\b\\f\""},
        {"\"\\ud800\\u00e9\"", "\"\\ud800\\u00e9\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct json_span value;
        strbuf_clear(&out);
        ck_assert(json_check(rows[i].text, strlen(rows[i].text), &value, &error));
        json_pretty(&out, value);
        if (i == 4) /* of the same name the last counts, by its own spelling */
            ck_assert_ptr_nonnull(strstr(strbuf_text(&out), "2"));
        else
            ck_assert_str_eq(strbuf_text(&out), rows[i].laid_out);
    }
    strbuf_clear(&out);
    json_add_lines(&out,
                   "a\r\nb\rc\fd\xE2\x80\xA8"
                   "e",
                   12);
    ck_assert_str_eq(out.data, "[\"a\\r\\n\", \"b\\r\", \"c\\f\", \"d\xE2\x80\xA8\", \"e\"]");
}
END_TEST

/* ---- reading -------------------------------------------------------------------------------- */

#define TOP(cells)                                                                                 \
    "{\"nbformat\": 4, \"nbformat_minor\": 2, \"metadata\": {}, \"cells\": [" cells "]}"

START_TEST(cells_are_read)
{
    ck_assert_msg(read_text("\xEF\xBB\xBF" TOP(
                      "{\"cell_type\": \"markdown\", \"metadata\": {}, \"source\": [\"# T\\n\", "
                      "\"x\"], \"attachments\": {\"a\": 1.0}},"
                      "{\"cell_type\": \"code\", \"metadata\": {\"tags\": [\"parameters\", 3], "
                      "\"name\": \"Load\"}, \"source\": \"a\\u0000b\","
                      " \"execution_count\": 7, \"outputs\": [ ]},"
                      "{\"source\": [], \"cell_type\": \"raw\", \"id\": \"a\", \"id\": \"b;\"}")),
                  "%s", strbuf_text(&error));
    ck_assert_uint_eq(document.count, 3);
    ck_assert_str_eq(document.cells[2].id, "b;");
    ck_assert_ptr_null(document.cells[2].more);
    ck_assert_int_eq(document.cells[0].kind, CELL_MARKDOWN);
    ck_assert_str_eq(document.cells[0].source, "# T\nx");
    ck_assert_str_eq(document.cells[0].more, "\"attachments\": {\"a\": 1.0}");
    ck_assert_uint_eq(document.cells[1].size, 3);
    ck_assert(document_cell_has_tag(&document.cells[1], "parameters"));
    ck_assert_str_eq(document.cells[1].title, "Load");
    ck_assert_str_eq(document.cells[1].count, "7");
    ck_assert_int_eq(document.cells[2].kind, CELL_RAW);
}
END_TEST

START_TEST(what_is_no_notebook)
{
    static const struct {
        const char *text, *fault;
    } rows[] = {
        {"", "invalid notebook: not JSON, line 1, column 1"},
        {"print(1)\n", "not JSON, line 1"},
        {"[]", "not a JSON object"},
        {"{}", "there is no member nbformat"},
        {"{\"nbformat\": 3, \"worksheets\": []}", "notebook format 3 is not supported"},
        {"{\"nbformat\": 40}", "notebook format 40 is not supported"},
        {"{\"nbformat\": 4}", "there is no array cells"},
        {"{\"nbformat\": 4, \"cells\": {}}", "there is no array cells"},
        {"{\"nbformat\": 4, \"cells\": [], \"metadata\": 3}", "metadata is no object"},
        {TOP("3"), "item 1 of cells is no object"},
        {TOP("{\"cell_type\": \"code\"}"), "item 1 of cells has no source"},
        {TOP("{\"source\": \"\"}"), "item 1 of cells has no cell_type"},
        {TOP("{\"cell_type\": \"code\", \"source\": \"\"}, {\"cell_type\": \"heading\", "
             "\"source\": \"\"}"),
         "item 2 of cells has an unknown cell_type"},
        {TOP("{\"cell_type\": \"code\", \"source\": [1]}"), "has a source that is no text"},
        {TOP("{\"cell_type\": \"code\", \"source\": \"\", \"metadata\": []}"),
         "has metadata that is no object"},
        {"{\"nbformat\": 4, \"cells\": [], \"metadata\": {\"language_info\": {\"name\": \"R\"}}}",
         "language is R, not Python"},
        {"{\"nbformat\": 4, \"cells\": [], \"metadata\": {\"kernelspec\": {\"language\": "
         "\"julia\"}}}",
         "language is julia"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(!read_text(rows[i].text), "%s is taken", rows[i].text);
        ck_assert_msg(strstr(strbuf_text(&error), rows[i].fault), "%s: %s", rows[i].text,
                      strbuf_text(&error));
        ck_assert_ptr_null(strchr(strbuf_text(&error), '\n'));
    }
    ck_assert(read_text("{\"nbformat\": 4, \"cells\": [], \"metadata\": {\"language_info\": "
                        "{\"name\": \"python\"}}}"));
}
END_TEST

/* ---- writing -------------------------------------------------------------------------------- */

static struct json_span written_cell(size_t index)
{
    strbuf_clear(&out);
    notebook_write(&out, &document, records);
    return element(member(top_of(&out), "cells"), index);
}

START_TEST(untouched_parts_stay_as_they_were)
{
    ck_assert(read_text("{\"nbformat\": 4, \"nbformat_minor\": 5, \"metadata\": {\"x\": "
                        "12345678901234567890, \"y\": 3.0}, \"extra\": [1.50],"
                        "\"cells\": [{\"cell_type\": \"code\", \"id\": \"abc\", \"metadata\": "
                        "{\"k\": 1e2}, \"source\": \"x\", "
                        "\"execution_count\": 3, \"outputs\": [{\"output_type\": \"display_data\", "
                        "\"metadata\": {}, \"data\": {\"a/b\": NaN}}]},"
                        "{\"cell_type\": \"markdown\", \"id\": \"abc\", \"metadata\": {}, "
                        "\"source\": \"y\", \"attachments\": {}}]}"));
    struct json_span cell = written_cell(0), top = top_of(&out);
    check_span(member(cell, "id"), "\"abc\"");
    check_span(member(cell, "metadata"), "{\"k\": 1e2}");
    check_span(member(cell, "execution_count"), "3");
    check_span(member(cell, "outputs"),
               "[{\"output_type\": \"display_data\", \"metadata\": {}, \"data\": {\"a/b\": NaN}}]");
    check_span(member(top, "metadata"), "{\"x\": 12345678901234567890, \"y\": 3.0}");
    check_span(member(top, "extra"), "[1.50]");
    check_span(member(top, "nbformat_minor"), "5");
    cell = element(member(top, "cells"), 1);
    check_span(member(cell, "attachments"), "{}");
    struct json_span id = member(cell, "id");
    ck_assert_uint_eq(id.size, 18); /* a new one: the old was taken */
}
END_TEST

/* What Jupyter wrote is written back to the byte, whatever it holds. */
START_TEST(an_unchanged_notebook_is_the_same_file)
{
    static const char file[] =
        "{\n \"cells\": [\n  {\n   \"attachments\": {},\n   \"cell_type\": \"markdown\",\n"
        "   \"metadata\": {},\n   \"source\": [\n    \"# \xC3\xA9\\n\",\n    \"x\"\n   ]\n  },\n"
        "  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 3,\n   \"metadata\": {\n"
        "    \"k\": 1e2\n   },\n   \"outputs\": [\n    {\n     \"name\": \"stdout\",\n"
        "     \"output_type\": \"stream\",\n     \"text\": [\n      \"1\\n\"\n     ]\n    }\n   "
        "],\n"
        "   \"source\": []\n  }\n ],\n \"metadata\": {},\n \"nbformat\": 4,\n"
        " \"nbformat_minor\": 2\n}\n";
    ck_assert(read_text(file));
    notebook_write(&out, &document, NULL);
    ck_assert_str_eq(strbuf_text(&out), file);
}
END_TEST

START_TEST(outputs_are_written)
{
    static const char
        bundle[] = "{\"text/plain\": \"42\"}",
        trace[] = "Traceback (most recent call last):\n  File\nValueError: no: way\nat all\n";
    ck_assert(read_text(TOP("{\"cell_type\": \"code\", \"metadata\": {}, \"source\": \"x\\ny\", "
                            "\"execution_count\": 9, \"outputs\": [1]}")));
    records[0] = (struct cell_record){.fate = FATE_RUN, .execution_count = 2};
    outputs_add_stream(&records[0].outputs, 1, "a\xC3", 2);
    outputs_add_stream(&records[0].outputs, 1, "\xA9\nb", 3);
    outputs_add_stream(&records[0].outputs, 2, "e\xFF", 2);
    outputs_add_display(&records[0].outputs, false, bundle, sizeof bundle - 1);
    outputs_add_display(&records[0].outputs, true, bundle, sizeof bundle - 1);
    outputs_set_error(&records[0].outputs, trace, sizeof trace - 1);
    struct json_span cell = written_cell(0), outputs = member(cell, "outputs");
    check_span(member(cell, "source"), "[\"x\\n\", \"y\"]");
    check_span(member(cell, "execution_count"), "2");
    check_span(
        element(outputs, 0),
        "{\"name\": \"stdout\", \"output_type\": \"stream\", \"text\": [\"a\xC3\xA9\\n\", \"b\"]}");
    check_span(member(element(outputs, 1), "text"), "[\"e\xEF\xBF\xBD\"]");
    check_span(member(element(outputs, 2), "output_type"), "\"display_data\"");
    check_span(member(element(outputs, 3), "output_type"), "\"execute_result\"");
    check_span(member(element(outputs, 3), "data"), "{\"text/plain\": [\"42\"]}");
    check_span(member(element(outputs, 4), "ename"), "\"ValueError\"");
    check_span(member(element(outputs, 4), "evalue"), "\"no: way\\nat all\"");
    records[0].fate = FATE_NOT_RUN;
    cell = written_cell(0);
    check_span(member(cell, "execution_count"), "null");
    check_span(member(cell, "outputs"), "[]");
}
END_TEST

START_TEST(outputs_are_bounded)
{
    static char block[1000000];
    memset(block, 'x', sizeof block);
    ck_assert(read_text(TOP("{\"cell_type\": \"code\", \"metadata\": {}, \"source\": \"\"}")));
    records[0].fate = FATE_RUN;
    for (int i = 0; i < 12; i++)
        outputs_add_stream(&records[0].outputs, 1 + i % 2, block, sizeof block);
    ck_assert_uint_eq(records[0].outputs.bytes, OUTPUTS_LIMIT);
    ck_assert_uint_eq(records[0].outputs.dropped, 2000000);
    written_cell(0);
    ck_assert_ptr_nonnull(strstr(out.data, "2000000 more bytes of output were not saved"));
}
END_TEST

START_TEST(names_of_errors)
{
    static const struct {
        const char *text, *name, *message;
    } rows[] = {
        {"Traceback (most recent call last):\n  a\nKeyError: 'x'\n", "KeyError", "'x'"},
        {"Traceback (most recent call last):\n  a\njson.decoder.JSONDecodeError: bad\n",
         "json.decoder.JSONDecodeError", "bad"},
        {"Traceback (most recent call last):\n  a\nKeyboardInterrupt\n", "KeyboardInterrupt", ""},
        {"Traceback (most recent call last):\n  a\nFoo: a\nb c\n  d\n", "Foo", "a\nb c\n  d"},
        {"  File \"x\", line 1\n    x x\n      ^\nSyntaxError: invalid syntax\n", "SyntaxError",
         "invalid syntax"},
        {"Cell timed out after 2 s\nmore", "Error", "Cell timed out after 2 s"},
        {"", "Error", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error_name name = outputs_error_name(rows[i].text, strlen(rows[i].text));
        ck_assert_msg(name.name_size == strlen(rows[i].name) &&
                          !memcmp(name.name, rows[i].name, name.name_size),
                      "%.*s", (int)name.name_size, name.name);
        ck_assert_msg(name.message_size == strlen(rows[i].message) &&
                          !memcmp(name.message, rows[i].message, name.message_size),
                      "%.*s", (int)name.message_size, name.message);
    }
}
END_TEST

static const char script[] =
    "# ---\n# jupyter: x\n# ---\n\n# %% [markdown]\n# # Title\n# text\n#\n# %% "
    "[markdown]\n\"\"\"\nin quotes\n\"\"\"\n"
    "# %% Load tags=[\"parameters\"]\na = 1\n\n\n# %%\n\n# %% [raw]\n# raw\n";

START_TEST(a_script_becomes_a_notebook)
{
    percent_read(script, sizeof script - 1, &document);
    struct json_span first = written_cell(0), cells = member(top_of(&out), "cells");
    check_span(member(first, "cell_type"), "\"code\"");
    check_span(member(element(cells, 1), "source"), "[\"# Title\\n\", \"text\"]");
    check_span(member(element(cells, 2), "source"), "[\"in quotes\"]");
    check_span(member(element(cells, 3), "source"), "[\"a = 1\"]");
    check_span(member(element(cells, 3), "metadata"),
               "{\"tags\": [\"parameters\"], \"title\": \"Load\"}");
    check_span(member(element(cells, 4), "cell_type"), "\"raw\"");
}
END_TEST

START_TEST(a_script_stays_a_script)
{
    percent_read(script, sizeof script - 1, &document);
    script_write(&out, &document);
    char *once = strdup(out.data);
    ck_assert_ptr_nonnull(strstr(once, "# %% Load tags=[\"parameters\"]\na = 1\n\n# %%\n"));
    document_free(&document);
    percent_read(once, strlen(once), &document);
    strbuf_clear(&out);
    script_write(&out, &document);
    ck_assert_str_eq(out.data, once);
    free(once);
}
END_TEST

START_TEST(a_notebook_becomes_a_script)
{
    ck_assert(read_text(TOP("{\"cell_type\": \"markdown\", \"source\": \"# T\\n\\nx\"},"
                            "{\"cell_type\": \"code\", \"source\": \"%matplotlib inline\\nx = "
                            "'''\\n%a\\n'''\\n# %%\\n\", "
                            "\"metadata\": {\"tags\": [\"t\"]}},"
                            "{\"cell_type\": \"code\", \"source\": \"%%bash\\nls\"}")));
    script_write(&out, &document);
    ck_assert_str_eq(out.data, "# %% [markdown]\n# # T\n#\n# x\n\n# %% tags=[\"t\"]\n# "
                               "%matplotlib inline\nx = '''\n%a\n'''\n# # %%\n\n"
                               "# %%\n# %%bash\n# ls\n");
    document_free(&document);
    percent_read(out.data, out.size, &document);
    ck_assert_uint_eq(document.count, 4);
}
END_TEST

START_TEST(markdown)
{
    static const char code[] = "# %% [markdown]\n# Hello\n# %% Run\nprint('```')\n";
    percent_read(code, sizeof code - 1, &document);
    records[2].fate = FATE_RUN;
    outputs_add_stream(&records[2].outputs, 1, "```\n", 4);
    outputs_add_display(&records[2].outputs, true, "{\"text/plain\": \"7\"}", 19);
    markdown_write(&out, &document, records);
    ck_assert_str_eq(
        out.data,
        "Hello\n\n## "
        "Run\n\n````python\nprint('```')\n````\n\n````text\n```\n````\n\n```text\n7\n```\n");
}
END_TEST

/* ---- JUnit ---------------------------------------------------------------------------------- */

START_TEST(junit_is_well_formed)
{
    struct junit junit = {NULL, 0, 0};
    struct junit_case *one = junit_add(&junit);
    one->name = strdup("cell 1: <a & \"b\">\n\x01");
    one->seconds = 1.5;
    one = junit_add(&junit);
    one->name = strdup("cell 2");
    one->verdict = JUNIT_FAILED;
    one->type = strdup("ValueError");
    one->message = strdup("bad ]]> \x1b[31m\xFF");
    one->text = strdup("trace\r\n<x>\x0c \xEF\xBF\xBE");
    one->output = strdup("out");
    one = junit_add(&junit);
    one->name = strdup("cell 3");
    one->verdict = JUNIT_SKIPPED;
    one->message = strdup("not run");
    junit_write(&out, &junit, "f.py", "2020-01-01T00:00:00Z", 2);
    junit_free(&junit);
    ck_assert_ptr_nonnull(
        strstr(out.data, "tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\" time=\"2.000\""));
    ck_assert_ptr_nonnull(
        strstr(out.data, "name=\"cell 1: &lt;a &amp; &quot;b&quot;&gt;&#10;\"")
            ?: strstr(out.data, "name=\"cell 1: &lt;a &amp; &#34;b&#34;&gt;&#10;\""));
    ck_assert_ptr_nonnull(strstr(out.data, "message=\"bad ]]&gt; [31m\xEF\xBF\xBD\""));
    ck_assert_ptr_nonnull(strstr(out.data, ">trace&#13;\n&lt;x&gt; </failure>"));
    ck_assert_ptr_nonnull(strstr(out.data, "<skipped message=\"not run\"/>"));
}
END_TEST

/* ---- files ---------------------------------------------------------------------------------- */

START_TEST(files_are_whole_or_old)
{
    char path[400], link_path[400];
    struct stat status;
    snprintf(path, sizeof path, "%s", test_path("out.txt"));
    snprintf(link_path, sizeof link_path, "%s", test_path("link"));
    ck_assert(atomic_file_check(path, &error));
    ck_assert(!test_exists(path));
    ck_assert(atomic_file_write(path, "one", 3, &error));
    ck_assert_int_eq(chmod(path, 0640), 0);
    ck_assert_int_eq(symlink("out.txt", link_path), 0);
    ck_assert(atomic_file_write(link_path, "two", 3, &error));
    char *text = test_read_file(path);
    ck_assert_str_eq(text, "two");
    free(text);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0640);
    ck_assert_int_eq(lstat(link_path, &status), 0);
    ck_assert(S_ISLNK(status.st_mode));
    ck_assert(!atomic_file_check(test_directory(), &error));
    ck_assert_ptr_nonnull(strstr(strbuf_text(&error), "Is a directory"));
    ck_assert(!atomic_file_check(test_path("none/x"), &error));
    ck_assert(!atomic_file_check("", &error));
    ck_assert(!atomic_file_write(test_path("none/x"), "x", 1, &error));
    ck_assert(atomic_file_check("/dev/null", &error));
    ck_assert(atomic_file_write("/dev/null", "x", 1, &error));
    ck_assert_int_eq(stat("/dev/null", &status), 0);
    ck_assert(S_ISCHR(status.st_mode));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("notebook");
    TCase *json = tcase_create("json"), *in = tcase_create("read"),
          *outward = tcase_create("write");

    tcase_add_checked_fixture(json, NULL, tear_down);
    tcase_add_test(json, json_good_and_bad);
    tcase_add_test(json, json_depth);
    tcase_add_test(json, json_strings);
    tcase_add_test(json, json_layout);
    suite_add_tcase(suite, json);
    tcase_add_checked_fixture(in, NULL, tear_down);
    tcase_add_test(in, cells_are_read);
    tcase_add_test(in, what_is_no_notebook);
    suite_add_tcase(suite, in);
    tcase_add_checked_fixture(outward, NULL, tear_down);
    tcase_add_test(outward, untouched_parts_stay_as_they_were);
    tcase_add_test(outward, an_unchanged_notebook_is_the_same_file);
    tcase_add_test(outward, outputs_are_written);
    tcase_add_test(outward, outputs_are_bounded);
    tcase_add_test(outward, names_of_errors);
    tcase_add_test(outward, a_script_becomes_a_notebook);
    tcase_add_test(outward, a_script_stays_a_script);
    tcase_add_test(outward, a_notebook_becomes_a_script);
    tcase_add_test(outward, markdown);
    tcase_add_test(outward, junit_is_well_formed);
    tcase_add_test(outward, files_are_whole_or_old);
    suite_add_tcase(suite, outward);
    return test_run(suite);
}
