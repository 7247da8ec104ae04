/* SPDX-License-Identifier: MIT */
/*
 * The guard as a program: whatever a kernel starts and whoever dies, nothing stays. Needs no engine
 * and no runner.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard/guard-protocol.h"
#include "testlib.h"

enum { SOON_MS = 10000 };

/* A guard that this test started, and our ends of its sockets. */
struct guarded {
    pid_t guard, kernel;
    int link, control, aux, output; /* output: what the kernel writes to 1 and 2 */
};

static struct test_processes *before;
static char self[PATH_MAX]; /* this program, for kernels written in C */

/* ---- a host's part ---------------------------------------------------------------------- */

static void make_pair(int type, int ends[2])
{
    ck_assert_int_eq(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), 0);
}

/* Start a guard with this program as its kernel (argv), not waiting for news. */
static void start_argv(struct guarded *guarded, bool aux, const char *const *kernel)
{
    int link[2], control[2], spare[2], output[2], null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const char *argv[16] = {test_build_path("hermes-kernel-guard"), "hermes_kernel_runner"};
    int n = 2;

    if (aux)
        argv[n++] = "-a";
    argv[n++] = "--";
    while (*kernel)
        argv[n++] = *kernel++;
    make_pair(SOCK_SEQPACKET, link);
    make_pair(SOCK_STREAM, control);
    make_pair(SOCK_STREAM, spare);
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
static struct hr_guard_message next_message(const struct guarded *guarded)
{
    struct hr_guard_message message = {0};
    ssize_t n = -1;

    if (!test_wait((n = recv(guarded->link, &message, sizeof message, MSG_DONTWAIT)) >= 0 ||
                       errno != EAGAIN,
                   SOON_MS))
        ck_abort_msg("the guard says nothing");
    ck_assert(n == sizeof message || n <= 0);
    return message;
}

static struct hr_guard_message expect(const struct guarded *guarded, enum hr_guard_type type)
{
    struct hr_guard_message message = next_message(guarded);

    ck_assert_uint_eq(message.type, type);
    return message;
}

static void say(const struct guarded *guarded, enum hr_guard_type type, int a, uint32_t c)
{
    struct hr_guard_message message = {.type = type, .a = a, .c = c};

    ck_assert_int_eq(send(guarded->link, &message, sizeof message, MSG_NOSIGNAL), sizeof message);
}

static void start(struct guarded *guarded, const char *const *kernel)
{
    start_argv(guarded, false, kernel);
    guarded->kernel = expect(guarded, HR_GUARD_STARTED).a;
    ck_assert_int_gt(guarded->kernel, 0);
}

static void start_python(struct guarded *guarded, const char *code)
{
    start(guarded, (const char *[]){test_python(), "-c", code, "hermes_kernel_runner", NULL});
}

static void start_self(struct guarded *guarded, const char *what)
{
    start(guarded, (const char *[]){self, what, test_directory(), NULL});
}

/* What the kernel writes up to and including a newline. */
static char *read_line(const struct guarded *guarded)
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
static void finish(struct guarded *guarded)
{
    ck_assert_int_eq(test_reap(guarded->guard, SOON_MS), 0);
    close(guarded->link);
    close(guarded->control);
    close(guarded->aux);
    close(guarded->output);
    test_processes_check(before, SOON_MS);
    before = NULL;
}

/* After the kernel's end: EXITED with this status, GONE with nobody left, the end. */
static void expect_end(struct guarded *guarded, int status)
{
    ck_assert_int_eq(expect(guarded, HR_GUARD_EXITED).a, status);
    ck_assert_int_eq(expect(guarded, HR_GUARD_GONE).a, 0);
    ck_assert_uint_eq(next_message(guarded).type, 0);
    finish(guarded);
}

/* Processes that became our children by their parents' death, and any other child. */
static void kill_orphans(void)
{
    char path[64], *children, *at;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    children = test_read_file(path);
    ck_assert_ptr_nonnull(children);
    for (at = children; *at; at = strchr(at, ' ') + 1)
        kill((pid_t)strtol(at, NULL, 10), SIGKILL);
    free(children);
}

static void set_up(void)
{
    before = test_processes_take();
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

static void sleep_for_ever(void)
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
        sleep_for_ever();
    }
    if (fork() == 0) { /* its group is another one, it ignores everything */
        setpgid(0, 0);
        for (int number = 1; number < NSIG; number++)
            signal(number, SIG_IGN);
        sleep_for_ever();
    }
    if (fork() == 0) { /* stopped */
        raise(SIGSTOP);
        sleep_for_ever();
    }
    for (int i = 0; i < 3; i++)
        if (fork() == 0)
            run_away();
    if (fork() == 0) { /* no environment, no name */
        execve(self, (char *[]){(char *)"", (char *)"--sleep", NULL}, (char *[]){NULL});
        _exit(1);
    }
    say_hello();
    sleep_for_ever();
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
    sleep_for_ever();
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
            sleep_for_ever();
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
        sleep_for_ever();
    }
    return 2;
}

/* ---- the start -------------------------------------------------------------------------- */

START_TEST(kernel_has_its_own_session_clean_signals_and_only_its_descriptors)
{
    struct guarded guarded;

    start_python(&guarded, "import os\n"
                           "status = open('/proc/self/status').read()\n"
                           "mask = [l for l in status.splitlines() if l.startswith('SigBlk')]\n"
                           "fds = sorted(int(n) for n in os.listdir('/proc/self/fd'))\n"
                           "print(os.getpid(), os.getppid(), os.getsid(0), os.getpgid(0),\n"
                           "      int(mask[0].split()[1], 16), fds, os.getcwd())\n");
    char expected[PATH_MAX + 200], cwd[PATH_MAX];
    ck_assert_ptr_nonnull(getcwd(cwd, sizeof cwd));
    /* 4 is the descriptor of the listing itself */
    snprintf(expected, sizeof expected, "%d %d %d %d 0 [0, 1, 2, 3, 4] %s\n", guarded.kernel,
             guarded.guard, guarded.kernel, guarded.kernel, cwd);
    ck_assert_str_eq(read_line(&guarded), expected);
    expect_end(&guarded, 0);
}
END_TEST

START_TEST(ignored_signals_of_the_guard_are_not_inherited)
{
    struct guarded guarded;

    start(&guarded, (const char *[]){"/bin/grep", "SigIgn", "/proc/self/status", NULL});
    ck_assert_str_eq(read_line(&guarded), "SigIgn:\t0000000000000000\n");
    expect_end(&guarded, 0);
}
END_TEST

START_TEST(control_and_aux_sockets_arrive_as_3_and_4)
{
    struct guarded guarded;
    char answer[16] = "";

    start_argv(&guarded, true,
               (const char *[]){test_python(), "-c",
                                "import os; os.write(4, os.read(3, 10)); os.write(3, b'done');"
                                "print(len(os.listdir('/proc/self/fd')))",
                                NULL});
    expect(&guarded, HR_GUARD_STARTED);
    ck_assert_int_eq(write(guarded.control, "question", 8), 8);
    ck_assert_int_eq(read(guarded.aux, answer, sizeof answer), 8);
    ck_assert_str_eq(answer, "question");
    ck_assert_int_eq(read(guarded.control, answer, 4), 4);
    ck_assert_str_eq(read_line(&guarded), "6\n");
    /* the guard holds nothing of the kernel's: with the kernel they end */
    ck_assert_int_eq(read(guarded.control, answer, sizeof answer), 0);
    ck_assert_int_eq(read(guarded.output, answer, sizeof answer), 0);
    expect_end(&guarded, 0);
}
END_TEST

START_TEST(guard_holds_no_stream_and_no_directory)
{
    struct guarded guarded;
    char path[64], target[PATH_MAX];
    ssize_t n;

    start_self(&guarded, "--sleep");
    for (int fd = 0; fd <= 2; fd++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", guarded.guard, fd);
        ck_assert(test_wait((n = readlink(path, target, sizeof target)) == 9, SOON_MS));
        ck_assert_mem_eq(target, "/dev/null", 9);
    }
    snprintf(path, sizeof path, "/proc/%d/cwd", guarded.guard);
    ck_assert(test_wait(readlink(path, target, sizeof target) == 1, SOON_MS));
    say(&guarded, HR_GUARD_KILL, 0, 0);
    expect_end(&guarded, SIGKILL);
}
END_TEST

START_TEST(missing_interpreter_is_told_by_errno)
{
    static const struct {
        const char *path;
        int error;
    } cases[] = {{"/nowhere/python3", ENOENT}, {"/etc", EACCES}, {"/etc/passwd", EACCES}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct guarded guarded;

        start_argv(&guarded, false, (const char *[]){cases[i].path, "-c", "", NULL});
        ck_assert_int_eq(expect(&guarded, HR_GUARD_EXEC_FAILED).a, cases[i].error);
        ck_assert(WIFEXITED(expect(&guarded, HR_GUARD_EXITED).a));
        expect(&guarded, HR_GUARD_GONE);
        finish(&guarded);
        before = test_processes_take();
    }
    test_processes_check(before, SOON_MS);
}
END_TEST

START_TEST(guard_is_the_one_direct_child_and_has_the_runners_name)
{
    struct guarded guarded;
    char command[100], found[64] = "", expected[32];
    FILE *pgrep;

    start_python(&guarded, "import time; time.sleep(100)");
    snprintf(command, sizeof command, "exec pgrep -P %d -f hermes_kernel_runner", getpid());
    pgrep = popen(command, "r");
    ck_assert_ptr_nonnull(pgrep);
    ck_assert_uint_gt(fread(found, 1, sizeof found - 1, pgrep), 0);
    pclose(pgrep);
    snprintf(expected, sizeof expected, "%d\n", guarded.guard);
    ck_assert_str_eq(found, expected);
    say(&guarded, HR_GUARD_KILL, 0, 0);
    expect_end(&guarded, SIGKILL);
}
END_TEST

START_TEST(started_by_hand_it_says_what_it_is)
{
    const char *argv[] = {test_build_path("hermes-kernel-guard"), "--help", NULL};
    char text[200] = "";
    int output[2], status;
    pid_t pid;

    ck_assert_int_eq(pipe2(output, O_CLOEXEC), 0);
    pid = test_spawn(argv, (int[]){-1, -1, output[1]}, 3, NULL);
    close(output[1]);
    status = test_reap(pid, SOON_MS);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    ck_assert_int_gt(read(output[0], text, sizeof text - 1), 0);
    ck_assert_ptr_nonnull(strstr(text, "hermes-repl"));
    close(output[0]);
    test_processes_check(before, SOON_MS);
}
END_TEST

/* ---- the end of the kernel -------------------------------------------------------------- */

START_TEST(exit_status_and_signal_are_told)
{
    struct guarded guarded;

    start_python(&guarded, "import os; os._exit(7)");
    expect_end(&guarded, 7 << 8);
    before = test_processes_take();
    start_python(&guarded, "import os, signal, resource\n"
                           "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
                           "os.kill(os.getpid(), signal.SIGSEGV)");
    expect_end(&guarded, SIGSEGV);
}
END_TEST

START_TEST(exit_is_told_at_once_and_then_the_rest_dies)
{
    struct guarded guarded;
    int64_t start_ms;

    start_python(&guarded, "import subprocess\n"
                           "for i in range(2):\n"
                           "    subprocess.Popen(['/bin/sh', '-c', 'trap \"\" TERM; sleep 1000'],\n"
                           "                     start_new_session=True, stdout=-3, stderr=-3)\n"
                           "print('up')\n");
    read_line(&guarded);
    start_ms = test_now_ms();
    ck_assert_int_eq(expect(&guarded, HR_GUARD_EXITED).a, 0);
    ck_assert_int_lt(test_now_ms() - start_ms,
                     test_scaled_ms(150)); /* not behind the grace of 200 ms */
    ck_assert_int_eq(expect(&guarded, HR_GUARD_GONE).a, 0);
    finish(&guarded);
}
END_TEST

START_TEST(killed_by_somebody_is_not_out_of_memory)
{
    struct guarded guarded;
    struct hr_guard_message message;

    start_self(&guarded, "--sleep");
    read_line(&guarded);
    kill(guarded.kernel, SIGKILL);
    message = expect(&guarded, HR_GUARD_EXITED);
    ck_assert_int_eq(message.a, SIGKILL);
    ck_assert_int_eq(message.b, 0);
    expect(&guarded, HR_GUARD_GONE);
    finish(&guarded);
}
END_TEST

/* A control group (version 1) with little memory, or NULL where this user can't make one. */
static const char *make_small_group(void)
{
    static char path[200];
    char file[256];

    snprintf(path, sizeof path, "/sys/fs/cgroup/memory/hermes-test-%d", getpid());
    if (mkdir(path, 0755))
        return NULL;
    snprintf(file, sizeof file, "%s/memory.limit_in_bytes", path);
    test_write_file(file, "33554432", 0644);
    return path;
}

START_TEST(out_of_memory_is_told)
{
    const char *group = make_small_group();
    struct hr_guard_message message;
    struct guarded guarded;
    char code[600];

    if (!group) {
        test_processes_check(before, SOON_MS);
        return; /* not root, or control groups of version 2 only */
    }
    snprintf(code, sizeof code,
             "import os\n"
             "open('%s/cgroup.procs', 'w').write(str(os.getpid()))\n"
             "b = bytearray(200 << 20)\n"
             "for i in range(0, len(b), 4096): b[i] = 1\n",
             group);
    start_python(&guarded, code);
    message = expect(&guarded, HR_GUARD_EXITED);
    ck_assert_int_eq(message.a, SIGKILL);
    ck_assert_int_eq(message.b, 1);
    expect(&guarded, HR_GUARD_GONE);
    finish(&guarded);
    ck_assert(test_wait(rmdir(group) == 0, SOON_MS));
}
END_TEST

/* ---- signals ---------------------------------------------------------------------------- */

START_TEST(interrupt_reaches_the_kernels_group)
{
    struct guarded guarded;

    start_python(&guarded, "import subprocess, sys, time\n"
                           "p = subprocess.Popen(['/bin/sleep', '1000'])\n"
                           "try:\n"
                           "    print('up', flush=True)\n"
                           "    time.sleep(1000)\n"
                           "except KeyboardInterrupt:\n"
                           "    sys.exit(100 - p.wait())\n");
    read_line(&guarded);
    say(&guarded, HR_GUARD_INTERRUPT, SIGINT, 77);
    struct hr_guard_message ack = expect(&guarded, HR_GUARD_ACK);
    ck_assert_uint_eq(ack.c, 77);
    ck_assert_int_eq(ack.a, 0);
    expect_end(&guarded, (100 + SIGINT) << 8);
}
END_TEST

START_TEST(every_signal_is_acknowledged_in_order)
{
    struct guarded guarded;

    start_self(&guarded, "--sleep");
    for (uint32_t i = 1; i <= 100; i++)
        say(&guarded, HR_GUARD_INTERRUPT, i % 10 ? 0 : -1, i);
    for (uint32_t i = 1; i <= 100; i++) {
        struct hr_guard_message ack = expect(&guarded, HR_GUARD_ACK);

        ck_assert_uint_eq(ack.c, i);
        ck_assert_int_eq(ack.a, i % 10 ? 0 : EINVAL);
    }
    say(&guarded, HR_GUARD_INTERRUPT, SIGKILL, 101);
    expect(&guarded, HR_GUARD_ACK);
    expect_end(&guarded, SIGKILL);
}
END_TEST

START_TEST(acknowledged_when_the_signal_has_been_sent)
{
    struct guarded guarded;

    /*
     * the host sends the next command after the acknowledgement: the signal must be there before it
     */
    start_python(&guarded, "import os, signal\n"
                           "seen = []\n"
                           "signal.signal(signal.SIGINT, lambda *a: seen.append(1))\n"
                           "print('up', flush=True)\n"
                           "for i in range(50):\n"
                           "    os.read(3, 1)\n"
                           "    if len(seen) != i + 1: os._exit(1)\n"
                           "    os.write(3, b'k')\n");
    read_line(&guarded);
    for (uint32_t i = 0; i < 50; i++) {
        char answer;

        say(&guarded, HR_GUARD_INTERRUPT, SIGINT, i);
        expect(&guarded, HR_GUARD_ACK);
        ck_assert_int_eq(write(guarded.control, "x", 1), 1);
        ck_assert_int_eq(read(guarded.control, &answer, 1), 1);
    }
    expect_end(&guarded, 0);
}
END_TEST

START_TEST(messages_of_no_meaning_are_ignored)
{
    struct guarded guarded;

    start_self(&guarded, "--sleep");
    ck_assert_int_eq(send(guarded.link, "short", 5, 0), 5);
    ck_assert_int_eq(send(guarded.link, "much longer than a message could be", 35, 0), 35);
    say(&guarded, HR_GUARD_STARTED, 1, 2);
    say(&guarded, 99, 1, 2);
    say(&guarded, HR_GUARD_INTERRUPT, 0, 5);
    ck_assert_uint_eq(expect(&guarded, HR_GUARD_ACK).c, 5);
    say(&guarded, HR_GUARD_KILL, -5, 0); /* no grace */
    expect_end(&guarded, SIGKILL);
}
END_TEST

/* ---- killing ---------------------------------------------------------------------------- */

START_TEST(nasty_tree_is_killed)
{
    struct guarded guarded;
    int64_t start_ms;

    start_self(&guarded, "--nasty");
    read_line(&guarded);
    ck_assert(test_wait(test_processes_new(before) >= 10, SOON_MS));
    start_ms = test_now_ms();
    say(&guarded, HR_GUARD_KILL, 50, 0);
    expect_end(&guarded, SIGKILL);
    ck_assert_int_lt(test_now_ms() - start_ms, test_scaled_ms(1000));
}
END_TEST

START_TEST(nasty_tree_dies_with_its_kernel)
{
    struct guarded guarded;

    start_self(&guarded, "--nasty");
    read_line(&guarded);
    ck_assert(test_wait(test_processes_new(before) >= 10, SOON_MS));
    kill(guarded.kernel, SIGKILL);
    expect_end(&guarded, SIGKILL);
}
END_TEST

START_TEST(stopped_kernel_is_killed)
{
    for (int grace = 0; grace <= 10000;
         grace += 10000) { /* with a grace it gets SIGCONT, and takes SIGTERM */
        struct guarded guarded;

        start_self(&guarded, "--sleep");
        kill(guarded.kernel, SIGSTOP);
        ck_assert(test_wait(test_process_state(guarded.kernel) == 'T', SOON_MS));
        say(&guarded, HR_GUARD_KILL, grace, 0);
        expect_end(&guarded, grace ? SIGTERM : SIGKILL);
        before = test_processes_take();
    }
    test_processes_check(before, SOON_MS);
}
END_TEST

START_TEST(polite_processes_get_their_grace_and_no_more_is_waited)
{
    struct guarded guarded;
    int64_t start_ms;
    char code[PATH_MAX + 400];

    snprintf(code, sizeof code,
             "import signal, time, os\n"
             "def end(*a):\n"
             "    open('%s', 'w').write('by SIGTERM')\n"
             "    os._exit(3)\n"
             "signal.signal(signal.SIGTERM, end)\n"
             "print('up', flush=True)\n"
             "while 1: time.sleep(100)\n",
             test_path("ended"));
    start_python(&guarded, code);
    read_line(&guarded);
    start_ms = test_now_ms();
    say(&guarded, HR_GUARD_KILL, 60000, 0);
    expect_end(&guarded, 3 << 8);
    ck_assert_int_lt(test_now_ms() - start_ms, test_scaled_ms(5000));
    char *text = test_read_file(test_path("ended"));
    ck_assert_pstr_eq(text, "by SIGTERM");
    free(text);
}
END_TEST

START_TEST(second_kill_shortens_the_grace)
{
    struct guarded guarded;

    start_self(&guarded, "--nasty");
    read_line(&guarded);
    say(&guarded, HR_GUARD_KILL, 600000, 0);
    say(&guarded, HR_GUARD_INTERRUPT, 0, 1); /* still served meanwhile */
    expect(&guarded, HR_GUARD_ACK);
    say(&guarded, HR_GUARD_KILL, 0, 0);
    expect_end(&guarded, SIGKILL);
}
END_TEST

START_TEST(fork_bomb_comes_to_an_end)
{
    struct guarded guarded;

    start_self(&guarded, "--bomb");
    ck_assert(test_wait(test_processes_new(before) >= 200, SOON_MS));
    say(&guarded, HR_GUARD_KILL, 0, 0);
    expect_end(&guarded, SIGKILL);
}
END_TEST

START_TEST(processes_that_never_keep_their_pid_are_caught)
{
    struct guarded guarded;
    int64_t start_ms;

    start_self(&guarded, "--runaways");
    read_line(&guarded);
    start_ms = test_now_ms();
    say(&guarded, HR_GUARD_KILL, 0, 0);
    expect_end(&guarded, SIGKILL);
    ck_assert_int_lt(test_now_ms() - start_ms, test_scaled_ms(5000));
}
END_TEST

START_TEST(process_whose_first_thread_has_ended_is_killed)
{
    struct guarded guarded;

    /* /proc shows a zombie, but it lives; its child has an odd name */
    start_python(&guarded, "import ctypes, os, subprocess, threading, time\n"
                           "libc = ctypes.CDLL(None)\n"
                           "if os.fork() == 0:\n"
                           "    libc.prctl(15, b'a) Z 1 (b', 0, 0, 0)\n"
                           "    os.setsid()\n"
                           "    threading.Thread(target=time.sleep, args=(1000,)).start()\n"
                           "    print('up', flush=True)\n"
                           "    libc.pthread_exit(None)\n"
                           "time.sleep(1000)\n");
    read_line(&guarded);
    ck_assert(test_wait(test_count_children(guarded.kernel, 'Z') == 1, SOON_MS));
    say(&guarded, HR_GUARD_KILL, 0, 0);
    expect_end(&guarded, SIGKILL);
}
END_TEST

/*
 * A process that only root could kill: the guard says so instead of waiting for ever. Needs root to
 * be made.
 */
START_TEST(process_of_another_user_is_given_up)
{
    struct guarded guarded;
    struct hr_guard_message message;
    const char *code = "import os\n"
                       "pid = os.fork()\n"
                       "if pid == 0:\n"
                       "    os.setresuid(1, 1, 1)\n"
                       "    print('up', flush=True)\n"
                       "    os.execv('/bin/sleep', ['sleep', '1000'])\n"
                       "import time; time.sleep(1000)\n";
    int link[2], control[2], output[2];

    if (geteuid() != 0) {
        test_processes_check(before, SOON_MS);
        return;
    }
    make_pair(SOCK_SEQPACKET, link);
    make_pair(SOCK_STREAM, control);
    ck_assert_int_eq(pipe2(output, O_CLOEXEC), 0);
    /* a guard without the right to kill others: root's own identity, but no capability KILL */
    guarded.guard =
        test_spawn((const char *[]){"/usr/bin/setpriv", "--bounding-set=-kill", "--inh-caps=-kill",
                                    test_build_path("hermes-kernel-guard"), "hermes_kernel_runner",
                                    "--", test_python(), "-c", code, NULL},
                   (int[]){-1, output[1], output[1], link[1], control[1]}, 5, NULL);
    close(link[1]);
    close(control[1]);
    close(output[1]);
    guarded.link = link[0];
    guarded.control = control[0];
    guarded.output = output[0];
    guarded.aux = -1;
    guarded.kernel = expect(&guarded, HR_GUARD_STARTED).a;
    read_line(&guarded);
    say(&guarded, HR_GUARD_KILL, 0, 0);
    expect(&guarded, HR_GUARD_EXITED);
    message = expect(&guarded, HR_GUARD_GONE);
    ck_assert_int_eq(message.a, 1);
    ck_assert_int_eq(test_reap(guarded.guard, SOON_MS), 0);
    ck_assert_int_eq(test_processes_new(before), 1);
    kill_orphans();
    close(guarded.link);
    close(guarded.control);
    close(guarded.output);
    test_processes_check(before, SOON_MS);
}
END_TEST

/* ---- the host --------------------------------------------------------------------------- */

/*
 * A host in a process of its own: starts a guard with a nasty kernel, tells its pids, and then
 * waits for its death. With `copy`, a child of the host outlives it and holds the link.
 */
static pid_t start_host(bool copy, struct guarded *guarded)
{
    int told[2];
    pid_t host;

    ck_assert_int_eq(pipe2(told, O_CLOEXEC), 0);
    host = fork();
    if (host == 0) {
        start_self(guarded, "--nasty");
        read_line(guarded);
        if (copy && fork() == 0)
            sleep_for_ever();
        if (write(told[1], guarded, sizeof *guarded) < 0)
            _exit(1);
        sleep_for_ever();
    }
    close(told[1]);
    ck_assert_int_eq(read(told[0], guarded, sizeof *guarded), sizeof *guarded);
    close(told[0]);
    return host;
}

START_TEST(all_die_with_a_killed_host)
{
    struct guarded guarded;
    pid_t host = start_host(false, &guarded);

    ck_assert(test_wait(test_processes_new(before) >= 10, SOON_MS));
    kill(host, SIGKILL);
    test_reap(host, SOON_MS);
    test_processes_check(before, 5000);
}
END_TEST

START_TEST(all_die_with_a_killed_host_whose_link_lives_on)
{
    struct guarded guarded;
    pid_t host = start_host(true, &guarded);

    kill(host, SIGKILL);
    test_reap(host, SOON_MS);
    ck_assert(test_wait(!test_process_lives(guarded.guard), 5000));
    ck_assert_int_eq(test_processes_new(before), 1); /* the copy */
    kill_orphans();
    test_processes_check(before, SOON_MS);
}
END_TEST

START_TEST(all_die_when_the_link_is_closed)
{
    struct guarded guarded;

    start_self(&guarded, "--nasty");
    read_line(&guarded);
    ck_assert(test_wait(test_processes_new(before) >= 10, SOON_MS));
    shutdown(guarded.link, SHUT_RDWR);
    finish(&guarded);
}
END_TEST

START_TEST(link_closed_during_a_kill_changes_nothing)
{
    struct guarded guarded;

    start_self(&guarded, "--nasty");
    read_line(&guarded);
    say(&guarded, HR_GUARD_KILL, 600000, 0);
    shutdown(guarded.link, SHUT_RDWR);
    finish(&guarded);
}
END_TEST

START_TEST(guard_survives_signals)
{
    static const int numbers[] = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGPIPE,
                                  SIGUSR1, SIGALRM, SIGTTOU, SIGTSTP};
    struct guarded guarded;

    start_self(&guarded, "--sleep");
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        ck_assert_int_eq(kill(guarded.guard, numbers[i]), 0);
    say(&guarded, HR_GUARD_INTERRUPT, 0, 1);
    ck_assert_int_eq(expect(&guarded, HR_GUARD_ACK).a, 0);
    say(&guarded, HR_GUARD_KILL, 0, 0);
    expect_end(&guarded, SIGKILL);
}
END_TEST

START_TEST(kernel_dies_with_a_killed_guard)
{
    struct guarded guarded;

    start_self(&guarded, "--sleep");
    read_line(&guarded);
    kill(guarded.guard, SIGKILL);
    ck_assert(test_wait(!test_process_lives(guarded.kernel), SOON_MS));
    ck_assert_int_eq(test_reap(guarded.guard, SOON_MS), SIGKILL);
    close(guarded.link);
    close(guarded.control);
    close(guarded.aux);
    close(guarded.output);
    test_processes_check(before, SOON_MS);
}
END_TEST

/* ---- a long life ------------------------------------------------------------------------ */

START_TEST(orphans_are_reaped)
{
    struct guarded guarded;

    start_python(&guarded, "import os, time\n"
                           "for i in range(100):\n"
                           "    pid = os.fork()\n"
                           "    if pid == 0:\n"
                           "        os.fork()\n" /* both end; the grandchild is an orphan */
                           "        os._exit(0)\n"
                           "    os.waitpid(pid, 0)\n"
                           "print('up', flush=True)\n"
                           "time.sleep(1000)\n");
    read_line(&guarded);
    ck_assert(test_wait(test_count_children(guarded.guard, 0) == 1, SOON_MS));
    say(&guarded, HR_GUARD_KILL, 0, 0);
    expect_end(&guarded, SIGKILL);
}
END_TEST

static unsigned long wake_ups(pid_t pid)
{
    char path[64];
    char *text, *at;
    unsigned long count;

    snprintf(path, sizeof path, "/proc/%d/status", pid);
    text = test_read_file(path);
    at = text ? strstr(text, "\nvoluntary_ctxt_switches:") : NULL;
    ck_assert_ptr_nonnull(at);
    count = strtoul(strchr(at, ':') + 1, NULL, 10);
    free(text);
    return count;
}

START_TEST(idle_guard_sleeps)
{
    struct guarded guarded;
    unsigned long count;

    start_self(&guarded, "--sleep");
    ck_assert(test_wait(test_process_state(guarded.guard) == 'S', SOON_MS));
    test_pause_ms(50);
    count = wake_ups(guarded.guard);
    test_pause_ms(300);
    ck_assert_uint_eq(wake_ups(guarded.guard), count);
    say(&guarded, HR_GUARD_KILL, 0, 0);
    expect_end(&guarded, SIGKILL);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("guard");
    TCase *test_case = tcase_create("guard");
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    self[n > 0 ? n : 0] = '\0';
    if (argc > 1)
        return be_kernel(argv[1]);
    tcase_set_timeout(test_case, 60);
    tcase_add_checked_fixture(test_case, set_up, NULL);
    tcase_add_test(test_case, kernel_has_its_own_session_clean_signals_and_only_its_descriptors);
    tcase_add_test(test_case, ignored_signals_of_the_guard_are_not_inherited);
    tcase_add_test(test_case, control_and_aux_sockets_arrive_as_3_and_4);
    tcase_add_test(test_case, guard_holds_no_stream_and_no_directory);
    tcase_add_test(test_case, missing_interpreter_is_told_by_errno);
    tcase_add_test(test_case, guard_is_the_one_direct_child_and_has_the_runners_name);
    tcase_add_test(test_case, started_by_hand_it_says_what_it_is);
    tcase_add_test(test_case, exit_status_and_signal_are_told);
    tcase_add_test(test_case, exit_is_told_at_once_and_then_the_rest_dies);
    tcase_add_test(test_case, killed_by_somebody_is_not_out_of_memory);
    tcase_add_test(test_case, out_of_memory_is_told);
    tcase_add_test(test_case, interrupt_reaches_the_kernels_group);
    tcase_add_test(test_case, every_signal_is_acknowledged_in_order);
    tcase_add_test(test_case, acknowledged_when_the_signal_has_been_sent);
    tcase_add_test(test_case, messages_of_no_meaning_are_ignored);
    tcase_add_test(test_case, nasty_tree_is_killed);
    tcase_add_test(test_case, nasty_tree_dies_with_its_kernel);
    tcase_add_test(test_case, stopped_kernel_is_killed);
    tcase_add_test(test_case, polite_processes_get_their_grace_and_no_more_is_waited);
    tcase_add_test(test_case, second_kill_shortens_the_grace);
    tcase_add_test(test_case, fork_bomb_comes_to_an_end);
    tcase_add_test(test_case, processes_that_never_keep_their_pid_are_caught);
    tcase_add_test(test_case, process_whose_first_thread_has_ended_is_killed);
    tcase_add_test(test_case, process_of_another_user_is_given_up);
    tcase_add_test(test_case, all_die_with_a_killed_host);
    tcase_add_test(test_case, all_die_with_a_killed_host_whose_link_lives_on);
    tcase_add_test(test_case, all_die_when_the_link_is_closed);
    tcase_add_test(test_case, link_closed_during_a_kill_changes_nothing);
    tcase_add_test(test_case, guard_survives_signals);
    tcase_add_test(test_case, kernel_dies_with_a_killed_guard);
    tcase_add_test(test_case, orphans_are_reaped);
    tcase_add_test(test_case, idle_guard_sleeps);
    suite_add_tcase(suite, test_case);
    return test_run(suite);
}
