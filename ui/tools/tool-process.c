/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tool-process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include "tool-keeper.h"
#include "tool-tree.h"
#include "utf8.h"
#include "xalloc.h"

enum { GRACE_MS = 200, ERRORS_BYTES = 4096, ASK_MS = 50, LOOK_MS = 10, BLOCK = 65536 };

enum stage { STAGE_DIRECTORY = 1, STAGE_PROGRAM };

struct run {
    const struct tool_context *context;
    const struct process_request *request;
    struct process_result *result;
    pid_t pid;
    int out, err, pidfd; /* -1: closed, none */
    char *mark;
};

extern char **environ;

static int64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/*
 * ---- what was printed -------------------------------------------------------------------------
 */

static void take_output(struct process_result *result, const struct process_request *request,
                        const char *data, size_t size)
{
    result->total_bytes += size;
    size_t room = request->head_bytes - result->head.size;
    size_t part = size < room ? size : room;
    strbuf_add(&result->head, data, part);
    data += part;
    size -= part;
    if (size && request->tail_bytes && !result->ring)
        result->ring = xmalloc(request->tail_bytes);
    if (size > request->tail_bytes) {
        data += size - request->tail_bytes;
        size = request->tail_bytes;
    }
    while (size) {
        part = request->tail_bytes - result->ring_at;
        part = size < part ? size : part;
        memcpy(result->ring + result->ring_at, data, part);
        result->ring_at = (result->ring_at + part) % request->tail_bytes;
        result->ring_size = result->ring_size + part < request->tail_bytes
                                ? result->ring_size + part
                                : request->tail_bytes;
        data += part;
        size -= part;
    }
}

/* Only the end counts. */
static void take_error(struct strbuf *errors, const char *data, size_t size)
{
    strbuf_add(errors, data, size);
    if (errors->size <= ERRORS_BYTES)
        return;
    memmove(errors->data, errors->data + errors->size - ERRORS_BYTES, ERRORS_BYTES);
    errors->size = ERRORS_BYTES;
    errors->data[errors->size] = '\0';
}

uint64_t process_omitted(const struct process_result *result)
{
    return result->total_bytes - result->head.size - result->ring_size;
}

void process_output(const struct process_result *result, struct strbuf *output)
{
    struct strbuf tail = STRBUF_INIT;
    uint64_t omitted = process_omitted(result);
    if (omitted && result->ring) {
        strbuf_add(&tail, result->ring + result->ring_at, result->ring_size - result->ring_at);
        strbuf_add(&tail, result->ring, result->ring_at);
    } else if (result->ring) {
        strbuf_add(&tail, result->ring, result->ring_size);
    }
    size_t head = result->head.size, skip = 0;
    if (omitted) {
        head -= utf8_partial_tail(strbuf_text(&result->head), head);
        while (skip < 3 && skip < tail.size && ((unsigned char)tail.data[skip] & 0xC0) == 0x80)
            skip++;
    }
    strbuf_add(output, strbuf_text(&result->head), head);
    if (omitted)
        strbuf_addf(output,
                    "\n\n[... OUTPUT TRUNCATED: %" PRIu64 " of %" PRIu64 " bytes left out ...]\n\n",
                    omitted + (result->head.size - head) + skip, result->total_bytes);
    strbuf_add(output, strbuf_text(&tail) + skip, tail.size - skip);
    strbuf_free(&tail);
}

void process_result_free(struct process_result *result)
{
    strbuf_free(&result->head);
    strbuf_free(&result->errors);
    free(result->ring);
    *result = (struct process_result){.ring = NULL};
}

/*
 * ---- starting ---------------------------------------------------------------------------------
 */

static bool is_named(const char *entry, const char *name)
{
    size_t size = strcspn(name, "=");
    return strncmp(entry, name, size) == 0 && entry[size] == '=';
}

/* An array of borrowed strings; free() it. */
static const char **make_environment(const struct run *run)
{
    char *const *base = run->context->environment ? run->context->environment : environ;
    const char *const *added = run->request->environment;
    size_t count = 0, more = 0;
    while (base[count])
        count++;
    while (added && added[more])
        more++;
    const char **list = xcalloc(count + more + 2, sizeof *list);
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        bool dropped = is_named(base[i], TOOL_TREE_VARIABLE);
        for (size_t j = 0; j < more; j++)
            dropped = dropped || is_named(base[i], added[j]);
        for (const char *const *name = run->request->without; name && *name; name++)
            dropped = dropped || is_named(base[i], *name);
        if (!dropped)
            list[size++] = base[i];
    }
    for (size_t i = 0; i < more; i++)
        list[size++] = added[i];
    list[size] = run->mark;
    return list;
}

static char *make_mark(void)
{
    uint64_t random[2] = {0, 0};
    if (getentropy(random, sizeof random) < 0)
        random[0] = (uint64_t)now_ms() ^ (uint64_t)getpid() << 32;
    return xasprintf(TOOL_TREE_VARIABLE "=%016" PRIx64 "%016" PRIx64, random[0], random[1]);
}

/* A file without a name that holds the input: unlike a pipe it needs no feeding. */
static int open_input(const struct process_request *request)
{
    if (!request->input)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
#ifdef HAVE_MEMFD_CREATE
    int fd = memfd_create("arguments", MFD_CLOEXEC);
#else
    const char *directory = getenv("TMPDIR");
    char *name = xasprintf("%s/hermes-XXXXXX", directory && directory[0] ? directory : "/tmp");
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    free(name);
#endif
    for (size_t at = 0; fd >= 0 && at < request->input_size;) {
        ssize_t size = write(fd, request->input + at, request->input_size - at);
        if (size > 0)
            at += (size_t)size;
        else if (errno != EINTR)
            close_fd(&fd);
    }
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

static void give_up(int report, enum stage stage) __attribute__((noreturn));

static void give_up(int report, enum stage stage)
{
    int message[2] = {stage, errno};
    ssize_t ignored = write(report, message, sizeof message);
    (void)ignored;
    _exit(127);
}

/* In the child: only what is safe after fork in a process with threads. */
static void become(const struct process_request *request, const char **environment, int in, int out,
                   int err, int report, pid_t parent) __attribute__((noreturn));

static void become(const struct process_request *request, const char **environment, int in, int out,
                   int err, int report, pid_t parent)
{
    setsid();
#ifdef HAVE_SYS_PRCTL_H
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent)
        _exit(127);
    in = fcntl(in, F_DUPFD_CLOEXEC, 3);
    out = fcntl(out, F_DUPFD_CLOEXEC, 3);
    err = fcntl(err, F_DUPFD_CLOEXEC, 3);
    report = fcntl(report, F_DUPFD_CLOEXEC, 3);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
#if defined(HAVE_CLOSE_RANGE) && defined(CLOSE_RANGE_CLOEXEC)
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
#endif
    struct sigaction plain = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &plain, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (request->directory && chdir(request->directory) < 0)
        give_up(report, STAGE_DIRECTORY);
    execve(request->argv[0], (char *const *)request->argv, (char *const *)environment);
    give_up(report, STAGE_PROGRAM);
}

/* What the child had to report before exec; false: nothing, it runs. */
static bool read_report(struct run *run, int report)
{
    int message[2];
    ssize_t size;
    while ((size = read(report, message, sizeof message)) < 0 && errno == EINTR)
        ;
    if (size != sizeof message)
        return false;
    run->result->end = PROCESS_NOT_STARTED;
    run->result->code = message[1];
    run->result->bad_directory = message[0] == STAGE_DIRECTORY;
    while (waitpid(run->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return true;
}

static bool make_pipe(int fds[2])
{
#ifdef HAVE_PIPE2
    return pipe2(fds, O_CLOEXEC) == 0;
#else
    if (pipe(fds) < 0)
        return false;
    fcntl(fds[0], F_SETFD, FD_CLOEXEC);
    fcntl(fds[1], F_SETFD, FD_CLOEXEC);
    return true;
#endif
}

static bool start(struct run *run)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1}, report[2] = {-1, -1}, in = open_input(run->request);
    bool good =
        in >= 0 && make_pipe(out) && make_pipe(report) && (run->request->merge || make_pipe(err));
    const char **environment = make_environment(run);
    pid_t parent = getpid();
    sigset_t all, old; /* no handler of ours may run in the child */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    run->pid = good ? fork() : -1;
    if (run->pid == 0)
        become(run->request, environment, in, out[1], run->request->merge ? out[1] : err[1],
               report[1], parent);
    run->result->code = errno;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    free(environment);
    close_fd(&in);
    close_fd(&out[1]);
    close_fd(&err[1]);
    close_fd(&report[1]);
    good = run->pid > 0 && !read_report(run, report[0]);
    close_fd(&report[0]);
    run->out = out[0];
    run->err = err[0];
    if (good) {
        run->result->code = 0;
        fcntl(run->out, F_SETFL, O_NONBLOCK);
        if (run->err >= 0)
            fcntl(run->err, F_SETFL, O_NONBLOCK);
#ifdef SYS_pidfd_open
        run->pidfd = (int)syscall(SYS_pidfd_open, run->pid, 0);
#endif
    } else {
        run->result->end = PROCESS_NOT_STARTED;
        close_fd(&run->out);
        close_fd(&run->err);
    }
    return good;
}

/*
 * ---- while it runs ----------------------------------------------------------------------------
 */

/* Read once; false when there is nothing now, or no more. */
static bool read_some(struct run *run, int *fd, char *block)
{
    ssize_t size = *fd < 0 ? 0 : read(*fd, block, BLOCK);
    if (size < 0 && errno == EINTR)
        return true;
    if (size == 0 || (size < 0 && errno != EAGAIN))
        close_fd(fd);
    if (size <= 0)
        return false;
    if (fd == &run->out)
        take_output(run->result, run->request, block, (size_t)size);
    else
        take_error(&run->result->errors, block, (size_t)size);
    return true;
}

/* Whether the process has ended; it stays to be reaped, so that its number stays its own. */
static bool has_ended(const struct run *run)
{
    siginfo_t info = {.si_pid = 0};
    if (waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
        return errno == ECHILD; /* the host ignores SIGCHLD */
    return info.si_pid == run->pid;
}

/*
 * What there is at the end of the process, and no more: something left behind may print for ever.
 */
static void drain(struct run *run, char *block)
{
    for (int i = 0; i < 64 && read_some(run, &run->out, block); i++)
        ;
    for (int i = 0; i < 64 && read_some(run, &run->err, block); i++)
        ;
}

static int wait_time(const struct run *run, int64_t deadline)
{
    int64_t wait = deadline < 0 ? INT32_MAX : deadline - now_ms();
    if (run->pidfd < 0 && wait > LOOK_MS)
        wait = LOOK_MS;
    if (run->context->cancelled && run->context->cancel_fd < 0 && wait > ASK_MS)
        wait = ASK_MS;
    return wait < 0 ? 0 : (int)wait;
}

static bool is_cancelled(const struct run *run, const struct pollfd *cancel)
{
    return cancel->revents || tool_cancelled(run->context);
}

/* Until it ends or has to be ended: then result->end is not PROCESS_EXITED. */
static void watch(struct run *run, char *block, int64_t deadline)
{
    struct process_result *result = run->result;
    for (;;) {
        struct pollfd fds[4] = {{run->out, POLLIN, 0},
                                {run->err, POLLIN, 0},
                                {run->pidfd, POLLIN, 0},
                                {run->context->cancel_fd, POLLIN, 0}};
        poll(fds, 4, wait_time(run, deadline));
        if (fds[0].revents)
            read_some(run, &run->out, block);
        if (fds[1].revents)
            read_some(run, &run->err, block);
        if (run->request->refuse_more && process_omitted(result)) {
            result->end = PROCESS_TOO_BIG;
            return;
        }
        if ((run->pidfd < 0 || fds[2].revents) && has_ended(run))
            return;
        if (is_cancelled(run, &fds[3])) {
            result->end = PROCESS_CANCELLED;
            return;
        }
        if (deadline >= 0 && now_ms() >= deadline) {
            result->end = PROCESS_TIMED_OUT;
            return;
        }
    }
}

static void reap(struct run *run)
{
    int status = 0;
    pid_t done;
    while ((done = waitpid(run->pid, &status, 0)) < 0 && errno == EINTR)
        ;
    if (run->result->end != PROCESS_EXITED || done != run->pid)
        return;
    if (WIFSIGNALED(status))
        run->result->end = PROCESS_SIGNALLED;
    run->result->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

void process_run(const struct tool_context *context, const struct process_request *request,
                 struct process_result *ret_result)
{
    *ret_result = (struct process_result){.end = PROCESS_EXITED};
    struct run run = {context, request, ret_result, -1, -1, -1, -1, make_mark()};
    struct tool_keeper keeper;
    int64_t begin = now_ms();
    tool_keeper_start(&keeper, run.mark);
    if (start(&run)) {
        tool_keeper_tell(&keeper, run.pid);
        char *block = xmalloc(BLOCK);
        watch(&run, block, request->timeout_ms < 0 ? -1 : begin + request->timeout_ms);
        drain(&run, block);
        bool forced = ret_result->end != PROCESS_EXITED;
        ret_result->left_over = tool_tree_end(run.pid, forced ? run.mark : NULL, GRACE_MS);
        if (forced)
            drain(&run, block);
        if (ret_result->end == PROCESS_EXITED && request->refuse_more &&
            process_omitted(ret_result))
            ret_result->end = PROCESS_TOO_BIG;
        reap(&run);
        free(block);
    }
    tool_keeper_end(&keeper);
    close_fd(&run.out);
    close_fd(&run.err);
    close_fd(&run.pidfd);
    free(run.mark);
    ret_result->elapsed_ms = now_ms() - begin;
}
