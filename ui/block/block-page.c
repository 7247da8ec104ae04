/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "block-page.h"

#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

/* ---- numbers and styles as bytes ------------------------------------------------------------ */

static size_t number_encode(uint8_t *out, uint32_t value)
{
    size_t size = 0;
    while (value >= 0x80) {
        out[size++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    out[size++] = (uint8_t)value;
    return size;
}

static uint32_t number_decode(const uint8_t **at)
{
    uint32_t value = **at;
    if (value < 0x80) {
        ++*at;
        return value;
    }
    value &= 0x7F;
    for (unsigned shift = 7; *(*at)++ & 0x80; shift += 7)
        value |= (uint32_t)(**at & 0x7F) << shift;
    return value;
}

bool style_equal(const struct block_style *a, const struct block_style *b)
{
    return a->foreground == b->foreground && a->background == b->background &&
           a->attributes == b->attributes;
}

bool style_is_plain(const struct block_style *style)
{
    return !style->background &&
           !(style->attributes & (BLOCK_REVERSE | BLOCK_UNDERLINE | BLOCK_STRIKE));
}

static size_t colour_encode(uint8_t *out, uint32_t colour)
{
    switch (colour >> 24) {
    case 0:
        return 0;
    case 1:
        out[0] = (uint8_t)colour;
        return 1;
    default:
        out[0] = (uint8_t)(colour >> 16);
        out[1] = (uint8_t)(colour >> 8);
        out[2] = (uint8_t)colour;
        return 3;
    }
}

static uint32_t colour_decode(const uint8_t **at, unsigned kind)
{
    const uint8_t *bytes = *at;
    switch (kind) {
    case 0:
        return 0;
    case 1:
        *at += 1;
        return BLOCK_INDEX | bytes[0];
    default:
        *at += 3;
        return BLOCK_RGB | (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];
    }
}

/* Distance; a byte with the kinds of the colours (2 bits each) and "has attributes"; these. */
size_t run_encode(uint8_t *out, uint32_t distance, const struct block_style *style)
{
    size_t size = number_encode(out, distance);
    out[size++] = (uint8_t)(style->foreground >> 24 | style->background >> 24 << 2 |
                            (style->attributes ? 1u << 4 : 0));
    size += colour_encode(out + size, style->foreground);
    size += colour_encode(out + size, style->background);
    if (style->attributes)
        out[size++] = (uint8_t)style->attributes;
    return size;
}

void runs_start(struct run_reader *reader, const struct line_view *view)
{
    *reader = (struct run_reader){.at = view->runs, .end = view->runs, .next = UINT32_MAX};
    if (!view->runs_size)
        return;
    reader->end += view->runs_size;
    reader->next = number_decode(&reader->at);
}

void runs_to(struct run_reader *reader, uint32_t offset)
{
    while (reader->next <= offset) {
        unsigned kinds = *reader->at++;
        reader->style.foreground = colour_decode(&reader->at, kinds & 3);
        reader->style.background = colour_decode(&reader->at, kinds >> 2 & 3);
        reader->style.attributes = kinds & 1u << 4 ? *reader->at++ : 0;
        if (reader->at < reader->end)
            reader->next += number_decode(&reader->at);
        else
            reader->next = UINT32_MAX;
    }
}

/* ---- pages ---------------------------------------------------------------------------------- */

enum { OFFSET_BYTES = sizeof(uint32_t), HEADER_BYTES = 1 + 3 * 5 };

void pages_init(struct pages *pages, size_t limit)
{
    size_t page_bytes = limit / 64;
    *pages = (struct pages){.limit = limit};
    pages->page_bytes = page_bytes < 1024 ? 1024 : page_bytes > 16384 ? 16384 : page_bytes;
}

void pages_free(struct pages *pages)
{
    for (size_t i = 0; i < pages->count; i++)
        free(pages->list[i]);
    free(pages->list);
    pages->list = NULL;
    pages->count = pages->capacity = pages->bytes = 0;
}

static size_t page_size(const struct page *page)
{
    return sizeof(*page) + page->capacity;
}

static struct page *page_with_room(struct pages *pages, size_t need)
{
    struct page *page = pages->count ? pages->list[pages->count - 1] : NULL;
    if (page && page->capacity - page->used >= need + (page->count + 1) * OFFSET_BYTES)
        return page;
    size_t capacity = pages->page_bytes - sizeof(*page);
    if (capacity < need + OFFSET_BYTES)
        capacity = (need + OFFSET_BYTES + 7) & ~(size_t)7;
    page = xmalloc(sizeof(*page) + capacity);
    *page = (struct page){.first = pages->next, .capacity = (uint32_t)capacity, .columns = -1};
    pages->list = xgrow(pages->list, pages->count, &pages->capacity, sizeof(*pages->list));
    pages->list[pages->count++] = page;
    pages->bytes += page_size(page);
    return page;
}

void pages_add(struct pages *pages, const struct line_view *view)
{
    size_t need = HEADER_BYTES + (size_t)view->size + view->runs_size;
    struct page *page = page_with_room(pages, need);
    uint8_t *start = page->bytes + page->used, *at = start;
    uint32_t offset = page->used;
    *at++ = view->flags;
    at += number_encode(at, view->size);
    at += number_encode(at, view->runs_size);
    if (!(view->flags & LINE_ASCII))
        at += number_encode(at, view->width);
    if (view->size)
        memcpy(at, view->text, view->size);
    at += view->size;
    if (view->runs_size)
        memcpy(at, view->runs, view->runs_size);
    at += view->runs_size;
    page->used += (uint32_t)(at - start);
    page->count++;
    page->columns = -1;
    memcpy(page->bytes + page->capacity - page->count * OFFSET_BYTES, &offset, OFFSET_BYTES);
    pages->next++;
    pages->changes++;
}

void page_line(const struct page *page, uint32_t index, struct line_view *ret_view)
{
    uint32_t offset;
    memcpy(&offset, page->bytes + page->capacity - (index + 1) * OFFSET_BYTES, OFFSET_BYTES);
    const uint8_t *at = page->bytes + offset;
    ret_view->flags = *at++;
    ret_view->size = number_decode(&at);
    ret_view->runs_size = number_decode(&at);
    ret_view->width = ret_view->flags & LINE_ASCII ? ret_view->size : number_decode(&at);
    ret_view->text = (const char *)at;
    ret_view->runs = at + ret_view->size;
}

/* The pages at the beginning that fit a quarter of the limit. */
static size_t head_pages(const struct pages *pages)
{
    size_t bytes = 0, count = 0;
    while (count < pages->count) {
        bytes += page_size(pages->list[count]);
        if (bytes > pages->limit / 4)
            break;
        count++;
    }
    return count;
}

void pages_enforce(struct pages *pages, size_t others)
{
    if (pages->bytes + others <= pages->limit || !pages->count)
        return;
    if (!pages->dropped)
        pages->head = head_pages(pages);
    size_t end = pages->head;
    while (end < pages->count && pages->bytes + others > pages->limit) {
        struct page *page = pages->list[end++];
        pages->bytes -= page_size(page);
        pages->dropped += page->count;
        free(page);
    }
    memmove(pages->list + pages->head, pages->list + end,
            (pages->count - end) * sizeof(*pages->list));
    pages->count -= end - pages->head;
    pages->changes++;
}

void pages_erase(struct pages *pages)
{
    uint64_t next = pages->next, changes = pages->changes;
    size_t limit = pages->limit;
    pages_free(pages);
    pages_init(pages, limit);
    pages->next = pages->erased = next;
    pages->changes = changes + 1;
}

void pages_trim(struct pages *pages)
{
    if (!pages->count)
        return;
    struct page *page = pages->list[pages->count - 1];
    size_t offsets = page->count * OFFSET_BYTES;
    size_t capacity = page->used + offsets;
    if (capacity == page->capacity)
        return;
    memmove(page->bytes + page->used, page->bytes + page->capacity - offsets, offsets);
    pages->bytes -= page->capacity - capacity;
    page->capacity = (uint32_t)capacity;
    pages->list[pages->count - 1] = xrealloc(page, sizeof(*page) + capacity);
}

/* ---- numbers -------------------------------------------------------------------------------- */

size_t pages_lines(const struct pages *pages)
{
    return (size_t)(pages->next - pages->erased - pages->dropped);
}

/* The first number that was dropped. */
static uint64_t gap_start(const struct pages *pages)
{
    if (!pages->head)
        return pages->erased;
    const struct page *page = pages->list[pages->head - 1];
    return page->first + page->count;
}

size_t pages_gap(const struct pages *pages)
{
    return (size_t)(gap_start(pages) - pages->erased);
}

uint64_t pages_number(const struct pages *pages, size_t kept)
{
    uint64_t number = pages->erased + kept;
    return pages->dropped && number >= gap_start(pages) ? number + pages->dropped : number;
}

size_t pages_kept(const struct pages *pages, uint64_t number)
{
    if (number < pages->erased)
        return 0;
    if (pages->dropped && number >= gap_start(pages)) {
        uint64_t start = gap_start(pages);
        uint64_t behind = number - start;
        return (size_t)(start - pages->erased +
                        (behind > pages->dropped ? behind - pages->dropped : 0));
    }
    return (size_t)(number - pages->erased);
}

const struct page *pages_find(const struct pages *pages, uint64_t number)
{
    size_t low = 0, high = pages->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (pages->list[middle]->first <= number)
            low = middle;
        else
            high = middle;
    }
    return pages->list[low];
}
