/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "edit-player.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../ui/utf8.h" /* src/ has one of this name, too */
#include "edit.h"
#include "highlight.h"
#include "layout.h"

#define TEXT_MAX 3000U

struct player {
    struct history *history;
    struct edit *edit;
    struct keys *keys;
    struct layout layout;
    uint8_t classes[4 * TEXT_MAX];
    size_t count;
};

/*
 * readline 8.2 loses some bytes where vi mode drops a motion that was begun or kills twice, and in
 * its messages. Only a whole stack tells them from what we would lose ourselves.
 */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__asan_default_options(void)
{
    return "fast_unwind_on_malloc=0";
}
const char *__lsan_default_suppressions(void)
{
    return "leak:rl_vi_yank_to\nleak:rl_vi_delete_to\nleak:rl_vi_change_to\n"
           "leak:_rl_callback_data_alloc\nleak:rl_message\nleak:rl_kill_text\n";
}

static void need(bool condition)
{
    if (!condition)
        abort();
}

struct player *player_new(void)
{
    static const char *const blocks[] = {"for x in y:\n    pass",
                                         "print('\xE4\xB8\x96\xE7\x95\x8C')", "x = 1",
                                         "def f(a):\n    if a:\n        return 2\n    x"};
    struct player *player = calloc(1, sizeof *player);
    need(player != NULL);
    player->history = history_new();
    for (size_t i = 0; i < 4; i++)
        history_add(player->history, i % 2 ? "main" : "other", blocks[i], strlen(blocks[i]));
    player->edit = edit_new(player->history);
    player->keys = keys_new();
    edit_set_session(player->edit, "main");
    edit_set_width(player->edit, 30);
    edit_set_prompts(player->edit, 4, 4);
    return player;
}

void player_free(struct player *player)
{
    edit_free(player->edit);
    history_free(player->history);
    keys_free(player->keys);
    layout_free(&player->layout);
    free(player);
}

static void look(struct player *player)
{
    size_t size, point = edit_point(player->edit), from, to, count, selected, open, close;
    const char *text = edit_text(player->edit, &size);
    need(point <= size && !memchr(text, '\0', size) && text[size] == '\0');
    if (edit_region(player->edit, &from, &to))
        need(from <= to && to <= size);
    if (edit_popup(player->edit, &count, &selected))
        need(count && (selected == SIZE_MAX || selected < count));
    need(edit_message(player->edit) != NULL);
    if (size > sizeof player->classes)
        return;
    highlight_python(text, size, player->classes);
    for (size_t i = 0; i < size; i++)
        need(player->classes[i] < HIGHLIGHT_COUNT);
    if (highlight_brackets(text, size, point, &open, &close))
        need(open < close && close < size);
    layout_make(&player->layout, text, size, point, 30, 4, 4);
    need(player->layout.cursor_row < player->layout.count);
}

static void offer(struct player *player)
{
    char words[3][8] = {"print", "pr\xC3\xA9", "pass"};
    struct edit_match matches[3] = {{words[0], NULL}, {words[1], words[2]}, {words[2], NULL}};
    size_t size, point = edit_point(player->edit), start = point;
    const char *text = edit_text(player->edit, &size);
    while (start && text[start - 1] >= 'a' && text[start - 1] <= 'z')
        start--;
    edit_offer(player->edit, start, point, matches, 1 + player->count % 3);
}

/* What a front end does with a key. */
static void play(struct player *player, const struct key *key)
{
    size_t size;
    if (strcmp(key->name, "C-c") == 0) {
        edit_cancel(player->edit);
        return;
    }
    player->count++;
    unsigned reaction = edit_key(player->edit, key);
    if (reaction & EDIT_COMPLETE)
        offer(player);
    if (reaction & EDIT_SUBMIT)
        free(edit_take(player->edit, &size));
    edit_text(player->edit, &size);
    if (size > TEXT_MAX)
        edit_set(player->edit, "x = [1,\n     2]\n", 15, 3);
}

static void take_keys(struct player *player, bool late)
{
    struct key key;
    while (keys_next(player->keys, late, &key)) {
        need(strlen(key.name) < sizeof key.name);
        need(key.type != KEY_TEXT || utf8_check(key.name, strlen(key.name), NULL));
        need(key.type != KEY_PASTE || utf8_check(key.text, key.text_size, NULL));
        play(player, &key);
        look(player);
    }
}

void player_play(struct player *player, const char *bytes, size_t size)
{
    keys_feed(player->keys, bytes, size);
    take_keys(player, false);
}

void player_late(struct player *player)
{
    take_keys(player, true);
}

void player_give_up(struct player *player)
{
    struct key key = {.type = KEY_NAMED, .name = "C-g", .raw = "\a", .raw_size = 1};
    player_play(player, "\033[201~", 6);
    player_late(player);
    for (int i = 0; i < 2; i++)
        play(player, &key);
    need(!edit_is_pending(player->edit));
}

void player_outside(struct player *player, unsigned what)
{
    static const char *const sessions[] = {"main", "other"};
    switch (what % 5) {
    case 0:
        offer(player);
        break;
    case 1: /* the tab changes */
        edit_set_session(player->edit, sessions[what / 5 % 2]);
        edit_set(player->edit, "x = 1\ny", 7, what % 8);
        break;
    case 2:
        edit_insert(player->edit, "\xE4\xB8\x96(", 4);
        break;
    case 3:
        edit_set(player->edit, "", 0, 0);
        break;
    case 4:
        edit_set_width(player->edit, 4 + (int)(what / 5 % 60));
        break;
    }
    look(player);
}

void player_toggle_vi(struct player *player)
{
    edit_toggle_vi(player->edit);
    look(player);
}

size_t player_keys(const struct player *player)
{
    return player->count;
}
