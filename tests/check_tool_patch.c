/* SPDX-License-Identifier: MIT */
/*
 * patch: replacements, unified diffs and V4A patches on real files; and the diff it answers with,
 * held against the real git.
 */
#include "config.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json-write.h"
#include "tool-testlib.h"
#include "tools/text-diff.h"
#include "xalloc.h"

static void make(const char *name, const char *content)
{
    test_write_file(test_path("%s", name), content, 0644);
}

static cJSON *patch(const char *text)
{
    struct strbuf arguments = STRBUF_INIT;
    strbuf_adds(&arguments, "{\"mode\": \"patch\", \"patch\": ");
    json_add_text(&arguments, text);
    strbuf_adds(&arguments, "}");
    cJSON *answer = call_json("patch", strbuf_text(&arguments));
    strbuf_free(&arguments);
    return answer;
}

static void ck_list(const char *key, const char *name)
{
    const cJSON *list = member(test_answer, key);
    ck_assert_int_eq(cJSON_GetArraySize(list), 1);
    ck_assert_str_eq(cJSON_GetArrayItem(list, 0)->valuestring, name);
}

/*
 * ---- replace ----------------------------------------------------------------------------------
 */

START_TEST(replaced)
{
    make("a.c", "one\ntwo\nthree\n");
    ck_assert_int_eq(chmod(test_path("a.c"), 0755), 0);
    cJSON *answer = call("patch", "{'path': 'a.c', 'old_string': 'two', 'new_string': 'zwei'}");
    ck_assert(is_true(answer, "success"));
    ck_assert_int_eq(number_of(answer, "replacements"), 1);
    ck_list("files_modified", "a.c");
    ck_assert_str_eq(text_of(answer, "diff"),
                     "--- a/a.c\n+++ b/a.c\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n");
    ck_file("a.c", "one\nzwei\nthree\n");
    struct stat status;
    ck_assert(stat(test_path("a.c"), &status) == 0 && (status.st_mode & 07777) == 0755);
    answer =
        call("patch", "{'path': 'a.c', 'old_string': 'e', 'new_string': '', 'replace_all': true,"
                      " 'mode': 'replace'}");
    ck_assert_int_eq(number_of(answer, "replacements"), 4);
    ck_file("a.c", "on\nzwi\nthr\n");
}
END_TEST

START_TEST(not_unique)
{
    make("a.c", "x\ny\nx\nxx\n");
    call("patch", "{'path': 'a.c', 'old_string': 'x', 'new_string': 'z'}");
    ck_error(
        "old_string is in a.c 4 times (lines 1, 3, 4, 4): make it longer, or say replace_all=True");
    ck_file("a.c", "x\ny\nx\nxx\n");
}
END_TEST

START_TEST(not_there)
{
    make("a.py", "def f():\n    return 1\n\ndef g():\n    return 2\n");
    call("patch", "{'path': 'a.py', 'old_string': 'nothing like it', 'new_string': 'z'}");
    ck_error("old_string is not in a.py");
    call("patch", "{'path': 'a.py', 'old_string': 'def g():\\n\\treturn 2', 'new_string': 'z'}");
    ck_error("from line 4 on it is the same but for white space");
    call("patch", "{'path': 'a.py', 'old_string': 'def f():\\n    return 3', 'new_string': 'z'}");
    ck_error("it begins like line 1, but line 2 differs");
    call("patch", "{'path': 'b.py', 'old_string': 'x', 'new_string': 'z'}");
    ck_error("b.py: no such file; is it a.py?");
}
END_TEST

START_TEST(line_ends_stay)
{
    make("dos", "one\r\ntwo\r\nthree\r\n");
    call("patch", "{'path': 'dos', 'old_string': 'one\\ntwo', 'new_string': '1\\n2'}");
    ck_no_error();
    ck_file("dos", "1\r\n2\r\nthree\r\n");
}
END_TEST

START_TEST(bad_calls)
{
    static const char *const rows[][2] = {
        {"{}", "'path' is missing: mode=\"replace\" needs"},
        {"{'path': 'a', 'old_string': 'x'}", "'new_string' is missing"},
        {"{'path': 'a', 'old_string': '', 'new_string': 'x'}", "'old_string' is empty"},
        {"{'path': '', 'old_string': 'y', 'new_string': 'x'}", "'path' is empty"},
        {"{'path': 'a', 'old_string': 'x', 'new_string': 'x'}", "are the same"},
        {"{'path': 'a', 'old_string': 'x', 'new_string': 'y', 'replace_all': 1}",
         "must be True or False"},
        {"{'mode': 'patch'}", "'patch' is missing"},
        {"{'mode': 'delete'}", "'mode' must be replace or patch"},
        {"{'path': '.', 'old_string': 'x', 'new_string': 'y'}", "is a directory"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        call("patch", "%s", rows[i][0]);
        ck_error(rows[i][1]);
    }
}
END_TEST

/*
 * ---- unified ----------------------------------------------------------------------------------
 */

static const char numbers[] = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";

START_TEST(unified)
{
    make("a", numbers);
    make("old", "gone\n");
    ck_assert_int_eq(mkdir(test_path("d"), 0755), 0);
    cJSON *answer =
        patch("diff --git a/a b/a\nindex 1..2 100644\n--- a/a\t2020-01-01\n+++ b/a\n"
              "@@ -1,4 +1,5 @@ somewhere\n 1\n-2\n+zwei\n+zweieinhalb\n 3\n 4\n"
              "@@ -10,3 +11,2 @@\n 10\n-11\n 12\n"
              "diff --git a/d/new b/d/new\nnew file mode 100755\n--- /dev/null\n+++ b/d/new\n"
              "@@ -0,0 +1,2 @@\n+#!/bin/sh\n+true\n\\ No newline at end of file\n"
              "--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n");
    ck_no_error();
    ck_file("a", "1\nzwei\nzweieinhalb\n3\n4\n5\n6\n7\n8\n9\n10\n12\n");
    ck_file("d/new", "#!/bin/sh\ntrue");
    struct stat status;
    ck_assert(stat(test_path("d/new"), &status) == 0 && (status.st_mode & 0100));
    ck_assert(!test_exists(test_path("old")));
    ck_list("files_modified", "a");
    ck_list("files_created", "d/new");
    ck_list("files_deleted", "old");
    ck_assert_ptr_null(member(answer, "notes"));
}
END_TEST

START_TEST(offset_and_fuzz)
{
    make("a", "0\n0\n0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n");
    cJSON *answer = patch("--- a\n+++ a\n@@ -4,3 +4,3 @@\n 4\n-5\n+five\n 6\n"
                          "@@ -10,3 +10,3 @@\n 10\n-11\n+eleven\n 12\n");
    ck_no_error();
    ck_file("a", "0\n0\n0\n1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\neleven\n12\n");
    ck_assert_ptr_nonnull(
        strstr(text_of(answer, "notes"),
               "a: the hunk at line 3 of the patch was put 3 lines further down"));
    make("a", numbers);
    answer = patch("--- a\n+++ a\n@@ -3,5 +3,5 @@\n other\n 4\n-5\n+five\n 6\n another\n");
    ck_no_error();
    ck_file("a", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n");
    ck_assert_ptr_nonnull(strstr(text_of(answer, "notes"), "without all of its context (fuzz 1)"));
    make("a", numbers);
    patch("--- a\n+++ a\n@@ -2,7 +2,7 @@\n x\n y\n 4\n-5\n+five\n 6\n z\n z\n");
    ck_no_error();
    ck_file("a", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n");
    make("a", numbers);
    patch("--- a\n+++ a\n@@ -2,7 +2,7 @@\n x\n y\n z\n-5\n+five\n z\n z\n z\n");
    ck_error("does not fit: no line is \"x\"; no file was changed");
    ck_file("a", numbers);
    patch("--- a\n+++ a\n@@ -4,3 +4,3 @@\n 4\n-fife\n+five\n 6\n");
    ck_error("it begins at line 4, but line 5 is \"5\", not \"fife\"");
}
END_TEST

/*
 * As they are written by hand: wrong counts, no numbers, empty lines without their blank, blanks at
 * line ends.
 */
START_TEST(careless_diffs)
{
    make("a", "1\n2\n\n4\n5  \n6\n");
    patch("--- a\n+++ a\n@@ -1,9 +1,2 @@\n 1\n-2\n+two\n\n 4\n");
    ck_no_error();
    ck_file("a", "1\ntwo\n\n4\n5  \n6\n");
    patch("--- a\n+++ a\n@@ ... @@\n 4\n-5\n+five\n 6\n\n\n");
    ck_no_error();
    ck_file("a", "1\ntwo\n\n4\nfive\n6\n");
    patch("--- a\n+++ a\n@@ @@\n+seven\n");
    ck_no_error();
    ck_file("a", "1\ntwo\n\n4\nfive\n6\nseven\n");
    make("m", "-- a\nx\n"); /* a line that looks like a header */
    patch("--- m\n+++ m\n@@ -1,2 +1,2 @@\n--- a\n+++ b\n x\n");
    ck_no_error();
    ck_file("m", "++ b\nx\n");
}
END_TEST

START_TEST(line_ends_of_patches)
{
    make("dos", "1\r\n2\r\n3\r\n");
    patch("--- dos\n+++ dos\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n");
    ck_file("dos", "1\r\ntwo\r\n3\r\n");
    make("open", "1\n2");
    patch("--- open\n+++ open\n@@ -1,2 +1,3 @@\n 1\n 2\n\\ No newline at end of file\n"
          "+3\n\\ No newline at end of file\n");
    ck_no_error();
    ck_file("open", "1\n2\n3");
    patch("--- open\n+++ open\n@@ -3 +3 @@\n-3\n\\ No newline at end of file\n+3\n");
    ck_file("open", "1\n2\n3\n");
    make("empty", "");
    patch("--- empty\n+++ empty\n@@ -0,0 +1 @@\n+x\n");
    ck_file("empty", "x\n");
}
END_TEST

START_TEST(names_of_files)
{
    ck_assert_int_eq(mkdir(test_path("a"), 0755), 0);
    make("a/x", "1\n");
    make("caf\xC3\xA9 \"q\"", "1\n");
    patch("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n"); /* a/ is a directory here */
    ck_no_error();
    ck_file("a/x", "2\n");
    patch("--- \"a/caf\\303\\251 \\\"q\\\"\"\n+++ \"b/caf\\303\\251 \\\"q\\\"\"\n@@ -1 +1 "
          "@@\n-1\n+2\n");
    ck_no_error();
    ck_file("caf\xC3\xA9 \"q\"", "2\n");
    make("from", "1\n2\n");
    patch("diff --git a/from b/sub/to\nsimilarity index 50%\nrename from from\nrename to sub/to\n"
          "--- a/from\n+++ b/sub/to\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n");
    ck_no_error();
    ck_file("sub/to", "1\ntwo\n");
    ck_assert(!test_exists(test_path("from")));
    patch(
        "diff --git a/sub/to b/back\nsimilarity index 100%\nrename from sub/to\nrename to back\n");
    ck_file("back", "1\ntwo\n");
    ck_assert_str_eq(text_of(test_answer, "diff"), "rename from sub/to\nrename to back\n");
    patch("diff --git a/void b/void\nnew file mode 100644\nindex 0000000..e69de29\n");
    ck_file("void", "");
}
END_TEST

START_TEST(bad_patches)
{
    static const char *const rows[][2] = {
        {"", "nothing to do"},
        {"just words\n", "nothing to do"},
        {"@@ -1 +1 @@\n-1\n+2\n", "a hunk without a file"},
        {"--- a\n+++ a\n", "a file without hunks"},
        {"--- a\n+++ a\n@@ -1 +1 @@\n 1\n", "changes nothing"},
        {"--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-1\n", "both names"},
        {"--- nowhere\n+++ nowhere\n@@ -1 +1 @@\n-1\n+2\n", "nowhere: no such file"},
        {"--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+2\n", "a exists already"},
        {"--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n", "holds not all of its lines"},
        {"diff --git a/x b/x\nGIT binary patch\nliteral 1\n", "binary patches are not taken"},
        {"*** Begin Patch\n*** Change File: a\n", "line 2: expected \"*** Update File: \""},
        {"*** Begin Patch\n*** Update File: a\n*** End Patch\n", "no hunks"},
        {"*** Begin Patch\n*** Update File: a\n 1\n*** End Patch\n", "changes nothing"},
        {"*** Begin Patch\n*** Update File: a\n1\n-2\n*** End Patch\n",
         "begins with a blank, '-' or '+'"},
        {"*** Begin Patch\n*** Update File: \n-1\n*** End Patch\n", "no file name"},
        {"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n", "a exists already"},
        {"*** Begin Patch\n*** Add File: b\nx\n*** End Patch\n", "begins with '+'"},
        {"*** Begin Patch\n*** Delete File: nowhere\n*** End Patch\n", "nowhere: no such file"},
        {"*** Begin Patch\n*** Update File: a\n*** Move to: c\n-1\n+x\n*** End Patch\n",
         "cannot move a to c"},
        {"*** Begin Patch\n*** Update File: a\n@@ class X\n-1\n+x\n*** End Patch\n",
         "no line is \"class X\""},
        {"*** Begin Patch\n*** Update File: c\n-same\n+x\n*** End Patch\n",
         "fits 2 places (lines 1, 3)"},
        {"*** Begin Patch\n*** End Patch\n", "nothing to do"},
    };
    make("a", numbers);
    make("c", "same\nother\nsame\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        patch(rows[i][0]);
        ck_error(rows[i][1]);
        ck_error("no file was changed");
    }
    ck_file("a", numbers);
    ck_file("c", "same\nother\nsame\n");
}
END_TEST

/*
 * ---- V4A --------------------------------------------------------------------------------------
 */

START_TEST(v4a)
{
    make("a.py", "class A:\n    def f(self):\n        return 1\n\n"
                 "class B:\n    def f(self):\n        return 1\n\nend = 1\n");
    make("old.txt", "x\n");
    make("move.txt", "1\n2\n3\n");
    cJSON *answer = patch("*** Begin Patch\n*** Update File: a.py\n"
                          "@@ class B:\n@@     def f(self):\n-        return 1\n+        return 2\n"
                          "@@\n-end = 1\n+end = 2\n*** End of File\n"
                          "*** Add File: pkg/new.py\n+import os\n+\n+x = 1\n\n"
                          "*** Delete File: old.txt\n"
                          "*** Update File: move.txt\n*** Move to: moved.txt\n 1\n-2\n+two\n 3\n"
                          "*** End Patch\n");
    ck_no_error();
    ck_file("a.py", "class A:\n    def f(self):\n        return 1\n\n"
                    "class B:\n    def f(self):\n        return 2\n\nend = 2\n");
    ck_file("pkg/new.py", "import os\n\nx = 1\n");
    ck_file("moved.txt", "1\ntwo\n3\n");
    ck_assert(!test_exists(test_path("old.txt")) && !test_exists(test_path("move.txt")));
    ck_assert_int_eq(cJSON_GetArraySize(member(answer, "files_created")), 2);
    ck_assert_int_eq(cJSON_GetArraySize(member(answer, "files_deleted")), 2);
    ck_list("files_modified", "a.py");
    ck_assert_ptr_nonnull(strstr(text_of(answer, "diff"),
                                 "rename from move.txt\nrename to moved.txt\n--- a/move.txt\n"));
}
END_TEST

START_TEST(v4a_loose)
{
    make("a", "1  \n2\n3\n");
    patch(
        "\n*** Update File: a\n 1\n-2\n+two\n 3\n"); /* without its frame; blanks at the line end */
    ck_no_error();
    ck_file("a", "1  \ntwo\n3\n");
    ck_assert_ptr_nonnull(
        strstr(text_of(test_answer, "notes"), "regardless of blanks at line ends"));
    patch("*** Begin Patch\n*** Update File: a\n@@\n+last\n*** End of File\n*** End Patch");
    ck_file("a", "1  \ntwo\n3\nlast\n");
    /* One file twice: the second sees what the first did. */
    patch("*** Begin Patch\n*** Update File: a\n-3\n+three\n*** Update File: "
          "./a\n-three\n+drei\n*** End Patch");
    ck_no_error();
    ck_file("a", "1  \ntwo\ndrei\nlast\n");
    ck_list("files_modified", "a");
}
END_TEST

/*
 * ---- all or nothing ---------------------------------------------------------------------------
 */

START_TEST(all_or_nothing)
{
    make("a", "1\n");
    patch("*** Begin Patch\n*** Update File: a\n-1\n+2\n*** Add File: new\n+x\n"
          "*** Update File: a\n-7\n+8\n*** End Patch");
    ck_error("no file was changed");
    ck_file("a", "1\n");
    ck_assert(!test_exists(test_path("new")));
    /* The last one cannot be written: what was written before it goes back. */
    patch("*** Begin Patch\n*** Update File: a\n-1\n+2\n*** Add File: new\n+x\n*** Add File: "
          "/proc/nothing/x\n+x\n"
          "*** End Patch");
    ck_error("/proc/nothing/x");
    ck_file("a", "1\n");
    ck_assert(!test_exists(test_path("new")));
}
END_TEST

START_TEST(through_a_link)
{
    make("real", "1\n");
    ck_assert_int_eq(symlink("real", test_path("link")), 0);
    call("patch", "{'path': 'link', 'old_string': '1', 'new_string': '2'}");
    ck_no_error();
    ck_file("real", "2\n");
    struct stat status;
    ck_assert(lstat(test_path("link"), &status) == 0 && S_ISLNK(status.st_mode));
}
END_TEST

/*
 * ---- the diff ---------------------------------------------------------------------------------
 */

static unsigned random_below(unsigned *seed, unsigned most)
{
    *seed = *seed * 1103515245 + 12345;
    return (*seed >> 16) % most;
}

static void random_text(struct strbuf *text, unsigned *seed)
{
    unsigned lines = random_below(seed, 32);
    for (unsigned i = 0; i < lines; i++)
        strbuf_addf(text, "%u%s", random_below(seed, 8),
                    i + 1 < lines || random_below(seed, 4) ? "\n" : "");
}

/* What text_diff() says makes the new text out of the old one: by our own hand, and by git's. */
START_TEST(diffs_are_true)
{
    unsigned seed = 1, applied = 0;
    struct strbuf all = STRBUF_INIT;
    for (int i = 0; i < 200; i++) {
        struct strbuf old = STRBUF_INIT, new = STRBUF_INIT, diff = STRBUF_INIT;
        random_text(&old, &seed);
        random_text(&new, &seed);
        char *name = xasprintf("f%d", i);
        make(name, strbuf_text(&old));
        text_diff(&diff, name, strbuf_text(&old), old.size, name, strbuf_text(&new), new.size);
        ck_assert_int_eq(diff.size != 0, strcmp(strbuf_text(&old), strbuf_text(&new)) != 0);
        if (diff.size && new.size) {
            patch(strbuf_text(&diff));
            ck_no_error();
            ck_file(name, strbuf_text(&new));
            ck_assert_ptr_null(member(test_answer, "notes"));
            ck_assert_str_eq(text_of(test_answer, "diff"), strbuf_text(&diff));
            make(name, strbuf_text(&old));
            strbuf_add(&all, diff.data, diff.size);
            applied++;
            name = (free(name), xasprintf("want%d", i));
            make(name, strbuf_text(&new));
        }
        free(name);
        strbuf_free(&old);
        strbuf_free(&new);
        strbuf_free(&diff);
    }
    ck_assert_uint_gt(applied, 100);
    make("all.diff", strbuf_text(&all));
    strbuf_free(&all);
    char *line = NULL;
    ck_assert_int_gt(asprintf(&line,
                              "cd '%s' && git apply all.diff &&"
                              " for f in want*; do cmp $f f${f#want} || exit 1; done",
                              test_directory()),
                     0);
    const char *argv[] = {"/bin/sh", "-c", line, NULL};
    int fds[3] = {0, 1, 2};
    ck_assert_int_eq(test_reap(test_spawn(argv, fds, 3, NULL), 30000), 0);
    free(line);
}
END_TEST

/* Two big texts with nothing in common take neither all the memory nor all the time. */
START_TEST(big_diffs)
{
    struct strbuf old = STRBUF_INIT, new = STRBUF_INIT, diff = STRBUF_INIT;
    for (int i = 0; i < 20000; i++) {
        strbuf_addf(&old, "old %d\n", i);
        strbuf_addf(&new, "new %d\n", i);
    }
    int64_t start = test_now_ms();
    text_diff(&diff, "x", old.data, old.size, "x", new.data, new.size);
    ck_assert_int_lt(test_now_ms() - start, test_scaled_ms(5000));
    ck_assert_ptr_nonnull(strstr(diff.data, "@@ -1,20000 +1,20000 @@"));
    strbuf_free(&old);
    strbuf_free(&new);
    strbuf_free(&diff);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tool_patch");
    TCase *tests = tool_test_case(suite, "patch");
    tcase_add_test(tests, replaced);
    tcase_add_test(tests, not_unique);
    tcase_add_test(tests, not_there);
    tcase_add_test(tests, line_ends_stay);
    tcase_add_test(tests, bad_calls);
    tcase_add_test(tests, unified);
    tcase_add_test(tests, offset_and_fuzz);
    tcase_add_test(tests, careless_diffs);
    tcase_add_test(tests, line_ends_of_patches);
    tcase_add_test(tests, names_of_files);
    tcase_add_test(tests, bad_patches);
    tcase_add_test(tests, v4a);
    tcase_add_test(tests, v4a_loose);
    tcase_add_test(tests, all_or_nothing);
    tcase_add_test(tests, through_a_link);
    tcase_add_test(tests, diffs_are_true);
    tcase_add_test(tests, big_diffs);
    return test_run(suite);
}
