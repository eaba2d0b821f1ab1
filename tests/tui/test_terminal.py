"""The app in a real terminal: the main path in tmux, resizing, leaving, and what outlives whom."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import psutil
import pytest

from core import api
from core.engine import machine
from core.status import LIVE
from tests.support.hosts import end_hosts, hosts_of
from tests.support.pictured import parcel_repository, pictured
from tests.support.processes import PROGRAMS, alive, wait_until
from tests.support.repositories import make_repository
from tests.support.terminal import ROOT
from tests.support.tmux import PATIENCE_S, Tmux, demand_tmux

TOOL = PROGRAMS / "moody_tool.py"
STUCK = PROGRAMS / "stuck_app.py"
CLI = (sys.executable, "-m", "core.cli")
TOLD_S = 10.0  # within which the monitor says that a run's writer is gone
UNDER_WAY = ("moody × parcel querying", "1/4")  # the index is there, the first query is held

Environment = Mapping[str, str]


@pytest.fixture(autouse=True)
def _tmux() -> None:
    demand_tmux()


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[Environment]:
    """Return an environment in which nothing is this person's own, and no other campaign is waited for."""
    home, mark = str(tmp_path / "home"), f"boresight-test-{uuid.uuid4().hex}"
    own = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "HOME": home,
        "XDG_CONFIG_HOME": home,
        "TERM": "screen-256color",
        "LANG": "C.UTF-8",
        machine.VARIABLE: mark,
    }
    yield own
    for app in apps_of(own):  # only where a test failed
        with contextlib.suppress(ProcessLookupError):
            os.kill(app, signal.SIGKILL)
    end_hosts(mark)


class Moods:
    """How the tool behaves: `held` and `broken` are files that it looks for."""

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
    """Return a folder with a repository of four modules in it and nothing else."""
    root = parcel_repository(tmp_path / "work").path
    kept = [f"parcel/{word}.py" for word in ("address", "carrier", "label", "route")]
    make_repository(root, {"README.md": b"", **{name: (root / name).read_bytes() for name in kept}})
    return tmp_path / "work"


@pytest.fixture
def campaign(tmp_path: Path, moods: Moods) -> Path:
    """Return a campaign of three queries in a folder of its own; the first is held until that is lifted."""
    moods.put("held")
    entry = parcel_repository(tmp_path / "work")
    place = tmp_path / "work" / "campaigns" / "parcel"
    place.mkdir(parents=True)
    api.build_bank([entry], 3, ["symbol_lookup"], place / "cases.jsonl")
    lines = ['name = "parcel"', 'cases = "cases.jsonl"', 'baseline = "moody"']
    lines += ["[[repositories]]", 'label = "parcel"', 'path = "../../parcel"', f'commit = "{entry.commit}"']
    (place / "campaign.toml").write_text("\n".join([*lines, *moods.candidate]))
    return place / "campaign.toml"


@contextlib.contextmanager
def opened(folder: Path, environment: Environment, size: tuple[int, int] = (100, 30)) -> Iterator[Tmux]:
    """Open the app on a folder."""
    with Tmux((*CLI, "--folder", str(folder)), environment, folder, size) as window:
        yield window


# From nothing to a verdict


def test_from_an_empty_folder_to_a_verdict(folder: Path, moods: Moods, environment: Environment) -> None:
    moods.put("held", "broken")
    with opened(folder, environment) as window:
        _build_a_bank(window, folder)
        _edit_the_manifest(window, folder, moods)
        _run_and_watch(window)
        _stop_and_resume(window, moods)
        _drill_to_a_miss(window)
        _inspect_a_failure(window)
        _mend_and_retry(window, moods)
        window.keys("q")
        assert window.wait_for_end() == 0
    (run,) = (folder / "runs" / "parcel").iterdir()
    assert api.run_status(run).state == "complete"


def _build_a_bank(window: Tmux, folder: Path) -> None:
    window.wait_for("No runs and no campaigns here yet")
    window.wait_for_mark("Try the built-in sample")
    window.keys("Down")
    window.wait_for_mark("Make a bank from a repository")
    window.press("Enter", "not a Git repository")
    window.type(str(folder / "parcel"))
    window.wait_for("4 Python and 1 Markdown files", "makes campaigns/parcel/campaign.toml")
    window.wait_for("▐✔▌ lexical", "▐✔▌ minilm", "▐✔▌ hybrid", "24 cases")
    _compare_lexical_alone(window)
    window.press("C-s", "ready to run")


def _compare_lexical_alone(window: Tmux) -> None:
    window.keys("Tab", "Tab", "Tab")
    window.wait_for_mark("lexical")
    for name in ("minilm", "hybrid"):
        window.keys("Down")
        window.wait_for_mark(name)
        window.press("Space", f"▐ ▌ {name}")


def _edit_the_manifest(window: Tmux, folder: Path, moods: Moods) -> None:
    lines = (folder / "campaigns" / "parcel" / "campaign.toml").read_text().count("\n")
    window.press("C-t", "What is searched")
    # Its keys stand below from when it takes what is typed; until then the form does.
    window.wait_until(lambda screen: screen.splitlines()[-1].startswith(" ^s Save"), "the keys of the text")
    window.type('baseline = "lexical"')
    window.keys("Enter", *["Down"] * lines)
    window.wait_for_cursor_at(str(lines + 2))  # keys that move may be taken after letters typed later
    first, *others = moods.candidate
    window.type(first)
    for line in others:
        window.keys("Enter")
        window.type(line)
    window.wait_for("not saved", others[-1])
    window.keys("C-s")
    window.wait_until_gone("not saved")
    window.press("C-t", "Campaign and bank", "moody", "ready to run")


def _run_and_watch(window: Tmux) -> None:
    window.press("C-r", "Operations: 74", "Run it now")
    window.wait_for_mark("Run it now")
    window.press("Enter", "● running")
    window.wait_for("moody × parcel querying", "1/25")  # its first query is held


def _stop_and_resume(window: Tmux, moods: Moods) -> None:
    window.press("C-c", "◐ interrupted")
    window.press("1", "was interrupted at")
    window.wait_for_mark("◐ interrupted")
    window.press("Enter", "Resume: go on")
    window.wait_for_mark("Resume: go on")
    moods.lift("held")
    window.press("Enter", "moody × parcel")
    window.wait_for("✖ failed", "It has ended", "moody × parcel complete", "✖6")


def _drill_to_a_miss(window: Tmux) -> None:
    window.press("4", "68 of 74 operations accepted", "DECISION")  # not the saved report, shown before it
    window.wait_for_mark("lexical")
    window.keys("Down")
    window.wait_for_mark("moody")
    window.press("l", "hit = first", "1–6 of 6")
    window.wait_for_mark("✖")  # the query under the cursor, which failed
    window.press("Enter", "case 1 of 6", "query words stand in the target")
    window.press("Escape", "1–6 of 6")


def _open_the_failures(window: Tmux) -> None:
    window.press("6", "nonzero_exit (6)", "primary symbol_lookup", "retries these 6")
    window.wait_for_mark("nonzero_exit (6)")


def _inspect_a_failure(window: Tmux) -> None:
    _open_the_failures(window)
    window.keys("Down")
    window.wait_for_mark("moody × parcel (6)")
    window.press("Down", "exit code 3", "the map of all routes is locked")
    window.press("O", "stderr of attempt 1", "moody_tool: the map of all routes is locked", "100 %")
    window.press("Escape", "exit code 3")


def _mend_and_retry(window: Tmux, moods: Moods) -> None:
    moods.lift("broken")
    window.press("3", "It has ended")
    _open_the_failures(window)  # anew: coming back from the pager, the tree is read again at no set moment
    window.press("r", "Retry 6 failed operations?")
    window.wait_for_mark("Retry these 6")
    window.press("Enter", "✔ complete")


# Terminals of all sizes and kinds

SIZES = ((200, 60), (20, 5), (80, 24))
SCREENS = {  # key: what the screen says, and how its last line begins at any size
    "": ("Inspect them, or fix and continue", " ⏎ Ope"),
    "2": ("frozen: read only", " d Dup"),
    "3": ("It has ended: 4 Results", " esc B"),
    "4": ("241 of 246 operations accepted", " ⏎ Que"),
    "5": ("1–40 of 40", " esc B"),
    "6": ("timeout (4)", " esc B"),
}


def test_screens_come_back_however_the_window_is_resized(tmp_path: Path, environment: Environment) -> None:
    folder = pictured(tmp_path / "work").folder
    with opened(folder, environment, (80, 24)) as window:
        for key, (words, foot) in SCREENS.items():
            if key:
                window.press(key, words)
            window.wait_for(words)
            for columns, rows in SIZES:
                window.resize(columns, rows)
                window.wait_until(partial(_is_drawn, rows, foot), f"all of {columns} × {rows} of {key}")
            window.wait_for(words)
        window.keys("q")
        assert window.wait_for_end() == 0


def _is_drawn(rows: int, foot: str, screen: str) -> bool:
    lines = screen.splitlines()
    return len(lines) == rows and lines[0].startswith(" Boresight") and lines[-1].startswith(foot)


@pytest.mark.parametrize(
    "settings",
    [{"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "linux"}, {"LANG": "C", "LC_ALL": "C"}],
    ids=["xterm-without-colours", "linux", "locale-c"],
)
def test_the_app_draws_on_any_terminal(
    campaign: Path, environment: Environment, settings: Environment
) -> None:
    folder = campaign.parents[2]
    with opened(folder, {**environment, **settings}) as window:
        window.wait_for("▤ campaign", "1 candidate on 1 repository, 0 runs so far")
        window.wait_for_mark("▤ campaign")
        window.press("Enter", "Edit the campaign")
        window.keys("Escape")
        window.wait_until_gone("Edit the campaign")
        window.keys("q")
        assert window.wait_for_end() == 0


@pytest.mark.parametrize("term", ["dumb", ""], ids=["dumb", "empty"])
def test_a_terminal_that_cannot_be_drawn_on_is_refused_in_words(
    campaign: Path, environment: Environment, term: str
) -> None:
    with opened(campaign.parents[2], {**environment, "TERM": term}) as window:
        assert window.wait_for_end() == 2
        window.wait_for("boresight: the app needs a terminal that can be drawn on", "`boresight runs`")


# Leaving, and what outlives whom


@contextlib.contextmanager
def running(campaign: Path, environment: Environment) -> Iterator[tuple[Tmux, Path]]:
    """Open the app and run the campaign from it; yields once its first query is held."""
    folder = campaign.parents[2]
    with opened(folder, environment) as window:
        window.wait_for("1 candidate on 1 repository")
        window.wait_for_mark("▤ campaign")
        window.press("Enter", "Run it")
        window.wait_for_mark("Run it")
        window.press("Enter", "Operations: 4", "Run it now")
        window.wait_for_mark("Run it now")
        window.press("Enter", *UNDER_WAY)
        (run,) = (folder / "runs" / "parcel").iterdir()
        yield window, run


def demand_completion(run: Path, moods: Moods) -> None:
    """Check that a run still goes on, and completes once its tool answers."""
    assert api.run_status(run).state in LIVE
    moods.lift("held")
    assert wait_until(lambda: api.run_status(run).state == "complete", PATIENCE_S), api.run_status(run)


def answer(window: Tmux, downs: int, label: str) -> None:
    """Ask to leave, and choose one of the answers that are offered."""
    window.press("q", "runs/parcel/001 is going", label)
    window.wait_for_mark("Keep running")
    window.keys(*["Down"] * downs)
    window.wait_for_mark(label)
    window.keys("Enter")


def test_a_run_that_is_kept_completes_after_the_app_has_left(
    campaign: Path, moods: Moods, environment: Environment
) -> None:
    with running(campaign, environment) as (window, run):
        answer(window, 0, "Keep running")
        assert window.wait_for_end() == 0
        demand_completion(run, moods)


def test_staying_changes_nothing_and_stopping_interrupts_the_run_before_the_app_leaves(
    campaign: Path, environment: Environment
) -> None:
    with running(campaign, environment) as (window, run):
        answer(window, 2, "Stay here")
        window.wait_until_gone("Stay here")
        window.wait_for(*UNDER_WAY)
        assert api.run_status(run).state in LIVE
        answer(window, 1, "Stop: the operation under way")
        assert window.wait_for_end() == 0
        assert api.run_status(run).state == "interrupted"


def test_a_run_survives_the_app_being_killed(campaign: Path, moods: Moods, environment: Environment) -> None:
    with running(campaign, environment) as (window, run):
        os.kill(window.pid, signal.SIGKILL)
        assert window.wait_for_end() == 128 + signal.SIGKILL
        demand_completion(run, moods)


def test_a_run_survives_its_terminal_and_leaves_no_app_behind(
    campaign: Path, moods: Moods, environment: Environment
) -> None:
    with running(campaign, environment) as (window, run):
        app = window.pid
        assert apps_of(environment) == [app]
        window.close()
        assert wait_until(lambda: apps_of(environment) == [], PATIENCE_S)
        assert not alive(app)
        demand_completion(run, moods)


def test_leaving_does_not_wait_for_a_thread_that_never_ends(campaign: Path, environment: Environment) -> None:
    folder = campaign.parents[2]
    with Tmux((sys.executable, str(STUCK), str(folder)), environment, folder) as window:
        window.wait_for("1 candidate on 1 repository")
        window.keys("q")
        assert window.wait_for_end() == 0
        window.wait_for("left without waiting for something that it was reading")


def apps_of(environment: Environment) -> list[int]:
    """Return the processes of the command line that run in an environment."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            home = process.environ().get("HOME")
            if home == environment["HOME"] and CLI[-1] in process.cmdline():
                found.append(process.pid)
    return found


# Watching what somebody else started


@contextlib.contextmanager
def watched(campaign: Path, environment: Environment) -> Iterator[tuple[Tmux, Path]]:
    """Start a run on the command line, and watch it in the app; yields once its first query is held."""
    run = campaign.parent / "run"
    command = [*CLI, "run", str(campaign), "--output", str(run), "--detach"]
    subprocess.run(command, env=dict(environment), check=True, capture_output=True)
    with Tmux((*CLI, "watch", str(run)), environment, campaign.parent) as window:
        window.wait_for(*UNDER_WAY)
        yield window, run


def test_the_monitor_says_within_ten_seconds_that_a_writer_was_killed(
    campaign: Path, environment: Environment
) -> None:
    with watched(campaign, environment) as (window, _):
        (host,) = hosts_of(environment[machine.VARIABLE])
        killed_at = time.monotonic()
        os.kill(host, signal.SIGKILL)
        window.wait_for("run · ◐ interrupted", seconds=killed_at + TOLD_S - time.monotonic())
        window.wait_for("Nobody executes this run now; r resumes it.")
        window.keys("q")
        assert window.wait_for_end() == 0


def test_whoever_watches_a_run_pauses_it_and_lets_it_go_on(
    campaign: Path, moods: Moods, environment: Environment
) -> None:
    with watched(campaign, environment) as (window, run):
        window.press("p", "Pausing after the operation under way")
        moods.lift("held")
        window.wait_for("run · ‖ paused", "2 of 4 operations")
        assert wait_until(lambda: api.run_status(run).state == "paused")
        window.press("c", "run · ✔ complete")
        assert api.run_status(run).state == "complete"
        window.keys("q")
        assert window.wait_for_end() == 0
