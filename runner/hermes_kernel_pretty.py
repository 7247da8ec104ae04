# SPDX-License-Identifier: MIT
"""Values as text, broken over lines.

What it must know: how notebooks show values. What it must not know: cells, frames, the terminal.

It is never imported: the runner runs it in its own dictionary when the first value is to be shown that is more than a
number or a text. The names that it does not define are the runner's. Here the cells' own code runs, in their thread:
what it raises is for them.

A value becomes a list of pieces: texts, places where a line may break, beginnings and ends of groups. A group is shown
on one line if it fits there together with what follows it up to the next such place; else each of its own places
becomes a new line.
"""
ITEMS_LIMIT, PIECES_LIMIT, DEPTH_LIMIT = 1000, 300000, 150
TEXT, BREAK, NEW_LINE, BEGIN, END = range(5)
NO_WIDTH = 1 << 30


class TooLong(Exception):
    """No more pieces: the value is cut here."""


class Printer:
    """What _repr_pretty_(printer, cycle) of a value gets."""

    def __init__(self, width):
        self.max_width, self.indentation = width, 0
        self.pieces, self.groups, self.stack = [], [], []

    def add(self, *piece):
        if len(self.pieces) >= PIECES_LIMIT:
            raise TooLong
        self.pieces.append(piece)

    def text(self, text):
        self.add(TEXT, str(text))

    def breakable(self, separator=' '):
        self.add(BREAK, separator, self.indentation)

    def break_(self):
        self.add(NEW_LINE, '', self.indentation)

    def begin_group(self, indent=0, open=''):
        if open:
            self.text(open)
        self.groups.append(len(self.pieces))
        self.add(BEGIN, '')
        self.indentation += indent

    def end_group(self, dedent=0, close=''):
        self.indentation -= dedent
        self.groups.pop()
        self.add(END, '')
        if close:
            self.text(close)

    def group(self, indent=0, open='', close=''):
        return Group(self, indent, open, close)

    def indent(self, indent):
        return Group(self, indent, None, None)

    def pretty(self, value):
        ident = id(value)
        cycle = ident in self.stack
        if len(self.stack) > DEPTH_LIMIT:
            self.text('...')
            return
        self.stack.append(ident)
        try:
            form_of(value)(value, self, cycle)
        finally:
            self.stack.pop()

    def items(self, values):
        """The values, separated; no more than the limit."""
        for index, value in enumerate(values):
            if index:
                self.text(',')
                self.breakable()
            if index >= ITEMS_LIMIT:
                self.text('...')
                return
            yield value


class Group:
    def __init__(self, printer, indent, open, close):
        self.printer, self.indent, self.open, self.close = printer, indent, open, close

    def __enter__(self):
        if self.open is None:
            self.printer.indentation += self.indent
        else:
            self.printer.begin_group(self.indent, self.open)

    def __exit__(self, *exception):
        if self.close is None:
            self.printer.indentation -= self.indent
        else:
            self.printer.end_group(self.indent, self.close)


def laid_out(pieces, width):
    """The text of the pieces."""
    ends, open_groups, sums = {}, [], [0]
    for index, piece in enumerate(pieces):
        if piece[0] == BEGIN:
            open_groups.append(index)
        elif piece[0] == END and open_groups:
            ends[open_groups.pop()] = index
        sums.append(sums[-1] + (NO_WIDTH if piece[0] == NEW_LINE else len(piece[1])))
    parts, column, broken = [], 0, [True]
    for index, piece in enumerate(pieces):
        kind = piece[0]
        if kind == BEGIN:
            end = ends.get(index, len(pieces))
            room = width - column - sums[end] + sums[index]
            broken.append(broken[-1] and (room < 0 or not fits_after(pieces, end, room)))
        elif kind == END:
            broken.pop()
        elif kind == NEW_LINE or kind == BREAK and broken[-1]:
            parts.append('\n' + ' ' * piece[2])
            column = piece[2]
        else:
            parts.append(piece[1])
            column += len(piece[1])
    return ''.join(parts)


def fits_after(pieces, end, room):
    """Whether there is room for what stands behind a group before the line can be broken again, elsewhere than in a
    group that is deeper than this one."""
    deeper = 1
    for index in range(end, len(pieces)):
        kind, text = pieces[index][:2]
        if kind == BEGIN:
            deeper += 1
        elif kind == END:
            deeper -= 1
        elif kind == NEW_LINE or kind == BREAK and deeper <= 1:
            return True
        else:
            room -= len(text)
            if room < 0:
                return False
    return True


def form_of(value):
    """The function that shows values of that kind: of the first of its types that has a form or says how it wants to be
    shown."""
    kind = type(value)
    for base in mro_of(kind):
        form = FORMS.get(base)
        if form is None:
            form = FORMS_BY_NAME.get((base.__module__, name_of(base))) if type(base.__module__) is str else None
        if form is not None:
            return form
        content = vars(base)
        if callable(content.get('_repr_pretty_')):
            return own_form
        if base is not object and callable(content.get('__repr__')):
            return data_form if has_made_repr(kind, base) else repr_form
    return default_form


def own_form(value, printer, cycle):
    type(value)._repr_pretty_(value, printer, cycle)


def repr_form(value, printer, cycle):
    """Its own text. The lines of a longer one stand below each other."""
    rows = repr(value).splitlines()
    printer.begin_group()
    for index, row in enumerate(rows):
        if index:
            printer.break_()
        printer.text(row)
    printer.end_group()


def full_name(kind):
    module = getattr(kind, '__module__', None)
    return qualname_of(kind) if module in (None, 'builtins') else '%s.%s' % (module, qualname_of(kind))


def default_form(value, printer, cycle):
    if type(value).__repr__ is not object.__repr__:
        repr_form(value, printer, cycle)
    else:
        printer.text('<%s at 0x%x>' % (full_name(type(value)), id(value)))


def sequence_form(start, end):
    def form(value, printer, cycle):
        if cycle:
            printer.text(start + '...' + end)
            return
        printer.begin_group(len(start), start)
        for item in printer.items(value):
            printer.pretty(item)
        if len(value) == 1 and isinstance(value, tuple):
            printer.text(',')
        printer.end_group(len(start), end)
    return form


def set_form(start, end):
    def form(value, printer, cycle):
        if cycle:
            printer.text(start + '...' + end)
        elif not len(value):
            printer.text('frozenset()' if isinstance(value, frozenset) else 'set()')
        else:
            printer.begin_group(len(start), start)
            for item in printer.items(value if len(value) >= ITEMS_LIMIT else in_order(value)):
                printer.pretty(item)
            printer.end_group(len(start), end)
    return form


def in_order(values):
    try:
        return sorted(values)
    except Exception:
        pass
    try:
        return sorted(values, key=str)
    except Exception:
        return list(values)


def mapping_form(start, end):
    def form(value, printer, cycle):
        if cycle:
            printer.text('{...}')
            return
        printer.begin_group(len(start), start)
        for key in printer.items(value.keys()):
            printer.pretty(key)
            printer.text(': ')
            printer.pretty(value[key])
        printer.end_group(len(start), end)
    return form


class Raw:
    """A text that is shown as it is."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def call_form(name, printer, values, named=()):
    """As a call that makes such a value."""
    start = name + '('
    printer.begin_group(len(start), start)
    first = True
    for key, value in [(None, value) for value in values] + list(named):
        if not first:
            printer.text(',')
            printer.breakable()
        first = False
        if key is None:
            printer.pretty(value)
        else:
            printer.begin_group(len(key) + 1, key + '=')
            printer.pretty(value)
            printer.end_group(len(key) + 1)
    printer.end_group(len(start), ')')


def type_form(value, printer, cycle):
    if type(value).__repr__ is not type.__repr__:
        repr_form(value, printer, cycle)
    else:
        printer.text(full_name(value))


def function_form(value, printer, cycle):
    name = getattr(value, '__qualname__', value.__name__)
    module = value.__module__
    if module and module != 'builtins':
        name = '%s.%s' % (module, name)
    try:
        shown = name + str(private_module('inspect').signature(value))
    except ValueError:
        shown = name
    except Exception:
        repr_form(value, printer, cycle)
        return
    printer.text('<function %s>' % shown)


def exception_form(value, printer, cycle):
    call_form(full_name(type(value)), printer, [Raw('...')] if cycle else value.args)


def ordered_form(value, printer, cycle):
    call_form(name_of(type(value)), printer, [Raw('...')] if cycle else [list(value.items())] if len(value) else [])


def default_dict_form(value, printer, cycle):
    call_form(name_of(type(value)), printer, [Raw('...')] if cycle else [value.default_factory, dict(value)])


def deque_form(value, printer, cycle):
    named = [('maxlen', value.maxlen)] if value.maxlen is not None and not cycle else []
    call_form(name_of(type(value)), printer, [Raw('...') if cycle else list(value)], named)


def counter_form(value, printer, cycle):
    call_form(name_of(type(value)), printer,
              [Raw('...')] if cycle else [dict(value.most_common())] if len(value) else [])


def namespace_form(value, printer, cycle):
    name = 'namespace' if type(value) is type(sys.implementation) else name_of(type(value))
    if cycle:
        call_form(name, printer, [Raw('...')])
    else:
        call_form(name, printer, [], [item for item in vars(value).items() if item[0].isidentifier()])


def mapping_proxy_form(value, printer, cycle):
    call_form('mappingproxy', printer, [Raw('...') if cycle else dict(value)])


def chain_form(value, printer, cycle):
    call_form(name_of(type(value)), printer, [Raw('...')] if cycle else value.maps)


def pattern_form(value, printer, cycle):
    start = 're.compile('
    printer.begin_group(len(start), start)
    printer.text('r' + repr(value.pattern).replace('\\\\', '\\'))
    flags = [name for bit, name in ((2, 'IGNORECASE'), (4, 'LOCALE'), (8, 'MULTILINE'), (16, 'DOTALL'), (32, 'UNICODE'),
                                    (64, 'VERBOSE'), (128, 'DEBUG')) if value.flags & bit]
    if flags:
        printer.text(',')
        printer.breakable()
        printer.text('|'.join('re.' + name for name in flags))
    printer.end_group(len(start), ')')


def has_made_repr(kind, base):
    """Whether its __repr__ is what @dataclass made."""
    made = vars(base).get('__repr__')
    return base is kind and getattr(vars(base).get('__dataclass_params__'), 'repr', False) is True and \
        hasattr(made, '__wrapped__') and getattr(made, '__globals__', {}).get('__name__') in ('dataclasses', 'reprlib')


def data_form(value, printer, cycle):
    fields = [field for field in vars(type(value))['__dataclass_fields__'].values()
              if field.repr and field._field_type.name == '_FIELD']
    if cycle:
        printer.text('...')
    else:
        call_form(qualname_of(type(value)), printer, [], [(field.name, getattr(value, field.name)) for field in fields])


FORMS = {
    list: sequence_form('[', ']'), tuple: sequence_form('(', ')'), dict: mapping_form('{', '}'),
    set: set_form('{', '}'), frozenset: set_form('frozenset({', '})'), type: type_form,
    ModuleType: repr_form, type(repr_form): function_form, type(len): function_form, BaseException: exception_form,
    type(sys.implementation): namespace_form, type(vars(type)): mapping_proxy_form,
}
for kind in int, float, complex, str, bytes, bool, range, slice, type(None), type(Ellipsis):
    FORMS[kind] = repr_form
FORMS_BY_NAME = {
    ('collections', 'OrderedDict'): ordered_form, ('collections', 'defaultdict'): default_dict_form,
    ('collections', 'deque'): deque_form, ('collections', 'Counter'): counter_form,
    ('os', '_Environ'): mapping_form('environ{', '}'), ('re', 'Pattern'): pattern_form,
    ('collections', 'ChainMap'): chain_form,
}


def pretty(value, width=79):
    """The text of a value."""
    printer = Printer(max(width, 20))
    printer.begin_group()
    try:
        printer.pretty(value)
    except TooLong:
        printer.pieces.append((TEXT, ' ...'))
    except RecursionError:
        return repr(value)
    return laid_out(printer.pieces, printer.max_width)
