/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Changes of documents that nobody saved when a signal ended the program: into files of their own,
 * never over the document, in a directory beside the history. Whoever opens the document again is
 * told, and takes them (:recover) or drops them; what was taken and saved is removed.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "atomic-file.h"
#include "document-internal.h"
#include "store.h"
#include "utf8.h"

#define NAME_BYTES 100 /* of the document's name in that of the file */

/* With a slash at its end; NULL: there is no home. Yours. */
static char *directory_name(void)
{
    char *history = store_default_path();
    char *slash = history ? strrchr(history, '/') : NULL;
    char *name = slash ? xasprintf("%.*s/recovered/", (int)(slash - history), history) : NULL;
    free(history);
    return name;
}

/* "report-1b2c3d4e-": the same for the same file only. Yours. */
static char *prefix_of(const char *path)
{
    const char *base = repl_document_base_name(path), *dot = strrchr(base, '.');
    size_t size = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    uint64_t hash = repl_document_hash(path, strlen(path));
    if (size > NAME_BYTES)
        size = NAME_BYTES - utf8_partial_tail(base, NAME_BYTES);
    return xasprintf("%.*s-%08" PRIx32 "-", (int)size, base, (uint32_t)hash);
}

/* ---- the program ends ----------------------------------------------------------------------- */

static char *file_name(const struct repl_document *document, const char *directory)
{
    /* A script that is not UTF-8 cannot be written as one. */
    bool script = document->document.format == DOCUMENT_SCRIPT && !document->script.foreign;
    char date[32] = "", *prefix = prefix_of(document->path);
    struct tm parts;
    time_t now = time(NULL);
    if (localtime_r(&now, &parts))
        strftime(date, sizeof(date), "%Y-%m-%dT%H-%M-%S", &parts);
    /* Others may have the same document, and end with us. */
    char *name =
        xasprintf("%s%s%s-%d%s", directory, prefix, date, (int)getpid(), script ? ".py" : ".ipynb");
    free(prefix);
    return name;
}

/* It is the owner's alone from the first byte on. */
static bool write_private(const char *name, const struct strbuf *text, struct strbuf *error)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        strbuf_setf(error, "cannot write %s: %s", name, strerror(errno));
        return false;
    }
    close(fd);
    if (atomic_file_write(name, strbuf_text(text), text->size, error))
        return true;
    unlink(name);
    return false;
}

static void rescue(struct repl_session *session, const char *directory, struct strbuf *told)
{
    struct repl_document *document = session->document;
    struct strbuf text = STRBUF_INIT, error = STRBUF_INIT;
    char *name = directory ? file_name(document, directory) : NULL;
    bool good = name && store_make_directories(name, &error);
    if (good) {
        repl_document_compose(session, document_file_type(name), document->path, &text);
        good = write_private(name, &text, &error);
    }
    if (good) {
        strbuf_addf(told, "%s was not saved; its changes are in %s\n", document->path, name);
        repl_document_forget_rescued(document); /* they are in the new file */
    } else {
        strbuf_addf(told, "%s was not saved, and its changes are lost: %s\n", document->path,
                    name ? strbuf_text(&error) : "there is no home directory");
    }
    strbuf_free(&text);
    strbuf_free(&error);
    free(name);
}

/* What stands in the prompt as the source of a cell is a change, too. */
static void put_edited(struct repl *repl, struct repl_session *session, const char *text,
                       size_t size)
{
    struct strbuf error = STRBUF_INIT;
    if (text && repl_document_editing(session))
        repl_document_put_edited(repl, session, text, size, &error);
    strbuf_free(&error);
}

void repl_document_rescue(struct repl *repl, const char *prompt, size_t size, struct strbuf *told)
{
    char *directory = directory_name();
    for (size_t i = 0; i < repl->session_count; i++) {
        struct repl_session *session = &repl->sessions[i]->session;
        if (session == repl->in_front)
            put_edited(repl, session, prompt, size);
        else
            put_edited(repl, session, session->draft, session->draft_size);
        if (repl_document_is_modified(session))
            rescue(session, directory, told);
    }
    free(directory);
}

/* ---- the document is opened again ----------------------------------------------------------- */

/* The newest file of the document; NULL: there is none. Yours. */
static char *find_newest(const struct repl_document *document)
{
    char *directory = directory_name(), *prefix = prefix_of(document->path), *newest = NULL;
    DIR *dir = directory ? opendir(directory) : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
            (newest && strcmp(entry->d_name, newest) < 0))
            continue;
        free(newest);
        newest = xstrdup(entry->d_name);
    }
    if (dir)
        closedir(dir);
    char *path = newest ? xasprintf("%s%s", directory, newest) : NULL;
    free(newest);
    free(prefix);
    free(directory);
    return path;
}

void repl_document_tell_rescued(struct repl *repl, struct repl_session *session)
{
    char *newest = find_newest(session->document);
    if (newest)
        repl_say(repl, session, "%s has changes that were not saved: :recover takes them from %s",
                 repl_document_base_name(session->document->path), newest);
    free(newest);
}

static void say_none(const struct repl_document *document, struct strbuf *error)
{
    strbuf_setf(error, "no changes of %s are to be recovered",
                repl_document_base_name(document->path));
}

bool repl_document_recover(struct repl *repl, struct repl_session *session, struct strbuf *error)
{
    struct repl_document *document = session->document;
    const char *name = repl_document_base_name(document->path);
    char *newest = find_newest(document);
    bool good = false;
    if (!newest)
        say_none(document, error);
    else if (repl_document_is_modified(session))
        strbuf_setf(error, "%s was changed here, too: :save-as or :reload first", name);
    else
        good = repl_document_take(repl, session, newest, error);
    if (!good) {
        free(newest);
        return false;
    }
    free(document->rescued);
    document->rescued = newest;
    repl_say(repl, session, "the changes are here: :save keeps them, :reload leaves them");
    return true;
}

bool repl_document_drop_rescued(struct repl *repl, struct repl_session *session,
                                struct strbuf *error)
{
    struct repl_document *document = session->document;
    size_t count = 0;
    for (char *name; (name = find_newest(document)); free(name), count++) {
        if (unlink(name) == 0)
            continue;
        strbuf_setf(error, "cannot remove %s: %s", name, strerror(errno));
        free(name);
        return false;
    }
    if (!count)
        say_none(document, error);
    else
        repl_say(repl, session, "%zu file%s removed", count, count == 1 ? "" : "s");
    return count > 0;
}

void repl_document_forget_rescued(struct repl_document *document)
{
    if (document->rescued)
        unlink(document->rescued);
    free(document->rescued);
    document->rescued = NULL;
}
