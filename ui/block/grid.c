/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "grid.h"

#include <stdlib.h>
#include <string.h>

#include "block-page.h"
#include "block-sgr.h"
#include "char-width.h"
#include "grid-internal.h"
#include "utf8.h"
#include "xalloc.h"

/* What a program does not fetch is not worth more. */
enum { ANSWERS_MAX_BYTES = 4096 };

/* ---- cells ---------------------------------------------------------------------------------- */

static uint32_t convert_colour(const VTermColor *colour, bool is_default)
{
    if (is_default)
        return 0;
    if (VTERM_COLOR_IS_INDEXED(colour))
        return BLOCK_INDEX | colour->indexed.idx;
    return BLOCK_RGB | (uint32_t)colour->rgb.red << 16 | (uint32_t)colour->rgb.green << 8 |
           colour->rgb.blue;
}

static uint16_t convert_attributes(const VTermScreenCellAttrs *attrs)
{
    return (uint16_t)((attrs->bold ? BLOCK_BOLD : 0) | (attrs->italic ? BLOCK_ITALIC : 0) |
                      (attrs->underline ? BLOCK_UNDERLINE : 0) |
                      (attrs->reverse ? BLOCK_REVERSE : 0) | (attrs->strike ? BLOCK_STRIKE : 0));
}

/*
 * libvterm's opinion on widths counts for the place, ours for what is shown there: a character that
 * would take other columns than it has must not be drawn.
 */
static void convert(const VTermScreenCell *from, struct block_cell *to)
{
    *to = (struct block_cell){.characters = {' '}, .width = 1};
    to->style.background = convert_colour(&from->bg, VTERM_COLOR_IS_DEFAULT_BG(&from->bg));
    if (!from->chars[0])
        return; /* erased: libvterm gives it all attributes, as no other terminal does */
    to->style.foreground = convert_colour(&from->fg, VTERM_COLOR_IS_DEFAULT_FG(&from->fg));
    to->style.attributes = convert_attributes(&from->attrs);
    if (from->chars[0] == UINT32_MAX) {
        to->characters[0] = 0;
        to->width = 0;
        return;
    }
    uint32_t code = char_shown(from->chars[0]);
    int width = code ? char_width(code) : 0;
    if (width == 0 || width > from->width) {
        to->characters[0] = CHAR_REPLACEMENT;
        return;
    }
    to->characters[0] = code;
    to->width = (uint8_t)width;
    for (size_t i = 1, n = 1; i < VTERM_MAX_CHARS_PER_CELL && from->chars[i]; i++) {
        uint32_t mark = char_shown(from->chars[i]);
        if (mark && char_width(mark) == 0 && n < BLOCK_CELL_CHARACTERS)
            to->characters[n++] = mark;
    }
}

/* A right half whose left one is not wide is a blank. */
static void mend_half(const struct block_cell *before, struct block_cell *cell)
{
    if (cell->width == 0 && (!before || before->width != 2)) {
        cell->characters[0] = ' ';
        cell->width = 1;
    }
}

static void read_row(const struct grid *grid, int row, struct block_cell *cells)
{
    for (int column = 0; column < grid->columns; column++) {
        VTermScreenCell cell;
        memset(&cell, 0, sizeof(cell));
        vterm_screen_get_cell(grid->screen, (VTermPos){row, column}, &cell);
        convert(&cell, &cells[column]);
        mend_half(column ? &cells[column - 1] : NULL, &cells[column]);
    }
}

static bool is_blank(const struct block_cell *cell)
{
    return cell->width == 1 && cell->characters[0] == ' ' && !cell->characters[1] &&
           style_is_plain(&cell->style);
}

static void cells_text(const struct block_cell *cells, size_t count, bool styled,
                       struct strbuf *out)
{
    static const struct block_style none;
    struct block_style now = none;
    while (count && is_blank(&cells[count - 1]))
        count--;
    for (size_t i = 0; i < count; i++) {
        if (!cells[i].width)
            continue;
        if (styled && !style_equal(&now, &cells[i].style)) {
            now = cells[i].style;
            sgr_write(out, &now);
        }
        for (size_t k = 0; k < BLOCK_CELL_CHARACTERS && cells[i].characters[k]; k++) {
            char bytes[4];
            strbuf_add(out, bytes, utf8_encode(cells[i].characters[k], bytes));
        }
    }
    if (!style_equal(&now, &none))
        strbuf_adds(out, "\x1b[0m");
}

/* ---- what libvterm tells -------------------------------------------------------------------- */

static int on_property(VTermProp property, VTermValue *value, void *user)
{
    struct grid *grid = user;
    if (property == VTERM_PROP_ALTSCREEN)
        grid->left = grid->alternate && !value->boolean;
    else if (property == VTERM_PROP_CURSORVISIBLE)
        grid->cursor_hidden = !value->boolean;
    return 1;
}

static int on_scrolled_off(int columns, const VTermScreenCell *from, void *user)
{
    struct grid *grid = user;
    if (grid->alternate)
        return 1;
    struct block_cell *cells = xcalloc((size_t)columns, sizeof(*cells));
    for (int i = 0; i < columns; i++) {
        convert(&from[i], &cells[i]);
        mend_half(i ? &cells[i - 1] : NULL, &cells[i]);
    }
    cells_text(cells, (size_t)columns, true, &grid->scrolled);
    strbuf_adds(&grid->scrolled, "\r\n");
    free(cells);
    return 1;
}

static void on_output(const char *data, size_t size, void *user)
{
    struct grid *grid = user;
    if (grid->answers.size + size <= ANSWERS_MAX_BYTES)
        strbuf_add(&grid->answers, data, size);
}

/* REP is what ncurses writes for runs of one character, and libvterm does not know it. */
static int on_unknown_csi(const char *leader, const long arguments[], int count,
                          const char *intermediate, char command, void *user)
{
    struct grid *grid = user;
    if (command != 'b' || (leader && *leader) || (intermediate && *intermediate))
        return 0;
    grid->repeat = count > 0 ? (uint32_t)CSI_ARG_COUNT(arguments[0]) : 1;
    return 1;
}

static const VTermScreenCallbacks screen_callbacks = {.settermprop = on_property,
                                                      .sb_pushline = on_scrolled_off};
static const VTermParserCallbacks unknown_callbacks = {.csi = on_unknown_csi};

/* A wide character in a single column makes libvterm write where there is no cell. */
static int at_least_2(int value)
{
    return value < 2 ? 2 : value;
}

struct grid *grid_new(int columns, int rows, bool alternate)
{
    struct grid *grid = xcalloc(1, sizeof(*grid));
    grid->columns = at_least_2(columns);
    grid->rows = at_least_2(rows);
    grid->alternate = alternate;
    grid->vterm = vterm_new(grid->rows, grid->columns);
    if (!grid->vterm)
        xout_of_memory();
    vterm_set_utf8(grid->vterm, 1);
    vterm_output_set_callback(grid->vterm, on_output, grid);
    grid->state = vterm_obtain_state(grid->vterm);
    grid->screen = vterm_obtain_screen(grid->vterm);
    vterm_state_set_unrecognised_fallbacks(grid->state, &unknown_callbacks, grid);
    vterm_screen_enable_altscreen(grid->screen, 1);
    vterm_screen_reset(grid->screen, 1);
    vterm_screen_set_callbacks(grid->screen, &screen_callbacks, grid);
    return grid;
}

void grid_free(struct grid *grid)
{
    if (!grid)
        return;
    vterm_free(grid->vterm);
    strbuf_free(&grid->scrolled);
    strbuf_free(&grid->answers);
    free(grid);
}

/*
 * After a resize libvterm (0.1.4) may have its cursor above the first row, and the cursor it saved
 * and its scroll region outside: nothing may be written then. As in other terminals the region is
 * gone afterwards. A sequence of which only the beginning came is lost.
 */
static void settle(struct grid *grid)
{
    struct strbuf text = STRBUF_INIT;
    VTermPos position;
    vterm_state_get_cursorpos(grid->state, &position);
    int row = position.row < 0 ? 1 : position.row + 1, column = position.col + 1;
    strbuf_addf(&text,
                "\x1b[1;1H\x1b[r\x1b[?69l\x1b[%d;%dH\x1b"
                "7",
                row, column);
    vterm_input_write(grid->vterm, text.data, text.size);
    strbuf_free(&text);
}

void grid_resize(struct grid *grid, int columns, int rows)
{
    columns = at_least_2(columns);
    rows = at_least_2(rows);
    if (columns == grid->columns && rows == grid->rows)
        return;
    vterm_set_size(grid->vterm, rows, columns);
    grid->columns = columns;
    grid->rows = rows;
    settle(grid);
}

bool grid_has_left(const struct grid *grid)
{
    return grid->left;
}

bool grid_is_alternate(const struct grid *grid)
{
    return grid->alternate;
}

/* ---- looking -------------------------------------------------------------------------------- */

int grid_rows(const struct grid *grid)
{
    return grid->rows;
}

size_t grid_row(const struct grid *grid, int row, size_t left, struct block_cell *cells,
                size_t count)
{
    static const struct block_cell blank = {.characters = {' '}, .width = 1};
    size_t columns = (size_t)grid->columns;
    struct block_cell *all = xcalloc(columns, sizeof(*all));
    read_row(grid, row, all);
    for (size_t i = 0; i < count; i++)
        cells[i] = left + i < columns ? all[left + i] : blank;
    if (count) { /* halves at the edges */
        mend_half(NULL, &cells[0]);
        if (cells[count - 1].width == 2) {
            struct block_style style = cells[count - 1].style;
            cells[count - 1] = blank;
            cells[count - 1].style = style;
        }
    }
    free(all);
    return columns;
}

bool grid_cursor(const struct grid *grid, int *ret_row, int *ret_column)
{
    VTermPos position;
    vterm_state_get_cursorpos(grid->state, &position);
    *ret_row = position.row;
    *ret_column = position.col;
    return !grid->cursor_hidden;
}

void grid_row_text(const struct grid *grid, int row, bool styled, struct strbuf *out)
{
    struct block_cell *cells = xcalloc((size_t)grid->columns, sizeof(*cells));
    read_row(grid, row, cells);
    cells_text(cells, (size_t)grid->columns, styled, out);
    free(cells);
}

void grid_text(const struct grid *grid, bool styled, struct strbuf *out)
{
    size_t end = out->size;
    for (int row = 0; row < grid->rows; row++) {
        size_t start = out->size;
        grid_row_text(grid, row, styled, out);
        bool blank = out->size == start;
        strbuf_adds(out, "\r\n");
        if (!blank)
            end = out->size;
    }
    out->size = end;
    if (out->data)
        out->data[end] = '\0';
}

void grid_take_scrolled(struct grid *grid, struct strbuf *out)
{
    strbuf_add(out, strbuf_text(&grid->scrolled), grid->scrolled.size);
    strbuf_clear(&grid->scrolled);
}

void grid_take_answers(struct grid *grid, struct strbuf *out)
{
    strbuf_add(out, strbuf_text(&grid->answers), grid->answers.size);
    strbuf_clear(&grid->answers);
}

/* ---- modes ---------------------------------------------------------------------------------- */

/* What libvterm would send for a key tells the mode, which it does not. */
static bool sends(struct grid *grid, const char *wanted)
{
    size_t size = strlen(wanted);
    bool same = grid->answers.size >= size &&
                memcmp(grid->answers.data + grid->answers.size - size, wanted, size) == 0;
    return same;
}

unsigned grid_modes(const struct grid *grid)
{
    struct grid *asked = (struct grid *)grid;
    struct strbuf answers = grid->answers;
    unsigned modes = 0;
    asked->answers = (struct strbuf)STRBUF_INIT;
    vterm_keyboard_key(grid->vterm, VTERM_KEY_UP, VTERM_MOD_NONE);
    modes |= sends(asked, "\x1bOA") ? BLOCK_MODE_CURSOR_KEYS : 0;
    vterm_keyboard_start_paste(grid->vterm);
    modes |= sends(asked, "\x1b[200~") ? BLOCK_MODE_PASTE : 0;
    strbuf_free(&asked->answers);
    asked->answers = answers;
    return modes;
}
