/* SPDX-License-Identifier: MIT */
/*
 * Cells that are ended: by their time limit, by an interrupt that they obey or not, by a kill, in
 * the queue. What is said of the state must be true, and nothing of the process tree may stay.
 */
#include "config.h"

#include <signal.h>
#include <unistd.h>

#include "engine-testlib.h"

/*
 * Code that holds the interpreter's lock in C, where no signal handler of Python can run: from its
 * word on, no line of Python.
 */
#define STUCK_IN_C                                                                                 \
    "import os\nfrom itertools import chain, repeat\nfrom collections import deque\n"              \
    "deque(chain(map(os.write, [1], [b'ready']), repeat(0)), maxlen=0)"
#define STUCK_IN_LIBC "import ctypes; print('ready', flush=True); ctypes.PyDLL(None).sleep(60)"
#define STUCK_IN_RE "import re; print('ready', flush=True); re.match('(a+)+$', 'a' * 60 + 'b')"

/* ---- time limits ------------------------------------------------------------------------ */

/*
 * contract: a timeout kills and says so; reports A21, A22: what was printed is kept, the notice
 * stands in output too
 */
START_TEST(timeout_kills_the_kernel_and_reports_state_loss)
{
    struct hermes_result *slow;
    uint64_t kernel;

    te_succeeds("a", "x = 1");
    slow = te_run_timeout(
        "a", "for i in range(5): print('row', i, flush=True)\nimport time; time.sleep(30)", 500);
    EXPECT(slow, slow->outcome == HERMES_TIMEOUT && slow->exit_code == -1 && slow->ended);
    EXPECT(slow,
           te_error_has(slow, "timed out after 0.5s") && te_error_has(slow, "state was lost"));
    EXPECT(slow, !strncmp(slow->output, "row 0\nrow 1\nrow 2\nrow 3\nrow 4\n", 30));
    EXPECT(slow, te_has(slow, "timed out after 0.5s") && slow->duration_us >= 500000 &&
                     slow->state_kept == -1);
    ck_assert_uint_eq(te_kernel_count(engine), 0);
    kernel = slow->kernel;
    ck_assert_int_eq(hermes_kernel_wait(engine, kernel, TE_DEADLINE_MS), 1);
    hermes_result_free(slow);
    te_says_fresh("a", "print('x' in globals())", "False\n", HERMES_PREVIOUS_TIMEOUT);
}
END_TEST

START_TEST(timeout_of_silence_is_not_empty)
{
    struct hermes_result *result = te_run_timeout("a", "import time; time.sleep(30)", 200);

    EXPECT(result, result->outcome == HERMES_TIMEOUT && te_has(result, "timed out"));
    hermes_result_free(result);
}
END_TEST

/* report A29, cases 062, 063: whatever it does, it ends within the grace */
START_TEST(timeout_of_cells_that_resist)
{
    static const char *const codes[] = {
        STUCK_IN_C,
        STUCK_IN_LIBC,
        STUCK_IN_RE,
        "from signal import *\nfor s in (1, 2, 3, 15): signal(s, SIG_IGN)\nwhile True: pause()",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
        "while True: print('y' * 1000)",
    };

    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        int64_t start = test_now_ms();
        struct hermes_result *result = te_run_timeout("a", codes[i], 400);

        EXPECT(result, result->outcome == HERMES_TIMEOUT && te_error_has(result, "state was lost"));
        EXPECT(result, test_now_ms() - start < test_scaled_ms(6000));
        ck_assert_int_eq(hermes_kernel_wait(engine, result->kernel, TE_DEADLINE_MS), 1);
        hermes_result_free(result);
        te_no_process_left();
    }
}
END_TEST

/* report A29: sessions of their own, double forks, ignored signals, forks while being killed */
START_TEST(timeout_kills_the_whole_tree)
{
    static const char *const codes[] = {
        "import subprocess, signal, time\n"
        "signal.signal(15, signal.SIG_IGN)\n"
        "subprocess.Popen(['sleep', '99'], start_new_session=True)\n"
        "print('ready', flush=True); time.sleep(60)",
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        os.closerange(0, 1024)\n"
        "        os.execve('/bin/sleep', ['sleep', '99'], {})\n"
        "    os._exit(0)\n"
        "os.wait(); time.sleep(60)",
        "import subprocess, time\n"
        "subprocess.Popen(['sh', '-c', 'trap \"\" TERM HUP INT; while :; do sleep 0.01; done'], "
        "start_new_session=True)\n"
        "time.sleep(60)",
    };

    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        struct hermes_result *result;

#ifdef HERMES_NO_GUARD
        if (i ==
            1) /* a daemon with a session and an environment of its own is out of reach there */
            continue;
#endif
        result = te_run_timeout("a", codes[i], 500);
        EXPECT(result, result->outcome == HERMES_TIMEOUT);
        ck_assert_int_eq(hermes_kernel_wait(engine, result->kernel, TE_DEADLINE_MS), 1);
        hermes_result_free(result);
        te_no_process_left();
    }
}
END_TEST

/* report A35: the clock starts with the cell, not in the queue */
START_TEST(waiting_does_not_count)
{
    struct hermes_cell cell = te_cell("a", "import time; time.sleep(0.4)");
    struct te_thread threads[3];
    int64_t longest = 0;

    te_succeeds("a", "1");
    cell.timeout_ms = test_scaled_ms(900);
    for (size_t i = 0; i < 3; i++)
        te_thread_start(&threads[i], engine, &cell);
    for (size_t i = 0; i < 3; i++) {
        struct hermes_result *result;

        te_thread_join(&threads[i]);
        result = threads[i].result;
        EXPECT(result, result->outcome == HERMES_SUCCESS && result->duration_us >= 400000);
        if (result->queued_us > longest)
            longest = result->queued_us;
        hermes_result_free(result);
    }
    ck_assert_int_ge(longest, 700000);
}
END_TEST

/* report A36 */
START_TEST(limit_is_an_option)
{
    struct hermes_result *result;

    te_set(engine, "timeout", "0.3");
    result = te_run("a", "import time; time.sleep(30)");
    EXPECT(result, result->outcome == HERMES_TIMEOUT);
    hermes_result_free(result);
    result = te_run_timeout("a", "import time; time.sleep(0.5); print('own')", 20000);
    EXPECT_OUTPUT(result, "own\n");
    hermes_result_free(result);
    result = te_run_timeout("a", "import time; time.sleep(0.5); print('none')", -1);
    EXPECT_OUTPUT(result, "none\n");
    hermes_result_free(result);
    te_set(engine, "timeout", "off");
    te_says("a", "import time; time.sleep(0.4); print('off')", "off\n");
}
END_TEST

/* ---- interrupts ------------------------------------------------------------------------- */

/*
 * The cell has said its word; let it go to sleep, if that is what it does next. (A signal that
 * Python has taken note of just before a sleep begins does not end that sleep: there is no way
 * round that in Python.)
 */
static void let_it_sleep(void)
{
    pid_t kernel = (pid_t)te_kernel_number(engine, "a", "pid");

    (void)test_wait(test_process_state(kernel) == 'S', 50);
}

static struct hermes_event *interrupt_when_ready(const char *code, const char *reason,
                                                 int64_t kill_after_ms)
{
    uint64_t cell = te_submit("a", code);

    te_output(cell, "ready");
    let_it_sleep();
    ck_assert_int_eq(hermes_interrupt(engine, cell, reason, kill_after_ms), 0);
    return te_done(cell);
}

/* report A34, cases 193 */
START_TEST(an_interrupt_that_is_obeyed_keeps_the_state)
{
    static const char *const codes[] = {
        "print('ready', flush=True)\nwhile True: pass",
        "import time; print('ready', flush=True); time.sleep(60)",
        "import subprocess; print('ready', flush=True); subprocess.run(['sleep', '60'])",
        "import threading; print('ready', flush=True); threading.Event().wait()",
        "import os; print('ready', flush=True); os.read(os.pipe()[0], 1)",
    };

    te_succeeds("a", "kept = 1");
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        int64_t start = test_now_ms();
        struct hermes_event *event = interrupt_when_ready(codes[i], NULL, 0);
        struct hermes_result *result = event->result;

        EXPECT(result, result->outcome == HERMES_INTERRUPTED && result->exit_code == -1);
        EXPECT(result, result->state_kept == 1 && !result->ended &&
                           !te_error_has(result, "state was lost"));
        EXPECT(result, test_now_ms() - start < test_scaled_ms(4000));
        EXPECT(result, te_has(result, "ready") && te_has(result, "[execution interrupted]"));
        hermes_event_free(event);
        te_says("a", "print(kept)", "1\n");
    }
}
END_TEST

/*
 * A shell's child ends as well. That os.system() returns then, and the cell may go on, is Python's
 * way.
 */
START_TEST(an_interrupt_ends_children)
{
    struct hermes_event *event;

    te_succeeds("a", "kept = 1");
    event = interrupt_when_ready("import os; print('ready', flush=True); os.system('sleep 60')",
                                 NULL, -1);
    EXPECT(event->result,
           event->result->outcome == HERMES_SUCCESS || event->result->state_kept == 1);
    EXPECT(event->result, event->result->duration_us < test_scaled_ms(5000) * 1000);
    hermes_event_free(event);
    te_says("a", "print(kept)", "1\n");
}
END_TEST

/*
 * cases 193: a pattern without end looks at signals in some versions of Python; what is said must
 * be true in each
 */
START_TEST(what_is_said_of_the_state_is_true)
{
    struct hermes_event *event;
    bool kept;

    te_succeeds("a", "kept = 1");
    event = interrupt_when_ready(STUCK_IN_RE, NULL, 1000);
    EXPECT(event->result,
           event->result->outcome == HERMES_INTERRUPTED && event->result->state_kept >= 0);
    kept = event->result->state_kept;
    EXPECT(event->result,
           te_error_has(event->result, "state was lost") == !kept && event->result->ended == !kept);
    hermes_event_free(event);
    te_says("a", "print('kept' in globals())", kept ? "True\n" : "False\n");
}
END_TEST

/* report A34, cases 193: one that is not obeyed says that the state is lost */
START_TEST(an_interrupt_that_is_not_obeyed_kills)
{
    static const char *const codes[] = {
        STUCK_IN_C,
        "import time\nwhile True:\n    try: print('ready', flush=True); time.sleep(1)\n    except "
        "BaseException: pass",
        "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('ready', "
        "flush=True)\ntime.sleep(60)",
    };

    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        struct hermes_event *event;

        te_succeeds("a", "kept = 1");
        event = interrupt_when_ready(codes[i], NULL, 300);
        EXPECT(event->result,
               event->result->outcome == HERMES_INTERRUPTED && event->result->state_kept == 0);
        EXPECT(event->result,
               te_error_has(event->result, "state was lost") && event->result->ended);
        hermes_event_free(event);
        te_says_fresh("a", "print('kept' in globals())", "False\n", HERMES_PREVIOUS_INTERRUPTED);
    }
}
END_TEST

START_TEST(an_interrupt_without_a_kill)
{
    uint64_t cell = te_submit("a", "import time\nn = 0\n"
                                   "while n < 2:\n"
                                   "    try: print('ready', n, flush=True); time.sleep(60)\n"
                                   "    except KeyboardInterrupt: n += 1\n"
                                   "print('enough')");
    struct hermes_event *event;

    te_output(cell, "ready 0");
    let_it_sleep();
    ck_assert_int_eq(hermes_interrupt(engine, cell, NULL, -1), 0);
    te_output(cell, "ready 1");
    let_it_sleep();
    ck_assert_int_eq(hermes_interrupt(engine, cell, NULL, -1), 0);
    event = te_done(cell);
    EXPECT(event->result, te_has(event->result, "enough") && !event->result->ended);
    EXPECT(event->result,
           event->result->outcome == HERMES_SUCCESS); /* it went on by its own will, and well */
    hermes_event_free(event);
}
END_TEST

/* report A33 */
START_TEST(the_reason_is_the_callers)
{
    struct hermes_event *event = interrupt_when_ready(
        "import time; print('ready', flush=True); time.sleep(60)", "tab closed", 0);
    struct hermes_result *result = event->result;
    const char *mark = "[execution interrupted \xe2\x80\x94 tab closed]";

    EXPECT(result, result->output_size > strlen(mark));
    EXPECT(result, !strcmp(result->output + result->output_size - strlen(mark), mark));
    hermes_event_free(event);
    event =
        interrupt_when_ready("import time; print('ready', flush=True); time.sleep(60)", NULL, 0);
    result = event->result;
    mark = "[execution interrupted]";
    EXPECT(result, !strcmp(result->output + result->output_size - strlen(mark), mark));
    hermes_event_free(event);
}
END_TEST

/* report A32: an interrupt is for its cell; a queued one is not run */
START_TEST(a_queued_cell_is_not_run)
{
    uint64_t running = te_submit("a", "import time; print('ready', flush=True); time.sleep(60)");
    uint64_t queued = te_submit("a", "print('must not run')"),
             next = te_submit("a", "print('next')");
    struct hermes_event *event;

    te_output(running, "ready");
    ck_assert_int_eq(hermes_interrupt(engine, queued, "not wanted", 0), 0);
    event = te_done(queued);
    EXPECT(event->result, event->result->outcome == HERMES_INTERRUPTED && !event->result->started);
    EXPECT(event->result, event->result->exit_code == -1 && event->result->output_size == 0
                              ? true
                              : !te_has(event->result, "must"));
    EXPECT(event->result,
           te_error_has(event->result, "Not run") && te_error_has(event->result, "not wanted"));
    EXPECT(event->result, event->result->state_kept == -1);
    hermes_event_free(event);
    ck_assert_int_eq(hermes_interrupt(engine, queued, NULL, 0), HERMES_ENOENT);
    let_it_sleep();
    ck_assert_int_eq(hermes_interrupt(engine, running, NULL, 0), 0);
    event = te_done(running);
    EXPECT(event->result,
           event->result->outcome == HERMES_INTERRUPTED && event->result->state_kept == 1);
    hermes_event_free(event);
    event = te_done(next);
    EXPECT_OUTPUT(event->result, "next\n");
    hermes_event_free(event);
}
END_TEST

/* report A32, A34: however the interrupt races with the cell's end, it never hits the next cell */
START_TEST(a_late_interrupt_hits_nobody)
{
    int interrupted = 0, rounds = te_long() ? 2000 : 200;

    te_succeeds("a", "import time");
    for (int i = 0; i < rounds; i++) {
        /* some that end meanwhile, and some that are hit however slow the machine is */
        uint64_t cell = te_submit("a", i % 20 == 1 ? "time.sleep(0.1)"
                                       : i % 2     ? "time.sleep(0.0002)"
                                                   : "x = 1");
        struct hermes_event *event;

        if (i % 3)
            te_started(cell);
        hermes_interrupt(engine, cell, NULL, 5000); /* may come too late */
        event = te_done(cell);
        EXPECT(event->result, event->result->outcome == HERMES_SUCCESS ||
                                  event->result->outcome == HERMES_INTERRUPTED);
        EXPECT(event->result, !event->result->started || event->result->outcome == HERMES_SUCCESS ||
                                  event->result->state_kept == 1);
        interrupted += event->result->outcome == HERMES_INTERRUPTED;
        hermes_event_free(event);
        te_forget_events();
        te_says("a", "print('alive')", "alive\n");
    }
    ck_assert_int_gt(interrupted, 0);
}
END_TEST

#ifndef HERMES_NO_GUARD
/*
 * report A32: while a signal is on its way (here: to a guard that does not get to it) the next cell
 * waits
 */
START_TEST(a_signal_on_its_way_holds_up_the_next_cell)
{
    int64_t end = test_now_ms() + 200;
    struct hermes_event *event;
    uint64_t first, second;
    bool started = false;
    char code[300];
    pid_t guard;

    te_succeeds("a", "import os, time");
    guard = (pid_t)te_kernel_number(engine, "a", "guard_pid");
    snprintf(code, sizeof code, "while not os.path.exists('%s'): time.sleep(0.005)",
             test_path("go"));
    first = te_submit("a", code);
    te_started(first);
    ck_assert_int_eq(kill(guard, SIGSTOP), 0);
    ck_assert(test_wait(test_process_state(guard) == 'T', 5000));
    ck_assert_int_eq(hermes_interrupt(engine, first, NULL, -1), 0);
    test_write_file(test_path("go"), "", 0600);
    event = te_done(first);
    EXPECT(event->result, event->result->outcome == HERMES_SUCCESS);
    hermes_event_free(event);
    second = te_submit("a", "time.sleep(0.1); print('not hit')");
    while (test_now_ms() < end && !started) {
        hermes_next_event(engine, end - test_now_ms(), &event);
        started = event && event->type == HERMES_EVENT_STARTED;
        hermes_event_free(event);
    }
    kill(guard, SIGCONT); /* before any check: a stopped guard would stay */
    ck_assert_msg(!started, "the next cell runs into the signal");
    event = te_done(second);
    EXPECT(event->result, event->result->outcome == HERMES_SUCCESS);
    EXPECT_OUTPUT(event->result, "not hit\n");
    hermes_event_free(event);
}
END_TEST
#endif

/* One that comes while the kernel starts waits for its cell. */
START_TEST(an_interrupt_during_the_start)
{
    for (int i = 0; i < 5; i++) {
        uint64_t cell = te_submit("a", "while True: pass");
        struct hermes_event *event;

        ck_assert_int_eq(hermes_interrupt(engine, cell, NULL, 5000), 0);
        event = te_done(cell);
        EXPECT(event->result, event->result->outcome == HERMES_INTERRUPTED);
        hermes_event_free(event);
        ck_assert_int_eq(hermes_session_clear(engine, "a"), 0);
    }
}
END_TEST

/* The user's own handler is called, and is there again after the cell. */
START_TEST(handlers_of_the_user)
{
    uint64_t cell;
    struct hermes_event *event;

    te_succeeds(
        "a",
        "import signal, time\nhits = []\nsignal.signal(signal.SIGINT, lambda *a: hits.append(1))");
    cell = te_submit(
        "a", "print('ready', flush=True)\nwhile not hits: time.sleep(0.01)\nprint('handled')");
    te_output(cell, "ready");
    ck_assert_int_eq(hermes_interrupt(engine, cell, NULL, 10000), 0);
    event = te_done(cell);
    EXPECT(event->result,
           te_has(event->result, "handled") && event->result->outcome == HERMES_SUCCESS);
    hermes_event_free(event);
    te_says("a", "print(len(hits) > 0, signal.getsignal(signal.SIGINT).__name__)",
            "True <lambda>\n");
}
END_TEST

/* A SIGINT to an idle kernel from somewhere else is ignored. */
START_TEST(sigint_between_cells_is_ignored)
{
    struct hermes_result *result = te_run("a", "x = 1");

    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(kill((pid_t)result->kernel_pid, SIGINT), 0);
        if (i % 4 == 0)
            te_says("a", "print(x)", "1\n");
    }
    te_says("a", "print(x)", "1\n");
    hermes_result_free(result);
}
END_TEST

/* ---- kills ------------------------------------------------------------------------------ */

START_TEST(a_kill_loses_the_state)
{
    uint64_t cell;
    struct hermes_event *event;

    te_succeeds("a", "x = 1");
    cell = te_submit("a", "import time; print('ready', flush=True); time.sleep(60)");
    te_output(cell, "ready");
    ck_assert_int_eq(hermes_kill(engine, cell, "enough"), 0);
    event = te_done(cell);
    EXPECT(event->result,
           event->result->outcome == HERMES_INTERRUPTED && event->result->state_kept == 0);
    EXPECT(event->result, event->result->ended && te_error_has(event->result, "state was lost"));
    EXPECT(event->result, te_has(event->result, "ready") && te_has(event->result, "enough"));
    hermes_event_free(event);
    te_says_fresh("a", "print('x' in globals())", "False\n", HERMES_PREVIOUS_KILLED);
}
END_TEST

START_TEST(a_kill_after_an_interrupt_and_twice)
{
    uint64_t cell = te_submit("a", STUCK_IN_C);
    struct hermes_event *event;

    te_output(cell, "ready");
    ck_assert_int_eq(hermes_interrupt(engine, cell, NULL, -1), 0);
    ck_assert_int_eq(hermes_kill(engine, cell, NULL), 0);
    hermes_kill(engine, cell, NULL);
    hermes_interrupt(engine, cell, NULL, 1);
    event = te_done(cell);
    EXPECT(event->result,
           event->result->outcome == HERMES_INTERRUPTED && event->result->state_kept == 0);
    hermes_event_free(event);
    te_says("a", "print('fresh')", "fresh\n");
}
END_TEST

/* Cells that waited behind a killed or timed-out one run in the fresh kernel. */
START_TEST(the_queue_goes_to_the_next_kernel)
{
    struct hermes_cell cell = te_cell("a", "import time; time.sleep(60)");
    uint64_t first, second, third;
    struct hermes_event *event;

    cell.timeout_ms = 300;
    first = te_submit_cell(&cell);
    second = te_submit("a", "x = 5; print('second')");
    third = te_submit("a", "print(x)");
    event = te_done(first);
    EXPECT(event->result, event->result->outcome == HERMES_TIMEOUT);
    hermes_event_free(event);
    event = te_done(second);
    EXPECT_OUTPUT(event->result, "second\n");
    EXPECT(event->result,
           !event->result->reused && event->result->previous == HERMES_PREVIOUS_TIMEOUT);
    hermes_event_free(event);
    event = te_done(third);
    EXPECT_OUTPUT(event->result, "5\n");
    EXPECT(event->result, event->result->reused);
    hermes_event_free(event);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("interrupt");
    TCase *limits = tcase_create("timeout"), *interrupts = tcase_create("interrupt"),
          *kills = tcase_create("kill");
    TCase *all[] = {limits, interrupts, kills};

    te_add_cases(suite, all, sizeof all / sizeof all[0], te_set_up);
    tcase_add_test(limits, timeout_kills_the_kernel_and_reports_state_loss);
    tcase_add_test(limits, timeout_of_silence_is_not_empty);
    tcase_add_test(limits, timeout_of_cells_that_resist);
    tcase_add_test(limits, timeout_kills_the_whole_tree);
    tcase_add_test(limits, waiting_does_not_count);
    tcase_add_test(limits, limit_is_an_option);
    tcase_add_test(interrupts, an_interrupt_that_is_obeyed_keeps_the_state);
    tcase_add_test(interrupts, an_interrupt_ends_children);
    tcase_add_test(interrupts, what_is_said_of_the_state_is_true);
    tcase_add_test(interrupts, an_interrupt_that_is_not_obeyed_kills);
    tcase_add_test(interrupts, an_interrupt_without_a_kill);
    tcase_add_test(interrupts, the_reason_is_the_callers);
    tcase_add_test(interrupts, a_queued_cell_is_not_run);
    tcase_add_test(interrupts, a_late_interrupt_hits_nobody);
#ifndef HERMES_NO_GUARD
    tcase_add_test(interrupts, a_signal_on_its_way_holds_up_the_next_cell);
#endif
    tcase_add_test(interrupts, an_interrupt_during_the_start);
    tcase_add_test(interrupts, handlers_of_the_user);
    tcase_add_test(interrupts, sigint_between_cells_is_ignored);
    tcase_add_test(kills, a_kill_loses_the_state);
    tcase_add_test(kills, a_kill_after_an_interrupt_and_twice);
    tcase_add_test(kills, the_queue_goes_to_the_next_kernel);
    return test_run(suite);
}
