/* SPDX-License-Identifier: MIT */
/*
 * search_files over real directories, with the real git, and the glob matcher.
 */
#include "config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool-testlib.h"
#include "tools/glob-match.h"

/*
 * ---- globs ------------------------------------------------------------------------------------
 */

START_TEST(globs)
{
    static const struct {
        const char *pattern, *path;
        bool match;
    } rows[] = {
        {"*.py", "a.py", true},
        {"*.py", "x/y/a.py", true},
        {"*.py", "a.pyc", false},
        {"*", "x/.hidden", true},
        {"a?c", "abc", true},
        {"a?c",
         "a\xC3\xA9"
         "c",
         true},
        {"a?c", "ac", false},
        {"[a-c]x", "bx", true},
        {"[!a-c]x", "bx", false},
        {"[^a-c]x", "dx", true},
        {"[]]", "]", true},
        {"[a", "[a", true},
        {"[\\]]", "]", true},
        {"[\xC3\xA0-\xC3\xBF]", "\xC3\xA9", true},
        {"\\*", "*", true},
        {"\\*", "a", false},
        {"src/*.c", "src/a.c", true},
        {"src/*.c", "src/b/a.c", false},
        {"src/**/*.c", "src/b/c/a.c", true},
        {"src/**/*.c", "src/a.c", true},
        {"**/a.c", "a.c", true},
        {"**/a.c", "x/y/a.c", true},
        {"src/**", "src/a/b", true},
        {"src/**", "lib/a", false},
        {"/top", "top", true},
        {"/top", "x/top", false},
        {"./a/*", "a/b", true},
        {"*.{c,h}", "a.h", true},
        {"*.{c,h}", "a.o", false},
        {"{a,b{c,d}}e", "bde", true},
        {"{a,b{c,d}}e", "be", false},
        {"{x}", "x", true},
        {"a{", "a{", true},
        {"a}", "a}", true},
        {"", "", true},
        {"", "a", false},
        {"\xFF", "\xFF", true},
        {"*a*b*c*", "xxaxxbxxc", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(glob_match(rows[i].pattern, rows[i].path) == rows[i].match, "%s and %s",
                      rows[i].pattern, rows[i].path);
}
END_TEST

/* What would take for ever elsewhere. */
START_TEST(hostile_globs)
{
    char path[600], pattern[600];
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    for (size_t i = 0; i + 1 < sizeof pattern; i++)
        pattern[i] = i % 2 ? 'a' : '*';
    pattern[sizeof pattern - 2] = 'b';
    pattern[sizeof pattern - 1] = '\0';
    int64_t start = test_now_ms();
    ck_assert(!glob_match(pattern, path));
    ck_assert(!glob_match(
        "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}x", "y"));
    ck_assert(!glob_match("**/**/**/**/**/**/**/**/**/**/x",
                          "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a"));
    ck_assert_int_lt(test_now_ms() - start, test_scaled_ms(3000));
}
END_TEST

/*
 * ---- content ----------------------------------------------------------------------------------
 */

static void make_files(void)
{
    ck_assert_int_eq(mkdir(test_path("src"), 0755), 0);
    ck_assert_int_eq(mkdir(test_path("src/.hidden"), 0755), 0);
    test_write_file(test_path("src/a.py"), "import os\n\ndef old_call(x):\n    return os\n", 0644);
    test_write_file(test_path("src/b.txt"), "nothing\r\nan OLD_call here\r\nold_call\r\n", 0644);
    test_write_file(test_path("src/.hidden/c.py"), "old_call()", 0644);
    test_write_file(test_path("top.py"), "old_call(\xC3\xA9)\nold_call(\xFF)\n", 0644);
    int fd = open(test_path("bin.py"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ck_assert_int_eq(write(fd, "old_call\0", 9), 9);
    close(fd);
    ck_assert_int_eq(symlink("top.py", test_path("link.py")), 0);
    ck_assert_int_eq(symlink(".", test_path("round")), 0);
}

static const cJSON *match_at(int index)
{
    const cJSON *match = cJSON_GetArrayItem(member(test_answer, "matches"), index);
    ck_assert_msg(match != NULL, "no match %d", index);
    return match;
}

static void ck_match(int index, const char *path, long line, const char *content)
{
    ck_assert_str_eq(text_of(match_at(index), "path"), path);
    ck_assert_int_eq(number_of(match_at(index), "line"), line);
    ck_assert_str_eq(text_of(match_at(index), "content"), content);
}

START_TEST(content)
{
    make_files();
    cJSON *answer = call("search_files", "{'pattern': 'old_call'}");
    ck_assert_int_eq(number_of(answer, "total_count"), 5);
    ck_match(0, "src/.hidden/c.py", 1, "old_call()");
    ck_match(1, "src/a.py", 3, "def old_call(x):");
    ck_match(2, "src/b.txt", 3, "old_call");
    ck_match(3, "top.py", 1, "old_call(\xC3\xA9)");
    ck_match(4, "top.py", 2, "old_call(\xEF\xBF\xBD)");
    ck_assert(!is_true(answer, "truncated"));
    answer = call("search_files",
                  "{'pattern': '(?i)old_CALL$', 'path': 'src', 'file_glob': '*.{txt,c}'}");
    ck_assert_int_eq(number_of(answer, "total_count"), 1);
    ck_match(0, "src/b.txt", 3, "old_call");
    answer = call("search_files", "{'pattern': '\\\\bd\\\\w+\\\\s', 'path': 'src/'}");
    ck_match(0, "src/a.py", 3, "def old_call(x):");
    answer = call("search_files", "{'pattern': 'old', 'path': '%s'}", test_path("top.py"));
    ck_match(0, test_path("top.py"), 1, "old_call(\xC3\xA9)");
    answer = call("search_files", "{'pattern': 'nowhere to be found'}");
    ck_assert_int_eq(number_of(answer, "total_count"), 0);
    ck_assert_int_eq(cJSON_GetArraySize(member(answer, "matches")), 0);
}
END_TEST

START_TEST(context_lines)
{
    make_files();
    call("search_files", "{'pattern': 'def', 'path': 'src/a.py', 'context': 2}");
    const cJSON *before = member(match_at(0), "before"), *after = member(match_at(0), "after");
    ck_assert_int_eq(cJSON_GetArraySize(before), 2);
    ck_assert_str_eq(cJSON_GetArrayItem(before, 0)->valuestring, "import os");
    ck_assert_int_eq(cJSON_GetArraySize(after), 1);
    ck_assert_str_eq(cJSON_GetArrayItem(after, 0)->valuestring, "    return os");
}
END_TEST

START_TEST(pages_and_modes)
{
    make_files();
    cJSON *answer = call("search_files", "{'pattern': 'old_call', 'limit': 2, 'offset': 2}");
    ck_assert_int_eq(cJSON_GetArraySize(member(answer, "matches")), 2);
    ck_match(0, "src/b.txt", 3, "old_call");
    ck_assert(is_true(answer, "truncated"));
    ck_assert_int_eq(number_of(answer, "next_offset"), 4);
    answer = call("search_files", "{'pattern': 'old_call', 'output_mode': 'files_only'}");
    ck_assert_int_eq(number_of(answer, "total_count"), 4);
    ck_assert_str_eq(cJSON_GetArrayItem(member(answer, "files"), 3)->valuestring, "top.py");
    ck_assert_str_eq(text_of(match_at(3), "path"), "top.py");
    answer = call("search_files", "{'pattern': 'old_call', 'output_mode': 'count'}");
    ck_assert_int_eq(number_of(answer, "total_count"), 5);
    ck_assert_int_eq(number_of(member(answer, "counts"), "top.py"), 2);
    ck_assert_int_eq(number_of(member(answer, "counts"), "src/a.py"), 1);
}
END_TEST

START_TEST(bounded_lines_and_answers)
{
    struct strbuf text = STRBUF_INIT;
    for (int i = 0; i < 4000; i++) {
        for (int j = 0; j < 100; j++)
            strbuf_adds(&text, "needle");
        strbuf_addc(&text, '\n');
    }
    test_write_file(test_path("wide"), strbuf_text(&text), 0644);
    cJSON *answer = call("search_files", "{'pattern': 'needle', 'limit': 10000}");
    ck_assert_int_eq(number_of(answer, "total_count"), 4000);
    ck_assert_uint_eq(strlen(text_of(match_at(0), "content")), 500 + 15);
    int shown = cJSON_GetArraySize(member(answer, "matches"));
    ck_assert(shown > 1000 && shown < 2000);
    ck_assert_int_eq(number_of(answer, "next_offset"), shown);
    answer = call("search_files", "{'pattern': 'needle', 'limit': 10000, 'offset': 3999}");
    ck_assert_int_eq(number_of(match_at(0), "line"), 4000);
    strbuf_free(&text);
}
END_TEST

START_TEST(bad_calls)
{
    static const char *const rows[][2] = {
        {"{}", "'pattern' is missing"},
        {"{'pattern': ''}", "'pattern' is empty"},
        {"{'pattern': '(a'}", "no regular expression: missing closing parenthesis, at character 3"},
        {"{'pattern': 'a\\\\Cb'}", "no regular expression"},
        {"{'pattern': 'x', 'target': 'names'}", "'target' must be content or files, not 'names'"},
        {"{'pattern': 'x', 'output_mode': 'lines'}", "'output_mode' must be"},
        {"{'pattern': 'x', 'limit': 0}", "'limit' must be at least 1"},
        {"{'pattern': 'x', 'offset': -1}", "'offset' must be at least 0"},
        {"{'pattern': 'x', 'context': 101}", "'context' must be from 0 to 100"},
        {"{'pattern': 'x', 'path': 'nowhere'}", "cannot search nowhere: No such file or directory"},
        {"{'pattern': 'x', 'path': 'bin.py'}", "bin.py is a binary file"},
        {"{'pattern': 'x', 'path': 'top.py', 'target': 'files'}", "it is no directory"},
        {"{'pattern': 'x', 'path': '/dev/null'}", "no regular file"},
    };
    make_files();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        call("search_files", "%s", rows[i][0]);
        ck_error(rows[i][1]);
    }
}
END_TEST

/* Patterns that would never end are given up. */
START_TEST(hostile_pattern)
{
    struct strbuf text = STRBUF_INIT;
    for (int i = 0; i < 5000; i++)
        strbuf_addc(&text, 'a');
    strbuf_adds(&text, "!\n");
    test_write_file(test_path("aaa"), strbuf_text(&text), 0644);
    int64_t start = test_now_ms();
    call("search_files", "{'pattern': '^(a+)+(a+)+(a+)+$'}");
    ck_error("the pattern takes too much at aaa, line 1");
    ck_assert_int_lt(test_now_ms() - start, test_scaled_ms(15000));
    strbuf_free(&text);
}
END_TEST

START_TEST(out_of_time)
{
    make_files();
    test_settings.search_timeout_ms = 0;
    cJSON *answer = call("search_files", "{'pattern': 'old_call'}");
    ck_assert(is_true(answer, "truncated"));
    ck_assert_ptr_nonnull(strstr(text_of(answer, "warning"), "not everything was searched"));
}
END_TEST

static bool always(void *argument)
{
    return argument == NULL;
}

START_TEST(cancelled)
{
    make_files();
    test_context.cancelled = always;
    call("search_files", "{'pattern': 'old_call'}");
    ck_error("cancelled");
}
END_TEST

/*
 * ---- names ------------------------------------------------------------------------------------
 */

static void age(const char *name, time_t seconds)
{
    struct timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ck_assert_int_eq(utimensat(AT_FDCWD, test_path("%s", name), times, 0), 0);
}

START_TEST(names)
{
    make_files();
    age("src/a.py", 3000);
    age("top.py", 1000);
    age("bin.py", 2000);
    age("src/.hidden/c.py", 500);
    cJSON *answer = call("search_files", "{'pattern': '*.py', 'target': 'files'}");
    const cJSON *files = member(answer, "files");
    ck_assert_int_eq(number_of(answer, "total_count"), 4); /* newest first, no links */
    ck_assert_str_eq(cJSON_GetArrayItem(files, 0)->valuestring, "src/a.py");
    ck_assert_str_eq(cJSON_GetArrayItem(files, 1)->valuestring, "bin.py");
    ck_assert_str_eq(cJSON_GetArrayItem(files, 2)->valuestring, "top.py");
    ck_assert_str_eq(text_of(match_at(3), "path"), "src/.hidden/c.py");
    answer = call("search_files", "{'pattern': 'src/*.py', 'target': 'files', 'limit': 1}");
    ck_assert_int_eq(number_of(answer, "total_count"), 1);
    answer = call("search_files", "{'pattern': '*', 'target': 'files', 'path': 'src', 'limit': 1}");
    ck_assert_int_eq(number_of(answer, "total_count"), 3);
    ck_assert_int_eq(number_of(answer, "next_offset"), 1);
}
END_TEST

/*
 * ---- git and ripgrep --------------------------------------------------------------------------
 */

static void shell(const char *command)
{
    char *line = NULL;
    ck_assert_int_gt(
        asprintf(&line,
                 "cd '%s' && exec >/dev/null 2>&1\nexport HOME=$PWD GIT_CONFIG_NOSYSTEM=1\n%s",
                 test_directory(), command),
        0);
    const char *argv[] = {"/bin/sh", "-ec", line, NULL};
    int fds[3] = {0, 1, 2};
    ck_assert_int_eq(test_reap(test_spawn(argv, fds, 3, NULL), 30000), 0);
    free(line);
}

static int found(const char *path)
{
    call("search_files", "{'pattern': 'needle', 'path': '%s', 'output_mode': 'files_only'}", path);
    return (int)number_of(test_answer, "total_count");
}

static bool is_found(const char *path)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, member(test_answer, "files"))
    {
        if (strcmp(item->valuestring, path) == 0)
            return true;
    }
    return false;
}

START_TEST(ignored_by_git)
{
    shell("git init -q .\n"
          "mkdir -p build 'sub dir' nested\n"
          "printf 'build/\\n*.log\\n' >.gitignore\n"
          "echo needle >kept.c; echo needle >x.log; echo needle >build/out.c; echo needle >'sub "
          "dir/n\xC3\xA9w.c'\n"
          "echo needle >deleted.c; git add kept.c deleted.c; rm deleted.c\n"
          "cd nested; git init -q .; echo needle >inner.c; echo needle >inner.tmp; echo '*.tmp' "
          ">.gitignore\n");
    ck_assert_int_eq(found("."), 3);
    ck_assert(is_found("kept.c") && is_found("sub dir/n\xC3\xA9w.c") && is_found("nested/inner.c"));
    ck_assert_int_eq(found("sub dir"), 1);
    ck_assert_int_eq(found("build"), 1); /* asked for by name */
    ck_assert(is_found("build/out.c"));
    ck_assert_int_eq(found("x.log"), 1);
    cJSON *answer = call("search_files", "{'pattern': '*.c', 'target': 'files'}");
    ck_assert_int_eq(number_of(answer, "total_count"), 3);
}
END_TEST

/*
 * A search must not run what a repository's configuration names, nor be led elsewhere by the
 * environment.
 */
START_TEST(git_is_kept_tame)
{
    shell("git init -q .; echo needle >a.c; mkdir other; git init -q other\n"
          "printf '#!/bin/sh\\ntouch \"%s/ran\"\\n' \"$PWD\" >hook; chmod +x hook\n"
          "git config core.fsmonitor \"$PWD/hook\"\n");
    setenv("GIT_DIR", test_path("other/.git"), 1);
    setenv("GIT_WORK_TREE", test_path("other"), 1);
    ck_assert_int_eq(found("."), 1);
    ck_assert(!test_exists(test_path("ran")));
    unsetenv("GIT_DIR");
    unsetenv("GIT_WORK_TREE");
}
END_TEST

START_TEST(without_git)
{
    shell("mkdir .git build; echo needle >.git/x; echo needle >build/out.c; echo needle >a.c; echo "
          "build >.gitignore");
    ck_assert_int_eq(mkdir(test_path("bin"), 0755), 0);
    char *path = strdup(getenv("PATH"));
    setenv("PATH", test_path("bin"), 1);
    ck_assert_int_eq(found("."), 2); /* all but what is in .git */
    test_write_file(test_path("bin/rg"),
                    "#!/bin/sh\ntest \"$1\" = --no-config && printf 'a.c\\0'\n", 0755);
    ck_assert_int_eq(found("."), 1);
    ck_assert(is_found("a.c"));
    test_write_file(test_path("bin/rg"), "#!/bin/sh\nexit 2\n", 0755);
    ck_assert_int_eq(found("."), 2);
    setenv("PATH", path, 1);
    free(path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tool_search_files");
    TCase *tests = tool_test_case(suite, "search_files");
    tcase_add_test(tests, globs);
    tcase_add_test(tests, hostile_globs);
    tcase_add_test(tests, content);
    tcase_add_test(tests, context_lines);
    tcase_add_test(tests, pages_and_modes);
    tcase_add_test(tests, bounded_lines_and_answers);
    tcase_add_test(tests, bad_calls);
    tcase_add_test(tests, hostile_pattern);
    tcase_add_test(tests, out_of_time);
    tcase_add_test(tests, cancelled);
    tcase_add_test(tests, names);
    tcase_add_test(tests, ignored_by_git);
    tcase_add_test(tests, git_is_kept_tame);
    tcase_add_test(tests, without_git);
    return test_run(suite);
}
