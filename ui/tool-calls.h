/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a front end does with HERMES_EVENT_TOOL_CALL: approval, then the tool on a thread, in the
 * session's directory and with the environment that the session's kernel may have. Used by the
 * thread that takes the events.
 */
#ifndef UI_TOOL_CALLS_H
#define UI_TOOL_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include <hermes-kernel.h>

#include "approval.h"
#include "tool-runner.h"

/*
 * What cells may call, and on which terms. All of it belongs to the caller and outlives the calls.
 */
struct tool_terms {
    const char *const *tools; /* NULL-ended; empty: none */
    const struct tool_settings *settings;
    const char *approve; /* a policy that approval_set() takes */
    enum hermes_env env; /* of the kernels */
    const char *cwd;     /* of the sessions; NULL: here */
    bool strict;         /* without cwd each session has a directory of its own */
};

struct tool_calls {
    struct hermes_engine *engine;
    const struct tool_terms *terms;
    struct approval approval;
    struct tool_runner *runner; /* NULL: nothing was called yet */
    char **environment;
    char *cwd; /* NULL: each kernel's own */
};

/* The front end sets approval.ask, or approval.nobody, afterwards. */
void tool_calls_init(struct tool_calls *calls, struct hermes_engine *engine,
                     const struct tool_terms *terms);
void tool_calls_free(struct tool_calls *calls); /* waits for what runs, which is told to end */

/*
 * Take a call event of a cell that is not settled. APPROVAL_REFUSED: it has its answer, and denial
 * says why.
 */
enum approval_verdict tool_calls_take(struct tool_calls *calls, const struct hermes_event *event,
                                      struct strbuf *denial);
/*
 * The answer to a question for which tool_calls_take() gave APPROVAL_WAITS, of a cell that is not
 * settled; session is the owner's name.
 */
enum approval_verdict tool_calls_settle(struct tool_calls *calls,
                                        const struct approval_question *question, uint64_t kernel,
                                        enum approval_answer answer, struct strbuf *denial);
/* The cell was interrupted, or is over: what it has called is told to end. */
void tool_calls_cancel(struct tool_calls *calls, uint64_t cell);
/* The session was cleared. */
void tool_calls_forget(struct tool_calls *calls, const char *session);

#endif
