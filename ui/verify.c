/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "verify.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "json-scan.h"
#include "notebook.h"
#include "shown.h"
#include "text-diff.h"

/* ---- masks --------------------------------------------------------------------------------- */

/*
 * What differs from run to run. In patterns # is a decimal digit, & a hexadecimal one, ~ a
 * lower-case letter, digit or underscore; + repeats what is before it; all else is itself.
 */
static const struct mask {
    const char *pattern, *shown;
} masks[] = {
    {"0x&&&&&+", "0x..."},
    {"&&&&&&&&-&&&&-&&&&-&&&&-&&&&&&&&&&&&", "<uuid>"},
    {"####-##-##T##:##:##.#+", "<time>"},
    {"####-##-##T##:##:##", "<time>"},
    {"####-##-## ##:##:##.#+", "<time>"},
    {"####-##-## ##:##:##", "<time>"},
    {"####-##-##", "<date>"},
    {"@@@ @@@ ## ##:##:## ####", "<time>"},
    {"@@@ @@@  # ##:##:## ####", "<time>"},
    {"##:##:##.#+", "<time>"},
    {"##:##:##", "<time>"},
    {"#:##:##.#+", "<time>"},
    {"/tmp/tmp~~~~~~~~", "/tmp/tmp..."},
};

/* Lines that tell how long something took are the same whatever they say. */
static const char *const measures[] = {"Wall time:", "CPU times:", " per loop", "it/s]", "s/it]"};

static bool class_takes(char class, unsigned char c)
{
    switch (class) {
    case '&':
        return isxdigit(c) != 0;
    case '#':
        return isdigit(c) != 0;
    case '@':
        return isalpha(c) != 0;
    case '~':
        return islower(c) || isdigit(c) || c == '_';
    default:
        return c == (unsigned char)class;
    }
}

/* How many bytes at text the pattern takes; 0: it does not match. */
static size_t match(const char *pattern, const char *text, size_t size)
{
    size_t at = 0;
    for (; *pattern; pattern++) {
        char class = *pattern;
        if (at >= size || !class_takes(class, (unsigned char)text[at]))
            return 0;
        at++;
        if (pattern[1] != '+')
            continue;
        while (at < size && class_takes(class, (unsigned char)text[at]))
            at++;
        pattern++;
    }
    return at;
}

static bool holds(const char *line, size_t size, const char *text)
{
    return memmem(line, size, text, strlen(text)) != NULL;
}

/* "/tmp/ipykernel_7/1.py:3: UserWarning: no" begins with a place that is another one here. */
static size_t warning_place(const char *line, size_t size)
{
    const char *warning = memmem(line, size, "Warning: ", 9);
    const char *start = warning;
    while (start && start > line && isalnum((unsigned char)start[-1]))
        start--;
    bool place = start && start - line >= 4 && start[-1] == ' ' && start[-2] == ':' &&
                 isdigit((unsigned char)start[-3]);
    return place ? (size_t)(start - line) : 0;
}

static void mask_line(struct strbuf *out, const char *line, size_t size)
{
    for (size_t i = 0; i < sizeof(measures) / sizeof(measures[0]); i++) {
        if (holds(line, size, measures[i])) {
            strbuf_adds(out, "<measured>");
            return;
        }
    }
    size_t at = warning_place(line, size);
    while (at < size) {
        const struct mask *found = NULL;
        size_t length = 0;
        bool begins = !at || !isalnum((unsigned char)line[at - 1]);
        for (size_t i = 0; begins && !found && i < sizeof(masks) / sizeof(masks[0]); i++) {
            length = match(masks[i].pattern, line + at, size - at);
            found = length ? &masks[i] : NULL;
        }
        if (found)
            strbuf_adds(out, found->shown);
        else
            strbuf_addc(out, line[at]);
        at += found ? length : 1;
    }
}

void verify_mask(struct strbuf *out, const char *text, size_t size)
{
    struct strbuf plain = STRBUF_INIT;
    shown_plain(text, size, &plain);
    const char *lines = strbuf_text(&plain);
    for (size_t at = 0; at < plain.size;) {
        const char *end = memchr(lines + at, '\n', plain.size - at);
        size_t length = end ? (size_t)(end - lines) - at : plain.size - at, kept = length;
        while (kept && lines[at + kept - 1] == ' ')
            kept--;
        mask_line(out, lines + at, kept);
        if (end)
            strbuf_addc(out, '\n');
        at += length + 1;
    }
    strbuf_free(&plain);
}

/* ---- outputs ------------------------------------------------------------------------------- */

static void end_line(struct strbuf *out)
{
    if (out->size && out->data[out->size - 1] != '\n')
        strbuf_addc(out, '\n');
}

static void add_bundle(struct strbuf *out, struct json_span data)
{
    struct json_span key, value;
    struct strbuf name = STRBUF_INIT;
    size_t position = 0;
    end_line(out);
    if (json_get(data, "text/plain", &value)) {
        notebook_text(value, out);
        end_line(out);
    }
    while (json_kind_of(data) == JSON_OBJECT && json_next_member(data, &position, &key, &value)) {
        strbuf_clear(&name);
        json_decode(key, &name);
        if (strncmp(strbuf_text(&name), "image/", 6) == 0)
            strbuf_addf(out, "[%s]\n", strbuf_text(&name));
    }
    strbuf_free(&name);
}

static void add_error(struct strbuf *out, struct json_span output)
{
    struct json_span part;
    end_line(out);
    if (json_get(output, "ename", &part))
        notebook_text(part, out);
    strbuf_adds(out, ": ");
    if (json_get(output, "evalue", &part))
        notebook_text(part, out);
    end_line(out);
}

/* An array of outputs in parts: streams and displays in order, standard error, the error. */
struct parts {
    struct strbuf output, errors, failure;
};

static void add_output(struct parts *parts, struct json_span output, bool one_stream)
{
    struct json_span type, part;
    if (!json_get(output, "output_type", &type))
        return;
    if (json_is_text(type, "stream") && json_get(output, "text", &part)) {
        bool error = json_get(output, "name", &type) && json_is_text(type, "stderr");
        notebook_text(part, error && !one_stream ? &parts->errors : &parts->output);
    } else if (json_is_text(type, "error")) {
        add_error(&parts->failure, output);
    } else if (json_get(output, "data", &part)) {
        add_bundle(&parts->output, part);
    }
}

/* Append the comparable text. Returns whether there was something on standard error. */
static bool add_text(struct strbuf *out, const char *json, bool one_stream)
{
    struct parts sorted = {STRBUF_INIT, STRBUF_INIT, STRBUF_INIT};
    struct strbuf error = STRBUF_INIT;
    struct json_span outputs, output;
    size_t position = 0;
    if (json && json_check(json, strlen(json), &outputs, &error) &&
        json_kind_of(outputs) == JSON_ARRAY) {
        while (json_next_element(outputs, &position, &output))
            add_output(&sorted, output, one_stream);
    }
    struct strbuf *texts[] = {&sorted.output, &sorted.errors, &sorted.failure};
    bool has_errors = sorted.errors.size > 0;
    for (size_t i = 0; i < 3; i++) {
        end_line(texts[i]);
        verify_mask(out, strbuf_text(texts[i]), texts[i]->size);
        strbuf_free(texts[i]);
    }
    strbuf_free(&error);
    return has_errors;
}

static bool same(const struct strbuf *a, const struct strbuf *b)
{
    return a->size == b->size && memcmp(strbuf_text(a), strbuf_text(b), a->size) == 0;
}

bool verify_compare(const char *stored, const char *fresh, struct strbuf *difference)
{
    struct strbuf before = STRBUF_INIT, now = STRBUF_INIT;
    /* Of two runs one may have had both streams in one file, and so in one stream. */
    if (add_text(&before, stored, false) != add_text(&now, fresh, false)) {
        strbuf_clear(&before);
        strbuf_clear(&now);
        add_text(&before, stored, true);
        add_text(&now, fresh, true);
    }
    bool equal = same(&before, &now);
    if (!equal)
        text_diff(difference, "stored", strbuf_text(&before), before.size, "now", strbuf_text(&now),
                  now.size);
    strbuf_free(&before);
    strbuf_free(&now);
    return equal;
}

/* ---- order --------------------------------------------------------------------------------- */

bool verify_order(const struct document *document, struct strbuf *reason)
{
    unsigned long last = 0;
    for (size_t i = 0; i < document->count; i++) {
        const struct document_cell *cell = &document->cells[i];
        unsigned long count = cell->count ? strtoul(cell->count, NULL, 10) : 0;
        if (!document_cell_runs(cell) || !count)
            continue;
        if (count <= last) {
            strbuf_setf(reason, "the cells were run in another order: [%lu] stands behind [%lu]",
                        count, last);
            return false;
        }
        last = count;
    }
    return true;
}
