"""Nobody waits for a pipe that stands where a file should."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import InputError
from core.regular import read_regular
from core.run.follow import EventTail
from core.run.lock import is_executed, is_held
from core.validation import read_text_file
from tui.settings import read_settings


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@pytest.mark.parametrize("read", [read_regular, lambda path: list(EventTail(path).read())])
def test_a_pipe_is_an_error_with_a_reason(pipe: Path, read: Callable[[Path], object]) -> None:
    with pytest.raises(OSError, match="no regular file"):
        read(pipe)


def test_a_pipe_holds_no_lock(pipe: Path) -> None:
    assert not is_held(pipe) and not is_executed(pipe)


def test_a_pipe_is_no_settings_file_and_stays(pipe: Path) -> None:
    found = read_settings(pipe)
    assert not found.whole and "no regular file" in found.problems[0]


def test_a_pipe_that_a_person_names_is_refused(pipe: Path) -> None:
    with pytest.raises(InputError, match="found a pipe, expected a file"):
        read_text_file(pipe)


def test_what_a_shell_writes_into_a_pipe_of_its_own_is_read() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as stream:
        stream.write(b"told")
    try:
        assert read_text_file(Path(f"/dev/fd/{reading}")) == "told"
    finally:
        os.close(reading)


def test_a_regular_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 100_000)
    assert len(read_regular(tmp_path / "file")) == 100_000
