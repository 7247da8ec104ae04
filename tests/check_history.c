/* SPDX-License-Identifier: MIT */
/*
 * The history's walk: own entries before others', doubles once, searches; and that it stays fast.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "testlib.h"

static struct history *history;

static void set_up(void)
{
    history = history_new();
}

static void tear_down(void)
{
    history_free(history);
}

static void add(const char *session, const char *text)
{
    history_add(history, session, text, strlen(text));
}

static const char *at(const char *session, size_t n)
{
    size_t size;
    const char *text = history_at(history, session, n, &size);
    ck_assert(!text || strlen(text) == size);
    return text;
}

/* The place of what is found; -1: nothing. */
static long find(const char *session, const char *text, bool prefix, int step, size_t n)
{
    size_t found;
    return history_find(history, session, text, strlen(text), prefix, step, n, &found) ? (long)found
                                                                                       : -1;
}

START_TEST(empty)
{
    ck_assert_ptr_null(at("a", 0));
    ck_assert_int_eq(find("a", "", true, 1, 0), -1);
    ck_assert_uint_eq(history_count(history), 0);
    ck_assert_uint_eq(history_session_count(history, "a"), 0);
}
END_TEST

START_TEST(own_entries_come_first)
{
    add("a", "a1");
    add("b", "b1");
    add("a", "a2");
    add("c", "c1");
    const char *const of_a[] = {"a2", "a1", "c1", "b1"}, *const of_b[] = {"b1", "c1", "a2", "a1"};
    const char *const of_new[] = {"c1", "a2", "b1", "a1"};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_str_eq(at("a", i), of_a[i]);
        ck_assert_str_eq(at("b", i), of_b[i]);
        ck_assert_str_eq(at("new", i), of_new[i]);
    }
    ck_assert_ptr_null(at("a", 4));
    ck_assert_uint_eq(history_session_count(history, "a"), 2);
    /* What is added is seen in a walk that was begun, also that of a session without entries. */
    add("b", "b2");
    ck_assert_str_eq(at("new", 0), "b2");
    add("new", "n1");
    ck_assert_str_eq(at("new", 0), "n1");
    ck_assert_str_eq(at("new", 1), "b2");
    ck_assert_uint_eq(history_count(history), 6);
}
END_TEST

START_TEST(what_is_not_added)
{
    add("a", "x");
    add("a", "x");
    add("a", "");
    add("a", "  \n\t");
    add("a", " secret");
    ck_assert_uint_eq(history_count(history), 1);
    add("b", "x"); /* another session */
    add("a", "y");
    add("a", "x"); /* no longer the newest */
    ck_assert_uint_eq(history_count(history), 4);
}
END_TEST

START_TEST(doubles_are_found_once)
{
    add("b", "for x");
    add("a", "for x");
    add("a", "print");
    add("a", "for x");
    add("b", "for y");
    /* walk of a: for x, print, for x, for y, for x */
    ck_assert_int_eq(find("a", "for", true, 1, 0), 0);
    ck_assert_int_eq(find("a", "for", true, 1, 1), 3);
    ck_assert_int_eq(find("a", "for", true, 1, 4), -1);
    ck_assert_int_eq(find("a", "for", true, -1, 4), 3);
    ck_assert_int_eq(find("a", "for", true, -1, 2), 0);
    /* for b it is its own, however old */
    ck_assert_int_eq(find("b", "for x", true, 1, 0), 1);
    ck_assert_int_eq(find("b", "for x", true, 1, 2), -1);
    add("b", "for x");
    ck_assert_int_eq(find("b", "for x", true, 1, 0), 0);
    ck_assert_int_eq(find("b", "for x", true, 1, 1), -1);
}
END_TEST

START_TEST(prefix_and_substring)
{
    add("a", "import os");
    add("a", "x = 1\nimport sys");
    ck_assert_int_eq(find("a", "import", true, 1, 0), 1);
    ck_assert_int_eq(find("a", "import", false, 1, 0), 0);
    ck_assert_int_eq(find("a", "sys", true, 1, 0), -1);
    ck_assert_int_eq(find("a", "", true, 1, 0), 0);
    ck_assert_int_eq(find("a", "import os and more", true, 1, 0), -1);
}
END_TEST

START_TEST(long_texts)
{
    static char text[200000];
    memset(text, 'x', sizeof text - 1);
    add("a", "first");
    add("a", text);
    add("a", "last");
    ck_assert_str_eq(at("a", 0), "last");
    ck_assert_str_eq(at("a", 1), text);
    ck_assert_str_eq(at("a", 2), "first");
}
END_TEST

START_TEST(a_hundred_thousand)
{
    char text[80];
    for (int i = 0; i < 100000; i++) {
        snprintf(text, sizeof text, "result_%d = compute(%d, mode='fast') + %d", i, i * 7, i % 10);
        add(i % 3 ? "main" : "other", text);
    }
    ck_assert_uint_eq(history_count(history), 100000);
    ck_assert_int_eq(find("main", "result_1 =", true, 1, 0), 66665);
    int64_t before = test_now_ms();
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(find("main", "not there", false, 1, 0), -1);
    /* 1.5 ms each on a quiet machine; this one may be busy. */
    ck_assert_int_lt(test_now_ms() - before, test_scaled_ms(20 * 25));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("history");
    TCase *walk = tcase_create("walk");

    tcase_add_checked_fixture(walk, set_up, tear_down);
    tcase_add_test(walk, empty);
    tcase_add_test(walk, own_entries_come_first);
    tcase_add_test(walk, what_is_not_added);
    tcase_add_test(walk, doubles_are_found_once);
    tcase_add_test(walk, prefix_and_substring);
    tcase_add_test(walk, long_texts);
    tcase_add_test(walk, a_hundred_thousand);
    suite_add_tcase(suite, walk);
    return test_run(suite);
}
