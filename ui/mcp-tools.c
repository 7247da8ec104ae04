/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "mcp-tools.h"

#include <stdlib.h>
#include <string.h>

#include "json-write.h"
#include "xalloc.h"

#define SESSION_MAX 200
#define TIMEOUT_MAX_S 31536000.0

/* clang-format off */
#define SESSION_PROPERTY(text_)                                                                         \
    "\"session\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200,"                               \
    "\"default\":\"" MCP_DEFAULT_SESSION "\",\"description\":\"" text_ "\"}"

#define HINTS(read_only_, destructive_, idempotent_, open_)                                             \
    "{\"readOnlyHint\":" #read_only_ ",\"destructiveHint\":" #destructive_                              \
    ",\"idempotentHint\":" #idempotent_ ",\"openWorldHint\":" #open_ "}"

const struct mcp_tool mcp_tool_table[] = {
    {
        .id = MCP_EXECUTE_CODE,
        .name = "execute_code",
        .title = "Run Python code in a session",
        .properties =
            "\"code\":{\"type\":\"string\",\"description\":"
            "\"Python source to run. What it defines stays for later calls of the session.\"},"
            "\"reset\":{\"type\":\"boolean\",\"default\":false,\"description\":"
            "\"Run in a fresh kernel, without the state of earlier calls.\"},"
            SESSION_PROPERTY("Name of the session to run in; made when it is new. Sessions share no state. "
                             "Calls of one session run in order, those of different sessions at the same time.") ","
            "\"timeout\":{\"type\":\"number\",\"exclusiveMinimum\":0,\"description\":"
            "\"Time limit of this call in seconds. A call that passes it is killed, and the state is lost.\"}",
        .required = "[\"code\"]",
        .annotations = HINTS(false, true, false, true),
    },
    {
        .id = MCP_LIST_SESSIONS,
        .name = "list_sessions",
        .title = "List the live Python sessions",
        .description = "List the sessions that have a live kernel: name, state, interpreter, directory, how many "
                       "cells it has run, age and idle time.",
        .properties = "",
        .annotations = HINTS(true, false, true, false),
    },
    {
        .id = MCP_CLEAR_SESSION,
        .name = "clear_session",
        .title = "End a Python session",
        .description = "End a session at once: its processes are killed, what runs or waits there is interrupted, "
                       "its state is gone.",
        .properties = SESSION_PROPERTY("Name of the session to end."),
        .annotations = HINTS(false, true, true, false),
    },
    {
        .id = MCP_INTERRUPT,
        .name = "interrupt",
        .title = "Interrupt a running call",
        .description = "Interrupt the call that runs in a session, as Ctrl-C does (KeyboardInterrupt). The state is "
                       "kept if the code obeys; the result of the interrupted call tells. Calls that wait behind it "
                       "run.",
        .properties = SESSION_PROPERTY("Name of the session whose call is to stop."),
        .annotations = HINTS(false, false, false, false),
    },
};
/* clang-format on */
const size_t mcp_tool_count = sizeof(mcp_tool_table) / sizeof(mcp_tool_table[0]);

const struct mcp_tool *mcp_tool_find(struct json_span name)
{
    for (size_t i = 0; i < mcp_tool_count; i++) {
        if (json_is_text(name, mcp_tool_table[i].name))
            return &mcp_tool_table[i];
    }
    return NULL;
}

/*
 * ---- tools/list
 * -------------------------------------------------------------------------------------
 */

static void add_description(struct strbuf *out, const struct mcp_tool *tool, const char *schema)
{
    struct json_span description;
    if (tool->description)
        json_add_text(out, tool->description);
    else if (schema &&
             json_get((struct json_span){schema, strlen(schema)}, "description", &description))
        strbuf_add(out, description.start, description.size);
    else
        json_add_text(out, "Run Python source in a persistent session kernel.");
}

void mcp_tools_list(struct strbuf *out, struct hermes_engine *engine, enum hermes_mode mode,
                    const char *const *tools)
{
    char *schema = engine ? hermes_schema(engine, mode, tools) : NULL;
    strbuf_adds(out, "{\"tools\":[");
    for (size_t i = 0; i < mcp_tool_count; i++) {
        const struct mcp_tool *tool = &mcp_tool_table[i];
        strbuf_addf(out, "%s{\"name\":\"%s\",\"title\":", i ? "," : "", tool->name);
        json_add_text(out, tool->title);
        strbuf_adds(out, ",\"description\":");
        add_description(out, tool, schema);
        strbuf_addf(out, ",\"inputSchema\":{\"type\":\"object\",\"properties\":{%s}",
                    tool->properties);
        if (tool->required)
            strbuf_addf(out, ",\"required\":%s", tool->required);
        strbuf_addf(out, ",\"additionalProperties\":false},\"annotations\":%s}", tool->annotations);
    }
    strbuf_adds(out, "]}");
    hermes_free(schema);
}

/*
 * ---- arguments
 * --------------------------------------------------------------------------------------
 */

/* As Python calls it, which is what a model that writes Python understands. */
static const char *type_name(struct json_span value)
{
    switch (json_kind_of(value)) {
    case JSON_OBJECT:
        return "dict";
    case JSON_ARRAY:
        return "list";
    case JSON_STRING:
        return "str";
    case JSON_TRUE:
    case JSON_FALSE:
        return "bool";
    case JSON_NUMBER:
        for (size_t i = 0; i < value.size; i++) {
            if (strchr(".eEIN", value.start[i]))
                return "float";
        }
        return "int";
    default:
        return "NoneType";
    }
}

static bool has_value(struct json_span object, const char *key, struct json_span *ret_value)
{
    return json_get(object, key, ret_value) && json_kind_of(*ret_value) != JSON_NULL;
}

static bool is_blank(const struct strbuf *text)
{
    size_t blanks = 0;
    while (blanks < text->size && text->data[blanks] && strchr(" \t\r\n\f\v", text->data[blanks]))
        blanks++;
    return blanks == text->size;
}

static bool read_code(struct json_span object, struct mcp_arguments *arguments,
                      struct strbuf *error)
{
    struct json_span value, other;
    bool given = has_value(object, "code", &value);
    if (!given && has_value(object, "command", &other)) {
        strbuf_setf(
            error,
            "execute_code has no 'command' parameter: it runs Python source, not shell commands. "
            "Use terminal(command=...) for a shell command, or execute_code(code=...) for Python.");
        return false;
    }
    if (given && json_kind_of(value) != JSON_STRING) {
        strbuf_setf(error, "'code' must be Python source as a string, not %s.", type_name(value));
        return false;
    }
    if (given)
        json_decode(value, &arguments->code);
    if (is_blank(&arguments->code)) {
        strbuf_setf(error,
                    "execute_code needs a non-empty 'code' parameter that holds Python source. "
                    "For a shell command use terminal(command=...).");
        return false;
    }
    return true;
}

static bool read_session(struct json_span object, struct mcp_arguments *arguments,
                         struct strbuf *error)
{
    struct json_span value;
    struct strbuf name = STRBUF_INIT;
    if (!has_value(object, "session", &value)) {
        arguments->session = xstrdup(MCP_DEFAULT_SESSION);
        return true;
    }
    if (json_kind_of(value) != JSON_STRING) {
        strbuf_setf(error, "'session' must be a string, not %s.", type_name(value));
        return false;
    }
    json_decode(value, &name);
    bool good = name.size && name.size <= SESSION_MAX && !strstr(strbuf_text(&name), "::");
    for (size_t i = 0; i < name.size; i++)
        good = good && (unsigned char)name.data[i] >= 0x20 && name.data[i] != 0x7F;
    if (good)
        arguments->session = strbuf_steal(&name);
    else
        strbuf_setf(
            error,
            "'session' must be a name of 1 to %d bytes without control characters and \"::\".",
            SESSION_MAX);
    strbuf_free(&name);
    return good;
}

static bool read_reset(struct json_span object, struct mcp_arguments *arguments,
                       struct strbuf *error)
{
    struct json_span value;
    if (!has_value(object, "reset", &value))
        return true;
    enum json_kind kind = json_kind_of(value);
    arguments->reset = kind == JSON_TRUE;
    if (kind == JSON_TRUE || kind == JSON_FALSE)
        return true;
    strbuf_setf(error, "'reset' must be true or false, not %s.", type_name(value));
    return false;
}

static bool read_timeout(struct json_span object, struct mcp_arguments *arguments,
                         struct strbuf *error)
{
    struct json_span value;
    if (!has_value(object, "timeout", &value))
        return true;
    if (json_kind_of(value) != JSON_NUMBER) {
        strbuf_setf(error, "'timeout' must be a number of seconds, not %s.", type_name(value));
        return false;
    }
    char *text = xmemdup0(value.start, value.size);
    double seconds = strtod(text, NULL); /* NaN compares false */
    free(text);
    if (!(seconds > 0 && seconds <= TIMEOUT_MAX_S)) {
        strbuf_setf(error, "'timeout' must be greater than 0 and at most %.0f seconds.",
                    TIMEOUT_MAX_S);
        return false;
    }
    arguments->timeout_ms = (int64_t)(seconds * 1000);
    if (!arguments->timeout_ms)
        arguments->timeout_ms = 1;
    return true;
}

/* No parameter that the schema does not have: a misspelt one must not be ignored. */
static bool check_names(const struct mcp_tool *tool, struct json_span object, struct strbuf *error)
{
    char *text = xasprintf("{%s}", tool->properties);
    struct json_span known = {text, strlen(text)}, key, value, ignored;
    bool good = true;
    for (size_t position = 0; good && json_next_member(object, &position, &key, &value);) {
        struct strbuf name = STRBUF_INIT, list = STRBUF_INIT;
        json_decode(key, &name);
        good = strlen(strbuf_text(&name)) == name.size &&
               json_get(known, strbuf_text(&name), &ignored);
        for (size_t at = 0; !good && json_next_member(known, &at, &key, &value);)
            strbuf_addf(&list, "%s%.*s", list.size ? ", " : "", (int)key.size - 2, key.start + 1);
        if (!good)
            strbuf_setf(error, "%s has no '%.60s' parameter; it has: %s.", tool->name,
                        strbuf_text(&name), list.size ? strbuf_text(&list) : "none");
        strbuf_free(&name);
        strbuf_free(&list);
    }
    free(text);
    return good;
}

bool mcp_arguments_read(const struct mcp_tool *tool, struct json_span object,
                        struct mcp_arguments *arguments, struct strbuf *error)
{
    *arguments = (struct mcp_arguments){.code = STRBUF_INIT};
    if (tool->id == MCP_EXECUTE_CODE && !read_code(object, arguments, error))
        return false;
    return check_names(tool, object, error) && read_session(object, arguments, error) &&
           read_reset(object, arguments, error) && read_timeout(object, arguments, error);
}

void mcp_arguments_free(struct mcp_arguments *arguments)
{
    free(arguments->session);
    strbuf_free(&arguments->code);
    *arguments = (struct mcp_arguments){.code = STRBUF_INIT};
}
