/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as what a terminal sends, in pieces, through the tokeniser into the editor. A byte 0xFF
 * is no key: the one after it says what happens between two reads.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "edit-player.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    setenv("INPUTRC", "/dev/null", 1);
    struct player *player = player_new();
    while (size) {
        const uint8_t *end = memchr(data, 0xFF, size);
        size_t piece = end ? (size_t)(end - data) : size;
        player_play(player, (const char *)data, piece);
        data += piece;
        size -= piece;
        if (size < 2)
            break;
        if (data[1] == 'v')
            player_toggle_vi(player);
        else
            player_late(player);
        data += 2;
        size -= 2;
    }
    player_late(player);
    player_free(player);
    return 0;
}
