"""A screen that keeps a document: it saves, leaves and runs it without losing anything unasked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

from textual import work
from textual.widgets import Static

from core.campaign.checking import Checker
from core.campaign.document import CampaignDocument
from core.campaign.saving import ChangedFileError
from core.errors import InputError
from tui import navigation
from tui.editing import opening, questions
from tui.editing.keeper import Keeper
from tui.editing.looking_ahead import look_ahead
from tui.screens.base import BoresightScreen
from tui.text import near, safe


class KeepingScreen(BoresightScreen[None]):
    """The document of a manifest screen on its way to and from the disk; `frozen` is a run that is shown."""

    def __init__(self, folder: Path, path: Path | None, frozen: Path | None) -> None:
        super().__init__()
        self.folder = folder.absolute()
        self.frozen = frozen
        self._asked_path = path
        self._keeper: Keeper | None = None
        self._checker = Checker(self.folder)
        self._doing = ""  # what the head says is under way
        self._stale = False

    def read_again(self, path: Path | None) -> None:
        """Open a file in place of the document."""
        raise NotImplementedError

    @property
    def editable(self) -> bool:
        """Whether this is a file, and not what a run was frozen with."""
        return self.frozen is None

    @property
    def _base(self) -> Path:
        return self.folder if self._asked_path is None else self._asked_path.absolute().parent

    def action_save(self) -> None:
        """Save the file."""
        if self.editable:
            self.save()
        else:
            self.boresight.tell("What a run was frozen with is never changed; d duplicates it", warning=True)

    @work(exclusive=True, group="flow", exit_on_error=False)
    async def save(self) -> None:
        """Save, asking where somebody else has written the file or it cannot be written."""
        if await self._saved():
            self.boresight.tell(f"Saved {self._keeper.path if self._keeper else ''}")

    async def _saved(self) -> bool:
        """Save what was changed; return whether the file now says what the screen says."""
        keeper, overwrite, path = self._keeper, False, None
        while keeper is not None:
            if path is None and await keeper.is_on_disk():
                self._stale = False
                self._tell_head()
                return True
            try:
                await keeper.do(partial(CampaignDocument.save, path=path, overwrite=overwrite))
            except ChangedFileError as error:
                self._stale = True  # so that nothing is read again under the question
                answer = await self._ask_about_file(keeper, error)
                if answer == "reload":
                    self.read_again(keeper.path)
                    return False
                # What came to its place while that was asked is not overwritten: it is asked about too.
                back = answer == "write" and await asyncio.to_thread(keeper.is_gone)
                overwrite = answer == "overwrite" or back
            except InputError as error:
                answer = await self.app.push_screen_wait(questions.unsaved_dialog(error))
                path = await asyncio.to_thread(opening.other_path, keeper.path, self.folder)
            else:
                self._took_place()
                return True
            if answer in {None, "stay"}:
                return False
        return False

    async def _ask_about_file(self, keeper: Keeper, error: ChangedFileError) -> str | None:
        """Ask what becomes of a file that is another now, or is no longer there."""
        if keeper.path is not None and await asyncio.to_thread(keeper.is_gone):
            return await self.app.push_screen_wait(questions.gone_dialog(keeper.path))
        return await self.app.push_screen_wait(questions.changed_dialog(error))

    def _took_place(self) -> None:
        keeper = self._keeper
        if keeper is not None and keeper.path != self._asked_path:
            self._asked_path = keeper.path
            self._checker = Checker(self._base)
            self.sub_title = safe(keeper.path.name if keeper.path else "", 80).plain
        self._stale = False
        self._tell_head()
        self.boresight.changed()

    @work(thread=True, exclusive=True, group="look", exit_on_error=False)
    def look(self) -> None:
        """See whether somebody else has written the file."""
        keeper = self._keeper
        if keeper is not None and keeper.path is not None and not self._stale and keeper.is_stale():
            self.app.call_from_thread(self._became_stale, keeper, keeper.is_gone())

    def _became_stale(self, keeper: Keeper, is_gone: bool) -> None:
        if keeper is not self._keeper:
            return
        if not keeper.is_changed and keeper.path is not None and not is_gone:
            self.boresight.tell(f"{keeper.path.name} was changed on disk: read again")
            self.read_again(keeper.path)
            return
        self._stale = True
        self._tell_head()

    def leave(self, then: Callable[[], object]) -> None:
        """Call `then` once nothing would be lost by it: at once, or after asking."""
        keeper = self._keeper
        if keeper is not None and self.editable and (keeper.is_changed or self._stale):
            self.ask_to_leave(then)
        else:
            then()

    @work(exclusive=True, group="flow", exit_on_error=False)
    async def ask_to_leave(self, then: Callable[[], object]) -> None:
        """Ask whether to save, discard or stay.

        What is discarded goes with the screen: `then` may ask more, and the person stay here after all.
        """
        keeper = self._keeper
        if keeper is not None and not await keeper.is_on_disk():
            dialog = questions.leave_dialog(keeper.path, is_changed=keeper.is_changed)
            answer = await self.app.push_screen_wait(dialog)
            if answer != "discard" and (answer != "save" or not await self._saved()):
                return
        self.app.call_later(then)

    def action_run(self) -> None:
        """Save, show what the campaign will cost, and start it if that is wanted."""
        if self.editable:
            self.run_campaign()
        else:
            self.boresight.tell("This run exists already; d duplicates its campaign", warning=True)

    @work(exclusive=True, group="flow", exit_on_error=False)
    async def run_campaign(self) -> None:
        """The way from here to a run: save, look ahead, ask, hand over to the app."""
        if not await self._saved() or self._keeper is None or self._keeper.path is None:
            return
        path = self._keeper.path
        self._tell_doing("looking ahead …")
        ahead = await asyncio.to_thread(look_ahead, path, self._keeper.snapshot, self._checker, self.folder)
        self._tell_doing("")
        answer = await self.app.push_screen_wait(questions.run_dialog(ahead))
        if answer in {"run", "reuse"}:
            self.post_message(navigation.StartRun(path, ahead.earlier if answer == "reuse" else None))

    def action_edit(self) -> None:
        """Open the file in the person's editor; what that saves is read again."""
        if self._keeper is not None and self._keeper.path is not None and self.editable:
            if self._keeper.is_changed:
                self.boresight.tell("Save first (ctrl+s), as the editor opens the file", warning=True)
            else:
                self.boresight.edit(self._keeper.path)

    def action_copy(self) -> None:
        """Copy where the file lies."""
        if self._keeper is not None:
            self.boresight.copy(str(self._keeper.path or self.frozen or ""))

    def _tell_doing(self, text: str) -> None:
        self._doing = text
        self._tell_head()

    def _tell_head(self) -> None:
        keeper = self._keeper
        if keeper is None:
            return
        if not self.editable:
            state = "frozen: read only, d duplicates it"
        elif self._stale:
            state = "⚠ changed on disk meanwhile: saving asks"
        elif keeper.snapshot.fault is not None:
            fault = keeper.snapshot.fault
            state = f"✖ TOML not valid at line {fault.line}; the form shows the last valid text"
        else:
            state = "● not saved" if keeper.is_changed else "saved"
        where = keeper.path if keeper.path is not None else self.frozen
        told = [state, self._doing, near(where) if where is not None else ""]
        self.query_one("#manifest-head", Static).update(safe(" · ".join(filter(None, told)), 400))
