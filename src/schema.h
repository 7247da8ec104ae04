/* SPDX-License-Identifier: MIT */
/*
 * What a model is told of execute_code: the tool schema, with the numbers that are configured. Does
 * no locking.
 */
#ifndef HR_SCHEMA_H
#define HR_SCHEMA_H

#include "options.h"

/* See hermes_schema(). mode is project or strict. */
char *hr_schema(const struct hr_options *options, enum hermes_mode mode, const char *const *tools);

#endif
