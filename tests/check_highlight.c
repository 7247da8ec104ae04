/* SPDX-License-Identifier: MIT */
/*
 * Colours, each row a source and below it a letter for each byte; unfinished code; brackets. That
 * the classes are Python's own on all of the standard library is looked at by
 * tests/frame/highlight.py.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "highlight.h"
#include "testlib.h"

/* . plain, k keyword, b builtin, s string, n number, c comment, @ decorator, d definition, o operator,
 * ! command, E error */
static const char letters[] = ".kbsnc@do!E";

static const struct {
    const char *source, *classes;
} rows[] = {
    {"if x: pass", "kk..o.kkkk"},
    {"x = 1_0.5e-3j", "..o.nnnnnnnnn"},
    {"0x1f 0b1_1 0o7 1. .5 1e5 07", "nnnn.nnnnn.nnn.nn.nn.nnn.nn"},
    {"1if x else 2", "nkk...kkkk.n"},
    {"x1 = y.real", "...o......."},
    {"'a' \"b\" r'\\n' b'c' rb\"\"", "sss.sss.sssss.ssss.ssss"},
    {"def f(): return None", "kkk.d..o.kkkkkk.kkkk"},
    {"class A(B): pass", "kkkkk.d...o.kkkk"},
    {"@a.b(1)\ndef f(): 0", "@@@@.n..kkk.d..o.n"},
    {"a @ b", "..o.."},
    {"print(x.print, id=3)", "bbbbb............on."},
    {"# c", "ccc"},
    {"x # c 'x", "..cccccc"},
    {"from . import x", "kkkk...kkkkkk.."},
    {"f'a{x!r:>{w}}b{{c'", "sss..o.os....sssss"},
    {"'''a\nb''' + 1", "ssss.ssss.o.n"},
    {"f'''{\nx}'''", "ssss...."
                     "sss"},
    /* unfinished */
    {"x = 'abc", "..o.ssss"},
    {"x = '''a\nif", "..o.ssss.ss"},
    {"f'{x", "ss.."},
    {"print(", "bbbbb."},
    {"def ", "kkk."},
    /* soft keywords, and the same words as names */
    {"match x:", "kkkkk..o"},
    {"match x", "kkkkk.."},
    {"match = 1", "......o.n"},
    {"match(x)", "........"},
    {"match (x):", "kkkkk....o"},
    {"match in x", "......kk.."},
    {"case _ if x:", "kkkk...kk..o"},
    {"case = [1]", ".....o..n."},
    {"type X = int", "kkkk...o.bbb"},
    {"type(x)", "bbbb..."},
    /* commands */
    {":reset now", "!!!!!!!!!!"},
    {"!ls 'x", "!!!!!!"},
    {"%time x", "!!!!!!!"},
    {"x?", "!!"},
    {"x = !ls", "....!!!"},
    {"x = 5 % 3", "..o.n.o.n"},
    {"(\n:x)", "..o.."},
    /* what cannot be */
    {"x)", ".E"},
    {"(]", ".E"},
    {"a $ b", "..E.."},
    {"a ! b", "..E.."},
    {"a != b", "..oo.."},
};

static char *classes_of(const char *source)
{
    size_t size = strlen(source);
    uint8_t *classes = malloc(size + 1);
    ck_assert_ptr_nonnull(classes);
    memset(classes, 0xEE, size + 1);
    highlight_python(source, size, classes);
    ck_assert_uint_eq(classes[size], 0xEE);
    for (size_t i = 0; i < size; i++) {
        ck_assert_uint_lt(classes[i], HIGHLIGHT_COUNT);
        classes[i] = (uint8_t)letters[classes[i]];
    }
    classes[size] = '\0';
    return (char *)classes;
}

START_TEST(classes)
{
    char *got = classes_of(rows[_i].source);
    ck_assert_msg(strcmp(got, rows[_i].classes) == 0, "%s\ngot:\n%s\nwanted:\n%s", rows[_i].source,
                  got, rows[_i].classes);
    free(got);
}
END_TEST

/* Each beginning of a source has the classes of the whole, but near its end. */
START_TEST(unfinished_is_not_worse)
{
    const char *source = "def f(a, b=1):\n    \"\"\"doc\"\"\"\n    return f'{a!r}' + 'b' # end\n";
    size_t size = strlen(source);
    uint8_t whole[128], part[128];
    highlight_python(source, size, whole);
    for (size_t cut = 0; cut < size; cut++) {
        highlight_python(source, cut, part);
        for (size_t i = 0; i + 8 < cut; i++)
            ck_assert_msg(whole[i] == part[i], "cut at %zu: byte %zu is %d, not %d", cut, i,
                          part[i], whole[i]);
    }
}
END_TEST

/* ---- brackets: ^ is the point, < and > the pair ---------------------------------------------- */

static const struct {
    const char *source, *pair;
} brackets[] = {
    {"f(a)", " ^ >"}, {"f(a)", " < ^"},   {"f(a)", " <  ^"}, {"f(a", " ^"},   {"f(')')", " <    ^"},
    {"(a]", "^"},     {"([{}])", "  ^>"}, {"(]", "^"},       {"# ()", "  ^"}, {"(\n)", "^ >"},
};

START_TEST(pairs)
{
    const char *source = brackets[_i].source, *pair = brackets[_i].pair;
    size_t point = (size_t)(strchr(pair, '^') - pair), open = 99, close = 99;
    const char *other = strpbrk(pair, "<>");
    bool found = highlight_brackets(source, strlen(source), point, &open, &close);
    ck_assert_int_eq(found, other != NULL);
    if (!other)
        return;
    ck_assert_uint_eq(*other == '<' ? open : close, (size_t)(other - pair));
}
END_TEST

START_TEST(brackets_in_fields)
{
    size_t open, close;
    ck_assert(highlight_brackets("f'{a[0]}'", 9, 4, &open, &close));
    ck_assert_uint_eq(open, 4);
    ck_assert_uint_eq(close, 6);
    ck_assert(!highlight_brackets("'(' )", 5, 1, &open, &close));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("highlight");
    TCase *colours = tcase_create("colours"), *pair = tcase_create("pairs");

    tcase_add_loop_test(colours, classes, 0, (int)(sizeof rows / sizeof *rows));
    tcase_add_test(colours, unfinished_is_not_worse);
    suite_add_tcase(suite, colours);
    tcase_add_loop_test(pair, pairs, 0, (int)(sizeof brackets / sizeof *brackets));
    tcase_add_test(pair, brackets_in_fields);
    suite_add_tcase(suite, pair);
    return test_run(suite);
}
