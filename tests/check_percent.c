/* SPDX-License-Identifier: MIT */
/*
 * Scripts as cells: markers, what protects them, titles and tags, line numbers; decoding of
 * sources.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "percent.h"
#include "pylex.h"
#include "source-text.h"
#include "testlib.h"

static struct document document;

static void tear_down(void)
{
    document_free(&document);
}

static void split(const char *text)
{
    document_free(&document);
    percent_read(text, strlen(text), &document);
}

/* How many cells have something to run. */
static size_t running(void)
{
    size_t count = 0;
    for (size_t i = 0; i < document.count; i++)
        count += document_cell_runs(&document.cells[i]);
    return count;
}

/* ---- markers -------------------------------------------------------------------------------- */

START_TEST(what_is_a_marker)
{
    static const struct {
        const char *line;
        bool marker;
    } rows[] = {
        {"# %%", true},
        {"#%%", true},
        {"#  \t%%", true},
        {"# %% title", true},
        {"#%% title", true},
        {"# %%\ttitle", true},
        {"# %%% sub", true},
        {"# %%%% deeper", true},
        {"# %%[markdown]", true},
        {"#%%time", false},
        {"# %%bash", false},
        {"# %", false},
        {"## %%", false},
        {" # %%", false},
        {"\t#%%", false},
        {"#", false},
        {"", false},
        {"%%", false},
        {"# % %", false},
        {"#!%%", false},
        {"# %matplotlib inline", false},
        {"x = 1  # %%", false},
        {"# %%%", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t rest;
        bool marker = percent_is_marker(rows[i].line, strlen(rows[i].line), &rest);
        ck_assert_msg(marker == rows[i].marker, "'%s' %s", rows[i].line,
                      marker ? "is taken" : "is not taken");
    }
}
END_TEST

START_TEST(no_marker_is_one_cell)
{
    split("a = 1\nb = 2\n");
    ck_assert_uint_eq(document.count, 1);
    ck_assert_str_eq(document.cells[0].source, "a = 1\nb = 2\n");
    ck_assert_uint_eq(document.cells[0].first_line, 1);
    ck_assert_ptr_null(document.cells[0].marker);
    split("");
    ck_assert_uint_eq(running(), 0);
}
END_TEST

START_TEST(sources_and_lines)
{
    split("# ---\n# jupyter: x\n# ---\n# %% one\na = 1\n\n#%%\n# %%\r\nb = 2\r\n# %%");
    ck_assert_uint_eq(document.count, 5);
    ck_assert_str_eq(document.cells[0].source, "# ---\n# jupyter: x\n# ---\n");
    ck_assert_str_eq(document.cells[1].source, "a = 1\n\n");
    ck_assert_uint_eq(document.cells[1].first_line, 5);
    ck_assert_str_eq(document.cells[1].title, "one");
    ck_assert_str_eq(document.cells[2].source, "");
    ck_assert_str_eq(document.cells[3].source, "b = 2\r\n");
    ck_assert_uint_eq(document.cells[3].first_line, 9);
    ck_assert_str_eq(document.cells[3].marker, "# %%");
    ck_assert_str_eq(document.cells[4].source, "");
    ck_assert_uint_eq(running(), 3);
}
END_TEST

START_TEST(old_mac_line_ends)
{
    split("a = 1\r# %%\rb = 2\r");
    ck_assert_uint_eq(document.count, 2);
    ck_assert_str_eq(document.cells[1].source, "b = 2\r");
    ck_assert_uint_eq(document.cells[1].first_line, 3);
}
END_TEST

START_TEST(nul_in_a_cell)
{
    static const char text[] = "# %%\nx = 1\0\n# %%\ny\n";
    percent_read(text, sizeof text - 1, &document);
    ck_assert_uint_eq(document.count, 3);
    ck_assert_uint_eq(document.cells[1].size, 7);
    ck_assert_str_eq(document.cells[2].source, "y\n");
}
END_TEST

/* ---- strings -------------------------------------------------------------------------------- */

/* How many cells a text of two parts makes when the marker stands between them. */
static size_t cells_around(const char *before, const char *after)
{
    struct strbuf text = STRBUF_INIT;
    strbuf_addf(&text, "%s\n# %%%%\n%s\n", before, after);
    split(strbuf_text(&text));
    strbuf_free(&text);
    return document.count;
}

START_TEST(strings_protect_markers)
{
    static const struct {
        const char *before, *after;
        size_t cells;
    } rows[] = {
        {"x = '''", "'''", 1},
        {"x = \"\"\"a", "b\"\"\"", 1},
        {"x = r'''\\", "'''", 1},
        {"x = f'''{1} ", "'''", 1},
        {"x = f'''{a[\"", "\"]}'''", 1},
        {"x = f'''{f\"\"\"", "\"\"\"}'''", 1},
        {"x = '''it''s", "'''", 1},
        {"x = '''\\'''", "'''", 1},
        {"x = 'a\\", "b'", 1},
        /* closed, or no string at all */
        {"x = '''a'''", "y", 2},
        {"x = ''", "y", 2},
        {"x = ''''a'''", "y", 2},
        {"x = '\"\"\"'", "y", 2},
        {"# don't '''", "y", 2},
        {"x = 1  # \"\"\"", "y", 2},
        {"x = f\"{d['k']}\" ", "y", 2},
        {"x = f\"{d[\"k\"]}\" ", "y", 2},
        {"x = f\"{'''a'''}\"", "y", 2},
        {"x = f\"{\"'''\"}\"", "y", 2},
        {"x = f'{x:{w}}'", "y", 2},
        {"x = f'{{'", "y", 2},
        {"x = f'''{x:'>{w}} {y!r:^5}'''", "y", 2},
        {"x = f'''{ {1: 2}[1] }'''", "y", 2},
        {"x = f'\\N{DASH}'", "y", 2},
        {"x = rb'\\''", "y", 2},
        {"x = Rb\"\"\"\\\"\"\"\"", "y", 2},
        /* broken source */
        {"s = 'no end", "y", 2},
        {"x = 1 + \\", "y", 2},
        {"d = {'a': 1,", "y", 2},
        {"def f(:", "y", 2},
        {"print(f\"{x\")", "y", 2},
        {"x = f'''{a'''", "y", 2},
        {"x = f'''{a:b'''", "y", 2},
        {"!echo don't", "y", 2},
        {"}}}}))))", "y", 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t cells = cells_around(rows[i].before, rows[i].after);
        ck_assert_msg(cells == rows[i].cells, "%s: %zu cells", rows[i].before, cells);
    }
}
END_TEST

START_TEST(statements_begin)
{
    static const struct {
        const char *line;
        bool statement;
    } rows[] = {
        {"x = 1", true},  {"x = (", false},     {"x = [1,", false}, {"x = 1 + \\", false},
        {"# (", true},    {"x = '('", true},    {"x = '''", false}, {"f(1)", true},
        {"d = {", false}, {"x = f'{a}'", true}, {"x = ')'", true},  {"# ends in \\", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pylex lex = {.count = 0};
        pylex_line(&lex, rows[i].line, strlen(rows[i].line));
        ck_assert_msg(pylex_at_statement(&lex) == rows[i].statement, "%s", rows[i].line);
    }
}
END_TEST

START_TEST(deep_nesting_is_survived)
{
    struct pylex lex = {.count = 0};
    char line[800] = "";
    for (int i = 0; i < 60; i++)
        strcat(line, "f'''{f\"{");
    pylex_line(&lex, line, strlen(line));
    ck_assert_uint_le(lex.count, PYLEX_DEPTH);
}
END_TEST

/* ---- options of a marker -------------------------------------------------------------------- */

static const struct document_cell *marked(const char *marker)
{
    struct strbuf text = STRBUF_INIT;
    strbuf_addf(&text, "%s\nx\n", marker);
    split(strbuf_text(&text));
    strbuf_free(&text);
    ck_assert_uint_eq(document.count, 2);
    return &document.cells[1];
}

START_TEST(titles_kinds_tags)
{
    static const struct {
        const char *marker, *title;
        enum cell_kind kind;
        const char *tag;
    } rows[] = {
        {"# %%", NULL, CELL_CODE, NULL},
        {"# %% Load the data", "Load the data", CELL_CODE, NULL},
        {"#%%  plot it  ", "plot it", CELL_CODE, NULL},
        {"# %% [markdown]", NULL, CELL_MARKDOWN, NULL},
        {"# %% [md] Intro", "Intro", CELL_MARKDOWN, NULL},
        {"# %% Intro [markdown]", "Intro", CELL_MARKDOWN, NULL},
        {"# %%[raw]", NULL, CELL_RAW, NULL},
        {"# %% [code]", NULL, CELL_CODE, NULL},
        {"# %% a[0] is it", "a[0] is it", CELL_CODE, NULL},
        {"# %% [3] third", "[3] third", CELL_CODE, NULL},
        {"# %% tags=[\"parameters\"]", NULL, CELL_CODE, "parameters"},
        {"# %% tags=[\"parameters\"] {\"collapsed\": true}", NULL, CELL_CODE, "parameters"},
        {"# %% Set up slideshow={\"a\": [1]} tags=[\"x\", \"parameters\"]", "Set up", CELL_CODE,
         "parameters"},
        {"# %% {\"tags\": [\"parameters\"]}", NULL, CELL_CODE, "parameters"},
        {"# %% Title {\"tags\": [\"parameters\"]}", "Title", CELL_CODE, "parameters"},
        {"# %% tags=[broken", NULL, CELL_CODE, NULL},
        {"# %% is a == b?", "is a == b?", CELL_CODE, NULL},
        {"# %%% sub-cell", "sub-cell", CELL_CODE, NULL},
        {"# %% tags=[\"]\", \"parameters\"]", NULL, CELL_CODE, "parameters"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct document_cell *cell = marked(rows[i].marker);
        if (rows[i].title)
            ck_assert_str_eq(cell->title, rows[i].title);
        else
            ck_assert_msg(!cell->title, "%s: title %s", rows[i].marker, cell->title);
        ck_assert_int_eq(cell->kind, rows[i].kind);
        ck_assert_msg(document_cell_has_tag(cell, "parameters") == (rows[i].tag != NULL), "%s",
                      rows[i].marker);
    }
}
END_TEST

/* ---- decoding ------------------------------------------------------------------------------- */

static char *decode(const char *bytes, size_t size)
{
    struct strbuf text = STRBUF_INIT, error = STRBUF_INIT;
    bool good = source_decode(bytes, size, &text, &error);
    char *result = good ? strbuf_steal(&text) : strbuf_steal(&error);
    ck_assert_msg(good == (error.size == 0 && strncmp(result, "!", 1) != 0) || !good, "%s", result);
    strbuf_free(&text);
    strbuf_free(&error);
    return result;
}

START_TEST(encodings)
{
    static const struct {
        const char *bytes, *want;
    } rows[] = {
        {"x = 'é'\n", "x = 'é'\n"},
        {"\xEF\xBB\xBF# %%\n", "# %%\n"},
        {"# -*- coding: latin-1 -*-\nx = '\xE9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n"},
        {"#!/usr/bin/python\n# vim: set fileencoding=iso-8859-15 :\n'\xA4'\n",
         "#!/usr/bin/python\n# vim: set fileencoding=iso-8859-15 :\n'€'\n"},
        {"# coding: CP1252\n'\x80'\n", "# coding: CP1252\n'€'\n"},
        {"# coding=UTF_8\n'é'\n", "# coding=UTF_8\n'é'\n"},
        {"x = 1\n# coding: latin-1\n'é'\n",
         "x = 1\n# coding: latin-1\n'é'\n"}, /* a statement precedes it */
        {"\n\n# coding: latin-1\n'é'\n", "\n\n# coding: latin-1\n'é'\n"}, /* third line */
        {"# coding: ascii\n'\xE9'\n", "not ASCII: byte 0xe9 in line 2"},
        {"ok\n'\xE9'\n",
         "not UTF-8: byte 0xe9 in line 2, and no encoding declared in the first two lines"},
        {"# coding: klingon\n", "unknown encoding: klingon"},
        {"\xEF\xBB\xBF# coding: latin-1\n",
         "the declared encoding latin-1 contradicts the UTF-8 byte-order mark"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *got = decode(rows[i].bytes, strlen(rows[i].bytes));
        ck_assert_str_eq(got, rows[i].want);
        free(got);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("percent");
    TCase *markers = tcase_create("markers"), *strings = tcase_create("strings"),
          *rest = tcase_create("rest");

    tcase_add_checked_fixture(markers, NULL, tear_down);
    tcase_add_test(markers, what_is_a_marker);
    tcase_add_test(markers, no_marker_is_one_cell);
    tcase_add_test(markers, sources_and_lines);
    tcase_add_test(markers, old_mac_line_ends);
    tcase_add_test(markers, nul_in_a_cell);
    suite_add_tcase(suite, markers);
    tcase_add_checked_fixture(strings, NULL, tear_down);
    tcase_add_test(strings, strings_protect_markers);
    tcase_add_test(strings, statements_begin);
    tcase_add_test(strings, deep_nesting_is_survived);
    suite_add_tcase(suite, strings);
    tcase_add_checked_fixture(rest, NULL, tear_down);
    tcase_add_test(rest, titles_kinds_tags);
    tcase_add_test(rest, encodings);
    suite_add_tcase(suite, rest);
    return test_run(suite);
}
