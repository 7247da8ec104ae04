/* SPDX-License-Identifier: MIT */
/*
 * The host's side: programs that embed the engine and do what programs do (reap or ignore children,
 * close descriptors, fork, run out of descriptors, die), and what the library may not touch in
 * them. Hosts that die are child processes of the test, which is the subreaper of all they leave:
 * whoever survives becomes its child.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine-testlib.h"

/* ---- hosts as child processes ----------------------------------------------------------- */

/* For use in a host process, where a failed check could not be told. */
#define NEED(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            _exit(__LINE__ % 200 + 10);                                                            \
    } while (0)

static bool host_says(struct hermes_engine *which, const char *code, const char *output)
{
    struct hermes_cell cell = te_cell("host", code);
    struct hermes_result *result = NULL;
    bool good = hermes_execute(which, &cell, &result, NULL) == 0 &&
                result->outcome == HERMES_SUCCESS && strcmp(result->output, output) == 0;

    if (!good && result)
        fprintf(stderr, "host: %s\n", hermes_result_json(result, NULL));
    hermes_result_free(result);
    return good;
}

static struct hermes_engine *host_engine(void)
{
    struct hermes_engine *which = NULL;

    NEED(hermes_engine_new(&which, NULL) == 0);
    NEED(hermes_set_option(which, "python", te_python(), NULL) == 0);
    return which;
}

static void in_a_host(void (*run)(void))
{
    pid_t host = fork();
    int status;

    ck_assert_int_ge(host, 0);
    if (host == 0) {
        run();
        _exit(0);
    }
    status = test_reap(host, 60000);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the host ended with status %#x",
                  (unsigned)status);
}

/* ---- a host that is killed -------------------------------------------------------------- */

/* report A6: its directories go when the next host looks. Returns how many there were. */
static size_t sweep(void)
{
    struct hermes_engine *next = te_engine_new();
    size_t before = te_staging_count();

    ck_assert_int_ge(hermes_sweep_staging(next),
                     (int)before); /* others may have left some in /tmp */
    hermes_engine_free(next);
    ck_assert_uint_eq(te_staging_count(), 0);
    return before;
}

#define HERE "open(os.environ['TMPDIR'] + '/here', 'w').write(str(os.getpid()))\n"

static void kill_the_host(const char *code, enum hermes_mode mode, bool forks)
{
    struct hermes_cell cell = te_cell("a", code);
    pid_t host = fork(), kernel;

    ck_assert_int_ge(host, 0);
    if (host == 0) {
        struct hermes_engine *which = host_engine();
        struct hermes_result *result;
        int status;

        cell.mode = mode;
        if (forks) { /* a child of the host that keeps copies of all descriptors */
            NEED(host_says(which, "1", ""));
            if (fork() == 0) {
                char text[24];

                snprintf(text, sizeof text, "%d", (int)getpid());
                test_write_file(test_path("fork"), text, 0600);
                for (;;)
                    pause();
            }
        }
        status = hermes_execute(which, &cell, &result, NULL);
        _exit(status ? 2 : 3); /* too early */
    }
    kernel = (pid_t)te_read_number(test_path("here"));
    ck_assert(test_process_lives(kernel));
    ck_assert_int_eq(kill(host, SIGKILL), 0);
    ck_assert(WIFSIGNALED(test_reap(host, 10000)));
    ck_assert_msg(te_wait_gone(kernel), "the kernel lives on");
    if (forks) {
        pid_t copy = (pid_t)te_read_number(test_path("fork"));

        ck_assert(test_process_lives(copy));
        ck_assert_int_eq(kill(copy, SIGKILL), 0);
    }
    ck_assert(test_wait((waitpid(-1, NULL, WNOHANG), test_count_children(getpid(), 0) == 0), 5000));
    ck_assert_int_eq(unlink(test_path("here")), 0);
    ck_assert_uint_ge(sweep(), mode == HERMES_MODE_STRICT);
}

/* contract, report A7 */
START_TEST(kernel_exits_when_its_host_is_killed)
{
    kill_the_host("import os, time\n" HERE "time.sleep(300)", HERMES_MODE_PROJECT, false);
    kill_the_host("import os, time\n" HERE "time.sleep(300)", HERMES_MODE_STRICT, false);
}
END_TEST

START_TEST(kernel_in_c_code_exits_with_its_host)
{
    kill_the_host("import os, ctypes\n" HERE "ctypes.PyDLL(None).sleep(300)", HERMES_MODE_PROJECT,
                  false);
    kill_the_host("import os, re\n" HERE "re.match('(a+)+$', 'a' * 60 + 'b')", HERMES_MODE_PROJECT,
                  false);
    kill_the_host("import os, collections, itertools\n" HERE
                  "collections.deque(itertools.repeat(0), maxlen=0)",
                  HERMES_MODE_PROJECT, false);
    kill_the_host("import os, signal\n" HERE "os.kill(os.getpid(), signal.SIGSTOP)",
                  HERMES_MODE_PROJECT, false);
}
END_TEST

/* cases 136 */
START_TEST(kernel_that_ignores_signals_exits_with_its_host)
{
    kill_the_host("import os, signal, time\n"
                  "for s in range(1, 65):\n"
                  "    try: signal.signal(s, signal.SIG_IGN)\n"
                  "    except (OSError, ValueError): pass\n" HERE "while True:\n"
                  "    try: time.sleep(300)\n"
                  "    except BaseException: pass",
                  HERMES_MODE_PROJECT, false);
}
END_TEST

/* A kernel that serves nobody yet goes too. */
START_TEST(a_spare_exits_with_its_host)
{
    pid_t host = fork();

    ck_assert_int_ge(host, 0);
    if (host == 0) {
        struct hermes_engine *which = host_engine();

        NEED(hermes_set_option(which, "spare_kernels", "1", NULL) == 0);
        NEED(host_says(which, "1", ""));
        NEED(test_wait(te_runners() == 2, TE_DEADLINE_MS));
        test_write_file(test_path("here"), "1", 0600);
        for (;;)
            pause();
    }
    te_read_number(test_path("here"));
    ck_assert_int_eq(test_count_children(host, 0), 2);
    ck_assert_int_eq(kill(host, SIGKILL), 0);
    ck_assert(WIFSIGNALED(test_reap(host, 10000)));
    ck_assert(test_wait((waitpid(-1, NULL, WNOHANG), test_count_children(getpid(), 0) == 0), 5000));
    sweep();
}
END_TEST

#ifndef HERMES_NO_GUARD
START_TEST(daemons_exit_with_their_host)
{
    kill_the_host(
        "import os, signal, subprocess, time\n"
        "signal.signal(15, signal.SIG_IGN)\n"
        "subprocess.Popen(['sleep', '99'], start_new_session=True)\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        os.closerange(0, 1024)\n"
        "        os.execve('/bin/sleep', ['sleep', '99'], {})\n"
        "    os._exit(0)\n"
        "subprocess.Popen(['sh', '-c', 'trap \"\" TERM HUP; while :; do sleep 0.02; done'])\n" HERE
        "time.sleep(300)",
        HERMES_MODE_PROJECT, false);
}
END_TEST

/* A copy of the host's descriptors in a fork of it must not keep the kernel alive. */
START_TEST(a_fork_of_the_host_keeps_nothing_alive)
{
    kill_the_host("import os, time\n" HERE "time.sleep(300)", HERMES_MODE_PROJECT, true);
}
END_TEST

/* Nor one that somebody has stopped. */
START_TEST(a_stopped_guard_sees_its_host_die)
{
    kill_the_host("import os, signal, time\nos.kill(os.getppid(), signal.SIGSTOP)\n" HERE
                  "time.sleep(300)",
                  HERMES_MODE_PROJECT, false);
}
END_TEST

/* And it tells of its kernel's end. */
START_TEST(a_stopped_guard_sees_its_kernel_die)
{
    struct hermes_result *result;

    engine = te_engine_new();
    result = te_run("a", "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\n"
                         "os.kill(os.getpid(), signal.SIGKILL)");
    EXPECT(result, result->outcome == HERMES_ERROR && te_error_has(result, "killed by SIGKILL"));
    hermes_result_free(result);
    te_says_fresh("a", "print('x' in globals())", "False\n", HERMES_PREVIOUS_DIED);
}
END_TEST

static pid_t guard_of(const char *owner)
{
    double pid = te_kernel_number(engine, owner, "guard_pid");

    ck_assert(pid > 1);
    return (pid_t)pid;
}

START_TEST(a_killed_guard_takes_the_kernel_along)
{
    struct hermes_result *result;
    struct hermes_event *event;
    uint64_t cell;
    pid_t kernel;

    engine = te_engine_new();
    /* in mid-cell */
    cell = te_submit(
        "a", "import subprocess, time\nsubprocess.Popen(['sleep', '99'], start_new_session=True)\n"
             "print('ready', flush=True); time.sleep(60)");
    te_output(cell, "ready");
    kernel = (pid_t)te_kernel_number(engine, "a", "pid");
    ck_assert_int_eq(kill(guard_of("a"), SIGKILL), 0);
    event = te_done(cell);
    EXPECT(event->result,
           event->result->outcome == HERMES_ERROR && te_error_has(event->result, "state was lost"));
    EXPECT(event->result, te_has(event->result, "ready") && event->result->ended);
    hermes_event_free(event);
    ck_assert(te_wait_gone(kernel));
    /* between cells */
    result = te_run("a", "x = 1");
    kernel = (pid_t)result->kernel_pid;
    ck_assert_int_eq(kill(guard_of("a"), SIGKILL), 0);
    ck_assert_int_eq(hermes_kernel_wait(engine, result->kernel, TE_DEADLINE_MS), 1);
    ck_assert(te_wait_gone(kernel));
    hermes_result_free(result);
    te_says_fresh("a", "print('x' in globals())", "False\n", HERMES_PREVIOUS_DIED);
    while (waitpid(-1, NULL, WNOHANG) > 0) /* what had no guard any more came to us */
        continue;
}
END_TEST
#endif

static void host_leaves_without_a_word(void)
{
    struct hermes_engine *which = host_engine();

    NEED(host_says(which, "import subprocess; subprocess.Popen(['sleep', '99'])", ""));
    _exit(0); /* no hermes_engine_free() */
}

START_TEST(a_host_may_just_exit)
{
    in_a_host(host_leaves_without_a_word);
    ck_assert(test_wait((waitpid(-1, NULL, WNOHANG), test_count_children(getpid(), 0) == 0), 5000));
    sweep();
}
END_TEST

/* ---- hosts with habits ------------------------------------------------------------------ */

static void use_everything(struct hermes_engine *which)
{
    struct hermes_cell cell = te_cell("host", "import time; time.sleep(60)");
    struct hermes_result *result = NULL;

    NEED(host_says(which, "x = 1; print(x)", "1\n"));
    NEED(host_says(which, "import subprocess; print(subprocess.run(['true']).returncode, x)",
                   "0 1\n"));
    cell.timeout_ms = 300;
    NEED(hermes_execute(which, &cell, &result, NULL) == 0 && result->outcome == HERMES_TIMEOUT);
    hermes_result_free(result);
    cell.code = "import os; os._exit(3)";
    NEED(hermes_execute(which, &cell, &result, NULL) == 0 && result->outcome == HERMES_ERROR);
    NEED(strstr(result->error, "state was lost"));
    hermes_result_free(result);
    NEED(host_says(which, "print('again')", "again\n"));
    NEED(hermes_session_clear(which, "host") == 0);
    NEED(host_says(which, "print('cleared')", "cleared\n"));
    hermes_engine_free(which);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    NEED(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD); /* none lives on */
}

static void host_ignores_children(void)
{
    signal(SIGCHLD, SIG_IGN);
    use_everything(host_engine());
    NEED(signal(SIGCHLD, SIG_DFL) == SIG_IGN);
}

static void reap_all(int number)
{
    int saved = errno;

    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    errno = saved;
}

static void host_reaps_in_a_handler(void)
{
    struct sigaction action = {.sa_handler = reap_all}, now;

    sigaction(SIGCHLD, &action, NULL);
    use_everything(host_engine());
    sigaction(SIGCHLD, NULL, &now);
    NEED(now.sa_handler == reap_all);
}

static void *reap_in_a_thread(void *argument)
{
    while (!__atomic_load_n((bool *)argument, __ATOMIC_RELAXED))
        if (waitpid(-1, NULL, WNOHANG) <= 0)
            test_pause_ms(1);
    return NULL;
}

static void host_reaps_in_a_thread(void)
{
    static bool stop;
    pthread_t thread;

    NEED(pthread_create(&thread, NULL, reap_in_a_thread, &stop) == 0);
    use_everything(host_engine());
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    NEED(pthread_join(thread, NULL) == 0);
}

START_TEST(a_host_that_reaps_or_ignores_children)
{
    in_a_host(host_ignores_children);
    in_a_host(host_reaps_in_a_handler);
    in_a_host(host_reaps_in_a_thread);
}
END_TEST

static void host_blocks_and_ignores_signals(void)
{
    struct hermes_engine *which;
    struct hermes_cell cell = te_cell("host", "import time; time.sleep(60)");
    struct hermes_event *event;
    sigset_t all, mask;
    uint64_t id;

    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    which = host_engine();
    NEED(host_says(which,
                   "import signal\nprint(signal.pthread_sigmask(signal.SIG_BLOCK, []),"
                   " signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)",
                   "set() True\n"));
    NEED(host_says(
        which, "import subprocess; print(subprocess.run(['sh', '-c', 'kill -TERM $$']).returncode)",
        "-15\n"));
    NEED(hermes_submit(which, &cell, &id, NULL) == 0);
    do
        NEED(hermes_next_event(which, 20000, &event) == 0 && event);
    while (event->type != HERMES_EVENT_STARTED);
    NEED(hermes_interrupt(which, id, NULL, 10000) == 0);
    do
        NEED(hermes_next_event(which, 20000, &event) == 0 && event);
    while (event->type != HERMES_EVENT_DONE);
    NEED(event->result->state_kept == 1);
    sigprocmask(SIG_SETMASK, NULL, &mask);
    NEED(sigismember(&mask, SIGINT) && sigismember(&mask, SIGUSR1));
    use_everything(which);
}

START_TEST(a_host_that_blocks_and_ignores_signals)
{
    in_a_host(host_blocks_and_ignores_signals);
}
END_TEST

/*
 * The kernel is in a session of its own: what the terminal sends to the host's group does not reach
 * it.
 */
static void host_is_interrupted(void)
{
    struct hermes_engine *which = host_engine();

    signal(SIGINT, SIG_IGN);
    setpgid(0, 0);
    NEED(host_says(which, "x = 1", ""));
    for (int i = 0; i < 5; i++)
        kill(0, SIGINT);
    NEED(host_says(which, "print(x)", "1\n"));
    hermes_engine_free(which);
}

START_TEST(a_signal_to_the_hosts_group)
{
    in_a_host(host_is_interrupted);
}
END_TEST

static void host_without_standard_streams(void)
{
    close(0);
    close(1);
    close(2);
    use_everything(host_engine());
    NEED(fcntl(0, F_GETFD) < 0 && fcntl(1, F_GETFD) < 0 && fcntl(2, F_GETFD) < 0);
}

static void host_with_other_standard_streams(void)
{
    /* 0 to 2 are in use for something else by the time the engine comes */
    struct hermes_engine *which;

    close(0);
    which = host_engine(); /* its first descriptor is 0 */
    NEED(host_says(which, "import sys; print(repr(sys.stdin.read()))", "''\n"));
    use_everything(which);
}

START_TEST(a_host_without_standard_streams)
{
    in_a_host(host_without_standard_streams);
    in_a_host(host_with_other_standard_streams);
}
END_TEST

/* ---- forks ------------------------------------------------------------------------------ */

START_TEST(a_host_that_forks)
{
    pid_t quick, slow;
    struct hermes_result *result;

    engine = te_engine_new();
    te_succeeds("a", "x = 1");
    quick = fork();
    if (quick == 0)
        _exit(0);
    test_reap(quick, 5000);
    slow = fork(); /* keeps a copy of every descriptor of the engine */
    if (slow == 0)
        for (;;)
            pause();
    te_says("a", "print(x)", "1\n");
    result = te_run_timeout("a", "while True: pass", 300);
    EXPECT(result, result->outcome == HERMES_TIMEOUT);
    hermes_result_free(result);
    te_says("a", "import sys; print('up'); sys.exit(0)", "up\n");
    te_says("b", "print('b')", "b\n");
    hermes_engine_free(engine);
    engine = NULL;
    ck_assert_int_eq(test_count_children(getpid(), 0), 1);
    kill(slow, SIGKILL);
    test_reap(slow, 5000);
}
END_TEST

/* report B9: every descriptor is close-on-exec from its birth */
START_TEST(nothing_is_inherited_by_programs_of_the_host)
{
    char command[200], *list;
    size_t found = 0, fds, before;

    for (int fd = 0; fd < 256; fd++) /* what there is now may be inherited */
        if (fcntl(fd, F_GETFD) >= 0)
            fcntl(fd, F_SETFD, 0);
    before = te_fd_count();
    engine = te_engine_new();
    te_succeeds("a", "x = 1");
    te_succeeds("b", "x = 1");
    ck_assert_int_ge(hermes_event_fd(engine), 0);
    fds = te_fd_count();
    snprintf(command, sizeof command, "ls -l /proc/self/fd > %s", test_path("fds"));
    ck_assert_int_eq(system(command), 0);
    list = test_read_file(test_path("fds"));
    ck_assert_ptr_nonnull(strstr(list, "/proc/"));
    for (int fd = 0; fd < 256; fd++) {
        char path[64], target[64];
        ssize_t n;

        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        n = readlink(path, target, sizeof target - 1);
        if (n < 0 ||
            !(fcntl(fd, F_GETFD) & FD_CLOEXEC)) /* not open, or not close-on-exec: no engine's */
            continue;
        target[n] = '\0';
        found++;
        ck_assert_msg(!strstr(list, target), "%s was inherited:\n%s", target, list);
    }
    ck_assert_uint_eq(found, fds - before); /* each one that the engine made */
    free(list);
}
END_TEST

static void *starts_programs(void *argument)
{
    while (!__atomic_load_n((bool *)argument, __ATOMIC_RELAXED)) {
        pid_t pid = fork();

        if (pid == 0) {
            execl("/bin/true", "true", (char *)NULL);
            _exit(1);
        }
        if (pid > 0)
            waitpid(pid, NULL, 0);
    }
    return NULL;
}

/*
 * A host whose other threads start programs all the time: none of them keeps a kernel's pipe open
 * or its end away.
 */
START_TEST(a_host_that_starts_programs_meanwhile)
{
    static bool stop;
    pthread_t thread;

    engine = te_engine_new();
    ck_assert_int_eq(pthread_create(&thread, NULL, starts_programs, &stop), 0);
    for (int i = 0; i < 15; i++) {
        struct hermes_result *result = te_run_flags("a", "print('x')", HERMES_CELL_RESET);

        EXPECT_OUTPUT(result, "x\n");
        hermes_result_free(result);
    }
    ck_assert_int_eq(hermes_shutdown_all(engine), 0);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
}
END_TEST

/* ---- limits of the host ----------------------------------------------------------------- */

/* cases 146: too few descriptors is a clean failure at each step, and all is well with one more */
START_TEST(few_descriptors)
{
    struct rlimit before, low;
    size_t base = te_fd_count();
    bool worked = false;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (rlim_t extra = 1; extra < 40 && !worked; extra++) {
        struct hermes_engine *made = NULL;
        struct hermes_error error = {0};
        struct hermes_result *result = NULL;
        struct hermes_cell cell = te_cell("a", "print('fine')");
        int status;

        low = before;
        low.rlim_cur = base + extra;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
        status = hermes_engine_new(&made, &error);
        if (status == 0) {
            cell.python = te_python();
            status = hermes_execute(made, &cell, &result, &error);
        }
        setrlimit(RLIMIT_NOFILE, &before);
        if (status) {
            ck_assert_msg(status == HERMES_ESYSTEM || status == HERMES_ENOMEM, "%s: %s",
                          hermes_status_name(status), error.text);
            ck_assert_uint_gt(strlen(error.text), 0);
        } else if (result->outcome != HERMES_SUCCESS) {
            EXPECT(result, result->start_failed && result->error_size > 0);
            cell.session = "b"; /* the engine works once there is room */
            hermes_result_free(result);
            result = te_run_cell(made, &cell);
            EXPECT_OUTPUT(result, "fine\n");
        } else {
            EXPECT_OUTPUT(result, "fine\n");
            worked = true;
        }
        hermes_result_free(result);
        hermes_engine_free(made);
        ck_assert_uint_eq(te_fd_count(), base);
    }
    ck_assert(worked);
}
END_TEST

static int lowest_free_descriptor(void)
{
    int fd = dup(0);

    ck_assert_int_ge(fd, 0);
    close(fd);
    return fd;
}

/* A live kernel needs no further descriptor for its cells, its timeout or its end. */
START_TEST(live_kernels_need_no_more_descriptors)
{
    struct rlimit before, low;
    struct hermes_result *result;

    engine = te_engine_new();
    te_succeeds("a", "x = 1");
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    low = before;
    low.rlim_cur = (rlim_t)lowest_free_descriptor();
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
    te_says("a", "print(x)", "1\n");
    result = te_run("a", "print('y' * 100000)"); /* no spill file can be opened */
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT(result, result->outcome == HERMES_SUCCESS && result->truncated && !result->spill_path);
    hermes_result_free(result);
    setrlimit(RLIMIT_NOFILE, &low);
    result = te_run_timeout("a", "while True: pass", 300);
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT(result, result->outcome == HERMES_TIMEOUT);
    ck_assert_int_eq(hermes_kernel_wait(engine, result->kernel, TE_DEADLINE_MS), 1);
    hermes_result_free(result);
    setrlimit(RLIMIT_NOFILE, &low);
    result = te_run("a", "print(1)");
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT(result, result->start_failed && result->outcome == HERMES_ERROR);
    hermes_result_free(result);
    te_says("a", "print(1)", "1\n");
}
END_TEST

/* ---- what belongs to the host ----------------------------------------------------------- */

START_TEST(the_process_is_left_as_it_was)
{
    struct sigaction before[65], after;
    struct rlimit limit_before, limit_after;
    sigset_t mask_before, mask_after;
    char cwd_before[512], cwd_after[512];
    mode_t umask_before = umask(0);
    struct hermes_result *result;

    umask(umask_before);
    for (int number = 1; number < 65; number++)
        sigaction(number, NULL, &before[number]);
    sigprocmask(SIG_SETMASK, NULL, &mask_before);
    getrlimit(RLIMIT_NOFILE, &limit_before);
    ck_assert_ptr_nonnull(getcwd(cwd_before, sizeof cwd_before));
    engine = te_engine_new();
    te_succeeds("a", "x = 1");
    result = te_run_timeout("a", "while True: pass", 100);
    hermes_result_free(result);
    result = te_run("a", "import os; os.abort()");
    hermes_result_free(result);
    hermes_engine_free(engine);
    engine = NULL;
    for (int number = 1; number < 65; number++) {
        if (sigaction(number, NULL, &after)) /* SIGKILL, and the threads library's own */
            continue;
        ck_assert_msg(before[number].sa_handler == after.sa_handler, "signal %d was touched",
                      number);
    }
    sigprocmask(SIG_SETMASK, NULL, &mask_after);
    for (int number = 1; number < 65; number++)
        ck_assert_int_eq(sigismember(&mask_before, number), sigismember(&mask_after, number));
    getrlimit(RLIMIT_NOFILE, &limit_after);
    ck_assert(limit_before.rlim_cur == limit_after.rlim_cur &&
              limit_before.rlim_max == limit_after.rlim_max);
    ck_assert_ptr_nonnull(getcwd(cwd_after, sizeof cwd_after));
    ck_assert_str_eq(cwd_before, cwd_after);
    ck_assert_uint_eq(umask(umask_before), umask_before);
    ck_assert_str_eq(setlocale(LC_ALL, NULL), "C");
}
END_TEST

/* Nothing is printed, whatever happens. */
START_TEST(the_library_is_silent)
{
    int out = dup(1), err = dup(2),
        fd = open(test_path("printed"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat status;
    struct hermes_cell cell = te_cell("a", "print('out'); 1/0");

    ck_assert_int_ge(fd, 0);
    fflush(NULL);
    dup2(fd, 1);
    dup2(fd, 2);
    engine = te_engine_new();
    hermes_result_free(te_run_cell(engine, &cell));
    hermes_result_free(te_run("a", "import os; os.abort()"));
    cell.python = "/nonexistent/python";
    hermes_result_free(te_run_cell(engine, &cell));
    hermes_engine_free(engine);
    engine = NULL;
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    ck_assert_int_eq(fstat(fd, &status), 0);
    close(fd);
    ck_assert_int_eq(status.st_size, 0);
}
END_TEST

START_TEST(two_engines_in_one_process)
{
    struct hermes_engine *other;
    struct hermes_cell cell = te_cell("a", "print(x)");
    struct hermes_result *result;

    engine = te_engine_new();
    other = te_engine_new();
    te_set(other, "max_session_kernels", "1");
    te_succeeds("a", "x = 'one'");
    te_succeeds("b", "x = 'two'");
    cell.code = "x = 'other'";
    hermes_result_free(te_run_cell(other, &cell));
    cell.code = "print(x)";
    result = te_run_cell(other, &cell);
    EXPECT_OUTPUT(result, "other\n");
    hermes_result_free(result);
    te_says("a", "print(x)", "one\n");
    ck_assert_uint_eq(te_kernel_count(engine), 2); /* the other one's limits are its own */
    ck_assert_uint_eq(te_kernel_count(other), 1);
    hermes_engine_free(engine);
    engine = NULL;
    result = te_run_cell(other, &cell);
    EXPECT_OUTPUT(result, "other\n");
    EXPECT(result, result->reused);
    hermes_result_free(result);
    hermes_engine_free(other);
}
END_TEST

START_TEST(two_engines_from_two_threads)
{
    struct hermes_engine *engines[2] = {te_engine_new(), te_engine_new()};
    struct hermes_cell cell = te_cell("a", "n = globals().get('n', 0) + 1; print(n)");
    struct te_thread threads[8];
    int sum[2] = {0, 0};

    for (size_t i = 0; i < 8; i++)
        te_thread_start(&threads[i], engines[i % 2], &cell);
    for (size_t i = 0; i < 8; i++) {
        te_thread_join(&threads[i]);
        EXPECT(threads[i].result, threads[i].result->outcome == HERMES_SUCCESS);
        sum[i % 2] += atoi(threads[i].result->output);
        hermes_result_free(threads[i].result);
    }
    ck_assert_int_eq(sum[0], 10);
    ck_assert_int_eq(sum[1], 10);
    hermes_engine_free(engines[0]);
    hermes_engine_free(engines[1]);
}
END_TEST

/* Engines come and go without a trace, used or not. */
START_TEST(engines_leave_nothing)
{
    size_t fds = te_fd_count();

    hermes_engine_free(NULL);
    for (int i = 0; i < 20; i++) {
        struct hermes_engine *made = te_engine_new();

        if (i % 4 == 0) {
            struct hermes_cell cell = te_cell("a", "1");

            hermes_result_free(te_run_cell(made, &cell));
            ck_assert_int_ge(hermes_event_fd(made), 0);
        }
        hermes_engine_free(made);
        ck_assert_uint_eq(te_fd_count(), fds);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("host");
    TCase *death = tcase_create("death"), *habits = tcase_create("habits"),
          *limits = tcase_create("limits");
    TCase *all[] = {death, habits, limits};

    te_add_cases(suite, all, sizeof all / sizeof all[0], te_set_up_bare);
    tcase_add_test(death, kernel_exits_when_its_host_is_killed);
    tcase_add_test(death, kernel_that_ignores_signals_exits_with_its_host);
    tcase_add_test(death, kernel_in_c_code_exits_with_its_host);
    tcase_add_test(death, a_spare_exits_with_its_host);
#ifndef HERMES_NO_GUARD
    tcase_add_test(death, daemons_exit_with_their_host);
    tcase_add_test(death, a_fork_of_the_host_keeps_nothing_alive);
    tcase_add_test(death, a_stopped_guard_sees_its_host_die);
    tcase_add_test(death, a_stopped_guard_sees_its_kernel_die);
    tcase_add_test(death, a_killed_guard_takes_the_kernel_along);
#endif
    tcase_add_test(death, a_host_may_just_exit);
    tcase_add_test(habits, a_host_that_reaps_or_ignores_children);
    tcase_add_test(habits, a_host_that_blocks_and_ignores_signals);
    tcase_add_test(habits, a_signal_to_the_hosts_group);
    tcase_add_test(habits, a_host_without_standard_streams);
    tcase_add_test(habits, a_host_that_forks);
    tcase_add_test(habits, nothing_is_inherited_by_programs_of_the_host);
    tcase_add_test(habits, a_host_that_starts_programs_meanwhile);
    tcase_add_test(limits, few_descriptors);
    tcase_add_test(limits, live_kernels_need_no_more_descriptors);
    tcase_add_test(limits, the_process_is_left_as_it_was);
    tcase_add_test(limits, the_library_is_silent);
    tcase_add_test(limits, two_engines_in_one_process);
    tcase_add_test(limits, two_engines_from_two_threads);
    tcase_add_test(limits, engines_leave_nothing);
    return test_run(suite);
}
