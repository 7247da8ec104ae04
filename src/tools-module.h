/* SPDX-License-Identifier: MIT */
/* The text of a session's hermes_tools.py. */
#ifndef HR_TOOLS_MODULE_H
#define HR_TOOLS_MODULE_H

#include "buf.h"

/* tools: names, a line each; NULL: all. false: out of memory. */
bool hr_tools_module(const char *tools, const char *socket_path, const char *token,
                     struct hr_buf *out);

#endif
