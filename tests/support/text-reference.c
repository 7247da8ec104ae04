/* SPDX-License-Identifier: MIT */
/*
 * Written to be obviously right and not to be fast: code points first, then one sequence at a time.
 * It shares no code with what it checks.
 */
#include "config.h"

#include "text-reference.h"

#include <string.h>

struct points {
    uint32_t at[REFERENCE_MAX];
    size_t count;
};

/*
 * The value of a well-formed code point of exactly n bytes, a surrogate included; -1 for anything
 * else.
 */
static long point_value(const unsigned char *data, size_t n)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    static const unsigned char tops[] = {0, 0x00, 0xc0, 0xe0, 0xf0};
    static const long least[] = {0, 0, 0x80, 0x800, 0x10000};
    long value = data[0] & masks[n];
    size_t i;

    if ((data[0] & (unsigned char)~masks[n]) != tops[n])
        return -1;
    for (i = 1; i < n; i++) {
        if ((data[i] & 0xc0) != 0x80)
            return -1;
        value = value << 6 | (data[i] & 0x3f);
    }
    return value < least[n] || value > 0x10ffff ? -1 : value;
}

static bool is_surrogate(long value)
{
    return value >= 0xd800 && value <= 0xdfff;
}

/* Could these n bytes be the beginning of a longer code point? Found out by trying all ends. */
static bool is_beginning(const unsigned char *data, size_t n)
{
    unsigned char whole[4];
    size_t total;
    unsigned last;

    for (total = n + 1; total <= 4; total++) {
        memset(whole, 0x80, sizeof whole);
        memcpy(whole, data, n);
        for (last = 0x80; last <= 0xbf; last++) {
            long value;

            whole[n] = (unsigned char)last;
            value = point_value(whole, total);
            if (value >= 0 && !is_surrogate(value))
                return true;
        }
    }
    return false;
}

static void to_points(const unsigned char *data, size_t size, struct points *points)
{
    size_t i = 0, n;

    points->count = 0;
    while (i < size) {
        long value = -1;

        for (n = 1; n <= 4 && i + n <= size; n++)
            if ((value = point_value(data + i, n)) >= 0)
                break;
        if (value < 0) { /* as many bytes as could have begun something */
            for (n = 1; i + n < size && n < 4 && is_beginning(data + i, n + 1);)
                n++;
            if (!is_beginning(data + i, 1))
                n = 1;
        }
        points->at[points->count++] = value < 0 || is_surrogate(value) ? 0xfffd : (uint32_t)value;
        i += n;
    }
}

static uint32_t point(const struct points *points, size_t i)
{
    return i < points->count ? points->at[i] : UINT32_MAX;
}

static bool between(uint32_t value, uint32_t low, uint32_t high)
{
    return value >= low && value <= high;
}

/* Past the terminator, or 0: there is none. */
static size_t reference_string(const struct points *points, size_t i, bool bel)
{
    for (; i < points->count; i++) {
        if ((bel && point(points, i) == 7) || point(points, i) == 0x9c)
            return i + 1;
        if (point(points, i) == 0x1b && point(points, i + 1) == '\\')
            return i + 2;
    }
    return 0;
}

static size_t reference_csi(const struct points *points, size_t i)
{
    while (between(point(points, i), 0x30, 0x3f))
        i++;
    while (between(point(points, i), 0x20, 0x2f))
        i++;
    return between(point(points, i), 0x40, 0x7e) ? i + 1 : 0;
}

/*
 * How many code points go away at i: those of a whole sequence, else those of the introducer; 0:
 * none.
 */
static size_t reference_skip(const struct points *points, size_t i)
{
    uint32_t c = point(points, i);
    size_t introducer = 1, end = 0, j;

    if (c == 0x1b) {
        c = point(points, i + 1);
        if (between(c, 0x20, 0x2f)) {
            for (j = i + 1; between(point(points, j), 0x20, 0x2f);)
                j++;
            return between(point(points, j), 0x30, 0x7e) ? j + 1 - i : 1;
        }
        if (!between(c, 0x30, 0x7e))
            return 1;
        introducer = 2;
        c = between(c, 0x40, 0x5f) ? c + 0x40 : 0x80;
    } else if (!between(c, 0x80, 0x9f) || c == 0x85) {
        return 0;
    }
    if (c == 0x9b)
        end = reference_csi(points, i + introducer);
    else if (c == 0x9d)
        end = reference_string(points, i + introducer, true);
    else if (c == 0x90 || c == 0x98 || c == 0x9e || c == 0x9f)
        end = reference_string(points, i + introducer, false);
    return end ? end - i : introducer;
}

static void add_point(struct hr_buf *out, uint32_t c)
{
    unsigned char raw[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4, i;

    for (i = n; i-- > 1; c >>= 6)
        raw[i] = (unsigned char)(0x80 | (c & 0x3f));
    raw[0] = (unsigned char)(n == 1 ? c : (0xf00u >> n & 0xff) | c);
    (void)hr_buf_add(out, raw, n); /* out->failed tells */
}

void reference_clean(const char *data, size_t size, struct hr_buf *out)
{
    static struct points points;
    size_t i = 0, n;

    if (size > REFERENCE_MAX) {
        out->failed = true;
        return;
    }
    to_points((const unsigned char *)data, size, &points);
    while (i < points.count) {
        n = reference_skip(&points, i);
        if (n == 0)
            add_point(out, points.at[i++]);
        i += n;
    }
}
