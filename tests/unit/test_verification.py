"""Every digest of a run is checked on demand, and each file that differs is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core import api
from core.errors import IdentityError, InputError
from core.run.evidence import Validation, begin_attempt, publish_attempt
from core.run.layout import Operation, RunLayout
from core.verification import Verification
from tests.support.finished import OPERATIONS, finished_run

INDEX = Operation("a", "store", "index")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return finished_run(tmp_path).run


def append(path: Path) -> None:
    with open(path, "ab") as stream:
        stream.write(b" ")


def test_an_untouched_run_is_whole_and_its_files_are_counted(run: Path) -> None:
    told: list[Verification] = []
    found = api.verify_run(run, told.append)

    assert found.problems == ()
    assert found.interrupted == 0
    # Two candidates' operations and warm-ups, the bank, the plan, the campaign, two configurations, and
    # the frozen tree with its description.
    warm_ups = sum(3 for _ in run.glob("operations/*/*/warmup/attempt-*"))
    assert found.files == 2 * OPERATIONS * 4 + warm_ups + 5 + 2 + 1
    assert found.bytes > sum(path.stat().st_size for path in run.glob("operations/*/*/index/*/*"))
    assert told[-1] == found
    assert [each.files for each in told] == sorted(each.files for each in told)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("cases.jsonl", "cases.jsonl: changed since it was recorded"),
        ("plan.jsonl", "plan.jsonl: changed since it was recorded"),
        ("configs/a.json", "configs/a.json: changed since it was recorded"),
        ("repositories/store/store/records.py", "repositories/store/store/records.py: changed"),
        ("repositories/store.files", "repositories/store.files: changed"),
        *(
            (
                f"operations/a/store/index/attempt-0001/{name}",
                f"operations/a/store/index/attempt-0001/{name}: changed since it was recorded",
            )
            for name in ("command.json", "stdout", "stderr", "measurement.json")
        ),
    ],
)
@pytest.mark.parametrize("act", [append, Path.unlink])
def test_a_file_that_changed_or_is_missing_is_named(
    run: Path, path: str, problem: str, act: Callable[[Path], None]
) -> None:
    act(run / path)
    problems = api.verify_run(run).problems
    expected = problem if act is append or path.endswith(".files") else f"{path}: missing"
    assert any(line.startswith(expected) for line in problems), problems
    assert len(problems) == (2 if path == "cases.jsonl" else 1), "only what differs is named"


def test_a_file_that_was_added_to_a_frozen_tree_is_named(run: Path) -> None:
    (run / "repositories/store/extra\n.py").write_text("x = 1\n")
    assert api.verify_run(run).problems == ("repositories/store/extra␊.py: added",)


def test_a_missing_tree_and_a_changed_description_are_named(run: Path) -> None:
    description = run / "repositories/store.json"
    text = json.loads(description.read_text())
    description.write_text(json.dumps({**text, "commit": "0" * 40}))
    assert api.verify_run(run).problems == ("repositories/store.json: changed since it was recorded",)
    description.write_text("{")
    (problem,) = api.verify_run(run).problems
    assert problem.startswith("repositories/store.json: ")


def test_a_changed_executable_bit_is_named(run: Path) -> None:
    (run / "repositories/store/README.md").chmod(0o755)
    assert api.verify_run(run).problems == ("repositories/store/README.md: changed since it was recorded",)


def test_an_edited_campaign_is_refused(run: Path) -> None:
    text = (run / "campaign.json").read_text()
    (run / "campaign.json").write_text(text.replace('"seed": 0', '"seed": 1'))
    with pytest.raises(IdentityError, match="edited since the run was frozen"):
        api.verify_run(run)


def test_a_campaign_whose_names_lead_elsewhere_is_refused(run: Path) -> None:
    text = (run / "campaign.json").read_text()
    (run / "campaign.json").write_text(text.replace('"store"', '"../store"').replace("/store", "/../store"))
    with pytest.raises(IdentityError, match=r"fields are missing or wrong|edited since"):
        api.verify_run(run)


def test_a_result_of_another_cell_and_a_missing_attempt_are_named(run: Path) -> None:
    layout = RunLayout(run)
    path = layout.result(INDEX)
    record = json.loads(path.read_bytes())
    path.write_text(json.dumps({**record, "cell": "0" * 64, "attempt": 7}))
    assert api.verify_run(run).problems == (
        "operations/a/store/index/result.json: belongs to another cell than this one",
        "operations/a/store/index/attempt-0007: missing: the accepted attempt",
    )
    path.write_text("{")
    (problem,) = api.verify_run(run).problems
    assert "index/result.json: not readable as JSON" in problem


def test_a_failed_attempt_is_checked_against_its_own_digests(run: Path) -> None:
    layout = RunLayout(run)
    attempt = begin_attempt(layout, INDEX, {"form": "one-shot", "steps": []})
    attempt.stdout.write_bytes(b"out")
    publish_attempt(attempt, {"outcome": "exited"}, Validation("failed", "nonzero_exit"))
    before = api.verify_run(run)
    assert before.problems == ()
    append(attempt.stdout)
    after = api.verify_run(run)
    assert after.problems == ("operations/a/store/index/attempt-0002/stdout: changed since it was recorded",)
    assert after.files == before.files


def test_an_attempt_that_was_moved_to_another_number_is_named(run: Path) -> None:
    layout = RunLayout(run)
    attempt = begin_attempt(layout, INDEX, {"form": "one-shot", "steps": []})
    publish_attempt(attempt, {"outcome": "exited"}, Validation("failed", "nonzero_exit"))
    attempt.folder.rename(layout.attempt(INDEX, 9))
    (problem,) = api.verify_run(run).problems
    assert problem == "operations/a/store/index/attempt-0009/measurement.json: belongs to another attempt"


def test_an_interrupted_attempt_is_counted_and_is_no_problem(run: Path) -> None:
    begin_attempt(RunLayout(run), INDEX, {"form": "one-shot", "steps": []})
    found = api.verify_run(run)
    assert (found.interrupted, found.problems) == (1, ())


def test_derived_files_and_indexes_are_no_part_of_it(run: Path) -> None:
    before = api.verify_run(run)
    append(run / "quality-summary.md")
    append(run / "events.jsonl")
    append(run / "state/a/store/index.json")
    assert api.verify_run(run) == before


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run directory"):
        api.verify_run(tmp_path)
