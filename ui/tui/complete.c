/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tab and S-Tab: names of commands and files are known here; the rest the kernel is asked for,
 * beside whatever it runs. When it does not answer in time, what it answered before and the words
 * of Python and of this session have to do.
 */
#include "config.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "complete-local.h"
#include "tui-internal.h"
#include "xalloc.h"

#define COMPLETE_MS 400
#define SIGNATURE_MS 1000
#define MATCHES_MAX 1000

static uint64_t ask(struct tui *tui, const char *what, int64_t timeout_ms)
{
    size_t size;
    const char *text = edit_text(tui->edit, &size);
    return repl_request(tui->repl, tui->front, what, text, size, edit_point(tui->edit), timeout_ms);
}

static void offer(struct tui *tui, size_t start, size_t end, struct local_matches *matches)
{
    unsigned reaction = edit_offer(tui->edit, start, end, matches->items, matches->count);
    tui_react(tui, reaction & EDIT_CHANGED);
    local_matches_free(matches);
}

/* Without the kernel. */
static void offer_words(struct tui *tui)
{
    size_t size, start;
    const char *text = edit_text(tui->edit, &size);
    struct local_matches matches = {NULL, 0, 0};
    size_t point = edit_point(tui->edit);
    local_words(text, point, tui->front, &matches, &start);
    kept_answers_offer(&tui->kept, tui->front->kernel, text, start, point, &matches);
    offer(tui, start, point, &matches);
}

void tui_complete(struct tui *tui)
{
    size_t size, start;
    const char *text = edit_text(tui->edit, &size);
    struct local_matches matches = {NULL, 0, 0};
    tui->completion = 0;
    if (local_commands(text, edit_point(tui->edit), &matches, &start) ||
        local_files(text, size, edit_point(tui->edit), tui->front->pid, &matches, &start)) {
        offer(tui, start, edit_point(tui->edit), &matches);
        return;
    }
    tui->completion = ask(tui, "complete", COMPLETE_MS);
    if (!tui->completion)
        offer_words(tui);
}

/* The second time: all that is known. */
void tui_ask_signature(struct tui *tui)
{
    tui->wants_all = tui->signature != NULL;
    tui->inspection = ask(tui, tui->wants_all ? "inspect" : "signature", SIGNATURE_MS);
    if (!tui->inspection)
        tui_say(tui, "the kernel cannot be asked now");
}

static size_t offset_of(const cJSON *answer, const char *member)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(answer, member);
    return cJSON_IsNumber(item) && item->valuedouble >= 0 ? (size_t)item->valuedouble : 0;
}

static const char *text_of(const cJSON *answer, const char *member)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(answer, member);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static void take_completion(struct tui *tui, const cJSON *answer)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(answer, "matches"), *item;
    struct local_matches matches = {NULL, 0, 0};
    if (!cJSON_IsArray(list)) {
        tui_say(tui, "the kernel did not answer in time: what it answered before, and words");
        offer_words(tui);
        return;
    }
    cJSON_ArrayForEach(item, list)
    {
        if (matches.count < MATCHES_MAX && text_of(item, "text")[0])
            local_matches_add(&matches, text_of(item, "text"), text_of(item, "type"));
    }
    size_t size, start = offset_of(answer, "start"), end = offset_of(answer, "end");
    const char *text = edit_text(tui->edit, &size);
    if (start <= end && end == edit_point(tui->edit))
        kept_answers_add(&tui->kept, tui->front->kernel, text, start, end, &matches);
    offer(tui, start, end, &matches);
}

static void take_inspection(struct tui *tui, const cJSON *answer)
{
    static const char *const members[] = {"signature", "type", "preview", "file", "doc"};
    struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const char *part = text_of(answer, members[i]);
        if (part[0])
            strbuf_addf(&text, "%s%s\n", strcmp(members[i], "doc") == 0 ? "\n" : "", part);
    }
    if (text.size)
        tui_reader_open(tui, text_of(answer, "name"), text.data, text.size);
    else
        tui_say(tui, "nothing is known of what stands here");
    strbuf_free(&text);
}

/* One line: the signature, then how its documentation begins. */
static void take_signature(struct tui *tui, const cJSON *answer)
{
    const char *signature = text_of(answer, "signature"), *name = text_of(answer, "name"),
               *doc = text_of(answer, "doc");
    free(tui->signature);
    tui->signature = NULL;
    if (!signature[0] && !doc[0]) {
        tui_say(tui, "nothing is known of what stands here");
        return;
    }
    size_t line = strcspn(doc, "\n");
    bool named = strncmp(signature, name, strlen(name)) == 0;
    tui->signature =
        xasprintf("%s%s%s%.*s", named ? "" : name, signature, line ? " — " : "", (int)line, doc);
    tui_damage(tui, DAMAGE_ALL);
}

bool tui_take_answer(struct tui *tui, uint64_t request, const char *json)
{
    if (!request || (request != tui->completion && request != tui->inspection))
        return false;
    cJSON *answer = cJSON_Parse(json);
    if (request == tui->completion) {
        tui->completion = 0;
        take_completion(tui, answer);
    } else {
        tui->inspection = 0;
        if (tui->wants_all)
            take_inspection(tui, answer);
        else
            take_signature(tui, answer);
    }
    cJSON_Delete(answer);
    return true;
}
