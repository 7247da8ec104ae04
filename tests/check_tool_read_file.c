/* SPDX-License-Identifier: MIT */
/*
 * read_file, and what all tools share: the table, finding a tool, reading arguments.
 */
#include "config.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tool-testlib.h"
#include "tools/tool-file.h"

/*
 * ---- the table --------------------------------------------------------------------------------
 */

START_TEST(table_is_complete)
{
    static const char *const names[] = {"web_search",   "web_extract", "read_file", "write_file",
                                        "search_files", "patch",       "terminal"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct tool tool;
        size_t size = strlen(names[i]);
        ck_assert_msg(tool_find(NULL, names[i], &tool), "no %s", names[i]);
        ck_assert(strncmp(tool.signature, names[i], size) == 0 && tool.signature[size] == '(');
        ck_assert_int_eq(tool.signature[strlen(tool.signature) - 1], ')');
        ck_assert(tool.help[0] && !strchr(tool.help, '\n') && tool.run);
        bool reads = strcmp(names[i], "read_file") == 0 || strcmp(names[i], "search_files") == 0;
        ck_assert_int_eq(tool.changes_things, !reads);
    }
    struct tool tool;
    ck_assert(!tool_find(&test_settings, "nonsense", &tool));
}
END_TEST

START_TEST(unknown_tools)
{
    call("red_file", "{}");
    ck_error("did you mean 'read_file'");
    call("zzzzzzzzzzzz", "{}");
    ck_error("known: web_search, web_extract, read_file");
}
END_TEST

START_TEST(bad_arguments)
{
    static const char *const rows[][2] = {
        {"{}", "'path' is missing"},
        {"", "'path' is missing"},
        {"{\"path\": null}", "'path' is missing"},
        {"{\"path\": 7}", "'path' must be a string, not a number"},
        {"{\"path\": [\"x\"]}", "'path' must be a string, not a list"},
        {"{\"path\": \"x\", \"lines\": 3}", "unknown argument 'lines'; known: path, offset, limit"},
        {"{\"path\": \"x\", \"offset\": 0}", "'offset' must be at least 1, not 0"},
        {"{\"path\": \"x\", \"offset\": \"1\"}", "'offset' must be an integer, not a string"},
        {"{\"path\": \"x\", \"limit\": 1.5}", "'limit' must be an integer, not a number"},
        {"{\"path\": \"x\", \"limit\": true}", "'limit' must be an integer, not a boolean"},
        {"{\"path\": \"\"}", "the path is empty"},
        {"[1]", "not a JSON object"},
        {"{\"path\": ", "not JSON"},
        {"{\"path\": \"a\\u0000b\"}", "NUL"},
        {"{\"path\": \"\\ud800\"}", "lone surrogate"},
        {"{\"path\": \"\xFF\"}", "not JSON"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        call_json("read_file", rows[i][0]);
        ck_error(rows[i][1]);
    }
    test_write_file(test_path("a\\u0000b"), "fine\n", 0644);
    call_json("read_file", "{\"path\": \"a\\\\u0000b\"}"); /* an escaped backslash is no NUL */
    ck_assert_str_eq(text_of(test_answer, "content"), "1|fine");
}
END_TEST

/*
 * ---- pages ------------------------------------------------------------------------------------
 */

START_TEST(whole_file)
{
    test_write_file(test_path("a.txt"), "one\ntwo\r\n\nfo\xC3\xBCr", 0644);
    cJSON *answer = call("read_file", "{'path': 'a.txt'}");
    ck_assert_str_eq(text_of(answer, "content"), "1|one\n2|two\n3|\n4|fo\xC3\xBCr");
    ck_assert_int_eq(number_of(answer, "total_lines"), 4);
    ck_assert_int_eq(number_of(answer, "file_size"), 15);
    ck_assert(!is_true(answer, "truncated"));
    ck_assert_ptr_null(member(answer, "next_offset"));
    answer = call("read_file", "{'path': '%s'}", test_path("a.txt"));
    ck_assert_int_eq(number_of(answer, "total_lines"), 4);
}
END_TEST

START_TEST(pages)
{
    struct strbuf text = STRBUF_INIT;
    for (int i = 1; i <= 1200; i++)
        strbuf_addf(&text, "line %d\n", i);
    test_write_file(test_path("long"), strbuf_text(&text), 0644);
    cJSON *answer = call("read_file", "{'path': 'long'}");
    ck_assert_int_eq(number_of(answer, "total_lines"), 1200);
    ck_assert(is_true(answer, "truncated"));
    ck_assert_int_eq(number_of(answer, "next_offset"), 501);
    ck_assert_ptr_nonnull(strstr(text_of(answer, "content"), "\n500|line 500"));
    ck_assert_ptr_null(strstr(text_of(answer, "content"), "501|"));
    answer = call("read_file", "{'path': 'long', 'offset': 1199, 'limit': 9}");
    ck_assert_str_eq(text_of(answer, "content"), "1199|line 1199\n1200|line 1200");
    ck_assert(!is_true(answer, "truncated"));
    answer = call("read_file", "{'path': 'long', 'offset': 7, 'limit': 1}");
    ck_assert_str_eq(text_of(answer, "content"), "7|line 7");
    answer = call("read_file", "{'path': 'long', 'offset': 1201}");
    ck_assert_str_eq(text_of(answer, "content"), "");
    ck_assert_str_eq(text_of(answer, "hint"), "the file has only 1200 lines");
    answer = call("read_file", "{'path': 'long', 'offset': 1, 'limit': 9007199254740991}");
    ck_assert_int_eq(number_of(answer, "total_lines"), 1200);
    strbuf_free(&text);
}
END_TEST

/* Lines longer than a block, and characters at the place of the cut. */
START_TEST(long_lines)
{
    struct strbuf text = STRBUF_INIT;
    for (int i = 0; i < 100000; i++)
        strbuf_adds(&text, "\xE2\x82\xAC");
    strbuf_adds(&text, "\nshort\n");
    test_write_file(test_path("wide"), strbuf_text(&text), 0644);
    cJSON *answer = call("read_file", "{'path': 'wide'}");
    const char *content = text_of(answer, "content"),
               *mark = strstr(content, "... [truncated]\n2|short");
    ck_assert_ptr_nonnull(mark);
    ck_assert_int_eq(mark - content, 2 + 666 * 3);
    ck_assert_ptr_null(strstr(content, "\xEF\xBF\xBD"));
    ck_assert_int_eq(number_of(answer, "lines_cut"), 1);
    ck_assert_int_eq(number_of(answer, "total_lines"), 2);
    strbuf_free(&text);
}
END_TEST

START_TEST(much_text)
{
    struct strbuf text = STRBUF_INIT;
    for (int i = 0; i < 300; i++) {
        for (int j = 0; j < 1500; j++)
            strbuf_addc(&text, 'x');
        strbuf_addc(&text, '\n');
    }
    test_write_file(test_path("big"), strbuf_text(&text), 0644);
    cJSON *answer = call("read_file", "{'path': 'big'}");
    long next = number_of(answer, "next_offset");
    ck_assert(next > 60 && next < 70 && is_true(answer, "truncated"));
    ck_assert_uint_le(strlen(text_of(answer, "content")), 100000 + 5 * 70);
    answer = call("read_file", "{'path': 'big', 'offset': %ld}", next);
    ck_assert_int_eq(strtol(text_of(answer, "content"), NULL, 10), next);
    strbuf_free(&text);
}
END_TEST

START_TEST(empty_file)
{
    test_write_file(test_path("empty"), "", 0644);
    cJSON *answer = call("read_file", "{'path': 'empty'}");
    ck_assert_str_eq(text_of(answer, "content"), "");
    ck_assert_int_eq(number_of(answer, "total_lines"), 0);
}
END_TEST

START_TEST(a_file_without_a_size)
{
    call("read_file", "{'path': '/proc/self/status', 'limit': 1}");
    ck_assert_ptr_nonnull(strstr(text_of(test_answer, "content"), "1|Name:"));
}
END_TEST

/*
 * ---- what is no text --------------------------------------------------------------------------
 */

static void write_bytes(const char *name, const char *data, size_t size)
{
    FILE *file = fopen(test_path("%s", name), "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, size, file), size);
    fclose(file);
}

START_TEST(no_text)
{
    write_bytes("bin",
                "\x7f"
                "ELF\0\1\2",
                7);
    write_bytes("wide",
                "\xFF\xFE"
                "a\0b\0",
                6);
    write_bytes("latin", "caf\xE9\n", 5);
    call("read_file", "{'path': 'bin'}");
    ck_error("bin is a binary file");
    call("read_file", "{'path': 'wide'}");
    ck_error("wide is UTF-16 text");
    call("read_file", "{'path': 'latin'}");
    ck_assert_str_eq(text_of(test_answer, "content"), "1|caf\xEF\xBF\xBD");
    ck_assert_ptr_nonnull(strstr(text_of(test_answer, "warning"), "not all of it is UTF-8"));
}
END_TEST

START_TEST(no_file)
{
    test_write_file(test_path("settings.py"), "", 0644);
    ck_assert_int_eq(mkdir(test_path("dir"), 0755), 0);
    ck_assert_int_eq(mkfifo(test_path("pipe"), 0600), 0);
    call("read_file", "{'path': 'setings.py'}");
    ck_error("setings.py: no such file; is it settings.py?");
    call("read_file", "{'path': 'qqqqqqqqqqqqqqqq'}");
    ck_error("qqqqqqqqqqqqqqqq: no such file");
    call("read_file", "{'path': 'nowhere/x'}");
    ck_error("no such directory either");
    call("read_file", "{'path': 'settings.py/x'}");
    ck_error("cannot read settings.py/x");
    call("read_file", "{'path': 'dir'}");
    ck_error("dir is a directory");
    call("read_file", "{'path': 'pipe'}"); /* must not wait for a writer */
    ck_error("pipe is no regular file");
    call("read_file", "{'path': '/dev/zero'}");
    ck_error("is no regular file");
}
END_TEST

START_TEST(home)
{
    ck_assert_int_eq(setenv("HOME", test_directory(), 1), 0);
    test_write_file(test_path("mine"), "x\n", 0644);
    test_context.cwd = "/";
    call("read_file", "{'path': '~/mine'}");
    ck_assert_str_eq(text_of(test_answer, "content"), "1|x");
}
END_TEST

static bool always(void *argument)
{
    ++*(int *)argument;
    return true;
}

START_TEST(cancelled)
{
    int asked = 0;
    test_context.cancelled = always;
    test_context.cancel_argument = &asked;
    test_write_file(test_path("x"), "x\n", 0644);
    call("read_file", "{'path': 'x'}");
    ck_error("cancelled");
    ck_assert_int_gt(asked, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tool_read_file");
    TCase *shared = tool_test_case(suite, "shared");
    tcase_add_test(shared, table_is_complete);
    tcase_add_test(shared, unknown_tools);
    tcase_add_test(shared, bad_arguments);
    TCase *read = tool_test_case(suite, "read_file");
    tcase_add_test(read, whole_file);
    tcase_add_test(read, pages);
    tcase_add_test(read, long_lines);
    tcase_add_test(read, much_text);
    tcase_add_test(read, empty_file);
    tcase_add_test(read, a_file_without_a_size);
    tcase_add_test(read, no_text);
    tcase_add_test(read, no_file);
    tcase_add_test(read, home);
    tcase_add_test(read, cancelled);
    return test_run(suite);
}
