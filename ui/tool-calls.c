/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tool-calls.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "tool.h"
#include "xalloc.h"

extern char **environ;

/* ---- where, and with what ------------------------------------------------------------------ */

/* Of our environment what a kernel would keep. NULL-ended; the strings are ours. */
static char **make_environment(struct hermes_engine *engine, enum hermes_env env)
{
    char *json = hermes_explain_env(engine, env);
    cJSON *lists = json ? cJSON_Parse(json) : NULL;
    const cJSON *name, *kept = cJSON_GetObjectItemCaseSensitive(lists, "kept");
    size_t count = 0;
    char **list = xcalloc((size_t)cJSON_GetArraySize(kept) + 1, sizeof *list);
    cJSON_ArrayForEach(name, kept)
    {
        const char *value = cJSON_IsString(name) ? getenv(name->valuestring) : NULL;
        if (value)
            list[count++] = xasprintf("%s=%s", name->valuestring, value);
    }
    cJSON_Delete(lists);
    hermes_free(json);
    return list;
}

static char *absolute(const char *path)
{
    if (path && path[0] == '/')
        return xstrdup(path);
    char *here = getcwd(NULL, 0), *whole;
    whole = path ? xasprintf("%s/%s", here ? here : ".", path) : xstrdup(here ? here : "/");
    free(here);
    return whole;
}

/* The private directory of a strict kernel: where its process was put. */
static char *directory_of_kernel(struct hermes_engine *engine, uint64_t id)
{
    char *json = hermes_kernels_json(engine), path[PATH_MAX] = "/";
    cJSON *kernels = json ? cJSON_Parse(json) : NULL;
    const cJSON *kernel;
    cJSON_ArrayForEach(kernel, kernels)
    {
        const cJSON *number = cJSON_GetObjectItemCaseSensitive(kernel, "id");
        const cJSON *pid = cJSON_GetObjectItemCaseSensitive(kernel, "pid");
        if (!cJSON_IsNumber(number) || (uint64_t)number->valuedouble != id || !cJSON_IsNumber(pid))
            continue;
        char *link = xasprintf("/proc/%.0f/cwd", pid->valuedouble);
        ssize_t size = readlink(link, path, sizeof path - 1);
        path[size > 0 ? size : 1] = '\0';
        free(link);
    }
    cJSON_Delete(kernels);
    hermes_free(json);
    return xstrdup(path);
}

/* ---- calls --------------------------------------------------------------------------------- */

void tool_calls_init(struct tool_calls *calls, struct hermes_engine *engine,
                     const struct tool_terms *terms)
{
    struct strbuf ignored = STRBUF_INIT; /* the policy was judged before */
    *calls = (struct tool_calls){.engine = engine, .terms = terms};
    approval_init(&calls->approval, terms->settings);
    approval_set(&calls->approval, terms->approve ? terms->approve : "", &ignored);
    strbuf_free(&ignored);
}

void tool_calls_free(struct tool_calls *calls)
{
    tool_runner_free(calls->runner);
    approval_free(&calls->approval);
    for (char **item = calls->environment; item && *item; item++)
        free(*item);
    free(calls->environment);
    free(calls->cwd);
    *calls = (struct tool_calls){.engine = NULL};
}

static void prepare(struct tool_calls *calls)
{
    if (calls->runner)
        return;
    calls->environment = make_environment(calls->engine, calls->terms->env);
    if (calls->terms->cwd || !calls->terms->strict)
        calls->cwd = absolute(calls->terms->cwd);
    calls->runner = tool_runner_new(calls->engine, calls->terms->settings, calls->environment);
}

/* Refuse it, or run it, as the verdict says. */
static void act(struct tool_calls *calls, enum approval_verdict verdict,
                const struct hermes_tool_call *call, const struct strbuf *denial)
{
    if (verdict == APPROVAL_REFUSED) {
        hermes_tool_refuse(calls->engine, call->id, strbuf_text(denial));
    } else if (verdict == APPROVAL_GO) {
        prepare(calls);
        char *cwd = calls->cwd ? NULL : directory_of_kernel(calls->engine, call->kernel);
        tool_runner_start(calls->runner, call->cell, call, cwd ? cwd : calls->cwd);
        free(cwd);
    }
}

enum approval_verdict tool_calls_take(struct tool_calls *calls, const struct hermes_event *event,
                                      struct strbuf *denial)
{
    const struct hermes_tool_call *call = event->tool_call;
    const struct approval_question question = {call->session ? call->session : "", call->tool,
                                               call->arguments, event->cell, call->id};
    enum approval_verdict verdict = approval_check(&calls->approval, &question, denial);
    act(calls, verdict, call, denial);
    return verdict;
}

enum approval_verdict tool_calls_settle(struct tool_calls *calls,
                                        const struct approval_question *question, uint64_t kernel,
                                        enum approval_answer answer, struct strbuf *denial)
{
    const struct hermes_tool_call call = {.id = question->call,
                                          .cell = question->cell,
                                          .kernel = kernel,
                                          .session = question->session,
                                          .tool = question->tool,
                                          .arguments = question->arguments};
    enum approval_verdict verdict = approval_settle(&calls->approval, question, answer, denial);
    act(calls, verdict, &call, denial);
    return verdict;
}

void tool_calls_cancel(struct tool_calls *calls, uint64_t cell)
{
    if (calls->runner && cell)
        tool_runner_cancel(calls->runner, cell);
}

void tool_calls_forget(struct tool_calls *calls, const char *session)
{
    approval_forget(&calls->approval, session);
}
