"""Scoring 100,000 parsed rankings of 100 results, beside `pytrec_eval-terrier` for the same measures.

Both get what they read already parsed, ranking by ranking: Boresight its locations, pytrec_eval its
dictionaries of scores, 1,000 queries at a time since it cannot stream. Each runs in a process of its own, so
that peak memory is its own. Boresight's time is told twice: reducing each ranking and the means (the same
measures), and the whole scoreboard, whose intervals, significance and costs pytrec_eval has nothing for.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from core.outcomes import read_outcomes
from core.ranking import Location, Target
from core.scoring.aggregate import score
from core.scoring.matching import answered_query
from core.scoring.profile import RankProfile
from core.scoring.records import CandidatePlan, PlannedCase, QueryScore, ScoringPlan
from tests.bench.generate import Shape, generate
from tests.bench.row import Row, in_own_process, peak_megabytes, seconds

RANKINGS = 100_000
DEPTH = 100
CANDIDATES = ("a", "b")
POOL = 200  # distinct rankings; each case has a target of its own in one of them
CUTOFFS = (1, 5, 10)
BATCH = 1_000
TIMES = 3
READ = 10_000  # operations of a generated run whose evidence is read and verified


def rows() -> list[Row]:
    """Return the rows of scoring: time, memory, and apart from both the reading of evidence."""
    ours, theirs = [], []
    for _ in range(TIMES):
        ours.append(in_own_process("scoring", "boresight"))
        theirs.append(in_own_process("scoring", "pytrec_eval"))
    measures, board = (median(one[key] for one in ours) for key in ("measures_s", "board_s"))
    trec = median(one["measures_s"] for one in theirs)
    peak = max(one["peak_mb"] for one in ours)
    ratio = median(one["measures_s"] / other["measures_s"] for one, other in zip(ours, theirs, strict=True))
    whole = median(one["board_s"] / other["measures_s"] for one, other in zip(ours, theirs, strict=True))
    name = f"{RANKINGS:,} rankings × {DEPTH}"
    return [
        Row(
            f"scoring {name}: hit, recall, MRR",
            "≤ 1 × pytrec_eval-terrier",
            f"{measures:.2f} s, pytrec_eval {trec:.2f} s (processor time)",
            ratio,
            1.0,
        ),
        Row(
            "  the whole scoreboard of them, statistics included",
            "reported apart",
            f"{board:.2f} s, {whole:.1f} × pytrec_eval's measures alone",
            None,
            None,
        ),
        Row(f"  peak memory of scoring {name}", "≤ 500 MB", f"{peak:.0f} MB", peak, 500.0),
        _reading(),
    ]


def _reading() -> Row:
    with tempfile.TemporaryDirectory(prefix="boresight-bench-") as folder:
        run = generate(Path(folder, "made"), Shape(cases=READ // 4, candidates=2, results=DEPTH))
        took = median(seconds(lambda: read_outcomes(run)) for _ in range(TIMES))
    return Row(
        f"  reading and verifying {READ:,} operations of {DEPTH} results",
        "reported apart",
        f"{took:.2f} s, {READ / took:,.0f} operations/s",
        None,
        None,
    )


def _ranking(number: int) -> list[Location]:
    return [
        Location(f"package_{number}/module_{rank}.py", 10 * rank + 1, 10 * rank + 9, "symbol", 1 / (rank + 1))
        for rank in range(DEPTH)
    ]


def _cases() -> Iterator[tuple[PlannedCase, Target, int]]:
    """Yield each case with its target and the number of the ranking that answers it; 1 in 5 is not found."""
    draw = random.Random(7)
    for number in range(RANKINGS // len(CANDIDATES)):
        pool, rank = number % POOL, draw.randrange(DEPTH * 5 // 4)
        path = f"package_{pool}/module_{rank}.py"
        case = PlannedCase(f"case-{number:06}", f"repository-{number % 4}", "symbol_lookup", "emb", (path,))
        yield case, Target(path, 10 * rank + 1, "symbol"), pool


def _boresight() -> dict[str, Any]:
    rankings = [_ranking(number) for number in range(POOL)]
    cases = list(_cases())
    plan = ScoringPlan(
        tuple(CandidatePlan(name, probes=False, indexes=False) for name in CANDIDATES),
        tuple(f"repository-{number}" for number in range(4)),
        tuple(case for case, _, _ in cases),
        CUTOFFS,
        CANDIDATES[0],
    )

    def answers() -> Iterator[QueryScore]:
        for name in CANDIDATES:
            for case, target, pool in cases:
                yield answered_query(name, case, (target,), rankings[pool], elapsed_s=0.001)

    def measures() -> None:
        profiles = {name: RankProfile() for name in CANDIDATES}
        for query in answers():
            profiles[query.candidate].add(query.target_ranks["exact"])
        for profile in profiles.values():
            profile.means(CUTOFFS)

    took = seconds(measures, time.process_time)
    board = seconds(lambda: score(plan, answers()), time.process_time)
    return {"measures_s": took, "board_s": board, "peak_mb": peak_megabytes()}


def _pytrec_eval() -> dict[str, Any]:
    import pytrec_eval

    rankings = [
        {f"{found.path}:{found.line}": found.score for found in _ranking(number)} for number in range(POOL)
    ]
    cases = list(_cases())
    wanted = {f"{measure}.{','.join(map(str, CUTOFFS))}" for measure in ("success", "recall")}
    took = 0.0
    for _ in CANDIDATES:
        for start in range(0, len(cases), BATCH):
            some = cases[start : start + BATCH]
            judged = {case.case_id: {f"{target.path}:{target.line}": 1} for case, target, _ in some}
            run = {case.case_id: rankings[pool] for case, _, pool in some}
            evaluator = pytrec_eval.RelevanceEvaluator(judged, {*wanted, "recip_rank"})
            took += seconds(lambda run=run, evaluator=evaluator: evaluator.evaluate(run), time.process_time)  # type: ignore[misc]
    return {"measures_s": took, "peak_mb": peak_megabytes()}


if __name__ == "__main__":
    print(json.dumps({"boresight": _boresight, "pytrec_eval": _pytrec_eval}[sys.argv[1]]()))
