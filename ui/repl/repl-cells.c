/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cells: made, queued in the engine, and filled with what they show.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "json-scan.h"
#include "magics.h"
#include "repl-internal.h"

/* ---- life ----------------------------------------------------------------------------------- */

struct repl_cell_data *repl_cell_new(struct repl *repl, struct repl_session *session,
                                     const char *source, size_t size)
{
    struct repl_cell_data *data = xcalloc(1, sizeof(*data));
    data->session = session;
    data->cell.source = xmemdup0(source, size);
    data->cell.source_size = size;
    data->cell.output = block_new(repl->options.blocks ? REPL_BLOCK_BYTES : 1);
    block_resize(data->cell.output, repl->options.columns, repl->options.rows);
    return data;
}

void repl_cell_free(struct repl_cell_data *data)
{
    if (data->before)
        repl_cell_free(data->before);
    free(data->cell.source);
    free(data->cell.spill_path);
    free(data->cell.hint);
    free(data->cell.view);
    block_free(data->cell.output);
    outputs_free(&data->outputs);
    strbuf_free(&data->denied);
    free(data);
}

static bool waits(const struct repl_item *item)
{
    return item->cell && item->cell->state == REPL_QUEUED;
}

/* Takes text. Before the cells that wait, unless it is one of them. */
void repl_add_item(struct repl *repl, struct repl_session *session, struct repl_cell *cell,
                   char *text)
{
    session->items = xgrow(session->items, session->item_count, &session->item_capacity,
                           sizeof(*session->items));
    size_t at = session->item_count++;
    session->items[at] = (struct repl_item){NULL, NULL}; /* who looks for its place sees it */
    bool queued = session->document || (cell && cell->state == REPL_QUEUED);
    while (!queued && at && waits(&session->items[at - 1])) {
        session->items[at] = session->items[at - 1];
        at--;
    }
    if (session->document && (!cell || !cell->key)) {
        size_t place = repl_document_item_place(session, cell);
        for (at = session->item_count - 1; at > place; at--)
            session->items[at] = session->items[at - 1];
    }
    session->items[at] = (struct repl_item){cell, text};
    if (!cell || cell->number)
        session_data(session)->background = NULL;
    if (repl->front.item_added)
        repl->front.item_added(repl->context, session, &session->items[at]);
}

/* ---- submitting ----------------------------------------------------------------------------- */

struct hermes_cell repl_describe(struct repl *repl, struct repl_session *session)
{
    struct hermes_cell cell = HERMES_CELL_INIT;
    cell.session = session_data(session)->owner;
    cell.mode = repl->options.mode;
    cell.python = repl->options.python;
    cell.cwd = repl->options.cwd;
    cell.tools = repl->terms->tools;
    cell.setup = &repl->setup;
    cell.flags = HERMES_CELL_ECHO | HERMES_CELL_AWAIT | HERMES_CELL_DISPLAY |
                 HERMES_CELL_INTERACTIVE | HERMES_CELL_NO_REDACT;
    return cell;
}

static void queue_cell(struct repl *repl, struct repl_cell_data *data,
                       const struct repl_submission *what)
{
    struct repl_session *session = data->session;
    repl->open =
        xgrow(repl->open, repl->open_count, &repl->open_capacity, sizeof(struct repl_cell_data *));
    repl->open[repl->open_count++] = data;
    data->wall_time = what->wall_time;
    data->post_mortem = what->post_mortem;
    session->queued++;
    session->next_number++;
    repl_store_begin(repl, data);
    data->cell.key = what->key;
    data->leads = what->leads;
    if (what->key)
        repl_document_place(repl, data);
    else
        repl_add_item(repl, session, &data->cell, NULL);
    repl_tell_session(repl, session);
}

bool repl_submit(struct repl *repl, struct repl_session *session,
                 const struct repl_submission *what, struct strbuf *error)
{
    struct repl_cell_data *data = repl_cell_new(repl, session, what->source, what->source_size);
    struct hermes_cell cell = repl_describe(repl, session);
    struct hermes_error why = {0, 0, ""};
    data->cell.number = session->next_number;
    char *name =
        what->file_name ? xstrdup(what->file_name) : xasprintf("<cell %u>", data->cell.number);
    cell.file_name = name;
    cell.first_line = what->first_line;
    cell.code = what->code ? what->code : what->source;
    cell.code_size = what->code ? what->code_size : what->source_size;
    int status = hermes_submit(repl->engine, &cell, &data->cell.id, &why);
    free(name);
    if (status != HERMES_OK) {
        strbuf_setf(error, "%s", why.text[0] ? why.text : hermes_status_text(status));
        repl_cell_free(data);
        return false;
    }
    queue_cell(repl, data, what);
    return true;
}

struct repl_cell_data *repl_open_cell(struct repl *repl, uint64_t id)
{
    for (size_t i = 0; i < repl->open_count; i++) {
        if (repl->open[i]->cell.id == id)
            return repl->open[i];
    }
    return NULL;
}

void repl_close_cell(struct repl *repl, struct repl_cell_data *data)
{
    for (size_t i = 0; i < repl->open_count; i++) {
        if (repl->open[i] != data)
            continue;
        memmove(&repl->open[i], &repl->open[i + 1],
                (repl->open_count - i - 1) * sizeof(repl->open[0]));
        repl->open_count--;
        return;
    }
}

/* ---- output --------------------------------------------------------------------------------- */

static void keep_raw(struct repl_cell_data *data, int stream, const char *text, size_t size)
{
    if (data->raw_dropped)
        return;
    data->raw_bytes += size;
    if (data->raw_bytes <= REPL_RAW_MAX) {
        outputs_add_stream(&data->outputs, stream, text, size);
        return;
    }
    struct outputs rest = {NULL, 0, 0, 0, 0};
    for (size_t i = 0; i < data->outputs.count; i++) {
        struct output *output = &data->outputs.items[i];
        if (output->kind != OUTPUT_STREAM)
            outputs_add_display(&rest, output->kind == OUTPUT_RESULT, strbuf_text(&output->text),
                                output->text.size);
    }
    outputs_free(&data->outputs);
    data->outputs = rest;
    data->raw_dropped = true;
}

/* What does not go into :save as a stream. */
static void show_bytes(struct repl *repl, struct repl_cell_data *data, int stream, const char *text,
                       size_t size)
{
    if (!size)
        return;
    if (repl->options.blocks)
        block_write(data->cell.output, text, size);
    data->last_byte = text[size - 1];
    data->cell.seen = data->session == repl->in_front;
    if (data->quiet)
        return;
    if (repl->front.cell_output)
        repl->front.cell_output(repl->context, data->session, &data->cell, stream, text, size);
    if (data->session != repl->in_front && !data->session->unread) {
        data->session->unread = true;
        repl_tell_session(repl, data->session);
    }
}

void repl_add_output(struct repl *repl, struct repl_cell_data *data, int stream, const char *text,
                     size_t size)
{
    keep_raw(data, stream, text, size);
    show_bytes(repl, data, stream, text, size);
}

/* A terminal's lines end in both. */
static void show_lines(struct repl *repl, struct repl_cell_data *data, int stream, const char *text,
                       size_t size)
{
    struct strbuf out = STRBUF_INIT;
    const char *end = repl->options.pipes ? "\n" : "\r\n";
    if (data->last_byte && data->last_byte != '\n' && (stream == 1 || !repl->options.pipes))
        strbuf_adds(&out, end);
    for (size_t at = 0; at < size;) {
        const char *stop = memchr(text + at, '\n', size - at);
        size_t length = stop ? (size_t)(stop - text) - at : size - at;
        strbuf_add(&out, text + at, length);
        strbuf_adds(&out, end);
        at += length + 1;
    }
    show_bytes(repl, data, stream, strbuf_text(&out), out.size);
    strbuf_free(&out);
}

void repl_add_text(struct repl *repl, struct repl_cell_data *data, int stream, const char *text,
                   size_t size)
{
    show_lines(repl, data, stream, text, size);
}

/* Base64 as JSON carries it; false: it is none. */
static bool decode_base64(const struct strbuf *text, struct strbuf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;
    int count = 0;
    for (size_t i = 0; i < text->size; i++) {
        char c = text->data[i];
        const char *digit = c ? strchr(digits, c) : NULL;
        if (c == '=')
            break;
        if (c == '\n' || c == '\r' || c == ' ')
            continue;
        if (!digit)
            return false;
        bits = bits << 6 | (uint32_t)(digit - digits);
        count += 6;
        if (count >= 8) {
            count -= 8;
            strbuf_addc(out, (char)(bits >> count & 0xff));
        }
    }
    return out->size > 0;
}

static bool add_picture(struct repl *repl, struct repl_cell_data *data, struct json_span bundle)
{
    struct json_span picture;
    struct strbuf text = STRBUF_INIT, bytes = STRBUF_INIT;
    bool good = false;
    if (repl->options.blocks && json_get(bundle, "image/png", &picture) &&
        json_kind_of(picture) == JSON_STRING) {
        json_decode(picture, &text);
        good = decode_base64(&text, &bytes) &&
               block_add_png(data->cell.output, bytes.data, bytes.size, REPL_PICTURE_ROWS);
    }
    strbuf_free(&text);
    strbuf_free(&bytes);
    return good;
}

void repl_add_display(struct repl *repl, struct repl_cell_data *data, bool is_result,
                      const char *json, size_t size)
{
    struct strbuf text = STRBUF_INIT, error = STRBUF_INIT;
    struct json_span bundle, plain;
    outputs_add_display(&data->outputs, is_result, json, size);
    if (!json_check(json, size, &bundle, &error)) {
        strbuf_free(&error);
        return;
    }
    bool picture = add_picture(repl, data, bundle);
    if (picture)
        data->last_byte = '\n';
    bool shown = picture && (data->quiet || !repl->options.plain); /* a picture stands for its text */
    if (!shown && json_get(bundle, "text/plain", &plain) && json_kind_of(plain) == JSON_STRING) {
        json_decode(plain, &text);
        show_lines(repl, data, 1, strbuf_text(&text), text.size);
    }
    strbuf_free(&text);
    strbuf_free(&error);
}
