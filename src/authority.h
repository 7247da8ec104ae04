/* SPDX-License-Identifier: MIT */
/*
 * What one cell may do on the host's side: allow-list, budget, the caller's handler and context.
 * Has a lock of its own and knows nothing of kernels and channels, so a host can make one by
 * itself.
 */
#ifndef HR_AUTHORITY_H
#define HR_AUTHORITY_H

#include "api/hermes-kernel.h"

void hr_authority_limit(struct hermes_authority *authority,
                        int64_t max_calls); /* negative: none; before it is used */
/* For the call's record: what the engine knows of the cell. */
void hr_authority_bind(struct hermes_authority *authority, const char *owner, uint64_t cell,
                       uint64_t kernel);
/*
 * Decide on one call and count it if it is let through. Returns NULL for yes, else the refusal as
 * JSON text (hr_free()); *ret_memory is set when there was no memory for one.
 */
char *hr_authority_admit(struct hermes_authority *authority, const char *tool, bool *ret_no_memory);
/* A call that was let through has not been run after all. */
void hr_authority_give_back(struct hermes_authority *authority);
void hr_authority_fill_call(struct hermes_authority *authority, struct hermes_tool_call *call);
hermes_tool_fn hr_authority_handler(const struct hermes_authority *authority);
/* {"error": "text"}; hr_free(). */
char *hr_error_json(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The tools that code in a cell may be given at all, NULL-ended. */
extern const char *const hr_tool_names[];

#endif
