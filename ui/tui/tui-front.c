/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What ui/repl tells of: each makes a part of the screen old. Output is drawn when its frame comes;
 * what a person waits for (a cell begins, ends, asks) at once.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "repl-document.h"
#include "tui-internal.h"
#include "xalloc.h"

static void item_added(void *context, struct repl_session *session, struct repl_item *item)
{
    struct tui *tui = context;
    struct transcript_view *view = transcript_view(session);
    size_t place = (size_t)(item - session->items);
    bool inserted = place + 1 < session->item_count;
    if (inserted && view->chosen >= place)
        view->chosen++;
    if (inserted && view->item >= place)
        view->item++;
    if (inserted && view->mark != SIZE_MAX && view->mark >= place)
        view->mark++;
    if (session == tui->front)
        tui_damage(tui, DAMAGE_TRANSCRIPT | DAMAGE_STATUS | DAMAGE_TABS);
    else
        tui->damage |= DAMAGE_TABS;
}

static void items_changed(void *context, struct repl_session *session)
{
    struct tui *tui = context;
    if (session == tui->front)
        tui_document_follow(tui);
}

static void cell_changed(void *context, struct repl_session *session, struct repl_cell *cell)
{
    struct tui *tui = context;
    if (cell->state == REPL_RUNNING)
        block_set_background(cell->output, tui->background_rgb);
    if (session != tui->front) {
        tui->damage |= DAMAGE_TABS;
        return;
    }
    tui_input_update(tui);
    tui_damage(tui, DAMAGE_TRANSCRIPT | DAMAGE_STATUS | DAMAGE_TABS);
    /*
     * The prompt is for the next cell: say so also on a glass that shows it already, to who reads
     * along.
     */
    if (cell->state == REPL_SETTLED && !session->running && !tui->layout.small &&
        tui->focus == FOCUS_PROMPT)
        tui->prompt_is_new = true;
}

/*
 * A program that asks its terminal has switched line editing off to read the answer. Others would
 * find it in their next line, or the next cell would.
 */
static void give_answers(struct tui *tui, struct repl_session *session, struct repl_cell *cell)
{
    struct strbuf answers = STRBUF_INIT;
    block_take_answers(cell->output, &answers);
    if (answers.size && cell == session->running) {
        int state = hermes_input_state(tui->engine, session->kernel);
        if (state > 0 && state & HERMES_INPUT_RAW)
            repl_type(tui->repl, session, answers.data, answers.size);
    }
    strbuf_free(&answers);
}

static void cell_output(void *context, struct repl_session *session, struct repl_cell *cell,
                        int stream, const char *data, size_t size)
{
    struct tui *tui = context;
    (void)stream, (void)data, (void)size;
    give_answers(tui, session, cell);
    if (session != tui->front)
        return;
    tui->damage |= DAMAGE_TRANSCRIPT;
    if (block_has_screen(cell->output) != tui->cell_has_screen)
        tui_input_update(tui);
}

static void session_changed(void *context, struct repl_session *session)
{
    struct tui *tui = context;
    tui->damage |= DAMAGE_TABS;
    if (session == tui->front)
        tui->damage |= DAMAGE_STATUS;
}

static void question(void *context, struct repl_session *session)
{
    struct tui *tui = context;
    tui_damage(tui, session == tui->front ? DAMAGE_ALL : DAMAGE_TABS);
}

static void answer(void *context, struct repl_session *session, uint64_t request, const char *json)
{
    if (session == ((struct tui *)context)->front)
        tui_take_answer(context, request, json);
}

static void say(void *context, struct repl_session *session, const char *line)
{
    struct tui *tui = context;
    if (session && session != tui->front)
        tui_say(tui, "%s: %s", session->name, line);
    else
        tui_say(tui, "%s", line);
}

static void show(void *context, struct repl_session *session, const char *title, const char *text,
                 size_t size)
{
    struct tui *tui = context;
    if (session && session != tui->front) /* it comes late: its reader looks elsewhere by now */
        return;
    tui_reader_open(tui, title, text, size);
}

static void insert(void *context, struct repl_session *session, const char *text, size_t size)
{
    struct tui *tui = context;
    size_t there;
    if (session && session != tui->front)
        return;
    if (repl_document_editing(tui->front)) {
        tui_document_edit(tui, text, size);
        return;
    }
    edit_text(tui->edit, &there);
    if (there)
        edit_insert(tui->edit, text, size);
    else
        edit_set(tui->edit, text, size, size);
    tui_damage(tui, DAMAGE_PROMPT);
}

static void confirm(void *context, struct repl_session *session, const char *text)
{
    struct tui *tui = context;
    (void)session;
    free(tui->question);
    tui->question = text ? xstrdup(text) : NULL;
    tui->question_asked_by_key = tui->in_key;
    tui_damage(tui, DAMAGE_ALL);
}

static bool command(void *context, struct repl_session *session, const char *name,
                    const char *arguments)
{
    return tui_command(context, session, name, arguments);
}

const struct repl_front tui_front = {
    .item_added = item_added,
    .items_changed = items_changed,
    .cell_changed = cell_changed,
    .cell_output = cell_output,
    .session_changed = session_changed,
    .question = question,
    .answer = answer,
    .say = say,
    .show = show,
    .insert = insert,
    .command = command,
    .confirm = confirm,
};
