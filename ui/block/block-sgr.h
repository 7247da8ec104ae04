/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Colours and attributes as terminals are told them: the parameters of CSI m, both ways.
 */
#ifndef UI_BLOCK_SGR_H
#define UI_BLOCK_SGR_H

#include "block.h"
#include "strbuf.h"

enum { CSI_PARAMETERS = 32 };

/* What stands between CSI and its last byte. */
struct csi {
    uint32_t value[CSI_PARAMETERS]; /* missing ones are 0 */
    uint32_t colons;                /* bit n: a colon stands before value n */
    unsigned count;
    char private, intermediate; /* '?' and the like; 0: none */
};

void sgr_apply(struct block_style *style, const struct csi *csi);
/* The sequence that makes any style this one. */
void sgr_write(struct strbuf *out, const struct block_style *style);

#endif
