/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "plain.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "key.h"
#include "plain-internal.h"
#include "plain-terminal.h"
#include "progress.h"
#include "repl-document.h"
#include "utf8.h"

#define CALL_BYTES 4000u /* of a tool call that waits for an approval */
#define CALL_TAIL_BYTES 400u
#define KILL_MS 3000 /* a kernel that is killed is gone far sooner */

bool plain_is_busy(const struct plain *plain)
{
    return plain->front->running || plain->front->queued;
}

/* ---- what a person does --------------------------------------------------------------------- */

bool plain_enter(struct plain *plain, const char *text, size_t size)
{
    struct strbuf error = STRBUF_INIT;
    bool good = repl_enter(plain->repl, plain->front, text, size, &error);
    if (!good) {
        plain_say(plain, "%s", error.size ? strbuf_text(&error) : "not done");
        plain->last_failed = true;
    }
    strbuf_free(&error);
    plain->dirty = true;
    plain->was_busy |= plain_is_busy(plain); /* it may be done before we look again */
    return good;
}

void plain_run_line(struct plain *plain, const char *line)
{
    struct strbuf error = STRBUF_INIT;
    if (!repl_command(plain->repl, plain->front, line, &error) && error.size)
        plain_say(plain, "%s", strbuf_text(&error));
    strbuf_free(&error);
    plain->dirty = true;
}

/* ---- what ui/repl tells of ------------------------------------------------------------------ */

static void item_added(void *context, struct repl_session *session, struct repl_item *item)
{
    struct plain *plain = context;
    if (item->text && !plain->edit && plain->exit_status >= 0)
        return; /* it ended as it was told to */
    if (item->text && session == plain->front)
        plain_say(plain, "%s", item->text);
    else if (item->text)
        plain_say(plain, "%s: %s", session->name, item->text);
}

/* Output of the session in front; above the prompt, if that stands there. */
static void cell_output(void *context, struct repl_session *session, struct repl_cell *cell,
                        int stream, const char *data, size_t size)
{
    struct plain *plain = context;
    (void)cell;
    if (session != plain->front)
        return;
    plain_hide(plain);
    plain_write(plain, stream, data, size);
    plain->dirty = true;
}

static void cell_settled(struct plain *plain, struct repl_session *session,
                         const struct repl_cell *cell)
{
    bool failed = cell->outcome != HERMES_SUCCESS;
    if (session != plain->front) {
        plain_say(plain, "%s: [%u] %s", session->name, cell->number, failed ? "failed" : "is done");
        return;
    }
    plain->last_failed = failed;
    if (cell->not_run)
        plain_say(plain, "[%u] was not run", cell->number);
    if (cell->hint)
        plain_say(plain, "%s", cell->hint);
    if (cell->spill_path && !plain->edit)
        plain_say(plain, "the complete output is in %s", cell->spill_path);
    if (plain->edit)
        return;
    bool exited = cell->ended && cell->exit_code >= 0 && cell->outcome <= HERMES_ERROR;
    if (cell->start_failed)
        plain->exit_status = 125;
    else if (exited)
        plain->exit_status = cell->exit_code & 0xff;
}

static void cell_changed(void *context, struct repl_session *session, struct repl_cell *cell)
{
    struct plain *plain = context;
    if (cell->state == REPL_SETTLED)
        cell_settled(plain, session, cell);
    else if (session == plain->front)
        plain_keys_pass(plain);
}

/* Another one may be in front now. */
static void session_changed(void *context, struct repl_session *session)
{
    struct plain *plain = context;
    (void)session;
    if (!plain->repl)
        return;
    if (plain->edit)
        plain_follow_front(plain);
    else
        plain->front = repl_front_session(plain->repl);
}

/*
 * What is approved must be seen: of a very long call the middle only is left out, and it is said.
 */
static void say_call(struct plain *plain, const struct approval_question *question)
{
    const char *text = question->arguments ? question->arguments : "";
    size_t size = strlen(text);
    if (size <= CALL_BYTES + CALL_TAIL_BYTES) {
        plain_say(plain, "%s: %s", question->tool, text);
        return;
    }
    size_t head = CALL_BYTES - utf8_partial_tail(text, CALL_BYTES);
    size_t tail = size - CALL_TAIL_BYTES;
    while (tail < size && ((unsigned char)text[tail] & 0xc0) == 0x80)
        tail++;
    plain_say(plain, "%s: %.*s ... %zu bytes are not shown ... %s", question->tool, (int)head, text,
              tail - head, text + tail);
}

static void question(void *context, struct repl_session *session)
{
    struct plain *plain = context;
    const struct repl_question *first = session->questions;
    if (session != plain->front || (first != NULL) == plain->question)
        return;
    plain->question = first != NULL;
    if (!first) {
        plain->dirty = true;
        return;
    }
    say_call(plain, &first->question);
    static const char choices[] = "   [o]nce [s]ession [d]eny? ";
    plain_write(plain, 1, choices, sizeof choices - 1);
}

static void answer(void *context, struct repl_session *session, uint64_t request, const char *json)
{
    (void)session;
    plain_answer(context, request, json);
}

static void say(void *context, struct repl_session *session, const char *line)
{
    struct plain *plain = context;
    if (session != plain->front)
        plain_say(plain, "%s: %s", session->name, line);
    else
        plain_say(plain, "%s", line);
}

static void show(void *context, struct repl_session *session, const char *title, const char *text,
                 size_t size)
{
    struct plain *plain = context;
    (void)session;
    (void)title;
    plain_print(plain, text, size);
}

static bool command(void *context, struct repl_session *session, const char *name,
                    const char *arguments)
{
    return plain_command(context, session, name, arguments);
}

static void insert(void *context, struct repl_session *session, const char *text, size_t size)
{
    struct plain *plain = context;
    size_t there;
    (void)session;
    if (!plain->edit) {
        plain_say(plain, "there is no prompt to put it into");
        return;
    }
    edit_text(plain->edit, &there);
    if (there)
        edit_insert(plain->edit, text, size);
    else
        edit_set(plain->edit, text, size, size);
    plain->dirty = true;
}

/* Without a terminal nobody answers: who wrote the command meant it. */
static void confirm(void *context, struct repl_session *session, const char *text)
{
    struct plain *plain = context;
    static const char choices[] = "   [y/N] ";
    (void)session;
    if (!plain->edit) {
        if (text)
            repl_confirm(plain->repl, true);
        return;
    }
    if (!text) {
        if (plain->doubt)
            plain_write(plain, 1, "\r\n", 2);
        plain->doubt = false;
        plain->dirty = true;
        return;
    }
    plain_say(plain, "%s", text);
    plain_write(plain, 1, choices, sizeof choices - 1);
    plain->doubt = true;
}

const struct repl_front plain_front = {
    .item_added = item_added,
    .cell_changed = cell_changed,
    .cell_output = cell_output,
    .session_changed = session_changed,
    .question = question,
    .answer = answer,
    .say = say,
    .show = show,
    .command = command,
    .insert = insert,
    .confirm = confirm,
};

/* ---- the loop on a terminal ----------------------------------------------------------------- */

static void take_signals(struct plain *plain)
{
    int number = 0;
    unsigned flags = plain_signals_take(&number);
    if (flags & PLAIN_END)
        plain->exit_status = 128 + number;
    if (flags & PLAIN_INTERRUPT)
        plain_keys_take(plain, "\003", 1);
    if (flags & (PLAIN_RESIZE | PLAIN_CONTINUE)) {
        plain_resized(plain);
        plain->dirty = true;
    }
}

static void read_terminal(struct plain *plain)
{
    char bytes[4096];
    ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
    if (got > 0)
        plain_keys_take(plain, bytes, (size_t)got);
    else if (got == 0 || (errno != EINTR && errno != EAGAIN))
        plain->exit_status = 128 + SIGHUP; /* the terminal is gone */
}

/* From a cell that ran to the prompt: what it left behind on the terminal is undone. */
static void settle(struct plain *plain)
{
    bool busy = plain_is_busy(plain);
    if (!busy && (plain->was_busy || plain->held.size)) {
        struct strbuf undo = STRBUF_INIT;
        plain_modes_undo(&plain->modes, &undo);
        plain_write(plain, 1, strbuf_text(&undo), undo.size);
        strbuf_free(&undo);
        plain->was_busy = false;
        plain->dirty = true;
        plain_keys_release(plain);
        busy = plain_is_busy(plain);
    }
    plain->was_busy = busy;
    if (!busy && !plain->doubt && plain->dirty && plain->exit_status < 0 &&
        !repl_wants_quit(plain->repl) && !repl_awaits_answer(plain->repl))
        plain_draw(plain);
}

static int64_t sooner(int64_t wait, int64_t due_ms)
{
    int64_t left = due_ms - now_ms();
    left = left > 0 ? left : 0;
    return !due_ms ? wait : wait < 0 || left < wait ? left : wait;
}

static int run_terminal(struct plain *plain)
{
    plain->dirty = true;
    settle(plain);
    int64_t wait = repl_step(plain->repl);
    for (;;) {
        settle(plain); /* keys that waited may be the last */
        if (plain->exit_status >= 0 || repl_wants_quit(plain->repl))
            break;
        struct pollfd fds[] = {{STDIN_FILENO, POLLIN, 0},
                               {plain_signals_fd(), POLLIN, 0},
                               {repl_fd(plain->repl), POLLIN, 0}};
        bool passes_later = plain->held.size && plain->pass_after_ms > now_ms();
        wait = sooner(wait, passes_later ? plain->pass_after_ms : 0);
        poll(fds, 3, (int)sooner(wait, plain->escape_ms));
        take_signals(plain);
        if (fds[0].revents)
            read_terminal(plain);
        plain_keys_late(plain);
        plain_keys_pass(plain);
        wait = repl_step(plain->repl);
    }
    plain_leave_prompt(plain, "");
    plain_paste_mode(plain, false);
    if (!plain->at_start)
        plain_write(plain, 1, "\r\n", 2);
    return plain->exit_status < 0 ? 0 : plain->exit_status;
}

/* ---- life ----------------------------------------------------------------------------------- */

static bool has_terminal(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* Signals, a terminal that is gone: no orderly end. */
static void end_kernels(struct plain *plain)
{
    char *grace = NULL;
    if (plain->exit_status > 128)
        return;
    hermes_get_option(plain->engine, "shutdown_grace", &grace);
    repl_finish(plain->repl, (int64_t)((grace ? strtod(grace, NULL) : 3) * 1000) + KILL_MS, NULL);
    hermes_free(grace);
}

static void on_terminal(struct plain *plain, const char *file)
{
    plain_screen_open(plain);
    plain->keys = keys_new();
    edit_set_session(plain->edit, plain->front->name);
    plain_terminal_raw();
    const struct repl_session *front = plain->front;
    if (plain->options->rest && front->item_count && front->items[front->item_count - 1].text)
        plain_say(plain, "%s", front->items[front->item_count - 1].text);
    if (file)
        plain_say(plain, "%s is open: :cells lists its cells, :run-all and :run N run them", file);
    plain->exit_status = run_terminal(plain);
    end_kernels(plain);
    plain_terminal_restore();
}

static void finish(struct plain *plain)
{
    repl_free(plain->repl);
    if (plain->edit) {
        edit_free(plain->edit);
        plain_keys_free(plain);
    }
    plain_signals_close();
    strbuf_free(&plain->input);
    strbuf_free(&plain->block);
    free(plain->message);
}

bool plain_run(struct hermes_engine *engine, struct repl_options *options, const char *file,
               int *ret_status, struct strbuf *error)
{
    struct plain plain = {.engine = engine, .options = options, .exit_status = -1};
    bool terminal = has_terminal();
    setlocale(LC_CTYPE, "");
    if (!plain_signals_open()) {
        strbuf_setf(error, "no descriptors: %s", strerror(errno));
        return false;
    }
    options->pipes = !terminal;
    options->blocks = options->plain = true;
    plain_terminal_size(&options->columns, &options->rows);
    options->terminal = getenv("TERM");
    struct repl *repl = repl_new(engine, options, &plain_front, &plain, error);
    if (!repl) {
        plain_signals_close();
        return false;
    }
    plain.repl = repl;
    plain.front = repl_front_session(repl);
    if (terminal) {
        on_terminal(&plain, file);
    } else {
        plain.prompts = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
        plain.exit_status = plain_pipe_run(&plain);
        end_kernels(&plain);
    }
    *ret_status = plain.exit_status;
    if (plain.exit_status > 128) {
        size_t size = 0;
        const char *prompt = plain.edit ? edit_text(plain.edit, &size) : NULL;
        repl_document_rescue(repl, prompt, size, options->last_words);
    }
    finish(&plain);
    return true;
}
