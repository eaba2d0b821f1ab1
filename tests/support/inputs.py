"""The files that a person writes for a campaign on a scene, in both spellings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.campaigns import Scene

Entry = dict[str, Any]


class Inputs(NamedTuple):
    """A campaign file, and the manifests that spell the same with flags."""

    campaign: Path
    cases: Path
    repositories: Path
    models: Path

    def flags(self, *more: str) -> list[str]:
        """Return the flags that name the manifests."""
        return [
            *("--dataset", str(self.cases)),
            *("--repo-manifest", str(self.repositories)),
            *("--model-manifest", str(self.models)),
            *more,
        ]


def fake_entry(name: str, **config: Any) -> Entry:
    """Return a model manifest's entry of a fake candidate that answers in a session."""
    config = {"session": True, "probe": False, **config}
    return {"id": name, "retriever": "fake", "engine": "fake", "model": name, "config": config}


def write_inputs(scene: Scene, models: Sequence[Entry] = (), head: str = 'baseline = "a"\n') -> Inputs:
    """Write all files into the scene's folder; `head` is what the campaign file says before its tables."""
    entries = list(models) or [fake_entry("a"), fake_entry("b")]
    repository = {"label": scene.repository.label, "path": scene.repository.path.name}
    repository["commit"] = str(scene.repository.commit)
    inputs = Inputs(
        scene.folder / "campaign.toml",
        scene.cases,
        scene.folder / "repositories.json",
        scene.folder / "models.json",
    )
    inputs.repositories.write_text(json.dumps({"schema_version": 1, "repositories": [repository]}))
    inputs.models.write_text(json.dumps({"models": entries}))
    lines = [f'name = "test"\ncases = "{scene.cases.name}"\n{head}', _table("repositories", repository)]
    lines += [_table("candidates", entry) for entry in entries]
    inputs.campaign.write_text("\n".join(lines))
    return inputs


def _table(name: str, values: Mapping[str, Any]) -> str:
    lines = [f"[[{name}]]", *(f"{key} = {_toml(value)}" for key, value in values.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value)
