/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Going through the transcript: one cell is chosen, the window follows it. Also scrolling and
 * clicking while the prompt has the keys.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "repl-document.h"
#include "tui-internal.h"

#define WIDE_STEP 8
#define LEFT_MAX 100000

static struct transcript_view *front_view(struct tui *tui)
{
    return transcript_view(tui->front);
}

static bool is_cell(const struct tui *tui, size_t item)
{
    return item < tui->front->item_count && tui->front->items[item].cell;
}

void tui_browse_show(struct tui *tui, size_t item)
{
    transcript_show(tui->front, tui->layout.columns, tui->layout.transcript_rows, item, 0);
}

static void choose(struct tui *tui, size_t item)
{
    front_view(tui)->chosen = item;
    tui_browse_show(tui, item);
    tui_damage(tui, DAMAGE_TRANSCRIPT | DAMAGE_STATUS);
}

/* The next cell from an item on, in a direction; SIZE_MAX: none. */
static size_t cell_from(const struct tui *tui, size_t item, int step)
{
    size_t first = transcript_view(tui->front)->first;
    while (item < tui->front->item_count && item >= first) {
        if (is_cell(tui, item))
            return item;
        item += (size_t)step; /* below 0 it is beyond the count */
    }
    return SIZE_MAX;
}

void tui_browse_enter(struct tui *tui)
{
    struct transcript_view *view = front_view(tui);
    size_t last =
        tui->front->item_count ? cell_from(tui, tui->front->item_count - 1, -1) : SIZE_MAX;
    if (last == SIZE_MAX) {
        tui_say(tui, "there are no cells yet");
        return;
    }
    view->floor = view->first;
    size_t selected = repl_document_item(tui->front, repl_document_selected(tui->front));
    view->chosen = selected < tui->front->item_count ? selected : last;
    view->mark = SIZE_MAX;
    tui->focus = FOCUS_BROWSE;
    tui_damage(tui, DAMAGE_ALL);
}

void tui_browse_leave(struct tui *tui)
{
    struct transcript_view *view = front_view(tui);
    if (tui->focus == FOCUS_READER)
        tui_reader_close(tui);
    else if (tui->focus == FOCUS_PICKER)
        tui_picker_close(tui);
    else if (tui->focus == FOCUS_PICTURE)
        tui_picture_close(tui);
    tui->focus = FOCUS_PROMPT;
    tui->search.typing = false;
    if (!tui->front->document) /* a file's view stays where it is */
        view->follows = true;
    view->mark = SIZE_MAX;
    tui_damage(tui, DAMAGE_ALL);
}

/*
 * ---- moving
 * --------------------------------------------------------------------------------------
 */

/* Whether the window begins within this item, its first row above. */
static bool begins_within(struct tui *tui, size_t wanted)
{
    size_t item, row;
    transcript_window(tui->front, tui->layout.columns, tui->layout.transcript_rows, &item, &row);
    return item == wanted && row > 0;
}

static void by_cell(struct tui *tui, int step)
{
    size_t chosen = front_view(tui)->chosen;
    if (step < 0 && begins_within(tui, chosen)) { /* a long one: first its beginning */
        choose(tui, chosen);
        return;
    }
    size_t next = cell_from(tui, chosen + (size_t)step, step);
    if (next != SIZE_MAX)
        choose(tui, next);
}

/*
 * Scroll, and choose the cell that is then the first (upwards) or the last (downwards) of the
 * window.
 */
static void by_rows(struct tui *tui, int rows)
{
    struct repl_session *session = tui->front;
    size_t item, row;
    int columns = tui->layout.columns, height = tui->layout.transcript_rows;
    transcript_scroll(session, columns, height, rows);
    int filled = transcript_window(session, columns, height, &item, &row);
    size_t last = item;
    for (int seen = -(int)row; last < session->item_count && seen < filled; last++)
        seen += (int)transcript_rows(&session->items[last], columns);
    size_t wanted = rows < 0 ? cell_from(tui, item, 1) : cell_from(tui, last ? last - 1 : 0, -1);
    if (wanted != SIZE_MAX)
        front_view(tui)->chosen = wanted;
    tui_damage(tui, DAMAGE_TRANSCRIPT | DAMAGE_STATUS);
}

void tui_browse_scroll(struct tui *tui, int rows)
{
    if (tui->layout.small)
        return;
    if (tui->focus == FOCUS_BROWSE) {
        by_rows(tui, rows);
    } else if (tui->focus == FOCUS_READER) {
        struct tui_reader *reader = &tui->reader;
        reader->top = rows < 0 && reader->top < (size_t)-rows ? 0 : reader->top + (size_t)rows;
    } else if (tui->focus == FOCUS_PROMPT) {
        front_view(tui)->floor = front_view(tui)->first;
        transcript_scroll(tui->front, tui->layout.columns, tui->layout.transcript_rows, rows);
    }
    tui_damage(tui, DAMAGE_ALL);
}

void tui_browse_click(struct tui *tui, int row)
{
    size_t item, item_row;
    int at = row - tui->layout.transcript_row;
    if (tui->focus == FOCUS_READER || tui->focus == FOCUS_PICKER)
        return;
    if (at < 0 || at >= tui->layout.transcript_rows) {
        if (tui->focus == FOCUS_BROWSE && row >= tui->layout.prompt_row)
            tui_browse_leave(tui);
        return;
    }
    transcript_window(tui->front, tui->layout.columns, tui->layout.transcript_rows, &item,
                      &item_row);
    for (at += (int)item_row; item < tui->front->item_count; item++) {
        at -= (int)transcript_rows(&tui->front->items[item], tui->layout.columns);
        if (at < 0)
            break;
    }
    if (!is_cell(tui, item))
        return;
    tui->focus = FOCUS_BROWSE;
    front_view(tui)->chosen = item;
    tui_damage(tui, DAMAGE_ALL);
}

void tui_browse_goto(struct tui *tui, unsigned long number)
{
    for (size_t i = 0; i < tui->front->item_count; i++) {
        if (is_cell(tui, i) && tui->front->items[i].cell->number == number) {
            if (tui->focus != FOCUS_BROWSE)
                tui_browse_enter(tui);
            choose(tui, i);
            return;
        }
    }
    tui_say(tui, "there is no cell %lu", number);
}

static void to_error(struct tui *tui, int step)
{
    size_t item = front_view(tui)->chosen;
    while ((item = cell_from(tui, item + (size_t)step, step)) != SIZE_MAX) {
        const struct repl_cell *cell = tui->front->items[item].cell;
        bool over = cell->state == REPL_SETTLED || cell->state == REPL_EARLIER;
        if (over && cell->outcome != HERMES_SUCCESS && !cell->not_run) {
            choose(tui, item);
            return;
        }
    }
    tui_say(tui, step > 0 ? "no cell below has failed" : "no cell above has failed");
}

static void to_end(struct tui *tui, bool last)
{
    size_t count = tui->front->item_count;
    size_t item = last ? (count ? cell_from(tui, count - 1, -1) : SIZE_MAX)
                       : cell_from(tui, front_view(tui)->first, 1);
    if (item == SIZE_MAX)
        return;
    if (!last) {
        choose(tui, item);
        return;
    }
    front_view(tui)->follows = true;
    front_view(tui)->chosen = item;
    tui_damage(tui, DAMAGE_TRANSCRIPT | DAMAGE_STATUS);
}

/* The first step shows lines whole; the way back ends with wrapped ones. */
static void sideways(struct tui *tui, bool right)
{
    size_t chosen = front_view(tui)->chosen;
    if (!is_cell(tui, chosen))
        return;
    struct repl_item *item = &tui->front->items[chosen];
    int left = transcript_left(item);
    if (right)
        left = left < 0 ? 0 : left < LEFT_MAX ? left + WIDE_STEP : left;
    else
        left = left < WIDE_STEP && left > 0 ? 0 : left - WIDE_STEP;
    transcript_set_left(item, left);
    tui_damage(tui, DAMAGE_ALL);
}

/*
 * ---- copying
 * ---------------------------------------------------------------------------------------
 */

static void add_cell(struct strbuf *out, const struct repl_cell *cell, bool source)
{
    if (source && cell->source)
        strbuf_add(out, cell->source, cell->source_size);
    else if (!source)
        block_text(cell->output, false, out);
}

static void copy(struct tui *tui, bool source)
{
    const struct transcript_view *view = front_view(tui);
    struct strbuf text = STRBUF_INIT;
    size_t low = view->chosen, high = low;
    if (tui->focus != FOCUS_BROWSE)
        low = high = tui->front->item_count ? cell_from(tui, tui->front->item_count - 1, -1) : 0;
    else if (view->mark != SIZE_MAX && view->mark < low)
        low = view->mark;
    else if (view->mark != SIZE_MAX)
        high = view->mark;
    for (size_t i = low; i <= high && i < tui->front->item_count; i++) {
        if (!is_cell(tui, i))
            continue;
        if (text.size && text.data[text.size - 1] != '\n')
            strbuf_addc(&text, '\n');
        add_cell(&text, tui->front->items[i].cell, source);
    }
    if (text.size)
        tui_copy(tui, source ? "source" : "output", text.data, text.size);
    else
        tui_say(tui, source ? "no source to copy" : "no output to copy");
    front_view(tui)->mark = SIZE_MAX;
    strbuf_free(&text);
}

/*
 * ---- commands
 * ----------------------------------------------------------------------------------------
 */

enum action {
    CELL_DOWN,
    CELL_UP,
    HALF_DOWN,
    HALF_UP,
    PAGE_DOWN,
    PAGE_UP,
    TOP,
    BOTTOM,
    GOTO,
    FIND,
    FIND_UP,
    FIND_NEXT,
    FIND_PREVIOUS,
    ERROR_NEXT,
    ERROR_PREVIOUS,
    LEFT,
    RIGHT,
    COPY,
    COPY_SOURCE,
    SELECT,
    PROMPT,
};
static const struct {
    const char *name;
    enum action action;
} actions[] = {
    {"cell-down", CELL_DOWN},
    {"cell-up", CELL_UP},
    {"half-down", HALF_DOWN},
    {"half-up", HALF_UP},
    {"page-down", PAGE_DOWN},
    {"page-up", PAGE_UP},
    {"top", TOP},
    {"bottom", BOTTOM},
    {"goto", GOTO},
    {"find", FIND},
    {"find-up", FIND_UP},
    {"find-next", FIND_NEXT},
    {"find-previous", FIND_PREVIOUS},
    {"error-next", ERROR_NEXT},
    {"error-previous", ERROR_PREVIOUS},
    {"scroll-left", LEFT},
    {"scroll-right", RIGHT},
    {"copy", COPY},
    {"copy-source", COPY_SOURCE},
    {"select", SELECT},
    {"prompt", PROMPT},
};

static void run_find(struct tui *tui, const char *text, bool backward)
{
    if (text[0])
        tui_search_set(tui, text, backward);
    else
        tui_search_begin(tui, backward ? '?' : '/');
}

static void run_move(struct tui *tui, enum action action)
{
    int page = tui->layout.transcript_rows;
    switch (action) {
    case CELL_DOWN:
    case CELL_UP:
        by_cell(tui, action == CELL_DOWN ? 1 : -1);
        break;
    case HALF_DOWN:
    case HALF_UP:
        by_rows(tui, action == HALF_DOWN ? page / 2 : -(page / 2));
        break;
    case PAGE_DOWN:
    case PAGE_UP:
        by_rows(tui, action == PAGE_DOWN ? page - 1 : 1 - page);
        break;
    case TOP:
    case BOTTOM:
        to_end(tui, action == BOTTOM);
        break;
    case ERROR_NEXT:
    case ERROR_PREVIOUS:
        to_error(tui, action == ERROR_NEXT ? 1 : -1);
        break;
    default:
        sideways(tui, action == RIGHT);
        break;
    }
}

static void run_action(struct tui *tui, enum action action, const char *arguments)
{
    struct transcript_view *view = front_view(tui);
    switch (action) {
    case GOTO:
        tui_browse_goto(tui, strtoul(arguments, NULL, 10));
        break;
    case FIND:
    case FIND_UP:
        run_find(tui, arguments, action == FIND_UP);
        break;
    case FIND_NEXT:
    case FIND_PREVIOUS:
        tui_search_again(tui, action == FIND_PREVIOUS);
        break;
    case COPY:
    case COPY_SOURCE:
        copy(tui, action == COPY_SOURCE);
        break;
    case SELECT:
        view->mark = view->mark == SIZE_MAX ? view->chosen : SIZE_MAX;
        tui_damage(tui, DAMAGE_TRANSCRIPT);
        break;
    case PROMPT:
        tui_browse_leave(tui);
        break;
    default:
        run_move(tui, action);
        break;
    }
}

bool tui_browse_command(struct tui *tui, const char *name, const char *arguments)
{
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (strcmp(actions[i].name, name) != 0)
            continue;
        enum action action = actions[i].action;
        bool anywhere =
            action == COPY || action == COPY_SOURCE || action == PROMPT || action == GOTO;
        if (!anywhere && tui->focus != FOCUS_BROWSE) {
            tui_browse_enter(tui);
            if (tui->focus != FOCUS_BROWSE)
                return true;
        }
        run_action(tui, action, arguments);
        return true;
    }
    return false;
}
