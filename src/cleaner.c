/* SPDX-License-Identifier: MIT */
/*
 * The cleaner of text.h. It works on raw bytes: the bytes that end a sequence are never a part of
 * another code point, so only what comes out needs repair, and what cannot be told yet is held as
 * it came.
 */
#include "config.h"

#include <string.h>

#include "text.h"
#include "utf8.h"

#define BEL 0x07
#define HELD_PIECE 4096 /* bytes that join the held ones at a time */

static bool is_c1(const unsigned char *data, size_t size)
{
    return size >= 2 && data[0] == 0xc2 && data[1] < 0xa0 && data[1] >= 0x80;
}

/*
 * Length of the run that can be passed on as it is: valid, whole, no ESC, no C1 control but U+0085.
 */
static size_t plain_run(const unsigned char *data, size_t size)
{
    size_t i = 0, n;

    for (;;) {
        i += hr_ascii_run(data + i, size - i);
        do {
            if (i == size || data[i] == HR_ESC ||
                (is_c1(data + i, size - i) && data[i + 1] != 0x85) ||
                hr_utf8_decode(data + i, size - i, &n) != HR_UTF8_GOOD)
                return i;
            i += n;
        } while (i < size && data[i] >= 0x80);
    }
}

/* A stretch of raw bytes, and how far earlier looks at it came (see struct hr_cleaner). */
struct scan {
    const unsigned char *data;
    size_t size;
    bool final; /* nothing will follow */
    size_t string_clear, st_clear, csi_clear;
};

enum kind { KIND_ALONE, KIND_CSI, KIND_OSC, KIND_STRING, KIND_NF };

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Where a sequence that begins at start has to end. */
static size_t sequence_end(const struct scan *scan, size_t start)
{
    return scan->size - start > HR_SEQUENCE_MAX ? start + HR_SEQUENCE_MAX : scan->size;
}

static bool may_go_on(const struct scan *scan, size_t start)
{
    return !scan->final && scan->size - start < HR_SEQUENCE_MAX;
}

static enum kind string_kind(unsigned char c1)
{
    switch (c1) {
    case 0x9b:
        return KIND_CSI;
    case 0x9d:
        return KIND_OSC;
    case 0x90:
    case 0x98:
    case 0x9e:
    case 0x9f:
        return KIND_STRING;
    default:
        return KIND_ALONE;
    }
}

/* What begins at data, which is ESC with a byte behind it, or a C1 control. */
static enum kind sequence_kind(const unsigned char *data, size_t *ret_introducer)
{
    enum kind kind;

    *ret_introducer = 2;
    if (data[0] != HR_ESC)
        return string_kind(data[1]);
    if (data[1] >= 0x40 && data[1] <= 0x5f && (kind = string_kind(data[1] + 0x40)) != KIND_ALONE)
        return kind;
    if (data[1] >= 0x20 && data[1] <= 0x2f) {
        *ret_introducer = 1;
        return KIND_NF;
    }
    if (data[1] < 0x20 || data[1] > 0x7e)
        *ret_introducer = 1; /* ESC begins nothing */
    return KIND_ALONE;
}

/*
 * Parameters, intermediates, one final byte; nF has no parameters and more final bytes. true:
 * *ret_end is the end of the sequence, or of its introducer if it is none. false: it is not
 * complete yet.
 */
static bool end_of_csi(struct scan *scan, size_t start, size_t body, bool nf, size_t *ret_end)
{
    size_t end = sequence_end(scan, start), i = larger(body, scan->csi_clear);
    bool middle = nf || (i > body && scan->data[i - 1] < 0x30);

    for (*ret_end = body; i < end; i++) {
        unsigned char byte = scan->data[i];

        if (byte >= 0x20 && byte <= 0x2f) {
            middle = true;
        } else if (byte < 0x30 || byte > 0x7e) {
            return true;
        } else if (byte >= 0x40 || nf) {
            *ret_end = i + 1;
            return true;
        } else if (middle) {
            return true;
        }
    }
    scan->csi_clear = i;
    return !may_go_on(scan, start);
}

/* The same for a string that ST ends, or BEL too. */
static bool end_of_string(struct scan *scan, size_t start, size_t body, bool bel, size_t *ret_end)
{
    size_t end = sequence_end(scan, start);
    size_t i = larger(body, bel ? scan->string_clear : larger(scan->string_clear, scan->st_clear));

    for (*ret_end = body; i < end; i++) {
        unsigned char byte = scan->data[i];

        if (byte == BEL && bel) {
            *ret_end = i + 1;
            return true;
        }
        if (byte != HR_ESC && byte != 0xc2)
            continue;
        if (i + 1 == end)
            break; /* perhaps half of an ST: to be looked at again */
        if (scan->data[i + 1] == (byte == HR_ESC ? '\\' : 0x9c)) {
            *ret_end = i + 2;
            return true;
        }
    }
    *(bel ? &scan->string_clear : &scan->st_clear) = i;
    return !may_go_on(scan, start);
}

/*
 * Find the end of the ESC or C1 control at start, or of the whole sequence. false: not complete
 * yet.
 */
static bool end_of_sequence(struct scan *scan, size_t start, size_t *ret_end)
{
    const unsigned char *data = scan->data + start;
    size_t introducer;
    enum kind kind;

    *ret_end = start + 1;
    if (scan->size - start < 2)
        return scan->final;
    kind = sequence_kind(data, &introducer);
    *ret_end = start + introducer;
    switch (kind) {
    case KIND_CSI:
    case KIND_NF:
        return end_of_csi(scan, start, start + introducer, kind == KIND_NF, ret_end);
    case KIND_OSC:
    case KIND_STRING:
        return end_of_string(scan, start, start + introducer, kind == KIND_OSC, ret_end);
    case KIND_ALONE:
        break;
    }
    return true;
}

/*
 * Clean as much as can be told; what is left over at the end begins an unfinished code point or
 * sequence.
 */
static size_t clean(const struct hr_cleaner *cleaner, struct scan *scan, struct hr_buf *out,
                    bool *ok)
{
    size_t i = 0, n;

    while (i < scan->size) {
        const unsigned char *data = scan->data + i;
        size_t left = scan->size - i;

        n = plain_run(data, left);
        if (n) {
            *ok &= hr_buf_add(out, data, n);
            i += n;
        } else if (data[0] == HR_ESC || is_c1(data, left)) {
            if (!end_of_sequence(scan, i, &n))
                break;
            if (cleaner->removed)
                *ok &= cleaner->removed(cleaner->removed_context, (const char *)data, n - i);
            i = n;
        } else {
            if (hr_utf8_decode(data, left, &n) == HR_UTF8_CUT) {
                if (!scan->final)
                    break;
                n = hr_utf8_cut_size(data, left);
            }
            *ok &= hr_buf_add(out, HR_REPLACEMENT, 3);
            i += n;
        }
    }
    return i;
}

static size_t minus(size_t a, size_t b)
{
    return a > b ? a - b : 0;
}

/* The first n bytes of the scan are done with: keep what is known of the others. */
static void keep_clear(struct hr_cleaner *cleaner, const struct scan *scan, size_t n)
{
    cleaner->string_clear = minus(scan->string_clear, n);
    cleaner->st_clear = minus(scan->st_clear, n);
    cleaner->csi_clear = minus(scan->csi_clear, n);
}

static void forget_held(struct hr_cleaner *cleaner)
{
    hr_buf_clear(&cleaner->held);
    cleaner->held_start = 0;
    cleaner->string_clear = cleaner->st_clear = cleaner->csi_clear = 0;
}

static bool clean_held(struct hr_cleaner *cleaner, bool final, struct hr_buf *out)
{
    struct scan scan = {(const unsigned char *)cleaner->held.data + cleaner->held_start,
                        cleaner->held.size - cleaner->held_start,
                        final,
                        cleaner->string_clear,
                        cleaner->st_clear,
                        cleaner->csi_clear};
    bool ok = true;
    size_t n = clean(cleaner, &scan, out, &ok);

    keep_clear(cleaner, &scan, n);
    cleaner->held_start += n;
    if (cleaner->held_start == cleaner->held.size) {
        forget_held(cleaner);
    } else if (cleaner->held_start > cleaner->held.size / 2) {
        hr_buf_consume(&cleaner->held, cleaner->held_start);
        cleaner->held_start = 0;
    }
    return ok;
}

void hr_cleaner_init(struct hr_cleaner *cleaner)
{
    memset(cleaner, 0, sizeof *cleaner);
    hr_buf_init(&cleaner->held, 0);
}

void hr_cleaner_done(struct hr_cleaner *cleaner)
{
    hr_buf_done(&cleaner->held);
    hr_cleaner_init(cleaner);
}

size_t hr_cleaner_pass(const struct hr_cleaner *cleaner, const char *data, size_t size)
{
    return cleaner->held.size ? 0 : plain_run((const unsigned char *)data, size);
}

bool hr_cleaner_feed(struct hr_cleaner *cleaner, const char *data, size_t size, struct hr_buf *out)
{
    bool ok = true;

    while (size > 0 && cleaner->held.size > 0) {
        size_t piece = size < HELD_PIECE ? size : HELD_PIECE;

        if (!hr_buf_add(&cleaner->held, data, piece)) {
            cleaner->held.failed = false;
            ok = false;
        } else {
            ok &= clean_held(cleaner, false, out);
        }
        data += piece;
        size -= piece;
    }
    if (size > 0) {
        struct scan scan = {(const unsigned char *)data, size, false, 0, 0, 0};
        size_t n = clean(cleaner, &scan, out, &ok);

        if (n < size && !hr_buf_add(&cleaner->held, data + n, size - n)) {
            forget_held(cleaner);
            ok = false;
        } else if (n < size) {
            keep_clear(cleaner, &scan, n);
        }
    }
    return ok;
}

bool hr_cleaner_finish(struct hr_cleaner *cleaner, struct hr_buf *out)
{
    bool ok = cleaner->held.size == 0 || clean_held(cleaner, true, out);

    forget_held(cleaner);
    return ok;
}
