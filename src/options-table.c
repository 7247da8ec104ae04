/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "options-table.h"

#include <string.h>

/*
 * Numbers stand in a row once, as tokens: the text of the default and of the range is made from
 * them.
 */
#define INTEGER_ROW(name_, unit_, default_, range_, minimum_, maximum_, off_, help_)               \
    {                                                                                              \
        .public = {#name_, "integer", unit_, #default_, range_, help_}, .kind = HR_OPTION_INTEGER, \
        .offset = offsetof(struct hr_options, name_), .minimum = (minimum_),                       \
        .maximum = (maximum_), .off = (off_)                                                       \
    }
#define INTEGER(name_, unit_, default_, minimum_, maximum_, help_)                                 \
    INTEGER_ROW(name_, unit_, default_, #minimum_ ".." #maximum_, minimum_, maximum_, false, help_)
#define LIMIT(name_, unit_, minimum_, maximum_, help_)                                             \
    INTEGER_ROW(name_, unit_, off, "off|" #minimum_ ".." #maximum_, minimum_, maximum_, true, help_)
#define SECONDS_ROW(name_, default_, range_, minimum_, maximum_, off_, help_)                      \
    {                                                                                              \
        .public = {#name_, "number", "s", #default_, range_, help_}, .kind = HR_OPTION_SECONDS,    \
        .offset = offsetof(struct hr_options, name_##_ms),                                         \
        .minimum = (int64_t)((minimum_)*1000 + 0.5), .maximum = (int64_t)(maximum_)*1000,          \
        .off = (off_)                                                                              \
    }
#define SECONDS(name_, default_, minimum_, maximum_, help_)                                        \
    SECONDS_ROW(name_, default_, #minimum_ ".." #maximum_, minimum_, maximum_, false, help_)
#define SECONDS_OR_OFF(name_, default_, minimum_, maximum_, help_)                                 \
    SECONDS_ROW(name_, default_, "off|" #minimum_ ".." #maximum_, minimum_, maximum_, true, help_)
#define OTHER(name_, type_, kind_, default_, range_, help_)                                        \
    {                                                                                              \
        .public = {#name_, type_, "", default_, range_, help_}, .kind = (kind_),                   \
        .offset = offsetof(struct hr_options, name_)                                               \
    }
#define MODE(name_, default_, help_)                                                               \
    OTHER(name_, "choice", HR_OPTION_MODE, default_, "project|strict", help_)
#define FLAG(name_, default_, help_) OTHER(name_, "flag", HR_OPTION_FLAG, default_, "off|on", help_)
#define TEXT(name_, help_) OTHER(name_, "string", HR_OPTION_TEXT, "", "", help_)
#define LIST(name_, help_) OTHER(name_, "string", HR_OPTION_LIST, "", "", help_)

/* clang-format off */
const struct hr_option_row hr_option_rows[] = {
    MODE(mode, "project",
         "where cells run: caller's directory and active environment, or a private directory"),
    SECONDS_OR_OFF(timeout, 300, 0.001, 31536000,
                   "a cell that runs longer is killed; the clock starts when the cell does"),
    INTEGER(max_session_kernels, "", 4, 1, 10000,
            "live kernels; beyond it the least recently used idle one is ended"),
    SECONDS_OR_OFF(kernel_idle_timeout, 1800, 1, 31536000,
                   "a kernel that ran no cell for so long is ended"),
    INTEGER(max_tool_calls, "", 50, 0, 1000000,
            "tool calls that one cell may make"),
    INTEGER(stdout_limit, "bytes", 50000, 1000, 100000000,
            "output of a cell kept in its result: head and tail of it when there is more"),
    INTEGER(stderr_limit, "bytes", 10000, 1000, 100000000,
            "the same for the standard error stream"),
    FLAG(redact, "on",
         "secrets in results become marks: keys, authorization headers, passwords in addresses"),
    FLAG(spill, "on",
         "write output beyond stdout_limit to a private file, named in the result"),
    INTEGER(spill_limit, "bytes", 5000000, 0, 1000000000,
            "size at which such a file is capped"),
    TEXT(spill_directory,
         "directory of these files; empty: hermes-repl/spill in the user's state directory"),
    SECONDS(interrupt_grace, 5, 0, 3600,
            "time that an interrupted cell has to stop before its kernel is killed"),
    SECONDS(kill_grace, 0.2, 0, 60,
            "time between SIGTERM and SIGKILL when a kernel is killed"),
    SECONDS(shutdown_grace, 3, 0, 3600,
            "time for an orderly exit of a kernel: threads are joined, atexit functions run"),
    SECONDS(start_timeout, 30, 0.1, 3600,
            "a kernel that is not ready after so long is given up"),
    INTEGER(max_queued_cells, "", 1000, 1, 100000,
            "cells that may wait for one kernel"),
    SECONDS(output_interval, 0.001, 0.001, 60,
            "output that goes on in small pieces is read so often"),
    FLAG(isolate, "off",
         "run kernels under bubblewrap: system read-only, private /tmp, no network, no other processes"),
    LIMIT(memory_limit, "MiB", 32, 1048576,
          "memory in MiB that each process of a kernel may have; more is a MemoryError"),
    LIMIT(cpu_limit, "s", 1, 31536000,
          "CPU time that each process of a kernel may use in its life; then it is killed"),
    LIMIT(process_limit, "", 1, 1000000,
          "no process or thread is started in a kernel while the user has so many; root may"),
    LIMIT(file_size_limit, "MiB", 1, 1048576,
          "size in MiB up to which a kernel may write a file"),
    LIMIT(open_files_limit, "", 32, 1000000,
          "files that each process of a kernel may have open"),
    INTEGER(spare_kernels, "", 0, 0, 8,
            "kernels started in advance, like the last one, for a reset or a new session"),
    INTEGER(checkpoints, "", 0, 0, 8,
            "states kept of each kernel by fork(), one before each of its last cells, to go back to"),
    INTEGER(undo_kernels, "", 0, 0, 16,
            "kernels that were reset and are kept, stopped, to be taken back; the oldest goes first"),
    SECONDS(undo_timeout, 600, 1, 86400,
            "how long such a kernel is kept"),
    INTEGER(undo_memory, "MiB", 1024, 1, 1048576,
            "memory in MiB up to which one is kept, or all checkpoints of a kernel are"),
    LIST(env_passthrough,
         "names of environment variables that a scrubbed environment keeps, separated by commas"),
    TEXT(python,
         "interpreter of cells that name none; empty: active environment, else python3 on PATH"),
    TEXT(guard,
         "path of the guard program; empty: where it was installed"),
    TEXT(runner,
         "path of the runner; empty: where it was installed"),
};
/* clang-format on */

_Static_assert(sizeof hr_option_rows / sizeof *hr_option_rows <= HR_OPTION_MAX,
               "HR_OPTION_MAX is too small");
const size_t hr_option_count = sizeof hr_option_rows / sizeof *hr_option_rows;

const struct hr_option_row *hr_option_find(const char *name)
{
    size_t i;

    for (i = 0; i < hr_option_count; i++)
        if (strcmp(hr_option_rows[i].public.name, name) == 0)
            return &hr_option_rows[i];
    return NULL;
}

const struct hermes_option *hermes_option_at(size_t n)
{
    return n < hr_option_count ? &hr_option_rows[n].public : NULL;
}
