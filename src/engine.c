/* SPDX-License-Identifier: MIT */
/*
 * The life of an engine: made, configured, emptied, freed; and the public side of its queue of
 * events.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "engine-private.h"
#include "staging.h"
#include "tools.h"

uint64_t hr_engine_id(struct hermes_engine *engine)
{
    return ++engine->next_id;
}

/* ---- life ------------------------------------------------------------------------------- */

int hr_engine_need_thread(struct hermes_engine *engine)
{
    sigset_t all, old;
    int error;

    if (engine->thread_started)
        return 0;
    if (HR_FAULT(HR_FAULT_THREAD))
        return EAGAIN;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* the host's handlers never run on our thread */
    error = pthread_create(&engine->thread, NULL, hr_engine_thread, engine);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    engine->thread_started = !error;
    return error;
}

static void engine_done(struct hermes_engine *engine)
{
    hr_loop_free(engine->loop);
    hr_runner_code_free(engine->runner);
    hr_interp_cache_free(engine->interp);
    hr_options_done(&engine->options);
    hr_free(engine->guard);
    hr_memo_clear(&engine->memo);
    pthread_cond_destroy(&engine->standby);
    pthread_mutex_destroy(&engine->memo_lock);
    pthread_mutex_destroy(&engine->lock);
    hr_free(engine);
}

int hermes_engine_new(struct hermes_engine **ret_engine, struct hermes_error *error)
{
    struct hermes_engine *engine = hr_calloc(1, sizeof *engine);

    if (!ret_engine || !engine) {
        hr_free(engine);
        return hr_error_set(error, ret_engine ? HERMES_ENOMEM : HERMES_EINVAL, 0,
                            ret_engine ? "out of memory" : "no place for the engine");
    }
    hr_list_init(&engine->owners);
    hr_list_init(&engine->kernels);
    hr_list_init(&engine->cells);
    hr_list_init(&engine->events);
    hr_list_init(&engine->waiters);
    hr_list_init(&engine->tool_peers);
    hr_list_init(&engine->tool_calls);
    engine->tool_listener.fd = -1;
    engine->event_fds[0] = engine->event_fds[1] = -1;
    pthread_mutex_init(&engine->lock, NULL);
    pthread_mutex_init(&engine->memo_lock, NULL);
    if (hr_condition_new(&engine->standby)) {
        hr_free(engine);
        return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    }
    engine->loop = hr_loop_new(hr_engine_lock, hr_engine_unlock, engine);
    engine->runner = hr_runner_code_new();
    engine->interp = hr_interp_cache_new();
    if (hr_options_init(&engine->options) || !engine->loop || !engine->runner || !engine->interp ||
        !hr_timer_reserve(engine->loop, HR_ENGINE_TIMERS)) {
        engine_done(engine);
        return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory or descriptors");
    }
    *ret_engine = engine;
    return 0;
}

static bool all_gone(struct hermes_engine *engine, void *argument)
{
    (void)argument;
    return hr_list_empty(&engine->kernels);
}

static void kill_all(struct hermes_engine *engine)
{
    HR_LIST_EACH (link, &engine->kernels) {
        struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

        hr_kernel_settle_queue(kernel, "the engine is shutting down");
        hr_kernel_kill(kernel, HERMES_PREVIOUS_KILLED);
    }
}

int hermes_shutdown_all(struct hermes_engine *engine)
{
    hr_engine_lock(engine);
    engine->closing = true;
    kill_all(engine);
    hr_engine_wait(engine, all_gone, NULL, HR_NEVER);
    engine->closing = false;
    hr_engine_unlock(engine);
    return 0;
}

static void free_lists(struct hermes_engine *engine)
{
    struct hermes_event *event;

    while ((event = hr_event_take(engine)))
        hermes_event_free(event);
    HR_LIST_EACH (link, &engine->cells)
        hr_cell_free(HR_CONTAINER(link, struct hr_cell, all));
    HR_LIST_EACH (link, &engine->owners) {
        struct hr_owner *owner = HR_CONTAINER(link, struct hr_owner, link);

        hr_list_remove(link);
        hr_free(owner->name);
        hr_free(owner->session);
        hr_free(owner->child);
        hr_free(owner);
    }
}

void hermes_engine_free(struct hermes_engine *engine)
{
    if (!engine)
        return;
    hermes_shutdown_all(engine);
    hr_engine_lock(engine);
    engine->stopping = true;
    pthread_cond_signal(&engine->standby);
    hr_loop_wake(engine->loop);
    hr_engine_unlock(engine);
    if (engine->thread_started)
        pthread_join(engine->thread, NULL);
    free_lists(engine);
    hr_tools_engine_done(engine);
    for (size_t i = 0; i < HR_DEAD_AUTHORITIES; i++)
        hermes_authority_unref(engine->dead[i].authority);
    if (engine->event_fds[0] >= 0) {
        close(engine->event_fds[0]);
        close(engine->event_fds[1]);
    }
    engine_done(engine);
}

/* ---- options ---------------------------------------------------------------------------- */

static void options_changed(struct hermes_engine *engine)
{
    hr_registry_arm_idle(engine);
    hr_registry_trim(engine);
    hr_spare_drop_all(
        engine); /* a new kernel would be another now, or no spare is wanted any more */
    hr_spare_arm(engine);
    hr_undo_trim(engine);
    hr_free(engine->guard); /* found again at the next start */
    engine->guard = NULL;
}

int hermes_set_option(struct hermes_engine *engine, const char *name, const char *value,
                      struct hermes_error *error)
{
    int status;

    hr_engine_lock(engine);
    status = hr_options_set(&engine->options, name, value, error);
    options_changed(engine);
    hr_engine_unlock(engine);
    return status;
}

int hermes_get_option(struct hermes_engine *engine, const char *name, char **ret_value)
{
    int status;

    hr_engine_lock(engine);
    status = hr_options_get(&engine->options, name, ret_value);
    hr_engine_unlock(engine);
    return status;
}

int hermes_configure(struct hermes_engine *engine, const char *json, size_t json_size,
                     char **ret_warnings, struct hermes_error *error)
{
    int status;

    hr_engine_lock(engine);
    status = hr_options_configure(&engine->options, json, json_size, ret_warnings, error);
    options_changed(engine);
    hr_engine_unlock(engine);
    return status;
}

/* ---- events ----------------------------------------------------------------------------- */

int hermes_event_fd(struct hermes_engine *engine)
{
    int fd;

    hr_engine_lock(engine);
    engine->event_wanted = true;
    if (engine->event_fds[0] < 0 && pipe2(engine->event_fds, O_CLOEXEC | O_NONBLOCK) == 0 &&
        !hr_list_empty(&engine->events)) {
        engine->event_signalled = true;
        if (write(engine->event_fds[1], "", 1) != 1)
            engine->event_signalled = false;
    }
    fd = engine->event_fds[0];
    hr_engine_unlock(engine);
    return fd;
}

static bool have_event(struct hermes_engine *engine, void *argument)
{
    (void)argument;
    return !hr_list_empty(&engine->events) || atomic_load(&engine->wake_asked);
}

int hermes_next_event(struct hermes_engine *engine, int64_t timeout_ms,
                      struct hermes_event **ret_event)
{
    int64_t due_ns = timeout_ms < 0 ? HR_NEVER : hr_later_ns(hr_now_ns(), timeout_ms);

    hr_engine_lock(engine);
    engine->event_wanted = true;
    if (timeout_ms && !have_event(engine, NULL))
        hr_engine_wait(engine, have_event, NULL, due_ns);
    *ret_event = hr_event_take(engine);
    if (!*ret_event)
        atomic_store(&engine->wake_asked, false);
    hr_engine_unlock(engine);
    return 0;
}

void hermes_wake(struct hermes_engine *engine)
{
    atomic_store(&engine->wake_asked, true);
    hr_loop_wake(engine->loop);
}

int hermes_sweep_staging(struct hermes_engine *engine)
{
    (void)engine;
    return hr_staging_sweep(NULL);
}
