/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "mcp-message.h"

#include <string.h>

#include "json-write.h"

#define KEPT_MAX (1u << 20) /* a buffer that grew beyond this is given back when it is empty */

/*
 * ---- lines
 * ------------------------------------------------------------------------------------------
 */

static void drop_taken(struct mcp_lines *lines)
{
    struct strbuf *held = &lines->held;
    if (!lines->taken)
        return;
    held->size -= lines->taken;
    if (held->size)
        memmove(held->data, held->data + lines->taken, held->size);
    lines->scanned -= lines->taken;
    lines->taken = 0;
    if (!held->size && held->capacity > KEPT_MAX)
        strbuf_free(held);
}

void mcp_lines_add(struct mcp_lines *lines, const char *data, size_t size)
{
    drop_taken(lines);
    if (lines->skipping) {
        const char *end = memchr(data, '\n', size);
        if (!end)
            return;
        lines->skipping = false;
        size -= (size_t)(end + 1 - data);
        data = end + 1;
    }
    strbuf_add(&lines->held, data, size);
}

/* The rest of held is the beginning of a line. */
static enum mcp_line no_line_end(struct mcp_lines *lines)
{
    lines->scanned = lines->held.size;
    if (lines->held.size - lines->taken <= lines->limit)
        return MCP_LINE_NONE;
    lines->skipping = true;
    lines->taken = lines->held.size;
    return MCP_LINE_TOO_LONG;
}

static bool is_blank(struct json_span line)
{
    for (size_t i = 0; i < line.size; i++) {
        if (!strchr(" \t\r", line.start[i]) || !line.start[i])
            return false;
    }
    return true;
}

enum mcp_line mcp_lines_next(struct mcp_lines *lines, struct json_span *ret_line)
{
    while (lines->taken < lines->held.size) {
        const char *text = lines->held.data;
        const char *end = memchr(text + lines->scanned, '\n', lines->held.size - lines->scanned);
        if (!end)
            return no_line_end(lines);
        struct json_span line = {text + lines->taken, (size_t)(end - text) - lines->taken};
        lines->taken = lines->scanned = (size_t)(end - text) + 1;
        if (line.size > lines->limit)
            return MCP_LINE_TOO_LONG;
        if (!is_blank(line)) {
            *ret_line = line;
            return MCP_LINE;
        }
    }
    return MCP_LINE_NONE;
}

void mcp_lines_end(struct mcp_lines *lines)
{
    if (lines->held.size > lines->taken)
        mcp_lines_add(lines, "\n", 1);
}

void mcp_lines_free(struct mcp_lines *lines)
{
    strbuf_free(&lines->held);
}

/*
 * ---- messages
 * ---------------------------------------------------------------------------------------
 */

static void refuse(struct mcp_message *message, enum mcp_error code, const char *text)
{
    message->kind = MCP_INVALID;
    message->code = code;
    strbuf_setf(&message->error, "%s", text);
}

bool mcp_is_id(struct json_span value)
{
    enum json_kind kind = json_kind_of(value);
    if (value.size > MCP_ID_MAX)
        return false;
    if (kind == JSON_STRING)
        return true;
    if (kind != JSON_NUMBER)
        return false;
    size_t sign = value.start[0] == '-', digits = 0;
    while (sign + digits < value.size && value.start[sign + digits] >= '0' &&
           value.start[sign + digits] <= '9')
        digits++;
    return digits && sign + digits == value.size;
}

bool mcp_same_id(struct json_span a, struct json_span b)
{
    if (a.size == b.size && memcmp(a.start, b.start, a.size) == 0)
        return true;
    if (json_kind_of(a) != JSON_STRING || json_kind_of(b) != JSON_STRING)
        return false;
    struct strbuf one = STRBUF_INIT, two = STRBUF_INIT; /* escapes may differ */
    json_decode(a, &one);
    json_decode(b, &two);
    bool same = one.size == two.size && (!one.size || memcmp(one.data, two.data, one.size) == 0);
    strbuf_free(&one);
    strbuf_free(&two);
    return same;
}

/* What makes an object a message. */
static void judge(struct json_span value, struct mcp_message *message)
{
    struct json_span version, id, other;
    bool has_id = json_get(value, "id", &id);
    if (has_id && mcp_is_id(id))
        message->id = id;
    if (!json_get(value, "jsonrpc", &version) || !json_is_text(version, "2.0")) {
        refuse(message, MCP_INVALID_REQUEST, "\"jsonrpc\" must be \"2.0\"");
        return;
    }
    if (!json_get(value, "method", &message->method)) {
        if (json_get(value, "result", &other) || json_get(value, "error", &other))
            message->kind = MCP_RESPONSE;
        else
            refuse(message, MCP_INVALID_REQUEST, "a message needs a \"method\"");
        return;
    }
    if (json_kind_of(message->method) != JSON_STRING) {
        refuse(message, MCP_INVALID_REQUEST, "\"method\" must be a string");
        return;
    }
    if (has_id && !message->id.size) {
        refuse(message, MCP_INVALID_REQUEST,
               "\"id\" must be a string or an integer of at most 1024 characters");
        return;
    }
    message->kind = has_id ? MCP_REQUEST : MCP_NOTIFICATION;
    if (!json_get(value, "params", &message->params) ||
        json_kind_of(message->params) == JSON_OBJECT)
        return;
    message->params = (struct json_span){NULL, 0};
    if (has_id) /* notifications are never answered */
        refuse(message, MCP_BAD_PARAMS, "\"params\" must be an object");
}

void mcp_message_read(struct json_span line, struct mcp_message *ret_message)
{
    struct json_span value;
    struct strbuf fault = STRBUF_INIT;
    *ret_message = (struct mcp_message){.kind = MCP_INVALID};
    if (!json_check(line.start, line.size, &value, &fault)) {
        /* "line 1, " says nothing here */
        const char *where = strstr(strbuf_text(&fault), "column");
        refuse(ret_message, MCP_PARSE_ERROR, "");
        strbuf_setf(&ret_message->error, "no JSON: %s", where ? where : strbuf_text(&fault));
    } else if (json_kind_of(value) == JSON_ARRAY) {
        refuse(ret_message, MCP_INVALID_REQUEST,
               "batches are no part of this protocol revision: one object a line");
    } else if (json_kind_of(value) != JSON_OBJECT) {
        refuse(ret_message, MCP_INVALID_REQUEST, "a message is a JSON object");
    } else {
        judge(value, ret_message);
    }
    strbuf_free(&fault);
}

void mcp_message_free(struct mcp_message *message)
{
    strbuf_free(&message->error);
}

/*
 * ---- answers
 * ----------------------------------------------------------------------------------------
 */

static void add_id(struct strbuf *out, struct json_span id)
{
    strbuf_adds(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    if (id.size)
        strbuf_add(out, id.start, id.size);
    else
        strbuf_adds(out, "null");
}

void mcp_add_result(struct strbuf *out, struct json_span id, const struct strbuf *result)
{
    add_id(out, id);
    strbuf_adds(out, ",\"result\":");
    strbuf_add(out, result->data, result->size);
    strbuf_adds(out, "}\n");
}

void mcp_add_error(struct strbuf *out, struct json_span id, enum mcp_error code, const char *text)
{
    add_id(out, id);
    strbuf_addf(out, ",\"error\":{\"code\":%d,\"message\":", (int)code);
    json_add_text(out, text);
    strbuf_adds(out, "}}\n");
}

void mcp_add_notification(struct strbuf *out, const char *method, const struct strbuf *params)
{
    strbuf_adds(out, "{\"jsonrpc\":\"2.0\",\"method\":");
    json_add_text(out, method);
    strbuf_adds(out, ",\"params\":");
    strbuf_add(out, params->data, params->size);
    strbuf_adds(out, "}\n");
}
