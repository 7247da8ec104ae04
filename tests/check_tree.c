/* SPDX-License-Identifier: MIT */
/*
 * What is killed when a guard is lost: what the kernel's session holds, and what has its mark in
 * the environment, whatever it does meanwhile.
 */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testlib.h"
#include "tree.h"

#define ID "0123456789abcdef"

static pid_t start(const char *script)
{
    pid_t pid = fork();

    if (pid == 0) {
        setenv("HERMES_TREE_ID", ID, 1);
        setsid();
        execl("/bin/sh", "sh", "-c", script, "sh", NULL);
        _exit(127);
    }
    ck_assert_int_gt(pid, 0);
    while (getsid(pid) != pid)
        usleep(100);
    return pid;
}

static void ck_killed(pid_t pid)
{
    int64_t end = test_now_ms() + test_scaled_ms(5000);
    int status = 0;
    pid_t got;

    while ((got = waitpid(pid, &status, WNOHANG)) == 0 && test_now_ms() < end)
        usleep(1000);
    if (got == 0) { /* leave nothing behind */
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    ck_assert_msg(got == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
                  "it lives, or its status is %#x", (unsigned)status);
}

/* It shows no environment in the middle of an execve(), and is in one most of the time. */
START_TEST(what_executes_all_the_time_is_found)
{
    char command[10000];

    test_write_file(test_path("again"), "exec /bin/sh \"$0\"\n", 0700);
    snprintf(command, sizeof command, ": >'%s'; exec /bin/sh '%s'", test_path("begun"),
             test_path("again"));
    for (int i = 0; i < 150; i++) {
        int64_t end = test_now_ms() + test_scaled_ms(5000);
        pid_t pid = start(command);

        while (unlink(test_path("begun")) && test_now_ms() < end)
            usleep(100);
        usleep((useconds_t)(17 * i)); /* somewhere on its way */
        ck_assert_int_ge(hr_tree_kill(ID, 0), 1);
        ck_killed(pid);
    }
}
END_TEST

START_TEST(others_are_left_alone)
{
    pid_t pid = start("exec env -i sleep 100"), other = start("exec env -i sleep 100");

    hr_tree_kill("fedcba9876543210", 0);
    ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
    ck_assert_int_eq(waitpid(other, NULL, WNOHANG), 0);
    ck_assert_int_ge(hr_tree_kill(ID, other), 1); /* by its session */
    ck_killed(other);
    kill(pid, SIGKILL);
    ck_killed(pid);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tree");
    TCase *tests = tcase_create("kill");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, what_executes_all_the_time_is_found);
    tcase_add_test(tests, others_are_left_alone);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
