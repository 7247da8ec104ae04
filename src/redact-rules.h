/* SPDX-License-Identifier: MIT */
/*
 * What redact.c asks at one place of a text: does a secret begin here? The families stand in
 * redact-table.c, how they are told in redact-rules.c. A verdict must not change when more text
 * comes, unless it was HR_VERDICT_MORE: only so the output does not depend on cuts.
 */
#ifndef HR_REDACT_RULES_H
#define HR_REDACT_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "redact.h"

/* Sets of bytes, as bits. */
enum hr_redact_class {
    HR_CLASS_ALNUM = 1 << 0,
    HR_CLASS_HEX = 1 << 1,
    HR_CLASS_UPPER = 1 << 2,      /* A-Z 0-9 */
    HR_CLASS_WORD = 1 << 3,       /* alphanumeric _ - */
    HR_CLASS_DOTTED = 1 << 4,     /* word . */
    HR_CLASS_BASE64 = 1 << 5,     /* word . ~ + / = */
    HR_CLASS_NAME = 1 << 6,       /* alphanumeric _ */
    HR_CLASS_URL = 1 << 7,        /* printing, no quotes and angle brackets */
    HR_CLASS_USER = 1 << 8,       /* of a URL, without : / @ ? # */
    HR_CLASS_PASSWORD = 1 << 9,   /* of a URL, without / ? */
    HR_CLASS_VALUE = 1 << 10,     /* of a URL's parameter */
    HR_CLASS_FIELD = 1 << 11,     /* up to ; or a quote or the end of the line */
    HR_CLASS_LINE = 1 << 12,      /* up to the end of the line */
    HR_CLASS_KEY_LINES = 1 << 13, /* lines of base64, also with "\n" spelt out */
    HR_CLASS_BLANK = 1 << 14,     /* space, tab */
};

enum hr_redact_rule {
    HR_RULE_KEY,     /* prefix and at least minimum bytes of a class */
    HR_RULE_KEY_DOT, /* the same, with a '.' inside */
    HR_RULE_PEM,
    HR_RULE_JWT,
    HR_RULE_HEADER, /* name: value */
    HR_RULE_AUTHORIZATION,
    HR_RULE_SCHEME, /* Bearer and such alone */
    HR_RULE_URL,
    HR_RULE_PARAMETER,
    HR_RULE_FIELD,    /* ;Password=... */
    HR_RULE_TELEGRAM, /* 123456789:AA... */
};

enum { HR_ROW_FOLD = 1, HR_ROW_LOOSE = 2 /* a letter may stand before it */ };

struct hr_redact_row {
    const char *prefix;
    uint8_t rule, flags;
    uint16_t class, minimum, maximum; /* of what follows the prefix; maximum 0: none */
};

#define HR_REDACT_ROWS_MAX 250

/* In first, second and third; below these are groups of rows. */
enum {
    HR_TRIGGER_GROUPS = 13,
    HR_TRIGGER_SIGN = 1 << 13,   /* a prefix of one byte, and what may follow */
    HR_TRIGGER_ASSIGN = 1 << 14, /* a name ends, and a '=' follows */
    HR_TRIGGER_LINE = 1 << 15,
    HR_TRIGGER_SURE = HR_TRIGGER_SIGN | HR_TRIGGER_ASSIGN | HR_TRIGGER_LINE,
};

enum { HR_THREES_BITS = 14, HR_THREES_WORDS = 1 << (HR_THREES_BITS - 6) };

struct hr_redact_tables {
    /*
     * A row may begin where the three have a bit in common; if it is that of a group, only where
     * the three bytes are in the set, too.
     */
    uint16_t first[256], second[256], third[256];
    uint64_t threes[HR_THREES_WORDS];
    /*
     * For looking at many bytes at once (redact-scan.c): three bytes of each prefix that are rare
     * in most texts, as a set, and by the halves of the bytes in eight buckets.
     */
    uint64_t windows[HR_THREES_WORDS];
    unsigned char low[3][16], high[3][16];
    bool wide; /* the processor can */
    uint16_t classes[256];
    uint8_t order[HR_REDACT_ROWS_MAX]; /* rows by first byte ... */
    uint8_t start[257];                /* ... of a byte: order[start[byte]] up to start[byte + 1] */
    uint8_t length[HR_REDACT_ROWS_MAX];
};

extern const struct hr_redact_row hr_redact_rows[];
extern const size_t hr_redact_row_count;
const struct hr_redact_tables *hr_redact_tables(void);

/* A place in the text: data[at]; nothing behind end is looked at. */
struct hr_redact_look {
    const struct hr_redact_tables *tables;
    const unsigned char *data;
    size_t at, end;
    bool closed; /* as if the text ended at end: it does, or the window is full */
    struct hr_redact_place *place;
};

static inline uint32_t hr_redact_hash(const unsigned char *data)
{
    uint32_t three = data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16;

    return three * UINT32_C(0x9e3779b1) >> (32 - HR_THREES_BITS);
}

static inline bool hr_redact_has(const uint64_t *set, const unsigned char *data)
{
    uint32_t hash = hr_redact_hash(data);

    return set[hash / 64] >> hash % 64 & 1;
}

/* Not toupper(): the host may have any locale. */
static inline unsigned char hr_redact_upper(unsigned char byte)
{
    return byte >= 'a' && byte <= 'z' ? (unsigned char)(byte - 'a' + 'A') : byte;
}

/* Add three bytes of a row's prefix, in all cases that it may have, to a set. */
void hr_redact_add_three(const struct hr_redact_tables *tables, uint64_t *set,
                         const struct hr_redact_row *row, size_t at);
void hr_redact_make_windows(struct hr_redact_tables *tables); /* the rest is made already */

/*
 * From at on, which is not the start of a line: the next place where a secret may begin, as far as
 * the bytes there tell, or a line ends; or size. Where nothing can come of judging the start of a
 * line its end is passed over; where something can, the start is returned, and place->line_start
 * set.
 */
size_t hr_redact_next(const struct hr_redact_tables *tables, struct hr_redact_place *place,
                      const unsigned char *data, size_t at, size_t size);
/* For tests: wide false: as on a processor that cannot look at many bytes at once. */
void hr_redact_set_wide(bool wide);

enum hr_verdict { HR_VERDICT_NO, HR_VERDICT_SECRET, HR_VERDICT_MORE };
enum hr_redact_form { HR_FORM_PART, HR_FORM_WHOLE, HR_FORM_PRIVATE_KEY };

struct hr_secret {
    size_t from, to;
    enum hr_redact_form form;
    unsigned
        rest; /* class of the bytes behind to that still belong to it, when the window ended it */
};

enum hr_verdict hr_redact_match(struct hr_redact_look *look, struct hr_secret *secret);
/* The same for look->at at the start of a line: values of a block of assignments. */
enum hr_verdict hr_redact_match_line(struct hr_redact_look *look, struct hr_secret *secret);

/* End of the run of bytes of a class that begins at from. */
static inline size_t hr_redact_run(const struct hr_redact_tables *tables, unsigned class,
                                   const unsigned char *data, size_t from, size_t end)
{
    while (from < end && (tables->classes[data[from]] & class))
        from++;
    return from;
}

/* A value that only names one ("${TOKEN}", "<token>"), or is masked already, or is empty. */
bool hr_redact_is_reference(const unsigned char *text, size_t size);

#endif
