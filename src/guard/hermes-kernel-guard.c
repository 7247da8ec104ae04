/* SPDX-License-Identifier: MIT */
/*
 * hermes-kernel-guard - stands between the host and one kernel, so that no process of the kernel
 * survives it.
 *
 *     hermes-kernel-guard hermes_kernel_runner [-a] [-q] [-h] [-k PID] [-t TERMINAL] [-r LIMIT]...
 *     -- PYTHON ARG...
 *
 * -a: descriptor 5 is the kernel's socket for tools; -q: 6 is that for requests; -h: 7 is a pidfd
 * of the host, which cannot be seen from here; -k: the kernel is our child already (guard-launch.h),
 * and 8 tells how its execve() went; -t: the kernel gets this terminal as its own; -r
 * RESOURCE:SOFT:HARD: a limit of setrlimit() for it.
 *
 * Every process that the kernel ever makes stays below the guard, which is their subreaper: also
 * one that called setsid or forked twice. When the kernel ends, the host asks, or the host dies in
 * whatever way, all of them are killed. The guard speaks the packets of guard-protocol.h with the
 * host and knows nothing of Python, cells or frames.
 *
 * It lives as long as the kernel and is part of the kernel's start: so it is small (no stdio, no
 * malloc, one thread) and quick. Linux only.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guard/descendants.h"
#include "guard/guard-protocol.h"
#include "guard/kernel-process.h"

enum {
    EXIT_USAGE = 2,
    EXIT_SYSTEM = 3,
    GRACE_MS = 200,      /* between SIGTERM and SIGKILL when nobody said otherwise */
    SEND_WAIT_MS = 1000, /* for a host that does not read */
    QUIET_MIN_MS = 2,    /* nobody has died for so long: time for another round of SIGKILL ... */
    QUIET_MAX_MS = 1000,
    ROUND_MS = 20,     /* ... as it is when processes have been dying for so long */
    HOLD_MS = 5000,    /* for the host's word when the kernel has ended */
    REFUSED_MS = 1000, /* only processes that may not be killed are left: give up */
};

struct guard {
    pid_t self, host, kernel; /* kernel is 0 once reaped */
    int host_fd;              /* pidfd of the host, or -1 */
    int child_fd;             /* signalfd: SIGCHLD, and SIGUSR1 for the host's death */
    int exec_fd;              /* tells how execve went; -1 once known */
    bool linked;              /* the host still holds its end */
    bool ending;              /* SIGTERM was sent to all */
    bool holds;               /* the kernel's end is not the end yet */
    bool pruning;             /* SIGTERM was sent to all but the spared */
    int32_t spared[HR_GUARD_SPARED_MAX];
    bool killed; /* SIGKILL may have been sent by us */
    bool childless;
    int64_t deadline; /* of the grace */
    int refused;      /* how many processes we may not kill */
    unsigned long long oom_kills;
};

/* Where the program lies; made by the linker. NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl*) */
extern const char __executable_start[] __attribute__((weak));
extern const char etext[] __attribute__((weak));

/* ---- small things ----------------------------------------------------------------------- */

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/*
 * Give the pages of the program back. The start has mapped most of the C library around the few
 * pages that the guard needs from now on; they come again by themselves.
 */
static void shrink(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = (uintptr_t)__executable_start & ~(page - 1),
              end = (uintptr_t)etext & ~(page - 1);

    if (start && end > start)
        madvise((void *)start, end - start, MADV_DONTNEED);
}

/* ---- the link --------------------------------------------------------------------------- */

/* Tell the host. Never waits long: a host that does not read must not keep a kernel alive. */
static void tell(struct guard *guard, enum hr_guard_type type, int a, int b, uint32_t c)
{
    struct hr_guard_message message = {.type = type, .a = a, .b = b, .c = c};
    struct pollfd writable = {.fd = HR_GUARD_FD_LINK, .events = POLLOUT};

    if (!guard->linked)
        return;
    for (int attempt = 0; attempt < 2; attempt++) {
        if (send(HR_GUARD_FD_LINK, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0 ||
            errno != EAGAIN)
            return;
        poll(&writable, 1, SEND_WAIT_MS);
    }
}

/* ---- the kernel's life ------------------------------------------------------------------ */

static void start_ending(struct guard *guard, int grace_ms)
{
    int64_t deadline = now_ms() + (grace_ms > 0 ? grace_ms : 0);

    hr_descendants_spare(NULL, 0);
    guard->pruning = false;
    if (!guard->ending || deadline < guard->deadline)
        guard->deadline = deadline;
    if (!guard->ending && grace_ms > 0 && !guard->childless)
        hr_descendants_terminate();
    guard->ending = true;
}

/* execve has succeeded (the pipe is at its end) or told its errno. */
static void read_exec_result(struct guard *guard)
{
    int error = 0;
    ssize_t n = read(guard->exec_fd, &error, sizeof error);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    close(guard->exec_fd);
    guard->exec_fd = -1;
    if (n == sizeof error) {
        tell(guard, HR_GUARD_EXEC_FAILED, error, 0, 0);
        return;
    }
    tell(guard, HR_GUARD_STARTED, guard->kernel, 0, 0);
    guard->oom_kills = hr_guard_oom_kills();
    shrink();
}

static void kernel_exited(struct guard *guard, int status, const struct rusage *used)
{
    int out_of_memory = 0;

    if (guard->exec_fd >= 0)
        read_exec_result(guard); /* the host hears STARTED or EXEC_FAILED before EXITED */
    guard->kernel = 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !guard->killed)
        out_of_memory = hr_guard_oom_kills() > guard->oom_kills;
    tell(guard, HR_GUARD_EXITED, status, out_of_memory,
         (uint32_t)((used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000 +
                    (used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1000));
}

/* Reap what has ended. Returns how many. */
static int reap(struct guard *guard)
{
    struct signalfd_siginfo news;
    struct rusage used;
    int status, count = 0;
    bool kernel_gone = false;
    pid_t pid;

    while (read(guard->child_fd, &news, sizeof news) > 0)
        ;
    while ((pid = wait4(-1, &status, WNOHANG, &used)) > 0 || (pid < 0 && errno == EINTR)) {
        if (pid < 0)
            continue;
        count++;
        if (pid == guard->kernel) {
            kernel_exited(guard, status, &used);
            kernel_gone = true;
        }
    }
    guard->childless = pid < 0 && errno == ECHILD;
    if (guard->childless && !guard->kernel && !guard->ending)
        start_ending(guard, 0);
    else if (kernel_gone && !guard->ending && !guard->pruning && !guard->holds)
        start_ending(guard, GRACE_MS);
    else if (kernel_gone && !guard->ending && !guard->pruning)
        guard->deadline = now_ms() + HOLD_MS;
    return count;
}

static void kill_round(struct guard *guard)
{
    guard->killed = true;
    guard->refused = hr_descendants_kill();
    if (guard->refused >= 0)
        return;
    /* no descriptor left in the whole system, or no /proc: the kernel is known without */
    guard->refused = 0;
    if (guard->kernel > 0) {
        kill(-guard->kernel, SIGKILL);
        kill(guard->kernel, SIGKILL);
    }
}

/* Whether nobody is left, or nobody but the spared. */
static bool is_over(const struct guard *guard)
{
    return guard->childless || (guard->pruning && hr_descendants_count() == 0);
}

/* Until nobody is left, or only processes that we may not kill. */
static void kill_to_the_end(struct guard *guard)
{
    struct pollfd child = {.fd = guard->child_fd, .events = POLLIN};
    int64_t refused_since = -1;
    int quiet = QUIET_MIN_MS;

    while (!is_over(guard)) {
        int64_t end;
        int reaped = 0;

        kill_round(guard);
        end = now_ms() + ROUND_MS;
        do
            reaped += reap(guard);
        while (!is_over(guard) && poll(&child, 1, quiet) > 0 && now_ms() < end);
        quiet = reaped ? QUIET_MIN_MS : 2 * quiet < QUIET_MAX_MS ? 2 * quiet : QUIET_MAX_MS;
        if (!guard->refused || reaped)
            refused_since = -1;
        else if (refused_since < 0)
            refused_since = now_ms();
        else if (now_ms() - refused_since > REFUSED_MS)
            return;
    }
}

/* ---- what the host asks ----------------------------------------------------------------- */

static int interrupt(const struct guard *guard, int signal_number)
{
    /* gone, or no interpreter yet that could take it */
    if (guard->kernel <= 0 || guard->exec_fd >= 0)
        return ESRCH;
    if (kill(-guard->kernel, signal_number) == 0 || kill(guard->kernel, signal_number) == 0)
        return 0;
    return errno;
}

static void start_pruning(struct guard *guard, const struct hr_guard_message *message)
{
    if (guard->ending)
        return;
    memcpy(guard->spared, message->spared, sizeof guard->spared);
    hr_descendants_spare(guard->spared, HR_GUARD_SPARED_MAX);
    guard->pruning = true;
    guard->deadline = now_ms() + message->a;
    hr_descendants_terminate();
}

/* The grace is over, or all have obeyed. */
static void prune(struct guard *guard)
{
    kill_to_the_end(guard);
    hr_descendants_spare(NULL, 0);
    guard->pruning = guard->killed = false;
    guard->deadline = 0;
    if (!guard->childless)
        tell(guard, HR_GUARD_PRUNED, 0, 0, 0);
}

/* The pid is a kernel's word: it must be that of a child. */
static void resume(struct guard *guard, pid_t pid)
{
    siginfo_t info;

    if (guard->ending || guard->kernel || pid <= 0 ||
        waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || kill(pid, SIGCONT)) {
        start_ending(guard, 0);
        return;
    }
    guard->kernel = pid;
    guard->deadline = 0;
    tell(guard, HR_GUARD_STARTED, pid, 0, 0);
}

static void read_link(struct guard *guard)
{
    struct hr_guard_message message;
    ssize_t n = recv(HR_GUARD_FD_LINK, &message, sizeof message, MSG_DONTWAIT | MSG_TRUNC);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        guard->linked = false;
        start_ending(guard, GRACE_MS);
    } else if (n == sizeof message && message.type == HR_GUARD_INTERRUPT) {
        tell(guard, HR_GUARD_ACK, interrupt(guard, message.a), 0, message.c);
    } else if (n == sizeof message && message.type == HR_GUARD_KILL) {
        start_ending(guard, message.a);
    } else if (n == sizeof message && message.type == HR_GUARD_HOLD) {
        guard->holds = true;
    } else if (n == sizeof message && message.type == HR_GUARD_PRUNE) {
        start_pruning(guard, &message);
    } else if (n == sizeof message && message.type == HR_GUARD_RESUME) {
        resume(guard, message.a);
    }
}

static int wait_ms(const struct guard *guard)
{
    int64_t wait = guard->deadline - now_ms();

    if (!guard->deadline)
        return -1;
    return wait < 0 ? 0 : wait > INT32_MAX ? INT32_MAX : (int)wait;
}

/* Until the end has begun and the grace is over, or nobody is left. */
static void watch(struct guard *guard)
{
    while (!guard->ending || (!guard->childless && now_ms() < guard->deadline)) {
        struct pollfd fds[] = {{.fd = guard->child_fd, .events = POLLIN},
                               {.fd = guard->exec_fd, .events = POLLIN},
                               {.fd = guard->linked ? HR_GUARD_FD_LINK : -1, .events = POLLIN},
                               {.fd = guard->host_fd, .events = POLLIN}};

        if (poll(fds, sizeof fds / sizeof fds[0], wait_ms(guard)) < 0)
            continue;
        if (fds[1].revents && guard->exec_fd >= 0)
            read_exec_result(guard);
        if (fds[2].revents)
            read_link(guard);
        if (fds[0].revents)
            reap(guard);
        if (fds[3].revents || (fds[0].revents && getppid() != guard->host)) {
            /* the host is dead, whoever else may hold its end of the link */
            close(guard->host_fd);
            guard->host_fd = -1;
            start_ending(guard, GRACE_MS);
        }
        if (guard->pruning && (now_ms() >= guard->deadline || is_over(guard)))
            prune(guard);
        else if (!guard->ending && guard->deadline && now_ms() >= guard->deadline)
            start_ending(guard, 0); /* no word has come */
    }
}

/* ---- start ------------------------------------------------------------------------------ */

extern char **environ;

static int fork_kernel(struct guard *guard, const struct hr_guard_options *options)
{
    int result[2], error;

    if (pipe2(result, O_CLOEXEC | O_NONBLOCK))
        return errno;
    /*
     * There is nothing else to do until the child has become the interpreter, and nobody but us
     * shares its memory.
     */
    guard->kernel = vfork(); /* NOLINT(clang-analyzer-*) */
    if (guard->kernel == 0) {
        error = hr_guard_become_kernel(options, guard->self, environ);
        if (write(result[1], &error, sizeof error) < 0)
            _exit(126);
        _exit(127);
    }
    error = guard->kernel < 0 ? errno : 0;
    close(result[1]);
    if (error) {
        guard->kernel = 0;
        close(result[0]);
    } else {
        guard->exec_fd = result[0];
    }
    return error;
}

/* What started us has started the kernel before, as our child. */
static int take_kernel(struct guard *guard, const struct hr_guard_options *options)
{
    if (fcntl(HR_GUARD_FD_EXEC, F_SETFD, FD_CLOEXEC))
        return errno;
    guard->kernel = options->kernel;
    guard->exec_fd = HR_GUARD_FD_EXEC;
    reap(guard); /* one that has ended by now did so before we could hear of it */
    return 0;
}

/* The kernel has its streams and sockets now: hold nothing of them, and no directory. */
static void let_go(const struct hr_guard_options *options)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int standard = 0; standard <= 2; standard++)
        if (fd >= 0)
            dup2(fd, standard);
        else
            close(standard);
    if (fd > STDERR_FILENO)
        close(fd);
    close(HR_GUARD_FD_CONTROL);
    if (options->aux)
        close(HR_GUARD_FD_AUX);
    if (options->requests)
        close(HR_GUARD_FD_REQUESTS);
    if (chdir("/")) {
        /* the kernel's directory stays in use, no harm to the kernel */
    }
}

/* Block every signal (two are read), gather orphans, watch the host. */
static bool prepare(struct guard *guard, const struct hr_guard_options *options)
{
    struct sigaction children = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
    sigset_t all, child;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    sigaction(SIGCHLD, &children, NULL);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigaddset(&child, SIGUSR1);
    guard->self = getpid();
    guard->host = getppid();
    guard->linked = true;
    guard->exec_fd = -1;
    if (options->host)
        guard->host_fd = fcntl(HR_GUARD_FD_HOST, F_SETFD, FD_CLOEXEC) ? -1 : HR_GUARD_FD_HOST;
    else
        guard->host_fd = guard->host > 0 ? hr_guard_pidfd(guard->host) : -1;
    /*
     * Either may come too when a mere thread of the host ends. SIGCONT is for a guard that somebody
     * has stopped: it is to see that the host is gone. SIGUSR1 tells so itself, on Linux before
     * 5.3.
     */
    prctl(PR_SET_PDEATHSIG, guard->host_fd < 0 ? SIGUSR1 : SIGCONT);
    guard->child_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    return guard->child_fd >= 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 &&
           getppid() == guard->host;
}

/* What we open must not take a number that the kernel's streams and sockets have. */
static bool check_descriptors(const struct hr_guard_options *options)
{
    socklen_t size = sizeof(int);
    int type;

    while (fcntl(STDERR_FILENO, F_GETFD) < 0 || fcntl(STDOUT_FILENO, F_GETFD) < 0 ||
           fcntl(STDIN_FILENO, F_GETFD) < 0)
        if (open("/dev/null", O_RDWR) < 0)
            return false;
    return getsockopt(HR_GUARD_FD_LINK, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
           type == SOCK_SEQPACKET && fcntl(HR_GUARD_FD_CONTROL, F_GETFD) >= 0 &&
           (!options->aux || fcntl(HR_GUARD_FD_AUX, F_GETFD) >= 0) &&
           (!options->requests || fcntl(HR_GUARD_FD_REQUESTS, F_GETFD) >= 0);
}

static int usage(void)
{
    static const char text[] =
        "hermes-kernel-guard: a part of hermes-repl that only its engine can start\n";

    return write(STDERR_FILENO, text, sizeof text - 1) < 0 ? EXIT_SYSTEM : EXIT_USAGE;
}

int main(int argc, char **argv)
{
    struct guard guard = {0};
    struct hr_guard_options options = {0};
    int error;

    if (!hr_guard_read_options(argc, argv, &options) || !check_descriptors(&options))
        return usage();
    if (!prepare(&guard, &options))
        return EXIT_SYSTEM;
    error = options.kernel ? take_kernel(&guard, &options) : fork_kernel(&guard, &options);
    let_go(&options);
    if (error) {
        tell(&guard, HR_GUARD_EXEC_FAILED, error, 0, 0);
    } else {
        watch(&guard);
        kill_to_the_end(&guard);
    }
    tell(&guard, HR_GUARD_GONE, guard.childless ? 0 : guard.refused, 0, 0);
    _exit(0); /* no handlers: a leak checker's process among our children could hold us for ever */
}
