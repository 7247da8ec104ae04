/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "glob-match.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "strbuf.h"
#include "utf8.h"

enum { STEPS_MAX = 100000, ALTERNATIVES_MAX = 256 };

/* Decode one character; a byte that is none stands for itself. */
static size_t next(const char *text, uint32_t *ret_code)
{
    size_t size = utf8_decode(text, strnlen(text, 4), ret_code);
    if (size && *ret_code != UINT32_MAX)
        return size;
    *ret_code = 0x110000 + (unsigned char)*text;
    return 1;
}

/*
 * A set at pattern, just behind its '['; *ret_end is behind its ']'. False when it is not closed.
 */
static bool match_set(const char *pattern, uint32_t code, const char **ret_end, bool *ret_match)
{
    bool negated = *pattern == '!' || *pattern == '^', found = false;
    const char *at = pattern + negated;
    for (const char *first = at; *at && (*at != ']' || at == first);) {
        uint32_t low, high;
        at += *at == '\\' && at[1];
        at += next(at, &low);
        high = low;
        if (at[0] == '-' && at[1] && at[1] != ']') {
            at++;
            at += *at == '\\' && at[1];
            at += next(at, &high);
        }
        found = found || (code >= low && code <= high);
    }
    if (!*at)
        return false;
    *ret_end = at + 1;
    *ret_match = found != negated;
    return true;
}

/*
 * One element that is no star against the character at text. NULL: no match; else the pattern
 * behind it.
 */
static const char *match_one(const char *pattern, const char *text, size_t *ret_size)
{
    uint32_t code, wanted;
    const char *end;
    bool match;
    *ret_size = next(text, &code);
    if (*pattern == '?')
        return code == '/' ? NULL : pattern + 1;
    if (*pattern == '[' && match_set(pattern + 1, code, &end, &match))
        return match && code != '/' ? end : NULL;
    if (*pattern == '\\' && pattern[1])
        pattern++;
    size_t size = next(pattern, &wanted);
    return wanted == code ? pattern + size : NULL;
}

static bool match(const char *pattern, const char *text, int *steps);

/* pattern is at a star: try all that it may take. */
static bool match_star(const char *pattern, const char *text, int *steps)
{
    bool deep = pattern[1] == '*';
    while (*pattern == '*')
        pattern++;
    if (deep && *pattern == '/' &&
        match(pattern + 1, text, steps)) /* "**" + "/" also stands for no directory */
        return true;
    for (;; text++) {
        if (match(pattern, text, steps))
            return true;
        if (!*text || (*text == '/' && !deep) || *steps <= 0)
            return false;
    }
}

static bool match(const char *pattern, const char *text, int *steps)
{
    for (; *pattern;) {
        if (--*steps <= 0)
            return false;
        if (*pattern == '*')
            return match_star(pattern, text, steps);
        size_t size;
        if (!*text || !(pattern = match_one(pattern, text, &size)))
            return false;
        text += size;
    }
    return !*text;
}

/* The brace that opens the first list, with its end; NULL: there is none. */
static const char *find_braces(const char *pattern, const char **ret_end)
{
    const char *start = NULL;
    int depth = 0;
    for (const char *at = pattern; *at; at++) {
        if (*at == '\\' && at[1]) {
            at++;
        } else if (*at == '{') {
            if (depth++ == 0)
                start = at;
        } else if (*at == '}' && depth && --depth == 0) {
            *ret_end = at;
            return start;
        }
    }
    return NULL;
}

/* Each alternative of the first list in its place, the others by recursion. */
static bool match_braces(const char *pattern, const char *text, int *steps, int *alternatives)
{
    const char *end = NULL, *start = find_braces(pattern, &end);
    if (!start)
        return match(pattern, text, steps);
    bool found = false;
    int depth = 0;
    const char *part = start + 1;
    for (const char *at = part; at <= end && !found; at++) {
        depth += *at == '{' ? 1 : *at == '}' && at < end ? -1 : 0;
        if (at != end && (*at != ',' || depth))
            continue;
        if (--*alternatives < 0)
            break;
        struct strbuf one = STRBUF_INIT;
        strbuf_add(&one, pattern, (size_t)(start - pattern));
        strbuf_add(&one, part, (size_t)(at - part));
        strbuf_adds(&one, end + 1);
        found = match_braces(strbuf_text(&one), text, steps, alternatives);
        strbuf_free(&one);
        part = at + 1;
    }
    return found;
}

bool glob_match(const char *pattern, const char *path)
{
    int steps = STEPS_MAX, alternatives = ALTERNATIVES_MAX;
    if (strncmp(pattern, "./", 2) == 0)
        pattern += 2;
    if (!strchr(pattern, '/')) {
        const char *slash = strrchr(path, '/');
        path = slash ? slash + 1 : path;
    }
    return match_braces(pattern + (*pattern == '/'), path, &steps, &alternatives);
}
