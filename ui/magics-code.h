/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What magics run in the kernel, for magics-table.c only. Each text is executed in a namespace of
 * its own that holds: space, the cells' globals; words, the rest of the magic's line; code, the
 * cell below it.
 */
#ifndef UI_MAGICS_CODE_H
#define UI_MAGICS_CODE_H

/* The runner's own backend (hermes_kernel_inline.py) is there once matplotlib is. */
static const char matplotlib_code[] =
    "import sys\n"
    "try:\n"
    "    import matplotlib\n"
    "except ImportError:\n"
    "    pass\n"
    "if 'hermes_inline' in sys.modules:\n"
    "    sys.modules['hermes_inline'].choose(words)\n";

static const char timeit_code[] =
    "import timeit\n"
    "words = words.split(' ') if words else []\n"
    "number, repeat, quiet = 0, 7, False\n"
    "while words and words[0][:2] in ('-n', '-r', '-q', '-o', '-t', '-c', '-p'):\n"
    "    word = words.pop(0)\n"
    "    if word[:2] in ('-n', '-r', '-p'):\n"
    "        value = int(word[2:] or words.pop(0))\n"
    "        if word[:2] == '-n':\n"
    "            number = value\n"
    "        elif word[:2] == '-r':\n"
    "            repeat = value\n"
    "    quiet = quiet or word == '-q'\n"
    "line = ' '.join(words)\n"
    "timer = timeit.Timer(code or line, line if code and line else 'pass', globals=space)\n"
    "for power in range(0 if number else 10):\n"
    "    number = 10 ** power\n"
    "    if timer.timeit(number) >= 0.2:\n"
    "        break\n"
    "times = [t / number for t in timer.repeat(repeat, number)]\n"
    "mean = sum(times) / repeat\n"
    "spread = (sum((t - mean) ** 2 for t in times) / repeat) ** 0.5\n"
    "def show(t):\n"
    "    for unit, size in (('s', 1), ('ms', 1e-3), ('µs', 1e-6)):\n"
    "        if t >= size:\n"
    "            return '%.3g %s' % (t / size, unit)\n"
    "    return '%.3g ns' % (t * 1e9)\n"
    "if not quiet:\n"
    "    print('%s ± %s per loop (mean ± std. dev. of %d runs, %s loops each)' % (show(mean), "
    "show(spread), repeat, format(number, ',')))\n";

static const char capture_code[] =
    "import contextlib, io, types\n"
    "out, err = io.StringIO(), io.StringIO()\n"
    "names = [word for word in words.split() if not word.startswith('--')]\n"
    "try:\n"
    "    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):\n"
    "        exec(compile('\\n' + code, '<cell>', 'exec'), space)\n"
    "finally:\n"
    "    if names:\n"
    "        space[names[0]] = types.SimpleNamespace(stdout=out.getvalue(), stderr=err.getvalue(), "
    "outputs=[],\n"
    "            show=lambda text=out.getvalue(): print(text, end=''))\n";

static const char writefile_code[] =
    "import os\n"
    "words = words.split()\n"
    "mode = 'a' if words and words[0] in ('-a', '--append') else 'w'\n"
    "name = os.path.expanduser(' '.join(words[mode == 'a':]).strip('\\'\"'))\n"
    "print(('Appending to ' if mode == 'a' else 'Overwriting ' if os.path.exists(name) else "
    "'Writing ') + name)\n"
    "with open(name, mode, encoding='utf-8') as file:\n"
    "    file.write(code)\n";

#endif
