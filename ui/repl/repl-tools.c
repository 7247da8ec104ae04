/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tool calls of cells: those that need approval wait in their session until the person has
 * answered.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "repl-internal.h"

static enum approval_answer ask(const struct approval_question *question, void *context)
{
    (void)question;
    (void)context;
    return APPROVAL_LATER;
}

void repl_tools_init(struct repl *repl)
{
    repl->calls.approval.nobody = "nobody is at a terminal here";
    if (repl->options.pipes)
        return;
    repl->calls.approval.ask = ask;
    repl->calls.approval.ask_context = repl;
}

static void question_free(struct repl_question *question)
{
    struct repl_question_data *data = (struct repl_question_data *)question;
    free(data->owner);
    free((char *)question->question.session);
    free((char *)question->question.tool);
    free((char *)question->question.arguments);
    free(data);
}

static void tell(struct repl *repl, struct repl_session *session)
{
    if (repl->front.question)
        repl->front.question(repl->context, session);
    repl_tell_session(repl, session);
}

static void add_question(struct repl *repl, struct repl_session *session,
                         const struct hermes_event *event)
{
    struct repl_question_data *data = xcalloc(1, sizeof(*data));
    struct repl_question **last = &session->questions;
    data->owner = xstrdup(session_data(session)->owner);
    data->kernel = event->kernel;
    data->question.question = (struct approval_question){
        xstrdup(session->name), xstrdup(event->tool_call->tool),
        xstrdup(event->tool_call->arguments), event->cell, event->tool_call->id};
    while (*last)
        last = &(*last)->next;
    *last = &data->question;
    tell(repl, session);
}

/* Once a cell for each tool: the cell itself gets every refusal. */
static void say_denied(struct repl *repl, struct repl_cell_data *data, const char *tool,
                       const char *denial)
{
    char *name = xasprintf(",%s,", tool);
    if (!strstr(strbuf_text(&data->denied), name)) {
        strbuf_adds(&data->denied, name);
        repl_say(repl, data->session, "%s", denial);
    }
    free(name);
}

void repl_tool_call(struct repl *repl, struct repl_cell_data *data,
                    const struct hermes_event *event)
{
    struct strbuf denial = STRBUF_INIT;
    switch (tool_calls_take(&repl->calls, event, &denial)) {
    case APPROVAL_WAITS:
        add_question(repl, data->session, event);
        break;
    case APPROVAL_REFUSED:
        say_denied(repl, data, event->tool_call->tool, strbuf_text(&denial));
        break;
    case APPROVAL_GO:
        break;
    }
    strbuf_free(&denial);
}

static bool settle(struct repl *repl, struct repl_question *question, enum approval_answer answer)
{
    struct repl_question_data *data = (struct repl_question_data *)question;
    struct approval_question asked = question->question;
    struct strbuf denial = STRBUF_INIT;
    asked.session = data->owner; /* grants are the owner's, whatever the session is called */
    bool settled =
        tool_calls_settle(&repl->calls, &asked, data->kernel, answer, &denial) != APPROVAL_WAITS;
    strbuf_free(&denial);
    return settled;
}

void repl_settle(struct repl *repl, struct repl_session *session, enum approval_answer answer)
{
    struct repl_question *first = session->questions;
    if (!first || !settle(repl, first, answer))
        return;
    session->questions = first->next;
    if (answer == APPROVAL_SESSION) { /* the same tool was called by threads of the cell */
        for (struct repl_question **link = &session->questions; *link;) {
            struct repl_question *next = *link;
            if (strcmp(next->question.tool, first->question.tool) == 0 &&
                settle(repl, next, answer)) {
                *link = next->next;
                question_free(next);
            } else {
                link = &next->next;
            }
        }
    }
    question_free(first);
    tell(repl, session);
}

void repl_drop_questions(struct repl *repl, struct repl_session *session, uint64_t cell)
{
    bool changed = false;
    for (struct repl_question **link = &session->questions; *link;) {
        struct repl_question *question = *link;
        if (cell && question->question.cell != cell) {
            link = &question->next;
            continue;
        }
        *link = question->next;
        question_free(question);
        changed = true;
    }
    if (changed)
        tell(repl, session);
}
