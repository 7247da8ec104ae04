/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lines between transcript and prompt: a tool call that waits for an approval, a question, what
 * is being searched for, a remark, a signature. Keys of an approval are commands, so that it never
 * takes what is typed; a question is answered by y or n.
 */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glyph.h"
#include "tui-internal.h"
#include "xalloc.h"

/* A person who types when a question comes does not answer it. */
#define TYPING_MS 500
#define BAR_ROWS 4 /* of one text */

/* How many bytes of text go into a row, cut between words where it can be. */
static size_t row_size(const char *text, int columns)
{
    size_t size = strlen(text), fits = glyph_fit(text, size, columns), cut = fits;
    if (fits == size)
        return size;
    while (cut > fits / 2 && text[cut] != ' ')
        cut--;
    return cut > fits / 2 ? cut : fits ? fits : 1;
}

static int rows_of(const struct tui *tui, const char *text)
{
    int rows = 0;
    for (; rows == 0 || (*text && rows < BAR_ROWS); rows++) {
        text += row_size(text, tui->layout.columns);
        text += *text == ' ';
    }
    return rows;
}

/* What is not the prompt's: "[question] (y/n)". Yours. */
static char *question_text(const struct tui *tui)
{
    return xasprintf(" %s (y/n)", tui->question);
}

int tui_bars_count(const struct tui *tui)
{
    int rows = (tui->front->questions != NULL) + tui->search.typing;
    if (tui->signature && tui->focus == FOCUS_PROMPT)
        rows += rows_of(tui, tui->signature);
    if (tui->message)
        rows += rows_of(tui, tui->message);
    if (tui->question) {
        char *text = question_text(tui);
        rows += rows_of(tui, text);
        free(text);
    }
    return rows;
}

/* Returns the row behind it. */
static int draw_bar(struct tui *tui, int row, const char *text, enum theme_role role)
{
    struct block_style style = tui_style(tui, role);
    int end = tui->layout.bar_row + tui->layout.bar_rows;
    for (int rows = rows_of(tui, text); rows > 0 && row < end; rows--, row++) {
        size_t size = row_size(text, tui->layout.columns);
        screen_fill(tui->screen, row, 0, tui->layout.columns, style);
        screen_text(tui->screen, row, 0, tui->layout.columns, text, size, style);
        text += size;
        text += *text == ' ';
    }
    return row;
}

static void add_key(struct strbuf *out, const struct tui *tui, const char *command,
                    const char *what)
{
    const char *keys = keymap_keys_of(tui->keymap, KEYMAP_PROMPT, command);
    if (keys)
        strbuf_addf(out, " %s %s ·", keys, what);
}

static void draw_approval(struct tui *tui, int row)
{
    const struct approval_question *question = &tui->front->questions->question;
    struct strbuf keys = STRBUF_INIT, text = STRBUF_INIT;
    add_key(&keys, tui, "approve once", "once");
    add_key(&keys, tui, "approve session", "session");
    add_key(&keys, tui, "approve no", "deny");
    if (keys.size)
        keys.size -= strlen(" ·"), keys.data[keys.size] = '\0';
    int room = tui->layout.columns - (int)glyph_columns(strbuf_text(&keys), keys.size) - 2;
    strbuf_addf(&text, " ! %s %s", question->tool, question->arguments ? question->arguments : "");
    draw_bar(tui, row, "", ROLE_BAR);
    struct block_style style = tui_style(tui, ROLE_BAR);
    int used = screen_puts(tui->screen, row, 0, room, strbuf_text(&text), style);
    screen_puts(tui->screen, row, used + 1, tui->layout.columns, strbuf_text(&keys), style);
    strbuf_free(&keys);
    strbuf_free(&text);
}

void tui_bars_draw(struct tui *tui)
{
    int row = tui->layout.bar_row;
    char *text;
    if (tui->question) {
        text = question_text(tui);
        row = draw_bar(tui, row, text, ROLE_BAR);
        free(text);
    }
    if (tui->front->questions)
        draw_approval(tui, row++);
    if (tui->search.typing) {
        text = xasprintf("%c%s", tui->search.kind, strbuf_text(&tui->search.line));
        tui->cursor_row = row;
        tui->cursor_column = (int)glyph_columns(text, strlen(text));
        row = draw_bar(tui, row, text, ROLE_TEXT);
        free(text);
    }
    if (tui->message)
        row = draw_bar(tui, row, tui->message, ROLE_MESSAGE);
    if (tui->signature && tui->focus == FOCUS_PROMPT)
        draw_bar(tui, row, tui->signature, ROLE_MESSAGE);
}

bool tui_bars_key(struct tui *tui, const struct key *key)
{
    if (!tui->question || key->type == KEY_MOUSE || key->type == KEY_PASTE ||
        key->type == KEY_FOCUS || key->type == KEY_REPLY)
        return false;
    bool typing = !tui->question_asked_by_key && tui_now_ms() - tui->typed_ms < TYPING_MS;
    bool yes = strcmp(key->name, "y") == 0 || strcmp(key->name, "Y") == 0;
    bool no = strcmp(key->name, "n") == 0 || strcmp(key->name, "N") == 0 ||
              strcmp(key->name, "Esc") == 0 || strcmp(key->name, "C-c") == 0 ||
              strcmp(key->name, "C-g") == 0 || strcmp(key->name, "Enter") == 0;
    if (typing && key->type == KEY_TEXT)
        return false;
    free(tui->question);
    tui->question = NULL;
    tui_damage(tui, DAMAGE_ALL);
    repl_confirm(tui->repl, yes);
    return yes || no;
}
