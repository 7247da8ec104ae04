/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "remark.h"

#include <stdio.h>
#include <string.h>

#include "utf8.h"

void remark(const char *text)
{
    struct strbuf visible = STRBUF_INIT;
    utf8_visible(&visible, text, strlen(text));
    fprintf(stderr, "hermes-repl: %s\n", strbuf_text(&visible));
    strbuf_free(&visible);
}
