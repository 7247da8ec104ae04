/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "edit-internal.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

static void free_matches(struct edit_match *matches, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(matches[i].text);
        free(matches[i].type);
    }
    free(matches);
}

void edit_close_popup(struct edit *edit)
{
    struct edit_popup *popup = &edit->popup;
    free_matches(popup->matches, popup->count);
    free(popup->typed);
    *popup = (struct edit_popup){.selected = SIZE_MAX};
}

/* How many bytes all begin with, whole characters. */
static size_t common_size(const struct edit_match *matches, size_t count)
{
    size_t size = strlen(matches[0].text);
    for (size_t i = 1; i < count; i++) {
        size_t same = 0;
        while (same < size && matches[i].text[same] == matches[0].text[same])
            same++;
        size = same;
    }
    while (size && ((unsigned char)matches[0].text[size] & 0xC0) == 0x80)
        size--;
    return size;
}

static void put(struct edit *edit, const char *text, size_t size)
{
    struct edit_popup *popup = &edit->popup;
    edit_change(popup->start, popup->end, text, size);
    popup->end = popup->start + size;
}

static void open_popup(struct edit *edit, const struct edit_match *matches, size_t count)
{
    struct edit_popup *popup = &edit->popup;
    popup->matches = xcalloc(count, sizeof *popup->matches);
    popup->count = count;
    popup->selected = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        popup->matches[i].text = xstrdup(matches[i].text);
        popup->matches[i].type = matches[i].type ? xstrdup(matches[i].type) : NULL;
    }
    popup->typed_size = popup->end - popup->start;
    popup->typed = xmemdup0(rl_line_buffer + popup->start, popup->typed_size);
}

unsigned edit_offer(struct edit *edit, size_t start, size_t end, const struct edit_match *matches,
                    size_t count)
{
    if (!count || !edit->asked_serial || edit->asked_serial != edit->serial || start > end ||
        end > (size_t)rl_end || edit_is_pending(edit))
        return 0;
    edit->asked_serial = 0;
    edit->popup.start = start;
    edit->popup.end = end;
    size_t common = common_size(matches, count), typed = end - start;
    /* What goes on behind the text that stands there; also where only case or quotes differ. */
    bool longer = common > typed || count == 1;
    if (longer)
        put(edit, matches[0].text, count == 1 ? strlen(matches[0].text) : common);
    if (count > 1)
        open_popup(edit, matches, count);
    return EDIT_CHANGED;
}

const struct edit_match *edit_popup(const struct edit *edit, size_t *ret_count,
                                    size_t *ret_selected)
{
    const struct edit_popup *popup = &edit->popup;
    if (!popup->count)
        return NULL;
    *ret_count = popup->count;
    *ret_selected = popup->selected;
    return popup->matches;
}

/* ---- keys ----------------------------------------------------------------------------------- */

/* Through the matches and what was typed, round and round. */
static void select_by(struct edit *edit, int step)
{
    struct edit_popup *popup = &edit->popup;
    size_t places = popup->count + 1, place = popup->selected == SIZE_MAX ? 0 : popup->selected + 1;
    place = (place + (step > 0 ? 1 : places - 1)) % places;
    popup->selected = place ? place - 1 : SIZE_MAX;
    if (place)
        put(edit, popup->matches[place - 1].text, strlen(popup->matches[place - 1].text));
    else
        put(edit, popup->typed, popup->typed_size);
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++) {
        if (strcmp(name, *names) == 0)
            return true;
    }
    return false;
}

/* The text is not the popup's any more: something else changed it. */
static bool is_stale(const struct edit *edit)
{
    const struct edit_popup *popup = &edit->popup;
    return popup->end > (size_t)rl_end || popup->start > popup->end ||
           (size_t)rl_point != popup->end;
}

bool edit_popup_key(struct edit *edit, const struct key *key)
{
    static const char *const next[] = {"Tab", "Down", "C-n", NULL},
                             *const previous[] = {"S-Tab", "Up", "C-p", NULL},
                             *const leave[] = {"Esc", "C-g", NULL};
    struct edit_popup *popup = &edit->popup;
    if (!popup->count)
        return false;
    if (is_stale(edit)) {
        edit_close_popup(edit);
        return false;
    }
    if (is_one_of(key->name, next)) {
        select_by(edit, 1);
    } else if (is_one_of(key->name, previous)) {
        select_by(edit, -1);
    } else if (is_one_of(key->name, leave)) {
        if (popup->selected != SIZE_MAX)
            put(edit, popup->typed, popup->typed_size);
        edit_close_popup(edit);
    } else if (strcmp(key->name, "Enter") == 0 && popup->selected != SIZE_MAX) {
        edit_close_popup(edit);
    } else {
        /* A character narrows the list: edit_popup_narrow(). Anything else takes what is there. */
        if (key->type != KEY_TEXT || popup->selected != SIZE_MAX)
            edit_close_popup(edit);
        edit->reaction |= EDIT_CHANGED;
        return false;
    }
    return true;
}

void edit_popup_narrow(struct edit *edit, const struct key *key)
{
    struct edit_popup *popup = &edit->popup;
    if (!popup->count)
        return;
    size_t point = (size_t)rl_point, kept = 0;
    if (key->type != KEY_TEXT || point < popup->end) {
        edit_close_popup(edit);
        return;
    }
    popup->end = point;
    size_t size = popup->end - popup->start;
    for (size_t i = 0; i < popup->count; i++) {
        struct edit_match *match = &popup->matches[i];
        if (strlen(match->text) > size &&
            strncmp(match->text, rl_line_buffer + popup->start, size) == 0) {
            popup->matches[kept++] = *match;
        } else {
            free(match->text);
            free(match->type);
        }
    }
    popup->count = kept;
    free(popup->typed);
    popup->typed_size = size;
    popup->typed = xmemdup0(rl_line_buffer + popup->start, size);
    if (!kept)
        edit_close_popup(edit);
}
