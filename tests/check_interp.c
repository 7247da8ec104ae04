/* SPDX-License-Identifier: MIT */
/*
 * Which Python runs a kernel: the ladder of candidates, environments, and scripts that hide the
 * real program.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "interp.h"
#include "testlib.h"

static struct hr_interp_cache *cache;
static struct hermes_error error;
static struct test_fds fds;
static struct test_processes *processes;
static char *found;

/* An environment of the variables given as "NAME=value"; room for three. */
static char variables[3][16384];
static char *environment[4];

static void set_variables(const char *one, const char *two, const char *three)
{
    const char *texts[] = {one, two, three};
    size_t n = 0;

    for (size_t i = 0; i < 3; i++)
        if (texts[i]) {
            snprintf(variables[n], sizeof variables[n], "%s", texts[i]);
            environment[n] = variables[n];
            n++;
        }
    environment[n] = NULL;
}

static const char *assignment(const char *name, const char *value)
{
    static char texts[4][16384];
    static unsigned next;
    char *text = texts[next++ % 4];

    snprintf(text, sizeof texts[0], "%s=%s", name, value);
    return text;
}

static int find(enum hermes_mode mode, const char *python, const char *cwd)
{
    hr_free(found);
    found = NULL;
    memset(&error, 0, sizeof error);
    return hr_interp_find(cache, mode, python, cwd, environment, &found, &error);
}

static void expect_found(enum hermes_mode mode, const char *python, const char *cwd,
                         const char *expected)
{
    int code = find(mode, python, cwd);

    ck_assert_msg(code == 0, "%d: %s", code, error.text);
    ck_assert_pstr_eq(found, expected);
}

static void expect_none(enum hermes_mode mode, const char *python, const char *cwd,
                        const char *words)
{
    ck_assert_int_eq(find(mode, python, cwd), HERMES_ENOENT);
    ck_assert_ptr_null(found);
    ck_assert_int_eq(error.code, HERMES_ENOENT);
    ck_assert_msg(strstr(error.text, words) != NULL, "\"%s\" is not in \"%s\"", words, error.text);
    ck_assert_msg(strstr(error.text, "--python") != NULL, "no advice in \"%s\"", error.text);
}

/* A script in this test's directory. */
static const char *script(const char *name, const char *body)
{
    const char *path = test_path("%s", name);
    char text[4096];

    snprintf(text, sizeof text, "#!/bin/sh\n%s\n", body);
    test_write_file(path, text, 0755);
    return path;
}

/* A version manager's shim: leads to the real Python, logs that it ran, and where. */
static const char *shim(const char *name)
{
    char body[2048];

    snprintf(body, sizeof body, "pwd >>'%s'\necho chatter\nexec '%s' \"$@\"", test_path("log"),
             test_python());
    return script(name, body);
}

static int count_runs(void)
{
    char *text = test_read_file(test_path("log"));
    int lines = 0;

    for (const char *at = text; at && *at; at++)
        lines += *at == '\n';
    free(text);
    return lines;
}

/* A virtual environment without packages: bin/NAME leads to the test's Python. */
static const char *make_venv(const char *name, const char *program, const char *config)
{
    const char *root = test_path("%s", name);

    mkdir(root, 0755);
    mkdir(test_path("%s/bin", name), 0755);
    ck_assert_int_eq(symlink(test_python(), test_path("%s/bin/%s", name, program)), 0);
    if (config)
        test_write_file(test_path("%s/pyvenv.cfg", name), config, 0644);
    return root;
}

static void set_up(void)
{
    test_fds_take(&fds);
    processes = test_processes_take();
    cache = hr_interp_cache_new();
    ck_assert_ptr_nonnull(cache);
    set_variables("PATH=/usr/bin:/bin", NULL, NULL);
}

static void tear_down(void)
{
    hr_free(found);
    hr_interp_cache_free(cache);
    test_processes_check(processes, 2000);
    test_fds_check(&fds);
}

/* ---- a Python that is named ------------------------------------------------------------- */

START_TEST(named_by_path)
{
    char cwd[4096];

    ck_assert_int_eq(symlink(test_python(), test_path("link")), 0);
    expect_found(HERMES_MODE_PROJECT, test_python(), NULL, test_python());
    expect_found(HERMES_MODE_STRICT, test_path("link"), NULL, test_path("link"));
    expect_found(HERMES_MODE_PROJECT, "./link", test_directory(), test_path("./link"));
    mkdir(test_path("sub"), 0755);
    expect_found(HERMES_MODE_PROJECT, "../link", test_path("sub"), test_path("sub/../link"));
    set_variables(assignment("HOME", test_directory()), NULL, NULL);
    expect_found(HERMES_MODE_PROJECT, "~/link", "/", test_path("link"));
    ck_assert_int_eq(chdir(test_directory()), 0);
    ck_assert_ptr_nonnull(getcwd(cwd, sizeof cwd));
    strcat(cwd, "/./link");
    expect_found(HERMES_MODE_PROJECT, "./link", NULL, cwd);
}
END_TEST

START_TEST(named_without_a_slash_is_searched)
{
    char path[9000];

    snprintf(path, sizeof path, "%s:%s", test_path("none"), test_directory());
    ck_assert_int_eq(symlink(test_python(), test_path("mypython")), 0);
    set_variables(assignment("PATH", path), NULL, NULL);
    expect_found(HERMES_MODE_PROJECT, "mypython", "/", test_path("mypython"));
    expect_none(HERMES_MODE_PROJECT, "yourpython", "/", "yourpython");
}
END_TEST

START_TEST(named_and_not_usable)
{
    test_write_file(test_path("data"), "x", 0644);
    expect_none(HERMES_MODE_PROJECT, "/nowhere/python", NULL, "No such file");
    expect_none(HERMES_MODE_PROJECT, test_path("data"), NULL, "not an executable file");
    expect_none(HERMES_MODE_PROJECT, test_directory(), NULL, "not an executable file");
    expect_none(HERMES_MODE_PROJECT, test_path("data/python"), NULL, "Not a directory");
    /* taken as it is: the kernel's start tells what is wrong with it */
    test_write_file(test_path("program"), "no program", 0755);
    expect_found(HERMES_MODE_PROJECT, test_path("program"), NULL, test_path("program"));
}
END_TEST

/* ---- the default ------------------------------------------------------------------------ */

START_TEST(default_is_the_first_on_path)
{
    char path[9000], expected[4200];

    mkdir(test_path("a"), 0755);
    mkdir(test_path("b"), 0755);
    mkdir(test_path("c"), 0755);
    mkdir(test_path("a/python3"), 0755);               /* no program */
    test_write_file(test_path("b/python3"), "", 0644); /* not executable */
    ck_assert_int_eq(symlink(test_python(), test_path("c/python3")), 0);
    ck_assert_int_eq(symlink(test_python(), test_path("a/python")), 0);
    snprintf(path, sizeof path, "%s:%s:%s", test_path("a"), test_path("b"), test_path("c"));
    set_variables(assignment("PATH", path), NULL, NULL);
    expect_found(HERMES_MODE_STRICT, NULL, NULL, test_path("c/python3"));
    expect_found(HERMES_MODE_PROJECT, "", NULL, test_path("c/python3"));
    unlink(test_path("c/python3"));
    expect_found(HERMES_MODE_PROJECT, NULL, NULL, test_path("a/python"));
    unlink(test_path("a/python"));
    expect_none(HERMES_MODE_PROJECT, NULL, NULL, "python3");
    /* an empty item and a relative one are seen from the working directory */
    ck_assert_int_eq(symlink(test_python(), test_path("c/python3")), 0);
    set_variables("PATH=/nowhere::/other", NULL, NULL);
    snprintf(expected, sizeof expected, "%s/./python3", test_path("c"));
    expect_found(HERMES_MODE_PROJECT, NULL, test_path("c"), expected);
    set_variables("PATH=c", NULL, NULL);
    expect_found(HERMES_MODE_PROJECT, NULL, test_directory(), test_path("c/python3"));
}
END_TEST

START_TEST(without_path_the_usual_places_are_searched)
{
    environment[0] = NULL;
    ck_assert_int_eq(find(HERMES_MODE_PROJECT, NULL, NULL), 0);
    ck_assert_int_eq(found[0], '/');
}
END_TEST

START_TEST(deleted_directory_matters_only_to_relative_paths)
{
    mkdir(test_path("gone"), 0755);
    ck_assert_int_eq(chdir(test_path("gone")), 0);
    ck_assert_int_eq(rmdir(test_path("gone")), 0);
    expect_found(HERMES_MODE_PROJECT, test_python(), NULL, test_python());
    ck_assert_int_eq(find(HERMES_MODE_PROJECT, NULL, NULL), 0);
    ck_assert_int_eq(find(HERMES_MODE_PROJECT, "./python3", NULL), HERMES_ENOENT);
    ck_assert_ptr_nonnull(strstr(error.text, "directory is gone"));
}
END_TEST

/* ---- environments ----------------------------------------------------------------------- */

START_TEST(active_environment_is_taken_in_project_mode)
{
    const char *venv = make_venv("venv", "python", "home = /usr/bin\nversion = 3.11.2\n");
    const char *conda = make_venv("conda", "python3", NULL);

    set_variables("PATH=/usr/bin", assignment("VIRTUAL_ENV", venv),
                  assignment("CONDA_PREFIX", conda));
    expect_found(HERMES_MODE_PROJECT, NULL, NULL, test_path("venv/bin/python"));
    expect_found(HERMES_MODE_STRICT, NULL, NULL, "/usr/bin/python3");
    expect_found(HERMES_MODE_PROJECT, test_python(), NULL, test_python());
    /* without a program in it, it is passed over; conda has no pyvenv.cfg and is asked */
    unlink(test_path("venv/bin/python"));
    expect_found(HERMES_MODE_PROJECT, NULL, NULL, test_path("conda/bin/python3"));
    ck_assert_int_eq(symlink("/nowhere", test_path("venv/bin/python")), 0);
    expect_found(HERMES_MODE_PROJECT, NULL, NULL, test_path("conda/bin/python3"));
    ck_assert_int_eq(symlink(test_python(), test_path("venv/bin/python3")), 0);
    expect_found(HERMES_MODE_PROJECT, NULL, NULL, test_path("venv/bin/python3"));
}
END_TEST

START_TEST(old_or_broken_environment_goes_to_the_default)
{
    static const struct {
        const char *config;
        bool taken;
    } cases[] = {{"version = 3.7.17\n", false},
                 {"version = 2.7\n", false},
                 {"version = 3.8.0\n", true},
                 {"version=3.10\n", true},
                 {"  version_info = 3.12.1.final.0\nversion = 3.6\n", true},
                 {"version_info = 3.6.0\nversion = 3.12\n", false},
                 {"versions = 3.6\n", true}, /* says nothing: it is asked */
                 {"", true}};
    const char *conda = make_venv("conda", "python", NULL);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[32];

        snprintf(name, sizeof name, "venv%zu", i);
        set_variables("PATH=/usr/bin",
                      assignment("VIRTUAL_ENV", make_venv(name, "python", cases[i].config)),
                      assignment("CONDA_PREFIX", conda));
        expect_found(HERMES_MODE_PROJECT, NULL, NULL,
                     cases[i].taken ? test_path("%s/bin/python", name) : "/usr/bin/python3");
    }
}
END_TEST

START_TEST(environment_whose_program_fails_goes_to_the_default)
{
    const char *bodies[] = {"exit 1", "echo hermes-python",
                            "printf 'hermes-python 3.7 /bin/sh\\0'"};

    mkdir(test_path("venv"), 0755);
    mkdir(test_path("venv/bin"), 0755);
    make_venv("conda", "python", NULL);
    set_variables("PATH=/usr/bin", assignment("VIRTUAL_ENV", test_path("venv")),
                  assignment("CONDA_PREFIX", test_path("conda")));
    for (size_t i = 0; i < 3; i++) {
        script("venv/bin/python", bodies[i]);
        expect_found(HERMES_MODE_PROJECT, NULL, NULL, "/usr/bin/python3");
        ck_assert_int_eq(error.code, 0); /* no error is left of it */
    }
    test_write_file(test_path("venv/bin/python"), "no program", 0755);
    expect_found(HERMES_MODE_PROJECT, NULL, NULL, "/usr/bin/python3");
}
END_TEST

/* ---- scripts in front of the real one --------------------------------------------------- */

START_TEST(shim_is_seen_through_once)
{
    const char *path = shim("python3");
    struct stat info;

    mkdir(test_path("project"), 0755);
    expect_found(HERMES_MODE_PROJECT, path, test_directory(), test_python());
    expect_found(HERMES_MODE_PROJECT, path, test_directory(), test_python());
    ck_assert_int_eq(count_runs(), 1);
    /* another directory, another version set for it, another shim: asked again */
    expect_found(HERMES_MODE_PROJECT, path, test_path("project"), test_python());
    ck_assert_int_eq(count_runs(), 2);
    set_variables("PATH=/usr/bin:/bin", "PYENV_VERSION=3.9", NULL);
    expect_found(HERMES_MODE_PROJECT, path, test_path("project"), test_python());
    ck_assert_int_eq(count_runs(), 3);
    test_write_file(test_path("project/.python-version"), "3.9\n", 0644);
    expect_found(HERMES_MODE_PROJECT, path, test_path("project"), test_python());
    ck_assert_int_eq(count_runs(), 4);
    ck_assert_int_eq(stat(path, &info), 0);
    test_write_file(path, "#!/bin/sh\nexit 3\n", 0755);
    expect_none(HERMES_MODE_PROJECT, path, test_path("project"), "no working Python");
}
END_TEST

START_TEST(shim_runs_in_the_working_directory)
{
    char real[4096], *text;

    mkdir(test_path("project"), 0755);
    expect_found(HERMES_MODE_PROJECT, shim("python3"), test_path("project"), test_python());
    text = test_read_file(test_path("log"));
    ck_assert_ptr_nonnull(realpath(test_path("project"), real));
    strcat(real, "\n");
    ck_assert_pstr_eq(text, real);
    free(text);
    /* one that does not exist is no reason to fail here */
    expect_found(HERMES_MODE_PROJECT, test_path("python3"), "/nowhere", test_python());
}
END_TEST

START_TEST(shim_on_path_and_of_the_environment)
{
    shim("python3");
    set_variables(assignment("PATH", test_directory()), NULL, NULL);
    expect_found(HERMES_MODE_PROJECT, NULL, "/", test_python());
    expect_found(HERMES_MODE_PROJECT, "python3", "/", test_python());
    ck_assert_int_eq(count_runs(), 1);
    mkdir(test_path("venv"), 0755);
    mkdir(test_path("venv/bin"), 0755);
    shim("venv/bin/python");
    set_variables("PATH=/nowhere", assignment("VIRTUAL_ENV", test_path("venv")), NULL);
    expect_found(HERMES_MODE_PROJECT, NULL, "/", test_python());
}
END_TEST

START_TEST(failing_shim_is_quoted)
{
    expect_none(HERMES_MODE_PROJECT,
                script("p1", "echo 'version 3.99 is not installed' >&2; exit 1"), NULL,
                "version 3.99 is not installed");
    expect_none(HERMES_MODE_PROJECT, script("p2", "echo hello; printf 'x\\0'"), NULL,
                "no working Python");
    expect_none(HERMES_MODE_PROJECT, script("p3", "printf 'hermes-python 3.7 /bin/sh\\0'"), NULL,
                "Python 3.7");
    expect_none(HERMES_MODE_PROJECT, script("p4", "printf 'hermes-python 3.9 \\0'"), NULL,
                "program file");
    expect_none(HERMES_MODE_PROJECT, script("p5", "printf 'hermes-python 3.9 /nowhere\\0'"), NULL,
                "program file");
    test_write_file(test_path("p6"), "#!/nowhere/sh\n", 0755);
    expect_none(HERMES_MODE_PROJECT, test_path("p6"), NULL, "No such file");
    expect_none(HERMES_MODE_PROJECT, script("p7", "kill -9 $$"), NULL, "no working Python");
    /* more than an answer could be */
    expect_none(HERMES_MODE_PROJECT, script("p8", "yes"), NULL, "no working Python");
    /* stdin is empty, not the terminal's */
    expect_none(HERMES_MODE_PROJECT, script("p9", "read line || echo 'no input' >&2"), NULL,
                "no input");
}
END_TEST

START_TEST(flood_of_words_on_stderr_is_bounded)
{
    char body[2048];

    snprintf(body, sizeof body, "yes 'warning' | head -c 1000000 >&2\nexec '%s' \"$@\"",
             test_python());
    expect_found(HERMES_MODE_PROJECT, script("python3", body), NULL, test_python());
}
END_TEST

START_TEST(hanging_shim_is_given_up)
{
    int64_t start_ms = test_now_ms();

    expect_none(HERMES_MODE_PROJECT, script("python3", "trap '' TERM; sleep 1000; sleep 1000"),
                NULL, "within 5 s");
    ck_assert_int_le(test_now_ms() - start_ms, 5000);
}
END_TEST

START_TEST(answer_counts_even_if_something_holds_the_pipe)
{
    int64_t start_ms = test_now_ms();
    char body[2048];
    pid_t sleeper;
    char *text;

    snprintf(body, sizeof body, "sleep 1000 &\necho $! >'%s'\nexec '%s' \"$@\"", test_path("pid"),
             test_python());
    expect_found(HERMES_MODE_PROJECT, script("python3", body), NULL, test_python());
    ck_assert_int_lt(test_now_ms() - start_ms, test_scaled_ms(3000));
    text = test_read_file(test_path("pid"));
    sleeper = (pid_t)atoi(text);
    free(text);
    kill(sleeper, SIGKILL);
}
END_TEST

/* ---- hosts ------------------------------------------------------------------------------ */

START_TEST(host_ignores_the_end_of_children)
{
    signal(SIGCHLD, SIG_IGN);
    expect_found(HERMES_MODE_PROJECT, shim("python3"), NULL, test_python());
    expect_none(HERMES_MODE_PROJECT, script("other", "exit 1"), NULL, "no working Python");
}
END_TEST

static void reap_all(int number)
{
    int saved = errno;

    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    errno = saved;
}

START_TEST(host_reaps_every_child)
{
    signal(SIGCHLD, reap_all);
    for (int i = 0; i < 10; i++) {
        char name[32];

        snprintf(name, sizeof name, "python%d", i);
        expect_found(HERMES_MODE_PROJECT, shim(name), NULL, test_python());
    }
}
END_TEST

START_TEST(host_without_standard_descriptors)
{
    int code;

    shim("python3");
    for (int fd = 0; fd <= 2; fd++) {
        close(fd);
        fds.open[fd] = false;
    }
    code = find(HERMES_MODE_PROJECT, test_path("python3"), NULL);
    ck_assert_int_eq(code, 0);
    ck_assert_pstr_eq(found, test_python());
}
END_TEST

START_TEST(host_blocks_and_ignores_signals)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    signal(SIGPIPE, SIG_IGN);
    /* what it asks has the usual signals all the same */
    expect_none(HERMES_MODE_PROJECT, script("python3", "kill -PIPE $$; echo survived >&2"), NULL,
                "no working Python;");
    sigemptyset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
}
END_TEST

/* ---- the cache -------------------------------------------------------------------------- */

START_TEST(cache_is_bounded)
{
    char name[32];

    for (int i = 0; i < 33; i++) {
        snprintf(name, sizeof name, "python%d", i);
        expect_found(HERMES_MODE_PROJECT, shim(name), NULL, test_python());
    }
    ck_assert_int_eq(count_runs(), 33);
    expect_found(HERMES_MODE_PROJECT, test_path("python32"), NULL, test_python());
    expect_found(HERMES_MODE_PROJECT, test_path("python1"), NULL, test_python());
    ck_assert_int_eq(count_runs(), 33);
    expect_found(HERMES_MODE_PROJECT, test_path("python0"), NULL, test_python()); /* pushed out */
    ck_assert_int_eq(count_runs(), 34);
}
END_TEST

static void *ask_from_thread(void *argument)
{
    for (int i = 0; i < 20; i++) {
        char *path = NULL;
        int code =
            hr_interp_find(cache, HERMES_MODE_PROJECT, argument, NULL, environment, &path, NULL);

        if (code || strcmp(path, test_python()))
            return (void *)1;
        hr_free(path);
    }
    return NULL;
}

START_TEST(threads_may_ask_at_once)
{
    pthread_t threads[6];
    void *failed;

    shim("one");
    shim("two");
    char one[4096], two[4096];
    snprintf(one, sizeof one, "%s", test_path("one"));
    snprintf(two, sizeof two, "%s", test_path("two"));
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_from_thread, i % 2 ? one : two), 0);
    for (int i = 0; i < 6; i++) {
        pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
    }
}
END_TEST

#ifdef HERMES_FAULT_INJECTION
START_TEST(every_failure_is_returned)
{
    const char *venv = make_venv("venv", "python", "version = 3.11\n");
    static const int kinds[] = {HR_FAULT_ALLOC, HR_FAULT_PIPE, HR_FAULT_SPAWN};
    unsigned long n;

    shim("python3");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        int failures = 0, code = -1;

        for (n = 1; n < 200 && code; n++) {
            hr_interp_cache_free(cache);
            cache = hr_interp_cache_new();
            hermes_fault_set(kinds[i], n);
            code = find(HERMES_MODE_PROJECT, test_path("python3"), NULL);
            failures += code != 0;
            if (code)
                ck_assert_int_eq(code, kinds[i] == HR_FAULT_ALLOC ? HERMES_ENOMEM : HERMES_ENOENT);
        }
        hermes_fault_set(kinds[i], 0);
        ck_assert_int_eq(code, 0);
        ck_assert_int_gt(failures, 0);
    }
    /* short of memory it never takes another Python instead */
    set_variables("PATH=/usr/bin", assignment("VIRTUAL_ENV", venv), NULL);
    for (n = 1; n < 20; n++) {
        hermes_fault_set(HR_FAULT_ALLOC, n);
        if (find(HERMES_MODE_PROJECT, NULL, NULL) == 0)
            ck_assert_pstr_eq(found, test_path("venv/bin/python"));
        else
            ck_assert_int_eq(error.code, HERMES_ENOMEM);
    }
    hermes_fault_set(HR_FAULT_ALLOC, 0);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("interp");
    TCase *test_case = tcase_create("interp");

    tcase_set_timeout(test_case, 60);
    tcase_add_checked_fixture(test_case, set_up, tear_down);
    tcase_add_test(test_case, named_by_path);
    tcase_add_test(test_case, named_without_a_slash_is_searched);
    tcase_add_test(test_case, named_and_not_usable);
    tcase_add_test(test_case, default_is_the_first_on_path);
    tcase_add_test(test_case, without_path_the_usual_places_are_searched);
    tcase_add_test(test_case, deleted_directory_matters_only_to_relative_paths);
    tcase_add_test(test_case, active_environment_is_taken_in_project_mode);
    tcase_add_test(test_case, old_or_broken_environment_goes_to_the_default);
    tcase_add_test(test_case, environment_whose_program_fails_goes_to_the_default);
    tcase_add_test(test_case, shim_is_seen_through_once);
    tcase_add_test(test_case, shim_runs_in_the_working_directory);
    tcase_add_test(test_case, shim_on_path_and_of_the_environment);
    tcase_add_test(test_case, failing_shim_is_quoted);
    tcase_add_test(test_case, flood_of_words_on_stderr_is_bounded);
    tcase_add_test(test_case, hanging_shim_is_given_up);
    tcase_add_test(test_case, answer_counts_even_if_something_holds_the_pipe);
    tcase_add_test(test_case, host_ignores_the_end_of_children);
    tcase_add_test(test_case, host_reaps_every_child);
    tcase_add_test(test_case, host_without_standard_descriptors);
    tcase_add_test(test_case, host_blocks_and_ignores_signals);
    tcase_add_test(test_case, cache_is_bounded);
    tcase_add_test(test_case, threads_may_ask_at_once);
#ifdef HERMES_FAULT_INJECTION
    tcase_add_test(test_case, every_failure_is_returned);
#endif
    suite_add_tcase(suite, test_case);
    return test_run(suite);
}
