/* SPDX-License-Identifier: MIT */
/*
 * The floor of a batch: a C program that does nothing but start an interpreter below a guard that
 * does nothing but wait, as guard-launch.c starts both.
 *
 *     bench_floor PYTHON ARG...
 */
#include "config.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int wait_for_child(void)
{
    int status = 1;

    return wait(&status) > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void become_guard(char **argv)
{
    char *const guard[] = {argv[0], (char *)"--wait", NULL};

    setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    switch (vfork()) { /* NOLINT(clang-analyzer-*) */
    case 0:
        setsid();
        execv(argv[1], argv + 1);
        _exit(127);
    case -1:
        _exit(126);
    default:
        execv("/proc/self/exe", guard);
        _exit(127);
    }
}

int main(int argc, char **argv)
{
    pid_t guard;

    if (argc < 2)
        return 2;
    if (!strcmp(argv[1], "--wait"))
        return wait_for_child();
    guard = vfork(); /* NOLINT(clang-analyzer-*) */
    if (guard == 0)
        become_guard(argv);
    return guard < 0 ? 1 : wait_for_child();
}
