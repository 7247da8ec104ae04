/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a cell showed again what the history holds, and what in the order of things may be why
 * not.
 */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "outputs.h"
#include "replay-internal.h"
#include "store-result.h"
#include "text-diff.h"
#include "utf8.h"
#include "verify.h"
#include "xalloc.h"

/* ---- comparable text ------------------------------------------------------------------------ */

/* A row of a picture in half blocks. */
static bool is_picture(const char *line, size_t size)
{
    bool any = false;
    for (size_t at = 0; at < size;) {
        uint32_t code;
        size_t length = utf8_decode(line + at, size - at, &code);
        if (code != ' ' && code != 0x2580 && code != 0x2584)
            return false;
        any = any || code != ' ';
        at += length ? length : 1;
    }
    return any;
}

static bool begins(const char *line, size_t size, const char *text)
{
    size_t length = strlen(text);
    return size >= length && memcmp(line, text, length) == 0;
}

/* Pictures are not compared, nor what stands for them; of what was left out, only that it was. */
static void add_line(struct strbuf *out, const char *line, size_t size)
{
    static const char left_out[] = " bytes are not kept in the history";
    if (is_picture(line, size) || begins(line, size, "<Figure size "))
        return;
    if (begins(line, size, "[... ") && memmem(line, size, left_out, sizeof(left_out) - 1))
        strbuf_adds(out, "[... left out ...]");
    else
        strbuf_add(out, line, size);
    strbuf_addc(out, '\n');
}

static void add_comparable(struct strbuf *out, const char *text, size_t size)
{
    struct strbuf lines = STRBUF_INIT;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        add_line(&lines, text + at, length);
        at += length + 1;
    }
    verify_mask(out, strbuf_text(&lines), lines.size);
    while (out->size > 1 && out->data[out->size - 1] == '\n' && out->data[out->size - 2] == '\n')
        out->data[--out->size] = '\0';
    if (out->size == 1 && out->data[0] == '\n')
        strbuf_clear(out);
    strbuf_free(&lines);
}

/* What the history would hold of the new run. */
static void add_fresh(struct replay *replay, const struct run_cell *stored, struct strbuf *out)
{
    struct strbuf whole = STRBUF_INIT, kept = STRBUF_INIT;
    shown_text(&replay->shown, stored->how & STORE_HOW_REDACTED, &whole);
    const struct store_cell cell = {.output = strbuf_text(&whole), .output_size = whole.size};
    store_cap_output(&cell, &kept);
    add_comparable(out, strbuf_text(&kept), kept.size);
    strbuf_free(&whole);
    strbuf_free(&kept);
}

/* ---- why ------------------------------------------------------------------------------------ */

static bool is_word(unsigned char c)
{
    return isalnum(c) || c == '_' || (c & 0x80);
}

static bool holds_word(const struct run_cell *cell, const char *word)
{
    size_t length = strlen(word);
    const char *at = cell->source, *end = cell->source + cell->source_size;
    while ((at = memmem(at, (size_t)(end - at), word, length))) {
        bool alone = (at == cell->source || !is_word((unsigned char)at[-1])) &&
                     (at + length == end || !is_word((unsigned char)at[length]));
        if (alone)
            return true;
        at += length;
    }
    return false;
}

/* "x" of "NameError: name 'x' is not defined". Yours; NULL: it is another error. */
static char *missing_name(const struct hermes_result *result)
{
    struct error_name error =
        outputs_error_name(result->error ? result->error : "", result->error_size);
    if (error.name_size != 9 || memcmp(error.name, "NameError", 9) != 0)
        return NULL;
    const char *open = memchr(error.message, '\'', error.message_size);
    const char *close =
        open ? memchr(open + 1, '\'', error.message_size - (size_t)(open + 1 - error.message))
             : NULL;
    return close && close - open > 1 ? xstrndup(open + 1, (size_t)(close - open - 1)) : NULL;
}

static void add_missing(const struct replay *replay, size_t n, const char *name, struct strbuf *out)
{
    for (size_t i = 0; i < replay->run.count; i++) {
        const struct replay_cell *cell = &replay->cells[i];
        if (i == n || !holds_word(cell->stored, name))
            continue;
        if (i < n && cell->verdict == REPLAY_SKIPPED)
            strbuf_addf(out, "depends on order: %s may be of [%u], which was skipped\n", name,
                        cell->stored->number);
        else if (i > n)
            strbuf_addf(out, "depends on order: %s appears in [%u], which stands behind it\n", name,
                        cell->stored->number);
        else if (cell->verdict == REPLAY_DIFFERS)
            strbuf_addf(out, "%s appears in [%u], which differs\n", name, cell->stored->number);
        else
            continue;
        return;
    }
    strbuf_addf(out,
                "depends on order: no cell of this history before it sets %s; it was there from "
                "cells that are not kept\n",
                name);
}

static void add_why(const struct replay *replay, size_t n, const struct hermes_result *result,
                    struct strbuf *out)
{
    char *name = missing_name(result);
    if (name)
        add_missing(replay, n, name, out);
    if (result->ended && result->outcome != HERMES_SUCCESS && result->term_signal)
        strbuf_adds(out, "its kernel died; the cells behind it run in another one\n");
    free(name);
}

/* ---- verdict -------------------------------------------------------------------------------- */

static bool same_text(const struct strbuf *a, const struct strbuf *b)
{
    return a->size == b->size && memcmp(strbuf_text(a), strbuf_text(b), a->size) == 0;
}

void replay_compare(struct replay *replay, size_t n, const struct hermes_result *result)
{
    struct replay_cell *cell = &replay->cells[n];
    const struct run_cell *stored = cell->stored;
    struct strbuf before = STRBUF_INIT, now = STRBUF_INIT, difference = STRBUF_INIT;
    struct store_cell outcome = {.session = replay->session};
    store_cell_settled(&outcome, result);
    cell->status = xstrdup(outcome.status);
    cell->duration_us = result->duration_us;
    if (!(stored->how & STORE_HOW_NO_OUTPUT)) {
        add_comparable(&before, stored->output, stored->output_size);
        add_fresh(replay, stored, &now);
    }
    bool same = same_text(&before, &now);
    if (!same)
        text_diff(&difference, "stored", strbuf_text(&before), before.size, "now",
                  strbuf_text(&now), now.size);
    if (strcmp(outcome.status, stored->status) != 0) {
        strbuf_addf(&difference, "stored outcome: %s, now: %s\n", stored->status, outcome.status);
        if (stored->how & STORE_HOW_NO_OUTPUT && result->error_size)
            strbuf_addf(&difference, "%s\n", result->error);
        same = false;
    }
    if (!same)
        add_why(replay, n, result, &difference);
    cell->verdict = same ? REPLAY_SAME : REPLAY_DIFFERS;
    cell->difference = same ? NULL : xstrdup(strbuf_text(&difference));
    strbuf_free(&before);
    strbuf_free(&now);
    strbuf_free(&difference);
}

/* ---- in words ------------------------------------------------------------------------------- */

void replay_add_cell(const struct replay_cell *cell, struct strbuf *out)
{
    if (cell->verdict == REPLAY_DIFFERS)
        strbuf_addf(out, "[%u] differs\n%s", cell->stored->number, cell->difference);
}

/* Where the stored run went on in another kernel: there its state was lost, here it is not. */
static void add_kernels(const struct replay *replay, struct strbuf *out)
{
    uint64_t last = 0;
    for (size_t i = 0; i < replay->run.count; i++) {
        const struct run_cell *cell = &replay->run.cells[i];
        if (!cell->execution_count)
            continue;
        if (last && cell->execution_count <= last)
            strbuf_addf(out,
                        "depends on order: [%u] and what is behind it ran in a fresh kernel%s%s%s; "
                        "what was before was lost there, but not here\n",
                        cell->number, cell->previous[0] ? " (after " : "", cell->previous,
                        cell->previous[0] ? ")" : "");
        last = cell->execution_count;
    }
}

static void add_skipped(const struct replay *replay, struct strbuf *out)
{
    for (size_t i = 0; i < replay->run.count; i++) {
        const struct replay_cell *cell = &replay->cells[i];
        if (cell->verdict == REPLAY_SKIPPED)
            strbuf_addf(out, "[%u] skipped: %s\n", cell->stored->number, cell->reason);
    }
}

void replay_add_summary(const struct replay *replay, struct strbuf *out)
{
    size_t compared = 0, differing = replay_differing(replay), left = 0;
    for (size_t i = 0; i < replay->run.count; i++) {
        enum replay_verdict verdict = replay->cells[i].verdict;
        compared += verdict == REPLAY_SAME || verdict == REPLAY_DIFFERS;
        left += verdict == REPLAY_WAITS;
    }
    add_skipped(replay, out);
    if (differing)
        add_kernels(replay, out);
    strbuf_addf(out, "%s: %zu of %zu cell%s differ%s", replay->session, differing, compared,
                compared == 1 ? "" : "s", differing == 1 ? "s" : "");
    if (left)
        strbuf_addf(out, ", %zu %s not run", left, left == 1 ? "was" : "were");
    strbuf_addc(out, '\n');
}
