"""Which commits ask something, by who made them and by what they say."""

from __future__ import annotations

import pytest

from core.banks.history_rules import LEFT_OUT, fault_of, is_housekeeping
from core.git_history import CommitText

PEOPLE = ("Ada Bothwell <ada@example.org", "GitHub <noreply@github.com")


def fault(subject: str | None, **changes: object) -> str | None:
    commit = CommitText(("a" * 40,), PEOPLE, subject, False, "0" * 64)
    return fault_of(commit._replace(**changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "subject",
    [
        "fix(parser): accept empty documents",
        "Read the journal back after a crash",
        "Support Python's type aliases in the analyzer",
        "Make the version of the index part of its identity",
        "Revise how locks are taken over",
        "Merges of two shelves keep both labels",
        "Wipe the cache before each run",
        "Bumper cars are drawn in their own colour",
        "Fix documentation search for headings with dots",
        "Улучшить поиск по заголовкам документов",
        "feat!: return ranks from 1",
    ],
)
def test_a_subject_that_says_what_was_changed_is_a_question(subject: str) -> None:
    assert fault(subject) is None


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        ('Revert "Read the journal back"', "revert"),
        ("revert: read the journal back", "revert"),
        ('Reapply "Read the journal back"', "revert"),
        ("Merge branch 'main' into topic/journal", "merge"),
        ("Merge pull request #12 from ada/journal", "merge"),
        ("wip", "subject_uninformative"),
        ("WIP: read the journal", "subject_uninformative"),
        ("fixup! Read the journal back", "subject_uninformative"),
        ("Fix typo in the journal's docstring", "subject_uninformative"),
        ("chore(release): 1.63.1 [skip ci]", "subject_uninformative"),
        ("chore: bump the version to 1.63.1", "subject_uninformative"),
        ("Bump ruff from 0.1 to 0.2 in /tools", "subject_uninformative"),
        ("Release version 2.0.0 of everything", "subject_uninformative"),
        ("Prepare release 2.0.0", "subject_uninformative"),
        ("v1.2.3", "subject_uninformative"),
        ("Initial commit of the project", "subject_uninformative"),
        ("Update the README.md", "subject_uninformative"),
        ("docs: update changelog", "subject_uninformative"),
        ("Fix lint errors", "subject_uninformative"),
        ("Apply review comments", "subject_uninformative"),
        ("various small fixes", "subject_uninformative"),
        ("More fixes", "subject_uninformative"),
        ("Add a journal", "subject_short"),
        ("Supercalifragilistic", "subject_short"),
        ("", "subject_short"),
        ("x" * 201, "subject_long"),
        ("Read the journal\x00 back", "subject_unprintable"),
        ("Read \x1b]52;c;aGk=\x07 the journal back", "subject_unprintable"),
        ("Read the \u202ejournal back", "subject_unprintable"),
        ("Read\tthe journal back", "subject_unprintable"),
        (None, "subject_undecodable"),
    ],
)
def test_others_are_left_out_by_reason(subject: str | None, reason: str) -> None:
    assert fault(subject) == reason
    assert reason in LEFT_OUT


@pytest.mark.parametrize(
    "person",
    [
        "dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com",
        "renovate <bot@renovateapp.com",
        "pre-commit-ci[bot] <66853113+pre-commit-ci[bot]@users.noreply.github.com",
        "semantic-release-bot <semantic-release-bot@martynus.net",
        "The release bot <release@example.org",
        "github-actions <41898282@users.noreply.github.com",
    ],
)
def test_bots_are_left_out_as_author_or_committer(person: str) -> None:
    for people in ((person, PEOPLE[1]), (PEOPLE[0], person)):
        assert fault("Read the journal back after a crash", people=people) == "bot"


@pytest.mark.parametrize(
    "person", ["Bob Abbott <bob@talbot.org", "Robot Maker <ada@roboto.org", "Ada <a@b.c"]
)
def test_people_whose_names_hold_bot_are_no_bots(person: str) -> None:
    assert fault("Read the journal back after a crash", people=(person, person)) is None


def test_reverts_are_known_by_their_body_and_merges_by_their_parents() -> None:
    assert fault("Read the journal back after a crash", reverts=True) == "revert"
    assert fault("Read the journal back after a crash", parents=("a" * 40, "b" * 40)) == "merge"
    assert fault("Read the journal back after a crash", parents=()) is None


@pytest.mark.parametrize(
    "path",
    ["CHANGELOG.md", "docs/changes.rst", "uv.lock", "web/package-lock.json", "a/_version.py", ".gitignore"],
)
def test_files_that_change_with_everything_are_housekeeping(path: str) -> None:
    assert is_housekeeping(path)


@pytest.mark.parametrize(
    "path", ["a/changes.py", "src/history.py", "locks.py", "docs/news-reader.md", "version.c"]
)
def test_others_are_not(path: str) -> None:
    assert not is_housekeeping(path)


def test_a_hostile_subject_is_judged_at_once() -> None:
    for subject in ("a" * 10**6, "fix(" * 50_000, "bump " * 40, "(" * 200, " " * 200):
        assert fault(subject) is not None
