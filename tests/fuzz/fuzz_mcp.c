/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the input of the MCP server: however they are cut, the same lines come out; every
 * line is a message or refused in one line; what is answered is JSON; arguments and streams of
 * output never break what is made of them.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../ui/utf8.h" /* not that of src/ */
#include "mcp-message.h"
#include "mcp-progress.h"
#include "mcp-tools.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool condition)
{
    if (!condition)
        abort();
}

static void need_json_line(const struct strbuf *out)
{
    struct strbuf error = STRBUF_INIT;
    need(out->size > 0 && memchr(out->data, '\n', out->size) == out->data + out->size - 1);
    need(json_check(out->data, out->size, NULL, &error));
}

static void check_arguments(struct json_span params)
{
    struct json_span object = {NULL, 0};
    if (!json_get(params, "arguments", &object) || json_kind_of(object) != JSON_OBJECT)
        object = params;
    for (size_t i = 0; i < mcp_tool_count; i++) {
        struct mcp_arguments arguments;
        struct strbuf error = STRBUF_INIT;
        if (mcp_arguments_read(&mcp_tool_table[i], object, &arguments, &error))
            need(arguments.session && arguments.session[0] && arguments.timeout_ms >= 0 &&
                 !error.size);
        else
            need(error.size > 0 && !strchr(strbuf_text(&error), '\n'));
        mcp_arguments_free(&arguments);
        strbuf_free(&error);
    }
}

static void check_message(struct json_span line, struct strbuf *kinds)
{
    struct mcp_message message;
    struct strbuf out = STRBUF_INIT;
    mcp_message_read(line, &message);
    strbuf_addf(kinds, "%d/%d ", (int)message.kind, (int)message.code);
    need(!message.id.size || mcp_is_id(message.id));
    need(message.kind != MCP_REQUEST || message.id.size);
    if (message.kind == MCP_INVALID) {
        need(message.error.size > 0);
        mcp_add_error(&out, message.id, message.code, strbuf_text(&message.error));
        need_json_line(&out);
    } else if (message.kind == MCP_REQUEST) {
        need(mcp_same_id(message.id, message.id));
        mcp_add_error(&out, message.id, MCP_UNKNOWN_METHOD, "no");
        need_json_line(&out);
    }
    if (message.params.size)
        check_arguments(message.params);
    mcp_message_free(&message);
    strbuf_free(&out);
}

static void check_lines(const char *data, size_t size, size_t portion, struct strbuf *kinds)
{
    struct mcp_lines lines = MCP_LINES_INIT(300);
    struct json_span line;
    for (size_t at = 0; at <= size; at += portion) {
        if (at + portion > size) {
            mcp_lines_add(&lines, data + at, size - at);
            mcp_lines_end(&lines);
        } else {
            mcp_lines_add(&lines, data + at, portion);
        }
        for (enum mcp_line kind; (kind = mcp_lines_next(&lines, &line)) != MCP_LINE_NONE;) {
            if (kind == MCP_LINE_TOO_LONG) {
                strbuf_adds(kinds, "long ");
                continue;
            }
            need(line.size > 0 && line.size <= lines.limit && !memchr(line.start, '\n', line.size));
            check_message(line, kinds);
        }
    }
    mcp_lines_free(&lines);
}

/* The same text, however the stream is cut. */
static void check_stream(const char *data, size_t size)
{
    struct mcp_plain whole = {.state = PLAIN_TEXT}, cut = {.state = PLAIN_TEXT};
    struct strbuf one = STRBUF_INIT, two = STRBUF_INIT;
    mcp_plain_add(&whole, data, size, &one);
    for (size_t i = 0; i < size; i++)
        mcp_plain_add(&cut, data + i, 1, &two);
    need(one.size == two.size && (!one.size || memcmp(one.data, two.data, one.size) == 0));
    need(utf8_check(strbuf_text(&one), one.size, NULL) &&
         !memchr(strbuf_text(&one), 0x1B, one.size));
    strbuf_free(&one);
    strbuf_free(&two);
    strbuf_free(&whole.held);
    strbuf_free(&cut.held);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t portions[] = {1, 7, 4096};
    struct strbuf first = STRBUF_INIT;
    for (size_t i = 0; i < sizeof portions / sizeof *portions; i++) {
        struct strbuf kinds = STRBUF_INIT;
        check_lines((const char *)data, size, portions[i], &kinds);
        if (i)
            need(strcmp(strbuf_text(&kinds), strbuf_text(&first)) == 0);
        else
            strbuf_adds(&first, strbuf_text(&kinds));
        strbuf_free(&kinds);
    }
    check_stream((const char *)data, size);
    strbuf_free(&first);
    return 0;
}
