/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <curses.h>
#include <langinfo.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "colour.h"
#include "glyph.h"
#include "modes.h"
#include "screen.h"
#include "true-colour.h"
#include "xalloc.h"

/* Beyond this a terminal is no terminal: sizes come from outside. */
#define SIZE_MAX_CELLS 1000

struct screen {
    SCREEN *curses;
    struct colours *colours;
    bool utf8, mouse, away;
    int rows, columns;
    struct block_cell *cells; /* what is to be seen */
    bool *dirty;              /* rows that ncurses has not been told of */
    cchar_t *line;            /* one row for ncurses */
    int cursor_row, cursor_column;
    bool cursor_shown;
    uint64_t generation;
};

/*
 * ---- the grid ----------------------------------------------------------------------------------
 */

static void allocate(struct screen *screen, int rows, int columns)
{
    screen->rows = rows;
    screen->columns = columns;
    free(screen->cells);
    free(screen->dirty);
    free(screen->line);
    size_t count = (size_t)rows * (size_t)columns;
    colours_set_cells(screen->colours, count);
    screen->cells = xcalloc(count, sizeof(*screen->cells));
    screen->dirty = xcalloc((size_t)rows, sizeof(*screen->dirty));
    screen->line = xcalloc((size_t)columns + 1, sizeof(*screen->line));
    for (size_t i = 0; i < count; i++)
        screen->cells[i] = (struct block_cell){.characters = {' '}, .width = 1};
    for (int row = 0; row < rows; row++)
        screen->dirty[row] = true;
}

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

static bool same_cell(const struct block_cell *a, const struct block_cell *b)
{
    return a->characters[0] == b->characters[0] && a->width == b->width &&
           a->style.foreground == b->style.foreground &&
           a->style.background == b->style.background &&
           a->style.attributes == b->style.attributes &&
           memcmp(a->characters, b->characters, sizeof(a->characters)) == 0;
}

static void put(struct screen *screen, int row, int column, const struct block_cell *cell)
{
    struct block_cell *there =
        &screen->cells[(size_t)row * (size_t)screen->columns + (size_t)column];
    if (same_cell(there, cell))
        return;
    *there = *cell;
    screen->dirty[row] = true;
}

static bool is_row(const struct screen *screen, int row)
{
    return row >= 0 && row < screen->rows;
}

void screen_cells(struct screen *screen, int row, int column, const struct block_cell *cells,
                  int count)
{
    for (int i = 0; is_row(screen, row) && i < count && column + i < screen->columns; i++) {
        if (column + i >= 0)
            put(screen, row, column + i, &cells[i]);
    }
}

void screen_fill(struct screen *screen, int row, int column, int count, struct block_style style)
{
    const struct block_cell blank = {.characters = {' '}, .width = 1, .style = style};
    int end = clamp(column + count, 0, screen->columns);
    for (int i = clamp(column, 0, end); is_row(screen, row) && i < end; i++)
        put(screen, row, i, &blank);
}

static void put_glyph(struct screen *screen, int row, int column, const struct glyph *glyph,
                      struct block_style style)
{
    struct block_cell cell = {.width = 1, .style = style};
    bool blanks = glyph->characters[0] == ' ' && !glyph->characters[1];
    memcpy(cell.characters, glyph->characters, sizeof(cell.characters));
    cell.width = blanks ? 1 : (uint8_t)glyph->width;
    for (int i = 0; i < glyph->width && column + i < screen->columns; i++) {
        if (i > 0 && !blanks) {
            memset(cell.characters, 0, sizeof(cell.characters));
            cell.width = 0;
        }
        if (column + i >= 0)
            put(screen, row, column + i, &cell);
    }
}

int screen_text(struct screen *screen, int row, int column, int limit, const char *text,
                size_t size, struct block_style style)
{
    int used = 0;
    limit = clamp(limit, 0, screen->columns - column);
    for (size_t i = 0; is_row(screen, row) && i < size && text[i] != '\n';) {
        struct glyph glyph;
        glyph_at(text + i, size - i, used, &glyph);
        if (used + glyph.width > limit)
            break;
        put_glyph(screen, row, column + used, &glyph, style);
        used += glyph.width;
        i += glyph.size;
    }
    return used;
}

int screen_puts(struct screen *screen, int row, int column, int limit, const char *text,
                struct block_style style)
{
    return screen_text(screen, row, column, limit, text, strlen(text), style);
}

void screen_tint(struct screen *screen, int row, int column, int count, struct block_style style)
{
    int end = clamp(column + count, 0, screen->columns);
    for (int i = clamp(column, 0, end); is_row(screen, row) && i < end; i++) {
        struct block_cell cell = screen->cells[(size_t)row * (size_t)screen->columns + (size_t)i];
        if (style.foreground)
            cell.style.foreground = style.foreground;
        if (style.background)
            cell.style.background = style.background;
        cell.style.attributes |= style.attributes;
        put(screen, row, i, &cell);
    }
}

void screen_cursor(struct screen *screen, int row, int column)
{
    screen->cursor_row = row;
    screen->cursor_column = column;
}

/*
 * ---- to the glass
 * --------------------------------------------------------------------------------
 */

/* What the terminal's character set has not is replaced. */
static wchar_t shown_character(const struct screen *screen, uint32_t code)
{
    if (screen->utf8 || code < 0x7f)
        return (wchar_t)code;
    char ascii = glyph_ascii(code), bytes[MB_LEN_MAX];
    mbstate_t state = {0};
    if (!ascii && wcrtomb(bytes, (wchar_t)code, &state) != (size_t)-1 &&
        wcwidth((wchar_t)code) == 1)
        return (wchar_t)code;
    return ascii ? ascii : '?';
}

static void set_cell(struct screen *screen, const struct block_cell *cell, int width, cchar_t *out,
                     bool *full)
{
    wchar_t text[BLOCK_CELL_CHARACTERS + 1] = {0};
    size_t n = 0;
    for (size_t i = 0; i < BLOCK_CELL_CHARACTERS && cell->characters[i]; i++) {
        int columns = glyph_width(cell->characters[i]);
        if (i == 0)
            text[n++] = columns == width ? shown_character(screen, cell->characters[0]) : ' ';
        else if (columns == 0 && screen->utf8)
            text[n++] = (wchar_t)cell->characters[i];
    }
    if (n == 0)
        text[0] = ' ';
    attr_t attributes = (attr_t)colours_attributes(&cell->style);
    int pair = colours_pair(screen->colours, &cell->style, full);
    setcchar(out, text, attributes, 0, &pair);
}

/* Hand one row to ncurses. Halves of wide characters become blanks. */
static void convert_row(struct screen *screen, int row, bool *full)
{
    const struct block_cell *cells = screen->cells + (size_t)row * (size_t)screen->columns;
    int count = 0;
    for (int i = 0; i < screen->columns;) {
        bool wide = cells[i].width == 2 && i + 1 < screen->columns && cells[i + 1].width == 0;
        struct block_cell blank = {.characters = {' '}, .width = 1, .style = cells[i].style};
        bool whole = wide || cells[i].width == 1;
        if (wide && !screen->utf8)
            whole = wide = false;
        set_cell(screen, whole ? &cells[i] : &blank, wide ? 2 : 1, &screen->line[count++], full);
        i += wide ? 2 : 1;
    }
    mvadd_wchnstr(row, 0, screen->line, count);
    screen->dirty[row] = false;
}

/* Hand over the rows that have changed, or all. False: there were not enough numbers of pairs. */
static bool convert_rows(struct screen *screen, bool all)
{
    bool full = false;
    for (int row = 0; row < screen->rows; row++) {
        if (screen->dirty[row] || all)
            convert_row(screen, row, &full);
    }
    return !full;
}

void screen_flush(struct screen *screen)
{
    if (screen->away)
        return;
    if (!convert_rows(screen, false)) {
        colours_forget(screen->colours);
        convert_rows(screen, true);
        screen->generation++;
    }
    bool show = is_row(screen, screen->cursor_row);
    if (show)
        move(screen->cursor_row, clamp(screen->cursor_column, 0, screen->columns - 1));
    if (show != screen->cursor_shown)
        curs_set(show ? 1 : 0);
    screen->cursor_shown = show;
    refresh();
}

void screen_send(struct screen *screen, const char *data, size_t size)
{
    if (!screen->away)
        modes_send(data, size);
}

void screen_ask(struct screen *screen, const char *data, size_t size, enum screen_answer last)
{
    if (!screen->away)
        modes_ask(data, size, last);
}

void screen_answered(struct screen *screen, enum screen_answer last)
{
    (void)screen;
    modes_answered(last);
}

void screen_repaint(struct screen *screen)
{
    clearok(curscr, TRUE);
    screen->generation++;
    for (int row = 0; row < screen->rows; row++)
        screen->dirty[row] = true;
}

void screen_repaint_row(struct screen *screen, int row)
{
    if (is_row(screen, row))
        wredrawln(stdscr, row, 1);
}

void screen_erase_rows(struct screen *screen, int row, int rows)
{
    int end = clamp(row + rows, 0, screen->rows);
    row = clamp(row, 0, end);
    if (row < end)
        wredrawln(stdscr, row, end - row);
}

uint64_t screen_generation(const struct screen *screen)
{
    return screen->generation;
}

/* FNV-1a, by whole numbers. */
uint64_t screen_row_hash(const struct screen *screen, int row)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; is_row(screen, row) && i < screen->columns; i++) {
        const struct block_cell *cell =
            &screen->cells[(size_t)row * (size_t)screen->columns + (size_t)i];
        const uint64_t parts[] = {
            (uint64_t)cell->style.foreground << 32 | cell->style.background,
            (uint64_t)cell->style.attributes << 8 | cell->width,
        };
        for (size_t k = 0; k < 2; k++)
            hash = (hash ^ parts[k]) * 0x100000001b3u;
        for (size_t k = 0; k < BLOCK_CELL_CHARACTERS && cell->characters[k]; k++)
            hash = (hash ^ cell->characters[k]) * 0x100000001b3u;
    }
    return hash;
}

/*
 * ---- life
 * ------------------------------------------------------------------------------------------
 */

static void ask_size(int *ret_rows, int *ret_columns)
{
    struct winsize size = {0};
    *ret_rows = 24;
    *ret_columns = 80;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
        return;
    *ret_rows = clamp(size.ws_row, 1, SIZE_MAX_CELLS);
    *ret_columns = clamp(size.ws_col, 1, SIZE_MAX_CELLS);
}

bool screen_resize(struct screen *screen)
{
    int rows, columns;
    ask_size(&rows, &columns);
    if (rows == screen->rows && columns == screen->columns)
        return false;
    resize_term(rows, columns);
    allocate(screen, rows, columns);
    erase();
    screen_repaint(screen);
    return true;
}

/*
 * With all colours where the terminal has them. Nobody else is to see the variable: it is as before
 * when this returns.
 */
static SCREEN *start_curses(bool wants_colour)
{
    struct strbuf description = STRBUF_INIT;
    SCREEN *curses = NULL;
    if (wants_colour && true_colour_describe(&description)) {
        const char *there = getenv("TERMINFO");
        char *before = there ? xstrdup(there) : NULL;
        setenv("TERMINFO", strbuf_text(&description), 1);
        curses = newterm(TRUE_COLOUR_NAME, stdout, stdin);
        if (before)
            setenv("TERMINFO", before, 1);
        else
            unsetenv("TERMINFO");
        free(before);
    }
    strbuf_free(&description);
    return curses ? curses : newterm(NULL, stdout, stdin);
}

struct screen *screen_open(struct strbuf *error)
{
    if (!modes_remember()) {
        strbuf_setf(error, "standard input is no terminal");
        return NULL;
    }
    use_env(FALSE);
    use_tioctl(TRUE);
    const char *no_colour = getenv("NO_COLOR");
    bool wants_colour = !(no_colour && no_colour[0]);
    SCREEN *curses = start_curses(wants_colour);
    if (!curses) {
        const char *name = getenv("TERM");
        strbuf_setf(error, "the terminal \"%s\" is not known here (try --plain)", name ? name : "");
        return NULL;
    }
    struct screen *screen = xcalloc(1, sizeof(*screen));
    screen->curses = curses;
    screen->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    screen->colours = colours_new(wants_colour);
    screen->mouse = true;
    screen->cursor_shown = true;
    leaveok(stdscr, FALSE);
    scrollok(stdscr, FALSE);
    int rows, columns;
    ask_size(&rows, &columns);
    resize_term(rows, columns);
    allocate(screen, rows, columns);
    modes_set(screen->mouse);
    return screen;
}

void screen_leave(struct screen *screen)
{
    if (screen->away)
        return;
    modes_reset();
    if (!screen->cursor_shown)
        curs_set(1);
    screen->cursor_shown = true;
    endwin();
    modes_restore();
    screen->away = true;
}

void screen_return(struct screen *screen, bool changed)
{
    if (!screen->away)
        return;
    screen->away = false;
    if (changed)
        modes_remember();
    refresh();
    screen_retake(screen);
}

void screen_retake(struct screen *screen)
{
    if (screen->away)
        return;
    modes_set(screen->mouse);
    screen_resize(screen);
    screen_repaint(screen);
}

void screen_close(struct screen *screen)
{
    if (!screen)
        return;
    screen_leave(screen);
    colours_free(screen->colours);
    delscreen(screen->curses);
    free(screen->cells);
    free(screen->dirty);
    free(screen->line);
    free(screen);
}

void screen_set_mouse(struct screen *screen, bool on)
{
    if (screen->mouse != on && !screen->away)
        modes_mouse(on);
    screen->mouse = on;
}

int screen_rows(const struct screen *screen)
{
    return screen->rows;
}

int screen_columns(const struct screen *screen)
{
    return screen->columns;
}

bool screen_has_colour(const struct screen *screen)
{
    return colours_any(screen->colours);
}

int screen_colour_count(const struct screen *screen)
{
    return colours_any(screen->colours) ? clamp(COLORS, 0, 256) : 0;
}

bool screen_cell_pixels(const struct screen *screen, int *ret_width, int *ret_height)
{
    struct winsize size = {0};
    (void)screen;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
        return false;
    *ret_width = size.ws_xpixel / size.ws_col;
    *ret_height = size.ws_ypixel / size.ws_row;
    return *ret_width > 1 && *ret_height > 1;
}

bool screen_is_utf8(const struct screen *screen)
{
    return screen->utf8;
}
