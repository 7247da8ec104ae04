/* SPDX-License-Identifier: MIT */
/*
 * The prompt's editor as fingers meet it: bytes of a terminal go through the tokeniser into the
 * editor; looked at are the text, the point and what the editor asks for.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "edit.h"
#include "testlib.h"
#include "xalloc.h"

static struct history *history;
static struct edit *edit;
static struct keys *keys;
static unsigned reaction; /* to the last key */
static unsigned all;      /* to all of the last type() */

static void set_up(void)
{
    setenv("INPUTRC", "/dev/null", 1);
    history = history_new();
    edit = edit_new(history);
    edit_set_session(edit, "main");
    keys = keys_new();
}

static void tear_down(void)
{
    edit_free(edit);
    history_free(history);
    keys_free(keys);
}

static void type(const char *bytes)
{
    struct key key;
    keys_feed(keys, bytes, strlen(bytes));
    for (all = 0; keys_next(keys, true, &key); all |= reaction)
        reaction = edit_key(edit, &key);
}

static const char *text(void)
{
    static char *copy;
    size_t size;
    const char *shown = edit_text(edit, &size);
    free(copy);
    copy = xmemdup0(shown, size);
    return copy;
}

/* The text with | at the point. */
static const char *view(void)
{
    static char *copy;
    size_t size, point = edit_point(edit);
    const char *shown = edit_text(edit, &size);
    ck_assert_uint_le(point, size);
    free(copy);
    copy = xasprintf("%.*s|%.*s", (int)point, shown, (int)(size - point), shown + point);
    return copy;
}

static void take(const char *wanted)
{
    size_t size;
    char *block = edit_take(edit, &size);
    ck_assert_str_eq(block, wanted);
    ck_assert_uint_eq(size, strlen(wanted));
    free(block);
    ck_assert_str_eq(text(), "");
}

static void run(const char *bytes)
{
    size_t size;
    type(bytes);
    type("\033\r");
    ck_assert_uint_ne(all & EDIT_SUBMIT, 0);
    free(edit_take(edit, &size));
}

static void set(const char *block)
{
    edit_set(edit, block, strlen(block), strlen(block));
}

/* ---- typing --------------------------------------------------------------------------------- */

START_TEST(types_and_submits)
{
    type("print(1)");
    ck_assert_str_eq(view(), "print(1)|");
    ck_assert_uint_eq(reaction, EDIT_CHANGED);
    type("\r");
    ck_assert_uint_ne(reaction & EDIT_SUBMIT, 0);
    take("print(1)");
    ck_assert_uint_eq(history_count(history), 1);
}
END_TEST

START_TEST(characters_of_all_sizes)
{
    type("h\xC3\xA9 \xE4\xB8\x96\xE7\x95\x8C \xF0\x9F\x9A\x80");
    ck_assert_str_eq(view(), "h\xC3\xA9 \xE4\xB8\x96\xE7\x95\x8C \xF0\x9F\x9A\x80|");
    type("\177\177\177");
    ck_assert_str_eq(view(), "h\xC3\xA9 \xE4\xB8\x96|");
    type("\033[D\033[D\033[D\004");
    ck_assert_str_eq(view(), "h| \xE4\xB8\x96");
}
END_TEST

START_TEST(enter_where_the_cursor_is)
{
    type("f(1)\001\r");
    ck_assert_uint_ne(reaction & EDIT_SUBMIT, 0);
    take("f(1)");
    /* In the middle of a block it begins a line. */
    set("a = 1\nb = 2");
    type("\033[A\033[H\r");
    ck_assert_uint_eq(reaction & EDIT_SUBMIT, 0);
    ck_assert_str_eq(view(), "\n|a = 1\nb = 2");
    set("a = 1\nb = 2");
    type("\001\r");
    ck_assert_uint_ne(reaction & EDIT_SUBMIT, 0);
}
END_TEST

START_TEST(a_block)
{
    type("for i in x:\r");
    ck_assert_str_eq(view(), "for i in x:\n    |");
    type("if i:\rbreak\r");
    ck_assert_str_eq(view(), "for i in x:\n    if i:\n        break\n    |");
    type("print(i,\r");
    ck_assert_str_eq(view(), "for i in x:\n    if i:\n        break\n    print(i,\n          |");
    type("2)\r");
    ck_assert_str_eq(view(),
                     "for i in x:\n    if i:\n        break\n    print(i,\n          2)\n    |");
    ck_assert_uint_eq(all & EDIT_SUBMIT, 0);
    type("\r");
    ck_assert_uint_ne(reaction & EDIT_SUBMIT, 0);
    take("for i in x:\n    if i:\n        break\n    print(i,\n          2)");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("edit");
    TCase *typing = tcase_create("typing");

    tcase_add_checked_fixture(typing, set_up, tear_down);
    tcase_add_test(typing, types_and_submits);
    tcase_add_test(typing, characters_of_all_sizes);
    tcase_add_test(typing, enter_where_the_cursor_is);
    tcase_add_test(typing, a_block);
    suite_add_tcase(suite, typing);
    (void)run;
    return test_run(suite);
}
