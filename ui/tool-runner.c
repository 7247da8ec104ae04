/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tool-runner.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"
#include "xalloc.h"

enum { WORKERS_MAX = 8, EVERY_CELL = 0 };

struct job {
    struct job *next;
    uint64_t cell, call;
    char *tool, *arguments, *cwd;
};

struct worker {
    struct tool_runner *runner;
    pthread_t thread;
    const struct job *job; /* NULL: none runs */
    atomic_bool cancelled; /* the job is to end */
    int cancel[2];         /* a byte is in it then */
};

/* The mutex guards all but what is constant. */
struct tool_runner {
    struct hermes_engine *engine;
    const struct tool_settings *settings;
    char *const *environment;
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* a job has come, or the end */
    struct job *queue;      /* in the order in which they came */
    size_t queued, idle, worker_count;
    bool ending;
    struct worker workers[WORKERS_MAX];
};

static void job_free(struct job *job)
{
    free(job->tool);
    free(job->arguments);
    free(job->cwd);
    free(job);
}

/* ---- a thread ------------------------------------------------------------------------------ */

static bool is_cancelled(void *argument)
{
    const struct worker *worker = argument;
    return atomic_load(&worker->cancelled);
}

static void run(struct worker *worker, const struct job *job)
{
    const struct tool_runner *runner = worker->runner;
    const struct tool_context context = {
        .cwd = job->cwd,
        .settings = runner->settings,
        .cancelled = is_cancelled,
        .cancel_argument = worker,
        .cancel_fd = worker->cancel[0],
        .environment = runner->environment,
    };
    struct strbuf answer = STRBUF_INIT;
    tool_call(&context, job->tool, job->arguments, strlen(job->arguments), &answer);
    hermes_tool_answer(runner->engine, job->call, answer.data,
                       answer.size); /* dropped if the cell is over */
    strbuf_free(&answer);
}

static struct job *take(struct tool_runner *runner)
{
    struct job *job = runner->queue;
    runner->queue = job->next;
    runner->queued--;
    return job;
}

/* Ready for the next job. */
static void forget_cancel(struct worker *worker)
{
    char bytes[16];
    while (read(worker->cancel[0], bytes, sizeof bytes) > 0)
        ;
    atomic_store(&worker->cancelled, false);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct tool_runner *runner = worker->runner;
    pthread_mutex_lock(&runner->mutex);
    for (;;) {
        while (!runner->queue && !runner->ending) {
            runner->idle++;
            pthread_cond_wait(&runner->changed, &runner->mutex);
            runner->idle--;
        }
        if (!runner->queue)
            break;
        struct job *job = take(runner);
        worker->job = job;
        pthread_mutex_unlock(&runner->mutex);
        run(worker, job);
        pthread_mutex_lock(&runner->mutex);
        worker->job = NULL;
        forget_cancel(worker);
        job_free(job);
    }
    pthread_mutex_unlock(&runner->mutex);
    return NULL;
}

static void close_pipe(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

static bool open_pipe(int ends[2])
{
#ifdef HAVE_PIPE2
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
#else
    if (pipe(ends) < 0)
        return false;
#endif
    for (int i = 0; i < 2; i++) {
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
    return true;
}

/* Signals are for the thread that waits for them. Mutex held. */
static int add_worker(struct tool_runner *runner)
{
    struct worker *worker = &runner->workers[runner->worker_count];
    sigset_t all, old;
    worker->runner = runner;
    if (!open_pipe(worker->cancel))
        return errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = pthread_create(&worker->thread, NULL, work, worker);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (failed)
        close_pipe(worker->cancel);
    else
        runner->worker_count++;
    return failed;
}

/* ---- for the front end --------------------------------------------------------------------- */

struct tool_runner *tool_runner_new(struct hermes_engine *engine,
                                    const struct tool_settings *settings, char *const *environment)
{
    struct tool_runner *runner = xcalloc(1, sizeof *runner);
    runner->engine = engine;
    runner->settings = settings;
    runner->environment = environment;
    pthread_mutex_init(&runner->mutex, NULL);
    pthread_cond_init(&runner->changed, NULL);
    return runner;
}

static void answer_error(struct tool_runner *runner, const struct job *job, const char *why)
{
    struct strbuf answer = STRBUF_INIT;
    tool_error(&answer, "%s: %s", job->tool, why);
    hermes_tool_answer(runner->engine, job->call, answer.data, answer.size);
    strbuf_free(&answer);
}

void tool_runner_start(struct tool_runner *runner, uint64_t cell,
                       const struct hermes_tool_call *call, const char *cwd)
{
    struct job *job = xcalloc(1, sizeof *job), **last = &runner->queue;
    int failed = 0;
    job->cell = cell;
    job->call = call->id;
    job->tool = xstrdup(call->tool);
    job->arguments = xstrdup(call->arguments);
    job->cwd = xstrdup(cwd);
    pthread_mutex_lock(&runner->mutex);
    if (runner->queued >= runner->idle && runner->worker_count < WORKERS_MAX)
        failed = add_worker(runner);
    if (runner->worker_count) { /* those that are there will do */
        while (*last)
            last = &(*last)->next;
        *last = job;
        runner->queued++;
        job = NULL;
        pthread_cond_signal(&runner->changed);
    }
    pthread_mutex_unlock(&runner->mutex);
    if (job) {
        answer_error(runner, job, strerror(failed));
        job_free(job);
    }
}

/* What waits of a cell, out of the queue. Mutex held. */
static struct job *take_waiting(struct tool_runner *runner, uint64_t cell)
{
    struct job *taken = NULL, **last = &taken;
    for (struct job **link = &runner->queue; *link;) {
        struct job *job = *link;
        if (cell != EVERY_CELL && job->cell != cell) {
            link = &job->next;
            continue;
        }
        *link = job->next;
        runner->queued--;
        job->next = NULL;
        *last = job;
        last = &job->next;
    }
    return taken;
}

void tool_runner_cancel(struct tool_runner *runner, uint64_t cell)
{
    pthread_mutex_lock(&runner->mutex);
    struct job *waiting = take_waiting(runner, cell);
    for (size_t i = 0; i < runner->worker_count; i++) {
        struct worker *worker = &runner->workers[i];
        if (!worker->job || (cell != EVERY_CELL && worker->job->cell != cell))
            continue;
        atomic_store(&worker->cancelled, true);
        ssize_t ignored = write(worker->cancel[1], "", 1); /* full: there is a byte */
        (void)ignored;
    }
    pthread_mutex_unlock(&runner->mutex);
    while (waiting) {
        struct job *next = waiting->next;
        answer_error(runner, waiting, "cancelled before it began");
        job_free(waiting);
        waiting = next;
    }
}

void tool_runner_free(struct tool_runner *runner)
{
    if (!runner)
        return;
    pthread_mutex_lock(&runner->mutex);
    runner->ending = true;
    pthread_cond_broadcast(&runner->changed);
    pthread_mutex_unlock(&runner->mutex);
    tool_runner_cancel(runner, EVERY_CELL);
    for (size_t i = 0; i < runner->worker_count; i++) {
        pthread_join(runner->workers[i].thread, NULL);
        close_pipe(runner->workers[i].cancel);
    }
    pthread_cond_destroy(&runner->changed);
    pthread_mutex_destroy(&runner->mutex);
    free(runner);
}
