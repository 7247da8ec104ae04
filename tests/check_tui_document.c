/* SPDX-License-Identifier: MIT */
/*
 * A file as a tab on the full screen: its cells with what the file has of them, run, changed and
 * saved with the keys of browse mode and in the prompt. A real terminal, a real Python.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "strbuf.h"
#include "tui-testlib.h"

#define SCRIPT                                                                                     \
    "x = 20\nprint('x is', x)\n\n\n# %% [markdown]\n# Some text\n\n# %% sum\ny = x + "             \
    "1\nprint(y)\n"

#define NOTEBOOK                                                                                   \
    "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 7,\n"             \
    "   \"id\": \"aa\",\n   \"metadata\": {},\n   \"outputs\": [\n    {\n"                         \
    "     \"name\": \"stdout\",\n     \"output_type\": \"stream\",\n     \"text\": [\n"            \
    "      \"from old days\\n\"\n     ]\n    }\n   ],\n   \"source\": [\n"                         \
    "    \"print('fr' + 'esh')\"\n   ]\n  }\n ],\n \"metadata\": {},\n \"nbformat\": 4,\n"         \
    " \"nbformat_minor\": 5\n}\n"

static void start(const char *path)
{
    const char *arguments[] = {path, NULL};
    tui_start(arguments, 24, 80, NULL);
    terminal_wait_text(tui, ">>>");
}

static void open_script(void)
{
    test_write_file(test_path("a.py"), SCRIPT, 0644);
    start(test_path("a.py"));
}

static void keys(const char *text)
{
    terminal_keys(tui, text);
}

#define BROWSE "\030["

static void browse_first(void)
{
    keys(BROWSE);
    tui_wait_status("browse");
    keys("g");
    tui_wait_status("1/3");
}

static void is_file(const char *path, const char *wanted)
{
    char *text = test_read_file(path);
    ck_assert_str_eq(text, wanted);
    free(text);
}

static void wait_tabs(const char *row)
{
    terminal_wait(tui, strcmp(terminal_row(tui, 0), row) == 0);
}

static void leave(void)
{
    tui_teardown();
}

START_TEST(shows_the_file_and_runs_nothing)
{
    test_write_file(test_path("n.ipynb"), NOTEBOOK, 0644);
    start(test_path("n.ipynb"));
    int row = terminal_wait_text(tui, "from old days");
    wait_tabs(" 1:n");
    ck_assert_int_eq(strncmp(terminal_row(tui, row - 1), "[7]  print", 10), 0);
    ck_assert(strstr(terminal_row(tui, row - 1), "from file") != NULL);
    tui_wait_status("n.ipynb");
    keys(BROWSE);
    tui_wait_status("n.ipynb 1/1");
    keys("r");
    terminal_wait_text(tui, "│    fresh");
    terminal_wait_no_text(tui, "from old days");
    tui_wait_status("n.ipynb* 1/1");
    wait_tabs(" 1:n*");
    keys("\030\023"); /* C-x C-s */
    terminal_wait_text(tui, "1 cell written to");
    wait_tabs(" 1:n");
    char *text = test_read_file(test_path("n.ipynb"));
    ck_assert(strstr(text, "\"fresh\\n\"") != NULL && strstr(text, "\"execution_count\": 1,"));
    free(text);
}
END_TEST

START_TEST(an_editor_gets_the_cell_and_gives_it_back)
{
    test_write_file(test_path("ed"), "#!/bin/sh\necho \"print('edited', 6 * 7)\" >\"$1\"\n", 0755);
    test_write_file(test_path("a.py"), SCRIPT, 0644);
    char visual[4200];
    snprintf(visual, sizeof visual, "VISUAL=%s", test_path("ed"));
    const char *arguments[] = {test_path("a.py"), NULL}, *environment[] = {visual, NULL};
    tui_start(arguments, 24, 80, environment);
    terminal_wait_text(tui, ">>>");
    browse_first();
    keys("\033OQ"); /* F2 */
    terminal_wait_text(tui, "cell 1: print('edited', 6 * 7)");
    keys("\r");
    terminal_wait_text(tui, "     edited 42");
    terminal_wait_no_text(tui, "x = 20");
    keys("\030\023");
    terminal_wait_text(tui, "3 cells written to");
    is_file(test_path("a.py"), "print('edited', 6 * 7)\n\n\n# %% [markdown]\n# Some text\n\n"
                               "# %% sum\ny = x + 1\nprint(y)\n");
}
END_TEST

START_TEST(a_long_file_begins_at_its_beginning)
{
    struct strbuf text = STRBUF_INIT;
    for (int i = 1; i <= 60; i++)
        strbuf_addf(&text, "# %%%%\nprint('cell', %d)\n\n", i);
    test_write_file(test_path("long.py"), strbuf_text(&text), 0644);
    strbuf_free(&text);
    start(test_path("long.py"));
    ck_assert_int_ge(terminal_wait_text(tui, "print('cell', 1)"), 0);
    keys(BROWSE "gjjr");
    terminal_wait_text(tui, "    cell 3");
    keys("q");
    terminal_wait(tui, terminal_find(tui, "browse") < 0);
    keys("abc\003"); /* the view stays */
    terminal_settle(tui, 100);
    ck_assert_int_ge(terminal_find(tui, "    cell 3"), 0);
}
END_TEST

START_TEST(runs_all_in_place)
{
    open_script();
    tui_enter(":run-all");
    terminal_wait_text(tui, "     21");
    int one = terminal_find(tui, "[1] "), text = terminal_find(tui, "text # Some text");
    int two = terminal_find(tui, "[2] ");
    ck_assert(one >= 0 && one < text && text < two);
    ck_assert_int_eq(terminal_count(tui, "y = x + 1"), 1);
    tui_wait_status("a.py");
    ck_assert_int_eq(terminal_find(tui, "a.py*"), -1); /* a script has no outputs */
}
END_TEST

START_TEST(a_cell_is_edited_in_the_prompt)
{
    open_script();
    keys("draft");
    terminal_wait_text(tui, ">>> draft");
    browse_first();
    keys("e");
    int row = terminal_wait_text(tui, "cell 1: x = 20");
    terminal_wait(tui, strstr(terminal_row(tui, row + 1), "print('x is', x)") != NULL);
    keys("\003"); /* C-c: as if nothing had been */
    terminal_wait_text(tui, ">>> draft");
    ck_assert_int_eq(terminal_find(tui, "a.py*"), -1);
    browse_first();
    keys("e");
    terminal_wait_text(tui, "cell 1: x = 20");
    keys("; print('and more')\033\r"); /* M-Enter */
    terminal_wait_text(tui, "     and more");
    terminal_wait_text(tui, ">>> draft");
    terminal_wait_text(tui, "[1]  x = 20");
    tui_wait_status("a.py*");
    browse_first();
    keys("u");
    terminal_wait_no_text(tui, "; print('and more')");
    terminal_wait_text(tui, "edited");
    keys("\022"); /* C-r */
    terminal_wait_text(tui, "; print('and more')");
    keys("q\025\013"); /* the draft goes: what is left quits without a word */
}
END_TEST

START_TEST(cells_are_inserted_moved_merged_split_and_deleted)
{
    open_script();
    browse_first();
    keys("b");
    tui_wait_status("2/4");
    keys("e");
    terminal_wait_text(tui, "cell 2:");
    keys("a = 1\017b = 2"); /* C-o: a new line */
    terminal_wait_text(tui, "b = 2");
    keys("\030-"); /* split before the cursor's line */
    terminal_wait_text(tui, ">>>");
    terminal_wait_text(tui, "[ ]  a = 1");
    terminal_wait_text(tui, "[ ]  b = 2");
    keys(BROWSE "gj");
    tui_wait_status("2/5");
    keys("m");
    tui_wait_status("2/4");
    keys("s");
    terminal_wait_text(tui, ":split");
    keys("2\r");
    tui_wait_status("3/5");
    keys("K");
    tui_wait_status("2/5");
    terminal_wait(tui, terminal_find(tui, "[ ]  b = 2") < terminal_find(tui, "[ ]  a = 1"));
    keys("J");
    tui_wait_status("3/5");
    keys("dd");
    terminal_wait_no_text(tui, "b = 2");
    keys("u");
    terminal_wait_text(tui, "b = 2");
    keys("dd");
    tui_wait_status("/4");
    keys("\030\023");
    terminal_wait_text(tui, "written to");
    is_file(test_path("a.py"), "x = 20\nprint('x is', x)\n\n\n# %%\na = 1\n\n# %% [markdown]\n"
                               "# Some text\n\n# %% sum\ny = x + 1\nprint(y)\n");
    while (terminal_find(tui, "nothing to undo") < 0) {
        keys("u");
        terminal_settle(tui, 50);
    }
    keys("\030\023");
    wait_tabs(" 1:a");
    is_file(test_path("a.py"), SCRIPT);
}
END_TEST

START_TEST(the_prompt_adds_a_cell_below_the_chosen_one)
{
    open_script();
    browse_first();
    keys("r");
    terminal_wait_text(tui, "x is 20");
    keys("q");
    terminal_wait(tui, terminal_find(tui, "browse") < 0);
    tui_enter("print('new', x)");
    int row = terminal_wait_text(tui, "     new 20");
    ck_assert_int_lt(row, terminal_find(tui, "text # Some text"));
    tui_enter(":save");
    terminal_wait_text(tui, "4 cells written to");
}
END_TEST

START_TEST(changes_on_disk_are_told_and_quitting_asks)
{
    open_script();
    browse_first();
    keys("b");
    tui_wait_status("a.py* 2/4");
    test_write_file(test_path("a.py"), "other = 1\n", 0644);
    keys("\030\023");
    terminal_wait_text(tui, "a.py was changed on disk: write over it? (y/n)");
    keys("n");
    terminal_wait_no_text(tui, "(y/n)");
    is_file(test_path("a.py"), "other = 1\n");
    keys("q");
    tui_enter(":quit");
    terminal_wait_text(tui, "quit? Not saved: a.py. (y/n)");
    keys("n");
    terminal_wait_no_text(tui, "(y/n)");
    tui_enter(":reload");
    terminal_wait_text(tui, "What was changed here is lost. (y/n)");
    keys("y");
    terminal_wait_text(tui, "other = 1");
    wait_tabs(" 1:a");
    tui_enter(":quit");
    int status = terminal_wait_exit(tui);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    tui_stop();
}
END_TEST

START_TEST(a_signal_loses_no_change)
{
    open_script();
    browse_first();
    keys("b");
    tui_wait_status("a.py* 2/4");
    kill(terminal_pid(tui), SIGTERM);
    int status = terminal_wait_exit(tui);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGTERM);
    ck_assert(terminal_has_bytes(tui, "a.py was not saved; its changes are in "));
    is_file(test_path("a.py"), SCRIPT);
    tui_stop();
    start(test_path("a.py"));
    terminal_wait_text(tui, "a.py has changes that were not saved");
}
END_TEST

START_TEST(another_file_gets_a_tab_of_its_own)
{
    test_write_file(test_path("b.py"), "b = 2\n", 0644);
    open_script();
    keys("\030\006"); /* C-x C-f asks for its name */
    terminal_wait_text(tui, ">>> :open");
    keys(test_path("b.py"));
    keys("\r");
    wait_tabs(" 1:a  2:b");
    terminal_wait_text(tui, "[ ]  b = 2");
    keys("\030p");
    terminal_wait_text(tui, "y = x + 1");
    keys("\014"); /* C-l and C-x l leave a file's view as it is */
    keys("\030l");
    terminal_settle(tui, 100);
    ck_assert_int_ge(terminal_find(tui, "y = x + 1"), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tui-document");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, NULL, leave);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, shows_the_file_and_runs_nothing);
    tcase_add_test(tests, runs_all_in_place);
    tcase_add_test(tests, an_editor_gets_the_cell_and_gives_it_back);
    tcase_add_test(tests, a_long_file_begins_at_its_beginning);
    tcase_add_test(tests, a_cell_is_edited_in_the_prompt);
    tcase_add_test(tests, cells_are_inserted_moved_merged_split_and_deleted);
    tcase_add_test(tests, the_prompt_adds_a_cell_below_the_chosen_one);
    tcase_add_test(tests, changes_on_disk_are_told_and_quitting_asks);
    tcase_add_test(tests, a_signal_loses_no_change);
    tcase_add_test(tests, another_file_gets_a_tab_of_its_own);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
