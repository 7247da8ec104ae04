/* SPDX-License-Identifier: MIT */
/*
 * What suites of ui/repl share: the options of a program whose cells have no tools, and a front
 * end's loop. The engine is that of engine-testlib.h.
 */
#ifndef TESTS_REPL_TESTLIB_H
#define TESTS_REPL_TESTLIB_H

#include "repl.h"
#include "settings.h"
#include "tool-calls.h"

/* After te_set_up(). Terms and options refer to what is before them. */
void test_repl_options(struct settings *settings, struct tool_terms *terms,
                       struct repl_options *options);
/* One turn of a front end's loop. */
void test_repl_turn(struct repl *repl);

#endif
