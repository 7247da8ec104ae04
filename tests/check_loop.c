/* SPDX-License-Identifier: MIT */
/*
 * The loop: order of timers, what a sleeper notices, watches that go while events for them are at
 * hand.
 */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "list.h"
#include "loop.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void take(void *context)
{
    pthread_mutex_lock(context);
}

static void release(void *context)
{
    pthread_mutex_unlock(context);
}

static struct hr_loop *loop;

static void set_up(void)
{
    pthread_mutex_lock(&mutex);
    loop = hr_loop_new(take, release, &mutex);
    ck_assert_ptr_nonnull(loop);
    ck_assert(hr_timer_reserve(loop, 64));
}

static void tear_down(void)
{
    hr_loop_free(loop);
    pthread_mutex_unlock(&mutex);
}

static char fired[64];
static size_t fired_count;

struct named_timer {
    struct hr_timer timer;
    char name;
    struct named_timer *starts, *stops;
};

static void note(struct hr_timer *timer)
{
    struct named_timer *named = HR_CONTAINER(timer, struct named_timer, timer);

    fired[fired_count++] = named->name;
    if (named->starts)
        hr_timer_start(loop, &named->starts->timer, 0, note);
    if (named->stops)
        hr_timer_stop(loop, &named->stops->timer);
}

START_TEST(timers_fire_by_time_then_by_order_of_start)
{
    static struct named_timer timers[5] = {
        {.name = 'a'}, {.name = 'b'}, {.name = 'c'}, {.name = 'd'}, {.name = 'e'}};
    int64_t due[5] = {30, 10, 20, 10, 40};

    fired_count = 0;
    for (int i = 0; i < 5; i++)
        hr_timer_start(loop, &timers[i].timer, due[i], note);
    hr_timer_stop(loop, &timers[4].timer);
    hr_loop_step(loop, HR_NEVER);
    fired[fired_count] = '\0';
    ck_assert_str_eq(fired, "bdca");
}
END_TEST

START_TEST(timer_started_by_a_timer_waits_a_round)
{
    static struct named_timer second = {.name = '2'}, first = {.name = '1', .starts = &second};

    fired_count = 0;
    hr_timer_start(loop, &first.timer, 0, note);
    hr_loop_step(loop, HR_NEVER);
    ck_assert_uint_eq(fired_count, 1);
    hr_loop_step(loop, HR_NEVER);
    ck_assert_uint_eq(fired_count, 2);
}
END_TEST

START_TEST(timer_stopped_by_another_due_one_does_not_fire)
{
    static struct named_timer victim = {.name = 'v'}, first = {.name = '1', .stops = &victim};

    fired_count = 0;
    hr_timer_start(loop, &first.timer, 1, note);
    hr_timer_start(loop, &victim.timer, 2, note);
    hr_loop_step(loop, HR_NEVER);
    ck_assert_uint_eq(fired_count, 1);
}
END_TEST

START_TEST(heap_keeps_order_under_random_starts_and_stops)
{
    static struct named_timer timers[50];
    unsigned seed = (unsigned)_i;
    int64_t last = 0;

    memset(timers, 0, sizeof timers);
    fired_count = 0;
    for (int round = 0; round < 2000; round++) {
        struct named_timer *timer = &timers[rand_r(&seed) % 50];

        if (rand_r(&seed) % 3)
            hr_timer_start(loop, &timer->timer, rand_r(&seed) % 1000, note);
        else
            hr_timer_stop(loop, &timer->timer);
    }
    for (int i = 0; i < 50; i++) /* the name is the rank: due times ascend as they fire */
        timers[i].name = (char)(timers[i].timer.due_ns / 10);
    hr_loop_step(loop, 0);
    for (size_t i = 0; i < fired_count; last = (unsigned char)fired[i], i++)
        ck_assert_int_ge((unsigned char)fired[i], last);
}
END_TEST

struct pipe_watch {
    struct hr_watch watch;
    struct pipe_watch *removes;
    int calls;
};

static void pipe_ready(struct hr_watch *watch, unsigned events)
{
    struct pipe_watch *self = HR_CONTAINER(watch, struct pipe_watch, watch);

    ck_assert_uint_eq(events, HR_READ);
    self->calls++;
    if (self->removes)
        hr_watch_remove(loop, &self->removes->watch);
}

START_TEST(watch_removed_in_the_same_round_is_not_called)
{
    static struct pipe_watch a, b;
    int pa[2], pb[2];

    ck_assert_int_eq(pipe2(pa, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(pb, O_CLOEXEC), 0);
    a.removes = &b;
    b.removes = &a;
    ck_assert_int_eq(hr_watch_add(loop, &a.watch, pa[0], HR_READ, pipe_ready), 0);
    ck_assert_int_eq(hr_watch_add(loop, &b.watch, pb[0], HR_READ, pipe_ready), 0);
    ck_assert_int_eq(write(pa[1], "x", 1), 1);
    ck_assert_int_eq(write(pb[1], "x", 1), 1);
    hr_loop_step(loop, HR_NEVER);
    ck_assert_int_eq(a.calls + b.calls, 1);
    hr_watch_remove(loop, &a.watch);
    hr_watch_remove(loop, &b.watch);
}
END_TEST

START_TEST(watch_for_nothing_does_not_spin_on_hang_up)
{
    static struct pipe_watch a;
    int ends[2];

    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    ck_assert_int_eq(hr_watch_add(loop, &a.watch, ends[0], HR_READ, pipe_ready), 0);
    hr_watch_change(loop, &a.watch, 0);
    close(ends[1]);
    hr_loop_step(loop, hr_now_ns() + 2000000);
    ck_assert_int_eq(a.calls, 0);
    hr_watch_change(loop, &a.watch, HR_READ);
    hr_loop_step(loop, HR_NEVER);
    ck_assert_int_eq(a.calls, 1);
    hr_watch_remove(loop, &a.watch);
}
END_TEST

static void *start_timer_elsewhere(void *argument)
{
    pthread_mutex_lock(&mutex); /* free only while the loop sleeps */
    hr_timer_start(loop, argument, hr_now_ns(), note);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

START_TEST(sleeper_notices_a_nearer_timer)
{
    static struct named_timer timer = {.name = 't'};
    pthread_t thread;

    fired_count = 0;
    ck_assert_int_eq(pthread_create(&thread, NULL, start_timer_elsewhere, &timer.timer), 0);
    for (int i = 0; i < 10 && !fired_count; i++)
        hr_loop_step(loop, HR_NEVER);
    ck_assert_uint_eq(fired_count, 1);
    pthread_join(thread, NULL);
}
END_TEST

static void *add_watch_elsewhere(void *argument)
{
    static int ends[2];

    pthread_mutex_lock(&mutex);
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    ck_assert_int_eq(write(ends[1], "x", 1), 1);
    ck_assert_int_eq(
        hr_watch_add(loop, &((struct pipe_watch *)argument)->watch, ends[0], HR_READ, pipe_ready),
        0);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

START_TEST(sleeper_notices_a_new_watch)
{
    static struct pipe_watch watch;
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, add_watch_elsewhere, &watch), 0);
    for (int i = 0; i < 10 && !watch.calls; i++)
        hr_loop_step(loop, HR_NEVER);
    ck_assert_int_gt(watch.calls, 0);
    pthread_join(thread, NULL);
    hr_watch_remove(loop, &watch.watch);
}
END_TEST

START_TEST(wake_is_sticky_and_coalesces)
{
    int64_t before = hr_now_ns();

    for (int i = 0; i < 1000; i++)
        hr_loop_wake(loop);
    hr_loop_step(loop, before + 20000000000);
    ck_assert_int_lt(hr_now_ns() - before, 10000000000);
}
END_TEST

/* Wakes as fast as it can until told to stop. */
static atomic_bool waking;

static void *wake_without_end(void *argument)
{
    (void)argument;
    while (atomic_load(&waking))
        hr_loop_wake(loop);
    return NULL;
}

START_TEST(wake_works_after_a_storm_of_wakes)
{
    pthread_t thread;

    for (int round = 0; round < 20; round++) {
        int64_t before;

        atomic_store(&waking, true);
        ck_assert_int_eq(pthread_create(&thread, NULL, wake_without_end, NULL), 0);
        for (int i = 0; i < 2000; i++)
            hr_loop_step(loop, hr_now_ns() + 1000000);
        atomic_store(&waking, false);
        pthread_join(thread, NULL);
        hr_loop_step(loop, hr_now_ns()); /* take what is left */
        hr_loop_wake(loop);
        before = hr_now_ns();
        hr_loop_step(loop, before + 20000000000);
        ck_assert_int_lt(hr_now_ns() - before, 10000000000);
    }
}
END_TEST

static size_t noted;

static void note_ready(struct hr_watch *watch, unsigned events)
{
    (void)watch, (void)events;
    noted++;
}

/* A host may lower its limit of descriptors below what is watched: poll() refuses such a list. */
START_TEST(fewer_descriptors_than_are_watched)
{
    enum { PIPES = 12 };
    struct hr_watch watches[PIPES] = {0};
    int ends[PIPES][2];
    struct rlimit before, low;
    struct rusage start, end;
    int64_t begun, used_us;

    for (int i = 0; i < PIPES; i++) {
        ck_assert_int_eq(pipe(ends[i]), 0);
        ck_assert_int_eq(hr_watch_add(loop, &watches[i], ends[i][0], HR_READ, note_ready), 0);
    }
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    low = before;
    low.rlim_cur = PIPES / 2;
    noted = 0;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
    getrusage(RUSAGE_SELF, &start);
    begun = hr_now_ns();
    while (hr_now_ns() - begun < 300000000)
        hr_loop_step(loop, begun + 300000000);
    getrusage(RUSAGE_SELF, &end);
    ck_assert_uint_eq(noted, 0);
    ck_assert_int_eq(write(ends[PIPES - 1][1], "x", 1), 1);
    hr_loop_step(loop, hr_now_ns() + 5000000000);
    setrlimit(RLIMIT_NOFILE, &before);
    ck_assert_uint_eq(noted, 1);
    used_us = (end.ru_utime.tv_sec - start.ru_utime.tv_sec + end.ru_stime.tv_sec -
               start.ru_stime.tv_sec) *
                  INT64_C(1000000) +
              end.ru_utime.tv_usec - start.ru_utime.tv_usec + end.ru_stime.tv_usec -
              start.ru_stime.tv_usec;
    ck_assert_int_lt(used_us, 150000); /* of 300 ms: it does not spin */
    for (int i = 0; i < PIPES; i++) {
        hr_watch_remove(loop, &watches[i]);
        close(ends[i][0]);
        close(ends[i][1]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("loop");
    TCase *test_case = tcase_create("loop");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(test_case, set_up, tear_down);
    tcase_add_test(test_case, timers_fire_by_time_then_by_order_of_start);
    tcase_add_test(test_case, timer_started_by_a_timer_waits_a_round);
    tcase_add_test(test_case, timer_stopped_by_another_due_one_does_not_fire);
    tcase_add_loop_test(test_case, heap_keeps_order_under_random_starts_and_stops, 1, 20);
    tcase_add_test(test_case, watch_removed_in_the_same_round_is_not_called);
    tcase_add_test(test_case, watch_for_nothing_does_not_spin_on_hang_up);
    tcase_add_test(test_case, sleeper_notices_a_nearer_timer);
    tcase_add_test(test_case, sleeper_notices_a_new_watch);
    tcase_add_test(test_case, wake_is_sticky_and_coalesces);
    tcase_add_test(test_case, wake_works_after_a_storm_of_wakes);
    tcase_add_test(test_case, fewer_descriptors_than_are_watched);
    tcase_set_timeout(test_case, 60);
    suite_add_tcase(suite, test_case);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
