"""What a person writes becomes one campaign, or is refused with its place and its remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core import api
from core.cli import main
from core.errors import Exit, InputError
from tests.support.campaigns import Scene, make_scene
from tests.support.inputs import Inputs, fake_entry, write_inputs

HEAD = """\
baseline = "b"
cutoffs = [3, 20]

[limits]
index_timeout = 60
query_timeout = 7.5
max_output_bytes = 100000
memory_budget_mib = 512
max_index_seconds = 30

"""
FLAGS = [
    *("--baseline", "b", "--k", "20", "3", "--index-timeout", "60", "--query-timeout", "7.5"),
    *("--max-output-bytes", "100000", "--memory-budget-mib", "512", "--max-index-seconds", "30"),
]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, per_intent=1)


@pytest.fixture
def inputs(scene: Scene) -> Inputs:
    return write_inputs(scene)


class Refusal:
    """Runs a command that must be refused, and shows what it said."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capsys = capsys

    def of(self, *words: str) -> str:
        before = self._files()
        code = main(["run", *words, "--output", str(self._folder / "new" / "run"), "--quiet-progress"])
        said = self._capsys.readouterr()
        assert code == Exit.BAD_INPUT, said.err
        assert said.out == ""
        assert said.err.startswith("boresight: ")
        assert "Traceback" not in said.err and "internal error" not in said.err
        assert self._files() == before, "something was written"
        return said.err

    def _files(self) -> set[str]:
        return {str(path) for path in self._folder.rglob("*")}


@pytest.fixture
def refusal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Refusal:
    return Refusal(tmp_path, capsys)


def identity(run: Path) -> dict[str, Any]:
    record = json.loads((run / "campaign.json").read_bytes())
    return {"identity": record["identity"], "cells": record["cells"], "controls": record["controls"]}


@pytest.mark.parametrize(
    ("head", "flags"), [(HEAD, FLAGS), ('baseline = "b"\n', ["--baseline", "b"]), ("", [])]
)
def test_the_campaign_file_and_the_flags_give_one_and_the_same_identity(
    scene: Scene, head: str, flags: list[str]
) -> None:
    inputs = write_inputs(scene, head=head)
    ours, theirs = scene.folder / "ours", scene.folder / "theirs"
    assert main(["run", str(inputs.campaign), "--output", str(ours), "--quiet-progress"]) == Exit.DONE
    words = ["run", *inputs.flags(*flags), "--output", str(theirs), "--quiet-progress"]
    assert main(words) == Exit.DONE
    assert identity(ours) == identity(theirs)


def test_the_first_ten_cutoffs_are_kept_and_everything_has_a_default(inputs: Inputs) -> None:
    inputs.campaign.write_text(inputs.campaign.read_text().replace('baseline = "a"', "cutoffs = [50, 5, 50]"))
    campaign = api.read_campaign(inputs.campaign)
    assert campaign.cutoffs == (1, 5, 10, 50)
    assert campaign.baseline is None
    assert (campaign.limits.index_timeout, campaign.limits.query_timeout) == (3600.0, 900.0)
    assert campaign.budgets == api.Budgets()
    assert campaign.seed == 0


def test_paths_in_a_campaign_file_start_from_its_own_folder(
    inputs: Inputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    campaign = api.read_campaign(inputs.campaign)
    assert campaign.cases == tmp_path / "store.jsonl"
    assert campaign.repositories[0].path == tmp_path / "store"
    assert campaign.candidates[0].base == tmp_path


def test_assets_of_a_model_manifest_start_from_the_working_directory(
    inputs: Inputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert api.read_models(inputs.models)[0].base == tmp_path / "elsewhere"


def test_model_ids_choose_and_order_and_none_takes_all(inputs: Inputs) -> None:
    assert [model.id for model in api.read_models(inputs.models)] == ["a", "b"]
    assert [model.id for model in api.read_models(inputs.models, ["b"])] == ["b"]
    assert [model.id for model in api.read_models(inputs.models, ["b", "a", "b"])] == ["b", "a"]


# Campaign files

BAD_TOML = {
    "broken": ('name = "test"', "name = ", ["not valid TOML", "line 1", "mend that line"]),
    "endless number": (
        'name = "test"',
        f'name = "test"\nseed = {"9" * 5000}',
        ["not valid TOML", "mend that line"],
    ),
    "unknown key": ("baseline =", "basline =", ["basline: unknown key", 'did you mean "baseline"?']),
    "unknown limit": (
        'baseline = "a"',
        "limits.query_timout = 5",
        ["limits.query_timout: unknown key", 'did you mean "query_timeout"?'],
    ),
    "wrong type": ('name = "test"', "name = 5", ["name: found 5, expected text in quotes"]),
    "no name": ('name = "test"', "", ["name: found nothing, expected a value"]),
    "newer format": (
        'name = "test"',
        'name = "test"\nformat = "boresight-campaign@2"',
        ['format: found "boresight-campaign@2", expected', "boresight-campaign@1"],
    ),
    "cutoff 0": ('baseline = "a"', "cutoffs = [0]", ["cutoffs[0]: found 0, expected at least 1"]),
    "cutoff 101": ('baseline = "a"', "cutoffs = [5, 101]", ["cutoffs[1]: found 101, expected at most 100"]),
    "cutoff true": (
        'baseline = "a"',
        "cutoffs = [true]",
        ["cutoffs[0]: found true, expected a whole number"],
    ),
    "cutoff 1.0": ('baseline = "a"', "cutoffs = [1.0]", ["cutoffs[0]: found 1.0, expected a whole number"]),
    "timeout 0": (
        'baseline = "a"',
        "limits.index_timeout = 0",
        ["limits.index_timeout: found 0, expected more than 0"],
    ),
    "timeout negative": (
        'baseline = "a"',
        "limits.query_timeout = -1.5",
        ["limits.query_timeout: found -1.5, expected more than 0"],
    ),
    "timeout nan": (
        'baseline = "a"',
        "limits.query_timeout = nan",
        ["limits.query_timeout: found NaN, expected"],
    ),
    "timeout inf": (
        'baseline = "a"',
        "limits.query_timeout = inf",
        ["limits.query_timeout: found Infinity, expected"],
    ),
    "output 0": (
        'baseline = "a"',
        "limits.max_output_bytes = 0",
        ["limits.max_output_bytes: found 0, expected at least 1024"],
    ),
    "budget 0": (
        'baseline = "a"',
        "limits.memory_budget_mib = 0",
        ["limits.memory_budget_mib: found 0, expected more than 0"],
    ),
    "seed negative": ('baseline = "a"', "seed = -1", ["seed: found -1, expected at least 0"]),
    "unknown baseline": (
        'baseline = "a"',
        'baseline = "c"',
        ['baseline: found "c", expected a candidate of this campaign; choose from a, b'],
    ),
    "duplicate id": (
        'id = "b"',
        'id = "a"',
        ['candidate id: found "a" 2 times, expected it once; rename the others'],
    ),
    "id with a slash": ('id = "b"', 'id = "../b"', ["candidates[1]", 'id: found "../b", expected 1 to 64']),
    "no id": ('id = "b"', "", ["candidates[1]", "id: found nothing, expected a value"]),
    "short commit": ('commit = "', 'commit = "abc', ["repositories[0].commit: found", "expected 40"]),
    "unknown repository key": (
        'label = "store"',
        'label = "store"\nurll = "x"',
        ["repositories[0].urll: unknown key", 'did you mean "url"?'],
    ),
    "unknown retriever": (
        'retriever = "fake"',
        'retriever = "fak"',
        ["candidates[0] (a)", "the retriever 'fak' is not available", 'set "retriever" to one of: codira'],
    ),
    "retriever of another type": (
        'retriever = "fake"',
        "retriever = [1]",
        ["the retriever '[1]' is not available"],
    ),
    "a date in an entry": (
        'model = "a"',
        "model = 2024-01-02",
        ["candidates[0] (a)", "model: found", "put it in quotes"],
    ),
    "nan in an entry": (
        'model = "a"',
        "model = nan",
        ["candidates[0] (a)", "model: found nan, expected a finite number"],
    ),
    "no such bank": (
        'cases = "store.jsonl"',
        'cases = "gone.jsonl"',
        ["gone.jsonl: No such file", "name a file made by `boresight bank build`"],
    ),
    "a folder for a bank": (
        'cases = "store.jsonl"',
        'cases = "store"',
        ["store: Is a directory; name a file"],
    ),
    "no such repository": ('path = "store"', 'path = "gone"', ["gone"]),
    "another label": (
        'label = "store"',
        'label = "shop"',
        ["store: cases ask about it, and the repository manifest does not name it"],
    ),
}


@pytest.mark.parametrize("name", BAD_TOML)
def test_a_bad_campaign_file_is_refused(inputs: Inputs, refusal: Refusal, name: str) -> None:
    old, new, expected = BAD_TOML[name]
    text = inputs.campaign.read_text()
    assert old in text
    inputs.campaign.write_text(text.replace(old, new, 1))
    said = refusal.of(str(inputs.campaign))
    for part in expected:
        assert part in said
    assert str(inputs.campaign.parent) in said, "the file is named"


def test_a_campaign_file_without_candidates_or_repositories_is_refused(
    inputs: Inputs, refusal: Refusal
) -> None:
    inputs.campaign.write_text('name = "test"\ncases = "store.jsonl"\ncandidates = []\nrepositories = []\n')
    said = refusal.of(str(inputs.campaign))
    assert "candidates: found a list, expected at least 1 entries, not 0" in said
    assert "repositories: found a list, expected at least 1 entries, not 0" in said


def test_all_problems_are_told_at_once(inputs: Inputs, refusal: Refusal) -> None:
    text = inputs.campaign.read_text().replace('baseline = "a"', 'seed = "x"\ncutoffs = [0]')
    inputs.campaign.write_text(text)
    said = refusal.of(str(inputs.campaign))
    assert "seed: " in said and "cutoffs[0]: " in said


@pytest.mark.parametrize("kind", ["missing", "folder", "not UTF-8", "byte order mark"])
def test_a_campaign_file_that_cannot_be_read_is_refused(
    inputs: Inputs, refusal: Refusal, tmp_path: Path, kind: str
) -> None:
    path = inputs.campaign
    if kind == "missing":
        path = tmp_path / "gone.toml"
    elif kind == "folder":
        path = tmp_path / "store"
    elif kind == "not UTF-8":
        path.write_bytes(b'name = "\xff"\n')
    else:
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert str(path) in refusal.of(str(path))


def test_a_hostile_name_reaches_the_terminal_made_visible(refusal: Refusal, tmp_path: Path) -> None:
    said = refusal.of(str(tmp_path / "\x1b]0;owned\x07.toml"))
    assert "\x1b" not in said and "\x07" not in said
    assert "owned" in said


# The seed's flags and manifests


def test_an_absent_retriever_means_codira_and_says_so(scene: Scene, refusal: Refusal) -> None:
    entry = fake_entry("a")
    del entry["retriever"]
    inputs = write_inputs(scene, [entry])
    said = refusal.of(*inputs.flags())
    assert "models.json, models[0] (a)" in said
    assert 'names no "retriever", which means codira, and is not valid' in said


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["--model-id", "c"], ["models.json", '--model-id: found "c"', "choose from a, b"]),
        (["--model-id", "b", "--baseline", "a"], ['baseline: found "a"', "choose from b"]),
        (["--k", "0"], ["cutoff: found 0, expected an integer from 1 to 100"]),
        (["--k", "5", "101"], ["cutoff: found 101, expected an integer from 1 to 100"]),
        (["--index-timeout", "0"], ["the command line", "index_timeout: found 0.0, expected more than 0"]),
        (["--query-timeout", "nan"], ["query_timeout: found NaN, expected"]),
        (["--query-timeout", "inf"], ["query_timeout: found Infinity, expected"]),
        (["--memory-budget-mib", "-1"], ["memory_budget_mib: found -1.0, expected more than 0"]),
        (["--max-index-seconds", "inf"], ["max_index_seconds: found Infinity, expected"]),
        (["--max-output-bytes", "5"], ["max_output_bytes: found 5, expected at least 1024"]),
    ],
)
def test_bad_flags_are_refused(
    inputs: Inputs, refusal: Refusal, flags: list[str], expected: list[str]
) -> None:
    said = refusal.of(*inputs.flags(*flags))
    for part in expected:
        assert part in said


BAD_MODELS: dict[str, tuple[str, list[str]]] = {
    "broken": ('{"models": [', ["line 1, column", "not valid JSON", "mend it there"]),
    "empty file": ("", ["empty, expected JSON"]),
    "no models": ('{"models": []}', ["models: found a list, expected at least 1 entries"]),
    "no list": ('{"models": {"id": "a"}}', ["models: found an object, expected a list"]),
    "another key": ('{"model": []}', ["models: found nothing, expected a value"]),
    "an entry that is text": ('{"models": ["a"]}', ['models[0]: found "a", expected an object']),
    "a list": ("[]", ["the document: found a list, expected an object"]),
    "an id that is a number": ('{"models": [{"id": 5}]}', ["models[0]", "id: found 5, expected text"]),
    "twice the same key": ('{"models": [], "models": []}', ["duplicate key 'models'"]),
    "infinity": (
        '{"models": [{"id": "a", "retriever": "fake", "dimension": 1e999}]}',
        ["models[0] (a)", "dimension: found inf, expected a finite number"],
    ),
    "NaN": ('{"models": [{"id": "a", "retriever": "fake", "dimension": NaN}]}', ["NaN is not a JSON number"]),
    "half a character": (
        '{"models": [{"id": "a", "retriever": "fake", "model": "\\ud800"}]}',
        ["models[0] (a)", "model: found", "expected text without lone surrogates"],
    ),
    "half a character in a key": (
        '{"models": [{"id": "a", "retriever": "fake", "config": {"\\udfff": 1}}]}',
        ["models[0] (a)", "expected text without lone surrogates"],
    ),
    "nested too deeply": (
        '{"models": [{"id": "a", "retriever": "fake", "config": ' + "[" * 900 + "]" * 900 + "}]}",
        ["models[0] (a)", "nested deeper than 20 levels; flatten it"],
    ),
}


@pytest.mark.parametrize("name", BAD_MODELS)
def test_a_bad_model_manifest_is_refused(inputs: Inputs, refusal: Refusal, name: str) -> None:
    text, expected = BAD_MODELS[name]
    inputs.models.write_text(text)
    said = refusal.of(*inputs.flags())
    for part in ["models.json", *expected]:
        assert part in said


def test_every_candidate_that_cannot_be_used_is_named(scene: Scene, refusal: Refusal) -> None:
    inputs = write_inputs(
        scene, [{**fake_entry("a"), "retriever": "x"}, {**fake_entry("b"), "retriever": "y"}]
    )
    said = refusal.of(*inputs.flags())
    assert "models[0] (a)" in said and "models[1] (b)" in said


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"schema_version": 1', '"schema_version": 2', "schema_version: found 2, expected 1"),
        ('"label": "store"', '"label": "a b"', 'repositories[0].label: found "a b"'),
        ('"label": "store"', '"labl": "store"', 'repositories[0].labl: unknown key; did you mean "label"?'),
    ],
)
def test_a_bad_repository_manifest_is_refused(
    inputs: Inputs, refusal: Refusal, old: str, new: str, expected: str
) -> None:
    inputs.repositories.write_text(inputs.repositories.read_text().replace(old, new))
    said = refusal.of(*inputs.flags())
    assert "repositories.json" in said and expected in said


def test_a_campaign_file_and_flags_do_not_mix(inputs: Inputs, refusal: Refusal) -> None:
    said = refusal.of(str(inputs.campaign), "--baseline", "b")
    assert "--baseline cannot be combined with a campaign file" in said


def test_missing_flags_are_named(inputs: Inputs, refusal: Refusal) -> None:
    assert "also needed: --repo-manifest" in refusal.of("--dataset", str(inputs.cases))
    assert "nothing to run" in refusal.of()


def test_a_campaign_built_in_code_is_checked_as_well(scene: Scene, inputs: Inputs) -> None:
    with pytest.raises(InputError, match='baseline: found "zzz"'):
        api.campaign_from_flags(
            name="test",
            dataset=scene.cases,
            repo_manifest=inputs.repositories,
            model_manifest=inputs.models,
            baseline="zzz",
        )
