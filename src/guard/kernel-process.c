/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "guard/kernel-process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guard/guard-protocol.h"

enum { FDS_MAX = 65536 };

/* What Linux 5.11 calls CLOSE_RANGE_CLOEXEC; the C library need not know it. */
static const unsigned CLOSE_ON_EXEC_RANGE = 4;

void hr_guard_close_on_exec(unsigned first_fd)
{
    long end = sysconf(_SC_OPEN_MAX);

#ifdef SYS_close_range
    if (syscall(SYS_close_range, first_fd, ~0U, CLOSE_ON_EXEC_RANGE) == 0)
        return;
#endif
    if (end <= 0 || end > FDS_MAX)
        end = FDS_MAX;
    for (int fd = (int)first_fd; fd < end; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void hr_guard_reset_signals(void)
{
    static const long
        standard[16]; /* what the system takes for sigaction: all zero is the default */

    /* not by sigaction(), which spares the two that posix_spawn() leaves ignored */
    for (int number = 1; number < NSIG; number++)
        syscall(SYS_rt_sigaction, number, standard, NULL, NSIG / 8);
}

/*
 * By its path, and now that we lead a session: so it becomes our controlling terminal. An inherited
 * descriptor would not.
 */
static int take_terminal(const char *path)
{
    int fd = open(path, O_RDWR);

    if (fd < 0)
        return errno;
    ioctl(fd, TIOCSCTTY, 0);
    for (int standard = 0; standard <= 2; standard++)
        if (dup2(fd, standard) < 0)
            return errno;
    if (fd > STDERR_FILENO)
        close(fd);
    return 0;
}

/* Each socket to its number, nothing else stays open. */
static int place_descriptors(const struct hr_guard_options *options)
{
    if (dup2(HR_GUARD_FD_CONTROL, HR_GUARD_FD_CONTROL - 1) < 0)
        return errno;
    hr_guard_close_on_exec(HR_GUARD_FD_CONTROL);
    if ((options->aux && dup2(HR_GUARD_FD_AUX, HR_GUARD_FD_AUX - 1) < 0) ||
        (options->requests && fcntl(HR_GUARD_FD_REQUESTS, F_SETFD, 0)))
        return errno;
    return 0;
}

/* Never above what holds already: that is a limit, too. */
static int set_limits(const struct hr_guard_options *options)
{
    for (size_t i = 0; i < options->limit_count; i++) {
        struct rlimit limit = options->limits[i].value, old;

        if (getrlimit(options->limits[i].resource, &old))
            return errno;
        if (limit.rlim_max > old.rlim_max)
            limit.rlim_max = old.rlim_max;
        if (limit.rlim_cur > limit.rlim_max)
            limit.rlim_cur = limit.rlim_max;
        if (setrlimit(options->limits[i].resource, &limit))
            return errno;
    }
    return 0;
}

int hr_guard_become_kernel(const struct hr_guard_options *options, pid_t guard,
                           char *const environment[])
{
    sigset_t none;
    int error;

    setsid();
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != guard)
        return ESRCH; /* the guard is dead already */
    error = options->terminal ? take_terminal(options->terminal) : 0;
    if (!error)
        error = place_descriptors(options);
    if (!error)
        error = set_limits(options);
    if (error)
        return error;
    hr_guard_reset_signals();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(options->argv[0], options->argv, environment);
    return errno;
}

static bool read_limit(const char *text, struct hr_guard_options *options)
{
    char *end = NULL;

    if (options->limit_count == HR_GUARD_LIMITS_MAX)
        return false;
    options->limits[options->limit_count].resource = (int)strtol(text, &end, 10);
    if (*end != ':')
        return false;
    options->limits[options->limit_count].value.rlim_cur = strtoull(end + 1, &end, 10);
    if (*end != ':')
        return false;
    options->limits[options->limit_count++].value.rlim_max = strtoull(end + 1, &end, 10);
    return *end == '\0';
}

bool hr_guard_read_options(int argc, char **argv, struct hr_guard_options *options)
{
    int at = 2;

    for (; at < argc && strcmp(argv[at], "--"); at++) {
        if (!strcmp(argv[at], "-a"))
            options->aux = true;
        else if (!strcmp(argv[at], "-q"))
            options->requests = true;
        else if (!strcmp(argv[at], "-h"))
            options->host = true;
        else if (!strcmp(argv[at], "-k") && at + 1 < argc)
            options->kernel = (pid_t)strtol(argv[++at], NULL, 10);
        else if (!strcmp(argv[at], "-t") && at + 1 < argc)
            options->terminal = argv[++at];
        else if (!strcmp(argv[at], "-r") && at + 1 < argc && read_limit(argv[at + 1], options))
            at++;
        else
            return false;
    }
    options->argv = argv + at + 1;
    return at + 1 < argc;
}
