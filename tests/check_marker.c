/* SPDX-License-Identifier: MIT */
/* Marks in the output of a terminal: found at every cut, and text that looks like them is kept. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "marker.h"
#include "testlib.h"

static const unsigned char RANDOM[8] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};

#define START                                                                                      \
    "\x1f"                                                                                         \
    "0123456789ABCDEF"

/* Feed in pieces; marks appear as [number]. */
static void feed(struct hr_marker *marker, const char *data, size_t size, size_t piece,
                 struct hr_buf *out)
{
    while (size) {
        size_t n = size < piece ? size : piece, left = n, text_size;
        enum hr_marker_found found;
        const char *at = data, *text;
        uint64_t number;
        char *copy = malloc(n); /* so that reads beyond are found */

        memcpy(copy, at, n);
        at = copy;
        while ((found = hr_marker_take(marker, &at, &left, &text, &text_size, &number))) {
            if (found == HR_MARKER_TEXT)
                hr_buf_add(out, text, text_size);
            else
                hr_buf_printf(out, "[%llu]", (unsigned long long)number);
        }
        ck_assert_uint_eq(left, 0);
        free(copy);
        data += n;
        size -= n;
    }
}

static void becomes(const char *data, size_t size, const char *expected, size_t expected_size)
{
    for (size_t piece = 1; piece <= size; piece++) {
        struct hr_marker marker;
        struct hr_buf out;
        const char *rest;
        size_t rest_size;

        hr_marker_init(&marker, RANDOM);
        hr_buf_init(&out, 0);
        feed(&marker, data, size, piece, &out);
        rest_size = hr_marker_finish(&marker, &rest);
        hr_buf_add(&out, rest, rest_size);
        ck_assert_msg(out.size == expected_size && !memcmp(out.data, expected, expected_size),
                      "pieces of %zu: %.*s", piece, (int)out.size, out.data);
        hr_buf_done(&out);
    }
}

#define BECOMES(data, expected) becomes(data, sizeof data - 1, expected, sizeof expected - 1)

START_TEST(marks_are_taken_out)
{
    BECOMES("abc" START "0000000000000001"
            "def",
            "abc[1]def");
    BECOMES(START "000000000000000A" START "00000000000000FF", "[10][255]");
    BECOMES(START "FFFFFFFFFFFFFFFF", "[18446744073709551615]");
    BECOMES("\0a\0" START "0000000000000002"
            "\0",
            "\0a\0[2]\0");
}
END_TEST

START_TEST(what_looks_like_a_mark_is_kept)
{
    BECOMES("\x1f", "\x1f");
    BECOMES("a\x1f"
            "b",
            "a\x1f"
            "b");
    BECOMES("\x1f\x1f\x1f", "\x1f\x1f\x1f");
    BECOMES("\x1f"
            "0123456",
            "\x1f"
            "0123456");
    BECOMES("\x1f"
            "0123456\x1f"
            "0123456789ABCDEF0000000000000003x",
            "\x1f"
            "0123456[3]x");
    BECOMES("\x1f"
            "0123456789ABCDEE0000000000000003x",
            "\x1f"
            "0123456789ABCDEE0000000000000003x");
    BECOMES(START "000000000000000x", START "000000000000000x");
    BECOMES(START "000000000000000a", START "000000000000000a");
    BECOMES(START "00" START "0000000000000004", START "00[4]");
}
END_TEST

/* What is long enough to be nothing else goes with the one who was killed while writing it. */
START_TEST(half_a_mark_at_the_end_is_not_shown)
{
    BECOMES("end" START "0000", "end");
    BECOMES("end" START, "end");
    BECOMES("end\x1f"
            "01234567",
            "end");
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("marker");
    TCase *marks = tcase_create("marks");

    tcase_add_test(marks, marks_are_taken_out);
    tcase_add_test(marks, what_looks_like_a_mark_is_kept);
    tcase_add_test(marks, half_a_mark_at_the_end_is_not_shown);
    suite_add_tcase(suite, marks);
    return suite;
}

int main(void)
{
    return test_run(suite());
}
