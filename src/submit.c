/* SPDX-License-Identifier: MIT */
/*
 * Cells from the caller to their kernel: checked, placed, queued, waited for, interrupted.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "authority.h"
#include "engine-private.h"
#include "tools.h"

static bool bad_name(const char *name)
{
    return name && (!*name || strstr(name, "::"));
}

static int check_key(const struct hermes_cell *cell, struct hermes_error *error)
{
    if (!cell || cell->size < sizeof *cell ||
        (cell->setup && cell->setup->size < sizeof *cell->setup))
        return hr_error_set(error, HERMES_EINVAL, 0,
                            "a struct without its size; use the _INIT macros");
    if (!cell->session && !cell->task_id)
        return hr_error_set(error, HERMES_EINVAL, 0, "neither session nor task_id is given");
    if (cell->setup && ((unsigned)cell->setup->io > HERMES_IO_TTY || cell->setup->columns < 0 ||
                        cell->setup->rows < 0 || cell->setup->columns > UINT16_MAX ||
                        cell->setup->rows > UINT16_MAX))
        return hr_error_set(error, HERMES_EINVAL, 0, "a setup with values out of range");
    if (bad_name(cell->session) || bad_name(cell->task_id) || bad_name(cell->child_id))
        return hr_error_set(error, HERMES_EINVAL, 0,
                            "session, task_id and child_id may be neither empty nor hold \"::\"");
    return 0;
}

static int check_cell(const struct hermes_cell *cell, struct hermes_error *error)
{
    int status = check_key(cell, error);

    if (status)
        return status;
    if (!cell->code || (!cell->code_size && !*cell->code))
        return hr_error_set(error, HERMES_EINVAL, 0, "no code");
    if ((cell->code_size ? cell->code_size : strlen(cell->code)) > HERMES_SOURCE_MAX)
        return hr_error_set(error, HERMES_EINVAL, 0, "code above %u bytes", HERMES_SOURCE_MAX);
    return 0;
}

static int reserve_done(struct hr_cell *cell, bool blocking)
{
    cell->blocking = blocking;
    cell->events = !blocking || (cell->flags & HERMES_CELL_EVENTS);
    if (blocking)
        return 0;
    cell->done = hr_event_new(HERMES_EVENT_DONE, NULL, 0);
    return cell->done ? 0 : HERMES_ENOMEM;
}

/*
 * Give the cell to its kernel. A kernel that cannot be started is the cell's result, not an error.
 */
static int place_cell(struct hermes_engine *engine, struct hr_cell *cell,
                      struct hermes_error *error)
{
    struct hermes_error why = {0};
    struct hr_kernel *kernel;
    int status;

    hr_registry_keep_order(engine, cell->spec);
    status =
        hr_registry_acquire(engine, cell->spec, cell->flags & HERMES_CELL_RESET, &kernel, &why);
    if (status == HERMES_ENOMEM)
        return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    if (status == HERMES_EAGAIN)
        return hr_error_set(error, HERMES_EAGAIN, 0, "%s", why.text);
    if (status) {
        hr_cell_start_failed(cell, why.text);
        return 0;
    }
    if (kernel->queued >= (size_t)engine->options.max_queued_cells)
        return hr_error_set(error, HERMES_EAGAIN, 0, "%lld cells wait already",
                            (long long)kernel->queued);
    hr_kernel_enqueue(kernel, cell);
    hr_registry_trim(engine);
    return 0;
}

/* What is known of a cell before it is placed. */
struct intake {
    struct hr_place place;
    int found;    /* 0, or why there is no place; error says more */
    bool refused; /* by the host's guard, for this reason: */
    char reason[256];
    struct hermes_error error;
};

/*
 * Lock held. On success the cell is on its way (an asynchronous one may be settled and freed
 * already).
 */
static int submit_at(struct hermes_engine *engine, const struct hermes_cell *request,
                     struct intake *intake, bool blocking, struct hr_cell **ret_cell,
                     uint64_t *ret_id)
{
    const char *python = intake->found ? "" : intake->place.python,
               *cwd = intake->found ? "" : intake->place.cwd;
    struct hermes_error *error = &intake->error;
    struct hr_spec *spec;
    struct hr_cell *cell;
    int status;

    if (engine->closing || engine->stopping)
        return hr_error_set(error, HERMES_ECLOSED, 0, "the engine is shutting down");
    status = hr_spec_get(engine, request, python, cwd, &spec, error);
    if (status)
        return status;
    status = hr_cell_new(engine, request, spec, &cell);
    hr_spec_unref(engine, spec);
    if (status)
        return hr_error_set(error, status, 0, "out of memory");
    *ret_id = cell->id;
    status = reserve_done(cell, blocking);
    if (status)
        hr_error_set(error, status, 0, "out of memory");
    else if (intake->refused)
        hr_cell_refuse(cell, intake->reason);
    else if (intake->found)
        hr_cell_start_failed(cell, error->text);
    else
        status = place_cell(engine, cell, error);
    if (status)
        hr_cell_free(cell);
    else if (ret_cell)
        *ret_cell = cell;
    return status;
}

/* The host's guard and the search for the interpreter run without the lock. */
static int take_in(struct hermes_engine *engine, const struct hermes_cell *request,
                   struct intake *intake)
{
    hermes_cell_guard_fn guard;
    void *context;
    int status = check_cell(request, &intake->error);

    if (status)
        return status;
    hr_engine_lock(engine);
    guard = engine->cell_guard;
    context = engine->cell_guard_context;
    hr_engine_unlock(engine);
    intake->found = HERMES_ENOENT;
    intake->refused = guard && !guard(request, context, intake->reason, sizeof intake->reason);
    if (intake->refused)
        return 0;
    intake->found = hr_place_find(engine, request->mode, request->python, request->cwd,
                                  &intake->place, &intake->error);
    return intake->found == HERMES_ENOENT ? 0
                                          : intake->found; /* no interpreter is the cell's result */
}

/* The lock is held at every return. */
static int submit(struct hermes_engine *engine, const struct hermes_cell *request, bool blocking,
                  struct hr_cell **ret_cell, uint64_t *ret_id, struct hermes_error *error)
{
    struct intake intake = {.found = HERMES_ENOENT};
    int status = take_in(engine, request, &intake);

    hr_engine_lock(engine);
    if (!status)
        status = submit_at(engine, request, &intake, blocking, ret_cell, ret_id);
    if (!intake.found) {
        hr_free(intake.place.python);
        hr_free(intake.place.cwd);
    }
    if (status && error)
        *error = intake.error;
    return status;
}

int hermes_start(struct hermes_engine *engine, const struct hermes_cell *request,
                 uint64_t *ret_kernel, struct hermes_error *error)
{
    struct hr_kernel *kernel;
    struct hr_spec *spec = NULL;
    struct hr_place place;
    int status = check_key(request, error);

    if (!status)
        status = hr_place_find(engine, request->mode, request->python, request->cwd, &place, error);
    if (status)
        return status;
    hr_engine_lock(engine);
    status = engine->closing || engine->stopping
                 ? hr_error_set(error, HERMES_ECLOSED, 0, "the engine is shutting down")
                 : hr_spec_get(engine, request, place.python, place.cwd, &spec, error);
    if (!status)
        status =
            hr_registry_acquire(engine, spec, request->flags & HERMES_CELL_RESET, &kernel, error);
    if (!status && !hr_kernel_begin(kernel))
        status = hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    if (!status) {
        *ret_kernel = kernel->id;
        hr_registry_trim(engine);
    }
    if (spec)
        hr_spec_unref(engine, spec);
    hr_engine_unlock(engine);
    hr_free(place.python);
    hr_free(place.cwd);
    return status;
}

static bool settled_or_called(struct hermes_engine *engine, void *argument)
{
    const struct hr_cell *cell = argument;

    (void)engine;
    return cell->state == HR_CELL_SETTLED || !hr_list_empty(&cell->pending_calls);
}

/*
 * On the caller's thread, without the lock; the cell may settle meanwhile, and then the answer is
 * dropped.
 */
static void run_tool_calls(struct hermes_engine *engine, struct hr_cell *cell)
{
    static const char no_answer[] = "{\"error\":\"the handler gave no answer\"}";
    struct hr_tool_call *call;

    while ((call = hr_tools_take(cell))) {
        struct hermes_authority *authority = cell->authority;
        struct hermes_tool_call public = {.id = call->id};
        char *tool = hr_strdup(call->tool), *arguments = hr_strdup(call->arguments), *answer = NULL;

        hermes_authority_ref(authority);
        hr_authority_fill_call(authority, &public);
        public.tool = tool;
        public.arguments = arguments;
        hr_engine_unlock(engine);
        if (tool && arguments)
            answer = hr_authority_handler(authority)(&public);
        hr_engine_lock(engine);
        if (answer)
            hr_tools_answer(engine, public.id, answer, strlen(answer));
        else
            hr_tools_answer(engine, public.id, no_answer, sizeof no_answer - 1);
        free(answer); /* the handler's, from malloc() */
        hermes_authority_unref(authority);
        hr_free(tool);
        hr_free(arguments);
    }
}

int hermes_execute(struct hermes_engine *engine, const struct hermes_cell *request,
                   struct hermes_result **ret_result, struct hermes_error *error)
{
    struct hr_cell *cell;
    uint64_t id;
    int status;

    if (!engine || !ret_result)
        return hr_error_set(error, HERMES_EINVAL, 0, "no engine, or no place for the result");
    status = submit(engine, request, true, &cell, &id, error);
    if (!status) {
        while (cell->state != HR_CELL_SETTLED) {
            hr_engine_wait(engine, settled_or_called, cell, HR_NEVER);
            run_tool_calls(engine, cell);
        }
        *ret_result = &cell->result->public;
        cell->result = NULL;
        hr_cell_free(cell);
    }
    hr_engine_unlock(engine);
    return status;
}

int hermes_submit(struct hermes_engine *engine, const struct hermes_cell *request,
                  uint64_t *ret_cell, struct hermes_error *error)
{
    int status;

    if (!engine || !ret_cell)
        return hr_error_set(error, HERMES_EINVAL, 0, "no engine, or no place for the id");
    hr_engine_lock(engine);
    engine->event_wanted = true;
    hr_engine_unlock(engine);
    status = submit(engine, request, false, NULL, ret_cell, error);
    hr_engine_unlock(engine);
    return status;
}

static struct hr_cell *find_cell(struct hermes_engine *engine, uint64_t id)
{
    HR_LIST_EACH (link, &engine->cells) {
        struct hr_cell *cell = HR_CONTAINER(link, struct hr_cell, all);

        if (cell->id == id)
            return cell;
    }
    return NULL;
}

static void keep_reason(struct hr_cell *cell, const char *reason)
{
    hr_free(cell->reason);
    cell->reason = hr_strdup(reason);
}

static void drop_queued(struct hr_cell *cell)
{
    cell->kernel->queued--;
    hr_list_remove(&cell->link);
    hr_cell_not_run(cell, cell->reason ? cell->reason : "interrupted before it started");
}

int hermes_interrupt(struct hermes_engine *engine, uint64_t id, const char *reason,
                     int64_t kill_after_ms)
{
    struct hr_cell *cell;
    int status = HERMES_ENOENT;

    hr_engine_lock(engine);
    cell = find_cell(engine, id);
    if (cell && cell->kernel) {
        status = 0;
        keep_reason(cell, reason);
        if (cell->kernel->current == cell)
            hr_kernel_interrupt(cell->kernel,
                                kill_after_ms ? kill_after_ms : engine->options.interrupt_grace_ms);
        else
            drop_queued(cell);
    }
    hr_engine_unlock(engine);
    return status;
}

int hermes_kill(struct hermes_engine *engine, uint64_t id, const char *reason)
{
    struct hr_cell *cell;
    int status = HERMES_ENOENT;

    hr_engine_lock(engine);
    cell = find_cell(engine, id);
    if (cell && cell->kernel) {
        status = 0;
        keep_reason(cell, reason);
        if (cell->kernel->current == cell)
            hr_kernel_kill(cell->kernel, HERMES_PREVIOUS_KILLED);
        else
            drop_queued(cell);
    }
    hr_engine_unlock(engine);
    return status;
}

int hermes_tool_answer(struct hermes_engine *engine, uint64_t call, const char *json,
                       size_t json_size)
{
    int status;

    hr_engine_lock(engine);
    status = hr_tools_answer(engine, call, json, json_size);
    hr_engine_unlock(engine);
    return status;
}

void hermes_set_cell_guard(struct hermes_engine *engine, hermes_cell_guard_fn guard, void *context)
{
    hr_engine_lock(engine);
    engine->cell_guard = guard;
    engine->cell_guard_context = context;
    hr_engine_unlock(engine);
}

int hermes_tool_refuse(struct hermes_engine *engine, uint64_t call, const char *why)
{
    int status;

    hr_engine_lock(engine);
    status = hr_tools_refuse(engine, call, why);
    hr_engine_unlock(engine);
    return status;
}
