/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "redact.h"

#include <string.h>

#include "redact-rules.h"
#include "text.h"

#define HELD_PIECE ((size_t)4096) /* bytes that join the held ones at a time */
#define RETRY_ALWAYS ((size_t)256)
#define SHORT_SECRET 18
#define KEPT_HEAD 6
#define KEPT_TAIL 4
#define ASIDES_MAX ((size_t)64 << 10) /* bytes of them that wait */

/* A stretch of text that is judged, and where its redacted form goes. */
struct work {
    const struct hr_redact_tables *tables;
    struct hr_redactor *redactor;
    const unsigned char *data;
    size_t size;
    bool final;         /* nothing follows */
    size_t open;        /* where a secret begins that reaches to the end; SIZE_MAX: none */
    struct hr_buf *out; /* NULL: the scan ends before the first secret */
    bool ok;
    size_t asides, aside_bytes; /* so many of them are in out */
};

void hr_redactor_init(struct hr_redactor *redactor)
{
    memset(redactor, 0, sizeof *redactor);
    hr_buf_init(&redactor->held, 0);
    hr_buf_init(&redactor->asides, 0);
    hr_buf_init(&redactor->aside_bytes, 0);
    redactor->shown_secret = SIZE_MAX;
    redactor->place = (struct hr_redact_place){.before = {'\n', '\n'}, .line_start = true};
}

void hr_redactor_done(struct hr_redactor *redactor)
{
    hr_buf_done(&redactor->held);
    hr_buf_done(&redactor->asides);
    hr_buf_done(&redactor->aside_bytes);
}

/* ---- output ----------------------------------------------------------------------------- */

static void put(struct work *work, const void *data, size_t size)
{
    work->ok &= hr_buf_add(work->out, data, size);
}

static void pass_text(struct work *work, size_t from, size_t to)
{
    if (from < work->redactor->shown)
        from = work->redactor->shown;
    if (from < to)
        put(work, work->data + from, to - from);
}

/*
 * Text, and what stands aside of it or of a secret just before it; secret: another one follows.
 * What stands before text that has to wait waits with it.
 */
static void pass(struct work *work, size_t from, size_t to, bool secret)
{
    const struct hr_redactor *redactor = work->redactor;
    size_t start = from, count = redactor->asides.size / sizeof(struct hr_redact_aside);

    for (; work->asides < count; work->asides++) {
        struct hr_redact_aside aside;

        memcpy(&aside, redactor->asides.data + work->asides * sizeof aside, sizeof aside);
        if (aside.at > to || (aside.at == to && to < work->size && !secret))
            break;
        if (aside.at > from) {
            pass_text(work, from, aside.at);
            from = aside.at;
        }
        if (!aside.stray || (aside.at >= start && (aside.at < to || !secret)))
            put(work, redactor->aside_bytes.data + work->aside_bytes, aside.size);
        work->aside_bytes += aside.size;
    }
    pass_text(work, from, to);
}

static void mask(struct work *work, const struct hr_secret *secret)
{
    struct hr_redactor *redactor = work->redactor;
    const char *text = (const char *)work->data + secret->from;
    size_t size = secret->to - secret->from, head, tail;

    if (secret->to == work->size)
        work->open = secret->from;
    if (secret->to <= redactor->shown ||
        (redactor->shown && secret->from == redactor->shown_secret))
        return; /* a flush has masked it */
    redactor->count++;
    if (secret->form == HR_FORM_PRIVATE_KEY) {
        put(work, "[REDACTED PRIVATE KEY]", 22);
    } else if (secret->form == HR_FORM_WHOLE || size < SHORT_SECRET ||
               secret->from < redactor->shown) {
        put(work, "***", 3);
    } else {
        head = hr_utf8_cut_before(text, KEPT_HEAD);
        tail = hr_utf8_cut_after(text, size, size - KEPT_TAIL);
        put(work, text, head);
        put(work, "...", 3);
        put(work, text + tail, size - tail);
    }
}

/* ---- the scan --------------------------------------------------------------------------- */

static struct hr_redact_look look_at(const struct work *work, size_t at)
{
    bool full = work->size - at >= HR_REDACT_WINDOW;

    return (struct hr_redact_look){work->tables,
                                   work->data,
                                   at,
                                   full ? at + HR_REDACT_WINDOW : work->size,
                                   full || work->final,
                                   &work->redactor->place};
}

/* What follows a secret that was longer than the window. Returns where it ends. */
static size_t skip_rest(struct work *work, size_t at)
{
    struct hr_redact_place *place = &work->redactor->place;

    at = hr_redact_run(work->tables, place->rest, work->data, at, work->size);
    if (at < work->size)
        place->rest = 0;
    return at;
}

/*
 * Judge one place: the start of a line, or what hr_redact_next() found. *at moves on if it is no
 * secret.
 */
static enum hr_verdict judge(struct work *work, size_t *at, struct hr_secret *secret)
{
    struct hr_redact_place *place = &work->redactor->place;
    enum hr_verdict verdict = HR_VERDICT_NO;
    struct hr_redact_look look;

    if (place->line_start) {
        look = look_at(work, *at);
        verdict = hr_redact_match_line(&look, secret);
        place->line_start = verdict == HR_VERDICT_MORE;
        if (verdict != HR_VERDICT_NO)
            return verdict;
    }
    *at = hr_redact_next(work->tables, place, work->data, *at, work->size);
    if (*at == work->size || place->line_start)
        return HR_VERDICT_NO;
    if (work->data[*at] == '\n') {
        place->line_start = true;
    } else {
        look = look_at(work, *at);
        verdict = hr_redact_match(&look, secret);
    }
    *at += verdict == HR_VERDICT_NO;
    return verdict;
}

/* Returns how far the text is judged; the rest has to wait. */
static size_t scan(struct work *work)
{
    struct hr_redact_place *place = &work->redactor->place;
    size_t at = 0, passed = 0;

    while (at < work->size) {
        struct hr_secret secret = {0};
        enum hr_verdict verdict;
        size_t start = at;
        bool line_start = place->line_start;

        if (place->rest) {
            passed = at = skip_rest(work, at);
            continue;
        }
        verdict = judge(work, &at, &secret);
        if (verdict == HR_VERDICT_MORE)
            break;
        if (verdict == HR_VERDICT_NO)
            continue;
        if (!work->out) {
            place->line_start = line_start && at == start; /* to be judged again */
            return at;
        }
        pass(work, passed, secret.from, true);
        mask(work, &secret);
        passed = at = secret.to;
        place->rest = secret.rest;
    }
    if (work->out)
        pass(work, passed, at, false);
    return at;
}

static size_t less(size_t offset, size_t n)
{
    return offset > n ? offset - n : 0;
}

/* n bytes are done with: offsets count from behind them. */
static void advance(struct work *work, size_t n)
{
    struct hr_redactor *redactor = work->redactor;
    struct hr_redact_place *place = &redactor->place;

    if (n == 0)
        return;
    place->before[0] = n > 1 ? work->data[n - 2] : place->before[1];
    place->before[1] = work->data[n - 1];
    place->url_end = less(place->url_end, n);
    place->pem_clear = less(place->pem_clear, n);
    redactor->shown = less(redactor->shown, n);
    if (redactor->shown_secret != SIZE_MAX)
        redactor->shown_secret =
            redactor->shown_secret >= n ? redactor->shown_secret - n : SIZE_MAX;
}

/* Those in out are done with, and so are n bytes of the held text. */
static void advance_asides(struct work *work, size_t n)
{
    struct hr_buf *asides = &work->redactor->asides;
    struct hr_redact_aside aside;

    hr_buf_consume(asides, work->asides * sizeof aside);
    hr_buf_consume(&work->redactor->aside_bytes, work->aside_bytes);
    for (size_t i = 0; n > 0 && i < asides->size; i += sizeof aside) {
        memcpy(&aside, asides->data + i, sizeof aside);
        aside.at = less(aside.at, n);
        memcpy(asides->data + i, &aside, sizeof aside);
    }
}

static struct work start(struct hr_redactor *redactor, const void *data, size_t size, bool final,
                         struct hr_buf *out)
{
    return (struct work){hr_redact_tables(), redactor, data, size, final,
                         SIZE_MAX,           out,      true, 0,    0};
}

/* Judging what is held again and again, byte by byte, would take quadratic time. */
static void set_retry(struct hr_redactor *redactor)
{
    size_t size = redactor->held.size;

    redactor->retry = size > RETRY_ALWAYS ? size + size / 4 : 0;
    if (redactor->retry > HR_REDACT_WINDOW)
        redactor->retry = HR_REDACT_WINDOW;
}

static bool judge_held(struct hr_redactor *redactor, bool final, struct hr_buf *out)
{
    struct work work = start(redactor, redactor->held.data, redactor->held.size, final, out);
    size_t n = scan(&work);

    advance(&work, n);
    advance_asides(&work, n);
    hr_buf_consume(&redactor->held, n);
    set_retry(redactor);
    return work.ok;
}

static bool hold(struct hr_redactor *redactor, const char *data, size_t size)
{
    if (hr_buf_add(&redactor->held, data, size))
        return true;
    redactor->held.failed = false;
    return false;
}

size_t hr_redactor_pass(struct hr_redactor *redactor, const char *data, size_t size)
{
    struct work work = start(redactor, data, size, false, NULL);
    size_t n = redactor->held.size || redactor->place.rest ? 0 : scan(&work);

    advance(&work, n);
    return n;
}

bool hr_redactor_feed(struct hr_redactor *redactor, const char *data, size_t size,
                      struct hr_buf *out)
{
    bool ok = true;

    while (size > 0 && redactor->held.size > 0) {
        size_t piece = size < HELD_PIECE ? size : HELD_PIECE;

        ok &= hold(redactor, data, piece);
        if (redactor->held.size >= redactor->retry)
            ok &= judge_held(redactor, false, out);
        data += piece;
        size -= piece;
    }
    if (size > 0) {
        struct work work = start(redactor, data, size, false, out);
        size_t n = scan(&work);

        advance(&work, n);
        ok &= work.ok;
        if (n < size && !hold(redactor, data + n, size - n)) {
            redactor->place.rest = HR_CLASS_LINE; /* a secret may go on there */
            ok = false;
        }
        set_retry(redactor);
    }
    return ok;
}

bool hr_redactor_aside(struct hr_redactor *redactor, const char *data, size_t size, bool stray,
                       struct hr_buf *out)
{
    struct hr_redact_aside aside = {redactor->held.size, size, stray};
    bool ok = true;

    if (redactor->aside_bytes.size + size > ASIDES_MAX)
        ok = hr_redactor_flush(redactor, out);
    if (redactor->held.size == redactor->shown)
        return hr_buf_add(out, data, size) && ok;
    if (!hr_buf_reserve(&redactor->asides, sizeof aside) ||
        !hr_buf_add(&redactor->aside_bytes, data, size)) {
        redactor->asides.failed = redactor->aside_bytes.failed = false;
        return false;
    }
    return hr_buf_add(&redactor->asides, &aside, sizeof aside) && ok;
}

bool hr_redactor_flush(struct hr_redactor *redactor, struct hr_buf *out)
{
    struct hr_redact_place place = redactor->place;
    struct work work = start(redactor, redactor->held.data, redactor->held.size, true, out);

    if (redactor->held.size == redactor->shown)
        return true;
    scan(&work);
    advance_asides(&work, 0);
    redactor->place = place;
    redactor->shown = redactor->held.size;
    redactor->shown_secret = work.open;
    redactor->retry = 0;
    return work.ok;
}

bool hr_redactor_finish(struct hr_redactor *redactor, struct hr_buf *out)
{
    bool ok = redactor->held.size == 0 || judge_held(redactor, true, out);
    uint64_t count = redactor->count;

    hr_redactor_done(redactor);
    hr_redactor_init(redactor);
    redactor->count = count;
    return ok;
}

bool hr_redact_text(const char *data, size_t size, struct hr_buf *out, uint64_t *count)
{
    struct hr_redactor redactor;
    bool ok;

    hr_redactor_init(&redactor);
    ok = hr_redactor_feed(&redactor, data, size, out);
    ok &= hr_redactor_finish(&redactor, out);
    *count += redactor.count;
    hr_redactor_done(&redactor);
    return ok;
}
