/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "testlib.h"

struct terminal {
    VTerm *vt;
    VTermScreen *screen;
    int fd;
    pid_t pid;
    bool ended;
    int status;
    int rows, columns;
    bool cursor_shown;
    char *bytes;
    size_t size, capacity;
    bool in_command; /* ESC _ ... ESC \\: libvterm 0.1 shows it as text */
    char last;
};

/*
 * ---- life
 * ----------------------------------------------------------------------------------------
 */

bool terminal_is_silent;

static void answer(const char *bytes, size_t size, void *context)
{
    struct terminal *terminal = context;
    if (terminal_is_silent)
        return;
    ssize_t ignored = write(terminal->fd, bytes, size);
    (void)ignored;
}

static int set_property(VTermProp property, VTermValue *value, void *context)
{
    if (property == VTERM_PROP_CURSORVISIBLE)
        ((struct terminal *)context)->cursor_shown = value->boolean;
    return 1;
}

static const VTermScreenCallbacks callbacks = {.settermprop = set_property};

static void set_environment(const char *const *environment)
{
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    setenv("INPUTRC", "/dev/null", 1);
    static const char *const away[] = {
        "LINES", "COLUMNS", "COLORTERM",    "COLORFGBG",        "NO_COLOR",
        "TMUX",  "STY",     "TERM_PROGRAM", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"};
    for (size_t i = 0; i < sizeof(away) / sizeof(away[0]); i++)
        unsetenv(away[i]);
    for (; environment && *environment; environment++) {
        if (strchr(*environment, '='))
            putenv((char *)*environment);
        else
            unsetenv(*environment);
    }
}

static void make_screen(struct terminal *terminal)
{
    terminal->vt = vterm_new(terminal->rows, terminal->columns);
    vterm_set_utf8(terminal->vt, 1);
    vterm_output_set_callback(terminal->vt, answer, terminal);
    terminal->screen = vterm_obtain_screen(terminal->vt);
    vterm_screen_enable_altscreen(terminal->screen, 1);
    vterm_screen_set_callbacks(terminal->screen, &callbacks, terminal);
    vterm_screen_reset(terminal->screen, 1);
}

struct terminal *terminal_start(const char *const *argv, int rows, int columns,
                                const char *const *environment)
{
    struct terminal *terminal = calloc(1, sizeof(*terminal));
    struct winsize size = {(unsigned short)rows, (unsigned short)columns, 0, 0};
    ck_assert_ptr_nonnull(terminal);
    terminal->rows = rows;
    terminal->columns = columns;
    terminal->cursor_shown = true;
    make_screen(terminal);
    terminal->pid = forkpty(&terminal->fd, NULL, NULL, &size);
    ck_assert_int_ge(terminal->pid, 0);
    if (terminal->pid == 0) {
        set_environment(environment);
        execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    fcntl(terminal->fd, F_SETFD, FD_CLOEXEC);
    fcntl(terminal->fd, F_SETFL, O_NONBLOCK);
    return terminal;
}

void terminal_stop(struct terminal *terminal)
{
    if (!terminal)
        return;
    if (!terminal->ended) {
        kill(terminal->pid, SIGKILL);
        kill(terminal->pid, SIGCONT);
        waitpid(terminal->pid, NULL, 0);
    }
    close(terminal->fd);
    vterm_free(terminal->vt);
    free(terminal->bytes);
    free(terminal);
}

pid_t terminal_pid(const struct terminal *terminal)
{
    return terminal->pid;
}

/*
 * ---- the screen
 * ------------------------------------------------------------------------------------
 */

static void keep(struct terminal *terminal, const char *data, size_t size)
{
    if (terminal->size + size > terminal->capacity) {
        terminal->capacity = (terminal->size + size) * 2;
        terminal->bytes = realloc(terminal->bytes, terminal->capacity);
        ck_assert_ptr_nonnull(terminal->bytes);
    }
    memcpy(terminal->bytes + terminal->size, data, size);
    terminal->size += size;
}

/* What is not for libvterm goes. An escape waits for what follows it. */
static size_t without_commands(struct terminal *terminal, const char *data, size_t size, char *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < size; i++) {
        char c = data[i];
        bool escaped = terminal->last == '\033';
        terminal->last = c;
        if (terminal->in_command) {
            terminal->in_command = !(escaped && c == '\\');
            continue;
        }
        terminal->in_command = escaped && c == '_';
        if (escaped && !terminal->in_command)
            out[kept++] = '\033';
        if (c != '\033' && !terminal->in_command)
            out[kept++] = c;
    }
    return kept;
}

void terminal_show(struct terminal *terminal, const char *bytes)
{
    vterm_input_write(terminal->vt, bytes, strlen(bytes));
}

bool terminal_pump(struct terminal *terminal, int ms)
{
    struct pollfd ready = {terminal->fd, POLLIN, 0};
    char data[16384], shown[sizeof(data) * 2];
    if (poll(&ready, 1, ms) <= 0)
        return true;
    ssize_t n = read(terminal->fd, data, sizeof(data));
    if (n <= 0) {
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return true;
        test_pause_ms(1); /* closed: a loop around this must not spin */
        return false;
    }
    keep(terminal, data, (size_t)n);
    vterm_input_write(terminal->vt, shown, without_commands(terminal, data, (size_t)n, shown));
    return true;
}

static size_t encode(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)((0xf00 >> length) | code);
    return length;
}

VTermScreenCell terminal_cell(const struct terminal *terminal, int row, int column)
{
    VTermScreenCell cell;
    memset(&cell, 0, sizeof(cell));
    vterm_screen_get_cell(terminal->screen, (VTermPos){.row = row, .col = column}, &cell);
    return cell;
}

/* A row with one byte string for each column; offsets gets where each column begins. */
static size_t row_text(const struct terminal *terminal, int row, char *out, size_t *offsets)
{
    size_t size = 0;
    for (int column = 0; column < terminal->columns; column++) {
        VTermScreenCell cell = terminal_cell(terminal, row, column);
        if (offsets)
            offsets[column] = size;
        if (cell.chars[0] == (uint32_t)-1)
            continue;
        if (!cell.chars[0])
            out[size++] = ' ';
        for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell.chars[i]; i++)
            size += encode(cell.chars[i], out + size);
    }
    while (size && out[size - 1] == ' ')
        size--;
    out[size] = '\0';
    return size;
}

const char *terminal_row(const struct terminal *terminal, int row)
{
    static char rows[8][8192];
    static int next;
    char *out = rows[next++ & 7];
    row_text(terminal, row, out, NULL);
    return out;
}

int terminal_find(const struct terminal *terminal, const char *text)
{
    for (int row = 0; row < terminal->rows; row++) {
        if (strstr(terminal_row(terminal, row), text))
            return row;
    }
    return -1;
}

int terminal_count(const struct terminal *terminal, const char *text)
{
    int count = 0;
    for (int row = 0; row < terminal->rows; row++)
        count += strstr(terminal_row(terminal, row), text) != NULL;
    return count;
}

int terminal_column(const struct terminal *terminal, int row, const char *text)
{
    char line[8192];
    size_t offsets[1024];
    row_text(terminal, row, line, offsets);
    const char *at = strstr(line, text);
    for (int column = 0; at && column < terminal->columns; column++) {
        if (offsets[column] == (size_t)(at - line))
            return column;
    }
    return -1;
}

VTermColor terminal_colour(const struct terminal *terminal, VTermColor colour)
{
    vterm_screen_convert_color_to_rgb(terminal->screen, &colour);
    return colour;
}

void terminal_cursor(const struct terminal *terminal, int *ret_row, int *ret_column)
{
    VTermPos position;
    vterm_state_get_cursorpos(vterm_obtain_state(terminal->vt), &position);
    *ret_row = position.row;
    *ret_column = position.col;
}

bool terminal_cursor_shown(const struct terminal *terminal)
{
    return terminal->cursor_shown;
}

int terminal_rows(const struct terminal *terminal)
{
    return terminal->rows;
}

void terminal_dump(const struct terminal *terminal)
{
    for (int row = 0; row < terminal->rows; row++)
        fprintf(stderr, "%3d|%s\n", row, terminal_row(terminal, row));
}

bool terminal_has_bytes(const struct terminal *terminal, const char *bytes)
{
    return terminal->size && memmem(terminal->bytes, terminal->size, bytes, strlen(bytes));
}

const char *terminal_bytes(const struct terminal *terminal, size_t *ret_size)
{
    *ret_size = terminal->size;
    return terminal->bytes;
}

size_t terminal_byte_count(const struct terminal *terminal)
{
    return terminal->size;
}

void terminal_hold(struct terminal *terminal)
{
    int fd = open(ptsname(terminal->fd), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(tcflow(fd, TCOOFF), 0);
    close(fd);
}

void terminal_forget(struct terminal *terminal)
{
    terminal->size = 0;
}

/*
 * ---- the keyboard
 * ------------------------------------------------------------------------------------
 */

/* In pieces, taking what comes meanwhile: a full pipe in both directions would be a standstill. */
void terminal_send(struct terminal *terminal, const char *data, size_t size)
{
    int64_t end = test_now_ms() + test_scaled_ms(TERMINAL_MS);
    while (size && test_now_ms() < end) {
        size_t piece = size < 512 ? size : 512;
        ssize_t n = write(terminal->fd, data, piece);
        if (n > 0) {
            data += n;
            size -= (size_t)n;
        } else if (errno != EAGAIN && errno != EINTR) {
            break;
        }
        terminal_pump(terminal, n > 0 ? 0 : 5);
    }
    ck_assert_msg(size == 0, "the terminal takes no keys");
}

void terminal_keys(struct terminal *terminal, const char *keys)
{
    terminal_send(terminal, keys, strlen(keys));
}

void terminal_paste(struct terminal *terminal, const char *text)
{
    terminal_keys(terminal, "\033[200~");
    terminal_keys(terminal, text);
    terminal_keys(terminal, "\033[201~");
}

void terminal_resize(struct terminal *terminal, int rows, int columns)
{
    struct winsize size = {(unsigned short)rows, (unsigned short)columns, 0, 0};
    if (rows == terminal->rows && columns == terminal->columns)
        return;
    terminal->rows = rows;
    terminal->columns = columns;
    /*
     * A new one: 0.1.4 writes out of bounds after a change of size, and the program draws again
     * anyway.
     */
    vterm_free(terminal->vt);
    make_screen(terminal);
    ioctl(terminal->fd, TIOCSWINSZ, &size);
}

/*
 * ---- waiting
 * -------------------------------------------------------------------------------------------
 */

int terminal_wait_text(struct terminal *terminal, const char *text)
{
    int64_t end = test_now_ms() + test_scaled_ms(TERMINAL_MS);
    int row;
    while ((row = terminal_find(terminal, text)) < 0 && test_now_ms() < end)
        terminal_pump(terminal, 20);
    if (row < 0) {
        terminal_dump(terminal);
        ck_abort_msg("not on the screen: %s", text);
    }
    return row;
}

void terminal_wait_no_text(struct terminal *terminal, const char *text)
{
    int64_t end = test_now_ms() + test_scaled_ms(TERMINAL_MS);
    while (terminal_find(terminal, text) >= 0 && test_now_ms() < end)
        terminal_pump(terminal, 20);
    if (terminal_find(terminal, text) >= 0) {
        terminal_dump(terminal);
        ck_abort_msg("still on the screen: %s", text);
    }
}

int terminal_wait_exit(struct terminal *terminal)
{
    int64_t end = test_now_ms() + test_scaled_ms(TERMINAL_MS);
    while (!terminal->ended && test_now_ms() < end) {
        terminal_pump(terminal, 20);
        terminal->ended = waitpid(terminal->pid, &terminal->status, WNOHANG) == terminal->pid;
    }
    if (!terminal->ended) {
        terminal_dump(terminal);
        ck_abort_msg("the program does not end");
    }
    while (terminal_pump(terminal, 0) && poll(&(struct pollfd){terminal->fd, POLLIN, 0}, 1, 0) > 0)
        continue;
    return terminal->status;
}

void terminal_settle(struct terminal *terminal, int ms)
{
    size_t before;
    do {
        before = terminal->size;
        terminal_pump(terminal, ms);
    } while (terminal->size != before);
}
