/* SPDX-License-Identifier: MIT */
/*
 * A file as a session's document, with a real engine: cells run in their places, are changed, and
 * go back to the file, which nobody else's changes are lost from. nbformat judges the notebooks.
 */
#include "config.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "engine-testlib.h"
#include "repl-document.h"
#include "repl-testlib.h"
#include "xalloc.h"

static struct settings settings;
static struct tool_terms terms;
static struct repl_options options;
static struct repl *repl;
static struct strbuf error, said, shown, inserted, asked;
static bool answer_yes;

static void on_say(void *context, struct repl_session *session, const char *line)
{
    (void)context, (void)session;
    strbuf_addf(&said, "%s\n", line);
}

static void on_show(void *context, struct repl_session *session, const char *title,
                    const char *text, size_t size)
{
    (void)context, (void)session, (void)title;
    strbuf_add(&shown, text, size);
}

static void on_insert(void *context, struct repl_session *session, const char *text, size_t size)
{
    (void)context, (void)session;
    strbuf_clear(&inserted);
    strbuf_add(&inserted, text, size);
}

static void on_confirm(void *context, struct repl_session *session, const char *question)
{
    (void)context, (void)session;
    if (!question)
        return;
    strbuf_setf(&asked, "%s", question);
    repl_confirm(repl, answer_yes);
}

static const struct repl_front front = {
    .say = on_say, .show = on_show, .insert = on_insert, .confirm = on_confirm};

static void set_up(void)
{
    te_set_up();
    test_repl_options(&settings, &terms, &options);
    answer_yes = false;
}

static void tear_down(void)
{
    repl_free(repl);
    repl = NULL;
    settings_free(&settings);
    struct strbuf *const texts[] = {&error, &said, &shown, &inserted, &asked};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        strbuf_free(texts[i]);
    te_tear_down();
}

static void turn(void)
{
    test_repl_turn(repl);
}

#define AWAIT(condition)                                                                           \
    do {                                                                                           \
        int64_t end_ = test_now_ms() + test_scaled_ms(TE_DEADLINE_MS);                             \
        while (!(condition)) {                                                                     \
            ck_assert_msg(test_now_ms() < end_, "never: %s\nsaid: %s", #condition,                 \
                          strbuf_text(&said));                                                     \
            turn();                                                                                \
        }                                                                                          \
    } while (0)

#define HAS(text, part) ck_assert_msg(strstr(text, part) != NULL, "no '%s' in: %s", part, text)

static struct repl_session *session(void)
{
    return repl_front_session(repl);
}

static void open_file(const char *path)
{
    options.document = path;
    repl = repl_new(engine, &options, &front, NULL, &error);
    ck_assert_msg(repl != NULL, "%s", strbuf_text(&error));
}

static bool try(const char *line)
{
    strbuf_clear(&error);
    return repl_command(repl, session(), line, &error);
}

static void command(const char *line)
{
    ck_assert_msg(try(line), "%s: %s", line, strbuf_text(&error));
}

static void enter(const char *text)
{
    strbuf_clear(&error);
    ck_assert_msg(repl_enter(repl, session(), text, strlen(text), &error), "%s: %s", text,
                  strbuf_text(&error));
}

static void await_all(void)
{
    AWAIT(!repl_is_busy(repl));
}

/* The n-th cell of the document as it is shown, from 1. */
static struct repl_cell *cell(size_t n)
{
    for (size_t i = 0; i < session()->item_count; i++) {
        struct repl_cell *one = session()->items[i].cell;
        if (one && one->key && repl_document_number(session(), one->key) == n)
            return one;
    }
    ck_abort_msg("there is no cell %zu", n);
    return NULL;
}

static char *text_of(struct repl_cell *one)
{
    static struct strbuf text;
    strbuf_setf(&text, "%s", "");
    block_text(one->output, false, &text);
    while (text.size && text.data[text.size - 1] == '\n')
        text.data[--text.size] = '\0';
    return text.data;
}

static void is_file(const char *path, const char *wanted)
{
    char *text = test_read_file(path);
    ck_assert_str_eq(text, wanted);
    free(text);
}

/*
 * An expression about the notebook `n`, read by nbformat, where there is one, with its own
 * validator; else as JSON with the lines of texts as one, as that does it.
 */
static void is_valid(const char *path, const char *expression)
{
    static const char read[] =
        "import json, sys\n"
        "class Node(dict):\n"
        "    __getattr__ = dict.get\n"
        "def one(v):\n"
        "    text = isinstance(v, list) and v and all(isinstance(line, str) for line in v)\n"
        "    return \"\".join(v) if text else v\n"
        "try:\n"
        "    import nbformat\n"
        "    n = nbformat.read(sys.argv[1], 4)\n"
        "    nbformat.validate(n)\n"
        "except ImportError:\n"
        "    n = json.load(open(sys.argv[1]), \n"
        "                  object_hook=lambda d: Node((k, one(v)) for k, v in d.items()))\n";
    char *line = xasprintf("%s -c '%sassert %s, n' '%s'", te_python(), read, expression, path);
    ck_assert_int_eq(system(line), 0); /* NOLINT: the test's own words */
    free(line);
}

#define SCRIPT                                                                                     \
    "import os\n\n# %% two\nx = 1\nprint('x is', x)\n\n\n# %% [markdown]\n# Text\n\n"              \
    "# %%\nraise OSError(x + 1)\n\n# %%\nprint('last')\n"

static const char *script(void)
{
    const char *path = test_path("a.py");
    test_write_file(path, SCRIPT, 0644);
    return path;
}

#define NOTEBOOK                                                                                   \
    "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 7,\n"             \
    "   \"id\": \"aa\",\n   \"metadata\": {\n    \"k\": 2.50\n   },\n   \"outputs\": [\n    {\n"   \
    "     \"name\": \"stdout\",\n     \"output_type\": \"stream\",\n     \"text\": [\n"            \
    "      \"of old\\n\"\n     ]\n    }\n   ],\n   \"source\": [\n    \"a = 20\\n\",\n"            \
    "    \"a + 1\"\n   ]\n  },\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"bb\",\n"        \
    "   \"metadata\": {},\n   \"source\": [\n    \"# Title\"\n   ]\n  },\n  {\n"                   \
    "   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"cc\",\n"             \
    "   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    \"b = 1\"\n   ]\n  }\n ],\n" \
    " \"metadata\": {\n  \"custom\": {\n   \"kept\": true\n  }\n },\n \"nbformat\": 4,\n"          \
    " \"nbformat_minor\": 5\n}\n"

static const char *notebook(void)
{
    const char *path = test_path("n.ipynb");
    test_write_file(path, NOTEBOOK, 0644);
    return path;
}

/* ---- opening and running -------------------------------------------------------------------- */

START_TEST(opens_and_runs_nothing)
{
    open_file(notebook());
    ck_assert_str_eq(session()->name, "n");
    ck_assert_uint_eq(repl_document_count(session()), 3);
    ck_assert_str_eq(text_of(cell(1)), "of old");
    ck_assert_uint_eq(cell(1)->number, 7);
    ck_assert_int_eq(cell(1)->state, REPL_EARLIER);
    ck_assert_int_eq(cell(2)->kind, CELL_MARKDOWN);
    ck_assert_uint_eq(cell(3)->number, 0);
    ck_assert(!repl_is_busy(repl) && !repl_document_is_modified(session()));
    command("save");
    HAS(strbuf_text(&said), "no changes");
    is_file(test_path("n.ipynb"), NOTEBOOK);
}
END_TEST

START_TEST(runs_cells_in_their_places)
{
    open_file(notebook());
    command("run 1");
    ck_assert_uint_eq(session()->item_count, 3);
    await_all();
    ck_assert_str_eq(text_of(cell(1)), "21");
    ck_assert_uint_eq(cell(1)->number, 1);
    ck_assert_uint_eq(session()->item_count, 3);
    ck_assert(repl_document_is_modified(session()));
    ck_assert(!try("run 2"));
    HAS(strbuf_text(&error), "text");
    ck_assert(!try("run 9"));
    HAS(strbuf_text(&error), "1 to 3");
    command("save");
    ck_assert(!repl_document_is_modified(session()));
    is_valid(test_path("n.ipynb"),
             "n.cells[0].outputs[0].data[\"text/plain\"] == \"21\" and n.cells[0].id == \"aa\" "
             "and n.cells[0].execution_count == 1 and n.metadata.custom.kept and "
             "n.cells[0].metadata.k == 2.5");
}
END_TEST

START_TEST(runs_all_until_one_fails_and_names_the_file)
{
    open_file(script());
    command("run-all");
    await_all();
    ck_assert_str_eq(text_of(cell(2)), "x is 1");
    HAS(text_of(cell(4)), "a.py\", line 12, in <module>");
    HAS(text_of(cell(4)), "raise OSError(x + 1)");
    ck_assert(cell(5)->state == REPL_EARLIER && !cell(5)->due);
    HAS(strbuf_text(&said), "cell 4 failed: 1 cell behind it was not run");
    ck_assert(!repl_document_is_modified(session())); /* scripts have no outputs */
    command("run-below 5");
    await_all();
    ck_assert_str_eq(text_of(cell(5)), "last");
    command("run-above 3");
    ck_assert(cell(2)->due);
    await_all();
    ck_assert_uint_eq(cell(2)->number, 6);
    command("run-all");
    ck_assert(cell(5)->due);
    command("drop");
    ck_assert(!cell(5)->due);
    await_all();
    ck_assert_uint_eq(cell(2)->number, 6);
    ck_assert(!try("run-above 1"));
}
END_TEST

START_TEST(tracebacks_show_lines_of_all_cells)
{
    test_write_file(test_path("t.py"), "# %%\ndef f(x):\n    return 1 / x\n\n# %%\n1\n# %%\nf(0)\n",
                    0644);
    open_file(test_path("t.py"));
    command("run-all");
    await_all();
    HAS(text_of(cell(3)), "line 8, in <module>\n    f(0)");
    HAS(text_of(cell(3)), "line 3, in f\n    return 1 / x");
    command("insert-above 1"); /* what is not saved counts, too */
    command("run 4");
    await_all();
    HAS(text_of(cell(4)), "line 11, in <module>\n    f(0)");
}
END_TEST

START_TEST(keeps_the_output_of_a_cell_whose_run_was_dropped)
{
    open_file(notebook());
    command("run 1");
    await_all();
    enter("import time; time.sleep(30)");
    AWAIT(session()->running);
    command("run 1");
    command("drop");
    command("interrupt");
    await_all();
    ck_assert(cell(1)->not_run);
    command("save");
    is_valid(test_path("n.ipynb"), "n.cells[0].outputs[0].data[\"text/plain\"] == \"21\"");
}
END_TEST

/* ---- changing ------------------------------------------------------------------------------- */

START_TEST(edits_a_cell_and_runs_it)
{
    open_file(script());
    command("edit-cell 2");
    ck_assert_str_eq(strbuf_text(&inserted), "x = 1\nprint('x is', x)");
    ck_assert_uint_ne(repl_document_editing(session()), 0);
    enter("x = 5\nprint('now', x)\n");
    await_all();
    ck_assert_str_eq(text_of(cell(2)), "now 5");
    ck_assert_uint_eq(repl_document_editing(session()), 0);
    ck_assert(repl_document_is_modified(session()));
    command("save");
    is_file(test_path("a.py"), "import os\n\n# %% two\nx = 5\nprint('now', x)\n\n\n"
                               "# %% [markdown]\n# Text\n\n# %%\nraise OSError(x + 1)\n\n"
                               "# %%\nprint('last')\n");
    command("undo-edit");
    ck_assert(cell(2)->edited && repl_document_is_modified(session()));
    ck_assert_str_eq(text_of(cell(2)), "now 5"); /* as in other notebooks */
    command("save");
    is_file(test_path("a.py"), SCRIPT);
    command("redo-edit");
    ck_assert(!cell(2)->edited);
    command("edit-cell 3"); /* text: it does not run, whatever it looks like */
    enter("# :quit");
    ck_assert(!repl_is_busy(repl) && !repl_wants_quit(repl));
    ck_assert_str_eq(cell(3)->source, "# :quit");
}
END_TEST

START_TEST(what_is_entered_becomes_a_cell)
{
    open_file(script());
    command("run 2");
    await_all();
    enter("y = x + 1\ny");
    await_all();
    ck_assert_uint_eq(repl_document_count(session()), 6);
    ck_assert_str_eq(text_of(cell(3)), "2");
    enter("%time 1");           /* no Python: no cell of a script */
    enter("  z = 40\n  z + 2"); /* kept out of the history: out of the file, too */
    await_all();
    struct repl_cell *newest = session()->items[session()->item_count - 1].cell;
    ck_assert_str_eq(text_of(newest), "42");
    ck_assert_uint_eq(newest->key, 0);
    enter(":vars y");
    await_all();
    ck_assert_uint_eq(repl_document_count(session()), 6);
    command("save");
    is_file(test_path("a.py"),
            "import os\n\n# %% two\nx = 1\nprint('x is', x)\n\n\n# %%\ny = x + 1\ny\n\n"
            "# %% [markdown]\n# Text\n\n# %%\nraise OSError(x + 1)\n\n# %%\nprint('last')\n");
}
END_TEST

START_TEST(inserts_splits_merges_moves_and_undoes)
{
    open_file(notebook());
    command("run 1");
    await_all();
    command("split 2"); /* the chosen one: the one that ran */
    ck_assert_str_eq(cell(1)->source, "a = 20");
    ck_assert_str_eq(cell(2)->source, "a + 1");
    ck_assert_str_eq(text_of(cell(1)), "");
    command("merge 1");
    ck_assert_str_eq(cell(1)->source, "a = 20\na + 1");
    command("undo-edit");
    command("undo-edit");
    ck_assert_str_eq(text_of(cell(1)), "21"); /* the cell that ran, with what it showed */
    command("move-down 1");
    ck_assert_int_eq(cell(1)->kind, CELL_MARKDOWN);
    ck_assert_str_eq(text_of(cell(2)), "21");
    command("insert-above 1");
    command("kind markdown");
    command("insert-below 4");
    command("delete-cell 2");
    ck_assert_uint_eq(repl_document_count(session()), 4);
    command("save");
    is_valid(test_path("n.ipynb"),
             "[c.cell_type for c in n.cells] == [\"markdown\", \"code\", \"code\", \"code\"] and "
             "n.cells[1].id == \"aa\" and len({c.id for c in n.cells}) == 4");
    char *first = test_read_file(test_path("n.ipynb"));
    command("insert-below 1");
    command("undo-edit");
    ck_assert(!repl_document_is_modified(session()));
    command("edit-cell 3");
    enter("b = 2");
    await_all();
    command("undo-edit");
    command("save"); /* the run's count has changed, ids have not */
    is_valid(test_path("n.ipynb"), "n.cells[0].id");
    free(first);
    while (try("undo-edit"))
        continue;
    ck_assert_str_eq(cell(1)->source, "a = 20\na + 1");
    ck_assert_uint_eq(repl_document_count(session()), 3);
}
END_TEST

START_TEST(shows_what_was_undone_while_the_cell_ran)
{
    open_file(script());
    command("edit-cell 2");
    enter("import time; time.sleep(30)");
    AWAIT(session()->running);
    command("undo-edit");
    ck_assert_str_eq(cell(2)->source, "import time; time.sleep(30)"); /* that is what runs */
    ck_assert(cell(2)->edited);
    command("interrupt");
    await_all();
    ck_assert_str_eq(cell(2)->source, "x = 1\nprint('x is', x)");
    ck_assert(cell(2)->edited);
    ck_assert_int_eq(cell(2)->outcome, HERMES_INTERRUPTED);
}
END_TEST

START_TEST(deletes_no_cell_that_runs_but_survives_its_undo)
{
    open_file(script());
    enter("import time; time.sleep(30)"); /* behind the last one */
    AWAIT(session()->running);
    ck_assert(!try("delete-cell 6"));
    command("undo-edit"); /* its source */
    command("undo-edit"); /* and the cell: it runs on, unseen */
    ck_assert_uint_eq(repl_document_count(session()), 5);
    command("interrupt");
    await_all();
    command("redo-edit");
    command("redo-edit");
    ck_assert_uint_eq(repl_document_count(session()), 6);
    ck_assert_int_eq(cell(6)->outcome, HERMES_INTERRUPTED);
}
END_TEST

START_TEST(lost_state_is_told_below_the_cell_that_lost_it)
{
    open_file(script());
    command("edit-cell 2");
    enter("import os; os.kill(os.getpid(), 9)");
    AWAIT(session()->item_count == 6);
    await_all();
    ck_assert_ptr_eq(session()->items[1].cell, cell(2));
    HAS(session()->items[2].text, "state lost");
    command("move-up 2");
    HAS(session()->items[1].text, "state lost");
}
END_TEST

START_TEST(lost_state_is_told_at_the_end_when_its_cell_is_gone)
{
    open_file(script());
    command("run 2");
    await_all();
    command("delete-cell 2");
    size_t count = session()->item_count;
    command("reset -f");
    AWAIT(session()->item_count == count + 1);
    HAS(session()->items[count].text, "kernel reset");
}
END_TEST

/* ---- the file ------------------------------------------------------------------------------- */

START_TEST(asks_before_it_writes_over_what_another_wrote)
{
    open_file(script());
    command("delete-cell 5");
    test_write_file(test_path("a.py"), "z = 1\n", 0644);
    repl_document_look(repl, session());
    HAS(strbuf_text(&said), "a.py was changed on disk");
    ck_assert(repl_document_changed_on_disk(session()));
    command("save");
    HAS(strbuf_text(&asked), "a.py was changed on disk: write over it?");
    is_file(test_path("a.py"), "z = 1\n"); /* no was the answer */
    command("reload");
    HAS(strbuf_text(&asked), "read a.py again?");
    ck_assert_uint_eq(repl_document_count(session()), 4);
    answer_yes = true;
    command("reload");
    ck_assert_uint_eq(repl_document_count(session()), 1);
    ck_assert(!repl_document_is_modified(session()) && !repl_document_changed_on_disk(session()));
    test_write_file(test_path("a.py"), "other = 1\n", 0644);
    command("save"); /* unchanged here, but asked for */
    is_file(test_path("a.py"), "z = 1\n");
    unlink(test_path("a.py"));
    command("save");
    is_file(test_path("a.py"), "z = 1\n");
}
END_TEST

START_TEST(a_cell_that_changes_its_own_file_is_noticed)
{
    open_file(script());
    char *line = xasprintf("open('%s', 'a').write('# more')", test_path("a.py"));
    enter(line);
    await_all();
    HAS(strbuf_text(&said), "was changed on disk");
    free(line);
}
END_TEST

START_TEST(saves_under_other_names_and_as_other_things)
{
    open_file(notebook());
    command("run 1");
    await_all();
    char *line = xasprintf("save %s", test_path("o.md"));
    command(line);
    free(line);
    char *text = test_read_file(test_path("o.md"));
    HAS(text, "# Title");
    HAS(text, "21");
    free(text);
    ck_assert(repl_document_is_modified(session()));
    HAS(repl_document_path(session()), "n.ipynb");
    line = xasprintf("save-as %s", test_path("p.ipynb"));
    command(line);
    HAS(repl_document_path(session()), "p.ipynb");
    ck_assert(!repl_document_is_modified(session()));
    is_file(test_path("n.ipynb"), NOTEBOOK);
    free(line);
    line = xasprintf("save-as %s", test_path("n.ipynb"));
    command(line);
    HAS(strbuf_text(&asked), "n.ipynb is there already");
    is_file(test_path("n.ipynb"), NOTEBOOK);
    free(line);
    chmod(test_directory(), 0500);
    command("insert-below 1");
    bool good = geteuid() == 0 || !try("save"); /* root may write anywhere */
    chmod(test_directory(), 0700);
    ck_assert(good && repl_document_is_modified(session()));
}
END_TEST

START_TEST(asks_before_changes_are_lost)
{
    open_file(script());
    command("insert-below 1");
    command("quit");
    HAS(strbuf_text(&asked), "quit? Not saved: a.py.");
    ck_assert(!repl_wants_quit(repl));
    command("close");
    HAS(strbuf_text(&asked), "not saved");
    ck_assert_uint_eq(repl_document_count(session()), 6);
    command("undo-edit");
    command("quit");
    ck_assert(repl_wants_quit(repl));
}
END_TEST

/* The only file there; free(). */
static char *only_file(const char *directory)
{
    DIR *dir = opendir(directory);
    char *name = NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        ck_assert_ptr_null(name);
        name = xasprintf("%s/%s", directory, entry->d_name);
    }
    ck_assert_msg(name != NULL, "nothing in %s", directory);
    closedir(dir);
    return name;
}

/* As a signal would have it; what stands in the prompt may be NULL. */
static const char *rescue(const char *prompt)
{
    static struct strbuf told;
    strbuf_clear(&told);
    repl_document_rescue(repl, prompt, prompt ? strlen(prompt) : 0, &told);
    return strbuf_text(&told);
}

static void open_again(const char *path)
{
    repl_free(repl);
    strbuf_clear(&said);
    open_file(path);
    turn();
}

START_TEST(changes_are_rescued_and_recovered)
{
    struct stat status;
    open_file(script());
    ck_assert_str_eq(rescue("not a cell's"), ""); /* nothing was changed */
    command("edit-cell 5");
    enter("print('never saved')");
    command("edit-cell 1");
    const char *told = rescue("x = 'half typed");
    char *name = only_file(test_path("hermes-repl/recovered"));
    HAS(told, test_path("a.py"));
    HAS(told, name);
    ck_assert_int_eq(stat(name, &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0600);
    ck_assert_int_eq(stat(test_path("hermes-repl/recovered"), &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0700);
    char *text = test_read_file(name);
    HAS(text, "x = 'half typed\n");
    HAS(text, "# %%\nraise OSError(x + 1)\n\n# %%\nprint('never saved')\n");
    is_file(test_path("a.py"), SCRIPT);
    open_again(test_path("a.py"));
    HAS(strbuf_text(&said), "not saved");
    HAS(strbuf_text(&said), name);
    command("insert-below 1");
    ck_assert(!try("recover"));
    HAS(strbuf_text(&error), "was changed here, too");
    command("undo-edit");
    command("recover");
    ck_assert_str_eq(cell(5)->source, "print('never saved')");
    ck_assert(repl_document_is_modified(session()));
    is_file(test_path("a.py"), SCRIPT);
    is_file(name, text); /* until it is saved */
    command("save");
    is_file(test_path("a.py"), text);
    ck_assert_int_eq(access(name, F_OK), -1);
    ck_assert(!try("recover"));
    HAS(strbuf_text(&error), "no changes of a.py");
    open_again(test_path("a.py"));
    ck_assert_ptr_null(strstr(strbuf_text(&said), "not saved"));
    free(text);
    free(name);
}
END_TEST

START_TEST(a_notebooks_outputs_are_rescued_and_dropped)
{
    test_write_file(test_path("a.ipynb"), NOTEBOOK, 0644);
    open_file(test_path("a.ipynb"));
    command("run 1");
    await_all();
    rescue(NULL);
    char *name = only_file(test_path("hermes-repl/recovered"));
    is_valid(name, "n.cells[0].outputs[0].data[\"text/plain\"] == \"21\"");
    test_write_file(test_path("sub.ipynb"), NOTEBOOK, 0644); /* another one */
    open_again(test_path("sub.ipynb"));
    ck_assert_ptr_null(strstr(strbuf_text(&said), "not saved"));
    open_again(test_path("a.ipynb"));
    HAS(strbuf_text(&said), "not saved");
    command("recover drop");
    ck_assert_int_eq(access(name, F_OK), -1);
    ck_assert(!try("recover drop"));
    is_file(test_path("a.ipynb"), NOTEBOOK);
    free(name);
}
END_TEST

START_TEST(what_cannot_be_rescued_is_told)
{
    open_file(script());
    command("insert-below 1");
    test_write_file(test_path("blocked"), "", 0600);
    setenv("XDG_STATE_HOME", test_path("blocked"), 1);
    HAS(rescue(NULL), "a.py was not saved, and its changes are lost: ");
}
END_TEST

START_TEST(tells_what_cannot_be_a_document)
{
    test_write_file(test_path("x.md"), "# no\n", 0644);
    test_write_file(test_path("bad.ipynb"), "{", 0644);
    test_write_file(test_path("latin.py"), "# coding: latin-1\nx = '\xe4'\n", 0644);
    open_file(script());
    char *line = xasprintf("open %s", test_path("x.md"));
    ck_assert(!try(line));
    free(line);
    line = xasprintf("open %s", test_path("bad.ipynb"));
    ck_assert(!try(line));
    HAS(strbuf_text(&error), "bad.ipynb");
    free(line);
    ck_assert(!try("open /does/not/exist.py"));
    ck_assert_uint_eq(repl_session_count(repl), 1);
    line = xasprintf("open %s", test_path("latin.py"));
    command(line);
    ck_assert_str_eq(session()->name, "latin");
    command("run 1");
    await_all();
    ck_assert_int_eq(cell(1)->outcome, HERMES_SUCCESS);
    command("insert-below 1");
    ck_assert(!try("save"));
    HAS(strbuf_text(&error), "not UTF-8");
    command(line); /* the same one again */
    ck_assert_uint_eq(repl_session_count(repl), 2);
    free(line);
    command("new plain");
    ck_assert(!try("run-all"));
    HAS(strbuf_text(&error), "has no document");
}
END_TEST

START_TEST(lists_cells)
{
    open_file(notebook());
    command("cells");
    HAS(strbuf_text(&shown), "   1  code     [7]    a = 20 ...\n");
    HAS(strbuf_text(&shown), "   2  markdown        # Title\n");
    HAS(strbuf_text(&shown), "*  3  code     [ ]    b = 1\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("repl-document");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, opens_and_runs_nothing);
    tcase_add_test(tests, runs_cells_in_their_places);
    tcase_add_test(tests, runs_all_until_one_fails_and_names_the_file);
    tcase_add_test(tests, tracebacks_show_lines_of_all_cells);
    tcase_add_test(tests, keeps_the_output_of_a_cell_whose_run_was_dropped);
    tcase_add_test(tests, edits_a_cell_and_runs_it);
    tcase_add_test(tests, what_is_entered_becomes_a_cell);
    tcase_add_test(tests, inserts_splits_merges_moves_and_undoes);
    tcase_add_test(tests, shows_what_was_undone_while_the_cell_ran);
    tcase_add_test(tests, deletes_no_cell_that_runs_but_survives_its_undo);
    tcase_add_test(tests, lost_state_is_told_below_the_cell_that_lost_it);
    tcase_add_test(tests, lost_state_is_told_at_the_end_when_its_cell_is_gone);
    tcase_add_test(tests, asks_before_it_writes_over_what_another_wrote);
    tcase_add_test(tests, a_cell_that_changes_its_own_file_is_noticed);
    tcase_add_test(tests, saves_under_other_names_and_as_other_things);
    tcase_add_test(tests, asks_before_changes_are_lost);
    tcase_add_test(tests, changes_are_rescued_and_recovered);
    tcase_add_test(tests, a_notebooks_outputs_are_rescued_and_dropped);
    tcase_add_test(tests, what_cannot_be_rescued_is_told);
    tcase_add_test(tests, tells_what_cannot_be_a_document);
    tcase_add_test(tests, lists_cells);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
