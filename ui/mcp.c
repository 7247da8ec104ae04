/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "mcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "mcp-internal.h"
#include "progress.h"

#define EVENTS_AT_ONCE 256
#define LEAVE_MS 1500 /* hosts wait two seconds between end of input and SIGTERM */
#define LAST_WORDS_MS 500

static void take_events(struct mcp_server *server, size_t limit)
{
    struct hermes_event *event = NULL;
    while (limit-- && hermes_next_event(server->engine, 0, &event) == HERMES_OK && event) {
        mcp_calls_on_event(server, event);
        hermes_event_free(event);
    }
}

static void take_lines(struct mcp_server *server)
{
    struct json_span line, none = {NULL, 0};
    for (;;) {
        switch (mcp_lines_next(&server->lines, &line)) {
        case MCP_LINE_NONE:
            return;
        case MCP_LINE:
            mcp_take_line(server, line);
            break;
        case MCP_LINE_TOO_LONG:
            mcp_add_error(&server->out, none, MCP_INVALID_REQUEST,
                          "a message may have at most 64 MiB; a longer one was skipped");
            break;
        }
    }
}

static void take_input(struct mcp_server *server)
{
    if (!mcp_io_read(server) && server->input_over)
        mcp_lines_end(&server->lines);
    take_lines(server);
}

/* Until the input is over and every call is answered, or nobody is there any more. */
static void serve(struct mcp_server *server)
{
    while (!mcp_io_signal() && !server->reader_gone) {
        bool input, events;
        int64_t timeout_ms = mcp_calls_progress(server);
        if (server->input_over && !server->calls && !mcp_io_pending(server))
            break;
        mcp_io_wait(server, timeout_ms, &input, &events);
        mcp_calls_collect(server);
        if (events)
            take_events(server, EVENTS_AT_ONCE);
        if (input)
            take_input(server);
    }
}

/*
 * ---- the end
 * ----------------------------------------------------------------------------------------
 */

/* Let the interpreters leave as Python programs do, as long as hosts have patience. */
static void close_sessions(struct mcp_server *server)
{
    char *text = hermes_kernels_json(server->engine);
    struct json_span kernel, name, list = {text, text ? strlen(text) : 0};
    size_t living = 0;
    for (size_t position = 0; json_next_element(list, &position, &kernel);) {
        struct strbuf session = STRBUF_INIT;
        living++;
        if (json_get(kernel, "session", &name) && json_kind_of(name) == JSON_STRING)
            json_decode(name, &session);
        hermes_close(server->engine, strbuf_text(&session), NULL);
        strbuf_free(&session);
    }
    hermes_free(text);
    int64_t end = now_ms() + LEAVE_MS, left;
    while (living && !mcp_io_signal() && (left = end - now_ms()) > 0) {
        struct hermes_event *event = NULL;
        if (hermes_next_event(server->engine, left, &event) != HERMES_OK)
            break;
        if (event && event->type == HERMES_EVENT_KERNEL && event->state == HERMES_KERNEL_DEAD)
            living--;
        hermes_event_free(event);
    }
}

/* Asked to end now: what runs is killed, and everybody still gets an answer. */
static void abandon(struct mcp_server *server)
{
    mcp_calls_drop_held(server, NULL, "the server ends");
    hermes_shutdown_all(server->engine);
    int64_t end = now_ms() + LAST_WORDS_MS, left;
    for (mcp_calls_collect(server); server->calls && (left = end - now_ms()) > 0;
         mcp_calls_collect(server)) {
        struct hermes_event *event = NULL;
        if (hermes_next_event(server->engine, left, &event) != HERMES_OK)
            break;
        if (event)
            mcp_calls_on_event(server, event);
        hermes_event_free(event);
    }
    mcp_io_flush(server, LAST_WORDS_MS);
}

int mcp_run(struct hermes_engine *engine, const struct mcp_options *options)
{
    struct mcp_server server = {
        .engine = engine,
        .options = options,
        .setup = HERMES_KERNEL_SETUP_INIT,
        .lines = MCP_LINES_INIT(MCP_LINE_MAX),
    };
    int status = 0;
    server.setup.env = options->inherit_env ? HERMES_ENV_INHERIT : HERMES_ENV_SCRUB;
    if (!mcp_io_open(&server)) {
        fprintf(stderr, "hermes-repl: --mcp: no descriptors\n");
        return BATCH_STATUS_START;
    }
    tool_calls_init(&server.tool_calls, engine, options->terms);
    server.tool_calls.approval.nobody = "this server asks nobody";
    serve(&server);
    if (mcp_io_signal()) {
        status = 128 + mcp_io_signal();
        abandon(&server);
    } else if (!server.reader_gone) {
        close_sessions(&server);
    }
    if (server.calls)
        hermes_shutdown_all(engine);
    tool_calls_free(&server.tool_calls);
    mcp_calls_free(&server);
    mcp_io_close(&server);
    mcp_lines_free(&server.lines);
    strbuf_free(&server.out);
    return status;
}
