/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The store where something is wrong: files that are damaged, locked, of a newer version or not to
 * be written; disks that are full; no home. It goes on, says so once, and neither loses nor
 * overwrites what was there.
 */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store-internal.h"
#include "store-purge.h"
#include "store-read.h"
#include "store-testlib.h"
#include "testlib.h"

static const char *path;
static char *directory;

static void set_up(void)
{
    directory = strdup(test_path("state"));
    path = strdup(test_path("state/history.db"));
}

static void tear_down(void)
{
    free(directory);
    free((char *)path);
}

/* ---- helpers -------------------------------------------------------------------------------- */

static void fill(unsigned count)
{
    struct store *store = store_open(path, STORE_ON);
    char source[64], output[2000];
    for (unsigned i = 0; i < count; i++) {
        snprintf(source, sizeof(source), "earlier(%u)", i);
        memset(output, 'o', sizeof(output) - 1);
        output[sizeof(output) - 1] = '\0';
        test_cell_give(store, "s", i, source, "success", output);
    }
    ck_assert(store_flush(store, 20000));
    store_close(store);
}

static char *read_bytes(const char *name, size_t *ret_size)
{
    FILE *file = fopen(name, "rb");
    ck_assert_msg(file != NULL, "%s", name);
    char *bytes = malloc(1 << 24);
    *ret_size = fread(bytes, 1, 1 << 24, file);
    fclose(file);
    return bytes;
}

static void write_bytes(const char *name, const char *bytes, size_t size)
{
    FILE *file = fopen(name, "wb");
    ck_assert_msg(file != NULL, "%s", name);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* The only file that was set aside, but for its journal; free(). */
static char *set_aside_name(int *ret_count)
{
    DIR *dir = opendir(directory);
    char *found = NULL;
    *ret_count = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t size = strlen(entry->d_name);
        if (strncmp(entry->d_name, "history.db.damaged-20", 21) != 0)
            continue;
        if (strcmp(entry->d_name + size - 4, "-wal") == 0 ||
            strcmp(entry->d_name + size - 4, "-shm") == 0)
            continue;
        ++*ret_count;
        free(found);
        found = strdup(test_path("state/%s", entry->d_name));
    }
    closedir(dir);
    return found;
}

/* It works from here on, and has said one thing: that. */
static void check_works(struct store *store, const char *remark, bool lasts)
{
    int64_t id = test_cell_give(store, "new", 1, "new_cell()", "success", "fine");
    ck_assert_int_gt(id, 0);
    char *said = test_remark(store);
    ck_assert_msg(said && strstr(said, remark), "%s (not: %s)", said ? said : "no remark", remark);
    free(said);
    ck_assert(store_flush(store, 5000) == lasts);
    ck_assert_uint_eq(test_cells_of(store, "new")->count, 1);
    ck_assert_uint_eq(test_cells_found(store, NULL, "new_cell(")->count, 1);
    ck_assert_uint_ge(test_sessions(store, NULL, NULL), 1);
    said = store_take_remark(store);
    ck_assert_msg(!said, "%s", said ? said : "");
}

/* Store over these bytes: set aside as they are, and a new one. */
static void check_damaged(const char *bytes, size_t size)
{
    int count;
    size_t kept_size;
    test_remove_tree(directory);
    mkdir(directory, 0700);
    write_bytes(path, bytes, size);
    struct store *store = store_open(path, STORE_ON);
    check_works(store, "the history was damaged; it is in ", true);
    store_close(store);
    char *name = set_aside_name(&count);
    ck_assert_int_eq(count, 1);
    char *kept = read_bytes(name, &kept_size);
    ck_assert_uint_eq(kept_size, size);
    ck_assert_mem_eq(kept, bytes, size);
    free(kept);
    free(name);
    store = store_open(path, STORE_ON);
    ck_assert_uint_eq(test_cells_of(store, "new")->count, 1);
    ck_assert_ptr_null(store_take_remark(store));
    store_close(store);
}

/* ---- damage --------------------------------------------------------------------------------- */

START_TEST(test_random_bytes)
{
    char bytes[20000];
    srandom(7);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)random();
    check_damaged(bytes, sizeof(bytes));
    check_damaged("this is my shopping list\n", 25);
    check_damaged("x", 1);
}
END_TEST

START_TEST(test_truncated)
{
    size_t size;
    fill(200);
    char *bytes = read_bytes(path, &size);
    ck_assert_uint_gt(size, 100000);
    check_damaged(bytes, size - 4096);
    check_damaged(bytes, size / 2);
    check_damaged(bytes, size / 2 + 100);
    check_damaged(bytes, 4096);
    check_damaged(bytes, 1000);
    check_damaged(bytes, 100);
    free(bytes);
}
END_TEST

START_TEST(test_empty_file_is_a_new_one)
{
    mkdir(directory, 0700);
    write_bytes(path, "", 0);
    struct store *store = store_open(path, STORE_ON);
    test_cell_give(store, "s", 1, "x", "success", "");
    ck_assert(store_flush(store, 5000));
    ck_assert_uint_eq(test_cells_of(store, "s")->count, 1);
    ck_assert_ptr_null(store_take_remark(store));
    store_close(store);
}
END_TEST

/* Killed with all in the journal; then the file is cut to nothing: the journal is worth keeping. */
START_TEST(test_emptied_file_with_a_journal)
{
    int count, status;
    size_t size, kept_size;
    pid_t child = fork();
    if (child == 0) {
        struct store *store = store_open(path, STORE_ON);
        test_cell_give(store, "s", 1, "in_the_journal()", "success", "");
        _exit(store_flush(store, 5000) ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    char *journal = read_bytes(test_path("state/history.db-wal"), &size);
    ck_assert_ptr_nonnull(memmem(journal, size, "in_the_journal()", 16));
    ck_assert_int_eq(truncate(path, 0), 0);
    struct store *store = store_open(path, STORE_ON);
    check_works(store, "the history was damaged", true);
    store_close(store);
    char *name = set_aside_name(&count);
    ck_assert_int_eq(count, 1);
    char *of_it = malloc(strlen(name) + 8);
    sprintf(of_it, "%s-wal", name);
    char *kept = read_bytes(of_it, &kept_size);
    ck_assert_uint_eq(kept_size, size);
    ck_assert_mem_eq(kept, journal, size);
    free(of_it);
    free(kept);
    free(journal);
    free(name);
}
END_TEST

/* Pages in the middle: found when they are read or written. What comes after is kept. */
START_TEST(test_damage_in_the_middle)
{
    size_t size;
    int count;
    fill(300);
    char *bytes = read_bytes(path, &size);
    memset(bytes + 4096, 0x5A, size - 4096); /* all but the first page */
    write_bytes(path, bytes, size);
    struct store *store = store_open(path, STORE_ON);
    test_cell_give(store, "new", 1, "new_cell()", "success", "");
    bool kept = store_flush(store, 5000);
    if (!kept) { /* the first try found the damage */
        test_cell_give(store, "new", 2, "new_cell()", "success", "");
        kept = store_flush(store, 5000);
    }
    ck_assert(kept);
    char *said = test_remark(store);
    ck_assert_ptr_nonnull(said);
    ck_assert_ptr_nonnull(strstr(said, "the history was damaged"));
    ck_assert_uint_ge(test_cells_of(store, "new")->count, 1);
    free(said);
    ck_assert_ptr_null(store_take_remark(store));
    store_close(store);
    free(set_aside_name(&count));
    ck_assert_int_eq(count, 1);
    free(bytes);
}
END_TEST

/* The same, under a store that is open; cells that were begun before are settled after. */
START_TEST(test_damage_while_open)
{
    size_t size;
    int count;
    fill(300);
    struct store *store = store_open(path, STORE_ON);
    ck_assert(!store_enter(store, "live"));
    int64_t id = test_cell_give(store, "s", 1000, "begun()", NULL, NULL);
    ck_assert(store_flush(store, 5000));
    char *bytes = read_bytes(path, &size);
    memset(bytes + 4096, 0x5A, size - 4096);
    int fd = open(path, O_WRONLY); /* in place, not as a new file */
    ck_assert_int_eq(pwrite(fd, bytes, size, 0), (ssize_t)size);
    int journal = open(test_path("state/history.db-wal"), O_WRONLY | O_TRUNC);
    ck_assert_int_ge(journal, 0);
    struct store_cell cell = {.session = "s", .status = "success", .output = "o", .output_size = 1};
    store_settle(store, id, &cell);
    test_cell_give(store, "live", 1, "new_cell()", "success", "fine");
    ck_assert(test_wait(store_flush(store, 1000), 10000));
    char *said = test_remark(store);
    ck_assert_ptr_nonnull(said);
    ck_assert_ptr_nonnull(strstr(said, "the history was damaged"));
    free(said);
    ck_assert_uint_eq(test_cells_of(store, "live")->count, 1);
    struct store_session session;
    test_sessions(store, "live", &session);
    ck_assert(session.live);
    store_close(store);
    free(set_aside_name(&count));
    ck_assert_int_eq(count, 1);
    close(fd);
    close(journal);
    free(bytes);
}
END_TEST

/*
 * Bytes that are wrong anywhere, in the file or its journal: whatever is found or not, it goes on.
 */
START_TEST(test_wrong_bytes_anywhere)
{
    size_t size, journal_size;
    int status;
    pid_t child = fork();
    if (child == 0) { /* ends without a word, so that there is a journal */
        fill(100);
        struct store *store = store_open(path, STORE_ON);
        for (unsigned i = 0; i < 50; i++)
            test_cell_give(store, "j", i, "journal()", "success", "output\n");
        _exit(store_flush(store, 5000) ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    char *bytes = read_bytes(path, &size);
    char *journal = read_bytes(test_path("state/history.db-wal"), &journal_size);
    for (unsigned round = 0; round < 60; round++) {
        srandom(round);
        char *copy = malloc(size), *journal_copy = malloc(journal_size);
        memcpy(copy, bytes, size);
        memcpy(journal_copy, journal, journal_size);
        for (long n = random() % 200 + 1; n; n--) {
            if (random() % 3)
                copy[(size_t)random() % (random() % 2 ? 8192 : size)] = (char)random();
            else
                journal_copy[(size_t)random() % journal_size] = (char)random();
        }
        test_remove_tree(directory);
        mkdir(directory, 0700);
        write_bytes(path, copy, size);
        write_bytes(test_path("state/history.db-wal"), journal_copy, journal_size);
        struct store *store = store_open(path, STORE_ON);
        bool kept = false;
        for (unsigned i = 0; i < 5 && !kept; i++) {
            test_cell_give(store, "new", i, "new_cell()", "success", "o");
            kept = store_flush(store, 5000);
        }
        ck_assert_msg(kept, "seed %u", round);
        struct test_cells cells = {.items = NULL};
        store_search(store, NULL, "earlier(", 100, test_cells_take, &cells);
        test_cells_clear(&cells);
        store_close(store);
        store = store_open(path, STORE_ON);
        bool read = store_read_session(store, "new", 10, test_cells_take, &cells);
        if (!read) /* that found the damage */
            test_cell_give(store, "new", 9, "new_cell()", "success", "o");
        ck_assert(store_flush(store, 5000));
        test_cells_clear(&cells);
        ck_assert_uint_ge(test_cells_of(store, "new")->count, 1);
        store_close(store);
        free(copy);
        free(journal_copy);
    }
    free(bytes);
    free(journal);
}
END_TEST

/* Several programs find the damage at the same time: one sets the file aside, and all go on. */
START_TEST(test_several_find_the_damage)
{
    pid_t children[4];
    int count;
    for (int round = 0; round < 20; round++) {
        test_remove_tree(directory);
        mkdir(directory, 0700);
        test_write_file(path, "no database at all, but long enough to be looked at", 0600);
        for (int i = 0; i < 4; i++) {
            children[i] = fork();
            if (children[i] == 0) {
                struct store *store = store_open(path, STORE_ON);
                test_cell_give(store, "s", 1, "x", "success", "");
                bool good = store_flush(store, 20000);
                store_close(store);
                _exit(good ? 0 : 1);
            }
        }
        for (int i = 0; i < 4; i++)
            ck_assert_int_eq(test_reap(children[i], 30000), 0);
        free(set_aside_name(&count));
        ck_assert_int_eq(count, 1);
        struct store *store = store_open(path, STORE_ON);
        ck_assert_uint_eq(test_cells_of(store, "s")->count, 4);
        store_close(store);
    }
}
END_TEST

/* What is written when the file is no more where it was does not go with it. */
START_TEST(test_file_is_deleted_while_open)
{
    fill(3);
    struct store *store = store_open(path, STORE_ON);
    ck_assert(!store_enter(store, "live"));
    test_cell_give(store, "live", 1, "before()", "success", "");
    ck_assert(store_flush(store, 5000));
    const char *const suffixes[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++)
        unlink(test_path("state/history.db%s", suffixes[i]));
    test_cell_give(store, "live", 2, "after()", "success", "");
    ck_assert(store_flush(store, 5000));
    /* Nor does closing a file whose name another one has take the other's journal away. */
    struct store *other = store_open(path, STORE_ON);
    test_cell_give(other, "live", 3, "other()", "success", "");
    ck_assert(store_flush(other, 5000));
    ck_assert_int_eq(rename(path, test_path("state/elsewhere.db")), 0);
    ck_assert_int_eq(rename(test_path("state/history.db-wal"), test_path("state/elsewhere.db-wal")),
                     0);
    unlink(test_path("state/history.db-shm"));
    test_cell_give(other, "live", 4, "new_file()", "success", "");
    ck_assert(store_flush(other, 5000));
    store_close(store);
    ck_assert(test_exists(test_path("state/history.db-wal")));
    store_close(other);
    store = store_open(path, STORE_ON);
    const struct test_cells *cells = test_cells_of(store, "live");
    ck_assert_uint_eq(cells->count, 1);
    ck_assert_str_eq(cells->items[0].source, "new_file()");
    store_close(store);
    store = store_open(test_path("state/elsewhere.db"), STORE_ON);
    ck_assert_uint_eq(test_cells_of(store, "live")->count, 2);
    store_close(store);
}
END_TEST

/* ---- other versions ------------------------------------------------------------------------- */

static void raw(const char *text)
{
    sqlite3 *database;
    char *error = NULL;
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_exec(database, text, NULL, NULL, &error);
    ck_assert_msg(!error, "%s: %s", text, error ? error : "");
    sqlite3_close(database);
}

START_TEST(test_newer_version)
{
    size_t size, size_after;
    fill(3);
    raw("PRAGMA user_version = 99; ALTER TABLE cells RENAME TO renamed");
    char *bytes = read_bytes(path, &size);
    struct store *store = store_open(path, STORE_ON);
    check_works(store, "is of a newer hermes-repl and is left alone; history is kept in ", true);
    store_close(store);
    char *after = read_bytes(path, &size_after);
    ck_assert_uint_eq(size, size_after);
    ck_assert_mem_eq(bytes, after, size);
    ck_assert(test_exists(test_path("state/history-2.db")));
    store = store_open(path, STORE_ON);
    ck_assert_uint_eq(test_cells_of(store, "new")->count, 1);
    struct strbuf error = STRBUF_INIT;
    ck_assert(!store_purge(store, &error));
    ck_assert_ptr_nonnull(strstr(strbuf_text(&error), "is of a newer hermes-repl"));
    ck_assert_uint_eq(test_cells_of(store, "new")->count, 0);
    strbuf_free(&error);
    store_close(store);
    free(bytes);
    free(after);
}
END_TEST

/* Somebody else's database, or one that lost a table: not ours to write in. */
START_TEST(test_tables_are_missing)
{
    int count;
    mkdir(directory, 0700);
    raw("CREATE TABLE recipes(a); PRAGMA user_version = 1");
    struct store *store = store_open(path, STORE_ON);
    check_works(store, "the history was damaged", true);
    raw("DROP TABLE cells"); /* under an open store */
    test_cell_give(store, "new", 2, "after()", "success", "");
    ck_assert(store_flush(store, 5000));
    ck_assert_uint_eq(test_cells_of(store, "new")->count, 1);
    store_close(store);
    free(set_aside_name(&count));
    ck_assert_int_eq(count, 2);
}
END_TEST

/* A database without any table is what version 0 is: the steps to now are taken. */
START_TEST(test_older_version_migrates)
{
    mkdir(directory, 0700);
    raw("PRAGMA journal_mode = DELETE; PRAGMA user_version = 0; CREATE TABLE other(a);"
        "INSERT INTO other VALUES(1)");
    struct store *store = store_open(path, STORE_ON);
    test_cell_give(store, "s", 1, "x", "success", "");
    ck_assert(store_flush(store, 5000));
    store_close(store);
    raw("SELECT a FROM other");
    fill(3);
    store = store_open(path, STORE_ON);
    ck_assert_uint_eq(test_cells_of(store, "s")->count, 4);
    ck_assert_ptr_null(store_take_remark(store));
    store_close(store);
}
END_TEST

/* The columns that the next version has are empty in what was there. */
START_TEST(test_version_one_migrates)
{
    fill(3);
    raw("ALTER TABLE cells DROP COLUMN how; ALTER TABLE cells DROP COLUMN origin;"
        "ALTER TABLE cells DROP COLUMN first_line; PRAGMA user_version = 1");
    struct store *store = store_open(path, STORE_ON);
    const struct store_cell cell = {.session = "s",
                                    .number = 9,
                                    .source = "x",
                                    .source_size = 1,
                                    .how = STORE_HOW_PIPES,
                                    .origin = "/a.py",
                                    .first_line = 7};
    ck_assert_int_ne(store_begin(store, &cell), 0);
    ck_assert(store_flush(store, 5000));
    const struct test_cells *cells = test_cells_of(store, "s");
    ck_assert_uint_eq(cells->count, 4);
    ck_assert_ptr_null(cells->items[0].origin);
    ck_assert_uint_eq(cells->items[0].how, 0);
    ck_assert_str_eq(cells->items[3].origin, "/a.py");
    ck_assert_uint_eq(cells->items[3].how, STORE_HOW_PIPES);
    ck_assert_uint_eq(cells->items[3].first_line, 7);
    ck_assert_ptr_null(store_take_remark(store));
    store_close(store);
    raw("SELECT how, origin, first_line FROM cells");
}
END_TEST

/* ---- not to be written ---------------------------------------------------------------------- */

/* Root may write everywhere: what is about permissions runs as somebody else. */
static void as_nobody(void (*check)(void))
{
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0) {
            for (char *slash = strchr(directory + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
                *slash = '\0';
                struct stat status;
                if (stat(directory, &status) == 0 && !(status.st_mode & 0001))
                    chmod(directory, status.st_mode | 0011);
                *slash = '/';
            }
            ck_assert_int_eq(setgid(65534), 0);
            ck_assert_int_eq(setuid(65534), 0);
        }
        check();
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

static void check_memory_only(void)
{
    struct store *store = store_open(path, STORE_ON);
    check_works(store, "history is kept in memory only: ", false);
    store_close(store);
}

START_TEST(test_directory_in_its_place)
{
    mkdir(directory, 0700);
    mkdir(path, 0700);
    check_memory_only();
    ck_assert(test_exists(path));
    test_remove_tree(directory);
    test_write_file(directory, "a file where the directory should be", 0600);
    check_memory_only();
}
END_TEST

START_TEST(test_home_cannot_be_written)
{
    mkdir(directory, 0555);
    as_nobody(check_memory_only);
    free((char *)path);
    path = strdup(test_path("state/a/b/history.db"));
    as_nobody(check_memory_only);
    ck_assert(!test_exists(test_path("state/a")));
}
END_TEST

/* What is there is seen; what is new is not kept. */
static void check_read_only(void)
{
    struct strbuf error = STRBUF_INIT;
    struct store *store = store_open(path, STORE_ON);
    check_works(store, "history is kept in memory only: ", false);
    ck_assert_uint_eq(test_cells_of(store, "s")->count, 20);
    ck_assert_uint_eq(test_cells_found(store, NULL, "earlier(7)")->count, 1);
    ck_assert(!store_delete(store, "s", &error));
    ck_assert_str_eq(strbuf_text(&error), "the history cannot be written");
    ck_assert(!store_rename_lasting(store, "s", "t", &error));
    ck_assert(store_rename(store, "new", "t", &error)); /* as it is shown */
    ck_assert(!store_purge(store, &error));
    strbuf_free(&error);
    store_close(store);
}

START_TEST(test_read_only_file_and_directory)
{
    size_t size, size_after;
    fill(20);
    char *bytes = read_bytes(path, &size);
    chmod(path, 0444);
    chmod(directory, 0777);
    as_nobody(check_read_only);
    chmod(directory, 0555);
    as_nobody(check_read_only);
    chmod(path, 0666); /* only the directory: no journal can be made */
    as_nobody(check_read_only);
    unlink(test_path("state/history.db-wal"));
    unlink(test_path("state/history.db-shm"));
    as_nobody(check_read_only);
    chmod(path, 0600); /* not even to be read */
    as_nobody(check_memory_only);
    char *after = read_bytes(path, &size_after);
    ck_assert_uint_eq(size, size_after);
    ck_assert_mem_eq(bytes, after, size);
    free(bytes);
    free(after);
}
END_TEST

START_TEST(test_no_home)
{
    unsetenv("HOME");
    unsetenv("XDG_STATE_HOME");
    struct store *store = store_open(NULL, STORE_ON);
    check_works(store, "history is kept in memory only: there is no home directory", false);
    store_close(store);
}
END_TEST

/* ---- no room -------------------------------------------------------------------------------- */

static const char *big(char letter)
{
    static char text[200001];
    memset(text, letter, sizeof(text) - 1);
    return text;
}

/* Give cells until one cannot be kept. Returns how many were acknowledged. */
static unsigned give_until_full(struct store *store)
{
    unsigned count = 0;
    for (;; count++) {
        ck_assert_uint_lt(count, 1000);
        test_cell_give(store, "full", count, "cell()", "success", big('a'));
        if (!store_flush(store, 20000))
            return count;
    }
}

static void check_full(void (*make_room)(void))
{
    struct store *store = store_open(path, STORE_ON);
    unsigned kept = give_until_full(store);
    ck_assert_uint_gt(kept, 0);
    char *said = test_remark(store);
    ck_assert_ptr_nonnull(said);
    ck_assert_ptr_nonnull(strstr(said, "cannot be written now ("));
    ck_assert_ptr_nonnull(strstr(said, "cells wait in memory"));
    free(said);
    test_cell_give(store, "full", kept + 1, "waits()", "success", "small");
    ck_assert(!store_flush(store, 20000));
    size_t there = test_cells_of(store, "full")->count; /* can be read; perhaps the last is begun */
    ck_assert_uint_ge(there, kept);
    ck_assert_uint_le(there, kept + 1);
    ck_assert_ptr_null(store_take_remark(store));
    make_room();
    ck_assert(test_wait(store_flush(store, 1000), 20000)); /* nothing of it was lost */
    ck_assert_uint_eq(test_cells_of(store, "full")->count, kept + 2);
    ck_assert_uint_eq(test_cells_found(store, NULL, "waits()")->count, 1);
    ck_assert_ptr_null(store_take_remark(store));
    store_close(store);
}

static void lift_limit(void)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

START_TEST(test_file_size_limit)
{
    struct rlimit limit = {2000000, RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    check_full(lift_limit);
}
END_TEST

static void remove_ballast(void)
{
    ck_assert_int_eq(unlink(test_path("state/ballast")), 0);
}

START_TEST(test_full_disk)
{
    char *ballast = calloc(1, 1 << 20);
    mkdir(directory, 0700);
    if (mount("tmpfs", directory, "tmpfs", 0, "size=3m") < 0) {
        free(ballast); /* the limit above is the same for whoever is not root */
        fputs("test_full_disk skipped: a file system cannot be mounted\n", stderr);
        return;
    }
    write_bytes(test_path("state/ballast"), ballast, 1 << 20);
    check_full(remove_ballast);
    /* Not even room to begin: it waits, too. */
    unlink(path);
    FILE *file = fopen(test_path("state/ballast"), "wb");
    while (fwrite(ballast, 1, 4096, file) == 4096 && fflush(file) == 0)
        ;
    fclose(file);
    struct store *store = store_open(path, STORE_ON);
    test_cell_give(store, "s", 1, "x", "success", "");
    ck_assert(!store_flush(store, 5000));
    char *said = test_remark(store);
    ck_assert_ptr_nonnull(said);
    free(said);
    remove_ballast();
    ck_assert(test_wait(store_flush(store, 1000), 20000));
    ck_assert_uint_eq(test_cells_of(store, "s")->count, 1);
    store_close(store);
    ck_assert_int_eq(umount2(directory, MNT_DETACH), 0);
    free(ballast);
}
END_TEST

START_TEST(test_much_waits_and_memory_is_bounded)
{
    struct rlimit limit = {500000, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    struct store *store = store_open(path, STORE_ON);
    for (unsigned i = 0; i < 500; i++)
        test_cell_give(store, "s", i, "cell()", "success", big('b'));
    ck_assert(!store_flush(store, 20000));
    lift_limit();
    ck_assert(test_wait(store_flush(store, 1000), 30000));
    const struct test_cells *cells = test_cells_of(store, "s");
    ck_assert_uint_eq(cells->count, 500);
    size_t bytes = 0;
    for (size_t i = 0; i < 500; i++) {
        ck_assert_str_eq(cells->items[i].status, "success");
        bytes += cells->items[i].output_size;
    }
    ck_assert_uint_lt(bytes, STORE_BACKLOG_BYTES + (8u << 20));
    ck_assert_ptr_nonnull(strstr(cells->items[499].output, "output not kept"));
    store_close(store);
}
END_TEST

/* ---- locked by another ---------------------------------------------------------------------- */

/*
 * A process that, told to, has the file for itself until it is killed. It begins before the store
 * is opened: a file that SQLite has open must not pass through fork().
 */
struct locker {
    pid_t pid;
    int go, ready;
};

static struct locker start_locker(const char *locks)
{
    int ready[2], go[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    ck_assert_int_eq(pipe(go), 0);
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *database;
        close(go[1]);
        if (read(go[0], &byte, 1) != 1)
            _exit(1);
        sqlite3_open(path, &database);
        sqlite3_busy_timeout(database, 5000);
        if (sqlite3_exec(database, locks, NULL, NULL, NULL) || write(ready[1], "r", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    close(go[0]);
    return (struct locker){child, go[1], ready[0]};
}

static void let_lock(const struct locker *locker)
{
    char byte;
    ck_assert_int_eq(write(locker->go, "g", 1), 1);
    ck_assert_int_eq(read(locker->ready, &byte, 1), 1);
    close(locker->go);
    close(locker->ready);
}

static void end_locker(const struct locker *locker)
{
    kill(locker->pid, SIGKILL);
    waitpid(locker->pid, NULL, 0);
}

#define SLOW_MS 400 /* three of them are more than a reading may take */

static bool doze(struct store *store, struct store_call *call)
{
    (void)store, (void)call;
    poll(NULL, 0, SLOW_MS);
    return true;
}

struct slow_reading {
    struct store *store;
    size_t count;
};

/* Whenever a piece has come, something that takes long stands before the next one. */
static bool take_and_hold_up(void *context, const struct store_cell *cell)
{
    struct slow_reading *reading = context;
    (void)cell;
    if (reading->count++ % STORE_PIECE_CELLS == 0)
        ck_assert_ptr_null(store_call(reading->store, doze, NULL, free, false, SLOW_MS / 10));
    return true;
}

START_TEST(test_slow_reading_ends_in_time)
{
    const unsigned count = 4 * STORE_PIECE_CELLS + 1;
    fill(count);
    struct slow_reading reading = {store_open(path, STORE_ON), 0};
    ck_assert(!store_search(reading.store, NULL, "earlier(", count, take_and_hold_up, &reading));
    ck_assert(reading.count > 0 && reading.count <= 3 * STORE_PIECE_CELLS);
    reading.count = 0; /* who wants all of it has the time */
    ck_assert(store_search(reading.store, NULL, "earlier(", SIZE_MAX, take_and_hold_up, &reading));
    ck_assert_uint_eq(reading.count, count);
    store_close(reading.store);
}
END_TEST

START_TEST(test_locked_for_long)
{
    fill(5);
    struct locker locker = start_locker("BEGIN IMMEDIATE; CREATE TABLE held(a)");
    struct store *store = store_open(path, STORE_ON);
    ck_assert_uint_eq(test_cells_of(store, "s")->count, 5);
    let_lock(&locker);
    int64_t start = test_now_ms();
    int64_t id = test_cell_give(store, "s", 6, "waits()", "success", "x");
    ck_assert_int_gt(id, 0);
    ck_assert_int_lt(test_now_ms() - start, 100); /* giving does not wait */
    ck_assert(!store_flush(store, 300));
    ck_assert_uint_eq(test_cells_of(store, "s")->count, 5); /* nor does reading, for long */
    ck_assert_int_lt(test_now_ms() - start, test_scaled_ms(2000));
    char *said = test_remark(store);
    ck_assert_ptr_nonnull(said);
    ck_assert_ptr_nonnull(strstr(said, "another program has locked "));
    free(said);
    end_locker(&locker);
    ck_assert(store_flush(store, 10000));
    ck_assert_uint_eq(test_cells_of(store, "s")->count, 6);
    ck_assert_ptr_null(store_take_remark(store));
    store_close(store);
}
END_TEST

START_TEST(test_closing_waits_for_a_lock)
{
    fill(1);
    struct locker locker = start_locker("BEGIN IMMEDIATE; CREATE TABLE held(a)");
    int go[2];
    char byte;
    ck_assert_int_eq(pipe(go), 0);
    pid_t killer = fork();
    if (killer == 0) {
        if (read(go[0], &byte, 1) != 1)
            _exit(1);
        test_pause_ms(700); /* store_close() waits at that time */
        kill(locker.pid, SIGKILL);
        _exit(0);
    }
    let_lock(&locker);
    struct store *store = store_open(path, STORE_ON);
    test_cell_give(store, "s", 2, "late()", "success", "x");
    ck_assert(!store_flush(store, 100));
    ck_assert_int_eq(write(go[1], "g", 1), 1);
    store_close(store);
    waitpid(killer, NULL, 0);
    waitpid(locker.pid, NULL, 0);
    store = store_open(path, STORE_ON);
    ck_assert_uint_eq(test_cells_of(store, "s")->count, 2);
    store_close(store);
}
END_TEST

/* The rows can be deleted, but a journal that somebody reads cannot be cut: that is not hidden. */
START_TEST(test_purge_while_another_reads)
{
    struct strbuf error = STRBUF_INIT;
    fill(5);
    struct locker reader = start_locker("BEGIN; SELECT count(*) FROM cells");
    struct store *store = store_open(path, STORE_ON);
    test_cell_give(store, "s", 6, "in_the_journal()", "success", "x");
    ck_assert(store_flush(store, 5000));
    let_lock(&reader);
    ck_assert(!store_purge(store, &error));
    ck_assert_ptr_nonnull(strstr(strbuf_text(&error), "another program still reads the journal"));
    ck_assert_uint_eq(test_cells_of(store, "s")->count, 0);
    end_locker(&reader);
    ck_assert_msg(store_purge(store, &error), "%s", strbuf_text(&error));
    store_close(store);
    strbuf_free(&error);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("store faults");
    TCase *tcase = tcase_create("faults");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_random_bytes);
    tcase_add_test(tcase, test_truncated);
    tcase_add_test(tcase, test_empty_file_is_a_new_one);
    tcase_add_test(tcase, test_emptied_file_with_a_journal);
    tcase_add_test(tcase, test_damage_in_the_middle);
    tcase_add_test(tcase, test_damage_while_open);
    tcase_add_test(tcase, test_wrong_bytes_anywhere);
    tcase_add_test(tcase, test_several_find_the_damage);
    tcase_add_test(tcase, test_file_is_deleted_while_open);
    tcase_add_test(tcase, test_newer_version);
    tcase_add_test(tcase, test_tables_are_missing);
    tcase_add_test(tcase, test_older_version_migrates);
    tcase_add_test(tcase, test_version_one_migrates);
    tcase_add_test(tcase, test_directory_in_its_place);
    tcase_add_test(tcase, test_home_cannot_be_written);
    tcase_add_test(tcase, test_read_only_file_and_directory);
    tcase_add_test(tcase, test_no_home);
    tcase_add_test(tcase, test_file_size_limit);
    tcase_add_test(tcase, test_full_disk);
    tcase_add_test(tcase, test_much_waits_and_memory_is_bounded);
    tcase_add_test(tcase, test_slow_reading_ends_in_time);
    tcase_add_test(tcase, test_locked_for_long);
    tcase_add_test(tcase, test_closing_waits_for_a_lock);
    tcase_add_test(tcase, test_purge_while_another_reads);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_run(make_suite());
}
