/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kitty's graphics protocol with Unicode placeholders: each cell of a picture is U+10EEEE with
 * three marks, for its row, its column and the first byte of the picture's number, in a colour
 * whose index is the last byte.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base64.h"
#include "graphics-internal.h"
#include "image.h"
#include "xalloc.h"

#define PLACEHOLDER 0x10EEEE
#define CHUNK 3072 /* 4096 letters */
#define KEPT_MAX ((uint64_t)64 << 20)
#define INDEX_MIN 16 /* the first sixteen colours are written in another way */
#define INDEXES 240
#define MARKS 297
#define BASES 29 /* whose marks are old enough to be known as such everywhere */

/*
 * The marks that stand for numbers, as the protocol has them: those of combining class 230 in
 * Unicode 6.0 that neither decompose nor compose, in the order of their codes.
 */
static const struct {
    uint32_t first;
    int count;
} marks[] = {
    {0x0305, 1},  {0x030D, 2},  {0x0310, 1}, {0x0312, 1},  {0x033D, 3},  {0x0346, 1},  {0x034A, 3},
    {0x0350, 3},  {0x0357, 1},  {0x035B, 1}, {0x0363, 13}, {0x0483, 5},  {0x0592, 4},  {0x0597, 3},
    {0x059C, 6},  {0x05A8, 2},  {0x05AB, 2}, {0x05AF, 1},  {0x05C4, 1},  {0x0610, 8},  {0x0657, 5},
    {0x065D, 2},  {0x06D6, 7},  {0x06DF, 4}, {0x06E4, 1},  {0x06E7, 2},  {0x06EB, 2},  {0x0730, 1},
    {0x0732, 2},  {0x0735, 2},  {0x073A, 1}, {0x073D, 1},  {0x073F, 3},  {0x0743, 1},  {0x0745, 1},
    {0x0747, 1},  {0x0749, 2},  {0x07EB, 7}, {0x07F3, 1},  {0x0816, 4},  {0x081B, 9},  {0x0825, 3},
    {0x0829, 5},  {0x0951, 1},  {0x0953, 2}, {0x0F82, 2},  {0x0F86, 2},  {0x135D, 3},  {0x17DD, 1},
    {0x193A, 1},  {0x1A17, 1},  {0x1A75, 8}, {0x1B6B, 1},  {0x1B6D, 7},  {0x1CD0, 3},  {0x1CDA, 2},
    {0x1CE0, 1},  {0x1DC0, 2},  {0x1DC3, 7}, {0x1DCB, 2},  {0x1DD1, 22}, {0x1DFE, 1},  {0x20D0, 2},
    {0x20D4, 4},  {0x20DB, 2},  {0x20E1, 1}, {0x20E7, 1},  {0x20E9, 1},  {0x20F0, 1},  {0x2CEF, 3},
    {0x2DE0, 32}, {0xA66F, 1},  {0xA67C, 2}, {0xA6F0, 2},  {0xA8E0, 18}, {0xAAB0, 1},  {0xAAB2, 2},
    {0xAAB7, 2},  {0xAABE, 2},  {0xAAC1, 1}, {0xFE20, 7},  {0x10A0F, 1}, {0x10A38, 1}, {0x1D185, 5},
    {0x1D1AA, 4}, {0x1D242, 3},
};

static uint32_t mark_of(int number)
{
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (number < marks[i].count)
            return marks[i].first + (uint32_t)number;
        number -= marks[i].count;
    }
    return 0;
}

void kitty_init(struct graphics *graphics)
{
    uint8_t bytes[2];
    if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) != sizeof(bytes))
        bytes[0] = bytes[1] = (uint8_t)getpid();
    graphics->kitty.base = 1 + bytes[0] % BASES;
    graphics->kitty.next = INDEX_MIN + bytes[1] % INDEXES;
}

/*
 * ---- giving and taking back
 * ----------------------------------------------------------------------
 */

/* One command. tmux lets it through packed, with each escape doubled. */
static void add_command(const struct kitty *kitty, struct strbuf *out, const char *keys,
                        const char *data, size_t size)
{
    const char *escape = kitty->tmux ? "\033\033" : "\033";
    strbuf_addf(out, "%s%s_G%s", kitty->tmux ? "\033Ptmux;" : "", escape, keys);
    if (size) {
        strbuf_addc(out, ';');
        base64_add(out, data, size);
    }
    strbuf_addf(out, "%s\\%s", escape, kitty->tmux ? "\033\\" : "");
}

static uint32_t number_of(const struct kitty *kitty, uint32_t index)
{
    return kitty->base << 24 | index;
}

static void add_taking(const struct kitty *kitty, struct strbuf *out, size_t at)
{
    char keys[64];
    snprintf(keys, sizeof(keys), "a=d,d=I,i=%u,q=2", number_of(kitty, kitty->images[at].index));
    add_command(kitty, out, keys, NULL, 0);
}

/* Who dies takes them back, too. */
static void prepare_rescue(const struct kitty *kitty)
{
    struct strbuf out = STRBUF_INIT;
    for (size_t i = 0; i < kitty->count; i++)
        add_taking(kitty, &out, i);
    screen_set_rescue(out.data, out.size);
    strbuf_free(&out);
}

static void take_back(struct graphics *graphics, size_t at)
{
    struct kitty *kitty = &graphics->kitty;
    struct strbuf out = STRBUF_INIT;
    add_taking(kitty, &out, at);
    screen_send(graphics->screen, out.data, out.size);
    strbuf_free(&out);
    kitty->bytes -= kitty->images[at].bytes;
    kitty->images[at] = kitty->images[--kitty->count];
}

static bool is_used(const struct kitty *kitty, uint32_t index)
{
    for (size_t i = 0; i < kitty->count; i++) {
        if (kitty->images[i].index == index)
            return true;
    }
    return false;
}

/* Take back what was not drawn for the longest time. False: all that is there is on the screen. */
static bool make_room(struct graphics *graphics, uint64_t bytes)
{
    struct kitty *kitty = &graphics->kitty;
    while (kitty->bytes + bytes > KEPT_MAX || kitty->count >= INDEXES) {
        size_t oldest = kitty->count;
        for (size_t i = 0; i < kitty->count; i++) {
            if (kitty->images[i].frame != graphics->frame &&
                (oldest == kitty->count || kitty->images[i].frame < kitty->images[oldest].frame))
                oldest = i;
        }
        if (oldest == kitty->count)
            return false;
        take_back(graphics, oldest);
    }
    return true;
}

static void send_picture(struct graphics *graphics, const struct block_picture *picture,
                         uint32_t index)
{
    const struct kitty *kitty = &graphics->kitty;
    struct strbuf out = STRBUF_INIT;
    const char *png = picture->png;
    char keys[128];
    for (size_t at = 0; at < picture->size; at += CHUNK) {
        size_t size = picture->size - at < CHUNK ? picture->size - at : CHUNK;
        int more = at + size < picture->size;
        if (at == 0)
            snprintf(keys, sizeof(keys), "a=T,U=1,f=100,i=%u,c=%d,r=%d,q=2,m=%d",
                     number_of(kitty, index), picture->columns, (int)picture->rows, more);
        else
            snprintf(keys, sizeof(keys), "q=2,m=%d", more);
        add_command(kitty, &out, keys, png + at, size);
    }
    screen_send(graphics->screen, out.data, out.size);
    strbuf_free(&out);
}

static struct kitty_image *give(struct graphics *graphics, const struct block_picture *picture)
{
    struct kitty *kitty = &graphics->kitty;
    uint32_t width, height;
    if (picture->size > PICTURE_BYTES_MAX || picture->columns > MARKS || picture->rows > MARKS ||
        !image_size(picture->png, picture->size, &width, &height))
        return NULL;
    uint64_t bytes = (uint64_t)width * height * 4;
    if (bytes > KEPT_MAX || !make_room(graphics, bytes))
        return NULL;
    while (is_used(kitty, kitty->next))
        kitty->next = kitty->next < INDEX_MIN + INDEXES - 1 ? kitty->next + 1 : INDEX_MIN;
    uint32_t index = kitty->next;
    kitty->next = index < INDEX_MIN + INDEXES - 1 ? index + 1 : INDEX_MIN;
    kitty->images = xgrow(kitty->images, kitty->count, &kitty->capacity, sizeof(*kitty->images));
    kitty->images[kitty->count] = (struct kitty_image){
        picture->id, picture->columns, (int)picture->rows, index, bytes, graphics->frame};
    kitty->bytes += bytes;
    kitty->count++;
    prepare_rescue(kitty);
    send_picture(graphics, picture, index);
    return &kitty->images[kitty->count - 1];
}

static struct kitty_image *find(struct kitty *kitty, const struct block_picture *picture)
{
    for (size_t i = 0; i < kitty->count; i++) {
        struct kitty_image *image = &kitty->images[i];
        if (image->picture == picture->id && image->columns == picture->columns &&
            image->rows == (int)picture->rows)
            return image;
    }
    return NULL;
}

void kitty_sweep(struct graphics *graphics, bool (*alive)(void *context, uint64_t id),
                 void *context)
{
    for (size_t i = graphics->kitty.count; i-- > 0;) {
        if (!alive(context, graphics->kitty.images[i].picture))
            take_back(graphics, i);
    }
    prepare_rescue(&graphics->kitty);
}

void kitty_leave(struct graphics *graphics)
{
    while (graphics->kitty.count)
        take_back(graphics, graphics->kitty.count - 1);
    prepare_rescue(&graphics->kitty);
}

/*
 * ---- drawing
 * -------------------------------------------------------------------------------------
 */

void kitty_row(struct graphics *graphics, const struct block_picture *picture, size_t row, int left,
               int screen_row, int screen_column, int columns)
{
    struct kitty_image *image = find(&graphics->kitty, picture);
    if (!image)
        image = give(graphics, picture);
    if (!image)
        return;
    image->frame = graphics->frame;
    int end = picture->columns - left < columns ? picture->columns - left : columns;
    struct block_cell cell = {
        .characters = {PLACEHOLDER, mark_of((int)row), 0, mark_of((int)graphics->kitty.base)},
        .width = 1,
        .style = {BLOCK_INDEX | image->index, 0, 0}};
    for (int i = 0; i < end; i++) {
        cell.characters[2] = mark_of(left + i);
        screen_cells(graphics->screen, screen_row, screen_column + i, &cell, 1);
    }
}
