/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "last-words.h"

#include <poll.h>
#include <stdbool.h>
#include <termios.h>
#include <unistd.h>

static bool has_room(int fd)
{
    struct pollfd writable = {.fd = fd, .events = POLLOUT};
    return poll(&writable, 1, 0) > 0 && (writable.revents & POLLOUT);
}

/* Byte by byte: a terminal calls itself writable when there is room for one, and waits for more. */
void last_words(int fd, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (!has_room(fd) && (tcflush(fd, TCOFLUSH) < 0 || !has_room(fd)))
            return;
        if (write(fd, text + i, 1) != 1)
            return;
    }
}
