/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON text laid out as Jupyter lays out its files (and Python's json.dumps with indent=1,
 * sort_keys and ensure_ascii=False): so a notebook that is saved unchanged is the same file, and
 * one that is changed differs in few lines. Numbers keep their spelling.
 */
#ifndef UI_JSON_PRETTY_H
#define UI_JSON_PRETTY_H

#include "json-scan.h"
#include "strbuf.h"

/* value is checked JSON. Of members of the same name the last counts. */
void json_pretty(struct strbuf *out, struct json_span value);

#endif
