/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base64.h"

#include <stdint.h>

void base64_add(struct strbuf *out, const char *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        uint32_t bits = (uint32_t)(unsigned char)data[i] << 16;
        bits |= i + 1 < size ? (uint32_t)(unsigned char)data[i + 1] << 8 : 0;
        bits |= i + 2 < size ? (uint32_t)(unsigned char)data[i + 2] : 0;
        strbuf_addc(out, digits[bits >> 18 & 63]);
        strbuf_addc(out, digits[bits >> 12 & 63]);
        strbuf_addc(out, i + 1 < size ? digits[bits >> 6 & 63] : '=');
        strbuf_addc(out, i + 2 < size ? digits[bits & 63] : '=');
    }
}
