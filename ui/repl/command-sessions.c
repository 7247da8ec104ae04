/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Commands about sessions.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command-internal.h"
#include "repl-document.h"

bool command_new(struct repl *repl, struct repl_session *session, const char *arguments,
                 struct strbuf *error)
{
    struct repl_session *opened = repl_open(repl, arguments[0] ? arguments : NULL, error);
    (void)session;
    if (opened)
        repl_bring_front(repl, opened);
    return opened != NULL;
}

bool command_switch(struct repl *repl, struct repl_session *session, const char *arguments,
                    struct strbuf *error)
{
    struct repl_session *found = repl_session_named(repl, arguments);
    char *end;
    unsigned long number = strtoul(arguments, &end, 10);
    if (!found && !*end) {
        found = number ? repl_session_at(repl, number - 1) : NULL;
        if (!found) {
            strbuf_setf(error, "there is no session %s; :sessions lists them", arguments);
            return false;
        }
    }
    if (!found)
        return command_new(repl, session, arguments, error);
    repl_bring_front(repl, found);
    return true;
}

static bool step(struct repl *repl, struct repl_session *session, size_t by)
{
    for (size_t i = 0; i < repl->session_count; i++) {
        if (&repl->sessions[i]->session == session) {
            repl_bring_front(repl, repl_session_at(repl, (i + by) % repl->session_count));
            break;
        }
    }
    return true;
}

bool command_next(struct repl *repl, struct repl_session *session, const char *arguments,
                  struct strbuf *error)
{
    (void)arguments;
    (void)error;
    return step(repl, session, 1);
}

bool command_previous(struct repl *repl, struct repl_session *session, const char *arguments,
                      struct strbuf *error)
{
    (void)arguments;
    (void)error;
    return step(repl, session, repl->session_count - 1);
}

bool command_sessions(struct repl *repl, struct repl_session *session, const char *arguments,
                      struct strbuf *error)
{
    struct strbuf out = STRBUF_INIT;
    (void)arguments;
    (void)error;
    for (size_t i = 0; i < repl->session_count; i++) {
        struct repl_session *one = &repl->sessions[i]->session;
        strbuf_addf(&out, "%c %zu  %-16s %-14s", one == repl->in_front ? '*' : ' ', i + 1,
                    one->name, repl_state_text(one));
        if (one->has_kernel && one->ran) {
            repl_sample_memory(one);
            strbuf_addc(&out, ' ');
            repl_add_cost(&out, one);
        }
        if (one->queued)
            strbuf_addf(&out, ", %zu wait", one->queued);
        if (one->questions)
            strbuf_adds(&out, ", asks for approval");
        strbuf_addc(&out, '\n');
    }
    repl_show(repl, session, "sessions", &out);
    strbuf_free(&out);
    return true;
}

bool command_rename(struct repl *repl, struct repl_session *session, const char *arguments,
                    struct strbuf *error)
{
    return repl_rename(repl, session, arguments, error);
}

bool command_close(struct repl *repl, struct repl_session *session, const char *arguments,
                   struct strbuf *error)
{
    (void)arguments;
    (void)error;
    bool unsaved = repl_document_is_modified(session);
    if (!session->running && !session->queued && !session->ran && !unsaved) {
        repl_close(repl, session);
        return true;
    }
    struct strbuf question = STRBUF_INIT;
    repl_sample_memory(session);
    strbuf_addf(&question, "close %s? It loses ", session->name);
    repl_add_cost(&question, session);
    strbuf_adds(&question, session->running ? ". A cell runs." : ".");
    if (unsaved)
        strbuf_adds(&question, " Changes of the document are not saved.");
    repl_ask_doubt(repl, session, REPL_DOUBT_CLOSE, strbuf_text(&question));
    strbuf_free(&question);
    return true;
}
