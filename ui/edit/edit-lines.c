/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "edit-internal.h"

#include <stdlib.h>
#include <string.h>

#include "python-block.h"

/* ---- Enter ---------------------------------------------------------------------------------- */

static void insert_newline(void)
{
    struct strbuf text = STRBUF_INIT, indentation = STRBUF_INIT;
    size_t point = (size_t)rl_point, end = point;
    python_block_indentation(rl_line_buffer, point, &indentation);
    strbuf_addc(&text, '\n');
    strbuf_add(&text, strbuf_text(&indentation), indentation.size);
    while (end < (size_t)rl_end && (rl_line_buffer[end] == ' ' || rl_line_buffer[end] == '\t'))
        end++;
    edit_change(point, end, text.data, text.size);
    strbuf_free(&text);
    strbuf_free(&indentation);
}

/* On the last line that holds something, or behind it. */
static bool is_at_end(void)
{
    size_t end = edit_line_end((size_t)rl_point);
    return edit_is_blank(end, (size_t)rl_end);
}

int edit_cmd_enter(int count, int key)
{
    (void)count;
    (void)key;
    bool ours = !edit_is_multi_line() || is_at_end();
    if (ours && python_block_is_complete(rl_line_buffer, (size_t)rl_end))
        edit_submit(edit_current);
    else
        insert_newline();
    return 0;
}

int edit_cmd_newline(int count, int key)
{
    (void)count;
    (void)key;
    insert_newline();
    return 0;
}

int edit_cmd_submit(int count, int key)
{
    (void)count;
    (void)key;
    edit_submit(edit_current);
    return 0;
}

int edit_cmd_vi_open_below(int count, int key)
{
    (void)count;
    rl_point = (int)edit_line_end((size_t)rl_point);
    insert_newline();
    return rl_vi_insertion_mode(1, key);
}

int edit_cmd_vi_open_above(int count, int key)
{
    (void)count;
    size_t start = edit_line_start((size_t)rl_point), code = start;
    while (code < (size_t)rl_end && (rl_line_buffer[code] == ' ' || rl_line_buffer[code] == '\t'))
        code++;
    struct strbuf text = STRBUF_INIT;
    strbuf_add(&text, rl_line_buffer + start, code - start);
    strbuf_addc(&text, '\n');
    edit_change(start, start, text.data, text.size);
    rl_point = (int)code;
    strbuf_free(&text);
    return rl_vi_insertion_mode(1, key);
}

/* ---- moving --------------------------------------------------------------------------------- */

int edit_cmd_line_start(int count, int key)
{
    (void)count;
    (void)key;
    rl_point = (int)edit_line_start((size_t)rl_point);
    return 0;
}

int edit_cmd_line_end(int count, int key)
{
    (void)count;
    (void)key;
    rl_point = (int)edit_line_end((size_t)rl_point);
    return 0;
}

int edit_cmd_vi_append_line(int count, int key)
{
    rl_point = (int)edit_line_end((size_t)rl_point);
    return rl_vi_insertion_mode(count, key);
}

int edit_cmd_vi_insert_line(int count, int key)
{
    rl_point = (int)edit_line_start((size_t)rl_point);
    return rl_vi_insertion_mode(count, key);
}

/* The rows of the line that a place is in; its rows alone, so a long block costs no more. */
static const struct layout *lay_out(struct edit *edit, size_t place, size_t *ret_start)
{
    size_t start = edit_line_start(place), end = edit_line_end(place);
    layout_make(&edit->layout, rl_line_buffer + start, end - start, place - start, edit->columns,
                start ? edit->next_prompt : edit->first_prompt, edit->next_prompt);
    *ret_start = start;
    return &edit->layout;
}

/* The row above or below. False: there is none in the block. */
static bool move_row(struct edit *edit, int step)
{
    size_t start;
    const struct layout *layout = lay_out(edit, (size_t)rl_point, &start);
    size_t row = layout->cursor_row;
    if (edit->goal < 0 || edit->goal_serial + 1 < edit->serial)
        edit->goal = layout->cursor_column;
    edit->goal_serial = edit->serial;
    if (step < 0 && row == 0) {
        if (!start)
            return false;
        layout = lay_out(edit, start - 1, &start);
        row = layout_row_of(layout, SIZE_MAX);
        /* The cursor's own row behind a full one is no row of text. */
        if (row && layout->rows[row].from == layout->rows[row].to)
            row--;
    } else if (step > 0 && row + 1 >= layout->count) {
        size_t end = edit_line_end((size_t)rl_point);
        if (end == (size_t)rl_end)
            return false;
        layout = lay_out(edit, end + 1, &start);
        row = 0;
    } else {
        row = step < 0 ? row - 1 : row + 1;
    }
    bool last = row + 1 == layout->count;
    rl_point =
        (int)(start + layout_place(&layout->rows[row], rl_line_buffer + start, edit->goal, last));
    return true;
}

static int move_rows(int count, int step, bool history)
{
    if (count < 0) {
        count = -count;
        step = -step;
    }
    while (count-- > 0) {
        if (!move_row(edit_current, step) &&
            (!history || !edit_walk_step(edit_current, -step, true)))
            break;
    }
    return 0;
}

int edit_cmd_up(int count, int key)
{
    (void)key;
    return move_rows(count, -1, true);
}

int edit_cmd_down(int count, int key)
{
    (void)key;
    return move_rows(count, 1, true);
}

int edit_cmd_row_up(int count, int key)
{
    (void)key;
    return move_rows(count, -1, false);
}

int edit_cmd_row_down(int count, int key)
{
    (void)key;
    return move_rows(count, 1, false);
}

/* ---- killing and deleting ------------------------------------------------------------------- */

static void kill_range(size_t from, size_t to)
{
    rl_kill_text((int)from, (int)to);
    rl_point = (int)from;
}

int edit_cmd_kill_line(int count, int key)
{
    if (count < 0)
        return edit_cmd_discard_line(1, key);
    size_t point = (size_t)rl_point, end = edit_line_end(point);
    if (end == point && end < (size_t)rl_end)
        end++;
    kill_range(point, end);
    return 0;
}

int edit_cmd_discard_line(int count, int key)
{
    if (count < 0)
        return edit_cmd_kill_line(1, key);
    size_t point = (size_t)rl_point, start = edit_line_start(point);
    if (start == point && start)
        start--;
    rl_kill_text((int)point, (int)start); /* backward: a second one is put before the first */
    rl_point = (int)start;
    return 0;
}

int edit_cmd_kill_whole_line(int count, int key)
{
    (void)count;
    (void)key;
    size_t start = edit_line_start((size_t)rl_point), end = edit_line_end((size_t)rl_point);
    if (end < (size_t)rl_end)
        end++;
    else if (start)
        start--;
    kill_range(start, end);
    return 0;
}

int edit_cmd_delete(int count, int key)
{
    if (!rl_end) {
        edit_current->reaction |= EDIT_END;
        return 0;
    }
    return rl_point < rl_end || count < 0 ? rl_delete(count, key) : 0;
}

/* In the blanks before a line's code: one level of indentation. */
int edit_cmd_rubout(int count, int key)
{
    size_t point = (size_t)rl_point, start = edit_line_start(point), column = point - start;
    if (!rl_explicit_arg && column > 1 && edit_is_blank(start, point) &&
        !memchr(rl_line_buffer + start, '\t', column)) {
        size_t from = start + (column - 1) / PYTHON_INDENT * PYTHON_INDENT;
        edit_change(from, point, "", 0);
        return 0;
    }
    return rl_rubout(count, key);
}

/* ---- Tab and comments ----------------------------------------------------------------------- */

int edit_cmd_tab(int count, int key)
{
    (void)count;
    (void)key;
    size_t point = (size_t)rl_point, start = edit_line_start(point);
    if (!edit_is_blank(start, point)) {
        edit_current->reaction |= EDIT_COMPLETE;
        edit_current->asked_serial = edit_current->serial;
        return 0;
    }
    edit_change(point, point, "    ", PYTHON_INDENT - (point - start) % PYTHON_INDENT);
    return 0;
}

struct lines {
    size_t from, to;   /* whole lines */
    size_t indent;     /* the least one */
    bool all_comments; /* of those that are not blank */
};

static size_t blanks_at(size_t start, size_t end)
{
    size_t at = start;
    while (at < end && (rl_line_buffer[at] == ' ' || rl_line_buffer[at] == '\t'))
        at++;
    return at - start;
}

static struct lines look_at(size_t from, size_t to)
{
    struct lines lines = {edit_line_start(from), edit_line_end(to), SIZE_MAX, true};
    for (size_t at = lines.from; at <= lines.to; at = edit_line_end(at) + 1) {
        size_t end = edit_line_end(at), blank = blanks_at(at, end);
        if (at + blank == end)
            continue;
        if (blank < lines.indent)
            lines.indent = blank;
        lines.all_comments = lines.all_comments && rl_line_buffer[at + blank] == '#';
    }
    return lines;
}

int edit_cmd_comment(int count, int key)
{
    (void)count;
    (void)key;
    size_t from = edit_current->marked_from, to = edit_current->marked_to;
    if (to > (size_t)rl_end || from > to || from == to)
        from = to = (size_t)rl_point;
    struct lines lines = look_at(from, to);
    if (lines.indent == SIZE_MAX)
        return 0;
    struct strbuf text = STRBUF_INIT;
    for (size_t at = lines.from; at <= lines.to; at = edit_line_end(at) + 1) {
        size_t end = edit_line_end(at), blank = blanks_at(at, end), code = at + blank;
        if (at > lines.from)
            strbuf_addc(&text, '\n');
        bool empty = code == end;
        size_t kept = empty || lines.all_comments ? blank : lines.indent;
        strbuf_add(&text, rl_line_buffer + at, kept);
        at += kept;
        if (!empty && lines.all_comments)
            at += at + 1 < end && rl_line_buffer[at + 1] == ' ' ? 2 : 1;
        else if (!empty)
            strbuf_adds(&text, "# ");
        strbuf_add(&text, rl_line_buffer + at, end - at);
    }
    long shift = (long)text.size - (long)(lines.to - lines.from);
    long point = rl_point + (from == to ? shift : 0);
    edit_change(lines.from, lines.to, strbuf_text(&text), text.size);
    if (from == to)
        rl_point = (int)(point < (long)lines.from ? (long)lines.from : point);
    rl_deactivate_mark();
    strbuf_free(&text);
    return 0;
}
