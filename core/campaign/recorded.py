"""Whether recorded answers are answers to this campaign's cases, which only the campaign can tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from core.banks.case import Bank
from core.errors import ProblemsError
from core.questions import RANKING_DEPTH
from core.retrievers.protocol import Recorded, Retriever


def demand_recorded(bank: Bank, retrievers: Mapping[str, Retriever], cutoffs: Sequence[int]) -> None:
    """Refuse recorded answers to other questions, or to fewer results than the campaign scores.

    A bank that has more cases than were recorded is no error: its others are answered with nothing found.
    Raises ProblemsError.
    """
    depth = RANKING_DEPTH if bank.graded else max(cutoffs)
    problems = [
        f"{name}: {problem}"
        for name, retriever in retrievers.items()
        if not retriever.features.executes and isinstance(retriever, Recorded)
        for problem in _problems(bank, retriever, depth)
    ]
    if problems:
        raise ProblemsError("These recorded answers are not answers to this campaign:", problems)


def _problems(bank: Bank, recorded: Recorded, depth: int) -> Iterator[str]:
    texts = recorded.recorded_queries()
    common = [case for case in bank.cases if case.id in texts]
    if not common:
        yield (
            f"none of its {len(texts)} queries is a case of this bank; it was made for another bank, "
            "or names its queries by something else than the case's id"
        )
    changed = [case.id for case in common if texts[case.id] not in (None, case.query)]
    if changed:
        yield (
            f"{len(changed)} cases ask something else there, such as {changed[0]}; "
            "replay it with the bank that it was made for"
        )
    if recorded.recorded_depth is not None and recorded.recorded_depth < depth:
        yield (
            f"it asked for {recorded.recorded_depth} results each, this campaign scores up to {depth}: "
            "lower the cutoffs"
        )
