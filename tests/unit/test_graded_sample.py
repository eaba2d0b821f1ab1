"""The sample project's graded questions: complete, in all shapes, each fact borne out by its source."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from core import api
from core.banks.graded_check import check_file
from core.banks.reading import read_bank
from core.campaign.manifest import read_models
from core.embedding import embedded_model
from core.errors import InputError
from core.questions import Question
from core.quickstart import write_graded_inputs
from core.repositories import RepositoryEntry, pinned
from core.samples import CANDIDATES, GRADED, GRADED_SOURCES, make_sample_repository
from core.scoring.faithfulness import words_of
from core.scoring.graded_records import GradedCandidate
from tests.support.campaigns import Scene, campaign, run_new

BANK = read_bank(GRADED)
assert BANK.graded is not None
QUESTIONS = BANK.graded.questions
SOURCES = json.loads(GRADED_SOURCES.read_bytes())
PROJECT = GRADED.parent / "project"


def test_there_are_questions_of_every_shape() -> None:
    shapes = Counter(question.shape for question in QUESTIONS.values())
    assert {*shapes} == {"focused", "cross-file", "identity"}
    assert 18 <= len(QUESTIONS) <= 24
    assert min(shapes.values()) >= 4


def test_the_bank_is_sound_and_grades_every_module(tmp_path: Path) -> None:
    make_sample_repository(tmp_path / "sample")
    entry = pinned(RepositoryEntry(label="sample", path=tmp_path / "sample"))
    assert check_file(GRADED.read_bytes(), "graded.json", entry) == (len(QUESTIONS), (), ())


def test_questions_ask_for_what_they_say() -> None:
    for question in QUESTIONS.values():
        assert len(question.best) <= 2, question.case_id
        if question.shape == "cross-file":
            assert len(question.relevant) >= 3, question.case_id
    assert {path for question in QUESTIONS.values() for path in question.relevant} == {
        path.relative_to(PROJECT).as_posix() for path in PROJECT.rglob("*.py") if path.stem != "__init__"
    }


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=lambda question: question.case_id)
def test_each_fact_is_borne_out_by_the_source_it_names(question: Question) -> None:
    sources = SOURCES[question.case_id]
    assert len(sources) == len(question.facts)
    for fact, source in zip(question.facts, sources, strict=True):
        assert question.grades[source["module"]] >= 1
        text = (PROJECT / source["module"]).read_text("utf-8")
        assert any(source["line"] in line for line in text.splitlines()), source
        held = {word.text for word in words_of(text)}
        assert held >= {word.text for word in words_of(fact.text)}, fact
        shared = {word.text for word in words_of(source["line"])} & {
            word.text for word in words_of(fact.text)
        }
        assert len(shared) >= 2, (fact, source)


def test_no_source_is_named_for_a_question_that_is_not_there() -> None:
    assert SOURCES.keys() == QUESTIONS.keys()


def test_the_quickstart_writes_what_a_campaign_needs(tmp_path: Path) -> None:
    made = write_graded_inputs(tmp_path)
    asked = api.read_campaign(made.campaign)
    assert made.questions == len(QUESTIONS)
    assert made.bank.read_bytes() == GRADED.read_bytes()
    assert [candidate.id for candidate in asked.candidates] == [item.id for item in read_models(CANDIDATES)]
    (entry,) = api.read_repository_manifest(tmp_path / "repositories.json")
    assert (entry.label, entry.commit) == ("sample", made.entry.commit)


def test_words_alone_find_most_modules_and_facts(tmp_path: Path) -> None:
    found = _measured(tmp_path, "lexical")
    _holds_means(found)


def test_a_sensible_candidate_stands_above_every_floor(tmp_path: Path) -> None:
    try:
        embedded_model()
    except InputError as error:
        pytest.skip(str(error))
    found = _measured(tmp_path, "hybrid")
    _holds_means(found)
    assert all(query.recall[5] > 0 for query in found.queries)
    assert all(means.hit_rate >= 0.7 for means in found.shapes.values())


def _measured(folder: Path, name: str) -> GradedCandidate:
    made = write_graded_inputs(folder)
    (candidate,) = [item for item in read_models(CANDIDATES) if item.id == name]
    ran = run_new(campaign(Scene(folder, made.entry, made.bank), candidate), folder / "run")
    graded = api.rescore(ran.run).graded
    assert graded is not None
    return graded.candidates[name]


def _holds_means(found: GradedCandidate) -> None:
    """Compare with the seed's floors for means."""
    means = found.overall
    assert means.recall[5] >= 0.5
    assert means.mrr >= 0.4
    assert means.ndcg >= 0.5
    assert means.hit_rate >= 0.8
    assert means.faithfulness is not None and means.faithfulness > 0
    assert means.contradiction is not None and means.contradiction <= 0.2
