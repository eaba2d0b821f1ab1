"""Single cases out of a bank."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.detail.bank_lines import BankLines, WholeBank, open_bank
from core.errors import IdentityError
from core.run.record import read_cases, read_run
from tests.support.finished import finished_run


def test_each_case_is_found_at_its_place(tmp_path: Path) -> None:
    record = read_run(finished_run(tmp_path).run)
    lines = BankLines(record)
    cases = read_cases(record).cases
    assert [lines.case(number) for number in range(len(cases))] == list(cases)


def test_a_bank_of_another_form_is_read_whole(tmp_path: Path) -> None:
    record = read_run(finished_run(tmp_path).run)
    cases = read_cases(record).cases
    whole = WholeBank(record)
    assert [whole.case(number) for number in range(len(cases))] == list(cases)
    with pytest.raises(IdentityError, match="no question 5"):
        whole.case(4)
    graded = replace(record, controls={**record.controls, "bank": {"format": "graded-v1"}})
    assert isinstance(open_bank(graded), WholeBank)
    assert isinstance(open_bank(record), BankLines)


@pytest.mark.parametrize("number", [-1, 4, 10**9])
def test_a_place_beyond_the_bank_is_refused(tmp_path: Path, number: int) -> None:
    lines = BankLines(read_run(finished_run(tmp_path).run))
    with pytest.raises(IdentityError, match="no line"):
        lines.case(number)


def test_a_bank_edited_between_two_looks_is_refused(tmp_path: Path) -> None:
    record = read_run(finished_run(tmp_path).run)
    lines = BankLines(record)
    lines.case(0)
    raw = record.layout.cases.read_bytes()
    record.layout.cases.write_bytes(raw.replace(b"load_records", b"LOAD_records"))
    with pytest.raises(IdentityError, match="changed since the run was frozen"):
        lines.case(0)


def test_a_bank_that_is_gone_is_told(tmp_path: Path) -> None:
    record = read_run(finished_run(tmp_path).run)
    record.layout.cases.unlink()
    with pytest.raises(IdentityError, match="restore it from a copy"):
        BankLines(record).case(0)
