/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The prompt's editor: a block of Python in the making. GNU readline, by its callback interface, is
 * the edit engine (key bindings, ~/.inputrc, emacs and vi modes, undo, kill ring, macros); history,
 * searching, completion lists, quoted insert and everything about lines of a block are ours. Draws
 * nothing: a front end feeds keys and draws from the state. There is one readline, so there is one
 * edit at a time; sessions keep drafts.
 *
 * Enter submits when the block is complete, as far as that can be told without a kernel; else it
 * begins a new line with Python's indentation.
 */
#ifndef UI_EDIT_H
#define UI_EDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "history.h"
#include "key.h"

enum edit_reaction {
    EDIT_CHANGED = 1 << 0,   /* text, point, message or popup: draw */
    EDIT_SUBMIT = 1 << 1,    /* take the block: edit_take() */
    EDIT_END = 1 << 2,       /* C-d on an empty prompt */
    EDIT_COMPLETE = 1 << 3,  /* Tab: somebody may call edit_offer() */
    EDIT_SIGNATURE = 1 << 4, /* S-Tab */
    EDIT_EXTERNAL = 1 << 5,  /* F2, C-x C-e: edit the text elsewhere */
    EDIT_UNUSED = 1 << 6,    /* the key means nothing here */
    EDIT_SUSPEND = 1 << 7,   /* unused by keys of ours; for ~/.inputrc */
};

struct edit;

/* session: of the history's walk. The history outlives the edit. */
struct edit *edit_new(struct history *history);
void edit_free(struct edit *edit);

/* Type one key. Keys of the application (C-x prefix, PgUp, mouse) are taken out before. */
unsigned edit_key(struct edit *edit, const struct key *key);
/*
 * readline (or a search, or a popup) is in the middle of something that the next key belongs to.
 * When not, a prefix key of the application (C-x) may be taken.
 */
bool edit_is_pending(const struct edit *edit);

const char *edit_text(const struct edit *edit, size_t *ret_size);
size_t edit_point(const struct edit *edit); /* bytes */
/* What is marked: between mark and point, or what a search found. */
bool edit_region(const struct edit *edit, size_t *ret_from, size_t *ret_to);
void edit_set(struct edit *edit, const char *text, size_t size, size_t point); /* drops undo */
void edit_insert(struct edit *edit, const char *text, size_t size);            /* one undo step */
void edit_replace(struct edit *edit, size_t from, size_t to, const char *text, size_t size);
/* The block, which the prompt then no longer has; it is in the history if it is to be. Yours. */
char *edit_take(struct edit *edit, size_t *ret_size);
/* C-c: the text goes to the kill ring, everything pending is dropped. False: it was empty. */
bool edit_cancel(struct edit *edit);
/* Bracketed paste, cleaned: ">>> ", "... ", "In [n]:" prompts off. One undo step; runs nothing. */
void edit_paste(struct edit *edit, const char *text, size_t size);

/*
 * In place of the prompt: "(arg: 2) ", "(reverse-i-search)`x': ", "(vi) " ...; "" when there is
 * none.
 */
const char *edit_message(const struct edit *edit);
enum edit_mode { EDIT_EMACS, EDIT_VI_INSERT, EDIT_VI_COMMAND };
enum edit_mode edit_mode(const struct edit *edit);
void edit_toggle_vi(struct edit *edit);
void edit_set_session(struct edit *edit, const char *session); /* of the history's walk; copied */
void edit_set_width(struct edit *edit, int columns); /* Up and Down move by display rows */
/* The widths of the prompts before the first line and the others, which Up and Down need, too. */
void edit_set_prompts(struct edit *edit, int first, int next);

/* Whether Enter would submit this text. */
bool edit_is_complete(const char *text, size_t size);

/* ---- completion ---- */

struct edit_match {
    char *text; /* replaces start..end */
    char *type; /* "function", "module", "path", "keyword" ...; may be NULL */
};
/*
 * Matches for the text as it was when EDIT_COMPLETE was returned (text and point unchanged since,
 * else they are dropped). One match, or a longer common prefix, is inserted; several make the
 * popup.
 */
unsigned edit_offer(struct edit *edit, size_t start, size_t end, const struct edit_match *matches,
                    size_t count);
/* The popup: NULL when closed. selected: SIZE_MAX none. */
const struct edit_match *edit_popup(const struct edit *edit, size_t *ret_count,
                                    size_t *ret_selected);
void edit_close_popup(struct edit *edit);

#endif
