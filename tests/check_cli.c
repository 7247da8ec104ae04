/* SPDX-License-Identifier: MIT */
/*
 * The command line, the configuration file, the environment, and which of them wins.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cell-ranges.h"
#include "cli.h"
#include "nearest.h"
#include "testlib.h"
#include "xalloc.h"

static struct hermes_engine *engine;
static struct settings settings;
static struct cli cli;
static struct strbuf error;

static void set_up(void)
{
    ck_assert_int_eq(hermes_engine_new(&engine, NULL), 0);
    settings_init(&settings, engine);
    memset(&cli, 0, sizeof cli);
}

static void tear_down(void)
{
    cli_free(&cli);
    settings_free(&settings);
    strbuf_free(&error);
    hermes_engine_free(engine);
}

/* Words, ended by NULL, as a whole command line. */
static bool parse(const char *const *words)
{
    char *argv[20] = {(char *)"hermes-repl"};
    int argc = 1;
    for (; *words; words++)
        argv[argc++] = (char *)*words;
    cli_free(&cli);
    return cli_parse(&cli, &settings, argc, argv, &error) && cli_apply(&cli, &settings, &error);
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

static const char *engine_value(const char *name)
{
    static char text[200];
    char *value = NULL;
    ck_assert_int_eq(hermes_get_option(engine, name, &value), 0);
    strncpy(text, value, sizeof text - 1);
    hermes_free(value);
    return text;
}

/* ---- words ---------------------------------------------------------------------------------- */

START_TEST(options_anywhere)
{
    ck_assert(PARSE("--batch", "f.py", "a", "--json", "b", "-q", "--", "-x", "--json"));
    ck_assert(settings_flag(&settings, CLI_BATCH));
    ck_assert(settings_flag(&settings, CLI_JSON));
    ck_assert(settings_flag(&settings, CLI_QUIET));
    static const char *const want[] = {"f.py", "a", "b", "-x", "--json"};
    ck_assert_uint_eq(cli.rest_count, 5);
    for (size_t i = 0; i < 5; i++)
        ck_assert_str_eq(cli.rest[i], want[i]);
    ck_assert_ptr_null(cli.rest[5]);
}
END_TEST

START_TEST(spellings)
{
    ck_assert(PARSE("--batch=f.py", "--timeout=2.5", "--cell-timeout", "3", "-px=1", "-p", "y=2",
                    "--param=z=3", "-"));
    ck_assert_str_eq(cli.rest[0], "f.py");
    ck_assert_str_eq(cli.rest[1], "-");
    ck_assert_int_eq(settings_ms(&settings, CLI_TIMEOUT), 2500);
    ck_assert_int_eq(settings_ms(&settings, CLI_CELL_TIMEOUT), 3000);
    ck_assert_str_eq(engine_value("timeout"), "3");
    ck_assert_str_eq(settings_text(&settings, CLI_PARAM), "x=1\ny=2\nz=3");
    ck_assert(PARSE("-qc", "print(1)"));
    ck_assert_str_eq(cli_value(&cli, CLI_CODE), "print(1)");
    ck_assert(PARSE("-c", "-1"));
    ck_assert_str_eq(cli_value(&cli, CLI_CODE), "-1");
    ck_assert(PARSE("--help", "all"));
    ck_assert_str_eq(settings_text(&settings, CLI_HELP), "all");
    ck_assert(PARSE("-h"));
    ck_assert(PARSE("--echo", "--no-echo"));
    ck_assert(!settings_flag(&settings, CLI_ECHO));
}
END_TEST

START_TEST(errors_say_what_to_do)
{
    static const struct {
        const char *words[4];
        const char *want;
    } rows[] = {
        {{"--jsom"}, "--json"},
        {{"--cel-timeout=3"}, "--cell-timeout"},
        {{"--batch", "f.py", "-x"}, "go after --"},
        {{"--batch", "f.py", "--unheard-of"}, "go after --"},
        {{"-c"}, "-c needs an argument"},
        {{"--timeout"}, "--timeout needs an argument"},
        {{"--timeout", "soon"}, "--timeout: 'soon' is no number of seconds"},
        {{"--timeout", "-1"}, "no number of seconds"},
        {{"--timeout", "nan"}, "no number of seconds"},
        {{"--cell-timeout", "1x"}, "no number of seconds"},
        {{"--on-error", "explode"}, "not one of stop|continue"},
        {{"--stdin", ""}, "not one of none|inherit"},
        {{"--mode", "strikt"}, "not one of project|strict"},
        {{"--json=on"}, "takes no value"},
        {{"--echo=perhaps"}, "neither on nor off"},
        {{"--no-json"}, "unknown option"},
        {{"--max-session-kernels", "many"}, "--max-session-kernels: "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(!parse(rows[i].words), "%s is taken", rows[i].words[0]);
        ck_assert_msg(strstr(strbuf_text(&error), rows[i].want), "%s: %s", rows[i].words[0],
                      strbuf_text(&error));
        ck_assert_ptr_null(strchr(strbuf_text(&error), '\n'));
    }
}
END_TEST

/* ---- sources -------------------------------------------------------------------------------- */

static bool load(const char *json)
{
    return settings_load_json(&settings, "FILE", json, strlen(json), &error);
}

static void load_environment(const char *variable)
{
    char *environment[] = {(char *)"HOME=/x", strdup(variable), NULL};
    settings_load_environment(&settings, environment);
    free(environment[1]);
}

START_TEST(defaults_for_people)
{
    ck_assert_str_eq(engine_value("timeout"), "off");
    ck_assert_str_eq(engine_value("max_session_kernels"), "32");
    ck_assert_str_eq(engine_value("kernel_idle_timeout"), "off");
    ck_assert_int_eq(settings_ms(&settings, CLI_TIMEOUT), -1);
    ck_assert_str_eq(settings_text(&settings, CLI_ON_ERROR), "stop");
}
END_TEST

START_TEST(precedence)
{
    ck_assert(
        load("{\"run_timeout\": 1, \"timeout\": 1, \"on_error\": \"continue\", \"echo\": true}"));
    ck_assert_int_eq(settings_ms(&settings, CLI_TIMEOUT), 1000);
    ck_assert_str_eq(engine_value("timeout"), "1");
    ck_assert_str_eq(settings_text(&settings, CLI_ON_ERROR), "continue");
    ck_assert(settings_flag(&settings, CLI_ECHO));
    load_environment("HERMES_REPL_TIMEOUT=2");
    ck_assert_str_eq(engine_value("timeout"), "2");
    ck_assert(PARSE("--cell-timeout", "3"));
    ck_assert_str_eq(engine_value("timeout"), "3");
    ck_assert_int_eq(settings_ms(&settings, CLI_TIMEOUT), 1000);
    ck_assert_uint_eq(settings.warnings.size, 0);
}
END_TEST

START_TEST(comments_and_commas)
{
    ck_assert_msg(load("// first\n{ /* a \n b */ \"echo\": true, // \"quiet\": true\n \"python\": "
                       "\"/a//b/*c*/\",\n"
                       " \"env_passthrough\": [\"A\", \"B\",],\n}\n"),
                  "%s", strbuf_text(&error));
    ck_assert(settings_flag(&settings, CLI_ECHO));
    ck_assert(!settings_flag(&settings, CLI_QUIET));
    ck_assert_str_eq(settings_text(&settings, CLI_PYTHON), "/a//b/*c*/");
    ck_assert_str_eq(engine_value("env_passthrough"), "A,B");
    ck_assert_uint_eq(settings.warnings.size, 0);
}
END_TEST

START_TEST(what_is_wrong_in_a_file)
{
    static const struct {
        const char *json, *warning;
    } rows[] = {
        {"{\"tiemout\": 3}", "FILE:1: unknown option \"tiemout\"; the nearest is \"timeout\"\n"},
        {"{\"zzzzzz\": 3}", "FILE:1: unknown option \"zzzzzz\" is ignored\n"},
        {"{\"batch\": true}", "unknown option \"batch\""}, /* command line only */
        {"{\"on_error\": \"explode\"}", "FILE:1: on_error: 'explode' is not one of stop|continue|interactive\n"},
        {"{\n// mine\n\n\"on_error\": \"contineu\"}",
         "FILE:4: on_error: 'contineu' is not one of stop|continue|interactive; did you mean continue?\n"},
        {"{/*\n*/\"echo\": true,\r\n \"quit\": 1}", "FILE:3: unknown option \"quit\"; the nearest is \"quiet\"\n"},
        {"{\"run_timeout\": \"soon\"}", "FILE:1: run_timeout: 'soon' is no number of seconds\n"},
        {"{\"echo\": {}}", "FILE:1: echo: this kind of value is not taken\n"},
        {"{\"max_session_kernels\": \"abc\"}", "FILE:1: max_session_kernels: "},
        {"{\"kernel_mode\": \"per-call\"}", ""},
        {"{\"echo\": null}", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        strbuf_clear(&settings.warnings);
        ck_assert(load(rows[i].json));
        ck_assert_msg(strstr(strbuf_text(&settings.warnings), rows[i].warning), "%s: %s",
                      rows[i].json, strbuf_text(&settings.warnings));
        ck_assert_msg(rows[i].warning[0] || !settings.warnings.size, "%s",
                      strbuf_text(&settings.warnings));
    }
    ck_assert_str_eq(settings_text(&settings, CLI_ON_ERROR), "stop");
    ck_assert_int_eq(settings_ms(&settings, CLI_TIMEOUT), -1);
}
END_TEST

START_TEST(files_that_are_no_object)
{
    static const struct {
        const char *json, *where;
    } rows[] = {
        {"[]", "FILE: not a JSON object"},
        {"{\n \"echo\": tru }", "FILE: line 2, column 10: "},
        {"{\"a\" 1}", "line 1, column 6: "},
        {"", "line 1, column 1: the text ends early"},
        {"{\"a\": 1 /* open", "line 1, column"},
        {"{\"a\": \"\xFF\"}", "line 1, column 8: not UTF-8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(!load(rows[i].json), "%s is taken", rows[i].json);
        ck_assert_msg(strstr(strbuf_text(&error), rows[i].where), "%s: %s", rows[i].json,
                      strbuf_text(&error));
    }
}
END_TEST

START_TEST(environment_slips)
{
    load_environment("HERMES_REPL_TIMEOT=2");
    ck_assert_ptr_nonnull(strstr(strbuf_text(&settings.warnings), "nearest is \"timeout\""));
    strbuf_clear(&settings.warnings);
    load_environment("HERMES_REPL_KEEP_GOING=--on-error continue"); /* somebody else's */
    load_environment("HERMES_REPL=/usr/bin/x");
    load_environment("HERMES_REPL_CONFIG=/x");
    ck_assert_uint_eq(settings.warnings.size, 0);
    load_environment("HERMES_REPL_ECHO=perhaps");
    ck_assert_str_eq(strbuf_text(&settings.warnings),
                     "HERMES_REPL_ECHO: 'perhaps' is neither on nor off\n");
    ck_assert(!settings_flag(&settings, CLI_ECHO));
}
END_TEST

/* ---- the table ------------------------------------------------------------------------------ */

START_TEST(every_engine_option_is_an_option)
{
    struct strbuf all = STRBUF_INIT, list = STRBUF_INIT, help = STRBUF_INIT;
    cli_help_all(&all, &settings);
    cli_list_options(&list, &settings);
    cli_help(&help);
    for (size_t i = 0; hermes_option_at(i); i++)
        ck_assert_msg(strstr(list.data, hermes_option_at(i)->name), "%s is not listed",
                      hermes_option_at(i)->name);
    size_t lines = 0, column = 0;
    for (const char *c = help.data; *c; c++) {
        lines += *c == '\n';
        column = *c == '\n' ? 0 : column + 1;
        ck_assert_uint_le(column, 79);
    }
    ck_assert_uint_le(lines, 24);
    for (size_t i = 0; i < settings.count; i++) {
        const struct cli_entry *entry = settings.items[i].entry;
        char word[80];
        snprintf(word, sizeof word, entry->name ? "--%s" : "-%s",
                 entry->name ? entry->name : (char[]){entry->letter, 0});
        ck_assert_msg(strstr(all.data, word), "%s is not in --help all", word);
        ck_assert_ptr_nonnull(entry->help);
        for (size_t j = 0; j < i; j++) {
            const struct cli_entry *other = settings.items[j].entry;
            ck_assert(!entry->name || !other->name || strcmp(entry->name, other->name) != 0);
            ck_assert(!entry->key || !other->key || strcmp(entry->key, other->key) != 0);
            ck_assert(!entry->letter || entry->letter != other->letter);
        }
    }
    strbuf_free(&all);
    strbuf_free(&list);
    strbuf_free(&help);
}
END_TEST

/* The text that begins below a title of the list, up to two blanks. */
static const char *below(const char *list, const char *title, const char *name)
{
    static char cell[64];
    size_t at = (size_t)(strstr(list, title) - list), length;
    char *start = xasprintf("\n%s ", name);
    const char *row = strstr(list, start);
    free(start);
    ck_assert_msg(row && row[at] == ' ', "%s: nothing begins below %s", name, title);
    row += 1 + at;
    length = (size_t)(strstr(row, "  ") - row);
    ck_assert_uint_lt(length, sizeof cell);
    memcpy(cell, row, length);
    cell[length] = '\0';
    return cell;
}

START_TEST(list_has_columns)
{
    struct strbuf list = STRBUF_INIT;
    ck_assert(PARSE("--cell-timeout", "7", "--env", "scrub"));
    ck_assert(load("{\"history\": \"off\"}"));
    cli_list_options(&list, &settings);
    static const struct {
        const char *name, *title, *cell;
    } rows[] = {
        {"timeout", "TYPE", "seconds"},   {"timeout", "DEFAULT", "off"}, {"timeout", "VALUE", "7"},
        {"timeout", "SOURCE", "command line"}, {"env", "RANGE", "inherit|scrub"},
        {"env", "VALUE", "scrub"},        {"history", "SOURCE", "file"}, {"history", "VALUE", "off"},
        {"history", "DEFAULT", "on"},     {"spill", "TYPE", "flag"},     {"keys", "VALUE", "-"},
        {"stdout_limit", "TYPE", "bytes"}, {"max_queued_cells", "SOURCE", "default"},
        {"max_queued_cells", "TYPE", "integer"}, {"kill_grace", "DEFAULT", "0.2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_str_eq(below(list.data, rows[i].title, rows[i].name), rows[i].cell);
    ck_assert_ptr_nonnull(strstr(list.data, "[--cell-timeout]\n"));
    strbuf_free(&list);
}
END_TEST

START_TEST(nearest_words)
{
    static const struct {
        const char *word, *best;
    } rows[] = {{"tiemout", "timeout"},
                {"time_out", "timeout"},
                {"on-eror", "on_error"},
                {"qqqq", NULL},
                {"tim", "timeout"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nearest nearest = {rows[i].word, NULL, 0};
        nearest_offer(&nearest, "on_error");
        nearest_offer(&nearest, "timeout");
        nearest_offer(&nearest, "python");
        if (rows[i].best)
            ck_assert_pstr_eq(nearest.best, rows[i].best);
        else
            ck_assert_ptr_null(nearest.best);
    }
}
END_TEST

START_TEST(cell_ranges)
{
    static const struct {
        const char *text;
        const char *chosen; /* of 1..6; NULL: refused */
    } rows[] = {
        {"3", "..x..."},
        {"2-4", ".xxx.."},
        {"4-", "...xxx"},
        {"-2", "xx...."},
        {"1,3-4,6", "x.xx.x"},
        {"2-2", ".x...."},
        {"99999999999999999999999-", "......"},
        {"", NULL},
        {"0", NULL},
        {"3-2", NULL},
        {"-", NULL},
        {"a", NULL},
        {"1,", NULL},
        {"1;2", NULL},
        {"1-2-3", NULL},
        {" 1", NULL},
        {"0-3", NULL},
        {"-0", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cell_ranges ranges = {NULL, 0, 0};
        bool good = cell_ranges_parse(&ranges, rows[i].text, &error);
        ck_assert_msg(good == (rows[i].chosen != NULL), "'%s'", rows[i].text);
        for (size_t n = 1; good && n <= 6; n++)
            ck_assert_msg(cell_ranges_have(&ranges, n) == (rows[i].chosen[n - 1] == 'x'), "%s: %zu",
                          rows[i].text, n);
        cell_ranges_free(&ranges);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli");
    TCase *words = tcase_create("words"), *sources = tcase_create("sources"),
          *table = tcase_create("table");

    tcase_add_checked_fixture(words, set_up, tear_down);
    tcase_add_test(words, options_anywhere);
    tcase_add_test(words, spellings);
    tcase_add_test(words, errors_say_what_to_do);
    suite_add_tcase(suite, words);
    tcase_add_checked_fixture(sources, set_up, tear_down);
    tcase_add_test(sources, defaults_for_people);
    tcase_add_test(sources, precedence);
    tcase_add_test(sources, comments_and_commas);
    tcase_add_test(sources, what_is_wrong_in_a_file);
    tcase_add_test(sources, files_that_are_no_object);
    tcase_add_test(sources, environment_slips);
    suite_add_tcase(suite, sources);
    tcase_add_checked_fixture(table, set_up, tear_down);
    tcase_add_test(table, every_engine_option_is_an_option);
    tcase_add_test(table, list_has_columns);
    tcase_add_test(table, nearest_words);
    tcase_add_test(table, cell_ranges);
    suite_add_tcase(suite, table);
    return test_run(suite);
}
