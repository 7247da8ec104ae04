/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "approval.h"

#include <stdlib.h>
#include <string.h>

#include "tool-list.h"
#include "tool.h"
#include "xalloc.h"

static const char *const policy_names[] = {[APPROVAL_DEFAULT] = "",
                                           [APPROVAL_ASK] = "ask",
                                           [APPROVAL_ALLOW] = "allow",
                                           [APPROVAL_DENY] = "deny"};

void approval_init(struct approval *approval, const struct tool_settings *tools)
{
    *approval = (struct approval){.tools = tools, .nobody = "there is nobody to ask"};
}

static void drop_rules(struct approval *approval)
{
    for (size_t i = 0; i < approval->rule_count; i++)
        free(approval->rules[i].tool);
    free(approval->rules);
    approval->rules = NULL;
    approval->rule_count = approval->rule_capacity = 0;
}

void approval_free(struct approval *approval)
{
    drop_rules(approval);
    for (size_t i = 0; i < approval->grant_count; i++) {
        free(approval->grants[i].session);
        free(approval->grants[i].tool);
    }
    free(approval->grants);
    *approval = (struct approval){.tools = NULL};
}

/* ---- the policy ---------------------------------------------------------------------------- */

static struct approval_rule *rule_of(const struct approval *approval, const char *tool)
{
    for (size_t i = 0; i < approval->rule_count; i++) {
        if (strcmp(approval->rules[i].tool, tool) == 0)
            return &approval->rules[i];
    }
    return NULL;
}

static void set_rule(struct approval *approval, const char *tool, enum approval_policy policy)
{
    struct approval_rule *rule = rule_of(approval, tool);
    if (!rule) {
        approval->rules = xgrow(approval->rules, approval->rule_count, &approval->rule_capacity,
                                sizeof *approval->rules);
        rule = &approval->rules[approval->rule_count++];
        rule->tool = xstrdup(tool);
    }
    rule->policy = policy;
}

static enum approval_policy policy_named(const char *name)
{
    enum approval_policy policy = APPROVAL_DENY;
    while (policy > APPROVAL_DEFAULT && strcmp(policy_names[policy], name) != 0)
        policy--;
    return policy;
}

static char *trimmed(const char *text, size_t size)
{
    while (size && strchr(" \t\r\n", *text)) {
        text++;
        size--;
    }
    while (size && strchr(" \t\r\n", text[size - 1]))
        size--;
    return xmemdup0(text, size);
}

/* "allow", "all=allow" or "terminal=allow". */
static bool take_item(struct approval *layer, const char *item, struct strbuf *error)
{
    const char *equals = strchr(item, '=');
    char *tool = equals ? trimmed(item, (size_t)(equals - item)) : xstrdup("all");
    char *word = equals ? trimmed(equals + 1, strlen(equals + 1)) : xstrdup(item);
    enum approval_policy policy = policy_named(word);
    bool good = false;
    if (!equals && !policy)
        strbuf_setf(
            error,
            "'%s' is neither ask, allow or deny nor one of these for a tool, as in terminal=allow",
            item);
    else if (strcmp(tool, "all") != 0 && !tool_list_check(layer->tools, tool, error))
        good = false;
    else if (!policy)
        strbuf_setf(error, "'%s' for %s is not one of ask, allow and deny", word, tool);
    else
        good = true;
    if (good && strcmp(tool, "all") == 0)
        layer->all = policy;
    else if (good)
        set_rule(layer, tool, policy);
    free(tool);
    free(word);
    return good;
}

bool approval_set(struct approval *approval, const char *policy, struct strbuf *error)
{
    struct approval layer;
    bool good = true;
    approval_init(&layer, approval->tools);
    while (good && *policy) {
        size_t size = strcspn(policy, ",");
        char *item = trimmed(policy, size);
        good = !*item || take_item(&layer, item, error);
        free(item);
        policy += size + (policy[size] == ',');
    }
    if (good && layer.all) {
        drop_rules(approval);
        approval->all = layer.all;
    }
    for (size_t i = 0; good && i < layer.rule_count; i++)
        set_rule(approval, layer.rules[i].tool, layer.rules[i].policy);
    approval_free(&layer);
    return good;
}

void approval_describe(const struct approval *approval, struct strbuf *out)
{
    strbuf_adds(out, policy_names[approval->all]);
    for (size_t i = 0; i < approval->rule_count; i++)
        strbuf_addf(out, "%s%s=%s", i || approval->all ? "," : "", approval->rules[i].tool,
                    policy_names[approval->rules[i].policy]);
}

enum approval_policy approval_policy_of(const struct approval *approval, const char *tool)
{
    const struct approval_rule *rule = rule_of(approval, tool);
    struct tool row;
    if (rule)
        return rule->policy;
    if (approval->all)
        return approval->all;
    return tool_find(approval->tools, tool, &row) && !row.changes_things ? APPROVAL_ALLOW
                                                                         : APPROVAL_ASK;
}

/* ---- a call -------------------------------------------------------------------------------- */

static struct approval_grant *grant_of(const struct approval *approval, const char *session,
                                       const char *tool)
{
    for (size_t i = 0; i < approval->grant_count; i++) {
        if (strcmp(approval->grants[i].session, session) == 0 &&
            strcmp(approval->grants[i].tool, tool) == 0)
            return &approval->grants[i];
    }
    return NULL;
}

enum approval_verdict approval_check(struct approval *approval,
                                     const struct approval_question *question,
                                     struct strbuf *denial)
{
    const char *tool = question->tool;
    enum approval_policy policy = approval_policy_of(approval, tool);
    if (policy == APPROVAL_ALLOW)
        return APPROVAL_GO;
    if (policy == APPROVAL_DENY) {
        strbuf_setf(denial, "%s was denied: the policy \"approve\" says %s%sdeny", tool,
                    rule_of(approval, tool) ? tool : "", rule_of(approval, tool) ? "=" : "");
        return APPROVAL_REFUSED;
    }
    if (!approval->ask) {
        strbuf_setf(
            denial,
            "%s was denied: it needs approval, and %s; the option --approve %s=allow allows it",
            tool, approval->nobody, tool);
        return APPROVAL_REFUSED;
    }
    if (grant_of(approval, question->session, tool))
        return APPROVAL_GO;
    return approval_settle(approval, question, approval->ask(question, approval->ask_context),
                           denial);
}

enum approval_verdict approval_settle(struct approval *approval,
                                      const struct approval_question *question,
                                      enum approval_answer answer, struct strbuf *denial)
{
    switch (answer) {
    case APPROVAL_LATER:
        return APPROVAL_WAITS;
    case APPROVAL_ONCE:
        return APPROVAL_GO;
    case APPROVAL_SESSION:
        if (grant_of(approval, question->session, question->tool))
            return APPROVAL_GO;
        approval->grants = xgrow(approval->grants, approval->grant_count, &approval->grant_capacity,
                                 sizeof *approval->grants);
        approval->grants[approval->grant_count++] =
            (struct approval_grant){xstrdup(question->session), xstrdup(question->tool)};
        return APPROVAL_GO;
    case APPROVAL_NO:
        break;
    }
    strbuf_setf(denial, "%s was denied by the user", question->tool);
    return APPROVAL_REFUSED;
}

void approval_forget(struct approval *approval, const char *session)
{
    size_t kept = 0;
    for (size_t i = 0; i < approval->grant_count; i++) {
        struct approval_grant grant = approval->grants[i];
        if (strcmp(grant.session, session) == 0) {
            free(grant.session);
            free(grant.tool);
        } else {
            approval->grants[kept++] = grant;
        }
    }
    approval->grant_count = kept;
}
