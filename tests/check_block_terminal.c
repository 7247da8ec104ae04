/* SPDX-License-Identifier: MIT */
/*
 * Blocks against terminals: random streams show what libvterm shows, cell by cell; progress bars
 * and live displays of real programs end as in tmux.
 */
#include "config.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vterm.h>

#include "../ui/utf8.h" /* not that of src/ */
#include "block.h"
#include "pty-testlib.h"
#include "testlib.h"

/* ---- random streams ------------------------------------------------------------------------- */

enum { STREAMS = 20000, ORACLE_COLUMNS = 240, ORACLE_ROWS = 48, OPERATIONS = 40, LINES_MAX = 40 };

static uint64_t seed, state;

static unsigned random_below(unsigned limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % limit;
}

static void add_sgr(struct strbuf *out)
{
    static const int attributes[] = {1, 3, 4, 7, 9, 22, 23, 24, 27, 29, 39, 49};
    switch (random_below(7)) {
    case 0:
        strbuf_adds(out, "\x1b[m");
        break;
    case 1:
        strbuf_addf(out, "\x1b[%um", (random_below(2) ? 30 : 90) + random_below(8));
        break;
    case 2:
        strbuf_addf(out, "\x1b[%um", (random_below(2) ? 40 : 100) + random_below(8));
        break;
    case 3:
        strbuf_addf(out, "\x1b[%u;5;%um", random_below(2) ? 38 : 48, random_below(256));
        break;
    case 4:
        strbuf_addf(out, "\x1b[%u;2;%u;%u;%um", random_below(2) ? 38 : 48, random_below(256),
                    random_below(256), random_below(256));
        break;
    default:
        strbuf_addf(out, "\x1b[%d;%dm", attributes[random_below(12)], attributes[random_below(12)]);
        break;
    }
}

static void add_operation(struct strbuf *out, int *lines)
{
    static const char *const words[] = {"abc", "x", "zz", "é", "e\xcc\x81",
                                        "QQ",  " ", "  ", "ｶ", "o\xcc\x81\xcc\x82"};
    switch (random_below(14)) {
    case 0:
        strbuf_addc(out, '\r');
        break;
    case 1:
        if (++*lines < LINES_MAX)
            strbuf_addc(out, '\n');
        break;
    case 2:
        strbuf_addf(out, "\x1b[%uA", random_below(4));
        break;
    case 3:
        strbuf_addf(out, "\x1b[%uC", random_below(5));
        break;
    case 4:
        strbuf_addf(out, "\x1b[%uD", random_below(5));
        break;
    case 5:
        strbuf_addf(out, "\x1b[%uK", random_below(3));
        break;
    case 6:
    case 7:
        add_sgr(out);
        break;
    case 8: /* lines end where the last one was written: they have no background below */
        if (random_below(3) == 0)
            strbuf_addf(out, "\x1b[49m\x1b[%uJ", random_below(3));
        else
            strbuf_addc(out, '\b');
        break;
    case 9:
        strbuf_addf(out, "\x1b[%uG", 1 + random_below(20));
        break;
    case 10:
        strbuf_addf(out, "\x1b[%uX", random_below(4));
        break;
    default:
        strbuf_adds(out, words[random_below(10)]);
        break;
    }
}

static uint32_t oracle_colour(const VTermColor *colour, bool is_default)
{
    if (is_default)
        return 0;
    if (VTERM_COLOR_IS_INDEXED(colour))
        return BLOCK_INDEX | colour->indexed.idx;
    return BLOCK_RGB | (uint32_t)colour->rgb.red << 16 | (uint32_t)colour->rgb.green << 8 |
           colour->rgb.blue;
}

static uint16_t oracle_attributes(const VTermScreenCell *cell)
{
    return (uint16_t)((cell->attrs.bold ? BLOCK_BOLD : 0) |
                      (cell->attrs.italic ? BLOCK_ITALIC : 0) |
                      (cell->attrs.underline ? BLOCK_UNDERLINE : 0) |
                      (cell->attrs.reverse ? BLOCK_REVERSE : 0) |
                      (cell->attrs.strike ? BLOCK_STRIKE : 0));
}

/*
 * Of blanks only what can be seen counts. Erased cells have a background and nothing else: this
 * libvterm gives them all attributes, other terminals do not.
 */
static bool same_cell(const VTermScreenCell *theirs, const struct block_cell *ours)
{
    const uint16_t seen = BLOCK_REVERSE | BLOCK_UNDERLINE | BLOCK_STRIKE;
    uint32_t first = theirs->chars[0] ? theirs->chars[0] : ' ';
    bool blank = !theirs->chars[0] || (first == ' ' && !theirs->chars[1]);
    if (first != ours->characters[0])
        return false;
    for (size_t i = 1; i < BLOCK_CELL_CHARACTERS && !blank; i++) {
        if (theirs->chars[i] != ours->characters[i])
            return false;
        if (!theirs->chars[i])
            break;
    }
    uint16_t attributes = oracle_attributes(theirs);
    if (oracle_colour(&theirs->bg, VTERM_COLOR_IS_DEFAULT_BG(&theirs->bg)) !=
        ours->style.background)
        return false;
    if (!theirs->chars[0] || (blank && !(attributes & seen)))
        return !(ours->style.attributes & seen);
    return attributes == ours->style.attributes &&
           oracle_colour(&theirs->fg, VTERM_COLOR_IS_DEFAULT_FG(&theirs->fg)) ==
               ours->style.foreground;
}

static void compare(VTermScreen *screen, struct block *block, const struct strbuf *stream,
                    int number)
{
    static struct block_cell cells[ORACLE_COLUMNS];
    size_t rows = block_rows(block, 0);
    for (int row = 0; row < ORACLE_ROWS; row++) {
        if ((size_t)row < rows)
            block_row(block, 0, (size_t)row, 0, cells, ORACLE_COLUMNS);
        for (int column = 0; column < ORACLE_COLUMNS; column++) {
            static const struct block_cell blank = {.characters = {' '}, .width = 1};
            const struct block_cell *ours = (size_t)row < rows ? &cells[column] : &blank;
            VTermPos position = {row, column};
            VTermScreenCell theirs;
            if ((size_t)row >= rows && vterm_screen_is_eol(screen, position))
                break;
            vterm_screen_get_cell(screen, position, &theirs);
            if (same_cell(&theirs, ours))
                continue;
            for (size_t i = 0; i < stream->size; i++)
                fprintf(stderr, stream->data[i] < ' ' && stream->data[i] > 0 ? "\\x%02x" : "%c",
                        stream->data[i]);
            ck_abort_msg("seed %" PRIu64
                         ", stream %d: row %d, column %d differ: U+%X %X %X %X is U+%X "
                         "%X %X %X here",
                         seed, number, row, column, theirs.chars[0],
                         oracle_colour(&theirs.fg, VTERM_COLOR_IS_DEFAULT_FG(&theirs.fg)),
                         oracle_colour(&theirs.bg, VTERM_COLOR_IS_DEFAULT_BG(&theirs.bg)),
                         oracle_attributes(&theirs), ours->characters[0], ours->style.foreground,
                         ours->style.background, ours->style.attributes);
        }
    }
}

START_TEST(random_streams)
{
    const char *given = getenv("HERMES_TEST_SEED");
    seed = given ? strtoull(given, NULL, 10) : 1;
    state = seed ? seed : 1;
    printf("check_block_terminal: HERMES_TEST_SEED=%" PRIu64 "\n", seed);
    VTerm *vterm = vterm_new(ORACLE_ROWS, ORACLE_COLUMNS);
    vterm_set_utf8(vterm, 1);
    VTermScreen *screen = vterm_obtain_screen(vterm);
    for (int i = 0; i < STREAMS; i++) {
        struct strbuf stream = STRBUF_INIT;
        struct block *block = block_new(0);
        int lines = 0;
        for (int k = 0; k < OPERATIONS; k++)
            add_operation(&stream, &lines);
        block_resize(block, ORACLE_COLUMNS, ORACLE_ROWS);
        for (size_t at = 0; at < stream.size;) { /* cut anywhere */
            size_t size = 1 + random_below(60);
            if (size > stream.size - at)
                size = stream.size - at;
            block_write(block, stream.data + at, size);
            at += size;
        }
        vterm_input_write(vterm, "\x1b[m", 3); /* it clears with the style that is left */
        vterm_screen_reset(screen, 1);
        vterm_input_write(vterm, "\x1b[20h", 5);
        vterm_input_write(vterm, strbuf_text(&stream), stream.size);
        compare(screen, block, &stream, i);
        block_free(block);
        strbuf_free(&stream);
    }
    vterm_free(vterm);
}
END_TEST

/* ---- real programs -------------------------------------------------------------------------- */

static const char tqdm_simple[] = "from tqdm import tqdm\n"
                                  "for i in tqdm(range(2000), mininterval=0): pass\n"
                                  "print('done')\n";

static const char tqdm_nested[] =
    "from tqdm import tqdm\n"
    "for i in tqdm(range(4), desc='outer', mininterval=0):\n"
    "    for j in tqdm(range(30), desc='inner %d' % i, mininterval=0, leave=i % 2 == 0):\n"
    "        for k in tqdm(range(5), desc='innermost', mininterval=0, leave=False): pass\n"
    "        if j == 15: tqdm.write('half of %d: 世界' % i)\n"
    "print('done')\n";

static const char tqdm_positions[] =
    "from tqdm import tqdm\n"
    "bars = [tqdm(total=50, position=p, desc='bar %d' % p, mininterval=0) for p in range(5)]\n"
    "for i in range(50):\n"
    "    for bar in bars[::-1]: bar.update(1)\n"
    "for bar in bars: bar.close()\n"
    "print('\\n' * 5 + 'done')\n";

static const char rich_progress[] =
    "from rich.progress import Progress, track\n"
    "with Progress() as progress:\n"
    "    tasks = [progress.add_task('[red]task %d' % t, total=40) for t in range(3)]\n"
    "    for i in range(40):\n"
    "        for t in tasks: progress.update(t, advance=1)\n"
    "        if i % 13 == 0: progress.console.print('[bold]at[/] %d :sparkles:' % i)\n"
    "        progress.refresh()\n"
    "for i in track(range(20), 'tracked'): pass\n"
    "print('done')\n";

static const char rich_live[] =
    "from rich.live import Live\n"
    "from rich.table import Table\n"
    "def table(n):\n"
    "    t = Table('key', '世界', title='table %d' % n)\n"
    "    for i in range(n % 7 + 2): t.add_row('row %d' % i, '値' * (i + n % 3))\n"
    "    return t\n"
    "with Live(table(0), auto_refresh=False) as live:\n"
    "    for n in range(25):\n"
    "        live.update(table(n), refresh=True)\n"
    "        if n % 10 == 5: live.console.log('n is', n)\n"
    "print('done')\n";

static const char rich_transient[] = "from rich.console import Console\n"
                                     "from rich.progress import Progress\n"
                                     "console = Console()\n"
                                     "with console.status('working'):\n"
                                     "    console.print('[on blue]one[/]')\n"
                                     "    console.print('two')\n"
                                     "with Progress(transient=True) as p:\n"
                                     "    t = p.add_task('gone at the end', total=10)\n"
                                     "    for i in range(10): p.advance(t); p.refresh()\n"
                                     "console.rule('the end')\n";

static const char pip_like[] =
    "import sys\n"
    "w = sys.stdout.write\n"
    "w('Collecting something\\n  Downloading something-1.0.whl (3.4 MB)\\n')\n"
    "w('\\x1b[?25l')\n"
    "for i in range(41):\n"
    "    w('\\r\\x1b[2K     \\x1b[38;2;249;38;114m' + '━' * i + '\\x1b[0m'\n"
    "      + ('\\x1b[38;2;249;38;114m╸\\x1b[0m' if i < 40 else '')\n"
    "      + '\\x1b[38;5;237m' + '━' * (39 - i) + '\\x1b[0m \\x1b[32m%.1f/3.4 MB\\x1b[0m'\n"
    "      % (i * 3.4 / 40) + ' \\x1b[31m9.9 MB/s\\x1b[0m eta \\x1b[36m0:00:01\\x1b[0m')\n"
    "    sys.stdout.flush()\n"
    "w('\\n\\x1b[?25hSuccessfully installed something-1.0\\n')\n";

static const char animation[] = "for n in range(30):\n"
                                "    print('\\x1b[H\\x1b[2J' + '\\n'.join('%d %s' % (n, '*' * (k + "
                                "n % 9)) for k in range(9)))\n"
                                "print('\\x1b[2J\\x1b[Hlast')\n";

static const struct {
    const char *name, *code;
    bool screen_only; /* tmux keeps what was cleared */
} programs[] = {
    {"tqdm", tqdm_simple, false},
    {"nested tqdm", tqdm_nested, false},
    {"tqdm positions", tqdm_positions, false},
    {"rich.progress", rich_progress, false},
    {"rich.live", rich_live, false},
    {"rich transient", rich_transient, false},
    {"a bar like pip's", pip_like, false},
    {"an animation", animation, true},
};
enum { PROGRAMS = sizeof(programs) / sizeof(*programs) };

START_TEST(real_programs)
{
    const char *argv[] = {test_python(), "-c", programs[_i].code, NULL};
    struct strbuf bytes = STRBUF_INIT, ours = STRBUF_INIT, theirs = STRBUF_INIT;
    struct test_pty pty;
    struct block *block = block_new(0);
    test_pty_start(&pty, argv, "xterm-256color", 80, 24);
    int status = test_pty_finish(&pty, &bytes, 60000);
    ck_assert_msg(status == 0, "%s: %s", programs[_i].name, strbuf_text(&bytes));
    block_resize(block, 80, 24);
    for (size_t at = 0; at < bytes.size; at += 1000)
        block_write(block, bytes.data + at, bytes.size - at < 1000 ? bytes.size - at : 1000);
    ck_assert(!block_has_screen(block));
    block_text(block, false, &ours);
    test_trim_screen(&ours);
    test_tmux_text(&bytes, 80, 24, programs[_i].screen_only, &theirs);
    test_trim_screen(&theirs);
    ck_assert_msg(strcmp(strbuf_text(&ours), strbuf_text(&theirs)) == 0, "%s:\n%s----\n%s",
                  programs[_i].name, strbuf_text(&ours), strbuf_text(&theirs));
    ck_assert_uint_gt(ours.size, 3);
    block_free(block);
    strbuf_free(&bytes);
    strbuf_free(&ours);
    strbuf_free(&theirs);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("block_terminal");
    TCase *random = tcase_create("random"), *real = tcase_create("real");

    tcase_set_timeout(random, 120);
    tcase_add_test(random, random_streams);
    suite_add_tcase(suite, random);
    tcase_set_timeout(real, 90);
    tcase_add_loop_test(real, real_programs, 0, PROGRAMS);
    suite_add_tcase(suite, real);
    return test_run(suite);
}
