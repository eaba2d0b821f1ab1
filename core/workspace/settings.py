"""The settings of the embedded retriever, as its adapter renders them and its process reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from core.canonical import canonical_json, load_json
from core.workspace.errors import WorkspaceError

SETTINGS_FORMAT = "boresight-embedded@1"
RankingChannel = Literal["lexical", "dense"]


class Settings(NamedTuple):
    """What an index and its answers depend on, but for the model's files."""

    channels: tuple[RankingChannel, ...]
    text_limit: int  # characters of a text that are indexed
    dimension: int | None = None  # of the vectors; None without the dense channel
    max_tokens: int = 256  # of a text that the model reads, its special tokens included
    batch_size: int = 16  # texts that the model reads at once

    @property
    def dense(self) -> bool:
        """Whether texts are embedded."""
        return "dense" in self.channels


class Assets(NamedTuple):
    """Where a model's files lie on this machine."""

    model: Path
    tokenizer: Path


def render_settings(settings: Settings) -> bytes:
    """Return settings as canonical JSON with a final newline; no path is among them."""
    return canonical_json({"format": SETTINGS_FORMAT, **settings._asdict()}) + b"\n"


def read_settings(path: Path) -> Settings:
    """Read rendered settings; raises WorkspaceError where the file is not what `render_settings` writes."""
    try:
        document = load_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise WorkspaceError(f"{path}: the configuration cannot be read: {error}") from None
    if not isinstance(document, dict) or document.pop("format", None) != SETTINGS_FORMAT:
        raise WorkspaceError(f"{path}: not a configuration of the format {SETTINGS_FORMAT}")
    if set(document) != set(Settings._fields):
        raise WorkspaceError(
            f"{path}: found the fields {', '.join(sorted(document))}, expected {', '.join(Settings._fields)}"
        )
    return _checked(path, document)


def _checked(path: Path, document: dict[str, Any]) -> Settings:
    channels = document["channels"]
    if (
        not isinstance(channels, list)
        or not channels
        or not all(channel in get_args(RankingChannel) for channel in channels)
    ):
        raise WorkspaceError(f"{path}: channels: found {channels!r}, expected lexical, dense or both")
    settings = Settings(**{**document, "channels": tuple(channels)})
    counts = {"text_limit": settings.text_limit, "max_tokens": settings.max_tokens}
    counts["batch_size"] = settings.batch_size
    if settings.dense:
        counts["dimension"] = settings.dimension if settings.dimension is not None else 0
    for name, value in counts.items():
        if type(value) is not int or value < 1:
            raise WorkspaceError(f"{path}: {name}: found {value!r}, expected a whole number from 1")
    return settings
