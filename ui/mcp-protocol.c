/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The protocol's methods: a table of requests, and the two notifications that matter.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "json-write.h"
#include "mcp-internal.h"
#include "tool-list.h"

/* Newest first: what the official SDK knows as its latest, and the one before. */
static const char *const revisions[] = {"2025-11-25", "2025-06-18"};

static const char instructions[] = "Python sessions that stay alive between calls. execute_code "
                                   "runs source in a session (\"default\" if none is "
                                   "named); variables, imports and functions stay for later calls, "
                                   "and each result tells whether the process is still "
                                   "the same. Use several sessions for work that shall run at the "
                                   "same time or stay apart. interrupt stops what runs "
                                   "and keeps the state if the code obeys; clear_session ends a "
                                   "session; list_sessions shows those that live.";

static void refuse(struct mcp_server *server, const struct mcp_message *message,
                   enum mcp_error code, const char *text)
{
    mcp_add_error(&server->out, message->id, code, text);
}

static void answer_initialize(struct mcp_server *server, const struct mcp_message *request)
{
    struct json_span version;
    struct strbuf result = STRBUF_INIT;
    const char *revision = revisions[0];
    if (server->initialized) {
        refuse(server, request, MCP_INVALID_REQUEST, "this session is initialized already");
        return;
    }
    if (!json_get(request->params, "protocolVersion", &version) ||
        json_kind_of(version) != JSON_STRING) {
        refuse(server, request, MCP_BAD_PARAMS, "initialize needs \"protocolVersion\", a string");
        return;
    }
    for (size_t i = 0; i < sizeof(revisions) / sizeof(revisions[0]); i++) {
        if (json_is_text(version, revisions[i]))
            revision = revisions[i];
    }
    server->initialized = true;
    strbuf_addf(
        &result,
        "{\"protocolVersion\":\"%s\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":"
        "\"hermes-repl\",\"title\":\"Python sessions that stay alive\",\"version\":",
        revision);
    json_add_text(&result, hermes_version());
    strbuf_adds(&result, "},\"instructions\":");
    json_add_text(&result, instructions);
    strbuf_addc(&result, '}');
    mcp_add_result(&server->out, request->id, &result);
    strbuf_free(&result);
}

static void answer_ping(struct mcp_server *server, const struct mcp_message *request)
{
    struct strbuf result = STRBUF_INIT;
    strbuf_adds(&result, "{}");
    mcp_add_result(&server->out, request->id, &result);
    strbuf_free(&result);
}

static void answer_tools_list(struct mcp_server *server, const struct mcp_message *request)
{
    struct json_span cursor;
    struct strbuf result = STRBUF_INIT;
    if (json_get(request->params, "cursor", &cursor) && json_kind_of(cursor) != JSON_NULL) {
        refuse(server, request, MCP_BAD_PARAMS,
               "unknown \"cursor\": the list of tools is one page");
        return;
    }
    const struct tool_terms *terms = server->options->terms;
    const char **tools = tool_list_describe(terms->settings, terms->tools);
    mcp_tools_list(&result, server->engine,
                   server->options->strict ? HERMES_MODE_STRICT : HERMES_MODE_PROJECT, tools);
    free(tools);
    mcp_add_result(&server->out, request->id, &result);
    strbuf_free(&result);
}

static const struct {
    const char *name;
    void (*answer)(struct mcp_server *server, const struct mcp_message *request);
    bool early; /* may come before initialize */
} methods[] = {
    {"initialize", answer_initialize, true},
    {"ping", answer_ping, true},
    {"tools/list", answer_tools_list, false},
    {"tools/call", mcp_call_tool, false},
};

static void on_request(struct mcp_server *server, const struct mcp_message *request)
{
    struct json_span none = {NULL, 0};
    if (mcp_call_lives(server, request->id)) {
        /* An answer with this id would be taken for that of the call that runs. */
        struct strbuf text = STRBUF_INIT;
        strbuf_addf(&text, "the id %.*s belongs to a request that is not answered yet",
                    (int)request->id.size, request->id.start);
        mcp_add_error(&server->out, none, MCP_INVALID_REQUEST, strbuf_text(&text));
        strbuf_free(&text);
        return;
    }
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (!json_is_text(request->method, methods[i].name))
            continue;
        if (server->initialized || methods[i].early)
            methods[i].answer(server, request);
        else
            refuse(server, request, MCP_INVALID_REQUEST, "the first request must be initialize");
        return;
    }
    struct strbuf name = STRBUF_INIT, text = STRBUF_INIT;
    json_decode(request->method, &name);
    strbuf_addf(&text, "unknown method \"%.100s\"", strbuf_text(&name));
    refuse(server, request, MCP_UNKNOWN_METHOD, strbuf_text(&text));
    strbuf_free(&name);
    strbuf_free(&text);
}

/*
 * Unknown notifications are ignored, as JSON-RPC wants it; notifications/initialized asks for
 * nothing.
 */
static void on_notification(struct mcp_server *server, const struct mcp_message *message)
{
    struct json_span id, reason = {NULL, 0};
    if (!json_is_text(message->method, "notifications/cancelled") ||
        !json_get(message->params, "requestId", &id))
        return;
    json_get(message->params, "reason", &reason);
    mcp_call_cancel(server, id, reason);
}

void mcp_take_line(struct mcp_server *server, struct json_span line)
{
    struct mcp_message message;
    mcp_message_read(line, &message);
    switch (message.kind) {
    case MCP_REQUEST:
        on_request(server, &message);
        break;
    case MCP_NOTIFICATION:
        on_notification(server, &message);
        break;
    case MCP_INVALID:
        if (mcp_call_lives(server, message.id))
            message.id = (struct json_span){NULL, 0};
        mcp_add_error(&server->out, message.id, message.code, strbuf_text(&message.error));
        break;
    case MCP_RESPONSE:
        break;
    }
    mcp_message_free(&message);
}
