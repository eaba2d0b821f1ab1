"""A run's index, open for screens: answers come in pages, within milliseconds, to any thread that asks."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from collections.abc import Callable, Collection
from pathlib import Path
from types import TracebackType
from typing import Concatenate, ParamSpec, TypeVar

from core.browse import case_queries, operation_queries
from core.browse.case_queries import check_page
from core.browse.filling import IsCancelled, OnProgress
from core.browse.filters import Filters, Sort
from core.browse.opening import Wish, distrust, ready_index
from core.browse.operation_queries import OperationFilters, OperationSort
from core.browse.operations import Attempt
from core.browse.rows import CaseDetail, CaseRow, CellRow, FailureGroup, OperationRow, Problem
from core.browse.schema import Names, connect, names_of, read_meta
from core.errors import BoresightError
from core.ranking import Level
from core.run.layout import Operation
from core.run.record import RunRecord, read_run

PAGE = 250  # rows: a table takes a sixth of a millisecond for each that it is given
ALL_CASES = Filters()
ALL_OPERATIONS = OperationFilters()
BANK_ORDER = Sort()

_P = ParamSpec("_P")
_T = TypeVar("_T")


class DamagedIndexError(BoresightError):
    """An index turned out to be damaged; opening the run again builds it anew."""


def _silent(done: int, total: int) -> None:
    return


def _never() -> bool:
    return False


def open_index(
    run: Path,
    on_progress: OnProgress = _silent,
    is_cancelled: IsCancelled = _never,
    *,
    catch_up: bool = True,
    thorough: bool = False,
) -> RunIndex:
    """Open a run's index, building it or bringing it up to date where needed.

    `on_progress` is told the operations read and to read. Without `catch_up`, an index that holds is opened
    as it is, however far the run has gone on since: `refresh` catches up. With `thorough` all evidence is
    read and compared with its digests again. Raises InputError or IdentityError where the run cannot be
    trusted, StoppedError where it was cancelled, BoresightError where there is nowhere to write.
    """
    record = read_run(run)
    file = ready_index(record, Wish(on_progress, is_cancelled, None, catch_up, thorough))
    return RunIndex(record, file)


class RunIndex:
    """An open index. Its answers are those of the last `open_index` or `refresh`, never authority.

    Threads may share it; they take turns. Each answer raises InputError for a name that the run does not
    have, and DamagedIndexError where the file turns out to be no whole index.
    """

    def __init__(self, record: RunRecord, file: Path) -> None:
        self.record = record
        self.file = file
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._names = self._connect()

    def __enter__(self) -> RunIndex:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    @property
    def candidates(self) -> tuple[str, ...]:
        """The candidates, in the order of each row's standings."""
        return self._names.candidates

    @property
    def repositories(self) -> tuple[str, ...]:
        """The repositories, in the manifest's order."""
        return self._names.repositories

    @property
    def intents(self) -> tuple[str, ...]:
        """The intents, in the bank's order."""
        return self._names.intents

    @property
    def level(self) -> Level:
        """The finest matching level that all candidates support, which filters use unless told otherwise."""
        return self._names.level

    def refresh(
        self,
        only: Collection[Operation] | None = None,
        on_progress: OnProgress = _silent,
        is_cancelled: IsCancelled = _never,
    ) -> None:
        """Catch up with the run: look at each operation, or read `only` those that an event has told of."""
        file = ready_index(self.record, Wish(on_progress, is_cancelled, only))
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self.file = file
            self._names = self._connect()

    def count(self, filters: Filters = ALL_CASES) -> int:
        """Return how many cases fulfil the filters."""
        return self._ask(case_queries.count_cases, filters)

    def page(
        self, filters: Filters = ALL_CASES, sort: Sort = BANK_ORDER, offset: int = 0, limit: int = PAGE
    ) -> tuple[CaseRow, ...]:
        """Return the cases from `offset` on that fulfil the filters; fewer than `limit` only at their end."""
        return self._ask(case_queries.case_page, filters, sort, offset, limit)

    def case(self, case_id: str) -> CaseDetail:
        """Return all that is held of a case."""
        return self._ask(case_queries.case_detail, case_id)

    def count_operations(self, filters: OperationFilters = ALL_OPERATIONS) -> int:
        """Return how many planned operations match."""
        return self._ask(operation_queries.count_operations, filters)

    def operations(
        self,
        filters: OperationFilters = ALL_OPERATIONS,
        offset: int = 0,
        limit: int = PAGE,
        sort: OperationSort = "status",
    ) -> tuple[OperationRow, ...]:
        """Return planned operations that match: changed ones, failed ones, then the rest cell by cell.

        Sorted by anything else than status, those stand first that took most of it.
        """
        check_page(offset, limit)
        return self._ask(operation_queries.operation_page, filters, offset, limit, sort)

    def attempts(self, operation: Operation) -> tuple[Attempt, ...]:
        """Return every attempt of a planned operation, interrupted ones too."""
        return self._ask(operation_queries.attempts_of, operation)

    def failures_by_class(self) -> tuple[FailureGroup, ...]:
        """Return failed operations counted by error class and cell, the most frequent first."""
        return self._ask(operation_queries.failure_groups)

    def cells(self) -> tuple[CellRow, ...]:
        """Return every cell with its index, counts by status and median seconds by channel."""
        return self._ask(operation_queries.cell_rows)

    def count_problems(self) -> int:
        """Return how many pieces of evidence were found changed or unreadable."""
        return self._ask(lambda connection, names: operation_queries.count_problems(connection))

    def problems(self, offset: int = 0, limit: int = PAGE) -> tuple[Problem, ...]:
        """Return the evidence that was found changed or unreadable."""
        check_page(offset, limit)
        return self._ask(operation_queries.problem_page, offset, limit)

    def close(self) -> None:
        """Close the file; safe to call twice."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _connect(self) -> Names:
        try:
            self._connection = connect(self.file)
            return names_of(read_meta(self._connection))
        except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
            raise self._damaged(error) from None

    def _ask(
        self,
        question: Callable[Concatenate[sqlite3.Connection, Names, _P], _T],
        *args: _P.args,
        **kwargs: _P.kwargs,
    ) -> _T:
        with self._lock:
            if self._connection is None:
                raise BoresightError(f"{self.file}: this index is closed; open the run again")
            try:
                return question(self._connection, self._names, *args, **kwargs)
            except (sqlite3.DatabaseError, json.JSONDecodeError, IndexError) as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
                    raise BoresightError(f"{self.file}: being written just now; ask again") from None
                raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> DamagedIndexError:
        """Take a damaged index away, as its head may look whole."""
        self.close()
        with contextlib.suppress(OSError):
            distrust(self.file)
        return DamagedIndexError(f"{self.file}: damaged ({error}); open the run again, which builds it anew")
