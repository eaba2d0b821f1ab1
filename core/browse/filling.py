"""Reads operations and writes their rows: the indexes first, as whether queries stand depends on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from core.browse.operations import Facts, Pending, Slot, Task
from core.browse.reading import Readers, in_batches
from core.browse.schema import INDEXES, KINDS, Names
from core.browse.writer import Writer
from core.errors import StoppedError

OnProgress = Callable[[int, int], None]  # operations read, operations to read
IsCancelled = Callable[[], bool]
CANCELLED = "indexing was cancelled; nothing of it was kept"


class Filling:
    """One pass over operations that are to be read; `total` may grow while it goes on."""

    def __init__(
        self,
        writer: Writer,
        readers: Readers,
        total: int,
        on_progress: OnProgress,
        is_cancelled: IsCancelled,
    ) -> None:
        self.total = total
        self._done = 0
        self._writer = writer
        self._readers = readers
        self._on_progress = on_progress
        self._is_cancelled = is_cancelled

    def read_indexes(self, pending: Sequence[Pending]) -> dict[tuple[int, int], str | None]:
        """Read indexes, and return each cell's digest by candidate and repository."""
        digests = {}
        for slots, found in self._read(pending):
            for slot, facts in zip(slots, found, strict=True):
                self._writer.set_index(slot.candidate, slot.repository, facts.digest)
                digests[slot.candidate, slot.repository] = facts.digest
            self._write(slots, found)
        return digests

    def read(self, pending: Iterable[Pending]) -> None:
        """Read queries and probes; raises StoppedError once cancelled."""
        for slots, found in self._read(pending):
            self._write(slots, found)

    def _read(self, pending: Iterable[Pending]) -> Iterator[tuple[list[Slot], list[Facts]]]:
        for batch, found in self._readers.read(in_batches(pending, self._is_cancelled)):
            yield [item.slot for item in batch], found
        if self._is_cancelled():
            raise StoppedError(CANCELLED)

    def _write(self, slots: Sequence[Slot], found: Sequence[Facts]) -> None:
        self._writer.put(slots, found)
        self._done += len(slots)
        self._on_progress(self._done, self.total)


def all_indexes(names: Names) -> list[Pending]:
    """Return each cell's index operation."""
    kind = KINDS[INDEXES]
    return [
        Pending(Slot(INDEXES, at, candidate, at, None), Task(name, repository, kind, None))
        for at, repository in enumerate(names.repositories)
        for candidate, name in enumerate(names.candidates)
    ]
