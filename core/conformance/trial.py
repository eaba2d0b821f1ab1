"""One candidate on one repository in a temporary folder: asked as a run would ask it, and nothing kept."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from core.banks.case import FORMAT, Case, Evidence
from core.campaign.manifest import Candidate, Limits
from core.campaign.places import cell_place, configuration_path
from core.campaign.sources import FrozenSource, freeze, verify_frozen
from core.engine.cell import Cell
from core.engine.executor import Executor, prepare_state, restored_tree
from core.engine.processes import Sample
from core.errors import IdentityError, InputError
from core.git import GitRepository
from core.ranking import Channel
from core.repositories import RepositoryEntry, pinned
from core.retrievers.protocol import Answer, Context, Retriever, UnpassableError
from core.retrievers.registry import create_retriever
from core.run.evidence import Attempt, Validation, begin_attempt
from core.run.layout import INDEX, Operation, RunLayout
from core.run.measurement import Measurement

HEAD_BYTES = 64 * 1024


class Tried(NamedTuple):
    """What one operation did, and how its output was read.

    `command` is as evidence keeps it; `stdout` and `stderr` are the beginnings of what was printed, of
    `stdout_bytes` and `stderr_bytes` in all. `answer` and `context` are there where they were accepted;
    `seconds` is None where nothing was started.
    """

    command: Mapping[str, Any]
    validation: Validation
    measurement: Measurement | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    answer: Answer | None = None
    context: Context | None = None

    @property
    def accepted(self) -> bool:
        """Whether a run would accept it."""
        return self.validation.status == "accepted"

    @property
    def seconds(self) -> float | None:
        """Wall-clock seconds, by the supervisor's clock."""
        return self.measurement.elapsed_s if self.measurement else None


class Trial:
    """Open it with `async with`; raises InputError where the candidate or the repository cannot be used."""

    def __init__(self, candidate: Candidate, entry: RepositoryEntry, limits: Limits, depth: int) -> None:
        self._candidate = candidate
        self._limits = limits
        self._depth = depth
        self.retriever: Retriever = create_retriever(candidate.entry, candidate.base, candidate.source)
        if not self.retriever.features.executes:
            raise InputError(
                f"{candidate.id}: is a replay of answers that were given before, so there is nothing to try; "
                "`boresight run` scores it"
            )
        self.fingerprint: Mapping[str, Any] = self.retriever.fingerprint()
        self.entry = pinned(entry)
        self._asked = 0

    async def __aenter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="boresight-trial-")).resolve()
        try:
            self._layout = RunLayout(self._folder / "run")
            for folder in (self._layout.repositories, self._layout.configurations):
                folder.mkdir(parents=True, mode=0o700)
            self.source: FrozenSource = self._freeze()
            path = configuration_path(self._layout, self._candidate.id, self.retriever)
            path.write_bytes(self.retriever.configuration().text)
            self._executor = Executor(self._limits, self._layout.supervisor, _ignore)
            await self._executor.start(None)
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self._executor.close_sessions()
            await self._executor.close()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def cell(self) -> Cell:
        """The cell that is tried."""
        candidate, label = self._candidate.id, self.entry.label
        place = cell_place(self._layout, candidate, label, self.retriever)
        return Cell(candidate, label, "trial", self.retriever, self._layout, place, self._depth, self._depth)

    @property
    def tree(self) -> Path:
        """The repository's files as the candidate finds them."""
        return self.cell.place.repository

    async def index(self) -> Tried:
        """Build the index from empty state, and verify it."""
        cell = self.cell
        prepare_state(cell)
        operation = Operation(cell.candidate, cell.repository, INDEX)
        attempt = begin_attempt(self._layout, operation, cell.expected_command(operation, None))
        command = cell.expected_command(operation, None)
        if not cell.starts_process(INDEX):
            return Tried(command, cell.answer_without_process(operation, attempt.stdout))
        measurement = await self._executor.index(cell, attempt)
        validation = cell.judge(INDEX, measurement, attempt)
        try:
            changed = None if self.retriever.features.writes_repository else restored_tree(cell)
        except IdentityError:  # tracked files, which cannot be brought back
            told = "; ".join(self.changed_files()[:3])
            validation = Validation(
                "failed",
                "repository_changed",
                f"the index step changed files of the repository, which would end a run: {told}",
            )
            return _tried(command, validation, measurement, attempt)
        if changed and validation.status == "accepted":
            validation = Validation(
                "failed", "repository_changed", f"the index step wrote into the repository: {changed}"
            )
        return _tried(command, validation, measurement, attempt)

    async def ask(self, kind: str, channel: Channel, text: str, limit: int) -> Tried:
        """Ask one query (`primary`) or probe (`ctx`) for at most `limit` results."""
        cell = replace(self.cell, depth=limit, probe_depth=limit)
        self._asked += 1
        operation = Operation(cell.candidate, cell.repository, kind, f"trial-{self._asked}")
        case = _case(cell.repository, str(self.entry.commit), channel, text)
        try:
            command = cell.expected_command(operation, case)
        except UnpassableError as error:
            return Tried({"steps": []}, Validation("failed", "unpassable_query", str(error)))
        attempt = begin_attempt(self._layout, operation, command)
        measurement = await self._executor.ask(cell, kind, case, attempt)
        validation = cell.judge(kind, measurement, attempt, case)
        if cell.uses_session and validation.status != "accepted":
            await self._executor.end_session(cell)
        tried = _tried(command, validation, measurement, attempt)
        if not tried.accepted:
            return tried
        stdout = attempt.stdout.read_bytes()
        if kind == "ctx":
            return tried._replace(context=self.retriever.read_context(stdout, cell.place, limit))
        return tried._replace(answer=self.retriever.read_ranking(stdout, cell.place, limit))

    def changed_files(self) -> list[str]:
        """Return what differs in the frozen tree, safe to show."""
        return verify_frozen(self._layout.repositories, self.source)

    def _freeze(self) -> FrozenSource:
        with GitRepository(self.entry.path) as repository:
            return freeze(repository, self.entry, self._layout.repositories)


def _case(label: str, commit: str, channel: Channel, text: str) -> Case:
    return Case(channel, commit, Evidence("trial", "0" * 64), "trial", "trial", text, label, FORMAT, ())


def _tried(
    command: Mapping[str, Any], validation: Validation, measurement: Measurement, attempt: Attempt
) -> Tried:
    hide = _Secrets(command)
    stdout, stderr = _printed(attempt.stdout), _printed(attempt.stderr)
    if validation.message is not None:
        message = hide(validation.message.encode("utf-8", "replace")).decode("utf-8", "replace")
        validation = replace(validation, message=message)
    heads = hide(stdout.head), hide(stderr.head)
    return Tried(command, validation, measurement, *heads, stdout.size, stderr.size)


class _Secrets:
    """Puts names in place of the values of a command's secrets, should the tool print them."""

    def __init__(self, command: Mapping[str, Any]) -> None:
        names = {name for step in command["steps"] for name in step.get("secrets", ())}
        self._values = {name: value for name in names if (value := os.environb.get(name.encode(), b""))}

    def __call__(self, text: bytes) -> bytes:
        for name, value in self._values.items():
            text = text.replace(value, b"{" + name.encode() + b"}")
        return text


class _Printed(NamedTuple):
    head: bytes
    size: int


def _printed(path: Path) -> _Printed:
    try:
        with open(path, "rb") as stream:
            return _Printed(stream.read(HEAD_BYTES), path.stat().st_size)
    except FileNotFoundError:
        return _Printed(b"", 0)


def _ignore(sample: Sample) -> None:
    """Take no notice of memory."""
