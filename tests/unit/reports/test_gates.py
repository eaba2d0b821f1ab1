"""Gates in words, as JUnit XML and as annotations; private repositories stay private."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from core.gating.against import Against
from core.gating.floors import Floors
from core.gating.hold import Completeness, Held
from core.reports.annotations import error_commands
from core.reports.gates import AT_LIMIT, MACHINE, GateRow, gate_rows, verdict
from core.reports.junit import junit
from core.scoring.gate_records import Bound, Check, Gate, GateOutcome, Part
from core.scoring.paired import Pair, PairedDifference, paired_differences
from core.scoring.records import Sought
from tests.unit.scoring import builders

HOSTILE = "]]></failure>\x00\x1b]52;c;x\x07 \ud800 \ufffe \u202e %\r\n::error::x, <&\"'"


def outcome(gate: Gate, *checks: Check, machine: bool = False) -> GateOutcome:
    return GateOutcome(gate, "a", checks, machine)


def rows(
    *outcomes: GateOutcome,
    gaps: tuple[str, ...] = (),
    allowed: bool = False,
    compared: Against | None = None,
    sought: Sought = "known target",
    private: tuple[str, ...] = (),
    local: bool = False,
) -> tuple[GateRow, ...]:
    held = Held(Floors("f", ()), ("a",), (Completeness("a", gaps, allowed),), outcomes)
    return gate_rows(held, compared, sought, private, local=local)


FLOOR = Gate("recall@5", (Bound("min", 0.5),))
EACH = Gate("recall@5", (Bound("above", 0.0),), each="query", name="nothing is lost")
FELL = Check(Part("task_lookup", "secret", "secret-1"), 0.0, Bound("above", 0.0), 0.0)
ALSO = Check(Part("task_lookup", "open", "open-1"), 0.0, Bound("above", 0.0), 0.0)


def test_a_value_that_rounds_to_its_bound_is_told_apart_from_it() -> None:
    (_, row) = rows(outcome(FLOOR, Check(Part(), 0.49996, Bound("min", 0.5), 0.00004)))
    assert not row.held
    assert (row.wanted, row.found, row.off_by) == ("≥ 0.5", "0.49996", "4.0e-05")
    assert row.sentence == "recall@5: found 0.49996, wanted ≥ 0.5, off by 4.0e-05"


def test_titles_name_the_part_in_the_words_of_the_bank() -> None:
    gate = Gate("hit_rate", (Bound("min", 0.7),), Part("focused", "shop"), "query")
    (_, row) = rows(outcome(gate, Check(Part(), 1.0)), sought="relevant module")
    assert row.title == "hit_rate of shape focused, repository shop, each query"
    (_, other) = rows(outcome(gate._replace(part=Part(), each="intent", mean="micro"), Check(Part(), 1.0)))
    assert other.title == "hit_rate (micro), each intent"


def test_costs_bear_a_mark_and_units() -> None:
    gate = Gate("latency_emb_s", (Bound("max", 0.1),))
    (_, row) = rows(outcome(gate, Check(Part(), 0.25, Bound("max", 0.1), 0.15), machine=True))
    assert row.title == "latency_emb_s *" and row.note == MACHINE
    assert (row.found, row.off_by) == ("250 ms", "150 ms")


def test_no_value_says_why() -> None:
    (_, row) = rows(outcome(FLOOR, Check(Part(), None, reason="nothing was timed")))
    assert not row.held and row.found == "no value: nothing was timed"


def test_gaps_fall_unless_they_are_allowed() -> None:
    (fell,) = rows(gaps=("a: ctx probe failed, 1 of 4",))
    assert not fell.held and fell.found == "ctx probe failed, 1 of 4"
    (kept,) = rows(gaps=("a: ctx probe failed, 1 of 4",), allowed=True)
    assert kept.held and "allowed" in kept.note


def test_ids_of_private_queries_are_withheld_but_on_local_screens() -> None:
    (_, row) = rows(outcome(EACH, FELL, ALSO), private=("secret",))
    assert row.details == (
        "open-1: .000",
        "1 query of private repositories, whose ids are withheld",
    )
    assert (row.found, row.off_by) == ("2 of 2 fell", AT_LIMIT)
    (_, local) = rows(outcome(EACH, FELL, ALSO), private=("secret",), local=True)
    assert local.details == ("secret-1: .000", "open-1: .000")


def test_many_members_are_named_in_part_and_counted() -> None:
    checks = [FELL._replace(part=Part(query=f"q{number}")) for number in range(25)]
    (_, row) = rows(outcome(EACH, *checks))
    assert len(row.details) == 21 and row.details[-1] == "and 5 more"


def difference(new: float) -> PairedDifference:
    cases = tuple(builders.case(f"c{number}") for number in range(12))
    values = {case.case_id: 1.0 for case in cases}
    fallen = dict.fromkeys(list(values)[:9], new)
    (found,) = paired_differences([Pair("a", "recall@5", cases, {**values, **fallen}, values)], 0)
    return found


def test_a_fall_against_an_older_run_says_how_sure_it_is_and_what_would_show() -> None:
    compared = Against("runs/1", (difference(0.0),), {"a": 2}, (), {})
    (_, row) = rows(compared=compared)
    assert not row.held and row.title == "recall@5 against runs/1"
    assert row.found.startswith(".250 after 1.000 (−.750, 95 % −")
    assert row.off_by == ".750"
    assert "12 cases answered in both; 2 not in both" in row.note
    assert "would show four times in five" in row.note
    (_, equal) = rows(compared=compared._replace(differences=(difference(1.0),), left_out={"a": 0}))
    assert equal.held and "too few to say" in equal.note
    (_, none) = rows(compared=Against("runs/1", (), {"a": 12}, ("a",), {}))
    assert not none.held and none.found == "none"


def test_the_verdict_counts() -> None:
    good, bad = GateRow(True, "a", "t", "w", "f"), GateRow(False, "a", "t", "w", "f")
    assert verdict([good]) == "The gate holds."
    assert verdict([good, good]) == "All 2 gates hold."
    assert verdict([good, bad]) == "1 of 2 gates fell."


def hostile() -> tuple[GateRow, ...]:
    check = FELL._replace(part=Part(query=HOSTILE))
    return rows(outcome(EACH._replace(name=HOSTILE, metric=HOSTILE), check))


def test_junit_is_xml_whatever_the_names_hold() -> None:
    tree = ElementTree.fromstring(junit(hostile(), HOSTILE))
    assert tree.tag == "testsuites" and tree.attrib["failures"] == "1" and tree.attrib["tests"] == "2"
    passed, failed = tree.iter("testcase")
    assert passed.attrib["name"] == "operations accepted: all" and len(passed) == 0
    assert failed.attrib["classname"] == "boresight.a"
    (failure,) = failed
    assert failure.tag == "failure" and "␛]52" in failure.attrib["message"]
    assert "off by" in failure.attrib["message"] or "excludes" in failure.attrib["message"]


def test_junit_is_the_same_for_the_same_rows() -> None:
    assert junit(hostile(), "r") == junit(hostile(), "r")


def test_annotations_are_one_command_a_line_and_hold_no_second_one() -> None:
    (line,) = error_commands(hostile())
    assert line.startswith("::error title=Gate fell%3A ") and "\n" not in line and "\r" not in line
    properties, message = line.removeprefix("::error ").split("::", 1)
    assert "," not in properties and ":" not in properties
    assert "\x1b" not in line and "%25" in message
    assert message.count("%0A") == 1  # the one between the sentence and the query that fell


@pytest.mark.parametrize("value", ["%", "%0A", "a%25b"])
def test_a_percent_sign_survives_unescaping(value: str) -> None:
    (line,) = error_commands([GateRow(False, "a", value, "w", "f")])
    title = line.removeprefix("::error title=").split("::", 1)[0]
    assert title.replace("%3A", ":").replace("%2C", ",").replace("%25", "%") == f"Gate fell: {value} (a)"
