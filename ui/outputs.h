/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a cell showed, kept for --save or read from a notebook: text of the streams in order,
 * display data, the error.
 * Bounded: beyond 10 MB a cell the rest is counted, not kept.
 */
#ifndef UI_OUTPUTS_H
#define UI_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strbuf.h"

#define OUTPUTS_LIMIT (10u * 1000 * 1000)

enum output_kind { OUTPUT_STREAM, OUTPUT_DISPLAY, OUTPUT_RESULT, OUTPUT_ERROR };

struct output {
    enum output_kind kind;
    int stream; /* STREAM: 1 or 2 */
    struct strbuf
        text; /* STREAM: bytes; DISPLAY, RESULT: a MIME bundle as JSON; ERROR: the traceback */
};

struct outputs {
    struct output *items;
    size_t count, capacity;
    size_t bytes;
    size_t dropped;
};

void outputs_add_stream(struct outputs *outputs, int stream, const char *data, size_t size);
void outputs_add_display(struct outputs *outputs, bool is_result, const char *json, size_t size);
void outputs_set_error(struct outputs *outputs, const char *text, size_t size);
/* What a notebook holds (the JSON text of its array; NULL or anything else: nothing). */
void outputs_read(struct outputs *outputs, const char *json);
void outputs_free(struct outputs *outputs);

/*
 * The name and the message in the last line of a traceback: "ValueError: no" is ValueError and no.
 */
struct error_name {
    const char *name;
    size_t name_size;
    const char *message;
    size_t message_size;
};
struct error_name outputs_error_name(const char *text, size_t size);

#endif
