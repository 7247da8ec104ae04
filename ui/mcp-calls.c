/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls of tools, from request to answer.
 *
 * Cells of a session run in the order of their calls: the engine queues them for the session's
 * kernel. It does not for a cell that resets, which would start beside the running one, so this
 * call, and what comes behind it, is held back until those before it are answered. Calls that come
 * after a clear_session wait for its end.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "json-write.h"
#include "mcp-internal.h"
#include "progress.h"
#include "xalloc.h"

#define CALLS_MAX 1000
#define REASON_MAX 200
#define BACKLOG_MAX ((size_t)1 << 20) /* with so much to write progress waits */

/*
 * ---- answers
 * ----------------------------------------------------------------------------------------
 */

static struct json_span span(const char *text)
{
    return (struct json_span){text, strlen(text)};
}

/* json: the result as one object. Text for those who read it, structured content for programs. */
static void answer(struct mcp_server *server, struct json_span id, const char *json, bool error)
{
    struct strbuf result = STRBUF_INIT;
    strbuf_adds(&result, "{\"content\":[{\"type\":\"text\",\"text\":");
    json_add_text(&result, json);
    strbuf_addf(&result, "}],\"structuredContent\":%s,\"isError\":%s}", json,
                error ? "true" : "false");
    mcp_add_result(&server->out, id, &result);
    strbuf_free(&result);
}

static void answer_error(struct mcp_server *server, struct json_span id, const char *text)
{
    struct strbuf json = STRBUF_INIT;
    strbuf_adds(&json, "{\"error\":");
    json_add_text(&json, text);
    strbuf_addc(&json, '}');
    answer(server, id, strbuf_text(&json), true);
    strbuf_free(&json);
}

static void answer_result(struct mcp_server *server, const struct mcp_call *call,
                          const struct hermes_result *result)
{
    char *json = hermes_result_json(result, NULL);
    if (json)
        answer(server, span(call->id), json, result->outcome != HERMES_SUCCESS);
    else
        answer_error(server, span(call->id), "out of memory");
    hermes_free(json);
}

/* For a call that never reached the engine. */
static void answer_not_run(struct mcp_server *server, const struct mcp_call *call, const char *why)
{
    char *text = xasprintf("Not run: %s.", why);
    struct hermes_result result = {
        .outcome = HERMES_INTERRUPTED,
        .exit_code = -1,
        .output = "",
        .error = text,
        .error_size = strlen(text),
        .queued_us = (now_ms() - call->progress.began_ms) * 1000,
        .state_kept = -1,
    };
    answer_result(server, call, &result);
    free(text);
}

/*
 * ---- the list
 * ---------------------------------------------------------------------------------------
 */

static struct mcp_call *find(const struct mcp_server *server, struct json_span id)
{
    struct mcp_call *call = id.size ? server->calls : NULL;
    while (call && !mcp_same_id(span(call->id), id))
        call = call->next;
    return call;
}

bool mcp_call_lives(const struct mcp_server *server, struct json_span id)
{
    return find(server, id) != NULL;
}

/* Take the arguments away. */
static struct mcp_call *add(struct mcp_server *server, const struct mcp_tool *tool,
                            struct json_span id, struct mcp_arguments *arguments)
{
    struct mcp_call *call = xcalloc(1, sizeof(*call)), **last = &server->calls;
    call->id = xmemdup0(id.start, id.size);
    call->tool = tool;
    call->server = server;
    call->arguments = *arguments;
    *arguments = (struct mcp_arguments){.code = STRBUF_INIT};
    while (*last)
        last = &(*last)->next;
    *last = call;
    server->call_count++;
    return call;
}

static void drop(struct mcp_server *server, struct mcp_call *call)
{
    struct mcp_call **link = &server->calls;
    while (*link != call)
        link = &(*link)->next;
    *link = call->next;
    server->call_count--;
    mcp_arguments_free(&call->arguments);
    mcp_progress_free(&call->progress);
    free(call->id);
    free(call);
}

static bool is_held(const struct mcp_call *call)
{
    return call->tool->id == MCP_EXECUTE_CODE && !call->cell;
}

/*
 * ---- execute_code
 * -----------------------------------------------------------------------------------
 */

static bool submit(struct mcp_server *server, struct mcp_call *call)
{
    const struct mcp_options *options = server->options;
    struct hermes_cell cell = HERMES_CELL_INIT;
    struct hermes_error error = {0, 0, ""};
    cell.session = call->arguments.session;
    cell.mode = options->strict ? HERMES_MODE_STRICT : HERMES_MODE_PROJECT;
    cell.python = options->python;
    cell.cwd = options->cwd;
    cell.tools = options->terms->tools;
    cell.code = call->arguments.code.data;
    cell.code_size = call->arguments.code.size;
    cell.flags = call->arguments.reset ? HERMES_CELL_RESET : 0;
    cell.timeout_ms = call->arguments.timeout_ms;
    cell.setup = &server->setup;
    int status = hermes_submit(server->engine, &cell, &call->cell, &error);
    strbuf_free(&call->arguments.code); /* the engine has its copy */
    if (status != HERMES_OK && !call->cancelled)
        answer_error(server, span(call->id),
                     error.text[0] ? error.text : hermes_status_text(status));
    return status == HERMES_OK;
}

/* Submit what may run of a session. */
static void advance(struct mcp_server *server, const char *session)
{
    bool busy = false;
    for (struct mcp_call *call = server->calls, *next; call; call = next) {
        next = call->next;
        if (strcmp(call->arguments.session, session) != 0)
            continue;
        if (call->tool->id == MCP_CLEAR_SESSION || (is_held(call) && busy && call->arguments.reset))
            break;
        if (is_held(call) && !submit(server, call))
            drop(server, call);
        else
            busy = true;
    }
}

void mcp_calls_drop_held(struct mcp_server *server, const char *session, const char *why)
{
    for (struct mcp_call *call = server->calls, *next; call; call = next) {
        next = call->next;
        if (!is_held(call) || (session && strcmp(call->arguments.session, session) != 0))
            continue;
        answer_not_run(server, call, why);
        drop(server, call);
    }
}

static void on_done(struct mcp_server *server, struct mcp_call *call,
                    const struct hermes_result *result)
{
    char *session = xstrdup(call->arguments.session);
    tool_calls_cancel(&server->tool_calls, call->cell);
    if (!call->cancelled) {
        mcp_progress_send(&call->progress, now_ms(), true, &server->out);
        answer_result(server, call, result);
    }
    drop(server, call);
    advance(server, session);
    free(session);
}

/* The one place where cells reach tools of the host. */
static void on_host_tool(struct mcp_server *server, const struct mcp_call *call,
                         const struct hermes_event *event)
{
    static const char refusal[] = "{\"error\":\"the cell is over\"}";
    struct strbuf denial = STRBUF_INIT;
    if (call)
        tool_calls_take(&server->tool_calls, event, &denial);
    else
        hermes_tool_answer(server->engine, event->tool_call->id, refusal, sizeof(refusal) - 1);
    strbuf_free(&denial);
}

/* Events that this program does not know are those of later versions of the engine. */
void mcp_calls_on_event(struct mcp_server *server, const struct hermes_event *event)
{
    struct mcp_call *call = event->cell ? server->calls : NULL;
    while (call && call->cell != event->cell)
        call = call->next;
    if (event->type == HERMES_EVENT_TOOL_CALL)
        on_host_tool(server, call, event);
    else if (call && event->type == HERMES_EVENT_STARTED)
        mcp_progress_start(&call->progress);
    else if (call && event->type == HERMES_EVENT_OUTPUT)
        mcp_progress_add(&call->progress, event->stream, event->data, event->size, now_ms());
    else if (call && event->type == HERMES_EVENT_DONE)
        on_done(server, call, event->result);
}

int64_t mcp_calls_progress(struct mcp_server *server)
{
    int64_t now = now_ms(), soonest = -1;
    for (struct mcp_call *call = server->calls; call; call = call->next) {
        if (call->cancelled)
            continue;
        if (mcp_io_pending(server) < BACKLOG_MAX)
            mcp_progress_send(&call->progress, now, false, &server->out);
        int64_t due = mcp_progress_due(&call->progress, now);
        if (due >= 0 && (soonest < 0 || due < soonest))
            soonest = due;
    }
    return soonest == 0 ? MCP_PROGRESS_MS : soonest; /* 0: the backlog has to shrink first */
}

/*
 * ---- the other tools
 * --------------------------------------------------------------------------------
 */

static void *clear_in_thread(void *argument)
{
    struct mcp_call *call = argument;
    hermes_session_clear(call->server->engine, call->arguments.session);
    atomic_store(&call->cleared, true);
    mcp_io_wake(call->server);
    hermes_wake(call->server->engine);
    return NULL;
}

/* Its calls end with it, also those that were held back. */
static void begin_clear(struct mcp_server *server, struct mcp_call *call)
{
    mcp_calls_drop_held(server, call->arguments.session, "the session was cleared");
    tool_calls_forget(&server->tool_calls, call->arguments.session);
    call->threaded = pthread_create(&call->thread, NULL, clear_in_thread, call) == 0;
    if (!call->threaded)
        clear_in_thread(call);
}

void mcp_calls_collect(struct mcp_server *server)
{
    for (struct mcp_call *call = server->calls, *next; call; call = next) {
        next = call->next;
        if (!atomic_load(&call->cleared))
            continue;
        if (call->threaded)
            pthread_join(call->thread, NULL);
        struct strbuf json = STRBUF_INIT;
        strbuf_adds(&json, "{\"session\":");
        json_add_text(&json, call->arguments.session);
        strbuf_adds(&json, ",\"cleared\":true}");
        if (!call->cancelled)
            answer(server, span(call->id), strbuf_text(&json), false);
        char *session = xstrdup(call->arguments.session);
        drop(server, call);
        advance(server, session);
        next = server->calls; /* the list has changed */
        free(session);
        strbuf_free(&json);
    }
}

static void list_sessions(struct mcp_server *server, struct json_span id)
{
    char *kernels = hermes_kernels_json(server->engine);
    char *json = xasprintf("{\"sessions\":%s}", kernels ? kernels : "[]");
    answer(server, id, json, false);
    free(json);
    hermes_free(kernels);
}

static void interrupt(struct mcp_server *server, struct json_span id, const char *session)
{
    struct strbuf json = STRBUF_INIT;
    struct mcp_call *call = server->calls;
    while (call && (!call->cell || strcmp(call->arguments.session, session) != 0))
        call = call->next; /* the oldest is the one that runs */
    bool done = call && hermes_interrupt(server->engine, call->cell, NULL, 0) == HERMES_OK;
    if (done)
        tool_calls_cancel(&server->tool_calls, call->cell);
    strbuf_adds(&json, "{\"session\":");
    json_add_text(&json, session);
    strbuf_addf(&json, ",\"interrupted\":%s", done ? "true" : "false");
    if (!done)
        strbuf_adds(&json, ",\"note\":\"nothing runs in this session\"");
    strbuf_addc(&json, '}');
    answer(server, id, strbuf_text(&json), false);
    strbuf_free(&json);
}

void mcp_call_cancel(struct mcp_server *server, struct json_span id, struct json_span reason)
{
    struct mcp_call *call = find(server, id);
    struct strbuf text = STRBUF_INIT;
    if (!call || call->cancelled)
        return;
    call->cancelled = true;
    if (json_kind_of(reason) == JSON_STRING)
        json_decode(reason, &text);
    if (text.size > REASON_MAX)
        text.size = REASON_MAX;
    for (size_t i = 0; i < text.size; i++)
        text.data[i] = (unsigned char)text.data[i] < 0x20 ? ' ' : text.data[i];
    if (text.size)
        text.data[text.size] = '\0';
    if (is_held(call)) {
        char *session = xstrdup(call->arguments.session);
        drop(server, call);
        advance(server, session);
        free(session);
    } else if (call->cell) {
        hermes_interrupt(server->engine, call->cell,
                         text.size ? text.data : "cancelled by the client", 0);
        tool_calls_cancel(&server->tool_calls, call->cell);
    }
    strbuf_free(&text);
}

/*
 * ---- tools/call
 * -------------------------------------------------------------------------------------
 */

static const char *check_params(struct json_span params, struct json_span *ret_name,
                                struct json_span *ret_arguments, struct json_span *ret_token)
{
    struct json_span meta;
    if (!json_get(params, "name", ret_name) || json_kind_of(*ret_name) != JSON_STRING)
        return "tools/call needs \"name\", a string";
    if (json_get(params, "arguments", ret_arguments) && json_kind_of(*ret_arguments) != JSON_OBJECT)
        return "\"arguments\" must be an object";
    if (json_get(params, "_meta", &meta) && json_kind_of(meta) != JSON_OBJECT)
        return "\"_meta\" must be an object";
    if (json_get(params, "_meta", &meta) && json_get(meta, "progressToken", ret_token) &&
        !mcp_is_id(*ret_token))
        return "\"progressToken\" must be a string or an integer of at most 1024 characters";
    return NULL;
}

static void run_tool(struct mcp_server *server, const struct mcp_tool *tool, struct json_span id,
                     struct mcp_arguments *arguments, struct json_span token)
{
    struct mcp_call *call;
    switch (tool->id) {
    case MCP_LIST_SESSIONS:
        list_sessions(server, id);
        break;
    case MCP_INTERRUPT:
        interrupt(server, id, arguments->session);
        break;
    case MCP_CLEAR_SESSION:
        call = add(server, tool, id, arguments);
        begin_clear(server, call);
        break;
    case MCP_EXECUTE_CODE:
        call = add(server, tool, id, arguments);
        mcp_progress_init(&call->progress, token, live_text_wanted(server->engine), now_ms());
        char *session = xstrdup(call->arguments.session);
        advance(server, session);
        free(session);
        break;
    }
}

void mcp_call_tool(struct mcp_server *server, const struct mcp_message *request)
{
    struct json_span name, object = {NULL, 0}, token = {NULL, 0};
    struct mcp_arguments arguments = {.code = STRBUF_INIT};
    struct strbuf error = STRBUF_INIT;
    const char *fault = check_params(request->params, &name, &object, &token);
    const struct mcp_tool *tool = fault ? NULL : mcp_tool_find(name);
    if (fault)
        mcp_add_error(&server->out, request->id, MCP_BAD_PARAMS, fault);
    else if (!tool)
        mcp_add_error(
            &server->out, request->id, MCP_BAD_PARAMS,
            "unknown tool; there are execute_code, list_sessions, clear_session and interrupt");
    else if (!mcp_arguments_read(tool, object, &arguments, &error))
        answer_error(server, request->id, strbuf_text(&error));
    else if (server->call_count >= CALLS_MAX)
        answer_error(server, request->id, "too many calls wait for their answers; nothing was run");
    else
        run_tool(server, tool, request->id, &arguments, token);
    mcp_arguments_free(&arguments);
    strbuf_free(&error);
}

void mcp_calls_free(struct mcp_server *server)
{
    while (server->calls) {
        if (server->calls->threaded)
            pthread_join(server->calls->thread, NULL);
        drop(server, server->calls);
    }
}
