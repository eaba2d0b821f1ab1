"""`boresight bank check`, `stats` and `grade-template` on graded banks."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path

from core import api
from core.banks.findings import Finding
from core.banks.grade_template import Asked, check_asked, new_file, parse_document, rules_of, with_question
from core.banks.graded_check import FileCheck, check_file, modules_at
from core.banks.graded_stats import FactTold, GradedStats, graded_stats
from core.banks.modules import ModuleRules
from core.banks.pinning import only_entry
from core.banks.publish import demand_absent, publish_together
from core.banks.reading import read_bytes
from core.commands.output import narrate, say, table
from core.durable import write_durably
from core.errors import Exit, InputError
from core.text import printable

_NAMED = 20


def check(arguments: argparse.Namespace, raw: bytes) -> int:
    """Tell all that is wrong with a graded file, by itself (exit 2) and by its repository (exit 1)."""
    name = str(arguments.cases)
    found = check_file(raw, name, only_entry(api.read_repository_manifest(arguments.repo_manifest), name))
    if arguments.json:
        told = {
            "checked": found.questions,
            "ok": not (found.problems or found.findings),
            "problems": list(found.problems),
            "findings": [finding._asdict() for finding in found.findings],
        }
        say(json.dumps(told, indent=1))
    else:
        for problem in found.problems:
            say(problem)
        for finding in found.findings:
            say(_finding(finding))
        say(f"Checked {found.questions} questions: {_verdict(found)}")
    if found.problems:
        return Exit.BAD_INPUT
    return Exit.NEGATIVE if found.findings else Exit.DONE


def stats(arguments: argparse.Namespace, bank: api.Bank) -> int:
    """Describe a graded bank."""
    entry = None
    if arguments.repo_manifest:
        entries = api.read_repository_manifest(arguments.repo_manifest)
        entry = only_entry(entries, str(arguments.cases))
    found = graded_stats(bank, entry)
    private = entry is not None and entry.private
    if arguments.json:
        say(json.dumps(_plain(found, private=private), indent=1))
        return Exit.DONE
    say(f"{found.questions} graded questions over {found.modules} modules, bank SHA-256 {bank.sha256}")
    rows = [
        (one.shape, str(one.questions), f"{one.relevant:.1f}", f"{one.best:.1f}", f"{one.facts:.1f}")
        for one in found.shapes
    ]
    table(("shape", "questions", "relevant modules", "of highest grade", "facts"), rows)
    say("relevant modules, of highest grade, facts: means of a question.")
    grades = ", ".join(f"{count} of grade {grade}" for grade, count in found.grades.items())
    say(f"grades: {grades}")
    say(f"facts: {found.facts}, with {found.aliases} other wordings")
    never = [printable(path, 100) for path in found.never_relevant[:_NAMED]]
    rest = f" and {len(found.never_relevant) - _NAMED} more" if len(found.never_relevant) > _NAMED else ""
    named = "" if private or not never else f" ({', '.join(never)}{rest})"
    say(f"modules that no question asks for: {len(found.never_relevant)}{named}")
    if found.not_borne_out is None:
        say("Without --repo-manifest the facts were compared with no source.")
        return Exit.DONE
    say(f"facts whose words all occur in a relevant module: {found.borne_out} of {found.facts}")
    for fact in found.not_borne_out:
        say(f"  {_fact(fact, private=private)}")
    return Exit.DONE


def grade_template(arguments: argparse.Namespace) -> int:
    """Write a question with every module at grade 0, into a new file or, with --add, into an old one."""
    asked = Asked(arguments.question, arguments.id, arguments.shape)
    check_asked(asked)
    output: Path = arguments.output
    entry = only_entry(api.read_repository_manifest(arguments.repo_manifest), str(arguments.repo_manifest))
    if arguments.add:
        name = str(output)
        document = parse_document(read_bytes(output), name)
        modules = _modules(entry, rules_of(document, name))
        _replace(output, with_question(document, asked, modules, name))
    else:
        demand_absent(output)
        modules = _modules(entry, ModuleRules())
        publish_together({output: new_file(asked, modules)})
    say(f"Wrote a question over {len(modules)} modules: {printable(str(output))}")
    narrate(
        "Raise the grades of the modules that answer it (3 answers it, 2 is needed for it, 1 helps), add 2 "
        "to 4 gold facts, then: boresight bank check "
        f"{shlex.quote(printable(str(output)))} --repo-manifest "
        f"{shlex.quote(printable(str(arguments.repo_manifest)))}"
    )
    return Exit.DONE


def _modules(entry: api.RepositoryEntry, rules: ModuleRules) -> tuple[str, ...]:
    modules = modules_at(entry, rules)
    if not modules:
        raise InputError(
            f"{printable(entry.label)}: no file at {str(entry.commit)[:12]} counts as a module (a non-empty "
            'source file that is not `__init__`); say which do with "modules": {"include": […]} in a file, '
            "and give that with --add"
        )
    return modules


def _replace(path: Path, data: bytes) -> None:
    try:
        write_durably(path, data)
    except OSError as error:
        raise InputError(
            f"{printable(str(path))}: cannot be written: {error.strerror or error}; it is as it was"
        ) from None


def _finding(finding: Finding) -> str:
    return f"{finding.case_id}: {finding.reason}: {finding.sentence}"


def _verdict(found: FileCheck) -> str:
    if not (found.problems or found.findings):
        return "every module is graded, and the file is sound"
    told = []
    if found.problems:
        told.append(f"{len(found.problems)} problems of the file")
    if found.findings:
        told.append(f"{len(found.findings)} of its coverage")
    return " and ".join(told)


def _fact(fact: FactTold, *, private: bool) -> str:
    lacks = "" if private or not fact.missing_words else f" (nearest lacks {', '.join(fact.missing_words)})"
    return f"{fact.case_id}: gold_facts[{fact.fact}] stands in none of its relevant modules{printable(lacks)}"


def _plain(found: GradedStats, *, private: bool) -> dict[str, object]:
    missing = found.not_borne_out
    return {
        **found._asdict(),
        "shapes": [shape._asdict() for shape in found.shapes],
        "grades": {str(grade): count for grade, count in found.grades.items()},
        "never_relevant": len(found.never_relevant) if private else list(found.never_relevant),
        "not_borne_out": missing
        and [{**fact._asdict(), "missing_words": [] if private else fact.missing_words} for fact in missing],
    }
