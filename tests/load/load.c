/* SPDX-License-Identifier: MIT */
/*
 * usage: load [--seed N] [--seconds N] [--threads N] [--sessions N] [--round-seconds N]
 *
 * 200 sessions in one host, 64 threads that use them at random, and a model that checks every
 * answer (load.h). The same seed makes the same calls; how they interleave is the machine's choice.
 * After each round everything is at rest, and after every second one the engine is emptied: then no
 * process, descriptor or file may be left of it, and memory may not grow.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "host.h"
#include "load.h"

enum { REST_LIMIT_S = 150, GROWTH_LIMIT_KB = 12 << 10 };

/* What the rounds are run under, in turn. */
static const struct {
    int cap, idle_seconds, hot;
} rules[] = {{8, 0, 6}, {64, 1, 40}, {3, 0, 2}, {32, 0, 24}};

static void fail(const char *what)
{
    fprintf(stderr, "load: %s\n", what);
    exit(2);
}

static void set_number(struct load *load, const char *option, int value)
{
    char text[16];

    snprintf(text, sizeof text, "%d", value);
    if (hermes_set_option(load->engine, option, value ? text : "off", NULL))
        fail(option);
}

static void set_text(struct load *load, const char *option, const char *value)
{
    if (hermes_set_option(load->engine, option, value, NULL))
        fail(option);
}

/* ---- threads ---------------------------------------------------------------------------- */

struct runner {
    struct load *load;
    int thread;
    uint64_t seed;
};

static void *run_calls(void *argument)
{
    struct runner *runner = argument;

    calls_run(runner->load, runner->thread, runner->seed);
    return NULL;
}

/* Takes events also while every other thread waits. */
static void *pull_events(void *argument)
{
    struct load *load = argument;
    struct pollfd ready = {.fd = hermes_event_fd(load->engine), .events = POLLIN};

    while (!__atomic_load_n(&load->stop_pulling, __ATOMIC_RELAXED))
        if (poll(&ready, 1, 20) > 0)
            log_drain(load);
    return NULL;
}

static void say_who_waits(const struct load *load)
{
    for (int i = 0; i < load->call_count; i++) {
        const struct call *call = &load->calls[i];

        if (!call->end)
            fprintf(stderr, "call %d (type %d, %s, s%d child %d key %d, cell %llu) has no answer\n",
                    i, (int)call->type, call_is_cell(call) ? cell_kind_name(call->kind) : "-",
                    call->session, call->child, call->key, (unsigned long long)call->cell);
    }
}

static void start_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
    if (pthread_create(thread, NULL, run, argument))
        fail("no thread");
}

/* False: some call was not answered. */
static bool run_round(struct load *load, uint64_t *random, int seconds)
{
    pthread_t threads[THREADS_MAX], puller;
    struct runner runners[THREADS_MAX];
    struct timespec due;
    bool all = true;

    load->stop = load->stop_pulling = false;
    start_thread(&puller, pull_events, load);
    for (int i = 0; i < load->threads; i++) {
        runners[i] = (struct runner){load, i, random_next(random)};
        start_thread(&threads[i], run_calls, &runners[i]);
    }
    for (int64_t end = now_ns() + seconds * INT64_C(1000000000);
         now_ns() < end && log_length(load) < LOG_MAX - 100000;)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    __atomic_store_n(&load->stop, true, __ATOMIC_RELAXED);
    clock_gettime(CLOCK_REALTIME, &due);
    due.tv_sec += REST_LIMIT_S;
    for (int i = 0; i < load->threads; i++)
        all &= !pthread_timedjoin_np(threads[i], NULL, &due);
    if (!all) {
        say_who_waits(load);
        return false;
    }
    __atomic_store_n(&load->stop_pulling, true, __ATOMIC_RELAXED);
    pthread_join(puller, NULL);
    log_drain(load);
    return true;
}

/* ---- rounds ----------------------------------------------------------------------------- */

static void set_rules(struct load *load, int round)
{
    size_t at = (size_t)round % (sizeof rules / sizeof *rules);

    load->cap = rules[at].cap;
    load->idle_seconds = rules[at].idle_seconds;
    load->hot = rules[at].hot < load->sessions ? rules[at].hot : load->sessions;
    set_number(load, "max_session_kernels", load->cap);
    set_number(load, "kernel_idle_timeout", load->idle_seconds);
    load->rules_ns = now_ns();
}

/* With an idle limit nothing is listed at last. False: it took too long. */
static bool wait_for_reaping(const struct load *load)
{
    int64_t due =
        now_ns() + load->idle_seconds * INT64_C(1000000000) + load->slack_ms * INT64_C(1000000);
    bool some;

    do {
        char *json = hermes_kernels_json(load->engine);

        some = !json || strcmp(json, "[]") != 0;
        hermes_free(json);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    } while (some && now_ns() < due);
    return now_ns() < due;
}

static void check_rest(struct load *load, struct model *model)
{
    char *json;

    if (load->idle_seconds && !wait_for_reaping(load))
        model_fault(model, -1, "kernels are idle longer than their limit");
    json = hermes_kernels_json(load->engine);
    log_drain(load);
    model_check_round(model);
    model_check_list(model, json ? json : "");
    hermes_free(json);
}

/* What an engine makes once is made after one cell: what the host holds then is the measure. */
static void warm_up(struct load *load, struct host *first)
{
    struct hermes_cell cell = HERMES_CELL_INIT;
    struct hermes_result *result = NULL;

    cell.session = "warm";
    cell.code = "1";
    if (hermes_execute(load->engine, &cell, &result, NULL))
        fail("the first cell is refused");
    hermes_result_free(result);
    hermes_shutdown_all(load->engine);
    log_drain(load);
    host_look(first, load->directory);
    first->rss_kb = 0; /* threads bring memory of their own */
}

static void check_growth(struct load *load, struct model *model, struct host *first)
{
    struct host now;

    log_begin(load);
    hermes_shutdown_all(load->engine);
    log_drain(load);
    model_everything_was_killed(model);
    host_look(&now, load->directory);
    if (!first->rss_kb)
        first->rss_kb = now.rss_kb;
    if (now.descriptors != first->descriptors || now.processes || now.entries > first->entries)
        model_fault(model, -1, "left: %d descriptors (%d at first), %d processes, %d files (%d)",
                    now.descriptors, first->descriptors, now.processes, now.entries,
                    first->entries);
    if (!HOST_SANITIZED && now.rss_kb > first->rss_kb + GROWTH_LIMIT_KB)
        model_fault(model, -1, "memory has grown from %ld to %ld kB", first->rss_kb, now.rss_kb);
    printf("at rest:  %d descriptors, %d processes, %d files, %ld kB\n", now.descriptors,
           now.processes, now.entries, now.rss_kb);
    fflush(stdout);
}

static int run(struct load *load, int seconds)
{
    uint64_t random = load->seed;
    struct model *model = model_new(load);
    struct host first = {0};
    int64_t end = now_ns() + seconds * INT64_C(1000000000);
    int round = 0;
    bool answered = true;

    warm_up(load, &first);
    while (answered && model_faults(model) == 0 && (now_ns() < end || round % 2)) {
        log_begin(load);
        set_rules(load, round);
        answered = run_round(load, &random, load->round_seconds);
        if (!answered)
            break;
        check_rest(load, model);
        if (round++ % 2)
            check_growth(load, model, &first);
    }
    model_print_sums(model);
    if (!answered)
        _exit(1); /* threads wait in the engine */
    hermes_engine_free(load->engine);
    seconds = model_faults(model) != 0;
    model_free(model);
    return seconds;
}

/* ---- the program ------------------------------------------------------------------------ */

static void set_up_engine(struct load *load, const char *build)
{
    char path[PATH_MAX + 32], directory[PATH_MAX];
    const char *multiplier = getenv("CK_TIMEOUT_MULTIPLIER");

    if (hermes_engine_new(&load->engine, NULL))
        fail("no engine");
    set_text(load, "python", load->python);
    if (!realpath(build, directory))
        fail(build);
    snprintf(path, sizeof path, "%s/hermes-kernel-guard", directory);
    set_text(load, "guard", path);
    snprintf(path, sizeof path, "%s/hermes_kernel_runner.py", directory);
    set_text(load, "runner", path);
    set_text(load, "spill", "off");
    set_text(load, "start_timeout", "120");
    load->slack_ms = 5000 * (multiplier ? atoi(multiplier) : 1);
    hermes_event_fd(load->engine); /* from now on there are events of kernels */
}

static void set_up(struct load *load)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&load->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&load->answered, &attributes);
    load->log = calloc(LOG_MAX, sizeof *load->log);
    load->done = calloc(DONE_SLOTS, sizeof *load->done);
    load->calls = calloc(CALLS_MAX, sizeof *load->calls);
    if (!load->log || !load->done || !load->calls)
        fail("no memory");
    memset(load->log, 1, LOG_MAX * sizeof *load->log); /* there from the beginning: no growth */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static const char *own_directory(void)
{
    static char path[4096];
    const char *temporary = getenv("TMPDIR");

    snprintf(path, sizeof path, "%s/hermes-load-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(path))
        fail("no directory");
    setenv("TMPDIR", path, 1);
    setenv("XDG_STATE_HOME", path, 1);
    return path;
}

static long number_of(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);

    if (*end || number < 0 || !*text)
        fail("a number is wrong");
    return number;
}

int main(int argc, char **argv)
{
    static struct load load = {.seed = 1, .sessions = 200, .threads = 64, .round_seconds = 1};
    const char *build = getenv("HERMES_TEST_BUILDDIR"), *python = getenv("TEST_PYTHON");
    int seconds = 3, status;

    for (int i = 1; i < argc; i += 2) {
        long value = number_of(i + 1 < argc ? argv[i + 1] : "");

        if (strcmp(argv[i], "--seed") == 0)
            load.seed = (uint64_t)value;
        else if (strcmp(argv[i], "--seconds") == 0)
            seconds = (int)value;
        else if (strcmp(argv[i], "--threads") == 0 && value && value <= THREADS_MAX)
            load.threads = (int)value;
        else if (strcmp(argv[i], "--sessions") == 0 && value && value <= SESSIONS_MAX)
            load.sessions = (int)value;
        else if (strcmp(argv[i], "--round-seconds") == 0 && value)
            load.round_seconds = (int)value;
        else
            fail("usage: load [--seed N] [--seconds N] [--threads N] [--sessions N] "
                 "[--round-seconds N]");
    }
    printf("load: --seed %llu --seconds %d --threads %d --sessions %d --round-seconds %d\n",
           (unsigned long long)load.seed, seconds, load.threads, load.sessions, load.round_seconds);
    fflush(stdout);
    load.python = python ? python : "/usr/bin/python3";
    load.directory = own_directory();
    set_up(&load);
    set_up_engine(&load, build ? build : ".");
    status = run(&load, seconds);
    if (rmdir(load.directory)) {
        fprintf(stderr, "load: %s: %s\n", load.directory, strerror(errno));
        status = 1;
    }
    free(load.log);
    free(load.done);
    free(load.calls);
    return status;
}
