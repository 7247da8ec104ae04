/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the full screen share: the program on a terminal of its own, in a home of its
 * own.
 */
#ifndef TUI_TESTLIB_H
#define TUI_TESTLIB_H

#include "terminal.h"
#include "testlib.h"

extern struct terminal *tui; /* of the running test */

/* 80 columns, 24 rows, one session. Until the prompt is there. */
void tui_setup(void);
/* Ends it as a person would, and looks that nothing is left. */
void tui_teardown(void);

/* The program with these arguments (NULL-ended) and changes of the environment, instead. */
void tui_start(const char *const *arguments, int rows, int columns, const char *const *environment);
void tui_stop(void);

/* Type a line and Enter. */
void tui_enter(const char *line);
/* And wait until the cell with this number is over. */
void tui_run(const char *line, int number);
/* The status line has this. */
void tui_wait_status(const char *text);
int tui_status_row(void);
/*
 * Whether the tests' Python has a module: asked in cell 1. If not, the test is to return: it counts
 * as skipped.
 */
bool tui_has_module(const char *name);
/* Its tests begin with tui_setup() and end with tui_teardown(). */
TCase *tui_test_case(Suite *suite, const char *name);

#endif
