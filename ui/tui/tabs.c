/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "glyph.h"
#include "repl-document.h"
#include "tui-internal.h"

/* One mark: what a person would want to know of a session that is not in front. */
static const char *mark_of(const struct repl_session *session, bool front,
                           enum theme_role *ret_role)
{
    *ret_role = ROLE_TAB_MARK;
    if (session->questions)
        return " !";
    if (session->running && session->running->input_waits)
        return " ▶";
    if (session->running)
        return " ●";
    if (session->ended) {
        *ret_role = ROLE_TAB_FAIL;
        return " ⊘";
    }
    if (session->failed && !front) {
        *ret_role = ROLE_TAB_FAIL;
        return " ✗";
    }
    return session->unread && !front ? " •" : "";
}

struct tab {
    char label[80];
    const char *mark;
    enum theme_role mark_role;
    int columns;
};

static struct tab tab_of(const struct tui *tui, size_t n)
{
    struct repl_session *session = repl_session_at(tui->repl, n);
    struct tab tab;
    tab.mark = mark_of(session, session == tui->front, &tab.mark_role);
    snprintf(tab.label, sizeof(tab.label), "%zu:%s%s", n + 1, session->name,
             repl_document_is_modified(session) ? "*" : "");
    tab.columns = (int)(glyph_columns(tab.label, strlen(tab.label)) +
                        glyph_columns(tab.mark, strlen(tab.mark))) +
                  2;
    return tab;
}

/* The first tab that is drawn, so that the one in front can be seen. */
static size_t first_tab(const struct tui *tui)
{
    size_t count = repl_session_count(tui->repl), front = 0;
    for (size_t i = 0; i < count; i++) {
        if (repl_session_at(tui->repl, i) == tui->front)
            front = i;
    }
    int columns = 0;
    size_t first = front;
    for (; first < count; first--) {
        columns += tab_of(tui, first).columns;
        if (columns > tui->layout.columns && first < front)
            return first + 1;
        if (first == 0)
            break;
    }
    return first;
}

void tui_tabs_draw(struct tui *tui)
{
    int column = 0, limit = tui->layout.columns;
    screen_fill(tui->screen, 0, 0, limit, tui_style(tui, ROLE_TAB));
    for (size_t i = first_tab(tui); i < repl_session_count(tui->repl) && column < limit; i++) {
        struct tab tab = tab_of(tui, i);
        bool front = repl_session_at(tui->repl, i) == tui->front;
        struct block_style style = tui_style(tui, front ? ROLE_TAB_FRONT : ROLE_TAB);
        struct block_style mark = style;
        mark.foreground = tui_style(tui, tab.mark_role).foreground;
        screen_fill(tui->screen, 0, column, tab.columns, style);
        int at = column + 1 +
                 screen_puts(tui->screen, 0, column + 1, limit - column - 1, tab.label, style);
        screen_puts(tui->screen, 0, at, limit - at, tab.mark, mark);
        column += tab.columns;
    }
}

struct repl_session *tui_tab_at(struct tui *tui, int column)
{
    int at = 0;
    for (size_t i = first_tab(tui); i < repl_session_count(tui->repl); i++) {
        at += tab_of(tui, i).columns;
        if (column < at)
            return repl_session_at(tui->repl, i);
    }
    return NULL;
}
