/* SPDX-License-Identifier: MIT */
/*
 * Questions to a kernel beside its cells: answered while it is idle and while a cell runs, exactly
 * one answer for each, whatever becomes of the kernel.
 */
#include "config.h"

#include <signal.h>

#include "engine-testlib.h"

static struct hermes_kernel_setup setup;
static uint64_t the_kernel;

static const char PING[] = "{\"request\":\"ping\"}";

static void set_up(void)
{
    te_set_up();
    setup = (struct hermes_kernel_setup)HERMES_KERNEL_SETUP_INIT;
    setup.requests = true;
}

static struct hermes_cell cell_of(const char *code)
{
    struct hermes_cell cell = te_cell("r", code);

    cell.setup = &setup;
    return cell;
}

static uint64_t submit(const char *code)
{
    struct hermes_cell cell = cell_of(code);
    uint64_t id = te_submit_cell(&cell);
    struct hermes_event *started = te_event(HERMES_EVENT_STARTED, id);

    the_kernel = started->kernel;
    hermes_event_free(started);
    return id;
}

static void done_well(uint64_t cell)
{
    struct hermes_event *event = te_done(cell);

    EXPECT(event->result, event->result->outcome == HERMES_SUCCESS);
    hermes_event_free(event);
}

static void run_well(const char *code)
{
    done_well(submit(code));
}

static int ask_for(const char *json, int64_t timeout_ms, uint64_t *ret_request)
{
    struct hermes_error error = {0};

    return hermes_request(engine, the_kernel, json, timeout_ms, ret_request, &error);
}

static uint64_t ask(const char *json, int64_t timeout_ms)
{
    uint64_t request = 0;

    ck_assert_int_eq(ask_for(json, timeout_ms, &request), 0);
    ck_assert_uint_ne(request, 0);
    return request;
}

/* The next answer is to this request, and holds that. */
static void answered(uint64_t request, const char *text)
{
    struct hermes_event *event = te_event(HERMES_EVENT_ANSWER, 0);

    ck_assert_uint_eq(event->request, request);
    ck_assert_uint_eq(event->kernel, the_kernel);
    ck_assert_msg(memmem(event->data, event->size, text, strlen(text)) != NULL,
                  "the answer is %.*s", (int)event->size, event->data);
    hermes_event_free(event);
}

static void ping_says(const char *text)
{
    answered(ask(PING, 10000), text);
}

/* ---- answers ---------------------------------------------------------------------------- */

START_TEST(an_idle_kernel_answers)
{
    struct hermes_cell cell = cell_of("");

    ck_assert_int_eq(hermes_start(engine, &cell, &the_kernel, NULL), 0);
    ping_says("{\"busy\": false, \"cell\": 0}");
    run_well("x = 1");
    ping_says("{\"busy\": false, \"cell\": 0}");
}
END_TEST

START_TEST(a_busy_kernel_answers)
{
    uint64_t cell = submit("import time\nprint('on')\nwhile True: time.sleep(0.001)");

    te_output(cell, "on");
    ping_says("{\"busy\": true, \"cell\": 1}");
    for (int i = 0; i < 100; i++)
        ping_says("true");
    ck_assert_int_eq(hermes_interrupt(engine, cell, NULL, 10000), 0);
    hermes_event_free(te_done(cell));
    ping_says("false");
}
END_TEST

START_TEST(a_loop_lets_answers_through)
{
    uint64_t cell = submit("print('on')\nwhile True: pass");

    te_output(cell, "on");
    ping_says("true");
    ck_assert_int_eq(hermes_interrupt(engine, cell, NULL, 10000), 0);
    hermes_event_free(te_done(cell));
}
END_TEST

START_TEST(nonsense_is_answered)
{
    run_well("1");
    answered(ask("{}", 10000), "error");
    answered(ask("{\"request\": 1}", 10000), "error");
    answered(ask("{\"request\": \"ping\", /* comment */ \"more\": [1, 2,],}", 10000), "false");
    answered(ask("{\"request\": \"\\u00e9\"}", 10000), "error");
    ping_says("false");
}
END_TEST

START_TEST(what_cannot_be_asked_is_refused)
{
    uint64_t request;
    char *big = calloc(1, (1 << 20) + 2);
    struct hermes_error error = {0};

    run_well("1");
    ck_assert_int_eq(ask_for("", 0, &request), HERMES_EINVAL);
    ck_assert_int_eq(ask_for("[1]", 0, &request), HERMES_EINVAL);
    ck_assert_int_eq(ask_for("{\"a\"", 0, &request), HERMES_EINVAL);
    ck_assert_int_eq(ask_for("{\"a\": \"\xff\"}", 0, &request), HERMES_EINVAL);
    memset(big, ' ', (1 << 20) + 1);
    memcpy(big, "{}", 2);
    ck_assert_int_eq(ask_for(big, 0, &request), HERMES_EINVAL);
    big[1 << 20] = '\0';
    answered(ask(big, 10000), "error"); /* of exactly the limit */
    free(big);
    ck_assert_int_eq(hermes_request(engine, the_kernel + 999, PING, 0, &request, &error),
                     HERMES_ENOENT);
    te_succeeds("plain", "1"); /* set up without */
    ck_assert_int_eq(hermes_request(engine, (uint64_t)te_kernel_number(engine, "plain", "id"), PING,
                                    0, &request, &error),
                     HERMES_ENOENT);
}
END_TEST

START_TEST(a_kernel_with_requests_is_another_setting)
{
    struct hermes_cell cell = cell_of("1");
    struct hermes_result *result = NULL;

    run_well("1");
    cell.setup = NULL;
    ck_assert_int_eq(hermes_execute(engine, &cell, &result, NULL), HERMES_EMISMATCH);
}
END_TEST

/* ---- no answer -------------------------------------------------------------------------- */

/* The interpreter's lock is held by code that is not Python's. */
START_TEST(a_held_lock_means_no_answer_in_time)
{
    uint64_t cell = submit("import re\nprint('on')\nre.match('(a+)+$', 'a' * 25 + 'b')"),
             request[2];

    te_output(cell, "on");
    request[0] = ask(PING, 50);
    request[1] = ask(PING, 100000);
    answered(request[0], "in time");
    done_well(cell);
    answered(request[1], "busy"); /* and the late one of the first is dropped */
    ping_says("false");
}
END_TEST

START_TEST(at_most_64_wait)
{
    uint64_t cell = submit("import time\nprint('on')\ntime.sleep(99)"), requests[64], more;

    te_output(cell, "on");
    ck_assert_int_eq(kill((pid_t)te_kernel_number(engine, "r", "pid"), SIGSTOP), 0);
    for (int i = 0; i < 64; i++)
        requests[i] = ask(PING, 60000);
    ck_assert_int_eq(ask_for(PING, 0, &more), HERMES_EAGAIN);
    ck_assert_int_eq(kill((pid_t)te_kernel_number(engine, "r", "pid"), SIGCONT), 0);
    for (int i = 0; i < 64; i++)
        answered(requests[i], "true");
    ck_assert_int_eq(hermes_kill(engine, cell, NULL), 0);
}
END_TEST

START_TEST(death_answers_all)
{
    uint64_t cell = submit("import os, signal\nprint('on')\ninput_ = os.pipe()\n"
                           "os.read(input_[0], 1)"),
             requests[3];
    pid_t pid = (pid_t)te_kernel_number(engine, "r", "pid");

    te_output(cell, "on");
    ck_assert_int_eq(kill(pid, SIGSTOP), 0);
    for (int i = 0; i < 3; i++)
        requests[i] = ask(PING, 60000);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    for (int i = 0; i < 3; i++)
        answered(requests[i], "error");
    hermes_event_free(te_done(cell));
    ck_assert_int_eq(ask_for(PING, 0, &requests[0]), HERMES_ENOENT);
}
END_TEST

START_TEST(reset_answers_all_and_the_next_kernel_answers)
{
    uint64_t cell = submit("import time\nprint('on')\ntime.sleep(99)"), request;

    te_output(cell, "on");
    ck_assert_int_eq(kill((pid_t)te_kernel_number(engine, "r", "pid"), SIGSTOP), 0);
    request = ask(PING, 60000);
    ck_assert_int_eq(hermes_reset(engine, "r", NULL), 0);
    answered(request, "error");
    hermes_event_free(te_done(cell));
    run_well("1");
    ping_says("false");
}
END_TEST

/* ---- beside what cells do --------------------------------------------------------------- */

START_TEST(a_fork_does_not_answer)
{
    run_well("import os, time\npid = os.fork()\n"
             "if not pid:\n    time.sleep(99)");
    for (int i = 0; i < 50; i++)
        ping_says("false");
    run_well("import multiprocessing\n"
             "with multiprocessing.get_context('fork').Pool(2) as p: assert p.map(abs, [-1, -2]) "
             "== [1, 2]");
    ping_says("false");
    run_well("os.kill(pid, 9); os.waitpid(pid, 0)");
}
END_TEST

/* What a new interpreter says of forks beside threads is not for a thread that nobody asked for. */
START_TEST(a_fork_makes_no_noise)
{
    struct hermes_cell cell = cell_of("import os\n"
                                      "for n in range(2):\n"
                                      "    pid = os.fork()\n"
                                      "    if not pid: os._exit(0)\n"
                                      "    os.waitpid(pid, 0)\n"
                                      "print('quiet')");
    struct hermes_result *result;

    run_well("1");
    ping_says("false");
    result = te_run_cell(engine, &cell);
    EXPECT_OUTPUT(result, "quiet\n");
    hermes_result_free(result);
    cell = cell_of("import threading, warnings\n"
                   "e = threading.Event()\n"
                   "t = threading.Thread(target=e.wait); t.start()\n"
                   "with warnings.catch_warnings(record=True) as seen:\n"
                   "    warnings.simplefilter('always')\n"
                   "    pid = os.fork()\n"
                   "    if not pid: os._exit(0)\n"
                   "    os.waitpid(pid, 0)\n"
                   "e.set(); t.join()\n"
                   "import sys\n"
                   "print(len(seen) == (sys.version_info >= (3, 12)))");
    result = te_run_cell(engine, &cell);
    EXPECT_OUTPUT(result, "True\n");
    hermes_result_free(result);
}
END_TEST

START_TEST(cells_cannot_stop_the_answers)
{
    static const char *const cells[] = {
        "import sys\nsys.setrecursionlimit(60)",
        "import threading, sys\nsys.setrecursionlimit(1000)\n"
        "def trace(*a): raise RuntimeError\n"
        "getattr(threading, 'settrace_all_threads', threading.settrace)(trace)\n"
        "sys.settrace(None)",
        "import ctypes, sys\n"
        "for ident in sys._current_frames():\n"
        "    if ident != threading.get_ident():\n"
        "        for kind in SystemExit, KeyboardInterrupt, OSError:\n"
        "            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), "
        "ctypes.py_object(kind))\n",
        "import builtins, json, os\n"
        "json.loads = os.read = os.write = None\n"
        "for name in 'len', 'sum', 'map': delattr(builtins, name)",
        "sys.modules.clear()",
    };

    run_well("1");
    ping_says("false");
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        run_well(cells[i]);
        ping_says("false");
        ping_says("false");
    }
}
END_TEST

START_TEST(an_interrupt_reaches_the_cell)
{
    for (int i = 0; i < 20; i++) {
        uint64_t cell = submit("import time\nprint('on', flush=True)\ntime.sleep(99)");
        struct hermes_event *event;

        te_output(cell, "on");
        ping_says("true");
        ck_assert_int_eq(hermes_interrupt(engine, cell, NULL, 10000), 0);
        event = te_done(cell);
        EXPECT(event->result,
               event->result->outcome == HERMES_INTERRUPTED && event->result->state_kept == 1);
        EXPECT(event->result, event->result->duration_us < 4000000);
        hermes_event_free(event);
    }
}
END_TEST

START_TEST(the_end_is_not_held_up)
{
    run_well("import atexit, os\natexit.register(os.write, 1, b'')");
    ping_says("false");
    ck_assert_int_eq(hermes_close(engine, "r", NULL), 0);
    ck_assert_int_eq(hermes_kernel_wait(engine, the_kernel, 10000), 1);
}
END_TEST

static char *answer_tool(const struct hermes_tool_call *call)
{
    (void)call;
    return strdup("{\"output\": \"done\"}");
}

START_TEST(tools_work_at_the_same_time)
{
    struct hermes_cell cell = cell_of("from hermes_tools import terminal\n"
                                      "for n in range(50): out = terminal('x')\n"
                                      "print(out)");
    struct te_thread thread;

    run_well("1");
    cell.tool_handler = answer_tool;
    te_thread_start(&thread, engine, &cell);
    for (int i = 0; i < 50; i++)
        ping_says("busy");
    te_thread_join(&thread);
    EXPECT(thread.result, te_has(thread.result, "done"));
    hermes_result_free(thread.result);
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("requests");
    TCase *answers = tcase_create("answers"), *none = tcase_create("no answer");
    TCase *cells = tcase_create("cells");

    tcase_set_timeout(answers, 60);
    tcase_add_checked_fixture(answers, set_up, te_tear_down);
    tcase_add_test(answers, an_idle_kernel_answers);
    tcase_add_test(answers, a_busy_kernel_answers);
    tcase_add_test(answers, a_loop_lets_answers_through);
    tcase_add_test(answers, nonsense_is_answered);
    tcase_add_test(answers, what_cannot_be_asked_is_refused);
    tcase_add_test(answers, a_kernel_with_requests_is_another_setting);
    suite_add_tcase(suite, answers);

    tcase_set_timeout(none, 60);
    tcase_add_checked_fixture(none, set_up, te_tear_down);
    tcase_add_test(none, a_held_lock_means_no_answer_in_time);
    tcase_add_test(none, at_most_64_wait);
    tcase_add_test(none, death_answers_all);
    tcase_add_test(none, reset_answers_all_and_the_next_kernel_answers);
    suite_add_tcase(suite, none);

    tcase_set_timeout(cells, 60);
    tcase_add_checked_fixture(cells, set_up, te_tear_down);
    tcase_add_test(cells, a_fork_does_not_answer);
    tcase_add_test(cells, a_fork_makes_no_noise);
    tcase_add_test(cells, cells_cannot_stop_the_answers);
    tcase_add_test(cells, an_interrupt_reaches_the_cell);
    tcase_add_test(cells, the_end_is_not_held_up);
    tcase_add_test(cells, tools_work_at_the_same_time);
    suite_add_tcase(suite, cells);
    return suite;
}

int main(void)
{
    return test_run(suite());
}
