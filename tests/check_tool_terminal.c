/* SPDX-License-Identifier: MIT */
/*
 * terminal with real shells: output, exit codes, time limits, cancelling, and that nothing is left.
 */
#include "config.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool-testlib.h"

static struct test_processes *processes;

static void setup(void)
{
    tool_test_setup();
    processes = test_processes_take();
}

static void teardown(void)
{
    test_processes_check(processes, 3000);
    tool_test_teardown();
}

START_TEST(output_and_exit_code)
{
    cJSON *answer = call("terminal", "{'command': 'echo one; echo two >&2; echo three; exit 3'}");
    ck_assert_str_eq(text_of(answer, "output"), "one\ntwo\nthree\n");
    ck_assert_int_eq(number_of(answer, "exit_code"), 3);
    ck_assert_ptr_null(member(answer, "error"));
    ck_assert_ptr_null(member(answer, "truncated"));
    answer = call("terminal", "{'command': 'true', 'timeout': null, 'workdir': null}");
    ck_assert_str_eq(text_of(answer, "output"), "");
    ck_assert_int_eq(number_of(answer, "exit_code"), 0);
    answer = call("terminal", "{'command': 'no-such-command-here'}");
    ck_assert_int_eq(number_of(answer, "exit_code"), 127);
}
END_TEST

START_TEST(signals)
{
    cJSON *answer = call("terminal", "{'command': 'kill -SEGV $$'}");
    ck_assert_int_eq(number_of(answer, "exit_code"), 128 + SIGSEGV);
    ck_assert_ptr_nonnull(strstr(text_of(answer, "error"), "signal 11"));
    /* The child has the default dispositions and an empty mask. */
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGUSR2, SIG_IGN);
    answer = call("terminal", "{'command': 'grep -E \\\"Sig(Blk|Ign)\\\" /proc/self/status'}");
    ck_assert_ptr_nonnull(strstr(text_of(answer, "output"), "SigBlk:\t0000000000000000"));
    /* 32 and 33 are the C library's own: whoever starts us by posix_spawn may have them ignored. */
    const char *ignored = strstr(text_of(answer, "output"), "SigIgn:\t");
    ck_assert_ptr_nonnull(ignored);
    ck_assert_uint_eq(strtoull(ignored + 8, NULL, 16) & ~0x180000000ULL, 0);
}
END_TEST

START_TEST(surroundings)
{
    ck_assert_int_eq(mkdir(test_path("sub"), 0755), 0);
    cJSON *answer = call("terminal", "{'command': 'pwd', 'workdir': 'sub'}");
    ck_assert_ptr_nonnull(strstr(text_of(answer, "output"), "/sub\n"));
    answer = call("terminal", "{'command': 'pwd'}");
    ck_assert_ptr_null(strstr(text_of(answer, "output"), "/sub"));
    call("terminal", "{'command': 'pwd', 'workdir': 'nowhere'}");
    ck_error("workdir");
    ck_error("No such file or directory");
    answer = call("terminal", "{'command': 'cat; test -t 0 || echo no terminal'}");
    ck_assert_str_eq(text_of(answer, "output"), "no terminal\n");
    answer = call("terminal",
                  "{'command': 'ls /proc/self/fd | wc -l'}"); /* 0 1 2 and the directory itself */
    ck_assert_int_eq(strtol(text_of(answer, "output"), NULL, 10), 4);
    answer = call("terminal", "{'command': 'echo $$; ps -o sid= -p $$'}");
    char *end;
    long pid = strtol(text_of(answer, "output"), &end, 10);
    ck_assert_int_eq(strtol(end, NULL, 10), pid);
}
END_TEST

START_TEST(given_environment)
{
    char one[] = "ONE=1", path[] = "PATH=/usr/bin:/bin";
    char *environment[] = {one, path, NULL};
    test_context.environment = environment;
    cJSON *answer = call("terminal", "{'command': 'echo $ONE-$HOME-'}");
    ck_assert_str_eq(text_of(answer, "output"), "1--\n");
}
END_TEST

START_TEST(bad_calls)
{
    static const char *const rows[][2] = {
        {"{}", "'command' is missing"},
        {"{'command': ' \\n'}", "the command is empty"},
        {"{'command': 'true', 'timeout': 0}", "'timeout' must be"},
        {"{'command': 'true', 'timeout': -1}", "'timeout' must be"},
        {"{'command': 'true', 'timeout': 1e99}", "'timeout' must be"},
        {"{'command': 'true', 'timeout': '5'}", "'timeout' must be a number"},
        {"{'command': 'true', 'shell': 'x'}",
         "unknown argument 'shell'; known: command, timeout, workdir"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        call("terminal", "%s", rows[i][0]);
        ck_error(rows[i][1]);
    }
    cJSON *answer =
        call("terminal",
             "{'command': 'echo x', 'background': true, 'pty': true, 'watch_patterns': ['x']}");
    ck_assert_str_eq(text_of(answer, "output"), "x\n");
}
END_TEST

START_TEST(much_output)
{
    cJSON *answer = call("terminal", "{'command': 'seq 1 100000'}");
    const char *output = text_of(answer, "output");
    ck_assert(is_true(answer, "truncated"));
    ck_assert_int_eq(number_of(answer, "output_bytes"), 588895);
    ck_assert_uint_lt(strlen(output), 50200);
    ck_assert(strncmp(output, "1\n2\n3\n", 6) == 0);
    ck_assert_str_eq(output + strlen(output) - 13, "99999\n100000\n");
    ck_assert_ptr_nonnull(strstr(output, "OUTPUT TRUNCATED: 538895 of 588895 bytes left out"));
    answer = call("terminal", "{'command': 'seq 1 10000 | head -c 50000'}"); /* just what is kept */
    ck_assert_uint_eq(strlen(text_of(answer, "output")), 48894);
    ck_assert_ptr_null(member(answer, "truncated"));
    answer = call("terminal", "{'command': 'head -c 50000 /dev/zero | tr \\\"\\\\\\\\0\\\" x'}");
    ck_assert_uint_eq(strlen(text_of(answer, "output")), 50000);
    ck_assert_ptr_null(member(answer, "truncated"));
    answer = call("terminal", "{'command': 'yes \xE2\x82\xAC | head -c 100000'}");
    ck_assert_ptr_null(strstr(text_of(answer, "output"), "\xEF\xBF\xBD"));
}
END_TEST

START_TEST(not_utf8)
{
    cJSON *answer = call("terminal", "{'command': 'printf \\\"a\\\\\\\\377b\\\"'}");
    ck_assert_str_eq(text_of(answer, "output"), "a\xEF\xBF\xBD"
                                                "b");
}
END_TEST

START_TEST(time_limit)
{
    int64_t start = test_now_ms();
    cJSON *answer =
        call("terminal", "{'command': 'echo begun; sleep 100; echo not reached', 'timeout': 1.5}");
    ck_assert_str_eq(text_of(answer, "output"), "begun\n");
    ck_assert_int_eq(number_of(answer, "exit_code"), 124);
    ck_assert_ptr_nonnull(strstr(text_of(answer, "error"), "timed out after 1.5 s"));
    ck_assert_int_lt(test_now_ms() - start, test_scaled_ms(10000));
}
END_TEST

static bool exists(void *argument)
{
    return test_exists(argument);
}

/* Those that ignore SIGTERM, leave the session, or have lost their parent go, too. */
START_TEST(whole_tree)
{
    struct strbuf script = STRBUF_INIT;
    strbuf_adds(&script, "import os, signal, time\n"
                         "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                         "if os.fork() == 0:\n"
                         "    os.setsid()\n"
                         "    if os.fork() == 0:\n"
                         "        open('new', 'w').write(str(os.getpid()))\n"
                         "        os.rename('new', 'daemon')\n"
                         "        time.sleep(100)\n"
                         "    os._exit(0)\n"
                         "os.wait()\n"
                         "time.sleep(100)\n");
    test_write_file(test_path("tree.py"), strbuf_text(&script), 0644);
    strbuf_free(&script);
    char *path = strdup(test_path("daemon"));
    test_context.cancelled = exists;
    test_context.cancel_argument = path;
    cJSON *answer = call("terminal", "{'command': 'sleep 100 & %s tree.py'}", test_python());
    ck_assert_int_eq(number_of(answer, "exit_code"), 130);
    free(path);
    char *pid = test_read_file(test_path("daemon"));
    ck_assert(test_wait(!test_process_lives((pid_t)strtol(pid, NULL, 10)), 2000));
    free(pid);
    ck_assert(test_wait(test_processes_new(processes) == 0, 2000));
}
END_TEST

/* The command ends with its shell, even if something holds its output. */
START_TEST(background)
{
    int64_t start = test_now_ms();
    cJSON *answer =
        call("terminal", "{'command': 'sleep 100 & sleep 101 >/dev/null 2>&1 & echo started'}");
    ck_assert_str_eq(text_of(answer, "output"), "started\n");
    ck_assert_int_eq(number_of(answer, "exit_code"), 0);
    ck_assert_int_eq(number_of(answer, "background_processes_ended"), 2);
    ck_assert_int_lt(test_now_ms() - start, test_scaled_ms(10000));
    answer = call("terminal", "{'command': 'yes & echo started'}"); /* prints for ever */
    ck_assert_int_eq(number_of(answer, "exit_code"), 0);
}
END_TEST

struct canceller {
    int fd;
    const char *path;
};

static void *cancel_later(void *argument)
{
    const struct canceller *canceller = argument;
    test_wait(test_exists(canceller->path), 10000);
    ssize_t done = write(canceller->fd, "x", 1);
    return done == 1 ? NULL : argument;
}

START_TEST(cancelled_by_descriptor)
{
    int fds[2];
    pthread_t thread;
    ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
    struct canceller canceller = {fds[1], test_path("begun")};
    test_context.cancel_fd = fds[0];
    ck_assert_int_eq(pthread_create(&thread, NULL, cancel_later, &canceller), 0);
    cJSON *answer = call("terminal", "{'command': 'echo a; touch begun; sleep 100'}");
    ck_assert_int_eq(number_of(answer, "exit_code"), 130);
    ck_assert_str_eq(text_of(answer, "output"), "a\n");
    ck_assert_ptr_nonnull(strstr(text_of(answer, "error"), "interrupted"));
    pthread_join(thread, NULL);
    close(fds[0]);
    close(fds[1]);
}
END_TEST

START_TEST(cancelled_by_question)
{
    char *path = strdup(test_path("begun"));
    test_context.cancelled = exists;
    test_context.cancel_argument = path;
    cJSON *answer = call("terminal", "{'command': 'touch begun; sleep 100'}");
    ck_assert_int_eq(number_of(answer, "exit_code"), 130);
    free(path);
}
END_TEST

static void *run_many(void *argument)
{
    for (int i = 0; i < 5; i++) {
        struct strbuf arguments = STRBUF_INIT, result = STRBUF_INIT;
        strbuf_addf(&arguments, "{\"command\": \"echo %s%d\"}", (const char *)argument, i);
        tool_call(&test_context, "terminal", arguments.data, arguments.size, &result);
        strbuf_setf(&arguments, "\"output\": \"%s%d\\n\"", (const char *)argument, i);
        if (!strstr(strbuf_text(&result), strbuf_text(&arguments)))
            return result.data;
        strbuf_free(&arguments);
        strbuf_free(&result);
    }
    return NULL;
}

/* Nobody reaps what is not his. */
START_TEST(from_many_threads)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    pthread_t threads[4];
    pid_t other = fork();
    if (other == 0)
        _exit(7);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_many, (void *)names[i]), 0);
    for (int i = 0; i < 4; i++) {
        void *error;
        pthread_join(threads[i], &error);
        ck_assert_msg(!error, "%s", (char *)error);
    }
    ck_assert_int_eq(WEXITSTATUS(test_reap(other, 1000)), 7);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tool_terminal");
    TCase *tests = tcase_create("terminal");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    suite_add_tcase(suite, tests);
    tcase_add_test(tests, output_and_exit_code);
    tcase_add_test(tests, signals);
    tcase_add_test(tests, surroundings);
    tcase_add_test(tests, given_environment);
    tcase_add_test(tests, bad_calls);
    tcase_add_test(tests, much_output);
    tcase_add_test(tests, not_utf8);
    tcase_add_test(tests, time_limit);
    tcase_add_test(tests, whole_tree);
    tcase_add_test(tests, background);
    tcase_add_test(tests, cancelled_by_descriptor);
    tcase_add_test(tests, cancelled_by_question);
    tcase_add_test(tests, from_many_threads);
    return test_run(suite);
}
