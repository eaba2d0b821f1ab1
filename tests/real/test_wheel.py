"""The wheel, installed into an empty environment, holds all that the app needs, and starts it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.real.environments import environment, locked, unavailable
from tests.support.terminal import ROOT, TerminalApp

BUILDER = ("hatchling>=1.25",)
MINUTES = 10
SIZE = (100, 30)


def run(*words: object) -> subprocess.CompletedProcess[str]:
    argv = [str(word) for word in words]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=MINUTES * 60, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    built = run(
        environment("wheel", BUILDER) / "python", "-m", "hatchling", "build", "-t", "wheel", "-d", folder
    )
    assert built.returncode == 0, built.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the programs of an empty environment that the wheel was installed into."""
    folder = tmp_path_factory.mktemp("empty")
    assert run(sys.executable, "-m", "venv", folder).returncode == 0
    pip = (folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check")
    with locked(f"wheels-{sys.implementation.cache_tag}") as kept:
        kept.mkdir(exist_ok=True)
        install = (*pip, "install", "--quiet", "--no-index", "--find-links", kept, wheel)
        if run(*install).returncode:
            fetched = run(*pip, "download", "--quiet", "--dest", kept, wheel)
            if fetched.returncode:
                unavailable(f"what the wheel depends on cannot be fetched: {fetched.stderr.strip()[-600:]}")
            done = run(*install)
            assert done.returncode == 0, done.stderr
    return folder / "bin"


def test_the_wheel_holds_the_program_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        styles = archive.read("tui/screens.css")
    assert styles == (ROOT / "screens.css").read_bytes()
    inside = {name.split("/")[0] for name in names}
    assert {name for name in inside if not name.endswith(".dist-info")} == {"core", "tui"}
    tracked = run("git", "ls-files", "core", "tui")
    if tracked.returncode == 0:
        assert {*tracked.stdout.split()} <= {*names}
    assert not any(name.endswith((".pyc", ".sqlite")) for name in names)


def test_the_app_starts_from_the_wheel_alone(installed: Path, tmp_path: Path) -> None:
    environment = {
        "PATH": f"{installed}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    folder = tmp_path / "work"
    folder.mkdir()
    command = (str(installed / "boresight"),)
    with TerminalApp(("--folder", str(folder)), SIZE, environment, command=command, cwd=folder) as app:
        app.wait_for("No runs and no campaigns")
        app.wait_for("Try the built-in sample")
        app.press("?", "Every run below this folder")
        app.press_away("q", "Every run below this folder")
        assert app.leave() == 0, app.tail()
    done = subprocess.run(
        [str(installed / "python"), "-c", "import tui.app; print(tui.app.stylesheet())"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(done.stdout.strip()).is_relative_to(installed.parent)
