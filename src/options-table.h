/* SPDX-License-Identifier: MIT */
/*
 * The table behind options.h: one row an option. Parsing, printing, defaults, bounds and documents
 * come from it.
 */
#ifndef HR_OPTIONS_TABLE_H
#define HR_OPTIONS_TABLE_H

#include "options.h"

enum hr_option_kind {
    HR_OPTION_MODE,    /* int, enum hermes_mode */
    HR_OPTION_FLAG,    /* bool */
    HR_OPTION_INTEGER, /* int64_t */
    HR_OPTION_SECONDS, /* int64_t, milliseconds */
    HR_OPTION_TEXT,    /* char * */
    HR_OPTION_LIST,    /* char *, comma-separated; a JSON array of strings is fine too */
};

struct hr_option_row {
    struct hermes_option public;
    enum hr_option_kind kind;
    size_t offset;            /* in struct hr_options */
    int64_t minimum, maximum; /* numbers, in the unit of the field */
    bool off;                 /* 0 and "off" are allowed, stored as 0 */
};

#define HR_OPTION_MAX 64 /* rows */

extern const struct hr_option_row hr_option_rows[];
extern const size_t hr_option_count;

/* The row of a name, or NULL. */
const struct hr_option_row *hr_option_find(const char *name);

/* hr_options_set() for a row that was found; and the same for a value that can only be shown. */
int hr_option_set(struct hr_options *options, const struct hr_option_row *row, const char *value,
                  struct hermes_error *error);
int hr_option_refuse(struct hr_options *options, const struct hr_option_row *row, const char *shown,
                     struct hermes_error *error);
int hr_option_unknown(const char *name, struct hermes_error *error); /* HERMES_ENOENT */

/*
 * The text field of an option of kind HR_OPTION_TEXT or HR_OPTION_LIST; NULL for the other kinds.
 */
char **hr_option_text(struct hr_options *options, const struct hr_option_row *row);

/* Thousandths as a decimal number ("2", "0.5"). */
#define HR_MILLI_TEXT_SIZE 32
void hr_milli_text(char to[HR_MILLI_TEXT_SIZE], int64_t milli);

#endif
