/* SPDX-License-Identifier: MIT */
/*
 * Finds the few places of a text that redact.c has to judge. Where the processor can, 32 bytes are
 * looked at together: not for the beginnings of prefixes, which are letters as all text is, but
 * for three bytes in a row of each prefix that are rarer (its window), in eight buckets of windows
 * that end alike, by look-ups of half a byte each. The places about what is found are looked at by
 * their bytes. The start of a line matters only before an assignment ("NAME=value"), so lines are
 * passed over until a '=' stands behind a name that their line begins with.
 */
#include "config.h"

#include <string.h>

#include "redact-rules.h"

#if defined __x86_64__ && defined __GNUC__
#define HAVE_WIDE 1
#include <immintrin.h>
#ifdef HAVE_SYS_PLATFORM_X86_H
#include <sys/platform/x86.h>
#endif
#else
#define HAVE_WIDE 0
#endif

enum {
    OFFSET_MAX = 15, /* of a window in its prefix */
    LOOK_BACK = 144, /* bytes of a line by which it is known to be an assignment or not, and more */
    MARGIN = LOOK_BACK + OFFSET_MAX + 34, /* so many bytes at the end are looked at one by one */
};

static bool not_wide; /* for tests */

/* ---- windows ---------------------------------------------------------------------------- */

enum bucket { DASH, UNDERSCORE, DOT, SIGN, QUESTION, AND, CAPITAL, OTHER };

static bool is_capital(char byte)
{
    return byte >= 'A' && byte <= 'Z';
}

static bool is_letter(char byte)
{
    return is_capital((char)hr_redact_upper((unsigned char)byte));
}

/* Few windows are found by mistake when all of a bucket end alike. Returns where it begins. */
static size_t choose_window(const char *prefix, bool fold, enum bucket *ret)
{
    static const char ends[] = "-_.=";
    size_t size = strlen(prefix), end = size < OFFSET_MAX + 3 ? size : OFFSET_MAX + 3, i;

    *ret = prefix[0] == '?' ? QUESTION : AND;
    if (size == 1)
        return 0;
    for (i = 2; i < end; i++) {
        const char *found = strchr(ends, prefix[i]);

        if (!found || prefix[i - 1] == '-' ||
            (*found == '.' && !is_letter(prefix[i - 1]) && !is_letter(prefix[i - 2])))
            continue; /* rulers and numbers are frequent */
        *ret = (enum bucket)(found - ends);
        return i - 2;
    }
    *ret = SIGN;
    if (strchr(":1", prefix[0]))
        return 0;
    *ret = CAPITAL;
    if (size == 2)
        return 0;
    for (i = 2; i < end; i++)
        if (is_capital(prefix[i]) && is_capital(prefix[i - 2]))
            return i - 2;
    *ret = OTHER;
    return !fold ? 0 : size > 8 ? 5 : 1; /* "riz" is rarer than "aut" */
}

/* May a byte stand at a place of a row's window? Behind a short prefix there are many. */
static bool may_stand(const struct hr_redact_tables *tables, const struct hr_redact_row *row,
                      size_t at, unsigned char byte)
{
    if (at < strlen(row->prefix)) {
        unsigned char known = (unsigned char)row->prefix[at];

        return byte == known || ((row->flags & HR_ROW_FOLD) && byte == hr_redact_upper(known));
    }
    if (row->class)
        return tables->classes[byte] & row->class;
    return (at == 1 ? tables->second : tables->third)[byte] & HR_TRIGGER_SIGN;
}

static void make_window(struct hr_redact_tables *tables, const struct hr_redact_row *row)
{
    enum bucket bucket;
    size_t at = choose_window(row->prefix, row->flags & HR_ROW_FOLD, &bucket);

    for (size_t i = 0; i < 3; i++)
        for (unsigned char byte = 0; byte < 128; byte++)
            if (may_stand(tables, row, at + i, byte)) {
                tables->low[i][byte & 15] |= (unsigned char)(1u << bucket);
                tables->high[i][byte >> 4] |= (unsigned char)(1u << bucket);
            }
    hr_redact_add_three(tables, tables->windows, row, at);
}

#if HAVE_WIDE
/*
 * The C library knows. To ask the processor itself takes 0.07 ms at the start of every program that
 * contains the question, in a virtual machine.
 */
static bool has_avx2(void)
{
#ifdef CPU_FEATURE_ACTIVE
    return CPU_FEATURE_ACTIVE(AVX2);
#else
    return __builtin_cpu_supports("avx2") != 0;
#endif
}
#endif

void hr_redact_make_windows(struct hr_redact_tables *tables)
{
    for (size_t i = 0; i < hr_redact_row_count; i++)
        make_window(tables, &hr_redact_rows[i]);
#if HAVE_WIDE
    tables->wide = has_avx2();
#endif
}

void hr_redact_set_wide(bool wide)
{
    not_wide = !wide;
}

/* ---- by its bytes ----------------------------------------------------------------------- */

enum { EVERYTHING = 0xffff, ROWS = EVERYTHING & ~(HR_TRIGGER_LINE | HR_TRIGGER_ASSIGN) };

static unsigned trigger(const struct hr_redact_tables *tables, const unsigned char *data)
{
    return (unsigned)(tables->first[data[0]] & tables->second[data[1]] & tables->third[data[2]]);
}

/* A place in [at, end) with one of the bits that are wanted, or end; end + 2 bytes are there. */
static size_t find_place(const struct hr_redact_tables *tables, const unsigned char *data,
                         size_t at, size_t end, unsigned wanted)
{
    for (; at < end; at++) {
        unsigned bits = trigger(tables, data + at) & wanted;

        if (bits && ((bits & HR_TRIGGER_SURE) || hr_redact_has(tables->threes, data + at)))
            break;
    }
    return at;
}

/* The same with the end of the text: what may become a prefix is one. */
static size_t find_to_end(const struct hr_redact_tables *tables, const unsigned char *data,
                          size_t at, size_t size)
{
    const unsigned wanted = ROWS | HR_TRIGGER_LINE;

    if (at + 2 < size) {
        at = find_place(tables, data, at, size - 2, wanted);
        if (at < size - 2)
            return at;
    }
    for (; at < size; at++)
        if (tables->first[data[at]] & wanted &
            (at + 1 < size ? tables->second[data[at + 1]] : (unsigned)EVERYTHING))
            break;
    return at;
}

/* ---- lines ------------------------------------------------------------------------------ */

static bool is_name(const struct hr_redact_tables *tables, unsigned char byte)
{
    return tables->classes[byte] & HR_CLASS_NAME;
}

/*
 * The start, behind from, of the line that data[at] stands in, if all that stands between may be
 * the name of an assignment. 0: it is not so.
 */
static size_t line_of_name(const struct hr_redact_tables *tables, const unsigned char *data,
                           size_t from, size_t at)
{
    size_t limit = at - from > LOOK_BACK ? at - LOOK_BACK : from;

    while (at > limit && is_name(tables, data[at - 1]))
        at--;
    if (at - limit > 7 && memcmp(data + at - 7, "export ", 7) == 0)
        at -= 7;
    else if (at - limit > 11 && memcmp(data + at - 11, "declare -x ", 11) == 0)
        at -= 11;
    return at > limit && data[at - 1] == '\n' ? at : 0;
}

/* Does a name that its line begins with end here, before a '='? */
static bool ends_line_name(const struct hr_redact_tables *tables, const unsigned char *data,
                           size_t from, size_t at)
{
    return (trigger(tables, data + at) & HR_TRIGGER_ASSIGN) &&
           line_of_name(tables, data, from, at + 1);
}

/* ---- many at once ----------------------------------------------------------------------- */

#if HAVE_WIDE
#define WIDE __attribute__((target("avx2")))

WIDE static inline __m256i twice(const unsigned char *table)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table));
}

/* Of each byte the buckets that have it; a byte above 127 has none. */
WIDE static inline __m256i buckets(__m256i low, __m256i high, __m256i bytes)
{
    __m256i halves = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));

    return _mm256_and_si256(_mm256_shuffle_epi8(low, bytes), _mm256_shuffle_epi8(high, halves));
}

/* See find_mark(); end + 33 bytes can be read. */
WIDE static size_t find_wide(const struct hr_redact_tables *tables, const unsigned char *data,
                             size_t from, size_t at, size_t end)
{
    const __m256i low[3] = {twice(tables->low[0]), twice(tables->low[1]), twice(tables->low[2])};
    const __m256i high[3] = {twice(tables->high[0]), twice(tables->high[1]),
                             twice(tables->high[2])};
    const __m256i equals = _mm256_set1_epi8('='), zero = _mm256_setzero_si256();

    for (; at < end; at += 32) {
        __m256i next = _mm256_loadu_si256((const void *)(data + at + 1));
        __m256i found = buckets(low[0], high[0], _mm256_loadu_si256((const void *)(data + at)));
        uint32_t marks;

        found = _mm256_and_si256(found, buckets(low[1], high[1], next));
        found = _mm256_and_si256(
            found, buckets(low[2], high[2], _mm256_loadu_si256((const void *)(data + at + 2))));
        found = _mm256_or_si256(found, _mm256_cmpeq_epi8(next, equals));
        marks = ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(found, zero));
        for (; marks; marks &= marks - 1) {
            size_t place = at + (size_t)__builtin_ctz(marks);

            if (hr_redact_has(tables->windows, data + place) ||
                (trigger(tables, data + place) & HR_TRIGGER_SIGN) ||
                ends_line_name(tables, data, from, place))
                return place < end ? place : end;
        }
    }
    return end;
}
#endif

/* ---- both ------------------------------------------------------------------------------- */

/* The start of that line, behind from, if it is near; else 0. */
static size_t line_of(const unsigned char *data, size_t from, size_t at)
{
    size_t limit = at - from > LOOK_BACK ? at - LOOK_BACK : from;
    const unsigned char *newline = memrchr(data + limit, '\n', at - limit);

    return newline ? (size_t)(newline - data) + 1 : 0;
}

/*
 * The next mark in [at, end), or end: what tells of a prefix, which begins there or at most
 * OFFSET_MAX bytes earlier; or the end of a name before a '=', which its line, behind from, begins
 * with.
 */
static size_t find_mark(const struct hr_redact_tables *tables, const unsigned char *data,
                        size_t from, size_t at, size_t end)
{
#if HAVE_WIDE
    if (tables->wide && !not_wide)
        return find_wide(tables, data, from, at, end);
#endif
    while ((at = find_place(tables, data, at, end, ROWS | HR_TRIGGER_ASSIGN)) < end &&
           !(trigger(tables, data + at) & ROWS) && !ends_line_name(tables, data, from, at))
        at++;
    return at;
}

size_t hr_redact_next(const struct hr_redact_tables *tables, struct hr_redact_place *place,
                      const unsigned char *data, size_t at, size_t size)
{
    size_t end = size > MARGIN ? size - MARGIN : 0, from = at, clear = at, line, mark, found;

    if (place->in_block || at >= end)
        return find_to_end(tables, data, at, size);
    for (;; at = clear = mark + 1) {
        mark = at < end ? find_mark(tables, data, from, at, end) : end;
        found = mark - clear > OFFSET_MAX ? mark - OFFSET_MAX : clear;
        if (mark == end) {
            line = line_of(data, from, found);
            found = line ? line : find_to_end(tables, data, found, size);
            break;
        }
        found = find_place(tables, data, found, mark + 1, ROWS);
        line = line_of_name(tables, data, from, found);
        if (line || found <= mark)
            break;
    }
    place->line_start = line != 0;
    return line ? line : found;
}
