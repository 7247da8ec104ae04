/* SPDX-License-Identifier: MIT */
/*
 * The full screen as a program among others: several sessions, resizing, signals, stopping,
 * leaving, terminals that can little.
 */
#include "config.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tui-testlib.h"

static void start(const char *const *arguments, int rows, int columns,
                  const char *const *environment)
{
    tui_stop();
    tui_start(arguments, rows, columns, environment);
}

/*
 * ---- sessions ----------------------------------------------------------------------------------
 */

START_TEST(two_sessions_run_at_once)
{
    start((const char *const[]){"--session", "one", "--session", "two", NULL}, 24, 80, NULL);
    terminal_wait_text(tui, "1:one  2:two");
    terminal_wait_text(tui, ">>>");
    tui_enter("import time; time.sleep(60)");
    tui_wait_status("busy");
    terminal_keys(tui, "\0302");
    tui_wait_status(" two");
    terminal_wait_text(tui, "1:one ●");
    tui_run("print('in two')", 1);
    terminal_wait_text(tui, "     in two");
    tui_wait_status("idle");
    terminal_keys(tui, "\030p");
    tui_wait_status(" one");
    tui_wait_status("busy");
    terminal_keys(tui, "\003");
    terminal_wait_text(tui, "KeyboardInterrupt");
}
END_TEST

/* How often its threads have slept. */
static long sleeps(pid_t pid)
{
    static const char name[] = "voluntary_ctxt_switches:";
    char path[300], line[200];
    struct dirent *task;
    long all = 0;
    DIR *tasks;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    tasks = opendir(path);
    ck_assert_ptr_nonnull(tasks);
    while ((task = readdir(tasks))) {
        FILE *status;

        snprintf(path, sizeof path, "/proc/%d/task/%s/status", (int)pid, task->d_name);
        status = fopen(path, "r");
        while (status && fgets(line, sizeof line, status)) {
            if (strncmp(line, name, sizeof name - 1) == 0)
                all += strtol(line + sizeof name - 1, NULL, 10);
        }
        if (status)
            fclose(status);
    }
    closedir(tasks);
    return all;
}

/* For each frame a few times, not for each of a thousand pieces. */
START_TEST(a_progress_bar_wakes_it_for_frames)
{
    enum { FRAME_MS = 33, WAKES = 8 };
    int64_t begin;
    long before;

    tui_run("from time import sleep as s", 1);
    begin = test_now_ms();
    before = sleeps(terminal_pid(tui));
    tui_run("for n in range(1000): print('\\r%3d' % n, end='', flush=True); s(.001)", 2);
    terminal_wait_text(tui, "     999");
    ck_assert_int_lt(sleeps(terminal_pid(tui)) - before,
                     ((test_now_ms() - begin) / FRAME_MS + 20) * WAKES);
}
END_TEST

START_TEST(a_flood_behind_takes_no_keys)
{
    static const char text[] = "whilethisgoeson";

    start((const char *const[]){"--session", "one", "--session", "two", NULL}, 24, 80, NULL);
    terminal_wait_text(tui, ">>>");
    tui_enter("while True: print('flood')\r");
    terminal_wait(tui, terminal_count(tui, "     flood") > 10);
    terminal_keys(tui, "\0302");
    tui_wait_status(" two");
    terminal_wait_text(tui, "1:one ●");
    /* what is drawn meanwhile moves the cursor, too */
    for (int i = 0, row, column; text[i]; i++) {
        terminal_send(tui, text + i, 1);
        terminal_wait(tui, (terminal_cursor(tui, &row, &column), column == 4 + i + 1));
    }
    terminal_wait_text(tui, ">>> whilethisgoeson");
    terminal_keys(tui, " = 1\r");
    tui_run("whilethisgoeson + 1", 2);
    terminal_wait_text(tui, "     2");
    terminal_keys(tui, "\0301");
    tui_wait_status("busy");
    terminal_wait_text(tui, "     flood");
    terminal_keys(tui, "\003");
    terminal_wait_text(tui, "KeyboardInterrupt");
}
END_TEST

START_TEST(each_session_keeps_its_draft)
{
    start((const char *const[]){"--session", "one", "--session", "two", NULL}, 24, 80, NULL);
    terminal_wait_text(tui, ">>>");
    terminal_keys(tui, "draft of one");
    terminal_wait_text(tui, ">>> draft of one");
    terminal_keys(tui, "\030n");
    tui_wait_status(" two");
    ck_assert_int_eq(terminal_find(tui, "draft of one"), -1);
    terminal_keys(tui, "of two\030n");
    terminal_wait_text(tui, ">>> draft of one");
    terminal_keys(tui, "\030n");
    terminal_wait_text(tui, ">>> of two");
}
END_TEST

START_TEST(tabs_are_opened_renamed_and_closed)
{
    terminal_keys(tui, "\030c");
    terminal_wait_text(tui, "2:");
    tui_enter(":rename other");
    terminal_wait_text(tui, "2:other");
    tui_wait_status(" other");
    VTermScreenCell front = terminal_cell(tui, 0, terminal_column(tui, 0, "2:other"));
    ck_assert(front.attrs.bold);
    terminal_keys(tui, "\030&");
    terminal_wait_no_text(tui, "2:other");
    tui_wait_status(" main");
}
END_TEST

START_TEST(a_background_tab_tells_that_it_has_news)
{
    terminal_keys(tui, "\030c");
    terminal_wait_text(tui, "2:");
    tui_enter("import time; time.sleep(1); 1 / 0");
    terminal_keys(tui, "\0301");
    tui_wait_status(" main");
    terminal_wait(tui, strstr(terminal_row(tui, 0), "✗") != NULL);
    terminal_keys(tui, "\0302");
    terminal_wait_text(tui, "ZeroDivisionError");
    terminal_wait(tui, strstr(terminal_row(tui, 0), "✗") == NULL);
}
END_TEST

START_TEST(earlier_cells_are_dimmed)
{
    static const char *const kept[] = {"--session", "kept", NULL};
    start(kept, 24, 80, NULL);
    terminal_wait_text(tui, ">>>");
    tui_run("print('old' + ' output')", 1);
    terminal_keys(tui, "\034"); /* C-\ */
    terminal_wait_exit(tui);
    start(kept, 24, 80, NULL);
    int rule = terminal_wait_text(tui, "earlier run · state not loaded");
    int row = terminal_wait_text(tui, "     old output");
    ck_assert_int_eq(row, rule - 1);
    ck_assert(terminal_has_bytes(tui, "2mold output")); /* libvterm knows no dim */
    VTermScreenCell cell = terminal_cell(tui, row - 1, 6);
    ck_assert(VTERM_COLOR_IS_INDEXED(&cell.fg) && cell.fg.indexed.idx == 8); /* the source */
    tui_enter("'new' + ' output'");
    row = terminal_wait_text(tui, "     'new output'");
    ck_assert(!terminal_has_bytes(tui, "2m'new output'"));
    ck_assert_int_eq(terminal_column(tui, row - 1, "[2]"), 0);
}
END_TEST

/* Enter a cell that waits until the test makes the file, then does what. */
static void enter_waiting(const char *file, const char *what)
{
    char line[600];
    snprintf(line, sizeof(line),
             "import os, time; _ = [time.sleep(0.01) for _ in iter(lambda: "
             "os.path.exists('%s'), True)]; %s",
             test_path("%s", file), what);
    tui_enter(line);
    tui_wait_status("busy");
}

START_TEST(tabs_tell_of_output_and_of_ends)
{
    start((const char *const[]){"--session", "one", "--session", "two", "--session", "three", NULL},
          24, 80, NULL);
    terminal_wait_text(tui, "1:one  2:two  3:three");
    terminal_wait_text(tui, ">>>");
    enter_waiting("first", "print('ne' + 'ws')");
    terminal_keys(tui, "\0302");
    tui_wait_status(" two");
    enter_waiting("second", "os._exit(3)");
    terminal_keys(tui, "\0303");
    tui_wait_status(" three");
    terminal_wait_text(tui, "1:one ●  2:two ●  3:three");
    test_write_file(test_path("first"), "", 0600);
    terminal_wait_text(tui, "1:one •  2:two ●  3:three");
    test_write_file(test_path("second"), "", 0600);
    terminal_wait_text(tui, "1:one •  2:two ⊘  3:three");
    terminal_keys(tui, "draft of three\0301");
    terminal_wait_text(tui, "     news");
    terminal_wait_text(tui, "1:one  2:two ⊘  3:three");
    terminal_keys(tui, "\0302");
    tui_wait_status("ended:");
    tui_enter("7 * 6"); /* in a new kernel */
    terminal_wait_text(tui, "     42");
    terminal_wait_text(tui, "1:one  2:two  3:three");
    terminal_keys(tui, "\0303");
    terminal_wait_text(tui, ">>> draft of three");
}
END_TEST

/* The left button, at the text in the row of tabs. */
static void click_tab(const char *text)
{
    char keys[80];
    int column = terminal_column(tui, 0, text) + 1;
    snprintf(keys, sizeof(keys), "\033[<0;%d;1M\033[<0;%d;1m", column, column);
    terminal_keys(tui, keys);
}

START_TEST(a_click_brings_a_tab_to_the_front)
{
    start((const char *const[]){"--session", "one", "--session", "two", "--session", "three", NULL},
          24, 80, NULL);
    terminal_wait_text(tui, "1:one  2:two  3:three");
    terminal_keys(tui, "draft");
    terminal_wait_text(tui, ">>> draft");
    click_tab("o  3"); /* the last letter of the second */
    tui_wait_status(" two");
    ck_assert(terminal_cell(tui, 0, terminal_column(tui, 0, "2:two")).attrs.bold);
    ck_assert(!terminal_cell(tui, 0, terminal_column(tui, 0, "1:one")).attrs.bold);
    ck_assert_int_eq(terminal_find(tui, "draft"), -1);
    click_tab("3:three");
    tui_wait_status(" three");
    click_tab("1:one");
    tui_wait_status(" one");
    terminal_wait_text(tui, ">>> draft");
    terminal_keys(tui, "\033[<0;70;1M\033[<0;70;1m"); /* behind the last: nothing happens */
    terminal_keys(tui, " more");
    terminal_wait_text(tui, ">>> draft more");
    tui_wait_status(" one");
}
END_TEST

/*
 * ---- sizes
 * ----------------------------------------------------------------------------------------
 */

START_TEST(a_storm_of_resizes_is_survived)
{
    static const int sizes[][2] = {{10, 40}, {40, 120}, {12, 41}, {24, 80}, {11, 200}, {60, 50}};
    tui_run("print('wide ' * 30)", 1);
    terminal_keys(tui, "typed text");
    for (int i = 0; i < 200; i++) {
        terminal_resize(tui, sizes[i % 6][0], sizes[i % 6][1]);
        terminal_pump(tui, i % 7 == 0 ? 5 : 0);
    }
    terminal_resize(tui, 20, 60);
    terminal_wait(tui, terminal_find(tui, ">>> typed text") >= 0 &&
                           strstr(terminal_row(tui, 19), "idle"));
    terminal_wait(tui, strstr(terminal_row(tui, 0), "1:main") != NULL);
    /* 150 characters in rows of 55 */
    terminal_wait(tui, terminal_count(tui, "wide wide") == 3);
}
END_TEST

START_TEST(a_small_terminal_gets_a_polite_message)
{
    terminal_resize(tui, 6, 30);
    terminal_wait_text(tui, "too small");
    terminal_keys(tui, "print('blind')\r");
    terminal_resize(tui, 24, 80);
    terminal_wait_text(tui, "     blind");
}
END_TEST

START_TEST(forty_by_ten_is_enough)
{
    start(NULL, 10, 40, NULL);
    terminal_wait_text(tui, ">>>");
    tui_run("print('fits')", 1);
    terminal_wait_text(tui, "     fits");
    tui_wait_status("main");
    tui_wait_status("idle");
}
END_TEST

START_TEST(help_is_readable_at_forty_columns)
{
    start(NULL, 30, 40, NULL);
    terminal_wait_text(tui, ">>>");
    terminal_keys(tui, "\030?");
    int row = terminal_wait_text(tui, "  :interrupt");
    terminal_wait(tui,
                  strcmp(terminal_row(tui, row + 1), "      interrupt the cell that runs;") == 0);
    terminal_wait(tui, strstr(terminal_row(tui, row + 2), "      its variables") != NULL);
    terminal_keys(tui, "q");
}
END_TEST

/*
 * ---- signals
 * -----------------------------------------------------------------------------------------
 */

static void ck_restored(void)
{
    ck_assert(terminal_has_bytes(tui, "\033[?1049l"));
    ck_assert(terminal_has_bytes(tui, "\033[?2004l"));
    ck_assert(terminal_has_bytes(tui, "\033[?1000l"));
    ck_assert(terminal_cursor_shown(tui));
}

static void end_by(int signal_number, bool busy)
{
    if (busy) {
        tui_enter("import subprocess; subprocess.run(['sleep', '1000'])");
        tui_wait_status("busy");
    }
    kill(terminal_pid(tui), signal_number);
    int status = terminal_wait_exit(tui);
    ck_assert_msg((WIFEXITED(status) && WEXITSTATUS(status) == 128 + signal_number) ||
                      (WIFSIGNALED(status) && WTERMSIG(status) == signal_number),
                  "wait status %#x", (unsigned)status);
    ck_restored();
    tui_stop(); /* looks for processes */
}

START_TEST(sigterm_gives_the_terminal_back)
{
    end_by(SIGTERM, true);
}
END_TEST

START_TEST(sighup_gives_the_terminal_back)
{
    end_by(SIGHUP, true);
}
END_TEST

START_TEST(a_fault_gives_the_terminal_back)
{
    end_by(SIGABRT, false);
}
END_TEST

START_TEST(sigkill_leaves_no_process)
{
    tui_enter("import subprocess; subprocess.run(['sleep', '1000'])");
    tui_wait_status("busy");
    kill(terminal_pid(tui), SIGKILL);
    terminal_wait_exit(tui);
    tui_stop();
}
END_TEST

/* The loop hangs in writing, and never sees that there was a signal. */
START_TEST(sigterm_ends_it_at_a_terminal_that_takes_nothing)
{
#ifdef __SANITIZE_THREAD__
    puts("left out: a terminal that takes nothing (ThreadSanitizer holds back signals in write())");
#else
    terminal_hold(tui);
    terminal_keys(tui, "x");
    kill(terminal_pid(tui), SIGTERM);
    int status = terminal_wait_exit(tui);
    ck_assert_msg((WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGTERM) ||
                      (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM),
                  "wait status %#x", (unsigned)status);
#endif
    tui_stop();
}
END_TEST

/*
 * ---- stopping
 * ------------------------------------------------------------------------------------------
 */

static struct test_processes *before;

/* "%s" stands for the program. */
static void start_in_shell(const char *format)
{
    char program[8600], command[9000], home[4200];
    tui_stop();
    snprintf(program, sizeof(program), "'%.4000s' --python '%.4000s'",
             test_build_path("hermes-repl"), test_python());
    const char *at = strstr(format, "%s");
    snprintf(command, sizeof(command), "%.*s%s%s", (int)(at - format), format, program, at + 2);
    snprintf(home, sizeof(home), "HOME=%s", test_directory());
    before = test_processes_take();
    tui = terminal_start((const char *const[]){"/bin/bash", "-c", command, NULL}, 24, 80,
                         (const char *const[]){home, "XDG_CONFIG_HOME", "XDG_STATE_HOME", NULL});
    terminal_wait_text(tui, ">>>");
}

static void end_shell(void)
{
    terminal_wait_exit(tui);
    terminal_stop(tui);
    tui = NULL;
    test_processes_check(before, 10000);
}

/* With job control. */
#define STOPS "set -m; %s; echo STOPPED; read key; fg >/dev/null; echo ENDED"

START_TEST(ctrl_z_stops_it_properly)
{
    start_in_shell(STOPS);
    terminal_keys(tui, "half typed");
    terminal_wait_text(tui, ">>> half typed");
    terminal_keys(tui, "\032");
    terminal_wait_text(tui, "STOPPED");
    ck_restored();
    terminal_resize(tui, 20, 70);
    terminal_keys(tui, "\r");
    terminal_wait_text(tui, ">>> half typed");
    terminal_wait(tui, strstr(terminal_row(tui, 19), "main") != NULL);
    terminal_keys(tui, "\034");
    terminal_wait_text(tui, "ENDED");
    end_shell();
}
END_TEST

/* As C-z does in vim; and when only the editor is stopped. */
START_TEST(it_stops_together_with_the_editor)
{
    start_in_shell(_i ? "export EDITOR='kill -STOP $$; echo y = 2 >>'; " STOPS
                      : "export EDITOR='kill -TSTP 0; echo y = 2 >>'; " STOPS);
    terminal_keys(tui, "\033OQ"); /* F2 */
    terminal_wait_text(tui, "STOPPED");
    terminal_keys(tui, "\r");
    terminal_wait_text(tui, ">>> y = 2");
    terminal_keys(tui, "\034");
    terminal_wait_text(tui, "ENDED");
    end_shell();
}
END_TEST

/* Nobody was asked, and somebody else had the terminal. */
START_TEST(after_sigstop_all_is_drawn_again)
{
    terminal_keys(tui, "half typed");
    terminal_wait_text(tui, ">>> half typed");
    kill(terminal_pid(tui), SIGSTOP);
    terminal_wait(tui, strchr("Tt", test_process_state(terminal_pid(tui)))); /* t: it is traced */
    terminal_settle(tui, 20);
    terminal_show(tui, "\033[2J\033[?2004l");
    terminal_forget(tui);
    kill(terminal_pid(tui), SIGCONT);
    terminal_wait_text(tui, ">>> half typed");
    terminal_wait(tui, terminal_has_bytes(tui, "\033[?2004h"));
}
END_TEST

/*
 * ---- leaving
 * ----------------------------------------------------------------------------------------------
 */

START_TEST(ctrl_d_leaves_when_nothing_runs)
{
    terminal_keys(tui, "\004");
    int status = terminal_wait_exit(tui);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_restored();
    tui_stop();
}
END_TEST

/* Not as an editor that was killed left it. */
START_TEST(the_terminal_is_given_back_as_it_was)
{
    start_in_shell("EDITOR='stty raw -echo; kill -9 $$;:' %s; stty -a; echo ENDED");
    terminal_keys(tui, "\033OQ"); /* F2 */
    terminal_wait_text(tui, "the editor failed");
    terminal_keys(tui, "\034");
    terminal_wait_text(tui, "ENDED");
    ck_assert(terminal_find(tui, " icanon") >= 0 && terminal_find(tui, " -icanon") < 0);
    ck_assert(terminal_find(tui, " echo ") >= 0 && terminal_find(tui, " -echo ") < 0);
    end_shell();
}
END_TEST

/* A shell would read them as keys. */
START_TEST(late_answers_of_the_terminal_are_nobodys_keys)
{
    terminal_is_silent = true;
    start_in_shell(_i ? "%s; read -t 1 -n 99 left; echo \"LEFT=<${left@Q}>\""
                      : "TMUX=/none,1,0 %s; read -t 1 -n 99 left; echo \"LEFT=<${left@Q}>\"");
    terminal_keys(tui, "\034"); /* the screen is there before anything is asked */
    terminal_wait(tui, terminal_has_bytes(tui, "\033]11;?"));
    terminal_keys(tui, "\033]11;rgb:1010/1010/1010\033\\");
    if (_i) { /* its pictures are asked for, too */
        terminal_wait(tui, terminal_has_bytes(tui, "\033[c"));
        terminal_keys(tui, "\033_Gi=31;OK\033\\\033[?62;4c");
    }
    int row = terminal_wait_text(tui, "LEFT=<");
    ck_assert_str_eq(terminal_row(tui, row), "LEFT=<''>");
    ck_assert_int_eq(terminal_find(tui, "1010"), -1);
    end_shell();
}
END_TEST

/* Of the key file, too: it is read before there is a screen. */
START_TEST(remarks_of_the_beginning_are_on_the_screen)
{
    test_write_file(test_path("keys"), "unbnd F3\n", 0600);
    start((const char *const[]){"--keys", test_path("keys"), NULL}, 24, 80, NULL);
    terminal_wait_text(tui, "unbnd");
}
END_TEST

START_TEST(leaving_runs_exit_handlers)
{
    char line[4300];
    snprintf(line, sizeof(line), "import atexit; _ = atexit.register(open, '%s', 'w')",
             test_path("left"));
    tui_run(line, 1);
    terminal_keys(tui, "\004");
    int status = terminal_wait_exit(tui);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert(test_exists(test_path("left")));
    tui_stop();
}
END_TEST

static void ctrl_c_ends_the_wait(const char *mark)
{
    terminal_keys(tui, "\004");
    terminal_wait(tui, terminal_has_bytes(tui, mark));
    terminal_keys(tui, "\003");
    int64_t start = test_now_ms();
    int status = terminal_wait_exit(tui);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_int_lt(test_now_ms() - start, test_scaled_ms(2500));
    tui_stop();
}

/* A kernel that takes its time to leave does not hold who presses C-c. */
START_TEST(the_wait_for_a_kernel_can_be_ended)
{
    tui_run("import atexit, time; _ = atexit.register(time.sleep, 60)", 1);
    ctrl_c_ends_the_wait("\033[?1049l");
}
END_TEST

/* Pressed while the terminal has not answered, too; after a change of size it is asked. */
START_TEST(the_wait_for_an_answer_takes_no_key)
{
    start(NULL, 24, 80, (const char *const[]){"HERMES_REPL_GRAPHICS=sixel", NULL});
    terminal_wait_text(tui, ">>>");
    tui_run("import atexit, time; _ = atexit.register(time.sleep, 60)", 1);
    terminal_forget(tui);
    terminal_is_silent = true;
    terminal_resize(tui, 24, 90);
    terminal_wait(tui, terminal_has_bytes(tui, "\033[16t\033[c"));
    ctrl_c_ends_the_wait("\033[?2004l");
}
END_TEST

START_TEST(leaving_asks_when_something_runs)
{
    tui_enter("import time; time.sleep(60)");
    tui_wait_status("busy");
    terminal_keys(tui, "\004");
    terminal_wait_text(tui, "(y/n)");
    terminal_keys(tui, "n");
    terminal_wait_no_text(tui, "(y/n)");
    tui_enter(":quit");
    terminal_wait_text(tui, "(y/n)");
    terminal_keys(tui, "y");
    terminal_wait_exit(tui);
    tui_stop();
}
END_TEST

/*
 * ---- terminals that can little
 * ------------------------------------------------------------------------------
 */

START_TEST(no_color_means_none)
{
    start(NULL, 24, 80, (const char *const[]){"NO_COLOR=1", NULL});
    terminal_wait_text(tui, ">>>");
    tui_run("print('plain')", 1);
    terminal_wait_text(tui, "     plain");
    ck_assert(!terminal_has_bytes(tui, "[38;5"));
    ck_assert(!terminal_has_bytes(tui, "[31m"));
    terminal_wait(tui, terminal_cell(tui, tui_status_row(), 1).attrs.reverse);
}
END_TEST

START_TEST(without_utf8_marks_are_ascii)
{
    start(NULL, 24, 80, (const char *const[]){"LC_ALL=C", NULL});
    terminal_wait_text(tui, ">>>");
    tui_enter("1 + 1");
    int row = terminal_wait_text(tui, "[1]");
    terminal_wait(tui, strstr(terminal_row(tui, row), "s +") != NULL);
    tui_wait_status("main | ");
}
END_TEST

START_TEST(a_light_background_is_noticed)
{
    start(NULL, 24, 80, (const char *const[]){"COLORFGBG=0;15", NULL});
    int row = terminal_wait_text(tui, ">>>");
    VTermScreenCell cell = terminal_cell(tui, row, 0);
    ck_assert(VTERM_COLOR_IS_INDEXED(&cell.fg));
    ck_assert_int_eq(cell.fg.indexed.idx, 28);
    terminal_keys(tui, "\033]11;rgb:1010/1010/1010\033\\");
    terminal_wait(tui, terminal_cell(tui, row, 0).fg.indexed.idx != 28);
}
END_TEST

/* Of the prompt's mark: an index, or -1 for the terminal's own. */
static int prompt_colour(void)
{
    int row = terminal_find(tui, ">>>");
    VTermScreenCell cell = terminal_cell(tui, row < 0 ? 0 : row, 0);
    return VTERM_COLOR_IS_INDEXED(&cell.fg) && !VTERM_COLOR_IS_DEFAULT_FG(&cell.fg)
               ? cell.fg.indexed.idx
               : -1;
}

START_TEST(a_theme_can_be_chosen)
{
    start((const char *const[]){"--theme", "light", NULL}, 24, 80,
          (const char *const[]){"COLORFGBG=15;0", NULL});
    terminal_wait_text(tui, ">>>");
    terminal_wait(tui, prompt_colour() == 28);
    terminal_keys(tui, "\033]11;rgb:1010/1010/1010\033\\");
    tui_run("1", 1);
    terminal_wait(tui, prompt_colour() == 28);
    ck_assert(!terminal_has_bytes(tui, "\033]11;?")); /* what is known is not asked */
    tui_enter(":set theme mono");
    terminal_wait(tui, prompt_colour() == -1);
    tui_enter(":set theme auto");
    terminal_wait(tui, prompt_colour() == 10);
    tui_enter(":set theme loud");
    terminal_wait_text(tui, "auto|dark|light|mono");
}
END_TEST

/*
 * ---- tools
 * ------------------------------------------------------------------------------------------------------
 */

START_TEST(an_approval_is_asked_and_takes_no_typed_text)
{
    start((const char *const[]){"--tools", "terminal", NULL}, 24, 80, NULL);
    terminal_wait_text(tui, ">>>");
    tui_enter("from hermes_tools import terminal; print(terminal('echo tool-ran'))");
    terminal_wait_text(tui, "! terminal");
    terminal_wait_text(tui, "C-x a once");
    tui_wait_status("! approval");
    terminal_keys(tui, "yes_typed");
    terminal_wait_text(tui, ">>> yes_typed");
    terminal_keys(tui, "\030d");
    terminal_wait_no_text(tui, "! terminal");
    tui_wait_status("idle");
    terminal_keys(tui, "\003");
    terminal_wait_no_text(tui, ">>> yes_typed");
    tui_enter("print(terminal('echo tool-ran')['output'])");
    terminal_wait_text(tui, "! terminal");
    terminal_keys(tui, "\030a");
    terminal_wait_text(tui, "     tool-ran");
    tui_wait_status("idle");
}
END_TEST

/* However long the call and small the screen: its end, and the keys. */
START_TEST(a_long_call_is_shown_to_its_end)
{
    start((const char *const[]){"--tools", "terminal", NULL}, 24, 80, NULL);
    terminal_wait_text(tui, ">>>");
    tui_run("from hermes_tools import terminal", 1);
    tui_enter("print(terminal('echo begin; ' + 'echo filler; ' * 12 + 'echo the-end')['output'])");
    terminal_wait_text(tui, "the-end\"}");
    terminal_wait_text(tui, "C-x d deny");
    terminal_resize(tui, 10, 40);
    terminal_wait_text(tui, "the-end\"}");
    terminal_wait_text(tui, "C-x d deny");
    terminal_wait_text(tui, "! terminal");
    terminal_wait_text(tui, ":approve shows all");
    terminal_resize(tui, 24, 80);
    tui_enter(":approve");
    terminal_wait_text(tui, "waits for approval");
    terminal_keys(tui, "q\030a");
    terminal_wait_no_text(tui, "! terminal");
    terminal_wait_text(tui, "     the-end");
}
END_TEST

static Suite *suite_tui_program(void)
{
    Suite *suite = suite_create("tui_program");
    TCase *tests = tui_test_case(suite, "sessions");
    tcase_add_test(tests, two_sessions_run_at_once);
    tcase_add_test(tests, a_progress_bar_wakes_it_for_frames);
    tcase_add_test(tests, a_flood_behind_takes_no_keys);
    tcase_add_test(tests, each_session_keeps_its_draft);
    tcase_add_test(tests, tabs_are_opened_renamed_and_closed);
    tcase_add_test(tests, a_background_tab_tells_that_it_has_news);
    tcase_add_test(tests, earlier_cells_are_dimmed);
    tcase_add_test(tests, tabs_tell_of_output_and_of_ends);
    tcase_add_test(tests, a_click_brings_a_tab_to_the_front);
    tests = tui_test_case(suite, "sizes");
    tcase_add_test(tests, a_storm_of_resizes_is_survived);
    tcase_add_test(tests, a_small_terminal_gets_a_polite_message);
    tcase_add_test(tests, forty_by_ten_is_enough);
    tcase_add_test(tests, help_is_readable_at_forty_columns);
    tests = tui_test_case(suite, "signals");
    tcase_add_test(tests, sigterm_gives_the_terminal_back);
    tcase_add_test(tests, sighup_gives_the_terminal_back);
    tcase_add_test(tests, a_fault_gives_the_terminal_back);
    tcase_add_test(tests, sigkill_leaves_no_process);
    tcase_add_test(tests, sigterm_ends_it_at_a_terminal_that_takes_nothing);
    tcase_add_test(tests, ctrl_z_stops_it_properly);
    tcase_add_loop_test(tests, it_stops_together_with_the_editor, 0, 2);
    tcase_add_test(tests, after_sigstop_all_is_drawn_again);
    tests = tui_test_case(suite, "leaving");
    tcase_add_test(tests, ctrl_d_leaves_when_nothing_runs);
    tcase_add_test(tests, the_terminal_is_given_back_as_it_was);
    tcase_add_loop_test(tests, late_answers_of_the_terminal_are_nobodys_keys, 0, 2);
    tcase_add_test(tests, remarks_of_the_beginning_are_on_the_screen);
    tcase_add_test(tests, leaving_runs_exit_handlers);
    tcase_add_test(tests, the_wait_for_a_kernel_can_be_ended);
    tcase_add_test(tests, the_wait_for_an_answer_takes_no_key);
    tcase_add_test(tests, leaving_asks_when_something_runs);
    tests = tui_test_case(suite, "terminals");
    tcase_add_test(tests, no_color_means_none);
    tcase_add_test(tests, without_utf8_marks_are_ascii);
    tcase_add_test(tests, a_light_background_is_noticed);
    tcase_add_test(tests, a_theme_can_be_chosen);
    tests = tui_test_case(suite, "tools");
    tcase_add_test(tests, an_approval_is_asked_and_takes_no_typed_text);
    tcase_add_test(tests, a_long_call_is_shown_to_its_end);
    return suite;
}

int main(void)
{
    return test_run(suite_tui_program());
}
