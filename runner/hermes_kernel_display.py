# SPDX-License-Identifier: MIT
"""Continues the second part of the runner: what cells show, by echo or display, and top-level await."""

# ---- echo, display, await -------------------------------------------------------------------------

def run_special(source, flags, keep):
    global user_trace, user_profile
    if not flags & DISPLAY:
        run_parts(source, flags, keep)
        return
    start_displays()
    try:
        run_parts(source, flags, keep)
    except BaseException:
        if figures_of is not None:
            if gettrace() is not None: user_trace = gettrace(); settrace(None)
            if getprofile() is not None: user_profile = getprofile(); setprofile(None)
            try:
                show_figures()
            except Exception:
                pass
        raise
    if figures_of is not None:
        show_figures()


def run_parts(source, flags, keep):
    """All but the last expression, then that, for its value."""
    global carry, cell_compiled
    if flags & AWAIT:
        keep |= TOP_LEVEL_AWAIT
    if not flags & (ECHO | DISPLAY):
        code = compile(source, cell_name, 'exec', keep, True)
        cell_compiled = True
        carry |= code.co_flags & FUTURES
        run_code(code)
        return
    tree = compile(source, cell_name, 'exec', keep | ONLY_AST, True)
    last = None
    if flags & ECHO and tree.body and name_of(type(tree.body[-1])) == 'Expr':
        if not flags & DISPLAY or not ends_with_semicolon(source, tree.body[-1]):
            last = tree.body.pop()
    has_more = last is None or bool(tree.body)
    code = compile(tree, cell_name, 'exec', keep, True)
    new = code.co_flags & FUTURES
    end = None
    if last is not None:
        import _ast
        if flags & (DISPLAY | INTERACTIVE):
            tree = _ast.Expression(last.value)
            end = compile(tree, cell_name, 'eval', keep | new, True)
        else:
            tree = _ast.Interactive([last])
            end = compile(tree, cell_name, 'single', keep | new, True)
    del tree
    cell_compiled = True
    carry |= new
    if has_more:
        run_code(code)
    value = None if end is None else run_code(end)
    if end is not None and flags & (DISPLAY | INTERACTIVE):
        hook = sys.displayhook
        if hook is not genuine_displayhook:
            hook(value)
        elif value is not None:
            show_last(value, flags)


def show_last(value, flags):
    """The value of a cell's last expression is shown and kept, as _; at the prompt also as _7 if the cell is the
    seventh, and the ones before it as __ and ___."""
    kept = vars(builtins)
    last = kept.get('_')
    kept['_'] = None
    if flags & DISPLAY:
        show(value, 1)
    else:
        print_line(plain_text_of(value))
    kept['_'] = value
    if not flags & INTERACTIVE:
        return
    if '__' in kept:
        kept['___'] = kept['__']
    if last is not None:
        kept['__'] = last
    count = cell_name[6:-1]
    if cell_name.startswith('<cell ') and cell_name.endswith('>') and count.isdigit() and len(count) < 19:
        kept['_' + count] = value
        numbered_values.append('_' + count)
        if len(numbered_values) > KEPT_VALUES:
            kept.pop(numbered_values.pop(0), None)


numbered_values = []
KEPT_VALUES = 1000


def print_line(text):
    try:
        sys.stdout.write(text + '\n')
    except UnicodeEncodeError:
        encoding = sys.stdout.encoding
        sys.stdout.write(text.encode(encoding, 'backslashreplace').decode(encoding) + '\n')


def plain_text_of(value):
    """As text: broken into lines if it is longer than the terminal (a page: 80) is wide."""
    if type(value) in (int, float, str, bool, bytes, complex, type(None)):
        return repr(value)
    if 'pretty' not in private:
        try:
            exec(get_code(parts_path + '/hermes_kernel_pretty.py'), private)
        except OSError:
            pass
    if 'pretty' not in private:
        return repr(value)
    try:
        columns = posix.get_terminal_size(1).columns
    except OSError:
        columns = 0
    return pretty(value, (columns or 80) - 1)


def run_code(code):
    global user_trace, user_profile
    if user_trace is not None or user_profile is not None:
        trace, profile, user_trace, user_profile = user_trace, user_profile, None, None
        setprofile(profile); settrace(trace)
    value = eval(code, space)
    if code.co_flags & COROUTINE:
        value = run_coroutine(value)
    if gettrace() is not None: user_trace = gettrace(); settrace(None)
    if getprofile() is not None: user_profile = getprofile(); setprofile(None)
    return value


def run_coroutine(coroutine):
    """On the session's own loop. An interrupt cancels the task, and lets it clean up."""
    global loop
    import asyncio
    if loop is None or loop.is_closed():
        loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    if tools_link is not None:
        renew_executor()
    task = loop.create_task(coroutine)
    try:
        return loop.run_until_complete(task)
    except BaseException as error:
        if not task.done():
            place = place_of(coroutine, type(traceback_of(error)))
            task.cancel()
            try:
                loop.run_until_complete(task)
            except BaseException:
                pass
            if place is not None and isinstance_safe(error, KeyboardInterrupt):
                raise error.with_traceback(place) from None     # not where asyncio waited for all tasks
        raise
    finally:
        task = None


def place_of(coroutine, kind):
    """Where it waits, as a traceback."""
    frames, traceback = [], None
    while coroutine is not None and len(frames) < 1000:
        frame = getattr(coroutine, 'cr_frame', None) or getattr(coroutine, 'gi_frame', None)
        if frame is None:
            break
        frames.append((frame, frame.f_lasti, frame.f_lineno))
        coroutine = getattr(coroutine, 'cr_await', None) or getattr(coroutine, 'gi_yieldfrom', None)
    while frames:
        traceback = kind(traceback, *frames.pop())
    return traceback


executor_cell = b''


def renew_executor():
    """The threads of asyncio.to_thread() are born in the cell that first needs them, and from the next cell on would be
    refused what they call. So each cell has new ones; work that the old ones have is done to its end. An executor that
    the user has set stays."""
    global executor_cell
    if executor_cell == tools_link.cell:
        return
    executor_cell = tools_link.cell
    executor = getattr(loop, '_default_executor', None)
    if executor is not None and getattr(executor, '_thread_name_prefix', None) == 'asyncio':
        loop._default_executor = None
        executor.shutdown(False)


def ends_with_semicolon(source, node):
    """A semicolon after the last expression keeps its value from being shown, as in notebooks."""
    lines = split_lines(source)
    rest = lines[node.end_lineno - 1].encode('utf-8', 'replace')[node.end_col_offset:]
    return rest.lstrip(b' \t\f)').startswith(b';')


def start_displays():
    global displaying
    displaying = True
    if 'display' not in vars(builtins):
        display.__module__ = 'builtins'
        builtins.display = display
    if figures_of is None or modules.get('matplotlib') is not figures_of:
        watch_figures()


figures_of = None           # matplotlib, once it was told to draw for the cells


def watch_figures():
    """So that matplotlib draws for the cells, from its import on; see hermes_kernel_inline.py. Until then nothing of
    that is loaded, and nothing is in the environment, which child processes inherit."""
    if 'matplotlib' in modules:
        load_figures()
        return
    hooks['matplotlib'] = load_figures
    try:
        if not any(type(finder) is Finder for finder in sys.meta_path):
            sys.meta_path.insert(0, Finder())
    except Exception:
        pass                    # a cell has made something else of it


def load_figures():
    """In a cell that shows nothing matplotlib is as it always is; the next one that shows something looks again."""
    if forked or not displaying:
        return
    try:
        if 'set_up_figures' not in private:
            exec(get_code(parts_path + '/hermes_kernel_inline.py'), private)
        set_up_figures(modules['matplotlib'])
    except Exception:
        pass


def end_displays():
    """Before the reply: a thread may be in the middle of a display."""
    global displaying
    with display_lock:
        displaying = False


def display(*objects, raw=False, **ignored):
    """Show objects in the richest form that the screen has: display(obj, ...). raw=True takes {mime type: data}."""
    for value in objects:
        show(value, 0, raw)


def show(value, flags, raw=False):
    bundle = value if raw else rich_forms(value)
    fields, size = [], 0
    for mime in bundle:
        data = to_data(mime, bundle[mime])
        if data is not None and size + len(data) + len(mime) > DISPLAY_LIMIT:
            data = to_bytes(bundle[mime]) if mime == 'text/plain' else None
        if data is None:
            continue
        size += len(data) + len(mime) + 16
        fields += mime.encode('utf-8', 'replace'), data
    flush_streams()
    if forked or not displaying or not post(b'D', flags, job[FRAME][8:16], pack(fields)):
        sys.stdout.write('%s\n' % (bundle.get('text/plain', ''),))


METHODS = (('_repr_html_', 'text/html'), ('_repr_markdown_', 'text/markdown'), ('_repr_svg_', 'image/svg+xml'),
           ('_repr_png_', 'image/png'), ('_repr_jpeg_', 'image/jpeg'), ('_repr_latex_', 'text/latex'),
           ('_repr_json_', 'application/json'))


def rich_forms(value):
    """The MIME bundle of a value. What its own methods raise costs that form only."""
    bundle = {'text/plain': plain_text_of(value)}
    if isinstance_safe(value, type):
        return bundle
    try:
        if getattr(value, '_no_such_method_should_exist_', None) is not None:
            return bundle       # an object that has every attribute
    except Exception:
        pass
    try:
        method = getattr(value, '_repr_mimebundle_', None)
        if method is not None:
            more_forms = method(include=None, exclude=None)
            if type(more_forms) is tuple:
                more_forms = more_forms[0]
            bundle.update(more_forms or {})
    except Exception:
        pass
    for name, mime in METHODS:
        if mime in bundle:
            continue
        try:
            method = getattr(value, name, None)
            data = method() if method is not None else None
            if type(data) is tuple:
                data = data[0]
            if data is not None:
                bundle[mime] = data
        except Exception:
            pass
    if figures_of is not None and 'image/png' not in bundle:
        try:
            add_figure(value, bundle)
        except Exception:
            pass
    return bundle


def to_data(mime, data):
    """Bytes for the wire, or None for what can't be sent."""
    try:
        if isinstance_safe(data, bytes):
            return bytes(data)
        if type(data) is bytearray or type(data) is memoryview:
            return bytes(data)
        binary = mime.startswith(('image/', 'audio/', 'video/', 'application/pdf')) and mime != 'image/svg+xml'
        if isinstance_safe(data, str):
            if binary:
                return private_module('binascii').a2b_base64(data)
            return utf8(data)
        if binary:
            return None
        if mime.startswith('text/'):
            return utf8(str(data))
        return private_module('json').dumps(data).encode()
    except Exception:
        return None
