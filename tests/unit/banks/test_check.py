"""A bank that its source does not bear out is told why, case by case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.banks.case import INTENTS, Bank, Case, Evidence, case_line, parse_bank
from core.banks.check import CheckResult, check_bank
from core.banks.derivation import Derivation
from core.banks.deriving import derive_as
from core.banks.findings import Finding
from core.banks.known_target import build_bank
from core.errors import InputError
from core.git import GitRepository
from core.ranking import Target
from core.repositories import RepositoryEntry
from tests.support.repositories import make_repository
from tests.unit.banks.builders import SHOP, shop, with_own_id

Edit = Callable[[Case], Case]


def bank_of(entry: RepositoryEntry, output: Path) -> Bank:
    return build_bank([entry], 2, INTENTS, output).bank


def edited(bank: Bank, edit: Edit, intent: str = "symbol_lookup") -> tuple[Bank, Case]:
    """Return the bank with its first case of an intent edited, and that case."""
    at = next(number for number, case in enumerate(bank.cases) if case.intent == intent)
    case = edit(bank.cases[at])
    cases = [*bank.cases[:at], case, *bank.cases[at + 1 :]]
    return parse_bank(b"".join(map(case_line, cases)), "edited"), case


def only(result: CheckResult) -> Finding:
    (finding,) = result.findings
    assert not result.ok and result.reasons == {finding.reason: 1}
    return finding


def elsewhere(case: Case) -> Case:
    (target,) = case.targets
    return replace(case, targets=(Target(target.path, target.line + 1, target.kind),))


def test_a_built_bank_is_borne_out(tmp_path: Path) -> None:
    entry = shop(tmp_path / "r")
    bank = bank_of(entry, tmp_path / "c")
    result = check_bank(bank, [entry])
    assert result.ok and result.checked == 10 and result.reasons == {} and not result.only_unparsable


def test_the_banks_commit_is_checked_and_not_the_manifests(tmp_path: Path) -> None:
    entry = shop(tmp_path / "r")
    bank = bank_of(entry, tmp_path / "c")
    newer = make_repository(tmp_path / "r", {"README.md": b"# Nothing left of it\n"})
    assert check_bank(bank, [entry.model_copy(update={"commit": newer})]).ok
    assert check_bank(bank, [entry.model_copy(update={"commit": None})]).ok


@pytest.mark.parametrize(
    ("edit", "reason", "words"),
    [
        (lambda case: replace(case, query="other"), "query_edited", 'found "other", the source says "'),
        (elsewhere, "target_moved", "the target is not where the query comes from (found "),
        (
            lambda case: replace(case, evidence=case.evidence._replace(source_sha256="0" * 64)),
            "digest_differs",
            "source_sha256 is not the digest of the file at the commit",
        ),
        (
            lambda case: replace(case, evidence=case.evidence._replace(rule="guesswork")),
            "provenance_edited",
            "rule guesswork instead of python_definition",
        ),
        (
            lambda case: replace(case, channel="docs"),
            "provenance_edited",
            "channel docs instead of emb",
        ),
        (
            lambda case: replace(case, id="my-own-id"),
            "provenance_edited",
            "id my-own-id instead of shop-symbol_lookup-",
        ),
        (
            lambda case: replace(case, id="my-own-id", query="other"),
            "query_edited",
            "the query is not the one that its target yields",
        ),
        (
            lambda case: elsewhere(replace(case, id="my-own-id")),
            "target_moved",
            "the target is not where the query comes from",
        ),
        (
            lambda case: replace(case, id="x", query="other", targets=(Target("no.py", 1, "symbol"),)),
            "not_derived",
            "no rule derives this case from the commit",
        ),
        (lambda case: with_own_id(replace(case, query="other")), "not_derived", "(its target yields"),
        (lambda case: with_own_id(elsewhere(case)), "not_derived", "(the same query comes from shop/"),
        (
            lambda case: replace(case, targets=(*case.targets, Target("README.md", 1, "documentation"))),
            "target_moved",
            "and 1 more",
        ),
    ],
)
def test_an_edit_is_told_by_its_kind(tmp_path: Path, edit: Edit, reason: str, words: str) -> None:
    entry = shop(tmp_path / "r")
    bank, case = edited(bank_of(entry, tmp_path / "c"), edit)
    finding = only(check_bank(bank, [entry]))
    assert (finding.case_id, finding.repository, finding.reason) == (case.id, "shop", reason)
    assert words in finding.sentence


def test_a_repository_that_the_manifest_lacks_is_named_for_each_case(tmp_path: Path) -> None:
    entry = shop(tmp_path / "r")
    result = check_bank(bank_of(entry, tmp_path / "c"), [entry.model_copy(update={"label": "other"})])
    assert result.reasons == {"unknown_repository": 10}
    assert result.findings[0].sentence == "the repository manifest names no shop; add it with its path"


def test_a_commit_that_is_not_there_is_named_for_each_case(tmp_path: Path) -> None:
    entry = shop(tmp_path / "r")
    bank = bank_of(entry, tmp_path / "c")
    moved = parse_bank(b"".join(case_line(replace(case, commit="e" * 40)) for case in bank.cases), "moved")
    result = check_bank(moved, [entry])
    assert result.reasons == {"unknown_commit": 10}
    assert f"commit {'e' * 40} is not in the repository" in result.findings[0].sentence


def test_a_bank_moved_to_another_commit_is_not_borne_out(tmp_path: Path) -> None:
    entry = shop(tmp_path / "r")
    bank = bank_of(entry, tmp_path / "c")
    newer = make_repository(tmp_path / "r", dict([*SHOP.items(), ("new.md", b"# Something else\n")]))
    moved = parse_bank(b"".join(case_line(replace(case, commit=newer)) for case in bank.cases), "moved")
    assert check_bank(moved, [entry]).reasons == {"provenance_edited": 10}


def modern(case: Case) -> Case:
    """Return a case of a file that this Python cannot parse, as one that can would derive it."""
    return with_own_id(
        replace(
            case,
            query="modern",
            targets=(Target("modern.py", 1, "symbol"),),
            evidence=Evidence("python_definition", "b" * 64),
        )
    )


def test_what_only_this_python_cannot_parse_says_so(tmp_path: Path) -> None:
    entry = shop(tmp_path / "r", {**SHOP, "modern.py": b"def modern() -> ???: pass\n"})
    bank, _ = edited(bank_of(entry, tmp_path / "c"), modern)
    result = check_bank(bank, [entry], built_with="3.99.1")
    finding = only(result)
    assert result.only_unparsable and finding.reason == "unparsable_by_this_python"
    assert f"this Python ({result.python}) cannot parse the target's file" in finding.sentence
    assert "the bank was built with Python 3.99.1: check it with that version" in finding.sentence
    assert "(modern.py: SyntaxError at line 1: " in finding.sentence
    unknown = only(check_bank(bank, [entry]))
    assert "check the bank with the version of Python that built it" in unknown.sentence


def test_a_check_that_fails_for_more_is_not_only_unparsable(tmp_path: Path) -> None:
    entry = shop(tmp_path / "r", {**SHOP, "modern.py": b"def modern() -> ???: pass\n"})
    bank, _ = edited(bank_of(entry, tmp_path / "c"), modern)
    bank, _ = edited(bank, elsewhere, "task_lookup")
    result = check_bank(bank, [entry])
    assert result.reasons == {"target_moved": 1, "unparsable_by_this_python": 1}
    assert not result.only_unparsable


@pytest.mark.parametrize(
    "edit",
    [
        lambda case: replace(case, query="forged"),
        elsewhere,
        modern,
        lambda case: with_own_id(replace(case, query="forged")),
        lambda case: with_own_id(elsewhere(case)),
        lambda case: replace(case, id="my-own-id"),
    ],
)
def test_of_a_private_repository_only_ids_are_told(tmp_path: Path, edit: Edit) -> None:
    files = {
        "secret.py": b'"""Secret words in this file."""\ndef secret():\n  """Secret words, and more."""\n',
        "modern.py": b"???",
    }
    entry = shop(tmp_path / "r", files, private=True)
    built = build_bank([entry], 1, ["symbol_lookup", "task_lookup"], tmp_path / "c").bank
    bank, case = edited(built, edit)
    finding = only(check_bank(bank, [entry]))
    assert finding.case_id == case.id
    for word in ("secret", "forged", "modern", "words", ".py"):
        assert word not in finding.sentence.lower()


def test_a_finding_is_safe_to_show(tmp_path: Path) -> None:
    entry = shop(tmp_path / "r")
    bank, _ = edited(bank_of(entry, tmp_path / "c"), lambda case: replace(case, query="\x1b]0;x\x07\u202e"))
    sentence = only(check_bank(bank, [entry])).sentence
    assert sentence.isprintable()


def test_a_repository_that_cannot_be_read_is_bad_input(tmp_path: Path) -> None:
    entry = shop(tmp_path / "r")
    bank = bank_of(entry, tmp_path / "c")
    with pytest.raises(InputError, match="there is no such folder"):
        check_bank(bank, [entry.model_copy(update={"path": tmp_path / "gone"})])


def test_each_repositorys_derivation_is_handed_on_and_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [shop(tmp_path / "a"), shop(tmp_path / "b", label="zoo")]
    bank = build_bank(entries, 2, INTENTS, tmp_path / "c").bank
    made: list[Derivation] = []

    def counted(bank_format: str, repository: GitRepository, entry: RepositoryEntry) -> Derivation:
        made.append(derive_as(bank_format, repository, entry))
        return made[-1]

    monkeypatch.setattr("core.banks.check.derive_as", counted)
    given: list[Derivation] = []
    assert check_bank(bank, entries, on_derived=given.append).ok
    assert given == made and [derivation.label for derivation in given] == ["shop", "zoo"]
