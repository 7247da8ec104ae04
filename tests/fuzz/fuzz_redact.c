/* SPDX-License-Identifier: MIT */
/*
 * The redactor: any text, any cuts and flushes. The first byte seeds the cuts, the others are the
 * text. Cuts make no difference; text without a secret comes out as it was; nothing held grows
 * beyond the window.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool condition)
{
    if (!condition)
        abort();
}

/* Seed 0: in one piece. */
static uint64_t redact(const char *data, size_t size, unsigned seed, bool flush, struct hr_buf *out)
{
    struct hr_redactor redactor;
    uint64_t count;
    size_t n;

    hr_redactor_init(&redactor);
    for (; size > 0; data += n, size -= n) {
        n = size;
        if (seed) {
            seed = seed * 1103515245u + 12345u;
            n = 1 + (seed >> 16) % 37;
            n = n < size ? n : size;
        }
        need(hr_redactor_feed(&redactor, data, n, out));
        need(redactor.held.size <= HR_REDACT_WINDOW + 4096 && redactor.shown <= redactor.held.size);
        if (flush && seed >> 24 & 1)
            need(hr_redactor_flush(&redactor, out));
    }
    need(hr_redactor_finish(&redactor, out));
    count = redactor.count;
    hr_redactor_done(&redactor);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + 1;
    struct hr_buf whole, cut;
    uint64_t count;

    if (size == 0)
        return 0;
    hr_buf_init(&whole, 0);
    hr_buf_init(&cut, 0);
    count = redact(text, size - 1, 0, false, &whole);
    need(count == redact(text, size - 1, data[0] + 1u, false, &cut));
    need(whole.size == cut.size && (cut.size == 0 || memcmp(whole.data, cut.data, cut.size) == 0));
    need(count > 0 ||
         (whole.size == size - 1 && (size == 1 || memcmp(whole.data, text, size - 1) == 0)));
    hr_buf_clear(&cut);
    redact(text, size - 1, data[0] + 1u, true, &cut);
    hr_buf_done(&whole);
    hr_buf_done(&cut);
    return 0;
}
