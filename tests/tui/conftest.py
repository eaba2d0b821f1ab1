"""No test of the app reads or writes the settings of the person who runs it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.worker import Worker, WorkerState

import tui.app
from core import api
from tests.support.finished import _made as make_finished
from tui import navigation
from tui.app import BoresightApp


@pytest.fixture(autouse=True)
def own_settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a configuration folder of its own; return where the settings file would lie."""
    folder = tmp_path_factory.mktemp("config")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    monkeypatch.setenv("HOME", str(folder))  # where the platform keeps it elsewhere
    for variable in ("VISUAL", "EDITOR", "TMUX", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    return folder / "boresight" / "settings.toml"


@pytest.fixture(autouse=True)
def _made_outside(_fake_retriever: None) -> None:
    """Make the finished run that tests copy before an event loop runs, as making it needs one of its own."""
    make_finished(os.getpid(), False)


@pytest.fixture(autouse=True)
def defects(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Fail a test in which a thread ended with what nobody expected; one that means to empties the list."""
    found: list[str] = []
    tell = BoresightApp.tell_defect

    def kept(app: BoresightApp, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            found.append(f"{event.worker.name}: {event.worker.error!r}")
        tell(app, event)

    monkeypatch.setattr(BoresightApp, "tell_defect", kept)
    yield found
    assert found == []


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[navigation.Show]:
    """Let plain screens stand in for those of other modules; return what was asked for, as it comes."""
    made = tui.app._made
    kept: list[navigation.Show] = []

    def stand_in(folder: Path, wanted: navigation.Show) -> Screen[Any]:
        kept.append(wanted)
        return made(folder, wanted) if isinstance(wanted, navigation.ShowMonitor) else StandIn()

    monkeypatch.setattr(tui.app, "_made", stand_in)
    return kept


class StandIn(Screen[None]):
    """A screen with nothing on it but the way back."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "app.pop_screen", "Back")]


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch) -> list[api.OpenRun]:
    """Let no process be started: return the runs that one was to be started for, as they come."""
    kept: list[api.OpenRun] = []

    def detach(opened: api.OpenRun) -> int:
        kept.append(opened)
        opened.close()
        return 1

    monkeypatch.setattr(api, "detach", detach)
    return kept
