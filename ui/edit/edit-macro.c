/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keyboard macros, by keys and not by readline's bytes: they also hold the keys of searches and
 * lists, and one that calls itself does not crash (readline 8.2 does).
 */
#include "config.h"

#include "edit-internal.h"

#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

enum { KEYS_MAX = 4096, TIMES_MAX = 100 };

int edit_cmd_macro_start(int count, int key)
{
    (void)count;
    (void)key;
    struct edit_macro *macro = &edit_current->macro;
    if (macro->playing)
        return 0;
    macro->recording = true;
    macro->count = 0;
    return 0;
}

/* Without the keys that end it. */
int edit_cmd_macro_end(int count, int key)
{
    (void)count;
    (void)key;
    struct edit_macro *macro = &edit_current->macro;
    if (macro->recording)
        macro->count = macro->settled < macro->count ? macro->settled : macro->count;
    macro->recording = false;
    return 0;
}

int edit_cmd_macro_call(int count, int key)
{
    (void)key;
    struct edit_macro *macro = &edit_current->macro;
    if (!macro->recording && !macro->playing)
        macro->times = count < TIMES_MAX ? count : TIMES_MAX;
    return 0;
}

void edit_macro_record(struct edit *edit, const struct key *key)
{
    struct edit_macro *macro = &edit->macro;
    if (!macro->recording || macro->playing || key->raw_size > sizeof macro->keys->raw)
        return;
    if (macro->count >= KEYS_MAX) {
        macro->recording = false;
        return;
    }
    if (!edit_is_pending(edit))
        macro->settled = macro->count;
    macro->keys = xgrow(macro->keys, macro->count, &macro->capacity, sizeof *macro->keys);
    struct edit_recorded *recorded = &macro->keys[macro->count++];
    recorded->key = *key;
    memcpy(recorded->raw, key->raw, key->raw_size);
}

/* A block that goes, or an end, ends the macro, too. */
void edit_macro_play(struct edit *edit)
{
    struct edit_macro *macro = &edit->macro;
    int times = macro->times;
    unsigned reaction = edit->reaction;
    macro->times = 0;
    macro->playing = true;
    while (times-- > 0) {
        for (size_t i = 0; i < macro->count && !(reaction & (EDIT_SUBMIT | EDIT_END)); i++) {
            struct key key = macro->keys[i].key;
            key.raw = macro->keys[i].raw;
            reaction |= edit_key(edit, &key);
        }
    }
    macro->playing = false;
    edit->reaction = reaction;
}
