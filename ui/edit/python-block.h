/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A block of Python that is being typed: whether it is complete, and how its next line is indented.
 * Tells from brackets, strings, suites and backslashes alone; never asks a kernel.
 */
#ifndef UI_PYTHON_BLOCK_H
#define UI_PYTHON_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "strbuf.h"

#define PYTHON_INDENT 4

/* There is nothing to wait for: no bracket or string is open and the last suite has ended. */
bool python_block_is_complete(const char *text, size_t size);

/* The blanks with which the line behind this text begins. */
void python_block_indentation(const char *text, size_t size, struct strbuf *out);

/* The text ends within a string that goes on beyond its line. */
bool python_block_in_string(const char *text, size_t size);

#endif
