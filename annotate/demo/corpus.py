"""Documents of the demo campaign: the standard library of the running interpreter.

Every document is a module, class, function or method with a docstring of its own, read when the
demo is loaded. Nothing of the texts is kept in this project, so a newer interpreter brings newer
texts. The key of a document is its dotted name, such as ``argparse.ArgumentParser``.
"""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

# Public modules that 3.11, 3.12 and 3.13 share. Left out: deprecated and removed ones, graphical
# and terminal ones (tkinter, turtle, idlelib, curses, readline), and those that do something when
# they are imported (this, antigravity, site). Builtins come first, so that an object that several
# modules export (open is io.open) is described under its plainest name.
_MODULE_NAMES = """
builtins
abc argparse array ast asyncio atexit base64 bdb binascii bisect bz2 calendar cmd code codecs
codeop collections collections.abc colorsys compileall concurrent.futures configparser
contextlib contextvars copy copyreg cProfile csv ctypes dataclasses datetime decimal difflib
dis doctest email email.header email.headerregistry email.message email.mime.multipart
email.mime.text email.parser email.policy email.utils enum errno faulthandler filecmp fileinput
fnmatch fractions ftplib functools gc getopt getpass gettext glob graphlib gzip hashlib heapq
hmac html html.parser http http.client http.cookiejar http.cookies http.server imaplib importlib
importlib.metadata importlib.resources importlib.util inspect io ipaddress itertools json
keyword linecache locale logging logging.config logging.handlers lzma mailbox marshal math
mimetypes mmap modulefinder multiprocessing multiprocessing.pool multiprocessing.shared_memory
netrc numbers operator optparse os os.path pathlib pdb pickle pickletools pkgutil platform
plistlib poplib pprint profile pstats py_compile pyclbr pydoc queue quopri random re
reprlib runpy sched secrets select selectors shelve shlex shutil signal smtplib socket
socketserver sqlite3 ssl stat statistics string stringprep struct subprocess symtable sys
sysconfig tabnanny tarfile tempfile textwrap threading time timeit token tokenize tomllib trace
traceback tracemalloc types typing unicodedata unittest unittest.mock urllib.error urllib.parse
urllib.request urllib.robotparser uuid venv warnings wave weakref webbrowser wsgiref
wsgiref.simple_server xml.dom.minidom xml.dom.pulldom xml.etree.ElementTree xml.sax
xml.sax.handler xml.sax.saxutils xmlrpc.client xmlrpc.server zipapp zipfile zipimport zlib
zoneinfo
"""
MODULES: tuple[str, ...] = tuple(_MODULE_NAMES.split())

# Classes whose methods people search for by what they do.
METHODS_OF: tuple[str, ...] = (
    "str",
    "bytes",
    "list",
    "dict",
    "set",
    "int",
    "float",
    "collections.Counter",
    "collections.deque",
    "datetime.date",
    "datetime.datetime",
    "datetime.timedelta",
    "pathlib.Path",
    "pathlib.PurePath",
)

ADDRESS = "https://docs.python.org/3/library/"

# Pages that are not called like their module.
_PAGES = {
    "cProfile": "profile",
    "email.mime.multipart": "email.mime",
    "email.mime.text": "email.mime",
    "importlib.util": "importlib",
    "multiprocessing.pool": "multiprocessing",
    "pstats": "profile",
    "wsgiref.simple_server": "wsgiref",
    "xml.sax.saxutils": "xml.sax.utils",
}
_ASYNCIO_PAGES = {
    "base_events": "asyncio-eventloop",
    "events": "asyncio-eventloop",
    "exceptions": "asyncio-exceptions",
    "futures": "asyncio-future",
    "locks": "asyncio-sync",
    "mixins": "asyncio-sync",
    "protocols": "asyncio-protocol",
    "queues": "asyncio-queue",
    "runners": "asyncio-runner",
    "streams": "asyncio-stream",
    "subprocess": "asyncio-subprocess",
    "transports": "asyncio-protocol",
}
# Where the name tells more than the file it is defined in.
_ASYNCIO_ENDINGS = {
    "future": "asyncio-future",
    "loop": "asyncio-eventloop",
    "policy": "asyncio-policy",
    "watcher": "asyncio-policy",
}

LONGEST_TEXT = 4000
LONGEST_SNIPPET = 300
_SHORTEST_DOCSTRING = 20
_SIGNATURE = re.compile(r"[\w.]+\(.*\)(\s*->.*)?")


@dataclass(frozen=True)
class Document:
    """One searchable entry of the standard library."""

    key: str
    url: str
    title: str
    snippet: str
    text: str


def standard_library() -> list[Document]:
    """Every document of the running interpreter, in the order of ``MODULES``.

    Modules that this platform or a trimmed interpreter does not have are left out.
    """
    documents: dict[str, Document] = {}
    seen: set[int] = set()
    for name in MODULES:
        module = _import(name)
        if module is None:
            continue
        for document in _of_module(name, module, seen):
            documents.setdefault(document.key, document)
    return list(documents.values())


def _import(name: str) -> ModuleType | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return importlib.import_module(name)
    except ImportError:  # a trimmed interpreter, or another platform
        return None


def _of_module(name: str, module: ModuleType, seen: set[int]) -> Iterator[Document]:
    if name != "builtins":
        yield from _document(name, module, _address(name, name, module))
    for attribute in _public_names(module):
        value = getattr(module, attribute, None)
        if not (inspect.isclass(value) or inspect.isroutine(value)) or id(value) in seen:
            continue
        if not _is_from(value, name, module):
            continue
        seen.add(id(value))
        key = attribute if name == "builtins" else f"{name}.{attribute}"
        yield from _document(key, value, _address(key, name, value))
        if key in METHODS_OF and inspect.isclass(value):
            yield from _of_class(key, name, value)


def _of_class(key: str, module_name: str, cls: type) -> Iterator[Document]:
    for attribute, value in vars(cls).items():
        method = getattr(value, "__func__", value)  # what a class or static method wraps
        if not attribute.startswith("_") and inspect.isroutine(method):
            dotted = f"{key}.{attribute}"
            yield from _document(dotted, method, _address(dotted, module_name, cls))


def _public_names(module: ModuleType) -> list[str]:
    names: list[str] | None = getattr(module, "__all__", None)
    if names is None:  # an alias such as array.ArrayType comes after the object's own name
        names = sorted(dir(module), key=lambda n: getattr(getattr(module, n), "__name__", n) != n)
    return [name for name in names if not name.startswith("_")]


def _is_from(value: object, name: str, module: ModuleType) -> bool:
    """Whether the module means to offer the object, and did not only import it for itself."""
    if name == "builtins" or hasattr(module, "__all__"):
        return True
    home = (getattr(value, "__module__", None) or name).lstrip("_")
    return home.split(".")[0] == name.split(".")[0] or home in ("posix", "nt", "collections.abc")


def _document(key: str, value: object, url: str) -> Iterator[Document]:
    docstring = value.__doc__  # unlike inspect.getdoc, this never inherits
    if not isinstance(docstring, str):
        return
    text = inspect.cleandoc(docstring)
    if len(text) < _SHORTEST_DOCSTRING or _SIGNATURE.fullmatch(text):
        return
    yield Document(key, url, key, _snippet(text), _cut(text, LONGEST_TEXT))


def _snippet(text: str) -> str:
    """The first paragraph in one line, with the next one where the first is a bare signature."""
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    if len(paragraphs) > 1 and _SIGNATURE.fullmatch(paragraphs[0]):
        paragraphs[:2] = [f"{paragraphs[0]} {paragraphs[1]}"]
    return _cut(paragraphs[0], LONGEST_SNIPPET)


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    return text[: longest - 1].rsplit(maxsplit=1)[0] + "…"


def _address(key: str, module_name: str, value: object) -> str:
    if module_name == "builtins":
        return f"{ADDRESS}{_builtin_page(key, value)}.html#{key}"
    page = _PAGES.get(module_name, module_name.lower())
    if inspect.ismodule(value):
        return f"{ADDRESS}{page}.html#module-{key}"
    if module_name == "asyncio":
        page = _asyncio_page(key, value)
    return f"{ADDRESS}{page}.html#{key}"


def _asyncio_page(key: str, value: object) -> str:
    for ending, page in _ASYNCIO_ENDINGS.items():
        if key.lower().endswith(ending):
            return page
    home = str(getattr(value, "__module__", "")).rpartition(".")[2]
    return _ASYNCIO_PAGES.get(home, "asyncio-task")


def _builtin_page(key: str, value: object) -> str:
    if inspect.isclass(value) and issubclass(value, BaseException):
        return "exceptions"
    described_as_types = {"str", "bytes", "bytearray", "memoryview", "list", "tuple", "range"}
    described_as_types |= {"dict", "set", "frozenset"}
    return "stdtypes" if "." in key or key in described_as_types else "functions"
