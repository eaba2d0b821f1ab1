"""One candidate on one repository: what each operation runs, and how its output is judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from core.banks.case import Case
from core.campaign.places import cell_place
from core.engine.commands import command_record, portable_text
from core.ranking import Channel
from core.retrievers.protocol import AnswerError, Place, Recorded, Retriever, Step
from core.run.evidence import Attempt, Validation
from core.run.layout import INDEX, Operation, RunLayout
from core.run.measurement import Measurement
from core.run.record import RunRecord

WARM_UP_QUERY = "warm up"
_STDERR_TAIL = 2000


@dataclass(frozen=True)
class Cell:
    """A cell of a run, with its retriever and its place on disk."""

    candidate: str
    repository: str
    identity: str
    retriever: Retriever
    layout: RunLayout
    place: Place
    depth: int  # how many results a query asks for
    probe_depth: int  # and a probe
    private: bool = False  # its repository's paths are not told

    @property
    def name(self) -> str:
        """The cell as `candidate/repository`."""
        return f"{self.candidate}/{self.repository}"

    @property
    def uses_session(self) -> bool:
        """Whether its queries go to one process instead of one each."""
        return self.retriever.features.session

    def index_steps(self) -> tuple[Step, ...]:
        """Return the steps that build the index."""
        return self.retriever.index(self.place)

    def session_step(self) -> Step:
        """Return the step that starts the session."""
        step = self.retriever.session(self.place)
        if step is None:
            raise TypeError(f"{self.candidate}: declares a session form and gives no command for it")
        return step

    def query_step(self, kind: str, channel: Channel, text: str) -> Step:
        """Return the one-shot step of a primary query or a probe; raises UnpassableError."""
        if kind == "ctx":
            return self.retriever.probe(self.place, text, self.probe_depth)
        return self.retriever.query(self.place, channel, text, self.depth)

    def request(self, kind: str, channel: Channel, text: str) -> bytes:
        """Return the line that asks the session; raises UnpassableError."""
        if kind == "ctx":
            return self.retriever.request("probe", channel, text, self.probe_depth)
        return self.retriever.request("query", channel, text, self.depth)

    def expected_command(self, operation: Operation, case: Case | None) -> dict[str, Any]:
        """Return the command that an operation's evidence must hold; raises UnpassableError."""
        if not self.retriever.features.executes:
            return {"form": "recorded", "steps": []}
        if case is None:
            return command_record(self.index_steps(), self.layout, self.place)
        if self.uses_session:
            request = self.request(operation.kind, case.channel, case.query)
            return {
                **self._session_command,
                "request": portable_text(request.decode("utf-8"), self.layout, self.place),
            }
        step = self.query_step(operation.kind, case.channel, case.query)
        return command_record([step], self.layout, self.place)

    @cached_property
    def _session_command(self) -> dict[str, Any]:
        """What the commands of all its session's queries share."""
        return command_record([self.session_step()], self.layout, self.place, b"")

    def judge(
        self, kind: str, measurement: Measurement, attempt: Attempt, case: Case | None = None
    ) -> Validation:
        """Say what became of an attempt: first how its process ended, then how its output reads."""
        if measurement.outcome == "stopped":
            return Validation("stopped")
        error_class, message = process_failure(measurement)
        if (
            error_class == "nonzero_exit"
            and case is not None
            and self._found_nothing(kind, case, measurement)
        ):
            validation = self.read(kind, attempt.stdout.read_bytes())
            if validation.status == "accepted" and not validation.returned:
                return validation
        if error_class is not None:
            tail = _tail(attempt.stderr)
            return Validation("failed", error_class, f"{message}; stderr ends: {tail}" if tail else message)
        stdout = attempt.stdout.read_bytes()
        validation = self.read(kind, stdout)
        if case is None or not self.uses_session or validation.status != "accepted":
            return validation
        if not self.retriever.is_answer_to(self.request(kind, case.channel, case.query), stdout):
            return Validation("failed", "out_of_step", "the session's line answers another request")
        return validation

    def _found_nothing(self, kind: str, case: Case, measurement: Measurement) -> bool:
        """Tell whether a command's exit code is its way to say that nothing was found."""
        if self.uses_session:
            return False
        return measurement.exit_code in self.query_step(kind, case.channel, case.query).empty_exit_codes

    def starts_process(self, kind: str) -> bool:
        """Whether an operation of this kind starts anything."""
        features = self.retriever.features
        return features.executes and (features.indexes or kind != INDEX)

    def answer_without_process(self, operation: Operation, stdout: Path) -> Validation:
        """Judge an operation that starts nothing; a recorded answer is kept as if it had been printed.

        Raises OSError where it cannot be kept.
        """
        if operation.case is not None and isinstance(self.retriever, Recorded):
            try:
                stdout.write_bytes(self.retriever.recorded_answer(operation.case))
            except AnswerError as error:
                return Validation("failed", error.kind, str(error))
        else:
            stdout.touch()
        return self.read(operation.kind, stdout.read_bytes())

    def read(self, kind: str, stdout: bytes) -> Validation:
        """Read an operation's output, and for an index its state, and say whether it can be accepted."""
        try:
            if kind == "index":
                self.retriever.read_index(stdout, self.place)
                complete = self.retriever.verify_index(self.place)
                return Validation(
                    "accepted",
                    units=complete.units,
                    details=dict(complete.details),
                    state_digest=complete.digest,
                )
            if kind == "ctx":
                context = self.retriever.read_context(stdout, self.place, self.probe_depth)
                return Validation("accepted", returned=len(context.ranking))
            answer = self.retriever.read_ranking(stdout, self.place, self.depth)
        except AnswerError as error:
            return Validation("failed", error.kind, str(error))
        return Validation(
            "accepted",
            returned=len(answer.ranking),
            duplicates=answer.duplicates,
            surplus=answer.surplus,
        )


def _limit(seconds: float) -> str:
    """Write a time that may be a few milliseconds: `900.0`, `0.001`."""
    return f"{seconds:.1f}" if seconds >= 1 else f"{seconds:.2g}"


def process_failure(measurement: Measurement) -> tuple[str | None, str]:
    """Return the error class and plain words of a process that did not end well, or None."""
    outcome = measurement.outcome
    if measurement.succeeded:
        return None, ""
    if outcome == "exited":
        return "nonzero_exit", f"exited with status {measurement.exit_code}"
    plain = {
        "signaled": ("killed_by_signal", f"was ended by {measurement.signal}"),
        "timed_out": ("timeout", f"was still running after {_limit(measurement.elapsed_s)} s, its limit"),
        "output_limit": ("output_limit", "printed more than max_output_bytes"),
        "session_ended": ("session_ended", "the session ended instead of answering"),
        "surplus_output": ("surplus_output", "the session printed more than one line for one request"),
    }
    if outcome == "spawn_failed" and measurement.spawn_error is not None:
        return "spawn_failed", f"could not be started: {measurement.spawn_error.text}"
    return plain.get(outcome, (outcome, outcome.replace("_", " ")))


def _tail(path: Path) -> str:
    try:
        with open(path, "rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(max(size - _STDERR_TAIL, 0))
            return stream.read().decode("utf-8", "replace").strip()
    except OSError:
        return ""


def make_cell(record: RunRecord, candidate: str, repository: str, retriever: Retriever) -> Cell:
    """Return one cell of a run, with its place on disk."""
    place = cell_place(record.layout, candidate, repository, retriever)
    identity = record.cell(candidate, repository)
    depth, probe_depth = record.controls["depth"], record.probe_depth
    private = repository in record.private
    return Cell(candidate, repository, identity, retriever, record.layout, place, depth, probe_depth, private)


def make_cells(record: RunRecord, retrievers: Mapping[str, Retriever]) -> dict[str, Cell]:
    """Return every cell of a run, by `candidate/repository`."""
    cells = (
        make_cell(record, name, label, retrievers[name])
        for label in record.repositories
        for name in record.candidates
    )
    return {cell.name: cell for cell in cells}
