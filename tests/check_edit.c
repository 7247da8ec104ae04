/* SPDX-License-Identifier: MIT */
/*
 * The prompt's editor as fingers meet it: bytes of a terminal go through the tokeniser into the
 * editor; looked at are the text, the point and what the editor asks for.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "edit.h"
#include "testlib.h"
#include "xalloc.h"

static struct history *history;
static struct edit *edit;
static struct keys *keys;
static unsigned reaction; /* to the last key */
static unsigned all;      /* to all of the last type() */

static void set_up(void)
{
    setenv("INPUTRC", "/dev/null", 1);
    history = history_new();
    edit = edit_new(history);
    edit_set_session(edit, "main");
    keys = keys_new();
}

static void tear_down(void)
{
    edit_free(edit);
    history_free(history);
    keys_free(keys);
}

static void type(const char *bytes)
{
    struct key key;
    keys_feed(keys, bytes, strlen(bytes));
    for (all = 0; keys_next(keys, true, &key); all |= reaction)
        reaction = edit_key(edit, &key);
}

static const char *text(void)
{
    static char *copy;
    size_t size;
    const char *shown = edit_text(edit, &size);
    free(copy);
    copy = xmemdup0(shown, size);
    return copy;
}

/* The text with | at the point. */
static const char *view(void)
{
    static char *copy;
    size_t size, point = edit_point(edit);
    const char *shown = edit_text(edit, &size);
    ck_assert_uint_le(point, size);
    free(copy);
    copy = xasprintf("%.*s|%.*s", (int)point, shown, (int)(size - point), shown + point);
    return copy;
}

static void take(const char *wanted)
{
    size_t size;
    char *block = edit_take(edit, &size);
    ck_assert_str_eq(block, wanted);
    ck_assert_uint_eq(size, strlen(wanted));
    free(block);
    ck_assert_str_eq(text(), "");
}

static void run(const char *bytes)
{
    size_t size;
    type(bytes);
    type("\033\r");
    ck_assert_uint_ne(all & EDIT_SUBMIT, 0);
    free(edit_take(edit, &size));
}

static void set(const char *block)
{
    edit_set(edit, block, strlen(block), strlen(block));
}

/* ---- typing --------------------------------------------------------------------------------- */

START_TEST(types_and_submits)
{
    type("print(1)");
    ck_assert_str_eq(view(), "print(1)|");
    ck_assert_uint_eq(reaction, EDIT_CHANGED);
    type("\r");
    ck_assert_uint_ne(reaction & EDIT_SUBMIT, 0);
    take("print(1)");
    ck_assert_uint_eq(history_count(history), 1);
}
END_TEST

START_TEST(characters_of_all_sizes)
{
    type("h\xC3\xA9 \xE4\xB8\x96\xE7\x95\x8C \xF0\x9F\x9A\x80");
    ck_assert_str_eq(view(), "h\xC3\xA9 \xE4\xB8\x96\xE7\x95\x8C \xF0\x9F\x9A\x80|");
    type("\177\177\177");
    ck_assert_str_eq(view(), "h\xC3\xA9 \xE4\xB8\x96|");
    type("\033[D\033[D\033[D\004");
    ck_assert_str_eq(view(), "h| \xE4\xB8\x96");
}
END_TEST

START_TEST(enter_where_the_cursor_is)
{
    type("f(1)\001\r");
    ck_assert_uint_ne(reaction & EDIT_SUBMIT, 0);
    take("f(1)");
    /* In the middle of a block it begins a line. */
    set("a = 1\nb = 2");
    type("\033[A\033[H\r");
    ck_assert_uint_eq(reaction & EDIT_SUBMIT, 0);
    ck_assert_str_eq(view(), "\n|a = 1\nb = 2");
    set("a = 1\nb = 2");
    type("\001\r");
    ck_assert_uint_ne(reaction & EDIT_SUBMIT, 0);
}
END_TEST

START_TEST(a_block)
{
    type("for i in x:\r");
    ck_assert_str_eq(view(), "for i in x:\n    |");
    type("if i:\rbreak\r");
    ck_assert_str_eq(view(), "for i in x:\n    if i:\n        break\n    |");
    type("print(i,\r");
    ck_assert_str_eq(view(), "for i in x:\n    if i:\n        break\n    print(i,\n          |");
    type("2)\r");
    ck_assert_str_eq(view(),
                     "for i in x:\n    if i:\n        break\n    print(i,\n          2)\n    |");
    ck_assert_uint_eq(all & EDIT_SUBMIT, 0);
    type("\r");
    ck_assert_uint_ne(reaction & EDIT_SUBMIT, 0);
    take("for i in x:\n    if i:\n        break\n    print(i,\n          2)");
}
END_TEST

/* ---- complete? ------------------------------------------------------------------------------ */

static const struct {
    const char *text;
    bool complete;
} blocks[] = {
    {"", true},
    {"  \n ", true},
    {"x = 1", true},
    {"x = (1,", false},
    {"x = (1,\n2)", true},
    {"f('''a", false},
    {"'''a\nb'''", true},
    {"x = 'abc", true}, /* an error: let it be seen */
    {"x = 'abc\\", false},
    {"x = 1 + \\", false},
    {"x = 1 + \\\n2", true},
    {"f'{x", true},
    {"f'''{x", false},
    {"f'''{x}\n'''", true},
    {"x)", true},
    {"(]", true},
    {"# (", true},
    {"if x:", false},
    {"if x:\n", false},
    {"if x:\n    y", false},
    {"if x:\n    y\n", true},
    {"if x:\n    y\n    ", true},
    {"if x: y", true},
    {"if x: # c", false},
    {"for i in x:\n    a\nb", true},
    {"for i in x:\n    a\n    # c", false},
    {"for i in x:\n    a(\n\n", false},
    {"try:\n    a\n", false},
    {"try: a", false},
    {"try:\n    a\nexcept E:\n    b\n", true},
    {"try:\n    a\nexcept E: b", true},
    {"def f():\n    try:\n        a\n", false},
    {"@decorator", false},
    {"@decorator\n", false},
    {"@decorator\ndef f():\n    a\n", true},
    {"class A: x = {1:", false},
    {"x = [a[1:", false},
    {"lambda: 1", true},
    {"    x = 1", true},
    {"def f():\n\tx\n", true},
    {":reset (", true},
    {"!echo '(", true},
    {"%time f(", true},
    {"name?", true},
    {"%%time", false},
    {"%%time\nx = 1", false},
    {"%%time\nx = 1\n", true},
    {"!ls\nif x:", false},
    {"async def f():\n    await x\n", true},
    {"match x:\n    case 1:\n        a\n", true},
    {"while 1:\n    s = '''\n    '''\n", true},
};

START_TEST(what_is_complete)
{
    bool complete = edit_is_complete(blocks[_i].text, strlen(blocks[_i].text));
    ck_assert_msg(complete == blocks[_i].complete, "%s", blocks[_i].text);
}
END_TEST

START_TEST(commands_run_at_once)
{
    static const char *const lines[] = {":reset", "!ls (", "%time x", "x?"};
    for (size_t i = 0; i < 4; i++) {
        type(lines[i]);
        type("\r");
        ck_assert_uint_ne(reaction & EDIT_SUBMIT, 0);
        take(lines[i]);
    }
}
END_TEST

START_TEST(submit_as_it_is)
{
    static const char *const enters[] = {"\033\r", "\033[13;2u", "\033[13;5u", "\033[27;5;13~"};
    for (size_t i = 0; i < 4; i++) {
        type("f(");
        type(enters[i]);
        ck_assert_uint_ne(reaction & EDIT_SUBMIT, 0);
        take("f(");
    }
    type("f(\017"); /* C-o */
    ck_assert_str_eq(view(), "f(\n    |");
    type("1)\033o2\n");
    ck_assert_uint_ne(reaction & EDIT_SUBMIT, 0);
    take("f(\n    1)\n2");
}
END_TEST

START_TEST(end_of_input)
{
    type("\004");
    ck_assert_uint_ne(reaction & EDIT_END, 0);
    type("ab\004");
    ck_assert_uint_eq(reaction & EDIT_END, 0);
    type("\001\004\004");
    ck_assert_str_eq(text(), "");
    ck_assert_uint_eq(all & EDIT_END, 0);
    type("\004");
    ck_assert_uint_ne(reaction & EDIT_END, 0);
}
END_TEST

/* ---- indentation ---------------------------------------------------------------------------- */

static const struct {
    const char *before, *after;
} enters[] = {
    {"def f():|", "def f():\n    |"},
    {"def f():\n    return 1|", "def f():\n    return 1\n|"},
    {"def f():\n    if x:\n        pass|", "def f():\n    if x:\n        pass\n    |"},
    {"while x:\n    raise|", "while x:\n    raise\n|"},
    {"while x:\n    returned = 1|", "while x:\n    returned = 1\n    |"},
    {"def f(a,|", "def f(a,\n      |"},
    {"f(|", "f(\n    |"},
    {"if x:\n    f([|", "if x:\n    f([\n        |"},
    {"if x:\n    f([\n        1|", "if x:\n    f([\n        1\n        |"},
    {"if x:\n    f([\n        1])|", "if x:\n    f([\n        1])\n    |"},
    {"if a and \\|", "if a and \\\n    |"},
    {"if x:\n\ta|", "if x:\n\ta\n\t|"},
    {"x = '''a|", "x = '''a\n|"},
    {"x = '''a\n  b|", "x = '''a\n  b\n  |"},
    {"if x:|  y", "if x:\n    |y"},
    {"if x:\n    a\n\n    b|", "if x:\n    a\n\n    b\n    |"},
    {"if x: # c|", "if x: # c\n    |"},
};

START_TEST(newline_is_indented)
{
    const char *before = enters[_i].before, *point = strchr(before, '|');
    char *plain = xasprintf("%.*s%s", (int)(point - before), before, point + 1);
    edit_set(edit, plain, strlen(plain), (size_t)(point - before));
    type("\017");
    ck_assert_str_eq(view(), enters[_i].after);
    free(plain);
}
END_TEST

START_TEST(tab_and_backspace_in_blanks)
{
    type("\t");
    ck_assert_str_eq(view(), "    |");
    type(" \t");
    ck_assert_str_eq(view(), "        |");
    type(" \177");
    ck_assert_str_eq(view(), "        |");
    type("\177");
    ck_assert_str_eq(view(), "    |");
    type("x\177");
    ck_assert_str_eq(view(), "    |");
    type("x \177");
    ck_assert_str_eq(view(), "    x|");
    type("\177\177\177");
    ck_assert_str_eq(view(), "|");
}
END_TEST

/* ---- lines ---------------------------------------------------------------------------------- */

START_TEST(line_keys_are_of_one_line)
{
    set("one\ntwo words\nthree");
    type("\033[A\001");
    ck_assert_str_eq(view(), "one\n|two words\nthree");
    type("\005");
    ck_assert_str_eq(view(), "one\ntwo words|\nthree");
    type("\025");
    ck_assert_str_eq(view(), "one\n|\nthree");
    type("\031");
    ck_assert_str_eq(view(), "one\ntwo words|\nthree");
    type("\033b\013");
    ck_assert_str_eq(view(), "one\ntwo |\nthree");
    type("\013");
    ck_assert_str_eq(view(), "one\ntwo |three");
    type("\037\037");
    ck_assert_str_eq(text(), "one\ntwo words\nthree");
    type("\033[H\033[F");
    ck_assert_str_eq(view(), "one\ntwo words|\nthree");
}
END_TEST

START_TEST(up_and_down_keep_the_column)
{
    set("long line\nx\n\tlong line");
    type("\033[A");
    ck_assert_str_eq(view(), "long line\nx|\n\tlong line");
    type("\033[A");
    ck_assert_str_eq(view(), "long line|\nx\n\tlong line");
    type("\033[B\033[B");
    ck_assert_str_eq(view(), "long line\nx\n\tlong line|");
    type("\001\033[A\033[A\033[C\033[B");
    ck_assert_str_eq(view(), "long line\nx|\n\tlong line");
}
END_TEST

START_TEST(up_goes_by_rows)
{
    edit_set_prompts(edit, 4, 4);
    edit_set_width(edit, 14);
    set("abcdefghijklmnopqrstuvwx"); /* rows of 10 */
    type("\033[D\033[A");
    ck_assert_str_eq(view(), "abcdefghijklm|nopqrstuvwx");
    type("\033[A");
    ck_assert_str_eq(view(), "abc|defghijklmnopqrstuvwx");
    type("\033[B");
    ck_assert_str_eq(view(), "abcdefghijklm|nopqrstuvwx");
    set("\xE4\xB8\x96\xE4\xB8\x96\xE4\xB8\x96\nabc");
    type("\033[A");
    ck_assert_str_eq(view(), "\xE4\xB8\x96|\xE4\xB8\x96\xE4\xB8\x96\nabc");
}
END_TEST

START_TEST(comments)
{
    const char *block = "if x:\n    a\n\n    b";
    edit_set(edit, block, strlen(block), 8);
    type("\033;");
    ck_assert_str_eq(view(), "if x:\n    |# a\n\n    b");
    type("\033;");
    ck_assert_str_eq(text(), block);
    edit_set(edit, block, strlen(block), 8);
    keys_feed(keys, "\0", 1);     /* C-Space sets the mark */
    type("\033[B\033[B\030\030"); /* and C-x C-x shows it */
    type("\033;");
    ck_assert_str_eq(text(), "if x:\n    # a\n\n    # b");
    type("\037");
    ck_assert_str_eq(text(), block);
}
END_TEST

/* ---- history -------------------------------------------------------------------------------- */

START_TEST(up_walks_lines_then_entries)
{
    run("first");
    run("a\017b");
    type("draft");
    type("\020");
    ck_assert_str_eq(view(), "a\nb|");
    type("\033[A");
    ck_assert_str_eq(view(), "a|\nb");
    type("\033[A");
    ck_assert_str_eq(view(), "first|");
    type("\033[B");
    ck_assert_str_eq(view(), "a|\nb");
    type("\033[B\033[B");
    ck_assert_str_eq(view(), "draft|");
    type("\033[B");
    ck_assert_str_eq(view(), "draft|");
    type("\020\020\020\020");
    ck_assert_str_eq(view(), "first|");
    type("\016");
    ck_assert_str_eq(view(), "a|\nb");
    type("\016");
    ck_assert_str_eq(view(), "draft|");
}
END_TEST

START_TEST(up_with_a_beginning)
{
    run("import os");
    run("print(1)");
    run("import sys");
    run("x");
    type("im\033[A");
    ck_assert_str_eq(view(), "import sys|");
    type("\033[A");
    ck_assert_str_eq(view(), "import os|");
    type("\033[A");
    ck_assert_str_eq(view(), "import os|");
    type("\033[B\033[B");
    ck_assert_str_eq(view(), "im|");
    type("\033p\033p");
    ck_assert_str_eq(view(), "import os|");
    type("\033n\033n");
    ck_assert_str_eq(view(), "im|");
    type("\020"); /* whole entries */
    ck_assert_str_eq(view(), "x|");
}
END_TEST

START_TEST(an_edited_entry_is_a_draft)
{
    run("aa");
    run("bb");
    type("\033[A");
    type("!\001\033[A"); /* edited: what was typed is not lost */
    ck_assert_str_eq(text(), "bb");
    type("\033[B");
    ck_assert_str_eq(view(), "|bb!");
}
END_TEST

START_TEST(first_of_session_then_of_all)
{
    history_add(history, "other", "theirs", 6);
    run("one");
    run("two");
    type("x\033<");
    ck_assert_str_eq(text(), "one");
    type("\033<");
    ck_assert_str_eq(text(), "theirs");
    type("\033>");
    ck_assert_str_eq(view(), "x|");
}
END_TEST

START_TEST(operate_and_next)
{
    size_t size;
    run("one");
    run("two");
    run("three");
    type("\020\020\020");
    static const char *const shown[] = {"one", "two", "three", "one"};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_str_eq(text(), shown[i]);
        type("\030\017");
        ck_assert_uint_ne(reaction & EDIT_SUBMIT, 0);
        char *block = edit_take(edit, &size);
        ck_assert_str_eq(block, shown[i]);
        free(block);
        ck_assert_str_eq(text(), shown[i + 1]);
    }
}
END_TEST

START_TEST(last_words)
{
    run("open('a', mode)");
    run("x = [1, 2]");
    type("y = \033.");
    ck_assert_str_eq(view(), "y = 2]|");
    type("\033.");
    ck_assert_str_eq(view(), "y = mode)|");
    type("\033.");
    ck_assert_str_eq(view(), "y = mode)|");
    type(" \033.");
    ck_assert_str_eq(view(), "y = mode) 2]|");
}
END_TEST

START_TEST(search)
{
    run("import os");
    run("for x in y:\017print(x)");
    run("import sys");
    type("draft\022");
    ck_assert(edit_is_pending(edit));
    ck_assert_str_eq(edit_message(edit), "(reverse-i-search)`': ");
    ck_assert_str_eq(view(), "draft|");
    type("imp");
    ck_assert_str_eq(view(), "|import sys");
    ck_assert_str_eq(edit_message(edit), "(reverse-i-search)`imp': ");
    size_t from, to;
    ck_assert(edit_region(edit, &from, &to));
    ck_assert_uint_eq(to, 3);
    type("\022");
    ck_assert_str_eq(view(), "|import os");
    type("\022");
    ck_assert_str_eq(edit_message(edit), "(failed reverse-i-search)`imp': ");
    type("\023");
    ck_assert_str_eq(view(), "|import sys");
    type("\007");
    ck_assert_str_eq(view(), "draft|");
    ck_assert_str_eq(edit_message(edit), "");
    type("\022rint\033");
    ck_assert_str_eq(view(), "for x in y:\n    p|rint(x)");
    type("\016");
    ck_assert_str_eq(text(), "import sys");
    type("\016");
    ck_assert_str_eq(view(), "draft|");
    type("\022zz\177\177os\r");
    ck_assert_uint_ne(reaction & EDIT_SUBMIT, 0);
    take("import os");
}
END_TEST

START_TEST(search_keys_after)
{
    run("print(1)");
    type("\022rin\005");
    ck_assert_str_eq(view(), "print(1)|");
    ck_assert(!edit_is_pending(edit));
    type("\025\022\022"); /* the last one again */
    ck_assert_str_eq(view(), "p|rint(1)");
    type("\007");
    ck_assert_str_eq(view(), "|");
    type("\022");
    ck_assert(!edit_cancel(edit));
    ck_assert(!edit_is_pending(edit));
}
END_TEST

/* ---- paste ---------------------------------------------------------------------------------- */

static const struct {
    const char *before, *pasted, *after;
} pastes[] = {
    {"|", "x = 1", "x = 1|"},
    {"|", "x = 1\n", "x = 1|"},
    {"|", "a\nb\n", "a\nb\n|"},
    {"|", ">>> x = 1", "x = 1|"},
    {"|", ">>> for i in x:\n...     print(i)\n... \n0\n1\n>>> y\n2\n",
     "for i in x:\n    print(i)\n\ny\n|"},
    {"|", "    >>> f()\n    1\n    >>> g()\n", "f()\ng()\n|"},
    {"|", "In [1]: x = 1\n\nIn [12]: if x:\n    ...:     y\n    ...: \nOut[12]: 3\n",
     "x = 1\nif x:\n    y\n|"},
    {"|", "def f():\n    '''\n    >>> 1\n    '''", "def f():\n    '''\n    >>> 1\n    '''|"},
    {"|", "    a\n      b\n\n    c", "a\n  b\n\nc|"},
    {"if x:\n    |", "        a\n        b", "if x:\n    a\n    b|"},
    {"x = |", "    y\n  z", "x =     y\n  z|"},
    {"'''\n|", ">>> a", "'''\n>>> a|"},
    {"|", ">>> x\n>>> y", "x\ny|"},
    {"|", ">>>x", ">>>x|"},
};

START_TEST(paste_is_cleaned)
{
    const char *before = pastes[_i].before, *point = strchr(before, '|');
    edit_set(edit, before, strlen(before) - 1, (size_t)(point - before));
    char *bytes = xasprintf("\033[200~%s\033[201~", pastes[_i].pasted);
    type(bytes);
    free(bytes);
    ck_assert_str_eq(view(), pastes[_i].after);
    ck_assert_uint_eq(all & EDIT_SUBMIT, 0);
    type("\037"); /* one undo step */
    ck_assert_str_eq(view(), before);
}
END_TEST

START_TEST(paste_anywhere)
{
    type("\033[200~a\nb\033[201~");
    type("\022\033[200~x\ny\033[201~"); /* into a search: its first line */
    ck_assert_str_eq(edit_message(edit), "(failed reverse-i-search)`x': ");
    type("\007");
    ck_assert_str_eq(text(), "a\nb");
    type("\0333\033[200~c\033[201~"); /* an argument is dropped */
    ck_assert_str_eq(text(), "a\nbc");
    ck_assert_str_eq(edit_message(edit), "");
    type("\026\033[200~d\033[201~e");
    ck_assert_str_eq(text(), "a\nbcde");
}
END_TEST

START_TEST(a_long_paste)
{
    struct strbuf lines = STRBUF_INIT;
    for (int i = 0; i < 10000; i++)
        strbuf_addf(&lines, ">>> value_%d = compute(%d)\n", i, i);
    int64_t before = test_now_ms();
    edit_paste(edit, lines.data, lines.size);
    ck_assert_int_lt(test_now_ms() - before, test_scaled_ms(1000)); /* 5 ms on a quiet machine */
    size_t size;
    edit_text(edit, &size);
    ck_assert_uint_eq(size, lines.size - 4 * 10000);
    strbuf_free(&lines);
}
END_TEST

/* ---- readline's own ------------------------------------------------------------------------- */

START_TEST(arguments_and_messages)
{
    type("\0335");
    ck_assert_str_eq(edit_message(edit), "(arg: 5) ");
    ck_assert(edit_is_pending(edit));
    type("x");
    ck_assert_str_eq(view(), "xxxxx|");
    ck_assert_str_eq(edit_message(edit), "");
    ck_assert(!edit_is_pending(edit));
    type("\0332\0339");
    ck_assert(edit_cancel(edit));
    ck_assert_str_eq(edit_message(edit), "");
    type("\031"); /* what was cancelled is in the kill ring */
    ck_assert_str_eq(view(), "xxxxx|");
}
END_TEST

START_TEST(quoted_insert)
{
    type("a\026");
    ck_assert(edit_is_pending(edit));
    type("\t");
    ck_assert_str_eq(view(), "a\t|");
    type("\026\r");
    ck_assert_str_eq(view(), "a\t\r|");
    keys_feed(keys, "\026\0", 2);
    type("b\033b\033f"); /* a NUL would hold word motions up for ever */
    ck_assert_uint_eq(strlen(text()), 5);
}
END_TEST

START_TEST(macros)
{
    type("\030(ab\030)");
    ck_assert_str_eq(text(), "ab");
    type("\030e");
    ck_assert_str_eq(text(), "abab");
    type("\0333\030e");
    ck_assert_str_eq(text(), "ababababab");
    type("\030(x\030e\030)\030e"); /* one that calls itself */
    ck_assert_uint_eq(strlen(text()), 12);
}
END_TEST

START_TEST(vi_mode)
{
    ck_assert_int_eq(edit_mode(edit), EDIT_EMACS);
    edit_toggle_vi(edit);
    ck_assert_int_eq(edit_mode(edit), EDIT_VI_INSERT);
    type("one two\017three");
    type("\033");
    ck_assert_int_eq(edit_mode(edit), EDIT_VI_COMMAND);
    type("k");
    ck_assert_str_eq(view(), "one |two\nthree");
    type("cwsix");
    type("\033");
    ck_assert_str_eq(view(), "one si|x\nthree");
    type("yyP");
    ck_assert_str_eq(text(), "one sione six\nx\nthree");
    type("u");
    ck_assert_str_eq(text(), "one six\nthree");
    type("dd");
    ck_assert_str_eq(view(), "|three");
    type("p");
    ck_assert_str_eq(text(), "tone six\nhree");
    type("ujj0");
    ck_assert_str_eq(view(), "|three");
    type("$x0");
    ck_assert_str_eq(view(), "|thre");
    type("ra");
    ck_assert_str_eq(view(), "|ahre");
    type("r\033[A"); /* a key that is no character */
    ck_assert_str_eq(view(), "|ahre");
    type("A!");
    type("\033");
    type("Ix");
    type("\033");
    ck_assert_str_eq(text(), "xahre!");
    type("ccnew\r");
    ck_assert_uint_ne(reaction & EDIT_SUBMIT, 0);
    take("new");
    ck_assert_int_eq(edit_mode(edit), EDIT_VI_INSERT);
    type("x");
    type("\033");
    type("oy");
    type("\033");
    type("Oz");
    ck_assert_str_eq(text(), "x\nz\ny");
    edit_toggle_vi(edit);
    ck_assert_int_eq(edit_mode(edit), EDIT_EMACS);
}
END_TEST

START_TEST(keys_that_mean_nothing)
{
    type("ab\033[1;9X\033[19~\033[57399u");
    ck_assert_str_eq(view(), "ab|");
    ck_assert_uint_eq(reaction, EDIT_UNUSED);
    type("\014"); /* C-l: the screen's */
    ck_assert_uint_ne(reaction & EDIT_UNUSED, 0);
    type("\030\033[A"); /* and within a sequence */
    ck_assert_str_eq(view(), "ab|");
    ck_assert(!edit_is_pending(edit));
    for (int i = 0; i < 2; i++) { /* a sequence that breaks off: readline 8.2 crashes in vi mode */
        type("\033[");
        type("1\a");
        ck_assert_str_eq(view(), "ab|");
        ck_assert(!edit_is_pending(edit));
        edit_toggle_vi(edit);
    }
    type("\033");
    ck_assert(edit_is_pending(edit));
    type("b"); /* as Alt */
    ck_assert_str_eq(view(), "|ab");
    type("\033[Z");
    ck_assert_uint_ne(reaction & EDIT_SIGNATURE, 0);
    type("\033OQ");
    ck_assert_uint_ne(reaction & EDIT_EXTERNAL, 0);
    type("\030\005");
    ck_assert_uint_ne(reaction & EDIT_EXTERNAL, 0);
}
END_TEST

START_TEST(drafts)
{
    type("one");
    edit_set(edit, "two\0x", 5, 3);
    ck_assert_str_eq(view(), "two| x");
    type("\037");
    ck_assert_str_eq(view(), "two| x"); /* no undo into another draft */
    edit_insert(edit, "AB", 2);
    edit_replace(edit, 0, 3, "2", 1);
    ck_assert_str_eq(view(), "2|AB x");
    type("\037");
    ck_assert_str_eq(text(), "twoAB x");
    type("\037");
    ck_assert_str_eq(text(), "two x");
}
END_TEST

/* These need a process in which readline has not begun: no fixture. */
START_TEST(inputrc_is_honoured)
{
    const char *path = test_path("inputrc");
    test_write_file(path,
                    "$if hermes-repl\n\"\\C-o\": \"yes\"\n\"\\C-t\": accept-line\n$endif\n"
                    "$if other\n\"\\C-t\": kill-line\n$endif\n"
                    "\"\\C-xo\": operate-and-get-next\n\"\\eq\": hermes-newline\n"
                    "\"\\C-y\": previous-history\nset bell-style audible\n",
                    0600);
    setenv("INPUTRC", path, 1);
    history = history_new();
    edit = edit_new(history);
    keys = keys_new();
    type("\017\033q\033q");
    ck_assert_str_eq(text(), "yes\n\n");
    type("\024"); /* accept-line is our Enter on any key */
    ck_assert_uint_ne(reaction & EDIT_SUBMIT, 0);
    take("yes");
    type("\031");
    ck_assert_str_eq(text(), "yes");
    type("\030o");
    ck_assert_uint_ne(reaction & EDIT_SUBMIT, 0);
    tear_down();
}
END_TEST

START_TEST(without_a_utf8_locale)
{
    setenv("LC_ALL", "C", 1);
    set_up();
    type("h\xC3\xA9\xE4\xB8\x96\177");
    ck_assert_str_eq(view(), "h\xC3\xA9|");
    type("\002x");
    ck_assert_str_eq(view(), "hx|\xC3\xA9");
    tear_down();
}
END_TEST

/* ---- completion ----------------------------------------------------------------------------- */

static void offer(size_t start, const char *const *words, size_t count)
{
    struct edit_match matches[8];
    for (size_t i = 0; i < count; i++) {
        matches[i].text = xstrdup(words[i]);
        matches[i].type = NULL;
    }
    edit_offer(edit, start, edit_point(edit), matches, count);
    for (size_t i = 0; i < count; i++)
        free(matches[i].text);
}

static size_t popup(size_t *selected)
{
    size_t count = 0;
    return edit_popup(edit, &count, selected) ? count : 0;
}

START_TEST(one_match)
{
    type("x.rea\t");
    ck_assert_uint_ne(reaction & EDIT_COMPLETE, 0);
    offer(2, (const char *[]){"real"}, 1);
    ck_assert_str_eq(view(), "x.real|");
    ck_assert(!edit_is_pending(edit));
    type("\037");
    ck_assert_str_eq(view(), "x.rea|");
    type("\t");
    type("l");
    offer(2, (const char *[]){"real_one"}, 1); /* too late */
    ck_assert_str_eq(view(), "x.real|");
}
END_TEST

START_TEST(several_matches)
{
    size_t selected;
    const char *const words[] = {"print", "property", "process"};
    type("p\t");
    offer(0, words, 3);
    ck_assert_str_eq(view(), "pr|");
    ck_assert_uint_eq(popup(&selected), 3);
    ck_assert_uint_eq(selected, SIZE_MAX);
    type("\t");
    ck_assert_str_eq(view(), "print|");
    type("\033[B");
    ck_assert_str_eq(view(), "property|");
    type("\033[A\033[A");
    ck_assert_str_eq(view(), "pr|");
    type("o"); /* narrows */
    ck_assert_uint_eq(popup(&selected), 2);
    type("\033[Z");
    ck_assert_str_eq(view(), "process|");
    type("\r"); /* takes it; runs nothing */
    ck_assert_uint_eq(all & EDIT_SUBMIT, 0);
    ck_assert_uint_eq(popup(&selected), 0);
    ck_assert_str_eq(view(), "process|");
    type("\r");
    ck_assert_uint_ne(all & EDIT_SUBMIT, 0);
}
END_TEST

START_TEST(leaving_the_popup)
{
    size_t selected;
    const char *const words[] = {"print", "property"};
    type("pr\t");
    offer(0, words, 2);
    type("\t");
    ck_assert_str_eq(view(), "print|");
    type("\033");
    ck_assert_str_eq(view(), "pr|");
    ck_assert_uint_eq(popup(&selected), 0);
    type("\t");
    offer(0, words, 2);
    type("\t(");
    ck_assert_str_eq(view(), "print(|");
    ck_assert_uint_eq(popup(&selected), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("edit");
    TCase *typing = tcase_create("typing"), *lines = tcase_create("lines"),
          *past = tcase_create("past"), *pasting = tcase_create("pasting"),
          *rest = tcase_create("rest"), *fresh = tcase_create("fresh"),
          *completion = tcase_create("completion");

    tcase_add_checked_fixture(typing, set_up, tear_down);
    tcase_add_test(typing, types_and_submits);
    tcase_add_test(typing, characters_of_all_sizes);
    tcase_add_test(typing, enter_where_the_cursor_is);
    tcase_add_test(typing, a_block);
    tcase_add_test(typing, commands_run_at_once);
    tcase_add_test(typing, submit_as_it_is);
    tcase_add_test(typing, end_of_input);
    tcase_add_test(typing, tab_and_backspace_in_blanks);
    tcase_add_loop_test(typing, what_is_complete, 0, (int)(sizeof blocks / sizeof *blocks));
    tcase_add_loop_test(typing, newline_is_indented, 0, (int)(sizeof enters / sizeof *enters));
    suite_add_tcase(suite, typing);
    tcase_add_checked_fixture(lines, set_up, tear_down);
    tcase_add_test(lines, line_keys_are_of_one_line);
    tcase_add_test(lines, up_and_down_keep_the_column);
    tcase_add_test(lines, up_goes_by_rows);
    tcase_add_test(lines, comments);
    suite_add_tcase(suite, lines);
    tcase_add_checked_fixture(past, set_up, tear_down);
    tcase_add_test(past, up_walks_lines_then_entries);
    tcase_add_test(past, up_with_a_beginning);
    tcase_add_test(past, an_edited_entry_is_a_draft);
    tcase_add_test(past, first_of_session_then_of_all);
    tcase_add_test(past, operate_and_next);
    tcase_add_test(past, last_words);
    tcase_add_test(past, search);
    tcase_add_test(past, search_keys_after);
    suite_add_tcase(suite, past);
    tcase_add_checked_fixture(pasting, set_up, tear_down);
    tcase_add_loop_test(pasting, paste_is_cleaned, 0, (int)(sizeof pastes / sizeof *pastes));
    tcase_add_test(pasting, paste_anywhere);
    tcase_add_test(pasting, a_long_paste);
    suite_add_tcase(suite, pasting);
    tcase_add_checked_fixture(rest, set_up, tear_down);
    tcase_add_test(rest, arguments_and_messages);
    tcase_add_test(rest, quoted_insert);
    tcase_add_test(rest, macros);
    tcase_add_test(rest, vi_mode);
    tcase_add_test(rest, keys_that_mean_nothing);
    tcase_add_test(rest, drafts);
    suite_add_tcase(suite, rest);
    tcase_add_test(fresh, inputrc_is_honoured);
    tcase_add_test(fresh, without_a_utf8_locale);
    suite_add_tcase(suite, fresh);
    tcase_add_checked_fixture(completion, set_up, tear_down);
    tcase_add_test(completion, one_match);
    tcase_add_test(completion, several_matches);
    tcase_add_test(completion, leaving_the_popup);
    suite_add_tcase(suite, completion);
    return test_run(suite);
}
