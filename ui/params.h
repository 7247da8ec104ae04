/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parameters of a run, with papermill's meaning: values of -p are True, False, None, an integer, a
 * number or else a string; a file holds a JSON object with values of any kind. They become the
 * assignments of a cell that runs after the cell tagged "parameters", in place of one tagged
 * "injected-parameters", or else before the first cell.
 */
#ifndef UI_PARAMS_H
#define UI_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "document.h"
#include "strbuf.h"

struct params {
    struct param {
        char *name;
        char *value; /* a Python expression */
    } * items;
    size_t count, capacity;
};

/*
 * "NAME=VALUE". A later value of a name replaces the earlier one. On failure error gets one line.
 */
bool params_add_text(struct params *params, const char *text, struct strbuf *error);
/* The members of a JSON object. */
bool params_add_json(struct params *params, const char *text, size_t size, struct strbuf *error);
void params_free(struct params *params);

/* Put the cell into the document; returns its index. */
size_t params_inject(const struct params *params, struct document *document);

/* Append a Python string literal. */
void params_add_literal(struct strbuf *buf, const char *data, size_t size);

#define PARAMS_TAG "injected-parameters"

#endif
