/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tui-testlib.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct terminal *tui;
static struct test_processes *before;

void tui_start(const char *const *arguments, int rows, int columns, const char *const *environment)
{
    static char home[4096];
    const char *argv[32] = {test_build_path("hermes-repl"), "--python", test_python()};
    const char *all[32] = {home,     "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME",
                           "EDITOR", "VISUAL",          "PAGER"};
    size_t n = 3, m = 7;
    snprintf(home, sizeof(home), "HOME=%s", test_directory());
    for (size_t i = 0; arguments && arguments[i]; i++)
        argv[n++] = arguments[i];
    for (size_t i = 0; environment && environment[i]; i++)
        all[m++] = environment[i];
    before = test_processes_take();
    tui = terminal_start(argv, rows, columns, all);
}

void tui_stop(void)
{
    terminal_stop(tui);
    tui = NULL;
    test_processes_check(before, 10000);
    before = NULL;
}

void tui_setup(void)
{
    tui_start(NULL, 24, 80, NULL);
    terminal_wait_text(tui, ">>>");
}

void tui_teardown(void)
{
    if (!tui)
        return;
    terminal_keys(tui, "\034"); /* C-\ */
    int status = terminal_wait_exit(tui);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "it ended with wait status %#x",
                  (unsigned)status);
    ck_assert(terminal_has_bytes(tui, "\033[?1049l"));
    tui_stop();
}

void tui_enter(const char *line)
{
    terminal_keys(tui, line);
    terminal_keys(tui, "\r");
}

static bool is_over(int number)
{
    char mark[16];
    snprintf(mark, sizeof(mark), "[%d]", number);
    for (int row = 0; row < terminal_rows(tui); row++) {
        const char *text = terminal_row(tui, row);
        if (strstr(text, mark) == text &&
            (strstr(text, "✓") || strstr(text, "✗") || strstr(text, "⊘")))
            return true;
    }
    return false;
}

void tui_run(const char *line, int number)
{
    tui_enter(line);
    terminal_wait(tui, is_over(number));
}

bool tui_has_module(const char *name)
{
    char line[128];
    snprintf(line, sizeof(line),
             "import importlib.util as u; print('it is', u.find_spec('%s') is not None)", name);
    tui_run(line, 1);
    terminal_wait(tui, terminal_find(tui, "     it is ") >= 0);
    bool there = terminal_find(tui, "     it is True") >= 0;
    if (!there)
        fprintf(stderr, "left out: %s has no %s\n", test_python(), name);
    return there;
}

int tui_status_row(void)
{
    return terminal_rows(tui) - 1;
}

void tui_wait_status(const char *text)
{
    terminal_wait(tui, strstr(terminal_row(tui, tui_status_row()), text) != NULL);
}

TCase *tui_test_case(Suite *suite, const char *name)
{
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, tui_setup, tui_teardown);
    tcase_set_timeout(tests, 120);
    suite_add_tcase(suite, tests);
    return tests;
}
