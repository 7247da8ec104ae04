/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "junit.h"

#include <stdlib.h>
#include <string.h>

#include "utf8.h"
#include "xalloc.h"

struct junit_case *junit_add(struct junit *junit)
{
    junit->cases = xgrow(junit->cases, junit->count, &junit->capacity, sizeof(*junit->cases));
    struct junit_case *added = &junit->cases[junit->count++];
    memset(added, 0, sizeof(*added));
    return added;
}

void junit_free(struct junit *junit)
{
    for (size_t i = 0; i < junit->count; i++) {
        free(junit->cases[i].name);
        free(junit->cases[i].type);
        free(junit->cases[i].message);
        free(junit->cases[i].text);
        free(junit->cases[i].output);
    }
    free(junit->cases);
    *junit = (struct junit){NULL, 0, 0};
}

/* What XML 1.0 allows; the rest is left out. */
static bool is_xml(uint32_t code)
{
    return code == '\t' || code == '\n' || code == '\r' || (code >= 0x20 && code <= 0x7E) ||
           (code >= 0x85 && code <= 0xD7FF && (code == 0x85 || code >= 0xA0)) ||
           (code >= 0xE000 && code <= 0xFFFD) || (code >= 0x10000 && code <= 0x10FFFF);
}

static void add_xml(struct strbuf *out, const char *text, bool attribute)
{
    size_t size = strlen(text);
    for (size_t at = 0; at < size;) {
        uint32_t code;
        size_t length = utf8_decode(text + at, size - at, &code);
        if (!length || code == UINT32_MAX)
            strbuf_adds(out, "\xEF\xBF\xBD");
        else if (code == '&')
            strbuf_adds(out, "&amp;");
        else if (code == '<')
            strbuf_adds(out, "&lt;");
        else if (code == '>')
            strbuf_adds(out, "&gt;");
        else if (code == '\r' || (attribute && (code == '"' || code == '\n' || code == '\t')))
            strbuf_addf(out, "&#%u;", (unsigned)code);
        else if (is_xml(code))
            strbuf_add(out, text + at, length);
        at += length ? length : size - at;
    }
}

static void add_attribute(struct strbuf *out, const char *name, const char *value)
{
    strbuf_addf(out, " %s=\"", name);
    add_xml(out, value ? value : "", true);
    strbuf_addc(out, '"');
}

static void add_verdict(struct strbuf *out, const struct junit_case *one)
{
    const char *element = one->verdict == JUNIT_FAILED  ? "failure"
                          : one->verdict == JUNIT_ERROR ? "error"
                                                        : "skipped";
    strbuf_addf(out, "\n      <%s", element);
    if (one->verdict != JUNIT_SKIPPED)
        add_attribute(out, "type", one->type);
    add_attribute(out, "message", one->message);
    if (one->text) {
        strbuf_addc(out, '>');
        add_xml(out, one->text, false);
        strbuf_addf(out, "</%s>", element);
    } else {
        strbuf_adds(out, "/>");
    }
    if (one->output && one->output[0]) {
        strbuf_adds(out, "\n      <system-out>");
        add_xml(out, one->output, false);
        strbuf_adds(out, "</system-out>");
    }
    strbuf_adds(out, "\n    ");
}

static size_t count_verdict(const struct junit *junit, enum junit_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < junit->count; i++)
        count += junit->cases[i].verdict == verdict;
    return count;
}

void junit_write(struct strbuf *out, const struct junit *junit, const char *suite,
                 const char *timestamp, double seconds)
{
    struct strbuf counts = STRBUF_INIT;
    strbuf_addf(&counts,
                " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\"",
                junit->count, count_verdict(junit, JUNIT_FAILED), count_verdict(junit, JUNIT_ERROR),
                count_verdict(junit, JUNIT_SKIPPED), seconds);
    strbuf_addf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites%s>\n  <testsuite",
                strbuf_text(&counts));
    add_attribute(out, "name", suite);
    strbuf_adds(out, strbuf_text(&counts));
    add_attribute(out, "timestamp", timestamp);
    strbuf_adds(out, ">\n");
    for (size_t i = 0; i < junit->count; i++) {
        const struct junit_case *one = &junit->cases[i];
        strbuf_adds(out, "    <testcase");
        add_attribute(out, "classname", suite);
        add_attribute(out, "name", one->name);
        strbuf_addf(out, " time=\"%.3f\">", one->seconds);
        if (one->verdict != JUNIT_PASSED)
            add_verdict(out, one);
        strbuf_adds(out, "</testcase>\n");
    }
    strbuf_adds(out, "  </testsuite>\n</testsuites>\n");
    strbuf_free(&counts);
}
