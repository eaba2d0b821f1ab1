"""Commands are kept so that they mean the same wherever the run lies."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.canonical import canonical_json
from core.engine.commands import command_record, portable_text
from core.retrievers.protocol import Place, Step
from core.run.layout import RunLayout


def place_in(root: str) -> tuple[RunLayout, Place]:
    layout = RunLayout(Path(root))
    return layout, Place(layout.source("store"), layout.state("a", "store"), layout.configurations / "a.json")


LAYOUT, PLACE = place_in("/runs/one")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("/runs/one/state/a/store", "{state}"),
        ("/runs/one/state/a/store/index.db", "{state}/index.db"),
        ("/runs/one/repositories/store", "{repository}"),
        ("/runs/one/configs/a.json", "{run}/configs/a.json"),
        ("--state=/runs/one/state/a/store", "--state={state}"),
        ("load_records", "load_records"),
        ("", ""),
        ("a {state} in a query", "a {{state}} in a query"),
        ("{{run}}", "{{{{run}}}}"),
    ],
)
def test_the_runs_own_paths_become_placeholders_and_braces_are_doubled(text: str, kept: str) -> None:
    assert portable_text(text, LAYOUT, PLACE) == kept


def test_a_run_whose_path_holds_braces_has_placeholders_too() -> None:
    layout, place = place_in("/runs/{one}")
    assert portable_text("/runs/{one}/configs/x", layout, place) == "{run}/configs/x"


def test_a_copy_of_the_repository_inside_the_state_is_the_repository() -> None:
    place = PLACE._replace(repository=PLACE.state / "repository")
    assert portable_text(f"{PLACE.state}/repository/a.py", LAYOUT, place) == "{repository}/a.py"
    assert portable_text(f"{PLACE.state}/index.db", LAYOUT, place) == "{state}/index.db"


@given(st.lists(st.sampled_from(["{", "}", "{run}", "{state}", "a", "/", " "])).map("".join))
def test_no_text_can_pass_for_a_placeholder(text: str) -> None:
    kept = portable_text(text, LAYOUT, PLACE)
    assert kept.replace("{{", "{").replace("}}", "}") == text
    for name in ("{run}", "{state}", "{repository}"):
        assert name not in kept.replace("{{", "").replace("}}", "")


def commands(root: str) -> dict[str, object]:
    layout, place = place_in(root)
    step = Step(
        ("tool", "--config", str(place.configuration), "--", "load_records"),
        place.repository,
        {"Z": "1", "CACHE": str(place.state / "cache")},
    )
    return command_record([step], layout, place)


def test_a_command_is_the_same_wherever_the_run_lies() -> None:
    assert commands("/runs/one") == commands("/elsewhere/two")
    assert commands("/runs/one") == {
        "form": "one-shot",
        "steps": [
            {
                "argv": ["tool", "--config", "{run}/configs/a.json", "--", "load_records"],
                "cwd": "{repository}",
                "environment": {"CACHE": "{state}/cache", "Z": "1"},
            }
        ],
    }


def test_a_session_keeps_its_command_and_the_line_it_was_asked() -> None:
    step = Step(("tool", "serve"), PLACE.state)
    record = command_record([step], LAYOUT, PLACE, '{"text":"où {x}"}'.encode())
    assert record["form"] == "session"
    assert record["request"] == '{{"text":"où {{x}}"}}'


@pytest.mark.parametrize("text", ["\udcff", "half \ud800 a character"])
def test_text_that_utf8_cannot_hold_can_still_be_written(text: str) -> None:
    record = command_record([Step(("tool", text), PLACE.state)], LAYOUT, PLACE)
    assert b"\\\\ud" in canonical_json(record)


def test_several_steps_are_kept_in_order() -> None:
    steps = [Step(("first",), PLACE.state), Step(("second",), PLACE.repository)]
    record = command_record(steps, LAYOUT, PLACE)
    assert [step["argv"] for step in record["steps"]] == [["first"], ["second"]]
    assert [step["cwd"] for step in record["steps"]] == ["{state}", "{repository}"]
