"""The examples of docs/retrievers run as they stand, but for the place of the repository."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from core import api
from core.banks.case import INTENTS
from core.repositories import RepositoryEntry, pinned
from core.retrievers.registry import create_retriever
from core.samples import make_sample_repository
from tests.support.campaigns import run_new
from tests.support.shell import Shell

EXAMPLES = Path(__file__).parents[2] / "docs" / "retrievers"
NEEDS: Mapping[str, str] = {"ripgrep": "rg", "git-grep": "git", "chunks": "python3", "definitions": "python3"}


class Copied:
    """The examples in a folder of their own, asking about the bundled sample project."""

    def __init__(self, folder: Path) -> None:
        shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
        make_sample_repository(folder / "sample")
        entry = pinned(RepositoryEntry(label="mine", path=folder / "sample"))
        api.build_bank([entry], 2, INTENTS, folder / "cases.jsonl")
        self.campaign = folder / "campaign.toml"
        self._document = tomlkit.parse(self.campaign.read_text())
        self._document["repositories"][0]["path"] = "sample"
        self.keep(tuple(NEEDS))

    def keep(self, names: tuple[str, ...]) -> None:
        """Leave only these candidates."""
        document: Any = self._document.unwrap()
        document["candidates"] = [each for each in document["candidates"] if each["id"] in names]
        document["baseline"] = names[0]
        self.campaign.write_text(tomlkit.dumps(document))


@pytest.fixture
def copied(tmp_path: Path) -> Copied:
    return Copied(tmp_path)


def test_the_campaign_holds_the_examples(copied: Copied) -> None:
    assert [candidate.id for candidate in api.read_campaign(copied.campaign).candidates] == list(NEEDS)


@pytest.mark.parametrize("name", NEEDS)
def test_each_example_conforms(copied: Copied, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    shell = Shell(capsys)
    assert shell("retriever", "check", copied.campaign, name) == 0, shell.out
    assert shell.out.splitlines()[-1] == "It conforms."


def test_the_campaign_runs_and_what_knows_more_finds_more(copied: Copied, tmp_path: Path) -> None:
    available = tuple(name for name, executable in NEEDS.items() if shutil.which(executable))
    copied.keep(available)
    ran = run_new(api.read_campaign(copied.campaign), tmp_path / "run")
    assert (ran.state, ran.errors()) == ("complete", set())
    board = api.rescore(ran.run).board
    assert board.level == "span"  # as chunks tell no finer
    assert board.candidates["chunks"].macro[5].recall > board.candidates["git-grep"].macro[5].recall
    assert board.candidates["definitions"].counts.unsupported == 2  # the docs cases
    assert board.candidates["chunks"].probes.answered == 10


@pytest.mark.parametrize("number", range(4))
def test_entries_in_the_manual_are_valid(number: int) -> None:
    manual = (EXAMPLES.parent / "retrievers.md").read_text()
    entries: list[Any] = []
    for block in manual.split("```toml\n")[1:]:
        document: Any = tomlkit.parse(block.partition("```")[0]).unwrap()
        form = document.get("candidates")
        # A table of its own shows a part of an entry: the answer of a tool that answers `q`.
        entries += (
            form
            if isinstance(form, list)
            else [
                {
                    "id": "part",
                    "retriever": "command",
                    "config": {"query": ["q", "{query}"], "level": "span", **form["config"]},
                }
            ]
        )
    assert len(entries) == 4
    assert create_retriever(entries[number], Path("/"), "retrievers.md")


def test_the_examples_need_nothing_but_the_standard_library(copied: Copied) -> None:
    for program in EXAMPLES.glob("*.py"):
        imported = {
            line.split()[1]
            for line in program.read_text().splitlines()
            if line.startswith(("import ", "from "))
        }
        assert imported <= sys.stdlib_module_names
