/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * IPython's extra syntax in notebook cells, as plain Python: the kernel knows nothing of it and
 * there is no get_ipython. A line becomes one line, so line numbers stay true. What is not known
 * becomes a statement that raises an error naming the cell and the magic, where it stands: what
 * precedes it runs, as in IPython.
 */
#ifndef UI_MAGICS_H
#define UI_MAGICS_H

#include <stdbool.h>
#include <stddef.h>

struct magics_result {
    char *source; /* yours; NULL: the cell holds no magics */
    size_t size;
    bool wall_time; /* %%time: show how long the cell took */
};

/* cell_name is for messages: "cell 3". */
struct magics_result magics_translate(const char *source, size_t size, const char *cell_name);

/* Whether a line that begins a statement is IPython's, not Python. */
bool magics_is_line(const char *line, size_t size);

#endif
