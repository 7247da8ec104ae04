/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The engine's results as what the store keeps.
 */
#ifndef UI_STORE_RESULT_H
#define UI_STORE_RESULT_H

#include <hermes-kernel.h>

#include "store.h"

/*
 * Fill in the outcome of a cell, of which session, number, source and submitted_us are set. The
 * texts are the result's; output may be put in place of its own.
 */
void store_cell_settled(struct store_cell *cell, const struct hermes_result *result);

/* What the option "history" says. */
enum store_mode store_mode_of(const char *value);

#endif
