/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read_file: a page of lines of a text file. Reads to the end for the number of lines, in pieces,
 * whatever the size.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json-write.h"
#include "tool-arguments.h"
#include "tool-file.h"
#include "tool.h"
#include "utf8.h"
#include "xalloc.h"

enum {
    LINES_MAX = 2000,
    LINE_BYTES_MAX = 2000,
    CONTENT_BYTES_MAX = 100000,
    BLOCK = 65536,
    SNIFF = 8192
};

struct page {
    int64_t first, count; /* wanted */
    int64_t line;         /* that is being read; 1-based */
    struct strbuf text;   /* of it, as far as it is kept */
    bool line_cut;
    struct strbuf content;
    int64_t taken;
    int64_t lines_cut;
    bool full; /* no room for more */
    bool malformed;
};

/* Append at most as many bytes of text as are kept of a line. */
static void keep(struct page *page, const char *text, size_t size)
{
    if (page->full || page->line < page->first || page->line >= page->first + page->count)
        return;
    size_t room = LINE_BYTES_MAX + 4 - page->text.size;
    page->line_cut = page->line_cut || size > room;
    strbuf_add(&page->text, text, size < room ? size : room);
}

static void end_line(struct page *page)
{
    struct strbuf *text = &page->text;
    if (!page->full && page->line >= page->first && page->line < page->first + page->count) {
        if (text->size && !page->line_cut && text->data[text->size - 1] == '\r')
            text->size--;
        bool cut = page->line_cut || text->size > LINE_BYTES_MAX;
        size_t size =
            cut ? LINE_BYTES_MAX - utf8_partial_tail(text->data, LINE_BYTES_MAX) : text->size;
        if (page->content.size + size > CONTENT_BYTES_MAX && page->taken) {
            page->full = true;
        } else {
            page->malformed = page->malformed || !utf8_check(strbuf_text(text), size, NULL);
            strbuf_addf(&page->content, "%s%lld|", page->taken ? "\n" : "", (long long)page->line);
            strbuf_add(&page->content, strbuf_text(text), size);
            strbuf_adds(&page->content, cut ? "... [truncated]" : "");
            page->taken++;
            page->lines_cut += cut;
        }
    }
    page->line++;
    page->line_cut = false;
    strbuf_clear(text);
}

/* False: error has one line. */
static bool read_pages(const struct tool_context *context, struct page *page, int fd,
                       const char *name, int64_t *ret_size, struct strbuf *error)
{
    char *block = xmalloc(BLOCK);
    bool open_line = false;
    const char *kind = NULL;
    ssize_t size;
    *ret_size = 0;
    while ((size = read(fd, block, BLOCK)) != 0) {
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0 || tool_cancelled(context))
            break;
        if (*ret_size == 0 && (kind = tool_binary_kind(block, size < SNIFF ? (size_t)size : SNIFF)))
            break;
        *ret_size += size;
        for (const char *at = block, *end = block + size; at < end;) {
            const char *newline = memchr(at, '\n', (size_t)(end - at));
            keep(page, at, (size_t)((newline ? newline : end) - at));
            open_line = !newline;
            if (newline)
                end_line(page);
            at = newline ? newline + 1 : end;
        }
    }
    if (kind)
        strbuf_setf(error, "%s is %s, not UTF-8 text; use Python or terminal() to look into it",
                    name, kind);
    else if (size < 0)
        strbuf_setf(error, "cannot read %s: %s", name, strerror(errno));
    else if (size > 0)
        strbuf_setf(error, "cancelled");
    else if (open_line)
        end_line(page);
    free(block);
    return !kind && size == 0;
}

static void report(const struct page *page, const char *name, int64_t size,
                   struct strbuf *result_json)
{
    int64_t total = page->line - 1, next = page->first + page->taken;
    strbuf_adds(result_json, "{\"content\": ");
    json_add_string(result_json, strbuf_text(&page->content), page->content.size);
    strbuf_addf(result_json,
                ", \"total_lines\": %lld, \"file_size\": %lld, \"truncated\": %s, \"path\": ",
                (long long)total, (long long)size, next <= total ? "true" : "false");
    json_add_text(result_json, name);
    if (page->lines_cut)
        strbuf_addf(result_json, ", \"lines_cut\": %lld", (long long)page->lines_cut);
    if (page->malformed)
        strbuf_adds(result_json,
                    ", \"warning\": \"not all of it is UTF-8; such bytes are shown as U+FFFD\"");
    if (next <= total && page->taken)
        strbuf_addf(result_json,
                    ", \"next_offset\": %lld, \"hint\": \"lines %lld to %lld of %lld; go on with "
                    "offset=%lld\"",
                    (long long)next, (long long)page->first, (long long)(next - 1),
                    (long long)total, (long long)next);
    else if (page->first > total && page->first > 1)
        strbuf_addf(result_json, ", \"hint\": \"the file has only %lld lines\"", (long long)total);
    strbuf_adds(result_json, "}");
}

void tool_read_file(const struct tool_context *context, const cJSON *arguments,
                    struct strbuf *result_json)
{
    const char *name = NULL;
    struct page page = {.first = 1, .count = 500, .line = 1};
    const struct argument table[] = {
        {"path", ARGUMENT_TEXT, true, {.text = &name}, 0, -1},
        {"offset", ARGUMENT_INTEGER, false, {.integer = &page.first}, 1, INT64_MAX},
        {"limit", ARGUMENT_INTEGER, false, {.integer = &page.count}, 1, INT64_MAX},
        {NULL, ARGUMENT_TEXT, false, {NULL}, 0, -1},
    };
    struct strbuf error = STRBUF_INIT;
    struct stat status;
    int64_t size;
    if (!arguments_read(arguments, table, &error)) {
        tool_error(result_json, "read_file: %s", strbuf_text(&error));
        strbuf_free(&error);
        return;
    }
    if (page.count > LINES_MAX)
        page.count = LINES_MAX;
    char *path = tool_path(context, name);
    int fd = tool_open(path, name, &status, &error);
    if (fd >= 0 && read_pages(context, &page, fd, name, &size, &error))
        report(&page, name, size, result_json);
    else
        tool_error(result_json, "%s", strbuf_text(&error));
    if (fd >= 0)
        close(fd);
    free(path);
    strbuf_free(&page.text);
    strbuf_free(&page.content);
    strbuf_free(&error);
}
