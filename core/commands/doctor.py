"""`boresight doctor`: what works on this machine, and what mends the rest."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from core.commands.output import say
from core.doctor import Examination, Fact, examine
from core.errors import Exit
from core.retrievers.protocol import Diagnosis
from core.text import printable, printable_lines


def doctor(arguments: argparse.Namespace) -> int:
    """Say what was found; exit 1 where no campaign can run, or a retriever named is not ready."""
    found = examine(tuple(arguments.retrievers))
    named = arguments.retrievers and not all(diagnosis.is_ready for diagnosis in found.diagnoses)
    if arguments.json:
        say(json.dumps(_plain(found), indent=1))
    else:
        _say(found)
    return Exit.NEGATIVE if named or not found.is_well else Exit.DONE


def _say(found: Examination) -> None:
    say("This system")
    width = max(len(fact.name) for fact in found.facts)
    for fact in found.facts:
        say(f"  {_mark(fact)}  {fact.name.ljust(width)}  {fact.found}")
        if fact.remedy:
            say(_indented(fact.remedy, width))
    say("")
    say("Retrievers")
    width = max(len(diagnosis.retriever) for diagnosis in found.diagnoses)
    for diagnosis in found.diagnoses:
        say(f"  {_word(diagnosis)}  {diagnosis.retriever.ljust(width)}  {_told(diagnosis)}")
        for missing in diagnosis.missing:
            say(_indented(f"missing: {missing.part}: {missing.remedy}", width))
    if not found.is_well:
        say("")
        say("No campaign can run here yet.")


def _mark(fact: Fact) -> str:
    if fact.is_fit:
        return "ok     "
    return "MISSING" if fact.needed else "note   "


def _word(diagnosis: Diagnosis) -> str:
    return "ready  " if diagnosis.is_ready else "missing"


def _told(diagnosis: Diagnosis) -> str:
    version = f"{printable(diagnosis.version, 80)}: " if diagnosis.version else ""
    return f"{version}{printable(diagnosis.answers, 200)}"


def _indented(text: str, width: int) -> str:
    pad = " " * (width + 13)
    return "\n".join(f"{pad}{line}" for line in printable_lines(text).split("\n"))


def _plain(found: Examination) -> Mapping[str, Any]:
    return {
        "well": found.is_well,
        "system": [{**fact._asdict(), "fit": fact.is_fit} for fact in found.facts],
        "retrievers": [
            {
                "retriever": diagnosis.retriever,
                "ready": diagnosis.is_ready,
                "version": diagnosis.version,
                "answers": diagnosis.answers,
                "missing": [missing._asdict() for missing in diagnosis.missing],
            }
            for diagnosis in found.diagnoses
        ],
    }
