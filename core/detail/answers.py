"""What each candidate answered, read back from evidence whose digests hold."""

from __future__ import annotations

from collections.abc import Sequence

from core.browse.rows import CaseDetail, OperationRow, OutcomeStatus
from core.campaign.plan import Planned
from core.detail.facts import fact_views
from core.detail.records import AnswerView, ProbeView, RankedResult, TargetSource
from core.detail.source_tree import SourceTree
from core.detail.sources import result_excerpt
from core.errors import IdentityError
from core.questions import Question
from core.ranking import Level, Location, Ranking, Target
from core.rankings import EvidenceReader, Observation
from core.retrievers.protocol import AnswerError
from core.run.layout import INDEX, Operation
from core.scoring.matching import matches, target_ranks_by_level

CONTEXT_CHARACTERS = 6000
_QUOTE_CHARACTERS = 8  # a shorter line, such as `else:`, proves nothing
UNASKED = "its channel is not one that this candidate answers"
NO_INDEX = "its index is not accepted, so the answer does not count"
REINDEXED = "its index was made anew since, so the answer no longer counts"


class _RefusedError(Exception):
    """An operation has no output that may be shown."""

    def __init__(self, status: OutcomeStatus, message: str) -> None:
        self.status = status
        super().__init__(message)


def answer_view(
    reader: EvidenceReader,
    candidate: str,
    detail: CaseDetail,
    sources: tuple[SourceTree, Sequence[TargetSource]],
    level: Level,
    question: Question | None = None,
) -> AnswerView:
    """Return what became of a case with one candidate; whatever is wrong with it is told, not raised.

    A graded question's facts are looked for in its context.
    """
    tree, targets = sources
    row = detail.primaries.get(candidate)
    probe = detail.probes.get(candidate)
    view = AnswerView(
        candidate=candidate,
        status=row.status if row else "unsupported",
        rank=None,
        ranked=0,
        results=(),
        elapsed_s=row.elapsed_s if row else None,
        attempt=row.attempt if row else None,
        attempts=row.attempts if row else 0,
        problem=None,
        probe=None if probe is None else _probe_view(reader, probe, targets, question),
    )
    if row is None or row.status == "unsupported":
        return view._replace(problem=UNASKED)
    try:
        seen = _observed(reader, row.operation)
        ranking = reader.ranking(seen)
    except _RefusedError as refused:
        return view._replace(status=refused.status, problem=str(refused))
    except AnswerError as error:
        return view._replace(status="failed", problem=f"{error.kind}: {error}")
    results = ranked_results(ranking, detail.targets, level, tree)
    return view._replace(
        status="answered" if results else "empty",
        rank=_first_rank(ranking, detail.targets, level),
        ranked=len({place.path for place in ranking} if level == "file" else ranking),
        results=results,
        elapsed_s=seen.elapsed_s,
    )


def ranked_results(
    ranking: Ranking, targets: Sequence[Target], level: Level, tree: SourceTree
) -> tuple[RankedResult, ...]:
    """Return a ranking with its hits at a level and the first lines of each result."""
    return tuple(
        RankedResult(rank, location, _hits(location, targets, level), *result_excerpt(tree, location))
        for rank, location in enumerate(ranking, start=1)
    )


def _first_rank(ranking: Ranking, targets: Sequence[Target], level: Level) -> int | None:
    ranks = target_ranks_by_level(ranking, targets)[level]
    return min((rank for rank in ranks if rank is not None), default=None)


def _hits(location: Location, targets: Sequence[Target], level: Level) -> tuple[int, ...]:
    return tuple(at for at, target in enumerate(targets) if matches(location, target, level))


def _observed(reader: EvidenceReader, operation: Operation) -> Observation:
    """Return an accepted operation that still counts; raises _RefusedError."""
    reader.changed.clear()
    try:
        seen = reader.observe(Planned(operation))
        index = reader.observe(Planned(Operation(operation.candidate, operation.repository, INDEX)))
    except IdentityError as error:
        raise _RefusedError("changed", str(error)) from None
    told = [line for line in reader.changed if f"/{INDEX}/" not in line]
    if told:
        raise _RefusedError("changed", "\n".join(told))
    if seen.status == "failed":
        validation = seen.record["validation"] if seen.record else {}
        raise _RefusedError("failed", _told(validation.get("error_class"), validation.get("message")))
    if seen.result is None:
        raise _RefusedError("missing", "no attempt of it has ended")
    if index.result is None:
        raise _RefusedError("missing", NO_INDEX)
    if seen.result.index_measurement_sha256 != index.result.measurement_sha256:
        raise _RefusedError("missing", REINDEXED)
    return seen


def _told(error_class: object, message: object) -> str:
    return ": ".join(str(part) for part in (error_class, message) if part) or "it failed without a word"


def _probe_view(
    reader: EvidenceReader, row: OperationRow, targets: Sequence[TargetSource], question: Question | None
) -> ProbeView:
    try:
        seen = _observed(reader, row.operation)
        context = reader.context(seen)
    except _RefusedError as refused:
        return ProbeView(refused.status, row.elapsed_s, str(refused))
    except AnswerError as error:
        return ProbeView("failed", row.elapsed_s, f"{error.kind}: {error}")
    places = [source.target for source in targets]
    return ProbeView(
        "answered" if context.text or context.ranking else "empty",
        seen.elapsed_s,
        text=context.text[:CONTEXT_CHARACTERS],
        characters=len(context.text),
        words=len(context.text.split()),
        results=len(context.ranking),
        result=next(
            (rank for rank, place in enumerate(context.ranking, 1) if _hits(place, places, "span")), None
        ),
        quotes_target=any(_is_quoted(source, context.text) for source in targets),
        facts=() if question is None else fact_views(context.text, question),
    )


def _is_quoted(source: TargetSource, text: str) -> bool:
    """Tell whether the line of a target stands in a text."""
    excerpt, line = source.excerpt, source.target.line
    if excerpt is None or not line:
        return False
    own = excerpt.lines[line - excerpt.first].strip()
    return len(own) >= _QUOTE_CHARACTERS and own in text
