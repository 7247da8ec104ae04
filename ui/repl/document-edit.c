/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "document-edit.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "notebook-write.h"
#include "pylex.h"
#include "xalloc.h"

/* Cells that are not in the document now, and how many stand there in their place. */
struct document_change {
    size_t at, here;
    struct document_cell *cells;
    size_t count;
};

/* ---- the one primitive ---------------------------------------------------------------------- */

/* Exchange the change's cells with those in the document: done again, it is undone. */
static void exchange(struct document *document, struct document_change *change)
{
    struct document_cell *out = xcalloc(change->here + 1, sizeof(*out));
    size_t here = change->here, rest = document->count - change->at - here;
    while (document->capacity <= document->count + change->count)
        document->cells = xgrow(document->cells, document->capacity, &document->capacity,
                                sizeof(*document->cells));
    struct document_cell *place = document->cells + change->at;
    memcpy(out, place, here * sizeof(*out));
    memmove(place + change->count, place + here, rest * sizeof(*out));
    memcpy(place, change->cells, change->count * sizeof(*out));
    document->count += change->count - here;
    free(change->cells);
    change->cells = out;
    change->here = change->count;
    change->count = here;
}

static void change_free(struct document_change *change)
{
    for (size_t i = 0; i < change->count; i++)
        document_cell_free(&change->cells[i]);
    free(change->cells);
}

static void drop_undone(struct document_edits *edits)
{
    while (edits->count > edits->done)
        change_free(&edits->changes[--edits->count]);
    if (edits->saved != SIZE_MAX && edits->saved > edits->done)
        edits->saved = SIZE_MAX;
}

/* Put `count` cells (taken) in the place of `here` cells. */
static void splice(struct document_edits *edits, size_t at, size_t here,
                   const struct document_cell *cells, size_t count)
{
    struct document_change change = {.at = at, .here = here, .count = count};
    change.cells = xcalloc(count + 1, sizeof(*change.cells));
    if (count)
        memcpy(change.cells, cells, count * sizeof(*cells));
    drop_undone(edits);
    edits->changes = xgrow(edits->changes, edits->count, &edits->capacity, sizeof(*edits->changes));
    exchange(edits->document, &change);
    edits->changes[edits->count++] = change;
    edits->done++;
}

/* ---- life ----------------------------------------------------------------------------------- */

void document_edits_init(struct document_edits *edits, struct document *document)
{
    *edits = (struct document_edits){.document = document};
    for (size_t i = 0; i < document->count; i++) {
        if (document->cells[i].key > edits->last_key)
            edits->last_key = document->cells[i].key;
    }
    for (size_t i = 0; i < document->count; i++) {
        if (!document->cells[i].key)
            document->cells[i].key = ++edits->last_key;
    }
}

void document_edits_free(struct document_edits *edits)
{
    for (size_t i = 0; i < edits->count; i++)
        change_free(&edits->changes[i]);
    free(edits->changes);
    *edits = (struct document_edits){.document = NULL};
}

void document_edits_mark_saved(struct document_edits *edits)
{
    edits->saved = edits->done;
}

bool document_edits_changed(const struct document_edits *edits)
{
    return edits->saved != edits->done;
}

size_t document_edit_find(const struct document *document, uint64_t key)
{
    size_t at = 0;
    while (at < document->count && document->cells[at].key != key)
        at++;
    return at;
}

/* ---- text ----------------------------------------------------------------------------------- */

size_t document_edit_shown_size(const struct document_cell *cell)
{
    size_t size = cell->size;
    while (size && isspace((unsigned char)cell->source[size - 1]))
        size--;
    return size;
}

static const char *line_end(const struct document_edits *edits)
{
    return edits->crlf ? "\r\n" : "\n";
}

static void set_source(struct document_cell *cell, struct strbuf *text)
{
    size_t size = text->size;
    free(cell->source);
    cell->source = xmemdup0(strbuf_text(text), size);
    cell->size = size;
    strbuf_free(text);
}

/* In a script a cell ends with its line, and before another one a blank line is usual. */
static void end_with_blank_line(const struct document_edits *edits, struct document_cell *cell)
{
    struct strbuf text = STRBUF_INIT;
    size_t shown = document_edit_shown_size(cell), lines = 0;
    for (size_t i = shown; i < cell->size; i++)
        lines += cell->source[i] == '\n';
    strbuf_add(&text, cell->source, cell->size);
    for (; lines < 2; lines++)
        strbuf_adds(&text, line_end(edits));
    set_source(cell, &text);
}

/* ---- whole cells ---------------------------------------------------------------------------- */

static struct document_cell new_cell(struct document_edits *edits, enum cell_kind kind)
{
    bool notebook = edits->document->format == DOCUMENT_NOTEBOOK;
    struct document_cell cell = {.kind = kind, .first_line = 1, .key = ++edits->last_key};
    cell.source = xstrdup(notebook ? "" : line_end(edits));
    cell.size = strlen(cell.source);
    cell.metadata = notebook ? xstrdup("{}") : NULL;
    return cell;
}

void document_edit_insert(struct document_edits *edits, size_t at, uint64_t *ret_key)
{
    const struct document *document = edits->document;
    struct document_cell cells[2];
    size_t count = 0, from = at;
    if (document->format == DOCUMENT_SCRIPT && at > 0) {
        from = at - 1;
        cells[count] = document_cell_copy(&document->cells[from]);
        end_with_blank_line(edits, &cells[count++]);
    }
    cells[count] = new_cell(edits, CELL_CODE);
    if (document->format == DOCUMENT_SCRIPT && at < document->count)
        end_with_blank_line(edits, &cells[count]);
    *ret_key = cells[count++].key;
    splice(edits, from, count - 1, cells, count);
}

void document_edit_delete(struct document_edits *edits, size_t at)
{
    splice(edits, at, 1, NULL, 0);
}

bool document_edit_move(struct document_edits *edits, size_t at, bool down, struct strbuf *error)
{
    const struct document *document = edits->document;
    if (down ? at + 1 >= document->count : at == 0) {
        strbuf_setf(error, down ? "it is the last cell" : "it is the first cell");
        return false;
    }
    size_t first = down ? at : at - 1;
    struct document_cell cells[2] = {document_cell_copy(&document->cells[first + 1]),
                                     document_cell_copy(&document->cells[first])};
    if (document->format == DOCUMENT_SCRIPT)
        end_with_blank_line(edits, &cells[0]);
    splice(edits, first, 2, cells, 2);
    return true;
}

/* ---- split and merge ------------------------------------------------------------------------ */

/* What a part of a cell, or two as one, showed is not known; it is another cell than those were. */
static void forget_outputs(struct document_edits *edits, struct document_cell *cell)
{
    free(cell->outputs);
    free(cell->count);
    cell->outputs = cell->count = NULL;
    cell->key = ++edits->last_key;
}

bool document_edit_split(struct document_edits *edits, size_t at, size_t line, struct strbuf *error)
{
    const struct document_cell *cell = &edits->document->cells[at];
    bool notebook = edits->document->format == DOCUMENT_NOTEBOOK;
    size_t cut = 0, lines = 1, shown = document_edit_shown_size(cell);
    for (; lines < line && cut < shown; lines++)
        cut += pylex_line_length(cell->source + cut, cell->size - cut);
    if (lines < line || cut == 0 || cut >= shown) {
        strbuf_setf(error, "a cell is split before a line of it from the second on, not %zu", line);
        return false;
    }
    struct document_cell parts[2] = {document_cell_copy(cell), new_cell(edits, cell->kind)};
    struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;
    strbuf_add(&first, cell->source, notebook ? pylex_trimmed(cell->source, cut) : cut);
    strbuf_add(&second, cell->source + cut, cell->size - cut);
    set_source(&parts[0], &first);
    set_source(&parts[1], &second);
    if (!notebook)
        end_with_blank_line(edits, &parts[0]);
    forget_outputs(edits, &parts[0]);
    splice(edits, at, 1, parts, 2);
    return true;
}

bool document_edit_merge(struct document_edits *edits, size_t at, struct strbuf *error)
{
    const struct document *document = edits->document;
    if (at + 1 >= document->count) {
        strbuf_setf(error, "there is no cell below to merge with");
        return false;
    }
    const struct document_cell *first = &document->cells[at], *second = first + 1;
    if (first->kind != second->kind) {
        strbuf_setf(error, "only cells of one kind can be merged; :kind changes one");
        return false;
    }
    if (first->more && second->more) {
        strbuf_setf(error, "both cells have attachments, which one cell cannot have");
        return false;
    }
    struct document_cell whole = document_cell_copy(first);
    struct strbuf text = STRBUF_INIT;
    size_t shown = document_edit_shown_size(first);
    strbuf_add(&text, first->source, shown);
    if (shown)
        strbuf_adds(&text, line_end(edits));
    if (shown && first->kind == CELL_MARKDOWN && document->format == DOCUMENT_NOTEBOOK)
        strbuf_addc(&text, '\n');
    strbuf_add(&text, second->source, second->size);
    set_source(&whole, &text);
    if (!whole.more && second->more)
        whole.more = xstrdup(second->more);
    for (size_t i = 0; i < second->tag_count && !first->metadata; i++) {
        if (!document_cell_has_tag(&whole, second->tags[i]))
            document_cell_add_tag(&whole, second->tags[i]);
    }
    forget_outputs(edits, &whole);
    splice(edits, at, 2, &whole, 1);
    return true;
}

/* ---- kind ----------------------------------------------------------------------------------- */

/* A script's marker with another kind: the rest of it stays. */
static void set_marker_kind(struct document_cell *cell, enum cell_kind kind)
{
    static const char *const words[] = {" [markdown]", " [md]", " [raw]", " [code]"};
    struct strbuf marker = STRBUF_INIT;
    if (!cell->marker)
        return; /* it gets one when it is written */
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char *word = strcasestr(cell->marker, words[i]);
        if (word)
            memmove(word, word + strlen(words[i]), strlen(word + strlen(words[i])) + 1);
    }
    char *title = cell->title ? strstr(cell->marker, cell->title) : NULL;
    size_t at = strcspn(cell->marker, "%");
    at += strspn(cell->marker + at, "%");
    if (title)
        at = (size_t)(title - cell->marker) + strlen(cell->title);
    strbuf_add(&marker, cell->marker, at);
    strbuf_adds(&marker, kind == CELL_MARKDOWN ? " [markdown]" : kind == CELL_RAW ? " [raw]" : "");
    strbuf_adds(&marker, cell->marker + at);
    free(cell->marker);
    cell->marker = strbuf_steal(&marker);
}

/* Prose stands in comments there. */
static void set_script_text(struct document_edits *edits, struct document_cell *cell,
                            enum cell_kind kind)
{
    struct strbuf text = STRBUF_INIT;
    if (kind == CELL_CODE)
        document_prose(edits->document, cell, &text);
    size_t shown = document_edit_shown_size(cell);
    for (size_t at = 0; kind != CELL_CODE && at < shown;) {
        size_t length = pylex_line_length(cell->source + at, shown - at);
        strbuf_adds(&text, pylex_trimmed(cell->source + at, length) ? "# " : "#");
        strbuf_add(&text, cell->source + at, length);
        at += length;
    }
    if (kind != CELL_CODE)
        strbuf_add(&text, cell->source + shown, cell->size - shown);
    set_source(cell, &text);
}

void document_edit_set_kind(struct document_edits *edits, size_t at, enum cell_kind kind)
{
    const struct document *document = edits->document;
    if (document->cells[at].kind == kind)
        return;
    struct document_cell cell = document_cell_copy(&document->cells[at]);
    bool was_code = cell.kind == CELL_CODE, is_code = kind == CELL_CODE;
    if (document->format == DOCUMENT_SCRIPT) {
        if (was_code != is_code)
            set_script_text(edits, &cell, kind);
        set_marker_kind(&cell, kind);
    }
    if (is_code) { /* code has no attachments */
        free(cell.more);
        cell.more = NULL;
    }
    cell.kind = kind;
    forget_outputs(edits, &cell);
    splice(edits, at, 1, &cell, 1);
}

/* ---- source --------------------------------------------------------------------------------- */

/* Lines as a person typed them, as the file has them. */
static void add_lines(struct strbuf *out, const struct document_edits *edits, const char *text,
                      size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\n' && edits->crlf && (!i || text[i - 1] != '\r'))
            strbuf_addc(out, '\r');
        strbuf_addc(out, text[i]);
    }
}

bool document_edit_set_source(struct document_edits *edits, size_t at, const char *source,
                              size_t size)
{
    const struct document *document = edits->document;
    const struct document_cell *old = &document->cells[at];
    bool script = document->format == DOCUMENT_SCRIPT;
    size_t shown = document_edit_shown_size(old);
    struct strbuf text = STRBUF_INIT;
    while (script && size && isspace((unsigned char)source[size - 1]))
        size--;
    add_lines(&text, edits, source, size);
    if (script && shown < old->size)
        strbuf_add(&text, old->source + shown, old->size - shown);
    else if (script)
        strbuf_adds(&text, line_end(edits));
    if (text.size == old->size && memcmp(strbuf_text(&text), old->source, old->size) == 0) {
        strbuf_free(&text);
        return false;
    }
    struct document_cell cell = document_cell_copy(old);
    set_source(&cell, &text);
    splice(edits, at, 1, &cell, 1);
    return true;
}

/* ---- undo ----------------------------------------------------------------------------------- */

static uint64_t look_at(const struct document *document, const struct document_change *change)
{
    size_t at = change->at + (change->here > 1 ? change->here - 1 : 0);
    if (at >= document->count)
        at = document->count - 1;
    return document->count ? document->cells[at].key : 0;
}

bool document_edit_undo(struct document_edits *edits, uint64_t *ret_key)
{
    if (!edits->done)
        return false;
    struct document_change *change = &edits->changes[--edits->done];
    exchange(edits->document, change);
    *ret_key = look_at(edits->document, change);
    return true;
}

bool document_edit_redo(struct document_edits *edits, uint64_t *ret_key)
{
    if (edits->done == edits->count)
        return false;
    struct document_change *change = &edits->changes[edits->done++];
    exchange(edits->document, change);
    *ret_key = look_at(edits->document, change);
    return true;
}

/* ---- ids ------------------------------------------------------------------------------------ */

void document_edit_give_ids(struct document *document)
{
    for (size_t i = 0; i < document->count; i++) {
        struct document_cell *cell = &document->cells[i];
        uint64_t random = 0;
        if (cell->id)
            continue;
        if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
            random = (uint64_t)(uintptr_t)cell->source ^ cell->key << 40;
        cell->id = xasprintf("%016" PRIx64, random);
    }
}
