"""The conformance suite: asks a candidate what tools get wrong, and says what to mend."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from core.conformance.questions import find_questions
from core.conformance.remedies import remedy
from core.conformance.trial import Trial, Tried
from core.ranking import Channel, Ranking
from core.text import printable

Verdict = Literal["ok", "note", "fix"]

NONSENSE = "zqxjkv wbpfgh 7f3a91c0"
ODD_QUERIES: Mapping[str, str] = {
    "quotes": 'it\'s "quoted" `so`',
    "an option": "--help",
    "dashes alone": "--",
    "brackets and a backslash": r"f(x)[0] \d+ *? {a|b}",
    "shell words": "$HOME; ls | cat > /dev/null && true",
    "unicode": "größe 漢字 🔭",
    "a newline and a tab": "first line\n\tsecond line",
    "percent and braces": "%s {query} {{limit}}",
    "four thousand characters": "where is it " * 340,
}
SLOW_START_S = 2.0
_FEW, _SOME = 1, 5
_SHOWN = 3


class Finding(NamedTuple):
    """What one check found; `remedy` is there where something should be changed."""

    check: str
    verdict: Verdict
    found: str
    remedy: str = ""


async def check(trial: Trial, query: str | None = None) -> AsyncIterator[Finding]:
    """Yield a finding for each check; `query` replaces the questions that are taken from the repository.

    What `trial` opens with has shown that every part of the candidate is there.
    """
    features = trial.retriever.features
    index = await trial.index()
    yield _index(index, trial)
    if not index.accepted:
        return
    asked = dict.fromkeys(features.channels, query) if query else find_questions(trial.tree)
    questions = {channel: text for channel, text in asked.items() if channel in features.channels}
    if not questions:
        yield Finding("questions", "fix", "the repository has no text to ask about", "give --query TEXT")
        return
    channel = min(questions, key=lambda name: name != "emb")
    started = await trial.ask("primary", channel, questions[channel], _SOME)
    yield _start(started, uses_session=features.session)
    answers = []
    for name, text in sorted(questions.items(), reverse=True):
        tried = await trial.ask("primary", name, text, _SOME)
        answers.append(tried)
        yield _answered(f"answers ({name})", tried, text)
    if not all(tried.accepted for tried in answers):
        return
    best = max(answers, key=lambda tried: len(_ranking(tried)))
    yield _paths(_ranking(best), trial.tree)
    yield _level(_ranking(best), trial.retriever.features.level)
    yield await _same_twice(trial, channel, questions[channel])
    yield await _limits(trial, channel, questions[channel])
    yield _found_nothing(await trial.ask("primary", channel, NONSENSE, _SOME))
    yield await _odd(trial, channel)
    if features.probe:
        yield _context(await trial.ask("ctx", channel, questions[channel], _SOME))
    if not features.writes_repository:
        yield _untouched(trial.changed_files())


def conforms(findings: Sequence[Finding]) -> bool:
    """Tell whether nothing must be mended."""
    return all(finding.verdict != "fix" for finding in findings)


def _failed(check: str, tried: Tried, before: str = "") -> Finding:
    told = tried.validation
    found = f"{before}{told.error_class}: {printable(told.message or '', 300)}"
    return Finding(check, "fix", found, remedy(told))


def _index(tried: Tried, trial: Trial) -> Finding:
    if not tried.accepted:
        return _failed("index", tried)
    units = f"{tried.validation.units or 0:,} units"
    if not trial.retriever.features.indexes:
        return Finding(
            "index", "ok", f"none: it searches the {tried.validation.units or 0:,} files themselves"
        )
    seconds = f"in {tried.seconds:.2f} s" if tried.seconds is not None else ""
    if str(trial.fingerprint.get("verification", "")).startswith("none"):
        return Finding(
            "index",
            "note",
            f"{units} {seconds}; whether that is all of them nobody can tell",
            "add config.verify, a command that counts what the index holds",
        )
    return Finding("index", "ok", f"complete: {units} {seconds}")


def _start(tried: Tried, *, uses_session: bool) -> Finding:
    if tried.seconds is None or not tried.accepted:
        return _failed("start", tried)
    if uses_session:
        return Finding(
            "start", "ok", f"the session starts and gives its first answer in {tried.seconds:.2f} s"
        )
    found = f"a query takes {tried.seconds:.2f} s, start included"
    if tried.seconds > SLOW_START_S:
        return Finding("start", "note", found, "the session form pays for the start once for each cell")
    return Finding("start", "ok", found)


def _answered(check: str, tried: Tried, text: str) -> Finding:
    if not tried.accepted:
        return _failed(check, tried, f"{printable(text, 60)!r}: ")
    count = len(_ranking(tried))
    if count == 0:
        return Finding(
            check,
            "note",
            f"{printable(text, 60)!r} stands in the repository, and nothing was found",
            "see with `boresight retriever try` what it prints; --query TEXT asks something else",
        )
    return Finding(check, "ok", f"{printable(text, 60)!r}: {_results(count)}")


def _paths(ranking: Ranking, tree: Path) -> Finding:
    lost = [location.path for location in ranking if not (tree / location.path).is_file()]
    if lost:
        return Finding(
            "paths",
            "fix",
            f"{len(lost)} of {_results(len(ranking))} name no file of the repository, such as "
            f"{printable(lost[0], 80)}",
            "print paths that start at the repository's root",
        )
    beyond = [location for location in ranking if (location.line or 0) > _lines(tree / location.path)]
    if beyond:
        return Finding(
            "paths",
            "fix",
            f"{printable(beyond[0].path, 80)} has no line {beyond[0].line}",
            "lines count from 1, as `splitlines` counts them",
        )
    return Finding("paths", "ok", f"{_results(len(ranking))} name files and lines that exist")


def _lines(path: Path) -> int:
    return len(path.read_bytes().decode("utf-8", "replace").splitlines())


def _level(ranking: Ranking, level: str) -> Finding:
    if not ranking:
        return Finding(
            "level", "note", f"declared {level}; without results nobody can tell", "give --query TEXT"
        )
    lines = sum(location.line is not None for location in ranking)
    ends = sum(location.end_line is not None for location in ranking)
    if level != "file" and lines == 0:
        return Finding(
            "level", "fix", f"declared {level}, and no result has a line", 'set the level to "file"'
        )
    if level == "span" and ends == 0:
        return Finding(
            "level", "fix", "declared span, and no result has an end_line", 'set the level to "exact"'
        )
    if level == "file" and lines:
        return Finding(
            "level",
            "note",
            f"declared file, and {lines} of {_results(len(ranking))} have a line",
            'a level of "exact" or "span" would use them',
        )
    return Finding(
        "level", "ok", f"{level}: {lines} of {_results(len(ranking))} have a line, {ends} a last line"
    )


async def _same_twice(trial: Trial, channel: Channel, text: str) -> Finding:
    first, second = [await trial.ask("primary", channel, text, _SOME) for _ in range(2)]
    if not (first.accepted and second.accepted):
        return _failed("same twice", second if first.accepted else first)
    if _places(first) == _places(second):
        return Finding("same twice", "ok", "the same query has the same ranking")
    return Finding(
        "same twice",
        "fix",
        "the same query asked again has another ranking",
        "fix its seed, sort what is tied by path and line, and search in one thread",
    )


async def _limits(trial: Trial, channel: Channel, text: str) -> Finding:
    few = await trial.ask("primary", channel, text, _FEW)
    some = await trial.ask("primary", channel, text, _SOME)
    if few.answer is None or some.answer is None:
        return _failed("limits", some if few.accepted else few)
    if _places(few) != _places(some)[:_FEW]:
        return Finding(
            "limits",
            "fix",
            f"asked for {_FEW}, the best result is another than when asked for {_SOME}",
            "rank everything first and cut then",
        )
    if few.answer.duplicates or some.answer.duplicates:
        found = (
            f"{few.answer.duplicates + some.answer.duplicates} results came twice; the first keeps its rank"
        )
        return Finding("limits", "note", found, "remove duplicates before cutting to {limit}")
    dropped = few.answer.surplus + some.answer.surplus
    if dropped:
        return Finding(
            "limits",
            "note",
            f"more rows than were asked for: {dropped}; the surplus is dropped",
            "pass {limit} to it, so that it need not print what nobody reads",
        )
    return Finding("limits", "ok", f"asked for {_FEW} and {_SOME}: no more than that, the same best result")


def _found_nothing(tried: Tried) -> Finding:
    if not tried.accepted:
        return _failed("nothing found", tried, "a query that nothing answers: ")
    count = len(_ranking(tried))
    found = "an empty ranking" if count == 0 else f"{_results(count)}, as nearest neighbours always are found"
    return Finding("nothing found", "ok", found)


async def _odd(trial: Trial, channel: Channel) -> Finding:
    failed = {}
    for name, text in ODD_QUERIES.items():
        tried = await trial.ask("primary", channel, text, _SOME)
        if not tried.accepted:
            failed[name] = tried.validation
    if not failed:
        return Finding("odd characters", "ok", f"{len(ODD_QUERIES)} odd queries were answered")
    told = [
        f"{name} ({validation.error_class}: {printable(validation.message or '', 120)})"
        for name, validation in list(failed.items())[:_SHOWN]
    ]
    more = f" and {len(failed) - _SHOWN} more" if len(failed) > _SHOWN else ""
    advice = remedy(next(iter(failed.values())))
    if "an option" in failed or "dashes alone" in failed:
        advice = 'put "--" before {query}, or write --option={query} as one word: no query is an option then'
    return Finding("odd characters", "fix", f"failed: {'; '.join(told)}{more}", advice)


def _context(tried: Tried) -> Finding:
    if tried.context is None:
        return _failed("context", tried)
    count, characters = len(tried.context.ranking), len(tried.context.text)
    return Finding("context", "ok", f"{characters:,} characters from {_results(count)}")


def _untouched(changed: Sequence[str]) -> Finding:
    if not changed:
        return Finding("repository", "ok", "its files were left as they were")
    return Finding(
        "repository",
        "fix",
        f"queries changed its files: {'; '.join(changed[:_SHOWN])}",
        "let the tool write into {state}, or set config.writes_repository = true",
    )


def _ranking(tried: Tried) -> Ranking:
    return tried.answer.ranking if tried.answer else ()


def _places(tried: Tried) -> list[tuple[object, ...]]:
    return [location[:4] for location in _ranking(tried)]


def _results(count: int) -> str:
    return "1 result" if count == 1 else f"{count} results"
