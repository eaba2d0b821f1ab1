"""Screen 6: failures by class, an attempt with its digests, and what can be done with either."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import shutil
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import pytest
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import Input, Label, OptionList

from core import api
from core.browse.attempt_detail import read_attempt
from core.browse.branches import Branch
from core.run.evidence import Validation, begin_attempt
from core.run.layout import Operation, RunLayout
from core.run.lock import RunLock, is_held
from core.run.record import read_run
from tests.support.campaigns import campaign, fake, make_scene, run_new
from tests.support.finished import finished_run
from tests.support.screens import SIZES, shown, until, unwrapped
from tests.unit.browse.runs import EMPTY_RANKING, add_attempt, narrate, primaries, varied_run
from tui.app import BoresightApp
from tui.attempts import reading
from tui.attempts.reading import Compared, compared
from tui.attempts.text import branch_content
from tui.navigation import FixAndContinue, RetryRun, ShowAttempts
from tui.screens import live_index
from tui.screens.attempts import NEWER, AttemptsScreen
from tui.screens.dialogs import ChoiceDialog, TextDialog
from tui.screens.pager import PagerScreen
from tui.widgets.attempt_panel import AttemptPanel
from tui.widgets.attempt_tree import AttemptTree

HOSTILE = "[/foo] bar [/] [X=http://a] \x1b]52;c;cHduZWQ=\x07 \u202eabc \x00"


class Recorded(BoresightApp):
    """The app, with what it was asked for instead of doing it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.copied: list[str] = []
        self.edited: list[Path] = []
        self.exported: list[tuple[str, Sequence[str], list[object]]] = []

    def copy(self, text: str) -> None:
        self.copied.append(text)

    def edit(self, path: Path) -> None:
        self.edited.append(path)

    def export(  # type: ignore[override]
        self, run: Path, name: str, header: Sequence[str], rows: Iterable[tuple[str | None, Sequence[object]]]
    ) -> None:
        self.exported.append((name, header, list(rows)))


class Asking(AttemptsScreen):
    """The screen, with what it asks of the app instead of having it done."""

    def __init__(self, run: Path, operation: Operation | None, candidate: str | None) -> None:
        super().__init__(run, operation, candidate)
        self.wanted: list[Message] = []

    def post_message(self, message: Message) -> bool:
        if isinstance(message, RetryRun | FixAndContinue):
            self.wanted.append(message)
            return True
        return super().post_message(message)


class Shown:
    """The attempts of a run in an app."""

    def __init__(self, run: Path, operation: Operation | None = None, candidate: str | None = None) -> None:
        self.app = Recorded(run.parent)
        self.screen = Asking(run, operation, candidate)

    async def ready(self, pilot: Pilot[int], text: str = "failed") -> None:
        await until(pilot, lambda: self.app.screen_stack)
        self.app.push_screen(self.screen)
        await until(pilot, lambda: text in self.head())

    def head(self) -> str:
        found = self.screen.query("#attempts-head")
        return str(found.first().render()) if found else ""

    def panel(self) -> str:
        return str(self.screen.query_one("#attempt-text").render())

    @property
    def tree(self) -> AttemptTree:
        return self.screen.query_one(AttemptTree)

    async def go(self, pilot: Pilot[int], kind: str, name: str = "") -> None:
        """Put the cursor on the first branch of a kind whose label holds a name."""

        def found() -> bool:
            for line in range(self.tree.last_line + 1):
                node = self.tree.get_node_at_line(line)
                data = node.data if node else None
                if data is not None and data.kind == kind and name in f"{node.label} {data.key}":  # type: ignore[union-attr]
                    self.tree.move_cursor(node)
                    return True
            return False

        await until(pilot, found)
        await pilot.pause()

    async def open(self, pilot: Pilot[int], *path: tuple[str, str]) -> None:
        """Go down a path of branches, opening each."""
        for kind, name in path:
            await self.go(pilot, kind, name)
            node = self.tree.cursor_node
            if node is not None and not node.is_expanded:
                await pilot.press("enter")


NONZERO = (("class", "nonzero_exit"), ("cell", "b × store"), ("operation", ""))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return varied_run(tmp_path)


def broken(run: Path) -> Operation:
    """Return an operation of `b` that failed with an exit code."""
    return next(
        each.operation
        for each in api.failures(run)
        if each.error_class == "nonzero_exit" and each.operation.candidate == "b"
    )


@pytest.mark.parametrize("size", SIZES)
async def test_failures_stand_first_with_counts_and_a_plain_explanation(
    run: Path, size: tuple[int, int]
) -> None:
    shown_run = Shown(run)
    async with shown_run.app.run_test(size=size) as pilot:
        await shown_run.ready(pilot, "failed")
        await until(pilot, lambda: "What to do" in shown_run.panel())
        counts: dict[str, int] = {}
        for failure in api.failures(run):
            counts[failure.error_class] = counts.get(failure.error_class, 0) + 1
        text = shown(shown_run.app)
        for name, count in counts.items():
            assert f"✖ {name} ({count})" in text
        await shown_run.go(pilot, "class", "invalid_json")
        await until(pilot, lambda: "not valid JSON" in shown_run.panel())
        await shown_run.go(pilot, "missing")
        await until(pilot, lambda: "never asked because" in shown_run.panel())
        await shown_run.go(pilot, "candidate", "a (")
        await until(pilot, lambda: "17 operations" in shown_run.panel())


@pytest.mark.parametrize("size", SIZES)
async def test_an_attempt_tells_all_that_is_known_of_it(run: Path, size: tuple[int, int]) -> None:
    shown_run = Shown(run)
    async with shown_run.app.run_test(size=size) as pilot:
        await shown_run.ready(pilot)
        await shown_run.open(pilot, *NONZERO)
        await shown_run.go(pilot, "attempt", "attempt 1")
        await until(pilot, lambda: "✔ matches" in shown_run.panel())
        panel = shown_run.panel()
        for told in (
            "✖ failed: nonzero_exit",
            "exit code 3",
            "Timed out   no",
            "s user",
            "sampled over its processes",
            "largest process",
            "UTC",
            "Disturbed   no",
            "measurement.json ? not recorded",
            "│ something broke",
            "fake_tool.py",
            "attempt-0001",
            "What to do",
        ):
            assert told in panel
        assert "b × store" in shown(shown_run.app)


@pytest.mark.parametrize("size", SIZES)
async def test_keys_open_outputs_copy_and_edit(run: Path, size: tuple[int, int]) -> None:
    shown_run = Shown(run, broken(run))
    async with shown_run.app.run_test(size=size) as pilot:
        await shown_run.ready(pilot)
        await until(pilot, lambda: "nonzero_exit" in shown_run.panel())
        folder = RunLayout(run).attempt(broken(run), 1)
        for key, name in (("o", "stdout"), ("O", "stderr"), ("E", "stderr")):
            await pilot.press(key)
            await until(pilot, lambda: isinstance(shown_run.app.screen, PagerScreen))
            assert shown_run.app.screen.path == folder / name  # type: ignore[attr-defined]
            await pilot.press("escape")
            await until(pilot, lambda: shown_run.app.screen is shown_run.screen)
        await shown_run.go(pilot, "attempt", "attempt 1")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(shown_run.app.screen, PagerScreen))
        await pilot.press("escape")
        await until(pilot, lambda: shown_run.app.screen is shown_run.screen)
        await pilot.press("y", "Y")
        await until(pilot, lambda: len(shown_run.app.copied) == 2)
        assert shown_run.app.copied[0].startswith(f"(cd {run}/state/b/store && env ")
        assert shown_run.app.copied[1] == str(folder)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(shown_run.app.screen, ChoiceDialog))
        assert "command.json" in shown(shown_run.app)
        await pilot.press("enter")
        await until(pilot, lambda: shown_run.app.edited == [folder / "stdout"])


@pytest.mark.parametrize("size", SIZES)
async def test_changed_output_is_found_on_the_spot(run: Path, size: tuple[int, int]) -> None:
    operation = primaries(run, "a")[0]
    shown_run = Shown(run, operation)
    async with shown_run.app.run_test(size=size, notifications=True) as pilot:
        await shown_run.ready(pilot)
        await until(pilot, lambda: shown_run.panel().count("✔ matches") == 4)
        assert "the one that counts" in shown_run.panel()
        (RunLayout(run).attempt(operation, 1) / "stdout").write_bytes(b"other")
        await pilot.press("v")
        await until(pilot, lambda: "✖ stdout changed since it was recorded" in shown_run.panel())
        await until(pilot, lambda: "differ: stdout" in shown(shown_run.app))
        await until(pilot, lambda: "≠ 1 changed" in shown_run.head())
        await shown_run.go(pilot, "changed")
        await until(pilot, lambda: "differs from the digests" in shown_run.panel())


@pytest.mark.parametrize("size", SIZES)
async def test_what_was_found_of_a_large_output_stays_once_the_index_knows_of_it(
    run: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "CHECKED_AT_ONCE", 0)
    operation = primaries(run, "a")[0]
    shown_run = Shown(run, operation)
    async with shown_run.app.run_test(size=size) as pilot:
        await shown_run.ready(pilot)
        await until(pilot, lambda: "not compared yet: press v" in shown_run.panel())
        (RunLayout(run).attempt(operation, 1) / "stdout").write_bytes(b"other")
        await pilot.press("v")
        await until(pilot, lambda: "≠ 1 changed" in shown_run.head())
        await until(pilot, lambda: shown_run.screen._seen and shown_run.screen._seen.status == "changed")
        await until(pilot, lambda: not [each for each in shown_run.app.workers if each.group == "read"])
        assert "✖ stdout changed since it was recorded" in shown_run.panel()
        assert "command.json     ✔ matches" in shown_run.panel()
        assert "not compared yet" not in shown_run.panel()


@pytest.mark.parametrize("what", ["size", "time", "record"])
def test_what_was_found_of_a_large_file_holds_for_the_file_as_it_was(
    run: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(reading, "CHECKED_AT_ONCE", 0)
    operation, found = primaries(run, "a")[0], Compared()
    detail = read_attempt(read_run(run), operation, 1)
    first = compared(detail, lambda: False, found, all_files=True)
    assert first["stdout"] == "matches"
    assert compared(detail, lambda: False, found, all_files=False)["stdout"] == "matches"
    stdout = detail.file("stdout")
    if what == "size":
        stdout.path.write_bytes(b"other")
    elif what == "time":
        os.utime(stdout.path, (0, 0))
    else:
        files = tuple(file._replace(recorded_sha256="0" * 64) for file in detail.files)
        detail = detail._replace(files=files)
    assert "stdout" not in compared(detail, lambda: False, found, all_files=False)
    assert compared(detail, lambda: True, found, all_files=True).get("stdout") is None
    assert "stdout" in compared(detail, lambda: False, found, all_files=True)


@pytest.mark.parametrize("size", SIZES)
async def test_filter_sort_and_failures_alone_change_what_is_shown_and_exported(
    run: Path, size: tuple[int, int]
) -> None:
    shown_run = Shown(run)
    async with shown_run.app.run_test(size=size) as pilot:
        await shown_run.ready(pilot)
        await pilot.press("f")
        await until(pilot, lambda: "failures alone" in shown_run.head())
        await until(pilot, lambda: "without a result (" not in shown(shown_run.app))
        await pilot.press("x")
        await until(pilot, lambda: shown_run.app.exported)
        name, header, rows = shown_run.app.exported[0]
        assert (name, header[0], len(rows)) == ("attempts", "candidate", len(api.failures(run)))
        await pilot.press("f", "s")
        await until(pilot, lambda: "slowest first" in shown_run.head())
        await pilot.press("slash")
        shown_run.screen.query_one("#attempts-filter", Input).value = "INVALID_json"
        await pilot.press("enter")
        await until(pilot, lambda: "filter 'INVALID_json'" in shown_run.head())
        await until(pilot, lambda: "nonzero_exit" not in shown(shown_run.app))
        await until(pilot, lambda: "✖ invalid_json" in shown_run.panel())
        await pilot.press("slash", "escape")
        assert shown_run.app.screen is shown_run.screen
        await pilot.press("slash")
        shown_run.screen.query_one("#attempts-filter", Input).value = HOSTILE.replace("\x00", "")
        await pilot.press("enter")
        await until(pilot, lambda: "Nothing here holds" in shown_run.panel())
        await pilot.press("escape")
        await until(pilot, lambda: shown_run.app.screen is not shown_run.screen)


@pytest.mark.parametrize("size", SIZES)
async def test_a_retry_says_how_many_and_asks_for_just_these(tmp_path: Path, size: tuple[int, int]) -> None:
    run = await failed_run(tmp_path)
    shown_run = Shown(run)
    async with shown_run.app.run_test(size=size) as pilot:
        await shown_run.ready(pilot)
        await shown_run.go(pilot, "class", "timeout")
        await pilot.press("r")
        await until(pilot, lambda: isinstance(shown_run.app.screen, ChoiceDialog))
        failed = api.failures(run)
        assert f"Retry {len(failed)} failed operations?" in " ".join(shown(shown_run.app).split())
        await pilot.press("enter")
        await until(pilot, lambda: shown_run.screen.wanted)
        asked = shown_run.screen.wanted[0]
        assert isinstance(asked, RetryRun)
        assert asked.only == frozenset(failure.operation for failure in failed)
        await shown_run.go(pilot, "candidate", "")
        await pilot.press("c")
        await until(pilot, lambda: isinstance(shown_run.screen.wanted[-1], FixAndContinue))


async def test_fixing_a_run_in_which_nothing_failed_says_so_and_writes_nothing(tmp_path: Path) -> None:
    finished = finished_run(tmp_path)
    app = BoresightApp(finished.folder)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await until(pilot, lambda: app.screen_stack)
        app.screen.post_message(ShowAttempts(finished.run))
        await until(pilot, lambda: isinstance(app.screen, AttemptsScreen) and "none of which" in shown(app))
        before = sorted(finished.folder.iterdir())
        await pilot.press("c")
        await until(pilot, lambda: "nooperationhasfailed,sothereisnothingtofix" in unwrapped(app))
        await until(pilot, lambda: not [each for each in app.workers if each.group in {"fix", "work"}])
        assert isinstance(app.screen, AttemptsScreen) and sorted(finished.folder.iterdir()) == before
        assert app.fixing == {}


async def test_a_retry_runs_in_a_process_of_its_own_and_is_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "detach", partial(detached, api.detach))
    run = await failed_run(tmp_path)
    operation = api.failures(run)[0].operation
    app = BoresightApp(tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.screen_stack)
        app.screen.post_message(ShowAttempts(run, operation))
        await until(pilot, lambda: isinstance(app.screen, AttemptsScreen))
        await until(pilot, lambda: "timeout" in shown(app) and app.screen.query_one(AttemptTree).chosen)
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press("enter")
        await until(pilot, lambda: RunLayout(run).attempts(operation) == (1, 2), 60)
        await until(pilot, lambda: run in app.started, 60)
        await until(pilot, lambda: not is_held(RunLayout(run).lock), 60)
    others = [failure.operation for failure in api.failures(run) if failure.operation != operation]
    assert others and all(RunLayout(run).attempts(other) == (1,) for other in others)


@pytest.mark.parametrize("size", SIZES)
async def test_the_head_keeps_up_with_a_run_that_goes_on_and_says_when_the_tree_does_not(
    run: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_index, "LIVE_SECONDS", 0.1)
    monkeypatch.setattr(live_index, "REST", 0)
    operation = primaries(run, "a")[0]
    shutil.rmtree(RunLayout(run).operation(operation))
    lock = RunLock(RunLayout(run).lock)
    lock.acquire()
    shown_run = Shown(run)
    async with shown_run.app.run_test(size=size) as pilot:
        await shown_run.ready(pilot, "● being written")
        await until(pilot, lambda: "b × store (4)" in labels(shown_run))
        failed, tree = failures_told(shown_run), labels(shown_run)
        assert NEWER not in shown_run.head()
        await asyncio.to_thread(add_attempt, run, operation, Validation("failed", "timeout"))
        narrate(run)
        await until(pilot, lambda: shown_run.screen._was_live)
        lock.release()
        await until(pilot, lambda: failures_told(shown_run) == failed + 1)
        await until(pilot, lambda: "being written" not in shown_run.head())
        assert NEWER in shown_run.head()
        assert labels(shown_run) == tree
        await pilot.press("f5")
        await until(pilot, lambda: labels(shown_run) != tree and "reading" not in labels(shown_run))
        assert NEWER not in shown_run.head()


def failures_told(shown_run: Shown) -> int:
    """Return how many failures the head tells."""
    found = re.search(r"(\d+) failed", shown_run.head())
    return int(found[1]) if found else 0


@pytest.mark.parametrize("size", SIZES)
async def test_a_retry_that_would_be_refused_says_why_beforehand(run: Path, size: tuple[int, int]) -> None:
    lock = RunLock(RunLayout(run).lock)
    lock.acquire()
    shown_run = Shown(run)
    async with shown_run.app.run_test(size=size, notifications=True) as pilot:
        await shown_run.ready(pilot, "● being written")
        await pilot.press("r")
        await until(pilot, lambda: isinstance(shown_run.app.screen, ChoiceDialog))
        told = [str(label.render()) for label in shown_run.app.screen.query(Label)]
        assert any("another process writes to this run" in text for text in told)
        choices = shown_run.app.screen.query_one(OptionList)
        assert choices.get_option("retry").disabled and choices.highlighted == 0
        await pilot.press("enter")
        await until(pilot, lambda: shown_run.screen.wanted)
        assert isinstance(shown_run.screen.wanted[0], FixAndContinue)
        await shown_run.go(pilot, "missing")
        await pilot.press("r")
        await until(pilot, lambda: "Nothing here failed" in shown(shown_run.app))
    lock.release()


@pytest.mark.parametrize("size", SIZES)
async def test_what_was_written_half_is_shown_as_such(run: Path, size: tuple[int, int]) -> None:
    layout = RunLayout(run)
    half, never, unread = primaries(run, "a")[:3]
    for operation in (half, unread):
        layout.result(operation).unlink()
    (layout.attempt(half, 1) / "measurement.json").unlink()
    (layout.attempt(half, 1) / "command.json").write_bytes(b'{"format": "boresi')
    (layout.attempt(unread, 1) / "measurement.json").write_bytes(b"{")
    shutil.rmtree(layout.operation(never))
    for operation, told in ((half, "◐ interrupted"), (never, "Never run"), (unread, "cannot be read")):
        shown_run = Shown(run, operation)
        async with shown_run.app.run_test(size=size) as pilot:
            await shown_run.ready(pilot)
            await until(pilot, partial(lambda told: told in shown_run.panel(), told))  # noqa: B023
            await pilot.press("o", "escape", "y", "v", "r")
            await pilot.pause(0.2)


@pytest.mark.parametrize("size", SIZES)
async def test_nothing_in_evidence_can_act(run: Path, size: tuple[int, int]) -> None:
    layout = RunLayout(run)
    operation = broken(run)
    folder = layout.attempt(operation, 1)
    record = json.loads((folder / "measurement.json").read_text())
    record["validation"] = {"status": "failed", "error_class": HOSTILE, "message": HOSTILE * 50_000}
    record["measurement"] |= {"signal": HOSTILE, "started_at": HOSTILE, "exit_code": None}
    (folder / "measurement.json").write_text(json.dumps(record))
    command = json.loads((folder / "command.json").read_text())
    command["command"]["steps"][0] |= {
        "argv": [HOSTILE],
        "environment": {HOSTILE: HOSTILE},
        "secrets": [HOSTILE],
    }
    (folder / "command.json").write_text(json.dumps(command))
    (folder / "stdout").write_bytes(HOSTILE.encode() * 30_000)
    (folder / "stderr").unlink()
    os.mkfifo(folder / "stderr")
    shown_run = Shown(run, operation)
    async with shown_run.app.run_test(size=size) as pilot:
        await shown_run.ready(pilot)
        await until(
            pilot, lambda: "[/foo] bar" in shown_run.panel() and "✖ stdout changed" in shown_run.panel()
        )
        assert "no regular file" in shown_run.panel()
        for key in ("tab", "end", "tab", "v", "y", "f", "s"):
            await pilot.press(key)
        await pilot.pause(0.3)
        assert not {"\x1b", "\x07", "\x00", "\u202e"} & set(shown(shown_run.app) + shown_run.panel())
        assert shown_run.app.copied[0].isprintable()
        await pilot.press("o")
        await until(pilot, lambda: "[/foo] bar" in shown(shown_run.app))


async def test_it_opens_at_a_candidate_and_comes_back_to_where_it_was(run: Path) -> None:
    shown_run = Shown(run, candidate="c")
    async with shown_run.app.run_test(size=(160, 50)) as pilot:
        await shown_run.ready(pilot)
        await until(pilot, lambda: shown_run.tree.chosen and shown_run.tree.chosen.key == "candidate:c")
        await shown_run.open(pilot, ("cell", "candidate:c/store"))
        await shown_run.go(pilot, "operation", "candidate:c/store")
        key = shown_run.tree.chosen.key  # type: ignore[union-attr]
        await pilot.press("f5")
        await until(pilot, lambda: shown_run.tree.chosen and shown_run.tree.chosen.key == key)


async def test_a_run_that_is_none_says_so(tmp_path: Path) -> None:
    shown_run = Shown(tmp_path / "gone")
    async with shown_run.app.run_test(size=(80, 24)) as pilot:
        await shown_run.ready(pilot, "cannot be read")
        await until(pilot, lambda: isinstance(shown_run.app.screen, TextDialog))
        await pilot.press("escape")
        for key in ("o", "v", "r", "y", "Y", "e", "f", "s", "x", "f5"):
            await pilot.press(key)
        await until(pilot, lambda: isinstance(shown_run.app.screen, TextDialog))


async def test_the_text_can_be_scrolled_by_keys(run: Path) -> None:
    shown_run = Shown(run, broken(run))
    async with shown_run.app.run_test(size=(80, 24)) as pilot:
        await shown_run.ready(pilot)
        await until(pilot, lambda: "stderr" in shown_run.panel())
        await pilot.press("tab", "end")
        panel = shown_run.screen.query_one(AttemptPanel)
        await until(pilot, lambda: panel.scroll_y > 0)
        await until(pilot, lambda: "stderr" in shown(shown_run.app))


def detached(detach: Callable[..., int], opened: api.OpenRun) -> int:
    """Host a run at once, whatever else is measured here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # of a child that goes on, as it is meant to
        process = detach(opened, together=True)
        gc.collect()
        return process


async def failed_run(folder: Path) -> Path:
    """Return a run of the embedded retriever whose queries all were too slow for their limit."""
    entry = {"id": "words", "retriever": "embedded", "engine": "lexical", "config": {}}
    candidate = api.Candidate("words", entry, folder, "candidates (words)")
    limits = api.Limits(query_timeout=0.001)
    scene = make_scene(folder, per_intent=1)
    asked = campaign(scene, candidate, limits=limits)
    opened = await asyncio.to_thread(api.create_run, asked, folder / "run")
    await api.execute(opened, together=True)
    assert {failure.error_class for failure in api.failures(folder / "run")} == {"timeout"}
    return folder / "run"


@pytest.mark.parametrize("size", SIZES)
async def test_right_opens_a_branch_and_left_closes_it_or_goes_up(run: Path, size: tuple[int, int]) -> None:
    shown_run = Shown(run)
    async with shown_run.app.run_test(size=size) as pilot:
        await shown_run.ready(pilot)
        tree = shown_run.tree
        await shown_run.go(pilot, "candidate")
        node = tree.cursor_node
        assert node is not None and node.is_collapsed
        await pilot.press("right")
        await until(pilot, lambda: node.is_expanded and node.children[0].data is not None)
        await pilot.press("right")
        await until(pilot, lambda: tree.cursor_node is node.children[0])
        if tree.cursor_node is not None and tree.cursor_node.is_expanded:
            await pilot.press("left")
            await until(pilot, lambda: node.children[0].is_collapsed)
        await pilot.press("left")
        await until(pilot, lambda: tree.cursor_node is node)
        await pilot.press("left")
        await until(pilot, lambda: node.is_collapsed)


async def test_what_a_failed_index_kept_from_being_asked_is_told_apart(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, per_intent=1)
    asked = campaign(scene, fake("a", index="dies"), fake("b"))
    await asyncio.to_thread(run_new, asked, tmp_path / "run")
    shown_run = Shown(tmp_path / "run")
    async with shown_run.app.run_test(size=SIZES[1]) as pilot:
        await shown_run.ready(pilot)
        assert "✖ 1 failed · 8 not asked (index failed)" in shown_run.head()
        assert "without a result" not in shown_run.head()


@pytest.mark.parametrize("size", SIZES)
async def test_attempts_agree_on_which_counts_once_evidence_changed(run: Path, size: tuple[int, int]) -> None:
    operation = primaries(run, "b")[0]
    shutil.rmtree(RunLayout(run).operation(operation))
    for _ in range(2):
        add_attempt(run, operation, Validation("failed", "nonzero_exit", "no"))
    add_attempt(run, operation, Validation("accepted", returned=0), EMPTY_RANKING, accept=True)
    (RunLayout(run).attempt(operation, 3) / "stdout").write_bytes(b"other")
    shown_run = Shown(run, operation)
    async with shown_run.app.run_test(size=size) as pilot:
        await shown_run.ready(pilot)
        await until(pilot, lambda: "attempt 3 of 3" in shown_run.panel())
        panel = shown_run.panel()
        assert "no attempt counts: its evidence changed since" in panel and "✔ accepted" not in panel
        assert "≠ accepted, then its evidence changed" in panel
        await shown_run.go(pilot, "attempt", "attempt 1")
        await until(pilot, lambda: "attempt 1 of 3" in shown_run.panel())
        assert "no attempt counts: the evidence of attempt 3 changed since" in shown_run.panel()
        assert "≠ attempt 3" in labels(shown_run)


def labels(shown_run: Shown) -> str:
    lines = range(shown_run.tree.last_line + 1)
    nodes = (shown_run.tree.get_node_at_line(line) for line in lines)
    return "\n".join(str(node.label) for node in nodes if node is not None)


@pytest.mark.parametrize("size", SIZES)
async def test_an_operation_that_is_being_run_is_said_to_be_under_way(
    run: Path, size: tuple[int, int]
) -> None:
    operation, other = primaries(run, "a")[:2]
    for each in (operation, other):
        shutil.rmtree(RunLayout(run).operation(each))
    lock = RunLock(RunLayout(run).lock)
    lock.acquire()
    begin_attempt(RunLayout(run), operation, {})
    shown_run = Shown(run, operation)
    async with shown_run.app.run_test(size=size) as pilot:
        await shown_run.ready(pilot, "● being written")
        await until(pilot, lambda: "● under way" in shown_run.panel())
        assert "interrupted" not in shown_run.panel()
        await until(pilot, lambda: "● attempt 1  under way" in labels(shown_run))
        assert re.search(r"● primary \S+  under way", labels(shown_run))
        await shown_run.go(pilot, "missing")
        await until(pilot, lambda: "these are under way" in shown_run.panel())
        lock.release()
        await pilot.press("f5")
        await until(pilot, lambda: "Resume the run" in shown_run.panel())
        await until(pilot, lambda: "◐ attempt 1  interrupted" in labels(shown_run))
        assert "under way" not in labels(shown_run)


async def test_counts_are_told_without_crosses_dots_and_retries_of_nothing(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, per_intent=1)
    asked = campaign(scene, fake("a", session=True))
    run = (await asyncio.to_thread(run_new, asked, tmp_path / "whole")).run
    shutil.rmtree(RunLayout(run).operation(primaries(run, "a")[0]))
    shown_run = Shown(run)
    async with shown_run.app.run_test(size=(160, 50)) as pilot:
        await shown_run.ready(pilot, "operations  ·  0 failed  ·  1 without a result")
        await shown_run.go(pilot, "candidate", "a")
        await until(pilot, lambda: "operations, none of which failed." in shown_run.panel())
        assert "retries" not in shown_run.panel()


@pytest.mark.parametrize(
    ("size", "failed", "told"),
    [
        (1, 0, "1 operation, which did not fail."),
        (1, 1, "1 operation, 1 of which failed. r  retries it."),
        (137, 10, "137 operations, 10 of which failed. r  retries them."),
    ],
)
def test_a_candidate_says_how_many_of_its_operations_failed(size: int, failed: int, told: str) -> None:
    assert told in branch_content(Branch("candidate:a", "candidate", "a", size=size, failed=failed)).plain
