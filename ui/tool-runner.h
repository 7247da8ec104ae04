/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs tools for cells on threads of its own, at most eight at a time, so that the front end's loop
 * goes on. Each call is answered by hermes_tool_answer(), unless its cell is over. Decides nothing:
 * calls that come here are approved.
 */
#ifndef UI_TOOL_RUNNER_H
#define UI_TOOL_RUNNER_H

#include <stdint.h>

#include <hermes-kernel.h>

#include "tool-settings.h"

struct tool_runner;

/*
 * What is given must outlive the runner. environment: of what tools start. No thread is started
 * before the first call.
 */
struct tool_runner *tool_runner_new(struct hermes_engine *engine,
                                    const struct tool_settings *settings, char *const *environment);
/* Cancel all calls, wait until the last tool has ended, with what it had started. NULL is fine. */
void tool_runner_free(struct tool_runner *runner);

/* cwd: what relative paths of the call start from. */
void tool_runner_start(struct tool_runner *runner, uint64_t cell,
                       const struct hermes_tool_call *call, const char *cwd);

/*
 * Cancel the calls of a cell: those that run are told to end, those that wait are answered as
 * cancelled. Does not wait. Later calls of the cell are run again.
 */
void tool_runner_cancel(struct tool_runner *runner, uint64_t cell);

#endif
