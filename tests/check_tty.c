/* SPDX-License-Identifier: MIT */
/*
 * Kernels whose standard streams are a pseudo-terminal: what programs see there, the order of
 * output, the marks that end a cell, input, size, interrupts, and what a cell may break.
 */
#include "config.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine-testlib.h"

static struct hermes_kernel_setup setup;
static uint64_t the_kernel;

static void set_up_bare(void)
{
    te_set_up_bare();
    setup = (struct hermes_kernel_setup)HERMES_KERNEL_SETUP_INIT;
    setup.io = HERMES_IO_TTY;
    the_kernel = 0;
}

static void set_up(void)
{
    set_up_bare();
    engine = te_engine_new();
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
    struct hermes_result *result = te_run_cell(engine, &cell);

    the_kernel = result->kernel;
    return result;
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

/* The answer was on its way when the cell ended: it is nobody's. */
START_TEST(input_between_cells_is_no_input_of_the_next)
{
    uint64_t cell;

    hermes_event_free(te_done(submit("print('first')")));
    type("late\nand half");
    cell = submit("print(repr(input('? ')))");
    te_output(cell, "? ");
    state_becomes(HERMES_INPUT_WAITS, HERMES_INPUT_WAITS);
    type("meant\n");
    done_with(cell, "? meant\n'meant'\n");
}
END_TEST

/* There was none that it could be for. */
START_TEST(the_first_cell_gets_what_was_typed_before_it)
{
    struct hermes_cell cell = tty_cell("print(repr(input('? ')))");
    struct hermes_result *result;

    ck_assert_int_eq(hermes_start(engine, &cell, &the_kernel, NULL), 0);
    type("early\n");
    result = te_run_cell(engine, &cell);
    EXPECT(result, result->outcome == HERMES_SUCCESS && te_has(result, "? 'early'\n"));
    hermes_result_free(result);
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

/* ---- where cells end -------------------------------------------------------------------- */

START_TEST(much_output_ends_with_its_cell)
{
    enum { MEGABYTES = 20 };
    struct hermes_cell cell = tty_cell("import sys\n"
                                       "line = 'x' * 99 + '\\n'\n"
                                       "for n in range(200000): sys.stdout.write(line)\n"
                                       "print('the end')");
    long before = te_memory_kb(getpid(), "VmRSS");

    setup.columns = 120;
    for (int i = 0; i < 2; i++) {
        uint64_t id = te_submit_cell(&cell);
        size_t size = 0;
        char tail[16] = "";

        for (;;) {
            struct hermes_event *event;

            ck_assert_int_eq(hermes_next_event(engine, TE_DEADLINE_MS, &event), 0);
            ck_assert_ptr_nonnull(event);
            ck_assert_int_ne(event->type, HERMES_EVENT_BACKGROUND);
            if (event->type == HERMES_EVENT_OUTPUT) {
                size += event->size;
                ck_assert(memchr(event->data, 0x1f, event->size) == NULL);
                for (size_t at = event->size > 9 ? event->size - 9 : 0; at < event->size; at++) {
                    memmove(tail, tail + 1, 8);
                    tail[8] = event->data[at];
                }
            }
            if (event->type == HERMES_EVENT_DONE) {
                EXPECT(event->result, event->result->cell == id);
                EXPECT(event->result, event->result->bytes_total == 200000 * 100 + 8);
                hermes_event_free(event);
                break;
            }
            hermes_event_free(event);
        }
        ck_assert_uint_eq(size, 200000 * 101 + 9);
        ck_assert_str_eq(tail, "the end\r\n");
    }
    says("print('next')", "next\n");
    if (!TE_SANITIZED)
        ck_assert_int_lt(te_memory_kb(getpid(), "VmRSS") - before, 16000);
}
END_TEST

/* A reader that does not read slows the cell down; the end is found all the same. */
START_TEST(a_slow_reader_gets_everything)
{
    uint64_t cell = submit("import os\nfor n in range(600): os.write(1, b'y' * 9999 + b'\\n')");
    struct hermes_event *event = NULL;
    size_t size = 0;

    test_pause_ms(300);
    do {
        if (event && event->type == HERMES_EVENT_OUTPUT)
            size += event->size;
        hermes_event_free(event);
        event = NULL;
        ck_assert_int_eq(hermes_next_event(engine, TE_DEADLINE_MS, &event), 0);
    } while (event && event->type != HERMES_EVENT_DONE);
    ck_assert_ptr_nonnull(event);
    ck_assert_uint_eq(event->result->cell, cell);
    ck_assert_uint_eq(size, 600 * 10001);
    hermes_event_free(event);
}
END_TEST

START_TEST(displays_keep_their_place)
{
    struct hermes_cell cell = tty_cell("for n in range(100):\n"
                                       "    print('before', n)\n"
                                       "    display(n)\n"
                                       "    print('after', n)\n");
    char text[64], expected[64] = "before 0\r\n";
    int seen = 0;
    size_t size = 0;
    uint64_t id;

    cell.flags = HERMES_CELL_DISPLAY;
    id = te_submit_cell(&cell);
    for (bool done = false; !done;) {
        struct hermes_event *event;

        ck_assert_int_eq(hermes_next_event(engine, TE_DEADLINE_MS, &event), 0);
        ck_assert_ptr_nonnull(event);
        if (event->type == HERMES_EVENT_OUTPUT) {
            ck_assert_uint_lt(size + event->size, sizeof text);
            memcpy(text + size, event->data, event->size);
            size += event->size;
        } else if (event->type == HERMES_EVENT_DISPLAY) {
            text[size] = '\0';
            ck_assert_str_eq(text, expected);
            snprintf(expected, sizeof expected, "after %d\r\nbefore %d\r\n", seen, seen + 1);
            seen++;
            size = 0;
        }
        done = event->type == HERMES_EVENT_DONE && event->cell == id;
        hermes_event_free(event);
    }
    ck_assert_int_eq(seen, 100);
}
END_TEST

/* What a child writes after the cell's end is nobody's. */
START_TEST(a_child_that_stays_writes_in_the_background)
{
    uint64_t cell = submit("import os, subprocess\n"
                           "p = subprocess.Popen(['sh', '-c', 'read x; echo late; sleep 98'],"
                           " stdin=subprocess.PIPE)\n"
                           "print('cell')");
    struct hermes_event *event;

    done_with(cell, "cell\n");
    cell = submit("p.stdin.write(b'go\\n'); p.stdin.flush()\nimport time; time.sleep(0.2)");
    done_with(cell, "late\n");
    cell = submit("q = subprocess.Popen(['sh', '-c', 'sleep 0.3; echo later'])");
    done_with(cell, "");
    event = te_event(HERMES_EVENT_BACKGROUND, the_kernel);
    ck_assert_int_eq(event->stream, 1);
    ck_assert_int_eq(memcmp(event->data, "later\r\n", 7), 0);
    hermes_event_free(event);
    cell = submit("print('own')");
    event = te_done(cell);
    EXPECT_OUTPUT(event->result, "own\n");
    ck_assert_str_eq(event->result->background_output, "later\n");
    hermes_event_free(event);
}
END_TEST

/* A child floods the terminal: cells end all the same. */
START_TEST(a_flood_from_the_background_hides_no_end)
{
    hermes_result_free(run("import subprocess\np = subprocess.Popen(['yes'])"));
    for (int i = 0; i < 5; i++) {
        struct hermes_result *result = run("print('cell')");

        EXPECT(result, result->outcome == HERMES_SUCCESS && te_has(result, "cell"));
        EXPECT(result, memchr(result->output, 0x1f, result->output_size) == NULL);
        hermes_result_free(result);
    }
    hermes_result_free(run("p.kill(); p.wait()"));
    hermes_result_free(run("1"));
    says("print('quiet')", "quiet\n");
}
END_TEST

/* ---- output that goes on ---------------------------------------------------------------- */

#define DOTS                                                                                       \
    "import time\n"                                                                                \
    "for n in range(50):\n"                                                                        \
    "    print('.', end='', flush=True)\n"                                                         \
    "    time.sleep(.004)\n"

#define PROGRESS                                                                                   \
    "import time\n"                                                                                \
    "for n in range(300):\n"                                                                       \
    "    print('\\r%3d' % n, end='', flush=True)\n"                                                \
    "    time.sleep(.001)\n"

static long sleeps(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

/* The host wakes up for the interval, not for each piece. */
START_TEST(output_that_goes_on_is_read_in_intervals)
{
    enum { INTERVAL_MS = 34, WAKES = 4 };
    struct hermes_event *event;
    uint64_t cell;
    int64_t begin;
    long before;

    te_set(engine, "output_interval", "0.034");
    says("1", "");
    begin = test_now_ms();
    before = sleeps();
    cell = submit(PROGRESS);
    event = te_done(cell);
    EXPECT(event->result, event->result->bytes_total == 300 * 4);
    hermes_event_free(event);
    ck_assert_int_lt(sleeps() - before, ((test_now_ms() - begin) / INTERVAL_MS + 5) * WAKES);
}
END_TEST

/* The interval would be too long for every wait here, if it was kept. */
START_TEST(nothing_that_is_waited_for_is_late)
{
    uint64_t cell;

    te_set(engine, "output_interval", "60");
    cell = submit(DOTS "line = input()\n"
                       "time.sleep(.05)\n"
                       "print('it is', line, end='', flush=True)\n"
                       "input()");
    state_becomes(HERMES_INPUT_WAITS, HERMES_INPUT_WAITS);
    type("me\n");
    te_output(cell, "me\r\nit is me");
    type("\n");
    hermes_event_free(te_done(cell));
    hermes_event_free(te_done(submit(DOTS)));
    cell = submit("import time\n"
                  "print('first', end='', flush=True)\n"
                  "time.sleep(.05)\n"
                  "print('second', end='', flush=True)\n"
                  "input()");
    te_output(cell, "second");
    type("\n");
    hermes_event_free(te_done(cell));
    hermes_event_free(te_done(submit("for n in range(20000): print(n)"))); /* waits for room */
}
END_TEST

/* ---- what a cell may break -------------------------------------------------------------- */

START_TEST(closed_descriptors_are_mended)
{
    says("import os\nfor n in range(3): os.close(n)", "");
    says("print('again', os.isatty(0), os.isatty(1), os.isatty(2))", "again True True True\n");
    says("os.dup2(os.open('/dev/null', os.O_RDWR), 1)\nprint('lost')", "");
    /* as in a terminal, descriptors that are valid stay what the cell made them */
    says("os.write(2, b'still there\\n')", "still there\n");
}
END_TEST

START_TEST(a_closed_copy_costs_a_moment)
{
    /* the runner's own descriptor of the terminal too */
    says("import os\n"
         "for n in range(3, 1024):\n"
         "    try:\n"
         "        if os.isatty(n): os.close(n)\n"
         "    except OSError: pass\n"
         "print('closed')",
         "closed\n");
    for (int i = 0; i < 3; i++)
        says("print('next', end='')", "next");
}
END_TEST

START_TEST(modes_are_as_before_for_the_next_cell)
{
    says("import sys, termios, tty\ntty.setraw(0)\nprint('raw')", "raw\n");
    state_becomes(HERMES_INPUT_RAW | HERMES_INPUT_NO_ECHO, 0);
    says("mode = termios.tcgetattr(0)\n"
         "print(bool(mode[1] & termios.OPOST), bool(mode[3] & termios.ICANON),"
         " bool(mode[3] & termios.ECHO))",
         "True True True\n");
    says("import os\nos.system('stty -echo olcuc min 5')\nprint('capitals')", "CAPITALS\n");
    says("print('small')", "small\n");
    says("os.set_blocking(1, False); os.set_blocking(0, False)", "");
    says("os.set_blocking(1, True)", "");
}
END_TEST

/* The user presses C-s, and the cell ends: it must not wait for C-q. */
START_TEST(a_stopped_terminal_holds_up_nothing)
{
    uint64_t cell = submit("import time\nprint('on', flush=True)\ntime.sleep(0.2)");
    struct hermes_event *event;

    te_output(cell, "on");
    type("\023");
    event = te_done(cell);
    EXPECT(event->result, event->result->outcome == HERMES_SUCCESS);
    EXPECT(event->result, event->result->duration_us < 2000000);
    EXPECT_OUTPUT(event->result, "on\n");
    hermes_event_free(event);
    says("print('next')", "next\n");
    says("import termios\ntermios.tcflow(1, termios.TCOOFF)", "");
    says("print('and next')", "and next\n");
    /* while it is stopped, a cell that prints waits; it goes on with C-q */
    cell = submit("print('one', flush=True)\ntime.sleep(0.2)\nprint('two')");
    te_output(cell, "one");
    type("\023");
    test_pause_ms(400);
    type("\021");
    done_with(cell, "one\ntwo\n");
}
END_TEST

START_TEST(the_foreground_is_taken_back)
{
    says("import os, signal, subprocess, sys\n"
         "signal.signal(signal.SIGTTOU, signal.SIG_IGN)\n"
         "p = subprocess.Popen(['sleep', '98'], start_new_session=False, preexec_fn=os.setpgrp)\n"
         "os.tcsetpgrp(0, p.pid)\n"
         "signal.signal(signal.SIGTTOU, signal.SIG_DFL)\n"
         "print(os.tcgetpgrp(0) == p.pid)",
         "True\n");
    says("print(os.tcgetpgrp(0) == os.getpgrp())", "True\n");
}
END_TEST

START_TEST(a_forged_mark_is_text)
{
    says("import os\nos.write(1, b'\\x1f0123456789ABCDEF0000000000000001.')",
         "\x1f"
         "0123456789ABCDEF0000000000000001.");
    says("import os\nos.write(1, b'\\x1f')", "\x1f");
    says("print('next')", "next\n");
}
END_TEST

START_TEST(the_debugger_works)
{
    uint64_t cell = submit("import pdb\n"
                           "def f(x):\n"
                           "    pdb.set_trace()\n"
                           "    return x + 1\n"
                           "print(f(41))");

    te_output(cell, "(Pdb) ");
    state_becomes(HERMES_INPUT_WAITS, HERMES_INPUT_WAITS);
    type("p x * 2\n");
    te_output(cell, "82");
    type("c\n");
    te_output(cell, "42");
    hermes_event_free(te_done(cell));
    says("print('next')", "next\n");
}
END_TEST

START_TEST(the_debugger_stays_out_of_the_runner)
{
    uint64_t cell = submit("def f():\n    breakpoint()\n    return 1\nf()");
    struct hermes_event *event;

    te_output(cell, "(Pdb) ");
    type("w\nu\nu\n");
    te_output(cell, "*** Oldest frame");
    type("n\nn\nn\nn\n"); /* steps over the end */
    event = te_done(cell);
    EXPECT(event->result, event->result->outcome == HERMES_SUCCESS);
    EXPECT(event->result, te_has(event->result, "  <cell 1>(4)<module>()\n"));
    EXPECT(event->result, !te_has(event->result, "hermes"));
    hermes_event_free(event);
}
END_TEST

/* ---- ends ------------------------------------------------------------------------------- */

START_TEST(nothing_survives)
{
    static const char code[] = "import os, subprocess\n"
                               "p = subprocess.Popen(['setsid', 'sh', '-c',"
                               " 'trap \"\" HUP TERM; sleep 98 <&- >&- 2>&-; sleep 98'])\n"
                               "q = subprocess.Popen(['sleep', '98'])\n"
                               "print('on', flush=True)\n"
                               "input()";
    uint64_t cell = submit(code);
    struct hermes_event *event;

    te_output(cell, "on");
    ck_assert_int_eq(hermes_reset(engine, "t", NULL), 0);
    event = te_done(cell);
    EXPECT(event->result, event->result->outcome == HERMES_INTERRUPTED);
    hermes_event_free(event);
    ck_assert_int_eq(hermes_input(engine, the_kernel, "x", 1, NULL), HERMES_ENOENT);
    cell = submit(code);
    te_output(cell, "on");
    ck_assert_int_eq(hermes_session_clear(engine, "t"), 0);
    hermes_event_free(te_done(cell));
    te_no_process_left();
}
END_TEST

START_TEST(a_dead_kernel_tells_what_it_wrote)
{
    struct hermes_result *result = run("import os\nprint('last words', flush=True)\nos._exit(3)");

    EXPECT(result, result->outcome == HERMES_ERROR && result->ended);
    EXPECT(result, te_has(result, "last words\n"));
    hermes_result_free(result);
    result = run("import sys\nprint('bye')\nsys.exit(4)");
    EXPECT(result, result->exit_code == 4 && te_has(result, "bye\n"));
    hermes_result_free(result);
    result = run("import os, signal\nprint('x')\nos.kill(os.getpid(), signal.SIGKILL)");
    EXPECT(result, result->term_signal == SIGKILL && te_has(result, "x\n"));
    hermes_result_free(result);
}
END_TEST

START_TEST(a_daemon_outlives_its_cell)
{
    says("import os, subprocess\n"
         "subprocess.run(['sh', '-c', 'setsid sleep 98 & '])\n"
         "print('done')",
         "done\n");
    says("print('next')", "next\n");
    ck_assert_int_eq(hermes_close(engine, "t", NULL), 0);
    te_no_process_left();
}
END_TEST

/* Without a guard what leaves the session escapes. */
#ifdef HERMES_NO_GUARD
#define RUN_AWAY ""
#else
#define RUN_AWAY "'setsid', "
#endif

/* The host is killed: what runs at its terminals goes too. te_tear_down() looks for processes. */
START_TEST(a_killed_host_leaves_nothing)
{
    pid_t host = fork();

    ck_assert_int_ge(host, 0);
    if (host == 0) {
        struct hermes_engine *own = NULL;
        struct hermes_cell cell = tty_cell("import os, subprocess\n"
                                           "subprocess.Popen([" RUN_AWAY "'sleep', '98'])\n"
                                           "subprocess.Popen(['sleep', '98'])\n"
                                           "open(os.environ['TMPDIR'] + '/here', 'w').write('1')\n"
                                           "input()");
        struct hermes_result *result = NULL;

        if (hermes_engine_new(&own, NULL) || hermes_set_option(own, "python", te_python(), NULL))
            _exit(1);
        _exit(hermes_execute(own, &cell, &result, NULL) ? 2 : 3);
    }
    ck_assert(te_wait_file(test_path("here")));
    ck_assert_int_eq(kill(host, SIGKILL), 0);
    test_reap(host, 5000);
    ck_assert(test_wait((waitpid(-1, NULL, WNOHANG), test_count_children(getpid(), 0) == 0), 5000));
    engine = te_engine_new();
    hermes_sweep_staging(engine);
}
END_TEST

START_TEST(settings_that_differ)
{
    struct hermes_cell cell = tty_cell("1");
    struct hermes_result *result = NULL;

    says("1", "");
    cell.setup = NULL;
    ck_assert_int_eq(hermes_execute(engine, &cell, &result, NULL), HERMES_EMISMATCH);
    cell.setup = &setup;
    setup.columns = -1;
    ck_assert_int_eq(hermes_execute(engine, &cell, &result, NULL), HERMES_EINVAL);
    setup.columns = 65536;
    ck_assert_int_eq(hermes_execute(engine, &cell, &result, NULL), HERMES_EINVAL);
    setup.columns = 0;
    te_succeeds("pipes", "1");
    ck_assert_int_eq(
        hermes_input(engine, (uint64_t)te_kernel_number(engine, "pipes", "id"), "x", 1, NULL),
        HERMES_ENOENT);
    ck_assert_int_eq(
        hermes_resize(engine, (uint64_t)te_kernel_number(engine, "pipes", "id"), 80, 24),
        HERMES_ENOENT);
    ck_assert_int_eq(hermes_input_state(engine, (uint64_t)te_kernel_number(engine, "pipes", "id")),
                     HERMES_ENOENT);
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("tty");
    TCase *basics = tcase_create("basics"), *input = tcase_create("input");
    TCase *interrupts = tcase_create("interrupts"), *cell_ends = tcase_create("ends of cells");
    TCase *faults = tcase_create("faults"), *ends = tcase_create("ends"),
          *hosts = tcase_create("hosts");

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
    tcase_add_test(input, input_between_cells_is_no_input_of_the_next);
    tcase_add_test(input, the_first_cell_gets_what_was_typed_before_it);
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

    tcase_set_timeout(cell_ends, 120);
    tcase_add_checked_fixture(cell_ends, set_up, te_tear_down);
    tcase_add_test(cell_ends, much_output_ends_with_its_cell);
    tcase_add_test(cell_ends, a_slow_reader_gets_everything);
    tcase_add_test(cell_ends, displays_keep_their_place);
    tcase_add_test(cell_ends, a_child_that_stays_writes_in_the_background);
    tcase_add_test(cell_ends, a_flood_from_the_background_hides_no_end);
    tcase_add_test(cell_ends, output_that_goes_on_is_read_in_intervals);
    tcase_add_test(cell_ends, nothing_that_is_waited_for_is_late);
    suite_add_tcase(suite, cell_ends);

    tcase_set_timeout(faults, 60);
    tcase_add_checked_fixture(faults, set_up, te_tear_down);
    tcase_add_test(faults, closed_descriptors_are_mended);
    tcase_add_test(faults, a_closed_copy_costs_a_moment);
    tcase_add_test(faults, modes_are_as_before_for_the_next_cell);
    tcase_add_test(faults, a_stopped_terminal_holds_up_nothing);
    tcase_add_test(faults, the_foreground_is_taken_back);
    tcase_add_test(faults, a_forged_mark_is_text);
    tcase_add_test(faults, the_debugger_works);
    tcase_add_test(faults, the_debugger_stays_out_of_the_runner);
    suite_add_tcase(suite, faults);

    tcase_set_timeout(ends, 60);
    tcase_add_checked_fixture(ends, set_up, te_tear_down);
    tcase_add_test(ends, nothing_survives);
    tcase_add_test(ends, a_dead_kernel_tells_what_it_wrote);
    tcase_add_test(ends, a_daemon_outlives_its_cell);
    tcase_add_test(ends, settings_that_differ);
    suite_add_tcase(suite, ends);

    tcase_set_timeout(hosts, 60);
    tcase_add_checked_fixture(hosts, set_up_bare, te_tear_down);
    tcase_add_test(hosts, a_killed_host_leaves_nothing);
    suite_add_tcase(suite, hosts);
    return suite;
}

int main(void)
{
    return test_run(suite());
}
