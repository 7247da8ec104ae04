/* SPDX-License-Identifier: MIT */
/*
 * Bytes from a kernel become text: UTF-8 is repaired and escape sequences are taken out, in a
 * stream, at any cut. Also the JSON string form. Knows nothing of kernels or limits.
 */
#ifndef HR_TEXT_H
#define HR_TEXT_H

#include "buf.h"

/*
 * Streaming cleaner. The output depends on the bytes fed and never on how they were cut, and it
 * always consists of whole code points.
 *
 * Repaired: invalid UTF-8 becomes U+FFFD (maximal subparts, as Python's "replace"; but a lone
 * surrogate's three bytes become one U+FFFD).
 *
 * Removed: CSI, OSC (ended by BEL or ST), DCS/SOS/PM/APC to ST, nF and single-byte escapes, the C1
 * code points' forms of these, and every other C1 control but U+0085. What begins a sequence and
 * does not go on as one loses only its introducer (ESC, "ESC [", "ESC ]", U+009B ...), and the text
 * behind it stays and is cleaned itself. So no ESC ever comes out. Other C0 controls stay (NUL, CR,
 * TAB, NL, BEL ...).
 *
 * Text behind an introducer is held back until the sequence is complete: at most HR_SEQUENCE_MAX
 * bytes, a longer one counts as unterminated. Plain ASCII passes at memcpy speed.
 */
#define HR_SEQUENCE_MAX ((size_t)64 << 10)

struct hr_cleaner {
    struct hr_buf held;  /* raw bytes of an unfinished code point or sequence */
    size_t held_start;   /* of them, how many at the front are done with */
    size_t string_clear; /* behind held_start: up to here no BEL and no ST begins ... */
    size_t st_clear;     /* ... no ST begins ... */
    size_t csi_clear;    /* ... only parameters and intermediates stand */
    /*
     * To be set after hr_cleaner_init() by those who want what is taken out: called with each
     * sequence or introducer, when all the text before it is in out. false: out of memory.
     */
    bool (*removed)(void *context, const char *data, size_t size);
    void *removed_context;
};

void hr_cleaner_init(struct hr_cleaner *cleaner);
void hr_cleaner_done(struct hr_cleaner *cleaner);
/*
 * Append the cleaned form of data to out; false: out of memory (nothing is lost but what did not
 * fit).
 */
bool hr_cleaner_feed(struct hr_cleaner *cleaner, const char *data, size_t size, struct hr_buf *out);
/* How much at the start of data is clean already, and need not be fed. */
size_t hr_cleaner_pass(const struct hr_cleaner *cleaner, const char *data, size_t size);
/* End of the stream: what was held back is appended. The cleaner is as new. */
bool hr_cleaner_finish(struct hr_cleaner *cleaner, struct hr_buf *out);

/*
 * Largest n <= size at which data can be cut without splitting a code point; and smallest n >=
 * from, n <= size. data is valid UTF-8 that may be cut off at size.
 */
size_t hr_utf8_cut_before(const char *data, size_t size);
size_t hr_utf8_cut_after(const char *data, size_t size, size_t from);
bool hr_utf8_valid(const char *data, size_t size);
size_t hr_utf8_valid_run(const char *data, size_t size); /* length of the valid part at the start */

/*
 * "..." with JSON escapes; data need not be valid UTF-8 (repaired as above), may hold NUL. U+2028/9
 * are escaped too; DEL and C1 stay as they are. After a failure out is as before, with `failed`
 * set.
 */
bool hr_json_add_string(struct hr_buf *out, const char *data, size_t size);

#endif
