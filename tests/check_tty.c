/* SPDX-License-Identifier: MIT */
/*
 * Kernels whose standard streams are a pseudo-terminal: what programs see there, the order of
 * output, the marks that end a cell, input, size, interrupts, and what a cell may break.
 */
#include "config.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine-testlib.h"

static struct hermes_kernel_setup setup;
static uint64_t the_kernel;

static void set_up(void)
{
    te_set_up();
    setup = (struct hermes_kernel_setup)HERMES_KERNEL_SETUP_INIT;
    setup.io = HERMES_IO_TTY;
    the_kernel = 0;
}

/* ---- cells ------------------------------------------------------------------------------ */

static struct hermes_cell tty_cell(const char *code)
{
    struct hermes_cell cell = te_cell("t", code);

    cell.setup = &setup;
    return cell;
}

static struct hermes_result *run(const char *code)
{
    struct hermes_cell cell = tty_cell(code);

    return te_run_cell(engine, &cell);
}

static void says(const char *code, const char *output)
{
    struct hermes_result *result = run(code);

    EXPECT(result, result->outcome == HERMES_SUCCESS && result->exit_code == 0);
    EXPECT_OUTPUT(result, output);
    hermes_result_free(result);
}

static uint64_t submit(const char *code)
{
    struct hermes_cell cell = tty_cell(code);
    uint64_t id = te_submit_cell(&cell);
    struct hermes_event *started = te_event(HERMES_EVENT_STARTED, id);

    the_kernel = started->kernel;
    hermes_event_free(started);
    return id;
}

/* The cell is done, with this output. */
static void done_with(uint64_t cell, const char *output)
{
    struct hermes_event *event = te_done(cell);

    EXPECT(event->result, event->result->outcome == HERMES_SUCCESS);
    EXPECT_OUTPUT(event->result, output);
    hermes_event_free(event);
}

static void type(const char *text)
{
    struct hermes_error error = {0};
    int status = hermes_input(engine, the_kernel, text, strlen(text), &error);

    ck_assert_msg(status == 0, "%s: %s", hermes_status_name(status), error.text);
}

/* Until the flags of the input state are as wanted. */
static void state_becomes(int mask, int wanted)
{
    ck_assert_msg(test_wait((hermes_input_state(engine, the_kernel) & mask) == wanted, 10000),
                  "the input state is %d", hermes_input_state(engine, the_kernel));
}

/* ---- what programs see ------------------------------------------------------------------ */

START_TEST(standard_streams_are_a_terminal)
{
    says("import os, sys\n"
         "print(*[os.isatty(n) for n in range(3)], sys.stdin.isatty(), sys.stdout.isatty())\n"
         "print(len({os.ttyname(n) for n in range(3)}))\n",
         "True True True True True\n1\n");
    /* it is the controlling terminal, and the kernel is in its foreground */
    says("print(os.ttyname(os.open('/dev/tty', os.O_RDWR)) != '', os.tcgetpgrp(0) == os.getpgrp(),"
         " os.getsid(0) == os.getpid())",
         "True True True\n");
    says("import termios\n"
         "mode = termios.tcgetattr(0)\n"
         "print(bool(mode[1] & termios.ONLCR), bool(mode[3] & termios.ICANON),"
         " bool(mode[3] & termios.ECHO), bool(mode[3] & termios.ISIG))",
         "True True True True\n");
}
END_TEST

START_TEST(environment_is_that_of_a_terminal)
{
    setenv("COLUMNS", "11", 1);
    setenv("LINES", "12", 1);
    setenv("TERM", "dumb", 1);
    setup.columns = 101;
    setup.rows = 31;
    setup.env = HERMES_ENV_INHERIT;
    says("import os, shutil\n"
         "print(os.environ['TERM'], 'COLUMNS' in os.environ, 'LINES' in os.environ,"
         " tuple(shutil.get_terminal_size()))",
         "xterm-256color False False (101, 31)\n");
    setup.terminal = "vt100";
    setup.columns = 20;
    says("print(os.environ['TERM'])", "xterm-256color\n"); /* no other setting */
    ck_assert_int_eq(hermes_reset(engine, "t", NULL), 0);
    says("import os, shutil\nprint(os.environ['TERM'], shutil.get_terminal_size().columns)",
         "vt100 20\n");
    unsetenv("COLUMNS");
    unsetenv("LINES");
    unsetenv("TERM");
}
END_TEST

START_TEST(output_keeps_its_order)
{
    says("import os, subprocess, sys\n"
         "for n in range(20):\n"
         "    print('a', n)\n"
         "    print('b', file=sys.stderr)\n"
         "    os.write(1, b'c\\n'); os.write(2, b'd\\n'); os.write(0, b'e\\n')\n"
         "    if n % 10 == 0: subprocess.run(['echo', 'f']); os.system('echo g >&2')\n",
         "a 0\nb\nc\nd\ne\nf\ng\na 1\nb\nc\nd\ne\na 2\nb\nc\nd\ne\na 3\nb\nc\nd\ne\na "
         "4\nb\nc\nd\ne\n"
         "a 5\nb\nc\nd\ne\na 6\nb\nc\nd\ne\na 7\nb\nc\nd\ne\na 8\nb\nc\nd\ne\na 9\nb\nc\nd\ne\n"
         "a 10\nb\nc\nd\ne\nf\ng\na 11\nb\nc\nd\ne\na 12\nb\nc\nd\ne\na 13\nb\nc\nd\ne\na "
         "14\nb\nc\nd\ne\n"
         "a 15\nb\nc\nd\ne\na 16\nb\nc\nd\ne\na 17\nb\nc\nd\ne\na 18\nb\nc\nd\ne\na "
         "19\nb\nc\nd\ne\n");
}
END_TEST

START_TEST(each_cell_has_its_own_output)
{
    char code[64], output[64];

    for (int i = 0; i < 300; i++) {
        snprintf(code, sizeof code, "print('cell', %d, end='')", i);
        snprintf(output, sizeof output, "cell %d", i);
        says(code, output);
    }
}
END_TEST

START_TEST(events_are_what_the_terminal_shows)
{
    uint64_t cell = submit("print('x'); print('y')");
    struct hermes_event *event = te_done(cell);

    EXPECT_OUTPUT(event->result, "x\ny\n");
    hermes_event_free(event);
    cell = submit("import os; os.write(1, b'z\\n')");
    event = te_event(HERMES_EVENT_OUTPUT, cell);
    ck_assert_int_eq(event->stream, 1);
    ck_assert_uint_eq(event->size, 3);
    ck_assert_int_eq(memcmp(event->data, "z\r\n", 3), 0);
    hermes_event_free(event);
    hermes_event_free(te_done(cell));
}
END_TEST

/* ---- input ------------------------------------------------------------------------------ */

START_TEST(input_reads_what_is_typed)
{
    uint64_t cell = submit("name = input('name? ')\nprint('hello', name)");

    te_output(cell, "name? ");
    state_becomes(HERMES_INPUT_WAITS | HERMES_INPUT_NO_ECHO | HERMES_INPUT_RAW, HERMES_INPUT_WAITS);
    type("wor");
    type("ld\n");
    done_with(cell, "name? world\nhello world\n");
    state_becomes(HERMES_INPUT_WAITS, 0);
}
END_TEST

START_TEST(a_password_is_not_shown)
{
    uint64_t cell =
        submit("import getpass\nword = getpass.getpass('password: ')\nprint(len(word))");

    te_output(cell, "password: ");
    state_becomes(HERMES_INPUT_WAITS | HERMES_INPUT_NO_ECHO,
                  HERMES_INPUT_WAITS | HERMES_INPUT_NO_ECHO);
    type("open sesame\n");
    done_with(cell, "password: \n11\n");
}
END_TEST

START_TEST(end_of_file_is_typed)
{
    uint64_t cell = submit("import sys\nprint(repr(sys.stdin.read()))");

    state_becomes(HERMES_INPUT_WAITS, HERMES_INPUT_WAITS);
    type("one\n");
    type("\004");
    done_with(cell, "one\n'one\\n'\n");
}
END_TEST

START_TEST(unread_input_is_gone_with_its_cell)
{
    uint64_t cell = submit("import time, os\nopen(0, closefd=False)\nprint('go')\ntime.sleep(0.3)");

    te_output(cell, "go");
    type("left over\n");
    hermes_event_free(te_done(cell));
    cell = submit("print(repr(input('? ')))");
    te_output(cell, "? ");
    state_becomes(HERMES_INPUT_WAITS, HERMES_INPUT_WAITS);
    type("meant\n");
    done_with(cell, "? meant\n'meant'\n");
}
END_TEST

START_TEST(a_child_reads_the_terminal)
{
    uint64_t cell = submit("import subprocess\nsubprocess.run(['head', '-n', '1'])");

    state_becomes(HERMES_INPUT_WAITS, HERMES_INPUT_WAITS);
    type("abc\n");
    done_with(cell, "abc\nabc\n");
}
END_TEST

START_TEST(much_input_waits_and_is_bounded)
{
    enum { LINES = 2000 };
    char *big = calloc(1, (1 << 20) + 2), text[64];
    struct hermes_error error = {0};
    uint64_t cell =
        submit("import os, time, tty\n"
               "tty.setraw(0)\nprint('ready', end='', flush=True)\n"
               "while not os.path.exists(os.environ['TMPDIR'] + '/go'): time.sleep(0.01)\n"
               "got = b''\n"
               "while not got.endswith(b'END'): got += os.read(0, 65536)\n"
               "print('|', len(got), got.count(b'k'), sep='', end='')");

    te_output(cell, "ready");
    memset(big, 'k', 1 << 20);
    ck_assert_int_eq(hermes_input(engine, the_kernel, big, 700000, &error), 0);
    ck_assert_int_eq(hermes_input(engine, the_kernel, big, 1 << 20, &error), HERMES_EAGAIN);
    ck_assert_int_eq(hermes_input(engine, the_kernel, "END", 3, &error), 0);
    test_write_file(test_path("go"), "x", 0600);
    snprintf(text, sizeof text, "ready|%d%d", 700003, 700000);
    done_with(cell, text);
    free(big);
}
END_TEST

/* ---- size ------------------------------------------------------------------------------- */

START_TEST(another_size_is_told)
{
    uint64_t cell =
        submit("import os, signal, time\n"
               "seen = []\n"
               "signal.signal(signal.SIGWINCH, lambda *_: seen.append(os.get_terminal_size()))\n"
               "print(tuple(os.get_terminal_size()))\n"
               "while not seen: time.sleep(0.01)\n"
               "print(tuple(seen[0]))");

    te_output(cell, "(80, 24)");
    ck_assert_int_eq(hermes_resize(engine, the_kernel, 0, 24), HERMES_EINVAL);
    ck_assert_int_eq(hermes_resize(engine, the_kernel, 80, 70000), HERMES_EINVAL);
    ck_assert_int_eq(hermes_resize(engine, the_kernel + 1000, 80, 24), HERMES_ENOENT);
    ck_assert_int_eq(hermes_resize(engine, the_kernel, 132, 43), 0);
    done_with(cell, "(80, 24)\n(132, 43)\n");
}
END_TEST

/* ---- interrupts ------------------------------------------------------------------------- */

static void interrupted(uint64_t cell)
{
    struct hermes_event *event;

    ck_assert_int_eq(hermes_interrupt(engine, cell, NULL, 10000), 0);
    event = te_done(cell);
    EXPECT(event->result,
           event->result->outcome == HERMES_INTERRUPTED && event->result->state_kept == 1);
    hermes_event_free(event);
    says("print(kept)", "1\n");
}

START_TEST(interrupt_ends_input)
{
    uint64_t cell = submit("kept = 1\ninput('? ')");

    state_becomes(HERMES_INPUT_WAITS, HERMES_INPUT_WAITS);
    interrupted(cell);
}
END_TEST

START_TEST(interrupt_ends_a_loop)
{
    uint64_t cell = submit("kept = 1\nprint('on')\nwhile True: pass");

    te_output(cell, "on");
    interrupted(cell);
}
END_TEST

/* As at a terminal: the program ends, the code behind it runs. */
START_TEST(interrupt_ends_a_program)
{
    uint64_t cell = submit("import os\nkept = 1\nprint('on', flush=True)\n"
                           "print(os.system('sleep 99'))");
    struct hermes_event *event;

    te_output(cell, "on");
    ck_assert_int_eq(hermes_interrupt(engine, cell, NULL, 10000), 0);
    event = te_done(cell);
    EXPECT(event->result, event->result->state_kept != 0);
    hermes_event_free(event);
    says("print(kept)", "1\n");
}
END_TEST

/* A program that took the foreground gets what is typed and asked; once more is for Python too. */
START_TEST(interrupt_goes_to_the_foreground)
{
    uint64_t cell =
        submit("import os, subprocess\nkept = 1\n"
               "p = subprocess.run(['bash', '--norc', '-i'], env=dict(os.environ, PS1='ready> '))\n"
               "print('over', p.returncode)");

    te_output(cell, "ready> ");
    type("sh -c 'echo $$ > $TMPDIR/pid; exec sleep 98'\n");
    te_read_number(test_path("pid"));
    state_becomes(HERMES_INPUT_WAITS, 0);
    ck_assert_int_eq(hermes_interrupt(engine, cell, NULL, -1), 0);
    state_becomes(HERMES_INPUT_WAITS, HERMES_INPUT_WAITS); /* of bash */
    type("echo still $((1 + 1)) here\n");
    te_output(cell, "still 2 here");
    interrupted(cell);
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("tty");
    TCase *basics = tcase_create("basics"), *input = tcase_create("input");
    TCase *interrupts = tcase_create("interrupts");

    tcase_set_timeout(basics, 60);
    tcase_add_checked_fixture(basics, set_up, te_tear_down);
    tcase_add_test(basics, standard_streams_are_a_terminal);
    tcase_add_test(basics, environment_is_that_of_a_terminal);
    tcase_add_test(basics, output_keeps_its_order);
    tcase_add_test(basics, each_cell_has_its_own_output);
    tcase_add_test(basics, events_are_what_the_terminal_shows);
    suite_add_tcase(suite, basics);

    tcase_set_timeout(input, 60);
    tcase_add_checked_fixture(input, set_up, te_tear_down);
    tcase_add_test(input, input_reads_what_is_typed);
    tcase_add_test(input, a_password_is_not_shown);
    tcase_add_test(input, end_of_file_is_typed);
    tcase_add_test(input, unread_input_is_gone_with_its_cell);
    tcase_add_test(input, a_child_reads_the_terminal);
    tcase_add_test(input, much_input_waits_and_is_bounded);
    tcase_add_test(input, another_size_is_told);
    suite_add_tcase(suite, input);

    tcase_set_timeout(interrupts, 60);
    tcase_add_checked_fixture(interrupts, set_up, te_tear_down);
    tcase_add_test(interrupts, interrupt_ends_input);
    tcase_add_test(interrupts, interrupt_ends_a_loop);
    tcase_add_test(interrupts, interrupt_ends_a_program);
    tcase_add_test(interrupts, interrupt_goes_to_the_foreground);
    suite_add_tcase(suite, interrupts);
    return suite;
}

int main(void)
{
    return test_run(suite());
}
