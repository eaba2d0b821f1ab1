"""An input for paths that offers to complete them; the right arrow takes what is offered."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from textual.suggester import Suggester

from core.text import printable
from tui.widgets.plain_input import PlainInput

LOOKED_AT = 2000  # names of a folder, at most


def typed_path(base: Path, text: str) -> Path:
    """Return the path that is typed, from a folder on; where nobody has the name after ~, a file may."""
    return base / os.path.expanduser(text)  # noqa: PTH111 - Path's own raises there


class PathSuggester(Suggester):
    """Completes the last part of a path to the first name that begins with it."""

    def __init__(self, base: Path, *, folders_only: bool = False) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._base = base
        self._folders_only = folders_only

    async def get_suggestion(self, value: str) -> str | None:
        """Return the completed path, None where there is nothing to add."""
        return await asyncio.to_thread(self._complete, value)

    def _complete(self, value: str) -> str | None:
        head, slash, start = value.rpartition("/")
        if not value or start in {".", ".."}:
            return None
        names = []
        try:
            with os.scandir(typed_path(self._base, f"{head}{slash}")) as entries:
                for seen, entry in enumerate(entries):
                    if seen >= LOOKED_AT:
                        break
                    hidden = entry.name.startswith(".") and not start.startswith(".")
                    if entry.name.startswith(start) and not hidden and printable(entry.name) == entry.name:
                        is_folder = entry.is_dir()
                        if is_folder or not self._folders_only:
                            names.append(entry.name + ("/" if is_folder else ""))
        except (OSError, ValueError):
            return None
        found = min(names, default=None)
        return f"{head}{slash}{found}" if found and found.rstrip("/") != start else None


class PathInput(PlainInput):
    """A path from a folder on, completed as it is typed."""

    def __init__(self, value: str, base: Path, *, folders_only: bool = False) -> None:
        suggester = PathSuggester(base, folders_only=folders_only)
        super().__init__(value, suggester=suggester, compact=True)
