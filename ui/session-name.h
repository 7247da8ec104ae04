/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a session may be called: the same at the prompt, on the command line and in the history.
 */
#ifndef UI_SESSION_NAME_H
#define UI_SESSION_NAME_H

#include <stdbool.h>

#include "strbuf.h"

/* False: one line in error. */
bool session_name_check(const char *name, struct strbuf *error);

#endif
