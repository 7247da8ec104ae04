/* SPDX-License-Identifier: MIT */
/*
 * Events: their order, the descriptor that tells of them, waiting and waking, display data, back
 * pressure.
 */
#include "config.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "engine-testlib.h"

static struct hermes_event *next_event(int64_t timeout_ms)
{
    struct hermes_event *event;

    ck_assert_int_eq(hermes_next_event(engine, timeout_ms, &event), 0);
    return event;
}

static bool readable(int fd, int timeout_ms)
{
    struct pollfd item = {.fd = fd, .events = POLLIN};

    return poll(&item, 1, timeout_ms) == 1 && (item.revents & POLLIN);
}

/* The next event that is not about a kernel's state. */
static struct hermes_event *next_of_cell(void)
{
    struct hermes_event *event;

    while ((event = next_event(TE_DEADLINE_MS)) && event->type == HERMES_EVENT_KERNEL)
        hermes_event_free(event);
    ck_assert_ptr_nonnull(event);
    return event;
}

START_TEST(a_cell_has_its_events_in_order)
{
    uint64_t cell = te_submit("a", "import sys\nprint('out'); print('err', file=sys.stderr)");
    char text[2][64] = {"", ""};
    struct hermes_event *event = next_of_cell();

    ck_assert_int_eq(event->type, HERMES_EVENT_STARTED);
    ck_assert_uint_eq(event->cell, cell);
    ck_assert_uint_eq(event->execution_count, 1);
    ck_assert_uint_ne(event->kernel, 0);
    hermes_event_free(event);
    while ((event = next_of_cell())->type == HERMES_EVENT_OUTPUT) {
        ck_assert(event->stream == 1 || event->stream == 2);
        ck_assert_uint_eq(event->cell, cell);
        strncat(text[event->stream - 1], event->data, event->size);
        hermes_event_free(event);
    }
    ck_assert_int_eq(event->type, HERMES_EVENT_DONE);
    ck_assert_uint_eq(event->cell, cell);
    EXPECT_OUTPUT(event->result, "out\n--- stderr ---\nerr\n");
    hermes_event_free(event);
    ck_assert_str_eq(text[0], "out\n");
    ck_assert_str_eq(text[1], "err\n");
}
END_TEST

/* report A30: what is printed is told while the cell runs, line by line; raw, as it came */
START_TEST(output_is_live)
{
    char code[300];
    uint64_t cell;
    struct hermes_event *event;

    snprintf(code, sizeof code,
             "import os, time\nprint('\\x1b[1mfirst')\nwhile not os.path.exists('%s'): "
             "time.sleep(0.005)\nprint('second')",
             test_path("go"));
    cell = te_submit("a", code);
    te_output(cell, "\x1b[1mfirst\n"); /* it waits for us now */
    test_write_file(test_path("go"), "", 0600);
    te_output(cell, "second\n");
    event = te_done(cell);
    EXPECT_OUTPUT(event->result, "first\nsecond\n");
    hermes_event_free(event);
}
END_TEST

START_TEST(kernel_states_are_told)
{
    static const enum hermes_kernel_state expected[] = {
        HERMES_KERNEL_STARTING, HERMES_KERNEL_BUSY,     HERMES_KERNEL_IDLE, HERMES_KERNEL_BUSY,
        HERMES_KERNEL_IDLE,     HERMES_KERNEL_STOPPING, HERMES_KERNEL_DEAD};
    uint64_t cell, kernel = 0;
    struct hermes_event *event;

    for (int i = 0; i < 2; i++) {
        cell = te_submit("a", "1");
        event = te_done(cell);
        kernel = event->kernel;
        hermes_event_free(event);
    }
    ck_assert_int_eq(hermes_reset(engine, "a", NULL), 0);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        event = te_event(HERMES_EVENT_KERNEL, kernel);
        ck_assert_int_eq(event->state, expected[i]);
        ck_assert_str_eq(event->session, "a");
        ck_assert_uint_eq(event->cell, 0);
        if (event->state == HERMES_KERNEL_STOPPING || event->state == HERMES_KERNEL_DEAD)
            ck_assert_int_eq(event->cause, HERMES_PREVIOUS_RESET);
        hermes_event_free(event);
    }
}
END_TEST

START_TEST(descriptor_is_readable_exactly_while_events_are_queued)
{
    int fd = hermes_event_fd(engine);
    struct hermes_event *event;
    uint64_t cell;
    bool done = false;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(hermes_event_fd(engine), fd);
    ck_assert(!readable(fd, 0));
    for (int i = 0; i < 3; i++) {
        cell = te_submit("a", "print('x')");
        for (done = false;
             !done;) { /* nobody but the engine's own thread drives it while we poll */
            ck_assert(readable(fd, TE_DEADLINE_MS));
            event = next_event(0);
            ck_assert_ptr_nonnull(event); /* readable means that there is one */
            done = event->type == HERMES_EVENT_DONE && event->cell == cell;
            hermes_event_free(event);
        }
        while ((event = next_event(0)))
            hermes_event_free(event);
        ck_assert(!readable(fd, 0));
    }
}
END_TEST

START_TEST(a_wait_ends_in_time)
{
    int64_t start = test_now_ms();

    ck_assert_ptr_null(next_event(0));
    ck_assert_ptr_null(next_event(100));
    ck_assert_int_ge(test_now_ms() - start, 100);
    te_succeeds("a", "1"); /* a kernel that idles is no event for a waiter ... */
    hermes_event_free(te_event(HERMES_EVENT_KERNEL, 0)); /* ... once its state is told */
}
END_TEST

static void *wake_until_told(void *argument)
{
    while (!__atomic_load_n((bool *)argument, __ATOMIC_RELAXED)) {
        hermes_wake(engine);
        test_pause_ms(1);
    }
    return NULL;
}

START_TEST(a_wake_ends_a_wait)
{
    static bool stop;
    pthread_t thread;
    int64_t start = test_now_ms();

    hermes_wake(engine);
    ck_assert_ptr_null(next_event(TE_DEADLINE_MS)); /* the next wait, too */
    ck_assert_int_eq(pthread_create(&thread, NULL, wake_until_told, &stop), 0);
    ck_assert_ptr_null(next_event(TE_DEADLINE_MS));
    ck_assert_ptr_null(next_event(TE_DEADLINE_MS));
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    ck_assert_int_lt(test_now_ms() - start, TE_DEADLINE_MS);
    te_says("a", "print('works')", "works\n");
}
END_TEST

static void on_alarm(int number)
{
    (void)number;
    hermes_wake(engine);
}

/* hermes_wake() is for signal handlers; and nothing else minds a storm of interrupted calls. */
START_TEST(a_storm_of_signals)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval storm = {{0, 2000}, {0, 2000}}, calm = {{0, 0}, {0, 0}};
    struct hermes_result *result;
    char expected[32];

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &storm, NULL);
    for (int i = 0; i < 50; i++) {
        snprintf(expected, sizeof expected, "%d\n", i);
        result = te_run_flags("a", i ? "n += 1; print(n)" : "n = 0; print(n)",
                              i == 0 ? HERMES_CELL_RESET : 0);
        EXPECT_OUTPUT(result, expected);
        hermes_result_free(result);
    }
    result = te_run_timeout("a", "import time; time.sleep(30)", 300);
    EXPECT(result, result->outcome == HERMES_TIMEOUT);
    hermes_result_free(result);
    ck_assert_int_eq(hermes_shutdown_all(engine), 0);
    setitimer(ITIMER_REAL, &calm, NULL);
}
END_TEST

START_TEST(execute_can_make_events_too)
{
    struct hermes_result *result = te_run_flags("a", "print('told')", HERMES_CELL_EVENTS);
    struct hermes_event *event;

    EXPECT_OUTPUT(result, "told\n");
    te_started(result->cell);
    te_output(result->cell, "told\n");
    while ((event = next_event(0))) {
        ck_assert_int_ne(event->type, HERMES_EVENT_DONE); /* the caller has the result */
        hermes_event_free(event);
    }
    hermes_result_free(result);
    result = te_run("a", "print('silent')");
    while ((event = next_event(0))) {
        ck_assert_int_eq(event->type, HERMES_EVENT_KERNEL);
        hermes_event_free(event);
    }
    hermes_result_free(result);
}
END_TEST

START_TEST(display_data_is_a_mime_bundle)
{
    struct hermes_cell cell =
        te_cell("a", "class C:\n"
                     "    def _repr_html_(self): return '<b>\\u00e4 \"q\"</b>'\n"
                     "    def __repr__(self): return 'C!'\n"
                     "display(C())\nprint('between')\nC()");
    struct hermes_event *event;
    cJSON *bundle;
    uint64_t id;

    cell.flags = HERMES_CELL_DISPLAY | HERMES_CELL_ECHO;
    id = te_submit_cell(&cell);
    for (int i = 0; i < 2; i++) {
        event = te_event(HERMES_EVENT_DISPLAY, id);
        ck_assert_int_eq(event->is_result, i == 1);
        bundle = cJSON_Parse(event->data);
        ck_assert_msg(bundle != NULL, "no JSON: %s", event->data);
        ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(bundle, "text/html")->valuestring,
                         "<b>\xc3\xa4 \"q\"</b>");
        ck_assert_str_eq(cJSON_GetObjectItemCaseSensitive(bundle, "text/plain")->valuestring, "C!");
        cJSON_Delete(bundle);
        hermes_event_free(event);
    }
    event = te_done(id);
    EXPECT(event->result,
           event->result->outcome == HERMES_SUCCESS && te_has(event->result, "between"));
    hermes_event_free(event);
}
END_TEST

/*
 * report A26: a slow reader of events slows the cell down; memory stays bounded, and nothing is
 * lost
 */
START_TEST(a_slow_reader_slows_the_cell)
{
    enum { SIZE = 30000000 };
    struct hermes_event *event;
    size_t total = 0;
    long before;
    uint64_t cell;

    te_succeeds("a", "z = 'z' * 9999 + '\\n'");
    ck_assert_int_eq(system("echo 5 > /proc/$PPID/clear_refs"), 0); /* VmHWM starts again */
    before = te_memory_kb(getpid(), "VmRSS");
    cell = te_submit("a", "import sys\nfor _ in range(3000): sys.stdout.write(z)");
    te_started(cell);
    while ((event = next_event(TE_DEADLINE_MS)) && event->type != HERMES_EVENT_DONE) {
        if (event->type == HERMES_EVENT_OUTPUT)
            total += event->size;
        hermes_event_free(event);
        if (total < 1000000)
            test_pause_ms(1); /* slower than the cell */
    }
    ck_assert_ptr_nonnull(event);
    EXPECT(event->result,
           event->result->outcome == HERMES_SUCCESS && event->result->bytes_total == SIZE);
    ck_assert_uint_eq(total, SIZE);
    hermes_event_free(event);
    if (!TE_SANITIZED)
        ck_assert_int_lt(te_memory_kb(getpid(), "VmHWM") - before, 20000);
}
END_TEST

/*
 * While nobody reads events a blocking caller is not held up, nor is an interrupt of the paused
 * cell.
 */
START_TEST(unread_events_hold_up_nobody_else)
{
    uint64_t cell = te_submit("flood", "while True: print('x' * 1000)");
    struct hermes_event *event;

    for (int i = 0; i < 10; i++)
        te_says("other", "print('served')", "served\n");
    ck_assert_int_eq(hermes_interrupt(engine, cell, NULL, 1000), 0);
    while ((event = next_event(TE_DEADLINE_MS)) && event->type != HERMES_EVENT_DONE)
        hermes_event_free(event);
    ck_assert_ptr_nonnull(event);
    EXPECT(event->result, event->result->outcome == HERMES_INTERRUPTED);
    hermes_event_free(event);
}
END_TEST

START_TEST(every_cell_is_done_exactly_once)
{
    enum { CELLS = 60 };
    uint64_t ids[CELLS];
    int done[CELLS] = {0};
    struct hermes_event *event;

    for (int i = 0; i < CELLS; i++)
        ids[i] = te_submit(i % 3 ? "a" : "b", i % 10 == 9   ? "1/0"
                                              : i % 20 == 4 ? "import os; os._exit(1)"
                                                            : "x = 1");
    for (int n = 0; n < CELLS;) {
        event = next_of_cell();
        for (int i = 0; i < CELLS && event->type == HERMES_EVENT_DONE; i++)
            done[i] += event->cell == ids[i];
        n += event->type == HERMES_EVENT_DONE;
        hermes_event_free(event);
    }
    for (int i = 0; i < CELLS; i++)
        ck_assert_int_eq(done[i], 1);
}
END_TEST

/* Events that nobody took are freed with the engine; so are cells that were never waited for. */
START_TEST(an_engine_may_go_with_all_its_events)
{
    for (int i = 0; i < 5; i++)
        te_submit("a", "print('never read')");
    te_submit("b", "import time; time.sleep(60)");
    hermes_engine_free(engine);
    engine = NULL;
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("events");
    TCase *tcase = tcase_create("events");

    tcase_add_checked_fixture(tcase, te_set_up, te_tear_down);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, a_cell_has_its_events_in_order);
    tcase_add_test(tcase, output_is_live);
    tcase_add_test(tcase, kernel_states_are_told);
    tcase_add_test(tcase, descriptor_is_readable_exactly_while_events_are_queued);
    tcase_add_test(tcase, a_wait_ends_in_time);
    tcase_add_test(tcase, a_wake_ends_a_wait);
    tcase_add_test(tcase, a_storm_of_signals);
    tcase_add_test(tcase, execute_can_make_events_too);
    tcase_add_test(tcase, display_data_is_a_mime_bundle);
    tcase_add_test(tcase, a_slow_reader_slows_the_cell);
    tcase_add_test(tcase, unread_events_hold_up_nobody_else);
    tcase_add_test(tcase, every_cell_is_done_exactly_once);
    tcase_add_test(tcase, an_engine_may_go_with_all_its_events);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
