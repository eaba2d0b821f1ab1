"""NeuralMind itself, in an environment of its own, on a small repository."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core import api
from core.engine.environment import child_environment
from core.errors import InputError
from core.retrievers.neuralmind import EXAMPLE, NeuralmindRetriever, create
from core.retrievers.neuralmind_index import STATE, STORE, VECTORS, digest
from core.retrievers.protocol import AnswerError, Place, Step
from core.run.layout import RunLayout
from tests.real.environments import environment, unavailable
from tests.support.campaigns import Ran, campaign, make_scene, run_again, run_new

VERSION = "4.22.1"
REQUIREMENTS = (f"neuralmind=={VERSION}", "graphifyy==0.9.96")
PLANNED = 1 + 2 * 8


@pytest.fixture(scope="session")
def entry() -> Mapping[str, Any]:
    """Return an entry that names the real executables."""
    executable = environment("neuralmind", REQUIREMENTS) / "neuralmind"
    return {**EXAMPLE, "config": {"executable": str(executable), "threads": 1}}


@pytest.fixture(scope="session")
def retriever(entry: Mapping[str, Any]) -> NeuralmindRetriever:
    """Return the retriever, where there is a model for it."""
    made = create(entry, Path("/"), "neuralmind")
    try:
        made.model_digests()
    except InputError as error:
        unavailable(str(error))
    return made


@pytest.fixture(scope="session")
def finished(
    entry: Mapping[str, Any], retriever: NeuralmindRetriever, tmp_path_factory: pytest.TempPathFactory
) -> Ran:
    """Return a finished run; tests that change it take a copy."""
    folder = tmp_path_factory.mktemp("neuralmind")
    scene = make_scene(folder)
    asked = api.Candidate("neuralmind", dict(entry), Path("/"), "candidates (neuralmind)")
    return run_new(campaign(scene, asked), folder / "run")


@pytest.fixture
def run(finished: Ran, tmp_path: Path) -> Path:
    """Return a copy of the finished run, at another place."""
    return Path(shutil.copytree(finished.run, tmp_path / "copy", symlinks=True))


def place(run: Path) -> Place:
    """Return where the cell lies in a run."""
    layout = RunLayout(run)
    state = layout.state("neuralmind", "store")
    return Place(state / "repository", state, layout.configurations / "neuralmind.json")


def perform(step: Step, where: Place) -> bytes:
    """Run a step as a run would, and return its stdout."""
    variables = child_environment(step.environment, where.state / "home", where.state / "tmp")
    done = subprocess.run(
        step.argv, cwd=step.cwd, env=variables, capture_output=True, check=True, timeout=300
    )
    return done.stdout


def test_it_indexes_searches_both_channels_and_probes(finished: Ran) -> None:
    assert finished.state == "complete"
    assert finished.outcomes() == {"accepted": PLANNED}
    summary = json.loads((finished.run / "quality-summary.json").read_text())
    assert summary["level"] == {"used": "file", "reason": "neuralmind supports nothing finer"}
    assert summary["models"]["neuralmind"]["macro"]["5"]["recall"] == 1  # two files hold all targets


def test_each_node_has_its_text_and_its_vector(finished: Ran, retriever: NeuralmindRetriever) -> None:
    found = retriever.verify_index(place(finished.run))
    assert found.units == found.details["stored"] > 10
    assert found.details["documents"] >= 3
    head = (place(finished.run).repository / VECTORS).read_bytes()[:168]
    assert int.from_bytes(head[164:], "little") == found.units, "the vectors' layout is not the known one"


def test_queries_leave_what_was_learned_unchanged(run: Path, retriever: NeuralmindRetriever) -> None:
    where = place(run)
    before = digest(where.repository)
    with closing(sqlite3.connect(where.repository / STATE / "synapses.db")) as learned:
        edges = list(learned.execute("SELECT * FROM synapses ORDER BY 1, 2"))
    for text in ("load records", "--force", 'Ωmega\n"quoted" $(x) [/b]', "save the records again"):
        answer = retriever.read_ranking(perform(retriever.query(where, "emb", text, 3), where), where, 3)
        assert 1 <= len(answer.ranking) + answer.duplicates <= 3
        context = retriever.read_context(perform(retriever.probe(where, text, 3), where), where, 3)
        assert "store/records.py" in context.text
    assert digest(where.repository) == before
    with closing(sqlite3.connect(where.repository / STATE / "synapses.db")) as learned:
        assert list(learned.execute("SELECT * FROM synapses ORDER BY 1, 2")) == edges
    assert not any((where.state / "home").iterdir())


def test_a_resume_takes_over_all_also_of_a_moved_run(run: Path) -> None:
    again = run_again(run)
    assert (again.state, again.outcomes()) == ("complete", {"reused": PLANNED})


def test_a_moved_index_answers_as_before(finished: Ran, run: Path, retriever: NeuralmindRetriever) -> None:
    told = [
        perform(retriever.query(where, "docs", "saving the records", 5), where)
        for where in (place(finished.run), place(run))
    ]
    assert told[0] == told[1]


def test_a_run_rescores_without_any_tool(run: Path, finished: Ran) -> None:
    before = json.loads((finished.run / "quality-summary.json").read_text())["models"]
    shutil.rmtree(run / "state")
    api.rescore_run(run)
    assert json.loads((run / "quality-summary.json").read_text())["models"] == before


def test_a_search_without_vectors_says_nothing_and_is_caught(
    run: Path, retriever: NeuralmindRetriever
) -> None:
    where = place(run)
    (where.repository / VECTORS).unlink()
    assert json.loads(perform(retriever.query(where, "emb", "load records", 5), where)) == []
    with pytest.raises(AnswerError, match="no search would find anything"):
        retriever.verify_index(where)
    assert run_again(run).outcomes() == {"accepted": PLANNED}


def test_a_search_without_a_store_builds_none(run: Path, retriever: NeuralmindRetriever) -> None:
    where = place(run)
    (where.repository / STORE).unlink()
    with pytest.raises(subprocess.CalledProcessError) as caught:
        perform(retriever.query(where, "emb", "load records", 5), where)
    assert b"Read-only queries never build" in caught.value.stderr
    with pytest.raises(AnswerError) as refused:
        retriever.verify_index(where)
    assert refused.value.kind in {"incomplete_index", "unreadable_index"}


def test_nothing_needs_a_network(run: Path, retriever: NeuralmindRetriever) -> None:
    alone = ("unshare", "--map-root-user", "--net", "--")
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], check=False).returncode:
        pytest.skip("no network namespace can be made here")
    where = place(run)
    shutil.rmtree(where.state / "model")
    for made in ("graphify-out", STATE):
        shutil.rmtree(where.repository / made)
    for step in retriever.index(where):
        perform(step._replace(argv=(*alone, *step.argv)), where)
    assert retriever.verify_index(where).units > 10
    step = retriever.query(where, "emb", "load records", 5)
    printed = perform(step._replace(argv=(*alone, *step.argv)), where)
    assert retriever.read_ranking(printed, where, 5).ranking


def test_a_repository_without_code_is_a_failed_index(tmp_path: Path, retriever: NeuralmindRetriever) -> None:
    where = place(tmp_path)
    for folder in (where.repository, where.state / "home", where.state / "tmp"):
        folder.mkdir(parents=True)
    (where.repository / "notes.txt").write_text("nothing to see")
    subprocess.run(["git", "init", "--quiet"], cwd=where.repository, check=True)
    prepare, graph, _ = retriever.index(where)
    perform(prepare, where)
    with pytest.raises(subprocess.CalledProcessError) as caught:
        perform(graph, where)
    assert caught.value.returncode == 1


def test_the_fingerprint_tells_both_tools_and_their_libraries(retriever: NeuralmindRetriever) -> None:
    found = retriever.fingerprint()
    assert found["version"] == VERSION
    told = found["environments"]["neuralmind"]["distributions"]
    assert {"neuralmind", "graphifyy", "onnxruntime", "turbovec"} <= set(told)
    assert set(found["environments"]["graphify"]) == {"script_sha256"}
    assert not any("/" in text for text in _texts(found))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _texts(inner)
    else:
        yield str(value)
