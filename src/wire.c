/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "wire.h"

#include <string.h>
#include <sys/types.h>

uint32_t hr_get_u32(const char *data)
{
    const unsigned char *raw = (const unsigned char *)data;

    return raw[0] | (uint32_t)raw[1] << 8 | (uint32_t)raw[2] << 16 | (uint32_t)raw[3] << 24;
}

static uint64_t get_u64(const char *data)
{
    return hr_get_u32(data) | (uint64_t)hr_get_u32(data + 4) << 32;
}

static void put_little(char *out, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++, value >>= 8)
        out[i] = (char)(value & 0xff);
}

void hr_frame_header(char header[HR_FRAME_HEADER_SIZE], uint8_t type, uint16_t flags,
                     uint32_t body_size, uint64_t id)
{
    header[0] = (char)HR_FRAME_MAGIC;
    header[1] = (char)type;
    put_little(header + 2, flags, 2);
    put_little(header + 4, body_size, 4);
    put_little(header + 8, id, 8);
}

static uint32_t body_limit(uint8_t type)
{
    switch (type) {
    case HR_FRAME_READY:
        return HR_FRAME_READY_MAX;
    case HR_FRAME_REPLY:
        return HR_FRAME_REPLY_MAX;
    case HR_FRAME_DISPLAY:
        return HR_FRAME_DISPLAY_MAX;
    case HR_FRAME_ANSWER:
        return HR_FRAME_ANSWER_MAX;
    case HR_FRAME_KEEP:
        return HR_FRAME_KEEP_MAX;
    default:
        return 0;
    }
}

ssize_t hr_frame_decode(const char *data, size_t size, struct hr_frame *ret, const char **ret_fault)
{
    uint32_t limit;

    if (size && (unsigned char)data[0] != HR_FRAME_MAGIC) {
        *ret_fault = "bytes that are no frame";
        return -1;
    }
    if (size >= 2 && !body_limit((uint8_t)data[1])) {
        *ret_fault = "a frame of an unknown type";
        return -1;
    }
    if (size < HR_FRAME_HEADER_SIZE)
        return 0;
    ret->type = (uint8_t)data[1];
    ret->flags = (uint16_t)((unsigned char)data[2] | (unsigned char)data[3] << 8);
    ret->body_size = hr_get_u32(data + 4);
    ret->id = get_u64(data + 8);
    limit = body_limit(ret->type);
    if (ret->body_size > limit) {
        *ret_fault = "a frame above its size limit";
        return -1;
    }
    if (size - HR_FRAME_HEADER_SIZE < ret->body_size)
        return 0;
    ret->body = data + HR_FRAME_HEADER_SIZE;
    return (ssize_t)HR_FRAME_HEADER_SIZE + (ssize_t)ret->body_size;
}

bool hr_fields_open(struct hr_fields *fields, const char *body, size_t size)
{
    if (size < 4)
        return false;
    fields->left = hr_get_u32(body);
    fields->data = body + 4;
    fields->size = size - 4;
    return true;
}

bool hr_fields_next(struct hr_fields *fields, const char **ret_data, size_t *ret_size)
{
    uint32_t size;

    if (!fields->left || fields->size < 4)
        return false;
    size = hr_get_u32(fields->data);
    if (size > fields->size - 4)
        return false;
    *ret_data = fields->data + 4;
    *ret_size = size;
    fields->data += 4 + size;
    fields->size -= 4 + size;
    fields->left--;
    return true;
}

bool hr_fields_add(struct hr_buf *out, const void *data, size_t size)
{
    return hr_buf_add_u32(out, (uint32_t)size) && hr_buf_add(out, data, size);
}
