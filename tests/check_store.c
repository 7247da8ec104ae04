/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The store over real files: what is given is there, in all modes, for several programs and
 * threads, and can be found, renamed and deleted without a trace. What goes wrong with files is in
 * check_store_faults.c.
 */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live-mark.h"
#include "store-internal.h"
#include "store-purge.h"
#include "store-result.h"
#include "store-testlib.h"
#include "testlib.h"

static const char *path;
static struct store *store;

static void set_up(void)
{
    path = test_path("state/hermes-repl/history.db");
    store = store_open(path, STORE_ON);
}

static void tear_down(void)
{
    store_close(store);
    store = NULL;
}

static void reopen(enum store_mode mode)
{
    store_close(store);
    store = store_open(path, mode);
}

static void give(const char *session, unsigned number, const char *source, const char *output)
{
    ck_assert_int_ne(test_cell_give(store, session, number, source, "success", output), 0);
}

/* ---- cells ---------------------------------------------------------------------------------- */

START_TEST(test_cell_comes_back_whole)
{
    struct store_cell cell = {.session = "foo",
                              .number = 7,
                              .source = "a\0b\n",
                              .source_size = 4,
                              .submitted_us = 1700000000000001,
                              .generation = 3,
                              .previous = ""};
    int64_t id = store_begin(store, &cell);
    ck_assert_int_gt(id, 0);
    ck_assert(store_flush(store, 5000));
    const struct test_cells *cells = test_cells_of(store, "foo");
    ck_assert_uint_eq(cells->count, 1);
    ck_assert_str_eq(cells->items[0].status, "running");
    cell.status = "timeout";
    cell.exit_code = 124;
    cell.output = "one\0two\n";
    cell.output_size = 8;
    cell.spill_path = "/spill/stdout-0123456789abcdef.txt";
    cell.started_us = 1700000000000002;
    cell.duration_us = 3000000;
    cell.generation = 4;
    cell.execution_count = 12;
    cell.previous = "died";
    store_settle(store, id, &cell);
    ck_assert(store_flush(store, 5000));
    reopen(STORE_ON);
    cells = test_cells_of(store, "foo");
    ck_assert_uint_eq(cells->count, 1);
    const struct store_cell *back = &cells->items[0];
    ck_assert_str_eq(back->session, "foo");
    ck_assert_uint_eq(back->number, 7);
    ck_assert_uint_eq(back->source_size, 4);
    ck_assert_mem_eq(back->source, "a\0b\n", 4);
    ck_assert_str_eq(back->status, "timeout");
    ck_assert_int_eq(back->exit_code, 124);
    ck_assert_uint_eq(back->output_size, 8);
    ck_assert_mem_eq(back->output, "one\0two\n", 8);
    ck_assert_str_eq(back->spill_path, cell.spill_path);
    ck_assert_int_eq(back->submitted_us, 1700000000000001);
    ck_assert_int_eq(back->started_us, 1700000000000002);
    ck_assert_int_eq(back->duration_us, 3000000);
    ck_assert_uint_eq(back->generation, 4);
    ck_assert_uint_eq(back->execution_count, 12);
    ck_assert_str_eq(back->previous, "died");
}
END_TEST

START_TEST(test_results_become_cells)
{
    struct hermes_result result = {.outcome = HERMES_INTERRUPTED,
                                   .exit_code = 130,
                                   .started = true,
                                   .output = "out",
                                   .output_size = 3,
                                   .spill_path = "/spill",
                                   .duration_us = 5,
                                   .queued_us = 7,
                                   .generation = 2,
                                   .execution_count = 4,
                                   .previous = HERMES_PREVIOUS_EVICTED};
    struct store_cell cell = {
        .session = "s", .source = "x", .source_size = 1, .submitted_us = 1000};
    int64_t id = store_begin(store, &cell);
    store_cell_settled(&cell, &result);
    store_settle(store, id, &cell);
    const struct store_cell *back = test_cells_of(store, "s")->items;
    ck_assert_str_eq(back->status, "interrupted");
    ck_assert_int_eq(back->exit_code, 130);
    ck_assert_str_eq(back->output, "out");
    ck_assert_str_eq(back->spill_path, "/spill");
    ck_assert_int_eq(back->started_us, 1007);
    ck_assert_str_eq(back->previous, "evicted");
    result.started = false; /* cleared while it was queued */
    store_cell_settled(&cell, &result);
    ck_assert_str_eq(cell.status, "not run");
    ck_assert_int_eq(cell.started_us, 0);
    result.start_failed = true;
    result.outcome = HERMES_ERROR;
    result.previous = HERMES_PREVIOUS_NONE;
    store_cell_settled(&cell, &result);
    ck_assert_str_eq(cell.status, "error");
    ck_assert_str_eq(cell.previous, "");
    ck_assert_int_eq(store_mode_of("off"), STORE_OFF);
    ck_assert_int_eq(store_mode_of("on"), STORE_ON);
    ck_assert_int_eq(store_mode_of("no-output"), STORE_NO_OUTPUT);
}
END_TEST

START_TEST(test_oldest_first_and_the_last_so_many)
{
    char source[32];
    struct test_cells cells = {.items = NULL};
    for (unsigned i = 1; i <= 700; i++) {
        snprintf(source, sizeof(source), "x = %u", i);
        give(i % 2 ? "odd" : "even", i, source, "");
    }
    ck_assert(store_read_session(store, "odd", 300, test_cells_take, &cells));
    ck_assert_uint_eq(cells.count, 300);
    for (unsigned i = 0; i < 300; i++)
        ck_assert_uint_eq(cells.items[i].number, 101 + 2 * i);
    test_cells_clear(&cells);
    ck_assert(store_read_sources(store, 600, test_cells_take, &cells));
    ck_assert_uint_eq(cells.count, 600);
    ck_assert_str_eq(cells.items[0].source, "x = 101");
    ck_assert_str_eq(cells.items[599].source, "x = 700");
    ck_assert_str_eq(cells.items[599].session, "even");
    test_cells_clear(&cells);
    cells.limit = 2; /* taking ends the reading */
    ck_assert(store_read_sources(store, 600, test_cells_take, &cells));
    ck_assert_uint_eq(cells.count, 2);
    test_cells_clear(&cells);
    ck_assert(store_read_session(store, "odd", 0, test_cells_take, &cells));
    ck_assert(store_read_session(store, "none", 5, test_cells_take, &cells));
    ck_assert_uint_eq(cells.count, 0);
}
END_TEST

START_TEST(test_long_output_keeps_both_ends)
{
    size_t size = 3 * 1000 * 1000;
    char *output = malloc(size + 1);
    for (size_t i = 0; i < size; i += 3)
        memcpy(output + i, "\xE2\x82\xAC", 3);
    memcpy(output, "BEG", 3);
    memcpy(output + size - 3, "END", 4);
    struct store_cell cell = {.session = "s", .number = 1, .source = "x", .source_size = 1};
    int64_t id = store_begin(store, &cell);
    cell.status = "success";
    cell.output = output;
    cell.output_size = size;
    cell.spill_path = "/somewhere/spilled.txt";
    store_settle(store, id, &cell);
    const struct test_cells *cells = test_cells_of(store, "s");
    const char *kept = cells->items[0].output;
    ck_assert_uint_le(cells->items[0].output_size, STORE_OUTPUT_LIMIT);
    ck_assert_uint_gt(cells->items[0].output_size, STORE_OUTPUT_LIMIT - 2048);
    ck_assert_mem_eq(kept, "BEG", 3);
    ck_assert_str_eq(kept + cells->items[0].output_size - 3, "END");
    ck_assert_ptr_nonnull(strstr(kept, "bytes are not kept in the history; all of it: "
                                       "/somewhere/spilled.txt ...]"));
    ck_assert_ptr_null(strstr(kept, "\xEF\xBF\xBD")); /* no character was cut */
    ck_assert_uint_eq(test_cells_found(store, NULL, "BEG\xE2\x82\xAC")->count, 1);
    ck_assert_uint_eq(test_cells_found(store, NULL,
                                       "\xE2\x82\xAC"
                                       "END")
                          ->count,
                      1);
    free(output);
}
END_TEST

START_TEST(test_leading_space_is_kept_out)
{
    ck_assert_int_eq(test_cell_give(store, "s", 1, " secret = 1", "success", "secret out"), 0);
    ck_assert_int_eq(test_cell_give(store, "s", 1, "", "success", ""), 0);
    give("s", 2, "open = 1", "");
    ck_assert_uint_eq(test_cells_of(store, "s")->count, 1);
    ck_assert_uint_eq(test_cells_found(store, NULL, "secret")->count, 0);
}
END_TEST

START_TEST(test_modes)
{
    struct strbuf error = STRBUF_INIT;
    reopen(STORE_NO_OUTPUT);
    struct store_cell cell = {.session = "s", .number = 1, .source = "src1", .source_size = 4};
    int64_t id = store_begin(store, &cell);
    cell.status = "error";
    cell.exit_code = 1;
    cell.output = "output1";
    cell.output_size = 7;
    cell.spill_path = "/spill";
    store_settle(store, id, &cell);
    const struct test_cells *cells = test_cells_of(store, "s");
    ck_assert_str_eq(cells->items[0].status, "error");
    ck_assert_int_eq(cells->items[0].exit_code, 1);
    ck_assert_str_eq(cells->items[0].output, "");
    ck_assert_ptr_null(cells->items[0].spill_path);
    ck_assert_uint_eq(test_cells_found(store, NULL, "output1")->count, 0);
    ck_assert_uint_eq(test_cells_found(store, NULL, "src1")->count, 1);
    reopen(STORE_OFF);
    ck_assert_int_eq(test_cell_give(store, "s", 2, "src2", "success", "x"), 0);
    ck_assert(store_flush(store, 0));
    ck_assert(!store_enter(store, "s"));
    ck_assert_uint_eq(test_cells_of(store, "s")->count, 0);
    ck_assert(store_rename(store, "s", "t", &error)); /* there is nothing to rename */
    ck_assert(!store_delete(store, "s", &error));
    strbuf_free(&error);
    reopen(STORE_ON);
    ck_assert_uint_eq(test_cells_of(store, "s")->count, 1);
    store_close(store);
    store = store_open(test_path("other/history.db"), STORE_OFF);
    store_close(store);
    ck_assert(!test_exists(test_path("other")));
    store = store_open(path, STORE_ON);
}
END_TEST

START_TEST(test_files_are_private)
{
    struct stat status;
    umask(0);
    store_close(store);
    path = test_path("a/b/history.db");
    store = store_open(path, STORE_ON);
    give("s", 1, "x", "y");
    ck_assert(store_flush(store, 5000));
    const char *const suffixes[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(stat(test_path("a/b/history.db%s", suffixes[i]), &status), 0);
        ck_assert_int_eq(status.st_mode & 07777, 0600);
    }
    ck_assert_int_eq(stat(test_path("a/b"), &status), 0);
    ck_assert_int_eq(status.st_mode & 07777, 0700);
    ck_assert_int_eq(stat(test_path("a"), &status), 0);
    ck_assert_int_eq(status.st_mode & 07777, 0700);
    store_close(store);
    chmod(path, 0644); /* by a restored backup, say */
    store = store_open(path, STORE_ON);
    ck_assert_uint_eq(test_cells_of(store, "s")->count, 1);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(status.st_mode & 07777, 0600);
}
END_TEST

START_TEST(test_default_path)
{
    setenv("XDG_STATE_HOME", "/x/state", 1);
    char *usual = store_default_path();
    ck_assert_str_eq(usual, "/x/state/hermes-repl/history.db");
    free(usual);
    setenv("XDG_STATE_HOME", "relative", 1); /* to be ignored, says the XDG rule */
    setenv("HOME", "/home/me", 1);
    usual = store_default_path();
    ck_assert_str_eq(usual, "/home/me/.local/state/hermes-repl/history.db");
    free(usual);
    unsetenv("HOME");
    ck_assert_ptr_null(store_default_path());
}
END_TEST

/* ---- searching ------------------------------------------------------------------------------ */

static void fill_for_search(void)
{
    give("a", 1, "df.groupby('City').agg(sum)", "City   n\nZ\xC3\xBCrich  1\n");
    give("a", 2, "print(\"100%_done\\n\")", "100%_done\n");
    give("b", 1, "DF.GroupBy(1)", "say \"hi\" AND (x OR y) NOT *\n");
    give("b", 2, "x", "yz");
}

static void check_search(void)
{
    static const struct {
        const char *session, *text;
        size_t count;
    } cases[] = {
        {NULL, "df.groupby(", 2},
        {"a", "df.groupby(", 1},
        {"none", "df.groupby(", 0},
        {NULL, "roupb", 2},
        {NULL, "('City').agg", 1},
        {NULL, "z\xC3\xBCrich", 1},
        {NULL, "100%_", 1},
        {NULL, "0%_done\\n", 1},
        {NULL, "100x_", 0},
        {NULL, "say \"hi\" AND (x OR y) NOT *", 1},
        {NULL, "\"", 2},
        {NULL, "x", 2},
        {"b", "x", 2},
        {NULL, "yz", 1},
        {NULL, "%", 1},
        {NULL, "_", 1},
        {NULL, "groupby mean", 0},
        {NULL, "", 0},
        {NULL, "source_index:x", 0},
        {NULL, "NEAR(a b)", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t count = test_cells_found(store, cases[i].session, cases[i].text)->count;
        ck_assert_msg(count == cases[i].count, "'%s' in %s: %zu", cases[i].text,
                      cases[i].session ? cases[i].session : "all", count);
    }
    const struct test_cells *found = test_cells_found(store, NULL, "groupby(");
    ck_assert_str_eq(found->items[0].session, "b"); /* newest first */
    ck_assert_str_eq(found->items[1].source, "df.groupby('City').agg(sum)");
    ck_assert_ptr_nonnull(strstr(found->items[1].output, "City   n"));
}

START_TEST(test_search)
{
    fill_for_search();
    check_search();
}
END_TEST

START_TEST(test_search_without_full_text)
{
    store_close(store);
    store = store_open_indexed(path, STORE_ON, INDEX_NONE);
    fill_for_search();
    check_search();
    /* A SQLite that has it makes the index of what is there. */
    reopen(STORE_ON);
    check_search();
    store_close(store);
    /* One that does not know the index leaves holes, and the next one fills them. */
    store = store_open_indexed(path, STORE_ON, INDEX_NONE);
    give("c", 1, "hole = 'holey'", "whole");
    ck_assert_uint_eq(test_cells_found(store, NULL, "holey")->count, 1);
    reopen(STORE_ON);
    ck_assert_uint_eq(test_cells_found(store, NULL, "holey")->count, 1);
    ck_assert_uint_eq(test_cells_found(store, "c", "whole")->count, 1);
    check_search();
    ck_assert_ptr_null(store_take_remark(store));
}
END_TEST

START_TEST(test_search_in_pieces)
{
    char source[64];
    struct test_cells cells = {.items = NULL};
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(source, sizeof(source), "needle(%u)", i);
        give(i % 10 ? "s" : "t", i, source, i % 3 ? "" : "needle");
    }
    ck_assert_uint_eq(test_cells_found(store, NULL, "needle")->count, 1000);
    const struct test_cells *found = test_cells_found(store, "t", "needle(");
    ck_assert_uint_eq(found->count, 100);
    for (size_t i = 0; i < found->count; i++)
        ck_assert_uint_eq(found->items[i].number, 990 - 10 * i);
    ck_assert(store_search(store, NULL, "needle", 333, test_cells_take, &cells));
    ck_assert_uint_eq(cells.count, 333);
    ck_assert_uint_eq(cells.items[332].number, 999 - 332);
    test_cells_clear(&cells);
    ck_assert_uint_eq(test_cells_found(store, NULL, "ne")->count, 1000);
}
END_TEST

/* ---- sessions ------------------------------------------------------------------------------- */

START_TEST(test_sessions_are_listed)
{
    struct store_session session;
    ck_assert_uint_eq(test_sessions(store, NULL, NULL), 0);
    int64_t before = store_now_us();
    give("foo", 1, "1", "");
    give("foo", 2, "2", "");
    give("bar", 1, "3", "");
    ck_assert_uint_eq(test_sessions(store, "foo", &session), 2);
    ck_assert_uint_eq(session.cells, 2);
    ck_assert(!session.live);
    ck_assert_int_ge(session.last_used_us, before);
    ck_assert_int_le(session.last_used_us, store_now_us());
    ck_assert(!store_enter(store, "foo"));
    ck_assert(!store_enter(store, "empty"));
    ck_assert_uint_eq(test_sessions(store, "foo", &session), 3);
    ck_assert(session.live);
    ck_assert_int_eq(session.pid, getpid());
    store_leave(store, "foo");
    store_leave(store, "empty");
    ck_assert_uint_eq(test_sessions(store, "foo", &session), 2);
    ck_assert(!session.live);
}
END_TEST

/*
 * Another program that enters a session, says what it was told, and stays until told to go. A file
 * that SQLite has open must not pass through fork().
 */
static pid_t start_other(const char *session, int *ret_told, int *ret_go)
{
    int told[2], go[2];
    char byte;
    ck_assert_int_eq(pipe(told), 0);
    ck_assert_int_eq(pipe(go), 0);
    tear_down();
    pid_t pid = fork();
    if (pid == 0) {
        close(go[1]);
        if (read(go[0], &byte, 1) != 1)
            _exit(1);
        struct store *own = store_open(path, STORE_ON);
        byte = store_enter(own, session) ? 'y' : 'n';
        if (write(told[1], &byte, 1) == 1 && read(go[0], &byte, 1) == 1)
            store_close(own); /* else: killed, as far as the store can see */
        _exit(0);
    }
    close(told[1]);
    close(go[0]);
    set_up();
    *ret_told = told[0];
    *ret_go = go[1];
    return pid;
}

START_TEST(test_two_programs_are_told)
{
    int told, go, died;
    char byte;
    struct store_session session;
    struct strbuf error = STRBUF_INIT;
    give("foo", 1, "x", "");
    pid_t other = start_other("foo", &told, &go);
    ck_assert(!store_enter(store, "foo"));
    ck_assert(!store_enter(store, "foo")); /* it is this program's own */
    ck_assert_int_eq(write(go, "g", 1), 1);
    ck_assert_int_eq(read(told, &byte, 1), 1);
    ck_assert_int_eq(byte, 'y');
    store_leave(store, "foo");
    test_sessions(store, "foo", &session);
    ck_assert(session.live);
    ck_assert_int_eq(session.pid, other);
    ck_assert(store_enter(store, "foo"));
    ck_assert(!store_rename(store, "foo", "bar", &error));
    ck_assert_ptr_nonnull(strstr(strbuf_text(&error), "is open in another program"));
    ck_assert(!store_delete(store, "foo", &error));
    ck_assert_uint_eq(test_cells_of(store, "foo")->count, 1);
    close(go); /* it ends without a word */
    waitpid(other, &died, 0);
    store_leave(store, "foo");
    test_sessions(store, "foo", &session);
    ck_assert(!session.live);
    ck_assert(!store_enter(store, "foo"));
    ck_assert(store_rename(store, "foo", "bar", &error));
    ck_assert_uint_eq(test_cells_of(store, "bar")->count, 1);
    strbuf_free(&error);
    close(told);
}
END_TEST

/* What another connection does with the file. */
static int64_t raw(const char *text)
{
    sqlite3 *database;
    sqlite3_stmt *statement;
    int64_t number = 0;
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_busy_timeout(database, 5000);
    ck_assert_msg(sqlite3_prepare_v2(database, text, -1, &statement, NULL) == SQLITE_OK, "%s: %s",
                  text, sqlite3_errmsg(database));
    if (sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    ck_assert_int_eq(sqlite3_finalize(statement), SQLITE_OK);
    sqlite3_close(database);
    return number;
}

START_TEST(test_recycled_pid_is_not_live)
{
    struct store_session session;
    give("foo", 1, "x", "");
    ck_assert(!store_enter(store, "foo"));
    ck_assert(store_flush(store, 5000));
    /* This process's id, as that of an earlier process; of another boot or machine; no process. */
    static const char *const changes[] = {"UPDATE programs SET started = started - 1",
                                          "UPDATE programs SET host = 'elsewhere'",
                                          "UPDATE programs SET pid = 4194304"};
    for (int i = 0; i < 3; i++) {
        raw(changes[i]);
        test_sessions(store, "foo", &session);
        ck_assert(!session.live);
        ck_assert(!store_enter(store, "foo"));
        test_sessions(store, "foo", &session);
        ck_assert(session.live);
        ck_assert_int_eq(session.pid, getpid());
        ck_assert_int_eq(raw("SELECT count(*) FROM programs"), 1);
    }
}
END_TEST

START_TEST(test_name_of_a_process_may_hold_anything)
{
    struct live_mark mark;
    FILE *file = fopen("/proc/self/comm", "w");
    if (file) {
        fputs(") 1 (2)", file);
        fclose(file);
    }
    live_mark_own(&mark);
    ck_assert_int_eq(mark.pid, getpid());
    ck_assert_int_gt(mark.started, 1);
    ck_assert(live_mark_lives(&mark));
}
END_TEST

START_TEST(test_rename_and_delete)
{
    struct strbuf error = STRBUF_INIT;
    give("foo", 1, "find_me = 1", "find_me_too");
    give("bar", 1, "find_me = 2", "");
    ck_assert(!store_rename(store, "none", "new", &error));
    ck_assert_str_eq(strbuf_text(&error), "there is no session 'none'");
    ck_assert(!store_rename(store, "foo", "bar", &error));
    ck_assert_str_eq(strbuf_text(&error), "there is a session 'bar' already");
    ck_assert(!store_rename(store, "foo", "", &error));
    ck_assert(!store_enter(store, "foo"));
    ck_assert(store_rename(store, "foo", "it's", &error)); /* one's own */
    struct store_session session;
    ck_assert_uint_eq(test_sessions(store, "it's", &session), 2);
    ck_assert(session.live);
    give("it's", 2, "find_me = 3", "");
    ck_assert_uint_eq(test_cells_of(store, "it's")->count, 2);
    ck_assert_uint_eq(test_cells_of(store, "foo")->count, 0);
    store_leave(store, "it's");
    ck_assert(!store_delete(store, "foo", &error));
    ck_assert(store_delete(store, "it's", &error));
    ck_assert_uint_eq(test_sessions(store, NULL, NULL), 1);
    ck_assert_uint_eq(test_cells_found(store, NULL, "find_me")->count, 1);
    ck_assert_uint_eq(test_cells_found(store, NULL, "find_me_too")->count, 0);
    ck_assert_int_eq(raw("SELECT count(*) FROM cells"), 1);
    strbuf_free(&error);
}
END_TEST

/* ---- deleting without a trace --------------------------------------------------------------- */

/* How many files below the history's directory hold the text. */
static int files_with(const char *text)
{
    int count = 0;
    char *directory = strdup(path);
    *strrchr(directory, '/') = '\0';
    DIR *dir = opendir(directory);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char name[1024];
        snprintf(name, sizeof(name), "%s/%s", directory, entry->d_name);
        FILE *file = fopen(name, "rb");
        static char bytes[64 << 20];
        size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
        if (file)
            fclose(file);
        count += size && memmem(bytes, size, text, strlen(text)) != NULL;
    }
    closedir(dir);
    free(directory);
    return count;
}

/* Cells of all sizes around one that holds a secret, so that pages are split and freed. */
static void fill_with_secret(const char *session, unsigned rounds)
{
    static char output[40000];
    for (unsigned i = 0; i < rounds; i++) {
        memset(output, 'a' + (int)(i % 26), sizeof(output) - 1);
        output[(i * 997) % sizeof(output)] = '\0';
        give(session, i, "password = 'hunter2-SECRET'", output);
        give(session, i, "show(password)", "it is hunter2-SECRET.\n");
    }
    ck_assert(store_flush(store, 20000));
}

START_TEST(test_delete_leaves_no_trace)
{
    struct strbuf error = STRBUF_INIT;
    fill_with_secret("secret", 50);
    give("other", 1, "harmless = 1", "harmless\n");
    ck_assert(store_flush(store, 5000));
    ck_assert_int_gt(files_with("hunter2-SECRET"), 0);
    ck_assert_msg(store_delete(store, "secret", &error), "%s", strbuf_text(&error));
    ck_assert_int_eq(files_with("hunter2"), 0);
    ck_assert_int_eq(raw("SELECT count(*) FROM source_index('hunter')"), 0);
    ck_assert_uint_eq(test_cells_found(store, NULL, "harmless")->count, 1);
    ck_assert_ptr_null(store_take_remark(store));
}
END_TEST

static void check_purge(void)
{
    struct strbuf error = STRBUF_INIT;
    struct store_purged purged;
    char *spill = strdup(test_path("stdout-0123456789abcdef.txt"));
    char *mine = strdup(test_path("my-file.txt"));
    test_write_file(spill, "hunter2-SECRET", 0600);
    test_write_file(mine, "not a spill", 0600);
    const char *const paths[] = {spill, mine};
    for (int i = 0; i < 2; i++) {
        struct store_cell cell = {.session = "s", .source = "x", .source_size = 1};
        int64_t id = store_begin(store, &cell);
        cell.status = "success";
        cell.spill_path = paths[i];
        store_settle(store, id, &cell);
    }
    ck_assert(!store_enter(store, "live"));
    fill_with_secret("live", 20);
    fill_with_secret("hunter2-SECRET", 20);
    char *damaged = malloc(strlen(path) + 32);
    sprintf(damaged, "%s.damaged-yesterday-wal", path);
    test_write_file(damaged, "hunter2-SECRET", 0600);
    ck_assert_msg(store_purge_counted(store, &purged, &error), "%s", strbuf_text(&error));
    ck_assert_uint_eq(purged.cells, 82);
    ck_assert_uint_eq(purged.sessions, 3);
    ck_assert_uint_eq(purged.spills, 1);
    ck_assert_uint_eq(purged.damaged, 1);
    ck_assert_int_eq(files_with("hunter2"), 0);
    ck_assert(!test_exists(spill));
    ck_assert(!test_exists(damaged));
    ck_assert(test_exists(mine));
    ck_assert_int_eq(raw("SELECT count(*) FROM cells"), 0);
    struct store_session session;
    ck_assert_uint_eq(test_sessions(store, "live", &session), 1);
    ck_assert(session.live);
    give("live", 1, "afterwards = 1", "");
    ck_assert_uint_eq(test_cells_found(store, NULL, "afterwards")->count, 1);
    ck_assert_uint_eq(test_cells_found(store, NULL, "hunter2")->count, 0);
    free(spill);
    free(mine);
    free(damaged);
}

START_TEST(test_purge_leaves_no_trace)
{
    check_purge();
}
END_TEST

START_TEST(test_purge_with_an_index_that_is_unknown)
{
    fill_with_secret("indexed", 5);
    store_close(store);
    raw("DELETE FROM cells"); /* so that the counts are the same */
    raw("DELETE FROM sessions");
    store = store_open_indexed(path, STORE_ON, INDEX_NONE);
    check_purge();
    reopen(STORE_ON);
    ck_assert_uint_eq(test_cells_found(store, NULL, "afterwards")->count, 1);
    ck_assert_int_eq(raw("SELECT count(*) FROM source_index('hunter')"), 0);
}
END_TEST

START_TEST(test_settling_what_was_purged)
{
    struct strbuf error = STRBUF_INIT;
    struct store_cell cell = {.session = "s", .source = "x = 1", .source_size = 5};
    int64_t id = store_begin(store, &cell);
    ck_assert(store_purge(store, &error));
    give("s", 2, "y = 1", "");
    cell.status = "success";
    cell.output = "gone";
    cell.output_size = 4;
    store_settle(store, id, &cell);
    const struct test_cells *cells = test_cells_of(store, "s");
    ck_assert_uint_eq(cells->count, 1);
    ck_assert_str_eq(cells->items[0].output, "");
    ck_assert_uint_eq(test_cells_found(store, NULL, "gone")->count, 0);
}
END_TEST

/* ---- several at once ------------------------------------------------------------------------ */

static void *give_many(void *context)
{
    const char *session = context;
    for (unsigned i = 0; i < 200; i++) {
        char source[64];
        snprintf(source, sizeof(source), "%s(%u)", session, i);
        test_cell_give(store, session, i, source, i % 2 ? "success" : "error", "out\n");
        if (i % 20 == 0 && !store_flush(store, 20000))
            return NULL;
        free(store_take_remark(store));
    }
    return context;
}

START_TEST(test_threads_share_a_store)
{
    pthread_t threads[4];
    char names[4][8] = {"t0", "t1", "t2", "t3"};
    void *result;
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, give_many, names[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &result);
        ck_assert_ptr_nonnull(result);
    }
    for (int i = 0; i < 4; i++) {
        const struct test_cells *cells = test_cells_of(store, names[i]);
        ck_assert_uint_eq(cells->count, 200);
        for (unsigned n = 0; n < 200; n++) {
            ck_assert_uint_eq(cells->items[n].number, n);
            ck_assert_str_eq(cells->items[n].status, n % 2 ? "success" : "error");
        }
    }
}
END_TEST

START_TEST(test_programs_share_a_file)
{
    pid_t children[4];
    tear_down();
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            store = store_open(path, STORE_ON);
            bool good = give_many((char[]){"shared"}) != NULL;
            store_close(store);
            _exit(good ? 0 : 1);
        }
    }
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(test_reap(children[i], 60000), 0);
    set_up();
    ck_assert_uint_eq(test_cells_of(store, "shared")->count, 800);
    ck_assert_uint_eq(test_cells_found(store, "shared", "shared(199)")->count, 4);
    ck_assert_int_eq(raw("SELECT cells FROM sessions"), 800);
    ck_assert_int_eq(
        raw("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
}
END_TEST

START_TEST(test_nothing_stays_behind)
{
    struct test_fds before;
    tear_down();
    test_fds_take(&before);
    set_up();
    give("s", 1, "x", "y");
    tear_down();
    test_fds_check(&before);
    store_close(NULL);
    set_up();
    ck_assert_uint_eq(test_cells_of(store, "s")->count, 1); /* closing wrote what waited */
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("store");
    TCase *tcase = tcase_create("store");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_cell_comes_back_whole);
    tcase_add_test(tcase, test_results_become_cells);
    tcase_add_test(tcase, test_oldest_first_and_the_last_so_many);
    tcase_add_test(tcase, test_long_output_keeps_both_ends);
    tcase_add_test(tcase, test_leading_space_is_kept_out);
    tcase_add_test(tcase, test_modes);
    tcase_add_test(tcase, test_files_are_private);
    tcase_add_test(tcase, test_default_path);
    tcase_add_test(tcase, test_search);
    tcase_add_test(tcase, test_search_without_full_text);
    tcase_add_test(tcase, test_search_in_pieces);
    tcase_add_test(tcase, test_sessions_are_listed);
    tcase_add_test(tcase, test_two_programs_are_told);
    tcase_add_test(tcase, test_recycled_pid_is_not_live);
    tcase_add_test(tcase, test_name_of_a_process_may_hold_anything);
    tcase_add_test(tcase, test_rename_and_delete);
    tcase_add_test(tcase, test_delete_leaves_no_trace);
    tcase_add_test(tcase, test_purge_leaves_no_trace);
    tcase_add_test(tcase, test_purge_with_an_index_that_is_unknown);
    tcase_add_test(tcase, test_settling_what_was_purged);
    tcase_add_test(tcase, test_threads_share_a_store);
    tcase_add_test(tcase, test_programs_share_a_file);
    tcase_add_test(tcase, test_nothing_stays_behind);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_run(make_suite());
}
