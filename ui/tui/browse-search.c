/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Searching source and output of a session's cells, from the row where the search stands. Small
 * letters match both.
 */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tui-internal.h"
#include "utf8.h"
#include "xalloc.h"

/* A line of a cell: of its source, or behind those, of its output. */
struct place {
    size_t item, line;
    size_t source, lines; /* how many the cell has: of source, and in all */
};

static size_t source_lines(const struct repl_cell *cell)
{
    size_t lines = 0;
    for (size_t i = 0; cell->source && i < cell->source_size; i++)
        lines += cell->source[i] == '\n' || i + 1 == cell->source_size;
    return lines;
}

static bool holds(const char *text, const char *needle)
{
    for (const char *c = needle; *c; c++) {
        if (isupper((unsigned char)*c))
            return strstr(text, needle) != NULL;
    }
    return strcasestr(text, needle) != NULL;
}

static void add_source_line(struct strbuf *out, const struct repl_cell *cell, size_t line)
{
    const char *at = cell->source, *end = cell->source + cell->source_size;
    while (line-- > 0 && at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
    }
    const char *next = memchr(at, '\n', (size_t)(end - at));
    strbuf_add(out, at, (size_t)((next ? next : end) - at));
}

static struct place place_in(const struct tui *tui, size_t item)
{
    const struct repl_cell *cell =
        item < tui->front->item_count ? tui->front->items[item].cell : NULL;
    struct place place = {.item = item};
    if (cell) {
        place.source = source_lines(cell);
        place.lines = place.source + block_lines(cell->output);
    }
    return place;
}

static bool matches(struct tui *tui, const struct place *place, struct strbuf *line)
{
    const struct repl_cell *cell = tui->front->items[place->item].cell;
    strbuf_clear(line);
    if (place->line < place->source)
        add_source_line(line, cell, place->line);
    else
        block_line_text(cell->output, place->line - place->source, line);
    return holds(strbuf_text(line), strbuf_text(&tui->search.text));
}

/* One line on, over the ends of cells. False: there is none. */
static bool step(const struct tui *tui, struct place *place, bool backward)
{
    if (backward ? place->line > 0 : place->line + 1 < place->lines) {
        place->line += backward ? (size_t)-1 : 1;
        return true;
    }
    size_t first = transcript_view(tui->front)->first;
    for (size_t item = place->item; backward ? item > first : item + 1 < tui->front->item_count;) {
        item += backward ? (size_t)-1 : 1;
        struct place next = place_in(tui, item);
        if (next.lines) {
            *place = next;
            place->line = backward ? next.lines - 1 : 0;
            return true;
        }
    }
    return false;
}

/* Bring the line to the window; a fold that hides it is opened. */
static void show(struct tui *tui, const struct place *place)
{
    struct repl_item *item = &tui->front->items[place->item];
    int columns = tui->layout.columns;
    size_t row;
    if (place->line < place->source) {
        row = 0;
        for (size_t at = 0, lines = 0; lines < place->line && at < item->cell->source_size; row++) {
            size_t next;
            transcript_source_row(item->cell, columns, at, &next);
            lines += item->cell->source[next - 1] == '\n';
            at = next;
        }
        if (row + 1 >= TRANSCRIPT_SOURCE_ROWS)
            transcript_set_fold(item, FOLD_OPEN);
    } else {
        int width = transcript_left(item) < 0 ? transcript_output_columns(columns) : 0;
        size_t output_row =
            block_row_of_line(item->cell->output, width, place->line - place->source);
        row = transcript_row_of_output(item, columns, output_row);
        if (transcript_row(item, columns, row).part == PART_FOLD) {
            transcript_set_fold(item, FOLD_OPEN);
            row = transcript_row_of_output(item, columns, output_row);
        }
    }
    transcript_view(tui->front)->chosen = place->item;
    transcript_show(tui->front, columns, tui->layout.transcript_rows, place->item, row);
    tui->search.item = place->item;
    tui->search.line_at = place->line;
}

static void find(struct tui *tui, bool backward)
{
    struct strbuf line = STRBUF_INIT;
    const struct transcript_view *view = transcript_view(tui->front);
    struct place place = place_in(tui, view->chosen);
    bool found = false;
    if (tui->search.item == view->chosen && tui->search.session == tui->front)
        place.line = tui->search.line_at;
    else if (!backward && place.lines)
        found = matches(tui, &place, &line);
    /* A view has its session. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
    while (!found && place.item < tui->front->item_count && step(tui, &place, backward))
        found = matches(tui, &place, &line);
    tui->search.session = tui->front;
    if (found)
        show(tui, &place);
    else
        tui_say(tui, "nothing %s holds \"%s\"", backward ? "above" : "below",
                strbuf_text(&tui->search.text));
    strbuf_free(&line);
    tui_damage(tui, DAMAGE_ALL);
}

void tui_search_begin(struct tui *tui, char kind)
{
    tui->search.typing = true;
    tui->search.kind = kind;
    strbuf_clear(&tui->search.line);
    tui_damage(tui, DAMAGE_ALL);
}

void tui_search_set(struct tui *tui, const char *text, bool backward)
{
    strbuf_setf(&tui->search.text, "%s", text);
    tui->search.kind = backward ? '?' : '/';
    tui->search.session = NULL;
    find(tui, backward);
}

void tui_search_again(struct tui *tui, bool backward)
{
    if (tui->search.text.size)
        find(tui, backward != (tui->search.kind == '?'));
    else
        tui_say(tui, "nothing was searched for yet");
}

static void finish(struct tui *tui)
{
    const char *text = strbuf_text(&tui->search.line);
    tui->search.typing = false;
    if (tui->search.kind == ':' && text[0]) {
        if (isdigit((unsigned char)text[0]))
            tui_browse_goto(tui, strtoul(text, NULL, 10));
        else
            tui_run_line(tui, text);
    } else if (tui->search.kind != ':') {
        char *wanted = xstrdup(text[0] ? text : strbuf_text(&tui->search.text));
        if (wanted[0])
            tui_search_set(tui, wanted, tui->search.kind == '?');
        free(wanted);
    }
}

void tui_search_key(struct tui *tui, const struct key *key)
{
    struct strbuf *line = &tui->search.line;
    tui_damage(tui, DAMAGE_ALL);
    if (key->type == KEY_TEXT) {
        strbuf_adds(line, key->name);
    } else if (strcmp(key->name, "Space") == 0) {
        strbuf_addc(line, ' ');
    } else if (strcmp(key->name, "Backspace") == 0 || strcmp(key->name, "C-h") == 0) {
        size_t size = line->size;
        while (size && ((unsigned char)line->data[--size] & 0xc0) == 0x80)
            continue;
        if (line->size == 0)
            tui->search.typing = false;
        else
            line->data[line->size = size] = '\0';
    } else if (strcmp(key->name, "C-u") == 0) {
        strbuf_clear(line);
    } else if (strcmp(key->name, "Enter") == 0 || strcmp(key->name, "C-j") == 0) {
        finish(tui);
    } else if (strcmp(key->name, "Esc") == 0 || strcmp(key->name, "C-c") == 0 ||
               strcmp(key->name, "C-g") == 0) {
        tui->search.typing = false;
    }
}
