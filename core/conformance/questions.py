"""Questions that a repository can answer, taken from its own files: a retriever should find something."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from core.ranking import Channel

MOST_FILES = 400
MOST_BYTES = 256 * 1024

_DEFINITION = re.compile(
    r"^\s*(?:async\s+)?(?:def|class|fn|func|function|struct|interface)\s+([A-Za-z]\w{3,60})", re.M
)
_HEADING = re.compile(r"^#{1,6}[ \t]+(\w[^\n`#<\[]{3,60})$", re.M)
_WORD = re.compile(r"[A-Za-z]{5,30}")


def find_questions(tree: Path) -> Mapping[Channel, str]:
    """Return a query for each channel that has one; none in a tree without text."""
    found: dict[Channel, str] = {}
    word: str | None = None
    for path in _files(tree):
        text = _text(path)
        if path.suffix == ".md":
            heading = _HEADING.search(text)
            if heading and "docs" not in found:
                found["docs"] = heading[1].strip()
        elif definition := _DEFINITION.search(text):
            found.setdefault("emb", definition[1])
        if word is None and (match := _WORD.search(text)):
            word = match[0]
        if len(found) == 2:
            break
    if word is not None:
        found.setdefault("emb", word)
        found.setdefault("docs", word)
    return found


def _files(tree: Path) -> Iterator[Path]:
    count = 0
    for place, folders, names in os.walk(tree):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                yield path
                count += 1
                if count >= MOST_FILES:
                    return


def _text(path: Path) -> str:
    try:
        with open(path, "rb") as stream:
            return stream.read(MOST_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
