/* SPDX-License-Identifier: MIT */
/*
 * Marks in the output of a terminal, which tell where in it a frame of the other channel belongs.
 * The runner writes them, this takes them out again, however reads cut the stream: a part of a mark
 * is never given as text, and text that looks like the beginning of one is never lost.
 *
 * A mark is 0x1F, 16 random hexadecimal digits that are the kernel's, and 16 that are its number;
 * all in capitals, which no output mode of a terminal changes. Knows nothing of kernels.
 */
#ifndef HR_MARKER_H
#define HR_MARKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HR_MARKER_SECRET_SIZE = 16, HR_MARKER_SIZE = 33 };

struct hr_marker {
    char secret[HR_MARKER_SECRET_SIZE + 1]; /* as text */
    char held[HR_MARKER_SIZE];              /* the beginning of a mark, so far */
    char released[HR_MARKER_SIZE];          /* what turned out to be none */
    size_t held_size;
};

enum hr_marker_found { HR_MARKER_MORE, HR_MARKER_TEXT, HR_MARKER_NUMBER };

/* random is of 8 bytes. */
void hr_marker_init(struct hr_marker *marker, const unsigned char *random);

/*
 * Take the next thing off the front of *data: text (borrowed from there, or good until the next
 * call), the number of a mark, or MORE when all is taken.
 */
enum hr_marker_found hr_marker_take(struct hr_marker *marker, const char **data, size_t *size,
                                    const char **ret_text, size_t *ret_size, uint64_t *ret_number);

/*
 * The stream is at its end: what was held is text after all, unless it is long enough to be the
 * half of a mark whose writer was killed. Returns its size.
 */
size_t hr_marker_finish(struct hr_marker *marker, const char **ret_text);

#endif
