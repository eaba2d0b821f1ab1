"""What a bank is like."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.banks.case import INTENTS, case_line, parse_bank
from core.banks.known_target import build_bank
from core.banks.overlap import overlap, words
from core.banks.stats import Ambiguity, CellStats, ambiguity, bank_stats
from core.ranking import Target
from tests.unit.banks.builders import sample_case, shop


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("load_manifest", {"load", "manifest"}),
        ("loadManifest", {"load", "manifest"}),
        ("LoadManifest", {"load", "manifest"}),
        ("HTTPServer parseURL", {"http", "server", "parse", "url"}),
        ("utf8Decoder2", {"utf8", "decoder2"}),
        ("Größe, Größe & Maß!", {"größe", "maß"}),
        ("__init__", {"init"}),
        ("--- ...", set()),
    ],
)
def test_words_know_identifiers(text: str, expected: set[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("intent", "query", "text", "share"),
    [
        ("symbol_lookup", "total_price", "def total_price(): ...", 1.0),
        ("symbol_lookup", "total_price", "totalCount", 0.5),
        ("task_lookup", "Where is this behavior implemented: Sum the prices", "sum = prices", 2 / 3),
        ("architecture_lookup", "Where is this component defined: Sum sum SUM", "where is this", 0.0),
        ("docs_lookup", "Documentation about ---", "---", None),
    ],
)
def test_overlap_is_the_share_of_distinct_words_without_the_prefix(
    intent: str, query: str, text: str, share: float | None
) -> None:
    assert overlap(sample_case(intent=intent, query=query), text) == share


def test_cells_are_counted_in_the_order_of_the_file(tmp_path: Path) -> None:
    entries = [shop(tmp_path / "a", label="zoo"), shop(tmp_path / "b")]
    stats = bank_stats(build_bank(entries, 2, INTENTS, tmp_path / "c").bank)
    assert [cell[:3] for cell in stats.cells] == [
        (label, intent, 2) for label in ("zoo", "shop") for intent in INTENTS
    ]
    assert stats.cases == 20 and not stats.repositories_read and stats.ambiguous == ()
    assert all(cell.overlap_mean is None and cell.overlap_cases == 0 for cell in stats.cells)


def test_a_query_from_elsewhere_too_is_ambiguous_once_the_repository_is_read(tmp_path: Path) -> None:
    files = {"a.py": b"def main(): pass\ndef only_here(): pass\n", "b.py": b"def main(): pass\n"}
    entry = shop(tmp_path / "r", files)
    bank = build_bank([entry], 2, ["symbol_lookup"], tmp_path / "c").bank
    assert bank_stats(bank).ambiguous == ()
    stats = bank_stats(bank, [entry])
    assert stats.ambiguous == tuple(case.id for case in bank.cases if case.query == "main")
    assert stats.repositories_read and stats.cells[0].ambiguous == 1


def test_a_repositorys_ambiguity_is_counted_from_what_it_yields() -> None:
    case = sample_case()
    other = replace(case, id="other", targets=(Target("b.py", 1, "symbol"),))
    alone = replace(case, id="alone", query="alone")
    assert ambiguity([case, alone], [case, other, alone]) == Ambiguity(ambiguous=1, cases=2)
    assert ambiguity([case, alone], [case, alone]) == Ambiguity(ambiguous=0, cases=2)


def test_an_ambiguity_within_the_bank_needs_no_repository() -> None:
    case = sample_case()
    other = replace(case, id="other", targets=(Target("b.py", 1, "symbol"),))
    alone = replace(case, id="alone", query="alone")
    bank = parse_bank(b"".join(map(case_line, (case, other, alone))), "c")
    assert bank_stats(bank).ambiguous == (case.id, "other")


def test_the_same_words_under_another_intent_are_not_ambiguous(tmp_path: Path) -> None:
    entry = shop(tmp_path / "r", {"a.py": b'def long_message_here():\n  raise E("long_message_here")\n'})
    bank = build_bank([entry], 1, ["symbol_lookup", "error_or_trace_lookup"], tmp_path / "c").bank
    assert bank_stats(bank, [entry]).ambiguous == ()


def moved(
    case_path: str, line: int, kind: str, intent: str, query: str, folder: Path, files: dict[str, bytes]
) -> CellStats:
    """Return the only cell of a bank with one made-up case, read with its repository."""
    entry = shop(folder, files)
    assert entry.commit is not None
    target = Target(case_path, line, kind)  # type: ignore[arg-type]
    case = sample_case(commit=entry.commit, intent=intent, query=query, targets=(target,))
    (cell,) = bank_stats(parse_bank(case_line(case), "c"), [entry]).cells
    return cell


FILES = {
    "a.py": (
        b'"""The apple module."""\n\n@pear\ndef first(plum):\n  return cherry\n\n\n'
        b"def second():\n  return fig\n"
    ),
    "latin.py": b"# coding: latin-1\ndef size():\n  return 'gr\xf6\xdfe'\n",
    "odd.py": b"def page():\n  return '''\x0c\x0clime'''\ndef last(): return kiwi\n",
    "broken.py": b"def first(:\n",
    "a.md": (
        b"# Apple pie\nlime\n## Pear pie\nplum\n```\n# Fig tart\n```\n### Plum pie\nkiwi\n## Fig pie\nmelon\n"
    ),
}


@pytest.mark.parametrize(
    ("path", "line", "kind", "query", "share"),
    [
        ("a.py", 4, "symbol", "first plum cherry", 1.0),
        ("a.py", 4, "symbol", "pear apple second fig", 0.0),
        ("a.py", 8, "symbol", "second fig cherry apple", 0.5),
        ("a.py", 0, "file", "apple pear plum cherry fig lime", 5 / 6),
        ("latin.py", 2, "symbol", "größe", 1.0),
        ("odd.py", 3, "symbol", "kiwi", 1.0),
        ("a.md", 3, "documentation", "pear plum fig kiwi", 1.0),
        ("a.md", 3, "documentation", "apple lime melon", 0.0),
        ("a.md", 10, "documentation", "fig pie melon plum", 0.75),
        ("a.md", 1, "documentation", "apple melon kiwi", 1.0),
        ("a.py", 5, "symbol", "cherry", None),
        ("a.md", 2, "documentation", "lime", None),
        ("broken.py", 1, "symbol", "first", None),
        ("gone.py", 0, "file", "first", None),
    ],
)
def test_words_are_sought_in_the_targets_own_text(
    tmp_path: Path, path: str, line: int, kind: str, query: str, share: float | None
) -> None:
    cell = moved(path, line, kind, "symbol_lookup", query, tmp_path, FILES)
    assert cell.overlap_mean == cell.overlap_median == share
    assert cell.overlap_cases == (share is not None)


def test_mean_and_median_are_over_the_cell(tmp_path: Path) -> None:
    entry = shop(tmp_path, FILES)
    assert entry.commit is not None
    queries = ["first", "first apple", "apple lime"]
    cases = [
        sample_case(commit=entry.commit, id=f"c{n}", query=query, targets=(Target("a.py", 4, "symbol"),))
        for n, query in enumerate(queries)
    ]
    (cell,) = bank_stats(parse_bank(b"".join(map(case_line, cases)), "c"), [entry]).cells
    assert (cell.overlap_cases, cell.overlap_mean, cell.overlap_median) == (3, 0.5, 0.5)


def test_copied_queries_overlap_wholly_and_less_beyond_their_witness(tmp_path: Path) -> None:
    entry = shop(tmp_path / "r")
    stats = bank_stats(build_bank([entry], 2, INTENTS, tmp_path / "c").bank, [entry])
    assert [(cell.overlap_cases, cell.overlap_mean) for cell in stats.cells] == [(2, 1.0)] * 5
    assert all(cell.beyond_witness_cases == 2 for cell in stats.cells)
    assert all(0 <= (cell.beyond_witness_mean or 0) < 1 for cell in stats.cells)


def test_beyond_the_witness_only_the_rest_of_the_target_counts(tmp_path: Path) -> None:
    files = {"a.py": b"def load_cart(shop):\n  return shop.cart\n", "b.py": b"def save_all(): pass\n"}
    entry = shop(tmp_path / "r", files)
    bank = build_bank([entry], 2, ["symbol_lookup"], tmp_path / "c").bank
    (cell,) = bank_stats(bank, [entry]).cells
    assert (cell.beyond_witness_cases, cell.beyond_witness_mean, cell.beyond_witness_median) == (
        2,
        0.25,
        0.25,
    )


def test_of_a_case_that_no_rule_yields_nothing_beyond_the_witness_is_told(tmp_path: Path) -> None:
    cell = moved("a.py", 4, "symbol", "symbol_lookup", "first plum cherry", tmp_path, FILES)
    assert (cell.overlap_cases, cell.beyond_witness_cases, cell.beyond_witness_mean) == (1, 0, None)
