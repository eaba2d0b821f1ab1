from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError, ProblemsError
from core.retrievers import codira, codira_probe
from core.retrievers.codira import create
from core.retrievers.codira_probe import OLDEST
from core.retrievers.protocol import Place, Retriever, UnpassableError
from core.retrievers.registry import create_retriever, entry_model, example_entry
from tests.support.codira import codira_entry, codira_retriever, make_assets, make_codira

NEWER = {"version": "1.63.1", "daemons": True}


@pytest.fixture(autouse=True)
def _own_python_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the playing executable run with this Python, whose SQLite may not load extensions."""
    monkeypatch.setattr(codira_probe, "_LOADS_EXTENSIONS", "")


def place_in(folder: Path) -> Place:
    return Place(folder / "repository", folder / "state", folder / "configs" / "minilm.toml")


def settings(retriever: Retriever) -> dict[str, Any]:
    return tomllib.loads(retriever.configuration().text.decode())


# Entries


def test_an_entry_that_names_no_retriever_is_codiras(tmp_path: Path) -> None:
    made = create_retriever(codira_entry(tmp_path / "codira", tmp_path), tmp_path, "models[0]")
    assert isinstance(made, codira.CodiraRetriever)
    assert isinstance(made, Retriever)
    assert made.features.channels == {"emb", "docs"}
    assert (made.features.probe, made.features.session, made.features.relocatable) == (True, False, False)


def test_the_example_is_an_entry() -> None:
    assert entry_model("codira") is codira.ENTRY
    assert create_retriever(example_entry("codira"), Path("/"), "example").features.level == "exact"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"engine": "llama"}, "engine: found"),
        ({"dimension": None}, "dimension: found"),
        ({"colour": "red"}, "colour: unknown key"),
        ({"config": {"model_path": "m"}}, "config.tokenizer_path: found nothing"),
        ({"config": {"modelpath": "m"}}, 'did you mean "model_path"'),
        (
            {"config": {"model_path": "m", "tokenizer_path": "t", "provider": "CUDAExecutionProvider"}},
            "config.provider",
        ),
        (
            {"config": {"model_path": "m", "tokenizer_path": "t", "trust_remote_code": True}},
            "config.trust_remote_code",
        ),
        (
            {"engine": "sentence-transformers", "config": {"model_path": "m"}},
            "config.model_path: the engine sentence-transformers finds its model by name",
        ),
    ],
)
def test_a_bad_entry_names_the_field(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        create({**codira_entry(tmp_path, tmp_path), **changes}, Path("/"), "models.json, models[0]")
    assert words in str(caught.value)


# Configurations


def test_the_configuration_holds_what_every_candidate_shares(tmp_path: Path) -> None:
    found = settings(codira_retriever(tmp_path))
    assert found["backend"] == {"name": "sqlite"}
    embeddings = found["embeddings"]
    assert (embeddings["engine"], embeddings["vector_store"], embeddings["device"]) == (
        "onnx",
        "sqlite",
        "cpu",
    )
    assert (embeddings["model"], embeddings["dimension"]) == ("all-MiniLM-L6-v2", 384)
    assert embeddings["indexing"]["mode"] == "immediate"
    assert embeddings["indexing"]["max_text_chars"] == 4000
    plugin = found["plugins"]["embedding-onnx"]
    assert plugin["model_path"] == str(tmp_path / "model.onnx")
    assert (plugin["precision"], plugin["max_tokens"]) == ("int8", 512)


def test_daemons_are_off_where_a_version_has_them_and_unmentioned_where_not(tmp_path: Path) -> None:
    older = settings(codira_retriever(tmp_path / "older"))
    newer = settings(codira_retriever(tmp_path / "newer", **NEWER))
    assert "daemon" not in older
    assert "query_daemon" not in older
    assert newer["daemon"] == newer["query_daemon"] == {"enabled": False}


def test_paths_in_the_configuration_start_from_the_manifests_folder(tmp_path: Path) -> None:
    make_assets(tmp_path / "models")
    make_codira(tmp_path / "bin")
    entry = codira_entry(Path("bin/codira"), Path("models"))
    plugin = settings(create(entry, tmp_path, "models[0]"))["plugins"]["embedding-onnx"]
    assert plugin["tokenizer_path"] == str(tmp_path / "models" / "tokenizer.json")


def test_a_moved_model_leaves_the_identity_as_it_was(tmp_path: Path) -> None:
    executable = make_codira(tmp_path)
    here, there = tmp_path / "here", tmp_path / "there"
    make_assets(here)
    make_assets(there)
    first, second = (create(codira_entry(executable, folder), tmp_path, "m") for folder in (here, there))
    assert first.configuration().text != second.configuration().text
    assert first.configuration().identity == second.configuration().identity
    assert first.fingerprint() == second.fingerprint()
    assert str(tmp_path) not in first.configuration().identity.decode()
    assert str(tmp_path) not in str(first.fingerprint())


def test_a_setting_that_a_version_lacks_is_named_and_refused(tmp_path: Path) -> None:
    dump = '{"command": "config dump", "status": "ok", "results": {"config_version": 1}}'
    with pytest.raises(InputError, match=r"no setting backend\.name"):
        codira_retriever(tmp_path, print={"config dump": dump}).configuration()


# What it depends on


def test_the_fingerprint_tells_version_capabilities_options_and_digests(tmp_path: Path) -> None:
    found = codira_retriever(tmp_path).fingerprint()
    assert found["version"] == "1.55.0"
    assert len(found["capabilities_sha256"]) == 64
    assert found["limit_options"] == {"emb": "--limit", "docs": "--limit", "ctx": None}
    assert len(found["model_sha256"]) == len(found["tokenizer_sha256"]) == 64
    assert "undigested" not in found
    assert found["environment"]["distributions"]["pydantic"]["record_sha256"]


def test_other_weights_capabilities_and_versions_are_other_fingerprints(tmp_path: Path) -> None:
    first = codira_retriever(tmp_path / "a").fingerprint()
    newer = codira_retriever(tmp_path / "b", **NEWER).fingerprint()
    changed = codira_retriever(tmp_path / "c")
    (tmp_path / "c" / "model.onnx").write_bytes(b"other weights")
    assert newer["version"] != first["version"]
    assert newer["capabilities_sha256"] != first["capabilities_sha256"]
    assert changed.fingerprint()["model_sha256"] != first["model_sha256"]


def test_a_model_found_by_name_is_flagged_as_undigested(tmp_path: Path) -> None:
    entry = codira_entry(make_codira(tmp_path), tmp_path)
    entry |= {"engine": "sentence-transformers", "config": {"executable": str(tmp_path / "codira")}}
    made = create(entry, tmp_path, "models[0]")
    assert made.fingerprint()["undigested"] == ["all-MiniLM-L6-v2"]
    assert made.fingerprint()["model_sha256"] is None
    assert settings(made)["plugins"] == {
        "embedding-sentence-transformers": {"enabled": True, "trust_remote_code": False}
    }
    assert made.configuration().governing is None


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ({"version": "1.54.9"}, "expected 1.55 or newer"),
        ({"version": "nightly"}, "expected 'codira' and a version"),
        ({"print": {"plugins": "[]"}}, "not an object"),
        ({"print": {"config dump": "[codira] welcome\n{}"}}, "its answer is no JSON object"),
        ({"plugins": [["backend", "sqlite"]]}, "pip install codira-vector-store-sqlite"),
        (
            {"plugins": [["backend", "sqlite"], ["vector-store", "sqlite"], ["embedding", "onnx"]]},
            "lacks an analyzer",
        ),
    ],
)
def test_an_unfit_executable_is_refused_with_what_mends_it(
    tmp_path: Path, behaviour: dict[str, Any], words: str
) -> None:
    retriever = codira_retriever(tmp_path, **behaviour)
    with pytest.raises(InputError) as caught:
        retriever.configuration()
        retriever.fingerprint()
    assert words in str(caught.value)


def test_a_python_whose_sqlite_loads_no_extensions_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codira_probe, "_LOADS_EXTENSIONS", "raise SystemExit(1)")
    with pytest.raises(InputError, match="pip install pysqlite3-binary"):
        codira_retriever(tmp_path).fingerprint()


def test_a_missing_executable_is_refused_with_how_to_install_it(tmp_path: Path) -> None:
    make_assets(tmp_path)
    missing = create(codira_entry(tmp_path / "gone", tmp_path), tmp_path, "models[0]")
    with pytest.raises(InputError, match=r"there is no such file; .*pip install codira codira-analyzer"):
        missing.configuration()


def test_an_executable_without_the_right_to_run_is_refused(tmp_path: Path) -> None:
    retriever = codira_retriever(tmp_path)
    (tmp_path / "codira").chmod(0o644)
    with pytest.raises(InputError, match="not executable by this user"):
        retriever.configuration()


def test_a_missing_model_is_refused_by_its_field(tmp_path: Path) -> None:
    retriever = codira_retriever(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"config\.tokenizer_path: .*cannot be read"):
        retriever.fingerprint()


def test_an_upgraded_executable_is_asked_anew(tmp_path: Path) -> None:
    assert codira_retriever(tmp_path).fingerprint()["version"] == "1.55.0"
    (tmp_path / "codira").unlink()
    assert codira_retriever(tmp_path, version="1.60.0").fingerprint()["version"] == "1.60.0"


def test_a_users_own_settings_do_not_reach_the_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = make_codira(tmp_path)
    told = tmp_path / "told"
    script.write_text(
        script.read_text().replace(
            "sys.exit(", f"import os\nopen({str(told)!r}, 'a').write(str(dict(os.environ)))\nsys.exit("
        )
    )
    make_assets(tmp_path)
    monkeypatch.setenv("CODIRA_BATCH_SIZE", "1")
    monkeypatch.setenv("OPENROUTER_API_KEY", "secret")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/etc/own")
    create(codira_entry(script, tmp_path), tmp_path, "models[0]").fingerprint()
    assert told.exists()
    for kept_away in ("CODIRA_BATCH_SIZE", "secret", "XDG_CONFIG_HOME", str(Path.home()) + "'"):
        assert kept_away not in told.read_text()


def test_reading_needs_no_executable(tmp_path: Path) -> None:
    retriever = codira_retriever(tmp_path)
    shutil.rmtree(tmp_path)
    answer = (
        b'{"command": "emb", "status": "ok", "results": [{"type": "class", "file": "a.py", "lineno": 3}]}'
    )
    assert retriever.read_ranking(answer, place_in(tmp_path), 10).ranking[0].path == "a.py"


# Commands


def test_each_command_names_repository_state_and_configuration(tmp_path: Path) -> None:
    retriever, place = codira_retriever(tmp_path), place_in(tmp_path)
    places = (place.repository, place.state, place.configuration)
    options = zip(("--path", "--output-dir", "--config-file"), map(str, places), strict=True)
    shared = tuple(word for option in options for word in option)
    own = str(tmp_path / "codira")
    assert [step.argv for step in retriever.index(place)] == [(own, "index", "--full", "--json", *shared)]
    emb = retriever.query(place, "emb", "--lim words", 7)
    assert emb.argv == (own, "emb", "--json", "--limit", "7", *shared, "--", "--lim words")
    docs = retriever.query(place, "docs", "words", 7)
    assert docs.argv == (own, "docs", "--json", "--limit", "7", *shared, "--", "words")
    assert retriever.probe(place, "words", 7).argv == (own, "ctx", "--json", *shared, "--", "words")
    assert emb.cwd == place.state
    assert set(emb.environment) == {"XDG_CONFIG_DIRS", "XDG_RUNTIME_DIR"}
    assert emb.secrets == ()


def test_options_that_limit_rows_are_those_of_the_version(tmp_path: Path) -> None:
    retriever = codira_retriever(tmp_path, limit="--max-results", ctx_limit="--max-results")
    place = place_in(tmp_path)
    assert "--limit" not in retriever.query(place, "emb", "words", 7).argv
    assert retriever.query(place, "emb", "words", 7).argv[2:5] == ("--json", "--max-results", "7")
    assert retriever.probe(place, "words", 7).argv[2:5] == ("--json", "--max-results", "7")


def test_a_name_is_left_to_be_found_in_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_codira(tmp_path / "bin")
    make_assets(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    entry = codira_entry(Path("codira"), tmp_path)
    step = create(entry, tmp_path, "models[0]").query(place_in(tmp_path), "emb", "words", 1)
    assert step.argv[0] == "codira"


@pytest.mark.parametrize("query", ["a\0b", "\ud800", "x" * 131_072])
def test_a_query_that_no_argument_can_hold_is_refused(tmp_path: Path, query: str) -> None:
    retriever = codira_retriever(tmp_path)
    with pytest.raises(UnpassableError):
        retriever.query(place_in(tmp_path), "emb", query, 5)
    with pytest.raises(UnpassableError):
        retriever.probe(place_in(tmp_path), query, 5)


def test_the_query_that_emb_takes_for_its_own_command_is_refused(tmp_path: Path) -> None:
    retriever = codira_retriever(tmp_path)
    with pytest.raises(UnpassableError, match="'purge' for its maintenance command"):
        retriever.query(place_in(tmp_path), "emb", "purge", 5)
    assert retriever.query(place_in(tmp_path), "docs", "purge", 5).argv[-1] == "purge"
    assert retriever.probe(place_in(tmp_path), "purge", 5).argv[-1] == "purge"


def test_there_is_no_session(tmp_path: Path) -> None:
    retriever = codira_retriever(tmp_path)
    assert retriever.session(place_in(tmp_path)) is None
    assert not retriever.is_answer_to(b"", b"")


# Diagnosis


def test_what_is_installed_is_told_with_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_codira(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    found = codira.diagnose()
    assert (found.retriever, found.version) == ("codira", "1.55.0")
    assert found.answers.startswith("emb, docs and ctx")


def test_what_is_missing_is_told_with_the_command_that_mends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (nothing,) = codira.diagnose().missing
    assert nothing.part == f"Codira {OLDEST[0]}.{OLDEST[1]} or newer"
    assert "pip install codira" in nothing.remedy
    make_codira(tmp_path, plugins=[["backend", "sqlite"], ["vector-store", "sqlite"], ["analyzer", "python"]])
    missing = [part for part in codira.diagnose().missing if part.part.startswith("the plugin")]
    assert [part.part for part in missing] == ["the plugin embedding onnx", "the plugin analyzer markdown"]
    assert missing[0].remedy.endswith("pip install codira-embedding-onnx")
