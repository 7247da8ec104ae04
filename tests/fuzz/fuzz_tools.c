/* SPDX-License-Identifier: MIT */
/*
 * Requests for tools as they come from a cell: the first byte says by which channel and in what
 * pieces. Every line gets one answer, all of them JSON, at the latest when the cell ends. Includes
 * the module, to reach what it reads lines with.
 */
#include "config.h"

#include <stdint.h>

#include "tools-setup.c"
#include "tools.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BUDGET = 5 };

static void nothing(void *context)
{
    (void)context;
}

static char *never(const struct hermes_tool_call *call)
{
    (void)call;
    abort();
}

static struct hermes_authority *authority_new(void)
{
    static const char *const tools[] = {"terminal", "web_search", NULL};
    struct hermes_authority_options options = HERMES_AUTHORITY_OPTIONS_INIT;

    options.tools = tools;
    options.max_calls = BUDGET;
    options.handler = never;
    return hermes_authority_new(&options);
}

/* How many lines of answers there are. */
static size_t count_answers(struct hr_tool_peer *peer, int fd)
{
    size_t count = 0;
    char *start, *end;
    struct hr_buf got;
    ssize_t n;

    hr_buf_init(&got, 0);
    do {
        if (!hr_buf_reserve(&got, READ_CHUNK))
            abort();
        n = recv(fd, got.data + got.size, READ_CHUNK, MSG_DONTWAIT);
        got.size += n > 0 ? (size_t)n : 0;
        peer_send(peer);
    } while (n > 0);
    if (peer->out.size || (got.size && got.data[got.size - 1] != '\n'))
        abort();
    for (start = got.data; got.size && start < got.data + got.size; start = end + 1, count++) {
        cJSON *answer;

        end = memchr(start, '\n', (size_t)(got.data + got.size - start));
        answer = parse_whole(start, (size_t)(end - start));
        if (!cJSON_IsObject(answer) || cJSON_GetArraySize(answer) != 2 ||
            strncmp(start, "{\"id\":", 6) != 0)
            abort();
        cJSON_Delete(answer);
    }
    hr_buf_done(&got);
    return count;
}

static size_t feed(struct hr_tool_peer *peer, const char *data, size_t size, size_t piece)
{
    size_t lines = 0, line = 0;

    for (size_t i = 0; i < size; i++) {
        line = data[i] == '\n' ? 0 : line + 1;
        lines += line == 1;
    }
    for (size_t n; size; data += n, size -= n) {
        n = piece < size ? piece : size;
        if (!hr_buf_add(&peer->in, data, n))
            abort();
        take_lines(peer);
    }
    return lines - (line > 0); /* the last one has no end */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char token[] = "secret";
    struct hermes_engine engine = {0};
    struct hr_kernel kernel = {.engine = &engine,
                               .ready = true,
                               .execution_count = 1,
                               .tool_token = token,
                               .state = HERMES_KERNEL_BUSY};
    struct hr_cell cell = {.engine = &engine,
                           .kernel = &kernel,
                           .wire_id = 0x1234,
                           .state = HR_CELL_RUNNING,
                           .blocking = true};
    struct hr_tool_peer *peer;
    size_t lines, answers;
    int pair[2];

    if (!size || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return 0;
    hr_list_init(&engine.kernels);
    hr_list_init(&engine.tool_peers);
    hr_list_init(&engine.tool_calls);
    hr_list_init(&cell.pending_calls);
    hr_list_append(&engine.kernels, &kernel.link);
    engine.loop = hr_loop_new(nothing, nothing, NULL);
    kernel.current = &cell;
    cell.authority = authority_new();
    peer = hr_tool_peer_new(&engine, pair[0]);
    if (!engine.loop || !cell.authority || !peer)
        abort();
    peer->started_ticks = INT64_MAX;
    if (data[0] & 1)
        kernel.tool_peer = peer, peer->kernel = &kernel;
    else
        engine.tool_peer_count++;
    lines = feed(peer, (const char *)data + 1, size - 1, (data[0] >> 1) + (size_t)1);
    hr_tools_cell_settled(&cell);
    answers = count_answers(peer, pair[1]);
    if (answers != lines || hermes_authority_calls(cell.authority) > BUDGET ||
        !hr_list_empty(&engine.tool_calls))
        abort();
    hr_tool_peer_close(peer);
    close(pair[1]);
    hermes_authority_unref(cell.authority);
    hr_loop_free(engine.loop);
    return 0;
}
