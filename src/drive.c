/* SPDX-License-Identifier: MIT */
/*
 * Locks, and who runs the loop. One mutex guards everything inside an engine; it is free only while
 * somebody sleeps in the loop.
 *
 * One thread at a time drives. A caller that waits (hermes_execute, hermes_next_event ...) drives
 * itself if nobody else does, so that a cell costs no switch between threads. The engine's own
 * thread drives when no caller has done so for a moment; it gives way to a caller at once. A driver
 * that leaves hands over to a waiting caller, if there is one.
 *
 * Lock order: lock; memo_lock is taken alone.
 */
#include "config.h"

#include <time.h>

#include "engine-private.h"

enum { STANDBY_FIRST_NS = 10000000, STANDBY_LAST_NS = 320000000 };

struct waiter {
    struct hr_link link;
    pthread_cond_t wake;
    bool (*done)(struct hermes_engine *, void *);
    void *argument;
};

void hr_engine_lock(void *context)
{
    pthread_mutex_lock(&((struct hermes_engine *)context)->lock);
}

void hr_engine_unlock(void *context)
{
    pthread_mutex_unlock(&((struct hermes_engine *)context)->lock);
}

int hr_condition_new(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    int error = pthread_condattr_init(&attributes);

    if (error)
        return error;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    error = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return error;
}

static void wait_condition(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t due_ns)
{
    struct timespec due = {.tv_sec = due_ns / 1000000000, .tv_nsec = due_ns % 1000000000};

    if (due_ns == HR_NEVER)
        pthread_cond_wait(condition, lock);
    else
        pthread_cond_timedwait(condition, lock, &due);
}

/* One step, and what must follow each. */
static void step(struct hermes_engine *engine, int64_t due_ns)
{
    hr_loop_step(engine->loop, due_ns);
    if (engine->trash) {
        engine->trash = false;
        HR_LIST_EACH (link, &engine->kernels) {
            struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

            if (kernel->state == HERMES_KERNEL_DEAD)
                hr_kernel_free(kernel);
        }
    }
    HR_LIST_EACH (link, &engine->waiters) {
        struct waiter *waiter = HR_CONTAINER(link, struct waiter, link);

        if (waiter->done(engine, waiter->argument))
            pthread_cond_signal(&waiter->wake);
    }
}

static void hand_over(struct hermes_engine *engine)
{
    engine->driving = false;
    if (!hr_list_empty(&engine->waiters))
        pthread_cond_signal(&HR_CONTAINER(engine->waiters.next, struct waiter, link)->wake);
    else if (engine->thread_waits)
        pthread_cond_signal(&engine->standby);
}

static void sleep_as_waiter(struct hermes_engine *engine, struct waiter *self, int64_t due_ns)
{
    hr_list_append(&engine->waiters, &self->link);
    if (engine->thread_driving) {
        engine->callers++;
        hr_loop_wake(engine->loop);
        wait_condition(&self->wake, &engine->lock, due_ns);
        engine->callers--;
    } else {
        wait_condition(&self->wake, &engine->lock, due_ns);
    }
    hr_list_remove(&self->link);
}

/* Wait, with the lock held, until done() or the time; drive meanwhile where possible. */
void hr_engine_wait(struct hermes_engine *engine, bool (*done)(struct hermes_engine *, void *),
                    void *argument, int64_t due_ns)
{
    struct waiter self = {.done = done, .argument = argument};
    bool have_condition = false, drove = false;

    while (!done(engine, argument) && (due_ns == HR_NEVER || hr_now_ns() < due_ns)) {
        if (!engine->driving) {
            engine->driving = drove = true;
            do
                step(engine, due_ns);
            while (!done(engine, argument) && (due_ns == HR_NEVER || hr_now_ns() < due_ns));
            engine->driving = false;
        } else {
            if (!have_condition && hr_condition_new(&self.wake)) {
                hr_engine_unlock(engine); /* no memory to sleep with: look again soon */
                nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
                hr_engine_lock(engine);
                continue;
            }
            have_condition = true;
            sleep_as_waiter(engine, &self, due_ns);
        }
    }
    engine->drives += drove;
    if (!engine->driving)
        hand_over(engine);
    if (have_condition)
        pthread_cond_destroy(&self.wake);
}

/*
 * The engine's own thread. It drives when callers have left the loop alone for a while; until then
 * it looks now and then, ever more seldom: each time it runs it disturbs a caller and a kernel that
 * share a processor, which is the quickest a cell can be. A caller that drives for long is asked to
 * tell when it leaves.
 */
void *hr_engine_thread(void *argument)
{
    struct hermes_engine *engine = argument;
    uint64_t seen = 0;
    int64_t pause_ns = STANDBY_FIRST_NS;

    hr_engine_lock(engine);
    while (!engine->stopping) {
        bool quiet = engine->drives == seen,
             busy = engine->driving || engine->callers || !hr_list_empty(&engine->waiters);

        seen = engine->drives;
        if (!quiet) {
            wait_condition(&engine->standby, &engine->lock, hr_now_ns() + pause_ns);
            pause_ns = pause_ns * 2 < STANDBY_LAST_NS ? pause_ns * 2 : STANDBY_LAST_NS;
        } else if (busy) {
            engine->thread_waits = true;
            wait_condition(&engine->standby, &engine->lock, HR_NEVER);
            engine->thread_waits = false;
        } else {
            engine->driving = engine->thread_driving = true;
            while (!engine->callers && !engine->stopping)
                step(engine, HR_NEVER);
            engine->thread_driving = false;
            pause_ns = STANDBY_FIRST_NS;
            hand_over(engine);
        }
    }
    hr_engine_unlock(engine);
    return NULL;
}
