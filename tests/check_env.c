/* SPDX-License-Identifier: MIT */
/*
 * The kernel's environment: what a scrub lets through, what is set, and that names are told but
 * never values.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "env.h"
#include "testlib.h"

#define PYTHON_VARIABLES "PYTHONDONTWRITEBYTECODE=1|PYTHONIOENCODING=utf-8|PYTHONUTF8=1"

/* The environment as "A=1|B=2", in its order. */
static const char *build(const struct hr_env_request *request)
{
    static char text[8192];
    char **block = hr_env_build(request);

    ck_assert_ptr_nonnull(block);
    *text = '\0';
    for (char **at = block; *at; at++) {
        ck_assert_uint_lt(strlen(text) + strlen(*at) + 2, sizeof text);
        strcat(strcat(text, at == block ? "" : "|"), *at);
    }
    hr_env_free(block);
    return text;
}

static const char *build_from(enum hermes_env policy, const char *const *host)
{
    struct hr_env_request request = {.policy = policy, .host = (char *const *)host};

    return build(&request);
}

static void expect_explained(const struct hr_env_request *request, const char *expected)
{
    char *text = hr_env_explain(request);

    ck_assert_ptr_nonnull(text);
    ck_assert_str_eq(text, expected);
    hr_free(text);
}

START_TEST(scrub_keeps_what_is_listed_and_nothing_else)
{
    const char *host[] = {
        "PATH=p",    "HERMES_BASE_URL=u", "HERMES_YOLO_MODE=1", "SENTRY_DSN=d", "SLACK_WEBHOOK=w",
        "MY_AUTH=a", "BYPASS_CACHE=1",    "HTTP_PROXY=x",       "LC_ALL=C",     "home=no",
        NULL};

    ck_assert_str_eq(build_from(HERMES_ENV_SCRUB, host), "PATH=p|LC_ALL=C|" PYTHON_VARIABLES);
}
END_TEST

START_TEST(scrub_decides_by_prefix_and_whole_name)
{
    static const struct {
        const char *name;
        bool kept;
    } cases[] = {{"PATHEXT", true},
                 {"USERPROFILE", true},
                 {"TERMINAL_CWD", true},
                 {"XDG_RUNTIME_DIR", true},
                 {"VIRTUAL_ENV_PROMPT", true},
                 {"CONDA_PREFIX", true},
                 {"TMP", true},
                 {"SHELL", true},
                 {"MYPATH", false},
                 {"Path", false},
                 {"HERMES_HOME", true},
                 {"HERMES_PROFILE", true},
                 {"HERMES_CONFIG", true},
                 {"HERMES_ENV", true},
                 {"HERMES_DELEGATED_CHILD_CONTEXT", true},
                 {"HERMES_HOMES", false},
                 {"HERMES_REPL_TIMEOUT", false},
                 {"PYTHONSTARTUP", false},
                 {"LD_PRELOAD", false},
                 {"SYSTEMROOT", false}, /* passes on Windows only */
                 /* a secret in the name wins over every prefix, in any case */
                 {"XAUTHORITY", false},
                 {"PATH_TOKEN", false},
                 {"HOME_secret", false},
                 {"LC_Password", false},
                 {"USER_PASSWD", false},
                 {"TERM_CREDENTIALS", false},
                 {"SHELL_CREDS", false},
                 {"TMP_BEARER", false},
                 {"XDG_APIKEY", false},
                 {"LANG_KEY", false},
                 {"CONDA_dsn", false},
                 {"TEMPWEBHOOKS", false},
                 {"TERM_PASS", true}}; /* PASS alone is none */

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char variable[64];
        const char *host[] = {variable, NULL};

        snprintf(variable, sizeof variable, "%s=v", cases[i].name);
        ck_assert_msg((strstr(build_from(HERMES_ENV_SCRUB, host), variable) != NULL) ==
                          cases[i].kept,
                      "%s should be %s", cases[i].name, cases[i].kept ? "kept" : "dropped");
    }
}
END_TEST

START_TEST(passthrough_beats_the_rules)
{
    const char *host[] = {"MY_TOKEN=t", "HTTP_PROXY=x", "OTHER=o", "TOKEN=2", NULL};
    struct hr_env_request request = {.policy = HERMES_ENV_SCRUB,
                                     .host = (char *const *)host,
                                     .passthrough = " MY_TOKEN ,,HTTP_PROXY\t,ABSENT"};

    ck_assert_str_eq(build(&request), "MY_TOKEN=t|HTTP_PROXY=x|" PYTHON_VARIABLES);
    request.passthrough = "";
    ck_assert_str_eq(build(&request), PYTHON_VARIABLES);
    request.passthrough = " , ";
    ck_assert_str_eq(build(&request), PYTHON_VARIABLES);
}
END_TEST

START_TEST(inherit_is_all_but_ours)
{
    const char *host[] = {"B=2",
                          "MY_TOKEN=t",
                          "HERMES_REPL_TIMEOUT=3",
                          "HERMES_REPL=x",
                          "HERMES_TREE_ID=1",
                          "HERMES_KERNEL_LIB=l",
                          "HERMES_RPC_TOKEN=r",
                          "HERMES_HOME=/h",
                          "HERMES_TIMEZONE=Europe/Berlin",
                          "HERMES_YOLO_MODE=1",
                          "A=1",
                          NULL};

    ck_assert_str_eq(build_from(HERMES_ENV_INHERIT, host), "B=2|MY_TOKEN=t|HERMES_HOME=/h|"
                                                           "HERMES_TIMEZONE=Europe/Berlin|"
                                                           "HERMES_YOLO_MODE=1|A=1");
}
END_TEST

START_TEST(odd_environments)
{
    const char *host[] = {"PATH=first",  "no equals sign", "=C:=x",    "",
                          "PATH=second", "HOME=",          "LANG=a=b", NULL};
    const char *none[] = {NULL};

    ck_assert_str_eq(build_from(HERMES_ENV_INHERIT, host), "PATH=first|HOME=|LANG=a=b");
    ck_assert_str_eq(build_from(HERMES_ENV_SCRUB, host),
                     "PATH=first|HOME=|LANG=a=b|" PYTHON_VARIABLES);
    ck_assert_str_eq(build_from(HERMES_ENV_INHERIT, none), "");
    ck_assert_str_eq(build_from(HERMES_ENV_INHERIT, NULL), "");
    ck_assert_str_eq(build_from(HERMES_ENV_SCRUB, none), PYTHON_VARIABLES);
}
END_TEST

START_TEST(first_of_a_double_name_decides_its_fate)
{
    const char *host[] = {"PATH=1", "X=1", "PATH=2", "X=2", "PATH=3", NULL};

    ck_assert_str_eq(build_from(HERMES_ENV_INHERIT, host), "PATH=1|X=1");
}
END_TEST

START_TEST(set_comes_after_the_scrub)
{
    const char *host[] = {"HOME=/old", "LANG=C", "USER=me", NULL};
    const char *const set[] = {"HOME", "/new",  "MY_TOKEN", "granted", "LANG", NULL, "PYTHONUTF8",
                               "0",    "EMPTY", "",         "ABSENT",  NULL,   NULL};
    struct hr_env_request request = {
        .policy = HERMES_ENV_SCRUB, .host = (char *const *)host, .set = set};

    ck_assert_str_eq(
        build(&request),
        "HOME=/new|USER=me|PYTHONDONTWRITEBYTECODE=1|PYTHONIOENCODING=utf-8|PYTHONUTF8=0|"
        "MY_TOKEN=granted|EMPTY=");
    request.policy = HERMES_ENV_INHERIT;
    ck_assert_str_eq(build(&request), "HOME=/new|USER=me|MY_TOKEN=granted|PYTHONUTF8=0|EMPTY=");
}
END_TEST

START_TEST(time_zone_is_translated)
{
    const char *host[] = {"TZ=UTC", "HERMES_TIMEZONE= Europe/Berlin\n", NULL};
    const char *blank[] = {"HERMES_TIMEZONE=  ", NULL};
    struct hr_env_request request = {.policy = HERMES_ENV_SCRUB,
                                     .host = (char *const *)host,
                                     .passthrough = "TZ,HERMES_TIMEZONE"};

    ck_assert_str_eq(build(&request), "TZ=Europe/Berlin|" PYTHON_VARIABLES);
    ck_assert_str_eq(build_from(HERMES_ENV_SCRUB, blank), PYTHON_VARIABLES);
}
END_TEST

START_TEST(python_path_begins_with_ours)
{
    const char *host[] = {"PYTHONPATH=/mine::/b", NULL}, *empty[] = {"PYTHONPATH=", NULL};
    const char *const set[] = {"PYTHONPATH", "/set", NULL};
    struct hr_env_request request = {
        .policy = HERMES_ENV_INHERIT, .host = (char *const *)host, .pythonpath_first = "/staging"};

    ck_assert_str_eq(build(&request), "PYTHONPATH=/staging:/mine::/b");
    request.set = set;
    ck_assert_str_eq(build(&request), "PYTHONPATH=/staging:/set");
    request.set = NULL;
    request.host = (char *const *)empty; /* an empty item would be the current directory */
    ck_assert_str_eq(build(&request), "PYTHONPATH=/staging");
    request.host = NULL;
    ck_assert_str_eq(build(&request), "PYTHONPATH=/staging");
}
END_TEST

START_TEST(delegated_child_has_no_identity)
{
    const char *host[] = {"HERMES_KANBAN_TASK=t", "HERMES_KANBAN_DB=/d", "PATH=p", NULL};
    const char *const set[] = {"HERMES_KANBAN_RUN_ID", "7", NULL};
    struct hr_env_request request = {.policy = HERMES_ENV_INHERIT,
                                     .host = (char *const *)host,
                                     .passthrough = "HERMES_KANBAN_TASK",
                                     .set = set,
                                     .delegated_child = true};

    ck_assert_str_eq(build(&request), "PATH=p|HERMES_DELEGATED_CHILD_CONTEXT=1");
    request.policy = HERMES_ENV_SCRUB;
    ck_assert_str_eq(build(&request),
                     "PATH=p|" PYTHON_VARIABLES "|HERMES_DELEGATED_CHILD_CONTEXT=1");
}
END_TEST

START_TEST(explains_names_sorted_and_never_values)
{
    const char *host[] = {"PATH=sesame",       "HTTP_PROXY=sesame", "HOME=sesame", "API_KEY=sesame",
                          "A_\"\\\x01=sesame", "PATHB=sesame",      NULL};
    struct hr_env_request request = {.policy = HERMES_ENV_SCRUB, .host = (char *const *)host};

    expect_explained(&request,
                     "{\"kept\":[\"HOME\",\"PATH\",\"PATHB\"],"
                     "\"set\":[\"PYTHONDONTWRITEBYTECODE\",\"PYTHONIOENCODING\",\"PYTHONUTF8\"],"
                     "\"dropped\":[\"API_KEY\",\"A_\\\"\\\\\\u0001\",\"HTTP_PROXY\"]}");
    request.passthrough = "HTTP_PROXY";
    request.set = (const char *const[]){"HOME", "/h", "PATHB", NULL, NULL};
    expect_explained(
        &request,
        "{\"kept\":[\"HTTP_PROXY\",\"PATH\"],"
        "\"set\":[\"HOME\",\"PYTHONDONTWRITEBYTECODE\",\"PYTHONIOENCODING\",\"PYTHONUTF8\"],"
        "\"dropped\":[\"API_KEY\",\"A_\\\"\\\\\\u0001\",\"PATHB\"]}");
    request = (struct hr_env_request){.policy = HERMES_ENV_INHERIT};
    expect_explained(&request, "{\"kept\":[],\"set\":[],\"dropped\":[]}");
}
END_TEST

START_TEST(large_environment_is_quick_and_whole)
{
    enum { COUNT = 20000 };
    char **host = calloc(COUNT + 1, sizeof *host), **block;
    char *texts = malloc(COUNT * 32);
    struct hr_env_request request = {.policy = HERMES_ENV_INHERIT, .host = host};
    int64_t start_ms = test_now_ms();
    size_t count = 0;

    ck_assert(host && texts);
    for (int i = 0; i < COUNT; i++) {
        host[i] = texts + (size_t)i * 32;
        snprintf(host[i], 32, "V%d=%d", i % (COUNT / 2), i);
    }
    block = hr_env_build(&request);
    ck_assert_ptr_nonnull(block);
    for (; block[count]; count++)
        ck_assert_str_eq(block[count], host[count]);
    ck_assert_uint_eq(count, COUNT / 2);
    ck_assert_int_lt(test_now_ms() - start_ms, test_scaled_ms(1000));
    hr_env_free(block);
    free(texts);
    free(host);
}
END_TEST

#ifdef HERMES_FAULT_INJECTION
START_TEST(every_failed_allocation_is_returned)
{
    const char *host[] = {"PATH=p", "HERMES_TIMEZONE=UTC", "X=1", NULL};
    const char *const set[] = {"A", "1", "PATH", "q", NULL};
    struct hr_env_request request = {.policy = HERMES_ENV_SCRUB,
                                     .host = (char *const *)host,
                                     .set = set,
                                     .pythonpath_first = "/s",
                                     .delegated_child = true};
    unsigned long n = 1;
    char **block = NULL, *text = NULL;

    for (; !block; n++) {
        hermes_fault_set(HR_FAULT_ALLOC, n);
        block = hr_env_build(&request);
    }
    ck_assert_uint_gt(n, 8);
    hr_env_free(block);
    for (n = 1; !text; n++) {
        hermes_fault_set(HR_FAULT_ALLOC, n);
        text = hr_env_explain(&request);
    }
    hermes_fault_set(HR_FAULT_ALLOC, 0);
    ck_assert_uint_gt(n, 8);
    hr_free(text);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("env");
    TCase *test_case = tcase_create("env");

    tcase_add_test(test_case, scrub_keeps_what_is_listed_and_nothing_else);
    tcase_add_test(test_case, scrub_decides_by_prefix_and_whole_name);
    tcase_add_test(test_case, passthrough_beats_the_rules);
    tcase_add_test(test_case, inherit_is_all_but_ours);
    tcase_add_test(test_case, odd_environments);
    tcase_add_test(test_case, first_of_a_double_name_decides_its_fate);
    tcase_add_test(test_case, set_comes_after_the_scrub);
    tcase_add_test(test_case, time_zone_is_translated);
    tcase_add_test(test_case, python_path_begins_with_ours);
    tcase_add_test(test_case, delegated_child_has_no_identity);
    tcase_add_test(test_case, explains_names_sorted_and_never_values);
    tcase_add_test(test_case, large_environment_is_quick_and_whole);
#ifdef HERMES_FAULT_INJECTION
    tcase_add_test(test_case, every_failed_allocation_is_returned);
#endif
    suite_add_tcase(suite, test_case);
    return test_run(suite);
}
