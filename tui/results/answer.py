"""The answer in sentences, with what a reader must know before believing it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from textual.content import Content

from core.reports.cautions import cautions
from core.reports.sentence import Name, Sentence, plain
from core.reports.verdict import headline
from core.reports.wording import LIMITS_OF, RSS_CAVEAT, disturbance
from core.text import printable
from tui.results.loading import Loaded


def answer(loaded: Loaded) -> Content:
    """Return the verdict, then each caution on a line of its own, with candidates set off."""
    lines = [Content.assemble(("Changed: ", "bold"), _sentence(told)) for told in _changed(loaded)]
    told = headline(loaded.board, _run(loaded))
    lines.append(Content(" ").join(_sentence(sentence) for sentence in told))
    lines += [Content.assemble(("Note: ", "bold"), _sentence(sentence)) for sentence in _notes(loaded)]
    return Content("\n").join(lines)


def answer_in_full(loaded: Loaded) -> str:
    """Return the answer as text, followed by what the numbers do not say."""
    told = [f"Changed: {plain(sentence)}" for sentence in _changed(loaded)]
    told += [plain(sentence) for sentence in headline(loaded.board, _run(loaded))]
    told += ["", *(f"Note: {plain(sentence)}" for sentence in _notes(loaded))]
    if loaded.changed:
        told += ["", "Evidence that differs from its digest:", *loaded.changed]
    limits = (*LIMITS_OF[loaded.board.sought], RSS_CAVEAT)
    told += ["", "What this does not say:", *(f"- {limit}" for limit in limits)]
    return "\n".join(told)


def _run(loaded: Loaded) -> str:
    """Return the run's path as a shell takes it."""
    return shlex.quote(str(loaded.status.path)) if loaded.status is not None else "RUN"


def _changed(loaded: Loaded) -> Iterator[Sentence]:
    if loaded.changed:
        rest = " and more" if len(loaded.changed) > 1 else ""
        yield (
            "Evidence is not what was recorded. It counts as missing here, so these figures are no result. "
            f"`boresight verify RUN` names all of it: {loaded.changed[0]}{rest}.",
        )


def _notes(loaded: Loaded) -> Iterator[Sentence]:
    yield from cautions(loaded.board, loaded.facts)
    disturbed = disturbance(*loaded.facts.disturbed)
    if disturbed:
        yield (disturbed,)


def _sentence(sentence: Sentence) -> Content:
    parts: Sequence[str | tuple[str, str]] = [
        (printable(part), "bold") if isinstance(part, Name) else printable(part) for part in sentence
    ]
    return Content.assemble(*parts)
