/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file format is that of term(5), with numbers of 32 bits; ncurses reads it from TERMINFO since
 * 6.1 when it begins with "b64:". Standard capabilities are copied one by one. Of
 * the others only two matter here: RGB, without which ncurses would keep a table of all colours,
 * and AX, by which it knows how to go back to the terminal's own.
 */
#include "config.h"

#include "true-colour.h"

#include <curses.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

#include "base64.h"

#define MAGIC 01036
#define PAIRS 0x10000
#define TABLE_MAX 0x7000 /* offsets are shorts, and ncurses takes 32 KiB in all */

/* What every terminal of 256 colours understands. */
#define BY_NUMBER(ground, bright, other)                                                           \
    "\033[%?%p1%{8}%<%t" ground "%p1%d%e%p1%{16}%<%t" bright "%p1%{8}%-%d%e" other ";5;%p1%d%;m"
#define BY_RGB ";2;%p1%{65536}%/%{255}%&%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%dm"

/* GNU screen hands COLORTERM of the terminal around it down, but not the colours. */
static bool is_gnu_screen(void)
{
    const char *name = getenv("TERM");
    return !getenv("TMUX") && (getenv("STY") || (name && strncmp(name, "screen", 6) == 0));
}

/* Of the terminal that was set up. */
static bool has_true_colour(void)
{
    const char *said = getenv("COLORTERM"), *text = tigetstr("RGB");
    if (tigetnum("colors") < 256 || !tigetstr("setaf") || !tigetstr("setab"))
        return false;
    if (tigetflag("RGB") > 0 || tigetnum("RGB") > 0 || tigetflag("Tc") > 0 ||
        (text && text != (char *)-1))
        return true;
    return said && (strcmp(said, "truecolor") == 0 || strcmp(said, "24bit") == 0) &&
           !is_gnu_screen();
}

static void add_short(struct strbuf *out, size_t value)
{
    const char bytes[] = {(char)(value & 255), (char)(value >> 8 & 255)};
    strbuf_add(out, bytes, sizeof(bytes));
}

static void add_number(struct strbuf *out, int value)
{
    add_short(out, (uint32_t)value & 0xffff);
    add_short(out, (uint32_t)value >> 16);
}

static void add_even(struct strbuf *out)
{
    if (out->size & 1)
        strbuf_addc(out, '\0');
}

static int number_at(size_t i)
{
    if (strcmp(numnames[i], "colors") == 0)
        return TRUE_COLOUR_COUNT;
    if (strcmp(numnames[i], "pairs") == 0)
        return PAIRS;
    int value = CUR Numbers[i];
    return value < 0 ? -1 : value;
}

/* Numbers below 256 are written as they were, so that nothing looks different. */
static void add_colour(struct strbuf *out, const char *name)
{
    bool front = strcmp(name, "setaf") == 0;
    const char *usual = tigetstr(name);
    if (tigetnum("colors") > 256) /* then they are something else there */
        usual = front ? BY_NUMBER("3", "9", "38") : BY_NUMBER("4", "10", "48");
    strbuf_adds(out, "%?%p1%{256}%<%t");
    strbuf_adds(out, usual);
    strbuf_adds(out, front ? "%e\033[38" BY_RGB "%;" : "%e\033[48" BY_RGB "%;");
}

/* False: the terminal has no such string. */
static bool add_string(struct strbuf *table, size_t i)
{
    const char *name = strnames[i], *value = CUR Strings[i];
    if (!value || value == (char *)-1 || strcmp(name, "initc") == 0)
        return false;
    if (strcmp(name, "setaf") == 0 || strcmp(name, "setab") == 0)
        add_colour(table, name);
    else
        strbuf_adds(table, value);
    strbuf_addc(table, '\0');
    return true;
}

static void add_strings(struct strbuf *offsets, struct strbuf *table)
{
    for (size_t i = 0; strnames[i]; i++) {
        size_t at = table->size;
        add_short(offsets, add_string(table, i) ? at : 0xffff);
    }
}

/* What has no place of its own in the format: flags, and their names. */
static void add_extended(struct strbuf *out)
{
    static const char names[] = "AX\0RGB";
    const size_t counts[] = {2, 0, 0, 2, sizeof(names)}; /* flags, numbers, strings, texts, bytes */
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        add_short(out, counts[i]);
    strbuf_addc(out, tigetflag("AX") > 0);
    strbuf_addc(out, 1);
    add_short(out, 0);
    add_short(out, 3);
    strbuf_add(out, names, sizeof(names));
}

static void write_entry(struct strbuf *out, const struct strbuf *offsets,
                        const struct strbuf *table)
{
    static const char names[] = TRUE_COLOUR_NAME "|made of the terminal's own description";
    size_t flags = 0, numbers = 0;
    while (boolnames[flags])
        flags++;
    while (numnames[numbers])
        numbers++;
    const size_t head[] = {MAGIC, sizeof(names), flags, numbers, offsets->size / 2, table->size};
    for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
        add_short(out, head[i]);
    strbuf_add(out, names, sizeof(names));
    for (size_t i = 0; i < flags; i++)
        strbuf_addc(out, strcmp(boolnames[i], "ccc") != 0 && CUR Booleans[i] == TRUE);
    add_even(out);
    for (size_t i = 0; i < numbers; i++)
        add_number(out, number_at(i));
    strbuf_add(out, offsets->data, offsets->size);
    strbuf_add(out, table->data, table->size);
    add_even(out);
    add_extended(out);
}

bool true_colour_describe(struct strbuf *out)
{
    struct strbuf offsets = STRBUF_INIT, table = STRBUF_INIT, entry = STRBUF_INIT;
    int known = 0;
    if (!NCURSES_SP_FUNCS || setupterm(NULL, STDOUT_FILENO, &known) != OK)
        return false; /* without them readline's description would be taken for the screen's */
    bool good = has_true_colour();
    if (good) {
        add_strings(&offsets, &table);
        good = table.size <= TABLE_MAX;
    }
    if (good) {
        write_entry(&entry, &offsets, &table);
        strbuf_adds(out, "b64:");
        base64_add(out, entry.data, entry.size);
    }
    del_curterm(cur_term);
    strbuf_free(&offsets);
    strbuf_free(&table);
    strbuf_free(&entry);
    return good;
}
