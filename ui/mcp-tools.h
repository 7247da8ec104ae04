/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tools that the server offers: one table for tools/list and for reading the arguments of a
 * call. Runs nothing.
 *
 * What is wrong with an argument is told in words that a language model can act on; it becomes a
 * result of the tool, not an error of the protocol, as the newest revision wants it.
 */
#ifndef UI_MCP_TOOLS_H
#define UI_MCP_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hermes-kernel.h>

#include "json-scan.h"
#include "strbuf.h"

#define MCP_DEFAULT_SESSION "default"

enum mcp_tool_id { MCP_EXECUTE_CODE, MCP_LIST_SESSIONS, MCP_CLEAR_SESSION, MCP_INTERRUPT };

struct mcp_tool {
    enum mcp_tool_id id;
    const char *name;
    const char *title;
    const char *description; /* NULL: hermes_schema() has it */
    const char *properties;  /* JSON: members of the input schema's "properties" */
    const char *required;    /* JSON: its "required", or NULL */
    const char *annotations; /* JSON */
};

extern const struct mcp_tool mcp_tool_table[];
extern const size_t mcp_tool_count;

/* NULL: no such tool. */
const struct mcp_tool *mcp_tool_find(struct json_span name);

/* Append the result of tools/list. tools: those that cells may call. */
void mcp_tools_list(struct strbuf *out, struct hermes_engine *engine, enum hermes_mode mode,
                    const char *const *tools);

struct mcp_arguments {
    char *session; /* never NULL after mcp_arguments_read() */
    struct strbuf code;
    bool reset;
    int64_t timeout_ms; /* 0: the engine's option */
};

/*
 * Take the arguments (an object; empty: none). False: error gets what is wrong. To be freed in any
 * case.
 */
bool mcp_arguments_read(const struct mcp_tool *tool, struct json_span object,
                        struct mcp_arguments *arguments, struct strbuf *error);
void mcp_arguments_free(struct mcp_arguments *arguments);

#endif
