from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.docno import docno, parse_docno
from core.errors import InputError
from core.ranking import KINDS, Kind


@given(
    st.text(min_size=1),
    st.none() | st.integers(0, 10**9),
    st.none() | st.sampled_from(KINDS),
    st.integers(1, 99),
)
def test_docnos_reverse(path: str, line: int | None, kind: Kind | None, occurrence: int) -> None:
    name = docno(path, line, kind, occurrence)
    assert parse_docno(name) == (path, line, kind, occurrence)
    assert not set(name) & set(string.whitespace)
    assert name.isascii()


@pytest.mark.parametrize(
    "name", ["", "a.py", "a.py:1", "a.py:x:symbol", "a.py:01:-", "a%2:1:-", "a%ff:1:-", "a:1:word", "a:1:-#1"]
)
def test_other_names_are_refused_with_what_was_expected(name: str) -> None:
    with pytest.raises(InputError, match="expected PATH:LINE:KIND"):
        parse_docno(name)
