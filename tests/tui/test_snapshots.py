"""Every screen looks as it was last approved, at two sizes and in each theme.

`pytest tests/tui/test_snapshots.py --snapshot-update` approves what they look like now: look at the pictures
in `__snapshots__` before they are committed. A failure writes both side by side into `snapshot_report.html`.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from textual.pilot import Pilot

from core import status
from core.browse import attempt_detail
from core.browse.command_line import Roots
from core.browse.index import open_index
from core.run.layout import INDEX, Operation, RunLayout
from core.run.lock import RunLock
from core.run.record import read_run
from tests.support.pictured import NOW, Pictured, pictured
from tests.support.screens import SIZES, shown, until
from tui import following, wallclock
from tui.app import BoresightApp
from tui.navigation import ShowAttempts, ShowFile, ShowManifest, ShowMonitor, ShowQueries, ShowResults
from tui.themes import COLOUR_BLIND, DARK, LIGHT
from tui.widgets.toml_area import TomlArea

NAME = "retrieval"  # of the folder, which stands in the title
Compare = Callable[..., bool]


class Scene(NamedTuple):
    """The folder's runs and files, and the app on it."""

    made: Pictured
    app: BoresightApp

    @property
    def timed_out(self) -> Operation:
        """A query that was ended at its limit."""
        root = self.made.failed / "operations" / "names-only" / "ledger"
        case = next(
            path.name.removeprefix("primary-")
            for path in sorted(root.glob("primary-*"))
            if not (path / "result.json").exists()
        )
        return Operation("names-only", "ledger", "primary", case)

    @property
    def lost(self) -> str:
        """A case that the last candidate misses."""
        with open_index(self.made.failed) as index:
            return next(row.id for row in index.page() if row.standings[-1].rank is None)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Pictured:
    home = tmp_path_factory.mktemp("home")
    made = pictured(home / NAME)
    for run in (made.failed, made.interrupted):
        open_index(run).close()
    return made


@pytest.fixture
def scene(template: Pictured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """Lay a copy of the folder into a home of its own, stop the clock, and hide what is this machine's."""
    folder = tmp_path / NAME
    shutil.copytree(template.folder, folder, symlinks=True)
    made = Pictured(folder, *(folder / path.relative_to(template.folder) for path in template[1:]))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    time.tzset()
    monkeypatch.setattr(wallclock, "now", lambda: NOW)
    monkeypatch.setattr(attempt_detail, "_roots", _pictured_roots)
    yield Scene(made, BoresightApp(folder, settings=tmp_path / "settings.toml"))
    monkeypatch.undo()
    time.tzset()


def _pictured_roots(record: Any, operation: Operation) -> Roots:
    run = f"/srv/{NAME}/{record.layout.root.name}"
    state = f"{run}/state/{operation.candidate}/{operation.repository}"
    return Roots(run, f"{run}/repositories/{operation.repository}", state, "/usr/bin/python3")


View = Callable[[Scene, Pilot[Any]], Awaitable[None]]


async def campaigns(scene: Scene, pilot: Pilot[Any]) -> None:
    await until(pilot, lambda: "of 246 operations failed" in " ".join(shown(scene.app).split()))


async def menu(scene: Scene, pilot: Pilot[Any]) -> None:
    await campaigns(scene, pilot)
    await pilot.press("enter")
    await until(pilot, lambda: "Inspect failures" in shown(scene.app))


async def help_text(scene: Scene, pilot: Pilot[Any]) -> None:
    await campaigns(scene, pilot)
    await pilot.press("question_mark")
    await until(pilot, lambda: "Every run below" in shown(scene.app))


async def manifest(scene: Scene, pilot: Pilot[Any]) -> None:
    scene.app.post_message(ShowManifest(scene.made.campaign))
    await until(pilot, lambda: "ready to run" in shown(scene.app))


async def manifest_as_text(scene: Scene, pilot: Pilot[Any]) -> None:
    await manifest(scene, pilot)
    await pilot.press("ctrl+t")
    area = scene.app.screen.query_one(TomlArea)
    await until(pilot, lambda: area.has_focus and "Which part of a file" in shown(scene.app))
    area.cursor_blink = False


async def monitor(scene: Scene, pilot: Pilot[Any]) -> None:
    scene.app.post_message(ShowMonitor(scene.made.interrupted))
    await until(pilot, lambda: "61 of 246" in " ".join(shown(scene.app).split()))


async def results(scene: Scene, pilot: Pilot[Any]) -> None:
    scene.app.post_message(ShowResults(scene.made.failed))
    await until(pilot, lambda: "verified 09:30:00" in " ".join(shown(scene.app).split()))


async def intents(scene: Scene, pilot: Pilot[Any]) -> None:
    await results(scene, pilot)
    await pilot.press("]")
    await until(pilot, lambda: "symbol" in shown(scene.app))


async def queries(scene: Scene, pilot: Pilot[Any]) -> None:
    scene.app.post_message(ShowQueries(scene.made.failed))
    await until(pilot, lambda: "1–40 of 40" in shown(scene.app))


async def filters(scene: Scene, pilot: Pilot[Any]) -> None:
    await queries(scene, pilot)
    await pilot.press("f")
    await until(pilot, lambda: "40 cases fulfil this" in shown(scene.app))


async def case(scene: Scene, pilot: Pilot[Any]) -> None:
    scene.app.post_message(ShowQueries(scene.made.failed, case=scene.lost))
    await until(pilot, lambda: "query words stand in the target" in shown(scene.app))


async def attempts(scene: Scene, pilot: Pilot[Any]) -> None:
    scene.app.post_message(ShowAttempts(scene.made.failed, operation=scene.timed_out))
    await until(pilot, lambda: "What to do" in shown(scene.app))


async def pager(scene: Scene, pilot: Pilot[Any]) -> None:
    operation = Operation("whole-text", "parcel", INDEX)
    path = RunLayout(scene.made.failed).attempt(operation, 1) / "stdout"
    scene.app.post_message(ShowFile(path, f"{operation}  attempt 1  stdout"))
    await until(pilot, lambda: "100 %" in shown(scene.app))


VIEWS: Mapping[str, View] = {
    view.__name__: view
    for view in (
        *(campaigns, menu, help_text, manifest, manifest_as_text, monitor, results, intents),
        *(queries, filters, case, attempts, pager),
    )
}


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    found: tuple[int, int] = request.param
    return found


@pytest.fixture
def held(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the interrupted run look as if an engine executed it just now."""
    monkeypatch.setattr(status, "STALLED_AFTER_SECONDS", float("inf"))
    monkeypatch.setattr(following, "STALLED_AFTER_SECONDS", float("inf"))
    lock = RunLock(read_run(scene.made.interrupted).layout.lock)
    lock.acquire()
    yield
    lock.release()


@pytest.mark.parametrize("view", VIEWS)
def test_every_screen(scene: Scene, snap_compare: Compare, view: str, size: tuple[int, int]) -> None:
    assert _looks_as_before(scene, snap_compare, VIEWS[view], size)


def test_a_run_that_goes_on(scene: Scene, held: None, snap_compare: Compare, size: tuple[int, int]) -> None:
    assert _looks_as_before(scene, snap_compare, monitor, size)


@pytest.mark.parametrize("view", ["results", "queries", "manifest_as_text"])
@pytest.mark.parametrize("theme", [LIGHT, COLOUR_BLIND])
def test_every_theme_but_the_first(scene: Scene, snap_compare: Compare, theme: str, view: str) -> None:
    assert scene.app.theme == DARK
    scene.app.theme = theme
    assert _looks_as_before(scene, snap_compare, VIEWS[view], SIZES[0])


def _looks_as_before(scene: Scene, compare: Compare, view: View, size: tuple[int, int]) -> bool:
    failures: list[BaseException] = []

    async def show(pilot: Pilot[Any]) -> None:
        try:
            await view(scene, pilot)
            await pilot.pause()
        except BaseException as error:  # the picture would be taken all the same
            failures.append(error)

    same = compare(scene.app, terminal_size=size, run_before=show)
    if failures:
        raise failures[0]
    assert scene.app.defect is None
    return same
