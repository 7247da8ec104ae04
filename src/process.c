/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "guard/guard-launch.h"
#include "guard/guard-protocol.h"
#include "launch.h"
#include "list.h"
#include "options.h"
#include "tree.h"

enum { REAP_RETRY_NS = 50000, POLL_EXIT_NS = 50000000, ISOLATION_END_MS = 1000 };

static const char RUNNER_NAME[] = "hermes_kernel_runner";

int hr_process_prepare(struct hr_process *process, struct hr_loop *loop)
{
    unsigned char random[16];

    if (getrandom(random, sizeof random, 0) != sizeof random)
        return errno ? errno : EIO;
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(process->tree_id + 2 * i, 3, "%02x", random[i]);
    process->loop = loop;
    process->link.fd = process->lifeline = -1;
    process->child = process->python = process->inner = 0;
    return 0;
}

/* ---- the end ---------------------------------------------------------------------------- */

static void finish(struct hr_process *process)
{
    int fd = process->link.fd;

    if (process->finished)
        return;
    process->finished = true;
    hr_timer_stop(process->loop, &process->timer);
    hr_watch_remove(process->loop, &process->link);
    if (fd >= 0)
        close(fd);
    if (process->lifeline >= 0)
        close(process->lifeline);
    process->lifeline = -1;
    if (process->signals_sent != process->signals_asked) {
        process->signals_sent = process->signals_asked;
        process->acknowledged(process);
    }
    process->gone(process);
}

static void report_exit(struct hr_process *process, int status, bool known, bool out_of_memory)
{
    if (process->have_exited)
        return;
    process->have_exited = true;
    process->exited(process, status, known, out_of_memory);
}

bool hr_process_ignores(const struct hr_process *process, int signal_number)
{
    char path[40], status[2048], *field;
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/status", (int)process->python);
    fd = process->python ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    n = read(fd, status, sizeof status - 1);
    close(fd);
    status[n > 0 ? n : 0] = '\0';
    field = strstr(status, "\nSigIgn:");
    return field && (strtoull(field + 8, NULL, 16) >> (signal_number - 1) & 1);
}

/* ---- with a guard ----------------------------------------------------------------------- */

#ifndef HERMES_NO_GUARD

static void reap_guard(struct hr_timer *timer)
{
    struct hr_process *process = HR_CONTAINER(timer, struct hr_process, timer);
    int status;
    pid_t got = process->child ? waitpid(process->child, &status, WNOHANG) : -1;

    if (got == 0) { /* its descriptors are closed before it can be reaped */
        hr_timer_start(process->loop, timer, hr_now_ns() + REAP_RETRY_NS, reap_guard);
        return;
    }
    process->child = 0; /* reaped, or the host did it for us (ECHILD) */
    if (process->inner && waitpid(process->inner, &status, WNOHANG) == 0) {
        /* bwrap was quicker than what it waited for, and the host inherits that */
        hr_timer_start(process->loop, timer, hr_now_ns() + REAP_RETRY_NS, reap_guard);
        return;
    }
    finish(process);
}

static void guard_lost(struct hr_process *process)
{
    if (!process->have_exited || process->kill_asked)
        hr_tree_kill(process->tree_id, process->python);
    report_exit(process, SIGKILL, false, false);
    hr_watch_change(process->loop, &process->link, 0);
    reap_guard(&process->timer);
}

static void guard_says(struct hr_process *process, const struct hr_guard_message *message)
{
    switch (message->type) {
    case HR_GUARD_STARTED:
        process->python = message->a;
        if (process->isolated) {
            process->inner = hr_isolate_inner(process->child, 1);
            process->python = hr_isolate_inner(process->inner, 2);
        }
        break;
    case HR_GUARD_EXEC_FAILED:
        process->exec_errno = message->a;
        break;
    case HR_GUARD_ACK:
        process->signals_sent = message->c;
        if (process->signals_sent == process->signals_asked)
            process->acknowledged(process);
        break;
    case HR_GUARD_EXITED:
        process->cpu_ms = message->c;
        report_exit(process, message->a, true, message->b != 0);
        break;
    case HR_GUARD_PRUNED:
        process->pruned(process);
        break;
    default:
        break; /* GONE is told by the end of the link as well */
    }
}

static void link_ready(struct hr_watch *watch, unsigned events)
{
    struct hr_process *process = HR_CONTAINER(watch, struct hr_process, link);
    struct hr_guard_message message;
    ssize_t n;

    (void)events;
    while ((n = recv(watch->fd, &message, sizeof message, MSG_DONTWAIT)) == sizeof message)
        guard_says(process, &message);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    guard_lost(process);
}

static void send_to_guard(struct hr_process *process, const struct hr_guard_message *message)
{
    if (process->link.fd >= 0 &&
        send(process->link.fd, message, sizeof *message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
        errno == EAGAIN)
        shutdown(process->link.fd,
                 SHUT_RDWR); /* a guard that does not read is no guard: end it all */
}

static void tell_guard(struct hr_process *process, enum hr_guard_type type, int a, uint32_t c)
{
    struct hr_guard_message message = {.type = type, .a = a, .c = c};

    send_to_guard(process, &message);
}

void hr_process_signal(struct hr_process *process, int signal_number)
{
    if (!process->finished && process->child)
        tell_guard(process, HR_GUARD_INTERRUPT, signal_number, ++process->signals_asked);
}

void hr_process_hold(struct hr_process *process)
{
    if (!process->holds)
        tell_guard(process, HR_GUARD_HOLD, 0, 0);
    process->holds = true;
}

void hr_process_prune(struct hr_process *process, const pid_t *spared, size_t count, int grace_ms)
{
    struct hr_guard_message message = {.type = HR_GUARD_PRUNE, .a = grace_ms};

    process->kill_asked = true;
    for (size_t i = 0; i < count && i < HR_GUARD_SPARED_MAX; i++)
        message.spared[i] = spared[i];
    send_to_guard(process, &message);
    hr_process_wake(process);
}

void hr_process_resume(struct hr_process *process, pid_t pid)
{
    process->kill_asked = process->have_exited = false;
    process->python = pid;
    tell_guard(process, HR_GUARD_RESUME, pid, 0);
}

/*
 * With the first process in there the system ends all of them, whatever they have done to the
 * guard.
 */
static void isolation_must_end(struct hr_timer *timer)
{
    struct hr_process *process = HR_CONTAINER(timer, struct hr_process, timer);
    pid_t inner = process->inner ? process->inner : hr_isolate_inner(process->child, 1);

    if (inner)
        kill(inner, SIGKILL);
}

void hr_process_wake(struct hr_process *process)
{
    pid_t guard;

    if (process->finished || !process->child)
        return;
    guard = process->isolated ? hr_isolate_inner(process->child, 2) : process->child;
    if (guard)
        kill(guard, SIGCONT); /* also takes back a SIGSTOP that is still on its way */
}

void hr_process_kill(struct hr_process *process, int grace_ms)
{
    process->kill_asked = true;
    if (process->finished || !process->child)
        return;
    tell_guard(process, HR_GUARD_KILL, grace_ms, 0);
    if (process->isolated)
        hr_timer_start(process->loop, &process->timer,
                       hr_now_ns() + ((int64_t)grace_ms + ISOLATION_END_MS) * 1000000,
                       isolation_must_end);
    hr_process_wake(process);
}

#else /* ---- without a guard ------------------------------------------------------------------- */

static void look_for_exit(struct hr_timer *timer);

static void collect(struct hr_process *process)
{
    struct rusage used = {0};
    int status = SIGKILL;
    pid_t got = wait4(process->child, &status, WNOHANG, &used);

    if (got == 0) {
        hr_timer_start(process->loop, &process->timer,
                       hr_now_ns() + (process->link.fd >= 0 ? REAP_RETRY_NS : POLL_EXIT_NS),
                       look_for_exit);
        return;
    }
    kill(-process->child, SIGKILL);
    hr_tree_kill(process->tree_id, process->child);
    process->child = 0;
    process->cpu_ms = (int64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
                      (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
    report_exit(process, status, got > 0, false);
    finish(process);
}

static void look_for_exit(struct hr_timer *timer)
{
    collect(HR_CONTAINER(timer, struct hr_process, timer));
}

static void pidfd_ready(struct hr_watch *watch, unsigned events)
{
    struct hr_process *process = HR_CONTAINER(watch, struct hr_process, link);

    (void)events;
    hr_watch_change(process->loop, watch, 0);
    collect(process);
}

static void grace_over(struct hr_timer *timer)
{
    struct hr_process *process = HR_CONTAINER(timer, struct hr_process, timer);

    kill(-process->child, SIGKILL);
    collect(process);
}

void hr_process_signal(struct hr_process *process, int signal_number)
{
    if (process->finished || !process->child)
        return;
    process->signals_asked++;
    if (kill(-process->child, signal_number))
        kill(process->child, signal_number);
    process->signals_sent = process->signals_asked;
    process->acknowledged(process);
}

void hr_process_hold(struct hr_process *process)
{
    (void)process; /* nothing is asked of us that needs a guard */
}

void hr_process_prune(struct hr_process *process, const pid_t *spared, size_t count, int grace_ms)
{
    (void)spared, (void)count;
    hr_process_kill(process, grace_ms);
}

void hr_process_resume(struct hr_process *process, pid_t pid)
{
    (void)pid;
    hr_process_kill(process, 0);
}

void hr_process_wake(struct hr_process *process)
{
    (void)process; /* who waits for Python's end sees it */
}

void hr_process_kill(struct hr_process *process, int grace_ms)
{
    if (process->finished || !process->child)
        return;
    process->kill_asked = true;
    kill(-process->child, SIGCONT);
    kill(-process->child, SIGTERM);
    hr_timer_start(process->loop, &process->timer, hr_now_ns() + (int64_t)grace_ms * 1000000,
                   grace_over);
}

#endif

/* ---- start ------------------------------------------------------------------------------ */

static int spawn_failed(const struct hr_process_request *request, const char *program,
                        int error_number, struct hermes_error *error)
{
    if (request->cwd && access(request->cwd, X_OK))
        return hr_error_set(error, HERMES_ENOENT, errno, "cannot use the working directory %s: %s",
                            request->cwd, strerror(errno));
    return hr_error_set(error, HERMES_ESYSTEM, error_number, "cannot start %s: %s", program,
                        strerror(error_number));
}

#ifndef HERMES_NO_GUARD

/* The guard's command line, and the descriptors that it gets. */
struct command {
    char *argv[HR_ISOLATE_ARGUMENTS + 16 + 2 * HR_RLIMIT_COUNT];
    struct hr_launch_fd plan[8];
    size_t items, fds;
    char limits[HR_RLIMIT_COUNT][HR_RLIMIT_TEXT_SIZE], bwrap[PATH_MAX], pid[HR_GUARD_PID_SIZE];
    int ours[2]; /* of an isolated guard: pidfd of the host, terminal; -1: none */
};

static void add_word(struct command *command, const char *word)
{
    command->argv[command->items++] = (char *)word;
}

static void add_fd(struct command *command, int source, int target)
{
    command->plan[command->fds++] = (struct hr_launch_fd){source, target, false};
}

/*
 * What comes before the guard, if it is isolated. It cannot see the host then: it gets a descriptor
 * of it. bwrap's own complaints shall be seen at a terminal, too.
 */
static int add_isolation(const struct hr_process_request *request, struct command *command)
{
    if (hr_isolate_find(command->bwrap))
        return ENOENT;
#ifdef SYS_pidfd_open
    command->ours[0] = (int)syscall(SYS_pidfd_open, getpid(), 0);
#endif
    if (command->ours[0] < 0)
        return ENOSYS;
    add_fd(command, command->ours[0], HR_GUARD_FD_HOST);
    if (request->terminal) {
        command->ours[1] = open(request->terminal, O_WRONLY | O_NOCTTY | O_CLOEXEC);
        command->plan[STDERR_FILENO].source = command->ours[1];
    }
    command->items = hr_isolate_arguments(request->isolation, command->bwrap, command->argv);
    return 0;
}

static void add_guard(const struct hr_process_request *request, struct command *command)
{
    add_word(command, request->guard);
    add_word(command, RUNNER_NAME);
    if (request->isolation) {
        add_word(command, "-h");
    } else {
        add_word(command, "-k");
        add_word(command, command->pid);
    }
    if (request->tools_fd >= 0) {
        add_word(command, "-a");
        add_fd(command, request->tools_fd, HR_GUARD_FD_AUX);
    }
    if (request->requests_fd >= 0) {
        add_word(command, "-q");
        add_fd(command, request->requests_fd, HR_GUARD_FD_REQUESTS);
    }
    if (request->terminal) {
        add_word(command, "-t");
        add_word(command, request->isolation ? HR_ISOLATE_TERMINAL : request->terminal);
    }
    for (int i = 0; i < HR_RLIMIT_COUNT; i++) {
        if (!hr_rlimits_text(request->limits, (enum hr_rlimit_kind)i, command->limits[i]))
            continue;
        add_word(command, "-r");
        add_word(command, command->limits[i]);
    }

    const char *const rest[] = {"--", request->python, "-c", request->command, RUNNER_NAME, NULL};

    for (size_t i = 0; i < HR_ARRAY_LENGTH(rest); i++)
        add_word(command, rest[i]);
}

int hr_process_start(struct hr_process *process, const struct hr_process_request *request,
                     struct hermes_error *error)
{
    struct command command = {.ours = {-1, -1}};
    int link[2], failed = 0;

    if (HR_FAULT(HR_FAULT_SOCKET) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link))
        return hr_error_set(error, HERMES_ESYSTEM, errno, "cannot make a socket: %s",
                            strerror(errno));
    add_fd(&command, request->stdin_fd, STDIN_FILENO);
    add_fd(&command, request->stdout_fd, STDOUT_FILENO);
    add_fd(&command, request->stderr_fd, STDERR_FILENO);
    add_fd(&command, link[1], HR_GUARD_FD_LINK);
    add_fd(&command, request->control_fd, HR_GUARD_FD_CONTROL);
    process->isolated = request->isolation != NULL;
    if (process->isolated)
        failed = add_isolation(request, &command);
    add_guard(request, &command);
    if (!failed)
        failed = hr_watch_add(process->loop, &process->link, link[0], HR_READ, link_ready);
    if (!failed && process->isolated)
        failed = hr_launch(&process->child, command.argv, request->environment, command.plan,
                           command.fds, NULL, request->cwd);
    else if (!failed)
        failed = hr_guard_launch(&process->child, command.argv, command.pid, request->environment,
                                 command.plan, command.fds, request->cwd);
    close(link[1]);
    for (int i = 0; i < 2; i++)
        if (command.ours[i] >= 0)
            close(command.ours[i]);
    if (failed) {
        hr_watch_remove(process->loop, &process->link);
        close(link[0]);
        process->child = 0;
        return spawn_failed(request, request->guard, failed, error);
    }
    return 0;
}

#else

/*
 * The end of the host, seen at the end of the lifeline by the system itself: SIGKILL to the
 * kernel's group, also while it is stopped or does not let its threads run. This belongs to the
 * open file, which the kernel shares. false: a thread of the kernel must look.
 */
static bool arm_lifeline(int fd, pid_t group)
{
#if defined(F_SETSIG) && defined(O_ASYNC)
    return fcntl(fd, F_SETSIG, SIGKILL) == 0 && fcntl(fd, F_SETOWN, -group) == 0 &&
           fcntl(fd, F_SETFL, O_ASYNC) == 0;
#else
    (void)fd, (void)group;
    return false;
#endif
}

int hr_process_start(struct hr_process *process, const struct hr_process_request *request,
                     struct hermes_error *error)
{
    char *argv[] = {(char *)request->python, (char *)"-c", (char *)request->command,
                    (char *)RUNNER_NAME, NULL};
    int lifeline[2], failed, pidfd = -1;

    if (HR_FAULT(HR_FAULT_PIPE) || pipe2(lifeline, O_CLOEXEC))
        return hr_error_set(error, HERMES_ESYSTEM, errno, "cannot make a pipe: %s",
                            strerror(errno));
    struct hr_launch_fd plan[] = {{request->stdin_fd, 0, false},
                                  {request->stdout_fd, 1, false},
                                  {request->stderr_fd, 2, false},
                                  {request->control_fd, 3, false},
                                  {lifeline[0], 5, false},
                                  {0, 0, false},
                                  {0, 0, false}};
    size_t fds = HR_ARRAY_LENGTH(plan) - 2;

    if (request->tools_fd >= 0)
        plan[fds++] = (struct hr_launch_fd){request->tools_fd, 4, false};
    if (request->requests_fd >= 0)
        plan[fds++] = (struct hr_launch_fd){request->requests_fd, 6, false};
    failed = hr_launch(&process->child, argv, request->environment, plan, fds, request->terminal,
                       request->cwd);
    if (!failed && (failed = hr_rlimits_apply(request->limits, process->child))) {
        kill(process->child, SIGKILL);
        waitpid(process->child, NULL, 0);
    }
    process->lifeline_armed = !failed && arm_lifeline(lifeline[0], process->child);
    close(lifeline[0]);
    if (failed) {
        close(lifeline[1]);
        process->child = 0;
        if ((failed == ENOENT || failed == EACCES) &&
            !(request->cwd && access(request->cwd, X_OK))) {
            /* told as an interpreter that cannot be executed */
            return hr_error_set(error, HERMES_ENOENT, failed, "cannot execute %s: %s",
                                request->python, strerror(failed));
        }
        return spawn_failed(request, request->python, failed, error);
    }
    process->lifeline = lifeline[1];
    process->python = process->child;
#ifdef SYS_pidfd_open
    pidfd = (int)syscall(SYS_pidfd_open, process->child, 0);
#endif
    if (pidfd >= 0 && hr_watch_add(process->loop, &process->link, pidfd, HR_READ, pidfd_ready)) {
        close(pidfd);
        pidfd = -1;
    }
    if (pidfd < 0)
        hr_timer_start(process->loop, &process->timer, hr_now_ns() + POLL_EXIT_NS, look_for_exit);
    return 0;
}

#endif
