/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Documents as text: percent scripts and Markdown.
 */
#include "config.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "json-write.h"
#include "magics.h"
#include "notebook-write.h"
#include "percent-metadata.h"
#include "percent.h"
#include "pylex.h"
#include "utf8.h"
#include "xalloc.h"

/* The inside of a text that is one string in triple quotes, or false. */
static bool unquote(const struct document_cell *cell, struct strbuf *out)
{
    size_t start = 0, end = cell->size;
    while (start < end && isspace((unsigned char)cell->source[start]))
        start++;
    while (end > start && isspace((unsigned char)cell->source[end - 1]))
        end--;
    if (start < end && strchr("rR", cell->source[start]) && cell->source[start])
        start++;
    const char *quotes = cell->source + start;
    if (end - start < 6 || (memcmp(quotes, "\"\"\"", 3) != 0 && memcmp(quotes, "'''", 3) != 0) ||
        memcmp(cell->source + end - 3, quotes, 3) != 0)
        return false;
    start += 3;
    end -= 3;
    while (start < end && (cell->source[start] == '\n' || cell->source[start] == '\r'))
        start++;
    strbuf_add(out, cell->source + start, end - start);
    return true;
}

void document_prose(const struct document *document, const struct document_cell *cell,
                    struct strbuf *out)
{
    if (document->format == DOCUMENT_NOTEBOOK) {
        strbuf_add(out, cell->source, cell->size);
        return;
    }
    if (unquote(cell, out))
        return;
    for (size_t at = 0; at < cell->size;) {
        size_t length = pylex_line_length(cell->source + at, cell->size - at), skip = 0;
        const char *line = cell->source + at;
        if (line[0] == '#')
            skip = length > 1 && line[1] == ' ' ? 2 : 1;
        strbuf_add(out, line + skip, length - skip);
        at += length;
    }
}

/* End with exactly one line end, after the last line that holds something. */
static void finish_text(struct strbuf *out)
{
    while (out->size && isspace((unsigned char)out->data[out->size - 1]))
        out->size--;
    strbuf_addc(out, '\n');
}

static void add_marker(struct strbuf *out, const struct document_cell *cell)
{
    if (cell->marker) {
        strbuf_addf(out, "%s\n", cell->marker);
        return;
    }
    strbuf_adds(out, "# %%");
    if (cell->title) {
        strbuf_addc(out, ' ');
        for (const char *c = cell->title; *c; c++)
            strbuf_addc(out, *c == '\n' || *c == '\r' ? ' ' : *c);
    }
    strbuf_adds(out, cell->kind == CELL_MARKDOWN ? " [markdown]"
                     : cell->kind == CELL_RAW    ? " [raw]"
                                                 : "");
    for (size_t i = 0; i < cell->tag_count; i++) {
        strbuf_adds(out, i ? ", " : " tags=[");
        json_add_text(out, cell->tags[i]);
    }
    strbuf_adds(out, cell->tag_count ? "]" : "");
    percent_add_members(out, cell);
    strbuf_addc(out, '\n');
}

static void add_lines(struct strbuf *out, const char *text, size_t size, const char *prefix)
{
    for (size_t at = 0; at < size;) {
        size_t length = pylex_line_length(text + at, size - at);
        size_t shown = pylex_trimmed(text + at, length);
        strbuf_add(out, prefix, shown ? strlen(prefix) : 1); /* no blanks at the end of a line */
        strbuf_add(out, text + at, length);
        at += length;
    }
}

/* IPython's own syntax is commented, as jupytext does it: the script stays a script. */
static void add_notebook_code(struct strbuf *out, const struct document_cell *cell)
{
    struct pylex lex = {.count = 0};
    bool cell_magic = cell->size > 2 && cell->source[0] == '%' && cell->source[1] == '%';
    for (size_t at = 0; at < cell->size;) {
        const char *line = cell->source + at;
        size_t length = pylex_line_length(line, cell->size - at), rest;
        bool magic = pylex_at_statement(&lex) && magics_is_line(line, length);
        bool marker =
            !pylex_in_string(&lex) && percent_is_marker(line, pylex_trimmed(line, length), &rest);
        if (cell_magic || magic || marker)
            strbuf_adds(out, "# ");
        else
            pylex_line(&lex, line, length);
        strbuf_add(out, line, length);
        at += length;
    }
}

void script_write(struct strbuf *out, const struct document *document)
{
    bool first = true;
    if (document->format == DOCUMENT_NOTEBOOK && percent_add_header(out, document)) {
        finish_text(out);
        first = false;
    }
    for (size_t i = 0; i < document->count; i++) {
        const struct document_cell *cell = &document->cells[i];
        if (document_cell_is_blank(cell) && !cell->marker)
            continue;
        if (!first)
            strbuf_addc(out, '\n');
        if (cell->marker || !first || document->format == DOCUMENT_NOTEBOOK)
            add_marker(out, cell);
        if (document->format == DOCUMENT_SCRIPT)
            strbuf_add(out, cell->source, cell->size);
        else if (cell->kind == CELL_CODE)
            add_notebook_code(out, cell);
        else
            add_lines(out, cell->source, cell->size, "# ");
        finish_text(out);
        first = false;
    }
}

/* ---- Markdown ------------------------------------------------------------------------------- */

static void add_fence(struct strbuf *out, const char *language, const char *text, size_t size)
{
    size_t longest = 2, run = 0;
    for (size_t i = 0; i < size; i++) {
        run = text[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    struct strbuf fence = STRBUF_INIT;
    for (size_t i = 0; i < longest + 1; i++)
        strbuf_addc(&fence, '`');
    strbuf_addf(out, "%s%s\n", strbuf_text(&fence), language);
    size_t start = out->size;
    utf8_repair(out, text, size);
    if (out->size > start)
        finish_text(out);
    strbuf_addf(out, "%s\n\n", strbuf_text(&fence));
    strbuf_free(&fence);
}

/* The text/plain of a MIME bundle. */
static void add_bundle(struct strbuf *out, const struct strbuf *bundle)
{
    cJSON *data = cJSON_ParseWithLength(strbuf_text(bundle), bundle->size);
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(data, "text/plain");
    if (cJSON_IsString(text))
        add_fence(out, "text", text->valuestring, strlen(text->valuestring));
    cJSON_Delete(data);
}

static void add_markdown_outputs(struct strbuf *out, const struct outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        const struct output *output = &outputs->items[i];
        if (output->kind == OUTPUT_STREAM || output->kind == OUTPUT_ERROR)
            add_fence(out, "text", strbuf_text(&output->text), output->text.size);
        else
            add_bundle(out, &output->text);
    }
    if (outputs->dropped)
        strbuf_addf(out, "*(%zu more bytes of output were not saved)*\n\n", outputs->dropped);
}

const struct outputs *cell_outputs(const struct document_cell *cell,
                                   const struct cell_record *record, struct outputs *stored)
{
    if (record && record->fate != FATE_UNTOUCHED)
        return &record->outputs;
    outputs_read(stored, cell->outputs);
    return stored;
}

void markdown_write(struct strbuf *out, const struct document *document,
                    const struct cell_record *records)
{
    for (size_t i = 0; i < document->count; i++) {
        const struct document_cell *cell = &document->cells[i];
        if (document_cell_is_blank(cell))
            continue;
        if (cell->title && document->format == DOCUMENT_SCRIPT)
            strbuf_addf(out, "## %s\n\n", cell->title);
        if (cell->kind == CELL_MARKDOWN) {
            document_prose(document, cell, out);
            finish_text(out);
            strbuf_addc(out, '\n');
        } else if (cell->kind == CELL_CODE) {
            add_fence(out, "python", cell->source, cell->size);
            struct outputs stored = {NULL, 0, 0, 0, 0};
            add_markdown_outputs(out, cell_outputs(cell, records ? &records[i] : NULL, &stored));
            outputs_free(&stored);
        }
    }
    if (out->size)
        finish_text(out);
}
