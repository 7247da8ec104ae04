/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a notebook: what is read can be written, and read again with the same cells. Also
 * as parameters.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "json-pretty.h"
#include "json-scan.h"
#include "magics.h"
#include "notebook-write.h"
#include "notebook.h"
#include "params.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool condition)
{
    if (!condition)
        abort();
}

/* However they are laid out. */
static bool same_json(const char *a, const char *b)
{
    struct strbuf texts[2] = {STRBUF_INIT, STRBUF_INIT}, error = STRBUF_INIT;
    struct json_span value;
    need(json_check(a, strlen(a), &value, &error));
    json_pretty(&texts[0], value);
    need(json_check(b, strlen(b), &value, &error));
    json_pretty(&texts[1], value);
    bool same = strcmp(strbuf_text(&texts[0]), strbuf_text(&texts[1])) == 0;
    strbuf_free(&texts[0]);
    strbuf_free(&texts[1]);
    return same;
}

static bool same_cells(const struct document *a, const struct document *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct document_cell *one = &a->cells[i], *two = &b->cells[i];
        if (one->kind != two->kind || one->size != two->size ||
            memcmp(one->source, two->source, one->size) != 0 || one->tag_count != two->tag_count ||
            !same_json(one->metadata, two->metadata))
            return false;
    }
    return true;
}

static void check_notebook(const struct document *document)
{
    struct strbuf out = STRBUF_INIT, error = STRBUF_INIT;
    struct document again = {.format = DOCUMENT_NOTEBOOK};
    struct cell_record *records = calloc(document->count + 1, sizeof *records);
    need(records != NULL);
    for (size_t i = 0; i < document->count; i += 2) {
        const struct document_cell *cell = &document->cells[i];
        records[i].fate = FATE_RUN;
        outputs_add_stream(&records[i].outputs, 1, cell->source, cell->size);
        outputs_set_error(&records[i].outputs, cell->source, cell->size);
    }
    notebook_write(&out, document, records);
    need(notebook_read(out.data, out.size, &again, &error));
    need(same_cells(document, &again));
    /* What was written once stays the same from then on. */
    struct strbuf twice = STRBUF_INIT;
    notebook_write(&twice, &again, NULL);
    need(twice.size == out.size && memcmp(twice.data, out.data, out.size) == 0);
    strbuf_free(&twice);
    markdown_write(&out, document, records);
    html_write(&out, document, NULL, "x");
    script_write(&out, document);
    for (size_t i = 0; i < document->count; i++)
        outputs_free(&records[i].outputs);
    free(records);
    document_free(&again);
    strbuf_free(&out);
    strbuf_free(&error);
}

static void check_params(const char *data, size_t size)
{
    struct params params = {NULL, 0, 0};
    struct strbuf error = STRBUF_INIT;
    need(params_add_json(&params, data, size, &error) || error.size > 0);
    params_free(&params);
    strbuf_free(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct document document = {.format = DOCUMENT_NOTEBOOK};
    struct strbuf error = STRBUF_INIT;
    if (notebook_read((const char *)data, size, &document, &error)) {
        check_notebook(&document);
        for (size_t i = 0; i < document.count; i++)
            free(magics_translate(document.cells[i].source, document.cells[i].size, "cell 1")
                     .source);
    } else {
        need(error.size > 0 && !strchr(strbuf_text(&error), '\n'));
    }
    check_params((const char *)data, size);
    document_free(&document);
    strbuf_free(&error);
    return 0;
}
