/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a file, standard input or -c to the cells of a run, and what the kernel is told: sys.argv,
 * sys.path[0], names in tracebacks, as `python3 FILE` has them.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch-internal.h"
#include "document-file.h"
#include "notebook.h"
#include "percent.h"
#include "pylex.h"
#include "source-text.h"
#include "xalloc.h"

/* As Python 3.9 and later make __file__ absolute. */
static char *absolute(const char *path)
{
    if (path[0] == '/')
        return xstrdup(path);
    char *here = getcwd(NULL, 0);
    char *whole = here ? xasprintf("%s/%s", here, path) : xstrdup(path);
    free(here);
    return whole;
}

/* The directory of the file that a link leads to. */
static char *directory_of(const char *path)
{
    char *real = realpath(path, NULL);
    char *name = real ? real : xstrdup(path);
    char *slash = strrchr(name, '/');
    char *directory = !slash          ? xstrdup("")
                      : slash == name ? xstrdup("/")
                                      : xstrndup(name, (size_t)(slash - name));
    free(name);
    return directory;
}

/* Standard input has no name to tell by. */
static bool looks_like_notebook(const struct strbuf *bytes)
{
    const char *text = strbuf_text(bytes);
    size_t start = strspn(text, " \t\r\n");
    return text[start] == '{' && memmem(text, bytes->size, "\"nbformat\"", 10) &&
           memmem(text, bytes->size, "\"cells\"", 7);
}

static bool load_notebook(struct batch *batch, const struct strbuf *bytes, struct strbuf *error)
{
    const char *file = batch->options->file;
    batch->path0 = strcmp(file, "-") == 0 ? xstrdup("") : directory_of(file);
    return notebook_read(strbuf_text(bytes), bytes->size, &batch->document, error);
}

static bool load_script(struct batch *batch, const struct strbuf *bytes, struct strbuf *error)
{
    const char *file = batch->options->file;
    bool standard_input = strcmp(file, "-") == 0;
    if (!source_decode(strbuf_text(bytes), bytes->size, &batch->text, error))
        return false;
    batch->file_name = standard_input ? xstrdup("<stdin>") : absolute(file);
    batch->script = batch->options->cwd && !standard_input ? absolute(file) : xstrdup(file);
    batch->path0 = standard_input ? xstrdup("") : directory_of(file);
    percent_read(strbuf_text(&batch->text), batch->text.size, &batch->document);
    return true;
}

static void load_code(struct batch *batch)
{
    strbuf_adds(&batch->text, batch->options->code);
    struct document_cell *cell = document_add(&batch->document);
    cell->source = xmemdup0(batch->text.data, batch->text.size);
    cell->size = batch->text.size;
    cell->first_line = 1;
    batch->script = xstrdup("-c");
    batch->file_name = xstrdup("<string>");
    batch->path0 = xstrdup("");
    batch->label = "-c";
}

static bool load_file(struct batch *batch, struct strbuf *error)
{
    const char *file = batch->options->file;
    struct strbuf bytes = STRBUF_INIT;
    batch->label = strcmp(file, "-") == 0 ? "standard input" : file;
    batch->origin = strcmp(file, "-") == 0 ? NULL : absolute(file);
    bool good = source_read_file(file, &bytes, error);
    if (good) {
        bool notebook = document_file_type(file) == DOCUMENT_FILE_IPYNB ||
                        (strcmp(file, "-") == 0 && looks_like_notebook(&bytes));
        good = notebook ? load_notebook(batch, &bytes, error) : load_script(batch, &bytes, error);
        if (!good) {
            char *fault = strbuf_steal(error);
            strbuf_setf(error, "%s: %s", batch->label, fault);
            free(fault);
        }
    }
    strbuf_free(&bytes);
    return good;
}

/* One pipe for both streams when ours are one file: then their order is exact. */
static bool same_output(void)
{
    struct stat out, err;
    return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
           out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

static bool check_directory(const char *path, struct strbuf *error)
{
    struct stat status;
    if (!path || (stat(path, &status) == 0 && S_ISDIR(status.st_mode)))
        return true;
    strbuf_setf(error, "--cwd: %s is no directory", path);
    return false;
}

bool batch_load(struct batch *batch, struct strbuf *error)
{
    const struct batch_options *options = batch->options;
    if (!check_directory(options->cwd, error))
        return false;
    if (options->code)
        load_code(batch);
    else if (!load_file(batch, error))
        return false;
    bool consumed = options->file && strcmp(options->file, "-") == 0;
    bool one_pipe = options->format == BATCH_HUMAN && same_output();
    batch->setup = (struct hermes_kernel_setup){
        .size = sizeof(batch->setup),
        .io = one_pipe ? HERMES_IO_ONE_PIPE : HERMES_IO_PIPES,
        .stdin_source =
            options->stdin_inherit && !consumed ? HERMES_STDIN_INHERIT : HERMES_STDIN_NONE,
        .env = options->scrub ? HERMES_ENV_SCRUB : HERMES_ENV_INHERIT,
        .script = batch->script,
        .argv = options->argv,
        .path0 = batch->path0,
    };
    batch_terminal_set_up(batch);
    return true;
}

static void plan_cell(struct batch *batch, size_t cell, size_t number)
{
    batch->items =
        xgrow(batch->items, batch->item_count, &batch->item_capacity, sizeof(*batch->items));
    batch->items[batch->item_count++] = (struct batch_item){cell, number};
    batch->numbered += number > 0;
    batch->records[cell].fate = FATE_NOT_RUN;
}

/*
 * The cell stands in no line of the file: it gets the one behind the last, which tracebacks quote
 * as empty.
 */
static unsigned injected_line(const struct batch *batch)
{
    unsigned line = 1;
    for (size_t at = 0; at < batch->text.size; line++)
        at += pylex_line_length(batch->text.data + at, batch->text.size - at);
    return line;
}

bool batch_make_plan(struct batch *batch, struct strbuf *error)
{
    const struct batch_options *options = batch->options;
    size_t injected = SIZE_MAX;
    if (options->params.count)
        injected = params_inject(&options->params, &batch->document);
    batch->records = xcalloc(batch->document.count, sizeof(*batch->records));
    for (size_t i = 0; i < batch->document.count; i++) {
        const struct document_cell *cell = &batch->document.cells[i];
        if (i == injected) {
            plan_cell(batch, i, 0);
            batch->document.cells[i].first_line = injected_line(batch);
        } else if (document_cell_runs(cell) && cell_ranges_have(&options->cells, ++batch->total))
            plan_cell(batch, i, batch->total);
    }
    if (options->cells.count && !batch->numbered) {
        strbuf_setf(error, "--cells: %s has %zu code cell%s, none of them is meant", batch->label,
                    batch->total, batch->total == 1 ? "" : "s");
        return false;
    }
    return true;
}
