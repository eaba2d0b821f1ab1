"""The command palette's own part: every run, campaign, candidate and case, and what can be done with them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from rich.text import Text
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.message import Message

from core.browse.filters import Filters
from core.errors import BoresightError
from tui import navigation
from tui.menus import menu_of
from tui.runs import Row
from tui.text import cell, near

if TYPE_CHECKING:
    from tui.app import BoresightApp

LIMIT = 120  # hits in all
_CHECKED = frozenset({"resume", "retry"})  # may be refused, for reasons that are found out first
CASES = 20  # hits of each run
RUNS_WITH_CASES = 5  # the current run and the latest others whose index stands
FEWEST_CHARACTERS = 2  # before cases are searched
WIDTH = 200


class Command(NamedTuple):
    """Something that the palette offers."""

    text: str
    run: Callable[[], object]


class BoresightProvider(Provider):
    """Offers what the folder holds."""

    @property
    def boresight(self) -> BoresightApp:
        """The app, by its own type."""
        return cast("BoresightApp", self.app)

    async def discover(self) -> Hits:
        """Offer the main screens of the current run, and what begins something new."""
        for command in self._first():
            yield DiscoveryHit(cell(command.text, WIDTH), command.run, command.text)

    async def search(self, query: str) -> Hits:
        """Offer all that holds the words of a query: commands at once, then cases from the indexes."""
        found = 0
        for command in self._commands():
            score = self._score(query, command.text)
            if score > 0 and found < LIMIT:
                found += 1
                yield Hit(score, _shown(command.text, query), command.run, command.text)
        if len(query.strip()) < FEWEST_CHARACTERS:
            return
        for run in await asyncio.to_thread(self._searched_runs):
            for command in await asyncio.to_thread(self._cases, run, query.strip()):
                yield Hit(0.5, _shown(command.text, query), command.run, command.text)

    def _score(self, query: str, text: str) -> float:
        words = query.casefold().split()
        folded = text.casefold()
        if words and all(word in folded for word in words):
            return 1.0
        return min(self.matcher(query).match(text) / 100, 0.9)  # below whatever holds every word

    def _first(self) -> Iterator[Command]:
        yield Command("New campaign from a repository", lambda: self._post(navigation.ShowManifest(None)))
        run = self.boresight.current_run()
        if run is not None:
            for name in navigation.MAIN_SCREENS[1:]:
                yield self._screen(name, run, run.name)

    def _commands(self) -> Iterator[Command]:
        yield from self._first()
        home = self.boresight.home
        for row in home.rows:
            name = self._name(row)
            kind = "Campaign" if row.status is None else "Run"
            for choice in menu_of(row):
                yield Command(f"{kind} {name}: {choice.label}", self._acting(row, choice.id))
            if row.status is not None:
                for candidate in row.candidates:
                    yield self._candidate(row, candidate, name)
            else:
                for candidate in row.candidates:
                    asked = navigation.ShowManifest(row.path)
                    yield Command(f"Candidate {candidate} of campaign {name}", self._posting(asked))

    def _name(self, row: Row) -> str:
        return f"{row.campaign} {near(row.path, self.boresight.folder)}".strip()

    def _candidate(self, row: Row, candidate: str, name: str) -> Command:
        asked = navigation.ShowAttempts(row.path, candidate=candidate)
        return Command(f"Candidate {candidate} in run {name}: its attempts", self._posting(asked))

    def _screen(self, name: str, run: Path, shown: str) -> Command:
        asked = navigation.main_screen(name, run, None)
        return Command(f"{name} of {shown}", self._posting(asked) if asked is not None else lambda: None)

    def _acting(self, row: Row, choice: str) -> Callable[[], object]:
        home = self.boresight.home
        return lambda: home.act_once_checked(row, choice) if choice in _CHECKED else home.act(row, choice)

    def _posting(self, message: Message) -> Callable[[], object]:
        return lambda: self._post(message)

    def _post(self, message: Message) -> None:
        self.boresight.post_message(message)

    def _searched_runs(self) -> list[Path]:
        current = self.boresight.current_run()
        rows = sorted(self.boresight.home.rows, key=lambda row: row.updated_at, reverse=True)
        others = [row.path for row in rows if row.status is not None and row.path != current]
        runs = ([current] if current is not None else []) + others
        return [run for run in runs if self.boresight.indexes.stands(run)][:RUNS_WITH_CASES]

    def _cases(self, run: Path, query: str) -> list[Command]:
        try:
            index = self.boresight.indexes.glance(run)
            rows = index.page(Filters(text=query), limit=CASES)
        except BoresightError:
            return []  # whoever opens the run is told what is wrong with it
        known = next((self._name(row) for row in self.boresight.home.rows if row.path == run), run.name)
        return [
            Command(
                f"Case {row.id} in {known}: {row.query}",
                self._posting(navigation.ShowQueries(run, case=row.id)),
            )
            for row in rows
        ]


def _shown(text: str, query: str) -> Text:
    shown = cell(text, WIDTH)
    shown.highlight_words([word for word in query.split() if word], "bold underline", case_sensitive=False)
    return shown
