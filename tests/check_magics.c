/* SPDX-License-Identifier: MIT */
/*
 * IPython's syntax as Python: what is translated, what is left alone, what is refused. The
 * end-to-end suite runs the results.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "magics.h"
#include "testlib.h"

static struct magics_result translate(const char *source)
{
    return magics_translate(source, strlen(source), "cell 3");
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

START_TEST(plain_python_is_untouched)
{
    static const char *const sources[] = {
        "",
        "x = 1\n",
        "x = 5 % 3\nassert x != 2\n",
        "x = (5\n% 3)\n",
        "x = [\n!a]\n",
        "s = '''\n%matplotlib inline\n!ls\nhow?\n'''\n",
        "x = 1 + \\\n% 3\n",
        "# %matplotlib inline\n#!ls\n",
        "print('what?')\n",
        "a = '!'\nb = a %2\n",
        "x =% 3\ny != 2\n",
        "if c in '=!<':\n    pass\n",
        "if c in \"=%a\":\n    pass\n",
        "f'''{a!r}\n!ls\n'''\n",
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        struct magics_result result = translate(sources[i]);
        ck_assert_msg(!result.source, "%s became %s", sources[i], result.source);
    }
}
END_TEST

START_TEST(lines_stay_lines)
{
    static const struct {
        const char *source, *want;
    } rows[] = {
        {"%matplotlib inline\nx = 1\n", "\nx = 1\n"},
        {"!ls -l\n", "_exit_code = __import__('subprocess').call(\"ls -l\", shell=True)"},
        {"if x:\n    !ls\n", "if x:\n    _exit_code = "},
        {"files = !ls *.py\n",
         "files = __import__('subprocess').getoutput(\"ls *.py\").splitlines()"},
        {"a, b = !ls\n", "a, b = __import__"},
        {"!!ls\n", "__import__('subprocess').getoutput(\"ls\").splitlines()"},
        {"!echo {x} $y {z.a[0]} $$ {{}} {a,b} ${H} 'it'\"s\"\n", "\"echo \" + (str(x) if 'x' in"},
        {"%cd /tmp\n", "chdir("},
        {"%env A=1\n", "environ[\"A\"] = \"1\""},
        {"%env A 1\n", "environ[\"A\"] = \"1\""},
        {"%env A\n", "__import__('os').environ[\"A\"]"},
        {"%pip install x\n", "' -m pip ' + \"install x\""},
        {"%time x = f(a=1)\n", "x = (lambda start, value:"},
        {"%time f(a=1) == 2\n", "(__import__('time').perf_counter(), (f(a=1) == 2))"},
        {"%time import os\n", "exec("},
        {"%load_ext autoreload\n%autoreload 2\nx\n", "pass\npass\nx\n"},
        {"%config InlineBackend.figure_format = 'svg'\n", "pass\n"},
        {"x?\n?print\nos.path??\n", "pass\npass\npass\n"},
        {"!a \\\n  b\ny\n", "\"a   b\""},
        {"%%capture out\nprint(1)\n", "'words': \"out\""},
        {"%%bash\necho 1\n",
         "split(\"bash\" + ' ' + \"\"), check=True, input=\"echo 1\\n\".encode()"},
        {"%%script sed s/a/b/\na\n", "split(\"sed s/a/b/\")"},
        {"# note\n\n%%sh -e\nfalse\n", "# note\n\n_exit_code"},
        {"%%writefile a.txt\nhello\n", "'code': \"hello\\n\""},
        {"%%html\n<b>\n", "pass"},
        {"  %cd /tmp\n", "\t#magic\t  %cd /tmp\n"},
        {"x = !ls \\\n  -l\n", "\t#magic\tx = !ls   -l\n\n"},
        {"%%sh\nfalse\n", "\t#magic\t%%sh\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct magics_result result = translate(rows[i].source);
        ck_assert_msg(result.source && strstr(result.source, rows[i].want), "%s became %s",
                      rows[i].source, result.source);
        ck_assert_uint_eq(result.size, strlen(result.source));
        if (strncmp(rows[i].source, "%%", 2) != 0 && rows[i].source[0] != '#')
            ck_assert_uint_eq(count_lines(result.source), count_lines(rows[i].source));
        free(result.source);
    }
}
END_TEST

START_TEST(unknown_magics_name_the_cell)
{
    static const char *const sources[] = {"%store x\n", "%%cython\nint x\n", "x = %sql select 1\n",
                                          "%load_ext sql\n", "  %foo\n"};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        struct magics_result result = translate(sources[i]);
        ck_assert_msg(strstr(result.source, "raise NotImplementedError("), "%s", result.source);
        ck_assert_msg(strstr(result.source, "cell 3: the magic %") ||
                          strstr(result.source, "load_ext"),
                      "%s", result.source);
        free(result.source);
    }
}
END_TEST

START_TEST(time_of_a_cell)
{
    struct magics_result result = translate("%%time\n!ls\nx = 1\n");
    ck_assert(result.wall_time);
    ck_assert_str_eq(result.source,
                     "\n_exit_code = __import__('subprocess').call(\"ls\", shell=True)"
                     "\t#magic\t!ls\nx = 1\n");
    free(result.source);
    result = translate("%%capture\n!ls\n");
    ck_assert_ptr_nonnull(strstr(result.source, "subprocess"));
    free(result.source);
}
END_TEST

START_TEST(nul_in_a_magic)
{
    static const char source[] = "!a\0b\n%x\0y\n";
    struct magics_result result = magics_translate(source, sizeof source - 1, "cell 1");
    ck_assert_ptr_nonnull(strstr(result.source, "\\x00"));
    free(result.source);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("magics");
    TCase *tests = tcase_create("magics");

    tcase_add_test(tests, plain_python_is_untouched);
    tcase_add_test(tests, lines_stay_lines);
    tcase_add_test(tests, unknown_magics_name_the_cell);
    tcase_add_test(tests, time_of_a_cell);
    tcase_add_test(tests, nul_in_a_magic);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
