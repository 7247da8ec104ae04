/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Commands about a session's kernel.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command-internal.h"
#include "json-write.h"
#include "params.h"

#define COUNT_MS 300

static bool is_force(const char *arguments, struct strbuf *error)
{
    bool force = strcmp(arguments, "-f") == 0;
    if (!force && arguments[0])
        strbuf_setf(error, "'%s' is not -f", arguments);
    return force;
}

/* What costs nothing is not asked for. */
static bool has_state(const struct repl_session *session)
{
    return session->has_kernel && (session->ran || session->queued);
}

bool command_reset(struct repl *repl, struct repl_session *session, const char *arguments,
                   struct strbuf *error)
{
    static const char count[] = "{\"request\":\"variables\",\"limit\":0}";
    bool force = is_force(arguments, error);
    if (arguments[0] && !force)
        return false;
    if (force || !has_state(session)) {
        repl_do_reset(repl, session);
        return true;
    }
    if (repl_ask(repl, session, REPL_FOR_RESET, count, COUNT_MS, NULL))
        return true;
    struct strbuf question = STRBUF_INIT;
    repl_sample_memory(session);
    strbuf_addf(&question, "reset %s? It loses ", session->name);
    repl_add_cost(&question, session);
    strbuf_adds(&question, session->running ? ". A cell runs." : ".");
    repl_ask_doubt(repl, session, REPL_DOUBT_RESET, strbuf_text(&question));
    strbuf_free(&question);
    return true;
}

bool command_undo(struct repl *repl, struct repl_session *session, const char *arguments,
                  struct strbuf *error)
{
    bool force = is_force(arguments, error);
    struct hermes_undone undone = HERMES_UNDONE_INIT;
    if ((arguments[0] && !force) || !repl_can_undo(repl, session, &undone, error))
        return false;
    if (force || !undone.cause || !has_state(session))
        return repl_do_undo(repl, session, error);
    struct strbuf question = STRBUF_INIT;
    repl_sample_memory(session);
    strbuf_addf(&question, "go back to the earlier kernel of %s? It loses ", session->name);
    repl_add_cost(&question, session);
    strbuf_addc(&question, '.');
    repl_ask_doubt(repl, session, REPL_DOUBT_UNDO, strbuf_text(&question));
    strbuf_free(&question);
    return true;
}

bool command_session_clear(struct repl *repl, struct repl_session *session, const char *arguments,
                           struct strbuf *error)
{
    bool force = is_force(arguments, error);
    if (arguments[0] && !force)
        return false;
    if (force || !has_state(session)) {
        repl_do_clear(repl, session);
        return true;
    }
    struct strbuf question = STRBUF_INIT;
    repl_sample_memory(session);
    strbuf_addf(&question, "kill the kernel of %s, drop what waits, forget grants? It loses ",
                session->name);
    repl_add_cost(&question, session);
    strbuf_addc(&question, '.');
    repl_ask_doubt(repl, session, REPL_DOUBT_CLEAR, strbuf_text(&question));
    strbuf_free(&question);
    return true;
}

bool command_kill(struct repl *repl, struct repl_session *session, const char *arguments,
                  struct strbuf *error)
{
    struct strbuf question = STRBUF_INIT;
    (void)arguments;
    (void)error;
    repl_sample_memory(session);
    strbuf_addf(&question, "kill the kernel of %s? It loses ", session->name);
    repl_add_cost(&question, session);
    strbuf_addc(&question, '.');
    repl->doubt_cell = session->running->id;
    repl_ask_doubt(repl, session, REPL_DOUBT_KILL, strbuf_text(&question));
    strbuf_free(&question);
    return true;
}

bool command_vars(struct repl *repl, struct repl_session *session, const char *arguments,
                  struct strbuf *error)
{
    struct strbuf json = STRBUF_INIT;
    strbuf_adds(&json, "{\"request\":\"variables\",\"filter\":");
    json_add_text(&json, arguments);
    strbuf_adds(&json, ",\"sort\":\"name\",\"limit\":500}");
    bool asked =
        repl_ask(repl, session, REPL_FOR_VARIABLES, strbuf_text(&json), 2000, arguments) != 0;
    if (!asked)
        strbuf_setf(error, "the kernel takes no questions now");
    strbuf_free(&json);
    return asked;
}

bool command_inspect(struct repl *repl, struct repl_session *session, const char *arguments,
                     struct strbuf *error)
{
    return repl_inspect(repl, session, arguments, strlen(arguments), false, error);
}

bool command_cwd(struct repl *repl, struct repl_session *session, const char *arguments,
                 struct strbuf *error)
{
    char path[4096], *link = xasprintf("/proc/%" PRId64 "/cwd", session->pid);
    if (arguments[0]) {
        char *typed = xasprintf("%%cd %s", arguments);
        bool good = repl_enter(repl, session, typed, strlen(typed), error);
        free(typed);
        free(link);
        return good;
    }
    ssize_t size =
        session->has_kernel && session->pid > 0 ? readlink(link, path, sizeof path - 1) : -1;
    free(link);
    if (size < 0) {
        strbuf_setf(error, "no kernel runs whose directory could be told");
        return false;
    }
    repl_say(repl, session, "%.*s", (int)size, path);
    return true;
}

bool command_status(struct repl *repl, struct repl_session *session, const char *arguments,
                    struct strbuf *error)
{
    struct strbuf out = STRBUF_INIT;
    (void)arguments;
    (void)error;
    repl_sample_memory(session);
    strbuf_addf(&out, "session    %s\nkernel     %s\n", session->name, repl_state_text(session));
    if (session->has_kernel) {
        strbuf_addf(&out, "python     %s, process %" PRId64 "\n",
                    session->python_label ? session->python_label : "?", session->pid);
        strbuf_addf(&out, "state      %s: kernel %" PRIu64 " of this session\nuse        ",
                    session->ran ? "reused" : "fresh", session->generation);
        repl_add_cost(&out, session);
        strbuf_addc(&out, '\n');
    }
    strbuf_addf(&out, "queue      %zu\n", session->queued);
    repl_add_undo(repl, session, &out);
    repl_show(repl, session, "status", &out);
    strbuf_free(&out);
    return true;
}
