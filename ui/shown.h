/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a person saw of a cell, as text: bytes as a terminal shows them in the end, values that were
 * displayed, the traceback. What is kept in the history of a batch's cells, and what a replay
 * compares with it.
 */
#ifndef UI_SHOWN_H
#define UI_SHOWN_H

#include <stdbool.h>
#include <stddef.h>

#include <hermes-kernel.h>

#include "strbuf.h"

struct block;

struct shown {
    struct block *block;
    struct strbuf
        errors;    /* standard error of its own: stands last, for the streams' order is not known */
    bool terminal; /* its lines end as a terminal's do */
    char last;     /* byte that was shown; 0: none */
};

void shown_init(struct shown *shown, bool terminal);
void shown_free(struct shown *shown);
void shown_output(struct shown *shown, int stream, const char *data, size_t size);
/* A bundle of forms. prompt: as at a prompt, where a picture takes the place of its text. */
void shown_display(struct shown *shown, const char *json, size_t size, bool prompt);
/* The cell is over: its error, and its time if that was asked for. */
void shown_result(struct shown *shown, const struct hermes_result *result, bool wall_time);
/* Append all of it, at most a mebibyte; redact: secrets become marks. */
void shown_text(struct shown *shown, bool redact, struct strbuf *out);

/* Append what a terminal shows of a text in the end: bars as they stood last, no escape sequences. */
void shown_plain(const char *text, size_t size, struct strbuf *out);

#endif
