/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "store-result.h"

#include <string.h>

static const char *status_of(const struct hermes_result *result)
{
    if (!result->started && !result->start_failed)
        return "not run";
    switch (result->outcome) {
    case HERMES_SUCCESS:
        return "success";
    case HERMES_TIMEOUT:
        return "timeout";
    case HERMES_INTERRUPTED:
        return "interrupted";
    case HERMES_ERROR:
        break;
    }
    return "error";
}

void store_cell_settled(struct store_cell *cell, const struct hermes_result *result)
{
    static const char *const causes[] = {
#define X(name, text) [HERMES_PREVIOUS_##name] = (text),
        HERMES_PREVIOUS_MAP(X)
#undef X
    };
    size_t cause = (size_t)result->previous;
    cell->status = status_of(result);
    cell->exit_code = result->exit_code;
    cell->output = result->output;
    cell->output_size = result->output_size;
    cell->spill_path = result->spill_path;
    cell->started_us = result->started ? cell->submitted_us + result->queued_us : 0;
    cell->duration_us = result->duration_us;
    cell->generation = result->generation;
    cell->execution_count = result->execution_count;
    cell->previous = cause < sizeof(causes) / sizeof(causes[0]) ? causes[cause] : "";
}

enum store_mode store_mode_of(const char *value)
{
    if (strcmp(value, "off") == 0)
        return STORE_OFF;
    return strcmp(value, "no-output") == 0 ? STORE_NO_OUTPUT : STORE_ON;
}
