"""What the app does with runs and campaign files, each in a thread: start, resume, rescore, clean, keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from textual import work
from textual.screen import Screen

from core import api
from core.campaign.duplicate import draft_for_bank, duplicate_campaign, duplicate_frozen
from core.campaign.folder import find_campaign_files, next_run
from core.errors import BoresightError, InputError
from core.reports.wording import counted, size
from core.run.cleaning import clean_state
from core.run.disk import cell_states
from core.run.exports import write_table
from core.run.layout import Operation, RunLayout, is_run
from core.run.record import read_run
from tui import navigation
from tui.outward import OutwardApp
from tui.screens.dialogs import Choice, ChoiceDialog, InputDialog, TextDialog
from tui.text import near
from tui.widgets.path_input import typed_path


class WorkingApp(OutwardApp):
    """An app that starts runs in processes of their own, and takes care of those that are there."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder.absolute()
        self.started: set[Path] = set()  # runs whose host this app started
        self.beginning: set[Path] = set()  # what is being made or opened to be run just now
        self.begun = 0  # how many were given a host

    def changed(self) -> None:
        """Say that the folder's runs or campaign files are not what they were; the app looks again."""

    @contextmanager
    def _told(self, title: str) -> Iterator[None]:
        """Show what goes wrong in a thread, as the app stays up whatever that is."""
        try:
            yield
        except (BoresightError, OSError) as error:
            self.call_from_thread(self.tell_error, title, error)

    @contextmanager
    def _once(self, path: Path) -> Iterator[bool]:
        """Tell whether a thread may begin a run, so that a key pressed twice does not begin it twice."""
        if path in self.beginning:
            yield False
            return
        self.beginning.add(path)
        try:
            yield True
        finally:
            self.beginning.discard(path)

    @work(thread=True, group="begin", exit_on_error=False)
    def start(self, manifest: Path, reuse: Path | None = None) -> None:
        """Freeze a campaign into the next free folder, give it a host process, and watch it."""
        with self._told(f"{manifest.name} was not run"), self._once(manifest) as first:
            if not first:
                return
            asked_from = self._in_view()
            self.call_from_thread(self.tell, f"{manifest.name}: checking its bank and freezing its sources")
            campaign = api.read_campaign(manifest)
            opened = api.create_run(campaign, next_run(self.folder, campaign.name), reuse=reuse)
            taken = opened.taken_over
            self._host(opened, asked_from)
            if taken is not None:
                self.call_from_thread(
                    self.tell, f"{taken.taken} of {taken.planned} results taken over from {taken.source.name}"
                )

    @work(thread=True, group="begin", exit_on_error=False)
    def resume(self, run: Path, only: frozenset[Operation] | None = None) -> None:
        """Give a run a host process again, and watch it; `only` limits new attempts to these operations."""
        with self._told(f"{run.name} was not resumed"), self._once(run) as first:
            if first:
                asked_from = self._in_view()
                self.call_from_thread(self.tell, f"{run.name}: verifying what it holds, then it goes on")
                self._host(api.reopen_run(run, only=only), asked_from)

    @work(thread=True, group="begin", exit_on_error=False)
    def retry_failed(self, run: Path) -> None:
        """Give every failed operation of a run a new attempt."""
        with self._told(f"{run.name} was not tried again"), self._once(run) as first:
            if not first:
                return
            asked_from = self._in_view()
            self.call_from_thread(self.tell, f"{run.name}: looking for what failed, to try it again")
            failed = frozenset(failure.operation for failure in api.failures(run))
            if failed:
                self._host(api.reopen_run(run, only=failed), asked_from)
            else:
                self.call_from_thread(self.tell, f"{run.name}: no operation has failed")

    def _host(self, opened: api.OpenRun, asked_from: Screen[Any]) -> None:
        root = opened.layout.root
        try:
            api.detach(opened)
        except BaseException:
            opened.close()
            raise
        self.call_from_thread(self._hosted, root, asked_from)

    def _hosted(self, run: Path, asked_from: Screen[Any]) -> None:
        """Watch a run that was begun, unless the person has turned to something else meanwhile."""
        self.started.add(run)
        self.begun += 1
        self.changed()
        if self._in_view() is asked_from:
            self.post_message(navigation.ShowMonitor(run))
        else:
            self.tell(f"{run.name} is under way: 1 shows it among the others")

    def _in_view(self) -> Screen[Any]:
        """Return the uppermost screen that is no dialog."""
        return next(screen for screen in reversed(self.screen_stack) if not screen.is_modal)

    @work(thread=True, group="work", exit_on_error=False)
    def steer(self, run: Path, word: str, said: str) -> None:
        """Put a word to a run's engine, and say what came of it."""
        with self._told(f"{run.name} did not take it"):
            api.ask(run, word)
            self.call_from_thread(self.tell, said)
            self.call_from_thread(self.changed)

    @work(thread=True, group="begin", exit_on_error=False)
    def start_sample(self) -> None:
        """Make the bundled sample's bank and campaign in the folder, and run it."""
        from core.quickstart import choose, demand_ready, next_folder, write_inputs

        with self._told("The sample was not run"), self._once(self.folder) as first:
            if not first:
                return
            demand_ready()
            asked_from = self._in_view()
            self.call_from_thread(self.tell, "Making the sample's repository, bank and campaign")
            with _made_or_gone(next_folder(self.folder)) as inputs:
                campaign = write_inputs(choose(self.folder, inputs, sample=True), inputs)
                opened = api.create_run(api.read_campaign(campaign), inputs / "run")
            self._host(opened, asked_from)

    @work(thread=True, group="work", exit_on_error=False)
    def rescore(self, run: Path) -> None:
        """Verify and rescore a run."""
        with self._told(f"{run.name} was not rescored"):
            self.call_from_thread(
                self.tell, f"{run.name}: verifying every digest, then rebuilding its reports"
            )
            rescored = api.rescore_run(run)
            told = _with_results(len(rescored.reader.plan), rescored.unaccepted)
            self.call_from_thread(self.tell, f"{run.name} rescored: {told}")
            self.call_from_thread(self.changed)

    @work(thread=True, group="work", exit_on_error=False)
    def show_report(self, run: Path) -> None:
        """Show a run's report."""
        with self._told(f"{run.name} has no report"):
            text = api.markdown_report(run)
            self.call_from_thread(self.push_screen, TextDialog(f"Report of {run.name}", text))

    @work(thread=True, group="work", exit_on_error=False)
    def duplicate(self, path: Path, *, frozen: bool, then: Callable[[Path], None] | None = None) -> None:
        """Copy a campaign file, or make one of what a run was frozen with, and open it."""
        with self._told(f"{path.name} was not duplicated"):
            if frozen:
                known = find_campaign_files(self.folder)
                copy = duplicate_frozen(path, self.folder, known)
            else:
                copy = duplicate_campaign(path)
            self.call_from_thread(self.changed)
            self.call_from_thread(then or self._open_copy, copy)

    def _open_copy(self, copy: Path) -> None:
        self.tell(f"Copied to {copy.name}")
        self.post_message(navigation.ShowManifest(copy))

    @work(thread=True, group="work", exit_on_error=False)
    def ask_to_clean(self, run: Path) -> None:
        """Say what a run's indexes take, and free them where that is wanted."""
        with self._told(f"{run.name} was not cleaned"):
            states = cell_states(RunLayout(read_run(run).layout.root))
            taken = sum(state.bytes for state in states)
            if not states:
                self.call_from_thread(self.tell, f"{run.name} holds no indexes")
                return
            text = (
                f"{len(states)} indexes take {size(taken)}. All evidence stays. A cell that is not complete "
                "is indexed and queried again by a resume."
            )
            choices = (Choice("free", f"Free {size(taken)}"), Choice("keep", "Keep them"))

            def answered(answer: str | None) -> None:
                if answer == "free":
                    self._clean(run)

            self.call_from_thread(
                self.push_screen, ChoiceDialog(f"Clean {run.name}?", text, choices), answered
            )

    @work(thread=True, group="work", exit_on_error=False)
    def _clean(self, run: Path) -> None:
        with self._told(f"{run.name} was not cleaned"):
            freed = clean_state(run)
            self.call_from_thread(self.tell, f"{run.name}: freed {size(freed)}")
            self.call_from_thread(self.changed)

    @work(thread=True, group="export", exit_on_error=False)
    def export_list(self, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Write the home screen's list into the folder's `exports/`."""
        with self._told("Not exported"):
            written = write_table(self.folder, "campaigns", header, ((None, row) for row in rows))
            self.call_from_thread(self.tell, f"{counted(written.rows, 'row')} written to {written.file}")

    def open_elsewhere(self, typed: str = "") -> None:
        """Ask for a bank, a campaign file or a run that lies anywhere, and open it."""
        text = (
            "The path of a campaign file (.toml), of a bank (.jsonl), or of a run's folder:\n"
            f"absolute, from ~, or from {near(self.folder)}"
        )

        def answered(answer: str | None) -> None:
            if answer:
                self._open_typed(answer)

        self.push_screen(InputDialog("Open", text, typed), answered)

    @work(thread=True, group="work", exit_on_error=False)
    def _open_typed(self, typed: str) -> None:
        """Open what was typed; where that is refused, the question comes back below the reason."""
        try:
            self._open_path(typed_path(self.folder, typed))
        except (BoresightError, OSError) as error:
            self.call_from_thread(self.open_elsewhere, typed)
            self.call_from_thread(self.tell_error, "Not opened", error)

    def _open_path(self, path: Path) -> None:
        if is_run(path):
            self.post_message(navigation.ShowMonitor(path))
        elif not path.is_file():
            raise InputError(f"{path}: no such file, and no run's folder; name one that is there")
        elif path.suffix == ".toml":
            self.post_message(navigation.ShowManifest(path))
        else:
            draft = draft_for_bank(path, self.folder)
            self.call_from_thread(self.changed)
            self.call_from_thread(self.tell, f"A campaign on this bank was begun in {draft.name}")
            self.post_message(navigation.ShowManifest(draft))

    @work(thread=True, group="work", exit_on_error=False)
    def archive(self, run: Path, *, include_private: bool = False) -> None:
        """Export a run into one file in the folder, asking first where it would carry private sources."""
        with self._told(f"{run.name} was not exported"):
            private = sorted(read_run(run).private)
            if private and not include_private:
                self.call_from_thread(self._ask_for_private, run, private)
                return
            self.call_from_thread(self.tell, f"Exporting {run.name}")
            target = _free_archive(self.folder, run)
            exported = api.export_run(run, target, include_private=include_private)
            self.call_from_thread(
                self.tell, f"{exported.files} files, {size(exported.bytes)}, written to {exported.file}"
            )

    def _ask_for_private(self, run: Path, private: list[str]) -> None:
        text = f"It holds the sources and queries of private repositories: {', '.join(private)}."
        choices = (
            Choice("stay", "Do not export"),
            Choice("export", "Export them too: the file goes to people who may read them"),
        )

        def answered(answer: str | None) -> None:
            if answer == "export":
                self.archive(run, include_private=True)

        self.push_screen(ChoiceDialog(f"Export {run.name}?", text, choices), answered)


def _with_results(planned: int, missing: int) -> str:
    """Say how many operations have a result: `all 411 operations have a result`."""
    if missing:
        return f"{missing:,} of {counted(planned, 'operation')} {'has' if missing == 1 else 'have'} no result"
    return f"all {counted(planned, 'operation')} have a result"


def _free_archive(folder: Path, run: Path) -> Path:
    near = run.relative_to(folder) if run.is_relative_to(folder) else Path(run.name)
    stem = "-".join(near.parts) or run.name
    number, target = 1, folder / f"{stem}.tar.gz"
    while target.exists():
        number += 1
        target = folder / f"{stem}-{number}.tar.gz"
    return target


@contextmanager
def _made_or_gone(folder: Path) -> Iterator[Path]:
    """Take a folder that was made just now away again where what shall fill it fails."""
    import shutil

    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
