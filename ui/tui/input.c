/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keys for the program in the running cell: when it reads its terminal (input(), a debugger, a
 * password) or has the whole screen, what is typed goes there, unless text is waiting in the
 * prompt, which is then finished first. The prefix of commands stays ours.
 */
#include "config.h"

#include <string.h>

#include "tui-internal.h"

/* Whether the cell would have the keys. */
bool tui_input_wanted(const struct tui *tui)
{
    const struct repl_cell *cell = tui->front->running;
    return cell && (cell->input_waits || cell->input_raw || block_has_screen(cell->output));
}

void tui_input_update(struct tui *tui)
{
    const struct repl_cell *cell = tui->front->running;
    size_t size;
    bool before = tui->to_cell;
    tui->cell_has_screen = cell && block_has_screen(cell->output);
    edit_text(tui->edit, &size);
    if (!tui_input_wanted(tui)) {
        /*
         * A line was just read, and the next may be asked for: keep the keys until the cell
         * computes or ends.
         */
        tui->to_cell = tui->to_cell && cell && tui->to_cell_given == cell->id;
    } else if (!tui->to_cell && tui->to_cell_refused != cell->id) {
        if (size == 0 && !tui->sequence[0])
            tui->to_cell = true;
        else
            tui_say(tui, "[%u] waits for input: %s gives it the keyboard", cell->number,
                    keymap_keys_of(tui->keymap, KEYMAP_PROMPT, "input")
                        ? keymap_keys_of(tui->keymap, KEYMAP_PROMPT, "input")
                        : ":input");
    }
    if (tui->to_cell && tui->focus == FOCUS_READER)
        tui_reader_close(tui);
    if (before != tui->to_cell)
        tui_damage(tui, DAMAGE_ALL);
}

/* The prompt may have become empty, and a cell have waited for that. */
void tui_input_offer(struct tui *tui)
{
    size_t size;
    edit_text(tui->edit, &size);
    if (!size && !tui->to_cell && tui_input_wanted(tui))
        tui_input_update(tui);
}

void tui_input_toggle(struct tui *tui)
{
    const struct repl_cell *cell = tui->front->running;
    if (tui->focus != FOCUS_PROMPT)
        tui_browse_leave(tui);
    if (!cell) {
        tui_say(tui, "no cell runs that could read keys");
        return;
    }
    tui->to_cell = !tui->to_cell;
    tui->to_cell_refused = tui->to_cell ? 0 : cell->id;
    tui->to_cell_given = tui->to_cell ? cell->id : 0;
    tui_damage(tui, DAMAGE_ALL);
}

/* Keys that stay ours although a program has the keyboard. */
static bool is_ours(const struct tui *tui, const struct key *key)
{
    const struct repl_cell *cell = tui->front->running;
    if (strcmp(key->name, "C-x") == 0)
        return true;
    bool raw = cell && (cell->input_raw || block_has_screen(cell->output)) && !cell->input_hidden;
    return !raw && (strcmp(key->name, "PgUp") == 0 || strcmp(key->name, "C-c") == 0 ||
                    strcmp(key->name, "C-z") == 0 || strcmp(key->name, "C-l") == 0 ||
                    strcmp(key->name, "C-\\") == 0);
}

static bool is_arrow(const struct key *key)
{
    return key->raw_size == 3 && key->raw[0] == '\033' && key->raw[1] == '[' &&
           strchr("ABCDHF", key->raw[2]);
}

bool tui_input_key(struct tui *tui, const struct key *key)
{
    if (is_ours(tui, key))
        return false;
    const struct repl_cell *cell = tui->front->running;
    transcript_view(tui->front)->follows = true;
    if (cell && is_arrow(key) && block_modes(cell->output) & BLOCK_MODE_CURSOR_KEYS) {
        char bytes[3] = {'\033', 'O', key->raw[2]};
        repl_type(tui->repl, tui->front, bytes, sizeof(bytes));
    } else {
        repl_type(tui->repl, tui->front, key->raw, key->raw_size);
    }
    if (strcmp(key->name, "Enter") == 0 && cell && !block_has_screen(cell->output))
        tui->held_ms = tui_now_ms() + TUI_HOLD_MS;
    return true;
}

void tui_input_paste(struct tui *tui, const struct key *key)
{
    const struct repl_cell *cell = tui->front->running;
    bool marked = cell && block_modes(cell->output) & BLOCK_MODE_PASTE;
    if (marked)
        repl_type(tui->repl, tui->front, "\033[200~", 6);
    repl_type(tui->repl, tui->front, key->text, key->text_size);
    if (marked)
        repl_type(tui->repl, tui->front, "\033[201~", 6);
}

/*
 * What is typed behind a line is for the cell if it reads on, and else for the prompt: time tells.
 */
bool tui_input_ready(struct tui *tui)
{
    int64_t begun = tui->held_ms - TUI_HOLD_MS, now = tui_now_ms();
    if (tui->to_cell && tui->front->running && now < tui->held_ms) {
        if (now < begun + TUI_HOLD_STEP_MS)
            return false;
        int state = hermes_input_state(tui->engine, tui->front->kernel);
        if (state <= 0 || !(state & HERMES_INPUT_WAITS))
            return false;
    }
    tui->held_ms = 0;
    return true;
}
