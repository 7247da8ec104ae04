/* SPDX-License-Identifier: MIT */
/*
 * The full screen: going through cells, searching, copying, the reader, the history picker,
 * completion, and other programs that get the terminal.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui-testlib.h"

static void three_cells(void)
{
    tui_run("alpha = 'needle one'; alpha", 1);
    tui_run("1 / 0", 2);
    tui_run("print('needle two'); print('end')", 3);
}

static bool is_chosen(const char *number)
{
    int row = terminal_find(tui, number);
    VTermScreenCell cell = terminal_cell(tui, row, 20);
    return row >= 0 && !VTERM_COLOR_IS_DEFAULT_BG(&cell.bg);
}

/*
 * ---- browse mode -------------------------------------------------------------------------------
 */

START_TEST(keys_move_by_cell)
{
    three_cells();
    terminal_keys(tui, "\033[5~");
    tui_wait_status("browse");
    ck_assert(!terminal_cursor_shown(tui));
    terminal_keys(tui, "G");
    terminal_wait(tui, is_chosen("[3]"));
    terminal_keys(tui, "k");
    terminal_wait(tui, is_chosen("[2]") && !is_chosen("[3]"));
    terminal_keys(tui, "g");
    terminal_wait(tui, is_chosen("[1]"));
    terminal_keys(tui, ":3\r");
    terminal_wait(tui, is_chosen("[3]"));
    terminal_keys(tui, "[e");
    terminal_wait(tui, is_chosen("[2]"));
    terminal_keys(tui, "q");
    terminal_wait(tui, strstr(terminal_row(tui, tui_status_row()), "browse") == NULL);
    terminal_wait(tui, terminal_cursor_shown(tui));
}
END_TEST

START_TEST(a_key_that_means_nothing_is_typed)
{
    three_cells();
    terminal_keys(tui, "\030[");
    tui_wait_status("browse");
    terminal_keys(tui, "x");
    terminal_wait_text(tui, ">>> x");
    terminal_wait(tui, strstr(terminal_row(tui, tui_status_row()), "browse") == NULL);
}
END_TEST

START_TEST(search_finds_source_and_output)
{
    three_cells();
    terminal_keys(tui, "\030[g/needle two\r");
    terminal_wait(tui, is_chosen("[3]"));
    int row = terminal_find(tui, "[3]"), column = terminal_column(tui, row, "needle two");
    terminal_wait(
        tui, !VTERM_COLOR_IS_DEFAULT_BG(&(VTermColor){terminal_cell(tui, row + 1, 5).bg.type}));
    ck_assert_int_gt(column, 0);
    terminal_keys(tui, "?needle\r");
    terminal_keys(tui, "n");
    terminal_wait(tui, is_chosen("[1]"));
    terminal_keys(tui, "/no such thing\r");
    terminal_wait_text(tui, "holds \"no such thing\"");
    terminal_keys(tui, "q");
}
END_TEST

START_TEST(what_is_searched_for_can_be_pasted)
{
    three_cells();
    terminal_keys(tui, "\030[g/need");
    terminal_paste(tui, "le two");
    terminal_wait_text(tui, "/needle two");
    terminal_keys(tui, "\r");
    terminal_wait(tui, is_chosen("[3]"));
    terminal_keys(tui, "q");
}
END_TEST

START_TEST(fold_hides_and_shows_output)
{
    three_cells();
    terminal_keys(tui, "\030[");
    tui_wait_status("browse");
    terminal_keys(tui, "Gz");
    terminal_wait_text(tui, "2 rows folded");
    ck_assert_int_eq(terminal_find(tui, "│    end"), -1);
    terminal_keys(tui, "z");
    terminal_wait_no_text(tui, "rows folded");
    terminal_wait_text(tui, "│    end");
    terminal_keys(tui, "q");
}
END_TEST

START_TEST(copy_uses_the_clipboard_of_the_terminal)
{
    three_cells();
    terminal_keys(tui, "\030[");
    tui_wait_status("browse");
    terminal_keys(tui, "gy");
    terminal_wait_text(tui, "copied source");
    ck_assert(terminal_has_bytes(tui, "\033]52;c;YWxwaGEgPSAnbmVlZGxlIG9uZSc7IGFscGhh\033\\"));
    terminal_keys(tui, "GY");
    terminal_wait_text(tui, "copied output");
    ck_assert(terminal_has_bytes(tui, "\033]52;c;bmVlZGxlIHR3bwplbmQ"));
    terminal_keys(tui, "gvGy");
    terminal_wait_text(tui, "3 lines");
    terminal_keys(tui, "q");
}
END_TEST

START_TEST(a_cell_is_run_again_or_edited)
{
    three_cells();
    terminal_keys(tui, "\030[");
    tui_wait_status("browse");
    terminal_keys(tui, "gr");
    terminal_wait_text(tui, "[4]");
    tui_wait_status("k1 #4");
    terminal_keys(tui, "\030[");
    tui_wait_status("browse");
    terminal_keys(tui, "ge");
    terminal_wait_text(tui, ">>> alpha = 'needle one'; alpha");
}
END_TEST

START_TEST(the_wheel_scrolls_and_a_click_chooses)
{
    tui_enter("for i in range(100): print('row', i)\r");
    terminal_wait_text(tui, "     row 99");
    ck_assert(terminal_has_bytes(tui, "\033[?1006h"));
    terminal_keys(tui, "\033[<64;10;10M");
    terminal_wait_no_text(tui, "row 99");
    terminal_wait_text(tui, "     row 96");
    terminal_keys(tui, "\033[<65;10;10M");
    terminal_wait_text(tui, "     row 99");
    terminal_keys(tui, "\033[<0;10;10M\033[<0;10;10m");
    tui_wait_status("browse");
    terminal_keys(tui, "q");
}
END_TEST

/*
 * ---- over the transcript
 * -------------------------------------------------------------------------
 */

START_TEST(help_is_made_from_the_table)
{
    terminal_keys(tui, "\030?");
    terminal_wait_text(tui, ":interrupt");
    terminal_wait_text(tui, "C-x i");
    terminal_keys(tui, "G");
    terminal_wait_text(tui, ":quit");
    terminal_keys(tui, "q");
    terminal_wait_no_text(tui, ":quit");
}
END_TEST

START_TEST(variables_are_listed)
{
    tui_run("shown_variable = [1, 2, 3]", 1);
    terminal_keys(tui, "\030v");
    int row = terminal_wait_text(tui, "shown_variable  list");
    terminal_wait(tui, strstr(terminal_row(tui, row), "[1, 2, 3]") != NULL);
    terminal_keys(tui, "q");
    terminal_wait_text(tui, ">>>");
}
END_TEST

START_TEST(the_picker_narrows_and_takes)
{
    three_cells();
    terminal_keys(tui, "\033OR"); /* F3 */
    terminal_wait_text(tui, "history:");
    terminal_keys(tui, "alpha");
    terminal_wait(tui, terminal_find(tui, "1 / 0") < 0);
    terminal_keys(tui, "\r");
    terminal_wait_text(tui, ">>> alpha = 'needle one'; alpha");
    terminal_wait_no_text(tui, "history:");
}
END_TEST

/*
 * ---- completion
 * ------------------------------------------------------------------------------------
 */

START_TEST(completion_shows_a_popup)
{
    tui_run("complete_me_one = complete_me_two = 1", 1);
    terminal_keys(tui, "x = complete\t");
    terminal_wait_text(tui, ">>> x = complete_me_");
    terminal_keys(tui, "\t");
    int row = terminal_find(tui, ">>>");
    terminal_wait(tui, terminal_count(tui, "complete_me_two") >= 2);
    terminal_wait(tui, strstr(terminal_row(tui, row + 1), "complete_me_one") != NULL);
    VTermScreenCell cell =
        terminal_cell(tui, row + 1, terminal_column(tui, row + 1, "complete_me_one"));
    ck_assert(!VTERM_COLOR_IS_DEFAULT_BG(&cell.bg));
    terminal_keys(tui, "\033[B\r");
    terminal_wait_text(tui, ">>> x = complete_me_");
    terminal_wait(tui, strstr(terminal_row(tui, row + 1), "complete_me_one") == NULL);
}
END_TEST

/* Code that is not Python's holds the interpreter's lock: nothing in the kernel can answer. */
START_TEST(a_kernel_that_cannot_answer_has_answered_before)
{
    tui_run("import ctypes; sleeping = [ctypes.PyDLL(None).sleep]", 1);
    terminal_keys(tui, "sleeping.app\t");
    terminal_wait_text(tui, ">>> sleeping.append");
    terminal_keys(tui, "\025sleeping.\t");
    terminal_wait_text(tui, "extend");
    terminal_keys(tui, "\025");
    terminal_wait_no_text(tui, "extend");
    tui_enter("sleeping[0](30)");
    tui_wait_status("busy");
    do { /* the cell may be on its way to the call */
        terminal_keys(tui, "\025");
        terminal_wait_no_text(tui, "x = sleeping.");
        terminal_keys(tui, "x = sleeping.ext\t");
        terminal_wait_text(tui, ">>> x = sleeping.extend");
    } while (terminal_find(tui, "did not answer in time") < 0);
    ck_assert(strstr(terminal_row(tui, tui_status_row()), "busy") != NULL);
    terminal_keys(tui, "\025ctypes.ext"); /* another expression: nothing is known of that */
    terminal_wait_no_text(tui, "did not answer in time");
    terminal_keys(tui, "\t");
    terminal_wait_text(tui, "did not answer in time");
    ck_assert_int_ge(terminal_find(tui, ">>> ctypes.ext"), 0);
    ck_assert_int_eq(terminal_find(tui, ">>> ctypes.extend"), -1);
}
END_TEST

START_TEST(a_key_of_a_command_is_not_the_popups)
{
    tui_run("complete_me_one = complete_me_two = 1", 1);
    terminal_keys(tui, "complete_me_\t");
    terminal_wait(tui, terminal_count(tui, "complete_me_two") >= 2);
    terminal_keys(tui, "\033[5~"); /* PgUp */
    tui_wait_status("browse");
    terminal_keys(tui, "q\003complete_me_\t");
    terminal_wait(tui, terminal_count(tui, "complete_me_two") >= 2);
    terminal_keys(tui, "\034"); /* C-\ */
    terminal_wait_exit(tui);
    tui_stop();
}
END_TEST

START_TEST(a_signature_stands_above_the_prompt)
{
    tui_run("def with_arguments(first, second=2): 'What it does.'\r", 1);
    terminal_keys(tui, "with_arguments(\033[Z");
    int row = terminal_wait_text(tui, "second=2) — What it does.");
    ck_assert_int_eq(terminal_find(tui, ">>> with_arguments("), row + 1);
}
END_TEST

START_TEST(files_are_completed_in_strings)
{
    test_write_file(test_path("some-data.csv"), "x", 0600);
    tui_enter(test_path("import os; os.chdir('%s')", test_directory()) + strlen(test_directory()) +
              1);
    terminal_wait_text(tui, "✓");
    terminal_keys(tui, "open('some-d\t");
    terminal_wait_text(tui, ">>> open('some-data.csv");
}
END_TEST

START_TEST(commands_are_completed)
{
    terminal_keys(tui, ":interr\t");
    terminal_wait_text(tui, ">>> :interrupt");
    terminal_keys(tui, "\r");
    terminal_wait_text(tui, "no cell runs");
}
END_TEST

/*
 * ---- other programs
 * -----------------------------------------------------------------------------------
 */

static void start_with(const char *name, const char *script)
{
    char entry[4200];
    test_write_file(test_path("program"), script, 0700);
    snprintf(entry, sizeof(entry), "%s=%s", name, test_path("program"));
    tui_stop();
    tui_start(NULL, 24, 80, (const char *const[]){entry, NULL});
    terminal_wait_text(tui, ">>>");
}

START_TEST(the_editor_gets_the_text_and_gives_it_back)
{
    start_with("EDITOR",
               "#!/bin/sh\necho EDITING\nread key\nprintf 'y = 2\\nprint(y)\\n' >>\"$1\"\n");
    terminal_keys(tui, "x = 1");
    terminal_wait_text(tui, ">>> x = 1");
    terminal_keys(tui, "\033OQ"); /* F2 */
    terminal_wait_text(tui, "EDITING");
    terminal_keys(tui, "\r");
    terminal_wait_text(tui, ">>> x = 1y = 2");
    terminal_wait_text(tui, "... print(y)");
}
END_TEST

/* Its keys are signals for it, not for us. */
START_TEST(keys_of_the_editor_do_not_end_us)
{
    start_with("EDITOR", "#!/bin/sh\ntrap : INT QUIT\necho EDITING\n"
                         "while [ ! -e \"$HOME/end\" ]; do sleep .05; done\n");
    terminal_keys(tui, "x = 1");
    terminal_wait_text(tui, ">>> x = 1");
    terminal_keys(tui, "\033OQ");
    terminal_wait_text(tui, "EDITING");
    terminal_keys(tui, "\034");
    terminal_keys(tui, "\003");
    test_write_file(test_path("end"), "", 0600);
    terminal_wait_text(tui, ">>> x = 1");
}
END_TEST

/* Also when it dies of them. */
START_TEST(keys_that_end_the_editor_do_not_end_us)
{
    start_with("EDITOR", "#!/bin/sh\necho EDITING\nexec sleep 100\n");
    tui_enter("import time; time.sleep(100)");
    tui_wait_status("busy");
    terminal_keys(tui, "x = 1");
    terminal_wait_text(tui, ">>> x = 1");
    terminal_keys(tui, "\033OQ");
    terminal_wait_text(tui, "EDITING");
    terminal_keys(tui, "\034");
    terminal_wait_text(tui, ">>> x = 1");
    terminal_keys(tui, "\033OQ");
    terminal_wait(tui, terminal_count(tui, "EDITING") == 2); /* the first left its word there */
    terminal_keys(tui, "\003");
    terminal_wait_text(tui, ">>> x = 1");
    tui_wait_status("busy");
    ck_assert_int_eq(terminal_find(tui, "KeyboardInterrupt"), -1);
    ck_assert(strstr(terminal_row(tui, tui_status_row()), "interrupting") == NULL);
}
END_TEST

START_TEST(the_pager_gets_the_output)
{
    start_with("PAGER", "#!/bin/sh\necho PAGING\ncat\nread key </dev/tty\n");
    tui_run("print('to be paged')", 1);
    terminal_keys(tui, "\030|");
    terminal_wait_text(tui, "PAGING");
    terminal_wait_text(tui, "to be paged");
    ck_assert_int_eq(terminal_find(tui, ">>>"), -1);
    terminal_keys(tui, "\r");
    terminal_wait_text(tui, ">>>");
    tui_wait_status("idle");
}
END_TEST

START_TEST(a_pager_of_several_commands_gets_it_too)
{
    char pager[300];
    snprintf(pager, sizeof(pager), "PAGER=cat >'%s'; true", test_path("paged"));
    tui_stop();
    tui_start(NULL, 24, 80, (const char *const[]){pager, NULL});
    terminal_wait_text(tui, ">>>");
    tui_run("print('to be paged')", 1);
    terminal_keys(tui, "\030|");
    char *text = NULL;
    terminal_wait(tui, (free(text), text = test_read_file(test_path("paged"))) && text[0]);
    ck_assert_str_eq(text, "to be paged\n");
    free(text);
    tui_wait_status("idle");
    tui_run("print('goes on')", 2);
}
END_TEST

static Suite *suite_tui_browse(void)
{
    Suite *suite = suite_create("tui_browse");
    TCase *tests = tui_test_case(suite, "browse");
    tcase_add_test(tests, keys_move_by_cell);
    tcase_add_test(tests, a_key_that_means_nothing_is_typed);
    tcase_add_test(tests, search_finds_source_and_output);
    tcase_add_test(tests, what_is_searched_for_can_be_pasted);
    tcase_add_test(tests, fold_hides_and_shows_output);
    tcase_add_test(tests, copy_uses_the_clipboard_of_the_terminal);
    tcase_add_test(tests, a_cell_is_run_again_or_edited);
    tcase_add_test(tests, the_wheel_scrolls_and_a_click_chooses);
    tests = tui_test_case(suite, "over");
    tcase_add_test(tests, help_is_made_from_the_table);
    tcase_add_test(tests, variables_are_listed);
    tcase_add_test(tests, the_picker_narrows_and_takes);
    tests = tui_test_case(suite, "complete");
    tcase_add_test(tests, completion_shows_a_popup);
    tcase_add_test(tests, a_kernel_that_cannot_answer_has_answered_before);
    tcase_add_test(tests, a_key_of_a_command_is_not_the_popups);
    tcase_add_test(tests, a_signature_stands_above_the_prompt);
    tcase_add_test(tests, files_are_completed_in_strings);
    tcase_add_test(tests, commands_are_completed);
    tests = tui_test_case(suite, "programs");
    tcase_add_test(tests, the_editor_gets_the_text_and_gives_it_back);
    tcase_add_test(tests, keys_of_the_editor_do_not_end_us);
    tcase_add_test(tests, keys_that_end_the_editor_do_not_end_us);
    tcase_add_test(tests, the_pager_gets_the_output);
    tcase_add_test(tests, a_pager_of_several_commands_gets_it_too);
    return suite;
}

int main(void)
{
    return test_run(suite_tui_browse());
}
