/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "graphics-testlib.h"

#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * ---- kitty -------------------------------------------------------------------------------------
 */

static int digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    ck_assert_msg(at != NULL, "no base64: %c", c);
    return (int)(at - digits);
}

static void add_base64(struct kitty_command *command, const char *text, size_t size)
{
    ck_assert_uint_eq(size % 4, 0);
    command->data = realloc(command->data, command->size + size + 1);
    for (size_t i = 0; i < size; i += 4) {
        int bits = digit(text[i]) << 18 | digit(text[i + 1]) << 12;
        size_t count = text[i + 2] == '=' ? 1 : text[i + 3] == '=' ? 2 : 3;
        bits |= count > 1 ? digit(text[i + 2]) << 6 : 0;
        bits |= count > 2 ? digit(text[i + 3]) : 0;
        for (size_t k = 0; k < count; k++)
            command->data[command->size++] = (unsigned char)(bits >> (16 - 8 * k));
    }
    command->pieces++;
    command->largest = size > command->largest ? size : command->largest;
}

long kitty_key(const struct kitty_command *command, char key)
{
    const char *at = command->keys;
    while (at && *at) {
        if (at[0] == key && at[1] == '=')
            return isdigit((unsigned char)at[2]) ? strtol(at + 2, NULL, 10) : at[2];
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
    return -1;
}

/* One piece; false: there is none. */
static bool next_piece(const char *bytes, size_t size, size_t *at, struct kitty_command *command)
{
    const char *begin = memmem(bytes + *at, size - *at, "\033_G", 3);
    if (!begin)
        return false;
    begin += 3;
    const char *end = memmem(begin, size - (size_t)(begin - bytes), "\033\\", 2);
    if (!end)
        return false;
    const char *data = memchr(begin, ';', (size_t)(end - begin));
    size_t keys = (size_t)((data ? data : end) - begin);
    ck_assert_uint_lt(keys, sizeof(command->keys));
    memcpy(command->keys, begin, keys);
    command->keys[keys] = '\0';
    if (data)
        add_base64(command, data + 1, (size_t)(end - data - 1));
    *at = (size_t)(end - bytes) + 2;
    return true;
}

bool kitty_command_next(const char *bytes, size_t size, size_t *at, struct kitty_command *ret)
{
    do {
        *ret = (struct kitty_command){.data = NULL};
        if (!next_piece(bytes, size, at, ret))
            return false;
    } while (kitty_key(ret, 'a') == 'q' && (free(ret->data), true));
    struct kitty_command first = *ret;
    while (kitty_key(ret, 'm') == 1) {
        ck_assert_msg(next_piece(bytes, size, at, ret), "a picture has no end");
        ck_assert_msg(kitty_key(ret, 'a') < 0, "a command within another: %s", ret->keys);
    }
    memcpy(ret->keys, first.keys, sizeof(first.keys));
    return true;
}

/*
 * ---- sixels
 * -------------------------------------------------------------------------------------------
 */

struct reader {
    const char *at, *end;
};

static int number(struct reader *reader)
{
    int value = 0;
    ck_assert(reader->at < reader->end && isdigit((unsigned char)*reader->at));
    while (reader->at < reader->end && isdigit((unsigned char)*reader->at))
        value = value * 10 + *reader->at++ - '0';
    return value;
}

static size_t numbers(struct reader *reader, int *values, size_t limit)
{
    size_t count = 0;
    do {
        ck_assert_uint_lt(count, limit);
        values[count++] = number(reader);
    } while (reader->at < reader->end && *reader->at == ';' && reader->at++);
    return count;
}

static void draw(struct sixel_picture *picture, int x, int y, int bits, uint32_t colour)
{
    for (int i = 0; i < 6; i++) {
        if (!(bits >> i & 1))
            continue;
        ck_assert_msg(x < picture->width && y + i < picture->height, "a pixel beyond: %d, %d", x,
                      y + i);
        picture->pixels[(y + i) * picture->width + x] = colour;
    }
}

static uint32_t from_percents(const int *percents)
{
    uint32_t rgb = 0;
    for (int i = 0; i < 3; i++) {
        ck_assert_int_le(percents[i], 100);
        rgb = rgb << 8 | (uint32_t)((percents[i] * 255 + 50) / 100);
    }
    return rgb;
}

/* What stands between the size and ST. */
static void read_body(struct reader *reader, struct sixel_picture *picture)
{
    uint32_t colours[256] = {0};
    int x = 0, y = 0, values[8], colour = 0;
    while (reader->at < reader->end) {
        char c = *reader->at++;
        if (c == '#') {
            size_t count = numbers(reader, values, 8);
            ck_assert(values[0] < 256 && (count == 1 || (count == 5 && values[1] == 2)));
            colour = values[0];
            if (count == 5) {
                colours[colour] = from_percents(values + 2);
                picture->registers++;
            }
        } else if (c == '$') {
            x = 0;
        } else if (c == '-') {
            x = 0;
            y += 6;
        } else {
            int run = c == '!' ? number(reader) : 1;
            c = c == '!' ? *reader->at++ : c;
            ck_assert_msg(c >= '?' && c <= '~', "no sixel: %#x", (unsigned)c);
            while (run-- > 0)
                draw(picture, x++, y, c - '?', colours[colour]);
        }
    }
}

/* ESC [ row ; column H, just before. */
static void read_place(const char *bytes, const char *begin, struct sixel_picture *picture)
{
    const char *at = begin;
    picture->row = picture->column = -1;
    while (at > bytes && begin - at < 16 && at[-1] != '\033')
        at--;
    if (sscanf(at, "[%d;%dH", &picture->row, &picture->column) == 2) {
        picture->row--;
        picture->column--;
    }
}

bool sixel_picture_next(const char *bytes, size_t size, size_t *at, struct sixel_picture *ret)
{
    static const char head[] = "\033P0;1;0q\"";
    const char *begin = size ? memmem(bytes + *at, size - *at, head, sizeof(head) - 1) : NULL;
    const char *end =
        begin ? memmem(begin + 2, size - (size_t)(begin - bytes) - 2, "\033\\", 2) : NULL;
    if (!end)
        return false;
    struct reader reader = {begin + sizeof(head) - 1, end};
    int values[4];
    *ret = (struct sixel_picture){.pixels = NULL};
    read_place(bytes, begin, ret);
    ck_assert_uint_eq(numbers(&reader, values, 4), 4);
    ret->width = values[2];
    ret->height = values[3];
    ck_assert(values[0] == 1 && values[1] == 1 && ret->width > 0 && ret->height > 0);
    ret->pixels = malloc((size_t)ret->width * (size_t)ret->height * 4);
    memset(ret->pixels, 0xff, (size_t)ret->width * (size_t)ret->height * 4);
    read_body(&reader, ret);
    *at = (size_t)(end - bytes) + 2;
    return true;
}
