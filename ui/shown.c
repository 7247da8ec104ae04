/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "shown.h"

#include <stdio.h>
#include <string.h>

#include "block.h"
#include "json-scan.h"
#include "live-text.h"

#define BLOCK_BYTES ((size_t)8 << 20)
#define TEXT_BYTES ((size_t)1 << 20)

void shown_init(struct shown *shown, bool terminal)
{
    *shown = (struct shown){.block = block_new(BLOCK_BYTES), .terminal = terminal};
    block_resize(shown->block, 80, 24);
}

void shown_free(struct shown *shown)
{
    block_free(shown->block);
    strbuf_free(&shown->errors);
    shown->block = NULL;
}

/* Lines as files have them become a terminal's. */
static void add_lines(struct shown *shown, const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        block_write(shown->block, text + at, length);
        block_write(shown->block, "\r\n", end ? 2 : 0);
        at += length + 1;
    }
    if (size)
        shown->last = text[size - 1];
}

void shown_output(struct shown *shown, int stream, const char *data, size_t size)
{
    if (stream == 2) {
        size_t room = shown->errors.size < TEXT_BYTES ? TEXT_BYTES - shown->errors.size : 0;
        strbuf_add(&shown->errors, data, size < room ? size : room);
    } else if (!shown->terminal) {
        add_lines(shown, data, size);
    } else if (size) {
        block_write(shown->block, data, size);
        shown->last = data[size - 1];
    }
}

/* Text of ours, in lines of its own. */
static void add_text(struct shown *shown, const char *text, size_t size)
{
    if (shown->last && shown->last != '\n')
        add_lines(shown, "\n", 1);
    add_lines(shown, text, size);
    if (shown->last != '\n')
        add_lines(shown, "\n", 1);
}

void shown_display(struct shown *shown, const char *json, size_t size, bool prompt)
{
    struct strbuf text = STRBUF_INIT, error = STRBUF_INIT;
    struct json_span bundle, part;
    if (json_check(json, size, &bundle, &error) &&
        !(prompt && json_get(bundle, "image/png", &part)) &&
        json_get(bundle, "text/plain", &part) && json_kind_of(part) == JSON_STRING) {
        json_decode(part, &text);
        add_text(shown, strbuf_text(&text), text.size);
    }
    strbuf_free(&text);
    strbuf_free(&error);
}

/* sys.exit() with a status or a message: the message has been written already, as under python. */
static bool is_exit(const struct hermes_result *result)
{
    return result->outcome == HERMES_ERROR && result->ended && !result->start_failed &&
           !result->term_signal && !strstr(result->error, "state was lost");
}

void shown_result(struct shown *shown, const struct hermes_result *result, bool wall_time)
{
    char text[60];
    if (shown->errors.size)
        add_text(shown, strbuf_text(&shown->errors), shown->errors.size);
    if (wall_time) {
        int length =
            snprintf(text, sizeof(text), "Wall time: %.3g s\n", (double)result->duration_us / 1e6);
        add_text(shown, text, (size_t)length);
    }
    bool not_run = !result->started && !result->start_failed;
    if (result->error_size && !not_run && !is_exit(result))
        add_text(shown, result->error, result->error_size);
    block_end(shown->block);
}

void shown_text(struct shown *shown, bool redact, struct strbuf *out)
{
    struct strbuf text = STRBUF_INIT;
    struct live_text live;
    block_text(shown->block, false, &text);
    size_t size = text.size < TEXT_BYTES ? text.size : TEXT_BYTES;
    live_text_init(&live, redact);
    live_text_add(&live, strbuf_text(&text), size, 0, out);
    live_text_end(&live, out);
    live_text_free(&live);
    strbuf_free(&text);
}

void shown_plain(const char *text, size_t size, struct strbuf *out)
{
    struct shown shown;
    shown_init(&shown, false);
    shown_output(&shown, 1, text, size);
    block_end(shown.block);
    block_text(shown.block, false, out);
    shown_free(&shown);
}
