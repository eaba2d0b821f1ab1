"""A recorded command becomes a line that a shell runs as it was run, whatever stands in it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.browse.command_line import Command, CommandStep, Roots, read_command_value, shell_word

ROOTS = Roots("/runs/one", "/runs/one/repositories/store", "/runs/one/state/a/store", "/usr/bin/python3")
NASTY = [
    "",
    "a b",
    "it's",
    "$(touch pwned)",
    "`id`",
    "a\nb",
    "\x1b]0;x\x07",
    "\u202eabc",
    "*",
    "!!",
    "\\",
    "-- x",
]


def recorded(**changes: Any) -> dict[str, Any]:
    step = {
        "argv": ["{python}", "-I", "{state}/x", "{{a}}"],
        "cwd": "{repository}",
        "environment": {"A": "{run}/b"},
    }
    return {"form": "one-shot", "steps": [{**step, **changes}]}


def test_paths_stand_where_placeholders_stood_and_braces_are_single() -> None:
    command = read_command_value(recorded(), ROOTS)
    assert command.steps[0] == CommandStep(
        ("/usr/bin/python3", "-I", "/runs/one/state/a/store/x", "{a}"),
        "/runs/one/repositories/store",
        (("A", "/runs/one/b"),),
    )


def test_the_line_names_folder_variables_and_secrets_without_their_values() -> None:
    line = read_command_value(recorded(secrets=["API_KEY", "not a name"]), ROOTS).shell_line()
    assert line.startswith("(cd /runs/one/repositories/store && env LANG=C.UTF-8 A=/runs/one/b HOME=")
    assert 'API_KEY="$API_KEY"' in line
    assert "not a name" not in line


@pytest.mark.parametrize("word", NASTY)
def test_a_shell_reads_a_word_back_as_it_was_and_no_control_reaches_the_terminal(word: str) -> None:
    quoted = shell_word(word)
    assert quoted.isprintable()
    printed = subprocess.run(["bash", "-c", f"printf '%s' {quoted}"], capture_output=True, check=True)
    assert printed.stdout.decode() == word


def test_the_line_runs_the_command_as_it_was_run(tmp_path: Path) -> None:
    values = "sys.argv[1:], os.getcwd(), os.environ['X Y'], os.environ['HOME']"
    program = f"import json, os, sys; print(json.dumps([{values}]))"
    step = CommandStep((sys.executable, "-c", program, *NASTY[1:]), str(tmp_path), (("X Y", "$HOME"),))
    command = Command("one-shot", (step,), None, str(tmp_path / "state"))
    ran = subprocess.run(["bash", "-c", command.shell_line()], capture_output=True, check=True)
    assert json.loads(ran.stdout) == [NASTY[1:], str(tmp_path), "$HOME", f"{tmp_path}/state/home"]


def test_a_session_is_asked_its_line(tmp_path: Path) -> None:
    step = CommandStep(("cat",), str(tmp_path))
    command = Command("session", (step,), '{"text":"it\'s"}', str(tmp_path))
    ran = subprocess.run(["bash", "-c", command.shell_line()], capture_output=True, check=True)
    assert ran.stdout == b'{"text":"it\'s"}\n'


def test_steps_follow_each_other_and_what_was_never_run_has_no_line() -> None:
    first = recorded()["steps"][0]
    line = read_command_value({"form": "one-shot", "steps": [first, first]}, ROOTS).shell_line()
    assert line.count(" && cd ") == 1
    assert read_command_value({"form": "none", "steps": []}, ROOTS).shell_line() == ""


@pytest.mark.parametrize("value", [None, [], {}, {"steps": 3}, {"steps": [3]}, {"steps": [{"argv": "x"}]}])
def test_what_is_no_command_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"steps|argv"):
        read_command_value(value, ROOTS)


def test_fields_of_other_types_are_passed_over() -> None:
    value = recorded(environment=[1], secrets={"a": 1}, argv=[1, None])
    step = read_command_value(value, ROOTS).steps[0]
    assert (step.environment, step.secrets, step.argv) == ((), (), ("1", "None"))
