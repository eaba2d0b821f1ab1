"""TREC run and qrels files from which trec_eval and its kin compute the numbers of our reports.

A known-target match is a rule, TREC's is equality of document names. So the rule is applied here, at
the level that the report uses: a result that matches a target bears the target's name (`docno`), the
first such result only; every other result bears its own. Ranks are kept: line i of a query is result
i, with strictly falling scores. From these files success_k equals our hit, recall_k our recall and
reciprocal rank our MRR, with two conditions:

- A failed query, and one without results, has no lines. Average over all queries of the qrels
  (`trec_eval -c`; ir-measures does so by itself), not over those of the run.
- A result that matches several targets of its case at once can bear one name only, and takes the first
  that no earlier result has. Hit and MRR stay equal; recall may come out lower. Cases with one
  target, all that known-target banks derive, are not concerned.

A docno is `PATH:LINE:KIND`, with `-` for what a result does not tell and line 0 for a file target. In
PATH every byte of its UTF-8 but letters, digits and `/ _ . - ~ + @ ,` is percent-encoded, so that white
space, `%`, `:` and `#` never stand bare. `#N` at the end marks the Nth use of a name within one query.
`parse_docno` reverses it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, cast
from urllib.parse import quote, unquote

from core.banks.case import Case
from core.errors import InputError
from core.ranking import KINDS, Kind, Level, Location, Target
from core.scoring.matching import matches
from core.text import printable

_SAFE = "/_.-~+@,"
_ABSENT = "-"
_DOCNO = re.compile(r"([^:#\s]+):(-|0|[1-9]\d{0,17}):([a-z]+|-)(?:#([1-9]\d{0,8}))?\Z")


class Docno(NamedTuple):
    """What a document name says: a place, and which use of it within its query this is."""

    path: str
    line: int | None
    kind: Kind | None
    occurrence: int = 1


def docno(path: str, line: int | None, kind: Kind | None, occurrence: int = 1) -> str:
    """Return the document name of a place; `line` 0 is a whole file's target."""
    encoded = quote(path, safe=_SAFE, errors="surrogatepass")
    name = f"{encoded}:{_ABSENT if line is None else line}:{kind or _ABSENT}"
    return name if occurrence == 1 else f"{name}#{occurrence}"


def parse_docno(name: str) -> Docno:
    """Return what a document name says; raises InputError for one that `docno` cannot have made."""
    found = _DOCNO.match(name)
    if found is not None:
        path, line, kind, occurrence = found.groups()
        try:
            plain = unquote(path, errors="surrogatepass")
        except UnicodeDecodeError:
            plain = ""
        parsed = Docno(
            plain,
            None if line == _ABSENT else int(line),
            None if kind == _ABSENT else cast(Kind, kind),
            int(occurrence or 1),
        )
        if kind in (*KINDS, _ABSENT) and docno(*parsed) == name:
            return parsed
    raise InputError(
        f"found the document name {printable(name, 120)!r}, expected PATH:LINE:KIND as Boresight exports it "
        "(percent-encoded path; a line number or -; symbol, documentation, file or -)"
    )


def run_lines(
    candidate: str, rows: Iterable[tuple[Case, Sequence[Location]]], level: Level, private: Collection[str]
) -> Iterator[str]:
    """Yield the lines of a TREC run, `CASE Q0 DOCNO RANK SCORE CANDIDATE`, each with its line end.

    Cases of the repositories labelled in `private` are left out.
    """
    for case, ranking in rows:
        if case.repo in private:
            continue
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
