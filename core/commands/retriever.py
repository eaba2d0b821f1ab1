"""`boresight retriever try` and `check`: a candidate asked before it is measured; nothing is kept."""

from __future__ import annotations

import argparse
import asyncio
import json
import shlex
from collections.abc import Iterator

from core import api
from core.commands.output import narrate, say
from core.conformance.remedies import remedy
from core.conformance.suite import Finding, check, conforms
from core.conformance.trial import Trial, Tried
from core.errors import Exit, InputError
from core.ranking import Location
from core.run.measurement import Measurement
from core.text import printable

_HEAD_LINES = 20
_HEAD_WIDTH = 160


def try_(arguments: argparse.Namespace) -> int:
    """Index a repository in a temporary folder, ask one query, and show how its answer was read."""
    return asyncio.run(_try(arguments))


def check_(arguments: argparse.Namespace) -> int:
    """Run the conformance suite; exit 1 where something must be mended."""
    return asyncio.run(_check(arguments))


async def _try(arguments: argparse.Namespace) -> int:
    async with _trial(arguments, arguments.limit) as trial:
        features = trial.retriever.features
        channel = arguments.channel or min(features.channels, key=lambda name: name != "emb")
        if channel not in features.channels:
            raise InputError(
                f"--channel: found {channel}, which {arguments.candidate} does not answer; "
                f"choose from {', '.join(sorted(features.channels))}"
            )
        if arguments.probe and not features.probe:
            raise InputError(f"--probe: {arguments.candidate} has no probe for context")
        narrate(f"indexing {trial.entry.label} at {str(trial.entry.commit)[:12]} in a temporary folder")
        index = await trial.index()
        _say_index(index, trial)
        if not index.accepted:
            return Exit.NEGATIVE
        kind = "ctx" if arguments.probe else "primary"
        tried = await trial.ask(kind, channel, arguments.query, arguments.limit)
        say(
            f"Asked ({'ctx' if arguments.probe else channel}, at most {arguments.limit} results): "
            f"{printable(arguments.query, _HEAD_WIDTH)}"
        )
        _say_operation(tried)
        _say_reading(tried)
        return Exit.DONE if tried.accepted else Exit.NEGATIVE


async def _check(arguments: argparse.Namespace) -> int:
    findings: list[Finding] = []
    async with _trial(arguments, 10) as trial:
        narrate(f"trying {arguments.candidate} on {trial.entry.label} in a temporary folder")
        async for finding in check(trial, arguments.query):
            findings.append(finding)
            narrate(f"  {finding.check}: {finding.verdict}")
    if arguments.json:
        plain = {
            "candidate": arguments.candidate,
            "repository": trial.entry.label,
            "conforms": conforms(findings),
            "findings": [finding._asdict() for finding in findings],
        }
        say(json.dumps(plain, indent=1))
    else:
        for line in (*_table(findings), *_to_mend(findings)):
            say(line)
    return Exit.DONE if conforms(findings) else Exit.NEGATIVE


def _table(findings: list[Finding]) -> Iterator[str]:
    width = max(len(finding.check) for finding in findings)
    for finding in findings:
        yield f"{finding.verdict.ljust(4)}  {finding.check.ljust(width)}  {finding.found}"


def _to_mend(findings: list[Finding]) -> Iterator[str]:
    yield ""
    for verdict, heading in (("fix", "To mend:"), ("note", "Worth knowing:")):
        told = [finding for finding in findings if finding.verdict == verdict and finding.remedy]
        if told:
            yield heading
            yield from (f"  {finding.check}: {finding.remedy}" for finding in told)
    yield "It conforms." if conforms(findings) else "It does not conform yet."


def _trial(arguments: argparse.Namespace, depth: int) -> Trial:
    campaign = api.read_campaign(arguments.campaign)
    candidates = {candidate.id: candidate for candidate in campaign.candidates}
    if arguments.candidate not in candidates:
        raise InputError(
            f"{arguments.campaign}: has no candidate {printable(arguments.candidate, 60)!r}; "
            f"choose from {', '.join(candidates)}"
        )
    entries = {entry.label: entry for entry in campaign.repositories}
    label = arguments.repository or next(iter(entries))
    if label not in entries:
        raise InputError(
            f"{arguments.campaign}: has no repository {printable(label, 60)!r}; "
            f"choose from {', '.join(entries)}"
        )
    return Trial(candidates[arguments.candidate], entries[label], campaign.limits, depth)


def _say_index(tried: Tried, trial: Trial) -> None:
    if not trial.retriever.features.indexes:
        say(f"Index: none; {tried.validation.units or 0} files are searched themselves")
    elif tried.accepted:
        say(f"Index: {tried.validation.units} units in {tried.seconds or 0:.2f} s")
    if not tried.accepted:
        say("Index:")
        _say_operation(tried)
        _say_reading(tried)


def _say_operation(tried: Tried) -> None:
    for step in tried.command["steps"]:
        say(f"Command:  {_words(step['argv'])}")
        say(f"  in {printable(step['cwd'])}")
        for name, value in step["environment"].items():
            say(f"  with {printable(name)}={printable(value, _HEAD_WIDTH)}")
        if "secrets" in step:
            say(f"  with the secrets {', '.join(step['secrets'])}, whose values are shown nowhere")
    if "request" in tried.command:
        say(f"Request:  {printable(_plain(str(tried.command['request'])), 400)}")
    if tried.measurement is None:
        return
    say(f"Ended:    {_ending(tried.measurement)}")
    _say_head("stdout", tried.stdout, tried.stdout_bytes)
    _say_head("stderr", tried.stderr, tried.stderr_bytes)


def _ending(measurement: Measurement) -> str:
    how = measurement.outcome.replace("_", " ")
    if measurement.exit_code is not None:
        how += f" with status {measurement.exit_code}"
    return f"{how} after {measurement.elapsed_s:.3f} s"


def _say_head(name: str, head: bytes, size: int) -> None:
    if not size:
        say(f"{name.capitalize()}:   nothing")
        return
    lines = head.decode("utf-8", "replace").split("\n")
    if lines[-1] == "":
        lines.pop()
    say(f"{name.capitalize()}:   {size:,} bytes{', which begin' if len(lines) > _HEAD_LINES else ''}")
    for line in lines[:_HEAD_LINES]:
        say(f"  | {printable(line, _HEAD_WIDTH)}")


def _say_reading(tried: Tried) -> None:
    told = tried.validation
    if not tried.accepted:
        say(f"Not accepted: {told.error_class}: {printable(told.message or '', 600)}")
        say(f"What to do: {remedy(told)}")
        return
    if tried.context is not None:
        count = len(tried.context.ranking)
        say(f"Read as:  context of {len(tried.context.text):,} characters from {count} results")
        return
    if tried.answer is None:
        return
    dropped = f"; dropped {tried.answer.duplicates} duplicates and {tried.answer.surplus} beyond the limit"
    count = len(tried.answer.ranking)
    say(f"Read as:  {count} result{'' if count == 1 else 's'}{dropped}")
    for rank, location in enumerate(tried.answer.ranking, start=1):
        say(f"  {rank:>3}  {_place(location)}")


def _place(location: Location) -> str:
    place = printable(location.path)
    if location.line is not None:
        place += f":{location.line}"
    if location.end_line is not None:
        place += f"-{location.end_line}"
    told: list[str] = [location.kind or "no kind"]
    if location.line is None:
        told.append("no line")
    if location.score is not None:
        told.append(f"score {location.score:g}")
    return f"{place}  ({', '.join(told)})"


def _words(argv: list[str]) -> str:
    return printable(_plain(shlex.join(argv)), 600)


def _plain(text: str) -> str:
    """Undo the doubling of braces that evidence keeps commands with."""
    return text.replace("{{", "{").replace("}}", "}")
