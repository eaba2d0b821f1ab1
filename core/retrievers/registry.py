"""Finds retrievers by name: each module beside this one that has `create` is a retriever.

Such a module has four names, and nothing elsewhere needs to know of it:

    create(entry, base, name) -> Retriever   what a model manifest's entry describes; looks nothing up on disk
    ENTRY                                    the pydantic model of its entries: types, defaults, descriptions
    EXAMPLE                                  an entry to begin with
    diagnose() -> Diagnosis                  what of it is installed here, and what mends the rest
"""

from __future__ import annotations

import ast
import copy
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import core.retrievers
from core.errors import InputError
from core.retrievers.protocol import Diagnosis, Retriever
from core.text import printable
from core.validation import InputModel

_PACKAGE = "core.retrievers"
_FOLLOWED = (f"{_PACKAGE}.", "core.docno")  # how a run file names documents decides what is read from it


def retriever_names() -> tuple[str, ...]:
    """Return the names of all retrievers, sorted."""
    names = (module.name for module in pkgutil.iter_modules(core.retrievers.__path__))
    return tuple(sorted(name for name in names if hasattr(_module(name), "create")))


def create_retriever(entry: Mapping[str, Any], base: Path, name: str) -> Retriever:
    """Return the retriever that a model manifest's entry describes.

    `base` is the folder that the entry's relative paths start from, `name` what messages call the entry.
    Raises InputError for an unknown retriever or a bad entry. Nothing is looked up on disk yet.
    """
    wanted = entry.get("retriever", "codira")
    known = retriever_names()
    if wanted not in known:
        raise InputError(
            f"{name}: the retriever {printable(str(wanted), 60)!r} is not available in this version;"
            f' set "retriever" to one of: {", ".join(known)}'
        )
    return cast(Retriever, _module(str(wanted)).create(entry, base, name))


def entry_model(name: str) -> type[InputModel]:
    """Return the model of a retriever's entries, which forms are made from."""
    return cast(type[InputModel], _module(name).ENTRY)


def example_entry(name: str) -> dict[str, Any]:
    """Return a retriever's entry to begin with."""
    return copy.deepcopy(dict(_module(name).EXAMPLE))


def diagnose(name: str) -> Diagnosis:
    """Tell what of a retriever is installed here; starts its executable to ask, so call it from a thread."""
    return cast(Diagnosis, _module(name).diagnose())


def source_files(entry: Mapping[str, Any]) -> tuple[Path, ...]:
    """Return the sources that run an entry, which are part of its cells' identity, sorted.

    These are the retriever's module and all that it imports of this package, directly or not, with how run
    files name documents where it reads any.
    """
    return _sources(f"{_PACKAGE}.{entry.get('retriever', 'codira')}")


@cache
def _sources(module: str) -> tuple[Path, ...]:
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        source = _source(name)
        if name not in found and source is not None:
            found[name] = source
            waiting.extend(_imported(source))
    return tuple(sorted(found.values()))


def _source(module: str) -> Path | None:
    """Return a module's file; None for a name that is no module, such as that of an imported function."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return None
    return Path(spec.origin) if spec is not None and spec.origin is not None else None


def _imported(source: Path) -> Iterator[str]:
    """Yield the full names that a module imports, of those that are followed: modules, and what is theirs."""
    for node in ast.walk(ast.parse(source.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.startswith(_FOLLOWED))


def _module(name: str) -> Any:
    return importlib.import_module(f"core.retrievers.{name}")
