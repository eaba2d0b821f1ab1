"""What a user's own tool can get wrong: each has a defined outcome, by a name and in plain words."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from core.conformance.remedies import remedy
from core.conformance.trial import Tried
from core.errors import InputError
from tests.support.own_tool import SESSION, own_tool, trial


async def ask(folder: Path, text: str, limit: int = 5, **changes: Any) -> Tried:
    async with trial(folder, own_tool(**changes)) as opened:
        assert (await opened.index()).accepted
        return await opened.ask("primary", "emb", text, limit)


async def test_an_answer_is_shown_with_its_command_and_reading(tmp_path: Path) -> None:
    tried = await ask(tmp_path, "load_records")
    assert tried.accepted and tried.answer is not None
    assert [location[:2] for location in tried.answer.ranking] == [("store/records.py", 4)]
    (step,) = tried.command["steps"]
    assert step["cwd"] == "{repository}" and step["argv"][-1] == "load_records"
    assert b'"at": 4' in tried.stdout and tried.stdout_bytes == len(tried.stdout)
    assert tried.seconds is not None


@pytest.mark.parametrize(
    ("fault", "kind", "told"),
    [
        ("banner", "invalid_json", "Loading the model..."),
        ("error-object", "tool_error", "no such index"),
        ("other-command", "wrong_answer", "expected 'search'"),
        ("nothing", "empty_output", "found nothing"),
        ("outside", "outside_repository", "../elsewhere.py"),
        ("absolute-outside", "outside_repository", "/etc/passwd"),
    ],
)
async def test_a_wrong_answer_fails_by_its_own_name(tmp_path: Path, fault: str, kind: str, told: str) -> None:
    tried = await ask(tmp_path, fault)
    assert (tried.validation.status, tried.validation.error_class) == ("failed", kind)
    assert told in str(tried.validation.message)
    assert tried.answer is None and remedy(tried.validation)


async def test_absolute_paths_inside_the_repository_are_made_relative(tmp_path: Path) -> None:
    tried = await ask(tmp_path, "absolute-inside")
    assert tried.answer is not None and tried.answer.ranking[0].path == "store/records.py"


async def test_noise_on_stderr_is_kept_and_harms_nothing(tmp_path: Path) -> None:
    tried = await ask(tmp_path, "noise")
    assert tried.accepted and tried.stderr_bytes > 20_000


async def test_duplicate_rows_are_dropped_and_counted(tmp_path: Path) -> None:
    tried = await ask(tmp_path, "twice")
    assert tried.answer is not None
    assert (len(tried.answer.ranking), tried.answer.duplicates) == (2, 1)


async def test_rows_without_lines_are_results_without_lines(tmp_path: Path) -> None:
    tried = await ask(tmp_path, "no-lines")
    assert tried.answer is not None and tried.answer.ranking[0].line is None


async def test_more_rows_than_asked_are_dropped_and_counted(tmp_path: Path) -> None:
    tried = await ask(tmp_path, "surplus", limit=5)
    assert tried.answer is not None
    assert (len(tried.answer.ranking), tried.answer.surplus) == (5, 94)


async def test_a_secret_reaches_the_tool_and_is_shown_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_TOOL_KEY", "hunter2")
    tried = await ask(tmp_path, "secret", secrets=["OWN_TOOL_KEY"])
    assert tried.validation.error_class == "nonzero_exit"
    assert tried.command["steps"][0]["secrets"] == ["OWN_TOOL_KEY"]
    assert tried.stderr == b"{OWN_TOOL_KEY}\n"
    assert "hunter2" not in repr(tried)


async def test_a_query_that_no_argument_can_hold_fails_by_name(tmp_path: Path) -> None:
    tried = await ask(tmp_path, "a\0b")
    assert tried.validation.error_class == "unpassable_query" and tried.command["steps"] == []


async def test_a_session_is_asked_line_by_line(tmp_path: Path) -> None:
    async with trial(tmp_path, own_tool(SESSION)) as opened:
        await opened.index()
        first = await opened.ask("primary", "emb", "load_records", 5)
        wrong = await opened.ask("primary", "emb", "out-of-step", 5)
        after = await opened.ask("primary", "emb", "a\0b 'quoted'\n", 5)
    assert first.accepted and first.command["form"] == "session"
    assert wrong.validation.error_class == "out_of_step"
    assert after.accepted  # in a session of its own, as the last one was out of step


async def test_a_missing_executable_is_told_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no executable 'no-such-tool' is in PATH"):
        trial(tmp_path, own_tool(query=["no-such-tool", "{query}"]))


async def test_an_index_step_that_writes_into_the_repository_is_refused(tmp_path: Path) -> None:
    index = [["sh", "-c", 'touch "$1/x" "$2/index"', "sh", "{repository}", "{state}"]]
    async with trial(tmp_path, own_tool(index=index)) as opened:
        tried = await opened.index()
    assert tried.validation.error_class == "repository_changed"


async def test_an_index_step_that_changes_files_of_the_repository_is_refused_by_name(tmp_path: Path) -> None:
    index = [["sh", "-c", 'chmod u+w "$1" && echo x >> "$1"', "sh", "{repository}/store/records.py"]]
    async with trial(tmp_path, own_tool(index=index)) as opened:
        tried = await opened.index()
    assert tried.validation.error_class == "repository_changed"
    assert "changed: store/records.py" in str(tried.validation.message)


async def test_the_same_step_may_write_into_a_copy(tmp_path: Path) -> None:
    index = [["sh", "-c", 'mkdir "$1/.own" && echo x > "$1/.own/index"', "sh", "{repository}"]]
    declared = own_tool(index=index, writes_repository=True, index_paths=["{repository}/.own/index"])
    async with trial(tmp_path, declared) as opened:
        tried = await opened.index()
        assert tried.accepted and tried.validation.units == 1
        assert (await opened.ask("primary", "emb", "load_records", 5)).accepted
        assert opened.changed_files() == []


async def test_an_index_step_that_leaves_nothing_is_an_empty_index(tmp_path: Path) -> None:
    async with trial(tmp_path, own_tool(index=[["true"]])) as opened:
        tried = await opened.index()
    assert tried.validation.error_class == "empty_index"


async def test_an_index_that_its_tool_counts_short_is_incomplete(tmp_path: Path) -> None:
    count = ["sh", "-c", 'echo "{{\\"units\\": 3, \\"expected\\": 5}}"']
    async with trial(tmp_path, own_tool(index=[["touch", "{state}/index"]], verify=count)) as opened:
        tried = await opened.index()
    assert (tried.validation.error_class, tried.validation.message) == (
        "incomplete_index",
        "found 3 units, expected 5",
    )


async def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    await ask(tmp_path, "load_records")
    assert list((tmp_path / "temporary").iterdir()) == []


async def test_a_replay_has_nothing_to_try(tmp_path: Path) -> None:
    entry = {"id": "own", "retriever": "replay", "config": {"run_file": "a.run", "level": "exact"}}
    with pytest.raises(InputError, match="is a replay"):
        trial(tmp_path, entry)
