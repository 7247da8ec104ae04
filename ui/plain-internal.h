/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What plain*.c share.
 */
#ifndef UI_PLAIN_INTERNAL_H
#define UI_PLAIN_INTERNAL_H

#include "command.h"
#include "edit.h"
#include "plain-modes.h"
#include "plain.h"
#include "pylex.h"
#include "xalloc.h"

struct plain {
    struct hermes_engine *engine;
    struct repl *repl;
    struct repl_options *options;

    /* A terminal on standard input and output. */
    struct edit *edit;
    struct keys *keys;
    struct plain_modes modes;
    bool dumb;        /* the cursor cannot go up */
    bool drawn;       /* the prompt is on the screen */
    bool dirty;       /* it shows something old, or stands no more */
    bool at_start;    /* the cursor stands in column 0 (while the prompt is not drawn) */
    size_t dumb_line; /* the line of the block that a dumb terminal shows */
    char *message;    /* what readline asks for in place of the prompt; NULL: nothing */
    struct strbuf sequence, sequence_raw; /* keys of ours that have begun: names, bytes */
    bool in_paste, mark_begins;           /* the bytes that come are pasted */
    size_t mark_at;
    struct strbuf held;             /* typed while a cell ran that did not read */
    int64_t pass_after_ms;          /* after an interrupt: when the cell gets keys again; 0: now */
    bool doubt, question;           /* yes or no, or an approval, is asked for */
    uint64_t completion, signature; /* requests */
    bool hinted, paste_on, was_busy;
    int64_t escape_ms; /* when a lone escape is a key; 0: there is none */

    /* Without: blocks from standard input. */
    struct strbuf input, block;
    struct pylex lex; /* of the block so far */
    bool input_over, prompts, has_suite;

    int exit_status; /* -1: go on */
    bool last_failed;
    struct repl_session *front;
};

/* ---- plain.c ---- */

extern const struct repl_front plain_front;
bool plain_is_busy(const struct plain *plain); /* the session in front has something to do */
/* False: it was said why. */
bool plain_enter(struct plain *plain, const char *text, size_t size);
void plain_run_line(struct plain *plain, const char *line);

/* ---- plain-screen.c: what is written ---- */

void plain_write(struct plain *plain, int stream, const char *data, size_t size);
/* Lines of ours, each in its own. */
void plain_print(struct plain *plain, const char *text, size_t size);
void plain_say(struct plain *plain, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Before other output: the prompt goes; it comes back by plain_draw(). */
void plain_hide(struct plain *plain);
void plain_draw(struct plain *plain);
/* The block was entered, or thrown away: what stands there stays. */
void plain_leave_prompt(struct plain *plain, const char *mark);
void plain_clear_screen(struct plain *plain);
void plain_paste_mode(struct plain *plain, bool on);
void plain_resized(struct plain *plain);
void plain_screen_open(struct plain *plain);
void plain_follow_front(struct plain *plain);

/* ---- plain-keys.c: what is typed ---- */

void plain_keys_take(struct plain *plain, const char *data, size_t size);
void plain_keys_late(struct plain *plain);
/* The session's cells are done: what was typed meanwhile is for the prompt. */
void plain_keys_release(struct plain *plain);
/* It reads: what was typed meanwhile is for it. */
void plain_keys_pass(struct plain *plain);
void plain_keys_free(struct plain *plain);

/* ---- plain-complete.c ---- */

void plain_complete(struct plain *plain);
void plain_signature(struct plain *plain);
void plain_answer(struct plain *plain, uint64_t request, const char *json);

/* ---- plain-commands.c: commands that are the front end's ---- */

bool plain_command(struct plain *plain, struct repl_session *session, const char *name,
                   const char *arguments);

/* ---- plain-pipe.c ---- */

int plain_pipe_run(struct plain *plain);

#endif
