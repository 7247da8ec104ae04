/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines that do not change any more, packed one behind the other in pages. Knows how a line is
 * written down (text, and where its style changes), how much may be kept, and how many lines were
 * dropped between the head and the tail. Knows nothing of cursors and of wrapping.
 *
 * Lines have numbers that never change: the first line of the output is 0, dropped ones count.
 */
#ifndef UI_BLOCK_PAGE_H
#define UI_BLOCK_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block.h"

enum line_flag {
    LINE_CONTINUED = 1 << 0, /* goes on from the line before */
    LINE_ASCII = 1 << 1,     /* each byte is a column */
    LINE_WIDE = 1 << 2,      /* has characters of two columns */
    LINE_FIXED = 1 << 3,     /* a row of a picture: cut, not wrapped */
};

/* A line as it is kept: only characters that may be shown, changes of style beside them. */
struct line_view {
    const char *text;
    const uint8_t *runs;
    uint32_t size, runs_size, width;
    uint8_t flags;
};

/* ---- styles -------------------------------------------------------------------------------- */

enum { RUN_BYTES = 5 + 1 + 3 + 3 + 1 }; /* a change of style takes at most so many */

bool style_equal(const struct block_style *a, const struct block_style *b);
/* Blanks of this style cannot be seen. */
bool style_is_plain(const struct block_style *style);
/* Write down that the style changes so many bytes behind the last change; returns the length. */
size_t run_encode(uint8_t *out, uint32_t distance, const struct block_style *style);

struct run_reader {
    const uint8_t *at, *end;
    uint32_t next; /* where the style changes next */
    struct block_style style;
};

void runs_start(struct run_reader *reader, const struct line_view *view);
/* Go on to an offset in the text, never back: reader->style is the style there. */
void runs_to(struct run_reader *reader, uint32_t offset);

/* ---- pages --------------------------------------------------------------------------------- */

struct page {
    uint64_t first; /* number of its first line */
    uint32_t count, used, capacity;
    int columns; /* for which `rows` is right; -1: for none */
    size_t rows;
    uint8_t bytes[]; /* lines from the front, their offsets from the back */
};

struct pages {
    struct page **list;
    size_t count, capacity;
    size_t head;       /* pages that are kept for ever, once something was dropped */
    size_t limit;      /* bytes */
    size_t page_bytes; /* of one page; longer lines get one of their own */
    size_t bytes;      /* of all */
    uint64_t next;     /* number of the next line */
    uint64_t dropped;  /* lines between head and tail */
    uint64_t erased;   /* lines that the program itself took away, at the beginning */
    uint64_t changes;
};

void pages_init(struct pages *pages, size_t limit);
void pages_free(struct pages *pages);
void pages_add(struct pages *pages, const struct line_view *view);
/* Drop lines behind the head until pages and `others` bytes are within the limit. */
void pages_enforce(struct pages *pages, size_t others);
/* All lines go, by the will of the program. */
void pages_erase(struct pages *pages);
/* Give back the room at the end of the last page. */
void pages_trim(struct pages *pages);

/* Lines that are kept, and the number of the n-th of them (or of a later line). */
size_t pages_lines(const struct pages *pages);
uint64_t pages_number(const struct pages *pages, size_t kept);
/* How many kept lines come before a number. */
size_t pages_kept(const struct pages *pages, uint64_t number);
/* How many kept lines come before those that were dropped. */
size_t pages_gap(const struct pages *pages);
/* The page with this number, which is kept. */
const struct page *pages_find(const struct pages *pages, uint64_t number);
void page_line(const struct page *page, uint32_t index, struct line_view *ret_view);

#endif
