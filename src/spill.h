/* SPDX-License-Identifier: MIT */
/*
 * A private file for output that is too long for a result: 0600, random name, in a directory of the
 * user's own. Old ones are swept when a new one is made. Knows nothing of cells; whatever fails
 * gives the file up, and it is gone again.
 */
#ifndef HR_SPILL_H
#define HR_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HR_SPILL_KEEP 200                /* files in a directory, a new one included */
#define HR_SPILL_SECONDS (7 * 24 * 3600) /* and how old they become */

struct hr_spill {
    int directory_fd, fd; /* -1: none, closed */
    uint64_t size, limit; /* bytes of text written, and how many may be */
    bool capped;          /* there was more text, and a last line says so */
    bool line_open;       /* the text does not end in a newline */
    char *path;           /* absolute; NULL: there is no file */
    char name[40];
};

void hr_spill_init(struct hr_spill *spill);
/*
 * Make the directory (0700, with parents) where it is missing, and the file. false: no file, and
 * none is left behind.
 */
bool hr_spill_open(struct hr_spill *spill, const char *directory, uint64_t limit);
/*
 * Add valid UTF-8, whole code points. What passes the limit is cut off. Without a file nothing
 * happens.
 */
void hr_spill_write(struct hr_spill *spill, const char *text, size_t size);
/* Close the file; it stays. spill->path tells whether there is one. */
void hr_spill_close(struct hr_spill *spill);
/* Close and remove the file. */
void hr_spill_discard(struct hr_spill *spill);
/* Free; a file that is still there stays. */
void hr_spill_done(struct hr_spill *spill);

#endif
