"""Shows a campaign's events on stderr: a bar on a terminal, else lines; never query text."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import IO, Protocol

from core.reports.wording import failed_words
from core.run.events import (
    NOT_CHOSEN,
    CampaignFinished,
    CampaignStarted,
    Event,
    Heartbeat,
    OperationFinished,
    OperationStarted,
    Paused,
    Progress,
    SourceFrozen,
    holder_text,
)
from core.text import printable

LINE_HEARTBEAT_SECONDS = 15.0
_BESIDE = "(`boresight continue --together RUN` lets it run beside that)"
_PLAIN_TERMINALS = frozenset({"dumb", "unknown"})
_SHOWN_ERROR = 60
_MARKS = {"accepted": "✔", "reused": "↺", "failed": "✖", "not_run": "✖", "stopped": "■"}


class Display(Protocol):
    """A reader of events that shows them somewhere."""

    def show(self, event: Event) -> None:
        """Take the next event."""

    def close(self) -> None:
        """Leave the screen as the next writer expects it."""


class QuietDisplay:
    """Shows nothing."""

    def show(self, event: Event) -> None:
        """Take the next event."""

    def close(self) -> None:
        """Leave the screen as it is."""


def display_for(stream: IO[str], quiet: bool) -> Display:
    """Return the display that fits a stream: a bar on a terminal that can redraw one, else lines."""
    if quiet:
        return QuietDisplay()
    redraws = stream.isatty() and os.environ.get("TERM", "").lower() not in _PLAIN_TERMINALS
    return BarDisplay(stream) if redraws else LineDisplay(stream)


class LineDisplay:
    """One line a transition, and a heartbeat where nothing else was said for 15 seconds.

    `clock` gives seconds that only rise.
    """

    def __init__(self, stream: IO[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._stream: IO[str] | None = stream
        self._clock = clock
        self._said_at = clock()
        self._reused = 0
        self._waiting = False

    def show(self, event: Event) -> None:
        """Print the event's line, if it has one."""
        if isinstance(event, OperationFinished) and (
            event.outcome == "reused" or event.error_class == NOT_CHOSEN
        ):
            return
        self._say_reused(getattr(event, "progress", None))
        line = self._line(event)
        if line is not None:
            self._say(line)

    def close(self) -> None:
        """Say nothing more."""

    def _line(self, event: Event) -> str | None:
        if isinstance(event, Heartbeat):
            begins_to_wait = event.state == "waiting" and not self._waiting
            self._waiting = event.state == "waiting"
            if self._clock() - self._said_at < LINE_HEARTBEAT_SECONDS and not begins_to_wait:
                return None
            if self._waiting:
                return f"waits for {holder_text(event.waits_for)} {_BESIDE}"
            where = f"{event.candidate} × {event.repository} " if event.candidate else ""
            return f"{_count(event.progress)} {where}{event.phase or 'waiting'} for {event.elapsed_s:.0f} s"
        if isinstance(event, OperationStarted):
            # Queries are told when they end; an index can take an hour, so its beginning is told too.
            return _cell_line(event, "started") if event.phase == "indexing" else None
        if isinstance(event, OperationFinished):
            took = f" in {event.elapsed_s:.3f} s" if event.elapsed_s is not None else ""
            error = f" ({_error(event)})" if event.error_class else ""
            return _cell_line(event, f"{_MARKS[event.outcome]} {event.outcome}{error}{took}")
        if isinstance(event, SourceFrozen):
            return f"froze {event.repository} at {event.commit[:12]}: {event.files} files"
        if isinstance(event, Paused):
            return "paused" if event.paused else "going on"
        if isinstance(event, CampaignFinished):
            told = failed_words(event.progress.failed, event.progress.unasked)
            return f"{_count(event.progress)} {event.state}, {told}"
        return None

    def _say_reused(self, progress: Progress | None) -> None:
        """Sum up what was reused since the last line, by the engine's own count."""
        reused = progress.reused if progress is not None else self._reused
        if reused > self._reused:
            self._say(f"↺ {reused - self._reused} verified results reused")
        self._reused = reused

    def _say(self, line: str) -> None:
        self._said_at = self._clock()
        if self._stream is not None:
            try:
                print(line, file=self._stream, flush=True)
            except OSError:  # nobody listens any more, which must not end the campaign
                self._stream = None


class BarDisplay:
    """A refreshing bar: operations done of planned, cell, phase, elapsed seconds, reuse and failures."""

    def __init__(self, stream: IO[str], *, force_terminal: bool | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            BarColumn(bar_width=24),
            TextColumn("{task.fields[counted]}", markup=False),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            console=Console(file=stream, force_terminal=force_terminal),
            transient=True,
        )
        self._task = self._bar.add_task("starting", total=None, counted="")
        self._bar.start()

    def show(self, event: Event) -> None:
        """Redraw from the event."""
        if isinstance(event, OperationStarted | Heartbeat):
            if isinstance(event, Heartbeat) and event.state == "waiting":
                self._update(event.progress, f"waits for {holder_text(event.waits_for)} {_BESIDE}")
                return
            where = f"{event.candidate} × {event.repository} " if event.candidate else ""
            memory = ""
            if isinstance(event, Heartbeat) and event.sampled_rss_bytes:
                memory = f" · {event.sampled_rss_bytes / 2**20:.0f} MiB"
            self._update(event.progress, f"{where}{event.phase or 'starting'}{memory}")
        elif isinstance(event, OperationFinished):
            self._update(event.progress, None)
            if event.outcome in {"failed", "not_run"} and event.error_class != NOT_CHOSEN:
                self._bar.console.print(
                    _cell_line(event, f"✖ {event.outcome} ({_error(event)})"),
                    markup=False,
                    highlight=False,
                )
        elif isinstance(event, CampaignStarted):
            self._update(event.progress, "verifying" if event.resumed else "starting")
        elif isinstance(event, Paused):
            self._update(event.progress, "paused" if event.paused else "going on")

    def close(self) -> None:
        """Take the bar off the screen."""
        self._bar.stop()

    def _update(self, progress: Progress, text: str | None) -> None:
        extra = f" · {progress.reused} reused" if progress.reused else ""
        extra += f" · {failed_words(progress.failed, progress.unasked)}" if progress.failed else ""
        task = self._bar.tasks[0]
        description = task.description if text is None else f"{text}{extra}"
        self._bar.update(
            self._task,
            completed=progress.completed,
            total=progress.planned or None,
            counted=_share(progress),
            description=description,
        )


def _share(progress: Progress) -> str:
    if not progress.planned:
        return ""
    percent = 100 * progress.completed // progress.planned
    return f"{progress.completed}/{progress.planned} operations ({percent} %)"


def _cell_line(event: OperationStarted | OperationFinished, what: str) -> str:
    channel = f" {event.channel}" if event.channel else ""
    intent = f" {event.intent}" if event.intent else ""
    attempt = f" attempt {event.attempt}" if event.attempt > 1 else ""
    return (
        f"{_count(event.progress)} {event.candidate} × {event.repository} "
        f"{event.phase}{channel}{intent}{attempt} {what}"
    )


def _error(event: OperationFinished) -> str:
    return printable(event.error_class or "unknown", _SHOWN_ERROR)


def _count(progress: Progress) -> str:
    return f"[{progress.completed}/{progress.planned}]"
