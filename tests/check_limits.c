/* SPDX-License-Identifier: MIT */
/*
 * Limits on what a kernel may use: that they hold for it and for its children, that the one which
 * was met is named, and that nothing but the cell suffers.
 */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine-testlib.h"

static void met(const struct hermes_result *result, const char *option, const char *words)
{
    EXPECT(result, result->outcome == HERMES_ERROR && result->limit &&
                       !strcmp(result->limit, option) &&
                       (te_error_has(result, words) ||
                        (result->hint && strstr(result->hint, words) != NULL)));
}

/* The cell fails with the exception, names the limit, and the kernel goes on. */
static void is_refused(const char *code, const char *exception, const char *option,
                       const char *words)
{
    struct hermes_result *result;

    te_succeeds("a", "kept = 1");
    result = te_run("a", code);
    EXPECT(result, te_error_has(result, exception) && !result->ended);
    met(result, option, words);
    hermes_result_free(result);
    te_says("a", "print(kept)", "1\n");
}

START_TEST(memory)
{
    te_set(engine, "memory_limit", "128");
    is_refused("x = bytearray(200 << 20)", "MemoryError", "memory_limit",
               "memory limit of 128 MiB");
    te_says("a", "x = bytearray(32 << 20); print(len(x) >> 20)", "32\n");
    te_says("a",
            "import subprocess, sys\n"
            "p = subprocess.run([sys.executable, '-c', 'bytearray(200 << 20)'],\n"
            "                   capture_output=True, text=True)\n"
            "print(p.stderr.splitlines()[-1])",
            "MemoryError\n");
}
END_TEST

/* A signal tells that CPU time is up; who catches it is killed a second later. */
START_TEST(cpu_time)
{
    static const char *const loops[] = {
        "while True: pass",
        "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
    };
    static const char *const words[] = {"(CPU time limit of 1 s, SIGXCPU)",
                                        "(CPU time limit of 1 s, SIGKILL)"};
    struct hermes_result *result;

    te_set(engine, "cpu_limit", "1");
    result = te_run_timeout("a", loops[_i], 60000);
    EXPECT(result, result->ended && result->term_signal);
    met(result, "cpu_limit", words[_i]);
    hermes_result_free(result);
    te_says_fresh("a", "print('up')", "up\n", HERMES_PREVIOUS_DIED);
    result = te_run("a", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)");
    EXPECT(result, result->ended && !result->limit); /* nothing was met */
    hermes_result_free(result);
}
END_TEST

START_TEST(file_size)
{
    char code[300];
    struct hermes_result *result;

    te_set(engine, "file_size_limit", "1");
    snprintf(code, sizeof code, "open('%s', 'wb').write(b'x' * (2 << 20))", test_path("large"));
    is_refused(code, "File too large", "file_size_limit", "file size limit of 1 MiB");
    result = te_run("a", "print('x' * (2 << 20))"); /* not for pipes, nor for what we write */
    EXPECT(result, result->outcome == HERMES_SUCCESS && result->spill_path);
    unlink(result->spill_path);
    hermes_result_free(result);
}
END_TEST

START_TEST(open_files)
{
    struct hermes_kernel_setup setup = HERMES_KERNEL_SETUP_INIT;
    struct hermes_cell cell = te_cell("tty", "import os\nprint(os.isatty(1))");
    struct hermes_result *result;

    te_set(engine, "open_files_limit", "32");
    is_refused("files = [open('/dev/null') for n in range(99)]", "Too many open files",
               "open_files_limit", "open files limit of 32");
    setup.io = HERMES_IO_TTY;
    setup.requests = true;
    cell.setup = &setup;
    result = te_run_cell(engine, &cell); /* with all its channels */
    EXPECT(result, result->outcome == HERMES_SUCCESS && te_has(result, "True"));
    hermes_result_free(result);
}
END_TEST

/* Where this stands may be closed to others. */
static void become_nobody(void)
{
    char command[3 * PATH_MAX];

#ifdef HERMES_NO_GUARD
    const char guard[] = "";
#else
    char guard[PATH_MAX];

    snprintf(guard, sizeof guard, "'%s'", test_build_path("hermes-kernel-guard"));
    te_set(engine, "guard", test_path("hermes-kernel-guard"));
#endif
    snprintf(command, sizeof command, "cp -r '%s/runner' %s '%s'", HERMES_TEST_SRCDIR, guard,
             test_directory());
    ck_assert_int_eq(system(command), 0);
    te_set(engine, "runner", test_path("runner/hermes_kernel_runner.py"));
    ck_assert_int_eq(chown(test_directory(), 65534, 65534) | chdir(test_directory()), 0);
    ck_assert_int_eq(setresgid(65534, 65534, 65534), 0);
    ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
}

/* Root is not limited, so it is nobody who tries. */
START_TEST(processes)
{
    if (getuid() == 0)
        become_nobody();
    te_set(engine, "process_limit", "1");
    is_refused("import os; os.fork()", "Resource temporarily", "process_limit",
               "process limit of 1");
    is_refused("import threading; threading.Thread(target=print).start()", "can't start new thread",
               "process_limit", "process limit of 1");
}
END_TEST

static const char SHOW[] =
    "import resource as r\n"
    "print(*[r.getrlimit(n)[0] for n in (r.RLIMIT_DATA, r.RLIMIT_CPU, r.RLIMIT_NPROC,\n"
    "                                    r.RLIMIT_FSIZE, r.RLIMIT_NOFILE)])";

/* As text, as Python shows it. */
static void add_ours(char *text, size_t size, int resource)
{
    struct rlimit limit;

    ck_assert_int_eq(getrlimit(resource, &limit), 0);
    snprintf(text + strlen(text), size - strlen(text), "%s%lld", *text ? " " : "",
             limit.rlim_cur == RLIM_INFINITY ? -1LL : (long long)limit.rlim_cur);
}

START_TEST(no_limits_by_themselves)
{
    static const int resources[] = {RLIMIT_DATA, RLIMIT_CPU, RLIMIT_NPROC, RLIMIT_FSIZE,
                                    RLIMIT_NOFILE};
    char ours[200] = "";
    struct hermes_result *result;

    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
        add_ours(ours, sizeof ours, resources[i]);
    strcat(ours, "\n");
    te_says("a", SHOW, ours);
    result = te_run("a", "raise MemoryError");
    EXPECT(result, result->outcome == HERMES_ERROR && !result->limit && !result->hint);
    hermes_result_free(result);
}
END_TEST

/* Each kernel has those of its start; what the host may not have, its kernels may not either. */
START_TEST(limits_are_those_of_the_start)
{
    struct rlimit files = {200, 200};

    te_says("b", "print(1)", "1\n");
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
    te_set(engine, "memory_limit", "64");
    te_set(engine, "cpu_limit", "7");
    te_set(engine, "process_limit", "20000");
    te_set(engine, "file_size_limit", "3");
    te_set(engine, "open_files_limit", "100000");
    te_says("a", SHOW, "67108864 7 20000 3145728 200\n");
    te_set(engine, "memory_limit", "off");
    te_says("a", "print(r.getrlimit(r.RLIMIT_DATA)[1])", "67108864\n");
    te_says("b", "import resource; print(resource.getrlimit(resource.RLIMIT_CPU)[0])", "-1\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("limits");
    TCase *tcase = tcase_create("limits");

    te_add_cases(suite, &tcase, 1, te_set_up);
    tcase_add_test(tcase, memory);
    tcase_add_loop_test(tcase, cpu_time, 0, 2);
    tcase_add_test(tcase, file_size);
    tcase_add_test(tcase, open_files);
    tcase_add_test(tcase, processes);
    tcase_add_test(tcase, no_limits_by_themselves);
    tcase_add_test(tcase, limits_are_those_of_the_start);
    return test_run(suite);
}
