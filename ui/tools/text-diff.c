/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The shortest edit by Myers's greedy method, with the furthest points of every round kept for the
 * way back. Texts that differ too much for that become one block.
 */
#include "config.h"

#include "text-diff.h"

#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

enum { AROUND = 3, ROUNDS_MAX = 1000 };

void text_split(struct text_lines *lines, const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t length = newline ? (size_t)(newline - text) - at : size - at;
        unsigned char end = newline ? 1 : 0;
        if (newline && length && text[at + length - 1] == '\r') {
            length--;
            end = 2;
        }
        lines->list = xgrow(lines->list, lines->count, &lines->capacity, sizeof *lines->list);
        lines->list[lines->count++] = (struct text_line){text + at, length, end};
        at += length + end;
    }
}

void text_lines_free(struct text_lines *lines)
{
    free(lines->list);
    *lines = (struct text_lines){NULL, 0, 0};
}

bool text_line_same(const struct text_line *a, const struct text_line *b)
{
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

/* For the diff a line end is part of the line. */
static bool is_equal(const struct text_line *a, const struct text_line *b)
{
    return a->end == b->end && text_line_same(a, b);
}

/*
 * ---- which lines stay -------------------------------------------------------------------------
 */

/* keep[i] of the old lines: the number of its new line, or -1. */
struct compare {
    const struct text_line *a, *b;
    long a_count, b_count;
    long *keep;
};

/* Follow the diagonal from x on. */
static long slide(const struct compare *compare, long x, long k)
{
    while (x < compare->a_count && x - k < compare->b_count &&
           is_equal(&compare->a[x], &compare->b[x - k]))
        x++;
    return x;
}

static bool goes_down(const long *v, long k, long d)
{
    return k == -d || (k != d && v[k - 1] < v[k + 1]);
}

/* From the end back through the rounds; each round's points were saved before it. */
static void trace_back(const struct compare *compare, long **saved, long d)
{
    long x = compare->a_count, y = compare->b_count;
    for (; d > 0; d--) {
        const long *v = saved[d] + d;
        long k = x - y, before = goes_down(v, k, d) ? k + 1 : k - 1;
        long start_x = v[before], start_y = start_x - before;
        long from_x = before > k ? start_x : start_x + 1;
        while (x > from_x) {
            x--;
            y--;
            compare->keep[x] = y;
        }
        x = start_x;
        y = start_y;
    }
    while (x > 0) {
        x--;
        compare->keep[x] = x;
    }
}

static void find_kept(const struct compare *compare)
{
    long most = compare->a_count + compare->b_count;
    most = most < ROUNDS_MAX ? most : ROUNDS_MAX;
    long **saved = xcalloc((size_t)most + 2, sizeof *saved),
         *room = xcalloc(2 * (size_t)most + 3, sizeof *room);
    long *v = room + most + 1, last = -1;
    for (long d = 0; d <= most && last < 0; d++) {
        /* Round d reads diagonals -d .. d of the round before. */
        saved[d] = xmalloc((2 * (size_t)d + 1) * sizeof **saved);
        memcpy(saved[d], v - d, (2 * (size_t)d + 1) * sizeof *v);
        for (long k = -d; k <= d && last < 0; k += 2) {
            v[k] = slide(compare, d == 0 ? 0 : goes_down(v, k, d) ? v[k + 1] : v[k - 1] + 1, k);
            if (v[k] >= compare->a_count && v[k] - k >= compare->b_count)
                last = d;
        }
    }
    if (last >= 0)
        trace_back(compare, saved, last);
    for (long d = 0; d <= most && saved[d]; d++)
        free(saved[d]);
    free(saved);
    free(room);
}

static long *kept_lines(const struct text_lines *a, const struct text_lines *b)
{
    long *keep = xmalloc((a->count + 1) * sizeof *keep);
    size_t head = 0, tail = 0, least = a->count < b->count ? a->count : b->count;
    while (head < least && is_equal(&a->list[head], &b->list[head]))
        head++;
    while (tail < least - head &&
           is_equal(&a->list[a->count - 1 - tail], &b->list[b->count - 1 - tail]))
        tail++;
    for (size_t i = 0; i < a->count; i++)
        keep[i] = i < head               ? (long)i
                  : i >= a->count - tail ? (long)(b->count - (a->count - i))
                                         : -1;
    size_t a_count = a->count - head - tail, b_count = b->count - head - tail;
    if (a_count && b_count) {
        const struct compare compare = {a->list + head, b->list + head, (long)a_count,
                                        (long)b_count, keep + head};
        find_kept(&compare);
        for (size_t i = head; i < head + a_count; i++)
            keep[i] += keep[i] >= 0 ? (long)head : 0;
    }
    return keep;
}

/*
 * ---- the text ---------------------------------------------------------------------------------
 */

/* One place in both texts. */
struct place {
    size_t a, b;
};

static void add_line(struct strbuf *diff, char sign, const struct text_line *line)
{
    strbuf_addc(diff, sign);
    /* One of a list. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
    strbuf_add(diff, line->text, line->size);
    strbuf_adds(diff, line->end == 2 ? "\r\n" : "\n");
    if (!line->end)
        strbuf_adds(diff, "\\ No newline at end of file\n");
}

static bool is_change(const long *keep, const struct text_lines *a, const struct text_lines *b,
                      struct place at)
{
    if (at.a < a->count)
        return keep[at.a] != (long)at.b;
    return at.b < b->count;
}

/* Over one block of changes. */
static struct place skip_change(const long *keep, const struct text_lines *a,
                                const struct text_lines *b, struct place at)
{
    while (at.a < a->count && keep[at.a] < 0)
        at.a++;
    at.b = at.a < a->count ? (size_t)keep[at.a] : b->count;
    return at;
}

/* Past all changes that are near enough to share a hunk with the one at start. */
static struct place end_of_hunk(const long *keep, const struct text_lines *a,
                                const struct text_lines *b, struct place start)
{
    struct place end = skip_change(keep, a, b, start), at = end;
    for (size_t same = 0; at.a < a->count && same <= 2 * AROUND;) {
        if (is_change(keep, a, b, at)) {
            end = at = skip_change(keep, a, b, at);
            same = 0;
        } else {
            at.a++;
            at.b++;
            same++;
        }
    }
    if (at.a >= a->count && at.b < b->count)
        end = (struct place){a->count, b->count};
    return end;
}

/* Lines before the first one are called line 0. */
static void add_range(struct strbuf *diff, char sign, size_t start, size_t count)
{
    strbuf_addf(diff, "%c%zu", sign, count ? start + 1 : start);
    if (count != 1)
        strbuf_addf(diff, ",%zu", count);
}

static struct place add_hunk(struct strbuf *diff, const long *keep, const struct text_lines *a,
                             const struct text_lines *b, struct place start)
{
    struct place end = end_of_hunk(keep, a, b, start);
    size_t before = start.a < AROUND ? start.a : AROUND,
           after = a->count - end.a < AROUND ? a->count - end.a : AROUND;
    struct place at = {start.a - before, start.b - before};
    strbuf_adds(diff, "@@ ");
    add_range(diff, '-', at.a, end.a + after - at.a);
    strbuf_adds(diff, " ");
    add_range(diff, '+', at.b, end.b + after - at.b);
    strbuf_adds(diff, " @@\n");
    while (at.a < end.a + after || at.b < end.b + after) {
        if (!is_change(keep, a, b, at)) {
            add_line(diff, ' ', &a->list[at.a]);
            at.a++;
            at.b++;
            continue;
        }
        struct place next = skip_change(keep, a, b, at);
        for (; at.a < next.a; at.a++)
            add_line(diff, '-', &a->list[at.a]);
        for (; at.b < next.b; at.b++)
            add_line(diff, '+', &b->list[at.b]);
    }
    return at;
}

void text_diff(struct strbuf *diff, const char *old_name, const char *old_text, size_t old_size,
               const char *new_name, const char *new_text, size_t new_size)
{
    struct text_lines a = {NULL, 0, 0}, b = {NULL, 0, 0};
    text_split(&a, old_text, old_size);
    text_split(&b, new_text, new_size);
    long *keep = kept_lines(&a, &b);
    bool named = false;
    for (struct place at = {0, 0}; at.a < a.count || at.b < b.count;) {
        if (!is_change(keep, &a, &b, at)) {
            at.a++;
            at.b++;
            continue;
        }
        if (!named) {
            strbuf_addf(diff, "--- %s%s\n", old_name ? "a/" : "",
                        old_name ? old_name : "/dev/null");
            strbuf_addf(diff, "+++ %s%s\n", new_name ? "b/" : "",
                        new_name ? new_name : "/dev/null");
            named = true;
        }
        at = add_hunk(diff, keep, &a, &b, at);
    }
    free(keep);
    text_lines_free(&a);
    text_lines_free(&b);
}
