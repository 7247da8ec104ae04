/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "notebook.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "json-scan.h"
#include "xalloc.h"

static char *span_copy(struct json_span span)
{
    return xmemdup0(span.start, span.size);
}

/* Append "name": value to the members that are kept as they are. */
static void keep_member(char **more, struct json_span key, struct json_span value)
{
    struct strbuf text = STRBUF_INIT;
    if (*more)
        strbuf_addf(&text, "%s,\n", *more);
    strbuf_add(&text, key.start, key.size);
    strbuf_adds(&text, ": ");
    strbuf_add(&text, value.start, value.size);
    free(*more);
    *more = strbuf_steal(&text);
}

bool notebook_text(struct json_span value, struct strbuf *text)
{
    if (json_kind_of(value) == JSON_STRING) {
        json_decode(value, text);
        return true;
    }
    if (json_kind_of(value) != JSON_ARRAY)
        return false;
    struct json_span line;
    for (size_t position = 0; json_next_element(value, &position, &line);) {
        if (json_kind_of(line) != JSON_STRING)
            return false;
        json_decode(line, text);
    }
    return true;
}

/* Tags and title out of a cell's metadata. */
static void read_metadata(struct document_cell *cell)
{
    cJSON *metadata = cJSON_Parse(cell->metadata);
    const cJSON *tag;
    cJSON_ArrayForEach(tag, cJSON_GetObjectItemCaseSensitive(metadata, "tags"))
    {
        if (cJSON_IsString(tag))
            document_cell_add_tag(cell, tag->valuestring);
    }
    const cJSON *title = cJSON_GetObjectItemCaseSensitive(metadata, "title");
    if (!title)
        title = cJSON_GetObjectItemCaseSensitive(metadata, "name");
    if (cJSON_IsString(title) && title->valuestring[0])
        cell->title = xstrdup(title->valuestring);
    cJSON_Delete(metadata);
}

static bool set_kind(struct document_cell *cell, struct json_span type)
{
    if (json_is_text(type, "code"))
        cell->kind = CELL_CODE;
    else if (json_is_text(type, "markdown"))
        cell->kind = CELL_MARKDOWN;
    else if (json_is_text(type, "raw"))
        cell->kind = CELL_RAW;
    else
        return false;
    return true;
}

static void keep_id(struct document_cell *cell, struct json_span value)
{
    struct strbuf id = STRBUF_INIT;
    if (json_kind_of(value) == JSON_STRING)
        json_decode(value, &id);
    cell->id = strbuf_steal(&id);
}

/* One member of a cell; NULL, or what is wrong with it. */
static const char *read_member(struct document_cell *cell, struct json_span key,
                               struct json_span value, bool *ret_typed)
{
    struct strbuf source = STRBUF_INIT;
    if (json_is_text(key, "cell_type")) {
        *ret_typed = true;
        return set_kind(cell, value) ? NULL : "has an unknown cell_type";
    }
    if (json_is_text(key, "source")) {
        bool good = notebook_text(value, &source);
        free(cell->source);
        cell->size = source.size;
        cell->source = strbuf_steal(&source);
        return good ? NULL : "has a source that is no text";
    }
    if (json_is_text(key, "metadata")) {
        free(cell->metadata);
        cell->metadata = span_copy(value);
        return json_kind_of(value) == JSON_OBJECT ? NULL : "has metadata that is no object";
    }
    if (json_is_text(key, "id")) {
        free(cell->id); /* of members of one name the last is meant, as in Python */
        keep_id(cell, value);
    } else if (json_is_text(key, "outputs") && json_kind_of(value) == JSON_ARRAY) {
        free(cell->outputs);
        cell->outputs = span_copy(value);
    } else if (json_is_text(key, "execution_count")) {
        free(cell->count);
        cell->count = span_copy(value);
    } else if (!json_is_text(key, "outputs")) {
        keep_member(&cell->more, key, value);
    }
    return NULL;
}

static const char *read_cell(struct document *document, struct json_span object)
{
    if (json_kind_of(object) != JSON_OBJECT)
        return "is no object";
    struct document_cell *cell = document_add(document);
    struct json_span key, value;
    bool typed = false;
    for (size_t position = 0; json_next_member(object, &position, &key, &value);) {
        const char *fault = read_member(cell, key, value, &typed);
        if (fault)
            return fault;
    }
    cell->first_line = 1;
    if (!typed)
        return "has no cell_type";
    if (!cell->source)
        return "has no source";
    if (!cell->metadata)
        cell->metadata = xstrdup("{}");
    read_metadata(cell);
    return NULL;
}

/* NULL, or a language that is not Python. */
static char *foreign_language(const char *metadata_text)
{
    static const char *const places[][2] = {{"language_info", "name"}, {"kernelspec", "language"}};
    char *language = NULL;
    cJSON *metadata = metadata_text ? cJSON_Parse(metadata_text) : NULL;
    for (size_t i = 0; i < 2; i++) {
        const cJSON *part = cJSON_GetObjectItemCaseSensitive(metadata, places[i][0]);
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(part, places[i][1]);
        if (!cJSON_IsString(name) || !name->valuestring[0])
            continue;
        if (strncasecmp(name->valuestring, "python", 6) != 0 &&
            strncasecmp(name->valuestring, "ipython", 7) != 0)
            language = xstrdup(name->valuestring);
        break;
    }
    cJSON_Delete(metadata);
    return language;
}

static bool check_version(struct json_span top, struct strbuf *error)
{
    struct json_span version;
    if (!json_get(top, "nbformat", &version) || json_kind_of(version) != JSON_NUMBER) {
        strbuf_setf(error, "no notebook: there is no member nbformat");
        return false;
    }
    if (version.size == 1 && version.start[0] == '4')
        return true;
    strbuf_setf(error,
                "notebook format %.*s is not supported, only 4; `jupyter nbconvert --to notebook` "
                "converts it",
                (int)(version.size < 20 ? version.size : 20), version.start);
    return false;
}

static bool read_cells(struct json_span cells, struct document *document, struct strbuf *error)
{
    struct json_span cell;
    size_t number = 1;
    for (size_t position = 0; json_next_element(cells, &position, &cell); number++) {
        const char *fault = read_cell(document, cell);
        if (fault) {
            strbuf_setf(error, "invalid notebook: item %zu of cells %s", number, fault);
            return false;
        }
    }
    return true;
}

static bool read_top(struct json_span top, struct document *document, struct strbuf *error)
{
    struct json_span key, value, cells = {NULL, 0};
    for (size_t position = 0; json_next_member(top, &position, &key, &value);) {
        if (json_is_text(key, "cells")) {
            cells = value;
        } else if (json_is_text(key, "metadata")) {
            free(document->metadata);
            document->metadata = span_copy(value);
        } else if (json_is_text(key, "nbformat_minor")) {
            document->minor = (int)strtol(value.start, NULL, 10);
        } else if (!json_is_text(key, "nbformat")) {
            keep_member(&document->more, key, value);
        }
    }
    if (json_kind_of(cells) != JSON_ARRAY) {
        strbuf_setf(error, "invalid notebook: there is no array cells");
        return false;
    }
    if (document->metadata && document->metadata[0] != '{') {
        strbuf_setf(error, "invalid notebook: metadata is no object");
        return false;
    }
    return read_cells(cells, document, error);
}

bool notebook_read(const char *text, size_t size, struct document *document, struct strbuf *error)
{
    struct json_span top;
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        size -= 3;
    }
    document->format = DOCUMENT_NOTEBOOK;
    if (!json_check(text, size, &top, error)) {
        char *fault = strbuf_steal(error);
        strbuf_setf(error, "invalid notebook: not JSON, %s", fault);
        free(fault);
        return false;
    }
    if (json_kind_of(top) != JSON_OBJECT) {
        strbuf_setf(error, "invalid notebook: not a JSON object");
        return false;
    }
    if (!check_version(top, error) || !read_top(top, document, error))
        return false;
    char *language = foreign_language(document->metadata);
    if (language)
        strbuf_setf(error, "the notebook's language is %s, not Python", language);
    free(language);
    return !language;
}
