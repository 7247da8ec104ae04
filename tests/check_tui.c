/* SPDX-License-Identifier: MIT */
/*
 * The full screen: cells, their output, the prompt, what the bars say. A real terminal, a real
 * Python.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui-testlib.h"

/*
 * ---- the first look ----------------------------------------------------------------------------
 */

START_TEST(opens_with_tab_prompt_and_status)
{
    terminal_wait(tui, strstr(terminal_row(tui, 0), "1:main") != NULL);
    int row = terminal_wait_text(tui, ">>>"), cursor_row, cursor_column;
    terminal_wait(tui, (terminal_cursor(tui, &cursor_row, &cursor_column),
                        cursor_row == row && cursor_column == 4));
    tui_wait_status("main");
    tui_wait_status("py3");
    ck_assert(terminal_has_bytes(tui, "\033[?2004h"));
    VTermScreenCell cell = terminal_cell(tui, row, 0);
    ck_assert_int_eq(cell.attrs.bold, 1);
}
END_TEST

START_TEST(a_cell_shows_source_time_and_outcome)
{
    tui_run("print('out' + 'put')", 1);
    int row = terminal_wait_text(tui, "[1]");
    terminal_wait(tui, strstr(terminal_row(tui, row), "print('out' + 'put')") != NULL);
    terminal_wait(tui, strcmp(terminal_row(tui, row + 1), "     output") == 0);
    /* a builtin's name and a string have colours of their own */
    VTermScreenCell name = terminal_cell(tui, row, 5), string = terminal_cell(tui, row, 11);
    ck_assert_int_eq(string.chars[0], '\'');
    ck_assert(!vterm_color_is_equal(&name.fg, &string.fg));
    terminal_wait(tui, terminal_find(tui, ">>>") == row + 2);
    tui_wait_status("k1 #1");
    tui_wait_status("idle");
}
END_TEST

START_TEST(a_value_is_shown_and_an_error_marked)
{
    tui_run("6 * 7", 1);
    ck_assert_int_ge(terminal_wait_text(tui, "     42"), 0);
    tui_run("1 / 0", 2);
    terminal_wait_text(tui, "ZeroDivisionError");
    terminal_wait(tui, strstr(terminal_row(tui, terminal_find(tui, "[2]")), "✗") != NULL);
    tui_wait_status("reused k1 #2");
}
END_TEST

/*
 * ---- the prompt
 * -----------------------------------------------------------------------------------
 */

/* Who waits for it on this terminal sees one, although the glass has it already. */
START_TEST(a_prompt_is_written_after_each_cell)
{
    tui_enter("for i in range(40): print('row', i)\r");
    terminal_wait_text(tui, "     row 39");
    tui_wait_status("idle");
    terminal_wait(tui, terminal_find(tui, ">>>") == tui_status_row() - 1);
    terminal_settle(tui, 50);
    terminal_forget(tui);
    tui_run("pass", 2);
    terminal_wait(tui, terminal_has_bytes(tui, ">>>"));
}
END_TEST

START_TEST(a_block_goes_on_until_it_is_complete)
{
    terminal_keys(tui, "for i in range(2):\r");
    int row = terminal_wait_text(tui, "...");
    ck_assert_int_eq(terminal_find(tui, "[1]"), -1);
    terminal_keys(tui, "print('n', i)\r");
    terminal_wait(tui, strstr(terminal_row(tui, row + 1), "...") != NULL);
    terminal_keys(tui, "\r");
    terminal_wait_text(tui, "     n 1");
    ck_assert_int_ge(terminal_find(tui, "         print('n', i)"), 0);
}
END_TEST

START_TEST(the_prompt_edits_within_a_block)
{
    terminal_keys(tui, "def f():\rreturn 1\r");
    terminal_wait(tui, terminal_count(tui, "...") == 2);
    terminal_keys(tui, "\033[A\033[A"); /* up to the first line */
    int cursor_row, cursor_column, row = terminal_find(tui, ">>>");
    terminal_wait(tui, (terminal_cursor(tui, &cursor_row, &cursor_column), cursor_row == row));
    terminal_keys(tui, "\001");
    terminal_wait(tui, (terminal_cursor(tui, &cursor_row, &cursor_column), cursor_column == 4));
    terminal_keys(tui, "\003"); /* C-c drops it all */
    terminal_wait_no_text(tui, "return");
}
END_TEST

START_TEST(brackets_that_belong_together_are_marked)
{
    terminal_keys(tui, "f(a, [b])");
    int row = terminal_wait_text(tui, "f(a, [b])");
    terminal_wait(tui, terminal_cell(tui, row, 5).attrs.bold);
    terminal_wait(tui, terminal_cell(tui, row, 12).attrs.bold);
    terminal_wait(tui, !terminal_cell(tui, row, 9).attrs.bold);
}
END_TEST

START_TEST(vi_keys_are_shown)
{
    terminal_keys(tui, "\033OS"); /* F4 */
    tui_wait_status("vi:ins");
    terminal_keys(tui, "word");
    terminal_wait_text(tui, ">>> word");
    terminal_keys(tui, "\033");
    tui_wait_status("vi:cmd");
    terminal_keys(tui, "0x");
    terminal_wait_text(tui, ">>> ord");
    terminal_keys(tui, "\033OS");
    terminal_wait(tui, strstr(terminal_row(tui, tui_status_row()), "vi:") == NULL);
}
END_TEST

START_TEST(history_comes_back_by_up)
{
    tui_run("first = 1", 1);
    tui_run("second = 2", 2);
    terminal_keys(tui, "\033[A");
    terminal_wait_text(tui, ">>> second = 2");
    terminal_keys(tui, "\033[A");
    terminal_wait_text(tui, ">>> first = 1");
    terminal_keys(tui, "\033[B\033[B");
    terminal_wait(tui, terminal_find(tui, ">>> second") < 0 && terminal_find(tui, ">>> first") < 0);
}
END_TEST

START_TEST(reverse_search_shows_what_it_looks_for)
{
    tui_run("needle = 'x'", 1);
    tui_run("other = 2", 2);
    terminal_keys(tui, "\022need");
    int row = terminal_wait_text(tui, "`need'");
    terminal_wait(tui, strstr(terminal_row(tui, row), "needle = 'x'") != NULL);
    terminal_keys(tui, "\007");
    terminal_wait_text(tui, ">>>");
}
END_TEST

START_TEST(a_thousand_pasted_lines_run_only_when_told_to)
{
    char *text = malloc(64000);
    size_t size = 0;
    for (int i = 0; i < 1000; i++)
        size += (size_t)snprintf(text + size, 64000 - size, "pasted_%d = %d\n", i, i);
    snprintf(text + size, 64000 - size, "print('last', pasted_999)");
    terminal_paste(tui, text);
    free(text);
    terminal_wait_text(tui, "print('last', pasted_999)");
    ck_assert_int_eq(terminal_find(tui, "[1]"), -1);
    ck_assert_int_ge(terminal_find(tui, "pasted_998"), 0);
    ck_assert_int_le(terminal_count(tui, "pasted_"), 12); /* at most half of the screen */
    terminal_keys(tui, "\r");
    terminal_wait_text(tui, "     last 999");
    terminal_wait_text(tui, "more rows of source");
}
END_TEST

START_TEST(pasted_prompts_are_stripped)
{
    terminal_paste(tui, ">>> for i in range(2):\n...     print('in', i)\n... ");
    terminal_wait_text(tui, ">>> for i in range(2):");
    terminal_wait_text(tui, "...     print('in', i)");
    ck_assert_int_eq(terminal_find(tui, ">>> >>>"), -1);
}
END_TEST

/*
 * ---- output
 * ------------------------------------------------------------------------------------------
 */

START_TEST(output_is_live)
{
    tui_enter("import time; print('begun'); time.sleep(1.5); print('done')");
    terminal_wait_text(tui, "     begun");
    ck_assert_int_eq(terminal_find(tui, "     done"), -1);
    tui_wait_status("busy");
    terminal_wait(tui, strstr(terminal_row(tui, terminal_find(tui, "[1]")), "⟲") != NULL);
    terminal_wait_text(tui, "     done");
}
END_TEST

START_TEST(a_progress_bar_stays_one_line)
{
    tui_run("import time\rfor i in range(50): print('\\rstep', i, 'of 49', end='', flush=True); "
            "time.sleep(.002)\r",
            2);
    terminal_wait_text(tui, "     step 49 of 49");
    terminal_wait(tui, terminal_count(tui, "of 49") == 2); /* the source, and the bar */
}
END_TEST

START_TEST(colours_and_wide_characters_arrive)
{
    tui_run("print('\\x1b[31mred\\x1b[0m 世界 e\\u0301')", 1);
    int row = terminal_wait_text(tui, "     red");
    terminal_wait(tui, strstr(terminal_row(tui, row), "red 世界 e\xcc\x81") != NULL);
    VTermScreenCell cell = terminal_cell(tui, row, 5);
    ck_assert(VTERM_COLOR_IS_INDEXED(&cell.fg));
    ck_assert_int_eq(cell.fg.indexed.idx, 1);
    terminal_wait(tui, terminal_cell(tui, row, 9).width == 2);
}
END_TEST

START_TEST(nested_bars_of_tqdm_end_as_on_a_terminal)
{
    if (!tui_has_module("tqdm"))
        return;
    tui_enter("from tqdm import tqdm; import time");
    terminal_paste(tui, "for i in tqdm(range(3), 'outer'):\n    for j in tqdm(range(9), 'inner'): "
                        "time.sleep(.01)\n");
    terminal_keys(tui, "\r");
    terminal_wait(tui, terminal_find(tui, "outer: 100%") >= 0 &&
                           terminal_count(tui, "inner: 100%") == 3);
    tui_wait_status("idle");
    terminal_wait(tui, terminal_count(tui, "outer: ") == 1);
    terminal_wait(tui, terminal_count(tui, "inner: ") == 3);
}
END_TEST

START_TEST(a_table_of_rich_has_its_colours)
{
    if (!tui_has_module("rich"))
        return;
    terminal_paste(tui,
                   "from rich.table import Table; from rich.console import Console\n"
                   "t = Table('Name'); t.add_row('[red]world 世界[/red]'); Console().print(t)");
    terminal_keys(tui, "\r");
    int row = terminal_wait_text(tui, "│ world 世界 │");
    VTermScreenCell cell = terminal_cell(tui, row, terminal_column(tui, row, "world"));
    ck_assert(VTERM_COLOR_IS_INDEXED(&cell.fg));
    ck_assert_int_eq(cell.fg.indexed.idx, 1);
}
END_TEST

/*
 * Picture(kind, pixel): 8 × 8 pixels, all of them like this; of PNG's colour type 2 (RGB) or 6
 * (RGBA).
 */
static void define_picture(void)
{
    terminal_paste(tui, "import zlib, struct\n"
                        "def chunk(kind, data):\n"
                        "    check = struct.pack('>I', zlib.crc32(kind + data))\n"
                        "    return struct.pack('>I', len(data)) + kind + data + check\n"
                        "class Picture:\n"
                        "    def __init__(self, kind, pixel): self.kind, self.pixel = kind, pixel\n"
                        "    def _repr_png_(self):\n"
                        "        head = struct.pack('>IIBBBBB', 8, 8, 8, self.kind, 0, 0, 0)\n"
                        "        body = zlib.compress((b'\\0' + self.pixel * 8) * 8)\n"
                        "        return (b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', head) +\n"
                        "                chunk(b'IDAT', body) + chunk(b'IEND', b''))\n");
    tui_run("\r", 1);
}

static void check_picture(int index)
{
    int row = terminal_wait_text(tui, "     ▀▀▀▀");
    VTermScreenCell cell = terminal_cell(tui, row, 5);
    ck_assert(VTERM_COLOR_IS_INDEXED(&cell.fg));
    ck_assert_int_eq(cell.fg.indexed.idx, index);
    ck_assert_int_eq(cell.bg.indexed.idx, index);
}

START_TEST(a_picture_is_shown_in_half_blocks)
{
    define_picture();
    tui_run("Picture(2, b'\\xff\\0\\0')", 2);
    check_picture(196);
}
END_TEST

/* Half of it is the terminal's background: black, while nothing is known. */
START_TEST(the_background_shines_through_pictures)
{
    define_picture();
    if (_i) {
        VTermScreenCell before = terminal_cell(tui, terminal_find(tui, ">>>"), 0);
        terminal_keys(tui, "\033]11;rgb:ffff/ffff/ffff\033\\");
        terminal_wait(tui, terminal_cell(tui, terminal_find(tui, ">>>"), 0).fg.indexed.idx !=
                               before.fg.indexed.idx);
    }
    tui_run("Picture(6, b'\\xff\\0\\0\\x80')", 2);
    check_picture(_i ? 210 : 88);
}
END_TEST

START_TEST(output_cannot_leave_its_block)
{
    tui_run("print('\\x1b[2J\\x1b]0;title\\x07\\x1b[?1049l\\x1bcstill here')", 1);
    terminal_wait_text(tui, "still here");
    ck_assert_int_eq(terminal_find(tui, "1:main"), 0);
    ck_assert(!terminal_has_bytes(tui, "title\007"));
}
END_TEST

START_TEST(long_output_is_folded_and_opens)
{
    tui_enter("for i in range(3000): print('row', i)\r");
    terminal_wait_text(tui, "     row 2999");
    terminal_keys(tui, "\030[g"); /* browse, the top */
    terminal_wait_text(tui, "│    row 19");
    terminal_keys(tui, "\004");
    terminal_wait_text(tui, "2800 rows folded");
    ck_assert_int_eq(terminal_find(tui, "│    row 20"), -1);
    terminal_keys(tui, "z");
    terminal_keys(tui, "\004");
    terminal_wait_text(tui, "│    row 20");
    terminal_keys(tui, "z");
    terminal_wait_text(tui, "3000 rows folded");
    terminal_keys(tui, "q");
}
END_TEST

START_TEST(a_hundred_thousand_lines_are_no_trouble)
{
    tui_enter("for i in range(100000): print('row', i)\r");
    terminal_wait_text(tui, "     row 99999");
    terminal_keys(tui, "typed");
    terminal_wait_text(tui, ">>> typed");
    ck_assert_uint_lt(terminal_byte_count(tui), 4000000);
}
END_TEST

/*
 * ---- the terminal of a cell
 * ----------------------------------------------------------------------------
 */

START_TEST(input_gets_the_keys)
{
    tui_enter("name = input('who? ')");
    terminal_wait_text(tui, "has the keyboard");
    int cursor_row, cursor_column, row = terminal_find(tui, "     who?");
    terminal_wait(tui, (terminal_cursor(tui, &cursor_row, &cursor_column),
                        cursor_row == row && cursor_column == 10));
    terminal_keys(tui, "Bob\r");
    terminal_wait_text(tui, "who? Bob");
    tui_run("print('name is', name)", 2);
    terminal_wait_text(tui, "     name is Bob");
}
END_TEST

/* What a cell asks the terminal and does not read is nobody's input. */
START_TEST(unread_answers_go_to_nobody)
{
    tui_run("print('\\x1b[6n\\x1b[c\\x1b[>c asked')", 1);
    tui_enter("name = input('who? ')");
    terminal_wait_text(tui, "has the keyboard");
    terminal_keys(tui, "Bob\r");
    tui_run("print('name is', repr(name))", 3);
    terminal_wait_text(tui, "     name is 'Bob'");
    ck_assert_int_eq(terminal_find(tui, "while no cell"), -1);
    ck_assert_int_eq(terminal_find(tui, "^["), -1);
}
END_TEST

START_TEST(who_reads_an_answer_gets_it)
{
    tui_run("import sys, termios, tty", 1);
    tui_run("def ask(): tty.setcbreak(0); sys.stdout.write('\\x1b[6n'); sys.stdout.flush(); "
            "return ''.join(iter(lambda: sys.stdin.read(1), 'R'))\r",
            2);
    tui_run("print('answer', repr(ask()))", 3);
    terminal_wait_text(tui, "     answer '\\x1b[");
}
END_TEST

START_TEST(typed_text_is_not_taken_by_input)
{
    tui_enter("import time; time.sleep(1); got = input('late? ')");
    terminal_wait_text(tui, "⟲");
    terminal_keys(tui, "keep = 1");
    terminal_wait_text(tui, "late?");
    terminal_wait_text(tui, "waits for input");
    terminal_wait_text(tui, ">>> keep = 1");
    terminal_keys(tui, "\030k");
    terminal_wait_text(tui, "has the keyboard");
    terminal_keys(tui, "answer\r");
    terminal_wait_text(tui, ">>> keep = 1");
    terminal_keys(tui, "\r");
    tui_run("print(got, keep)", 3);
    terminal_wait_text(tui, "     answer 1");
}
END_TEST

START_TEST(a_prompt_that_becomes_empty_gives_the_keyboard)
{
    tui_enter("import time; time.sleep(1); got = input('late? ')");
    terminal_wait_text(tui, "⟲");
    terminal_keys(tui, "keep = 1");
    terminal_wait_text(tui, "waits for input");
    terminal_keys(tui, "\r");
    terminal_wait_text(tui, "has the keyboard");
    terminal_keys(tui, "answer\r");
    terminal_wait_text(tui, "[2]  keep = 1");
    tui_run("print(got, keep)", 3);
    terminal_wait_text(tui, "     answer 1");
}
END_TEST

START_TEST(who_has_the_keyboard_stays_in_sight)
{
    tui_enter("import time; time.sleep(1); a = input('in sight? ')");
    terminal_wait_text(tui, "⟲");
    for (int i = 0; i < 30; i++)
        tui_enter("pass");
    terminal_wait_text(tui, "in sight?");
    terminal_wait_text(tui, "has the keyboard");
    terminal_keys(tui, "seen");
    terminal_wait_text(tui, "     in sight? seen");
    terminal_keys(tui, "\r");
    terminal_wait_text(tui, "[31]");
}
END_TEST

START_TEST(what_follows_an_answer_is_for_the_prompt)
{
    tui_enter("a = input('one? ')");
    terminal_wait_text(tui, "has the keyboard");
    terminal_keys(tui, "1\rprint('a is', a)\r");
    terminal_wait_text(tui, "     a is 1");
}
END_TEST

START_TEST(a_password_is_not_shown)
{
    tui_enter("import getpass; p = getpass.getpass()");
    terminal_wait_text(tui, "asks for a secret");
    terminal_keys(tui, "hush\r");
    tui_run("len(p)", 2);
    terminal_wait_text(tui, "     4");
    ck_assert_int_eq(terminal_find(tui, "hush"), -1);
}
END_TEST

START_TEST(pdb_steps)
{
    terminal_paste(tui, "def f():\n    breakpoint()\n    inside = 7\n    return inside");
    terminal_keys(tui, "\r\r");
    terminal_wait_text(tui, "[1]");
    tui_enter("f()");
    terminal_wait_text(tui, "(Pdb)");
    terminal_wait_text(tui, "has the keyboard");
    terminal_keys(tui, "n\r");
    terminal_wait(tui, terminal_count(tui, "(Pdb)") == 2);
    terminal_keys(tui, "p inside\r");
    terminal_wait(tui, terminal_count(tui, "(Pdb)") == 3);
    terminal_keys(tui, "c\r");
    terminal_wait_text(tui, ">>>");
    tui_wait_status("idle");
}
END_TEST

START_TEST(a_full_screen_program_has_the_window)
{
    tui_enter("!printf '\\033[?1049h\\033[H\\033[2Jat the top\\033[5;10Hmid'; printf 'dle'; stty "
              "size; read x; printf '\\033[?1049l'");
    int top = terminal_wait_text(tui, "     at the top"),
        middle = terminal_wait_text(tui, "middle");
    ck_assert_int_eq(middle, top + 4);
    terminal_wait_text(tui, "20 75");
    terminal_wait_text(tui, "has the keyboard");
    terminal_resize(tui, 30, 100);
    terminal_keys(tui, "\r");
    tui_wait_status("idle");
    tui_run("!stty size", 2);
    terminal_wait_text(tui, "     26 95");
}
END_TEST

/*
 * ---- interrupts and losses
 * --------------------------------------------------------------------------------
 */

START_TEST(an_interrupt_keeps_variables)
{
    tui_run("kept = 'still'", 1);
    tui_enter("while True: pass\r");
    tui_wait_status("busy");
    terminal_keys(tui, "\003");
    terminal_wait_text(tui, "KeyboardInterrupt");
    terminal_wait_text(tui, "are kept");
    tui_run("print(kept, 'here')", 3);
    terminal_wait_text(tui, "     still here");
    tui_wait_status("k1 #3");
}
END_TEST

START_TEST(interrupt_in_vain_offers_to_kill)
{
    tui_enter("import signal, time\rsignal.signal(signal.SIGINT, lambda *a: None)\rwhile True: "
              "time.sleep(.01)\r");
    terminal_wait(tui, terminal_find(tui, "[3]") > 0 &&
                           strstr(terminal_row(tui, terminal_find(tui, "[3]")), "⟲"));
    terminal_keys(tui, "\003");
    tui_wait_status("interrupting");
    terminal_keys(tui, "\003");
    terminal_wait_text(tui, "Kill");
    terminal_keys(tui, "\003\003"); /* who presses it again means it */
    terminal_settle(tui, 200);
    ck_assert_int_ge(terminal_find(tui, "Kill"), 0);
    terminal_keys(tui, "y");
    terminal_wait_text(tui, "────");
    terminal_wait_text(tui, "state");
    tui_run("print('back')", 4);
    tui_wait_status("k2 #1");
}
END_TEST

START_TEST(a_reset_asks_and_names_the_cost)
{
    tui_run("big = 1", 1);
    terminal_keys(tui, "\030r");
    terminal_wait_text(tui, "reset main?");
    terminal_wait_text(tui, "1 cell");
    terminal_keys(tui, "n");
    terminal_wait_no_text(tui, "reset main?");
    tui_run("print('kept', big)", 2);
    terminal_keys(tui, "\030r");
    terminal_wait_text(tui, "reset main?");
    terminal_keys(tui, "y");
    terminal_wait_text(tui, "────");
    tui_run("print('big' in globals())", 3);
    terminal_wait_text(tui, "     False");
    tui_wait_status("k2 #1");
    terminal_wait_text(tui, "C-x U takes it back");
    terminal_keys(tui, "\030U");
    terminal_wait_text(tui, "go back to the earlier kernel of main?");
    terminal_keys(tui, "y");
    terminal_wait_text(tui, "undone");
    tui_run("print('again', big)", 4);
    terminal_wait_text(tui, "again 1");
    tui_wait_status("k1 #3");
}
END_TEST

START_TEST(undo_goes_back_to_before_a_cell)
{
#ifndef HERMES_NO_GUARD
    tui_enter(":set checkpoints 3");
    tui_run("big = 1", 1);
    tui_run("big = 2", 2);
    terminal_keys(tui, "\030U");
    terminal_wait_text(tui, "undone · back with 1 cell");
    tui_wait_status("k1 #1");
    tui_run("print('it is', big)", 3);
    terminal_wait_text(tui, "it is 1");
    tui_run("import os; os.kill(os.getpid(), 11)", 4);
    terminal_wait_text(tui, "C-x U brings back the state before the cell");
    tui_wait_status("ended");
    terminal_settle(tui, 300); /* its processes end */
    terminal_keys(tui, "\030U");
    tui_wait_status("k1 #2");
    tui_run("print('it was', big)", 5);
    terminal_wait_text(tui, "it was 1");
#endif
}
END_TEST

/*
 * The interpreter that waits for its turn: beside it the program has the session's, and those that
 * were reset (so many).
 */
static pid_t find_spare(pid_t kernel, int parked, pid_t before)
{
    pid_t children[8], python, found = 0;
    int count = test_list_children(terminal_pid(tui), children, 8);
    for (int i = 0; i < count && i < 8; i++) {
#ifdef HERMES_NO_GUARD
        python = children[i];
#else
        if (test_list_children(children[i], &python, 1) != 1)
            continue; /* of the guard, which is about to start it or to leave */
#endif
        if (python != kernel && python != before)
            found = python;
    }
    return count == 2 + parked ? found : 0;
}

static void runs_in(pid_t pid, int number)
{
    char text[40];
    tui_run("import os; print('in', os.getpid(), 'now')", number);
    snprintf(text, sizeof text, "in %d now", (int)pid);
    terminal_wait_text(tui, text);
}

START_TEST(a_reset_and_a_new_session_need_not_wait)
{
    pid_t kernel, before, spare = 0;
    tui_run("import os; print('in', os.getpid(), 'now')", 1);
    int row = terminal_wait_text(tui, "     in ");
    ck_assert_int_eq(sscanf(terminal_row(tui, row), " in %d", &kernel), 1);
    ck_assert(test_wait((spare = find_spare(kernel, 0, 0)) != 0, 20000));
    tui_enter(":reset -f");
    terminal_wait_text(tui, "────");
    runs_in(spare, 2);
    tui_wait_status("k2 #1");
    before = kernel;
    kernel = spare;
    ck_assert(test_wait((spare = find_spare(kernel, 1, before)) != 0, 20000));
    tui_enter(":new");
    terminal_wait(tui, strstr(terminal_row(tui, 0), "2:") != NULL);
    runs_in(spare, 1);
    tui_wait_status("k1 #1");
}
END_TEST

START_TEST(a_crash_leaves_a_ruled_line)
{
    tui_enter("import os; os.kill(os.getpid(), 11)");
    int row = terminal_wait_text(tui, "────");
    terminal_wait(tui, strstr(terminal_row(tui, row), "SIGSEGV") != NULL);
    tui_wait_status("ended");
    tui_run("print('again')", 2);
    tui_wait_status("k2 #1");
}
END_TEST

/*
 * ---- queue
 * --------------------------------------------------------------------------------------------------
 */

START_TEST(type_ahead_is_queued_and_can_be_dropped)
{
    tui_enter("import time; time.sleep(30)");
    tui_wait_status("busy");
    tui_enter("print('second')");
    tui_enter("print('third')");
    tui_wait_status("q:2");
    tui_wait_status("busy 1s"); /* it sleeps by now, beyond doubt */
    terminal_wait(tui, strstr(terminal_row(tui, terminal_find(tui, "[3]")), "queued") != NULL);
    terminal_keys(tui, "\030q");
    terminal_wait_text(tui, "[3] waits");
    terminal_wait_text(tui, ":drop forgets");
    terminal_keys(tui, "q");
    tui_enter(":drop");
    terminal_wait(tui, strstr(terminal_row(tui, tui_status_row()), "q:") == NULL);
    terminal_wait(tui, strstr(terminal_row(tui, terminal_find(tui, "[3]")), "not run") != NULL);
    terminal_keys(tui, "\003");
    terminal_wait_text(tui, "KeyboardInterrupt");
}
END_TEST

static Suite *suite_tui(void)
{
    Suite *suite = suite_create("tui");
    TCase *tests = tui_test_case(suite, "prompt");
    tcase_add_test(tests, opens_with_tab_prompt_and_status);
    tcase_add_test(tests, a_cell_shows_source_time_and_outcome);
    tcase_add_test(tests, a_value_is_shown_and_an_error_marked);
    tcase_add_test(tests, a_prompt_is_written_after_each_cell);
    tcase_add_test(tests, a_block_goes_on_until_it_is_complete);
    tcase_add_test(tests, the_prompt_edits_within_a_block);
    tcase_add_test(tests, brackets_that_belong_together_are_marked);
    tcase_add_test(tests, vi_keys_are_shown);
    tcase_add_test(tests, history_comes_back_by_up);
    tcase_add_test(tests, reverse_search_shows_what_it_looks_for);
    tcase_add_test(tests, a_thousand_pasted_lines_run_only_when_told_to);
    tcase_add_test(tests, pasted_prompts_are_stripped);
    tests = tui_test_case(suite, "output");
    tcase_add_test(tests, output_is_live);
    tcase_add_test(tests, a_progress_bar_stays_one_line);
    tcase_add_test(tests, colours_and_wide_characters_arrive);
    tcase_add_test(tests, nested_bars_of_tqdm_end_as_on_a_terminal);
    tcase_add_test(tests, a_table_of_rich_has_its_colours);
    tcase_add_test(tests, a_picture_is_shown_in_half_blocks);
    tcase_add_loop_test(tests, the_background_shines_through_pictures, 0, 2);
    tcase_add_test(tests, output_cannot_leave_its_block);
    tcase_add_test(tests, long_output_is_folded_and_opens);
    tcase_add_test(tests, a_hundred_thousand_lines_are_no_trouble);
    tests = tui_test_case(suite, "input");
    tcase_add_test(tests, input_gets_the_keys);
    tcase_add_test(tests, unread_answers_go_to_nobody);
    tcase_add_test(tests, who_reads_an_answer_gets_it);
    tcase_add_test(tests, typed_text_is_not_taken_by_input);
    tcase_add_test(tests, a_prompt_that_becomes_empty_gives_the_keyboard);
    tcase_add_test(tests, who_has_the_keyboard_stays_in_sight);
    tcase_add_test(tests, what_follows_an_answer_is_for_the_prompt);
    tcase_add_test(tests, a_password_is_not_shown);
    tcase_add_test(tests, pdb_steps);
    tcase_add_test(tests, a_full_screen_program_has_the_window);
    tests = tui_test_case(suite, "loss");
    tcase_add_test(tests, an_interrupt_keeps_variables);
    tcase_add_test(tests, interrupt_in_vain_offers_to_kill);
    tcase_add_test(tests, a_reset_asks_and_names_the_cost);
    tcase_add_test(tests, undo_goes_back_to_before_a_cell);
    tcase_add_test(tests, a_reset_and_a_new_session_need_not_wait);
    tcase_add_test(tests, a_crash_leaves_a_ruled_line);
    tcase_add_test(tests, type_ahead_is_queued_and_can_be_dropped);
    return suite;
}

int main(void)
{
    return test_run(suite_tui());
}
