"""Whether a retrieved context bears out the facts that an answer must hold; the standard library alone.

- fact recall: the share of facts all of whose words occur in the context, in the fact's own wording or in one
  of its aliases. Facts under two characters are left out.
- contradiction: half the share of facts that the context negates, plus half the share before which it names
  only the other of two exclusive choices (`core.scoring.contradictions`).
- faithfulness = fact recall × (1 − contradiction).

These are the definitions of NeuralMind's offline judge (`neuralmind.ragas`, version 4.22), after Es et al.
2024, "RAGAs: Automated Evaluation of Retrieval Augmented Generation", EACL. Two things differ: a word is
found as a word (`sign` does not occur in `design`), and a fact counts as negated where the negation stands
at the place that holds it, not at the first occurrence of one of its words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from core.questions import Fact
from core.scoring.contradictions import CONTRACTED, EXCLUSIVE_PAIRS, NEGATIONS
from core.scoring.graded_records import FactFinding, Faithfulness

SHORTEST_FACT = 2  # characters
NEGATION_REACH = 3  # words before one of the fact's

_WORD = re.compile(r"[^\W_]+")


class Word(NamedTuple):
    """One word of a text, without regard to case, and its place in characters."""

    text: str
    start: int
    end: int


def words_of(text: str) -> tuple[Word, ...]:
    """Return the words of a text: runs of letters and digits, so that `decode_token` is two."""
    return tuple(Word(found.group().casefold(), *found.span()) for found in _WORD.finditer(text))


def faithfulness(context: str, facts: Iterable[Fact]) -> Faithfulness:
    """Return how far a context bears out facts; without any fact that counts, all is 0."""
    words = words_of(context)
    known = frozenset(word.text for word in words)
    counted = [fact for fact in facts if len(fact.text.strip()) >= SHORTEST_FACT]
    findings = tuple(_finding(fact, words, known, context) for fact in counted)
    if not findings:
        return Faithfulness(0.0, 0.0, 0.0, ())
    recall = sum(finding.found for finding in findings) / len(findings)
    negated = sum(finding.negated for finding in findings) / len(findings)
    excluded = sum(finding.excluded_by is not None for finding in findings) / len(findings)
    contradiction = 0.5 * negated + 0.5 * excluded
    return Faithfulness(recall, contradiction, recall * (1 - contradiction), findings)


class _Stretch(NamedTuple):
    """The words `first` to `last`, by number."""

    first: int
    last: int


def _finding(fact: Fact, words: Sequence[Word], known: frozenset[str], context: str) -> FactFinding:
    wordings = [wording for wording in map(_distinct, (fact.text, *fact.aliases)) if wording]
    excluded = _excluded_by(fact, known)
    held = next((wording for wording in wordings if known.issuperset(wording)), None)
    if held is None:
        absent = [tuple(word for word in wording if word not in known) for wording in wordings]
        return FactFinding(fact.text, False, min(absent, key=len, default=()), excluded_by=excluded)
    stretch = _tightest(words, held)
    negation = _negation(words, stretch, held)
    return FactFinding(
        fact.text,
        found=True,
        start=words[stretch.first].start,
        end=words[stretch.last].end,
        negated=negation is not None,
        negation=None if negation is None else context[words[negation].start : words[stretch.last].end],
        excluded_by=excluded,
    )


def _distinct(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.text for word in words_of(text)))


def _tightest(words: Sequence[Word], wanted: Sequence[str]) -> _Stretch:
    """Return the first of the shortest stretches that hold all of the wanted words, which do occur."""
    needed = frozenset(wanted)
    held: Counter[str] = Counter()
    best, first = _Stretch(0, len(words) - 1), 0
    for last, word in enumerate(words):
        if word.text not in needed:
            continue
        held[word.text] += 1
        while held.keys() >= needed and all(held[text] for text in needed):
            if last - first < best.last - best.first:
                best = _Stretch(first, last)
            if words[first].text in needed:
                held[words[first].text] -= 1
            first += 1
    while words[best.first].text not in needed:  # only where the whole text was the tightest
        best = best._replace(first=best.first + 1)
    return best


def _negation(words: Sequence[Word], stretch: _Stretch, held: Sequence[str]) -> int | None:
    """Return the number of a word that negates a fact where it stands; one that negates itself is not."""
    stated = frozenset(held)
    if stated & NEGATIONS or stated & CONTRACTED:
        return None
    from_word = max(0, stretch.first - NEGATION_REACH)
    for number in range(from_word, stretch.last):
        if _negates(words, number) and any(
            word.text in stated for word in words[number + 1 : number + 1 + NEGATION_REACH]
        ):
            return number
    return None


def _negates(words: Sequence[Word], number: int) -> bool:
    word = words[number]
    if word.text in NEGATIONS:
        return True
    following = words[number + 1] if number + 1 < len(words) else None
    return (
        word.text in CONTRACTED
        and following is not None
        and following.text == "t"
        and following.start == word.end + 1
    )


def _excluded_by(fact: Fact, known: frozenset[str]) -> str | None:
    """Return the choice that a context names instead of the one that the fact names."""
    stated = frozenset(_distinct(" ".join((fact.text, *fact.aliases))))
    for ours, theirs in _choices():
        if stated.issuperset(ours) and not known.issuperset(ours) and known.issuperset(theirs):
            return " ".join(theirs)
    return None


def _choices() -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    for one, other in EXCLUSIVE_PAIRS:
        yield _distinct(one), _distinct(other)
        yield _distinct(other), _distinct(one)
