/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "edit-internal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "python-block.h"
#include "xalloc.h"

struct edit *edit_current;

/* ---- readline ------------------------------------------------------------------------------- */

static int bytes_wait(void)
{
    return edit_current && edit_current->queue_at < edit_current->queue.size;
}

/* Never the end of input, which would end the line. C-g ends whatever asks for a byte too many. */
static int next_byte(FILE *stream)
{
    (void)stream;
    if (!bytes_wait())
        return 'G' & 31;
    return (unsigned char)edit_current->queue.data[edit_current->queue_at++];
}

static void drawn_elsewhere(void)
{
}

/* Our own Enter never comes here; a command that ends the line by itself does. */
static void line_ended(char *line)
{
    struct edit *edit = edit_current;
    if (!line) {
        edit->reaction |= EDIT_END;
        return;
    }
    free(edit->submitted);
    edit->submitted_size = strlen(line);
    edit->submitted = xmemdup0(line, edit->submitted_size);
    edit->reaction |= EDIT_SUBMIT;
    free(line);
}

/*
 * The text is UTF-8 in any case, and readline goes by the locale. It sets that to the environment's
 * each time when it begins a line, so this is looked at again before each key.
 */
static void need_utf8(void)
{
    if (strcmp(nl_langinfo(CODESET), "UTF-8") == 0)
        return;
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        setlocale(LC_CTYPE, "en_US.UTF-8");
}

static void begin_line(void)
{
    rl_callback_handler_install("", line_ended);
    need_utf8();
}

static void start_readline(void)
{
    static bool started;
    if (started)
        return;
    started = true;
    rl_readline_name = "hermes-repl";
    rl_catch_signals = rl_catch_sigwinch = rl_change_environment = 0;
    rl_prep_term_function = NULL;
    rl_deprep_term_function = NULL;
    rl_instream = stdin;
    rl_outstream = fopen("/dev/null", "we");
    rl_getc_function = next_byte;
    rl_input_available_hook = bytes_wait;
    rl_redisplay_function = drawn_elsewhere;
    edit_bind_defaults();
    rl_initialize();
    /* What would write to the terminal, or wait. */
    static const char *const settings[][2] = {
        {"bell-style", "none"},         {"enable-bracketed-paste", "off"},
        {"show-mode-in-prompt", "off"}, {"blink-matching-paren", "off"},
        {"convert-meta", "off"},        {"input-meta", "on"},
        {"mark-modified-lines", "off"},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        rl_variable_bind(settings[i][0], settings[i][1]);
    edit_rebind();
}

struct edit *edit_new(struct history *history)
{
    struct edit *edit = xcalloc(1, sizeof *edit);
    edit->history = history;
    edit->session = xstrdup("");
    edit->columns = 80;
    edit->goal = -1;
    edit->popup.selected = SIZE_MAX;
    edit_current = edit;
    start_readline();
    begin_line();
    rl_replace_line("", 1);
    return edit;
}

void edit_free(struct edit *edit)
{
    if (!edit)
        return;
    edit_cancel(edit);
    rl_callback_handler_remove();
    edit_close_popup(edit);
    edit_walk_end(edit);
    layout_free(&edit->layout);
    strbuf_free(&edit->sequence);
    strbuf_free(&edit->queue);
    strbuf_free(&edit->search.query);
    strbuf_free(&edit->search.last_query);
    strbuf_free(&edit->message);
    free(edit->macro.keys);
    free(edit->submitted);
    free(edit->session);
    if (edit_current == edit)
        edit_current = NULL;
    free(edit);
}

/* ---- the line ------------------------------------------------------------------------------- */

size_t edit_line_start(size_t place)
{
    const char *newline = place ? memrchr(rl_line_buffer, '\n', place) : NULL;
    return newline ? (size_t)(newline - rl_line_buffer) + 1 : 0;
}

size_t edit_line_end(size_t place)
{
    const char *newline = memchr(rl_line_buffer + place, '\n', (size_t)rl_end - place);
    return newline ? (size_t)(newline - rl_line_buffer) : (size_t)rl_end;
}

bool edit_is_blank(size_t from, size_t to)
{
    for (; from < to; from++) {
        if (!strchr(" \t\n", rl_line_buffer[from]))
            return false;
    }
    return true;
}

bool edit_is_multi_line(void)
{
    return memchr(rl_line_buffer, '\n', (size_t)rl_end) != NULL;
}

/* readline's strings end at a NUL, and its word motions never end at one. */
static char *without_nul(const char *text, size_t size)
{
    char *copy = xmemdup0(text, size);
    for (char *nul = copy; (nul = memchr(nul, '\0', size - (size_t)(nul - copy)));)
        *nul = ' ';
    return copy;
}

void edit_change(size_t from, size_t to, const char *text, size_t size)
{
    char *copy = without_nul(text, size);
    rl_begin_undo_group();
    if (to > from)
        rl_delete_text((int)from, (int)to);
    rl_point = (int)from;
    if (size) {
        rl_extend_line_buffer(rl_end + (int)size + 1); /* at once, not in small steps */
        rl_insert_text(copy);
    }
    rl_end_undo_group();
    if (rl_mark > rl_end)
        rl_mark = rl_end;
    free(copy);
}

void edit_change_all(const char *text, size_t size, size_t point)
{
    edit_change(0, (size_t)rl_end, text, size);
    rl_point = point < (size_t)rl_end ? (int)point : rl_end;
    rl_deactivate_mark();
}

static void clear_line(void)
{
    rl_replace_line("", 1);
    rl_point = rl_end = rl_mark = 0;
    rl_deactivate_mark();
    if (edit_mode(edit_current) == EDIT_VI_COMMAND)
        rl_vi_insertion_mode(1, 'i');
    edit_current->goal = -1;
}

void edit_submit(struct edit *edit)
{
    edit->reaction |= EDIT_SUBMIT;
    if (!rl_executing_macro)
        return;
    free(edit->submitted);
    edit->submitted_size = (size_t)rl_end;
    edit->submitted = xmemdup0(rl_line_buffer, (size_t)rl_end);
    clear_line();
}

/* ---- keys ----------------------------------------------------------------------------------- */

bool edit_readline_waits(void)
{
    return RL_ISSTATE(RL_STATE_MULTIKEY | RL_STATE_NUMERICARG | RL_STATE_VIMOTION |
                      RL_STATE_CHARSEARCH | RL_STATE_ISEARCH | RL_STATE_NSEARCH |
                      RL_STATE_METANEXT) != 0;
}

void edit_read_bytes(struct edit *edit, const char *bytes, size_t size)
{
    strbuf_clear(&edit->queue);
    edit->queue_at = 0;
    strbuf_add(&edit->queue, bytes, size);
    need_utf8();
    while (bytes_wait())
        rl_callback_read_char();
    for (char *nul; (nul = memchr(rl_line_buffer, '\0', (size_t)rl_end));)
        *nul = ' ';
    if (rl_point > rl_end)
        rl_point = rl_end;
    if (rl_point < 0)
        rl_point = 0;
    edit->reaction |= EDIT_CHANGED;
}

void edit_settle(struct edit *edit)
{
    strbuf_clear(&edit->sequence);
    if (edit->awaits) /* where C-g is a character like others */
        edit_read_bytes(edit, "\033", 1);
    else if (edit_readline_waits())
        edit_read_bytes(edit, "\a", 1);
    if (edit_readline_waits())
        rl_callback_sigcleanup();
    edit->quoted = edit->awaits = false;
    edit->vi_operator = '\0';
}

/* Keys that are ours under each keymap. */
static bool own_key(struct edit *edit, const struct key *key)
{
    static const char *const submit[] = {"S-Enter",   "C-Enter",   "C-S-Enter",
                                         "C-M-Enter", "M-S-Enter", "C-M-S-Enter"};
    for (size_t i = 0; i < sizeof submit / sizeof *submit; i++) {
        if (strcmp(key->name, submit[i]) == 0) {
            edit_submit(edit);
            return true;
        }
    }
    if (strcmp(key->name, "S-Tab") == 0)
        edit->reaction |= EDIT_SIGNATURE;
    else if (strcmp(key->name, "F2") == 0 &&
             edit_binding_of(key->raw, key->raw_size) == EDIT_UNBOUND)
        edit->reaction |= EDIT_EXTERNAL;
    else if (strcmp(key->name, "C-d") == 0 && !rl_end)
        edit->reaction |= EDIT_END;
    else
        return false;
    return true;
}

static void insert_quoted(struct edit *edit, const struct key *key)
{
    edit->quoted = false;
    edit_change((size_t)rl_point, (size_t)rl_point, key->raw, key->raw_size);
    edit->reaction |= EDIT_CHANGED;
}

/* dd, cc and yy are about a line of the block; readline would take the whole of it. */
static bool vi_line_operator(struct edit *edit, const struct key *key)
{
    if (!edit->vi_operator || !RL_ISSTATE(RL_STATE_VIMOTION) || key->name[0] != edit->vi_operator ||
        key->name[1])
        return false;
    bool change = edit->vi_operator == 'c', yank = edit->vi_operator == 'y';
    edit_settle(edit);
    size_t point = (size_t)rl_point, from = edit_line_start(point), to = edit_line_end(point);
    if (!change && to < (size_t)rl_end)
        to++;
    else if (!change && !yank && from)
        from--;
    char *text = rl_copy_text((int)from, (int)to);
    rl_begin_undo_group();
    rl_kill_text((int)from, (int)to);
    rl_point = (int)from;
    if (yank) {
        rl_insert_text(text);
        rl_point = (int)point;
    }
    rl_end_undo_group();
    free(text);
    if (change)
        rl_vi_insertion_mode(1, 'i');
    else if (!yank)
        rl_point = (int)edit_line_start((size_t)rl_point);
    return true;
}

static void note_vi_wait(struct edit *edit, const struct key *key, bool command_mode)
{
    bool single = command_mode && key->name[0] && !key->name[1];
    edit->awaits = single && strchr("rm`@", key->name[0]) && !edit_readline_waits();
    edit->vi_operator = single && RL_ISSTATE(RL_STATE_VIMOTION) && strchr("dcy", key->name[0])
                            ? key->name[0]
                            : '\0';
}

/*
 * readline gets sequences of keys whole: of one that it knows only the beginning of it would type
 * the rest, and while it waits in the middle of one it may crash (8.2). False: there is nothing to
 * do yet.
 */
static bool complete_sequence(struct edit *edit, const struct key *key)
{
    bool begun = edit->sequence.size > 0;
    strbuf_add(&edit->sequence, key->raw, key->raw_size);
    switch (edit_binding_of(edit->sequence.data, edit->sequence.size)) {
    case EDIT_BOUND:
        return true;
    case EDIT_PREFIX:
        edit->reaction |= EDIT_CHANGED;
        return false;
    case EDIT_UNBOUND:
        break;
    }
    if (key->type == KEY_TEXT && !begun)
        return true;
    edit->reaction |= begun ? EDIT_CHANGED : EDIT_UNUSED;
    strbuf_clear(&edit->sequence);
    return false;
}

/* What is waited for is a character: a sequence of bytes is none. */
static bool is_sequence(const struct key *key)
{
    return key->raw_size > 2 && key->raw[0] == 27 && (key->raw[1] == '[' || key->raw[1] == 'O');
}

static void type_key(struct edit *edit, const struct key *key)
{
    bool waits = edit->awaits || (edit_readline_waits() && !RL_ISSTATE(RL_STATE_NUMERICARG));
    if (waits && is_sequence(key)) {
        edit_settle(edit);
        edit->reaction |= EDIT_CHANGED;
        return;
    }
    if (vi_line_operator(edit, key)) {
        edit->reaction |= EDIT_CHANGED;
        return;
    }
    if (!waits && !complete_sequence(edit, key))
        return;
    if (!waits) {
        edit->marked_from = edit->marked_to = (size_t)rl_point;
        edit_region(edit, &edit->marked_from, &edit->marked_to);
    }
    bool command_mode = edit_mode(edit) == EDIT_VI_COMMAND;
    struct strbuf bytes = edit->sequence;
    edit->sequence = (struct strbuf)STRBUF_INIT;
    if (waits)
        strbuf_add(&bytes, key->raw, key->raw_size);
    edit_read_bytes(edit, bytes.data, bytes.size);
    strbuf_free(&bytes);
    note_vi_wait(edit, key, command_mode);
}

unsigned edit_key(struct edit *edit, const struct key *key)
{
    edit->reaction = 0;
    if (key->type == KEY_PASTE) {
        edit_paste(edit, key->text, key->text_size);
        return EDIT_CHANGED;
    }
    if (key->type != KEY_TEXT && key->type != KEY_NAMED)
        return EDIT_UNUSED;
    edit->serial++;
    edit_macro_record(edit, key);
    if (edit_popup_key(edit, key) || edit_search_key(edit, key)) {
        edit->reaction |= EDIT_CHANGED;
        return edit->reaction;
    }
    if (edit->quoted)
        insert_quoted(edit, key);
    else if (edit_readline_waits() || edit->awaits || edit->sequence.size || !own_key(edit, key))
        type_key(edit, key);
    edit_popup_narrow(edit, key);
    if (edit->macro.times > 0 && !edit->macro.playing)
        edit_macro_play(edit);
    return edit->reaction;
}

bool edit_is_pending(const struct edit *edit)
{
    return edit_readline_waits() || edit->sequence.size || edit->awaits || edit->quoted ||
           edit->search.active || edit->popup.count > 0;
}

/* ---- the public side ------------------------------------------------------------------------ */

const char *edit_text(const struct edit *edit, size_t *ret_size)
{
    if (edit->search.active && edit->search.shown) {
        *ret_size = edit->search.shown_size;
        return edit->search.shown;
    }
    *ret_size = (size_t)rl_end;
    return rl_line_buffer;
}

size_t edit_point(const struct edit *edit)
{
    return edit->search.active && edit->search.shown ? edit->search.match : (size_t)rl_point;
}

bool edit_region(const struct edit *edit, size_t *ret_from, size_t *ret_to)
{
    if (edit->search.active) {
        if (!edit->search.shown || !edit->search.query.size)
            return false;
        *ret_from = edit->search.match;
        *ret_to = edit->search.match + edit->search.query.size;
        return true;
    }
    if (!rl_mark_active_p() || rl_mark == rl_point || rl_mark > rl_end || rl_mark < 0)
        return false;
    *ret_from = (size_t)(rl_mark < rl_point ? rl_mark : rl_point);
    *ret_to = (size_t)(rl_mark < rl_point ? rl_point : rl_mark);
    return true;
}

/* What is begun would be about another text than the one that comes. */
static void end_all(struct edit *edit)
{
    edit->serial++;
    edit->goal = -1;
    edit_search_end(edit);
    edit_close_popup(edit);
    edit_settle(edit);
}

void edit_set(struct edit *edit, const char *text, size_t size, size_t point)
{
    end_all(edit);
    edit_walk_end(edit);
    char *copy = without_nul(text, size);
    rl_extend_line_buffer((int)size + 1);
    rl_replace_line(copy, 1);
    rl_point = point < (size_t)rl_end ? (int)point : rl_end;
    rl_mark = 0;
    rl_deactivate_mark();
    free(copy);
}

void edit_insert(struct edit *edit, const char *text, size_t size)
{
    end_all(edit);
    edit_change((size_t)rl_point, (size_t)rl_point, text, size);
}

void edit_replace(struct edit *edit, size_t from, size_t to, const char *text, size_t size)
{
    end_all(edit);
    size_t end = (size_t)rl_end;
    to = to < end ? to : end;
    edit_change(from < to ? from : to, to, text, size);
}

static size_t without_blank_end(const char *text, size_t size)
{
    while (size && strchr(" \t\r\n", text[size - 1]))
        size--;
    return size;
}

char *edit_take(struct edit *edit, size_t *ret_size)
{
    end_all(edit);
    char *text = edit->submitted;
    size_t size = edit->submitted_size;
    if (!text) {
        size = (size_t)rl_end;
        text = xmemdup0(rl_line_buffer, size);
        clear_line();
    }
    edit->submitted = NULL;
    size = without_blank_end(text, size);
    text[size] = '\0';
    size_t before = history_count(edit->history);
    history_add(edit->history, edit->session, text, size);
    edit_walk_end(edit);
    if (edit->has_next) /* behind the block that has become the newest, if it has */
        edit_walk_enter(edit, edit->next + (history_count(edit->history) - before), SIZE_MAX);
    edit->has_next = false;
    *ret_size = size;
    return text;
}

bool edit_cancel(struct edit *edit)
{
    bool any = rl_end > 0;
    edit->serial++;
    edit_search_end(edit);
    edit_close_popup(edit);
    edit_walk_end(edit);
    edit->quoted = edit->awaits = false;
    edit->vi_operator = '\0';
    edit->has_next = false;
    strbuf_clear(&edit->sequence);
    strbuf_clear(&edit->queue);
    edit->queue_at = 0;
    /*
     * All of it, in each state: a command that waits for a character is in none that can be seen.
     */
    rl_callback_sigcleanup();
    rl_free_line_state();
    rl_callback_handler_remove();
    if (any)
        rl_kill_text(0, rl_end);
    clear_line();
    begin_line();
    return any;
}

const char *edit_message(const struct edit *edit)
{
    if (edit->search.active || edit->quoted)
        return strbuf_text(&edit->message);
    return rl_display_prompt && rl_display_prompt != rl_prompt ? rl_display_prompt : "";
}

enum edit_mode edit_mode(const struct edit *edit)
{
    (void)edit;
    if (rl_editing_mode) /* readline: 1 is Emacs */
        return EDIT_EMACS;
    return rl_get_keymap() == vi_movement_keymap ? EDIT_VI_COMMAND : EDIT_VI_INSERT;
}

void edit_toggle_vi(struct edit *edit)
{
    end_all(edit);
    if (rl_editing_mode)
        rl_vi_editing_mode(1, 0);
    else
        rl_emacs_editing_mode(1, 0);
}

void edit_set_session(struct edit *edit, const char *session)
{
    free(edit->session);
    edit->session = xstrdup(session);
    edit_walk_end(edit);
}

void edit_set_width(struct edit *edit, int columns)
{
    edit->columns = columns;
}

void edit_set_prompts(struct edit *edit, int first, int next)
{
    edit->first_prompt = first;
    edit->next_prompt = next;
}

bool edit_is_complete(const char *text, size_t size)
{
    return python_block_is_complete(text, size);
}
