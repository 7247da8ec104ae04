/* SPDX-License-Identifier: MIT */
/*
 * The cleaner: any bytes, any cuts, against the reference. The first byte seeds the cuts, the
 * others are the input.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collector.h"
#include "text-reference.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool condition)
{
    if (!condition)
        abort();
}

static bool same(const struct hr_buf *a, const struct hr_buf *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

/* Seed 0: in one piece. */
static void clean(const char *data, size_t size, unsigned seed, struct hr_buf *out)
{
    struct hr_cleaner cleaner;
    size_t n;

    hr_cleaner_init(&cleaner);
    for (; size > 0; data += n, size -= n) {
        n = size;
        if (seed) {
            seed = seed * 1103515245u + 12345u;
            n = 1 + (seed >> 16) % 7;
            n = n < size ? n : size;
        }
        need(hr_cleaner_feed(&cleaner, data, n, out));
    }
    need(hr_cleaner_finish(&cleaner, out));
    hr_cleaner_done(&cleaner);
}

/* No escape sequence and no C1 control is left, and the text is UTF-8. */
static void check_cleaned(const struct hr_buf *out)
{
    size_t i;

    if (out->size == 0)
        return;
    need(hr_utf8_valid(out->data, out->size));
    need(memchr(out->data, 0x1b, out->size) == NULL);
    for (i = 0; i + 1 < out->size; i++)
        need((unsigned char)out->data[i] != 0xc2 || (unsigned char)out->data[i + 1] >= 0xa0 ||
             (unsigned char)out->data[i + 1] == 0x85);
    for (i = 0; i <= out->size && i < 64; i++) {
        size_t cut = hr_utf8_cut_before(out->data, i),
               after = hr_utf8_cut_after(out->data, out->size, i);

        need(cut <= i && i - cut < 4 && hr_utf8_valid(out->data, cut));
        need(after >= i && after - i < 4 && hr_utf8_valid(out->data + after, out->size - after));
    }
}

static void check_json(const char *data, size_t size)
{
    struct hr_buf json;
    size_t i;

    hr_buf_init(&json, 0);
    need(hr_json_add_string(&json, data, size));
    need(json.size >= 2 && json.data[0] == '"' && json.data[json.size - 1] == '"');
    need(hr_utf8_valid(json.data, json.size));
    for (i = 1; i + 1 < json.size; i++) {
        need((unsigned char)json.data[i] >= 0x20 && json.data[i] != '"');
        if (json.data[i] == '\\')
            need(++i + 1 < json.size);
    }
    hr_buf_done(&json);
}

static void check_collector(const char *data, size_t size, const struct hr_buf *cleaned)
{
    struct hr_collector_options options = {64, 0, NULL, false, false};
    struct hr_collector *collector = hr_collector_new(&options);
    struct hr_collected got;

    need(collector != NULL);
    hr_collector_feed(collector, data, size);
    need(hr_collector_finish(collector, &got));
    need(got.bytes_total == size && got.truncated == (cleaned->size > 64) &&
         got.bytes_captured <= 64);
    need(hr_utf8_valid(got.text, got.size));
    need(got.truncated || (got.size == cleaned->size &&
                           memcmp(got.text, cleaned->data ? cleaned->data : "", got.size) == 0));
    hr_collected_done(&got);
    hr_collector_free(collector);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + 1;
    struct hr_buf whole, cut;

    if (size == 0)
        return 0;
    hr_buf_init(&whole, 0);
    hr_buf_init(&cut, 0);
    clean(text, size - 1, 0, &whole);
    clean(text, size - 1, data[0] + 1u, &cut);
    need(same(&whole, &cut));
    if (size - 1 <= REFERENCE_MAX) {
        hr_buf_clear(&cut);
        reference_clean(text, size - 1, &cut);
        need(same(&whole, &cut));
    }
    check_cleaned(&whole);
    check_json(text, size - 1);
    check_collector(text, size - 1, &whole);
    hr_buf_done(&whole);
    hr_buf_done(&cut);
    return 0;
}
