/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a block is made of, for the files of this folder only.
 */
#ifndef UI_BLOCK_INTERNAL_H
#define UI_BLOCK_INTERNAL_H

#include "block-lines.h"
#include "block-parse.h"
#include "block-rows.h"
#include "block.h"
#include "grid.h"

#define BLOCK_LIMIT_BYTES ((size_t)8 << 20)
#define BLOCK_LIMIT_MIN_BYTES ((size_t)64 << 10)
enum { BLOCK_COLUMNS_MAX = 1000, BLOCK_ROWS_MAX = 1000 };

/* A picture whose rows are fixed lines. */
struct block_image {
    uint64_t id;
    uint64_t number; /* of its first line */
    size_t rows;
    int columns;
    void *png;
    size_t size;
};

struct block_images {
    struct block_image *list;
    size_t count, capacity, bytes;
};

struct block {
    struct lines lines;
    struct parser parser;
    struct rows rows;
    struct strbuf answers;
    uint64_t version;
    struct grid *grid;         /* NULL: the program writes lines */
    struct strbuf last_screen; /* of a program that left the alternate screen */
    struct block_images images;
    uint32_t background;
};

/* ---- block.c ------------------------------------------------------------------------------- */

/* Text with colours, as grids and pictures give it, at the cursor. The block's own style stays. */
void block_write_styled(struct block *block, const struct strbuf *text);

/* ---- block-look.c -------------------------------------------------------------------------- */

void block_add_styled(const struct line_view *view, struct strbuf *out);

/* ---- block-image.c ------------------------------------------------------------------------- */

void block_images_free(struct block_images *images);

/* Looking at a block brings the text of lines that were overwritten up to date. */
static inline struct lines *block_lines_of(const struct block *block)
{
    return (struct lines *)&block->lines;
}

#endif
