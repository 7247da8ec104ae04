/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What no event tells: the memory of a busy kernel, and whether its cell reads the terminal. Looked
 * at while a cell runs, never else: an idle program does not wake up.
 */
#include "config.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "repl-internal.h"

#define MEMORY_MS 1000
#define INPUT_FIRST_MS 20
#define INPUT_LAST_MS 250
#define FLOW_GAP_MS 60 /* output that comes so soon again goes on */

void repl_sample_memory(struct repl_session *session)
{
    char path[64], text[128] = "";
    unsigned long pages = 0;
    if (session->pid <= 0 || !session->has_kernel)
        return;
    snprintf(path, sizeof path, "/proc/%" PRId64 "/statm", session->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (read(fd, text, sizeof text - 1) > 0 && sscanf(text, "%*s %lu", &pages) == 1)
        session->memory_bytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
    close(fd);
}

void repl_watch_start(struct repl *repl, struct repl_session *session)
{
    struct repl_session_data *data = session_data(session);
    int64_t now = now_ms();
    data->memory_due_ms = now + MEMORY_MS;
    data->output_ms = 0;
    data->input_wait_ms = INPUT_FIRST_MS;
    data->input_due_ms = repl->options.pipes ? 0 : now + INPUT_FIRST_MS;
}

void repl_watch_stop(struct repl *repl, struct repl_session *session)
{
    struct repl_session_data *data = session_data(session);
    (void)repl;
    data->memory_due_ms = data->input_due_ms = 0;
}

void repl_look_at_input(struct repl *repl, struct repl_session *session)
{
    struct repl_session_data *data = session_data(session);
    if (repl->options.pipes || !session->running || data->input_wait_ms <= INPUT_FIRST_MS)
        return;
    data->input_wait_ms = INPUT_FIRST_MS;
    data->input_due_ms = now_ms() + INPUT_FIRST_MS;
}

/*
 * Behind a prompt, most likely; but a cell that has been writing all the time draws its progress,
 * and reads nothing before it stops.
 */
void repl_watch_output(struct repl *repl, struct repl_cell_data *data)
{
    struct repl_session_data *session = session_data(data->session);
    int64_t now = now_ms(), latest;
    if (now - session->output_ms >= FLOW_GAP_MS)
        session->flow_since_ms = now;
    session->output_ms = now;
    if (data->session->running != &data->cell || data->last_byte == '\n')
        return;
    if (now - session->flow_since_ms < INPUT_LAST_MS || !session->input_due_ms) {
        repl_look_at_input(repl, data->session);
        return;
    }
    latest = session->looked_ms + INPUT_LAST_MS;
    session->input_wait_ms = INPUT_FIRST_MS;
    session->input_due_ms = now + FLOW_GAP_MS < latest ? now + FLOW_GAP_MS : latest;
}

static void look_at_input(struct repl *repl, struct repl_session *session, int64_t now)
{
    struct repl_session_data *data = session_data(session);
    struct repl_cell *cell = session->running;
    int state = hermes_input_state(repl->engine, session->kernel);
    bool reads = state > 0 && state & HERMES_INPUT_WAITS,
         raw = state > 0 && state & HERMES_INPUT_RAW,
         hidden = state > 0 && state & HERMES_INPUT_NO_ECHO;
    bool changed =
        reads != cell->input_waits || raw != cell->input_raw || hidden != cell->input_hidden;
    cell->input_waits = reads;
    cell->input_raw = raw;
    cell->input_hidden = hidden;
    data->looked_ms = now;
    data->input_wait_ms =
        data->input_wait_ms * 2 < INPUT_LAST_MS ? data->input_wait_ms * 2 : INPUT_LAST_MS;
    data->input_due_ms = now + data->input_wait_ms;
    if (changed)
        repl_tell_cell(repl, session, cell);
}

static int64_t sooner(int64_t wait, int64_t due, int64_t now)
{
    int64_t left = due > now ? due - now : 0;
    return wait < 0 || left < wait ? left : wait;
}

int64_t repl_watch(struct repl *repl)
{
    int64_t now = now_ms(), wait = -1;
    for (size_t i = 0; i < repl->session_count; i++) {
        struct repl_session_data *data = repl->sessions[i];
        struct repl_session *session = &data->session;
        if (!session->running)
            continue;
        if (data->memory_due_ms && data->memory_due_ms <= now) {
            data->memory_due_ms = now + MEMORY_MS;
            repl_sample_memory(session);
            repl_tell_session(repl, session);
        }
        if (data->input_due_ms && data->input_due_ms <= now)
            look_at_input(repl, session, now);
        if (data->memory_due_ms)
            wait = sooner(wait, data->memory_due_ms, now);
        if (data->input_due_ms)
            wait = sooner(wait, data->input_due_ms, now);
    }
    return wait;
}
