"""A bank's bytes are read strictly and written canonically."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.banks.case import INTENTS, Case, Evidence, case_line, case_record, parse_bank
from core.banks.reading import read_bank
from core.canonical import canonical_json, sha256
from core.errors import Exit, InputError, ProblemsError
from core.ranking import CHANNELS, Kind, Target
from tests.unit.banks.builders import sample_case

LINE = (
    '{"channel":"emb","commit":"0123456789abcdef0123456789abcdef01234567","evidence":{"rule":'
    '"python_definition","source_sha256":"' + "a" * 64 + '"},"id":"shop-symbol_lookup-00000000000000000001",'
    '"intent":"symbol_lookup","query":"total_price","repo":"shop","schema_version":"known-target-v1",'
    '"targets":[{"kind":"symbol","line":4,"path":"shop/prices.py"}]}\n'
).encode()


def problems(raw: bytes) -> tuple[str, ...]:
    with pytest.raises(ProblemsError) as caught:
        parse_bank(raw, "cases.jsonl")
    assert caught.value.exit_code == Exit.BAD_INPUT
    assert str(caught.value).startswith("cases.jsonl is not a valid known-target-v1 bank:")
    return caught.value.problems


def record(**changes: Any) -> bytes:
    return canonical_json({**case_record(sample_case()), **changes}) + b"\n"


def test_a_case_is_written_as_the_public_format_writes_it() -> None:
    assert case_line(sample_case()) == LINE


def test_text_beyond_ascii_is_written_as_itself() -> None:
    assert '"query":"Größe — ✓"'.encode() in case_line(sample_case(query="Größe — ✓"))


def test_a_bank_keeps_its_bytes_and_their_digest() -> None:
    bank = parse_bank(LINE, "cases.jsonl")
    assert bank.cases == (sample_case(),)
    assert (bank.raw, bank.sha256, bank.format) == (LINE, sha256(LINE), "known-target-v1")


def test_a_bank_tells_its_repositories_in_the_order_of_the_file() -> None:
    cases = [
        sample_case(repo="zoo", id="zoo-1"),
        sample_case(commit="b" * 40, id="shop-1"),
        sample_case(repo="zoo", id="zoo-2"),
    ]
    bank = parse_bank(b"".join(map(case_line, cases)), "cases.jsonl")
    assert bank.repositories == ("zoo", "shop")
    assert bank.commits == {"zoo": sample_case().commit, "shop": "b" * 40}
    assert [case.id for case in bank.of_repository("zoo")] == ["zoo-1", "zoo-2"]


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
parts = words.filter(lambda part: "/" not in part and "\0" not in part and part not in (".", ".."))
targets = st.builds(
    Target, st.lists(parts, min_size=1, max_size=4).map("/".join), st.integers(1, 10**6), st.just("symbol")
)


@given(
    channel=st.sampled_from(CHANNELS),
    intent=st.sampled_from(INTENTS),
    query=words.filter(lambda query: bool(query.strip())),
    found=st.lists(targets, min_size=1, max_size=3, unique=True).map(tuple),
    digest=st.text("0123456789abcdef", min_size=64, max_size=64),
)
def test_any_sound_case_reads_back_as_it_was_written(
    channel: Any, intent: str, query: str, found: tuple[Target, ...], digest: str
) -> None:
    case = sample_case(
        channel=channel,
        intent=intent,
        query=query,
        targets=found,
        evidence=Evidence("python_definition", digest),
    )
    assert parse_bank(case_line(case), "cases.jsonl").cases == (case,)


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"id": "a b"}, "id", 'found "a b"; expected 1 to 200 of the characters'),
        ({"id": ""}, "id", "found an empty string"),
        ({"id": "a" * 201}, "id", "expected 1 to 200"),
        ({"id": 7}, "id", "found 7"),
        ({"repo": "r" * 65}, "repo", "expected 1 to 64"),
        ({"repo": "../x"}, "repo", "use the manifest's label"),
        ({"commit": "abc"}, "commit", "expected 40 lower-case hexadecimal digits"),
        ({"commit": "A" * 40}, "commit", "git rev-parse"),
        ({"commit": "0" * 40 + "\n"}, "commit", "expected 40"),
        ({"intent": "guess"}, "intent", "expected one of symbol_lookup, architecture_lookup"),
        ({"intent": []}, "intent", "found a list of 0"),
        ({"channel": "ctx"}, "channel", "expected one of emb, docs"),
        ({"query": ""}, "query", "found no words"),
        ({"query": " \t\n"}, "query", "found no words"),
        ({"query": None}, "query", "found null"),
        ({"schema_version": "known-target-v2"}, "schema_version", "expected one of known-target-v1"),
        ({"targets": []}, "targets", "expected a list of one target or more"),
        ({"targets": {}}, "targets", "found an object"),
        ({"targets": ["a.py"]}, "targets[0]", "expected an object with kind, line and path"),
        ({"evidence": "none"}, "evidence", "expected an object with rule and source_sha256"),
        ({"evidence": {"rule": "x"}}, "evidence", "found no source_sha256"),
        (
            {"evidence": {"rule": "A rule", "source_sha256": "a" * 64}},
            "evidence.rule",
            "expected the name of a rule",
        ),
        (
            {"evidence": {"rule": "x", "source_sha256": "a" * 63}},
            "evidence.source_sha256",
            "expected 64 lower-case hexadecimal digits",
        ),
        ({"note": 1}, "note", "a field that the format does not have"),
    ],
)
def test_a_wrong_field_is_named_with_what_was_expected(
    changes: dict[str, Any], field: str, words: str
) -> None:
    (problem,) = problems(record(**changes))
    assert problem.startswith(f"line 1, {field}: found ")
    assert words in problem


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("", "an empty path"),
        ("/etc/passwd", "begins with `/`"),
        ("a/../b.py", "a `..` part"),
        ("./a.py", "a `.` part"),
        ("a//b.py", "an empty part"),
        ("a/", "an empty part"),
        ("a\0b.py", "holds NUL"),
    ],
)
def test_a_path_that_is_not_canonical_is_refused_without_being_repeated(path: str, fault: str) -> None:
    (problem,) = problems(record(targets=[{"kind": "symbol", "line": 1, "path": path}]))
    assert problem.startswith("line 1, targets[0].path: found a") and fault in problem
    assert "passwd" not in problem


def test_a_backslash_is_an_ordinary_character_of_a_path() -> None:
    case = sample_case(targets=(Target("a\\b.py", 1, "symbol"),))
    assert parse_bank(case_line(case), "cases.jsonl").cases == (case,)


@pytest.mark.parametrize(
    ("kind", "line", "sound"),
    [
        ("symbol", 1, True),
        ("documentation", 1, True),
        ("file", 0, True),
        ("symbol", 0, False),
        ("documentation", 0, False),
        ("file", 1, False),
        ("symbol", -1, False),
        ("symbol", 1.0, False),
        ("symbol", True, False),
        ("symbol", 2**31, False),
        ("method", 1, False),
    ],
)
def test_lines_are_positive_but_for_files(kind: Kind, line: Any, sound: bool) -> None:
    raw = record(targets=[{"kind": kind, "line": line, "path": "a.py"}])
    if sound:
        assert parse_bank(raw, "cases.jsonl").cases[0].targets == (Target("a.py", line, kind),)
    else:
        (problem,) = problems(raw)
        assert problem.startswith("line 1, targets[0].")


def test_a_repeated_target_is_refused() -> None:
    target = {"kind": "symbol", "line": 1, "path": "a.py"}
    assert problems(record(targets=[target, target])) == (
        "line 1, targets[1]: found a repeated target; expected each target once; remove the repetition",
    )


def test_ids_are_unique() -> None:
    (problem,) = problems(LINE + LINE)
    assert problem.startswith('line 2, id: found "shop-symbol_lookup-00000000000000000001", also on line 1')


def test_mixed_commits_of_a_repository_are_refused_by_name() -> None:
    other = case_line(sample_case(id="other", commit="b" * 40))
    (problem,) = problems(LINE + other)
    assert problem.startswith(
        "line 2, commit: found mixed commits of shop (bbbbbbbbbbbb here, 0123456789ab on"
    )


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "found an empty file"),
        (LINE[:-1], "line 1, found a last line without its end"),
        (LINE.replace(b"\n", b"\r\n"), "line 1, found a carriage return at its end"),
        (LINE + b"\n", "line 2, found a blank line"),
        (LINE + b"  \n", "line 2, found a blank line"),
        (b"\xef\xbb\xbf" + LINE, "line 1, found a byte order mark"),
        (b"{\n", "line 1, found broken JSON"),
        (LINE.replace(b"total", b"t\xffotal"), "which is not UTF-8"),
        (b"[" * 100_000 + b"\n", "nested too deeply"),
        (b"1" * 5_000 + b"\n", "a number too long to read"),
        (b"[]\n", "line 1, found a list of 0; expected a JSON object"),
        (LINE.replace(b'"line":4', b'"line":NaN'), "a number that JSON does not have"),
        (LINE.replace(b"total_price", b"\\ud800"), "text that UTF-8 cannot hold"),
        (LINE.replace(b'{"channel"', b'{"channel":"emb","channel"'), "duplicate key 'channel'"),
        (LINE.replace(b'"line":4', b'"line":4,"line":4'), "duplicate key 'line'"),
        (LINE.replace(b",", b", ", 1), "bytes that leave the canonical form at byte 18"),
        (b" " + LINE, "bytes that leave the canonical form at byte 1"),
        (LINE.replace(b"total", b"\\u0074otal"), "bytes that leave the canonical form"),
        (LINE.replace(b'"shop/prices.py"', b'"shop\\/prices.py"'), "bytes that leave the canonical form"),
    ],
)
def test_bytes_that_are_not_the_format_are_refused(raw: bytes, words: str) -> None:
    assert any(words in problem for problem in problems(raw))


def test_keys_out_of_order_are_not_canonical() -> None:
    raw = json.dumps(dict(reversed(case_record(sample_case()).items())), separators=(",", ":")).encode()
    assert "line 1, found bytes that leave the canonical form at byte 3" in problems(raw + b"\n")[0]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0c", "\x1d"])
def test_only_a_line_feed_ends_a_line(separator: str) -> None:
    case = sample_case(query=f"one{separator}two")
    assert parse_bank(case_line(case), "cases.jsonl").cases == (case,)


def test_all_problems_are_told_at_once() -> None:
    raw = record(commit="abc", query="") + LINE + record(id="!", targets=[])
    assert [problem.split(":")[0] for problem in problems(raw)] == [
        "line 1, commit",
        "line 1, query",
        "line 3, id",
        "line 3, targets",
    ]


def test_a_long_list_of_problems_is_cut_and_the_rest_counted() -> None:
    found = problems(b"{}\n" * 2_000)
    assert len(found) == 21
    assert found[-1] == "and 1,980 more problems"


def test_a_hostile_value_is_shown_harmlessly() -> None:
    (problem,) = problems(record(intent="\x1b[31m" + "x" * 500))
    assert "\x1b" not in problem and len(problem) < 300


@given(st.binary(max_size=300))
def test_any_bytes_are_either_a_bank_or_refused_with_a_message(raw: bytes) -> None:
    with pytest.raises(ProblemsError):
        parse_bank(raw, "cases.jsonl")


def test_a_bank_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(LINE)
    assert read_bank(path) == parse_bank(LINE, str(path))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read the bank .*missing\.jsonl: No such file"):
        read_bank(tmp_path / "missing.jsonl")
    with pytest.raises(InputError, match="Is a directory"):
        read_bank(tmp_path)
    with pytest.raises(InputError, match="cannot hold NUL"):
        read_bank("a\0b")


def test_a_case_that_cannot_be_encoded_has_no_line() -> None:
    with pytest.raises(UnicodeEncodeError):
        case_line(sample_case(query="\ud800"))


def test_cases_are_values() -> None:
    case: Case = sample_case()
    assert case == sample_case() and hash(case) == hash(sample_case())
    assert replace(case, query="other") != case


def historical(**changes: Any) -> Case:
    case = sample_case(
        id="shop-commit_lookup-00000000000000000001",
        intent="commit_lookup",
        query="Sum the prices of a whole cart",
        evidence=Evidence("commit_paths", "a" * 64),
        schema_version="historical-v1",
        targets=(Target("shop/cart.py", 0, "file"), Target("shop/prices.py", 0, "file")),
    )
    return replace(case, **changes)


def test_a_bank_of_changed_files_has_its_own_format() -> None:
    bank = parse_bank(case_line(historical()), "cases.jsonl")
    assert bank.format == "historical-v1" and bank.cases == (historical(),)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"intent": "symbol_lookup"}, 'intent: found "symbol_lookup"; expected one of commit_lookup'),
        ({"channel": "docs"}, 'channel: found "docs"; expected one of emb'),
        ({"targets": (Target("a.py", 3, "symbol"),)}, "targets[0].kind: found symbol; expected file"),
    ],
)
def test_its_fields_are_its_own(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        parse_bank(case_line(historical(**changes)), "cases.jsonl")
    assert told in str(caught.value)
    assert 'intent: found "commit_lookup"' in problems(case_line(sample_case(intent="commit_lookup")))[0]


@pytest.mark.parametrize("known_first", [True, False])
def test_known_targets_and_changed_files_are_never_in_one_bank(known_first: bool) -> None:
    lines = [case_line(sample_case()), case_line(historical())]
    with pytest.raises(ProblemsError) as caught:
        parse_bank(b"".join(lines if known_first else lines[::-1]), "cases.jsonl")
    (problem,) = caught.value.problems
    assert problem.startswith("line 2, schema_version: found ")
    assert "one format in a bank" in problem and "a file of their own" in problem
