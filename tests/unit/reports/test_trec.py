from __future__ import annotations

import random
from typing import Any

import ir_measures
import pytest

from core.banks.case import Case, Evidence
from core.ranking import KINDS, LEVELS, Kind, Level, Location, Target
from core.reports.trec import qrels_lines, run_lines
from core.scoring.matching import target_ranks

CUTOFFS = (1, 3, 5, 10)
PATHS = ("a.py", "b c.py", "d%20:e#2.md")


def a_case(number: int, targets: tuple[Target, ...], repo: str = "alpha") -> Case:
    return Case(
        "emb",
        "c" * 40,
        Evidence("r", "e" * 64),
        f"{repo}-q-{number}",
        "symbol_lookup",
        "q",
        repo,
        "v",
        targets,
    )


def a_location(source: random.Random) -> Location:
    line = source.choice([None, 1, 2, 3, 4])
    end = line + source.randint(0, 2) if line and source.random() < 0.5 else None
    return Location(source.choice(PATHS), line, end, source.choice([None, *KINDS]), source.random())


def a_target(source: random.Random) -> Target:
    kind: Kind = source.choice(KINDS)
    return Target(source.choice(PATHS), 0 if kind == "file" else source.randint(1, 4), kind)


def ours(ranks: tuple[int | None, ...], k: int) -> tuple[float, float, float]:
    found = [rank for rank in ranks if rank is not None and rank <= k]
    return float(bool(found)), len(found) / len(ranks), 1 / min(found) if found else 0.0


def evaluate(run: str, qrels: str, k: int) -> dict[str, tuple[float, float, float]]:
    measures = (ir_measures.Success @ k, ir_measures.R @ k, ir_measures.RR @ k)
    reader: Any = ir_measures
    values: dict[str, dict[object, float]] = {}
    for found in reader.iter_calc(
        measures, list(reader.read_trec_qrels(qrels)), list(reader.read_trec_run(run))
    ):
        values.setdefault(found.query_id, {})[found.measure] = found.value
    return {query: (v[measures[0]], v[measures[1]], v[measures[2]]) for query, v in values.items()}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(4))
def test_an_independent_evaluator_computes_our_numbers(level: Level, seed: int) -> None:
    source = random.Random(seed)
    rows = []
    for number in range(60):
        ranking = tuple(dict.fromkeys(a_location(source) for _ in range(source.randint(0, 12))))
        rows.append((a_case(number, (a_target(source),)), ranking))
    run = "".join(run_lines("hybrid", rows, level, ()))
    qrels = "".join(qrels_lines((case for case, _ in rows), ()))
    for k in CUTOFFS:
        theirs = evaluate(run, qrels, k)
        for case, ranking in rows:
            expected = ours(target_ranks(ranking, case.targets, level), k)
            assert theirs[case.id] == pytest.approx(expected), (case, ranking, k)


def test_several_targets_agree_where_no_result_matches_two_at_once() -> None:
    source = random.Random(7)
    rows = []
    for number in range(60):
        targets = tuple(
            Target(path, line, "symbol") for path in PATHS for line in (1, 2) if source.random() < 0.6
        )
        ranking = tuple(
            dict.fromkeys(
                Location(source.choice(PATHS), source.randint(1, 4), None, "symbol") for _ in range(10)
            )
        )
        rows.append((a_case(number, targets or (Target("a.py", 1, "symbol"),)), ranking))
    run = "".join(run_lines("hybrid", rows, "exact", ()))
    qrels = "".join(qrels_lines((case for case, _ in rows), ()))
    theirs = evaluate(run, qrels, 5)
    for case, ranking in rows:
        assert theirs[case.id] == pytest.approx(ours(target_ranks(ranking, case.targets, "exact"), 5))


def test_lines_are_whole_whatever_a_path_holds() -> None:
    case = a_case(1, (Target("a b\n%#:é.py", 3, "symbol"),))
    ranking = (
        Location("x\ty", 1, None, None),
        Location("a b\n%#:é.py", 3, 9, "symbol"),
        Location("x\ty", 1, 5),
    )
    assert list(run_lines("hybrid", [(case, ranking)], "exact", ())) == [
        "alpha-q-1 Q0 x%09y:1:- 1 3 hybrid\n",
        "alpha-q-1 Q0 a%20b%0A%25%23%3A%C3%A9.py:3:symbol 2 2 hybrid\n",
        "alpha-q-1 Q0 x%09y:1:-#2 3 1 hybrid\n",
    ]
    assert list(qrels_lines([case], ())) == ["alpha-q-1 0 a%20b%0A%25%23%3A%C3%A9.py:3:symbol 1\n"]


def test_a_second_match_of_a_target_does_not_take_its_name_again() -> None:
    case = a_case(1, (Target("a.py", 3, "symbol"),))
    ranking = (Location("a.py", 3), Location("a.py", 3, None, "symbol"))
    names = [line.split()[2] for line in run_lines("x", [(case, ranking)], "exact", ())]
    assert names == ["a.py:3:symbol", "a.py:3:symbol#2"]


def test_private_repositories_are_left_out() -> None:
    rows = [(a_case(n, (Target("a", 0, "file"),), repo), ()) for n, repo in enumerate(("alpha", "vault"))]
    shown = [(case, (Location("a"),)) for case, _ in rows]
    assert "vault" not in "".join(run_lines("x", shown, "file", {"vault"}))
    assert "vault" not in "".join(qrels_lines((case for case, _ in rows), {"vault"}))
