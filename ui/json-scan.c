/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "json-scan.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "utf8.h"

#define DEPTH_MAX 500

struct scanner {
    const char *text;
    size_t size, at;
    const char *fault;
};

static bool fail(struct scanner *scan, const char *fault)
{
    if (!scan->fault)
        scan->fault = fault;
    return false;
}

static int peek(const struct scanner *scan)
{
    return scan->at < scan->size ? (unsigned char)scan->text[scan->at] : -1;
}

static void skip_space(struct scanner *scan)
{
    while (scan->at < scan->size && strchr(" \t\r\n", scan->text[scan->at]) && scan->text[scan->at])
        scan->at++;
}

static bool skip_word(struct scanner *scan, const char *word)
{
    size_t length = strlen(word);
    if (scan->size - scan->at < length || memcmp(scan->text + scan->at, word, length) != 0)
        return false;
    scan->at += length;
    return true;
}

static bool scan_string(struct scanner *scan)
{
    for (scan->at++; scan->at < scan->size; scan->at++) {
        unsigned char c = (unsigned char)scan->text[scan->at];
        if (c == '"') {
            scan->at++;
            return true;
        }
        if (c < 0x20)
            return fail(scan, "a control character in a string");
        if (c != '\\')
            continue;
        scan->at++;
        int escape = peek(scan);
        if (escape == 'u') {
            for (int i = 0; i < 4; i++) {
                scan->at++;
                if (!isxdigit(peek(scan)))
                    return fail(scan, "a malformed \\u escape");
            }
        } else if (escape < 1 || !strchr("\"\\/bfnrt", escape)) {
            return fail(scan, "a malformed escape");
        }
    }
    return fail(scan, "a string that does not end");
}

static bool scan_digits(struct scanner *scan)
{
    if (!isdigit(peek(scan)))
        return fail(scan, "a malformed number");
    while (isdigit(peek(scan)))
        scan->at++;
    return true;
}

static bool scan_number(struct scanner *scan)
{
    if (peek(scan) == '-')
        scan->at++;
    if (skip_word(scan, "Infinity"))
        return true;
    if (peek(scan) == '0')
        scan->at++;
    else if (!scan_digits(scan))
        return false;
    if (peek(scan) == '.') {
        scan->at++;
        if (!scan_digits(scan))
            return false;
    }
    if (peek(scan) == 'e' || peek(scan) == 'E') {
        scan->at++;
        if (peek(scan) == '+' || peek(scan) == '-')
            scan->at++;
        return scan_digits(scan);
    }
    return true;
}

static bool scan_value(struct scanner *scan, unsigned depth);

static bool scan_member_key(struct scanner *scan)
{
    if (peek(scan) != '"')
        return fail(scan, "a member without a name in double quotes");
    if (!scan_string(scan))
        return false;
    skip_space(scan);
    if (peek(scan) != ':')
        return fail(scan, "a member without a colon");
    scan->at++;
    skip_space(scan);
    return true;
}

static bool scan_container(struct scanner *scan, unsigned depth)
{
    bool object = peek(scan) == '{';
    int close = object ? '}' : ']';
    if (depth >= DEPTH_MAX)
        return fail(scan, "more than 500 levels of nesting");
    scan->at++;
    skip_space(scan);
    if (peek(scan) == close) {
        scan->at++;
        return true;
    }
    for (;;) {
        if (object && !scan_member_key(scan))
            return false;
        if (!scan_value(scan, depth + 1))
            return false;
        skip_space(scan);
        int c = peek(scan);
        if (c != close && c != ',')
            return fail(scan, c < 0    ? "the text ends early"
                              : object ? "a comma or } is missing"
                                       : "a comma or ] is missing");
        scan->at++;
        if (c == close)
            return true;
        skip_space(scan);
    }
}

static bool scan_value(struct scanner *scan, unsigned depth)
{
    switch (peek(scan)) {
    case '{':
    case '[':
        return scan_container(scan, depth);
    case '"':
        return scan_string(scan);
    case -1:
        return fail(scan, "the text ends early");
    default:
        break;
    }
    if (skip_word(scan, "true") || skip_word(scan, "false") || skip_word(scan, "null") ||
        skip_word(scan, "NaN") || skip_word(scan, "Infinity"))
        return true;
    if (peek(scan) == '-' || isdigit(peek(scan)))
        return scan_number(scan);
    return fail(scan, "not a JSON value");
}

static void report(const char *text, size_t offset, const char *fault, struct strbuf *error)
{
    size_t line = 1, start = 0;
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    strbuf_setf(error, "line %zu, column %zu: %s", line, offset - start + 1, fault);
}

bool json_check(const char *text, size_t size, struct json_span *ret_value, struct strbuf *error)
{
    size_t bad;
    if (!utf8_check(text, size, &bad)) {
        report(text, bad, "not UTF-8", error);
        return false;
    }
    struct scanner scan = {.text = text, .size = size};
    skip_space(&scan);
    size_t start = scan.at;
    bool good = scan_value(&scan, 0);
    size_t end = scan.at;
    if (good) {
        skip_space(&scan);
        if (scan.at < size)
            good = fail(&scan, "more text after the value");
    }
    if (!good) {
        report(text, scan.at < size ? scan.at : size, scan.fault, error);
        return false;
    }
    if (ret_value)
        *ret_value = (struct json_span){text + start, end - start};
    return true;
}

enum json_kind json_kind_of(struct json_span value)
{
    if (!value.size)
        return JSON_NONE;
    switch (value.start[0]) {
    case '{':
        return JSON_OBJECT;
    case '[':
        return JSON_ARRAY;
    case '"':
        return JSON_STRING;
    case 't':
        return JSON_TRUE;
    case 'f':
        return JSON_FALSE;
    case 'n':
        return JSON_NULL;
    default:
        return JSON_NUMBER;
    }
}

/* Move to the next item of a container: false at its end. */
static bool next_item(struct scanner *scan, int open)
{
    if (!scan->at) {
        if (peek(scan) != open)
            return false;
        scan->at++;
    }
    skip_space(scan);
    if (peek(scan) == ',') {
        scan->at++;
        skip_space(scan);
    }
    return peek(scan) >= 0 && peek(scan) != '}' && peek(scan) != ']';
}

static struct json_span take(struct scanner *scan, bool key)
{
    size_t start = scan->at;
    if (key)
        scan_string(scan);
    else
        scan_value(scan, 0);
    return (struct json_span){scan->text + start, scan->at - start};
}

bool json_next_member(struct json_span object, size_t *position, struct json_span *ret_key,
                      struct json_span *ret_value)
{
    struct scanner scan = {.text = object.start, .size = object.size, .at = *position};
    if (!next_item(&scan, '{') || peek(&scan) != '"')
        return false;
    *ret_key = take(&scan, true);
    skip_space(&scan);
    scan.at++; /* the colon */
    skip_space(&scan);
    *ret_value = take(&scan, false);
    *position = scan.at;
    return true;
}

bool json_next_element(struct json_span array, size_t *position, struct json_span *ret_value)
{
    struct scanner scan = {.text = array.start, .size = array.size, .at = *position};
    if (!next_item(&scan, '['))
        return false;
    *ret_value = take(&scan, false);
    *position = scan.at;
    return true;
}

bool json_get(struct json_span object, const char *key, struct json_span *ret_value)
{
    struct json_span name, value;
    bool found = false;
    for (size_t position = 0; json_next_member(object, &position, &name, &value);) {
        if (json_is_text(name, key)) {
            *ret_value = value;
            found = true;
        }
    }
    return found;
}

static uint32_t hex4(const char *digits)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = digits[i];
        value = value << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

/*
 * Decode the \u escape whose digits stand at "at"; returns the offset behind it (and behind its
 * low half).
 */
static size_t decode_unicode(struct json_span string, size_t at, struct strbuf *buf)
{
    uint32_t code = hex4(string.start + at);
    at += 4;
    if (code >= 0xD800 && code <= 0xDBFF && at + 6 < string.size && string.start[at] == '\\' &&
        string.start[at + 1] == 'u') {
        uint32_t low = hex4(string.start + at + 2);
        if (low >= 0xDC00 && low <= 0xDFFF) {
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            at += 6;
        }
    }
    char bytes[4];
    strbuf_add(buf, bytes, utf8_encode(code, bytes));
    return at;
}

void json_decode(struct json_span string, struct strbuf *buf)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    size_t end = string.size - 1;
    for (size_t at = 1; at < end;) {
        const char *escape = memchr(string.start + at, '\\', end - at);
        size_t stop = escape ? (size_t)(escape - string.start) : end;
        strbuf_add(buf, string.start + at, stop - at);
        if (!escape)
            break;
        if (string.start[stop + 1] == 'u') {
            at = decode_unicode(string, stop + 2, buf);
        } else {
            const char *which = strchr(from, string.start[stop + 1]);
            strbuf_addc(buf, which ? to[which - from] : '?');
            at = stop + 2;
        }
    }
}

bool json_is_text(struct json_span string, const char *text)
{
    if (json_kind_of(string) != JSON_STRING)
        return false;
    struct strbuf decoded = STRBUF_INIT;
    json_decode(string, &decoded);
    bool same = decoded.size == strlen(text) && strcmp(strbuf_text(&decoded), text) == 0;
    strbuf_free(&decoded);
    return same;
}
