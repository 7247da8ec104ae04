/* SPDX-License-Identifier: MIT */
/*
 * Tool calls on their way between code in cells and the host. A kernel's own process speaks over an
 * inherited socket, processes that it started over a private path socket of the engine; both speak
 * JSON lines:
 *
 *     {"id": 1, "cell": "<hex>", "token": "...", "tool": "terminal", "arguments": "<JSON text>"}
 *     ->  {"id": 1, "result": ...}
 *
 * Every call is checked against the authority of the cell that runs in that kernel at that moment,
 * and refused when none does.
 */
#ifndef HR_TOOLS_H
#define HR_TOOLS_H

#include "kernel.h"

struct hr_tool_peer;

/* One call that was let through and has no answer yet. */
struct hr_tool_call {
    struct hr_link all;     /* in the engine's list */
    struct hr_link pending; /* in its cell's list, until a blocking caller takes it */
    uint64_t id;
    struct hr_cell *cell;
    struct hr_tool_peer *peer; /* NULL: the asker has gone */
    char *request_id, *tool, *arguments;
};

bool hr_tools_wanted(const struct hr_spec *spec);
/*
 * Set a kernel up: its end of the inherited socket in *ret_child_fd, hermes_tools.py in its staging
 * directory. On failure the caller ends the kernel with hr_tools_close() as usual.
 */
int hr_tools_open(struct hr_kernel *kernel, int *ret_child_fd, struct hermes_error *error);
/* Another process has the other end of its own socket now. */
void hr_tools_restart(struct hr_kernel *kernel);
void hr_tools_close(struct hr_kernel *kernel);
/* The cell has settled: its authority is retired and its open calls are dropped. */
void hr_tools_cell_settled(struct hr_cell *cell);
void hr_tools_engine_done(struct hermes_engine *engine);

/* For a blocking caller: the next call to run, or NULL. It stays open until answered. */
struct hr_tool_call *hr_tools_take(struct hr_cell *cell);
/* json is copied. HERMES_ENOENT when the call is not open any more. */
int hr_tools_answer(struct hermes_engine *engine, uint64_t id, const char *json, size_t size);
/* The same for a call that was not run: it costs nothing. */
int hr_tools_refuse(struct hermes_engine *engine, uint64_t id, const char *why);

/* Nanoseconds by the clock that goes on while the machine is suspended. */
int64_t hr_boot_ns(void);

#endif
