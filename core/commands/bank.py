"""`boresight bank build`, `check` and `stats`."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import Any

from core import api
from core.banks.meta import read_meta
from core.banks.pinning import pinned_to_bank
from core.commands.output import say, table
from core.errors import Exit
from core.repositories import RepositoryEntry


def build(arguments: argparse.Namespace) -> int:
    """Derive a bank and write it."""
    entries = [api.pinned(entry) for entry in api.read_repository_manifest(arguments.repo_manifest)]
    intents = arguments.intents or list(api.INTENTS)
    result = api.build_bank(entries, arguments.per_intent, intents, arguments.output)
    say(result.message)
    return Exit.DONE


def check(arguments: argparse.Namespace) -> int:
    """Check a bank against its sources; exit 1 where they do not bear it out."""
    bank = api.read_bank(arguments.cases)
    meta = read_meta(arguments.cases)
    entries = _entries(arguments, bank)
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
    found = api.bank_stats(bank, _entries(arguments, bank) if arguments.repo_manifest else None)
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


def _entries(arguments: argparse.Namespace, bank: api.Bank) -> tuple[RepositoryEntry, ...]:
    entries = api.read_repository_manifest(arguments.repo_manifest)
    return pinned_to_bank(bank, entries, str(arguments.cases))


def _share(value: float | None) -> str:
    return "—" if value is None else f"{value:.2f}"


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return value._asdict()
