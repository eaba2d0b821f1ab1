"""A retriever that costs nothing: what its operations take is what the engine takes."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.ranking import Channel
from core.retrievers.protocol import (
    Answer,
    Completeness,
    Configuration,
    Context,
    Features,
    Place,
    Retriever,
    Step,
)

ECHO = Path(__file__).parents[1] / "programs" / "echo.py"
TRUE = "/bin/true"


class InstantRetriever:
    """Answers each query with an empty ranking, by `/bin/true` or by a session that returns its line."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self._session = bool(entry.get("config", {}).get("session", False))

    @property
    def features(self) -> Features:
        return Features(
            frozenset({"emb", "docs"}), probe=False, session=self._session, writes_repository=False,
            relocatable=True, level="exact",
        )  # fmt: skip

    def configuration(self) -> Configuration:
        return Configuration(".json", b"{}")

    def fingerprint(self) -> Mapping[str, Any]:
        return {}

    def index(self, place: Place) -> tuple[Step, ...]:
        return (Step((TRUE,), place.state),)

    def query(self, place: Place, channel: Channel, text: str, limit: int) -> Step:
        return Step((TRUE, str(place.repository), "--", text), place.state)

    def probe(self, place: Place, text: str, limit: int) -> Step:
        return self.query(place, "emb", text, limit)

    def session(self, place: Place) -> Step | None:
        return Step((sys.executable, "-I", "-S", str(ECHO)), place.state) if self._session else None

    def request(self, kind: str, channel: Channel, text: str, limit: int) -> bytes:
        return json.dumps({"do": kind, "channel": channel, "text": text, "limit": limit}).encode()

    def is_answer_to(self, request: bytes, stdout: bytes) -> bool:
        return stdout.rstrip(b"\n") == request

    def read_index(self, stdout: bytes, place: Place) -> None:
        return None

    def verify_index(self, place: Place) -> Completeness:
        return Completeness(1, {})

    def read_ranking(self, stdout: bytes, place: Place, limit: int) -> Answer:
        return Answer(())

    def read_context(self, stdout: bytes, place: Place, limit: int) -> Context:
        return Context("", ())


def create(entry: Mapping[str, Any], base: Path, name: str) -> Retriever:
    return InstantRetriever(entry)
