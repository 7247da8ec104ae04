/* SPDX-License-Identifier: MIT */
/* What the threads do: calls at random, each written down with the places in the log around it. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "load.h"

/* Every cell says first where it runs, and as what. */
static const char head[] = "import os, time\n"
                           "n = globals().get('n', 0) + 1\n"
                           "who = globals().get('who', 's%d.%d.%d')\n"
                           "print(os.getpid(), n, who, %ld)\n";

/* How often of 1000, and what the cell does then. */
static const struct {
    const char *name;
    unsigned weight;
    const char *code;
} kinds[CELL_KINDS] = {
    [CELL_PLAIN] = {"plain", 640, ""},
    [CELL_NAP] = {"nap", 120, "time.sleep(0.02)\n"},
    [CELL_FLOOD] = {"flood", 30, "print('x' * 199999)\n"},
    [CELL_BRANCH] = {"branch", 15,
                     "import subprocess\n"
                     "subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"},
    [CELL_RAISE] = {"raise", 60, "raise ValueError('as it should be')\n"},
    [CELL_HANG] = {"hang", 25, "time.sleep(1000)\n"},
    [CELL_LOOP] = {"loop", 40, "while True:\n    time.sleep(0.005)\n"},
    [CELL_STUBBORN] = {"stubborn", 10,
                       "while True:\n    try:\n        while True:\n            time.sleep(0.005)\n"
                       "    except KeyboardInterrupt:\n        pass\n"},
    [CELL_EXIT] = {"exit", 20, "raise SystemExit(3)\n"},
    [CELL_ABORT] = {"abort", 20, "os._exit(7)\n"},
    [CELL_SHOT] = {"shot", 20, "os.kill(os.getpid(), 9)\n"},
};

const char *cell_kind_name(enum cell_kind kind)
{
    return kinds[kind].name;
}

static enum cell_kind random_kind(uint64_t *random)
{
    unsigned at = random_below(random, 1000);
    int kind = 0;

    while (at >= kinds[kind].weight)
        at -= kinds[kind++].weight;
    return (enum cell_kind)kind;
}

static void pause_us(unsigned us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000L}, NULL);
}

/* ---- one call --------------------------------------------------------------------------- */

struct names {
    char session[16], child[16];
};

static void name_owner(const struct call *call, struct names *names)
{
    snprintf(names->session, sizeof names->session, "s%d", call->session);
    snprintf(names->child, sizeof names->child, "c%d", call->child);
}

static struct hermes_cell make_cell(const struct call *call, const struct names *names,
                                    const char *code)
{
    static const char *const none[] = {NULL};
    struct hermes_cell cell = HERMES_CELL_INIT;

    cell.session = names->session;
    cell.child_id = call->child ? names->child : NULL;
    cell.mode = call->key == 2 ? HERMES_MODE_STRICT : HERMES_MODE_PROJECT;
    cell.tools = call->key == 1 ? none : NULL;
    cell.code = code;
    cell.flags = HERMES_CELL_EVENTS | (call->reset ? HERMES_CELL_RESET : 0);
    cell.timeout_ms = call->timeout_ms;
    return cell;
}

static void execute(struct load *load, struct call *call, const struct hermes_cell *cell)
{
    struct hermes_result *result = NULL;

    call->status = hermes_execute(load->engine, cell, &result, NULL);
    if (call->status)
        return;
    call->answers = 1;
    call->cell = result->cell;
    read_answer(&call->answer, result);
    hermes_result_free(result);
}

static struct call *new_call(struct load *load, enum call_type type)
{
    int at = __atomic_fetch_add(&load->call_count, 1, __ATOMIC_RELAXED);
    struct call *call;

    if (at >= CALLS_MAX) {
        __atomic_store_n(&load->call_count, CALLS_MAX, __ATOMIC_RELAXED);
        return NULL;
    }
    call = &load->calls[at];
    call->type = type;
    call->started = call->settled = call->done = call->submitted = NEVER;
    call->begin_ns = now_ns();
    call->begin = log_length(load);
    return call;
}

static void end_call(struct load *load, struct call *call)
{
    call->end = log_drain(load);
    call->end_ns = now_ns();
}

/* Interrupt or kill a submitted cell, as a call of its own. */
static void stop_cell(struct load *load, enum call_type type, uint64_t cell, int kill_after_ms)
{
    struct call *call = new_call(load, type);

    if (!call)
        return;
    call->cell = cell;
    call->kill_after_ms = kill_after_ms;
    call->status = type == CALL_KILL ? hermes_kill(load->engine, cell, NULL)
                                     : hermes_interrupt(load->engine, cell, NULL, kill_after_ms);
    end_call(load, call);
}

/*
 * A cell that does not end by itself is stopped by who submitted it. After that it has to settle.
 */
static void submit(struct load *load, int thread, struct call *call, const struct hermes_cell *cell,
                   uint64_t *random)
{
    call->status = hermes_submit(load->engine, cell, &call->cell, NULL);
    if (call->status)
        return;
    call->submitted_ns = now_ns();
    call->submitted = log_drain(load);
    __atomic_store_n(&load->inflight[thread], call->cell, __ATOMIC_RELAXED);
    if (call->kind == CELL_LOOP || call->kind == CELL_STUBBORN) {
        pause_us(random_below(random, 30000));
        if (random_below(random, 4) == 0)
            stop_cell(load, CALL_KILL, call->cell, 0);
        else
            stop_cell(load, CALL_INTERRUPT, call->cell, call->kind == CELL_STUBBORN ? 60 : 20000);
    }
    call->answers = log_wait_done(load, call->cell, &call->answer, &call->done);
    __atomic_store_n(&load->inflight[thread], 0, __ATOMIC_RELAXED);
}

static void run_cell(struct load *load, int thread, struct call *call, uint64_t *random)
{
    struct names names;
    struct hermes_cell cell;
    char code[600];
    int used;

    call->kind = random_kind(random);
    call->reset = random_below(random, 100) < 4;
    call->timeout_ms = call->kind == CELL_HANG ? 80 + (int)random_below(random, 120) : 0;
    if (call->kind == CELL_LOOP || call->kind == CELL_STUBBORN)
        call->type = CALL_SUBMIT;
    name_owner(call, &names);
    used = snprintf(code, sizeof code, head, call->session, call->child, call->key,
                    (long)(call - load->calls));
    snprintf(code + used, sizeof code - (size_t)used, "%s", kinds[call->kind].code);
    cell = make_cell(call, &names, code);
    if (call->type == CALL_EXECUTE)
        execute(load, call, &cell);
    else
        submit(load, thread, call, &cell, random);
}

/* ---- all of them ------------------------------------------------------------------------ */

static void interrupt_somebody(struct load *load, uint64_t *random)
{
    unsigned thread = random_below(random, (unsigned)load->threads);
    uint64_t cell = __atomic_load_n(&load->inflight[thread], __ATOMIC_RELAXED);

    if (cell)
        stop_cell(load, random_below(random, 5) ? CALL_INTERRUPT : CALL_KILL, cell, 20000);
}

static void list_kernels(struct load *load, struct call *call)
{
    char *json = hermes_kernels_json(load->engine);

    call->status = json ? 0 : HERMES_ENOMEM;
    hermes_free(json);
}

static void other_call(struct load *load, struct call *call)
{
    struct names names;
    struct hermes_cell cell;

    name_owner(call, &names);
    switch (call->type) {
    case CALL_START:
        cell = make_cell(call, &names, NULL);
        call->status = hermes_start(load->engine, &cell, &call->kernel, NULL);
        break;
    case CALL_RESET:
        call->status = hermes_reset(load->engine, names.session, call->child ? names.child : NULL);
        break;
    case CALL_CLEAR:
        call->child = 0;
        call->status = hermes_session_clear(load->engine, names.session);
        break;
    case CALL_CHILD_END:
        call->child += !call->child;
        name_owner(call, &names);
        call->status = hermes_child_end(load->engine, names.session, names.child);
        break;
    default:
        list_kernels(load, call);
        break;
    }
}

static enum call_type random_type(uint64_t *random)
{
    unsigned at = random_below(random, 100);

    return at < 42   ? CALL_EXECUTE
           : at < 80 ? CALL_SUBMIT
           : at < 84 ? CALL_START
           : at < 88 ? CALL_RESET
           : at < 92 ? CALL_CLEAR
           : at < 95 ? CALL_CHILD_END
           : at < 96 ? CALL_LIST
                     : CALL_INTERRUPT;
}

void calls_run(struct load *load, int thread, uint64_t seed)
{
    uint64_t random = seed;

    while (!__atomic_load_n(&load->stop, __ATOMIC_RELAXED)) {
        enum call_type type = random_type(&random);
        bool hot = random_below(&random, 100) < 75;
        struct call *call;

        if (type == CALL_INTERRUPT) {
            interrupt_somebody(load, &random);
            continue;
        }
        call = new_call(load, type);
        if (!call)
            return;
        call->session = (int)random_below(&random, (unsigned)(hot ? load->hot : load->sessions));
        call->child =
            random_below(&random, 100) < 15 ? 1 + (int)random_below(&random, CHILDREN) : 0;
        call->key = random_below(&random, 100) < 15 ? 1 + (int)random_below(&random, KEYS - 1) : 0;
        if (call_is_cell(call))
            run_cell(load, thread, call, &random);
        else
            other_call(load, call);
        end_call(load, call);
    }
}
