/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "patch-apply.h"

#include <stdlib.h>
#include <string.h>

#include "text-diff.h"
#include "xalloc.h"

enum { FUZZ_MAX = 2, SHOWN = 80 };

struct apply {
    const char *name;
    struct text_lines old; /* the file */
    struct text_lines out;
    unsigned char end; /* line end of new lines */
    size_t cursor;     /* old lines before it are done */
    long shift;        /* how far off the last hunk with a line number was */
    struct strbuf *notes, *error;
};

/* The lines of a hunk that must be in the file. */
struct block {
    struct text_line *list;
    size_t count;
    size_t before, after; /* lines of context at its ends */
};

/* How a hunk fits. */
struct fit {
    size_t at;          /* line of the first line that is looked for */
    size_t front, back; /* lines of context left out */
    bool loose;         /* but for blanks at the end of lines */
};

/*
 * ---- comparing --------------------------------------------------------------------------------
 */

static size_t trimmed(const struct text_line *line)
{
    size_t size = line->size;
    while (size && strchr(" \t\r", line->text[size - 1]))
        size--;
    return size;
}

static bool is_same(const struct text_line *a, const struct text_line *b, bool loose)
{
    if (!loose)
        return text_line_same(a, b);
    return trimmed(a) == trimmed(b) && memcmp(a->text, b->text, trimmed(a)) == 0;
}

static bool fits(const struct apply *apply, const struct block *block, const struct fit *fit)
{
    size_t count = block->count - fit->front - fit->back;
    if (fit->at < apply->cursor || fit->at > apply->old.count || apply->old.count - fit->at < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!is_same(&apply->old.list[fit->at + i], &block->list[fit->front + i], fit->loose))
            return false;
    }
    return true;
}

static struct block make_block(const struct patch_hunk *hunk)
{
    struct block block = {xcalloc(hunk->count, sizeof *block.list), 0, 0, 0};
    bool changed = false;
    for (size_t i = 0; i < hunk->count; i++) {
        const struct patch_line *line = &hunk->lines[i];
        changed = changed || line->sign != ' ';
        block.before += !changed;
        block.after = line->sign == ' ' ? block.after + 1 : 0;
        if (line->sign != '+')
            block.list[block.count++] = (struct text_line){line->text, line->size, 1};
    }
    return block;
}

/*
 * ---- where it stands --------------------------------------------------------------------------
 */

/* The nearest place to line wanted. */
static bool find_near(const struct apply *apply, const struct block *block, size_t wanted,
                      struct fit *fit)
{
    for (size_t distance = 0; distance <= apply->old.count; distance++) {
        fit->at = wanted + distance;
        if (fits(apply, block, fit))
            return true;
        fit->at = wanted - distance;
        if (distance <= wanted && fits(apply, block, fit))
            return true;
    }
    return false;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* By the line number: fuzz only helps while something is left to look for. */
static bool find_numbered(const struct apply *apply, const struct patch_hunk *hunk,
                          const struct block *block, struct fit *fit)
{
    long start = (long)hunk->old_start - 1 + apply->shift;
    size_t wanted = least(start > 0 ? (size_t)start : 0, apply->old.count);
    if (!block->count) {
        *fit = (struct fit){.at = wanted < apply->cursor ? apply->cursor : wanted};
        return true;
    }
    for (size_t fuzz = 0; fuzz <= FUZZ_MAX; fuzz++) {
        *fit = (struct fit){.front = least(fuzz, block->before), .back = least(fuzz, block->after)};
        if (fuzz &&
            (fit->front + fit->back >= block->count || (fit->front < fuzz && fit->back < fuzz)))
            break;
        if (find_near(apply, block, wanted + fit->front, fit))
            return true;
    }
    *fit = (struct fit){.loose = true};
    return find_near(apply, block, wanted, fit);
}

static bool find_anchor(const struct apply *apply, const char *anchor, size_t *line)
{
    const char *text = anchor + strspn(anchor, " \t");
    size_t size = strlen(text);
    for (int whole = 1; whole >= 0; whole--) {
        for (size_t i = *line; i < apply->old.count; i++) {
            const struct text_line *here = &apply->old.list[i];
            size_t skip = 0, length = trimmed(here);
            while (skip < length && strchr(" \t", here->text[skip]))
                skip++;
            if (whole ? length - skip == size && memcmp(here->text + skip, text, size) == 0
                      : size && memmem(here->text, here->size, text, size) != NULL) {
                *line = i;
                return true;
            }
        }
    }
    strbuf_setf(apply->error, "%s: no line is \"%.*s\", which the patch has behind @@", apply->name,
                SHOWN, anchor);
    return false;
}

/*
 * Without a line number it has to be the only place, unless an anchor or the end of the file tells
 * which.
 */
static int find_all(const struct apply *apply, const struct block *block, size_t from,
                    struct fit *fit, struct strbuf *lines)
{
    int count = 0;
    struct fit look = *fit;
    for (look.at = from; look.at + block->count <= apply->old.count; look.at++) {
        if (!fits(apply, block, &look))
            continue;
        if (count++ == 0)
            fit->at = look.at;
        if (count <= 10)
            strbuf_addf(lines, "%s%zu", count > 1 ? ", " : "", look.at + 1);
    }
    return count;
}

/* -1: error is set. */
static int find_unnumbered(const struct apply *apply, const struct patch_hunk *hunk,
                           const struct block *block, struct fit *fit)
{
    size_t from = apply->cursor;
    for (size_t i = 0; i < hunk->anchor_count; i++) {
        if (!find_anchor(apply, hunk->anchors[i], &from))
            return -1;
    }
    if (!block->count) {
        *fit = (struct fit){.at = hunk->anchor_count ? from + 1 : apply->old.count};
        return 1;
    }
    for (int loose = 0; loose <= 1; loose++) {
        struct strbuf lines = STRBUF_INIT;
        *fit = (struct fit){.at = apply->old.count - block->count, .loose = loose};
        if (hunk->at_end && block->count <= apply->old.count && fits(apply, block, fit))
            return 1;
        int count = find_all(apply, block, from, fit, &lines);
        if (count > 1 && !hunk->anchor_count)
            strbuf_setf(
                apply->error,
                "%s: the hunk at line %zu of the patch fits %d places (lines %s): give it more "
                "context or an @@ line",
                apply->name, hunk->patch_line, count, strbuf_text(&lines));
        strbuf_free(&lines);
        if (count)
            return apply->error->size ? -1 : 1;
    }
    return 0;
}

/*
 * ---- what is wrong ----------------------------------------------------------------------------
 */

static int shown(const struct text_line *line)
{
    return (int)least(line->size, SHOWN);
}

/* Tell where most of it fits, and which line does not. */
static void explain(const struct apply *apply, const struct patch_hunk *hunk,
                    const struct block *block)
{
    size_t best = 0, best_at = 0;
    for (size_t at = apply->cursor; at < apply->old.count; at++) {
        size_t same = 0;
        while (same < block->count && at + same < apply->old.count &&
               is_same(&apply->old.list[at + same], &block->list[same], true))
            same++;
        if (same > best) {
            best = same;
            best_at = at;
        }
    }
    strbuf_setf(apply->error, "%s: the hunk at line %zu of the patch does not fit: ", apply->name,
                hunk->patch_line);
    const struct text_line *wanted = &block->list[best];
    if (!best) {
        strbuf_addf(apply->error, "no line%s is \"%.*s\"",
                    apply->cursor ? " below the hunk before it" : "", shown(wanted), wanted->text);
    } else if (best_at + best >= apply->old.count) {
        strbuf_addf(apply->error, "it begins at line %zu, but the file ends before \"%.*s\"",
                    best_at + 1, shown(wanted), wanted->text);
    } else {
        const struct text_line *there = &apply->old.list[best_at + best];
        strbuf_addf(apply->error, "it begins at line %zu, but line %zu is \"%.*s\", not \"%.*s\"",
                    best_at + 1, best_at + best + 1, shown(there), there->text, shown(wanted),
                    wanted->text);
    }
}

static void remark(struct apply *apply, const struct patch_hunk *hunk, const struct fit *fit)
{
    long off = hunk->old_start ? (long)(fit->at - fit->front) - ((long)hunk->old_start - 1) : 0;
    if (!off && !fit->front && !fit->back && !fit->loose)
        return;
    strbuf_addf(apply->notes, "%s: the hunk at line %zu of the patch was put", apply->name,
                hunk->patch_line);
    if (off)
        strbuf_addf(apply->notes, " %ld line%s %s", labs(off), labs(off) == 1 ? "" : "s",
                    off > 0 ? "further down" : "further up");
    if (fit->front || fit->back)
        strbuf_addf(apply->notes, "%s without all of its context (fuzz %zu)", off ? "," : "",
                    fit->front > fit->back ? fit->front : fit->back);
    if (fit->loose)
        strbuf_addf(apply->notes, "%s regardless of blanks at line ends", off ? "," : "");
    strbuf_adds(apply->notes, "\n");
}

/*
 * ---- putting it in ----------------------------------------------------------------------------
 */

static void put(struct apply *apply, struct text_line line)
{
    apply->out.list =
        xgrow(apply->out.list, apply->out.count, &apply->out.capacity, sizeof *apply->out.list);
    apply->out.list[apply->out.count++] = line;
}

static void put_hunk(struct apply *apply, const struct patch_hunk *hunk, const struct fit *fit)
{
    while (apply->cursor < fit->at)
        put(apply, apply->old.list[apply->cursor++]);
    for (size_t i = fit->front; i < hunk->count - fit->back; i++) {
        const struct patch_line *line = &hunk->lines[i];
        if (line->sign == '+')
            put(apply,
                (struct text_line){line->text, line->size, line->no_newline ? 0 : apply->end});
        else if (line->sign == ' ')
            put(apply, apply->old.list[apply->cursor++]);
        else
            apply->cursor++;
    }
}

static bool apply_hunk(struct apply *apply, const struct patch_hunk *hunk)
{
    struct block block = make_block(hunk);
    struct fit fit;
    int found = hunk->old_start ? find_numbered(apply, hunk, &block, &fit)
                                : find_unnumbered(apply, hunk, &block, &fit);
    if (found > 0) {
        if (hunk->old_start)
            apply->shift = (long)(fit.at - fit.front) - ((long)hunk->old_start - 1);
        remark(apply, hunk, &fit);
        put_hunk(apply, hunk, &fit);
    } else if (found == 0) {
        explain(apply, hunk, &block);
    }
    free(block.list);
    return found > 0;
}

bool patch_apply(const struct patch_file *file, const char *name, const char *text, size_t size,
                 struct strbuf *result, struct strbuf *notes, struct strbuf *error)
{
    struct apply apply = {.name = name, .notes = notes, .error = error};
    bool good = true;
    text_split(&apply.old, text, size);
    apply.end = apply.old.count && apply.old.list[0].end == 2 ? 2 : 1;
    for (size_t i = 0; i < file->count && good; i++)
        good = apply_hunk(&apply, &file->hunks[i]);
    while (good && apply.cursor < apply.old.count)
        put(&apply, apply.old.list[apply.cursor++]);
    for (size_t i = 0; good && i < apply.out.count; i++) {
        const struct text_line *line = &apply.out.list[i];
        unsigned char end = line->end || i + 1 == apply.out.count ? line->end : apply.end;
        strbuf_add(result, line->text, line->size);
        strbuf_adds(result, end == 2 ? "\r\n" : end ? "\n" : "");
    }
    text_lines_free(&apply.old);
    text_lines_free(&apply.out);
    return good;
}
