/* SPDX-License-Identifier: MIT */
/*
 * Tools by configuration, with real commands, and the configuration itself.
 */
#include "config.h"

#include <unistd.h>

#include "tool-testlib.h"

static struct strbuf warnings;

static void configure(const char *json)
{
    struct json_span value;
    struct strbuf error = STRBUF_INIT, text = STRBUF_INIT;
    strbuf_adds(&text, json);
    for (size_t i = 0; i < text.size; i++)
        text.data[i] = text.data[i] == '\'' ? '"' : text.data[i];
    ck_assert_msg(json_check(strbuf_text(&text), text.size, &value, &error), "%s",
                  strbuf_text(&error));
    strbuf_clear(&warnings);
    tool_settings_load(&test_settings, value, &warnings);
    strbuf_free(&text);
}

static void ck_warning(const char *json, const char *part)
{
    configure(json);
    ck_assert_msg(strstr(strbuf_text(&warnings), part), "not \"%s\" in: %s", part,
                  strbuf_text(&warnings));
}

START_TEST(settings)
{
    struct tool tool;
    configure("{'weather': 'true', 'web_search': {'command': ['true', 'x'], 'timeout': 1.5, "
              "'max_bytes': 10,"
              " 'env': {'A': 'b'}, 'signature': 'query', 'help': 'Look.'}}");
    ck_assert_uint_eq(warnings.size, 0);
    const struct tool_command *command = tool_settings_command(&test_settings, "web_search");
    ck_assert_int_eq(command->timeout_ms, 1500);
    ck_assert_uint_eq(command->max_bytes, 10);
    ck_assert_str_eq(command->environment[0], "A=b");
    ck_assert(tool_find(&test_settings, "web_search", &tool));
    ck_assert_str_eq(tool.signature, "web_search(query)");
    ck_assert_str_eq(tool.help, "Look.");
    ck_assert(tool_find(&test_settings, "weather", &tool));
    ck_assert_str_eq(tool.signature, "weather(**arguments)");
    ck_assert(tool.changes_things);
    ck_assert_int_eq(tool_settings_command(&test_settings, "weather")->timeout_ms, 60000);
    configure("{'weather': 'false'}"); /* the last one counts */
    ck_assert_uint_eq(test_settings.count, 2);
    ck_assert_str_eq(tool_settings_command(&test_settings, "weather")->argv[2], "false");
}
END_TEST

START_TEST(bad_settings)
{
    ck_warning("[]", "no object of tools");
    ck_warning("{'two words': 'x'}", "\"two words\" is no name of a Python function");
    ck_warning("{'terminal': 'x'}", "terminal is built in");
    ck_warning("{'x': 7}", "x: neither a command nor an object with one");
    ck_warning("{'x': ''}", "neither a command");
    ck_warning("{'x': []}", "neither a command");
    ck_warning("{'x': {}}", "there is no \"command\"");
    ck_warning("{'x': {'command': ['a', 1]}}", "\"command\" is neither");
    ck_warning("{'x': {'command': 'a', 'timeout': 0}}", "\"timeout\" is no number of seconds");
    ck_warning("{'x': {'command': 'a', 'timeout': 'soon'}}", "\"timeout\" is no number of seconds");
    ck_warning("{'x': {'command': 'a', 'max_bytes': 1e12}}", "\"max_bytes\" is no number");
    ck_warning("{'x': {'command': 'a', 'env': {'A': 1}}}", "\"env\" is no object");
    ck_warning("{'x': {'command': 'a', 'env': {'A=': 'b'}}}", "\"env\" is no object");
    ck_warning("{'x': {'command': 'a', 'colour': 1}}", "\"colour\" is unknown (command, timeout");
    ck_assert_uint_eq(test_settings.count, 0);
}
END_TEST

START_TEST(not_configured)
{
    setenv("XDG_CONFIG_HOME", "/somewhere", 1);
    call("web_search", "{'query': 'x'}");
    ck_error("web_search is not configured: add \"tool_commands\": {\"web_search\":");
    ck_error("to /somewhere/hermes-repl/config.json");
    test_settings.path = strdup("/etc/mine.json");
    call("web_extract", "{'urls': ['x']}");
    ck_error("to /etc/mine.json");
    test_context.settings = NULL;
    call("web_search", "{}");
    ck_error("web_search is not configured");
}
END_TEST

START_TEST(arguments_in_answer_out)
{
    configure("{'same': 'cat'}");
    /* As it came: big numbers and all. */
    cJSON *answer =
        call("same", "{'n': 12345678901234567890, 's': '\xE2\x82\xAC', 'd': {'x': [true, null]}}");
    ck_assert_str_eq(text_of(answer, "s"), "\xE2\x82\xAC");
    struct strbuf result = STRBUF_INIT;
    const char exact[] = "{\"n\": 12345678901234567890, \"f\": 3.0}";
    tool_call(&test_context, "same", exact, sizeof exact - 1, &result);
    ck_assert_str_eq(strbuf_text(&result), exact);
    strbuf_free(&result);
    answer = call("same", "{}");
    ck_assert_int_eq(cJSON_GetArraySize(answer), 0);
    call_json("same", "");
    ck_assert_int_eq(cJSON_GetArraySize(test_answer), 0);
}
END_TEST

START_TEST(answers)
{
    configure(
        "{'list': 'echo; echo [1, 2]',"
        " 'env': {'command': 'echo {\\\\\\\"v\\\\\\\": \\\\\\\"$V\\\\\\\"}', 'env': {'V': 'set'}},"
        " 'words': ['echo', '[\\u0022a b\\u0022]'], 'bom': 'printf "
        "\\u0022\\\\357\\\\273\\\\277{}\\u0022'}");
    ck_assert_msg(!warnings.size, "%s", strbuf_text(&warnings));
    cJSON *answer = call("list", "{}");
    ck_assert_int_eq(cJSON_GetArraySize(member(answer, "result")), 2);
    answer = call("env", "{}");
    ck_assert_str_eq(text_of(answer, "v"), "set");
    answer = call("words", "{}");
    ck_assert_str_eq(cJSON_GetArrayItem(member(answer, "result"), 0)->valuestring, "a b");
    answer = call("bom", "{}");
    ck_assert_int_eq(cJSON_GetArraySize(answer), 0);
}
END_TEST

START_TEST(where_it_runs)
{
    configure("{'here': 'pwd | sed s/.*/[7]/ >here; cat here'}");
    cJSON *answer = call("here", "{}");
    ck_assert_ptr_nonnull(member(answer, "result"));
    ck_file("here", "[7]\n");
}
END_TEST

START_TEST(failures)
{
    configure("{'status': 'seq 1 5000 >&2; echo the reason >&2; exit 3', 'quiet': 'exit 4', "
              "'killed': 'kill -9 $$',"
              " 'words': 'echo no JSON', 'two': 'echo {} {}', 'none': 'true', 'missing': "
              "['no-such-program'],"
              " 'gone': ['/nowhere/program'], 'big': {'command': 'yes', 'max_bytes': 1000},"
              " 'fits': {'command': 'echo {}; sleep 0', 'max_bytes': 3},"
              " 'over': {'command': 'echo {}', 'max_bytes': 2},"
              " 'slow': {'command': 'echo {}; sleep 100', 'timeout': 0.2},"
              " 'latin': 'printf \\u0022\\\\042\\\\377\\\\042\\u0022'}");
    ck_assert_msg(!warnings.size, "%s", strbuf_text(&warnings));
    static const char *const rows[][2] = {
        {"status", "status: the command failed with exit status 3: the reason"},
        {"quiet", "quiet: the command failed with exit status 4"},
        {"killed", "killed: the command was killed by signal 9"},
        {"words", "words: the command's answer is not JSON: "},
        {"two", "two: the command's answer is not JSON: "},
        {"latin", "latin: the command's answer is not JSON: "},
        {"none", "none: the command answered nothing"},
        {"missing", "cannot start no-such-program: no such program on PATH"},
        {"gone", "cannot start /nowhere/program: No such file or directory"},
        {"big", "big: the command's answer is bigger than max_bytes, 1000 bytes"},
        {"over", "over: the command's answer is bigger than max_bytes, 2 bytes"},
        {"slow", "slow: the command timed out after 0.2 s and was killed"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        call(rows[i][0], "{}");
        ck_error(rows[i][1]);
    }
    call("fits", "{}");
    ck_no_error();
}
END_TEST

/* More than a pipe holds, to a command that does not read it. */
START_TEST(much_input)
{
    configure("{'deaf': 'echo {}', 'size': 'wc -c'}");
    struct strbuf arguments = STRBUF_INIT;
    strbuf_adds(&arguments, "{\"x\": \"");
    for (int i = 0; i < 300000; i++)
        strbuf_addc(&arguments, 'x');
    strbuf_adds(&arguments, "\"}");
    call_json("deaf", strbuf_text(&arguments));
    ck_no_error();
    call_json("size", strbuf_text(&arguments));
    ck_assert_int_eq(number_of(test_answer, "result"), 300009);
    strbuf_free(&arguments);
}
END_TEST

static void teardown(void)
{
    strbuf_free(&warnings);
}

int main(void)
{
    Suite *suite = suite_create("tool_command");
    TCase *tests = tool_test_case(suite, "command");
    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, settings);
    tcase_add_test(tests, bad_settings);
    tcase_add_test(tests, not_configured);
    tcase_add_test(tests, arguments_in_answer_out);
    tcase_add_test(tests, answers);
    tcase_add_test(tests, where_it_runs);
    tcase_add_test(tests, failures);
    tcase_add_test(tests, much_input);
    return test_run(suite);
}
