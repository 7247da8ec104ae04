/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "json-write.h"

#include <string.h>

#include "utf8.h"

static void add_escaped(struct strbuf *buf, unsigned char c)
{
    switch (c) {
    case '"':
        strbuf_adds(buf, "\\\"");
        break;
    case '\\':
        strbuf_adds(buf, "\\\\");
        break;
    case '\n':
        strbuf_adds(buf, "\\n");
        break;
    case '\r':
        strbuf_adds(buf, "\\r");
        break;
    case '\t':
        strbuf_adds(buf, "\\t");
        break;
    case '\b':
        strbuf_adds(buf, "\\b");
        break;
    case '\f':
        strbuf_adds(buf, "\\f");
        break;
    default:
        strbuf_addf(buf, "\\u%04x", c);
    }
}

static bool needs_escape(unsigned char c)
{
    return c < 0x20 || c == '"' || c == '\\';
}

void json_add_string(struct strbuf *buf, const char *data, size_t size)
{
    struct strbuf repaired = STRBUF_INIT;
    if (!utf8_check(data, size, NULL)) {
        utf8_repair(&repaired, data, size);
        data = repaired.data;
        size = repaired.size;
    }
    strbuf_addc(buf, '"');
    size_t start = 0;
    for (size_t i = 0; i < size; i++) {
        if (!needs_escape((unsigned char)data[i]))
            continue;
        strbuf_add(buf, data + start, i - start);
        add_escaped(buf, (unsigned char)data[i]);
        start = i + 1;
    }
    strbuf_add(buf, data + start, size - start);
    strbuf_addc(buf, '"');
    strbuf_free(&repaired);
}

void json_add_text(struct strbuf *buf, const char *text)
{
    if (text)
        json_add_string(buf, text, strlen(text));
    else
        strbuf_adds(buf, "null");
}

/* How many bytes at text end a line as Python's str.splitlines() sees it; 0: none. */
static size_t line_end(const char *text, size_t size)
{
    unsigned char c = (unsigned char)text[0];
    if (c == '\r')
        return size > 1 && text[1] == '\n' ? 2 : 1;
    if ((c >= '\n' && c <= '\f') || (c >= 0x1C && c <= 0x1E))
        return 1;
    if (size > 1 && memcmp(text, "\xC2\x85", 2) == 0)
        return 2;
    bool separator =
        size > 2 && (memcmp(text, "\xE2\x80\xA8", 3) == 0 || memcmp(text, "\xE2\x80\xA9", 3) == 0);
    return separator ? 3 : 0;
}

static size_t line_length(const char *text, size_t size)
{
    for (size_t at = 0; at < size; at++) {
        size_t end = line_end(text + at, size - at);
        if (end)
            return at + end;
    }
    return size;
}

void json_add_lines(struct strbuf *buf, const char *data, size_t size)
{
    strbuf_addc(buf, '[');
    for (size_t at = 0; at < size;) {
        size_t length = line_length(data + at, size - at);
        if (at)
            strbuf_adds(buf, ", ");
        json_add_string(buf, data + at, length);
        at += length;
    }
    strbuf_addc(buf, ']');
}
