/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run that tests a notebook: each cell's outputs against those that the file holds.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "batch-internal.h"
#include "verify.h"
#include "xalloc.h"

static bool has_run_before(const struct document_cell *cell)
{
    bool counted = cell->count && strcmp(cell->count, "null") != 0;
    return counted || (cell->outputs && strchr(cell->outputs, '{'));
}

bool batch_check_verify(struct batch *batch, struct strbuf *error)
{
    if (batch->options->format != BATCH_VERIFY)
        return true;
    if (batch->document.format != DOCUMENT_NOTEBOOK) {
        strbuf_setf(error,
                    "--verify: %s is no notebook (.ipynb); only those hold outputs to compare with",
                    batch->label);
        return false;
    }
    for (size_t i = 0; i < batch->document.count; i++) {
        if (batch->document.cells[i].kind == CELL_CODE && has_run_before(&batch->document.cells[i]))
            return true;
    }
    strbuf_setf(
        error,
        "--verify: no cell of %s has been run; save it with outputs first (--batch %s --save %s)",
        batch->label, batch->label, batch->label);
    return false;
}

static void show(struct batch *batch, const struct strbuf *difference)
{
    struct strbuf name = STRBUF_INIT, text = STRBUF_INIT;
    strbuf_addf(&text, "%s differs\n%s", batch_cell_name(batch, batch->current, &name),
                strbuf_text(difference));
    batch_write(batch, strbuf_text(&text), text.size);
    strbuf_free(&text);
    strbuf_free(&name);
}

bool batch_verify_result(struct batch *batch, const struct hermes_result *result)
{
    const struct document_cell *cell = &batch->document.cells[batch->current->cell];
    struct strbuf fresh = STRBUF_INIT, difference = STRBUF_INIT;
    bool same = true;
    if (has_run_before(cell)) {
        notebook_write_outputs(&fresh, &batch->records[batch->current->cell]);
        same = verify_compare(cell->outputs, strbuf_text(&fresh), &difference);
    } else if (result->outcome != HERMES_SUCCESS) {
        same = false;
        strbuf_addf(&difference, "%s\n", result->error_size ? result->error : "");
    }
    struct junit_case *one = batch->current->number ? batch_add_case(batch, batch->current) : NULL;
    if (one) {
        one->seconds = (double)result->duration_us / 1e6;
        one->verdict = same ? JUNIT_PASSED : JUNIT_FAILED;
        one->type = same ? NULL : xstrdup("Differs");
        one->message = same ? NULL : xstrdup("the outputs are not those that the notebook holds");
        one->text = same ? NULL : xstrdup(strbuf_text(&difference));
    }
    if (!same) {
        batch->differing++;
        show(batch, &difference);
    }
    strbuf_free(&fresh);
    strbuf_free(&difference);
    return same;
}

void batch_verify_end(struct batch *batch)
{
    struct strbuf text = STRBUF_INIT, reason = STRBUF_INIT;
    size_t compared = 0;
    for (size_t i = 0; i < batch->item_count; i++)
        compared += batch->items[i].number && batch->records[batch->items[i].cell].fate == FATE_RUN;
    strbuf_addf(&text, "%s: %zu of %zu cell%s differ%s", batch->label, batch->differing, compared,
                compared == 1 ? "" : "s", batch->differing == 1 ? "s" : "");
    if (batch->differing && !verify_order(&batch->document, &reason))
        strbuf_addf(&text, "; %s", strbuf_text(&reason));
    strbuf_addc(&text, '\n');
    batch_write(batch, strbuf_text(&text), text.size);
    strbuf_free(&text);
    strbuf_free(&reason);
}
