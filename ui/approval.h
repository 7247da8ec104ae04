/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a tool may run for a cell: the policy of command line and configuration, what a person
 * has granted, and the question to that person. How the question is asked is the front end's;
 * nothing here knows of engines, screens and what tools do. Used by one thread.
 *
 * A policy is a text: "allow", "deny" or "ask" for all tools, "terminal=allow,patch=deny" for some,
 * or both ("deny,read_file=allow"; what names a tool counts more). Without one, tools that may
 * change things are asked for.
 */
#ifndef UI_APPROVAL_H
#define UI_APPROVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strbuf.h"
#include "tool-settings.h"

enum approval_policy { APPROVAL_DEFAULT, APPROVAL_ASK, APPROVAL_ALLOW, APPROVAL_DENY };

enum approval_answer {
    APPROVAL_NO,
    APPROVAL_ONCE,
    APPROVAL_SESSION, /* this tool, until approval_forget() */
    APPROVAL_LATER,   /* the question is shown; approval_settle() follows */
};

enum approval_verdict { APPROVAL_GO, APPROVAL_REFUSED, APPROVAL_WAITS };

struct approval_question {
    const char *session;
    const char *tool;
    const char *arguments; /* JSON */
    uint64_t cell, call;
};

struct approval_rule {
    char *tool;
    enum approval_policy policy;
};

struct approval_grant {
    char *session;
    char *tool;
};

struct approval {
    const struct tool_settings *tools; /* NULL: only those of the table exist */
    enum approval_policy all;
    struct approval_rule *rules;
    size_t rule_count, rule_capacity;
    struct approval_grant *grants;
    size_t grant_count, grant_capacity;
    /* NULL: nobody is there, and what is to be asked for is denied */
    enum approval_answer (*ask)(const struct approval_question *question, void *context);
    void *ask_context;
    const char *nobody; /* why: "in a batch there is nobody to ask" */
};

void approval_init(struct approval *approval, const struct tool_settings *tools);
void approval_free(struct approval *approval);

/*
 * Put a policy over those that were set before: a word for all tools replaces everything, the rest
 * is added. False: nothing has changed, and error says what is wrong.
 */
bool approval_set(struct approval *approval, const char *policy, struct strbuf *error);
/* Append the policy as one text that approval_set() takes. */
void approval_describe(const struct approval *approval, struct strbuf *out);

enum approval_policy approval_policy_of(const struct approval *approval, const char *tool);

/*
 * Policy, then whether anybody is there, then grants, then the question. APPROVAL_REFUSED: denial
 * gets one line.
 */
enum approval_verdict approval_check(struct approval *approval,
                                     const struct approval_question *question,
                                     struct strbuf *denial);
/* The answer to a question, at once or later. */
enum approval_verdict approval_settle(struct approval *approval,
                                      const struct approval_question *question,
                                      enum approval_answer answer, struct strbuf *denial);

/* The session was cleared: its grants are gone. */
void approval_forget(struct approval *approval, const char *session);

#endif
