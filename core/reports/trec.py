"""TREC run and qrels files from which trec_eval and its kin compute the numbers of our reports.

A known-target match is a rule, TREC's is equality of document names. So the rule is applied here, at
the level that the report uses: a result that matches a target bears the target's name (`docno`), the
first such result only; every other result bears its own. Ranks are kept: line i of a query is result i
(at the level `file` the i-th file), with strictly falling scores. From these files success_k equals our
hit, recall_k our recall and reciprocal rank our MRR, with two conditions:

- A failed query, and one without results, has no lines. Average over all queries of the qrels
  (`trec_eval -c`; ir-measures does so by itself), not over those of the run.
- A result that matches several targets of its case at once can bear one name only, and takes the first
  that no earlier result has. Hit and MRR stay equal; recall may come out lower. Cases with one
  target, all that known-target banks derive, are not concerned.

`core.docno` says how a document is named.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import cast

from core.banks.case import Case
from core.docno import docno
from core.questions import collapsed
from core.ranking import Kind, Level, Location, Target
from core.scoring.matching import matches


def run_lines(
    candidate: str, rows: Iterable[tuple[Case, Sequence[Location]]], level: Level, private: Collection[str]
) -> Iterator[str]:
    """Yield the lines of a TREC run, `CASE Q0 DOCNO RANK SCORE CANDIDATE`, each with its line end.

    Cases of the repositories labelled in `private` are left out.
    """
    for case, ranking in rows:
        if case.repo in private:
            continue
        if level == "file":
            ranking = collapsed(ranking)
        size = len(ranking)
        for rank, name in enumerate(_names(ranking, case.targets, level), start=1):
            yield f"{case.id} Q0 {name} {rank} {size - rank + 1} {candidate}\n"


def qrels_lines(cases: Iterable[Case], private: Collection[str]) -> Iterator[str]:
    """Yield the lines of TREC qrels, `CASE 0 DOCNO 1` for each known target, each with its line end.

    Cases of the repositories labelled in `private` are left out.
    """
    for case in cases:
        if case.repo not in private:
            for target in case.targets:
                yield f"{case.id} 0 {docno(*target)} 1\n"


def _names(ranking: Iterable[Location], targets: Sequence[Target], level: Level) -> Iterator[str]:
    unclaimed = list(targets)
    used = {
        (target.path, cast("int | None", target.line), cast("Kind | None", target.kind)): 1
        for target in targets
    }
    for location in ranking:
        claimed = next((target for target in unclaimed if matches(location, target, level)), None)
        if claimed is not None:
            unclaimed.remove(claimed)
            yield docno(*claimed)
            continue
        own = (location.path, location.line, location.kind)
        used[own] = used.get(own, 0) + 1
        yield docno(*own, used[own])
