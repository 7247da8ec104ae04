/* SPDX-License-Identifier: MIT */
/*
 * Cells from the caller to their kernel: checked, placed, queued, waited for, interrupted.
 */
#include "config.h"

#include <string.h>

#include "alloc.h"
#include "engine-private.h"

static bool bad_name(const char *name)
{
    return name && (!*name || strstr(name, "::"));
}

static int check_cell(const struct hermes_cell *cell, struct hermes_error *error)
{
    if (!cell || cell->size < sizeof *cell || (cell->setup && cell->setup->size < sizeof *cell->setup))
        return hr_error_set(error, HERMES_EINVAL, 0, "a struct without its size; use the _INIT macros");
    if (!cell->session && !cell->task_id)
        return hr_error_set(error, HERMES_EINVAL, 0, "neither session nor task_id is given");
    if (bad_name(cell->session) || bad_name(cell->task_id) || bad_name(cell->child_id))
        return hr_error_set(error, HERMES_EINVAL, 0, "session, task_id and child_id may be neither empty nor hold \"::\"");
    if (!cell->code || (!cell->code_size && !*cell->code))
        return hr_error_set(error, HERMES_EINVAL, 0, "no code");
    if ((cell->code_size ? cell->code_size : strlen(cell->code)) > HERMES_SOURCE_MAX)
        return hr_error_set(error, HERMES_EINVAL, 0, "code above %u bytes", HERMES_SOURCE_MAX);
    return 0;
}

/* What a start needs from the installation. */
static int find_parts(struct hermes_engine *engine, struct hermes_error *error)
{
    int status = hr_runner_code_load(engine->runner, engine->options.runner, error);

#ifndef HERMES_NO_GUARD
    if (!status && !engine->guard) {
        engine->guard = hr_find_installed(engine->options.guard, "hermes-kernel-guard", "src/guard");
        if (!engine->guard)
            status = hr_error_set(error, HERMES_ENOENT, 0, "hermes-kernel-guard is not found; set the option \"guard\"");
    }
#endif
    return status;
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

/* Give the cell to its kernel. A kernel that cannot be started is the cell's result, not an error. */
static int place_cell(struct hermes_engine *engine, struct hr_cell *cell, struct hermes_error *error)
{
    struct hermes_error why = {0};
    struct hr_kernel *kernel;
    int status = find_parts(engine, &why);

    if (!status)
        status = hr_registry_acquire(engine, cell->spec, cell->flags & HERMES_CELL_RESET, &kernel, &why);
    if (status == HERMES_ENOMEM)
        return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    if (status) {
        hr_cell_start_failed(cell, why.text);
        return 0;
    }
    if (kernel->queued >= (size_t)engine->options.max_queued_cells)
        return hr_error_set(error, HERMES_EAGAIN, 0, "%lld cells wait already", (long long)kernel->queued);
    hr_kernel_enqueue(kernel, cell);
    hr_registry_trim(engine);
    return 0;
}

/*
 * Lock held. On success the cell is on its way (an asynchronous one may be settled and freed already). place NULL: there is no
 * interpreter, as error says.
 */
static int submit_at(struct hermes_engine *engine, const struct hermes_cell *request, const struct hr_place *place, bool blocking,
                     struct hr_cell **ret_cell, uint64_t *ret_id, struct hermes_error *error)
{
    struct hr_spec *spec;
    struct hr_cell *cell;
    int status;

    if (engine->closing || engine->stopping)
        return hr_error_set(error, HERMES_ECLOSED, 0, "the engine is shutting down");
    status = hr_spec_get(engine, request, place ? place->python : "", place ? place->cwd : "", &spec, error);
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
    else if (place)
        status = place_cell(engine, cell, error);
    else
        hr_cell_start_failed(cell, error->text);
    if (status)
        hr_cell_free(cell);
    else if (ret_cell)
        *ret_cell = cell;
    return status;
}

static int submit(struct hermes_engine *engine, const struct hermes_cell *request, bool blocking, struct hr_cell **ret_cell,
                  uint64_t *ret_id, struct hermes_error *error)
{
    struct hermes_error why = {0};
    struct hr_place place;
    int status = check_cell(request, &why), found = status;

    if (!status)
        found = hr_place_find(engine, request->mode, request->python, request->cwd, &place, &why);
    hr_engine_lock(engine); /* held at every return */
    if (!found || found == HERMES_ENOENT)
        status = submit_at(engine, request, found ? NULL : &place, blocking, ret_cell, ret_id, &why);
    else
        status = found;
    if (!found) {
        hr_free(place.python);
        hr_free(place.cwd);
    }
    if (status && error)
        *error = why;
    return status;
}

static bool cell_settled(struct hermes_engine *engine, void *argument)
{
    (void)engine;
    return ((struct hr_cell *)argument)->state == HR_CELL_SETTLED;
}

int hermes_execute(struct hermes_engine *engine, const struct hermes_cell *request, struct hermes_result **ret_result,
                   struct hermes_error *error)
{
    struct hr_cell *cell;
    uint64_t id;
    int status;

    if (!engine || !ret_result)
        return hr_error_set(error, HERMES_EINVAL, 0, "no engine, or no place for the result");
    status = submit(engine, request, true, &cell, &id, error);
    if (!status) {
        hr_engine_wait(engine, cell_settled, cell, HR_NEVER);
        *ret_result = &cell->result->public;
        cell->result = NULL;
        hr_cell_free(cell);
    }
    hr_engine_unlock(engine);
    return status;
}

int hermes_submit(struct hermes_engine *engine, const struct hermes_cell *request, uint64_t *ret_cell, struct hermes_error *error)
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
    HR_LIST_EACH(link, &engine->cells) {
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

int hermes_interrupt(struct hermes_engine *engine, uint64_t id, const char *reason, int64_t kill_after_ms)
{
    struct hr_cell *cell;
    int status = HERMES_ENOENT;

    hr_engine_lock(engine);
    cell = find_cell(engine, id);
    if (cell && cell->kernel) {
        status = 0;
        keep_reason(cell, reason);
        if (cell->kernel->current == cell)
            hr_kernel_interrupt(cell->kernel, kill_after_ms ? kill_after_ms : engine->options.interrupt_grace_ms);
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
