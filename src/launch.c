/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "alloc.h"

enum { FIRST_UNUSED_FD = 7, FIRST_FREE_FD = 9 };

int hr_launch_lift(struct hr_launch_fd *plan, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int fd;

        if (plan[i].source < 0 || plan[i].source >= FIRST_FREE_FD)
            continue;
        fd = fcntl(plan[i].source, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        if (fd < 0 && plan[i].source != STDIN_FILENO)
            return errno;
        plan[i].source = fd; /* a host without stdin: the kernel gets /dev/null */
        plan[i].duplicated = fd >= 0;
    }
    return 0;
}

void hr_launch_drop(struct hr_launch_fd *plan, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (plan[i].duplicated)
            close(plan[i].source);
}

/*
 * The new process leads a session of its own by then: the terminal that it opens becomes its
 * controlling one.
 */
static int add_terminal(posix_spawn_file_actions_t *actions, const char *path)
{
    int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, path, O_RDWR, 0);

    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO && !error; fd++)
        error = posix_spawn_file_actions_adddup2(actions, STDIN_FILENO, fd);
    return error;
}

static bool is_target(const struct hr_launch_fd *plan, size_t count, int fd)
{
    for (size_t i = 0; i < count; i++)
        if (plan[i].target == fd)
            return true;
    return false;
}

static int add_actions(posix_spawn_file_actions_t *actions, const struct hr_launch_fd *plan,
                       size_t count, const char *terminal, const char *cwd)
{
    int error = 0, first_closed = FIRST_UNUSED_FD;

    for (size_t i = 0; i < count && !error; i++) {
        first_closed = plan[i].target >= first_closed ? plan[i].target + 1 : first_closed;
        error = plan[i].source < 0
                    ? posix_spawn_file_actions_addopen(actions, plan[i].target, "/dev/null",
                                                       O_RDONLY, 0)
                    : posix_spawn_file_actions_adddup2(actions, plan[i].source, plan[i].target);
    }
    /* what the host has there and forgot to mark */
    for (int fd = STDERR_FILENO + 1; fd < first_closed && !error; fd++)
        if (!is_target(plan, count, fd))
            error = posix_spawn_file_actions_addclose(actions, fd);
    if (!error && terminal)
        error = add_terminal(actions, terminal);
    if (!error && cwd)
        error = posix_spawn_file_actions_addchdir_np(actions, cwd);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    if (!error)
        error = posix_spawn_file_actions_addclosefrom_np(actions, first_closed);
#endif
    return error;
}

int hr_launch_attributes(posix_spawnattr_t *attributes)
{
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
#ifdef POSIX_SPAWN_SETSID
    flags |= POSIX_SPAWN_SETSID;
#else
    flags |= POSIX_SPAWN_SETPGROUP;
#endif
    return posix_spawnattr_setflags(attributes, flags);
}

int hr_launch(pid_t *ret_pid, char *const argv[], char *const environment[],
              struct hr_launch_fd *plan, size_t count, const char *terminal, const char *cwd)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error;

    if (HR_FAULT(HR_FAULT_SPAWN))
        return EAGAIN;
    error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error)
        goto actions_done;
    error = hr_launch_attributes(&attributes);
    if (!error)
        error = hr_launch_lift(plan, count);
    if (!error)
        error = add_actions(&actions, plan, count, terminal, cwd);
    if (!error)
        error = posix_spawn(ret_pid, argv[0], &actions, &attributes, argv, environment);
    hr_launch_drop(plan, count);
    posix_spawnattr_destroy(&attributes);
actions_done:
    posix_spawn_file_actions_destroy(&actions);
    return error;
}
