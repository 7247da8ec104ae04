/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "python-words.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

const char *const python_keywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",    NULL,
};

const char *const python_builtins[] = {
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BaseException",
    "BaseExceptionGroup",
    "BlockingIOError",
    "BrokenPipeError",
    "BufferError",
    "BytesWarning",
    "ChildProcessError",
    "ConnectionAbortedError",
    "ConnectionError",
    "ConnectionRefusedError",
    "ConnectionResetError",
    "DeprecationWarning",
    "EOFError",
    "Ellipsis",
    "EncodingWarning",
    "EnvironmentError",
    "Exception",
    "ExceptionGroup",
    "FileExistsError",
    "FileNotFoundError",
    "FloatingPointError",
    "FutureWarning",
    "GeneratorExit",
    "IOError",
    "ImportError",
    "ImportWarning",
    "IndentationError",
    "IndexError",
    "InterruptedError",
    "IsADirectoryError",
    "KeyError",
    "KeyboardInterrupt",
    "LookupError",
    "MemoryError",
    "ModuleNotFoundError",
    "NameError",
    "NotADirectoryError",
    "NotImplemented",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "PendingDeprecationWarning",
    "PermissionError",
    "ProcessLookupError",
    "PythonFinalizationError",
    "RecursionError",
    "ReferenceError",
    "ResourceWarning",
    "RuntimeError",
    "RuntimeWarning",
    "StopAsyncIteration",
    "StopIteration",
    "SyntaxError",
    "SyntaxWarning",
    "SystemError",
    "SystemExit",
    "TabError",
    "TimeoutError",
    "TypeError",
    "UnboundLocalError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UnicodeError",
    "UnicodeTranslateError",
    "UnicodeWarning",
    "UserWarning",
    "ValueError",
    "Warning",
    "ZeroDivisionError",
    "__debug__",
    "__doc__",
    "__file__",
    "__import__",
    "__name__",
    "abs",
    "aiter",
    "all",
    "anext",
    "any",
    "ascii",
    "bin",
    "bool",
    "breakpoint",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "compile",
    "complex",
    "delattr",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "eval",
    "exec",
    "exit",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "help",
    "hex",
    "id",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "locals",
    "map",
    "max",
    "memoryview",
    "min",
    "next",
    "object",
    "oct",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "quit",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "vars",
    "zip",
    NULL,
};

/* Both lists by a hash of what is cheap to look at; 0: empty. */
#define SLOTS 1024U

static struct {
    const char *word;
    uint8_t size, kind;
} slots[SLOTS];

static size_t slot_of(const char *word, size_t size)
{
    const unsigned char *c = (const unsigned char *)word;
    return (c[0] * 131U + c[size / 2] * 31U + c[size - 1] * 7U + (unsigned)size * 57U) % SLOTS;
}

static void fill(const char *const *words, enum python_word kind)
{
    for (; *words; words++) {
        size_t size = strlen(*words), slot = slot_of(*words, size);
        while (slots[slot].word)
            slot = (slot + 1) % SLOTS;
        slots[slot].word = *words;
        slots[slot].size = (uint8_t)size;
        slots[slot].kind = (uint8_t)kind;
    }
}

enum python_word python_word_kind(const char *word, size_t size)
{
    static bool filled;
    if (!filled) {
        fill(python_keywords, PYTHON_KEYWORD);
        fill(python_builtins, PYTHON_BUILTIN);
        filled = true;
    }
    if (!size)
        return PYTHON_NAME;
    for (size_t slot = slot_of(word, size); slots[slot].word; slot = (slot + 1) % SLOTS) {
        if (slots[slot].size == size && memcmp(slots[slot].word, word, size) == 0)
            return (enum python_word)slots[slot].kind;
    }
    return PYTHON_NAME;
}
