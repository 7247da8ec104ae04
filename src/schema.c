/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "authority.h"
#include "engine-private.h"
#include "text.h"

/* In the order of hr_tool_names. */
static const char *const signatures[][2] = {
    {"web_search", "web_search(query, limit=5)"},
    {"web_extract", "web_extract(urls, char_limit=None)"},
    {"read_file", "read_file(path, offset=1, limit=500)"},
    {"write_file", "write_file(path, content)"},
    {"search_files",
     "search_files(pattern, target=\"content\", path=\".\", file_glob=None, limit=50)"},
    {"patch", "patch(path, old_string, new_string, replace_all=False)"},
    {"terminal", "terminal(command, timeout=None, workdir=None)"},
};

/* Whether the entry, a name or a signature, is of that tool. */
static bool is_of(const char *entry, const char *name)
{
    size_t size = strlen(name);

    return strncmp(entry, name, size) == 0 && (entry[size] == '\0' || entry[size] == '(');
}

static bool has_tool(const char *const *tools, const char *name)
{
    for (; *tools; tools++)
        if (is_of(*tools, name))
            return true;
    return false;
}

static bool has_bare(const char *const *tools, const char *name)
{
    for (; *tools; tools++)
        if (strcmp(*tools, name) == 0)
            return true;
    return false;
}

static void add_tools(struct hr_buf *out, const char *const *tools)
{
    const size_t count = sizeof signatures / sizeof *signatures;

    if (!*tools) {
        hr_buf_add_text(out, "\n\nNo tool can be called from inside.");
        return;
    }
    hr_buf_add_text(out, "\n\nTools to call from inside, after `from hermes_tools import NAME`; "
                         "each takes its arguments by name and returns a dict, with "
                         "the member \"error\" if it failed:\n");
    for (size_t i = 0; i < count; i++)
        if (has_bare(tools, signatures[i][0]))
            hr_buf_printf(out, "  %s\n", signatures[i][1]);
    for (; *tools; tools++) { /* those by configuration */
        bool known = false;

        for (size_t i = 0; i < count; i++)
            known |= strcmp(*tools, signatures[i][0]) == 0;
        if (!known)
            hr_buf_printf(out, strchr(*tools, '(') ? "  %s\n" : "  %s(**arguments)\n", *tools);
    }
    hr_buf_add_text(out,
                    "Helpers, which need the same import: json_parse(text), shell_quote(text), "
                    "retry(function, max_attempts=3, delay=2).");
}

static void add_duration(struct hr_buf *out, int64_t ms)
{
    if (ms == 0)
        hr_buf_add_text(out, "no time limit");
    else if (ms % 60000 == 0)
        hr_buf_printf(out, "%" PRId64 "-minute timeout", ms / 60000);
    else if (ms % 1000 == 0)
        hr_buf_printf(out, "%" PRId64 "-second timeout", ms / 1000);
    else
        hr_buf_printf(out, "%" PRId64 ".%03d-second timeout", ms / 1000, (int)(ms % 1000));
}

static void add_size(struct hr_buf *out, int64_t bytes)
{
    if (bytes % 1000000 == 0)
        hr_buf_printf(out, "%" PRId64 " MB", bytes / 1000000);
    else if (bytes % 1000 == 0)
        hr_buf_printf(out, "%" PRId64 " KB", bytes / 1000);
    else
        hr_buf_printf(out, "%" PRId64 " bytes", bytes);
}

static void add_limits(struct hr_buf *out, const struct hr_options *options,
                       const char *const *tools)
{
    hr_buf_add_text(out, "\n\nLimits of a call: ");
    add_duration(out, options->timeout_ms);
    if (*tools)
        hr_buf_printf(out, ", at most %" PRId64 " tool calls", options->max_tool_calls);
    hr_buf_add_text(out, ", stdout up to ");
    add_size(out, options->stdout_limit);
    hr_buf_add_text(out, " (head and tail of it when there is more");
    if (options->spill && options->spill_limit > 0)
        hr_buf_printf(out, "; the full text is saved to a file that the result names%s",
                      has_tool(tools, "read_file") ? ", to page with read_file" : "");
    hr_buf_add_text(out, "). ");
    hr_buf_add_text(
        out,
        "A call that times out loses the state, one that is interrupted may; the result tells. ");
}

static void add_description(struct hr_buf *out, const struct hr_options *options,
                            enum hermes_mode mode, const char *const *tools)
{
    hr_buf_add_text(out, "Run Python source in a persistent session kernel: variables, imports and "
                         "functions stay for later "
                         "calls, so build on them instead of repeating work. Print what you want "
                         "to see. Use it to compute, to "
                         "loop and branch, and to reduce large data before you read it.");
    if (*tools)
        hr_buf_add_text(out, " Chain tool calls in it when one needs what another returned.");
    if (has_tool(tools, "terminal"))
        hr_buf_add_text(out,
                        " Do not wrap a single terminal command in it: call terminal directly.");
    add_tools(out, tools);
    add_limits(out, options, tools);
    hr_buf_add_text(out, "A host may want whole-script approval before anything runs. ");
    hr_buf_add_text(out,
                    mode == HERMES_MODE_STRICT
                        ? "Code runs in a temp dir of its own, with the default python3."
                        : "Code runs in the session's working directory, with its active venv.");
}

static void add_member(struct hr_buf *out, const char *name, const char *type,
                       const char *description)
{
    hr_buf_printf(out, "\"%s\":{\"type\":\"%s\",\"description\":", name, type);
    hr_json_add_string(out, description, strlen(description));
    hr_buf_add_text(out, "}");
}

char *hr_schema(const struct hr_options *options, enum hermes_mode mode, const char *const *tools)
{
    struct hr_buf description, out;

    hr_buf_init(&description, 0);
    hr_buf_init(&out, 0);
    add_description(&description, options, mode, tools ? tools : hr_tool_names);
    hr_buf_add_text(&out, "{\"name\":\"execute_code\",\"description\":");
    hr_json_add_string(&out, description.data, description.size);
    hr_buf_add_text(&out, ",\"parameters\":{\"type\":\"object\",\"properties\":{");
    add_member(&out, "code", "string",
               "Python source to run. What it defines stays for later calls.");
    hr_buf_add_text(&out, ",");
    add_member(
        &out, "reset", "boolean",
        "True: start over in a fresh kernel, without the state of earlier calls, and run the "
        "code there. Default: false.");
    hr_buf_add_text(&out, "},\"required\":[\"code\"]}}");
    out.failed |= description.failed;
    hr_buf_done(&description);
    return hr_buf_take(&out);
}

char *hermes_schema(struct hermes_engine *engine, enum hermes_mode mode, const char *const *tools)
{
    char *schema;

    hr_engine_lock(engine);
    schema =
        hr_schema(&engine->options, mode ? mode : (enum hermes_mode)engine->options.mode, tools);
    hr_engine_unlock(engine);
    return schema;
}
