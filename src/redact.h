/* SPDX-License-Identifier: MIT */
/*
 * Secrets in cleaned text become marks, in a stream. The "code" profile: what is a secret by its
 * own form (well-known key prefixes, authorization headers, private key blocks, JSON web tokens,
 * passwords in connection strings, secret parameters of URLs) wherever it stands; and the values
 * of NAME=value lines only inside a block that looks like a dumped environment: consecutive
 * NAME=value lines (comments and empty lines may stand between), at least HR_REDACT_BLOCK of them
 * with the name of a secret. So MAX_TOKENS=100 stays as it is. Knows nothing of cells and limits;
 * reads text, never code that is to run.
 *
 * A secret shorter than 18 bytes becomes "***", of a longer one the first 6 and the last 4 bytes
 * stay: "ghp_ab...wxyz". Passwords go whole, a private key becomes "[REDACTED PRIVATE KEY]".
 * Redacting what was redacted changes nothing.
 */
#ifndef HR_REDACT_H
#define HR_REDACT_H

#include "buf.h"

/* How far ahead is looked to judge a place; so much text is held back at most (and a little). */
#define HR_REDACT_WINDOW ((size_t)16 << 10)
#define HR_REDACT_BLOCK 3

/* Where the scan stands. Offsets count from the first byte that is not done with. */
struct hr_redact_place {
    unsigned char before[2]; /* the bytes before that one */
    bool line_start;
    bool in_block;  /* of NAME=value lines that is to be masked */
    unsigned rest;  /* class of the bytes that continue a secret longer than the window; 0: none */
    size_t url_end; /* a URL reaches to here */
    size_t pem_clear; /* no end of a private key begins before this */
};

/* What stands among the held text and is no text; at is where in it. */
struct hr_redact_aside {
    size_t at, size;
    bool stray;
};

struct hr_redactor {
    struct hr_buf held;  /* text that cannot be judged yet */
    size_t retry;        /* held is looked at again when it is so long */
    size_t shown;        /* bytes of held that a flush has passed on */
    size_t shown_secret; /* where in held one begins that the flush has masked; SIZE_MAX: none */
    struct hr_redact_place place;
    struct hr_buf asides;      /* struct hr_redact_aside, ... */
    struct hr_buf aside_bytes; /* ... and what they are made of */
    uint64_t count;            /* secrets masked so far */
};

void hr_redactor_init(struct hr_redactor *redactor);
void hr_redactor_done(struct hr_redactor *redactor);
/*
 * Append the redacted form of data, which is cleaned text, to out. Without hr_redactor_flush() the
 * output depends on the text and never on how it was cut. false: out of memory; text is missing
 * then, but no secret was passed on.
 */
bool hr_redactor_feed(struct hr_redactor *redactor, const char *data, size_t size,
                      struct hr_buf *out);
/*
 * The same for as much of data as has no secret and nothing to wait for: it need not be copied.
 * Returns how much that is; the rest is still to be fed.
 */
size_t hr_redactor_pass(struct hr_redactor *redactor, const char *data, size_t size);
/*
 * What comes now is no text and takes no part in the judgement (an escape sequence): it goes to out
 * as it is, in its place between the text before and behind it, or right behind the mark of a
 * secret that it stands in. stray: it is only the beginning of something and might join with a
 * mark, so it is left out within and before a secret.
 */
bool hr_redactor_aside(struct hr_redactor *redactor, const char *data, size_t size, bool stray,
                       struct hr_buf *out);
/*
 * Pass on what is held back, judged as if nothing followed: for a partial line that a reader should
 * see now. What follows is still judged together with it: the rest of a secret that has begun is
 * masked, not its first bytes.
 */
bool hr_redactor_flush(struct hr_redactor *redactor, struct hr_buf *out);
/* End of the text: what was held back is appended. The redactor is as new, but for the count. */
bool hr_redactor_finish(struct hr_redactor *redactor, struct hr_buf *out);

/* A whole text at once; *count grows by the secrets masked. */
bool hr_redact_text(const char *data, size_t size, struct hr_buf *out, uint64_t *count);

#endif
