"""The app on a run of 100,000 cases and 3 candidates: from home to its queries, filters, keys, memory.

Nothing is drawn on a terminal; all else is as people have it, at 160 × 50. Times are from a wish (a screen, a
filter, a key) to its outcome laid out on the screen. While keys are timed, another process holds the run's
lock and tells 200 events a second, as a campaign would.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

from textual.pilot import Pilot
from textual.widgets import DataTable

from core.browse.filters import Disagreement, Filters, OutcomeFilter, Sort
from core.browse.index import open_index
from core.campaign.plan import Planned, read_plan
from core.run.events import EventLog, OperationFinished, OperationStarted, Phase, Progress
from core.run.lock import RunLock
from tests.bench.big import CANDIDATES, CASES, big_run
from tests.bench.row import ROOT, Row, in_own_process, peak_megabytes
from tui.app import BoresightApp, spare_the_collector
from tui.navigation import ShowMonitor, ShowQueries
from tui.screens.queries import QueriesScreen

SIZE = (160, 50)
EVENTS_A_SECOND = 200
OPENINGS = 5
FILTER_TURNS = 3
KEYS = 150
KEY_EVERY_S = 0.06
SETTLED_S = 1.0
PATIENCE_S = 120.0
PHASES: dict[str, Phase] = {"index": "indexing", "primary": "querying", "ctx": "probing"}
A, B, C = (f"candidate-{number}" for number in range(CANDIDATES))
WISHES: tuple[tuple[str, Filters, Sort], ...] = (
    ("one intent", Filters(intents=("task_lookup",)), Sort()),
    ("a hits, b misses", Filters(disagreements=(Disagreement(A, B),)), Sort()),
    ("some differ", Filters(differ=True), Sort()),
    ("two outcomes", Filters(outcomes=(OutcomeFilter(A, ("miss",)), OutcomeFilter(C, ("hit",)))), Sort()),
    ("text, many", Filters(text="record_99"), Sort()),
    ("text, none", Filters(text="nothing like it"), Sort()),
    ("by rank", Filters(), Sort("rank", C)),
    ("by difference", Filters(), Sort("delta", A, B)),
    ("by time, filtered", Filters(differ=True), Sort("elapsed", A, descending=True)),
    ("everything", Filters(), Sort()),
)


def rows() -> list[Row]:
    """Return the rows of the app's four promises."""
    run = big_run()
    open_index(run).close()
    found = in_own_process("app", str(run))
    slowest, name = max((median(times), name) for name, times in found["filters"].items())
    every = [value for times in found["filters"].values() for value in times]
    what = f"app, {CASES:,} cases × {CANDIDATES}, index ready: home to its queries"
    return [
        Row(what, "< 1.5 s", _spread(found["opened"], 1, "s"), median(found["opened"]), 1.5),
        Row(
            "  a filter or an order changed (the slowest kind)",
            "< 0.3 s",
            f"{name}: {slowest:.2f} s; all kinds {median(every):.2f} s (medians)",
            slowest,
            0.3,
        ),
        *(
            Row(
                f"  a key answered in {screen}, {EVENTS_A_SECOND} events a second",
                "< 50 ms",
                _spread(times, 1e3, "ms"),
                median(times) * 1e3,
                50.0,
            )
            for screen, times in found["keys"].items()
        ),
        Row("  peak memory", "< 500 MB", f"{found['peak_mb']:.0f} MB", found["peak_mb"], 500.0),
    ]


def _spread(values: Sequence[float], scale: float, unit: str) -> str:
    ninth = quantiles(values, n=10)[-1] if len(values) > 1 else values[0]
    return f"{median(values) * scale:.3g} {unit} (nine of ten within {ninth * scale:.3g})"


# What the fresh process measures


class Waiting(NamedTuple):
    """The app and what drives it."""

    app: BoresightApp
    pilot: Pilot[Any]

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for a condition without asking the event loop to rest."""
        deadline = time.perf_counter() + PATIENCE_S
        while not condition():
            if time.perf_counter() > deadline:
                raise TimeoutError("the app never came so far")
            await asyncio.sleep(0.001)

    async def drawn(self) -> None:
        """Wait until what changed is laid out."""
        done = asyncio.Event()
        self.app.screen.call_after_refresh(done.set)
        await asyncio.wait_for(done.wait(), PATIENCE_S)


def main(run: Path) -> None:
    """Measure, and print the figures as JSON."""
    print(json.dumps(asyncio.run(_measured(run))))


async def _measured(run: Path) -> dict[str, Any]:
    app = BoresightApp(run.parent, settings=run.parent / "no-settings.toml")
    spare_the_collector()
    async with app.run_test(size=SIZE) as pilot:
        waiting = Waiting(app, pilot)
        await waiting.until(lambda: any(row.path == run for row in app.home.rows))
        opened = [await _open_queries(waiting, run) for _ in range(OPENINGS)]
        filters = await _change_filters(waiting)
        async with _campaign(run):
            keys = {"Queries": await _press_keys(waiting)}
            app.post_message(ShowMonitor(run))
            await waiting.until(lambda: not isinstance(app.screen, QueriesScreen))
            await waiting.until(lambda: app.screen.query("#cells") and _table(app).row_count > 0)
            keys["Monitor"] = await _press_keys(waiting)
    return {"opened": opened, "filters": filters, "keys": keys, "peak_mb": peak_megabytes()}


async def _open_queries(waiting: Waiting, run: Path) -> float:
    """Open the queries from home, with the index closed before; the screen stays."""
    app = waiting.app
    while len(app.screen_stack) > 1:
        await app.pop_screen()
    app.indexes.forget(run)
    start = time.perf_counter()
    app.post_message(ShowQueries(run))
    await waiting.until(lambda: isinstance(app.screen, QueriesScreen) and app.screen.rows)
    await waiting.drawn()
    return time.perf_counter() - start


async def _change_filters(waiting: Waiting) -> dict[str, list[float]]:
    screen = waiting.app.screen
    if not isinstance(screen, QueriesScreen):
        raise TypeError("the queries are not shown")
    found: dict[str, list[float]] = {name: [] for name, _, _ in WISHES}
    for _ in range(FILTER_TURNS):
        for name, filters, order in WISHES:
            await asyncio.sleep(SETTLED_S / 4)
            before = screen.rows
            start = time.perf_counter()
            screen.ask_for(filters, order)
            await waiting.until(lambda before=before: screen.rows is not before)  # type: ignore[misc]
            await waiting.drawn()
            found[name].append(time.perf_counter() - start)
    return found


def _table(app: BoresightApp) -> DataTable[Any]:
    return app.screen.query_one("#cases, #cells", DataTable)


async def _press_keys(waiting: Waiting) -> list[float]:
    """Press down and up in turn; each is answered once the cursor has moved and is drawn."""
    app = waiting.app
    await asyncio.sleep(SETTLED_S)
    table = _table(app)
    app.screen.set_focus(table)
    table.move_cursor(row=0)
    await asyncio.sleep(SETTLED_S)
    found = []
    for number in range(KEYS):
        at = 1 - number % 2
        start = time.perf_counter()
        app.simulate_key("down" if at else "up")
        await waiting.until(lambda at=at: table.cursor_row == at)  # type: ignore[misc]
        await waiting.drawn()
        found.append(time.perf_counter() - start)
        await asyncio.sleep(KEY_EVERY_S)
    return found


# The campaign that goes on meanwhile


@asynccontextmanager
async def _campaign(run: Path) -> AsyncIterator[None]:
    """Let another process play the run's engine; the run is afterwards as it was."""
    events = run / "events.jsonl"
    size = events.stat().st_size if events.exists() else None
    teller = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.app", "--tell", str(run)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        await asyncio.to_thread(teller.stdout.readline)  # type: ignore[union-attr]
        yield
    finally:
        await asyncio.to_thread(teller.communicate)
        if size is None:
            events.unlink(missing_ok=True)
        else:
            with open(events, "ab") as stream:
                stream.truncate(size)


def tell(run: Path) -> None:
    """Hold a run's lock and tell events of its operations, so many a second, until stdin ends."""
    import select

    lock = RunLock(run / ".lock")
    lock.acquire()
    log = EventLog(run / "events.jsonl")
    plan = list(read_plan(run / "plan.jsonl"))
    print("telling", flush=True)
    start, told = time.monotonic(), 0
    with suppress(KeyboardInterrupt):
        while not select.select([sys.stdin], [], [], 0.005)[0]:
            due = int((time.monotonic() - start) * EVENTS_A_SECOND)
            for number in range(told, due):
                _tell(log, plan, number)
            told = due
    log.close()
    lock.release()


def _tell(log: EventLog, plan: Sequence[Planned], number: int) -> None:
    done, ended = divmod(number, 2)
    planned = plan[done % len(plan)]
    operation = planned.operation
    shared: dict[str, Any] = {
        "candidate": operation.candidate,
        "repository": operation.repository,
        "phase": PHASES[operation.kind],
        "operation": operation.name,
        "intent": planned.intent,
        "channel": planned.channel,
        "attempt": 1,
        "progress": Progress(completed=done + ended, planned=len(plan)),
    }
    if ended:
        log.emit(OperationFinished(**shared, outcome="accepted", elapsed_s=0.01))
    else:
        log.emit(OperationStarted(**shared))


if __name__ == "__main__":
    if sys.argv[1] == "--tell":
        tell(Path(sys.argv[2]))
    else:
        main(Path(sys.argv[1]))
