"""What the home screen lists: the runs of a folder and its campaign files, read again only where changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from core import api
from core.browse.index import RunIndex
from core.browse.opening import is_current, is_sound
from core.browse.operation_queries import OperationFilters
from core.browse.places import NAME as INDEX_NAME
from core.campaign.folder import CampaignFound, campaign_found, find_campaign_files
from core.errors import BoresightError
from core.regular import read_regular
from core.reports.best import best_words
from core.reports.wording import counted, failed_words
from core.run.layout import RunLayout, find_runs
from core.run.lock import is_executed
from core.run.record import read_run
from core.status import LIVE, run_status

UNFINISHED = frozenset({"interrupted", "failed"})
CAMPAIGN = "campaign"  # the state of a row that is no run
_EPOCH = datetime.fromtimestamp(0, UTC)

_Stamp = tuple[object, ...]
_IsCancelled = Callable[[], bool]
_OnLarge = Callable[[list["Row"], Path], None]
LARGE_PLAN = 4 * 1024 * 1024  # bytes, of some 20,000 operations: counting them takes a second


class Row(NamedTuple):
    """A run, or a campaign file (`status` is None then), as the home screen shows it.

    `manifest` is the campaign file itself, or the newest one of the run's campaign. `campaign` is empty where
    a run cannot be read.
    """

    path: Path
    campaign: str
    status: api.RunStatus | None
    manifest: CampaignFound | None
    candidates: tuple[str, ...]
    best: str  # the best candidate against the baseline, from the derived report; or what makes it doubtful
    sentence: str

    @property
    def key(self) -> str:
        """What names the row in the table."""
        return str(self.path)

    @property
    def state(self) -> str:
        """The run's state in a word."""
        return CAMPAIGN if self.status is None else str(self.status.state or "unreadable")

    @property
    def is_live(self) -> bool:
        """Whether a process executes the run now."""
        return self.state in LIVE

    @property
    def updated_at(self) -> datetime:
        """When the row last changed."""
        if self.status is None:
            found = self.manifest.modified_at if self.manifest else None
        else:
            found = self.status.updated_at
        return found or _EPOCH


class _Read(NamedTuple):
    stamp: _Stamp
    status: api.RunStatus
    best: str
    candidates: tuple[str, ...]
    changed: int = 0  # operations whose evidence is known to differ from its digest


class Listing:
    """A folder's runs and campaign files; keeps what it read, for one thread at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs: list[Path] = []
        self._files: list[Path] = []
        self._read: dict[Path, _Read] = {}
        self._found: dict[Path, tuple[_Stamp, CampaignFound]] = {}

    def forget(self) -> None:
        """Read everything again at the next look."""
        self._read.clear()
        self._found.clear()

    def look(
        self,
        is_cancelled: _IsCancelled = lambda: False,
        on_large: _OnLarge = lambda rows, run: None,
        *,
        walk: bool = True,
    ) -> list[Row]:
        """Return the rows as they are now; reads disk. With `walk`, new runs and files are looked for.

        `on_large` is given the rows so far before a run is read that may take a minute to count.
        """
        if walk:
            self._runs = list(find_runs(self._folder))
            self._files = list(find_campaign_files(self._folder))
        self._found = {path: self._campaign(path) for path in self._files}
        read: dict[Path, _Read] = {}
        for path in sorted(self._runs, key=_plan_bytes):
            if is_cancelled():
                return []
            if path not in self._read and _plan_bytes(path) > LARGE_PLAN:
                on_large(self._rows(read), path)
            if path.is_dir():
                read[path] = self._run(path)
        self._read = {path: read[path] for path in self._runs if path in read}
        return self._rows(self._read)

    def _rows(self, read: Mapping[Path, _Read]) -> list[Row]:
        by_name = _newest_by_name(found for _, found in self._found.values())
        counts: dict[str, int] = {}
        for item in (item for item in read.values() if item.status.state is not None):
            counts[item.status.name] = counts.get(item.status.name, 0) + 1
        rows = [_run_row(item, by_name.get(item.status.name)) for item in read.values()]
        rows += [_campaign_row(found, counts.get(found.name, 0)) for _, found in self._found.values()]
        return rows

    def _campaign(self, path: Path) -> tuple[_Stamp, CampaignFound]:
        stamp = (_stat(path),)
        known = self._found.get(path)
        return known if known is not None and known[0] == stamp else (stamp, campaign_found(path))

    def _run(self, path: Path) -> _Read:
        layout = RunLayout(path)
        executed = is_executed(layout.lock)
        index = path / INDEX_NAME
        files = (layout.campaign, layout.plan, layout.events, layout.exit_status, index, layout.summary)
        stamp = (executed, *(_stat(file) for file in files))
        known = self._read.get(path)
        if known is not None and known.stamp == stamp and not executed:
            return known
        status = _status(path)
        changed = 0 if executed else _changed(path)
        same = known is not None and known.stamp[-1] == stamp[-1] and known.stamp[1] == stamp[1]
        if known is not None and same:
            return _Read(stamp, status, known.best, known.candidates, changed)
        return _Read(stamp, status, _best(layout), _candidates(layout), changed)


def read_row(run: Path, manifest: CampaignFound | None) -> Row:
    """Return a run as it is now; reads disk."""
    layout = RunLayout(run)
    return _run_row(_Read((), _status(run), _best(layout), _candidates(layout), _changed(run)), manifest)


def _status(run: Path) -> api.RunStatus:
    try:
        return run_status(run, brief=True)
    except (BoresightError, OSError, ValueError, OverflowError) as error:
        return api.RunStatus(run, run.name, None, 0, 0, 0, None, str(error))


def _plan_bytes(run: Path) -> int:
    found = _stat(RunLayout(run).plan)
    return found[1] if found is not None else 0


def _stat(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size


def _newest_by_name(found: Iterable[CampaignFound]) -> dict[str, CampaignFound]:
    newest: dict[str, CampaignFound] = {}
    for item in found:
        known = newest.get(item.name)
        if item.problem is None and (
            known is None or (item.modified_at or _EPOCH) > (known.modified_at or _EPOCH)
        ):
            newest[item.name] = item
    return newest


def _run_row(read: _Read, manifest: CampaignFound | None) -> Row:
    """Return the row of a run; `manifest` is of the campaign that has its name."""
    status = read.status
    campaign = status.name if status.state is not None else ""
    best = f"≠ {read.changed:,} changed" if read.changed else read.best
    sentence = _sentence(status, read.best, read.changed)
    return Row(status.path, campaign, status, manifest, read.candidates, best, sentence)


def _campaign_row(found: CampaignFound, runs: int) -> Row:
    if found.problem is not None:
        first, *reasons = found.problem.splitlines() or [""]
        sentence = " ".join((first, *(reason.strip().removeprefix("- ") for reason in reasons[:1])))
    else:
        candidates = counted(len(found.candidates), "candidate")
        repositories = counted(len(found.repositories), "repository", "repositories")
        sentence = f"{found.path.name}: {candidates} on {repositories}, {counted(runs, 'run')} so far."
    return Row(found.path, found.name, None, found, found.candidates, "", sentence)


def _sentence(status: api.RunStatus, best: str, changed: int) -> str:
    name = _name(status)
    if status.problem:
        return status.problem
    if changed:
        which = counted(changed, "operation")
        return f"{name}: the evidence of {which} has changed since it was recorded; Attempts names it."
    done = f"{status.ended} of {status.planned}"
    left = status.planned - status.accepted
    waiting = f"waits for {status.waits_for}" if status.waits_for else "has not begun its operations yet"
    words = {
        "interrupted": f"{name} was interrupted at {done}. Resume goes on with the {left} without a result; "
        "what holds is reused.",
        "failed": f"{name}: {_failures(status)}. Inspect them, or fix and continue.",
        "complete": f"{name}: all {status.planned} operations accepted.{f' {best}' if best else ''}",
        "waiting": f"{name} {waiting}.",
        "stalled": f"{name} is held by a process that has said nothing for 10 s or more, at {done}.",
    }
    accepted = f"{status.accepted} of {status.planned} operations accepted"
    return words.get(str(status.state), f"{name}: {accepted}, {failed_words(status.failed, status.unasked)}.")


def sentence_once_checked(row: Row, reusable: int) -> str:
    """Return what is said of a row once it is known how many results a resume would reuse."""
    status = row.status
    if status is None or status.state != "interrupted":
        return row.sentence
    return (
        f"{_name(status)} was interrupted at {status.ended} of {status.planned}. Resume will reuse "
        f"{counted(reusable, 'verified result')}."
    )


def _name(status: api.RunStatus) -> str:
    return f"{status.name} {status.path.name}"


def _failures(status: api.RunStatus) -> str:
    """Count failures of all operations, in the words that all screens have: see `failed_words`."""
    if status.unasked:
        return f"{failed_words(status.failed, status.unasked)}, of {status.planned} operations"
    return f"{status.failed} of {status.planned} operations failed"


def _candidates(layout: RunLayout) -> tuple[str, ...]:
    try:
        return read_run(layout.root).candidates
    except (BoresightError, OSError, ValueError):
        return ()


def _changed(run: Path) -> int:
    """Return of how many operations a run's index knows that evidence changed, as far as it is up to date."""
    file = run / INDEX_NAME
    if not file.is_file():
        return 0
    try:
        record = read_run(run)
        if not (is_sound(record, file) and is_current(record, file)):
            return 0
        with RunIndex(record, file) as index:
            return index.count_operations(OperationFilters(status="changed"))
    except (BoresightError, OSError, ValueError):
        return 0


def _best(layout: RunLayout) -> str:
    """Return what the derived report says of the best candidate, or nothing where there is none."""
    try:
        return best_words(read_regular(layout.summary))
    except OSError:
        return ""
