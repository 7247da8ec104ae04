/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --on-error interactive: while cells run their terminal gets what is typed at ours; at a failure
 * the run becomes what a prompt can go on with.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "batch-internal.h"
#include "outputs.h"
#include "xalloc.h"

#define WAIT_MS 100

static struct termios before;
static bool changed;

/* The cell's own terminal edits lines and shows what is typed; signals stay ours. */
void batch_terminal_open(struct batch *batch)
{
    struct termios mode;
    if (!batch->options->rest || tcgetattr(STDIN_FILENO, &before) < 0)
        return;
    mode = before;
    mode.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    mode.c_cc[VMIN] = 1;
    mode.c_cc[VTIME] = 0;
    changed = tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0;
}

void batch_terminal_close(struct batch *batch)
{
    (void)batch;
    if (changed)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
    changed = false;
}

void batch_terminal_set_up(struct batch *batch)
{
    struct winsize size = {0, 0, 0, 0};
    if (!batch->options->rest)
        return;
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    batch->setup.io = HERMES_IO_TTY;
    batch->setup.stdin_source = HERMES_STDIN_NONE;
    batch->setup.requests = true; /* the prompt's completion asks this kernel */
    batch->setup.terminal = getenv("TERM");
    batch->setup.columns = size.ws_col;
    batch->setup.rows = size.ws_row;
}

void batch_terminal_wait(struct batch *batch, int64_t wait_ms)
{
    struct hermes_error error = {0, 0, ""};
    char bytes[4096];
    struct pollfd fds[] = {{hermes_event_fd(batch->engine), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    bool running = batch->current && batch->started && !batch->settled && batch->kernel;
    if (wait_ms < 0 || wait_ms > WAIT_MS)
        wait_ms = WAIT_MS; /* a signal wakes the engine's wait, not this one */
    if (poll(fds, running ? 2 : 1, (int)wait_ms) <= 0 || !running || !fds[1].revents)
        return;
    ssize_t size = read(STDIN_FILENO, bytes, sizeof(bytes));
    if (size > 0)
        (void)hermes_input(batch->engine, batch->kernel, bytes, (size_t)size, &error);
    else if (size == 0 || (errno != EINTR && errno != EAGAIN))
        batch_stop_with(batch, BATCH_STOP_SIGNAL, 129); /* the terminal is gone */
}

/* ---- handing over --------------------------------------------------------------------------- */

void batch_note_failure(struct batch *batch, const struct hermes_result *result)
{
    struct rest *rest = batch->options->rest;
    struct strbuf name = STRBUF_INIT;
    if (!rest || result->outcome != HERMES_ERROR || result->start_failed)
        return;
    struct error_name error =
        outputs_error_name(result->error ? result->error : "", result->error_size);
    free(rest->remark);
    rest->remark = xasprintf("%s failed: %.*s", batch_cell_name(batch, batch->current, &name),
                             (int)(error.name_size < 100 ? error.name_size : 100), error.name);
    rest->next_number = (unsigned)batch->current->number + 1;
    rest->wanted = !result->ended;
    strbuf_free(&name);
}

bool batch_hands_over(const struct batch *batch)
{
    return batch->options->rest && batch->options->rest->wanted && batch->stop == BATCH_STOP_FAILED;
}

static char *take(char **text)
{
    char *taken = *text;
    *text = NULL;
    return taken;
}

/* The last thing before the run is freed. */
void batch_hand_over(struct batch *batch)
{
    struct rest *rest = batch->options->rest;
    if (!rest || !batch_hands_over(batch)) {
        if (rest && batch->stop == BATCH_STOP_FAILED && batch->kernel == 0)
            batch_say(batch, false, "the kernel is gone: no prompt is opened");
        if (rest)
            rest->wanted = false;
        return;
    }
    rest->session = batch_session(batch);
    for (size_t i = 0; i < batch->item_count; i++) {
        const struct batch_item *item = &batch->items[i];
        if (!item->number || batch->records[item->cell].fate != FATE_NOT_RUN)
            continue;
        rest->cells = xgrow(rest->cells, rest->count, &rest->capacity, sizeof(*rest->cells));
        rest->cells[rest->count++] = (struct rest_cell){item->cell, item->number};
    }
    rest->label = xstrdup(batch->label);
    rest->script = take(&batch->script);
    rest->file_name = take(&batch->file_name);
    rest->path0 = take(&batch->path0);
    rest->argv = batch->options->argv;
    for (size_t i = 0; i < batch->document.count; i++)
        outputs_free(&batch->records[i].outputs);
    free(batch->records);
    batch->records = NULL;
    rest->document = batch->document;
    batch->document = (struct document){.count = 0};
}
