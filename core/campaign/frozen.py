"""What a run's frozen controls say of its candidates, whatever their adapters have become since."""

from __future__ import annotations

from typing import Any

from core.errors import IdentityError
from core.ranking import CHANNELS, LEVELS
from core.retrievers.protocol import Features
from core.run.record import RunRecord


def frozen_features(record: RunRecord) -> dict[str, Features]:
    """Return what each candidate could do when the run was frozen, in the manifest's order.

    Raises IdentityError where the record does not say.
    """
    return {name: _features(record, name) for name in record.candidates}


def frozen_suffix(record: RunRecord, candidate: str) -> str:
    """Return the suffix of a candidate's rendered configuration; raises IdentityError."""
    suffix = _field(record, candidate, "configuration", "suffix")
    if not isinstance(suffix, str) or "/" in suffix:
        raise _unreadable(record, candidate)
    return suffix


def _features(record: RunRecord, candidate: str) -> Features:
    found = {name: _feature(record, candidate, name) for name in Features._fields}
    channels, level = found.pop("channels"), found.pop("level")
    if (
        not isinstance(channels, list)
        or any(channel not in CHANNELS for channel in channels)
        or level not in LEVELS
        or any(not isinstance(value, bool) for value in found.values())
    ):
        raise _unreadable(record, candidate)
    return Features(channels=frozenset(channels), level=level, **found)


def _feature(record: RunRecord, candidate: str, name: str) -> Any:
    """Return one feature; one that older runs know nothing of is as it was for all of them, its default."""
    try:
        return _field(record, candidate, "features", name)
    except IdentityError:
        if name not in Features._field_defaults:
            raise
        return Features._field_defaults[name]


def _field(record: RunRecord, candidate: str, group: str, name: str) -> Any:
    try:
        return record.controls["candidates"][candidate][group][name]
    except (KeyError, TypeError):
        raise _unreadable(record, candidate) from None


def _unreadable(record: RunRecord, candidate: str) -> IdentityError:
    return IdentityError(
        f"{record.layout.campaign}: what the candidate {candidate!r} could do cannot be read; "
        "restore the file from a copy, or begin a new run"
    )
