/* SPDX-License-Identifier: MIT */
/*
 * What terminals that draw pictures would understand of a program's bytes: commands of kitty's
 * protocol, and sixels as pixels.
 */
#ifndef GRAPHICS_TESTLIB_H
#define GRAPHICS_TESTLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One command, its data put together from all its pieces. */
struct kitty_command {
    char keys[128]; /* of the first piece */
    unsigned char *data;
    size_t size;
    size_t pieces, largest; /* the longest piece of data, in letters */
};

/* Commands other than queries, from *at on; false: there are no more. free(data). */
bool kitty_command_next(const char *bytes, size_t size, size_t *at, struct kitty_command *ret);
/* The number of a key; -1: it has none. */
long kitty_key(const struct kitty_command *command, char key);

struct sixel_picture {
    int row, column; /* where the cursor was put, from 0 */
    int width, height;
    int registers;    /* the colours that it defines */
    uint32_t *pixels; /* 0xRRGGBB; UINT32_MAX: not drawn */
};

/* The next picture from *at on. free(pixels). Fails the test on what is no sixel. */
bool sixel_picture_next(const char *bytes, size_t size, size_t *at, struct sixel_picture *ret);

#endif
