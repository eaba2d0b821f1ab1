"""How long a bank build takes beside `ast.parse` alone over the same blobs.

The repository holds the standard library's own sources. Both are measured in turn, in processor seconds of
this process and of the Git process that it reads from, since other work on the machine blurs wall time.
"""

from __future__ import annotations

import ast
import shutil
import sysconfig
import tempfile
import warnings
from pathlib import Path

from core import api
from core.git import GitRepository
from core.repositories import RepositoryEntry
from tests.bench.row import Row, cpu_seconds, paired_ratio, seconds
from tests.support.repositories import git

PER_INTENT = 50
INTENTS = ("symbol_lookup", "architecture_lookup", "task_lookup", "error_or_trace_lookup")
TIMES = 5


def rows() -> list[Row]:
    """Return the row of the bank build."""
    with tempfile.TemporaryDirectory(prefix="boresight-bench-") as folder:
        entry = library_repository(Path(folder, "library"))
        with GitRepository(entry.path) as repository:
            blobs = [
                repository.blob(item.oid)
                for item in repository.entries(str(entry.commit))
                if item.path.endswith(b".py") and not _excluded(item.path)
            ]
        numbers = iter(range(10 * TIMES))

        def build() -> float:
            cases = Path(folder, f"cases-{next(numbers)}.jsonl")
            return seconds(lambda: api.build_bank([entry], PER_INTENT, INTENTS, cases), cpu_seconds)

        ratio, built, parsed = paired_ratio(build, lambda: seconds(lambda: parse(blobs), cpu_seconds), TIMES)
    return [
        Row(
            "bank build",
            f"≤ 1.3 × ast.parse over the same {len(blobs):,} blobs",
            f"{built:.2f} s, ast.parse {parsed:.2f} s (processor time)",
            ratio,
            1.3,
        )
    ]


def library_repository(folder: Path) -> RepositoryEntry:
    """Commit the running Python's standard library, its tests included, without what is installed into it."""
    library = Path(sysconfig.get_paths()["stdlib"])
    shutil.copytree(library, folder, ignore=_not_source)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message", "The standard library")
    commit = git(folder, "rev-parse", "HEAD").decode().strip()
    return RepositoryEntry(label="library", path=folder, commit=commit)


def parse(blobs: list[bytes]) -> None:
    """Parse every blob, as the build does: in silence, passing over what does not parse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for blob in blobs:
            try:
                ast.parse(blob)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue


def _not_source(folder: str, names: list[str]) -> set[str]:
    unwanted = {"site-packages", "__pycache__", "lib-dynload"}
    return {
        name
        for name in names
        if name in unwanted or not (name.endswith((".py", ".md")) or Path(folder, name).is_dir())
    }


def _excluded(path: bytes) -> bool:
    from core.banks.derivation import EXCLUDED_FOLDERS

    return not EXCLUDED_FOLDERS.isdisjoint(path.split(b"/"))
