/* SPDX-License-Identifier: MIT */
/* What each call may be answered, given what the log tells of its cell. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "model.h"

enum { FLOOD_BYTES = 200000 };

struct expected {
    enum hermes_outcome outcome;
    int exit_code, term_signal, state_kept;
};

/* A cell that came to its end by itself. */
static bool expect_kept(enum cell_kind kind, struct expected *ret)
{
    *ret = (struct expected){HERMES_SUCCESS, 0, 0, -1};
    if (kind == CELL_RAISE)
        *ret = (struct expected){HERMES_ERROR, 1, 0, -1};
    return kind <= CELL_RAISE;
}

static bool expect_lost(enum cell_kind kind, enum hermes_previous cause, struct expected *ret)
{
    switch (cause) {
    case HERMES_PREVIOUS_TIMEOUT:
        *ret = (struct expected){HERMES_TIMEOUT, -1, 0, -1};
        return kind == CELL_HANG;
    case HERMES_PREVIOUS_RESET:
    case HERMES_PREVIOUS_KILLED:
    case HERMES_PREVIOUS_INTERRUPTED:
        *ret = (struct expected){HERMES_INTERRUPTED, -1, 0, 0};
        return true;
    case HERMES_PREVIOUS_EXITED:
        *ret = (struct expected){HERMES_ERROR, 3, 0, -1};
        return kind == CELL_EXIT;
    case HERMES_PREVIOUS_DIED:
        *ret = kind == CELL_SHOT ? (struct expected){HERMES_ERROR, -9, 9, -1}
                                 : (struct expected){HERMES_ERROR, 7, 0, -1};
        return kind == CELL_SHOT || kind == CELL_ABORT;
    default:
        return false;
    }
}

static void check_outcome(struct model *model, int at, const struct call *call,
                          enum hermes_previous cause)
{
    const struct answer *answer = &call->answer;
    struct expected expected;
    bool possible;

    if (!cause && answer->outcome == HERMES_INTERRUPTED) {
        expected = (struct expected){HERMES_INTERRUPTED, -1, 0, 1};
        possible = was_interrupted(model, call, CALL_INTERRUPT);
    } else {
        possible =
            cause ? expect_lost(call->kind, cause, &expected) : expect_kept(call->kind, &expected);
    }
    if (!possible || answer->outcome != expected.outcome ||
        answer->exit_code != expected.exit_code || answer->term_signal != expected.term_signal ||
        answer->state_kept != expected.state_kept || answer->ended != (cause != 0))
        model_fault(model, at,
                    "a %s cell answers outcome %d, exit code %d, state kept %d, ended %d: %s",
                    cell_kind_name(call->kind), (int)answer->outcome, answer->exit_code,
                    answer->state_kept, answer->ended, answer->words);
    if (answer->outcome == HERMES_TIMEOUT && answer->duration_us < call->timeout_ms * 1000L)
        model_fault(model, at, "a time limit of %d ms strikes after %ld us", call->timeout_ms,
                    (long)answer->duration_us);
    if (answer->outcome == HERMES_SUCCESS && call->kind == CELL_FLOOD &&
        (answer->bytes_total != answer->line_size + FLOOD_BYTES || !answer->truncated))
        model_fault(model, at, "a flood of %llu bytes", (unsigned long long)answer->bytes_total);
}

/* What Python itself has printed. */
static void check_printed(struct model *model, int at, const struct call *call,
                          struct kernel *kernel)
{
    const struct answer *answer = &call->answer;

    if (!answer->printed) {
        if (answer->outcome != HERMES_INTERRUPTED && answer->outcome != HERMES_TIMEOUT)
            model_fault(model, at, "an answer without its first line: %s", answer->words);
        kernel->n_high++;
        return;
    }
    if (answer->call != call - model->load->calls)
        model_fault(model, at, "the answer of call %ld for call %ld", answer->call,
                    (long)(call - model->load->calls));
    if (answer->pid != answer->kernel_pid || (kernel->pid && answer->pid != kernel->pid))
        model_fault(model, at, "process %ld answers for %lld of kernel %ld", answer->pid,
                    (long long)answer->kernel_pid, kernel->pid);
    if (answer->who != place(call->session, call->child, call->key))
        model_fault(model, at, "the state of somebody else: %s", answer->words);
    if (answer->n <= kernel->n_low || answer->n > kernel->n_high + 1)
        model_fault(model, at, "Python has seen %ld cells, and should have %ld to %ld", answer->n,
                    kernel->n_low + 1, kernel->n_high + 1);
    kernel->pid = answer->pid;
    kernel->n_low = kernel->n_high = answer->n;
}

void check_answer(struct model *model, int at, const struct call *call, struct kernel *kernel,
                  enum hermes_previous cause)
{
    const struct answer *answer = &call->answer;
    bool first = kernel->count == 1;

    if (!call->answers)
        return; /* told by check_calls() */
    if (!answer->started || answer->start_failed || answer->kernel != kernel->id ||
        answer->execution_count != kernel->count || answer->generation != kernel->generation ||
        answer->reused == first)
        model_fault(
            model, at, "kernel %llu count %llu generation %llu reused %d, not %llu %llu %llu",
            (unsigned long long)answer->kernel, (unsigned long long)answer->execution_count,
            (unsigned long long)answer->generation, answer->reused, (unsigned long long)kernel->id,
            (unsigned long long)kernel->count, (unsigned long long)kernel->generation);
    if (answer->previous != (first ? kernel->previous : HERMES_PREVIOUS_NONE) ||
        answer->state_reset != (first && kernel->state_reset))
        model_fault(model, at, "previous \"%s\" reset %d, not \"%s\" %d",
                    previous_name(answer->previous), answer->state_reset,
                    previous_name(first ? kernel->previous : HERMES_PREVIOUS_NONE),
                    first && kernel->state_reset);
    check_outcome(model, at, call, cause);
    check_printed(model, at, call, kernel);
}

/* ---- calls ------------------------------------------------------------------------------ */

static bool ends_owner(const struct call *call, const struct call *cell)
{
    return (call->type == CALL_RESET || call->type == CALL_CLEAR || call->type == CALL_CHILD_END) &&
           call->session == cell->session && call->child == cell->child;
}

/* A cell that never ran: somebody ended its owner's kernels, or it, at that time. */
static void check_not_run(struct model *model, const struct call *cell)
{
    const struct load *load = model->load;
    int from = cell->done != NEVER ? cell->done : cell->begin,
        to = cell->done != NEVER ? cell->done + 1 : cell->end;
    bool explained = false;

    model->sums.not_run++;
    for (int i = 0; i < load->call_count && !explained; i++) {
        const struct call *call = &load->calls[i];
        bool ends =
            ends_owner(call, cell) ||
            ((call->type == CALL_INTERRUPT || call->type == CALL_KILL) && call->cell == cell->cell);

        /* a kernel that was reset while it started settles its cell when it is gone */
        explained = ends && call->begin < to && (call->end > from || cell->answer.kernel);
    }
    if (!explained || cell->answer.outcome != HERMES_INTERRUPTED || cell->answer.exit_code != -1 ||
        cell->answer.start_failed)
        model_fault(model, cell->done, "a cell was not run: %s", cell->answer.words);
}

static void check_cell_call(struct model *model, struct call *call)
{
    const struct done *done = log_find_done(model->load, call->cell);
    int dones = done ? done->count : 0;

    if (call->status) {
        model_fault(model, -1, "a cell is refused: %s", hermes_status_name(call->status));
        return;
    }
    if (call->answers != 1 || dones != (call->type == CALL_SUBMIT)) {
        model_fault(model, -1, "a %s cell in %d.%d.%d got %d answers and %d events",
                    cell_kind_name(call->kind), call->session, call->child, call->key,
                    call->answers, dones);
        return;
    }
    model->sums.cells[call->kind]++;
    model->sums.outcomes[call->answer.outcome]++;
    model->sums.reused += call->answer.reused;
    if (call->answer.started != (call->started != NEVER))
        model_fault(model, call->started, "started says the answer: %d", call->answer.started);
    if (!call->answer.started)
        check_not_run(model, call);
    else if (call->settled == NEVER)
        model_fault(model, call->started, "an answer, and the kernel goes on with the cell");
}

/* 0: it was not settled when the call began; HERMES_ENOENT: it was when the call returned. */
static void check_stop_call(struct model *model, const struct call *call)
{
    const struct done *done = log_find_done(model->load, call->cell);

    if ((call->status != 0 && call->status != HERMES_ENOENT) || !done ||
        (!call->status && done->place < call->begin) || (call->status && done->place >= call->end))
        model_fault(model, call->begin, "an interrupt or kill returned %d", call->status);
}

/* Whether the owner certainly had a kernel, or perhaps. */
static void check_end_call(struct model *model, const struct call *call)
{
    bool certain = false, possible = false;

    for (size_t i = 0; i < model->kernel_count; i++) {
        const struct kernel *kernel = &model->kernels[i];

        if (kernel->owner != owner_of(call->session, call->child) || !kernel->born)
            continue;
        certain |= kernel->born_at < call->begin && kernel->died_at >= call->end;
        possible |= kernel->born_at < call->end && kernel->died_at >= call->begin;
        if (kernel->born_at < call->begin && kernel->unlisted >= call->end)
            model_fault(model, call->begin, "kernel %llu takes cells after the end of its session",
                        (unsigned long long)kernel->id);
        if (call->type != CALL_RESET && kernel->born_at < call->begin &&
            kernel->died_at >= call->end)
            model_fault(model, call->begin, "kernel %llu outlives the clearing of its session",
                        (unsigned long long)kernel->id);
    }
    if (call->type == CALL_RESET &&
        ((call->status && call->status != HERMES_ENOENT) || (!call->status && !possible) ||
         (call->status == HERMES_ENOENT && certain)))
        model_fault(model, call->begin, "a reset returned %d", call->status);
    if (call->type != CALL_RESET && call->status)
        model_fault(model, call->begin, "a clearing returned %d", call->status);
}

void check_calls(struct model *model)
{
    for (int i = 0; i < model->load->call_count; i++) {
        struct call *call = &model->load->calls[i];

        model->sums.calls[call->type]++;
        if (call_is_cell(call))
            check_cell_call(model, call);
        else if (call->type == CALL_INTERRUPT || call->type == CALL_KILL)
            check_stop_call(model, call);
        else if (call->type == CALL_RESET || call->type == CALL_CLEAR ||
                 call->type == CALL_CHILD_END)
            check_end_call(model, call);
        else if (call->status)
            model_fault(model, call->begin, "a call of type %d returned %d", (int)call->type,
                        call->status);
    }
}
