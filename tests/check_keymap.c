/* SPDX-License-Identifier: MIT */
/*
 * Keys: the defaults of the table, prefixes, the user's file and what is wrong with it.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "command.h"
#include "key.h"
#include "testlib.h"

static struct keymap *keymap;
static struct strbuf warnings;

static void set_up(void)
{
    keymap = keymap_new();
}

static void tear_down(void)
{
    keymap_free(keymap);
    strbuf_free(&warnings);
}

static const char *line_of(enum keymap_table table, const char *keys)
{
    const char *line = NULL;
    return keymap_lookup(keymap, table, keys, &line) == KEYMAP_COMMAND ? line : "";
}

static void load(const char *text)
{
    strbuf_clear(&warnings);
    test_write_file(test_path("keys"), text, 0644);
    ck_assert(keymap_load(keymap, test_path("keys"), &warnings));
}

static void ck_warning(const char *part)
{
    ck_assert_msg(strstr(strbuf_text(&warnings), part) != NULL, "not \"%s\" in: %s", part,
                  strbuf_text(&warnings));
}

START_TEST(has_the_defaults)
{
    static const char *const prompt[][2] = {
        {"C-x i", "interrupt"},     {"C-x r", "reset"},    {"C-x l", "clear"},
        {"C-x L", "session-clear"}, {"C-x c", "new"},      {"C-x n", "next"},
        {"C-x p", "previous"},      {"C-x w", "sessions"}, {"C-x ,", "rename"},
        {"C-x &", "close"},         {"C-x 7", "switch 7"}, {"C-x [", "browse"},
        {"PgUp", "browse"},         {"C-x o", "fold"},     {"C-x |", "page"},
        {"C-x y", "copy"},          {"C-x v", "vars"},     {"C-x q", "queue"},
        {"C-x h", "help"},          {"C-x ?", "help"},     {"C-x C-s", "save"},
        {"C-x C-w", "save-as"},     {"C-x C-f", "open"},   {"C-x C-c", "leave"},
        {"C-x C-e", "edit"},        {"F2", "edit"},        {"F3", "pick"},
        {"C-x /", "search-all"},          {"F4", "vi"},          {"C-z", "suspend"},
        {"C-\\", "quit now"},       {"C-l", "redraw"},
    };
    static const char *const browse[][2] = {
        {"j", "cell-down"},
        {"k", "cell-up"},
        {"C-d", "half-down"},
        {"C-u", "half-up"},
        {"Space", "page-down"},
        {"b", "page-up"},
        {"g", "top"},
        {"G", "bottom"},
        {"/", "find"},
        {"?", "find-up"},
        {"n", "find-next"},
        {"N", "find-previous"},
        {"[ e", "error-previous"},
        {"] e", "error-next"},
        {"z", "fold"},
        {"Tab", "fold"},
        {"o", "page"},
        {"Enter", "reuse"},
        {"r", "rerun"},
        {"e", "reuse"},
        {"y", "copy-source"},
        {"Y", "copy"},
        {"v", "select"},
        {"i i", "interrupt"},
        {"0 0", "reset"},
        {"q", "prompt"},
        {"Esc", "prompt"},
    };
    for (size_t i = 0; i < sizeof prompt / sizeof prompt[0]; i++)
        ck_assert_str_eq(line_of(KEYMAP_PROMPT, prompt[i][0]), prompt[i][1]);
    for (size_t i = 0; i < sizeof browse / sizeof browse[0]; i++)
        ck_assert_str_eq(line_of(KEYMAP_BROWSE, browse[i][0]), browse[i][1]);
}
END_TEST

/*
 * What the table calls a key is what the tokeniser calls it; and no plain letter is taken from the
 * prompt.
 */
START_TEST(names_keys_as_they_arrive)
{
    struct strbuf list = STRBUF_INIT;
    keymap_list(keymap, &list);
    size_t lines = 0;
    for (char *text = list.data, *next; *text; text = next, lines++) {
        char table[8], keys[64] = "";
        next = text + strcspn(text, "\n") + 1;
        ck_assert_int_eq(sscanf(text, "%7s", table), 1);
        memcpy(keys, text + 8, 10);
        size_t size = strlen(keys);
        while (size && keys[size - 1] == ' ')
            keys[--size] = '\0';
        for (char *key = keys; *key;) {
            char name[24];
            size_t length = strcspn(key, " ");
            ck_assert_msg(key_parse_name(key, length, name), "no key %s", key);
            ck_assert_msg(strlen(name) == length && memcmp(name, key, length) == 0, "%s is %s", key,
                          name);
            if (key == keys && strcmp(table, "prompt") == 0)
                ck_assert_msg(length > 1, "%s is taken", key);
            key += length + (key[length] == ' ');
        }
    }
    ck_assert_uint_gt(lines, 70);
    strbuf_free(&list);
}
END_TEST

START_TEST(knows_prefixes)
{
    const char *line = NULL;
    ck_assert_int_eq(keymap_lookup(keymap, KEYMAP_PROMPT, "C-x", &line), KEYMAP_PREFIX);
    ck_assert_int_eq(keymap_lookup(keymap, KEYMAP_PROMPT, "C-x Z", &line), KEYMAP_NONE);
    ck_assert_int_eq(keymap_lookup(keymap, KEYMAP_PROMPT, "C-", &line), KEYMAP_NONE);
    ck_assert_int_eq(keymap_lookup(keymap, KEYMAP_PROMPT, "j", &line), KEYMAP_NONE);
    ck_assert_int_eq(keymap_lookup(keymap, KEYMAP_BROWSE, "0", &line), KEYMAP_PREFIX);
    ck_assert_str_eq(keymap_keys_of(keymap, KEYMAP_PROMPT, "reset"), "C-x r");
    ck_assert_str_eq(keymap_keys_of(keymap, KEYMAP_PROMPT, "approve once"), "C-x a");
    ck_assert_ptr_null(keymap_keys_of(keymap, KEYMAP_PROMPT, "drop"));
}
END_TEST

START_TEST(takes_the_users_file)
{
    load("# mine\n\nbind C-x g reset -f\r\nbind Ctrl-x u :vars df\nbind browse X rerun\nunbind C-x "
         "r\n"
         "bind F5 save   \n  bind M-x help # help me\nunbind browse 0 0\n");
    ck_assert_str_eq(strbuf_text(&warnings), "");
    ck_assert_str_eq(line_of(KEYMAP_PROMPT, "C-x g"), "reset -f");
    ck_assert_str_eq(line_of(KEYMAP_PROMPT, "C-x u"), "vars df");
    ck_assert_str_eq(line_of(KEYMAP_PROMPT, "C-x r"), "");
    ck_assert_str_eq(line_of(KEYMAP_PROMPT, "F5"), "save");
    ck_assert_str_eq(line_of(KEYMAP_PROMPT, "M-x"), "help");
    ck_assert_str_eq(line_of(KEYMAP_BROWSE, "X"), "rerun");
    ck_assert_str_eq(line_of(KEYMAP_BROWSE, "0 0"), "");
    ck_assert_str_eq(line_of(KEYMAP_PROMPT, "C-x i"), "interrupt");
}
END_TEST

START_TEST(lets_the_newer_binding_win)
{
    const char *line;
    load("bind C-x r vars\nbind C-x help\n");
    ck_assert_str_eq(line_of(KEYMAP_PROMPT, "C-x"),
                     "help"); /* whole: nothing stands behind it any more */
    ck_assert_str_eq(line_of(KEYMAP_PROMPT, "C-x r"), "");
    load("bind C-x z queue\n");
    ck_assert_int_eq(keymap_lookup(keymap, KEYMAP_PROMPT, "C-x", &line), KEYMAP_PREFIX);
    ck_assert_str_eq(line_of(KEYMAP_PROMPT, "C-x z"), "queue");
}
END_TEST

START_TEST(says_what_is_wrong_and_where)
{
    load("bind C-x z resset\nbnd C-x z reset\nbind PgUpp browse\nbind\nbind F5\nunbind F5 "
         "save\nbind C-x r reset\n");
    ck_warning("/keys:1: no command :resset; did you mean :reset?\n");
    ck_warning("/keys:2: 'bnd' is neither bind nor unbind; did you mean bind?\n");
    ck_warning("/keys:3: no key is called 'PgUpp'; did you mean PgUp?\n");
    ck_warning("/keys:4: no key is named\n");
    ck_warning("/keys:5: bind F5: no command");
    ck_warning("/keys:6: no key is called 'save'");
    ck_assert_ptr_null(strstr(strbuf_text(&warnings), ":7:"));
    ck_assert_str_eq(line_of(KEYMAP_PROMPT, "C-x z"), "");
    strbuf_clear(&warnings);
    ck_assert(!keymap_load(keymap, test_path("none"), &warnings));
    ck_warning("none");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("keymap");
    TCase *tests = tcase_create("keymap");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, has_the_defaults);
    tcase_add_test(tests, names_keys_as_they_arrive);
    tcase_add_test(tests, knows_prefixes);
    tcase_add_test(tests, takes_the_users_file);
    tcase_add_test(tests, lets_the_newer_binding_win);
    tcase_add_test(tests, says_what_is_wrong_and_where);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
