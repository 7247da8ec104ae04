/* SPDX-License-Identifier: MIT */
/*
 * Cleaning of output, against a slow reference (support/text-reference.h); UTF-8 cuts;
 * the JSON string form.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "testlib.h"
#include "text-reference.h"
#include "text.h"

/* ck_assert() without its system call, for what runs a million times. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("not so: %s", #condition);                                                \
    } while (0)

/* ---- helpers ---------------------------------------------------------------------------- */

static uint64_t random_state = 88172645463325252u;

static unsigned random_below(unsigned n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 20) % n;
}

/* Clean in pieces of at most piece bytes; 0: at random cuts; SIZE_MAX: in one. */
static void clean(const char *data, size_t size, size_t piece, struct hr_buf *out)
{
    struct hr_cleaner cleaner;
    size_t n;

    hr_cleaner_init(&cleaner);
    for (; size > 0; data += n, size -= n) {
        char *copy;

        n = piece ? piece : 1 + random_below(random_below(8) ? 8 : 5000);
        n = n < size ? n : size;
        copy = malloc(n); /* of its own, so that a sanitizer sees the ends */
        memcpy(copy, data, n);
        CHECK(hr_cleaner_feed(&cleaner, copy, n, out));
        free(copy);
    }
    CHECK(hr_cleaner_finish(&cleaner, out));
    hr_cleaner_done(&cleaner);
}

static void fail_with(const char *what, const char *data, size_t size, const struct hr_buf *got,
                      const struct hr_buf *want)
{
    size_t i;

    fprintf(stderr, "input:");
    for (i = 0; i < size; i++)
        fprintf(stderr, " %02x", (unsigned char)data[i]);
    fprintf(stderr, "\ngot %zu:", got->size);
    for (i = 0; i < got->size; i++)
        fprintf(stderr, " %02x", (unsigned char)got->data[i]);
    fprintf(stderr, "\nwant %zu:", want->size);
    for (i = 0; i < want->size; i++)
        fprintf(stderr, " %02x", (unsigned char)want->data[i]);
    ck_abort_msg("%s differs", what);
}

static bool same(const struct hr_buf *a, const struct hr_buf *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

/* Whole, byte by byte and at random cuts, the cleaner does what the reference does. */
static void check_input(const char *data, size_t size, struct hr_buf *want, struct hr_buf *got)
{
    static const size_t pieces[] = {SIZE_MAX, 1, 2, 3, 0, 0};
    size_t i;

    hr_buf_clear(want);
    reference_clean(data, size, want);
    for (i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        hr_buf_clear(got);
        clean(data, size, pieces[i], got);
        if (!same(got, want))
            fail_with(pieces[i] == SIZE_MAX ? "whole" : "cut", data, size, got, want);
    }
    if (got->size)
        CHECK(hr_utf8_valid(got->data, got->size));
}

static void check_cleaned(const char *data, size_t size, const char *want, size_t want_size)
{
    struct hr_buf got, reference, expected;

    hr_buf_init(&got, 0);
    hr_buf_init(&reference, 0);
    hr_buf_init(&expected, 0);
    ck_assert(hr_buf_add(&expected, want, want_size));
    check_input(data, size, &reference, &got);
    if (!same(&got, &expected))
        fail_with("example", data, size, &got, &expected);
    hr_buf_done(&got);
    hr_buf_done(&reference);
    hr_buf_done(&expected);
}

#define CLEANED(in, out) check_cleaned(in, sizeof(in) - 1, out, sizeof(out) - 1)

/* ---- the cleaner ------------------------------------------------------------------------ */

START_TEST(text_stays)
{
    CLEANED("", "");
    CLEANED("plain\n", "plain\n");
    CLEANED("a\0b\r\n\tc\x07\x08\x7f", "a\0b\r\n\tc\x07\x08\x7f");
    CLEANED("À Ç ü 日本 \xf0\x9f\x98\x80\n", "À Ç ü 日本 \xf0\x9f\x98\x80\n");
    CLEANED("next\xc2\x85line nbsp\xc2\xa0", "next\xc2\x85line nbsp\xc2\xa0");
}
END_TEST

START_TEST(report_a31)
{
    CLEANED("\x1b[31mred\x1b[0m À Ç ü\n", "red À Ç ü\n");
    CLEANED("\x1b]0;title\x07ok\n", "ok\n");
    CLEANED("\x1b]0;never\n", "0;never\n");
}
END_TEST

START_TEST(sequences_go)
{
    CLEANED("a\x1b[38;5;200mb\x1b[?25lc\x1b[1 qd\x1b[Ke\x1b[200~f", "abcdef");
    CLEANED("a\x1b[>4;2mb\x1b[<0;1;2Mc\x1b[!pd", "abcd");
    CLEANED("a\x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\b", "alinkb");
    CLEANED("a\x1b]0;t\xc2\x9c"
            "b",
            "ab");
    CLEANED("a\x1bPq#0;2;0;0;0\x07#0~~\x1b\\b\x1bXs\x1b\\c\x1b^p\x1b\\d\x1b_Gi=1;AAAA\x1b\\e",
            "abcde");
    CLEANED("a\x1b(Bb\x1b#8c\x1b%Gd\x1b $Be", "abcde");
    CLEANED("a\x1b"
            "7b\x1b"
            "8c\x1b=d\x1b>e\x1b"
            "cf\x1bMg\x1b\\h\x1b~i",
            "abcdefghi");
    CLEANED("a\xc2\x9b"
            "31mb\xc2\x9d"
            "0;t\x07"
            "c\xc2\x90"
            "d\x1b\\d\xc2\x9fx\xc2\x9c"
            "e\xc2\x9e.\xc2\x9c"
            "f\xc2\x98.\xc2\x9c",
            "abcdef");
    CLEANED("a\xc2\x80\xc2\x9c"
            "b\xc2\x84\xc2\x8d",
            "ab");
    CLEANED("\x1b]0;\xff\xe2\x82\x1b[31mstill the title\n\x07ok", "ok");
    CLEANED("\x1bPtmux;\x1b\x1b]0;t\x07\x1b\\ok", "ok");
}
END_TEST

START_TEST(broken_sequences_lose_the_introducer)
{
    CLEANED("a\x1b", "a");
    CLEANED("a\x1b[", "a");
    CLEANED("a\x1b[31", "a31");
    CLEANED("a\x1b[3\n1m", "a3\n1m");
    CLEANED("a\x1b[1 2m", "a1 2m");
    CLEANED("a\x1b[é", "aé");
    CLEANED("a\x1b\x1b[0mb", "ab");
    CLEANED("a\x1b\x1b[0m[31mb", "a[31mb"); /* no new sequence comes into being */
    CLEANED("a\x1b\nb\x1b"
            "éc\x1b\x7f",
            "a\nbéc\x7f");
    CLEANED("a\x1b( \nb", "a( \nb");
    CLEANED("a\x1bPdata \x1b[1mbold\x1b[0m \x07", "adata bold \x07");
    CLEANED("a\x1b]0;x\x1b]0;y", "a0;x0;y");
    CLEANED("a\xc2\x9d"
            "0;x",
            "a0;x");
    CLEANED("a\xc2", "a\xef\xbf\xbd");
}
END_TEST

#define R "\xef\xbf\xbd"

START_TEST(utf8_is_repaired)
{
    CLEANED("\xff\xfe", R R);
    CLEANED("a\x80z", "a" R "z");
    CLEANED("\xc0\xaf\xc1\xbf", R R R R);
    CLEANED("\xe2\x82", R);
    CLEANED("\xe2\x82z\xe2z", R "z" R "z");
    CLEANED("\xf0\x9f\x98z\xf0\x9fz\xf0z", R "z" R "z" R "z");
    CLEANED("\xf4\x90\x80\x80\xf5\x80\x80\x80", R R R R R R R R);
    CLEANED("\xe0\x9f\x80\xf0\x8f\x80\x80", R R R R R R R);
    CLEANED("a\xed\xa0\x80z", "a" R "z"); /* a lone surrogate is one */
    CLEANED("\xed\xa0\xbd\xed\xb8\x80", R R);
    CLEANED("\xed\xa0", R R);
    CLEANED("\xed\xa0z", R R "z");
    CLEANED("\xed", R);
    CLEANED("\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80");
    CLEANED("\xe2\x1b[31m\x82", R R);
}
END_TEST

START_TEST(every_short_input)
{
    static const char *const units[] = {"\x1b", "[", "]", "\\", "\x07", "\xc2",    "\x9c",
                                        "\x9b", "m", "1", " ",  "P",    "\xed\xa0"};
    const unsigned count = sizeof units / sizeof *units;
    struct hr_buf want, got;
    unsigned long n, total = 1;
    int length;

    hr_buf_init(&want, 0);
    hr_buf_init(&got, 0);
    for (length = 1; length <= 4; length++) {
        total *= count;
        for (n = 0; n < total; n++) {
            char input[16] = "";
            unsigned long rest = n;
            int i;

            for (i = 0; i < length; i++, rest /= count)
                strcat(input, units[rest % count]);
            check_input(input, strlen(input), &want, &got);
        }
    }
    hr_buf_done(&want);
    hr_buf_done(&got);
}
END_TEST

static size_t random_input(char *to, size_t maximum)
{
    /* clang-format off */
    static const char *const units[] = {
        "\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b_", "\x1b(", "\x1b\\", "\x07", "\xc2\x9b",
        "\xc2\x9d", "\xc2\x90", "\xc2\x9c", "\xc2\x85", "\xc2", "\xe2\x82", "\xe2\x82\xac",
        "\xf0\x9f\x98\x80", "\xf0\x9f", "\xed\xa0\x80", "\xed\xa0", "\xff", "\x80", "31;1",
        "m", "0;title", " ", "\n", "text", "K", "some plain text, longer than a word\n", "é",
        "?", "!"};
    /* clang-format on */
    size_t size = 0, n = random_below((unsigned)maximum / 4) + 1, length;

    while (n-- > 0) {
        const char *unit = units[random_below(sizeof units / sizeof *units)];

        length = strlen(unit);
        if (size + length > maximum)
            break;
        memcpy(to + size, unit, length);
        size += length;
        if (random_below(10) == 0 && size < maximum)
            to[size++] = (char)random_below(256);
    }
    return size;
}

START_TEST(any_cut_gives_the_same)
{
    struct hr_buf want, got;
    char input[400];
    int round;

    hr_buf_init(&want, 0);
    hr_buf_init(&got, 0);
    for (round = 0; round < 20000; round++)
        check_input(input, random_input(input, sizeof input), &want, &got);
    hr_buf_done(&want);
    hr_buf_done(&got);
}
END_TEST

/* introducer, filler so that all is size bytes, end. */
static void check_long(const char *introducer, char filler, size_t size, const char *end, bool goes)
{
    struct hr_buf in, got, want;
    size_t i, piece[] = {SIZE_MAX, 1, 0, 65536, 4095};

    hr_buf_init(&in, 0);
    hr_buf_init(&got, 0);
    hr_buf_init(&want, 0);
    hr_buf_add_text(&in, introducer);
    while (in.size < size - strlen(end))
        hr_buf_add(&in, &filler, 1);
    hr_buf_add_text(&in, end);
    if (!goes)
        hr_buf_add(&want, in.data + strlen(introducer),
                   in.size - strlen(introducer) - (strcmp(end, "\x1b\\") ? 0 : 2));
    hr_buf_add_text(&in, "\x1b[1mrest");
    hr_buf_add_text(&want, "rest");
    ck_assert(!in.failed && !want.failed);
    for (i = 0; i < sizeof piece / sizeof *piece; i++) {
        hr_buf_clear(&got);
        clean(in.data, in.size, piece[i], &got);
        ck_assert_msg(same(&got, &want), "%zu of %s, pieces of %zu: %zu bytes, not %zu", size, end,
                      piece[i], got.size, want.size);
    }
    hr_buf_done(&in);
    hr_buf_done(&got);
    hr_buf_done(&want);
}

START_TEST(long_sequences_count_as_unterminated)
{
    check_long("\x1b]", 'x', HR_SEQUENCE_MAX, "\x07", true);
    check_long("\x1b]", 'x', HR_SEQUENCE_MAX + 1, "\x07", false);
    check_long("\x1bP", 'x', HR_SEQUENCE_MAX, "\x1b\\", true);
    check_long("\x1bP", 'x', HR_SEQUENCE_MAX + 1, "\x1b\\", false);
    check_long("\x1b[", '1', HR_SEQUENCE_MAX, "m", true);
    check_long("\x1b[", '1', HR_SEQUENCE_MAX + 1, "m", false);
    check_long("\x1b[", ' ', HR_SEQUENCE_MAX + 1, "m", false);
    check_long("\xc2\x9b", '1', HR_SEQUENCE_MAX, "m", true);
}
END_TEST

/* Inputs that would take for ever if each introducer were looked at again and again. */
START_TEST(nothing_is_quadratic)
{
    static const char *const units[] = {"\x1b]", "\x1bP", "\x1b]\x1bP", "\x1b[",         "\xc2\x9d",
                                        "\x1b(", "\x1b",  "\xed\xa0",   "\x1b]\x07\x1bP"};
    struct hr_buf in, out;
    size_t i, piece[] = {SIZE_MAX, 65536, 100};
    size_t j;

    hr_buf_init(&in, 0);
    hr_buf_init(&out, 0);
    for (i = 0; i < sizeof units / sizeof *units; i++) {
        hr_buf_clear(&in);
        while (in.size < 2000000)
            CHECK(hr_buf_add_text(&in, units[i]));
        for (j = 0; j < sizeof piece / sizeof *piece; j++) {
            hr_buf_clear(&out);
            clean(in.data, in.size, piece[j], &out);
        }
    }
    hr_buf_done(&in);
    hr_buf_done(&out);
}
END_TEST

START_TEST(memory_stays_bounded)
{
    struct hr_cleaner cleaner;
    struct hr_buf out;
    char block[1000];
    int i;

    memset(block, 'x', sizeof block);
    hr_cleaner_init(&cleaner);
    hr_buf_init(&out, 0);
    ck_assert(hr_cleaner_feed(&cleaner, "\x1b]", 2, &out));
    for (i = 0; i < 10000; i++) {
        CHECK(hr_cleaner_feed(&cleaner, block, sizeof block, &out));
        hr_buf_clear(&out);
        CHECK(cleaner.held.capacity <= 4 * HR_SEQUENCE_MAX);
        CHECK(out.capacity <= 4 * HR_SEQUENCE_MAX);
    }
    hr_cleaner_done(&cleaner);
    hr_buf_done(&out);
}
END_TEST

START_TEST(cleaner_is_as_new)
{
    struct hr_cleaner cleaner;
    struct hr_buf out;

    hr_cleaner_init(&cleaner);
    hr_buf_init(&out, 0);
    ck_assert(hr_cleaner_feed(&cleaner, "a\x1b]0;t", 6, &out));
    ck_assert(hr_cleaner_finish(&cleaner, &out));
    ck_assert(hr_cleaner_feed(&cleaner, "\x07z\xe2\x82", 4, &out));
    ck_assert(hr_cleaner_finish(&cleaner, &out));
    ck_assert(hr_cleaner_finish(&cleaner, &out));
    ck_assert_str_eq(out.data, "a0;t\x07z" R);
    hr_cleaner_done(&cleaner);
    hr_buf_done(&out);
}
END_TEST

START_TEST(full_output_is_told)
{
    struct hr_cleaner cleaner;
    struct hr_buf out;

    hr_cleaner_init(&cleaner);
    hr_buf_init(&out, 4);
    ck_assert(!hr_cleaner_feed(&cleaner, "too long\x1b[1m", 12, &out));
    ck_assert(out.failed);
    hr_buf_clear(&out);
    ck_assert(hr_cleaner_feed(&cleaner, "ok", 2, &out));
    ck_assert_str_eq(out.data, "ok");
    hr_cleaner_done(&cleaner);
    hr_buf_done(&out);
}
END_TEST

/* ---- UTF-8 ------------------------------------------------------------------------------ */

START_TEST(cuts_fall_between_code_points)
{
    static const char text[] = "aé€\xf0\x9f\x98\x80z";
    static const size_t before[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11};
    static const size_t after[] = {0, 1, 3, 3, 6, 6, 6, 10, 10, 10, 10, 11};
    size_t i;

    ck_assert_uint_eq(sizeof text - 1, 11);
    for (i = 0; i <= 11; i++) {
        ck_assert_uint_eq(hr_utf8_cut_before(text, i), before[i]);
        ck_assert_uint_eq(hr_utf8_cut_after(text, 11, i), after[i]);
        ck_assert(hr_utf8_valid(text, i) == (before[i] == i));
        ck_assert_uint_eq(hr_utf8_valid_run(text, i), before[i]);
    }
}
END_TEST

START_TEST(validity)
{
    static const char *const bad[] = {"\x80",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "ok\xc3"};
    static const char *const good[] = {"",
                                       "\x1b\x7f",
                                       "\xc2\x80",
                                       "\xdf\xbf",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xef\xbf\xbf",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    size_t i;

    for (i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!hr_utf8_valid(bad[i], strlen(bad[i])), "bad %zu", i);
    for (i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(hr_utf8_valid(good[i], strlen(good[i])), "good %zu", i);
    ck_assert(hr_utf8_valid("a\0b", 3));
}
END_TEST

/* ---- JSON ------------------------------------------------------------------------------- */

/* The right sides are json.dumps(text, ensure_ascii=False), with U+2028/9 escaped. */
static const struct {
    const char *text;
    size_t size;
    const char *json;
} json_table[] = {
    {"", 0, "\"\""},
    {"plain", 5, "\"plain\""},
    {"q\042q", 3, "\"q\\\"q\""},
    {"back\134slash", 10, "\"back\\\\slash\""},
    {"/slash", 6, "\"/slash\""},
    {"\010\014\012\015\011", 5, "\"\\b\\f\\n\\r\\t\""},
    {"\000", 1, "\"\\u0000\""},
    {"\001\037", 2, "\"\\u0001\\u001f\""},
    {"\177", 1, "\"\177\""},
    {"\302\205\302\237", 4, "\"\302\205\302\237\""},
    {"\303\251", 2, "\"\303\251\""},
    {"\346\227\245\346\234\254", 6, "\"\346\227\245\346\234\254\""},
    {"\360\237\230\200", 4, "\"\360\237\230\200\""},
    {"\342\200\250\342\200\251", 6, "\"\\u2028\\u2029\""},
    {"\342\200\247\342\200\252", 6, "\"\342\200\247\342\200\252\""},
    {"a\000b", 3, "\"a\\u0000b\""},
    {"\357\277\275", 3, "\"\357\277\275\""},
    {"\033[0m", 4, "\"\\u001b[0m\""},
    {"</script>", 9, "\"</script>\""},
    /* not UTF-8: as bytes.decode("utf-8", "replace") does, but one for a surrogate */
    {"\377\376", 2, "\"" R R "\""},
    {"a\342\202", 3, "\"a" R "\""},
    {"\360\237\230", 3, "\"" R "\""},
    {"\300\257", 2, "\"" R R "\""},
    {"\355\240\200", 3, "\"" R "\""},
    {"\355\240", 2, "\"" R R "\""},
};

START_TEST(json_strings)
{
    struct hr_buf out;
    size_t i;

    hr_buf_init(&out, 0);
    for (i = 0; i < sizeof json_table / sizeof *json_table; i++) {
        hr_buf_clear(&out);
        ck_assert(hr_json_add_string(&out, json_table[i].text, json_table[i].size));
        ck_assert_msg(strcmp(out.data, json_table[i].json) == 0, "row %zu: %s", i, out.data);
    }
    hr_buf_done(&out);
}
END_TEST

START_TEST(json_failure_changes_nothing)
{
    struct hr_buf out;

    hr_buf_init(&out, 8);
    ck_assert(hr_buf_add_text(&out, "{"));
    ck_assert(!hr_json_add_string(&out, "123456", 6));
    ck_assert(out.failed);
    ck_assert_str_eq(out.data, "{");
    ck_assert_uint_eq(out.size, 1);
    ck_assert(hr_json_add_string(&out, "12345", 5)); /* just fits */
    ck_assert(out.failed); /* and the failure before is still to be seen */
    ck_assert_str_eq(out.data, "{\"12345\"");
    ck_assert(!hr_json_add_string(&out, "", 0));
    hr_buf_done(&out);
}
END_TEST

#ifdef HERMES_FAULT_INJECTION
START_TEST(no_memory)
{
    static const char input[] = "a\x1b]0;title\x07"
                                "b\xe2\x82\xac\x1b[31mc";
    unsigned long n;

    for (n = 1; n < 20; n++) {
        struct hr_cleaner cleaner;
        struct hr_buf out;
        bool ok = true;
        size_t i;

        hr_cleaner_init(&cleaner);
        hr_buf_init(&out, 0);
        hermes_fault_set(HR_FAULT_ALLOC, n);
        for (i = 0; i < sizeof input - 1; i++)
            ok &= hr_cleaner_feed(&cleaner, input + i, 1, &out);
        ok &= hr_cleaner_finish(&cleaner, &out);
        ok &= hr_json_add_string(&out, input, sizeof input - 1);
        ck_assert(ok == (n > hermes_fault_count(HR_FAULT_ALLOC)));
        hermes_fault_set(HR_FAULT_ALLOC, 0);
        ck_assert(hr_cleaner_feed(&cleaner, "after", 5, &out));
        ck_assert_str_eq(out.data + out.size - 5, "after");
        hr_cleaner_done(&cleaner);
        hr_buf_done(&out);
    }
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("text");
    TCase *tcase = tcase_create("cleaner");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, text_stays);
    tcase_add_test(tcase, report_a31);
    tcase_add_test(tcase, sequences_go);
    tcase_add_test(tcase, broken_sequences_lose_the_introducer);
    tcase_add_test(tcase, utf8_is_repaired);
    tcase_add_test(tcase, every_short_input);
    tcase_add_test(tcase, any_cut_gives_the_same);
    tcase_add_test(tcase, long_sequences_count_as_unterminated);
    tcase_add_test(tcase, nothing_is_quadratic);
    tcase_add_test(tcase, memory_stays_bounded);
    tcase_add_test(tcase, cleaner_is_as_new);
    tcase_add_test(tcase, full_output_is_told);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("utf-8 and json");
    tcase_add_test(tcase, cuts_fall_between_code_points);
    tcase_add_test(tcase, validity);
    tcase_add_test(tcase, json_strings);
    tcase_add_test(tcase, json_failure_changes_nothing);
#ifdef HERMES_FAULT_INJECTION
    tcase_add_test(tcase, no_memory);
#endif
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
