"""The command line: results on stdout, narration on stderr, an exit code that says it, and no traceback."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core import api
from core.cli import main
from core.errors import Exit
from core.rankings import RunReader
from core.run.layout import RunLayout
from tests.support.campaigns import INTENTS, Scene, make_scene
from tests.support.finished import CASES, OPERATIONS, Finished, finished_run
from tests.support.inputs import Inputs, fake_entry, write_inputs
from tests.support.repositories import make_repository
from tests.support.shell import Shell

COMMANDS = (
    *((name,) for name in ("quickstart", "bank", "run", "resume", "rescore", "report", "runs", "schema")),
    *(("bank", action) for action in ("build", "check", "stats", "grade-template")),
    *(("retriever", action) for action in ("try", "check")),
    ("doctor",),
)
HEAVY = {"textual", "numpy", "git", "pydantic", "rich", "onnxruntime", "psutil", "tomlkit", "asyncio"}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, per_intent=1)


@pytest.fixture
def inputs(scene: Scene) -> Inputs:
    return write_inputs(scene, [fake_entry("a")])


@pytest.fixture
def finished(tmp_path: Path) -> Finished:
    return finished_run(tmp_path)


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock"
    }


def python(code: str, **options: object) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment, **options
    )


# Help and words


@pytest.mark.parametrize("words", [(), *COMMANDS], ids=lambda words: " ".join(words) or "boresight")
def test_every_command_has_help(shell: Shell, words: tuple[str, ...]) -> None:
    assert shell(*words, "--help") == Exit.DONE
    assert shell.out.startswith("usage: boresight")
    assert shell.err == ""


def test_without_a_command_the_help_is_printed(shell: Shell) -> None:
    assert shell() == Exit.DONE
    assert "quickstart" in shell.out


def test_the_version_is_told(shell: Shell) -> None:
    assert shell("--version") == Exit.DONE
    assert shell.out.startswith("boresight ")


def test_help_imports_nothing_heavy() -> None:
    done = python(
        "import sys\nfrom core.cli import main\n"
        "try:\n    main(['run', '--help'])\nexcept SystemExit:\n    pass\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    assert done.returncode == 0
    assert "usage: boresight run" in done.stdout
    assert not HEAVY & set(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["dance"], "invalid choice: 'dance'"),
        (["bank"], "required: ACTION"),
        (["run", "campaign.toml"], "required: --output"),
        (["run", "--output", "x", "--k", "five"], "invalid int value: 'five'"),
        (["run", "--output", "x", "--quiet"], "unrecognized arguments: --quiet"),
        (["report", "x", "--format", "pdf"], "invalid choice: 'pdf'"),
        (["\x1b[2J"], "invalid choice"),
    ],
)
def test_words_that_are_not_understood_are_bad_input(shell: Shell, words: list[str], said: str) -> None:
    assert shell(*words) == Exit.BAD_INPUT
    assert said in shell.err
    assert "--help" in shell.err
    assert "\x1b" not in shell.err


# bank


def test_a_bank_is_built_checked_and_described(shell: Shell, inputs: Inputs, tmp_path: Path) -> None:
    cases = tmp_path / "new.jsonl"
    manifest = inputs.repositories
    build = ["bank", "build", "--repo-manifest", manifest, "--per-intent", "1", "--output", cases]
    assert shell(*build, "--intents", *INTENTS) == Exit.DONE
    assert shell.out == f"Generated 4 source-verified cases: {cases}\n"
    assert cases.read_bytes() == inputs.cases.read_bytes()

    assert shell("bank", "check", cases, "--repo-manifest", manifest) == Exit.DONE
    assert shell.out == "Checked 4 cases: all borne out by their sources\n"
    assert shell("bank", "check", cases, "--repo-manifest", manifest, "--json") == Exit.DONE
    assert json.loads(shell.out) == {"checked": 4, "ok": True, "findings": []}

    assert shell("bank", "stats", cases) == Exit.DONE
    assert shell.out.startswith("4 cases, bank SHA-256 ")
    assert shell("bank", "stats", cases, "--repo-manifest", manifest, "--json") == Exit.DONE
    described = json.loads(shell.out)
    assert (described["cases"], described["repositories_read"]) == (4, True)
    assert {cell["intent"] for cell in described["cells"]} == set(INTENTS)


def test_an_existing_bank_is_refused_and_a_shortage_names_its_cells(
    shell: Shell, inputs: Inputs, tmp_path: Path
) -> None:
    before = contents(tmp_path)
    build = ["bank", "build", "--repo-manifest", inputs.repositories, "--output"]
    assert shell(*build, inputs.cases, "--per-intent", "1", "--intents", *INTENTS) == Exit.BAD_INPUT
    assert str(inputs.cases) in shell.err
    assert shell(*build, tmp_path / "new.jsonl", "--per-intent", "50") == Exit.BAD_INPUT
    for part in ("store, symbol_lookup: have", "need 50", "possible: --per-intent"):
        assert part in shell.err
    assert shell(*build, tmp_path / "new.jsonl", "--per-intent", "0") == Exit.BAD_INPUT
    assert shell(*build, tmp_path / "new.jsonl", "--per-intent", "1", "--intents", "x") == Exit.BAD_INPUT
    assert contents(tmp_path) == before


def test_a_bank_that_its_source_does_not_bear_out_is_a_negative_answer(shell: Shell, inputs: Inputs) -> None:
    text = inputs.cases.read_text()
    inputs.cases.write_text(text.replace('"line":', '"line":1', 1))
    check = ["bank", "check", inputs.cases, "--repo-manifest", inputs.repositories]
    assert shell(*check) == Exit.NEGATIVE
    assert "Checked 4 cases: 1 not borne out" in shell.out
    assert "target_moved" in shell.out
    assert shell(*check, "--json") == Exit.NEGATIVE
    (finding,) = json.loads(shell.out)["findings"]
    assert finding["case_id"].startswith("store-")


def test_checking_a_private_bank_prints_ids_only(shell: Shell, inputs: Inputs) -> None:
    manifest = json.loads(inputs.repositories.read_bytes())
    manifest["repositories"][0]["private"] = True
    inputs.repositories.write_text(json.dumps(manifest))
    cases = api.read_bank(inputs.cases).cases
    inputs.cases.write_text(inputs.cases.read_text().replace('"query":"', '"query":"x'))
    assert shell("bank", "check", inputs.cases, "--repo-manifest", inputs.repositories) == Exit.NEGATIVE
    for case in cases:
        assert case.id in shell.out
        assert case.query not in shell.out
        assert case.targets[0].path not in shell.out


@pytest.mark.parametrize("action", ["check", "stats"])
def test_a_manifest_that_pins_another_commit_than_the_bank_is_refused(
    shell: Shell, inputs: Inputs, action: str
) -> None:
    manifest = json.loads(inputs.repositories.read_bytes())
    (repository,) = manifest["repositories"]
    repository["commit"] = "1" * 40
    inputs.repositories.write_text(json.dumps(manifest))
    assert shell("bank", action, inputs.cases, "--repo-manifest", inputs.repositories) == Exit.BAD_INPUT
    assert "the manifest pins 111111111111; pin the bank's commit" in shell.err
    repository["label"] = "other"
    inputs.repositories.write_text(json.dumps(manifest))
    assert shell("bank", action, inputs.cases, "--repo-manifest", inputs.repositories) == Exit.BAD_INPUT
    assert "store: cases ask about it, and the repository manifest does not name it" in shell.err
    assert shell.out == ""


def test_a_bank_is_described_with_the_overlap_beyond_the_witness(shell: Shell, inputs: Inputs) -> None:
    stats = ["bank", "stats", inputs.cases, "--repo-manifest", inputs.repositories]
    assert shell(*stats) == Exit.DONE
    lines = shell.out.splitlines()
    assert lines[1].endswith("overlap mean  median  beyond mean  median")
    assert lines[-1].startswith("beyond: overlap beyond the witness")
    assert shell(*stats, "--json") == Exit.DONE
    for cell in json.loads(shell.out)["cells"]:
        assert (cell["overlap_cases"], cell["overlap_mean"], cell["beyond_witness_cases"]) == (1, 1.0, 1)
        assert cell["beyond_witness_mean"] == cell["beyond_witness_median"] < 1


# run and resume


@pytest.mark.parametrize("quiet", [(), ("--quiet-progress",)])
def test_a_head_that_left_the_banks_commit_is_told_where_no_commit_is_pinned(
    shell: Shell, scene: Scene, inputs: Inputs, tmp_path: Path, quiet: tuple[str, ...]
) -> None:
    manifest = json.loads(inputs.repositories.read_bytes())
    del manifest["repositories"][0]["commit"]
    inputs.repositories.write_text(json.dumps(manifest))
    newer = make_repository(scene.repository.path, {"later.py": b"def later():\n    pass\n"})
    assert shell("run", *inputs.flags("--output", str(tmp_path / "run"), *quiet)) == Exit.DONE
    assert (
        f"store: measuring the bank's commit {str(scene.repository.commit)[:12]}; HEAD is {newer[:12]} now"
    ) in shell.err


def test_a_run_ends_with_its_place_and_reports_in_every_format(
    shell: Shell, inputs: Inputs, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    assert shell("run", inputs.campaign, "--output", run) == Exit.DONE
    assert shell.out.splitlines()[-1] == f"Known-target results: {run}"
    assert "accepted" in shell.err
    for case in api.read_bank(inputs.cases).cases:
        assert case.query not in shell.out + shell.err
    before = contents(run)

    assert shell("report", run) == Exit.DONE
    assert "a" in shell.out
    assert shell("report", run, "--format", "md") == Exit.DONE
    assert shell.out == (run / "quality-summary.md").read_text()
    assert shell("report", run, "--format", "json") == Exit.DONE
    assert shell.out == (run / "quality-summary.json").read_text()
    assert json.loads(shell.out)["models"].keys() == {"a"}
    for form in ("csv", "metrics"):
        assert shell("report", run, "--format", form) == Exit.DONE
        header, *rows = csv.reader(io.StringIO(shell.out))
        assert rows and {len(row) for row in rows} == {len(header)}
    assert contents(run) == before

    assert shell("report", run, "--format", "trec") == Exit.DONE
    assert shell.out.splitlines() == [str(run / "exports" / name) for name in ("qrels.txt", "a.run")]
    assert all(len(line.split()) == 6 for line in (run / "exports" / "a.run").read_text().splitlines())
    assert {**contents(run), **before} == contents(run)


def test_quiet_progress_says_nothing_on_the_way(shell: Shell, inputs: Inputs, tmp_path: Path) -> None:
    assert shell("run", *inputs.flags("--output", str(tmp_path / "run"), "--quiet-progress")) == Exit.DONE
    assert shell.err == ""


def test_failed_operations_are_a_negative_answer_and_a_resume_mends_it(
    shell: Shell, scene: Scene, tmp_path: Path
) -> None:
    marker = tmp_path / "happened"
    entry = fake_entry("a", faults={"e": "wrong_shape"}, once=str(marker))
    inputs = write_inputs(scene, [entry])
    run = tmp_path / "run"
    words = ["run", *inputs.flags("--output", str(run))]
    assert shell(*words) == Exit.NEGATIVE
    assert shell.out.splitlines()[-1] == f"Known-target results: {run}"
    assert f"boresight resume {run}" in shell.err
    assert "wrong_shape" in shell.err

    assert shell(*words, "--resume") == Exit.DONE
    assert shell.out.splitlines()[-1] == f"Known-target results: {run}"
    assert "verified results reused" in shell.err


@pytest.mark.parametrize("words", [["resume"], ["run", "--resume", "--output"]])
def test_resuming_a_complete_run_changes_nothing(shell: Shell, finished: Finished, words: list[str]) -> None:
    api.rescore(finished.run, write=True)
    before = contents(finished.run)
    assert shell(*words, finished.run) == Exit.DONE
    verdict, last = shell.out.splitlines()
    assert "no material gain" in verdict
    assert last == f"Known-target results: {finished.run}"
    assert "nothing to run" in shell.err
    assert contents(finished.run) == before


def test_resuming_a_complete_run_writes_reports_that_it_lacks(shell: Shell, finished: Finished) -> None:
    assert shell("resume", finished.run) == Exit.DONE
    assert (finished.run / "quality-summary.md").is_file()


def test_resuming_with_changed_evidence_is_refused(shell: Shell, finished: Finished) -> None:
    operation = RunReader(finished.run).plan[-1].operation
    with open(RunLayout(finished.run).attempt(operation, 1) / "stdout", "ab") as stream:
        stream.write(b" ")
    assert shell("resume", finished.run) == Exit.IDENTITY
    assert "changed since it was recorded" in shell.err
    assert shell("resume", finished.run) == Exit.IDENTITY, "the lock was given back"


def test_resuming_with_other_flags_lists_the_differences(
    shell: Shell, inputs: Inputs, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    words = ["run", *inputs.flags("--output", str(run), "--quiet-progress")]
    assert shell(*words) == Exit.DONE
    before = contents(run)
    assert shell(*words, "--resume", "--query-timeout", "5") == Exit.IDENTITY
    assert "limits.query_timeout: 900.0 → 5.0" in shell.err
    assert contents(run) == before


def test_an_existing_run_is_refused_with_the_remedy(shell: Shell, inputs: Inputs, finished: Finished) -> None:
    before = contents(finished.run)
    words = ["run", inputs.campaign, "--output", finished.run, "--quiet-progress"]
    assert shell(*words) == Exit.BAD_INPUT
    assert "already exists and is never overwritten" in shell.err
    assert "--resume" in shell.err
    assert contents(finished.run) == before


@pytest.mark.parametrize("words", [["resume"], ["rescore"], ["report"], ["run", "--resume", "--output"]])
def test_a_folder_that_is_no_run_is_bad_input(shell: Shell, tmp_path: Path, words: list[str]) -> None:
    for folder in (tmp_path, tmp_path / "absent", tmp_path / ("x" * 5000)):
        assert shell(*words, folder) == Exit.BAD_INPUT
        assert "no run directory" in shell.err
    assert list(tmp_path.iterdir()) == []


def test_an_output_folder_goes_with_trec_alone(shell: Shell, finished: Finished, tmp_path: Path) -> None:
    there = tmp_path / "there"
    assert shell("report", finished.run, "--format", "csv", "--output", there) == Exit.BAD_INPUT
    assert not there.exists()
    assert shell("report", finished.run, "--format", "trec", "--output", there) == Exit.DONE
    assert sorted(path.name for path in there.iterdir()) == ["a.run", "b.run", "qrels.txt"]
    assert not (finished.run / "exports").exists()
    there = tmp_path / "file"
    there.touch()
    assert shell("report", finished.run, "--format", "trec", "--output", there) == Exit.BAD_INPUT
    assert "name another --output" in shell.err


# runs


def test_runs_are_listed_with_their_state(shell: Shell, finished: Finished) -> None:
    assert shell("runs", finished.folder) == Exit.DONE
    header, row = shell.out.splitlines()
    assert header.split()[:4] == ["run", "campaign", "state", "done"]
    assert row.split()[:5] == [
        str(finished.run),
        "test",
        "complete",
        f"{2 * OPERATIONS}/{2 * OPERATIONS}",
        "0",
    ]

    assert shell("runs", finished.folder, "--json") == Exit.DONE
    (status,) = json.loads(shell.out)
    assert (status["path"], status["state"], status["problem"]) == (str(finished.run), "complete", None)


def test_runs_of_the_current_folder_are_listed_by_default(
    shell: Shell, finished: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(finished.folder)
    assert shell("runs") == Exit.DONE
    assert shell.out.splitlines()[1].startswith("run ")


def test_an_unreadable_run_is_listed_and_told(shell: Shell, finished: Finished) -> None:
    (finished.run / "campaign.json").write_text("{")
    assert shell("runs", finished.folder) == Exit.DONE
    assert "unreadable" in shell.out
    assert "not readable as a run's identity" in shell.err


def test_a_folder_without_runs_says_so(shell: Shell, tmp_path: Path) -> None:
    assert shell("runs", tmp_path) == Exit.DONE
    assert shell.out.startswith("No runs in ")
    assert shell("runs", tmp_path, "--json") == Exit.DONE
    assert json.loads(shell.out) == []
    assert shell("runs", tmp_path / "absent") == Exit.BAD_INPUT


# schema


def test_schemas_are_listed_and_printed(shell: Shell) -> None:
    assert shell("schema") == Exit.DONE
    names = shell.out.split()
    assert names == ["campaign", "floors", "graded", "models", "repositories"]
    for name in names:
        assert shell("schema", name) == Exit.DONE
        assert json.loads(shell.out)["type"] == "object"
    assert shell("schema", "weather") == Exit.BAD_INPUT
    assert "there are: campaign, floors, graded, models, repositories" in shell.err


# The outer edges


def test_a_reader_that_has_enough_is_no_error(finished: Finished) -> None:
    for words in (["runs", str(finished.folder)], ["schema", "campaign"], ["--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [sys.executable, "-m", "core.cli", *words],
            stdout=writing,
            stderr=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
            check=False,
        )
        os.close(writing)
        assert done.returncode == 0
        assert b"Traceback" not in done.stderr and b"roken" not in done.stderr


def test_a_failure_keeps_its_code_when_nobody_reads_stderr(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "core.cli", "run", "nowhere.toml", "--output", str(tmp_path / "run")],
        stderr=writing,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    os.close(writing)
    assert done.returncode == Exit.BAD_INPUT


def test_closed_streams_harm_nothing(finished: Finished) -> None:
    for redirection in ("<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"):
        command = f"{sys.executable} -m core.cli runs {finished.folder} {redirection}"
        done = subprocess.run(
            ["sh", "-c", command], capture_output=True, cwd=Path(__file__).parents[2], check=False
        )
        assert done.returncode == 0
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [("", Exit.DONE, "usage: boresight"), ("watch {run}", Exit.BAD_INPUT, "the app needs a terminal")],
)
def test_without_any_input_the_app_is_not_opened_as_without_a_terminal(
    finished: Finished, words: str, code: Exit, said: str
) -> None:
    master, terminal = os.openpty()  # so that the closed input alone speaks against the app
    command = f"{sys.executable} -m core.cli {words.format(run=finished.run)} <&-"
    done = subprocess.run(
        ["sh", "-c", command],
        stdout=terminal,
        stderr=subprocess.STDOUT,
        env={**os.environ, "TERM": "xterm"},
        cwd=Path(__file__).parents[2],
        check=False,
    )
    os.close(terminal)
    with open(master, "rb", buffering=0) as shown:
        text = shown.read(64 * 1024).decode()
    assert done.returncode == code and said in text
    assert "Traceback" not in text and "internal error" not in text


def test_a_terminal_that_cannot_show_a_character_is_no_error(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"run-\xff")).mkdir()
    (tmp_path / os.fsdecode(b"run-\xff") / "campaign.json").touch()
    code = f"import sys; from core.cli import main; sys.exit(main(['runs', {str(tmp_path)!r}]))"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert b"unreadable" in done.stdout
    assert b"\\u2014" in done.stdout


def test_a_defect_is_told_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def broken(folder: Path) -> None:
        raise RuntimeError("\x1b[2Jboom")

    monkeypatch.setattr(api, "list_runs", broken)
    assert main(["runs", str(tmp_path)]) == 70
    said = capsys.readouterr().err
    assert "internal error: RuntimeError: " in said and "please report it" in said
    assert "Traceback" not in said and "\x1b" not in said
    monkeypatch.setenv("BORESIGHT_TRACEBACK", "1")
    assert main(["runs", str(tmp_path)]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_from_the_keyboard_is_a_stop(
    monkeypatch: pytest.MonkeyPatch, shell: Shell, tmp_path: Path
) -> None:
    def interrupted(folder: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "list_runs", interrupted)
    assert shell("runs", tmp_path) == Exit.STOPPED
    assert shell.err == "boresight: stopped\n"


def test_the_cases_of_the_scene_are_what_these_tests_count(scene: Scene) -> None:
    assert len(api.read_bank(scene.cases).cases) == CASES
