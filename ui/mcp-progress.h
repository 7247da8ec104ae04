/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Live output of one call as progress notifications. What a cell writes becomes plain text: UTF-8,
 * no escape sequences, no control characters but tab and line feed (a carriage return alone is a
 * line feed), without secrets if wanted. It is sent in portions, not more than ten a second; of a
 * flood the newest part. A call that says nothing gives a sign of life every ten seconds, since
 * clients count the time since the last notification.
 */
#ifndef UI_MCP_PROGRESS_H
#define UI_MCP_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json-scan.h"
#include "live-text.h"
#include "strbuf.h"

#define MCP_PROGRESS_MS 100
#define MCP_PROGRESS_SILENCE_MS 10000
#define MCP_PROGRESS_MAX 16384 /* bytes of text that wait; and so of a notification */

/* One stream on its way to plain text. */
struct mcp_plain {
    enum {
        PLAIN_TEXT,
        PLAIN_RETURN,
        PLAIN_ESCAPE,
        PLAIN_CSI,
        PLAIN_STRING,
        PLAIN_STRING_ESCAPE
    } state;
    size_t length;      /* of the escape sequence so far */
    struct strbuf held; /* an incomplete character at its end */
};

struct mcp_progress {
    char *token; /* JSON; NULL: nobody wants to know */
    struct mcp_plain streams[2];
    struct live_text live[2];
    struct strbuf text; /* to be sent */
    uint64_t left_out;  /* bytes that a flood has pushed out of text */
    bool started;
    int64_t began_ms, sent_ms, last;
};

void mcp_progress_init(struct mcp_progress *progress, struct json_span token, bool redact,
                       int64_t now);
void mcp_progress_free(struct mcp_progress *progress);

void mcp_progress_start(struct mcp_progress *progress); /* the cell does not wait any more */
void mcp_progress_add(struct mcp_progress *progress, int stream, const char *data, size_t size,
                      int64_t now);
/* In how many milliseconds there is something to send; -1: never. */
int64_t mcp_progress_due(const struct mcp_progress *progress, int64_t now);
/* Append the notification that is due; with last, all that is left. */
void mcp_progress_send(struct mcp_progress *progress, int64_t now, bool last, struct strbuf *out);

/* Append what data adds to the plain text of its stream. */
void mcp_plain_add(struct mcp_plain *plain, const char *data, size_t size, struct strbuf *text);

#endif
