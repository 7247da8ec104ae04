/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where our commands are in readline's keymaps. What shall be another key than readline's is bound
 * before ~/.inputrc is read, so the user's word wins. Then each command of readline that would take
 * the whole block for a line, move in readline's own history or write to the terminal is replaced
 * by ours, on whatever keys it is.
 */
#include "config.h"

#include "edit-internal.h"

#include <stdlib.h>
#include <string.h>

static int nothing(int count, int key)
{
    (void)count;
    (void)key;
    return 0;
}

/* Keys of the screen: for who drives the editor. */
static int unused(int count, int key)
{
    (void)count;
    (void)key;
    edit_current->reaction |= EDIT_UNUSED;
    return 0;
}

static int external(int count, int key)
{
    (void)count;
    (void)key;
    edit_current->reaction |= EDIT_EXTERNAL;
    return 0;
}

static int suspend(int count, int key)
{
    (void)count;
    (void)key;
    edit_current->reaction |= EDIT_SUSPEND;
    return 0;
}

static int quoted_insert(int count, int key)
{
    (void)count;
    (void)key;
    edit_current->quoted = true;
    strbuf_clear(&edit_current->message);
    strbuf_adds(&edit_current->message, "(quoted insert) ");
    return 0;
}

static int reread(int count, int key)
{
    int result = rl_re_read_init_file(count, key);
    edit_rebind();
    return result;
}

/* ---- names for ~/.inputrc ------------------------------------------------------------------- */

static const struct {
    const char *name;
    rl_command_func_t *function;
} names[] = {
    {"hermes-enter", edit_cmd_enter},
    {"hermes-newline", edit_cmd_newline},
    {"hermes-submit", edit_cmd_submit},
    {"hermes-up", edit_cmd_up},
    {"hermes-down", edit_cmd_down},
    {"hermes-previous-entry", edit_cmd_previous_entry},
    {"hermes-next-entry", edit_cmd_next_entry},
    {"hermes-first-entry", edit_cmd_first_entry},
    {"hermes-last-entry", edit_cmd_last_entry},
    {"hermes-prefix-search-older", edit_cmd_prefix_older},
    {"hermes-prefix-search-newer", edit_cmd_prefix_newer},
    {"hermes-comment", edit_cmd_comment},
    {"hermes-edit-externally", external},
    {"hermes-suspend", suspend},
};

/* ---- our keys ------------------------------------------------------------------------------- */

struct binding {
    const char *keys;
    rl_command_func_t *function;
};

static const struct binding emacs_keys[] = {
    {"\\C-o", edit_cmd_newline},
    {"\\eo", edit_cmd_newline},
    {"\\C-x\\C-o", edit_cmd_operate_and_next},
    {"\\e\\C-m", edit_cmd_submit},
    {"\\C-p", edit_cmd_previous_entry},
    {"\\C-n", edit_cmd_next_entry},
    {"\\ep", edit_cmd_prefix_older},
    {"\\en", edit_cmd_prefix_newer},
    {"\\e;", edit_cmd_comment},
    {"\\C-x\\C-e", external},
    {NULL, NULL},
};

static const struct binding vi_insert_keys[] = {
    {"\\C-o", edit_cmd_newline},
    {"\\C-p", edit_cmd_previous_entry},
    {"\\C-n", edit_cmd_next_entry},
    {NULL, NULL},
};

static const struct binding vi_command_keys[] = {
    {"\\C-o", edit_cmd_newline},
    {"\\C-p", edit_cmd_previous_entry},
    {"\\C-n", edit_cmd_next_entry},
    {"o", edit_cmd_vi_open_below},
    {"O", edit_cmd_vi_open_above},
    {"v", external},
    {NULL, NULL},
};

static void bind_all(const struct binding *bindings, Keymap map)
{
    for (; bindings->keys; bindings++)
        rl_bind_keyseq_in_map(bindings->keys, bindings->function, map);
}

void edit_bind_defaults(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        rl_add_defun(names[i].name, names[i].function, -1);
    bind_all(emacs_keys, emacs_standard_keymap);
    bind_all(vi_insert_keys, vi_insertion_keymap);
    bind_all(vi_command_keys, vi_movement_keymap);
}

/* ---- readline's keys ------------------------------------------------------------------------ */

static const struct {
    rl_command_func_t *theirs, *ours;
} replaced[] = {
    {rl_newline, edit_cmd_enter},
    {rl_get_previous_history, edit_cmd_up},
    {rl_get_next_history, edit_cmd_down},
    {rl_previous_screen_line, edit_cmd_row_up},
    {rl_next_screen_line, edit_cmd_row_down},
    {rl_beginning_of_history, edit_cmd_first_entry},
    {rl_end_of_history, edit_cmd_last_entry},
    {rl_vi_fetch_history, edit_cmd_last_entry},
    {rl_reverse_search_history, edit_cmd_search_older},
    {rl_forward_search_history, edit_cmd_search_newer},
    {rl_noninc_reverse_search, edit_cmd_search_older},
    {rl_noninc_forward_search, edit_cmd_search_newer},
    {rl_noninc_reverse_search_again, edit_cmd_search_again},
    {rl_noninc_forward_search_again, edit_cmd_search_again},
    {rl_vi_search, edit_cmd_search_older},
    {rl_vi_search_again, edit_cmd_search_again},
    {rl_history_search_backward, edit_cmd_prefix_older},
    {rl_history_search_forward, edit_cmd_prefix_newer},
    {rl_history_substr_search_backward, edit_cmd_substring_older},
    {rl_history_substr_search_forward, edit_cmd_substring_newer},
    {rl_yank_last_arg, edit_cmd_yank_last},
    {rl_yank_nth_arg, edit_cmd_yank_nth},
    {rl_vi_yank_arg, edit_cmd_yank_nth},
    {rl_beg_of_line, edit_cmd_line_start},
    {rl_end_of_line, edit_cmd_line_end},
    {rl_kill_line, edit_cmd_kill_line},
    {rl_backward_kill_line, edit_cmd_discard_line},
    {rl_unix_line_discard, edit_cmd_discard_line},
    {rl_kill_full_line, edit_cmd_kill_whole_line},
    {rl_delete, edit_cmd_delete},
    {rl_delete_or_show_completions, edit_cmd_delete},
    {rl_vi_eof_maybe, edit_cmd_delete},
    {rl_rubout, edit_cmd_rubout},
    {rl_insert_comment, edit_cmd_comment},
    {rl_complete, edit_cmd_tab},
    {rl_possible_completions, edit_cmd_tab},
    {rl_insert_completions, edit_cmd_tab},
    {rl_menu_complete, edit_cmd_tab},
    {rl_old_menu_complete, edit_cmd_tab},
    {rl_backward_menu_complete, edit_cmd_tab},
    {rl_vi_complete, edit_cmd_tab},
    {rl_vi_append_eol, edit_cmd_vi_append_line},
    {rl_vi_insert_beg, edit_cmd_vi_insert_line},
    {rl_quoted_insert, quoted_insert},
    {rl_re_read_init_file, reread},
    {rl_start_kbd_macro, edit_cmd_macro_start},
    {rl_end_kbd_macro, edit_cmd_macro_end},
    {rl_call_last_kbd_macro, edit_cmd_macro_call},
    {rl_print_last_kbd_macro, nothing},
    {rl_clear_screen, unused},
    {rl_clear_display, unused},
    {rl_refresh_line, unused},
    {rl_bracketed_paste_begin, nothing},
    {rl_insert_close, rl_insert},
    {rl_tty_status, nothing},
    {rl_restart_output, nothing},
    {rl_stop_output, nothing},
};

/* Commands that are not in each version that we build with. */
static const struct {
    const char *name;
    rl_command_func_t *ours;
} named[] = {
    {"operate-and-get-next", edit_cmd_operate_and_next},
    {"fetch-history", edit_cmd_last_entry},
};
#define NAMED (sizeof named / sizeof *named)

/* Of an entry of type ISKMAP. */
static Keymap map_below(Keymap map, int c)
{
    return (Keymap)(void *)map[c].function;
}

static void replace_in(Keymap map, rl_command_func_t *const *theirs, int depth)
{
    for (int i = 0; i < KEYMAP_SIZE; i++) {
        rl_command_func_t *function = map[i].function;
        if (map[i].type == ISKMAP && depth < 8)
            replace_in(map_below(map, i), theirs, depth + 1);
        if (map[i].type != ISFUNC || !function || function == rl_insert)
            continue;
        for (size_t k = 0; k < sizeof replaced / sizeof *replaced; k++) {
            if (replaced[k].theirs == function)
                map[i].function = replaced[k].ours;
        }
        for (size_t k = 0; k < NAMED; k++) {
            if (theirs[k] == function)
                map[i].function = named[k].ours;
        }
    }
}

void edit_rebind(void)
{
    rl_command_func_t *theirs[NAMED];
    for (size_t i = 0; i < NAMED; i++)
        theirs[i] = rl_named_function(named[i].name);
    replace_in(emacs_standard_keymap, theirs, 0);
    replace_in(vi_insertion_keymap, theirs, 0);
    replace_in(vi_movement_keymap, theirs, 0);
}

enum edit_binding edit_binding_of(const char *bytes, size_t size)
{
    Keymap map = rl_get_keymap();
    for (size_t i = 0; i < size; i++) {
        int c = (unsigned char)bytes[i];
        if (map[c].type == ISKMAP) {
            map = map_below(map, c);
            continue;
        }
        /* vi: Esc and what follows it are two keys when they are not bound as one. */
        bool known = map[c].function ? i + 1 == size || (i == 0 && size == 2)
                                     : i == 1 && size == 2 && map[ANYOTHERKEY].function;
        return known ? EDIT_BOUND : EDIT_UNBOUND;
    }
    return size == 1 && map[ANYOTHERKEY].function ? EDIT_BOUND : EDIT_PREFIX;
}
