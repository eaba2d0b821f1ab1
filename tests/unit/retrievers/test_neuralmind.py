from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core import api
from core.errors import InputError, ProblemsError
from core.ranking import Location
from core.retrievers.neuralmind import ENTRY, EXAMPLE, create, diagnose
from core.retrievers.protocol import AnswerError, Place, Retriever, UnpassableError
from core.retrievers.registry import create_retriever, example_entry
from core.run.layout import RunLayout
from tests.support.campaigns import Ran, Scene, campaign, fake, make_scene, run_again, run_new
from tests.support.repositories import make_repository

PROGRAM = Path(__file__).parents[2] / "support" / "programs" / "fake_neuralmind.py"
PLACE = Place(
    Path("/runs/7/state/neuralmind/store/repository"),
    Path("/runs/7/state/neuralmind/store"),
    Path("/runs/7/configs/neuralmind.json"),
)


def make_tools(folder: Path, **faults: str) -> Path:
    """Install both fakes into `folder/bin`, and a model's files into `folder/model`."""
    binaries, model = folder / "bin", folder / "model"
    for made in (binaries, model):
        made.mkdir(parents=True, exist_ok=True)
    for name in ("neuralmind", "graphify"):
        script = binaries / name
        script.write_text(f"#!{sys.executable}\n{PROGRAM.read_text()}")
        script.chmod(0o755)
    (binaries / "faults.json").write_text(json.dumps(faults))
    (model / "model.onnx").write_bytes(b"weights")
    (model / "tokenizer.json").write_bytes(b"words")
    return folder


def entry(tools: Path, **config: Any) -> dict[str, Any]:
    """Return an entry that names the fakes."""
    executable = str(tools / "bin" / "neuralmind")
    return {
        **EXAMPLE,
        "config": {"executable": executable, "model_dir": str(tools / "model"), **config},
    }


def candidate(tools: Path) -> api.Candidate:
    """Return a candidate that runs the fakes."""
    return api.Candidate("neuralmind", entry(tools), Path("/"), "candidates (neuralmind)")


def state(run: Path) -> Path:
    """Return the cell's copy of the repository."""
    return RunLayout(run).state("neuralmind", "store") / "repository"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    return make_tools(tmp_path / "tools")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path)


@pytest.fixture
def ran(scene: Scene, tools: Path, tmp_path: Path) -> Ran:
    return run_new(campaign(scene, candidate(tools)), tmp_path / "run")


def test_the_example_is_valid_and_compared_by_file() -> None:
    made = create_retriever(example_entry("neuralmind"), Path("/"), "models.json, models[0]")
    assert isinstance(made, Retriever)
    features = made.features
    assert features.channels == {"emb", "docs"}
    assert (features.probe, features.session, features.writes_repository) == (True, False, True)
    assert features.level == "file"


def test_each_option_is_described() -> None:
    config = ENTRY.model_fields["config"].annotation
    assert config is not None
    for model in (ENTRY, config):
        for name, field in model.model_fields.items():
            assert field.description or name in {"retriever", "config"}, name


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"engine": "bge"}, 'engine: found "bge"'),
        ({"dimension": 768}, "dimension: found 768, but NeuralMind's models have 384"),
        ({"config": {"executible": "x"}}, 'did you mean "executable"'),
        ({"config": {"threads": 0}}, "config.threads: found 0"),
        ({"config": {"model_path": "m.onnx"}}, "expected one of package, model_dir, or model_path with"),
        ({"config": {"model_dir": "m", "package": "p"}}, "found package and model_dir"),
    ],
)
def test_a_bad_entry_names_the_field(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        create({**EXAMPLE, **changes}, Path("/"), "models.json, models[0]")
    assert words in str(caught.value)


def test_a_missing_executable_is_named_with_what_installs_it(tools: Path) -> None:
    for config, words in (
        ({"executable": "no-such-neuralmind"}, "no executable 'no-such-neuralmind' is in PATH"),
        ({"executable": str(tools / "absent")}, "there is no such file"),
        ({"graphify": str(tools / "absent")}, "config.graphify"),
    ):
        with pytest.raises(InputError, match="pip install neuralmind graphifyy") as caught:
            create(entry(tools, **config), Path("/"), "x").fingerprint()
        assert words in str(caught.value)


def test_an_executable_without_the_right_to_run_is_named(tools: Path) -> None:
    (tools / "bin" / "neuralmind").chmod(0o644)
    with pytest.raises(InputError, match=r"not executable by this user; run `chmod u\+x`"):
        create(entry(tools), Path("/"), "x").fingerprint()


def test_an_old_version_is_named_with_what_upgrades_it(tmp_path: Path) -> None:
    tools = make_tools(tmp_path, help="--json --n --force")
    with pytest.raises(InputError, match=r"'query' has no --no-learn.*pip install --upgrade neuralmind"):
        create(entry(tools), Path("/"), "x").fingerprint()


def test_another_program_of_that_name_is_refused(tmp_path: Path) -> None:
    tools = make_tools(tmp_path, name="neuromancer")
    with pytest.raises(InputError, match=r"found 'neuromancer 9\.9\.9'"):
        create(entry(tools), Path("/"), "x").version()


def test_a_missing_model_is_named(tools: Path) -> None:
    (tools / "model" / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"tokenizer\.json cannot be read.*correct model_dir"):
        create(entry(tools), Path("/"), "x").fingerprint()


def test_a_model_in_two_files_is_taken(tools: Path) -> None:
    (tools / "model" / "model.onnx").rename(tools / "other.onnx")
    config = {"executable": "bin/neuralmind", "model_path": "other.onnx"}
    given = {**EXAMPLE, "config": {**config, "tokenizer_path": "model/tokenizer.json"}}
    digests = create(given, tools, "x").model_digests()
    assert digests == create(entry(make_tools(tools / "again")), Path("/"), "x").model_digests()


def test_the_diagnosis_tells_what_is_missing_and_how_to_get_it(
    tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tools / "empty"))
    absent = diagnose()
    assert absent.version is None
    assert "pip install neuralmind graphifyy" in absent.missing[0].remedy
    monkeypatch.setenv("PATH", str(tools / "bin"))
    assert diagnose().version == "9.9.9"


def test_the_fingerprint_is_the_same_wherever_its_parts_lie(tmp_path: Path) -> None:
    one, other = (make_tools(tmp_path / name) for name in ("one", "other"))
    found = create(entry(one), Path("/"), "x").fingerprint()
    assert found == create(entry(other), Path("/"), "x").fingerprint()
    assert str(tmp_path) not in json.dumps(found)
    assert "pytest" in found["environments"]["neuralmind"]["distributions"]
    assert create(entry(one), Path("/"), "x").configuration().identity.find(b"/") == -1


@pytest.mark.parametrize(
    "part", ["bin/neuralmind", "bin/graphify", "model/model.onnx", "model/tokenizer.json"]
)
def test_the_fingerprint_changes_with_each_part(tools: Path, part: str) -> None:
    before = create(entry(tools), Path("/"), "x").fingerprint()
    with (tools / part).open("a") as stream:
        stream.write("\n")
    assert create(entry(tools), Path("/"), "x").fingerprint() != before


def test_threads_are_set_and_part_of_the_configuration(tools: Path) -> None:
    made = create(entry(tools, threads=3), Path("/"), "x")
    assert b'"NEURALMIND_ORT_THREADS": "3"' in made.configuration().text
    assert made.query(PLACE, "emb", "x", 5).environment["NEURALMIND_ORT_THREADS"] == "3"


def test_queries_are_passed_whole_or_refused(tools: Path) -> None:
    made = create(entry(tools), Path("/"), "x")
    assert made.query(PLACE, "docs", "--force $(x)", 7).argv[1:] == (
        *("search", ".", "--json", "--n", "7", "--", "--force $(x)"),
    )
    for text in ("a\0b", "\ud800", "x" * 200_000):
        with pytest.raises(UnpassableError):
            made.query(PLACE, "emb", text, 5)
        with pytest.raises(UnpassableError):
            made.probe(PLACE, text, 5)


def test_a_campaign_indexes_searches_and_probes(ran: Ran) -> None:
    assert ran.state == "complete"
    assert ran.outcomes() == {"accepted": 1 + 2 * 8}
    index = json.loads(
        (RunLayout(ran.run).operations / "neuralmind/store/index/attempt-0001/measurement.json").read_text()
    )["validation"]
    assert index["units"] == index["details"]["stored"] == 7
    assert index["details"]["documents"] == 3
    summary = json.loads((ran.run / "quality-summary.json").read_text())
    assert summary["level"]["used"] == "file"
    assert summary["models"]["neuralmind"]["macro"]["5"]["recall"] == 1  # of two files


def test_beside_a_finer_retriever_the_report_says_that_files_are_compared(
    scene: Scene, tools: Path, tmp_path: Path
) -> None:
    ran = run_new(campaign(scene, fake("lines"), candidate(tools)), tmp_path / "run")
    assert ran.state == "complete"
    report = (ran.run / "quality-summary.md").read_text()
    assert "by the *file* rule: neuralmind supports nothing finer" in report


def test_the_frozen_tree_is_left_alone_and_the_copy_written_into(ran: Ran) -> None:
    source = RunLayout(ran.run).source("store")
    assert not (source / ".neuralmind").exists()
    assert (state(ran.run) / ".neuralmind" / "synapses.db").exists()


def test_a_resume_takes_over_all(ran: Ran) -> None:
    again = run_again(ran.run)
    assert again.outcomes() == {"reused": 1 + 2 * 8}


def test_logs_of_queries_are_no_change_of_the_learned_state(ran: Ran, tools: Path) -> None:
    log = state(ran.run) / ".neuralmind" / "audit_events.jsonl"
    assert len(log.read_text().splitlines()) > 2 * 8
    assert run_again(ran.run).outcomes() == {"reused": 1 + 2 * 8}


def test_a_search_that_learns_voids_its_index(scene: Scene, tmp_path: Path) -> None:
    tools = make_tools(tmp_path / "tools", search="learns")
    first = run_new(campaign(scene, candidate(tools)), tmp_path / "run")
    assert first.state == "complete"
    again = run_again(first.run)
    assert again.outcomes() == {"accepted": 1 + 2 * 8}


@pytest.mark.parametrize(
    ("faults", "kind"),
    [
        ({"graph": "empty"}, "empty_index"),
        ({"build": "loses_nodes"}, "incomplete_index"),
        ({"build": "loses_vectors"}, "incomplete_index"),
    ],
)
def test_an_index_that_is_not_whole_fails_before_any_query(
    scene: Scene, tmp_path: Path, faults: dict[str, str], kind: str
) -> None:
    tools = make_tools(tmp_path / "tools", **faults)
    ran = run_new(campaign(scene, candidate(tools)), tmp_path / "run")
    assert ran.state == "failed"
    assert ran.errors() == {kind, "index_failed"}
    (tools / "bin" / "faults.json").write_text("{}")


def _remove(name: str) -> Any:
    return lambda copy: (copy / name).unlink()


def _write(name: str, content: bytes) -> Any:
    return lambda copy: (copy / name).write_bytes(content)


def _learn(copy: Path) -> None:
    with closing(sqlite3.connect(copy / ".neuralmind/synapses.db")) as learned, learned:
        learned.execute("INSERT INTO synapses VALUES ('x')")


def _forget(copy: Path) -> None:
    with closing(sqlite3.connect(copy / ".neuralmind/neuralmind_turbovec/store.sqlite")) as store, store:
        store.execute("DELETE FROM nodes WHERE uid < 3")


STORE, VECTORS = (f".neuralmind/neuralmind_turbovec/{name}" for name in ("store.sqlite", "index.tvim"))
BROKEN = {
    "no graph": (_remove("graphify-out/graph.json"), "incomplete_index", "there is no graphify-out"),
    "no JSON in the graph": (_write("graphify-out/graph.json", b"{"), "unreadable_index", "holds no graph"),
    "another document": (_write("graphify-out/graph.json", b"[]"), "unreadable_index", "holds no graph"),
    "no node": (_write("graphify-out/graph.json", b'{"nodes": []}'), "empty_index", "holds no node"),
    "no store": (_remove(STORE), "incomplete_index", "there is no .neuralmind"),
    "no database": (_write(STORE, b"garbage" * 99), "unreadable_index", "file is not a database"),
    "nodes gone": (_forget, "incomplete_index", "2 of 7 nodes of the graph are not in"),
    "no vectors": (_remove(VECTORS), "incomplete_index", "no search would find anything"),
    "few vectors": (_write(VECTORS, b"TV9 short"), "incomplete_index", "9 bytes long, less than 7 vectors"),
    "no model": (lambda copy: shutil.rmtree(copy.parent / "model"), "incomplete_index", "model.onnx"),
}


def test_a_broken_index_is_found(ran: Ran, tools: Path, tmp_path: Path) -> None:
    made = create(entry(tools), Path("/"), "x")
    copy = state(ran.run)
    sound = shutil.copytree(copy.parent, tmp_path / "sound", symlinks=True)
    place = Place(copy, copy.parent, RunLayout(ran.run).configurations / "neuralmind.json")
    for case, (spoil, kind, words) in BROKEN.items():
        assert made.verify_index(place).units == 7, case
        spoil(copy)
        with pytest.raises(AnswerError) as caught:
            made.verify_index(place)
        assert (caught.value.kind, words in str(caught.value)) == (kind, True), (case, str(caught.value))
        shutil.rmtree(copy.parent)
        shutil.copytree(sound, copy.parent, symlinks=True)


@pytest.mark.parametrize("case", ["no graph", "nodes gone", "no model"])  # of each of its three parts
def test_a_broken_index_is_made_anew_by_a_resume(ran: Ran, case: str) -> None:
    spoil, _, _ = BROKEN[case]
    spoil(state(ran.run))
    again = run_again(ran.run)
    assert (again.state, again.outcomes()) == ("complete", {"accepted": 1 + 2 * 8})


def test_learned_state_that_changed_is_found_by_a_resume(ran: Ran) -> None:
    _learn(state(ran.run))
    assert run_again(ran.run).outcomes() == {"accepted": 1 + 2 * 8}


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("error_object", "tool_error"),
        ("banner", "invalid_json"),
        ("other_command", "wrong_shape"),
        ("exits_1", "nonzero_exit"),
        ("outside", "outside_repository"),
    ],
)
def test_a_bad_answer_is_a_failed_query(scene: Scene, tmp_path: Path, fault: str, kind: str) -> None:
    tools = make_tools(tmp_path / "tools", search=fault)
    ran = run_new(campaign(scene, candidate(tools)), tmp_path / "run")
    assert (ran.state, ran.errors()) == ("failed", {kind})
    assert ran.outcomes() == {"accepted": 1 + 8, "failed": 8}


def test_absolute_paths_inside_the_copy_count_also_once_the_run_has_moved(
    scene: Scene, tmp_path: Path
) -> None:
    tools = make_tools(tmp_path / "tools", search="absolute")
    ran = run_new(campaign(scene, candidate(tools)), tmp_path / "run")
    assert ran.state == "complete"
    measured = json.loads((ran.run / "quality-summary.json").read_bytes())["models"]
    assert measured["neuralmind"]["macro"]["5"]["recall"] == 1
    moved = tmp_path / "elsewhere" / "moved"
    moved.parent.mkdir()
    ran.run.rename(moved)
    api.rescore(moved)
    assert json.loads((moved / "quality-summary.json").read_bytes())["models"] == measured


def test_a_repository_that_forwards_queries_is_not_indexed(tmp_path: Path, tools: Path) -> None:
    scene = make_scene(tmp_path)
    commit = make_repository(
        tmp_path / "leaky",
        {
            "store/records.py": (scene.repository.path / "store/records.py").read_bytes(),
            "neuralmind-backend.yaml": b"security:\n  audit_syslog: udp://logs.example\n",
        },
    )
    repository = scene.repository.model_copy(
        update={"label": "leaky", "path": tmp_path / "leaky", "commit": commit}
    )
    cases = tmp_path / "leaky.jsonl"
    api.build_bank([repository], 2, ("symbol_lookup",), cases)
    ran = run_new(campaign(Scene(tmp_path, repository, cases), candidate(tools)), tmp_path / "run")
    assert ran.errors() == {"nonzero_exit", "index_failed"}
    stderr = RunLayout(ran.run).operations / "neuralmind/leaky/index/attempt-0001/stderr"
    assert "sets audit_syslog" in stderr.read_text()


def rows(*files: Any) -> bytes:
    """Return a search's output with a row for each `source_file`."""
    found = [{"id": f"n{number}", "metadata": {"source_file": file}} for number, file in enumerate(files)]
    return json.dumps(found).encode()


def read(stdout: bytes, limit: int = 10) -> Any:
    """Return how a search's output is read."""
    return create(EXAMPLE, Path("/"), "x").read_ranking(stdout, PLACE, limit)


@pytest.mark.parametrize(
    ("printed", "path"),
    [
        ("a/b.py", "a/b.py"),
        ("./a/b.py", "a/b.py"),
        ("././a/b.py", "a/b.py"),
        (f"{PLACE.repository}/a/b.py", "a/b.py"),
        ("/private/runs/7/state/neuralmind/store/repository/a/b.py", "a/b.py"),  # through a link
        ("repository/a/b.py", "repository/a/b.py"),  # a folder of that name
        ("x/state/neuralmind/store/repository/b.py", "x/state/neuralmind/store/repository/b.py"),
    ],
)
def test_paths_lose_what_leads_to_the_repository(printed: str, path: str) -> None:
    assert read(rows(printed)).ranking == (Location(path),)


@pytest.mark.parametrize(
    ("stdout", "kind"),
    [
        (rows("/etc/passwd"), "outside_repository"),
        (rows("../b.py"), "outside_repository"),
        (rows(f"{PLACE.repository}/../../b.py"), "outside_repository"),
        (rows("a//b.py"), "bad_path"),
        (rows("a\0b"), "bad_path"),
        (rows(7), "wrong_shape"),
        (b'[{"id": "x"}]', "wrong_shape"),
        (b'["x"]', "wrong_shape"),
        (b'{"error": "no index"}', "tool_error"),
        (b'{"query": "x", "context": "y"}', "wrong_shape"),
        (b"", "empty_output"),
        (b"Loading index\n[]", "invalid_json"),
        (b"[] []", "invalid_json"),
        (b"[\xff]", "invalid_utf8"),
        (b'[{"metadata": {"source_file": "a.py"}, "score": NaN}]', "invalid_json"),
        (b'[{"metadata": {"source_file": "a.py"}, "score": "high"}]', "bad_score"),
    ],
)
def test_what_is_no_ranking_is_refused_by_name(stdout: bytes, kind: str) -> None:
    with pytest.raises(AnswerError) as caught:
        read(stdout)
    assert caught.value.kind == kind


def test_rows_of_one_file_are_one_result_and_counted() -> None:
    answer = read(rows("a.py", "b.py", "a.py", "a.py", "c.py"))
    assert answer.ranking == (Location("a.py"), Location("b.py"), Location("c.py"))
    assert (answer.duplicates, answer.surplus) == (2, 0)


def test_rows_past_the_limit_never_move_up() -> None:
    answer = read(rows("a.py", "a.py", "b.py", "c.py"), limit=2)
    assert answer.ranking == (Location("a.py"),)
    assert (answer.duplicates, answer.surplus) == (1, 2)


def test_a_row_without_a_file_keeps_its_rank_under_a_name_of_no_file() -> None:
    answer = read(rows("", None, "a.py"))
    assert [location.path for location in answer.ranking] == ["(no file) n0", "(no file) n1", "a.py"]


def test_an_empty_list_is_a_valid_answer() -> None:
    assert read(b"[]").ranking == ()


def test_a_context_names_its_files_and_keeps_its_text() -> None:
    made = create(EXAMPLE, Path("/"), "x")
    text = f"## Search Results\n   File: a.py\n   File: {PLACE.repository}/b.py\n   File: \n   File: ../x\n"
    text += "   File: a.py\n"
    context = made.read_context(json.dumps({"query": "x", "context": text}).encode(), PLACE, 10)
    assert context.text == text
    assert [location.path for location in context.ranking] == ["a.py", "b.py"]


@pytest.mark.parametrize("stdout", [b"{}", b"[]", b'{"context": 1}'])
def test_what_holds_no_context_is_refused(stdout: bytes) -> None:
    with pytest.raises(AnswerError, match="not the answer of a query"):
        create(EXAMPLE, Path("/"), "x").read_context(stdout, PLACE, 10)
