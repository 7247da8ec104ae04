/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "notebook-write.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "json-pretty.h"
#include "json-write.h"
#include "percent-metadata.h"
#include "utf8.h"
#include "xalloc.h"

static bool id_is_good(const char *id)
{
    size_t length = id ? strlen(id) : 0;
    if (!length || length > 64)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)id[i]) && id[i] != '-' && id[i] != '_')
            return false;
    }
    return true;
}

static int compare_ids(const void *left, const void *right)
{
    const struct document_cell *const *a = left, *const *b = right;
    int order = strcmp((*a)->id, (*b)->id);
    return order ? order : (*a > *b) - (*a < *b);
}

/* The cells that keep the id they have: the first of each id that is good. Sets keeps[i]. */
static void choose_ids(const struct document *document, bool *keeps)
{
    const struct document_cell **sorted = xcalloc(document->count, sizeof(*sorted));
    size_t count = 0;
    for (size_t i = 0; i < document->count; i++) {
        if (id_is_good(document->cells[i].id))
            sorted[count++] = &document->cells[i];
    }
    if (count)
        qsort(sorted, count, sizeof(*sorted), compare_ids);
    for (size_t i = 0; i < count; i++) {
        bool again = i && strcmp(sorted[i]->id, sorted[i - 1]->id) == 0;
        keeps[sorted[i] - document->cells] = !again;
    }
    free(sorted);
}

/* 64 random bits for a document, mixed with the index: no two cells of a document get the same. */
static void add_new_id(struct strbuf *out, uint64_t seed, size_t index)
{
    uint64_t mixed = seed + index * UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ mixed >> 31) * UINT64_C(0xBF58476D1CE4E5B9);
    strbuf_addf(out, "\"%016" PRIx64 "\"", mixed ^ mixed >> 29);
}

static void add_stream(struct strbuf *out, const char *name, const char *data, size_t size)
{
    struct strbuf text = STRBUF_INIT;
    utf8_repair(&text, data, size);
    strbuf_addf(out, "{\"name\": \"%s\", \"output_type\": \"stream\", \"text\": ", name);
    json_add_lines(out, strbuf_text(&text), text.size);
    strbuf_addc(out, '}');
    strbuf_free(&text);
}

static void add_error(struct strbuf *out, const struct strbuf *text)
{
    const char *data = strbuf_text(text);
    struct error_name name = outputs_error_name(data, text->size);
    strbuf_adds(out, "{\"output_type\": \"error\", \"ename\": ");
    json_add_string(out, name.name, name.name_size);
    strbuf_adds(out, ", \"evalue\": ");
    json_add_string(out, name.message, name.message_size);
    strbuf_adds(out, ", \"traceback\": [");
    for (size_t at = 0; at < text->size;) {
        const char *end = memchr(data + at, '\n', text->size - at);
        size_t length = end ? (size_t)(end - data) - at : text->size - at;
        strbuf_adds(out, at ? ", " : "");
        json_add_string(out, data + at, length);
        at += length + 1;
    }
    strbuf_adds(out, "]}");
}

/* Text is stored as its lines, all else as it is. */
static bool is_split(struct json_span type)
{
    struct strbuf name = STRBUF_INIT;
    json_decode(type, &name);
    const char *text = strbuf_text(&name);
    bool split = strncmp(text, "text/", 5) == 0 || strcmp(text, "image/svg+xml") == 0 ||
                 strcmp(text, "application/javascript") == 0;
    strbuf_free(&name);
    return split;
}

static void add_bundle(struct strbuf *out, const struct strbuf *json)
{
    struct strbuf error = STRBUF_INIT, text = STRBUF_INIT;
    struct json_span bundle, key, value;
    bool first = true;
    strbuf_addc(out, '{');
    if (!json_check(strbuf_text(json), json->size, &bundle, &error))
        bundle = (struct json_span){"{}", 2};
    for (size_t position = 0; json_next_member(bundle, &position, &key, &value); first = false) {
        strbuf_adds(out, first ? "" : ", ");
        strbuf_add(out, key.start, key.size);
        strbuf_adds(out, ": ");
        if (json_kind_of(value) == JSON_STRING && is_split(key)) {
            strbuf_clear(&text);
            json_decode(value, &text);
            json_add_lines(out, strbuf_text(&text), text.size);
        } else {
            strbuf_add(out, value.start, value.size);
        }
    }
    strbuf_addc(out, '}');
    strbuf_free(&text);
    strbuf_free(&error);
}

static void add_output(struct strbuf *out, const struct output *output, uint64_t execution_count)
{
    const char *text = strbuf_text(&output->text);
    switch (output->kind) {
    case OUTPUT_STREAM:
        add_stream(out, output->stream == 2 ? "stderr" : "stdout", text, output->text.size);
        break;
    case OUTPUT_DISPLAY:
        strbuf_adds(out, "{\"output_type\": \"display_data\", \"metadata\": {}, \"data\": ");
        add_bundle(out, &output->text);
        strbuf_addc(out, '}');
        break;
    case OUTPUT_RESULT:
        strbuf_addf(out,
                    "{\"output_type\": \"execute_result\", \"execution_count\": %" PRIu64
                    ", \"metadata\": {}, \"data\": ",
                    execution_count);
        add_bundle(out, &output->text);
        strbuf_addc(out, '}');
        break;
    case OUTPUT_ERROR:
        add_error(out, &output->text);
    }
}

void notebook_write_outputs(struct strbuf *out, const struct cell_record *record)
{
    strbuf_addc(out, '[');
    const struct outputs *outputs = &record->outputs;
    bool first = true;
    for (size_t i = 0; i < outputs->count; i++) {
        strbuf_adds(out, first ? "" : ", ");
        add_output(out, &outputs->items[i], record->execution_count);
        first = false;
    }
    if (outputs->dropped) {
        char note[120];
        int length =
            snprintf(note, sizeof(note), "[hermes-repl: %zu more bytes of output were not saved]\n",
                     outputs->dropped);
        strbuf_adds(out, first ? "" : ", ");
        add_stream(out, "stderr", note, (size_t)length);
    }
    strbuf_addc(out, ']');
}

static void add_code_members(struct strbuf *out, const struct document_cell *cell,
                             const struct cell_record *record)
{
    if (record->fate == FATE_UNTOUCHED) {
        strbuf_addf(out, ", \"execution_count\": %s, \"outputs\": %s",
                    cell->count ? cell->count : "null", cell->outputs ? cell->outputs : "[]");
        return;
    }
    strbuf_adds(out, ", \"execution_count\": ");
    if (record->fate == FATE_RUN && record->execution_count)
        strbuf_addf(out, "%" PRIu64, record->execution_count);
    else
        strbuf_adds(out, "null");
    strbuf_adds(out, ", \"outputs\": ");
    if (record->fate == FATE_RUN)
        notebook_write_outputs(out, record);
    else
        strbuf_adds(out, "[]");
}

static void add_metadata(struct strbuf *out, const struct document_cell *cell)
{
    strbuf_adds(out, ", \"metadata\": ");
    if (cell->metadata) {
        strbuf_adds(out, cell->metadata);
        return;
    }
    strbuf_addc(out, '{');
    for (size_t i = 0; i < cell->tag_count; i++) {
        strbuf_adds(out, i ? ", " : "\"tags\": [");
        json_add_text(out, cell->tags[i]);
    }
    strbuf_adds(out, cell->tag_count ? "]" : "");
    if (cell->title) {
        strbuf_adds(out, cell->tag_count ? ", \"title\": " : "\"title\": ");
        json_add_text(out, cell->title);
    }
    strbuf_addc(out, '}');
}

static void add_source(struct strbuf *out, const struct document *document,
                       const struct document_cell *cell)
{
    struct strbuf text = STRBUF_INIT;
    if (cell->kind != CELL_CODE)
        document_prose(document, cell, &text);
    else
        strbuf_add(&text, cell->source, cell->size);
    if (document->format == DOCUMENT_SCRIPT) {
        while (text.size && isspace((unsigned char)text.data[text.size - 1]))
            text.size--;
    }
    strbuf_adds(out, ", \"source\": ");
    json_add_lines(out, strbuf_text(&text), text.size);
    strbuf_free(&text);
}

/*
 * Ids came with 4.5, and earlier versions allow none: a document without changes keeps its version,
 * and with it what it is.
 */
static int minor_version(const struct document *document, const struct cell_record *records)
{
    bool as_it_was = document->format == DOCUMENT_NOTEBOOK && !records;
    return as_it_was || document->minor > 5 ? document->minor : 5;
}

static void add_cell(struct strbuf *out, const struct document *document,
                     const struct document_cell *cell, const struct cell_record *record)
{
    static const char *const kinds[] = {
        [CELL_CODE] = "code", [CELL_MARKDOWN] = "markdown", [CELL_RAW] = "raw"};
    strbuf_addf(out, "\"cell_type\": \"%s\"", kinds[cell->kind]);
    if (cell->kind == CELL_CODE)
        add_code_members(out, cell, record);
    add_metadata(out, cell);
    if (cell->more)
        strbuf_addf(out, ", %s", cell->more);
    add_source(out, document, cell);
}

static void add_cells(struct strbuf *out, const struct document *document,
                      const struct cell_record *records, bool with_ids)
{
    bool *keeps = xcalloc(document->count, sizeof(*keeps)), first = true;
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
        seed = (uint64_t)(uintptr_t)keeps;
    choose_ids(document, keeps);
    for (size_t i = 0; i < document->count; i++) {
        static const struct cell_record untouched = {.fate = FATE_UNTOUCHED};
        const struct document_cell *cell = &document->cells[i];
        bool header = !i && percent_is_header(cell);
        if (document->format == DOCUMENT_SCRIPT && (header || document_cell_is_blank(cell)))
            continue;
        strbuf_adds(out, first ? "{" : ", {");
        if (with_ids || (keeps[i] && !records)) {
            strbuf_adds(out, "\"id\": ");
            if (keeps[i])
                json_add_text(out, cell->id);
            else
                add_new_id(out, seed, i);
            strbuf_adds(out, ", ");
        }
        add_cell(out, document, cell, records ? &records[i] : &untouched);
        strbuf_addc(out, '}');
        first = false;
    }
    free(keeps);
}

static void add_document_metadata(struct strbuf *out, const struct document *document)
{
    if (document->metadata) {
        strbuf_adds(out, document->metadata);
        return;
    }
    strbuf_adds(out, "{\"kernelspec\": {\"display_name\": \"Python 3\", "
                     "\"language\": \"python\", \"name\": \"python3\"}, "
                     "\"language_info\": {\"name\": \"python\"}");
    if (document->format == DOCUMENT_SCRIPT && document->count &&
        percent_is_header(&document->cells[0])) {
        strbuf_adds(out, ", ");
        percent_keep_header(out, &document->cells[0]);
    }
    strbuf_addc(out, '}');
}

void notebook_write(struct strbuf *out, const struct document *document,
                    const struct cell_record *records)
{
    struct strbuf text = STRBUF_INIT, error = STRBUF_INIT;
    struct json_span whole;
    int minor = minor_version(document, records);
    strbuf_adds(&text, "{\"cells\": [");
    add_cells(&text, document, records, minor >= 5);
    strbuf_adds(&text, "], \"metadata\": ");
    add_document_metadata(&text, document);
    if (document->more)
        strbuf_addf(&text, ", %s", document->more);
    strbuf_addf(&text, ", \"nbformat\": 4, \"nbformat_minor\": %d}", minor);
    if (json_check(strbuf_text(&text), text.size, &whole, &error))
        json_pretty(out, whole);
    else
        strbuf_add(out, strbuf_text(&text), text.size); /* what was read was checked: cannot be */
    strbuf_addc(out, '\n');
    strbuf_free(&text);
    strbuf_free(&error);
}
