/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "utf8.h"

/*
 * Length of a sequence by its first byte, 0 if none may start so; the allowed range of the second
 * byte.
 */
static size_t lead(unsigned char byte, unsigned char *ret_low, unsigned char *ret_high)
{
    *ret_low = 0x80;
    *ret_high = 0xBF;
    if (byte < 0x80)
        return 1;
    if (byte >= 0xC2 && byte <= 0xDF)
        return 2;
    if (byte >= 0xE0 && byte <= 0xEF) {
        if (byte == 0xE0)
            *ret_low = 0xA0;
        else if (byte == 0xED)
            *ret_high = 0x9F;
        return 3;
    }
    if (byte >= 0xF0 && byte <= 0xF4) {
        if (byte == 0xF0)
            *ret_low = 0x90;
        else if (byte == 0xF4)
            *ret_high = 0x8F;
        return 4;
    }
    return 0;
}

size_t utf8_decode(const char *data, size_t size, uint32_t *ret_code)
{
    const unsigned char *bytes = (const unsigned char *)data;
    unsigned char low, high;
    size_t length = lead(bytes[0], &low, &high);
    *ret_code = UINT32_MAX;
    if (!length)
        return 1;
    if (length == 1) {
        *ret_code = bytes[0];
        return 1;
    }
    uint32_t code = bytes[0] & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if (i >= size)
            return 0;
        if (bytes[i] < low || bytes[i] > high)
            return i;
        code = code << 6 | (bytes[i] & 0x3Fu);
        low = 0x80;
        high = 0xBF;
    }
    *ret_code = code;
    return length;
}

size_t utf8_encode(uint32_t code, char out[4])
{
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        code = 0xFFFD;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

bool utf8_check(const char *data, size_t size, size_t *ret_offset)
{
    size_t at = 0;
    while (at < size) {
        uint32_t code;
        size_t length = utf8_decode(data + at, size - at, &code);
        if (!length || code == UINT32_MAX) {
            if (ret_offset)
                *ret_offset = at;
            return false;
        }
        at += length;
    }
    return true;
}

void utf8_repair(struct strbuf *buf, const char *data, size_t size)
{
    size_t at = 0, good = 0; /* data[good..at) is well-formed and not yet copied */
    while (at < size) {
        uint32_t code;
        size_t length = utf8_decode(data + at, size - at, &code);
        if (length && code != UINT32_MAX) {
            at += length;
            continue;
        }
        strbuf_add(buf, data + good, at - good);
        strbuf_add(buf, "\xEF\xBF\xBD", 3);
        at += length ? length : size - at;
        good = at;
    }
    strbuf_add(buf, data + good, at - good);
}

bool utf8_turns(uint32_t code)
{
    return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

static bool is_hidden(uint32_t code)
{
    return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0) ||
           utf8_turns(code);
}

void utf8_visible(struct strbuf *buf, const char *data, size_t size)
{
    for (size_t at = 0, length; at < size; at += length) {
        uint32_t code;
        length = utf8_decode(data + at, size - at, &code);
        if (!length || code == UINT32_MAX) {
            strbuf_add(buf, "\xEF\xBF\xBD", 3);
            length = length ? length : size - at;
        } else if (!is_hidden(code)) {
            strbuf_add(buf, data + at, length);
        } else if (code < 0x80) {
            strbuf_addf(buf, "^%c", (char)(code ^ 64));
        } else {
            strbuf_addf(buf, "<%x>", (unsigned)code);
        }
    }
}

size_t utf8_partial_tail(const char *data, size_t size)
{
    for (size_t back = 1; back <= 3 && back <= size; back++) {
        unsigned char byte = (unsigned char)data[size - back];
        if ((byte & 0xC0) == 0x80)
            continue;
        uint32_t code;
        return utf8_decode(data + size - back, back, &code) == 0 ? back : 0;
    }
    return 0;
}

size_t utf8_prefix(const char *data, size_t size, size_t count)
{
    size_t at = 0;
    while (at < size && count--) {
        uint32_t code;
        size_t length = utf8_decode(data + at, size - at, &code);
        at += length ? length : size - at;
    }
    return at;
}
