/* SPDX-License-Identifier: MIT */
/*
 * Measures the engine with more than one of something: kernels, threads, a long source, requests
 * beside cells. As bench_engine:
 *
 *   bench_scale PYTHON ROUNDS busy|source|complete|threads|kernels
 */
#include "config.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench-common.h"

enum { CELLS = 500, KERNELS = 200, THREADS = 4, SOURCE_SIZE = 5000000 };

static double warm_cell(struct hermes_engine *engine, const char *session, double *ret_p99)
{
    static double values[CELLS];

    for (int i = -20; i < CELLS; i++) {
        double begin = now_us();

        run_in(engine, session, "x=1");
        if (i >= 0)
            values[i] = now_us() - begin;
    }
    if (ret_p99)
        *ret_p99 = quantile(values, CELLS, 0.99);
    return quantile(values, CELLS, 0.5);
}

static uint64_t submit(struct hermes_engine *engine, const char *session, const char *code,
                       bool requests)
{
    struct hermes_kernel_setup setup = HERMES_KERNEL_SETUP_INIT;
    struct hermes_cell cell = HERMES_CELL_INIT;
    struct hermes_error error;
    uint64_t id;

    setup.env = HERMES_ENV_INHERIT;
    setup.requests = requests;
    cell.session = session;
    cell.python = python;
    cell.code = code;
    cell.setup = &setup;
    if (hermes_submit(engine, &cell, &id, &error))
        fail(error.text);
    return id;
}

/* Wait for an event of a type; its kernel. */
static uint64_t await(struct hermes_engine *engine, enum hermes_event_type type)
{
    struct hermes_event *event;
    uint64_t kernel = 0;
    bool done = false;

    while (!done) {
        if (hermes_next_event(engine, 60000, &event) || !event)
            fail("no event");
        done = event->type == type;
        kernel = event->kernel;
        hermes_event_free(event);
    }
    return kernel;
}

/* ---- a busy kernel beside --------------------------------------------------------------- */

static void bench_busy(void)
{
    static struct series alone = {.name = "alone", .unit = "us"},
                         beside = {.name = "beside", .unit = "us"},
                         alone99 = {.name = "alone p99", .unit = "us"},
                         beside99 = {.name = "beside p99", .unit = "us"};
    struct hermes_engine *engine = new_engine();

    for (int i = 0; i < rounds; i++) {
        uint64_t id;

        alone.value[i] = warm_cell(engine, "bench", &alone99.value[i]);
        id = submit(engine, "busy", "while True: pass", false);
        await(engine, HERMES_EVENT_STARTED);
        beside.value[i] = warm_cell(engine, "bench", &beside99.value[i]);
        hermes_interrupt(engine, id, NULL, -1);
        await(engine, HERMES_EVENT_DONE);
    }
    print_series(&alone);
    print_series(&beside);
    print_series(&alone99);
    print_series(&beside99);
    hermes_engine_free(engine);
}

/* ---- a long source ---------------------------------------------------------------------- */

static void bench_source(void)
{
    static struct series ours = {.name = "engine", .unit = "ms"},
                         theirs = {.name = "python3", .unit = "ms"};
    struct hermes_engine *engine = new_engine();
    char name[] = "/tmp/bench-source-XXXXXX", *code = malloc(SOURCE_SIZE + 100);
    const char *const run_file[] = {python, name, NULL}, *const pass[] = {python, "-c", "pass",
                                                                          NULL};
    int fd = mkstemp(name);

    if (!code || fd < 0)
        fail("source");
    memset(code, 'x', SOURCE_SIZE);
    for (size_t i = 0; i < SOURCE_SIZE; i += 80)
        memcpy(code + i, i ? "\n#" : "##", 2);
    memcpy(code + SOURCE_SIZE, "\nx=1\n", 6);
    if (write(fd, code, SOURCE_SIZE + 5) != SOURCE_SIZE + 5)
        fail(name);
    close(fd);
    run_in(engine, "bench", "x=1");
    for (int i = 0; i < rounds; i++) {
        double begin = now_us();

        run_in(engine, "bench", code);
        ours.value[i] = (now_us() - begin) / 1e3;
        theirs.value[i] = time_python(run_file);
        theirs.value[i] -= time_python(pass);
    }
    unlink(name);
    free(code);
    print_series(&ours);
    print_series(&theirs);
    hermes_engine_free(engine);
}

/* ---- completion ------------------------------------------------------------------------- */

static void bench_complete(void)
{
    enum { REQUESTS = 200 };
    static struct series ours = {.name = "completion", .unit = "us"},
                         warm = {.name = "warm cell", .unit = "us"};
    static double values[REQUESTS];
    struct hermes_engine *engine = new_engine();
    uint64_t kernel;

    submit(engine, "bench", "import os", true);
    kernel = await(engine, HERMES_EVENT_STARTED);
    await(engine, HERMES_EVENT_DONE);
    for (int i = 0; i < rounds; i++) {
        for (int n = 0; n < REQUESTS; n++) {
            double begin = now_us();
            struct hermes_error error;
            uint64_t id;

            if (hermes_request(engine, kernel,
                               "{\"request\": \"complete\", \"code\": \"os.pa\", \"cursor\": 5}", 0,
                               &id, &error))
                fail(error.text);
            await(engine, HERMES_EVENT_ANSWER);
            values[n] = now_us() - begin;
        }
        ours.value[i] = quantile(values, REQUESTS, 0.5);
        warm.value[i] = warm_cell(engine, "other", NULL);
    }
    print_series(&ours);
    print_series(&warm);
    hermes_engine_free(engine);
}

/* ---- threads ---------------------------------------------------------------------------- */

struct worker {
    struct hermes_engine *engine;
    char session[16];
};

static void *work(void *argument)
{
    struct worker *worker = argument;

    for (int i = 0; i < CELLS; i++)
        run_in(worker->engine, worker->session, "sum(range(2000))");
    return NULL;
}

/* Cells a second of one thread, and of several that have a session each, in one engine. */
static void bench_threads(void)
{
    static struct series one = {.name = "one thread", .unit = "cells/s"},
                         all = {.name = "four threads", .unit = "cells/s"};
    struct hermes_engine *engine = new_engine();
    struct worker workers[THREADS];
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        workers[i].engine = engine;
        snprintf(workers[i].session, sizeof workers[i].session, "t%d", i);
        run_in(engine, workers[i].session, "x=1");
    }
    for (int i = 0; i < rounds; i++) {
        double begin = now_us();

        work(&workers[0]);
        one.value[i] = CELLS * 1e6 / (now_us() - begin);
        begin = now_us();
        for (int n = 0; n < THREADS; n++)
            if (pthread_create(&threads[n], NULL, work, &workers[n]))
                fail("thread");
        for (int n = 0; n < THREADS; n++)
            pthread_join(threads[n], NULL);
        all.value[i] = THREADS * CELLS * 1e6 / (now_us() - begin);
    }
    print_series(&all);
    print_series(&one);
    hermes_engine_free(engine);
}

/* ---- many kernels ----------------------------------------------------------------------- */

static long count_entries(const char *path)
{
    DIR *directory = opendir(path);
    long count = -3; /* ., .. and the directory's own descriptor */

    if (!directory)
        return -1;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void start_kernels(struct hermes_engine *engine)
{
    char session[16];

    for (int i = 1; i < KERNELS; i++) {
        snprintf(session, sizeof session, "s%d", i);
        run_in(engine, session, "x=1");
    }
}

static void bench_kernels(void)
{
    struct hermes_engine *engine = new_engine();
    double alone, among;
    long memory, files, threads;

    hermes_set_option(engine, "max_session_kernels", "1000", NULL);
    alone = warm_cell(engine, "first", NULL);
    memory = status_kib("VmRSS:");
    files = count_entries("/proc/self/fd");
    threads = count_entries("/proc/self/task") + 1;
    printf("host with one kernel\tKiB\t%ld\n", memory);
    start_kernels(engine);
    printf("host, each further kernel\tKiB\t%.1f\n",
           (double)(status_kib("VmRSS:") - memory) / (KERNELS - 1));
    printf("host, each further kernel: descriptors\t\t%.2f\n",
           (double)(count_entries("/proc/self/fd") - files) / (KERNELS - 1));
    printf("host, 200 kernels: threads more\t\t%ld\n",
           count_entries("/proc/self/task") + 1 - threads);
    among = warm_cell(engine, "first", NULL);
    printf("warm cell among 200 kernels, to alone\t\t%.2f\n", among / alone);
    hermes_engine_free(engine);
}

static const struct {
    const char *name;
    void (*run)(void);
} benches[] = {{"busy", bench_busy},
               {"source", bench_source},
               {"complete", bench_complete},
               {"threads", bench_threads},
               {"kernels", bench_kernels}};

int main(int argc, char **argv)
{
    if (argc == 4 && (rounds = atoi(argv[2])) >= 1 && rounds <= MAX_ROUNDS) {
        python = argv[1];
        for (size_t i = 0; i < sizeof benches / sizeof *benches; i++)
            if (strcmp(argv[3], benches[i].name) == 0) {
                benches[i].run();
                return 0;
            }
    }
    fprintf(stderr, "usage: bench_scale PYTHON ROUNDS busy|source|complete|threads|kernels\n");
    return 2;
}
