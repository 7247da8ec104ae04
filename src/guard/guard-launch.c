/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "guard/guard-launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "guard/guard-protocol.h"
#include "guard/kernel-process.h"

/*
 * Sanitizers make vfork() a fork(), or bear no second one inside of it: they get a fork().
 */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

/* What the new processes need to know; they may share our memory. */
struct start {
    char **argv, *pid_text;
    char *const *environment;
    const struct hr_launch_fd *plan;
    size_t count;
    const char *cwd;
    struct hr_guard_options options;
    int failed[2]; /* tells why there is no guard */
    int result;    /* where the kernel tells the guard how its execve() went */
};

/* ---- in the process that becomes the guard ---------------------------------------------- */

/* Exactly the planned descriptors get through the two execve() that follow. 0 or an errno. */
static int place(const struct start *start)
{
    for (size_t i = 0; i < start->count; i++) {
        int source = start->plan[i].source;

        if (source < 0)
            source = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (source < 0 || dup2(source, start->plan[i].target) < 0)
            return errno;
    }
    hr_guard_close_on_exec(STDERR_FILENO + 1);
    for (size_t i = 0; i < start->count; i++)
        if (fcntl(start->plan[i].target, F_SETFD, 0))
            return errno;
    return 0;
}

static void write_pid(char *text, pid_t pid)
{
    char digits[HR_GUARD_PID_SIZE], *first = digits + sizeof digits - 1;

    *first = '\0';
    do
        *--first = (char)('0' + pid % 10);
    while (pid /= 10);
    memcpy(text, first, (size_t)(digits + sizeof digits - first));
}

/*
 * Made here, where no other thread of the host can fork and keep it open. 0 or an errno.
 */
static int open_result(struct start *start)
{
    int ends[2], far;

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return errno;
    far = fcntl(ends[1], F_DUPFD_CLOEXEC, HR_GUARD_FD_EXEC + 1);
    if (far < 0 || (ends[0] == HR_GUARD_FD_EXEC ? fcntl(ends[0], F_SETFD, 0)
                                                : dup2(ends[0], HR_GUARD_FD_EXEC)) < 0)
        return errno;
    start->result = far;
    return 0;
}

/* The errno of a failure. */
static int become_guard(struct start *start)
{
    pid_t self = getpid(), kernel;
    int error;

    hr_guard_reset_signals(); /* what runs handlers of the host must not run here */
    setsid();
    if (prctl(PR_SET_CHILD_SUBREAPER, 1))
        return errno;
    error = place(start);
    if (!error && start->cwd && chdir(start->cwd))
        error = errno;
    if (!error)
        error = open_result(start);
    if (error)
        return error;
    kernel = vfork(); /* NOLINT(clang-analyzer-*) */
    if (kernel == 0) {
        error = hr_guard_become_kernel(&start->options, self, start->environment);
        if (write(start->result, &error, sizeof error) < 0)
            _exit(126);
        _exit(127);
    }
    if (kernel < 0)
        return errno;
    write_pid(start->pid_text, kernel);
    execve(start->argv[0], start->argv, start->environment);
    error = errno;
    kill(kernel, SIGKILL);
    waitpid(kernel, NULL, 0);
    return error;
}

/* ---- in the host ------------------------------------------------------------------------ */

/*
 * Wait for the end of the pipe, or for an error, after a fork(). After a vfork() it has come by now,
 * and nobody can be waited for who got the pipe by a fork in another thread.
 */
static void await_failure(int fd)
{
#ifdef SANITIZED
    poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1);
#else
    (void)fd;
#endif
}

/*
 * As posix_spawn() does it: the new process runs in our memory until it executes a program, while
 * this thread waits and no signal is let through to it.
 */
static int start_both(struct start *start, pid_t *ret_pid)
{
    sigset_t all, mask;
    int error = 0, cancel;
    pid_t pid;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &mask);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
#ifdef SANITIZED
    pid = fork();
#else
    pid = vfork(); /* NOLINT(clang-analyzer-*) */
#endif
    if (pid == 0) {
        error = become_guard(start);
        if (write(start->failed[1], &error, sizeof error) < 0)
            _exit(126);
        _exit(127);
    }
    error = pid < 0 ? errno : 0;
    close(start->failed[1]);
    start->failed[1] = -1;
    if (pid > 0)
        await_failure(start->failed[0]);
    if (pid > 0 && read(start->failed[0], &error, sizeof error) == sizeof error)
        waitpid(pid, NULL, 0);
    pthread_setcancelstate(cancel, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    *ret_pid = pid;
    return error;
}

/* A pipe whose writing end is above all numbers that the guard gets. 0 or an errno. */
static int open_far_pipe(int ends[2])
{
    int near[2];

    if (HR_FAULT(HR_FAULT_PIPE) || pipe2(near, O_CLOEXEC | O_NONBLOCK))
        return errno ? errno : EMFILE;
    ends[0] = near[0];
    ends[1] = fcntl(near[1], F_DUPFD_CLOEXEC, HR_GUARD_FD_EXEC + 1);
    close(near[1]);
    return ends[1] < 0 ? errno : 0;
}

int hr_guard_launch(pid_t *ret_pid, char **argv, char *pid_text, char *const environment[],
                    struct hr_launch_fd *plan, size_t count, const char *cwd)
{
    struct start start = {.argv = argv,
                          .pid_text = pid_text,
                          .environment = environment,
                          .plan = plan,
                          .count = count,
                          .cwd = cwd,
                          .failed = {-1, -1}};
    int argc = 0, error;

    if (HR_FAULT(HR_FAULT_SPAWN))
        return EAGAIN;
    while (argv[argc])
        argc++;
    if (!hr_guard_read_options(argc, argv, &start.options))
        return EINVAL;
    error = open_far_pipe(start.failed);
    if (!error)
        error = hr_launch_lift(plan, count);
    if (!error)
        error = start_both(&start, ret_pid);
    hr_launch_drop(plan, count);
    for (int i = 0; i < 2; i++)
        if (start.failed[i] >= 0)
            close(start.failed[i]);
    return error;
}
