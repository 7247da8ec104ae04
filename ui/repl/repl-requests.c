/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Questions to kernels, and their answers as text.
 */
#include "config.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "json-write.h"
#include "repl-internal.h"

/* ---- asking --------------------------------------------------------------------------------- */

uint64_t repl_ask(struct repl *repl, struct repl_session *session, enum repl_purpose purpose,
                  const char *json, int64_t timeout_ms, const char *subject)
{
    struct hermes_error error = {0, 0, ""};
    uint64_t request = 0;
    if (!session->has_kernel || hermes_request(repl->engine, session->kernel, json, timeout_ms,
                                               &request, &error) != HERMES_OK)
        return 0;
    repl->pending =
        xgrow(repl->pending, repl->pending_count, &repl->pending_capacity, sizeof(*repl->pending));
    repl->pending[repl->pending_count++] =
        (struct repl_pending){request, session, purpose, subject ? xstrdup(subject) : NULL,
                              session->running ? session->running->id : 0};
    return request;
}

uint64_t repl_request(struct repl *repl, struct repl_session *session, const char *what,
                      const char *code, size_t size, size_t cursor, int64_t timeout_ms)
{
    struct strbuf json = STRBUF_INIT;
    strbuf_addf(&json, "{\"request\":\"%s\",\"code\":", what);
    json_add_string(&json, code, size);
    strbuf_addf(&json, ",\"cursor\":%zu}", cursor);
    uint64_t request =
        repl_ask(repl, session, REPL_FOR_FRONT, strbuf_text(&json), timeout_ms, NULL);
    strbuf_free(&json);
    return request;
}

/*
 * Each request of a kernel that died is answered with an error; those of a session that is gone
 * find nobody.
 */
void repl_forget_requests(struct repl *repl, const struct repl_session *session)
{
    size_t kept = 0;
    bool lives = repl_session_named(repl, session->name) == session;
    for (size_t i = 0; i < repl->pending_count; i++) {
        struct repl_pending pending = repl->pending[i];
        if (pending.session == session && !lives)
            free(pending.subject);
        else
            repl->pending[kept++] = pending;
    }
    repl->pending_count = kept;
}

bool repl_inspect(struct repl *repl, struct repl_session *session, const char *name, size_t size,
                  bool source, struct strbuf *error)
{
    struct strbuf json = STRBUF_INIT;
    char *subject = xmemdup0(name, size);
    strbuf_adds(&json, "{\"request\":\"inspect\",\"code\":");
    json_add_string(&json, name, size);
    strbuf_addf(&json, ",\"cursor\":%zu,\"detail\":%d}", size, source);
    uint64_t request = repl_ask(repl, session, source ? REPL_FOR_SOURCE : REPL_FOR_INSPECT,
                                strbuf_text(&json), 2000, subject);
    if (!request)
        strbuf_setf(error, "nothing can be told of %s: %s", subject,
                    session->has_kernel ? "the kernel takes no questions now" : "no kernel runs");
    strbuf_free(&json);
    free(subject);
    return request != 0;
}

/* ---- answers -------------------------------------------------------------------------------- */

static const char *text_of(const cJSON *answer, const char *member)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(answer, member);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static void add_line(struct strbuf *out, const char *label, const char *text)
{
    if (text[0])
        strbuf_addf(out, "%-11s%s\n", label, text);
}

static void show_inspection(struct repl *repl, const struct repl_pending *pending,
                            const cJSON *answer)
{
    struct strbuf out = STRBUF_INIT;
    const cJSON *line = cJSON_GetObjectItemCaseSensitive(answer, "line");
    if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer, "found"))) {
        repl_say(repl, pending->session, "%s is not defined", pending->subject);
        return;
    }
    add_line(&out, "Name:", text_of(answer, "name"));
    add_line(&out, "Signature:", text_of(answer, "signature"));
    add_line(&out, "Type:", text_of(answer, "type"));
    add_line(&out, "Value:", text_of(answer, "preview"));
    if (text_of(answer, "file")[0] && cJSON_IsNumber(line) && line->valueint > 0)
        strbuf_addf(&out, "%-11s%s:%d\n", "File:", text_of(answer, "file"), line->valueint);
    else
        add_line(&out, "File:", text_of(answer, "file"));
    const char *doc = text_of(answer, "doc"), *source = text_of(answer, "source");
    bool wants_source = pending->purpose == REPL_FOR_SOURCE;
    if (wants_source && source[0])
        strbuf_addf(&out, "\n%s%s", source, source[strlen(source) - 1] == '\n' ? "" : "\n");
    else if (doc[0])
        strbuf_addf(&out, "\n%s%s", doc, doc[strlen(doc) - 1] == '\n' ? "" : "\n");
    if (wants_source && !source[0])
        strbuf_adds(&out, "\nits source is not to be had\n");
    repl_show(repl, pending->session, pending->subject, &out);
    strbuf_free(&out);
}

static int longest(const cJSON *list, const char *member, int least, int most)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        int length = (int)strlen(text_of(item, member));
        least = length > least ? length : least;
    }
    return least < most ? least : most;
}

static void show_variables(struct repl *repl, const struct repl_pending *pending,
                           const cJSON *answer)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(answer, "variables"), *item;
    const cJSON *count = cJSON_GetObjectItemCaseSensitive(answer, "count");
    int shown = cJSON_GetArraySize(list), total = cJSON_IsNumber(count) ? count->valueint : shown;
    int names = longest(list, "name", 4, 24), types = longest(list, "type", 4, 20),
        shapes = longest(list, "shape", 0, 14);
    struct strbuf out = STRBUF_INIT;
    cJSON_ArrayForEach(item, list)
    {
        struct strbuf size = STRBUF_INIT;
        const cJSON *bytes = cJSON_GetObjectItemCaseSensitive(item, "size_bytes");
        if (cJSON_IsNumber(bytes))
            repl_add_bytes(&size, (uint64_t)bytes->valuedouble);
        strbuf_addf(&out, "%-*s  %-*s  %8s  ", names, text_of(item, "name"), types,
                    text_of(item, "type"), strbuf_text(&size));
        if (shapes)
            strbuf_addf(&out, "%-*s  ", shapes, text_of(item, "shape"));
        strbuf_addf(&out, "%s\n", text_of(item, "preview"));
        strbuf_free(&size);
    }
    if (!shown)
        repl_say(repl, pending->session, "no variables%s%s",
                 pending->subject[0] ? " that match " : "", pending->subject);
    else if (total > shown)
        strbuf_addf(&out, "(%d more)\n", total - shown);
    if (shown)
        repl_show(repl, pending->session, "variables", &out);
    strbuf_free(&out);
}

static void ask_reset(struct repl *repl, struct repl_session *session, const cJSON *answer)
{
    const cJSON *count = cJSON_GetObjectItemCaseSensitive(answer, "count");
    struct strbuf question = STRBUF_INIT, cost = STRBUF_INIT;
    repl_sample_memory(session);
    if (cJSON_IsNumber(count))
        strbuf_addf(&cost, "%d variable%s, ", count->valueint, count->valueint == 1 ? "" : "s");
    repl_add_cost(&cost, session);
    strbuf_addf(&question, "reset %s? It loses %s.", session->name, strbuf_text(&cost));
    if (session->running)
        strbuf_adds(&question, " A cell runs.");
    repl_ask_doubt(repl, session, REPL_DOUBT_RESET, strbuf_text(&question));
    strbuf_free(&question);
    strbuf_free(&cost);
}

static void deal(struct repl *repl, const struct repl_pending *pending, const char *json)
{
    cJSON *answer = cJSON_Parse(json);
    const char *error = text_of(answer, "error");
    if (pending->purpose == REPL_FOR_RESET)
        ask_reset(repl, pending->session, answer);
    else if (pending->purpose == REPL_FOR_STUCK)
        repl_stuck(repl, pending->session, pending->cell, error[0] ? "" : text_of(answer, "text"));
    else if (error[0])
        repl_say(repl, pending->session, "%s: %s", pending->subject ? pending->subject : "question",
                 error);
    else if (pending->purpose == REPL_FOR_VARIABLES)
        show_variables(repl, pending, answer);
    else
        show_inspection(repl, pending, answer);
    cJSON_Delete(answer);
}

void repl_take_answer(struct repl *repl, const struct hermes_event *event)
{
    for (size_t i = 0; i < repl->pending_count; i++) {
        struct repl_pending pending = repl->pending[i];
        if (pending.request != event->request)
            continue;
        repl->pending[i] = repl->pending[--repl->pending_count];
        if (pending.purpose != REPL_FOR_FRONT)
            deal(repl, &pending, event->data);
        else if (repl->front.answer)
            repl->front.answer(repl->context, pending.session, pending.request, event->data);
        free(pending.subject);
        return;
    }
}
