/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes as the letters that terminals take them in. */
#ifndef UI_TUI_BASE64_H
#define UI_TUI_BASE64_H

#include <stddef.h>

#include "strbuf.h"

void base64_add(struct strbuf *out, const char *data, size_t size);

#endif
