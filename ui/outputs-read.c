/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Outputs as a notebook stores them, read back.
 */
#include "config.h"

#include <string.h>

#include "json-scan.h"
#include "json-write.h"
#include "notebook.h"
#include "outputs.h"

/* A MIME bundle with its texts as single strings. */
static void read_bundle(struct outputs *outputs, bool is_result, struct json_span data)
{
    struct strbuf bundle = STRBUF_INIT, text = STRBUF_INIT;
    struct json_span key, value;
    size_t position = 0;
    strbuf_addc(&bundle, '{');
    while (json_next_member(data, &position, &key, &value)) {
        strbuf_adds(&bundle, bundle.size > 1 ? ", " : "");
        strbuf_add(&bundle, key.start, key.size);
        strbuf_adds(&bundle, ": ");
        strbuf_clear(&text);
        if (notebook_text(value, &text))
            json_add_string(&bundle, strbuf_text(&text), text.size);
        else
            strbuf_add(&bundle, value.start, value.size);
    }
    strbuf_addc(&bundle, '}');
    outputs_add_display(outputs, is_result, strbuf_text(&bundle), bundle.size);
    strbuf_free(&bundle);
    strbuf_free(&text);
}

static void read_error(struct outputs *outputs, struct json_span output)
{
    struct json_span part, line;
    struct strbuf text = STRBUF_INIT;
    size_t position = 0;
    if (json_get(output, "traceback", &part) && json_kind_of(part) == JSON_ARRAY) {
        while (json_next_element(part, &position, &line)) {
            strbuf_adds(&text, text.size ? "\n" : "");
            notebook_text(line, &text);
        }
    }
    if (!text.size) {
        if (json_get(output, "ename", &part))
            notebook_text(part, &text);
        strbuf_adds(&text, ": ");
        if (json_get(output, "evalue", &part))
            notebook_text(part, &text);
    }
    outputs_set_error(outputs, strbuf_text(&text), text.size);
    strbuf_free(&text);
}

void outputs_read(struct outputs *outputs, const char *json)
{
    struct strbuf error = STRBUF_INIT, text = STRBUF_INIT;
    struct json_span all, output, type, part;
    size_t position = 0;
    if (!json || !json_check(json, strlen(json), &all, &error) || json_kind_of(all) != JSON_ARRAY) {
        strbuf_free(&error);
        return;
    }
    while (json_next_element(all, &position, &output)) {
        if (!json_get(output, "output_type", &type))
            continue;
        if (json_is_text(type, "stream") && json_get(output, "text", &part)) {
            strbuf_clear(&text);
            notebook_text(part, &text);
            bool is_error = json_get(output, "name", &part) && json_is_text(part, "stderr");
            outputs_add_stream(outputs, is_error ? 2 : 1, strbuf_text(&text), text.size);
        } else if (json_is_text(type, "error")) {
            read_error(outputs, output);
        } else if (json_get(output, "data", &part) && json_kind_of(part) == JSON_OBJECT) {
            read_bundle(outputs, json_is_text(type, "execute_result"), part);
        }
    }
    strbuf_free(&text);
}
