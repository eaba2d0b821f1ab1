"""Commands as evidence keeps them: with placeholders where this machine's paths stood."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from core.retrievers.protocol import Place, Step
from core.run.layout import RunLayout


def portable_text(text: str, layout: RunLayout, place: Place) -> str:
    """Replace this machine's paths by `{state}`, `{repository}`, `{run}`, `{python}`; braces are doubled.

    Text that UTF-8 cannot hold is kept with its bytes escaped, so that every command can be written.
    """
    escaped = _escape(text.encode("utf-8", "backslashreplace").decode())
    roots = {
        str(place.state): "{state}",
        str(place.repository): "{repository}",
        str(layout.root): "{run}",
        sys.executable: "{python}",  # its version is part of the identity, its name and place are not
    }
    for path in sorted(roots, key=len, reverse=True):
        escaped = _whole_path(path).sub(roots[path], escaped)
    return escaped


@cache
def _whole_path(path: str) -> re.Pattern[str]:
    """Match a path where it begins and ends as one, so that `/runs/1` is not found in `/runs/10`."""
    return re.compile(rf"(?<![^\s=:,;\"'(\[]){re.escape(_escape(path))}(?![^/\s:,;\"')\]])")


def command_record(
    steps: Sequence[Step], layout: RunLayout, place: Place, request: bytes | None = None
) -> dict[str, Any]:
    """Return what `command.json` holds: the steps, and for a session the line that it was asked."""

    def kept(text: str) -> str:
        return portable_text(text, layout, place)

    def environment(extra: Mapping[str, str]) -> dict[str, str]:
        return {key: kept(value) for key, value in sorted(extra.items())}

    record: dict[str, Any] = {
        "form": "one-shot" if request is None else "session",
        "steps": [
            {
                "argv": [kept(word) for word in step.argv],
                "cwd": kept(str(step.cwd)),
                "environment": environment(step.environment),
                **({"secrets": sorted(step.secrets)} if step.secrets else {}),
                **({"empty_exit_codes": [*step.empty_exit_codes]} if step.empty_exit_codes else {}),
            }
            for step in steps
        ],
    }
    if request is not None:
        record["request"] = kept(request.decode("utf-8"))
    return record


def _escape(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
