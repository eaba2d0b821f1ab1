"""The repository and the bank of a new campaign: looked at while they are typed, in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from textual import on, work
from textual.screen import ScreenResultType
from textual.timer import Timer
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from core import api
from core.banks.case import Bank
from core.campaign.yields import find_yields
from core.errors import BoresightError, StoppedError
from core.git import top_level
from core.text import printable
from tui.editing import choices
from tui.editing.choices import Look
from tui.screens.base import BoresightScreen
from tui.text import safe_lines
from tui.widgets.path_input import typed_path

DEBOUNCE_S = 0.4
TOLD_EVERY = 50  # files


class PlacesScreen(BoresightScreen[ScreenResultType]):
    """A page with the inputs `new-repository` and `new-bank`; override `show_look`."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.found = Look()  # at the places that were typed when it began
        self._given: dict[str, Path] = {printable(str(folder)): folder}  # paths by how they are shown
        self._looked_at: tuple[str, ...] = ()
        self._timer: Timer | None = None
        self._is_shown = asyncio.Event()

    def show_look(self, look: Look) -> None:
        """Show what was found; does nothing unless overridden."""

    def tell(self, widget: str, text: str, wrong: bool = False) -> None:
        """Say something below a choice."""
        told = self.query_one(f"#{widget}", Static)
        told.update(safe_lines(f"✖ {text}" if wrong else text))
        told.set_class(wrong, "-wrong")
        told.display = bool(text)

    def give(self, selector: str, path: Path) -> None:
        """Type a path that was chosen, which may hold what cannot be typed."""
        shown = printable(str(path))
        self._given[shown] = path
        self.query_one(selector, Input).value = shown

    @on(Input.Changed, "#new-repository")
    @on(Input.Changed, "#new-bank")
    def _place_changed(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(DEBOUNCE_S, self._look_soon)

    def _look_soon(self) -> None:
        """Look where something else is typed than was looked at: looking again would undo choices."""
        if self._typed_places() != self._looked_at:
            self.look()

    def _typed_places(self) -> tuple[str, ...]:
        return tuple(self.query_one(f"#new-{name}", Input).value.strip() for name in ("repository", "bank"))

    @work(thread=True, exclusive=True, group="look", exit_on_error=False)
    def look(self) -> None:
        """Look at the repository and the bank that are typed."""
        worker, places = get_current_worker(), self._typed_places()
        self._looked_at = places

        def tell(widget: str, text: str, wrong: bool = False) -> None:
            if not worker.is_cancelled:
                self.app.call_from_thread(self.tell, widget, text, wrong)

        def on_file(done: int, total: int) -> None:
            if worker.is_cancelled:
                raise StoppedError("another repository was named")
            if done % TOLD_EVERY == 0:
                tell("told-repository", f"reading {done:,} of {total:,} files …")

        bank = self._look_at_bank(tell)
        try:
            yields, root = None, None
            if bank is None:
                yields = find_yields(self.path("#new-repository"), on_file=on_file)
                root = yields.entry.path
            else:
                root = top_level(self.path("#new-repository"))
            look = Look(places, yields, bank, root)
        except StoppedError:
            return
        except (BoresightError, OSError) as error:
            tell("told-repository", str(error), True)
            look = Look(places, None, bank, None)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._take, look)

    def _look_at_bank(self, say: Callable[..., None]) -> Bank | None:
        text = self.query_one("#new-bank", Input).value.strip()
        if not text:
            say("told-bank", "")
            return None
        try:
            bank = api.read_bank(self.path("#new-bank"))
        except BoresightError as error:
            say("told-bank", str(error), True)
            return None
        say("told-bank", choices.bank_words(bank))
        return bank

    def path(self, selector: str) -> Path:
        """Return the path that is typed, as an absolute one."""
        text = self.query_one(selector, Input).value.strip()
        return self._given.get(text) or typed_path(self.folder, text)

    def _take(self, look: Look) -> None:
        self.found = look
        self.show_look(look)
        self._is_shown.set()

    async def seen(self, wait: Callable[[], object]) -> Look:
        """Return what is found at the places that are typed now; `wait` is called before each look."""
        while self.found.places != self._typed_places():
            wait()
            self._is_shown.clear()
            self._look_soon()
            await self._is_shown.wait()
        return self.found
