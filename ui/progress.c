/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "signals.h"
#include "utf8.h"

#define FIRST_MS 300
#define NEXT_MS 500

int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void put(const char *data, size_t size)
{
    if (signals_impatient())
        return;
    ssize_t ignored = write(STDERR_FILENO, data, size);
    (void)ignored;
}

void progress_init(struct progress *progress, bool wanted)
{
    const char *term = wanted ? getenv("TERM") : NULL;
    *progress = (struct progress){
        .on = wanted && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0, .clean = true};
}

/* At most room columns of text, its control characters left out. */
static void add_fitting(struct strbuf *out, const char *text, size_t size, size_t room)
{
    for (size_t at = 0; at < size;) {
        uint32_t code;
        size_t length = utf8_decode(text + at, size - at, &code), columns = code >= 0x1100 ? 2 : 1;
        if (!length || code == UINT32_MAX || code < 0x20 || (code >= 0x7F && code < 0xA0)) {
            at += length ? length : 1;
            continue;
        }
        if (columns > room)
            break;
        strbuf_add(out, text + at, length);
        room -= columns;
        at += length;
    }
}

void progress_begin(struct progress *progress, size_t number, size_t total, const char *title,
                    size_t title_size)
{
    struct winsize size;
    if (!progress->on)
        return;
    size_t width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
    strbuf_clear(&progress->label);
    strbuf_addf(&progress->label, "[%zu/%zu] ", number, total);
    size_t used = progress->label.size + 14; /* dots and time */
    if (width > used)
        add_fitting(&progress->label, title, title_size, width - used);
    progress->started_ms = now_ms();
    progress->next_ms = progress->started_ms + FIRST_MS;
}

void progress_clear(struct progress *progress)
{
    if (progress->shown)
        put("\r\033[K", 4);
    progress->shown = false;
}

void progress_end(struct progress *progress)
{
    progress_clear(progress);
    progress->started_ms = 0;
}

int64_t progress_tick(struct progress *progress)
{
    if (!progress->on || !progress->started_ms)
        return -1;
    int64_t now = now_ms(), elapsed = now - progress->started_ms;
    if (now < progress->next_ms)
        return progress->next_ms - now;
    progress->next_ms = now + NEXT_MS;
    if (progress->clean) {
        struct strbuf line = STRBUF_INIT;
        strbuf_addf(&line, "\r%s ... %.1f s\033[K", strbuf_text(&progress->label),
                    (double)elapsed / 1000);
        put(line.data, line.size);
        strbuf_free(&line);
        progress->shown = true;
    }
    return NEXT_MS;
}

void progress_wrote(struct progress *progress, int fd, const char *data, size_t size)
{
    if (!progress->on || !size)
        return;
    progress->next_ms = now_ms() + NEXT_MS;
    if (isatty(fd))
        progress->clean = data[size - 1] == '\n';
}

void progress_done(struct progress *progress)
{
    progress_clear(progress);
    strbuf_free(&progress->label);
}
