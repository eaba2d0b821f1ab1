"""One candidate's answer to a case as text to read: its ranking with hits marked, or its context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from core.detail.records import AnswerView, ProbeView, RankedResult
from core.reports.wording import seconds
from tui.cases.case_text import BAD, GOOD, MUTED, WARN, excerpt_lines, joined, place_of, styled
from tui.cases.fact_text import fact_lines, facts_line
from tui.text import safe_lines

FEW = 10  # results that are shown until all are asked for
_CONTEXT_LINES = {False: 20, True: 200}


def ranking_text(answer: AnswerView, *, every: bool) -> Content:
    """Return a candidate's outcome and its results, the first ones or every one."""
    lines = [outcome_line(answer), probe_line(answer.probe)]
    if answer.probe is not None and answer.probe.facts:
        lines.append(facts_line(answer.probe.facts))
    if answer.problem is not None:
        lines.append(_problem(answer.problem))
    for result in _shown(answer.results, every):
        lines.extend(_result_lines(result))
    hidden = len(answer.results) - FEW
    if hidden > 0 and not every:
        lines.append(styled(f"… {hidden} more results (m shows all)", MUTED))
    return joined(lines)


def context_text(answer: AnswerView, *, every: bool) -> Content:
    """Return a candidate's outcome and the beginning of the context that its probe gave."""
    probe = answer.probe
    lines = [outcome_line(answer), probe_line(probe)]
    if probe is not None and probe.problem is not None:
        lines.append(_problem(probe.problem))
    if probe is not None and probe.problem is None:
        lines.append(_size(probe))
        lines.extend(fact_lines(probe.facts))
    if probe is not None and probe.text:
        rows = probe.text.split("\n")
        lines.append(safe_lines("\n".join(rows[: _CONTEXT_LINES[every]])))
        if len(rows) > _CONTEXT_LINES[every] or len(probe.text) < probe.characters:
            more = "" if every else " (m shows more)"
            lines.append(styled(f"… of {probe.characters:,} characters{more}", MUTED))
    return joined(lines)


def outcome_line(answer: AnswerView) -> Content:
    """Return what became of the query, its time and its attempts."""
    words, style = _outcome(answer)
    parts = [_took(answer.elapsed_s)]
    if answer.attempts > 1 and answer.attempt is not None:
        parts.append(f"attempt {answer.attempt} of {answer.attempts}")
    elif answer.attempts:
        parts.append(f"{answer.attempts} attempt{'s' * (answer.attempts > 1)}")
    return Content.assemble(
        styled(words, style), styled("".join(f" · {part}" for part in parts if part), MUTED)
    )


def probe_line(probe: ProbeView | None) -> Content:
    """Return in a line what the context probe gave."""
    if probe is None:
        return styled("ctx: no probe was planned", MUTED)
    if probe.problem is not None:
        mark, style = ("✖", BAD) if probe.status in {"failed", "changed"} else ("…", WARN)
        return styled(f"ctx: {mark} {probe.status}", style)
    size = styled(f" · {probe.characters:,} characters", MUTED)
    if not probe.holds_target:
        return Content.assemble(styled("ctx: — target not within", WARN), size)
    where = f"result {probe.result}" if probe.result else "its line is quoted"
    return Content.assemble(styled(f"ctx: ✔ target within ({where})", GOOD), size)


def _outcome(answer: AnswerView) -> tuple[str, str]:
    what = "results" if answer.ranked == len(answer.results) else "files"
    if answer.rank is not None:
        return f"✔ hit at {answer.rank} of {answer.ranked} {what}", GOOD
    if answer.status == "answered":
        return f"— miss, none of {answer.ranked} {what}", WARN
    words = {
        "empty": ("∅ empty: answered with nothing", WARN),
        "failed": ("✖ failed", BAD),
        "changed": ("✖ changed: its evidence differs from its digest", BAD),
    }
    return words.get(answer.status, (f"… {answer.status}", WARN))


def _took(elapsed_s: float | None) -> str:
    return "" if elapsed_s is None else seconds(elapsed_s)


def _size(probe: ProbeView) -> Content:
    parts = [f"{probe.results} results", f"{probe.words:,} words", _took(probe.elapsed_s)]
    return styled(" · ".join(part for part in parts if part), MUTED)


def _problem(problem: str) -> Content:
    return safe_lines("\n".join(problem.split("\n")[:12])).stylize(WARN)


def _shown(results: Sequence[RankedResult], every: bool) -> Iterator[RankedResult]:
    """Yield the first results, and the first hit wherever it stands."""
    hit = next((result for result in results if result.hits), None)
    yield from results if every else results[:FEW]
    if not every and hit is not None and hit.rank > FEW:
        yield hit


def _result_lines(result: RankedResult) -> Iterator[Content]:
    score = result.location.score
    after = f"  {score:.3g}" if score is not None else ""
    mark = styled("✔ hit ", GOOD) if result.hits else Content("      ")
    place = styled(place_of(result.location), "bold" if result.hits else "")
    yield Content.assemble(f"{result.rank:>3} ", mark, place, styled(after, MUTED))
    if result.excerpt is None:
        yield styled(f"      ({result.problem})", MUTED)
        return
    for line in excerpt_lines(result.excerpt):
        yield Content.assemble("   ", line.stylize(MUTED))
