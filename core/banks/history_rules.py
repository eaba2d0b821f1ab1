"""Which commits say something that can be asked, by the rules of `historical-v1` in `history_rules.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from core.git_history import CommitText
from core.text import printable

MOST_FILES = 8  # that a commit may change
FEWEST_CHARACTERS, MOST_CHARACTERS = 15, 200  # of a subject
FEWEST_WORDS = 3  # of two letters or more, without a prefix such as `fix(core): `

LEFT_OUT: Mapping[str, str] = {
    "beyond_limit": "commits older than the newest that are looked at",
    "binary_file": "changed files that are no text, so that no words lead to them",
    "bot": "commits by bots",
    "deleted_file": "changed files that the commit deleted, or that are gone at the pinned commit",
    "history_cut": "commits at which a shallow clone ends, so that what they changed is not here",
    "housekeeping_file": "changed files that change with nearly everything (changelogs, locks, versions)",
    "merge": "merges",
    "no_file": "commits that changed no file",
    "none_left": "commits of whose files none is left to ask for",
    "not_a_file": "changed links and submodules",
    "path_unusable": "changed files whose path is not UTF-8 or not canonical",
    "repeated_subject": "commits with the subject of a newer one",
    "revert": "reverts",
    "subject_long": f"subjects of over {MOST_CHARACTERS} characters",
    "subject_short": f"subjects of under {FEWEST_CHARACTERS} characters or {FEWEST_WORDS} words",
    "subject_undecodable": "subjects that are not in the encoding that their commit names",
    "subject_uninformative": "subjects that say nothing of what was changed (version bumps, typos, wip …)",
    "subject_unprintable": "subjects that hold control or direction characters",
    "too_many_files": f"commits that changed over {MOST_FILES} files",
}
"""Why a commit or a changed file is no part of a bank; the words that `left_out` counts by."""

_RULES = Path(__file__).with_name("history_rules.toml")
_PREFIX = re.compile(r"[A-Za-z]+(?:\([^)]{0,60}\))?!?:\s+")
_WORD = re.compile(r"[^\W\d_]{2,}")


class _Patterns(NamedTuple):
    bots: re.Pattern[str]
    reverts: re.Pattern[str]
    merges: re.Pattern[str]
    uninformative: re.Pattern[str]
    housekeeping: re.Pattern[str]


def fault_of(commit: CommitText) -> str | None:
    """Return why a commit asks nothing, a key of LEFT_OUT; None where its subject is a question."""
    patterns = _patterns()
    if len(commit.parents) > 1:
        return "merge"
    if any(patterns.bots.search(person) for person in commit.people):
        return "bot"
    subject = commit.subject
    if subject is None:
        return "subject_undecodable"
    if len(subject) > MOST_CHARACTERS:
        return "subject_long"
    if printable(subject) != subject:
        return "subject_unprintable"
    stripped = _PREFIX.sub("", subject, count=1) if _PREFIX.match(subject) else subject
    said = (subject, stripped)
    if commit.reverts or _found(patterns.reverts, said):
        return "revert"
    if _found(patterns.merges, said):
        return "merge"
    if _found(patterns.uninformative, said):
        return "subject_uninformative"
    if len(subject) < FEWEST_CHARACTERS or len(_WORD.findall(stripped)) < FEWEST_WORDS:
        return "subject_short"
    return None


def is_housekeeping(path: str) -> bool:
    """Tell whether a file changes with nearly everything, so that it answers nothing."""
    return bool(_patterns().housekeeping.search(path))


def _found(pattern: re.Pattern[str], texts: Sequence[str]) -> bool:
    return any(pattern.search(text) for text in texts)


@cache
def _patterns() -> _Patterns:
    rules: Mapping[str, Sequence[str]] = tomllib.loads(_RULES.read_text("utf-8"))
    return _Patterns(
        **{name: re.compile("|".join(f"(?:{each})" for each in found), re.I) for name, found in rules.items()}
    )
