/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "complete-kept.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

static bool begins_with(const char *line, size_t size, const char *word)
{
    size_t length = strlen(word);
    return size > length && memcmp(line, word, length) == 0;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || (c & 0x80) || c == '_';
}

/*
 * What decides what can stand at start: a dotted name before it ("df.", "d['"), or the line as far
 * as it goes where more of it does (calls, items of items, imports, shell commands, magics).
 */
static size_t context_start(const char *text, size_t start)
{
    size_t line = start, at = start;
    while (line > 0 && text[line - 1] != '\n')
        line--;
    while (line < start && isspace((unsigned char)text[line]))
        line++;
    if (line < start &&
        (strchr("!%", text[line]) || begins_with(text + line, start - line, "import") ||
         begins_with(text + line, start - line, "from")))
        return line;
    while (at > line && strchr("['\"", text[at - 1]))
        at--;
    while (at > line && (is_name(text[at - 1]) || text[at - 1] == '.'))
        at--;
    return at > line && strchr(")]}'\"", text[at - 1]) ? line : at;
}

static void free_answer(struct kept_answer *answer)
{
    free(answer->before);
    free(answer->word);
    local_matches_free(&answer->matches);
    *answer = (struct kept_answer){.kernel = 0};
}

void kept_answers_add(struct kept_answers *kept, uint64_t kernel, const char *text, size_t start,
                      size_t point, const struct local_matches *matches)
{
    struct kept_answer *answer = &kept->items[kept->next];
    size_t context = context_start(text, start);
    if (!kernel || !matches->count)
        return;
    kept->next = (kept->next + 1) % KEPT_ANSWERS;
    free_answer(answer);
    answer->kernel = kernel;
    answer->before = xmemdup0(text + context, start - context);
    answer->word = xmemdup0(text + start, point - start);
    for (size_t i = 0; i < matches->count; i++) {
        const struct edit_match *match = &matches->items[i];
        /* An argument's name is of the call, not of the expression. */
        if (!match->type || strcmp(match->type, "param") != 0)
            local_matches_add(&answer->matches, match->text, match->type);
    }
}

static bool holds(const struct local_matches *matches, const char *text)
{
    for (size_t i = 0; i < matches->count; i++) {
        if (strcmp(matches->items[i].text, text) == 0)
            return true;
    }
    return false;
}

static void add_those_that_fit(struct local_matches *out, const struct local_matches *matches,
                               const char *word, size_t size)
{
    for (size_t i = 0; i < matches->count; i++) {
        const struct edit_match *match = &matches->items[i];
        if (strncmp(match->text, word, size) == 0 && !holds(out, match->text))
            local_matches_add(out, match->text, match->type);
    }
}

void kept_answers_offer(const struct kept_answers *kept, uint64_t kernel, const char *text,
                        size_t start, size_t point, struct local_matches *matches)
{
    size_t context = context_start(text, start), size = start - context;
    struct local_matches all = {NULL, 0, 0};
    for (size_t n = 1; kernel && n <= KEPT_ANSWERS; n++) { /* the newest first */
        const struct kept_answer *answer =
            &kept->items[(kept->next + KEPT_ANSWERS - n) % KEPT_ANSWERS];
        if (answer->kernel == kernel && strlen(answer->before) == size &&
            memcmp(answer->before, text + context, size) == 0 &&
            strlen(answer->word) <= point - start &&
            memcmp(answer->word, text + start, strlen(answer->word)) == 0)
            add_those_that_fit(&all, &answer->matches, text + start, point - start);
    }
    add_those_that_fit(&all, matches, text + start, point - start);
    local_matches_free(matches);
    *matches = all;
}

void kept_answers_free(struct kept_answers *kept)
{
    for (size_t i = 0; i < KEPT_ANSWERS; i++)
        free_answer(&kept->items[i]);
}
