/* SPDX-License-Identifier: MIT */
/*
 * Where cells run: environment, interpreter, directory, staging. The rules of the scrub are tested
 * for each name in check_env; here is what a cell really sees.
 */
#include "config.h"

#include <sys/stat.h>
#include <unistd.h>

#include "engine-testlib.h"

/* ---- environment ------------------------------------------------------------------------ */

/* report A48 */
START_TEST(scrub_drops_settings_and_secrets)
{
    setenv("HERMES_BASE_URL", "u", 1);
    setenv("HERMES_YOLO_MODE", "1", 1);
    setenv("SENTRY_DSN", "d", 1);
    setenv("SLACK_WEBHOOK", "w", 1);
    setenv("MY_AUTH", "a", 1);
    setenv("BYPASS_CACHE", "1", 1);
    setenv("PATH_TOKEN", "t", 1); /* a secret word beats a safe beginning */
    setenv("LC_MONETARY", "C", 1);
    te_says("a",
            "import os\nprint([n for n in ('HERMES_BASE_URL', 'HERMES_YOLO_MODE', 'SENTRY_DSN', "
            "'SLACK_WEBHOOK',"
            " 'MY_AUTH', 'BYPASS_CACHE', 'PATH_TOKEN') if n in os.environ], 'PATH' in os.environ,"
            " os.environ.get('LC_MONETARY'))",
            "[] True C\n");
}
END_TEST

/*
 * contract, cases 147, report A18: nothing private of ours is there, and what is there opens
 * nothing
 */
START_TEST(nothing_private_is_visible)
{
    te_says(
        "a",
        "import os\n"
        "print(sorted(n for n in os.environ if n.startswith('HERMES') and n != 'HERMES_TREE_ID'),"
        " len(os.environ['HERMES_TREE_ID']))",
        "[] 32\n");
    /* report A59: not in an argument vector either */
    te_says("a",
            "import glob\n"
            "secret = os.environ['HERMES_TREE_ID'].encode()\n"
            "found = []\n"
            "for p in glob.glob('/proc/[0-9]*/cmdline'):\n"
            "    try:\n"
            "        if secret in open(p, 'rb').read(): found.append(p)\n"
            "    except OSError: pass\n"
            "print(found)",
            "[]\n");
}
END_TEST

/* report A49 */
START_TEST(dropped_names_are_told_and_can_pass)
{
    char *text;
    cJSON *json;
    const cJSON *name;
    bool told = false;

    setenv("HTTP_PROXY", "http://secret.example", 1);
    te_says("a", "import os; print(os.environ.get('HTTP_PROXY'))", "None\n");
    text = hermes_explain_env(engine, HERMES_ENV_SCRUB);
    ck_assert_ptr_nonnull(text);
    ck_assert_ptr_null(strstr(text, "secret.example")); /* names, never values */
    json = cJSON_Parse(text);
    cJSON_ArrayForEach(name, cJSON_GetObjectItemCaseSensitive(json, "dropped"))
    {
        told |= !strcmp(name->valuestring, "HTTP_PROXY");
    }
    ck_assert(told);
    cJSON_Delete(json);
    hermes_free(text);
    te_set(engine, "env_passthrough", "OTHER, HTTP_PROXY");
    te_says("a", "import os; print(os.environ.get('HTTP_PROXY'))",
            "None\n"); /* fixed at the start of a kernel */
    ck_assert_int_eq(hermes_reset(engine, "a", NULL), 0);
    te_says("a", "import os; print(os.environ.get('HTTP_PROXY'))", "http://secret.example\n");
}
END_TEST

/* report A50 */
START_TEST(the_environment_is_fixed_at_the_start)
{
    setenv("LC_TEST", "before", 1);
    te_says("a", "import os; print(os.environ['LC_TEST'])", "before\n");
    setenv("LC_TEST", "after", 1);
    te_says("a", "import os; print(os.environ['LC_TEST'])", "before\n");
    ck_assert_int_eq(hermes_reset(engine, "a", NULL), 0);
    te_says("a", "import os; print(os.environ['LC_TEST'])", "after\n");
}
END_TEST

START_TEST(inherited_environment)
{
    struct hermes_kernel_setup setup = HERMES_KERNEL_SETUP_INIT;
    struct hermes_cell cell = te_cell(
        "a", "import os; print(os.environ.get('MY_TOKEN'), os.environ.get('HERMES_REPL_TIMEOUT'))");
    struct hermes_result *result;

    setenv("MY_TOKEN", "mine", 1);
    setenv("HERMES_REPL_TIMEOUT", "5", 1);
    setup.env = HERMES_ENV_INHERIT;
    cell.setup = &setup;
    result = te_run_cell(engine, &cell);
    EXPECT_OUTPUT(result, "mine None\n");
    hermes_result_free(result);
}
END_TEST

/* ---- interpreter ------------------------------------------------------------------------ */

/*
 * report A51: a virtual environment is its path, its links are not followed; project mode takes the
 * active one
 */
START_TEST(active_virtual_environment)
{
    struct hermes_result *result =
        te_run("plain", "import sys; print('%d.%d' % sys.version_info[:2], end='')");
    char version[16], expected[900], venv[400];
    struct hermes_cell cell = te_cell("a", "import zzz, sys; print(sys.prefix, zzz.x)");

    snprintf(version, sizeof version, "%.*s", (int)result->output_size, result->output);
    hermes_result_free(result);
    snprintf(venv, sizeof venv, "%s", test_path("venv"));
    snprintf(expected, sizeof expected, "mkdir -p %s/bin %s/lib/python%s/site-packages", venv, venv,
             version);
    ck_assert_int_eq(system(expected), 0);
    ck_assert_int_eq(symlink(te_python(), test_path("venv/bin/python")), 0);
    test_write_file(test_path("venv/pyvenv.cfg"),
                    "home = /usr/bin\ninclude-system-site-packages = false\n", 0600);
    test_write_file(test_path("venv/lib/python%s/site-packages/zzz.py", version), "x = 'zzz'\n",
                    0600);
    snprintf(expected, sizeof expected, "%s zzz\n", venv);
    setenv("VIRTUAL_ENV", venv, 1);
    te_set(engine, "python", "");
    cell.mode = HERMES_MODE_PROJECT;
    result = te_run_cell(engine, &cell);
    EXPECT_OUTPUT(result, expected);
    hermes_result_free(result);
    cell.python = test_path("venv/bin/python"); /* named, without being active */
    cell.session = "b";
    unsetenv("VIRTUAL_ENV");
    result = te_run_cell(engine, &cell);
    EXPECT_OUTPUT(result, expected);
    hermes_result_free(result);
}
END_TEST

START_TEST(interpreter_is_told)
{
    char *path = NULL;
    struct hermes_error error = {0};

    ck_assert_int_eq(hermes_find_python(engine, HERMES_MODE_PROJECT, NULL, &path, &error), 0);
    ck_assert_int_eq(access(path, X_OK), 0);
    hermes_free(path);
    ck_assert_int_eq(
        hermes_find_python(engine, HERMES_MODE_PROJECT, "/nonexistent/python", &path, &error),
        HERMES_ENOENT);
    ck_assert_ptr_nonnull(strstr(error.text, "/nonexistent/python"));
}
END_TEST

/*
 * A wrapper script is seen through once: the kernel is the real interpreter, and starts without the
 * wrapper.
 */
START_TEST(wrapper_scripts_are_seen_through)
{
    struct hermes_cell cell = te_cell("a", "print('real')");
    struct hermes_result *result;
    char script[600], *calls;

    snprintf(script, sizeof script, "#!/bin/sh\necho x >> %s\nexec %s \"$@\"\n", test_path("calls"),
             te_python());
    test_write_file(test_path("shim"), script, 0755);
    cell.python = test_path("shim");
    for (int i = 0; i < 3; i++) {
        result = te_run_cell(engine, &cell);
        EXPECT_OUTPUT(result, "real\n");
        hermes_result_free(result);
        cell.flags = HERMES_CELL_RESET;
    }
    calls = test_read_file(test_path("calls"));
    ck_assert_str_eq(calls, "x\n");
    free(calls);
}
END_TEST

/* ---- directory -------------------------------------------------------------------------- */

/* report A52, cases 138: files beside the data named like modules that the kernel needs */
START_TEST(files_named_like_modules)
{
    static const char *const names[] = {
        "json",    "queue",     "threading", "io",       "os",     "sys",         "traceback",
        "struct",  "linecache", "ast",       "tokenize", "codecs", "signal",      "types",
        "inspect", "re",        "enum",      "socket",   "runpy",  "hermes_tools"};
    struct hermes_cell cell = te_cell("a", "print(1)");
    struct hermes_result *result;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        test_write_file(test_path("%s.py", names[i]), "raise SystemExit(9)\n", 0600);
    cell.cwd = test_directory();
    result = te_run_cell(engine, &cell);
    EXPECT_OUTPUT(result, "1\n");
    hermes_result_free(result);
    cell.code = "def f():\n    1 / 0\nf()";
    result = te_run_cell(engine, &cell);
    EXPECT(result, te_error_has(result, "ZeroDivisionError") && te_error_has(result, "    1 / 0") &&
                       !result->ended);
    hermes_result_free(result);
    cell.code =
        "await_ = 1\nimport json"; /* the user's own import finds the user's file, as in Python */
    result = te_run_cell(engine, &cell);
    EXPECT(result, result->ended && result->exit_code == 9);
    hermes_result_free(result);
}
END_TEST

START_TEST(project_mode_runs_where_the_host_is)
{
    char expected[300];
    struct hermes_result *result;

    ck_assert_int_eq(chdir(test_directory()), 0);
    snprintf(expected, sizeof expected, "%s\n", test_directory());
    te_says("a", "import os; print(os.getcwd())", expected);
    ck_assert_int_eq(chdir("/"), 0);
    result = te_run("a", "import os; print(os.getcwd())"); /* another directory is another key */
    EXPECT_OUTPUT(result, "/\n");
    EXPECT(result, !result->reused && result->previous == HERMES_PREVIOUS_KEY_CHANGED);
    hermes_result_free(result);
    ck_assert_uint_eq(te_kernel_count(engine), 2);
}
END_TEST

/* cases 140 */
START_TEST(host_in_a_deleted_directory)
{
    ck_assert_int_eq(mkdir(test_path("gone"), 0700), 0);
    ck_assert_int_eq(chdir(test_path("gone")), 0);
    ck_assert_int_eq(rmdir(test_path("gone")), 0);
    te_says("a", "print('works')", "works\n");
    te_says("a",
            "import subprocess; print(subprocess.run(['echo', 'so'], capture_output=True, "
            "text=True).stdout, end='')",
            "so\n");
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

/* report A59 */
START_TEST(strict_mode_has_a_private_directory)
{
    struct hermes_cell cell = te_cell(
        "a",
        "import os, sys\n"
        "print(oct(os.stat('.').st_mode & 0o7777), os.path.basename(os.getcwd())[:14],"
        " [n for n in os.listdir('.') if n[0] != '.'])\n"
        "print(oct(os.umask(0o22)), [oct(os.lstat(n).st_mode & 0o777) for n in os.listdir('.')])\n"
        "open('left-over', 'w').close(); os.mkdir('d'); open('d/f', 'w').close(); os.chmod('d', "
        "0)\n");
    struct hermes_result *result;
    static const char *const no_tools[] = {NULL};
    mode_t before = umask(027);
    size_t count;

    cell.mode = HERMES_MODE_STRICT;
    cell.tools = no_tools;
    result = te_run_cell(engine, &cell);
    EXPECT_OUTPUT(result, "0o700 hermes_kernel_ []\n0o27 ['0o600']\n");
    hermes_result_free(result);
    ck_assert_uint_eq(umask(before), 027);
    count = te_staging_count();
    ck_assert_int_eq(hermes_session_clear(engine, "a"), 0);
    ck_assert_uint_eq(te_staging_count(), count - 1); /* with all it held */
}
END_TEST

/* report A41: a long name of a directory for temporary files hurts nobody */
START_TEST(long_temporary_directory)
{
    struct hermes_cell cell = te_cell("a", "print('fine')");
    struct hermes_result *result;
    char name[200];

    memset(name, 'd', 150);
    name[150] = '\0';
    ck_assert_int_eq(mkdir(test_path("%s", name), 0700), 0);
    setenv("TMPDIR", test_path("%s", name), 1);
    cell.mode = HERMES_MODE_STRICT;
    result = te_run_cell(engine, &cell);
    EXPECT_OUTPUT(result, "fine\n");
    hermes_result_free(result);
    ck_assert_int_eq(hermes_session_clear(engine, "a"), 0);
    setenv("TMPDIR", test_directory(), 1);
}
END_TEST

/* cases 143: no home, no place for temporary files */
START_TEST(no_home_and_no_tmp)
{
    te_set(engine, "spill_directory", "");
    unsetenv("HOME");
    unsetenv("XDG_STATE_HOME");
    unsetenv("XDG_CACHE_HOME");
    setenv("TMPDIR", "/nonexistent", 1);
    te_says("a", "print('fine')", "fine\n");
    setenv("TMPDIR", test_directory(), 1);
}
END_TEST

/* report A6 */
START_TEST(staging_of_dead_hosts_is_swept)
{
    char command[3000];

    ck_assert_int_eq(mkdir(test_path("hermes_kernel_old"), 0700), 0);
    test_write_file(test_path("hermes_kernel_old/file"), "", 0600);
    ck_assert_int_eq(mkdir(test_path("hermes_kernel_young"), 0700), 0);
    ck_assert_int_eq(mkdir(test_path("precious"), 0700), 0);
    test_write_file(test_path("precious/file"), "", 0600);
    ck_assert_int_eq(symlink(test_path("precious"), test_path("hermes_kernel_link")), 0);
    ck_assert_int_eq(mkdir(test_path("unrelated"), 0700), 0);
    snprintf(command, sizeof command, "touch -h -d '8 days ago' %s %s %s %s",
             test_path("hermes_kernel_old"), test_path("precious"), test_path("hermes_kernel_link"),
             test_path("unrelated"));
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_ge(hermes_sweep_staging(engine), 1); /* others may have left some in /tmp */
    ck_assert(!test_exists(test_path("hermes_kernel_old")));
    ck_assert(test_exists(test_path("hermes_kernel_young")) && test_exists(test_path("unrelated")));
    ck_assert(test_exists(test_path("hermes_kernel_link")) &&
              test_exists(test_path("precious/file")));
    ck_assert_int_eq(unlink(test_path("hermes_kernel_link")), 0);
    ck_assert_int_eq(rmdir(test_path("hermes_kernel_young")), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("environment");
    TCase *env = tcase_create("environment"), *python = tcase_create("interpreter"),
          *place = tcase_create("directory");
    TCase *all[] = {env, python, place};

    te_add_cases(suite, all, sizeof all / sizeof all[0], te_set_up);
    tcase_add_test(env, scrub_drops_settings_and_secrets);
    tcase_add_test(env, nothing_private_is_visible);
    tcase_add_test(env, dropped_names_are_told_and_can_pass);
    tcase_add_test(env, the_environment_is_fixed_at_the_start);
    tcase_add_test(env, inherited_environment);
    tcase_add_test(python, active_virtual_environment);
    tcase_add_test(python, interpreter_is_told);
    tcase_add_test(python, wrapper_scripts_are_seen_through);
    tcase_add_test(place, files_named_like_modules);
    tcase_add_test(place, project_mode_runs_where_the_host_is);
    tcase_add_test(place, host_in_a_deleted_directory);
    tcase_add_test(place, strict_mode_has_a_private_directory);
    tcase_add_test(place, long_temporary_directory);
    tcase_add_test(place, no_home_and_no_tmp);
    tcase_add_test(place, staging_of_dead_hosts_is_swept);
    return test_run(suite);
}
