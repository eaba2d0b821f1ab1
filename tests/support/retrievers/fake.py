"""A retriever for tests: `tests/support/programs/fake_tool.py` behind the protocol."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.canonical import sha256_of
from core.ranking import Channel
from core.retrievers.answers import read_context, read_ranking, session_id
from core.retrievers.protocol import (
    Answer,
    AnswerError,
    Completeness,
    Configuration,
    Context,
    Features,
    Place,
    Retriever,
    Step,
    UnpassableError,
)

PROGRAM = Path(__file__).parents[1] / "programs" / "fake_tool.py"


class FakeRetriever:
    """Takes its features and its faults from the entry's `config`."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self._config = dict(entry.get("config", {}))
        self._fingerprint = self._config.pop("fingerprint", "1")
        self._channels = frozenset(self._config.pop("channels", ["emb", "docs"]))
        self._session = bool(self._config.pop("session", False))
        self._probe = bool(self._config.pop("probe", True))
        self._writes = bool(self._config.pop("writes_repository", False))
        self._relocatable = bool(self._config.pop("relocatable", True))

    @property
    def features(self) -> Features:
        return Features(
            self._channels, self._probe, self._session, self._writes, self._relocatable, level="exact"
        )

    def configuration(self) -> Configuration:
        return Configuration(".json", json.dumps(self._config, sort_keys=True).encode())

    def fingerprint(self) -> Mapping[str, Any]:
        return {"version": self._fingerprint}

    def index(self, place: Place) -> tuple[Step, ...]:
        return (self._step(place, "index"),)

    def query(self, place: Place, channel: Channel, text: str, limit: int) -> Step:
        return self._step(place, "query", channel, str(limit), "--", _passable(text))

    def probe(self, place: Place, text: str, limit: int) -> Step:
        return self._step(place, "probe", "-", str(limit), "--", _passable(text))

    def session(self, place: Place) -> Step | None:
        return self._step(place, "session") if self._session else None

    def request(self, kind: str, channel: Channel, text: str, limit: int) -> bytes:
        question = {"do": kind, "channel": channel, "text": _passable(text), "limit": limit}
        number = sha256_of(question)[:16]
        return json.dumps({"id": number, **question}).encode()

    def is_answer_to(self, request: bytes, stdout: bytes) -> bool:
        return session_id(stdout) == str(json.loads(request)["id"])

    def read_index(self, stdout: bytes, place: Place) -> None:
        try:
            json.loads(stdout)["units"]
        except (ValueError, KeyError, TypeError):
            raise AnswerError("invalid_json", "the index step printed no unit count") from None

    def verify_index(self, place: Place) -> Completeness:
        try:
            index = json.loads((place.state / "index.json").read_text())
        except (OSError, ValueError) as error:
            raise AnswerError("unreadable_index", str(error)) from None
        held = len(index["places"])
        if held == 0:
            raise AnswerError("empty_index", "the index holds no units")
        if held != index["declared"]:
            raise AnswerError("incomplete_index", f"{held} of {index['declared']} units are there")
        return Completeness(held, {"units": held})

    def read_ranking(self, stdout: bytes, place: Place, limit: int) -> Answer:
        return read_ranking(stdout, limit)

    def read_context(self, stdout: bytes, place: Place, limit: int) -> Context:
        return read_context(stdout, limit)

    @staticmethod
    def _step(place: Place, action: str, *rest: str) -> Step:
        argv = (sys.executable, "-I", str(PROGRAM), str(place.configuration), action)
        return Step((*argv, str(place.repository), str(place.state), *rest), place.state)


def create(entry: Mapping[str, Any], base: Path, name: str) -> Retriever:
    return FakeRetriever(entry)


def _passable(text: str) -> str:
    if "\0" in text:
        raise UnpassableError("a command-line argument cannot hold NUL")
    return text
