/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is typed. While the session in front is idle, keys are the prompt's, but for those that
 * stand for commands. While a cell runs they are the cell's: given to its terminal when it reads,
 * kept when it does not, so that what is typed ahead reaches the next prompt.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "key.h"
#include "plain-internal.h"
#include "plain-terminal.h"
#include "progress.h"
#include "repl-document.h"

#define INTERRUPT_MS 500 /* so long a cell may take to end before it gets keys again */

enum { KEY_C_C = 3, KEY_C_Z = 26, KEY_C_BACKSLASH = 28 };

/* ---- the prompt's keys ---------------------------------------------------------------------- */

static void submit(struct plain *plain)
{
    size_t size;
    if (!plain->drawn)
        plain_draw(plain); /* typed ahead: what was entered is to be seen */
    plain_leave_prompt(plain, "");
    char *text = edit_take(plain->edit, &size);
    /* What was not done is in the history; or, where it is not to be, in the prompt again. */
    if (!plain_enter(plain, text, size) && (text[0] == ' ' || repl_document_editing(plain->front)))
        edit_set(plain->edit, text, size, size);
    free(text);
    plain->dirty = true;
}

static void cancel(struct plain *plain)
{
    size_t size;
    bool pending = edit_is_pending(plain->edit);
    edit_text(plain->edit, &size);
    repl_document_stop_editing(plain->front);
    if (size || pending) {
        plain_leave_prompt(plain, "^C");
        edit_cancel(plain->edit);
    } else if (!plain->hinted) {
        plain->hinted = true;
        plain_say(plain, "nothing runs; C-d or :quit leaves");
    }
    plain->dirty = true;
}

static void react(struct plain *plain, unsigned reaction)
{
    if (reaction & EDIT_SUBMIT)
        submit(plain);
    if (reaction & EDIT_END)
        plain_run_line(plain, "quit");
    if (reaction & EDIT_COMPLETE)
        plain_complete(plain);
    if (reaction & EDIT_SIGNATURE)
        plain_signature(plain);
    if (reaction & EDIT_EXTERNAL)
        plain_run_line(plain, "edit");
    if (reaction & EDIT_SUSPEND)
        plain_run_line(plain, "suspend");
    plain->dirty = true;
}

static void give_to_edit(struct plain *plain, const char *name, const char *raw, size_t size)
{
    struct key key = {.type = strlen(name) == 1 || (unsigned char)name[0] >= 0x80 ? KEY_TEXT
                                                                                  : KEY_NAMED,
                      .raw = raw,
                      .raw_size = size};
    memcpy(key.name, name, strlen(name) < sizeof key.name ? strlen(name) + 1 : 0);
    react(plain, edit_key(plain->edit, &key));
}

/* Keys that began like one of ours but are none: each goes where it would have gone. */
static void release_sequence(struct plain *plain)
{
    char *names = strbuf_steal(&plain->sequence);
    struct strbuf raw = plain->sequence_raw;
    plain->sequence_raw = (struct strbuf)STRBUF_INIT;
    size_t at = 0;
    for (char *name = names; *name;) {
        size_t length = strcspn(name, " "), size = (unsigned char)raw.data[at];
        bool more = name[length] == ' ';
        name[length] = '\0';
        give_to_edit(plain, name, raw.data + at + 1, size);
        at += size + 1;
        name += length + more;
    }
    free(names);
    strbuf_free(&raw);
}

static bool is_screens(const char *line)
{
    struct strbuf ignored = STRBUF_INIT;
    const struct command *command = command_find(line, strcspn(line, " "), &ignored);
    strbuf_free(&ignored);
    return command && command->needs & COMMAND_SCREEN_ONLY;
}

/* True: the key is ours, or may become so. */
static bool take_as_command(struct plain *plain, const struct key *key)
{
    const char *line = NULL;
    bool begun = plain->sequence.size > 0;
    if (!key->name[0] || key->raw_size > 100 || (!begun && edit_is_pending(plain->edit)))
        return false;
    strbuf_addf(&plain->sequence, "%s%s", begun ? " " : "", key->name);
    strbuf_addc(&plain->sequence_raw, (char)key->raw_size);
    strbuf_add(&plain->sequence_raw, key->raw, key->raw_size);
    switch (keymap_lookup(plain->options->keymap, KEYMAP_PROMPT, strbuf_text(&plain->sequence),
                          &line)) {
    case KEYMAP_PREFIX:
        return true;
    case KEYMAP_COMMAND:
        if (is_screens(line))
            break; /* ~/.inputrc may have a use for it */
        strbuf_clear(&plain->sequence);
        strbuf_clear(&plain->sequence_raw);
        plain_run_line(plain, line);
        return true;
    case KEYMAP_NONE:
        break;
    }
    release_sequence(plain);
    return true;
}

static void take_prompt_key(struct plain *plain, const struct key *key)
{
    if (strcmp(key->name, "C-c") == 0 && !plain->sequence.size) {
        cancel(plain);
        return;
    }
    if (key->type == KEY_FOCUS || key->type == KEY_MOUSE || key->type == KEY_REPLY)
        return;
    if (key->type == KEY_PASTE || !take_as_command(plain, key))
        react(plain, edit_key(plain->edit, key));
}

/* ---- answers -------------------------------------------------------------------------------- */

static void echo_answer(struct plain *plain, const char *word)
{
    plain_write(plain, 1, word, strlen(word));
    plain_write(plain, 1, "\r\n", 2);
}

static void answer_doubt(struct plain *plain, char c)
{
    bool yes = c == 'y' || c == 'Y';
    if (!yes && !strchr("nNqQ\r\n\003\033\004", c))
        return;
    plain->doubt = false;
    echo_answer(plain, yes ? "yes" : "no");
    repl_confirm(plain->repl, yes);
    plain->dirty = true;
}

static void answer_question(struct plain *plain, char c)
{
    enum approval_answer answer = APPROVAL_LATER;
    if (c == 'o' || c == 'O' || c == 'y')
        answer = APPROVAL_ONCE;
    else if (c == 's' || c == 'S')
        answer = APPROVAL_SESSION;
    else if (c == 'd' || c == 'D' || c == 'n' || c == '\033')
        answer = APPROVAL_NO;
    if (answer == APPROVAL_LATER || !plain->front->questions)
        return;
    plain->question = false;
    echo_answer(plain, answer == APPROVAL_ONCE      ? "once"
                       : answer == APPROVAL_SESSION ? "session"
                                                    : "deny");
    repl_settle(plain->repl, plain->front, answer);
}

/* ---- a cell's keys -------------------------------------------------------------------------- */

/*
 * When the cell reads. Just behind an interrupt it may be about to end, and what is typed then is
 * for the prompt: a terminal would have kept it.
 */
void plain_keys_pass(struct plain *plain)
{
    const struct repl_cell *cell = plain->front->running;
    if (!plain->held.size || !cell || !(cell->input_waits || cell->input_raw) ||
        now_ms() < plain->pass_after_ms)
        return;
    plain->pass_after_ms = 0;
    repl_type(plain->repl, plain->front, plain->held.data, plain->held.size);
    strbuf_clear(&plain->held);
}

/* What a program that takes each key itself does not get: the ladder has to have one. */
static bool is_ours(const struct repl_cell *cell, char c)
{
    return c == KEY_C_BACKSLASH || ((c == KEY_C_C || c == KEY_C_Z) && !(cell && cell->input_raw));
}

static void take_cell_byte(struct plain *plain, char c)
{
    const struct repl_cell *cell = plain->front->running;
    if (!is_ours(cell, c)) {
        strbuf_addc(&plain->held, c);
        return;
    }
    if (c == KEY_C_Z) {
        plain_run_line(plain, "suspend");
        return;
    }
    plain->pass_after_ms = now_ms() + INTERRUPT_MS;
    strbuf_clear(&plain->held); /* as a terminal throws away what waits then */
    if (!repl_interrupt(plain->repl, plain->front))
        plain_run_line(plain, "drop");
}

static void take_cell_bytes(struct plain *plain, const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (plain->doubt)
            answer_doubt(plain, data[i]);
        else if (plain->question && data[i] != KEY_C_C)
            answer_question(plain, data[i]);
        else
            take_cell_byte(plain, data[i]);
    }
    plain_keys_pass(plain);
    if (plain->held.size)
        repl_look_at_input(plain->repl, plain->front);
}

/* ---- bytes of the terminal ------------------------------------------------------------------ */

static void take_keys(struct plain *plain, bool late)
{
    struct key key;
    while (!plain_is_busy(plain) && plain->exit_status < 0 && keys_next(plain->keys, late, &key)) {
        if (key.raw_size == 1 && key.raw[0] == KEY_C_C && repl_interrupt(plain->repl, plain->front))
            continue;
        if (plain->doubt)
            answer_doubt(plain, key.raw_size == 1 ? key.raw[0] : '\033');
        else
            take_prompt_key(plain, &key);
    }
    plain->escape_ms = keys_wait(plain->keys) ? now_ms() + KEY_ESCAPE_MS : 0;
}

/* Up to the next end of a line that is no part of a paste: what follows may be for a cell. */
static size_t next_piece(struct plain *plain, const char *data, size_t size)
{
    static const char mark[] = "\033[20";
    for (size_t i = 0; i < size; i++) {
        char c = data[i];
        if (plain->mark_at == 5) {
            if (c == '~')
                plain->in_paste = plain->mark_begins;
            plain->mark_at = 0;
        } else if (plain->mark_at == 4 && (c == '0' || c == '1')) {
            plain->mark_begins = c == '0';
            plain->mark_at = 5;
        } else if (plain->mark_at < 4 && c == mark[plain->mark_at]) {
            plain->mark_at++;
        } else {
            plain->mark_at = c == mark[0];
        }
        if (!plain->in_paste && (c == '\r' || c == '\n'))
            return i + 1;
    }
    return size;
}

void plain_keys_take(struct plain *plain, const char *data, size_t size)
{
    while (size) {
        if (plain_is_busy(plain)) {
            take_cell_bytes(plain, data, size);
            return;
        }
        size_t piece = next_piece(plain, data, size);
        keys_feed(plain->keys, data, piece);
        take_keys(plain, false);
        data += piece;
        size -= piece;
    }
}

void plain_keys_late(struct plain *plain)
{
    if (plain->escape_ms && now_ms() >= plain->escape_ms)
        take_keys(plain, true);
}

void plain_keys_release(struct plain *plain)
{
    struct strbuf held = plain->held;
    plain->held = (struct strbuf)STRBUF_INIT;
    take_keys(plain, false);
    plain_keys_take(plain, strbuf_text(&held), held.size);
    strbuf_free(&held);
}

void plain_keys_free(struct plain *plain)
{
    keys_free(plain->keys);
    strbuf_free(&plain->sequence);
    strbuf_free(&plain->sequence_raw);
    strbuf_free(&plain->held);
}
