/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "collector.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "redact.h"
#include "spill.h"

#define PIECE ((size_t)16 << 10)  /* raw bytes that are cleaned at a time */
#define LINE_PIECE ((size_t)4096) /* of a line, at most, where it has to be copied */
#define LIMIT_MIN 16
#define NOTICE_SIZE 160

/*
 * data grows up to limit. When it is full, [0, head) stays and [head, limit) becomes a ring whose
 * oldest byte is at ring_start: the bytes of the tail are already in their places then.
 */
struct hr_collector {
    struct hr_collector_options options;
    struct hr_cleaner cleaner;
    struct hr_redactor redactor;
    struct hr_buf cleaned, redacted; /* of one piece */
    char *data;                      /* one byte more than capacity, for a NUL */
    size_t limit, capacity, size;
    size_t head, ring_start;
    bool wrapped;     /* more came than limit */
    bool lost;        /* some bytes found no memory at all */
    bool finished;    /* the cleaner has been emptied */
    bool held_return; /* of a terminal: the last byte, a '\r' */
    bool handed_out;  /* the spill file is known to somebody */
    uint64_t bytes_total, cleaned_total;
    struct hr_spill spill;
};

struct hr_collector *hr_collector_new(const struct hr_collector_options *options)
{
    struct hr_collector *collector = hr_calloc(1, sizeof *collector);

    if (!collector)
        return NULL;
    collector->options = *options;
    collector->limit = options->limit_bytes < LIMIT_MIN ? LIMIT_MIN : options->limit_bytes;
    if (collector->limit > SIZE_MAX / 4)
        collector->limit = SIZE_MAX / 4;
    hr_cleaner_init(&collector->cleaner);
    hr_redactor_init(&collector->redactor);
    hr_buf_init(&collector->cleaned, 0);
    hr_buf_init(&collector->redacted, 0);
    hr_spill_init(&collector->spill);
    return collector;
}

void hr_collector_free(struct hr_collector *collector)
{
    if (!collector)
        return;
    if (!collector->handed_out)
        hr_spill_discard(&collector->spill);
    hr_spill_done(&collector->spill);
    hr_buf_done(&collector->cleaned);
    hr_buf_done(&collector->redacted);
    hr_redactor_done(&collector->redactor);
    hr_cleaner_done(&collector->cleaner);
    hr_free(collector->data);
    hr_free(collector);
}

/*
 * Room for size bytes of text, at most limit. Without memory for it the limit becomes what there
 * is.
 */
static void grow(struct hr_collector *collector, size_t size)
{
    size_t capacity = collector->capacity ? collector->capacity : 256;
    char *data;

    if (size > collector->limit)
        size = collector->limit;
    if (size <= collector->capacity)
        return;
    while (capacity < size)
        capacity *= 2;
    if (capacity > collector->limit)
        capacity = collector->limit;
    data = hr_realloc(collector->data, capacity + 1);
    if (data) {
        collector->data = data;
        collector->capacity = capacity;
    } else if (collector->capacity >= LIMIT_MIN) {
        collector->limit = collector->capacity;
    }
}

/* The buffer has overflowed: from here on there are a head and a ring. */
static void wrap(struct hr_collector *collector)
{
    collector->wrapped = true;
    collector->head = hr_utf8_cut_before(collector->data,
                                         collector->limit / 5 * 2 + collector->limit % 5 * 2 / 5);
    collector->ring_start = collector->head;
}

/*
 * The buffer is about to overflow: a spill file takes what is in it, and gets everything from here
 * on.
 */
static void start_spill(struct hr_collector *collector)
{
    const struct hr_collector_options *options = &collector->options;

    if (options->spill_directory && options->spill_limit_bytes > 0 && !collector->lost &&
        hr_spill_open(&collector->spill, options->spill_directory, options->spill_limit_bytes))
        hr_spill_write(&collector->spill, collector->data, collector->size);
}

static void add_to_ring(struct hr_collector *collector, const char *text, size_t size)
{
    size_t room = collector->limit - collector->head, n;

    if (size > room) { /* only its end will be left: as if the rest had gone round */
        text += size - room;
        size = room;
    }
    n = collector->limit - collector->ring_start;
    if (n > size)
        n = size;
    memcpy(collector->data + collector->ring_start, text, n);
    memcpy(collector->data + collector->head, text + n, size - n);
    collector->ring_start += n;
    if (collector->ring_start == collector->limit)
        collector->ring_start = collector->head + (size - n);
}

/* Put text into the buffer as long as that has not wrapped. Returns how much of it. */
static size_t fill(struct hr_collector *collector, const char *text, size_t size)
{
    size_t n = collector->limit - collector->size;

    if (size > n)
        start_spill(collector);
    else
        n = size;
    memcpy(collector->data + collector->size, text, n);
    collector->size += n;
    if (n < size)
        wrap(collector);
    return n;
}

/* Take cleaned text, whole code points. */
static void add(struct hr_collector *collector, const char *text, size_t size)
{
    size_t n = 0;

    if (size == 0)
        return;
    if (!collector->wrapped) {
        grow(collector, collector->size + size);
        if (collector->capacity == 0) {
            collector->lost = true;
            return;
        }
        n = fill(collector, text, size);
    }
    collector->cleaned_total += size;
    if (collector->wrapped) {
        hr_spill_write(&collector->spill, text, size);
        add_to_ring(collector, text + n, size - n);
    }
}

/* Up to the end of the line: what is behind it may need no copy again. */
static size_t line_piece(const char *text, size_t size)
{
    size_t most = size < LINE_PIECE ? size : LINE_PIECE;
    const char *newline = memchr(text, '\n', most);

    return newline ? (size_t)(newline - text) + 1 : most;
}

static void add_redacted(struct hr_collector *collector)
{
    add(collector, collector->redacted.data, collector->redacted.size);
    hr_buf_clear(&collector->redacted);
}

/* Take text without a secret: not copied if it is much, unless each part would be a write. */
static void pass(struct hr_collector *collector, const char *text, size_t size)
{
    if (size >= LINE_PIECE && collector->spill.fd < 0) {
        add_redacted(collector);
        add(collector, text, size);
    } else if (!hr_buf_add(&collector->redacted, text, size)) {
        collector->lost = true;
    }
}

static void add_cleaned(struct hr_collector *collector, const char *text, size_t size)
{
    struct hr_redactor *redactor = &collector->redactor;
    size_t n;

    if (!collector->options.redact) {
        add(collector, text, size);
        return;
    }
    for (; size > 0; text += n, size -= n) {
        n = hr_redactor_pass(redactor, text, size);
        if (n > 0) {
            pass(collector, text, n);
            continue;
        }
        n = line_piece(text, size);
        if (!hr_redactor_feed(redactor, text, n, &collector->redacted))
            collector->lost = true;
    }
    add_redacted(collector);
}

static void feed(struct hr_collector *collector, const char *data, size_t size)
{
    struct hr_buf *cleaned = &collector->cleaned;
    size_t n;

    collector->bytes_total += size;
    for (; size > 0; data += n, size -= n) {
        n = size < PIECE ? size : PIECE;
        if (hr_cleaner_pass(&collector->cleaner, data, n) == n) {
            add_cleaned(collector, data, n);
            continue;
        }
        hr_buf_clear(cleaned);
        if (!hr_cleaner_feed(&collector->cleaner, data, n, cleaned))
            collector->lost = true;
        add_cleaned(collector, cleaned->data, cleaned->size);
    }
}

static void feed_end(struct hr_collector *collector)
{
    struct hr_buf *cleaned = &collector->cleaned;

    if (collector->held_return)
        feed(collector, "\r", 1);
    hr_buf_clear(cleaned);
    if (!hr_cleaner_finish(&collector->cleaner, cleaned))
        collector->lost = true;
    add_cleaned(collector, cleaned->data, cleaned->size);
    if (!hr_redactor_finish(&collector->redactor, &collector->redacted))
        collector->lost = true;
    add_redacted(collector);
}

/*
 * A terminal has made "\r\n" of each newline. A last '\r' waits for what follows. Lines are fed many
 * at a time: each piece is a search for secrets, and may be a write.
 */
static void feed_lines(struct hr_collector *collector, const char *data, size_t size)
{
    const char *end = data + size, *at;
    char text[PIECE];
    size_t used = 0, n;

    for (; data < end; data += n) {
        if (used + 1 >= sizeof text) {
            feed(collector, text, used);
            used = 0;
        }
        if (collector->held_return && *data != '\n')
            text[used++] = '\r';
        collector->held_return = *data == '\r';
        at = collector->held_return ? data : memchr(data, '\r', (size_t)(end - data));
        n = (size_t)((at ? at : end) - data);
        if (n > sizeof text - used)
            n = sizeof text - used;
        memcpy(text + used, data, n);
        used += n;
        n += collector->held_return;
    }
    feed(collector, text, used);
}

void hr_collector_feed(struct hr_collector *collector, const char *data, size_t size)
{
    if (size && collector->options.terminal)
        feed_lines(collector, data, size);
    else
        feed(collector, data, size);
}

/* The tail's two parts in order, the first without the rest of a code point that was cut. */
struct tail {
    const char *first, *second;
    size_t first_size, second_size;
};

static struct tail tail_of(const struct hr_collector *collector)
{
    struct tail tail = {NULL, NULL, 0, 0};
    size_t n;

    if (!collector->wrapped)
        return tail;
    tail.first = collector->data + collector->ring_start;
    tail.first_size = collector->limit - collector->ring_start;
    tail.second = collector->data + collector->head;
    tail.second_size = collector->ring_start - collector->head;
    n = hr_utf8_cut_after(tail.first, tail.first_size, 0);
    tail.first += n;
    tail.first_size -= n;
    if (tail.first_size == 0) {
        n = hr_utf8_cut_after(tail.second, tail.second_size, 0);
        tail.second += n;
        tail.second_size -= n;
    }
    return tail;
}

static int write_notice(char *notice, const struct hr_collected *collected, bool line_open)
{
    return snprintf(notice, NOTICE_SIZE,
                    "%s... [OUTPUT TRUNCATED: %" PRIu64 " of %" PRIu64 " bytes omitted] ...\n",
                    line_open ? "\n" : "", collected->bytes_omitted,
                    collected->bytes_omitted + collected->bytes_captured);
}

/* Head, notice and tail in one piece. */
static bool join(const struct hr_collector *collector, struct hr_collected *collected)
{
    struct tail tail = tail_of(collector);
    size_t head = collector->wrapped ? collector->head : collector->size;
    char notice[NOTICE_SIZE], *to;
    int n;

    collected->truncated = true;
    collected->bytes_captured = head + tail.first_size + tail.second_size;
    collected->bytes_omitted = collected->bytes_total > collected->bytes_captured
                                   ? collected->bytes_total - collected->bytes_captured
                                   : collector->cleaned_total - collected->bytes_captured;
    n = write_notice(notice, collected, head > 0 && collector->data[head - 1] != '\n');
    collected->size = collected->bytes_captured + (size_t)n;
    to = collected->text = hr_malloc(collected->size + 1);
    if (!to)
        return false;
    if (head)
        memcpy(to, collector->data, head);
    memcpy(to + head, notice, (size_t)n);
    to += head + (size_t)n;
    if (tail.first_size)
        memcpy(to, tail.first, tail.first_size);
    if (tail.second_size)
        memcpy(to + tail.first_size, tail.second, tail.second_size);
    collected->text[collected->size] = '\0';
    return true;
}

/* Everything is there: the buffer itself becomes the text. */
static bool hand_over(struct hr_collector *collector, struct hr_collected *collected)
{
    if (!collector->data && !(collector->data = hr_malloc(1)))
        return false;
    collected->text = collector->data;
    collected->size = collected->bytes_captured = collector->size;
    collected->text[collected->size] = '\0';
    collector->data = NULL;
    collector->capacity = collector->size = 0;
    return true;
}

bool hr_collector_finish(struct hr_collector *collector, struct hr_collected *ret)
{
    bool ok;

    memset(ret, 0, sizeof *ret);
    if (!collector->finished) {
        feed_end(collector);
        collector->finished = true;
    }
    hr_spill_close(&collector->spill);
    ret->bytes_total = collector->bytes_total;
    ret->redactions = collector->redactor.count;
    ok = collector->wrapped || collector->lost ? join(collector, ret) : hand_over(collector, ret);
    if (ok && collector->spill.path) {
        ret->spill_path = hr_strdup(collector->spill.path);
        ret->spill_size = collector->spill.size;
        ret->spill_capped = collector->spill.capped;
        ok = collector->handed_out = ret->spill_path != NULL;
    }
    if (!ok)
        hr_collected_done(ret);
    return ok;
}

void hr_collected_done(struct hr_collected *collected)
{
    hr_free(collected->text);
    hr_free(collected->spill_path);
    memset(collected, 0, sizeof *collected);
}

char *hr_collected_warning(const struct hr_collected *collected)
{
    if (!collected->truncated)
        return NULL;
    if (!collected->spill_path)
        return hr_strdup(
            "execute_code stdout was truncated; the script did run. Its head and tail are shown, "
            "the middle is "
            "lost: print less, or write to a file, instead of running it again unchanged.");
    if (collected->spill_capped)
        return hr_printf("execute_code stdout was truncated; the script did run. Its head and tail "
                         "are shown; the first %" PRIu64
                         " bytes are saved to %s - page it with read_file(path=..., offset=...) "
                         "instead of re-running. "
                         "Printing a narrower slice is often cheaper, as state persists.",
                         collected->spill_size, collected->spill_path);
    return hr_printf("execute_code stdout was truncated; the script did run. Its head and tail are "
                     "shown; FULL output saved to "
                     "%s - page it with read_file(path=..., offset=...) instead of re-running. "
                     "Printing a narrower slice is "
                     "often cheaper, as state persists.",
                     collected->spill_path);
}

char *hr_spill_default_directory(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

    if (state && *state == '/') /* a relative one is to be ignored */
        return hr_printf("%s/hermes-repl/spill", state);
    return home && *home == '/' ? hr_printf("%s/.local/state/hermes-repl/spill", home) : NULL;
}
