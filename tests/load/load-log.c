/* SPDX-License-Identifier: MIT */
/* The engine's events as one list, and the answers of submitted cells. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "load.h"

enum { ANSWER_LIMIT_S = 120 };

int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* splitmix64: the same numbers everywhere. */
uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

unsigned random_below(uint64_t *state, unsigned limit)
{
    return (unsigned)((random_next(state) >> 32) * limit >> 32);
}

/* ---- answers ---------------------------------------------------------------------------- */

/* "s12" or "s12::child::c3". */
bool parse_owner(const char *name, int *ret_owner)
{
    int session, child = 0, used = 0;

    if (sscanf(name, "s%d%n", &session, &used) != 1 || session < 0)
        return false;
    if (name[used] && (sscanf(name + used, "::child::c%d%n", &child, &used) != 1 || child < 1 ||
                       child >= OWNERS_EACH))
        return false;
    *ret_owner = owner_of(session, child);
    return true;
}

static void read_line(struct answer *answer, const char *text, size_t size)
{
    const char *end = memchr(text, '\n', size);
    char line[80];
    int session, child, key;

    if (!end || (size_t)(end - text) >= sizeof line)
        return;
    memcpy(line, text, (size_t)(end - text));
    line[end - text] = '\0';
    answer->line_size = (size_t)(end - text) + 1;
    if (sscanf(line, "%ld %ld s%d.%d.%d %ld", &answer->pid, &answer->n, &session, &child, &key,
               &answer->call) != 6)
        return;
    answer->printed = true;
    answer->who = place(session, child, key);
}

void read_answer(struct answer *answer, const struct hermes_result *result)
{
    *answer = (struct answer){
        .outcome = result->outcome,
        .previous = result->previous,
        .exit_code = result->exit_code,
        .term_signal = result->term_signal,
        .state_kept = result->state_kept,
        .started = result->started,
        .start_failed = result->start_failed,
        .reused = result->reused,
        .state_reset = result->state_reset,
        .ended = result->ended,
        .truncated = result->truncated,
        .cell = result->cell,
        .kernel = result->kernel,
        .execution_count = result->execution_count,
        .generation = result->generation,
        .bytes_total = result->bytes_total,
        .kernel_pid = result->kernel_pid,
        .duration_us = result->duration_us,
    };
    read_line(answer, result->output, result->output_size);
    snprintf(answer->words, sizeof answer->words, "%.60s | %.120s", result->output,
             result->error ? result->error : "");
}

static struct done *done_slot(const struct load *load, uint64_t cell)
{
    size_t at = (size_t)(cell * UINT64_C(0x9e3779b97f4a7c15) >> 20) % DONE_SLOTS;

    while (load->done[at].cell && load->done[at].cell != cell)
        at = (at + 1) % DONE_SLOTS;
    return &load->done[at];
}

const struct done *log_find_done(const struct load *load, uint64_t cell)
{
    const struct done *slot = done_slot(load, cell);

    return slot->cell ? slot : NULL;
}

/* ---- the list --------------------------------------------------------------------------- */

void log_begin(struct load *load)
{
    load->length = 0;
    load->call_count = 0;
    memset(load->done, 0, DONE_SLOTS * sizeof *load->done);
    memset(load->calls, 0, CALLS_MAX * sizeof *load->calls);
}

static void keep_done(struct load *load, const struct hermes_event *event)
{
    struct done *slot = done_slot(load, event->cell);

    slot->cell = event->cell;
    slot->count++;
    slot->place = load->length;
    read_answer(&slot->answer, event->result);
    pthread_cond_broadcast(&load->answered);
}

static void keep(struct load *load, const struct hermes_event *event)
{
    struct entry *entry = &load->log[load->length];

    if (event->type != HERMES_EVENT_STARTED && event->type != HERMES_EVENT_DONE &&
        event->type != HERMES_EVENT_KERNEL)
        return; /* output; the result has it too */
    *entry = (struct entry){
        .type = event->type,
        .cell = event->cell,
        .kernel = event->kernel,
        .execution_count = event->execution_count,
        .seen_ns = now_ns(),
        .owner = -1,
    };
    if (event->type == HERMES_EVENT_DONE)
        keep_done(load, event);
    if (event->type == HERMES_EVENT_KERNEL) {
        entry->state = event->state;
        entry->cause = event->cause;
        if (!parse_owner(event->session, &entry->owner))
            entry->owner = -1;
    }
    if (++load->length == LOG_MAX) {
        fprintf(stderr, "load: the log is full\n");
        abort();
    }
}

static void drain_locked(struct load *load)
{
    struct hermes_event *event;

    while (hermes_next_event(load->engine, 0, &event) == 0 && event) {
        keep(load, event);
        hermes_event_free(event);
    }
}

int log_drain(struct load *load)
{
    int length;

    pthread_mutex_lock(&load->lock);
    drain_locked(load);
    length = load->length;
    pthread_mutex_unlock(&load->lock);
    return length;
}

int log_length(struct load *load)
{
    int length;

    pthread_mutex_lock(&load->lock);
    length = load->length;
    pthread_mutex_unlock(&load->lock);
    return length;
}

bool log_wait_done(struct load *load, uint64_t cell, struct answer *ret, int *ret_place)
{
    const struct done *found;
    struct timespec due;
    int error = 0;

    clock_gettime(CLOCK_MONOTONIC, &due);
    due.tv_sec += ANSWER_LIMIT_S;
    pthread_mutex_lock(&load->lock);
    while (!(found = log_find_done(load, cell)) && !error)
        error = pthread_cond_timedwait(&load->answered, &load->lock, &due);
    if (found) {
        *ret = found->answer;
        *ret_place = found->place;
    }
    pthread_mutex_unlock(&load->lock);
    return found;
}
