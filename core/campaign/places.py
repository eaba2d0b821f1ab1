"""Where a cell lives on disk, in a run that lies here or lay elsewhere."""

from __future__ import annotations

from pathlib import Path

from core.retrievers.protocol import Place, Retriever
from core.run.layout import RunLayout


def cell_place(layout: RunLayout, candidate: str, repository: str, retriever: Retriever) -> Place:
    """Return the paths that a cell's retriever is given; one that writes into the tree gets its own copy."""
    state = layout.state(candidate, repository)
    writes = retriever.features.writes_repository
    return Place(
        repository=state / "repository" if writes else layout.source(repository),
        state=state,
        configuration=configuration_path(layout, candidate, retriever),
    )


def configuration_path(layout: RunLayout, candidate: str, retriever: Retriever) -> Path:
    """Return the file of a candidate's rendered configuration; its suffix may lack the dot."""
    suffix, _ = retriever.configuration()
    return layout.configurations / f"{candidate}.{suffix.removeprefix('.')}"
