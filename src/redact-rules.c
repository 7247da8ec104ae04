/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "redact-rules.h"

#include <string.h>

enum {
    NAME_MAX_SIZE = 48, /* of a parameter's name */
    BLANKS_MAX = 8,
    PEM_LABEL_MAX = 60,
    PEM_LOOK = 1024,    /* where a key's text must begin */
    PEM_RUN = 24,       /* bytes of base64 in a row that a key has */
    TOKEN_MINIMUM = 16, /* of what stands behind "Bearer" in running text */
    TOKEN_LOOK = 64,
    JWT_HEADER_MAX = 2048,
};

/* ---- bytes ------------------------------------------------------------------------------ */

static unsigned char byte_before(const struct hr_redact_look *look, size_t n)
{
    return look->at >= n ? look->data[look->at - n] : look->place->before[1 - (n - 1 - look->at)];
}

/* A letter, digit or '_' stands before, and not as a part of "\n" in a quoted string. */
static bool inside_word(const struct hr_redact_look *look)
{
    unsigned char byte = byte_before(look, 1);

    if (!(look->tables->classes[byte] & HR_CLASS_NAME))
        return false;
    return byte_before(look, 2) != '\\' || (byte != 'n' && byte != 't' && byte != 'r');
}

static unsigned char lower(unsigned char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (unsigned char)(byte - 'A' + 'a') : byte;
}

/* Does text, in lower case, stand at from? -1: so far as there are bytes. */
static int stands(const struct hr_redact_look *look, size_t from, const char *text, bool fold)
{
    for (size_t i = 0; text[i]; i++) {
        if (from + i == look->end)
            return -1;
        if ((fold ? lower(look->data[from + i]) : look->data[from + i]) != (unsigned char)text[i])
            return 0;
    }
    return 1;
}

static bool is_word(const unsigned char *data, size_t size, const char *const *words)
{
    for (; *words; words++) {
        size_t i = 0;

        while (i < size && (*words)[i] && lower(data[i]) == (unsigned char)(*words)[i])
            i++;
        if (i == size && !(*words)[i])
            return true;
    }
    return false;
}

static size_t run(const struct hr_redact_look *look, unsigned class, size_t from, size_t end)
{
    return hr_redact_run(look->tables, class, look->data, from, end);
}

/* Nothing but end was in the way. */
static bool goes_on(const struct hr_redact_look *look, size_t to)
{
    return to == look->end && !look->closed;
}

static enum hr_verdict none_or_more(const struct hr_redact_look *look, size_t to)
{
    return goes_on(look, to) ? HR_VERDICT_MORE : HR_VERDICT_NO;
}

bool hr_redact_is_reference(const unsigned char *text, size_t size)
{
    unsigned char next = size > 1 ? text[1] : 0;
    size_t stars = 0;

    while (stars < size && text[stars] == '*')
        stars++;
    if (stars == size || (size == 13 && memcmp(text + 6, "...", 3) == 0))
        return true;
    if (text[0] == '$')
        return next == '{' || next == '(' || next == '_' || (next >= 'A' && next <= 'Z');
    return text[0] == '{' || text[0] == '<' || (text[0] == '%' && (next == '(' || next == 's'));
}

/* [from, to) unless it names a value elsewhere, or may go on. class: what it is made of. */
static enum hr_verdict found(const struct hr_redact_look *look, struct hr_secret *secret,
                             size_t from, size_t to, enum hr_redact_form form, unsigned class)
{
    if (goes_on(look, to))
        return HR_VERDICT_MORE;
    if (hr_redact_is_reference(look->data + from, to - from))
        return HR_VERDICT_NO;
    *secret = (struct hr_secret){from, to, form, to == look->end ? class : 0};
    return HR_VERDICT_SECRET;
}

/* ---- keys ------------------------------------------------------------------------------- */

static enum hr_verdict match_key(const struct hr_redact_look *look, const struct hr_redact_row *row,
                                 size_t body, struct hr_secret *secret)
{
    size_t end = look->end, to;

    if (row->maximum && end - body > row->maximum)
        end = body + row->maximum + 1u;
    to = run(look, row->class, body, end);
    if (row->maximum && to - body > row->maximum)
        return HR_VERDICT_NO;
    if (goes_on(look, to))
        return HR_VERDICT_MORE;
    if (to < look->end)
        while (to > body && look->data[to - 1] == '.') /* of the sentence */
            to--;
    if (to - body < row->minimum)
        return HR_VERDICT_NO;
    if (row->rule == HR_RULE_KEY_DOT && !memchr(look->data + body, '.', to - body))
        return HR_VERDICT_NO;
    return found(look, secret, look->at, to, HR_FORM_PART, row->class);
}

/* header.payload.signature; a signature may be missing, an encrypted one has five parts. */
static enum hr_verdict match_jwt(const struct hr_redact_look *look, size_t body,
                                 struct hr_secret *secret)
{
    size_t end = look->end - body > JWT_HEADER_MAX ? body + JWT_HEADER_MAX : look->end, dot, to;

    if (byte_before(look, 1) == '-')
        return HR_VERDICT_NO;
    dot = run(look, HR_CLASS_WORD, body, end);
    if (dot == look->end)
        return none_or_more(look, dot);
    if (dot == end || dot - body < 10 || look->data[dot] != '.')
        return HR_VERDICT_NO;
    to = run(look, HR_CLASS_DOTTED, dot + 1, look->end);
    if (goes_on(look, to))
        return HR_VERDICT_MORE;
    if (to - dot <= 4)
        return HR_VERDICT_NO;
    while (to < look->end && look->data[to - 1] == '.')
        to--;
    return found(look, secret, look->at, to, HR_FORM_PART, HR_CLASS_DOTTED);
}

/* A bot's number, ':', 35 bytes of which two are known to be "AA". */
static enum hr_verdict match_telegram(const struct hr_redact_look *look, size_t body,
                                      struct hr_secret *secret)
{
    size_t end = look->end - body > 34 ? body + 34 : look->end, to;
    unsigned char byte = byte_before(look, 1);

    if (byte < '0' || byte > '9')
        return HR_VERDICT_NO;
    to = run(look, HR_CLASS_WORD, body, end);
    if (goes_on(look, to))
        return HR_VERDICT_MORE;
    return to - body == 33 ? found(look, secret, look->at + 1, to, HR_FORM_PART, 0) : HR_VERDICT_NO;
}

/* ---- private keys ----------------------------------------------------------------------- */

/* Between the marks there is a key, not only program text about keys. */
static bool holds_key(const struct hr_redact_look *look, size_t from, size_t to)
{
    size_t end = to - from > PEM_LOOK ? from + PEM_LOOK : to, stop;

    for (; from < end; from = stop + 1) {
        stop = run(look, HR_CLASS_BASE64, from, end);
        if (stop - from >= PEM_RUN)
            return true;
    }
    return false;
}

/* Where "-----END" begins behind from; look->end: nowhere. What is seen is not looked at again. */
static size_t find_pem_end(const struct hr_redact_look *look, size_t from)
{
    static const char mark[] = "-----END ";
    const size_t size = sizeof mark - 1;

    if (from < look->place->pem_clear)
        from = look->place->pem_clear;
    while (from < look->end && look->end - from >= size) {
        const unsigned char *dash = memchr(look->data + from, '-', look->end - from - size + 1);

        from = dash ? (size_t)(dash - look->data) : look->end - size + 1;
        look->place->pem_clear = from;
        if (dash && memcmp(dash, mark, size) == 0)
            return from;
        from += dash != NULL;
    }
    return look->end;
}

static enum hr_verdict match_pem(const struct hr_redact_look *look, size_t body,
                                 struct hr_secret *secret)
{
    size_t limit = look->end - body > PEM_LABEL_MAX ? body + PEM_LABEL_MAX : look->end;
    size_t end = run(look, HR_CLASS_UPPER | HR_CLASS_BLANK, body, limit), from, to;
    const unsigned char *label = look->data + body;

    int there = stands(look, end, "-----", false);

    if (there < 0 && !look->closed)
        return HR_VERDICT_MORE;
    if (there != 1 || !memmem(label, end - body, "PRIVATE KEY", 11))
        return HR_VERDICT_NO;
    from = end + 5;
    to = find_pem_end(look, from);
    if (to < look->end) {
        limit = look->end - to > PEM_LABEL_MAX + 14 ? to + PEM_LABEL_MAX + 14 : look->end;
        end = run(look, HR_CLASS_UPPER | HR_CLASS_BLANK, to + 9, limit);
        there = stands(look, end, "-----", false);
        if (there < 0 && !look->closed)
            return HR_VERDICT_MORE;
        if (!holds_key(look, from, to))
            return HR_VERDICT_NO;
        end += there == 1 ? 5 : 0;
        *secret = (struct hr_secret){look->at, end, HR_FORM_PRIVATE_KEY, 0};
        return HR_VERDICT_SECRET;
    }
    if (!look->closed)
        return HR_VERDICT_MORE;
    to = run(look, HR_CLASS_KEY_LINES, from, look->end); /* only its beginning is there */
    if (!holds_key(look, from, to))
        return HR_VERDICT_NO;
    *secret = (struct hr_secret){look->at, to, HR_FORM_PRIVATE_KEY,
                                 to == look->end ? HR_CLASS_KEY_LINES : 0};
    return HR_VERDICT_SECRET;
}

/* ---- headers ---------------------------------------------------------------------------- */

/* Random enough: digits, or capitals and small letters. Only the beginning is looked at. */
static bool looks_random(const unsigned char *text, size_t size)
{
    bool digit = false, capital = false, small = false;

    for (size_t i = 0; i < size && i < TOKEN_LOOK; i++) {
        digit |= text[i] >= '0' && text[i] <= '9';
        capital |= text[i] >= 'A' && text[i] <= 'Z';
        small |= text[i] >= 'a' && text[i] <= 'z';
    }
    return digit || (capital && small);
}

static size_t skip_blanks(const struct hr_redact_look *look, size_t from)
{
    return run(look, HR_CLASS_BLANK, from,
               look->end - from > BLANKS_MAX ? from + BLANKS_MAX : look->end);
}

static bool is_quote(unsigned char byte)
{
    return byte == '"' || byte == '\'';
}

/* Behind a header's name: a quote perhaps, a colon, a quote perhaps. Sets *at to the value. */
static enum hr_verdict find_value(const struct hr_redact_look *look, size_t *at,
                                  unsigned char *ret_quote)
{
    size_t i = *at;

    *ret_quote = 0;
    if (i < look->end && is_quote(look->data[i]))
        i++;
    i = skip_blanks(look, i);
    if (i == look->end || look->data[i] != ':')
        return none_or_more(look, i);
    i = skip_blanks(look, i + 1);
    if (i < look->end && is_quote(look->data[i]))
        *ret_quote = look->data[i++];
    *at = i;
    return i == look->end ? none_or_more(look, i) : HR_VERDICT_SECRET;
}

static enum hr_verdict match_header(const struct hr_redact_look *look, size_t at,
                                    struct hr_secret *secret)
{
    unsigned char quote;
    enum hr_verdict verdict = find_value(look, &at, &quote);
    size_t to;

    if (verdict != HR_VERDICT_SECRET)
        return verdict;
    to = run(look, HR_CLASS_BASE64, at, look->end);
    if (goes_on(look, to))
        return HR_VERDICT_MORE;
    if (to - at < 8 || !looks_random(look->data + at, to - at))
        return HR_VERDICT_NO;
    return found(look, secret, at, to, HR_FORM_PART, HR_CLASS_BASE64);
}

/* A scheme of many parts: all of it, up to the quote or the end of the line. */
static enum hr_verdict match_parts(const struct hr_redact_look *look, size_t at,
                                   unsigned char quote, struct hr_secret *secret)
{
    size_t to = at;

    while (to < look->end && look->data[to] != '\n' && look->data[to] != '\r' &&
           look->data[to] != quote)
        to++;
    return found(look, secret, at, to, HR_FORM_WHOLE, HR_CLASS_LINE);
}

static enum hr_verdict match_authorization(const struct hr_redact_look *look, size_t at,
                                           struct hr_secret *secret)
{
    static const char *const schemes[] = {"bearer",  "basic", "token",  "negotiate",
                                          "apikey",  "bot",   "splunk", "key",
                                          "sso-key", "ntlm",  "jwt",    NULL},
                             *const parts[] = {"digest",           "hawk",      "oauth",
                                               "aws4-hmac-sha256", "signature", NULL};
    unsigned char quote;
    enum hr_verdict verdict = find_value(look, &at, &quote);
    size_t to, value;

    if (verdict != HR_VERDICT_SECRET)
        return verdict;
    to = run(look, HR_CLASS_BASE64, at, look->end);
    value = skip_blanks(look, to);
    if (goes_on(look, to) || goes_on(look, value))
        return HR_VERDICT_MORE;
    if (value > to && is_word(look->data + at, to - at, parts))
        return match_parts(look, value, quote, secret);
    if (value > to && is_word(look->data + at, to - at, schemes)) {
        at = value;
        to = run(look, HR_CLASS_BASE64, at, look->end);
    } else if (to - at < 8 || !looks_random(look->data + at, to - at)) {
        return HR_VERDICT_NO;
    }
    return found(look, secret, at, to, HR_FORM_PART, HR_CLASS_BASE64);
}

static int base64_digit(unsigned char byte)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found_at = byte ? strchr(digits, byte) : NULL;

    return found_at ? (int)(found_at - digits) : -1;
}

/* Is it user:password in base64? The user's name must end early. */
static bool holds_user(const unsigned char *text, size_t size)
{
    unsigned bits = 0, count = 0;
    bool colon = false;

    for (size_t i = 0; i < size && text[i] != '=' && i < TOKEN_LOOK; i++) {
        int digit = base64_digit(text[i]);

        if (digit < 0)
            return false;
        bits = bits << 6 | (unsigned)digit;
        count += 6;
        if (count < 8)
            continue;
        count -= 8;
        if ((bits >> count & 0xff) < ' ' || (bits >> count & 0xff) > '~')
            return false;
        colon |= (bits >> count & 0xff) == ':';
    }
    return colon;
}

/* "Bearer ..." and "Basic ..." in running text. */
static enum hr_verdict match_scheme(const struct hr_redact_look *look, size_t at,
                                    struct hr_secret *secret)
{
    size_t to;

    at = skip_blanks(look, at);
    to = run(look, HR_CLASS_BASE64, at, look->end);
    if (goes_on(look, to))
        return HR_VERDICT_MORE;
    while (to > at && to < look->end && look->data[to - 1] == '.')
        to--;
    if (lower(look->data[look->at + 1]) == 'a') {
        if (to - at < 6 || !holds_user(look->data + at, to - at))
            return HR_VERDICT_NO;
    } else if (to - at < TOKEN_MINIMUM || !looks_random(look->data + at, to - at)) {
        return HR_VERDICT_NO;
    }
    return found(look, secret, at, to, HR_FORM_PART, HR_CLASS_BASE64);
}

/* ---- URLs and connection strings -------------------------------------------------------- */

/* user:password@ behind "://". The password reaches to the last '@' before a '/'. */
static enum hr_verdict match_url(const struct hr_redact_look *look, size_t at,
                                 struct hr_secret *secret)
{
    struct hr_redact_place *place = look->place;
    size_t end, to;

    if (look->at >= place->url_end) {
        end = run(look, HR_CLASS_URL, at, look->end);
        if (goes_on(look, end))
            return HR_VERDICT_MORE;
        place->url_end = end;
    }
    end = place->url_end < look->end ? place->url_end : look->end;
    at = run(look, HR_CLASS_USER, at, end);
    if (at >= end || look->data[at] != ':')
        return HR_VERDICT_NO;
    at++;
    to = run(look, HR_CLASS_PASSWORD, at, end);
    while (to > at && (to == end || look->data[to] != '@'))
        to--;
    if (to == at || hr_redact_is_reference(look->data + at, to - at))
        return HR_VERDICT_NO;
    *secret = (struct hr_secret){at, to, HR_FORM_WHOLE, 0};
    return HR_VERDICT_SECRET;
}

/*
 * Smallest value that is masked: of such a parameter of a URL, or of anything; 0: it is no secret.
 */
static size_t parameter_minimum(const unsigned char *name, size_t size, bool in_url)
{
    static const char *const sure[] = {"access_token",      "accesstoken",
                                       "refresh_token",     "id_token",
                                       "auth_token",        "authtoken",
                                       "api_key",           "apikey",
                                       "api-key",           "api_token",
                                       "apitoken",          "client_secret",
                                       "clientsecret",      "private_token",
                                       "session_token",     "secret_key",
                                       "secretkey",         "access_key",
                                       "x-amz-signature",   "x-amz-security-token",
                                       "x-amz-credential",  "x-goog-signature",
                                       "x-goog-credential", "x-api-key",
                                       "subscription-key",  NULL};
    static const char *const in_urls[] = {"token",      "secret",    "password", "passwd",    "pwd",
                                          "pass",       "auth",      "jwt",      "signature", "sig",
                                          "credential", "assertion", NULL};
    static const char *const keys[] = {"key", "sign", "hmac", NULL};

    if (is_word(name, size, sure))
        return in_url ? 4 : 8;
    if (!in_url)
        return 0;
    return is_word(name, size, in_urls) ? 4 : is_word(name, size, keys) ? 16 : 0;
}

static enum hr_verdict match_parameter(const struct hr_redact_look *look, size_t at,
                                       struct hr_secret *secret)
{
    size_t limit, end, to, minimum;
    bool in_url;

    if (stands(look, at, "amp;", false) == 1)
        at += 4;
    limit = look->end - at > NAME_MAX_SIZE ? at + NAME_MAX_SIZE : look->end;
    end = run(look, HR_CLASS_DOTTED, at, limit);
    if (goes_on(look, end))
        return HR_VERDICT_MORE;
    if (end == limit || look->data[end] != '=')
        return HR_VERDICT_NO;
    in_url = look->at < look->place->url_end;
    minimum = parameter_minimum(look->data + at, end - at, in_url);
    if (!minimum || (look->data[look->at] == '#' && !in_url))
        return HR_VERDICT_NO;
    to = run(look, HR_CLASS_VALUE, end + 1, look->end);
    if (!goes_on(look, to) && to - end - 1 < minimum)
        return HR_VERDICT_NO;
    return found(look, secret, end + 1, to, HR_FORM_PART, HR_CLASS_VALUE);
}

static enum hr_verdict match_field(const struct hr_redact_look *look, size_t at,
                                   struct hr_secret *secret)
{
    return found(look, secret, at, run(look, HR_CLASS_FIELD, at, look->end), HR_FORM_WHOLE,
                 HR_CLASS_FIELD);
}

/* ---- all -------------------------------------------------------------------------------- */

static enum hr_verdict match_rule(const struct hr_redact_look *look,
                                  const struct hr_redact_row *row, size_t body,
                                  struct hr_secret *secret)
{
    switch (row->rule) {
    case HR_RULE_PEM:
        return match_pem(look, body, secret);
    case HR_RULE_JWT:
        return match_jwt(look, body, secret);
    case HR_RULE_HEADER:
        return match_header(look, body, secret);
    case HR_RULE_AUTHORIZATION:
        return match_authorization(look, body, secret);
    case HR_RULE_SCHEME:
        return match_scheme(look, body, secret);
    case HR_RULE_URL:
        return match_url(look, body, secret);
    case HR_RULE_PARAMETER:
        return match_parameter(look, body, secret);
    case HR_RULE_FIELD:
        return match_field(look, body, secret);
    case HR_RULE_TELEGRAM:
        return match_telegram(look, body, secret);
    default:
        return match_key(look, row, body, secret);
    }
}

enum hr_verdict hr_redact_match(struct hr_redact_look *look, struct hr_secret *secret)
{
    const struct hr_redact_tables *tables = look->tables;
    unsigned char first = look->data[look->at];
    bool inside = inside_word(look);

    for (unsigned i = tables->start[first]; i < tables->start[first + 1]; i++) {
        const struct hr_redact_row *row = &hr_redact_rows[tables->order[i]];
        enum hr_verdict verdict;
        int there;

        if (inside && !(row->flags & HR_ROW_LOOSE))
            continue;
        there = stands(look, look->at, row->prefix, row->flags & HR_ROW_FOLD);
        if (there == 0 || (there < 0 && look->closed))
            continue;
        if (there < 0)
            return HR_VERDICT_MORE;
        verdict = match_rule(look, row, look->at + tables->length[tables->order[i]], secret);
        if (verdict != HR_VERDICT_NO)
            return verdict;
    }
    return HR_VERDICT_NO;
}
