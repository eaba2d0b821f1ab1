"""The app in a real terminal: the main path in tmux, resizing, leaving, and what outlives whom."""

from __future__ import annotations

import json
import os
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path

import pytest

from core import api
from tests.support.pictured import parcel_repository
from tests.support.processes import PROGRAMS
from tests.support.terminal import ROOT
from tests.support.tmux import Tmux, demand_tmux

TOOL = PROGRAMS / "moody_tool.py"
SECONDS = 10.0  # within which a killed writer is told


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """Return an environment in which nothing is this person's own, and no other campaign is waited for."""
    home = str(tmp_path / "home")
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "HOME": home,
        "XDG_CONFIG_HOME": home,
        "BORESIGHT_MACHINE": f"test-{uuid.uuid4().hex}",
        "LANG": "C.UTF-8",
    }


class Moods:
    """How the tool behaves: `slow` and `broken` are files that it looks for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "moods"
        self.folder.mkdir()

    def put(self, *names: str) -> None:
        for name in names:
            (self.folder / name).touch()

    def lift(self, name: str) -> None:
        (self.folder / name).unlink()

    @property
    def candidate(self) -> list[str]:
        """Return the lines of a campaign file that declare the tool."""
        query = [sys.executable, "-I", str(TOOL), "{repository}", str(self.folder), "{limit}"]
        query += ["--", "{query}"]
        return [
            "[[candidates]]",
            'id = "moody"',
            'retriever = "command"',
            "[candidates.config]",
            f"query = {json.dumps(query)}",
            'level = "exact"',
            'answer = { format = "lines", pattern = "{path}:{line}:{text}" }',
        ]


@pytest.fixture
def moods(tmp_path: Path) -> Moods:
    return Moods(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a repository in it and nothing else."""
    parcel_repository(tmp_path / "work")
    return tmp_path / "work"


def test_from_an_empty_folder_to_a_verdict(
    folder: Path, moods: Moods, environment: Mapping[str, str]
) -> None:
    demand_tmux()
    moods.put("slow", "broken")
    command = (sys.executable, "-m", "core.cli", "--folder", str(folder))
    with Tmux(command, environment, folder) as window:
        _build_a_bank(window, folder)
        _edit_the_manifest(window, folder, moods)
        _run_and_watch(window)
        _stop_and_resume(window, moods)
        _drill_to_a_miss(window)
        _inspect_a_failure(window, moods)
        window.press("q", "ended with 0")
    (run,) = (folder / "runs" / "parcel").iterdir()
    assert api.run_status(run).state == "complete"


def _build_a_bank(window: Tmux, folder: Path) -> None:
    window.wait_for("No runs and no campaigns here yet")
    window.press("Down", "Make a bank from a repository")
    window.press("Enter", "not a Git repository")
    window.type(str(folder / "parcel"))
    window.wait_for("8 Python and 1 Markdown files", "makes campaigns/parcel/campaign.toml")
    window.wait_for("▐✔▌ lexical", "48 cases")
    window.press("C-s", "ready to run")


def _edit_the_manifest(window: Tmux, folder: Path, moods: Moods) -> None:
    lines = (folder / "campaigns" / "parcel" / "campaign.toml").read_text().count("\n")
    window.press("C-t", "What is searched")
    window.press_until("NPage", 'id = "hybrid"')
    window.keys(*["Down"] * 100)  # keys that move may be taken after letters that were typed later
    window.wait_for_cursor_at(str(lines + 1))
    for line in moods.candidate:
        window.type(line)
        window.keys("Enter")
    window.wait_for("not saved", "pattern")
    window.press("C-s", "saved ·")
    window.wait_for("ready to run")
    window.press("C-t", "moody")


def _run_and_watch(window: Tmux) -> None:
    window.press("C-r", "Operations: 340")
    window.wait_for("Run it now")
    window.press("Enter", "● running")
    window.wait_for("moody × parcel", "querying")


def _stop_and_resume(window: Tmux, moods: Moods) -> None:
    window.press("C-c", "◐ interrupted")
    window.press("1", "was interrupted at")
    window.press("Enter", "Resume: go on")
    moods.lift("slow")
    window.press("Enter", "reused")
    window.wait_for("✖ failed", "It has ended")


def _drill_to_a_miss(window: Tmux) -> None:
    window.press("4", "verified")
    window.wait_for("moody", "DECISION")
    window.press("Down", "moody:")
    window.press("l", "hit = first")
    window.wait_for("moody", "1–")
    window.press("Enter", "case 1 of")
    window.wait_for("query words stand in the target")
    window.press("Escape", "hit = first")


def _inspect_a_failure(window: Tmux, moods: Moods) -> None:
    window.press("6", "nonzero_exit")
    window.press_until("Down", "exit code 3")
    window.wait_for("the map of all routes is locked")
    window.press("O", "moody_tool: the map of all routes is locked")
    window.wait_for("100 %")
    window.press("Escape", "exit code 3")
    moods.lift("broken")
    window.press_until("Up", "retries these 6")
    window.press("r", "Retry 6 failed operations?")
    window.press("Enter", "✔ complete")
