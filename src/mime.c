/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "mime.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "text.h"

static bool is_type(const char *type, size_t size, const char *name)
{
    return size == strlen(name) && memcmp(type, name, size) == 0;
}

static bool ends_with(const char *type, size_t size, const char *end)
{
    size_t length = strlen(end);

    return size >= length && memcmp(type + size - length, end, length) == 0;
}

static bool add_base64(struct hr_buf *out, const unsigned char *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    if (!hr_buf_reserve(out, (size + 2) / 3 * 4 + 2))
        return false;
    hr_buf_add(out, "\"", 1);
    for (size_t i = 0; i < size; i += 3) {
        unsigned left = size - i < 3 ? (unsigned)(size - i) : 3;
        unsigned bits = (unsigned)data[i] << 16 | (left > 1 ? (unsigned)data[i + 1] << 8 : 0) |
                        (left > 2 ? data[i + 2] : 0);
        char quad[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                        left > 1 ? digits[bits >> 6 & 63] : '=',
                        left > 2 ? digits[bits & 63] : '='};

        hr_buf_add(out, quad, sizeof quad);
    }
    return hr_buf_add(out, "\"", 1);
}

/* One JSON value in one line, so that a bundle stays one line. */
static bool add_json(struct hr_buf *out, const char *data, size_t size)
{
    const char *end = NULL;
    cJSON *value = cJSON_ParseWithLengthOpts(data, size, &end, 0);
    bool valid = value && hr_utf8_valid(data, size);

    for (; valid && end < data + size; end++)
        valid = strchr(" \t\r\n", *end) != NULL && *end;
    cJSON_Delete(value);
    if (!valid)
        return hr_json_add_string(out, data, size);
    for (size_t i = 0; i < size; i++) /* a raw line end stands only between tokens */
        if (!hr_buf_add(out, data[i] == '\n' || data[i] == '\r' ? " " : data + i, 1))
            return false;
    return true;
}

bool hr_mime_add_value(struct hr_buf *out, const char *type, size_t type_size, const char *data,
                       size_t size)
{
    if (is_type(type, type_size, "application/json") || ends_with(type, type_size, "+json"))
        return add_json(out, data, size);
    if (type_size >= 5 && memcmp(type, "text/", 5) == 0)
        return hr_json_add_string(out, data, size);
    if (is_type(type, type_size, "image/svg+xml") ||
        is_type(type, type_size, "application/javascript"))
        return hr_json_add_string(out, data, size);
    return add_base64(out, (const unsigned char *)data, size);
}
