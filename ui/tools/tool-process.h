/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs one child process for a tool: in a session of its own, with a time limit, cancellable, with
 * bounded output, and with nothing of it left afterwards. Waits for its own child only and touches
 * no signal handler, so it may run beside other children on any thread.
 */
#ifndef UI_TOOL_PROCESS_H
#define UI_TOOL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strbuf.h"
#include "tool.h"

struct process_request {
    const char *const *argv;        /* argv[0] is the path of the program */
    const char *directory;          /* where it runs */
    const char *const *environment; /* added to the context's; may be NULL */
    const char *const *without; /* names to leave out of the context's environment; may be NULL */
    const char *input;          /* its stdin; NULL: /dev/null */
    size_t input_size;
    int64_t timeout_ms; /* -1: none */
    bool merge;         /* stderr goes where stdout goes */
    size_t head_bytes;  /* how much is kept of stdout: its beginning, and */
    size_t tail_bytes;  /* its end */
    bool refuse_more;   /* end the process instead of forgetting the middle */
};

enum process_end {
    PROCESS_EXITED,    /* code: exit status */
    PROCESS_SIGNALLED, /* code: signal */
    PROCESS_TIMED_OUT,
    PROCESS_CANCELLED,
    PROCESS_TOO_BIG,
    PROCESS_NOT_STARTED /* code: errno */
};

struct process_result {
    enum process_end end;
    int code;
    bool bad_directory; /* NOT_STARTED because of the directory */
    struct strbuf head;
    char *ring; /* the last tail_bytes of what came after head */
    size_t ring_size, ring_at;
    uint64_t total_bytes; /* of stdout */
    struct strbuf errors; /* stderr, its last 4 KiB, unless merged */
    int64_t elapsed_ms;
    int left_over; /* processes that still ran when it had ended, and were ended */
};

void process_run(const struct tool_context *context, const struct process_request *request,
                 struct process_result *ret_result);
/* Append what was kept, with a line about what was not; no character is cut in two. */
void process_output(const struct process_result *result, struct strbuf *output);
/* Bytes that were not kept. */
uint64_t process_omitted(const struct process_result *result);
void process_result_free(struct process_result *result);

#endif
