"""The indexes that screens read from, opened once each and shared by all screens of the app."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

from core.browse.filling import IsCancelled, OnProgress
from core.browse.index import RunIndex, open_index
from core.browse.places import NAME as INDEX_NAME

KEPT = 12  # indexes held open at once; more than screens and the command palette read from


class Indexes:
    """Opens runs' indexes and keeps the latest few; for threads, as building one takes a while."""

    def __init__(self) -> None:
        self._open: OrderedDict[Path, RunIndex] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, run: Path, on_progress: OnProgress, is_cancelled: IsCancelled) -> RunIndex:
        """Return a run's index, up to date; raises BoresightError, StoppedError where cancelled."""
        with self._lock:
            index = self._open.get(run)
        if index is not None:
            index.refresh(None, on_progress, is_cancelled)
            return index
        return self._keep(run, open_index(run, on_progress, is_cancelled))

    def _keep(self, run: Path, index: RunIndex) -> RunIndex:
        with self._lock:
            kept = self._open.setdefault(run, index)
            self._open.move_to_end(run)
            while len(self._open) > KEPT:
                self._open.popitem(last=False)[1].close()
        if kept is not index:  # another thread was faster
            index.close()
        return kept

    def stands(self, run: Path) -> bool:
        """Tell whether a run's index is open, or lies in the run: looking into it then takes no building."""
        with self._lock:
            is_open = run in self._open
        return is_open or (run / INDEX_NAME).is_file()

    def glance(self, run: Path) -> RunIndex:
        """Return a run's index as it is, however far the run has gone on since, and never build one.

        Raises BoresightError, StoppedError where it would have to be built.
        """
        with self._lock:
            index = self._open.get(run)
        if index is not None:
            return index
        return self._keep(run, open_index(run, is_cancelled=lambda: True, catch_up=False))

    def forget(self, run: Path) -> None:
        """Close a run's index, because its file was found damaged or the run is gone."""
        with self._lock:
            index = self._open.pop(run, None)
        if index is not None:
            index.close()

    def close(self) -> None:
        """Close them all."""
        with self._lock:
            while self._open:
                self._open.popitem()[1].close()
