/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bytes that programs write to a terminal: text and the sequences that make sense for lines are
 * done to them, the others are taken and dropped. Stops where a program wants the whole screen.
 *
 * Whatever comes, only characters with a shape end up in lines; a sequence that never ends cannot
 * swallow more than a line or STRING_BYTES.
 */
#ifndef UI_BLOCK_PARSE_H
#define UI_BLOCK_PARSE_H

#include "block-lines.h"
#include "block-sgr.h"

enum parse_state {
    PARSE_TEXT,
    PARSE_ESCAPE,
    PARSE_ESCAPE_REST, /* ESC and intermediate bytes */
    PARSE_CSI,
    PARSE_CSI_BROKEN,
    PARSE_STRING, /* OSC, DCS, SOS, PM, APC */
    PARSE_STRING_ESCAPE,
};

/* Beside those of enum block_mode. */
#define MODE_CURSOR_HIDDEN (1u << 8)

enum parse_wish {
    WISH_NONE,
    WISH_ALTERNATE, /* switched to the alternate screen */
    WISH_SCREEN,    /* wrote at a place of the screen that lines do not have */
};

enum { PARSE_SEQUENCE_BYTES = 96 };

struct parser {
    enum parse_state state;
    struct csi csi;
    char sequence[PARSE_SEQUENCE_BYTES]; /* as it came, from ESC on */
    size_t sequence_size;                /* larger: it did not fit */
    char string_kind;                    /* what came behind ESC */
    size_t string_bytes;                 /* of the string */
    bool sixel;
    char partial[4]; /* the beginning of a character */
    size_t partial_size;
    uint32_t last; /* character, for REP */
    unsigned modes;
    unsigned region_top, region_bottom; /* DECSTBM; 0: none */
    bool away;                          /* the cursor was sent to a place of the screen: */
    unsigned away_row, away_column;     /* from 1 */
    enum parse_wish wish;
    struct strbuf *answers;
};

#define STRING_BYTES ((size_t)4 << 20)
/* What a program does not fetch is not worth more. */
#define ANSWER_BYTES 4096

/*
 * Returns how many bytes were taken: all, or those up to where parser->wish was set. When a
 * sequence was what set it, it is in parser->sequence and still to be done (sequence_size is 0
 * otherwise).
 */
size_t parse(struct parser *parser, struct lines *lines, const char *data, size_t size);
/* Sequences and characters that are not complete are forgotten. */
void parse_reset(struct parser *parser);

/* ---- the sequences (block-csi.c) ----------------------------------------------------------- */

void parse_control(struct parser *parser, struct lines *lines, unsigned char byte);
void parse_csi(struct parser *parser, struct lines *lines, char final);
void parse_escape(struct parser *parser, struct lines *lines, char final);

#endif
