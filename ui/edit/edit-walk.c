/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "edit-internal.h"

#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

/* ---- the walk ------------------------------------------------------------------------------- */

void edit_walk_end(struct edit *edit)
{
    free(edit->walk.query);
    free(edit->walk.draft);
    edit->walk = (struct edit_walk){.active = false};
}

static bool shows(const char *text, size_t size)
{
    return (size_t)rl_end == size && memcmp(rl_line_buffer, text, size) == 0;
}

/* It goes on as long as what it showed is still there as it was. */
static bool goes_on(const struct edit *edit)
{
    return edit->walk.active && shows(edit->walk.shown, edit->walk.shown_size);
}

static void begin(struct edit *edit, const char *query, size_t size)
{
    char *copy = xmemdup0(query, size);
    edit_walk_end(edit);
    edit->walk.query = copy;
    edit->walk.query_size = size;
    edit->walk.draft = xmemdup0(rl_line_buffer, (size_t)rl_end);
    edit->walk.draft_size = (size_t)rl_end;
    edit->walk.draft_point = (size_t)rl_point;
    edit->walk.n = SIZE_MAX; /* one step older is 0 */
}

static void show(struct edit *edit, size_t n, size_t point)
{
    struct edit_walk *walk = &edit->walk;
    size_t size;
    const char *text = history_at(edit->history, edit->session, n, &size);
    if (!text)
        return;
    walk->active = true;
    walk->n = n;
    walk->shown = text;
    walk->shown_size = size;
    edit_change_all(text, size, point);
}

static void show_draft(struct edit *edit)
{
    edit_change_all(edit->walk.draft, edit->walk.draft_size, edit->walk.draft_point);
    edit_walk_end(edit);
}

/* To older entries the point goes behind the last line, to newer ones behind the first: so Up and Down
 * go through the lines of each. */
static size_t point_for(struct edit *edit, size_t n, int step)
{
    size_t size = 0;
    const char *text = history_at(edit->history, edit->session, n, &size);
    const char *newline = step < 0 && text ? memchr(text, '\n', size) : NULL;
    return newline ? (size_t)(newline - text) : size;
}

static bool find(struct edit *edit, int step, bool prefix, size_t *ret_n)
{
    const struct edit_walk *walk = &edit->walk;
    size_t n = walk->n + (size_t)step, size;
    if (step < 0 && walk->n == 0)
        return false;
    while (history_find(edit->history, edit->session, walk->query, walk->query_size, prefix, step,
                        n, ret_n)) {
        const char *text = history_at(edit->history, edit->session, *ret_n, &size);
        if (!text || !shows(text, size))
            return text != NULL;
        if (step < 0 && *ret_n == 0)
            return false;
        n = *ret_n + (size_t)step; /* what stands there already */
    }
    return false;
}

static bool step_by(struct edit *edit, int step, bool prefix, const char *query, size_t query_size)
{
    size_t n;
    if (!goes_on(edit)) {
        if (step < 0)
            return false;
        begin(edit, query, query_size);
    }
    if (find(edit, step, prefix, &n))
        show(edit, n, point_for(edit, n, step));
    else if (step < 0)
        show_draft(edit);
    else
        return false;
    return true;
}

bool edit_walk_step(struct edit *edit, int step, bool prefix)
{
    return step_by(edit, step, prefix, rl_line_buffer, (size_t)rl_point);
}

void edit_walk_enter(struct edit *edit, size_t n, size_t point)
{
    if (!goes_on(edit))
        begin(edit, "", 0);
    show(edit, n, point);
}

/* ---- commands ------------------------------------------------------------------------------- */

/* Whole entries: also when Up began a walk of those with a beginning. */
static int whole_entries(int count, int step)
{
    struct edit *edit = edit_current;
    if (goes_on(edit))
        edit->walk.query_size = 0;
    while (count-- > 0 && step_by(edit, step, true, "", 0))
        ;
    return 0;
}

int edit_cmd_previous_entry(int count, int key)
{
    (void)key;
    return whole_entries(count, 1);
}

int edit_cmd_next_entry(int count, int key)
{
    (void)key;
    return whole_entries(count, -1);
}

static int searched(int count, int step, bool prefix)
{
    while (count-- > 0 && edit_walk_step(edit_current, step, prefix))
        ;
    return 0;
}

int edit_cmd_prefix_older(int count, int key)
{
    (void)key;
    return searched(count, 1, true);
}

int edit_cmd_prefix_newer(int count, int key)
{
    (void)key;
    return searched(count, -1, true);
}

int edit_cmd_substring_older(int count, int key)
{
    (void)key;
    return searched(count, 1, false);
}

int edit_cmd_substring_newer(int count, int key)
{
    (void)key;
    return searched(count, -1, false);
}

/* The first of this session, and once again: of all. */
int edit_cmd_first_entry(int count, int key)
{
    (void)count;
    (void)key;
    struct edit *edit = edit_current;
    size_t own = history_session_count(edit->history, edit->session),
           all = history_count(edit->history);
    if (!all)
        return 0;
    bool again = !own || (goes_on(edit) && edit->walk.n + 1 >= own);
    size_t n = (again ? all : own) - 1;
    edit_walk_enter(edit, n, point_for(edit, n, 1));
    return 0;
}

int edit_cmd_last_entry(int count, int key)
{
    (void)count;
    (void)key;
    if (goes_on(edit_current))
        show_draft(edit_current);
    else
        rl_point = rl_end;
    return 0;
}

/* Runs what is shown; then the entry after it stands in the prompt. */
int edit_cmd_operate_and_next(int count, int key)
{
    (void)count;
    (void)key;
    struct edit *edit = edit_current;
    edit->has_next = edit->walk.active && edit->walk.n > 0;
    edit->next = edit->walk.n - 1;
    edit_submit(edit);
    return 0;
}

/* ---- words of earlier entries --------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* The nth word, from 0; -1: the last. False: it has no such word. */
static bool word_of(const char *text, size_t size, long nth, size_t *ret_from, size_t *ret_to)
{
    bool any = false;
    size_t at = 0;
    for (long i = 0;; i++) {
        while (at < size && is_blank(text[at]))
            at++;
        if (at == size)
            return any && nth < 0;
        *ret_from = at;
        while (at < size && !is_blank(text[at]))
            at++;
        *ret_to = at;
        any = true;
        if (i == nth)
            return true;
    }
}

/* Again and again: the same word of older entries, in place of the one before. */
static int yank_word(long nth)
{
    struct edit *edit = edit_current;
    size_t size, from = 0, to = 0;
    bool again = edit->yank_serial && edit->yank_serial + 1 == edit->serial &&
                 edit->yank.to <= (size_t)rl_end;
    size_t n = again ? edit->yank.n + 1 : 0;
    const char *text = history_at(edit->history, edit->session, n, &size);
    if (!text || !word_of(text, size, nth, &from, &to))
        return 0;
    if (!again)
        edit->yank.from = edit->yank.to = (size_t)rl_point;
    edit_change(edit->yank.from, edit->yank.to, text + from, to - from);
    edit->yank.n = n;
    edit->yank.to = edit->yank.from + (to - from);
    edit->yank_serial = edit->serial;
    return 0;
}

int edit_cmd_yank_last(int count, int key)
{
    (void)key;
    return yank_word(rl_explicit_arg ? count : -1);
}

int edit_cmd_yank_nth(int count, int key)
{
    (void)key;
    return yank_word(rl_explicit_arg ? count : 1);
}
