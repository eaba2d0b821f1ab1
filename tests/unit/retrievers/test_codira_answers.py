from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.ranking import Location
from core.retrievers.codira_answers import read_context, read_index, read_ranking
from core.retrievers.protocol import AnswerError, Place

PLACE = Place(Path("/run/repositories/demo"), Path("/run/state/c/demo"), Path("/run/configs/c.toml"))
SYMBOL = {"type": "method", "file": "/run/repositories/demo/a/b.py", "lineno": 7, "score": 0.5}
SECTION = {
    "kind": "section",
    "source_format": "markdown_section",
    "file": "/run/repositories/demo/README.md",
    "lineno": 3,
    "end_lineno": 9,
    "score": 0.62,
}


def emb(*rows: Any, **changes: Any) -> bytes:
    return json.dumps({"command": "emb", "status": "ok", "results": list(rows), **changes}).encode()


def docs(*rows: Any) -> bytes:
    return emb(*rows, command="docs")


def ctx(*rows: Any, **changes: Any) -> bytes:
    document = {"schema_version": "1.3", "status": "ok", "top_matches": list(rows), "context": []}
    return json.dumps({**document, **changes}).encode()


def index(**summary: Any) -> bytes:
    counts = {"indexed": 3, "failed": 0, "embeddings_pending": 0, "embedding_complete": True, **summary}
    return json.dumps({"command": "index", "status": "ok", "results": [], "summary": counts}).encode()


# Rankings


def test_rows_become_locations_relative_to_the_repository_in_their_order() -> None:
    other = {**SYMBOL, "type": "module", "file": "/run/repositories/demo/c.py", "lineno": 1, "score": 0.9}
    assert read_ranking(emb(SYMBOL, other), PLACE, 10).ranking == (
        Location("a/b.py", 7, None, "symbol", 0.5),
        Location("c.py", 1, None, "symbol", 0.9),
    )
    assert read_ranking(docs(SECTION), PLACE, 10).ranking == (
        Location("README.md", 3, 9, "documentation", 0.62),
    )


def test_documentation_among_emb_rows_keeps_its_kind() -> None:
    row = {**SYMBOL, "type": "documentation"}
    assert read_ranking(emb(row), PLACE, 10).ranking[0].kind == "documentation"


def test_nothing_found_is_an_empty_ranking() -> None:
    assert read_ranking(emb(status="no_matches"), PLACE, 10).ranking == ()


def test_duplicates_and_surplus_rows_are_dropped_and_counted() -> None:
    rows = [SYMBOL, SYMBOL, *({**SYMBOL, "lineno": line} for line in range(10, 15))]
    found = read_ranking(emb(*rows), PLACE, 3)
    assert [location.line for location in found.ranking] == [7, 10, 11]
    assert (found.duplicates, found.surplus) == (1, 3)


def test_a_row_without_a_line_stands_for_its_file() -> None:
    row = {**SYMBOL, "lineno": None}
    assert read_ranking(emb(row), PLACE, 10).ranking == (Location("a/b.py", None, None, "symbol", 0.5),)


def test_nothing_nested_becomes_a_hit() -> None:
    row = {**SYMBOL, "references": [{"file": "/run/repositories/demo/x.py", "lineno": 1}]}
    found = read_ranking(emb(row, inventory=[{"file": "y.py", "lineno": 2}]), PLACE, 10)
    assert [location.path for location in found.ranking] == ["a/b.py"]


def test_relative_paths_are_taken_as_they_are() -> None:
    assert read_ranking(emb({**SYMBOL, "file": "a/b.py"}), PLACE, 10).ranking[0].path == "a/b.py"


def test_links_above_the_repository_may_be_resolved(tmp_path: Path) -> None:
    (tmp_path / "real" / "run" / "repositories" / "demo").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    place = PLACE._replace(repository=tmp_path / "link" / "run" / "repositories" / "demo")
    answer = emb({**SYMBOL, "file": str(tmp_path / "real" / "run" / "repositories" / "demo" / "a.py")})
    assert read_ranking(answer, place, 10).ranking[0].path == "a.py"
    moved = place._replace(repository=tmp_path / "gone" / "run" / "repositories" / "demo")
    assert read_ranking(answer, moved, 10).ranking[0].path == "a.py"


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ({**SYMBOL, "file": "/etc/passwd"}, "outside_repository"),
        ({**SYMBOL, "file": "/run/repositories/demo/../other/a.py"}, "outside_repository"),
        ({**SYMBOL, "file": "/run/repositories/demolition/a.py"}, "outside_repository"),
        ({**SYMBOL, "file": "/run/repositories/demo/"}, "bad_path"),
        ({**SYMBOL, "file": 5}, "wrong_shape"),
        ({**SYMBOL, "file": None}, "wrong_shape"),
        ({**SYMBOL, "lineno": 0}, "bad_line"),
        ({**SYMBOL, "lineno": "7"}, "bad_line"),
        ({**SYMBOL, "type": None}, "wrong_shape"),
        ({**SYMBOL, "score": "high"}, "bad_score"),
        ("a.py:7", "wrong_shape"),
    ],
)
def test_a_row_that_cannot_be_placed_fails_the_query_by_name(row: Any, kind: str) -> None:
    with pytest.raises(AnswerError) as caught:
        read_ranking(emb(SYMBOL, row), PLACE, 10)
    assert caught.value.kind == kind
    assert "results[1]" in str(caught.value)


# Answers that are none


@pytest.mark.parametrize(
    ("stdout", "kind", "words"),
    [
        (b"", "empty_output", "found nothing"),
        (b"\xff{}", "invalid_utf8", "byte 0xff"),
        (b"[codira] Index ready\n" + emb(SYMBOL), "invalid_json", "it begins with '[codira] Index ready"),
        (emb(SYMBOL) + emb(SYMBOL), "invalid_json", "Extra data"),
        (b"[]", "wrong_shape", "a list"),
        (b'{"error": "no such index"}', "error_answer", "no such index"),
        (emb(status="not_indexed"), "error_answer", "not_indexed"),
        (emb(status="failed", message="disk full"), "error_answer", "disk full"),
        (emb(status=None), "error_answer", "None"),
        (emb(command="emb purge", status="dry_run"), "wrong_command", "emb purge"),
        (emb(command="sym"), "wrong_command", "expected docs or emb"),
        (ctx(SYMBOL), "wrong_command", "expected docs or emb"),
        (emb(results={}), "wrong_shape", "results"),
        (emb(SYMBOL, status="no_matches"), "wrong_shape", "1 rows, expected none"),
    ],
)
def test_an_answer_that_is_none_has_a_name(stdout: bytes, kind: str, words: str) -> None:
    with pytest.raises(AnswerError) as caught:
        read_ranking(stdout, PLACE, 10)
    assert caught.value.kind == kind
    assert words in str(caught.value)


def test_hostile_text_in_an_answer_is_made_visible() -> None:
    with pytest.raises(AnswerError) as caught:
        read_ranking(emb(status="\x1b]52;c;\x07"), PLACE, 10)
    assert "\x1b" not in str(caught.value)


# Contexts


def test_a_context_is_its_sections_and_its_top_matches() -> None:
    rows = [
        {"type": "function", "file": "/run/repositories/demo/a.py", "lineno": 4, "confidence": 0.7},
        {"type": "documentation", "file": "/run/repositories/demo/b.md", "lineno": 2, "confidence": 0.5},
    ]
    sections = [["function a()", "  Line: 4"], ["documentation b"]]
    extra = {"file": "/run/repositories/demo/never.py", "lineno": 1, "type": "class"}
    found = read_context(ctx(*rows, context=sections, module_expansion=[extra]), PLACE, 10)
    assert found.text == "function a()\n  Line: 4\n\ndocumentation b"
    assert found.ranking == (
        Location("a.py", 4, None, "symbol", 0.7),
        Location("b.md", 2, None, "documentation", 0.5),
    )


def test_a_context_may_name_its_command_and_hold_nothing() -> None:
    found = read_context(ctx(command="ctx", status="no_matches"), PLACE, 10)
    assert found == ("", ())


@pytest.mark.parametrize(
    ("stdout", "kind"),
    [
        (ctx(command="emb"), "wrong_command"),
        (ctx(status="error"), "error_answer"),
        (ctx(context=None), "wrong_shape"),
        (ctx(context=[["line", 5]]), "wrong_shape"),
        (ctx(top_matches=None), "wrong_shape"),
        (ctx({**SYMBOL, "file": "/etc/passwd"}), "outside_repository"),
        (b"{}", "error_answer"),
    ],
)
def test_a_context_that_is_none_has_a_name(stdout: bytes, kind: str) -> None:
    with pytest.raises(AnswerError) as caught:
        read_context(stdout, PLACE, 10)
    assert caught.value.kind == kind


# Index answers


def test_a_sound_index_answer_is_accepted() -> None:
    read_index(index())
    read_index(index(failed=2))  # a file that cannot be parsed is no part of any index


@pytest.mark.parametrize(
    ("stdout", "kind", "words"),
    [
        (index(indexed=0, failed=4), "empty_index", "4 failed"),
        (index(embeddings_pending=12), "incomplete_index", "12 embeddings are pending"),
        (index(embedding_complete=False), "incomplete_index", "pending"),
        (emb(SYMBOL), "wrong_command", "expected index"),
        (b'{"command": "index", "status": "coverage_incomplete"}', "error_answer", "coverage_incomplete"),
        (b'{"command": "index", "status": "ok"}', "wrong_shape", "summary"),
    ],
)
def test_an_index_answer_that_tells_of_a_failure_is_refused(stdout: bytes, kind: str, words: str) -> None:
    with pytest.raises(AnswerError) as caught:
        read_index(stdout)
    assert caught.value.kind == kind
    assert words in str(caught.value)
