/* SPDX-License-Identifier: MIT */
/*
 * The redactor of the public interface: raw bytes in any pieces become text without secrets, and
 * nothing else of them is lost or out of place.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "hermes-kernel.h"
#include "redact.h"
#include "testlib.h"
#include "text.h"

#define KEY "ghp_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define MASKED "ghp_AA...AAAA"
#define ESC "\x1b"

/* ---- helpers ---------------------------------------------------------------------------- */

/* Append what a call gave. */
static void take(int status, char *text, size_t size, struct hr_buf *out)
{
    ck_assert_int_eq(status, HERMES_OK);
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(text[size], '\0');
    ck_assert(hr_utf8_valid(text, size));
    ck_assert(hr_buf_add(out, text, size));
    hermes_free(text);
}

static void feed(struct hermes_redactor *redactor, const char *data, size_t size,
                 struct hr_buf *out)
{
    char *text;
    size_t n;
    int status = hermes_redactor_feed(redactor, data, size, &text, &n);

    take(status, text, n, out);
}

static void flush(struct hermes_redactor *redactor, struct hr_buf *out)
{
    char *text;
    size_t n;
    int status = hermes_redactor_flush(redactor, &text, &n);

    take(status, text, n, out);
    ck_assert_uint_eq(hermes_redactor_held(redactor), 0);
}

static void finish(struct hermes_redactor *redactor, struct hr_buf *out)
{
    char *text;
    size_t n;
    int status = hermes_redactor_finish(redactor, &text, &n);

    take(status, text, n, out);
    ck_assert_uint_eq(hermes_redactor_held(redactor), 0);
}

static void feed_pieces(struct hermes_redactor *redactor, const char *data, size_t size,
                        size_t piece, struct hr_buf *out)
{
    for (size_t n; size > 0; data += n, size -= n) {
        n = piece && piece < size ? piece : size;
        feed(redactor, data, n, out);
    }
    finish(redactor, out);
}

/* One redactor for all the pieces, since it is as new after the end. */
static void becomes_sized(const char *data, size_t size, const char *expected)
{
    static const size_t pieces[] = {0, 1, 2, 3, 7, 50};
    struct hermes_redactor *redactor = hermes_redactor_new();

    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct hr_buf out;

        hr_buf_init(&out, 0);
        feed_pieces(redactor, data, size, pieces[i], &out);
        ck_assert_str_eq(out.data, expected);
        hr_buf_done(&out);
    }
    hermes_redactor_free(redactor);
}

static void becomes(const char *text, const char *expected)
{
    becomes_sized(text, strlen(text), expected);
}

/* What has come since the last time. */
static void expect(struct hr_buf *out, const char *text)
{
    ck_assert(hr_buf_add(out, "", 0));
    ck_assert_str_eq(out->data, text);
    hr_buf_clear(out);
}

/* ---- tests ------------------------------------------------------------------------------ */

START_TEST(secrets_at_any_cut)
{
    becomes("", "");
    becomes("plain\ntext \xc3\xa9\n", "plain\ntext \xc3\xa9\n");
    becomes("a " KEY " b\n", "a " MASKED " b\n");
    becomes("https://me:geheim99@example.org/ x", "https://me:***@example.org/ x");
    becomes("A_KEY=abcdefgh\nB_TOKEN=abcdefgh\nC_SECRET=abcdefgh\n",
            "A_KEY=***\nB_TOKEN=***\nC_SECRET=***\n");
    becomes("MAX_TOKENS=100\n", "MAX_TOKENS=100\n");
}
END_TEST

START_TEST(bytes_are_repaired)
{
    becomes("a\xff\xc3(\xe2\x82", "a\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd");
    becomes("\xed\xa0\x80 " KEY "\xf0\x9f", "\xef\xbf\xbd " MASKED "\xef\xbf\xbd");
}
END_TEST

START_TEST(sequences_stay)
{
    becomes(ESC "[1mbold" ESC "[m\r\a\t\x7f" ESC "7" ESC "(B" ESC "]0;title\a" ESC "Pq" ESC "\\",
            ESC "[1mbold" ESC "[m\r\a\t\x7f" ESC "7" ESC "(B" ESC "]0;title\a" ESC "Pq" ESC "\\");
    becomes("\xc2\x9b"
            "1mx" ESC "[",
            "\xc2\x9b"
            "1mx" ESC "[");
    becomes(ESC "[38;5", ESC "[38;5");
}
END_TEST

START_TEST(sequences_hide_nothing)
{
    becomes(ESC "[31m" KEY ESC "[m\n", ESC "[31m" MASKED ESC "[m\n");
    becomes("x " ESC "[1mghp_" ESC "[mAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" ESC "[K end",
            "x " ESC "[1m" MASKED ESC "[m" ESC "[K end");
    becomes("A_KEY" ESC "[m=abcdefgh" ESC "[1m\nB_TOKEN=" ESC "[2mabcdefgh\nC_SECRET=abcdefgh" ESC
            "[m\n" ESC "[m",
            "A_KEY" ESC "[m=***" ESC "[1m\nB_TOKEN=" ESC "[2m***\nC_SECRET=***" ESC "[m\n" ESC
            "[m");
    becomes(ESC "]8;;https://me:geheim99@example.org\xff/" ESC "\\link" ESC "]8;;" ESC "\\",
            ESC "]8;;https://me:***@example.org\xef\xbf\xbd/" ESC "\\link" ESC "]8;;" ESC "\\");
    becomes(ESC "]0;" KEY "\a" ESC "]0;" KEY, ESC "]0;" MASKED "\a" ESC "]0;" MASKED);
}
END_TEST

/* In a terminal ESC and the mark behind it would be a sequence. */
START_TEST(broken_sequences_do_not_join_marks)
{
    becomes("ghp_" ESC "[\nx", "ghp_" ESC "[\nx");
    becomes("https://me:" ESC "\xc3\xa9"
            "geheim" ESC "\xc3\xa9"
            "@example.org/ ",
            "https://me:***@example.org/ ");
    becomes("x" ESC "\xc3\xa9 " KEY ESC "\xc3\xa9\n", "x" ESC "\xc3\xa9 " MASKED ESC "\xc3\xa9\n");
}
END_TEST

START_TEST(nul_is_text)
{
    struct hermes_redactor *redactor = hermes_redactor_new();
    struct hr_buf out;

    hr_buf_init(&out, 0);
    feed_pieces(redactor, "a\0" KEY "\0", 43, 5, &out);
    ck_assert_uint_eq(out.size, 3 + strlen(MASKED));
    ck_assert_mem_eq(out.data, "a\0" MASKED "\0", out.size);
    hr_buf_clear(&out);
    /* "ON" would be no secret. */
    feed_pieces(redactor, "A_PASSWORD=ON\0rest-of-it\nB_SECRET=hunter2\nC_TOKEN=hunter2\n", 58, 0,
                &out);
    ck_assert_str_eq(out.data, "A_PASSWORD=***\nB_SECRET=***\nC_TOKEN=***\n");
    hr_buf_done(&out);
    hermes_redactor_free(redactor);
}
END_TEST

START_TEST(a_flush_shows_what_is_held)
{
    struct hermes_redactor *redactor = hermes_redactor_new();
    struct hr_buf out;

    hr_buf_init(&out, 0);
    feed(redactor, "key: ghp_A" ESC "[1m", 14, &out);
    expect(&out, "key: ");
    ck_assert_uint_eq(hermes_redactor_held(redactor), 5);
    flush(redactor, &out);
    expect(&out, "ghp_A" ESC "[1m");
    flush(redactor, &out);
    expect(&out, "");
    feed(redactor, &KEY[5], strlen(KEY) - 5, &out);
    feed(redactor, ESC "[m\n", 4, &out); /* the rest of a secret that has begun */
    expect(&out, "***" ESC "[m\n");
    feed(redactor, KEY, strlen(KEY), &out);
    expect(&out, "");
    flush(redactor, &out);
    expect(&out, MASKED);
    feed(redactor, "AAAA\n", 5, &out);
    expect(&out, "\n");
    feed(redactor, "50%\xe2\x82", 5, &out); /* a character waits for its rest */
    flush(redactor, &out);
    expect(&out, "50%");
    feed(redactor, "\xac ", 2, &out);
    expect(&out, "\xe2\x82\xac ");
    finish(redactor, &out);
    expect(&out, "");
    hr_buf_done(&out);
    hermes_redactor_free(redactor);
}
END_TEST

/* Sequences alone wait no longer than 64 KiB of them, and all of them are there. */
START_TEST(many_sequences)
{
    struct hermes_redactor *redactor = hermes_redactor_new();
    struct hr_buf out, in;

    hr_buf_init(&out, 0);
    hr_buf_init(&in, 0);
    ck_assert(hr_buf_add_text(&in, "ghp_A"));
    for (int i = 0; i < 100000; i++)
        ck_assert(hr_buf_printf(&in, ESC "[%dm", i));
    feed(redactor, in.data, in.size, &out);
    ck_assert_uint_eq(out.size, in.size);
    finish(redactor, &out);
    ck_assert_str_eq(out.data, in.data);
    hr_buf_done(&in);
    hr_buf_done(&out);
    hermes_redactor_free(redactor);
}
END_TEST

/* The text is what results hold, and without secrets the bytes are those that came. */
START_TEST(random_streams)
{
    static const char *const parts[] = {KEY,      "ghp_",        "AAAA", "\n",         " ",
                                        ESC "[m", "A_KEY=",      "xyz",  ESC "]0;t\a", "\xc3",
                                        "\xa9",   "https://a:b", "@c/",  ESC,          "="};
    struct hermes_redactor *redactor = hermes_redactor_new();

    srand(5);
    for (int round = 0; round < 3000; round++) {
        struct hr_buf in, out, cleaned, seen, expected;
        struct hr_cleaner cleaner;
        uint64_t count = 0;

        hr_buf_init(&in, 0), hr_buf_init(&out, 0), hr_buf_init(&cleaned, 0);
        hr_buf_init(&seen, 0), hr_buf_init(&expected, 0);
        for (int n = rand() % 30 + 1; n > 0; n--)
            ck_assert(hr_buf_add_text(&in, parts[(size_t)rand() % (sizeof parts / sizeof *parts)]));
        hr_cleaner_init(&cleaner);
        ck_assert(hr_cleaner_feed(&cleaner, in.data, in.size, &cleaned));
        ck_assert(hr_cleaner_finish(&cleaner, &cleaned));
        ck_assert(hr_buf_add(&expected, "", 0) && hr_buf_add(&seen, "", 0));
        ck_assert(hr_redact_text(cleaned.data, cleaned.size, &expected, &count));
        feed_pieces(redactor, in.data, in.size, (size_t)rand() % 20, &out);
        ck_assert(hr_cleaner_feed(&cleaner, out.data, out.size, &seen));
        ck_assert(hr_cleaner_finish(&cleaner, &seen));
        ck_assert_str_eq(seen.data, expected.data);
        if (count == 0 && hr_utf8_valid(in.data, in.size))
            ck_assert_str_eq(out.data, in.data);
        hr_cleaner_done(&cleaner);
        hr_buf_done(&in), hr_buf_done(&out), hr_buf_done(&cleaned);
        hr_buf_done(&seen), hr_buf_done(&expected);
    }
    hermes_redactor_free(redactor);
}
END_TEST

START_TEST(wrong_arguments)
{
    struct hermes_redactor *redactor = hermes_redactor_new();
    char *text;
    size_t size;

    ck_assert_int_eq(hermes_redactor_feed(NULL, "a", 1, &text, &size), HERMES_EINVAL);
    ck_assert_int_eq(hermes_redactor_feed(redactor, NULL, 1, &text, &size), HERMES_EINVAL);
    ck_assert_int_eq(hermes_redactor_feed(redactor, "a", 1, NULL, &size), HERMES_EINVAL);
    ck_assert_int_eq(hermes_redactor_flush(redactor, &text, NULL), HERMES_EINVAL);
    ck_assert_int_eq(hermes_redactor_finish(NULL, &text, &size), HERMES_EINVAL);
    ck_assert_int_eq(hermes_redactor_feed(redactor, NULL, 0, &text, &size), HERMES_OK);
    ck_assert_str_eq(text, "");
    hermes_free(text);
    hermes_redactor_free(redactor);
    hermes_redactor_free(NULL);
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("redactor");
    TCase *tests = tcase_create("redactor");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, secrets_at_any_cut);
    tcase_add_test(tests, bytes_are_repaired);
    tcase_add_test(tests, sequences_stay);
    tcase_add_test(tests, sequences_hide_nothing);
    tcase_add_test(tests, broken_sequences_do_not_join_marks);
    tcase_add_test(tests, nul_is_text);
    tcase_add_test(tests, a_flush_shows_what_is_held);
    tcase_add_test(tests, many_sequences);
    tcase_add_test(tests, random_streams);
    tcase_add_test(tests, wrong_arguments);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return test_run(suite());
}
