#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The full screen inside tmux: a smoke test, the clipboard, and a comparison of what a cell shows with what tmux itself
shows for the same program. Every test has a tmux server of its own."""
import os
import shutil
import subprocess
import tempfile
import time
import unittest

REPL = os.environ["HERMES_REPL"]
PYTHON = os.environ.get("TEST_PYTHON", "/usr/bin/python3")
PATIENCE = 30
INDENT = 5  # of output below a cell

PROGRAMS = {
    "carriage returns": "for i in range(30):\n    print('\\rstep', i, end='', flush=True)\nprint()\nprint('end')\n",
    "cursor moves": "print('one\\ntwo\\nthree')\nprint('\\x1b[2Aover', end='')\nprint('\\x1b[2B\\rend')\n",
    "wide and combining": "print('世界' * 30)\nprint('e\\u0301' * 10)\nprint('\\tx\\ty')\n",
    "tqdm": "from tqdm import tqdm\nimport sys\nfor i in tqdm(range(3), 'outer', bar_format='{desc} {percentage}'):\n"
            "    for j in tqdm(range(20), 'inner', leave=False, bar_format='{desc} {percentage}'):\n        pass\n"
            "print('end')\n",
    "rich": "from rich.console import Console\nfrom rich.table import Table\nfrom rich.progress import track\n"
            "t = Table('a', 'b')\nt.add_row('1', '世界 ' * 20)\nConsole().print(t)\n"
            "for i in track(range(20), 'work', show_speed=False): pass\nprint('end')\n",
}


def has_modules(source):
    names = [line.split()[1].split(".")[0] for line in source.splitlines() if line.startswith(("from", "import"))]
    line = "import " + ",".join(names or ["sys"])
    return subprocess.run([PYTHON, "-c", line], stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipUnless(shutil.which("tmux"), "needs tmux")
class TestTmux(unittest.TestCase):
    def setUp(self):
        self.server = "test"
        self.home = tempfile.mkdtemp(prefix="hermes-tmux-")
        self.environment = dict(os.environ, HOME=self.home, TMUX_TMPDIR=self.home, LC_ALL="C.UTF-8",
                                INPUTRC="/dev/null")
        for name in ("TMUX", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "NO_COLOR", "COLORFGBG", "COLORTERM"):
            self.environment.pop(name, None)
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        self.addCleanup(self.tmux, "kill-server")

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-L", self.server, "-f", "/dev/null", *words], env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8")
        return done.stdout

    def start(self, columns, *command):
        self.tmux("new-session", "-d", "-x", str(columns), "-y", "40", *command)

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", "--", text)

    def screen(self):
        return [line.rstrip() for line in self.tmux("capture-pane", "-p").split("\n")]

    def wait(self, condition, what):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            lines = self.screen()
            if condition(lines):
                return lines
            time.sleep(0.02)
        self.fail("%s: not on the screen:\n%s" % (what, "\n".join(self.screen())))

    def wait_line(self, beginning):
        return self.wait(lambda lines: any(line.startswith(beginning) for line in lines), beginning)

    def open_repl(self, columns=80):
        self.start(columns, "'%s' --python '%s'; echo LEFT; sleep 100" % (REPL, PYTHON))
        self.wait_line(">>>")

    def test_a_cell_and_the_way_out(self):
        self.open_repl()
        self.type("print('in', 'tmux')")
        self.keys("Enter")
        self.wait_line("     in tmux")
        self.keys("C-d")
        self.wait_line("LEFT")

    def test_copying_reaches_the_buffer_of_tmux(self):
        self.open_repl()
        self.type("copied = 'to tmux'")
        self.keys("Enter")
        self.wait_line("[1]")
        self.keys("C-x", "[", "y")
        end = time.monotonic() + PATIENCE
        while self.tmux("show-buffer") != "copied = 'to tmux'" and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual(self.tmux("show-buffer"), "copied = 'to tmux'")

    def show_colours(self):
        self.open_repl()
        self.type("print('\\x1b[38;2;1;2;3;48;2;0;0;4mex' + 'act\\x1b[0m', '\\x1b[38;5;208mnum' + 'ber\\x1b[0m')")
        self.keys("Enter")
        self.wait_line("     exact number")
        coloured = self.tmux("capture-pane", "-p", "-e")
        return next(line for line in coloured.split("\n") if "exact" in line)

    def test_colours_of_24_bits_reach_tmux(self):
        self.environment["COLORTERM"] = "truecolor"
        line = self.show_colours()
        self.assertRegex(line, "\x1b\\[38;2;1;2;3m\x1b\\[48;2;0;0;4mexact|\x1b\\[38;2;1;2;3;48;2;0;0;4mexact")
        self.assertIn("\x1b[38;5;208m", line)

    def test_elsewhere_they_are_the_nearest_of_256(self):
        line = self.show_colours()
        self.assertNotIn("8;2;", line)
        self.assertRegex(line, "38;5;16.*exact")
        self.assertIn("\x1b[38;5;208m", line)

    def compare(self, source):
        path = os.path.join(self.home, "program.py")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(source)
        self.start(80 - INDENT, "'%s' '%s'; echo; echo DONE; sleep 100" % (PYTHON, path))
        wanted = self.wait_line("DONE")
        wanted = wanted[:wanted.index("DONE") - 1]
        self.tmux("kill-server")
        self.server += "x"  # one that ends may still hold the name
        self.open_repl()
        self.type("exec(open(%r).read())" % path)
        self.keys("Enter")
        lines = self.wait(lambda lines: any(" idle " in line and "#1" in line for line in lines), "the end of the cell")
        lines = self.wait_line(">>>")
        top = next(i for i, line in enumerate(lines) if line.startswith("[1]"))
        bottom = next(i for i, line in enumerate(lines) if line.startswith(">>>"))
        shown = [line[INDENT:] for line in lines[top + 1:bottom]]
        while wanted and not wanted[-1]:
            wanted.pop()
        while shown and not shown[-1]:
            shown.pop()
        self.assertEqual(shown, wanted)

    def test_output_is_what_tmux_shows(self):
        for name, source in PROGRAMS.items():
            with self.subTest(name):
                if not has_modules(source):
                    self.skipTest("%s has not what this needs" % PYTHON)
                self.compare(source)


if __name__ == "__main__":
    unittest.main()
