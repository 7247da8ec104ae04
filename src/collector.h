/* SPDX-License-Identifier: MIT */
/*
 * What a cell wrote to one stream, bounded while it streams: cleaned text's head and tail in
 * memory, true totals, and the full cleaned text in a private spill file once the limit is passed.
 * If asked for, the text is redacted before anything else is done with it.
 * Memory: at most the limit and a little, allocated as needed. Knows nothing of kernels; does no
 * locking.
 */
#ifndef HR_COLLECTOR_H
#define HR_COLLECTOR_H

#include "buf.h"
#include "text.h"

struct hr_collector_options {
    size_t limit_bytes;          /* of text in memory: 40 % head, 60 % tail; at least 16 */
    uint64_t spill_limit_bytes;  /* 0: no spill */
    const char *spill_directory; /* NULL or "": no spill; borrowed; made (0700) when needed */
    bool redact;                 /* secrets become marks, in the spill file too (redact.h) */
    bool terminal;               /* "\r\n" is a newline, and counts as one byte */
};

struct hr_collector; /* opaque */

struct hr_collector *
hr_collector_new(const struct hr_collector_options *options); /* NULL: out of memory */
/*
 * A spill file that hr_collector_finish() has named stays, one that nobody knows of goes. NULL is
 * fine.
 */
void hr_collector_free(struct hr_collector *collector);
/*
 * Raw bytes. Never fails: what memory has no room for is counted as omitted, a failing spill is
 * given up.
 */
void hr_collector_feed(struct hr_collector *collector, const char *data, size_t size);

/*
 * total counts raw bytes, captured bytes of text without the notice: they are equal when nothing
 * was cut, cleaned away or redacted. omitted is total - captured when truncated, else 0; where
 * repair made the text longer than the raw bytes it is what is missing of the text.
 */
struct hr_collected {
    char *text; /* owned; head, notice, tail; a closing NUL behind size */
    size_t size;
    bool truncated;
    uint64_t bytes_total, bytes_captured, bytes_omitted;
    char *spill_path;    /* owned, absolute, or NULL */
    uint64_t spill_size; /* bytes of text in it */
    bool spill_capped;   /* it does not hold everything */
    uint64_t redactions; /* secrets that became marks, also in what was omitted */
};

/*
 * End of the cell, once. Cuts fall between code points. The notice is a line of its own with the
 * word TRUNCATED, the omitted and the total bytes. false: out of memory, *ret is all zero; the call
 * may be repeated. hr_collected_done() frees.
 */
bool hr_collector_finish(struct hr_collector *collector, struct hr_collected *ret);
void hr_collected_done(struct hr_collected *collected);

/*
 * The result's "warning" for a truncated stdout, with or without a spill path; hr_free(). NULL: not
 * truncated, no memory.
 */
char *hr_collected_warning(const struct hr_collected *collected);

/*
 * $XDG_STATE_HOME/hermes-repl/spill, else ~/.local/state/..., else NULL when neither can be told.
 * hr_free().
 */
char *hr_spill_default_directory(void);

#endif
