"""Names of documents in TREC files: a place in a repository as one word that holds no white space.

A docno is `PATH:LINE:KIND`, with `-` for what a result does not tell and line 0 for a file target. In
PATH every byte of its UTF-8 but letters, digits and `/ _ . - ~ + @ ,` is percent-encoded, so that white
space, `%`, `:` and `#` never stand bare. `#N` at the end marks the Nth use of a name within one query.
`parse_docno` reverses it.
"""

from __future__ import annotations

import re
from typing import NamedTuple, cast
from urllib.parse import quote, unquote

from core.errors import InputError
from core.ranking import KINDS, Kind
from core.text import printable

_SAFE = "/_.-~+@,"
_ABSENT = "-"
_DOCNO = re.compile(r"([^:#\s]+):(-|0|[1-9]\d{0,17}):([a-z]+|-)(?:#([1-9]\d{0,8}))?\Z")


class Docno(NamedTuple):
    """What a document name says: a place, and which use of it within its query this is."""

    path: str
    line: int | None
    kind: Kind | None
    occurrence: int = 1


def docno(path: str, line: int | None, kind: Kind | None, occurrence: int = 1) -> str:
    """Return the document name of a place; `line` 0 is a whole file's target."""
    encoded = quote(path, safe=_SAFE, errors="surrogatepass")
    name = f"{encoded}:{_ABSENT if line is None else line}:{kind or _ABSENT}"
    return name if occurrence == 1 else f"{name}#{occurrence}"


def parse_docno(name: str) -> Docno:
    """Return what a document name says; raises InputError for one that `docno` cannot have made."""
    found = _DOCNO.match(name)
    if found is not None:
        path, line, kind, occurrence = found.groups()
        try:
            plain = unquote(path, errors="surrogatepass")
        except UnicodeDecodeError:
            plain = ""
        parsed = Docno(
            plain,
            None if line == _ABSENT else int(line),
            None if kind == _ABSENT else cast(Kind, kind),
            int(occurrence or 1),
        )
        if kind in (*KINDS, _ABSENT) and docno(*parsed) == name:
            return parsed
    raise InputError(
        f"found the document name {printable(name, 120)!r}, expected PATH:LINE:KIND as Boresight exports it "
        "(percent-encoded path; a line number or -; symbol, documentation, file or -)"
    )
