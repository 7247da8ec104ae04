/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "theme.h"

#define I(n) (BLOCK_INDEX | (n))

/* The sixteen colours of the terminal where they do: its owner has chosen them. */
static const struct block_style dark[ROLE_COUNT] = {
    [ROLE_DIM] = {I(8), 0, 0},
    [ROLE_TAB] = {I(250), I(236), 0},
    [ROLE_TAB_FRONT] = {I(15), I(24), BLOCK_BOLD},
    [ROLE_TAB_MARK] = {I(11), I(236), 0},
    [ROLE_TAB_FAIL] = {I(9), I(236), 0},
    [ROLE_NUMBER] = {I(6), 0, 0},
    [ROLE_PROMPT] = {I(10), 0, BLOCK_BOLD},
    [ROLE_RULE] = {I(3), 0, 0},
    [ROLE_OK] = {I(2), 0, 0},
    [ROLE_FAIL] = {I(9), 0, BLOCK_BOLD},
    [ROLE_BUSY] = {I(11), 0, 0},
    [ROLE_STATUS] = {I(252), I(236), 0},
    [ROLE_STATUS_ALERT] = {I(15), I(124), BLOCK_BOLD},
    [ROLE_BAR] = {I(0), I(11), 0},
    [ROLE_MESSAGE] = {I(14), 0, 0},
    [ROLE_CURSOR] = {0, I(237), 0},
    [ROLE_MATCH] = {I(0), I(11), 0},
    [ROLE_BRACKET] = {0, I(240), BLOCK_BOLD},
    [ROLE_REGION] = {0, I(239), 0},
    [ROLE_POPUP] = {I(252), I(238), 0},
    [ROLE_POPUP_CHOSEN] = {I(15), I(24), BLOCK_BOLD},
    [ROLE_TITLE] = {I(15), I(24), BLOCK_BOLD},
    [ROLE_INPUT] = {I(0), I(13), 0},
};
static const struct block_style light[ROLE_COUNT] = {
    [ROLE_DIM] = {I(244), 0, 0},
    [ROLE_TAB] = {I(238), I(253), 0},
    [ROLE_TAB_FRONT] = {I(15), I(25), BLOCK_BOLD},
    [ROLE_TAB_MARK] = {I(130), I(253), 0},
    [ROLE_TAB_FAIL] = {I(160), I(253), 0},
    [ROLE_NUMBER] = {I(25), 0, 0},
    [ROLE_PROMPT] = {I(28), 0, BLOCK_BOLD},
    [ROLE_RULE] = {I(130), 0, 0},
    [ROLE_OK] = {I(28), 0, 0},
    [ROLE_FAIL] = {I(160), 0, BLOCK_BOLD},
    [ROLE_BUSY] = {I(130), 0, 0},
    [ROLE_STATUS] = {I(236), I(253), 0},
    [ROLE_STATUS_ALERT] = {I(15), I(160), BLOCK_BOLD},
    [ROLE_BAR] = {I(0), I(222), 0},
    [ROLE_MESSAGE] = {I(25), 0, 0},
    [ROLE_CURSOR] = {0, I(254), 0},
    [ROLE_MATCH] = {I(0), I(222), 0},
    [ROLE_BRACKET] = {0, I(250), BLOCK_BOLD},
    [ROLE_REGION] = {0, I(252), 0},
    [ROLE_POPUP] = {I(236), I(252), 0},
    [ROLE_POPUP_CHOSEN] = {I(15), I(25), BLOCK_BOLD},
    [ROLE_TITLE] = {I(15), I(25), BLOCK_BOLD},
    [ROLE_INPUT] = {I(15), I(90), 0},
};
static const struct block_style mono[ROLE_COUNT] = {
    [ROLE_DIM] = {0, 0, BLOCK_DIM},
    [ROLE_TAB_FRONT] = {0, 0, BLOCK_REVERSE | BLOCK_BOLD},
    [ROLE_TAB_FAIL] = {0, 0, BLOCK_BOLD},
    [ROLE_NUMBER] = {0, 0, BLOCK_DIM},
    [ROLE_PROMPT] = {0, 0, BLOCK_BOLD},
    [ROLE_FAIL] = {0, 0, BLOCK_BOLD},
    [ROLE_BUSY] = {0, 0, BLOCK_BOLD},
    [ROLE_STATUS] = {0, 0, BLOCK_REVERSE},
    [ROLE_STATUS_ALERT] = {0, 0, BLOCK_BOLD},
    [ROLE_BAR] = {0, 0, BLOCK_REVERSE | BLOCK_BOLD},
    [ROLE_MESSAGE] = {0, 0, BLOCK_BOLD},
    [ROLE_CURSOR] = {0, 0, BLOCK_BOLD},
    [ROLE_MATCH] = {0, 0, BLOCK_REVERSE},
    [ROLE_BRACKET] = {0, 0, BLOCK_UNDERLINE},
    [ROLE_REGION] = {0, 0, BLOCK_REVERSE},
    [ROLE_POPUP] = {0, 0, BLOCK_REVERSE},
    [ROLE_POPUP_CHOSEN] = {0, 0, BLOCK_BOLD},
    [ROLE_TITLE] = {0, 0, BLOCK_REVERSE | BLOCK_BOLD},
    [ROLE_INPUT] = {0, 0, BLOCK_REVERSE | BLOCK_BOLD},
};

static const struct block_style source_dark[HIGHLIGHT_COUNT] = {
    [HIGHLIGHT_KEYWORD] = {I(12), 0, BLOCK_BOLD},
    [HIGHLIGHT_BUILTIN] = {I(14), 0, 0},
    [HIGHLIGHT_STRING] = {I(10), 0, 0},
    [HIGHLIGHT_NUMBER] = {I(13), 0, 0},
    [HIGHLIGHT_COMMENT] = {I(8), 0, BLOCK_ITALIC},
    [HIGHLIGHT_DECORATOR] = {I(11), 0, 0},
    [HIGHLIGHT_DEFINITION] = {I(11), 0, BLOCK_BOLD},
    [HIGHLIGHT_COMMAND] = {I(14), 0, BLOCK_BOLD},
    [HIGHLIGHT_ERROR] = {I(9), 0, BLOCK_UNDERLINE},
};
static const struct block_style source_light[HIGHLIGHT_COUNT] = {
    [HIGHLIGHT_KEYWORD] = {I(25), 0, BLOCK_BOLD},
    [HIGHLIGHT_BUILTIN] = {I(30), 0, 0},
    [HIGHLIGHT_STRING] = {I(28), 0, 0},
    [HIGHLIGHT_NUMBER] = {I(90), 0, 0},
    [HIGHLIGHT_COMMENT] = {I(244), 0, BLOCK_ITALIC},
    [HIGHLIGHT_DECORATOR] = {I(130), 0, 0},
    [HIGHLIGHT_DEFINITION] = {I(94), 0, BLOCK_BOLD},
    [HIGHLIGHT_COMMAND] = {I(30), 0, BLOCK_BOLD},
    [HIGHLIGHT_ERROR] = {I(160), 0, BLOCK_UNDERLINE},
};
static const struct block_style source_mono[HIGHLIGHT_COUNT] = {
    [HIGHLIGHT_KEYWORD] = {0, 0, BLOCK_BOLD},
    [HIGHLIGHT_COMMENT] = {0, 0, BLOCK_DIM},
    [HIGHLIGHT_COMMAND] = {0, 0, BLOCK_BOLD},
    [HIGHLIGHT_ERROR] = {0, 0, BLOCK_UNDERLINE},
};

struct block_style theme_style(enum theme_kind kind, enum theme_role role)
{
    const struct block_style *table = kind == THEME_DARK    ? dark
                                      : kind == THEME_LIGHT ? light
                                                            : mono;
    return table[role];
}

struct block_style theme_source(enum theme_kind kind, enum highlight_class class)
{
    const struct block_style *table = kind == THEME_DARK    ? source_dark
                                      : kind == THEME_LIGHT ? source_light
                                                            : source_mono;
    return table[class < HIGHLIGHT_COUNT ? class : HIGHLIGHT_PLAIN];
}

bool theme_by_name(const char *name, enum theme_kind *ret_kind)
{
    static const char *const names[] = {
        [THEME_DARK] = "dark", [THEME_LIGHT] = "light", [THEME_MONO] = "mono"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            *ret_kind = (enum theme_kind)i;
            return true;
        }
    }
    return false;
}

enum theme_kind theme_guess(const char *colorfgbg)
{
    const char *back = colorfgbg ? strrchr(colorfgbg, ';') : NULL;
    if (!back)
        return THEME_DARK;
    char *end;
    long index = strtol(back + 1, &end, 10);
    return end != back + 1 && (index == 7 || (index >= 9 && index <= 15)) ? THEME_LIGHT
                                                                          : THEME_DARK;
}

/* One of the three numbers, one to four hex digits, as 0..255. */
static int component(const char **text, const char *end)
{
    unsigned value = 0, digits = 0;
    for (; *text < end && digits < 4; (*text)++, digits++) {
        char c = **text;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                                                : 16;
        if (digit == 16)
            break;
        value = value * 16 + digit;
    }
    if (digits == 0)
        return -1;
    return (int)(value * 255 / ((1u << (4 * digits)) - 1));
}

bool theme_from_reply(const char *text, size_t size, enum theme_kind *ret_kind, uint32_t *ret_rgb)
{
    const char *at = memmem(text, size, "11;rgb:", 7), *end = text + size;
    if (!at)
        return false;
    at += 7;
    int parts[3];
    for (int i = 0; i < 3; i++) {
        parts[i] = component(&at, end);
        if (parts[i] < 0 || (i < 2 && (at == end || *at++ != '/')))
            return false;
    }
    *ret_rgb = (uint32_t)parts[0] << 16 | (uint32_t)parts[1] << 8 | (uint32_t)parts[2];
    *ret_kind =
        parts[0] * 299 + parts[1] * 587 + parts[2] * 114 > 127500 ? THEME_LIGHT : THEME_DARK;
    return true;
}
