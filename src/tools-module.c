/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tools-module.h"

#include <string.h>

#include "authority.h"
#include "text.h"
#include "tools-template.h"

static bool add_assignment(struct hr_buf *out, const char *name, const char *text)
{
    hr_buf_add_text(out, name);
    hr_buf_add_text(out, " = ");
    hr_json_add_string(out, text, strlen(text)); /* a JSON string is a Python string as well */
    return hr_buf_add_text(out, "\n");
}

bool hr_tools_module(const char *tools, const char *socket_path, const char *token,
                     struct hr_buf *out)
{
    add_assignment(out, "SOCKET", socket_path);
    add_assignment(out, "TOKEN", token);
    hr_buf_add_text(out, "TOOLS = [");
    for (const char *const *name = hr_tool_names; !tools && *name; name++) {
        hr_json_add_string(out, *name, strlen(*name));
        hr_buf_add_text(out, ", ");
    }
    for (const char *end; tools && *tools; tools = end + 1) {
        end = strchr(tools, '\n');
        hr_json_add_string(out, tools, (size_t)(end - tools));
        hr_buf_add_text(out, ", ");
    }
    hr_buf_add_text(out, "]\n");
    hr_buf_add_text(out, HR_TOOLS_TEMPLATE);
    return !out->failed;
}
