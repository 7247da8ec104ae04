/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a script: decoded, split, written again, its cells taken for notebook cells.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "magics.h"
#include "notebook-write.h"
#include "percent.h"
#include "pylex.h"
#include "source-text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool condition)
{
    if (!condition)
        abort();
}

static size_t count_lines(const char *text, size_t size)
{
    size_t lines = 0;
    for (size_t at = 0; at < size; lines++)
        at += pylex_line_length(text + at, size - at);
    return lines;
}

/*
 * Markers and sources, one after the other, are the text; first lines are where the sources begin.
 */
static void check_cover(const char *text, size_t size, const struct document *document)
{
    size_t at = 0;
    for (size_t i = 0; i < document->count; i++) {
        const struct document_cell *cell = &document->cells[i];
        need((i > 0) == (cell->marker != NULL));
        if (cell->marker) {
            size_t rest, length = strlen(cell->marker);
            need(percent_is_marker(cell->marker, length, &rest) || memchr(text + at, 0, size - at));
            at += pylex_line_length(text + at, size - at);
        }
        need(cell->first_line == count_lines(text, at) + 1);
        need(cell->size <= size - at && memcmp(cell->source, text + at, cell->size) == 0);
        at += cell->size;
    }
    need(at == size);
}

/* A translated cell has as many lines, unless a cell magic took it whole. */
static void check_magics(const struct document_cell *cell)
{
    struct magics_result result = magics_translate(cell->source, cell->size, "cell 1");
    need(!result.source || strlen(result.source) <= result.size);
    free(result.source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct strbuf text = STRBUF_INIT, error = STRBUF_INIT, out = STRBUF_INIT;
    struct document document = {.format = DOCUMENT_SCRIPT};
    if (source_decode((const char *)data, size, &text, &error)) {
        const char *source = strbuf_text(&text);
        percent_read(source, text.size, &document);
        check_cover(source, text.size, &document);
        for (size_t i = 0; i < document.count; i++)
            check_magics(&document.cells[i]);
        struct cell_record *records = calloc(document.count, sizeof *records);
        need(records != NULL);
        script_write(&out, &document);
        notebook_write(&out, &document, records);
        markdown_write(&out, &document, records);
        free(records);
    } else {
        need(error.size > 0 && !strchr(strbuf_text(&error), '\n'));
    }
    document_free(&document);
    strbuf_free(&text);
    strbuf_free(&error);
    strbuf_free(&out);
    return 0;
}
