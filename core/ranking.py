"""The values that pass between retrievers and scoring: ordered locations in a repository."""

from __future__ import annotations

from typing import Literal, NamedTuple

Channel = Literal["emb", "docs"]
Kind = Literal["symbol", "documentation", "file"]
Level = Literal["exact", "span", "file"]

CHANNELS: tuple[Channel, ...] = ("emb", "docs")
KINDS: tuple[Kind, ...] = ("symbol", "documentation", "file")
LEVELS: tuple[Level, ...] = ("exact", "span", "file")  # finest first


class Location(NamedTuple):
    """One result: a place in the repository.

    `path` is relative to the repository with `/` between parts; lines count from 1; `end_line` is
    inclusive. `score` is kept for the reader and never reorders anything.
    """

    path: str
    line: int | None = None
    end_line: int | None = None
    kind: Kind | None = None
    score: float | None = None


Ranking = tuple[Location, ...]


class Target(NamedTuple):
    """A location that answers a case; line 0 stands for the whole file."""

    path: str
    line: int
    kind: Kind
