"""What the supervisor measured of one attempt: values only, so that readers of a run need no engine."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from pydantic import ConfigDict, ValidationError
from pydantic.dataclasses import dataclass

Outcome = Literal[
    "exited",  # a command ended by itself; exit_code says how
    "signaled",  # a command was ended by a signal that Boresight did not send
    "answered",  # a session gave exactly one line
    "timed_out",
    "stopped",  # by the person, or because the engine's task was cancelled
    "output_limit",  # more than max_output_bytes on stdout, stderr or both together
    "spawn_failed",  # nothing was started; spawn_error says why
    "session_ended",  # a session exited, or closed its output, before its answer was whole
    "surplus_output",  # a session wrote more than the one line it was asked for
    "supervisor_lost",  # the supervisor died; times are the engine's own and nothing else was measured
]


class SpawnError(NamedTuple):
    """Why a command could not be started: the errno's name (`ENOENT`) and a sentence."""

    code: str
    text: str


@dataclass(frozen=True, config=ConfigDict(strict=True, extra="forbid"))
class Measurement:
    """One attempt, as measured by the supervisor.

    `started_ns` and `ended_ns` are CLOCK_MONOTONIC: they order the operations of one boot whatever
    happens to the wall clock. A command's start is stamped by the child just before exec, its end when
    its pidfd becomes readable; a session's request starts just before its line is written and ends at
    the arrival of the answer's newline.

    CPU seconds of a command come from wait4, of its whole tree as far as it was waited for, with about a
    millisecond before exec; of an answer from `/proc/PID/stat`, whose unit is 10 ms, so add several
    before reading them. `largest_process_peak_bytes` is ru_maxrss of the largest process, at least the
    10 MB or so of the supervisor that it was forked from, None for an answer.
    `sampled_peak_rss_bytes` is the largest sum over the process tree seen every 50 ms: a lower bound of
    the peak that can count shared pages twice. `stalled_s` is time in which the supervisor itself was
    not run (a suspended machine); it is inside the elapsed time and outside the timeout.
    """

    started_at: str  # UTC, ISO 8601, microseconds
    started_ns: int
    ended_ns: int
    outcome: Outcome
    exit_code: int | None = None
    signal: str | None = None  # its name, `SIGKILL`, also where Boresight sent it
    spawn_error: SpawnError | None = None
    cpu_user_s: float = 0.0
    cpu_system_s: float = 0.0
    largest_process_peak_bytes: int | None = None
    sampled_peak_rss_bytes: int | None = None  # None where nothing was seen
    samples: int = 0
    leftover_processes: int = 0  # still alive 0.1 s after the command ended by itself; killed
    unkilled_processes: int = 0  # not gone 10 s after SIGKILL (another user's, or stuck in the kernel)
    steps_completed: int = 0  # steps of a command that exited with 0
    stalled_s: float = 0.0

    @property
    def elapsed_s(self) -> float:
        """Seconds from start to end."""
        return (self.ended_ns - self.started_ns) / 1e9

    @property
    def succeeded(self) -> bool:
        """Whether the attempt's output may be read as an answer."""
        return self.outcome == "answered" or (self.outcome == "exited" and self.exit_code == 0)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; `elapsed_s` is there for people."""
        values = dataclasses.asdict(self)
        values["spawn_error"] = self.spawn_error._asdict() if self.spawn_error else None
        return {**values, "elapsed_s": self.elapsed_s}


def measurement_from_json(value: Mapping[str, Any]) -> Measurement:
    """Read what `to_json` wrote; raises ValueError that names the field."""
    fields = {name: item for name, item in value.items() if name != "elapsed_s"}
    try:
        if fields.get("spawn_error") is not None:
            fields["spawn_error"] = SpawnError(**fields["spawn_error"])
        return Measurement(**fields)
    except ValidationError as problem:
        first = problem.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"measurement field {place!r}: {first['msg']}") from None
    except TypeError:
        raise ValueError("measurement field 'spawn_error': expected `code` and `text`") from None


def utc_stamp(wall_ns: int) -> str:
    """Return nanoseconds since the epoch as UTC in ISO 8601 with microseconds."""
    return datetime.fromtimestamp(wall_ns // 1000 / 1e6, UTC).isoformat(timespec="microseconds")
