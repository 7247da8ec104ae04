/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that are either the old one or the new one, never half of it: a temporary file in the same
 * directory, then rename. A symbolic link is followed, a device or a pipe is written to as it is.
 */
#ifndef UI_ATOMIC_FILE_H
#define UI_ATOMIC_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "strbuf.h"

/*
 * Whether path can be written, without changing it: asked before anything runs. On failure error
 * gets one line.
 */
bool atomic_file_check(const char *path, struct strbuf *error);
bool atomic_file_write(const char *path, const char *data, size_t size, struct strbuf *error);

#endif
