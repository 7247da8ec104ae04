/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run as a JUnit XML report: one test case a cell. Knows nothing of the engine.
 */
#ifndef UI_JUNIT_H
#define UI_JUNIT_H

#include <stddef.h>

#include "strbuf.h"

enum junit_verdict {
    JUNIT_PASSED,
    JUNIT_FAILED,  /* the cell raised */
    JUNIT_ERROR,   /* time limit, interrupt, death of the kernel */
    JUNIT_SKIPPED, /* not run */
};

struct junit_case {
    char *name;
    enum junit_verdict verdict;
    double seconds;
    char *type;    /* FAILED, ERROR: the kind of error */
    char *message; /* FAILED, ERROR, SKIPPED: one line */
    char *text;    /* the traceback, or NULL */
    char *output;  /* FAILED, ERROR: what the cell printed, or NULL */
};

struct junit {
    struct junit_case *cases;
    size_t count, capacity;
};

struct junit_case *
junit_add(struct junit *junit); /* zeroed; its strings are freed by junit_free() */
/* suite names the file; timestamp is ISO 8601. */
void junit_write(struct strbuf *out, const struct junit *junit, const char *suite,
                 const char *timestamp, double seconds);
void junit_free(struct junit *junit);

#endif
