/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "mcp-progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json-write.h"
#include "mcp-message.h"
#include "utf8.h"
#include "xalloc.h"

#define ESCAPE_MAX 4096 /* a sequence that is longer is none */

/*
 * ---- plain text
 * -------------------------------------------------------------------------------------
 */

static void plain_text(struct mcp_plain *plain, unsigned char c)
{
    plain->state = PLAIN_TEXT;
    if (c == 0x1B) {
        plain->state = PLAIN_ESCAPE;
        plain->length = 0;
    } else if (c == '\r') {
        plain->state = PLAIN_RETURN;
    } else if ((c >= 0x20 && c != 0x7F) || c == '\n' || c == '\t') {
        strbuf_addc(&plain->held, (char)c);
    }
}

static void plain_escape(struct mcp_plain *plain, unsigned char c)
{
    if (c == '[')
        plain->state = PLAIN_CSI;
    else if (strchr("]PX^_", c) && c)
        plain->state = PLAIN_STRING;
    else if (c < 0x20 || c >= 0x7F)
        plain_text(plain, c); /* broken off */
    else if (c >= 0x30)
        plain->state = PLAIN_TEXT;
}

static void plain_csi(struct mcp_plain *plain, unsigned char c)
{
    if (c < 0x20 || c >= 0x7F)
        plain_text(plain, c);
    else if (c >= 0x40)
        plain->state = PLAIN_TEXT;
}

static void plain_string(struct mcp_plain *plain, unsigned char c)
{
    if (c == 0x07 || c == 0x18 || c == 0x1A)
        plain->state = PLAIN_TEXT;
    else if (c == 0x1B)
        plain->state = PLAIN_STRING_ESCAPE;
    else if (c == '\n')
        plain_text(plain, c);
}

static void plain_byte(struct mcp_plain *plain, unsigned char c)
{
    if (plain->state >= PLAIN_ESCAPE && ++plain->length > ESCAPE_MAX)
        plain->state = PLAIN_TEXT;
    switch (plain->state) {
    case PLAIN_TEXT:
        plain_text(plain, c);
        break;
    case PLAIN_RETURN:
        if (c == '\r')
            break;
        if (c != '\n')
            strbuf_addc(&plain->held, '\n');
        plain_text(plain, c);
        break;
    case PLAIN_ESCAPE:
        plain_escape(plain, c);
        break;
    case PLAIN_CSI:
        plain_csi(plain, c);
        break;
    case PLAIN_STRING:
        plain_string(plain, c);
        break;
    case PLAIN_STRING_ESCAPE:
        if (c == '\\')
            plain->state = PLAIN_TEXT;
        else
            plain_escape(plain, c);
        break;
    }
}

void mcp_plain_add(struct mcp_plain *plain, const char *data, size_t size, struct strbuf *text)
{
    struct strbuf *held = &plain->held;
    for (size_t i = 0; i < size; i++)
        plain_byte(plain, (unsigned char)data[i]);
    size_t keep = utf8_partial_tail(strbuf_text(held), held->size), ready = held->size - keep;
    if (!ready)
        return;
    utf8_repair(text, held->data, ready);
    memmove(held->data, held->data + ready, keep);
    held->size = keep;
}

/*
 * ---- portions
 * ---------------------------------------------------------------------------------------
 */

void mcp_progress_init(struct mcp_progress *progress, struct json_span token, bool redact,
                       int64_t now)
{
    *progress = (struct mcp_progress){.began_ms = now, .sent_ms = now - MCP_PROGRESS_MS};
    if (!token.size)
        return;
    progress->token = xmemdup0(token.start, token.size);
    live_text_init(&progress->live[0], redact);
    live_text_init(&progress->live[1], redact);
}

void mcp_progress_free(struct mcp_progress *progress)
{
    free(progress->token);
    for (int i = 0; i < 2; i++) {
        strbuf_free(&progress->streams[i].held);
        live_text_free(&progress->live[i]);
    }
    strbuf_free(&progress->text);
    progress->token = NULL;
}

void mcp_progress_start(struct mcp_progress *progress)
{
    progress->started = true;
}

/* Of a flood the newest part stays. */
static void bound_text(struct mcp_progress *progress)
{
    struct strbuf *text = &progress->text;
    if (text->size <= MCP_PROGRESS_MAX)
        return;
    size_t cut = text->size - MCP_PROGRESS_MAX / 2;
    while (cut < text->size && ((unsigned char)text->data[cut] & 0xC0) == 0x80)
        cut++;
    progress->left_out += cut;
    text->size -= cut;
    memmove(text->data, text->data + cut, text->size);
}

void mcp_progress_add(struct mcp_progress *progress, int stream, const char *data, size_t size,
                      int64_t now)
{
    struct strbuf plain = STRBUF_INIT;
    if (!progress->token)
        return;
    mcp_plain_add(&progress->streams[stream == 2], data, size, &plain);
    if (plain.size)
        live_text_add(&progress->live[stream == 2], plain.data, plain.size, now, &progress->text);
    strbuf_free(&plain);
    bound_text(progress);
}

int64_t mcp_progress_due(const struct mcp_progress *progress, int64_t now)
{
    if (!progress->token)
        return -1;
    int64_t due =
        progress->sent_ms + (progress->text.size ? MCP_PROGRESS_MS : MCP_PROGRESS_SILENCE_MS) - now;
    for (int i = 0; i < 2; i++) { /* what is shown then waits for its turn as all text does */
        int64_t shown = live_text_due(&progress->live[i], now);
        int64_t turn = progress->sent_ms + MCP_PROGRESS_MS - now;
        if (shown >= 0 && (shown > turn ? shown : turn) < due)
            due = shown > turn ? shown : turn;
    }
    return due > 0 ? due : 0;
}

/* What has waited long enough becomes text to be sent; with last, all does. */
static void take_waiting(struct mcp_progress *progress, int64_t now, bool last)
{
    for (int i = 0; i < 2; i++) {
        struct strbuf *held = &progress->streams[i].held, rest = STRBUF_INIT;
        if (last) {
            utf8_repair(&rest, strbuf_text(held), held->size);
            live_text_add(&progress->live[i], strbuf_text(&rest), rest.size, now, &progress->text);
            live_text_end(&progress->live[i], &progress->text);
            strbuf_clear(held);
            strbuf_free(&rest);
        } else if (live_text_due(&progress->live[i], now) == 0) {
            live_text_flush(&progress->live[i], &progress->text);
        }
    }
    bound_text(progress);
}

/*
 * Seconds since the call came; each value is greater than the one before, as the protocol demands.
 */
static void add_value(struct mcp_progress *progress, int64_t now, struct strbuf *params)
{
    int64_t elapsed = now - progress->began_ms;
    progress->last = elapsed > progress->last ? elapsed : progress->last + 1;
    strbuf_addf(params, "%" PRId64 ".%03d", progress->last / 1000, (int)(progress->last % 1000));
}

static void add_text(struct mcp_progress *progress, struct strbuf *params)
{
    struct strbuf message = STRBUF_INIT;
    const char *state = progress->started ? "running" : "waiting";
    if (!progress->text.size)
        strbuf_addf(&message, "%s for %" PRId64 " s", state, progress->last / 1000);
    if (progress->left_out)
        strbuf_addf(&message, "[... %" PRIu64 " bytes left out ...]\n", progress->left_out);
    strbuf_add(&message, progress->text.data, progress->text.size);
    json_add_string(params, message.data, message.size);
    strbuf_free(&message);
    strbuf_clear(&progress->text);
    progress->left_out = 0;
}

void mcp_progress_send(struct mcp_progress *progress, int64_t now, bool last, struct strbuf *out)
{
    struct strbuf params = STRBUF_INIT;
    if (!progress->token)
        return;
    take_waiting(progress, now, last);
    if (last ? !progress->text.size : mcp_progress_due(progress, now) > 0)
        return;
    strbuf_addf(&params, "{\"progressToken\":%s,\"progress\":", progress->token);
    add_value(progress, now, &params);
    strbuf_adds(&params, ",\"message\":");
    add_text(progress, &params);
    strbuf_addc(&params, '}');
    mcp_add_notification(out, "notifications/progress", &params);
    strbuf_free(&params);
    progress->sent_ms = now;
}
