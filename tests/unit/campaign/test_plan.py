"""The order of operations: fair to every candidate, and the same everywhere."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.banks.case import FORMAT, Bank, Case, Evidence, case_line, parse_bank
from core.campaign.plan import Planned, make_plan, parse_plan, plan_lines
from core.errors import IdentityError
from core.ranking import Channel, Target
from core.retrievers.protocol import Features


def make_bank(cases: int, repositories: tuple[str, ...] = ("store",)) -> Bank:
    """Return a bank whose every third case asks for documentation."""
    lines = [
        case_line(_case(label, number, "docs" if number % 3 == 2 else "emb"))
        for label in repositories
        for number in range(cases)
    ]
    return parse_bank(b"".join(lines), "cases.jsonl")


def _case(label: str, number: int, channel: Channel) -> Case:
    intent, kind, rule = (
        ("docs_lookup", "documentation", "markdown_heading")
        if channel == "docs"
        else ("symbol_lookup", "symbol", "python_definition")
    )
    return Case(
        channel=channel,
        commit="0" * 40,
        evidence=Evidence(rule, "a" * 64),
        id=f"{label}-{intent}-{number:020x}",
        intent=intent,
        query=f"query {number}",
        repo=label,
        schema_version=FORMAT,
        targets=(Target("a.py", 1, kind),),  # type: ignore[arg-type]
    )


def features(channels: tuple[Channel, ...] = ("emb", "docs"), probe: bool = True) -> Features:
    return Features(frozenset(channels), probe, False, False, True, "exact")


def everyone(*names: str) -> dict[str, Features]:
    return {name: features() for name in names}


def leaders(plan: tuple[Planned, ...]) -> list[str]:
    """Return who answers each case first."""
    asked = [item.operation for item in plan if item.operation.kind == "primary"]
    return [next(group).candidate for _, group in groupby(asked, lambda operation: operation.case)]


@settings(max_examples=60, deadline=None)
@given(cases=st.integers(1, 25), candidates=st.integers(1, 6), seed=st.integers(0, 2**63 - 1))
def test_every_candidate_leads_equally_often_up_to_one(cases: int, candidates: int, seed: int) -> None:
    names = [f"c{number}" for number in range(candidates)]
    led = Counter(leaders(make_plan(make_bank(cases), ["store"], everyone(*names), seed)))
    counts = [led[name] for name in names]
    assert sum(counts) == cases
    assert max(counts) - min(counts) <= 1


def test_indexes_of_a_repository_come_first_and_repositories_one_after_another() -> None:
    bank = make_bank(2, ("store", "shop"))
    plan = make_plan(bank, ["store", "shop"], everyone("a", "b"), 0)
    assert [item.operation.repository for item in plan] == ["store"] * 10 + ["shop"] * 10
    for label in ("store", "shop"):
        kinds = [item.operation.kind for item in plan if item.operation.repository == label]
        assert kinds == ["index", "index"] + ["primary", "ctx"] * 4


def test_a_case_is_put_to_every_candidate_before_the_next() -> None:
    plan = make_plan(make_bank(3), ["store"], everyone("a", "b", "c"), 1)
    cases = [item.operation.case for item in plan if item.operation.kind == "primary"]
    assert [case for case, _ in groupby(cases)] == [case.id for case in make_bank(3).cases]


def test_each_planned_query_tells_its_channel_and_intent() -> None:
    plan = make_plan(make_bank(3), ["store"], everyone("a"), 0)
    assert [(item.operation.kind, item.channel, item.intent) for item in plan] == [
        ("index", None, None),
        ("primary", "emb", "symbol_lookup"),
        ("ctx", "ctx", "symbol_lookup"),
        ("primary", "emb", "symbol_lookup"),
        ("ctx", "ctx", "symbol_lookup"),
        ("primary", "docs", "docs_lookup"),
        ("ctx", "ctx", "docs_lookup"),
    ]


def test_unsupported_channels_and_absent_probes_are_not_planned() -> None:
    able = {"words": features(("emb",)), "plain": features(probe=False)}
    plan = make_plan(make_bank(3), ["store"], able, 0)
    counts = Counter((item.operation.candidate, item.operation.kind) for item in plan)
    assert counts == {
        ("words", "index"): 1,
        ("words", "primary"): 2,
        ("words", "ctx"): 3,
        ("plain", "index"): 1,
        ("plain", "primary"): 3,
    }


def test_the_bytes_are_the_same_on_every_machine() -> None:
    raw = plan_lines(make_plan(make_bank(2), ["store"], everyone("a", "b", "c"), 7))
    assert raw.splitlines()[0] == (
        b'{"candidate":"c","case":null,"channel":null,"intent":null,"kind":"index","repository":"store"}'
    )
    first = [line for line in raw.splitlines() if b'"primary"' in line]
    assert [line.split(b'"')[3].decode() for line in first] == ["c", "a", "b", "a", "b", "c"]


def test_another_seed_lets_another_candidate_begin() -> None:
    firsts = {make_plan(make_bank(1), ["store"], everyone("a", "b", "c"), seed)[0] for seed in range(20)}
    assert {item.operation.candidate for item in firsts} == {"a", "b", "c"}


def test_a_plan_reads_back_as_it_was_written() -> None:
    plan = make_plan(make_bank(3, ("store", "shop")), ["shop", "store"], everyone("a", "b"), 3)
    assert parse_plan(plan_lines(plan), "plan.jsonl") == plan
    assert parse_plan(b"", "plan.jsonl") == ()


@pytest.mark.parametrize(
    "broken",
    [
        b"{",
        b"[]",
        b"5",
        b"\xff",
        b"[" * 100_000,
        b'{"candidate":"a","case":null,"channel":null,"intent":null,"kind":"index"}',
        b'{"candidate":5,"case":null,"channel":null,"intent":null,"kind":"index","repository":"store"}',
        b'{"candidate":"a","case":[],"channel":null,"intent":null,"kind":"ctx","repository":"store"}',
        b'{"candidate":"a","case":null,"channel":null,"intent":null,"kind":"ctx","repository":"store"}',
        b'{"candidate":"a","case":null,"channel":null,"intent":null,"kind":"dance","repository":"store"}',
    ],
)
def test_a_broken_line_is_refused_by_its_number(broken: bytes) -> None:
    sound = plan_lines(make_plan(make_bank(1), ["store"], everyone("a"), 0))
    with pytest.raises(
        IdentityError, match=r"plan\.jsonl, line 4: not a planned operation; restore the file"
    ):
        parse_plan(sound + broken + b"\n", "plan.jsonl")
