"""Fact recall, contradiction and faithfulness of a context."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.questions import Fact
from core.scoring.contradictions import EXCLUSIVE_PAIRS
from core.scoring.faithfulness import faithfulness

SIGNATURE = Fact("decode_token verifies the signature")
CONTEXT = "The function decode_token() verifies the token's signature with HMAC."


def test_a_fact_is_found_where_all_its_words_occur_and_its_place_is_told() -> None:
    score = faithfulness(CONTEXT, [SIGNATURE])
    (finding,) = score.facts
    assert (score.fact_recall, score.contradiction, score.faithfulness) == (1.0, 0.0, 1.0)
    assert CONTEXT[finding.start : finding.end] == "decode_token() verifies the token's signature"


def test_the_tightest_place_is_told() -> None:
    context = "alpha far away from beta. Then alpha beta, and beta at last"
    (finding,) = faithfulness(context, [Fact("beta alpha")]).facts
    assert context[finding.start : finding.end] == "alpha beta"


def test_missing_words_are_told_of_the_wording_that_lacks_least() -> None:
    (finding,) = faithfulness("tokens rot", [Fact("expiry is checked", ("tokens expire",))]).facts
    assert (finding.found, finding.missing_words, finding.start) == (False, ("expire",), None)


def test_a_word_is_found_as_a_word() -> None:
    assert faithfulness("a design without signatures", [Fact("sign")]).fact_recall == 0.0
    assert faithfulness("They SIGN it", [Fact("sign")]).fact_recall == 1.0


def test_an_alias_is_as_good_as_the_fact() -> None:
    assert faithfulness("uses HS256", [Fact("HMAC with SHA-256", ("HS256",))]).fact_recall == 1.0


def test_facts_under_two_characters_count_for_nothing() -> None:
    assert faithfulness("x", [Fact("x"), Fact(" y ")]) == faithfulness("anything", [])
    assert faithfulness("x is set", [Fact("x"), Fact("x is set")]).fact_recall == 1.0


@pytest.mark.parametrize(
    "context",
    [
        "decode_token never verifies the signature",
        "decode_token: it isn't the signature that it verifies",
        "Not decode_token: it verifies the signature",
    ],
)
def test_a_negation_at_the_place_of_the_fact_contradicts_it(context: str) -> None:
    score = faithfulness(context, [SIGNATURE])
    assert score.facts[0].negated
    assert (score.fact_recall, score.contradiction, score.faithfulness) == (1.0, 0.5, 0.5)
    assert score.facts[0].negation is not None


@pytest.mark.parametrize(
    "context",
    [
        "Nothing else is done here at all; decode_token verifies the signature",
        "decode_token verifies the signature, and never the issuer",
        "a can of tokens: decode_token verifies the signature",
    ],
)
def test_a_negation_of_something_else_does_not(context: str) -> None:
    assert faithfulness(context, [SIGNATURE]).contradiction == 0.0


def test_a_fact_that_negates_is_not_contradicted_by_its_own_words() -> None:
    score = faithfulness("tokens are never stored", [Fact("tokens are never stored")])
    assert score.faithfulness == 1.0


def test_the_other_of_two_choices_contradicts_unless_the_facts_own_stands_there_too() -> None:
    fact = Fact("the store is SQLite")
    score = faithfulness("the store is PostgreSQL", [fact])
    assert (score.contradiction, score.facts[0].excluded_by) == (0.5, "postgresql")
    assert faithfulness("the store is SQLite, not PostgreSQL", [fact]).facts[0].excluded_by is None


def test_the_shares_are_halved_and_summed() -> None:
    facts = [Fact("records are deleted"), Fact("signed by hs256")]
    score = faithfulness("records are not deleted; signed by rs256", facts)
    assert score.contradiction == pytest.approx(0.5 * 1 / 2 + 0.5 * 1 / 2)
    assert score.faithfulness == pytest.approx(0.5 * 0.5)


def test_an_empty_context_bears_nothing_out_and_contradicts_nothing() -> None:
    assert faithfulness("", [SIGNATURE])[:3] == (0.0, 0.0, 0.0)


def test_pairs_are_two_different_choices_each_named_once() -> None:
    assert all(one < other for one, other in EXCLUSIVE_PAIRS)
    assert len({*EXCLUSIVE_PAIRS}) == len(EXCLUSIVE_PAIRS)


@given(st.text(max_size=80), st.lists(st.text(max_size=20), max_size=4))
def test_any_text_gives_values_between_0_and_1(context: str, texts: list[str]) -> None:
    score = faithfulness(context, [Fact(text) for text in texts])
    assert all(0.0 <= value <= 1.0 for value in score[:3])
    for finding in score.facts:
        if finding.found:
            assert finding.start is not None
            assert 0 <= finding.start < (finding.end or 0) <= len(context)


@given(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=30), st.sets(st.sampled_from("abcd"), min_size=1)
)
def test_no_shorter_place_holds_the_fact(words: list[str], wanted: set[str]) -> None:
    padded = [word * 2 for word in words]
    fact = Fact(" ".join(word * 2 for word in sorted(wanted)))
    (finding,) = faithfulness(" ".join(padded), [fact]).facts
    assert finding.found == (wanted <= set(words))
    if finding.found and finding.start is not None and finding.end is not None:
        length = (finding.end - finding.start + 1) // 3
        shortest = min(
            last - first
            for first in range(len(words))
            for last in range(first + 1, len(words) + 1)
            if wanted <= set(words[first:last])
        )
        assert length == shortest
