/* SPDX-License-Identifier: MIT */
/*
 * usage: soak cells [N]        N cells (1 000 000) on one kernel: memory of both sides stays flat
 *        soak output [MB]      that much output (10 240) through one cell: memory is bounded, totals
 *                              are true
 *        soak resets [N]       N resets (500), each in another state of the kernel: nothing is left
 *        soak interrupts [N]   N interrupts (500) of one kernel: state is kept, nothing is left
 *
 * Figures and a last line "soak ...: passed"; the status is 1 when a bound is broken.
 */
#include "config.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "hermes-kernel.h"
#include "host.h"

enum {
    PARTS = 10,              /* looks at memory in a run */
    CELLS_HOST_KB = 2 << 10, /* what memory may grow by from the first look to the last */
    CELLS_KERNEL_KB = 8 << 10,
    OUTPUT_HOST_KB = 16 << 10,
    ENDS_HOST_KB = 4 << 10,
};

static struct hermes_engine *engine;
static char directory[PATH_MAX];
static bool broken;

static void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void fail(const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "soak: ");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    exit(1);
}

static void bound(const char *what, long value, long limit)
{
    if (value <= limit)
        return;
    printf("%s: %ld, and the bound is %ld\n", what, value, limit);
    broken = true;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void option(const char *name, const char *value)
{
    if (hermes_set_option(engine, name, value, NULL))
        fail("option %s", name);
}

static struct hermes_result *run(const char *code, unsigned flags)
{
    struct hermes_cell cell = HERMES_CELL_INIT;
    struct hermes_result *result = NULL;
    struct hermes_error error = {0};

    cell.session = "soak";
    cell.code = code;
    cell.flags = flags;
    cell.timeout_ms = -1;
    if (hermes_execute(engine, &cell, &result, &error))
        fail("%s", error.text);
    return result;
}

static void expect(const struct hermes_result *result, enum hermes_outcome outcome)
{
    if (result->outcome != outcome)
        fail("a cell answers %s", hermes_result_json(result, NULL));
}

/* ---- a million cells -------------------------------------------------------------------- */

/* Each another text, and one that makes and drops objects, prints, or fails. */
static void make_cell(char *code, size_t size, long number)
{
    static const char *const before[] = {"n =", "print('cell',", "def f(a): return [a] * 100\nf(",
                                         "class C: v =", "try: 1 / 0\nexcept: n ="},
                             *const behind[] = {"", ")", ")", "", ""};

    if (number % 1000 == 999)
        snprintf(code, size, "raise ValueError(%ld)\n", number);
    else
        snprintf(code, size, "%s %ld%s\n", before[number % 5], number, behind[number % 5]);
}

static void soak_cells(long count)
{
    long host_first = 0, kernel_first = 0, host = 0, kernel = 0, part = count / PARTS;
    double start = now();

    for (long i = 0; i < count; i++) {
        char code[128];
        struct hermes_result *result;

        make_cell(code, sizeof code, i);
        result = run(code, 0);
        expect(result, i % 1000 == 999 ? HERMES_ERROR : HERMES_SUCCESS);
        if ((long)result->execution_count != i + 1)
            fail("cell %ld is told as %llu", i + 1, (unsigned long long)result->execution_count);
        if ((i + 1) % (part ? part : 1) == 0) {
            host = host_rss_kb((int)getpid());
            kernel = host_rss_kb((int)result->kernel_pid);
            if (!host_first) {
                host_first = host;
                kernel_first = kernel;
            }
            printf("%8ld cells  %6.1f s  host %6ld kB  kernel %6ld kB\n", i + 1, now() - start,
                   host, kernel);
            fflush(stdout);
        }
        hermes_result_free(result);
    }
    if (!HOST_SANITIZED)
        bound("growth of the host, kB", host - host_first, CELLS_HOST_KB);
    bound("growth of the kernel, kB", kernel - kernel_first, CELLS_KERNEL_KB);
}

/* ---- much output ------------------------------------------------------------------------ */

static void soak_output(long mb)
{
    long before = host_rss_kb((int)getpid()), after;
    double start = now();
    struct hermes_result *result;
    char code[300];

    snprintf(code, sizeof code,
             "import sys\n"
             "piece = (('x' * 99 + '\\n') * 10486)[:1 << 20]\n"
             "for _ in range(%ld):\n    sys.stdout.write(piece)\n",
             mb);
    result = run(code, 0);
    expect(result, HERMES_SUCCESS);
    after = host_rss_kb((int)getpid());
    printf("%ld MB in %.1f s: total %llu, kept %llu, left out %llu bytes; host %ld kB before, "
           "%ld after\n",
           mb, now() - start, (unsigned long long)result->bytes_total,
           (unsigned long long)result->bytes_captured, (unsigned long long)result->bytes_omitted,
           before, after);
    if (result->bytes_total != (uint64_t)mb << 20 ||
        result->bytes_captured + result->bytes_omitted != result->bytes_total)
        fail("the totals are wrong");
    if (!HOST_SANITIZED)
        bound("growth of the host, kB", after - before, OUTPUT_HOST_KB);
    hermes_result_free(result);
}

/* ---- resets and interrupts -------------------------------------------------------------- */

static void check_left(const struct host *before)
{
    struct host after;

    hermes_shutdown_all(engine);
    host_look(&after, directory);
    printf("left: %d descriptors (%d before), %d processes, %d files (%d); host %ld kB (%ld)\n",
           after.descriptors, before->descriptors, after.processes, after.entries, before->entries,
           after.rss_kb, before->rss_kb);
    bound("descriptors", after.descriptors, before->descriptors);
    bound("processes", after.processes, 0);
    bound("files", after.entries, before->entries);
    if (!HOST_SANITIZED)
        bound("growth of the host, kB", after.rss_kb - before->rss_kb, ENDS_HOST_KB);
}

/* What an engine makes once is made: what is there now is the measure. */
static void warm_up(struct host *before)
{
    hermes_event_fd(engine);
    hermes_result_free(run("1", 0));
    hermes_shutdown_all(engine);
    host_look(before, directory);
}

static uint64_t submit(const char *code)
{
    struct hermes_cell cell = HERMES_CELL_INIT;
    uint64_t id;

    cell.session = "soak";
    cell.code = code;
    if (hermes_submit(engine, &cell, &id, NULL))
        fail("a cell is refused");
    return id;
}

/* The next event of a cell with this type; all others are let go. */
static struct hermes_event *wait_event(uint64_t cell, enum hermes_event_type type)
{
    struct hermes_event *event;

    do {
        if (hermes_next_event(engine, 60000, &event) || !event)
            fail("no event");
        if (event->cell == cell && event->type == type)
            return event;
        hermes_event_free(event);
    } while (true);
}

static void soak_resets(long count)
{
    static const char daemon[] = "import subprocess\n"
                                 "subprocess.Popen(['sleep', '1000'], start_new_session=True)\n";
    struct host before;
    double start = now();

    warm_up(&before);
    for (long i = 0; i < count; i++) {
        struct hermes_event *done;
        uint64_t cell;

        if (i % 3 == 0) { /* while it is idle, with a descendant */
            hermes_result_free(run(daemon, 0));
        } else if (i % 3 == 1) { /* while it runs a cell */
            cell = submit("import time\ntime.sleep(1000)\n");
            hermes_event_free(wait_event(cell, HERMES_EVENT_STARTED));
        } else { /* while it starts */
            cell = submit("1\n");
        }
        if (hermes_reset(engine, "soak", NULL))
            fail("reset %ld finds no kernel", i);
        if (i % 3 == 0)
            continue;
        done = wait_event(cell, HERMES_EVENT_DONE);
        if (i % 3 == 1)
            expect(done->result, HERMES_INTERRUPTED);
        hermes_event_free(done);
    }
    printf("%ld resets in %.1f s\n", count, now() - start);
    check_left(&before);
}

static void soak_interrupts(long count)
{
    struct host before;
    double start = now();
    struct hermes_result *result;

    warm_up(&before);
    hermes_result_free(run("kept = 1\n", 0));
    for (long i = 0; i < count; i++) {
        uint64_t cell = submit("import time\nwhile True:\n    time.sleep(0.01)\n");
        struct hermes_event *done;

        if (i % 2)
            hermes_event_free(wait_event(cell, HERMES_EVENT_STARTED));
        if (hermes_interrupt(engine, cell, NULL, 30000))
            fail("interrupt %ld finds no cell", i);
        done = wait_event(cell, HERMES_EVENT_DONE);
        expect(done->result, HERMES_INTERRUPTED);
        if (done->result->state_kept != 1 && done->result->started)
            fail("state is lost: %s", hermes_result_json(done->result, NULL));
        hermes_event_free(done);
    }
    result = run("print(kept)\n", 0);
    expect(result, HERMES_SUCCESS);
    printf("%ld interrupts in %.1f s, state kept\n", count, now() - start);
    hermes_result_free(result);
    check_left(&before);
}

/* ---- the program ------------------------------------------------------------------------ */

static void set_up(void)
{
    const char *build = getenv("HERMES_TEST_BUILDDIR"), *python = getenv("TEST_PYTHON"),
               *temporary = getenv("TMPDIR");
    char top[PATH_MAX], path[PATH_MAX + 32];

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    snprintf(directory, sizeof directory, "%s/hermes-soak-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(directory) || !realpath(build ? build : ".", top))
        fail("no directory");
    setenv("TMPDIR", directory, 1);
    if (hermes_engine_new(&engine, NULL))
        fail("no engine");
    option("python", python ? python : "/usr/bin/python3");
    snprintf(path, sizeof path, "%s/hermes-kernel-guard", top);
    option("guard", path);
    snprintf(path, sizeof path, "%s/hermes_kernel_runner.py", top);
    option("runner", path);
    option("spill", "off");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(long);
        long count;
    } runs[] = {{"cells", soak_cells, 1000000},
                {"output", soak_output, 10240},
                {"resets", soak_resets, 500},
                {"interrupts", soak_interrupts, 500}};

    for (size_t i = 0; argc > 1 && i < sizeof runs / sizeof *runs; i++) {
        long count = argc > 2 ? strtol(argv[2], NULL, 10) : runs[i].count;

        if (strcmp(argv[1], runs[i].name) != 0)
            continue;
        if (count < 1)
            fail("a number above 0, please");
        set_up();
        runs[i].run(count);
        hermes_engine_free(engine);
        if (rmdir(directory))
            fail("%s is not empty", directory);
        printf("soak %s: %s\n", argv[1], broken ? "FAILED" : "passed");
        return broken;
    }
    fail("usage: soak cells|output|resets|interrupts [NUMBER]");
}
