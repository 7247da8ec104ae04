/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write_file: replace a whole file, at once or not at all.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "json-write.h"
#include "tool-arguments.h"
#include "tool-file.h"
#include "tool.h"

void tool_write_file(const struct tool_context *context, const cJSON *arguments,
                     struct strbuf *result_json)
{
    const char *name = "", *content = "";
    const struct argument table[] = {
        {"path", ARGUMENT_TEXT, true, {.text = &name}, 0, -1},
        {"content", ARGUMENT_TEXT, true, {.text = &content}, 0, -1},
        {NULL, ARGUMENT_TEXT, false, {NULL}, 0, -1},
    };
    struct strbuf error = STRBUF_INIT;
    if (!arguments_read(arguments, table, &error)) {
        tool_error(result_json, "write_file: %s", strbuf_text(&error));
        strbuf_free(&error);
        return;
    }
    struct tool_written written;
    char *path = tool_path(context, name);
    if (tool_cancelled(context)) {
        tool_error(result_json, "cancelled");
    } else if (tool_write_all(path, name, content, strlen(content), &written, &error)) {
        strbuf_addf(result_json,
                    "{\"bytes_written\": %zu, \"created\": %s, \"dirs_created\": %s, \"path\": ",
                    strlen(content), written.created ? "true" : "false",
                    written.dirs_created ? "true" : "false");
        json_add_text(result_json, name);
        strbuf_adds(result_json, "}");
    } else {
        tool_error(result_json, "%s", strbuf_text(&error));
    }
    free(path);
    strbuf_free(&error);
}
