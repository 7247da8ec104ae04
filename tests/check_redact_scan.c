/* SPDX-License-Identifier: MIT */
/*
 * The ways that pass over most of a text find what looking at each byte finds: 32 bytes at once, by
 * rare bytes of prefixes, without copies, without a look at lines that assign nothing.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "collector.h"
#include "redact-rules.h"
#include "redact.h"
#include "testlib.h"
#include "utf8.h"

static unsigned long random_state = 1;

static unsigned random_below(unsigned n)
{
    random_state = random_state * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(random_state >> 33) % n;
}

/* Byte by byte so little is held that only the way for the end of a text is gone. */
static struct hr_buf redact_in(const struct hr_buf *text, size_t piece, uint64_t *ret_count)
{
    struct hr_redactor redactor;
    struct hr_buf out;

    hr_redactor_init(&redactor);
    hr_buf_init(&out, 0);
    ck_assert(hr_buf_add(&out, "", 0));
    for (size_t at = 0; at < text->size; at += piece)
        ck_assert(hr_redactor_feed(&redactor, text->data + at,
                                   text->size - at < piece ? text->size - at : piece, &out));
    ck_assert(hr_redactor_finish(&redactor, &out));
    *ret_count = redactor.count;
    hr_redactor_done(&redactor);
    return out;
}

static void expect(const struct hr_buf *expected, uint64_t count, const char *data, size_t size,
                   uint64_t other, const char *way, const struct hr_buf *text)
{
    ck_assert_msg(size == expected->size && memcmp(data, expected->data, size) == 0 &&
                      count == other,
                  "%s: %d and %d secrets in\n%.900s\n---- became\n%.900s\n---- not\n%.900s", way,
                  (int)other, (int)count, text->data, data, expected->data);
}

static void expect_feed(const struct hr_buf *expected, uint64_t count, bool wide,
                        const struct hr_buf *text)
{
    struct hr_buf out;
    uint64_t other;

    hr_redact_set_wide(wide);
    out = redact_in(text, text->size, &other);
    hr_redact_set_wide(true);
    expect(expected, count, out.data, out.size, other, wide ? "wide" : "not wide", text);
    hr_buf_done(&out);
}

static void expect_collector(const struct hr_buf *expected, uint64_t count,
                             const struct hr_buf *text)
{
    struct hr_collector_options options = {.limit_bytes = 1 << 20, .redact = true};
    struct hr_collector *collector = hr_collector_new(&options);
    struct hr_collected got;
    size_t n;

    for (size_t at = 0; at < text->size; at += n) {
        n = 1 + random_below(3000);
        n = n < text->size - at ? n : text->size - at;
        hr_collector_feed(collector, text->data + at, n);
    }
    ck_assert(hr_collector_finish(collector, &got));
    expect(expected, count, got.text, got.size, got.redactions, "collector", text);
    hr_collected_done(&got);
    hr_collector_free(collector);
}

static uint64_t expect_agreement(const struct hr_buf *text)
{
    uint64_t count;
    struct hr_buf slow = redact_in(text, 1, &count);

    expect_feed(&slow, count, true, text);
    expect_feed(&slow, count, false, text);
    expect_collector(&slow, count, text);
    hr_buf_done(&slow);
    return count;
}

/* ---- texts ------------------------------------------------------------------------------ */

static void add_filler(struct hr_buf *text, size_t size)
{
    static const char letters[] = "      \neeeeetaoinshrdlucmfgypwbvkjxqz0123456789_=-./:&?#(){}";

    while (size-- > 0)
        hr_buf_add(text, &letters[random_below(sizeof letters - 1)], 1);
}

/* A prefix, mostly with so much behind it that it is a secret. */
static void add_key(struct hr_buf *text)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const struct hr_redact_row *row = &hr_redact_rows[random_below((unsigned)hr_redact_row_count)];
    unsigned size = random_below(8) ? row->minimum : random_below(70);

    hr_buf_add_text(text, row->prefix);
    for (unsigned i = 0; i < size; i++)
        hr_buf_add(text, &digits[random_below(row->class & HR_CLASS_UPPER ? 10 : 22)], 1);
}

static void add_part(struct hr_buf *text)
{
    static const char key[] = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n"
                              "-----END PRIVATE KEY-----";
    static const char *const parts[] = {"\n",
                                        "\n",
                                        "\nA_SECRET=aaaaaa\nB_TOKEN=bbbbbbb\nC_KEY=cccccccc\n",
                                        "\nA_TOKEN=xyz",
                                        "\nexport A_PASSWORD=1234567\n",
                                        "\ndeclare -x SOME_API_KEY=\"abcdef\"",
                                        "=",
                                        " = ",
                                        "A=",
                                        "PATH=/bin\n",
                                        "#\n\n",
                                        "\r\n",
                                        "://user:password@host/",
                                        "?token=abcdef&key=x",
                                        "Authorization: Bearer abc123\n",
                                        "basic dXNlcjpwYXNzd29yZA==",
                                        "\\n",
                                        "word",
                                        "\xc3\xa9",
                                        key,
                                        "-----BEGIN PRIVATE KEY-----\n",
                                        ";Password=abc;",
                                        "sk_",
                                        "SK",
                                        "eyJhbGciOiJIUzI1NiJ9."};

    switch (random_below(5)) {
    case 0:
        add_key(text);
        break;
    case 1:
        add_filler(text, random_below(200));
        break;
    case 2:
        for (unsigned n = random_below(300); n > 0; n--)
            hr_buf_add(text, "N", 1);
        break;
    default:
        hr_buf_add_text(text, parts[random_below(sizeof parts / sizeof *parts)]);
        break;
    }
}

/* ---- tests ------------------------------------------------------------------------------ */

START_TEST(random_texts)
{
    uint64_t secrets = 0;
    struct hr_buf text;

    hr_buf_init(&text, 0);
    for (int round = 0; round < 400; round++) {
        size_t size = 200 + random_below(round % 20 ? 2500 : 40000);

        hr_buf_clear(&text);
        while (text.size < size)
            add_part(&text);
        secrets += expect_agreement(&text);
    }
    ck_assert_uint_gt(secrets, 1000);
    hr_buf_done(&text);
}
END_TEST

/* Each prefix among plain text, wherever the 32 bytes begin. */
START_TEST(every_prefix_at_every_place)
{
    struct hr_buf text;
    uint64_t count;

    hr_buf_init(&text, 0);
    for (size_t i = 0; i < hr_redact_row_count; i++) {
        const struct hr_redact_row *row = &hr_redact_rows[i];

        if (row->rule != HR_RULE_KEY)
            continue;
        for (size_t before = 250; before < 283; before++) {
            struct hr_buf out;

            hr_buf_clear(&text);
            for (size_t n = 0; n < before; n++)
                hr_buf_add(&text, n % 9 ? "e" : " ", 1);
            hr_buf_add_text(&text, " ");
            hr_buf_add_text(&text, row->prefix);
            for (unsigned n = 0; n < row->minimum; n++)
                hr_buf_add(&text, n % 2 ? "5" : "7", 1);
            for (int n = 0; n < 300; n++)
                hr_buf_add(&text, " ", 1);
            out = redact_in(&text, text.size, &count);
            ck_assert_msg(count == 1, "%s behind %zu bytes is %d secrets", row->prefix, before,
                          (int)count);
            hr_buf_done(&out);
        }
    }
    hr_buf_done(&text);
}
END_TEST

/* A block of assignments behind text whose lines were passed over, and text behind it. */
START_TEST(assignments_at_every_place)
{
    struct hr_buf text;

    hr_buf_init(&text, 0);
    for (size_t before = 0; before < 200; before++) {
        hr_buf_clear(&text);
        for (size_t n = 0; n < before; n++)
            hr_buf_add(&text, n % 50 ? "e" : "\n", 1);
        hr_buf_add_text(&text, "\nexport A_SECRET=aaaaaa\nB_TOKEN=bbbbbbb\ndeclare -x "
                               "C_KEY=cccccccc\nlast\nD_KEY=dddddddd\nE=f\n");
        for (size_t n = 0; n < 200 - before; n++)
            hr_buf_add_text(&text, "more\n");
        ck_assert_uint_eq(expect_agreement(&text), 3);
    }
    hr_buf_done(&text);
}
END_TEST

/* Names up to the longest, at the place where the end of the text is looked at in another way. */
START_TEST(long_names)
{
    struct hr_buf text;

    hr_buf_init(&text, 0);
    for (size_t size = 125; size < 131; size++) {
        for (size_t behind = 0; behind < 420; behind += 1 + behind / 200 * 9) {
            hr_buf_clear(&text);
            hr_buf_add_text(&text, "begin\ndeclare -x ");
            for (size_t n = 0; n < size - 4; n++)
                hr_buf_add(&text, "N", 1);
            hr_buf_add_text(&text, "_KEY=cccccc\nA_KEY=aaaaaa\nB_KEY=bbbbbb\n");
            for (size_t n = 0; n < behind; n++)
                hr_buf_add(&text, "e", 1);
            ck_assert_uint_eq(expect_agreement(&text), size <= 128 ? 3 : 0);
        }
    }
    hr_buf_done(&text);
}
END_TEST

START_TEST(what_is_not_ascii_is_found_at_every_place)
{
    static const unsigned char others[] = {HR_ESC, 0x80, 0xc3, 0xff};
    unsigned char data[300];

    for (size_t i = 0; i < sizeof others; i++)
        for (size_t start = 0; start < 9; start++)
            for (size_t at = start; at < sizeof data; at++) {
                memset(data, '\x7f', sizeof data);
                data[at] = others[i];
                ck_assert_uint_eq(hr_ascii_run(data + start, sizeof data - start), at - start);
                data[at] = '\x1a';
                ck_assert_uint_eq(hr_ascii_run(data + start, at - start), at - start);
            }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("redact_scan");
    TCase *tests = tcase_create("scan");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, random_texts);
    tcase_add_test(tests, every_prefix_at_every_place);
    tcase_add_test(tests, assignments_at_every_place);
    tcase_add_test(tests, long_names);
    tcase_add_test(tests, what_is_not_ascii_is_found_at_every_place);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
