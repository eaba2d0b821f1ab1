"""What was taken over is told by counts, and each cell that was not taken whole says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import api
from core.commands.taken import tell_taken_over
from core.errors import Exit
from core.run.evidence import read_result
from core.run.layout import Operation, RunLayout
from tests.support.campaigns import make_scene
from tests.support.inputs import fake_entry, write_inputs
from tests.support.shell import Shell


def test_counts_are_told_and_the_reason_where_they_are_not_whole(capsys: pytest.CaptureFixture[str]) -> None:
    cells = (
        api.TakenCell("a", "store", 9, 9),
        api.TakenCell("b", "store", 0, 9, "candidates.b.model: x\x1b[2J → y"),
    )
    tell_taken_over(api.TakenOver(Path("runs/old"), cells))
    assert capsys.readouterr().err.splitlines() == [
        "took over 9 of 18 operations from runs/old:",
        "  a/store: 9 of 9",
        "  b/store: 0 of 9 (candidates.b.model: x␛[2J → y)",
    ]


def test_run_takes_over_with_reuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shell = Shell(capsys)
    inputs = write_inputs(make_scene(tmp_path, per_intent=1), [fake_entry("a"), fake_entry("b")])
    old, new = tmp_path / "old", tmp_path / "new"
    assert shell("run", inputs.campaign, "--output", old) == Exit.DONE
    assert shell("run", inputs.campaign, "--output", new, "--reuse", old) == Exit.DONE
    assert f"took over 10 of 10 operations from {old}" in shell.err
    result = read_result(RunLayout(new), Operation("a", "store", "index"))
    assert result is not None and result.origin is not None and result.origin.name == "old"


@pytest.mark.parametrize("flag", ["--resume", "--rescore"])
def test_reuse_goes_with_a_new_run_only(capsys: pytest.CaptureFixture[str], flag: str) -> None:
    shell = Shell(capsys)
    assert shell("run", "--output", "new", flag, "--reuse", "old") == Exit.BAD_INPUT
    assert f"--reuse: not allowed with argument {flag}" in shell.err
