/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "block-sgr.h"

static const struct {
    uint8_t on, off;
    uint16_t attribute;
} attribute_rows[] = {
    {1, 22, BLOCK_BOLD},      {2, 22, BLOCK_DIM},        {3, 23, BLOCK_ITALIC},
    {4, 24, BLOCK_UNDERLINE}, {7, 27, BLOCK_REVERSE},    {8, 28, BLOCK_CONCEAL},
    {9, 29, BLOCK_STRIKE},    {21, 24, BLOCK_UNDERLINE},
};
enum { ATTRIBUTES = sizeof(attribute_rows) / sizeof(*attribute_rows) };

/* How many values from `at` on are joined by colons. */
static unsigned joined(const struct csi *csi, unsigned at)
{
    unsigned count = 1;
    while (at + count < csi->count && csi->colons >> (at + count) & 1)
        count++;
    return count;
}

static uint32_t rgb(const uint32_t *value)
{
    return BLOCK_RGB | (value[0] & 0xFF) << 16 | (value[1] & 0xFF) << 8 | (value[2] & 0xFF);
}

/*
 * A colour behind 38, 48 or 58: 5;N and 2;R;G;B, by colons also 2::R:G:B. Returns how many values
 * it takes with the first; *ret_colour stays when it is none that is known.
 */
static unsigned read_colour(const struct csi *csi, unsigned at, uint32_t *ret_colour)
{
    const uint32_t *value = csi->value + at;
    unsigned colons = joined(csi, at), left = csi->count - at;
    unsigned have = colons > 1 ? colons : left;
    unsigned used = colons;
    if (have >= 3 && value[1] == 5) {
        *ret_colour = BLOCK_INDEX | (value[2] & 0xFF);
        used = 3;
    } else if (have >= 5 && value[1] == 2) {
        *ret_colour = rgb(value + (colons >= 6 ? 3 : 2));
        used = 5;
    } else if (colons == 1 && left >= 2) {
        used = left; /* broken: what is meant by the others cannot be told */
    }
    return colons > 1 ? colons : used;
}

static bool apply_attribute(struct block_style *style, uint32_t value)
{
    bool known = false;
    for (unsigned i = 0; i < ATTRIBUTES; i++) {
        if (value == attribute_rows[i].off) {
            style->attributes &= (uint16_t)~attribute_rows[i].attribute;
            known = true;
        } else if (value == attribute_rows[i].on) {
            style->attributes |= attribute_rows[i].attribute;
            return true;
        }
    }
    return known;
}

static void apply_colour(struct block_style *style, uint32_t value)
{
    if (value >= 30 && value <= 37)
        style->foreground = BLOCK_INDEX | (value - 30);
    else if (value == 39)
        style->foreground = 0;
    else if (value >= 40 && value <= 47)
        style->background = BLOCK_INDEX | (value - 40);
    else if (value == 49)
        style->background = 0;
    else if (value >= 90 && value <= 97)
        style->foreground = BLOCK_INDEX | (value - 90 + 8);
    else if (value >= 100 && value <= 107)
        style->background = BLOCK_INDEX | (value - 100 + 8);
}

void sgr_apply(struct block_style *style, const struct csi *csi)
{
    static const struct block_style none;
    if (!csi->count)
        *style = none;
    for (unsigned i = 0; i < csi->count;) {
        uint32_t value = csi->value[i], underline = 0;
        unsigned used = joined(csi, i);
        if (value == 0)
            *style = none;
        else if (value == 38)
            used = read_colour(csi, i, &style->foreground);
        else if (value == 48)
            used = read_colour(csi, i, &style->background);
        else if (value == 58) /* the colour of the underline, which is not shown */
            used = read_colour(csi, i, &underline);
        else if (value == 4 && used > 1 && !csi->value[i + 1])
            style->attributes &= (uint16_t)~BLOCK_UNDERLINE;
        else if (!apply_attribute(style, value))
            apply_colour(style, value);
        i += used;
    }
}

static void write_colour(struct strbuf *out, uint32_t colour, int base)
{
    uint32_t value = colour & 0xFFFFFF;
    switch (colour >> 24) {
    case 0:
        break;
    case 1:
        if (value < 8)
            strbuf_addf(out, ";%d", base + (int)value);
        else if (value < 16)
            strbuf_addf(out, ";%d", base + 60 + (int)value - 8);
        else
            strbuf_addf(out, ";%d;5;%d", base + 8, (int)value);
        break;
    default:
        strbuf_addf(out, ";%d;2;%d;%d;%d", base + 8, (int)(value >> 16), (int)(value >> 8 & 0xFF),
                    (int)(value & 0xFF));
        break;
    }
}

void sgr_write(struct strbuf *out, const struct block_style *style)
{
    enum { DOUBLE_UNDERLINE = 21 };
    strbuf_adds(out, "\x1b[0");
    for (unsigned i = 0; i < ATTRIBUTES; i++)
        if (style->attributes & attribute_rows[i].attribute &&
            attribute_rows[i].on != DOUBLE_UNDERLINE)
            strbuf_addf(out, ";%d", attribute_rows[i].on);
    write_colour(out, style->foreground, 30);
    write_colour(out, style->background, 40);
    strbuf_addc(out, 'm');
}
