/* SPDX-License-Identifier: MIT */
/*
 * The inner loops over UTF-8 that text.c and cleaner.c share, inlined for speed. Everybody else
 * uses text.h.
 */
#ifndef HR_UTF8_H
#define HR_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HR_ESC 0x1b
#define HR_REPLACEMENT "\xef\xbf\xbd"

enum hr_utf8 { HR_UTF8_GOOD, HR_UTF8_BAD, HR_UTF8_CUT };

/*
 * How many of the bytes behind the lead byte belong to the code point, and the range of the first
 * of them.
 */
static inline unsigned hr_utf8_lead_byte(unsigned char lead, unsigned char *low,
                                         unsigned char *high)
{
    *low = 0x80;
    *high = 0xbf;
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    if (lead < 0xe0)
        return 1;
    if (lead < 0xf0) {
        if (lead == 0xe0)
            *low = 0xa0;
        return 2;
    }
    if (lead == 0xf0)
        *low = 0x90;
    else if (lead == 0xf4)
        *high = 0x8f;
    return 3;
}

/*
 * Look at one code point whose first byte is not ASCII. *ret_size: the bytes of it, or those that
 * one U+FFFD replaces. HR_UTF8_CUT: more bytes are needed to tell.
 */
static inline enum hr_utf8 hr_utf8_decode(const unsigned char *data, size_t size, size_t *ret_size)
{
    unsigned char low, high;
    unsigned extra = hr_utf8_lead_byte(data[0], &low, &high), i;

    *ret_size = 1;
    if (extra == 0)
        return HR_UTF8_BAD;
    for (i = 1; i <= extra; i++) {
        if (i == size)
            return HR_UTF8_CUT;
        if (data[i] < low || data[i] > high) {
            *ret_size = data[0] == 0xed && i == 2 && data[1] >= 0xa0 ? 1 : i;
            return HR_UTF8_BAD;
        }
        low = 0x80;
        high = 0xbf;
    }
    *ret_size = extra + 1;
    return data[0] == 0xed && data[1] >= 0xa0 ? HR_UTF8_BAD : HR_UTF8_GOOD; /* a surrogate */
}

static inline bool hr_ascii_word(const unsigned char *data)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7, escapes = ones * HR_ESC;
    uint64_t word, other;

    memcpy(&word, data, sizeof word);
    other = word ^ escapes; /* an ESC has become a zero byte */
    return !((word | ((other - ones) & ~other)) & tops);
}

#define HR_ASCII_BLOCK 64

static inline bool hr_ascii_block(const unsigned char *data)
{
    typedef unsigned char sixteen __attribute__((vector_size(16)));
    sixteen bytes, other = {0};
    uint64_t words[2];

    for (size_t i = 0; i < HR_ASCII_BLOCK; i += sizeof bytes) {
        memcpy(&bytes, data + i, sizeof bytes);
        other |= bytes | (sixteen)(bytes == HR_ESC);
    }
    memcpy(words, &other, sizeof words);
    return !((words[0] | words[1]) & UINT64_C(0x8080808080808080));
}

/* Length of the run at the start of data that is ASCII without ESC. */
static inline size_t hr_ascii_run(const unsigned char *data, size_t size)
{
    size_t i = 0;

    while (i + sizeof(uint64_t) <= size && hr_ascii_word(data + i)) {
        i += sizeof(uint64_t);
        if (i == HR_ASCII_BLOCK) /* most runs are short, or very long */
            while (i + HR_ASCII_BLOCK <= size && hr_ascii_block(data + i))
                i += HR_ASCII_BLOCK;
    }
    while (i < size && data[i] < 0x80 && data[i] != HR_ESC)
        i++;
    return i;
}

/*
 * How many bytes one U+FFFD replaces at the very end of the text, where hr_utf8_decode() said
 * HR_UTF8_CUT.
 */
static inline size_t hr_utf8_cut_size(const unsigned char *data, size_t size)
{
    return data[0] == 0xed && size == 2 && data[1] >= 0xa0 ? 1 : size;
}

#endif
