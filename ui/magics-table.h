/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The magics that are known, one row each. Internal to magics*.c.
 */
#ifndef UI_MAGICS_TABLE_H
#define UI_MAGICS_TABLE_H

#include "strbuf.h"

struct magic_text {
    const char *text;
    size_t size;
};

struct magic {
    const char *name;
    /*
     * Append Python for "%name rest" (line) or for the cell below "%%name rest"; NULL: there is no
     * such form.
     */
    void (*line)(struct strbuf *out, const struct magic *magic, struct magic_text rest);
    void (*cell)(struct strbuf *out, const struct magic *magic, struct magic_text rest,
                 struct magic_text body);
    const char *detail; /* the command of a shell-like magic */
};

/* NULL when there is none. */
const struct magic *magic_find(const char *name, size_t size);

/*
 * An expression for a shell command in which {name} and $name stand for Python values, as in
 * IPython.
 */
void magic_add_command(struct strbuf *out, struct magic_text command);

#endif
