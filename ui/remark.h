/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A remark of the program's own on standard error. What it quotes (names, files, settings) cannot
 * steer the terminal.
 */
#ifndef UI_REMARK_H
#define UI_REMARK_H

void remark(const char *text);

#endif
