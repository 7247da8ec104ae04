/* SPDX-License-Identifier: MIT */
/*
 * The table of commands: that it is whole, and how names are found in it.
 */
#include "config.h"

#include <ctype.h>
#include <string.h>

#include "command.h"
#include "testlib.h"

static struct strbuf error;

static void tear_down(void)
{
    strbuf_free(&error);
}

static const char *found(const char *name)
{
    strbuf_clear(&error);
    const struct command *command = command_find(name, strlen(name), &error);
    ck_assert(command != NULL || error.size > 0);
    return command ? command->name : "";
}

static void ck_error(const char *part)
{
    ck_assert_msg(strstr(strbuf_text(&error), part) != NULL, "not \"%s\" in: %s", part,
                  strbuf_text(&error));
}

START_TEST(is_whole)
{
    for (size_t i = 0; i < command_count; i++) {
        const struct command *command = &command_table[i];
        ck_assert_msg(strlen(command->name) > 1, "a name of one letter is a key: %s",
                      command->name);
        for (const char *c = command->name; *c; c++)
            ck_assert_msg(islower((unsigned char)*c) || *c == '-', "%s", command->name);
        ck_assert_str_eq(found(command->name), command->name);
        if (command->alias)
            ck_assert_str_eq(found(command->alias), command->name);
        ck_assert_msg(command->help && !strchr(command->help, '\n') && strlen(command->help) < 90,
                      "%s", command->name);
        ck_assert_msg(islower((unsigned char)command->help[0]), "%s", command->help);
        ck_assert(command->group < COMMAND_GROUPS && command_group_names[command->group] != NULL);
        ck_assert_msg(!(command->needs & COMMAND_SCREEN_ONLY) || !command->run, "%s",
                      command->name);
        ck_assert_msg(!command->browse_keys || strstr(command->browse_keys, "i i") ||
                          !strstr(command->browse_keys, "i, "),
                      "%s", command->name);
        for (size_t n = 0; n < i; n++)
            ck_assert_str_ne(command_table[n].name, command->name);
    }
}
END_TEST

START_TEST(finds_names)
{
    ck_assert_str_eq(found("reset"), "reset");
    ck_assert_str_eq(found("open"), "open");
    ck_assert_str_eq(found("res"), "reset");
    ck_assert_str_eq(found("q"), "");
    ck_error(":queue");
    ck_error(":quit");
    ck_assert_str_eq(found("rename"), "rename");
    ck_assert_str_eq(found("vras"), "");
    ck_error("did you mean :vars?");
    ck_assert_str_eq(found("xyzzyxyzzy"), "");
    ck_error(":help lists them");
    ck_assert_str_eq(found(""), "");
}
END_TEST

START_TEST(lists_all)
{
    struct strbuf list = STRBUF_INIT;
    size_t lines = 0;
    command_list(&list);
    for (size_t i = 0; i < list.size; i++)
        lines += list.data[i] == '\n';
    ck_assert_uint_eq(lines, command_count);
    ck_assert_ptr_nonnull(strstr(list.data, "\nsave [FILE]           "));
    strbuf_free(&list);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("command");
    TCase *tests = tcase_create("command");
    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, is_whole);
    tcase_add_test(tests, finds_names);
    tcase_add_test(tests, lists_all);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
