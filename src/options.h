/* SPDX-License-Identifier: MIT */
/*
 * The engine's options as one struct, set and read by name. The table that parsing, printing,
 * defaults and documents share is in options-table.c; a new option is a member here and a row
 * there. Knows nothing of engines and does no locking.
 */
#ifndef HR_OPTIONS_H
#define HR_OPTIONS_H

#include "api/hermes-kernel.h"

/* Never NULL: a text that is not set is "". The numbers here are the defaults. */
struct hr_options {
    int mode;                       /* "mode": project|strict, as enum hermes_mode */
    int64_t timeout_ms;             /* "timeout" 300 s; 0: none */
    int64_t max_session_kernels;    /* 4 */
    int64_t kernel_idle_timeout_ms; /* 1800 s; 0: never */
    int64_t max_tool_calls;         /* 50 */
    int64_t stdout_limit;           /* 50000 bytes */
    int64_t stderr_limit;           /* 10000 bytes */
    bool redact;                    /* on */
    bool spill;                     /* on */
    int64_t spill_limit;            /* 5000000 bytes; 0: no spill */
    char *spill_directory;          /* "": in the user's state directory */
    int64_t interrupt_grace_ms;     /* 5 s */
    int64_t kill_grace_ms;          /* 0.2 s between SIGTERM and SIGKILL of a kernel */
    int64_t shutdown_grace_ms;      /* 3 s for an orderly exit (threads, atexit) */
    int64_t start_timeout_ms;       /* 30 s */
    int64_t max_queued_cells;       /* 1000, per kernel */
    int64_t output_interval_ms;     /* 1 ms */
    bool isolate;                   /* off */
    int64_t memory_limit;           /* MiB; 0: none, as for the next four */
    int64_t cpu_limit;              /* s */
    int64_t process_limit;
    int64_t file_size_limit; /* MiB */
    int64_t open_files_limit;
    int64_t spare_kernels;   /* 0 */
    int64_t checkpoints;     /* 0, of each kernel */
    int64_t undo_kernels;    /* 0 */
    int64_t undo_timeout_ms; /* 600 s */
    int64_t undo_memory;     /* 1024 MiB */
    char *env_passthrough; /* names, separated by commas */
    char *python;          /* "": to be found */
    char *guard;           /* "": where it was installed; so is the next */
    char *runner;
};

int hr_options_init(struct hr_options *options); /* defaults; HERMES_ENOMEM */
void hr_options_done(struct hr_options *options);

/*
 * As hermes_set_option(). value NULL sets the default. Text that is no value of the option's type
 * sets the default, a number out of range sets the nearest bound, both with HERMES_ERANGE and a
 * line that names option, value and what is used. Numbers are decimal ("4", "0.5"; never by
 * locale), words are taken in any case. HERMES_ENOMEM changes nothing.
 */
int hr_options_set(struct hr_options *options, const char *name, const char *value,
                   struct hermes_error *error);

/* The value as text that hr_options_set() takes, hr_free(). HERMES_ENOENT, HERMES_ENOMEM. */
int hr_options_get(const struct hr_options *options, const char *name, char **ret_value);

/*
 * As hermes_configure(); json with // and block comments and trailing commas. Values may be JSON
 * numbers, booleans, strings, null (the default); an array of strings for a list. Of equal keys the
 * last one holds. All or nothing: after HERMES_EINVAL and HERMES_ENOMEM the options are as before.
 */
int hr_options_configure(struct hr_options *options, const char *json, size_t size,
                         char **ret_warnings, struct hermes_error *error);

/*
 * Nearest of the names (NULL-ended or count) by edit distance, else the one that has word as a
 * part, or NULL when none is near. Case does not count, '-' is '_'.
 */
const char *hr_nearest_name(const char *word, const char *const *names, size_t count);

/*
 * Fill error (may be NULL) with one line of valid UTF-8, cut to fit: control characters become
 * spaces. Always returns code.
 */
int hr_error_set(struct hermes_error *error, int code, int os_errno, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
