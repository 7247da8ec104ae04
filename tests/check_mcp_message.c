/* SPDX-License-Identifier: MIT */
/*
 * The server's side of MCP without processes: lines out of portions, messages out of lines,
 * arguments of tools, output as plain text and as progress notifications.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp-message.h"
#include "mcp-progress.h"
#include "mcp-tools.h"
#include "testlib.h"

static struct json_span span(const char *text)
{
    return (struct json_span){text, strlen(text)};
}

static bool is(struct json_span value, const char *text)
{
    return value.size == strlen(text) &&
           (!value.size || memcmp(value.start, text, value.size) == 0);
}

/* ---- lines ---------------------------------------------------------------------------------- */

static void expect_line(struct mcp_lines *lines, const char *text)
{
    struct json_span line;
    ck_assert_int_eq(mcp_lines_next(lines, &line), MCP_LINE);
    ck_assert_msg(is(line, text), "'%.*s' instead of '%s'", (int)line.size, line.start, text);
}

START_TEST(lines_come_whole_however_they_are_cut)
{
    static const char text[] = "{\"a\":1}\n\n \r\n{\"b\":2}\r\nlast";
    for (size_t portion = 1; portion <= sizeof text; portion++) {
        struct mcp_lines lines = MCP_LINES_INIT(100);
        struct json_span line;
        char got[100] = "";
        for (size_t at = 0; at < sizeof text - 1; at += portion) {
            size_t size = sizeof text - 1 - at < portion ? sizeof text - 1 - at : portion;
            mcp_lines_add(&lines, text + at, size);
            while (mcp_lines_next(&lines, &line) == MCP_LINE) {
                strncat(got, line.start, line.size);
                strcat(got, "|");
            }
        }
        ck_assert_str_eq(got, "{\"a\":1}|{\"b\":2}\r|");
        mcp_lines_end(&lines);
        expect_line(&lines, "last");
        ck_assert_int_eq(mcp_lines_next(&lines, &line), MCP_LINE_NONE);
        mcp_lines_free(&lines);
    }
}
END_TEST

START_TEST(a_long_line_is_told_once_and_skipped)
{
    static const char text[] = "12345678\n123456789\n1234567890123456789012345\nnext\n";
    for (size_t portion = 1; portion <= sizeof text; portion++) {
        struct mcp_lines lines = MCP_LINES_INIT(8);
        struct json_span line;
        int good = 0, bad = 0;
        for (size_t at = 0; at < sizeof text - 1; at += portion) {
            size_t size = sizeof text - 1 - at < portion ? sizeof text - 1 - at : portion;
            mcp_lines_add(&lines, text + at, size);
            for (enum mcp_line kind; (kind = mcp_lines_next(&lines, &line)) != MCP_LINE_NONE;) {
                if (kind == MCP_LINE)
                    ck_assert(is(line, good++ ? "next" : "12345678"));
                else
                    bad++;
            }
            ck_assert_uint_le(lines.held.size, portion + 9);
        }
        ck_assert_int_eq(good, 2);
        ck_assert_int_eq(bad, 2);
        mcp_lines_free(&lines);
    }
}
END_TEST

START_TEST(a_large_buffer_is_given_back)
{
    struct mcp_lines lines = MCP_LINES_INIT(MCP_LINE_MAX);
    struct json_span line;
    size_t size = 3 << 20;
    char *text = malloc(size);
    ck_assert_ptr_nonnull(text);
    memset(text, 'x', size);
    text[size - 1] = '\n';
    mcp_lines_add(&lines, text, size);
    ck_assert_int_eq(mcp_lines_next(&lines, &line), MCP_LINE);
    ck_assert_uint_eq(line.size, size - 1);
    mcp_lines_add(&lines, "{}\n", 3);
    expect_line(&lines, "{}");
    ck_assert_uint_lt(lines.held.capacity, 1 << 20);
    mcp_lines_free(&lines);
    free(text);
}
END_TEST

/* ---- messages ------------------------------------------------------------------------------- */

static const struct {
    const char *line;
    enum mcp_kind kind;
    int code;
    const char *id, *params;
} messages[] = {
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}", MCP_REQUEST, 0, "1", ""},
    {" {\"method\":\"a\", \"params\":{\"x\":[]}, \"id\":\"q\\n\", \"jsonrpc\":\"2.0\"}\r",
     MCP_REQUEST, 0, "\"q\\n\"", "{\"x\":[]}"},
    {"{\"jsonrpc\":\"2.0\",\"id\":-9007199254740993,\"method\":\"a\"}", MCP_REQUEST, 0,
     "-9007199254740993", ""},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"a\"}", MCP_NOTIFICATION, 0, "", ""},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":[1]}", MCP_NOTIFICATION, 0, "", ""},
    {"{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}", MCP_RESPONSE, 0, "4", ""},
    {"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}", MCP_RESPONSE, 0, "", ""},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":[1]}", MCP_INVALID, MCP_BAD_PARAMS,
     "1", ""},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":null}", MCP_INVALID, MCP_BAD_PARAMS,
     "1", ""},
    {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"a\"}", MCP_INVALID, MCP_INVALID_REQUEST, "",
     ""},
    {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"a\"}", MCP_INVALID, MCP_INVALID_REQUEST, "", ""},
    {"{\"jsonrpc\":\"2.0\",\"id\":1e3,\"method\":\"a\"}", MCP_INVALID, MCP_INVALID_REQUEST, "", ""},
    {"{\"jsonrpc\":\"2.0\",\"id\":NaN,\"method\":\"a\"}", MCP_INVALID, MCP_INVALID_REQUEST, "", ""},
    {"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"a\"}", MCP_INVALID, MCP_INVALID_REQUEST, "", ""},
    {"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"a\"}", MCP_INVALID, MCP_INVALID_REQUEST, "",
     ""},
    {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"a\"}", MCP_INVALID, MCP_INVALID_REQUEST, "1", ""},
    {"{\"id\":1,\"method\":\"a\"}", MCP_INVALID, MCP_INVALID_REQUEST, "1", ""},
    {"{\"jsonrpc\":\"2.0\",\"id\":1}", MCP_INVALID, MCP_INVALID_REQUEST, "1", ""},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", MCP_INVALID, MCP_INVALID_REQUEST, "1", ""},
    {"{}", MCP_INVALID, MCP_INVALID_REQUEST, "", ""},
    {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}]", MCP_INVALID, MCP_INVALID_REQUEST, "", ""},
    {"[]", MCP_INVALID, MCP_INVALID_REQUEST, "", ""},
    {"1", MCP_INVALID, MCP_INVALID_REQUEST, "", ""},
    {"{\"jsonrpc\":\"2.0\",", MCP_INVALID, MCP_PARSE_ERROR, "", ""},
    {"Content-Length: 12", MCP_INVALID, MCP_PARSE_ERROR, "", ""},
    {"{\"a\":\"\xff\"}", MCP_INVALID, MCP_PARSE_ERROR, "", ""},
    {"{} {}", MCP_INVALID, MCP_PARSE_ERROR, "", ""},
};

START_TEST(what_a_line_is)
{
    struct mcp_message message;
    mcp_message_read(span(messages[_i].line), &message);
    ck_assert_msg(message.kind == messages[_i].kind, "%s: kind %d", messages[_i].line,
                  (int)message.kind);
    ck_assert_int_eq(message.code, messages[_i].code);
    ck_assert_msg(is(message.id, messages[_i].id), "%s: another id", messages[_i].line);
    if (message.kind != MCP_INVALID)
        ck_assert_msg(is(message.params, messages[_i].params), "%s: other params",
                      messages[_i].line);
    ck_assert_int_eq(message.kind == MCP_INVALID, message.error.size > 0);
    ck_assert_ptr_null(strchr(strbuf_text(&message.error), '\n'));
    mcp_message_free(&message);
}
END_TEST

START_TEST(an_id_has_a_limit)
{
    struct strbuf line = STRBUF_INIT;
    struct mcp_message message;
    for (int over = 0; over < 2; over++) {
        strbuf_setf(&line, "{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"id\":\"%0*d\"}",
                    MCP_ID_MAX - 2 + over, 0);
        mcp_message_read((struct json_span){line.data, line.size}, &message);
        ck_assert_int_eq(message.kind, over ? MCP_INVALID : MCP_REQUEST);
        ck_assert_uint_eq(message.id.size, over ? 0 : MCP_ID_MAX);
        mcp_message_free(&message);
    }
    strbuf_free(&line);
}
END_TEST

START_TEST(ids_are_compared_by_value_and_kind)
{
    ck_assert(mcp_same_id(span("1"), span("1")));
    ck_assert(!mcp_same_id(span("1"), span("\"1\"")));
    ck_assert(mcp_same_id(span("\"\\u0061\""), span("\"a\"")));
    ck_assert(!mcp_same_id(span("\"\\u0000\""), span("\"\"")));
    ck_assert(!mcp_same_id(span("1"), span("10")));
}
END_TEST

START_TEST(answers_are_one_line)
{
    struct strbuf out = STRBUF_INIT, object = STRBUF_INIT;
    strbuf_adds(&object, "{\"x\":1}");
    mcp_add_result(&out, span("\"a\""), &object);
    mcp_add_error(&out, (struct json_span){NULL, 0}, MCP_PARSE_ERROR, "two\nlines \xff");
    mcp_add_notification(&out, "n/m", &object);
    ck_assert_str_eq(strbuf_text(&out),
                     "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"x\":1}}\n"
                     "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":"
                     "\"two\\nlines \xEF\xBF\xBD\"}}\n"
                     "{\"jsonrpc\":\"2.0\",\"method\":\"n/m\",\"params\":{\"x\":1}}\n");
    strbuf_free(&out);
    strbuf_free(&object);
}
END_TEST

/* ---- arguments ------------------------------------------------------------------------------ */

static const struct {
    const char *tool, *arguments;
    const char *error; /* a part of it; NULL: fine */
} rows[] = {
    {"execute_code", "{\"code\":\"1\"}", NULL},
    {"execute_code", "{\"code\":\"1\",\"reset\":null,\"session\":null,\"timeout\":null}", NULL},
    {"execute_code", "{\"code\":\"1\",\"reset\":true,\"session\":\"\xC3\xA4 b/c\",\"timeout\":1.5}",
     NULL},
    {"execute_code", "", "non-empty 'code' parameter"},
    {"execute_code", "{}", "Python source"},
    {"execute_code", "{\"code\":null}", "terminal(command=...)"},
    {"execute_code", "{\"code\":\"\"}", "non-empty 'code' parameter"},
    {"execute_code", "{\"code\":\" \\n\\t\"}", "non-empty 'code' parameter"},
    {"execute_code", "{\"command\":\"ls\"}", "'command' parameter"},
    {"execute_code", "{\"command\":\"ls\"}", "terminal(command=...)"},
    {"execute_code", "{\"command\":\"ls\"}", "execute_code(code=...)"},
    {"execute_code", "{\"code\":\"1\",\"command\":\"ls\"}",
     "has no 'command' parameter; it has: code, reset, session, timeout"},
    {"execute_code", "{\"code\":7}", "Python source as a string, not int"},
    {"execute_code", "{\"code\":7.5}", "not float"},
    {"execute_code", "{\"code\":[]}", "not list"},
    {"execute_code", "{\"code\":{\"a\":1}}", "not dict"},
    {"execute_code", "{\"code\":true}", "not bool"},
    {"execute_code", "{\"code\":\"1\",\"sesion\":\"a\"}", "no 'sesion' parameter"},
    {"execute_code", "{\"code\":\"1\",\"session\\u0000\":\"a\"}", "no 'session' parameter"},
    {"execute_code", "{\"code\":\"1\",\"session\":1}", "'session' must be a string, not int"},
    {"execute_code", "{\"code\":\"1\",\"session\":\"\"}", "'session' must be a name"},
    {"execute_code", "{\"code\":\"1\",\"session\":\"a::b\"}", "'session' must be a name"},
    {"execute_code", "{\"code\":\"1\",\"session\":\"a\\nb\"}", "'session' must be a name"},
    {"execute_code", "{\"code\":\"1\",\"session\":\"a\\u0000b\"}", "'session' must be a name"},
    {"execute_code", "{\"code\":\"1\",\"reset\":\"true\"}",
     "'reset' must be true or false, not str"},
    {"execute_code", "{\"code\":\"1\",\"reset\":1}", "not int"},
    {"execute_code", "{\"code\":\"1\",\"timeout\":\"5\"}",
     "'timeout' must be a number of seconds, not str"},
    {"execute_code", "{\"code\":\"1\",\"timeout\":0}", "greater than 0"},
    {"execute_code", "{\"code\":\"1\",\"timeout\":-1}", "greater than 0"},
    {"execute_code", "{\"code\":\"1\",\"timeout\":NaN}", "greater than 0"},
    {"execute_code", "{\"code\":\"1\",\"timeout\":1e300}", "greater than 0"},
    {"list_sessions", "", NULL},
    {"list_sessions", "{\"session\":\"a\"}", "it has: none"},
    {"clear_session", "{\"session\":\"a\"}", NULL},
    {"interrupt", "{}", NULL},
    {"interrupt", "{\"code\":\"1\"}", "no 'code' parameter; it has: session"},
};

static const struct mcp_tool *tool_named(const char *name)
{
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"%s\"", name);
    return mcp_tool_find(span(quoted));
}

START_TEST(what_arguments_may_be)
{
    struct mcp_arguments arguments;
    struct strbuf error = STRBUF_INIT;
    const struct mcp_tool *tool = tool_named(rows[_i].tool);
    ck_assert_ptr_nonnull(tool);
    bool good = mcp_arguments_read(tool, span(rows[_i].arguments), &arguments, &error);
    ck_assert_msg(good == !rows[_i].error, "%s: %s", rows[_i].arguments, strbuf_text(&error));
    if (good)
        ck_assert_ptr_nonnull(arguments.session);
    else
        ck_assert_msg(strstr(strbuf_text(&error), rows[_i].error) != NULL, "%s: %s",
                      rows[_i].arguments, strbuf_text(&error));
    mcp_arguments_free(&arguments);
    strbuf_free(&error);
}
END_TEST

START_TEST(arguments_arrive)
{
    struct mcp_arguments arguments;
    struct strbuf error = STRBUF_INIT;
    const struct mcp_tool *tool = tool_named("execute_code");
    const char *text = "{\"code\":\"a\\u0000b\",\"reset\":true,\"session\":\"s\",\"timeout\":1.5}";
    ck_assert(mcp_arguments_read(tool, span(text), &arguments, &error));
    ck_assert_uint_eq(arguments.code.size, 3);
    ck_assert_mem_eq(arguments.code.data, "a\0b", 4);
    ck_assert(arguments.reset);
    ck_assert_str_eq(arguments.session, "s");
    ck_assert_int_eq(arguments.timeout_ms, 1500);
    mcp_arguments_free(&arguments);
    ck_assert(
        mcp_arguments_read(tool, span("{\"code\":\"1\",\"timeout\":1e-9}"), &arguments, &error));
    ck_assert_str_eq(arguments.session, MCP_DEFAULT_SESSION);
    ck_assert_int_eq(arguments.timeout_ms, 1);
    mcp_arguments_free(&arguments);
}
END_TEST

START_TEST(the_list_of_tools_is_json)
{
    struct strbuf out = STRBUF_INIT, error = STRBUF_INIT;
    struct json_span value, tools, tool, schema, name;
    size_t count = 0;
    mcp_tools_list(&out, NULL, HERMES_MODE_PROJECT, NULL);
    ck_assert_msg(json_check(out.data, out.size, &value, &error), "%s", strbuf_text(&error));
    ck_assert(json_get(value, "tools", &tools));
    for (size_t position = 0; json_next_element(tools, &position, &tool); count++) {
        ck_assert(json_get(tool, "name", &name));
        ck_assert_ptr_eq(mcp_tool_find(name), &mcp_tool_table[count]);
        ck_assert(json_get(tool, "inputSchema", &schema));
        ck_assert_int_eq(json_kind_of(schema), JSON_OBJECT);
    }
    ck_assert_uint_eq(count, 4);
    strbuf_free(&out);
}
END_TEST

/* ---- progress ------------------------------------------------------------------------------- */

static const struct {
    const char *raw, *plain;
} streams[] = {
    {"plain\ttext\n", "plain\ttext\n"},
    {"\x1b[1;31mred\x1b[0m", "red"},
    {"\x1b]0;title\x07in\x1b]8;;x\x1b\\link", "inlink"},
    {"\x1b(Bset\x1b=keys\x1b"
     "7",
     "setkeys"},
    {"\x1bPdevice\x1b\\after", "after"},
    {"10%\r20%\r\n30%\r\r\nend", "10%\n20%\n30%\nend"},
    {"bell\a back\b del\x7F nul", "bell back del nul"},
    {"\x1b]open\nline", "\nline"},
    {"\x1b[3\nbroken", "\nbroken"},
    {"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x90\x8D", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x90\x8D"},
    {"a\xFFz", "a\xEF\xBF\xBDz"},
    {"\x1b[\xC3\xA4", "\xC3\xA4"},
};

START_TEST(plain_text_however_it_is_cut)
{
    const char *raw = streams[_i].raw;
    for (size_t portion = 1; portion <= strlen(raw); portion++) {
        struct mcp_plain plain = {.state = PLAIN_TEXT};
        struct strbuf text = STRBUF_INIT;
        for (size_t at = 0; at < strlen(raw); at += portion)
            mcp_plain_add(&plain, raw + at, strlen(raw) - at < portion ? strlen(raw) - at : portion,
                          &text);
        ck_assert_str_eq(strbuf_text(&text), streams[_i].plain);
        strbuf_free(&text);
        strbuf_free(&plain.held);
    }
}
END_TEST

START_TEST(a_sequence_without_end_swallows_little)
{
    struct mcp_plain plain = {.state = PLAIN_TEXT};
    struct strbuf text = STRBUF_INIT;
    mcp_plain_add(&plain, "\x1b]", 2, &text);
    for (int i = 0; i < 5000; i++)
        mcp_plain_add(&plain, "x", 1, &text);
    ck_assert_uint_gt(text.size, 800);
    strbuf_free(&text);
    strbuf_free(&plain.held);
}
END_TEST

START_TEST(progress_without_secrets)
{
    struct mcp_progress progress;
    struct strbuf out = STRBUF_INIT;
    mcp_progress_init(&progress, span("1"), true, 0);
    mcp_progress_add(&progress, 1, "key ghp_AAAAAAAAAA", 18, 0);
    mcp_progress_send(&progress, 0, false, &out);
    ck_assert_ptr_nonnull(strstr(strbuf_text(&out), "\"message\":\"key \"}"));
    ck_assert_int_eq(mcp_progress_due(&progress, 20), 80);
    strbuf_clear(&out);
    mcp_progress_add(&progress, 1, "\x1b[1mAAAAAAAAAAAA\r", 17, 20);
    ck_assert_int_eq(mcp_progress_due(&progress, 20), 80);
    mcp_progress_add(&progress, 1, "next tok", 8, 130);
    mcp_progress_send(&progress, 130, false, &out);
    ck_assert_ptr_nonnull(strstr(strbuf_text(&out), "\"message\":\"ghp_AA...AAAA\\nnext tok\"}"));
    strbuf_clear(&out);
    mcp_progress_add(&progress, 1, " ghp_", 5, 200);
    mcp_progress_send(&progress, 230, false, &out);
    strbuf_clear(&out);
    ck_assert_int_eq(mcp_progress_due(&progress, 260), 70);
    mcp_progress_send(&progress, 300, false, &out); /* not before its turn */
    ck_assert_uint_eq(out.size, 0);
    mcp_progress_send(&progress, 330, false, &out);
    ck_assert_ptr_nonnull(strstr(strbuf_text(&out), "\"message\":\"ghp_\"}"));
    strbuf_clear(&out);
    mcp_progress_add(&progress, 2, "ghp_AAAAAAAAAAAAAAAAAAAAAAAAAA", 30, 340);
    mcp_progress_send(&progress, 350, true, &out);
    ck_assert_ptr_nonnull(strstr(strbuf_text(&out), "\"message\":\"ghp_AA...AAAA\"}"));
    mcp_progress_free(&progress);
    strbuf_free(&out);
}
END_TEST

START_TEST(progress_comes_in_portions)
{
    struct mcp_progress progress;
    struct strbuf out = STRBUF_INIT;
    mcp_progress_init(&progress, span("\"t\""), false, 1000);
    ck_assert_int_gt(mcp_progress_due(&progress, 1000), 1000);
    mcp_progress_add(&progress, 1, "a\xC3", 2, 0);
    ck_assert_int_eq(mcp_progress_due(&progress, 1000), 0);
    mcp_progress_send(&progress, 1000, false, &out);
    ck_assert_str_eq(strbuf_text(&out),
                     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
                     "{\"progressToken\":\"t\",\"progress\":0.001,\"message\":\"a\"}}\n");
    strbuf_clear(&out);
    mcp_progress_add(&progress, 2, "e", 1, 0);
    mcp_progress_add(&progress, 1, "\xA4", 1, 0);
    ck_assert_int_eq(mcp_progress_due(&progress, 1040), 60);
    mcp_progress_send(&progress, 1040, false, &out);
    ck_assert_uint_eq(out.size, 0);
    mcp_progress_send(&progress, 1100, false, &out);
    ck_assert_ptr_nonnull(
        strstr(strbuf_text(&out), "\"progress\":0.100,\"message\":\"e\xC3\xA4\"}"));
    strbuf_clear(&out);
    mcp_progress_add(&progress, 1, "end\xC3", 4, 0);
    mcp_progress_send(&progress, 1101, true, &out);
    ck_assert_ptr_nonnull(strstr(strbuf_text(&out), "\"message\":\"end\xEF\xBF\xBD\"}"));
    strbuf_clear(&out);
    mcp_progress_send(&progress, 1102, true, &out);
    ck_assert_uint_eq(out.size, 0);
    mcp_progress_free(&progress);
    strbuf_free(&out);
}
END_TEST

START_TEST(progress_always_grows)
{
    struct mcp_progress progress;
    struct strbuf out = STRBUF_INIT;
    mcp_progress_init(&progress, span("1"), false, 0);
    for (int i = 0; i < 3; i++) {
        mcp_progress_add(&progress, 1, "x", 1, 0);
        mcp_progress_send(&progress, 500, true, &out);
    }
    ck_assert_ptr_nonnull(strstr(strbuf_text(&out), "\"progress\":0.500,"));
    ck_assert_ptr_nonnull(strstr(strbuf_text(&out), "\"progress\":0.501,"));
    ck_assert_ptr_nonnull(strstr(strbuf_text(&out), "\"progress\":0.502,"));
    mcp_progress_free(&progress);
    strbuf_free(&out);
}
END_TEST

START_TEST(silence_gives_a_sign_of_life)
{
    struct mcp_progress progress;
    struct strbuf out = STRBUF_INIT;
    mcp_progress_init(&progress, span("1"), false, 0);
    int64_t due = mcp_progress_due(&progress, 0);
    mcp_progress_send(&progress, due - 1, false, &out);
    ck_assert_uint_eq(out.size, 0);
    mcp_progress_send(&progress, due, false, &out);
    ck_assert_ptr_nonnull(strstr(strbuf_text(&out), "\"message\":\"waiting for 9 s\""));
    mcp_progress_start(&progress);
    mcp_progress_send(&progress, due + MCP_PROGRESS_SILENCE_MS, false, &out);
    ck_assert_ptr_nonnull(strstr(strbuf_text(&out), "\"message\":\"running for 19 s\""));
    mcp_progress_free(&progress);
    strbuf_free(&out);
}
END_TEST

START_TEST(of_a_flood_the_newest_part_is_sent)
{
    struct mcp_progress progress;
    struct strbuf out = STRBUF_INIT, error = STRBUF_INIT;
    char line[64];
    mcp_progress_init(&progress, span("1"), false, 0);
    for (int i = 0; i < 100000; i++) {
        int size = snprintf(line, sizeof line, "\xE2\x82\xAC line %d\n", i);
        mcp_progress_add(&progress, 1, line, (size_t)size, 0);
        ck_assert_uint_le(progress.text.size, MCP_PROGRESS_MAX);
    }
    mcp_progress_send(&progress, 200, false, &out);
    ck_assert_uint_lt(out.size, 2 * MCP_PROGRESS_MAX);
    ck_assert_msg(json_check(out.data, out.size, NULL, &error), "%s", strbuf_text(&error));
    ck_assert_ptr_nonnull(strstr(strbuf_text(&out), "bytes left out ...]\\n"));
    ck_assert_ptr_nonnull(strstr(strbuf_text(&out), "line 99999\\n\"}"));
    mcp_progress_free(&progress);
    strbuf_free(&out);
}
END_TEST

START_TEST(without_a_token_there_is_no_progress)
{
    struct mcp_progress progress;
    struct strbuf out = STRBUF_INIT;
    mcp_progress_init(&progress, (struct json_span){NULL, 0}, false, 0);
    mcp_progress_add(&progress, 1, "x", 1, 0);
    ck_assert_int_eq(mcp_progress_due(&progress, 99999999), -1);
    mcp_progress_send(&progress, 99999999, true, &out);
    ck_assert_uint_eq(out.size, 0);
    mcp_progress_free(&progress);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mcp_message");
    TCase *message = tcase_create("message"), *tools = tcase_create("tools"),
          *progress = tcase_create("progress");
    suite_add_tcase(suite, message);
    tcase_add_test(message, lines_come_whole_however_they_are_cut);
    tcase_add_test(message, a_long_line_is_told_once_and_skipped);
    tcase_add_test(message, a_large_buffer_is_given_back);
    tcase_add_loop_test(message, what_a_line_is, 0, sizeof messages / sizeof *messages);
    tcase_add_test(message, an_id_has_a_limit);
    tcase_add_test(message, ids_are_compared_by_value_and_kind);
    tcase_add_test(message, answers_are_one_line);
    suite_add_tcase(suite, tools);
    tcase_add_loop_test(tools, what_arguments_may_be, 0, sizeof rows / sizeof *rows);
    tcase_add_test(tools, arguments_arrive);
    tcase_add_test(tools, the_list_of_tools_is_json);
    suite_add_tcase(suite, progress);
    tcase_add_loop_test(progress, plain_text_however_it_is_cut, 0,
                        sizeof streams / sizeof *streams);
    tcase_add_test(progress, a_sequence_without_end_swallows_little);
    tcase_add_test(progress, progress_without_secrets);
    tcase_add_test(progress, progress_comes_in_portions);
    tcase_add_test(progress, progress_always_grows);
    tcase_add_test(progress, silence_gives_a_sign_of_life);
    tcase_add_test(progress, of_a_flood_the_newest_part_is_sent);
    tcase_add_test(progress, without_a_token_there_is_no_progress);
    return test_run(suite);
}
