/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "document-file.h"

#include <stdlib.h>
#include <string.h>

#include "atomic-file.h"
#include "notebook.h"
#include "percent.h"
#include "source-text.h"

enum document_file document_file_type(const char *path)
{
    static const struct {
        const char *ending;
        enum document_file type;
    } types[] = {{".ipynb", DOCUMENT_FILE_IPYNB},
                 {".py", DOCUMENT_FILE_PY},
                 {".md", DOCUMENT_FILE_MD},
                 {".html", DOCUMENT_FILE_HTML}};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        size_t end = strlen(types[i].ending);
        if (length > end && strcasecmp(path + length - end, types[i].ending) == 0)
            return types[i].type;
    }
    return DOCUMENT_FILE_NONE;
}

bool document_load(struct document *document, const char *path, struct strbuf *error)
{
    struct strbuf bytes = STRBUF_INIT, text = STRBUF_INIT;
    if (!source_read_file(path, &bytes, error))
        return false;
    bool good;
    if (document_file_type(path) == DOCUMENT_FILE_IPYNB) {
        good = notebook_read(strbuf_text(&bytes), bytes.size, document, error);
    } else {
        good = source_decode(strbuf_text(&bytes), bytes.size, &text, error);
        if (good)
            percent_read(strbuf_text(&text), text.size, document);
    }
    if (!good) {
        char *fault = strbuf_steal(error);
        strbuf_setf(error, "%s: %s", path, fault);
        free(fault);
    }
    strbuf_free(&bytes);
    strbuf_free(&text);
    return good;
}

void document_compose(struct strbuf *out, enum document_file type, const struct document *document,
                      const struct cell_record *records, const char *name)
{
    switch (type) {
    case DOCUMENT_FILE_PY:
        script_write(out, document);
        break;
    case DOCUMENT_FILE_MD:
        markdown_write(out, document, records);
        break;
    case DOCUMENT_FILE_HTML:
        html_write(out, document, records, name);
        break;
    case DOCUMENT_FILE_NONE:
    case DOCUMENT_FILE_IPYNB:
        notebook_write(out, document, records);
    }
}

int document_convert(const char *from, const char *to, struct strbuf *error)
{
    struct document document = {.count = 0};
    struct strbuf text = STRBUF_INIT;
    const char *slash = strrchr(from, '/');
    int status = 2;
    if (document_file_type(to) == DOCUMENT_FILE_NONE) {
        strbuf_setf(error, "--convert: %s should end in .ipynb, .py, .md or .html", to);
    } else if (document_load(&document, from, error)) {
        document_compose(&text, document_file_type(to), &document, NULL, slash ? slash + 1 : from);
        status = atomic_file_write(to, strbuf_text(&text), text.size, error) ? 0 : 125;
    }
    document_free(&document);
    strbuf_free(&text);
    return status;
}
