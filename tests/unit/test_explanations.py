"""Every way in which an attempt can fail is told in plain words with a remedy."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest

import core
from core.engine.cell import process_failure
from core.explanations import EXPLANATIONS, explain
from core.run.measurement import Measurement, Outcome, SpawnError

SHARED = (
    "engine/cell.py",
    "engine/engine.py",
    "retrievers/answers.py",
    "retrievers/embedded.py",
    "workspace/store.py",
)


def kinds(source: Path) -> set[str]:
    """Return the words that a module groups failures by."""
    found = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            position = {"AnswerError": 0, "IndexStateError": 0, "Validation": 1}.get(node.func.id)
            if position is not None and len(node.args) > position:
                word = node.args[position]
                if isinstance(word, ast.Constant) and isinstance(word.value, str):
                    found.add(word.value)
    return found


@pytest.mark.parametrize("name", SHARED)
def test_every_error_class_of_the_shared_code_is_explained(name: str) -> None:
    words = kinds(Path(core.__file__).parent / name)
    assert words
    assert words <= EXPLANATIONS.keys()


def test_every_error_class_of_a_retriever_that_comes_along_is_explained() -> None:
    sources = (Path(core.__file__).parent / "retrievers").rglob("*.py")
    assert set().union(*map(kinds, sources)) <= EXPLANATIONS.keys()


@pytest.mark.parametrize("outcome", sorted({*get_args(Outcome)} - {"answered", "stopped"}))
def test_every_way_a_process_can_end_badly_is_explained(outcome: Outcome) -> None:
    measurement = Measurement(
        "2026-01-01T00:00:00+00:00", 0, 1, outcome, exit_code=1, spawn_error=SpawnError("ENOENT", "none")
    )
    error_class, _ = process_failure(measurement)
    assert error_class in EXPLANATIONS


def test_each_explanation_is_a_sentence_with_a_remedy() -> None:
    for told in EXPLANATIONS.values():
        assert told.meaning.endswith(".") and told.remedy.endswith(".")


@pytest.mark.parametrize("status", ["accepted", "stopped", "interrupted", "unreadable"])
def test_what_did_not_fail_is_told_too(status: str) -> None:
    assert explain(None, status).meaning


def test_a_retrievers_own_class_points_to_its_message() -> None:
    assert "message" in explain("of_its_own").meaning
    assert explain(None) == explain("unknown")
