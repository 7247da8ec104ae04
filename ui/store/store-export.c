/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "store-export.h"

#include <stdlib.h>
#include <string.h>

#include "atomic-file.h"
#include "document-file.h"
#include "notebook-write.h"
#include "outputs.h"
#include "xalloc.h"

/* Of which file a cell is, and its number there. */
struct origin {
    char *file; /* NULL: it was typed */
    unsigned number;
};

struct export
{
    struct document document;
    struct cell_record *records;
    struct origin *origins;
    size_t capacity, origin_capacity;
};

/*
 * Where the traceback begins that ends the output of a cell that failed, with the errors that led
 * to it; the output's size: there is none.
 */
static size_t find_error(const struct store_cell *cell)
{
    static const char head[] = "Traceback (most recent call last):\n";
    const char *at = cell->output_size ? cell->output : NULL;
    if (!cell->status || strcmp(cell->status, "error") != 0)
        at = NULL;
    while (at && (at = strstr(at, head)) && at > cell->output && at[-1] != '\n')
        at++;
    return at ? (size_t)(at - cell->output) : cell->output_size;
}

static void add_output(struct cell_record *record, const struct store_cell *cell)
{
    size_t error = find_error(cell), end = cell->output_size;
    if (error)
        outputs_add_stream(&record->outputs, 1, cell->output, error);
    while (end > error && cell->output[end - 1] == '\n')
        end--;
    if (end > error)
        outputs_set_error(&record->outputs, cell->output + error, end - error);
}

static bool is_of(const struct origin *origin, const char *file)
{
    return origin->file && file && strcmp(origin->file, file) == 0;
}

/* Cells of this file, all of an earlier run. */
static void drop_run(struct export *export, const char *file)
{
    size_t kept = 0;
    for (size_t i = 0; i < export->document.count; i++) {
        if (is_of(&export->origins[i], file)) {
            document_cell_free(&export->document.cells[i]);
            outputs_free(&export->records[i].outputs);
            free(export->origins[i].file);
            continue;
        }
        export->document.cells[kept] = export->document.cells[i];
        export->records[kept] = export->records[i];
        export->origins[kept++] = export->origins[i];
    }
    export->document.count = kept;
}

/* A batch numbers the cells of its file from the first each time. */
static bool begins_anew(const struct export *export, const struct store_cell *cell)
{
    size_t i = export->document.count;
    while (i && !is_of(&export->origins[i - 1], cell->origin))
        i--;
    return i && cell->number <= export->origins[i - 1].number;
}

static bool add_cell(void *context, const struct store_cell *cell)
{
    struct export *export = context;
    if (cell->origin && begins_anew(export, cell))
        drop_run(export, cell->origin);
    size_t count = export->document.count;
    export->records = xgrow(export->records, count, &export->capacity, sizeof(*export->records));
    export->origins =
        xgrow(export->origins, count, &export->origin_capacity, sizeof(*export->origins));
    export->origins[count] =
        (struct origin){cell->origin ? xstrdup(cell->origin) : NULL, cell->number};
    struct cell_record *record = &export->records[count];
    struct document_cell *copy = document_add(&export->document);
    copy->kind = CELL_CODE;
    copy->source = xmemdup0(cell->source, cell->source_size);
    copy->size = cell->source_size;
    *record = (struct cell_record){.fate = FATE_RUN, .execution_count = cell->execution_count};
    add_output(record, cell);
    return true;
}

static void export_free(struct export *export)
{
    for (size_t i = 0; i < export->document.count; i++) {
        outputs_free(&export->records[i].outputs);
        free(export->origins[i].file);
    }
    free(export->records);
    free(export->origins);
    document_free(&export->document);
}

bool store_export(struct store *store, const char *session, const char *path, struct strbuf *error)
{
    enum document_file type = document_file_type(path);
    struct export export = {.document = {.format = DOCUMENT_NOTEBOOK}};
    struct strbuf text = STRBUF_INIT;
    if (type == DOCUMENT_FILE_NONE) {
        strbuf_setf(error, "--export: %s should end in .ipynb, .py, .md or .html", path);
        return false;
    }
    bool good = atomic_file_check(path, error);
    if (good && !store_read_session(store, session, SIZE_MAX, add_cell, &export)) {
        strbuf_setf(error, "the history cannot be read now");
        good = false;
    }
    if (good) {
        document_compose(&text, type, &export.document, export.records, session);
        good = atomic_file_write(path, strbuf_text(&text), text.size, error);
    }
    strbuf_free(&text);
    export_free(&export);
    return good;
}
