/* SPDX-License-Identifier: MIT */
/*
 * Bounded collection of output: what is kept and counted.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "alloc.h"
#include "collector-testlib.h"
#include "collector.h"
#include "testlib.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("not so: %s", #condition);                                                \
    } while (0)

static void feed(struct hr_collector *collector, const char *text)
{
    hr_collector_feed(collector, text, strlen(text));
}

/* Report A55: before the cut and the spill, and counted wherever the secret went. */
START_TEST(secrets_are_masked_first)
{
    struct hr_collector_options options = {200, 1000000, ct_directory, true, false};
    struct hr_collector *collector = hr_collector_new(&options);
    struct hr_collected got;
    size_t size;
    char *spilled;

    for (int i = 0; i < 100; i++) {
        feed(collector, "\x1b[0mghp");
        feed(collector, "_AAAAAAAAAAAAAAAAAAAA");
        feed(collector, "BBBB\n");
    }
    ct_finish(collector, &got);
    ck_assert_uint_eq(got.redactions, 100);
    ck_assert_uint_eq(got.bytes_total, 100 * (4 + 28 + 1));
    ck_assert(got.truncated && strstr(got.text, "ghp_AA...BBBB\nghp_AA...BBBB\n") &&
              !strstr(got.text, "AAAAA"));
    ck_assert_ptr_nonnull(got.spill_path);
    spilled = ct_read_file(got.spill_path, &size);
    ck_assert_uint_eq(size, 100 * 14);
    ck_assert_int_eq(strncmp(spilled, "ghp_AA...BBBB\nghp_AA...BBBB\n", 28), 0);
    free(spilled);
    hr_collected_done(&got);
}
END_TEST

/* ---- what is kept ----------------------------------------------------------------------- */

START_TEST(nothing_at_all)
{
    struct hr_collected got;

    ct_finish(ct_make(1000, 0), &got);
    ck_assert_str_eq(got.text, "");
    ck_assert(!got.truncated);
    ck_assert_uint_eq(got.bytes_total + got.bytes_captured + got.bytes_omitted, 0);
    ck_assert_ptr_null(got.spill_path);
    ck_assert_ptr_null(hr_collected_warning(&got));
    hr_collected_done(&got);
}
END_TEST

START_TEST(short_output_is_whole)
{
    struct hr_collector *collector = ct_make(1000, 1000000);
    struct hr_collected got;

    feed(collector, "one\n");
    feed(collector, "tw\xc3");
    feed(collector, "\xa9\n");
    ct_finish(collector, &got);
    ck_assert_str_eq(got.text, "one\ntwé\n");
    ck_assert(!got.truncated);
    ck_assert_uint_eq(got.bytes_total, 9);
    ck_assert_uint_eq(got.bytes_captured, 9);
    ck_assert_uint_eq(got.bytes_omitted, 0);
    ck_assert_ptr_null(got.spill_path);
    ck_assert_int_eq(ct_count_entries(ct_directory), -1);
    hr_collected_done(&got);
}
END_TEST

START_TEST(cleaned_is_not_truncated)
{
    struct hr_collector *collector = ct_make(1000, 1000000);
    struct hr_collected got;

    ct_feed_times(collector, "\x1b[31mx\x1b[0m", 900);
    ct_finish(collector, &got);
    ck_assert_uint_eq(got.size, 900);
    ck_assert(!got.truncated);
    ck_assert_uint_eq(got.bytes_total, 9000);
    ck_assert_uint_eq(got.bytes_captured, 900);
    ck_assert_uint_eq(got.bytes_omitted, 0);
    hr_collected_done(&got);
}
END_TEST

START_TEST(the_limit_is_exact)
{
    size_t over;

    for (over = 0; over < 3; over++) {
        struct hr_collector *collector = ct_make(1000, 0);
        struct hr_collected got;

        ct_feed_times(collector, "x", 1000 + over);
        ct_finish(collector, &got);
        ck_assert(got.truncated == (over > 0));
        ck_assert_uint_eq(got.bytes_captured, 1000);
        ck_assert_uint_eq(got.bytes_omitted, over);
        hr_collected_done(&got);
    }
}
END_TEST

START_TEST(report_a23_head_tail_and_file)
{
    struct hr_collector *collector = ct_make(50000, 5000000);
    struct hr_collected got;
    char *file, *warning, *notice;
    size_t size;

    feed(collector, "HEAD\n");
    ct_feed_times(collector, "x", 200000);
    feed(collector, "\nTAIL\n");
    ct_finish(collector, &got);
    ck_assert(got.truncated);
    ck_assert_uint_eq(got.bytes_total, 200011);
    ck_assert_uint_eq(got.bytes_captured, 50000);
    ck_assert_uint_eq(got.bytes_omitted, 150011);
    ck_assert_int_eq(memcmp(got.text, "HEAD\nxxx", 8), 0);
    ck_assert_str_eq(got.text + got.size - 9, "xxx\nTAIL\n");
    notice = strstr(got.text, "TRUNCATED");
    ck_assert_ptr_nonnull(notice);
    ck_assert_int_eq(got.text[20000], '\n'); /* 40 % */
    ck_assert_int_eq(got.text[20001], '.');
    ck_assert_ptr_eq(strchr(notice, '\n') + 1, got.text + got.size - 30000);
    ck_assert_ptr_nonnull(strstr(notice, "150011"));
    ck_assert_ptr_nonnull(strstr(notice, "200011"));
    file = ct_read_file(got.spill_path, &size);
    ck_assert_uint_eq(size, 200011);
    ck_assert_uint_eq(got.spill_size, 200011);
    ck_assert(!got.spill_capped);
    ck_assert_uint_eq(strspn(file + 5, "x"), 200000);
    warning = hr_collected_warning(&got);
    ck_assert_ptr_nonnull(strstr(warning, got.spill_path));
    ck_assert_ptr_nonnull(strstr(warning, "FULL output saved to"));
    hr_free(warning);
    free(file);
    hr_collected_done(&got);
}
END_TEST

START_TEST(report_a25_limits_are_bytes)
{
    struct hr_collector *collector = ct_make(50000, 5000003);
    struct hr_collected got;
    char *file, *warning;
    size_t size;

    feed(collector, "-");
    ct_feed_times(collector, "\xf0\x9f\x98\x80", 2000000);
    ct_finish(collector, &got);
    ck_assert_ptr_null(strstr(got.text, "\xef\xbf\xbd"));
    ck_assert_uint_le(got.bytes_captured, 50000);
    ck_assert_uint_ge(got.bytes_captured, 50000 - 6);
    ck_assert_uint_eq(got.bytes_total, 8000001);
    ck_assert_uint_eq(got.bytes_omitted, got.bytes_total - got.bytes_captured);
    file = ct_read_file(got.spill_path, &size);
    ck_assert(hr_utf8_valid(file, size));
    ck_assert_uint_eq(got.spill_size, 5000001);
    ck_assert_ptr_eq(strstr(file, "\n[... spill capped"), file + 5000001);
    ck_assert_str_eq(file + 5000001, "\n[... spill capped at 5000003 bytes ...]\n");
    ck_assert(got.spill_capped);
    warning = hr_collected_warning(&got);
    ck_assert_ptr_null(strstr(warning, "FULL"));
    ck_assert_ptr_nonnull(strstr(warning, "the first 5000001 bytes"));
    hr_free(warning);
    free(file);
    hr_collected_done(&got);
}
END_TEST

START_TEST(report_a26_memory_is_bounded)
{
    struct hr_collector *collector = ct_make(50000, 5000000);
    struct hr_collected got;
    struct rusage before, after;
    char line[10001];
    int i;

    memset(line, 'z', 10000);
    line[9999] = '\n';
    line[10000] = '\0';
    getrusage(RUSAGE_SELF, &before);
    for (i = 0; i < 20000; i++)
        hr_collector_feed(collector, line, 10000);
    getrusage(RUSAGE_SELF, &after);
    ct_finish(collector, &got);
    ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 2048); /* KiB */
    ck_assert_uint_eq(got.bytes_total, 200000000);
    ck_assert_uint_eq(got.bytes_omitted, 200000000 - 50000);
    hr_collected_done(&got);
}
END_TEST

/* More text than there were bytes: omitted is told in text. */
START_TEST(repair_can_make_it_longer)
{
    struct hr_collector *collector = ct_make(1000, 0);
    struct hr_collected got;

    ct_feed_times(collector, "\xff", 900);
    ct_finish(collector, &got);
    ck_assert(got.truncated);
    ck_assert_uint_eq(got.bytes_total, 900);
    ck_assert_uint_le(got.bytes_captured, 1000);
    ck_assert_uint_eq(got.bytes_omitted, 2700 - got.bytes_captured);
    hr_collected_done(&got);
}
END_TEST

START_TEST(unfinished_things_come_at_the_end)
{
    struct hr_collector *collector = ct_make(1000, 0);
    struct hr_collected got;

    feed(collector, "a\x1b]0;b\xe2\x82");
    ct_finish(collector, &got);
    ck_assert_str_eq(got.text, "a0;b\xef\xbf\xbd");
    ck_assert(!got.truncated);
    hr_collected_done(&got);
}
END_TEST

START_TEST(finish_can_be_repeated)
{
    struct hr_collector *collector = ct_make(100, 1000);
    struct hr_collected one, two;

    ct_feed_times(collector, "0123456789\n", 20);
    ck_assert(hr_collector_finish(collector, &one));
    ck_assert(hr_collector_finish(collector, &two));
    ck_assert_str_eq(one.text, two.text);
    ck_assert_str_eq(one.spill_path, two.spill_path);
    hr_collected_done(&one);
    hr_collected_done(&two);
    hr_collector_free(collector);
    hr_collector_free(NULL);
}
END_TEST

/* ---- against a plain model, at any cut --------------------------------------------------- */

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static unsigned random_below(unsigned n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 20) % n;
}

static void random_output(struct hr_buf *out, size_t size)
{
    static const char *const units[] = {"a",  "line of text\n", "é",   "€", "\xf0\x9f\x98\x80",
                                        "\n", "\x1b[1m",        "\xff"};

    hr_buf_clear(out);
    while (out->size < size)
        CHECK(hr_buf_add_text(out, units[random_below(sizeof units / sizeof *units)]));
}

/* What the text has to be, from all the cleaned text. */
static void model(const struct hr_buf *raw, const struct hr_buf *full, size_t limit,
                  struct hr_buf *want)
{
    size_t head, tail;

    hr_buf_clear(want);
    if (full->size <= limit) {
        hr_buf_add(want, full->data, full->size);
        return;
    }
    head = hr_utf8_cut_before(full->data, limit * 2 / 5);
    tail = hr_utf8_cut_after(full->data, full->size, full->size - (limit - head));
    hr_buf_add(want, full->data, head);
    if (full->data[head - 1] != '\n')
        hr_buf_add_text(want, "\n");
    hr_buf_printf(want, "... [OUTPUT TRUNCATED: %zu of %zu bytes omitted] ...\n",
                  raw->size - head - (full->size - tail), raw->size);
    hr_buf_add(want, full->data + tail, full->size - tail);
    CHECK(!want->failed);
}

static void check_against_model(const struct hr_buf *raw, const struct hr_buf *full, size_t limit,
                                struct hr_buf *want)
{
    struct hr_collector *collector = ct_make(limit, random_below(2) ? 1000000 : 0);
    struct hr_collected got;
    size_t i, n, size;
    char *file;

    for (i = 0; i < raw->size; i += n) {
        n = 1 + random_below(random_below(4) ? 20 : 3000);
        n = n < raw->size - i ? n : raw->size - i;
        hr_collector_feed(collector, raw->data + i, n);
    }
    CHECK(hr_collector_finish(collector, &got));
    model(raw, full, limit, want);
    if (raw->size - got.bytes_captured <
        raw->size) /* the identity holds but where repair made it longer */
        CHECK(got.size == want->size && memcmp(got.text, want->data, got.size) == 0);
    CHECK(got.truncated == (full->size > limit));
    if (got.spill_path) {
        file = ct_read_file(got.spill_path, &size);
        CHECK(size == full->size && memcmp(file, full->data, size) == 0);
        free(file);
        unlink(got.spill_path);
    }
    hr_collected_done(&got);
    hr_collector_free(collector);
}

START_TEST(any_cut_gives_the_same)
{
    struct hr_buf raw, full, want;
    struct hr_cleaner cleaner;
    int round;

    hr_buf_init(&raw, 0);
    hr_buf_init(&full, 0);
    hr_buf_init(&want, 0);
    hr_cleaner_init(&cleaner);
    for (round = 0; round < 1000; round++) {
        random_output(&raw, 1 + random_below(6000));
        hr_buf_clear(&full);
        CHECK(hr_cleaner_feed(&cleaner, raw.data, raw.size, &full) &&
              hr_cleaner_finish(&cleaner, &full));
        check_against_model(&raw, &full, 16 + random_below(3000), &want);
    }
    hr_cleaner_done(&cleaner);
    hr_buf_done(&raw);
    hr_buf_done(&full);
    hr_buf_done(&want);
}
END_TEST

/* Each place where a ring can begin and end within a code point. */
START_TEST(small_rings)
{
    struct hr_buf raw, want;
    size_t limit, count;

    hr_buf_init(&raw, 0);
    hr_buf_init(&want, 0);
    for (limit = 16; limit < 48; limit++) {
        for (count = 1; count < 60; count++) {
            hr_buf_clear(&raw);
            while (raw.size < count)
                CHECK(hr_buf_add_text(&raw, count % 2 ? "\xf0\x9f\x98\x80" : "€"));
            CHECK(hr_buf_add(&raw, "abc", count % 4));
            check_against_model(&raw, &raw, limit, &want);
        }
    }
    hr_buf_done(&raw);
    hr_buf_done(&want);
}
END_TEST

/* ---- a terminal's lines ------------------------------------------------------------------ */

/* What a terminal makes of newlines is taken back, and nothing else, wherever it is cut. */
START_TEST(a_terminals_newlines_at_any_cut)
{
    struct hr_collector_options options = {.limit_bytes = 1 << 20, .terminal = true};
    struct hr_collected got, want;
    struct hr_buf raw, text;

    hr_buf_init(&raw, 0);
    hr_buf_init(&text, 0);
    for (int round = 0; round < 300; round++) {
        struct hr_collector *collector = hr_collector_new(&options), *plain = ct_make(1 << 20, 0);
        size_t size = random_below(8) ? random_below(40) : 40000, n;

        hr_buf_clear(&raw);
        hr_buf_clear(&text);
        while (raw.size < size)
            CHECK(hr_buf_add(&raw, &"\r\r\nxy"[random_below(5)], 1));
        for (size_t i = 0; i < raw.size; i++)
            CHECK((raw.data[i] == '\r' && i + 1 < raw.size && raw.data[i + 1] == '\n') ||
                  hr_buf_add(&text, raw.data + i, 1));
        for (size_t i = 0; i < raw.size; i += n) {
            n = 1 + random_below(random_below(4) ? 4 : 40000);
            n = n < raw.size - i ? n : raw.size - i;
            hr_collector_feed(collector, raw.data + i, n);
        }
        hr_collector_feed(plain, text.data, text.size);
        ct_finish(collector, &got);
        ct_finish(plain, &want);
        CHECK(got.bytes_total == text.size);
        CHECK(got.size == want.size && memcmp(got.text, want.text, got.size) == 0);
        hr_collected_done(&got);
        hr_collected_done(&want);
    }
    hr_buf_done(&raw);
    hr_buf_done(&text);
}
END_TEST

static long writes_made(void)
{
    char *text = test_read_file("/proc/self/io");
    const char *count = text ? strstr(text, "syscw: ") : NULL;
    long n = count ? atol(count + 7) : -1;

    ck_assert_int_ge(n, 0);
    free(text);
    return n;
}

/* What collects also carries the events: short lines must not cost a write each. */
START_TEST(many_lines_are_few_writes)
{
    struct hr_collector_options options = {.limit_bytes = 1000,
                                           .spill_limit_bytes = 1 << 20,
                                           .spill_directory = ct_directory,
                                           .terminal = true};
    struct hr_collector *collector = hr_collector_new(&options);
    static char lines[3 * 20000];
    struct hr_collected got;
    long before;

    for (size_t i = 0; i < sizeof lines; i += 3)
        memcpy(lines + i, "y\r\n", 3);
    feed(collector, "begin\r\n");
    before = writes_made();
    hr_collector_feed(collector, lines, sizeof lines);
    if (test_in_valgrind())
        puts("left out: how many writes there were (valgrind makes some of its own)");
    else
        ck_assert_int_le(writes_made() - before, 10);
    ct_finish(collector, &got);
    ck_assert_uint_eq(got.spill_size, 6 + 2 * 20000);
    unlink(got.spill_path);
    hr_collected_done(&got);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("collector");
    TCase *tcase = tcase_create("collector");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, ct_set_up, NULL);
    tcase_add_test(tcase, nothing_at_all);
    tcase_add_test(tcase, short_output_is_whole);
    tcase_add_test(tcase, secrets_are_masked_first);
    tcase_add_test(tcase, cleaned_is_not_truncated);
    tcase_add_test(tcase, the_limit_is_exact);
    tcase_add_test(tcase, report_a23_head_tail_and_file);
    tcase_add_test(tcase, report_a25_limits_are_bytes);
    tcase_add_test(tcase, report_a26_memory_is_bounded);
    tcase_add_test(tcase, repair_can_make_it_longer);
    tcase_add_test(tcase, unfinished_things_come_at_the_end);
    tcase_add_test(tcase, finish_can_be_repeated);
    tcase_add_test(tcase, any_cut_gives_the_same);
    tcase_add_test(tcase, small_rings);
    tcase_add_test(tcase, a_terminals_newlines_at_any_cut);
    tcase_add_test(tcase, many_lines_are_few_writes);
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
