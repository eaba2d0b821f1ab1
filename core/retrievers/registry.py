"""Finds retrievers by name: each module beside this one that has `create` is a retriever.

Such a module has four names, and nothing elsewhere needs to know of it:

    create(entry, base, name) -> Retriever   what a model manifest's entry describes; looks nothing up on disk
    ENTRY                                    the pydantic model of its entries: types, defaults, descriptions
    EXAMPLE                                  an entry to begin with
    diagnose() -> Diagnosis                  what of it is installed here, and what mends the rest
"""

from __future__ import annotations

import copy
import importlib
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import core.retrievers
from core.errors import InputError
from core.retrievers.protocol import Diagnosis, Retriever
from core.text import printable
from core.validation import InputModel


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
        named = f"the retriever {printable(str(wanted), 60)!r}"
        if "retriever" not in entry:
            named = f'no "retriever" is named, which means {wanted!r}, and that one'
        raise InputError(
            f'{name}: {named} is not available in this version; set "retriever" to one of: {", ".join(known)}'
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


def source_file(entry: Mapping[str, Any]) -> Path:
    """Return the source of the module that runs an entry, which is part of its cells' identity."""
    return Path(str(_module(str(entry.get("retriever", "codira"))).__file__))


def _module(name: str) -> Any:
    return importlib.import_module(f"core.retrievers.{name}")
