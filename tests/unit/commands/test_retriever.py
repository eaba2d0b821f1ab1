from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.campaigns import make_scene
from tests.support.inputs import Inputs, write_inputs
from tests.support.own_tool import own_tool
from tests.support.shell import Shell


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    return write_inputs(make_scene(tmp_path, per_intent=1), [own_tool()], head="")


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


def contents(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_try_shows_command_output_and_reading_and_leaves_nothing(inputs: Inputs, shell: Shell) -> None:
    before = contents(inputs.campaign.parent)
    assert shell("retriever", "try", inputs.campaign, "own", "--query", "load_records", "--limit", "3") == 0
    assert "Index: none; 2 files are searched themselves" in shell.out
    assert "own_tool.py '{repository}' 3 -- load_records" in shell.out
    assert '  | {"command": "search"' in shell.out
    assert "Read as:  1 result; dropped 0 duplicates and 0 beyond the limit" in shell.out
    assert "1  store/records.py:4  (no kind)" in shell.out
    assert "in a temporary folder" in shell.err
    assert contents(inputs.campaign.parent) == before


def test_try_says_in_plain_words_why_an_answer_is_not_accepted(inputs: Inputs, shell: Shell) -> None:
    assert shell("retriever", "try", inputs.campaign, "own", "--query", "banner") == 1
    assert "Not accepted: invalid_json: the output is not valid JSON" in shell.out
    assert "What to do: print the answer alone on stdout" in shell.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nobody", "--query", "x"), "has no candidate 'nobody'; choose from own"),
        (("own", "--query", "x", "--repository", "elsewhere"), "has no repository 'elsewhere'; choose"),
        (("own", "--query", "x", "--limit", "0"), "found '0', expected a number from 1 to 100"),
        (("own", "--query", "x", "--probe"), "--probe: own has no probe"),
    ],
)  # fmt: skip
def test_what_cannot_be_tried_is_named(
    inputs: Inputs, shell: Shell, words: tuple[str, ...], told: str
) -> None:
    assert shell("retriever", "try", inputs.campaign, *words) == 2
    assert told in shell.err


def test_a_channel_that_is_not_answered_is_named(tmp_path: Path, shell: Shell) -> None:
    inputs = write_inputs(make_scene(tmp_path, per_intent=1), [own_tool(channels=["docs"])], head="")
    assert shell("retriever", "try", inputs.campaign, "own", "--query", "x", "--channel", "emb") == 2
    assert "--channel: found emb, which own does not answer; choose from docs" in shell.err


def test_a_session_shows_the_line_that_it_was_asked(tmp_path: Path, shell: Shell) -> None:
    from tests.support.own_tool import SESSION

    inputs = write_inputs(make_scene(tmp_path, per_intent=1), [own_tool(SESSION)], head="")
    assert shell("retriever", "try", inputs.campaign, "own", "--query", "load_records") == 0
    assert '"text": "load_records"' in shell.out and "Request:  {" in shell.out


def test_hostile_output_reaches_no_terminal_raw(tmp_path: Path, shell: Shell) -> None:
    echo: dict[str, Any] = own_tool(query=["printf", "\\033]52;c;x\\007%s", "{query}"])
    inputs = write_inputs(make_scene(tmp_path, per_intent=1), [echo], head="")
    assert shell("retriever", "try", inputs.campaign, "own", "--query", "\x1b[2J\u202e") == 1
    assert not {"\x1b", "\x07", "\u202e"} & set(shell.out + shell.err)


def test_check_prints_each_finding_and_conforms(inputs: Inputs, shell: Shell) -> None:
    assert shell("retriever", "check", inputs.campaign, "own") == 0
    lines = shell.out.splitlines()
    assert lines[0].split()[:2] == ["ok", "index"] and lines[-1] == "It conforms."


def test_check_says_what_to_mend(inputs: Inputs, shell: Shell) -> None:
    assert shell("retriever", "check", inputs.campaign, "own", "--query", "no-lines", "--json") == 1
    told = json.loads(shell.out)
    assert told["conforms"] is False and told["repository"] == "store"
    (wrong,) = [finding for finding in told["findings"] if finding["verdict"] == "fix"]
    assert (wrong["check"], wrong["remedy"]) == ("level", 'set the level to "file"')
