/* SPDX-License-Identifier: MIT */
/*
 * The guard as a program: whatever a kernel starts and whoever dies, nothing stays.
 */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard-testlib.h"

/* ---- killing ---------------------------------------------------------------------------- */

START_TEST(nasty_tree_is_killed)
{
    struct guarded guarded;
    int64_t start_ms;

    gt_start_self(&guarded, "--nasty");
    gt_read_line(&guarded);
    ck_assert(test_wait(test_processes_new(gt_before) >= 10, GT_SOON_MS));
    start_ms = test_now_ms();
    gt_say(&guarded, HR_GUARD_KILL, 50, 0);
    gt_expect_end(&guarded, SIGKILL);
    ck_assert_int_lt(test_now_ms() - start_ms, test_scaled_ms(1000));
}
END_TEST

START_TEST(nasty_tree_dies_with_its_kernel)
{
    struct guarded guarded;

    gt_start_self(&guarded, "--nasty");
    gt_read_line(&guarded);
    ck_assert(test_wait(test_processes_new(gt_before) >= 10, GT_SOON_MS));
    kill(guarded.kernel, SIGKILL);
    gt_expect_end(&guarded, SIGKILL);
}
END_TEST

START_TEST(stopped_kernel_is_killed)
{
    for (int grace = 0; grace <= 10000;
         grace += 10000) { /* with a grace it gets SIGCONT, and takes SIGTERM */
        struct guarded guarded;

        gt_start_self(&guarded, "--sleep");
        kill(guarded.kernel, SIGSTOP);
        ck_assert(test_wait(test_process_state(guarded.kernel) == 'T', GT_SOON_MS));
        gt_say(&guarded, HR_GUARD_KILL, grace, 0);
        gt_expect_end(&guarded, grace ? SIGTERM : SIGKILL);
        gt_before = test_processes_take();
    }
    test_processes_check(gt_before, GT_SOON_MS);
}
END_TEST

START_TEST(polite_processes_get_their_grace_and_no_more_is_waited)
{
    struct guarded guarded;
    int64_t start_ms;
    char code[PATH_MAX + 400];

    snprintf(code, sizeof code,
             "import signal, time, os\n"
             "def end(*a):\n"
             "    open('%s', 'w').write('by SIGTERM')\n"
             "    os._exit(3)\n"
             "signal.signal(signal.SIGTERM, end)\n"
             "print('up', flush=True)\n"
             "while 1: time.sleep(100)\n",
             test_path("ended"));
    gt_start_python(&guarded, code);
    gt_read_line(&guarded);
    start_ms = test_now_ms();
    gt_say(&guarded, HR_GUARD_KILL, 60000, 0);
    gt_expect_end(&guarded, 3 << 8);
    ck_assert_int_lt(test_now_ms() - start_ms, test_scaled_ms(5000));
    char *text = test_read_file(test_path("ended"));
    ck_assert_pstr_eq(text, "by SIGTERM");
    free(text);
}
END_TEST

START_TEST(second_kill_shortens_the_grace)
{
    struct guarded guarded;

    gt_start_self(&guarded, "--nasty");
    gt_read_line(&guarded);
    gt_say(&guarded, HR_GUARD_KILL, 600000, 0);
    gt_say(&guarded, HR_GUARD_INTERRUPT, 0, 1); /* still served meanwhile */
    gt_expect(&guarded, HR_GUARD_ACK);
    gt_say(&guarded, HR_GUARD_KILL, 0, 0);
    gt_expect_end(&guarded, SIGKILL);
}
END_TEST

START_TEST(fork_bomb_comes_to_an_end)
{
    struct guarded guarded;

    gt_start_self(&guarded, "--bomb");
    ck_assert(test_wait(test_processes_new(gt_before) >= 200, GT_SOON_MS));
    gt_say(&guarded, HR_GUARD_KILL, 0, 0);
    gt_expect_end(&guarded, SIGKILL);
}
END_TEST

START_TEST(processes_that_never_keep_their_pid_are_caught)
{
    struct guarded guarded;
    int64_t start_ms;

    gt_start_self(&guarded, "--runaways");
    gt_read_line(&guarded);
    start_ms = test_now_ms();
    gt_say(&guarded, HR_GUARD_KILL, 0, 0);
    gt_expect_end(&guarded, SIGKILL);
    ck_assert_int_lt(test_now_ms() - start_ms, test_scaled_ms(5000));
}
END_TEST

START_TEST(process_whose_first_thread_has_ended_is_killed)
{
    struct guarded guarded;

    /* /proc shows a zombie, but it lives; its child has an odd name */
    gt_start_python(&guarded, "import ctypes, os, subprocess, threading, time\n"
                              "libc = ctypes.CDLL(None)\n"
                              "if os.fork() == 0:\n"
                              "    libc.prctl(15, b'a) Z 1 (b', 0, 0, 0)\n"
                              "    os.setsid()\n"
                              "    threading.Thread(target=time.sleep, args=(1000,)).start()\n"
                              "    print('up', flush=True)\n"
                              "    libc.pthread_exit(None)\n"
                              "time.sleep(1000)\n");
    gt_read_line(&guarded);
    ck_assert(test_wait(test_count_children(guarded.kernel, 'Z') == 1, GT_SOON_MS));
    gt_say(&guarded, HR_GUARD_KILL, 0, 0);
    gt_expect_end(&guarded, SIGKILL);
}
END_TEST

/*
 * A process that only root could kill: the guard says so instead of waiting for ever. Needs root to
 * be made.
 */
START_TEST(process_of_another_user_is_given_up)
{
    struct guarded guarded;
    struct hr_guard_message message;
    const char *code = "import os\n"
                       "pid = os.fork()\n"
                       "if pid == 0:\n"
                       "    os.setresuid(1, 1, 1)\n"
                       "    print('up', flush=True)\n"
                       "    os.execv('/bin/sleep', ['sleep', '1000'])\n"
                       "import time; time.sleep(1000)\n";
    int link[2], control[2], output[2];

    if (geteuid() != 0) {
        test_processes_check(gt_before, GT_SOON_MS);
        return;
    }
    gt_make_pair(SOCK_SEQPACKET, link);
    gt_make_pair(SOCK_STREAM, control);
    ck_assert_int_eq(pipe2(output, O_CLOEXEC), 0);
    /* a guard without the right to kill others: root's own identity, but no capability KILL */
    guarded.guard =
        test_spawn((const char *[]){"/usr/bin/setpriv", "--bounding-set=-kill", "--inh-caps=-kill",
                                    test_build_path("hermes-kernel-guard"), "hermes_kernel_runner",
                                    "--", test_python(), "-c", code, NULL},
                   (int[]){-1, output[1], output[1], link[1], control[1]}, 5, NULL);
    close(link[1]);
    close(control[1]);
    close(output[1]);
    guarded.link = link[0];
    guarded.control = control[0];
    guarded.output = output[0];
    guarded.aux = -1;
    guarded.kernel = gt_expect(&guarded, HR_GUARD_STARTED).a;
    gt_read_line(&guarded);
    gt_say(&guarded, HR_GUARD_KILL, 0, 0);
    gt_expect(&guarded, HR_GUARD_EXITED);
    message = gt_expect(&guarded, HR_GUARD_GONE);
    ck_assert_int_eq(message.a, 1);
    ck_assert_int_eq(test_reap(guarded.guard, GT_SOON_MS), 0);
    ck_assert_int_eq(test_processes_new(gt_before), 1);
    gt_kill_orphans();
    close(guarded.link);
    close(guarded.control);
    close(guarded.output);
    test_processes_check(gt_before, GT_SOON_MS);
}
END_TEST

/* ---- the host --------------------------------------------------------------------------- */

/*
 * A host in a process of its own: starts a guard with a nasty kernel, tells its pids, and then
 * waits for its death. With `copy`, a child of the host outlives it and holds the link.
 */
static pid_t start_host(bool copy, struct guarded *guarded)
{
    int told[2];
    pid_t host;

    ck_assert_int_eq(pipe2(told, O_CLOEXEC), 0);
    host = fork();
    if (host == 0) {
        gt_start_self(guarded, "--nasty");
        gt_read_line(guarded);
        if (copy && fork() == 0)
            gt_sleep_for_ever();
        if (write(told[1], guarded, sizeof *guarded) < 0)
            _exit(1);
        gt_sleep_for_ever();
    }
    close(told[1]);
    ck_assert_int_eq(read(told[0], guarded, sizeof *guarded), sizeof *guarded);
    close(told[0]);
    return host;
}

START_TEST(all_die_with_a_killed_host)
{
    struct guarded guarded;
    pid_t host = start_host(false, &guarded);

    ck_assert(test_wait(test_processes_new(gt_before) >= 10, GT_SOON_MS));
    kill(host, SIGKILL);
    test_reap(host, GT_SOON_MS);
    test_processes_check(gt_before, 5000);
}
END_TEST

START_TEST(all_die_with_a_killed_host_whose_link_lives_on)
{
    struct guarded guarded;
    pid_t host = start_host(true, &guarded);

    kill(host, SIGKILL);
    test_reap(host, GT_SOON_MS);
    ck_assert(test_wait(!test_process_lives(guarded.guard), 5000));
    ck_assert_int_eq(test_processes_new(gt_before), 1); /* the copy */
    gt_kill_orphans();
    test_processes_check(gt_before, GT_SOON_MS);
}
END_TEST

START_TEST(all_die_when_the_link_is_closed)
{
    struct guarded guarded;

    gt_start_self(&guarded, "--nasty");
    gt_read_line(&guarded);
    ck_assert(test_wait(test_processes_new(gt_before) >= 10, GT_SOON_MS));
    shutdown(guarded.link, SHUT_RDWR);
    gt_finish(&guarded);
}
END_TEST

START_TEST(link_closed_during_a_kill_changes_nothing)
{
    struct guarded guarded;

    gt_start_self(&guarded, "--nasty");
    gt_read_line(&guarded);
    gt_say(&guarded, HR_GUARD_KILL, 600000, 0);
    shutdown(guarded.link, SHUT_RDWR);
    gt_finish(&guarded);
}
END_TEST

START_TEST(guard_survives_signals)
{
    static const int numbers[] = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGPIPE,
                                  SIGUSR1, SIGALRM, SIGTTOU, SIGTSTP};
    struct guarded guarded;

    gt_start_self(&guarded, "--sleep");
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        ck_assert_int_eq(kill(guarded.guard, numbers[i]), 0);
    gt_say(&guarded, HR_GUARD_INTERRUPT, 0, 1);
    ck_assert_int_eq(gt_expect(&guarded, HR_GUARD_ACK).a, 0);
    gt_say(&guarded, HR_GUARD_KILL, 0, 0);
    gt_expect_end(&guarded, SIGKILL);
}
END_TEST

START_TEST(kernel_dies_with_a_killed_guard)
{
    struct guarded guarded;

    gt_start_self(&guarded, "--sleep");
    gt_read_line(&guarded);
    kill(guarded.guard, SIGKILL);
    ck_assert(test_wait(!test_process_lives(guarded.kernel), GT_SOON_MS));
    ck_assert_int_eq(test_reap(guarded.guard, GT_SOON_MS), SIGKILL);
    close(guarded.link);
    close(guarded.control);
    close(guarded.aux);
    close(guarded.output);
    test_processes_check(gt_before, GT_SOON_MS);
}
END_TEST

static int run(void)
{
    Suite *suite = suite_create("guard_end");
    TCase *test_case = tcase_create("guard");

    tcase_set_timeout(test_case, 60);
    tcase_add_checked_fixture(test_case, gt_set_up, NULL);
    tcase_add_test(test_case, nasty_tree_is_killed);
    tcase_add_test(test_case, nasty_tree_dies_with_its_kernel);
    tcase_add_test(test_case, stopped_kernel_is_killed);
    tcase_add_test(test_case, polite_processes_get_their_grace_and_no_more_is_waited);
    tcase_add_test(test_case, second_kill_shortens_the_grace);
    tcase_add_test(test_case, fork_bomb_comes_to_an_end);
    tcase_add_test(test_case, processes_that_never_keep_their_pid_are_caught);
    tcase_add_test(test_case, process_whose_first_thread_has_ended_is_killed);
    tcase_add_test(test_case, process_of_another_user_is_given_up);
    tcase_add_test(test_case, all_die_with_a_killed_host);
    tcase_add_test(test_case, all_die_with_a_killed_host_whose_link_lives_on);
    tcase_add_test(test_case, all_die_when_the_link_is_closed);
    tcase_add_test(test_case, link_closed_during_a_kill_changes_nothing);
    tcase_add_test(test_case, guard_survives_signals);
    tcase_add_test(test_case, kernel_dies_with_a_killed_guard);
    suite_add_tcase(suite, test_case);
    return test_run(suite);
}

int main(int argc, char **argv)
{
    return gt_main(argc, argv, run);
}
