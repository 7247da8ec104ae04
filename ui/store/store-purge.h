/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Deleting so that nothing of it can be read in the files afterwards.
 */
#ifndef UI_STORE_PURGE_H
#define UI_STORE_PURGE_H

#include "store-internal.h"

struct store_purged {
    uint64_t cells, sessions;
    unsigned spills;  /* files with output that was too long */
    unsigned damaged; /* files that were set aside */
};
/* store_purge(), and what it took away. */
bool store_purge_counted(struct store *store, struct store_purged *ret_purged,
                         struct strbuf *error);

/* store_rename(), but not of what is in memory only. */
bool store_rename_lasting(struct store *store, const char *from, const char *to,
                          struct strbuf *error);

/* ---- on the store's thread ------------------------------------------------------------------ */

struct store_spills {
    char **paths;
    size_t count, capacity;
};

/* A session's, in a transaction. */
bool store_delete_rows(struct store *store, int64_t session, struct store_spills *spills);
bool store_purge_rows(struct store *store, struct store_purged *purged);
/* What was deleted also goes out of the indexes, free pages and the journal. */
bool store_wipe(struct store *store, bool all);
unsigned store_remove_spills(const struct store_spills *spills);
void store_free_spills(struct store_spills *spills);
unsigned store_remove_damaged(const char *file);

#endif
