# SPDX-License-Identifier: MIT
"""Python sessions that stay alive, for programs written in Python.

    import hermes_kernel
    with hermes_kernel.Engine() as engine:
        engine.execute("x = 41", session="work")
        print(engine.execute("print(x + 1)", session="work")["output"])

One module over the C library libhermeskernel (ctypes, the standard library only; CPython 3.8 and later). It translates calls
and results and decides nothing: what each argument means stands in hermes-kernel(3). All methods may be called from any
thread. Calls that fail raise Error; what happens in a cell is never an exception here, but part of its result.

The library is looked for at $HERMES_KERNEL_LIB, beside the directory this file is installed below, and where the system's
loader looks.
"""
import ctypes as _c
import json as _json
import os as _os
import queue as _queue
import sys as _sys
import threading as _threading

__all__ = ["Authority", "Cell", "Engine", "Error", "ToolCall", "kernel_mode", "version"]


class Error(Exception):
    """A call was refused. code: a negative number of enum hermes_status; name: "HERMES_EINVAL" ..."""

    def __init__(self, code, text):
        self.code, self.name = code, _library().hermes_status_name(code).decode()
        super().__init__(text or _library().hermes_status_text(code).decode())


# ---- the C side ----------------------------------------------------------------------------------------------------------


def _struct(name, *fields):
    return type(name, (_c.Structure,), {"_fields_": fields})


_text, _id, _pointer, _int64 = _c.c_char_p, _c.c_uint64, _c.c_void_p, _c.c_int64
_Error = _struct("Error", ("code", _c.c_int), ("os_errno", _c.c_int), ("text", _c.c_char * 256))
_Call = _struct("Call", ("id", _id), ("cell", _id), ("kernel", _id), ("owner", _text), ("session", _text), ("task_id", _text),
                ("tool", _text), ("arguments", _text), ("context", _pointer))
_Handler = _c.CFUNCTYPE(_pointer, _c.POINTER(_Call))
_AuthorityOptions = _struct(
    "AuthorityOptions", ("size", _c.c_size_t), ("session", _text), ("task_id", _text), ("child_id", _text),
    ("tools", _c.POINTER(_text)), ("max_calls", _int64), ("handler", _Handler), ("context", _pointer))
_Setup = _struct(
    "Setup", ("size", _c.c_size_t), ("io", _c.c_int), ("stdin_source", _c.c_int), ("env", _c.c_int), ("script", _text),
    ("argv", _c.POINTER(_text)), ("path0", _text), ("requests", _c.c_bool), ("terminal", _text), ("columns", _c.c_int),
    ("rows", _c.c_int))
_Cell = _struct(
    "CellOptions", ("size", _c.c_size_t), ("session", _text), ("task_id", _text), ("child_id", _text), ("mode", _c.c_int),
    ("python", _text), ("cwd", _text), ("tools", _c.POINTER(_text)), ("code", _text), ("code_size", _c.c_size_t),
    ("file_name", _text), ("first_line", _c.c_uint), ("flags", _c.c_uint), ("timeout_ms", _int64),
    ("setup", _c.POINTER(_Setup)), ("whole_source", _text), ("whole_source_size", _c.c_size_t), ("tool_handler", _Handler),
    ("tool_context", _pointer), ("max_tool_calls", _int64))
_Event = _struct(
    "Event", ("type", _c.c_int), ("cell", _id), ("kernel", _id), ("stream", _c.c_int), ("data", _pointer),
    ("size", _c.c_size_t), ("is_result", _c.c_bool), ("execution_count", _id), ("result", _pointer), ("state", _c.c_int),
    ("cause", _c.c_int), ("session", _text), ("tool_call", _c.POINTER(_Call)), ("request", _id))
_EVENTS = ("started", "output", "display", "done", "background", "kernel", "tool_call", "answer")
_STATES = ("starting", "idle", "busy", "interrupting", "stopping", "dead", "parked")
_CAUSES = ("", "reset", "timeout", "interrupted", "killed", "exited", "died", "evicted", "idle", "key_changed",
           "undone")
_MODES = {None: 0, "project": 1, "strict": 2}
_IO = {"pipes": 0, "onepipe": 1, "tty": 2}
_ENV = {"scrub": 0, "inherit": 1}
_INPUT_STATES = {"waits": 1, "raw": 2, "no_echo": 4}
_FLAGS = {"reset": 1, "echo": 2, "await_": 4, "display": 8, "interactive": 16, "no_spill": 64, "no_redact": 128}
_RESULTS = {
    "hermes_version": _text, "hermes_kernel_mode": _text, "hermes_status_name": _text, "hermes_status_text": _text,
    "hermes_result_json": _pointer, "hermes_kernels_json": _pointer, "hermes_schema": _pointer,
    "hermes_explain_env": _pointer, "hermes_authority_new": _pointer, "hermes_kernel_authority": _pointer,
    "hermes_authority_dispatch": _pointer, "hermes_authority_active": _c.c_bool, "hermes_authority_calls": _id}
_loaded = None


def _library():
    global _loaded
    if _loaded is None:
        here, name = _os.path.dirname(_os.path.abspath(__file__)), "libhermeskernel.so.0"
        places = [_os.environ.get("HERMES_KERNEL_LIB")] if _os.environ.get("HERMES_KERNEL_LIB") else []
        while not places and _os.path.dirname(here) != here:
            here = _os.path.dirname(here)
            places += [path for path in (_os.path.join(here, part, name) for part in ("", "lib")) if _os.path.exists(path)]
        library = _c.CDLL(places[0] if places else name)
        for function, result in _RESULTS.items():
            getattr(library, function).restype = result
        _loaded = library
    return _loaded


def _take(address):
    """The text at an address that is ours to free."""
    if not address:
        raise MemoryError("libhermeskernel")
    try:
        return _c.string_at(address).decode("utf-8", "replace")
    finally:
        _library().hermes_free(_pointer(address))


def _encoded(value):
    return value if value is None or isinstance(value, bytes) else _os.fspath(value).encode("utf-8", "surrogateescape")


def _names(names):
    return None if names is None else (_text * (len(names) + 1))(*[_encoded(name) for name in names], None)


def _check(status, error=None):
    if status:
        raise Error(status, error.text.decode("utf-8", "replace") if error else "")


def version():
    return _library().hermes_version().decode()


def kernel_mode():
    return _library().hermes_kernel_mode().decode()


# ---- tools and authority -------------------------------------------------------------------------------------------------


class ToolCall:
    """One call of a tool: id, cell, kernel, owner, session, task_id, tool (a name), arguments (a dict)."""

    def __init__(self, call):
        self.id, self.cell, self.kernel = call.id, call.cell, call.kernel
        for name in ("owner", "session", "task_id", "tool"):
            value = getattr(call, name)
            setattr(self, name, None if value is None else value.decode("utf-8", "replace"))
        self._text, self._arguments = call.arguments or b"{}", None

    @property
    def arguments(self):
        if self._arguments is None:  # read by who asks: it may be nested deeper than json goes
            self._arguments = _json.loads(self._text)
        return self._arguments


def _answer(handler, call):
    """What a handler makes of a call, as JSON text. A str is JSON text already."""
    try:
        answer = handler(call)
        return answer if isinstance(answer, str) else _json.dumps(answer)
    except Exception as error:  # the cell gets it; the host goes on
        return _json.dumps({"error": "%s: %s" % (type(error).__name__, error)})


class Authority:
    """What calls run under: an allow-list, a budget, a handler. Ends with retire()."""

    def __init__(self, handler=None, session=None, task_id=None, child_id=None, tools=None, max_calls=0, _address=None):
        def dispatch(call):
            return _strdup(_answer(handler, ToolCall(call[0])))
        self._handler = _Handler(dispatch) if handler else _Handler()
        options = _AuthorityOptions(_c.sizeof(_AuthorityOptions), _encoded(session), _encoded(task_id), _encoded(child_id),
                                    _names(tools), max_calls, self._handler)
        self._address = _pointer(_address or _library().hermes_authority_new(_c.byref(options)))
        if not self._address:
            raise MemoryError("libhermeskernel")

    def __del__(self, unref=lambda address: _library().hermes_authority_unref(address)):
        if getattr(self, "_address", None):
            unref(self._address)

    @property
    def active(self):
        return _library().hermes_authority_active(self._address)

    @property
    def calls(self):
        return _library().hermes_authority_calls(self._address)

    def retire(self):
        _library().hermes_authority_retire(self._address)

    def dispatch(self, tool, arguments):
        """Run one call under this authority, on this thread. The answer as JSON text."""
        return _take(_library().hermes_authority_dispatch(self._address, _encoded(tool), _json.dumps(arguments).encode()))


def _strdup(text, _libc=_c.CDLL(None)):
    _libc.strdup.restype = _pointer
    return _libc.strdup(text.encode())


# ---- cells ---------------------------------------------------------------------------------------------------------------


def _bundle(text):
    """MIME types and data; empty if they hold JSON that is nested deeper than json goes."""
    try:
        return _json.loads(text.decode())
    except RecursionError:
        return {}


class Cell:
    """A cell that was submitted."""

    def __init__(self, engine, ident):
        self.engine, self.id, self._queue, self._result = engine, ident, _queue.SimpleQueue(), None

    def events(self):
        """What happens, as dicts with "type", until and with {"type": "done", "result": ...}."""
        while self._result is None:
            event = self._queue.get()
            if event["type"] == "display":
                event["data"] = _bundle(event["data"])
            elif event["type"] == "done":
                self._result = event["result"]
            yield event

    def result(self, tool_handler=None):
        """Wait for the end. Calls of tools run in tool_handler on this thread; without one they are refused."""
        for event in self.events():
            if event["type"] == "tool_call" and tool_handler:
                self.engine.answer(event["call"], _answer(tool_handler, event["call"]))
            elif event["type"] == "tool_call":
                self.engine.refuse(event["call"], "this host runs no tools")
        return self._result

    def interrupt(self, reason=None, kill_after=None):
        """Ask it to stop by SIGINT. kill_after: seconds; None: the option interrupt_grace; negative: never."""
        grace = 0 if kill_after is None else int(kill_after * 1000) or 1
        return self.engine._call("hermes_interrupt", _id(self.id), _encoded(reason), _int64(grace))

    def kill(self, reason=None):
        """End its kernel: state is lost."""
        return self.engine._call("hermes_kill", _id(self.id), _encoded(reason))


class Engine:
    """Keeps kernels alive. Use it as a context manager, or close() it: no process outlives it."""

    def __init__(self, config=None, on_event=None):
        """config: options, as configure(). on_event: gets what belongs to no cell ("kernel", "background"), as dicts, on a
        thread of the engine's own."""
        self._engine, self._cells, self._answers, self._lock = _pointer(), {}, {}, _threading.Lock()
        self._on_event, self._puller, self._closing = on_event, None, False
        error = _Error()
        _check(_library().hermes_engine_new(_c.byref(self._engine), _c.byref(error)), error)
        if config:
            self.configure(config)
        if on_event:
            self._pull()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        with self._lock:
            engine, puller, self._closing = self._engine, self._puller, True
        if not engine:
            return
        _library().hermes_shutdown_all(engine)
        if puller:
            _library().hermes_wake(engine)
            puller.join()
        self._engine = _pointer()
        _library().hermes_engine_free(engine)

    def _call(self, function, *arguments):
        if not self._engine:
            raise Error(-6, "the engine is closed")
        status = getattr(_library(), function)(self._engine, *arguments)
        if status == -3:  # HERMES_ENOENT
            return False
        _check(status)
        return True

    # ---- running cells

    def execute(self, code, tool_handler=None, **options):
        """Run a cell and wait for its result, a dict. KeyboardInterrupt interrupts the cell, waits for its end and goes on
        to the caller. options: see submit()."""
        cell = self.submit(code, **options)
        try:
            return cell.result(tool_handler)
        except BaseException:
            if cell.interrupt("the host was interrupted"):
                cell.result()
            raise

    def submit(self, code, **options):
        """Queue a cell and return it, a Cell.

        options: session or task_id (one is needed), child_id, mode ("project", "strict"), python (default: this
        interpreter), cwd, tools (names; None: all; empty: none; other names are another kernel), file_name, first_line,
        timeout (seconds; None: as configured; negative: none), max_tool_calls, and the flags reset, echo, await_, display,
        interactive, no_spill, no_redact.
        What is fixed when a kernel starts, and so the same for all its cells: env ("scrub", "inherit"), io ("pipes",
        "onepipe", "tty"), with "tty" also terminal (TERM), columns, rows (these may differ), and requests (True: request()
        works)."""
        ident = _id()
        with self._lock:
            self._pull()
            self._send("hermes_submit", options, ident, code)
            cell = self._cells[ident.value] = Cell(self, ident.value)
        return cell

    def start(self, **options):
        """Start the kernel that such a cell would run in; its id."""
        ident = _id()
        self._send("hermes_start", options, ident, "pass")
        return ident.value

    def _send(self, function, options, ident, code):
        options, text = dict(options), _encoded(code)
        cell = _Cell(_c.sizeof(_Cell), code=text, code_size=len(text), mode=_MODES[options.pop("mode", None)],
                     tools=_names(options.pop("tools", None)), python=_encoded(options.pop("python", _sys.executable)))
        timeout = options.pop("timeout", None)
        cell.timeout_ms = 0 if timeout is None else int(timeout * 1000) or 1
        cell.setup = _c.pointer(_Setup(
            _c.sizeof(_Setup), io=_IO[options.pop("io", "pipes")], env=_ENV[options.pop("env", "scrub")],
            requests=bool(options.pop("requests", False)), terminal=_encoded(options.pop("terminal", None)),
            columns=options.pop("columns", 0), rows=options.pop("rows", 0)))
        for name, flag in _FLAGS.items():
            cell.flags |= flag if options.pop(name, False) else 0
        for name in ("session", "task_id", "child_id", "cwd", "file_name"):
            setattr(cell, name, _encoded(options.pop(name, None)))
        for name in ("first_line", "max_tool_calls"):
            setattr(cell, name, options.pop(name, 0))
        if options:
            raise TypeError("unknown option %r" % next(iter(options)))
        error = _Error()
        if not self._engine:
            raise Error(-6, "the engine is closed")
        _check(getattr(_library(), function)(self._engine, _c.byref(cell), _c.byref(ident), _c.byref(error)), error)

    def answer(self, call, answer):
        """Answer a "tool_call" event. False: its cell is over."""
        text = (answer if isinstance(answer, str) else _json.dumps(answer)).encode()
        return self._call("hermes_tool_answer", _id(call.id), text, _c.c_size_t(len(text)))

    def refuse(self, call, why):
        """Refuse a "tool_call" event; it costs nothing of the cell's budget."""
        return self._call("hermes_tool_refuse", _id(call.id), _encoded(why))

    # ---- beside the cells

    def input(self, kernel, data):
        """Type at the terminal of a kernel with io="tty": bytes or text. False: there is none."""
        data = data.encode() if isinstance(data, str) else data
        return self._call("hermes_input", _id(kernel), data, _c.c_size_t(len(data)), None)

    def input_state(self, kernel):
        """What the terminal's foreground does about input now: a set of "waits", "raw", "no_echo"."""
        state = _library().hermes_input_state(self._engine, _id(kernel)) if self._engine else 0
        return {name for name, flag in _INPUT_STATES.items() if state > 0 and state & flag}

    def resize(self, kernel, columns, rows):
        """Give the terminal another size. False: there is none."""
        return self._call("hermes_resize", _id(kernel), _c.c_int(columns), _c.c_int(rows))

    def request(self, kernel, question, timeout=None):
        """Ask a kernel with requests=True something beside its cells, a dict ({"request": "complete", "code": "wid"}; see
        hermes-kernel-protocol(7)), and wait for the answer, a dict; with "error" if there is none within timeout seconds
        (None: 1; negative: no limit). Not from on_event, which it would wait for."""
        ident, error, answer = _id(), _Error(), _queue.SimpleQueue()
        limit = 0 if timeout is None else int(timeout * 1000) or 1
        with self._lock:
            self._pull()
            if not self._engine:
                raise Error(-6, "the engine is closed")
            _check(_library().hermes_request(self._engine, _id(kernel), _json.dumps(question).encode(), _int64(limit),
                                             _c.byref(ident), _c.byref(error)), error)
            self._answers[ident.value] = answer
        try:
            return _json.loads(answer.get())
        finally:
            self._answers.pop(ident.value, None)

    # ---- events

    def _pull(self):
        if not self._puller and not self._closing:
            self._puller = _threading.Thread(target=self._pull_events, name="hermes-kernel-events", daemon=True)
            self._puller.start()

    def _pull_events(self):
        address = _c.POINTER(_Event)()
        while _library().hermes_next_event(self._engine, _int64(-1), _c.byref(address)) == 0:
            if not address:
                if self._closing:
                    return
                continue
            event = address[0]
            described, cell = self._describe(event), event.cell
            _library().hermes_event_free(address)
            self._route(cell, described)

    def _describe(self, event):
        described = {"type": _EVENTS[event.type] if event.type < len(_EVENTS) else "?", "kernel": event.kernel}
        if event.data:
            described["data"] = _c.string_at(event.data, event.size)
        if event.stream:
            described["stream"] = event.stream
        if described["type"] == "display":
            described["is_result"] = event.is_result
        elif described["type"] == "started":
            described["execution_count"] = event.execution_count
        elif described["type"] == "done":
            described["result"] = _json.loads(_take(_library().hermes_result_json(_pointer(event.result), None)))
        elif described["type"] == "kernel":
            described.update(state=_STATES[event.state], cause=_CAUSES[event.cause],
                             session=(event.session or b"").decode("utf-8", "replace"))
        elif described["type"] == "tool_call":
            described["call"] = ToolCall(event.tool_call[0])
        elif described["type"] == "answer":
            described["request"] = event.request
        return described

    def _route(self, ident, event):
        if event["type"] == "answer":
            with self._lock:  # a request() that is under way has entered itself then
                waiting = self._answers.get(event["request"])
            if waiting:
                waiting.put(event["data"])
        elif ident:
            with self._lock:  # a submit() that is under way has entered its cell then
                cell = self._cells.get(ident)
                if event["type"] == "done":
                    self._cells.pop(ident, None)
            if cell:
                cell._queue.put(event)
        elif self._on_event:
            self._on_event(event)

    # ---- options, sessions, questions

    def configure(self, config):
        """Take options from a dict (or JSON text). Warnings, a list of lines."""
        text, warnings, error = config if isinstance(config, str) else _json.dumps(config), _pointer(), _Error()
        data = text.encode()
        _check(_library().hermes_configure(self._engine, data, _c.c_size_t(len(data)), _c.byref(warnings), _c.byref(error)),
               error)
        return _take(warnings.value).splitlines() if warnings else []

    def option(self, name):
        value = _pointer()
        _check(_library().hermes_get_option(self._engine, _encoded(name), _c.byref(value)))
        return _take(value.value)

    def reset(self, session, child_id=None):
        """Stop the owner's kernels; the next cell starts fresh. False: it has none."""
        return self._call("hermes_reset", _encoded(session), _encoded(child_id))

    def undo(self, session, child_id=None):
        """Take the last reset back, as long as the option undo_kernels has kept its kernel. Error: nothing is kept."""
        error = _Error()
        _check(_library().hermes_undo(self._engine, _encoded(session), _encoded(child_id), 0, None, _c.byref(error)), error)

    def session_clear(self, session):
        """Kill the session's kernels, and wait until they are gone."""
        return self._call("hermes_session_clear", _encoded(session))

    def child_end(self, session, child_id):
        return self._call("hermes_child_end", _encoded(session), _encoded(child_id))

    def shutdown_all(self):
        """Kill every kernel, and wait until they are gone."""
        return self._call("hermes_shutdown_all")

    def kernels(self):
        """The live kernels, a list of dicts."""
        return _json.loads(_take(_library().hermes_kernels_json(self._engine)))

    def kernel_wait(self, kernel, timeout=None):
        """Whether the process of a kernel is gone; waits for it up to timeout seconds (None: no limit)."""
        return bool(_library().hermes_kernel_wait(self._engine, _id(kernel),
                                                  _int64(-1 if timeout is None else int(timeout * 1000))))

    def kernel_authority(self, kernel):
        """The authority last installed in a kernel, or None."""
        address = _library().hermes_kernel_authority(self._engine, _id(kernel))
        return Authority(_address=address) if address else None

    def schema(self, mode=None, tools=None):
        """The schema of the tool execute_code for a language model, a dict."""
        return _json.loads(_take(_library().hermes_schema(self._engine, _MODES[mode], _names(tools))))

    def explain_env(self, inherit=False):
        return _json.loads(_take(_library().hermes_explain_env(self._engine, int(inherit))))
