/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Commands about cells and what was typed.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command-internal.h"
#include "document-internal.h"
#include "store-commands.h"
#include "store.h"

#define LIST_MAX 1000

static struct repl_cell *last_cell(struct repl_session *session)
{
    for (size_t i = session->item_count; i-- > 0;) {
        struct repl_cell *cell = session->items[i].cell;
        if (cell && cell->number && cell->state != REPL_QUEUED)
            return cell;
    }
    return NULL;
}

struct repl_cell *command_cell(struct repl_session *session, const char *text, struct strbuf *error)
{
    char *end;
    unsigned long number = strtoul(text + strspn(text, "["), &end, 10);
    struct repl_cell *found = NULL;
    if (!text[0]) {
        found = last_cell(session);
        if (!found)
            strbuf_setf(error, "no cell has run in %s", session->name);
        return found;
    }
    for (size_t i = session->item_count; i-- > 0 && !found;) {
        struct repl_cell *cell = session->items[i].cell;
        if (cell && cell->number == number && number && (!*end || strcmp(end, "]") == 0))
            found = cell;
    }
    if (!found)
        strbuf_setf(error, "there is no cell %s in %s", text, session->name);
    return found;
}

bool command_interrupt(struct repl *repl, struct repl_session *session, const char *arguments,
                       struct strbuf *error)
{
    (void)arguments;
    (void)error;
    return repl_interrupt(repl, session);
}

bool command_approve(struct repl *repl, struct repl_session *session, const char *arguments,
                     struct strbuf *error)
{
    static const struct {
        const char *word;
        enum approval_answer answer;
    } answers[] = {{"once", APPROVAL_ONCE},
                   {"session", APPROVAL_SESSION},
                   {"no", APPROVAL_NO},
                   {"deny", APPROVAL_NO}};
    if (!session->questions) {
        strbuf_setf(error, "nothing waits for approval in %s", session->name);
        return false;
    }
    if (!arguments[0]) {
        struct strbuf text = STRBUF_INIT;
        const struct approval_question *question = &session->questions->question;
        strbuf_addf(&text, "%s %s\n", question->tool,
                    question->arguments ? question->arguments : "");
        repl_show(repl, session, "waits for approval", &text);
        strbuf_free(&text);
        return true;
    }
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        if (strcmp(answers[i].word, arguments) == 0) {
            repl_settle(repl, session, answers[i].answer);
            return true;
        }
    }
    strbuf_setf(error, "'%s' is not one of once, session and no", arguments);
    return false;
}

/* The first line of a source, cut. */
static void add_source_line(struct strbuf *out, const char *source, size_t size)
{
    const char *end = memchr(source, '\n', size);
    size_t length = end ? (size_t)(end - source) : size;
    strbuf_add(out, source, length < 70 ? length : 70);
    strbuf_adds(out, length > 70 || (end && (size_t)(end - source) + 1 < size) ? " ...\n" : "\n");
}

bool command_queue(struct repl *repl, struct repl_session *session, const char *arguments,
                   struct strbuf *error)
{
    struct strbuf out = STRBUF_INIT;
    (void)arguments;
    (void)error;
    for (size_t i = 0; i < repl->open_count; i++) {
        const struct repl_cell *cell = &repl->open[i]->cell;
        if (repl->open[i]->session != session)
            continue;
        strbuf_addf(&out, "[%u] %-8s ", cell->number,
                    cell->state == REPL_RUNNING ? "runs" : "waits");
        add_source_line(&out, cell->source, cell->source_size);
    }
    if (session->queued)
        strbuf_adds(&out, "\n:drop forgets those that wait.\n");
    if (out.size)
        repl_show(repl, session, "queue", &out);
    else
        repl_say(repl, session, "nothing runs and nothing waits");
    strbuf_free(&out);
    return true;
}

bool command_drop(struct repl *repl, struct repl_session *session, const char *arguments,
                  struct strbuf *error)
{
    size_t dropped = repl_drop_queued(repl, session);
    (void)arguments;
    if (!dropped)
        strbuf_setf(error, "no cell waits");
    else
        repl_say(repl, session, "%zu cell%s dropped", dropped, dropped == 1 ? "" : "s");
    return dropped > 0;
}

bool command_rerun(struct repl *repl, struct repl_session *session, const char *arguments,
                   struct strbuf *error)
{
    const struct repl_cell *cell = command_cell(session, arguments, error);
    if (!cell)
        return false;
    size_t place = repl_document_number(session, cell->key);
    if (place) { /* one of a document has its place */
        repl_document_select(session, cell->key);
        return repl_document_run(repl, session, place - 1, place, error);
    }
    char *source = xmemdup0(cell->source, cell->source_size);
    bool good = repl_enter(repl, session, source, cell->source_size, error);
    free(source);
    return good;
}

bool command_reuse(struct repl *repl, struct repl_session *session, const char *arguments,
                   struct strbuf *error)
{
    const struct repl_cell *cell = command_cell(session, arguments, error);
    if (cell && repl->front.insert)
        repl->front.insert(repl->context, session, cell->source, cell->source_size);
    return cell != NULL;
}

static bool holds(const char *text, size_t size, const char *part)
{
    return !part[0] || memmem(text, size, part, strlen(part)) != NULL;
}

bool command_history(struct repl *repl, struct repl_session *session, const char *arguments,
                     struct strbuf *error)
{
    struct strbuf out = STRBUF_INIT;
    size_t count = 0, matches[LIST_MAX], size;
    (void)error;
    for (size_t n = 0; count < LIST_MAX; n++) {
        const char *text = history_at(repl->history, session->name, n, &size);
        if (!text)
            break;
        if (holds(text, size, arguments))
            matches[count++] = n;
    }
    while (count) {
        const char *text = history_at(repl->history, session->name, matches[--count], &size);
        strbuf_add(&out, text, size);
        strbuf_addc(&out, '\n');
    }
    if (out.size)
        repl_show(repl, session, "history", &out);
    else
        repl_say(repl, session,
                 arguments[0] ? "nothing in the history holds that" : "the history is empty");
    strbuf_free(&out);
    return true;
}

static size_t search_lines(struct strbuf *out, const struct repl_cell *cell, const char *text,
                           size_t size, const char *wanted)
{
    size_t found = 0;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        if (holds(text + at, length, wanted)) {
            strbuf_addf(out, "[%u] ", cell->number);
            strbuf_add(out, text + at, length < 200 ? length : 200);
            strbuf_addc(out, '\n');
            found++;
        }
        at += length + 1;
    }
    return found;
}

bool command_search(struct repl *repl, struct repl_session *session, const char *arguments,
                    struct strbuf *error)
{
    struct strbuf out = STRBUF_INIT;
    size_t found = 0;
    for (size_t i = 0; i < session->item_count && found < LIST_MAX; i++) {
        const struct repl_cell *cell = session->items[i].cell;
        struct strbuf text = STRBUF_INIT;
        if (!cell)
            continue;
        block_text(cell->output, false, &text);
        found += search_lines(&out, cell, cell->source, cell->source_size, arguments);
        found += search_lines(&out, cell, strbuf_text(&text), text.size, arguments);
        strbuf_free(&text);
    }
    if (found)
        repl_show(repl, session, arguments, &out);
    else
        strbuf_setf(error, "no cell of %s holds '%s'", session->name, arguments);
    strbuf_free(&out);
    return found > 0;
}

struct findings {
    struct strbuf out;
    const char *text;
    size_t count;
};

static bool take_match(void *context, const struct store_cell *cell)
{
    struct findings *findings = context;
    store_describe_match(&findings->out, cell, findings->text);
    findings->count++;
    return true;
}

bool command_search_all(struct repl *repl, struct repl_session *session, const char *arguments,
                        struct strbuf *error)
{
    struct findings findings = {STRBUF_INIT, arguments, 0};
    struct store *store = repl->options.store;
    bool all = store && store_search(store, NULL, arguments, LIST_MAX, take_match, &findings);
    if (findings.count && !all)
        strbuf_adds(&findings.out, "(the history is slow now: older cells were not looked at)\n");
    if (!store)
        strbuf_setf(error, "nothing is kept: the history is off (--history-mode)");
    else if (findings.count)
        repl_show(repl, session, arguments, &findings.out);
    else if (!all)
        strbuf_setf(error, "the history cannot be read now");
    else
        strbuf_setf(error, "no cell of any session holds '%s'", arguments);
    strbuf_free(&findings.out);
    return findings.count > 0;
}

bool command_debug(struct repl *repl, struct repl_session *session, const char *arguments,
                   struct strbuf *error)
{
    static const char code[] = "__import__('pdb').pm()"
                               " if hasattr(__import__('sys'), 'last_traceback')"
                               " else print('no exception was raised here')";
    struct repl_submission what = {.source = ":debug",
                                   .source_size = 6,
                                   .code = code,
                                   .code_size = sizeof code - 1,
                                   .post_mortem = true};
    (void)arguments;
    return repl_submit(repl, session, &what, error);
}

bool command_pdb(struct repl *repl, struct repl_session *session, const char *arguments,
                 struct strbuf *error)
{
    struct repl_session_data *data = session_data(session);
    bool on = strcmp(arguments, "on") == 0 || strcmp(arguments, "1") == 0;
    if (arguments[0] && !on && strcmp(arguments, "off") != 0 && strcmp(arguments, "0") != 0) {
        strbuf_setf(error, "'%s' is neither on nor off", arguments);
        return false;
    }
    data->post_mortem = arguments[0] ? on : !data->post_mortem;
    repl_say(repl, session, "pdb by itself after an exception: %s",
             data->post_mortem ? "on" : "off");
    return true;
}
