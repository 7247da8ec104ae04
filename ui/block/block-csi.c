/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <string.h>

#include "block-parse.h"
#include "char-width.h"

void parse_control(struct parser *parser, struct lines *lines, unsigned char byte)
{
    (void)parser;
    switch (byte) {
    case '\n':
        lines_newline(lines);
        break;
    case '\v':
    case '\f':
        lines_down(lines);
        break;
    case '\r':
        lines_to_column(lines, 0);
        break;
    case '\b':
        lines_move_columns(lines, -1);
        break;
    case '\t':
        lines_tab(lines);
        break;
    default:
        break;
    }
}

static uint32_t parameter(const struct csi *csi, unsigned index, uint32_t missing)
{
    return index < csi->count && csi->value[index] ? csi->value[index] : missing;
}

/* ---- answers -------------------------------------------------------------------------------- */

static void status_report(const struct parser *parser, const struct lines *lines)
{
    struct strbuf *out = parser->answers;
    if (out->size > ANSWER_BYTES)
        return;
    if (parameter(&parser->csi, 0, 0) == 5)
        strbuf_adds(out, "\x1b[0n");
    if (parameter(&parser->csi, 0, 0) != 6)
        return;
    uint64_t number = lines_number(lines, lines->row);
    unsigned rows = (unsigned)lines->window_rows, columns = (unsigned)lines->window_columns;
    unsigned row = number > lines->top ? (unsigned)(number - lines->top) + 1 : 1;
    unsigned column = lines->column + 1;
    if (parser->away) {
        row = parser->away_row;
        column = parser->away_column;
    }
    strbuf_addf(out, "\x1b[%u;%uR", row < rows ? row : rows, column < columns ? column : columns);
}

/* ---- modes ---------------------------------------------------------------------------------- */

static void set_mode(struct parser *parser, uint32_t mode, bool on)
{
    unsigned bit = 0;
    switch (mode) {
    case 1:
        bit = BLOCK_MODE_CURSOR_KEYS;
        break;
    case 25:
        bit = MODE_CURSOR_HIDDEN;
        on = !on;
        break;
    case 2004:
        bit = BLOCK_MODE_PASTE;
        break;
    case 47:
    case 1047:
    case 1049:
        if (on)
            parser->wish = WISH_ALTERNATE;
        break;
    default:
        break;
    }
    parser->modes = on ? parser->modes | bit : parser->modes & ~bit;
}

static void set_modes(struct parser *parser, bool on)
{
    for (unsigned i = 0; i < parser->csi.count; i++)
        set_mode(parser, parser->csi.value[i], on);
}

/* ---- places of the screen ------------------------------------------------------------------- */

/*
 * The first line of the screen is one of ours. To any other the cursor may be sent only to ask
 * where it ends up; it is when something is written there that a program has the screen.
 */
static void go_to(struct parser *parser, struct lines *lines, unsigned row, unsigned column)
{
    parser->away = row > 1;
    parser->away_row = row;
    parser->away_column = column;
    if (parser->away)
        return;
    lines_home(lines);
    lines_to_column(lines, column - 1);
}

static void set_region(struct parser *parser, const struct lines *lines)
{
    unsigned top = parameter(&parser->csi, 0, 1);
    unsigned bottom = parameter(&parser->csi, 1, (unsigned)lines->window_rows);
    bool whole = top <= 1 && bottom >= (unsigned)lines->window_rows;
    parser->region_top = whole ? 0 : top;
    parser->region_bottom = whole ? 0 : bottom;
}

static void reset_all(struct parser *parser, struct lines *lines)
{
    static const struct block_style none;
    lines->style = none;
    parser->modes = 0;
    parser->region_top = parser->region_bottom = 0;
    parser->away = false;
    lines_erase_screen(lines, 2);
    lines_home(lines);
}

/* ---- what sequences do ---------------------------------------------------------------------- */

static void repeat_last(const struct parser *parser, struct lines *lines, uint32_t count)
{
    if (count > (uint32_t)lines->window_columns)
        count = (uint32_t)lines->window_columns;
    while (parser->last && count-- > 0)
        lines_put(lines, parser->last);
}

static void move(struct lines *lines, char final, long count)
{
    switch (final) {
    case 'A':
        lines_move_rows(lines, -count);
        break;
    case 'B':
    case 'e':
        lines_move_rows(lines, count);
        break;
    case 'C':
    case 'a':
        lines_move_columns(lines, count);
        break;
    case 'D':
        lines_move_columns(lines, -count);
        break;
    case 'E':
        lines_to_column(lines, 0);
        lines_move_rows(lines, count);
        break;
    case 'F':
        lines_to_column(lines, 0);
        lines_move_rows(lines, -count);
        break;
    case 'I':
        while (count-- > 0 && lines->column < (uint32_t)lines->window_columns)
            lines_tab(lines);
        break;
    case 'Z':
        while (count-- > 0 && lines->column)
            lines_to_column(lines, (lines->column - 1) & ~7u);
        break;
    default: /* G and ` */
        lines_to_column(lines, (uint32_t)count - 1);
        break;
    }
}

static void change(struct parser *parser, struct lines *lines, char final)
{
    uint32_t count = parameter(&parser->csi, 0, 1);
    switch (final) {
    case 'J':
        lines_erase_screen(lines, parameter(&parser->csi, 0, 0));
        break;
    case 'K':
        lines_erase_line(lines, parameter(&parser->csi, 0, 0));
        break;
    case '@':
        lines_insert_cells(lines, count);
        break;
    case 'P':
        lines_delete_cells(lines, count);
        break;
    case 'X':
        lines_erase_cells(lines, count);
        break;
    default: /* b */
        repeat_last(parser, lines, count);
        break;
    }
}

static void plain_csi(struct parser *parser, struct lines *lines, char final)
{
    const struct csi *csi = &parser->csi;
    switch (final) {
    case 'm':
        sgr_apply(&lines->style, csi);
        break;
    case 'n':
        status_report(parser, lines);
        break;
    case 'H':
    case 'f':
        go_to(parser, lines, parameter(csi, 0, 1), parameter(csi, 1, 1));
        break;
    case 'd':
        go_to(parser, lines, parameter(csi, 0, 1), lines->column + 1);
        break;
    case 'r':
        set_region(parser, lines);
        break;
    case 's':
        if (!csi->count) /* otherwise margins, which lines do not have */
            lines_save(lines);
        break;
    case 'u':
        if (!csi->count) {
            parser->away = false;
            lines_restore(lines);
        }
        break;
    default:
        if (strchr("ABCDEFGIZae`", final))
            move(lines, final, (long)parameter(csi, 0, 1));
        else if (strchr("JK@PXb", final))
            change(parser, lines, final);
        break;
    }
}

void parse_csi(struct parser *parser, struct lines *lines, char final)
{
    struct csi *csi = &parser->csi;
    if (csi->intermediate) {
        if (csi->intermediate == '!' && final == 'p') { /* soft reset */
            static const struct block_style none;
            lines->style = none;
            parser->modes = 0;
        }
    } else if (csi->private) {
        if (csi->private == '?' && (final == 'h' || final == 'l'))
            set_modes(parser, final == 'h');
    } else if (parser->away && strchr("ABCDEFGIZae`JK@PXLMSTb", final)) {
        parser->wish = WISH_SCREEN;
    } else {
        plain_csi(parser, lines, final);
    }
}

void parse_escape(struct parser *parser, struct lines *lines, char final)
{
    switch (final) {
    case '7':
        lines_save(lines);
        break;
    case '8':
        parser->away = false;
        lines_restore(lines);
        break;
    case 'D':
        lines_down(lines);
        break;
    case 'E':
        lines_newline(lines);
        break;
    case 'M':
        lines_move_rows(lines, -1);
        break;
    case 'c':
        reset_all(parser, lines);
        break;
    default:
        break;
    }
}
