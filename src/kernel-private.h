/* SPDX-License-Identifier: MIT */
/* What the files of a kernel share. */
#ifndef HR_KERNEL_PRIVATE_H
#define HR_KERNEL_PRIVATE_H

#include "kernel.h"
#include "tty.h"
#include "wire.h"

/* kernel.c */
void hr_kernel_set_state(struct hr_kernel *kernel, enum hermes_kernel_state state);
bool hr_kernel_is_ending(const struct hr_kernel *kernel);
int64_t hr_after_ms(int64_t ms);
/* Give the kernel its next cell if it can take one. */
void hr_kernel_advance(struct hr_kernel *kernel);
void hr_kernel_fault(struct hr_kernel *kernel,
                     const char *fault); /* a rule of the protocol is broken: kill */
void hr_kernel_take_frame(struct hr_kernel *kernel, const struct hr_frame *frame);
/* The running cell has answered, though its end of the output is not here: no limit counts now. */
void hr_kernel_answered(struct hr_kernel *kernel);
/* The running cell is over; it has its result. */
void hr_kernel_settle_current(struct hr_kernel *kernel, const struct hr_ending *ending);
void hr_kernel_process_acknowledged(struct hr_process *process);

/* kernel-end.c */
/* Its last cell has asked for its exit. */
void hr_kernel_leave_by_itself(struct hr_kernel *kernel);
void hr_kernel_process_exited(struct hr_process *process, int status, bool known,
                              bool out_of_memory);
/* Take what still stands in socket and pipes, then settle what is open. */
void hr_kernel_settle_at_end(struct hr_kernel *kernel);
void hr_kernel_process_gone(struct hr_process *process);

/* kernel-start.c */
void hr_kernel_limit_start(struct hr_kernel *kernel); /* it must be ready in time */
const char *hr_kernel_directory(const struct hr_kernel *kernel); /* NULL: that of the host */
/*
 * What the process would have as its environment if it was started now, for this spec.
 * hr_env_free()
 */
char **hr_kernel_environment(const struct hr_kernel *kernel, const struct hr_spec *spec);

/* kernel-words.c */
/* Returns the option whose limit was met, or NULL. */
const char *hr_kernel_describe_death(const struct hr_kernel *kernel, char *text, size_t size);
/* Take the runner's own frames, and threads that have no others, out of a crash traceback. */
void hr_kernel_trim_crash(struct hr_buf *text);
int hr_kernel_death_code(const struct hr_kernel *kernel);
void hr_kernel_describe_start_failure(const struct hr_kernel *kernel, struct hr_buf *text);

/* kernel-io.c */
void hr_kernel_stream_ready(struct hr_watch *watch, unsigned events);
void hr_kernel_control_ready(struct hr_watch *watch, unsigned events);
void hr_kernel_drain(struct hr_kernel *kernel); /* what is in the pipes now */
/* What comes next is read at once: a cell begins, or somebody types. */
void hr_kernel_end_holds(struct hr_kernel *kernel);
bool hr_kernel_read_control(struct hr_kernel *kernel); /* false: nothing more now */
void hr_kernel_take_waiting(struct hr_kernel *kernel); /* frames that were held, and new ones */
void hr_kernel_route_output(struct hr_stream *stream, const char *data, size_t size);
/* One read of at most limit bytes; false when there is no more to read now. */
bool hr_kernel_read_stream(struct hr_stream *stream, size_t limit);
void hr_kernel_watch_control(struct hr_kernel *kernel); /* as what waits demands */
/* false: out of memory */
bool hr_kernel_send_init(struct hr_kernel *kernel, const struct hr_cell *first);
/* To a spare that has become a kernel. false: out of memory */
bool hr_kernel_send_bind(struct hr_kernel *kernel, const struct hr_cell *first);
bool hr_kernel_send_execute(struct hr_kernel *kernel, struct hr_cell *cell);
void hr_kernel_send_quit(struct hr_kernel *kernel);
/*
 * Send a frame made of a header and two parts; what the socket does not take waits in kernel->out.
 * false: out of memory
 */
bool hr_kernel_send_frame(struct hr_kernel *kernel, uint8_t type, uint16_t flags, uint64_t id,
                          const void *head, size_t head_size, const void *tail, size_t tail_size);
bool hr_kernel_send_attend(struct hr_kernel *kernel); /* false: out of memory */
void hr_kernel_close_channels(struct hr_kernel *kernel);

#endif
