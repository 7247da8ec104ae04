#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the kernel's runner from outside: the real boot.py and hermes_kernel_runner.py, started and spoken to as the
engine does, over a socket pair. The interpreter that runs the tests is the one that is tested:

    python3.8 tests/runner/test_runner.py [-v] [Class[.test]]

Where a test compares with "what Python does", it asks the same interpreter.
"""
import contextlib
import fcntl
import glob
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
# Where all of this runs in the background, or under nohup, these are ignored, and that is handed on to children.
for number in signal.SIGINT, signal.SIGQUIT, signal.SIGHUP:
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

RUNNER = os.environ.get('HERMES_RUNNER_DIR') or os.path.join(HERE, '..', '..', 'runner')
PYTHON = sys.executable
VERSION = sys.version_info[:2]
ECHO, AWAIT, DISPLAY, INTERACTIVE = 1, 2, 4, 8
OK, EXCEPTION, EXIT, INTERRUPTED = 0, 1, 2, 3

for variable in list(os.environ):
    if variable.startswith('PYTHON'):
        del os.environ[variable]


def boot_text():
    with open(os.path.join(RUNNER, 'boot.py')) as f:
        return ''.join(line for line in f if line.strip() and not line.lstrip().startswith('#'))


def runner_text():
    """The runner's files as the engine joins them."""
    text = b''
    for part in 'runner', 'requests', 'mending', 'display', 'tracebacks':
        with open(os.path.join(RUNNER, 'hermes_kernel_%s.py' % part), 'rb') as f:
            text += f.read()
    return text


for descriptor in os.listdir('/proc/self/fd'):
    with contextlib.suppress(OSError):
        os.set_inheritable(int(descriptor), int(descriptor) < 3)

BOOT, SOURCE = boot_text(), runner_text()


def to_bytes(text):
    return text if isinstance(text, bytes) else text.encode('utf-8', 'surrogateescape')


def pack(fields):
    body = struct.pack('<I', len(fields))
    for field in map(to_bytes, fields):
        body += struct.pack('<I', len(field)) + field
    return body


def unpack(body):
    count, = struct.unpack_from('<I', body)
    at, fields = 4, []
    for _ in range(count):
        size, = struct.unpack_from('<I', body, at)
        fields.append(body[at + 4:at + 4 + size])
        at += 4 + size
    assert at == len(body)
    return fields


def frame(kind, flags=0, ident=0, body=b''):
    return b'\xc8' + kind + struct.pack('<HIQ', flags, len(body), ident) + body


class Dead(Exception):
    """The kernel's socket is at its end; .data is what came last."""

    def __init__(self, data):
        super().__init__(data)
        self.data = data


class Kernel:
    compiled = b'', b''         # magic and code of the runner, taken from the first kernel's READY

    def __init__(self, settings=(), argv=(), script='', env=None, cwd=None, stdin='', wrap=(), requests=False,
                 lifeline=False, compiled=None, ready=True, boot=None):
        def far(fd):
            try:
                return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20)
            finally:
                os.close(fd)
        settings = dict({'io': 'pipes'}, **dict(settings))
        self.socket, other = socket.socketpair()
        inherited = {3: far(other.detach())}
        self.stdin = self.requests = self.lifeline = None
        if stdin is None:
            stdin_fd, self.stdin = os.pipe()
        else:
            stdin_file = tempfile.TemporaryFile()
            stdin_file.write(to_bytes(stdin))
            stdin_file.seek(0)
            stdin_fd = os.dup(stdin_file.fileno())
            stdin_file.close()
        inherited[0] = far(stdin_fd)
        self.fds = {}
        self.output = {1: b'', 2: b''}
        for n in 1, 2:
            end, other_end = os.pipe()
            self.fds[end] = n
            inherited[n] = far(other_end)
            os.set_blocking(end, False)
        if requests:
            settings['requests'] = '1'
            self.requests, other = socket.socketpair()
            inherited[6] = far(other.detach())
        if lifeline:
            settings['lifeline'] = '1'
            end, self.lifeline = os.pipe()
            inherited[5] = far(end)
        environment = dict(os.environ)
        environment.update(env or {})
        environment = {key: value for key, value in environment.items() if value is not None}
        command = list(wrap) + [PYTHON, '-c', boot or BOOT, 'hermes_kernel_runner']
        if cwd:
            command = ['/bin/sh', '-c', 'cd "$0" && exec "$@"', cwd] + command
        actions = [(os.POSIX_SPAWN_DUP2, fd, n) for n, fd in sorted(inherited.items())]
        self.pid = os.posix_spawn(command[0], command, environment, file_actions=actions, setpgroup=0)
        for fd in inherited.values():
            os.close(fd)
        self.status = None
        self.data = b''
        self.displays = []
        self.ident = 0
        magic, code = Kernel.compiled if compiled is None else compiled
        texts = b''.join(to_bytes(key) + b'\0' + to_bytes(value) + b'\0' for key, value in settings.items())
        arguments = b''.join(to_bytes(item) + b'\0' for item in argv)
        self.write(frame(b'I', 0, 0, pack([SOURCE, magic, code, texts, arguments, script])))
        if ready:
            kind, flags, ident, body = self.take()
            assert (kind, flags, ident) == (b'R', 0, 0)
            self.ready = unpack(body)
            if self.ready[4] and compiled is None:
                Kernel.compiled = self.ready[3], self.ready[4]

    def write(self, data):
        self.socket.sendall(data)

    def drain(self, seconds=0.0):
        """Take what there is of stdout and stderr; wait for something if seconds are given."""
        if seconds:
            select.select(list(self.fds), [], [], seconds)
        for fd, n in list(self.fds.items()):
            with contextlib.suppress(BlockingIOError):
                while True:
                    piece = os.read(fd, 1 << 20)
                    if not piece:
                        os.close(fd)
                        del self.fds[fd]
                        break
                    self.output[n] += piece

    def take(self, seconds=20):
        """The next frame (type, flags, id, body)."""
        end = time.monotonic() + seconds
        pieces, have, need = [self.data], len(self.data), 16
        while True:
            if have >= need:
                self.data = b''.join(pieces)
                pieces = [self.data]
                if need == 16:
                    assert self.data[0] == 0xc8, self.data
                    need = 16 + struct.unpack_from('<I', self.data, 4)[0]
                    continue
                data, self.data = self.data[:need], self.data[need:]
                flags, size, ident = struct.unpack_from('<HIQ', data, 2)
                self.drain()
                return data[1:2], flags, ident, data[16:]
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError('no frame')
            ready = select.select([self.socket] + list(self.fds), [], [], left)[0]
            if self.socket in ready:
                piece = self.socket.recv(1 << 20)
                if not piece:
                    self.drain()
                    raise Dead(b''.join(pieces))
                if not have and piece[:1] != b'\xc8':     # text of a crash
                    while True:
                        more = self.socket.recv(1 << 20)
                        if not more:
                            self.drain()
                            raise Dead(piece)
                        piece += more
                pieces.append(piece)
                have += len(piece)
            self.drain()

    def post(self, source, flags=0, name=None, line=1):
        self.ident += 1
        name = to_bytes(name or '<cell %d>' % self.ident)
        body = struct.pack('<II', line, len(name)) + name + to_bytes(source)
        self.write(frame(b'X', flags, self.ident, body))

    def result(self, seconds=20):
        """(status, exit code, text) of the cell that was posted first; its displays are in self.displays."""
        self.displays = []
        while True:
            kind, flags, ident, body = self.take(seconds)
            if kind != b'D':
                break
            fields = unpack(body)
            self.displays.append((flags, dict(zip(fields[::2], fields[1::2]))))
        assert kind == b'E', kind
        code, size = struct.unpack_from('<iI', body)
        assert len(body) == 8 + size
        self.reply_ident = ident
        return flags, code, body[8:].decode('utf-8')

    def run(self, source, flags=0, name=None, line=1, seconds=20):
        self.output = {1: b'', 2: b''}
        self.post(textwrap.dedent(source) if isinstance(source, str) else source, flags, name, line)
        result = self.result(seconds)
        assert self.reply_ident == self.ident
        return result

    @property
    def out(self):
        return self.output[1].decode('utf-8')

    @property
    def err(self):
        return self.output[2].decode('utf-8')

    def value(self, expression):
        """repr of an expression in the kernel."""
        status, _, text = self.run('print(ascii((%s)))' % expression)
        assert status == OK, text
        return self.out[:-1]

    def wait(self, seconds=20):
        """Exit status as the shell has it (negative: signal)."""
        end = time.monotonic() + seconds
        while self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            elif time.monotonic() > end:
                raise TimeoutError('the kernel is still there')
            else:
                self.drain(0.002)
        self.drain()
        return self.status

    def quit(self):
        self.write(frame(b'Q'))
        return self.wait()

    def close(self):
        self.socket.close()
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self.wait()
        for fd in list(self.fds):
            os.close(fd)
        self.fds = {}
        for fd in self.stdin, self.lifeline:
            if fd is not None:
                os.close(fd)
        self.stdin = self.lifeline = None
        if self.requests:
            self.requests.close()


class Case(unittest.TestCase):
    maxDiff = None

    def kernel(self, *args, **named):
        kernel = Kernel(*args, **named)
        self.addCleanup(kernel.close)
        return kernel

    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return os.path.realpath(folder.name)

    def ok(self, kernel, source, *args, **named):
        status, code, text = kernel.run(source, *args, **named)
        self.assertEqual((status, code, text), (OK, 0, ''))
        return kernel.out

    def script(self, text, name='case.py', **named):
        """A kernel as for a batch of this file."""
        folder = self.folder()
        path = os.path.join(folder, name)
        with open(path, 'w', newline='') as f:
            f.write(text)
        kernel = self.kernel({'path0': folder, 'script': path, 'source_name': path}, [path], text, **named)
        kernel.path = path
        return kernel


def python_says(*arguments, **named):
    named.setdefault('stdin', subprocess.DEVNULL)
    return subprocess.run([PYTHON] + list(arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **named)


class Boot(Case):
    def test_ready(self):
        kernel = self.kernel()
        version, executable, prefix, magic, code, pid, boot = kernel.ready
        self.assertEqual(version.decode(), '%d.%d.%d' % sys.version_info[:3])
        self.assertEqual((executable.decode(), prefix.decode()), (sys.executable, sys.prefix))
        self.assertEqual(magic, __import__('importlib.util').util.MAGIC_NUMBER)
        self.assertEqual(int(pid), kernel.pid)

    def test_compiled_code_is_taken_and_made(self):
        first = self.kernel(compiled=(b'', b''))
        magic, code = first.ready[3:5]
        self.assertTrue(code)
        self.assertLess(len(pack(first.ready)), 1 << 20)
        second = self.kernel(compiled=(magic, code))
        self.assertEqual((second.ready[4], second.ready[6]), (b'', b''))
        self.assertEqual(self.ok(second, 'print(1)'), '1\n')
        third = self.kernel(compiled=(b'\1\2\r\n', b'not for us'))
        self.assertEqual(third.ready[4], code)

    def test_compiled_bootstrap_does_the_same(self):
        magic, code, _, boot = self.kernel(compiled=(b'', b'')).ready[3:]
        path = os.path.join(self.folder(), 'boot')
        with open(path, 'wb') as f:
            f.write(boot)
        command = "exec(__import__('marshal').loads(open(%r,'rb').read()))" % path
        kernel = self.kernel(compiled=(magic, code), boot=command)
        self.assertEqual(self.ok(kernel, 'print(sorted(n for n in dir() if n[:2] != "__"))'), '[]\n')

    def test_foreign_bytes_are_refused(self):
        kernel = self.kernel(ready=False, compiled=(b'', b''))
        kernel.close()
        ours, theirs = socket.socketpair()
        ours.sendall(b'GET / HTTP/1.1\r\n\r\n')
        done = subprocess.run(['/bin/sh', '-c', '"$0" -c "$1" hermes_kernel_runner 3<&%d' % theirs.fileno(), PYTHON,
                               BOOT],
                              pass_fds=[theirs.fileno()], stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr.count(b'\n')), (3, 1))

    def test_old_pythons_are_refused_in_one_line(self):
        found = glob.glob(os.path.expanduser('~/.pyenv/versions/[23].*/bin/python'))
        found = [path for path in found if re.search(r'/(2\.\d+|3\.[0-7])\.', path)] + ['/usr/bin/python2']
        found = [path for path in found if os.path.exists(path)]
        if not found:
            self.skipTest('no Python older than 3.8 here')
        for path in found:
            done = subprocess.run([path, '-c', BOOT, 'hermes_kernel_runner'], stderr=subprocess.PIPE,
                                  stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 3)
            self.assertRegex(done.stderr, rb'\Ahermes-repl needs Python 3.8 or newer, .* is Python [23]\.\d+.*\n\Z')

    def test_boot_is_plain_text_for_a_c_string(self):
        self.assertTrue(BOOT.isascii())
        self.assertNotIn('"', BOOT)


class Spare(Case):
    """A kernel that is started before anybody needs it."""

    def started_by(self, **named):
        fields = self.kernel({'spare': '1'}, **named).ready
        self.assertEqual(len(fields), 8)
        names = fields[7].split(b'\0')
        self.assertEqual(names.pop(), b'')
        self.assertEqual(len(set(names)), len(names))
        self.assertTrue(all(name.startswith(b'/') for name in names), names)
        return [os.fsdecode(name) for name in names]

    def test_it_tells_what_decided_on_its_start(self):
        names = self.started_by()
        site = self.kernel()
        for name in sys.executable, sys.prefix + '/pyvenv.cfg', os.__file__:
            self.assertIn(name, names)
        for folder in eval(site.value('__import__("site").getsitepackages()')):
            self.assertIn(folder, names)
            for name in glob.glob(glob.escape(folder) + '/*.pth'):
                self.assertIn(name, names)
        self.assertIn(eval(site.value('__import__("site").getusersitepackages()')), names)

    def test_folders_of_pythonpath(self):
        folder = self.folder()
        for name, text in ('sitecustomize.py', 'import helper_of_it\n'), ('helper_of_it.py', ''):
            with open(folder + '/' + name, 'w') as f:
                f.write(text)
        names = self.started_by(env={'PYTHONPATH': folder + ':/nowhere'})
        for name in 'sitecustomize.py', 'usercustomize.py', 'helper_of_it.py':
            self.assertIn(folder + '/' + name, names)
        self.assertIn('/nowhere/sitecustomize.py', names)
        self.assertNotIn(folder, names)     # what else comes and goes there is no matter

    def test_others_do_not(self):
        self.assertEqual(len(self.kernel().ready), 7)

    def test_the_text_of_the_script_comes_later(self):
        text = 'import os\n\ndef f():\n    1/0\nf()     # as the file has it\n'
        for first in '', 'import linecache', 'import traceback, linecache':
            kernel = self.kernel({'spare': '1'})
            if first:
                kernel.run(first)
            kernel.write(frame(b'B', 0, 0, pack(['some.py', text])))
            status, _, error = kernel.run('def f():\n    1/0\nf()', name='some.py', line=3)
            self.assertEqual(status, EXCEPTION)
            self.assertIn('File "some.py", line 5, in <module>\n    f()     # as the file has it\n', error)

    def test_it_binds_and_runs_at_once(self):
        kernel = self.kernel({'spare': '1'})
        kernel.write(frame(b'B', 0, 0, pack(['some.py', b'\xef\xbb\xbfx = "\xff"'])) +
                     frame(b'X', 0, 1, struct.pack('<II', 1, 7) + b'some.py' + b'print(1)'))
        self.assertEqual(kernel.result(), (OK, 0, ''))
        self.assertEqual(kernel.out, '1\n')


class Start(Case):
    """A fresh kernel's view of itself is that of a bare python."""

    def test_modules(self):
        bare = eval(python_says('-c', 'import sys; print(sorted(sys.modules))').stdout)
        ours = eval(self.kernel().value('__import__("sys").modules.keys()').replace('dict_keys', ''))
        extra = set(ours) - set(bare)
        self.assertEqual([name for name in extra if name not in sys.builtin_module_names], [])
        self.assertNotIn('_ast', extra)

    def test_main_of_a_script(self):
        text = ('x = sorted((k, str(type(v)), v if isinstance(v, (str, type(None), dict)) else "") '
                'for k, v in globals().items() if k not in ("__builtins__", "x"))\n'
                'print(x, type(__builtins__).__name__, __loader__.name, __loader__.path)\n')
        kernel = self.script(text)
        self.ok(kernel, text, name=kernel.path)
        self.assertEqual(kernel.out, python_says(kernel.path).stdout.decode())

    def test_relative_script(self):
        folder = self.folder()
        with open(folder + '/case.py', 'w') as f:
            f.write('print(__file__)')
        for path in 'case.py', './case.py', '../%s/case.py' % os.path.basename(folder):
            kernel = self.kernel({'script': path, 'path0': folder}, [path], cwd=folder)
            self.ok(kernel, 'print(__file__)')
            self.assertEqual(kernel.out, python_says(path, cwd=folder).stdout.decode())

    def test_main_of_a_session(self):
        text = 'print(sorted(globals()), __loader__, __spec__, type(__builtins__))'
        self.assertEqual(self.ok(self.kernel(), text), python_says('-c', text).stdout.decode())

    def test_arguments_path_flags(self):
        text = ('import sys; print(sys.argv, getattr(sys, "orig_argv", [0])[1:], sys.path, sys.flags, '
                'hasattr(sys, "ps1"))')
        kernel = self.script(text)
        self.ok(kernel, text)
        self.assertEqual(kernel.out, python_says(kernel.path).stdout.decode())
        kernel = self.kernel(argv=['x.py', '-v', '\udcff'], settings={'path0': ''})
        self.assertEqual(kernel.value('__import__("sys").argv'), ascii(['x.py', '-v', '\udcff']))
        self.assertEqual(kernel.value('__import__("sys").path[0]'), "''")
        kernel = self.kernel(settings={'interactive': '1'})
        self.assertEqual(kernel.value('__import__("sys").path, __import__("sys").ps1, __import__("sys").argv'),
                         ascii((eval(python_says('-c', 'import sys; print(sys.path)').stdout)[1:], '>>> ', [''])))

    def test_safe_path(self):
        if VERSION < (3, 11):
            self.skipTest('3.11 brought it')
        folder = self.folder()
        kernel = self.kernel({'path0': folder}, env={'PYTHONSAFEPATH': '1'})
        self.assertNotIn(folder, kernel.value('__import__("sys").path'))

    def test_nothing_private_in_sight(self):
        kernel = self.kernel(env={'MARK': 'x'})
        self.ok(kernel, r'''
            import os, sys
            low = [n for n in range(3, 200) if os.path.exists('/proc/self/fd/%d' % n)]
            marks = [k for k in os.environ if k not in {env}]
            print(low, marks, os.get_inheritable(1), [n for n in os.listdir('/proc/self/fd')
                  if int(n) > 2 and os.path.exists('/proc/self/fd/' + n) and os.get_inheritable(int(n))])
            print([m for m in sys.modules if 'hermes' in m], [n for n in dir() if 'hermes' in n])
            print(repr(sys.argv), 'hermes' in repr(getattr(sys, 'orig_argv', '')))
            '''.replace('{env}', repr(list(os.environ) + ['MARK', 'LC_CTYPE', 'PWD', 'OLDPWD', '_', 'SHLVL'])))
        self.assertEqual(kernel.out, "[] [] True []\n[] []\n[''] False\n")

    def test_one_thread(self):
        kernel = self.kernel()
        self.assertEqual(kernel.value('len(__import__("os").listdir("/proc/self/task"))'), '1')
        self.assertEqual(kernel.value('__import__("threading").active_count()'), '1')

    def test_signals(self):
        text = ('import signal; print([(int(s), signal.getsignal(s)) for s in range(1, 32) if signal.getsignal(s) '
                'not in '
                '(signal.SIG_DFL, None)], signal.getsignal(2) is signal.default_int_handler, '
                'signal.pthread_sigmask(0, []))')
        self.assertEqual(re.sub('0x[0-9a-f]+', '', self.ok(self.kernel(), text)),
                         re.sub('0x[0-9a-f]+', '', python_says('-c', text).stdout.decode()))

    def test_few_descriptors(self):
        for limit in 24, 48:
            kernel = self.kernel(wrap=['/bin/sh', '-c', 'ulimit -n %d; exec "$@"' % limit, 'sh'])
            self.assertEqual(self.ok(kernel, r'''
                held = []
                try:
                    while True:
                        held.append(open('/dev/null'))
                except OSError as e:
                    print(e.errno)
                '''), '24\n')
            status, _, text = kernel.run('1/0')
            self.assertIn('1/0\n', text)
            self.assertIn('ZeroDivisionError', text)
            self.assertEqual(self.ok(kernel, 'held.clear(); print("alive")'), 'alive\n')

    def test_modules_in_the_folder_are_not_ours(self):
        folder = self.folder()
        for name in ('random json code email types io traceback tokenize token linecache signal threading selectors '
                     'select '
                     'struct ast os re string queue socket contextlib base64 uuid errno posix faulthandler marshal '
                     'binascii '
                     'collections functools enum textwrap unicodedata keyword _ctypes sitecustomized').split():
            if name == 'linecache' and VERSION >= (3, 13):
                continue        # python -c itself imports it, from the folder
            with open('%s/%s.py' % (folder, name), 'w') as f:
                f.write('raise RuntimeError("imported: %s")' % name)
        kernel = self.kernel({'path0': folder}, cwd=folder)
        self.assertEqual(self.ok(kernel, 'print("started")'), 'started\n')
        status, _, text = kernel.run('x = "\u4e2d", 1/0')
        self.assertEqual(status, EXCEPTION)
        self.assertNotIn('imported', text)
        self.assertIn('x = "\u4e2d", 1/0', text)
        if VERSION >= (3, 11):
            self.assertIn('~^~', text)
        self.ok(kernel, 'class T:\n def _repr_json_(self): return {"a": 1}\ndisplay(T())', DISPLAY)
        self.assertEqual(kernel.displays[0][1][b'application/json'], b'{"a": 1}')

    def test_deleted_folder(self):
        folder = self.folder()
        kernel = self.kernel(cwd=folder, settings={'path0': ''})
        self.ok(kernel, 'import os; os.rmdir(os.getcwd())')
        self.assertIn('ZeroDivisionError', kernel.run('1/0')[2])
        os.mkdir(folder)


class Frames(Case):
    def test_byte_by_byte_and_all_at_once(self):
        kernel = self.kernel()
        name = b'<cell 1>'
        body = struct.pack('<II', 1, len(name)) + name + 'print("\u00e9")'.encode()
        for byte in frame(b'X', 0, 7, body):
            kernel.write(bytes([byte]))
        self.assertEqual((kernel.result()[0], kernel.reply_ident), (OK, 7))
        kernel.write(b''.join(frame(b'X', 0, n, body) for n in (8, 9, 1 << 63)) + frame(b'Q'))
        for n in 8, 9, 1 << 63:
            self.assertEqual((kernel.result()[0], kernel.reply_ident), (OK, n))
        self.assertEqual(kernel.wait(), 0)
        self.assertEqual(kernel.out, '\u00e9\n' * 4)

    def test_big_source(self):
        kernel = self.kernel()
        big = 'x = """' + '0123456789abcde\n' * (5 << 16) + '"""\nprint(len(x))'
        self.assertEqual(self.ok(kernel, big), '%d\n' % (16 * 5 << 16))
        self.assertEqual(kernel.value('x[-3:]'), "'de\\n'")

    def test_unknown_frames_are_passed_over(self):
        kernel = self.kernel()
        kernel.write(frame(b'z', 5, 6, b'body'))
        self.assertEqual(self.ok(kernel, 'print(1)'), '1\n')

    def test_end_of_the_socket_ends_the_kernel(self):
        kernel = self.kernel()
        self.ok(kernel, 'import sys; sys.stdout.write("rest"); sys.stdout = None')
        kernel.socket.shutdown(socket.SHUT_RDWR)
        self.assertEqual(kernel.wait(), 0)

    def test_end_of_the_socket_in_a_cell(self):
        kernel = self.kernel()
        kernel.post('import time\nprint("go")\ntime.sleep(0.2)')
        kernel.drain(5)
        kernel.socket.close()
        self.assertEqual(kernel.wait(), 0)

    def test_closed_control_descriptor(self):
        kernel = self.kernel()
        kernel.post('import os; os.closerange(3, 1100)')
        with self.assertRaises(Dead):
            kernel.result()
        kernel.wait()
        self.assertIn('closed the descriptor', kernel.err)

    def test_a_nonblocking_socket(self):
        kernel = self.kernel()
        self.ok(kernel, 'import os\nfor n in range(200, 1024):\n try: os.set_blocking(n, False)\n except OSError: pass')
        self.assertEqual(self.ok(kernel, 'print(2)'), '2\n')

    def test_cells_meet_a_blocking_socket(self):
        """It is asked without waiting while frames come quickly; who tells of a crash over it does not try twice."""
        kernel = self.kernel()
        for _ in range(20):
            kernel.post('import os\nprint([os.get_blocking(int(n)) for n in os.listdir("/proc/self/fd") if int(n) > 9 '
                        'and os.readlink("/proc/self/fd/" + n).startswith("socket")])')
        for _ in range(20):
            self.assertEqual(kernel.result()[0], OK)
        self.assertEqual(kernel.out, '[True]\n' * 20)

    def test_a_kernel_at_rest_rests(self):
        kernel = self.kernel()
        for _ in range(20):
            self.ok(kernel, 'pass')
        before = float(kernel.value('__import__("time").process_time()'))
        time.sleep(0.5)
        self.assertLess(float(kernel.value('__import__("time").process_time()')) - before, 0.2)

    def test_quit(self):
        kernel = self.kernel()
        self.ok(kernel, 'import atexit, threading, time\natexit.register(print, "bye")\n'
                        't = threading.Thread(target=lambda: (time.sleep(0.1), print("thread")))\nt.start()')
        kernel.output[1] = b''
        self.assertEqual(kernel.quit(), 0)
        self.assertEqual(kernel.out, 'thread\nbye\n')


class Outcome(Case):
    def test_system_exit(self):
        for text, code, status, err in [
                ('sys.exit()', 0, 0, ''), ('sys.exit(None)', 0, 0, ''), ('sys.exit(0)', 0, 0, ''), ('sys.exit(3)', 3,
                                                                                                    3, ''),
                ('sys.exit(True)', 1, 1, ''), ('sys.exit(256)', 256, 0, ''), ('sys.exit(-1)', -1, 255, ''),
                ('sys.exit("why")', 1, 1, 'why\n'), ('sys.exit((1, 2))', 1, 1, '(1, 2)\n'), ('exit()', 0, 0, ''),
                ('quit(4)', 4, 4, ''), ('raise SystemExit', 0, 0, ''), ('sys.exit(2 ** 40 + 5)', 5, 5, ''),
                ('sys.exit("\\ud800")', 1, 1, '\\ud800\n')]:
            kernel = self.kernel()
            with self.subTest(text):
                self.assertEqual(kernel.run('import sys; print(1)\n' + text)[:2], (EXIT, code))
                self.assertEqual(kernel.wait(), status)
                self.assertEqual((kernel.out, kernel.err), ('1\n', err))
                plain = python_says('-c', 'import sys\n' + text)
                self.assertEqual((plain.returncode, plain.stderr.decode()), (status, err))

    def test_exit_message_is_in_the_reply(self):
        self.assertEqual(self.kernel().run('import sys; sys.exit("caf\u00e9 \\udcff")'), (EXIT, 1, 'caf\u00e9 \ufffd'))

    def test_subclasses_and_hostile_codes(self):
        kernel = self.kernel()
        self.assertEqual(kernel.run('''
            class E(SystemExit):
                code = property(lambda self: 1/0)
                def __str__(self): raise KeyboardInterrupt
            raise E(7)'''), (EXIT, 7, ''))
        self.assertEqual(kernel.wait(), 7)
        kernel = self.kernel()
        self.assertEqual(kernel.run('class M:\n def __str__(self): raise SystemExit(9)\nraise SystemExit(M())')[:2],
                         (EXIT, 1))
        self.assertEqual(kernel.wait(), 1)

    def test_exit_runs_atexit_and_threads(self):
        kernel = self.kernel()
        kernel.run('import atexit, sys; atexit.register(print, "tidy"); sys.stdout.write("part"); sys.exit(5)')
        self.assertEqual((kernel.wait(), kernel.out), (5, 'parttidy\n'))

    def test_keyboard_interrupt(self):
        kernel = self.kernel()
        status, code, text = kernel.run('raise KeyboardInterrupt')
        self.assertEqual((status, code), (INTERRUPTED, 1))
        self.assertEqual(text, 'Traceback (most recent call last):\n  File "<cell 1>", line 1, in <module>\n'
                               '    raise KeyboardInterrupt\nKeyboardInterrupt\n')

    def test_hard_ends(self):
        kernel = self.kernel()
        kernel.post('import os; print("last"); os._exit(7)')
        with self.assertRaises(Dead) as caught:
            kernel.result()
        self.assertEqual((caught.exception.data, kernel.wait(), kernel.out), (b'', 7, 'last\n'))
        for text, number in [('ctypes.string_at(0)', signal.SIGSEGV), ('os.abort()', signal.SIGABRT)]:
            kernel = self.kernel()
            kernel.post('import ctypes, os\ndef f():\n    %s\nf()' % text)
            with self.assertRaises(Dead) as caught:
                kernel.result()
            self.assertEqual(kernel.wait(), -number)
            self.assertRegex(caught.exception.data, rb'(?s)\AFatal Python error: .*File "<cell 1>", line 3 in f\n')

    def test_the_users_faulthandler_wins(self):
        kernel = self.kernel()
        kernel.post('import faulthandler, ctypes; faulthandler.enable(); ctypes.string_at(0)')
        with self.assertRaises(Dead) as caught:
            kernel.result()
        kernel.wait()
        self.assertEqual(caught.exception.data, b'')
        self.assertIn('Segmentation fault', kernel.err)

    def test_memory_limit(self):
        kernel = self.kernel()
        status, _, text = kernel.run('''
            import resource
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, resource.RLIM_INFINITY))
            block = bytearray(4 << 30)''')
        self.assertEqual(status, EXCEPTION)
        self.assertIn('block = bytearray(4 << 30)', text)
        self.assertIn('MemoryError', text)
        self.assertEqual(self.ok(kernel, 'print("alive")'), 'alive\n')

    def test_references_are_dropped(self):
        kernel = self.kernel()
        self.ok(kernel, '''
            import weakref, gc
            gc.disable()
            class Big: pass
            refs = []
            def work():
                big = Big(); refs.append(weakref.ref(big)); raise RuntimeError('failed')
            ''')
        for flags in 0, ECHO, AWAIT, DISPLAY | ECHO:
            self.assertEqual(kernel.run('work()', flags)[0], EXCEPTION)
            self.assertEqual(kernel.value('[r() for r in refs]'), '[None]')
            self.ok(kernel, 'refs.clear()')
        self.assertEqual(kernel.run('work()', INTERACTIVE)[0], EXCEPTION)
        self.ok(kernel, 'import sys\nprint(sys.last_type.__name__, sys.last_value, '
                        'sys.last_traceback.tb_frame.f_code.co_filename, '
                        'refs[0]() is not None, getattr(sys, "last_exc", sys.last_value) is sys.last_value)')
        self.assertEqual(kernel.out, 'RuntimeError failed <cell %d> True True\n' % (kernel.ident - 1))


PROGRAMS = {
    'zero': '1/0\n',
    'function': 'def f(a, b):\n    return a / b\n\nx = [1, 0]\nf(*x)  # call\n',
    'cause': 'try:\n    {}["k"]\nexcept KeyError as e:\n    raise RuntimeError("no") from e\n',
    'context': 'try:\n    1/0\nexcept ZeroDivisionError:\n    undefined_name\n',
    'suppressed': 'try:\n    1/0\nexcept ZeroDivisionError:\n    raise ValueError(1) from None\n',
    'suggestion of a name': 'width = 1\ndef f(height):\n    return heigth\nprint(widht)\n',
    'suggestion in a function': 'def f(height):\n    return heigth\nf(1)\n',
    'suggestion of an attribute': 'class C:\n    colour = 1\nC().color\n',
    'suggestion of a chained error': 'colour = 1\ntry:\n    color\nexcept NameError:\n    raise ValueError("x")\n',
    'suggestion of a module': 'json.loads("1")\n',
    'suggestion of an import': 'from math import flor\n',
    'library': 'import json\njson.loads("{")\n',
    'module missing': 'import no_such_module_here\n',
    'broken module': 'import broken_module\n',
    'module that raises': 'import raising_module\n',
    'recursion': 'import sys\nsys.setrecursionlimit(200)\ndef r(n):\n    return r(n + 1)\ntry:\n    r(0)\n'
                 'except RecursionError as e:\n    e.__traceback__.tb_next.tb_next.tb_next.tb_next.tb_next.tb_next = '
                 'None\n    raise\n',
    'repeated lines': 'def r(n):\n    if n == 0:\n        raise ValueError(n)\n    r(n - 1)\nr(30)\n',
    'empty message': 'raise ValueError\n',
    'many lines in a message': 'raise ValueError("one\\ntwo\\n  three")\n',
    'unicode': 'd = {"\u00e9": 1}\nd["\u4e2d\u6587"] + d["\u00e9"]\n',
    'wide carets': 'def f(x): return x\na = "\u4e2d\u6587\u5b57" + f("\U0001f600") + f(1)\n',
    'long expression': 'a = 0\nb = (1 +\n     2 +\n     (3 / a) +\n     4)\n',
    'exception class of a module': 'import argparse\nraise argparse.ArgumentTypeError("bad")\n',
    'nested class': 'class A:\n    class E(Exception):\n        pass\nraise A.E("x")\n',
    'unprintable': 'class E(Exception):\n    def __str__(self):\n        raise ValueError("in str")\nraise E("x")\n',
    'key error': '{}["a\\nb"]\n',
    'os error': 'open("/no/such/file")\n',
    'unicode error': '"\\ud800".encode()\n',
    'assert': 'assert 1 == 2, "no"\n',
    'lambda and comprehension': 'f = lambda x: [1 / y for y in x]\nf([1, 0])\n',
    'with': 'class C:\n    def __enter__(self): return self\n    def __exit__(self, *a): raise KeyError("exit")\n'
            'with C():\n    1/0\n',
    'exec': 'exec("x = 1\\ny = 1/0\\n")\n',
    'compiled elsewhere': 'exec(compile("\\n\\n1/0", "/no/such/place.py", "exec"))\n',
    'generator': 'def g():\n    yield 1\n    raise StopIteration\nlist(g())\n',
    'warning made an error': 'import warnings\nwarnings.simplefilter("error")\nwarnings.warn("careful")\n',
    # (Before 3.10 the end of a file is another line than the end of a text.)
    'syntax: open bracket': 'x = 1\ny = (x *\n' + (')(' if VERSION < (3, 10) else ''),
    'syntax: two': 'x = 1 1\n',
    'syntax: indent': 'if 1:\nx = 2\n',
    'syntax: dedent': 'if 1:\n    x = 2\n  y = 3\n',
    'syntax: tabs': 'if 1:\n        a = 1\n\tb = 2\n',
    'syntax: return': 'x = 1\nreturn x\n',
    'syntax: future': 'print(1)\nfrom __future__ import annotations\n',
    'syntax: await': 'await x\n',
    'syntax: assignment': 'f() = 1\n',
    'syntax: string': 'x = "abc\n',
    'syntax: f-string': 'x = f"{1 +}"\n',
    # (Before 3.13 the column is wrong, for files only.)
    'syntax: unicode': 'd\u00e9f = "\u4e2d" 5\n' if VERSION >= (3, 13) else '',
    'syntax: keyword': 'prnt(1) for x\n',
    'syntax: nonlocal': 'def f():\n    nonlocal q\n',
    'syntax in exec': 'exec("a b")\n',
}
if VERSION >= (3, 11):
    PROGRAMS.update({
        'group': 'raise ExceptionGroup("two", [ValueError("left"), ExceptionGroup("inner", [TypeError("right")])])\n',
        'group of raised': 'def f():\n    try:\n        1/0\n    except Exception as e:\n        a = e\n    try:\n   '
                           '     [][1]\n'
                           '    except Exception as e:\n        raise ExceptionGroup("g", [a, e])\nf()\n',
        'group with suggestion': 'colour = 1\ntry:\n    color\nexcept NameError as e:\n    raise ExceptionGroup("g", '
                                 '[e])\n',
        'notes': 'e = ValueError("x")\ne.add_note("first")\ne.add_note("second\\nline")\nraise e\n',
        'except star': 'try:\n    raise ExceptionGroup("g", [ValueError(1), TypeError(2)])\nexcept* ValueError:\n    '
                       'raise KeyError(3)\n',
    })


class Traceback(Case):
    """The text is what Python prints."""

    def test_same_text_as_python(self):
        for name, program in PROGRAMS.items():
            if not program:
                continue
            with self.subTest(name):
                kernel = self.script(program)
                folder = os.path.dirname(kernel.path)
                for module, text in ('broken_module', 'x = 1\ny = = 2\n'), ('raising_module',
                                                                            'def f():\n    1/0\nf()\n'):
                    with open('%s/%s.py' % (folder, module), 'w') as f:
                        f.write(text)
                status, _, text = kernel.run(program, name=kernel.path)
                self.assertEqual(status, EXCEPTION)
                expected = python_says(kernel.path, env=dict(os.environ, PYTHONIOENCODING='utf-8')).stderr.decode()
                self.assertEqual(text, expected)

    def test_recursion(self):
        program = 'def again(n):\n    return again(n + 1)\nagain(0)\n'
        kernel = self.script(program)
        text = kernel.run(program, name=kernel.path)[2]
        expected = python_says(kernel.path).stderr.decode()
        count = re.compile(r'repeated \d+ more')
        self.assertEqual(count.sub('', text), count.sub('', expected))
        self.assertTrue(count.search(text))
        self.assertEqual(self.ok(kernel, 'print("alive")'), 'alive\n')

    def test_cells_show_their_lines(self):
        kernel = self.kernel()
        self.ok(kernel, 'def unit_price(total, count):\n    return total / count  # divides here\n')
        text = kernel.run('basket = [12, 0]\nunit_price(*basket)  # call site\n')[2]
        lines = [line for line in text.splitlines() if not re.fullmatch(r'[ ~^]*', line)]
        self.assertEqual(lines, [
            'Traceback (most recent call last):', '  File "<cell 2>", line 2, in <module>',
            '    unit_price(*basket)  # call site', '  File "<cell 1>", line 2, in unit_price',
            '    return total / count  # divides here', 'ZeroDivisionError: division by zero'])

    def test_null_bytes(self):
        status, _, text = self.kernel().run(b'x = 1\ny = \0 2')
        self.assertEqual(status, EXCEPTION)
        self.assertIn('  File "<cell 1>", line', text)
        self.assertRegex(text, 'source code string cannot contain null bytes')

    def test_source_that_is_no_text(self):
        status, _, text = self.kernel().run(b'x = "\xff"')
        self.assertEqual(status, EXCEPTION)
        self.assertIn('<cell 1>', text)

    def test_symtable_errors_of_cells_show_the_line(self):
        for flags in 0, ECHO:
            text = self.kernel().run('x = 1\nreturn x', flags)[2]
            self.assertIn('  File "<cell 1>", line 2\n    return x\n', text)

    def test_limits_and_surrogates(self):
        kernel = self.kernel()
        text = kernel.run('raise ValueError("start" + "\u00e9" * 1000000 + "end")')[2]
        self.assertLessEqual(len(text.encode()), 256 << 10)
        self.assertTrue(text.endswith('end\n'))
        self.assertIn('start', text)
        self.assertRegex(text, r'\n\[\.\.\. \d+ bytes of this text are left out here \.\.\.\]\n')
        self.assertIn('\ufffd\ufffd|\x00|', kernel.run('raise ValueError("\\udcff\\ud800|\\0|")')[2])

    def test_hostile_exceptions(self):
        kernel = self.kernel()
        for text in '''
            def __str__(self): raise SystemExit(9)
            def __str__(self): raise KeyboardInterrupt
            def __str__(self): return str(self)
            def __str__(self): return 5
            def __repr__(self): raise SystemExit(9)
            __class__ = property(lambda self: 1/0)
            __class__ = SystemExit
            def __getattribute__(self, name): raise SystemExit(name)
            __notes__ = property(lambda self: sys.exit(1))
            __cause__ = property(lambda self: sys.exit(1))
            __traceback__ = property(lambda self: sys.exit(1))
            __module__ = 5
            __module__ = property(lambda self: 1/0)
            __suppress_context__ = property(lambda self: sys.exit(1))
            __dict__ = property(lambda self: sys.exit(1))
            def __eq__(self, other): sys.exit(1)
            __hash__ = None
            def __bool__(self): sys.exit(1)
            def __len__(self): sys.exit(1)
            def __del__(self): sys.exit(1)
            '''.strip().splitlines():
            for base in 'Exception', 'NameError', 'SyntaxError':
                with self.subTest(text.strip() + base):
                    program = 'import sys\nclass Evil(%s):\n    %s\nraise Evil("x")' % (base, text.strip())
                    status, code, said = kernel.run(program)
                    self.assertEqual((status, code), (EXCEPTION, 1))
                    self.assertIn('Evil', said)
                    self.assertIn('line 4', said)
        self.assertEqual(self.ok(kernel, 'print("alive")'), 'alive\n')

    def test_hostile_metaclass(self):
        kernel = self.kernel()
        status, _, text = kernel.run('''
            class Meta(type):
                __name__ = __module__ = property(lambda self: 1/0)
                def __repr__(self): raise SystemExit(4)
            class Evil(Exception, metaclass=Meta): pass
            raise Evil('x')''')
        self.assertEqual(status, EXCEPTION)
        self.assertIn('Evil: x\n', text)
        self.assertIn("    raise Evil('x')\n", text)

    def test_loops_of_causes(self):
        kernel = self.kernel()
        status, _, text = kernel.run('a = ValueError(1); b = ValueError(2); a.__cause__ = b; b.__cause__ = a\nraise a')
        self.assertEqual(status, EXCEPTION)
        self.assertIn('ValueError: 2', text)
        self.assertEqual(kernel.run('''
            e = None
            for i in range(3000):
                n = ValueError(i); n.__context__ = e; e = n
            raise e''')[0], EXCEPTION)

    def test_frames_of_the_runner_are_cut_everywhere(self):
        kernel = self.kernel()
        self.ok(kernel, 'class R:\n    def __repr__(self): return 1/0\nclass D:\n    def __repr__(self): return '
                        'str(1/0)')
        for source, flags in [('R()', ECHO), ('D()', ECHO | DISPLAY), ('display(D())', DISPLAY), ('await 1', AWAIT),
                              ('async def f(): 1/0\nawait f()', AWAIT), ('x = (', ECHO | AWAIT),
                              ('1/0', AWAIT | ECHO | DISPLAY)]:
            text = kernel.run(source, flags)[2]
            self.assertNotRegex(text, 'hermes|run_special|serve|rich_forms|asyncio')
            self.assertIn('<cell ', text)

    def test_frames_of_the_runner_are_cut_in_chains(self):
        kernel = self.kernel()
        self.ok(kernel, 'class D:\n    def __repr__(self): return str(1/0)\ndef f():\n    display(D())')
        chains = ['try: f()\nexcept Exception: raise ValueError(2)',
                  'try: f()\nexcept Exception as e: raise ValueError(2) from e']
        if VERSION >= (3, 11):
            chains.append('try: f()\nexcept Exception as e: raise ExceptionGroup("two", [ValueError(2), e])')
        for source in chains:
            text = kernel.run(source, DISPLAY)[2]
            self.assertNotRegex(text, 'hermes|rich_forms|plain_text')
            self.assertRegex(text, r'line 1, in <module>(?s:.*)in f\n(?s:.*)in __repr__\n(?s:.*)ZeroDivisionError')
            self.assertIn('ValueError: 2', text)

    def test_an_interrupt_while_an_exception_is_taken(self):
        """It comes between the end of the cell's code and what the runner keeps of that."""
        kernel = self.kernel()
        self.ok(kernel, '''
            import sys
            def profile(frame, event, argument):
                if event == 'c_call' and 'job' in frame.f_globals and sys.exc_info()[0] is ZeroDivisionError:
                    raise KeyboardInterrupt
            ''')
        status, _, text = kernel.run('sys.setprofile(profile)\n1/0')
        self.assertEqual(status, INTERRUPTED)
        self.assertNotIn('hermes', text)
        self.assertRegex(text, r'^Traceback .*\n  File "<cell 2>", line 2, in <module>\n(?s:.*)\nZeroDivisionError: '
                               r'.*\n\nDuring handling (?s:.*)\nKeyboardInterrupt\n$')

    def test_import_of_a_zipped_module_shows_its_lines(self):
        import zipfile
        folder = self.folder()
        with zipfile.ZipFile(folder + '/z.zip', 'w') as z:
            z.writestr('zipped.py', 'def f():\n    return 1/0  # in the zip\n')
        text = self.kernel({'path0': folder + '/z.zip'}).run('import zipped\nzipped.f()')[2]
        self.assertIn('    return 1/0  # in the zip\n', text)

    def test_lines_that_others_registered(self):
        text = self.kernel().run('''
            import linecache
            linecache.cache['<made>'] = 10, None, ['1/0  # made line\\n'], '<made>'
            exec(compile('1/0  # made line', '<made>', 'exec'))''')[2]
        self.assertIn('    1/0  # made line\n', text)

    def test_files_with_a_cookie(self):
        folder = self.folder()
        with open(folder + '/latin.py', 'wb') as f:
            f.write(b'# -*- coding: latin-1 -*-\ndef f():\n    1/0  # caf\xe9\n')
        self.assertIn('1/0  # caf\u00e9\n', self.kernel({'path0': folder}).run('import latin\nlatin.f()')[2])


class Lines(Case):
    """Cells of a file keep the file's lines."""

    def test_first_line(self):
        for line in 1, 5, 299, 300, 301, 5000:
            body = 'def f():\n    return 1 / 0\nclass C:\n    def m(self):\n        return f()\nC().m()\n'
            text = '\n' * (line - 1) + body
            kernel = self.script(text)
            said = kernel.run(text[line - 1:], name=kernel.path, line=line)[2]
            self.assertEqual(said, python_says(kernel.path).stderr.decode())
            said = kernel.run('def g():\n    return f()\ng()\n', name=kernel.path, line=line + 6)[2]
            for n in line + 7, line + 8, line + 1:
                self.assertIn('line %d, in ' % n, said)
            said = kernel.run('x = 1\ny = (\n', name=kernel.path, line=line)[2]
            self.assertRegex(said, r'\A  File ".*", line (%d|%d)\n' % (line + 1, line + 2))

    def test_lines_of_code_objects(self):
        for line in 10, 1000:
            body = ('def f(a,\n      b=lambda: 3):\n    x = [i for\n         i in a]\n    def g():\n        return '
                    '(1,\n'
                    '                2)\n    return g\n@staticmethod\ndef h(): pass\n')
            text = '\n' * (line - 1) + body
            kernel = self.script(text)
            self.ok(kernel, body, name=kernel.path, line=line)
            walk = ('import dis, types\ndef walk(c):\n    yield c.co_name, list(dis.findlinestarts(c))\n'
                    '    for k in c.co_consts:\n        if isinstance(k, types.CodeType):\n            yield from '
                    'walk(k)\n'
                    'print([list(walk(c)) for c in (f.__code__, h.__func__.__code__)])\n')
            out = self.ok(kernel, walk)
            self.assertEqual(out, python_says('-c', text + walk).stdout.decode())

    def test_classes_get_source_and_first_line(self):
        for line in 10, 1000:
            body = 'import inspect\nclass Sensor:\n    limit = 5\n    def read(self):\n        return self.limit\n'
            kernel = self.script('\n' * (line - 1) + body)
            self.ok(kernel, body, name=kernel.path, line=line)
            out = self.ok(kernel, 'print(inspect.getsource(Sensor), inspect.getsourcelines(Sensor)[1], '
                                  'Sensor.read.__code__.co_firstlineno)')
            self.assertEqual(out, body[15:] + ' %d %d\n' % (line + 1, line + 3))

    def test_warnings_of_the_compiler(self):
        for line in 10, 1000:
            body = 'x = 1\nx is 1\n'
            kernel = self.script('\n' * (line - 1) + body)
            self.ok(kernel, body, name=kernel.path, line=line)
            self.assertIn(':%d: SyntaxWarning:' % (line + 1), kernel.err)
            self.assertEqual(kernel.err.count('Warning'), 1)
            self.assertEqual(kernel.value('[f for f in __import__("warnings").filters if f[3] and "case" in '
                                          'str(f[3])]'), '[]')
            self.ok(kernel, 'import warnings; warnings.simplefilter("error")')
            self.assertIn('line %d\n' % (line + 1), kernel.run(body, name=kernel.path, line=line)[2])

    def test_first_cells_are_compiled_lightly(self):
        """compile() would make the types of all syntax nodes: they are there only once it was needed."""
        nodes = 'print([c for c in object.__subclasses__() if c.__name__ == "AST"])\n'
        if python_says('-c', nodes).stdout != b'[]\n':
            self.skipTest('what site imports makes them')
        kernel = self.kernel()
        self.assertEqual(self.ok(kernel, nodes, name='first'), '[]\n')
        self.ok(kernel, 'def f():\n    def g(): return lambda: 1\n    return g\n', name='second')
        self.assertEqual(self.ok(kernel, 'for c in f, f(), f()(): print(c.__code__.co_filename)', name='third'),
                         'second\n' * 3)
        self.assertEqual(self.ok(kernel, nodes), '[]\n')
        kernel.run('1 1', name='fourth')
        self.assertIn('AST', self.ok(kernel, nodes))

    def test_finalizers_and_handlers_while_a_cell_is_compiled(self):
        """They may be of code that has no file either; no cell is run twice, none of them instead of a cell."""
        kernel = self.kernel()
        self.ok(kernel, """
            import gc, signal
            n, deaths, alarms = 0, 0, 0
            exec('class Cycle:\\n def __init__(self): self.me = self\\n def __del__(self):\\n  global deaths\\n'
                 '  deaths += 1\\ndef ring(*args):\\n global alarms\\n alarms += 1')
            signal.signal(signal.SIGALRM, ring)
            gc.set_threshold(1)
            _ = signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0002)""")
        body = 'n += 1; Cycle(); a = [%d, (), {}]\n' + 'def f(x=()):\n    return [x, {x: (x, [x])}]\n' * 20
        for i in range(70):
            self.ok(kernel, body % i)
            self.assertEqual(kernel.err, '')
        self.ok(kernel, '_ = signal.setitimer(signal.ITIMER_REAL, 0)')
        self.assertEqual(kernel.value('n, deaths > 50, alarms > 0'), '(70, True, True)')

    def test_user_profiler_is_kept(self):
        for first in 'pass', '1 1':
            kernel = self.kernel()
            kernel.run(first)
            self.ok(kernel, 'import sys\nseen = []\ndef note(frame, event, arg): seen.append(event)\n'
                    'sys.setprofile(note)')
            self.ok(kernel, 'seen.clear()')
            self.ok(kernel, 'sys.setprofile(None)')
            self.assertEqual(self.ok(kernel, 'print("call" in seen or "c_call" in seen, sys.getprofile())'),
                             'True None\n')

    def test_text_comes_from_memory(self):
        kernel = self.script('def f():\n    return 1/0  # as it ran\n')
        with open(kernel.path, 'w') as f:
            f.write('# changed\n' * 10)
        self.ok(kernel, 'def f():\n    return 1/0  # as it ran\n', name=kernel.path)
        self.assertIn('    return 1/0  # as it ran\n', kernel.run('f()', name=kernel.path, line=3)[2])
        out = self.ok(kernel, 'import inspect; print(inspect.getsource(f))')
        self.assertIn('as it ran', out)


class Sources(Case):
    def test_getsource(self):
        kernel = self.kernel()
        self.ok(kernel, "def discount(p):\n    '''ten percent'''\n    return p * 0.9\n")
        self.ok(kernel, 'def other():\n    return 1\n')
        self.assertEqual(self.ok(kernel, 'import inspect\ndef third(): pass\nprint(inspect.getsource(discount), '
                                         'inspect.getsource(other), inspect.getsource(third), sep="")'),
                         "def discount(p):\n    '''ten percent'''\n    return p * 0.9\ndef other():\n    return 1\n"
                         "def third(): pass\n\n")

    def test_linecache_emptied_or_checked(self):
        kernel = self.kernel()
        self.ok(kernel, 'import linecache, inspect, traceback\ndef f():\n    return 1/0')
        self.ok(kernel, 'linecache.clearcache()')
        self.assertIn('return 1/0', self.ok(kernel, 'linecache.checkcache()\nprint(inspect.getsource(f))'))
        self.assertIn('return 1/0', self.ok(kernel, 'try: f()\nexcept Exception: '
                                                    'traceback.print_exc(file=__import__("sys").stdout)'))
        self.ok(kernel, 'linecache.cache = None')
        self.assertIn('return 1/0', kernel.run('f()')[2])

    def test_lines_are_split_as_python_does(self):
        kernel = self.kernel()
        self.ok(kernel, 'import inspect\ns = "a\x0cb\u2028\x1c"\ndef f():\n    return 1\n')
        self.assertEqual(self.ok(kernel, 'print(inspect.getsource(f))'), 'def f():\n    return 1\n\n')
        self.ok(kernel, b'x = 1\r\ndef f():\r\n    return 2\r\ndef g():\r    return 3\r')
        self.assertEqual(self.ok(kernel, 'print(inspect.getsource(f), inspect.getsource(g))'),
                         'def f():\n    return 2\n def g():\n    return 3\n\n')

    def test_bounded(self):
        kernel = self.kernel()
        self.ok(kernel, 'def first(): return 1/0')
        for i in range(9):
            self.ok(kernel, '#' + 'x' * (8 << 20))
        self.assertNotIn('return 1/0', kernel.run('first()')[2])
        self.ok(kernel, 'import os')
        pages = kernel.value('int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20')
        self.assertLess(int(pages), 120)

    def test_many_small_ones_are_bounded_too(self):
        kernel = self.kernel()
        self.ok(kernel, 'import linecache')
        for i in range(36000):
            kernel.run('n = 1', name='<cell %d>' % i)
        self.assertLess(int(kernel.value('len(linecache.cache)')), 34000)

    def test_the_finder_leaves_no_trace_on_the_module(self):
        kernel = self.kernel()
        self.ok(kernel, 'import linecache, sys\nprint(type(linecache.__loader__).__name__, linecache.__spec__.loader '
                        'is '
                        'linecache.__loader__, sys.modules["linecache"] is linecache)')
        self.assertEqual(kernel.out, 'SourceFileLoader True True\n')

    def test_pickle_dataclass_typing(self):
        kernel = self.kernel()
        self.ok(kernel, '''
            from __future__ import annotations
            import pickle, sys, typing
            from dataclasses import dataclass, field, InitVar
            from typing import ClassVar
            @dataclass
            class Track:
                name: str
                unit: ClassVar[str] = 'km'
                tags: list[str] = field(default_factory=list)
                seed: InitVar[int] = 0
                def __post_init__(self, seed): self.tags.append('s%d' % seed)
            ''')
        self.assertEqual(self.ok(kernel, '''
            back = pickle.loads(pickle.dumps(Track('a', seed=4)))
            print(back, back == Track('a', seed=4), Track.__module__, sys.modules['__main__'].Track is Track)
            import __main__
            __main__.depth = 7
            print(depth)'''), "Track(name='a', tags=['s4']) True __main__ True\n7\n")


class Streams(Case):
    def test_order(self):
        kernel = self.kernel()
        self.assertEqual(self.ok(kernel, r'''
            import os, subprocess, sys
            print('1 print')
            os.write(1, b'2 write\n')
            print('3 print')
            subprocess.run(['echo', '4 child'])
            sys.stdout.write('5 a\n6 rest')
            '''), '1 print\n2 write\n3 print\n4 child\n5 a\n6 rest')
        kernel.run('sys.stdout.write("part"); sys.stderr.write("half"); 1/0')
        self.assertEqual((kernel.out, kernel.err), ('part', 'half'))

    def test_lines_come_at_once(self):
        kernel = self.kernel(stdin=None)
        kernel.post('print("line"); print("progress\\r", end=""); import sys; sys.stderr.write("e\\n"); input()')
        end = time.monotonic() + 10
        while (kernel.out, kernel.err) != ('line\nprogress\r', 'e\n') and time.monotonic() < end:
            kernel.drain(1)
        self.assertEqual((kernel.out, kernel.err), ('line\nprogress\r', 'e\n'))
        os.write(kernel.stdin, b'\n')
        self.assertEqual(kernel.result()[0], OK)

    def test_attributes(self):
        kernel = self.kernel()
        self.assertEqual(self.ok(kernel, '''
            import sys, io
            for s in sys.stdout, sys.stderr:
                print(type(s) is io.TextIOWrapper, s.encoding, s.fileno(), s.name, s.mode, s.line_buffering, s.isatty())
            print(sys.stdout is sys.__stdout__, sys.stderr.errors, sys.stdin.fileno(), repr(sys.stdin.read()))
            sys.stdout.buffer.write('bytes \u00e9\\n'.encode())
            sys.stdout.flush()
            sys.stdout.reconfigure(line_buffering=True)
            '''), 'True utf-8 1 <stdout> w True False\nTrue utf-8 2 <stderr> w True False\nTrue backslashreplace 0 '
                  '\'\'\nbytes \u00e9\n')

    def test_encodings(self):
        bare = {'LC_ALL': 'POSIX', 'PYTHONCOERCECLOCALE': '0', 'PYTHONUTF8': '0'}
        for env in {'LC_ALL': 'C'}, bare, {'LC_ALL': 'C.UTF-8'}:
            kernel = self.kernel(env=env)
            kernel.run(r'print("\u2192 caf\xe9 \ud800|\udcff|\U0001f40d"); import sys; sys.stderr.write("\u2192 '
                       r'\ud800")')
            self.assertEqual(kernel.output[1], '\u2192 caf\u00e9 \ufffd|'.encode() + b'\xff|\xf0\x9f\x90\x8d\n')
            self.assertEqual(kernel.output[2], '\u2192 \\ud800'.encode())
        kernel = self.kernel(env={'PYTHONIOENCODING': 'latin-1'})
        kernel.run('print("caf\u00e9")')
        self.assertEqual(kernel.output[1], b'caf\xe9\n')
        status, _, text = kernel.run('print("\u2192")')
        self.assertIn('UnicodeEncodeError', text)
        self.assertIn('print("\u2192")', text)

    def test_closed_and_replaced(self):
        kernel = self.kernel()
        self.ok(kernel, 'import sys\nprint("before")\nsys.stdout.close()')
        self.assertEqual(kernel.out, 'before\n')
        self.assertEqual(self.ok(kernel, 'print("after", sys.stdout is sys.__stdout__, sys.stdout.name, '
                                         'sys.stdout.line_buffering)'),
                         'after True <stdout> True\n')
        self.assertEqual(kernel.run('sys.stderr.close(); 1/0')[0], EXCEPTION)
        self.ok(kernel, 'import warnings; warnings.warn("to stderr")')
        self.assertIn('to stderr', kernel.err)
        for text in ('sys.stdout = None', 'del sys.stdout', 'sys.stdout = sys.__stdout__ = None',
                     'del sys.stdout, sys.__stdout__, sys.stdin'):
            self.ok(kernel, text)
            self.assertEqual(self.ok(kernel, 'print("back"); sys.stdin.read()'), 'back\n')
        self.ok(kernel, 'import io; sys.stdout = io.StringIO(); print("captured")')
        self.assertEqual(kernel.out, '')
        self.assertEqual(self.ok(kernel, 'b, sys.stdout = sys.stdout, sys.__stdout__; print("got", b.getvalue())'),
                         'got captured\n\n')
        self.ok(kernel, 'sys.stdin.close(); sys.stdout.detach()')
        self.assertEqual(self.ok(kernel, 'print("detached"); print(sys.stdin.read())'), 'detached\n\n')

    def test_replaced_by_something_bare(self):
        kernel = self.kernel()
        self.ok(kernel, '''
            import sys
            class Loud:
                def __init__(self, s): self.s = s
                def write(self, t): self.s.write(t.upper())
            sys.stdout = Loud(sys.stdout)
            print('shout')''')
        self.assertEqual(kernel.out, 'SHOUT\n')
        self.assertEqual(self.ok(kernel, 'print("still")'), 'STILL\n')
        self.assertEqual(kernel.run('1/0')[0], EXCEPTION)
        self.ok(kernel, '''
            class Evil:
                def __getattribute__(self, name): raise SystemExit(name)
            sys.stdout = sys.stderr = Evil()''')
        self.ok(kernel, 'sys.stdout = sys.__stdout__; sys.stderr = sys.__stderr__')
        self.assertEqual(self.ok(kernel, 'print(1)'), '1\n')

    def test_closed_descriptors(self):
        kernel = self.kernel()
        self.ok(kernel, 'import os, subprocess; os.close(1); os.close(2); os.close(0)')
        self.assertEqual(self.ok(kernel, r'''
            print('print works')
            os.write(1, b'fd works\n')
            subprocess.run(['echo', 'child works'])
            os.write(2, b'err')
            print(os.read(0, 10), [os.get_inheritable(n) for n in (0, 1, 2)])'''),
            "print works\nfd works\nchild works\nb'' [True, True, True]\n")
        self.assertEqual(kernel.err, 'err')
        status, _, text = kernel.run('os.close(1); print("lost")')
        self.assertEqual(self.ok(kernel, 'print("again")')[-6:], 'again\n')

    def test_a_descriptor_that_was_replaced_stays(self):
        kernel = self.kernel()
        self.ok(kernel, 'import os\nsaved = os.dup(1)\nos.dup2(os.open("/dev/null", os.O_WRONLY), 1)')
        self.assertEqual(self.ok(kernel, 'print("hidden")'), '')
        self.assertEqual(kernel.run('1/0')[0], EXCEPTION)
        self.assertEqual(self.ok(kernel, 'os.dup2(saved, 1); print("shown")'), 'shown\n')

    def test_c_stdio(self):
        kernel = self.kernel()
        self.assertEqual(self.ok(kernel, 'import ctypes\nlibc = ctypes.CDLL(None)\nprint("python")\n'
                                         'libc.printf(b"C\\n")'), 'python\nC\n')
        self.assertEqual(self.ok(kernel, 'libc.printf(b"again"); 5'), 'again')
        self.assertEqual(kernel.run('libc.printf(b"then"); 1/0')[0], EXCEPTION)
        self.assertEqual(kernel.out, 'then')
        self.assertEqual(self.kernel().value('"ctypes" in __import__("sys").modules'), 'False')

    def test_input_at_its_end(self):
        kernel = self.kernel()
        self.assertIn('EOFError', kernel.run('input("name? ")')[2])
        self.assertEqual(self.ok(kernel, 'import subprocess; print(subprocess.run(["cat"], stdout=-1).stdout)'),
                         "b''\n")
        kernel = self.kernel(stdin='one\ntwo\nthree\n')
        self.assertEqual(self.ok(kernel, 'print(input(), end="!")'), 'one!')
        self.assertEqual(self.ok(kernel, 'import sys; print(list(sys.stdin))'), "['two\\n', 'three\\n']\n")

    def test_reader_gone(self):
        kernel = self.kernel()
        for fd in list(kernel.fds):
            os.close(fd)
        kernel.fds = {}
        status, _, text = kernel.run('print("x")')
        self.assertIn('BrokenPipeError', text)
        self.assertEqual(kernel.run('x = 1')[0], OK)

    def test_deep_in_a_stream(self):
        kernel = self.kernel()
        text = 'x' + '\u00e9' * 70000 + '\U0001f40d' * 20000
        self.assertEqual(self.ok(kernel, 'print("x" + "\u00e9" * 70000 + "\U0001f40d" * 20000)'), text + '\n')


class Robust(Case):
    """Whatever a cell does to the interpreter, the next one works and gets its reply."""

    DAMAGE = {
        'shadowed': 'print = None\nlen = 5\nopen = str = list = dict = int = type = isinstance = repr = exec = '
                    'compile = 0',
        'builtins patched': 'import builtins\nfor n in ("exec compile len type isinstance getattr repr str print map '
                            'sum list '
                            'bytes BaseException").split(): setattr(builtins, n, None)',
        'import hook': 'import builtins\nbuiltins.__import__ = lambda: None',
        'builtins emptied': 'import builtins\nbuiltins.__dict__.clear()',
        '__builtins__ lost': 'del __builtins__',
        '__builtins__ replaced': '__builtins__ = 5',
        'globals cleared': 'globals().clear()',
        'main deleted': 'import sys\ndel sys.modules["__main__"]',
        'modules cleared': 'import sys\nsys.modules.clear()',
        'json': 'import json, sys\njson.dumps = json.loads = None\nsys.modules["json"] = None',
        'traceback': 'import traceback, linecache, io\nfor m in traceback, linecache, io:\n  for n in dir(m):\n'
                     '    if n[:2] != "__": setattr(m, n, None)',
        'stdlib of the formatter': 'import re, enum, collections, functools, itertools, operator, contextlib, '
                                   'textwrap, types, keyword\n'
                                   'for m in re, enum, collections, functools, itertools, operator, contextlib, '
                                   'textwrap, types, keyword:\n'
                                   '  for n in dir(m):\n    if n[:2] != "__": setattr(m, n, None)',
        'os and posix': 'import os, posix, errno, marshal, _thread, _io, _signal, _imp, _codecs\n'
                        'for m in os, posix, errno, marshal, _thread, _io, _signal, _imp, _codecs:\n'
                        '  for n in dir(m):\n    if n[:2] != "__" and n != "environ": setattr(m, n, None)',
        'importlib': 'import sys\nsys.meta_path.clear()\nsys.path.clear()\nsys.path_hooks.clear()',
        'importlib patched': 'import _frozen_importlib as b, _frozen_importlib_external as e\nb._find_spec = b._load '
                             '= None\n'
                             'e.SourceFileLoader = None',
        'sys patched': 'import sys\nsys.exc_info = sys.getrecursionlimit = sys.settrace = sys.gettrace = '
                       'sys.excepthook = None\n'
                       'sys.displayhook = sys._getframe = sys.intern = None\nsys.modules["sys"] = None',
        'warnings as errors': 'import warnings\nwarnings.simplefilter("error")',
        'warnings broken': 'import warnings\nwarnings.filters = None\nwarnings.showwarning = None',
        'time mocked': 'import time\ntime.time = time.monotonic = time.sleep = None',
        'recursion limit': 'import sys\nsys.setrecursionlimit(30)',
        'trace': 'import sys\nsys.settrace(lambda *a: None)',
        'profile': 'import sys\nsys.setprofile(lambda *a: None)',
        'gc': 'import gc\ngc.disable()\ngc.set_threshold(1, 1, 1)\ngc.callbacks.append(None)',
        'signals': 'import signal\nfor s in range(1, 32):\n  try: signal.signal(s, signal.SIG_IGN)\n  except '
                   'OSError: pass',
        'threading': 'import threading\nthreading.Thread = threading.Lock = threading.current_thread = '
                     'threading.main_thread = None',
        'umask and cwd': 'import os\nos.umask(0o777)\nos.chdir("/")',
        'audit hook': 'import sys\nsys.addaudithook(lambda name, args: 1/0 if name in ("compile", "exec") and 0 else '
                      'None)',
        'excepthooks': 'import sys\nsys.excepthook = sys.unraisablehook = sys.displayhook = lambda *a: 1/0',
        'names deleted': 'del __name__, __doc__, __package__, __spec__, __loader__',
        'fds': 'import os\nfor n in range(0, 100):\n  try: os.close(n)\n  except OSError: pass',
        'codecs': 'import codecs\nfor n in "strict", "replace", "backslashreplace", "hermes-surrogates": '
                  'codecs.register_error(n, lambda e: 1/0)',
        'environment': 'import os\nos.environ.clear()',
        'rlimit': 'import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (10, 10))',
    }

    def test_damage(self):
        for name, damage in self.DAMAGE.items():
            with self.subTest(name):
                kernel = self.kernel()
                self.assertEqual(kernel.run(damage)[::2], (OK, ''))
                self.assertEqual(kernel.run('x = 1')[:2], (OK, 0))
                status, _, text = kernel.run('x = 2\n1/0')
                self.assertEqual(status, EXCEPTION)
                self.assertIn('File "<cell %d>", line 2, in <module>\n    1/0\n' % kernel.ident, text)
                self.assertIn('ZeroDivisionError: division by zero\n', text)
                self.assertNotIn('During handling', text)
                self.assertEqual(kernel.run('(lambda: 0)()')[:2], (OK, 0))
                self.assertIn('SyntaxError', kernel.run('x = = 2')[2])

    def test_what_is_put_back_works(self):
        kernel = self.kernel()
        self.ok(kernel, 'import builtins\nbuiltins.__dict__.clear()')
        self.assertEqual(self.ok(kernel, 'import math; print(math.floor(2.5), __name__)'), '2 __main__\n')
        self.ok(kernel, 'globals().clear()')
        self.assertEqual(self.ok(kernel, 'import sys; print(__name__, type(__builtins__).__name__, '
                                         'vars(sys.modules["__main__"]) is globals())'),
                         '__main__ module True\n')
        self.ok(kernel, 'sys.modules.clear()')
        self.assertEqual(self.ok(kernel, 'import json, sys, os; print(json.dumps({}), '
                                         'sys.modules["__main__"].__name__)'), '{} __main__\n')

    def test_recursion_limit_is_the_cells(self):
        kernel = self.kernel()
        first = kernel.value('__import__("sys").getrecursionlimit()')
        self.ok(kernel, 'import sys; sys.setrecursionlimit(60)')
        self.ok(kernel, 'x = 1')
        self.assertIn('RecursionError', kernel.run('def deep(n): return n and deep(n - 1)\ndeep(100)')[2])
        self.assertEqual(kernel.value('sys.getrecursionlimit()'), '60')
        self.ok(kernel, 'sys.setrecursionlimit(%s); print(deep(100))' % first)
        self.assertEqual(kernel.out, '0\n')
        self.assertEqual(kernel.value('sys.getrecursionlimit()'), first)

    def test_trace_functions_stay_and_see_no_runner(self):
        kernel = self.kernel()
        self.ok(kernel, '''
            import sys
            seen = []
            def tracer(f, e, a): seen.append(f.f_code.co_filename); return tracer
            def profiler(f, e, a): called.append((f.f_code.co_filename, e))
            called = []
            sys.settrace(tracer)''')
        self.ok(kernel, 'x = sum(range(10))\nprint(x)')
        self.assertEqual(kernel.out, '45\n')
        self.assertEqual(self.ok(kernel, 'sys.settrace(None); print(sorted({s for s in seen if s[0] == "<"}))'),
                         "['<cell 2>', '<cell 3>']\n")
        self.ok(kernel, 'sys.setprofile(profiler)')
        self.ok(kernel, 'x = 1')
        self.ok(kernel, 'sys.setprofile(None)')
        self.assertNotIn('call\'', [e for name, e in eval(kernel.value('[c for c in called if "hermes" in c[0]]'))])

    def test_trace_functions_stay_after_failures_and_go_when_told(self):
        kernel = self.kernel()
        self.ok(kernel, 'import sys\ndef tracer(f, e, a): return tracer\nsys.settrace(tracer)')
        for flags in 0, ECHO, AWAIT | ECHO, DISPLAY | ECHO:
            self.assertEqual(kernel.run('1/0', flags)[0], EXCEPTION)
            self.assertEqual(kernel.value('sys.gettrace() is tracer'), 'True')
            self.assertEqual(kernel.run('sys.settrace(None)\n1/0', flags)[0], EXCEPTION)
            self.assertEqual(kernel.value('sys.gettrace()'), 'None')
            self.ok(kernel, 'sys.settrace(tracer)', flags)

    def test_a_warning_is_shown_again(self):
        kernel = self.kernel()
        for _ in range(2):
            self.ok(kernel, 'import warnings\nwarnings.warn("look")')
            self.assertIn('UserWarning: look', kernel.err)

    def test_thread_that_floods_and_breaks(self):
        kernel = self.kernel()
        self.ok(kernel, '''
            import threading, sys, time
            stop = False
            def flood():
                while not stop:
                    sys.modules.get('x'); vars(sys).get('y')
            threads = [threading.Thread(target=flood) for i in range(3)]
            for t in threads: t.start()''')
        for i in range(5):
            self.assertEqual(kernel.run('1/0')[0], EXCEPTION)
        self.ok(kernel, 'stop = True\nfor t in threads: t.join()')


class Signals(Case):
    def interrupt(self, kernel, number=signal.SIGINT):
        os.killpg(kernel.pid, number)

    def wait_for(self, kernel, text):
        end = time.monotonic() + 10
        while text not in kernel.out:
            self.assertLess(time.monotonic(), end)
            kernel.drain(1)

    def test_interrupt(self):
        kernel = self.kernel(stdin=None)
        for source in ('while True: pass', 'import time; time.sleep(60)', 'input()',
                       'import os; os.system("sleep 60")\nwhile 1: pass',
                       'import subprocess; subprocess.run(["sleep", "60"])',
                       'import threading; threading.Event().wait()'):
            kernel.output[1] = b''
            kernel.post('print("go")\n' + source)
            self.wait_for(kernel, 'go\n')
            time.sleep(0.05)
            start = time.monotonic()
            self.interrupt(kernel)
            if 'system' in source:
                time.sleep(0.1)
                self.interrupt(kernel)
            status, code, text = kernel.result()
            self.assertEqual((status, code), (INTERRUPTED, 1))
            self.assertIn('KeyboardInterrupt', text)
            self.assertNotIn('hermes', text)
            self.assertLess(time.monotonic() - start, 5)
        self.assertEqual(self.ok(kernel, 'print("alive")'), 'alive\n')

    def test_nothing_between_cells(self):
        kernel = self.kernel()
        for _ in range(5):
            self.interrupt(kernel)
            self.assertEqual(self.ok(kernel, 'print("calm")'), 'calm\n')
            self.interrupt(kernel)
        self.assertEqual(kernel.err, '')

    def test_the_users_handler(self):
        kernel = self.kernel()
        self.ok(kernel, 'import signal, os\ndef mine(n, f): print("caught", n)\nsignal.signal(2, mine)')
        self.interrupt(kernel)
        self.assertEqual(self.ok(kernel, 'print(signal.getsignal(2) is mine); os.kill(os.getpid(), 2); print("on")'),
                         'True\ncaught 2\non\n')
        self.ok(kernel, 'signal.signal(2, signal.SIG_IGN)')
        self.assertEqual(self.ok(kernel, 'print(signal.getsignal(2) == signal.SIG_IGN); os.kill(os.getpid(), 2)'),
                         'True\n')
        self.ok(kernel, 'signal.signal(2, signal.default_int_handler)')
        self.assertEqual(kernel.run('os.kill(os.getpid(), 2)')[0], INTERRUPTED)
        self.ok(kernel, 'signal.signal(2, signal.SIG_DFL)')
        kernel.post('os.kill(os.getpid(), 2)')
        with self.assertRaises(Dead):
            kernel.result()
        self.assertEqual(kernel.wait(), -signal.SIGINT)

    def test_interrupt_of_what_the_reply_asks(self):
        kernel = self.kernel()
        kernel.post('class E(Exception):\n def __str__(self):\n  print("go")\n  while True: pass\nraise E')
        self.wait_for(kernel, 'go\n')
        self.interrupt(kernel)
        end = time.monotonic() + 10
        while kernel.out.count('go') < 2 and time.monotonic() < end:
            if select.select([kernel.socket], [], [], 0)[0]:
                break
            kernel.drain(0.05)
        if not select.select([kernel.socket], [], [], 0.2)[0]:
            self.interrupt(kernel)
        status, _, text = kernel.result()
        self.assertEqual(status, EXCEPTION)
        self.assertRegex(text, r'\n(__main__\.)?E: <')

    def test_interrupt_of_a_flush(self):
        kernel = self.kernel()
        kernel.fds, fds = {}, kernel.fds        # nobody reads
        kernel.post('import sys\nprint("x" * (1 << 20), end="")')
        time.sleep(0.3)
        self.interrupt(kernel)
        time.sleep(0.1)
        kernel.fds = fds
        self.assertEqual(kernel.result()[0], INTERRUPTED)
        self.assertEqual(self.ok(kernel, 'x = 1').strip('x'), '')

    def test_storm(self):
        """Interrupts at any moment: each cell gets one reply, and the kernel stays."""
        kernel = self.kernel()
        self.ok(kernel, 'class E(Exception):\n def __str__(self): return "e" * 10\ndef f(): raise E')
        sources = ['x = 1', 'f()', 'for i in range(20000): pass', 'print(1)', 'x = (', 'try: f()\nexcept E: pass']
        for i in range(600):
            kernel.post(sources[i % len(sources)])
            for _ in range(i % 4):
                end = time.monotonic() + i % 50 * 2e-5
                while time.monotonic() < end:
                    pass
                self.interrupt(kernel)
            status, _, text = kernel.result()
            self.assertEqual(kernel.reply_ident, kernel.ident)
            self.assertIn(status, (OK, EXCEPTION, INTERRUPTED))
            self.assertEqual(status == OK, text == '')
            self.assertNotIn('could not be described', text)
            self.assertNotIn('hermes', text)
        self.assertEqual(self.ok(kernel, 'print("alive")'), 'alive\n')
        kernel.post('print("in it")\nwhile True: pass')     # the moments above may all have been too early or too late
        end = time.monotonic() + 10
        while 'in it\n' not in kernel.out and time.monotonic() < end:
            kernel.drain(1)
        self.interrupt(kernel)
        self.assertEqual(kernel.result()[0], INTERRUPTED)

    def test_handlers_that_raise_between_cells(self):
        kernel = self.kernel()
        self.ok(kernel, 'import signal\ndef late(n, f): raise TimeoutError("too late")\n'
                        'signal.signal(signal.SIGUSR1, late)')
        for _ in range(20):
            self.interrupt(kernel, signal.SIGUSR1)
            kernel.post('x = 1')
            self.interrupt(kernel, signal.SIGUSR1)
            self.assertIn(kernel.result()[0], (OK, EXCEPTION))
        self.interrupt(kernel, signal.SIGUSR1)
        end = time.monotonic() + 10
        while 'TimeoutError: too late\n' not in kernel.err and time.monotonic() < end:
            kernel.drain(1)
        self.assertIn('TimeoutError: too late\n', kernel.err)
        self.assertEqual(self.ok(kernel, 'signal.signal(signal.SIGUSR1, signal.SIG_IGN)\nprint("alive")'), 'alive\n')

    def test_exit_from_a_handler_between_cells(self):
        kernel = self.kernel()
        self.ok(kernel, 'import signal, sys, atexit\nsignal.signal(signal.SIGTERM, lambda *a: sys.exit(12))\n'
                        'atexit.register(print, "tidy")')
        self.interrupt(kernel, signal.SIGTERM)
        self.assertEqual((kernel.wait(), kernel.out), (12, 'tidy\n'))

    def test_alarm_storm(self):
        kernel = self.kernel()
        kernel.run(
            'import signal\ndef late(n, f): raise ValueError("tick")\nsignal.signal(signal.SIGALRM, late)\n'
            'signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0002)')
        for i in range(300):
            kernel.post(['x = 1', '1/0', 'for i in range(1000): pass'][i % 3])
            kernel.result()
            self.assertEqual(kernel.reply_ident, kernel.ident)
        for i in range(50):
            if kernel.run('signal.setitimer(signal.ITIMER_REAL, 0)')[0] == OK:
                break
        self.ok(kernel, 'signal.signal(signal.SIGALRM, signal.SIG_IGN)')
        self.assertEqual(self.ok(kernel, 'print("alive")'), 'alive\n')

    def test_faulthandler_is_on(self):
        self.assertEqual(self.kernel().value('__import__("faulthandler").is_enabled()'), 'True')


class Processes(Case):
    def test_forked_child_runs_off_the_cell(self):
        kernel = self.kernel()
        self.ok(kernel, r'''
            import os
            who = 'parent'
            pid = os.fork()
            if pid == 0:
                who = 'child'
                print('from the child', end='')
            else:
                print(os.waitpid(pid, 0)[1])''')
        self.assertEqual(kernel.out, 'from the child0\n')
        self.assertEqual(self.ok(kernel, 'print(who)'), 'parent\n')

    def test_forked_child_ends_as_python_would(self):
        kernel = self.kernel()
        for end, status, err in [('sys.exit(3)', 3, ''), ('sys.exit("msg")', 1, 'msg\n'), ('1/0', 1,
                                                                                           'ZeroDivisionError'),
                                 ('os._exit(4)', 4, ''), ('raise KeyboardInterrupt', 1, 'KeyboardInterrupt')]:
            self.ok(kernel, 'import os, sys\nprint("before")\npid = os.fork()\nif pid == 0: %s\n'
                            'print(os.waitpid(pid, 0)[1] >> 8)' % end)
            self.assertEqual(kernel.out, 'before\n%d\n' % status)
            self.assertIn(err, kernel.err)
            self.assertNotIn('hermes', kernel.err)

    def test_forked_child_holds_nothing_of_ours(self):
        kernel = self.kernel()
        self.assertEqual(self.ok(kernel, '''
            import os
            r, w = os.pipe()
            if os.fork() == 0:
                folder = '/proc/self/fd/'
                names = [n for n in os.listdir(folder) if int(n) not in (0, 1, 2, r, w) and os.path.exists(folder + n)]
                os.write(w, repr(sorted({os.readlink(folder + n).split(':')[0] for n in names})).encode())
                os._exit(0)
            os.wait()
            print(os.read(r, 1000).decode())'''), "['/dev/null']\n")

    def test_crash_of_a_forked_child_is_not_ours(self):
        kernel = self.kernel()
        self.assertEqual(self.ok(kernel, '''
            import os, ctypes
            if os.fork() == 0:
                ctypes.string_at(0)
            print(os.wait()[1] & 127)'''), '11\n')

    def test_fork_by_c(self):
        kernel = self.kernel()
        self.ok(kernel, '''
            import ctypes, os
            pid = ctypes.PyDLL(None).fork()
            if pid: os.waitpid(pid, 0)
            print('parent' if pid else 'child')''')
        self.assertEqual(kernel.out, 'child\nparent\n')
        self.assertEqual(self.ok(kernel, 'print("one")'), 'one\n')

    def test_child_that_outlives_the_cell(self):
        kernel = self.kernel()
        self.ok(kernel, 'import subprocess; p = subprocess.Popen(["sleep", "60"])')
        self.assertEqual(self.ok(kernel, 'p.kill(); print(p.wait())'), '-9\n')

    def test_multiprocessing_in_a_session(self):
        kernel = self.kernel()
        self.ok(kernel, '''
            import math
            SCALE = 10
            class P:
                def __init__(self, a): self.a = a
            def f(x): return P(x * SCALE + math.floor(1.5))
            print("once")''')
        methods = ['fork', 'spawn', 'forkserver']
        self.assertEqual(self.ok(kernel, '''
            import multiprocessing as mp
            for m in %r:
                with mp.get_context(m).Pool(1) as p: print(m, [v.a for v in p.map(f, [1, 2])])''' % methods),
            ''.join('%s [11, 21]\n' % m for m in methods))
        text = kernel.run('def g(x):\n    return 1/x\nwith mp.get_context("spawn").Pool(1) as p: p.map(g, [0])')[2]
        self.assertIn('  File "<cell 3>", line 2, in g\n    return 1/x\n', text)
        self.assertEqual(kernel.quit(), 0)

    def test_multiprocessing_in_a_script(self):
        text = ('import multiprocessing as mp\ndef square(x):\n    return x * x\n'
                'if __name__ == "__main__":\n    for m in "fork", "spawn", "forkserver":\n'
                '        with mp.get_context(m).Pool(1) as p: print(m, p.map(square, [1, 2, 3]))\n')
        kernel = self.script(text)
        self.assertEqual(self.ok(kernel, text, name=kernel.path), python_says(kernel.path).stdout.decode())

    def test_executor_with_a_dead_worker(self):
        kernel = self.kernel()
        text = kernel.run('''
            import os, signal, multiprocessing as mp
            from concurrent.futures import ProcessPoolExecutor
            def doomed(n): os.kill(os.getpid(), signal.SIGKILL)
            with ProcessPoolExecutor(1, mp_context=mp.get_context('fork')) as ex:
                ex.submit(doomed, 1).result(timeout=20)''')[2]
        self.assertIn('BrokenProcessPool', text)
        self.assertEqual(self.ok(kernel, 'print("alive")'), 'alive\n')

    def test_sigpipe_and_mask_of_children(self):
        kernel = self.kernel()
        # (Without the two signals of glibc's own, which its posix_spawn ignores in the test's children.)
        text = ('import subprocess, re; print([int(n, 16) & 0x7fffffff for n in '
                're.findall(r"Sig(?:Blk|Ign):\\s*(\\w+)", '
                'subprocess.run(["cat", "/proc/self/status"], stdout=-1, universal_newlines=True).stdout)])')
        self.assertEqual(self.ok(kernel, text), python_says('-c', text).stdout.decode())

    def test_lifeline(self):
        kernel = self.kernel(lifeline=True)
        self.ok(kernel, 'import subprocess, time; p = subprocess.Popen(["sleep", "60"]); print(p.pid)')
        child = int(kernel.out)
        kernel.post('while True: pass')
        os.close(kernel.lifeline)
        kernel.lifeline = None
        self.assertEqual(kernel.wait(), -signal.SIGKILL)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            try:
                with open('/proc/%d/stat' % child) as f:
                    if f.read().rpartition(')')[2].split()[0] == 'Z':
                        break
            except FileNotFoundError:
                break
            time.sleep(0.01)
        else:
            self.fail('a child of the kernel is left')


class Futures(Case):
    def test_carried_in_scripts_and_interactive_use(self):
        define = 'def f(x: defined_nowhere): pass\nprint(f.__annotations__["x"])'
        kernel = self.script('')
        self.ok(kernel, 'from __future__ import annotations')
        self.assertEqual(self.ok(kernel, define), 'defined_nowhere\n')
        kernel = self.kernel()
        self.ok(kernel, 'from __future__ import annotations', INTERACTIVE)
        self.assertIn('NameError', kernel.run(define)[2])
        for flags in INTERACTIVE, INTERACTIVE | ECHO, INTERACTIVE | ECHO | DISPLAY | AWAIT:
            self.assertEqual(self.ok(kernel, define, flags), 'defined_nowhere\n')

    def test_each_flag_is_known(self):
        import __future__
        kernel = self.kernel({'interactive': '1'})
        for name in __future__.all_feature_names:
            self.ok(kernel, 'from __future__ import ' + name)
        self.assertIn('SyntaxError', kernel.run('1 != 2')[2])       # the joke among them: <> is back
        self.ok(kernel, '1 <> 2')

    def test_a_failed_compilation_carries_nothing(self):
        kernel = self.kernel({'interactive': '1'})
        kernel.run('from __future__ import annotations\nx = (')
        self.assertIn('NameError', kernel.run('def f(x: nowhere): pass\n' 'print(f.__annotations__)')[2] or 'NameError')


class Texts(Case):
    def test_sources(self):
        kernel = self.kernel()
        for source, out in [
                (b'\xef\xbb\xbfprint("bom")', 'bom\n'), ('# -*- coding: latin-1 -*-\nprint("\u00e9", len("\u00e9"))',
                                                         '\u00e9 1\n'),
                (b'x = 1\r\nif x:\r\n    print("crlf")\r\ntext = """a\r\nb"""\r\nprint(repr(text))\r\n',
                 "crlf\n'a\\nb'\n"),
                (b'x = 2\rif x:\r    print("cr")\r', 'cr\n'), ('\x0cx = 1\n\x0cif x:\n\tprint("ff")\n', 'ff\n'), ('',
                                                                                                                  ''),
                ('# only a comment', ''), ('if 1:\n    print("no newline")', 'no newline\n'), ('\n\n   \n', ''),
                ('print("\u2028\u2029\x85\x1c")', '\u2028\u2029\x85\x1c\n'), ('print("a\\x00b")', 'a\x00b\n'),
                ("'docstring'\nprint(__doc__)", 'docstring\n')]:
            for flags in 0, ECHO, DISPLAY | ECHO | AWAIT:
                with self.subTest(source):
                    kernel.output = {1: b'', 2: b''}
                    kernel.post(source, flags)
                    self.assertEqual(kernel.result(), (OK, 0, ''))
                    self.assertEqual(kernel.out, out)

    def test_nesting(self):
        kernel = self.kernel()
        for source in '(' * 300 + ')' * 300, '-' * 100000 + '1', 'x' + '.x' * 20000:
            self.assertIn(kernel.run(source)[0], (OK, EXCEPTION))
        self.assertEqual(self.ok(kernel, 'print(1)'), '1\n')


class Echo(Case):
    def test_like_the_interactive_python(self):
        kernel = self.kernel()
        for source, out in [('1 + 1', '2\n'), ('x = 5', ''), ('None', ''), ('_', '2\n'), ('"a"', "'a'\n"), ('x\nx + 1',
                                                                                                            '6\n'),
                            ('print("p"); x', 'p\n5\n'), ('x;', '5\n'), ('for i in 1, 2: i', ''), ('"doc"\n',
                                                                                                   "'doc'\n"), ('', ''),
                            ('# c', ''), ('if 1: 5', ''), ('def f(): return 3\nf()', '3\n'), ('_', '3\n')]:
            with self.subTest(source):
                self.assertEqual(self.ok(kernel, source, ECHO), out)

    def test_hook(self):
        kernel = self.kernel()
        self.ok(kernel, 'import sys\nold = sys.displayhook\nsys.displayhook = lambda v: print("<%r>" % (v,))')
        self.assertEqual(self.ok(kernel, '5', ECHO), '<5>\n')
        self.assertEqual(self.ok(kernel, '5', ECHO | DISPLAY), '<5>\n')
        self.ok(kernel, 'sys.displayhook = old')
        self.assertEqual(self.ok(kernel, '5', ECHO), '5\n')

    def test_last_expression_fails(self):
        kernel = self.kernel()
        text = kernel.run('x = 1\nx / 0', ECHO)[2]
        self.assertIn('line 2, in <module>\n    x / 0\n', text)

    def test_display(self):
        kernel = self.kernel()
        self.assertEqual(kernel.value('"display" in dir(__builtins__)'), 'False')
        self.ok(kernel, r'''
            class Rich:
                def __repr__(self): return 'plain'
                def _repr_html_(self): return '<b>\u00e9</b>'
                def _repr_png_(self): return b'\x89PNG\0'
                def _repr_latex_(self): raise SystemError
                def _repr_svg_(self): return None
                def _repr_json_(self): return {'a': [1]}
                def _repr_markdown_(self): return '*x*', {'meta': 1}
            class Bundle:
                def _repr_mimebundle_(self, include=None, exclude=None):
                    return {'text/plain': 'own', 'application/x+json': {'b': 2}, 'image/jpeg': 'AAEC'}, {}
            class Everything:
                def __getattr__(self, name): return lambda *a, **k: name
                def __repr__(self): return 'every'
            class Same(int): pass
            ''')
        self.assertEqual(self.ok(kernel, 'print("before"); Rich()', ECHO | DISPLAY), 'before\n')
        self.assertEqual(kernel.displays, [(1, {b'text/plain': b'plain', b'text/html': '<b>\u00e9</b>'.encode(),
                                                b'image/png': b'\x89PNG\0',
                                                b'application/json': b'{"a": [1]}', b'text/markdown': b'*x*'})])
        self.assertEqual(kernel.value('_'), 'plain')
        self.ok(kernel, 'print(1); display(Bundle(), Everything(), Same(3)); print(2)', DISPLAY)
        self.assertEqual(kernel.displays, [(0, {b'text/plain': b'own', b'application/x+json': b'{"b": 2}',
                                                b'image/jpeg': b'\0\1\2'}),
                                           (0, {b'text/plain': b'every'}), (0, {b'text/plain': b'3'})])
        self.ok(kernel, 'display({"text/plain": "\\ud800", "text/html": "<i>"}, raw=True); Rich', DISPLAY | ECHO)
        self.assertEqual(kernel.displays[0], (0, {b'text/plain': '\ufffd'.encode(), b'text/html': b'<i>'}))
        self.assertEqual(list(kernel.displays[1][1]), [b'text/plain'])
        for source in 'None', 'x = 1', 'Rich();', 'Rich() ; # why', 'print(3)':
            self.ok(kernel, source, ECHO | DISPLAY)
            self.assertEqual(kernel.displays, [])

    def test_display_of_too_much(self):
        kernel = self.kernel()
        self.ok(kernel, 'display({"text/plain": "x" * (20 << 20), "image/png": b"p" * (17 << 20), "text/html": "h"}, '
                        'raw=True)', DISPLAY)
        bundle = kernel.displays[0][1]
        self.assertNotIn(b'image/png', bundle)
        self.assertEqual(bundle[b'text/html'], b'h')
        self.assertIn(b'left out', bundle[b'text/plain'])

    def test_display_where_it_can_not_be_sent(self):
        kernel = self.kernel()
        self.ok(kernel, 'import os, threading, time', DISPLAY)
        self.assertEqual(self.ok(kernel, 'display(5)'), '5\n')
        self.ok(kernel, 'pid = os.fork()\nif pid == 0: display("child")\nelse: os.waitpid(pid, 0)', DISPLAY)
        self.assertEqual((kernel.out, kernel.displays), ("'child'\n", []))
        self.ok(kernel, 'def many():\n for i in range(2000): display(i)\nt = threading.Thread(target=many); t.start()',
                DISPLAY)
        got = len(kernel.displays)
        for _ in range(20):
            self.ok(kernel, 'x = 1', DISPLAY)
            got += len(kernel.displays)
        self.ok(kernel, 't.join()', DISPLAY)

    def test_interrupted_display_breaks_no_frame(self):
        kernel = self.kernel()
        kernel.post('while True: display({"text/plain": "y" * 300000}, raw=True)', DISPLAY)
        time.sleep(0.2)
        for _ in range(3):
            os.killpg(kernel.pid, signal.SIGINT)
            time.sleep(0.01)
        self.assertEqual(kernel.result()[0], INTERRUPTED)
        self.assertEqual(self.ok(kernel, 'print("alive")'), 'alive\n')


class Await(Case):
    def test_top_level(self):
        kernel = self.kernel()
        self.assertIn('SyntaxError', kernel.run('import asyncio\nawait asyncio.sleep(0)')[2])
        self.assertEqual(self.ok(kernel, 'import asyncio\nvalue = await asyncio.sleep(0.01, result=7)\nprint(value)',
                                 AWAIT), '7\n')
        self.assertEqual(self.ok(kernel, 'await asyncio.sleep(0, result=8)', AWAIT | ECHO), '8\n')
        self.ok(kernel, 'await asyncio.sleep(0, result=9)', AWAIT | ECHO | DISPLAY)
        self.assertEqual(kernel.displays, [(1, {b'text/plain': b'9'})])
        self.assertEqual(self.ok(kernel, 'async with asyncio.Lock(): print("with")', AWAIT), 'with\n')
        self.assertEqual(self.ok(kernel, 'print(1)', AWAIT), '1\n')

    def test_one_loop(self):
        kernel = self.kernel()
        self.ok(kernel, 'import asyncio\nawait asyncio.sleep(0)\nfirst = asyncio.get_running_loop()\nqueue = '
                        'asyncio.Queue()\ntask = asyncio.ensure_future(queue.get())', AWAIT)
        self.assertEqual(self.ok(kernel, 'await queue.put(3)\nprint(await task, asyncio.get_running_loop() is first)',
                                 AWAIT), '3 True\n')
        self.ok(kernel, 'async def job(n):\n    await asyncio.sleep(0.001)\n    return n * 2\n')
        self.assertEqual(self.ok(kernel, 'print(asyncio.run(job(2)))'), '4\n')
        self.assertEqual(self.ok(kernel, 'print(asyncio.run(job(3)))'), '6\n')
        self.assertEqual(self.ok(kernel, 'print(await job(4), asyncio.get_running_loop() is first)', AWAIT), '8 True\n')
        self.assertEqual(kernel.quit(), 0)
        self.assertEqual(kernel.err, '')

    def test_failure_and_exit(self):
        kernel = self.kernel()
        text = kernel.run('import asyncio\nasync def bad():\n    await asyncio.sleep(0)\n    1/0\nawait bad()',
                          AWAIT)[2]
        lines = [line for line in text.splitlines() if not re.fullmatch(r'[ ~^]*', line)]
        self.assertEqual(lines, ['Traceback (most recent call last):', '  File "<cell 1>", line 5, in <module>',
                                 '    await bad()',
                                 '  File "<cell 1>", line 4, in bad', '    1/0', 'ZeroDivisionError: division by zero'])
        self.assertEqual(kernel.run('import sys; await asyncio.sleep(0); sys.exit(6)', AWAIT)[:2], (EXIT, 6))
        self.assertEqual(kernel.wait(), 6)

    def test_interrupt(self):
        kernel = self.kernel()
        kernel.post('import asyncio\ntry:\n    print("go")\n    await asyncio.sleep(60)\nfinally:\n    '
                    'print("cleaned")', AWAIT)
        end = time.monotonic() + 10
        while 'go' not in kernel.out and time.monotonic() < end:
            kernel.drain(1)
        time.sleep(0.1)
        os.killpg(kernel.pid, signal.SIGINT)
        status, _, text = kernel.result()
        self.assertEqual(status, INTERRUPTED)
        self.assertIn('  File "<cell 1>", line 4, in <module>\n', text)
        self.assertNotIn('run_until_complete', text)
        self.assertEqual(kernel.out, 'go\ncleaned\n')
        self.assertEqual(self.ok(kernel, 'await asyncio.sleep(0)\nprint("alive")', AWAIT), 'alive\n')


class Requests(Case):
    """What is answered: test_inspect.py. Here: that it comes on a socket of its own, whatever runs."""

    def ask(self, kernel, text, ident):
        kernel.requests.sendall(frame(b'q', 0, ident, text))
        return self.answer(kernel, ident)

    def answer(self, kernel, ident):
        data = b''
        kernel.requests.settimeout(10)
        while len(data) < 16 or len(data) < 16 + struct.unpack_from('<I', data, 4)[0]:
            data += kernel.requests.recv(1 if len(data) < 16 else 16 + struct.unpack_from('<I', data, 4)[0] - len(data))
        self.assertEqual((data[1:2], struct.unpack_from('<Q', data, 8)[0]), (b'a', ident))
        return json.loads(data[16:].decode())

    def test_requests_while_a_cell_runs(self):
        kernel = self.kernel({'parts': os.path.realpath(RUNNER)}, requests=True)
        kernel.write(frame(b'A', 0, 0, b''))
        self.assertEqual(self.ask(kernel, b'{"request": "ping"}', 76), {'busy': False, 'cell': 0})
        kernel.post('import time\nwhile True: pass')
        deadline = time.monotonic() + 10
        while not self.ask(kernel, b'{"request": "ping"}', 77)['busy']:
            self.assertLess(time.monotonic(), deadline)
        for text in b'', b'{', b'[]', b'\xff', b'{"request":"?"}', b'{"request":[]}', b' ' * 1000000:
            self.assertIn('error', self.ask(kernel, text, 78))
        os.killpg(kernel.pid, signal.SIGINT)
        self.assertEqual(kernel.result()[0], INTERRUPTED)
        kernel.requests.close()
        self.assertEqual(self.ok(kernel, 'print("alive")'), 'alive\n')
        self.assertEqual(kernel.quit(), 0)

    def test_requests_in_any_pieces(self):
        kernel = self.kernel({'parts': os.path.realpath(RUNNER)}, requests=True)
        data = b''.join(frame(b'q', 0, 100 + n, b'{"request":"ping","n":%d}' % n) for n in range(20))
        self.ok(kernel, '1')
        for at in range(0, len(data), 7):
            kernel.requests.sendall(data[at:at + 7])
        for n in range(20):
            self.assertEqual(self.answer(kernel, 100 + n)['busy'], False)

    def test_a_closed_socket_ends_the_answers_only(self):
        kernel = self.kernel({'parts': os.path.realpath(RUNNER)}, requests=True)
        self.ok(kernel, '''
            import os, stat
            for n in range(3, 1024):
                try:
                    if stat.S_ISSOCK(os.fstat(n).st_mode) and n != 1023: os.close(n)
                except OSError: pass''')
        self.assertEqual(self.ok(kernel, 'print("alive")'), 'alive\n')
        self.assertEqual(kernel.quit(), 0)

    def test_no_thread_before_it_is_needed(self):
        kernel = self.kernel({'parts': os.path.realpath(RUNNER)}, requests=True)
        threads = '/proc/%d/task' % kernel.pid
        self.assertEqual(len(os.listdir(threads)), 1)
        kernel.write(frame(b'A', 0, 0, b''))
        self.assertEqual(self.ask(kernel, b'{"request":"ping"}', 1), {'busy': False, 'cell': 0})
        self.assertEqual(len(os.listdir(threads)), 2)
        kernel.write(frame(b'A', 0, 0, b''))
        self.ok(kernel, '1')
        self.assertEqual(len(os.listdir(threads)), 2)


if __name__ == '__main__':
    unittest.main()
