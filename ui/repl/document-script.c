/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "document-script.h"

#include <stdlib.h>
#include <string.h>

#include "json-write.h"
#include "percent.h"
#include "source-text.h"
#include "xalloc.h"

#define MARK "\xEF\xBB\xBF"

/* The first cell is one only if there is something in it, or nothing else. */
static void take_head(struct document_script *script, struct document *document)
{
    struct document_cell *first = document->cells;
    if (document->count < 2 || first->marker || !document_cell_is_blank(first))
        return;
    script->head = xmemdup0(first->source, first->size);
    document_cell_free(first);
    memmove(first, first + 1, --document->count * sizeof(*first));
}

bool document_script_read(struct document_script *script, struct document *document,
                          const char *bytes, size_t size, struct strbuf *error)
{
    struct strbuf text = STRBUF_INIT;
    if (!source_decode(bytes, size, &text, error))
        return false;
    script->mark = size >= 3 && memcmp(bytes, MARK, 3) == 0;
    size_t skip = script->mark ? 3 : 0;
    script->foreign = text.size != size - skip ||
                      (text.size && memcmp(strbuf_text(&text), bytes + skip, text.size) != 0);
    const char *line = memchr(strbuf_text(&text), '\n', text.size);
    script->crlf = line && line > text.data && line[-1] == '\r';
    percent_read(strbuf_text(&text), text.size, document);
    take_head(script, document);
    strbuf_free(&text);
    return true;
}

static void add_marker(struct strbuf *out, const struct document_cell *cell)
{
    if (cell->marker) {
        strbuf_adds(out, cell->marker);
        return;
    }
    strbuf_adds(out, "# %%");
    if (cell->title)
        strbuf_addf(out, " %s", cell->title);
    strbuf_adds(out, cell->kind == CELL_MARKDOWN ? " [markdown]"
                     : cell->kind == CELL_RAW    ? " [raw]"
                                                 : "");
    for (size_t i = 0; i < cell->tag_count; i++) {
        strbuf_adds(out, i ? ", " : " tags=[");
        json_add_text(out, cell->tags[i]);
    }
    strbuf_adds(out, cell->tag_count ? "]" : "");
}

static unsigned count_lines(const char *text, size_t size)
{
    unsigned lines = 0;
    for (size_t i = 0; i < size; i++) /* as Python counts them: also a lone \r ends one */
        lines += text[i] == '\n' || (text[i] == '\r' && (i + 1 >= size || text[i + 1] != '\n'));
    return lines;
}

void document_script_write(const struct document_script *script, struct document *document,
                           struct strbuf *out)
{
    const char *end = script->crlf ? "\r\n" : "\n";
    size_t counted = out->size;
    unsigned line = 1;
    strbuf_adds(out, script->mark ? MARK : "");
    strbuf_adds(out, script->head ? script->head : "");
    for (size_t i = 0; i < document->count; i++) {
        struct document_cell *cell = &document->cells[i];
        if (i && out->size && out->data[out->size - 1] != '\n')
            strbuf_adds(out, end);
        if (cell->marker || i || script->head || cell->kind != CELL_CODE) {
            add_marker(out, cell);
            strbuf_adds(out, end);
        }
        line += count_lines(strbuf_text(out) + counted, out->size - counted);
        counted = out->size;
        cell->first_line = line;
        strbuf_add(out, cell->source, cell->size);
    }
}

void document_script_free(struct document_script *script)
{
    free(script->head);
    *script = (struct document_script){.head = NULL};
}
