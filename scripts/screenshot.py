#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pictures of the program for README.md, made by running it.

    scripts/screenshot.py [--program PATH] [--python PATH] [--out DIR] [SCENE...]

Each scene starts hermes-repl in a tmux server of its own, presses keys, waits for what must be on the screen, and
writes what tmux then has there as DIR/SCENE.svg. Nothing is drawn that the program has not drawn. Only the standard
library and tmux are needed; --python must name an interpreter that has tqdm, pandas and matplotlib. --list names the
scenes.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
from xml.sax.saxutils import escape

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLUMNS, ROWS = 92, 25
LIMIT = 30      # seconds until a screen that does not come is a failure

# ---- the terminal


class Screen:
    """The program in a pane of a private tmux server, in an empty home."""

    def __init__(self, program, python, arguments=(), rows=ROWS, files=None):
        self.home = tempfile.mkdtemp(prefix="hermes-screenshot-")
        self.server = ["tmux", "-L", os.path.basename(self.home), "-f", "/dev/null"]
        folder = os.path.join(self.home, "demo")
        os.mkdir(folder)
        for name, text in (files or {}).items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("HERMES_", "XDG_", "PYTHON", "TMUX", "LC_", "VIRTUAL_ENV", "CONDA"))}
        environment.update(HOME=self.home, LANG="C.UTF-8", COLORTERM="truecolor", PS1="$ ", SHELL="/bin/sh",
                           MPLBACKEND="", COLORFGBG="15;0")
        environment = {name: value for name, value in environment.items() if value}
        self.tmux("new-session", "-d", "-x", str(COLUMNS), "-y", str(rows), "-c", folder, "sh", ";",
                  "set-option", "-g", "status", "off", ";", "set-option", "-s", "escape-time", "0",
                  environment=environment)
        self.tmux("resize-window", "-x", str(COLUMNS), "-y", str(rows))
        words = [program, "--python", python, *arguments]
        self.line("clear; TERM=tmux-256color exec " + " ".join("'%s'" % word for word in words))

    def tmux(self, *words, environment=None):
        done = subprocess.run(self.server + list(words), env=environment, stdout=subprocess.PIPE, check=True)
        return done.stdout.decode("utf-8")

    def close(self):
        subprocess.run(self.server + ["kill-server"], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.home, ignore_errors=True)

    def press(self, *keys):
        for key in keys:
            self.tmux("send-keys", key)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def paste(self, text):
        """As a terminal does it, in brackets."""
        self.tmux("set-buffer", text)
        self.tmux("paste-buffer", "-p")

    def text(self):
        return self.tmux("capture-pane", "-p")

    def wait(self, pattern):
        end = time.monotonic() + LIMIT
        while not re.search(pattern, self.text(), re.MULTILINE):
            if time.monotonic() > end:
                raise SystemExit("no %r within %d s on this screen:\n%s" % (pattern, LIMIT, self.text()))
            time.sleep(0.02)

    def line(self, text):
        """Typed, as a command or an answer to a program is."""
        self.type(text)
        self.press("Enter")

    def enter(self, source):
        """A block; a suite ends with a blank line."""
        self.paste(source)
        self.press("Enter", *["Enter"] * source.split("\n")[-1].startswith(" "))

    def run(self, source, pattern):
        """Enter a cell, and wait until the screen shows something and the cell is over."""
        self.enter(source)
        self.wait(pattern)
        self.wait(r"\bidle\b")

    def capture(self):
        both = self.tmux("display-message", "-p", "#{cursor_x} #{cursor_y} #{cursor_flag}", ";",
                         "capture-pane", "-p", "-e", "-N").split("\n")
        (column, row, shown), lines = both[0].split(), both[1:]
        return lines, (int(row), int(column)) if shown == "1" else None


# ---- what is on it: cells of character and style

FOREGROUND, BACKGROUND, FRAME = "#d8dee9", "#16181d", "#2b2f38"
BASIC = ("#3b4252 #e06c75 #98c379 #e5c07b #61afef #c678dd #56b6c2 #c8ccd4 "
         "#6b7385 #ff7b86 #b5e890 #ffd68a #7fc4ff #dd98f0 #7fdbe6 #ffffff").split()
LEVELS = (0, 95, 135, 175, 215, 255)


def indexed(number):
    """A colour of the usual 256."""
    if number < 16:
        return BASIC[number]
    if number >= 232:
        return "#%02x%02x%02x" % ((8 + 10 * (number - 232),) * 3)
    number -= 16
    return "#%02x%02x%02x" % (LEVELS[number // 36], LEVELS[number // 6 % 6], LEVELS[number % 6])


class Style:
    """How the next characters look, as the sequences of the capture change it."""

    ON = {1: "bold", 2: "faint", 3: "italic", 4: "underline", 7: "reverse", 9: "strike"}
    OFF = {22: ("bold", "faint"), 23: ("italic",), 24: ("underline",), 27: ("reverse",), 29: ("strike",)}

    def __init__(self):
        self.foreground = self.background = None
        self.flags = set()

    def colour(self, numbers):
        kind = numbers.pop(0)
        if kind == 5:
            return indexed(numbers.pop(0))
        return "#%02x%02x%02x" % (numbers.pop(0), numbers.pop(0), numbers.pop(0))

    def change(self, parameters):
        numbers = [int(word.split(":")[0] or 0) for word in parameters.split(";")]
        while numbers:
            number = numbers.pop(0)
            if number == 0:
                self.__init__()
            elif number in self.ON:
                self.flags.add(self.ON[number])
            elif number in self.OFF:
                self.flags.difference_update(self.OFF[number])
            elif 30 <= number <= 37 or 90 <= number <= 97:
                self.foreground = indexed(number - 30 if number < 90 else number - 82)
            elif 40 <= number <= 47 or 100 <= number <= 107:
                self.background = indexed(number - 40 if number < 100 else number - 92)
            elif number == 38:
                self.foreground = self.colour(numbers)
            elif number == 48:
                self.background = self.colour(numbers)
            elif number == 39:
                self.foreground = None
            elif number == 49:
                self.background = None

    def seen(self):
        """(foreground, background or None, flags) as they are to be painted."""
        front, back = self.foreground or FOREGROUND, self.background
        if "reverse" in self.flags:
            front, back = back or BACKGROUND, front
        return front, back, frozenset(self.flags - {"reverse"})


def cells_of(line, style):
    """[(column, columns, character, style)]; style goes on from line to line."""
    cells, column = [], 0
    for sequence, character in re.findall(r"\x1b\[([0-9;:]*)m|([^\x1b\x0e\x0f])", line):
        if not character:
            style.change(sequence)
        elif unicodedata.combining(character) and cells:
            column_of, width, base, look = cells[-1]
            cells[-1] = (column_of, width, base + character, look)
        else:
            width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
            cells.append((column, width, character, style.seen()))
            column += width
    return cells


# ---- SVG

CELL, LINE, SIZE, MARGIN, TITLE = 8.4, 18, 14, 14, 32
HALVES = {"▀": ((0, 0.5),), "▄": ((0.5, 0.5),), "█": ((0, 1),)}     # fonts leave gaps between these


def rectangle(column, row, columns, top, height, colour):
    return '<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>' % (
        MARGIN + column * CELL, TITLE + row * LINE + top * LINE, columns * CELL, height * LINE, colour)


def runs_of(cells):
    """Neighbours that look alike, together."""
    runs = []
    for column, width, character, look in cells:
        last = runs[-1] if runs else None
        plain = character.isascii()
        if last and last[3] == look and last[4] and plain and last[0] + last[1] == column:
            last[1] += width
            last[2] += character
        else:
            runs.append([column, width, character, look, plain])
    return runs


def attributes(look):
    front, _, flags = look
    words = ['fill="%s"' % front]
    if "bold" in flags:
        words.append('font-weight="bold"')
    if "italic" in flags:
        words.append('font-style="italic"')
    if "faint" in flags:
        words.append('opacity="0.6"')
    lines = [word for flag, word in (("underline", "underline"), ("strike", "line-through")) if flag in flags]
    if lines:
        words.append('text-decoration="%s"' % " ".join(lines))
    return " ".join(words)


def backgrounds(cells, row):
    start = None
    for column, width, _, (_, back, _) in cells + [(None, 0, "", (None, None, None))]:
        if start and (back != start[1] or column != start[2]):
            if start[1]:
                yield rectangle(start[0], row, start[2] - start[0], 0, 1, start[1])
            start = None
        if column is not None:
            start = (start[0] if start else column, back, column + width)


def row_of(cells, row, cursor):
    out = list(backgrounds(cells, row))
    if cursor and cursor[0] == row:
        out.append(rectangle(cursor[1], row, 1, 0.08, 0.88, "#aab2c0"))
    for column, width, text, look, _ in runs_of(cells):
        if text in HALVES:
            out += [rectangle(column, row, width, top, height, look[0]) for top, height in HALVES[text]]
            continue
        blank = len(text) - len(text.lstrip(" "))
        shown = text.strip(" ")
        if "underline" in look[2] and text:
            blank, shown = 0, text
        if not shown:
            continue
        columns = len(shown) if text.isascii() else width
        out.append('<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" %s>%s</text>' % (
            MARGIN + (column + blank) * CELL, TITLE + row * LINE + 13.5, columns * CELL, attributes(look),
            escape(shown)))
    return out


def svg(lines, cursor, title, rows):
    width, height = 2 * MARGIN + COLUMNS * CELL, TITLE + rows * LINE + MARGIN
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">' % (
               (width, height) * 2),
           "<title>%s</title>" % escape(title),
           '<rect width="100%%" height="100%%" rx="8" fill="%s"/>' % BACKGROUND,
           '<path d="M0 %d V8 a8 8 0 0 1 8 -8 H%d a8 8 0 0 1 8 8 V%d Z" fill="%s"/>' % (
               TITLE - 8, width - 8, TITLE - 8, FRAME),
           *('<circle cx="%d" cy="12" r="5" fill="%s"/>' % (18 + 18 * n, colour)
             for n, colour in enumerate(("#e06c75", "#e5c07b", "#98c379"))),
           '<text x="%d" y="16" text-anchor="middle" font-family="sans-serif" font-size="12" fill="#9aa3b2">'
           "hermes-repl</text>" % (width / 2),
           '<g font-family="DejaVu Sans Mono, Menlo, Consolas, Liberation Mono, monospace" font-size="%d" '
           'xml:space="preserve" shape-rendering="crispEdges">' % SIZE]
    style = Style()
    for row, line in enumerate(lines[:rows]):
        out += row_of(cells_of(line, style), row, cursor)
    return "\n".join(out + ["</g>", "</svg>", ""])


# ---- the scenes: a function each; what it does ends with the screen that is to be kept

TOUR = {"orders.csv": "day,city,orders\n" + "".join(
    "%s,%s,%d\n" % (day, city, 20 + (n * 37) % 61)
    for n, (day, city) in enumerate((day, city) for day in ("mon", "tue", "wed", "thu", "fri")
                                    for city in ("Bonn", "Köln", "Ulm")))}
SCENES = {}


def scene(title, *arguments, rows=ROWS):
    def keep(function):
        SCENES[function.__name__] = (function, title, arguments, rows)
        return function
    return keep


@scene("Two sessions; in the one in front a progress bar runs", "--session", "main", "--session", "etl", rows=20)
def sessions(screen):
    screen.wait(r"2:etl")
    screen.run("import time", r"\[1\].*✓")
    screen.enter("for n in range(60):\n    print(n)\n    time.sleep(1)")
    screen.wait(r"^ +1$")
    screen.press("C-x", "2")
    screen.wait(r"^ etl ")
    screen.run("import time, pandas as pd\nfrom tqdm import tqdm", r"\[1\].*✓")
    screen.run('df = pd.read_csv("orders.csv")\ndf.groupby("city").orders.agg(["sum", "max"])', r"\[2\].*✓")
    screen.enter('total = 0\nfor day in tqdm(df.day, desc="loading", ncols=72):\n'
                 '    total += len(day)\n    time.sleep(0.5)')
    screen.wait(r"loading: +[1-9]\d?%")
    screen.enter("total / len(df)")
    screen.wait(r"q:1")
    screen.type("print(")
    screen.wait(r">>> print\(")
    screen.wait(r"loading: +[4-9]\d%")


@scene("Completion from the living objects", rows=18)
def completion(screen):
    screen.run('import pandas as pd\ndf = pd.read_csv("orders.csv")', r"\[1\].*✓")
    screen.run("df.head(4)", r"\[2\].*✓")
    screen.type("df.orders.is")
    screen.press("Tab")
    screen.wait(r"is_unique")


@scene("A kernel that was killed by a time limit: a ruled line says what was lost", rows=14)
def lost(screen):
    screen.run("rates = {'EUR': 1.0, 'USD': 1.09}", r"\[1\].*✓")
    screen.line(":set timeout 2")
    screen.wait(r"timeout")
    screen.line("while True: pass")
    screen.wait(r"state lost")
    screen.wait(r"\bidle\b|ended")
    screen.line("rates")
    screen.wait(r"NameError")
    screen.wait(r"\bidle\b")


@scene("A figure of matplotlib in half blocks", rows=30)
def figure(screen):
    screen.run("import numpy as np\nimport matplotlib.pyplot as plt", r"\[1\].*✓")
    screen.enter('x = np.linspace(0, 12, 400)\nfor k in (1, 2, 3):\n    plt.plot(x, np.sin(x * k / 2) / k, lw=4)')
    screen.wait(r"▀")
    screen.wait(r"\bidle\b")


@scene("C-c twice: where the cell is, and what killing it would cost", rows=18)
def interrupt(screen):
    screen.run("import time\nmodel = list(range(10_000_000))", r"\[1\].*✓")
    screen.run('def train():\n    while True:\n        try:\n            time.sleep(1)\n'
               '        except KeyboardInterrupt:\n            print("not now")', r"\[2\].*✓")
    screen.line("train()")
    screen.wait(r"busy")
    screen.press("C-c")
    screen.wait(r"not now")
    screen.press("C-c")
    screen.wait(r"Kill the kernel")


@scene("pdb in a cell: the keys are the debugger's", rows=16)
def debugger(screen):
    screen.run('def mean(values):\n    total = sum(values)\n    breakpoint()\n    return total / len(values)',
               r"\[1\].*✓")
    screen.line("mean([3, 4, 8])")
    screen.wait(r"has the keyboard")
    screen.line("p total")
    screen.wait(r"^ +15\s+\(Pdb\)$")
    screen.line("p values")
    screen.wait(r"\[3, 4, 8\]\s+\(Pdb\)")
    screen.type("cont")
    screen.wait(r"\(Pdb\) cont$")


@scene("Browse mode: a search, a chosen cell, folded output", rows=24)
def browse(screen):
    screen.run('rows = [f"row {n}: {n * n}" for n in range(500)]', r"\[1\].*✓")
    screen.run('print("\\n".join(rows))', r"row 499")
    screen.run("int(rows[7])", r"\[3\].*✗")
    screen.run("len(rows)", r"\[4\].*✓")
    screen.press("PageUp")
    screen.wait(r"browse")
    screen.press("g", "j", "z", "z")
    screen.line("/row 4")
    screen.wait(r"row 4")


@scene("Help: every command and key, from the program's own table", rows=27)
def help(screen):       # pylint: disable=redefined-builtin
    screen.press("C-x", "?")
    screen.wait(r":interrupt")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=os.path.join(TOP, "build", "hermes-repl"))
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--out", default=os.path.join(TOP, "docs", "pictures"))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("scenes", nargs="*", metavar="SCENE")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(SCENES))
        return
    unknown = sorted(set(arguments.scenes) - set(SCENES))
    if unknown:
        parser.error("no scene %s; there are %s" % (", ".join(unknown), ", ".join(SCENES)))
    for name in arguments.scenes or SCENES:
        function, title, words, rows = SCENES[name]
        screen = Screen(os.path.abspath(arguments.program), arguments.python, words, rows, TOUR)
        try:
            screen.wait(r"\bidle\b")
            function(screen)
            lines, cursor = screen.capture()
        finally:
            screen.close()
        with open(os.path.join(arguments.out, name + ".svg"), "w", encoding="utf-8") as file:
            file.write(svg(lines, cursor, title, rows))
        print(name, file=sys.stderr)


if __name__ == "__main__":
    main()
