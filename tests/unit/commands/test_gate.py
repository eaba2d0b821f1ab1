"""`boresight gate`: its exit codes and what it prints."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from core.cli import main
from core.errors import Exit
from core.gating.floors import default_text
from core.run.layout import RunLayout
from tests.support.campaigns import campaign, fake, make_scene, run_new
from tests.support.finished import Finished, finished_run
from tests.support.graded import SECRET_WORDS, graded_run


@pytest.fixture
def finished(tmp_path: Path) -> Finished:
    return finished_run(tmp_path)


def floors(folder: Path, text: str) -> str:
    path = folder / "own.toml"
    path.write_text(text)
    return str(path)


GOOD = '[[gate]]\nmetric = "recall@5"\nmin = 0\n'
BAD = '[[gate]]\nmetric = "recall@5"\nabove = 1\n'


def test_floors_that_hold_exit_0_and_those_that_fall_exit_1_with_a_table(
    finished: Finished, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(finished.run)
    good = floors(finished.folder, GOOD)
    assert main(["gate", run, "--floors", good, "--candidate", "a"]) == Exit.DONE
    assert "All 2 gates hold." in capsys.readouterr().out
    bad = floors(finished.folder, BAD)
    assert main(["gate", run, "--floors", bad, "--candidate", "all"]) == Exit.NEGATIVE
    out = capsys.readouterr().out
    assert "✖ fell   a          recall@5" in out and "2 of 4 gates fell." in out


def test_which_candidate_is_meant_must_be_said_where_there_are_several(
    finished: Finished, capsys: pytest.CaptureFixture[str]
) -> None:
    run, own = str(finished.run), floors(finished.folder, GOOD)
    assert main(["gate", run, "--floors", own]) == Exit.BAD_INPUT
    assert "2 candidates (a, b)" in capsys.readouterr().err
    assert main(["gate", run, "--floors", own, "--candidate", "c"]) == Exit.BAD_INPUT
    assert "no candidate 'c'" in capsys.readouterr().err
    named = floors(finished.folder, 'candidate = "b"\n' + GOOD)
    assert main(["gate", run, "--floors", named]) == Exit.DONE
    assert "b  " in capsys.readouterr().out
    assert main(["gate", run, "--floors", named, "--candidate", "a", "--json"]) == Exit.DONE
    assert json.loads(capsys.readouterr().out)["candidates"] == ["a"]


def test_a_single_candidate_needs_no_name(tmp_path: Path) -> None:
    run = run_new(campaign(make_scene(tmp_path), fake("only", session=True)), tmp_path / "run").run
    assert main(["gate", str(run), "--floors", floors(tmp_path, GOOD)]) == Exit.DONE


def test_an_incomplete_run_falls_unless_that_is_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = fake("only", session=True, faults={"load_records": "truncated"})
    run = str(run_new(campaign(make_scene(tmp_path), broken), tmp_path / "run").run)
    own = floors(tmp_path, GOOD)
    assert main(["gate", run, "--floors", own]) == Exit.NEGATIVE
    assert "primary query failed" in capsys.readouterr().out
    assert main(["gate", run, "--floors", own, "--allow-incomplete"]) == Exit.DONE
    allowed = floors(tmp_path, "allow_incomplete = true\n" + GOOD)
    assert main(["gate", run, "--floors", allowed]) == Exit.DONE
    counted = floors(tmp_path, 'allow_incomplete = true\n[[gate]]\nmetric = "failed"\nmax = 0\n')
    assert main(["gate", run, "--floors", counted]) == Exit.NEGATIVE


def test_bad_input_exits_2_and_writes_nothing(finished: Finished, capsys: pytest.CaptureFixture[str]) -> None:
    run, folder = str(finished.run), finished.folder
    file = folder / "gates.xml"
    for words in (
        ["gate", run, "--floors", floors(folder, "[["), "--junit", str(file)],
        ["gate", run, "--floors", str(folder / "none.toml"), "--junit", str(file)],
        ["gate", run, "--junit", str(file)],
        ["gate", str(folder), "--floors", floors(folder, GOOD), "--junit", str(file)],
        [
            "gate",
            run,
            "--floors",
            floors(folder, GOOD),
            "--candidate",
            "a",
            "--junit",
            str(folder / "no" / "x"),
        ],
    ):
        assert main(words) == Exit.BAD_INPUT
    unknown = floors(folder, '[[gate]]\nmetric = "recal@5"\nmin = 0\n')
    assert (
        main(["gate", run, "--floors", unknown, "--candidate", "a", "--junit", str(file)]) == Exit.BAD_INPUT
    )
    assert "did you mean 'recall@5'?" in capsys.readouterr().err
    assert not file.exists()
    with pytest.raises(SystemExit):
        main(["gate", run, "--github", "--json"])
    assert main(["gate"]) == Exit.BAD_INPUT


def test_changed_evidence_exits_3(finished: Finished) -> None:
    stdout = next(RunLayout(finished.run).operations.rglob("stdout"))
    stdout.chmod(0o600)
    stdout.write_bytes(b"{}")
    own = floors(finished.folder, GOOD)
    assert main(["gate", str(finished.run), "--floors", own, "--candidate", "a"]) == Exit.IDENTITY


def test_junit_and_annotations_name_what_fell(finished: Finished, capsys: pytest.CaptureFixture[str]) -> None:
    file = finished.folder / "gates.xml"
    own = floors(finished.folder, BAD)
    words = ["gate", str(finished.run), "--floors", own, "--candidate", "a", "--junit", str(file), "--github"]
    assert main(words) == Exit.NEGATIVE
    tree = ElementTree.parse(file).getroot()
    assert (tree.attrib["tests"], tree.attrib["failures"]) == ("2", "1")
    out = capsys.readouterr().out.splitlines()
    assert out[-1].startswith("::error title=Gate fell%3A recall@5 (a)::recall@5: found ")
    assert main(words) == Exit.NEGATIVE  # a later run of the same job replaces the file


def test_graded_runs_have_default_floors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(graded_run(tmp_path))
    assert main(["gate", "--show-default"]) == Exit.DONE
    assert capsys.readouterr().out == default_text()
    code = main(["gate", run, "--candidate", "b", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert (code == Exit.DONE) is told["held"]
    assert told["floors"] == "the default floors of graded runs"
    assert [gate["metric"] for gate in told["gates"]] == [
        "recall@5", "mrr", "ndcg@5", "hit_rate", "faithfulness", "contradiction", "recall@5", "hit_rate",
    ]  # fmt: skip
    lost = next(gate for gate in told["gates"] if gate["each"] == "query")
    assert "q-one" in [check["query"] for check in lost["fell"]]


def test_private_repositories_give_no_ids_away(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, file = str(graded_run(tmp_path, private=True)), tmp_path / "gates.xml"
    for form in (["--github", "--junit", str(file)], ["--json"]):
        assert main(["gate", run, "--candidate", "all", *form]) == Exit.NEGATIVE
        told = "".join(capsys.readouterr())
        assert "withheld" in told or '"query": null' in told
        for word in SECRET_WORDS:
            assert word not in told.replace(str(tmp_path), "") and word not in file.read_text()


def test_an_older_run_is_a_gate_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = make_scene(tmp_path)
    older = run_new(campaign(scene, fake("a", session=True)), tmp_path / "older").run
    newer = run_new(campaign(scene, fake("a", session=True, speed=1)), tmp_path / "newer").run
    assert main(["gate", str(newer), "--against", str(older)]) == Exit.DONE
    out = capsys.readouterr().out
    assert f"recall@5 against {older}" in out and "8 cases answered in both" in out
    own = floors(tmp_path, BAD)
    assert main(["gate", str(newer), "--against", str(older), "--floors", own]) == Exit.NEGATIVE
    capsys.readouterr()
    assert main(["gate", str(newer), "--against", str(older), "--json"]) == Exit.DONE
    told = json.loads(capsys.readouterr().out)
    assert [found["metric"] for found in told["against"]["differences"]] == ["recall@5", "mrr@10"]
