/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "live-text.h"

#include <string.h>

#include "json-write.h"
#include "utf8.h"
#include "xalloc.h"

bool live_text_wanted(struct hermes_engine *engine)
{
    char *value = NULL;
    bool wanted = hermes_get_option(engine, "redact", &value) != HERMES_OK || !value ||
                  strcmp(value, "off") != 0;
    hermes_free(value);
    return wanted;
}

void live_text_init(struct live_text *live, bool redact)
{
    *live = (struct live_text){.redactor = redact ? hermes_redactor_new() : NULL};
    if (redact && !live->redactor)
        xout_of_memory();
}

void live_text_free(struct live_text *live)
{
    hermes_redactor_free(live->redactor);
    strbuf_free(&live->held);
    live->redactor = NULL;
}

static void take(int status, char *text, size_t size, struct strbuf *out)
{
    if (status != HERMES_OK)
        xout_of_memory();
    strbuf_add(out, text, size);
    hermes_free(text);
}

/* The characters that are complete, or all. */
static void pass(struct live_text *live, bool all, struct strbuf *out)
{
    struct strbuf *held = &live->held;
    size_t keep = all ? 0 : utf8_partial_tail(strbuf_text(held), held->size);
    size_t ready = held->size - keep;
    if (!ready)
        return;
    utf8_repair(out, held->data, ready);
    memmove(held->data, held->data + ready, keep);
    held->size = keep;
}

void live_text_add(struct live_text *live, const char *data, size_t size, int64_t now,
                   struct strbuf *out)
{
    char *text = NULL;
    size_t text_size = 0;
    if (!live->redactor) {
        strbuf_add(&live->held, data, size);
        pass(live, false, out);
        return;
    }
    int status = hermes_redactor_feed(live->redactor, data, size, &text, &text_size);
    take(status, text, text_size, out);
    size_t held = hermes_redactor_held(live->redactor);
    if (held && (!live->waits || held <= size))
        live->due_ms = now + LIVE_TEXT_MS; /* all of it came now */
    live->waits = held > 0;
}

void live_text_flush(struct live_text *live, struct strbuf *out)
{
    char *text = NULL;
    size_t size = 0;
    if (!live->waits)
        return;
    int status = hermes_redactor_flush(live->redactor, &text, &size);
    take(status, text, size, out);
    live->waits = false;
}

void live_text_end(struct live_text *live, struct strbuf *out)
{
    char *text = NULL;
    size_t size = 0;
    live->waits = false;
    if (!live->redactor) {
        pass(live, true, out);
        return;
    }
    int status = hermes_redactor_finish(live->redactor, &text, &size);
    take(status, text, size, out);
}

static void redact_string(struct json_span string, struct strbuf *out)
{
    struct strbuf text = STRBUF_INIT, safe = STRBUF_INIT;
    struct live_text live;
    live_text_init(&live, true);
    json_decode(string, &text);
    live_text_add(&live, strbuf_text(&text), text.size, 0, &safe);
    live_text_end(&live, &safe);
    live_text_free(&live);
    json_add_string(out, strbuf_text(&safe), safe.size);
    strbuf_free(&text);
    strbuf_free(&safe);
}

static void redact_value(struct json_span value, struct strbuf *out)
{
    struct json_span key, item;
    size_t position = 0;
    bool first = true;
    switch (json_kind_of(value)) {
    case JSON_STRING:
        redact_string(value, out);
        break;
    case JSON_OBJECT:
        strbuf_addc(out, '{');
        for (; json_next_member(value, &position, &key, &item); first = false) {
            strbuf_adds(out, first ? "" : ",");
            strbuf_add(out, key.start, key.size);
            strbuf_addc(out, ':');
            redact_value(item, out);
        }
        strbuf_addc(out, '}');
        break;
    case JSON_ARRAY:
        strbuf_addc(out, '[');
        for (; json_next_element(value, &position, &item); first = false) {
            strbuf_adds(out, first ? "" : ",");
            redact_value(item, out);
        }
        strbuf_addc(out, ']');
        break;
    default:
        strbuf_add(out, value.start, value.size);
    }
}

/* The engine gives these as they are, and all others in base64. */
static bool is_text(struct json_span type)
{
    struct strbuf name = STRBUF_INIT;
    json_decode(type, &name);
    const char *text = strbuf_text(&name), *plus = strrchr(text, '+');
    bool is = strncmp(text, "text/", 5) == 0 || strcmp(text, "image/svg+xml") == 0 ||
              strcmp(text, "application/javascript") == 0 ||
              strcmp(text, "application/json") == 0 || (plus && strcmp(plus, "+json") == 0);
    strbuf_free(&name);
    return is;
}

void live_text_bundle(struct json_span bundle, struct strbuf *out)
{
    struct json_span type, data;
    size_t position = 0;
    bool first = true;
    strbuf_addc(out, '{');
    for (; json_next_member(bundle, &position, &type, &data); first = false) {
        strbuf_adds(out, first ? "" : ",");
        strbuf_add(out, type.start, type.size);
        strbuf_addc(out, ':');
        if (is_text(type))
            redact_value(data, out);
        else
            strbuf_add(out, data.start, data.size);
    }
    strbuf_addc(out, '}');
}

int64_t live_text_due(const struct live_text *live, int64_t now)
{
    if (!live->waits)
        return -1;
    return live->due_ms > now ? live->due_ms - now : 0;
}
