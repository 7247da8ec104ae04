# SPDX-License-Identifier: MIT
"""Completion: what can stand at the cursor. The second part of what hermes_kernel_objects.py begins."""

# ==== completion ====

class Matches:
    """What fits what was typed, each once, in the order of its groups."""

    def __init__(self, typed):
        self.typed, self.groups = typed, []

    def add(self, offers):
        """A group: (text, type) pairs, or a dictionary of them."""
        self.groups.append(list(offers.items()) if type(offers) is dict else offers)

    def chosen(self):
        for fold in False, True:
            typed = self.typed.casefold() if fold else self.typed
            seen, result = set(), []
            for group in self.groups:
                kept = []
                for text, kind in group:
                    if (text.casefold() if fold else text).startswith(typed) and text not in seen:
                        if kind not in ('path', 'key', 'magic', 'param') and not self.is_wanted(text):
                            continue
                        seen.add(text)
                        kept.append((text, kind))
                kept.sort(key=order_of)
                result += kept
            if result or not self.typed:
                return result
        return []

    def is_wanted(self, text):
        """Private names are offered to those who ask for them."""
        if text.startswith('_'):
            return self.typed.startswith('_')
        return True


def order_of(match):
    text = match[0]
    return text.startswith('__'), text.startswith('_'), text.casefold(), text


def complete(request):
    code, cursor = code_and_cursor(request)
    start, matches, more = cursor, [], False
    place = Place(code, cursor)
    for source in shell_line, import_line, keys, path_in_string, attributes, names:
        found = source(place)
        if found is not None:
            start, matches = found
            break
    if len(matches) > MATCHES_LIMIT:
        matches, more = matches[:MATCHES_LIMIT], True
    return {'start': byte_offset(code, start), 'end': byte_offset(code, cursor),
            'matches': [{'text': text, 'type': kind} for text, kind in matches], 'more': more}


def attributes(place):
    tokens = place.tokens
    if place.string or place.comment or not tokens or tokens[-1].text != '.' or tokens[-1].kind is not OP:
        return None
    first = primary_before(tokens, len(tokens) - 1)
    matches = Matches(place.word)
    if first < len(tokens) - 1:
        found = resolve(place.code[tokens[first].start:tokens[-1].start])
        if found and found.kind is not UNKNOWN:
            matches.add(members(found))
        else:
            matches.add(ask_jedi(place))
    return place.word_start, matches.chosen()


def names(place):
    if place.string or place.comment:
        return place.cursor, []
    matches = Matches(place.word)
    tokens = place.tokens
    last = tokens[-1] if tokens else None
    if last and last.end == place.word_start and last.kind is NUMBER:
        return place.cursor, []
    if last and last.kind is NAME and last.text in ('def', 'class'):
        return place.word_start, []
    if last and last.text in ('(', ','):
        matches.add(arguments(place))
    own = {name: word_for(dict.get(space, name), False) for name in names_in(space)}
    for index, token in enumerate(tokens):
        if token.kind is NAME and token.text not in own and not (index and tokens[index - 1].text == '.'):
            own[token.text] = 'statement'
    matches.add([pair for pair in own.items() if pair[0] not in KEYWORDS])
    begins = not last or last.text in (';', ':')
    rest = dict.fromkeys(KEYWORDS + (SOFT_KEYWORDS if begins else []), 'keyword')
    for name in names_in(vars(public_builtins)):
        rest.setdefault(name, word_for(vars(public_builtins).get(name), False))
    matches.add(rest)
    return place.word_start, matches.chosen()


def arguments(place):
    """Keyword arguments of the call that the cursor is in."""
    call = place.call()
    if not call or not place.brackets() or place.brackets()[-1] != call[2]:
        return []
    found = resolve(call[0])
    if not found or found.kind is UNKNOWN:
        return []
    used, depth = set(), 0
    for index in range(call[2] + 1, len(place.tokens)):
        token = place.tokens[index]
        depth += (token.text in OPENING) - (token.text in CLOSING) if token.kind is OP else 0
        if token.text == '=' and not depth:
            used.add(place.tokens[index - 1].text)
    shape = shape_of(found)
    return [(part.name + '=', 'param') for part in shape.parameters
            if part.named and part.name not in used] if shape else []


# ---- keys

def keys(place):
    """Inside d[ or d["..., the keys of a dictionary, the columns of a table."""
    string, tokens = place.string, place.tokens
    if not string and not place.word and tokens and tokens[-1].kind is NUMBER and tokens[-1].end == place.cursor:
        tokens = tokens[:-1]
    if place.comment or not tokens or tokens[-1].text != '[':
        return None
    if string and set(string.prefix) - set('rub'):
        return None
    first = primary_before(tokens, len(tokens) - 1)
    if first == len(tokens) - 1:
        return None
    found = resolve(place.code[tokens[first].start:tokens[-1].start])
    if not found or found.kind is not VALUE:
        return None
    known = keys_of(found.value)
    if not known:
        return None
    rest = place.code[place.cursor:place.cursor + 80].split('\n')[0].lstrip()
    if string is None:
        close = '' if rest.startswith(']') else ']'
        typed = place.code[tokens[-1].end:place.cursor].lstrip()
        offers = [(plain_repr(key) + close, 'key') for key in known if among(type(key), (str, int, bytes, float, bool))]
        matches = Matches(typed)
        matches.add(offers)
        chosen = matches.chosen()
        if chosen:
            return place.cursor - len(typed), chosen
        return None
    kind = bytes if 'b' in string.prefix else str
    close = string.quote if not rest.startswith(string.quote) else ''
    after = rest[len(string.quote):].lstrip() if not close else rest
    if close and not after.startswith(']'):
        close += ']'
    matches = Matches(place.code[string.content:place.cursor])
    matches.add([(escaped(key, string) + close, 'key') for key in known if type(key) is kind])
    return string.content, matches.chosen()


def keys_of(value):
    columns = columns_of(value)
    if columns is not None:
        return columns
    kinds = mro_of(type(value))
    if not among(dict, kinds):
        proxied = value if type(value) is MappingProxy else None
        if proxied is None:
            data = dict.get(attributes_of(value), '_data') if name_of(type(value)) == '_Environ' else None
            return [key.decode('utf-8', 'surrogateescape') for key in dict.copy(data) if type(key) is bytes] \
                if type(data) is dict else None
        return list(proxied)[:2000]
    result = []
    for attempt in range(5):
        try:
            for key in dict.__iter__(value):
                result.append(key)
                if len(result) >= 2000:
                    break
            break
        except RuntimeError:
            result = []
    return result


def escaped(key, string):
    """A key as it stands between such quotes."""
    if type(key) is bytes:
        key = repr(key)[2:-1].replace("\\'", "'").replace(string.quote, '\\' + string.quote)
        return key
    if 'r' in string.prefix:
        return key
    text = []
    for c in key:
        if c == '\\' or c == string.quote[0]:
            text.append('\\' + c)
        else:
            text.append(c if c.isprintable() else repr(c)[1:-1])
    return ''.join(text)


# ---- paths

listings = {}               # folder -> (time of its last change, [(name, whether it is a folder)])


def listing(folder):
    """What is in a folder, sorted; [] if it can't be read. Kept as long as the folder does not change."""
    try:
        changed = posix.stat(folder).st_mtime_ns
        kept = listings.get(folder)
        if kept and kept[0] == changed:
            return kept[1]
        with posix.scandir(folder) as entries:
            found = []
            for entry in entries:
                is_folder = None
                try:
                    is_folder = entry.is_dir()
                except OSError:
                    pass
                found.append((entry.name, bool(is_folder)))
                if len(found) >= 20000:
                    break
    except (OSError, ValueError):
        return []
    found.sort()
    if len(listings) > 200:
        listings.clear()
    listings[folder] = changed, found
    return found


def path_matches(typed, only_folders=False):
    """(characters of `typed` that are kept, (name, type) pairs) for a path that was begun."""
    head, slash, tail = typed.rpartition('/')
    folder = head + slash or '.'
    if folder.startswith('~'):
        user, _, rest = folder.partition('/')
        home = posix.environ.get(b'HOME', b'').decode('utf-8', 'surrogateescape') if user == '~' else home_of(user[1:])
        folder = '%s/%s' % (home, rest)
    matches = Matches(tail)
    matches.add([(name + '/' * is_folder, 'path') for name, is_folder in listing(folder)
                 if (tail.startswith('.') or not name.startswith('.')) and (is_folder or not only_folders)])
    return len(head) + len(slash), matches.chosen()


def home_of(user):
    try:
        return runner['private_module']('pwd').getpwnam(user).pw_dir
    except Exception:
        return '/nonexistent'


def path_in_string(place):
    string = place.string
    if not string:
        return None
    typed = place.code[string.content:place.cursor]
    if '\n' in typed or len(typed) > 4096 or string.prefix and set(string.prefix) - set('rubf'):
        return place.cursor, []
    if not typed and not in_path_call(place):
        return place.cursor, []
    clean = typed if 'r' in string.prefix else unescaped(typed)
    kept, found = path_matches(clean)
    tail = typed.rpartition('/')[2]
    return place.cursor - len(tail), [(escaped(name, string), kind) for name, kind in found]


def unescaped(text):
    parts, at = [], 0
    while at < len(text):
        if text[at] == '\\' and at + 1 < len(text):
            at += 1
        parts.append(text[at])
        at += 1
    return ''.join(parts)


def in_path_call(place):
    last = place.tokens[-1].text if place.tokens else ''
    call = place.call()
    name = call[0].rpartition('.')[2] if call else ''
    return last == '(' and (name in ('open', 'Path', 'chdir', 'listdir') or name.startswith(('read', 'load')))


# ---- !command and %magic

def shell_line(place):
    code, cursor = place.code, place.cursor
    start = code.rfind('\n', 0, cursor) + 1
    line = code[start:cursor]
    bare = line.lstrip()
    if bare.startswith('%') and (place.string is None or place.string.start >= start):
        words = bare.lstrip('%')
        if not words or words.replace('_', 'a').isalnum():
            if bare.startswith('%%') and code[:start].strip():
                return cursor, []
            before = [token for token in place.tokens if token.start < start and token.text != ';']
            if before and place.brackets()[:1] and place.tokens[place.brackets()[0]].start < start:
                return None
            matches = Matches(words)
            matches.add(dict.fromkeys(CELL_MAGICS if bare.startswith('%%') else LINE_MAGICS, 'magic'))
            return cursor - len(words), matches.chosen()
        name, _, rest = words.partition(' ')
        if name in PATH_MAGICS:
            return shell_words(rest.lstrip(), cursor, False, name == 'cd')
        return None
    if not bare.startswith('!'):
        return None
    return shell_words(bare.lstrip('!').lstrip(), cursor, True, False)


def shell_words(text, cursor, with_commands, only_folders):
    """The last word of a command line: a command if it is the first, else a path."""
    at, start, quote, word = 0, 0, '', []
    first, is_first = True, True
    while at < len(text):
        c = text[at]
        if c == '\\' and quote != "'" and at + 1 < len(text):
            at += 1
            word.append(text[at])
        elif quote and c == quote:
            quote = ''
        elif not quote and c in '"\'':
            quote = c
        elif not quote and c in ' \t|;&<>=()':
            is_first = c in '|;&(' or first and not word
            first = is_first
            word, start = [], at + 1
        else:
            word.append(c)
        at += 1
    typed = ''.join(word)
    if with_commands and first and '/' not in typed:
        matches = Matches(typed)
        matches.add(dict.fromkeys(commands() if typed else [], 'function'))
        return cursor - len(text) + start, matches.chosen()
    kept, found = path_matches(typed, only_folders)
    raw_tail = text[start:]
    at = raw_tail.rfind('/') + 1
    opening = quote if not at and quote else ''
    shown = [(opening + (name if quote else shell_escaped(name)), kind) for name, kind in found]
    return cursor - len(raw_tail) + at, shown


def shell_escaped(name):
    return ''.join('\\' + c if c in ' \t\\"\'$&|;<>()*?[]{}`!#~' else c for c in name)


def commands():
    result = set()
    for folder in posix.environ.get(b'PATH', b'').decode('utf-8', 'surrogateescape').split(':'):
        if folder.startswith('/'):
            result.update(name for name, is_folder in listing(folder) if not is_folder)
    return result


# ---- modules

def import_line(place):
    if place.string or place.comment:
        return None
    tokens = place.statement()
    words = [token.text for token in tokens]
    for index in range(len(words) - 1, -1, -1):
        if words[index] == ':' and '(' not in words[index:]:
            words = words[index + 1:]
            break
    if not words or words[0] not in ('import', 'from'):
        return None
    matches = Matches(place.word)
    if words[0] == 'import' or 'import' not in words:
        since = len(words) - 1
        while since > 0 and words[since - 1] != ',' and words[since] not in (',', 'import', 'from'):
            since -= 1
        path = words[since:]
        path = path[1:] if path and path[0] in (',', 'import', 'from') else path
        if path and path[-1] != '.':
            offer = ['as'] if words[0] == 'import' else ['import']
            matches.add(dict.fromkeys(offer if 'as' not in path else [], 'keyword'))
        else:
            parent = ''.join(path[:-1])
            matches.add(dict.fromkeys(submodules(parent) if parent else top_modules(), 'module'))
        return place.word_start, matches.chosen()
    at = words.index('import')
    parent = ''.join(words[1:at])
    last = words[-1]
    if last not in ('import', ',', '('):
        matches.add(dict.fromkeys(['as'] if last != 'as' and 'as' not in words[-3:] else [], 'keyword'))
    else:
        matches.add(exported(parent))
    return place.word_start, matches.chosen()


def search_path():
    path = vars(runner['sys']).get('path')
    return [entry for entry in list(path)[:200] if type(entry) is str] if type(path) is list else []


def modules_in(folder):
    result = []
    for name, is_folder in listing(folder or '.'):
        if is_folder:
            if name.isidentifier() and name != '__pycache__':
                result.append(name)
        else:
            base, dot, end = name.partition('.')
            if base.isidentifier() and (end in ('py', 'pyc', 'so') or end.endswith('.so')) and base != '__init__':
                result.append(base)
    return result


def top_modules():
    result = set(first_sys['builtin_module_names'])
    result.update(first_sys.get('stdlib_module_names', ()))
    for entry in search_path():
        result.update(modules_in(entry))
    result.update(name for name in names_in(modules) if '.' not in name)
    return [name for name in result if name.isidentifier()]


def folders_of(name):
    """Where the parts of a package are, by the loaded package, else by the search path."""
    module = modules.get(name)
    if type(module) is ModuleType:
        path = vars(module).get('__path__')
        if path is not None:
            if type(path) is not list:
                path = dict.get(attributes_of(path), '_path')
            return [entry for entry in path if type(entry) is str] if type(path) is list else []
    parent, _, last = name.rpartition('.')
    bases = folders_of(parent) if parent else search_path()
    return ['%s/%s' % (base or '.', last) for base in bases if (last, True) in listing(base or '.')]


def submodules(name):
    result = set()
    for folder in folders_of(name):
        result.update(modules_in(folder))
    start = name + '.'
    result.update(key[len(start):].partition('.')[0] for key in names_in(modules) if key.startswith(start))
    return result


def exported(name):
    """What can be imported from a module: name -> type."""
    result = dict.fromkeys(submodules(name), 'module')
    module = modules.get(name)
    if module is not None and among(ModuleType, mro_of(type(module))):
        result.update(members(Found(VALUE, module)))
        return result
    path = None
    for folder in folders_of(name):
        path = folder + '/__init__.py'
        break
    if path is None:
        parent, _, last = name.rpartition('.')
        for base in folders_of(parent) if parent else search_path():
            if (last + '.py', False) in listing(base or '.'):
                path = '%s/%s.py' % (base or '.', last)
                break
    if path:
        try:
            if posix.stat(path).st_size < 1 << 20:
                result.update(defined_in(runner['decode_source'](runner['read_file'](path))))
        except OSError:
            pass
    return result


def defined_in(text):
    """Names that the lines of a module begin with."""
    result = {}
    for line in text.split('\n'):
        first = line[:1]
        if not first.isalpha() and first != '_':
            continue
        words = line.replace('(', ' ').replace(':', ' ').replace('=', ' = ').split(None, 4)
        if words[0] == 'async':
            del words[0]
        if len(words) < 2:
            continue
        if words[0] in ('def', 'class') and words[1].isidentifier():
            result[words[1]] = 'function' if words[0] == 'def' else 'class'
        elif words[0].isidentifier() and words[1] == '=' and words[0] not in KEYWORDS:
            result[words[0]] = 'instance'
        elif words[0] in ('from', 'import') and ' import ' in ' ' + line:
            for part in line.partition('import')[2].split('#')[0].strip(' (\\').split(','):
                name = part.split()[-1:] or ['']
                if name[0].isidentifier():
                    result.setdefault(name[0], 'module' if words[0] == 'import' else 'instance')
    return result


# ---- jedi, when the environment has it and nothing else knows

jedi = [None]               # None: not looked for; False: not there, or not yet; its module jedi.api
JEDI_LIMIT = 50000          # characters that it gets to read
jedi_failed = [0.0]         # when its loading last failed: its cache may have been broken
jedi_runs = []              # whether it does; what it was asked too long ago is finished: it remembers much of that


def ask_jedi(place):
    """Never waits for its import: that goes on beside, and the next question has it."""
    if jedi[0] is None and monotonic() - jedi_failed[0] > 1:
        jedi[0] = False
        if 'jedi' in modules or any((('jedi', True) in listing(entry or '.')) for entry in search_path()):
            _thread.start_new_thread(load_jedi, ())
    if not jedi[0] or jedi_runs:
        return []

    def work():
        jedi_runs.append(1)
        try:
            return jedi_names(jedi[0], place)
        finally:
            jedi_runs.clear()

    return guarded(work, 0.25, False) or []


def load_jedi():
    """A kernel that is killed while jedi writes its cache leaves a file that nobody can read: not among the user's."""
    try:
        package = public_builtins.__import__('jedi.api.environment')
        if not package.settings.cache_directory.endswith('-hermes-kernel'):
            package.settings.cache_directory += '-hermes-kernel'
        text = 'import os; os.getcwd().upp'
        jedi_names(package.api, Place(text, len(text)))     # the first time takes long
        jedi[0] = package.api
    except BaseException:
        jedi_failed[0] = monotonic()
        jedi[0] = None


def jedi_names(api, place):
    """It gets the texts of the last cells, not their objects."""
    texts, size = [place.code], len(place.code)
    for name in reversed(list(sources)):
        size += len(sources.get(name, ''))
        if size > JEDI_LIMIT:
            break
        texts.append(sources.get(name, ''))
    code = '\n'.join(reversed(texts))
    at = len(code) - len(place.code) + place.cursor
    try:
        script = api.Script(code, environment=api.environment.InterpreterEnvironment())
        found = script.complete(code.count('\n', 0, at) + 1, at - (code.rfind('\n', 0, at) + 1))
    except Exception as error:
        if type(error).__name__ in ('EOFError', 'UnpicklingError'):
            modules['parso.cache'].clear_cache(modules['jedi.settings'].cache_directory)
        raise
    known = {'function': 'function', 'class': 'class', 'module': 'module', 'property': 'property'}
    return [(name.name, known.get(name.type, 'instance')) for name in found]
