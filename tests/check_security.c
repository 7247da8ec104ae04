/* SPDX-License-Identifier: MIT */
/*
 * Another user on the same machine, beside a host with a kernel, tools, a private directory and a
 * spilled output in a shared, sticky directory: nothing of it can be read, written, connected to
 * or replaced. And what links that somebody planted do.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine-testlib.h"

enum { NOBODY = 65534 };

static char shared[64]; /* as /tmp is */

static void set_up(void)
{
    te_set_up();
    strcpy(shared, "/tmp/hermes-shared-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(shared));
    ck_assert_int_eq(chmod(shared, 01777), 0);
    setenv("TMPDIR", shared, 1);
}

static void tear_down(void)
{
    hermes_engine_free(engine);
    engine = NULL;
    setenv("TMPDIR", test_directory(), 1);
    test_remove_tree(shared);
    te_tear_down();
}

/* What a cell prints, without the end of the line. */
static void learn(const char *code, char *to, size_t size)
{
    struct hermes_cell cell = te_cell("s", code);
    struct hermes_result *result;

    cell.mode = HERMES_MODE_STRICT;
    result = te_run_cell(engine, &cell);
    EXPECT(result, result->outcome == HERMES_SUCCESS);
    snprintf(to, size, "%.*s", (int)strcspn(result->output, "\n"), result->output);
    hermes_result_free(result);
}

/* ---- as the other user: exit codes tell what was possible --------------------------------- */

enum { CAN_OPEN = 1, CAN_LIST, CAN_CONNECT, CAN_REMOVE, CAN_TRACE, CAN_SIGNAL, CAN_WRITE };

static int try_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ? CAN_CONNECT : 0;
}

static int try_path(const char *path)
{
    char moved[400];

    snprintf(moved, sizeof moved, "%s.moved", path);
    if (open(path, O_RDONLY | O_DIRECTORY) >= 0)
        return CAN_LIST;
    if (open(path, O_RDONLY) >= 0)
        return CAN_OPEN;
    if (open(path, O_WRONLY) >= 0)
        return CAN_WRITE;
    if (rename(path, moved) == 0 || unlink(path) == 0 || rmdir(path) == 0)
        return CAN_REMOVE;
    return try_socket(path);
}

static int try_process(pid_t pid)
{
    static const char *const names[] = {"environ", "mem", "fd/0", "cwd/", "root/"};
    char path[60];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, names[i]);
        if (open(path, O_RDONLY) >= 0)
            return CAN_OPEN;
    }
    if (kill(pid, 0) == 0)
        return CAN_SIGNAL;
    return ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0 ? CAN_TRACE : 0;
}

static int as_nobody(int (*try)(const char *), const char *path, pid_t pid)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
            _exit(99);
        _exit(try ? try(path) : try_process(pid));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

START_TEST(another_user_reaches_nothing)
{
    static const char *const questions[] = {
        "import hermes_tools as h; print(h.SOCKET)",
        "import os; print(os.path.dirname(h.SOCKET))",
        "print(h.__file__)",
        "print(os.path.dirname(h.__file__))",
        "print(os.getcwd())",
        "open('secret', 'w').write('x'); os.chmod('secret', 0o666); "
        "print(os.path.abspath('secret'))",
    };
    char path[300];
    struct hermes_result *result;

    if (getuid() != 0) /* who is not root cannot become another user */
        return;
    umask(0);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        learn(questions[i], path, sizeof path);
        ck_assert_msg(strncmp(path, shared, strlen(shared)) == 0, "%s is elsewhere", path);
        ck_assert(test_exists(path));
        ck_assert_int_eq(as_nobody(try_path, path, 0), 0);
        ck_assert(test_exists(path));
    }
    snprintf(path, sizeof path, "%s/spill", shared);
    te_set(engine, "spill_directory", path);
    result = te_run("s2", "print('x' * 200000)");
    EXPECT(result, result->spill_path && test_exists(result->spill_path));
    ck_assert_int_eq(as_nobody(try_path, result->spill_path, 0), 0);
    ck_assert_int_eq(as_nobody(try_path, path, 0), 0);
    ck_assert_int_eq(as_nobody(NULL, NULL, (pid_t)result->kernel_pid), 0);
    ck_assert_int_eq(as_nobody(NULL, NULL, test_process_parent((pid_t)result->kernel_pid)), 0);
    ck_assert_int_eq(as_nobody(NULL, NULL, getpid()), 0);
    hermes_result_free(result);
}
END_TEST

/* ---- links ------------------------------------------------------------------------------ */

/* Somebody made the directory of spilled files before us, or put a link in its place. */
START_TEST(a_planted_spill_directory)
{
    char path[200], target[200];
    struct hermes_result *result;

    if (getuid() != 0)
        return;
    snprintf(path, sizeof path, "%s/spill", shared);
    snprintf(target, sizeof target, "%s/theirs", shared);
    ck_assert_int_eq(mkdir(target, 0777), 0);
    ck_assert_int_eq(chown(target, NOBODY, NOBODY), 0);
    ck_assert_int_eq(symlink(target, path), 0);
    te_set(engine, "spill_directory", path);
    result = te_run("s", "print('x' * 200000)");
    EXPECT(result, result->outcome == HERMES_SUCCESS && !result->spill_path && result->truncated);
    hermes_result_free(result);
    ck_assert_int_eq(rmdir(target), 0); /* nothing in it */
    te_set(engine, "spill_directory", "");
}
END_TEST

/* The sweep of what dead hosts left follows no link, and takes nothing of others. */
START_TEST(planted_staging_directories)
{
    char link[200], kept[200], host[300];

    snprintf(kept, sizeof kept, "%s/kept", shared);
    ck_assert_int_eq(mkdir(kept, 0700), 0);
    snprintf(host, sizeof host, "%s/file", kept);
    test_write_file(host, "precious", 0600);
    snprintf(link, sizeof link, "%s/hermes_kernel_planted0", shared);
    ck_assert_int_eq(symlink(kept, link), 0);
    hermes_sweep_staging(engine);
    ck_assert(test_exists(host));

    struct hermes_cell cell = te_cell("s", "import os; os.symlink('../kept', 'inside'); print(1)");
    struct hermes_result *result;

    cell.mode = HERMES_MODE_STRICT;
    result = te_run_cell(engine, &cell);
    EXPECT(result, result->outcome == HERMES_SUCCESS);
    hermes_result_free(result);
    hermes_session_clear(engine, "s");
    ck_assert(test_exists(host));
}
END_TEST

/* A scrubbed environment has no secret of the host's, in no process between it and the kernel. */
START_TEST(secrets_are_in_no_environment_of_ours)
{
    char told[100];

    setenv("SOME_API_KEY", "sk-very-secret", 1);
    learn("import os\n"
          "found, at = [], os.getpid()\n"
          "while at > 1:\n"
          "    found.append(b'sk-very-secret' in open('/proc/%d/environ' % at, 'rb').read())\n"
          "    at = int(open('/proc/%d/stat' % at).read().rsplit(')', 1)[1].split()[1])\n"
          "    if len(found) == 2: break\n"
          "print(found, 'SOME_API_KEY' in os.environ)",
          told, sizeof told);
    unsetenv("SOME_API_KEY");
    ck_assert_str_eq(told, "[False, False] False");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("security");
    TCase *tcase = tcase_create("security");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 120);
    suite_add_tcase(suite, tcase);
    tcase_add_test(tcase, another_user_reaches_nothing);
    tcase_add_test(tcase, a_planted_spill_directory);
    tcase_add_test(tcase, planted_staging_directories);
    tcase_add_test(tcase, secrets_are_in_no_environment_of_ours);
    return test_run(suite);
}
