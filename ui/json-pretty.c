/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "json-pretty.h"

#include <stdlib.h>
#include <string.h>

#include "json-write.h"
#include "xalloc.h"

struct member {
    struct strbuf name;
    struct json_span key, value;
    size_t order;
};

static void add_value(struct strbuf *out, struct json_span value, size_t level);

static void add_line(struct strbuf *out, size_t level)
{
    strbuf_addc(out, '\n');
    while (level--)
        strbuf_addc(out, ' ');
}

/* A lone surrogate has no UTF-8: then the spelling stays. */
static bool has_surrogate(struct json_span string)
{
    for (size_t i = 0; i + 2 < string.size; i++) {
        if (string.start[i] == '\\' && string.start[++i] == 'u' &&
            (string.start[i + 1] | 32) == 'd' && strchr("89abcdefABCDEF", string.start[i + 2]))
            return true;
    }
    return false;
}

static void add_string(struct strbuf *out, struct json_span string)
{
    struct strbuf text = STRBUF_INIT;
    if (!memchr(string.start, '\\', string.size) || has_surrogate(string)) {
        strbuf_add(out, string.start, string.size);
        return;
    }
    json_decode(string, &text);
    json_add_string(out, strbuf_text(&text), text.size);
    strbuf_free(&text);
}

static void add_array(struct strbuf *out, struct json_span array, size_t level)
{
    struct json_span element;
    bool any = false;
    strbuf_addc(out, '[');
    for (size_t position = 0; json_next_element(array, &position, &element); any = true) {
        strbuf_adds(out, any ? "," : "");
        add_line(out, level + 1);
        add_value(out, element, level + 1);
    }
    if (any)
        add_line(out, level);
    strbuf_addc(out, ']');
}

/* By name; of the same name the last first. UTF-8 sorts as its code points do. */
static int compare(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    size_t shorter = a->name.size < b->name.size ? a->name.size : b->name.size;
    int order = memcmp(strbuf_text(&a->name), strbuf_text(&b->name), shorter);
    if (!order && a->name.size != b->name.size)
        order = a->name.size < b->name.size ? -1 : 1;
    return order ? order : (a->order < b->order) - (a->order > b->order);
}

static bool same_name(const struct member *a, const struct member *b)
{
    return a->name.size == b->name.size &&
           memcmp(strbuf_text(&a->name), strbuf_text(&b->name), a->name.size) == 0;
}

static void add_object(struct strbuf *out, struct json_span object, size_t level)
{
    struct member *members = NULL, next = {.order = 0};
    size_t count = 0, capacity = 0;
    for (size_t position = 0; json_next_member(object, &position, &next.key, &next.value);) {
        members = xgrow(members, count, &capacity, sizeof(*members));
        members[count] = next;
        members[count].name = (struct strbuf)STRBUF_INIT;
        members[count].order = count;
        json_decode(next.key, &members[count].name);
        count++;
    }
    if (count)
        qsort(members, count, sizeof(*members), compare);
    strbuf_addc(out, '{');
    for (size_t i = 0; i < count; i++) {
        if (i && same_name(&members[i - 1], &members[i]))
            continue;
        strbuf_adds(out, i ? "," : "");
        add_line(out, level + 1);
        add_string(out, members[i].key);
        strbuf_adds(out, ": ");
        add_value(out, members[i].value, level + 1);
    }
    if (count)
        add_line(out, level);
    strbuf_addc(out, '}');
    for (size_t i = 0; i < count; i++)
        strbuf_free(&members[i].name);
    free(members);
}

static void add_value(struct strbuf *out, struct json_span value, size_t level)
{
    switch (json_kind_of(value)) {
    case JSON_OBJECT:
        add_object(out, value, level);
        break;
    case JSON_ARRAY:
        add_array(out, value, level);
        break;
    case JSON_STRING:
        add_string(out, value);
        break;
    case JSON_NONE:
    case JSON_NUMBER:
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        strbuf_add(out, value.start, value.size);
    }
}

void json_pretty(struct strbuf *out, struct json_span value)
{
    add_value(out, value, 0);
}
