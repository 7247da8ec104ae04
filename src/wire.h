/* SPDX-License-Identifier: MIT */
/*
 * Frames between the engine and a runner: encoding and decoding, with the limits checked before a
 * body is taken. See hermes-kernel-protocol(7). Knows nothing of kernels.
 */
#ifndef HR_WIRE_H
#define HR_WIRE_H

#include <sys/types.h>

#include "buf.h"

enum {
    HR_FRAME_MAGIC = 0xC8,
    HR_FRAME_HEADER_SIZE = 16,
    HR_FRAME_READY_MAX = 1 << 20,
    HR_FRAME_REPLY_MAX = 1 << 20,
    HR_FRAME_DISPLAY_MAX = 16 << 20,
    HR_FRAME_ANSWER_MAX = 4 << 20,
    HR_FRAME_KEEP_MAX = 4096,
};

enum hr_frame_type {
    HR_FRAME_INIT = 'I',    /* to the kernel */
    HR_FRAME_EXECUTE = 'X', /* to the kernel */
    HR_FRAME_KEEP = 'K',    /* to the kernel: keep checkpoints; and from it: what it keeps */
    HR_FRAME_QUIT = 'Q',    /* to the kernel */
    HR_FRAME_BIND = 'B',    /* to a spare: what INIT could not tell yet */
    HR_FRAME_ATTEND = 'A',  /* to the kernel: somebody asks on the other socket */
    HR_FRAME_REQUEST = 'q', /* to the kernel, on the socket for requests */
    HR_FRAME_READY = 'R',
    HR_FRAME_DISPLAY = 'D',
    HR_FRAME_REPLY = 'E',
    HR_FRAME_ANSWER = 'a', /* on the socket for requests */
};

enum hr_execute_flags {
    HR_EXECUTE_ECHO = 1,
    HR_EXECUTE_AWAIT = 2,
    HR_EXECUTE_DISPLAY = 4,
    HR_EXECUTE_INTERACTIVE = 8
};
enum hr_reply_status { HR_REPLY_OK, HR_REPLY_EXCEPTION, HR_REPLY_EXIT, HR_REPLY_INTERRUPTED };
enum hr_keep_flags { HR_KEEP_NEW = 1, HR_KEEP_RESUMED = 2, HR_KEEP_REFUSED = 4 };
enum hr_display_flags { HR_DISPLAY_RESULT = 1 };

struct hr_frame {
    uint8_t type;
    uint16_t flags;
    uint64_t id;
    const char *body; /* borrowed from the bytes decoded */
    uint32_t body_size;
};

void hr_frame_header(char header[HR_FRAME_HEADER_SIZE], uint8_t type, uint16_t flags,
                     uint32_t body_size, uint64_t id);

/*
 * Decode one frame that came from a kernel. Returns the bytes it takes, 0 when more are needed, -1
 * for a frame that breaks a rule (text in *ret_fault).
 */
ssize_t hr_frame_decode(const char *data, size_t size, struct hr_frame *ret,
                        const char **ret_fault);

/* A list body: count, then size and bytes of each field. */
struct hr_fields {
    const char *data;
    size_t size;
    uint32_t left;
};
bool hr_fields_open(struct hr_fields *fields, const char *body, size_t size);
bool hr_fields_next(struct hr_fields *fields, const char **ret_data,
                    size_t *ret_size); /* false: none left, or broken */
bool hr_fields_add(struct hr_buf *out, const void *data, size_t size);

uint32_t hr_get_u32(const char *data);

#endif
