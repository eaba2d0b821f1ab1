"""Files that an entry names and that answers depend on, such as a model and its tokenizer."""

from __future__ import annotations

from pathlib import Path

from core.canonical import sha256_file
from core.errors import InputError
from core.text import printable


def asset_digest(path: Path, field: str, remedy: str = "check the path") -> str:
    """Return a file's SHA-256; raises InputError that begins with the `field` that names it."""
    try:
        return sha256_file(path)
    except OSError as error:
        raise InputError(
            f"{field}: {printable(str(path))} cannot be read: {error.strerror or error}; {remedy}"
        ) from None
