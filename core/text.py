"""The one place that makes untrusted text safe to show in a terminal."""

from __future__ import annotations

import re

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # C0, DEL and C1 controls: cursor movement, OSC, BEL
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional marks, overrides and isolates
    "\u2028\u2029\ufeff"  # separators that some terminals break lines at, and the byte order mark
    "\ud800-\udfff"  # lone surrogates, which no terminal can be sent
    "\ufff9-\ufffb]"
)
_CUT = "…"


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}"


def printable(text: str, limit: int | None = None) -> str:
    """Return text on one line with every control made visible, cut to `limit` characters."""
    if limit is not None and len(text) > limit:
        text = text[: max(limit - 1, 0)] + _CUT
    return _UNSAFE.sub(_visible, text)


def printable_lines(text: str) -> str:
    """Return text with every control made visible but for line ends, and tabs turned into spaces."""
    return "\n".join(printable(line.expandtabs(4)) for line in text.split("\n"))
