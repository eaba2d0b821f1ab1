"""Source bytes as text to look at: by the file's own coding line where it has one, else as UTF-8."""

from __future__ import annotations

import io
import tokenize


def encoding_of(data: bytes) -> str:
    """Return the encoding that Python source declares, `utf-8` where it declares none that is known."""
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except (SyntaxError, ValueError):
        return "utf-8"


def decoded(data: bytes, encoding: str) -> str:
    """Decode bytes; what cannot be decoded is replaced."""
    try:
        return data.decode(encoding, errors="replace")
    except (ValueError, LookupError):
        return data.decode("utf-8", errors="replace")
