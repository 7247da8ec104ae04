/* SPDX-License-Identifier: MIT */
/*
 * The sessions' model as front ends see it: made from events of a real engine with real Python, on
 * terminals. What a person enters, what the model shows of it, and what it says when state is lost.
 */
#include "config.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "engine-testlib.h"
#include "repl-testlib.h"
#include "store.h"
#include "tool-list.h"
#include "xalloc.h"

static struct settings settings;
static struct tool_terms terms;
static struct repl_options options;
static struct repl *repl;
static struct strbuf error, said, shown, output, inserted, asked;
static int confirms, withdrawn, questions, commands, items;
static bool answer_yes;

/* ---- the front end -------------------------------------------------------------------------- */

static void on_item(void *context, struct repl_session *session, struct repl_item *item)
{
    ck_assert_ptr_eq(context, &items);
    ck_assert(session != NULL && (item->cell != NULL) == (item->text == NULL));
    items++;
}

static void on_output(void *context, struct repl_session *session, struct repl_cell *cell,
                      int stream, const char *data, size_t size)
{
    (void)context;
    (void)session;
    ck_assert(cell != NULL && (stream == 1 || stream == 2));
    strbuf_add(&output, data, size);
}

static void on_question(void *context, struct repl_session *session)
{
    (void)context;
    (void)session;
    questions++;
}

static void on_say(void *context, struct repl_session *session, const char *line)
{
    (void)context;
    (void)session;
    ck_assert_ptr_null(strchr(line, '\n'));
    strbuf_addf(&said, "%s\n", line);
}

static void on_show(void *context, struct repl_session *session, const char *title,
                    const char *text, size_t size)
{
    (void)context;
    (void)session;
    strbuf_addf(&shown, "<%s>\n", title);
    strbuf_add(&shown, text, size);
}

static bool on_command(void *context, struct repl_session *session, const char *name,
                       const char *arguments)
{
    (void)context;
    (void)session;
    (void)arguments;
    commands++;
    return strcmp(name, "redraw") == 0;
}

static void on_insert(void *context, struct repl_session *session, const char *text, size_t size)
{
    (void)context;
    (void)session;
    strbuf_clear(&inserted);
    strbuf_add(&inserted, text, size);
}

static void on_confirm(void *context, struct repl_session *session, const char *question)
{
    (void)context;
    (void)session;
    if (!question) {
        withdrawn++;
        return;
    }
    confirms++;
    strbuf_setf(&asked, "%s", question);
    if (answer_yes)
        repl_confirm(repl, true);
}

static const struct repl_front front = {
    .item_added = on_item,
    .cell_output = on_output,
    .question = on_question,
    .say = on_say,
    .show = on_show,
    .command = on_command,
    .insert = on_insert,
    .confirm = on_confirm,
};

/* ---- fixtures ------------------------------------------------------------------------------- */

static void open_repl(void)
{
    strbuf_clear(&error);
    repl = repl_new(engine, &options, &front, &items, &error);
    ck_assert_msg(repl != NULL, "%s", strbuf_text(&error));
}

static void set_up(void)
{
    te_set_up();
    test_repl_options(&settings, &terms, &options);
    options.pipes = getenv("CHECK_REPL_PIPES") != NULL;
    answer_yes = false;
    confirms = withdrawn = questions = commands = items = 0;
}

static void set_up_open(void)
{
    set_up();
    open_repl();
}

static void tear_down(void)
{
    repl_free(repl);
    repl = NULL;
    settings_free(&settings);
    strbuf_free(&error);
    strbuf_free(&said);
    strbuf_free(&shown);
    strbuf_free(&output);
    strbuf_free(&inserted);
    strbuf_free(&asked);
    te_tear_down();
}

static void turn(void)
{
    test_repl_turn(repl);
}

#define AWAIT(condition)                                                                           \
    do {                                                                                           \
        int64_t end_ = test_now_ms() + test_scaled_ms(TE_DEADLINE_MS);                             \
        while (!(condition)) {                                                                     \
            ck_assert_msg(test_now_ms() < end_, "never: %s\nsaid: %s\nshown: %s\noutput: %s",      \
                          #condition, strbuf_text(&said), strbuf_text(&shown),                     \
                          strbuf_text(&output));                                                   \
            turn();                                                                                \
        }                                                                                          \
    } while (0)

static struct repl_session *session(void)
{
    return repl_front_session(repl);
}

static bool enter(const char *text)
{
    strbuf_clear(&error);
    return repl_enter(repl, session(), text, strlen(text), &error);
}

static struct repl_cell *last(void)
{
    struct repl_session *now = session();
    for (size_t i = now->item_count; i-- > 0;) {
        if (now->items[i].cell && now->items[i].cell->number)
            return now->items[i].cell;
    }
    return NULL;
}

/* Queue it and wait until it has settled. */
static struct repl_cell *run(const char *text)
{
    ck_assert_msg(enter(text), "%s: %s", text, strbuf_text(&error));
    struct repl_cell *cell = last();
    ck_assert_ptr_nonnull(cell);
    AWAIT(cell->state == REPL_SETTLED);
    return cell;
}

static struct repl_cell *start(const char *text)
{
    ck_assert_msg(enter(text), "%s: %s", text, strbuf_text(&error));
    struct repl_cell *cell = last();
    AWAIT(cell->state == REPL_RUNNING);
    return cell;
}

static char *text_of(struct repl_cell *cell)
{
    static struct strbuf text;
    strbuf_clear(&text);
    block_text(cell->output, false, &text);
    while (text.size && text.data[text.size - 1] == '\n')
        text.data[--text.size] = '\0';
    strbuf_addc(&text, ' '); /* it has memory then */
    text.data[--text.size] = '\0';
    return text.data;
}

#define SHOWS(code, want) ck_assert_str_eq(text_of(run(code)), want)

static void ck_error(const char *part)
{
    ck_assert_msg(strstr(strbuf_text(&error), part) != NULL, "not \"%s\" in: %s", part,
                  strbuf_text(&error));
}

#define CK_HAS(buf, part)                                                                          \
    ck_assert_msg(strstr(strbuf_text(&buf), part) != NULL, "not \"%s\" in: %s", part,              \
                  strbuf_text(&buf))

/* The n-th ruled line of a session from the end; NULL. */
static const char *ruled(struct repl_session *of, size_t back)
{
    for (size_t i = of->item_count; i-- > 0;) {
        if (of->items[i].text && back-- == 0)
            return of->items[i].text;
    }
    return NULL;
}

/* ---- cells ---------------------------------------------------------------------------------- */

START_TEST(starts_its_kernel_behind_the_prompt)
{
    ck_assert_str_eq(session()->name, "main");
    AWAIT(session()->state == HERMES_KERNEL_IDLE);
    ck_assert(session()->has_kernel && session()->pid > 0 && !session()->ran);
    ck_assert_ptr_nonnull(strstr(session()->python_label, "py3"));
    ck_assert_str_eq(repl_state_text(session()), "idle");
    ck_assert_int_eq(items, 0);
}
END_TEST

START_TEST(shows_values_and_keeps_state)
{
    struct repl_cell *cell = run("x = 41");
    ck_assert_uint_eq(cell->number, 1);
    ck_assert(cell->outcome == HERMES_SUCCESS && !cell->reused && cell->execution_count == 1);
    SHOWS("x + 1", "42");
    ck_assert_uint_eq(last()->number, 2);
    ck_assert(last()->reused && last()->duration_us > 0);
    SHOWS("_ + 1", "43");
    SHOWS("print('a'); 'b'", "a\n'b'");
    SHOWS("None", "");
    SHOWS("import asyncio; await asyncio.sleep(0, 'slept')", "'slept'");
    ck_assert_uint_eq(session()->execution_count, 6);
    ck_assert_uint_eq(session()->generation, 1);
    ck_assert(session()->memory_bytes > 1000000);
    ck_assert_str_eq(last()->source, "import asyncio; await asyncio.sleep(0, 'slept')");
}
END_TEST

START_TEST(keeps_the_last_values)
{
    SHOWS("10", "10");
    SHOWS("20", "20");
    SHOWS("30", "30");
    SHOWS("_, __, ___", "(30, 20, 10)");
    SHOWS("_1 + _2 + _3", "60");
    SHOWS("x = 1", "");
    SHOWS("_", "60"); /* only values count */
    SHOWS("None", "");
    SHOWS("_7, '_6' in dir(__builtins__)", "(60, False)");
    SHOWS("40;", ""); /* not shown, not kept */
    SHOWS("_[0]", "60");
    for (int i = 0; i < 2; i++) {
        run(i ? "Out" : "In"); /* those are another program's */
        ck_assert_int_eq(last()->outcome, HERMES_ERROR);
        ck_assert_ptr_nonnull(strstr(text_of(last()), "NameError"));
    }
    run("1 / 0");
    SHOWS("_", "60");
    SHOWS("_ = 'mine'", "");
    SHOWS("1 + 1", "2");
    SHOWS("_", "'mine'"); /* a name of the user's own stays so */
}
END_TEST

START_TEST(breaks_values_at_the_terminals_width)
{
    SHOWS("x = [n * 10 ** 12 for n in range(1, 6)]; x",
          "[1000000000000, 2000000000000, 3000000000000, 4000000000000, 5000000000000]");
    repl_resize(repl, 40, 30);
    SHOWS("x[:4]", "[1000000000000,\n 2000000000000,\n 3000000000000,\n 4000000000000]");
    repl_resize(repl, 70, 30);
    SHOWS("x[:4]", "[1000000000000, 2000000000000, 3000000000000, 4000000000000]");
}
END_TEST

/* Whatever ends a cell: what is shown of it begins with the cell, and nothing of ours is in it. */
static void ends_without_our_frames(struct repl_cell *cell, const char *at, const char *end)
{
    const char *text = text_of(cell);
    ck_assert_msg(strstr(text, at) && strstr(text, end), "%s", text);
    ck_assert_msg(!strstr(text, "hermes") && !strstr(text, "no Python frame"), "%s", text);
}

START_TEST(tracebacks_have_no_frames_of_ours)
{
    ends_without_our_frames(run("class A:\n    def __repr__(self): return 1/0\nA()"),
                            "File \"<cell 1>\", line 2, in __repr__", "ZeroDivisionError");
    ends_without_our_frames(run("display(A())"), "File \"<cell 2>\", line 1, in <module>",
                            "in __repr__");
    ends_without_our_frames(run("import sys; sys.displayhook = lambda value: 1/0\n5"),
                            "File \"<cell 3>\", line 1, in <lambda>", "ZeroDivisionError");
    run("sys.displayhook = sys.__displayhook__; import asyncio");
    static const char *const waits[] = {
        "print('in'); input('x? ')", "print('in')\nwhile True: pass",
        "async def f():\n    print('in')\n    await asyncio.sleep(60)\nawait f()"};
    for (size_t i = 0; i < 3; i++) {
        struct repl_cell *cell = start(waits[i]);
        AWAIT(strstr(text_of(cell), "in") && (i || cell->input_waits));
        ck_assert(repl_interrupt(repl, session()));
        char place[64];
        snprintf(place, sizeof(place), "File \"<cell %u>\", line %d, in <module>", cell->number,
                 i == 2 ? 4 : (int)i + 1);
        AWAIT(cell->state == REPL_SETTLED);
        ends_without_our_frames(cell, place, "KeyboardInterrupt");
    }
    ends_without_our_frames(run("import os; os.abort()"), "line 1 in <module>", "Aborted");
}
END_TEST

START_TEST(shows_a_traceback_of_the_cell_by_its_number)
{
    run("1");
    struct repl_cell *cell = run("def f():\n    return 1/0\nf()");
    ck_assert(cell->outcome == HERMES_ERROR && cell->exit_code == 1);
    const char *text = text_of(cell);
    ck_assert_ptr_nonnull(strstr(text, "<cell 2>"));
    ck_assert_ptr_nonnull(strstr(text, "return 1/0"));
    ck_assert_ptr_nonnull(strstr(text, "ZeroDivisionError"));
    ck_assert_ptr_nonnull(strstr(strbuf_text(&output), "ZeroDivisionError"));
    SHOWS("f.__name__", "'f'");
}
END_TEST

START_TEST(shows_each_display_once)
{
    SHOWS("display('shown'); 'value'", "'shown'\n'value'");
    SHOWS("print('no end', end=''); 7", "no end\n7");
    strbuf_clear(&output);
    run("'once'");
    char *first = strstr(strbuf_text(&output), "'once'");
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_null(strstr(first + 1, "'once'"));
}
END_TEST

START_TEST(queues_cells_and_drops_them)
{
    start("import time\nwhile True: time.sleep(0.01)");
    ck_assert(enter("y = 1") && enter("y = 2"));
    ck_assert_uint_eq(session()->queued, 2);
    ck_assert(repl_is_busy(repl));
    ck_assert(repl_command(repl, session(), "queue", &error));
    CK_HAS(shown, "[1] runs     import time ...");
    CK_HAS(shown, "[3] waits    y = 2");
    ck_assert(repl_command(repl, session(), "drop", &error));
    struct repl_cell *dropped = last();
    AWAIT(dropped->state == REPL_SETTLED && session()->queued == 0);
    ck_assert(dropped->not_run && dropped->outcome == HERMES_INTERRUPTED);
    ck_assert_str_eq(text_of(dropped), "");
    ck_assert(!repl_command(repl, session(), "drop", &error));
    ck_error("no cell waits");
    ck_assert(repl_interrupt(repl, session()));
    AWAIT(!repl_is_busy(repl));
    SHOWS("'y' in globals()", "False");
}
END_TEST

START_TEST(keeps_numbers_over_kernels)
{
    run("x = 1");
    ck_assert(repl_command(repl, session(), "reset -f", &error));
    AWAIT(ruled(session(), 0) != NULL);
    ck_assert_str_eq(session()->ended, "reset");
    ck_assert_uint_eq(run("'x' in globals()")->number, 2);
    ck_assert_str_eq(text_of(last()), "False");
    ck_assert_uint_eq(last()->execution_count, 1);
    ck_assert_uint_eq(last()->generation, 2);
    ck_assert_ptr_null(session()->ended);
}
END_TEST

/* ---- kinds of lines ------------------------------------------------------------------------- */

START_TEST(takes_commands_shell_and_magics)
{
    ck_assert(!enter(":resset"));
    ck_error("did you mean :reset?");
    ck_assert(!enter(":help\n:help"));
    ck_error("one line");
    ck_assert(enter(":help"));
    CK_HAS(shown, ":session-clear");
    /* Lines of no more than the terminal's columns, and the rest of a text below its beginning. */
    for (const char *line = strbuf_text(&shown); *line; line += strcspn(line, "\n") + 1)
        ck_assert_uint_le(strcspn(line, "\n"), 80);
    ck_assert_ptr_nonnull(strstr(strbuf_text(&shown), "\n                                      "));
    ck_assert(enter(":options idle"));
    ck_assert_ptr_nonnull(strstr(strbuf_text(&shown), "NAME "));
    ck_assert_ptr_nonnull(strstr(strbuf_text(&shown), "\nkernel_idle_timeout "));
    ck_assert(!enter(":options zzzz"));
    ck_assert(enter(":help vars"));
    CK_HAS(shown, "list variables");
    SHOWS("!echo shell; exit 3", "shell");
    SHOWS("_exit_code", "3");
    SHOWS("!!printf 'a\\nb\\n'", "['a', 'b']");
    SHOWS("lines = !echo got", "");
    SHOWS("lines", "['got']");
    ck_assert_ptr_nonnull(strstr(text_of(run("%time 6*7")), "42"));
    ck_assert_ptr_nonnull(strstr(text_of(run("%%time\nz = 1")), "Wall time:"));
    ck_assert(!enter("%prun f()"));
    ck_error("%prun");
    ck_assert(!enter("%whoss"));
    ck_error("did you mean %whos?");
    ck_assert(!enter("%cpaste"));
    ck_error("paste into the prompt");
    ck_assert(enter("%history"));
    ck_assert(enter("   \n  \n"));
    ck_assert_uint_eq(last()->number, 7);
}
END_TEST

START_TEST(changes_directory_in_the_session)
{
    char *line = xasprintf(":cwd %s", test_directory());
    ck_assert_msg(enter(line), "%s", strbuf_text(&error));
    AWAIT(!repl_is_busy(repl));
    strbuf_clear(&said);
    ck_assert(enter(":cwd"));
    CK_HAS(said, test_directory());
    run("!pwd");
    ck_assert_str_eq(text_of(last()), test_directory());
    free(line);
}
END_TEST

START_TEST(takes_away_common_indentation)
{
    SHOWS("    a = 20\n    b = 22\n    print(a + b)\n", "42");
    ck_assert_str_eq(last()->source, "    a = 20\n    b = 22\n    print(a + b)");
    SHOWS(" 1 + 1", "2");
    SHOWS("    s = '''\n  kept\n'''\n    s", "'\\n  kept\\n'");
    SHOWS("  if True:\n    t = (1,\n2)\n    print(t)", "(1, 2)");
    ck_assert_ptr_nonnull(strstr(text_of(run("if True:\n  1\n 2")), "IndentationError"));
}
END_TEST

START_TEST(names_the_nearest_and_takes_beginnings)
{
    ck_assert(repl_command(repl, session(), "sess", &error) == false);
    ck_error(":sessions");
    ck_error(":session-clear");
    ck_assert(repl_command(repl, session(), "sessio-clear", &error) == false);
    ck_error("did you mean :session-clear?");
    ck_assert(!repl_command(repl, session(), "rename", &error));
    ck_error(":rename needs NAME");
    ck_assert(!repl_command(repl, session(), "queue up", &error));
    ck_error("takes no arguments");
    ck_assert(!repl_command(repl, session(), "kill", &error));
    ck_error("no cell runs");
    ck_assert(repl_command(repl, session(), "redr", &error));
    ck_assert(!repl_command(repl, session(), "browse", &error));
    ck_error("full screen");
    ck_assert_int_eq(commands, 2);
}
END_TEST

/* ---- the end of kernels --------------------------------------------------------------------- */

START_TEST(says_how_a_crash_ended_the_kernel)
{
    run("x = 1");
    struct repl_cell *cell = run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)");
    ck_assert(cell->outcome == HERMES_ERROR);
    AWAIT(ruled(session(), 0) != NULL);
    ck_assert_str_eq(session()->ended, "killed by SIGSEGV");
    ck_assert_str_eq(repl_state_text(session()), "ended: killed by SIGSEGV");
    ck_assert_ptr_nonnull(
        strstr(ruled(session(), 0), "kernel killed by SIGSEGV · state lost: 2 cells"));
    ck_assert(!session()->has_kernel && session()->memory_bytes == 0);
    SHOWS("'x' in globals()", "False");
    ck_assert_ptr_null(session()->ended);
}
END_TEST

START_TEST(says_that_a_kernel_was_killed_between_cells)
{
    run("import os");
    ck_assert_int_eq(kill((pid_t)session()->pid, SIGKILL), 0);
    AWAIT(session()->ended != NULL);
    ck_assert_str_eq(session()->ended, "died");
    ck_assert_ptr_nonnull(strstr(ruled(session(), 0), "kernel died · state lost"));
}
END_TEST

START_TEST(puts_the_line_behind_the_cell_and_before_the_queue)
{
    start("import time\ntime.sleep(0.2)\nimport os\nos._exit(7)");
    ck_assert(enter("'fresh'"));
    struct repl_cell *second = last();
    AWAIT(second->state == REPL_SETTLED);
    ck_assert_str_eq(text_of(second), "'fresh'");
    ck_assert_uint_eq(session()->item_count, 3);
    ck_assert_ptr_nonnull(session()->items[0].cell);
    ck_assert_msg(session()->items[1].text && strstr(session()->items[1].text, "state lost"),
                  "no line");
    ck_assert_ptr_eq(session()->items[2].cell, second);
}
END_TEST

START_TEST(says_that_a_cell_exited)
{
    struct repl_cell *cell = run("import sys; sys.exit(3)");
    ck_assert_int_eq(cell->exit_code, 3);
    AWAIT(session()->ended != NULL);
    ck_assert_str_eq(session()->ended, "exited");
    ck_assert_ptr_nonnull(strstr(ruled(session(), 0), "kernel exited"));
    run("sys"
        "= 1");
    struct repl_cell *message = run("raise SystemExit('bye')");
    ck_assert_str_eq(text_of(message), "bye");
}
END_TEST

START_TEST(says_how_a_kernel_died)
{
    run("import os; os._exit(4)");
    AWAIT(session()->ended != NULL);
    ck_assert_str_eq(session()->ended, "exit status 4");
    ck_assert_ptr_nonnull(strstr(ruled(session(), 0), "kernel ended (exit status 4) · state lost"));
    run("import os; os.kill(os.getpid(), 9)");
    AWAIT(session()->ended != NULL);
    ck_assert_str_eq(session()->ended, "killed by SIGKILL");
    ck_assert_ptr_nonnull(strstr(ruled(session(), 0), "kernel killed by SIGKILL · state lost"));
}
END_TEST

START_TEST(says_that_a_cell_timed_out)
{
    te_set(engine, "timeout", "0.3");
    struct repl_cell *cell = run("while True: pass");
    ck_assert(cell->outcome == HERMES_TIMEOUT);
    AWAIT(session()->ended != NULL);
    ck_assert_str_eq(session()->ended, "timeout");
    ck_assert_ptr_nonnull(strstr(ruled(session(), 0), "kernel killed (timeout) · state lost"));
    ck_assert_ptr_nonnull(strstr(text_of(cell), "timed out"));
}
END_TEST

/* Only from the next kernel on does a limit hold. */
START_TEST(says_which_limit_was_met)
{
    te_set(engine, "cpu_limit", "1");
    te_set(engine, "memory_limit", "128");
    ck_assert(repl_command(repl, session(), "reset -f", &error));
    struct repl_cell *cell = run("bytearray(300 << 20)");
    ck_assert_ptr_nonnull(strstr(text_of(cell), "MemoryError\nThis session has a memory limit"));
    run("while True: pass");
    AWAIT(ruled(session(), 0) && strstr(ruled(session(), 0), "CPU"));
    ck_assert_ptr_nonnull(
        strstr(ruled(session(), 0), "kernel killed (CPU time limit of 1 s, SIGXCPU) · state lost"));
}
END_TEST

START_TEST(says_that_the_kernel_does_not_start)
{
    repl_free(repl);
    test_write_file(test_path("python3"), "#!/bin/sh\nexit 9\n", 0755);
    options.python = test_path("python3");
    open_repl();
    ck_assert_msg(enter("1"), "%s", strbuf_text(&error));
    struct repl_cell *cell = last();
    AWAIT(cell->state == REPL_SETTLED);
    ck_assert(cell->outcome == HERMES_ERROR && !cell->not_run);
    ck_assert(strlen(text_of(cell)) > 0);
}
END_TEST

/* ---- interrupting --------------------------------------------------------------------------- */

START_TEST(interrupts_and_keeps_state)
{
    run("x = 5");
    start("while True: pass");
    ck_assert(repl_interrupt(repl, session()));
    struct repl_cell *cell = last();
    AWAIT(cell->state == REPL_SETTLED);
    ck_assert(cell->outcome == HERMES_INTERRUPTED);
    CK_HAS(said, "variables and imports are kept");
    SHOWS("x", "5");
    ck_assert(!repl_interrupt(repl, session()));
    ck_assert_int_eq(confirms, 0);
}
END_TEST

/* The cell runs, and nothing says so yet. */
START_TEST(interrupts_before_it_knows_of_the_start)
{
    char code[4200];
    run("x = 5");
    snprintf(code, sizeof(code), "open('%s', 'w').close()\nwhile True: pass", test_path("begun"));
    ck_assert(enter(code));
    ck_assert(test_wait(test_exists(test_path("begun")), TE_DEADLINE_MS));
    ck_assert(!session()->running);
    ck_assert(repl_interrupt(repl, session()));
    struct repl_cell *cell = last();
    AWAIT(cell->state == REPL_SETTLED);
    ck_assert(cell->outcome == HERMES_INTERRUPTED);
    CK_HAS(said, "variables and imports are kept");
    ck_assert_int_eq(session()->interrupts, 0);
    SHOWS("x", "5");
}
END_TEST

/* A cell that takes no notice of interrupts, from the moment on when this returns. */
static struct repl_cell *start_stubborn(const char *rest)
{
    char text[2 * PATH_MAX];
    snprintf(
        text, sizeof(text),
        "import signal, subprocess, time\nold = signal.signal(signal.SIGINT, lambda *_: None)\n"
        "open('%s', 'w').close()\n%s",
        test_path("begun"), rest);
    struct repl_cell *cell = start(text);
    AWAIT(test_exists(test_path("begun")));
    return cell;
}

START_TEST(asks_before_it_kills_what_does_not_obey)
{
    run("x = 5");
    struct repl_cell *cell = start_stubborn("while True: time.sleep(0.01)");
    ck_assert(repl_interrupt(repl, session()));
    ck_assert_int_eq(confirms, 0);
    ck_assert(repl_interrupt(repl, session()));
    AWAIT(confirms == 1);
    CK_HAS(asked, "the cell still runs");
    CK_HAS(asked, "Kill the kernel? That loses its state: 2 cells");
    repl_confirm(repl, false);
    turn();
    ck_assert(cell->state == REPL_RUNNING);
    ck_assert(repl_interrupt(repl, session()));
    AWAIT(confirms == 2);
    repl_confirm(repl, true);
    AWAIT(cell->state == REPL_SETTLED);
    ck_assert(cell->outcome == HERMES_INTERRUPTED);
    AWAIT(session()->ended != NULL);
    CK_HAS(said, "killed; the state of main is lost");
    SHOWS("'x' in globals()", "False");
}
END_TEST

START_TEST(withdraws_the_question_when_the_cell_ends)
{
    start_stubborn("end = time.monotonic() + 1\nwhile time.monotonic() < end: time.sleep(0.05)");
    repl_interrupt(repl, session());
    repl_interrupt(repl, session());
    AWAIT(confirms == 1);
    AWAIT(withdrawn == 1);
    ck_assert(!session()->running);
    repl_confirm(repl, true); /* too late: nothing is killed */
    SHOWS("1", "1");
    ck_assert_uint_eq(last()->execution_count, 2);
}
END_TEST

START_TEST(asks_before_a_reset_and_names_its_cost)
{
    ck_assert(repl_command(repl, session(), "reset", &error)); /* nothing to lose */
    ck_assert_int_eq(confirms, 0);
    run("a = b = 1");
    ck_assert(repl_command(repl, session(), "reset", &error));
    AWAIT(confirms == 1);
    CK_HAS(asked, "reset main? It loses ");
    CK_HAS(asked, "1 cell");
    CK_HAS(asked, "up ");
    repl_confirm(repl, false);
    SHOWS("a", "1");
    answer_yes = true;
    ck_assert(repl_command(repl, session(), "reset", &error));
    AWAIT(ruled(session(), 0) != NULL);
    ck_assert_ptr_nonnull(strstr(ruled(session(), 0), "kernel reset · :undo takes it back: 2 cells"));
    SHOWS("'a' in globals()", "False");
}
END_TEST

START_TEST(goes_back_to_before_a_cell)
{
#ifndef HERMES_NO_GUARD
    ck_assert(repl_command(repl, session(), "set checkpoints 2", &error));
    run("a = [1]");
    run("a.append(2)");
    ck_assert(repl_command(repl, session(), "status", &error));
    CK_HAS(shown, "undo       the state before the last cell\n");
    ck_assert(repl_command(repl, session(), "undo", &error)); /* asks nothing */
    ck_assert_int_eq(confirms, 0);
    AWAIT(ruled(session(), 0) != NULL);
    ck_assert_ptr_nonnull(strstr(ruled(session(), 0), "undone · back with 1 cell, "));
    SHOWS("a", "[1]");
    ck_assert(enter("import os; os._exit(1)"));
    AWAIT(ruled(session(), 1) != NULL);
    ck_assert_str_eq(ruled(session(), 0),
                     "kernel ended (exit status 1) · :undo brings back the state before the cell");
    AWAIT(repl_command(repl, session(), "undo", &error)); /* once its processes are gone */
    AWAIT(ruled(session(), 2) != NULL);
    SHOWS("a", "[1]");
    ck_assert_uint_eq(session()->generation, 1);
#endif
}
END_TEST

START_TEST(takes_a_reset_back)
{
    run("a = [1]");
    ck_assert(repl_command(repl, session(), "reset -f", &error));
    AWAIT(ruled(session(), 0) != NULL && session()->has_kernel && session()->pid);
    ck_assert(repl_command(repl, session(), "status", &error));
    CK_HAS(shown, "undo       a kernel with 1 cell, ");
    ck_assert(repl_command(repl, session(), "undo", &error)); /* nothing to lose */
    ck_assert_int_eq(confirms, 0);
    AWAIT(ruled(session(), 1) != NULL);
    ck_assert_ptr_nonnull(strstr(ruled(session(), 0), "undone · back with 1 cell, "));
    ck_assert_str_eq(repl_state_text(session()), "idle");
    ck_assert_uint_eq(session()->execution_count, 1);
    ck_assert_uint_eq(session()->generation, 1);
    SHOWS("a", "[1]");
    ck_assert(!repl_command(repl, session(), "undo", &error));
    ck_error("nothing is kept to go back to");
    ck_assert(repl_command(repl, session(), "reset -f", &error));
    AWAIT(ruled(session(), 2) != NULL && session()->has_kernel && session()->pid);
    run("b = 2");
    ck_assert(repl_command(repl, session(), "undo", &error));
    ck_assert_int_eq(confirms, 1);
    CK_HAS(asked, "go back to the earlier kernel of main? It loses 1 cell, ");
    repl_confirm(repl, true);
    AWAIT(ruled(session(), 4) != NULL);
    ck_assert_ptr_nonnull(strstr(ruled(session(), 1), "kernel ended (one from before came back) · "
                                                      "state lost: 1 cell"));
    SHOWS("a", "[1]");
    ck_assert(!repl_command(repl, session(), "undo now", &error));
    ck_error("'now' is not -f");
}
END_TEST

/* Its next kernel may begin before the cell of the old one settles. */
START_TEST(says_what_a_reset_costs_a_busy_session)
{
    run("x = 1");
    start("import time\ntime.sleep(60)");
    ck_assert(enter("'dropped'"));
    ck_assert(repl_command(repl, session(), "reset -f", &error));
    AWAIT(!repl_is_busy(repl) && session()->has_kernel && session()->pid);
    ck_assert_ptr_nonnull(ruled(session(), 0));
    ck_assert_ptr_nonnull(strstr(ruled(session(), 0), "kernel reset · state lost: 2 cells"));
    ck_assert_ptr_null(ruled(session(), 1));
    SHOWS("'x' in globals()", "False");
}
END_TEST

START_TEST(clears_a_session)
{
    run("x = 1");
    pid_t pid = (pid_t)session()->pid;
    ck_assert(repl_command(repl, session(), "session-clear", &error));
    ck_assert_int_eq(confirms, 1);
    repl_confirm(repl, true);
    ck_assert(!test_process_lives(pid)); /* at once, not some time */
    AWAIT(session()->ended != NULL);
    ck_assert_str_eq(session()->ended, "killed");
    SHOWS("'x' in globals()", "False");
}
END_TEST

/* ---- sessions ------------------------------------------------------------------------------- */

START_TEST(runs_sessions_side_by_side)
{
    struct repl_session *one = session();
    ck_assert(repl_command(repl, one, "new foo", &error));
    struct repl_session *two = session();
    ck_assert_str_eq(two->name, "foo");
    run("who = 'foo'");
    ck_assert(repl_command(repl, two, "switch 1", &error));
    ck_assert_ptr_eq(session(), one);
    start("import time\nwhile True: time.sleep(0.01)");
    ck_assert(repl_command(repl, one, "next", &error));
    SHOWS("who", "'foo'");
    ck_assert(one->running != NULL);
    ck_assert(repl_command(repl, two, "sessions", &error));
    CK_HAS(shown, "main");
    CK_HAS(shown, "busy");
    CK_HAS(shown, "* 2  foo");
    ck_assert(repl_interrupt(repl, one));
    AWAIT(!one->running);
    ck_assert(one->unread && one->failed);
    repl_bring_front(repl, one);
    ck_assert(!one->unread && !one->failed);
}
END_TEST

START_TEST(refuses_bad_names)
{
    ck_assert_ptr_null(repl_open(repl, "a::b", &error));
    ck_error("::");
    ck_assert_ptr_null(repl_open(repl, "main", &error));
    ck_error("already");
    ck_assert_ptr_null(repl_open(repl, "", &error));
    ck_assert_ptr_null(repl_open(repl, "a b", &error));
    ck_assert(!repl_command(repl, session(), "switch 7", &error));
    ck_error("no session 7");
    ck_assert_uint_eq(repl_session_count(repl), 1);
    ck_assert_str_eq(repl_open(repl, NULL, &error)->name, "s2");
}
END_TEST

START_TEST(renames_and_closes_sessions)
{
    run("x = 1");
    ck_assert(repl_command(repl, session(), "rename other", &error));
    ck_assert_str_eq(session()->name, "other");
    SHOWS("x", "1");
    ck_assert(repl_open(repl, "main", &error) != NULL); /* the name is free, the kernel another */
    repl_bring_front(repl, repl_session_named(repl, "main"));
    SHOWS("'x' in globals()", "False");
    repl_bring_front(repl, repl_session_named(repl, "other"));
    answer_yes = true;
    pid_t pid = (pid_t)session()->pid;
    ck_assert(repl_command(repl, session(), "close", &error));
    ck_assert_uint_eq(repl_session_count(repl), 1);
    ck_assert_str_eq(session()->name, "main");
    AWAIT(!test_process_lives(pid));
    ck_assert(repl_command(repl, session(), "close", &error));
    ck_assert_uint_eq(repl_session_count(repl), 1);
    ck_assert_str_eq(session()->name, "main");
    SHOWS("1", "1");
}
END_TEST

START_TEST(closes_a_session_that_runs)
{
    struct repl_session *first = session();
    ck_assert_ptr_nonnull(repl_open(repl, "two", &error));
    start("while True: pass");
    enter("2");
    pid_t pid = (pid_t)first->pid;
    repl_close(repl, first);
    ck_assert_str_eq(session()->name, "two");
    ck_assert(!repl_is_busy(repl));
    SHOWS("'alive'", "'alive'");
    AWAIT(!test_process_lives(pid));
}
END_TEST

START_TEST(says_when_there_is_no_place_for_a_kernel)
{
    te_set(engine, "max_session_kernels", "1");
    ck_assert_ptr_null(repl_open(repl, "more", &error));
    ck_error("cannot be opened");
    ck_assert_uint_eq(repl_session_count(repl), 1);
    SHOWS("1", "1");
}
END_TEST

START_TEST(shows_output_that_no_cell_made)
{
    run("import threading; t = threading.Timer(0.2, print, ['late']); t.start()");
    struct repl_session *now = session();
    AWAIT(now->item_count == 2);
    struct repl_cell *background = now->items[1].cell;
    ck_assert_uint_eq(background->number, 0);
    AWAIT(strcmp(text_of(background), "late") == 0);
    ck_assert_uint_eq(run("1")->number, 2);
}
END_TEST

START_TEST(quits_at_once_or_asks)
{
    start("while True: pass");
    ck_assert(repl_command(repl, session(), "quit", &error));
    ck_assert_int_eq(confirms, 1);
    CK_HAS(asked, "1 cell runs");
    ck_assert(!repl_wants_quit(repl));
    repl_confirm(repl, false);
    ck_assert(!repl_wants_quit(repl));
    ck_assert(repl_command(repl, session(), "leave", &error)); /* busy: it interrupts */
    AWAIT(!repl_is_busy(repl));
    ck_assert(repl_command(repl, session(), "leave", &error));
    ck_assert(repl_wants_quit(repl));
}
END_TEST

/* ---- terminals ------------------------------------------------------------------------------ */

START_TEST(sees_that_a_cell_reads)
{
    struct repl_cell *cell = start("name = input('who? ')");
    AWAIT(cell->input_waits);
    ck_assert(!cell->input_raw && !cell->input_hidden);
    repl_type(repl, session(), "Bob\r", 4);
    AWAIT(cell->state == REPL_SETTLED);
    ck_assert(!cell->input_waits);
    SHOWS("name", "'Bob'");
    cell = start("import getpass; getpass.getpass('pass: ')");
    AWAIT(cell->input_waits && cell->input_hidden);
    repl_type(repl, session(), "x\r", 2);
    AWAIT(cell->state == REPL_SETTLED);
}
END_TEST

START_TEST(gives_cells_a_terminal_of_the_right_size)
{
    SHOWS("import os; os.get_terminal_size().columns, os.isatty(0)", "(80, True)");
    repl_resize(repl, 100, 30);
    SHOWS("os.get_terminal_size()", "os.terminal_size(columns=100, lines=30)");
    ck_assert_int_eq((int)repl_step(repl), -1); /* nothing to wake up for when idle */
}
END_TEST

START_TEST(says_where_a_cell_is_stuck)
{
    start_stubborn("def wait():\n    while True: subprocess.call(['sleep', '98'])\nwait()");
    repl_interrupt(repl, session());
    repl_interrupt(repl, session());
    AWAIT(confirms == 1);
    ck_assert_msg(strstr(strbuf_text(&asked), "sleep 98") ||
                      strstr(strbuf_text(&asked), "subprocess"),
                  "%s", strbuf_text(&asked));
    repl_confirm(repl, true);
    AWAIT(!repl_is_busy(repl));
}
END_TEST

/* ---- questions ------------------------------------------------------------------------------ */

START_TEST(answers_questions)
{
    run("amount = 12\ndef area(width, height=1):\n    'Width times height.'\n    return width * "
        "height");
    ck_assert_msg(enter(":vars"), "%s", strbuf_text(&error));
    ck_assert(repl_awaits_answer(repl));
    AWAIT(!repl_awaits_answer(repl));
    CK_HAS(shown, "<variables>");
    CK_HAS(shown, "amount");
    strbuf_clear(&shown);
    ck_assert(enter("area?"));
    AWAIT(!repl_awaits_answer(repl));
    CK_HAS(shown, "Width times height.");
    CK_HAS(shown, "height=1");
    strbuf_clear(&shown);
    ck_assert(enter("?area"));
    AWAIT(!repl_awaits_answer(repl));
    CK_HAS(shown, "Width times height.");
    strbuf_clear(&shown);
    ck_assert(enter("area??"));
    AWAIT(!repl_awaits_answer(repl));
    CK_HAS(shown, "return width * height");
    ck_assert(enter("nosuchname?"));
    AWAIT(!repl_awaits_answer(repl));
    CK_HAS(said, "nosuchname is not defined");
    ck_assert(repl_command(repl, session(), "reset", &error));
    AWAIT(confirms == 1);
    CK_HAS(asked, "reset main? It loses 1 variable, 1 cell, ");
    repl_confirm(repl, false);
    ck_assert_uint_gt(repl_request(repl, session(), "ping", "", 0, 0, 0), 0);
    ck_assert(!repl_awaits_answer(repl)); /* that one is the front end's */
}
END_TEST

START_TEST(is_asked_while_a_cell_computes)
{
    run("amount = 12");
    start("while True: pass");
    ck_assert(enter("amount?"));
    AWAIT(!repl_awaits_answer(repl));
    CK_HAS(shown, "12");
    repl_interrupt(repl, session());
    AWAIT(!repl_is_busy(repl));
}
END_TEST

/* ---- tools ---------------------------------------------------------------------------------- */

static void open_with_tools(void)
{
    static const char *const tools[] = {"terminal", NULL};
    repl_free(repl);
    terms.tools = tools;
    open_repl();
    run("from hermes_tools import terminal");
}

START_TEST(asks_for_approval)
{
    open_with_tools();
    struct repl_cell *cell = start("terminal('echo out')['output'].strip()");
    AWAIT(session()->questions != NULL);
    ck_assert_str_eq(session()->questions->question.tool, "terminal");
    ck_assert_str_eq(session()->questions->question.session, "main");
    ck_assert_ptr_nonnull(strstr(session()->questions->question.arguments, "echo out"));
    ck_assert_int_eq(questions, 1);
    ck_assert(repl_command(repl, session(), "approve once", &error));
    AWAIT(cell->state == REPL_SETTLED);
    ck_assert_str_eq(text_of(cell), "'out'");
    cell = start("terminal('true')");
    AWAIT(session()->questions != NULL);
    repl_settle(repl, session(), APPROVAL_NO);
    AWAIT(cell->state == REPL_SETTLED);
    ck_assert_ptr_nonnull(strstr(text_of(cell), "denied by the user"));
    ck_assert(!repl_command(repl, session(), "approve once", &error));
}
END_TEST

START_TEST(keeps_grants_until_the_session_is_cleared)
{
    open_with_tools();
    struct repl_cell *cell =
        start("import threading\n"
              "threads = [threading.Thread(target=terminal, args=('true',)) for _ in range(3)]\n"
              "for t in threads: t.start()\nfor t in threads: t.join()\n'all'");
    AWAIT(session()->questions && session()->questions->next && session()->questions->next->next);
    repl_settle(repl, session(), APPROVAL_SESSION); /* for those that wait, too */
    AWAIT(cell->state == REPL_SETTLED);
    ck_assert_str_eq(text_of(cell), "'all'");
    ck_assert(repl_command(repl, session(), "rename other", &error));
    SHOWS("terminal('echo 1')['output'].strip()", "'1'");
    ck_assert(repl_command(repl, session(), "session-clear -f", &error));
    run("from hermes_tools import terminal");
    cell = start("terminal('true')");
    AWAIT(session()->questions != NULL);
    repl_interrupt(repl, session());
    AWAIT(cell->state == REPL_SETTLED);
    ck_assert_ptr_null(session()->questions);
}
END_TEST

/* Its events are queued though nobody has looked for any yet. */
START_TEST(hears_of_a_kernel_that_is_ready_before_the_loop)
{
    int64_t end = test_now_ms() + test_scaled_ms(TE_DEADLINE_MS);
    for (bool ready = false; !ready;) {
        char *kernels = hermes_kernels_json(engine);
        ready = strstr(kernels, "\"idle\"") != NULL;
        ck_assert_msg(ready || test_now_ms() < end, "never idle: %s", kernels);
        hermes_free(kernels);
        poll(NULL, 0, 2);
    }
    turn();
    ck_assert_int_eq(session()->state, HERMES_KERNEL_IDLE);
}
END_TEST

/* ---- what lasts ----------------------------------------------------------------------------- */

START_TEST(brings_back_named_sessions)
{
    static const char *const names[] = {"work", NULL};
    repl_free(repl);
    options.store = store_open(test_path("history.db"), STORE_ON);
    options.sessions = names;
    open_repl();
    run("kept = 1");
    run("print('shown'); 1/0");
    repl_free(repl);
    store_close(options.store);
    hermes_session_clear(engine, "work");
    options.store = store_open(test_path("history.db"), STORE_ON);
    open_repl();
    turn();
    size_t size;
    ck_assert_str_eq(history_at(repl_history(repl), "work", 0, &size), "print('shown'); 1/0");
    ck_assert_uint_eq(session()->item_count, 3);
    struct repl_cell *cell = session()->items[1].cell;
    ck_assert(cell->state == REPL_EARLIER && cell->outcome == HERMES_ERROR && cell->number == 2);
    ck_assert_ptr_nonnull(strstr(text_of(cell), "shown"));
    ck_assert_ptr_nonnull(strstr(session()->items[2].text, "state not loaded"));
    ck_assert_uint_eq(run("'kept' in globals()")->number, 3);
    ck_assert_str_eq(text_of(last()), "False");
    repl_free(repl);
    options.sessions = NULL; /* nobody asked for main: it begins anew, with the history of all */
    open_repl();
    turn();
    ck_assert_uint_eq(session()->item_count, 0);
    ck_assert_str_eq(history_at(repl_history(repl), "main", 0, &size), "'kept' in globals()");
    repl_free(repl);
    repl = NULL;
    store_close(options.store);
    options.store = NULL;
}
END_TEST

static bool ends_well(void *context, const struct store_cell *cell)
{
    static const char end[] = "THE END\n";
    size_t size = sizeof(end) - 1;
    *(bool *)context = cell->output_size > ((size_t)1 << 17) && cell->output_size < 3000000 &&
                       memcmp(cell->output + cell->output_size - size, end, size) == 0;
    return true;
}

START_TEST(keeps_head_and_tail_of_long_output)
{
    bool good = false;
    repl_free(repl);
    options.store = store_open(test_path("history.db"), STORE_ON);
    open_repl();
    run("print(('.' * 999 + '\\n') * 3000 + 'THE END')");
    ck_assert(store_read_session(options.store, "main", 1, ends_well, &good) && good);
    repl_free(repl);
    repl = NULL;
    store_close(options.store);
    options.store = NULL;
}
END_TEST

/* It is opened by a thread of its own: what it has to say comes later. */
START_TEST(says_what_the_store_remarks)
{
    repl_free(repl);
    test_write_file(test_path("file"), "", 0644);
    options.store = store_open(test_path("file/history.db"), STORE_ON);
    open_repl();
    AWAIT(strstr(strbuf_text(&said), "history"));
    SHOWS("1", "1");
    repl_free(repl);
    repl = NULL;
    store_close(options.store);
    options.store = NULL;
}
END_TEST

START_TEST(searches_what_all_sessions_have_kept)
{
    static const char *const names[] = {"one", "two", NULL};
    repl_free(repl);
    options.store = store_open(test_path("history.db"), STORE_ON);
    options.sessions = names;
    open_repl();
    run("print('nee' + 'dle')");
    repl_bring_front(repl, repl_session_named(repl, "two"));
    ck_assert(store_flush(options.store, 10000));
    ck_assert(repl_command(repl, session(), "search-all needle", &said));
    CK_HAS(shown, "one [1] ");
    CK_HAS(shown, "print('nee' + 'dle')");
    CK_HAS(shown, "| needle");
    strbuf_clear(&said);
    ck_assert(!repl_command(repl, session(), "search-all no such text", &said));
    CK_HAS(said, "no cell of any session holds 'no such text'");
    repl_free(repl);
    repl = NULL;
    store_close(options.store);
    options.store = NULL;
}
END_TEST

/* Also of the sessions that are opened while there is no front end yet. */
START_TEST(says_that_another_program_has_the_session)
{
    static const char *const names[] = {"work", NULL};
    int ready[2], done[2];
    char byte;
    repl_free(repl);
    ck_assert(pipe(ready) == 0 && pipe(done) == 0);
    pid_t other = fork();
    ck_assert_int_ge(other, 0);
    if (other == 0) { /* a program of its own: a thread sanitizer takes no threads after a fork */
        close(done[1]);
        dup2(done[0], STDIN_FILENO);
        dup2(ready[1], STDOUT_FILENO);
        execl(HERMES_TEST_BUILDDIR "/tests/e2e/store-writer", "store-writer",
              test_path("history.db"), "hold", "work", NULL);
        _exit(127);
    }
    close(done[0]);
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    options.store = store_open(test_path("history.db"), STORE_ON);
    options.sessions = names;
    open_repl();
    AWAIT(strstr(strbuf_text(&said), "another program has work open"));
    repl_free(repl);
    repl = NULL;
    store_close(options.store);
    options.store = NULL;
    close(done[1]);
    close(ready[0]);
    ck_assert_int_eq(waitpid(other, NULL, 0), other);
}
END_TEST

START_TEST(leaves_as_python_does)
{
    run("import atexit; _ = atexit.register(print, 'bye')");
    strbuf_clear(&output);
    pid_t pid = (pid_t)session()->pid;
    size_t before = session()->item_count;
    repl_finish(repl, test_scaled_ms(10000), NULL);
    CK_HAS(output, "bye");
    ck_assert(!session()->has_kernel && !test_process_lives(pid));
    ck_assert_ptr_null(ruled(session(), 0));
    ck_assert_uint_le(session()->item_count, before + 1);
}
END_TEST

/* ---- files ---------------------------------------------------------------------------------- */

START_TEST(saves_and_runs_files)
{
    run("print('hello')");
    run("6 * 7");
    run("1/0");
    char *line = xasprintf("save %s", test_path("out.ipynb"));
    ck_assert_msg(repl_command(repl, session(), line, &error), "%s", strbuf_text(&error));
    char *text = test_read_file(test_path("out.ipynb"));
    ck_assert_ptr_nonnull(strstr(text, "hello\\n"));
    ck_assert_ptr_nonnull(strstr(text, "execute_result"));
    ck_assert_ptr_nonnull(strstr(text, "ZeroDivisionError"));
    ck_assert_ptr_null(strstr(text, "\\r"));
    free(text);
    run("'more'");
    ck_assert(repl_command(repl, session(), "save", &error)); /* to the same file */
    text = test_read_file(test_path("out.ipynb"));
    ck_assert_ptr_nonnull(strstr(text, "more"));
    free(text);
    ck_assert(!repl_command(repl, session(), "save x.txt", &error));
    ck_error(".ipynb, .py, .md or .html");
    free(line);
    line = xasprintf("save %s", test_path("out.html"));
    ck_assert_msg(repl_command(repl, session(), line, &error), "%s", strbuf_text(&error));
    text = test_read_file(test_path("out.html"));
    ck_assert_ptr_nonnull(strstr(text, "<title>main</title>"));
    ck_assert_ptr_nonnull(strstr(text, "hello"));
    free(text);
    test_write_file(test_path("in.py"), "# %% first\nq = 20\n# %%\nr = 1\n\nraise OSError(q + r)\n",
                    0644);
    free(line);
    line = xasprintf("run %s", test_path("in.py"));
    ck_assert_msg(repl_command(repl, session(), line, &error), "%s", strbuf_text(&error));
    struct repl_cell *cell = last();
    AWAIT(cell->state == REPL_SETTLED);
    ck_assert_ptr_nonnull(strstr(text_of(cell), "in.py\", line 6"));
    ck_assert_ptr_nonnull(strstr(text_of(cell), "OSError: 21"));
    free(line);
    line = xasprintf("load %s", test_path("in.py"));
    ck_assert(repl_command(repl, session(), line, &error));
    ck_assert_str_eq(strbuf_text(&inserted),
                     "# %% first\nq = 20\n# %%\nr = 1\n\nraise OSError(q + r)");
    ck_assert(!repl_command(repl, session(), "load /does/not/exist.py", &error));
    ck_error("/does/not/exist.py");
    ck_assert(repl_command(repl, session(), "search hello", &error));
    CK_HAS(shown, "[1] print('hello')\n[1] hello\n");
    ck_assert(repl_command(repl, session(), "reuse 2", &error));
    ck_assert_str_eq(strbuf_text(&inserted), "6 * 7");
    ck_assert(repl_command(repl, session(), "rerun 2", &error));
    cell = last();
    AWAIT(cell->state == REPL_SETTLED);
    ck_assert_str_eq(text_of(cell), "42");
    free(line);
}
END_TEST

START_TEST(asks_before_it_saves_over_a_file)
{
    char *line = xasprintf("save %s", test_path("theirs.py"));
    test_write_file(test_path("theirs.py"), "theirs\n", 0644);
    answer_yes = false;
    run("print('hello')");
    ck_assert(repl_command(repl, session(), line, &error));
    CK_HAS(asked, "theirs.py is there already");
    char *text = test_read_file(test_path("theirs.py"));
    ck_assert_str_eq(text, "theirs\n");
    free(text);
    repl_confirm(repl, false);
    ck_assert(!repl_command(repl, session(), "save", &error)); /* it has no file yet */
    ck_assert(repl_command(repl, session(), line, &error));
    repl_confirm(repl, true);
    text = test_read_file(test_path("theirs.py"));
    ck_assert_ptr_nonnull(strstr(text, "print('hello')"));
    free(text);
    ck_assert(repl_command(repl, session(), line, &error)); /* now it is its own */
    ck_assert_int_eq(confirms, 2);
    free(line);
}
END_TEST

START_TEST(sets_options)
{
    ck_assert_msg(repl_command(repl, session(), "set timeout 0.3", &error), "%s",
                  strbuf_text(&error));
    ck_assert(run("while True: pass")->outcome == HERMES_TIMEOUT);
    ck_assert(!repl_command(repl, session(), "set timeoot 1", &error));
    ck_error("did you mean timeout?");
    ck_assert(!repl_command(repl, session(), "set timeout soon", &error));
    ck_assert(!repl_command(repl, session(), "set env scrub", &error));
    ck_error("whole run");
    ck_assert(repl_command(repl, session(), "options idle", &error));
    CK_HAS(shown, "kernel_idle_timeout");
}
END_TEST

/* ---- the suite ------------------------------------------------------------------------------ */

static TCase *add_case(Suite *suite, const char *name)
{
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, set_up_open, tear_down);
    tcase_set_timeout(tests, 60);
    suite_add_tcase(suite, tests);
    return tests;
}

int main(void)
{
    Suite *suite = suite_create("repl");
    TCase *tests = add_case(suite, "cells");
    tcase_add_test(tests, starts_its_kernel_behind_the_prompt);
    tcase_add_test(tests, hears_of_a_kernel_that_is_ready_before_the_loop);
    tcase_add_test(tests, shows_values_and_keeps_state);
    tcase_add_test(tests, keeps_the_last_values);
    tcase_add_test(tests, breaks_values_at_the_terminals_width);
    tcase_add_test(tests, tracebacks_have_no_frames_of_ours);
    tcase_add_test(tests, shows_a_traceback_of_the_cell_by_its_number);
    tcase_add_test(tests, shows_each_display_once);
    tcase_add_test(tests, queues_cells_and_drops_them);
    tcase_add_test(tests, keeps_numbers_over_kernels);
    tests = add_case(suite, "lines");
    tcase_add_test(tests, takes_commands_shell_and_magics);
    tcase_add_test(tests, changes_directory_in_the_session);
    tcase_add_test(tests, takes_away_common_indentation);
    tcase_add_test(tests, names_the_nearest_and_takes_beginnings);
    tests = add_case(suite, "ends");
    tcase_add_test(tests, says_how_a_crash_ended_the_kernel);
    tcase_add_test(tests, says_that_a_kernel_was_killed_between_cells);
    tcase_add_test(tests, puts_the_line_behind_the_cell_and_before_the_queue);
    tcase_add_test(tests, says_that_a_cell_exited);
    tcase_add_test(tests, says_how_a_kernel_died);
    tcase_add_test(tests, says_that_a_cell_timed_out);
    tcase_add_test(tests, says_which_limit_was_met);
    tcase_add_test(tests, says_that_the_kernel_does_not_start);
    tests = add_case(suite, "interrupting");
    tcase_add_test(tests, interrupts_and_keeps_state);
    tcase_add_test(tests, interrupts_before_it_knows_of_the_start);
    tcase_add_test(tests, asks_before_it_kills_what_does_not_obey);
    tcase_add_test(tests, withdraws_the_question_when_the_cell_ends);
    tcase_add_test(tests, asks_before_a_reset_and_names_its_cost);
    tcase_add_test(tests, says_what_a_reset_costs_a_busy_session);
    tcase_add_test(tests, takes_a_reset_back);
    tcase_add_test(tests, goes_back_to_before_a_cell);
    tcase_add_test(tests, clears_a_session);
    tests = add_case(suite, "sessions");
    tcase_add_test(tests, runs_sessions_side_by_side);
    tcase_add_test(tests, refuses_bad_names);
    tcase_add_test(tests, renames_and_closes_sessions);
    tcase_add_test(tests, closes_a_session_that_runs);
    tcase_add_test(tests, says_when_there_is_no_place_for_a_kernel);
    tcase_add_test(tests, shows_output_that_no_cell_made);
    tcase_add_test(tests, quits_at_once_or_asks);
    tests = add_case(suite, "terminals");
    tcase_add_test(tests, sees_that_a_cell_reads);
    tcase_add_test(tests, gives_cells_a_terminal_of_the_right_size);
    tcase_add_test(tests, says_where_a_cell_is_stuck);
    tests = add_case(suite, "questions");
    tcase_add_test(tests, answers_questions);
    tcase_add_test(tests, is_asked_while_a_cell_computes);
    tests = add_case(suite, "tools");
    tcase_add_test(tests, asks_for_approval);
    tcase_add_test(tests, keeps_grants_until_the_session_is_cleared);
    tests = add_case(suite, "what lasts");
    tcase_add_test(tests, brings_back_named_sessions);
    tcase_add_test(tests, keeps_head_and_tail_of_long_output);
    tcase_add_test(tests, says_what_the_store_remarks);
    tcase_add_test(tests, searches_what_all_sessions_have_kept);
    tcase_add_test(tests, says_that_another_program_has_the_session);
    tcase_add_test(tests, leaves_as_python_does);
    tests = add_case(suite, "files");
    tcase_add_test(tests, saves_and_runs_files);
    tcase_add_test(tests, asks_before_it_saves_over_a_file);
    tcase_add_test(tests, sets_options);
    return test_run(suite);
}
