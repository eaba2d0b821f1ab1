from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import InputError
from core.retrievers.python_tool import (
    PythonTool,
    environment_fingerprint,
    find_executable,
    python_tool,
    script_digest,
    tool_output,
)


def script(path: Path, text: str, first: str = f"#!{sys.executable}\n") -> Path:
    """Write an executable script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(first + text)
    path.chmod(0o755)
    return path


def pretend(folder: Path, packages: Path) -> Path:
    """Return an interpreter that answers as one whose packages lie in `packages`."""
    told = {"python": "CPython 3.99.0", "path": [str(packages)], "packages": [str(packages)]}
    return script(folder / "python3", f"echo '{json.dumps(told)}'\n", "#!/bin/sh\n")


def distribution(packages: Path, name: str, version: str, record: str = "") -> Path:
    """Install the metadata of a distribution."""
    folder = packages / f"{name}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (folder / "RECORD").write_text(record)
    return folder


@pytest.fixture
def tool(tmp_path: Path) -> Callable[[], Path]:
    packages = tmp_path / "packages"
    distribution(packages, "Some_Tool", "1.2", "tool.py,sha256=abc,3\n")
    interpreter = pretend(tmp_path, packages)
    return lambda: script(tmp_path / "bin" / "tool", "main()\n", f"#!{interpreter}\n")


FORMS = (
    "#!{python}\n",
    "#! {python} -s\n",
    '#!"{python}"\n',
    "#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n' '''\n",
    "#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n",
)


@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_naming_an_interpreter_is_read_and_left_out_of_the_digest(
    tmp_path: Path, form: str
) -> None:
    path = script(tmp_path / "tool", "main()\n", form.format(python=sys.executable))
    assert python_tool(path) == PythonTool(path, Path(sys.executable))
    assert script_digest(path) == script_digest(script(tmp_path / "other", "main()\n", "#!/opt/python3.99\n"))
    for number, text in enumerate(("main() \n", "main()\nmore()\n", "")):
        edited = script(tmp_path / str(number), text)
        assert script_digest(path) != script_digest(edited)


@pytest.mark.parametrize("first", ["#!/usr/bin/env python3\n", "#! /bin/env -S python3 -u\n"])
def test_an_interpreter_that_env_finds_is_the_one_in_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    interpreter = pretend(tmp_path / "bin", tmp_path / "packages")
    path = script(tmp_path / "tool", "main()\n", first)
    monkeypatch.setenv("PATH", f"{interpreter.parent}:/usr/bin:/bin")
    assert python_tool(path) == PythonTool(path, interpreter)
    assert environment_fingerprint(path)["python"] == "CPython 3.99.0"
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="its interpreter python3 is not in PATH; install it"):
        python_tool(path)


def test_an_executable_of_another_kind_is_known_by_its_digest_alone(tmp_path: Path) -> None:
    path = script(tmp_path / "tool", "echo\n", "#!/bin/sh\n")
    assert python_tool(path) is None
    assert set(environment_fingerprint(path)) == {"script_sha256"}


def test_an_environment_is_told_with_each_distribution(tool: Callable[[], Path]) -> None:
    found = environment_fingerprint(tool())
    assert found["python"] == "CPython 3.99.0"
    assert found["distributions"]["some-tool"]["version"] == "1.2"
    assert found["loose"] == {}


def test_what_is_installed_beside_changes_the_fingerprint(tool: Callable[[], Path], tmp_path: Path) -> None:
    before = environment_fingerprint(tool())
    distribution(tmp_path / "packages", "library", "3")
    with_library = environment_fingerprint(tool())
    assert with_library["distributions"].keys() - before["distributions"].keys() == {"library"}
    (tmp_path / "packages" / "sitecustomize.py").write_text("patched = True\n")
    assert list(environment_fingerprint(tool())["loose"]) == ["sitecustomize.py"]


def test_an_editable_distribution_is_known_by_its_sources(tool: Callable[[], Path], tmp_path: Path) -> None:
    source = tmp_path / "checkout"
    (source / ".venv").mkdir(parents=True)
    (source / "module.py").write_text("one = 1\n")
    installed = distribution(tmp_path / "packages", "mine", "0.1")
    (installed / "direct_url.json").write_text(
        json.dumps({"url": source.as_uri(), "dir_info": {"editable": True}})
    )

    def told() -> str:
        return str(environment_fingerprint(tool())["distributions"]["mine"]["editable_sha256"])

    before = told()
    (source / ".venv" / "other.py").write_text("")
    assert told() == before
    (source / "module.py").write_text("one = 2\n")
    assert told() != before


def test_boresight_itself_is_left_out(tool: Callable[[], Path], tmp_path: Path) -> None:
    distribution(tmp_path / "packages", "boresight", "9")
    assert "boresight" not in environment_fingerprint(tool())["distributions"]


def test_an_interpreter_that_is_gone_or_mute_is_named(tmp_path: Path) -> None:
    gone = script(tmp_path / "gone", "", f"#!{tmp_path}/absent/python3\n")
    with pytest.raises(InputError, match=r"its interpreter .* is gone; make its environment anew"):
        environment_fingerprint(gone)
    script(tmp_path / "python3", "exit 3\n", "#!/bin/sh\n")
    mute = script(tmp_path / "mute", "", f"#!{tmp_path}/python3\n")
    with pytest.raises(InputError, match="does not answer"):
        environment_fingerprint(mute)


def test_an_executable_is_found_by_name_or_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = script(tmp_path / "bin" / "tool", "")
    monkeypatch.setenv("PATH", str(path.parent))
    assert find_executable("tool", tmp_path, "config.executable", "install it") == path
    assert find_executable("bin/tool", tmp_path, "config.executable", "install it") == path
    for name, words in (
        ("other", "config.executable: no executable 'other' is in PATH; install it"),
        ("bin/other", "there is no such file; install it"),
        ("./bin", "bin: is a folder, expected a program; install it"),
        ("bin/a\0b", "bin/a␀b: there is no such file"),
        ("a\0b", "no executable 'a␀b'"),
    ):
        with pytest.raises(InputError) as caught:
            find_executable(name, tmp_path, "config.executable", "install it")
        assert words in str(caught.value)


def test_a_tool_is_asked_with_an_empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    path = script(tmp_path / "tool", 'ls -A "$HOME"; echo "${SECRET-none}" "$1"\n', "#!/bin/sh\n")
    assert tool_output(path, "--version") == "none --version\n"


def test_a_tool_that_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    path = script(tmp_path / "tool", "echo first >&2; echo last >&2; exit 3\n", "#!/bin/sh\n")
    with pytest.raises(InputError, match=r"tool --version: ended with status 3: last"):
        tool_output(path, "--version")
