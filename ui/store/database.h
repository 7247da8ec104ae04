/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One open database of the store: its schema, prepared statements, waiting for other processes, and
 * what a failure means. Knows where it is, not why; used by one thread.
 */
#ifndef UI_DATABASE_H
#define UI_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sqlite-api.h"
#include "strbuf.h"

#define DATABASE_VERSION 2

enum database_state {
    DATABASE_OK,
    DATABASE_BUSY,      /* another process has it locked */
    DATABASE_DAMAGED,   /* not a database, or not a whole one */
    DATABASE_NEWER,     /* of a later version of this program */
    DATABASE_READ_ONLY, /* readable at most */
    DATABASE_FULL,      /* no room; or the disk fails */
    DATABASE_FAILED,    /* cannot be opened at all */
    DATABASE_STOPPED,   /* the deadline came */
    DATABASE_REFUSED,   /* this statement only */
};

/* How texts are found. */
enum database_index {
    INDEX_TRIGRAM, /* any part of a text of three characters or more */
    INDEX_NONE,    /* SQLite before 3.34, or without FTS5: every row is looked at */
};

enum statement {
#define X(name, text) STATEMENT_##name,
#include "statements.h"
#undef X
    STATEMENT_COUNT
};

struct database {
    const struct sqlite_api *sql;
    sqlite3 *handle;
    sqlite3_stmt *statements[STATEMENT_COUNT];
    enum database_index index;
    enum database_state state; /* of the last step */
    int code;                  /* SQLite's own, extended */
    int64_t busy_ms;           /* until when to wait for others; monotonic */
    int64_t stop_ms;           /* when to break off; 0: never */
    int journal_pages;         /* after the last commit */
    int journal_seen;          /* when it was copied last */
    dev_t device;              /* of the file that was opened */
    ino_t inode;
};

/*
 * path NULL: in memory. On DATABASE_OK *ret_database is yours; else error gets a line. A file that
 * is not there is made, mode 0600.
 */
enum database_state database_open(const char *path, int64_t busy_ms, enum database_index wanted,
                                  struct database **ret_database, struct strbuf *error);
/* All that is readable in a file that cannot be written, as a database in memory. */
enum database_state database_open_copy(const char *path, struct database **ret_database,
                                       struct strbuf *error);
void database_close(struct database *database);
/*
 * The same, but the journal is not copied into the file and deleted: the file is damaged, or
 * another one has its name, and the journal's.
 */
void database_abandon(struct database *database);

/* Ready to bind; NULL: state says why. */
sqlite3_stmt *database_statement(struct database *database, enum statement statement);
void database_bind_text(struct database *database, sqlite3_stmt *statement, int place,
                        const char *text, size_t size); /* must stay; NULL: null */
void database_bind_int(struct database *database, sqlite3_stmt *statement, int place,
                       int64_t number);
/* True: a row. Else state is DATABASE_OK at the end of the rows; the statement is reset. */
bool database_row(struct database *database, sqlite3_stmt *statement);
bool database_run(struct database *database, sqlite3_stmt *statement); /* all of it */
bool database_exec(struct database *database, const char *text);
const char *database_fault(struct database *database); /* a few words on the last failure */

/*
 * Parts of database_open() (database-schema.c, database-index.c): make or migrate the tables; find
 * out whether there is an index that can be used, and bring it up to date.
 */
bool database_migrate(struct database *database, int64_t from);
bool database_find_index(struct database *database, enum database_index wanted);
/* Add a row's text to an index, or take it out. True without an index. */
bool database_index(struct database *database, enum statement statement, int64_t row,
                    const char *text, size_t size);
bool database_clear_index(struct database *database);

/* A number by its name; none: other. */
int64_t database_meta(struct database *database, const char *name, int64_t other);
bool database_set_meta(struct database *database, const char *name, int64_t value);

#endif
