/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lines between transcript and prompt: a tool call that waits for an approval, a question, what
 * is being searched for, a remark, a signature. Keys of an approval are commands, so that it never
 * takes what is typed; a question is answered by y or n.
 */
#include "config.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glyph.h"
#include "tui-internal.h"
#include "xalloc.h"

/* A person who types when a question comes does not answer it. */
#define TYPING_MS 500
#define BAR_ROWS 4      /* of one text */
#define APPROVAL_ROWS 5 /* of a tool call, without its keys */
#define NOTE_COLUMNS 48 /* of what stands for the middle of a long one */

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

static int rows_within(const struct tui *tui, const char *text, int limit)
{
    int rows = 0;
    for (; rows == 0 || (*text && rows < limit); rows++) {
        text += row_size(text, tui->layout.columns);
        text += *text == ' ';
    }
    return rows;
}

static int rows_of(const struct tui *tui, const char *text)
{
    return rows_within(tui, text, BAR_ROWS);
}

/* What is not the prompt's: "[question] (y/n)". Yours. */
static char *question_text(const struct tui *tui)
{
    return xasprintf(" %s (y/n)", tui->question);
}

static void add_key(struct strbuf *out, const struct tui *tui, const char *command,
                    const char *what)
{
    const char *keys = keymap_keys_of(tui->keymap, KEYMAP_PROMPT, command);
    if (keys)
        strbuf_addf(out, "%s%s %s", out->size ? " · " : "", keys, what);
}

/* A tool call that waits, and its keys, on the same row if there is room. */
struct approval_bar {
    struct strbuf text, keys;
    int rows; /* of the text */
    bool same_row;
};

/*
 * Nobody should approve what cannot be seen: of a call that is too long both ends are shown, and
 * how to see the rest.
 */
static void add_call(struct strbuf *out, const struct approval_question *question, int columns)
{
    struct strbuf call = STRBUF_INIT;
    strbuf_addf(&call, "%s %s", question->tool, question->arguments ? question->arguments : "");
    const char *text = strbuf_text(&call);
    int room = columns * APPROVAL_ROWS - columns / 2; /* rows end between words */
    strbuf_adds(out, " ! ");
    if ((int)glyph_columns(text, call.size < INT_MAX ? call.size : INT_MAX) <= room) {
        strbuf_add(out, text, call.size);
    } else {
        int half = (room - NOTE_COLUMNS) / 2;
        size_t head = glyph_fit(text, call.size, half > 8 ? half : 8), tail = call.size - head;
        tail = tail < (size_t)half ? tail : (size_t)(half > 8 ? half : 8);
        while (tail && ((unsigned char)text[call.size - tail] & 0xc0) == 0x80)
            tail--;
        strbuf_add(out, text, head);
        strbuf_addf(out, " … %zu bytes (:approve shows all) … ", call.size - head - tail);
        strbuf_add(out, text + call.size - tail, tail);
    }
    strbuf_free(&call);
}

static struct approval_bar approval_bar(const struct tui *tui)
{
    struct approval_bar bar = {.text = STRBUF_INIT, .keys = STRBUF_INIT};
    int columns = tui->layout.columns;
    add_call(&bar.text, &tui->front->questions->question, columns);
    add_key(&bar.keys, tui, "approve once", "once");
    add_key(&bar.keys, tui, "approve session", "session");
    add_key(&bar.keys, tui, "approve no", "deny");
    bar.rows = rows_within(tui, strbuf_text(&bar.text), APPROVAL_ROWS);
    bar.same_row = (int)(glyph_columns(strbuf_text(&bar.text), bar.text.size) +
                         glyph_columns(strbuf_text(&bar.keys), bar.keys.size) + 3) <= columns;
    return bar;
}

static void approval_bar_free(struct approval_bar *bar)
{
    strbuf_free(&bar->text);
    strbuf_free(&bar->keys);
}

static int approval_rows(const struct tui *tui)
{
    if (!tui->front->questions)
        return 0;
    struct approval_bar bar = approval_bar(tui);
    int rows = bar.rows + !bar.same_row;
    approval_bar_free(&bar);
    return rows;
}

int tui_bars_count(const struct tui *tui)
{
    int rows = approval_rows(tui) + tui->search.typing;
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
static int draw_rows(struct tui *tui, int row, const char *text, int rows, enum theme_role role)
{
    struct block_style style = tui_style(tui, role);
    int end = tui->layout.bar_row + tui->layout.bar_rows;
    for (; rows > 0 && row < end; rows--, row++) {
        size_t size = row_size(text, tui->layout.columns);
        screen_fill(tui->screen, row, 0, tui->layout.columns, style);
        screen_text(tui->screen, row, 0, tui->layout.columns, text, size, style);
        text += size;
        text += *text == ' ';
    }
    return row;
}

static int draw_bar(struct tui *tui, int row, const char *text, enum theme_role role)
{
    return draw_rows(tui, row, text, rows_of(tui, text), role);
}

/* Returns the row behind it. Its keys are seen however little room there is. */
static int draw_approval(struct tui *tui, int row)
{
    struct approval_bar bar = approval_bar(tui);
    struct block_style style = tui_style(tui, ROLE_BAR);
    int end = tui->layout.bar_row + tui->layout.bar_rows - !bar.same_row;
    int rows = row + bar.rows < end ? bar.rows : end - row;
    row = draw_rows(tui, row, strbuf_text(&bar.text), rows, ROLE_BAR);
    int column = bar.same_row ? (int)glyph_columns(strbuf_text(&bar.text), bar.text.size) + 2 : 0;
    if (!bar.same_row)
        screen_fill(tui->screen, row++, 0, tui->layout.columns, style);
    screen_puts(tui->screen, row - 1, column, tui->layout.columns, strbuf_text(&bar.keys), style);
    approval_bar_free(&bar);
    return row;
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
        row = draw_approval(tui, row);
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
    /* Who presses it again and again wants the cell to end, not the question. */
    if (strcmp(key->name, "C-c") == 0 && tui->front->running && tui->front->interrupts > 0)
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
