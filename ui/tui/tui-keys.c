/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a key goes: to a question, to what lies over the transcript, to the running cell, to a
 * command (alone, or as the end of a sequence), and else to the editor.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "repl-document.h"
#include "tui-internal.h"
#include "xalloc.h"

#define WHEEL_ROWS 3

static bool is_named(const struct key *key, const char *name)
{
    return strcmp(key->name, name) == 0;
}

static bool is_typed(const struct key *key)
{
    return key->type == KEY_TEXT || is_named(key, "Space");
}

/* In browse mode the cell that is meant is the one that is chosen. */
static char *with_cell(struct tui *tui, const char *line)
{
    size_t chosen = transcript_view(tui->front)->chosen;
    bool of_cell = strcmp(line, "rerun") == 0 || strcmp(line, "reuse") == 0;
    if (!of_cell || tui->focus != FOCUS_BROWSE || chosen >= tui->front->item_count ||
        !tui->front->items[chosen].cell)
        return xstrdup(line);
    char *whole = xasprintf("%s %u", line, tui->front->items[chosen].cell->number);
    tui_browse_leave(tui);
    return whole;
}

/* A key of a command that needs a word more: the prompt takes it, if it is free. */
static bool ask_for_word(struct tui *tui, const char *line)
{
    struct strbuf error = STRBUF_INIT;
    const struct command *command = command_find(line, strcspn(line, " "), &error);
    size_t size;
    edit_text(tui->edit, &size);
    strbuf_free(&error);
    if (!command || strchr(line, ' ') || !command->arguments || command->arguments[0] == '[' ||
        size || !tui->in_key || tui->search.typing || repl_document_editing(tui->front))
        return false;
    tui_browse_leave(tui);
    char *text = xasprintf(":%s ", command->name);
    edit_set(tui->edit, text, strlen(text), strlen(text));
    free(text);
    tui_damage(tui, DAMAGE_ALL);
    return true;
}

void tui_run_line(struct tui *tui, const char *line)
{
    struct strbuf error = STRBUF_INIT;
    if (ask_for_word(tui, line))
        return;
    char *copy = tui_document_line(tui, with_cell(tui, line));
    tui->typed_ms = 0; /* who commands does not type */
    if (copy && !repl_command(tui->repl, tui->front, copy, &error))
        tui_say(tui, "%s", strbuf_text(&error));
    free(copy);
    strbuf_free(&error);
    tui_follow_front(tui);
    tui_damage(tui, DAMAGE_ALL);
}

/*
 * ---- the editor
 * ----------------------------------------------------------------------------------
 */

static void forget_signature(struct tui *tui)
{
    if (!tui->signature)
        return;
    free(tui->signature);
    tui->signature = NULL;
    tui->damage |= DAMAGE_ALL;
}

static void submit(struct tui *tui)
{
    size_t size;
    char *text = edit_take(tui->edit, &size);
    struct strbuf error = STRBUF_INIT;
    size_t blank = 0;
    while (blank < size && (text[blank] == ' ' || text[blank] == '\n' || text[blank] == '\t'))
        blank++;
    transcript_view(tui->front)->follows = true;
    forget_signature(tui);
    tui->prompt_top = 0;
    if ((blank < size || repl_document_editing(tui->front)) &&
        !repl_enter(tui->repl, tui->front, text, size, &error)) {
        tui_say(tui, "%s", strbuf_text(&error));
        edit_set(tui->edit, text, size, size);
    }
    free(text);
    strbuf_free(&error);
    tui_document_edited(tui);
    if (tui->front->document)
        tui_document_follow(tui);
    tui_damage(tui, DAMAGE_ALL);
}

void tui_react(struct tui *tui, unsigned reaction)
{
    if (reaction & EDIT_CHANGED)
        tui_damage(tui, DAMAGE_PROMPT | DAMAGE_STATUS);
    if (reaction & EDIT_SUBMIT)
        submit(tui);
    if (reaction & EDIT_END)
        tui_run_line(tui, "quit");
    if (reaction & EDIT_COMPLETE)
        tui_complete(tui);
    if (reaction & EDIT_SIGNATURE)
        tui_ask_signature(tui);
    if (reaction & EDIT_EXTERNAL)
        tui_edit_outside(tui);
    if (reaction & EDIT_SUSPEND)
        tui_suspend(tui);
}

/* C-c has one meaning in each state: interrupt what runs; else clear what is typed; else say so. */
static void interrupt_or_clear(struct tui *tui)
{
    if (tui->focus == FOCUS_BROWSE && !tui->front->running) {
        tui_browse_leave(tui);
        return;
    }
    tui->typed_ms = 0;
    if (repl_interrupt(tui->repl, tui->front)) {
        tui_damage(tui, DAMAGE_ALL);
        return;
    }
    forget_signature(tui);
    tui->prompt_top = 0;
    bool edited = repl_document_editing(tui->front);
    repl_document_stop_editing(tui->front);
    if (edit_cancel(tui->edit) || edited)
        tui_document_edited(tui);
    else
        tui_say(tui, "nothing runs here; C-d leaves, C-x ? helps");
    tui_damage(tui, DAMAGE_ALL);
}

/*
 * ---- sequences
 * -----------------------------------------------------------------------------------
 */

static enum keymap_answer look_up(const struct tui *tui, const char *keys, const char **ret_line)
{
    enum keymap_answer answer = KEYMAP_NONE;
    if (tui->focus == FOCUS_BROWSE && tui->front->document)
        answer = keymap_lookup(tui->keymap, KEYMAP_DOCUMENT, keys, ret_line);
    if (tui->focus == FOCUS_BROWSE && answer == KEYMAP_NONE)
        answer = keymap_lookup(tui->keymap, KEYMAP_BROWSE, keys, ret_line);
    if (answer == KEYMAP_NONE &&
        (tui->focus != FOCUS_BROWSE || strncmp(keys, "C-x", 3) == 0 || keys[0] == 'F'))
        answer = keymap_lookup(tui->keymap, KEYMAP_PROMPT, keys, ret_line);
    return answer;
}

static void end_sequence(struct tui *tui)
{
    tui->sequence[0] = '\0';
    tui_damage(tui, DAMAGE_STATUS);
}

/* What we have no use for may be a sequence of the editor's. */
static void give_sequence(struct tui *tui, const struct key *last)
{
    struct key key = {.type = KEY_NAMED, .name = "C-x"};
    char *keys = xasprintf("%s %s", tui->sequence, last->name);
    bool ours = strcmp(tui->sequence, "C-x") != 0 || tui->focus != FOCUS_PROMPT;
    key.raw = "\030";
    key.raw_size = 1;
    end_sequence(tui);
    if (!ours) {
        edit_key(tui->edit, &key);
        unsigned reaction = edit_key(tui->edit, last);
        tui_react(tui, reaction);
        ours = reaction & EDIT_UNUSED;
    }
    if (ours)
        tui_say(tui, "%s is not bound", keys);
    free(keys);
}

static void continue_sequence(struct tui *tui, const struct key *key)
{
    const char *line;
    size_t used = strlen(tui->sequence);
    if (is_named(key, "C-g") || is_named(key, "Esc") ||
        used + strlen(key->name) + 2 > sizeof(tui->sequence)) {
        end_sequence(tui);
        return;
    }
    if (tui->to_cell && is_named(key, "C-x") && strcmp(tui->sequence, "C-x") == 0) {
        repl_type(tui->repl, tui->front, "\030", 1);
        end_sequence(tui);
        return;
    }
    char keys[sizeof(tui->sequence)];
    memcpy(keys, tui->sequence, used);
    keys[used] = ' ';
    memcpy(keys + used + 1, key->name, strlen(key->name) + 1);
    switch (look_up(tui, keys, &line)) {
    case KEYMAP_COMMAND:
        end_sequence(tui);
        tui_run_line(tui, line);
        break;
    case KEYMAP_PREFIX:
        memcpy(tui->sequence, keys, sizeof(keys));
        tui_damage(tui, DAMAGE_STATUS);
        break;
    case KEYMAP_NONE:
        give_sequence(tui, key);
        break;
    }
}

/*
 * ---- keys of the prompt and of browse mode
 * ------------------------------------------------------------
 */

/* Whether the key was, or begins, a command. */
static bool run_bound(struct tui *tui, const struct key *key)
{
    const char *line;
    if (!key->name[0])
        return false;
    switch (look_up(tui, key->name, &line)) {
    case KEYMAP_COMMAND:
        tui_run_line(tui, line);
        return true;
    case KEYMAP_PREFIX:
        memcpy(tui->sequence, key->name, sizeof(key->name));
        tui_damage(tui, DAMAGE_STATUS);
        return true;
    case KEYMAP_NONE:
        break;
    }
    return false;
}

/* A command's key takes what a popup offers, as other keys do, unless it moves in there. */
static void close_popup(struct tui *tui, const struct key *key)
{
    static const char *const moves[] = {"Tab", "S-Tab", "Up",    "Down", "C-n",
                                        "C-p", "Esc",   "Enter", "C-g"};
    const char *line;
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        if (is_named(key, moves[i]))
            return;
    }
    if (key->name[0] && look_up(tui, key->name, &line) != KEYMAP_NONE)
        edit_close_popup(tui->edit);
}

static void prompt_key(struct tui *tui, const struct key *key)
{
    struct transcript_view *view = transcript_view(tui->front);
    if (edit_popup(tui->edit, &(size_t){0}, &(size_t){0}))
        close_popup(tui, key);
    if (is_named(key, "C-c")) {
        interrupt_or_clear(tui);
        return;
    }
    if (!edit_is_pending(tui->edit) && run_bound(tui, key)) {
        if (is_named(key, "PgUp") && tui->focus == FOCUS_BROWSE)
            tui_browse_command(tui, "page-up", "");
        return;
    }
    if (is_named(key, "Esc"))
        forget_signature(tui);
    /* Scrolled by the wheel: back to where the text goes. A file's view stays where it is. */
    if (is_typed(key) && !view->follows && !tui->front->document) {
        view->follows = true;
        tui->damage |= DAMAGE_ALL;
    }
    tui_react(tui, edit_key(tui->edit, key));
}

static void browse_key(struct tui *tui, const struct key *key)
{
    if (is_named(key, ":")) {
        tui_search_begin(tui, ':');
        return;
    }
    if (is_named(key, "C-c")) {
        interrupt_or_clear(tui);
        return;
    }
    if (run_bound(tui, key))
        return;
    if (is_typed(key)) { /* no dead keys */
        tui_browse_leave(tui);
        prompt_key(tui, key);
    }
}

static void paste(struct tui *tui, const struct key *key)
{
    if (tui->search.typing) {
        strbuf_add(&tui->search.line, key->text, strcspn(key->text, "\n"));
    } else if (tui->focus == FOCUS_PICKER) {
        tui_picker_key(tui, key);
    } else if (tui->to_cell && tui->focus == FOCUS_PROMPT) {
        tui_input_paste(tui, key);
    } else {
        tui_browse_leave(tui);
        edit_paste(tui->edit, key->text, key->text_size);
    }
    tui_damage(tui, DAMAGE_ALL);
}

static void mouse(struct tui *tui, const struct key *key)
{
    int by = key->mouse == KEY_MOUSE_WHEEL_UP ? -WHEEL_ROWS : WHEEL_ROWS;
    switch (key->mouse) {
    case KEY_MOUSE_WHEEL_UP:
    case KEY_MOUSE_WHEEL_DOWN:
        tui_browse_scroll(tui, by);
        break;
    case KEY_MOUSE_PRESS:
        if (key->button != 0 || tui->layout.small)
            break;
        if (key->row == 0) {
            struct repl_session *session = tui_tab_at(tui, key->column);
            if (session)
                repl_bring_front(tui->repl, session);
        } else {
            tui_browse_click(tui, key->row);
        }
        tui_damage(tui, DAMAGE_ALL);
        break;
    case KEY_MOUSE_RELEASE:
    case KEY_MOUSE_DRAG:
        break;
    }
}

/* What the terminal has said by itself: nobody pressed a key. */
static bool take_report(struct tui *tui, const struct key *key)
{
    enum theme_kind theme;
    uint32_t rgb;
    if (key->type == KEY_REPLY && theme_from_reply(key->text, key->text_size, &theme, &rgb)) {
        screen_answered(tui->screen, SCREEN_ANSWER_COLOUR);
        tui->background = theme;
        tui_set_background(tui, rgb);
        if (tui_wanted_theme(tui) != tui->theme)
            tui_damage(tui, DAMAGE_ALL);
    }
    if (key->type == KEY_REPLY && graphics_take_reply(tui->graphics, key->text, key->text_size))
        tui_damage(tui, DAMAGE_ALL);
    if (key->type == KEY_MOUSE && tui->focus != FOCUS_PICTURE)
        mouse(tui, key);
    return key->type == KEY_REPLY || key->type == KEY_FOCUS || key->type == KEY_MOUSE;
}

void tui_key(struct tui *tui, const struct key *key)
{
    if (take_report(tui, key))
        return;
    if (tui->message) {
        free(tui->message);
        tui->message = NULL;
        tui_damage(tui, DAMAGE_ALL);
    }
    if (tui->focus == FOCUS_PICTURE) {
        tui_picture_close(tui);
        return;
    }
    if (tui->sequence[0] && key->type != KEY_PASTE) {
        continue_sequence(tui, key);
        return;
    }
    if (tui_bars_key(tui, key))
        return;
    if (is_typed(key))
        tui->typed_ms = tui_now_ms();
    if (key->type == KEY_PASTE) {
        paste(tui, key);
    } else if (tui->search.typing) {
        tui_search_key(tui, key);
    } else if (tui->focus == FOCUS_PICKER) {
        tui_picker_key(tui, key);
    } else if (tui->focus == FOCUS_READER && tui_reader_key(tui, key)) {
        return;
    } else if (tui->focus == FOCUS_BROWSE) {
        browse_key(tui, key);
    } else if (!tui->to_cell || !tui_input_key(tui, key)) {
        prompt_key(tui, key);
    }
}
