/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "store-export.h"

#include <stdlib.h>
#include <string.h>

#include "atomic-file.h"
#include "document.h"
#include "notebook-write.h"
#include "outputs.h"
#include "xalloc.h"

struct export
{
    struct document document;
    struct cell_record *records;
    size_t capacity;
};

static bool add_cell(void *context, const struct store_cell *cell)
{
    struct export *export = context;
    export->records =
        xgrow(export->records, export->document.count, &export->capacity, sizeof(*export->records));
    struct cell_record *record = &export->records[export->document.count];
    struct document_cell *copy = document_add(&export->document);
    copy->kind = CELL_CODE;
    copy->source = xmemdup0(cell->source, cell->source_size);
    copy->size = cell->source_size;
    *record = (struct cell_record){.fate = FATE_RUN, .execution_count = cell->execution_count};
    if (cell->output_size)
        outputs_add_stream(&record->outputs, 1, cell->output, cell->output_size);
    return true;
}

static void export_free(struct export *export)
{
    for (size_t i = 0; i < export->document.count; i++)
        outputs_free(&export->records[i].outputs);
    free(export->records);
    document_free(&export->document);
}

static bool ends_with(const char *path, const char *suffix)
{
    size_t length = strlen(path), end = strlen(suffix);
    return length > end && strcasecmp(path + length - end, suffix) == 0;
}

static void write_script(struct strbuf *out, const struct document *document,
                         const struct cell_record *records)
{
    (void)records;
    script_write(out, document);
}

bool store_export(struct store *store, const char *session, const char *path, struct strbuf *error)
{
    static const struct {
        const char *suffix;
        void (*write)(struct strbuf *out, const struct document *document,
                      const struct cell_record *records);
    } formats[] = {{".ipynb", notebook_write}, {".py", write_script}, {".md", markdown_write}};
    size_t count = sizeof(formats) / sizeof(formats[0]), format = 0;
    struct export export = {.document = {.format = DOCUMENT_NOTEBOOK}};
    struct strbuf text = STRBUF_INIT;
    while (format < count && !ends_with(path, formats[format].suffix))
        format++;
    if (format == count) {
        strbuf_setf(error, "--export: %s should end in .ipynb, .py or .md", path);
        return false;
    }
    bool good = atomic_file_check(path, error);
    if (good && !store_read_session(store, session, SIZE_MAX, add_cell, &export)) {
        strbuf_setf(error, "the history cannot be read now");
        good = false;
    }
    if (good) {
        formats[format].write(&text, &export.document, export.records);
        good = atomic_file_write(path, strbuf_text(&text), text.size, error);
    }
    strbuf_free(&text);
    export_free(&export);
    return good;
}
