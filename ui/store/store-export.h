/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A session of the store as a document.
 */
#ifndef UI_STORE_EXPORT_H
#define UI_STORE_EXPORT_H

#include "store.h"

/* By the name of the file a notebook, script, Markdown or page. False with one line in error. */
bool store_export(struct store *store, const char *session, const char *path, struct strbuf *error);

#endif
