/* SPDX-License-Identifier: MIT */
/*
 * Which kernel serves whom, through the public API: owners and keys, one process for many callers,
 * the cap, idle limits, reset, close, clear, children of a delegation, and the races between all of
 * these.
 */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine-testlib.h"

static struct hermes_result *run_as(const char *session, const char *child, const char *task,
                                    const char *code)
{
    struct hermes_cell cell = te_cell(session, code);

    cell.child_id = child;
    cell.task_id = task;
    return te_run_cell(engine, &cell);
}

static void says_as(const char *session, const char *child, const char *code, const char *output)
{
    struct hermes_result *result = run_as(session, child, NULL, code);

    EXPECT(result, result->outcome == HERMES_SUCCESS);
    EXPECT_OUTPUT(result, output);
    hermes_result_free(result);
}

/* ---- owners ----------------------------------------------------------------------------- */

START_TEST(state_survives_across_turns_of_one_conversation)
{
    struct hermes_result *result;

    hermes_result_free(run_as("conv-a", NULL, "turn-1", "x = 41"));
    result = run_as("conv-a", NULL, "turn-2", "print(x + 1)");
    EXPECT_OUTPUT(result, "42\n");
    EXPECT(result, result->reused);
    hermes_result_free(result);
}
END_TEST

START_TEST(without_a_session_the_task_is_the_owner)
{
    struct hermes_result *result;

    hermes_result_free(run_as(NULL, NULL, "task-1", "x = 1"));
    result = run_as(NULL, NULL, "task-1", "print(x)");
    EXPECT_OUTPUT(result, "1\n");
    hermes_result_free(result);
    result = run_as(NULL, NULL, "task-2", "print('x' in globals())");
    EXPECT_OUTPUT(result, "False\n");
    hermes_result_free(result);
}
END_TEST

START_TEST(sessions_are_isolated_from_each_other)
{
    struct hermes_result *result;

    hermes_result_free(run_as("conv-a", NULL, "turn-1", "x = 41"));
    result = run_as("conv-b", NULL, "turn-1", "print(x + 1)");
    EXPECT(result, result->outcome == HERMES_ERROR && te_error_has(result, "NameError"));
    hermes_result_free(result);
}
END_TEST

/* contract; report A12 */
START_TEST(delegated_children_get_their_own_kernels)
{
    says_as("conv-a", NULL, "secret = 'p'", "");
    says_as("conv-a", "child-1", "print(globals().get('secret', 'ISOLATED')); secret = 'c'",
            "ISOLATED\n");
    says_as("conv-a", "child-2", "print(globals().get('secret', 'ISOLATED'))", "ISOLATED\n");
    says_as("conv-a", NULL, "print(secret)", "p\n");
    says_as("conv-a", "child-1", "print(secret)", "c\n");
    ck_assert_uint_eq(te_kernel_count(engine), 3);
}
END_TEST

/* report A11: the sorted tool set is a part of the key; NULL is all, empty is none */
START_TEST(tool_sets_have_their_own_kernels)
{
    static const char *const one[] = {"read_file", "terminal", NULL}, *const same[] = {
                                                                          "terminal", "read_file",
                                                                          "terminal", NULL};
    static const char *const other[] = {"terminal", NULL}, *const none[] = {NULL};
    static const struct {
        const char *const *tools;
        bool reused;
    } steps[] = {{one, false},  {other, false}, {same, true}, {none, false},
                 {NULL, false}, {other, true},  {NULL, true}};

    te_set(engine, "max_session_kernels", "10");
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct hermes_cell cell = te_cell("a", "1");
        struct hermes_result *result;

        cell.tools = steps[i].tools;
        result = te_run_cell(engine, &cell);
        EXPECT(result, result->reused == steps[i].reused);
        if (i && !steps[i].reused)
            EXPECT(result, result->previous == HERMES_PREVIOUS_KEY_CHANGED);
        hermes_result_free(result);
    }
    ck_assert_uint_eq(te_kernel_count(engine), 4);
}
END_TEST

START_TEST(mode_and_directory_have_their_own_kernels)
{
    struct hermes_cell cell = te_cell("a", "1");
    struct hermes_result *result;

    cell.mode = HERMES_MODE_PROJECT;
    hermes_result_free(te_run_cell(engine, &cell));
    cell.mode = HERMES_MODE_STRICT;
    result = te_run_cell(engine, &cell);
    EXPECT(result, !result->reused && result->generation == 2 &&
                       result->previous == HERMES_PREVIOUS_KEY_CHANGED);
    hermes_result_free(result);
    cell.mode = HERMES_MODE_PROJECT;
    cell.cwd = test_directory();
    result = te_run_cell(engine, &cell);
    EXPECT(result, !result->reused && result->generation == 3);
    hermes_result_free(result);
    cell.cwd = NULL;
    result = te_run_cell(engine, &cell);
    EXPECT(result, result->reused && result->generation == 1);
    hermes_result_free(result);
}
END_TEST

/* report A13 */
START_TEST(stale_kernel_mode_is_ignored)
{
    static const char *const texts[] = {"{\"kernel_mode\": \"per-call\"}",
                                        "{\"kernel_mode\": \"\"}", "{\"kernel_mode\": null}",
                                        "{\"kernel_mode\": \"forever\"}"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *warnings = NULL;

        ck_assert_int_eq(hermes_configure(engine, texts[i], strlen(texts[i]), &warnings, NULL), 0);
        ck_assert_ptr_null(warnings);
        te_succeeds("a", "x = 41");
        te_says("a", "print(x + 1)", "42\n");
    }
}
END_TEST

/* report A36 */
START_TEST(nonsense_limits_fall_back)
{
    char *value;
    struct hermes_error error;

    ck_assert_int_eq(hermes_set_option(engine, "max_session_kernels", "abc", &error),
                     HERMES_ERANGE);
    ck_assert_int_eq(hermes_get_option(engine, "max_session_kernels", &value), 0);
    ck_assert_str_eq(value, "4");
    hermes_free(value);
    ck_assert_int_eq(hermes_set_option(engine, "max_session_kernels", "-3", &error), HERMES_ERANGE);
    ck_assert_int_eq(hermes_get_option(engine, "max_session_kernels", &value), 0);
    ck_assert_str_eq(value, "1");
    hermes_free(value);
    te_succeeds("a", "1");
    te_succeeds("b", "1");
    ck_assert_uint_eq(te_kernel_count(engine), 1);
}
END_TEST

/* ---- one process for many callers ------------------------------------------------------- */

/* contract, report A1, B16, cases 188 */
START_TEST(parallel_cells_share_one_kernel_process)
{
    enum { THREADS = 6 };
    struct hermes_cell cell = te_cell("conv-a", "import time; time.sleep(0.3)");
    struct te_thread threads[THREADS];
    unsigned counts = 0, fresh = 0;
    int64_t start = test_now_ms();

    for (size_t i = 0; i < THREADS; i++)
        te_thread_start(&threads[i], engine, &cell);
    ck_assert(test_wait(te_kernel_count(engine) == 1 && te_runners() == 1, TE_DEADLINE_MS));
    for (size_t i = 0; i < THREADS; i++) {
        struct hermes_result *result;

        te_thread_join(&threads[i]);
        result = threads[i].result;
        EXPECT(result, result->outcome == HERMES_SUCCESS && result->generation == 1);
        EXPECT(result, result->reused == (result->execution_count > 1));
        counts |= 1u << result->execution_count;
        fresh += !result->reused;
        hermes_result_free(result);
    }
    ck_assert_int_ge(test_now_ms() - start, 1800); /* they did not overlap */
    ck_assert_uint_eq(counts, 0x7e);
    ck_assert_uint_eq(fresh, 1);
    ck_assert_uint_eq(te_kernel_count(engine), 1);
    ck_assert_uint_eq(te_runners(), 1);
}
END_TEST

/* report A1: many threads, a few owners, one counter each */
START_TEST(many_threads_on_a_few_owners)
{
    enum { OWNERS = 4, MOST = 64 };
    static const char *const owners[OWNERS] = {"o0", "o1", "o2", "o3"};
    size_t count = te_long() ? MOST : 24;
    struct te_thread threads[MOST];
    char expected[32];

    for (size_t i = 0; i < count; i++) {
        struct hermes_cell cell = te_cell(owners[i % OWNERS], "n = globals().get('n', 0) + 1");

        te_thread_start(&threads[i], engine, &cell);
    }
    for (size_t i = 0; i < count; i++) {
        te_thread_join(&threads[i]);
        EXPECT(threads[i].result, threads[i].result->outcome == HERMES_SUCCESS);
        hermes_result_free(threads[i].result);
    }
    snprintf(expected, sizeof expected, "%zu\n", count / OWNERS);
    for (size_t i = 0; i < OWNERS; i++)
        te_says(owners[i], "print(n)", expected);
    ck_assert_uint_eq(te_runners(), OWNERS);
}
END_TEST

/* ---- the cap ---------------------------------------------------------------------------- */

static bool lives(const char *owner)
{
    return te_kernel_number(engine, owner, "pid") > 0;
}

/* contract, cases 190 */
START_TEST(live_kernels_are_capped_lru_across_owners)
{
    static const char *const owners[] = {"conv-0", "conv-1", "conv-2", "conv-3"};
    uint64_t ids[4];
    pid_t pids[4];

    te_set(engine, "max_session_kernels", "2");
    for (size_t i = 0; i < 4; i++) {
        struct hermes_result *result = te_run(owners[i], "x = 1");

        ids[i] = result->kernel;
        pids[i] = (pid_t)result->kernel_pid;
        hermes_result_free(result);
        ck_assert_uint_le(te_kernel_count(engine), 2);
    }
    ck_assert(lives("conv-2") && lives("conv-3") && !lives("conv-0") && !lives("conv-1"));
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(hermes_kernel_wait(engine, ids[i], TE_DEADLINE_MS), 1);
        ck_assert(!test_process_lives(pids[i]));
        ck_assert_int_eq(test_process_state(pids[i]), 0); /* nor a zombie */
    }
    ck_assert_uint_eq(te_runners(), 2);
    te_succeeds("conv-2", "1"); /* used now: the other one is the oldest */
    te_succeeds("conv-4", "1");
    ck_assert(lives("conv-2") && lives("conv-4"));
    /* report A10 */
    te_says_fresh("conv-0", "print('x' in globals())", "False\n", HERMES_PREVIOUS_EVICTED);
}
END_TEST

/* report A2, cases 190: a busy kernel is never evicted */
START_TEST(the_cap_spares_busy_kernels)
{
    struct hermes_cell cell = te_cell("a", NULL);
    struct te_thread thread;
    char code[400];

    te_set(engine, "max_session_kernels", "1");
    snprintf(code, sizeof code,
             "import os, time\nx = 'kept'\nopen('%s', 'w').write('1')\nwhile not "
             "os.path.exists('%s'): time.sleep(0.005)\nprint('ok')",
             test_path("here"), test_path("go"));
    cell.code = code;
    te_thread_start(&thread, engine, &cell);
    ck_assert(te_wait_file(test_path("here")));
    te_says("b", "print(1)", "1\n");
    te_says("c", "print(1)", "1\n");
    test_write_file(test_path("go"), "", 0600);
    te_thread_join(&thread);
    EXPECT(thread.result, thread.result->outcome == HERMES_SUCCESS);
    EXPECT_OUTPUT(thread.result, "ok\n");
    hermes_result_free(thread.result);
    ck_assert_uint_le(te_kernel_count(engine), 1);
    te_says("a", "print(x)", "kept\n"); /* it was used last: the others went */
}
END_TEST

START_TEST(a_lower_cap_takes_effect_at_once)
{
    static const char *const owners[] = {"a", "b", "c", "d"};

    for (size_t i = 0; i < 4; i++)
        te_succeeds(owners[i], "1");
    ck_assert_uint_eq(te_kernel_count(engine), 4);
    te_set(engine, "max_session_kernels", "1");
    ck_assert_uint_eq(te_kernel_count(engine), 1);
    ck_assert(lives("d"));
    ck_assert(test_wait(te_runners() == 1, TE_DEADLINE_MS));
}
END_TEST

static int status_of(const char *owner, bool start)
{
    struct hermes_cell cell = te_cell(owner, "1");
    struct hermes_result *result = NULL;
    uint64_t kernel;
    int status = start ? hermes_start(engine, &cell, &kernel, NULL)
                       : hermes_execute(engine, &cell, &result, NULL);

    hermes_result_free(result);
    return status;
}

START_TEST(pinned_sessions_stay)
{
    struct hermes_cell cell = te_cell("c", "import time\nprint('on', flush=True)\ntime.sleep(99)");
    uint64_t busy;

    ck_assert_int_eq(hermes_pin(engine, NULL, true), HERMES_EINVAL);
    ck_assert_int_eq(hermes_pin(engine, "nobody", false), 0);
    te_set(engine, "max_session_kernels", "3");
    ck_assert_int_eq(hermes_pin(engine, "a", true), 0); /* before it has a kernel */
    ck_assert_int_eq(hermes_pin(engine, "a", true), 0);
    te_says("a", "x = 1", "");
    te_says("b", "x = 2", "");
    te_says("c", "x = 3", "");
    ck_assert(te_kernel_number(engine, "a", "pinned") == 1);
    te_says("d", "x = 4", ""); /* b was used longer ago than c, but a is older */
    ck_assert(lives("a") && !lives("b") && lives("c") && lives("d"));
    ck_assert_int_eq(hermes_pin(engine, "d", true), 0);
    busy = te_submit_cell(&cell);
    te_output(busy, "on");
    ck_assert_int_eq(status_of("e", false), HERMES_EAGAIN);
    ck_assert_int_eq(status_of("e", true), HERMES_EAGAIN);
    te_says("a", "print(x)", "1\n"); /* needs none more */
    ck_assert_int_eq(hermes_pin(engine, "d", false), 0);
    ck_assert_int_eq(status_of("e", false), 0);
    ck_assert(lives("a") && lives("c") && !lives("d") && lives("e"));
    ck_assert_int_eq(hermes_kill(engine, busy, NULL), 0);
    hermes_event_free(te_done(busy));
    te_set(engine, "kernel_idle_timeout", "1");
    ck_assert(test_wait(!lives("e"), TE_DEADLINE_MS));
    ck_assert(lives("a"));
    ck_assert_int_eq(hermes_pin(engine, "a", false), 0);
    ck_assert(test_wait(!lives("a"), TE_DEADLINE_MS));
}
END_TEST

/* report A9 */
START_TEST(children_are_pinned)
{
    static const char *const children[] = {"c0", "c1", "c2", "c3", "c4"};
    char code[64], expected[16];

    te_set(engine, "max_session_kernels", "2");
    for (size_t i = 0; i < 5; i++) {
        snprintf(code, sizeof code, "v = %zu", i);
        says_as("p", children[i], code, "");
    }
    te_succeeds("q", "1");
    te_succeeds("r", "1");
    te_succeeds("s", "1");
    for (size_t i = 0; i < 5; i++) {
        struct hermes_result *result = run_as("p", children[i], NULL, "print(v)");

        snprintf(expected, sizeof expected, "%zu\n", i);
        EXPECT_OUTPUT(result, expected);
        EXPECT(result, result->reused);
        hermes_result_free(result);
    }
    ck_assert_uint_eq(te_kernel_count(engine), 7); /* five, and two under the cap */
    ck_assert(te_kernel_number(engine, "p::child::c0", "pinned") == 1 &&
              te_kernel_number(engine, "s", "pinned") == 0);
    ck_assert_int_eq(hermes_child_end(engine, "p", "c0"), 0);
    ck_assert_uint_eq(te_kernel_count(engine), 6);
    ck_assert_uint_eq(te_runners(), 6);
    says_as("p", "c1", "print(v)", "1\n");
    ck_assert_int_eq(hermes_session_clear(engine, "p"), 0); /* the owner itself, not its children */
    ck_assert_uint_eq(te_kernel_count(engine), 6);
}
END_TEST

/* ---- idle limits ------------------------------------------------------------------------ */

/* contract, report A5, cases 191: no call is needed */
START_TEST(idle_kernels_go_without_traffic)
{
    int64_t start;

    te_set(engine, "kernel_idle_timeout", "1");
    te_succeeds("a", "x = 1");
    start = test_now_ms();
    ck_assert(test_wait(te_runners() == 0, TE_DEADLINE_MS));
    ck_assert_int_ge(test_now_ms() - start, 900);
    ck_assert_int_lt(test_now_ms() - start, test_scaled_ms(4000));
    te_says_fresh("a", "print('x' in globals())", "False\n", HERMES_PREVIOUS_IDLE);
}
END_TEST

/* report A3: idle time counts from the end of the last cell, and waiting cells count as use */
START_TEST(a_long_cell_is_no_idleness)
{
    struct hermes_result *result;

    te_set(engine, "kernel_idle_timeout", "1");
    te_succeeds("a", "x = 1; import time; time.sleep(1.3)");
    te_succeeds("b", "1");
    result = te_run("a", "print(x)");
    EXPECT(result, result->reused);
    EXPECT_OUTPUT(result, "1\n");
    hermes_result_free(result);
}
END_TEST

START_TEST(an_idle_limit_set_later_counts)
{
    te_set(engine, "kernel_idle_timeout", "off");
    te_succeeds("a", "1");
    te_set(engine, "kernel_idle_timeout", "1");
    ck_assert(test_wait(te_runners() == 0, TE_DEADLINE_MS));
}
END_TEST

/* ---- reset, close, clear ---------------------------------------------------------------- */

/* report A10: why a fresh kernel serves an owner is told once, for each cause */
START_TEST(each_loss_has_its_cause)
{
    uint64_t cell;

    te_succeeds("a", "x = 1");
    ck_assert_int_eq(hermes_reset(engine, "a", NULL), 0);
    te_says_fresh("a", "print('x' in globals())", "False\n", HERMES_PREVIOUS_RESET);
    ck_assert_int_eq(hermes_session_clear(engine, "a"), 0);
    te_says_fresh("a", "print(1)", "1\n", HERMES_PREVIOUS_KILLED);
    ck_assert_int_eq(hermes_close(engine, "a", NULL), 0);
    te_says_fresh("a", "print(1)", "1\n", HERMES_PREVIOUS_EXITED);
    hermes_result_free(te_run_timeout("a", "while True: pass", 200));
    te_says_fresh("a", "print(1)", "1\n", HERMES_PREVIOUS_TIMEOUT);
    hermes_result_free(te_run("a", "import os; os._exit(1)"));
    te_says_fresh("a", "print(1)", "1\n", HERMES_PREVIOUS_DIED);
    cell = te_submit("a", "import time; print('r', flush=True); time.sleep(60)");
    te_output(cell, "r");
    hermes_kill(engine, cell, NULL);
    hermes_event_free(te_done(cell));
    te_says_fresh("a", "print(1)", "1\n", HERMES_PREVIOUS_KILLED);
    te_says("a", "print(2)", "2\n");
}
END_TEST

/* report A16: the result of a cell that a reset ended is its own; nothing of it shows up later */
START_TEST(a_reset_settles_running_and_queued_cells)
{
    uint64_t old = te_submit(
                 "a", "import time; print('begun', flush=True); time.sleep(60); print('OLD')"),
             queued;
    struct hermes_event *event;

    queued = te_submit("a", "print('OLD')");
    te_output(old, "begun");
    ck_assert_int_eq(hermes_reset(engine, "a", NULL), 0);
    te_says_fresh("a", "print('NEW')", "NEW\n", HERMES_PREVIOUS_RESET);
    event = te_done(queued);
    EXPECT(event->result, event->result->outcome == HERMES_INTERRUPTED && !event->result->started);
    EXPECT(event->result, te_error_has(event->result, "Not run") && !te_has(event->result, "OLD"));
    hermes_event_free(event);
    event = te_done(old);
    EXPECT(event->result,
           event->result->outcome == HERMES_INTERRUPTED && event->result->state_kept == 0);
    EXPECT(event->result, te_has(event->result, "begun") && !te_has(event->result, "OLD"));
    hermes_event_free(event);
    te_says("a", "print('clean')", "clean\n");
}
END_TEST

/* A cell with the reset flag lets what is attached to the old kernel finish there. */
START_TEST(a_reset_cell_lets_others_finish)
{
    char code[300];
    uint64_t old, waiting;
    struct hermes_event *event;
    struct hermes_result *result;

    te_succeeds("a", "x = 'old'");
    snprintf(code, sizeof code,
             "import os, time\nprint('r', flush=True)\nwhile not os.path.exists('%s'): "
             "time.sleep(0.005)\nprint(x)",
             test_path("go"));
    old = te_submit("a", code);
    te_output(old, "r");
    waiting = te_submit("a", "print(x, 'too')");
    result = te_run_flags("a", "print('x' in globals()); x = 'new'", HERMES_CELL_RESET);
    EXPECT_OUTPUT(result, "False\n");
    EXPECT(result, result->previous == HERMES_PREVIOUS_RESET && result->state_reset &&
                       result->generation == 2);
    hermes_result_free(result);
    test_write_file(test_path("go"), "", 0600);
    event = te_done(old);
    EXPECT_OUTPUT(event->result, "r\nold\n");
    hermes_event_free(event);
    event = te_done(waiting);
    EXPECT_OUTPUT(event->result, "old too\n");
    EXPECT(event->result, event->result->generation == 1);
    hermes_event_free(event);
    te_says("a", "print(x)", "new\n");
    ck_assert(test_wait(te_runners() == 1, TE_DEADLINE_MS)); /* the last one out shut the door */
}
END_TEST

/* Close: the running cell finishes, then Python ends as Python does. */
/* A cell that exits takes its kernel along, and no cell behind it: however long the exit takes. */
START_TEST(an_exit_leaves_queued_cells_to_the_next)
{
    struct hermes_event *event;
    char code[500];
    uint64_t first, second;

    snprintf(code, sizeof code,
             TE_WAIT "import threading\n"
                     "threading.Thread(target=time.sleep, args=(1000,)).start()\n"
                     "wait('%s')\nsys.exit(3)",
             test_path("go"));
    first = te_submit("a", code);
    second = te_submit("a", "print('here')");
    te_started(first);
    test_write_file(test_path("go"), "x", 0600);
    event = te_done(first);
    EXPECT(event->result, event->result->exit_code == 3 && event->result->ended);
    hermes_event_free(event);
    event = te_done(second);
    EXPECT(event->result, event->result->outcome == HERMES_SUCCESS && !event->result->reused);
    EXPECT(event->result, event->result->previous == HERMES_PREVIOUS_EXITED);
    hermes_event_free(event);
    do {
        event = te_event(HERMES_EVENT_KERNEL, 0);
        if (event->state == HERMES_KERNEL_STOPPING)
            break;
        hermes_event_free(event);
    } while (true);
    ck_assert_int_eq(event->cause, HERMES_PREVIOUS_EXITED);
    hermes_event_free(event);
}
END_TEST

/* A cell whose kernel takes a second to be killed. */
static uint64_t submit_tenacious(void)
{
    char code[600];

    te_set(engine, "kill_grace", "1");
    snprintf(code, sizeof code,
             TE_WAIT "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                     "touch('%s')\ntime.sleep(1000)",
             test_path("here"));
    return te_submit("a", code);
}

/*
 * A cell that waits at a kernel that is being killed is not overtaken by one that is submitted
 * while the kill takes its time.
 */
START_TEST(a_killed_kernels_queue_is_not_overtaken)
{
    uint64_t ids[3];
    struct hermes_event *event;

    ids[0] = submit_tenacious();
    ids[1] = te_submit("a", "order = [1]");
    ck_assert(te_wait_file(test_path("here")));
    ck_assert_int_eq(hermes_kill(engine, ids[0], NULL), 0);
    ids[2] = te_submit("a", "print(globals().get('order'))");
    event = te_done(ids[2]);
    EXPECT_OUTPUT(event->result, "[1]\n");
    hermes_event_free(event);
    for (int i = 0; i < 2; i++)
        hermes_event_free(te_done(ids[i]));
}
END_TEST

/* Its cells go to a fresh kernel: that one counts, too. */
START_TEST(a_killed_kernels_queue_keeps_the_cap)
{
    uint64_t ids[2];

    te_set(engine, "max_session_kernels", "1");
    ids[0] = submit_tenacious();
    ids[1] = te_submit("a", "1");
    ck_assert(te_wait_file(test_path("here")));
    ck_assert_int_eq(hermes_kill(engine, ids[0], NULL), 0);
    te_succeeds("b", "1"); /* takes the place of the one that dies */
    hermes_event_free(te_done(ids[0]));
    ck_assert_uint_eq(te_kernel_count(engine), 1);
    hermes_event_free(te_done(ids[1]));
    ck_assert_uint_eq(te_kernel_count(engine), 1);
}
END_TEST

START_TEST(close_is_orderly)
{
    char code[500];
    uint64_t running, queued;
    struct hermes_event *event;
    int64_t kernel;

    snprintf(
        code, sizeof code,
        "import atexit, time, threading\natexit.register(lambda: open('%s', 'w').write('bye'))\n"
        "threading.Thread(target=lambda: (time.sleep(0.2), open('%s', "
        "'w').write('joined'))).start()\n"
        "print('r', flush=True); time.sleep(0.1); print('end')",
        test_path("bye"), test_path("joined"));
    running = te_submit("a", code);
    queued = te_submit("a", "print('never')");
    te_output(running, "r");
    ck_assert_int_eq(hermes_close(engine, "a", NULL), 0);
    event = te_done(running);
    EXPECT(event->result, event->result->outcome == HERMES_SUCCESS && te_has(event->result, "end"));
    kernel = (int64_t)event->result->kernel;
    hermes_event_free(event);
    event = te_done(queued);
    EXPECT(event->result, event->result->outcome == HERMES_INTERRUPTED && !event->result->started);
    hermes_event_free(event);
    ck_assert_int_eq(hermes_kernel_wait(engine, (uint64_t)kernel, TE_DEADLINE_MS), 1);
    ck_assert(test_exists(test_path("bye")) && test_exists(test_path("joined")));
}
END_TEST

/* cases 169: an orderly end is bounded */
START_TEST(close_is_bounded)
{
    struct hermes_result *result =
        te_run("a", "import threading\nthreading.Thread(target=threading.Event().wait).start()");

    te_set(engine, "shutdown_grace", "0.3");
    ck_assert_int_eq(hermes_close(engine, "a", NULL), 0);
    ck_assert_int_eq(hermes_kernel_wait(engine, result->kernel, TE_DEADLINE_MS), 1);
    hermes_result_free(result);
}
END_TEST

/* contract */
START_TEST(session_clear_disposes_the_owners_kernels)
{
    struct hermes_result *result = te_run("conv-a", "x = 41");
    pid_t pid = (pid_t)result->kernel_pid;

    hermes_result_free(result);
    te_succeeds("conv-b", "y = 1");
    ck_assert_uint_eq(te_kernel_count(engine), 2);
    ck_assert_int_eq(hermes_session_clear(engine, "conv-a"), 0);
    ck_assert_uint_eq(te_kernel_count(engine), 1);
    ck_assert_int_eq(test_process_state(pid), 0); /* gone and reaped when the call returns */
    te_says_fresh("conv-a", "print('x' in dir())", "False\n", HERMES_PREVIOUS_KILLED);
    te_says("conv-b", "print(y)", "1\n");
}
END_TEST

/* report A8: a closed session leaves nothing, whatever its cell did */
START_TEST(session_clear_ends_a_running_cell)
{
    struct hermes_cell cell = te_cell("a", NULL);
    struct te_thread thread;
    char code[400];

    snprintf(code, sizeof code,
             "import subprocess, signal, time\nsignal.signal(15, signal.SIG_IGN)\n"
             "subprocess.Popen(['sleep', '99'], start_new_session=True)\nopen('%s', "
             "'w').write('1')\ntime.sleep(60)",
             test_path("here"));
    cell.code = code;
    te_thread_start(&thread, engine, &cell);
    ck_assert(te_wait_file(test_path("here")));
    ck_assert_int_eq(hermes_session_clear(engine, "a"), 0);
    te_no_process_left();
    te_thread_join(&thread);
    EXPECT(thread.result,
           thread.result->outcome == HERMES_INTERRUPTED && thread.result->state_kept == 0);
    hermes_result_free(thread.result);
}
END_TEST

START_TEST(shutdown_settles_everything)
{
    struct hermes_cell cells[] = {te_cell("a", "import time; time.sleep(60)"),
                                  te_cell("a", "print('queued')"), te_cell("b", "while True: pass"),
                                  te_cell("c", "import time; time.sleep(60)")};
    struct te_thread threads[4];

    for (size_t i = 0; i < 4; i++) {
        te_thread_start(&threads[i], engine, &cells[i]);
        if (i == 0) /* the next one is to stand behind it */
            ck_assert(test_wait(te_kernel_count(engine) == 1, TE_DEADLINE_MS));
    }
    ck_assert(
        test_wait(te_kernel_count(engine) == 3 && te_kernel_number(engine, "a", "attached") == 2,
                  TE_DEADLINE_MS));
    ck_assert_int_eq(hermes_shutdown_all(engine), 0);
    te_no_process_left();
    for (size_t i = 0; i < 4; i++) {
        te_thread_join(&threads[i]);
        EXPECT(threads[i].result, threads[i].result->outcome == HERMES_INTERRUPTED);
        hermes_result_free(threads[i].result);
    }
    ck_assert_uint_eq(te_kernel_count(engine), 0);
    te_says("a", "print('again')", "again\n");
}
END_TEST

/* ---- races ------------------------------------------------------------------------------ */

struct clearer {
    bool stop;
    int calls;
};

static void *clear_again_and_again(void *argument)
{
    struct clearer *clearer = argument;

    while (!__atomic_load_n(&clearer->stop, __ATOMIC_RELAXED)) {
        hermes_session_clear(engine, "a");
        clearer->calls++;
    }
    return NULL;
}

/* report A4 */
START_TEST(clear_races_with_cells)
{
    struct clearer clearer = {false, 0};
    int rounds = te_long() ? 200 : 40;
    size_t directories;
    pthread_t thread;

    te_succeeds("a", "1");
    hermes_session_clear(engine, "a");
    directories = te_staging_count();
    ck_assert_int_eq(pthread_create(&thread, NULL, clear_again_and_again, &clearer), 0);
    for (int i = 0; i < rounds; i++) {
        struct hermes_result *result = te_run("a", "print('1')");

        EXPECT(result, result->outcome == HERMES_SUCCESS || result->outcome == HERMES_INTERRUPTED);
        EXPECT(result, result->outcome != HERMES_SUCCESS || te_has(result, "1\n"));
        hermes_result_free(result);
    }
    __atomic_store_n(&clearer.stop, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    ck_assert_int_gt(clearer.calls, 0);
    ck_assert_int_eq(hermes_shutdown_all(engine), 0);
    te_no_process_left();
    ck_assert_uint_eq(te_staging_count(), directories);
}
END_TEST

struct player {
    int number, rounds;
    bool stop;
};

/*
 * Everything at once, from many threads: nothing is lost, hangs or is served by the wrong kernel.
 */
static void *play(void *argument)
{
    static const char *const owners[] = {"p", "q", "r"};
    struct player *player = argument;
    unsigned random = (unsigned)player->number * 7919u + 1;

    for (int i = 0; i < player->rounds; i++) {
        struct hermes_cell cell = HERMES_CELL_INIT;
        struct hermes_result *result = NULL;
        const char *owner;

        random = random * 1103515245u + 12345u;
        owner = owners[(random >> 8) % 3];
        cell.session = owner;
        switch ((random >> 16) % 12) {
        case 0:
            hermes_reset(engine, owner, NULL);
            break;
        case 1:
            hermes_session_clear(engine, owner);
            break;
        case 2:
            hermes_close(engine, owner, NULL);
            break;
        case 3:
            cell.flags = HERMES_CELL_RESET;
            /* fall through */
        default:
            cell.code = (random >> 20) % 5 ? "print('fine')" : "import os; os._exit(3)";
            if (hermes_execute(engine, &cell, &result, NULL) || !result)
                return (void *)"a call failed";
            if (result->outcome == HERMES_SUCCESS && strcmp(result->output, "fine\n") != 0)
                return (void *)"a wrong output";
            if (result->outcome == HERMES_TIMEOUT || result->start_failed)
                return (void *)"a wrong outcome";
            hermes_result_free(result);
        }
    }
    return NULL;
}

START_TEST(everything_at_once)
{
    enum { PLAYERS = 6 };
    struct player players[PLAYERS];
    pthread_t threads[PLAYERS];
    void *fault;

    te_set(engine, "max_session_kernels", "2");
    for (int i = 0; i < PLAYERS; i++) {
        players[i] = (struct player){i, te_long() ? 300 : 25, false};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, play, &players[i]), 0);
    }
    for (int i = 0; i < PLAYERS; i++) {
        pthread_join(threads[i], &fault);
        ck_assert_msg(!fault, "%s", (char *)fault);
    }
    ck_assert_int_eq(hermes_shutdown_all(engine), 0);
    te_no_process_left();
}
END_TEST

/* ---- resources -------------------------------------------------------------------------- */

/* 500 resets leave nothing: no descriptor, process, directory or byte */
START_TEST(resets_leave_nothing)
{
    int rounds = te_long() ? 500 : 40;
    struct hermes_cell cell = te_cell("a", "x = 1");
    long before = 0;
    size_t fds, directories;

    cell.mode = HERMES_MODE_STRICT;
    hermes_result_free(te_run_cell(engine, &cell));
    fds = te_fd_count();
    directories = te_staging_count();
    cell.flags = HERMES_CELL_RESET;
    for (int i = 0; i < rounds; i++) {
        struct hermes_result *result = te_run_cell(engine, &cell);

        EXPECT(result,
               result->outcome == HERMES_SUCCESS && result->previous == HERMES_PREVIOUS_RESET);
        hermes_result_free(result);
        if (i == rounds / 10)
            before = te_memory_kb(getpid(), "VmRSS");
    }
    ck_assert(
        test_wait(te_runners() == 1 && te_staging_count() == directories && te_fd_count() == fds,
                  TE_DEADLINE_MS));
    if (!TE_SANITIZED)
        ck_assert_int_lt(te_memory_kb(getpid(), "VmRSS") - before, 1000);
}
END_TEST

START_TEST(kernels_as_json)
{
    static const char *const members[] = {"io",
                                          "id",
                                          "owner",
                                          "session",
                                          "child",
                                          "mode",
                                          "python",
                                          "cwd",
                                          "tools",
                                          "state",
                                          "pid",
                                          "guard_pid",
                                          "execution_count",
                                          "generation",
                                          "attached",
                                          "pinned",
                                          "age_seconds",
                                          "idle_seconds"};
    static const char *const tools[] = {"terminal", "a", NULL};
    struct hermes_cell cell = te_cell("a\"\xc3\xa4", "1");
    struct hermes_result *result;
    cJSON *kernels;
    const cJSON *kernel;

    cell.tools = tools;
    cell.child_id = "kid";
    result = te_run_cell(engine, &cell);
    kernels = te_kernels(engine);
    ck_assert_int_eq(cJSON_GetArraySize(kernels), 1);
    kernel = cJSON_GetArrayItem(kernels, 0);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        ck_assert_msg(cJSON_GetObjectItemCaseSensitive(kernel, members[i]) != NULL, "no %s",
                      members[i]);
    ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(kernel, "owner")->valuestring,
                     "a\"\xc3\xa4::child::kid");
    ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(kernel, "state")->valuestring, "idle");
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(kernel, "tools")), 2);
    ck_assert_int_eq(cJSON_GetObjectItemCaseSensitive(kernel, "pid")->valueint,
                     (int)result->kernel_pid);
    ck_assert_int_eq(cJSON_GetObjectItemCaseSensitive(kernel, "id")->valueint, (int)result->kernel);
    ck_assert_int_eq(
        test_process_parent(cJSON_GetObjectItemCaseSensitive(kernel, "guard_pid")->valueint),
        getpid());
    cJSON_Delete(kernels);
    hermes_result_free(result);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("registry");
    TCase *owners = tcase_create("owners"), *limits = tcase_create("limits"),
          *ends = tcase_create("ends");
    TCase *races = tcase_create("races");
    TCase *all[] = {owners, limits, ends, races};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        tcase_add_checked_fixture(all[i], te_set_up, te_tear_down);
        tcase_set_timeout(all[i], te_long() ? 600 : 120);
        suite_add_tcase(suite, all[i]);
    }
    tcase_add_test(owners, state_survives_across_turns_of_one_conversation);
    tcase_add_test(owners, without_a_session_the_task_is_the_owner);
    tcase_add_test(owners, sessions_are_isolated_from_each_other);
    tcase_add_test(owners, delegated_children_get_their_own_kernels);
    tcase_add_test(owners, tool_sets_have_their_own_kernels);
    tcase_add_test(owners, mode_and_directory_have_their_own_kernels);
    tcase_add_test(owners, stale_kernel_mode_is_ignored);
    tcase_add_test(owners, nonsense_limits_fall_back);
    tcase_add_test(limits, live_kernels_are_capped_lru_across_owners);
    tcase_add_test(limits, the_cap_spares_busy_kernels);
    tcase_add_test(limits, a_lower_cap_takes_effect_at_once);
    tcase_add_test(limits, pinned_sessions_stay);
    tcase_add_test(limits, children_are_pinned);
    tcase_add_test(limits, idle_kernels_go_without_traffic);
    tcase_add_test(limits, a_long_cell_is_no_idleness);
    tcase_add_test(limits, an_idle_limit_set_later_counts);
    tcase_add_test(ends, each_loss_has_its_cause);
    tcase_add_test(ends, a_reset_settles_running_and_queued_cells);
    tcase_add_test(ends, a_reset_cell_lets_others_finish);
    tcase_add_test(ends, an_exit_leaves_queued_cells_to_the_next);
    tcase_add_test(ends, a_killed_kernels_queue_is_not_overtaken);
    tcase_add_test(ends, a_killed_kernels_queue_keeps_the_cap);
    tcase_add_test(ends, close_is_orderly);
    tcase_add_test(ends, close_is_bounded);
    tcase_add_test(ends, session_clear_disposes_the_owners_kernels);
    tcase_add_test(ends, session_clear_ends_a_running_cell);
    tcase_add_test(ends, shutdown_settles_everything);
    tcase_add_test(races, parallel_cells_share_one_kernel_process);
    tcase_add_test(races, many_threads_on_a_few_owners);
    tcase_add_test(races, clear_races_with_cells);
    tcase_add_test(races, everything_at_once);
    tcase_add_test(races, resets_leave_nothing);
    tcase_add_test(races, kernels_as_json);
    return test_run(suite);
}
