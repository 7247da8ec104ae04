/* SPDX-License-Identifier: MIT */
/*
 * The terminal of a HERMES_IO_TTY kernel, as its host sees it: the master's end of a
 * pseudo-terminal. tty.c makes it and does what a person at a terminal does (type, resize,
 * interrupt), tty-output.c brings its output and the frames of the control socket into one order,
 * tty-state.c looks what the programs there do about input.
 *
 * A terminal has no exact measure of what waits in it, so the runner writes a mark (marker.h) into
 * the output for each frame: behind a REPLY it follows, before any other frame it goes. A frame
 * counts from its mark on. One that does not come (the terminal is stopped, the cell closed what it
 * is written to) is waited for a moment only, and taken out when it comes late.
 */
#ifndef HR_TTY_H
#define HR_TTY_H

#include <termios.h>

#include "buf.h"
#include "loop.h"
#include "marker.h"

struct hr_kernel;

struct hr_tty {
    struct hr_kernel *kernel;
    struct hr_marker marker;
    struct termios modes;  /* what every cell finds */
    char *path;            /* of the slave */
    uint64_t frames;       /* taken so far */
    uint64_t marks;        /* the highest mark that has come */
    struct hr_buf pending; /* output that was read and not yet looked at */
    struct hr_buf input;   /* typed, and not yet taken by the terminal */
    struct hr_timer patience;
    uint64_t bytes_seen; /* since when nothing has come */
    int64_t give_up_ns;
    bool pumping;       /* pending is being looked at */
    bool in_frames;     /* frames are being taken */
    bool waiting;       /* a frame waits for its mark */
    bool answered;      /* ... and it is a REPLY */
    bool released;      /* ... for which a stopped terminal was started */
    bool gave_up;       /* ... long enough */
    bool at_end;        /* of the process: nothing waits any more */
    bool advance_later; /* the next cell is due once the output is in order */
    bool typed;         /* something may be unread */
    int64_t typed_ns;   /* when, last */
};

/* ---- tty.c ------------------------------------------------------------------------------ */

/*
 * Make the terminal of a kernel; its master becomes stream 1. 0 or an errno. The new process opens
 * the slave by its path. ret_slave is for it to hold meanwhile: if we die, the path would soon be
 * that of somebody else's terminal.
 */
int hr_tty_open(struct hr_kernel *kernel, int *ret_slave);
void hr_tty_free(struct hr_kernel *kernel);
/* Make it as large as the kernel's spec asks for: a spare's may have served another. */
void hr_tty_take_size(struct hr_kernel *kernel);
/* A cell has ended: the next one finds modes as they were at first, and no input. */
void hr_tty_settle(struct hr_kernel *kernel);
/*
 * Throw away what was typed and nobody has read: also before the next cell starts, for an answer
 * may come just behind the end of its cell.
 */
void hr_tty_forget_input(struct hr_kernel *kernel);
/* The terminal takes input again. */
void hr_tty_send_input(struct hr_kernel *kernel);
/*
 * SIGINT to the foreground of the terminal. Returns false if there is nobody, or it is the kernel's
 * own process group: then that is to be signalled in the usual way.
 */
bool hr_tty_interrupt(struct hr_kernel *kernel);
/* What a program stopped (C-s) goes on. */
void hr_tty_start_output(struct hr_kernel *kernel);

/* ---- tty-output.c ----------------------------------------------------------------------- */

/* Output that was read: to who it belongs. */
void hr_tty_take(struct hr_kernel *kernel, const char *data, size_t size);
/* Go on with what was read and had to wait for a frame. */
void hr_tty_pump(struct hr_kernel *kernel);
/* Whether a frame's mark has come, or need not come any more. Else it is waited for. */
bool hr_tty_frame_is_due(struct hr_kernel *kernel, bool reply);
/* Another process writes from now on; its last frame was number so-and-so. */
void hr_tty_restart(struct hr_kernel *kernel, uint64_t frames);
/* The process has ended. */
void hr_tty_finish(struct hr_kernel *kernel);

#endif
