# SPDX-License-Identifier: MIT
"""Answers questions about a kernel: completions, documentation, signatures, variables, where the cell is. In this file
is what all of them are made with: requests, reading Python's text, looking at objects from outside.

What it must know: the requests of hermes-kernel-protocol(7), and how CPython 3.8 to 3.14 keeps objects. What it must
not know: sockets, frames, the terminal, who asks.

It is never imported. At the first request the runner makes it of its files (hermes_kernel_objects.py,
hermes_kernel_complete.py, hermes_kernel_inspect.py, in this order), piece by piece (the lines with ==== divide them,
for a compiler lets no other thread run), in a private dictionary with the runner's copy of the builtins; `runner` there
is the runner's own dictionary. Its one entry is answer(), called on the thread of the aux socket.

Nothing here runs the cells' code, but for repr() of their objects, which is done on a thread of its own with a time
limit. So: no getattr() on their objects, no isinstance() (it asks __class__), no `in` with types (it asks the
metaclass), no len(), no iteration, unless the type is exactly one of Python's own; attributes are looked up in the
dictionaries of the type and the object. Each call that reads files lets the cell's thread in, which gives back the
interpreter only when asked: so a request shortens the interval after which that happens, and listings of folders are
kept.
"""
space, modules, sources = runner['space'], runner['modules'], runner['sources']
mro_of, name_of, qualname_of = runner['mro_of'], runner['name_of'], runner['qualname_of']
posix, _thread, python = runner['posix'], runner['_thread'], runner['python']
ModuleType, public_builtins = runner['ModuleType'], runner['builtins']
first_sys = runner['first_sys']
time = runner['private_module']('time')
monotonic = time.monotonic

ANSWER_LIMIT = 256 << 10        # bytes
MATCHES_LIMIT = 500
CODE_LIMIT = 128 << 10          # characters before the cursor that are looked at
FAST_SWITCHES = 0.00005         # seconds between two threads' turns, for the length of a request

FunctionType = type(lambda: 0)
MethodType = type(runner['Catcher'].show.__get__(0))
BuiltinType = type(len)
GeneratorType = type(_ for _ in ())
MethodDescriptor, WrapperDescriptor, ClassMethodDescriptor = [type(vars(kind)[name]) for kind, name in (
    (str, 'upper'), (object, '__repr__'), (dict, 'fromkeys'))]
MethodWrapper = type(''.__repr__)
GetSet, Member = type(vars(FunctionType)['__code__']), type(vars(FunctionType)['__globals__'])
MappingProxy = type(vars(type))
BUILTIN_CALLABLES = BuiltinType, MethodDescriptor, WrapperDescriptor, ClassMethodDescriptor, MethodWrapper
dict_of_type, flags_of = vars(type)['__dict__'].__get__, vars(type)['__flags__'].__get__
MISSING = object()

KEYWORDS = ('False None True and as assert async await break class continue def del elif else except finally for from '
            'global if import in is lambda nonlocal not or pass raise return try while with yield').split()
SOFT_KEYWORDS = ['match', 'case'][:2 * (python >= (3, 10))] + ['type'][:python >= (3, 12)]
LINE_MAGICS = ('autoreload cat cd colors conda config cp env ll load_ext ls matplotlib mkdir mv pdb pip precision pwd '
               'reload_ext rm rmdir set_env sx system time timeit xmode').split()
CELL_MAGICS = ('HTML SVG bash capture file html javascript js latex markdown perl python python3 ruby script sh svg '
               'timeit writefile').split()

PATH_MAGICS = 'cat cd cp file ll ls mkdir mv pip rm rmdir sx system writefile'.split()


def answer(text):
    """The JSON text of the answer to a request's."""
    interval = first_sys['getswitchinterval']()
    if interval > FAST_SWITCHES:
        first_sys['setswitchinterval'](FAST_SWITCHES)
    try:
        request = from_json(text)
        if type(request) is not dict:
            raise ValueError('a request is an object')
        function = REQUESTS.get(request.get('request'))
        if function is None:
            raise ValueError('unknown request %s' % quoted(request.get('request')))
        return fitting(function(request))
    except BaseException as error:
        words = error.args[0] if type(error) is ValueError and error.args else name_of(type(error))
        return to_json({'error': str(words)[:400]})
    finally:
        if interval > FAST_SWITCHES and abs(first_sys['getswitchinterval']() - FAST_SWITCHES) < 1e-6:
            first_sys['setswitchinterval'](interval)


def quoted(value):
    return repr(value)[:60] if among(type(value), (str, int, float, bool, type(None))) else name_of(type(value))


def fitting(result):
    """Its JSON, with the longest parts halved until it is short enough."""
    while True:
        text = to_json(result)
        if len(text.encode()) <= ANSWER_LIMIT:
            return text
        longest = max((key for key in result if type(result[key]) in (str, list)), key=lambda key: (
            sum(len(to_json(item)) for item in result[key]) if type(result[key]) is list else len(result[key])))
        result[longest] = result[longest][:len(result[longest]) // 2]
        result['more'] = True


# ---- JSON: the C parts of the standard library's, and nothing that a cell could have changed

had_json = '_json' in modules
_json = runner['private_module']('_json')
if not had_json:
    modules.pop('_json', None)      # older interpreters put it there


class ScannerOptions:
    strict, object_hook, object_pairs_hook = False, None, None
    parse_float, parse_int, parse_constant = float, int, float
    memo = {}


scan = _json.make_scanner(ScannerOptions)


def from_json(text):
    try:
        value, end = scan(text, len(text) - len(text.lstrip(' \t\r\n')))
    except (StopIteration, ValueError):
        raise ValueError('the request is no JSON') from None
    if text[end:].strip(' \t\r\n'):
        raise ValueError('the request is no JSON')
    return value


def to_json(value):
    kind = type(value)
    if kind is str:
        if not value.isascii():
            value = runner['utf8'](value).decode()
        return _json.encode_basestring(value)
    if kind is dict:
        return '{%s}' % ', '.join('%s: %s' % (to_json(key), to_json(value[key])) for key in value)
    if kind is list:
        return '[%s]' % ', '.join(map(to_json, value))
    return {True: 'true', False: 'false', None: 'null'}[value] if kind is bool or value is None else int.__repr__(value)


def text_of(request, name, default=''):
    value = request.get(name, default)
    if type(value) is not str:
        raise ValueError('"%s" is no text' % name)
    return value


def number_of(request, name, default):
    value = request.get(name, default)
    if type(value) is not int:
        raise ValueError('"%s" is no number' % name)
    return value


def code_and_cursor(request):
    """The text, and the cursor in characters. The protocol counts bytes."""
    code = text_of(request, 'code')
    cursor = number_of(request, 'cursor', -1)
    if 0 <= cursor:
        if code.isascii():
            cursor = min(cursor, len(code))
        else:
            cursor = len(code.encode('utf-8', 'surrogatepass')[:cursor].decode('utf-8', 'ignore'))
    else:
        cursor = len(code)
    return code, cursor


def byte_offset(code, at):
    return at if code.isascii() else len(code[:at].encode('utf-8', 'surrogatepass'))


# ==== reading Python's text: enough of it to know what stands before the cursor ====

NAME, NUMBER, STRING, OP = 'name', 'number', 'string', 'op'
OPENING, CLOSING = '([{', ')]}'


class Token:
    __slots__ = 'kind', 'start', 'end', 'text'

    def __init__(self, kind, start, end, text):
        self.kind, self.start, self.end, self.text = kind, start, end, text


class Open:
    """The string that is not closed at the end of the text."""

    def __init__(self, start, prefix, quote, content):
        self.start, self.prefix, self.quote, self.content = start, prefix, quote, content


def tokens_of(code, start, end):
    """(tokens, open string or None, whether the end is in a comment). Ends of logical lines are tokens ';'."""
    tokens, at, depth = [], start, 0
    while at < end:
        c = code[at]
        if c == '\n':
            if not depth:
                tokens.append(Token(OP, at, at + 1, ';'))
            at += 1
        elif c in ' \t\r\f':
            at += 1
        elif c == '\\' and code[at + 1:at + 2] == '\n':
            at += 2
        elif c == '#':
            line_end = code.find('\n', at, end)
            if line_end < 0:
                return tokens, None, True
            at = line_end
        elif c == '"' or c == "'":
            at, opened = string_at(code, at, at, end, tokens)
            if opened:
                return tokens, opened, False
        elif c.isidentifier():
            first = at
            at += 1
            while at < end and (code[at].isalnum() or code[at] == '_' or ('a' + code[at]).isidentifier()):
                at += 1
            if at < end and code[at] in '"\'' and at - first <= 2 and not code[first:at].lower().strip('rbuft'):
                at, opened = string_at(code, first, at, end, tokens)
                if opened:
                    return tokens, opened, False
            else:
                tokens.append(Token(NAME, first, at, code[first:at]))
        elif c.isdigit() or c == '.' and code[at + 1:min(at + 2, end)].isdigit():
            first = at
            while at < end and (code[at].isalnum() or code[at] in '._' or code[at] in '+-' and code[at - 1] in 'eE'
                                and code[first:first + 2].lower() != '0x'):
                at += 1
            tokens.append(Token(NUMBER, first, at, code[first:at]))
        else:
            if c in OPENING:
                depth += 1
            elif c in CLOSING:
                depth = max(depth - 1, 0)
            size = 2 if code[at:at + 2] in TWO and at + 2 <= end else 1
            tokens.append(Token(OP, at, at + size, code[at:at + size]))
            at += size
    return tokens, None, False


TWO = frozenset(['==', '!=', '<=', '>=', '->', ':=', '+=', '-=', '*=', '/=', '%=', '|=', '&=', '^=', '@='])


def string_at(code, start, quote_at, end, tokens):
    """(where it ends, the string if it does not)"""
    quote = code[quote_at]
    if code[quote_at:min(quote_at + 3, end)] == quote * 3:
        quote *= 3
    at = content = quote_at + len(quote)
    raw_end = None
    while True:
        stop = code.find(quote, at, end)
        if len(quote) == 1:
            line_end = code.find('\n', at, stop if stop >= 0 else end)
            if line_end >= 0 and not (line_end and code[line_end - 1] == '\\'):
                tokens.append(Token(STRING, start, line_end, code[start:line_end]))
                return line_end, None
        if stop < 0:
            return end, Open(start, code[start:quote_at].lower(), quote, content)
        raw_end = stop
        while raw_end > content and code[raw_end - 1] == '\\':
            raw_end -= 1
        if (stop - raw_end) % 2 == 0:
            stop += len(quote)
            tokens.append(Token(STRING, start, stop, code[start:stop]))
            return stop, None
        at = stop + 1


class Place:
    """What stands before a place in a text: its tokens, the word being typed, the string and the brackets it is in."""

    def __init__(self, code, cursor):
        begin = 0
        if cursor > CODE_LIMIT:
            begin = code.find('\n', cursor - CODE_LIMIT, cursor) + 1
        self.code, self.cursor = code, cursor
        self.tokens, self.string, self.comment = tokens_of(code, begin, cursor)
        string = self.string
        if string and ('f' in string.prefix or 't' in string.prefix):
            field = open_field(code, string.content, cursor)
            if field >= 0:
                self.tokens, self.string, self.comment = tokens_of(code, field, cursor)
        self.word, self.word_start = '', cursor
        last = self.tokens[-1] if self.tokens else None
        if not self.string and last and last.end == cursor and last.kind is NAME:
            self.word, self.word_start = last.text, last.start
            self.tokens.pop()

    def brackets(self):
        """Indices of the tokens that open what is not closed, outermost first."""
        stack = []
        for index, token in enumerate(self.tokens):
            if token.kind is OP:
                if token.text in OPENING:
                    stack.append(index)
                elif token.text in CLOSING and stack:
                    stack.pop()
        return stack

    def statement(self):
        """Tokens since the last end of a statement."""
        tokens = self.tokens
        for index in range(len(tokens) - 1, -1, -1):
            if tokens[index].kind is OP and tokens[index].text == ';':
                return tokens[index + 1:]
        return tokens

    def call(self):
        """(expression that is called, its tokens' index, index of the bracket) of the innermost open call, or None."""
        for index in reversed(self.brackets()):
            if self.tokens[index].text == '(':
                first = primary_before(self.tokens, index)
                if first < index and not (first and self.tokens[first - 1].text in ('def', 'class')):
                    return self.code[self.tokens[first].start:self.tokens[index - 1].end], first, index
        return None


def open_field(code, start, end):
    """Where the expression begins that an f-string is in the middle of, or -1."""
    at, stack = start, []
    while at < end:
        c = code[at]
        if code[at:at + 2] == '{{' and not stack:
            at += 1
        elif c in OPENING:
            if stack or c == '{':
                stack.append(at)
        elif c in CLOSING and stack:
            stack.pop()
        at += 1
    return stack[0] + 1 if stack else -1


def primary_before(tokens, end):
    """Index of the first token of the expression a.b(c)[d] that ends before that token; `end` if there is none."""
    at = end - 1
    while at >= 0:
        token = tokens[at]
        if token.text in CLOSING and token.kind is OP:
            depth = 0
            while at >= 0:
                if tokens[at].kind is OP:
                    if tokens[at].text in CLOSING:
                        depth += 1
                    elif tokens[at].text in OPENING:
                        depth -= 1
                        if not depth:
                            break
                at -= 1
            if at < 0:
                return end
            before = tokens[at - 1] if at else None
            if before and (before.kind is NAME and before.text not in KEYWORDS or before.kind is STRING
                           or before.kind is OP and before.text in CLOSING) and token.text in ')]':
                at -= 1
                continue
        elif token.kind is NAME and token.text in KEYWORDS and token.text not in ('True', 'False', 'None'):
            return end
        elif token.kind is OP:
            return end
        if at >= 2 and tokens[at - 1].text == '.' and tokens[at - 1].kind is OP:
            at -= 2
            continue
        return at
    return end


# ==== objects, looked at from outside ====

VALUE, INSTANCE, UNKNOWN = 'value', 'instance', 'unknown'


class Found:
    """What an expression stands for: a value; an instance of a type that is known only as a type; or something unknown
    that was defined by `definition` (a property)."""
    __slots__ = 'kind', 'value', 'bound', 'definition'

    def __init__(self, kind, value=None, bound=False, definition=None):
        self.kind, self.value, self.bound, self.definition = kind, value, bound, definition


def among(kind, kinds):
    """`in`, without asking a metaclass of the cells' whether two types are equal."""
    for one in kinds:
        if one is kind:
            return True
    return False


def is_type(value):
    return among(type, mro_of(type(value)))


def entry_of(kind, name):
    """From the type's own dictionary or those of its bases."""
    for base in mro_of(kind):
        entry = dict_of_type(base).get(name, MISSING)
        if entry is not MISSING:
            return entry
    return MISSING


def attributes_of(value):
    """The object's own dictionary ({} if it has none that can be had without its help)."""
    if type(value) is ModuleType:
        return vars(value)
    try:
        if among(ModuleType, mro_of(type(value))):
            found = vars(ModuleType)['__dict__'].__get__(value)
        else:
            descriptor = entry_of(type(value), '__dict__')
            if type(descriptor) is not GetSet:
                return {}
            found = descriptor.__get__(value)
        return found if among(dict, mro_of(type(found))) else {}
    except Exception:
        return {}


def names_in(mapping):
    """Texts among the keys, whatever another thread does meanwhile."""
    for attempt in range(5):
        try:
            return [key for key in dict.copy(mapping) if type(key) is str]
        except RuntimeError:
            pass
    return []


def attribute(found, name):
    if found.kind is UNKNOWN:
        return None
    if found.kind is INSTANCE:
        entry = entry_of(found.value, name)
        return None if entry is MISSING else described(entry, MISSING)
    value = found.value
    if is_type(value):
        entry = entry_of(value, name)
        if entry is not MISSING and type(entry) not in (GetSet, Member):
            result = described(entry, MISSING)
            if result and type(entry) is not classmethod and result.bound:
                result.bound = False
            return result
        entry = entry_of(type(value), name)
        return None if entry is MISSING else described(entry, value)
    entry = entry_of(type(value), name)
    if entry is MISSING or entry_of(type(entry), '__set__') is MISSING:
        own = dict.get(attributes_of(value), name, MISSING)
        if own is not MISSING:
            return Found(VALUE, own)
    if entry is MISSING:
        return part_of_frame(value, name)
    return described(entry, value)


def described(entry, value):
    """What a type's entry is for an object of the type (or for MISSING, one that is not there)."""
    kind = type(entry)
    if kind is FunctionType:
        return Found(VALUE, entry, True)
    if kind is staticmethod:
        return Found(VALUE, entry.__func__)
    if kind is classmethod:
        return Found(VALUE, entry.__func__, True)
    if kind is property:
        return of_annotation(entry.fget) or Found(UNKNOWN, definition=entry)
    if kind is Member or kind is GetSet and is_plain_type(type(value)):
        if value is not MISSING:
            try:
                return Found(VALUE, entry.__get__(value, type(value)))
            except Exception:
                pass
        return Found(UNKNOWN, definition=entry)
    if among(kind, BUILTIN_CALLABLES):
        return Found(VALUE, entry, True)
    if name_of(kind) == 'CachedAccessor' and module_of(kind).startswith('pandas.'):
        accessor = dict.get(attributes_of(entry), '_accessor')
        return Found(INSTANCE, accessor) if is_type(accessor) else None
    if kind is GetSet or entry_of(kind, '__get__') is not MISSING:
        return of_annotation(dict.get(attributes_of(entry), 'func')) or Found(UNKNOWN, definition=entry)
    return Found(VALUE, entry)


PLAIN_MODULES = 'builtins', 'types', 'numpy', 'datetime', 'collections', '_io', 'functools', 're'


def is_heap_type(kind):
    """Whether it was made at run time: no type of Python's own C code is."""
    return bool(flags_of(kind) & 1 << 9)


def is_plain_type(kind):
    """Whether what its C code computes for an attribute is known to be cheap."""
    return not is_heap_type(kind) or module_of(kind) in PLAIN_MODULES


def module_of(kind):
    """A type's __module__, which the cells can set to anything."""
    try:
        if not is_heap_type(kind):
            return vars(type)['__module__'].__get__(kind)
        found = dict_of_type(kind).get('__module__')
        return found if type(found) is str else ''
    except Exception:
        return ''


def of_annotation(function, owner=None):
    """An instance of the type that a function says it returns. owner: the type whose method it is."""
    if type(function) is MethodType:
        function = function.__func__
    if type(function) is not FunctionType:
        return None
    wanted = annotations_of(function).get('return')
    if type(wanted) is str:
        if wanted == 'Self':
            return Found(INSTANCE, owner) if owner else None
        wanted = named_type(function.__globals__, wanted)
    if owner and name_of(type(wanted)) == 'TypeVar':
        return Found(INSTANCE, owner)
    if wanted is not None and is_type(wanted) and wanted is not type(None):
        return Found(INSTANCE, wanted)
    return None


def named_type(scope, name):
    """What a name in an annotation means there. It may be known only to type checkers; then to a module beside it."""
    value = dict.get(scope, name, dict.get(vars(public_builtins), name))
    package = dict.get(scope, '__name__')
    if value is None and name.isidentifier() and type(package) is str:
        package = package.partition('.')[0] + '.'
        for key in names_in(modules):
            module = modules.get(key) if key.startswith(package) else None
            if type(module) is ModuleType and is_type(dict.get(vars(module), name)):
                return vars(module)[name]
    return value


def annotations_of(function):
    """Since 3.14 they are made when they are asked for, by code of the cells."""
    if python >= (3, 14):
        return {}
    found = function.__annotations__
    return found if type(found) is dict else {}


RESULTS = {
    str: dict.fromkeys('capitalize casefold center expandtabs format join ljust lower lstrip replace rjust rstrip '
                       'strip swapcase title translate upper zfill removeprefix removesuffix'.split(), str),
    bytes: dict.fromkeys('join lower lstrip replace rstrip strip upper'.split(), bytes),
    dict: {'copy': dict}, list: {'copy': list}, set: dict.fromkeys('copy union difference intersection'.split(), set),
}
RESULTS[str].update(split=list, rsplit=list, splitlines=list, partition=tuple, encode=bytes)
RESULTS[bytes].update(split=list, decode=str, hex=str)
CALLS = {'open': None, 'sorted': list, 'repr': str, 'ascii': str, 'chr': str, 'hex': str, 'bin': str, 'dir': list,
         'input': str, 'format': str, 'ord': int, 'len': int, 'hash': int, 'id': int, 'globals': dict, 'locals': dict,
         'vars': dict, 'divmod': tuple}


def resolve(text):
    """What a simple expression stands for, or None."""
    try:
        return of_node(compile(text.strip(), '<>', 'eval', 0x400, True).body)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def of_node(node):
    kind = name_of(type(node))
    function = NODES.get(kind)
    return function(node) if function else None


def of_name(node):
    value = dict.get(space, node.id, MISSING)
    if value is MISSING:
        value = dict.get(vars(public_builtins), node.id, MISSING)
    return None if value is MISSING else Found(VALUE, value)


def of_attribute(node):
    found = of_node(node.value)
    return found and attribute(found, node.attr)


def of_constant(node):
    return Found(VALUE, node.value)


def constant_in(node):
    """The value of a constant index, or MISSING. Slices are not constants."""
    kind = name_of(type(node))
    if kind == 'Index':
        return constant_in(node.value)
    if kind == 'Constant':
        return node.value
    if kind == 'UnaryOp' and name_of(type(node.op)) == 'USub' and name_of(type(node.operand)) == 'Constant':
        return -node.operand.value if type(node.operand.value) is int else MISSING
    if kind == 'Tuple':
        parts = tuple(map(constant_in, node.elts))
        return MISSING if MISSING in parts else parts
    if kind == 'Name':
        value = dict.get(space, node.id, MISSING)
        return value if among(type(value), (str, int, bytes)) else MISSING
    return MISSING


def of_subscript(node):
    found = of_node(node.value)
    if not found or found.kind is not VALUE:
        return None
    value = found.value
    if name_of(type(node.slice)) == 'Slice':
        return Found(INSTANCE, type(value)) if among(type(value), (list, tuple, str, bytes)) else None
    key = constant_in(node.slice)
    if key is MISSING:
        return None
    kinds = mro_of(type(value))
    try:
        if among(dict, kinds) and entry_of(type(value), '__getitem__') is dict.__getitem__:
            return Found(VALUE, dict.__getitem__(value, key))
        if among(type(value), (list, tuple, str, bytes, range)):
            return Found(VALUE, value[key])
        if among(list, kinds) and entry_of(type(value), '__getitem__') is list.__getitem__:
            return Found(VALUE, list.__getitem__(value, key))
        if among(tuple, kinds) and entry_of(type(value), '__getitem__') is tuple.__getitem__:
            return Found(VALUE, tuple.__getitem__(value, key))
    except Exception:
        return None
    return part_of_frame(value, key)


def of_call(node):
    kind = None
    if name_of(type(node.func)) == 'Attribute':
        owner = of_node(node.func.value)
        if owner:
            kind = owner.value if owner.kind is INSTANCE else type(owner.value)
            result = RESULTS.get(kind, {}).get(node.func.attr) if type(kind) is type else None
            if result:
                return Found(INSTANCE, result)
    found = of_node(node.func)
    if not found or found.kind is not VALUE:
        return None
    value = found.value
    if is_type(value):
        return Found(INSTANCE, value) if entry_of(type(value), '__call__') is entry_of(type, '__call__') else None
    if type(value) is BuiltinType and value is vars(public_builtins).get(value.__name__):
        result = CALLS.get(value.__name__)
        return Found(INSTANCE, result) if result else None
    return of_annotation(value, kind)


def of_kind(kind):
    return lambda node: Found(INSTANCE, kind)


NODES = {'Name': of_name, 'Attribute': of_attribute, 'Constant': of_constant, 'Subscript': of_subscript,
         'Call': of_call, 'List': of_kind(list),
         'ListComp': of_kind(list), 'Tuple': of_kind(tuple), 'Dict': of_kind(dict),
         'DictComp': of_kind(dict), 'Set': of_kind(set), 'SetComp': of_kind(set), 'JoinedStr': of_kind(str),
         'GeneratorExp': of_kind(GeneratorType), 'Compare': of_kind(bool)}


# ---- tables of pandas, polars and numpy: what their own code tells, and only if they are loaded

def genuine(module, name):
    """A class of a module that is loaded, or None."""
    found = modules.get(module)
    kind = dict.get(vars(found), name) if type(found) is ModuleType else None
    return kind if kind is not None and is_type(kind) else None


def columns_of(value):
    """Names of the columns or fields, or None if it is no table."""
    kinds = mro_of(type(value))
    try:
        frame = genuine('pandas', 'DataFrame')
        if among(frame, kinds):
            return list(vars(frame)['columns'].__get__(value, frame)[:2000])
        series = genuine('pandas', 'Series')
        if among(series, kinds):
            index = vars(series)['index'].__get__(value, series)
            return list(index[:2000]) if not among(genuine('pandas', 'RangeIndex'), mro_of(type(index))) else None
        frame = genuine('polars', 'DataFrame')
        if among(frame, kinds):
            return list(vars(frame)['columns'].__get__(value, frame)[:2000])
        array = genuine('numpy', 'ndarray')
        if among(array, kinds) or among(genuine('numpy', 'void'), kinds):
            kind = array if among(array, kinds) else genuine('numpy', 'generic')
            names = vars(kind)['dtype'].__get__(value).names
            return list(names) if names else None
    except Exception:
        pass
    return None


def part_of_frame(value, key):
    frame, series = genuine('pandas', 'DataFrame'), genuine('pandas', 'Series')
    if frame and series and among(frame, mro_of(type(value))) and type(key) is str and key in (columns_of(value) or ()):
        return Found(INSTANCE, series)
    return None


# ---- what is offered of an object

def class_names(kind, into):
    for base in reversed(mro_of(kind)):
        content = dict_of_type(base)
        for name in list(content):
            if type(name) is str:
                into[name] = word_for(content.get(name), True)


def members(found):
    """Name -> word for its type, of all that the object is seen to have."""
    result = {}
    if found.kind is UNKNOWN:
        return result
    if found.kind is INSTANCE:
        class_names(found.value, result)
        return result
    value = found.value
    if is_type(value):
        for name in ('mro', '__name__', '__doc__', '__module__', '__mro__', '__bases__', '__subclasses__', '__dict__'):
            result[name] = 'property'
        class_names(value, result)
        if type(value) is not type:
            extra = {}
            class_names(type(value), extra)
            for name in extra:
                if entry_of(type, name) is MISSING:
                    result.setdefault(name, extra[name])
        return result
    if not among(ModuleType, mro_of(type(value))):
        class_names(type(value), result)
    own = attributes_of(value)
    for name in names_in(own):
        result[name] = word_for(dict.get(own, name), False)
    if among(ModuleType, mro_of(type(value))):
        listed = dict.get(own, '__all__')
        for name in listed if among(type(listed), (list, tuple)) else ():
            if type(name) is str:
                result.setdefault(name, 'instance')
    for name in columns_of(value) or ():
        if type(name) is str and name.isidentifier() and name not in KEYWORDS:
            result[name] = 'key'
    return result


def word_for(value, in_class):
    kind = type(value)
    if kind is FunctionType or kind is BuiltinType or kind is MethodType:
        return 'method' if in_class else 'function'
    if among(kind, BUILTIN_CALLABLES) or kind is classmethod or kind is staticmethod:
        return 'method'
    if kind is property or kind is GetSet or kind is Member:
        return 'property'
    if is_type(value):
        return 'class'
    if among(ModuleType, mro_of(kind)):
        return 'module'
    if in_class and entry_of(kind, '__get__') is not MISSING:
        return 'property'
    if name_of(kind) in ('ufunc', '_lru_cache_wrapper', 'cython_function_or_method'):
        return 'function'
    return 'instance'
