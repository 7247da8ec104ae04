/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The caller's side of the store: nothing here waits for a disk, but for the functions that say so.
 */
#include "config.h"

#include "store.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "progress.h"
#include "store-internal.h"
#include "xalloc.h"

#define SOURCE_LIMIT (16u << 20)
#define CLOSE_MS 5000

/* ---- jobs ---------------------------------------------------------------------------------- */

void store_jobs_init(struct store_jobs *jobs)
{
    *jobs = (struct store_jobs){.first = NULL};
    jobs->end = &jobs->first;
}

void store_jobs_add(struct store_jobs *jobs, struct store_job *job)
{
    job->next = NULL;
    *jobs->end = job;
    jobs->end = &job->next;
    jobs->bytes += job->bytes;
}

struct store_job *store_jobs_take(struct store_jobs *jobs)
{
    struct store_job *job = jobs->first;
    if (!job)
        return NULL;
    jobs->first = job->next;
    if (!jobs->first)
        jobs->end = &jobs->first;
    jobs->bytes -= job->bytes;
    return job;
}

void store_cell_clear(struct store_cell *cell)
{
    free((char *)cell->session);
    free((char *)cell->source);
    free((char *)cell->status);
    free((char *)cell->output);
    free((char *)cell->spill_path);
    free((char *)cell->previous);
    free((char *)cell->origin);
    *cell = (struct store_cell){.session = NULL};
}

void store_job_free(struct store_job *job)
{
    store_cell_clear(&job->cell);
    free(job);
}

int64_t store_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void store_say(struct store *store, enum store_remark remark, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&store->lock);
    if (!(store->said & (unsigned)remark)) {
        store->said |= (unsigned)remark;
        strbuf_vaddf(&store->remarks, format, arguments);
        strbuf_addc(&store->remarks, '\n');
    }
    pthread_mutex_unlock(&store->lock);
    va_end(arguments);
}

/* ---- opening and closing -------------------------------------------------------------------- */

static void init_lock(struct store *store)
{
    pthread_condattr_t clock;
    pthread_mutex_init(&store->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&store->wake, &clock);
    pthread_cond_init(&store->done, &clock);
    pthread_condattr_destroy(&clock);
}

/* Signals are the others' business; a file size limit is to be an error here, not a signal. */
static bool start_thread(struct store *store)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool good = pthread_create(&store->thread, NULL, store_thread, store) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

struct store *store_open_indexed(const char *path, enum store_mode mode, enum database_index wanted)
{
    struct store *store = xcalloc(1, sizeof(*store));
    store->mode = mode;
    store->wanted = wanted;
    init_lock(store);
    store_jobs_init(&store->queue);
    store_jobs_init(&store->backlog);
    if (mode == STORE_OFF)
        return store;
    store->path = path ? xstrdup(path) : store_default_path();
    if (!start_thread(store)) {
        store_say(store, REMARK_PLACE, "no history is kept: there can be no more threads");
        store->mode = STORE_OFF;
    }
    return store;
}

struct store *store_open(const char *path, enum store_mode mode)
{
    return store_open_indexed(path, mode, INDEX_TRIGRAM);
}

void store_close(struct store *store)
{
    if (!store)
        return;
    if (store->mode != STORE_OFF) {
        pthread_mutex_lock(&store->lock);
        store->stop = true;
        store->stop_ms = now_ms() + CLOSE_MS;
        pthread_cond_signal(&store->wake);
        pthread_mutex_unlock(&store->lock);
        pthread_join(store->thread, NULL);
    }
    pthread_cond_destroy(&store->wake);
    pthread_cond_destroy(&store->done);
    pthread_mutex_destroy(&store->lock);
    strbuf_free(&store->remarks);
    free(store->path);
    free(store);
}

char *store_take_remark(struct store *store)
{
    char *line = NULL;
    pthread_mutex_lock(&store->lock);
    if (store->remarks.size) {
        struct strbuf rest = STRBUF_INIT;
        size_t size = strcspn(store->remarks.data, "\n");
        line = xmemdup0(store->remarks.data, size);
        strbuf_add(&rest, store->remarks.data + size + 1, store->remarks.size - size - 1);
        strbuf_free(&store->remarks);
        store->remarks = rest;
    }
    pthread_mutex_unlock(&store->lock);
    return line;
}

static void deadline(int64_t wait_ms, struct timespec *ret_time)
{
    clock_gettime(CLOCK_MONOTONIC, ret_time);
    ret_time->tv_sec += (time_t)(wait_ms / 1000);
    ret_time->tv_nsec += (long)(wait_ms % 1000) * 1000000;
    if (ret_time->tv_nsec >= 1000000000) {
        ret_time->tv_sec++;
        ret_time->tv_nsec -= 1000000000;
    }
}

bool store_flush(struct store *store, int64_t timeout_ms)
{
    struct timespec until;
    deadline(timeout_ms < 0 ? INT_MAX : timeout_ms, &until);
    if (store->mode == STORE_OFF)
        return true;
    pthread_mutex_lock(&store->lock);
    uint64_t wanted = store->given, tries = store->failed_tries;
    store->hurry = store->kept < wanted;
    if (store->hurry)
        pthread_cond_signal(&store->wake);
    bool in_time = true;
    while (store->kept < wanted && store->failed_tries == tries && in_time)
        in_time = pthread_cond_timedwait(&store->done, &store->lock, &until) == 0;
    bool good = store->kept >= wanted;
    pthread_mutex_unlock(&store->lock);
    return good;
}

/* ---- cells ---------------------------------------------------------------------------------- */

static const char *copy_text(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

/* The job is the thread's then. Returns its id. */
static int64_t give(struct store *store, struct store_job *job)
{
    pthread_mutex_lock(&store->lock);
    if (job->kind == JOB_BEGIN)
        job->id = ++store->last_id;
    int64_t id = job->id;
    job->number = ++store->given;
    store->waiting_bytes += job->bytes;
    store_jobs_add(&store->queue, job);
    pthread_cond_signal(&store->wake);
    pthread_mutex_unlock(&store->lock);
    return id;
}

int64_t store_begin(struct store *store, const struct store_cell *cell)
{
    if (store->mode == STORE_OFF || !cell->source_size || cell->source[0] == ' ')
        return 0;
    if (cell->source_size > SOURCE_LIMIT) {
        store_say(store, REMARK_LEFT_OUT, "a cell of %zu bytes is not kept in the history",
                  cell->source_size);
        return 0;
    }
    struct store_job *job = xcalloc(1, sizeof(*job));
    job->kind = JOB_BEGIN;
    job->cell = (struct store_cell){
        .session = xstrdup(cell->session),
        .number = cell->number,
        .source = xmemdup0(cell->source, cell->source_size),
        .source_size = cell->source_size,
        .submitted_us = cell->submitted_us ? cell->submitted_us : store_now_us(),
        .generation = cell->generation,
        .previous = copy_text(cell->previous),
        .how = cell->how | (store->mode == STORE_NO_OUTPUT ? STORE_HOW_NO_OUTPUT : 0),
        .origin = copy_text(cell->origin),
        .first_line = cell->first_line,
    };
    job->bytes = sizeof(*job) + cell->source_size;
    return give(store, job);
}

void store_settle(struct store *store, int64_t id, const struct store_cell *cell)
{
    struct strbuf output = STRBUF_INIT;
    if (store->mode == STORE_OFF || id == 0)
        return;
    pthread_mutex_lock(&store->lock);
    bool keeps = store->mode == STORE_ON;
    bool room = store->waiting_bytes < STORE_BACKLOG_BYTES;
    pthread_mutex_unlock(&store->lock);
    if (keeps && room)
        store_cap_output(cell, &output);
    else if (keeps && cell->output_size)
        strbuf_adds(&output, "[... output not kept: too much waited to be written ...]\n");
    struct store_job *job = xcalloc(1, sizeof(*job));
    size_t output_size = output.size;
    job->kind = JOB_SETTLE;
    job->id = id;
    job->bytes = sizeof(*job) + output_size;
    job->cell = (struct store_cell){
        .status = xstrdup(cell->status ? cell->status : "not run"),
        .exit_code = cell->exit_code,
        .output_size = output_size,
        .output = output_size ? strbuf_steal(&output) : NULL,
        .spill_path = keeps ? copy_text(cell->spill_path) : NULL,
        .started_us = cell->started_us,
        .duration_us = cell->duration_us,
        .generation = cell->generation,
        .execution_count = cell->execution_count,
        .previous = copy_text(cell->previous),
    };
    strbuf_free(&output);
    give(store, job);
}

/* ---- calls ---------------------------------------------------------------------------------- */

void store_call_free(struct store_call *call)
{
    if (!call)
        return;
    call->free_data(call->data);
    strbuf_free(&call->error);
    free(call);
}

struct store_call *store_call(struct store *store, store_call_fn run, void *data,
                              void (*free_data)(void *), bool writes, int64_t wait_ms)
{
    struct store_call *call = xcalloc(1, sizeof(*call));
    struct timespec until;
    *call = (struct store_call){.run = run, .free_data = free_data, .data = data, .writes = writes};
    call->deadline_ms = now_ms() + wait_ms;
    if (store->mode == STORE_OFF) {
        store_call_free(call);
        return NULL;
    }
    struct store_job *job = xcalloc(1, sizeof(*job));
    job->kind = JOB_CALL;
    job->call = call;
    deadline(wait_ms, &until);
    pthread_mutex_lock(&store->lock);
    store_jobs_add(&store->queue, job);
    pthread_cond_signal(&store->wake);
    bool in_time = true;
    while (!call->finished && in_time)
        in_time = pthread_cond_timedwait(&store->done, &store->lock, &until) == 0;
    call->abandoned = !call->finished;
    bool finished = call->finished;
    pthread_mutex_unlock(&store->lock);
    return finished ? call : NULL;
}
