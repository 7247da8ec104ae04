/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tools by configuration: a command that gets the arguments as JSON on its stdin and answers JSON
 * on its stdout.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "json-scan.h"
#include "settings.h"
#include "tool-file.h"
#include "tool-process.h"
#include "tool.h"
#include "xalloc.h"

enum { MESSAGE_BYTES = 300 };

static void not_configured(const struct tool_settings *settings, const char *name,
                           struct strbuf *result_json)
{
    char *path = settings && settings->path ? xstrdup(settings->path) : settings_default_path();
    tool_error(result_json,
               "%s is not configured: add \"" TOOL_SETTINGS_KEY
               "\": {\"%s\": {\"command\": [\"PROGRAM\", "
               "\"ARGUMENT\"]}} to %s; the program gets the arguments as JSON on stdin and answers "
               "JSON on stdout",
               name, name, path ? path : "the configuration file");
    free(path);
}

/* The end of what it said on stderr, as one part of a line. */
static void add_reason(struct strbuf *line, const struct strbuf *errors)
{
    size_t end = errors->size, start;
    while (end && strchr(" \r\n\t", errors->data[end - 1]))
        end--;
    for (start = end; start && errors->data[start - 1] != '\n'; start--)
        ;
    if (end - start > MESSAGE_BYTES)
        end = start + MESSAGE_BYTES;
    if (end > start)
        strbuf_addf(line, ": %.*s", (int)(end - start), errors->data + start);
}

/* The answer itself when it is an object, else as the member "result". */
static void take_answer(const char *name, const struct process_result *result,
                        struct strbuf *result_json)
{
    struct strbuf error = STRBUF_INIT;
    struct json_span value;
    const char *text = strbuf_text(&result->head);
    size_t size = result->head.size,
           skip = size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    if (strspn(text + skip, " \t\r\n") == size - skip) {
        strbuf_addf(&error, "%s: the command answered nothing", name);
        add_reason(&error, &result->errors);
        tool_error(result_json, "%s", strbuf_text(&error));
    } else if (!json_check(text + skip, size - skip, &value, &error)) {
        tool_error(result_json, "%s: the command's answer is not JSON: %s", name,
                   strbuf_text(&error));
    } else if (json_kind_of(value) == JSON_OBJECT) {
        strbuf_add(result_json, value.start, value.size);
    } else {
        strbuf_adds(result_json, "{\"result\": ");
        strbuf_add(result_json, value.start, value.size);
        strbuf_adds(result_json, "}");
    }
    strbuf_free(&error);
}

static void report(const struct tool_command *command, const char *program, const char *directory,
                   const struct process_result *result, struct strbuf *result_json)
{
    struct strbuf line = STRBUF_INIT;
    strbuf_addf(&line, "%s: ", command->name);
    switch (result->end) {
    case PROCESS_EXITED:
        strbuf_addf(&line, "the command failed with exit status %d", result->code);
        break;
    case PROCESS_SIGNALLED:
        strbuf_addf(&line, "the command was killed by signal %d (%s)", result->code,
                    strsignal(result->code));
        break;
    case PROCESS_TIMED_OUT:
        strbuf_addf(&line, "the command timed out after %g s and was killed",
                    (double)command->timeout_ms / 1000);
        break;
    case PROCESS_CANCELLED:
        strbuf_addf(&line, "cancelled");
        break;
    case PROCESS_TOO_BIG:
        strbuf_addf(&line, "the command's answer is bigger than max_bytes, %zu bytes",
                    command->max_bytes);
        break;
    case PROCESS_NOT_STARTED:
        strbuf_addf(&line, "cannot start %s: %s", result->bad_directory ? directory : program,
                    strerror(result->code));
        break;
    }
    if (result->end == PROCESS_EXITED || result->end == PROCESS_SIGNALLED)
        add_reason(&line, &result->errors);
    tool_error(result_json, "%s", strbuf_text(&line));
    strbuf_free(&line);
}

static void run_command(const struct tool_context *context, const struct tool_command *command,
                        const char *input, size_t input_size, struct strbuf *result_json)
{
    char *program = tool_program(command->argv[0]), *directory = tool_path(context, ".");
    if (!program) {
        tool_error(result_json, "%s: cannot start %s: no such program on PATH", command->name,
                   command->argv[0]);
        free(directory);
        return;
    }
    size_t count = 0;
    while (command->argv[count])
        count++;
    const char **argv = xcalloc(count + 1, sizeof *argv);
    memcpy(argv, command->argv, count * sizeof *argv);
    argv[0] = program;
    const struct process_request request = {.argv = argv,
                                            .directory = directory,
                                            .environment =
                                                (const char *const *)command->environment,
                                            .input = input,
                                            .input_size = input_size,
                                            .timeout_ms = command->timeout_ms,
                                            .head_bytes = command->max_bytes,
                                            .refuse_more = true};
    struct process_result result;
    process_run(context, &request, &result);
    if (result.end == PROCESS_EXITED && result.code == 0)
        take_answer(command->name, &result, result_json);
    else
        report(command, program, directory, &result, result_json);
    process_result_free(&result);
    free(argv);
    free(program);
    free(directory);
}

void tool_command(const struct tool_context *context, const cJSON *arguments,
                  struct strbuf *result_json)
{
    const char *name = context->name ? context->name : "";
    const struct tool_command *command = tool_settings_command(context->settings, name);
    if (!command) {
        not_configured(context->settings, name, result_json);
    } else if (context->arguments_text && context->arguments_size) {
        run_command(context, command, context->arguments_text, context->arguments_size,
                    result_json);
    } else {
        char *text = arguments ? cJSON_PrintUnformatted(arguments) : NULL;
        run_command(context, command, text ? text : "{}", strlen(text ? text : "{}"), result_json);
        cJSON_free(text);
    }
}
