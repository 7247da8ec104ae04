/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Choosing from the history over the transcript: what is typed narrows the list, Enter puts the
 * chosen entry, or all that were marked, into the prompt.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glyph.h"
#include "history.h"
#include "tui-internal.h"
#include "xalloc.h"

#define LIST_MAX 5000

static const char *entry(struct tui *tui, size_t n, size_t *ret_size)
{
    return history_at(repl_history(tui->repl), tui->front->name, n, ret_size);
}

static void narrow(struct tui *tui)
{
    struct tui_picker *picker = &tui->picker;
    struct history *history = repl_history(tui->repl);
    const char *text = strbuf_text(&picker->filter);
    size_t found;
    picker->found_count = 0;
    picker->chosen = picker->top = 0;
    for (size_t n = 0; picker->found_count < LIST_MAX; n = found + 1) {
        if (!history_find(history, tui->front->name, text, picker->filter.size, false, 1, n,
                          &found))
            break;
        picker->found = xgrow(picker->found, picker->found_count, &picker->found_capacity,
                              sizeof(*picker->found));
        picker->found[picker->found_count++] = found;
    }
    tui_damage(tui, DAMAGE_TRANSCRIPT);
}

void tui_picker_open(struct tui *tui)
{
    tui_browse_leave(tui);
    tui_picker_free(tui);
    tui->picker.marked_size = history_count(repl_history(tui->repl));
    tui->picker.marked = xcalloc(tui->picker.marked_size + 1, sizeof(bool));
    tui->focus = FOCUS_PICKER;
    narrow(tui);
    tui_damage(tui, DAMAGE_ALL);
}

void tui_picker_free(struct tui *tui)
{
    strbuf_free(&tui->picker.filter);
    free(tui->picker.found);
    free(tui->picker.marked);
    tui->picker = (struct tui_picker){.found = NULL};
}

void tui_picker_close(struct tui *tui)
{
    tui_picker_free(tui);
    tui->focus = FOCUS_PROMPT;
    tui_damage(tui, DAMAGE_ALL);
}

static void draw_entry(struct tui *tui, int row, size_t place)
{
    const struct tui_picker *picker = &tui->picker;
    struct block_style style = {0, 0, 0};
    char more[32];
    screen_fill(tui->screen, row, 0, tui->layout.columns, style);
    if (place >= picker->found_count)
        return;
    size_t n = picker->found[place], size;
    const char *text = entry(tui, n, &size);
    if (!text)
        return;
    size_t line = 0, lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    while (line < size && text[line] != '\n')
        line++;
    bool marked = n < picker->marked_size && picker->marked[n];
    screen_puts(tui->screen, row, 1, 1, marked ? "*" : " ", tui_style(tui, ROLE_BUSY));
    uint8_t *classes = xcalloc(line + 1, 1);
    highlight_python(text, line, classes);
    int column = 3;
    for (size_t at = 0; at < line;) {
        struct glyph glyph;
        glyph_at(text + at, line - at, column - 3, &glyph);
        column += screen_text(tui->screen, row, column, tui->layout.columns - column, text + at,
                              glyph.size, theme_source(tui->theme, classes[at]));
        at += glyph.size;
    }
    free(classes);
    snprintf(more, sizeof(more), "  (%zu lines)", lines);
    if (lines > 1)
        screen_puts(tui->screen, row, column, tui->layout.columns - column, more,
                    tui_style(tui, ROLE_DIM));
    if (place == picker->chosen)
        screen_tint(tui->screen, row, 0, tui->layout.columns, tui_style(tui, ROLE_POPUP_CHOSEN));
}

void tui_picker_draw(struct tui *tui)
{
    struct tui_picker *picker = &tui->picker;
    int columns = tui->layout.columns, row = tui->layout.transcript_row;
    size_t rows = tui->layout.transcript_rows > 1 ? (size_t)tui->layout.transcript_rows - 1 : 1;
    struct block_style title = tui_style(tui, ROLE_TITLE);
    if (picker->chosen < picker->top)
        picker->top = picker->chosen;
    if (picker->chosen >= picker->top + rows)
        picker->top = picker->chosen - rows + 1;
    screen_fill(tui->screen, row, 0, columns, title);
    int column = 1 + screen_puts(tui->screen, row, 1, columns, "history: ", title);
    column += screen_puts(tui->screen, row, column, columns - column, strbuf_text(&picker->filter),
                          title);
    tui->cursor_row = row;
    tui->cursor_column = column;
    char hint[96];
    snprintf(hint, sizeof(hint), "%zu  Enter takes, Tab marks, Esc closes", picker->found_count);
    if (column + (int)strlen(hint) + 2 < columns)
        screen_puts(tui->screen, row, columns - (int)strlen(hint) - 1, columns, hint, title);
    for (size_t i = 0; i < rows; i++)
        draw_entry(tui, row + 1 + (int)i, picker->top + i);
}

static void add_entry(struct tui *tui, struct strbuf *out, size_t n)
{
    size_t size;
    const char *text = entry(tui, n, &size);
    if (!text)
        return;
    if (out->size)
        strbuf_addc(out, '\n');
    strbuf_add(out, text, size);
}

/* Marked entries, oldest first, else the chosen one. */
static void take(struct tui *tui)
{
    struct tui_picker *picker = &tui->picker;
    struct strbuf text = STRBUF_INIT;
    for (size_t n = picker->marked_size; n-- > 0;) {
        if (picker->marked[n])
            add_entry(tui, &text, n);
    }
    if (!text.size && picker->chosen < picker->found_count)
        add_entry(tui, &text, picker->found[picker->chosen]);
    tui_picker_close(tui);
    if (text.size)
        edit_insert(tui->edit, text.data, text.size);
    strbuf_free(&text);
}

static void mark(struct tui_picker *picker)
{
    if (picker->chosen >= picker->found_count)
        return;
    size_t n = picker->found[picker->chosen];
    if (n < picker->marked_size)
        picker->marked[n] = !picker->marked[n];
    if (picker->chosen + 1 < picker->found_count)
        picker->chosen++;
}

static bool move_key(struct tui *tui, const char *name)
{
    struct tui_picker *picker = &tui->picker;
    size_t last = picker->found_count ? picker->found_count - 1 : 0;
    size_t page = tui->layout.transcript_rows > 2 ? (size_t)tui->layout.transcript_rows - 2 : 1,
           at = picker->chosen;
    if (strcmp(name, "Down") == 0 || strcmp(name, "C-n") == 0)
        at++;
    else if (strcmp(name, "Up") == 0 || strcmp(name, "C-p") == 0)
        at -= at > 0;
    else if (strcmp(name, "PgDn") == 0)
        at += page;
    else if (strcmp(name, "PgUp") == 0)
        at -= at < page ? at : page;
    else
        return false;
    picker->chosen = at < last ? at : last;
    return true;
}

void tui_picker_key(struct tui *tui, const struct key *key)
{
    struct tui_picker *picker = &tui->picker;
    const char *name = key->name;
    tui_damage(tui, DAMAGE_ALL);
    if (key->type == KEY_PASTE) {
        strbuf_add(&picker->filter, key->text, strcspn(key->text, "\n"));
        narrow(tui);
    } else if (strcmp(name, "Enter") == 0 || strcmp(name, "C-j") == 0) {
        take(tui);
    } else if (strcmp(name, "Esc") == 0 || strcmp(name, "C-c") == 0 || strcmp(name, "C-g") == 0 ||
               strcmp(name, "F3") == 0) {
        tui_picker_close(tui);
    } else if (strcmp(name, "Tab") == 0) {
        mark(picker);
    } else if (strcmp(name, "Backspace") == 0 || strcmp(name, "C-u") == 0) {
        size_t size = picker->filter.size;
        while (size && ((unsigned char)picker->filter.data[--size] & 0xc0) == 0x80)
            continue;
        if (picker->filter.size)
            picker->filter.data[picker->filter.size = strcmp(name, "C-u") == 0 ? 0 : size] = '\0';
        narrow(tui);
    } else if (key->type == KEY_TEXT || strcmp(name, "Space") == 0) {
        strbuf_adds(&picker->filter, key->type == KEY_TEXT ? name : " ");
        narrow(tui);
    } else {
        move_key(tui, name);
    }
}
