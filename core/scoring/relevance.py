"""How near a context is to its question and to the facts, by an embedding function that is handed in.

A context's chunks are its parts that blank lines separate, those without a word left out.

- context precision: the share of chunks whose cosine with the facts' centroid is at least SIMILAR.
- context recall: the share of facts whose nearest chunk has a cosine of at least SIMILAR.
- answer relevance: the cosine of the chunks' centroid and the question, 0 where it is negative. (The
  centroid stands for the whole context, as a model reads only the first words of a long text.)

A centroid is the mean of its vectors, each at length 1. A cosine with a vector of length 0 is 0. Without
chunks all three are 0, without facts the first two. A vector that is not finite, or vectors of other number
or dimension than was asked for, are a broken embedding function: ValueError.

After Es et al. 2024, "RAGAs: Automated Evaluation of Retrieval Augmented Generation", EACL, with similarity
in place of a language model, as in NeuralMind's offline judge (`neuralmind.ragas`, version 4.22); there any
cosine above 0 counts as similar, which nearly all texts of one repository are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from core.questions import Question
from core.scoring.faithfulness import SHORTEST_FACT

SIMILAR = 0.3  # cosine from which two texts count as similar

Vector = Sequence[float]
Embed = Callable[[Sequence[str]], Sequence[Vector]]
"""Returns one vector for each text, all of one dimension."""

_BLANK = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_WORD = re.compile(r"\w")


class Embedding(NamedTuple):
    """An embedding function, and what reports call it: the model's name and its digest."""

    name: str
    embed: Embed


class Relevance(NamedTuple):
    """The three columns that need an embedding function, each from 0 to 1."""

    context_precision: float
    context_recall: float
    answer_relevance: float


def chunks_of(context: str) -> tuple[str, ...]:
    """Return the parts of a context that blank lines separate, those without a word left out."""
    parts = (part.strip() for part in _BLANK.split(context.replace("\r\n", "\n")))
    return tuple(part for part in parts if _WORD.search(part))


def relevance(context: str, question: Question, embed: Embed) -> Relevance:
    """Return how near a context is to a question and its facts; raises ValueError for broken vectors."""
    chunks = chunks_of(context)
    if not chunks:
        return Relevance(0.0, 0.0, 0.0)
    facts = [fact.text for fact in question.facts if len(fact.text.strip()) >= SHORTEST_FACT]
    vectors = _embedded([question.text, *facts, *chunks], embed)
    asked, known, found = vectors[0], vectors[1 : 1 + len(facts)], vectors[1 + len(facts) :]
    middle = centroid(known)
    return Relevance(
        context_precision=_share([cosine(chunk, middle) for chunk in found]) if known else 0.0,
        context_recall=_share([max(cosine(fact, chunk) for chunk in found) for fact in known]),
        answer_relevance=min(max(cosine(centroid(found), asked), 0.0), 1.0),
    )


def cosine(one: Vector, other: Vector) -> float:
    """Return the cosine of two vectors, 0 where one has no length; raises ValueError for two dimensions."""
    lengths = math.hypot(*one) * math.hypot(*other)
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / lengths if lengths else 0.0


def centroid(vectors: Sequence[Vector]) -> Vector:
    """Return the mean of vectors, each at length 1; one of length 0 adds nothing but counts."""
    units = [[value / (math.hypot(*vector) or 1.0) for value in vector] for vector in vectors]
    return [math.fsum(values) / len(units) for values in zip(*units, strict=True)]


def _share(cosines: Sequence[float]) -> float:
    return sum(value >= SIMILAR for value in cosines) / len(cosines) if cosines else 0.0


def _embedded(texts: Sequence[str], embed: Embed) -> Sequence[Vector]:
    vectors = embed(texts)
    if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) != 1:
        raise ValueError("an embedding function must return one vector of the same dimension for each text")
    if not all(math.isfinite(value) for vector in vectors for value in vector):
        raise ValueError("an embedding function returned a vector that is not finite")
    return vectors
