"""What a run keeps of its plan and its candidates: checked on resume, and brought along after a move."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.campaign.manifest import Candidate
from core.campaign.places import configuration_path
from core.campaign.plan import Planned, plan_lines
from core.canonical import sha256
from core.durable import write_durably
from core.errors import IdentityError, InputError
from core.retrievers.protocol import Configuration, Retriever
from core.run.record import RunRecord, stored
from core.text import printable

Texts = Mapping[Path, bytes]


def candidate_entries(candidates: Iterable[Candidate]) -> list[dict[str, Any]]:
    """Return what a run's record tells of its candidates beside their controls."""
    return [
        {"id": candidate.id, "entry": dict(candidate.entry), "base": str(candidate.base)}
        for candidate in candidates
    ]


def configuration_digests(retrievers: Mapping[str, Retriever]) -> dict[str, str]:
    """Return the SHA-256 of each rendered configuration, this machine's paths included."""
    return {name: sha256(retriever.configuration().text) for name, retriever in retrievers.items()}


def verify_written(record: RunRecord, plan: Sequence[Planned], retrievers: Mapping[str, Retriever]) -> Texts:
    """Compare a run's plan and configurations with what they must be; raises IdentityError.

    Returns the configurations that differ by their place alone, as that of a model that was moved, each with
    the text that it must have now.
    """
    expected = {record.layout.plan: Configuration("", plan_lines(plan))}
    for name, retriever in retrievers.items():
        expected[configuration_path(record.layout, name, retriever)] = retriever.configuration()
    changed, moved = [], {}
    for path, configuration in expected.items():
        try:
            written = path.read_bytes()
        except OSError as error:
            changed.append(f"{path}: {error.strerror}")
            continue
        if written == configuration.text:
            continue
        if configuration.differs_by_place(written):
            moved[path] = configuration.text
        else:
            changed.append(f"{path}: changed since the run was frozen")
    if changed:
        raise IdentityError(
            "\n".join(["Files of the run differ; restore them or begin a new run:", *map(printable, changed)])
        )
    return moved


def follow_move(
    record: RunRecord, candidates: Iterable[Candidate], retrievers: Mapping[str, Retriever], texts: Texts
) -> RunRecord:
    """Write configurations anew, and keep in the record where the candidates' files lie now.

    That is no part of the identity. Raises InputError where the disk refuses; the next resume then does it.
    """
    by_id = {candidate.id: candidate for candidate in candidates}
    about = {
        **record.about,
        "candidates": candidate_entries(by_id[name] for name in record.candidates),
        "configurations": configuration_digests(retrievers),
    }
    moved = replace(record, about=stored(about))
    try:
        for path, text in texts.items():
            write_durably(path, text)
        write_durably(record.layout.campaign, moved.encode())
    except OSError as error:
        raise InputError(
            f"{record.layout.root}: a model was moved, and its new place cannot be written:"
            f" {error.strerror or error}; make room, then resume again"
        ) from None
    return moved
