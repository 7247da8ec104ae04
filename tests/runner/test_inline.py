#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of figures in the output of cells (hermes_kernel_inline.py): the real runner, started as test_runner.py does
it, and the matplotlib of the interpreter that runs the tests. Where there is none, they are skipped:

    /usr/bin/python3 tests/runner/test_inline.py [-v] [Class[.test]]
"""
import importlib.util
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_runner import DISPLAY, ECHO, EXCEPTION, INTERACTIVE, OK, RUNNER, Case  # noqa: E402

SHOWN = ECHO | DISPLAY
HAS_MATPLOTLIB = importlib.util.find_spec('matplotlib') is not None
PLOT = 'import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\n'


def png_size(data):
    assert data.startswith(b'\x89PNG\r\n\x1a\n'), data[:20]
    return struct.unpack('>II', data[16:24])


class Inline(Case):
    def started(self, env=None, **named):
        """A kernel that has the runner's parts. Its home is empty; no display to open windows on."""
        home = self.folder()
        clean = dict({name: None for name in ('MPLBACKEND', 'MATPLOTLIBRC', 'DISPLAY', 'WAYLAND_DISPLAY')}, HOME=home,
                     MPLCONFIGDIR=home)
        clean.update(env or {})
        kernel = self.kernel({'parts': os.path.realpath(RUNNER)}, env=clean, **named)
        kernel.home = home
        return kernel

    def shown(self, kernel, source, flags=SHOWN):
        """What the cell displays: (1 for its value, a size for a picture or its text)."""
        status, _, text = kernel.run(source, flags, seconds=60)
        self.assertEqual((status, text), (OK, ''))
        return self.displayed(kernel)

    def displayed(self, kernel):
        return [(flags, png_size(bundle[b'image/png']) if b'image/png' in bundle else bundle[b'text/plain'].decode())
                for flags, bundle in kernel.displays]

    def pictures(self, kernel, source, flags=SHOWN):
        return [what for _, what in self.shown(kernel, source, flags) if type(what) is tuple]


@unittest.skipUnless(HAS_MATPLOTLIB, 'no matplotlib')
class Figures(Inline):
    def test_the_cell_that_imports_and_plots_shows_its_figure(self):
        kernel = self.started()
        value, figure = self.shown(kernel, PLOT)
        self.assertIn('matplotlib.lines.Line2D', value[1])
        self.assertEqual((value[0], figure[0]), (1, 0))
        self.assertEqual(kernel.displays[1][1][b'text/plain'], b'<Figure size 640x480 with 1 Axes>')
        width, height = figure[1]
        self.assertTrue(450 < width < 660 and 350 < height < 500, figure)
        self.assertEqual(self.shown(kernel, 'plt.get_fignums()'), [(1, '[]')])
        self.assertEqual(self.shown(kernel, 'plt.get_backend()'), [(1, "'module://hermes_inline'")])
        self.assertEqual(self.pictures(kernel, 'x = 1'), [])
        self.assertEqual(kernel.err, '')

    def test_show_displays_there_and_then(self):
        kernel = self.started()
        self.assertEqual(self.shown(kernel, PLOT + '''
            display('before')
            plt.show()
            display('after')
            plt.figure(figsize=(2, 1)); plt.plot([1]);
            plt.figure(figsize=(4, 1)); plt.plot([1]);
            plt.figure();
            '''.replace('\n            ', '\n'))[0], (0, "'before'"))
        kinds = [type(what).__name__ for _, what in self.displayed(kernel)]
        self.assertEqual(kinds, ['str', 'tuple', 'str', 'tuple', 'tuple'])     # an empty one is not shown
        small, wide = [size for _, size in self.displayed(kernel)[-2:]]
        self.assertLess(small[0], wide[0])

    def test_one_figure_alone(self):
        kernel = self.started()
        self.ok(kernel, 'import matplotlib.pyplot as plt', SHOWN)
        self.assertEqual(len(self.pictures(kernel, '''
            first, axes = plt.subplots()
            axes.plot([1])
            first.show()
            second, axes = plt.subplots()
            axes.plot([1]);
            ''')), 2)
        self.assertEqual(kernel.err, '')
        self.assertEqual([flags for flags, _ in self.shown(kernel, 'first')], [1])
        self.assertEqual(len(self.pictures(kernel, 'display(first, second)')), 2)
        self.assertEqual(len(self.pictures(kernel, '''
            from matplotlib.figure import Figure
            alone = Figure(figsize=(3, 2), dpi=50)
            alone.subplots().plot([1, 2])
            alone
            ''')), 1)

    def test_a_cell_that_fails_shows_what_it_drew(self):
        kernel = self.started()
        status, _, text = kernel.run(PLOT + '1 / 0', SHOWN, seconds=60)
        self.assertEqual(status, EXCEPTION)
        self.assertEqual([type(what) for _, what in self.displayed(kernel)], [tuple])
        self.assertNotIn('runner', text)
        self.assertEqual(self.pictures(kernel, 'pass'), [])
        status, _, text = kernel.run('plt.plot([1]); plt.title("$\\\\no$");', SHOWN)
        self.assertEqual(status, EXCEPTION)
        self.assertIn('ValueError', text)
        self.assertNotIn('show_managers', text)
        self.assertNotIn('hermes', text)
        self.assertEqual(self.pictures(kernel, 'plt.plot([1])'), self.pictures(kernel, 'plt.plot([1])'))

    def test_settings_for_files_are_not_for_the_screen(self):
        kernel = self.started()
        normal, = self.pictures(kernel, PLOT)
        self.assertEqual(self.pictures(kernel, 'plt.rcParams["savefig.dpi"] = 10\n' + PLOT), [normal])
        small, = self.pictures(kernel, 'plt.rcParams["figure.dpi"] = 50\n' + PLOT)
        self.assertLess(small[0], normal[0])

    def test_interactive_mode_and_pause(self):
        kernel = self.started()
        self.assertEqual(len(self.pictures(kernel, PLOT + 'plt.ion(); plt.title("t"); plt.draw(); plt.show()')), 1)
        self.assertEqual(len(self.pictures(kernel, 'plt.plot([1]); plt.pause(0.01); plt.ioff(); plt.plot([2]);')), 2)

    def test_a_cell_without_displays_is_plain_python(self):
        kernel = self.started()
        backend = 'import matplotlib\nprint(dict.__getitem__(matplotlib.rcParams, "backend"))'
        self.assertNotIn('inline', self.ok(kernel, backend))
        self.assertEqual(len(self.pictures(kernel, PLOT)), 1)      # the next one looks again
        kernel = self.started()
        self.ok(kernel, 'x = 1', SHOWN)
        self.assertNotIn('inline', self.ok(kernel, backend))

    def test_through_another_module(self):
        kernel = self.started()
        folder = self.folder()
        with open(folder + '/plots.py', 'w') as file:
            file.write('from matplotlib import pyplot\ndef draw(): pyplot.plot([1])\n')
        self.assertEqual(len(self.pictures(kernel, 'import sys; sys.path.append(%r)\nimport plots; plots.draw()'
                                           % folder)), 1)


@unittest.skipUnless(HAS_MATPLOTLIB, 'no matplotlib')
class Choice(Inline):
    def backend(self, kernel, source=''):
        plot = '\nimport matplotlib.pyplot as plt\nplt.plot([1]); plt.get_backend().lower()'
        return self.shown(kernel, source + plot)

    def test_by_the_environment(self):
        self.assertEqual(self.backend(self.started({'MPLBACKEND': 'agg'})), [(1, "'agg'")])
        self.assertEqual(self.backend(self.started(), 'import os; os.environ["MPLBACKEND"] = "svg"'), [(1, "'svg'")])
        below = self.started({'MPLBACKEND': 'module://matplotlib_inline.backend_inline'})
        self.assertEqual(self.backend(below)[0], (1, "'module://hermes_inline'"))

    def test_by_a_file(self):
        kernel = self.started()
        with open(kernel.home + '/matplotlibrc', 'w') as file:
            file.write('backend: pdf\n')
        self.assertEqual(self.backend(kernel), [(1, "'pdf'")])

    def test_by_use(self):
        self.assertEqual(self.backend(self.started(), 'import matplotlib; matplotlib.use("Agg")'), [(1, "'agg'")])
        kernel = self.started()
        self.shown(kernel, PLOT)
        self.assertEqual(self.backend(kernel, 'plt.switch_backend("svg")'), [(1, "'svg'")])

    def test_by_the_magic(self):
        kernel = self.started()
        magic = 'import matplotlib, sys; sys.modules["hermes_inline"].choose(%r)\n'
        self.assertEqual(self.backend(kernel, magic % 'agg'), [(1, "'agg'")])
        self.assertEqual(self.backend(kernel, magic % 'inline')[0], (1, "'module://hermes_inline'"))
        self.assertEqual(len(self.displayed(kernel)), 2)
        self.assertEqual(self.backend(kernel, magic % 'gtk4')[0], (1, "'module://hermes_inline'"))
        self.assertIn('figures are shown in the output', kernel.out)


@unittest.skipUnless(HAS_MATPLOTLIB, 'no matplotlib')
class Hook(Inline):
    def test_nothing_is_there_before(self):
        kernel = self.started()
        self.ok(kernel, 'x = 1')
        self.assertEqual(kernel.value('"hermes_inline" in __import__("sys").modules'), 'False')
        self.ok(kernel, 'y = 1', SHOWN)
        self.assertEqual(kernel.value('[n for n in __import__("sys").modules if "matplotlib" in n or "hermes" in n]'),
                         '[]')
        self.assertEqual(kernel.value('__import__("os").environ.get("MPLBACKEND")'), 'None')

    def test_it_goes_when_it_is_used(self):
        kernel = self.started()
        finders = 'len([f for f in __import__("sys").meta_path if "Finder" == type(f).__name__])'
        self.ok(kernel, 'import linecache, multiprocessing.spawn', SHOWN)
        self.assertEqual(kernel.value(finders), '1')
        self.ok(kernel, 'import matplotlib', SHOWN)
        self.assertEqual(kernel.value(finders), '0')
        self.assertEqual(kernel.value('matplotlib.__spec__.loader is matplotlib.__loader__'), 'True')
        self.assertIn('SourceFileLoader', kernel.value('matplotlib.__loader__'))

    def test_who_only_asks_where_it_is(self):
        kernel = self.started()
        self.ok(kernel, '''
            import importlib.util, copy
            spec = importlib.util.find_spec('matplotlib')
            assert spec.loader.is_package('matplotlib') and 'rcParams' in spec.loader.get_source('matplotlib')
            copy.copy(spec.loader)
            ''', SHOWN)
        self.assertEqual(len(self.pictures(kernel, PLOT)), 1)

    def test_replaced_import_machinery(self):
        kernel = self.started()
        self.ok(kernel, 'import sys; sys.meta_path = [f for f in sys.meta_path if type(f) is type]', SHOWN)
        self.assertEqual(len(self.pictures(kernel, PLOT)), 1)
        kernel = self.started()
        self.ok(kernel, '''
            import builtins
            genuine = builtins.__import__
            def other(*arguments, **named): return genuine(*arguments, **named)
            builtins.__import__ = other
            ''', SHOWN)
        self.assertEqual(len(self.pictures(kernel, PLOT)), 1)
        kernel = self.started()
        self.ok(kernel, 'import sys; kept = sys.meta_path; sys.meta_path = None', SHOWN)
        self.ok(kernel, 'sys.meta_path = kept', SHOWN)
        self.assertEqual(len(self.pictures(kernel, PLOT)), 1)

    def test_children(self):
        kernel = self.started()
        self.assertEqual(len(self.pictures(kernel, PLOT + '''
import os, subprocess, sys
print(subprocess.run([sys.executable, '-c', 'import matplotlib, os; '
    'print(dict.__getitem__(matplotlib.rcParams, "backend"), "MPLBACKEND" in os.environ)'],
    stdout=subprocess.PIPE).stdout)
''')), 1)
        self.assertNotIn('inline', kernel.out)
        self.assertIn('False', kernel.out)
        self.ok(kernel, '''
            def draw(n):
                import matplotlib.pyplot as plt
                plt.plot([n])
                plt.savefig('/dev/null', format='png')
                plt.show()
                return n
            import multiprocessing
            for method in 'fork', 'spawn':
                with multiprocessing.get_context(method).Pool(2) as pool:
                    print(pool.map(draw, [1, 2]))
            ''', SHOWN, seconds=120)
        self.assertEqual(kernel.out, '[1, 2]\n[1, 2]\n')
        self.assertEqual(kernel.displays, [])
        self.ok(kernel, '''
            child = os.fork()
            if not child:
                plt.plot([1])
            else:
                os.waitpid(child, 0)
            ''', SHOWN)
        self.assertEqual(kernel.displays, [])


@unittest.skipUnless(importlib.util.find_spec('PIL'), 'no PIL')
class Pillow(Inline):
    def test_an_image_is_a_picture(self):
        kernel = self.started()
        source = 'from PIL import Image\nImage.new("RGB", (30, 20), "red")'
        self.assertEqual(self.shown(kernel, source), [(1, (30, 20))])
        self.assertEqual(kernel.displays[0][1][b'text/plain'][:16], b'<PIL.Image.Image')
        self.assertEqual(self.shown(kernel, 'display(Image.new("L", (3, 2)))'), [(0, (3, 2))])


class Cost(Inline):
    def test_cells_that_never_plot(self):
        """What looking for matplotlib costs each of them: measured on the functions themselves."""
        kernel = self.started()
        self.ok(kernel, 'x = 1', SHOWN)
        spent = self.ok(kernel, '''
            import gc, time
            private = next(found for found in gc.get_objects()
                           if type(found) is dict and found.get('__name__') == 'hermes_kernel_runner')
            best = 1.0
            for i in range(20):
                start = time.perf_counter()
                for n in range(1000):
                    private['watch_figures']()
                best = min(best, time.perf_counter() - start)
            print(best * 1e3)
            ''', SHOWN)
        self.assertLess(float(spent), 5.0)      # microseconds a cell


if __name__ == '__main__':
    unittest.main()
