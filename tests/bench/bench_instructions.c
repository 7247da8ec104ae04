/* SPDX-License-Identifier: MIT */
/*
 * Fixed work of the host, without a process of Python but for the last, to be run under callgrind:
 * instructions.py counts what scenario_run() takes.
 *
 *   bench_instructions NAME    run it
 *   bench_instructions         print the names, each in a line
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "buf.h"
#include "collector.h"
#include "document.h"
#include "hermes-kernel.h"
#include "key.h"
#include "notebook.h"
#include "percent.h"
#include "redact-rules.h"
#include "text.h"
#include "wire.h"

enum { TEXT_SIZE = 4 << 20, CHUNK = 65536, KEY_ROUNDS = 4000 };

static struct hr_buf text;
static struct hermes_engine *engine;

static void need(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "bench_instructions: %s\n", what);
    exit(1);
}

/* ---- texts ------------------------------------------------------------------------------ */

static void make_log(void)
{
    for (unsigned i = 0; text.size < TEXT_SIZE; i++)
        hr_buf_printf(&text,
                      "2026-11-30 13:%02u:%02u,%03u INFO worker[%u] path=/api/v1/items/%u?page=%u "
                      "status=200 took=%u.%02ums\n",
                      i / 60 % 60, i % 60, i % 1000, i % 17, i, i % 9, i % 50, i % 100);
}

static void make_narrow_log(void)
{
    make_log();
    hr_redact_set_wide(false);
}

static void make_letters(void)
{
    while (text.size < TEXT_SIZE)
        hr_buf_printf(&text, "%099d\n", 7);
}

static void make_colours(void)
{
    for (unsigned i = 0; text.size < TEXT_SIZE / 4; i++)
        hr_buf_printf(&text,
                      "\x1b[32mok\x1b[0m t\xc3\xa9st_%u \xe2\x80\xa6 \x1b[1;31mfail\x1b[0m\n", i);
}

static void make_lines(void)
{
    for (unsigned i = 0; i < 100000; i++)
        hr_buf_printf(&text, "line %u\n", i);
}

static void make_bar(void)
{
    for (unsigned i = 0; i < 20000; i++)
        hr_buf_printf(&text, "\r%3u%%|%-20.*s| %u/20000 [00:01<00:02, \x1b[36m%u\x1b[0m it/s]",
                      i / 200, (int)(i / 1000), "####################", i, i % 977);
}

static void make_percent(void)
{
    for (unsigned i = 0; i < 10000; i++)
        hr_buf_printf(&text, "# %%%% title %u tags=[\"a\"]\nx%u = [\n    %u,\n]\nprint(x%u)\n", i,
                      i, i, i);
}

static void make_notebook(void)
{
    hr_buf_add_text(&text,
                    "{\"nbformat\": 4, \"nbformat_minor\": 5, \"metadata\": {}, \"cells\": [");
    for (unsigned i = 0; i < 5000; i++)
        hr_buf_printf(&text,
                      "%s{\"cell_type\": \"code\", \"id\": \"c%u\", \"metadata\": {}, "
                      "\"execution_count\": %u, \"source\": [\"x = %u\\n\", \"print(x)\"], "
                      "\"outputs\": [{\"output_type\": \"stream\", \"name\": \"stdout\", "
                      "\"text\": [\"%u\\n\"]}]}",
                      i ? ", " : "", i, i, i, i);
    hr_buf_add_text(&text, "]}");
}

static void make_frames(void)
{
    char header[HR_FRAME_HEADER_SIZE], body[100] = {0};

    for (unsigned i = 0; i < 50000; i++) {
        hr_frame_header(header, HR_FRAME_DISPLAY, 0, sizeof body, i);
        hr_buf_add(&text, header, sizeof header);
        hr_buf_add(&text, body, sizeof body);
    }
}

static void make_keys(void)
{
    for (unsigned i = 0; i < KEY_ROUNDS; i++)
        hr_buf_add_text(&text, "print(x)\r\x1b[A\x1b[1;5C\x02\x1bOP\xc3\xa9\x1b[<0;10;5M");
}

static void run_cell(void)
{
    struct hermes_cell cell = HERMES_CELL_INIT;
    struct hermes_result *result;
    struct hermes_error error;

    cell.session = "bench";
    cell.python = getenv("BENCH_PYTHON");
    cell.code = "x=1";
    need(hermes_execute(engine, &cell, &result, &error) == HERMES_OK, error.text);
    need(result->outcome == HERMES_SUCCESS, result->error);
    hermes_result_free(result);
}

static void start_kernel(void)
{
    struct hermes_error error;

    need(hermes_engine_new(&engine, &error) == HERMES_OK, error.text);
    for (int i = 0; i < 20; i++)
        run_cell();
}

/* ---- work ------------------------------------------------------------------------------- */

static void collect(bool redact)
{
    struct hr_collector_options options = {.limit_bytes = 50000, .redact = redact};
    struct hr_collector *collector = hr_collector_new(&options);
    struct hr_collected collected;

    for (size_t at = 0; at < text.size; at += CHUNK)
        hr_collector_feed(collector, text.data + at,
                          text.size - at < CHUNK ? text.size - at : CHUNK);
    need(hr_collector_finish(collector, &collected), "no memory");
    hr_collected_done(&collected);
    hr_collector_free(collector);
}

static void work_redact(void)
{
    collect(true);
}

static void work_clean(void)
{
    collect(false);
}

static void work_json(void)
{
    struct hr_buf out;

    hr_buf_init(&out, 0);
    need(hr_json_add_string(&out, text.data, text.size), "no memory");
    hr_buf_done(&out);
}

static void work_block(void)
{
    struct block *block = block_new(0);

    block_resize(block, 100, 40);
    for (size_t at = 0; at < text.size; at += 4096)
        block_write(block, text.data + at, text.size - at < 4096 ? text.size - at : 4096);
    block_free(block);
}

static void work_percent(void)
{
    struct document document = {0};

    percent_read(text.data, text.size, &document);
    need(document.count >= 10000, "not all cells were read");
    document_free(&document);
}

static void work_notebook(void)
{
    struct document document = {0};
    struct strbuf error = {0};

    need(notebook_read(text.data, text.size, &document, &error), "the notebook was not read");
    need(document.count == 5000, "not all cells were read");
    document_free(&document);
}

static void work_frames(void)
{
    struct hr_frame frame;
    const char *fault = NULL;
    ssize_t used;

    for (size_t at = 0; at < text.size; at += (size_t)used)
        need((used = hr_frame_decode(text.data + at, text.size - at, &frame, &fault)) > 0, fault);
}

static void work_keys(void)
{
    struct keys *keys = keys_new();
    struct key key;
    unsigned count = 0;

    for (size_t at = 0; at < text.size; at += 16) {
        keys_feed(keys, text.data + at, text.size - at < 16 ? text.size - at : 16);
        while (keys_next(keys, false, &key))
            count++;
    }
    need(count >= 14 * KEY_ROUNDS, "not all keys were read");
    keys_free(keys);
}

static void work_cells(void)
{
    for (int i = 0; i < 200; i++)
        run_cell();
}

static const struct scenario {
    const char *name;
    void (*make)(void), (*work)(void);
} scenarios[] = {
    {"redact-log", make_log, work_redact},
    {"redact-log-by-bytes", make_narrow_log, work_redact},
    {"redact-letters", make_letters, work_redact},
    {"clean-colours", make_colours, work_clean},
    {"json-string", make_log, work_json},
    {"block-lines", make_lines, work_block},
    {"block-progress-bar", make_bar, work_block},
    {"percent-cells", make_percent, work_percent},
    {"notebook-cells", make_notebook, work_notebook},
    {"frames", make_frames, work_frames},
    {"keys", make_keys, work_keys},
    {"warm-cells", start_kernel, work_cells},
};

/* Callgrind counts what happens in here. */
void scenario_run(const struct scenario *scenario);

__attribute__((noinline)) void scenario_run(const struct scenario *scenario)
{
    scenario->work();
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        if (argc < 2) {
            puts(scenarios[i].name);
        } else if (strcmp(argv[1], scenarios[i].name) == 0) {
            hr_buf_init(&text, 0);
            scenarios[i].make();
            need(!text.failed, "no memory");
            scenario_run(&scenarios[i]);
            hr_buf_done(&text);
            hermes_engine_free(engine);
            return 0;
        }
    }
    return argc < 2 ? 0 : 2;
}
