/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "json-write.h"
#include "nearest.h"
#include "tool-arguments.h"
#include "tool.h"
#include "xalloc.h"

const struct tool tool_table[] = {
    {"web_search", "web_search(query, limit=5)",
     "Search the web. Returns {\"data\": {\"web\": [{\"url\", \"title\", \"description\"}]}}.",
     true, tool_command},
    {"web_extract", "web_extract(urls, char_limit=None)",
     "The text of web pages. Returns {\"results\": [{\"url\", \"title\", \"content\", "
     "\"error\"}]}.",
     true, tool_command},
    {"read_file", "read_file(path, offset=1, limit=500)",
     "Lines of a text file, each as NUMBER|TEXT. Returns {\"content\", \"total_lines\", ...}.",
     false, tool_read_file},
    {"write_file", "write_file(path, content)",
     "Write a whole file; missing directories are made. Returns {\"bytes_written\", ...}.", true,
     tool_write_file},
    {"search_files",
     "search_files(pattern, target=\"content\", path=\".\", file_glob=None, limit=50, offset=0, "
     "output_mode=\"content\", context=0)",
     "Search in files by regular expression (target=\"content\"), or for files by glob "
     "(target=\"files\"). "
     "Returns {\"matches\": [{\"path\", \"line\", \"content\"}], \"total_count\", ...}.",
     false, tool_search_files},
    {"patch",
     "patch(path=None, old_string=None, new_string=None, replace_all=False, mode=\"replace\", "
     "patch=None)",
     "Replace a text in a file, or apply a unified or V4A patch (mode=\"patch\"). "
     "Returns {\"success\", \"diff\", ...}.",
     true, tool_patch},
    {"terminal", "terminal(command, timeout=180, workdir=None)",
     "Run a shell command to its end. Returns {\"output\", \"exit_code\"}.", true, tool_terminal},
    {NULL, NULL, NULL, false, NULL},
};

static const struct tool *row_of(const char *name)
{
    for (const struct tool *tool = tool_table; tool->name; tool++) {
        if (strcmp(tool->name, name) == 0)
            return tool;
    }
    return NULL;
}

bool tool_find(const struct tool_settings *settings, const char *name, struct tool *ret_tool)
{
    const struct tool *row = row_of(name);
    const struct tool_command *command = tool_settings_command(settings, name);
    if (!row && !command)
        return false;
    if (row)
        *ret_tool = *row;
    else
        *ret_tool = (struct tool){command->name, NULL, command->help, true, tool_command};
    if (command && command->signature)
        ret_tool->signature = command->signature;
    if (command && command->help[0])
        ret_tool->help = command->help;
    return true;
}

bool tool_cancelled(const struct tool_context *context)
{
    return context->cancelled && context->cancelled(context->cancel_argument);
}

void tool_error(struct strbuf *result_json, const char *format, ...)
{
    struct strbuf line = STRBUF_INIT;
    va_list arguments;
    va_start(arguments, format);
    strbuf_vaddf(&line, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < line.size; i++) {
        if (line.data[i] == '\n' || line.data[i] == '\r')
            line.data[i] = ' ';
    }
    strbuf_adds(result_json, "{\"error\": ");
    json_add_string(result_json, strbuf_text(&line), line.size);
    strbuf_adds(result_json, "}");
    strbuf_free(&line);
}

static void unknown_tool(const struct tool_settings *settings, const char *name,
                         struct strbuf *result_json)
{
    struct nearest nearest = {name, NULL, 0};
    struct strbuf known = STRBUF_INIT;
    for (const struct tool *tool = tool_table; tool->name; tool++) {
        nearest_offer(&nearest, tool->name);
        strbuf_addf(&known, "%s%s", known.size ? ", " : "", tool->name);
    }
    for (size_t i = 0; settings && i < settings->count; i++) {
        if (row_of(settings->commands[i].name))
            continue;
        nearest_offer(&nearest, settings->commands[i].name);
        strbuf_addf(&known, ", %s", settings->commands[i].name);
    }
    if (nearest.best)
        tool_error(result_json, "there is no tool '%s'; did you mean '%s'?", name, nearest.best);
    else
        tool_error(result_json, "there is no tool '%s'; known: %s", name, strbuf_text(&known));
    strbuf_free(&known);
}

void tool_call(const struct tool_context *context, const char *name, const char *arguments,
               size_t size, struct strbuf *result_json)
{
    struct strbuf error = STRBUF_INIT;
    struct tool tool;
    if (!tool_find(context->settings, name, &tool)) {
        unknown_tool(context->settings, name, result_json);
        return;
    }
    cJSON *tree = arguments_parse(arguments, size, &error);
    if (tree) {
        struct tool_context own = *context;
        own.name = tool.name;
        own.arguments_text = arguments;
        own.arguments_size = size;
        tool.run(&own, tree, result_json);
        cJSON_Delete(tree);
    } else {
        tool_error(result_json, "%s: %s", name, strbuf_text(&error));
    }
    strbuf_free(&error);
}
