# SPDX-License-Identifier: MIT
"""Signatures, documentation, previews of values, variables, the stack, and the table of all requests. The last part of
what hermes_kernel_objects.py begins.
"""

# ==== signatures and documentation ====

class Parameter:
    __slots__ = 'name', 'text', 'named', 'many', 'only_named'

    def __init__(self, name, text, named=True, many='', only_named=False):
        self.name, self.text, self.named, self.many, self.only_named = name, text, named, many, only_named


class Shape:
    """A signature: its parameters, where the marks / and * stand, and what it returns as text."""

    def __init__(self, parameters, returns=''):
        self.parameters, self.returns = parameters, returns

    def text(self):
        parts, star, positional = [], False, False
        for part in self.parameters:
            is_positional = not part.named and not part.many
            if positional and not is_positional:
                parts.append('/')
            positional = is_positional
            if part.only_named and not star:
                parts.append('*')
                star = True
            star = star or part.many == '*'
            parts.append(part.text)
        if positional:
            parts.append('/')
        return '(%s)%s' % (', '.join(parts), ' -> ' + self.returns if self.returns else '')


def shape_of(found, depth=0):
    """The signature of what an expression stands for, or None."""
    value = found.value
    if found.kind is INSTANCE:
        entry = entry_of(value, '__call__')
        return shape_of(described(entry, MISSING), depth + 1) if entry is not MISSING and depth < 8 else None
    if found.kind is not VALUE or depth > 8:
        return None
    kind = type(value)
    if kind is MethodType:
        return shape_of(Found(VALUE, value.__func__, True), depth + 1)
    if kind is FunctionType:
        return shape_of_function(found, depth)
    if kind is staticmethod or kind is classmethod:
        return shape_of(Found(VALUE, value.__func__, kind is classmethod), depth + 1)
    if among(kind, BUILTIN_CALLABLES):
        return shape_of_text(value.__text_signature__, found.bound) or shape_of_doc(value.__doc__, value.__name__)
    if is_type(value):
        return shape_of_class(value, depth)
    if kind is genuine('functools', 'partial'):
        return shape_of_partial(value, depth)
    own = attributes_of(value)
    wrapped = dict.get(own, '__wrapped__', MISSING)
    if wrapped is not MISSING:
        return shape_of(Found(VALUE, wrapped, found.bound), depth + 1)
    entry = entry_of(kind, '__call__')
    if entry is MISSING:
        return None
    if type(entry) is WrapperDescriptor:
        named = entry_of(kind, '__name__')
        name = named.__get__(value, kind) if type(named) is GetSet and is_plain_type(kind) else ''
        return shape_of_doc(doc_of(found), name)
    return shape_of(described(entry, value), depth + 1)


def shape_of_function(found, depth):
    function = found.value
    own = attributes_of(function)
    kept = dict.get(own, '__signature__')
    if kept is not None and type(kept) is genuine('inspect', 'Signature'):
        shape = shape_of_object(kept)
        if shape:
            return without_first(shape, found.bound)
    wrapped = dict.get(own, '__wrapped__', MISSING)
    if wrapped is not MISSING:
        shape = shape_of(Found(VALUE, wrapped, found.bound), depth + 1)
        if shape:
            return shape
    code = function.__code__
    defaults, named_defaults = function.__defaults__ or (), function.__kwdefaults__ or {}
    notes = annotations_of(function)
    count, parts = code.co_argcount, []
    first_default = count - len(defaults)
    for index, name in enumerate(code.co_varnames[:count + code.co_kwonlyargcount]):
        if index == count and code.co_flags & 4:
            name_of_rest = code.co_varnames[count + code.co_kwonlyargcount]
            parts.append(Parameter(name_of_rest, '*' + with_note(name_of_rest, notes), False, '*'))
        default = MISSING
        if index >= count:
            default = named_defaults.get(name, MISSING)
        elif index >= first_default:
            default = defaults[index - first_default]
        parts.append(Parameter(name, with_note(name, notes, default), index >= code.co_posonlyargcount, '',
                               index >= count))
    rest = code.co_varnames[count + code.co_kwonlyargcount:]
    if code.co_flags & 4:
        if not code.co_kwonlyargcount:
            parts.append(Parameter(rest[0], '*' + with_note(rest[0], notes), False, '*'))
        rest = rest[1:]
    if code.co_flags & 8:
        parts.append(Parameter(rest[0], '**' + with_note(rest[0], notes), False, '**'))
    shape = Shape(parts, note_text(notes['return']) if 'return' in notes else '')
    return without_first(shape, found.bound)


def without_first(shape, bound):
    if bound and shape.parameters and not shape.parameters[0].many and not shape.parameters[0].only_named:
        del shape.parameters[0]
    return shape


def with_note(name, notes, default=MISSING):
    note = notes.get(name, MISSING)
    text = name if note is MISSING else '%s: %s' % (name, note_text(note))
    if default is MISSING:
        return text
    return '%s%s%s' % (text, '=' if note is MISSING else ' = ', short_repr(default, 40))


def note_text(note):
    if type(note) is str:
        return note
    if is_type(note) and name_of(type(note)) != 'GenericAlias':
        return qualname_of(note) if note is not type(None) else 'None'
    if note is None:
        return 'None'
    module = module_of(type(note))
    if module in ('typing', 'types', 'builtins', '_typing'):
        try:
            return repr(note).replace('typing.', '')[:200]
        except Exception:
            pass
    return short_repr(note, 60)


def shape_of_object(signature):
    """An inspect.Signature that somebody attached."""
    try:
        kind = type(signature)
        content = vars(kind)['_parameters'].__get__(signature)
        parts = []
        for part in content.values():
            name, how, default, note = [vars(type(part))[field].__get__(part) for field in (
                '_name', '_kind', '_default', '_annotation')]
            empty = vars(type(part))['empty']
            many = {2: '*', 4: '**'}.get(int(how), '')
            notes = {} if note is empty else {name: note}
            text = many + with_note(name, notes, MISSING if default is empty else default)
            parts.append(Parameter(name, text, int(how) in (1, 3), many, int(how) == 3))
        return Shape(parts)
    except Exception:
        return None


def shape_of_partial(value, depth):
    shape = shape_of(Found(VALUE, value.func), depth + 1)
    if shape is None:
        return None
    given = len(value.args)
    shape.parameters = [part for index, part in enumerate(shape.parameters)
                        if not (index < given and not part.many and not part.only_named)]
    keywords = value.keywords if type(value.keywords) is dict else {}
    for part in shape.parameters:
        if part.name in keywords:
            part.text = '%s=%s' % (part.name, short_repr(keywords[part.name], 40))
            part.only_named = True
    return shape


def shape_of_class(kind, depth):
    for base in mro_of(kind):
        content = dict_of_type(base)
        kept = content.get('__signature__')
        if kept is not None and type(kept) is genuine('inspect', 'Signature'):
            return shape_of_object(kept)
        for name in '__init__', '__new__':
            entry = content.get(name)
            if type(entry) is staticmethod:
                entry = entry.__func__
            if type(entry) is FunctionType:
                return shape_of(Found(VALUE, entry, True), depth + 1)
        made_in_c = type(content.get('__new__')) is BuiltinType or type(content.get('__init__')) is WrapperDescriptor
        if base is not object and (made_in_c or not is_heap_type(base)):
            text = vars(type)['__text_signature__'].__get__(base)
            return shape_of_text(text, False) or shape_of_doc(content.get('__doc__'), name_of(base))
    return Shape([])


def split_arguments(text):
    """At the commas that stand in no bracket or string."""
    parts, depth, start, quote = [], 0, 0, ''
    for at, c in enumerate(text):
        if quote:
            if c == quote and text[at - 1] != '\\':
                quote = ''
        elif c in '"\'':
            quote = c
        elif c in OPENING:
            depth += 1
        elif c in CLOSING:
            depth -= 1
        elif c == ',' and not depth:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def shape_of_text(text, bound):
    """From what C code says of itself: ($self, key, default=None, /)"""
    if type(text) is not str or not text.startswith('('):
        return None
    body, _, returns = text.rpartition(')')
    parts, only_named = [], False
    for item in split_arguments(body[1:]):
        if item == '/':
            for part in parts:
                part.named = False
            continue
        if item == '*':
            only_named = True
            continue
        if item.startswith('$'):
            if bound or item in ('$module', '$type'):
                continue
            item = item[1:]
        many = '**' if item.startswith('**') else '*' if item.startswith('*') else ''
        name = item.lstrip('*').partition('=')[0].partition(':')[0].strip()
        parts.append(Parameter(name, item, not many, many, only_named and not many))
        only_named = only_named or many == '*'
    return Shape(parts, returns.partition('->')[2].strip())


def shape_of_doc(doc, name):
    """From a first line like: max(iterable, *[, default=obj, key=func]) -> value"""
    if type(doc) is not str or type(name) is not str or not name:
        return None
    line = doc.lstrip().split('\n')[0].strip()
    if not line.startswith(name + '('):
        return None
    end, depth = len(name), 0
    for end in range(len(name), len(line)):
        depth += (line[end] == '(') - (line[end] == ')')
        if not depth:
            break
    if depth:
        return None
    inside = line[len(name) + 1:end]
    plain = inside.replace('[', ' ').replace(']', ' ')
    shape = shape_of_text('(%s)' % plain, False)
    if shape:
        shape.parameters = [part for part in shape.parameters if part.name.isidentifier()]
        for part in shape.parameters:
            part.named = '=' in part.text
        shown = '(%s)%s' % (inside, line[end + 1:] if line[end + 1:].lstrip().startswith('->') else '')
        shape.text = lambda: shown
    return shape


DOCUMENTED = (FunctionType, property, staticmethod, classmethod, GetSet, Member, ModuleType) + BUILTIN_CALLABLES


def doc_of(found):
    """The documentation of a value, not that of its type unless it is an instance."""
    value = found.value if found.kind is not UNKNOWN else found.definition
    kind = type(value)
    doc = None
    if among(kind, DOCUMENTED):
        if kind is ModuleType:
            doc = dict.get(vars(value), '__doc__')
        elif kind is staticmethod or kind is classmethod:
            return doc_of(Found(VALUE, value.__func__))
        else:
            doc = value.__doc__
        if kind is property and doc is None and value.fget is not None:
            return doc_of(Found(VALUE, value.fget))
    elif kind is MethodType:
        return doc_of(Found(VALUE, value.__func__))
    else:
        is_class = found.kind is INSTANCE or is_type(value)
        if not is_class:
            doc = dict.get(attributes_of(value), '__doc__')
            entry = entry_of(kind, '__doc__')
            if type(entry) is GetSet and is_plain_type(kind):
                doc = entry.__get__(value, kind)
        if type(doc) is not str:
            doc = doc_of_class(value if is_class else kind)
    return cleaned(doc[:65536]) if type(doc) is str else ''


def doc_of_class(kind):
    for base in mro_of(kind):
        doc = dict_of_type(base).get('__doc__')
        if type(doc) is GetSet or type(doc) is Member:
            doc = None
        if base is object:
            return None
        if not is_heap_type(base):
            doc = vars(type)['__doc__'].__get__(base)
        if type(doc) is str:
            return doc
    return None


def cleaned(doc):
    """Without the margin that the text has by standing in a source."""
    rows = doc.expandtabs().split('\n')
    margins = [len(row) - len(row.lstrip()) for row in rows[1:] if row.strip()]
    margin = min(margins) if margins else 0
    rows = [rows[0].lstrip()] + [row[margin:] for row in rows[1:]]
    while rows and not rows[-1].strip():
        rows.pop()
    while rows and not rows[0].strip():
        del rows[0]
    return '\n'.join(rows)


def signature(request):
    code, cursor = code_and_cursor(request)
    place = Place(code, cursor)
    nothing = {'found': False, 'name': '', 'signature': '', 'parameter': '', 'index': -1, 'doc': ''}
    if place.string and place.string.start < cursor:
        place.tokens.append(Token(STRING, place.string.start, cursor, ''))
    elif place.word:
        place.tokens.append(Token(NAME, place.word_start, cursor, place.word))
    call = place.call()
    found = resolve(call[0]) if call and not place.comment else None
    shape = shape_of(found) if found else None
    if found is None or found.kind is UNKNOWN:
        return nothing
    position, name, depth = 0, '', 0
    tokens = place.tokens
    for index in range(call[2] + 1, len(tokens)):
        token = tokens[index]
        if token.kind is not OP:
            continue
        depth += (token.text in OPENING) - (token.text in CLOSING)
        if token.text == ',' and not depth:
            position, name = position + 1, ''
        elif token.text == '=' and not depth and index >= 1 and tokens[index - 1].kind is NAME:
            name = tokens[index - 1].text
    index = parameter_at(shape.parameters, position, name) if shape else -1
    return {'found': True, 'name': call[0], 'signature': shape.text() if shape else '',
            'parameter': shape.parameters[index].name if index >= 0 else '', 'index': index,
            'doc': doc_of(found).split('\n')[0]}


def parameter_at(parameters, position, name):
    rest = -1
    for index, part in enumerate(parameters):
        if name:
            if part.name == name and not part.many:
                return index
            if part.many == '**':
                rest = index
        elif part.many == '*':
            return index
        elif not part.only_named and part.many != '**' and index == position:
            return index
    return rest


# ==== inspection ====

def inspect(request):
    code, cursor = code_and_cursor(request)
    detail = number_of(request, 'detail', 0)
    result = {'found': False, 'name': '', 'type': '', 'signature': '', 'doc': '', 'file': '', 'line': 0, 'preview': '',
              'source': ''}
    for name in expressions_at(code, cursor):
        found = resolve(name)
        if found:
            break
    else:
        return result
    result.update(found=True, name=name, doc=doc_of(found))
    shape = shape_of(found)
    if shape:
        result['signature'] = shape.text()
    value = found.value
    if found.kind is VALUE:
        result['type'] = type_name(type(value))
        result['preview'] = preview(value, 2000)
    elif found.kind is INSTANCE:
        result['type'] = type_name(value)
    else:
        result['type'] = name_of(type(found.definition))
        value = found.definition.fget if type(found.definition) is property else found.definition
    file, line, lines = where_is(value, found.kind is INSTANCE, detail >= 1)
    result.update(file=file, line=line, source=''.join(lines))
    return result


def expressions_at(code, cursor):
    """Texts to be tried: the name under the cursor with what it hangs on, what ends before it, the call around it."""
    end = cursor
    while end < len(code) and (code[end].isalnum() or code[end] == '_'):
        end += 1
    place = Place(code, end)
    if place.string or place.comment:
        place.word, place.word_start = '', end
    tokens = place.tokens
    if place.word:
        tokens.append(Token(NAME, place.word_start, end, place.word))
    if not place.string and not place.comment:
        last = len(tokens)
        while last and tokens[last - 1].text in ('?', ';') and tokens[last - 1].kind is OP:
            last -= 1
        if last and tokens[last - 1].text == '.':
            last -= 1
        first = primary_before(tokens, last)
        if first < last and tokens[last - 1].end >= cursor - 2:
            if tokens[last - 1].text == ')':        # f(x): f is meant
                depth, opening = 0, last - 1
                while opening > first:
                    depth += (tokens[opening].text in CLOSING) - (tokens[opening].text in OPENING)
                    if not depth:
                        break
                    opening -= 1
                if opening > first:
                    yield code[tokens[first].start:tokens[opening - 1].end]
            yield code[tokens[first].start:tokens[last - 1].end]
    call = place.call()
    if call:
        yield call[0]


def type_name(kind):
    module = module_of(kind)
    name = qualname_of(kind)
    return name if module in ('builtins', '__main__', '') else '%s.%s' % (module, name)


def where_is(value, is_class, with_source):
    """(file, line, lines of the source) of a definition."""
    for step in range(10):
        kind = type(value)
        if kind is MethodType or kind is staticmethod or kind is classmethod:
            value = value.__func__
            continue
        wrapped = MISSING
        if not is_type(value):
            wrapped = dict.get(attributes_of(value), '__wrapped__', MISSING)
        if wrapped is MISSING:
            break
        value = wrapped
    if type(value) is FunctionType:
        code = value.__code__
        file = code.co_filename
        if file.startswith('<frozen '):
            file = dict.get(value.__globals__, '__file__')
            file = file if type(file) is str else code.co_filename
        rows = runner['split_lines'](text_of_file(file)) if with_source else []
        return file, code.co_firstlineno, block_at(rows, code.co_firstlineno)
    if among(ModuleType, mro_of(type(value))):
        file = dict.get(attributes_of(value), '__file__')
        if type(file) is not str:
            return '', 0, []
        return file, 1, [text_of_file(file)] if with_source and file.endswith('.py') else []
    if not is_type(value):
        value = type(value)
    if module_of(value) == 'builtins':
        return '', 0, []
    return where_is_class(value, with_source)


def is_readable(name):
    try:
        return name in sources or posix.stat(name).st_size < 8 << 20
    except (OSError, ValueError):
        return False


def where_is_class(kind, with_source):
    content = dict_of_type(kind)
    lines_of_methods = [(entry.__code__.co_filename, entry.__code__.co_firstlineno) for entry in list(content.values())
                        if type(entry) is FunctionType and entry.__qualname__.startswith(qualname_of(kind) + '.')]
    head = 'class ' + name_of(kind)
    files = [lines_of_methods[0][0]] if lines_of_methods else []
    if not files and module_of(kind) == '__main__':
        files = [name for name in reversed(list(sources)) if head in sources[name]]
    module = modules.get(module_of(kind))
    if not files and type(module) is ModuleType and type(vars(module).get('__file__')) is str:
        files = [vars(module)['__file__']]
    for file in files:
        text = text_of_file(file) if file.endswith('.py') or file in sources else ''
        line = content.get('__firstlineno__')
        if type(line) is not int:
            below = min((number for name, number in lines_of_methods if name == file), default=1 << 30)
            line = line_of_class(text, head, below)
        if text and line:
            return file, line, block_at(runner['split_lines'](text), line) if with_source else []
    return files[0] if files else '', 0, []


def text_of_file(name):
    if name in sources:
        return sources[name]
    try:
        return runner['decode_source'](runner['read_file'](name)) if is_readable(name) else ''
    except OSError:
        return ''


def line_of_class(text, head, below):
    """The last line up to that one which begins with this, or 0."""
    at, line, counted, result = text.find(head), 1, 0, 0
    while at >= 0:
        line += text.count('\n', counted, at)
        counted = at
        if line > below:
            break
        rest = text[at + len(head):at + len(head) + 1]
        if not text[text.rfind('\n', 0, at) + 1:at].strip() and not (rest and ('a' + rest).isidentifier()):
            result = line
        at = text.find(head, at + 1)
    return result


def block_at(rows, line):
    """The lines of a definition: up to the next line that is not deeper than its first."""
    if not 1 <= line <= len(rows):
        return []
    rows = rows[line - 1:line + 4999]
    text = ''.join(rows)
    margin = len(rows[0]) - len(rows[0].lstrip())
    tokens = tokens_of(text, 0, len(text))[0]
    fresh, seen_head, end = True, False, len(text)
    for token in tokens:
        if token.text == ';' and text[token.start] == '\n':
            fresh = True
            continue
        if fresh:
            fresh = False
            column = token.start - (text.rfind('\n', 0, token.start) + 1)
            if seen_head and column <= margin:
                end = text.rfind('\n', 0, token.start) + 1
                break
            if token.text in ('def', 'class', 'async') or token.text != '@':
                seen_head = True
    result = text[:end].split('\n')
    while result and (not result[-1].strip() or result[-1].lstrip().startswith('#')
                      and len(result[-1]) - len(result[-1].lstrip()) <= margin):
        result.pop()
    return [row + '\n' for row in result]


# ==== previews: repr() of what others wrote, with limits ====

stuck = []                  # threads that are still in somebody's __repr__


class TimeOver(BaseException):
    pass


def guarded(function, seconds, is_ended=True):
    """The function's result, or None if it raised or was not done in time. Then it is ended, as far as that can be."""
    if len(stuck) >= 2:
        return None
    result, done, state = [], _thread.allocate_lock(), [True]
    done.acquire()

    def work():
        try:
            result.append(function())
        except BaseException:
            pass
        finally:
            state[0] = False
            if state in stuck:
                stuck.remove(state)
            done.release()

    stuck.append(state)
    ident = _thread.start_new_thread(work, ())
    if not done.acquire(True, seconds):
        if is_ended:
            break_thread(ident, state)
        return None
    return result[0] if result else None


def break_thread(ident, state):
    """Raise an exception in a thread of ours, as far as it runs Python code."""
    try:
        ctypes = runner['private_module']('_ctypes')
        number = type('number', (ctypes._SimpleCData,), {'_type_': 'L'})
        thing = type('thing', (ctypes._SimpleCData,), {'_type_': 'O'})
        kind = type('call', (ctypes.CFuncPtr,), {'_flags_': 1 | 4, '_restype_': number, '_argtypes_': (number, thing)})
        call = kind(ctypes.dlsym(ctypes.dlopen(None, 0), 'PyThreadState_SetAsyncExc'))
        if state[0]:
            call(number(ident), thing(TimeOver))
    except BaseException:
        pass


SIMPLE = (str, bytes, int, float, complex, bool, type(None), type(Ellipsis), type(NotImplemented), bytearray, range,
          slice)
CONTAINERS = {list: ('[', ']'), tuple: ('(', ')'), set: ('{', '}'), frozenset: ('frozenset({', '})'), dict: ('{', '}')}
SAFE_REPRS = {('datetime', name) for name in ('date', 'time', 'datetime', 'timedelta', 'timezone')} | {
    ('decimal', 'Decimal'), ('fractions', 'Fraction'), ('uuid', 'UUID'), ('pathlib', 'PosixPath'),
    ('re', 'Pattern'), ('builtins', 'generator'), ('builtins', 'coroutine'), ('builtins', 'memoryview'),
    ('_io', 'TextIOWrapper')}


def is_simple(value):
    return among(type(value), SIMPLE) or among(type(value), CONTAINERS) or type(value) is FunctionType \
        or among(type(value), BUILTIN_CALLABLES) or is_type(value) or among(ModuleType, mro_of(type(value))) \
        or entry_of(type(value), '__repr__') is object.__repr__ \
        or (module_of(type(value)), name_of(type(value))) in SAFE_REPRS


def preview(value, limit, foreign=True):
    """A text for a value. foreign: whether a __repr__ of others may be called for it."""
    try:
        if is_simple(value):
            return short_repr(value, limit)
        text = of_table(value, limit)
        if text is None and foreign:
            text = guarded(lambda: foreign_repr(value, limit), 0.15)
        return text if text is not None else plain_name(value)
    except Exception:
        return plain_name(value)


def foreign_repr(value, limit):
    text = repr(value)
    if not among(str, mro_of(type(text))):
        return None
    text = str.__str__(text)
    return cut(text, limit)


def cut(text, limit):
    return text if len(text) <= limit else text[:limit - 3] + '...'


def plain_name(value):
    return '<%s object>' % type_name(type(value))


def plain_repr(value):
    return short_repr(value, 400)


def short_repr(value, limit):
    parts = []
    add_repr(value, parts, [limit + 8], 0, [])
    return cut(''.join(parts), limit)


def add_repr(value, parts, room, depth, above):
    """Append the repr of a value of Python's own types, as long as there is room."""
    kind = type(value)
    if among(kind, CONTAINERS):
        text = container_repr(value, parts, room, depth, above)
    elif among(kind, SIMPLE):
        text = simple_repr(value, room[0])
    elif is_type(value):
        text = "<class '%s'>" % cut(type_name(value), 200)
    elif kind is FunctionType:
        text = '<function %s>' % value.__qualname__
    elif among(kind, BUILTIN_CALLABLES):
        text = '<built-in %s>' % value.__name__
    elif among(ModuleType, mro_of(kind)):
        text = '<module %s>' % simple_repr(dict.get(attributes_of(value), '__name__'), 100)
    elif is_simple(value):
        try:
            text = repr(value)
        except Exception:
            text = plain_name(value)
    else:
        text = plain_name(value)
    if text:
        parts.append(text)
        room[0] -= len(text)


def simple_repr(value, room):
    room = max(room, 8)
    if type(value) is int:
        bits = value.bit_length()
        return repr(value) if bits < 3000 else '<int of %d bits>' % bits
    if among(type(value), (str, bytes, bytearray)) and len(value) > room:
        return repr(value[:room])
    if type(value) is slice and not all(among(type(part), (int, type(None))) for part in (
            value.start, value.stop, value.step)):
        return '<slice>'
    if not among(type(value), SIMPLE):
        return plain_name(value)
    return repr(value)


def container_repr(value, parts, room, depth, above):
    opening, closing = CONTAINERS[type(value)]
    if not value:
        return {list: '[]', tuple: '()', dict: '{}', set: 'set()', frozenset: 'frozenset()'}[type(value)]
    if depth > 6 or any(value is other for other in above):
        return opening + '...' + closing
    parts.append(opening)
    room[0] -= len(opening)
    above.append(value)
    try:
        first = True
        for item in value.items() if type(value) is dict else value:
            if room[0] <= 0:
                break
            if not first:
                parts.append(', ')
                room[0] -= 2
            first = False
            if type(value) is dict:
                add_repr(item[0], parts, room, depth + 1, above)
                parts.append(': ')
                room[0] -= 2
                item = item[1]
            add_repr(item, parts, room, depth + 1, above)
    except RuntimeError:
        parts.append('...')
    above.pop()
    return (',' if type(value) is tuple and len(value) == 1 else '') + closing


def of_table(value, limit):
    """A line for a table or an array, without what their own repr costs."""
    kinds = mro_of(type(value))
    try:
        if among(genuine('pandas', 'DataFrame'), kinds) and limit <= 200:
            return cut(', '.join(str(name) for name in columns_of(value)[:40]), limit)
        array = genuine('numpy', 'ndarray')
        if among(array, kinds) and limit <= 200:
            size, kind = vars(array)['size'].__get__(value), vars(array)['dtype'].__get__(value)
            if size > 1000 or kind.hasobject:
                return cut('array(..., dtype=%s)' % kind, limit)
    except Exception:
        pass
    return None


# ==== variables, the stack ====

HIDDEN = frozenset(['In', 'Out', 'exit', 'quit', 'get_ipython'])


def variables(request):
    wanted = text_of(request, 'filter')
    order = text_of(request, 'sort', 'name')
    limit = number_of(request, 'limit', 0)
    limit = limit if 0 < limit <= 10000 else 1000
    rows = []
    copy = dict.copy(space)
    for name in copy:
        if type(name) is not str or name.startswith('__') or name in HIDDEN:
            continue
        if name.startswith('_') and not name.strip('_0123456789'):
            continue
        value = copy[name]
        kind = type(value)
        if wanted_row(name, value, kind, wanted):
            rows.append((name, value, type_name(kind)))
    if order == 'type':
        rows.sort(key=lambda row: (row[2].casefold(), row[0]))
    elif order == 'size':
        until = monotonic() + SIZES_TIME
        rows = [row + (size_of(row[1], until),) for row in rows]
        rows.sort(key=lambda row: (-row[3], row[0]))
    else:
        rows.sort(key=lambda row: (row[0].casefold(), row[0]))
    shown, foreign, parts, until = [], [], rows[:limit], monotonic() + SIZES_TIME
    for row in parts:
        value = row[1]
        simple = is_simple(value)
        text = preview(value, 80, False)
        if not simple and of_table(value, 80) is None:
            foreign.append((len(shown), value))
        shown.append({'name': row[0], 'type': row[2], 'size_bytes': row[3] if len(row) > 3 else size_of(value, until),
                      'shape': shape_text(value), 'preview': text})
    add_foreign(shown, foreign)
    return {'count': len(rows), 'variables': shown}


def add_foreign(shown, foreign):
    """Previews that need code of others, all on one thread with one time limit."""
    if not foreign:
        return
    texts = {}

    def work():
        for index, value in foreign:
            try:
                texts[index] = foreign_repr(value, 200)
            except TimeOver:
                raise
            except BaseException:
                texts[index] = None

    guarded(work, 0.15)
    for index, text in list(texts.items()):
        if text is not None:
            shown[index]['preview'] = cut(' '.join(text.split()), 80)


CALLABLE_WORDS = {'module': 'module', 'function': 'function', 'class': 'class', 'type': 'class'}


def wanted_row(name, value, kind, wanted):
    word = 'class' if is_type(value) else 'module' if among(ModuleType, mro_of(kind)) else \
        'function' if among(kind, (FunctionType, BuiltinType, MethodType)) else ''
    if wanted == 'all':
        return True
    asked = CALLABLE_WORDS.get(wanted.rstrip('s') if wanted != 'class' and wanted != 'classes' else 'class')
    if asked:
        return word == asked
    if word in ('module', 'function'):
        return False
    if not wanted:
        return True
    folded = wanted.casefold()
    texts = name.casefold(), type_name(kind).casefold()
    if any(c in wanted for c in '*?['):
        return any(fits(folded, text) for text in texts)
    return any(folded in text for text in texts)


def fits(pattern, text):
    """As a shell compares: * any text, ? any character, [a-z] and [!a-z] one of a set."""
    p = t = 0
    star = mark = -1
    while t < len(text):
        used = 0
        if p < len(pattern):
            c = pattern[p]
            if c == '*':
                star, mark = p, t
                p += 1
                continue
            if c == '?' or c == text[t]:
                used = 1
            elif c == '[' and pattern.find(']', p + 2) > 0:
                close = pattern.find(']', p + 2)
                used = close + 1 - p if in_set(pattern[p + 1:close], text[t]) else 0
        if used:
            p, t = p + used, t + 1
        elif star >= 0:
            mark += 1
            p, t = star + 1, mark
        else:
            return False
    return not pattern[p:].strip('*')


def in_set(text, c):
    negated = text.startswith('!')
    text = text[1:] if negated else text
    found, at = False, 0
    while at < len(text):
        if text[at + 1:at + 2] == '-' and at + 2 < len(text):
            found = found or text[at] <= c <= text[at + 2]
            at += 3
        else:
            found = found or text[at] == c
            at += 1
    return found != negated


SIZES_TIME = 0.02           # seconds for the sizes of tables: each takes a third of a millisecond


def size_of(value, until):
    """Bytes, as far as Python or a library that is known says so without much work and by that time; -1: not known."""
    kinds = mro_of(type(value))
    try:
        frame, series, array = genuine('pandas', 'DataFrame'), genuine('pandas', 'Series'), genuine('numpy', 'ndarray')
        if (among(frame, kinds) or among(series, kinds)) and monotonic() > until:
            return -1
        if among(frame, kinds):
            return int(vars(frame)['memory_usage'](value, deep=False).values.sum())
        if among(series, kinds):
            return int(vars(series)['memory_usage'](value, deep=False))
        if among(array, kinds):
            return int(vars(array)['nbytes'].__get__(value))
        tensor = genuine('torch', 'Tensor')
        if among(tensor, kinds):
            return int(tensor.element_size(value) * tensor.nelement(value))
        entry = entry_of(type(value), '__sizeof__')
        if type(entry) is MethodDescriptor:
            return int(first_sys['getsizeof'](value))
        return int(object.__sizeof__(value))
    except Exception:
        return -1


def shape_text(value):
    kinds = mro_of(type(value))
    try:
        for module, name in (('pandas', 'DataFrame'), ('pandas', 'Series'), ('numpy', 'ndarray'),
                             ('polars', 'DataFrame'), ('torch', 'Tensor')):
            kind = genuine(module, name)
            if among(kind, kinds):
                shape = entry_of(kind, 'shape').__get__(value, kind)
                return '(%s%s)' % (', '.join(str(int(part)) for part in shape), ',' * (len(shape) == 1))
        for kind in (str, bytes, bytearray, list, tuple, dict, set, frozenset, range):
            if among(kind, kinds):
                return 'len %d' % kind.__len__(value)
        deque = genuine('collections', 'deque')
        if among(deque, kinds):
            return 'len %d' % deque.__len__(value)
    except Exception:
        pass
    return ''


def stack(request):
    """Where the running cell's main thread is, as a traceback."""
    if runner['job'][0] != runner['RUNNING']:
        return {'text': ''}
    frames = first_sys['_current_frames']()
    frame = frames.pop(runner['main_thread'], None)
    del frames
    entries, own = [], runner
    while frame is not None and len(entries) < 5000:
        if frame.f_globals is not own and frame.f_globals is not globals():
            entries.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        elif entries and frame.f_code.co_name in ('serve', 'run_code'):
            break
        frame = frame.f_back
    del frame
    entries.reverse()
    left = len(entries) - 100
    parts = ['Traceback (most recent call last):\n']
    cached = {}
    for index, (file, line, name) in enumerate(entries):
        if left > 0 and 20 <= index < 20 + left:
            if index == 20:
                parts.append('  [... %d frames ...]\n' % left)
            continue
        parts.append('  File "%s", line %d, in %s\n' % (file, line or 0, name))
        if file not in cached:
            try:
                cached[file] = runner['find_lines'](file) if is_readable(file) else []
            except Exception:
                cached[file] = []
        rows = cached[file]
        if line and line <= len(rows) and rows[line - 1].strip():
            parts.append('    %s\n' % rows[line - 1].strip())
    return {'text': ''.join(parts) if entries else ''}


def ping(request):
    busy = runner['job'][0] in (runner['RUNNING'], runner['SETTLE'])     # later its reply is out
    return {'busy': busy, 'cell': runner['cells_run'] if busy else 0}


REQUESTS = {'complete': complete, 'inspect': inspect, 'signature': signature, 'variables': variables, 'stack': stack,
            'ping': ping}
