/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the editor share. Commands are called by readline, which knows no context: they
 * act on edit_current. Each edit-*.c but edit.c adds one kind of command or key.
 */
#ifndef UI_EDIT_INTERNAL_H
#define UI_EDIT_INTERNAL_H

#include <stdio.h>

#include <readline/readline.h>

#include "edit.h"
#include "layout.h"
#include "strbuf.h"

/* Going through the history. The text that stood before comes back behind the newest entry. */
struct edit_walk {
    bool active;
    size_t n; /* the entry shown */
    char *query;
    size_t query_size;
    char *draft;
    size_t draft_size, draft_point;
    const char *shown; /* the history's */
    size_t shown_size;
};

struct edit_search {
    bool active, failed, found;
    int step; /* 1: to older ones */
    struct strbuf query, last_query;
    size_t n;
    const char *shown; /* the history's; NULL: nothing found yet */
    size_t shown_size, match;
};

struct edit_popup {
    struct edit_match *matches;
    size_t count, selected;
    size_t start, end; /* of what stands in the text */
    char *typed;       /* what stood there before one was selected */
    size_t typed_size;
};

struct edit_recorded {
    struct key key;
    char raw[32];
};

struct edit_macro {
    struct edit_recorded *keys;
    size_t count, capacity;
    size_t settled; /* the keys before: nothing was pending behind them */
    bool recording, playing;
    int times; /* to be played */
};

struct edit {
    struct history *history;
    char *session;
    int columns, first_prompt, next_prompt;
    unsigned reaction;      /* to the present key */
    struct strbuf sequence; /* bytes of the keys that begin a sequence of keys */
    struct strbuf queue;    /* bytes that readline has not read yet */
    size_t queue_at;
    unsigned long serial, asked_serial;     /* of keys: whether an offer comes too late */
    size_t marked_from, marked_to;          /* before the key, which may take the mark away */
    bool quoted;                            /* the next key is inserted as it is */
    bool awaits;                            /* a command of vi mode waits for a character */
    char vi_operator;                       /* d, c or y waits for a motion */
    int goal;                               /* the column that Up and Down keep; -1: none */
    unsigned long goal_serial, yank_serial; /* of the key that used it last */
    struct edit_walk walk;
    struct edit_search search;
    struct edit_popup popup;
    struct edit_macro macro;
    struct layout layout; /* of the line that Up or Down begins in */
    char *submitted;      /* taken from the line within a macro, which goes on */
    size_t submitted_size;
    bool has_next; /* operate-and-get-next: the entry to be shown then */
    size_t next;
    struct {
        size_t n, from, to;
    } yank; /* of M-. */
    struct strbuf message;
};

extern struct edit *edit_current;

/* ---- edit.c: the line ---- */

size_t edit_line_start(size_t place);
size_t edit_line_end(size_t place); /* at its \n, or the end of the text */
bool edit_is_blank(size_t from, size_t to);
bool edit_is_multi_line(void);
/* One undo step. The point goes behind what was inserted. */
void edit_change(size_t from, size_t to, const char *text, size_t size);
/* The whole text; point is of the new one. */
void edit_change_all(const char *text, size_t size, size_t point);
/* readline waits for more of something. */
bool edit_readline_waits(void);
/* Drop what readline waits for. */
void edit_settle(struct edit *edit);
void edit_read_bytes(struct edit *edit, const char *bytes, size_t size);
/* The block goes as it is. */
void edit_submit(struct edit *edit);

/* ---- edit-keys.c: bindings ---- */

/* Before and after ~/.inputrc is read. */
void edit_bind_defaults(void);
void edit_rebind(void);
enum edit_binding { EDIT_UNBOUND, EDIT_PREFIX, EDIT_BOUND };
/* What the present keymap has for these bytes. */
enum edit_binding edit_binding_of(const char *bytes, size_t size);

/* ---- edit-lines.c: commands about lines ---- */

int edit_cmd_enter(int count, int key);
int edit_cmd_newline(int count, int key);
int edit_cmd_submit(int count, int key);
int edit_cmd_line_start(int count, int key);
int edit_cmd_line_end(int count, int key);
int edit_cmd_up(int count, int key);
int edit_cmd_down(int count, int key);
int edit_cmd_row_up(int count, int key);
int edit_cmd_row_down(int count, int key);
int edit_cmd_kill_line(int count, int key);
int edit_cmd_discard_line(int count, int key);
int edit_cmd_kill_whole_line(int count, int key);
int edit_cmd_delete(int count, int key);
int edit_cmd_rubout(int count, int key);
int edit_cmd_tab(int count, int key);
int edit_cmd_comment(int count, int key);
int edit_cmd_vi_append_line(int count, int key);
int edit_cmd_vi_insert_line(int count, int key);
int edit_cmd_vi_open_below(int count, int key);
int edit_cmd_vi_open_above(int count, int key);

/* ---- edit-walk.c: commands about the history ---- */

int edit_cmd_previous_entry(int count, int key);
int edit_cmd_next_entry(int count, int key);
int edit_cmd_prefix_older(int count, int key);
int edit_cmd_prefix_newer(int count, int key);
int edit_cmd_substring_older(int count, int key);
int edit_cmd_substring_newer(int count, int key);
int edit_cmd_first_entry(int count, int key);
int edit_cmd_last_entry(int count, int key);
int edit_cmd_operate_and_next(int count, int key);
int edit_cmd_yank_last(int count, int key);
int edit_cmd_yank_nth(int count, int key);
/* Step by step; Up and Down at the text's edge. False: there is none. */
bool edit_walk_step(struct edit *edit, int step, bool prefix);
/* An entry is shown that was found otherwise. */
void edit_walk_enter(struct edit *edit, size_t n, size_t point);
void edit_walk_end(struct edit *edit);

/* ---- edit-search.c ---- */

int edit_cmd_search_older(int count, int key);
int edit_cmd_search_newer(int count, int key);
int edit_cmd_search_again(int count, int key);
/* True: the key belonged to the search. */
bool edit_search_key(struct edit *edit, const struct key *key);
void edit_search_add(struct edit *edit, const char *text, size_t size);
void edit_search_end(struct edit *edit);

/* ---- edit-complete.c ---- */

bool edit_popup_key(struct edit *edit, const struct key *key);
/* A key went through readline while the popup was open. */
void edit_popup_narrow(struct edit *edit, const struct key *key);

/* ---- edit-macro.c ---- */

int edit_cmd_macro_start(int count, int key);
int edit_cmd_macro_end(int count, int key);
int edit_cmd_macro_call(int count, int key);
void edit_macro_record(struct edit *edit, const struct key *key);
void edit_macro_play(struct edit *edit);

#endif
