/* SPDX-License-Identifier: MIT */
/*
 * The byte buffer and the allocation helpers beneath it.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "buf.h"
#include "testlib.h"

START_TEST(starts_empty)
{
    struct hr_buf buf;

    hr_buf_init(&buf, 0);
    ck_assert_ptr_null(buf.data);
    ck_assert_uint_eq(buf.size, 0);
    ck_assert(!buf.failed);
    ck_assert(hr_buf_add(&buf, "", 0));
    ck_assert(hr_buf_add(&buf, NULL, 0));
    hr_buf_done(&buf);
    hr_buf_done(&buf);
}
END_TEST

START_TEST(take_of_nothing_is_an_empty_text)
{
    struct hr_buf buf;
    char *text;

    hr_buf_init(&buf, 0);
    text = hr_buf_take(&buf);
    ck_assert_str_eq(text, "");
    hr_free(text);
}
END_TEST

START_TEST(grows)
{
    struct hr_buf buf;
    size_t i;
    char *text;

    hr_buf_init(&buf, 0);
    for (i = 0; i < 5000; i++) {
        char c = (char)('a' + i % 26);

        ck_assert(hr_buf_add(&buf, &c, 1));
        if (buf.data[buf.size] != '\0' || buf.size != i + 1 || buf.capacity <= buf.size)
            ck_abort_msg("after %zu", i);
    }
    for (i = 0; i < 5000; i++)
        if (buf.data[i] != (char)('a' + i % 26))
            ck_abort_msg("at %zu", i);
    text = hr_buf_take(&buf);
    ck_assert_uint_eq(strlen(text), 5000);
    ck_assert_ptr_null(buf.data);
    ck_assert_uint_eq(buf.size + buf.capacity, 0);
    hr_free(text);
}
END_TEST

START_TEST(text_printf_and_numbers)
{
    struct hr_buf buf;
    char *text;

    hr_buf_init(&buf, 0);
    ck_assert(hr_buf_add_text(&buf, "one "));
    ck_assert(hr_buf_printf(&buf, "%d-%s", 2, "two"));
    ck_assert(hr_buf_printf(&buf, "%s", ""));
    ck_assert_str_eq(buf.data, "one 2-two");
    hr_buf_clear(&buf);
    ck_assert(hr_buf_add_u32(&buf, 0x01020384u));
    ck_assert_uint_eq(buf.size, 4);
    ck_assert_int_eq(memcmp(buf.data, "\x84\x03\x02\x01", 5), 0); /* with the NUL */
    hr_buf_clear(&buf);
    ck_assert(hr_buf_printf(&buf, "%0*d", 10000, 7));
    ck_assert_uint_eq(strspn(buf.data, "0"), 9999);
    text = hr_buf_take(&buf);
    ck_assert_str_eq(text + 9999, "7");
    hr_free(text);
}
END_TEST

START_TEST(maximum_holds)
{
    struct hr_buf buf;

    hr_buf_init(&buf, 10);
    ck_assert(hr_buf_add_text(&buf, "1234567890"));
    ck_assert(!hr_buf_add_text(&buf, "x"));
    ck_assert(buf.failed);
    ck_assert_str_eq(buf.data, "1234567890");
    ck_assert(!hr_buf_printf(&buf, "%d", 1));
    ck_assert(!hr_buf_add_u32(&buf, 1));
    ck_assert_uint_eq(buf.size, 10);
    hr_buf_consume(&buf, 4);
    ck_assert_str_eq(buf.data, "567890");
    ck_assert(
        hr_buf_add_text(&buf, "abcd")); /* there is room again, but the failure is remembered */
    ck_assert(buf.failed);
    ck_assert_ptr_null(hr_buf_take(&buf));
    ck_assert(!buf.failed);
    ck_assert_uint_eq(buf.size, 0);
    ck_assert_uint_eq(buf.maximum, 10);
    hr_buf_done(&buf);
}
END_TEST

START_TEST(huge_sizes_fail)
{
    struct hr_buf buf;

    hr_buf_init(&buf, 0);
    ck_assert(hr_buf_add_text(&buf, "x"));
    ck_assert(!hr_buf_reserve(&buf, SIZE_MAX));
    ck_assert(!hr_buf_reserve(&buf, SIZE_MAX - 1));
    ck_assert(!hr_buf_reserve(&buf, SIZE_MAX / 2));
    ck_assert_str_eq(buf.data, "x");
    ck_assert_uint_eq(buf.size, 1);
    hr_buf_done(&buf);
}
END_TEST

START_TEST(reserve_changes_no_text)
{
    struct hr_buf buf;
    char *before;

    hr_buf_init(&buf, 0);
    ck_assert(hr_buf_reserve(&buf, 100));
    ck_assert_str_eq(buf.data, "");
    before = buf.data;
    memset(buf.data, 'x', 100);
    buf.data[100] = '\0';
    buf.size = 100;
    ck_assert(hr_buf_reserve(&buf, 0));
    ck_assert_ptr_eq(buf.data, before);
    hr_buf_done(&buf);
}
END_TEST

START_TEST(consume)
{
    struct hr_buf buf;

    hr_buf_init(&buf, 0);
    hr_buf_add_text(&buf, "abcdef");
    hr_buf_consume(&buf, 0);
    ck_assert_str_eq(buf.data, "abcdef");
    hr_buf_consume(&buf, 2);
    ck_assert_str_eq(buf.data, "cdef");
    hr_buf_consume(&buf, 4);
    ck_assert_str_eq(buf.data, "");
    ck_assert_uint_eq(buf.size, 0);
    hr_buf_done(&buf);
}
END_TEST

START_TEST(consume_of_nothing)
{
    struct hr_buf buf;

    hr_buf_init(&buf, 0);
    hr_buf_consume(&buf, 0);
    ck_assert_uint_eq(buf.size, 0);
    hr_buf_done(&buf);
}
END_TEST

START_TEST(clear_keeps_the_memory_and_ends_the_text)
{
    struct hr_buf buf;
    size_t capacity;

    hr_buf_init(&buf, 0);
    hr_buf_clear(&buf);
    hr_buf_add_text(&buf, "abcdef");
    capacity = buf.capacity;
    hr_buf_clear(&buf);
    ck_assert_uint_eq(buf.capacity, capacity);
    ck_assert_str_eq(buf.data, "");
    hr_buf_done(&buf);
}
END_TEST

START_TEST(copies)
{
    char *text = hr_memdup("a\0b", 3);

    ck_assert_int_eq(memcmp(text, "a\0b", 4), 0);
    hr_free(text);
    text = hr_memdup(NULL, 0);
    ck_assert_str_eq(text, "");
    hr_free(text);
    ck_assert_ptr_null(hr_strdup(NULL));
    text = hr_printf("%s/%d", "x", 7);
    ck_assert_str_eq(text, "x/7");
    hr_free(text);
    hr_free(NULL);
    text = hr_malloc(0);
    ck_assert_ptr_nonnull(text);
    text = hr_realloc(text, 10);
    ck_assert_ptr_nonnull(text);
    hr_free(text);
    text = hr_calloc(4, 2);
    ck_assert_int_eq(memcmp(text, "\0\0\0\0\0\0\0", 8), 0);
    hr_free(text);
}
END_TEST

#ifdef HERMES_FAULT_INJECTION
START_TEST(no_memory)
{
    struct hr_buf buf;

    hr_buf_init(&buf, 0);
    hermes_fault_set(HR_FAULT_ALLOC, 1);
    ck_assert(!hr_buf_add_text(&buf, "x"));
    ck_assert(buf.failed);
    ck_assert_ptr_null(hr_buf_take(&buf));
    ck_assert(hr_buf_add_text(&buf, "kept"));
    hermes_fault_set(HR_FAULT_ALLOC, 1);
    ck_assert(!hr_buf_printf(&buf, "%0*d", 1000, 7));
    ck_assert_str_eq(buf.data, "kept");
    hr_buf_clear(&buf);
    hr_buf_done(&buf);
    hermes_fault_set(HR_FAULT_ALLOC, 1);
    ck_assert_ptr_null(hr_buf_take(&buf));
    hermes_fault_set(HR_FAULT_ALLOC, 1);
    ck_assert_ptr_null(hr_strdup("x"));
    hermes_fault_set(HR_FAULT_ALLOC, 1);
    ck_assert_ptr_null(hr_printf("x"));
    hermes_fault_set(HR_FAULT_ALLOC, 0);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("buf");
    TCase *tcase = tcase_create("buf");

    tcase_add_test(tcase, starts_empty);
    tcase_add_test(tcase, take_of_nothing_is_an_empty_text);
    tcase_add_test(tcase, grows);
    tcase_add_test(tcase, text_printf_and_numbers);
    tcase_add_test(tcase, maximum_holds);
    tcase_add_test(tcase, huge_sizes_fail);
    tcase_add_test(tcase, reserve_changes_no_text);
    tcase_add_test(tcase, consume);
    tcase_add_test(tcase, consume_of_nothing);
    tcase_add_test(tcase, clear_keeps_the_memory_and_ends_the_text);
    tcase_add_test(tcase, copies);
#ifdef HERMES_FAULT_INJECTION
    tcase_add_test(tcase, no_memory);
#endif
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
