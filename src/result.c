/* SPDX-License-Identifier: MIT */
/*
 * A result as JSON. cJSON prints what is plain; texts go through our own escaper, since cJSON ends
 * strings at NUL and lets broken UTF-8 through.
 */
#include "config.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "kernel.h"

static const char *const outcomes[] = {"success", "error", "timeout", "interrupted"};
static const char *const previous_names[] = {
#define X(name, text) text,
    HERMES_PREVIOUS_MAP(X)
#undef X
};

static bool add_text(cJSON *object, const char *name, const char *text, size_t size)
{
    struct hr_buf json;
    bool done;

    hr_buf_init(&json, 0);
    done = hr_json_add_string(&json, text, size) && cJSON_AddRawToObject(object, name, json.data);
    hr_buf_done(&json);
    return done;
}

static bool add_optional(cJSON *object, const char *name, const char *text)
{
    return !text || add_text(object, name, text, strlen(text));
}

/* Numbers as text: cJSON would print a large count as 1e+21 and round above 2^53. */
static bool add_count(cJSON *object, const char *name, uint64_t count)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    return cJSON_AddRawToObject(object, name, digits) != NULL;
}

static bool add_seconds(cJSON *object, const char *name, int64_t us)
{
    char digits[40];

    snprintf(digits, sizeof digits, "%lld.%03d", (long long)(us / 1000000),
             (int)(us % 1000000 / 1000));
    return cJSON_AddRawToObject(object, name, digits) != NULL;
}

static bool add_kernel(cJSON *object, const struct hermes_result *result)
{
    cJSON *kernel = cJSON_AddObjectToObject(object, "kernel");

    return kernel && cJSON_AddStringToObject(kernel, "mode", "session") &&
           cJSON_AddBoolToObject(kernel, "reused", result->reused) &&
           add_count(kernel, "execution_count", result->execution_count) &&
           add_count(kernel, "generation", result->generation) &&
           cJSON_AddBoolToObject(kernel, "state_reset", result->state_reset) &&
           (!result->previous ||
            cJSON_AddStringToObject(kernel, "previous", previous_names[result->previous])) &&
           (!result->ended || cJSON_AddTrueToObject(kernel, "ended")) &&
           (!result->undo || cJSON_AddTrueToObject(kernel, "undo")) &&
           (result->state_kept < 0 ||
            cJSON_AddBoolToObject(kernel, "state_kept", result->state_kept));
}

static bool add_all(cJSON *object, const struct hermes_result *result)
{
    return cJSON_AddStringToObject(object, "status", outcomes[result->outcome]) &&
           add_text(object, "output", result->output, result->output_size) &&
           (!result->error || add_text(object, "error", result->error, result->error_size)) &&
           cJSON_AddNumberToObject(object, "exit_code", result->exit_code) &&
           add_seconds(object, "duration_seconds", result->duration_us) &&
           add_seconds(object, "queued_seconds", result->queued_us) &&
           add_count(object, "tool_calls_made", result->tool_calls) &&
           add_count(object, "redactions", result->redactions) &&
           add_optional(object, "hint", result->hint) &&
           add_optional(object, "limit", result->limit) &&
           add_optional(object, "warning", result->warning) &&
           cJSON_AddBoolToObject(object, "stdout_truncated", result->truncated) &&
           add_count(object, "stdout_bytes_captured", result->bytes_captured) &&
           add_count(object, "stdout_bytes_total", result->bytes_total) &&
           add_count(object, "stdout_bytes_omitted", result->bytes_omitted) &&
           add_optional(object, "stdout_spill_path", result->spill_path) &&
           (!result->background_output ||
            add_text(object, "background_output", result->background_output,
                     result->background_output_size)) &&
           add_kernel(object, result);
}

char *hermes_result_json(const struct hermes_result *result, const char *extra_members)
{
    cJSON *object = cJSON_CreateObject();
    char *text = object && add_all(object, result) ? cJSON_PrintUnformatted(object) : NULL;
    char *whole = NULL;
    size_t size = text ? strlen(text) : 0;

    cJSON_Delete(object);
    if (text && extra_members && *extra_members)
        whole = hr_printf("%.*s,%s}", (int)(size - 1), text, extra_members);
    else if (text)
        whole = hr_memdup(text, size);
    cJSON_free(text);
    return whole;
}

void hermes_result_free(struct hermes_result *public)
{
    struct hr_result *result;

    if (!public)
        return;
    result = HR_CONTAINER(public, struct hr_result, public);
    hr_free(result->output);
    hr_free(result->error);
    hr_free(result->warning);
    hr_free(result->spill_path);
    hr_free(result->background);
    hr_free(result->hint);
    hr_free(result);
}
