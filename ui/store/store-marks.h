/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The marks that programs leave on the sessions they have open. All on the store's thread.
 */
#ifndef UI_STORE_MARKS_H
#define UI_STORE_MARKS_H

#include "live-mark.h"
#include "store-internal.h"

struct store_marks {
    struct store_mark {
        int64_t session;
        struct live_mark program;
        bool lives;
    } * items;
    size_t count, capacity;
};

bool store_load_marks(struct database *database, struct store_marks *marks);
void store_free_marks(struct store_marks *marks);
/* A living program other than this one that has the session open; NULL: none. */
const struct store_mark *store_other_mark(const struct store_marks *marks, int64_t session);
/* Take away those of programs that are no more. */
bool store_sweep_marks(struct database *database, const struct store_marks *marks);

#endif
