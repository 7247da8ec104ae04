/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "percent.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "json-scan.h"
#include "percent-metadata.h"
#include "pylex.h"
#include "xalloc.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

bool percent_is_marker(const char *line, size_t size, size_t *ret_rest)
{
    size_t at = 0;
    if (!size || line[at++] != '#')
        return false;
    while (at < size && is_blank(line[at]))
        at++;
    size_t signs = at;
    while (at < size && line[at] == '%')
        at++;
    if (at - signs < 2 || (at < size && !is_blank(line[at]) && line[at] != '['))
        return false;
    *ret_rest = at;
    return true;
}

/* [word] at text: the kind it names, false when it names none. */
static bool kind_of(const char *text, size_t size, enum cell_kind *ret_kind, size_t *ret_length)
{
    static const struct {
        const char *word;
        enum cell_kind kind;
    } kinds[] = {{"[markdown]", CELL_MARKDOWN},
                 {"[md]", CELL_MARKDOWN},
                 {"[raw]", CELL_RAW},
                 {"[code]", CELL_CODE}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t length = strlen(kinds[i].word);
        if (size >= length && strncasecmp(text, kinds[i].word, length) == 0) {
            *ret_kind = kinds[i].kind;
            *ret_length = length;
            return true;
        }
    }
    return false;
}

static void add_tags(struct document_cell *cell, struct json_span list)
{
    struct json_span tag;
    for (size_t position = 0; json_next_element(list, &position, &tag);) {
        if (json_kind_of(tag) != JSON_STRING)
            continue;
        struct strbuf text = STRBUF_INIT;
        json_decode(tag, &text);
        document_cell_add_tag(cell, strbuf_text(&text));
        strbuf_free(&text);
    }
}

/* The array that begins at text, up to the bracket that makes it one. */
static void read_tag_list(struct document_cell *cell, const char *text, size_t size)
{
    struct strbuf error = STRBUF_INIT;
    for (size_t end = 0; end < size; end++) {
        struct json_span list;
        if (text[end] == ']' && json_check(text, end + 1, &list, &error)) {
            add_tags(cell, list);
            break;
        }
    }
    strbuf_free(&error);
}

static void read_metadata_object(struct document_cell *cell, const char *text, size_t size)
{
    struct strbuf error = STRBUF_INIT;
    struct json_span object, tags;
    while (size && text[size - 1] != '}')
        size--;
    if (json_check(text, size, &object, &error) && json_get(object, "tags", &tags) &&
        json_kind_of(tags) == JSON_ARRAY)
        add_tags(cell, tags);
    strbuf_free(&error);
}

/* Length of "key=" at text, 0 if there is none. */
static size_t key_length(const char *text, size_t size)
{
    size_t at = 0;
    while (at < size && (isalnum((unsigned char)text[at]) || text[at] == '_' || text[at] == '-' ||
                         text[at] == '.'))
        at++;
    return at && at < size && text[at] == '=' && !(at + 1 < size && text[at + 1] == '=') ? at + 1
                                                                                         : 0;
}

static void set_title(struct document_cell *cell, const char *text, size_t size)
{
    while (size && isspace((unsigned char)text[0])) {
        text++;
        size--;
    }
    while (size && isspace((unsigned char)text[size - 1]))
        size--;
    if (size && !cell->title)
        cell->title = xmemdup0(text, size);
}

/*
 * Title, kind and metadata, which come in this order; the title may follow the kind too. Only what
 * begins a word counts.
 */
static void read_options(struct document_cell *cell, const char *text, size_t size)
{
    size_t title = 0;
    for (size_t at = 0; at < size; at++) {
        size_t length;
        if (at && !is_blank(text[at - 1]))
            continue;
        if (kind_of(text + at, size - at, &cell->kind, &length)) {
            set_title(cell, text + title, at - title);
            at += length;
            title = at < size ? at : size;
        } else if (text[at] == '{') {
            set_title(cell, text + title, at - title);
            read_metadata_object(cell, text + at, size - at);
            percent_read_members(cell, text + at, size - at);
            return;
        } else if ((length = key_length(text + at, size - at))) {
            set_title(cell, text + title, at - title);
            for (size_t i = at; i + 6 <= size; i++) {
                if ((i == at || is_blank(text[i - 1])) && strncmp(text + i, "tags=[", 6) == 0)
                    read_tag_list(cell, text + i + 5, size - i - 5);
                else if (text[i] == '{' && is_blank(text[i - 1]))
                    read_metadata_object(cell, text + i, size - i);
            }
            percent_read_members(cell, text + at, size - at);
            return;
        }
    }
    set_title(cell, text + title, size - title);
}

static struct document_cell *start_cell(struct document *document, const char *line, size_t size,
                                        size_t rest)
{
    struct document_cell *cell = document_add(document);
    cell->marker = xmemdup0(line, size);
    read_options(cell, line + rest, size - rest);
    return cell;
}

static void finish_cell(struct document_cell *cell, const char *text, size_t size,
                        unsigned first_line)
{
    cell->source = xmemdup0(text, size);
    cell->size = size;
    cell->first_line = first_line;
}

void percent_read(const char *text, size_t size, struct document *document)
{
    struct pylex lex = {.count = 0};
    struct document_cell *cell = document_add(document);
    size_t start = 0;
    unsigned line = 1, first_line = 1;
    document->format = DOCUMENT_SCRIPT;
    for (size_t at = 0; at < size; line++) {
        size_t length = pylex_line_length(text + at, size - at), rest;
        size_t trimmed = pylex_trimmed(text + at, length);
        if (!pylex_in_string(&lex) && percent_is_marker(text + at, trimmed, &rest)) {
            finish_cell(cell, text + start, at - start, first_line);
            cell = start_cell(document, text + at, trimmed, rest);
            start = at + length;
            first_line = line + 1;
        }
        pylex_line(&lex, text + at, length);
        at += length;
    }
    finish_cell(cell, text + start, size - start, first_line);
}
