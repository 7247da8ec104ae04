/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench-common.h"

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

const char *python;
int rounds;

void fail(const char *what)
{
    fprintf(stderr, "bench_engine: %s (%s)\n", what, strerror(errno));
    exit(1);
}

double now_us(void)
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

double quantile(double *values, int count, double q)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[(int)(q * (count - 1) + 0.5)];
}

void print_series(const struct series *series)
{
    printf("%s\t%s", series->name, series->unit);
    for (int i = 0; i < rounds; i++)
        printf("\t%.6g", series->value[i]);
    printf("\n");
}

/* ---- the floor -------------------------------------------------------------------------- */

static const char floor_runner[] = "import posix,sys\n"
                                   "g={}\n"
                                   "while 1:\n"
                                   " b=posix.read(3,65536)\n"
                                   " if not b: break\n"
                                   " exec(b[4:].decode(),g)\n"
                                   " sys.stdout.flush()\n"
                                   " posix.write(3,b'\\1\\0\\0\\0o')\n";

void floor_start(struct floor *floor, const char *const *flags)
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

void floor_run(struct floor *floor, const char *code)
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

void floor_stop(struct floor *floor)
{
    kill(floor->pid, SIGKILL);
    waitpid(floor->pid, NULL, 0);
    close(floor->control);
    close(floor->output);
}

/* ---- the engine ------------------------------------------------------------------------- */

struct hermes_engine *new_engine(void)
{
    struct hermes_engine *engine;
    struct hermes_error error;

    if (hermes_engine_new(&engine, &error))
        fail(error.text);
    return engine;
}

void run_in(struct hermes_engine *engine, const char *session, const char *code)
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

double time_python(const char *const *argv)
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

long status_kib(const char *field)
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
