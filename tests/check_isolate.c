/* SPDX-License-Identifier: MIT */
/*
 * Kernels under bubblewrap: what they cannot reach, what works as it does without, and that nothing
 * survives. Where bubblewrap is not installed, or the system lets nobody have namespaces, only the
 * complaints are looked at.
 */
#include "config.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine-testlib.h"

static void set_up(void)
{
    te_set_up();
    te_set(engine, "isolate", "on");
    setenv("TEST_SECRET", "sk-in-the-host", 1);
}

static struct hermes_cell isolated(const char *code)
{
    struct hermes_cell cell = te_cell("a", code);

    cell.cwd = test_directory();
    return cell;
}

static struct hermes_result *run(const char *code)
{
    struct hermes_cell cell = isolated(code);

    return te_run_cell(engine, &cell);
}

static void says(const char *code, const char *output)
{
    struct hermes_result *result = run(code);

    EXPECT(result, result->outcome == HERMES_SUCCESS);
    EXPECT_OUTPUT(result, output);
    hermes_result_free(result);
}

/* ---- what cannot be reached ------------------------------------------------------------- */

START_TEST(only_its_directory_can_be_written)
{
    says("import os\n"
         "for path in ('/etc/x', '/usr/x', os.path.expanduser('~/x'), '/x', '/bin/x'):\n"
         "    try: open(path, 'w'); print(path, 'written')\n"
         "    except OSError: pass\n"
         "open('kept', 'w').write('x'); open('/tmp/private', 'w').write('x')\n"
         "print(os.environ['TMPDIR'], os.path.exists('/etc/passwd'), os.listdir('/run'))\n",
         "/tmp True []\n");
    ck_assert(test_exists(test_path("kept")) && !test_exists("/tmp/private"));
}
END_TEST

START_TEST(temporary_files_are_its_own)
{
    char path[] = "/tmp/hermes-of-others-XXXXXX", code[200];
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    close(fd);
    snprintf(code, sizeof code, "import os; print(os.path.exists('%s'))", path);
    says(code, "False\n");
    unlink(path);
}
END_TEST

/* Not even what listens beside it, by number or by an abstract name. */
START_TEST(no_network)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char code[300];

    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(fd, 1), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    snprintf(code, sizeof code,
             "import socket\n"
             "for to in (('127.0.0.1', %d), ('192.0.2.1', 80)):\n"
             "    try: socket.create_connection(to, 2); print('connected')\n"
             "    except OSError as e: print('no')\n",
             ntohs(address.sin_port));
    says(code, "no\nno\n");
    close(fd);
}
END_TEST

START_TEST(no_other_processes)
{
    char code[400];

    snprintf(code, sizeof code,
             "import os\n"
             "pids = [int(p) for p in os.listdir('/proc') if p.isdigit()]\n"
             "print(len(pids) <= 4, any(b'sk-in-the-host' in open('/proc/%%d/environ' %% p, "
             "'rb').read() for p in pids))\n"
             "try: os.kill(%d, 0); print('reached')\n"
             "except OSError: print('none')\n",
             (int)getpid());
    says(code, "True False\nnone\n");
    says("print([line.split()[1] for line in open('/proc/self/status') if "
         "line.startswith('CapEff')])",
         "['0000000000000000']\n");
}
END_TEST

/* ---- what works ------------------------------------------------------------------------- */

static char *tool(const struct hermes_tool_call *call)
{
    (void)call;
    return strdup("{\"output\":\"from outside\"}");
}

START_TEST(tools_and_private_directories_work)
{
    struct hermes_cell cell = te_cell("strict", "import os\n"
                                                "from hermes_tools import terminal\n"
                                                "open('x', 'w').write('1')\n"
                                                "print(os.listdir('.'), terminal('x')['output'])");
    struct hermes_result *result;

    cell.mode = HERMES_MODE_STRICT;
    cell.tool_handler = tool;
    result = te_run_cell(engine, &cell);
    EXPECT(result, te_has(result, "'x'") && te_has(result, "from outside"));
    hermes_result_free(result);
}
END_TEST

START_TEST(ends_are_told_as_they_are)
{
    struct hermes_result *result;
    struct hermes_cell cell;

    result = run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)");
    EXPECT(result, result->term_signal == SIGSEGV && te_error_has(result, "killed by SIGSEGV") &&
                       result->kernel_pid > 10);
    hermes_result_free(result);
    cell = isolated("while True: pass");
    cell.timeout_ms = test_scaled_ms(300);
    result = te_run_cell(engine, &cell);
    EXPECT(result, result->outcome == HERMES_TIMEOUT);
    hermes_result_free(result);
    te_set(engine, "cpu_limit", "1");
    result = run("while True: pass");
    EXPECT(result, result->limit && !strcmp(result->limit, "cpu_limit"));
    hermes_result_free(result);
}
END_TEST

static uint64_t start(struct hermes_cell *cell, uint64_t *ret_kernel)
{
    uint64_t id = te_submit_cell(cell);
    struct hermes_event *started = te_event(HERMES_EVENT_STARTED, id);

    *ret_kernel = started->kernel;
    hermes_event_free(started);
    return id;
}

START_TEST(terminal_and_interrupts_work)
{
    struct hermes_kernel_setup setup = HERMES_KERNEL_SETUP_INIT;
    struct hermes_cell cell = isolated("import os\nkept = os.isatty(0), input('name? ')\n"
                                       "print(os.get_terminal_size().columns, *kept)");
    struct hermes_event *done;
    uint64_t id, kernel;

    setup.io = HERMES_IO_TTY;
    setup.columns = 77;
    setup.rows = 20;
    cell.setup = &setup;
    id = start(&cell, &kernel);
    te_output(id, "name? ");
    ck_assert(test_wait(hermes_input_state(engine, kernel) & HERMES_INPUT_WAITS, TE_DEADLINE_MS));
    ck_assert_int_eq(hermes_input(engine, kernel, "x\r", 2, NULL), 0);
    done = te_done(id);
    EXPECT(done->result, te_has(done->result, "77 True x"));
    hermes_event_free(done);
    for (int by_key = 0; by_key < 2; by_key++) {
        cell.code = "import time\nprint('on', flush=True)\nwhile True: time.sleep(0.01)";
        id = start(&cell, &kernel);
        te_output(id, "on");
        if (by_key)
            ck_assert_int_eq(hermes_input(engine, kernel, "\3", 1, NULL), 0);
        else
            ck_assert_int_eq(hermes_interrupt(engine, id, NULL, 20000), 0);
        done = te_done(id);
        EXPECT(done->result, te_has(done->result, "KeyboardInterrupt") && !done->result->ended);
        hermes_event_free(done);
    }
    cell.code = "print(kept)";
    id = start(&cell, &kernel);
    done = te_done(id);
    EXPECT(done->result, te_has(done->result, "(True, 'x')"));
    hermes_event_free(done);
}
END_TEST

/* ---- nothing survives ------------------------------------------------------------------- */

#define DAEMON                                                                                     \
    "import os, signal, time\n"                                                                    \
    "if os.fork() == 0:\n"                                                                         \
    "    os.setsid()\n"                                                                            \
    "    for s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)\n"                                  \
    "    while True: time.sleep(1)\n"

/* Process 2 is the guard: it is stopped, killed, or left alone. */
START_TEST(a_kill_ends_all)
{
    static const char *const attacks[] = {DAEMON, DAEMON "os.kill(2, signal.SIGSTOP)\n",
                                          DAEMON "os.kill(2, signal.SIGKILL)\n"};
    struct hermes_result *result;

    result = run(attacks[_i]);
    EXPECT(result, result->outcome == HERMES_SUCCESS || result->ended);
    hermes_result_free(result);
    ck_assert_int_eq(hermes_session_clear(engine, "a"), 0);
    te_no_process_left();
    says("print('up')", "up\n");
}
END_TEST

START_TEST(a_killed_host_leaves_nothing)
{
    static const char code[] = DAEMON "open('here', 'w').write('1')\nwhile True: time.sleep(1)\n";
    pid_t host = fork();

    if (host == 0) {
        run(code);
        _exit(3);
    }
    ck_assert(te_wait_file(test_path("here")));
    ck_assert_int_eq(kill(host, SIGKILL), 0);
    test_reap(host, 10000);
    ck_assert(test_wait((waitpid(-1, NULL, WNOHANG), test_count_children(getpid(), 0) == 0), 5000));
    hermes_sweep_staging(engine); /* as the next host does */
}
END_TEST

/* ---- where it cannot be ----------------------------------------------------------------- */

START_TEST(no_bubblewrap)
{
    struct hermes_result *result;
    char *path = strdup(getenv("PATH"));

    setenv("PATH", test_directory(), 1);
    result = run("1");
    EXPECT(result, result->start_failed && te_error_has(result, "install bubblewrap"));
    hermes_result_free(result);
    test_write_file(test_path("bwrap"),
                    "#!/bin/sh\necho 'bwrap: No permissions to create a namespace' >&2\nexit 1\n",
                    0755);
    result = run("1");
    EXPECT(result, result->start_failed && te_error_has(result, "could not isolate") &&
                       te_error_has(result, "No permissions"));
    hermes_result_free(result);
    setenv("PATH", path, 1);
    free(path);
    te_set(engine, "isolate", "off");
    says("print('up')", "up\n");
}
END_TEST

/* It is the guard that is isolated with its kernel. */
START_TEST(not_without_a_guard)
{
    struct hermes_result *result = run("1");

    EXPECT(result, result->start_failed && te_error_has(result, "built without"));
    hermes_result_free(result);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("isolate");
    TCase *walls = tcase_create("walls"), *works = tcase_create("works"),
          *ends = tcase_create("ends"), *none = tcase_create("none");
    TCase *cases[] = {walls, works, ends, none};

    bool guarded = access(test_build_path("hermes-kernel-guard"), X_OK) == 0;
    bool possible =
        system("bwrap --unshare-user-try --unshare-pid --unshare-net --ro-bind / / --dev /dev "
               "--proc /proc true >/dev/null 2>&1") == 0;
    te_add_cases(suite, cases, sizeof cases / sizeof *cases, set_up);
    tcase_add_test(none, guarded ? no_bubblewrap : not_without_a_guard);
    if (!possible || !guarded) {
        puts(
            "left out: kernels in isolation (bubblewrap does not work here, or there is no guard)");
        return test_run(suite);
    }
    tcase_add_test(walls, only_its_directory_can_be_written);
    tcase_add_test(walls, temporary_files_are_its_own);
    tcase_add_test(walls, no_network);
    tcase_add_test(walls, no_other_processes);
    tcase_add_test(works, tools_and_private_directories_work);
    tcase_add_test(works, ends_are_told_as_they_are);
    tcase_add_test(works, terminal_and_interrupts_work);
    tcase_add_loop_test(ends, a_kill_ends_all, 0, 3);
    tcase_add_test(ends, a_killed_host_leaves_nothing);
    return test_run(suite);
}
