/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glyph.h"
#include "tui-internal.h"

#define FIELDS_MAX 12

/* Fields from left to right; when they do not fit, those of lower rank go first. */
struct field {
    char text[96];
    int rank;
    enum theme_role role;
};

struct fields {
    struct field items[FIELDS_MAX];
    size_t count;
};

static struct field *add(struct fields *fields, int rank, enum theme_role role)
{
    struct field *field =
        &fields->items[fields->count < FIELDS_MAX ? fields->count++ : FIELDS_MAX - 1];
    field->rank = rank;
    field->role = role;
    field->text[0] = '\0';
    return field;
}

static void since_text(char *out, size_t size, int64_t since_ms)
{
    int64_t seconds = (tui_now_ms() - since_ms) / 1000;
    seconds = seconds < 0 ? 0 : seconds;
    if (seconds < 60)
        snprintf(out, size, "%ds", (int)seconds);
    else if (seconds < 3600)
        snprintf(out, size, "%dm%02ds", (int)(seconds / 60), (int)(seconds % 60));
    else
        snprintf(out, size, "%dh%02dm", (int)(seconds / 3600), (int)(seconds / 60 % 60));
}

static void add_state(struct fields *fields, const struct repl_session *session)
{
    bool busy = session->has_kernel && (session->state == HERMES_KERNEL_BUSY ||
                                        session->state == HERMES_KERNEL_INTERRUPTING);
    struct field *field = add(fields, 9, session->ended ? ROLE_STATUS_ALERT : ROLE_STATUS);
    const char *state = repl_state_text(session);
    if (!busy) {
        snprintf(field->text, sizeof(field->text), "%s", state);
        return;
    }
    char since[32];
    since_text(since, sizeof(since), session->state_since_ms);
    snprintf(field->text, sizeof(field->text), "%s %s ⟲", state, since);
    if (session->state == HERMES_KERNEL_INTERRUPTING)
        field->role = ROLE_STATUS_ALERT;
}

/* Reuse and count are of a kernel that lives; of one that is gone nothing is claimed. */
static void add_kernel(struct fields *fields, const struct repl_session *session)
{
    if (!session->has_kernel)
        return;
    struct field *field = add(fields, 7, ROLE_STATUS);
    snprintf(field->text, sizeof(field->text), "%s k%llu #%llu", session->ran ? "reused" : "fresh",
             (unsigned long long)session->generation, (unsigned long long)session->execution_count);
}

static void add_memory(struct fields *fields, const struct repl_session *session)
{
    if (!session->has_kernel || !session->memory_bytes)
        return;
    double mib = (double)session->memory_bytes / 1048576;
    struct field *field = add(fields, 4, ROLE_STATUS);
    if (mib < 10)
        snprintf(field->text, sizeof(field->text), "%.1f MB", mib);
    else if (mib < 10240)
        snprintf(field->text, sizeof(field->text), "%.0f MB", mib);
    else
        snprintf(field->text, sizeof(field->text), "%.1f GB", mib / 1024);
}

static void add_rest(struct fields *fields, const struct tui *tui)
{
    const struct repl_session *session = tui->front;
    if (session->queued)
        snprintf(add(fields, 6, ROLE_STATUS)->text, 32, "q:%zu", session->queued);
    if (session->questions)
        snprintf(add(fields, 10, ROLE_STATUS_ALERT)->text, 32, "! approval");
    if (tui->focus == FOCUS_BROWSE)
        snprintf(add(fields, 8, ROLE_STATUS)->text, 32, "browse");
    else if (edit_mode(tui->edit) != EDIT_EMACS)
        snprintf(add(fields, 5, ROLE_STATUS)->text, 32, "%s",
                 edit_mode(tui->edit) == EDIT_VI_INSERT ? "vi:ins" : "vi:cmd");
    const char *help = keymap_keys_of(tui->keymap, KEYMAP_PROMPT, "keys");
    if (!help)
        help = keymap_keys_of(tui->keymap, KEYMAP_PROMPT, "help");
    if (tui->sequence[0])
        snprintf(add(fields, 11, ROLE_STATUS_ALERT)->text, 64, "%.48s …", tui->sequence);
    else if (help)
        snprintf(add(fields, 1, ROLE_STATUS)->text, 64, "%.40s help", help);
}

static int total_columns(const struct fields *fields)
{
    int columns = 1;
    for (size_t i = 0; i < fields->count; i++)
        columns += (int)glyph_columns(fields->items[i].text, strlen(fields->items[i].text)) + 3;
    return columns - 2;
}

static void drop_lowest(struct fields *fields)
{
    size_t lowest = 0;
    for (size_t i = 1; i < fields->count; i++) {
        if (fields->items[i].rank < fields->items[lowest].rank)
            lowest = i;
    }
    memmove(&fields->items[lowest], &fields->items[lowest + 1],
            (fields->count - lowest - 1) * sizeof(fields->items[0]));
    fields->count--;
}

void tui_status_draw(struct tui *tui)
{
    const struct repl_session *session = tui->front;
    struct fields fields = {.count = 0};
    snprintf(add(&fields, 12, ROLE_STATUS)->text, 64, "%s", session->name);
    if (session->document)
        tui_document_status(tui, add(&fields, 9, ROLE_STATUS)->text, sizeof(fields.items[0].text));
    if (session->python_label)
        snprintf(add(&fields, 3, ROLE_STATUS)->text, 64, "%s", session->python_label);
    add_kernel(&fields, session);
    add_state(&fields, session);
    add_memory(&fields, session);
    add_rest(&fields, tui);
    while (fields.count > 1 && total_columns(&fields) > tui->layout.columns)
        drop_lowest(&fields);
    int row = tui->layout.status_row, column = 1, limit = tui->layout.columns;
    struct block_style bar = tui_style(tui, ROLE_STATUS);
    screen_fill(tui->screen, row, 0, limit, bar);
    for (size_t i = 0; i < fields.count; i++) {
        if (i > 0)
            column += screen_puts(tui->screen, row, column, limit - column, " │ ", bar);
        column += screen_puts(tui->screen, row, column, limit - column, fields.items[i].text,
                              tui_style(tui, fields.items[i].role));
    }
}
