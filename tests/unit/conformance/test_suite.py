from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.conformance.suite import Finding, check, conforms
from tests.support.own_tool import SESSION, own_tool, trial


async def findings(folder: Path, query: str | None = None, **changes: Any) -> dict[str, Finding]:
    async with trial(folder, own_tool(**changes)) as opened:
        return {finding.check: finding async for finding in check(opened, query)}


async def test_a_sound_tool_conforms(tmp_path: Path) -> None:
    found = await findings(tmp_path)
    assert conforms(list(found.values())), found
    assert list(found) == [
        *("index", "start", "answers (emb)", "answers (docs)", "paths", "level"),
        *("same twice", "limits", "nothing found", "odd characters", "repository"),
    ]
    assert found["index"].found == "none: it searches the 2 files themselves"
    assert "'load_records': 1 result" in found["answers (emb)"].found


async def test_a_session_is_checked_as_well(tmp_path: Path) -> None:
    async with trial(tmp_path, own_tool(SESSION)) as opened:
        found = [finding async for finding in check(opened)]
    assert conforms(found) and "the session starts" in found[1].found


@pytest.mark.parametrize(
    ("query", "changes", "name", "told"),
    [
        ("banner", {}, "start", "print the answer alone on stdout"),
        ("outside", {}, "start", "print paths below the repository"),
        ("lost", {}, "paths", "start at the repository's root"),
        ("beyond", {}, "paths", "lines count from 1"),
        ("no-lines", {}, "level", 'set the level to "file"'),
        ("random", {}, "same twice", "fix its seed"),
        ("writes", {}, "repository", "config.writes_repository = true"),
        ("load", {"index": [["true"]]}, "index", "leave its index in {state}"),
    ],
)
async def test_what_a_tool_gets_wrong_is_to_be_mended(
    tmp_path: Path, query: str, changes: dict[str, Any], name: str, told: str
) -> None:
    found = await findings(tmp_path, query, **changes)
    assert found[name].verdict == "fix", found
    assert told in found[name].remedy
    assert not conforms(list(found.values()))


@pytest.mark.parametrize(
    ("query", "name", "told"),
    [
        ("surplus", "limits", "more rows than were asked for"),
        ("twice", "limits", "came twice"),
        ("zzzzzz", "answers (emb)", "nothing was found"),
    ],
)
async def test_what_is_dropped_or_found_empty_is_worth_knowing(
    tmp_path: Path, query: str, name: str, told: str
) -> None:
    found = await findings(tmp_path, query)
    assert found[name].verdict == "note" and told in found[name].found
    assert conforms(list(found.values()))


async def test_an_index_that_nobody_counts_is_worth_knowing(tmp_path: Path) -> None:
    found = await findings(tmp_path, index=[["touch", "{state}/index"]])
    assert found["index"].verdict == "note" and "config.verify" in found["index"].remedy


async def test_a_query_taken_for_an_option_is_to_be_mended(tmp_path: Path) -> None:
    program = tmp_path / "optional.py"
    program.write_text(
        "import argparse, json, pathlib\n"
        "parser = argparse.ArgumentParser()\n"
        "parser.add_argument('text')\n"
        "parser.parse_args()\n"
        'print(json.dumps({"command": "search", "hits": []}))\n'
    )
    async with trial(tmp_path, own_tool(query=["python3", "{manifest}/optional.py", "{query}"])) as opened:
        bad = {finding.check: finding async for finding in check(opened)}
    assert bad["odd characters"].verdict == "fix"
    assert '"--" before {query}' in bad["odd characters"].remedy
