from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from core.errors import InputError
from core.retrievers.asking import ask

ENVIRONMENT = "import os; print(sorted(os.environ)); print(os.environ['HOME'], os.environ.get('KEY'))"


def run(program: str, home: Path, **options: object) -> str:
    told = ask((sys.executable, "-I", "-c", program), {"ADDED": "1"}, home=home, cwd=home, **options)  # type: ignore[arg-type]
    return told.stdout.decode()


def test_only_what_is_named_reaches_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "secret")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    names, rest = run(ENVIRONMENT, tmp_path).splitlines()
    assert "ADDED" in names
    assert "KEY" not in names and "PYTHONPATH" not in names
    assert rest == f"{tmp_path} None"
    assert run(ENVIRONMENT, tmp_path, secrets=("KEY",)).splitlines()[1] == f"{tmp_path} secret"


def test_what_does_not_end_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    program = """if True:
        import subprocess
        child = subprocess.Popen(["sleep", "60"])
        open("pid", "w").write(str(child.pid))
        child.wait()
    """
    with pytest.raises(InputError, match="did not end within 1 s"):
        run(program, tmp_path, timeout_s=1.0)
    pid = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and _state(pid) != "Z" and time.monotonic() < until:
        time.sleep(0.01)
    assert not Path(f"/proc/{pid}").exists() or _state(pid) == "Z"


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="could not be started: No such file"):
        ask(("/no/such/tool",), os.environ, home=tmp_path, cwd=tmp_path)
