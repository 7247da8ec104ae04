/* SPDX-License-Identifier: MIT */
/*
 * The one rule that looks at lines: a dumped environment. A value is masked because of the name
 * before it, but only in a block with several such names.
 */
#include "config.h"

#include <string.h>

#include "redact-rules.h"

enum { NAME_SIZE_MAX = 128 };

enum line_kind { LINE_OTHER, LINE_NEUTRAL, LINE_ASSIGNMENT, LINE_MORE };

struct line {
    size_t name, name_end, value; /* value: behind the '=' */
};

static bool equal(const unsigned char *word, size_t size, const char *text)
{
    for (size_t i = 0; i < size; i++)
        if (!text[i] || hr_redact_upper(word[i]) != (unsigned char)text[i])
            return false;
    return text[size] == '\0';
}

static bool is_one_of(const unsigned char *word, size_t size, const char *const *texts)
{
    for (; *texts; texts++)
        if (equal(word, size, *texts))
            return true;
    return false;
}

/* Does a word of a name, between '_', tell of a secret? first: nothing stands before it. */
static bool is_secret_word(const unsigned char *word, size_t size, bool first)
{
    static const char *const whole[] = {"KEY",  "PASS", "CREDENTIAL", "CREDENTIALS", "CREDS",
                                        "AUTH", "DSN",  "WEBHOOK",    "BEARER",      NULL};
    static const struct {
        const char *text;
        size_t size;
    } ends[] = {{"TOKEN", 5},     {"SECRET", 6},      {"SECRETS", 7}, {"PASSWORD", 8},
                {"PASSWD", 6},    {"PASSPHRASE", 10}, {"APIKEY", 6},  {"SECRETKEY", 9},
                {"ACCESSKEY", 9}, {"PRIVATEKEY", 10}};

    if (is_one_of(word, size, whole) || (!first && equal(word, size, "PWD")))
        return true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (size >= ends[i].size && equal(word + size - ends[i].size, ends[i].size, ends[i].text))
            return true;
    return false;
}

/*
 * The last word decides, but for those that say only which one: API_KEY, API_TOKEN_2,
 * SECRET_KEY_BASE.
 */
static bool is_secret_name(const unsigned char *name, size_t size)
{
    static const char *const which[] = {"BASE", "BASE64",  "B64",       "HEX",  "PROD",
                                        "DEV",  "TEST",    "STAGING",   "LIVE", "OLD",
                                        "NEW",  "PRIMARY", "SECONDARY", NULL};
    size_t end = size, start, digits;

    for (int words = 0; end && words < 3; words++) {
        for (start = end; start && name[start - 1] != '_';)
            start--;
        if (is_secret_word(name + start, end - start, start == 0))
            return true;
        for (digits = start; digits < end && name[digits] >= '0' && name[digits] <= '9';)
            digits++;
        if (digits < end && !is_one_of(name + start, end - start, which))
            return false;
        end = start ? start - 1 : 0;
    }
    return false;
}

/* Behind "export " or "declare -x "; at where it is neither; look->end: cannot be told yet. */
static size_t skip_export(const struct hr_redact_look *look, size_t at)
{
    static const char *const words[] = {"export ", "declare -x "};

    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(words[i]), n = look->end - at;

        if (memcmp(look->data + at, words[i], n < length ? n : length))
            continue;
        return n < length ? look->end : at + length;
    }
    return at;
}

static enum line_kind read_line(const struct hr_redact_look *look, size_t at, struct line *line)
{
    const unsigned char *data = look->data;
    size_t limit;

    if (at == look->end)
        return look->closed ? LINE_OTHER : LINE_MORE;
    if (data[at] == '#' || data[at] == '\n')
        return LINE_NEUTRAL;
    if (data[at] == '\r')
        return at + 1 == look->end ? (look->closed ? LINE_OTHER : LINE_MORE)
                                   : (data[at + 1] == '\n' ? LINE_NEUTRAL : LINE_OTHER);
    at = skip_export(look, at);
    limit = look->end - at > NAME_SIZE_MAX ? at + NAME_SIZE_MAX : look->end;
    if (limit < look->end && !memchr(data + at, '=', limit + 1 - at))
        return LINE_OTHER; /* most lines, and told far quicker than by the bytes of the name */
    line->name = at;
    line->name_end = hr_redact_run(look->tables, HR_CLASS_NAME, data, at, limit);
    line->value = line->name_end + 1;
    if (line->name_end == look->end)
        return look->closed ? LINE_OTHER : LINE_MORE;
    if (line->name_end == at || (data[at] >= '0' && data[at] <= '9') || data[line->name_end] != '=')
        return LINE_OTHER;
    if (line->value == look->end)
        return look->closed ? LINE_OTHER : LINE_MORE;
    return data[line->value] == '=' ? LINE_OTHER : LINE_ASSIGNMENT;
}

/* End of the line's text; look->end when it is not there. */
static size_t line_end(const struct hr_redact_look *look, size_t from)
{
    const unsigned char *end = memchr(look->data + from, '\n', look->end - from);

    return end ? (size_t)(end - look->data) : look->end;
}

/* The value without its quotes, which may be empty. */
static void trim_value(const unsigned char *data, size_t *from, size_t *to)
{
    if (*to > *from && data[*to - 1] == '\r')
        --*to;
    if (*to > *from && (data[*from] == '"' || data[*from] == '\'')) {
        unsigned char quote = data[(*from)++];

        if (*to > *from && data[*to - 1] == quote)
            --*to;
    }
}

/* Words and small numbers are no secrets, whatever the name. */
static bool is_plain(const unsigned char *text, size_t size)
{
    static const char *const words[] = {"TRUE", "FALSE", "YES",  "NO", "ON",
                                        "OFF",  "NONE",  "NULL", NULL};
    size_t digits = 0;

    if (hr_redact_is_reference(text, size) || is_one_of(text, size, words))
        return true;
    while (digits < size && ((text[digits] >= '0' && text[digits] <= '9') || text[digits] == '.'))
        digits++;
    return digits == size && size < 6;
}

static bool is_password(const struct line *line, const unsigned char *data)
{
    for (size_t i = line->name; i + 4 <= line->name_end; i++)
        if (equal(data + i, 4, "PASS"))
            return true;
    return false;
}

/* Is the line that begins at look->at, with a secret's name, one of a block with enough of them? */
static enum hr_verdict is_block(const struct hr_redact_look *look)
{
    struct line line;
    int secrets = 0;

    for (size_t at = look->at;;) {
        enum line_kind kind = read_line(look, at, &line);
        size_t value, end;

        if (kind == LINE_OTHER || kind == LINE_MORE)
            return kind == LINE_OTHER ? HR_VERDICT_NO : HR_VERDICT_MORE;
        end = line_end(look, at);
        if (end == look->end && !look->closed)
            return HR_VERDICT_MORE;
        at = end < look->end ? end + 1 : end;
        if (kind == LINE_NEUTRAL ||
            !is_secret_name(look->data + line.name, line.name_end - line.name))
            continue;
        value = line.value;
        trim_value(look->data, &value, &end);
        secrets += !is_plain(look->data + value, end - value);
        if (secrets == HR_REDACT_BLOCK)
            return HR_VERDICT_SECRET;
    }
}

enum hr_verdict hr_redact_match_line(struct hr_redact_look *look, struct hr_secret *secret)
{
    struct line line;
    enum line_kind kind = read_line(look, look->at, &line);
    enum hr_verdict verdict;
    size_t from, to;
    unsigned rest;

    if (kind == LINE_MORE)
        return HR_VERDICT_MORE;
    if (kind == LINE_OTHER)
        look->place->in_block = false;
    if (kind != LINE_ASSIGNMENT ||
        !is_secret_name(look->data + line.name, line.name_end - line.name))
        return HR_VERDICT_NO;
    from = line.value;
    to = line_end(look, from);
    if (to == look->end && !look->closed)
        return HR_VERDICT_MORE;
    rest = to == look->end ? HR_CLASS_LINE : 0;
    trim_value(look->data, &from, &to);
    if (is_plain(look->data + from, to - from)) /* first: it costs less */
        return HR_VERDICT_NO;
    if (!look->place->in_block && (verdict = is_block(look)) != HR_VERDICT_SECRET)
        return verdict;
    look->place->in_block = true;
    *secret = (struct hr_secret){
        from, to, is_password(&line, look->data) ? HR_FORM_WHOLE : HR_FORM_PART, rest};
    return HR_VERDICT_SECRET;
}
