"""The repository manifest: which Git repositories, at which commits, under which labels."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from core.errors import ProblemsError
from core.git import GitRepository, public_url
from core.text import printable
from core.validation import InputModel, read_json_file, validated

_LABEL = re.compile(r"[A-Za-z0-9_-]{1,64}")


def _label(value: str) -> str:
    if not _LABEL.fullmatch(value):
        raise ValueError("expected 1 to 64 of A-Z, a-z, 0-9, _ and -, as labels name files and cases")
    return value


def _commit(value: str) -> str:
    if len(value) != 40 or value.strip("0123456789abcdef"):
        raise ValueError("expected 40 lower-case hexadecimal digits; `git rev-parse HEAD` prints them")
    return value


def _path(value: Any) -> Any:
    if isinstance(value, str) and (not value or "\0" in value):
        raise ValueError("expected the folder of a Git repository")
    return value


def _url(value: str) -> str:
    public = public_url(value)
    if public is None:
        raise ValueError("expected an https, http, ssh or git address; leave it out where there is none")
    return public


Label = Annotated[str, AfterValidator(_label)]
Commit = Annotated[str, AfterValidator(_commit)]
Url = Annotated[str, AfterValidator(_url)]


class RepositoryEntry(InputModel):
    """One repository: where it lies, what it is called, and which commit is meant (None: HEAD).

    `url` is where others find it, kept without user and password. `private` keeps its queries, paths
    and excerpts out of everything that leaves the machine.
    """

    label: Label = Field(description="What cases and reports call it; the bank's own word for it.")
    path: Annotated[Path, Field(strict=False), BeforeValidator(_path)] = Field(
        description="The folder of the Git repository, from this file's folder."
    )
    commit: Commit | None = Field(
        default=None, description="40 hexadecimal digits; the bank's commit where it is left out."
    )
    url: Url | None = Field(default=None, description="Where others find it.")
    private: bool = Field(
        default=False, description="Keeps its queries, paths and excerpts out of reports and exports."
    )


class RepositoryManifest(InputModel):
    """The manifest file."""

    schema_version: Literal[1]
    repositories: list[RepositoryEntry] = Field(min_length=1)


def read_repository_manifest(path: Path) -> tuple[RepositoryEntry, ...]:
    """Return a manifest's repositories in its order, with absolute paths.

    A relative path counts from the folder of the manifest itself, not from the working directory, so
    that a manifest means the same wherever it is used. Raises InputError, or ProblemsError that names
    every problem.
    """
    manifest = validated(RepositoryManifest, read_json_file(path), str(path))
    entries = manifest.repositories
    first: dict[str, int] = {}
    problems = [
        f'repositories[{number}].label: found "{entry.label}" again, expected a label of its own '
        f"(repositories[{first[entry.label]}] has it); rename one"
        for number, entry in enumerate(entries)
        if first.setdefault(entry.label, number) != number
    ]
    if problems:
        raise ProblemsError(f"{printable(str(path))} is not valid:", problems)
    folder = path.absolute().parent
    return tuple(entry.model_copy(update={"path": folder / entry.path}) for entry in entries)


def pinned(entry: RepositoryEntry) -> RepositoryEntry:
    """Return the entry with the commit at HEAD where it names none; raises InputError."""
    if entry.commit is not None:
        return entry
    with GitRepository(entry.path) as repository:
        return entry.model_copy(update={"commit": repository.head()})
