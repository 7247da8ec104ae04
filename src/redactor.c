/* SPDX-License-Identifier: MIT */
/*
 * The redactor of the public interface: raw bytes of one stream become text without secrets. The
 * cleaner takes escape sequences out, so that the text is judged as it is read, and they are put
 * back in their places. Knows nothing of cells, events and time.
 */
#include "config.h"

#include "hermes-kernel.h"

#include <string.h>

#include "alloc.h"
#include "redact.h"
#include "text.h"

struct hermes_redactor {
    struct hr_cleaner cleaner;
    struct hr_redactor redactor;
    struct hr_buf cleaned; /* not redacted yet; empty between two calls */
    struct hr_buf out;     /* of the call that is made */
};

/* ---- escape sequences ------------------------------------------------------------------- */

/* How many bytes of a sequence close its string; 0: it has none. */
static size_t closing_size(const char *data, size_t size)
{
    if (size < 4)
        return 0;
    if (data[size - 1] == '\a')
        return 1;
    if (data[size - 2] == '\x1b' && data[size - 1] == '\\')
        return 2;
    return data[size - 2] == '\xc2' && data[size - 1] == '\x9c' ? 2 : 0;
}

/* An introducer with nothing that it introduces. */
static bool is_stray(const char *data, size_t size)
{
    if (size == 1)
        return true;
    if (size > 2)
        return false;
    return data[0] == '\x1b' ? memchr("[]PX^_", data[1], 6) != NULL
                             : memchr("\x90\x98\x9b\x9d\x9e\x9f", data[1], 6) != NULL;
}

/* The text in a sequence, such as the address of a link, is a text of its own. */
static bool redact_string(struct hermes_redactor *redactor, const char *data, size_t size,
                          struct hr_buf *out)
{
    struct hr_cleaner cleaner;
    struct hr_buf text;
    bool ok;

    hr_cleaner_init(&cleaner);
    hr_buf_init(&text, 0);
    ok = hr_cleaner_feed(&cleaner, data, size, &text) && hr_cleaner_finish(&cleaner, &text) &&
         hr_redact_text(text.data, text.size, out, &redactor->redactor.count);
    hr_buf_done(&text);
    hr_cleaner_done(&cleaner);
    return ok;
}

static bool redact_cleaned(struct hermes_redactor *redactor)
{
    bool ok = hr_redactor_feed(&redactor->redactor, redactor->cleaned.data, redactor->cleaned.size,
                               &redactor->out);

    hr_buf_clear(&redactor->cleaned);
    return ok;
}

static bool on_sequence(void *context, const char *data, size_t size)
{
    struct hermes_redactor *redactor = context;
    size_t closing = closing_size(data, size);
    bool ok = redact_cleaned(redactor);
    struct hr_buf sequence;

    if (closing == 0)
        return hr_redactor_aside(&redactor->redactor, data, size, is_stray(data, size),
                                 &redactor->out) &&
               ok;
    hr_buf_init(&sequence, 0);
    ok &=
        hr_buf_add(&sequence, data, 2) &&
        redact_string(redactor, data + 2, size - 2 - closing, &sequence) &&
        hr_buf_add(&sequence, data + size - closing, closing) &&
        hr_redactor_aside(&redactor->redactor, sequence.data, sequence.size, false, &redactor->out);
    hr_buf_done(&sequence);
    return ok;
}

/* ---- the interface ---------------------------------------------------------------------- */

struct hermes_redactor *hermes_redactor_new(void)
{
    struct hermes_redactor *redactor = hr_calloc(1, sizeof *redactor);

    if (!redactor)
        return NULL;
    hr_cleaner_init(&redactor->cleaner);
    redactor->cleaner.removed = on_sequence;
    redactor->cleaner.removed_context = redactor;
    hr_redactor_init(&redactor->redactor);
    hr_buf_init(&redactor->cleaned, 0);
    hr_buf_init(&redactor->out, 0);
    return redactor;
}

void hermes_redactor_free(struct hermes_redactor *redactor)
{
    if (!redactor)
        return;
    hr_cleaner_done(&redactor->cleaner);
    hr_redactor_done(&redactor->redactor);
    hr_buf_done(&redactor->cleaned);
    hr_buf_done(&redactor->out);
    hr_free(redactor);
}

/* Hand over what the call has made. */
static int give(struct hermes_redactor *redactor, bool ok, char **ret_text, size_t *ret_size)
{
    ok = ok && hr_buf_add(&redactor->out, "", 0);
    *ret_size = ok ? redactor->out.size : 0;
    *ret_text = ok ? hr_buf_take(&redactor->out) : NULL;
    hr_buf_done(&redactor->out);
    hr_buf_init(&redactor->out, 0);
    redactor->cleaned.failed = false;
    return *ret_text ? HERMES_OK : HERMES_ENOMEM;
}

int hermes_redactor_feed(struct hermes_redactor *redactor, const char *data, size_t size,
                         char **ret_text, size_t *ret_size)
{
    bool ok;

    if (!redactor || !ret_text || !ret_size || (size && !data))
        return HERMES_EINVAL;
    ok = hr_cleaner_feed(&redactor->cleaner, data, size, &redactor->cleaned);
    ok &= redact_cleaned(redactor);
    return give(redactor, ok, ret_text, ret_size);
}

size_t hermes_redactor_held(const struct hermes_redactor *redactor)
{
    return redactor->redactor.held.size - redactor->redactor.shown;
}

int hermes_redactor_flush(struct hermes_redactor *redactor, char **ret_text, size_t *ret_size)
{
    if (!redactor || !ret_text || !ret_size)
        return HERMES_EINVAL;
    return give(redactor, hr_redactor_flush(&redactor->redactor, &redactor->out), ret_text,
                ret_size);
}

int hermes_redactor_finish(struct hermes_redactor *redactor, char **ret_text, size_t *ret_size)
{
    bool ok;

    if (!redactor || !ret_text || !ret_size)
        return HERMES_EINVAL;
    ok = hr_cleaner_finish(&redactor->cleaner, &redactor->cleaned);
    ok &= redact_cleaned(redactor);
    ok &= hr_redactor_finish(&redactor->redactor, &redactor->out);
    return give(redactor, ok, ret_text, ret_size);
}
