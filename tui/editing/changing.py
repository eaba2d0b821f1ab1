"""A screen whose document is changed part by part: added to, duplicated, removed from."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from textual import work

from core.campaign import entries
from core.campaign.document import CampaignDocument
from core.campaign.starting import presets
from core.campaign.toml_map import Place
from core.errors import InputError
from tui.editing import questions
from tui.editing.checked import CheckedScreen
from tui.editing.sections import value_at
from tui.screens.dialogs import ChoiceDialog
from tui.screens.folders import FolderDialog
from tui.widgets.field_form import FieldForm
from tui.widgets.outline import TABLES, part_name

_SINGULAR = {"repositories": "repository", "candidates": "candidate"}


class ChangingScreen(CheckedScreen):
    """Asks for what a change needs, and does it; a change that the document refuses is told."""

    def document_changed(self, go_to: Place | None) -> None:
        """Show the document as it is now, with the cursor on a place of it where one is named."""
        raise NotImplementedError

    def _change(self, change: Callable[[CampaignDocument], Place | None]) -> None:
        """Change the document otherwise than by a field, and go to the place that this returns."""
        self._do_change(change)

    @work(group="settle", exit_on_error=False)
    async def _do_change(self, change: Callable[[CampaignDocument], Place | None]) -> None:
        if self._keeper is None or not self.editable:
            return
        try:
            place = await self._keeper.do(change)
        except InputError as error:
            self.boresight.tell(str(error), warning=True)
            return
        self.document_changed(place)

    def change_part(self, what: str, place: Place) -> None:
        """Do something with a part: what its keys and its buttons ask for."""
        if what == "browse":
            self._browse((*place, "path"))
        elif what == "add":
            self._add(str(place[0]))
        elif len(place) == 2 and place[0] in TABLES:
            if what == "remove":
                self.ask_to_remove(place)
            else:
                self._change(_change_for(what, place))

    @work(group="remove", exit_on_error=False)
    async def ask_to_remove(self, place: Place) -> None:
        """Remove a repository or a candidate, once that is confirmed: nothing here takes it back."""
        keeper = self._keeper
        if keeper is None or not self.editable:
            return
        await keeper.settle()
        if not self.is_active:
            return  # the key was pressed again before the question stood
        table, number = str(place[0]), int(place[1])
        name = value_at(keeper.snapshot.data, (*place, TABLES[table]))
        baseline = keeper.snapshot.data.get("baseline")
        is_baseline = table == "candidates" and name is not None and name == baseline
        part = f"the {_SINGULAR[table]} {part_name(name, number)}"
        answer = await self.app.push_screen_wait(questions.remove_dialog(part, is_baseline=is_baseline))
        if answer != "remove":
            return
        if keeper is self._keeper:
            self._change(_change_for("remove", place))
        else:  # what is at the place now was not asked about
            self.boresight.tell(f"The file was read again meanwhile; {part} was not removed", warning=True)

    def _add(self, table: str) -> None:
        if table == "repositories":
            self.app.push_screen(FolderDialog("The repository's folder", self.folder), self._add_repository)
        elif table == "candidates":
            self.offer_candidates()

    def _add_repository(self, path: Path | None) -> None:
        if path is not None:
            self._change(lambda document: entries.add_repository(document, path, self._base))

    @work(exclusive=True, group="flow", exit_on_error=False)
    async def offer_candidates(self) -> None:
        """Ask which candidate to add, and say what of each is not installed."""
        self._tell_doing("looking for what is installed …")
        found = await asyncio.to_thread(presets)
        self._tell_doing("")
        dialog = ChoiceDialog("Add a candidate", "", questions.preset_choices(found))
        answer = await self.app.push_screen_wait(dialog)
        chosen = next((preset for preset in found if preset.id == answer), None)
        if chosen is not None:
            self._change(lambda document: entries.add_candidate(document, chosen.entry))

    def action_browse(self) -> None:
        """Browse for the folder that the field under the cursor names."""
        place = self.query_one(FieldForm).place
        if place is not None and place[-1] == "path" and self.editable:
            self._browse(place)
        else:
            self.boresight.tell("Put the cursor into a repository's path to browse", warning=True)

    def _browse(self, place: Place) -> None:
        def chosen(path: Path | None) -> None:
            if path is not None:
                written = entries.as_written(path, self._base)
                self._change(lambda document: document.set(place, written))

        self.app.push_screen(FolderDialog("The repository's folder", self.folder), chosen)


def _change_for(what: str, place: Place) -> Callable[[CampaignDocument], Place]:
    changes = {
        "duplicate": entries.duplicate,
        "remove": entries.remove,
        "baseline": entries.make_baseline,
    }
    return lambda document: changes[what](document, place)
