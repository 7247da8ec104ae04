/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "text.h"

#include <string.h>

#include "utf8.h"

size_t hr_utf8_cut_before(const char *data, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)data;
    unsigned char low, high;
    size_t start = size;

    while (start > 0 && size - start < 3 && (bytes[start - 1] & 0xc0) == 0x80)
        start--;
    if (start == 0 || hr_utf8_lead_byte(bytes[start - 1], &low, &high) <= size - start)
        return size;
    return start - 1;
}

size_t hr_utf8_cut_after(const char *data, size_t size, size_t from)
{
    while (from < size && ((unsigned char)data[from] & 0xc0) == 0x80)
        from++;
    return from;
}

size_t hr_utf8_valid_run(const char *data, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)data;
    size_t i = 0, n;

    for (;;) {
        i += hr_ascii_run(bytes + i, size - i);
        if (i == size)
            return i;
        n = 1;
        if (bytes[i] >= 0x80 && hr_utf8_decode(bytes + i, size - i, &n) != HR_UTF8_GOOD)
            return i;
        i += n;
    }
}

bool hr_utf8_valid(const char *data, size_t size)
{
    return hr_utf8_valid_run(data, size) == size;
}

/* Length of the run that needs no escape and no repair. */
static size_t json_run(const unsigned char *data, size_t size)
{
    size_t i = 0, n;

    while (i < size) {
        if (data[i] < 0x20 || data[i] == '"' || data[i] == '\\')
            break;
        n = 1;
        if (data[i] >= 0x80 &&
            (hr_utf8_decode(data + i, size - i, &n) != HR_UTF8_GOOD ||
             (n == 3 && data[i] == 0xe2 && data[i + 1] == 0x80 && (data[i + 2] & 0xfe) == 0xa8)))
            break;
        i += n;
    }
    return i;
}

/*
 * Add the escape or the replacement for what ended a run. Returns how many bytes of data that
 * covers.
 */
static size_t json_escape(struct hr_buf *out, const unsigned char *data, size_t size)
{
    static const char short_names[] = "\b\t\n\f\r\"\\", letters[] = "btnfr\"\\",
                      digits[] = "0123456789abcdef";
    const char *found;
    size_t n;

    if (data[0] < 0x80) {
        found = data[0] ? strchr(short_names, data[0]) : NULL;
        if (found)
            hr_buf_add(out, (char[2]){'\\', letters[found - short_names]}, 2);
        else
            hr_buf_add(
                out,
                (char[6]){'\\', 'u', '0', '0', data[0] < 0x10 ? '0' : '1', digits[data[0] & 15]},
                6);
        return 1;
    }
    switch (hr_utf8_decode(data, size, &n)) {
    case HR_UTF8_GOOD:
        hr_buf_add_text(out, data[2] == 0xa8 ? "\\u2028" : "\\u2029");
        return n;
    case HR_UTF8_CUT:
        n = hr_utf8_cut_size(data, size);
        break;
    case HR_UTF8_BAD:
        break;
    }
    hr_buf_add(out, HR_REPLACEMENT, 3);
    return n;
}

bool hr_json_add_string(struct hr_buf *out, const char *data, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)data;
    size_t before = out->size, i = 0, n;
    bool failed = out->failed;

    out->failed = false;
    hr_buf_add(out, "\"", 1);
    while (i < size && !out->failed) {
        n = json_run(bytes + i, size - i);
        hr_buf_add(out, bytes + i, n);
        i += n;
        if (i < size)
            i += json_escape(out, bytes + i, size - i);
    }
    if (hr_buf_add(out, "\"", 1) && !out->failed) {
        out->failed = failed;
        return true;
    }
    out->size = before;
    if (out->data)
        out->data[before] = '\0';
    out->failed = true;
    return false;
}
