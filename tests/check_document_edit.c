/* SPDX-License-Identifier: MIT */
/*
 * Changing a document: each change, what stays with a cell, undo and redo of anything, and scripts
 * that are the same to the byte where nothing was changed.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "document-edit.h"
#include "document-script.h"
#include "notebook-write.h"
#include "notebook.h"
#include "testlib.h"

static struct document document;
static struct document_edits edits;
static struct document_script script;
static struct strbuf text, error;

static void tear_down(void)
{
    document_edits_free(&edits);
    document_free(&document);
    document_script_free(&script);
    strbuf_free(&text);
    strbuf_free(&error);
}

static void open_script(const char *source)
{
    ck_assert(document_script_read(&script, &document, source, strlen(source), &error));
    document_edits_init(&edits, &document);
    edits.crlf = script.crlf;
}

static void open_notebook(const char *json)
{
    ck_assert_msg(notebook_read(json, strlen(json), &document, &error), "%s", strbuf_text(&error));
    document_edits_init(&edits, &document);
}

/* The file as it would be written. */
static const char *file(void)
{
    strbuf_clear(&text);
    if (document.format == DOCUMENT_SCRIPT)
        document_script_write(&script, &document, &text);
    else
        notebook_write(&text, &document, NULL);
    return strbuf_text(&text);
}

/* "c:a = 1|m:# x": kinds and sources. */
static const char *shape(void)
{
    static const char letters[] = "cmr";
    strbuf_clear(&text);
    for (size_t i = 0; i < document.count; i++) {
        strbuf_addf(&text, "%s%c:", i ? "|" : "", letters[document.cells[i].kind]);
        strbuf_add(&text, document.cells[i].source, document_edit_shown_size(&document.cells[i]));
    }
    return strbuf_text(&text);
}

static void undo(void)
{
    uint64_t key;
    ck_assert(document_edit_undo(&edits, &key));
}

static void redo(void)
{
    uint64_t key;
    ck_assert(document_edit_redo(&edits, &key));
}

#define SCRIPT "import os\n\n# %% two\nx = 1\ny = 2\n\n\n# %% [markdown]\n# Text\n\n#%%\nz = 3\n"

static const char notebook[] =
    "{\"cells\": [{\"id\": \"aa\", \"cell_type\": \"code\", \"metadata\": {\"k\": [1, 2.50]}, "
    "\"source\": \"a = 1\\nb = 2\\nc = 3\", \"outputs\": [{\"output_type\": \"stream\", \"name\": "
    "\"stdout\", \"text\": [\"hi\"]}], \"execution_count\": 7},"
    "{\"id\": \"bb\", \"cell_type\": \"markdown\", \"metadata\": {}, \"source\": [\"# T\"], "
    "\"attachments\": {\"i.png\": {\"image/png\": \"AAAA\"}}},"
    "{\"id\": \"cc\", \"cell_type\": \"markdown\", \"metadata\": {}, \"source\": [\"more\"]},"
    "{\"id\": \"dd\", \"cell_type\": \"code\", \"metadata\": {}, \"source\": [], \"outputs\": [], "
    "\"execution_count\": null}],"
    "\"metadata\": {\"custom\": true}, \"nbformat\": 4, \"nbformat_minor\": 5}";

/* ---- each change ---------------------------------------------------------------------------- */

START_TEST(a_cell_is_inserted_deleted_and_comes_back)
{
    uint64_t key;
    open_notebook(notebook);
    document_edit_insert(&edits, 1, &key);
    ck_assert_str_eq(shape(), "c:a = 1\nb = 2\nc = 3|c:|m:# T|m:more|c:");
    ck_assert_uint_eq(document_edit_find(&document, key), 1);
    ck_assert(document_edits_changed(&edits));
    document_edit_delete(&edits, 0);
    ck_assert_str_eq(shape(), "c:|m:# T|m:more|c:");
    undo();
    undo();
    ck_assert_str_eq(shape(), "c:a = 1\nb = 2\nc = 3|m:# T|m:more|c:");
    ck_assert(!document_edits_changed(&edits));
    ck_assert(!document_edit_undo(&edits, &key));
    redo();
    redo();
    ck_assert_str_eq(shape(), "c:|m:# T|m:more|c:");
    ck_assert(!document_edit_redo(&edits, &key));
}
END_TEST

START_TEST(a_move_takes_everything_along)
{
    open_notebook(notebook);
    uint64_t key = document.cells[0].key;
    ck_assert(document_edit_move(&edits, 0, true, &error));
    ck_assert_str_eq(shape(), "m:# T|c:a = 1\nb = 2\nc = 3|m:more|c:");
    ck_assert_uint_eq(document.cells[1].key, key);
    ck_assert_str_eq(document.cells[1].id, "aa");
    ck_assert_str_eq(document.cells[1].metadata, "{\"k\": [1, 2.50]}");
    ck_assert_ptr_nonnull(strstr(document.cells[1].outputs, "\"hi\""));
    ck_assert_str_eq(document.cells[1].count, "7");
    ck_assert(!document_edit_move(&edits, 0, false, &error));
    ck_assert_str_eq(strbuf_text(&error), "it is the first cell");
    ck_assert(!document_edit_move(&edits, 3, true, &error));
    ck_assert_str_eq(strbuf_text(&error), "it is the last cell");
}
END_TEST

START_TEST(a_split_makes_two_cells_of_its_lines)
{
    open_notebook(notebook);
    uint64_t key = document.cells[0].key;
    ck_assert(!document_edit_split(&edits, 0, 1, &error));
    ck_assert(!document_edit_split(&edits, 0, 4, &error));
    ck_assert(!document_edit_split(&edits, 3, 2, &error));
    ck_assert(!document_edits_changed(&edits));
    ck_assert(document_edit_split(&edits, 0, 2, &error));
    ck_assert_str_eq(shape(), "c:a = 1|c:b = 2\nc = 3|m:# T|m:more|c:");
    ck_assert_str_eq(document.cells[0].id, "aa");
    ck_assert_ptr_null(document.cells[0].outputs); /* they were of another cell */
    ck_assert_uint_ne(document.cells[0].key, key);
    ck_assert_uint_ne(document.cells[0].key, document.cells[1].key);
    undo();
    ck_assert_uint_eq(document.cells[0].key, key);
    ck_assert_ptr_nonnull(document.cells[0].outputs);
}
END_TEST

START_TEST(a_merge_keeps_what_both_have)
{
    open_notebook(notebook);
    ck_assert(!document_edit_merge(&edits, 0, &error));
    ck_assert_ptr_nonnull(strstr(strbuf_text(&error), "one kind"));
    ck_assert(!document_edit_merge(&edits, 3, &error));
    ck_assert(document_edit_merge(&edits, 1, &error));
    ck_assert_str_eq(shape(), "c:a = 1\nb = 2\nc = 3|m:# T\n\nmore|c:");
    ck_assert_ptr_nonnull(strstr(document.cells[1].more, "attachments"));
    undo();
    free(document.cells[2].more);
    document.cells[2].more = strdup("\"attachments\": {}");
    ck_assert(!document_edit_merge(&edits, 1, &error)); /* one set would be lost */
}
END_TEST

START_TEST(a_kind_changes_what_the_file_has)
{
    open_notebook(notebook);
    document_edit_set_kind(&edits, 1, CELL_CODE);
    ck_assert_ptr_null(document.cells[1].more); /* code has no attachments */
    ck_assert_ptr_null(strstr(file(), "attachments"));
    undo();
    ck_assert_ptr_nonnull(strstr(file(), "attachments"));
    tear_down();
    open_script(SCRIPT);
    document_edit_set_kind(&edits, 1, CELL_MARKDOWN);
    document_edit_set_kind(&edits, 2, CELL_CODE);
    ck_assert_str_eq(file(),
                     "import os\n\n# %% two [markdown]\n# x = 1\n# y = 2\n\n\n# %%\nText\n\n"
                     "#%%\nz = 3\n");
    undo();
    undo();
    ck_assert_str_eq(file(), SCRIPT);
}
END_TEST

START_TEST(a_source_is_replaced_and_the_rest_of_the_file_stays)
{
    open_script(SCRIPT);
    ck_assert(!document_edit_set_source(&edits, 1, "x = 1\ny = 2", 11));
    ck_assert(document_edit_set_source(&edits, 1, "x = 9", 5));
    ck_assert_str_eq(file(), "import os\n\n# %% two\nx = 9\n\n\n# %% [markdown]\n# Text\n\n#%%\n"
                             "z = 3\n");
    ck_assert_uint_eq(document.cells[1].first_line, 4);
    ck_assert_uint_eq(document.cells[3].first_line, 11);
}
END_TEST

/* ---- scripts -------------------------------------------------------------------------------- */

START_TEST(a_script_that_is_not_changed_is_the_same)
{
    static const char *const files[] = {
        SCRIPT,
        "",
        "x",
        "\n\n# %%\n\n\n\nx = 1\n\n\n\n# %%\n",
        "#!/usr/bin/python\n# -*- coding: utf-8 -*-\n#%% a\r\nx\n",
        "# %%\r\na = 1\r\n\r\n# %%  two  \r\nb = 2\r\n",
        "\xEF\xBB\xBF# %%\nx = 'ä'\n",
        "s = '''\n# %% no\n'''\n# %% yes\nz",
        "# ---\n# jupyter:\n#   x: 1\n# ---\n\n# %% [markdown] slideshow={\"a\": 1}\n# T\n",
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        open_script(files[i]);
        ck_assert(!script.foreign);
        if (i != 4) /* line ends are mixed there: those of markers become one */
            ck_assert_str_eq(file(), files[i]);
        tear_down();
    }
}
END_TEST

START_TEST(other_encodings_are_known)
{
    open_script("# -*- coding: latin-1 -*-\nx = '\xe4'\n");
    ck_assert(script.foreign);
}
END_TEST

START_TEST(new_cells_of_a_script_get_markers_and_room)
{
    uint64_t key;
    open_script("x = 1\n");
    document_edit_insert(&edits, 1, &key);
    document_edit_set_source(&edits, 1, "y = 2", 5);
    ck_assert_str_eq(file(), "x = 1\n\n# %%\ny = 2\n");
    document_edit_insert(&edits, 0, &key);
    ck_assert_str_eq(file(), "\n\n# %%\nx = 1\n\n# %%\ny = 2\n");
    ck_assert(document_edit_move(&edits, 1, true, &error));
    ck_assert_str_eq(file(), "\n\n# %%\ny = 2\n\n# %%\nx = 1\n\n");
    tear_down();
    open_script("# %%\r\na = 1\r\nb = 2\r\n");
    ck_assert(document_edit_split(&edits, 0, 2, &error));
    ck_assert_str_eq(file(), "# %%\r\na = 1\r\n\r\n# %%\r\nb = 2\r\n");
    document_edit_set_source(&edits, 0, "a\nc", 3);
    ck_assert_str_eq(file(), "# %%\r\na\r\nc\r\n\r\n# %%\r\nb = 2\r\n");
}
END_TEST

/* ---- ids ------------------------------------------------------------------------------------ */

START_TEST(ids_are_given_once)
{
    uint64_t key;
    open_notebook(notebook);
    document_edit_insert(&edits, 1, &key);
    document_edit_give_ids(&document);
    ck_assert_uint_eq(strlen(document.cells[1].id), 16);
    ck_assert_str_eq(document.cells[0].id, "aa");
    char *first = strdup(file());
    ck_assert_str_eq(file(), first);
    free(first);
}
END_TEST

/* ---- anything ------------------------------------------------------------------------------- */

static unsigned random_state;
static unsigned dice(unsigned sides)
{
    random_state = random_state * 1103515245 + 12345;
    return (random_state >> 16) % sides;
}

static void change_something(void)
{
    static const char *const sources[] = {"", "p = 1", "q = 2\nr = 3\n\ns", "# hm\n", "\n\nt"};
    uint64_t key;
    size_t at = document.count ? dice((unsigned)document.count) : 0;
    const char *source = sources[dice(5)];
    switch (document.count ? dice(8) : 0) {
    case 0:
        document_edit_insert(&edits, dice((unsigned)document.count + 1), &key);
        break;
    case 1:
        document_edit_delete(&edits, at);
        break;
    case 2:
        document_edit_move(&edits, at, dice(2), &error);
        break;
    case 3:
        document_edit_split(&edits, at, 1 + dice(4), &error);
        break;
    case 4:
        document_edit_merge(&edits, at, &error);
        break;
    case 5:
        document_edit_set_kind(&edits, at, (enum cell_kind)dice(3));
        break;
    case 6:
        document_edit_undo(&edits, &key);
        break;
    default:
        document_edit_set_source(&edits, at, source, strlen(source));
        break;
    }
}

static void change_and_undo_all(void)
{
    uint64_t key;
    char *first = strdup(file());
    for (int i = 0; i < 60; i++) {
        change_something();
        for (size_t a = 0; a < document.count; a++) { /* keys are of one cell each */
            ck_assert_uint_ne(document.cells[a].key, 0);
            ck_assert_uint_eq(document_edit_find(&document, document.cells[a].key), a);
        }
    }
    while (document_edit_redo(&edits, &key)) /* what change_something() has undone last */
        continue;
    if (document.format == DOCUMENT_NOTEBOOK) /* else each file has new ones */
        document_edit_give_ids(&document);
    char *last = strdup(file());
    while (document_edit_undo(&edits, &key))
        continue;
    ck_assert_str_eq(file(), first);
    while (document_edit_redo(&edits, &key))
        continue;
    if (document.format == DOCUMENT_SCRIPT)
        ck_assert_str_eq(file(), last);
    free(first);
    free(last);
}

START_TEST(anything_can_be_undone)
{
    random_state = (unsigned)_i * 7919 + 1;
    open_script(SCRIPT);
    change_and_undo_all();
    tear_down();
    open_notebook(notebook);
    change_and_undo_all();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("document-edit");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, a_cell_is_inserted_deleted_and_comes_back);
    tcase_add_test(tests, a_move_takes_everything_along);
    tcase_add_test(tests, a_split_makes_two_cells_of_its_lines);
    tcase_add_test(tests, a_merge_keeps_what_both_have);
    tcase_add_test(tests, a_kind_changes_what_the_file_has);
    tcase_add_test(tests, a_source_is_replaced_and_the_rest_of_the_file_stays);
    tcase_add_test(tests, a_script_that_is_not_changed_is_the_same);
    tcase_add_test(tests, other_encodings_are_known);
    tcase_add_test(tests, new_cells_of_a_script_get_markers_and_room);
    tcase_add_test(tests, ids_are_given_once);
    tcase_add_loop_test(tests, anything_can_be_undone, 0, 40);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
