/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tools-private.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "authority.h"
#include "kernel-private.h"
#include "text.h"

enum {
    LINE_MAX_BYTES = 8 << 20,
    OUT_MAX = 64 << 20,
    OUT_PAUSE = 1 << 20, /* answers unread: no more requests are */
    CHECKED_MAX = 1 << 20,
    READ_CHUNK = 65536,
};

/* ---- peers ------------------------------------------------------------------------------ */

void hr_tool_peer_close(struct hr_tool_peer *peer)
{
    struct hermes_engine *engine = peer->engine;
    int fd = peer->watch.fd;

    HR_LIST_EACH (link, &engine->tool_calls) {
        struct hr_tool_call *call = HR_CONTAINER(link, struct hr_tool_call, all);

        if (call->peer == peer)
            call->peer = NULL;
    }
    if (peer->kernel)
        peer->kernel->tool_peer = NULL;
    else
        engine->tool_peer_count--;
    hr_watch_remove(engine->loop, &peer->watch);
    close(fd);
    hr_list_remove(&peer->link);
    hr_buf_done(&peer->in);
    hr_buf_done(&peer->out);
    hr_free(peer);
}

static void peer_ready(struct hr_watch *watch, unsigned events);

struct hr_tool_peer *hr_tool_peer_new(struct hermes_engine *engine, int fd)
{
    struct hr_tool_peer *peer = hr_calloc(1, sizeof *peer);

    if (!peer)
        return NULL;
    peer->engine = engine;
    hr_buf_init(&peer->in, LINE_MAX_BYTES + READ_CHUNK + 1);
    hr_buf_init(&peer->out, OUT_MAX);
    if (hr_watch_add(engine->loop, &peer->watch, fd, HR_READ, peer_ready)) {
        hr_free(peer);
        return NULL;
    }
    hr_list_append(&engine->tool_peers, &peer->link);
    return peer;
}

/*
 * A client of the path socket that lets its answers lie is not read until it takes them. The
 * kernel's own process is: it may be writing when answers lie there that it no longer waits for.
 */
static unsigned wanted_events(const struct hr_tool_peer *peer)
{
    if (!peer->out.size)
        return HR_READ;
    return !peer->kernel && peer->out.size > OUT_PAUSE ? HR_WRITE : HR_READ | HR_WRITE;
}

static void peer_send(struct hr_tool_peer *peer)
{
    while (peer->out.size) {
        ssize_t n =
            send(peer->watch.fd, peer->out.data, peer->out.size, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            hr_buf_clear(&peer->out); /* its end is read as end-of-file */
        if (n <= 0)
            break;
        hr_buf_consume(&peer->out, (size_t)n);
    }
    hr_watch_change(peer->engine->loop, &peer->watch, wanted_events(peer));
}

/* One answer line. member is "result" or, for what never became a call, "error". */
static void peer_answer(struct hr_tool_peer *peer, const char *request_id, const char *member,
                        const char *json, size_t size)
{
    size_t before = peer->out.size;

    hr_buf_printf(&peer->out, "{\"id\":%s,\"%s\":", request_id ? request_id : "null", member);
    hr_buf_add(&peer->out, json, size);
    for (size_t i = before; i < peer->out.size;
         i++) /* a handler's answer may be printed over several lines */
        if (peer->out.data[i] == '\n' || peer->out.data[i] == '\r')
            peer->out.data[i] = ' ';
    hr_buf_add_text(&peer->out, "}\n");
    if (peer->out.failed) {
        peer->out.size = before;
        peer->out.failed = false;
        hr_buf_printf(&peer->out, "{\"id\":%s,\"error\":\"the answer is too large\"}\n",
                      request_id ? request_id : "null");
    }
    peer_send(peer);
}

static void peer_refuse(struct hr_tool_peer *peer, const char *request_id, const char *why)
{
    struct hr_buf json;

    hr_buf_init(&json, 0);
    hr_json_add_string(&json, why, strlen(why));
    peer_answer(peer, request_id, "error", json.failed ? "\"refused\"" : json.data,
                json.failed ? 9 : json.size);
    hr_buf_done(&json);
}

/* ---- calls ------------------------------------------------------------------------------ */

static void call_free(struct hr_tool_call *call)
{
    hr_list_remove(&call->all);
    hr_list_remove(&call->pending);
    hr_free(call->request_id);
    hr_free(call->tool);
    hr_free(call->arguments);
    hr_free(call);
}

void hr_tools_cell_settled(struct hr_cell *cell)
{
    struct hermes_engine *engine = cell->engine;

    if (!cell->authority)
        return;
    hermes_authority_retire(cell->authority);
    HR_LIST_EACH (link, &engine->tool_calls) {
        struct hr_tool_call *call = HR_CONTAINER(link, struct hr_tool_call, all);

        if (call->cell != cell)
            continue;
        if (call->peer)
            peer_refuse(call->peer, call->request_id,
                        "No active execute_code cell: the cell ended before the call was answered");
        call_free(call);
    }
}

struct hr_tool_call *hr_tools_take(struct hr_cell *cell)
{
    struct hr_tool_call *call;

    if (hr_list_empty(&cell->pending_calls))
        return NULL;
    call = HR_CONTAINER(cell->pending_calls.next, struct hr_tool_call, pending);
    hr_list_remove(&call->pending);
    return call;
}

/* The whole text is one JSON value. cJSON alone is content with one at the start. */
static cJSON *parse_whole(const char *text, size_t size)
{
    const char *end;
    cJSON *value = cJSON_ParseWithLengthOpts(text, size, &end, false);

    while (value && end < text + size && strchr(" \t\r\n", *end) && *end)
        end++;
    if (value && end < text + size) {
        cJSON_Delete(value);
        return NULL;
    }
    return value;
}

/*
 * A long answer is not looked at (a parsed one takes many times its size); hermes_tools finds out
 * by itself.
 */
static bool is_json(const char *text, size_t size)
{
    cJSON *value = size <= CHECKED_MAX ? parse_whole(text, size) : NULL;

    cJSON_Delete(value);
    return value || size > CHECKED_MAX;
}

static struct hr_tool_call *find_call(struct hermes_engine *engine, uint64_t id)
{
    HR_LIST_EACH (link, &engine->tool_calls) {
        struct hr_tool_call *call = HR_CONTAINER(link, struct hr_tool_call, all);

        if (call->id == id)
            return call;
    }
    return NULL;
}

int hr_tools_answer(struct hermes_engine *engine, uint64_t id, const char *json, size_t size)
{
    static const char no_json[] = "{\"error\":\"the answer to the tool call is no JSON\"}";
    struct hr_tool_call *call = find_call(engine, id);

    if (!call)
        return HERMES_ENOENT;
    if (call->peer && is_json(json, size))
        peer_answer(call->peer, call->request_id, "result", json, size);
    else if (call->peer)
        peer_answer(call->peer, call->request_id, "result", no_json, sizeof no_json - 1);
    call_free(call);
    return 0;
}

int hr_tools_refuse(struct hermes_engine *engine, uint64_t id, const char *why)
{
    struct hr_tool_call *call = find_call(engine, id);
    char *error;
    int status;

    if (!call)
        return HERMES_ENOENT;
    error = hr_error_json("%s", why);
    if (!error)
        return HERMES_ENOMEM;
    hr_authority_give_back(call->cell->authority);
    status = hr_tools_answer(engine, id, error, strlen(error));
    hr_free(error);
    return status;
}

/* A call that was let through: to the waiting caller, or into the queue of events. */
static void dispatch(struct hr_tool_peer *peer, struct hr_cell *cell, const char *request_id,
                     const char *tool, char *arguments)
{
    struct hermes_engine *engine = peer->engine;
    struct hr_tool_call *call = hr_calloc(1, sizeof *call);

    if (call) {
        hr_list_init(&call->all);
        hr_list_init(&call->pending);
        call->id = hr_engine_id(engine);
        call->cell = cell;
        call->peer = peer;
        call->request_id = hr_strdup(request_id);
        call->tool = hr_strdup(tool);
        call->arguments = arguments;
        hr_list_append(&engine->tool_calls, &call->all);
    } else {
        hr_free(arguments);
    }
    if (!call || !call->request_id || !call->tool ||
        (!cell->blocking && !hr_event_tool_call(cell, call))) {
        peer_refuse(peer, request_id, "out of memory");
        if (call)
            call_free(call);
        return;
    }
    if (cell->blocking)
        hr_list_append(&cell->pending_calls, &call->pending);
}

/* ---- requests --------------------------------------------------------------------------- */

/* In a time that does not depend on where they differ. */
static bool same_secret(const char *a, const char *b)
{
    size_t size = strlen(b);
    unsigned char difference = 0;

    if (!size || strlen(a) != size)
        return false;
    for (size_t i = 0; i < size; i++)
        difference |= (unsigned char)a[i] ^ (unsigned char)b[i];
    return !difference;
}

static struct hr_kernel *kernel_of_token(struct hermes_engine *engine, const cJSON *request)
{
    const cJSON *token = cJSON_GetObjectItemCaseSensitive(request, "token");
    struct hr_kernel *found = NULL;

    if (!cJSON_IsString(token))
        return NULL;
    HR_LIST_EACH (link, &engine->kernels) {
        struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

        if (kernel->tool_token && same_secret(token->valuestring, kernel->tool_token))
            found = kernel;
    }
    return found;
}

/* Start of a process in clock ticks since boot, 0 when it cannot be told. */
int64_t hr_process_started_ticks(pid_t pid)
{
    char path[40], stat[1024], *at;
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    n = read(fd, stat, sizeof stat - 1);
    close(fd);
    stat[n > 0 ? n : 0] = '\0';
    at = strrchr(stat, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoll(at + 1, NULL, 10) : 0;
}

int64_t hr_boot_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * The same of the running cell, by the clock that goes on in suspend, as that of processes does.
 * Every process of a kernel's first cell belongs to it; when that began is known only by a message
 * that may have been read late.
 */
static int64_t cell_started_ticks(const struct hr_kernel *kernel)
{
    int64_t boot_ns =
        kernel->execution_count > 1 ? kernel->current->started_boot_ns : kernel->started_boot_ns;

    return boot_ns / (1000000000 / sysconf(_SC_CLK_TCK));
}

/*
 * Whether the asker belongs to the running cell. The kernel's own process says which cell its
 * thread was born in, and what it forked says which one it was forked in; another process must have
 * been started since the cell was: a worker of an earlier cell has no authority, also when a pool
 * hands it work of this one, and neither has who holds the connection of a process that has gone.
 */
static bool belongs_to_cell(const struct hr_tool_peer *peer, struct hr_kernel *kernel,
                            const cJSON *request)
{
    const cJSON *cell = cJSON_GetObjectItemCaseSensitive(request, "cell");
    const char *given = cJSON_GetStringValue(cell);
    char expected[20];

    while (!kernel->ready && !hr_kernel_is_ending(kernel) && hr_kernel_read_control(kernel))
        continue; /* its first cell runs before we have read that it is ready */
    if (!kernel->current || kernel->current->state != HR_CELL_RUNNING)
        return false;
    snprintf(expected, sizeof expected, "%016llx", (unsigned long long)kernel->current->wire_id);
    if (cell || peer->kernel || peer->pid == kernel->process.python)
        if (!given || strcmp(given, expected) != 0)
            return false;
    if (peer->kernel || peer->pid == kernel->process.python)
        return true;
    if (!peer->started_ticks)
        return !hr_process_started_ticks(getpid()); /* nothing can be told of any process here */
    return peer->started_ticks >= cell_started_ticks(kernel);
}

/* Parameters that a call from a cell cannot have are dropped in silence. Whether there were any. */
static bool strip_parameters(cJSON *arguments)
{
    static const char *const blocked[] = {
        "background",        "pty", "notify", "notify_on_complete", "watch_patterns", "heartbeat",
        "persist_on_release"};
    bool found = false;

    for (size_t i = 0; i < HR_ARRAY_LENGTH(blocked); i++)
        for (; cJSON_HasObjectItem(arguments, blocked[i]);
             found = true) /* in any case of letters, and each of them */
            cJSON_DeleteItemFromObject(arguments, blocked[i]);
    return found;
}

/*
 * The arguments as JSON text; the text the caller wrote where nothing has to be taken out. NULL: no
 * object, or out of memory.
 */
static char *take_arguments(const cJSON *request, const char *tool)
{
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(request, "arguments");
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(request, "args");
    const char *words = cJSON_GetStringValue(text);
    cJSON *parsed = words                   ? parse_whole(words, strlen(words))
                    : cJSON_IsObject(given) ? cJSON_Duplicate(given, 1)
                                            : NULL;
    bool stripped =
        cJSON_IsObject(parsed) && strcmp(tool, "terminal") == 0 && strip_parameters(parsed);
    char *printed, *arguments = NULL;

    if (!text && !given)
        return hr_strdup("{}");
    if (cJSON_IsObject(parsed) && words && !stripped) {
        arguments = hr_strdup(words);
    } else if (cJSON_IsObject(parsed)) {
        printed = cJSON_PrintUnformatted(parsed);
        arguments = hr_strdup(printed);
        cJSON_free(printed);
    }
    cJSON_Delete(parsed);
    return arguments;
}

static void admit(struct hr_tool_peer *peer, struct hr_cell *cell, const char *request_id,
                  const char *tool, char *arguments)
{
    bool no_memory;
    char *refusal;

    if (!cell->authority || (cell->blocking && !hr_authority_handler(cell->authority))) {
        hr_free(arguments);
        refusal = hr_error_json(
            "Tool '%.100s' is not available in execute_code: the host has no handler for tools",
            tool);
    } else {
        refusal = hr_authority_admit(cell->authority, tool, &no_memory);
        if (!refusal && !no_memory) {
            dispatch(peer, cell, request_id, tool, arguments);
            return;
        }
        hr_free(arguments);
    }
    if (refusal)
        peer_answer(peer, request_id, "result", refusal, strlen(refusal));
    else
        peer_refuse(peer, request_id, "out of memory");
    hr_free(refusal);
}

static void handle_request(struct hr_tool_peer *peer, const cJSON *request, const char *request_id)
{
    const cJSON *tool = cJSON_GetObjectItemCaseSensitive(request, "tool");
    struct hr_kernel *kernel = peer->kernel ? peer->kernel : kernel_of_token(peer->engine, request);
    char *arguments;

    if (!kernel) {
        peer_refuse(peer, request_id, "Unauthorized RPC request");
        return;
    }
    if (!cJSON_IsString(tool)) {
        peer_refuse(peer, request_id, "Invalid RPC request: no tool");
        return;
    }
    if (!belongs_to_cell(peer, kernel, request)) {
        peer_refuse(peer, request_id,
                    "No active execute_code cell: this call comes from a thread or worker of an "
                    "earlier cell, or while no cell runs. "
                    "Create the pool in this cell.");
        return;
    }
    arguments = take_arguments(request, tool->valuestring);
    if (arguments)
        admit(peer, kernel->current, request_id, tool->valuestring, arguments);
    else
        peer_refuse(peer, request_id, "Invalid RPC request: the arguments are no object");
}

static void handle_line(struct hr_tool_peer *peer, const char *line, size_t size)
{
    cJSON *request = parse_whole(line, size);
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(request, "id");
    char *request_id = cJSON_IsNumber(id) || cJSON_IsString(id) ? cJSON_PrintUnformatted(id) : NULL;

    if (cJSON_IsObject(request))
        handle_request(peer, request, request_id);
    else
        peer_refuse(peer, NULL, "Invalid RPC request");
    cJSON_free(request_id);
    cJSON_Delete(request);
}

static void take_lines(struct hr_tool_peer *peer)
{
    char *start = peer->in.data, *end;
    size_t left = peer->in.size;

    while (left && (end = memchr(start, '\n', left))) {
        if (peer->skipping)
            peer->skipping = false;
        else if (end > start)
            handle_line(peer, start, (size_t)(end - start));
        left -= (size_t)(end + 1 - start);
        start = end + 1;
    }
    if (left > LINE_MAX_BYTES || peer->skipping) {
        if (!peer->skipping)
            peer_refuse(peer, NULL, "Invalid RPC request: the line is too long");
        peer->skipping = true;
        left = 0;
    }
    hr_buf_consume(&peer->in, peer->in.size - left);
}

void hr_tools_restart(struct hr_kernel *kernel)
{
    struct hr_tool_peer *peer = kernel->tool_peer;

    if (!peer)
        return;
    while (recv(peer->watch.fd, kernel->engine->scratch, sizeof kernel->engine->scratch,
                MSG_DONTWAIT) > 0)
        continue;
    hr_buf_clear(&peer->in);
    hr_buf_clear(&peer->out);
    peer->skipping = false;
    hr_watch_change(kernel->engine->loop, &peer->watch, wanted_events(peer));
}

static void peer_ready(struct hr_watch *watch, unsigned events)
{
    struct hr_tool_peer *peer = HR_CONTAINER(watch, struct hr_tool_peer, watch);
    ssize_t n;

    if (events & HR_WRITE)
        peer_send(peer);
    if (!(events & HR_READ))
        return;
    if (!hr_buf_reserve(&peer->in, READ_CHUNK)) {
        hr_tool_peer_close(peer);
        return;
    }
    n = recv(watch->fd, peer->in.data + peer->in.size, READ_CHUNK, MSG_DONTWAIT);
    if (n > 0) {
        peer->in.size += (size_t)n;
        take_lines(peer);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        hr_tool_peer_close(peer);
    }
}
