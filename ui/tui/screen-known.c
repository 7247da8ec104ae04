/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A file of its own: term.h makes macros of names like `columns`.
 */
#include "config.h"

#include "screen.h"

#include <curses.h>
#include <term.h>
#include <unistd.h>

bool screen_knows(const char *terminal)
{
    int known = 0;
    if (!terminal[0] || setupterm(terminal, STDOUT_FILENO, &known) != OK)
        return false;
    bool moves = tigetstr("cup") != NULL;
    del_curterm(cur_term);
    return moves;
}
