/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * terminal: run a shell command to its end, in the foreground. Nothing of it runs on afterwards.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json-write.h"
#include "tool-arguments.h"
#include "tool-file.h"
#include "tool-process.h"
#include "tool.h"
#include "xalloc.h"

enum { HEAD_BYTES = 20000, TAIL_BYTES = 30000, TIMEOUT_DEFAULT_MS = 180000, TIMEOUT_MAX_S = 86400 };
enum { EXIT_TIMED_OUT = 124, EXIT_CANCELLED = 130, EXIT_SIGNAL = 128 };

static void report(const struct process_result *result, int64_t timeout_ms,
                   struct strbuf *result_json)
{
    struct strbuf output = STRBUF_INIT, error = STRBUF_INIT;
    int code = result->code;
    process_output(result, &output);
    if (result->end == PROCESS_TIMED_OUT) {
        code = EXIT_TIMED_OUT;
        strbuf_setf(&error,
                    "the command timed out after %g s and was killed, with all that it had started",
                    (double)timeout_ms / 1000);
    } else if (result->end == PROCESS_CANCELLED) {
        code = EXIT_CANCELLED;
        strbuf_setf(&error, "the command was interrupted and killed, with all that it had started");
    } else if (result->end == PROCESS_SIGNALLED) {
        code = EXIT_SIGNAL + result->code;
        strbuf_setf(&error, "the shell was killed by signal %d (%s)", result->code,
                    strsignal(result->code));
    }
    strbuf_adds(result_json, "{\"output\": ");
    json_add_string(result_json, strbuf_text(&output), output.size);
    strbuf_addf(result_json, ", \"exit_code\": %d, \"duration_seconds\": %.2f", code,
                (double)result->elapsed_ms / 1000);
    if (process_omitted(result))
        strbuf_addf(result_json, ", \"truncated\": true, \"output_bytes\": %" PRIu64,
                    result->total_bytes);
    if (result->end == PROCESS_EXITED && result->left_over)
        strbuf_addf(result_json, ", \"background_processes_ended\": %d", result->left_over);
    if (error.size) {
        strbuf_adds(result_json, ", \"error\": ");
        json_add_string(result_json, strbuf_text(&error), error.size);
    }
    strbuf_adds(result_json, "}");
    strbuf_free(&output);
    strbuf_free(&error);
}

static void run_command(const struct tool_context *context, const char *command,
                        const char *workdir, int64_t timeout_ms, struct strbuf *result_json)
{
    char *shell = tool_program("bash"), *directory = tool_path(context, workdir ? workdir : ".");
    if (!shell)
        shell = xstrdup("/bin/sh");
    const char *const argv[] = {shell, "-c", command, NULL};
    const struct process_request request = {.argv = argv,
                                            .directory = directory,
                                            .timeout_ms = timeout_ms,
                                            .merge = true,
                                            .head_bytes = HEAD_BYTES,
                                            .tail_bytes = TAIL_BYTES};
    struct process_result result;
    process_run(context, &request, &result);
    if (result.end != PROCESS_NOT_STARTED)
        report(&result, timeout_ms, result_json);
    else if (result.bad_directory)
        tool_error(result_json, "terminal: workdir %s: %s", directory, strerror(result.code));
    else
        tool_error(result_json, "terminal: cannot start %s: %s", shell, strerror(result.code));
    process_result_free(&result);
    free(shell);
    free(directory);
}

void tool_terminal(const struct tool_context *context, const cJSON *arguments,
                   struct strbuf *result_json)
{
    const char *command = "", *workdir = NULL;
    double timeout =
        (double)(context->settings ? context->settings->terminal_timeout_ms : TIMEOUT_DEFAULT_MS) /
        1000;
    /* What makes no sense in the foreground is let pass without effect, as callers expect. */
    const struct argument table[] = {
        {"command", ARGUMENT_TEXT, true, {.text = &command}, 0, -1},
        {"timeout", ARGUMENT_NUMBER, false, {.number = &timeout}, 0, -1},
        {"workdir", ARGUMENT_TEXT, false, {.text = &workdir}, 0, -1},
        {"background", ARGUMENT_IGNORED, false, {NULL}, 0, -1},
        {"pty", ARGUMENT_IGNORED, false, {NULL}, 0, -1},
        {"notify", ARGUMENT_IGNORED, false, {NULL}, 0, -1},
        {"notify_on_complete", ARGUMENT_IGNORED, false, {NULL}, 0, -1},
        {"watch_patterns", ARGUMENT_IGNORED, false, {NULL}, 0, -1},
        {"heartbeat", ARGUMENT_IGNORED, false, {NULL}, 0, -1},
        {"persist_on_release", ARGUMENT_IGNORED, false, {NULL}, 0, -1},
        {NULL, ARGUMENT_TEXT, false, {NULL}, 0, -1},
    };
    struct strbuf error = STRBUF_INIT;
    if (!arguments_read(arguments, table, &error))
        tool_error(result_json, "terminal: %s", strbuf_text(&error));
    else if (command[strspn(command, " \t\r\n")] == '\0')
        tool_error(result_json, "terminal: the command is empty");
    else if (!(timeout >= 0.001 && timeout <= TIMEOUT_MAX_S))
        tool_error(result_json, "terminal: 'timeout' must be a number of seconds from 0.001 to %d",
                   TIMEOUT_MAX_S);
    else
        run_command(context, command, workdir, (int64_t)(timeout * 1000 + 0.5), result_json);
    strbuf_free(&error);
}
