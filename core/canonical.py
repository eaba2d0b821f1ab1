"""Canonical JSON and SHA-256: the two things that every identity and digest is made of."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(value: Any) -> bytes:
    """Encode with sorted keys, no spaces and no ASCII escapes, as UTF-8 without a newline.

    Raises ValueError for NaN and infinities, and for text that UTF-8 cannot hold (UnicodeEncodeError).
    """
    return _ENCODER.encode(value).encode("utf-8")


def sha256(data: bytes) -> str:
    """Return the lower-case hexadecimal SHA-256 of data."""
    return hashlib.sha256(data).hexdigest()


def sha256_of(value: Any) -> str:
    """Return the SHA-256 of a value's canonical JSON."""
    return sha256(canonical_json(value))


def sha256_file(path: Path | str) -> str:
    """Return the SHA-256 of a file's bytes, read in blocks; raises OSError."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def load_json(data: bytes | str) -> Any:
    """Parse JSON strictly; raises ValueError for duplicate keys, NaN, infinities and bad UTF-8."""

    def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise ValueError(f"duplicate key {key!r}")
            found[key] = value
        return found

    def no_constant(name: str) -> Any:
        raise ValueError(f"{name} is not a JSON number")

    text = data.decode("utf-8") if isinstance(data, bytes) else data
    try:
        return json.loads(text, object_pairs_hook=no_duplicates, parse_constant=no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None
