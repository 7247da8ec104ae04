/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a run leaves behind: its exit status, saved documents, the JUnit report.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "atomic-file.h"
#include "batch-internal.h"
#include "document-file.h"
#include "xalloc.h"

int batch_status_of(const struct hermes_result *result)
{
    if (result->start_failed)
        return BATCH_STATUS_START;
    switch (result->outcome) {
    case HERMES_SUCCESS:
        return 0;
    case HERMES_TIMEOUT:
        return BATCH_STATUS_TIMEOUT;
    case HERMES_INTERRUPTED:
        return 130;
    case HERMES_ERROR:
        break;
    }
    return result->term_signal ? 128 + result->term_signal : result->exit_code & 0xFF;
}

/*
 * ---- records ----------------------------------------------------------------------------------
 */

static enum junit_verdict verdict_of(const struct hermes_result *result)
{
    if (result->outcome == HERMES_SUCCESS)
        return JUNIT_PASSED;
    bool broken = result->outcome != HERMES_ERROR || result->start_failed || result->term_signal;
    return broken ? JUNIT_ERROR : JUNIT_FAILED;
}

static char *type_of(const struct hermes_result *result, struct error_name name)
{
    if (result->start_failed)
        return xstrdup("StartFailed");
    if (result->outcome == HERMES_TIMEOUT)
        return xstrdup("Timeout");
    if (result->outcome == HERMES_INTERRUPTED)
        return xstrdup("Interrupted");
    if (result->term_signal)
        return xstrdup("KernelDied");
    return xmemdup0(name.name, name.name_size);
}

static char *case_name(const struct batch *batch, const struct batch_item *item)
{
    const struct document_cell *cell = &batch->document.cells[item->cell];
    if (!item->number)
        return xstrdup(PARAMS_TAG);
    return cell->title ? xasprintf("cell %zu: %s", item->number, cell->title)
                       : xasprintf("cell %zu", item->number);
}

struct junit_case *batch_add_case(struct batch *batch, const struct batch_item *item)
{
    if (!batch->options->junit)
        return NULL;
    struct junit_case *one = junit_add(&batch->junit);
    one->name = case_name(batch, item);
    return one;
}

static void add_case(struct batch *batch, const struct hermes_result *result)
{
    enum junit_verdict verdict = verdict_of(result);
    if (verdict == JUNIT_PASSED && !batch->current->number)
        return;
    struct junit_case *one = batch_add_case(batch, batch->current);
    if (!one)
        return; /* none are wanted */
    one->verdict = verdict;
    one->seconds = (double)result->duration_us / 1e6;
    if (verdict == JUNIT_PASSED)
        return;
    const char *error = result->error_size ? result->error : "";
    struct error_name name = outputs_error_name(error, result->error_size);
    one->type = type_of(result, name);
    one->message = xmemdup0(name.message, name.message_size);
    if (name.message_size && one->message[strcspn(one->message, "\n")])
        one->message[strcspn(one->message, "\n")] = '\0';
    one->text = xstrdup(error);
    one->output = result->output_size ? xstrdup(result->output) : NULL;
}

bool batch_keeps_outputs(const struct batch *batch)
{
    return batch->options->saves || batch->options->format == BATCH_VERIFY;
}

void batch_record_result(struct batch *batch, const struct hermes_result *result)
{
    struct cell_record *record = &batch->records[batch->current->cell];
    record->fate = FATE_RUN;
    record->execution_count = result->execution_count;
    if (batch_keeps_outputs(batch) && result->outcome != HERMES_SUCCESS && result->error_size)
        outputs_set_error(&record->outputs, result->error, result->error_size);
    if (batch->options->format != BATCH_VERIFY)
        add_case(batch, result);
}

/*
 * ---- files ------------------------------------------------------------------------------------
 */

bool batch_check_reports(struct batch *batch, struct strbuf *error)
{
    const struct batch_options *options = batch->options;
    for (const char *const *path = options->saves; path && *path; path++) {
        if (document_file_type(*path) == DOCUMENT_FILE_NONE) {
            strbuf_setf(error, "--save: %s should end in .ipynb, .py, .md or .html", *path);
            return false;
        }
        if (!atomic_file_check(*path, error))
            return false;
    }
    return !options->junit || atomic_file_check(options->junit, error);
}

static bool write_file(struct batch *batch, const char *path, const struct strbuf *data)
{
    struct strbuf error = STRBUF_INIT;
    bool good = atomic_file_write(path, strbuf_text(data), data->size, &error);
    if (!good)
        batch_say(batch, true, "%s", strbuf_text(&error));
    strbuf_free(&error);
    return good;
}

static bool save_documents(struct batch *batch)
{
    bool good = true;
    int64_t start = now_ms();
    for (const char *const *path = batch->options->saves; path && *path; path++) {
        struct strbuf text = STRBUF_INIT;
        document_compose(&text, document_file_type(*path), &batch->document, batch->records,
                         batch->label);
        good = write_file(batch, *path, &text) && good;
        strbuf_free(&text);
    }
    batch->saved_ms = now_ms();
    batch->save_cost_ms = batch->saved_ms - start;
    return good;
}

void batch_save_some(struct batch *batch)
{
    int64_t since = now_ms() - batch->saved_ms;
    if (batch->options->saves && since > 1000 && since > 10 * batch->save_cost_ms)
        save_documents(batch);
}

static void add_skipped(struct batch *batch)
{
    for (size_t i = 0; i < batch->item_count; i++) {
        const struct batch_item *item = &batch->items[i];
        if (!item->number || batch->records[item->cell].fate == FATE_RUN)
            continue;
        struct junit_case *one = batch_add_case(batch, item);
        if (!one)
            return;
        one->verdict = JUNIT_SKIPPED;
        one->message = xstrdup("not run: the run ended before this cell");
    }
}

static bool write_junit(struct batch *batch)
{
    struct strbuf text = STRBUF_INIT;
    add_skipped(batch);
    junit_write(&text, &batch->junit, batch->label, batch->start_time,
                (double)(now_ms() - batch->started_ms) / 1000);
    bool good = write_file(batch, batch->options->junit, &text);
    strbuf_free(&text);
    return good;
}

bool batch_save_all(struct batch *batch)
{
    bool good = !batch->options->saves || save_documents(batch);
    if (batch->options->junit)
        good = write_junit(batch) && good;
    return good;
}
