from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from core.workspace.pipeline import MAX_CONTEXT
from tests.unit.workspace.builders import (
    ENGINES,
    PROJECT,
    answered,
    indexed,
    prepared,
    retriever,
    run,
    write_tree,
)

HOSTILE = [
    "load manifest",
    "",
    '"',
    "' OR 1=1; --",
    'name:x NEAR(a b) AND NOT c* ^d {path}:"',
    "--help",
    "-- --",
    "💥🚀",
    "\u202ereversed\x1b[31m",
    "load " * 20_000,
]


@pytest.mark.parametrize("engine", ENGINES)
def test_session_and_one_shot_answer_the_same_bytes(tmp_path: Path, engine: str) -> None:
    asked = retriever(engine)
    place = indexed(asked, write_tree(tmp_path / "r"), tmp_path)
    lines = answered(
        asked,
        place,
        [
            request
            for text in HOSTILE
            for request in (asked.request("query", "emb", text, 5), asked.request("probe", "emb", text, 5))
        ],
    )
    for number, text in enumerate(HOSTILE):
        query, probe = lines[2 * number : 2 * number + 2]
        asked.read_ranking(query, place, 5)
        asked.read_context(probe, place, 5)
        if number % 3 == 0 or engine == "lexical":
            assert run(asked.query(place, "emb", text, 5)).stdout == without_id(query)
            assert run(asked.probe(place, text, 5)).stdout == without_id(probe)


def without_id(line: bytes) -> bytes:
    """Return a session's line as a command of its own would print it."""
    return re.sub(rb'\A\{"id":"[0-9a-f]+",', b"{", line)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_answer_names_its_question(tmp_path: Path, engine: str) -> None:
    asked = retriever(engine)
    place = indexed(asked, write_tree(tmp_path / "r"), tmp_path)
    requests = [asked.request("query", "emb", text, 3) for text in ("load", "save")]
    lines = answered(asked, place, requests)
    assert [asked.is_answer_to(request, line) for request, line in zip(requests, lines, strict=True)] == [
        True,
        True,
    ]
    assert not asked.is_answer_to(requests[0], lines[1])
    assert not asked.is_answer_to(requests[0], b"Model loaded.\n")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_session_survives_what_no_argument_can_hold(tmp_path: Path, engine: str) -> None:
    asked = retriever(engine)
    place = indexed(asked, write_tree(tmp_path / "r"), tmp_path)
    texts = ["load\0manifest", "load \ud800 manifest", "x" * 1_000_000]
    lines = answered(asked, place, [asked.request("query", "emb", text, 3) for text in texts])
    first = asked.read_ranking(lines[0], place, 3).ranking[0]
    assert (first.path, first.line) == ("app/manifest.py", 3)
    assert len(lines) == 3


@pytest.mark.parametrize("engine", ENGINES)
def test_two_indexes_of_one_tree_answer_the_same(tmp_path: Path, engine: str) -> None:
    asked = retriever(engine)
    repository = write_tree(tmp_path / "r")
    answers = []
    for folder in ("first", "second"):
        place = indexed(asked, repository, tmp_path / folder)
        requests = [asked.request("query", channel, "load", 9) for channel in ("emb", "docs")]
        answers.append(answered(asked, place, requests))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("engine", ENGINES)
def test_channels_are_code_and_documentation(tmp_path: Path, engine: str) -> None:
    asked = retriever(engine)
    place = indexed(asked, write_tree(tmp_path / "r"), tmp_path)
    code, docs, both = answered(
        asked,
        place,
        [
            asked.request("query", "emb", "load a manifest", 9),
            asked.request("query", "docs", "load a manifest", 9),
            asked.request("probe", "emb", "load a manifest", 4),
        ],
    )
    assert {hit.kind for hit in asked.read_ranking(code, place, 9).ranking} == {"symbol", "file"}
    top = asked.read_ranking(docs, place, 9).ranking[0]
    assert (top.path, top.line, top.end_line, top.kind) == ("README.md", 7, 9, "documentation")
    context = asked.read_context(both, place, 4)
    assert [hit.kind == "documentation" for hit in context.ranking[:2]] == [False, True]
    assert "def load_manifest(path):" in context.text
    assert "## Load a manifest" in context.text


def test_a_context_is_bounded(tmp_path: Path) -> None:
    body = "    value = manifest\n" * 200
    files = {f"m{number}.py": f"def load_{number}():\n{body}" for number in range(60)}
    asked = retriever()
    place = indexed(asked, write_tree(tmp_path / "r", files), tmp_path)
    results = json.loads(run(asked.probe(place, "manifest", 100)).stdout)["results"]
    excerpts = [result["excerpt"] for result in results]
    assert 0 < len(excerpts) < 60
    assert max(map(len, excerpts)) <= 1500
    assert sum(map(len, excerpts)) <= MAX_CONTEXT


@pytest.mark.parametrize("engine", ENGINES)
def test_a_tree_without_units_is_a_failed_index(tmp_path: Path, engine: str) -> None:
    asked = retriever(engine)
    place = prepared(asked, write_tree(tmp_path / "r", {"a.txt": "x", "b.py": "\n"}), tmp_path)
    (step,) = asked.index(place)
    done = run(step)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"found no units" in done.stderr and b"1 empty" in done.stderr
    assert b"Traceback" not in done.stderr
    assert list(place.state.iterdir()) == []


def test_a_repository_with_a_core_of_its_own_does_not_run(tmp_path: Path) -> None:
    trap = f"open({str(tmp_path / 'sprung')!r}, 'w').close()\nraise SystemExit(9)\n"
    files = {
        **PROJECT,
        "core/__init__.py": trap,
        "core/workspace/__init__.py": trap,
        "sitecustomize.py": trap,
        "usercustomize.py": trap,
        "sqlite3.py": trap,
        "json.py": trap,
    }
    asked = retriever()
    repository = write_tree(tmp_path / "r", files)
    place = prepared(asked, repository, tmp_path)
    (step,) = asked.index(place)
    done = run(step, cwd=repository)
    assert (done.returncode, done.stderr) == (0, b"")
    done = run(asked.query(place, "emb", "load manifest", 3), cwd=repository)
    assert asked.read_ranking(done.stdout, place, 3).ranking[0].path == "app/manifest.py"
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"do":"query"}',
        b'{"do":"index","channel":"emb","text":"x","limit":1}',
        b'{"do":"query","channel":"all","text":"x","limit":1}',
        b'{"do":["query"],"channel":"emb","text":"x","limit":1}',
        b'{"do":"query","channel":"emb","text":1,"limit":1}',
        b'{"do":"query","channel":"emb","text":"x","limit":true}',
        b'{"do":"query","channel":"emb","text":"x","limit":0}',
        b'{"do":"query","do":"query","channel":"emb","text":"x","limit":1}',
    ],
)
def test_a_wrong_request_ends_the_session_with_a_message(tmp_path: Path, line: bytes) -> None:
    asked = retriever()
    place = indexed(asked, write_tree(tmp_path / "r"), tmp_path)
    step = asked.session(place)
    assert step is not None
    done = run(step, asked.request("query", "emb", "load", 1) + b"\n" + line + b"\n")
    assert done.returncode == 1
    assert done.stdout.count(b"\n") == 1
    assert done.stderr.startswith(b"core.workspace: ") and b"Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_session_quietly(tmp_path: Path, number: int) -> None:
    asked = retriever()
    place = indexed(asked, write_tree(tmp_path / "r"), tmp_path)
    step = asked.session(place)
    assert step is not None
    pipe = subprocess.PIPE
    with subprocess.Popen(step.argv, cwd=step.cwd, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdin.write(asked.request("query", "emb", "load", 1) + b"\n")
        process.stdin.flush()
        process.stdout.readline()  # answered while the input is still open
        process.send_signal(number)
        assert process.wait(timeout=30) == -number
        assert process.stderr.read() == b""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda place: place.configuration.unlink(), b"cannot be read"),
        (lambda place: place.configuration.write_bytes(b"{"), b"cannot be read"),
        (lambda place: place.configuration.write_bytes(b"{}"), b"not a configuration"),
        (lambda place: os.truncate(place.state / "workspace.sqlite", 5000), b"cannot be read"),
        (lambda place: (place.state / "workspace.sqlite").unlink(), b"holds no index"),
    ],
)
def test_a_broken_place_is_a_message(tmp_path: Path, change: object, words: bytes) -> None:
    asked = retriever()
    place = indexed(asked, write_tree(tmp_path / "r"), tmp_path)
    assert callable(change)
    change(place)
    done = run(asked.query(place, "emb", "load", 1))
    assert done.returncode == 1
    assert words in done.stderr and b"Traceback" not in done.stderr
