/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "session-name.h"

#include <ctype.h>
#include <string.h>

#include "utf8.h"

#define NAME_BYTES_MAX 64

bool session_name_check(const char *name, struct strbuf *error)
{
    size_t size = strlen(name);
    if (!size || size > NAME_BYTES_MAX || !utf8_check(name, size, NULL)) {
        strbuf_setf(error, "a session's name has 1 to %d bytes of UTF-8", NAME_BYTES_MAX);
        return false;
    }
    if (strstr(name, "::")) {
        strbuf_setf(error, "a session's name may not hold '::': %s", name);
        return false;
    }
    for (const char *c = name; *c; c++) {
        if (iscntrl((unsigned char)*c) || *c == ' ' || *c == '/') {
            strbuf_setf(error,
                        "a session's name may not hold spaces, slashes and control characters");
            return false;
        }
    }
    return true;
}
