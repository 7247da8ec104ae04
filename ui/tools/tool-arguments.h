/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arguments of a tool: read against a table, with one clear line for what is missing, unknown or of
 * a wrong type.
 */
#ifndef UI_TOOL_ARGUMENTS_H
#define UI_TOOL_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "strbuf.h"

enum argument_type {
    ARGUMENT_TEXT,
    ARGUMENT_INTEGER,
    ARGUMENT_NUMBER,
    ARGUMENT_FLAG,
    ARGUMENT_IGNORED
};

/* Where a value goes; it keeps what it has when the argument is absent or null. */
struct argument {
    const char *name;
    enum argument_type type;
    bool needed;
    union {
        const char **text; /* lives as long as the tree */
        int64_t *integer;
        double *number;
        bool *flag;
    } to;
    int64_t least, most; /* of an integer; most below least: no limits */
};

/* The table ends with a row without name. On failure error gets one line. */
bool arguments_read(const cJSON *arguments, const struct argument *table, struct strbuf *error);

/*
 * JSON text of an object as a tree: yours, cJSON_Delete(). Refuses what cJSON would change
 * silently: NUL characters in strings and lone surrogates. NULL: error has one line.
 */
cJSON *arguments_parse(const char *text, size_t size, struct strbuf *error);

#endif
