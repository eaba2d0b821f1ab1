"""Context precision, context recall and answer relevance, by embedding functions that can be reckoned."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.questions import Fact, Question
from core.scoring.relevance import SIMILAR, Vector, centroid, chunks_of, cosine, relevance

ASKED = Question("q", "focused", "east", {"a.py": 3}, (Fact("north"), Fact("west")))
PLACES = {"north": (0, 2), "south": (0, -1), "east": (1, 0), "west": (-3, 0), "nowhere": (0, 0)}


def embed(texts: Sequence[str]) -> list[Vector]:
    """Return the sum of the directions that a text names."""
    named = [[PLACES[word] for word in text.split() if word in PLACES] for text in texts]
    return [tuple(float(sum(axis)) for axis in zip((0, 0), *found, strict=True)) for found in named]


def test_a_context_is_cut_at_blank_lines_and_parts_without_a_word_are_left_out() -> None:
    assert chunks_of("a b\nc\n\n  \n---\n\nd\r\n\r\ne\n") == ("a b\nc", "d", "e")
    assert chunks_of(" \n\n") == ()


def test_the_three_columns_of_a_context() -> None:
    score = relevance("north\n\nsouth\n\neast\n\nwest", ASKED, embed)
    # The facts' centroid points north-west: of four chunks, north and west are near it.
    assert score.context_precision == 2 / 4
    assert score.context_recall == 1.0
    assert score.answer_relevance == 0.0  # the chunks' centroid has no length


def test_a_fact_without_a_near_chunk_is_not_recalled() -> None:
    assert relevance("north", ASKED, embed).context_recall == 1 / 2


def test_answer_relevance_is_the_cosine_of_question_and_context_and_never_negative() -> None:
    assert relevance("east\n\nnorth", ASKED, embed).answer_relevance == pytest.approx(math.sqrt(0.5))
    assert relevance("west", ASKED, embed).answer_relevance == 0.0
    assert relevance("east", ASKED, embed).answer_relevance == 1.0


def test_a_long_context_counts_whole_as_its_chunks_have_one_length() -> None:
    assert relevance("east\n\nwest west west", ASKED, embed).answer_relevance == 0.0


def test_similar_is_a_cosine_from_the_threshold_on() -> None:
    def near(texts: Sequence[str]) -> list[Vector]:
        places = {"fact": (1.0, 0.0), "at": (3.0, math.sqrt(91.0)), "below": (0.29, math.sqrt(1 - 0.29**2))}
        return [places.get(text, (0.0, 1.0)) for text in texts]

    one = ASKED._replace(facts=(Fact("fact"),))
    assert SIMILAR == 0.3
    assert relevance("at\n\nbelow", one, near)[:2] == (1 / 2, 1.0)


def test_an_empty_context_is_near_nothing_and_asks_no_model() -> None:
    def unasked(texts: Sequence[str]) -> list[Vector]:
        raise AssertionError

    assert relevance("\n \n", ASKED, unasked) == (0.0, 0.0, 0.0)


def test_without_facts_only_the_question_is_compared() -> None:
    assert relevance("east", ASKED._replace(facts=(Fact("x"),)), embed) == (0.0, 0.0, 1.0)


def test_a_vector_without_length_has_a_cosine_of_0_with_any() -> None:
    assert cosine((0.0, 0.0), (1.0, 2.0)) == 0.0
    assert centroid([(0.0, 0.0), (3.0, 4.0)]) == [0.3, 0.4]
    assert relevance("nowhere", ASKED, embed) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "vectors",
    [
        [(1.0, 0.0)] * 3 + [(math.nan, 0.0)],
        [(1.0, 0.0)] * 3 + [(math.inf, 0.0)],
        [(1.0, 0.0)] * 3,
        [(1.0, 0.0)] * 3 + [(1.0,)],
        [],
    ],
)
def test_a_broken_embedding_function_is_refused(vectors: list[Vector]) -> None:
    with pytest.raises(ValueError, match="embedding function"):
        relevance("east", ASKED, lambda texts: vectors)


@given(st.lists(st.sampled_from([*PLACES, "---", ""]), max_size=12))
def test_values_lie_between_0_and_1(words: list[str]) -> None:
    assert all(0.0 <= value <= 1.0 for value in relevance("\n\n".join(words), ASKED, embed))
