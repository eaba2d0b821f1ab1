"""Prepares the campaign of docs/examples/codira-two-models: `python -m tests.real.two_models FOLDER`.

Makes, in a new folder, two repositories out of published source distributions, a bank of five cases per
intent, and the manifests that ask the real Codira with two real models; then prints the commands to run.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from core import api
from core.errors import BoresightError
from core.repositories import read_repository_manifest
from tests.real.codira_tool import codira
from tests.real.models import Models, entries, models
from tests.real.packages import Package, make_package_repository

PACKAGES = (
    Package("requests", "2.32.3", "55365417734eb18255590a9ff9eb97e9e1da868d4ccd6402399eaf68af20a760"),
    Package("httpx", "0.27.2", "f7c2be1d2f3c3c3160d441802406b206c2b76f5947b11115e6df10c6c65e66c2"),
)
PER_INTENT = 5
BASELINE = "paraphrase-l3"


def prepare(folder: Path) -> None:
    """Write `repositories.json`, `models.json` and `cases.jsonl` with what they name below a new folder."""
    executable, found = codira(), models()
    folder.mkdir(parents=True)
    _write(folder / "models.json", {"models": entries(Models(*found), executable)})
    repositories = [
        {
            "label": package.name,
            "path": str(folder / "repositories" / package.name),
            "commit": make_package_repository(package, folder / "repositories" / package.name),
        }
        for package in PACKAGES
    ]
    _write(folder / "repositories.json", {"schema_version": 1, "repositories": repositories})
    asked = read_repository_manifest(folder / "repositories.json")
    api.build_bank(asked, PER_INTENT, api.INTENTS, folder / "cases.jsonl")


def main() -> int:
    """Prepare the folder that the command line names; return the exit status."""
    if len(sys.argv) != 2:
        print("usage: python -m tests.real.two_models FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1]).absolute()
    try:
        prepare(folder)
    except (BoresightError, FileExistsError, pytest.skip.Exception, pytest.fail.Exception) as error:
        print(f"two_models: {error}", file=sys.stderr)
        return 1
    run = ["boresight", "run", "--dataset", "cases.jsonl"]
    run += ["--repo-manifest", "repositories.json", "--model-manifest", "models.json"]
    run += ["--baseline", BASELINE, "--k", "1", "5", "10", "--output", "codira-two-models"]
    print(f"cd {shlex.quote(str(folder))}\n{shlex.join(run)} --detach\n{shlex.join(run)} --resume")
    return 0


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
