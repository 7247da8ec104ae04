# SPDX-License-Identifier: MIT
# The module hermes_tools of a session, as the engine writes it into the session's private directory: this text
# with SOCKET, TOKEN and TOOLS put before it. In the kernel's own process the runner sets `kernel`, which speaks over an
# inherited socket; processes that a cell started connect to SOCKET. Every connection serves one call at a time, every
# call has an id, and no call is ever sent twice.
import json
import os
import shlex
import socket
import threading
import time

kernel = None
_local = threading.local()
_longest = 8 << 20          # of a request, newline included; the host reads no longer one
_numbers = iter(range(1, 1 << 62))


class ToolError(Exception):
    pass


def json_parse(text, strict=False):
    if isinstance(text, (bytes, bytearray)):
        text = bytes(text).decode('utf-8', 'replace')
    return json.loads(text[1:] if text[:1] == '\ufeff' else text, strict=strict)


def shell_quote(text):
    return shlex.quote(str(text))


def retry(function, max_attempts=3, delay=2):
    for attempt in range(max_attempts):
        try:
            return function()
        except Exception:
            if attempt + 1 >= max_attempts:
                raise
            time.sleep(delay * 2 ** attempt)


def _connection():
    link = getattr(_local, 'link', None)
    if link is None or link[0] != os.getpid():
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(SOCKET)
        link = _local.link = os.getpid(), connection, connection.makefile('rb')
    return link


def _exchange(line, is_answer):
    try:
        _, connection, answers = _connection()
        connection.sendall(line)
        while True:
            try:
                answer = answers.readline()
            except OSError:
                answer = b''
            if not answer.endswith(b'\n'):
                _local.link = None
                return (b'{"error": "the connection ended before the answer came; '
                        b'the call may have run and is not repeated"}')
            if is_answer(answer):
                return answer
    except OSError as error:
        _local.link = None
        return json.dumps({'error': 'the tool was not reached: %s' % error}).encode()
    except BaseException:
        _local.link = None  # half a line may be in it
        raise


def _call(tool, arguments):
    number = next(_numbers)
    request = {'id': number, 'tool': tool, 'arguments': json.dumps(arguments)}
    cell = kernel and kernel.name_of_cell()
    if cell:
        request['cell'] = cell
    line = (json.dumps(request) + '\n').encode()
    if len(line) > _longest - 200:
        return {'error': 'the arguments are too large: %d bytes as JSON, %d at most' % (len(line), _longest - 200)}
    # The host begins every answer with its id; null is for a line that it could not read, which then was ours.
    starts = b'{"id":%d,' % number, b'{"id":null,'
    answer = None
    if cell and kernel.lock.acquire(False):
        try:
            answer = kernel.exchange(line, lambda line: line.startswith(starts))
        finally:
            kernel.lock.release()
    if answer is None:
        request['token'] = TOKEN
        answer = _exchange((json.dumps(request) + '\n').encode(), lambda line: line.startswith(starts))
    try:
        answer = json.loads(answer.decode('utf-8', 'replace'), strict=False)
    except (ValueError, RecursionError):
        return {'error': 'the answer is no JSON'}
    if 'result' not in answer:
        return {'error': answer.get('error', 'no answer')}
    result = answer['result']
    if isinstance(result, str):
        try:
            result = json.loads(result)
        except (ValueError, RecursionError):
            pass
    return result


def _given(**arguments):
    return {name: value for name, value in arguments.items() if value is not None}


def web_search(query, limit=5):
    return _call('web_search', {'query': query, 'limit': limit})


def web_extract(urls, char_limit=None):
    return _call('web_extract', _given(urls=[urls] if isinstance(urls, str) else list(urls), char_limit=char_limit))


def read_file(path, offset=1, limit=500):
    return _call('read_file', {'path': str(path), 'offset': offset, 'limit': limit})


def write_file(path, content):
    return _call('write_file', {'path': str(path), 'content': content})


def search_files(pattern, target='content', path='.', file_glob=None, limit=50, offset=0,
                 output_mode='content', context=0):
    return _call('search_files', _given(pattern=pattern, target=target, path=str(path), file_glob=file_glob,
                                        limit=limit, offset=offset, output_mode=output_mode, context=context))


def patch(path=None, old_string=None, new_string=None, replace_all=False, mode='replace', patch=None):
    return _call('patch', _given(path=path and str(path), old_string=old_string,
                                 new_string=new_string, replace_all=replace_all,
                                 mode=mode, patch=patch))


def terminal(command, timeout=None, workdir=None, **ignored):
    return _call('terminal', _given(command=command, timeout=timeout, workdir=workdir and str(workdir)))


def _configured(tool):
    def call(**arguments):
        return _call(tool, arguments)
    call.__name__ = call.__qualname__ = tool
    return call


for _name in ('web_search', 'web_extract', 'read_file', 'write_file', 'search_files', 'patch', 'terminal'):
    if _name not in TOOLS:
        del globals()[_name]
for _name in TOOLS:
    if _name not in globals() and _name.isidentifier():
        globals()[_name] = _configured(_name)
del _name
__all__ = ['json_parse', 'shell_quote', 'retry'] + [name for name in TOOLS if name in globals()]
