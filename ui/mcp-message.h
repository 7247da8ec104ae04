/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Messages of the Model Context Protocol as they stand on standard input and output: JSON-RPC 2.0,
 * one object a line. Knows neither tools nor sessions, and reads and writes nothing itself.
 */
#ifndef UI_MCP_MESSAGE_H
#define UI_MCP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "json-scan.h"
#include "strbuf.h"

#define MCP_LINE_MAX ((size_t)64 << 20)
#define MCP_ID_MAX 1024 /* of an id or a progress token, as text */

enum mcp_error {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_UNKNOWN_METHOD = -32601,
    MCP_BAD_PARAMS = -32602,
};

/*
 * ---- lines
 * ------------------------------------------------------------------------------------------
 */

struct mcp_lines {
    size_t limit; /* longer lines are skipped */
    struct strbuf held;
    size_t taken;   /* bytes of held that are dealt with */
    size_t scanned; /* bytes of held that hold no line end beyond taken */
    bool skipping;  /* what comes up to the next line end belongs to a line that was too long */
};
#define MCP_LINES_INIT(limit_)                                                                     \
    {                                                                                              \
        .limit = (limit_)                                                                          \
    }

enum mcp_line { MCP_LINE_NONE, MCP_LINE, MCP_LINE_TOO_LONG };

void mcp_lines_add(struct mcp_lines *lines, const char *data, size_t size);
/*
 * The next line without its line end; the span is good until the next mcp_lines_add(). Blank lines
 * are left out.
 */
enum mcp_line mcp_lines_next(struct mcp_lines *lines, struct json_span *ret_line);
/* The input is over: what is left is a line, too. */
void mcp_lines_end(struct mcp_lines *lines);
void mcp_lines_free(struct mcp_lines *lines);

/*
 * ---- messages
 * ---------------------------------------------------------------------------------------
 */

enum mcp_kind {
    MCP_REQUEST,
    MCP_NOTIFICATION,
    MCP_RESPONSE, /* to a request of ours: there are none */
    MCP_INVALID,  /* to be answered with an error */
};

struct mcp_message {
    enum mcp_kind kind;
    struct json_span id;     /* as it stood; empty: none, or not to be told */
    struct json_span method; /* a JSON string */
    struct json_span params; /* an object; empty: none */
    enum mcp_error code;     /* INVALID */
    struct strbuf error;     /* INVALID: one line */
};

/* The spans point into the line. */
void mcp_message_read(struct json_span line, struct mcp_message *ret_message);
void mcp_message_free(struct mcp_message *message);

/* A string or an integer that is not too long: what ids and progress tokens may be. */
bool mcp_is_id(struct json_span value);
bool mcp_same_id(struct json_span a, struct json_span b);

/*
 * ---- answers: whole lines
 * ----------------------------------------------------------------------------
 */

/* result is a JSON object. */
void mcp_add_result(struct strbuf *out, struct json_span id, const struct strbuf *result);
/* An empty id is written as null. */
void mcp_add_error(struct strbuf *out, struct json_span id, enum mcp_error code, const char *text);
void mcp_add_notification(struct strbuf *out, const char *method, const struct strbuf *params);

#endif
