/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files as tools take them: where a path leads to, what is in it, whether that is text, and writing
 * it back.
 */
#ifndef UI_TOOL_FILE_H
#define UI_TOOL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "strbuf.h"
#include "tool.h"

/*
 * The path as an absolute one: "~" is the home, the rest starts from the context's directory. ""
 * stays. Yours.
 */
char *tool_path(const struct tool_context *context, const char *path);

/*
 * Open a regular file for reading; anything else is refused without waiting for it. -1: error has
 * one line, with the nearest name if there is no such file. name is what the message calls it.
 */
int tool_open(const char *path, const char *name, struct stat *ret_status, struct strbuf *error);

/* A whole file of at most most bytes. */
bool tool_read_all(const char *path, const char *name, size_t most, struct strbuf *bytes,
                   struct strbuf *error);

/*
 * Whether the beginning of a file is no text: NULs, or mostly control characters. Says which kind,
 * or NULL.
 */
const char *tool_binary_kind(const char *data, size_t size);

struct tool_written {
    bool created; /* there was no such file */
    bool dirs_created;
};

/*
 * Replace a file by data, at once or not at all. Links are followed, also to what does not exist
 * yet; directories are made; the mode is kept. Devices and the like are refused. ret_written may be
 * NULL.
 */
bool tool_write_all(const char *path, const char *name, const char *data, size_t size,
                    struct tool_written *ret_written, struct strbuf *error);

/* The first program of that name on PATH; yours, or NULL. A name with a slash is taken as it is. */
char *tool_program(const char *name);

#endif
