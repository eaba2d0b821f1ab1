"""The floors file: what it can say, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import InputError, ProblemsError
from core.gating.floors import default_floors, default_text, floors_files, parse_floors, read_floors
from core.scoring.gate_records import Bound, Gate, Part


def problems(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse_floors(text, "floors.toml")
    return str(caught.value)


def entry(lines: str) -> str:
    return problems(f"[[gate]]\nmetric = 'recall@5'\n{lines}\n")


def test_bounds_parts_and_candidate_are_read() -> None:
    floors = parse_floors(
        """
        candidate = "minilm"
        allow_incomplete = true
        [[gate]]
        metric = "recall@5"
        min = 0.5
        below = 1
        [[gate]]
        name = "no query is lost"
        metric = "recall@5"
        each = "query"
        shape = "focused"
        above = 0
        [[gate]]
        metric = "hit@1"
        each = "shape"
        repository = "shop"
        mean = "micro"
        max = 0.9
        """,
        "f",
    )
    assert (floors.name, floors.candidate, floors.allow_incomplete) == ("f", "minilm", True)
    assert floors.gates == (
        Gate("recall@5", (Bound("min", 0.5), Bound("below", 1.0))),
        Gate("recall@5", (Bound("above", 0.0),), Part(intent="focused"), "query", name="no query is lost"),
        Gate("hit@1", (Bound("max", 0.9),), Part(repository="shop"), "intent", "micro"),
    )


def test_the_default_floors_are_the_eight_of_graded_benchmarks() -> None:
    floors = default_floors()
    told = {(gate.metric, gate.each, *gate.bounds[0]) for gate in floors.gates}
    assert len(floors.gates) == 8 and floors.candidate is None
    assert told == {
        ("recall@5", None, "min", 0.50),
        ("mrr", None, "min", 0.40),
        ("ndcg@5", None, "min", 0.50),
        ("hit_rate", None, "min", 0.80),
        ("faithfulness", None, "above", 0.0),
        ("contradiction", None, "max", 0.20),
        ("recall@5", "query", "above", 0.0),
        ("hit_rate", "intent", "min", 0.70),
    }
    assert parse_floors(default_text(), floors.name) == floors


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("", "expected a bound; add min, above, max or below"),
        ("min = 0.1\nabove = 0.2", "found both min and above; keep one of them"),
        ("max = 0.1\nbelow = 0.2", "found both max and below"),
        ("min = 0.5\nmax = 0.4", "the floor lies above the ceiling"),
        ("min = nan", "a finite number"),
        ("min = inf", "a finite number"),
        ('min = "0.5"', "a number"),
        ("minimum = 0.5", "unknown key"),
        ('each = "querry"\nmin = 0', "expected 'query', 'shape', 'intent' or 'repository'"),
        ('shape = "a"\nintent = "a"\nmin = 0', "two words for one thing"),
        ('query = "a"\nshape = "a"\nmin = 0', "query names one query already"),
        ('each = "shape"\nintent = "a"\nmin = 0', "exclude each other"),
        ('each = "repository"\nrepository = "a"\nmin = 0', "exclude each other"),
        ('mean = "median"\nmin = 0', "'macro' or 'micro'"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(lines: str, told: str) -> None:
    message = entry(lines)
    assert message.startswith("floors.toml is not valid:") and "gate[0]" in message
    assert told in message


def test_a_truth_value_is_no_number() -> None:
    assert "gate[0].min" in entry("min = true")


def test_files_that_are_no_floors_are_refused(tmp_path: Path) -> None:
    assert "not valid TOML" in problems("[[gate]\n")
    assert "gate: found nothing" in problems("")
    assert "at least 1 entries" in problems("gate = []")
    assert "boresight-floors@1" in problems("format = 'boresight-floors@2'\n[[gate]]\nmetric='mrr'\nmin=0")
    assert "\x1b" not in problems("'\x1b'\n")
    with pytest.raises(InputError, match="no such file"):
        read_floors(tmp_path / "none.toml")
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b"# \xe9\n")
    with pytest.raises(InputError, match="expected UTF-8"):
        read_floors(latin)


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(ProblemsError) as caught:
        parse_floors("[[gate]]\nmetric='a'\n[[gate]]\nmetric='b'\n[[gate]]\nmin=0\n", "f")
    assert len(caught.value.problems) == 3


def test_floors_of_a_folder_are_found_the_plain_name_first(tmp_path: Path) -> None:
    for name in ("b.floors.toml", "a.floors.toml", "floors.toml", "other.toml"):
        (tmp_path / name).write_text("")
    (tmp_path / "c.floors.toml").mkdir()
    assert [path.name for path in floors_files(tmp_path)] == ["floors.toml", "a.floors.toml", "b.floors.toml"]
    assert floors_files(tmp_path / "none") == ()
