/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "launch.h"

enum {
    FIRST_FREE_FD = 3,
    REAP_MS = 500, /* of the time limit, kept for the end of the process */
    STEP_MS = 1,
};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int left_ms(int64_t deadline)
{
    int64_t left = deadline - now_ms();

    return left < 0 ? 0 : (int)left;
}

/* ---- pipes ------------------------------------------------------------------------------ */

static void close_pipe(int ends[2])
{
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
        ends[i] = -1;
    }
}

/* Both ends above the standard descriptors, which a host may have closed. 0 or an errno. */
static int open_pipe(int ends[2])
{
    if (HR_FAULT(HR_FAULT_PIPE) || pipe2(ends, O_CLOEXEC)) {
        ends[0] = ends[1] = -1;
        return errno;
    }
    for (int i = 0; i < 2; i++) {
        int fd = ends[i];

        if (fd >= FIRST_FREE_FD)
            continue;
        ends[i] = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
        close(fd);
        if (ends[i] < 0) {
            int error = errno;

            close_pipe(ends);
            return error;
        }
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return 0;
}

/* ---- start ------------------------------------------------------------------------------ */

static int add_actions(posix_spawn_file_actions_t *actions, const char *cwd, int out, int err)
{
    int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

    if (!error)
        error = posix_spawn_file_actions_adddup2(actions, out, STDOUT_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(actions, err, STDERR_FILENO);
#ifdef HAVE_POSIX_SPAWN_FILE_ACTIONS_ADDCHDIR_NP
    if (!error && cwd)
        error = posix_spawn_file_actions_addchdir_np(actions, cwd);
#else
    (void)cwd;
#endif
#ifdef HAVE_POSIX_SPAWN_FILE_ACTIONS_ADDCLOSEFROM_NP
    if (!error)
        error = posix_spawn_file_actions_addclosefrom_np(actions, FIRST_FREE_FD);
#endif
    return error;
}

static int start(const struct hr_probe_request *request, int out, int err, pid_t *ret_pid)
{
    const char *cwd = request->cwd && access(request->cwd, X_OK) == 0 ? request->cwd : NULL;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error;

    if (HR_FAULT(HR_FAULT_SPAWN))
        return EAGAIN;
    error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        error = add_actions(&actions, cwd, out, err);
        if (!error)
            error = hr_launch_attributes(&attributes);
        if (!error)
            error = posix_spawn(ret_pid, request->argv[0], &actions, &attributes, request->argv,
                                request->environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* ---- the answer ------------------------------------------------------------------------- */

/* Take what is there. 1: more may come, 0: end, -1: more than the buffer may hold. */
static int take(int fd, struct hr_buf *buf)
{
    char data[2048];
    ssize_t n = read(fd, data, sizeof data);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0)
        return 0;
    return hr_buf_add(buf, data, (size_t)n) ? 1 : -1;
}

static int collect(int out_fd, int err_fd, int64_t deadline, struct hr_buf *out, struct hr_buf *err)
{
    struct pollfd fds[] = {{.fd = out_fd, .events = POLLIN}, {.fd = err_fd, .events = POLLIN}};

    for (;;) {
        int left = left_ms(deadline), state;

        if (!left)
            return ETIMEDOUT;
        if (poll(fds, 2, left) < 0)
            continue;
        if (fds[1].revents && take(err_fd, err) == 0) /* what is too much is read and dropped */
            fds[1].fd = -1;
        if (!fds[0].revents)
            continue;
        state = take(out_fd, out);
        if (out->size && memchr(out->data, '\0', out->size))
            return 0;
        if (state < 0)
            return ENOBUFS;
        if (state == 0) {
            take(err_fd, err); /* its last words */
            return ENODATA;
        }
    }
}

/* ---- the end ---------------------------------------------------------------------------- */

/*
 * Wait for the process, not longer than the deadline; false: it still runs. Where the host ignores
 * SIGCHLD or reaps every child, it is not ours to reap and waitpid() says so once it has ended.
 */
static bool reap(pid_t pid, int64_t deadline)
{
    pid_t got;
    int fd = -1;

#ifdef SYS_pidfd_open
    fd = (int)syscall(SYS_pidfd_open, pid, 0);
#endif
    while ((got = waitpid(pid, NULL, WNOHANG)) == 0 || (got < 0 && errno == EINTR)) {
        struct pollfd end = {.fd = fd, .events = POLLIN};
        int left = left_ms(deadline);

        if (!left)
            break;
        poll(&end, 1, fd >= 0 ? left : STEP_MS);
    }
    if (fd >= 0)
        close(fd);
    return got != 0;
}

int hr_probe_run(const struct hr_probe_request *request, struct hr_buf *out, struct hr_buf *err)
{
    int64_t end = now_ms() + request->timeout_ms, deadline = end - REAP_MS;
    int out_pipe[2], err_pipe[2] = {-1, -1}, error;
    bool known_to_run = true;
    pid_t pid;

    error = open_pipe(out_pipe);
    if (!error)
        error = open_pipe(err_pipe);
    if (!error)
        error = start(request, out_pipe[1], err_pipe[1], &pid);
    if (!error) {
        close(out_pipe[1]);
        close(err_pipe[1]);
        out_pipe[1] = err_pipe[1] = -1;
        error = collect(out_pipe[0], err_pipe[0], deadline, out, err);
        if (error != ETIMEDOUT && error != ENOBUFS)
            known_to_run = !reap(pid, deadline);
        if (known_to_run) {
            kill(-pid, SIGKILL);
            reap(pid, end);
        }
    }
    close_pipe(out_pipe);
    close_pipe(err_pipe);
    return error;
}
