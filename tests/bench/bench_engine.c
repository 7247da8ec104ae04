/* SPDX-License-Identifier: MIT */
/*
 * Measures the engine through its public header, and the floor that the machine allows, in the same
 * process and in turn, so that drift hits both. The floor is the least that keeps a Python child
 * alive: vfork, a socketpair, a pipe, poll; a runner that execs text.
 *
 *   bench_engine PYTHON ROUNDS cold|warm|reset|spare|interrupt|tool|lines|blocks|child|
 *       checkpoint-10|checkpoint-1000
 *
 * Prints one line "name unit value value ..." for each contestant.
 */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench-common.h"

enum { WARM_CELLS = 2000 };

/* ---- measurements ----------------------------------------------------------------------- */

static void bench_cold(void)
{
    static struct series engine_series = {.name = "engine", .unit = "ms"},
                         python_series = {.name = "python3 -c pass", .unit = "ms"},
                         floor_series = {.name = "floor -I -S", .unit = "ms"},
                         site_series = {.name = "floor, default flags", .unit = "ms"};
    const char *const pass[] = {python, "-c", "pass", NULL};
    const char *const isolated[] = {"-I", "-S", NULL}, *const none[] = {NULL};

    for (int i = -1; i < rounds; i++) {
        struct hermes_engine *engine;
        struct floor floor;
        double begin, at = 0;

        begin = now_us();
        engine = new_engine();
        run_in(engine, "bench", "x=1");
        at = (now_us() - begin) / 1e3;
        hermes_engine_free(engine);
        if (i >= 0)
            engine_series.value[i] = at;
        at = time_python(pass);
        if (i >= 0)
            python_series.value[i] = at;
        for (int site = 0; site < 2; site++) {
            begin = now_us();
            floor_start(&floor, site ? none : isolated);
            floor_run(&floor, "x=1");
            at = (now_us() - begin) / 1e3;
            floor_stop(&floor);
            if (i >= 0)
                (site ? &site_series : &floor_series)->value[i] = at;
        }
    }
    print_series(&engine_series);
    print_series(&python_series);
    print_series(&floor_series);
    print_series(&site_series);
}

static void bench_warm(void)
{
    static struct series median[2] = {{.name = "engine", .unit = "us"},
                                      {.name = "floor", .unit = "us"}},
                         p99[2] = {{.name = "engine p99", .unit = "us"},
                                   {.name = "floor p99", .unit = "us"}};
    static double values[WARM_CELLS];
    const char *const isolated[] = {"-I", "-S", NULL};
    struct hermes_engine *engine = new_engine();
    struct floor floor;

    floor_start(&floor, isolated);
    for (int round = 0; round < rounds; round++) {
        for (int who = 0; who < 2; who++) {
            for (int i = -50; i < WARM_CELLS; i++) {
                double begin = now_us();

                if (who)
                    floor_run(&floor, "x=1");
                else
                    run_in(engine, "bench", "x=1");
                if (i >= 0)
                    values[i] = now_us() - begin;
            }
            median[who].value[round] = quantile(values, WARM_CELLS, 0.5);
            p99[who].value[round] = quantile(values, WARM_CELLS, 0.99);
        }
    }
    for (int who = 0; who < 2; who++)
        print_series(&median[who]);
    for (int who = 0; who < 2; who++)
        print_series(&p99[who]);
    floor_stop(&floor);
    hermes_engine_free(engine);
}

static void bench_reset(void)
{
    static struct series series = {.name = "engine", .unit = "ms"},
                         python_series = {.name = "python3 -c pass", .unit = "ms"};
    const char *const pass[] = {python, "-c", "pass", NULL};
    struct hermes_engine *engine = new_engine();

    run_in(engine, "bench", "x=1");
    for (int i = 0; i < rounds; i++) {
        double begin = now_us();

        hermes_reset(engine, "bench", NULL);
        run_in(engine, "bench", "x=1");
        series.value[i] = (now_us() - begin) / 1e3;
        python_series.value[i] = time_python(pass);
    }
    print_series(&series);
    print_series(&python_series);
    hermes_engine_free(engine);
}

/* A spare is started when nothing has happened for a moment: no part of the figures. */
static void let_a_spare_start(void)
{
    struct timespec moment = {.tv_nsec = 400000000};

    nanosleep(&moment, NULL);
}

static void bench_spare(void)
{
    static struct series reset = {.name = "reset", .unit = "ms"},
                         session = {.name = "new session", .unit = "ms"},
                         python_series = {.name = "python3 -c pass", .unit = "ms"};
    const char *const pass[] = {python, "-c", "pass", NULL};
    struct hermes_engine *engine = new_engine();

    hermes_set_option(engine, "spare_kernels", "1", NULL);
    run_in(engine, "bench", "x=1");
    for (int i = 0; i < rounds; i++) {
        double begin;

        let_a_spare_start();
        begin = now_us();
        hermes_reset(engine, "bench", NULL);
        run_in(engine, "bench", "x=1");
        reset.value[i] = (now_us() - begin) / 1e3;
        let_a_spare_start();
        begin = now_us();
        run_in(engine, "another", "x=1");
        session.value[i] = (now_us() - begin) / 1e3;
        hermes_session_clear(engine, "another");
        python_series.value[i] = time_python(pass);
    }
    print_series(&reset);
    print_series(&session);
    print_series(&python_series);
    hermes_engine_free(engine);
}

static char *answer_tool(const struct hermes_tool_call *call)
{
    (void)call;
    return strdup("{}");
}

/* A cell that calls a tool again and again, beside cells that do nothing. */
static void bench_tool(void)
{
    enum { CALLS = 2000 };
    static struct series call = {.name = "tool call", .unit = "us"},
                         warm = {.name = "warm cell", .unit = "us"};
    struct hermes_engine *engine = new_engine();
    struct hermes_kernel_setup setup = HERMES_KERNEL_SETUP_INIT;
    struct hermes_cell cell = HERMES_CELL_INIT;

    setup.env = HERMES_ENV_INHERIT;
    cell.session = "bench";
    cell.python = python;
    cell.setup = &setup;
    cell.tool_handler = answer_tool;
    cell.max_tool_calls = -1;
    run_in(engine, "bench", "from hermes_tools import terminal");
    for (int i = 0; i < rounds; i++) {
        struct hermes_result *result;
        struct hermes_error error;
        double begin = now_us();

        cell.code = "for i in range(2000): terminal('x')";
        if (hermes_execute(engine, &cell, &result, &error))
            fail(error.text);
        if (result->tool_calls != CALLS)
            fail("a tool call went wrong");
        hermes_result_free(result);
        call.value[i] = (now_us() - begin) / CALLS;
        begin = now_us();
        for (int n = 0; n < CALLS; n++)
            run_in(engine, "bench", "x=1");
        warm.value[i] = (now_us() - begin) / CALLS;
    }
    print_series(&call);
    print_series(&warm);
    hermes_engine_free(engine);
}

static double time_cell(struct hermes_engine *engine, const char *session, const char *code)
{
    double begin = now_us();

    run_in(engine, session, code);
    return (now_us() - begin) / 1e3;
}

/*
 * A cell with a checkpoint before it, and one that forks by itself beside the same state; both less
 * a cell that does neither. Either child stays.
 */
static void bench_checkpoint(int megabytes)
{
    static struct series checkpoint = {.name = "checkpoint", .unit = "ms"},
                         bare = {.name = "os.fork()", .unit = "ms"};
    struct hermes_engine *engine = new_engine();
    struct timespec moment = {.tv_nsec = 50000000};
    char code[200];

    snprintf(code, sizeof code,
             "import os, signal, time\nstate = [bytearray(b'x') * 1000 for i in range(%d)]",
             megabytes * 1000);
    hermes_set_option(engine, "undo_memory", "8000", NULL);
    run_in(engine, "plain", code);
    run_in(engine, "kept", code);
    for (int i = -2; i < rounds; i++) {
        double with, without, fork_ms;

        hermes_set_option(engine, "checkpoints", "1", NULL);
        with = time_cell(engine, "kept", "x=1");
        nanosleep(&moment, NULL); /* the one before it ends: no part of the figure */
        hermes_set_option(engine, "checkpoints", "0", NULL);
        without = time_cell(engine, "plain", "x=1");
        fork_ms = time_cell(engine, "plain", "pid = os.fork()\npid or signal.pause()");
        run_in(engine, "plain", "os.kill(pid, 9); os.waitpid(pid, 0)");
        if (i < 0)
            continue;
        checkpoint.value[i] = with - without;
        bare.value[i] = fork_ms - without;
    }
    print_series(&checkpoint);
    print_series(&bare);
    hermes_engine_free(engine);
}

static void bench_interrupt(void)
{
    static struct series series[2] = {{.name = "busy loop", .unit = "ms"},
                                      {.name = "sleep", .unit = "ms"}};
    static const char *const code[2] = {"while True: pass", "import time; time.sleep(60)"};
    struct hermes_engine *engine = new_engine();

    for (int i = 0; i < rounds; i++) {
        for (int which = 0; which < 2; which++) {
            struct hermes_cell cell = HERMES_CELL_INIT;
            struct hermes_event *event;
            struct hermes_error error;
            uint64_t id;
            double begin = 0;
            bool done = false;

            cell.session = "bench";
            cell.python = python;
            cell.code = code[which];
            if (hermes_submit(engine, &cell, &id, &error))
                fail(error.text);
            while (!done && !hermes_next_event(engine, -1, &event)) {
                if (event && event->type == HERMES_EVENT_STARTED) {
                    struct timespec settle = {
                        .tv_nsec =
                            5000000}; /* let the cell get into its loop: part of the set-up, not of the figure */

                    nanosleep(&settle, NULL);
                    begin = now_us();
                    hermes_interrupt(engine, id, NULL, -1);
                }
                done = event && event->type == HERMES_EVENT_DONE;
                hermes_event_free(event);
            }
            series[which].value[i] = (now_us() - begin) / 1e3;
        }
    }
    print_series(&series[0]);
    print_series(&series[1]);
    hermes_engine_free(engine);
}

static void bench_output(const char *code, double megabytes)
{
    static struct series series[2] = {{.name = "engine", .unit = "MB/s"},
                                      {.name = "floor", .unit = "MB/s"}};
    const char *const isolated[] = {"-I", "-S", NULL};
    struct hermes_engine *engine = new_engine();
    struct floor floor;

    floor_start(&floor, isolated);
    floor_run(&floor, "import sys\nsys.stdout.reconfigure(line_buffering=True)");
    run_in(engine, "bench", "x=1");
    for (int i = 0; i < rounds; i++) {
        double begin = now_us();

        run_in(engine, "bench", code);
        series[0].value[i] = megabytes * 1e6 / (now_us() - begin);
        begin = now_us();
        floor_run(&floor, code);
        series[1].value[i] = megabytes * 1e6 / (now_us() - begin);
    }
    print_series(&series[0]);
    print_series(&series[1]);
    floor_stop(&floor);
    hermes_engine_free(engine);
}

int main(int argc, char **argv)
{
    const char *what;

    if (argc != 4 || (rounds = atoi(argv[2])) < 1 || rounds > MAX_ROUNDS) {
        fprintf(stderr, "usage: bench_engine PYTHON ROUNDS "
                        "cold|warm|reset|spare|interrupt|tool|lines|blocks|child|checkpoint-MB\n");
        return 2;
    }
    python = argv[1];
    what = argv[3];
    if (strcmp(what, "cold") == 0)
        bench_cold();
    else if (strcmp(what, "warm") == 0)
        bench_warm();
    else if (strcmp(what, "reset") == 0)
        bench_reset();
    else if (strcmp(what, "spare") == 0)
        bench_spare();
    else if (strcmp(what, "interrupt") == 0)
        bench_interrupt();
    else if (strcmp(what, "tool") == 0)
        bench_tool();
    else if (strncmp(what, "checkpoint-", 11) == 0)
        bench_checkpoint(atoi(what + 11));
    else if (strcmp(what, "lines") == 0)
        bench_output("L='x'*99\nfor i in range(300000): print(L)", 30);
    else if (strcmp(what, "blocks") == 0)
        bench_output(
            "import posix\nB=(b'x'*99+b'\\n')*10000\nfor i in range(200): posix.write(1,B)", 200);
    else if (strcmp(what, "child") == 0)
        bench_output("import subprocess\n"
                     "subprocess.run(['head', '-c', '100000000', '/dev/zero'])",
                     100);
    else
        return 2;
    return 0;
}
