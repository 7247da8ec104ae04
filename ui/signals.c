/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "last-words.h"

static struct hermes_engine *_Atomic target;
static atomic_int interrupts;
static atomic_int deadly;
static atomic_bool impatient;

static void handle(int number)
{
    int saved = errno;
    struct hermes_engine *engine = atomic_load(&target);
    bool ends = number != SIGINT || atomic_fetch_add(&interrupts, 1) > 0;
    if (number != SIGINT)
        atomic_store(&deadly, number);
    if (ends)
        alarm(LAST_WORDS_PATIENCE_S);
    if (engine)
        hermes_wake(engine);
    errno = saved;
}

/* Again and again: a write may have begun only just now. */
static void lose_patience(int number)
{
    (void)number;
    atomic_store(&impatient, true);
    alarm(LAST_WORDS_PATIENCE_S);
}

static void catch (int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler =
                                   handler}; /* no SA_RESTART: a blocked write must notice */
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void signals_install(struct hermes_engine *engine)
{
    struct sigaction old;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    atomic_store(&target, engine);
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, NULL);
    catch (SIGALRM, lose_patience);
    catch (SIGINT, handle);
    catch (SIGTERM, handle);
    if (sigaction(SIGHUP, NULL, &old) < 0 || old.sa_handler != SIG_IGN)
        catch (SIGHUP, handle);
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    sigaddset(&ours, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
}

void signals_done(void)
{
    alarm(0);
    atomic_store(&target, NULL);
}

int signals_take_interrupts(void)
{
    return atomic_exchange(&interrupts, 0);
}

int signals_deadly(void)
{
    return atomic_load(&deadly);
}

bool signals_impatient(void)
{
    return atomic_load(&impatient);
}

bool signals_pending(void)
{
    return atomic_load(&interrupts) > 0;
}

void signals_die_of_pipe(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigemptyset(&action.sa_mask);
    sigaction(SIGPIPE, &action, NULL);
    sigset_t pipe_only;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    pthread_sigmask(SIG_UNBLOCK, &pipe_only, NULL);
    raise(SIGPIPE);
    _exit(128 + SIGPIPE);
}
