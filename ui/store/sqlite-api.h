/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SQLite, loaded when the first store is opened: linked, it would add a fifth of a millisecond to
 * each start, also of runs that keep nothing. Knows nothing of what is stored.
 */
#ifndef UI_SQLITE_API_H
#define UI_SQLITE_API_H

#include <sqlite3.h>

/* clang-format off */
#define SQLITE_CALLS(X) \
    X(backup_finish) X(backup_init) X(backup_step) X(bind_int64) X(bind_null) X(bind_text) \
    X(busy_handler) X(changes) X(close) X(column_bytes) X(column_int64) X(column_text) \
    X(column_type) X(db_config) X(db_readonly) X(errmsg) X(exec) X(extended_errcode) X(finalize) \
    X(last_insert_rowid) X(libversion_number) X(open_v2) X(prepare_v2) X(progress_handler) \
    X(reset) X(step) X(system_errno) X(wal_checkpoint_v2) \
    X(wal_hook)
/* clang-format on */

struct sqlite_api {
#define X(name) __typeof__(&sqlite3_##name) name;
    SQLITE_CALLS(X)
#undef X
};

/* From any thread. NULL: there is none, and *ret_why, which stays, says why. */
const struct sqlite_api *sqlite_api(const char **ret_why);

#endif
