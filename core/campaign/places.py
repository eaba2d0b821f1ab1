"""Where a cell lives on disk, in a run that lies here or lay elsewhere."""

from __future__ import annotations

from pathlib import Path

from core.retrievers.protocol import Place, Retriever
from core.run.layout import RunLayout


def cell_place(layout: RunLayout, candidate: str, repository: str, retriever: Retriever) -> Place:
    """Return the paths that a cell's retriever is given; one that writes into the tree gets its own copy."""
    suffix = retriever.configuration().suffix
    writes = retriever.features.writes_repository
    return place_of(layout, candidate, repository, suffix, writes_repository=writes)


def place_of(
    layout: RunLayout, candidate: str, repository: str, suffix: str, *, writes_repository: bool
) -> Place:
    """Return a cell's paths from what was recorded of its candidate, without rendering its configuration."""
    state = layout.state(candidate, repository)
    return Place(
        repository=state / "repository" if writes_repository else layout.source(repository),
        state=state,
        configuration=_configuration(layout, candidate, suffix),
    )


def configuration_path(layout: RunLayout, candidate: str, retriever: Retriever) -> Path:
    """Return the file of a candidate's rendered configuration; its suffix may lack the dot."""
    suffix = retriever.configuration().suffix
    return _configuration(layout, candidate, suffix)


def _configuration(layout: RunLayout, candidate: str, suffix: str) -> Path:
    return layout.configurations / f"{candidate}.{suffix.removeprefix('.')}"
