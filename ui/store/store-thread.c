/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The store's thread.
 */
#include "config.h"

#include <stdlib.h>
#include <time.h>

#include "progress.h"
#include "store-internal.h"
#include "xalloc.h"

#define CALL_BUSY_MS 5000
#define TRANSACTION_JOBS 256
#define TRANSACTION_BYTES (4u << 20)

/* ---- waiting -------------------------------------------------------------------------------- */

static bool has_work(const struct store *store)
{
    return store->backlog.first || (store->marks_due && store->database);
}

/* Until there is something to do. Takes the whole queue. False: it is time to end. */
static bool wait_for_work(struct store *store, struct store_jobs *jobs, bool *ret_hurried)
{
    pthread_mutex_lock(&store->lock);
    while (!store->queue.first && !store->hurry && !(store->stop && !store->busy_since_ms)) {
        int64_t due = has_work(store) ? store->retry_ms : store->tidy_ms ? store->tidy_ms : -1;
        if (due >= 0 && due <= now_ms())
            break;
        struct timespec until = {.tv_sec = (time_t)(due / 1000),
                                 .tv_nsec = (long)(due % 1000) * 1000000};
        if (due < 0)
            pthread_cond_wait(&store->wake, &store->lock);
        else
            pthread_cond_timedwait(&store->wake, &store->lock, &until);
    }
    *jobs = store->queue;
    store_jobs_init(&store->queue);
    *ret_hurried = store->hurry;
    store->hurry = false;
    bool last = store->stop && !jobs->first;
    bool ends = last && (!has_work(store) || now_ms() >= store->stop_ms ||
                         (store->stop_tried && !store->busy_since_ms));
    store->stop_tried = last;
    if ((*ret_hurried || last) && !store->busy_since_ms)
        store->retry_ms = 0;
    pthread_mutex_unlock(&store->lock);
    return !ends;
}

/* ---- writing -------------------------------------------------------------------------------- */

bool store_transaction(struct store *store, enum statement which)
{
    sqlite3_stmt *statement = database_statement(store->database, which);
    return statement && database_run(store->database, statement);
}

/* Nothing of a transaction that failed is remembered. */
static void roll_back(struct store *store, size_t open_count)
{
    enum database_state state = store->database->state;
    int code = store->database->code;
    sqlite3_stmt *rollback = database_statement(store->database, STATEMENT_ROLLBACK);
    if (rollback)
        database_run(store->database, rollback);
    store->database->state = state;
    store->database->code = code;
    store->open_count = open_count;
    for (size_t i = 0; i < store->open_count; i++)
        store->open_cells[i].settled = false;
}

static void forget_settled(struct store *store)
{
    size_t left = 0;
    for (size_t i = 0; i < store->open_count; i++) {
        if (!store->open_cells[i].settled)
            store->open_cells[left++] = store->open_cells[i];
    }
    store->open_count = left;
}

static void tell_failed(struct store *store)
{
    pthread_mutex_lock(&store->lock);
    store->failed_tries++;
    pthread_cond_broadcast(&store->done);
    pthread_mutex_unlock(&store->lock);
}

/* The first jobs of the backlog are done with; in memory, they do not count as kept. */
static void drop_jobs(struct store *store, size_t count)
{
    uint64_t number = 0;
    size_t bytes = store->backlog.bytes;
    for (; count && store->backlog.first; count--) {
        struct store_job *job = store_jobs_take(&store->backlog);
        number = job->number;
        store_job_free(job);
    }
    bytes -= store->backlog.bytes;
    pthread_mutex_lock(&store->lock);
    store->waiting_bytes -= bytes;
    if (store->place == PLACE_FILE && number)
        store->kept = number;
    pthread_cond_broadcast(&store->done);
    pthread_mutex_unlock(&store->lock);
}

/* A job that is at fault itself must not keep the others waiting. */
static void remove_job(struct store *store, const struct store_job *bad)
{
    struct store_jobs rest;
    struct store_job *job;
    store_say(store, REMARK_LEFT_OUT, "a cell could not be kept in the history: %s",
              database_fault(store->database));
    store_jobs_init(&rest);
    while ((job = store_jobs_take(&store->backlog))) {
        if (job == bad)
            store_job_free(job);
        else
            store_jobs_add(&rest, job);
    }
    while ((job = store_jobs_take(&rest)))
        store_jobs_add(&store->backlog, job);
}

/* One transaction. *ret_bad: the job at which it failed, or NULL. */
static bool write_some(struct store *store, size_t *ret_count, const struct store_job **ret_bad)
{
    size_t count = 0, bytes = 0, open_count = store->open_count;
    *ret_bad = NULL;
    store->database->busy_ms = now_ms() + STORE_BUSY_MS;
    if (!store_transaction(store, STATEMENT_BEGIN))
        return false;
    bool good = !store->marks_due || store_write_marks(store);
    for (const struct store_job *job = store->backlog.first;
         good && job && count < TRANSACTION_JOBS && bytes < TRANSACTION_BYTES; job = job->next) {
        good =
            job->kind == JOB_BEGIN ? store_write_begin(store, job) : store_write_settle(store, job);
        if (!good)
            *ret_bad = job;
        count++;
        bytes += job->bytes;
    }
    if (!good || !store_transaction(store, STATEMENT_COMMIT)) {
        roll_back(store, open_count);
        return false;
    }
    forget_settled(store);
    store->marks_due = false;
    store->retry_ms = store->busy_since_ms = 0;
    *ret_count = count;
    return true;
}

/* False: no more for now. */
static bool write_or_recover(struct store *store, bool *replaced)
{
    const struct store_job *bad;
    size_t count;
    if (!store_connect(store)) {
        if (store->place == PLACE_NOWHERE)
            drop_jobs(store, SIZE_MAX);
        if (!store->busy_since_ms)
            tell_failed(store);
        return false;
    }
    if (write_some(store, &count, &bad)) {
        drop_jobs(store, count);
        return true;
    }
    enum database_state state = store->database->state;
    if (state == DATABASE_REFUSED && (store->database->code & 0xFF) == SQLITE_ERROR)
        state = DATABASE_DAMAGED; /* a table is not what it should be */
    if (state == DATABASE_DAMAGED && !*replaced) {
        *replaced = true;
        if (store_replace_damaged(store))
            return true;
        tell_failed(store);
        return false;
    }
    if (state == DATABASE_READ_ONLY && store->place == PLACE_FILE) {
        store_leave_file(store);
        return true;
    }
    if (state == DATABASE_REFUSED && bad) {
        remove_job(store, bad);
        return true;
    }
    store_note_failure(store, state, database_fault(store->database));
    if (state != DATABASE_BUSY)
        tell_failed(store);
    return false;
}

/* All that can be written now. */
static void write_backlog(struct store *store)
{
    bool replaced = false;
    while (has_work(store) && store->retry_ms <= now_ms()) {
        if (!write_or_recover(store, &replaced))
            return;
    }
}

/* ---- calls ---------------------------------------------------------------------------------- */

static void run_call(struct store *store, struct store_call *call)
{
    bool good = false;
    pthread_mutex_lock(&store->lock);
    bool abandoned = call->abandoned;
    pthread_mutex_unlock(&store->lock);
    if (!abandoned && store_connect(store)) {
        struct database *database = store->database;
        int64_t busy_ms = now_ms() + CALL_BUSY_MS;
        database->stop_ms = call->deadline_ms;
        database->busy_ms = busy_ms < call->deadline_ms ? busy_ms : call->deadline_ms;
        database->state = DATABASE_OK;
        if (call->writes && store->place != PLACE_FILE)
            strbuf_setf(&call->error, "the history cannot be written");
        else
            good = call->run(store, call);
        if (!good && !call->error.size)
            strbuf_setf(&call->error, "%s", database_fault(database));
        database->stop_ms = 0;
        if (!good && database->state == DATABASE_DAMAGED)
            store_replace_damaged(store);
    } else {
        strbuf_setf(&call->error, "the history cannot be read");
    }
    pthread_mutex_lock(&store->lock);
    call->good = good;
    call->finished = true;
    abandoned = call->abandoned;
    pthread_cond_broadcast(&store->done);
    pthread_mutex_unlock(&store->lock);
    if (abandoned)
        store_call_free(call);
}

/* ---- the thread ----------------------------------------------------------------------------- */

static void work(struct store *store, struct store_jobs *jobs)
{
    struct store_job *job;
    while ((job = store_jobs_take(jobs))) {
        if (job->kind != JOB_CALL) {
            store_jobs_add(&store->backlog, job);
            continue;
        }
        write_backlog(store);
        run_call(store, job->call);
        free(job);
    }
    write_backlog(store);
}

/* What is kept in memory only is not kept: who waits for it is told. */
static void answer_flush(struct store *store)
{
    pthread_mutex_lock(&store->lock);
    bool lost = store->kept < store->given && !store->backlog.first && !store->queue.first;
    pthread_mutex_unlock(&store->lock);
    if (lost)
        tell_failed(store);
}

static void end(struct store *store)
{
    store_end_tidying(store);
    if (store->place == PLACE_FILE && !store_file_is_gone(store)) {
        store_remove_marks(store);
        database_close(store->database);
    } else {
        database_abandon(store->database);
    }
    store->place = PLACE_NOWHERE;
    drop_jobs(store, SIZE_MAX);
    for (size_t i = 0; i < store->entered_count; i++)
        free(store->entered[i]);
    free(store->entered);
    free(store->open_cells);
    free(store->file);
}

void *store_thread(void *context)
{
    struct store *store = context;
    struct store_jobs jobs;
    bool hurried;
    store_connect(store);
    while (wait_for_work(store, &jobs, &hurried)) {
        work(store, &jobs);
        if (hurried)
            answer_flush(store);
        store_tidy_journal(store);
    }
    end(store);
    return NULL;
}
