"""The real Codira with a real model on a small repository: index, emb, docs, ctx, resume, broken indexes."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from core import api
from core.ranking import Location
from core.rescoring import rescore
from core.retrievers.codira import create, diagnose
from core.retrievers.codira_index import verify
from core.retrievers.protocol import AnswerError, Place
from core.run.layout import INDEX, Operation, RunLayout
from tests.real.codira_tool import VERSION, codira
from tests.real.models import entries, models
from tests.support.campaigns import INTENTS, Ran, Scene, campaign, make_scene, run_again, run_new

CASES = len(INTENTS)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return make_scene(tmp_path_factory.mktemp("codira"), per_intent=1)


@pytest.fixture(scope="module")
def entry() -> dict[str, Any]:
    return dict(entries(models(), codira())[1])


@pytest.fixture(scope="module")
def ran(scene: Scene, entry: dict[str, Any]) -> Ran:
    """One campaign, run once; a test that changes it comes after those that read it."""
    candidate = api.Candidate("paraphrase-l3", entry, scene.folder, "candidates (paraphrase-l3)")
    return run_new(campaign(scene, candidate), scene.folder / "run")


def state_of(ran: Ran) -> Path:
    return RunLayout(ran.run).state("paraphrase-l3", "store")


def test_every_operation_of_a_campaign_is_accepted(ran: Ran) -> None:
    assert ran.outcomes() == {"accepted": 1 + 2 * CASES}
    found = verify(state_of(ran))
    assert found.details["symbol_embeddings"] >= 4
    assert found.details["documentation_embeddings"] >= 3


def test_lines_and_kinds_are_those_of_the_source(ran: Ran) -> None:
    board = rescore(ran.run).board
    score = board.candidates["paraphrase-l3"]
    assert board.level == "exact"
    assert score.macro[10].recall == 1.0
    assert score.counts.failed == 0


def test_each_command_answers_as_it_is_read(ran: Ran, entry: dict[str, Any]) -> None:
    layout = RunLayout(ran.run)
    retriever = create(entry, Path("/"), "candidate")
    place = Place(layout.source("store"), state_of(ran), layout.configurations / "paraphrase-l3.toml")
    outputs: dict[str, list[bytes]] = {"emb": [], "docs": [], "ctx": []}
    for path in layout.operations.rglob("attempt-0001/command.json"):
        command = json.loads(path.read_bytes())["command"]["steps"][0]["argv"][1]
        if command in outputs:
            outputs[command].append((path.parent / "stdout").read_bytes())
    warm_up, documented = 1, 1
    assert {command: len(found) for command, found in outputs.items()} == {
        "emb": CASES - documented + warm_up,
        "docs": documented,
        "ctx": CASES,
    }
    symbols = retriever.read_ranking(outputs["emb"][0], place, 10).ranking
    assert {found.kind for found in symbols} == {"symbol"}
    assert {found.path for found in symbols} == {"store/records.py"}
    (documentation,) = (retriever.read_ranking(output, place, 10).ranking for output in outputs["docs"])
    sections = {Location("README.md", 3, 6, "documentation"), Location("README.md", 7, 9, "documentation")}
    assert sections <= {found._replace(score=None) for found in documentation}
    contexts = [retriever.read_context(output, place, 10) for output in outputs["ctx"]]
    assert all(context.text and context.ranking for context in contexts)


def test_the_fingerprint_pins_the_tool_and_the_model(ran: Ran) -> None:
    controls = json.loads(RunLayout(ran.run).campaign.read_bytes())["controls"]
    found = controls["candidates"]["paraphrase-l3"]["fingerprint"]
    assert found["version"] == VERSION
    assert found["environment"]["distributions"]["codira"]["version"] == VERSION
    assert found["environment"]["distributions"]["onnxruntime"]["record_sha256"]
    assert found["limit_options"] == {"emb": "--limit", "docs": "--limit", "ctx": None}
    assert len(found["model_sha256"]) == len(found["tokenizer_sha256"]) == 64


def test_this_machine_is_diagnosed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(codira().parent), prepend=":")
    found = diagnose()
    assert (found.version, found.missing) == (VERSION, ())


def test_a_resume_takes_everything_over(ran: Ran) -> None:
    assert run_again(ran.run).outcomes() == {"reused": 1 + 2 * CASES}


def test_queries_leave_the_digest_of_the_index_as_it_was(ran: Ran) -> None:
    layout = RunLayout(ran.run)
    attempt = layout.attempt(Operation("paraphrase-l3", "store", INDEX), 1)
    recorded = json.loads((attempt / "measurement.json").read_bytes())["validation"]["state_digest"]
    assert verify(state_of(ran)).digest == recorded


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("DELETE FROM vector_bindings WHERE object_type = 'documentation'", "incomplete_index"),
        ("DELETE FROM vector_payloads WHERE id = 1", "incomplete_index"),
        ("DELETE FROM vector_payload_index_1_rowids WHERE rowid = 1", "incomplete_index"),
        (
            "INSERT INTO vector_sets SELECT 2, engine, engine_version, 'other', model_version, dimension,"
            " precision, store, store_version, format_version, created_at FROM vector_sets",
            "two_vector_sets",
        ),
    ],
)
def test_a_damaged_index_is_refused_with_numbers(ran: Ran, tmp_path: Path, statement: str, kind: str) -> None:
    folder = tmp_path / ".codira"
    folder.mkdir()
    for name in ("index.db", "embeddings.db"):
        (folder / name).write_bytes((state_of(ran) / ".codira" / name).read_bytes())
    with sqlite3.connect(folder / "embeddings.db") as connection:
        assert connection.execute(statement).rowcount > 0
    connection.close()
    with pytest.raises(AnswerError, match=r"\d") as caught:
        verify(tmp_path)
    assert caught.value.kind == kind


def test_a_broken_index_is_built_again_on_resume(ran: Ran) -> None:
    with sqlite3.connect(state_of(ran) / ".codira" / "embeddings.db") as connection:
        connection.execute("DELETE FROM vector_bindings WHERE rowid = 1")
    connection.close()
    assert run_again(ran.run).outcomes() == {"accepted": 1 + 2 * CASES}
    assert RunLayout(ran.run).attempts(Operation("paraphrase-l3", "store", INDEX)) == (1, 2)
