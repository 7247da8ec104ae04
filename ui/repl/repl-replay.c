/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * :replay: the session's stored cells in a fresh kernel beside its own, which is not disturbed.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "command-internal.h"
#include "replay.h"
#include "store.h"

static void finish(struct repl *repl)
{
    struct repl_session *session = repl->replay_session;
    struct replay *replay = repl->replay;
    struct strbuf text = STRBUF_INIT;
    repl->replay = NULL;
    repl->replay_session = NULL;
    if (session && replay_failure(replay)) {
        repl_say(repl, session, "the replay ended: %s", replay_failure(replay));
    } else if (session) {
        for (size_t i = 0; i < replay_count(replay); i++)
            replay_add_cell(replay_at(replay, i), &text);
        replay_add_summary(replay, &text);
        repl_show(repl, session, "replay", &text);
    }
    strbuf_free(&text);
    replay_free(replay);
    if (session)
        repl_tell_session(repl, session);
}

bool repl_replay_take(struct repl *repl, const struct hermes_event *event)
{
    if (!repl->replay || !replay_take(repl->replay, event))
        return false;
    if (replay_is_over(repl->replay))
        finish(repl);
    return true;
}

int64_t repl_replay_tick(struct repl *repl)
{
    return repl->replay ? replay_tick(repl->replay) : -1;
}

bool repl_replay_stop(struct repl *repl, const struct repl_session *session)
{
    if (!repl->replay || repl->replay_session != session)
        return false;
    replay_stop(repl->replay);
    if (replay_is_over(repl->replay))
        finish(repl);
    return true;
}

void repl_replay_forget(struct repl *repl, const struct repl_session *session)
{
    if (repl->replay && repl->replay_session == session)
        repl->replay_session = NULL;
    if (repl->replay && !repl->replay_session) {
        replay_free(repl->replay);
        repl->replay = NULL;
    }
}

static bool stop(struct repl *repl, const struct repl_session *session, struct strbuf *error)
{
    if (repl_replay_stop(repl, session))
        return true;
    strbuf_setf(error, "no replay of this session runs");
    return false;
}

bool command_replay(struct repl *repl, struct repl_session *session, const char *arguments,
                    struct strbuf *error)
{
    if (strcmp(arguments, "stop") == 0)
        return stop(repl, session, error);
    if (arguments[0]) {
        strbuf_setf(error, ":replay takes nothing, or stop: not %s", arguments);
        return false;
    }
    if (repl->replay) {
        strbuf_setf(error, "a replay runs already, at [%u]; C-c or :replay stop ends it",
                    replay_number(repl->replay));
        return false;
    }
    if (!repl->options.store) {
        strbuf_setf(error, "nothing is kept: the history is off (--history-mode)");
        return false;
    }
    const struct replay_terms terms = {
        .mode = repl->options.mode,
        .python = repl->options.python,
        .cwd = repl->options.cwd,
        .tools = repl->terms->tools,
        .env = repl->options.env,
        .terminal = repl->options.terminal,
        .columns = repl->options.columns,
        .rows = repl->options.rows,
    };
    char *owner = xasprintf("%s#replay%u", session_data(session)->owner, ++repl->replays);
    repl->replay =
        replay_new(repl->engine, repl->options.store, session->name, owner, &terms, error);
    free(owner);
    if (!repl->replay)
        return false;
    repl->replay_session = session;
    repl_say(repl, session, "replaying %zu cells in a fresh kernel; C-c ends it",
             replay_count(repl->replay));
    replay_begin(repl->replay);
    if (replay_is_over(repl->replay))
        finish(repl);
    return true;
}
