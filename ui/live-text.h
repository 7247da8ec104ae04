/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Live output for others than the person who runs the cell: one stream in whole characters and, if
 * wanted, without secrets, at whatever places it comes cut. Text that may be the beginning of a
 * secret waits for the rest, but not longer than LIVE_TEXT_MS.
 */
#ifndef UI_LIVE_TEXT_H
#define UI_LIVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hermes-kernel.h"
#include "json-scan.h"
#include "strbuf.h"

#define LIVE_TEXT_MS 100

struct live_text {
    struct hermes_redactor *redactor; /* NULL: the text passes as it is */
    struct strbuf held;               /* then: an incomplete character at its end */
    int64_t due_ms;                   /* when what is held back is to be shown */
    bool waits;                       /* something is held back */
};

/* Whether the option "redact" is on. */
bool live_text_wanted(struct hermes_engine *engine);

void live_text_init(struct live_text *live, bool redact);
void live_text_free(struct live_text *live);

/* Each appends to out what may be shown. */
void live_text_add(struct live_text *live, const char *data, size_t size, int64_t now,
                   struct strbuf *out);
void live_text_flush(struct live_text *live, struct strbuf *out); /* what is held back */
void live_text_end(struct live_text *live, struct strbuf *out);   /* of the stream: all */

/*
 * Not of a stream, but of a display: a bundle of forms (checked JSON, MIME type to data), with
 * marks in the place of secrets in all that is text; pictures and such stay.
 */
void live_text_bundle(struct json_span bundle, struct strbuf *out);

/* In how many milliseconds live_text_flush() is to be called; -1: never. */
int64_t live_text_due(const struct live_text *live, int64_t now);

#endif
