"""The limit of what an attempt may print reaches it from a flag and a campaign file, and reports name it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core import api
from core.errors import Exit
from tests.support.campaigns import make_scene
from tests.support.inputs import fake_entry, write_inputs
from tests.support.shell import Shell

LIMIT = 50_000


@pytest.mark.parametrize("spelled", ["flag", "file"])
def test_an_output_beyond_max_output_bytes_is_cut_and_named_in_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], spelled: str
) -> None:
    shell = Shell(capsys)
    scene = make_scene(tmp_path, per_intent=1)
    query = next(case.query for case in api.read_bank(scene.cases).cases if case.intent == "symbol_lookup")
    entry = fake_entry("a", session=False, faults={query: "flood"})
    inputs = write_inputs(scene, [entry], f"[limits]\nmax_output_bytes = {LIMIT}\n")
    run = tmp_path / "run"
    words: list[object] = [inputs.campaign]
    if spelled == "flag":
        words = [*inputs.flags("--max-output-bytes", str(LIMIT))]

    assert shell("run", *words, "--output", run, "--quiet-progress") == Exit.NEGATIVE

    (failure,) = api.failures(run)
    assert failure.error_class == "output_limit"
    (stdout,) = run.glob(f"operations/{failure.operation}/attempt-0001/stdout")
    assert stdout.stat().st_size == LIMIT
    assert json.loads((run / "campaign.json").read_bytes())["controls"]["limits"]["max_output_bytes"] == LIMIT
    assert json.loads((run / "quality-summary.json").read_bytes())["models"]["a"]["errors"] == {
        "output_limit": 1
    }
    assert "output_limit" in (run / "quality-summary.md").read_text()
