"""What ships with Boresight to try it on: three candidates and a small project with known answers.

`candidates.json` is a model manifest with the baseline `lexical`, the dense `minilm` and their fusion
`hybrid`, which read the 256 tokens of a unit that the model was made for. `boresight quickstart` lowers
`max_tokens` where a repository is too large to embed within its minute: a unit's text begins with its name
and docstring, so names and docstrings are found nearly as often, and messages raised inside long functions
less often (Click and Rich, 1,881 units: in the first ten, 44 % of 64 messages with 48 tokens, 56 % with 128).

`project/` is the source of the sample repository. `graded.json` is a graded bank on it, and
`graded_sources.json` names for each of its gold facts the module and the line that it was drawn from.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NamedTuple

from core.errors import InputError
from core.git_command import run_git
from core.text import printable

CANDIDATES = Path(str(files(__name__) / "candidates.json"))
GRADED = Path(str(files(__name__) / "graded.json"))
GRADED_SOURCES = Path(str(files(__name__) / "graded_sources.json"))
_PERSON = "Boresight <boresight@localhost> 1735689600 +0000"  # 2025-01-01
_MESSAGE = b"Keep the books of a tool library\n"
_ENDINGS = (".py", ".md")


class _File(NamedTuple):
    path: str  # relative to the repository
    data: bytes


def make_sample_repository(destination: Path) -> str:
    """Make the sample project into a Git repository at a new path and return its commit, 40 hex digits.

    The commit is the same everywhere, whatever Git is configured to do. Raises InputError where the
    path exists or cannot be written, or Git is missing; nothing is left behind then.
    """
    shown = printable(str(destination))
    if destination.exists() or destination.is_symlink():
        raise InputError(f"{shown}: exists already; name a path where the sample can be put")
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{destination.name}.", dir=destination.parent))
    except OSError as error:
        raise InputError(f"{shown}: cannot be made: {error.strerror}; name another path") from None
    try:
        commit = _commit(partial, list(_project_files()))
        partial.rename(destination)
    except OSError as error:
        raise InputError(f"{shown}: cannot be written: {error.strerror}; name another path") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return commit


def _commit(folder: Path, project: list[_File]) -> str:
    for file in project:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)
    # An empty template leaves out the hooks that a machine may hand to every new repository.
    _git(folder, "init", "--quiet", "--object-format=sha1", "--initial-branch=main", "--template=")
    _git(folder, "fast-import", "--quiet", stdin=_stream(project))
    _git(folder, "read-tree", "main")
    return _git(folder, "rev-parse", "main").decode().strip()


def _stream(project: list[_File]) -> bytes:
    """Return the commit in the language of git-fast-import."""
    head = f"commit refs/heads/main\nauthor {_PERSON}\ncommitter {_PERSON}\ndata {len(_MESSAGE)}\n"
    changes = (
        f"M 100644 inline {file.path}\ndata {len(file.data)}\n".encode() + file.data + b"\n"
        for file in project
    )
    return head.encode() + _MESSAGE + b"".join(changes)


def _git(folder: Path, *arguments: str, stdin: bytes | None = None) -> bytes:
    outcome = run_git(*arguments, directory=folder, stdin=stdin)
    if outcome.status:
        raise InputError(f"the sample repository cannot be made: git {arguments[0]}: {outcome.complaint}")
    return outcome.stdout


def _project_files() -> Iterator[_File]:
    """Yield the project's own files by path, whatever an installer compiled beside them."""
    waiting: list[tuple[str, Traversable]] = [("", files(__name__) / "project")]
    found = []
    while waiting:
        prefix, folder = waiting.pop()
        for entry in folder.iterdir():
            if entry.is_dir() and entry.name != "__pycache__":
                waiting.append((f"{prefix}{entry.name}/", entry))
            elif entry.name.endswith(_ENDINGS):
                # A checkout of Boresight may have turned line ends.
                found.append(_File(prefix + entry.name, entry.read_bytes().replace(b"\r\n", b"\n")))
    yield from sorted(found)
