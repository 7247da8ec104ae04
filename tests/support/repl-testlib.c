/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "repl-testlib.h"

#include <poll.h>

#include "engine-testlib.h"

void test_repl_options(struct settings *settings, struct tool_terms *terms,
                       struct repl_options *options)
{
    static const char *const no_tools[] = {NULL};
    settings_init(settings, engine);
    *terms = (struct tool_terms){
        .tools = no_tools, .settings = &settings->tools, .approve = "", .env = HERMES_ENV_INHERIT};
    *options = (struct repl_options){.settings = settings,
                                     .terms = terms,
                                     .mode = HERMES_MODE_PROJECT,
                                     .python = te_python(),
                                     .env = HERMES_ENV_INHERIT,
                                     .columns = 80,
                                     .rows = 24,
                                     .blocks = true};
}

void test_repl_turn(struct repl *repl)
{
    int64_t wait = repl_step(repl);
    struct pollfd readable = {.fd = repl_fd(repl), .events = POLLIN};
    poll(&readable, 1, wait < 0 || wait > 20 ? 20 : (int)wait);
}
