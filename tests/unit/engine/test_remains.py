"""What a killed execution left running is known by the token that its run keeps."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.engine.process_tree import MARKER
from core.engine.remains import end_remains, note_token

TOKEN = "0123456789abcdef" * 2


@pytest.fixture
def remains() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "1000"], env={MARKER: f"{TOKEN}:3"})
    yield process
    process.kill()
    process.wait()


def test_what_runs_under_the_token_is_killed(tmp_path: Path, remains: subprocess.Popen[bytes]) -> None:
    note_token(tmp_path / "mark", TOKEN)
    assert end_remains(tmp_path / "mark") == 1
    assert remains.wait(10) == -signal.SIGKILL


def test_a_renamed_run_still_knows_its_own(tmp_path: Path, remains: subprocess.Popen[bytes]) -> None:
    note_token(tmp_path / "mark", TOKEN)
    (tmp_path / "mark").rename(tmp_path / "moved")
    assert end_remains(tmp_path / "moved") == 1


def test_a_copy_names_nobody(tmp_path: Path, remains: subprocess.Popen[bytes]) -> None:
    note_token(tmp_path / "mark", TOKEN)
    shutil.copy(tmp_path / "mark", tmp_path / "copy")
    assert end_remains(tmp_path / "copy") == 0
    assert remains.poll() is None


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"token": 1}', "\xe4", '{"token": "", "file": []}'])
def test_a_file_that_is_missing_cut_or_foreign_names_nobody(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "mark").write_text(text, encoding="latin-1")
    assert end_remains(tmp_path / "mark") == 0
