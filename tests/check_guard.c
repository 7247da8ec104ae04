/* SPDX-License-Identifier: MIT */
/*
 * The guard as a program: how it starts a kernel, what it tells of it, and that it costs nothing.
 * Needs no engine and no runner.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard-testlib.h"

/* ---- the start -------------------------------------------------------------------------- */

START_TEST(kernel_has_its_own_session_clean_signals_and_only_its_descriptors)
{
    struct guarded guarded;

    gt_start_python(&guarded, "import os\n"
                              "status = open('/proc/self/status').read()\n"
                              "mask = [l for l in status.splitlines() if l.startswith('SigBlk')]\n"
                              "fds = sorted(int(n) for n in os.listdir('/proc/self/fd'))\n"
                              "print(os.getpid(), os.getppid(), os.getsid(0), os.getpgid(0),\n"
                              "      int(mask[0].split()[1], 16), fds, os.getcwd())\n");
    char expected[PATH_MAX + 200], cwd[PATH_MAX];
    ck_assert_ptr_nonnull(getcwd(cwd, sizeof cwd));
    /* 4 is the descriptor of the listing itself */
    snprintf(expected, sizeof expected, "%d %d %d %d 0 [0, 1, 2, 3, 4] %s\n", guarded.kernel,
             guarded.guard, guarded.kernel, guarded.kernel, cwd);
    ck_assert_str_eq(gt_read_line(&guarded), expected);
    gt_expect_end(&guarded, 0);
}
END_TEST

START_TEST(ignored_signals_of_the_guard_are_not_inherited)
{
    struct guarded guarded;

    gt_start(&guarded, (const char *[]){"/bin/grep", "SigIgn", "/proc/self/status", NULL});
    ck_assert_str_eq(gt_read_line(&guarded), "SigIgn:\t0000000000000000\n");
    gt_expect_end(&guarded, 0);
}
END_TEST

START_TEST(control_and_aux_sockets_arrive_as_3_and_4)
{
    struct guarded guarded;
    char answer[16] = "";

    gt_start_argv(&guarded, true,
                  (const char *[]){test_python(), "-c",
                                   "import os; os.write(4, os.read(3, 10)); os.write(3, b'done');"
                                   "print(len(os.listdir('/proc/self/fd')))",
                                   NULL});
    gt_expect(&guarded, HR_GUARD_STARTED);
    ck_assert_int_eq(write(guarded.control, "question", 8), 8);
    ck_assert_int_eq(read(guarded.aux, answer, sizeof answer), 8);
    ck_assert_str_eq(answer, "question");
    ck_assert_int_eq(read(guarded.control, answer, 4), 4);
    ck_assert_str_eq(gt_read_line(&guarded), "6\n");
    /* the guard holds nothing of the kernel's: with the kernel they end */
    ck_assert_int_eq(read(guarded.control, answer, sizeof answer), 0);
    ck_assert_int_eq(read(guarded.output, answer, sizeof answer), 0);
    gt_expect_end(&guarded, 0);
}
END_TEST

START_TEST(guard_holds_no_stream_and_no_directory)
{
    struct guarded guarded;
    char path[64], target[PATH_MAX];
    ssize_t n;

    gt_start_self(&guarded, "--sleep");
    for (int fd = 0; fd <= 2; fd++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", guarded.guard, fd);
        ck_assert(test_wait((n = readlink(path, target, sizeof target)) == 9, GT_SOON_MS));
        ck_assert_mem_eq(target, "/dev/null", 9);
    }
    snprintf(path, sizeof path, "/proc/%d/cwd", guarded.guard);
    ck_assert(test_wait(readlink(path, target, sizeof target) == 1, GT_SOON_MS));
    gt_say(&guarded, HR_GUARD_KILL, 0, 0);
    gt_expect_end(&guarded, SIGKILL);
}
END_TEST

START_TEST(missing_interpreter_is_told_by_errno)
{
    static const struct {
        const char *path;
        int error;
    } cases[] = {{"/nowhere/python3", ENOENT}, {"/etc", EACCES}, {"/etc/passwd", EACCES}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct guarded guarded;

        gt_start_argv(&guarded, false, (const char *[]){cases[i].path, "-c", "", NULL});
        ck_assert_int_eq(gt_expect(&guarded, HR_GUARD_EXEC_FAILED).a, cases[i].error);
        ck_assert(WIFEXITED(gt_expect(&guarded, HR_GUARD_EXITED).a));
        gt_expect(&guarded, HR_GUARD_GONE);
        gt_finish(&guarded);
        gt_before = test_processes_take();
    }
    test_processes_check(gt_before, GT_SOON_MS);
}
END_TEST

START_TEST(guard_is_the_one_direct_child_and_has_the_runners_name)
{
    struct guarded guarded;
    char command[100], found[64] = "", expected[32];
    FILE *pgrep;

    gt_start_python(&guarded, "import time; time.sleep(100)");
    snprintf(command, sizeof command, "exec pgrep -P %d -f hermes_kernel_runner", getpid());
    pgrep = popen(command, "r");
    ck_assert_ptr_nonnull(pgrep);
    ck_assert_uint_gt(fread(found, 1, sizeof found - 1, pgrep), 0);
    pclose(pgrep);
    snprintf(expected, sizeof expected, "%d\n", guarded.guard);
    ck_assert_str_eq(found, expected);
    gt_say(&guarded, HR_GUARD_KILL, 0, 0);
    gt_expect_end(&guarded, SIGKILL);
}
END_TEST

START_TEST(started_by_hand_it_says_what_it_is)
{
    const char *argv[] = {test_build_path("hermes-kernel-guard"), "--help", NULL};
    char text[200] = "";
    int output[2], status;
    pid_t pid;

    ck_assert_int_eq(pipe2(output, O_CLOEXEC), 0);
    pid = test_spawn(argv, (int[]){-1, -1, output[1]}, 3, NULL);
    close(output[1]);
    status = test_reap(pid, GT_SOON_MS);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    ck_assert_int_gt(read(output[0], text, sizeof text - 1), 0);
    ck_assert_ptr_nonnull(strstr(text, "hermes-repl"));
    close(output[0]);
    test_processes_check(gt_before, GT_SOON_MS);
}
END_TEST

/* ---- the end of the kernel -------------------------------------------------------------- */

START_TEST(exit_status_and_signal_are_told)
{
    struct guarded guarded;

    gt_start_python(&guarded, "import os; os._exit(7)");
    gt_expect_end(&guarded, 7 << 8);
    gt_before = test_processes_take();
    gt_start_python(&guarded, "import os, signal, resource\n"
                              "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
                              "os.kill(os.getpid(), signal.SIGSEGV)");
    gt_expect_end(&guarded, SIGSEGV);
}
END_TEST

START_TEST(exit_is_told_at_once_and_then_the_rest_dies)
{
    struct guarded guarded;
    int64_t start_ms;

    gt_start_python(&guarded,
                    "import subprocess\n"
                    "for i in range(2):\n"
                    "    subprocess.Popen(['/bin/sh', '-c', 'trap \"\" TERM; sleep 1000'],\n"
                    "                     start_new_session=True, stdout=-3, stderr=-3)\n"
                    "print('up')\n");
    gt_read_line(&guarded);
    start_ms = test_now_ms();
    ck_assert_int_eq(gt_expect(&guarded, HR_GUARD_EXITED).a, 0);
    ck_assert_int_lt(test_now_ms() - start_ms,
                     test_scaled_ms(150)); /* not behind the grace of 200 ms */
    ck_assert_int_eq(gt_expect(&guarded, HR_GUARD_GONE).a, 0);
    gt_finish(&guarded);
}
END_TEST

START_TEST(killed_by_somebody_is_not_out_of_memory)
{
    struct guarded guarded;
    struct hr_guard_message message;

    gt_start_self(&guarded, "--sleep");
    gt_read_line(&guarded);
    kill(guarded.kernel, SIGKILL);
    message = gt_expect(&guarded, HR_GUARD_EXITED);
    ck_assert_int_eq(message.a, SIGKILL);
    ck_assert_int_eq(message.b, 0);
    gt_expect(&guarded, HR_GUARD_GONE);
    gt_finish(&guarded);
}
END_TEST

/* A control group (version 1) with little memory, or NULL where this user can't make one. */
static const char *make_small_group(void)
{
    static char path[200];
    char file[256];

    snprintf(path, sizeof path, "/sys/fs/cgroup/memory/hermes-test-%d", getpid());
    if (mkdir(path, 0755))
        return NULL;
    snprintf(file, sizeof file, "%s/memory.limit_in_bytes", path);
    test_write_file(file, "33554432", 0644);
    return path;
}

START_TEST(out_of_memory_is_told)
{
    const char *group = make_small_group();
    struct hr_guard_message message;
    struct guarded guarded;
    char code[600];

    if (!group) {
        test_processes_check(gt_before, GT_SOON_MS);
        return; /* not root, or control groups of version 2 only */
    }
    snprintf(code, sizeof code,
             "import os\n"
             "open('%s/cgroup.procs', 'w').write(str(os.getpid()))\n"
             "b = bytearray(200 << 20)\n"
             "for i in range(0, len(b), 4096): b[i] = 1\n",
             group);
    gt_start_python(&guarded, code);
    message = gt_expect(&guarded, HR_GUARD_EXITED);
    ck_assert_int_eq(message.a, SIGKILL);
    ck_assert_int_eq(message.b, 1);
    gt_expect(&guarded, HR_GUARD_GONE);
    gt_finish(&guarded);
    ck_assert(test_wait(rmdir(group) == 0, GT_SOON_MS));
}
END_TEST

/* ---- signals ---------------------------------------------------------------------------- */

START_TEST(interrupt_reaches_the_kernels_group)
{
    struct guarded guarded;

    gt_start_python(&guarded, "import subprocess, sys, time\n"
                              "p = subprocess.Popen(['/bin/sleep', '1000'])\n"
                              "try:\n"
                              "    print('up', flush=True)\n"
                              "    time.sleep(1000)\n"
                              "except KeyboardInterrupt:\n"
                              "    sys.exit(100 - p.wait())\n");
    gt_read_line(&guarded);
    gt_say(&guarded, HR_GUARD_INTERRUPT, SIGINT, 77);
    struct hr_guard_message ack = gt_expect(&guarded, HR_GUARD_ACK);
    ck_assert_uint_eq(ack.c, 77);
    ck_assert_int_eq(ack.a, 0);
    gt_expect_end(&guarded, (100 + SIGINT) << 8);
}
END_TEST

START_TEST(every_signal_is_acknowledged_in_order)
{
    struct guarded guarded;

    gt_start_self(&guarded, "--sleep");
    for (uint32_t i = 1; i <= 100; i++)
        gt_say(&guarded, HR_GUARD_INTERRUPT, i % 10 ? 0 : -1, i);
    for (uint32_t i = 1; i <= 100; i++) {
        struct hr_guard_message ack = gt_expect(&guarded, HR_GUARD_ACK);

        ck_assert_uint_eq(ack.c, i);
        ck_assert_int_eq(ack.a, i % 10 ? 0 : EINVAL);
    }
    gt_say(&guarded, HR_GUARD_INTERRUPT, SIGKILL, 101);
    gt_expect(&guarded, HR_GUARD_ACK);
    gt_expect_end(&guarded, SIGKILL);
}
END_TEST

START_TEST(acknowledged_when_the_signal_has_been_sent)
{
    struct guarded guarded;

    /*
     * the host sends the next command after the acknowledgement: the signal must be there gt_before
     * it
     */
    gt_start_python(&guarded, "import os, signal\n"
                              "seen = []\n"
                              "signal.signal(signal.SIGINT, lambda *a: seen.append(1))\n"
                              "print('up', flush=True)\n"
                              "for i in range(50):\n"
                              "    os.read(3, 1)\n"
                              "    if len(seen) != i + 1: os._exit(1)\n"
                              "    os.write(3, b'k')\n");
    gt_read_line(&guarded);
    for (uint32_t i = 0; i < 50; i++) {
        char answer;

        gt_say(&guarded, HR_GUARD_INTERRUPT, SIGINT, i);
        gt_expect(&guarded, HR_GUARD_ACK);
        ck_assert_int_eq(write(guarded.control, "x", 1), 1);
        ck_assert_int_eq(read(guarded.control, &answer, 1), 1);
    }
    gt_expect_end(&guarded, 0);
}
END_TEST

START_TEST(messages_of_no_meaning_are_ignored)
{
    struct guarded guarded;

    gt_start_self(&guarded, "--sleep");
    ck_assert_int_eq(send(guarded.link, "short", 5, 0), 5);
    ck_assert_int_eq(send(guarded.link, "much longer than a message could be", 35, 0), 35);
    gt_say(&guarded, HR_GUARD_STARTED, 1, 2);
    gt_say(&guarded, 99, 1, 2);
    gt_say(&guarded, HR_GUARD_INTERRUPT, 0, 5);
    ck_assert_uint_eq(gt_expect(&guarded, HR_GUARD_ACK).c, 5);
    gt_say(&guarded, HR_GUARD_KILL, -5, 0); /* no grace */
    gt_expect_end(&guarded, SIGKILL);
}
END_TEST

/* ---- a long life ------------------------------------------------------------------------ */

START_TEST(orphans_are_reaped)
{
    struct guarded guarded;

    gt_start_python(&guarded, "import os, time\n"
                              "for i in range(100):\n"
                              "    pid = os.fork()\n"
                              "    if pid == 0:\n"
                              "        os.fork()\n" /* both end; the grandchild is an orphan */
                              "        os._exit(0)\n"
                              "    os.waitpid(pid, 0)\n"
                              "print('up', flush=True)\n"
                              "time.sleep(1000)\n");
    gt_read_line(&guarded);
    ck_assert(test_wait(test_count_children(guarded.guard, 0) == 1, GT_SOON_MS));
    gt_say(&guarded, HR_GUARD_KILL, 0, 0);
    gt_expect_end(&guarded, SIGKILL);
}
END_TEST

static unsigned long wake_ups(pid_t pid)
{
    char path[64];
    char *text, *at;
    unsigned long count;

    snprintf(path, sizeof path, "/proc/%d/status", pid);
    text = test_read_file(path);
    at = text ? strstr(text, "\nvoluntary_ctxt_switches:") : NULL;
    ck_assert_ptr_nonnull(at);
    count = strtoul(strchr(at, ':') + 1, NULL, 10);
    free(text);
    return count;
}

START_TEST(idle_guard_sleeps)
{
    struct guarded guarded;
    unsigned long count;

    gt_start_self(&guarded, "--sleep");
    ck_assert(test_wait(test_process_state(guarded.guard) == 'S', GT_SOON_MS));
    test_pause_ms(50);
    count = wake_ups(guarded.guard);
    test_pause_ms(300);
    ck_assert_uint_eq(wake_ups(guarded.guard), count);
    gt_say(&guarded, HR_GUARD_KILL, 0, 0);
    gt_expect_end(&guarded, SIGKILL);
}
END_TEST

static int run(void)
{
    Suite *suite = suite_create("guard");
    TCase *test_case = tcase_create("guard");

    tcase_set_timeout(test_case, 60);
    tcase_add_checked_fixture(test_case, gt_set_up, NULL);
    tcase_add_test(test_case, kernel_has_its_own_session_clean_signals_and_only_its_descriptors);
    tcase_add_test(test_case, ignored_signals_of_the_guard_are_not_inherited);
    tcase_add_test(test_case, control_and_aux_sockets_arrive_as_3_and_4);
    tcase_add_test(test_case, guard_holds_no_stream_and_no_directory);
    tcase_add_test(test_case, missing_interpreter_is_told_by_errno);
    tcase_add_test(test_case, guard_is_the_one_direct_child_and_has_the_runners_name);
    tcase_add_test(test_case, started_by_hand_it_says_what_it_is);
    tcase_add_test(test_case, exit_status_and_signal_are_told);
    tcase_add_test(test_case, exit_is_told_at_once_and_then_the_rest_dies);
    tcase_add_test(test_case, killed_by_somebody_is_not_out_of_memory);
    tcase_add_test(test_case, out_of_memory_is_told);
    tcase_add_test(test_case, interrupt_reaches_the_kernels_group);
    tcase_add_test(test_case, every_signal_is_acknowledged_in_order);
    tcase_add_test(test_case, acknowledged_when_the_signal_has_been_sent);
    tcase_add_test(test_case, messages_of_no_meaning_are_ignored);
    tcase_add_test(test_case, orphans_are_reaped);
    tcase_add_test(test_case, idle_guard_sleeps);
    suite_add_tcase(suite, test_case);
    return test_run(suite);
}

int main(int argc, char **argv)
{
    return gt_main(argc, argv, run);
}
