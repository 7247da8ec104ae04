/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of keys, and the tables of what terminals send for those that are no characters. Internal
 * to key*.c.
 */
#ifndef UI_KEY_NAME_H
#define UI_KEY_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits as terminals count them, less one. */
enum { KEY_SHIFT = 1, KEY_ALT = 2, KEY_CONTROL = 4, KEY_META = 8 };

#define KEY_NAME_SIZE 24

/* The canonical name of a character with modifiers. False: there is no such key (name is ""). */
bool key_name_character(uint32_t code, unsigned modifiers, char name[static KEY_NAME_SIZE]);
/* The same for a key like "Up". */
void key_name_function(const char *base, unsigned modifiers, char name[static KEY_NAME_SIZE]);

/* What older terminals send for a character with modifiers; 0: they have no way to send it. */
size_t key_legacy_bytes(uint32_t code, unsigned modifiers, char bytes[static 8]);

/* NULL when there is none. rxvt's letters and numbers bring modifiers of their own. */
const char *key_base_of_letter(char letter, bool ss3, unsigned *modifiers);
const char *key_base_of_number(int number);

#endif
