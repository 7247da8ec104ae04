/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tab and S-Tab: names of commands are known here, the rest the kernel is asked for.
 */
#include "config.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "complete-local.h"
#include "plain-internal.h"

#define COMPLETE_MS 1000
#define LIST_ROWS 20

static uint64_t ask(struct plain *plain, const char *what)
{
    size_t size;
    const char *text = edit_text(plain->edit, &size);
    return repl_request(plain->repl, plain->front, what, text, size, edit_point(plain->edit),
                        COMPLETE_MS);
}

/* As columns under the prompt, which comes again below. */
static void list_matches(struct plain *plain)
{
    size_t count = 0, selected, width = 1;
    const struct edit_match *matches = edit_popup(plain->edit, &count, &selected);
    struct strbuf out = STRBUF_INIT;
    if (!matches)
        count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(matches[i].text) + 2;
        width = length > width ? length : width;
    }
    size_t columns =
        (size_t)plain->options->columns > width ? (size_t)plain->options->columns / width : 1;
    size_t rows = (count + columns - 1) / columns, shown = rows < LIST_ROWS ? rows : LIST_ROWS;
    for (size_t row = 0; row < shown; row++) {
        for (size_t column = 0; column < columns && column * rows + row < count; column++) {
            bool last = (column + 1) * rows + row >= count || column + 1 == columns;
            strbuf_addf(&out, "%-*s", last ? 0 : (int)width, matches[column * rows + row].text);
        }
        strbuf_addc(&out, '\n');
    }
    if (shown < rows)
        strbuf_addf(&out, "... %zu in all\n", count);
    edit_close_popup(plain->edit);
    if (count) {
        plain_leave_prompt(plain, "");
        plain_print(plain, strbuf_text(&out), out.size);
    }
    strbuf_free(&out);
    plain->dirty = true;
}

static void offer(struct plain *plain, size_t start, size_t end, const struct edit_match *matches,
                  size_t count)
{
    edit_offer(plain->edit, start, end, matches, count);
    list_matches(plain);
}

/* The name behind ":". */
static bool complete_command(struct plain *plain)
{
    size_t size, point = edit_point(plain->edit), start = 0, count = 0;
    const char *text = edit_text(plain->edit, &size);
    while (start < point && (text[start] == ' ' || text[start] == '\t'))
        start++;
    if (start >= point || text[start] != ':' || memchr(text + start, ' ', point - start))
        return false;
    start++;
    struct edit_match *matches = xcalloc(command_count, sizeof(*matches));
    for (size_t i = 0; i < command_count; i++) {
        if (strncmp(command_table[i].name, text + start, point - start) == 0 &&
            !(command_table[i].needs & COMMAND_SCREEN_ONLY))
            matches[count++].text = (char *)command_table[i].name;
    }
    offer(plain, start, point, matches, count);
    free(matches);
    return true;
}

static void offer_local(struct plain *plain, size_t start, struct local_matches *matches)
{
    offer(plain, start, edit_point(plain->edit), matches->items, matches->count);
    local_matches_free(matches);
}

/*
 * Paths are known here; a kernel that cannot be asked leaves the words of Python and of this
 * session.
 */
void plain_complete(struct plain *plain)
{
    struct local_matches matches = {NULL, 0, 0};
    size_t size, start, point = edit_point(plain->edit);
    const char *text = edit_text(plain->edit, &size);
    if (complete_command(plain))
        return;
    if (local_files(text, size, point, plain->front->pid, &matches, &start)) {
        offer_local(plain, start, &matches);
        return;
    }
    plain->completion = ask(plain, "complete");
    if (plain->completion)
        return;
    local_words(text, point, plain->front, &matches, &start);
    offer_local(plain, start, &matches);
}

void plain_signature(struct plain *plain)
{
    plain->signature = ask(plain, "signature");
}

static size_t number_of(const cJSON *answer, const char *member)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(answer, member);
    return cJSON_IsNumber(item) && item->valuedouble > 0 ? (size_t)item->valuedouble : 0;
}

static const char *text_of(const cJSON *answer, const char *member)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(answer, member);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static void take_completion(struct plain *plain, const cJSON *answer)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(answer, "matches"), *item;
    size_t count = 0, room = (size_t)cJSON_GetArraySize(list);
    struct edit_match *matches = xcalloc(room ? room : 1, sizeof(*matches));
    cJSON_ArrayForEach(item, list)
    {
        matches[count].text = (char *)text_of(item, "text");
        matches[count++].type = (char *)text_of(item, "type");
    }
    if (text_of(answer, "error")[0])
        plain_say(plain, "nothing to complete from: %s", text_of(answer, "error"));
    else
        offer(plain, number_of(answer, "start"), number_of(answer, "end"), matches, count);
    free(matches);
}

static void take_signature(struct plain *plain, const cJSON *answer)
{
    const char *doc = text_of(answer, "doc");
    if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer, "found")))
        return;
    plain_say(plain, "%s%s%s%.*s", text_of(answer, "name"), text_of(answer, "signature"),
              doc[0] ? "  " : "", (int)strcspn(doc, "\n"), doc);
}

void plain_answer(struct plain *plain, uint64_t request, const char *json)
{
    cJSON *answer = cJSON_Parse(json);
    if (plain->edit && request == plain->completion && !plain_is_busy(plain))
        take_completion(plain, answer);
    else if (plain->edit && request == plain->signature && !plain_is_busy(plain))
        take_signature(plain, answer);
    cJSON_Delete(answer);
}
