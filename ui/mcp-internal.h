/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the parts of the server share. One thread does everything but the ending of sessions, which
 * has to wait for processes: that is a thread for each clear_session, which touches nothing of the
 * server but its own call.
 */
#ifndef UI_MCP_INTERNAL_H
#define UI_MCP_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "mcp-message.h"
#include "mcp-progress.h"
#include "mcp-tools.h"
#include "mcp.h"

/* An execute_code or clear_session that is not answered yet. */
struct mcp_call {
    struct mcp_call *next;
    char *id; /* JSON, as it came */
    const struct mcp_tool *tool;
    struct mcp_arguments arguments;
    struct mcp_progress progress;
    uint64_t cell;             /* execute_code: 0 while it is held back */
    bool cancelled;            /* nobody waits for an answer */
    struct mcp_server *server; /* clear_session: the rest */
    bool threaded;
    pthread_t thread;
    atomic_bool cleared;
};

struct mcp_server {
    struct hermes_engine *engine;
    const struct mcp_options *options;
    struct hermes_kernel_setup setup;
    int input, output; /* private copies: 0 is /dev/null and 1 is standard error meanwhile */
    int wake[2];       /* a byte for each signal and each session that is cleared */
    struct tool_calls tool_calls; /* what cells have called */
    struct mcp_lines lines;
    struct strbuf out; /* what is to be written */
    size_t written;    /* bytes of it that are */
    bool initialized;
    bool input_over;
    bool reader_gone;       /* nobody reads what we write */
    struct mcp_call *calls; /* in the order in which they came */
    size_t call_count;
};

/* mcp-calls.c */
void mcp_call_tool(struct mcp_server *server, const struct mcp_message *request);
bool mcp_call_lives(const struct mcp_server *server, struct json_span id);
void mcp_call_cancel(struct mcp_server *server, struct json_span id, struct json_span reason);
void mcp_calls_on_event(struct mcp_server *server, const struct hermes_event *event);
void mcp_calls_collect(struct mcp_server *server); /* sessions that are cleared */
/* Send the progress that is due; in how many milliseconds there will be more, -1: never. */
int64_t mcp_calls_progress(struct mcp_server *server);
void mcp_calls_drop_held(struct mcp_server *server, const char *session,
                         const char *why);      /* NULL: of all sessions */
void mcp_calls_free(struct mcp_server *server); /* waits for the threads */

/* mcp-protocol.c */
void mcp_take_line(struct mcp_server *server, struct json_span line);

/* mcp-io.c */
bool mcp_io_open(struct mcp_server *server);
void mcp_io_close(struct mcp_server *server);
int mcp_io_signal(void);                     /* the one that ends the server, or 0 */
void mcp_io_wake(struct mcp_server *server); /* any thread */
/*
 * Wait for input, events, signals or room for output, at most so long (-1: no limit). Writes and
 * reads.
 */
void mcp_io_wait(struct mcp_server *server, int64_t timeout_ms, bool *ret_input, bool *ret_events);
bool mcp_io_read(
    struct mcp_server *server); /* a portion of the input into lines; false: none was there */
size_t mcp_io_pending(const struct mcp_server *server);         /* bytes to be written */
void mcp_io_flush(struct mcp_server *server, int64_t limit_ms); /* last words */

#endif
