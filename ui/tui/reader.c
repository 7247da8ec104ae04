/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A text over the transcript: help, variables, documentation. Moves as a pager does; a key that
 * means nothing here closes it and is typed.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glyph.h"
#include "tui-internal.h"
#include "xalloc.h"

/* Rows at the width that the screen has now. */
static void wrap(struct tui_reader *reader, int columns)
{
    size_t capacity = 0;
    free(reader->lines);
    reader->lines = NULL;
    reader->line_count = 0;
    reader->columns = columns;
    for (size_t at = 0; at < reader->size; reader->line_count++) {
        reader->lines = xgrow(reader->lines, reader->line_count, &capacity, sizeof(*reader->lines));
        reader->lines[reader->line_count] = at;
        const char *end = memchr(reader->text + at, '\n', reader->size - at);
        size_t line = end ? (size_t)(end - reader->text) - at : reader->size - at;
        size_t fits = glyph_fit(reader->text + at, line, columns);
        size_t cut = fits;
        while (fits < line && cut > fits / 2 && reader->text[at + cut] != ' ')
            cut--;
        fits = cut > fits / 2 ? cut : fits; /* between words where it can be */
        at += fits == line ? line + (end != NULL) : fits ? fits : 1;
        if (fits && fits < line && reader->text[at] == ' ')
            at++;
    }
}

static size_t page_rows(const struct tui *tui)
{
    return tui->layout.transcript_rows > 1 ? (size_t)tui->layout.transcript_rows - 1 : 1;
}

static void clamp_top(struct tui *tui)
{
    struct tui_reader *reader = &tui->reader;
    size_t rows = page_rows(tui), last = reader->line_count > rows ? reader->line_count - rows : 0;
    if (reader->top > last)
        reader->top = last;
}

void tui_reader_open(struct tui *tui, const char *title, const char *text, size_t size)
{
    tui_reader_free(tui);
    if (tui->focus == FOCUS_PICKER)
        tui_picker_close(tui);
    tui->reader.title = xstrdup(title);
    tui->reader.text = xmemdup0(text, size);
    tui->reader.size = size;
    tui->focus = FOCUS_READER;
    tui_damage(tui, DAMAGE_ALL);
}

void tui_reader_free(struct tui *tui)
{
    free(tui->reader.title);
    free(tui->reader.text);
    free(tui->reader.lines);
    tui->reader = (struct tui_reader){.title = NULL};
}

void tui_reader_close(struct tui *tui)
{
    tui_reader_free(tui);
    tui->focus = FOCUS_PROMPT;
    tui_damage(tui, DAMAGE_ALL);
}

void tui_reader_draw(struct tui *tui)
{
    struct tui_reader *reader = &tui->reader;
    int columns = tui->layout.columns, row = tui->layout.transcript_row;
    struct block_style title = tui_style(tui, ROLE_TITLE), plain = {0, 0, 0};
    char hint[96];
    if (reader->columns != columns)
        wrap(reader, columns);
    clamp_top(tui);
    size_t rows = page_rows(tui), end = reader->top + rows;
    end = end < reader->line_count ? end : reader->line_count;
    screen_fill(tui->screen, row, 0, columns, title);
    int used = 1 + screen_puts(tui->screen, row, 1, columns - 1, reader->title, title);
    snprintf(hint, sizeof(hint), "%zu-%zu/%zu  q closes, o pages",
             reader->line_count ? reader->top + 1 : 0, end, reader->line_count);
    if (used + (int)strlen(hint) + 2 < columns)
        screen_puts(tui->screen, row, columns - (int)strlen(hint) - 1, columns, hint, title);
    for (size_t i = 0; i < rows; i++) {
        size_t line = reader->top + i;
        screen_fill(tui->screen, row + 1 + (int)i, 0, columns, plain);
        if (line >= reader->line_count)
            continue;
        size_t stop = line + 1 < reader->line_count ? reader->lines[line + 1] : reader->size;
        screen_text(tui->screen, row + 1 + (int)i, 0, columns, reader->text + reader->lines[line],
                    stop - reader->lines[line], plain);
    }
}

static void move(struct tui *tui, long by)
{
    size_t top = tui->reader.top;
    tui->reader.top = by < 0 && top < (size_t)-by ? 0 : top + (size_t)by;
    clamp_top(tui);
    tui_damage(tui, DAMAGE_TRANSCRIPT);
}

bool tui_reader_key(struct tui *tui, const struct key *key)
{
    static const struct {
        const char *name;
        int lines, pages, halves; /* to move by */
    } moves[] = {
        {"j", 1, 0, 0},
        {"Down", 1, 0, 0},
        {"Enter", 1, 0, 0},
        {"k", -1, 0, 0},
        {"Up", -1, 0, 0},
        {"Space", 0, 1, 0},
        {"PgDn", 0, 1, 0},
        {"f", 0, 1, 0},
        {"b", 0, -1, 0},
        {"PgUp", 0, -1, 0},
        {"C-d", 0, 0, 1},
        {"C-u", 0, 0, -1},
        {"C-n", 1, 0, 0},
        {"C-p", -1, 0, 0},
        {"g", -1000000000, 0, 0},
        {"G", 1000000000, 0, 0},
        {"Home", -1000000000, 0, 0},
        {"End", 1000000000, 0, 0},
    };
    long page = (long)page_rows(tui);
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        if (strcmp(moves[i].name, key->name) == 0) {
            move(tui, moves[i].lines + moves[i].pages * page + moves[i].halves * (page / 2 + 1));
            return true;
        }
    }
    if (strcmp(key->name, "C-x") == 0 || key->name[0] == '\0')
        return key->name[0] == '\0' ? true : (tui_reader_close(tui), false);
    if (strcmp(key->name, "o") == 0) {
        tui_page(tui, tui->reader.text, tui->reader.size);
        return true;
    }
    bool only_closes = strcmp(key->name, "q") == 0 || strcmp(key->name, "Esc") == 0 ||
                       strcmp(key->name, "C-c") == 0 || strcmp(key->name, "C-g") == 0 ||
                       strcmp(key->name, "C-l") == 0;
    tui_reader_close(tui);
    if (!only_closes)
        tui_key(tui, key);
    return true;
}
