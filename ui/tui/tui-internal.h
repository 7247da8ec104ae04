/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the full-screen front end share: its one struct, and who does what. Only they
 * include this.
 */
#ifndef UI_TUI_INTERNAL_H
#define UI_TUI_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "command.h"
#include "complete-kept.h"
#include "edit.h"
#include "graphics.h"
#include "key.h"
#include "layout.h"
#include "repl.h"
#include "screen.h"
#include "strbuf.h"
#include "theme.h"
#include "transcript.h"

#define TUI_FRAME_MS 32     /* between two draws that nobody waits for */
#define TUI_FRAME_LATE_MS 4 /* so long a draw waits for output that is read at the frame's end */
#define TUI_READ_S "0.034"  /* the engine's output_interval: in time for the next draw */
#define TUI_HOLD_MS 150     /* see tui.held_ms */
#define TUI_HOLD_STEP_MS 10
#define TUI_COLUMNS_MIN 40
#define TUI_ROWS_MIN 10
#define TUI_INDENT 5 /* of a cell's output; its terminal is narrower by it */

enum tui_focus {
    FOCUS_PROMPT,
    FOCUS_BROWSE,
    FOCUS_READER,  /* a text over the transcript */
    FOCUS_PICKER,  /* history over the transcript */
    FOCUS_PICTURE, /* a picture on the whole screen */
};

enum tui_damage {
    DAMAGE_TABS = 1 << 0,
    DAMAGE_TRANSCRIPT = 1 << 1,
    DAMAGE_PROMPT = 1 << 2,
    DAMAGE_STATUS = 1 << 3,
    DAMAGE_ALL = 15,
};

/* Rows of the screen; a count of 0: not there. */
struct tui_layout {
    bool small; /* nothing fits */
    int rows, columns;
    int transcript_row, transcript_rows;
    int bar_row, bar_rows; /* questions, remarks, signature */
    int prompt_row, prompt_rows;
    int status_row;
};

/* A text that is read in place of the transcript. */
struct tui_reader {
    char *title, *text;
    size_t size;
    size_t *lines; /* where each line begins; one more at the end */
    size_t line_count, top;
    int columns; /* for which the lines were made */
};

struct tui_picker {
    struct strbuf filter;
    size_t *found; /* places in the history's walk */
    size_t found_count, found_capacity;
    size_t chosen, top;
    bool *marked; /* by place in the walk */
    size_t marked_size;
};

/* A picture on the whole screen. */
struct tui_picture {
    uint64_t id; /* for graphics */
    void *png;
    size_t size;
    uint64_t width, height; /* pixels of the file */
    bool browses;           /* the way back leads to browse mode */
    char *title;
    int columns, rows; /* of the screen; pixels: two a cell */
    uint32_t *pixels;
};

/* Looking for text in the transcript; also the line that ":" begins in browse mode. */
struct tui_search {
    bool typing;
    char kind;                    /* '/', '?' or ':' */
    struct strbuf line;           /* what is typed */
    struct strbuf text;           /* what was searched for last; its matches are shown */
    struct repl_session *session; /* where the last match is; NULL: there is none */
    size_t item, line_at;
};

/* Another program has the terminal. */
struct tui_child {
    pid_t pid;  /* 0: none */
    char *path; /* of the file it was given */
    bool edits; /* what is in the file becomes the prompt's text */
};

struct tui {
    struct hermes_engine *engine;
    struct settings *settings;
    struct repl *repl;
    struct edit *edit;
    struct keys *keys;
    const struct keymap *keymap;
    struct screen *screen;
    struct graphics *graphics;
    size_t items_seen;                 /* of all sessions: fewer, and pictures have gone */
    enum theme_kind background, theme; /* as the terminal has it; as it is drawn */
    uint32_t background_rgb;           /* it shines through pictures */
    struct tui_layout layout;
    enum tui_focus focus;
    unsigned damage; /* enum tui_damage */
    bool draw_now;   /* somebody waits for the next draw */
    int64_t drawn_ms;
    int64_t tick_ms; /* when times on the screen are old; 0: never */

    struct repl_session *front; /* whose text the prompt holds */
    size_t front_serial;        /* its; another may come to lie in its place */
    char sequence[96];          /* keys of a command that has begun: "C-x" */
    int64_t escape_ms;          /* when what the keyboard has begun is over; 0: nothing is begun */
    int64_t typed_ms;           /* the last key of text; 0: a command came after it */
    bool mouse;

    char *message;  /* one line, until the next key */
    char *question; /* yes or no */
    bool question_asked_by_key;
    char *signature;
    uint64_t completion, inspection; /* requests that wait */
    struct kept_answers kept;        /* to completion */
    bool wants_all; /* the inspection is for the reader, not for the line above the prompt */
    bool to_cell;   /* keys go to the running cell's terminal */
    uint64_t to_cell_given; /* the cell that a person has given the keys, whether it reads or not */
    uint64_t to_cell_refused; /* the cell for which a person has taken the keys back */

    struct layout prompt; /* rows of its text */
    int prompt_top;       /* first row of the prompt's text that is shown */
    int cursor_row, cursor_column;
    bool popup_shown;
    bool prompt_is_new; /* a cell is over: write the prompt again, whatever is on the glass */
    int64_t
        held_ms; /* a line went to a cell: until then keys wait to see who reads the next; 0: no */
    bool cell_has_screen; /* as it was when input_update() looked */
    bool in_key;          /* what happens now, a key has done */
    char *stash; /* what the prompt held when a cell of a document came into it; NULL: nothing */
    size_t stash_size;
    const struct repl_session *stash_of;

    struct tui_reader reader;
    struct tui_picker picker;
    struct tui_picture picture;
    struct tui_search search;
    struct tui_child child;
    pid_t clipboard; /* puts text into tmux's; 0: none */
    bool quit;
    int deadly; /* a signal that ends the program */
};

/* ---- tui.c ---- */
int64_t tui_now_ms(void);
enum theme_kind tui_wanted_theme(const struct tui *tui);
struct block_style tui_style(const struct tui *tui, enum theme_role role);
void tui_damage(struct tui *tui, unsigned damage); /* and somebody waits */
void tui_say(struct tui *tui, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* After anything that may have changed which session is in front. */
void tui_follow_front(struct tui *tui);
void tui_suspend(struct tui *tui);

/* ---- tui-draw.c ---- */
void tui_layout(struct tui *tui);
void tui_draw(struct tui *tui);
void tui_resize(struct tui *tui);

/* ---- tui-front.c: what ui/repl tells ---- */
extern const struct repl_front tui_front;

/* ---- tui-keys.c ---- */
void tui_key(struct tui *tui, const struct key *key);
/* What the editor's reaction to a key asks for. */
void tui_react(struct tui *tui, unsigned reaction);
void tui_run_line(struct tui *tui, const char *line);

/* ---- document.c: the tab of a file ---- */
void tui_document_opened(struct tui *tui);
/* Before a command: which cell it is about. Yours, the line with what it needs. */
char *tui_document_line(struct tui *tui, char *line);
/* Items were changed: look at the chosen cell. */
void tui_document_follow(struct tui *tui);
/* A cell's source comes into the prompt; what was there waits. */
void tui_document_edit(struct tui *tui, const char *text, size_t size);
/* The cell is not edited any longer: what waited is back. */
void tui_document_edited(struct tui *tui);
/* "cell 3: " in place of the prompt; NULL: no cell is edited. Yours. */
char *tui_document_label(const struct tui *tui);
/* "a.ipynb* 3/12" for the status line; "" without a document. */
void tui_document_status(const struct tui *tui, char *out, size_t size);

/* ---- tui-commands.c: the commands that are the front end's ---- */
bool tui_command(struct tui *tui, struct repl_session *session, const char *name,
                 const char *arguments);

/* ---- tabs.c, status.c, bars.c ---- */
void tui_tabs_draw(struct tui *tui);
struct repl_session *tui_tab_at(struct tui *tui, int column);
void tui_status_draw(struct tui *tui);
int tui_bars_count(const struct tui *tui);
void tui_bars_draw(struct tui *tui);
/* Whether the key was an answer to a question. */
bool tui_bars_key(struct tui *tui, const struct key *key);

/* ---- prompt.c, popup.c ---- */
int tui_prompt_rows(struct tui *tui, int rows_max);
void tui_prompt_draw(struct tui *tui);
void tui_popup_draw(struct tui *tui);

/* ---- complete.c ---- */
void tui_complete(struct tui *tui);
void tui_ask_signature(struct tui *tui);
/* Whether the answer was to one of these. */
bool tui_take_answer(struct tui *tui, uint64_t request, const char *json);

/* ---- transcript-draw.c ---- */
void tui_transcript_draw(struct tui *tui);

/* ---- browse.c, browse-search.c, browse-copy.c ---- */
void tui_browse_enter(struct tui *tui);
void tui_browse_leave(struct tui *tui);
bool tui_browse_command(struct tui *tui, const char *name, const char *arguments);
void tui_browse_scroll(struct tui *tui, int rows);
void tui_browse_click(struct tui *tui, int row);
void tui_browse_show(struct tui *tui, size_t item); /* its first row */
void tui_browse_goto(struct tui *tui, unsigned long number);
void tui_search_begin(struct tui *tui, char kind);
void tui_search_set(struct tui *tui, const char *text, bool backward);
void tui_search_key(struct tui *tui, const struct key *key);
void tui_search_again(struct tui *tui, bool backward);
void tui_copy(struct tui *tui, const char *what, const char *text, size_t size);

/* ---- reader.c, picker.c ---- */
void tui_reader_open(struct tui *tui, const char *title, const char *text, size_t size);
void tui_reader_close(struct tui *tui);
void tui_reader_free(struct tui *tui);
void tui_reader_draw(struct tui *tui);
/* False: the key closes the reader and means what it means elsewhere. */
bool tui_reader_key(struct tui *tui, const struct key *key);
void tui_picker_open(struct tui *tui);
void tui_picker_close(struct tui *tui);
void tui_picker_free(struct tui *tui);
void tui_picker_draw(struct tui *tui);
void tui_picker_key(struct tui *tui, const struct key *key);

/* ---- picture.c ---- */
/* For pictures that come from now on. */
void tui_set_background(struct tui *tui, uint32_t rgb);
/* Take back from the terminal what no cell shows any more. */
void tui_pictures_sweep(struct tui *tui);
void tui_picture_open(struct tui *tui); /* the last one */
void tui_picture_close(struct tui *tui);
void tui_picture_free(struct tui *tui);
void tui_picture_draw(struct tui *tui);

/* ---- external.c: editor and pager ---- */
void tui_edit_outside(struct tui *tui);
void tui_page(struct tui *tui, const char *text, size_t size);
bool tui_page_file(struct tui *tui, const char *path); /* false: it cannot be read */
/* A child has ended, or true: was stopped. */
bool tui_child_changed(struct tui *tui);
void tui_child_end(struct tui *tui); /* the program is left */

/* ---- input.c: keys for the running cell ---- */
bool tui_input_wanted(const struct tui *tui);
void tui_input_offer(struct tui *tui);
void tui_input_update(struct tui *tui);
bool tui_input_key(struct tui *tui, const struct key *key);
void tui_input_paste(struct tui *tui, const struct key *key);
/* Whether keys need not wait any longer. */
bool tui_input_ready(struct tui *tui);
void tui_input_toggle(struct tui *tui);

#endif
