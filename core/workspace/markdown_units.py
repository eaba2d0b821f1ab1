"""Units of a Markdown file: its sections, one for each ATX heading, and the text before the first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from core.workspace.units import Unit

_HEADING = re.compile(r"(#{1,6})\s+(.*)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)


class _Heading(NamedTuple):
    line: int  # from 1
    depth: int  # 1 to 6
    text: str


def markdown_units(path: str, data: bytes, limit: int) -> list[Unit]:
    """Return the sections of a Markdown file in order; each ends where the next heading begins.

    Lines are those of `str.splitlines`, undecodable bytes are replaced. A file without headings is one
    section that begins at line 1.
    """
    lines = data.decode("utf-8", "replace").splitlines()
    found = list(_headings(lines))
    units = []
    first = found[0].line if found else len(lines) + 1
    if any(line.strip() for line in lines[: first - 1]):
        name = PurePosixPath(path).stem
        units.append(_section(path, lines, _Heading(1, 0, name), first - 1, "", limit))
    trail: list[_Heading] = []
    for position, heading in enumerate(found):
        trail = [above for above in trail if above.depth < heading.depth]
        end = found[position + 1].line - 1 if position + 1 < len(found) else len(lines)
        scope = " > ".join(above.text for above in trail)
        units.append(_section(path, lines, heading, end, scope, limit))
        trail.append(heading)
    return units


def _headings(lines: list[str]) -> Iterator[_Heading]:
    fence = ""
    for number, line in enumerate(lines, start=1):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark:
            fence = mark[1]
        elif heading := _HEADING.match(line):
            text = heading[2].rstrip().rstrip("#").rstrip()
            if text:
                yield _Heading(number, len(heading[1]), text)


def _section(path: str, lines: list[str], heading: _Heading, end: int, scope: str, limit: int) -> Unit:
    source = lines[heading.line - 1 : end]
    return Unit(
        channel="docs",
        kind="documentation",
        path=path,
        line=heading.line,
        end_line=end,
        name=heading.text[:limit],
        scope=scope[:limit],
        summary="",
        source="\n".join(source)[:limit],
        rest="\n".join(source[1:] if heading.depth else source)[:limit],
    )
