/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a batch leaves to a prompt when a cell failed (--on-error interactive): the session with its
 * kernel as it is, and the cells behind the one that failed.
 */
#ifndef UI_REST_H
#define UI_REST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "document.h"

struct rest_cell {
    size_t cell;   /* index in the document */
    size_t number; /* as people count in the file */
};

struct rest {
    bool wanted; /* a prompt is to open */
    const char *session;
    struct document document;
    struct rest_cell *cells;
    size_t count, capacity, at; /* at: the first that was not run */
    char *label;                /* the file, for messages */
    /* What the kernel was started with. */
    char *script, *file_name, *path0; /* file_name: in tracebacks; NULL: of a notebook */
    const char *const *argv;          /* NULL-ended, or NULL; the caller's */
    unsigned next_number;             /* of the prompt's first cell */
    char *remark;                     /* one line on what happened */
};

static inline void rest_free(struct rest *rest)
{
    document_free(&rest->document);
    free(rest->cells);
    free(rest->label);
    free(rest->script);
    free(rest->file_name);
    free(rest->path0);
    free(rest->remark);
}

#endif
