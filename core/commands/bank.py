"""`boresight bank build`, `check`, `stats` and `grade-template`."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import Any

from core import api
from core.banks.fields import HISTORICAL
from core.banks.graded import is_graded
from core.banks.historical import NOT_GOLD
from core.banks.meta import read_meta
from core.banks.pinning import Fitted, fitted
from core.banks.reading import read_bytes
from core.commands import graded_bank
from core.commands.output import narrate, say, table
from core.errors import Exit, InputError


def build(arguments: argparse.Namespace) -> int:
    """Derive a bank and write it."""
    historical = arguments.kind == "historical"
    _demand_flags(arguments, historical=historical)
    entries = [api.pinned(entry) for entry in api.read_repository_manifest(arguments.repo_manifest)]
    if historical:
        built = api.build_history_bank(entries, arguments.per_repository, arguments.output)
        for remark in built.remarks:
            narrate(remark)
        say(built.message)
        return Exit.DONE
    intents = arguments.intents or list(api.INTENTS)
    result = api.build_bank(entries, arguments.per_intent, intents, arguments.output)
    say(result.message)
    return Exit.DONE


def _demand_flags(arguments: argparse.Namespace, *, historical: bool) -> None:
    """Raise InputError where a flag belongs to the other kind of bank."""
    if historical and (arguments.per_intent is not None or arguments.intents):
        raise InputError(
            "--per-intent and --intents go with known targets; historical banks take --per-repository"
        )
    if not historical and arguments.per_repository is not None:
        raise InputError("--per-repository goes with --kind historical; known targets take --per-intent")
    if not historical and arguments.per_intent is None:
        raise InputError("--per-intent: found nothing, expected how many cases per intent; give a number")


def check(arguments: argparse.Namespace) -> int:
    """Check a bank against its sources; exit 1 where they do not bear it out."""
    raw = read_bytes(arguments.cases)
    if is_graded(raw):
        return graded_bank.check(arguments, raw)
    bank, entries = _fitted(arguments, api.decode_bank(raw, str(arguments.cases)))
    meta = read_meta(arguments.cases)
    result = api.check_bank(bank, entries, meta.python if meta else None)
    if arguments.json:
        findings = [finding._asdict() for finding in result.findings]
        say(json.dumps({"checked": result.checked, "ok": result.ok, "findings": findings}, indent=1))
    else:
        for finding in result.findings:
            say(f"{finding.case_id}: {finding.reason}: {finding.sentence}")
        verdict = "all borne out by their sources" if result.ok else f"{len(result.findings)} not borne out"
        say(f"Checked {result.checked} cases: {verdict}")
    return Exit.DONE if result.ok else Exit.NEGATIVE


def stats(arguments: argparse.Namespace) -> int:
    """Describe a bank."""
    bank = api.read_bank(arguments.cases)
    if bank.graded is not None:
        return graded_bank.stats(arguments, bank)
    entries = None
    if arguments.repo_manifest:
        bank, entries = _fitted(arguments, bank)
    found = api.bank_stats(bank, entries)
    if arguments.json:
        value = {
            "cases": found.cases,
            "repositories_read": found.repositories_read,
            "cells": [_plain(cell) for cell in found.cells],
            "ambiguous": list(found.ambiguous),
        }
        say(json.dumps(value, indent=1))
        return Exit.DONE
    rows = [
        (
            cell.repository,
            cell.intent,
            str(cell.cases),
            str(cell.ambiguous),
            _share(cell.overlap_mean),
            _share(cell.overlap_median),
            _share(cell.beyond_witness_mean),
            _share(cell.beyond_witness_median),
        )
        for cell in found.cells
    ]
    say(f"{found.cases} cases, bank SHA-256 {bank.sha256}")
    if bank.format == HISTORICAL:
        say(NOT_GOLD)
    headers = (
        "repository",
        "intent",
        "cases",
        "ambiguous",
        "overlap mean",
        "median",
        "beyond mean",
        "median",
    )
    table(headers, rows)
    say("ambiguous: the same query has another answer in the repository as well.")
    if found.repositories_read:
        say(
            "overlap: share of a query's words that stand in its target's own text; 1 favours lexical search."
        )
        say("beyond: overlap beyond the witness, so without the line or message that the query came from.")
    else:
        say("Without --repo-manifest only the bank is compared, and overlap is unknown.")
    return Exit.DONE


def grade_template(arguments: argparse.Namespace) -> int:
    """Write a file with every module at grade 0 for a person to fill in."""
    return graded_bank.grade_template(arguments)


def _fitted(arguments: argparse.Namespace, bank: api.Bank) -> Fitted:
    entries = api.read_repository_manifest(arguments.repo_manifest)
    return fitted(bank, entries, str(arguments.cases))


def _share(value: float | None) -> str:
    return "—" if value is None else f"{value:.2f}"


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return value._asdict()
