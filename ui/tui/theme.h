/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What things look like: a style for each part of the screen and each class of source, for dark and
 * light terminals and for those without colours. Only tables; knows no screen.
 */
#ifndef UI_TUI_THEME_H
#define UI_TUI_THEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block.h"
#include "highlight.h"

enum theme_role {
    ROLE_TEXT,
    ROLE_DIM,
    ROLE_TAB,
    ROLE_TAB_FRONT,
    ROLE_TAB_MARK, /* busy, unread */
    ROLE_TAB_FAIL,
    ROLE_NUMBER, /* [12] */
    ROLE_PROMPT, /* >>> */
    ROLE_RULE,
    ROLE_OK,
    ROLE_FAIL,
    ROLE_BUSY,
    ROLE_STATUS,
    ROLE_STATUS_ALERT,
    ROLE_BAR,     /* questions */
    ROLE_MESSAGE, /* remarks */
    ROLE_CURSOR,  /* the cell that is chosen in browse mode */
    ROLE_MATCH,   /* of a search */
    ROLE_BRACKET,
    ROLE_REGION, /* marked text */
    ROLE_POPUP,
    ROLE_POPUP_CHOSEN,
    ROLE_TITLE,
    ROLE_INPUT, /* the mark that keys go to a cell */
    ROLE_COUNT
};

enum theme_kind { THEME_DARK, THEME_LIGHT, THEME_MONO };

struct block_style theme_style(enum theme_kind kind, enum theme_role role);
struct block_style theme_source(enum theme_kind kind, enum highlight_class class);

/* By the option's word; false: it is "auto". */
bool theme_by_name(const char *name, enum theme_kind *ret_kind);
/* From the variable COLORFGBG, "15;0"; dark when it says nothing. */
enum theme_kind theme_guess(const char *colorfgbg);
/*
 * From a terminal's answer to the question for its background ("...11;rgb:ffff/ffff/ffff..."),
 * which is also given as 0xRRGGBB.
 */
bool theme_from_reply(const char *text, size_t size, enum theme_kind *ret_kind, uint32_t *ret_rgb);

#endif
