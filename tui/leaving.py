"""Leaving: the app and its screens, without losing changes or a run by accident; and fixing a run."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from rich.console import RenderableType
from textual import on, work
from textual.await_complete import AwaitComplete
from textual.screen import Screen
from textual.widget import AwaitMount, Widget
from textual.worker import Worker, get_current_worker

from core import api
from core.errors import BoresightError
from core.regular import read_regular
from core.run.layout import RunLayout
from core.run.lock import is_executed
from tui import navigation
from tui.screens.base import is_away
from tui.screens.dialogs import Choice, ChoiceDialog
from tui.text import near
from tui.working import WorkingApp

STOP_SECONDS = 30.0
POLL_SECONDS = 0.1

KEEP = Choice("keep", "Keep running: its process goes on without this app")
STOP = Choice("stop", "Stop: the operation under way is ended and kept")
FORCE = Choice("force", "Stop by force, at once")
STAY = Choice("stay", "Stay here")


class LeavingApp(WorkingApp):
    """An app that asks before it leaves anything behind that matters."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._text_before: dict[Path, bytes | None] = {}  # what such a file held when it was opened
        self.fixing: dict[Path, Path] = {}  # by campaign file: the run that it was opened to fix
        self.asked: WeakKeyDictionary[Screen[Any], navigation.Show] = WeakKeyDictionary()
        self._leaving = False
        self._is_ending = False

    def ask_guards(self, screens: Sequence[Screen[Any]], then: Callable[[], None]) -> None:
        """Let each screen that may hold changes ask what becomes of them, upper ones first; then go on."""
        guarded = [screen for screen in screens if isinstance(screen, navigation.Guarded)]
        if not guarded:
            then()
            return
        upper = guarded[-1]
        rest = [screen for screen in guarded if screen is not upper]
        upper.leave(lambda: self.ask_guards(rest, then))

    def exit(
        self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        """Leave, once the screen in view is mounted; no other comes any more.

        Textual 8.2 mounts nothing for an app that is ending, so that a screen that comes then finds no parts.
        """
        self._is_ending = True
        leave = partial(super().exit, result, return_code, message)

        def once_mounted() -> None:
            if not self.screen_stack or self.screen.is_mounted or not self.screen.call_later(once_mounted):
                leave()

        if not self.call_later(once_mounted):
            leave()

    def _handle_exception(self, error: Exception) -> None:
        """End with a defect; but not with what a part of a screen that went trips over.

        Textual 8.2 takes parts away from below, and lets those that are left handle what came before.
        """
        raising = (frame.f_locals.get("self") for frame, _ in traceback.walk_tb(error.__traceback__))
        parts = [part for part in raising if isinstance(part, Widget) and _was_there(part)]
        if parts and (self._is_ending or any(map(is_away, parts))):
            self.log.error(f"{parts[-1]} is going: {error!r}")
        else:
            super()._handle_exception(error)

    def push_screen(self, *arguments: Any, **named: Any) -> Any:  # as long as Textual's own overloads are
        """Show a screen, unless the app is ending."""
        if self._is_ending and self.screen_stack:
            return AwaitMount(self.screen, [])
        return super().push_screen(*arguments, **named)

    async def action_quit(self) -> None:
        """Quit as `q` does."""
        self.action_leave()

    def action_leave(self) -> None:
        """Quit; where a run that this app started is going, ask what becomes of it."""
        self.ask_guards(self.screen_stack, self._leave)

    def _leave(self) -> None:
        self._ask_to_leave()

    @work(thread=True, exclusive=True, group="leave", exit_on_error=False)
    def _ask_to_leave(self) -> None:
        if self.beginning and not self._has_begun(get_current_worker()):
            return
        going = [run for run in sorted(self.started) if is_executed(RunLayout(run).lock)]
        if not going:
            self.call_from_thread(self.exit, 0)
            return
        names = ", ".join(near(run, self.folder) for run in going)
        title = f"{names} is going" if len(going) == 1 else f"{names} are going"
        self.call_from_thread(self._ask_about, title, "", going, (KEEP, STOP, STAY))

    def _has_begun(self, worker: Worker[object]) -> bool:
        """Wait for runs that are being begun; False where none was, as what is told of that is to be read."""
        before, names = self.begun, ", ".join(path.name for path in sorted(self.beginning))
        self.call_from_thread(self.tell, f"{names} is being begun; what becomes of it is asked in a moment")
        while self.beginning and not worker.is_cancelled:
            time.sleep(POLL_SECONDS)
        return not worker.is_cancelled and self.begun > before

    def _ask_about(self, title: str, text: str, going: list[Path], choices: Sequence[Choice]) -> None:
        def answered(answer: str | None) -> None:
            if answer == "keep":
                self.exit(0)
            elif answer in {"stop", "force"} and not self._leaving:
                self._leaving = True
                self.tell(
                    f"Stopping {', '.join(run.name for run in going)}; the app leaves once that is done"
                )
                self._stop_and_leave(going, "stop-now" if answer == "force" else "stop")

        self.push_screen(ChoiceDialog(title, text, choices), answered)

    @work(thread=True, group="leave", exit_on_error=False)
    def _stop_and_leave(self, going: list[Path], word: str) -> None:
        try:
            left, why = _stopped(going, word)
        finally:
            self._leaving = False
        if not left:
            self.call_from_thread(self.exit, 0)
            return
        names = ", ".join(run.name for run in left)
        self.call_from_thread(self._ask_about, f"{names} has not ended", why, left, (FORCE, KEEP, STAY))

    @on(navigation.FixAndContinue)
    def fix_and_continue(self, asked: navigation.FixAndContinue) -> None:
        """Open the campaign of a run; when that is left, offer the new run that keeps what still holds."""
        self._find_what_to_fix(asked.run)

    @work(thread=True, group="fix", exit_on_error=False)
    def _find_what_to_fix(self, run: Path) -> None:
        if _is_complete(run):
            told = f"{run.name}: no operation has failed, so there is nothing to fix"
            self.call_from_thread(self.tell, told, warning=True)
        else:
            self.call_from_thread(self._open_to_fix, run)

    def _open_to_fix(self, run: Path) -> None:
        manifest = self.manifest_of(run)
        if manifest is not None:
            self._fix(run, manifest)
        else:
            self.duplicate(run, frozen=True, then=lambda copy: self._fix(run, copy))

    def manifest_of(self, run: Path) -> Path | None:
        """Return the campaign file that a run was made from, as far as names tell."""
        raise NotImplementedError

    def _fix(self, run: Path, manifest: Path) -> None:
        self.fixing[manifest] = run
        self._text_before.pop(manifest, None)
        self._keep_text(manifest)
        self.tell("Change what is wrong and save; then a new run keeps every success that still holds")
        self.post_message(navigation.ShowManifest(manifest))

    @work(thread=True, group="fix", exit_on_error=False)
    def _keep_text(self, manifest: Path) -> None:
        """Remember what a campaign file holds, to know later whether anything was changed in it."""
        self._text_before[manifest] = _text(manifest)

    def pop_screen(self) -> AwaitComplete:
        """Go back; from a campaign that was opened to fix a run, offer to run it."""
        asked = self.asked.get(self.screen)
        popped = super().pop_screen()
        if isinstance(asked, navigation.ShowManifest) and asked.path in self.fixing:
            self.call_later(self.offer_reuse, self.fixing.pop(asked.path), asked.path)
        return popped

    def offer_reuse(self, run: Path, manifest: Path) -> None:
        """Offer a new run of a campaign, once it is known whether anything was changed in its file."""
        self.call_later(self._offer_reuse, run, manifest)

    async def _offer_reuse(self, run: Path, manifest: Path) -> None:
        """Offer a new run of a campaign that takes over what still holds of an earlier one."""
        choices = (
            Choice("run", f"Run {manifest.name} now, and take over every success that still holds"),
            Choice("later", "Not now"),
        )
        text = f"{run.name} stays as it is. Cells that are equal keep their results; the others are run."
        before = self._text_before.pop(manifest, None)
        if before is not None and before == await asyncio.to_thread(_text, manifest):
            choices = choices[::-1]
            text = f"Nothing was changed; what failed would fail again. {text}"

        def answered(answer: str | None) -> None:
            if answer == "run":
                self.start(manifest, run)

        cost = await asyncio.to_thread(_cost, manifest, self.folder)
        self.push_screen(ChoiceDialog(f"Continue {run.name}", f"{text}\n{cost}".strip(), choices), answered)


def _is_complete(run: Path) -> bool:
    """Tell whether nothing of a run failed or is left, as far as it can be read."""
    try:
        return api.run_status(run).state == "complete"
    except (BoresightError, OSError, ValueError, OverflowError):
        return False


def _cost(manifest: Path, folder: Path) -> str:
    """Return what a campaign costs whole, nothing where that cannot be told; running it says why."""
    from tui.editing.looking_ahead import look_ahead_of

    lines = look_ahead_of(manifest, folder).lines
    return "\n".join(("\nWithout what is taken over:", *lines)) if lines else ""


def _text(manifest: Path) -> bytes | None:
    """Return a campaign file's bytes, None where it cannot be read."""
    try:
        return read_regular(manifest)
    except OSError:
        return None


def _stopped(going: Sequence[Path], word: str) -> tuple[list[Path], str]:
    """Stop runs and wait until they have ended; return those that have not, and why, as far as is known."""
    reasons = []
    for run in going:
        try:
            api.ask(run, word)
        except BoresightError as error:
            reasons.append(str(error))
    deadline = time.monotonic() + STOP_SECONDS
    left = list(going)
    while left and time.monotonic() < deadline:
        left = [run for run in left if is_executed(RunLayout(run).lock)]
        time.sleep(POLL_SECONDS if left else 0)
    if left and not reasons:
        reasons = [f"Its process still holds it after {STOP_SECONDS:.0f} s."]
    return left, "\n".join(reasons)


def _was_there(part: Widget) -> bool:
    """Tell whether a widget, or what holds it, has ever begun; one that is being made has not."""
    if not hasattr(part, "is_mounted"):  # it failed before Textual's own initialization
        return False
    nodes = (node for node in part.ancestors_with_self if isinstance(node, Widget))
    return any(node.is_mounted or node.is_running for node in nodes)
