"""Holds the document that form and text both edit: edits wait, and are made in a thread, one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from core.campaign.document import CampaignDocument, Snapshot
from core.campaign.toml_map import Place
from core.errors import InputError

T = TypeVar("T")


class Keeper:
    """One document and what was typed but not yet put into it."""

    def __init__(self, document: CampaignDocument) -> None:
        self._document = document
        self._lock = asyncio.Lock()
        self._fields: dict[Place, Any] = {}
        self._text: str | None = None

    @property
    def snapshot(self) -> Snapshot:
        """The document as it stands, without what still waits."""
        return self._document.snapshot

    @property
    def text(self) -> str:
        """The text as it stands, valid or not."""
        return self._document.text

    @property
    def path(self) -> Path | None:
        """Where the document is saved."""
        return self._document.path

    @property
    def is_changed(self) -> bool:
        """Whether anything would be lost by leaving."""
        return self.is_waiting or self._document.is_changed

    @property
    def is_waiting(self) -> bool:
        """Whether something typed is not in the document yet."""
        return bool(self._fields) or self._text is not None

    def is_stale(self) -> bool:
        """Whether the file on disk is no longer the one that was read or saved last; reads it."""
        return self._document.is_stale

    def is_gone(self) -> bool:
        """Whether nothing is at the document's place on disk, as far as can be told; looks there."""
        try:
            return self.path is not None and not self.path.exists()
        except OSError:
            return False

    async def is_on_disk(self) -> bool:
        """Return whether the file says what was typed, so that nothing would be lost by leaving."""
        await self.settle()
        if self.is_changed:
            return False
        return not await self.do(lambda document: document.is_stale) and not self.is_changed

    def field(self, place: Place, value: Any) -> None:
        """Have a field set with the next `settle`."""
        self._fields.pop(place, None)
        self._fields[place] = value

    def type(self, text: str) -> None:
        """Have the whole text replaced with the next `settle`."""
        self._text = text
        self._fields.clear()

    async def settle(self) -> list[str]:
        """Put what was typed into the document; return why some of it could not be."""
        async with self._lock:
            fields, self._fields = self._fields, {}
            text, self._text = self._text, None
            if not fields and text is None:
                return []
            return await asyncio.to_thread(self._put, text, fields)

    async def do(self, change: Callable[[CampaignDocument], T]) -> T:
        """Do something with the document in a thread, after what was typed; raises what that raises."""
        await self.settle()
        async with self._lock:
            return await asyncio.to_thread(change, self._document)

    def _put(self, text: str | None, fields: dict[Place, Any]) -> list[str]:
        problems = []
        if text is not None:
            self._document.replace_text(text)
        for place, value in fields.items():
            try:
                self._document.set(place, value)
            except InputError as error:
                problems.append(str(error))
        return problems
