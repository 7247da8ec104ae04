/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that writes into a store, for the tests that kill it or measure it.
 *
 *   store-writer FILE write SESSION COUNT
 *       begins, settles and flushes cells; prints a line for each that was acknowledged: its number,
 *       and how long it took in us
 *   store-writer FILE fill COUNT
 *       the same many cells in 50 sessions, flushed at the end
 *   store-writer FILE hold SESSION
 *       has the session open until standard input ends
 *   store-writer FILE search TEXT...
 *       prints for each text: matches, the quickest of 5 in us, and the processor time of that one
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store.h"

static long read_clock_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

static long now_us(void)
{
    return read_clock_us(CLOCK_MONOTONIC);
}

static void make_cell(struct store_cell *cell, const char *session, unsigned number, char *source,
                      size_t source_size, char *output, size_t output_size)
{
    static const char *const names[] = {"groupby", "merge", "plot", "concat", "apply", "fillna"};
    size_t size = 0;
    snprintf(source, source_size,
             "df_%u = df.%s('col_%u').agg(%u)\nfor row in range(%u):\n"
             "    print(row, value=%u)\n",
             number, names[number % 6], number % 997, number * 2654435761u, number % 13,
             number * 40503u);
    while (size + 100 < output_size)
        size += (size_t)snprintf(output + size, output_size - size, "%zu  row number %x value %f\n",
                                 size, number * 2654435761u, number / 7.0);
    *cell = (struct store_cell){.session = session,
                                .number = number,
                                .source = source,
                                .source_size = strlen(source),
                                .status = "success",
                                .output = output,
                                .output_size = size};
}

static int write_cells(struct store *store, const char *session, unsigned count)
{
    static char source[512], output[70000];
    struct store_cell cell;
    store_enter(store, session);
    for (unsigned i = 1; i <= count; i++) {
        /* Most outputs are short, some are long. */
        make_cell(&cell, session, i, source, sizeof(source), output, i % 50 ? 400 : sizeof(output));
        long start = now_us();
        int64_t id = store_begin(store, &cell);
        bool begun = store_flush(store, 60000);
        long middle = now_us();
        store_settle(store, id, &cell);
        bool settled = store_flush(store, 60000);
        long end = now_us();
        if (!begun || !settled) {
            char *remark = store_take_remark(store);
            fprintf(stderr, "store-writer: not kept: %s\n", remark ? remark : "");
            free(remark);
            return 1;
        }
        printf("%u %ld %ld\n", i, middle - start, end - middle);
        fflush(stdout);
    }
    return 0;
}

static int fill(struct store *store, unsigned count)
{
    static char source[512], output[512];
    for (unsigned i = 1; i <= count; i++) {
        char session[32];
        struct store_cell cell;
        snprintf(session, sizeof(session), "s%u", i % 50);
        make_cell(&cell, session, i, source, sizeof(source), output, sizeof(output));
        store_settle(store, store_begin(store, &cell), &cell);
        if (i % 1000 == 0 && !store_flush(store, 60000))
            return 1;
    }
    return store_flush(store, 60000) ? 0 : 1;
}

static bool count_cell(void *context, const struct store_cell *cell)
{
    (void)cell;
    ++*(unsigned *)context;
    return true;
}

static int search(struct store *store, char **texts)
{
    for (; *texts; texts++) {
        long quickest = 0, processor = 0;
        unsigned count = 0;
        for (int i = 0; i < 5; i++) {
            count = 0;
            long start = now_us(), spent = read_clock_us(CLOCK_PROCESS_CPUTIME_ID);
            if (!store_search(store, NULL, *texts, 100, count_cell, &count))
                return 1;
            long took = now_us() - start;
            if (i == 0 || took < quickest) {
                quickest = took;
                processor = read_clock_us(CLOCK_PROCESS_CPUTIME_ID) - spent;
            }
        }
        printf("%u %ld %ld\n", count, quickest, processor);
    }
    return 0;
}

/* Have the session open until standard input ends; a byte on standard output says when it is. */
static int hold(struct store *store, const char *session)
{
    char byte;
    store_enter(store, session);
    store_flush(store, 5000);
    bool good = write(STDOUT_FILENO, "", 1) == 1;
    return good && read(STDIN_FILENO, &byte, 1) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    int status = 2;
    if (argc < 4)
        return status;
    struct store *store = store_open(argv[1], STORE_ON);
    if (strcmp(argv[2], "write") == 0 && argc == 5)
        status = write_cells(store, argv[3], (unsigned)strtoul(argv[4], NULL, 10));
    else if (strcmp(argv[2], "hold") == 0)
        status = hold(store, argv[3]);
    else if (strcmp(argv[2], "fill") == 0)
        status = fill(store, (unsigned)strtoul(argv[3], NULL, 10));
    else if (strcmp(argv[2], "search") == 0)
        status = search(store, argv + 3);
    char *remark = store_take_remark(store);
    if (remark)
        fprintf(stderr, "store-writer: %s\n", remark);
    free(remark);
    store_close(store);
    return status;
}
