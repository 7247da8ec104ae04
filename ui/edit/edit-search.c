/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Incremental search. While it is open what it found is shown instead of the text, and keys do not
 * reach readline; the text itself changes when an entry is accepted.
 */
#include "config.h"

#include "edit-internal.h"

#include <stdlib.h>
#include <string.h>

#include "utf8.h"

static void say(struct edit *edit)
{
    const struct edit_search *search = &edit->search;
    strbuf_clear(&edit->message);
    strbuf_addf(&edit->message, "(%s%s)`", search->failed ? "failed " : "",
                search->step > 0 ? "reverse-i-search" : "i-search");
    for (size_t i = 0; i < search->query.size; i++) {
        char c = search->query.data[i];
        strbuf_addc(&edit->message, c == '\n' || c == '\t' ? ' ' : c);
    }
    strbuf_adds(&edit->message, "': ");
}

/* From the entry n on, in the direction of the search. */
static void find_from(struct edit *edit, size_t n)
{
    struct edit_search *search = &edit->search;
    const char *query = strbuf_text(&search->query);
    size_t found, size = search->query.size;
    search->failed = false;
    if (!size) {
        search->shown = NULL;
    } else if (history_find(edit->history, edit->session, query, size, false, search->step, n,
                            &found)) {
        search->n = found;
        search->shown = history_at(edit->history, edit->session, found, &search->shown_size);
        const char *match = memmem(search->shown, search->shown_size, query, size);
        search->match = (size_t)(match - search->shown);
    } else {
        search->failed = true;
        /* What was found for a shorter query stays, if it still fits. */
        if (search->shown && !memmem(search->shown, search->shown_size, query, size))
            search->shown = NULL;
    }
    say(edit);
}

static size_t origin(const struct edit *edit)
{
    const struct edit_search *search = &edit->search;
    if (search->shown)
        return search->n;
    if (edit->walk.active)
        return edit->walk.n;
    return search->step > 0 ? 0 : SIZE_MAX;
}

static int open_search(int step)
{
    struct edit *edit = edit_current;
    struct edit_search *search = &edit->search;
    search->active = true;
    search->failed = false;
    search->step = step;
    search->shown = NULL;
    strbuf_clear(&search->query);
    say(edit);
    return 0;
}

int edit_cmd_search_older(int count, int key)
{
    (void)count;
    (void)key;
    return open_search(1);
}

int edit_cmd_search_newer(int count, int key)
{
    (void)count;
    (void)key;
    return open_search(-1);
}

void edit_search_end(struct edit *edit)
{
    struct edit_search *search = &edit->search;
    if (!search->active)
        return;
    search->active = false;
    search->shown = NULL;
    if (search->query.size) {
        strbuf_clear(&search->last_query);
        strbuf_add(&search->last_query, search->query.data, search->query.size);
    }
}

static void accept_found(struct edit *edit)
{
    struct edit_search *search = &edit->search;
    bool found = search->shown != NULL;
    size_t n = search->n, match = search->match;
    edit_search_end(edit);
    if (found)
        edit_walk_enter(edit, n, match);
}

/* The same key again, or the other direction. */
static void search_on(struct edit *edit, int step)
{
    struct edit_search *search = &edit->search;
    bool turned = search->step != step;
    search->step = step;
    if (!search->query.size && search->last_query.size) {
        strbuf_add(&search->query, search->last_query.data, search->last_query.size);
        find_from(edit, origin(edit));
        return;
    }
    size_t from = origin(edit);
    if (search->failed && !turned && step > 0 && !search->shown)
        from = 0;
    else if (search->shown)
        from = from + (size_t)step; /* below 0: nothing is found there */
    find_from(edit, from);
}

int edit_cmd_search_again(int count, int key)
{
    (void)count;
    struct edit *edit = edit_current;
    open_search(key == 'N' ? -1 : 1);
    if (edit->search.last_query.size) {
        strbuf_add(&edit->search.query, edit->search.last_query.data, edit->search.last_query.size);
        size_t from = edit->walk.active       ? edit->walk.n + (size_t)edit->search.step
                      : edit->search.step > 0 ? 0
                                              : SIZE_MAX;
        find_from(edit, from);
    }
    accept_found(edit);
    return 0;
}

void edit_search_add(struct edit *edit, const char *text, size_t size)
{
    strbuf_add(&edit->search.query, text, size);
    find_from(edit, origin(edit));
}

static void remove_character(struct edit *edit)
{
    struct strbuf *query = &edit->search.query;
    if (!query->size)
        return;
    while (query->size > 1 && ((unsigned char)query->data[query->size - 1] & 0xC0) == 0x80)
        query->size--;
    query->data[--query->size] = '\0';
    edit->search.shown = NULL;
    find_from(edit, origin(edit));
}

static bool is(const struct key *key, const char *name)
{
    return strcmp(key->name, name) == 0;
}

bool edit_search_key(struct edit *edit, const struct key *key)
{
    if (!edit->search.active)
        return false;
    if (key->type == KEY_TEXT || is(key, "Space"))
        edit_search_add(edit, key->raw, key->raw_size);
    else if (is(key, "C-r") || is(key, "Up"))
        search_on(edit, 1);
    else if (is(key, "C-s") || is(key, "Down"))
        search_on(edit, -1);
    else if (is(key, "Backspace") || is(key, "C-h"))
        remove_character(edit);
    else if (is(key, "C-g"))
        edit_search_end(edit);
    else if (is(key, "Esc"))
        accept_found(edit);
    else {
        accept_found(edit);
        return false; /* the key then does what it does with the entry */
    }
    return true;
}
