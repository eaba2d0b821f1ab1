from __future__ import annotations

import pytest

from core.errors import ProblemsError
from core.retrievers.declared.templates import QUESTIONS, parse_template

VALUES = {
    "repository": "/r",
    "state": "/s",
    "manifest": "/m",
    "query": "a {limit} b; $(x) 'y'",
    "limit": "5",
    "channel": "emb",
}


def filled(*words: str) -> tuple[str, ...]:
    return parse_template(words, QUESTIONS, "config.query").filled(VALUES)


def test_a_query_stays_one_word_and_what_it_holds_is_never_replaced() -> None:
    assert filled("find", "--", "{query}") == ("find", "--", "a {limit} b; $(x) 'y'")
    assert filled("--text={query}") == ("--text=a {limit} b; $(x) 'y'",)


def test_several_placeholders_stand_in_one_word() -> None:
    assert filled("{state}/{channel}-{limit}.json") == ("/s/emb-5.json",)


def test_a_doubled_brace_is_a_brace() -> None:
    assert filled('{{"n": {limit}}}') == ('{"n": 5}',)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("{qurey}", "config.query[1]: found the placeholder {qurey}, did you mean {query}?"),
        ("{zzz}", "expected one of {repository}, {state}, {manifest}, {query}, {limit}, {channel}"),
        ("{}", "found the placeholder {}"),
        ("{query", "found a single {"),
        ("query}", "found a single }"),
        ("a\0b", "holds a NUL"),
    ],
)
def test_what_is_no_placeholder_is_named_with_its_field(word: str, told: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        filled("find", word)
    assert told in str(caught.value)


def test_every_bad_word_is_told_at_once() -> None:
    with pytest.raises(ProblemsError) as caught:
        filled("{a}", "fine", "{b}")
    assert [problem.split(":")[0] for problem in caught.value.problems] == [
        "config.query[0]",
        "config.query[2]",
    ]
