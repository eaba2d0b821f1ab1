"""Building a bank: chosen by id, written whole or not at all."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

import pytest

from core.banks.case import INTENTS, parse_bank
from core.banks.known_target import ShortageError, build_bank, choose
from core.banks.meta import meta_path, read_meta
from core.banks.reading import read_bank
from core.errors import Exit, InputError
from tests.unit.banks.builders import SHOP, derived, shop

NO_SUMMARIES = {"a.py": b"def one(): pass\ndef two(): pass\n", "a.md": b"# First heading\n# Second heading\n"}


def test_a_bank_and_its_meta_file_are_written(tmp_path: Path) -> None:
    entry = shop(tmp_path / "shop")
    output = tmp_path / "cases.jsonl"
    result = build_bank([entry], 2, INTENTS, output)
    assert result.message == f"Generated 10 source-verified cases: {output}"
    assert read_bank(output) == result.bank
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "cases.jsonl",
        "cases.jsonl.meta.json",
        "shop",
    ]
    assert result.meta == tmp_path / "cases.jsonl.meta.json"


def test_the_first_by_id_are_chosen_in_the_order_of_manifest_and_intents(tmp_path: Path) -> None:
    zoo, shop_ = shop(tmp_path / "a", label="zoo"), shop(tmp_path / "b")
    bank = build_bank([zoo, shop_], 2, tuple(reversed(INTENTS)), tmp_path / "c").bank
    assert [(case.repo, case.intent) for case in bank.cases] == [
        (label, intent) for label in ("zoo", "shop") for intent in INTENTS for _ in range(2)
    ]
    for entry in (zoo, shop_):
        derivation = derived(entry)
        for intent in INTENTS:
            ids = [case.id for case in bank.of_repository(entry.label) if case.intent == intent]
            assert ids == sorted(case.id for case in derivation.cases if case.intent == intent)[:2]


def test_the_same_repository_gives_the_same_bytes(tmp_path: Path) -> None:
    first = build_bank([shop(tmp_path / "a")], 2, INTENTS, tmp_path / "1.jsonl")
    second = build_bank([shop(tmp_path / "b")], 2, INTENTS, tmp_path / "2.jsonl")
    assert first.bank.raw == second.bank.raw
    assert first.meta.read_bytes() == second.meta.read_bytes()


def test_of_cases_with_one_query_the_smallest_id_is_kept(tmp_path: Path) -> None:
    entry = shop(tmp_path / "r", {f"{name}.py": b"def main(): pass\n" for name in "abcdef"})
    bank = build_bank([entry], 1, ["symbol_lookup"], tmp_path / "c").bank
    assert [case.id for case in bank.cases] == [min(case.id for case in derived(entry).cases)]


def test_every_short_cell_is_named_with_the_remedy(tmp_path: Path) -> None:
    entries = [shop(tmp_path / "a"), shop(tmp_path / "b", NO_SUMMARIES, label="bare")]
    with pytest.raises(ShortageError) as caught:
        build_bank(entries, 3, INTENTS, tmp_path / "cases.jsonl")
    assert caught.value.exit_code == Exit.BAD_INPUT
    assert caught.value.shortages == (
        ("shop", "architecture_lookup", 2, 3),
        ("shop", "error_or_trace_lookup", 2, 3),
        ("bare", "symbol_lookup", 2, 3),
        ("bare", "architecture_lookup", 0, 3),
        ("bare", "task_lookup", 0, 3),
        ("bare", "docs_lookup", 2, 3),
        ("bare", "error_or_trace_lookup", 0, 3),
    )
    assert "\n  - bare, task_lookup: have 0, need 3\n" in str(caught.value)
    assert str(caught.value).endswith(
        "\n  - possible: --per-intent 2 --intents symbol_lookup docs_lookup (8 cases)"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.parametrize("per_intent", [3, 4, 100_000])
def test_the_remedy_names_what_works_most_cases_first(tmp_path: Path, per_intent: int) -> None:
    derivation = derived(shop(tmp_path))
    with pytest.raises(ShortageError) as caught:
        choose([derivation], per_intent)
    assert list(map(str, caught.value.possible)) == [
        "--per-intent 2 (10 cases)",
        "--per-intent 3 --intents symbol_lookup task_lookup docs_lookup (9 cases)",
    ]
    for each, intents, cases in caught.value.possible:
        assert len(choose([derivation], each, intents or INTENTS)) == cases
    assert "\n  - possible: --per-intent 2 (10 cases)\n" in str(caught.value)


def many(symbols: int, summaries: int, errors: int, headings: int, modules: int) -> dict[str, bytes]:
    """Return files that yield so many cases of each intent."""
    names = [f"def f{n}():\n" for n in range(symbols)]
    bodies = [f' "Explain number {n} at length."\n' if n < summaries else " pass\n" for n in range(symbols)]
    raises = [f" raise E('message number {n}')\n" if n < errors else "" for n in range(symbols)]
    files = {"a.py": "".join(map("".join, zip(names, bodies, raises, strict=True)))}
    files["a.md"] = "".join(f"# Heading number {n}\n" for n in range(headings))
    files |= {f"m{n}.py": f'"""Describe the module {n}."""\n' for n in range(modules)}
    return {path: text.encode() for path, text in files.items()}


def test_at_most_three_remedies_are_told_and_one_keeps_all_intents(tmp_path: Path) -> None:
    rich = derived(shop(tmp_path / "a", many(30, 25, 20, 30, 30)))
    poor = derived(shop(tmp_path / "b", many(30, 20, 11, 5, 1), label="poor"))
    with pytest.raises(ShortageError) as caught:
        choose([rich, poor], 25)
    assert list(map(str, caught.value.possible)) == [
        "--per-intent 20 --intents symbol_lookup task_lookup (80 cases)",
        "--per-intent 11 --intents symbol_lookup task_lookup error_or_trace_lookup (66 cases)",
        "--per-intent 1 (10 cases)",
    ]
    for each, intents, cases in caught.value.possible:
        assert len(choose([rich, poor], each, intents or INTENTS)) == cases


def test_a_remedy_keeps_to_the_intents_that_were_asked_for(tmp_path: Path) -> None:
    derivation = derived(shop(tmp_path, many(30, 4, 0, 3, 0)))
    with pytest.raises(ShortageError) as caught:
        choose([derivation], 10, ["docs_lookup", "task_lookup"])
    assert list(map(str, caught.value.possible)) == [
        "--per-intent 3 (6 cases)",
        "--per-intent 4 --intents task_lookup (4 cases)",
    ]


def test_where_nothing_is_possible_the_repositories_are_to_blame(tmp_path: Path) -> None:
    code = derived(shop(tmp_path / "a", {"a.py": b"def one(): pass\n"}))
    text = derived(shop(tmp_path / "b", {"a.md": b"# First heading\n"}, label="text"))
    with pytest.raises(ShortageError, match="leave the short repositories out of the manifest") as caught:
        choose([code, text], 1, ["symbol_lookup", "docs_lookup"])
    assert caught.value.possible == ()


def test_intents_can_be_left_out_and_the_choice_is_recorded(tmp_path: Path) -> None:
    entry = shop(tmp_path / "r", NO_SUMMARIES)
    result = build_bank([entry], 2, ["docs_lookup", "symbol_lookup"], tmp_path / "c")
    assert [case.intent for case in result.bank.cases] == ["symbol_lookup"] * 2 + ["docs_lookup"] * 2
    assert json.loads(result.meta.read_bytes())["intents"] == ["symbol_lookup", "docs_lookup"]


@pytest.mark.parametrize(
    ("per_intent", "intents", "count", "words"),
    [
        (0, INTENTS, 1, "--per-intent: found 0; expected 1 or more"),
        (-1, INTENTS, 1, "--per-intent: found -1"),
        (1, ["symbol", "docs_lookup"], 1, "--intents: found symbol; expected some of symbol_lookup"),
        (1, [], 1, "--intents: found none"),
        (1, INTENTS, 0, "has no repositories"),
        (1, INTENTS, 2, "has a repeated label"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(
    tmp_path: Path, per_intent: int, intents: list[str], count: int, words: str
) -> None:
    entry = shop(tmp_path / "r")
    with pytest.raises(InputError, match=words):
        build_bank([entry] * count, per_intent, intents, tmp_path / "c")


@pytest.mark.parametrize("existing", ["cases.jsonl", "cases.jsonl.meta.json"])
def test_an_existing_output_is_refused_before_any_work(
    tmp_path: Path, existing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = shop(tmp_path / "r")

    def no_work(*_: Any) -> None:
        raise AssertionError("worked")

    monkeypatch.setattr("core.banks.known_target.derive_all", no_work)
    (tmp_path / existing).write_bytes(b"precious")
    with pytest.raises(InputError, match=rf"{existing} exists, and evidence is never overwritten"):
        build_bank([entry], 1, INTENTS, tmp_path / "cases.jsonl")
    assert (tmp_path / existing).read_bytes() == b"precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([existing, "r"])


def test_a_name_that_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a file's name"):
        build_bank([shop(tmp_path)], 1, INTENTS, Path())


def test_the_meta_file_tells_how_the_bank_came_about(tmp_path: Path) -> None:
    files = {**SHOP, "broken.py": b"def f(:\n", "tests/a.py": b"", "short.md": b"# Short\n"}
    entry = shop(tmp_path / "r", files).model_copy(update={"url": "https://example.org/shop"})
    result = build_bank([entry], 1, INTENTS, tmp_path / "cases.jsonl")
    assert json.loads(result.meta.read_bytes()) == {
        "format": "boresight-bank-meta@1",
        "bank": {"cases": 5, "format": "known-target-v1", "sha256": result.bank.sha256},
        "intents": list(INTENTS),
        "per_intent": 1,
        "python": platform.python_version(),
        "repositories": [
            {
                "label": "shop",
                "commit": entry.commit,
                "private": False,
                "url": "https://example.org/shop",
                "files": {"markdown": 2, "python": 3},
                "rules": {
                    "definition_docstring": 3,
                    "literal_raise": 2,
                    "markdown_heading": 3,
                    "module_docstring": 2,
                    "python_definition": 3,
                },
                "distinct_queries": {
                    "symbol_lookup": 3,
                    "architecture_lookup": 2,
                    "task_lookup": 3,
                    "docs_lookup": 3,
                    "error_or_trace_lookup": 2,
                },
                "left_out": {"excluded_folder": 1, "short_text": 1, "unparsable": 1},
                "unparsable": {"broken.py": derived(entry).unparsable["broken.py"]},
            }
        ],
    }
    meta = read_meta(result.output)
    assert meta is not None and meta.python == platform.python_version()


def test_of_a_private_repository_the_meta_file_has_only_counts(tmp_path: Path) -> None:
    files = {**SHOP, "secret_place.py": b"def f(:\n"}
    entry = shop(tmp_path / "r", files, private=True)
    entry = entry.model_copy(update={"url": "https://example.org/secret"})
    result = build_bank([entry], 1, INTENTS, tmp_path / "cases.jsonl")
    text = result.meta.read_text()
    assert "secret" not in text and str(tmp_path) not in text
    assert json.loads(text)["repositories"][0]["left_out"] == {"unparsable": 1}


def test_the_address_of_a_clone_is_recorded_without_secrets(tmp_path: Path) -> None:
    entry = shop(tmp_path / "r")
    config = tmp_path / "r" / ".git" / "config"
    config.write_text(
        config.read_text() + '[remote "origin"]\n\turl = https://user:token@example.org/shop.git\n'
    )
    result = build_bank([entry], 1, INTENTS, tmp_path / "cases.jsonl")
    url = json.loads(result.meta.read_bytes())["repositories"][0]["url"]
    assert url == "https://example.org/shop.git"


def test_a_built_bank_is_accepted_by_the_reader(tmp_path: Path) -> None:
    result = build_bank([shop(tmp_path / "r")], 2, INTENTS, tmp_path / "cases.jsonl")
    assert parse_bank(result.output.read_bytes(), "again") == result.bank


def test_the_output_folder_is_made(tmp_path: Path) -> None:
    output = tmp_path / "new" / "deep" / "cases.jsonl"
    build_bank([shop(tmp_path / "r")], 1, INTENTS, output)
    assert output.exists() and meta_path(output).exists()
