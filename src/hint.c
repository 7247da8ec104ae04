/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "hint.h"

#include <stdbool.h>
#include <string.h>

#include "alloc.h"
#include "authority.h"
#include "buf.h"

enum { NAME_SIZE_MAX = 100 };

/* The searched part of a traceback, and the name that was found in it. */
struct search {
    const char *text;
    size_t size;
    const char *tools;
    char name[NAME_SIZE_MAX + 1];
};

static const char *const helpers[] = {"json_parse", "shell_quote", "retry", NULL};

static bool is_helper(const char *name)
{
    for (const char *const *helper = helpers; *helper; helper++)
        if (strcmp(name, *helper) == 0)
            return true;
    return false;
}

static size_t first_characters(const char *text, size_t size, size_t count)
{
    size_t i = 0;

    for (; i < size; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80 && count-- == 0)
            break;
    return i;
}

static const char *find(const char *text, const char *end, const char *word)
{
    return memmem(text, (size_t)(end - text), word, strlen(word));
}

static bool contains(const struct search *search, const char *word)
{
    return find(search->text, search->text + search->size, word) != NULL;
}

/* A name between the two texts, from the first place where there is one. */
static bool find_name(struct search *search, const char *before, const char *after)
{
    const char *at = search->text, *end = search->text + search->size;

    while ((at = find(at, end, before)) != NULL) {
        size_t length = 0;

        at += strlen(before);
        while (at + length < end && length < NAME_SIZE_MAX && at[length] != '\'' &&
               (unsigned char)at[length] > ' ' && at[length] != '`')
            length++;
        if (length == 0 || (size_t)(end - at) - length < strlen(after) ||
            memcmp(at + length, after, strlen(after)) != 0)
            continue;
        memcpy(search->name, at, length);
        search->name[length] = '\0';
        return true;
    }
    return false;
}

static bool has_tool(const char *tools, const char *name)
{
    size_t length = strlen(name);

    for (const char *end; tools && *tools; tools = end + 1) {
        end = strchr(tools, '\n');
        if ((size_t)(end - tools) == length && memcmp(tools, name, length) == 0)
            return true;
    }
    return !tools;
}

/* "a, b, c" of what can be imported. */
static void add_importable(struct hr_buf *out, const char *tools)
{
    for (const char *const *name = hr_tool_names; !tools && *name; name++)
        hr_buf_printf(out, "%s, ", *name);
    for (const char *end; tools && *tools; tools = end + 1) {
        end = strchr(tools, '\n');
        hr_buf_printf(out, "%.*s, ", (int)(end - tools), tools);
    }
    hr_buf_add_text(out, "json_parse, shell_quote, retry");
}

/* ---- the hints -------------------------------------------------------------------------- */

static bool failed_import(struct search *search, struct hr_buf *out)
{
    if (!find_name(search, "cannot import name '", "' from 'hermes_tools'"))
        return false;
    if (is_helper(search->name)) {
        hr_buf_printf(
            out,
            "%s is a helper that every session has: import it with `from hermes_tools import %s`. "
            "If that line "
            "failed, a stale or foreign module is in the way: look at `import hermes_tools; "
            "print(hermes_tools.__file__)`, then run the cell again with reset=true.",
            search->name, search->name);
        return true;
    }
    hr_buf_printf(
        out, "%s is not available inside execute_code. What can be imported from hermes_tools: ",
        search->name);
    add_importable(out, search->tools);
    hr_buf_printf(out, ". If %s is one of your tools, call it directly, not from Python.",
                  search->name);
    return true;
}

static bool missing_helper(struct search *search, struct hr_buf *out)
{
    static const char *const before[] = {"name 'json_parse' is not defined",
                                         "name 'shell_quote' is not defined",
                                         "name 'retry' is not defined"};

    for (size_t i = 0; i < 3; i++) {
        if (!contains(search, before[i]))
            continue;
        hr_buf_printf(out, "%s has to be imported first: `from hermes_tools import %s`.",
                      helpers[i], helpers[i]);
        return true;
    }
    return false;
}

static bool missing_module(struct search *search, struct hr_buf *out)
{
    if (!find_name(search, "ModuleNotFoundError: No module named '", "'"))
        return false;
    if (strcmp(search->name, "hermes_tools") == 0) {
        if (!search->tools || *search->tools)
            return false;
        hr_buf_add_text(out,
                        "No tool is enabled in this session, so there is no module hermes_tools.");
        return true;
    }
    search->name[strcspn(search->name, ".")] = '\0';
    hr_buf_printf(out,
                  "%s is not installed in the interpreter of this session, which `import sys; "
                  "print(sys.executable)` "
                  "names. Use the standard library instead",
                  search->name);
    if (has_tool(search->tools, "terminal"))
        hr_buf_add_text(
            out,
            ", or run the code with the project's own Python by terminal(command=...), after `from "
            "hermes_tools import terminal`");
    hr_buf_add_text(out, ".");
    return true;
}

static bool parsed_result(struct search *search, struct hr_buf *out)
{
    if (!contains(search, "string indices must be integers") &&
        !contains(search, "'str' object has no attribute 'get'"))
        return false;
    hr_buf_add_text(
        out,
        "What a tool returns is a dict already: use result[\"key\"] on it, without json.loads(). "
        "Only a "
        "member that is a text itself, such as the output of a command, may hold JSON to parse.");
    return true;
}

char *hr_hint(const char *traceback, size_t size, const char *tools)
{
    static bool (*const hints[])(struct search *, struct hr_buf *) = {
        failed_import, missing_helper, missing_module, parsed_result};
    struct search search = {traceback, first_characters(traceback, size, HR_HINT_LOOK), tools, ""};
    struct hr_buf out;

    hr_buf_init(&out, 0);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (hints[i](&search, &out))
            return hr_buf_take(&out);
    return NULL;
}
