/* SPDX-License-Identifier: MIT */
/*
 * Who may run which tool: policies, how they add up, grants, the question, names of tools; and how
 * they arrive from command line and file.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "approval.h"
#include "cli.h"
#include "testlib.h"
#include "tool-list.h"

static struct tool_settings tools;
static struct approval approval;
static struct strbuf error;
static int asked;
static enum approval_answer answer;

static enum approval_answer ask(const struct approval_question *question, void *context)
{
    ck_assert_ptr_eq(context, &asked);
    ck_assert_str_eq(question->arguments, "{\"x\":1}");
    asked++;
    return answer;
}

static void configure(const char *text)
{
    struct json_span value;
    ck_assert_msg(json_check(text, strlen(text), &value, &error), "%s", strbuf_text(&error));
    tool_settings_load(&tools, value, &error);
    ck_assert_str_eq(strbuf_text(&error), "");
}

static void set_up(void)
{
    tool_settings_init(&tools);
    approval_init(&approval, &tools);
    asked = 0;
    answer = APPROVAL_NO;
}

static void tear_down(void)
{
    approval_free(&approval);
    tool_settings_free(&tools);
    strbuf_free(&error);
}

static void somebody_there(void)
{
    approval.ask = ask;
    approval.ask_context = &asked;
}

static enum approval_verdict check(const char *session, const char *tool)
{
    const struct approval_question question = {session, tool, "{\"x\":1}", 1, 2};
    strbuf_clear(&error);
    return approval_check(&approval, &question, &error);
}

static void set(const char *policy)
{
    ck_assert_msg(approval_set(&approval, policy, &error), "%s", strbuf_text(&error));
}

static void ck_policy(const char *want)
{
    struct strbuf text = STRBUF_INIT;
    approval_describe(&approval, &text);
    ck_assert_str_eq(strbuf_text(&text), want);
    strbuf_free(&text);
}

/* ---- policies ------------------------------------------------------------------------------ */

START_TEST(defaults)
{
    configure("{\"weather\": \"true\"}");
    static const char *const asked_for[] = {"terminal",   "write_file", "patch",
                                            "web_search", "weather",    "unheard_of"};
    for (size_t i = 0; i < sizeof asked_for / sizeof *asked_for; i++)
        ck_assert_int_eq(approval_policy_of(&approval, asked_for[i]), APPROVAL_ASK);
    ck_assert_int_eq(approval_policy_of(&approval, "read_file"), APPROVAL_ALLOW);
    ck_assert_int_eq(approval_policy_of(&approval, "search_files"), APPROVAL_ALLOW);
}
END_TEST

START_TEST(policies)
{
    configure("{\"weather\": \"true\"}");
    set("");
    ck_policy("");
    set(" terminal = allow ,weather=deny,");
    ck_policy("terminal=allow,weather=deny");
    ck_assert_int_eq(approval_policy_of(&approval, "terminal"), APPROVAL_ALLOW);
    ck_assert_int_eq(approval_policy_of(&approval, "weather"), APPROVAL_DENY);
    ck_assert_int_eq(approval_policy_of(&approval, "patch"), APPROVAL_ASK);
    set("terminal=ask"); /* over the earlier one, the other stays */
    ck_policy("terminal=ask,weather=deny");
    set("read_file=allow,deny"); /* for all but the one, whatever the order; what was before is gone */
    ck_policy("deny,read_file=allow");
    ck_assert_int_eq(approval_policy_of(&approval, "read_file"), APPROVAL_ALLOW);
    ck_assert_int_eq(approval_policy_of(&approval, "search_files"), APPROVAL_DENY);
    set("all=allow");
    ck_policy("allow");
    ck_assert_int_eq(approval_policy_of(&approval, "weather"), APPROVAL_ALLOW);
}
END_TEST

START_TEST(bad_policies)
{
    static const struct {
        const char *policy, *want;
    } rows[] = {
        {"alow", "'alow' is neither ask, allow or deny"},
        {"terminal", "terminal=allow"},
        {"terminal=", "'' for terminal is not one of ask, allow and deny"},
        {"terminal=yes", "'yes' for terminal is not one of"},
        {"patch=allow,terminl=allow",
         "no tool 'terminl'; known: web_search, web_extract, read_file, write_file, "
         "search_files, patch, terminal, weather"},
        {"=allow", "no tool ''"},
        {"allow deny", "'allow deny' is neither"},
    };
    configure("{\"weather\": \"true\"}");
    set("terminal=deny");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        strbuf_clear(&error);
        ck_assert(!approval_set(&approval, rows[i].policy, &error));
        ck_assert_msg(strstr(strbuf_text(&error), rows[i].want) != NULL, "%s", strbuf_text(&error));
        ck_policy("terminal=deny");
    }
}
END_TEST

/* ---- calls --------------------------------------------------------------------------------- */

START_TEST(nobody_there)
{
    approval.nobody = "this is a test";
    ck_assert_int_eq(check("s", "read_file"), APPROVAL_GO);
    ck_assert_int_eq(check("s", "terminal"), APPROVAL_REFUSED);
    ck_assert_str_eq(strbuf_text(&error),
                     "terminal was denied: it needs approval, and this is a test; the option "
                     "--approve terminal=allow allows it");
    set("terminal=allow,patch=deny");
    ck_assert_int_eq(check("s", "terminal"), APPROVAL_GO);
    ck_assert_int_eq(check("s", "patch"), APPROVAL_REFUSED);
    ck_assert_str_eq(strbuf_text(&error),
                     "patch was denied: the policy \"approve\" says patch=deny");
    set("deny");
    ck_assert_int_eq(check("s", "read_file"), APPROVAL_REFUSED);
    ck_assert_str_eq(strbuf_text(&error), "read_file was denied: the policy \"approve\" says deny");
}
END_TEST

START_TEST(questions)
{
    somebody_there();
    ck_assert_int_eq(check("s", "terminal"), APPROVAL_REFUSED);
    ck_assert_str_eq(strbuf_text(&error), "terminal was denied by the user");
    answer = APPROVAL_ONCE;
    ck_assert_int_eq(check("s", "terminal"), APPROVAL_GO);
    ck_assert_int_eq(check("s", "terminal"), APPROVAL_GO);
    ck_assert_int_eq(asked, 3); /* once is not stored */
    ck_assert_int_eq(check("s", "read_file"), APPROVAL_GO);
    set("terminal=deny,patch=allow");
    ck_assert_int_eq(check("s", "terminal"), APPROVAL_REFUSED);
    ck_assert_int_eq(check("s", "patch"), APPROVAL_GO);
    ck_assert_int_eq(asked, 3); /* policies that decide ask nobody */
}
END_TEST

START_TEST(grants)
{
    somebody_there();
    answer = APPROVAL_SESSION;
    ck_assert_int_eq(check("a", "terminal"), APPROVAL_GO);
    ck_assert_int_eq(check("a", "patch"), APPROVAL_GO);
    ck_assert_int_eq(check("b", "terminal"), APPROVAL_GO);
    ck_assert_int_eq(asked, 3);
    answer = APPROVAL_NO;
    ck_assert_int_eq(check("a", "terminal"), APPROVAL_GO);
    ck_assert_int_eq(check("b", "patch"), APPROVAL_REFUSED); /* of this session, for this tool */
    ck_assert_int_eq(check("a", "write_file"), APPROVAL_REFUSED);
    set("terminal=deny"); /* the policy comes first */
    ck_assert_int_eq(check("a", "terminal"), APPROVAL_REFUSED);
    set("terminal=ask");
    ck_assert_int_eq(check("a", "terminal"), APPROVAL_GO);
    approval.ask = NULL; /* whoever granted it has left */
    ck_assert_int_eq(check("a", "terminal"), APPROVAL_REFUSED);
    somebody_there();
    approval_forget(&approval, "a");
    approval_forget(&approval, "nobody");
    ck_assert_int_eq(check("a", "terminal"), APPROVAL_REFUSED);
    ck_assert_int_eq(check("a", "patch"), APPROVAL_REFUSED);
    ck_assert_int_eq(check("b", "terminal"), APPROVAL_GO);
}
END_TEST

START_TEST(later_answers)
{
    const struct approval_question question = {"s", "terminal", "{\"x\":1}", 1, 2};
    somebody_there();
    answer = APPROVAL_LATER;
    ck_assert_int_eq(check("s", "terminal"), APPROVAL_WAITS);
    ck_assert_int_eq(approval_settle(&approval, &question, APPROVAL_NO, &error), APPROVAL_REFUSED);
    ck_assert_int_eq(approval_settle(&approval, &question, APPROVAL_ONCE, &error), APPROVAL_GO);
    ck_assert_int_eq(check("s", "terminal"), APPROVAL_WAITS);
    ck_assert_int_eq(approval_settle(&approval, &question, APPROVAL_SESSION, &error), APPROVAL_GO);
    ck_assert_int_eq(approval_settle(&approval, &question, APPROVAL_SESSION, &error), APPROVAL_GO);
    ck_assert_uint_eq(approval.grant_count, 1);
    ck_assert_int_eq(check("s", "terminal"), APPROVAL_GO);
}
END_TEST

/* ---- names --------------------------------------------------------------------------------- */

static void ck_list(const char *list, const char *want)
{
    const char **names = tool_list_parse(&tools, list, &error);
    struct strbuf text = STRBUF_INIT;
    ck_assert_msg(names != NULL, "%s", strbuf_text(&error));
    for (const char **name = names; *name; name++)
        strbuf_addf(&text, "%s ", *name);
    ck_assert_str_eq(strbuf_text(&text), want);
    strbuf_free(&text);
    free(names);
}

START_TEST(lists)
{
    configure("{\"weather\": \"true\", \"web_search\": \"true\"}");
    ck_list("", "");
    ck_list(" , ", "");
    ck_list("terminal", "terminal ");
    ck_list("patch, weather terminal,patch,", "patch weather terminal ");
    ck_list("all",
            "web_search web_extract read_file write_file search_files patch terminal weather ");
    ck_list("weather,all,patch",
            "weather web_search web_extract read_file write_file search_files patch terminal ");
    ck_assert_ptr_null(tool_list_parse(&tools, "patch,wether", &error));
    ck_assert_str_eq(strbuf_text(&error),
                     "there is no tool 'wether'; known: web_search, web_extract, read_file, "
                     "write_file, search_files, patch, terminal, weather");
}
END_TEST

/* ---- options ------------------------------------------------------------------------------- */

START_TEST(options_add_up)
{
    static const char file[] =
        "{\"tools\": [\"weather\", \"patch\"],"
        " \"approve\": {\"terminal\": \"allow\", \"patch\": \"alow\", \"wether\": \"ask\","
        "               \"weather\": \"deny\", \"read_file\": 1},"
        " \"tool_commands\": {\"weather\": \"true\", \"patch\": \"true\", \"all\": \"true\"}}";
    static char *environment[] = {(char *)"HERMES_REPL_APPROVE=write_file=deny",
                                  (char *)"HERMES_REPL_TOOL_COMMANDS={}", NULL};
    char *argv[] = {(char *)"hermes-repl",           (char *)"--approve", (char *)"weather=ask",
                    (char *)"--approve=patch=allow", (char *)"--tools",   (char *)"all"};
    struct settings settings;
    struct cli cli = {.words = NULL};
    settings_init(&settings, NULL);
    ck_assert_msg(settings_load_json(&settings, "file", file, sizeof file - 1, &error), "%s",
                  strbuf_text(&error));
    ck_assert_str_eq(settings_text(&settings, CLI_TOOLS), "weather,patch");
    ck_assert_str_eq(settings_text(&settings, CLI_TOOL_COMMANDS), "weather");
    ck_assert_str_eq(settings_text(&settings, CLI_APPROVE), "terminal=allow,weather=deny");
    settings_load_environment(&settings, environment);
    const char *warnings = strbuf_text(&settings.warnings);
    ck_assert_ptr_nonnull(strstr(warnings, "file:1: tool_commands: patch is built in"));
    ck_assert_ptr_nonnull(strstr(warnings, "file:1: tool_commands: all has a meaning of its own"));
    ck_assert_ptr_nonnull(strstr(warnings, "file:1: approve: 'alow' for patch is not one of"));
    ck_assert_ptr_nonnull(strstr(warnings, "file:1: approve: there is no tool 'wether'; known: "));
    ck_assert_ptr_nonnull(strstr(warnings, "file:1: approve: '' for read_file is not one of"));
    ck_assert_ptr_nonnull(
        strstr(warnings, "HERMES_REPL_TOOL_COMMANDS: only the configuration file can have it"));
    ck_assert(cli_parse(&cli, &settings, 6, argv, &error) && cli_apply(&cli, &settings, &error));
    ck_assert_str_eq(settings_text(&settings, CLI_APPROVE),
                     "terminal=allow,weather=ask,write_file=deny,patch=allow");
    ck_assert_str_eq(settings_text(&settings, CLI_TOOLS), "all");
    cli_free(&cli);
    settings_free(&settings);
}
END_TEST

START_TEST(options_refused)
{
    static const char file[] =
        "{\"tools\": \"terminal,pitch\", \"approve\": \"perhaps\", \"tool_commands\": []}";
    static const char *const rows[][3] = {
        {"--tools", "pitch", "--tools: there is no tool 'pitch'; known: web_search, "},
        {"--approve", "pitch=allow", "--approve: there is no tool 'pitch'; known: web_search, "},
        {"--approve", "perhaps", "--approve: 'perhaps' is neither ask, allow or deny"},
        {"--tool-commands", "{}", "unknown option --tool-commands"},
    };
    struct settings settings;
    settings_init(&settings, NULL);
    ck_assert(settings_load_json(&settings, "file", file, sizeof file - 1, &error));
    ck_assert_str_eq(settings_text(&settings, CLI_TOOLS), "");
    ck_assert_str_eq(settings_text(&settings, CLI_APPROVE), "");
    const char *warnings = strbuf_text(&settings.warnings);
    ck_assert_ptr_nonnull(
        strstr(warnings, "file:1: tools: there is no tool 'pitch'; known: web_search, "));
    ck_assert_ptr_nonnull(strstr(warnings, "file:1: approve: 'perhaps' is neither"));
    ck_assert_ptr_nonnull(strstr(warnings, "file:1: tool_commands: no object"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *argv[] = {(char *)"hermes-repl", (char *)rows[i][0], (char *)rows[i][1]};
        struct cli cli = {.words = NULL};
        strbuf_clear(&error);
        ck_assert(!cli_parse(&cli, &settings, 3, argv, &error) ||
                  !cli_apply(&cli, &settings, &error));
        ck_assert_msg(strncmp(strbuf_text(&error), rows[i][2], strlen(rows[i][2])) == 0, "%s",
                      strbuf_text(&error));
        cli_free(&cli);
    }
    settings_free(&settings);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("approval");
    TCase *tests = tcase_create("approval");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, defaults);
    tcase_add_test(tests, policies);
    tcase_add_test(tests, bad_policies);
    tcase_add_test(tests, nobody_there);
    tcase_add_test(tests, questions);
    tcase_add_test(tests, grants);
    tcase_add_test(tests, later_answers);
    tcase_add_test(tests, lists);
    tcase_add_test(tests, options_add_up);
    tcase_add_test(tests, options_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
