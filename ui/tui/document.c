/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A tab whose transcript is a file's cells: which cell commands are about, and a cell's source in
 * the prompt. What is done to the document is the business of ui/repl.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repl-document.h"
#include "tui-internal.h"
#include "xalloc.h"

/* ---- the chosen cell ------------------------------------------------------------------------ */

/* A file is read from its beginning. */
void tui_document_opened(struct tui *tui)
{
    struct transcript_view *view = transcript_view(tui->front);
    size_t item = 0;
    while (item < tui->front->item_count &&
           !(tui->front->items[item].cell && tui->front->items[item].cell->key))
        item++;
    view->follows = item >= tui->front->item_count;
    view->item = item;
    view->row = 0;
}

void tui_document_follow(struct tui *tui)
{
    struct repl_session *session = tui->front;
    size_t item = repl_document_item(session, repl_document_selected(session));
    if (item >= session->item_count)
        return;
    struct transcript_view *view = transcript_view(session);
    view->chosen = item;
    view->mark = SIZE_MAX;
    if (!tui->layout.small && tui->layout.transcript_rows > 0)
        tui_browse_show(tui, item);
    tui_damage(tui, DAMAGE_ALL);
}

/* The source so far, cut before the cursor's line. Yours. */
static char *split_edited(struct tui *tui)
{
    size_t size, line = 1, point = edit_point(tui->edit);
    const char *text = edit_text(tui->edit, &size);
    for (size_t i = 0; i < point && i < size; i++)
        line += text[i] == '\n';
    struct strbuf error = STRBUF_INIT;
    if (!repl_document_put_edited(tui->repl, tui->front, text, size, &error)) {
        tui_say(tui, "%s", strbuf_text(&error));
        strbuf_free(&error);
        return NULL;
    }
    edit_set(tui->edit, "", 0, 0);
    tui_document_edited(tui);
    return xasprintf("split %zu", line);
}

char *tui_document_line(struct tui *tui, char *line)
{
    const struct repl_session *session = tui->front;
    if (!session->document)
        return line;
    size_t chosen = transcript_view(tui->front)->chosen;
    if (tui->focus == FOCUS_BROWSE && chosen < session->item_count && session->items[chosen].cell)
        repl_document_select(tui->front, session->items[chosen].cell->key);
    if (strcmp(line, "split") != 0)
        return line;
    free(line);
    if (tui->focus == FOCUS_PROMPT && repl_document_editing(session))
        return split_edited(tui);
    tui_search_begin(tui, ':'); /* which line is asked for */
    strbuf_adds(&tui->search.line, "split ");
    return NULL;
}

/* ---- a cell in the prompt ------------------------------------------------------------------- */

void tui_document_edit(struct tui *tui, const char *text, size_t size)
{
    size_t there;
    const char *draft = edit_text(tui->edit, &there);
    if (there && !tui->stash) {
        tui->stash = xmemdup0(draft, there);
        tui->stash_size = there;
        tui->stash_of = tui->front;
    }
    if (tui->focus != FOCUS_PROMPT)
        tui_browse_leave(tui);
    edit_set(tui->edit, text, size, size);
    tui->prompt_top = 0;
    tui_document_follow(tui);
}

void tui_document_edited(struct tui *tui)
{
    size_t size;
    edit_text(tui->edit, &size);
    if (!tui->stash || tui->stash_of != tui->front || size || repl_document_editing(tui->front))
        return;
    edit_set(tui->edit, tui->stash, tui->stash_size, tui->stash_size);
    free(tui->stash);
    tui->stash = NULL;
}

char *tui_document_label(const struct tui *tui)
{
    uint64_t key = repl_document_editing(tui->front);
    return key ? xasprintf("cell %zu: ", repl_document_number(tui->front, key)) : NULL;
}

void tui_document_status(const struct tui *tui, char *out, size_t size)
{
    const struct repl_session *session = tui->front;
    const char *path = repl_document_path(session);
    out[0] = '\0';
    if (!path)
        return;
    const char *slash = strrchr(path, '/');
    snprintf(out, size, "%.60s%s%s", slash ? slash + 1 : path,
             repl_document_is_modified(session) ? "*" : "",
             repl_document_changed_on_disk(session) ? " (changed on disk)" : "");
    size_t chosen = transcript_view(tui->front)->chosen, used = strlen(out);
    if (tui->focus == FOCUS_BROWSE && chosen < session->item_count && session->items[chosen].cell)
        snprintf(out + used, size - used, " %zu/%zu",
                 repl_document_number(session, session->items[chosen].cell->key),
                 repl_document_count(session));
}
