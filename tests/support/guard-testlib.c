/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "guard-testlib.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct test_processes *gt_before;

static char self[PATH_MAX]; /* this program, for kernels written in C */

/* ---- a host's part ---------------------------------------------------------------------- */

void gt_make_pair(int type, int ends[2])
{
    ck_assert_int_eq(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), 0);
}

/* Start a guard with this program as its kernel (argv), not waiting for news. */
void gt_start_argv(struct guarded *guarded, bool aux, const char *const *kernel)
{
    int link[2], control[2], spare[2], output[2], null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const char *argv[16] = {test_build_path("hermes-kernel-guard"), "hermes_kernel_runner"};
    int n = 2;

    if (aux)
        argv[n++] = "-a";
    argv[n++] = "--";
    while (*kernel)
        argv[n++] = *kernel++;
    gt_make_pair(SOCK_SEQPACKET, link);
    gt_make_pair(SOCK_STREAM, control);
    gt_make_pair(SOCK_STREAM, spare);
    ck_assert_int_eq(pipe2(output, O_CLOEXEC), 0);
    guarded->guard =
        test_spawn(argv, (int[]){null, output[1], output[1], link[1], control[1], spare[1]},
                   aux ? 6 : 5, NULL);
    guarded->kernel = 0;
    guarded->link = link[0];
    guarded->control = control[0];
    guarded->aux = spare[0];
    guarded->output = output[0];
    close(null);
    close(link[1]);
    close(control[1]);
    close(spare[1]);
    close(output[1]);
}

/* The next message within the time, or type 0 at the end of the link. */
struct hr_guard_message gt_next_message(const struct guarded *guarded)
{
    struct hr_guard_message message = {0};
    ssize_t n = -1;

    if (!test_wait((n = recv(guarded->link, &message, sizeof message, MSG_DONTWAIT)) >= 0 ||
                       errno != EAGAIN,
                   GT_SOON_MS))
        ck_abort_msg("the guard says nothing");
    ck_assert(n == sizeof message || n <= 0);
    return message;
}

struct hr_guard_message gt_expect(const struct guarded *guarded, enum hr_guard_type type)
{
    struct hr_guard_message message = gt_next_message(guarded);

    ck_assert_uint_eq(message.type, type);
    return message;
}

void gt_say(const struct guarded *guarded, enum hr_guard_type type, int a, uint32_t c)
{
    struct hr_guard_message message = {.type = type, .a = a, .c = c};

    ck_assert_int_eq(send(guarded->link, &message, sizeof message, MSG_NOSIGNAL), sizeof message);
}

void gt_start(struct guarded *guarded, const char *const *kernel)
{
    gt_start_argv(guarded, false, kernel);
    guarded->kernel = gt_expect(guarded, HR_GUARD_STARTED).a;
    ck_assert_int_gt(guarded->kernel, 0);
}

void gt_start_python(struct guarded *guarded, const char *code)
{
    gt_start(guarded, (const char *[]){test_python(), "-c", code, "hermes_kernel_runner", NULL});
}

void gt_start_self(struct guarded *guarded, const char *what)
{
    gt_start(guarded, (const char *[]){self, what, test_directory(), NULL});
}

/* What the kernel writes up to and including a newline. */
char *gt_read_line(const struct guarded *guarded)
{
    static char line[4096];
    size_t size = 0;

    while (size < sizeof line - 1 && (!size || line[size - 1] != '\n')) {
        ssize_t n = read(guarded->output, line + size, 1);

        if (n <= 0)
            break;
        size++;
    }
    line[size] = '\0';
    return line;
}

/* The guard has exited by itself; nothing is left. */
void gt_finish(struct guarded *guarded)
{
    ck_assert_int_eq(test_reap(guarded->guard, GT_SOON_MS), 0);
    close(guarded->link);
    close(guarded->control);
    close(guarded->aux);
    close(guarded->output);
    test_processes_check(gt_before, GT_SOON_MS);
    gt_before = NULL;
}

/* After the kernel's end: EXITED with this status, GONE with nobody left, the end. */
void gt_expect_end(struct guarded *guarded, int status)
{
    ck_assert_int_eq(gt_expect(guarded, HR_GUARD_EXITED).a, status);
    ck_assert_int_eq(gt_expect(guarded, HR_GUARD_GONE).a, 0);
    ck_assert_uint_eq(gt_next_message(guarded).type, 0);
    gt_finish(guarded);
}

/* Processes that became our children by their parents' death, and any other child. */
void gt_kill_orphans(void)
{
    char path[64], *children, *at;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    children = test_read_file(path);
    ck_assert_ptr_nonnull(children);
    for (at = children; *at; at = strchr(at, ' ') + 1)
        kill((pid_t)strtol(at, NULL, 10), SIGKILL);
    free(children);
}

void gt_set_up(void)
{
    gt_before = test_processes_take();
}

/* ---- kernels in C: this program with a word as its first argument ----------------------- */

static void say_hello(void)
{
    static const char text[] = "ready\n";

    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0)
        _exit(1);
}

/*
 * Long for a test; after it they go by themselves, lest a guard that fails leave them on the
 * machine for ever.
 */
static bool time_is_over(void)
{
    enum { LIFE_MS = 120000 };
    static int64_t end_ms;

    if (!end_ms)
        end_ms = test_now_ms() + LIFE_MS;
    return test_now_ms() > end_ms;
}

void gt_sleep_for_ever(void)
{
    while (!time_is_over())
        test_pause_ms(1000);
    _exit(0);
}

/* Forks a child that goes on, and exits, again and again: never the same pid for long. */
static void run_away(void)
{
    while (!time_is_over()) {
        pid_t pid = fork();

        if (pid > 0)
            _exit(0);
        setsid();
        test_pause_ms(1);
    }
    _exit(0);
}

/* Every way to hide that a process has. Ten processes or so beside the kernel. */
static int be_nasty(void)
{
    signal(SIGTERM, SIG_IGN);
    if (fork() == 0) { /* a daemon with a child */
        setsid();
        if (fork() > 0)
            _exit(0);
        if (chdir("/") || fork() == 0)
            setsid();
        gt_sleep_for_ever();
    }
    if (fork() == 0) { /* its group is another one, it ignores everything */
        setpgid(0, 0);
        for (int number = 1; number < NSIG; number++)
            signal(number, SIG_IGN);
        gt_sleep_for_ever();
    }
    if (fork() == 0) { /* stopped */
        raise(SIGSTOP);
        gt_sleep_for_ever();
    }
    for (int i = 0; i < 3; i++)
        if (fork() == 0)
            run_away();
    if (fork() == 0) { /* no environment, no name */
        execve(self, (char *[]){(char *)"", (char *)"--sleep", NULL}, (char *[]){NULL});
        _exit(1);
    }
    say_hello();
    gt_sleep_for_ever();
    return 0;
}

/* Many of these, and without a rest. */
static int be_many_runaways(void)
{
    for (int i = 0; i < 4; i++)
        if (fork() == 0)
            while (!time_is_over()) {
                if (fork() > 0)
                    _exit(0);
                setsid();
            }
    say_hello();
    gt_sleep_for_ever();
    return 0;
}

/* Forks without end until there were 600 processes; each of them goes on forking. */
static int be_bomb(void)
{
    int *forks =
        mmap(NULL, sizeof *forks, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (forks == MAP_FAILED)
        return 1;
    signal(SIGTERM, SIG_IGN);
    say_hello();
    for (;;) {
        if (__atomic_add_fetch(forks, 1, __ATOMIC_SEQ_CST) > 600)
            gt_sleep_for_ever();
        if (fork() == 0)
            setsid();
    }
}

static int be_kernel(const char *what)
{
    time_is_over(); /* the clock starts, for what is forked too */
    if (!strcmp(what, "--nasty"))
        return be_nasty();
    if (!strcmp(what, "--runaways"))
        return be_many_runaways();
    if (!strcmp(what, "--bomb"))
        return be_bomb();
    if (!strcmp(what, "--sleep")) {
        say_hello();
        gt_sleep_for_ever();
    }
    return 2;
}

int gt_main(int argc, char **argv, int (*run)(void))
{
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    self[n > 0 ? n : 0] = '\0';
#ifdef HERMES_NO_GUARD
    if (access(test_build_path("hermes-kernel-guard"), X_OK))
        return 77; /* skipped: this build has none */
#endif
    return argc > 1 ? be_kernel(argv[1]) : run();
}
