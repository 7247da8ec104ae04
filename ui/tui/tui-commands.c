/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The commands that are the screen's: those of the table without a function of ui/repl.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "repl-document.h"
#include "tui-internal.h"
#include "xalloc.h"

static void clear_view(struct tui *tui, bool forget)
{
    struct transcript_view *view = transcript_view(tui->front);
    if (tui->front->document) { /* it is a file's view: that is not cleared */
        tui_damage(tui, DAMAGE_ALL);
        return;
    }
    view->floor = tui->front->item_count;
    if (forget)
        view->first = view->floor;
    view->follows = true;
    if (tui->focus == FOCUS_BROWSE)
        tui_browse_leave(tui);
    tui_damage(tui, DAMAGE_ALL);
}

static bool run_clear(struct tui *tui, const char *arguments)
{
    (void)arguments;
    clear_view(tui, true);
    return true;
}

static bool run_redraw(struct tui *tui, const char *arguments)
{
    (void)arguments;
    if (tui->focus == FOCUS_PROMPT)
        clear_view(tui, false);
    screen_repaint(tui->screen);
    tui_damage(tui, DAMAGE_ALL);
    return true;
}

static bool run_browse(struct tui *tui, const char *arguments)
{
    (void)arguments;
    tui_browse_enter(tui);
    return true;
}

static bool run_pick(struct tui *tui, const char *arguments)
{
    (void)arguments;
    tui_picker_open(tui);
    return true;
}

static bool run_image(struct tui *tui, const char *arguments)
{
    (void)arguments;
    tui_picture_open(tui);
    return true;
}

static bool run_vi(struct tui *tui, const char *arguments)
{
    (void)arguments;
    edit_toggle_vi(tui->edit);
    tui_damage(tui, DAMAGE_ALL);
    return true;
}

static bool run_suspend(struct tui *tui, const char *arguments)
{
    (void)arguments;
    tui_suspend(tui);
    return true;
}

static bool run_input(struct tui *tui, const char *arguments)
{
    (void)arguments;
    tui_input_toggle(tui);
    return true;
}

static bool run_mouse(struct tui *tui, const char *arguments)
{
    tui->mouse = strcmp(arguments, "on") == 0 || (strcmp(arguments, "off") != 0 && !tui->mouse);
    screen_set_mouse(tui->screen, tui->mouse);
    tui_say(tui, tui->mouse ? "mouse: the wheel scrolls; hold Shift to select text"
                            : "mouse: left to the terminal");
    return true;
}

/* Cell N, or with nothing the one that is chosen, or the last. */
static struct repl_cell *cell_of(struct tui *tui, const char *arguments)
{
    struct repl_session *session = tui->front;
    unsigned long number = strtoul(arguments, NULL, 10);
    size_t chosen = transcript_view(session)->chosen;
    if (!arguments[0] && tui->focus == FOCUS_BROWSE && chosen < session->item_count)
        return session->items[chosen].cell;
    for (size_t i = session->item_count; i-- > 0;) {
        struct repl_cell *cell = session->items[i].cell;
        if (cell && (arguments[0] ? cell->number == number : cell->state != REPL_QUEUED))
            return cell;
    }
    return NULL;
}

static bool run_edit(struct tui *tui, const char *arguments)
{
    struct repl_cell *cell =
        arguments[0] || tui->focus == FOCUS_BROWSE ? cell_of(tui, arguments) : NULL;
    if (arguments[0] && !cell) {
        tui_say(tui, "there is no cell %s", arguments);
        return true;
    }
    if (cell && cell->key) { /* a document's goes back to its place */
        char *line = xasprintf("edit-cell %zu", repl_document_number(tui->front, cell->key));
        tui_run_line(tui, line);
        free(line);
        tui_edit_outside(tui);
        return true;
    }
    tui_browse_leave(tui);
    if (cell && cell->source)
        edit_set(tui->edit, cell->source, cell->source_size, cell->source_size);
    tui_edit_outside(tui);
    return true;
}

static bool run_page(struct tui *tui, const char *arguments)
{
    struct repl_cell *cell = cell_of(tui, arguments);
    struct strbuf text = STRBUF_INIT;
    if (!cell) {
        tui_say(tui, arguments[0] ? "there is no cell %s" : "there is no cell%s yet", arguments);
        return true;
    }
    if (cell->spill_path && tui_page_file(tui, cell->spill_path))
        return true;
    block_text(cell->output, true, &text);
    if (text.size)
        tui_page(tui, text.data, text.size);
    else
        tui_say(tui, "[%u] has no output", cell->number);
    strbuf_free(&text);
    return true;
}

static bool run_fold(struct tui *tui, const char *arguments)
{
    struct repl_session *session = tui->front;
    struct transcript_view *view = transcript_view(session);
    size_t at = session->item_count;
    (void)arguments;
    if (tui->focus == FOCUS_BROWSE) {
        at = view->chosen;
    } else {
        while (at-- > 0 &&
               (!session->items[at].cell || session->items[at].cell->state == REPL_QUEUED))
            continue;
    }
    if (at >= session->item_count || !session->items[at].cell)
        return true;
    struct repl_item *item = &session->items[at];
    enum transcript_fold fold = transcript_fold(item);
    bool can_open = fold == FOLD_AUTO && transcript_is_cut(item, tui->layout.columns);
    transcript_set_fold(item, can_open ? FOLD_OPEN : fold == FOLD_CLOSED ? FOLD_AUTO : FOLD_CLOSED);
    if (tui->focus == FOCUS_BROWSE)
        tui_browse_show(tui, at);
    tui_damage(tui, DAMAGE_ALL);
    return true;
}

static bool run_approve(struct tui *tui, const char *arguments)
{
    if (!tui->front->questions) {
        tui_say(tui, "nothing waits for an approval here");
        return true;
    }
    repl_settle(tui->repl, tui->front,
                strcmp(arguments, "session") == 0 ? APPROVAL_SESSION
                : strcmp(arguments, "no") == 0    ? APPROVAL_NO
                                                  : APPROVAL_ONCE);
    tui_damage(tui, DAMAGE_ALL);
    return true;
}

static const struct {
    const char *name;
    bool (*run)(struct tui *tui, const char *arguments);
} commands[] = {
    {"approve", run_approve}, {"browse", run_browse}, {"clear", run_clear},     {"edit", run_edit},
    {"fold", run_fold},       {"input", run_input},   {"mouse", run_mouse},     {"page", run_page},
    {"pick", run_pick}, {"image", run_image},       {"redraw", run_redraw}, {"suspend", run_suspend}, {"vi", run_vi},
};

bool tui_command(struct tui *tui, struct repl_session *session, const char *name,
                 const char *arguments)
{
    if (session && session != tui->front)
        return false;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(commands[i].name, name) == 0)
            return commands[i].run(tui, arguments);
    }
    return tui_browse_command(tui, name, arguments);
}
