/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "document.h"

#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

struct document_cell *document_add(struct document *document)
{
    document_insert(document, document->count, (struct document_cell){.kind = CELL_CODE});
    return &document->cells[document->count - 1];
}

void document_insert(struct document *document, size_t at, struct document_cell cell)
{
    document->cells =
        xgrow(document->cells, document->count, &document->capacity, sizeof(*document->cells));
    memmove(document->cells + at + 1, document->cells + at,
            (document->count - at) * sizeof(*document->cells));
    document->cells[at] = cell;
    document->count++;
}

void document_cell_free(struct document_cell *cell)
{
    for (size_t i = 0; i < cell->tag_count; i++)
        free(cell->tags[i]);
    free(cell->tags);
    free(cell->source);
    free(cell->title);
    free(cell->marker);
    free(cell->id);
    free(cell->metadata);
    free(cell->outputs);
    free(cell->count);
    free(cell->more);
}

static char *copy_text(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

struct document_cell document_cell_copy(const struct document_cell *cell)
{
    struct document_cell copy = *cell;
    copy.source = cell->source ? xmemdup0(cell->source, cell->size) : NULL;
    copy.title = copy_text(cell->title);
    copy.marker = copy_text(cell->marker);
    copy.id = copy_text(cell->id);
    copy.metadata = copy_text(cell->metadata);
    copy.outputs = copy_text(cell->outputs);
    copy.count = copy_text(cell->count);
    copy.more = copy_text(cell->more);
    copy.tags = NULL;
    copy.tag_count = copy.tag_capacity = 0;
    for (size_t i = 0; i < cell->tag_count; i++)
        document_cell_add_tag(&copy, cell->tags[i]);
    return copy;
}

void document_free(struct document *document)
{
    for (size_t i = 0; i < document->count; i++)
        document_cell_free(&document->cells[i]);
    free(document->cells);
    free(document->metadata);
    free(document->more);
    *document = (struct document){.format = document->format};
}

void document_cell_add_tag(struct document_cell *cell, const char *tag)
{
    cell->tags = xgrow(cell->tags, cell->tag_count, &cell->tag_capacity, sizeof(*cell->tags));
    cell->tags[cell->tag_count++] = xstrdup(tag);
}

bool document_cell_has_tag(const struct document_cell *cell, const char *tag)
{
    for (size_t i = 0; i < cell->tag_count; i++) {
        if (strcmp(cell->tags[i], tag) == 0)
            return true;
    }
    return false;
}

bool document_cell_is_blank(const struct document_cell *cell)
{
    for (size_t i = 0; i < cell->size; i++) {
        if (!cell->source[i] || !strchr(" \t\r\n\f\v", cell->source[i]))
            return false;
    }
    return true;
}

bool document_cell_runs(const struct document_cell *cell)
{
    return cell->kind == CELL_CODE && !document_cell_is_blank(cell);
}
