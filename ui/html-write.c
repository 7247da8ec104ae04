/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A document as one HTML page without scripts and without anything from outside. What cells
 * displayed as HTML is shown as its text: a page must not run what a notebook brings along.
 */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "json-scan.h"
#include "notebook-write.h"
#include "shown.h"
#include "utf8.h"

static const char page_head[] = "<!DOCTYPE html>\n"
                                "<html lang=\"en\">\n"
                                "<head>\n"
                                "<meta charset=\"utf-8\">\n"
                                "<meta name=\"viewport\" content=\"width=device-width\">\n"
                                "<title>";
static const char page_style[] =
    "</title>\n"
    "<style>\n"
    "body { max-width: 60em; margin: 2em auto; padding: 0 1em; font-family: sans-serif; "
    "line-height: 1.4 }\n"
    "pre { padding: .6em .8em; overflow-x: auto; line-height: 1.3; margin: .3em 0 }\n"
    ".code { background: #f4f4f4; border-left: 3px solid #7a9cc6 }\n"
    ".error, .stderr { background: #fff1f0; border-left: 3px solid #c66 }\n"
    ".prose { white-space: pre-wrap; font-family: inherit }\n"
    "img { max-width: 100% }\n"
    "</style>\n"
    "</head>\n"
    "<body>\n";

static void add_escaped(struct strbuf *out, const char *text, size_t size)
{
    struct strbuf repaired = STRBUF_INIT;
    utf8_repair(&repaired, text, size);
    for (size_t i = 0; i < repaired.size; i++) {
        unsigned char c = (unsigned char)repaired.data[i];
        if (c == '<')
            strbuf_adds(out, "&lt;");
        else if (c == '>')
            strbuf_adds(out, "&gt;");
        else if (c == '&')
            strbuf_adds(out, "&amp;");
        else if (c == '"')
            strbuf_adds(out, "&quot;");
        else if (c >= ' ' || c == '\n' || c == '\t')
            strbuf_addc(out, (char)c);
    }
    strbuf_free(&repaired);
}

static void add_pre(struct strbuf *out, const char *class, const char *text, size_t size)
{
    while (size && isspace((unsigned char)text[size - 1]))
        size--;
    if (!size)
        return;
    strbuf_addf(out, "<pre class=\"%s\">", class);
    add_escaped(out, text, size);
    strbuf_adds(out, "</pre>\n");
}

static void add_shown(struct strbuf *out, const char *class, const char *text, size_t size)
{
    struct strbuf plain = STRBUF_INIT;
    shown_plain(text, size, &plain);
    add_pre(out, class, strbuf_text(&plain), plain.size);
    strbuf_free(&plain);
}

static bool is_base64(const struct strbuf *text)
{
    const char *data = strbuf_text(text);
    return strspn(data, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\n") ==
           text->size;
}

static void add_bundle(struct strbuf *out, const struct strbuf *json)
{
    static const char *const pictures[] = {"image/png", "image/jpeg"};
    struct strbuf error = STRBUF_INIT, text = STRBUF_INIT;
    struct json_span bundle, value;
    if (!json_check(strbuf_text(json), json->size, &bundle, &error)) {
        strbuf_free(&error);
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        if (!json_get(bundle, pictures[i], &value) || json_kind_of(value) != JSON_STRING)
            continue;
        json_decode(value, &text);
        if (is_base64(&text)) {
            strbuf_addf(out, "<p><img alt=\"output\" src=\"data:%s;base64,%s\"></p>\n", pictures[i],
                        strbuf_text(&text));
            strbuf_free(&text);
            return;
        }
        strbuf_clear(&text);
    }
    if (json_get(bundle, "text/plain", &value) && json_kind_of(value) == JSON_STRING) {
        json_decode(value, &text);
        add_shown(out, "result", strbuf_text(&text), text.size);
    }
    strbuf_free(&text);
}

static void add_outputs(struct strbuf *out, const struct outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        const struct output *output = &outputs->items[i];
        if (output->kind == OUTPUT_STREAM)
            add_shown(out, output->stream == 2 ? "stderr" : "stdout", strbuf_text(&output->text),
                    output->text.size);
        else if (output->kind == OUTPUT_ERROR)
            add_shown(out, "error", strbuf_text(&output->text), output->text.size);
        else
            add_bundle(out, &output->text);
    }
    if (outputs->dropped)
        strbuf_addf(out, "<p>(%zu more bytes of output were not saved)</p>\n", outputs->dropped);
}

static void add_prose(struct strbuf *out, const struct document *document,
                      const struct document_cell *cell)
{
    struct strbuf prose = STRBUF_INIT;
    document_prose(document, cell, &prose);
    add_pre(out, "prose", strbuf_text(&prose), prose.size);
    strbuf_free(&prose);
}

void html_write(struct strbuf *out, const struct document *document,
                const struct cell_record *records, const char *title)
{
    strbuf_adds(out, page_head);
    add_escaped(out, title, strlen(title));
    strbuf_adds(out, page_style);
    for (size_t i = 0; i < document->count; i++) {
        const struct document_cell *cell = &document->cells[i];
        if (document_cell_is_blank(cell))
            continue;
        if (cell->kind != CELL_CODE) {
            add_prose(out, document, cell);
            continue;
        }
        struct outputs stored = {NULL, 0, 0, 0, 0};
        if (cell->title && document->format == DOCUMENT_SCRIPT) {
            strbuf_adds(out, "<h2>");
            add_escaped(out, cell->title, strlen(cell->title));
            strbuf_adds(out, "</h2>\n");
        }
        add_pre(out, "code", cell->source, cell->size);
        add_outputs(out, cell_outputs(cell, records ? &records[i] : NULL, &stored));
        outputs_free(&stored);
    }
    strbuf_adds(out, "</body>\n</html>\n");
}
