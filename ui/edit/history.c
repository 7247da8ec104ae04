/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Equal blocks share one text. The walk of one session, mostly the same one for long, is kept as
 * two lists, its own entries and those of all others; and for each text which entry the walk gives
 * first, so that a search passes over the others without comparing.
 */
#include "config.h"

#include "history.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

#define PAGE_SIZE ((size_t)64 << 10)

struct text {
    const char *data;
    uint32_t size;
    uint32_t hash;
};

struct entry {
    uint32_t text, session;
};

struct list {
    uint32_t *items;
    size_t count, capacity;
};

struct walk {
    uint32_t session; /* UINT32_MAX: one that has no entries */
    bool valid;
    struct list own, others; /* entries, oldest first */
    uint32_t *first;         /* for each text: the entry that the walk gives first */
    size_t first_capacity;
};

struct history {
    struct text *texts;
    size_t text_count, text_capacity;
    uint32_t *slots; /* text + 1, by hash; a power of two, at most half full */
    size_t slot_count;
    struct entry *entries;
    size_t count, capacity;
    char **sessions;
    uint32_t *newest; /* of each session: text + 1 */
    size_t session_count, session_capacity, newest_capacity;
    char **pages;
    size_t page_count, page_capacity;
    size_t page_left;
    uint32_t frequency[256]; /* of bytes in the texts: a search looks for the rarest first */
    struct walk *walk;       /* behind a pointer: looking does not change the history */
};

struct history *history_new(void)
{
    struct history *history = xcalloc(1, sizeof *history);
    history->walk = xcalloc(1, sizeof *history->walk);
    return history;
}

void history_free(struct history *history)
{
    if (!history)
        return;
    for (size_t i = 0; i < history->page_count; i++)
        free(history->pages[i]);
    for (size_t i = 0; i < history->session_count; i++)
        free(history->sessions[i]);
    free(history->pages);
    free(history->sessions);
    free(history->newest);
    free(history->slots);
    free(history->texts);
    free(history->entries);
    free(history->walk->own.items);
    free(history->walk->others.items);
    free(history->walk->first);
    free(history->walk);
    free(history);
}

/* ---- texts ---------------------------------------------------------------------------------- */

static uint32_t hash_of(const char *data, size_t size)
{
    uint32_t hash = 2166136261U;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)data[i]) * 16777619U;
    return hash;
}

/* Texts lie one after the other: a search reads memory in order. */
static const char *store_text(struct history *history, const char *data, size_t size)
{
    size_t need = size + 1;
    if (need > history->page_left) {
        history->pages = xgrow(history->pages, history->page_count, &history->page_capacity,
                               sizeof *history->pages);
        history->page_left = need > PAGE_SIZE ? need : PAGE_SIZE;
        history->pages[history->page_count++] = xmalloc(history->page_left);
    }
    size_t page_size = need > PAGE_SIZE ? need : PAGE_SIZE;
    char *page = history->pages[history->page_count - 1];
    char *copy = page + page_size - history->page_left;
    memcpy(copy, data, size);
    copy[size] = '\0';
    for (size_t i = 0; i < size; i++)
        history->frequency[(unsigned char)data[i]]++;
    history->page_left -= need;
    return copy;
}

static void grow_slots(struct history *history)
{
    size_t count = history->slot_count ? history->slot_count * 2 : 256;
    free(history->slots);
    history->slots = xcalloc(count, sizeof *history->slots);
    history->slot_count = count;
    for (size_t i = 0; i < history->text_count; i++) {
        size_t slot = history->texts[i].hash & (count - 1);
        while (history->slots[slot])
            slot = (slot + 1) & (count - 1);
        history->slots[slot] = (uint32_t)i + 1;
    }
}

static uint32_t intern(struct history *history, const char *data, size_t size)
{
    if (history->text_count * 2 >= history->slot_count)
        grow_slots(history);
    uint32_t hash = hash_of(data, size);
    size_t slot = hash & (history->slot_count - 1);
    for (; history->slots[slot]; slot = (slot + 1) & (history->slot_count - 1)) {
        const struct text *text = &history->texts[history->slots[slot] - 1];
        if (text->hash == hash && text->size == size && memcmp(text->data, data, size) == 0)
            return history->slots[slot] - 1;
    }
    history->texts =
        xgrow(history->texts, history->text_count, &history->text_capacity, sizeof *history->texts);
    history->texts[history->text_count++] = (struct text){
        .data = store_text(history, data, size), .size = (uint32_t)size, .hash = hash};
    history->slots[slot] = (uint32_t)history->text_count;
    return (uint32_t)history->text_count - 1;
}

/* ---- sessions and walks --------------------------------------------------------------------- */

static uint32_t session_of(const struct history *history, const char *name)
{
    for (size_t i = history->session_count; i-- > 0;) {
        if (strcmp(history->sessions[i], name) == 0)
            return (uint32_t)i;
    }
    return UINT32_MAX;
}

static uint32_t add_session(struct history *history, const char *name)
{
    size_t count = history->session_count;
    history->sessions =
        xgrow(history->sessions, count, &history->session_capacity, sizeof *history->sessions);
    history->newest =
        xgrow(history->newest, count, &history->newest_capacity, sizeof *history->newest);
    history->sessions[count] = xstrdup(name);
    history->newest[count] = 0;
    history->session_count++;
    return (uint32_t)count;
}

static void append(struct list *list, uint32_t item)
{
    list->items = xgrow(list->items, list->count, &list->capacity, sizeof *list->items);
    list->items[list->count++] = item;
}

static void reserve_first(const struct history *history, struct walk *walk)
{
    if (history->text_count <= walk->first_capacity)
        return;
    size_t old = walk->first_capacity;
    walk->first_capacity = history->text_capacity;
    walk->first = xrealloc(walk->first, walk->first_capacity * sizeof *walk->first);
    memset(walk->first + old, 0xff, (walk->first_capacity - old) * sizeof *walk->first);
}

/* Entries come oldest first, so the last one of its kind is the first of the walk. */
static void add_to_walk(const struct history *history, struct walk *walk, uint32_t index)
{
    const struct entry *entry = &history->entries[index];
    bool own = entry->session == walk->session;
    append(own ? &walk->own : &walk->others, index);
    uint32_t *first = &walk->first[entry->text];
    if (own || *first == UINT32_MAX || history->entries[*first].session != walk->session)
        *first = index;
}

static struct walk *walk_for(const struct history *history, const char *name)
{
    struct walk *walk = history->walk;
    uint32_t session = session_of(history, name);
    if (walk->valid && walk->session == session)
        return walk;
    walk->valid = true;
    walk->session = session;
    walk->own.count = walk->others.count = 0;
    if (walk->first)
        memset(walk->first, 0xff, walk->first_capacity * sizeof *walk->first);
    reserve_first(history, walk);
    for (size_t i = 0; i < history->count; i++)
        add_to_walk(history, walk, (uint32_t)i);
    return walk;
}

static uint32_t walk_entry(const struct walk *walk, size_t n)
{
    if (n < walk->own.count)
        return walk->own.items[walk->own.count - 1 - n];
    return walk->others.items[walk->others.count - 1 - (n - walk->own.count)];
}

/* ---- the public side ------------------------------------------------------------------------ */

static bool is_blank(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (!strchr(" \t\r\n", text[i]))
            return false;
    }
    return true;
}

void history_add(struct history *history, const char *session, const char *text, size_t size)
{
    if (is_blank(text, size) || text[0] == ' ' || size >= UINT32_MAX ||
        history->count >= UINT32_MAX - 1)
        return;
    uint32_t number = session_of(history, session), id = intern(history, text, size);
    if (number == UINT32_MAX)
        number = add_session(history, session);
    if (history->newest[number] == id + 1)
        return;
    history->newest[number] = id + 1;
    history->entries =
        xgrow(history->entries, history->count, &history->capacity, sizeof *history->entries);
    history->entries[history->count++] = (struct entry){.text = id, .session = number};
    if (!history->walk->valid)
        return;
    if (history->walk->session == UINT32_MAX) { /* it may just have got its first entry */
        history->walk->valid = false;
        return;
    }
    reserve_first(history, history->walk);
    add_to_walk(history, history->walk, (uint32_t)history->count - 1);
}

size_t history_count(const struct history *history)
{
    return history->count;
}

size_t history_session_count(const struct history *history, const char *session)
{
    return walk_for(history, session)->own.count;
}

const char *history_at(const struct history *history, const char *session, size_t n,
                       size_t *ret_size)
{
    if (n >= history->count)
        return NULL;
    const struct walk *walk = walk_for(history, session);
    const struct text *text = &history->texts[history->entries[walk_entry(walk, n)].text];
    *ret_size = text->size;
    return text->data;
}

struct query {
    const char *text;
    size_t size, rarest; /* rarest: which of its bytes */
    bool prefix;
};

static size_t rarest_byte(const struct history *history, const char *text, size_t size)
{
    size_t rarest = 0;
    for (size_t i = 1; i < size; i++) {
        if (history->frequency[(unsigned char)text[i]] <
            history->frequency[(unsigned char)text[rarest]])
            rarest = i;
    }
    return rarest;
}

/* memchr() is much faster than memmem() on short texts, mostly without the byte. */
static bool matches(const struct text *text, const struct query *query)
{
    size_t size = query->size, rarest = query->rarest;
    if (text->size < size)
        return false;
    if (query->prefix || !size)
        return memcmp(text->data, query->text, size) == 0;
    const char *at = text->data + rarest, *end = text->data + (text->size - size) + rarest + 1;
    while ((at = memchr(at, query->text[rarest], (size_t)(end - at)))) {
        if (memcmp(at - rarest, query->text, size) == 0)
            return true;
        at++;
    }
    return false;
}

bool history_find(const struct history *history, const char *session, const char *text, size_t size,
                  bool prefix, int step, size_t n, size_t *ret_n)
{
    const struct walk *walk = walk_for(history, session);
    const struct query query = {text, size, rarest_byte(history, text, size), prefix};
    /* Stepping to newer ones ends when n wraps around below 0. */
    for (; n<history->count; n = step> 0 ? n + 1 : n - 1) {
        uint32_t index = walk_entry(walk, n), id = history->entries[index].text;
        if (walk->first[id] != index || !matches(&history->texts[id], &query))
            continue;
        *ret_n = n;
        return true;
    }
    return false;
}
