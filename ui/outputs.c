/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "outputs.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

static struct output *add(struct outputs *outputs, enum output_kind kind)
{
    outputs->items =
        xgrow(outputs->items, outputs->count, &outputs->capacity, sizeof(*outputs->items));
    struct output *output = &outputs->items[outputs->count++];
    *output = (struct output){.kind = kind};
    return output;
}

void outputs_add_stream(struct outputs *outputs, int stream, const char *data, size_t size)
{
    size_t room =
        outputs->bytes < OUTPUTS_LIMIT && !outputs->dropped ? OUTPUTS_LIMIT - outputs->bytes : 0;
    size_t kept = size < room ? size : room;
    outputs->dropped += size - kept;
    outputs->bytes += kept;
    if (!kept)
        return;
    struct output *last = outputs->count ? &outputs->items[outputs->count - 1] : NULL;
    if (!last || last->kind != OUTPUT_STREAM || last->stream != stream) {
        last = add(outputs, OUTPUT_STREAM);
        last->stream = stream;
    }
    strbuf_add(&last->text, data, kept);
}

void outputs_add_display(struct outputs *outputs, bool is_result, const char *json, size_t size)
{
    if (outputs->dropped || size > OUTPUTS_LIMIT - outputs->bytes) {
        outputs->dropped += size;
        return;
    }
    outputs->bytes += size;
    strbuf_add(&add(outputs, is_result ? OUTPUT_RESULT : OUTPUT_DISPLAY)->text, json, size);
}

void outputs_set_error(struct outputs *outputs, const char *text, size_t size)
{
    strbuf_add(&add(outputs, OUTPUT_ERROR)->text, text, size);
}

void outputs_free(struct outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        strbuf_free(&outputs->items[i].text);
    free(outputs->items);
    *outputs = (struct outputs){NULL, 0, 0, 0, 0};
}

/* A dotted name at the start of a line, up to a colon or the end of the line. */
static bool read_name(const char *line, size_t size, struct error_name *name)
{
    size_t at = 0;
    while (at < size && (isalnum((unsigned char)line[at]) || line[at] == '_' || line[at] == '.'))
        at++;
    if (!at || !isalpha((unsigned char)line[0]) || (at < size && line[at] != ':'))
        return false;
    size_t message = at + (at < size) + (at + 1 < size && line[at + 1] == ' ');
    *name = (struct error_name){line, at, line + message, size - message};
    return true;
}

struct error_name outputs_error_name(const char *text, size_t size)
{
    struct error_name name = {"Error", 5, text, size};
    size_t end = size;
    while (end && (text[end - 1] == '\n' || text[end - 1] == '\r'))
        end--;
    if (!end)
        return name;
    name.message_size = end;
    if (size < 9 || memcmp(text, "Traceback", 9) != 0) {
        const char *first = memchr(text, '\n', end);
        bool syntax = size > 7 && memcmp(text, "  File ", 7) == 0;
        if (!syntax) {
            name.message_size = first ? (size_t)(first - text) : end;
            return name;
        }
    }
    /* The last line that begins at column 0 with a name: messages may have several lines. */
    for (size_t start = end; start-- > 0;) {
        if (start && text[start - 1] != '\n')
            continue;
        const char *stop = memchr(text + start, '\n', end - start);
        if (read_name(text + start, stop ? (size_t)(stop - text) - start : end - start, &name)) {
            name.message_size = end - (size_t)(name.message - text);
            return name;
        }
    }
    return name;
}
