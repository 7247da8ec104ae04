/* SPDX-License-Identifier: MIT */
/*
 * Measures the engine through its public header, and the floor that the machine allows, in the same
 * process and in turn, so that drift hits both. The floor is the least that keeps a Python child
 * alive: vfork, a socketpair, a pipe, poll; a runner that execs text.
 *
 *   bench_engine PYTHON ROUNDS cold|warm|reset|interrupt|tool|lines|blocks|kernels
 *
 * Prints one line "name unit value value ..." for each contestant.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hermes-kernel.h"

enum { WARM_CELLS = 2000, MAX_ROUNDS = 1000 };

static const char *python;
static int rounds;

static void fail(const char *what)
{
    fprintf(stderr, "bench_engine: %s (%s)\n", what, strerror(errno));
    exit(1);
}

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double quantile(double *values, int count, double q)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[(int)(q * (count - 1) + 0.5)];
}

struct series {
    const char *name, *unit;
    double value[MAX_ROUNDS];
};

static void print_series(const struct series *series)
{
    printf("%s\t%s", series->name, series->unit);
    for (int i = 0; i < rounds; i++)
        printf("\t%.6g", series->value[i]);
    printf("\n");
}

/* ---- the floor -------------------------------------------------------------------------- */

struct floor {
    pid_t pid;
    int control, output;
    size_t bytes;
};

static const char floor_runner[] = "import posix,sys\n"
                                   "g={}\n"
                                   "while 1:\n"
                                   " b=posix.read(3,65536)\n"
                                   " if not b: break\n"
                                   " exec(b[4:].decode(),g)\n"
                                   " sys.stdout.flush()\n"
                                   " posix.write(3,b'\\1\\0\\0\\0o')\n";

static void floor_start(struct floor *floor, const char *const *flags)
{
    int pair[2], ends[2];
    const char *argv[8] = {python};
    int n = 1;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) || pipe2(ends, O_CLOEXEC))
        fail("floor");
    for (; flags[n - 1]; n++)
        argv[n] = flags[n - 1];
    argv[n++] = "-c";
    argv[n++] = floor_runner;
    floor->pid = vfork();
    if (floor->pid == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        if (pair[1] == 3)
            fcntl(3, F_SETFD, 0);
        else
            dup2(pair[1], 3);
        execv(python, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(pair[1]);
    close(ends[1]);
    floor->control = pair[0];
    floor->output = ends[0];
    floor->bytes = 0;
    fcntl(floor->output, F_SETFL, O_NONBLOCK);
}

static void floor_drain(struct floor *floor)
{
    static char buffer[1 << 20];
    ssize_t n;

    while ((n = read(floor->output, buffer, sizeof buffer)) > 0)
        floor->bytes += (size_t)n;
}

static void floor_run(struct floor *floor, const char *code)
{
    char frame[4096], reply[64];
    uint32_t size = (uint32_t)strlen(code);
    struct pollfd fds[2] = {{floor->control, POLLIN, 0}, {floor->output, POLLIN, 0}};

    memcpy(frame, &size, 4);
    memcpy(frame + 4, code, size);
    if (send(floor->control, frame, size + 4, MSG_NOSIGNAL) != (ssize_t)size + 4)
        fail("floor send");
    for (;;) {
        if (poll(fds, 2, -1) < 0)
            fail("floor poll");
        if (fds[1].revents)
            floor_drain(floor);
        if (fds[0].revents) {
            if (recv(floor->control, reply, sizeof reply, 0) <= 0)
                fail("floor died");
            floor_drain(floor);
            return;
        }
    }
}

static void floor_stop(struct floor *floor)
{
    kill(floor->pid, SIGKILL);
    waitpid(floor->pid, NULL, 0);
    close(floor->control);
    close(floor->output);
}

/* ---- the engine ------------------------------------------------------------------------- */

static struct hermes_engine *new_engine(void)
{
    struct hermes_engine *engine;
    struct hermes_error error;

    if (hermes_engine_new(&engine, &error))
        fail(error.text);
    return engine;
}

static void run_in(struct hermes_engine *engine, const char *session, const char *code)
{
    struct hermes_cell cell = HERMES_CELL_INIT;
    struct hermes_kernel_setup setup = HERMES_KERNEL_SETUP_INIT;
    struct hermes_result *result;
    struct hermes_error error;

    setup.env = HERMES_ENV_INHERIT;
    cell.session = session;
    cell.python = python;
    cell.code = code;
    cell.flags = HERMES_CELL_NO_SPILL;
    cell.setup = &setup;
    if (hermes_execute(engine, &cell, &result, &error))
        fail(error.text);
    if (result->outcome != HERMES_SUCCESS)
        fail(result->error);
    hermes_result_free(result);
}

/* ---- measurements ----------------------------------------------------------------------- */

static double time_python(const char *const *argv)
{
    double begin = now_us();
    pid_t pid = vfork();

    if (pid == 0) {
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
    return (now_us() - begin) / 1e3;
}

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

static long status_kib(const char *field)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long value = -1;

    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, field, strlen(field)) == 0)
            value = strtol(line + strlen(field) + 1, NULL, 10);
    if (file)
        fclose(file);
    return value;
}

static void bench_kernels(void)
{
    enum { KERNELS = 50 };
    struct hermes_engine *engine = new_engine();
    long before, after;

    hermes_set_option(engine, "max_session_kernels", "1000", NULL);
    run_in(engine, "first", "x=1");
    before = status_kib("VmRSS:");
    for (int i = 0; i < KERNELS; i++) {
        char session[16];

        snprintf(session, sizeof session, "s%d", i);
        run_in(engine, session, "x=1");
    }
    after = status_kib("VmRSS:");
    printf("host with one kernel\tKiB\t%ld\n", before);
    printf("host, each further kernel\tKiB\t%.1f\n", (double)(after - before) / KERNELS);
    hermes_engine_free(engine);
}

int main(int argc, char **argv)
{
    const char *what;

    if (argc != 4 || (rounds = atoi(argv[2])) < 1 || rounds > MAX_ROUNDS) {
        fprintf(stderr, "usage: bench_engine PYTHON ROUNDS "
                        "cold|warm|reset|interrupt|tool|lines|blocks|kernels\n");
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
    else if (strcmp(what, "interrupt") == 0)
        bench_interrupt();
    else if (strcmp(what, "tool") == 0)
        bench_tool();
    else if (strcmp(what, "lines") == 0)
        bench_output("L='x'*99\nfor i in range(300000): print(L)", 30);
    else if (strcmp(what, "blocks") == 0)
        bench_output(
            "import posix\nB=(b'x'*99+b'\\n')*10000\nfor i in range(200): posix.write(1,B)", 200);
    else if (strcmp(what, "kernels") == 0)
        bench_kernels();
    else
        return 2;
    return 0;
}
