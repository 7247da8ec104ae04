/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a polite interrupt to the loss of a kernel: each step says what it costs, and those that
 * cost something ask.
 */
#include "config.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "repl-internal.h"

#define STACK_MS 700

/* ---- costs ---------------------------------------------------------------------------------- */

void repl_add_bytes(struct strbuf *out, uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1000 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1000;
        unit++;
    }
    strbuf_addf(out, unit && value < 10 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void repl_add_age(struct strbuf *out, int64_t ms)
{
    int64_t seconds = ms / 1000;
    if (seconds < 120)
        strbuf_addf(out, "%" PRId64 " s", seconds);
    else if (seconds < 120 * 60)
        strbuf_addf(out, "%" PRId64 " min", seconds / 60);
    else if (seconds < 48 * 3600)
        strbuf_addf(out, "%" PRId64 " h", seconds / 3600);
    else
        strbuf_addf(out, "%" PRId64 " days", seconds / 86400);
}

void repl_add_cost(struct strbuf *out, struct repl_session *session)
{
    uint64_t cells = session->execution_count;
    strbuf_addf(out, "%" PRIu64 " cell%s, ", cells, cells == 1 ? "" : "s");
    if (session->memory_bytes) {
        repl_add_bytes(out, session->memory_bytes);
        strbuf_adds(out, ", ");
    }
    strbuf_adds(out, "up ");
    repl_add_age(out, now_ms() - session_data(session)->kernel_since_ms);
}

/* ---- where a cell is stuck, seen from outside ----------------------------------------------- */

static size_t read_proc(int64_t pid, const char *name, char *text, size_t size)
{
    char *path = xasprintf("/proc/%" PRId64 "/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    free(path);
    text[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

/* "sleep 99 (process 1234)" of a child, the newest; false: there is none. */
static bool add_child(struct strbuf *out, int64_t pid)
{
    char text[4096], command[256];
    char *name = xasprintf("task/%" PRId64 "/children", pid);
    read_proc(pid, name, text, sizeof text);
    free(name);
    char *last = text + strlen(text);
    while (last > text && last[-1] == ' ')
        *--last = '\0';
    while (last > text && isdigit((unsigned char)last[-1]))
        last--;
    size_t size =
        *last ? read_proc(strtoll(last, NULL, 10), "cmdline", command, sizeof command) : 0;
    if (!size)
        return false;
    for (size_t i = 0; i + 1 < size; i++) {
        if (!command[i] || iscntrl((unsigned char)command[i]))
            command[i] = ' ';
    }
    strbuf_addf(out, "it waits for a child: %.80s (process %s)", command, last);
    return true;
}

static void add_process_state(struct strbuf *out, int64_t pid)
{
    char text[512];
    read_proc(pid, "stat", text, sizeof text);
    const char *end = strrchr(text, ')');
    char state = end && end[1] ? end[2] : '?';
    if (state == 'R')
        strbuf_adds(out, "it computes in code that lets no other thread run (a C extension?)");
    else if (state == 'D')
        strbuf_adds(out, "it waits for the kernel of the system: a disk or a network file system");
    else if (state == 'T')
        strbuf_adds(out, "it is stopped by a signal");
    else if (!add_child(out, pid))
        strbuf_adds(out, "it waits in a call that does not come back");
}

/* The innermost lines of a stack, on one line. */
static void add_stack(struct strbuf *out, const char *text)
{
    size_t size = strlen(text);
    while (size && isspace((unsigned char)text[size - 1]))
        size--;
    size_t start = size;
    for (int lines = 0; start && lines < 2; start -= lines < 2) {
        while (start && text[start - 1] != '\n')
            start--;
        lines++;
        if (!start)
            break;
    }
    bool blank = true;
    for (size_t i = start; i < size; i++) {
        bool space = isspace((unsigned char)text[i]);
        if (!space || !blank)
            strbuf_addc(out, space ? ' ' : text[i]);
        blank = space;
    }
}

void repl_stuck(struct repl *repl, struct repl_session *session, uint64_t cell, const char *stack)
{
    struct strbuf question = STRBUF_INIT, cost = STRBUF_INIT;
    if (!session->running || session->running->id != cell)
        return; /* it has ended meanwhile */
    strbuf_adds(&question, "the cell still runs: ");
    if (stack[0])
        add_stack(&question, stack);
    else
        add_process_state(&question, session->pid);
    repl_sample_memory(session);
    repl_add_cost(&cost, session);
    strbuf_addf(&question, ". Kill the kernel? That loses its state: %s.", strbuf_text(&cost));
    repl->doubt_cell = cell;
    repl_ask_doubt(repl, session, REPL_DOUBT_KILL, strbuf_text(&question));
    strbuf_free(&question);
    strbuf_free(&cost);
}

/* ---- the ladder ----------------------------------------------------------------------------- */

/* The one that runs; else, since it may have begun and we not know it yet, the first that waits. */
static struct repl_cell *foremost(const struct repl_session *session)
{
    for (size_t i = 0; !session->running && session->queued && i < session->item_count; i++) {
        struct repl_cell *cell = session->items[i].cell;
        if (cell && cell->state == REPL_QUEUED && cell->id)
            return cell;
    }
    return session->running;
}

bool repl_interrupt(struct repl *repl, struct repl_session *session)
{
    struct repl_cell *cell = foremost(session);
    if (!cell)
        return repl_replay_stop(repl, session);
    hermes_interrupt(repl->engine, cell->id, NULL, -1);
    tool_calls_cancel(&repl->calls, cell->id);
    repl_drop_questions(repl, session, cell->id);
    if (session->interrupts++ == 0)
        return true;
    if (repl->doubt == REPL_DOUBT_KILL && repl->doubt_session == session)
        return true;
    if (!repl_ask(repl, session, REPL_FOR_STUCK, "{\"request\":\"stack\"}", STACK_MS, NULL))
        repl_stuck(repl, session, cell->id, "");
    return true;
}

/* The answer says what survived. */
void repl_interrupted(struct repl *repl, struct repl_cell_data *data,
                      const struct hermes_result *result)
{
    struct repl_session *session = data->session;
    if (result->undo)
        repl_say(repl, session, "killed; %s brings back the state before the cell",
                 repl_undo_keys(repl));
    else if (result->ended && result->outcome == HERMES_INTERRUPTED)
        repl_say(repl, session,
                 "killed; the state of %s is lost, its transcript and history are not",
                 session->name);
    else if (result->outcome == HERMES_INTERRUPTED ||
             (result->outcome == HERMES_ERROR && !result->ended))
        repl_say(repl, session, "interrupted; variables and imports are kept");
}

/* ---- doubts --------------------------------------------------------------------------------- */

void repl_ask_doubt(struct repl *repl, struct repl_session *session, enum repl_doubt doubt,
                    const char *question)
{
    repl->doubt = doubt;
    repl->doubt_session = session;
    if (repl->front.confirm)
        repl->front.confirm(repl->context, session, question);
    else
        repl_confirm(repl, true);
}

/* Of any kind: REPL_SURE. */
void repl_drop_doubt(struct repl *repl, enum repl_doubt doubt, const struct repl_session *session)
{
    if (!repl->doubt || repl->doubt_session != session || (doubt && repl->doubt != doubt))
        return;
    struct repl_session *asked = repl->doubt_session;
    repl->doubt = REPL_SURE;
    repl->doubt_session = NULL;
    if (repl->front.confirm)
        repl->front.confirm(repl->context, asked, NULL);
}

void repl_confirm(struct repl *repl, bool yes)
{
    enum repl_doubt doubt = repl->doubt;
    struct repl_session *session = repl->doubt_session;
    struct strbuf error = STRBUF_INIT;
    repl->doubt = REPL_SURE;
    repl->doubt_session = NULL;
    if (!yes || !doubt)
        return;
    switch (doubt) {
    case REPL_DOUBT_KILL:
        if (session->running && session->running->id == repl->doubt_cell)
            hermes_kill(repl->engine, repl->doubt_cell, NULL);
        break;
    case REPL_DOUBT_RESET:
        repl_do_reset(repl, session);
        break;
    case REPL_DOUBT_UNDO:
        if (!repl_do_undo(repl, session, &error))
            repl_say(repl, session, "%s", strbuf_text(&error));
        break;
    case REPL_DOUBT_CLEAR:
        repl_do_clear(repl, session);
        break;
    case REPL_DOUBT_CLOSE:
        repl_close(repl, session);
        break;
    case REPL_DOUBT_QUIT:
        repl->quits = true;
        break;
    case REPL_DOUBT_OVERWRITE:
        repl_overwrite(repl, session);
        break;
    case REPL_DOUBT_RELOAD:
        repl_document_do_reload(repl, session);
        break;
    case REPL_SURE:
        break;
    }
    strbuf_free(&error);
}

void repl_do_reset(struct repl *repl, struct repl_session *session)
{
    if (session->running)
        tool_calls_cancel(&repl->calls, session->running->id);
    if (hermes_reset(repl->engine, session_data(session)->owner, NULL) != HERMES_OK)
        repl_start_kernel(repl, session); /* it had none: now it has */
}

/* ---- undo ----------------------------------------------------------------------------------- */

static bool ask_undo(struct repl *repl, struct repl_session *session, unsigned flags,
                     struct hermes_undone *ret, struct strbuf *error)
{
    struct hermes_error why = {0, 0, ""};
    int status = hermes_undo(repl->engine, session_data(session)->owner, NULL, flags, ret, &why);
    if (status == HERMES_OK)
        return true;
    strbuf_setf(error, "%s%s", why.text[0] ? why.text : hermes_status_text(status),
                session->document ? " (:undo-edit undoes changes of the document)" : "");
    return false;
}

bool repl_can_undo(struct repl *repl, struct repl_session *session, struct hermes_undone *ret,
                   struct strbuf *error)
{
    return ask_undo(repl, session, HERMES_UNDO_LOOK, ret, error);
}

const char *repl_undo_keys(const struct repl *repl)
{
    const char *keys = repl->options.keymap && !repl->options.plain
                           ? keymap_keys_of(repl->options.keymap, KEYMAP_PROMPT, "undo")
                           : NULL;
    return keys ? keys : ":undo";
}

bool repl_do_undo(struct repl *repl, struct repl_session *session, struct strbuf *error)
{
    return ask_undo(repl, session, 0, NULL, error);
}

void repl_add_undo(struct repl *repl, struct repl_session *session, struct strbuf *out)
{
    struct hermes_undone undone = HERMES_UNDONE_INIT;
    struct strbuf error = STRBUF_INIT;
    if (!ask_undo(repl, session, HERMES_UNDO_LOOK, &undone, &error)) {
        strbuf_addf(out, "undo       %s\n", strbuf_text(&error));
    } else if (!undone.cause) {
        strbuf_adds(out, "undo       the state before the last cell\n");
    } else {
        strbuf_addf(out, "undo       a kernel with %" PRIu64 " cell%s, ", undone.execution_count,
                    undone.execution_count == 1 ? "" : "s");
        repl_add_bytes(out, (uint64_t)undone.memory_bytes);
        strbuf_adds(out, ", for ");
        repl_add_age(out, undone.left_ms);
        strbuf_adds(out, " more\n");
    }
    strbuf_free(&error);
}

/* ---- resets --------------------------------------------------------------------------------- */

/* The contract's clear: all of it at once, and the grants. Returns when the processes are gone. */
void repl_do_clear(struct repl *repl, struct repl_session *session)
{
    if (session->running)
        tool_calls_cancel(&repl->calls, session->running->id);
    hermes_session_clear(repl->engine, session_data(session)->owner);
    tool_calls_forget(&repl->calls, session_data(session)->owner);
    if (repl->front.command)
        repl->front.command(repl->context, session, "clear", "");
    repl_say(repl, session, "%s is cleared: its kernel is gone, grants are forgotten",
             session->name);
}

size_t repl_drop_queued(struct repl *repl, struct repl_session *session)
{
    size_t dropped = 0;
    for (size_t i = repl->open_count; i-- > 0;) {
        struct repl_cell *cell = &repl->open[i]->cell;
        if (repl->open[i]->session == session && cell->state == REPL_QUEUED &&
            hermes_interrupt(repl->engine, cell->id, "dropped from the queue", 0) == HERMES_OK)
            dropped++;
    }
    return dropped + repl_document_drop_due(session);
}
